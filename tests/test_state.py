"""Fits, audits and figures leave the process as it was; changes of each kind are seen.

Examples of all docstrings are held to the same by ``state_of_examples``.
"""

import copy
import os
import pickle
import random
import signal
import warnings

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone

from skfairfr import SimilarityROC
from skfairfr.comparators import GroupThresholds
from skfairfr.model_selection import compare_mitigations
from skfairfr.report import audit
from tests.report.audits import without_rendering
from tests.state import changes, kept, state
from tests.test_common import ESTIMATORS, X, Y

CHANGING = {
    "numpy's random state": lambda: np.random.rand(),  # noqa: NPY002
    "random's state": random.random,
    "numpy's handling of errors": lambda: np.seterr(all="raise"),
    "warning filters": lambda: warnings.simplefilter("ignore"),
    "scikit-learn's configuration": lambda: sklearn.set_config(working_memory=7),
    "environment": lambda: os.environ.update(NEW="1"),
    "working folder": lambda: os.chdir("/"),
    "umask": lambda: os.umask(0o77),
    "signal handlers": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
}


@pytest.fixture
def restored():
    """What the changes below change is brought back."""
    found = (np.random.get_state(), random.getstate(), np.geterr(), os.getcwd())  # noqa: NPY002
    mask = os.umask(0o22)
    os.umask(mask)
    handler, config = signal.getsignal(signal.SIGTERM), sklearn.get_config()
    with warnings.catch_warnings():
        yield
    np.random.set_state(found[0])  # noqa: NPY002
    random.setstate(found[1])
    np.seterr(**found[2])
    os.chdir(found[3])
    os.umask(mask)
    signal.signal(signal.SIGTERM, handler)
    sklearn.set_config(**config)
    os.environ.pop("NEW", None)


@pytest.mark.parametrize("name", CHANGING)
def test_a_change_is_seen(name, restored):
    before = state()
    assert changes(before, state()) == []
    CHANGING[name]()
    assert changes(before, state()) == [name]


def test_a_change_of_torch_is_seen():
    torch = pytest.importorskip("torch")
    before = state()
    torch.set_default_dtype(torch.float64)
    try:
        assert changes(before, state()) == ["torch's default type"]
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_change_of_matplotlib_is_seen():
    import matplotlib
    from matplotlib import pyplot

    before = state()
    with matplotlib.rc_context({"lines.linewidth": 7}):
        figure = pyplot.figure()
        assert changes(before, state()) == ["rcParams", "figures"]
    pyplot.close(figure)
    assert changes(before, state()) == []


def answers(fitted):
    """Numbers that a fitted estimator gives of X."""
    if isinstance(fitted, SimilarityROC):
        return fitted.estimate(0.1, rate="far", how="max_min").value
    if hasattr(fitted, "transform"):
        return fitted.transform(X)
    if isinstance(fitted, GroupThresholds):
        groups = {f"sensitive_features_{k}": Y["group"] for k in (1, 2)}
        return fitted.score_matrix(X, X, **groups)
    return fitted.score_matrix(X, X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.filterwarnings("ignore")
def test_a_fit_leaves_the_process_and_copies_answer_alike(estimator):
    if "random_state" in estimator.get_params():
        # None draws from numpy's global state, as everywhere in scikit-learn.
        estimator = clone(estimator).set_params(random_state=0)
    fitted = clone(estimator).fit(X, Y)  # what is imported first is no part of it
    expected = answers(fitted)
    with kept():
        answers(clone(estimator).fit(X, Y))
    for again in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert_array_equal(answers(again), expected)
    # A copy has nothing of the original.
    assert vars(clone(fitted)).keys() == vars(clone(estimator)).keys()


@pytest.mark.filterwarnings("ignore")
def test_audits_with_figures_and_benches_leave_the_process(tmp_path, monkeypatch):
    without_rendering(monkeypatch)
    groups = Y["group"]
    with kept():
        options = {"far": 0.1, "n_resamples": 5, "figures": tmp_path / "figures"}
        report = audit(X, Y["identity"], groups, **options)
        report.to_html()
    with kept():
        compare_mitigations(
            *(X, Y["identity"], groups, ["group means out"]),
            **{"far": 0.1, "n_splits": 2, "inner_splits": 2, "n_resamples": 5},
        )
