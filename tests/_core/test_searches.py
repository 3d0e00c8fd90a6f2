"""Facts of the pass over a gallery, and of searches as weighted errors of people."""

from itertools import product

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import hypergeom

from skfairfr._core._adjustments import Adjustment
from skfairfr._core._bootstrap import far_in, frr_in, threshold_in
from skfairfr._core._error_counts import errors_of
from skfairfr._core._pair_tiles import (
    PreparedImages,
    score_prepared_matrix,
    unit_rows,
)
from skfairfr._core._resampling import Images, draw
from skfairfr._core._searches import (
    FIRST_SHARE,
    HELD,
    WHOLE,
    FloorTooHighError,
    Gallery,
    alarm_weights,
    chance_of_fewer,
    events_of,
    floor_at,
    search,
    share_held,
)
from tests.oracles.pairs import without_each

RNG = np.random.default_rng(0)
N, PEOPLE = 90, 40


def prepared(rows):
    return PreparedImages(rows, None)


def make(n_features=4, decimals=1, templates=2):
    """Probes, own people, and a gallery, with many tied scores."""
    rng = np.random.default_rng(1)
    own = np.where(np.arange(N) < 50, rng.integers(0, PEOPLE, N), -1)
    rows = rng.normal(size=(N, n_features)).round(decimals)
    enrolled = rng.normal(size=(PEOPLE * templates, n_features)).round(decimals)
    first = np.arange(PEOPLE + 1) * templates
    group = rng.integers(-1, 2, PEOPLE).astype(np.int32)
    sides = (unit_rows(side + 1e-3, "cosine") for side in (rows, enrolled))
    probes, images = map(prepared, sides)
    return probes, own, Gallery(images, first, group, 2)


def all_scores(probes, gallery):
    products = probes.vectors.astype(float) @ gallery.images.vectors.astype(float).T
    return np.maximum.reduceat(products.astype(np.float32), gallery.first[:-1], axis=1)


@pytest.mark.parametrize("templates", [1, 3])
@pytest.mark.parametrize("tile", [7, 2048])
def test_the_pass_finds_what_a_loop_over_all_scores_does(tile, templates):
    probes, own, gallery = make(templates=templates)
    scores, floor = all_scores(probes, gallery), np.float32(0.6)
    found = search(probes, own, gallery, floor, tile=tile)
    for i in range(N):
        others = [k for k in range(PEOPLE) if k != own[i]]
        if own[i] < 0:
            k = int(np.argmax(scores[i]))
            assert (found.best[i], found.returned[i]) == (scores[i, k], k)
            held = {(k, scores[i, k]) for k in others if scores[i, k] >= floor}
            mine = found.probe == i
            assert set(zip(found.person[mine], found.scores[mine], strict=True)) == held
            assert (np.diff(found.scores[mine]) <= 0).all()
        else:
            assert found.mate[i] == scores[i, own[i]] and found.returned[i] == -1
            ahead = np.bincount(
                [gallery.group[k] % 3 for k in others if scores[i, k] >= found.mate[i]],
                minlength=3,
            )
            assert_array_equal(found.above[i], ahead)
    assert (np.diff(found.probe) >= 0).all() and np.isnan(found.mate[own < 0]).all()


@pytest.mark.parametrize(("n_jobs", "device"), [(2, "cpu"), (None, "cpu:0")])
def test_workers_and_devices_change_nothing(n_jobs, device):
    pytest.importorskip("torch")
    probes, own, gallery = make()
    found = search(probes, own, gallery, np.float32(0.5))
    with parallel_config("threading"):
        again = search(probes, own, gallery, np.float32(0.5), n_jobs, device, 16)
    for name, value in vars(found).items():
        assert_array_equal(getattr(again, name), value)


def test_embeddings_of_a_length_beyond_float32_are_compared_as_they_are():
    probes, own, gallery = make(templates=1)
    long = Gallery(prepared(gallery.images.vectors * np.float32(1e30)), *_rest(gallery))
    one = search(prepared(probes.vectors * np.float32(1e8)), own, long, np.inf)
    other = search(probes, own, gallery, np.inf)
    assert_array_equal(one.returned, other.returned)


def _rest(gallery):
    return gallery.first, gallery.group, gallery.n_groups


