"""Facts of the multiplicities of a resample."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr._core import _resampling
from skfairfr._core._pair_sequences import PairSequence
from skfairfr._core._resampling import (
    MODES,
    Images,
    Resampling,
    Weights,
    blocks_of_resamples,
    draw,
)
from tests._core.cases import make_images


def one_person(n_images, side=None):
    codes = np.zeros(n_images, dtype=np.int32)
    return Images(codes, codes, side, 1, 1)


@pytest.mark.parametrize("mode", ["images", "both"])
@pytest.mark.parametrize("sides", [1, 2])
def test_as_many_images_as_there_are_are_drawn_within_every_stratum(sides, mode):
    images = make_images(0, sides=sides)
    drawn = draw(images, mode, 7, 0, 20).image
    for stratum in np.unique(images.strata):
        members = images.strata == stratum
        assert (drawn[members].sum(axis=0) == members.sum()).all()


@pytest.mark.parametrize("mode", ["identities", "both"])
def test_as_many_identities_as_there_are_are_drawn(mode):
    drawn = draw(make_images(0), mode, 7, 0, 20).identity
    assert drawn.shape == (7, 20)
    assert (drawn.sum(axis=0) == 7).all()


@pytest.mark.parametrize("mode", MODES)
def test_people_who_are_not_drawn_count_once(mode):
    """As an impostor pair's second person where pairs are independent."""
    drawn = draw(replace(make_images(0), n_drawn=4), mode, 7, 0, 20)
    assert drawn.image is None
    assert (drawn.identity[:4].sum(axis=0) == 4).all()
    assert (drawn.identity[4:] == 1).all()


@pytest.mark.parametrize(
    ("mode", "drawn"),
    [
        ("images", {"image"}),
        ("identities", {"identity"}),
        ("both", {"image", "identity"}),
    ],
)
def test_a_mode_draws_what_it_says(mode, drawn):
    weights = draw(make_images(0), mode, 7, 0, 3)
    assert {
        k for k in ("image", "identity") if getattr(weights, k) is not None
    } == drawn
    assert weights.n_resamples == 3
    assert mode in MODES


@pytest.mark.parametrize("sides", [1, 2])
def test_modes_share_their_draws(sides):
    images = make_images(0, sides=sides)
    drawn = {mode: draw(images, mode, 7, 2, 9) for mode in MODES}
    assert_array_equal(drawn["both"].identity, drawn["identities"].identity)
    assert_array_equal(drawn["both"].image, drawn["images"].image)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [1, 2, 7, 11])
def test_blocks_change_no_bit(mode, size):
    images = make_images(3)
    whole = draw(images, mode, 11, 0, 11)
    blocks = [draw(images, mode, 11, s, min(s + size, 11)) for s in range(0, 11, size)]
    for kind in ("identity", "image"):
        if getattr(whole, kind) is not None:
            joined = np.hstack([getattr(b, kind) for b in blocks])
            assert_array_equal(joined, getattr(whole, kind))


@pytest.mark.parametrize("mode", MODES)
def test_entropy_and_place_decide_a_resample(mode):
    images = make_images(0, n_identities=30)
    kind = "image" if mode == "images" else "identity"
    first, again, other = (
        getattr(draw(images, mode, e, 0, 9), kind) for e in (1, 1, 2)
    )
    assert_array_equal(first, again)
    assert (first != other).any()
    assert np.unique(first, axis=1).shape[1] == 9


def test_the_two_sides_of_a_person_are_drawn_apart():
    side = np.repeat(np.array([0, 1], dtype=np.int8), 3)
    drawn = draw(one_person(6, side), "images", 0, 0, 200).image.astype(int)
    assert (drawn[:3].sum(axis=0) == 3).all()
    assert (drawn[:3] != drawn[3:]).any(axis=0).mean() > 0.5
    # Independent: E[w_i w_j] = 1 across the sides.
    assert (drawn[0] * drawn[3]).mean() == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_two_images_of_a_person_have_the_multinomial_moments(n):
    drawn = draw(one_person(n), "images", 5, 0, 5000).image.astype(float)
    moments = drawn @ drawn.T / 5000
    # E[w_i w_j] = 1 - 1/n = E[w_i (w_i - 1)]; 5000 draws leave errors of .02.
    expected = np.full((n, n), 1 - 1 / n) + np.eye(n)
    assert moments == pytest.approx(expected, abs=0.1)
    assert drawn.mean(axis=1) == pytest.approx(np.ones(n), abs=0.06)


