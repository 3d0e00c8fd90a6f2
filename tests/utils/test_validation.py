"""What the door lets in, and that messages name the argument, the value, the remedy."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.preprocessing import StandardScaler

from skfairfr import make_face_embeddings
from skfairfr.metrics import bfar
from skfairfr.utils._validation import (
    check_count,
    check_group,
    check_level,
    check_line,
    check_option,
    check_rows,
    check_scores,
    check_threshold,
    is_among,
    plain,
    validate_rows,
    warn_undefined,
)
from tests.refusals import refusal


@pytest.mark.parametrize(
    "far", [0, 1, -0.1, 1.5, np.nan, "1e-3", None, [], True, [0.1, 2]]
)
def test_levels_outside_the_open_interval_are_named(far):
    with refusal("far", "(0, 1)"):
        check_level(far)


def test_levels_and_thresholds_keep_their_shape():
    assert check_level(1e-3).shape == () and check_level([1e-3, 0.5]).shape == (2,)
    assert check_threshold(-np.inf) == -np.inf


@pytest.mark.parametrize("threshold", [np.nan, "high", None, [], True])
def test_thresholds_are_numbers(threshold):
    with refusal("threshold"):
        check_threshold(threshold)


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([[0.1]], "one-dimensional"),
        (["a"], "numbers"),
        ([0.1, np.nan], "pair 1 has nan"),
        ([[0.1], [0.2, 0.3]], "inhomogeneous"),
        (np.ma.masked_less([0.1, 0.2], 0.15), "masked"),
    ],
)
def test_scores_that_are_none(scores, words):
    with refusal("y_score", words):
        check_scores(scores, "y_score")


def tensor(**options):
    torch = pytest.importorskip("torch")
    return torch.ones((4, 3), **options)


@pytest.mark.parametrize(
    ("made", "remedy"),
    [
        (lambda: tensor(requires_grad=True), "detach"),
        (lambda: tensor(device="meta"), "cpu()"),
        (lambda: [[1.0, 2.0], [3.0]], "rows of one length"),
        (lambda: [[1.0], {"a": 2}], "rows of one length"),
        (lambda: np.ma.masked_less([[1.0, 2.0]], 2), "leave"),
    ],
)
def test_rows_that_cannot_be_read_are_named(made, remedy):
    with refusal("X", remedy):
        check_rows(made())
    with refusal("X", remedy):
        validate_rows(StandardScaler(), made())


def test_rows_that_can_be_read_are_those_of_scikit_learn():
    rows = np.arange(6.0).reshape(3, 2)
    others = [pd.DataFrame(rows), pl.DataFrame(rows), np.ma.masked_array(rows)]
    for given in [rows, rows.tolist(), tuple(map(tuple, rows)), *others]:
        assert_array_equal(check_rows(given), rows)
    scaler = StandardScaler()
    validate_rows(scaler, pd.DataFrame(rows, columns=["a", "b"]))
    assert scaler.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(TypeError, match="Sparse data was passed"):
        check_rows(csr_matrix(rows))


@pytest.mark.parametrize(
    ("given", "kept"),
    [(np.float32, np.float32), (np.float64, np.float64), (int, np.float64)],
)
def test_only_float32_scores_keep_their_type(given, kept):
    assert check_scores(np.array([1, 2], dtype=given), "y_score").dtype == kept


@pytest.mark.parametrize(
    ("check", "given", "words"),
    [
        (check_option, ("roc", "n", ("far", "frr")), "'far', 'frr', got 'roc'"),
        (check_group, (np.str_("x"), np.array(["f", "m"]), "n"), "n 'x'"),
        (check_count, (np.int64(0), "n", 1), "got 0"),
        (check_count, (True, "n", 0), "got True"),
        (check_count, (8, "n", 2, 7), "from 2 to 7, got 8"),
        (check_level, (np.float64(1.5), "n"), "got 1.5"),
        (check_threshold, (np.str_("x"), "n"), "got 'x'"),
    ],
)
def test_what_is_possible_is_listed(check, given, words):
    with refusal("n", words) as caught:
        check(*given)
    assert "np." not in str(caught.value)


def test_what_is_possible_is_taken():
    assert check_group("m", np.array(["f", "m"])) == 1


NO_LABELS = [["f"], ["f", "x"], ("f",), {"f"}, {"f": 1}, range(2), np.array("f")]
NO_LABELS += [np.array([["f"]]), np.zeros((48, 0)), pd.Series(["f"]), pl.Series(["f"])]


@pytest.mark.parametrize("value", NO_LABELS, ids=repr)
def test_what_holds_several_labels_is_none_of_them(value):
    """One like ``["f", "x"]`` equals "f" in one place, and was taken for it."""
    assert not is_among(value, ["f", "m"]) and not is_among(value, {"f": 1, "m": 2})
    with refusal("group", "'f', 'm'"):
        check_group(value, np.array(["f", "m"]))


def test_a_tensor_is_no_label():
    torch = pytest.importorskip("torch")
    for value in (
        torch.tensor(1),
        torch.tensor([1]),
        torch.ones(2, requires_grad=True),
    ):
        assert not is_among(value, [1, 2])


@pytest.mark.parametrize(
    ("label", "known"),
    [
        *(("f", "fm"), (np.str_("f"), ["f"]), (b"f", [b"f"]), (1, [1.0]), (True, [1])),
        *((np.int64(1), (1,)), (pd.Timestamp(0), {pd.Timestamp(0)}), (None, [None])),
    ],
)
def test_single_labels_are_found(label, known):
    assert is_among(label, known) and not is_among(label, ["x"])


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb", b"a", 3, ["a"]])
def test_what_cannot_be_written_is_refused_by_name(text):
    with refusal("name", repr(plain(text)), "Give another"):
        check_line(text, "name")
    for text in ("", "é", "\U0001f600", "a\nb", None, np.str_("a")):
        check_line(text, "name")


@pytest.mark.parametrize(
    "call",
    [
        lambda: warn_undefined("nothing there"),
        lambda: bfar(
            [0] * 8, np.arange(8.0), sensitive_features=[*"aaaabbbb"], far=0.1
        ),
    ],
    ids=["directly", "through four of our own frames"],
)
def test_a_warning_points_at_the_caller(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    for warning in caught:
        assert warning.category is UndefinedMetricWarning
        assert warning.filename == __file__


def test_a_warning_from_fit_points_at_its_caller():
    """Not at the wrapper that scikit-learn puts about fit."""
    pytest.importorskip("torch")
    from skfairfr import EthicalModule

    data = make_face_embeddings(20, 2, n_features=8, random_state=0)
    module = EthicalModule(10, 20, max_epochs=1, random_state=0)
    with pytest.warns(UserWarning, match="No groups were given") as seen:
        module.fit(data.X, data.y)
    assert seen[0].filename == __file__


@pytest.mark.parametrize("library", ["pandas", "polars", None])
def test_text_among_numbers_is_named(library):
    rows = {"a": [1.0, 2.0], "b": ["f", "m"]}
    X = [[1.0, "f"], [2.0, "m"]]
    if library is not None:
        X = pytest.importorskip(library).DataFrame(rows)
    with refusal("X_reference", "Leave columns of text out"):
        check_rows(X, input_name="X_reference", dtype=np.float64)
