"""Audits by several attributes and by their combinations, with checks, in one report."""

from dataclasses import replace
from itertools import combinations

from skfairfr.report._audit import audit_data, check_groups
from skfairfr.report._checks import check_limits, judge
from skfairfr.report._crossing import cross
from skfairfr.report._measured import Points
from skfairfr.report._record import Report


def report_on(
    data, attributes, *, points=None, limits=None, about=None, notes=(), **options
):
    """Audit by each attribute and by every combination of them.

    Parameters
    ----------
    data : Faces or ScoredPairs
    attributes : sequence of str
    points : Points, default=None
        Operating points; None takes the usual levels.
    limits : dict of str -> float, default=None
        Largest disparities allowed; keys of CHECKS.
    about : dict, default=None
        Added to the settings of every audit, such as where thresholds come from.
    notes : sequence of str, default=()
        Put before those of the first audit.
    **options : fields of Options, and ``visit`` of audit_data

    Returns
    -------
    report : Report
    """
    points = Points.of() if points is None else points
    limits = {} if limits is None else limits
    check_limits(limits, points.set_on == "these data")
    twice = [name for name in attributes if list(attributes).count(name) > 1]
    if twice:
        raise ValueError(f"attribute {twice[0]!r} was named twice; name it once.")
    crossed = [
        names
        for size in range(2, len(attributes) + 1)
        for names in combinations(attributes, size)
    ]
    chosen = [*((name,) for name in attributes), *crossed]
    # Before the long work on the first.
    for names in chosen:
        check_groups(data.groups(names), " & ".join(names))
    audits = [audit_data(data, names, points=points, **options) for names in chosen]
    about = {} if about is None else about
    audits = [replace(found, settings=found.settings | about) for found in audits]
    audits[0] = replace(audits[0], notes=(*notes, *audits[0].notes))
    return Report(
        tuple(audits),
        tuple(cross(data, names) for names in crossed),
        tuple(check for found in audits for check in judge(found, limits)),
    )
