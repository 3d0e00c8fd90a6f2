"""Data tell who stands behind their pairs; a file decides which kind they are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skfairfr.metrics import SimilarityROC
from skfairfr.report import EmbeddingData, PairData, audit_pairs, read_data
from skfairfr.report.sections._method import cross
from skfairfr.utils import ArgumentError
from tests.refusals import refusal

Y = np.array(["a", "a", "a", "b", "b", "c"])
COLUMNS = {
    "gender": np.array(["f", "f", "f", "m", "m", None], dtype=object),
    "age": np.array([1.0, 1.0, 1.0, 2.0, np.nan, 2.0]),
}
X = np.random.default_rng(0).normal(size=(6, 3))


def listed(**columns):
    left, right = np.triu_indices(len(Y), 1)
    both = {name: (c[left], c[right]) for name, c in (COLUMNS | columns).items()}
    scores = (X @ X.T)[left, right]
    return PairData(scores, (Y[left], Y[right]), both, (left, right))


@pytest.mark.parametrize("rows", [np.array([3, 0]), np.arange(15) % 4 == 1])
def test_rows_of_pairs_are_taken_from_tuples_and_arrays_alike(rows):
    data = listed()
    stacked = replace(data, identities=np.array(data.identities))
    for one in (data.take(rows), stacked.take(rows)):
        for side in (0, 1):
            assert one.identities[side].tolist() == data.identities[side][rows].tolist()
        assert one.y_score.tolist() == data.y_score[rows].tolist()


def test_genuine_pairs_of_each_person():
    assert EmbeddingData(X, Y).genuine_pairs().tolist() == [3, 1, 0]
    assert listed().genuine_pairs().tolist() == [3, 1, 0]
    domain = np.array(["s", "s", "d", "s", "d", "d"])
    assert EmbeddingData(X, Y, {}, domain).genuine_pairs().tolist() == [2, 1, 0]


@pytest.mark.parametrize("data", [EmbeddingData(X, Y, COLUMNS), listed()])
def test_combinations_are_unknown_where_one_attribute_is(data):
    labels = data.groups(("gender", "age"))
    assert labels.values.tolist() == ["f & 1.0", "m & 2.0"]
    assert np.unique(data.images()[labels.codes < 0]).size == 2
    assert np.unique(data.people()).size == 3


@pytest.mark.parametrize("data", [EmbeddingData(X, Y, COLUMNS), listed()])
@pytest.mark.parametrize("attributes", [(), ("gender",), ("gender", "age")])
def test_fit_hands_over_the_groups(data, attributes):
    roc = data.fit(SimilarityROC(), attributes)
    known = data.groups(attributes).values.tolist() if attributes else []
    assert roc.groups_.tolist() == known


def test_repeats_are_the_rows_after_the_first_of_equal_ones():
    rows = np.array([0, 1, 0, 2, 1, 0])
    for values in (X[rows], np.asfortranarray(X[rows]), X[rows].tolist()):
        repeated, words = EmbeddingData(values, Y, COLUMNS).repeats()
        assert repeated.tolist() == [False, False, True, False, True, True]
        # Row 4 is of b and row 1 of a, row 5 of c and row 0 of a.
        assert words.startswith("3 of 6 images") and "2 of them as one of" in words


def test_failures_repeat_no_other_row():
    rows, failed = np.array([0, 0, 0, 2, 0, 0]), np.array([1, 0, 1, 0, 0, 1]) == 1
    repeated, words = EmbeddingData(X[rows], Y, failed=failed).repeats()
    assert repeated.tolist() == [False] * 4 + [True, False]
    assert words.startswith("1 of 6 images") and "1 of them as one of" in words
    names = (["i"] * 6, ["j"] * 6)
    pairs = PairData(np.arange(6.0), (Y, Y), {}, names, failed=failed)
    assert pairs.repeats()[0].tolist() == [False] * 3 + [True, True, False]
    # Without names, pairs of the same two people with the same score.
    alike = PairData(np.zeros(6), (["a"] * 6, ["a"] * 6), failed=failed)
    assert not (alike.repeats()[0] & failed).any()


def test_pairs_repeat_in_either_order_and_only_where_images_are_named():
    images = ["i", "j", "k", "j", "i"], ["j", "i", "i", "k", "j"]
    pairs = PairData(np.arange(5.0), (["a"] * 5, ["a"] * 5), {}, images)
    repeated, words = pairs.repeats()
    assert repeated.tolist() == [False, True, False, False, True]
    assert words.startswith("2 of 5 pairs")
    assert pairs.take(~repeated).image_names[1].tolist() == ["j", "i", "k"]
    assert not PairData(np.arange(5.0), (["a"] * 5, ["a"] * 5)).repeats()[0].any()


def test_labels_of_both_sides_may_differ_in_type():
    data = PairData([0.1], (["a"], ["b"]), {"g": (["f"], [None])})
    assert data.groups(("g",)).codes.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (EmbeddingData(X, Y), ""),
        (
            EmbeddingData(X[[0, 3, 5]], Y[[0, 3, 5]]),
            "No person has two images, so",
        ),
        (EmbeddingData(X, Y, {}, Y == "a"), "No person has an image in each domain"),
        (listed(), ""),
        (PairData([0.1], (["a"], ["b"])), "No pair is of two images of one person"),
    ],
)
def test_whether_an_frr_can_be_measured(data, words):
    lack = data.lack_of_pairs()
    assert words in lack
    assert bool(words) == ("this is an audit of the FMR alone" in lack)


# ---- cells ---------------------------------------------------------------------------

CROSSED = np.array([1, 1, 2, 3, 3])
CROSSED_COLUMNS = {
    "gender": np.array(["f", "f", "m", "m", "m"]),
    "origin": np.array(["x", "x", "y", "y", None], dtype=object),
}


def test_people_and_images_in_each_cell():
    crossing = cross(
        EmbeddingData(np.eye(5), CROSSED, CROSSED_COLUMNS), ("gender", "origin")
    )
    found = {c.groups: (c.n_identities, c.n_images) for c in crossing.cells}
    assert found == {
        ("f", "x"): (1, 2),
        ("f", "y"): (0, 0),
        ("f", None): (0, 0),
        ("m", "x"): (0, 0),
        ("m", "y"): (2, 2),
        ("m", None): (1, 1),
    }


def test_scored_pairs_count_each_person_once():
    pairs = {"g": (["f", "f"], ["f", "m"]), "h": (["x", "x"], ["x", "x"])}
    data = PairData([0.9, 0.1], ([1, 1], [1, 2]), pairs)
    cells = cross(data, ("g", "h")).cells
    assert [(c.n_identities, c.n_images) for c in cells] == [(1, None), (1, None)]


# ---- files ---------------------------------------------------------------------------

PAIRS = "identity_1,identity_2,score,gender_1,gender_2\na,a,0.9,f,f\na,b,0.1,f,m\n"


@pytest.fixture
def files(tmp_path):
    columns = {"gender": ["f", "f", "m"], "place": ["x", "y", "y"]}
    faces, pairs = tmp_path / "faces.npz", tmp_path / "pairs.csv"
    np.savez(faces, embedding=np.eye(3), identity=[1, 1, 2], **columns)
    pairs.write_text(PAIRS)
    return {"faces": str(faces), "pairs": str(pairs)}


def test_embeddings(files):
    data = read_data(files["faces"], "gender", domain="place")
    assert isinstance(data, EmbeddingData)
    assert data.columns["gender"].tolist() == ["f", "f", "m"]
    assert data.domain.tolist() == ["x", "y", "y"]


def test_scored_pairs(files):
    data = read_data(files["pairs"], ["gender"], distance=True)
    assert isinstance(data, PairData)
    assert data.y_score.tolist() == [-0.9, -0.1]
    assert [side.tolist() for side in data.columns["gender"]] == [
        ["f", "f"],
        ["f", "m"],
    ]


@pytest.mark.parametrize(
    ("name", "attribute", "options", "argument", "words"),
    [
        ("faces", "age", {}, "attributes", "'age'"),
        ("faces", "gender", {"domain": "lens"}, "domain", "'lens'"),
        ("faces", "gender", {"distance": True}, "distance", "leave it out"),
        ("faces", "gender", {"score": "s"}, "score", "leave it out"),
        ("pairs", "age", {}, "attributes", "name one of them"),
        ("faces", "gendr", {}, "attributes", "Did you mean 'gender'?"),
        ("faces", "gender,place", {}, "attributes", "-a gender -a place"),
        ("pairs", "gender", {"domain": "x"}, "domain", "leave it out"),
        ("pairs", "gender", {"labels": "x"}, "labels", "leave it out"),
    ],
)
def test_unusable(files, name, attribute, options, argument, words):
    with refusal(argument, words):
        read_data(files[name], [attribute], **options)


@pytest.mark.parametrize("side", ["gender_1", "gender_2"])
def test_the_labels_of_one_image_are_no_attribute(files, side):
    with pytest.raises(ArgumentError, match="give 'gender'") as caught:
        read_data(files["pairs"], side)
    assert (caught.value.argument, caught.value.value) == ("attributes", side)


def test_a_column_that_ends_as_those_of_one_image_may_be_of_both(files):
    text = PAIRS.replace(",gender_2", ",place")
    Path(files["pairs"]).write_text(text)
    data = read_data(files["pairs"], "gender_1")
    assert [side.tolist() for side in data.columns["gender_1"]] == [["f", "f"]] * 2


def test_a_comparison_that_failed_is_no_reason_to_drop_the_pair(files):
    Path(files["pairs"]).write_text(PAIRS.replace("0.9", ""))
    for distance in (False, True):
        with refusal(
            "score",
            "is missing or infinite in 1 of 2 rows",
            "(failures, --failures): reject",
        ):
            read_data(files["pairs"], "gender", distance=distance)


def test_a_file_is_remembered_with_its_notes(files):
    data = read_data(Path(files["faces"]), "gender", domain="place")
    assert data.reading.path == files["faces"]
    assert (data.reading.options["domain"], data.reading.options["labels"]) == (
        "place",
        None,
    )
    assert data.reading.notes == ()


def test_what_looks_like_a_mistake_in_a_file_is_no_warning(files, tmp_path):
    arrays = dict(np.load(files["faces"]))
    arrays["gender"] = np.array(["f", "f", "nan"])
    np.savez(tmp_path / "other.npz", **arrays)
    (note,) = read_data(tmp_path / "other.npz", "gender").reading.notes
    assert "'nan' in 'gender' (1 row) is taken as a label" in note


def test_names_of_one_side_alone_are_refused_by_both_names():
    data = ([0.9, 0.1, 0.4], ([1, 1, 2], [1, 2, 2]), (["a"] * 3, ["b"] * 3))
    with pytest.raises(ValueError, match="image_2 is missing while image_1 was given"):
        audit_pairs(*data, images=(["x", "y", "z"], None))


def test_metadata_reach_attempts_and_pairs_without_people(files, tmp_path):
    (tmp_path / "people.csv").write_text("person,sex\n1,f\n2,m")
    np.savez(tmp_path / "x.npz", X=X, y=[1, 1, 1, 2, 2, 2], fte=["", "fta"] * 3)
    options = {"metadata": tmp_path / "people.csv", "fte": "fte"}
    data = read_data(tmp_path / "x.npz", "sex", **options)
    assert data.columns["sex"].tolist() == ["f", "f", "m"]
    assert data.attempts.columns["sex"].tolist() == [*"fffmmm"]
    (tmp_path / "images.csv").write_text("image,sex\na,f\nb,m\nc,f")
    (tmp_path / "pairs.csv").write_text("genuine,score,p,q\n1,.9,a,c\n0,.2,b,a")
    with pytest.raises(ArgumentError, match=r"about people, and the data.*utt2spk"):
        read_data(tmp_path / "pairs.csv", "sex", metadata=tmp_path / "people.csv")
    np.save(tmp_path / "scores.npy", np.arange(3.0))
    with pytest.raises(ArgumentError, match=r"list of the pairs \(--trials\)"):
        read_data(tmp_path / "scores.npy", "sex", labels=tmp_path / "images.csv")
    options = {"metadata": tmp_path / "images.csv", "image_1": "p", "image_2": "q"}
    data = read_data(tmp_path / "pairs.csv", "sex", **options)
    assert [side.tolist() for side in data.columns["sex"]] == [["f", "m"], ["f", "f"]]


@pytest.mark.parametrize("form", ["trials", "matrix"])
def test_failed_comparisons_of_lists_and_matrices_count_as_asked(tmp_path, form):
    (tmp_path / "labels.csv").write_text("y,image\n1,a\n1,b\n2,c\n2,d")
    broken = X[:4].copy()
    broken[3] = np.nan
    np.savez(tmp_path / "x.npz", X=broken, y=[1, 1, 2, 2], image=[*"abcd"])
    (tmp_path / "trials.txt").write_text("a b\na c\na d\nb c\nb d\nc d")
    np.save(tmp_path / "m.npy", broken @ broken.T)
    path, option = {
        "trials": ("x.npz", {"trials": tmp_path / "trials.txt"}),
        "matrix": ("m.npy", {"probes": tmp_path / "labels.csv", "image": "image"}),
    }[form]
    with refusal(
        "score", "is missing or infinite in 3 of 6 rows", "(failures, --failures)"
    ):
        read_data(tmp_path / path, **option)
    data = read_data(tmp_path / path, **option, failures="reject")
    assert data.failed.tolist() == [False, False, True, False, True, True]
    assert len(read_data(tmp_path / path, **option, failures="report").y_score) == 3
