"""Fits, audits and figures leave the process as it was.

Examples of all docstrings are held to the same by ``state_of_examples``.
"""

import copy
import pickle
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from skfairfr import SimilarityROC, cli
from skfairfr.model_selection import compare_mitigations
from skfairfr.report import EmbeddingData, audit, compare_systems
from tests.report.audits import without_rendering
from tests.state import kept
from tests.test_common import ESTIMATORS, WITH_THEIR_OWN_TESTS, X, Y


def answers(fitted):
    """Numbers that a fitted estimator gives of X."""
    if isinstance(fitted, SimilarityROC):
        return fitted.estimate(0.1, rate="far", how="max_min").value
    if hasattr(fitted, "transform"):
        return fitted.transform(X)
    if fitted.takes_groups:
        groups = {f"sensitive_features_{k}": Y["group"] for k in (1, 2)}
        return fitted.score_matrix(X, X, **groups)
    return fitted.score_matrix(X, X)


def seeded(estimator):
    """A clone; None draws from numpy's global state, as everywhere in scikit-learn."""
    made = clone(estimator)
    return made.set_params(random_state=0) if hasattr(made, "random_state") else made


@pytest.fixture
def threads():
    """More than one each, so that a limit that stays is seen."""
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else None
    with threadpool_limits(2, user_api="blas"):
        if torch:
            torch.set_num_threads(2)
        yield
        if torch:
            torch.set_num_threads(before)


DAILY = ("SimilarityROC", "CohortNormalizer", "EthicalModule")
ALL = pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(e, marks=() if type(e).__name__ in DAILY else pytest.mark.slow)
        for e in ESTIMATORS + WITH_THEIR_OWN_TESTS
    ],
    ids=lambda e: type(e).__name__,
)


@ALL
@pytest.mark.filterwarnings("ignore")
def test_a_fit_leaves_the_process_and_copies_answer_alike(estimator, threads):
    estimator = seeded(estimator)
    fitted = clone(estimator).fit(X, Y)  # what is imported first is no part of it
    expected = answers(fitted)
    with kept():
        answers(clone(estimator).fit(X, Y))
    for again in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert_array_equal(answers(again), expected)
    # A copy has nothing of the original.
    assert vars(clone(fitted)).keys() == vars(clone(estimator)).keys()


QUICK = {"far": 0.1}


def audited(folder):
    report = audit(X, Y["identity"], Y["group"], **QUICK)
    report.save(folder / "out", replace=True)
    return report


def compared(folder):
    groups = {"group": Y["group"]}
    systems = [EmbeddingData(Z, Y["identity"], groups) for Z in (X, np.tanh(X))]
    return compare_systems(*systems, **QUICK)


def benched(folder):
    quick = {**QUICK, "n_splits": 2, "inner_splits": 2}
    methods = ["group means out"]
    return compare_mitigations(X, Y["identity"], Y["group"], methods, **quick)


@pytest.mark.slow
@pytest.mark.parametrize("use", [audited, compared, benched])
@pytest.mark.filterwarnings("ignore")
def test_what_measures_leaves_the_process_and_has_copies(
    use, tmp_path, monkeypatch, threads
):
    without_rendering(monkeypatch)
    found = use(tmp_path)  # what is imported first is no part of it
    with kept():
        use(tmp_path)
    for again in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert again.to_json() == found.to_json()


def test_the_command_leaves_the_process(tmp_path, capsys, monkeypatch, threads):
    faces = tmp_path / "faces.npz"
    np.savez(faces, embedding=X, identity=Y["identity"], group=Y["group"])
    command = ["audit", str(faces), "--attribute", "group", "--quiet"]
    command += ["--fmr", "0.1"]
    cli.main(command)  # what is imported first is no part of it
    with kept():
        assert cli.main(command) in (0, 3)
    with kept():
        assert cli.main(["audit", str(tmp_path), *command[2:]]) == 2

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("skfairfr.report.audit_data", stop)
    with kept():
        assert cli.main(command) == 130
