"""Intervals and p-values of all uses against one slow twin that leaves out people in loops.

The twin (``tests/oracles/jackknife``) was written from the description of the method. The
comparisons given to it are made here by loops over the raw data, so nothing between the data
and a reported number is shared with the package.
"""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import gamma, norm, t

from skfairfr import SimilarityROC
from skfairfr.metrics import IdentificationROC
from skfairfr.report import audit_decisions, audit_pairs
from tests.oracles import jackknife as twin

TAIL = 0.025
QUALITIES = "good", "poor"
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def listed(seed, n_people=32):
    """Scores 0 and 1 of pairs of images: (score, person, person, group, quality of the pair)."""
    rng = np.random.default_rng(seed)
    n_images = rng.integers(2, 5, n_people)
    person = np.repeat(np.arange(n_people), n_images)
    poor = rng.random(person.size) < np.where(person % 2, 0.6, 0.3)
    chance = 0.12 * np.exp(0.5 * rng.standard_normal(n_people))
    pairs = []
    for i, j in combinations(range(person.size), 2):
        one, other = person[i], person[j]
        if one % 2 != other % 2:
            continue
        quality = "poor" if poor[i] or poor[j] else "good"
        factor = 2 if quality == "poor" else 1
        wrong = rng.random() < factor * np.sqrt(chance[one] * chance[other])
        pairs.append(
            (float((one == other) != wrong), one, other, "fm"[one % 2], quality)
        )
    return pairs


def comparisons(pairs, rate, group, weight=lambda quality: 1.0):
    """Comparisons of one rate and group, as the twin requires them."""
    return [
        (one, other, weight(quality), (score < 0.5) == (one == other))
        for score, one, other, of, quality in pairs
        if of == group and (one == other) == (rate == "frr")
    ]


def check(found, errors, reference):
    """The value, interval and p-value of a ratio."""
    both = [moments_of(errors), moments_of(reference)]
    assert_allclose(found.value, np.exp(twin.log_ratio(both, [1, -1])), **CLOSE)
    assert_allclose((found.low, found.high), twin.ratio(both, [1, -1], TAIL), **CLOSE)
    assert_allclose(found.p_value, twin.ratio_p(both, [1, -1]), rtol=1e-9)


def moments_of(errors):
    """The twin's moments of comparisons, or of (comparisons, the stratum of each)."""
    return twin.moments(*errors) if isinstance(errors, tuple) else twin.moments(errors)


def check_rate(found, errors):
    """The value and interval of a rate."""
    moments = moments_of(errors)
    assert_allclose(found.value, moments["errors"] / moments["pairs"], **CLOSE)
    assert_allclose((found.low, found.high), twin.interval(moments, TAIL), **CLOSE)


def check_levels(level, errors_of):
    """The rates and the findings of one level of an audit."""
    checked = 0
    for row in level.rates:
        for rate in ("far", "frr"):
            if row.group in ("f", "m") and getattr(row, rate) is not None:
                check_rate(getattr(row, rate), errors_of(rate, row.group))
                checked += 1
    for finding in level.findings:
        check(
            finding.ratio,
            errors_of(finding.rate, finding.group),
            errors_of(finding.rate, finding.reference),
        )
        checked += 1
    return checked


@pytest.fixture(scope="module", params=[0, 1])
def pairs(request):
    return listed(request.param)


@pytest.fixture(scope="module")
def audited(pairs):
    score, one, other, group, quality = zip(*pairs, strict=True)
    return audit_pairs(
        np.array(score), (one, other), group, covariates={"quality": np.array(quality)},
        control="quality", threshold=0.5,
    ).audits[0]  # fmt: skip


def test_rates_and_ratios_of_an_audit(pairs, audited):
    checked = check_levels(
        audited.levels[0], lambda rate, group: comparisons(pairs, rate, group)
    )
    assert checked == 6


def test_rates_and_ratios_at_equal_covariates(pairs, audited):
    """The weight of a stratum's pairs gives the stratum the same share in all groups.

    Without a person the rate of each stratum is another one.
    """

    def errors_of(rate, group):
        kinds = {g: comparisons(pairs, rate, g, lambda quality: quality) for g in "fm"}
        n = {(g, q): sum(p[2] == q for p in kinds[g]) for g in "fm" for q in QUALITIES}
        in_all = sum(n.values())
        weight = {
            q: (n["f", q] + n["m", q]) / in_all * len(kinds[group]) / n[group, q]
            for q in QUALITIES
        }
        inside = comparisons(pairs, rate, group, weight.__getitem__)
        return inside, [quality for _, _, quality, _ in kinds[group]]

    assert check_levels(audited.standardised.levels[0], errors_of) == 6


