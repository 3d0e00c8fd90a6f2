"""Lists of trials, score files of bob and matrices of scores give the pairs that they list."""

import gzip
from itertools import combinations, product

import numpy as np
import pytest

from skfairfr.datasets import load_pairs, load_score_matrix, load_trials
from skfairfr.datasets._texts import LFW, PAIR_LISTS, Cells, recognised
from tests.refusals import refusal

X = np.random.default_rng(0).normal(size=(5, 4)) * [[1], [9], [1e-3], [1], [2]]
Y = np.array(["ann", "ann", "bob", "bob", "cleo"])
SEX = np.array(["f", "f", "m", "", "f"])
NAMES = np.array(["007", "7", "a/b.wav", "d", "1.50"])


@pytest.fixture
def voices(tmp_path):
    np.savez(tmp_path / "voices.npz", X=X, y=Y, sex=SEX, image=NAMES, other=NAMES[::-1])
    return tmp_path / "voices.npz"


@pytest.fixture
def labels(tmp_path):
    rows = zip(Y, SEX, NAMES, strict=True)
    lines = ["identity,sex,image", *map(",".join, rows)]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    return tmp_path / "labels.csv"


def cosine(i, j):
    return X[i] @ X[j] / np.sqrt((X[i] @ X[i]) * (X[j] @ X[j]))


def read_as(columns, stated=None):
    """The layout of a list with these cells in its columns."""
    known = (*PAIR_LISTS, LFW)
    return recognised([*map(Cells, columns)], known, stated, "trials", "x.txt", "a b")


def listed(tmp_path, *lines, name="trials.txt"):
    (tmp_path / name).write_text("\n".join(lines))
    return tmp_path / name


PAIRS = [(0, 1), (2, 0), (3, 2), (4, 1), (2, 0)]
FORMS = {
    "VoxCeleb": lambda i, j: f"{int(Y[i] == Y[j])} {NAMES[i]} {NAMES[j]}",
    "Kaldi": lambda i, j: f"{NAMES[i]} {NAMES[j]} {'non' * (Y[i] != Y[j])}target",
    "two names": lambda i, j: f"{NAMES[i]}\t {NAMES[j]} ",
    "table": lambda i, j: f"{NAMES[i]},{NAMES[j]}",
}


@pytest.mark.parametrize("form", FORMS)
def test_only_the_listed_pairs_are_compared(voices, tmp_path, form):
    lines = [FORMS[form](i, j) for i, j in PAIRS]
    if form == "table":
        path = listed(tmp_path, "image_1,image_2", *lines, name="trials.csv")
    else:
        path = listed(tmp_path, "", *lines, "")
    data = load_trials(voices, path, columns=["sex"])
    assert data.y_score == pytest.approx([cosine(i, j) for i, j in PAIRS], abs=1e-7)
    left, right = np.transpose(PAIRS)
    for side, rows in ((1, left), (2, right)):
        assert data[f"identity_{side}"].tolist() == Y[rows].tolist()
        assert data[f"image_{side}"].tolist() == NAMES[rows].tolist()
        sexes = [sex or None for sex in SEX[rows]]
        assert data.columns[f"sex_{side}"].tolist() == sexes


def test_a_compressed_list_and_other_names_of_images(voices, tmp_path):
    (tmp_path / "list").write_bytes(gzip.compress(b"\xef\xbb\xbf1 1.50 d\r\n0 7 d\r\n"))
    data = load_trials(voices, tmp_path / "list", image="other")
    assert data.identity_1.tolist() == ["ann", "bob"]


def test_scores_of_a_list_are_taken_as_they_are(voices, labels, tmp_path):
    path = listed(tmp_path, "007 7 -3.5", "7 d 2")
    for source in (voices, labels):
        data = load_trials(source, path, columns=["sex"])
        assert data.y_score.tolist() == [-3.5, 2.0]
        assert data.columns["sex_2"].tolist() == ["f", None]
        assert load_trials(source, path, distance=True).y_score.tolist() == [3.5, -2.0]


def test_names_of_images_stay_as_they_are_written(tmp_path):
    (tmp_path / "labels.csv").write_text("y,image\n1,1.50\n1,2\n2,3")
    path = listed(tmp_path, "1.50 2 7", "2 3 .5")
    with refusal("trials", "may be scores (image_1 image_2 score)", "--layout"):
        load_trials(tmp_path / "labels.csv", path)
    data = load_trials(tmp_path / "labels.csv", path, layout="scores")
    assert data.image_1.tolist() == ["1.50", "2"]


def test_a_file_of_labels_needs_scores(labels, tmp_path):
    with refusal("embedding", "contains no 'embedding'"):
        load_trials(labels, listed(tmp_path, "1 007 7"))
    with refusal("score", "contains no 'score'"):
        load_trials(labels, listed(tmp_path, "1 007 7"), distance=True)
    with refusal(
        "trials", "no 'image_1' and no 'image_2'", "a table calls its columns"
    ):
        load_trials(labels, labels)


