"""Facts of searches: rates, ranks, random galleries, who is returned, intervals, errors."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skfairfr import SimilarityROC, face_labels
from skfairfr._core import _searches
from skfairfr._core._error_counts import NUMBERS
from skfairfr._core._jackknife import genuine_sums, rate_ends
from skfairfr.comparators import CohortNormalizer
from skfairfr.metrics import IdentificationROC
from skfairfr.metrics import _searches as _searches_of
from tests.oracles.searches import in_random_galleries, rates_of, scores_of

# A gallery, probes of people in it and of others, with every group on both sides.
N_PEOPLE, N_ENROLLED = 60, 25


def make(seed=0, images=1, noise=1.0, n_features=6):
    """Probes and gallery, whose people resemble each other: many alarms, many lost mates."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=(N_PEOPLE, n_features))
    names = np.array([f"p{k:02}" for k in rng.permutation(N_PEOPLE)])
    group = np.array(["a", "b"])[(rng.random(N_PEOPLE) < 0.4).astype(int)]
    y = np.repeat(np.arange(N_PEOPLE), 3)
    enrolled = np.repeat(np.arange(N_ENROLLED), images)
    parts = {}
    for side, who in (("probe", y), ("gallery", rng.permutation(enrolled))):
        X = centre[who] + noise * rng.normal(size=(who.size, n_features))
        parts[side] = X, names[who], group[who]
    return parts["probe"], parts["gallery"]


def fit(data, **options):
    (X, y, group), (X_gallery, y_gallery, of_gallery) = data
    roc = IdentificationROC(**{"n_resamples": 20, "random_state": 0} | options)
    gallery = {"X_gallery": X_gallery, "y_gallery": y_gallery}
    return roc.fit(X, y, group, **gallery, sensitive_features_gallery=of_gallery)


def slow(data, template="image"):
    (X, y, group), (X_gallery, y_gallery, _) = data
    return (*scores_of(X, y_gallery, X_gallery, template), y, group)


def value(roc, **question):
    return roc.estimate(**question).value


@pytest.mark.parametrize(
    ("template", "images"), [("image", 1), ("mean", 3), ("max", 3)]
)
@pytest.mark.parametrize("rank", [1, 3])
def test_rates_are_those_of_a_double_loop(template, images, rank):
    data = make(images=images)
    roc = fit(data, rank=rank, template=template)
    people, scores, y, group = slow(data, template)
    for threshold in np.quantile(scores, [0.2, 0.9, 0.99]):
        for name in (None, "a", "b"):
            inside = None if name is None else group == name
            expected = rates_of(scores, y, people, threshold, rank, inside)
            asked = {"threshold": threshold, "group": name}
            found = [value(roc, rate=rate, **asked) for rate in ("fpir", "fnir")]
            assert_allclose(found, expected, atol=1e-12)
    assert_array_equal(roc.gallery_, people)
    assert roc.n_mated_[0] == np.isin(y, people).sum() == y.size - roc.n_nonmated_[0]


def test_the_threshold_of_a_level_is_just_above_the_alarm_that_exceeds_it():
    data = make()
    roc = fit(data)
    people, scores, y, _ = slow(data)
    outside = ~np.isin(y, people)
    best = np.sort(scores[outside].max(axis=1))[::-1]
    for level in (0.05, 0.2, 0.6):
        n_allowed = int(np.floor(level * best.size))
        expected = np.nextafter(best[n_allowed], np.float32(2))
        assert roc.threshold_at(level) == pytest.approx(float(expected), abs=1e-7)
        assert value(roc, fpir=level, rate="fpir") == pytest.approx(
            n_allowed / best.size
        )
    own = [roc.threshold_at(0.2, operating_point="group", group=g) for g in "ab"]
    assert roc.threshold_at(0.2, operating_point="worst_group") == max(own)
    worst = [value(roc, threshold=max(own), rate="fpir", group=g) for g in "ab"]
    assert max(worst) <= 0.2


def test_the_match_characteristic_is_that_of_a_sort_of_all_scores():
    data = make()
    people, scores, y, group = slow(data)
    mated = np.flatnonzero(np.isin(y, people))
    order = np.argsort(-scores, axis=1, kind="stable")
    rank = np.array([1 + order[i].tolist().index(people.index(y[i])) for i in mated])
    ranks = [1, 2, 5, len(people)]
    for name in (None, "b"):
        inside = slice(None) if name is None else group[mated] == name
        found = fit(data).cmc(ranks, name)
        expected = [(rank[inside] <= r).mean() for r in ranks]
        assert_allclose(found.value, expected)
        assert (found.low <= found.value).all() and (found.value <= found.high).all()
        assert found.n_searches == rank[inside].size
    assert found.value[-1] == 1


