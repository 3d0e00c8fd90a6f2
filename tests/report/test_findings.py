"""A finding is one group against the reference; its words, interval and p-values agree."""

import csv
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from skfairfr._text._document import Figure
from skfairfr._text._words import TOO_FEW, p_value, percent, percents, ratio, ratios
from skfairfr.report import EmbeddingData, audit_data
from skfairfr.report.sections._answer import _judged_by, cannot_be_concluded
from skfairfr.report.sections._audit_document import audit_document
from skfairfr.report.sections._differences import sentence_of
from tests.refusals import refusal
from tests.report.audits import (
    counted_pairs,
    scored_pairs,
    small_audit,
    small_report,
    synthetic,
    with_a_lone_person,
)
from tests.report.json_schema import is_valid
from tests.report.test_documents import Page
from tests.report.test_verdicts import adjusted_by_loop

# One group errs less than the others, one more; cedar has the most people.
RATES = {"ash": 0.02, "birch": 0.2, "cedar": 0.2, "oak": 0.6}
MORE = RATES | {"elm": 0.2}
DIFFERS = {"higher", "lower"}


def people_pairs(groups):
    """Pairs of people whose groups have these rates."""
    people = dict.fromkeys(groups, 150) | {"cedar": 151}
    rates = {group: MORE[group] for group in people}
    return scored_pairs(np.random.default_rng(0), people, rates, n_impostor=3)


@cache
def audited(*groups, **options):
    """A report of groups, and the rates found in a loop."""
    data = people_pairs(groups)
    wrong, pairs = {}, {}
    sides = zip(data.y_score, *data.identities, data.columns["group"][0], strict=True)
    for score, left, right, group in sides:
        rate = "frr" if left == right else "far"
        error = score < 0.5 if rate == "frr" else score >= 0.5
        pairs[rate, group] = pairs.get((rate, group), 0) + 1
        wrong[rate, group] = wrong.get((rate, group), 0) + error
    report = audit_data(data, threshold=0.5, **options)
    return report, {key: wrong[key] / pairs[key] for key in pairs}


def findings_of(report, rate=None):
    """All findings of all audits, of one rate if asked."""
    return [
        found
        for audit in report.audits
        for level in audit.levels
        for found in level.findings
        if rate in (None, found.rate)
    ]


@pytest.mark.parametrize("asked", [None, "ash", "oak"])
@pytest.mark.parametrize("groups", [tuple(RATES)[:3], tuple(RATES), tuple(MORE)])
def test_a_group_is_held_against_the_reference(groups, asked):
    """That which is asked for, or else the group with the most people."""
    reference = asked if asked in groups else "cedar"
    options = {} if reference != asked else {"reference": asked}
    report, rates = audited(*groups, **options)
    assert report.audits[0].reference == reference
    for rate in ("far", "frr"):
        findings = findings_of(report, rate)
        ratios = {g: rates[rate, g] / rates[rate, reference] for g in groups}
        del ratios[reference]
        # Each other group once, the largest ratio first.
        order = sorted(ratios, key=ratios.get, reverse=True)
        assert [found.group for found in findings] == order
        for found in findings:
            assert found.reference == reference
            assert found.value == pytest.approx(rates[rate, found.group])
            assert found.reference_value == pytest.approx(rates[rate, reference])
            assert found.ratio.value == pytest.approx(ratios[found.group])
            assert found.n_comparisons == 2 * (len(groups) - 1)
            assert found.not_compared == ()


def test_another_reference_turns_a_ratio_round():
    """The p-value of two groups alone is the same from both sides."""
    both = [audited("ash", "cedar", reference=r)[0] for r in ("ash", "cedar")]
    for one, other in zip(*map(findings_of, both), strict=True):
        assert (one.group, one.reference) == (other.reference, other.group)
        assert one.ratio.value == pytest.approx(1 / other.ratio.value)
        assert one.ratio.low == pytest.approx(1 / other.ratio.high)
        assert one.ratio.p_value == pytest.approx(other.ratio.p_value)
        assert {one.verdict, other.verdict} == DIFFERS
    # Two groups have no others, and no test of all rates.
    level = both[0].audits[0].levels[0]
    assert level.against_others == level.overall == ()


