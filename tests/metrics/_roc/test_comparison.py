"""Paired comparisons: the same resamples for both, and only for the same images."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr.metrics._roc._paired import p_values
from tests.metrics import designs
from tests.metrics.designs import GROUP, IDENTITY, X, roc_of

OTHER = designs.exact_rows(30, np.random.default_rng(99))
OPTIONS = {"resample": "identities", "n_resamples": 80}


def pair_of_rocs(**options):
    options = OPTIONS | options
    first = roc_of(X, IDENTITY, GROUP, **options)
    # Another seed of its own: a comparison must not use it.
    second = roc_of(OTHER, IDENTITY, GROUP, **{**options, "random_state": 7})
    return first, second


@pytest.mark.parametrize(
    ("resample", "question"),
    [
        ("images", {"rate": "frr"}),
        ("both", {"rate": "far", "group": "a"}),
        ("identities", {"rate": "far", "how": "difference"}),
    ],
)
def test_replicates_are_those_of_the_same_resamples(resample, question):
    first, second = pair_of_rocs(resample=resample, method="naive")
    options = OPTIONS | {"resample": resample, "method": "naive"}
    same_seed = roc_of(OTHER, IDENTITY, GROUP, **options)
    found = first.compare(second, 0.2, **question)
    a, b = (roc.resamples(0.2, **question) for roc in (first, same_seed))
    assert_allclose(
        [found.low, found.high], np.quantile(a - b, [0.025, 0.975]), atol=1e-12
    )
    values = [roc.estimate(0.2, **question).value for roc in (first, second)]
    assert found.difference == values[0] - values[1]
    assert found.ratio == pytest.approx(values[0] / values[1])


def test_a_system_does_not_differ_from_itself():
    first, _ = pair_of_rocs()
    found = first.compare(first, [0.1, 0.2], how="max_min", rate="far")
    assert_allclose(found.difference, 0)
    assert_allclose(found.ratio, 1)
    assert_allclose(found.p_value, 1)


def test_what_either_answer_lacks_is_said():
    first, second = (roc_of(of, IDENTITY, GROUP, **OPTIONS) for of in (X, OTHER))
    levels = [0.02, 0.2, 0.5]
    found = first.compare(second, levels, rate="far", group="a")
    one, two = (
        roc.by(method="jackknife").estimate(levels, rate="far", group="a")
        for roc in (first, second)
    )
    assert found.supported.tolist() == (one.supported & two.supported).tolist()
    for reason, a, b in zip(found.reason, one.reason, two.reason, strict=True):
        assert reason == "; ".join(
            ["first: " + a] * bool(a) + ["second: " + b] * bool(b)
        )
    assert found.reason[0].startswith("first: ")
    single = first.compare(second, 0.2, rate="far", group="a")
    assert (single.supported, single.reason) == (found.supported[1], found.reason[1])


def test_p_values_count_both_sides_and_undefined_ones_on_each():
    nan = np.nan
    assert p_values(np.array([[1.0, 1, 1, 1]])) == pytest.approx(2 / 5)
    assert p_values(np.array([[1.0, -1, 1, 1]])) == pytest.approx(4 / 5)
    assert p_values(np.array([[nan, 1, 1, 1]])) == pytest.approx(4 / 5)
    assert p_values(np.zeros((1, 4))) == 1


def test_two_sides_are_not_compared_with_one():
    first, _ = pair_of_rocs()
    other = designs.unfitted().fit(OTHER, IDENTITY, GROUP, domain=np.arange(30) % 2)
    with pytest.raises(ValueError, match="sides"):
        first.compare(other, 0.2)