def test_adjusted_scores_are_those_of_listed_pairs():
    probes, own, gallery = make(templates=2)
    rng = np.random.default_rng(3)
    both = [
        PreparedImages(
            side.vectors,
            Adjustment.affine(*rng.uniform(0.5, 2, size=(2, len(side.vectors)))),
        )
        for side in (probes, gallery.images)
    ]
    found = search(both[0], own, Gallery(both[1], *_rest(gallery)), np.inf, tile=8)
    for i in np.flatnonzero(own < 0):
        rows = np.full(len(both[1].vectors), i)
        products = (probes.vectors[i].astype(float) * both[1].vectors).sum(axis=1)
        scores = (
            both[0]
            .adjustment[rows]
            .of_pairs(products.astype(np.float32), both[1].adjustment)
        )
        assert found.best[i] == pytest.approx(scores.max(), abs=1e-6)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_the_chance_of_few_ahead_is_hypergeometric(rank):
    people, drawn, marked = np.array([30]), np.array([12]), np.arange(31)
    columns = [np.broadcast_to(v, (31, 1)) for v in (people, drawn)]
    found = chance_of_fewer(rank, marked[:, None], columns[0], columns[1])
    assert_allclose(found, hypergeom.cdf(rank - 1, 30, marked, 12), atol=1e-12)
    # Two groups of which all are drawn: marked people are ahead for certain.
    both = np.array([[1, 2], [0, 1]])
    sizes = np.array([[5, 6], [5, 6]])
    assert_allclose(chance_of_fewer(rank, both, sizes, sizes), [3 < rank, 1 < rank])


def test_weights_of_candidates_add_up_to_the_chance_of_an_alarm():
    probes, own, gallery = make()
    found = search(probes, own, gallery, np.float32(0.3))
    weights = alarm_weights(found, gallery, np.array([9]))
    for i in np.flatnonzero(own < 0):
        mine = found.probe == i
        held = np.arange(1, mine.sum() + 1)
        expected = 1 - hypergeom.pmf(0, PEOPLE, held, 9)
        assert_allclose(np.cumsum(weights[mine]), expected, atol=1e-12)


@pytest.mark.parametrize("mode", ["identities", "images", "both"])
@pytest.mark.parametrize("drawn", [None, [11], [3, 4, 0]])
def test_rates_in_resamples_are_weighted_means_over_searches(drawn, mode):
    probes, own, gallery = make()
    found = search(probes, own, gallery, np.float32(-np.inf))
    person = RNG.integers(0, 30, N).astype(np.int32)
    person[:30] = np.arange(30)
    group = RNG.integers(0, 2, N).astype(np.int32)
    images = Images(person, group, None, 30, 2)
    drawn = None if drawn is None else np.array(drawn)
    events = events_of(found, images, gallery, own, 2, drawn)
    weights = draw(images, mode, 5, 0, 4)
    times = np.ones((N, 4)) if weights.image is None else weights.image.astype(float)
    if weights.identity is not None:
        times = times * weights.identity[person]
    chances = np.ones(found.scores.size)
    if drawn is not None:
        chances = alarm_weights(found, gallery, drawn)
    for scope in (None, (1, 1)):
        inside = slice(None) if scope is None else group == 1
        for t in (0.4, 0.8):
            alarm, missed = np.zeros(N), np.full(N, np.nan)
            for i in range(N):
                reaches = (found.probe == i) & (found.scores >= np.float32(t))
                alarm[i] = reaches.any() if drawn is None else chances[reaches].sum()
                if own[i] >= 0:
                    missed[i] = _missed(found, gallery, own, i, t, drawn)
            at = np.full((1, 4), t)
            for rate, error in ((far_in, alarm), (frr_in, missed)):
                counted = own < 0 if rate is far_in else ~np.isnan(missed)
                mass = times * counted[:, None]
                weight = np.where(counted, error, 0.0)[inside] @ mass[inside]
                options = () if rate is far_in else (True,)
                assert_allclose(
                    rate(events, scope, at, weights, *options)[0],
                    weight / mass[inside].sum(axis=0),
                    atol=1e-12,
                )
    level = np.array([0.3])
    t = threshold_in(events, None, level, weights)
    held = np.isfinite(t)
    assert (far_in(events, None, t, weights)[held] <= level[0] + 1e-12).all()


@pytest.mark.parametrize("drawn", [None, [11]])
def test_influences_of_people_are_what_the_rate_loses_without_them(drawn):
    probes, own, gallery = make()
    found = search(probes, own, gallery, np.float32(-np.inf))
    rng = np.random.default_rng(2)
    person, group = rng.integers(0, 30, (2, N)).astype(np.int32)
    images = Images(person, group % 2, None, 30, 2)
    drawn = None if drawn is None else np.array(drawn)
    events = events_of(found, images, gallery, own, 2, drawn)
    chances = np.ones(found.scores.size)
    if drawn is not None:
        chances = alarm_weights(found, gallery, drawn)
    for scope, t in product((None, (1, 1)), (0.4, 0.8)):
        inside = np.ones(N, bool) if scope is None else group % 2 == 1
        alarms, missed = np.zeros(N), np.zeros(N)
        for i in range(N):
            reaches = (found.probe == i) & (found.scores >= np.float32(t))
            alarms[i] = reaches.any() if drawn is None else chances[reaches].sum()
            if own[i] >= 0:
                missed[i] = _missed(found, gallery, own, i, t, drawn)
        for rate, error, counted in (
            ("far", alarms, inside & (own < 0)),
            ("frr", missed, inside & (own >= 0)),
        ):
            wrong = np.bincount(person, error * counted, minlength=30)
            searches = np.bincount(person, counted, minlength=30)
            assert wrong.sum() > 1
            counts = errors_of(events, scope, rate, np.array([t]))
            expected = without_each(wrong, searches, ends=1)
            assert_allclose(counts.influence[0], expected, atol=1e-12)