def two_attributes():
    X, y, _ = synthetic()
    age = np.array(["old", "old", "young"])[y % 3]
    return EmbeddingData(X, y, {"half": y % 2, "age": age})


def test_the_reference_of_every_attribute_may_be_asked_for():
    """Numbers may be typed as text; combinations take the group with the most people."""
    data = two_attributes()
    usual = audit_data(data, far=0.05)
    asked = audit_data(data, far=0.05, reference=["1", "young"])
    assert [audit.reference for audit in usual.audits[:2]] == [0, "old"]
    assert [audit.reference for audit in asked.audits[:2]] == [1, "young"]
    y = np.unique(data.y)
    sizes = {}
    for half, age in zip(y % 2, np.array(["old", "old", "young"])[y % 3], strict=True):
        sizes[f"{half} & {age}"] = sizes.get(f"{half} & {age}", 0) + 1
    assert sizes[usual.audits[2].reference] == max(sizes.values())
    assert asked.audits[2].reference == usual.audits[2].reference
    one = audit_data(data, far=0.05, reference="0 & young")
    assert one.audits[2].reference == "0 & young"


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("elm", ["'elm'", "cedar"]),
        (["cedar", "elm"], ["'elm'"]),
        (["ash", "oak"], ["'ash'", "'oak'"]),
    ],
)
def test_a_reference_that_cannot_be_used_is_named(reference, words):
    with refusal("reference", *words):
        audit_data(people_pairs(RATES), threshold=0.5, reference=reference)


def test_a_reference_without_pairs_falls_back_to_the_next_group():
    """Ash has no genuine pairs; birch has as many people, and both kinds."""
    data = counted_pairs({"ash": 60, "birch": 40}, {"birch": 30, "cedar": 70, "oak": 9})
    report = audit_data(data, threshold=0.5)
    for rate, reference, others in (
        ("far", "ash", {"birch"}),
        ("frr", "birch", {"cedar", "oak"}),
    ):
        found = findings_of(report, rate)
        assert {one.reference for one in found} == {reference}
        assert {one.group for one in found} == others
        assert all(one.n_comparisons == 3 for one in found)
    not_compared = {one.rate: one.not_compared for one in findings_of(report)}
    assert not_compared == {"far": ("cedar", "oak"), "frr": ("ash",)}


def test_one_person_is_no_reference():
    """Nothing of a group is known from the pairs of one person."""
    data = with_a_lone_person(synthetic(120))
    asked, usual = (small_audit(data, **o) for o in ({"reference": "alone"}, {}))
    for found, expected in zip(
        asked.levels[0].findings, usual.levels[0].findings, strict=True
    ):
        assert "alone" in found.not_compared
        assert (found.group, found.reference) == (expected.group, expected.reference)
        assert found.ratio == expected.ratio


# ---- verdicts ------------------------------------------------------------------------


def test_a_verdict_says_on_which_side_of_the_reference_a_rate_is():
    report, _ = audited(*RATES)
    for rate in ("far", "frr"):
        found = {f.group: f.verdict for f in findings_of(report, rate)}
        assert (found["oak"], found["ash"]) == ("higher", "lower")
        assert found["birch"] == "no significant difference"


def test_all_attributes_are_one_family_and_combinations_another():
    report = audit_data(two_attributes(), far=[0.1, 0.05])
    by_kind = {0.8: report.audits[:2], 0.2: report.audits[2:]}
    for share, audits in by_kind.items():
        found = [f for a in audits for level in a.levels for f in level.findings]
        groups = [len(audit.groups) - 1 for audit in audits]
        assert len(found) == sum(2 * 2 * (n - 1) for n in groups)
        expected = adjusted_by_loop([f.ratio.p_value for f in found], share)
        assert [f.p_adjusted for f in found] == pytest.approx(expected)
        assert {f.n_comparisons for f in found} == {len(found)}


