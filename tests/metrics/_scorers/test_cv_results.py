"""Scores of a search are found by name, or the error lists the names there."""

import pytest

from skfairfr.metrics._scorers import is_signed, mean_score

RESULTS = {"mean_test_bfar": [-2, -1], "mean_test_x": [0, 1], "params": [{}, {}]}


def test_a_score_is_found():
    assert mean_score(RESULTS, "bfar").tolist() == [-2.0, -1.0]


@pytest.mark.parametrize(
    ("results", "words"),
    [
        (RESULTS, "The scores are: 'bfar', 'x'"),
        ({"params": []}, "The scores are: none"),
        ({"mean_test_score": [1.0]}, "The scores are: 'score'"),
    ],
)
def test_a_missing_score_is_an_error(results, words):
    with pytest.raises(
        ValueError, match=f"'bfrr' is not a score of the search. .*{words}"
    ):
        mean_score(results, "bfrr")


@pytest.mark.parametrize(
    ("name", "signed"),
    [("far_log_ratio", True), ("frr_log_ratio@1e-3", True), ("bfar@1e-3", False)],
)
def test_signed_scores_are_known_by_name(name, signed):
    assert is_signed(name) is signed
