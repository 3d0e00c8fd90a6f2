"""The figures in the user guide's page about verdicts are those of the study's tables."""

import re
from pathlib import Path

import pytest

from tests.benchmarks import coverage

GUIDE = Path(__file__).parents[2] / "docs" / "user_guide"
TABLES = (GUIDE / "verdicts_tables.txt").read_text(encoding="utf-8")
TEXT = " ".join((GUIDE / "verdicts.rst").read_text(encoding="utf-8").split())
# Of the table of intervals: ends that are too low and too high, and widths.
LOW, HIGH, WIDTH = (2, 5), (3, 6), (4, 7)


def table(title):
    """Rows of the table whose heading begins so, by the name of the cell."""
    (found,) = (p for p in f"\n{TABLES}".split("\n## ") if p.startswith(title))
    rows = [line[2:-2].split(" | ") for line in found.splitlines() if line[:2] == "| "]
    two = rows[0][0] == "kind" or rows[0][1].startswith("noise")
    return {" | ".join(row[: 1 + two]): row for row in rows[1:]}


def numbers(cell):
    return [float(x) for x in re.sub(r"\(.*?\)", "", cell).split() if x != "-"]


def short(share, form=".3f"):
    return format(share, form).lstrip("0")


FALSE, INTERVALS = table("Groups of equal"), table("Intervals of rates")
KINDS = dict.fromkeys(kind for kind, _ in coverage.CELLS.values())


def largest(rows, column, kind=""):
    """The largest number in a column of the cells of a kind."""
    of_kind = (row for row in rows.values() if row[0].startswith(kind))
    return max(share for row in of_kind for share in numbers(row[column]))


def by_kind(kind):
    n = sum(row[0] == kind for row in FALSE.values())
    columns = (LOW[0], HIGH[0], LOW[1], HIGH[1])
    shares = [largest(FALSE, 3, kind), *(largest(INTERVALS, c, kind) for c in columns)]
    return " - ".join([f"* - {kind}", str(n), *map(short, shares)])


def ends():
    """How many ends miss more often than they should."""
    found = []
    for columns in (LOW, HIGH):
        shares = [
            x for row in INTERVALS.values() for c in columns for x in numbers(row[c])
        ]
        above = sum(x > 0.025 for x in shares)
        found += [len(shares), above, short(max(shares))]
    return found


def first(rows, *cells, column, form=".2f"):
    """The number of the first group in some cells."""
    return [short(numbers(rows[cell][column])[0], form) for cell in cells]


def said():
    """What the page says, with the figures of the tables."""
    alike = "alike | 2 x 60, {}"
    sixty = [alike.format(kind) for kind in ("even", "mild", "extreme")]
    more = ["mild | 100 mild, 100 milder", "mid | 200 mid, 200 less"]
    many, few = "mild | 40 mild, 300 milder", ["few | few errors, 3"]
    images = ["alike | 30 x 20 and 200 x 2 images", "alike | 2 x 40, 20 images"]
    shares = [FALSE[cell][3].split() for cell in images]
    (one, error), (two, other) = [(s, e.strip("()")) for s, e in shares]
    yield f"{short(float(one))} (Monte-Carlo error {short(float(error))}) of 30 such"
    yield f"images, {short(float(two))} ({short(float(other))}) of two groups of 40."
    others = {k: r for k, r in FALSE.items() if r[0] == "alike" and k not in images}
    yield f"All other such cells have at most {short(largest(others, 3))}"
    n, low, worst, _, high, latest = ends()
    yield f"Of the {n} upper ends (of groups, FMR and FNMR) {low} are too low"
    yield f"at most in {worst} ("
    yield f"lower ends {high} are too high in more than .025, at most in {latest}."
    wide = [first(INTERVALS, *sixty, *few, column=c) for c in WIDTH]
    of_many = [short(numbers(INTERVALS[many][c])[1], ".2f") for c in WIDTH]
    yield "{} times the true rate if people do not differ, {} times if".format(*wide[0])
    yield f"mildly, and {wide[0][2]} times if a few"
    yield f"718 errors it is {of_many[0]} times"
    yield "is {}, {} and {} times the true rate, and".format(*wide[1])
    yield f"and {of_many[1]} times with 300 people and 54"
    yield f"it is {wide[0][3]} (FMR) and {wide[1][3]} times (FNMR)"
    far, frr = (first(FALSE, *sixty, *more, column=c) for c in (6, 7))
    yield "twice as high, {} of audits find it".format(*far)
    yield "differ, {1} if they differ mildly and {2} if".format(*far)
    yield "{3} with 100 people of mild and milder differences, {4} with 200".format(
        *far
    )
    yield "found by {}, {} and {}, and by {} and {}:".format(*frr)
    yield f"is found in {first(FALSE, 'alike | 8 x 40', column=6)[0]}."
    wrong = largest(table("Loosest"), 1)
    yield f"exceeds it in truth in at most {short(wrong)}."
    of_audits = table("Audits of").values()
    share, error = max(row[1].split() for row in of_audits)
    yield f"in at most {short(float(share))} ({short(float(error[1:-1]))}). None"
    changes = [short(numbers(row[2])[0]) for row in table("Two systems").values()]
    yield "in {} with 100 people and {} with 200.".format(*changes)
    sides = [short(numbers(c)[0]) for r in table("far_asym").values() for c in r[1:]]
    yield "shares of {} (FAR 1e-2) and {} (1e-3) of 60 people, and of {}".format(*sides)
    held = {k: short(numbers(row[1])[0]) for k, row in table("FNMR at").items()}
    yield f"truth in {held['1']} of 300 data sets, with two in {held['2']},"
    yield f"longer says so, in {held['10']} and {held['30']}."


@pytest.mark.parametrize("words", [*map(by_kind, KINDS), *said()])
def test_figures_are_those_of_the_tables(words):
    assert words in TEXT


def test_no_finding_stands_beside_an_interval_with_1():
    rows = [*FALSE.values(), *table("Audits of").values()]
    assert {float(row[-1]) for row in rows} == {0.0}


def test_the_tables_are_those_of_the_study():
    """Every cell, in the order of the study."""
    cells = [f"{kind} | {name}" for name, (kind, _) in coverage.CELLS.items()]
    assert list(FALSE) == list(INTERVALS) == cells
    assert list(table("Audits of")) == list(coverage.DESIGNS)
    assert "nan" not in TABLES