@pytest.mark.parametrize("seed", [0, 1])
def test_rates_and_ratios_of_a_log(seed):
    rng = np.random.default_rng(seed)
    person = rng.integers(0, 50, 400)
    error = rng.random(400) < rng.beta(1, 8, 50)[person]
    group = np.array(["f", "m"])[person % 2]
    level = audit_decisions(error, person, group).audits[0].levels[0]

    def errors_of(rate, label):
        return [
            (k, k, 1.0, bool(wrong))
            for k, wrong, of in zip(person, error, group, strict=True)
            if of == label
        ]

    for row in level.rates[1:]:
        check_rate(row.frr, errors_of("frr", row.group))
    (finding,) = level.findings
    check(
        finding.ratio,
        errors_of("frr", finding.group),
        errors_of("frr", finding.reference),
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_rates_and_ratios_of_searches(seed):
    """The gallery is fixed; the searches of a person are left out together."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=(90, 8))
    person = np.repeat(np.arange(90), 3)
    probes = centre[person] + 0.7 * rng.normal(size=(270, 8))
    group = np.where(person % 2, "m", "f")
    gallery = centre[:30] + 0.7 * rng.normal(size=(30, 8))
    search = IdentificationROC(n_resamples=1, random_state=0)
    search.fit(probes, person, group, X_gallery=gallery, y_gallery=np.arange(30))
    threshold = 0.78
    errors = {"fpir": [], "fnir": []}
    for i, probe in enumerate(probes):
        scores = [
            probe @ row / np.sqrt((probe @ probe) * (row @ row)) for row in gallery
        ]
        alarms = [s for k, s in enumerate(scores) if k != person[i] and s >= threshold]
        if person[i] >= 30:
            errors["fpir"].append((person[i], group[i], bool(alarms)))
        else:
            mate = scores[person[i]]
            wrong = mate < threshold or any(s >= mate for s in alarms)
            errors["fnir"].append((person[i], group[i], bool(wrong)))
    for rate, all_of in errors.items():
        of = {
            g: [(k, k, 1.0, wrong) for k, label, wrong in all_of if label == g]
            for g in "fm"
        }
        for g in "fm":
            found = search.estimate(threshold=threshold, rate=rate, group=g)
            check_rate(found, of[g])
        found = search.estimate(threshold=threshold, rate=rate, how=("ratio", "f", "m"))
        both = [twin.moments(of[g]) for g in "mf"]
        assert_allclose(
            (found.low, found.high), twin.ratio(both, [1, -1], TAIL), **CLOSE
        )


def sum_ends(value, variance, skewness, freedom):
    """Ends of a sum over people: distances of a Poisson number of that skewness."""
    stretch = t.ppf(TAIL, freedom) / norm.ppf(TAIL)
    skew = min(abs(skewness), 1.0)
    m = 1 / max(skew, 1e-3) ** 2
    below = (m - gamma.ppf(TAIL, m)) / np.sqrt(m)
    above = (gamma.isf(TAIL, m + 1) - m) / np.sqrt(m)
    if skewness < 0:
        below, above = above, below
    se = np.sqrt(variance)
    return value - se * below * stretch, value + se * above * stretch


@pytest.mark.parametrize("rate", ["far", "frr"])
def test_two_systems_on_the_same_pairs(rate):
    """Each person is left out of both systems. What two people add to the difference is
    subtracted once, and one error more in either system is added.
    """
    first, rng = listed(2), np.random.default_rng(2)
    second = [(a[0] if rng.random() < 0.7 else 1 - a[0], *a[1:]) for a in first]
    fitted = []
    for pairs in (first, second):
        score, one, other, *_ = zip(*pairs, strict=True)
        roc = SimilarityROC(method="jackknife", n_resamples=2, random_state=0)
        fitted.append(roc.fit_pairs(score, one, other))
    found = fitted[0].compare(fitted[1], threshold=0.5, rate=rate)
    of = [
        [c for g in "fm" for c in comparisons(pairs, rate, g)]
        for pairs in (first, second)
    ]
    total = len(of[0])
    differences = [
        (one, other, float(a) - float(b))
        for (one, other, _, a), (_, _, _, b) in zip(*of, strict=True)
    ]
    value = sum(d for *_, d in differences) / total
    people = sorted({k for one, other, _ in differences for k in (one, other)})
    without, pairs_of = [], []
    for k in people:
        kept = [d for one, other, d in differences if k not in (one, other)]
        without.append(sum(kept) / len(kept))
        pairs_of.append(total - len(kept))
    n = len(people)
    u = [(np.mean(without) - w) * np.sqrt((n - 1) / n) for w in without]
    clusters = {}
    for one, other, d in differences:
        key = frozenset((one, other))
        clusters[key] = clusters.get(key, 0.0) + d - value
    shared = list(clusters.values()) if rate == "far" else []
    two, three, four = (
        sum(x**power for x in u) - sum((x / total) ** power for x in shared)
        for power in (2, 3, 4)
    )
    ends = 2 if rate == "far" else 1
    effective = ends**2 * total**2 / sum(m**2 for m in pairs_of)
    variance = two + 2 / total**2
    freedom = 2 / (four / variance**2 - 1 / total**2 / variance - 1 / effective)
    freedom = np.clip(freedom, 1, effective - 1)
    expected = sum_ends(value, variance, three / variance**1.5, freedom)
    assert_allclose(found.difference, value, **CLOSE)
    assert_allclose((found.low, found.high), expected, **CLOSE)
    assert (found.p_value < 0.05) == (expected[0] > 0 or expected[1] < 0)
