"""The file decides between embeddings and scored pairs."""

import numpy as np
import pytest

from skfairfr.report._data import Faces, ScoredPairs
from skfairfr.report._sources import check_same_kind, read_source

PAIRS = "identity_1,identity_2,score,gender_1,gender_2\na,a,0.9,f,f\na,b,0.1,f,m\n"


@pytest.fixture
def files(tmp_path):
    columns = {"gender": ["f", "f", "m"], "place": ["x", "y", "y"]}
    faces, pairs = tmp_path / "faces.npz", tmp_path / "pairs.csv"
    np.savez(faces, embedding=np.eye(3), identity=[1, 1, 2], **columns)
    pairs.write_text(PAIRS)
    return {"faces": str(faces), "pairs": str(pairs)}


def test_embeddings(files):
    data = read_source(files["faces"], ["gender"], {"domain": "place"})
    assert isinstance(data, Faces)
    assert data.columns["gender"].tolist() == ["f", "f", "m"]
    assert data.domain.tolist() == ["x", "y", "y"]


def test_scored_pairs(files):
    data = read_source(files["pairs"], ["gender"], {"distance": True})
    assert isinstance(data, ScoredPairs)
    assert data.y_score.tolist() == [-0.9, -0.1]
    assert [side.tolist() for side in data.columns["gender"]] == [
        ["f", "f"],
        ["f", "m"],
    ]


@pytest.mark.parametrize(
    ("name", "attribute", "options", "message"),
    [
        ("faces", "age", {}, "attribute: .* holds no 'age'"),
        ("faces", "gender", {"domain": "lens"}, "domain: .* holds no 'lens'"),
        ("faces", "gender", {"distance": True}, "distance=True is an option of scored"),
        ("faces", "gender", {"score": "s"}, "score='s' is an option of scored pairs"),
        (
            "pairs",
            "age",
            {},
            "'age_1' and 'age_2'\\), but 'gender'; name one of them as",
        ),
        ("pairs", "gender", {"domain": "x"}, "domain='x' is an option of embeddings"),
        ("pairs", "gender", {"labels": "x"}, "labels='x' is an option of embeddings"),
    ],
)
def test_unusable(files, name, attribute, options, message):
    with pytest.raises(ValueError, match=message):
        read_source(files[name], [attribute], options)


def test_two_files_are_of_one_kind(files):
    check_same_kind(files["pairs"], files["pairs"])
    with pytest.raises(ValueError, match="give files of one kind"):
        check_same_kind(files["faces"], files["pairs"])