def test_a_list_that_contradicts_the_people_is_told(voices, tmp_path):
    path = listed(tmp_path, "0 007 7", "1 7 d", "0 7 1.50")
    with pytest.raises(ValueError, match="contradicts the identities in 2 of 3 pairs"):
        load_trials(voices, path)


def test_images_that_are_not_there_are_listed(voices, tmp_path):
    path = listed(tmp_path, "1 007 p", "0 q r", "0 s 7", "0 p 7")
    with refusal("trials", "lists 4 images ('p', 'q', 'r', …) that", "names '007'"):
        load_trials(voices, path)
    with refusal("trials", "lists 1 image ('x') that"):
        load_trials(voices, listed(tmp_path, "1 007 x"))


def test_images_need_names_of_their_own(voices, tmp_path):
    path = listed(tmp_path, "1 007 7")
    with refusal("image", "contains no 'photo'"):
        load_trials(voices, path, image="photo")
    with refusal("image", "'y' contains 'ann' several times"):
        load_trials(voices, path, image="y")
    with refusal("image", "'sex' is missing in data row 4"):
        load_trials(voices, path, image="sex")


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_only_what_is_compared_needs_a_direction(tmp_path, value):
    broken = X.copy()
    broken[2] = value
    np.savez(tmp_path / "faces.npz", X=broken, y=Y, image=NAMES)
    path = listed(tmp_path, "1 007 7", "0 7 a/b.wav")
    data = load_trials(tmp_path / "faces.npz", path)
    assert np.isnan(data.y_score).tolist() == [False, True]


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["10", "ab", "cd"], "y_true image_1 image_2"),
        (["10", "01", [".5", "1"]], "image_1 image_2 score"),
        (["10", ["2001", "7"], ["11", "7"]], "y_true image_1 image_2"),
        (["ab", "cd", "10", [".5", "1"]], "image_1 image_2 y_true score"),
        (["ab", "cd", ["1.5", "2"], "10"], "image_1 image_2 score y_true"),
        (["10", "ab", "cd", ["1.5", "2"]], "y_true image_1 image_2 score"),
        (["ab", "cd", ["57", "-3"], ["target"]], "image_1 image_2 score y_true"),
        (["ab", "cd", ["Target", "nontarget"]], "image_1 image_2 y_true"),
        (["ab", "cd", ["-1e-3", "7"]], "image_1 image_2 score"),
        ([["target"], "a", "b"], "y_true image_1 image_2"),
        (["a", "b", "c", "2"], "identity_1 identity_2 probe_label score"),
        (["a", "p", "b", "q", "2"], "identity_1 image_1 identity_2 image_2 score"),
    ],
)
def test_forms_are_told_by_their_words(columns, names):
    assert [*read_as(columns).columns] == names.split()


@pytest.mark.parametrize("columns", ["a", "abcdef", ["ab", "cd", "ef"]])
def test_other_forms_are_refused(columns):
    with refusal("trials", "in none of the forms of lists", "names its columns"):
        read_as(columns)


@pytest.mark.parametrize(
    ("columns", "both"),
    [
        (["10", "01", "123"], ("voxceleb (y_true image_1 image_2)", "scores (image_1")),
        (["ab", "01", "10"], ("kaldi (", "scores (")),
        (["10", "ab", "10"], ("voxceleb (", "kaldi (")),
        (["ab", "cd", "10", "01"], ("wespeaker (", "speechbrain (")),
        (["ab", "12", "34"], ("scores (", "lfw (")),
        (["ab", "12", "cd", "34"], ("bob4 (", "lfw (")),
    ],
)
def test_lists_that_fit_two_layouts_are_an_error_that_names_both(columns, both):
    with refusal("trials", *both, "State which it is (layout, --layout)"):
        read_as(columns)
    stated = both[1].partition(" ")[0]
    if stated != "lfw":
        assert read_as(columns, stated).name == stated


def test_a_list_without_scores_or_people_is_no_list_of_scored_pairs(tmp_path):
    for line in ("1 a b", "a b 0.5"):
        with pytest.raises(ValueError, match=r"and it as trials \(--trials\)"):
            load_pairs(listed(tmp_path, line))
    with pytest.raises(ValueError, match="line 3 has 2 cells but the first line has 3"):
        load_pairs(listed(tmp_path, "1 a b", "", "0 c"))


@pytest.mark.parametrize("images", [True, False])
def test_score_files_of_bob(tmp_path, images):
    lines = ["ann m1 ann p1 0.5", "ann  m1\tbob p2 -1"]
    if not images:
        lines = [line.replace(" m1", "").replace("  m1", "") for line in lines]
    data = load_pairs(listed(tmp_path, *lines, name="scores-dev"))
    assert data.y_score.tolist() == [0.5, -1.0]
    assert data.identity_1.tolist() == ["ann", "ann"]
    assert data.identity_2.tolist() == ["ann", "bob"]
    if images:
        assert (data.image_1.tolist(), data.image_2.tolist()) == (
            ["m1"] * 2,
            ["p1", "p2"],
        )
    else:
        assert (data.image_1, [*data.columns]) == (None, ["probe_label"])


# ---- matrices ------------------------------------------------------------------------


