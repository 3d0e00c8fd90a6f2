"""What is kept of results: numbers and texts by dotted names."""

import json
import math

import numpy as np

# Fields that are kept of public records, by the name of their class.
FIELDS = {
    "Estimate": "value low high standard_error normalized_uncertainty n_genuine "
    "n_impostor n_undefined corrected p_value supported reason source",
    "WorstGroupRate": "value low high naive naive_group chosen held_out held_out_low "
    "held_out_high supported n_groups",
}
# Of the JSON of reports: sentences and names of files.
LEFT_OUT = ("reason", "sha256", "similarity")


def record_of(report):
    """The JSON of a report, as plain lists and dicts, and its exit code."""
    return {"exit_code": report.exit_code, **cut(json.loads(report.to_json()))}


def cut(form):
    """Numbers with nine digits, notes as their number, six points of a curve."""
    if isinstance(form, dict):
        kept = {k: cut(v) for k, v in form.items() if k not in LEFT_OUT}
        if "notes" in kept:
            kept["notes"] = len(kept["notes"])
        if kept.get("curves"):
            some = slice(None, None, max(1, len(kept["curves"]["threshold"]) // 6))
            kept["curves"]["threshold"] = kept["curves"]["threshold"][some]
            for rate in ("fmr", "fnmr"):
                kept["curves"][rate] = [row[some] for row in kept["curves"][rate]]
        return kept
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
