"""Values, intervals, verdicts and disparities of today are those that were kept.

``python -m tests.golden.calls`` writes what is kept, and says when to do so.
"""

import json
import math
from importlib.util import find_spec

import pytest

from tests.golden import calls

KEPT = json.loads(calls.FILE.read_text(encoding="utf-8"))
RELATIVE = 1e-6
# Counts and rates: what sums in another order may differ by.
ABSOLUTE = 1e-12
# Of a score, which is a float32 number of about 1, or of about 10 with a comparator.
ABSOLUTE_OF_SCORES = 2e-6
SCORES = ("threshold", "score", "_mean", "_sd", "instance")


def tolerance(key):
    """How far a number may be off, beside RELATIVE, by the last part of its name."""
    last = key.rsplit(".", 1)[-1]
    return ABSOLUTE_OF_SCORES if any(part in last for part in SCORES) else ABSOLUTE


def differences(found, kept):
    """One line for each key that one of both lacks, or that they disagree on."""
    lines = [f"{key}: no longer there" for key in kept if key not in found]
    lines += [f"{key}: new" for key in found if key not in kept]
    for key in kept:
        if key in found and not alike(found[key], kept[key], tolerance(key)):
            lines.append(f"{key}: {found[key]} is not {kept[key]}")
    return lines


def alike(found, kept, absolute):
    if isinstance(found, list) and isinstance(kept, list):
        return len(found) == len(kept) and all(
            alike(one, other, absolute) for one, other in zip(found, kept, strict=True)
        )
    if isinstance(found, int | float) and isinstance(kept, int | float):
        return math.isclose(found, kept, rel_tol=RELATIVE, abs_tol=absolute)
    return found == kept


@pytest.mark.parametrize("name", calls.CALLS)
def test_numbers_are_those_that_were_kept(name):
    if name in calls.NEED_TORCH and find_spec("torch") is None:
        pytest.skip("needs torch")
    lines = differences(calls.answer(name), KEPT[name])
    if lines:
        note = calls.NOTES.get(name)
        lines += [] if note is None else [f"These may move. {note}"]
        pytest.fail("\n".join(lines), pytrace=False)


def test_every_number_is_of_a_call():
    assert sorted(KEPT) == sorted(calls.CALLS)


def test_a_difference_is_told():
    kept = {"far.value": [0.1, "inf"], "verdict": "worse", "threshold": 0.5}
    assert not differences(kept, kept)
    assert not differences(kept | {"far.value": [0.1 * (1 + 5e-7), "inf"]}, kept)
    assert not differences(kept | {"threshold": 0.5 + 1.5e-6}, kept)
    for changed in (
        {"far.value": [0.1 * (1 + 2e-6), "inf"]},
        {"far.value": [0.1, "nan"]},
        {"far.value": [0.1]},
        {"far.value": 0.1},
        {"verdict": "better"},
        {"threshold": 0.5 + 4e-6},
        {"more": 1},
    ):
        (line,) = differences(kept | changed, kept)
        assert line.startswith(next(iter(changed)))
    assert differences({}, kept) == [f"{key}: no longer there" for key in kept]
