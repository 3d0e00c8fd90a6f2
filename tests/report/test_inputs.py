"""Whatever the form in which pairs are listed, equal pairs give equal audits."""

import json
from itertools import starmap

import numpy as np
import pytest

from skfairfr import cli
from skfairfr.report import EmbeddingData, PairData, audit_data, read_data
from tests.refusals import refusal

SIZE = 100


def text_of(rows, head=None):
    lines = starmap(lambda *cells: " ".join(map(str, cells)), rows)
    if head is None:
        return "\n".join(lines)
    return "\n".join([head, *(line.replace(" ", ",") for line in lines)])


def printed(capsys, *arguments):
    """The JSON that the command prints of an audit, without what names the files."""
    options = ["--threshold", "0.3", "--attribute", "gender"]
    cli.main(["audit", *map(str, arguments), *options, "--format", "json", "--quiet"])
    found = json.loads(capsys.readouterr().out)
    found["audits"][0]["settings"].pop("sha256")
    found["audits"][0]["curves"].pop("threshold")  # just above scores, in their type
    return found["audits"]


def impostor_scores(data):
    return data.y_score[data.identities[0] != data.identities[1]]


def parts_of(data):
    """What pairs hold, in lists."""
    sides = (*data.identities, *data.image_names, *data.columns["gender"])
    return data.y_score.tolist(), *(side.astype(str).tolist() for side in sides)


@pytest.fixture(scope="module")
def lfw(shared_data, tmp_path_factory):
    """LFW in every form, a dict of ways to read it: those of a list, those of all pairs."""
    folder = tmp_path_factory.mktemp("lfw")
    file = np.load(shared_data / "lfw_facenet" / "lfw_facenet.npz")
    X, y, gender = (file[name][::2] for name in ("embedding", "identity", "gender"))
    names = np.array([f"{who}/{row:04}.jpg" for row, who in enumerate(y)])
    np.savez(folder / "faces.npz", embedding=X, identity=y, gender=gender, image=names)
    np.savez(folder / "bare.npz", embedding=X, identity=y, image=names)
    people = {who: sex for who, sex in zip(y, gender, strict=True)}.items()
    images = zip(y, gender, names, strict=True)
    write = {
        "people.csv": text_of(people, "person,gender"),
        "images.csv": text_of(zip(names, gender, strict=True), "image,gender"),
        "labels.csv": text_of(images, "identity,gender,image"),
    }
    # Its list: every genuine pair, and as many impostor pairs as in four of its rounds.
    left, right = np.triu_indices(y.size, 1)
    drawn = np.random.default_rng(0).choice(left.size, 12_000, replace=False)
    rows = np.union1d(np.flatnonzero(y[left] == y[right]), drawn)
    i, j = left[rows], right[rows]
    write["veri.txt"] = text_of(
        zip(1 * (y[i] == y[j]), names[i], names[j], strict=True)
    )
    (folder / "veri.txt").write_text(write["veri.txt"])
    listed = read_data(folder / "faces.npz", trials=folder / "veri.txt")
    scores = listed.y_score.tolist()
    cells = (scores, y[i], y[j], names[i], names[j], gender[i], gender[j])
    head = "score,identity_1,identity_2,image_1,image_2,gender_1,gender_2"
    write["pairs.csv"] = text_of(zip(*cells, strict=True), head)
    write["scored.txt"] = text_of(zip(names[i], names[j], scores, strict=True))
    # All pairs of some images.
    some = np.argsort(y, kind="stable")[:SIZE]
    matrix = (X[some] @ X[some].T).astype(np.float64)
    np.save(folder / "matrix.npy", matrix)
    images = zip(y[some], names[some], gender[some], strict=True)
    write["some.csv"] = text_of(images, "identity,image,gender")
    i, j = np.triu_indices(SIZE, 1)
    cells = (y[some][i], names[some][i], y[some][j], names[some][j])
    write["bob"] = text_of(zip(*cells, matrix[i, j].tolist(), strict=True))
    for name, text in write.items():
        (folder / name).write_text(text)
    return folder


