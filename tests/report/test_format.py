"""Numbers have three digits, labels fit, thresholds are on the caller's scale."""

import math

import pytest

from skfairfr.report._format import (
    accepted,
    bounds,
    figure,
    level_name,
    number,
    printable,
    short,
)
from skfairfr.report._record import Figure, Level


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.019415, "0.0194"),
        (0.1, "0.100"),
        (1.0, "1.00"),
        (0.09999, "0.100"),
        (12.34, "12.3"),
        (1234.5, "1,234"),
        (0.000117, "0.000117"),
        (1.17e-5, "1.17e-05"),
        (0.0, "0"),
        (math.inf, "inf"),
        (math.nan, "undefined"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


def test_figure_says_what_it_is():
    found = Figure(0.2, 0.1, 0.3, 0.05, True, "")
    assert figure(found) == "0.200 [0.100, 0.300]"
    assert figure(Figure.undefined("no pair")) == "undefined ?"
    assert figure(Figure(0.2, 0.1, 0.3, 0.05, True, "from a sample")).endswith("~")
    assert bounds(Figure(1.0, math.nan, math.nan, 1.0, False, "")) == "[no interval]"


def test_long_labels_keep_both_ends():
    assert short("a" * 40 + "the end") == "a" * 13 + ".." + "the end"
    assert printable("red\x1b[31m\n") == "red?[31m?"


@pytest.mark.parametrize(
    ("threshold", "settings", "text"),
    [
        (0.45, {}, "accepted from similarity 0.4500 on"),
        (-1.1, {"distance": True}, "accepted up to distance 1.1000"),
        (0.00012, {}, "accepted from similarity 0.00012 on"),
    ],
)
def test_thresholds_are_on_the_scale_of_the_scores(threshold, settings, text):
    assert accepted(threshold, settings) == text


@pytest.mark.parametrize(
    ("far", "set_on", "settings", "text"),
    [
        (0.01, "these data", {}, "FAR 0.01"),
        (0.01, "other data", {}, "FAR 0.01 elsewhere"),
        (None, "given", {}, "threshold -1.1"),
        (None, "given", {"distance": True}, "distance 1.1"),
    ],
)
def test_levels_are_named_by_what_set_them(far, set_on, settings, text):
    level = Level(far, -1.1, math.nan, (), (), (), set_on)
    assert level_name(level, settings) == text
