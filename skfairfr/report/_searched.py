"""Audits of searches: who is enrolled, whom false alarms return, and of which group."""

from dataclasses import replace

import numpy as np

from skfairfr.report.sections._matrix import Matrix

# Enrolled people that a report names for their alarms.
MOST_NAMED = 10


def of_searches(audit, data, search):
    """An audit with what searches alone have: who is enrolled, returned, and of which group."""
    alarms = []
    for level in audit.levels:
        worst = search.alarms(threshold=level.threshold)
        names_of = ("identity", "group", "n_alarms", "n_searchers", "p_value", "share")
        rows = zip(
            *(getattr(worst, n)[:MOST_NAMED].tolist() for n in names_of), strict=True
        )
        alarms.append([dict(zip(names_of, row, strict=True)) for row in rows])
    settings = dict(audit.settings)
    found = {"mated_people": np.count_nonzero(data.genuine_pairs()), "alarms": alarms}
    settings["gallery"] = settings["gallery"] | found
    levels = with_matrices(audit, data.columns, search)
    _, engine = _by_attribute(audit, data.columns, search)
    mated, people = search._searches.own >= 0, search._probes_of(None)[0]
    places = enumerate(engine.groups.tolist())
    inside = {label: engine.pairs.images.group == g for g, label in places}
    groups = [
        replace(
            row, n_mated=np.unique(people[mated & inside.get(row.group, True)]).size
        )
        for row in audit.groups
    ]
    return replace(audit, groups=tuple(groups), levels=levels, settings=settings)


def _by_attribute(measured, columns, search):
    """Columns of the attribute of an audit, and the engine of the searches by them."""
    names = measured.attribute.split(" & ")
    names = tuple(n for n in columns if n in names) or tuple(columns)
    return names, search._system().by(names)._engine


def with_matrices(measured, columns, search):
    """The levels by an attribute, with the FPIR by the group of the person returned."""
    names, engine = _by_attribute(measured, columns, search)
    gallery, found = search._searches.gallery_by(names), search._searches.found
    returned = np.append(gallery.group, -1)[found.returned]
    nonmated, n_groups = search._searches.own < 0, engine.groups.size
    group, levels = engine.pairs.images.group, []
    searched = np.array([(nonmated & (group == g)).sum() for g in range(n_groups)])
    for level in measured.levels:
        alarm, _ = search._alarms_at(None, level.threshold)
        errors = np.zeros((n_groups, n_groups), dtype=np.int64)
        inside = alarm & (group >= 0) & (returned >= 0)
        np.add.at(errors, (group[inside], returned[inside]), 1)
        n = np.repeat(searched[:, None], n_groups, axis=1)
        rates = np.divide(errors, n, out=np.full(n.shape, np.nan), where=n > 0)
        matrix = Matrix(tuple(engine.groups.tolist()), rates, errors, n)
        matrix = matrix if level.matrix is not None else None
        levels.append(replace(level, matrix=matrix, indices=()))
    return tuple(levels)
