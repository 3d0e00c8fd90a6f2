"""No comparator depends on the order of rows: each image takes its numbers along."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfairfr import SimilarityROC
from skfairfr._core._calibration import Adjustment
from skfairfr._core._pair_tiles import unit_rows
from skfairfr.comparators import Comparator, PLDAComparator, PreparedImages
from tests.comparators.uneven_people import draw_people

X, Y = draw_people(n_people=40, images=(1, 4))
IDENTITY, GROUP = Y["identity"], Y["group"]
FITTED, FITTED_Y = draw_people(n_people=40, seed=1)


class Numbered(Comparator):
    """Cosines adjusted by numbers that follow from the row itself."""

    def __init__(self, kind):
        self.kind = kind

    def fit(self, X, y=None, sensitive_features=None):
        self.n_features_in_ = X.shape[1]
        return self

    def _prepare(self, X, sensitive_features):
        rows = unit_rows(X, "cosine")
        own = np.abs(rows[:, :4].astype(np.float64)).T
        numbers = {"affine": own[:2] + 0.1, "calibrated": own + [[1], [1], [0], [1]]}
        return PreparedImages(rows, getattr(Adjustment, self.kind)(*numbers[self.kind]))


COMPARATORS = {
    "affine": Numbered("affine").fit(X),
    "calibrated": Numbered("calibrated").fit(X),
    "PLDA": PLDAComparator().fit(FITTED, FITTED_Y),
}


def compare(similarity, order=slice(None)):
    roc = SimilarityROC(
        similarity=similarity,
        resample="identities",
        n_resamples=20,
        far_max=0.2,
        random_state=0,
    )
    return roc.fit(X[order], IDENTITY[order], GROUP[order])


def held(roc, order=None):
    """Scores of all pairs that are held, by the rows of X that make them."""
    order = np.arange(len(X)) if order is None else order
    found = {}
    for pairs in (
        roc._engine.pairs.impostors(None),
        roc._engine.pairs.genuine.ascending(None),
    ):
        rows = np.sort(np.stack([order[pairs.left], order[pairs.right]]), axis=0)
        found |= dict(zip(zip(*rows.tolist(), strict=True), pairs.scores, strict=True))
    return found


ASKED = (
    {},
    {"rate": "far", "how": "max_min", "operating_point": "worst_group"},
    {"rate": "frr", "group": "a"},
)


@cache
def expected_of(name):
    return compare(COMPARATORS[name])


@pytest.mark.parametrize(
    "name",
    ["affine", pytest.param("calibrated", marks=pytest.mark.slow), "PLDA"],
)
@given(seed=st.integers(0, 10_000))
def test_rows_in_another_order_change_nothing(name, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    roc, expected = compare(COMPARATORS[name], order), expected_of(name)
    assert held(roc, order) == held(expected)
    assert roc.threshold_at(0.05) == expected.threshold_at(0.05)
    for asked in ASKED:
        one, other = roc.estimate(0.05, **asked), expected.estimate(0.05, **asked)
        assert one.value == pytest.approx(other.value, rel=1e-12)
