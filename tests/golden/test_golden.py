"""Values, intervals, verdicts and disparities of today, and the JSON of reports, were kept.

``python -m tests.golden.calls`` writes what is kept, and says when to do so.
"""

import json
import math

import pytest

from tests.golden import calls
from tests.golden.numbers import record_of

NUMBERS, RECORDS = (
    json.loads(path.read_text("utf-8")) for path in (calls.NUMBERS, calls.RECORDS)
)
RELATIVE = 1e-6
# Counts and rates: what sums in another order may differ by.
ABSOLUTE = 1e-12
# Of a score, which is a float32 number of about 1, or of about 10 with a comparator.
ABSOLUTE_OF_SCORES = 2e-6


def differences(found, kept, place="", absolute=ABSOLUTE):
    """One line for each place where two forms of dicts, lists, numbers and texts differ."""
    if isinstance(found, dict) and isinstance(kept, dict):
        lines = [f"{place}.{key}: new or gone" for key in sorted({*found} ^ {*kept})]
        for key in sorted({*found} & {*kept}):
            lines += differences(found[key], kept[key], f"{place}.{key}", absolute)
        return lines
    if isinstance(found, list) and isinstance(kept, list) and len(found) == len(kept):
        rows = enumerate(zip(found, kept, strict=True))
        parts = (differences(*both, f"{place}[{k}]", absolute) for k, both in rows)
        return [line for part in parts for line in part]
    same = found == kept
    if isinstance(found, int | float) and isinstance(kept, int | float):
        same = math.isclose(found, kept, rel_tol=RELATIVE, abs_tol=absolute)
    return [] if same else [f"{place}: {found!r} is not {kept!r}"]


@pytest.mark.parametrize("name", calls.CALLS)
def test_numbers_are_those_that_were_kept(name):
    answer = calls.answer(name)
    if name in RECORDS:
        lines = differences(record_of(answer), RECORDS[name], "the JSON")
    else:
        kept = NUMBERS[name]
        lines = [f"{key}: new or gone" for key in sorted({*answer} ^ {*kept})]
        for key in sorted({*answer} & {*kept}):
            of_scores = key.endswith("threshold")
            absolute = ABSOLUTE_OF_SCORES if of_scores else ABSOLUTE
            lines += differences(answer[key], kept[key], key, absolute)
    if lines:
        lines += [
            f"These may move. {note}" for note in (calls.NOTES.get(name),) if note
        ]
        pytest.fail("\n".join(lines), pytrace=False)


def test_every_number_is_of_a_call():
    assert sorted([*NUMBERS, *RECORDS]) == sorted(calls.CALLS)


def p_values_with_ends(record, neutral=1.0, level=0.05):
    """All (low, high, neutral value, p-value, level of the test) of a record."""
    if isinstance(record, list):
        parts = (p_values_with_ends(part, neutral, level) for part in record)
        return [row for part in parts for row in part]
    if not isinstance(record, dict):
        return []
    neutral = record.get("neutral", neutral)
    level = 1 - record.get("settings", {}).get("confidence_level", 1 - level)
    found = []
    for low, high in (("low", "high"), ("ratio_low", "ratio_high")):
        row = [record.get(name) for name in (low, high, "p_value")]
        if all(isinstance(value, int | float) for value in row):
            equal = 0.0 if "difference" in record else neutral
            equal = 1.0 if low == "ratio_low" else equal
            found.append((*row[:2], equal, row[2], level))
    return found + p_values_with_ends([*record.values()], neutral, level)


@pytest.mark.parametrize("name", RECORDS)
def test_intervals_exclude_equality_exactly_if_the_p_value_is_small(name):
    level = 0.1 if name == "audit_with_policy" else 0.05  # of checks, by the policy
    for low, high, neutral, p_value, level_of in p_values_with_ends(
        RECORDS[name], level=level
    ):
        assert (low > neutral or high < neutral) == (p_value < level_of)


def test_records_have_intervals_with_p_values():
    rows = [row for record in RECORDS.values() for row in p_values_with_ends(record)]
    assert len(rows) > 500