# Ways to read its list, and all pairs of some images; the first is what the others equal.
LISTED = {
    "scored pairs": ("pairs.csv", {}),
    "embeddings and a list": ("faces.npz", {"trials": "veri.txt"}),
    "embeddings and scores": ("faces.npz", {"trials": "scored.txt"}),
    "labels and scores": ("labels.csv", {"trials": "scored.txt"}),
    "a list, and people": (
        "bare.npz",
        {"trials": "veri.txt", "metadata": "people.csv"},
    ),
    "a list, and images": (
        "bare.npz",
        {"trials": "veri.txt", "metadata": "images.csv"},
    ),
    "pairs, and people": ("pairs.csv", {"metadata": "people.csv", "on": "person"}),
}
OF_SOME = {
    "bob": ("bob", {"metadata": "people.csv"}),
    "matrix": ("matrix.npy", {"probes": "some.csv", "image": "image"}),
    "two files": (
        "matrix.npy",
        {"probes": "some.csv", "references": "some.csv", "metadata": "images.csv"},
    ),
}


def read(folder, path, options):
    options = {
        name: folder / value if (folder / value).exists() else value
        for name, value in options.items()
    }
    return read_data(folder / path, "gender", **options)


@pytest.mark.parametrize("ways", [LISTED, OF_SOME], ids=["a list", "all pairs"])
def test_forms_of_a_list_hold_the_same_pairs(lfw, ways):
    first, *others = (read(lfw, *way) for way in ways.values())
    assert isinstance(first, PairData) and len(first.y_score) > 4000
    for other in others:
        assert parts_of(other) == parts_of(first)


def test_equal_pairs_give_equal_audits(lfw, capsys):
    faces, bare, matrix = (lfw / n for n in ("faces.npz", "bare.npz", "matrix.npy"))
    people = ("--metadata", lfw / "people.csv", "--on", "person")
    want = printed(capsys, lfw / "pairs.csv")
    assert want[0]["groups"][0]["n_genuine"] > 500
    assert printed(capsys, faces, "--trials", lfw / "veri.txt") == want
    assert printed(capsys, bare, "--trials", lfw / "scored.txt", *people) == want
    labels = ("--probes", lfw / "some.csv", "--image", "image")
    want = printed(capsys, lfw / "bob", *people)
    assert want[0]["groups"][0]["n_genuine"] > 100
    assert printed(capsys, matrix, *labels) == want


def test_attributes_of_another_file_are_those_of_the_column(lfw):
    with_column = read_data(lfw / "faces.npz", "gender")
    for name in ("people.csv", "images.csv"):
        joined = read_data(lfw / "bare.npz", "gender", metadata=lfw / name)
        assert (
            joined.columns["gender"].tolist() == with_column.columns["gender"].tolist()
        )
        assert [*joined.reading.sha256] == ["bare.npz", name]
        assert isinstance(joined, EmbeddingData)


def test_what_metadata_lack_is_a_note(lfw):
    path = lfw / "few.csv"
    path.write_text("\n".join((lfw / "people.csv").read_text().splitlines()[:-2]))
    data = read_data(lfw / "bare.npz", "gender", metadata=path)
    (note,) = data.reading.notes
    assert "lacks 2 people (" in note and note.endswith("whose 'gender' is unknown.")
    assert sum(sex is None for sex in data.columns["gender"]) >= 2
    made = audit_data(data, threshold=0.3)
    assert any("lacks 2 people" in note for note in made.audits[0].notes)


def test_thresholds_may_come_from_scored_pairs(lfw):
    data = read(lfw, *LISTED["a list, and people"])
    made = audit_data(data, far=0.1, threshold_from=lfw / "pairs.csv")
    (level,) = made.audits[0].levels
    assert np.mean(impostor_scores(data) >= level.threshold) == pytest.approx(
        0.1, abs=1e-3
    )


@pytest.mark.parametrize(
    ("options", "argument", "words"),
    [
        (
            {"trials": "veri.txt", "domain": "gender"},
            "domain",
            "option of listed trials",
        ),
        (
            {"trials": "veri.txt", "probes": "x.csv"},
            "probes",
            "option of listed trials",
        ),
        ({"references": "some.csv"}, "references", "option of embeddings"),
        ({"on": "person"}, "on", "names a column of metadata; give it (--metadata)."),
        ({"metadata": "none.csv"}, "metadata", "does not exist"),
    ],
)
def test_options_without_their_data_are_refused(lfw, options, argument, words):
    with refusal(argument, words):
        read(lfw, "faces.npz", options)
