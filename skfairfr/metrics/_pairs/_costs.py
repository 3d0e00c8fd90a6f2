"""Detection costs, calibration and plain accuracy of scored pairs.

These are the numbers that toolkits of speaker and face recognition report first: the cost of
decisions (DCF), the cost of log-likelihood ratios (Cllr) and how much of it is calibration, and
the accuracy over folds. ``y_true`` and ``y_score`` are those of ``_rates``. scikit-learn has the area under the
ROC curve, ``roc_auc_score(y_true, y_score)``, and parts of it, with ``max_fpr=``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression
from scipy.special import xlogy

from skfairfr._core._rates import accepts, share_accepted, share_rejected
from skfairfr.metrics._pairs._rates import (
    check_pairs,
    check_single_threshold,
    far_frr_curve,
    frr_at_far,
    split_pairs,
    warn_missing_kinds,
)
from skfairfr.utils._errors import invalid
from skfairfr.utils._frames import Framed, framed, library_of
from skfairfr.utils._labels import check_length, encode
from skfairfr.utils._types import Column
from skfairfr.utils._validation import check_level, check_number, check_option

COST = (lambda x: 0 < x < np.inf, "must be a number above 0")


def detection_cost(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    p_target: ArrayLike = 0.01,
    c_miss: float = 1.0,
    c_fa: float = 1.0,
    threshold: float | str | None = None,
) -> float:
    """Normalised detection cost (DCF): the minimal one, or the actual one at a threshold.

    c_miss p_target FRR + c_fa (1 - p_target) FAR, over the smaller of the two factors, which
    is the cost of the better of accepting all and rejecting all: at 1, scores are no better
    than none.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    p_target : float in (0, 1) or array-like, shape (n_points,), default=0.01
        Prior of genuine pairs in operation. With several, the result is the mean of their
        costs, as in NIST's plans [1]_.
    c_miss, c_fa : float > 0, default=1.0
        Costs of a false rejection and of a false acceptance.
    threshold : float, {"bayes"} or None, default=None
        None: the threshold that makes the cost least, at each operating point, which is the
        minimal cost (minDCF). "bayes": log(c_fa (1 - p_target) / (c_miss p_target)), the best
        threshold if scores are natural logarithms of likelihood ratios, which gives the
        actual cost (actDCF). A number: the similarity from which on a system accepts.

    Returns
    -------
    cost : float >= 0
        Lower is better. A minimal cost is at most 1. nan without genuine or impostor pairs.

    Raises
    ------
    ValueError
        If ``p_target`` is outside (0, 1), a cost is not positive, the threshold is another
        word, or the pairs are not as :func:`far_frr_curve` requires.

    Warns
    -----
    UndefinedMetricWarning
        If there is no genuine or no impostor pair.

    See Also
    --------
    cllr : The cost over all operating points.

    References
    ----------
    .. [1] NIST 2016 Speaker Recognition Evaluation Plan, "Performance measurement".

    Examples
    --------
    >>> from skfairfr.metrics import detection_cost
    >>> y_true, y_score = [0, 0, 0, 0, 1, 1], [-4.0, -3.0, -1.0, 2.0, 1.0, 5.0]
    >>> detection_cost(y_true, y_score, p_target=0.5)
    0.25
    >>> detection_cost(y_true, y_score, p_target=[0.5, 0.01], threshold="bayes")
    0.375
    """
    points = check_level(p_target, "p_target").ravel()[:, None]
    miss = check_number(c_miss, "c_miss", *COST) * points
    false = check_number(c_fa, "c_fa", *COST) * (1 - points)
    if threshold is None:
        far, frr, _ = far_frr_curve(y_true, y_score)
    else:
        at = np.log(false / miss)
        if isinstance(threshold, str) and threshold != "bayes":
            problem = f"must be a number, 'bayes' or None, got {threshold!r}."
            raise invalid("threshold", threshold, problem)
        if not isinstance(threshold, str):
            at = np.full((1, 1), check_single_threshold(threshold))
        pairs = split_pairs(*check_pairs(y_true, y_score))
        warn_missing_kinds(pairs.impostor.size, pairs.genuine.size)
        far, frr = share_accepted(pairs.impostor, at), share_rejected(pairs.genuine, at)
    cost = (miss * frr + false * far).min(axis=1, keepdims=True)
    return float((cost / np.minimum(miss, false)).mean())


def half_total_error_rate(
    y_true: ArrayLike, y_score: ArrayLike, *, threshold: float
) -> float:
    """Half total error rate (HTER): the mean of FAR and FRR at a threshold set elsewhere.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    threshold : float
        Similarity from which on a pair is accepted, such as that of the equal error rate of
        other data.

    Returns
    -------
    rate : float in [0, 1]
        Lower is better. NaN without genuine or impostor pairs.

    Raises
    ------
    ValueError
        If the threshold is no number, or the pairs are not as :func:`far_frr_curve` requires.

    Warns
    -----
    UndefinedMetricWarning
        If there is no genuine or no impostor pair.

    References
    ----------
    .. [1] Bengio, S., Mariéthoz, J., & Keller, M. (2005). The expected performance curve. ICML
       Workshop on ROC Analysis in Machine Learning.

    Examples
    --------
    >>> from skfairfr.metrics import half_total_error_rate
    >>> half_total_error_rate([0, 0, 0, 0, 1, 1], [1, 2, 3, 6, 4, 5], threshold=5)
    0.375
    """
    return detection_cost(y_true, y_score, p_target=0.5, threshold=threshold) / 2


def expected_performance_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    y_true_dev: ArrayLike,
    y_score_dev: ArrayLike,
    alpha: ArrayLike | None = None,
    error: str = "half",
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Error of a test set at the best thresholds of a development set, over what errors cost.

    A curve of one set compares systems at thresholds that nobody knows before the test. Here
    each threshold minimises alpha FAR + (1 - alpha) FRR of the development set, eq. (7) of
    [1]_. For several, the largest.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair of the test set, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    y_true_dev, y_score_dev : array-likes, shape (n_dev_pairs,)
        The same of the development set.
    alpha : float in (0, 1) or array-like, shape (n_alpha,), default=None
        Weight of the FAR, which is 1 - p_target of :func:`detection_cost` if errors cost the
        same. If None: 0.02, 0.04, ..., 0.98.
    error : {"half", "weighted"}, default="half"
        Error of the test set: the half total error rate, or alpha FAR + (1 - alpha) FRR.

    Returns
    -------
    alpha : ndarray, shape (n_alpha,)
        Increasing.
    error : ndarray, shape (n_alpha,)
        Error in [0, 1]. Lower is better. NaN if a set lacks genuine or impostor pairs.
    thresholds : ndarray, shape (n_alpha,)
        Similarities from which on a pair is accepted. Inf rejects all.

    Raises
    ------
    ValueError
        If ``alpha`` is outside (0, 1), ``error`` is another word, or the pairs are not as
        :func:`far_frr_curve` requires.

    Warns
    -----
    UndefinedMetricWarning
        If a set has no genuine or no impostor pair.

    See Also
    --------
    half_total_error_rate : The error at one threshold.
    ExpectedPerformanceDisplay : Draws the curve by group.

    References
    ----------
    .. [1] Bengio, S., & Mariéthoz, J. (2004). The expected performance curve: a new assessment
       measure for person authentication. Odyssey.

    Examples
    --------
    >>> from skfairfr.metrics import expected_performance_curve
    >>> dev = {"y_true_dev": [0, 0, 0, 1, 1], "y_score_dev": [0.1, 0.2, 0.5, 0.4, 0.9]}
    >>> test = [0, 0, 1, 1], [0.1, 0.6, 0.5, 0.8]
    >>> _, error, thresholds = expected_performance_curve(*test, **dev, alpha=[0.1, 0.9])
    >>> thresholds.tolist(), error.tolist()
    ([0.4, 0.9], [0.25, 0.5])
    """
    check_option(error, "error", ("half", "weighted"))
    points = np.arange(1, 50) / 50 if alpha is None else check_level(alpha, "alpha")
    points = np.sort(points, axis=None)
    far, frr, thresholds = far_frr_curve(y_true_dev, y_score_dev)
    best = [np.argmin(a * far + (1 - a) * frr) for a in points.tolist()]
    undefined = np.isnan(far[0] + frr[0])
    thresholds = thresholds[best]
    pairs = split_pairs(*check_pairs(y_true, y_score))
    warn_missing_kinds(pairs.impostor.size, pairs.genuine.size)
    far = share_accepted(pairs.impostor, thresholds)
    frr = share_rejected(pairs.genuine, thresholds)
    weight = points if error == "weighted" else 0.5
    found = (weight * far + (1 - weight) * frr, thresholds)
    return points, *(np.where(undefined, np.nan, column) for column in found)


