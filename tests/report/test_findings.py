"""A finding is one group against the others; its sentence, interval and p-values agree."""

import csv
import json
from dataclasses import replace
from functools import cache
from math import prod

import numpy as np
import pytest

from skfairfr._text._words import p_value, ratio
from skfairfr.report import audit_data
from tests.report.audits import counted_pairs, scored_pairs, small_audit, synthetic
from tests.report.json_schema import is_valid
from tests.report.test_documents import Page

# One group errs more than the others, one less.
RATES = {"ash": 0.02, "birch": 0.2, "cedar": 0.2, "oak": 0.6}
MORE = RATES | {"elm": 0.2}


@cache
def audited(*groups):
    """A report of people whose groups have these rates, and the rates found in a loop."""
    rates = {group: MORE[group] for group in groups}
    people = dict.fromkeys(rates, 150)
    data = scored_pairs(np.random.default_rng(0), people, rates, n_impostor=3)
    wrong, pairs = {}, {}
    sides = zip(data.y_score, *data.identities, data.columns["group"][0], strict=True)
    for score, left, right, group in sides:
        rate = "frr" if left == right else "far"
        error = score < 0.5 if rate == "frr" else score >= 0.5
        pairs[rate, group] = pairs.get((rate, group), 0) + 1
        wrong[rate, group] = wrong.get((rate, group), 0) + error
    report = audit_data(data, threshold=0.5)
    return report, {key: wrong[key] / pairs[key] for key in pairs}


@pytest.mark.parametrize("groups", [tuple(RATES)[:3], tuple(RATES), tuple(MORE)])
def test_a_group_is_held_against_the_geometric_mean_of_the_others(groups):
    report, rates = audited(*groups)
    (level,) = report.audits[0].levels
    for found in level.findings:
        assert {found.group, *found.others} == set(groups)
        others = [rates[found.rate, group] for group in found.others]
        mean = prod(others) ** (1 / len(others))
        assert found.value == pytest.approx(rates[found.rate, found.group])
        assert found.other_value == pytest.approx(mean)
        assert found.ratio.value == pytest.approx(found.value / mean)
        assert found.n_comparisons == 2 * len(groups)


def test_all_groups_that_differ_are_found_the_worse_ones_first():
    report, _ = audited(*RATES)
    (level,) = report.audits[0].levels
    for rate in ("far", "frr"):
        found = [(f.verdict, f.group) for f in level.findings if f.rate == rate]
        assert found[0] == ("worse", "oak") and ("better", "ash") in found
        verdicts = [verdict for verdict, _ in found]
        assert verdicts == sorted(verdicts, reverse=True)


def consistent(found):
    """An interval excludes 1 where its p says so, and a verdict goes by the adjusted p."""
    low, high, p = found.ratio.low, found.ratio.high, found.ratio.p_value
    assert (low > 1 or high < 1) == (p < 0.05)
    assert p <= found.p_adjusted <= 1
    assert (found.verdict in ("worse", "better")) == (found.p_adjusted <= 0.05)
    assert found.verdict != "worse" or low > 1
    assert found.verdict != "better" or high < 1


@pytest.mark.parametrize(
    ("n_identities", "shares"),
    [(30, (0.5, 0.5)), (60, (0.4, 0.3, 0.2, 0.1)), (120, (0.5, 0.3, 0.2))],
)
def test_interval_p_and_verdict_agree(n_identities, shares):
    groups = dict(zip("abcd", shares, strict=False))
    crowding = dict.fromkeys(groups, 0.0) | {"a": 6.0}
    data = synthetic(n_identities, groups=groups, crowding=crowding)
    for level in small_audit(data, far=[0.1, 0.02, 0.005]).levels:
        for found in level.findings:
            consistent(found)


@pytest.mark.parametrize("groups", [tuple(RATES)[2:], tuple(RATES), tuple(MORE)])
def test_every_form_names_the_group_the_others_and_both_p(groups):
    report, _ = audited(*groups)
    text, page = " ".join(report.to_text().split()), Page(report.to_html()).text
    for found in report.audits[0].levels[0].findings:
        assert found.verdict in ("worse", "better")
        named = f"the {len(found.others)} others"
        if len(found.others) <= 3:
            *before, last = found.others
            named = f"{', '.join(before)} and {last}" if before else last
        said = f"{found.group} is treated {found.verdict}"
        mean = f"{named} (geometric mean)" if len(groups) > 2 else named
        for shown in (text, page):
            assert said in shown and mean in shown
            for p in (found.ratio.p_value, found.p_adjusted):
                assert p_value(p) in shown


def test_groups_with_too_few_errors_to_compare_with_are_named():
    rates = {"ash": 0.0, "birch": 0.1, "cedar": 0.3}
    data = scored_pairs(np.random.default_rng(0), dict.fromkeys(rates, 80), rates)
    report = audit_data(data, threshold=0.5)
    of_frr = [f for f in report.audits[0].levels[0].findings if f.rate == "frr"]
    assert all("ash" not in found.others for found in of_frr)
    said = "oo few errors to compare with: ash."
    assert said in " ".join(report.to_text().split())
    assert said in Page(report.to_html()).text