@pytest.mark.parametrize("template", ["image", "max"])
@pytest.mark.parametrize("rank", [1, 2])
def test_random_galleries_have_the_mean_of_all_of_them(rank, template):
    data = make(images=1 if template == "image" else 2)
    roc = fit(data, rank=rank, template=template)
    people, scores, y, _ = slow(data, template)
    threshold = float(np.quantile(scores, 0.97))
    for n in (1, 7, 18):
        everyone = [list(range(len(people)))]
        expected = in_random_galleries(
            scores, y, people, threshold, rank, everyone, [n]
        )
        asked = {"threshold": threshold, "gallery_size": n}
        found = [value(roc, rate=rate, **asked) for rate in ("fpir", "fnir")]
        assert_allclose(found, expected, atol=1e-9)
    whole = {"threshold": threshold, "gallery_size": len(people)}
    for rate in ("fpir", "fnir"):
        assert value(roc, rate=rate, **whole) == pytest.approx(
            value(roc, rate=rate, threshold=threshold), abs=1e-9
        )


def test_galleries_of_a_composition_have_the_mean_of_all_of_them():
    data = make(seed=1)
    roc = fit(data, rank=2)
    people, scores, y, _ = slow(data)
    group = dict(zip(*data[1][1:], strict=True))
    parts = [[k for k, p in enumerate(people) if group[p] == g] for g in "ab"]
    threshold = float(np.quantile(scores, 0.95))
    wanted = {"a": 0.75, "b": 0.25}
    expected = in_random_galleries(scores, y, people, threshold, 2, parts, [6, 2])
    asked = {"threshold": threshold, "gallery_size": 8, "gallery_shares": wanted}
    found = [value(roc, rate=rate, **asked) for rate in ("fpir", "fnir")]
    assert_allclose(found, expected, atol=1e-9)
    # Nobody of b is enrolled: mated searches of b are none.
    alone = roc.estimate(
        threshold=threshold, gallery_size=5, gallery_shares={"a": 1.0}, group="a"
    )
    assert alone.n_genuine == (np.isin(y, people) & (data[0][2] == "a")).sum()
    with pytest.warns(match="No mated search"):
        assert np.isnan(
            value(
                roc, threshold=0.5, gallery_size=5, gallery_shares={"a": 1}, group="b"
            )
        )


def test_levels_in_smaller_galleries_are_met_by_their_own_thresholds():
    data = make()
    roc = fit(data)
    people, *_ = slow(data)
    previous = np.inf
    for n in (len(people), 10, 2, 1):
        at = roc.estimate([0.05, 0.3], rate="fpir", gallery_size=n)
        assert (at.value <= [0.05, 0.3]).all() and (at.value > [0, 0.2]).all()
        missed = value(roc, fpir=0.3, gallery_size=n)
        assert missed <= previous
        previous = missed


def test_candidates_below_those_held_are_looked_up_when_they_are_needed(monkeypatch):
    data = make()
    asked = [
        {"threshold": 0.5, "rate": "fpir", "gallery_size": 4},
        {"fpir": 0.3, "gallery_size": 2},
    ]
    whole = fit(data)
    expected = [whole.estimate(**question) for question in asked]
    monkeypatch.setattr(_searches, "WHOLE", 0)
    for question, known in zip(asked, expected, strict=True):
        roc = fit(data)
        held = roc._searches.found.scores.size
        found = roc.estimate(**question)
        assert (found.value, found.low, found.high) == (
            known.value,
            known.low,
            known.high,
        )
        assert held < roc._searches.found.scores.size
    monkeypatch.setattr(_searches_of, "available_bytes", lambda: 1)
    with pytest.raises(ValueError, match=r"gallery_size .* GB of candidates"):
        fit(data)


def test_with_one_person_enrolled_fpir_is_the_fmr_of_verification():
    (X, y, group), (X_gallery, y_gallery, of_gallery) = make()
    one = slice(0, 1)
    data = (X, y, group), (X_gallery[one], y_gallery[one], of_gallery[one])
    search = fit(data)
    check = SimilarityROC(n_resamples=20, random_state=0).fit(
        X, y, X_reference=X_gallery[one], y_reference=y_gallery[one]
    )
    for threshold in (-0.5, 0.0, 0.4):
        found = value(search, threshold=threshold, rate="fpir")
        assert found == check.estimate(threshold=threshold, rate="far").value
        found = value(search, threshold=threshold)
        assert found == check.estimate(threshold=threshold).value
    assert search.threshold_at(0.1) == check.threshold_at(0.1)


