"""Searches from score matrices and candidate lists: the full matrix decides what is right."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core import _searches
from skfairfr._core._pair_tiles import score_pairs, unit_rows
from skfairfr.metrics import IdentificationROC
from tests.metrics.test_identification import fit, make
from tests.oracles.searches import rates_of

OPTIONS = {"n_resamples": 20, "random_state": 0}


def matrix_of(data):
    """Scores of all probes with all templates, as the pass over embeddings has them."""
    (X, *_), (X_gallery, *_) = data
    rows = np.concatenate([unit_rows(of, "cosine") for of in (X, X_gallery)])
    left, right = np.divmod(np.arange(len(X) * len(X_gallery)), len(X_gallery))
    return score_pairs(rows, left, right + len(X)).reshape(len(X), -1)


def labels_of(data, with_groups=True):
    (_, y, group), (_, y_gallery, of_gallery) = data
    labels = {"y": y, "y_gallery": y_gallery}
    if with_groups:
        groups = {"sensitive_features": group, "sensitive_features_gallery": of_gallery}
        labels |= groups
    return labels


def fit_matrix(scores, data, **options):
    labels = labels_of(data)
    y, group = labels.pop("y"), labels.pop("sensitive_features")
    return IdentificationROC(**OPTIONS | options).fit_matrix(scores, y, group, **labels)


def listed(scores, y_gallery, most=None, floor=-np.inf, seed=0):
    """Rows of lists cut at a rank and at a score, shuffled; ties are cut in some order."""
    rng, rows = np.random.default_rng(seed), []
    for search, of_search in enumerate(scores):
        order = rng.permutation(of_search.size)
        order = order[np.argsort(-of_search[order], kind="stable")][:most]
        rows += [(search, p) for p in order.tolist() if of_search[p] >= floor]
    rows = np.array(rows)[rng.permutation(len(rows))]
    search, place = rows.T
    return search, y_gallery[place], scores[search, place]


def fit_lists(scores, data, most=None, cut=-np.inf, floor=None, **options):
    lists = listed(scores, data[1][1], most, cut)
    roc = IdentificationROC(**OPTIONS | options)
    return roc.fit_candidates(*lists, **labels_of(data), listed_from=floor)


def truth(scores, data, threshold, rank=1, group=None):
    """FPIR and FNIR from the full matrix, by double loops; templates one by one."""
    (_, y, groups), (_, y_gallery, _) = data
    people = sorted(set(y_gallery))
    best = np.stack([scores[:, y_gallery == p].max(axis=1) for p in people], axis=1)
    inside = None if group is None else groups == group
    return rates_of(best, y, people, best.dtype.type(threshold), rank, inside)


def rates(roc, **question):
    return [roc.estimate(rate=rate, **question).value for rate in ("fpir", "fnir")]


def assert_same(one, other):
    for name, column in vars(one).items():
        assert_array_equal(column, getattr(other, name))


def assert_close(one, other):
    """Equal but for rounding; ends of intervals depend a little on how much is held."""
    assert one.value == pytest.approx(other.value, abs=1e-9, nan_ok=True)
    ends = [(of.low, of.high) for of in (one, other)]
    assert_allclose(*ends, rtol=0.05)
    assert one.supported == other.supported


def thresholds_of(scores):
    return np.quantile(scores, [0.0, 0.1, 0.5, 0.8, 0.95, 0.99, 1.0])


@pytest.mark.parametrize(("template", "images"), [("image", 1), ("max", 3)])
@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("whole", [True, False])
def test_matrix_answers_as_embeddings_do_to_the_digit(
    template, images, rank, whole, monkeypatch
):
    if not whole:  # little is held at first
        monkeypatch.setattr(_searches, "WHOLE", 0)
    data = make(images=images)
    ours = fit_matrix(matrix_of(data), data, template=template, rank=rank)
    theirs = fit(data, template=template, rank=rank)
    threshold = theirs.threshold_at(0.1)
    assert ours.threshold_at(0.1) == threshold
    shares = {"a": 0.5, "b": 0.5}
    for asked in (
        {"threshold": threshold},
        {"threshold": threshold, "group": "b"},
        {"fpir": 0.2, "how": "max_min", "operating_point": "worst_group"},
        {"threshold": threshold, "gallery_size": 7},
        {"fpir": 0.2, "gallery_size": 6, "gallery_shares": shares},
    ):
        for rate in ("fpir", "fnir"):
            assert ours.estimate(rate=rate, **asked) == theirs.estimate(
                rate=rate, **asked
            )
    assert_same(ours.certify(0.4), theirs.certify(0.4))
    assert_same(ours.cmc([1, 5]), theirs.cmc([1, 5]))
    assert_same(ours.fpir_matrix(0.2), theirs.fpir_matrix(0.2))
    assert_same(ours.alarms(0.2), theirs.alarms(0.2))
    # A list of everybody is the same too.
    lists = fit_lists(matrix_of(data), data, template=template, rank=rank)
    assert lists.estimate(fpir=0.2, gallery_size=7) == theirs.estimate(
        fpir=0.2, gallery_size=7
    )
    assert_same(lists.certify(0.4), theirs.certify(0.4))


@pytest.mark.parametrize(
    ("kind", "digits"), [(np.float16, 1), (np.float32, 6), (np.float64, 1)]
)
@pytest.mark.parametrize(("most", "rank"), [(1, 1), (3, 1), (3, 2), (25, 4)])
def test_lists_cut_at_a_rank_decide_every_threshold(kind, digits, most, rank):
    data = make()
    scores = np.round(matrix_of(data), digits).astype(kind)
    roc = fit_lists(scores, data, most, rank=rank)
    for threshold in thresholds_of(scores):
        for group in (None, "a", "b"):
            if rank == most and digits == 1:
                continue  # others may tie with the last
            expected = truth(scores, data, threshold, rank, group)
            found = rates(roc, threshold=threshold, group=group)
            assert_allclose(found, expected, atol=1e-12)


def test_lists_cut_at_a_rank_set_the_thresholds_and_certificates_of_all_scores():
    data = make()
    scores = matrix_of(data)
    whole, lists = fit_matrix(scores, data), fit_lists(scores, data, 3)
    for point, group in (("overall", None), ("worst_group", None), ("group", "a")):
        asked = {"operating_point": point, "group": group}
        assert lists.threshold_at([0.05, 0.5], **asked).tolist() == (
            whole.threshold_at([0.05, 0.5], **asked).tolist()
        )
    for asked in ({"fpir": 0.1}, {"fpir": 0.1, "rate": "fpir", "how": "max_min"}):
        assert_same(lists.estimate(**asked), whole.estimate(**asked))
    assert_same(lists.certify(0.4, fnir=0.9), whole.certify(0.4, fnir=0.9))
    assert_same(lists.cmc([1, 2, 3]), whole.cmc([1, 2, 3]))
    assert_same(lists.alarms(0.2), whole.alarms(0.2))
    assert_same(lists.fpir_matrix(0.2), whole.fpir_matrix(0.2))
    with pytest.raises(ValueError, match=r"ranks go up to 4, .* has 3 people"):
        lists.cmc(4)


@cache
def whole_of(rank):
    """Data, their scores, and estimates from all of them."""
    data = make(seed=2)
    scores = matrix_of(data)
    return data, scores, cache(fit_matrix(scores, data, rank=rank).estimate)


@pytest.mark.parametrize(("rank", "size"), [(1, None), (2, 3), (6, 12)])
@pytest.mark.parametrize(
    ("most", "cut", "stated"),
    [(4, None, False), (None, 0.6, False), (None, 0.6, True), (5, 0.3, False)],
)
def test_what_lists_answer_is_right_and_what_they_do_not_decide_is_an_error(
    rank, size, most, cut, stated
):
    data, scores, of_whole = whole_of(rank)
    cut = -np.inf if cut is None else np.quantile(scores, cut)
    roc = fit_lists(scores, data, most, cut, cut if stated else None, rank=rank)
    n_answered, lowest = 0, np.inf
    for threshold in [*np.unique(scores)[::-613], cut if cut > -1 else 0.0]:
        asked = {"threshold": float(threshold), "gallery_size": size}
        for rate in ("fpir", "fnir"):
            expected = of_whole(rate=rate, **asked)
            try:
                found = roc.estimate(rate=rate, **asked)
            except ValueError as error:
                assert "The lists of candidates suffice from similarity" in str(error)
                assert threshold < error.floor
                continue
            assert_close(found, expected)
            n_answered, lowest = n_answered + 1, min(lowest, threshold)
    assert n_answered
    if stated:
        assert lowest <= cut  # all that is known is answered
    for level in (0.01, 0.1, 0.5, 0.9):
        asked = {"fpir": level, "gallery_size": size}
        try:
            found = roc.estimate(**asked)
        except ValueError as error:
            assert "suffice from" in str(error)
            continue
        assert_close(found, of_whole(**asked))


def test_searches_without_candidates_count():
    labels = {"y": ["a", "b", "x", "z"], "y_gallery": ["a", "b"]}
    roc = IdentificationROC(**OPTIONS).fit_candidates(
        [0, 2], ["a", "a"], [0.9, 0.6], **labels
    )
    assert_array_equal([*roc.n_mated_, *roc.n_nonmated_], [2, 2])
    assert rates(roc, threshold=0.6) == [0.5, 0.5]
    assert roc.alarms(threshold=0.6).n_alarms == [1]
    with pytest.raises(ValueError, match=r"from similarity 0\.6 on \(FPIR 50 %\)"):
        roc.estimate(threshold=0.5)
    with pytest.raises(ValueError, match="longer lists"):
        roc.threshold_at(0.7)
    with pytest.raises(ValueError, match="state it"):
        roc.alarms(threshold=0.5)
    lower = IdentificationROC(**OPTIONS).fit_candidates(
        [0, 2], ["a", "a"], [0.9, 0.6], **labels, listed_from=0.2
    )
    assert rates(lower, threshold=0.2) == [0.5, 0.5]


def test_group_rates_of_alarms_count_searches_without_candidates():
    groups = {
        "sensitive_features": list("ffmm"),
        "sensitive_features_gallery": list("fm"),
    }
    roc = IdentificationROC(**OPTIONS).fit_candidates(
        [0, 2], ["a", "b"], [0.9, 0.6], y=list("wxyz"), y_gallery=["a", "b"], **groups
    )
    found = roc.fpir_matrix(threshold=0.6)
    assert_array_equal(found.fpir, [[0.5, 0.0], [0.0, 0.5]])


def test_certificate_beyond_the_floor_is_an_error_that_states_it():
    data = make()
    scores = matrix_of(data)
    whole, cut = fit_matrix(scores, data), float(np.quantile(scores, 0.97))
    roc, beyond = fit_lists(scores, data, cut=cut, floor=cut), []
    for own in ("overall", "group"):
        for level in (0.3, 0.45, 0.6, 0.99):
            expected = whole.certify(level, operating_point=own)
            try:
                found = roc.certify(level, operating_point=own)
            except ValueError as error:
                assert "suffice from similarity" in str(error)
                beyond.append(np.min(expected.threshold))
                continue
            assert_allclose(found.threshold, expected.threshold)
            assert_allclose(found.far_high, expected.far_high, rtol=0.01)
    assert len(beyond) in range(1, 8) and max(beyond) <= cut


def test_printed_thresholds_are_not_below_the_floor():
    roc = IdentificationROC(**OPTIONS).fit_candidates(
        *([0, 0, 1], ["a", "b", "a"], [0.9, 0.41, 0.62]),
        **{"y": ["w", "x", "y"], "y_gallery": ["a", "b"]},
    )
    engine = roc._systems[None]._engine
    assert engine.shortest(0.5) >= 0.41


def test_names_of_searches_and_types_of_labels_do_not_matter():
    data = make()
    scores = matrix_of(data)
    search, candidate, y_score = listed(scores, data[1][1], 3)
    names = np.array(
        [f"s{k}" for k in np.random.default_rng(0).permutation(len(scores))]
    )
    named = IdentificationROC(**OPTIONS).fit_candidates(
        names[search], candidate.tolist(), y_score, **labels_of(data), names=names
    )
    assert named.estimate(fpir=0.1) == fit_lists(scores, data, 3).estimate(fpir=0.1)


def test_lists_are_compared_with_embeddings_person_by_person():
    data, other = make(), make(noise=1.5)
    ours, theirs = fit_lists(matrix_of(other), other, 5), fit(data)
    expected = fit(other).compare(theirs, fpir=0.2)
    assert ours.compare(theirs, fpir=0.2) == expected
    assert (theirs.compare(ours, fpir=0.2).difference) == pytest.approx(
        -expected.difference
    )
    with pytest.raises(ValueError, match="suffice from"):
        theirs.compare(ours, threshold=0.1, gallery_size=3)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"search": [0, 9, 1]},
            "search has 1 labels, as 9, that are none of the searches",
        ),
        (
            {"candidate": ["a", "q", "b"]},
            "candidate has 1 labels, as 'q', that are none of the peo",
        ),
        (
            {"candidate": ["A", "b", "a"]},
            "candidate and the people enrolled have 1 label in two sp",
        ),
        (
            {"candidate": ["a", "a", "b"]},
            "a person twice in 1 places, first 'a' for sea",
        ),
        ({"y_score": [0.1, np.nan, 0.2]}, "y_score must be finite, and that of row 1"),
        ({"y_score": [0.1, 0.2]}, "search has 3 rows but y_score has 2"),
        ({"names": ["s", "s", "t"]}, "names has 's' 2 times"),
        ({"names": ["s"]}, "names has 1 rows but y has 3"),
        ({"y": ["A", "x", "b"]}, "y and y_gallery contain 1 label in two spellings"),
        ({"y": ["x", "x", "x"]}, "contains no two people who search"),
        ({"y_gallery": ["a", "a", "b"]}, "enrols one of each person"),
        ({"listed_from": "low"}, "listed_from must be finite"),
    ],
)
def test_lists_that_contradict_themselves_are_errors(changed, words):
    given = {
        "search": [0, 0, 1],
        "candidate": ["a", "b", "a"],
        "y_score": [0.9, 0.2, 0.3],
    }
    given |= {"y": ["a", "x", "b"], "y_gallery": ["a", "b"]}
    with pytest.raises(ValueError, match=words):
        IdentificationROC().fit_candidates(**given | changed)


def test_lists_of_one_length_have_no_floor():
    data = make()
    with pytest.raises(
        ValueError, match=r"listed_from means .* 180 of 180 searches have 6"
    ):
        fit_lists(matrix_of(data), data, 6, floor=-1.0)


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], "those of search 0 are not"),
        ([["a", "b"], ["c", "d"]], "scores must be numbers"),
        ([[1.0, 0.0]], "y has 2 rows but scores has 1"),
        ([[1.0], [0.0]], "y_gallery has 2 rows but the columns of scores has 1"),
    ],
)
def test_matrices_that_do_not_fit_are_errors(scores, words):
    with pytest.raises(ValueError, match=words):
        IdentificationROC().fit_matrix(scores, ["a", "x"], y_gallery=["a", "b"])
    with pytest.raises(ValueError, match="'mean' is of embeddings"):
        IdentificationROC(template="mean").fit_matrix(
            np.eye(2), ["a", "x"], y_gallery=["a", "b"]
        )


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("most", [2, 6])
def test_lists_of_templates_count_people(most, rank):
    """Several of a person's templates may fill a list: others are then fewer than rows."""
    data = make(seed=4, images=3, noise=0.7)
    scores = matrix_of(data)
    roc = fit_lists(scores, data, most, template="max", rank=rank)
    n_answered = 0
    for threshold in [*thresholds_of(scores), 0.9, 0.97]:
        try:
            found = rates(roc, threshold=threshold)
        except ValueError as error:
            assert threshold < error.floor
            continue
        assert_allclose(found, truth(scores, data, threshold, rank), atol=1e-12)
        n_answered += 1
    assert n_answered