def test_three_groups_are_held_against_the_others_too():
    """A family of its own, against the geometric mean, and whether all rates are equal."""
    report, rates = audited(*RATES)
    found = report.audits[0].levels[0].against_others
    assert len(found) == 2 * len(RATES)
    for one in found:
        others = [rates[one.rate, group] for group in RATES if group != one.group]
        mean = np.exp(np.log(others).mean())
        value = rates[one.rate, one.group] / mean
        assert one.ratio.value == pytest.approx(value)
    expected = adjusted_by_loop([one.ratio.p_value for one in found], 0.2)
    assert [one.p_adjusted for one in found] == pytest.approx(expected)
    for one in report.audits[0].levels[0].overall:
        p = [p for p, of in zip(expected, found, strict=True) if of.rate == one.rate]
        assert one.p_adjusted == pytest.approx(min(p))
        assert one.verdict == "different" and one.p_adjusted <= 0.05


def test_a_difference_across_all_groups_is_stated_if_no_single_one_is_found():
    """The reference has few errors, so nobody is found to differ from it."""
    rates = dict.fromkeys("abcdefg", 0.1) | {"h": 0.22}
    people = dict.fromkeys(rates, 100) | {"a": 25}
    fnmr = dict.fromkeys(rates, 0.1)
    data = scored_pairs(np.random.default_rng(0), people, fnmr, rates, n_impostor=3)
    for reference in ("a", "b"):
        report = audit_data(data, threshold=0.5, reference=reference)
        far, frr = report.audits[0].levels[0].overall
        assert (far.rate, far.verdict) == ("far", "different")
        assert (frr.rate, frr.verdict) == ("frr", "no significant difference")
        named = any(f.verdict in DIFFERS for f in findings_of(report))
        assert named == (reference == "b")
        others = [
            d for d in report.audits[0].levels[0].against_others if d.rate == "far"
        ]
        (found,) = (d for d in others if d.p_adjusted <= 0.05)
        assert found.p_adjusted == far.p_adjusted
        text = f"h has a higher FMR than the other groups together (p {shown(far)}, adjusted). "
        text += f"Compared with {reference} alone, no group has a significantly different FMR."
        for seen in (report.to_html(), " ".join(str(report).split())):
            assert (text in seen) != named
        fnmr_too = (
            f"and the FNMR does not differ significantly (p {shown(frr)}, adjusted)."
        )
        folded = (
            f"across all groups the FMR differs (p {shown(far)}, adjusted) {fnmr_too}"
        )
        assert folded in report.to_html()
    # Beyond all scores nothing is concluded.
    beyond = audit_data(data, threshold=-1.0).audits[0].levels[0].overall
    assert {one.verdict for one in beyond} == {"undetermined"}


def test_a_bound_of_the_largest_ratio_is_not_stated_of_two_groups():
    """Two groups without errors: either may be the one that the bound comes from."""
    rates = {"a": 0.4, "b": 0.0, "c": 0.0}
    people = {"a": 60, "b": 60, "c": 15}
    data = scored_pairs(
        np.random.default_rng(0), people, dict.fromkeys(rates, 0.1), rates, n_impostor=3
    )
    report = audit_data(data, threshold=0.5, limits={"max_fmr_ratio": 2})
    low = ratio(report.checks[0].figure.low)
    assert report.checks[0].figure.value == np.inf
    (rates,) = (r.far for r in report.audits[0].levels[0].rates if r.group == "a")
    seen = " ".join(str(report).split())
    ends = f"{percent(rates.value)} (95 % CI {percents(rates.low, rates.high)})"
    rows = report.audits[0].levels[0].rates
    highest = percent(max(row.far.high for row in rows if row.group in ("b", "c")))
    text = (
        f"the FMR of a is {ends}, that of c and b 0 % (up to {highest}). With 95 % confidence "
        "the largest ratio "
    )
    text = text.replace("\N{NO-BREAK SPACE}", " ")
    bound = f"of any two groups is at least {low}, above the limit of 2 times."
    assert text + bound in seen
    short = " ".join(report.to_text(full=False).split())
    assert (
        "a against c and b infinite, " in short and "CI of the largest ratio" in short
    )
    open_ = audit_data(data, threshold=0.5, limits={"max_fmr_ratio": 1e6})
    end = f"at least {low}; the limit of 1e+06 times is neither met nor exceeded."
    assert end in " ".join(str(open_).split())