def test_ties_alarm_and_a_tie_with_the_mate_counts_against_the_system():
    gallery = np.eye(3)
    probes = np.array([[1, 1, 0], [2, 2, 1], [1, 0, 1], [0, 1, 1]])
    y, enrolled = np.array([0, 1, 7, 8]), np.array([0, 1, 2])
    data = (
        (probes, y, np.array(list("aaaa"))),
        (gallery, enrolled, np.array(list("abb"))),
    )
    first, second = (fit(data, rank=rank) for rank in (1, 2))
    assert value(first, threshold=-1) == 1.0  # the other one of both has the same score
    assert value(second, threshold=-1) == 0.0
    assert_array_equal(first.cmc([1, 2]).value, [0, 1])
    tie = float(np.float32(np.sqrt(0.5)))
    assert value(first, threshold=tie, rate="fpir") == 1.0
    assert (
        value(
            first,
            threshold=float(np.nextafter(np.float32(tie), np.float32(1))),
            rate="fpir",
        )
        == 0.0
    )
    # Of equal scores the first person is returned.
    assert_array_equal(first.alarms(threshold=tie).identity, [0, 1])
    assert_array_equal(
        first.fpir_matrix(threshold=tie).fpir, [[0.5, 0.5], [np.nan] * 2]
    )


def test_who_is_returned_and_from_which_group():
    data = make()
    roc = fit(data)
    people, scores, y, group = slow(data)
    of_gallery = dict(zip(*data[1][1:], strict=True))
    threshold = roc.threshold_at(0.3)
    counts, cells = dict.fromkeys(people, 0), np.zeros((2, 2))
    for i in np.flatnonzero(~np.isin(y, people)):
        k = int(np.argmax(scores[i]))
        if scores[i, k] >= threshold:
            counts[people[k]] += 1
            cells["ab".index(group[i]), "ab".index(of_gallery[people[k]])] += 1
    found = roc.alarms(0.3)
    assert dict(zip(found.identity, found.n_alarms, strict=True)) == {
        p: n for p, n in counts.items() if n
    }
    assert (np.diff(found.n_alarms) <= 0).all() and found.share.sum() == pytest.approx(
        1
    )
    assert [of_gallery[p] for p in found.identity] == found.group.tolist()
    matrix = roc.fpir_matrix(0.3)
    assert_allclose(matrix.fpir, cells / matrix.n_nonmated[:, None])
    own = [value(roc, threshold=threshold, rate="fpir", group=g) for g in "ab"]
    assert_allclose(matrix.fpir.sum(axis=1), own)
    assert (matrix.low <= matrix.fpir).all() and (matrix.fpir <= matrix.high).all()


def test_intervals_at_a_threshold_take_people_as_units():
    """All searches of a person alike: as wide as with one search of each."""
    rng = np.random.default_rng(0)
    centre = rng.normal(size=(300, 8))
    y, enrolled = np.arange(300), np.arange(60)
    X_gallery = centre[:60] + 0.1 * rng.normal(size=(60, 8))
    fits = []
    for copies in (1, 4):
        data = (np.repeat(centre, copies, axis=0), np.repeat(y, copies), None)
        fits.append(fit((data, (X_gallery, enrolled, None))))
    once, often = (roc.estimate(threshold=0.8, rate="fpir") for roc in fits)
    assert once.value == often.value > 0
    assert_allclose([often.low, often.high], [once.low, once.high], rtol=0.02)


