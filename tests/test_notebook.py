"""Results show as tables or pages in a notebook."""

import importlib
import inspect

import pytest

from skfairfr.metrics import RateMonitor, explain_errors
from skfairfr.model_selection import Bench, compare_mitigations
from tests.model_selection.toy_methods import crowd
from tests.report.audits import synthetic

PACKAGES = ("metrics", "model_selection", "report")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_record_with_a_frame_shows_in_a_notebook(package):
    module = importlib.import_module(f"skfairfr.{package}")
    classes = [c for n in module.__all__ if inspect.isclass(c := getattr(module, n))]
    # An estimator shows as scikit-learn's do.
    framed = [c for c in classes if hasattr(c, "to_frame") and not hasattr(c, "fit")]
    assert framed
    assert [c.__name__ for c in framed if not hasattr(c, "_repr_html_")] == []


def test_an_explanation_and_a_monitor_show_as_tables():
    _, y, groups = synthetic()
    error = y % 3 == 0
    explained = explain_errors(error, y, {"gender": groups})
    assert "<table" in explained._repr_html_()
    state = RateMonitor().update(error, y, groups)
    assert "<table" in state._repr_html_()


def test_a_bench_shows_as_a_table():
    bench = compare_mitigations(
        *crowd(40), ["WCCN"], far=0.1, n_splits=2, inner_splits=2, refit=False
    )
    assert isinstance(bench, Bench) and "<table" in bench._repr_html_()
