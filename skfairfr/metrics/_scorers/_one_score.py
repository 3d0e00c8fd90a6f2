"""Scorers of one rate or disparity of an estimator's embeddings, for searches.

A scorer is called ``scorer(estimator, X, y, sensitive_features=None, domain=None)``,
compares the embeddings ``estimator.transform(X)`` and returns a number, greater being
better. ``_base.py`` compares embeddings and raises errors; ``_several_scores.py`` returns
several scores at once.
"""

import numpy as np

from skfairfr.metrics._scorers import _base
from skfairfr.metrics._scorers._few_errors import about_few_errors, reported
from skfairfr.utils._validation import check_option


class FairnessScorer(_base.Scorer):
    """Scorer of one rate or disparity; :func:`make_fairness_scorer` builds it.

    Called as ``scorer(estimator, X, y, sensitive_features=None, domain=None)``, it
    compares the rows of ``estimator.transform(X)`` with each other and returns minus the
    rate or disparity, so that greater is better: for ``bfar_scorer`` minus the BFAR of
    eq. (4) of [1]_, in [-inf, -1]. It raises a ``ValueError`` where the value is undefined
    or cannot be resolved, which scikit-learn turns into ``error_score``.

    Parameters
    ----------
    rate : {"far", "frr"}, default="far"
        False acceptances or false rejections.
    how : str, tuple, callable or None, default="max_min"
        The disparity over groups; None for the rate itself.
    far : float in (0, 1), default=1e-3
        FAR level at which to operate.
    operating_point : {"overall", "worst_group", "group"}, default="worst_group"
        Which FAR meets the level.
    group : label, default=None
        With ``how=None``, the rate of one group; None is overall.
    average : {"pair", "identity"}, default="pair"
        Whether every comparison weighs the same, or every person.
    impostors : {"all", "same_group"}, default="all"
        Which impostor pairs the overall FAR is over.

    See Also
    --------
    make_fairness_scorer : Checks the parameters, and explains them.
    fairness_scores : Several scores from one transform.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Eq. (3)-(4).

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from skfairfr import bfar_scorer, face_labels, make_face_embeddings
    >>> faces = make_face_embeddings(n_identities=200, random_state=0)
    >>> y = face_labels(faces.y, faces.sensitive_features)
    >>> as_they_are = FunctionTransformer()
    >>> bool(bfar_scorer(as_they_are, faces.X, y) < -1)
    True
    """

    def __init__(
        self,
        *,
        rate="far",
        how="max_min",
        far=1e-3,
        operating_point="worst_group",
        group=None,
        average="pair",
        impostors="all",
    ):
        self.rate = rate
        self.how = how
        self.far = far
        self.operating_point = operating_point
        self.group = group
        self.average = average
        self.impostors = impostors

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
        score : float
            Minus the rate or disparity; for a signed ratio minus the absolute natural
            logarithm. Greater is better.

        Raises
        ------
        TypeError
            If the estimator has no ``transform``.
        ValueError
            If groups are missing, the level cannot be resolved, or the value is undefined
            or infinite; messages say what to change.

        Warns
        -----
        FewErrorsWarning
            If the value rests on fewer than 30 errors in a group; once a search.
        """
        return self._score_with({}, estimator, X, y, sensitive_features, domain)

    def _measure(self, shared, estimator, data):
        self.check()
        far_max = float(self.far)  # an array of one number cannot be looked up
        engine = _base.compare_transformed(
            self, estimator, data, far_max, self.average, self.impostors, shared
        )
        question = _base.answerable_question(
            self,
            engine,
            self.far,
            self.rate,
            self.how,
            self.operating_point,
            self.group,
        )
        value, errors = engine.points_and_errors(question)
        score = _base.greater_is_better(value, self.how).item()
        if not np.isfinite(score):
            raise ValueError(
                f"The value of {self!r} {_base.undefined(question, value.item())}."
            )
        _, message = about_few_errors(self, engine, question, errors)
        return reported(score, message)

    def check(self):
        """Raise unless the parameters make sense, whatever the data.

        Raises
        ------
        ValueError
            If a parameter is out of range or contradicts another.
        """
        _base.check_question(
            self.rate, self.how, self.far, self.operating_point, self.group
        )
        check_option(self.average, "average", ("pair", "identity"))
        check_option(self.impostors, "impostors", ("all", "same_group"))


def make_fairness_scorer(
    *,
    rate="far",
    how="max_min",
    far=1e-3,
    operating_point="worst_group",
    group=None,
    average="pair",
    impostors="all",
):
    """Build a scorer for ``scoring=`` of scikit-learn's searches and cross-validation.

    The scorer compares all pairs of ``estimator.transform(X)`` and returns minus the rate
    or disparity. Groups reach it inside y (:func:`~skfairfr.face_labels`) or, with
    ``sklearn.set_config(enable_metadata_routing=True)``, as ``sensitive_features=`` of the
    search's ``fit``; so does ``domain``, with which only pairs across the two domains are
    compared. Defaults give BFAR, eq. (4) of [1]_.

    Parameters
    ----------
    rate : {"far", "frr"}, default="far"
        False acceptances or false rejections.
    how : str, tuple, callable or None, default="max_min"
        The disparity over groups: "max_min", "max_geomean", "log_geomean", "gini",
        "difference", "std", a function of rates (..., n_groups), or None for the rate
        itself. A signed ratio, ("ratio", a, b) for b over a, has no direction: its score
        is minus the absolute logarithm, 0 where both rates are equal.
    far : float in (0, 1), default=1e-3
        FAR level at which to operate. It must be resolved by the impostor pairs of every
        test fold.
    operating_point : {"overall", "worst_group", "group"}, default="worst_group"
        Which FAR meets the level: over all impostor pairs, the largest of the groups', or
        each group's own.
    group : label, default=None
        With ``how=None``, the rate of one group; None is overall.
    average : {"pair", "identity"}, default="pair"
        Whether every comparison weighs the same, or every person.
    impostors : {"all", "same_group"}, default="all"
        Which impostor pairs the overall FAR is over.

    Returns
    -------
    scorer : FairnessScorer
        ``scorer(estimator, X, y, sensitive_features=None, domain=None)`` is a float,
        greater being better: a disparity is less fair the larger it is, and comes negated.

    Raises
    ------
    ValueError
        If a parameter is out of range or contradicts another.

    See Also
    --------
    fairness_scores : Several scores from one transform.
    bfar_scorer, bfrr_scorer, frr_at_far_scorer : Ready ones, at far=1e-3.

    Notes
    -----
    Where a value is undefined, a level is below 1 / n_impostor of the fold, or groups are
    missing, the scorer raises. A search turns that into nan unless it was given
    ``error_score="raise"``, and with nan everywhere it chooses the first candidate.
    Where it rests on fewer than 30 errors in a group, so that a search picks among noise,
    a :class:`FewErrorsWarning` says so once a search, also of work in other processes.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Eq. (3)-(4).

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from skfairfr import face_labels, make_face_embeddings, make_fairness_scorer
    >>> faces = make_face_embeddings(n_identities=200, random_state=0)
    >>> y = face_labels(faces.y, faces.sensitive_features)
    >>> scorer = make_fairness_scorer(rate="frr", how=None, group="female", far=1e-2)
    >>> bool(-1 <= scorer(FunctionTransformer(), faces.X, y) <= 0)
    True
    """
    scorer = FairnessScorer(
        rate=rate,
        how=how,
        far=far,
        operating_point=operating_point,
        group=group,
        average=average,
        impostors=impostors,
    )
    scorer.check()
    return scorer


def _ready(name):
    rate, how, operating_point = _base.ENTRIES[name]
    return FairnessScorer(rate=rate, how=how, operating_point=operating_point)


bfar_scorer = _ready("bfar")
bfrr_scorer = _ready("bfrr")
frr_at_far_scorer = _ready("frr_at_far")
far_max_geomean_scorer = _ready("far_max_geomean")
frr_max_geomean_scorer = _ready("frr_max_geomean")
