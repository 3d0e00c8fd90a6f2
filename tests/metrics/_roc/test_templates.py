"""Templates of several references: rates are those of a double loop over all samples."""

import numpy as np
import pytest

from skfairfr.comparators import CohortNormalizer
from skfairfr.metrics import IdentificationROC
from tests.metrics.designs import hold_tails, unfitted
from tests.oracles.searches import scores_of
from tests.refusals import refusal

PEOPLE, PROBES = 20, 60


def make(seed=0, spread=1.0):
    """Probes, and one to four references of each of some people; two people are in one side."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(PEOPLE, 8))
    y = rng.integers(0, PEOPLE - 1, PROBES)
    y_reference = np.repeat(np.arange(1, PEOPLE), rng.integers(1, 5, PEOPLE - 1))
    y_reference = rng.permutation(y_reference)
    sides = [
        centers[who] + spread * rng.normal(size=(who.size, 8))
        for who in (y, y_reference)
    ]
    return sides[0], y, sides[1], y_reference


def fit(data, template, **options):
    X, y, X_reference, y_reference = data
    return unfitted(template=template, **options).fit(
        *(X, y, y % 2),
        X_reference=X_reference,
        y_reference=y_reference,
        sensitive_features_reference=y_reference % 2,
    )


def rates(data, template, threshold, group=None):
    """FAR and FRR of every probe with every template, pair by pair."""
    X, y, X_reference, y_reference = data
    people, scores = scores_of(X, y_reference, X_reference, template)
    errors, counts = [0, 0], [0, 0]
    for i, who in enumerate(y):
        for k, person in enumerate(people):
            if group is None or who % 2 == person % 2 == group:
                same = int(who == person)
                counts[same] += 1
                errors[same] += (scores[i, k] >= threshold) != same
    return np.divide(errors, counts), counts


@pytest.mark.parametrize("tails", [False, True])
@pytest.mark.parametrize("template", ["mean", "max"])
def test_rates_are_those_of_a_double_loop(template, tails, monkeypatch):
    if tails:
        hold_tails(monkeypatch)
    data = make()
    roc = fit(data, template, far_max=0.2)
    for threshold in (roc.threshold_at(0.02) + 1e-5, roc.threshold_at(0.15) + 1e-5):
        for group in (None, 0, 1):
            found = [
                roc.estimate(threshold=threshold, group=group, rate=rate).value
                for rate in ("far", "frr")
            ]
            wanted, counts = rates(data, template, threshold, group)
            assert found == pytest.approx(wanted)
            place = 0 if group is None else 1 + group
            both = roc.n_impostor_[place], roc.n_genuine_[place]
            assert list(both) == counts


@pytest.mark.parametrize("template", ["mean", "max"])
def test_samples_drawn_above_far_max_have_the_scores_of_templates(
    template, monkeypatch
):
    hold_tails(monkeypatch)
    data = make()
    roc = fit(data, template, far_max=0.02)
    threshold = float(
        np.quantile(scores_of(data[0], data[3], data[2], template)[1], 0.5)
    )
    found = roc.estimate(threshold=threshold, rate="far")
    assert found.source == "sample"
    wanted, _ = rates(data, template, threshold)
    assert found.value == pytest.approx(wanted[0], abs=0.02)


@pytest.mark.parametrize("template", ["mean", "max"])
def test_one_sample_of_each_is_what_it_is_without_templates(template):
    X, y, X_reference, y_reference = make()
    _, one = np.unique(y_reference, return_index=True)
    data = X, y, X_reference[one], y_reference[one]
    pooled, plain = (fit(data, kind) for kind in (template, None))
    assert pooled.estimate(0.05) == plain.estimate(0.05)


def test_the_moments_of_scores_are_those_of_templates(monkeypatch):
    data = make()
    hold_tails(monkeypatch)
    summary = fit(data, "max").score_summary()
    people, scores = scores_of(data[0], data[3], data[2], "max")
    same = data[1][:, None] == people
    assert summary.impostor_mean[0] == pytest.approx(scores[~same].mean(), abs=1e-6)
    assert summary.genuine_sd[0] == pytest.approx(scores[same].std(), abs=1e-6)


def test_comparators_score_the_samples():
    data = make()
    rng = np.random.default_rng(5)
    cohort = CohortNormalizer(top=10).fit(rng.normal(size=(60, 8)), np.arange(60) // 2)
    roc = fit(data, "max", similarity=cohort)
    matrix = cohort.score_matrix(data[0], data[2])
    scores = np.array(
        [
            [max(row[data[3] == person]) for person in np.unique(data[3])]
            for row in matrix
        ]
    )
    same = data[1][:, None] == np.unique(data[3])
    found = roc.estimate(threshold=1.0, rate="far").value
    assert found == pytest.approx((scores[~same] >= 1.0).mean())


def test_a_template_of_samples_of_several_groups_is_in_none():
    X, y, X_reference, y_reference = make()
    mixed = np.where(np.arange(y_reference.size) % 2, "a", "b")
    roc = unfitted(template="mean").fit(
        *(X, y, np.where(y % 2, "a", "b")),
        X_reference=X_reference,
        y_reference=y_reference,
        sensitive_features_reference=mixed,
    )
    one_group = [p for p in set(y_reference) if len({*mixed[y_reference == p]}) == 1]
    n_genuine = sum(
        np.sum((y == p) & (np.where(y % 2, "a", "b") == mixed[y_reference == p][0]))
        for p in one_group
    )
    assert roc.n_genuine_[1:].sum() == n_genuine
    assert roc.n_genuine_[0] == np.isin(y, y_reference).sum()


def test_what_makes_no_template_is_an_error():
    X, y, X_reference, y_reference = make()
    with refusal("template", "makes templates of references, and there are none"):
        unfitted(template="mean").fit(X, y)
    with refusal("template", "give X_reference"):
        unfitted(template="max").fit(X, y, domain=np.arange(PROBES) % 2)
    with pytest.raises(ValueError, match="'template' parameter of SimilarityROC"):
        unfitted(template="image").fit(X, y)
    with refusal("X", "has rows that are in X_reference too (row 3, 1 in all)"):
        X_reference[0] = X[3]
        fit((X, y, X_reference, y_reference), "mean")


@pytest.mark.parametrize("template", ["mean", "max"])
def test_a_sample_of_zeros_is_an_error(template):
    X, y, X_reference, y_reference = make()
    X_reference[4] = 0
    with refusal("X", "has a zero row"):
        fit((X, y, X_reference, y_reference), template)
    with refusal("X", "has a zero row"):
        IdentificationROC(template=template).fit(
            X, y, X_gallery=X_reference, y_gallery=y_reference
        )
