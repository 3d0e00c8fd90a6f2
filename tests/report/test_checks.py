"""A check fails, passes or is undetermined as its interval says."""

import math
from dataclasses import replace

import numpy as np
import pytest

from skfairfr.report import audit_decisions
from skfairfr.report._checks import operating_points_of
from skfairfr.report._policy import verdict_of
from skfairfr.report._records import Check, Figure
from skfairfr.report._report import Report
from tests.report.audits import small_audit, synthetic, usual_audit, with_a_lone_person


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.1, 1.9, "passed"),
        (1.1, 2.0, "passed"),
        (1.1, 2.1, "undetermined"),
        (2.0, 2.1, "undetermined"),
        (2.1, 2.5, "failed"),
        (2.1, math.inf, "failed"),
        (math.nan, math.nan, "undetermined"),
    ],
)
@pytest.mark.parametrize("supported", [True, False])
def test_verdicts(low, high, supported, verdict):
    assert verdict_of(Figure(1.5, low, high, 0.1, supported, ""), 2.0) == verdict


def test_every_level_is_judged_by_the_figure_of_the_audit():
    limits = {"max_bfar": 3.0, "max_fnmr_ratio": 2.0, "max_fnmr": 0.3}
    found = small_audit(far=[0.05, 0.1], limits=limits)
    assert [(c.name, c.far) for c in found.checks] == [
        (name, far) for name in limits for far in (0.1, 0.05)
    ]
    for level, *checks in zip(
        found.levels, *(found.checks[i : i + 2] for i in (0, 2, 4)), strict=True
    ):
        bfar, ratio, fnmr = checks
        assert bfar.figure.value == pytest.approx(level.disparities[-1].far.value)
        assert bfar.threshold == level.worst_group_threshold
        assert ratio.figure.value == pytest.approx(level.disparities[0].frr.value)
        assert ratio.threshold == fnmr.threshold == level.threshold
        group = fnmr.groups[0]
        row = next(row for row in level.rates if row.group == group)
        assert fnmr.figure.value == row.frr.value


def test_bounds_of_a_ratio_of_two_groups_are_those_of_the_finding():
    found = small_audit(synthetic(120), limits={"max_fmr_ratio": 2.0})
    (check,), finding = found.checks, found.levels[0].findings[0]
    groups, found = (finding.group, finding.reference), finding.ratio
    low, high = found.low, found.high
    if found.value < 1:
        groups, low, high = groups[::-1], 1 / found.high, 1 / found.low
    assert check.groups == groups
    assert (check.figure.low, check.figure.high) == pytest.approx((max(1.0, low), high))


@pytest.mark.parametrize(("crowding", "limit"), [(9.0, 1.01), (12.0, 50.0)])
def test_a_largest_ratio_is_that_of_the_largest_and_the_smallest_rate(crowding, limit):
    """Of three groups its bounds come from the mean of two groups, and from two others."""
    shares = {"a": 0.4, "b": 0.3, "c": 0.3}
    data = synthetic(120, groups=shares, crowding={"a": crowding, "b": 0.0, "c": 0.0})
    found = small_audit(data, limits={"max_fmr_ratio": limit})
    (check,), (level,) = found.checks, found.levels
    rates = {row.group: row.far.value for row in level.rates[1:]}
    ranked = sorted(rates, key=rates.get)
    assert check.groups == (ranked[-1], ranked[0])
    assert check.figure.value == pytest.approx(rates[ranked[-1]] / rates[ranked[0]])
    shown = next(d.far for d in level.disparities if d.how == "max_min")
    found = check.figure.value, check.figure.low
    assert found == pytest.approx((shown.value, shown.low))


def test_a_limit_on_rates_is_judged_by_the_intervals_shown():
    """All upper ends within it pass; a lower bound of all groups above it fails."""
    shares = {"a": 0.3, "b": 0.3, "c": 0.4}
    data = synthetic(120, groups=shares, crowding={"a": 0.0, "b": 12.0, "c": 0.0})
    rates = [row.far for row in small_audit(data).levels[0].rates[1:]]
    highest, lowest = max(f.high for f in rates), max(f.low for f in rates)

    def judged(limit):
        (check,) = small_audit(data, limits={"max_fmr": limit}).checks
        return check.verdict, check.groups, check.figure

    verdict, groups, figure = judged(highest)
    assert (verdict, groups, figure.high) == ("passed", ("b",), highest)
    assert judged(np.nextafter(highest, 0))[0] == "undetermined"
    # A lower bound that holds for three groups at once is below the end of an interval.
    assert judged(lowest)[0] == "undetermined"
    assert figure.low < lowest
    assert judged(np.nextafter(figure.low, 0))[:2] == ("failed", ("b",))


