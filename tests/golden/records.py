"""What the JSON of varied reports holds, number by number, without curves and sentences.

``python -m tests.golden.records`` writes ``records.json``, with which ``test_records.py``
compares it. It was written before reports became one document, which moved no number, and
anew with ``numbers.json`` when ends of intervals moved, and where checks of ratios show the number
of the groups they name. Write it anew for a number that a
change of the method is meant to move.
"""

import json
from pathlib import Path
from unittest import mock

from tests.golden import calls

FILE = Path(__file__).with_name("records.json")
CASES = (
    *("audit", "audit_with_limits", "audit_with_policy", "audit_of_two_attributes"),
    *("audit_at_a_threshold", "audit_with_thresholds_of_other_data"),
    *("audit_of_a_dominant_person", "audit_of_a_comparator", "audit_of_pairs"),
    *("audit_of_unknown_people", "audit_of_distances", "systems"),
    *("systems_at_a_threshold", "systems_of_pairs", "systems_that_level_down"),
)
# Sentences, names of files, and the many numbers of curves, which numbers.json has.
LEFT_OUT = ("reason", "curves", "notes", "sha256", "similarity")
DIGITS = 9


def answer(name):
    """The JSON of a case, as plain lists and dicts."""
    whole = {"of_audit": lambda found: found, "of_systems": lambda found: found}
    with mock.patch.multiple(calls, **whole):
        found = calls.answer(name)
    return cut(json.loads(found.to_json()))


def cut(form):
    """Without what is left out; numbers with nine digits."""
    if isinstance(form, dict):
        return {k: cut(v) for k, v in form.items() if k not in LEFT_OUT}
    if isinstance(form, list):
        return [cut(value) for value in form]
    return float(f"{form:.{DIGITS}g}") if isinstance(form, float) else form


def main():
    kept = {name: answer(name) for name in CASES}
    lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in kept.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