def test_an_infinite_ratio_of_a_pair_has_one_interval_and_no_bound():
    """The bound of the largest ratio is another number, so both are not "at least"."""
    rates = {"a": 0.4, "b": 0.0, "c": 0.0}
    data = scored_pairs(
        *(np.random.default_rng(0), dict.fromkeys(rates, 60)),
        *(rates, rates),
        n_impostor=3,
    )
    report = audit_data(data, threshold=0.5, limits={"max_fmr_ratio": 2})
    (check,), (audit,) = report.checks, report.audits
    (level,) = audit.levels
    finding = next(f for f in level.findings if f.rate == "far" and f.group == "b")
    low = finding.ratio.low or 1 / finding.ratio.high
    text = sentence_of(audit, level, finding).replace("\N{NO-BREAK SPACE}", " ")
    assert f"0 % (95 % CI of this pair alone {ratio(low)} to infinity)" in text
    assert "at least" not in text
    assert "largest ratio of any two groups" in _judged_by(check, audit, level, finding)
    of_frr = audit_data(data, threshold=0.5, limits={"max_fnmr_ratio": 2})
    assert not _judged_by(of_frr.checks[0], audit, level, finding)
    none = level.rates[-1].frr
    ends = percents(none.low, none.high).replace("\N{NO-BREAK SPACE}", " ")
    assert none.value == 0 and f"0 % ({ends} each)" in " ".join(str(of_frr).split())


def audit_of_two(frr, far, **options):
    """The first screen of an audit of two groups with these rates, in one line."""
    data = scored_pairs(
        np.random.default_rng(0), dict.fromkeys("ab", 150), frr, far, n_impostor=3
    )
    report = audit_data(data, threshold=0.5, **options)
    return report, " ".join(report.to_text(full=False).split())


def test_the_headline_has_the_largest_ratio_with_enough_errors():
    report, seen = audit_of_two({"a": 0.025, "b": 0.03}, {"a": 0.3, "b": 0.31})
    by_rate = {f.rate: f.ratio for f in findings_of(report)}
    assert {rate: of.supported for rate, of in by_rate.items()} == {
        "far": True,
        "frr": False,
    }
    assert max(by_rate["frr"].value, 1 / by_rate["frr"].value) > 1.3
    assert "the largest ratio with enough errors is that of the FMR of" in seen
    _, seen = audit_of_two({"a": 0.3, "b": 0.3}, {"a": 0.3, "b": 0.3})
    assert "the largest ratio is that of the F" in seen


def test_a_headline_of_an_open_limit_states_that_the_groups_differ():
    rates = {"a": 0.2, "b": 0.2}, {"a": 0.3, "b": 0.5}
    text = (
        "The limit is {} times. The difference between the two groups is significant."
    )
    report, seen = audit_of_two(*rates, limits={"max_fmr_ratio": 1.8})
    assert report.checks[0].verdict == "undetermined" and text.format(1.8) in seen
    report, seen = audit_of_two(*rates, limits={"max_fmr_ratio": 1.1})
    assert (
        report.checks[0].verdict == "failed"
        and "difference between the two" not in seen
    )


