"""Facts of complete designs: base weights and closed totals are those of all pairs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skfairfr._core._pair_tiles import genuine_pairs
from skfairfr._core._resampling import MODES, Images, draw
from skfairfr._core._totals import Totals
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


def indexed(images, pairs):
    """Left and right images of the oracle's pairs, which count within a side."""
    ends = np.array([(p.i, p.j) for p in pairs], dtype=np.int32).reshape(-1, 2).T
    if images.side is None:
        return ends
    return [
        np.flatnonzero(images.side == s)[e] for s, e in zip((0, 1), ends, strict=True)
    ]


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


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 10**6), st.sampled_from([1, 2]), st.sampled_from(MODES))
def test_totals_of_mixed_people_of_any_data(seed, sides, mode):
    design, twin = design_and_twin(seed, sides, "identity", "same_group", "unknown")
    weights = draw(design.images, mode, seed, 0, 1)
    times = resample(design.images, weights, 0)
    expected = total(twin.weighted_impostors(None, **times))
    found = design.impostor_total(None, weights)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


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


@designs
@pytest.mark.parametrize(("kind", "scopes"), [("impostor", SCOPES), ("genuine", OWN)])
def test_base_weights_are_one_over_their_people_s_pairs(
    sides, average, impostors, groups, kind, scopes
):
    design, twin = design_and_twin(4, sides, average, impostors, groups)
    for scope in scopes:
        pairs = getattr(twin.scope(oracle_scope(scope)), kind)
        images = indexed(design.images, [p for p, _ in pairs])
        found = design.base(scope, *images, genuine=kind == "genuine")
        if average == "pair":
            assert found is None
        else:
            assert_allclose(found, [float(base) for _, base in pairs], rtol=1e-15)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("groups", GROUPS)
def test_copies_weigh_like_the_pairs_of_their_person(groups, average):
    design, twin = design_and_twin(6, 1, average, "all", groups)
    images = np.arange(design.images.identity.size)
    for scope in OWN:
        copies = {p.i: base for p, base in twin.scope(oracle_scope(scope)).copies}
        expected = [float(copies.get(i, 0)) for i in images]
        assert_allclose(design.copy_base(scope, images), expected, rtol=1e-15)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("groups", GROUPS)
def test_expected_genuine_total_is_that_of_all_resamples(groups, average):
    images = make_images(8, groups=groups, n_identities=4, most=3)
    design = Totals(images, average, "all")
    twin = oracle_of(images, None, average)
    outcomes = list(twin.image_resamples())
    for scope in OWN:
        expected = sum(
            p * sum(x for _, x in twin.weighted_genuine(oracle_scope(scope), w=w))
            for p, w in outcomes
        )
        found = design.expected_genuine_total(scope)
        assert found == pytest.approx(float(expected), rel=1e-12)


def test_kept_share_is_the_expected_product_of_two_draws_and_undone_without_copies():
    images = make_images(8, n_identities=4, most=3)
    design = Totals(images, "pair", "all")
    left, right = genuine_pairs(images)
    outcomes = list(oracle_of(images).image_resamples())
    expected = [
        float(sum(p * w[i] * w[j] for p, w in outcomes))
        for i, j in zip(left, right, strict=True)
    ]
    assert_allclose(design.kept_share(left), expected, rtol=1e-15)
    assert_allclose(design.kept_share(left) * design.without_copies(left), 1)


def test_a_person_with_one_image_has_no_copies_to_make_up_for():
    design = Totals(make_images(0, most=1), "pair", "all")
    assert (design.kept_share(np.arange(7)) == 0).all()
    assert (design.without_copies(np.arange(7)) == 0).all()
    assert design.count(None, "frr") == design.expected_genuine_total(None) == 0


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("sides", [1, 2])
def test_people_s_order_and_names_change_no_total(sides, average):
    images = make_images(9, sides=sides)
    order = np.random.default_rng(0).permutation(images.identity.size)
    names = np.random.default_rng(1).permutation(7).astype(np.int32)
    other = Images(
        names[images.identity][order],
        1 - images.group[order],
        None if sides == 1 else images.side[order],
        7,
        2,
    )
    designs = [Totals(i, average, "same_group") for i in (images, other)]
    assert_allclose(*(d.impostor_total(None, ONE) for d in designs))
    one, two = (
        designs[0].genuine_total((0, 0), ONE),
        designs[1].genuine_total((1, 1), ONE),
    )
    assert_allclose(one, two)
