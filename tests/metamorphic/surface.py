"""A small set of people, and the numbers that the public surface gives of it."""

from functools import cache

import numpy as np
import pandas as pd

from skfairfr import make_face_embeddings
from skfairfr.comparators import (
    ClusterCalibration,
    CohortNormalizer,
    FairScoreNormalizer,
    GroupMeanRemover,
    GroupThresholds,
    PLDAComparator,
    ScoreCalibrator,
    WithinClassWhitening,
)
from skfairfr.model_selection import compare_mitigations
from skfairfr.report import EmbeddingData, Policy, audit, compare_systems

LEVELS = [0.1, 0.05]
LIMITS = {"max_fmr": 0.2, "max_fnmr": 0.4, "max_bfar": 3.0}
# Of one level a limit of its own.
POLICY = Policy("door", LIMITS, fmr=LEVELS, at={0.05: {"max_fnmr": 0.05}})
# Every comparator and what prepares embeddings for one.
COMPARATORS = {
    "cohort": CohortNormalizer(top=5),
    "t": CohortNormalizer("t", cohort="images"),
    "thresholds": GroupThresholds(far=0.1),
    "fair scores": FairScoreNormalizer(n_clusters=3, far=0.1, random_state=0),
    "calibration": ClusterCalibration(n_clusters=3, min_pairs=2, random_state=0),
    "curves": ScoreCalibrator(min_pairs=2, by="group", random_state=0),
    "means": GroupMeanRemover(),
    "whitening": WithinClassWhitening(),
    "plda": PLDAComparator(),
}


@cache
def people():
    """Embeddings that float16 holds exactly, identities and groups; read-only."""
    made = make_face_embeddings(
        40, n_features=8, groups={"f": 0.5, "m": 0.5}, kappa=20.0, random_state=0
    )
    X = made.X.astype(np.float16).astype(np.float32)
    for array in (X, made.y, made.sensitive_features):
        array.flags.writeable = False
    return X, made.y, made.sensitive_features


def audited(X, y, groups, **options):
    """An audit with its checks, of a policy unless options say what to check."""
    usual = {"far": LEVELS, "limits": LIMITS} if options else {"policy": POLICY}
    return audit(X, y, groups, attribute="gender", **usual | options)


def answered(estimator, X, y, groups):
    """What an estimator, fitted here, makes of the same rows."""
    return asked(estimator.fit(X, y, groups), X, groups)


def asked(fitted, rows, groups):
    """Scores of all pairs of rows, or transformed rows."""
    if hasattr(fitted, "transform"):
        return fitted.transform(rows)
    given = {}
    if fitted.takes_groups:
        given = {f"sensitive_features_{side}": groups for side in (1, 2)}
    return fitted.score_matrix(rows, rows, **given)


@cache
def usual_audit():
    """Of the people as they are."""
    return audited(*people())


@cache
def usual_gains():
    """Of the people as they are."""
    return gains(benched(*people()))


def compared(before, after):
    """A comparison of two systems, each (X, y, groups)."""
    systems = [EmbeddingData(X, y, {"gender": g}) for X, y, g in (before, after)]
    return compare_systems(*systems, far=LEVELS)


def benched(X, y, groups, **options):
    """A bench of two mitigations that need no training."""
    methods = {"means": GroupMeanRemover(), "cohort": CohortNormalizer(top=5)}
    quick = {"n_splits": 2, "inner_splits": 2, "far": 0.1}
    return compare_mitigations(X, y, groups, methods, refit=False, **quick, **options)


def rates(report, renamed=None):
    """The numbers of an audit by level and group, and its verdicts; groups renamed."""
    renamed = {} if renamed is None else renamed
    frame = report.to_frame("rates", "pandas", full=True)
    frame["group"] = [renamed.get(g, g) for g in frame["group"].astype(object)]
    frame["group"] = frame["group"].where(frame["group"].notna(), "everyone")
    return frame.set_index(["level", "group"]).select_dtypes("number").sort_index()


def verdicts(report):
    """Verdicts of the checks of an audit, by limit and level."""
    return {(check.name, check.far): check.verdict for check in report.checks}


def findings(report, renamed=None):
    """What is told of each group against the reference, by rate and level; groups renamed."""
    renamed = {} if renamed is None else renamed
    return {
        (f.rate, level.far, renamed.get(f.group, f.group)): (
            *(renamed.get(f.reference, f.reference), f.verdict, f.n_comparisons),
            *(f.ratio.value, f.ratio.low, f.ratio.high, f.ratio.p_value, f.p_adjusted),
        )
        for audit in report.audits
        for level in audit.levels
        for f in level.findings
    }


def assert_same_findings(one, other, rtol=1e-9):
    """Raise unless two answers of :func:`findings` hold the same."""
    assert one.keys() == other.keys() and len(one) >= 4
    for key, (*words, n, a, low, high, p, adjusted) in one.items():
        assert other[key][:3] == (*words, n)
        numbers = a, low, high, p, adjusted
        np.testing.assert_allclose(other[key][3:], numbers, rtol=rtol)


def assert_same_rates(one, other, rtol=1e-9, but=()):
    """Raise unless two tables of :func:`rates` hold the same numbers."""
    assert len(one) > 4
    columns = [name for name in one.columns if name not in but]
    pd.testing.assert_frame_equal(one[columns], other[columns], rtol=rtol, atol=1e-12)


def changes(comparison):
    """Differences of rates and their bounds, by group, rate and level."""
    return {
        (c.group, c.rate, c.far): (c.before, c.after, c.difference, c.low, c.high)
        for c in comparison.changes
    }


def gains(bench):
    """What each method of a bench changes, with its interval."""
    return {
        (method.name, metric): (c.ratio, c.low, c.high)
        for method in bench.methods
        for metric, c in method.changes.items()
    }
