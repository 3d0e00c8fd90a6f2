"""Candidate lists and score matrices from files."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr.datasets import load_candidates

LIST = """\
probe,rank,candidate,score
s1,1,ann,0.9
s1,2,bob,0.4
s1,3,cy,0.1
s2,1,bob,0.8
s2,2,cy,0.7
s3,1,cy,0.55
s4,1,ann,0.5
s4,2,cy,0.3
s5,1,bob,0.2
s5,2,ann,0.1
"""
WORDS = [line.split(",") for line in LIST.splitlines()]


def write(folder, text, name="lists.csv"):
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lists.csv", LIST),
        ("lists.tsv", LIST.replace(",", "\t")),
        ("lists.csv", LIST.replace("probe", "search").replace("score", "similarity")),
        ("lists.csv", LIST.replace("probe", "query").replace("candidate", "returned")),
        ("ranked", "\n".join(" ".join(row) for row in WORDS[1:])),
        ("lists.txt", "\n".join(f"{s}\t{c}\t{score}" for s, _, c, score in WORDS[1:])),
    ],
)
def test_every_layout_reads_the_same_rows(tmp_path, name, text):
    data = load_candidates(write(tmp_path, text, name))
    search, _, candidate, score = zip(*WORDS[1:], strict=True)
    assert_array_equal(data.search, search)
    assert_array_equal(data.candidate, candidate)
    assert_array_equal(data.y_score, np.array(score, dtype=float))


def test_rows_in_any_order_of_ranks_and_compressed_are_read(tmp_path):
    head, *rows = LIST.splitlines()
    shuffled = "\n".join([head, *np.random.default_rng(0).permutation(rows)])
    path = tmp_path / "lists.csv.gz"
    path.write_bytes(gzip.compress(shuffled.encode()))
    assert sorted(load_candidates(path).y_score) == sorted(
        float(score) for *_, score in WORDS[1:]
    )


def test_named_columns_and_distances(tmp_path):
    head, *rows = LIST.replace("candidate", "who").splitlines()
    turned = [
        f"{row.rpartition(',')[0]},{1 - float(row.rpartition(',')[2])}" for row in rows
    ]
    path = write(tmp_path, "\n".join([head.replace("score", "distance"), *turned]))
    data = load_candidates(path, candidate="who", distance=True)
    assert data.y_score[0] == -(1 - 0.9)


def test_matrices_keep_their_type(tmp_path):
    scores = np.arange(6, dtype=np.float16).reshape(2, 3)
    np.save(tmp_path / "S.npy", scores)
    np.savez(tmp_path / "S.npz", other=scores, mine=2 * scores)
    data = load_candidates(tmp_path / "S.npy")
    assert data.search is None and data.y_score.dtype == np.float16
    assert_array_equal(data.y_score, scores)
    found = load_candidates(tmp_path / "S.npz", score="mine", distance=True)
    assert_array_equal(found.y_score, -2 * scores)
    for options, words in (
        ({}, "no 'score' or 'scores' or 'similarity'"),
        ({"score": "mine", "search": "s"}, "names a column of lists"),
    ):
        with pytest.raises(ValueError, match=words):
            load_candidates(tmp_path / "S.npz", **options)
    np.save(tmp_path / "S.npy", scores[0])
    with pytest.raises(ValueError, match="a row for each search"):
        load_candidates(tmp_path / "S.npy")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("s1,2,bob,0.4", "s1,2,bob,0.95", "'rank' contradicts the scores in 1 lists"),
        ("s1,2,bob,0.4\n", "", "'rank' skips a rank in 1 lists, first in data row 2"),
        ("s1,2,bob", "s1,2.5,bob", "'rank' must contain whole numbers"),
        ("s1,2,bob", "s1,x,bob", "'rank' must contain numbers"),
        ("s1,2,bob,0.4", "s1,2,bob,", "'score' is missing or infinite in data row 2"),
        ("s1,2,bob", "s1,2,", "'candidate' is missing in data row 2"),
        ("s1,2,bob", ",2,bob", "'probe' is missing in data row 2"),
        ("candidate", "who", "no 'candidate' or 'candidate_id'"),
    ],
)
def test_damaged_lists_are_errors_about_their_rows(tmp_path, old, new, words):
    with pytest.raises(ValueError, match=words):
        load_candidates(write(tmp_path, LIST.replace(old, new, 1)))


@pytest.mark.parametrize("ranked", [True, False])
def test_scores_of_the_other_kind_are_errors(tmp_path, ranked):
    text = LIST if ranked else "\n".join(f"{s},{c},{x}" for s, _, c, x in WORDS)
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=r"in all 4 lists .* leave out distance"):
        load_candidates(path, distance=True)
    turned = text.replace(",0.", ",-0.")
    with pytest.raises(ValueError, match=r"in all 4 lists .* give distance=True"):
        load_candidates(write(tmp_path, turned))


@pytest.mark.parametrize("text", ["a b\nc d", "a b c d e", "a b x", "a r b 0.5"])
def test_lists_without_names_of_another_form_are_errors(tmp_path, text):
    with pytest.raises(ValueError, match="in none of the forms of lists"):
        load_candidates(write(tmp_path, text, "lists.txt"))