def test_a_system_differs_from_itself_by_nothing_and_from_a_worse_one():
    rng = np.random.default_rng(0)
    (X, y, group), gallery = make(noise=0.4)
    noisy = X + 1.5 * rng.normal(size=X.shape)
    good, bad = fit(((X, y, group), gallery)), fit(((noisy, y, group), gallery))
    same = good.compare(good, 0.2)
    assert same.difference == 0 and same.p_value == 1
    found = good.compare(bad, 0.2)
    assert found.high < 0 and found.p_value < 0.01
    fpir = good.compare(bad, threshold=0.9, rate="fpir")
    assert fpir.low <= fpir.difference <= fpir.high
    assert np.isfinite(good.compare(bad, threshold=0.9, gallery_size=9).difference)
    with pytest.raises(ValueError, match="same gallery"):
        good.compare(fit(((X, y, group), [part[1:] for part in gallery])), 0.2)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_comparator_scores_searches_as_it_scores_pairs(n_jobs):
    data = make()
    (X, y, _), (X_gallery, y_gallery, _) = data
    cohort = CohortNormalizer().fit(X, y)
    people = sorted(set(y_gallery))
    order = [np.flatnonzero(y_gallery == p)[0] for p in people]
    scores = cohort.score_matrix(X, X_gallery[order])
    with parallel_config("threading"):
        roc = fit(data, similarity=cohort, n_jobs=n_jobs)
        for threshold in np.quantile(scores, [0.5, 0.95]):
            found = [value(roc, threshold=threshold, rate=r) for r in ("fpir", "fnir")]
            assert_allclose(found, rates_of(scores, y, people, threshold), atol=1e-12)


def test_groups_of_several_attributes_and_unknown_ones():
    (X, y, group), (X_gallery, y_gallery, of_gallery) = make()
    other = np.where(np.arange(len(X)) % 5 == 0, None, "x")
    unknown = np.where(np.arange(len(X_gallery)) % 4 == 0, None, "x")
    both = {"g": group, "o": other}, {"g": of_gallery, "o": unknown}
    roc = fit(((X, y, both[0]), (X_gallery, y_gallery, both[1])))
    assert roc.groups_.tolist() == ["a & x", "b & x"]
    inside = (group == "a") & (other == "x")
    plain = fit(((X, y, np.where(inside, "in", None)), (X_gallery, y_gallery, None)))
    assert value(roc, threshold=0.8, group="a & x") == value(
        plain, threshold=0.8, group="in"
    )
    asked = {
        "threshold": 0.8,
        "gallery_size": 6,
        "gallery_shares": {"a & x": 0.5, "b & x": 0.5},
    }
    assert 0 <= value(roc, **asked) <= 1


ASKED = {"threshold": 0.5}
REFUSED = [
    ({"fpir": 0.1, "threshold": 0.5}, "exactly one of fpir and threshold, got both"),
    ({}, "exactly one of fpir and threshold, got neither"),
    ({**ASKED, "rate": "far"}, "rate must be one of 'fpir', 'fnir'"),
    ({"fpir": 2.0}, r"^fpir must lie in \(0, 1\)"),
    ({**ASKED, "group": "c"}, "'c' is not a group of the data"),
    ({**ASKED, "group": ("a", "b")}, "is not a group of the data"),
    ({**ASKED, "gallery_size": 26}, "25 people are enrolled: beyond the gallery"),
    ({**ASKED, "gallery_size": 0}, "gallery_size must be an integer"),
    ({**ASKED, "gallery_shares": {"a": 1}}, "give its gallery_size too"),
    ({**ASKED, "gallery_size": 5, "gallery_shares": {"a": 0.5}}, "add up to 1"),
    ({**ASKED, "gallery_size": 25, "gallery_shares": {"b": 1}}, "are enrolled;"),
]


@pytest.mark.parametrize(("question", "words"), REFUSED)
def test_questions_that_have_no_answer_are_refused(question, words):
    with pytest.raises(ValueError, match=words):
        fit(make()).estimate(**question)


def test_galleries_that_cannot_be_searched_are_refused():
    (X, y, group), (X_gallery, y_gallery, of_gallery) = make(images=2)
    with pytest.raises(ValueError, match=r"2 images of .*enrols one of each person"):
        fit(((X, y, group), (X_gallery, y_gallery, of_gallery)))
    with pytest.raises(ValueError, match=r"in the gallery too \(row 3, 2 in all\)"):
        fit(((X, y, group), (np.r_[X[[3, 9]], X_gallery[:1]], y[[3, 9, 5]], None)))
    with pytest.raises(ValueError, match="X_gallery has 5 features but X has 6"):
        fit(((X, y, group), (X_gallery[:, :5], y_gallery, None)))
    with pytest.raises(ValueError, match="no two people who search"):
        fit(((X[:3], y[:3], None), (X_gallery, y_gallery, None)), template="max")


