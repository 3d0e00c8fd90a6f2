"""Facts of complete designs: base weights and closed totals are those of all pairs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skfairfr._core._resampling import MODES, Totals, draw
from tests._core.cases import (
    GROUPS,
    ONE,
    make_images,
    oracle_of,
    oracle_scope,
    resample,
)
from tests.covering import daily_pairwise

AVERAGES = ("pair", "identity")
IMPOSTORS = ("all", "same_group")
SCOPES = (None, (0, 0), (1, 1), (0, 1), (1, 0))
OWN = SCOPES[:3]
DESIGN = ("sides", "average", "impostors", "groups")
DESIGNS = list(product((1, 2), AVERAGES, IMPOSTORS, GROUPS))
designs = pytest.mark.parametrize(DESIGN, daily_pairwise(DESIGNS))


def design_and_twin(seed, sides, average, impostors, groups):
    images = make_images(seed, sides=sides, groups=groups)
    design = Totals(images, average, impostors)
    return design, oracle_of(images, None, average, impostors)


def total(weighted):
    return float(sum((weight for _, weight in weighted), start=Fraction(0)))


def drawn_or_one(images, mode, n_resamples=3):
    return ONE if mode is None else draw(images, mode, 3, 0, n_resamples)


@pytest.mark.parametrize(
    (*DESIGN, "mode"), daily_pairwise((*d, m) for d in DESIGNS for m in (None, *MODES))
)
def test_impostor_totals_are_sums_over_all_pairs(
    sides, average, impostors, groups, mode
):
    design, twin = design_and_twin(1, sides, average, impostors, groups)
    weights = drawn_or_one(design.images, mode)
    for scope in SCOPES:
        found = design.impostor_total(scope, weights)
        for r in range(weights.n_resamples):
            times = resample(design.images, weights, r)
            expected = total(twin.weighted_impostors(oracle_scope(scope), **times))
            assert found[r] == pytest.approx(expected, rel=1e-12, abs=1e-12)


WITH_COPIES = [(mode, True) for mode in (None, *MODES)]
WITHOUT_COPIES = [("images", False), ("both", False)]


@pytest.mark.parametrize(
    (*DESIGN, "mode", "copies"),
    daily_pairwise((*d, *m) for d in DESIGNS for m in WITH_COPIES + WITHOUT_COPIES),
)
def test_genuine_totals_are_sums_over_all_pairs(
    sides, average, impostors, groups, mode, copies
):
    design, twin = design_and_twin(2, sides, average, impostors, groups)
    weights = drawn_or_one(design.images, mode)
    for scope in OWN:
        found = design.genuine_total(scope, weights, copies)
        for r in range(weights.n_resamples):
            times = resample(design.images, weights, r)
            weighted = twin.weighted_genuine(
                oracle_scope(scope), diagonal=copies, **times
            )
            assert found[r] == pytest.approx(total(weighted), rel=1e-12, abs=1e-12)


@designs
def test_counts_are_those_of_all_pairs(sides, average, impostors, groups):
    design, twin = design_and_twin(3, sides, average, impostors, groups)
    for scope in OWN:
        n_genuine, n_impostor = twin.counts(oracle_scope(scope))
        assert design.count(scope, "frr") == n_genuine
        assert design.count(scope) == n_impostor
    for scope in SCOPES[3:]:
        n_impostor = len(twin.scope(scope).impostor)
        assert design.count(scope) == n_impostor


def test_a_person_with_one_image_has_no_copies_to_make_up_for():
    design = Totals(make_images(0, most=1), "pair", "all")
    assert (design.kept_share(np.arange(7)) == 0).all()
    assert (design.without_copies(np.arange(7)) == 0).all()
    assert design.count(None, "frr") == design.expected_genuine_total(None) == 0
