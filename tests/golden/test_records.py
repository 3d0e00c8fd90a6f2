"""Numbers and verdicts in the JSON of reports are those that were kept."""

import json
import math

import pytest

from tests.golden import records
from tests.golden.test_golden import ABSOLUTE, RELATIVE

KEPT = json.loads(records.FILE.read_text(encoding="utf-8"))


def differences(found, kept, place=""):
    """One line for each place where two JSON forms differ."""
    if isinstance(found, dict) and isinstance(kept, dict) and [*found] == [*kept]:
        pairs = ((f"{place}.{key}", found[key], kept[key]) for key in kept)
    elif isinstance(found, list) and isinstance(kept, list) and len(found) == len(kept):
        both = enumerate(zip(found, kept, strict=True))
        pairs = ((f"{place}[{row}]", *values) for row, values in both)
    else:
        return [] if alike(found, kept) else [f"{place}: {found!r} is not {kept!r}"]
    return [line for pair in pairs for line in differences(*pair[1:], pair[0])]


def alike(found, kept):
    if isinstance(found, float) and isinstance(kept, int | float):
        return math.isclose(found, kept, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return found == kept


@pytest.mark.parametrize("name", records.CASES)
def test_json_is_that_which_was_kept(name):
    assert differences(records.answer(name), KEPT[name]) == []


def test_a_difference_is_told():
    kept = {"far": [0.1, None], "verdict": "worse"}
    assert (
        differences({"far": [0.1 * (1 + 5e-7), None], "verdict": "worse"}, kept) == []
    )
    assert differences({"far": [0.2, None], "verdict": "better"}, kept) == [
        ".far[0]: 0.2 is not 0.1",
        ".verdict: 'better' is not 'worse'",
    ]
    assert differences({"far": [0.1]}, kept) and differences({}, kept)
