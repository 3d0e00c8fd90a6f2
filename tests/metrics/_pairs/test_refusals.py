"""Errors of the functions of pairs and of rates about arguments: one table of calls."""

import numpy as np
import pytest

from skfairfr import face_labels
from skfairfr.metrics import (
    all_pairs,
    bfar,
    detection_cost,
    disparity,
    fairness_discrepancy_rate,
    far_disparity,
    frr_disparity,
    garbe,
    group_error_rates,
    group_gate_rates,
    inequity_rate,
    pair_accuracy,
    threshold_at_far,
    werm,
)

FMR, FNMR = [0.001, 0.002, 0.004, 0.008], [0.01, 0.02, 0.02, 0.05]
FOUR = ([0, 0, 0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0, 2.5, 3.5])
EIGHT = {"y_true": [0, 0, 1, 1] * 2, "y_score": np.arange(8.0), "far": 0.5}
X = np.random.default_rng(0).normal(size=(7, 4))
IDENTITY, GROUP = list("caabcad"), ["m", "f", "f", None, "m", "f", "m"]


def of_four(**options):
    return lambda _: threshold_at_far(*FOUR, **options)


def of_groups(**options):
    """For each disparity of pairs."""
    asked = EIGHT | {"sensitive_features": list("aaaabbbb")} | options
    return lambda metric: metric(**asked)


def of_rates(*arguments, **options):
    return lambda _: disparity(*(arguments or (FMR,)), **options)


def of_both(fmr=FMR, fnmr=FNMR, **options):
    """For each index that joins FMR and FNMR."""
    return lambda index: index(fmr, fnmr, **options)


def of_images(rows=X, y=IDENTITY, groups=None):
    return lambda _: all_pairs(rows, y, sensitive_features=groups)


def of_cost(**options):
    return lambda _: detection_cost([0, 1], [0.1, 0.2], **options)


def of_gate(**options):
    return lambda _: group_gate_rates(**options)


def at(threshold):
    given = {"sensitive_features": [1, 1], "threshold": threshold}
    return lambda _: group_error_rates([0, 1], [1, 2], **given)


def of_folds(folds):
    return lambda _: pair_accuracy([0, 1], [0.1, 0.2], folds)


