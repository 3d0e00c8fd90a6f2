"""Metrics that a user gives: their values, intervals and limits."""

import json
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr import SimilarityROC
from skfairfr.report import PairData, audit, audit_data, audit_decisions
from tests.report.audits import small_report, synthetic
from tests.report.json_schema import is_valid

FAR = 0.1


def log_ratio(far, frr):
    return np.log(far[1] / far[0])


def cost(far, frr):
    return far.mean() / FAR + frr.mean()


def figure_of(report, name, level=0):
    metrics = report.audits[0].levels[level].metrics
    return next(one.figure for one in metrics if one.name == name)


def test_the_interval_of_a_ratio_is_that_of_the_package():
    """The logarithm of a ratio of two rates has the ends of that ratio."""
    X, y, groups = synthetic(150)
    metrics = {"log ratio": log_ratio}
    report = audit(X, y, groups, far=[FAR, 0.02], metrics=metrics)
    roc = SimilarityROC(method="jackknife", n_resamples=1).fit(X, y, groups)
    for place, level in enumerate(report.audits[0].levels):
        how = ("ratio", *roc.groups_)
        expected = roc.estimate(threshold=level.threshold, rate="far", how=how)
        found = figure_of(report, "log ratio", place)
        ends = np.exp([found.value, found.low, found.high])
        assert_allclose(ends, [expected.value, expected.low, expected.high])


def test_values_are_those_of_the_rates():
    report = small_report(synthetic(100), metrics={"cost": cost})
    rates = report.audits[0].levels[0].rates[1:]
    far, frr = (
        np.array([getattr(row, rate).value for row in rates]) for rate in ("far", "frr")
    )
    assert figure_of(report, "cost").value == pytest.approx(cost(far, frr))


@pytest.mark.parametrize("n_identities", [20, 300])
def test_a_metric_of_rates_with_too_few_errors_is_marked(n_identities):
    report = small_report(synthetic(n_identities), metrics={"cost": cost})
    rates = report.audits[0].levels[0].rates[1:]
    enough = all(row.far.supported and row.frr.supported for row in rates)
    assert figure_of(report, "cost").supported == enough == (n_identities == 300)


def test_people_who_cause_both_errors_widen_the_interval():
    """The spread of a sum of both logarithms is that of leaving out every person in turn."""
    rng, n_people = np.random.default_rng(1), 120
    group = np.arange(n_people) % 2
    factor = rng.gamma(0.5, 2, n_people)  # of both errors of a person
    genuine = np.repeat(np.arange(n_people), 12)
    left = rng.integers(n_people, size=12_000)
    right = (left + 2 * rng.integers(1, n_people // 2, size=left.size)) % n_people
    rejected = rng.random(genuine.size) < 0.15 * factor[genuine]
    accepted = rng.random(left.size) < 0.05 * (factor[left] + factor[right])
    score = np.append(~rejected, accepted).astype(float)
    one, other = np.append(genuine, left), np.append(genuine, right)
    data = PairData(score, (one, other), {"g": (group[one], group[other])})

    def both(far, frr):
        return np.log(far[0]) + np.log(frr[0])

    found = figure_of(audit_data(data, threshold=0.5, metrics={"both": both}), "both")

    def value(person=-1):
        kept = (one != person) & (other != person) & (group[one] == 0)
        same, high = one[kept] == other[kept], score[kept] > 0.5
        return np.log(high[~same].mean()) + np.log(1 - high[same].mean())

    left_out = np.array([value(person) for person in np.flatnonzero(group == 0)])
    spread = np.sqrt((left_out.size - 1) * left_out.var())
    assert found.value == pytest.approx(value())
    # Without the correlation of both rates the interval is narrower by a quarter.
    assert (found.high - found.low) / 2 / 1.96 == pytest.approx(spread, rel=0.1)


@cache
def value_of_cost():
    report = small_report(synthetic(100), metrics={"cost": cost})
    return figure_of(report, "cost").value


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.1, "failed"), (1.0, "undetermined"), (9.0, "passed")]
)
def test_a_limit_of_a_metric_is_judged_by_its_interval(share, verdict):
    limit = share * value_of_cost()
    report = small_report(
        synthetic(100), metrics={"cost": cost}, limits={"max_cost": limit}
    )
    (check,) = report.checks
    found = figure_of(report, "cost")
    assert (check.name, check.figure, check.verdict) == ("max_cost", found, verdict)
    expected = {"failed": found.low > limit, "passed": found.high <= limit}
    assert expected.get(verdict, found.low <= limit < found.high)
    form = json.loads(report.to_json())
    assert is_valid(form, report.schema()) and form["checks"][0]["name"] == "max_cost"
    for text in (report.to_text(), report.to_html(), report.to_card()):
        assert "cost, by gender" in text
    headline = report.to_text().partition("Result")[2][:300]
    # A limit that is exceeded, or seems to be, is the first sentence.
    assert ("cost by gender is" in " ".join(headline.split())) == (share < 1)
    assert 'name="max_cost' in report.to_junit()


