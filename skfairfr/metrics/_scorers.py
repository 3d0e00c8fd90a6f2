"""Scorers of an estimator's embeddings, for scikit-learn's searches.

A scorer is called ``scorer(estimator, X, y, sensitive_features=None, domain=None)``: it
compares the rows of ``estimator.transform(X)`` by a :class:`SimilarityROC` and returns a
number, or a dict of them, greater being better. No resample is drawn. A value that cannot
be computed must never win a search: if the data of a fold do not define it, the scorer
raises an error that shows what to change. Scorers of one call share the transform and the
pass over all pairs.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import UNUSED

from skfairfr._compat import SharingScorer
from skfairfr._core._bootstrap import OPERATING_POINTS
from skfairfr._core._pairs import Expected
from skfairfr._core._rates import DISPARITIES
from skfairfr._core._score_costs import COSTS, ScoreCost
from skfairfr._core._support import MIN_ERRORS
from skfairfr.metrics._identification import RATES, searches_within
from skfairfr.metrics._pairs._rates import check_single_level
from skfairfr.metrics._roc._engine import level_with_errors
from skfairfr.metrics._roc._similarities import is_comparator
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.utils._labels import split_labels, to_column
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import (
    RATE,
    FewErrorsWarning,
    check_level,
    check_number,
    check_option,
    check_rows,
    warn_caller,
    warn_undefined,
)

# Rate, disparity and operating point of each named score.
ENTRIES = {
    "bfar": ("far", "max_min", "worst_group"),
    "bfrr": ("frr", "max_min", "worst_group"),
    "frr_at_far": ("frr", None, "overall"),
    "far_max_geomean": ("far", "max_geomean", "worst_group"),
    "frr_max_geomean": ("frr", "max_geomean", "worst_group"),
}
REMEDIES = (
    "give the groups inside y, as y=face_labels(identity, group), which needs nothing "
    "else, or call sklearn.set_config(enable_metadata_routing=True) and pass "
    "sensitive_features= to fit of the search (params= of cross_validate)"
)
# Parameters of SimilarityROC that a scorer may have too.
DEFAULTS = {"average": "pair", "impostors": "all"}
PREFIX = "mean_test_"
# The end of the names of signed entries of fairness_scores, which have no direction.
LOG_RATIO = "log_ratio"


class _Scorer(SharingScorer):
    """Base of scorers, cloned by scikit-learn and given metadata. Subclasses define ``_of_roc``."""

    # "estimator" is an argument of score, no metadata.
    __metadata_request__score = {  # noqa: RUF012
        "estimator": UNUSED,
        "sensitive_features": True,
        "domain": True,
    }

    def __call__(
        self,
        estimator: Any,
        X: ArrayLike,
        y: Column,
        sensitive_features: Column | None = None,
        domain: Column | None = None,
    ) -> Any:
        """As :meth:`score`."""
        return self._score_with({}, estimator, X, y, sensitive_features, domain)

    def __repr__(self, N_CHAR_MAX=700):
        """All parameters: messages name a scorer by them."""
        with config_context(print_changed_only=False):
            return super().__repr__(N_CHAR_MAX)

    def _score_with(
        self, shared, estimator, X, y, sensitive_features=None, domain=None
    ):
        """Score by what an earlier scorer of one call left in ``shared``, or leave it there."""
        self.check()
        self._warn_of_fitted_people(estimator, y)
        far_max = float(np.asarray(self.far).max())
        data = (X, y, sensitive_features, domain)
        whole = getattr(self, "rate", None) in COSTS
        key, known = (whole, *map(id, data)), shared.get(_Scorer)
        if known is None or known[0] is not X:
            transform, similarity = _parts_of(self, estimator)
            embeddings = check_rows(
                transform(X), dtype=(np.float32, np.float64), input_name="transform(X)"
            )
            # With the data in it, no other object can take their id.
            known = shared[_Scorer] = X, embeddings, similarity
        settings = {name: getattr(self, name, of) for name, of in DEFAULTS.items()}
        if getattr(self, "rate", None) in RATES:
            key = ("searches", *key)
            if key not in shared:
                found = searches_within(known[1], y, sensitive_features, known[2])
                shared[key] = data, found
            return self._of_roc(shared[key][1])
        roc = shared.get(key, (None, None))[1]
        if roc is None or roc.far_max < far_max:
            roc = SimilarityROC(far_max=far_max, similarity=known[2], **settings)
            roc._expected = Expected(whole=whole)
            roc.fit(known[1], y, sensitive_features, domain=domain)
            shared[key] = data, roc
        fitted = {name: getattr(roc, name) for name in DEFAULTS}
        return self._of_roc(roc if fitted == settings else roc.by(**settings))

    def _values(self, roc, levels, rate, how, operating_point, group=None):
        """Values at the levels, the question, and whether they rest on few errors.

        Of a ScoreCost in place of a rate, its one value.
        """
        engine, cost, threshold = roc._engine, None, None
        if isinstance(rate, ScoreCost):
            cost, rate, levels, threshold = rate, "frr", None, 0.0
            operating_point = "overall"
        needs_groups = how is not None or group is not None
        if (needs_groups or operating_point != "overall") and not roc.groups_.size:
            raise ValueError(
                f"{self!r} needs the group of every image and was given none: {REMEDIES}."
            )
        asked = rate, group, how, operating_point
        question = engine.question(levels, threshold, *asked)
        scopes = engine.scopes_of_both if cost else engine.scopes
        needed, found = "two groups with", len(scopes(question)) > 1
        if how is None:
            counts = engine.counts(question)
            needed, found = "some", min(counts) if cost else counts[rate == "far"]
        if not found:
            trials = engine.terms[rate].trials
            trials += f" and {engine.terms.far.trials}" if cost else ""
            raise ValueError(
                f"{self!r} needs {needed} {trials}, which this fold lacks. Use fewer "
                "folds, or skfairfr.IdentityKFold, which balances groups over folds and "
                "keeps all images of a person in one."
            )
        if cost is not None:
            answer = engine.score_cost(question, cost, resampled=False)
            return answer.value, question, not answer.supported.all()
        unresolved = engine.unresolved(question)
        if unresolved is not None:
            why = unresolved.in_words(engine.terms)
            raise ValueError(
                f"{self!r} cannot be computed: {why}. Give a larger far, fewer folds or more "
                "people."
            )
        values, errors = engine.points_and_errors(question)
        return values, question, errors.min() < MIN_ERRORS

    def _warn_of_fitted_people(self, estimator, y):
        """Warn if people of y are among those that the estimator was fitted on.

        A search is warned of once, and not in every fold, whose people are the same.
        """
        people = np.unique(to_column(split_labels(y)[0], "y").astype(str))
        steps = _steps_of(estimator)
        fitted = [getattr(step, "identities_", ()) for step in steps]
        fitted = np.concatenate([np.asarray(labels).astype(str) for labels in fitted])
        both = people[np.isin(people, fitted)]
        fitted_on, kind = vars(self).setdefault("_fitted_on", {}), (*map(type, steps),)
        if not np.isin(both, fitted_on.get(kind, people[:0])).all():
            fitted_on[kind] = np.union1d(people, fitted)
            warn_caller(
                f"{both.size:,} of {people.size:,} people whom {self!r} scores are among those on "
                "whom the estimator was fitted, whose error rates are lower than those of "
                "others. Split by skfairfr.IdentityKFold, which keeps all images of a person "
                "in one fold.",
                UserWarning,
            )

    def _warn_of_few_errors(self):
        # scikit-learn changes warning filters at each score, which forgets former warnings.
        if not getattr(self, "_has_warned", False):
            self._has_warned = True
            level = "larger far, as in make_fairness_scorer(far=1e-2)"
            if getattr(self, "rate", "far") in ("frr", "fnir"):  # has errors above it
                level = "smaller far"
            elif getattr(self, "rate", "far") in COSTS:
                level = "p_target nearer to 0.5"
            message = (
                f"A score of {self!r} rests on fewer than {MIN_ERRORS} errors in some group, "
                f"so candidates may differ by chance alone. Use a {level}, fewer folds "
                "or more people."
            )
            warn_caller(message, FewErrorsWarning)


def _steps_of(estimator):
    """The estimator, the best one of a search, or the steps of a pipeline."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    if not isinstance(estimator, Pipeline):
        return [estimator]
    return [part for _, step in estimator.steps for part in _steps_of(step)]


