"""Bad data get an error that names the argument, the value and the remedy."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.preprocessing import StandardScaler

from skfairfr import IdentityKFold, SimilarityROC, face_labels
from skfairfr.metrics import (
    IdentificationROC,
    ReversedScoresWarning,
    equal_error_rate,
)
from skfairfr.report import audit
from skfairfr.utils import ArgumentError
from tests.metrics.designs import GROUP, IDENTITY, X, unfitted

UNKNOWN = {
    "None": np.full(15, None),
    "NaN": np.full(15, np.nan),
    "objects": np.full(15, np.nan, dtype=object),
}


@pytest.mark.parametrize("unknown", UNKNOWN)
@pytest.mark.parametrize("known_side", [0, 1])
def test_unknown_groups_of_a_whole_side_count_overall_and_in_no_group(
    known_side, unknown
):
    groups = [UNKNOWN[unknown]] * 2
    groups[known_side] = GROUP[:15]
    sides = {"X_reference": X[15:], "y_reference": IDENTITY[15:]}
    roc = unfitted().fit(
        X[:15], IDENTITY[:15], groups[0],
        **sides, sensitive_features_reference=groups[1],
    )  # fmt: skip
    assert roc.groups_.tolist() == ["a", "b"]
    apart = IDENTITY[:15, None] != IDENTITY[15:]
    assert roc.n_impostor_.tolist() == [apart.sum(), 0, 0]
    assert roc.n_genuine_.tolist() == [(~apart).sum(), 0, 0]
    without = unfitted().fit(X[:15], IDENTITY[:15], **sides)
    assert roc.estimate(0.2) == without.estimate(0.2)
    with pytest.warns(UndefinedMetricWarning, match="No genuine pair in the group"):
        assert np.isnan(roc.estimate(0.2, group="a").value)


def test_unknown_groups_of_both_sides_are_no_groups():
    roc = unfitted().fit(
        X[:15], IDENTITY[:15], UNKNOWN["None"],
        X_reference=X[15:], y_reference=IDENTITY[15:],
        sensitive_features_reference=UNKNOWN["NaN"],
    )  # fmt: skip
    assert roc.groups_.size == 0


@pytest.mark.parametrize("ids", [2**60 + 100 * IDENTITY, IDENTITY])
def test_identities_of_two_sides_keep_their_values_whatever_their_types(ids):
    shifted = X + 0.01
    same = unfitted().fit(X, ids, X_reference=shifted, y_reference=ids)
    mixed = unfitted().fit(
        X, ids, X_reference=shifted, y_reference=ids.astype(np.uint64)
    )
    assert mixed.identities_.size == same.identities_.size
    assert mixed.estimate(0.1).value == same.estimate(0.1).value


@pytest.mark.parametrize("scale", [1e160, 1e-170])
def test_the_length_of_rows_does_not_matter_however_extreme(scale):
    plain, scaled = (unfitted().fit(X * s, IDENTITY).estimate(0.2) for s in (1, scale))
    assert scaled == plain


@pytest.mark.parametrize("similarity", ["as-norm", None, np.dot, 1])
def test_what_is_no_similarity_is_told_how_to_make_one(similarity):
    words = "^similarity must be 'cosine', 'dot' or a fitted comparator, got"
    for fit in (
        lambda: unfitted(similarity=similarity).fit(X, IDENTITY),
        lambda: unfitted(similarity=similarity).fit_pairs([0.1, 0.2], [1, 2], [1, 3]),
        lambda: audit(X, IDENTITY, IDENTITY % 2, similarity=similarity),
    ):
        with pytest.raises(ArgumentError, match=words) as caught:
            fit()
        assert caught.value.remedy.startswith("Fit one of skfairfr.comparators")
        assert "CohortNormalizer().fit(" in caught.value.remedy


def test_a_transformer_is_no_similarity_and_goes_before():
    for fitted in (StandardScaler(), StandardScaler().fit(X)):
        with pytest.raises(
            ArgumentError, match=r"got StandardScaler\(\)\. Give what its"
        ):
            unfitted(similarity=fitted).fit(X, IDENTITY)


def test_a_failed_fit_leaves_nothing_of_an_earlier_one():
    roc = unfitted().fit(X, IDENTITY)
    with pytest.raises(ValueError, match="no two people"):
        roc.fit(X, np.zeros(30))
    assert not hasattr(roc, "groups_") and not hasattr(roc, "_engine")


def scored(n_pairs, shift):
    """Scores and people of pairs, half of them genuine, which lie ``shift`` higher."""
    people = np.arange(n_pairs)
    genuine = people % 2 == 0
    scores = np.random.default_rng(0).normal(size=n_pairs) + shift * genuine
    return scores, people, np.where(genuine, people, -people)


# Scores that differ by half a standard deviation make an area of .64, by a tenth .53.
@pytest.mark.parametrize(
    ("n_pairs", "shift", "scale", "words", "code"),
    [
        (100, -2.0, 1, "If scores are distances", "reversed_scores"),
        (4000, -0.1, 1, "hardly separate", "uninformative_scores"),
        (4000, 0.0, 1, "hardly separate", "uninformative_scores"),
        (4000, 0.1, 1, "hardly separate", "uninformative_scores"),
        (100, 0.0, 0, "All scores are equal", "equal_scores"),
    ],
)
def test_scores_that_do_not_tell_are_warned_of(n_pairs, shift, scale, words, code):
    scores, *people = scored(n_pairs, shift)
    with pytest.warns(ReversedScoresWarning, match=words) as caught:
        unfitted().fit_pairs(scale * scores + 0.5, *people)
    assert caught[0].message.code == code


def test_noise_of_a_group_is_not_warned_of_if_another_is_told_apart():
    """Labels that belong to other rows would leave no group with good scores."""
    scores, *people = scored(4000, 3.0)
    groups = np.where(np.arange(4000) < 3600, "f", "m")
    scores[groups == "f"] = np.random.default_rng(1).normal(2, 9, 3600)
    groups = {"sensitive_features": groups}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReversedScoresWarning)
        unfitted().fit_pairs(scores, *people, **groups)
    with pytest.warns(ReversedScoresWarning, match="hardly separate"):
        unfitted().fit_pairs(scores, *people)


@pytest.mark.parametrize(("n_pairs", "shift"), [(100, 2.0), (4000, 0.5), (4, -9.0)])
def test_similarities_weak_ones_and_a_handful_of_pairs_are_not(n_pairs, shift):
    assert unfitted().fit_pairs(*scored(n_pairs, shift)).identities_.size


def test_without_a_genuine_pair_nothing_is_compared():
    roc = unfitted().fit_pairs([0.1, 0.2], [1, 2], [3, 4], non_mated_only=True)
    assert roc.groups_.size == 0


@pytest.mark.parametrize(
    ("other", "argument"), [([1, 2, 3], "mated_only"), ([4, 5, 6], "non_mated_only")]
)
def test_pairs_of_one_kind_alone_are_refused_unless_stated(other, argument):
    with pytest.raises(ValueError, match=f"{argument} was not given, and all 3 pairs"):
        unfitted().fit_pairs([0.1, 0.2, 0.3], [1, 2, 3], other)
    roc = unfitted().fit_pairs([0.1, 0.2, 0.3], [1, 2, 3], other, **{argument: True})
    assert roc.identities_.size == np.unique([1, 2, 3, *other]).size


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ann", "Ann"),
        ("7", "007"),
        ("3", "3.0"),
        ("-3.00", "-03"),
        ("jos\u00e9", "jose\u0301"),
        ("stra\u00dfe", "STRASSE"),
        ("\uff11", "1"),
        ("Id_003", "id3"),
        ("ann lee", "ann_lee"),
        ("ann  lee", "ann lee"),
        ("ann-lee", "annlee"),
        ("1-12", "1_12"),
        ("face7.JPG", "face7"),
        ("Id\u2013003", "Id-003"),
        ("img/ann", "Ann"),
        ("C:\\img\\ann.png", "ann"),
        ("p.1", "p_1"),
        ("p.1.jpg", "p-1"),
        ("2020.01.02", "2020-01-02"),
        ("\N{CYRILLIC CAPITAL LETTER A}nn", "Ann"),
        ("\N{GREEK CAPITAL LETTER RHO}7", "p7"),
        ("\N{LATIN CAPITAL LETTER L WITH STROKE}ucja", "Lucja"),
    ],
)
def test_people_spelled_otherwise_on_the_other_side_are_refused(one, other):
    sides = ["b", "c", one], ["b", "d", other]
    with pytest.raises(
        ValueError, match="and identity_2 contain 1 label in two spellings"
    ) as error:
        unfitted().fit_pairs([0.9, 0.2, 0.8], *sides)
    assert repr(one) in str(error.value) and repr(other) in str(error.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1-12", "11-2"),
        ("1-12", "112"),
        ("s1_1", "s11"),
        ("-5", "5"),
        ("3.05", "3.5"),
        ("ann", "anne"),
        # pandas and R make m.7 of an eighth person called m, and m7 may be another.
        ("m.7", "m7"),
        ("1/01", "2/01"),
        # One label alone with a beginning: a code, and not a way of writing.
        ("7", "id7"),
    ],
)
def test_people_whose_labels_differ_in_more_than_spelling_are_two(one, other):
    sides = ["b", "b", one], ["b", "c", other]
    fitted = unfitted().fit_pairs([0.9, 0.2, 0.8], *sides)
    assert fitted.n_genuine_.tolist()[0] == 1 and fitted.n_impostor_.tolist()[0] == 2


def id_of_some(number):
    """The label of a person, that of every fourth with a beginning."""
    return f"S{number}" if number % 4 == 0 else f"{number}"


@pytest.mark.parametrize(
    ("write", "shown"),
    [
        ("id{}".format, "'12' and 'id12'"),
        ("id_{:05}".format, "'12' and 'id_00012'"),
        ("{}L".format, "'12' and '12L'"),
        (lambda k: f"{k}_{k % 3}", "'12' and '12_0'"),
        (id_of_some, "'12' and 'S12'"),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_people_with_a_beginning_or_an_ending_on_one_side_are_refused(
    write, shown, side
):
    numbers = np.repeat(np.arange(10, 17), 7), np.tile(np.arange(10, 17), 7)
    sides = [[str(k) for k in both.tolist()] for both in numbers]
    scores = np.random.default_rng(0).normal(size=49)
    assert unfitted().fit_pairs(scores, *sides).identities_.size == 7
    # Of half of the people the label is also written alike, as in another session.
    both = numbers[side].tolist()
    sides[side] = [write(k) if n % 2 else str(k) for n, k in enumerate(both)]
    with pytest.raises(ValueError, match="identity_1 and identity_2 contain") as error:
        unfitted().fit_pairs(scores, *sides)
    assert shown in str(error.value) and "may be one person or two" in str(error.value)


def test_people_of_one_side_with_a_beginning_that_others_have_too_are_taken():
    """F of women: that men with the numbers of some of them are on the other side is chance."""
    women = [f"F{k}" for k in range(20)]
    first, second = [*women[4:], "0", "1", "2"], [*women[4:], "F0", "F1", "F2"]
    scores = -np.arange(19.0)
    fitted = unfitted().fit_pairs(scores, first, second)
    assert fitted.identities_.size == 22


def test_people_with_a_beginning_in_a_gallery_or_a_domain_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.arange(40) // 2
    texts, others = y.astype(str), [f"id{k}" for k in y[::2]]
    gallery = {"X_gallery": rng.normal(size=(20, 4)), "y_gallery": others}
    with pytest.raises(
        ValueError, match="y and y_gallery contain 20 labels that differ"
    ):
        IdentificationROC().fit(X, texts, **gallery)
    reference = {n.replace("gallery", "reference"): v for n, v in gallery.items()}
    with pytest.raises(ValueError, match="y and y_reference contain 20 labels"):
        SimilarityROC().fit(X, texts, **reference)
    both = [f"{k}_scan" if n % 2 else f"{k}" for n, k in enumerate(y)]
    with pytest.raises(ValueError, match="y of 'd' and y of 's' contain 20 labels"):
        SimilarityROC().fit(X, both, domain=["d", "s"] * 20)


@pytest.mark.parametrize(
    "other", [["a ", " b", "c"], ["a\t", "b", "c\u00a0"], np.array(["a ", "b", "c"])]
)
def test_spaces_around_labels_change_nothing(other):
    first, scores = ["a", "b", "d"], [0.9, 0.8, 0.1]
    plain_, spaced = (
        unfitted().fit_pairs(
            *(scores, first, labels),
            sensitive_features_1=["f ", "m", "f"],
            sensitive_features_2=["f", " m", "f"],
        )
        for labels in (["a", "b", "c"], other)
    )
    assert spaced.identities_.tolist() == plain_.identities_.tolist()
    assert spaced.groups_.tolist() == ["f", "m"]


def half_with_diagonal(matrix):
    return matrix[np.triu_indices(len(matrix))]


def other_half(matrix):
    return matrix[np.tril_indices(len(matrix))]


@pytest.mark.parametrize("scale", ["cosine", "distance", "dot"])
@pytest.mark.parametrize("cells", [np.ravel, half_with_diagonal, other_half])
def test_matrix_with_its_diagonal_is_refused(cells, scale):
    rng = np.random.default_rng(0)
    y = np.arange(24) // 2
    X, other = rng.normal(size=(12, 8))[y] + rng.normal(size=(2, 24, 8))
    if scale != "dot":
        X, other = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (X, other))
    scores, of_sessions = X @ X.T, X @ other.T
    if scale == "distance":
        scores = np.sqrt(2 - 2 * np.minimum(scores, 1)).round(6)
        scores, of_sessions = -scores, -np.sqrt(2 - 2 * of_sessions)
    left, right = (cells(place) for place in np.indices(scores.shape))
    found = cells(scores)
    calls = [
        lambda v, one, other: unfitted().fit_pairs(v, y[one], y[other]),
        lambda v, one, other: equal_error_rate(y[one] == y[other], v),
    ]
    for call in calls:
        call(cells(of_sessions), left, right)
        call(*(v[left != right] for v in (found, left, right)))
        # Lengths differ, so that the diagonal of products is no largest score.
        if scale != "dot" or cells is np.ravel:
            with pytest.raises(ArgumentError, match="of 24 images with each other"):
                call(found, left, right)


def test_perfect_matrix_of_two_sessions_is_taken():
    scores = np.where(np.eye(9) > 0, 0.9, 0.1) + np.linspace(0, 0.05, 81).reshape(9, 9)
    left, right = (place.ravel() for place in np.indices(scores.shape))
    assert unfitted().fit_pairs(scores.ravel(), left, right).n_genuine_[0] == 9


def test_identities_that_a_float_cannot_hold_apart_are_refused():
    ids = np.array([2**24 + 2, 2**24 + 4, 5], dtype=np.float32)
    with pytest.raises(ValueError, match="16777220 as float32, which has the same"):
        unfitted().fit_pairs([0.9, 0.2, 0.1], ids, ids[[0, 0, 1]])
    ids = ids.astype(np.float64)
    assert (
        unfitted().fit_pairs([0.9, 0.2, 0.1], ids, ids[[0, 0, 1]]).identities_.size == 3
    )


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("other", [np.int64, np.float64])
def test_one_side_that_a_float_cannot_hold_apart_is_refused(other, side):
    """Beside integers or wider floats, with which it would be joined in their type."""
    ids = np.array([2**24 + 1, 2**24 + 3, 5])
    sides = [ids.astype(other), ids[[0, 1, 1]].astype(other)]
    assert unfitted().fit_pairs([0.9, 0.8, 0.1], *sides).n_genuine_[0] == 2
    sides[side] = sides[side].astype(np.float32)
    with pytest.raises(ValueError, match=f"identity_{side + 1} contains .* as float32"):
        unfitted().fit_pairs([0.9, 0.8, 0.1], *sides)


def one_sided(rng, errors=0):
    """Impostor and genuine pairs with the group of each image, and some labels wrong."""
    first, second = rng.integers(0, 40, (2, 2000))
    second[:400] = first[:400]
    wrong = np.zeros(2000, dtype=bool)
    wrong[rng.choice(2000, errors, replace=False)] = True
    groups = ((first % 2) ^ wrong, (second % 2) ^ wrong)
    return rng.normal(size=2000), first, second, groups


@pytest.mark.parametrize("errors", [0, 3, 40])
@pytest.mark.parametrize(("side", "name"), [(0, "first"), (1, "second")])
def test_a_label_of_one_image_is_refused_as_that_of_both(errors, side, name):
    scores, first, second, groups = one_sided(np.random.default_rng(0), errors)
    with pytest.raises(ValueError, match=f"seems to be that of the {name} image"):
        unfitted().fit_pairs(scores, first, second, sensitive_features=groups[side])


@pytest.mark.parametrize("errors", [0, 1, 40])
def test_a_label_of_both_images_with_errors_is_taken(errors):
    scores, first, second, groups = one_sided(np.random.default_rng(1), errors)
    kept = first % 2 == second % 2
    roc = unfitted().fit_pairs(
        scores[kept], first[kept], second[kept], sensitive_features=groups[0][kept]
    )
    assert roc.groups_.tolist() == [0, 1]


def test_two_labels_in_a_row_are_refused():
    pandas = pytest.importorskip("pandas")
    X, y, groups = (
        np.random.default_rng(0).normal(size=(12, 4)),
        np.arange(12) // 2,
        ["f", "m"] * 6,
    )
    index = pandas.MultiIndex.from_arrays([y, groups])
    series = pandas.Series(list(index))
    score = np.arange(11.0)
    for call in (
        lambda: SimilarityROC().fit(X, series),
        lambda: SimilarityROC().fit(X, y, index),
        lambda: SimilarityROC().fit(X, face_labels(index)),
        lambda: SimilarityROC().fit_pairs(score, index[1:], index[:-1]),
        lambda: IdentityKFold(2).split(X, series).__next__(),
    ):
        with pytest.raises(
            ValueError, match=r"several labels in a row, as \(.*face_labels"
        ):
            call()


def test_people_of_pairs_given_as_groups_are_refused():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 40, (2, 400))
    names = np.array([f"p{k}" for k in range(40)])
    both = {f"sensitive_features_{k}": names[n] for k, n in ((1, one), (2, other))}
    with pytest.raises(ValueError, match="contains 40 groups, and identity_1 2 people"):
        SimilarityROC().fit_pairs(rng.random(400), one % 2, other % 2, **both)
