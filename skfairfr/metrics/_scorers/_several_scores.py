"""The scorer that returns several scores of an estimator's embeddings.

One transform and one comparison of all pairs serve every entry.
"""

import numpy as np

from skfairfr.metrics._scorers import _base
from skfairfr.metrics._scorers._base import LOG_RATIO, is_signed
from skfairfr.metrics._scorers._few_errors import about_few_errors, reported
from skfairfr.utils._validation import check_level, warn_undefined


def fairness_scores(far=1e-3, *, ratio=None):
    """Build a scorer that returns several scores from one transform and one comparison.

    The entries are "bfar" and "bfrr" (eq. (3)-(4) of [1]_), "far_max_geomean" and
    "frr_max_geomean" at the worst-group operating point, and the overall "frr_at_far", to
    report next to every disparity. For other scores give the search a dict of scorers of
    :func:`make_fairness_scorer`: those of the same level, average and impostors share one
    transform and one comparison as well.

    Parameters
    ----------
    far : float in (0, 1) or sequence of floats, shape (n_levels,), default=1e-3
        FAR level at which to operate; with several, every entry is named by its level as
        well, as in "bfar@1e-3".
    ratio : tuple of two labels, default=None
        With groups (a, b), the entries "far_log_ratio" and "frr_log_ratio" are added: the
        signed natural logarithm of the rate of b over that of a, at the same threshold as
        "bfar". They have no direction: draw them with
        :class:`~skfairfr.metrics.KappaGridDisplay`, never choose by them. Their mean over
        folds is the logarithm of the geometric mean.

    Returns
    -------
    scorer : FairnessScores
        ``scorer(estimator, X, y, sensitive_features=None, domain=None)`` is a dict of
        floats, greater being better: rates and disparities come negated, since they are
        worse, and less fair, the larger they are.

    Raises
    ------
    ValueError
        If a level is outside (0, 1), occurs twice, or ``ratio`` is not two labels.

    See Also
    --------
    make_fairness_scorer : One score; how groups and domains reach a scorer.
    skfairfr.model_selection.BestTradeOff : Chooses by two of the entries.

    Notes
    -----
    The scorer raises if the fold cannot answer for any candidate (missing groups, a level
    below 1 / n_impostor). A value that is undefined for one candidate, such as the ratio
    of a group without a false acceptance, is nan in its own entry, with a warning. Where
    one rests on fewer than 30 errors in a group, a :class:`FewErrorsWarning` says so once a
    search.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Eq. (3)-(4).

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from skfairfr import face_labels, fairness_scores, make_face_embeddings
    >>> faces = make_face_embeddings(n_identities=200, random_state=0)
    >>> y = face_labels(faces.y, faces.sensitive_features)
    >>> scores = fairness_scores(far=1e-2)(FunctionTransformer(), faces.X, y)
    >>> sorted(scores)
    ['bfar', 'bfrr', 'far_max_geomean', 'frr_at_far', 'frr_max_geomean']
    """
    scorer = FairnessScores(far, ratio)
    scorer.check()
    return scorer


class FairnessScores(_base.Scorer):
    """Scorer that returns several scores; :func:`fairness_scores` builds it.

    Parameters
    ----------
    far : float in (0, 1) or sequence of floats, shape (n_levels,), default=1e-3
        FAR levels at which to operate.
    ratio : tuple of two labels, default=None
        Two groups whose signed ratio of rates is returned as well.

    See Also
    --------
    fairness_scores : Checks the parameters, and explains them.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Eq. (3)-(4).

    Examples
    --------
    >>> from skfairfr import fairness_scores
    >>> fairness_scores(far=1e-2)
    FairnessScores(far=0.01)
    """

    def __init__(self, far=1e-3, ratio=None):
        self.far = far
        self.ratio = ratio

    def score(self, estimator, X, y, sensitive_features=None, domain=None):
        """Score an estimator's embeddings of some images.

        Parameters
        ----------
        estimator : object
            Fitted, with ``transform``: its rows are compared by their cosine.
        X : array-like, shape (n_samples, n_features)
            Input of ``transform``.
        y : array-like, shape (n_samples,), or frame
            Identity of each image; or the result of :func:`~skfairfr.face_labels`, or a
            frame with the columns ``identity``, ``group`` and ``domain``.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image; None and NaN are unknown.
        domain : array-like, shape (n_samples,), default=None
            With two values, only pairs across them are compared.

        Returns
        -------
        scores : dict of str -> float
            Minus each rate or disparity: greater is better. nan, with a warning, where
            one is undefined for this estimator.

        Raises
        ------
        TypeError
            If the estimator has no ``transform``.
        ValueError
            If groups are missing or too few, or a level cannot be resolved.

        Warns
        -----
        UndefinedMetricWarning
            If a value is undefined for this estimator.
        FewErrorsWarning
            If a value rests on fewer than 30 errors in a group; once a search.
        """
        return self._score_with({}, estimator, X, y, sensitive_features, domain)

    def _measure(self, shared, estimator, data):
        self.check()
        levels = np.asarray(self.far, dtype=np.float64)
        engine = _base.compare_transformed(
            self, estimator, data, float(levels.max()), shared=shared
        )
        scores, few = {}, []
        for name, (rate, how, operating_point) in self._entries().items():
            question = _base.answerable_question(
                self, engine, levels, rate, how, operating_point
            )
            values, errors = engine.points_and_errors(question)
            if is_signed(name):
                with np.errstate(divide="ignore"):
                    found = np.log(values)
            else:
                found = _base.greater_is_better(values, how)
            found = np.atleast_1d(question.in_shape(found))
            for level, score in zip(np.atleast_1d(levels), found, strict=True):
                key = name if levels.ndim == 0 else name_at_level(name, level)
                scores[key] = self._defined(key, float(score), question)
            few.append((*about_few_errors(self, engine, question, errors), key))
        _, message, key = min(few)
        scores[key] = reported(scores[key], message)
        return scores

    def check(self):
        """Raise unless the parameters make sense, whatever the data.

        Raises
        ------
        ValueError
            If a level is outside (0, 1), occurs twice, or ``ratio`` is not two labels.
        """
        levels = check_level(self.far)
        if levels.ndim > 1 or len(np.unique(levels)) < levels.size:
            raise ValueError(
                f"far must be one level, or several different ones; got {self.far!r}."
            )
        if self.ratio is not None and (
            not isinstance(self.ratio, tuple | list) or len(self.ratio) != 2
        ):
            raise ValueError(
                "ratio must be two groups (a, b), for the rate of b over that of a; got "
                f"{self.ratio!r}."
            )

    def _entries(self):
        entries = dict(_base.ENTRIES)
        if self.ratio is not None:
            for rate in ("far", "frr"):
                how = ("ratio", *self.ratio)
                entries[f"{rate}_{LOG_RATIO}"] = (rate, how, "worst_group")
        return entries

    def _defined(self, name, score, question):
        """The score, or nan with a warning where it is not finite."""
        if np.isfinite(score):
            return score
        value = score if is_signed(name) else -score
        warn_undefined(
            f"{name} of {self!r} {_base.undefined(question, value)}. It is set to nan "
            "here, and a search never prefers nan to a number."
        )
        return np.nan


def name_at_level(name, level):
    """Name of a score at one of several levels, as "bfar@1e-3"."""
    text = np.format_float_scientific(level, trim="-", exp_digits=1)
    return f"{name}@{text}"