def _parts_of(scorer, estimator):
    """The function that makes embeddings of X, and the similarity of two of them."""
    # A comparator, alone or at the end of a pipeline, is the similarity itself.
    if isinstance(estimator, Pipeline) and is_comparator(estimator[-1]):
        steps = [s for _, s in estimator.steps[:-1] if s not in (None, "passthrough")]
        return partial(reduce, lambda X, step: step.transform(X), steps), estimator[-1]
    if is_comparator(estimator):
        return lambda X: X, estimator
    if not hasattr(estimator, "transform"):
        raise TypeError(
            f"{scorer!r} compares the embeddings that transform(X) returns, and "
            f"{type(estimator).__name__} has no transform. Score a transformer, a "
            "comparator, or a pipeline that ends with one. For unchanged embeddings, use a "
            "sklearn.preprocessing.FunctionTransformer()."
        )
    return estimator.transform, "cosine"


class FairnessScorer(_Scorer):
    """Scorer of one rate or disparity. :func:`make_fairness_scorer` builds it.

    Called as ``scorer(estimator, X, y, sensitive_features=None, domain=None)``, it
    compares the rows of ``estimator.transform(X)`` with each other and returns minus the
    rate or disparity, because greater is better: for ``bfar_scorer`` minus the BFAR of
    eq. (4) of [1]_, at most -1. An area under the ROC curve keeps its sign. It raises a
    ``ValueError`` if the value is undefined, infinite or cannot be resolved, which scikit-learn
    turns into ``error_score``.

    These scorers exist, each at an FAR of 1e-3:

    =========================== ========== ================= ===================
    Name                        ``rate``   ``how``           ``operating_point``
    =========================== ========== ================= ===================
    ``bfar_scorer``             far        max_min           worst_group
    ``bfrr_scorer``             frr        max_min           worst_group
    ``frr_at_far_scorer``       frr        None              overall
    ``far_max_geomean_scorer``  far        max_geomean       worst_group
    ``frr_max_geomean_scorer``  frr        max_geomean       worst_group
    =========================== ========== ================= ===================

    Parameters
    ----------
    rate : {"far", "frr", "fpir", "fnir", "dcf", "min_dcf", "cllr", "min_cllr", "auc"}, \
default="far"
        False acceptances or false rejections, errors of searches, or a cost.
    how : str, tuple, callable or None, default="max_min"
        The disparity over groups, or None for the rate itself.
    far : float in (0, 1), default=1e-3
        FAR level at which to operate.
    operating_point : {"overall", "worst_group", "group"}, default="worst_group"
        FAR that meets the level.
    group : label, default=None
        Group whose rate is scored, with ``how=None``. If None, overall.
    average : {"pair", "identity"}, default="pair"
        Whether each comparison has the same weight, or each person.
    impostors : {"all", "same_group"}, default="all"
        Impostor pairs in the overall FAR.
    p_target : float in (0, 1), default=0.01
        Share of genuine pairs among those to be decided, of a detection cost.

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
    >>> faces = make_face_embeddings(n_identities=100, random_state=0)
    >>> y = face_labels(faces.y, faces.sensitive_features)
    >>> as_they_are = FunctionTransformer()
    >>> bool(bfar_scorer(as_they_are, faces.X, y) < -1)
    True
    """

    def __init__(
        self,
        *,
        rate: str = "far",
        how: Any = "max_min",
        far: float = 1e-3,
        operating_point: str = "worst_group",
        group: object = None,
        average: str = "pair",
        impostors: str = "all",
        p_target: float = 0.01,
    ) -> None:
        self.rate = rate
        self.how = how
        self.far = far
        self.operating_point = operating_point
        self.group = group
        self.average = average
        self.impostors = impostors
        self.p_target = p_target

    def score(
        self,
        estimator: object,
        X: ArrayLike,
        y: Columns,
        sensitive_features: Column | None = None,
        domain: Column | None = None,
    ) -> float:
        """Score an estimator's embeddings of some images.

        Parameters
        ----------
        estimator : object
            Fitted, with ``transform``: its rows are compared by their cosine.
        X : array-like, shape (n_samples, n_features)
            Input of ``transform``.
        y : array-like, shape (n_samples,), or frame
            Identity of each image, or the result of :func:`~skfairfr.face_labels`, or a
            frame with the columns ``identity``, ``group`` and ``domain``.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image. None and NaN are unknown.
        domain : array-like, shape (n_samples,), default=None
            Domain of each row. With two values, only pairs across them are compared.

        Returns
        -------
        score : float
            Minus the rate or disparity, or the area under the ROC curve. For a signed ratio
            minus the absolute natural logarithm. Greater is better.

        Raises
        ------
        TypeError
            If the estimator has no ``transform``.
        ValueError
            If groups are missing, the level cannot be resolved, or the value is undefined
            or infinite. Messages say what to change.

        Warns
        -----
        FewErrorsWarning
            If the value rests on fewer than 30 errors in a group, once for each scorer.
        """
        return self._score_with({}, estimator, X, y, sensitive_features, domain)

    def _of_roc(self, roc):
        rate = RATES.get(self.rate, self.rate)
        if rate in COSTS:
            at = "bayes" if rate == "dcf" else None
            rate = ScoreCost.of(rate, self.p_target, at)
        asked = (self.far, rate, self.how, self.operating_point, self.group)
        value, question, few = self._values(roc, *asked)
        score = _greater_is_better(value, self.how).item()
        if self.rate == "auc" and self.how is None:
            score = value.item()
        if not np.isfinite(score):
            raise ValueError(
                f"The value of {self!r} {_undefined(question, value.item())}."
            )
        if few:
            self._warn_of_few_errors()
        return score

    def check(self) -> None:
        """Raise unless the parameters make sense, whatever the data.

        Raises
        ------
        ValueError
            If a parameter is out of range or contradicts another.
        """
        check_option(self.rate, "rate", ("far", "frr", *RATES, *COSTS))
        if self.rate in COSTS:
            check_number(self.p_target, "p_target", *RATE)
        check_option(self.operating_point, "operating_point", OPERATING_POINTS)
        check_option(self.average, "average", ("pair", "identity"))
        check_option(self.impostors, "impostors", ("all", "same_group"))
        check_single_level(self.far)
        how = self.how
        name = how[0] if isinstance(how, tuple) and how else how
        if name is not None and not callable(name):
            check_option(name, "how", tuple(DISPARITIES))
        if how is not None and self.group is not None:
            raise ValueError(
                f"group={self.group!r} and how={how!r} exclude each other: a disparity is "
                "over all groups. Use how=None for the rate of one group."
            )
        if how is None and self.group is None and self.operating_point == "group":
            raise ValueError(
                "operating_point='group' has no overall rate. Pass group= or how=."
            )


