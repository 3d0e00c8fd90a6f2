"""What a file of scored pairs must hold, and the errors where it does not."""

import numpy as np
import pytest

from skfairfr.datasets import load_pairs
from skfairfr.datasets._scored_pairs import read_pairs
from skfairfr.report import read_data
from skfairfr.utils import ArgumentError

HEAD = "identity_1,identity_2,score,gender_1,gender_2"
ROWS = ("1,1,0.9,f,f", "1,bob,0.1,f,", "bob,1,-0.2,,f")


@pytest.fixture
def save(tmp_path):
    def save(*rows, head=HEAD):
        (tmp_path / "pairs.csv").write_text("\n".join([head, *rows]))
        return tmp_path / "pairs.csv"

    return save


def test_columns_come_back(save):
    data = load_pairs(save(*ROWS))
    assert data.y_score.tolist() == [0.9, 0.1, -0.2]
    assert data.identity_1.tolist() == ["1", "1", "bob"]
    assert data.identity_2.tolist() == ["1", "bob", "1"]
    assert (data.image_1, data.image_2) == (None, None)
    assert data.columns["gender_2"].tolist() == ["f", None, "f"]


def test_parquet_gives_the_same(save, tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    path = save(*ROWS)
    pd.read_csv(path).to_parquet(tmp_path / "pairs.parquet")
    left, right = load_pairs(path), load_pairs(tmp_path / "pairs.parquet")
    assert np.array_equal(left.y_score, right.y_score)
    assert left.identity_2.tolist() == right.identity_2.tolist()
    assert left.columns["gender_1"].tolist() == right.columns["gender_1"].tolist()


@pytest.mark.parametrize("name", ["distance", "score"])
def test_distances_are_negated(save, name):
    path = save("a,a,0.3", "a,b,1.2", head=f"identity_1,identity_2,{name}")
    assert load_pairs(path, distance=True).y_score.tolist() == [-0.3, -1.2]


def test_names_can_be_given(save):
    path = save("a,a,1,p,q", head="who,whom,s,left,right")
    names = {"identity_1": "who", "identity_2": "whom", "image_1": "left"}
    data = load_pairs(path, score="s", image_2="right", **names)
    assert (data.identity_2.tolist(), data.image_2.tolist()) == (["a"], ["q"])
    assert data.columns == {}
    with pytest.raises(ValueError, match="image_2 is missing while"):
        load_pairs(path, score="s", **names)


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        (ROWS, {"score": "cosine"}, "score cannot be found: .* no 'cosine', but"),
        (
            ROWS,
            {"score": "s", "identity_2": "whom"},
            "score and identity_2 cannot be found: .* no 's' and no 'whom', but",
        ),
        (ROWS, {"score": "gender_1"}, "'gender_1' must contain numbers .*'f'"),
        (
            ("a,a,,f,f", "a,b,1,f,f"),
            {},
            "score 'score' is missing or inf.* in data row 1",
        ),
        (
            (",a,1,f,f", "a,b,1,f,f"),
            {},
            "identity_1 'identity_1' is missing in data row 1;",
        ),
        (
            ("a,a,1,f,f", ",a,1,f,f", ",b,1,f,f"),
            {},
            "identity_1 'identity_1' is missing in 2 rows, first in data row 2;",
        ),
    ],
)
def test_unusable_columns(save, rows, options, words):
    with pytest.raises(ArgumentError, match=words):
        load_pairs(save(*rows), **options)


def test_pairs_without_any_other_column_are_sent_to_metadata(save):
    path = save("a,a,1", "a,b,0", head="identity_1,identity_2,score")
    with pytest.raises(
        ArgumentError, match=r"all its columns are in use; .*--metadata"
    ):
        read_data(path, "gender")


def test_other_files(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3))
    formats = "a .csv, .tsv, .csv.gz, .tsv.gz or .parquet file, one row for each pair"
    with pytest.raises(ValueError, match=f"Scored pairs are read from {formats}"):
        load_pairs(tmp_path / "x.npy")


