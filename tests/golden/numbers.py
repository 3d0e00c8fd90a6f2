"""What is kept of results: numbers and texts by dotted names."""

import json
import math

import numpy as np

# Fields that are kept of public records, by the name of their class.
FIELDS = {
    "Estimate": "value low high standard_error normalized_uncertainty n_genuine "
    "n_impostor n_undefined corrected p_value supported reason source",
    "ROCCurve": "far value low high band_low band_high threshold supported reason source",
    "Comparison": "difference low high p_value ratio ratio_low ratio_high supported "
    "reason",
    "GroupFARMatrix": "groups far low high n_impostor supported reason source",
    "FARAsymmetry": "group_1 group_2 far_12 far_21 difference low high p_value p_holm",
    "ScoreSummary": "groups n_genuine genuine_mean genuine_sd n_impostor impostor_mean "
    "impostor_sd",
    "GroupErrorRates": "groups far frr n_impostor n_genuine threshold",
    "GroupGateRates": "far frr far_within far_between",
    "IdentityInertia": "identities groups inertia n_images",
    "InstanceFAR": "instance_far groups n_impostor threshold",
    "WorstGroupRate": "value low high naive naive_group chosen held_out held_out_low "
    "held_out_high supported n_groups",
    "Plan": "question kind rate limit true_rate true_ratio basis people pairs "
    "expected_errors bound chance reason",
    "SplitROC": "far frr far_reached threshold frr_mean frr_std",
}
# Of the JSON of reports: sentences, names of files, and the many numbers of curves.
LEFT_OUT = ("reason", "curves", "notes", "sha256", "similarity")


def numbers_of(found):
    """A flat dict of what a call gave; of a report, what it says in numbers and verdicts."""
    if isinstance(found, dict):
        return found
    return of_systems(found) if hasattr(found, "changes") else of_audit(found)


def record_of(report):
    """The JSON of a report, as plain lists and dicts, numbers with nine digits."""
    return cut(json.loads(report.to_json()))


def cut(form):
    """Without what is left out."""
    if isinstance(form, dict):
        return {k: cut(v) for k, v in form.items() if k not in LEFT_OUT}
    if isinstance(form, list):
        return [cut(value) for value in form]
    return float(f"{form:.9g}") if isinstance(form, float) else form


def flat(**parts):
    """Dotted name -> number, text, or list of them."""
    found = {}
    for name, part in parts.items():
        fields = FIELDS.get(type(part).__name__)
        if fields is not None:
            part = {field: getattr(part, field) for field in fields.split()}
        if isinstance(part, dict):
            inner = flat(**part)
            found |= {f"{name}.{key}": value for key, value in inner.items()}
        else:
            found[name] = plain(part)
    return found


def plain(value):
    """A number or text that JSON holds, or a flat list of them."""
    if isinstance(value, np.ndarray | list | tuple):
        items = value.ravel().tolist() if isinstance(value, np.ndarray) else value
        return [plain(item) for item in items]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int | float):
        return value if math.isfinite(value) else str(value)
    raise TypeError(f"{value!r} is no number and no text")


FIGURE = "value low high standard_error corrected p_value supported reason source"


def figure(found, fields=FIGURE):
    return {field: getattr(found, field) for field in fields.split()}


def figures(found):
    """Of several figures, one list for each field."""
    each = [figure(one) for one in found]
    return {field: [one[field] for one in each] for field in FIGURE.split()}


def of_audit(found):
    """What an audit, or a report, says, in numbers and verdicts."""
    audits = found.audits if hasattr(found, "audits") else (found,)
    kept = {"exit_code": found.exit_code}
    for number, audit in enumerate(audits):
        key = f"audit{number}"
        kept[key] = {
            "attribute": audit.attribute,
            "n_unknown": audit.n_unknown,
            "largest_genuine_share": audit.largest_genuine_share,
            "groups": fields_of(
                audit.groups, "group n_identities n_images n_genuine n_impostor"
            ),
            "eer": figures([row.equal_error_rate for row in audit.groups]),
            "notes": list(audit.notes),
            "checks": of_checks(audit.checks),
        }
        for place, level in enumerate(audit.levels):
            kept[f"{key}.level{place}"] = of_level(level)
        if audit.averaged is not None:
            for place, level in enumerate(audit.averaged.levels):
                kept[f"{key}.averaged{place}"] = of_level(level)
        if audit.curves is not None:
            step = max(1, len(audit.curves.threshold) // 6)
            kept[f"{key}.curves"] = {
                "threshold": audit.curves.threshold[::step],
                "far": audit.curves.far[:, ::step],
                "frr": audit.curves.frr[:, ::step],
            }
    return flat(**kept)


def fields_of(records, fields):
    """Field -> list over records; a tuple of labels is one text."""
    return {
        field: [text_of(getattr(record, field)) for record in records]
        for field in fields.split()
    }


def text_of(value):
    return str(value) if isinstance(value, tuple) else value


def of_level(level):
    kept = fields_of([level], "far threshold worst_group_threshold set_on")
    for rate in ("far", "frr"):
        kept[rate] = figures([getattr(row, rate) for row in level.rates])
        worth = [getattr(row, f"{rate}_effective") for row in level.rates]
        kept[f"{rate}_errors"] = [getattr(row, f"{rate}_errors") for row in level.rates]
        kept[f"{rate}_effective"] = [None if w is None else w.errors for w in worth]
        kept[f"{rate}_people"] = [None if w is None else w.people for w in worth]
        of_rate = [getattr(disparity, rate) for disparity in level.disparities]
        kept[f"{rate}_disparities"] = figures(of_rate)
    kept["disparities"] = fields_of(level.disparities, "how operating_point neutral")
    kept["findings"] = fields_of(
        level.findings,
        "rate group others value other_value p_adjusted n_comparisons verdict",
    )
    kept["ratios"] = figures([finding.ratio for finding in level.findings])
    kept["indices"] = fields_of(level.indices, "name value neutral")
    if level.matrix is not None:
        fields = "groups far n_errors n_impostor"
        kept["matrix"] = {
            field: getattr(level.matrix, field) for field in fields.split()
        }
    return kept


def of_checks(checks):
    fields = "name limit far threshold groups not_covered verdict people_needed reason"
    return {**fields_of(checks, fields), "figure": figures([c.figure for c in checks])}


def of_systems(found):
    """What a comparison of systems says."""
    kept = {
        "unit": [found.n_people, found.n_rows, found.unit, *found.left_out],
        "exit_code": found.exit_code,
        "notes": list(found.notes),
        "changes": fields_of(
            found.changes,
            "system attribute group rate far threshold before after difference low high "
            "ratio ratio_low ratio_high p_value p_adjusted verdict reason",
        ),
        "disparities": fields_of(
            found.disparities,
            "system attribute rate far threshold before after ratio ratio_low ratio_high "
            "p_value frr_before frr_after levelling_down",
        ),
    }
    return flat(**kept)