def test_an_undetermined_check_names_the_group_whose_lower_end_it_gives():
    """Of two groups above a limit one has the larger upper end, the other the lower one."""
    shares = {"a": 0.05, "b": 0.95}
    data = synthetic(200, groups=shares, crowding={"a": 3.0, "b": 0.0})
    found = small_audit(data, limits={"max_fmr": 1e-4})
    rows = {row.group: row.far for row in found.levels[0].rates[1:]}
    limit = min(row.value for row in rows.values()) * 0.999
    (check,) = small_audit(data, limits={"max_fmr": limit}).checks
    (group,) = check.groups
    assert check.verdict == "undetermined"
    assert rows[group].high == check.figure.high == max(r.high for r in rows.values())
    assert check.figure.value == rows[group].value
    # It holds for both groups at once, and is no other group's.
    assert check.figure.low <= rows[group].low < max(row.low for row in rows.values())


def test_worst_group_thresholds_are_compared_where_a_limit_is_about_them():
    assert operating_points_of({}) == ("overall",)
    assert operating_points_of({"max_fmr": 0.1}) == ("overall",)
    limits = {"max_bfar": 2.0, "max_fmr_ratio": 2.0}
    assert operating_points_of(limits) == ("overall", "worst_group")


def test_groups_without_pairs_are_named():
    limits = {"max_fmr_ratio": 9.0, "max_fmr": 0.9, "max_fnmr": 0.9}
    ratio, fmr, fnmr = small_audit(with_a_lone_person(), limits=limits).checks
    for check in (ratio, fmr):
        assert check.not_covered == ("alone",)
        assert "alone" not in check.groups
    # A ratio is about the groups that have one; a limit on each group, about each.
    assert (ratio.verdict, fmr.verdict, fnmr.verdict) == (
        "passed",
        "undetermined",
        "undetermined",
    )
    # One person's genuine pairs tell little of her group.
    assert (fnmr.not_covered, fnmr.groups[1:], fnmr.decided_by) == (
        (),
        ("alone",),
        ("alone",),
    )
    assert "not every group has the pairs" in fmr.reason


def test_one_group_with_pairs_keeps_a_limit_but_has_no_ratio():
    X, y, groups = synthetic()
    alone = np.where(groups == "male", y, np.arange(len(y)) + y.size)
    limits = {"max_fnmr": 0.9, "max_fnmr_ratio": 2.0}
    rate, ratio = small_audit((X, alone, groups), limits=limits).checks
    assert (rate.verdict, rate.groups, rate.not_covered) == (
        "undetermined",
        ("male",),
        ("female",),
    )
    assert (ratio.verdict, ratio.groups) == ("undetermined", ())


def test_exit_code_is_that_of_the_worst_verdict():
    def code(*limits):
        figure = Figure(1.5, 1.2, 1.8, 0.1, True, "")
        made = ("max_bfar", 2.0, "gender", 0.05, 0.4, figure, ("f", "m"), ())
        checks = [Check(*made, verdict_of(figure, limit)) for limit in limits]
        audit = replace(found, checks=tuple(checks))
        return Report((found, audit)).exit_code

    found = usual_audit()
    assert (code(), code(2.0), code(2.0, 1.5), code(1.1, 1.5, 2.0)) == (0, 0, 3, 1)


# ---- every row is about its own groups ---------------------------------------------------