@pytest.mark.parametrize(
    ("column", "remedy"),
    [
        ("distance", "give distance=True"),
        ("L2_dist", "give score='L2_dist' and distance=True"),
        ("district", "name one of them"),
    ],
)
def test_distances_are_known_by_their_name(save, column, remedy):
    path = save("a,a,0.3", "a,b,1.2", head=f"identity_1,identity_2,{column}")
    with pytest.raises(ValueError, match=f"contains no 'score', but .*{remedy}"):
        load_pairs(path)


def test_labels_of_embeddings_are_told_from_pairs(save):
    path = save("a,f", "b,m", head="identity,gender")
    with pytest.raises(
        ValueError, match="has the labels of embeddings, name the embeddings"
    ):
        load_pairs(path)


def test_missing_attributes_are_named(save):
    names = dict.fromkeys(("score", "identity_1", "identity_2", "image_1", "image_2"))
    asked = {"sex": "attributes"}
    with pytest.raises(ArgumentError, match=r"attributes cannot be found: .* 'sex_1'"):
        read_pairs(save(*ROWS), names, asked)
    asked = {"gender_1": "attributes"}
    with pytest.raises(ArgumentError, match=r"'gender_1' .* give 'gender'"):
        read_pairs(save(*ROWS), names, asked)


def test_words_for_unknown_are_told(save):
    with pytest.warns(UserWarning, match="'NaN' in 'gender_2' .1 row"):
        load_pairs(save("a,a,1,f,NaN", "a,b,0,f,f"))


# ---- pairs without people ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("y_true", ("True", "False")),
        ("genuine", ("mated", "non-mated")),
        ("label", ("1.0", "0.0")),
    ],
)
def test_a_column_may_say_which_pairs_are_genuine(save, name, words):
    yes, no = words
    path = save(f"0.9,{yes}", f"0.1,{no}", f"-0.2,{no}", head=f"score,{name}")
    data = load_pairs(path)
    assert data.y_true.tolist() == [1, 0, 0]
    assert (data.identity_1, data.identity_2, data.image_1) == (None, None, None)
    assert data.columns == {}


def test_people_come_before_what_says_it(save):
    data = load_pairs(save("a,a,0.9,1", head="identity_1,identity_2,score,label"))
    assert data.y_true is None
    assert (data.identity_1.tolist(), data.columns["label"].tolist()) == (["a"], [1])


def test_images_are_named_without_people_too(save):
    path = save("0.9,1,p,q", head="score,label,image_1,image_2")
    data = load_pairs(path)
    assert (data.image_1.tolist(), data.image_2.tolist()) == (["p"], ["q"])
    assert data.y_true.tolist() == [1] and data.columns == {}


@pytest.mark.parametrize("head", ["score,y_true,sex", HEAD.replace("gender_2", "sex")])
def test_one_column_is_an_attribute_of_both_images(save, head):
    rows = ["0.9,1,f", "0.1,0,"] if "y_true" in head else ["1,1,0.9,x,f", "1,2,0.1,x,"]
    asked = {"sex": "attributes"}
    names = dict.fromkeys(("score", "identity_1", "identity_2", "image_1", "image_2"))
    data = read_pairs(save(*rows, head=head), names, asked)
    assert data.columns["sex_1"] is data.columns["sex_2"]
    assert data.columns["sex_1"].tolist() == ["f", None]