PAIRS = [far_disparity, frr_disparity, bfar]
BOTH = [fairness_discrepancy_rate, inequity_rate, werm, garbe]
REFUSED = [
    (of_four(far=0), r"far must lie in \(0, 1\)"),
    (of_four(far=[0.1, 0.2]), "far must be one number"),
    (of_four(far=0.1, operating_point="group"), "one threshold per group"),
    (of_four(far=0.1, operating_point="best"), "must be one of 'overall'"),
    (of_four(far=0.1, operating_point="worst_group"), "needs sensitive_features"),
    (of_rates([]), "rates must contain one rate per group"),
    (of_rates([[0.1, 0.2]]), r"rates must contain .* shape \(1, 2\)"),
    (of_rates(["a", "b"]), "rates must be numbers"),
    (of_rates([0.1, -0.2]), "rates must lie in .* group 1 has -0.2"),
    (of_rates([0.1, np.inf]), "rates must lie in .* group 1 has inf"),
    (of_rates(FMR, "minmax"), "how must be one of 'max_min'.* got 'minmax'"),
    (of_rates(FMR, "ratio"), "exactly two groups, got 4"),
    (of_rates(FMR, np.cumsum), "how must return one number"),
    (of_rates(FMR, lambda _: "all"), "how must return a number, got 'all'"),
    (of_rates(FMR, lambda _: None), "how must return a number, got None"),
    (of_rates(FMR, "std", ddof=2), "ddof must be 0 or 1, got 2"),
    (of_rates(FMR, "log_geomean", log_base=1), "log_base must be a number above 1"),
    (of_rates(FMR, "log_geomean", log_reduce="max"), "log_reduce must be one of"),
    (of_rates(zero_division="warn"), "zero_division must be a number"),
    (of_rates([0.1, 0.2], floor=-1), r"floor must lie in \[0, 1\], got -1"),
    (of_images(y=IDENTITY[:6]), "y has 6 rows but X has 7"),
    (of_images(groups=GROUP[:6]), "sensitive_features has 6 rows but X has 7"),
    (of_images(y=[None, *IDENTITY[1:]]), "y is missing .* row 0"),
    (of_images(y=np.zeros((7, 2))), "y must be one column"),
    (of_images(X[:1], ["a"]), "minimum of 2"),
    (of_images([[1.0, 0.0], [0.0, 0.0]], [0, 1]), r"X has a zero row \(1"),
    (of_images([[1.0, np.nan], [0.0, 1.0]], [0, 1]), "X contains NaN"),
    (of_images(y=face_labels(IDENTITY, GROUP), groups=GROUP), "give it once"),
    (of_cost(p_target=0), r"p_target must lie in \(0, 1\)"),
    (of_cost(p_target=[0.1, 1.0]), r"p_target must lie in \(0, 1\)"),
    (of_cost(c_miss=0), "c_miss must be a number above 0"),
    (of_cost(c_fa=np.inf), "c_fa must be a number above 0"),
    (of_cost(threshold="best"), "must be a number, 'bayes' or None, got 'best'"),
    (of_cost(threshold=np.nan), "threshold must be a similarity"),
    (of_cost(threshold=[0.1, 0.2]), "threshold must be one number"),
    (of_gate(far=0), "far must lie in"),
    (of_gate(far=[1e-3, 1e-2]), "far must be one number"),
    (of_gate(frr=1.5), "frr must lie in"),
    (of_gate(error=-0.1), "error must lie in"),
    (of_gate(error="x"), "error must lie in"),
    (of_gate(n_groups=1), "n_groups must be an integer from 2"),
    *((at(t), "threshold must") for t in (np.nan, [0.1, 0.2], "high", None)),
    (of_folds(["a", "a"]), "folds must be of two folds at least"),
    (of_folds(["a"]), "folds has 1 rows but y_score has 2"),
]
OF_PAIRS = [
    (of_groups(far=1.0), r"far must lie in \(0, 1\)"),
    (of_groups(far=[0.1]), "far must be one number"),
    (of_groups(zero_division=None), "zero_division must be a number"),
    (of_groups(sensitive_features=None), "sensitive_features must give"),
    (of_groups(sensitive_features=[None] * 8), "no known group"),
    (of_groups(sensitive_features=["a"] * 7), "has 7 rows but y_score has 8"),
    (of_groups(y_true=[0] * 7), "y_true has 7 pairs but y_score has 8"),
]
OF_DISPARITIES = [
    (of_groups(how="best"), "how must be one of"),
    (of_groups(how="ratio", sensitive_features=list("aabbccaa")), "exactly two groups"),
    (of_groups(operating_point="best"), "operating_point must be one of .*'group'"),
]
OF_BOTH = [
    (of_both(fnmr=FNMR[:3]), "fmr has 4 groups but fnmr has 3"),
    (of_both([1.5, 0.1], [0.1, 0.1]), r"fmr must lie in \[0, 1\], got 1.5"),
    (of_both([0.1, 0.1], [0.1, -1]), r"fnmr must lie in \[0, 1\]"),
    (of_both(alpha=1.5), r"alpha must lie in \[0, 1\], got 1.5"),
    (of_both(alpha=np.nan), "alpha must lie"),
    (of_both(alpha="half"), "alpha must lie"),
    (of_both([], []), "fmr must contain one rate per group"),
]
CASES = [
    (function, *case)
    for functions, cases in (
        ([None], REFUSED),
        (PAIRS, OF_PAIRS),
        (PAIRS[:2], OF_DISPARITIES),
        (BOTH, OF_BOTH),
    )
    for function in functions
    for case in cases
]


@pytest.mark.parametrize(("function", "call", "words"), CASES)
def test_refused(function, call, words):
    with pytest.raises(ValueError, match=words):
        call(function)