def make_fairness_scorer(
    *,
    rate: str = "far",
    how: Any = "max_min",
    far: float = 1e-3,
    operating_point: str = "worst_group",
    group: object = None,
    average: str = "pair",
    impostors: str = "all",
    p_target: float = 0.01,
) -> FairnessScorer:
    """Build a scorer for ``scoring=`` of scikit-learn's searches and cross-validation.

    The scorer compares all pairs of ``estimator.transform(X)`` and returns minus the rate,
    cost or disparity ("auc" without ``how`` keeps its sign). Groups are passed in y
    (:func:`~skfairfr.face_labels`) or, with
    ``sklearn.set_config(enable_metadata_routing=True)``, as ``sensitive_features=`` to the
    search's ``fit``. So is ``domain``: only pairs across its two values are then compared.
    Defaults give BFAR, eq. (4) of [1]_.

    Parameters
    ----------
    rate : {"far", "frr", "fpir", "fnir", "dcf", "min_dcf", "cllr", "min_cllr", "auc"}, \
default="far"
        Error rate of comparisons, or of searches (1:N) at the FPIR ``far``. For searches, one
        image of every second person in the fold is enrolled, and the others are probes.
        ``average``, ``impostors`` and ``domain`` are then not used. The other values do not
        use ``far`` or ``operating_point``: minDCF ("min_dcf"), minimal Cllr, the area under
        the ROC curve ("auc", higher is better) and, for a comparator whose scores are
        log-likelihood ratios, the DCF at the Bayes threshold ("dcf") and Cllr.
    how : str, tuple, callable or None, default="max_min"
        Disparity over groups: "max_min", "max_geomean", "log_geomean", "gini",
        "difference", "std", a function of rates (..., n_groups), or None for the rate
        itself. For ("ratio", a, b), b over a, the score is minus the absolute logarithm, 0
        if the rates are equal.
    far : float in (0, 1), default=1e-3
        FAR level of the threshold, at least 1 / n_impostor in every test fold.
    operating_point : {"overall", "worst_group", "group"}, default="worst_group"
        FAR that meets the level: over all impostor pairs, the largest of the groups', or
        each group's own.
    group : label, default=None
        Group whose rate is scored, with ``how=None``. If None, overall.
    average : {"pair", "identity"}, default="pair"
        Whether each comparison has the same weight, or each person.
    impostors : {"all", "same_group"}, default="all"
        Impostor pairs in the overall FAR: all, or those within a group.
    p_target : float in (0, 1), default=0.01
        Prior of genuine pairs, for "dcf" and "min_dcf".

    Returns
    -------
    scorer : FairnessScorer
        ``scorer(estimator, X, y, sensitive_features=None, domain=None)`` is a float,
        greater being better: rates, costs and disparities are negated.

    Raises
    ------
    ValueError
        If a parameter is out of range or contradicts another.

    See Also
    --------
    fairness_scores : Several scores from one transform.
    bfar_scorer, bfrr_scorer, frr_at_far_scorer : Scorers with far=1e-3.

    Notes
    -----
    If a value is undefined, a level is below 1 / n_impostor of the fold, or groups are
    missing, the scorer raises an error. A search turns that into nan unless it was given
    ``error_score="raise"``, and with nan everywhere it chooses the first candidate.
    With fewer than 30 errors in a group, a search's choice may be noise. A
    :class:`FewErrorsWarning` is then issued once per scorer.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Eq. (3)-(4).

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from skfairfr import face_labels, make_face_embeddings, make_fairness_scorer
    >>> faces = make_face_embeddings(n_identities=100, random_state=0)
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
        p_target=p_target,
    )
    scorer.check()
    return scorer


def fairness_scores(far: ArrayLike = 1e-3, *, ratio: tuple | None = None) -> Any:
    """Build a scorer that returns several scores from one transform and one comparison.

    The entries are "bfar" and "bfrr" (eq. (3)-(4) of [1]_), "far_max_geomean" and
    "frr_max_geomean" at the worst-group operating point, and the overall "frr_at_far", to
    report next to every disparity. For other scores give the search a dict of scorers of
    :func:`make_fairness_scorer`: those of the same level, average and impostors share one
    transform and one comparison as well.

    Parameters
    ----------
    far : float in (0, 1) or sequence of floats, shape (n_levels,), default=1e-3
        FAR level of the threshold. With several, the names of entries include the level,
        as in "bfar@1e-3".
    ratio : tuple of two labels, default=None
        Groups (a, b) for the additional entries "far_log_ratio" and "frr_log_ratio": the
        natural logarithm of the rate of b over that of a, at the same threshold as
        "bfar". Neither sign is better: draw them with
        :class:`~skfairfr.metrics.KappaGridDisplay`, but never choose by them. Their mean
        over folds is the logarithm of the geometric mean.

    Returns
    -------
    scorer : FairnessScores
        ``scorer(estimator, X, y, sensitive_features=None, domain=None)`` is a dict of
        floats, greater being better: rates and disparities are negated.

    Raises
    ------
    ValueError
        If a level is outside (0, 1), occurs twice, or ``ratio`` is not two labels.

    See Also
    --------
    make_fairness_scorer : One score. How groups and domains reach a scorer.
    skfairfr.model_selection.BestTradeOff : Chooses by two of the entries.

    Notes
    -----
    The scorer raises an error if a fold is unusable for every candidate (missing groups, a
    level below 1 / n_impostor). A value that is undefined for one candidate, such as the ratio
    of a group without a false acceptance, is nan in its own entry, with a warning. With
    fewer than 30 errors in a group, a :class:`FewErrorsWarning` is issued once per scorer.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Eq. (3)-(4).

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from skfairfr import face_labels, fairness_scores, make_face_embeddings
    >>> faces = make_face_embeddings(n_identities=100, random_state=0)
    >>> y = face_labels(faces.y, faces.sensitive_features)
    >>> scores = fairness_scores(far=1e-2)(FunctionTransformer(), faces.X, y)
    >>> sorted(scores)
    ['bfar', 'bfrr', 'far_max_geomean', 'frr_at_far', 'frr_max_geomean']
    """
    scorer = FairnessScores(far, ratio)
    scorer.check()
    return scorer


class FairnessScores(_Scorer):
    """Scorer that returns several scores. :func:`fairness_scores` builds it.

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
    FairnessScores(far=0.01, ratio=None)
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
            Identity of each image, or the result of :func:`~skfairfr.face_labels`, or a
            frame with the columns ``identity``, ``group`` and ``domain``.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image. None and NaN are unknown.
        domain : array-like, shape (n_samples,), default=None
            Domain of each row. With two values, only pairs across them are compared.

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
            If a value rests on fewer than 30 errors in a group, once for each scorer.
        """
        return self._score_with({}, estimator, X, y, sensitive_features, domain)

    def _of_roc(self, roc):
        levels = np.asarray(self.far, dtype=np.float64)
        scores, any_few = {}, False
        for name, asked in self._entries().items():
            values, question, few = self._values(roc, levels, *asked)
            any_few |= few
            with np.errstate(divide="ignore"):
                signed = is_signed(name)
                found = (
                    np.log(values) if signed else _greater_is_better(values, asked[1])
                )
            found = np.atleast_1d(question.in_shape(found))
            for level, score in zip(np.atleast_1d(levels), found, strict=True):
                key = name if levels.ndim == 0 else name_at_level(name, level)
                scores[key] = self._defined(key, float(score), question)
        if any_few:
            self._warn_of_few_errors()
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
            raise ValueError(f"far must be one level or several, got {self.far!r}.")
        two = isinstance(self.ratio, tuple | list) and len(self.ratio) == 2
        if self.ratio is not None and not two:
            raise ValueError(f"ratio must be two groups (a, b), got {self.ratio!r}.")

    def _entries(self):
        entries = dict(ENTRIES)
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
            f"{name} of {self!r} {_undefined(question, value)}. It is set to nan "
            "here, and a search never prefers nan to a number."
        )
        return np.nan


def name_at_level(name, level):
    """Name of a score at one of several levels, as "bfar@1e-3"."""
    text = np.format_float_scientific(level, trim="-", exp_digits=1)
    return f"{name}@{text}"


def _undefined(question, value):
    """Message about a value that is undefined for this candidate, with a remedy."""
    if question.levels is None:
        return (
            f"is {value}, since the cost of a group is 0. Give fewer folds or more people, or "
            "how='difference', which no zero makes undefined"
        )
    return (
        f"is {value}, since a group has no error of the {question.rate.upper()} at this "
        f"level. Give a {level_with_errors(question.rate)}, fewer folds or more people, or "
        "how='difference', which no zero makes undefined"
    )


def _greater_is_better(values, how):
    """Scores of rates or disparities: closeness to 1 of a signed ratio, else minus."""
    name = how[0] if isinstance(how, tuple) else how
    if isinstance(name, str) and name == "ratio":
        with np.errstate(divide="ignore"):
            values = np.abs(np.log(values))
    # Zero is added because minus a rate of zero would print as -0.0.
    return 0.0 - values


def mean_score(cv_results, name):
    """Mean score of each candidate.

    Parameters
    ----------
    cv_results : dict of str -> array-like, shape (n_candidates,)
    name : str
        As the scorer names it.

    Returns
    -------
    score : ndarray, shape (n_candidates,)
    """
    if PREFIX + name in cv_results:
        return np.asarray(cv_results[PREFIX + name], dtype=np.float64)
    listed = [key.removeprefix(PREFIX) for key in cv_results if key.startswith(PREFIX)]
    if listed == ["score"] and not np.isfinite(cv_results[PREFIX + "score"]).any():
        # The only entry, all nan, if a scorer of several scores always raised.
        return np.full(len(cv_results[PREFIX + "score"]), np.nan)
    raise ValueError(
        f"{name!r} is not a score of the search. The scores are: "
        f"{', '.join(map(repr, listed)) or 'none'}. Use "
        "scoring=skfairfr.fairness_scores(), or a dict of scorers, for several named scores."
    )


def is_signed(name):
    """Whether a score is the logarithm of a signed ratio."""
    return name.split("@")[0].endswith(LOG_RATIO)


def _ready(name):
    rate, how, operating_point = ENTRIES[name]
    return FairnessScorer(rate=rate, how=how, operating_point=operating_point)


bfar_scorer = _ready("bfar")
bfrr_scorer = _ready("bfrr")
frr_at_far_scorer = _ready("frr_at_far")
far_max_geomean_scorer = _ready("far_max_geomean")
frr_max_geomean_scorer = _ready("frr_max_geomean")
