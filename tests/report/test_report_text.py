"""Cells as a table, checks as sentences."""

import math
from itertools import product

import pytest

from skfairfr.report._record import Cell, Check, Crossing, Figure, Report
from skfairfr.report._report_text import cells, check_lines
from tests.report.audits import small_audit


def crossing(*groups):
    names = tuple("abc"[: len(groups)])
    found = [Cell(g, n, None) for n, g in enumerate(product(*groups))]
    return Crossing(names, tuple(found))


def test_two_attributes_make_a_table():
    lines = cells(crossing(("x", "y", None), ("f", "m")))
    assert [line.split() for line in lines[2:]] == [
        ["f", "m"],
        ["x", "0", "1"],
        ["y", "2", "3"],
        ["unknown", "4", "5"],
    ]


def test_the_fewer_groups_are_the_columns():
    lines = cells(crossing(("f", "m"), ("x", "y", "z")))
    assert lines[2].split() == ["f", "m"]
    assert lines[4].split() == ["y", "1", "4"]


@pytest.mark.parametrize("groups", [(range(7), range(6)), ("fm", "xy", "pq")])
def test_what_does_not_fit_is_listed(groups):
    lines = cells(crossing(*groups))
    assert len(lines) == 2 + math.prod(map(len, groups))
    assert lines[3].startswith(" & ".join(str(g[0]) for g in groups[:-1]))


@pytest.mark.parametrize(
    ("verdict", "figure", "said"),
    [
        (
            "passed",
            Figure(1.2, 1.1, 1.9, 0.1, True, ""),
            "PASSED: BFAR by gender at most 2",
        ),
        ("failed", Figure(3.0, 2.5, 3.5, 0.1, True, ""), "begins above"),
        ("failed", Figure(3.0, 2.5, 3.5, 0.1, False, "few"), "though the data do not"),
        ("undetermined", Figure(1.2, 1.1, 1.9, 0.1, False, "few"), "not support"),
        ("undetermined", Figure(2.0, 1.1, 2.9, 0.1, True, ""), "holds it"),
        ("undetermined", Figure.undefined("none"), "there is no interval"),
    ],
)
def test_a_check_says_why(verdict, figure, said):
    check = Check("max_bfar", 2.0, "gender", 0.05, 0.4, figure, ("lone",), verdict)
    text = " ".join(check_lines(Report((small_audit(),), (), (check,))))
    assert said in " ".join(text.split())
    assert "nothing of lone" in " ".join(text.split())
