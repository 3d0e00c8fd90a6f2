"""The text about lines and branches names the files with most of them left."""

import pytest

from tests import branches as branches_of
from tests.branches import SHOWN, text_of


def summary(covered, missing):
    """Counts of a file in which as many branches as lines are left."""
    return {
        "covered_lines": covered,
        "missing_lines": missing,
        "num_statements": covered + missing,
        "covered_branches": 4,
        "missing_branches": missing,
        "num_branches": 4 + missing,
        "percent_covered": 100 * (covered + 4) / (covered + 4 + 2 * missing),
    }


def test_the_files_with_most_left_come_first():
    files = {f"file_{k}": {"summary": summary(100, k)} for k in range(30)}
    lines = text_of({"files": files, "totals": summary(95, 5)}).splitlines()
    named = [line.split()[0] for line in lines[1 : SHOWN + 1]]
    assert named == [f"file_{k}" for k in range(29, 29 - SHOWN, -1)]
    assert lines[SHOWN + 1 :] == [
        "95 of 100 lines are reached, 95.00%",
        "4 of 9 branches are reached, 44.44%",
        "At least 95% of either are asked for",
    ]


@pytest.mark.parametrize(
    ("lines", "branches", "status"), [(99, 94, 1), (94, 99, 1), (95, 95, 0)]
)
def test_few_branches_are_not_made_up_for_by_lines(
    monkeypatch, lines, branches, status
):
    totals = {"covered_lines": lines, "num_statements": 100}
    totals |= {"covered_branches": branches, "num_branches": 100}
    monkeypatch.setattr(branches_of, "traced", lambda tests, data: None)
    report = {"files": {}, "totals": totals}
    monkeypatch.setattr(branches_of, "counted", lambda data: report)
    assert branches_of.main([]) == status
    assert branches_of.main(["tests/utils"]) == 0