def test_open_limits_that_are_not_shown_are_counted():
    rates = {"a": 0.2, "b": 0.2}, {"a": 0.3, "b": 0.3}
    limits = {"max_fmr_ratio": 1.1, "max_fnmr_ratio": 1.1, "max_fmr": 0.31}
    report, seen = audit_of_two(*rates, limits=limits)
    n_open = [check.verdict for check in report.checks].count("undetermined")
    assert n_open == 3 and "2 more undetermined limits: --full." in seen
    assert "2 more undetermined limits: " in report.to_html()
    _, seen = audit_of_two(*rates, limits={"max_fmr_ratio": 1.1})
    assert "limits: --full" not in seen


def shown(test):
    p = p_value(test.p_adjusted)
    return p if p.startswith("<") else f"= {p}"


def consistent(found):
    """An interval excludes 1 where its p says so, and a verdict goes by the adjusted p."""
    low, high, p = found.ratio.low, found.ratio.high, found.ratio.p_value
    assert (low > 1 or high < 1) == (p < 0.05)
    assert p <= found.p_adjusted <= 1
    assert (found.verdict in DIFFERS) == (found.p_adjusted <= 0.05)
    assert found.verdict != "higher" or low > 1
    assert found.verdict != "lower" or high < 1


def test_interval_p_and_verdict_agree():
    groups = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}
    crowding = dict.fromkeys(groups, 0.0) | {"a": 6.0}
    data = synthetic(60, groups=groups, crowding=crowding)
    for level in small_audit(data, far=[0.1, 0.02, 0.005]).levels:
        for found in level.findings:
            consistent(found)


# ---- words ---------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [("ash", "cedar"), tuple(RATES), tuple(MORE)])
def test_every_form_names_the_reference_the_ratio_and_both_p(groups):
    report, _ = audited(*groups)
    text, page = " ".join(report.to_text().split()), Page(report.to_html()).text
    for found in findings_of(report):
        ends = ratios(found.ratio.low, found.ratio.high)
        assert found.verdict in page  # lines of a column in a text may break it
        for shown in (text, page):
            assert "over cedar" in shown and found.group in shown
            assert ratio(found.ratio.value) in shown and ends in shown
            for p in (found.ratio.p_value, found.p_adjusted):
                assert p_value(p) in shown


@pytest.mark.parametrize(
    ("reference", "rates", "first"),
    [
        ("oak", {"ash": 60, "oak": 3}, "ash"),
        ("ash", {"ash": 60, "oak": 3}, "ash"),
        ("ash", {"ash": 60, "birch": 3, "oak": 5}, "ash"),
        ("birch", {"ash": 60, "birch": 20, "oak": 60}, "ash"),
    ],
)
def test_the_largest_difference_names_the_group_with_the_higher_rate_first(
    reference, rates, first
):
    data = counted_pairs(rates, dict.fromkeys(rates, 40))
    told = repr(audit_data(data, threshold=0.5, reference=reference))
    other = min(rates, key=rates.get) if reference == first else reference
    assert -1 < told.index(f"{first} ") < told.index(f"{other}, ")
    assert ratio(rates[first] / rates[other]) in told


@pytest.mark.parametrize("more", [0, 1, 5])
def test_a_lower_rate_is_told_beside_rates_like_the_reference(more):
    """Birch errs as often as the reference, or little more; oak much less."""
    errors = {"ash": 60, "birch": 60 + more, "oak": 2}
    report = audit_data(counted_pairs(errors, dict.fromkeys(errors, 40)), threshold=0.5)
    (lower,) = (f for f in findings_of(report) if f.verdict in DIFFERS)
    assert (lower.group, lower.verdict, lower.rate) == ("oak", "lower", "far")
    for told in (repr(report), report.to_text(full=False)):
        assert "No rate differs" not in told
        assert "ash has a higher" in " ".join(told.split())