@pytest.fixture
def references(tmp_path):
    rows = ("eve,f,z", "ann,f,7", "bob,m,y")
    (tmp_path / "references.csv").write_text("\n".join(["y,sex,image", *rows]))
    return tmp_path / "references.csv"


@pytest.mark.parametrize("name", ["scores.npy", "scores.npz"])
def test_every_cell_is_a_pair(labels, references, tmp_path, name):
    scores = np.arange(15.0).reshape(5, 3)
    np.savez(tmp_path / name, scores=scores)
    if name == "scores.npy":
        np.save(tmp_path / name, scores)
    data = load_score_matrix(tmp_path / name, labels, references, columns=["sex"])
    people = ["eve", "ann", "bob"]
    want = [(scores[i, j], Y[i], people[j]) for i, j in product(range(5), range(3))]
    found = zip(data.y_score, data.identity_1, data.identity_2, strict=True)
    assert [*found] == want
    assert data.columns["sex_1"].tolist()[8:10] == ["m", None]
    assert len({*data.image_1}) == 5 and len({*data.image_2, *data.image_1}) == 8


def test_an_image_is_not_compared_with_itself(labels, references, tmp_path):
    np.save(tmp_path / "scores.npy", np.arange(15).reshape(5, 3))
    files = tmp_path / "scores.npy", labels, references
    data = load_score_matrix(*files, image="image")
    assert sorted(set(range(15)) - {*data.y_score}) == [4]
    assert data.image_2.tolist()[:4] == ["z", "7", "y", "z"]


@pytest.mark.parametrize("distance", [False, True])
def test_images_without_names_in_both_files_are_refused(tmp_path, distance):
    """Whichever columns of the matrix are of images that are rows too."""
    rng, y = np.random.default_rng(0), np.arange(40) // 2
    X = rng.normal(size=(20, 8))[y] + rng.normal(size=(40, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    scores, columns = X @ X.T, rng.permutation(40)[:15]
    path, files = tmp_path / "scores.npy", (tmp_path / "a.csv", tmp_path / "b.csv")
    for file, rows in zip(files, (np.arange(40), columns), strict=True):
        lines = [f"{y[k]},{k}" for k in rows]
        file.write_text("\n".join(["y,image", *lines]))
    np.save(path, (1 - scores if distance else scores)[:, columns])
    with refusal("path", "in 15 cells of one person", "(--image)"):
        load_score_matrix(path, *files, distance=distance)
    data = load_score_matrix(path, *files, distance=distance, image="image")
    assert data.y_score.size == 40 * 15 - 15
    # Other images of these people: their scores differ, or some are the best several times.
    other = X @ (X + 0.1 * rng.normal(size=X.shape)).T
    for matrix in (other, (2 * scores).clip(max=0.9)):
        np.save(path, (1 - matrix if distance else matrix)[:, columns])
        load_score_matrix(path, *files, distance=distance)


@pytest.mark.parametrize("named", [True, False])
def test_every_two_images_of_one_file_are_one_pair(labels, tmp_path, named):
    scores = np.random.default_rng(1).normal(size=(5, 5))
    np.save(tmp_path / "scores.npy", scores + scores.T)
    data = load_score_matrix(tmp_path / "scores.npy", labels, labels if named else None)
    want = [(i, j) for i, j in combinations(range(5), 2)]
    assert [*zip(data.image_1, data.image_2, strict=True)] == want
    assert data.y_score.tolist() == [(scores + scores.T)[pair] for pair in want]
    scores[0, 1:3] += 1
    np.save(tmp_path / "scores.npy", np.triu(scores))
    with pytest.warns(UserWarning, match="10 of 10 pairs have two scores"):
        load_score_matrix(tmp_path / "scores.npy", labels, distance=True)


def test_people_of_two_files_are_alike_as_texts(tmp_path):
    (tmp_path / "a.csv").write_text("y\n1\n2\n")
    (tmp_path / "b.csv").write_text("y\n1\nx\n")
    np.save(tmp_path / "scores.npy", np.eye(2))
    data = load_score_matrix(*(tmp_path / n for n in ("scores.npy", "a.csv", "b.csv")))
    assert (data.identity_1 == data.identity_2).tolist() == [True, False, False, False]


def test_unusable_matrices(labels, references, tmp_path):
    path = tmp_path / "scores.npy"
    np.save(path, np.zeros((3, 5)))
    with refusal("path", "(3, 5), and there are 5 probes and 3 references"):
        load_score_matrix(path, labels, references)
    np.save(path, np.full((5, 5), np.inf))
    with refusal("score", "in data row 1 (10 rows)"):
        load_score_matrix(path, labels)
    with refusal("references", "does not exist"):
        load_score_matrix(path, labels, tmp_path / "absent.csv")
    with refusal("path", "a matrix of scores is needed"):
        load_score_matrix(labels, labels)
    np.savez(tmp_path / "scores.npz", X=np.eye(5))
    with refusal("score", "contains no 'score' or 'scores' or 'similarity', but 'X'"):
        load_score_matrix(tmp_path / "scores.npz", labels)
