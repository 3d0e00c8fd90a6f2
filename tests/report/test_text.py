"""The table can be read: narrow, plain, honest about what is not supported."""

import math

import numpy as np
import pytest

from skfairfr.report import to_text
from skfairfr.report._record import Figure, Finding
from skfairfr.report._text import bounds, figure, number, printable, short
from tests.report.audits import small_audit, synthetic, with_a_lone_person


@pytest.fixture(scope="module")
def audits():
    X, y, groups = synthetic()
    names = np.where(groups == "male", "a group\x1b[2J" + "x" * 90, "\u00e9t\u00e9")
    return [
        small_audit(far=[0.05, 0.2]),
        small_audit(with_a_lone_person(), far=[0.05, 1e-4]),
        small_audit((X, y, names), resample="images"),
    ]


def test_lines_fit_and_are_printable(audits):
    for found in audits:
        lines = to_text(found, "faces.npz").splitlines()
        assert max(map(len, lines)) <= 100
        assert all(line.isprintable() for line in lines)


def test_every_group_and_level_is_there(audits):
    text = to_text(audits[0], "faces.npz")
    for said in ("female", "male", "FAR 0.05", "FAR 0.2", "faces.npz", "FMR", "FNMR"):
        assert said in text
    for said in ("EER", "max / min", "Gini", "BFAR", "genuine pairs", "larger is less"):
        assert said in text


def test_what_is_not_supported_is_marked_and_explained(audits):
    text = to_text(audits[1])
    assert "undefined ?" in text
    assert "alone: no impostor pair" in text
    assert "Notes" in text


def test_dominant_person_shows_both_averages():
    X, y, groups = synthetic()
    kept = np.r_[np.flatnonzero(y == y[0]), np.arange(len(y))]
    noise = np.random.default_rng(0).normal(scale=0.05, size=(len(kept), X.shape[1]))
    found = small_audit((X[kept] + noise, y[kept], groups[kept]))
    text = to_text(found)
    assert found.averaged is not None
    assert "One person supplies" in text
    assert "average by identity" in text


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


def test_the_data_tell_only_when_the_interval_excludes_one():
    """The sentence follows the verdict, never the value alone."""
    found = small_audit()
    text = to_text(found)
    for finding in found.levels[0].findings:
        assert isinstance(finding, Finding)
    verdicts = [f.verdict for f in found.levels[0].findings]
    assert text.count("is treated worse.") == verdicts.count("worse")
    assert text.count("excludes 1;") + text.count("excludes 1.") == verdicts.count(
        "worse"
    )