def counted(X, y, groups, threshold):
    """FMR and FNMR of each group, from all products."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    scores = unit @ unit.T
    found = {}
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        one, other = np.triu_indices(rows.size, 1)
        score, same = scores[rows[one], rows[other]], y[rows[one]] == y[rows[other]]
        with np.errstate(invalid="ignore"):
            found[group] = (
                np.count_nonzero(score[~same] >= threshold) / max((~same).sum(), 1),
                np.count_nonzero(score[same] < threshold) / max(same.sum(), 1),
            )
    return found


@pytest.fixture(params=["few errors", "equal", "worse", "two groups", "london"])
def people_of(request):
    if request.param == "london":
        shared = request.getfixturevalue("shared_data")
        data = np.load(shared / "london_pca" / "london_pca.npz")
        return data["embedding"].astype(float), data["identity"], data["ethnicity"]
    shares = {"a": 0.5, "b": 0.3, "c": 0.2}
    crowding = {"a": 0.0, "b": 0.0, "c": 15.0 if request.param == "worse" else 0.0}
    X, y, groups = synthetic(80, groups=shares, crowding=crowding)
    if request.param == "two groups":
        groups = np.where(groups == "c", "a", groups)
    if request.param == "few errors":  # two of three people of a group lie together
        groups = np.where(np.isin(y, np.unique(y)[:3]), "few", groups)
        rows = np.flatnonzero(groups == "few")
        X = X.copy()
        X[rows] = X[rows[0]] + 0.4 * X[rows]
    return X, y, groups


LIMITS_OF_ALL = {
    "max_fmr": 0.02,
    "max_fnmr": 0.3,
    "max_fmr_ratio": 2.0,
    "max_fnmr_ratio": 1.5,
    "max_fmr_geomean_ratio": 1.5,
    "max_fnmr_geomean_ratio": 1.5,
}


@pytest.mark.parametrize("scale", [0.2, 1.0])
def test_every_row_of_checks_is_recomputed_from_its_groups(people_of, scale):
    X, y, groups = people_of
    known = groups != ""
    limits = {
        name: min(limit * scale, 0.99)
        if name in ("max_fmr", "max_fnmr")
        else 1 + limit * scale
        for name, limit in LIMITS_OF_ALL.items()
    }
    report = small_audit((X[known], y[known], groups[known]), limits=limits)
    for check in report.checks:
        rates = counted(X[known], y[known], groups[known], check.threshold)
        kind = "fnmr" in check.name
        own = {g: r[kind] for g, r in rates.items() if g not in check.not_covered}
        if not check.groups:
            continue
        largest, smallest = max(own.values()), min(own.values())
        of_rate = check.name in ("max_fmr", "max_fnmr")
        # The group that is shown to exceed a limit may have a lower rate than another.
        if not (of_rate and check.verdict == "failed"):
            assert own[check.groups[0]] == pytest.approx(largest)
        if of_rate:
            value = own[check.groups[0]]
        elif "geomean" in check.name:
            with np.errstate(divide="ignore"):
                value = largest / np.exp(np.log([*own.values()]).mean())
        else:
            assert own[check.groups[1]] == pytest.approx(smallest)
            assert check.decided_by == (check.groups if len(own) == 2 else ())
            value = largest / smallest if smallest else np.inf
        assert check.figure.value == pytest.approx(value, nan_ok=True)
        assert {*check.decided_by} <= {*own}
        assert (
            check.figure.low <= check.figure.value * (1 + 1e-9)
            or check.verdict == "failed"
        )
        if "ratio" not in check.name and check.verdict == "undetermined":
            named = {g for g, _ in check.people_needed}
            assert named <= {*check.groups}


def test_group_shown_to_exceed_is_named_before_a_higher_rate_of_few_errors():
    """Two rejections of eleven attempts are a higher rate than a tenth, and show less."""
    n_people = {"few": 11, "many": 600, "usual": 600}
    n_errors = {"few": 2, "many": 60, "usual": 12}
    group = np.repeat([*n_people], [*n_people.values()])
    error = np.concatenate([np.arange(n) < n_errors[g] for g, n in n_people.items()])
    person, limits = np.arange(group.size), {"max_fnmr": 0.05}
    report = audit_decisions(error, person, group, limits=limits)
    (check,) = report.checks
    rows = {row.group: row.frr for row in report.audits[0].levels[0].rates[1:]}
    assert (check.verdict, check.groups, check.decided_by) == (
        "failed",
        ("many",),
        ("many",),
    )
    assert check.figure.value == rows["many"].value == pytest.approx(0.1)
    assert check.figure.high == rows["many"].high
    text = " ".join(report.to_text().replace("\N{NO-BREAK SPACE}", " ").split())
    assert "The FRR of many is 10.0 % (95 % CI" in text
    assert "The highest rate, 18.2 %, is that of few (too few errors)." in text
    assert "also exceed it" not in text


@pytest.mark.parametrize(
    ("limit", "verdict", "group"), [(1.5, "failed", "many"), (50, "passed", "few")]
)
def test_geometric_mean_ratio_is_decided_by_the_group_of_its_bound(
    limit, verdict, group
):
    """The lower bound above the limit is of many, the highest upper one of few."""
    n_people = {"few": 11, "many": 600, "usual": 600}
    n_errors = {"few": 5, "many": 240, "usual": 12}
    groups = np.repeat([*n_people], [*n_people.values()])
    error = np.concatenate([np.arange(n) < n_errors[g] for g, n in n_people.items()])
    limits = {"max_fnmr_geomean_ratio": limit}
    report = audit_decisions(error, np.arange(groups.size), groups, limits=limits)
    (check,) = report.checks
    assert (check.verdict, check.decided_by) == (verdict, (group,))
