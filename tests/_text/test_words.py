"""Numbers of texts are those of the records; results are strict JSON."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from skfairfr._text._words import (
    level_percent,
    percent,
    percents,
    plain_form,
    ratio,
    signed,
)

GAP = "\N{NO-BREAK SPACE}"


@dataclass
class Result:
    value: float
    hidden: object = field(default=None, metadata={"json": False})


def test_results_are_strict_json():
    found = plain_form({"a": (Result(np.float64("nan")), -np.inf, [np.int32(3), "b"])})
    assert found == {"a": [{"value": None}, "-Infinity", [3, "b"]]}
    assert plain_form(np.array([[1.5, np.nan], [np.inf, 2]])) == [
        [1.5, None],
        ["Infinity", 2.0],
    ]


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (0.9999, "99.99"),
        (0.07, "7"),
        (1e-4, "0.01"),
        (1.5e-7, "0.000015"),
        (1e-300, "1e-298"),
        (1 / 3, "33.33333333"),
    ],
)
def test_levels_keep_the_digits_that_they_were_given_with(level, text):
    assert level_percent(level) == f"{text}{GAP}%"


@pytest.mark.parametrize("rate", [0.9996, 0.01, 0.0123456, 1e-6, 0])
def test_percentages_have_three_digits(rate):
    shown = percent(rate).removesuffix(f"{GAP}%")
    assert float(shown) == pytest.approx(100 * rate, rel=5e-3)
    assert len(shown.replace(".", "").lstrip("0")) in (3, 0)


def test_one_is_written_for_no_other_ratio_and_differences_have_signs():
    assert ratio(1.0) == "1.00" and ratio(1.00002) != "1.00" != ratio(0.99999)
    assert ratio(1 - 4e-16) == "1.00" and ratio(4e-16) == "0"  # what rounding leaves
    assert signed(f"1.5 to -2.0{GAP}points") == f"+1.5 to \N{MINUS SIGN}2.0{GAP}points"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (9e-14, 0.0012, "0 to 0.120"),
        (-0.002, 1e-9, "-0.200 to 0"),
        (1.23e-4, 0.0462, "0.0123 to 4.62"),
        (2e-7, 0.012, "0.0000200 to 1.20"),
        (0.0, 0.0, "0 to 0"),
    ],
)
def test_an_end_that_is_tiny_beside_the_other_is_zero(low, high, text):
    assert percents(low, high) == f"{text}{GAP}%"
