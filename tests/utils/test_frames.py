"""Facts of tables in any frame library, and of which library a caller uses."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from skfairfr.metrics import group_error_rates
from skfairfr.utils import _frames
from skfairfr.utils._frames import build_frame, library_of

BACKENDS = [
    "pandas",
    "polars",
    pytest.param(
        "pyarrow",
        marks=pytest.mark.skipif(
            not _frames.is_installed("pyarrow"), reason="pyarrow is an extra"
        ),
    ),
]


def as_frame(columns, backend):
    return nw.from_dict(columns, backend=backend).to_native()


@pytest.mark.parametrize("backend", BACKENDS)
def test_integer_labels_stay_integers_beside_an_unknown_one(backend):
    frame = nw.from_native(build_frame({"group": (None, 10, 20)}, backend))
    labels = frame["group"].to_list()[1:]
    assert labels == [10, 20]
    assert all(isinstance(label, int) for label in labels)


@pytest.mark.parametrize("backend", BACKENDS)
def test_single_values_are_repeated_and_several_dimensions_are_rows(backend):
    columns = {"a": np.arange(4).reshape(2, 2), "b": 0.5}
    frame = nw.from_native(build_frame(columns, backend))
    assert frame.rows() == [(0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5)]


@pytest.mark.parametrize(
    ("installed", "expected"),
    [(("pandas", "polars"), pd.DataFrame), (("polars",), pl.DataFrame)],
)
def test_the_default_is_the_first_installed(monkeypatch, installed, expected):
    monkeypatch.setattr(_frames, "is_installed", lambda name: name in installed)
    assert isinstance(build_frame({"a": 1}), expected)


def test_the_remembered_library_is_the_default_and_gives_way_to_the_one_asked_for():
    assert isinstance(build_frame({"a": 1}, None, "polars"), pl.DataFrame)
    assert isinstance(build_frame({"a": 1}, "pandas", "polars"), pd.DataFrame)


@pytest.mark.parametrize("backend", [None, "polars"])
def test_a_missing_library_is_an_import_error_with_the_remedy(monkeypatch, backend):
    monkeypatch.setattr(_frames, "is_installed", lambda name: False)
    remedy = f"pip install {backend or 'pandas'}"
    with pytest.raises(ImportError, match=remedy):
        build_frame({"a": 1}, backend, "polars")


@pytest.mark.parametrize("backend", ["dask", "Pandas", pd])
def test_another_library_is_refused(backend):
    with pytest.raises(ValueError, match="backend must be one of 'pandas'"):
        build_frame({"a": 1}, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_first_frame_or_series_tells_the_library(backend):
    frame = as_frame({"a": [1, 2]}, backend)
    other = pl.Series([1]) if backend == "pandas" else pd.Series([1])
    for given in (frame, frame["a"]):
        assert library_of(np.ones(2), None, [1], given, other) == backend


@pytest.mark.parametrize("given", [(), (None,), (np.ones(2), [1], "a", {"a": [1]})])
def test_what_is_no_frame_tells_no_library(given):
    assert library_of(*given) is None


def test_a_notebook_shows_the_table_of_its_library(monkeypatch):
    pairs = [0, 1] * 4, [1, 2, 3, 4] * 2
    found = group_error_rates(*pairs, sensitive_features=[*"aaaa<<<<"], threshold=3)
    assert "<td>" in found._repr_html_() and "&lt;" in found._repr_html_()
    monkeypatch.setattr(_frames, "is_installed", lambda name: False)
    assert found._repr_html_() is None