def _missed(found, gallery, own, i, t, drawn):
    """Chance that a mated search is missed at rank 2; nan where nobody is drawn."""
    ahead = found.above[i]
    if found.mate[i] < np.float32(t):
        if (
            drawn is not None
            and drawn.size > 1
            and drawn[gallery.group[own[i]] % 3] == 0
        ):
            return np.nan
        return 1.0
    if drawn is None:
        return float(ahead.sum() >= 2)
    if drawn.size == 1:
        return 1 - hypergeom.cdf(1, PEOPLE - 1, ahead.sum(), drawn[0] - 1)
    sizes, n = gallery.sizes(), drawn.copy()
    place = gallery.group[own[i]] % 3
    if n[place] == 0:
        return np.nan
    sizes[place] -= 1
    n[place] -= 1
    numbers = [
        hypergeom.pmf(np.arange(2), *of) for of in zip(sizes, ahead, n, strict=True)
    ]
    none = np.prod([p[0] for p in numbers])
    one = sum(
        p[1] * np.prod([q[0] for q in numbers[:g] + numbers[g + 1 :]])
        for g, p in enumerate(numbers)
    )
    return 1 - none - one


def test_scores_that_products_cannot_tell_apart_are_scored_once_more():
    """Templates nearly alike, of many features: products err by more than they differ."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(PEOPLE, 600)) * 1e-6
    enrolled = prepared(unit_rows(rng.normal(size=600) + noise, "cosine"))
    probes = prepared(unit_rows(rng.normal(size=(N, 600)) + 1, "cosine"))
    group = rng.integers(-1, 2, PEOPLE).astype(np.int32)
    gallery = Gallery(enrolled, np.arange(PEOPLE + 1), group, 2)
    own = np.where(np.arange(N) % 2, np.arange(N) % PEOPLE, -1)
    scores = score_prepared_matrix(probes, enrolled)
    products = probes.vectors @ enrolled.vectors.T
    assert (products.argmax(axis=1) != scores.argmax(axis=1)).sum() > N / 10
    found = search(probes, own, gallery, np.float32(np.inf), tile=16)
    for i in range(N):
        if own[i] < 0:
            assert found.best[i] == scores[i].max()
            assert found.returned[i] == scores[i].argmax()
            continue
        ahead = np.flatnonzero(scores[i] >= found.mate[i])
        ahead = group[ahead[ahead != own[i]]] % 3
        assert_array_equal(found.above[i], np.bincount(ahead, minlength=3))


def test_about_the_share_asked_for_is_held():
    probes, _, gallery = make(n_features=8, decimals=9, templates=1)
    searching = np.arange(0, N, 2)
    scores = all_scores(probes, gallery)[searching]
    for share in (0.02, 0.3):
        floor = floor_at(probes, searching, gallery, share)
        assert (scores >= floor).mean() == pytest.approx(share, abs=0.01)
    assert floor_at(probes, searching, gallery, 1.0) == -np.inf
    assert share_held(WHOLE) == 1
    assert share_held(WHOLE + 1) == FIRST_SHARE
    assert share_held(1e12) * 1e12 == pytest.approx(HELD)
    # What is held takes less than a gigabyte, and a small search is held whole.
    assert HELD * 76 < 1e9 and 1000**2 < WHOLE < HELD


def test_no_sample_of_searches_stands_in_for_those_below_the_floor():
    probes, own, gallery = make()
    found = search(probes, own, gallery, np.float32(0.9))
    unknown = np.full(N, -1, np.int32)
    images = Images(np.arange(N, dtype=np.int32), unknown, None, N, 0)
    events = events_of(found, images, gallery, own, 1, np.array([11]))
    assert events.impostors(None).scores.size == found.scores.size
    assert events.holds(None, [0.9, 0.89]).tolist() == [True, False]
    with pytest.raises(FloorTooHighError):
        events.impostors(None, sampled=True)
