"""Audits of data that were checked, by each attribute and each combination of attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skfairfr._core._kinds import SEARCHES
from skfairfr._core._parallel import next_step
from skfairfr._text._words import listed, percent, printable
from skfairfr.metrics import ReliabilityDisplay
from skfairfr.report._checks import check, checks_of_metrics, operating_points_of
from skfairfr.report._control import controlled, strata_of
from skfairfr.report._data import PairData
from skfairfr.report._decisions import OF_ACCEPTANCE, of_decisions
from skfairfr.report._measure import ENOUGH_IMPOSTORS, SMALLEST_FAR, AuditedROC
from skfairfr.report._notes import (
    collecting,
    mixed_people,
    no_errors,
    notes_of,
    place_of,
    reason_to_withhold,
)
from skfairfr.report._policy import AuditRequest
from skfairfr.report._prepared import AuditOptions, fit, points_on
from skfairfr.report._records import Audit, Remeasured
from skfairfr.report._regressions import explained_in_audit
from skfairfr.report._verdicts import judge
from skfairfr.report.sections import _costs, _curves, _indices, _label_errors
from skfairfr.report.sections._failures import (
    failures_of,
    generalised,
    groups_lost_to_failures,
    n_lost,
)
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._labels import count_distinct

# Above this share of the genuine pairs by one person, both averages are shown.
DOMINANT_SHARE = 0.05

# Groups that an error names.
MOST_SHOWN = 12


def check_known(reference, groups):
    """Raise unless each reference is a group of some audit, and no other is of the same."""
    known = dict.fromkeys(str(label) for labels in groups for label in labels)
    for label in reference:
        if str(label) not in known:
            problem = f"{plain(label)!r} is no group of the data;"
            named = ", ".join(map(repr, [*known][:MOST_SHOWN]))
            more = ", ..." * (len(known) > MOST_SHOWN)
            raise invalid("reference", label, problem, f"they have {named}{more}.")
    for labels in groups:
        asked = [g for g in map(str, labels) if g in map(str, reference)]
        if len(asked) > 1:
            problem = f"names {asked[0]!r} and {asked[1]!r}, groups of one attribute;"
            raise invalid(
                "reference", reference, problem, "give one of each attribute."
            )


@dataclass(frozen=True)
class AuditPlan:
    """Parts and options of an audit, after their checks.

    Attributes
    ----------
    parts : sequence of EmbeddingData or PairData
        Of decisions one for each kind of error.
    prepared : list of tuple
        The attributes of each audit, and the Points, of each part.
    chosen : list of tuple
        Each part with the attributes of each of its audits.
    request : AuditRequest
        Limits, levels and what else is asked.
    options : AuditOptions
    threshold_from, control, metrics, explain_by : options
        See :func:`audit_data`.
    reference : list of labels
    own_limits : dict of str -> float
        Of metrics of the user's.
    costs, label_errors : tuple, default=None
        What is asked of costs, and of wrong labels.
    """

    parts: tuple
    prepared: list
    chosen: list
    request: AuditRequest
    options: AuditOptions
    threshold_from: object
    control: object
    reference: list
    metrics: dict | None
    own_limits: dict
    costs: tuple | None
    label_errors: object = None
    explain_by: tuple = ()


def audits_of(plan):
    """Audits by each attribute and combination of each part, notes, and ExplainedErrors."""
    parts, chosen, measured, notes = plan.parts, plan.chosen, [], []
    explained = None
    strata = {
        part: strata_of(part, plan.control)
        for part in parts
        if plan.control is not None
    }
    for part, (names, points) in zip(parts, plan.prepared, strict=True):
        found, notes_of_part = _measured(part, names, points, plan)
        measured += found
        notes += notes_of_part
    if "withheld" in measured[0][1]:  # yes and no are swapped in all kinds of attempts
        code = {"withheld": measured[0][1]["withheld"]}
        measured = [(own, settings | code) for own, settings in measured]
    if plan.reference:
        check_known(plan.reference, [own.labels[1:] for own, _ in measured])
    next_step("comparing groups")
    with collecting([]):  # the notes of each audit have what this would warn of
        systems = [own for own, _ in measured]
        sizes = [len(attributes) for _, attributes in chosen]
        asked_at = operating_points_of(plan.request.names)
        tested = judge(systems, sizes, plan.options.confidence_level, asked_at)
    audits = []
    for (part, names), (own, settings), judged in zip(
        chosen, measured, tested, strict=True
    ):
        audit = _audit_by(own, part, names, settings, judged, plan)
        limits = of_decisions(plan.request.limits, part, parts)
        checks = check(audit, judged, limits, plan.request.at)
        if plan.own_limits:
            checks += checks_of_metrics(audit, plan.own_limits)
        audits.append(replace(audit, checks=checks))
    if plan.control is not None:
        audits = _standardised(audits, measured, strata, plan)
    if plan.explain_by:
        about = parts, measured[0], plan.explain_by, audits, plan.options
        explained, more = explained_in_audit(*about)
        notes += more
    with collecting([]):
        of_all = (own.missed_levels() for own, _ in measured)
        notes += dict.fromkeys(note for own in of_all for note in own)
        points = measured[0][0].points
        # Without the repeats, pairs take as much memory again.
        del measured, found, own, systems
        if len(parts) == 1:
            about = parts[0], chosen[0][1], audits[0], points, plan.options
            notes += _about_repeats(*about)
    return audits, notes, explained


def _measured(data, chosen, points, plan):
    """AuditedROCs by the chosen attributes, each with its settings, and notes."""
    notes, options = [], plan.options
    if plan.threshold_from is not None:
        points, notes = points_on(plan.threshold_from, data, points, options)
    # All pairs are compared once. Every attribute is a question about them.
    next_step("comparing all pairs")
    warnings, columns = [], tuple(data.columns)
    with collecting(warnings):
        roc = fit(data, columns, options, points)
    if plan.request.far is None and points.set_on == "these data":
        # Whether everyone, and two groups of every attribute, have the pairs for more.
        sizes = [roc.by(name).n_impostor_ for name in columns]
        if roc.n_impostor_[0] >= ENOUGH_IMPOSTORS and all(
            np.count_nonzero(n[1:] >= ENOUGH_IMPOSTORS) > 1 for n in sizes
        ):
            points = replace(points, far=np.append(points.far, SMALLEST_FAR))
    audited = [
        AuditedROC(roc.by(by or None), points, references_of(data, by, plan.reference))
        for by in chosen
    ]
    settings = _settings_of(data, audited[0].points, plan, warnings)
    notes = [*notes, *notes_of(warnings, data.terms)]
    return [(own, settings) for own in audited], notes


def references_of(data, attributes, asked):
    """Groups in the order in which they are taken for the reference, a list of labels.

    Those that are ``asked`` for, then the group with the most people, and so on.
    """
    group = data.groups(attributes)
    n_people = count_distinct(group.codes, len(group.values), data.people())[1:]
    order = np.argsort(-n_people, kind="stable")
    labels, asked = group.values[order].tolist(), [str(label) for label in asked]
    first = [label for label in labels if str(label) in asked]
    return [*first, *(label for label in labels if label not in first)]


def _standardised(audits, measured, strata, plan):
    """Audits with their rates at equal covariates."""
    next_step("standardising rates")
    systems, by = [own for own, _ in measured], [names for _, names in plan.chosen]
    strata = [strata[part] for part, _ in plan.chosen]
    about = strata, plan.control, plan.options.confidence_level
    with collecting([]):
        return controlled(audits, systems, by, *about)


def _about_repeats(data, attributes, audit, points, options):
    """A note on images or pairs that occur more than once, in a list, or empty without any."""
    repeated, words = data.repeats()
    if not repeated.any():
        return []
    try:
        roc = fit(data.take(~repeated), tuple(data.columns), options, points)
    except ValueError:
        return [f"{words} Without them there is nothing to compare."]
    threshold, without = (
        points.threshold,
        AuditedROC(roc.by(attributes or None), points),
    )
    rates = zip(
        *(without.at_thresholds(r, None, threshold)[0] for r in ("far", "frr")),
        strict=True,
    )
    changed = []
    for level, values in zip(audit.levels, rates, strict=True):
        for rate, value in zip(("far", "frr"), values, strict=True):
            new, old = percent(value), percent(getattr(level.rates[0], rate).value)
            if new != old:
                at = place_of(level, audit)
                changed.append(
                    f"{data.terms[rate].name} {new} instead of {old} at {at}"
                )
    found = listed(changed) if changed else "rates are the same to three digits"
    return [f"{words} Rates count them. Without them, at the same thresholds: {found}."]


def _audit_by(audited, data, attributes, settings, judged, plan):
    """An audit by one attribute, or by the combinations of several."""
    name = " & ".join(attributes)
    next_step(f"auditing by {printable(name)}" if name else "auditing everyone")
    people, images = data.people(), data.images()
    group = data.groups(attributes)
    failures = failures_of(data.attempts, attributes)
    warnings = audited.warnings
    with collecting(warnings):
        groups = audited.groups(people, images, group)
        levels = audited.levels(judged, withheld="withheld" in settings)
        if plan.metrics:
            levels = _with_metrics(audited, levels, plan)
        # All scores of listed pairs are known, and those of searches down to a floor.
        whole = isinstance(data, PairData) or data.terms is SEARCHES
        p_target = () if plan.costs is None else plan.costs[0]
        curves = None
        if not data.decisions:
            curves = _curves.measure(audited, whole, p_target)
    if failures:
        levels = tuple(_with_failures(lev, data, group, failures) for lev in levels)
    share = np.nan
    if data.independent:
        groups = tuple(replace(row, n_identities=None) for row in groups)
    else:
        genuine = data.genuine_pairs()
        share = float(genuine.max() / max(genuine.sum(), 1))
    compared = (f for level in levels for f in level.findings)
    reference = next((f.reference for f in compared if f.group is not None), None)
    # The notes already have what these would warn of.
    with collecting([]):
        averaged, more = None, {}
        if plan.costs is not None:
            more["costs"] = _costs.measure(audited.roc, reference, *plan.costs)
            if plan.costs[1]:
                of_roc = ReliabilityDisplay._measured(audited.roc, together=True)
                more["reliability"] = of_roc
        if plan.label_errors is not None:
            of_labels = audited.roc, levels, plan.label_errors
            more["label_errors"] = _label_errors.measure(*of_labels)
        if share > DOMINANT_SHARE and not data.one_average:
            averaged = _averaged(audited, settings, len(attributes))
    members = people if images is None else images
    # A note on errors that groups lack names them.
    others = [w for w in warnings if getattr(w, "code", None) != "no_error"]
    notes = [
        data.lack_of_pairs(),
        *notes_of(others, data.terms),
        "" if data.independent else mixed_people(people, group, name, data.decisions),
        "" if data.attempts is None else data.attempts.note,
        *(groups_lost_to_failures(failures) if data.failed is None else ()),
    ]
    audit = Audit(
        name,
        settings,
        np.unique(members[group.codes < 0]).size if attributes else 0,
        share,
        groups,
        levels,
        reference,
        averaged,
        tuple(filter(None, notes)),
        failures=failures,
        curves=curves,
        **more,
    )
    if len(others) < len(warnings):
        audit = replace(audit, notes=(*audit.notes, *no_errors(audit)))
    return audit


def _with_metrics(audited, levels, plan):
    """Levels with metrics of the user's."""
    about = audited, levels, plan.metrics, plan.options.confidence_level
    both = zip(levels, _indices.measure_metrics(*about), strict=True)
    return tuple(replace(level, metrics=found) for level, found in both)