@pytest.mark.parametrize("n_errors", [0, 1, 3])
def test_that_a_group_with_few_errors_is_lower_is_marked(n_errors):
    """What is certain of it is the upper end; its size rests on too little."""
    errors = {"ash": 60, "oak": n_errors}
    report = audit_data(counted_pairs(errors, dict.fromkeys(errors, 40)), threshold=0.5)
    lower, alike = findings_of(report)
    assert (lower.group, lower.verdict) == ("oak", "lower")
    assert lower.ratio.high < 1 and not lower.ratio.supported
    assert {g for reason in lower.ratio.reasons for g in reason.groups} == {"oak"}
    assert (lower.ratio.low == 0) == (n_errors == 0)
    assert alike.ratio.supported and alike.verdict == "no significant difference"
    assert f"{TOO_FEW} among oak" in repr(report)
    assert f"{ratio(1 / lower.ratio.high)} to " in repr(report)


def test_a_group_without_pairs_has_no_mark():
    errors = {"ash": 40, "birch": 3}
    data = counted_pairs(errors, {**errors, "oak": 3})
    level = audit_data(data, threshold=0.5).audits[0].levels[0]
    (of_oak,) = (row for row in level.rates if row.group == "oak")
    assert np.isnan(of_oak.far.value) and of_oak.far_errors is None
    report = audit_data(data, threshold=0.5)
    (part,) = report._document().only("by-0-rates").sections[0].parts
    (table,) = part.parts
    of_group = {row.name: row.cells for row in table.rows}
    assert (of_group["oak"][1].text, of_group["oak"][1].few) == ("\N{EN DASH}", "")
    # The others with three errors, both rates of one group and their ratios to the reference.
    assert [bool(cell.few) for cell in of_group["birch"]] == [False] + 4 * [True]
    assert [bool(cell.few) for cell in of_group["oak"]][:3] == 3 * [False]


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
            said = f"like {round(worth.errors):,} errors"
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


# ---- the first screen ----------------------------------------------------------------


def test_the_figure_is_of_the_attribute_that_the_headline_is_about():
    X, y, groups = synthetic()
    coin = np.array(["heads", "tails"])[
        np.random.default_rng(0).integers(0, 2, y.max() + 1)
    ]
    data = EmbeddingData(X, y, {"coin": coin[y], "gender": groups})
    report = audit_data(data, far=0.05)
    first, *others = audit_document(report).sections
    (shown,) = (part.name for part in first.parts if isinstance(part, Figure))
    names = [p.name for s in others for p in s.parts if isinstance(p, Figure)]
    headline = first.parts[0].headline
    assert "female" in headline and "gender" in shown
    assert "rates-coin" in names and shown not in names


def test_a_further_point_at_which_nobody_has_enough_errors_is_named():
    report = small_report(far=[0.05, 1e-5])
    _, last = report.audits[0].levels
    assert not any(row.far.supported for row in last.rates[1:])
    assert any(row.frr.supported for row in last.rates[1:])
    (line,) = (text for text in cannot_be_concluded(report) if "every" in text)
    place = "at an overall FMR of 0.001\N{NO-BREAK SPACE}%"
    assert line == f"Too few errors {place} for the FMR of every gender."


def test_a_ratio_to_a_rate_without_errors_is_no_largest_one():
    """Unless it is significant: it is as large with one error as with ten."""
    people = {"a": 200, "b": 201, "c": 8}
    data = scored_pairs(
        np.random.default_rng(0), people, {"a": 0.06, "b": 0.04, "c": 0}
    )
    report = audit_data(data, threshold=0.5)
    found = findings_of(report, "frr")
    assert any(np.isposinf(1 / f.value if f.value else np.inf) for f in found)
    headline = audit_document(report).sections[0].parts[0].headline
    assert "infinity" not in headline and " to that of a (" in headline