def test_a_metric_is_in_the_table_of_disparities():
    report = small_report(metrics={"cost <b>": cost})
    assert "cost <b>" in report.to_text()
    assert "cost &lt;b&gt;" in report.to_html()
    assert small_report().audits[0].levels[0].metrics == ()


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ([cost], "must be functions by name"),
        ({"cost": 3}, "must be functions by name"),
        ({"cost": lambda far, frr: far}, "must be functions to a number"),
        ({"fmr": cost}, "has the name of a limit of the package, 'max_fmr'"),
    ],
)
def test_unusable_metrics_are_refused(metrics, message):
    with pytest.raises(ValueError, match=message):
        small_report(metrics=metrics)


def test_limits_of_unknown_metrics_and_metrics_of_decisions_are_refused():
    with pytest.raises(ValueError, match="max_kost"):
        small_report(metrics={"cost": cost}, limits={"max_kost": 1.0})
    with pytest.raises(ValueError, match="max_cost must be a finite number"):
        small_report(metrics={"cost": cost}, limits={"max_cost": "low"})
    error, people = np.zeros(40), np.arange(40)
    with pytest.raises(ValueError, match="decisions have one"):
        audit_decisions(error, people, people % 2, metrics={"cost": cost})


@pytest.mark.slow
def test_intervals_cover_the_metric_of_the_population():
    """Of 200 data sets, whose people have both errors more or less often."""
    rng, n_people, covered = np.random.default_rng(0), 120, 0
    rates = {"far": np.array([0.05, 0.1]), "frr": np.array([0.2, 0.1])}
    truth = cost(rates["far"], rates["frr"])
    for _ in range(200):
        group = np.arange(n_people) % 2
        # One factor of a person makes both errors more frequent; its mean is 1.
        factor = rng.gamma(4, 1 / 4, n_people)
        genuine = np.repeat(np.arange(n_people), 6)
        left = rng.integers(n_people, size=6000)
        right = (left + 2 * rng.integers(1, n_people // 2, size=6000)) % n_people
        chance = np.minimum(rates["frr"][group] * factor, 1)[genuine]
        wrong = np.minimum(rates["far"][group[left]] * factor[left] * factor[right], 1)
        score = np.append(
            rng.random(genuine.size) >= chance, rng.random(left.size) < wrong
        )
        one, other = np.append(genuine, left), np.append(genuine, right)
        data = PairData(
            score.astype(float), (one, other), {"g": (group[one], group[other])}
        )
        report = audit_data(data, threshold=0.5, metrics={"cost": cost})
        found = figure_of(report, "cost")
        covered += found.low <= truth <= found.high
    # 0.95 is nominal; 0.9 of 200 is three standard errors below it.
    assert covered >= 0.9 * 200