def _averaged(audited, settings, n_attributes):
    """Rates and findings if every person weighs the same, or every pair: the other average."""
    other = "identity" if settings["average"] == "pair" else "pair"
    asked = audited.points, audited.references
    changed = AuditedROC(audited.roc.by(average=other), *asked)
    (tested,) = judge([changed], [n_attributes], settings["confidence_level"])
    how = {"in_short": True, "withheld": "withheld" in settings}
    return Remeasured("average", other, changed.levels(tested, **how))


def _with_failures(level, data, group, failures):
    """A level with what became of failures: generalised rates, or how many are rejected."""
    if data.failed is not None and data.decisions not in OF_ACCEPTANCE:
        rates = [
            replace(row, frr_failures=n_lost(data, (group.codes == code) | (code < 0)))
            for code, row in enumerate(level.rates, -1)
        ]
        return replace(level, rates=tuple(rates))
    if data.decisions:
        return level
    return replace(level, generalised=generalised(level.rates, failures))


def _settings_of(data, points, plan, warnings):
    """Settings that the numbers depend on, and the reason to withhold verdicts."""
    found, asked, control = plan.options.settings(), plan.request, plan.control
    if data.failures is not None:
        found["failures"] = data.failures
    if control is not None:
        found["control"] = [control] if isinstance(control, str) else [*control]
    if data.independent:
        found["independent_pairs"] = True
    if (code := reason_to_withhold(warnings)) is not None:
        found["withheld"] = code
    if data.decisions:
        del found["impostors"]
        found |= {"decisions": data.decisions, "best_of": data.best_of} | asked.settings
        found |= {} if data.reading is None else {"sha256": data.reading.sha256}
        return found
    similarity = getattr(data, "similarity", "cosine")
    if similarity != "cosine":
        found["similarity"] = " ".join(str(similarity).split())
    found |= data.more_settings
    found |= points.settings() | {"far_max": points.far_max} | asked.settings
    if data.reading is not None:
        found |= {
            "sha256": data.reading.sha256,
            "domain": data.reading.options["domain"],
            "distance": data.is_distance,
            "threshold_from": points.path,
        }
    return found
