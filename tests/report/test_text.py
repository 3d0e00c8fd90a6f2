"""The table can be read: narrow and plain, whatever was audited; its parts are in order."""

import math
from itertools import product

import numpy as np
import pytest

from skfairfr.metrics import Reason
from skfairfr.report import EmbeddingData, audit_data, to_text
from skfairfr.report._records import Cell, Check, Crossing, Figure
from skfairfr.report._text import cells, check_lines
from skfairfr.report._text_layout import factor, interval
from tests.report.audits import small_audit, synthetic, usual_audit, with_a_lone_person


@pytest.fixture(scope="module")
def found():
    X, y, groups = synthetic()
    names = np.where(groups == "male", "a group\x1b[2J" + "x" * 90, "\u00e9t\u00e9")
    data = EmbeddingData(X, y, {"name": names, "age": np.where(y % 2, "old", "young")})
    limits = {"max_bfar": 2.0, "max_frr_ratio": 1.5}
    return [
        small_audit(far=[0.05, 0.2]),
        small_audit(with_a_lone_person(), far=[0.05, 1e-4]),
        small_audit((X, y, names), average="identity"),
        audit_data(data, limits=limits, n_resamples=20),
    ]


def test_lines_fit_and_are_printable(found):
    for one in found:
        lines = to_text(one, "faces.npz").splitlines()
        assert max(map(len, lines)) <= 100
        assert all(line.isprintable() for line in lines)


def test_a_report_has_its_parts_once_and_in_order(found):
    text = to_text(found[-1])
    assert text.count("How to read this") == 1
    places = [
        text.index(words)
        for words in ("Audit by name", "Audit by age", "Audit by name & age")
    ]
    cells, checks = text.index("People by name & age"), text.index("Checks\n")
    assert sorted([*places, cells, checks]) == [*places, cells, checks]


def test_a_record_writes_its_own_text(found):
    for one in found:
        assert one.to_text("faces.npz") == to_text(one, "faces.npz")


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


def check_of(name, limit, verdict, figure, groups, **more):
    about = (name, limit, "gender", 0.05, 0.4, figure, groups, ("lone",), verdict)
    return Check(*about, **more)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            check_of("max_bfar", 2.0, "passed", Figure(1.2, 1, 1.9, 0.1, True, ""), "fm"),
            "PASSED: BFAR by gender at most 2.00, at FAR 0.05 (accepted from similarity "
            "0.4 on): 1.20 [1.00, 1.90]; largest for f over m, at most 1.90.",
        ),
        (
            check_of(
                "max_far_ratio", 2.0, "failed", Figure(3, 2.5, 9, 0.1, False, "few"), "fm"
            ),
            "FAILED: max / min of the FAR by gender at most 2.00, at FAR 0.05 (accepted "
            "from similarity 0.4 on): 3.00 [2.50, 9.00]; f over m is at least 2.50.",
        ),
        (
            check_of(
                "max_frr_ratio", 2.0, "undetermined", Figure(2, 1, 2.9, 0.1, True, ""), "fm"
            ),
            "2.00 [1.00, 2.90]; f over m may be as large as 2.90.",
        ),
        (
            check_of(
                "max_frr_ratio", 2.0, "undetermined", Figure.undefined(Reason("few_groups")), ()
            ),
            "undefined [no interval]; there is nothing to judge by.",
        ),
        (
            check_of("max_fmr", 0.02, "failed", Figure(0.1, 0.05, 0.2, 0.1, True, ""), "fm"),
            "FAILED: FMR of each group of gender at most 0.0200, at FAR 0.05 (accepted from "
            "similarity 0.4 on): above it for f, m; for f it is at least 0.0500.",
        ),
        (
            check_of("max_fnmr", 0.2, "passed", Figure(0.1, 0, 0.15, 0.1, True, ""), "f"),
            "PASSED: FNMR of each group of gender at most 0.200, at FAR 0.05 (accepted from "
            "similarity 0.4 on): largest for f, at most 0.150.",
        ),
        (
            check_of(
                "max_fnmr", 0.2, "undetermined", Figure(0.1, 0, 0.3, 0.1, True, ""), "f",
                people_needed=(("f", 1234), ("m", 60)),
            ),
            "for f it may be as large as 0.300. If rates are as found, 1,300 more people in f "
            "and 60 more people in m would settle it in 80 % of cases.",
        ),
        (
            check_of(
                "max_fnmr", 0.2, "undetermined", Figure(0.1, 0, 0.3, 0.1, True, ""), "f",
                people_needed=(("f", 20), ("m", 60), ("x", 1)),
            ),
            "If rates are as found, 20 more people in f, 60 more people in m and 1 more person "
            "in x would settle it",
        ),
    ],
)  # fmt: skip
def test_a_check_says_why(check, words):
    text = " ".join(check_lines([check], usual_audit().settings))
    assert words in " ".join(text.split())
    assert "Not covered, without the pairs it needs: lone" in " ".join(text.split())


def test_only_one_is_written_as_one():
    for value in (1.00001, 1.0049, 0.9999, 1.004999, 12.3, 0.0012):
        text = factor(value)
        assert (float(text) > 1) == (value > 1) and float(text) != 1
        assert interval(value, 2.0, factor) == f"[{text}, 2.00]"
    assert factor(1.0) == "1.00" and factor(math.nan) == "undefined"
