"""Numbers have three digits, labels fit, thresholds are on the caller's scale."""

import math
from dataclasses import replace

import pytest

from skfairfr.metrics import Reason
from skfairfr.report._records import Figure, Level
from skfairfr.report._text_layout import (
    accepted,
    bounds,
    figure,
    in_words,
    level_name,
    number,
    printable,
    short,
)


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
    assert figure(Figure.undefined(Reason("no_pairs"))) == "undefined ?"
    sampled = Figure(0.2, 0.1, 0.3, 0.05, True, "beyond", "sample")
    assert figure(sampled) == "0.200 [0.100, 0.300] ~"
    assert figure(replace(sampled, supported=False)).endswith("] ?")
    assert figure(Figure(0.2, 0.1, 0.3, 0.05, True, "few")) == "0.200 [0.100, 0.300]"
    assert bounds(Figure(1.0, math.nan, math.nan, 1.0, False, "")) == "[no interval]"


def test_long_labels_keep_both_ends():
    assert short("a" * 40 + "the end") == "a" * 13 + ".." + "the end"
    assert printable("red\x1b[31m\n") == "red?[31m?"


@pytest.mark.parametrize(
    ("threshold", "settings", "text"),
    [
        (0.45, {}, "accepted from similarity 0.45 on"),
        (-1.1, {"distance": True}, "accepted up to distance 1.1"),
        (-0.0, {"distance": True}, "accepted up to distance 0"),
        (0.99912345678, {}, "accepted from similarity 0.99912345678 on"),
        (-1250.0, {}, "accepted from similarity -1250 on"),
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


def reason(code, group, found, needed):
    return Reason(code, (group,), found=found, needed=needed)


@pytest.mark.parametrize(
    ("reasons", "source", "text"),
    [
        ((), "all pairs", ""),
        (
            (reason("few_errors", "a", 3, 30), reason("few_people", "a", 1, 10)),
            "all pairs",
            "a: 3 errors, 30 needed; errors from 1 person, 10 needed",
        ),
        (
            (
                reason("no_errors", "a", 0, 30),
                reason("no_errors", "b", 0, 30),
                Reason("undefined_resamples", found=3, needed=1),
            ),
            "all pairs",
            "a: no errors, 30 needed; b: no errors, 30 needed; undefined in 3 resamples",
        ),
        (
            (Reason("no_pairs", rate="frr"),),
            "sample",
            "no genuine pair; beyond the FAR up to which all pairs are held: from a "
            "uniform sample of impostor pairs",
        ),
        (
            (
                Reason("no_pairs", ("a",), "frr"),
                Reason("no_pairs", ("a",), "far"),
                Reason("no_pairs", ("b",), "far"),
            ),
            "all pairs",
            "a: no genuine and no impostor pair; b: no impostor pair",
        ),
    ],
)
def test_reasons_are_told_in_a_report_s_words(reasons, source, text):
    assert in_words(reasons, source) == text