@pytest.mark.parametrize(
    ("columns", "asked", "remedy"),
    [
        ("sex_1,sex_2", "sex_1", "give 'sex', which reads both"),
        ("sex_a,sex_b", "sex_a", "'sex_b' of the other; give 'sex', which"),
        ("g1,g2", "g2", "'g2' is of one image .* 'g1' of the other; give 'g'"),
        ("probe_sex,bio_ref_sex", "probe_sex", "give 'sex', which reads both"),
        ("sex_left,sex_right", "sex_right", "give 'sex', which reads both"),
        ("sex_probe,sex_reference", "sex_probe", "give 'sex'"),
        ("g1,g_1,g2,g_2", "g", "'g' may be g_1 and g_2, or g1 and g2; give the two"),
        ("sex,x,sex_1,sex_2", "sex", "'sex' may be sex_1 and sex_2, or sex; give the"),
    ],
)
def test_a_column_of_one_image_is_no_attribute_of_both(save, columns, asked, remedy):
    names = dict.fromkeys(("score", "identity_1", "identity_2", "image_1", "image_2"))
    row = f"a,b,0.9{',f' * (columns.count(',') + 1)}"
    path = save(row, head=f"identity_1,identity_2,score,{columns}")
    with pytest.raises(ArgumentError, match=remedy):
        read_pairs(path, names, {asked: "attributes"})


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        ("g1,g2", "g"),
        ("att_a,att_b", "att"),
        ("probe_sex,bio_ref_sex", "sex"),
        ("enrol_sex,test_sex", "sex"),
        ("sex_enrol,sex_test", "sex"),
        ("sex_probe,sex_reference", "sex"),
        ("left_sex,right_sex", "sex"),
        ("sex,sex of the other", "sex,sex of the other"),
        ("x,y", "x, y"),
    ],
)
def test_two_columns_are_those_of_the_two_images(save, columns, asked):
    names = dict.fromkeys(("score", "identity_1", "identity_2", "image_1", "image_2"))
    rows = ["a,b,0.9,f,7", "a,c,0.1,7,"]
    path = save(*rows, head=f"identity_1,identity_2,score,{columns}")
    read = read_pairs(path, names, {asked: "attributes"}).columns
    assert [*read] == [f"{asked}_1", f"{asked}_2"]
    assert read[f"{asked}_1"].tolist() == ["f", "7"]
    assert read[f"{asked}_2"].tolist() == ["7", None]


@pytest.mark.parametrize(
    ("head", "row", "options", "words"),
    [
        ("score,label", "0.1,2", {}, "^y_true 'label' contains '2' .*data row 1"),
        (
            "score,label",
            "0.1,",
            {},
            "^y_true 'label' contains .*data row 1.*write 1 for",
        ),
        ("score,x", "0.1,1", {}, "no 'identity_1' and .* as y_true the one that shows"),
        ("score,x", "0.1,1", {"y_true": "z"}, "y_true cannot be found: .* no 'z', but"),
        ("score,label,identity_1", "0.1,1,a", {}, "contains no 'identity_2'"),
        (
            "score,label,identity_1,identity_2",
            "0.1,1,a,b",
            {"y_true": "label"},
            "y_true and identity_1 are both there.* Leave one of them out",
        ),
        (
            "score,label,x,y",
            "0.1,1,a,b",
            {"y_true": "label", "image_1": "x", "image_2": "y"},
            "y_true and image_1 are both there",
        ),
    ],
)
def test_what_says_it_must_be_clear(save, head, row, options, words):
    with pytest.raises(ArgumentError, match=words):
        load_pairs(save(row, head=head), **options)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (("1", "0", "0"), None),
        (("1", "1", "0"), "'genuine' contradicts the identities in 1 of 3 pairs"),
        (("x", "y", "z"), None),
        (("Target", "NonTarget", "nontarget"), None),
        (("match", "non-match", "No Match"), None),
        (("1", "-1", "1"), "1 of 3 pairs: 2 are genuine by 'genuine', and 1 by the id"),
        (("YES", "Yes", "no"), "1 of 3 pairs"),
        (("genuine", "impostor", "GENUINE"), "1 of 3 pairs"),
        (("mated", "non_mated", "mated"), "1 of 3 pairs"),
    ],
)
@pytest.mark.parametrize("name", ["genuine", "Label", "is_target", "same", "Y_TRUE"])
def test_a_column_that_contradicts_the_people_is_counted(save, said, words, name):
    rows = [f"{row},{text}" for row, text in zip(ROWS, said, strict=True)]
    path = save(*rows, head=f"{HEAD},{name}")
    if words is None:
        load_pairs(path)
        return
    with pytest.raises(ArgumentError, match=words.replace("genuine'", f"{name}'")):
        load_pairs(path)