def tar_at_far(y_true: ArrayLike, y_score: ArrayLike, *, far: float = 1e-3) -> float:
    """True acceptance rate at a false acceptance level: 1 - FRR.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    far : float in (0, 1), default=1e-3
        False acceptance rate over all impostor pairs at which to operate.

    Returns
    -------
    rate : float in [0, 1]
        Share of genuine pairs accepted. Higher is better.

    Raises
    ------
    ValueError
        As :func:`frr_at_far`.

    Warns
    -----
    UndefinedMetricWarning
        As :func:`frr_at_far`.

    References
    ----------
    .. [1] Whitelam, C., et al. (2017). IARPA Janus Benchmark-B Face Dataset. CVPR Workshops,
       whose 1:1 protocol reports it.

    Examples
    --------
    >>> from skfairfr.metrics import tar_at_far
    >>> tar_at_far([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.35, 0.2], far=0.25)
    0.5
    """
    return 1.0 - frr_at_far(y_true, y_score, far=far)


# ---- log-likelihood ratios -----------------------------------------------------------


def cllr(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Cost of log-likelihood ratios, the cost of decisions over all operating points.

    Half the mean of log2(1 + exp(-s)) over genuine pairs, and half that of log2(1 + exp(s))
    over impostor pairs [1]_.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Natural logarithm of the likelihood ratio of each pair, genuine over impostor. A
        cosine is none, and has a large cost until it is calibrated. Larger is more similar.

    Returns
    -------
    cost : float >= 0, in bits
        Lower is better. Scores of 0 have 1, or nan without genuine or impostor pairs.

    Raises
    ------
    ValueError
        If the pairs are not as :func:`far_frr_curve` requires.

    Warns
    -----
    UndefinedMetricWarning
        If there is no genuine or no impostor pair.

    See Also
    --------
    min_cllr : What of it no increasing map of the scores removes.
    calibration_loss : The rest.

    References
    ----------
    .. [1] Brümmer, N., & du Preez, J. (2006). Application-independent evaluation of speaker
       detection. Computer Speech and Language 20.

    Examples
    --------
    >>> from skfairfr.metrics import cllr
    >>> cllr([0, 1], [0.0, 0.0])
    1.0
    """
    is_genuine, scores = check_pairs(y_true, y_score)
    share = _shares(is_genuine)
    ratios = np.where(is_genuine, -1.0, 1.0) * scores.astype(np.float64)
    return float(share @ np.logaddexp(0.0, ratios) / (2 * np.log(2)))


def min_cllr(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """The least Cllr that an increasing map of the scores reaches on these pairs.

    The map is found by pooling adjacent violators, genuine and impostor pairs weighing the
    same in total [1]_. It is fitted to the pairs on which it is measured, so few pairs make
    it too low.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair, on any scale. Larger is more similar.

    Returns
    -------
    cost : float in [0, 1], in bits
        Lower is better. 0 if a threshold separates the two kinds, 1 if scores carry no
        information, or nan without genuine or impostor pairs.

    Raises
    ------
    ValueError
        If the pairs are not as :func:`far_frr_curve` requires.

    Warns
    -----
    UndefinedMetricWarning
        If there is no genuine or no impostor pair.

    References
    ----------
    .. [1] Brümmer, N., & du Preez, J. (2006). Application-independent evaluation of speaker
       detection. Computer Speech and Language 20.

    Examples
    --------
    >>> from skfairfr.metrics import min_cllr
    >>> min_cllr([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4])
    0.0
    """
    is_genuine, scores = check_pairs(y_true, y_score)
    share = _shares(is_genuine)
    if np.isnan(share).any():
        return np.nan
    _, of_score = np.unique(scores, return_inverse=True)
    genuine, both = (
        np.bincount(of_score, weights) for weights in (share * is_genuine, share)
    )
    posterior = isotonic_regression(genuine / both, weights=both).x
    cost = xlogy(genuine, posterior) + xlogy(both - genuine, 1 - posterior)
    return float(np.abs(cost.sum()) / (2 * np.log(2)))


def calibration_loss(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Cllr minus its minimum: what is lost because scores are not calibrated.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair. For the pairs of one group, the loss is
        what the group loses because the calibration was fitted on everyone.
    y_score : array-like of float, shape (n_pairs,)
        Natural logarithm of the likelihood ratio of each pair. Larger is more similar.

    Returns
    -------
    loss : float >= 0, in bits
        Lower is better. NaN without genuine or impostor pairs.

    Raises
    ------
    ValueError
        If the pairs are not as :func:`far_frr_curve` requires.

    Warns
    -----
    UndefinedMetricWarning
        If there is no genuine or no impostor pair.

    References
    ----------
    .. [1] Brümmer, N., & du Preez, J. (2006). Application-independent evaluation of speaker
       detection. Computer Speech and Language 20.

    Examples
    --------
    >>> from skfairfr.metrics import calibration_loss
    >>> round(calibration_loss([0, 0, 1, 1], [-1.0, 0.5, -0.5, 1.0]), 3)
    0.429
    """
    return cllr(y_true, y_score) - min_cllr(y_true, y_score)


def _shares(is_genuine):
    """Share of each pair in its kind. NaN, with a warning, if one kind is absent."""
    counts = np.bincount(is_genuine, minlength=2)
    warn_missing_kinds(*counts)
    share = 1 / counts if counts.all() else np.full(2, np.nan)
    return share[is_genuine.astype(int)]


# ---- accuracy over folds -------------------------------------------------------------


@dataclass(frozen=True)
class PairAccuracy(Framed):
    """Accuracy over folds, from :func:`pair_accuracy`.

    Attributes
    ----------
    value : float in [0, 1]
        Mean of the accuracies of the folds. Higher is better.
    standard_error : float
        Standard deviation of the folds over the square root of their number. It takes folds as
        independent, which folds that share people are not.
    folds : ndarray, shape (n_folds,)
        Sorted labels.
    accuracy, threshold : ndarrays of float, shape (n_folds,)
        Share of the fold's pairs that are decided rightly if scores of at least the threshold
        are accepted, which is the best one of the other folds.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    pair_accuracy : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.metrics import pair_accuracy
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, 4000)
    >>> y_score = rng.normal(size=4000) + 3 * y_true
    >>> found = pair_accuracy(y_true, y_score, folds=np.arange(4000) % 10)
    >>> print(f"{found.value:.3f} +- {found.standard_error:.3f}")
    0.934 +- 0.003
    """

    value: float
    standard_error: float
    folds: np.ndarray
    accuracy: np.ndarray
    threshold: np.ndarray


def pair_accuracy(y_true: ArrayLike, y_score: ArrayLike, folds: Column) -> PairAccuracy:
    """Accuracy of each fold at the best threshold of the others, as the LFW protocol has it.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    folds : array-like, shape (n_pairs,)
        Fold of each pair, of any label type. Those of a list of pairs as published.

    Returns
    -------
    accuracy : PairAccuracy
        A larger accuracy is better.

    Raises
    ------
    ValueError
        If there are fewer than two folds, or the pairs are not as :func:`far_frr_curve` requires.

    References
    ----------
    .. [1] Huang, G. B., Ramesh, M., Berg, T., & Learned-Miller, E. (2007). Labeled Faces in
       the Wild. Technical report 07-49, University of Massachusetts, section III: "View 2".

    Examples
    --------
    >>> from skfairfr.metrics import pair_accuracy
    >>> y_true, y_score = [0, 0, 1, 1, 0, 0, 1, 1], [1, 2, 3, 4, 1, 2.5, 2, 4]
    >>> found = pair_accuracy(y_true, y_score, [1, 1, 1, 1, 2, 2, 2, 2])
    >>> found.accuracy.tolist(), found.value
    ([0.75, 0.75], 0.75)
    """
    library = library_of(y_true, y_score, folds)
    is_genuine, scores = check_pairs(y_true, y_score)
    check_length(folds, len(scores), "folds", "y_score")
    labels = encode(folds, "folds")
    if labels.values.size < 2:
        problem = "must be of two folds at least;"
        raise invalid("folds", folds, problem, "give the fold of each pair.")
    order = np.argsort(-scores, kind="stable")
    ordered = is_genuine[order], scores[order]
    thresholds = [
        _best_threshold(*(column[labels.codes[order] != fold] for column in ordered))
        for fold in range(labels.values.size)
    ]
    right = accepts(scores, np.array(thresholds)[labels.codes]) == is_genuine
    accuracy = np.bincount(labels.codes, right) / np.bincount(labels.codes)
    error = accuracy.std(ddof=1) / np.sqrt(accuracy.size)
    columns = (labels.values, accuracy, np.array(thresholds))
    return framed(PairAccuracy(float(accuracy.mean()), float(error), *columns), library)


def _best_threshold(is_genuine, scores):
    """The largest threshold at which most pairs are decided rightly. Descending scores."""
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))
    gained = np.cumsum(np.where(is_genuine, 1, -1))[last]
    best = int(np.argmax(gained))
    return float(scores[last[best]]) if gained[best] > 0 else np.inf
