"""An upper end depends on its threshold, or level, alone, and never falls where a rate cannot."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skfairfr import SimilarityROC
from skfairfr.report import EmbeddingData, PairData, audit_data
from tests.metrics._roc.test_evidence import draw

LEVELS = np.geomspace(2e-4, 0.3, 5)
THRESHOLDS = np.linspace(-0.3, 0.95, 5)
# Up to a FAR of .02 all pairs are held; beyond it thresholds are set on the same ones.
OPTIONS = {"method": "jackknife", "n_resamples": 1, "random_state": 0, "far_max": 0.02}
few = settings(max_examples=2, deadline=None)


def fitted(seed, kind):
    """People of two groups, by embeddings, or by a list of some pairs with ties."""
    people = tuple(np.random.default_rng(seed).integers(8, 25, 2))
    X, y, group = draw(people, seed)
    roc = SimilarityROC(**OPTIONS)
    if kind == "embeddings":
        return roc.fit(X, y, group[y])
    data = pairs_of(X, y, group, seed)
    return roc.fit_pairs(
        data.y_score,
        identity_1=data.identities[0],
        identity_2=data.identities[1],
        sensitive_features_1=data.columns["group"][0],
        sensitive_features_2=data.columns["group"][1],
    )


def pairs_of(X, y, group, seed):
    """Half of all pairs, with scores of one decimal."""
    left, right = np.triu_indices(y.size, 1)
    kept = np.random.default_rng(seed).random(left.size) < 0.5
    left, right = left[kept], right[kept]
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    score = np.round((unit[left] * unit[right]).sum(axis=1), 1)
    people = y[left], y[right]
    return PairData(score, people, {"group": tuple(group[p] for p in people)})


def asked(roc, rate, **question):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return roc.estimate(rate=rate, **question)


def check(roc, rate, name, values, rising, **question):
    """Ends asked for together are those asked for one by one, and go with the rate."""
    together = asked(roc, rate, **{name: values}, **question)
    alone = [asked(roc, rate, **{name: v}, **question).high for v in values.tolist()]
    assert_allclose(alone, together.high, rtol=1e-12)
    way = slice(None) if rising else slice(None, None, -1)
    assert (np.diff(together.high[way]) >= -1e-15).all()
    assert (np.diff(together.value[way]) >= -1e-15).all()
    assert (together.high >= together.value).all()
    assert (together.low <= together.high).all()


@given(st.integers(0, 10_000))
@pytest.mark.parametrize("kind", ["embeddings", "pairs"])
@few
def test_at_thresholds(kind, seed):
    roc = fitted(seed, kind)
    for rate, group in product(("far", "frr"), (None, 0, 1)):
        check(roc, rate, "threshold", THRESHOLDS, rate == "frr", group=group)


@example(1806, "worst_group")  # the worst group changes from level to level
@given(st.integers(0, 10_000), st.sampled_from(["overall", "worst_group", "group"]))
@pytest.mark.parametrize(
    "kind", ["embeddings", pytest.param("pairs", marks=pytest.mark.slow)]
)
@few
def test_at_levels_that_set_thresholds(kind, seed, operating_point):
    roc = fitted(seed, kind)
    for rate, group in product(("far", "frr"), (None, 0, 1)):
        if operating_point == "group" and group is None:
            continue
        options = {"group": group, "operating_point": operating_point}
        check(roc, rate, "far", LEVELS, rate == "far", **options)


@given(st.integers(0, 10_000))
@pytest.mark.parametrize("kind", ["embeddings", "pairs"])
@settings(max_examples=1, deadline=None)
def test_an_audit_of_a_printed_threshold_is_that_of_the_levels(kind, seed):
    """Its rates, tables and checks, whatever other levels are asked about."""
    X, y, group = draw((15, 20), seed)
    data = EmbeddingData(X, y, {"group": group[y]})
    if kind == "pairs":
        data = pairs_of(X, y, group, seed)
    options = {"limits": {"max_fmr": 0.05, "max_fnmr": 0.3}}

    def audited(**points):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = audit_data(data, **points, **options)
        return report.audits[0].levels, report.checks

    levels, checks = audited(far=[0.1, 0.001])
    for level in levels:
        (alone,), checks_alone = audited(threshold=level.threshold)
        for here, there in zip(level.rates, alone.rates, strict=True):
            for rate in ("far", "frr"):
                ends = [
                    (f.value, f.low, f.high) for f in map(rate_of(rate), (here, there))
                ]
                assert_allclose(*ends, rtol=1e-12)
        of_level = [c for c in checks if c.far == level.far]
        for here, there in zip(of_level, checks_alone, strict=True):
            assert here.verdict == there.verdict
            assert_allclose(here.figure.high, there.figure.high, rtol=1e-12)


def rate_of(rate):
    return lambda row: getattr(row, rate)