@pytest.mark.parametrize("n_errors", [0, 1, 3])
def test_that_a_group_with_few_errors_is_better_has_an_upper_bound_alone(n_errors):
    errors = {"ash": 60, "birch": 60, "cedar": 60, "oak": n_errors}
    data = counted_pairs(errors, dict.fromkeys(errors, 40))
    report = audit_data(data, threshold=0.5)
    found = report.audits[0].levels[0].findings
    (better,) = (f for f in found if f.verdict == "better")
    assert better.group == "oak" and not better.ratio.supported
    said = " ".join(report.to_text().split())
    (sentence,) = (
        s for s in said.split(" - ") if s.startswith("oak is treated better")
    )
    assert f"at most {ratio(better.ratio.high)} times as high" in sentence
    assert "too few errors of oak." in sentence and "at least" not in sentence
    # Of the three groups that differ in nothing else no comparison is counted.
    assert "1 of 2 comparisons of groups" in said


def test_a_group_without_pairs_has_no_mark():
    errors = {"ash": 40, "birch": 3}
    data = counted_pairs(errors, {**errors, "oak": 3})
    report = audit_data(data, threshold=0.5)
    text = report.to_text()
    table = text.split("False non-")[1].split("Disparity")[0]
    of_oak, of_birch = (
        table.split(f"\n{name} ")[1].split("\n")[0].split() for name in ("oak", "birch")
    )
    assert of_oak[:3] == ["0", "-", "-"]
    assert table.count("too few") == 3  # the others with three errors
    assert of_birch[0] == "200"


# ---- what errors are worth -----------------------------------------------------------


def clustered(n_genuine):
    """People who err in all of their genuine pairs or in none, and so in pairs with others."""
    rates = {"ash": 0.2, "birch": 0.3}
    people = dict.fromkeys(rates, 200)
    data = scored_pairs(np.random.default_rng(0), people, rates, n_genuine=n_genuine)
    left, right = (np.asarray(side) for side in data.identities)
    _, first = np.unique(left, return_index=True)
    score = data.y_score[first][np.searchsorted(np.unique(left), left)]
    return replace(data, y_score=np.where(left == right, score, data.y_score))


@pytest.mark.parametrize("n_genuine", [1, 2, 5])
def test_errors_of_one_person_are_worth_one(n_genuine):
    report = audit_data(clustered(n_genuine), threshold=0.5)
    for row in report.audits[0].levels[0].rates:
        # All pairs of a person err or none: as many people err, independently.
        expected = row.frr_errors / n_genuine
        assert row.frr_effective.errors == pytest.approx(expected, rel=0.05)
        assert row.frr_effective.people <= (400 if row.group is None else 200)


def test_every_form_says_what_errors_are_worth(tmp_path):
    report = audit_data(clustered(3), threshold=0.5)
    report.save(tmp_path)
    page = Page(report.to_html()).text
    read = json.loads((tmp_path / "audit.json").read_text())
    with (tmp_path / "rates.csv").open(encoding="utf-8-sig") as file:
        table = list(csv.DictReader(file))
    assert is_valid(read, report.schema())
    rows = report.audits[0].levels[0].rates
    in_json = read["audits"][0]["levels"][0]["rates"]
    for row, record, cells in zip(rows, in_json, table, strict=True):
        for rate in ("far", "frr"):
            worth = getattr(row, f"{rate}_effective")
            assert 1.5 < worth.errors and 1.5 < worth.people
            of = "between" if rate == "far" else "of"
            said = f"like {round(worth.errors):,} errors {of} {round(worth.people):,} people"
            assert f"{getattr(row, f'{rate}_errors'):,} {said}" in page
            iso = {"far": "fmr", "frr": "fnmr"}[rate]
            assert record[f"{iso}_effective"] == vars(worth)
            for name, value in vars(worth).items():
                assert float(cells[f"{iso}_effective_{name}"]) == value


# ---- checks --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_check_shows_the_upper_end_of_the_table(seed):
    """Also at levels where the end is that of another level, as upper ends never fall."""
    kept = np.random.default_rng(seed).permutation(60)[:45]
    X, y, groups = synthetic()
    chosen = np.isin(y, kept)
    limits = {"max_fmr": 1 - 1e-9, "max_fnmr": 1 - 1e-9}
    far = np.logspace(-1, -3, 13)
    found = small_audit((X[chosen], y[chosen], groups[chosen]), far=far, limits=limits)
    for k, check in enumerate(found.checks):
        level = found.levels[k % len(far)]
        rate = "far" if check.name == "max_fmr" else "frr"
        ends = [getattr(row, rate).high for row in level.rates[1:]]
        assert check.figure.high == max(ends)
        assert (check.verdict == "passed") == (max(ends) <= check.limit)