def test_estimates_speak_of_searches():
    (X, y, group), gallery = make()
    found = fit(((X, y, group), gallery)).estimate(0.02, how="max_min")
    assert "FAR" not in found.reason and "pair" not in found.reason
    frame = found.to_frame()
    assert list(frame["fpir"]) == [0.02]
    closed = np.isin(y, gallery[1])
    roc = fit(((X[closed], y[closed], group[closed]), gallery))
    with pytest.warns(match="No non-mated search: the FPIR is undefined"):
        assert np.isnan(value(roc, threshold=0.5, rate="fpir"))
    assert roc.cmc(1).n_searches == closed.sum()


def test_the_class_keeps_to_scikit_learn():
    data = make()
    (X, y, group), (X_gallery, y_gallery, _) = data
    roc = IdentificationROC(rank=2, n_resamples=20, random_state=0)
    with pytest.raises(NotFittedError):
        roc.estimate(threshold=0.5)
    again = clone(roc)
    assert again.get_params() == roc.get_params() and again is not roc
    kept = X.copy(), X_gallery.copy()
    enrolled = {"X_gallery": X_gallery, "y_gallery": y_gallery}
    assert roc.fit(X, y, group, **enrolled) is roc and roc.n_features_in_ == 6
    assert_array_equal(X, kept[0])
    assert_array_equal(X_gallery, kept[1])
    assert roc.fit(X, y, **enrolled).groups_.size == 0
    with_labels = again.fit(X, face_labels(y, group), **enrolled)
    asked = {"threshold": 0.8, "group": "a"}
    assert value(with_labels, **asked) == value(fit(data, rank=2), **asked)
    for wrong in ({"rank": 0}, {"template": "first"}, {"resample": "pairs"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            clone(roc).set_params(**wrong).fit(X, y, **enrolled)
    with pytest.raises(ValueError, match="NaN"):
        clone(roc).fit(np.full_like(X, np.nan), y, **enrolled)


def first_too_many(best, person, limit):
    """Score of the first alarm that may not be, alarm by alarm."""
    order = np.argsort(-best)
    people, total = np.unique(person, return_counts=True)
    bounds = {}
    for n in [0, *NUMBERS[order.size > NUMBERS], order.size]:
        errors = [np.isin(order[:n], np.flatnonzero(person == p)).sum() for p in people]
        sums = genuine_sums(np.array([errors], dtype=float), total.astype(float))
        bounds[int(n)] = rate_ends(sums, 0.025)[1].item()
    # Where fewer err, the rate is no larger.
    kept = [n for n in bounds if min(bounds[m] for m in bounds if m >= n) <= limit]
    assert max(kept) < 12, "beyond which not all numbers of errors have a bound"
    return best[order[max(kept)]]


def test_a_certificate_is_that_of_a_search_over_all_alarms():
    data = make(noise=0.3)
    people, scores, y, group = slow(data)
    limit, outside, first = 0.28, ~np.isin(y, people), []
    for name in ("a", "b"):
        inside = outside & (group == name)
        first.append(first_too_many(scores[inside].max(axis=1), y[inside], limit))
    roc = fit(data)
    found = roc.certify(limit, fnir=0.9)
    assert found.binding_group == "ab"[int(np.argmax(first))]
    best = np.concatenate([scores[outside].max(axis=1), scores[~outside].ravel()])
    assert max(first) < found.threshold <= best[best > max(first)].min() + 1e-6
    for k, name in enumerate("ab"):
        asked = {"threshold": found.threshold, "group": name}
        assert found.far[k] == value(roc, rate="fpir", **asked)
        assert found.frr[k] == value(roc, rate="fnir", **asked)
    assert (found.far_high <= limit).all()
    own = roc.certify(limit, operating_point="group", groups=["b"])
    assert own.threshold[0] == roc.certify(limit, groups=["b"]).threshold


def test_a_certificate_speaks_of_searches():
    (_, y, group), (_, enrolled, _) = data = make()
    found = fit(data).certify(1e-3)
    assert not found.supported and "an FPIR of 0.1" in found.reason
    # Each person searches three times: by 0 errors in 3.7 / p trials, if they always err together,
    # and if they never do.
    for name, more in found.needed:
        n = np.unique(y[(group == name) & ~np.isin(y, enrolled)]).size
        assert -np.log(0.025) / 3e-3 < n + more < -np.log(0.025) / 1e-3 + 1
    with pytest.raises(ValueError, match="fpir must be a number in"):
        fit(data).certify(0)
    with pytest.raises(ValueError, match="fnir must be a number in"):
        fit(data).certify(0.1, fnir=1)
