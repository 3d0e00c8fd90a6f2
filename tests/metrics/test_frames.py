"""Facts of records as tidy tables."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import _frames, group_error_rates

FACES = make_face_embeddings(n_identities=40, random_state=0)
BACKENDS = [
    "pandas",
    "polars",
    pytest.param(
        "pyarrow",
        marks=pytest.mark.skipif(
            not _frames._is_installed("pyarrow"), reason="pyarrow is an extra"
        ),
    ),
]


@pytest.fixture(scope="module")
def roc():
    roc = SimilarityROC(resample="identities", n_resamples=20, random_state=0)
    return roc.fit(FACES.X, FACES.y, FACES.sensitive_features)


def rows(frame):
    """Rows of a native frame, as tuples of Python values."""
    return nw.from_native(frame).rows()


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_frame_is_of_the_library_asked_for(roc, backend):
    frame = roc.estimate(1e-2).to_frame(backend)
    assert type(frame).__module__.startswith(backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_estimate_has_one_row_for_each_level(roc, backend):
    one, two = roc.estimate(1e-2), roc.estimate([1e-1, 1e-2])
    names = ["value", "low", "high", "standard_error", "normalized_uncertainty"]
    for estimate, n_rows in ((one, 1), (two, 2)):
        frame = nw.from_native(estimate.to_frame(backend))
        assert frame.shape == (n_rows, 10)
        assert frame.columns[:5] == names
        assert frame["value"].to_list() == np.atleast_1d(estimate.value).tolist()
        assert set(frame["supported"].to_list()) <= {True, False}


def test_a_curve_has_one_row_for_each_level(roc):
    curve = roc.curve([1e-2, 2e-2, 1e-1], rate="far", group="male")
    frame = curve.to_frame("polars")
    assert frame.columns == list(curve.__dataclass_fields__)
    assert frame["far"].to_list() == [1e-2, 2e-2, 1e-1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_matrix_has_one_row_for_each_cell(roc, backend):
    matrix = roc.far_matrix(1e-1)
    cells = [
        (
            g,
            h,
            *(float(part[i, j]) for part in (matrix.far, matrix.low, matrix.high)),
            int(matrix.n_impostor[i, j]),
        )
        for i, g in enumerate(matrix.groups.tolist())
        for j, h in enumerate(matrix.groups.tolist())
    ]
    assert rows(matrix.to_frame(backend)) == cells


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_summary_s_overall_row_has_no_label(roc, backend):
    frame = nw.from_native(roc.score_summary().to_frame(backend))
    assert frame["group"].is_null().to_list() == [True, False, False]
    assert frame["group"].to_list()[1:] == ["female", "male"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_integer_labels_stay_integers_beside_an_unknown_one(backend):
    frame = nw.from_native(_frames.build_frame({"group": (None, 10, 20)}, backend))
    labels = frame["group"].to_list()[1:]
    assert labels == [10, 20]
    assert all(isinstance(label, int) for label in labels)


@pytest.mark.parametrize("backend", BACKENDS)
def test_group_rates_repeat_their_threshold(backend):
    rates = group_error_rates(
        [0, 1, 0, 1], [1, 2, 3, 1], sensitive_features=[5, 5, 7, 7], threshold=2
    )
    frame = nw.from_native(rates.to_frame(backend))
    assert frame.columns == [
        "group",
        "far",
        "frr",
        "n_impostor",
        "n_genuine",
        "threshold",
    ]
    assert frame.rows() == [(5, 0.0, 0.0, 1, 1, 2.0), (7, 1.0, 1.0, 1, 1, 2.0)]


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        (("pandas", "polars"), pd.DataFrame),
        (("polars",), pl.DataFrame),
    ],
)
def test_the_default_is_the_first_installed(roc, monkeypatch, installed, expected):
    monkeypatch.setattr(_frames, "_is_installed", lambda name: name in installed)
    assert isinstance(roc.estimate(1e-2).to_frame(), expected)


@pytest.mark.parametrize("backend", [None, "polars"])
def test_a_missing_library_is_an_import_error_with_the_remedy(
    roc, monkeypatch, backend
):
    monkeypatch.setattr(_frames, "_is_installed", lambda name: False)
    remedy = f"pip install {backend or 'pandas'}"
    with pytest.raises(ImportError, match=remedy):
        roc.estimate(1e-2).to_frame(backend)


@pytest.mark.parametrize("backend", ["dask", "Pandas", pd])
def test_another_library_is_refused(roc, backend):
    with pytest.raises(ValueError, match="backend must be None or one of 'pandas'"):
        roc.estimate(1e-2).to_frame(backend)