class AlwaysTheFirst:
    """A generator that draws nothing but zeros."""

    def integers(self, low, high, size=None):
        return np.zeros(np.size(high) if size is None else size, dtype=np.int64)

    def random(self, size):
        return np.zeros(size)


@pytest.mark.parametrize(("n", "dtype"), [(255, np.uint8), (256, np.float64)])
@pytest.mark.parametrize("mode", ["images", "identities"])
def test_multiplicities_beyond_a_byte_become_floats(mode, n, dtype, monkeypatch):
    monkeypatch.setattr(np.random, "default_rng", lambda _: AlwaysTheFirst())
    images = one_person(n)
    if mode == "identities":
        images = Images(np.arange(n), images.group, None, n, 1)
    weights = draw(images, mode, 0, 0, 2)
    drawn = weights.image if mode == "images" else weights.identity
    assert drawn.dtype == dtype
    assert drawn[:2].tolist() == [[n, n], [0, 0]]


@pytest.mark.parametrize("times", [51, 52])
def test_products_of_multiplicities_do_not_wrap(times):
    images = Images(np.zeros(2, np.int32), np.zeros(2, np.int32), None, 1, 1)
    weights = Weights(
        np.array([[5]], dtype=np.uint8), np.array([[times], [1]], dtype=np.uint8), 1
    )
    pair = PairSequence(np.zeros(1), np.array([0]), np.array([1]))
    assert pair.weighed(weights, images).total() == 25 * times


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["impostors", "genuine"])
def test_units_multiply_to_the_weight_of_a_pair(kind, mode):
    images = make_images(2)
    weights = draw(images, mode, 1, 0, 4)
    left, right = np.triu_indices(images.identity.size, 1)
    same = images.identity[left] == images.identity[right]
    left, right = (i[same if kind == "genuine" else ~same] for i in (left, right))
    pairs = PairSequence(np.zeros(left.size), left, right)
    sums = pairs.weighed(weights, images, genuine=kind == "genuine")
    v, w = weights.identity, weights.image
    v = np.ones((7, weights.n_resamples)) if v is None else v.astype(float)
    w = np.ones((images.identity.size, 1)) if w is None else w.astype(float)
    expected = v[images.identity[left]] * w[left] * w[right]
    if kind == "impostors":
        expected = expected * v[images.identity[right]]
    places = np.repeat(np.arange(left.size + 1)[:, None], 4, axis=1)
    found = np.diff(sums.before(places), axis=0)
    assert_array_equal(found, expected)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("n_images", "fitting"), [(0, 128), (10, 128), (1000, 100), (10**5, 16)]
)
def test_blocks_fit_in_memory_and_hold_every_resample_once(
    n_images, fitting, threads, monkeypatch
):
    monkeypatch.setattr(_resampling, "n_threads", lambda: threads)
    monkeypatch.setattr(_resampling, "effective_n_jobs", lambda: 1)
    monkeypatch.setattr(_resampling, "BLOCK_BYTES", 10**5)
    for n_resamples in (1, 16, 200, 1000):
        asked = Resampling("both", "naive", n_resamples, 0, 1)
        tasks, sizes = blocks_of_resamples(one_person(n_images), asked)
        blocks = [block[2:] for (block,) in tasks]
        assert sizes == [stop - start for start, stop in blocks]
        assert [r for block in blocks for r in range(*block)] == [*range(n_resamples)]
        largest = max(stop - start for start, stop in blocks)
        assert largest <= fitting
        # Threads share what there is, in blocks of 16 at least.
        assert largest == min(fitting, n_resamples, max(16, -(-n_resamples // threads)))


@pytest.mark.parametrize("kept", [0, 100, 2**28])
def test_no_more_multiplicities_are_kept_than_allowed(kept, monkeypatch):
    monkeypatch.setattr(_resampling, "KEPT_BYTES", kept)
    images = one_person(10)
    expected = draw(one_person(10), "both", 0, 0, 8)
    for start in (0, 8, 0):  # 8 resamples of a person and 10 images: 88 bytes
        found = draw(images, "both", 0, start, start + 8)
    assert len(images.drawn) == {0: 0, 100: 1, 2**28: 2}[kept]
    assert_array_equal(found.identity, expected.identity)
    assert_array_equal(found.image, expected.image)
