"""SimilarityROC: error rates of a verification system, by group, with their uncertainty.

The class checks its arguments and keeps the fitted state. ``_engine`` and ``_estimates``
compute answers, and ``skfairfr._core`` contains the functions of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from skfairfr._compat import Interval, StrOptions, fit_context
from skfairfr._core._pairs import Expected
from skfairfr._core._replicate_intervals import METHODS, simultaneous
from skfairfr._core._resampling import MODES, Resampling
from skfairfr._core._score_costs import COSTS, score_moments
from skfairfr.metrics._asymmetry import asymmetry
from skfairfr.metrics._certificates import certify
from skfairfr.metrics._pairs._rates import warn_of_scores
from skfairfr.metrics._records import Estimate, ROCCurve, ScoreSummary
from skfairfr.metrics._roc import _inputs, _similarities
from skfairfr.metrics._roc._engine import Engine
from skfairfr.metrics._roc._estimates import to_matrix
from skfairfr.metrics._roc._paired import check_same_images, compare, compare_costs
from skfairfr.metrics._roc._question import no_groups, read_cost
from skfairfr.utils._errors import invalid, kind_of_value
from skfairfr.utils._frames import build_frame, framed, library_of
from skfairfr.utils._labels import label_images
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import (
    RATE,
    NeedsIdentities,
    check_group,
    check_number,
    check_option,
    plain,
    validate_rows,
    warn_caller,
)

if TYPE_CHECKING:
    from skfairfr.metrics._asymmetry import FARAsymmetry
    from skfairfr.metrics._certificates import CertifiedThreshold
    from skfairfr.metrics._records import Comparison, GroupFARMatrix

# Parameters that one fit answers with other values.
ANSWERED = (
    *("average", "impostors", "resample", "method"),
    *("n_resamples", "confidence_level", "n_jobs"),
)


class SimilarityROC(NeedsIdentities, BaseEstimator):
    """Error rates of a verification system over all pairs, by group, with intervals.

    ``fit`` compares each pair of images once, in tiles, and keeps the genuine scores and
    the largest impostor scores. Rates and bootstrap replicates are then computed from
    the stored pairs. A pair is accepted if its similarity is at least the threshold. FAR(t)
    (FMR) is the share of impostor pairs that are accepted, FRR(t) (FNMR) the share of
    genuine pairs that are rejected, and ROC(far) the FRR at the threshold with FAR = far:
    eq. (2)-(4) of [1]_.

    Parameters
    ----------
    average : {"pair", "identity"}, default="pair"
        Whether each comparison has the same weight (NIST, [2]_), or each person and each
        pair of people ([1]_ with p_k = 1/K).
    impostors : {"all", "same_group"}, default="all"
        Impostor pairs in the overall FAR: all, or those within a group.
    resample : {"identities", "images", "both"}, default="identities"
        Population that intervals generalise to. "identities": new people from the same
        population ([3]_). "images": the same people in new photographs, as in [1]_, for a
        closed set. The first estimate of a fit warns if the standard error for new people
        is over 1.5 times as large. "both": both at once (conservative).
    method : {"recentered", "naive", "multiplicative", "offdiagonal", "jackknife"}, \
default="recentered"
        Method of the intervals. "jackknife", for ``resample="identities"`` only, leaves
        out one person at a time: the variance of [3]_, Student's quantiles, and a
        correction for skewness. It also gives intervals at zero errors, and is exact for
        independent Poisson errors. A ratio's interval combines those of its two rates
        (MOVER), and a disparity's follows from that of max / min. A callable ``how`` has
        no interval. The other methods are bootstraps. Two draws of one image form a pair
        that is always accepted, so "naive" replicates of the FRR are too low.
        "recentered" shifts them by the V-statistic of eq. (10) of [1]_,
        "multiplicative" scales them, and "offdiagonal" leaves such pairs out.
    n_resamples : int, default=1000
        Number of bootstrap resamples, >= 1.
    confidence_level : float in (0, 1), default=0.95
        Nominal coverage of the intervals.
    far_max : float in (0, 1), default=1e-2
        Largest FAR level computed exactly. Higher levels use a uniform sample of a
        million impostor pairs, as an :class:`~skfairfr.metrics.Estimate` reports. About
        ``1.5 * far_max`` of all pairs are stored (more if the EER is below four times
        far_max), with 12 bytes each and several times that during resampling. Use 1e-3
        for 100,000 images or more, 1e-4 for a million. A fit that needs more memory than
        available raises an error before it starts. With at most four million pairs, all
        are stored, and every level is exact.
    similarity : {"cosine", "dot"} or comparator, default="cosine"
        Similarity between two embeddings. The Euclidean distance between unit vectors gives
        the same ranking as the cosine. A fitted comparator of :mod:`skfairfr.comparators`,
        or another object with a ``prepare`` method, scores the pairs instead.
    template : {"mean", "max"}, default=None
        How one person's references (``X_reference``) are combined: by the mean of their
        unit rows, or by the best score over them. References of one person are not
        compared with each other. If None, each reference is compared on its own.
    device : {"cpu", "cuda", "cuda:0", ...}, default="cpu"
        Device on which ``fit`` compares all pairs. CPU and CUDA should give the same
        scores, but CUDA was not tested. It needs torch, which the extra ``mitigate``
        installs, and does not support comparators.
    n_jobs : int, default=None
        Joblib workers for tiles and for blocks of resamples. If None, one process with
        threads on all cores. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the resamples. They are drawn in ``fit``, so repeated calls give the same
        result.

    Attributes
    ----------
    groups_ : ndarray, shape (n_groups,)
        Sorted labels of the groups.
    identities_ : ndarray, shape (n_identities,)
        Sorted labels of the people: 0, 1, ... if ``fit_pairs`` got none.
    n_genuine_, n_impostor_ : ndarrays of int, shape (1 + n_groups,)
        Number of genuine and of impostor pairs, overall and within each group.
    n_features_in_ : int
        Number of features of the embeddings. Absent after ``fit_pairs``.
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    skfairfr.metrics.bfar : Largest over smallest group FAR of scored pairs, without an interval.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(4), (8)-(11).
    .. [2] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Eq. (3)-(4).
    .. [3] Fogliato, R., Patil, P., & Perona, P. (2024). Confidence Intervals for Error
       Rates in 1:1 Matching Tasks. IJCV.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(n_resamples=200, random_state=0)
    >>> roc = roc.fit(data.X, data.y, data.sensitive_features)
    >>> bfar = roc.estimate(1e-2, rate="far", how="max_min", operating_point="worst_group")
    >>> bool(1 < bfar.low < bfar.value < bfar.high)
    True
    """

    # The reference arrays are not aligned with X, so no split may slice them.
    __metadata_request__fit = {  # noqa: RUF012
        "sensitive_features": True,
        "domain": True,
        "X_reference": UNUSED,
        "y_reference": UNUSED,
        "sensitive_features_reference": UNUSED,
    }

    _parameter_constraints: dict = {  # noqa: RUF012
        "average": [StrOptions({"pair", "identity"})],
        "impostors": [StrOptions({"all", "same_group"})],
        "resample": [StrOptions(set(MODES))],
        "method": [StrOptions({*METHODS, "wilson"}, deprecated={"wilson"})],
        "n_resamples": [Interval(Integral, 1, None, closed="left")],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "far_max": [Interval(Real, 0, 1, closed="neither")],
        "similarity": "no_validation",  # check_parameters names the remedy
        "template": [None, StrOptions({"mean", "max"})],
        "device": [str],
        "n_jobs": [None, Interval(Integral, None, None, closed="neither")],
        "random_state": ["random_state"],
    }

    # Questions that the pass of fit prepares for, in addition to levels up to far_max.
    _expected = Expected(equal_error=True)
    # Of pairs whose identities are codes of so many people. If None: them as labels.
    _n_people = None

    def __init__(
        self,
        *,
        average: str = "pair",
        impostors: str = "all",
        resample: str = "identities",
        method: str = "recentered",
        n_resamples: int = 1000,
        confidence_level: float = 0.95,
        far_max: float = 1e-2,
        similarity: Any = "cosine",
        template: str | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.average = average
        self.impostors = impostors
        self.resample = resample
        self.method = method
        self.n_resamples = n_resamples
        self.confidence_level = confidence_level
        self.far_max = far_max
        self.similarity = similarity
        self.template = template
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: Column,
        sensitive_features: Columns | None = None,
        *,
        domain: Column | None = None,
        X_reference: ArrayLike | None = None,
        y_reference: Column | None = None,
        sensitive_features_reference: Column | None = None,
    ) -> Self:
        """Compare all pairs of embeddings.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings. With a reference side, the probes.
        y : array-like, shape (n_samples,)
            Identity of each row, of any label type, or the structured array of
            :func:`~skfairfr.face_labels`, or a frame with the columns ``identity``,
            ``group`` and ``domain``.
        sensitive_features : array-like, frame or dict, shape (n_samples,), default=None
            Group of each row. None and NaN are unknown: such images count overall and in
            no group. Several columns, (n_samples, n_attributes) or a dict of names to
            columns, make the groups of their combinations. :meth:`by` selects some.
        domain : array-like, shape (n_samples,), default=None
            Domain of each row. With two values, only pairs across them are compared (selfie against
            document). The first value in sorted order is the probe's.
        X_reference : array-like, shape (n_references, n_features), default=None
            Embeddings of the references. If given, each row of X is compared with each of
            them, or with the templates made from them, instead of with the rest of X.
        y_reference : array-like, shape (n_references,), default=None
            Identity of each reference.
        sensitive_features_reference : array-like, shape (n_references,), default=None
            Group of each reference.

        Returns
        -------
        self : SimilarityROC
            Fitted.

        Raises
        ------
        ValueError
            If shapes differ, values are not finite, a row is zero, fewer than two people
            can be compared, or one photograph is on both sides. If ``template`` is passed
            without references, there is no such device, or the pairs do not fit into the
            free memory.
        ImportError
            If the device is not the CPU and torch is not installed.
        RuntimeError
            If the memory of the device does not suffice: torch's ``OutOfMemoryError``.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0)
        >>> roc.fit(data.X, data.y, data.sensitive_features).groups_
        array(['female', 'male'], dtype='<U6')
        """
        self._forget()
        _similarities.check_parameters(self.similarity, self.method, self.resample)
        if self.device != "cpu":
            _similarities.check_device(self.device, self.similarity)
        given = (X, y, sensitive_features, domain, X_reference, y_reference)
        library = library_of(*given, sensitive_features_reference)
        options = {"ensure_min_samples": 2 if X_reference is None else 1}
        X = validate_rows(self, X, dtype=(np.float32, np.float64), **options)
        if not isinstance(self.similarity, str):
            names = getattr(self, "feature_names_in_", None)
            _similarities.check_names(self.similarity, names)
        probe = (X, y, sensitive_features, domain)
        reference = (X_reference, y_reference, sensitive_features_reference)
        if any(part is not None for part in reference):
            X, identity, attributes, side = _inputs.join_reference(probe, reference)
        elif self.template is not None:
            problem = (
                f"{self.template!r} makes templates of references, and there are none;"
            )
            raise invalid("template", self.template, problem, "give X_reference.")
        else:
            identity, attributes, domain = label_images(
                y, sensitive_features, domain, len(X), by_attribute=True
            )
            side = None if domain is None else domain.codes.astype(np.int8)
        compared, similarity = (X, identity, attributes, side), self.similarity
        if self.template is not None:
            _inputs.check_not_enrolled(X[side == 0], X[side == 1], "X_reference")
            *compared, similarity = _inputs.join_references(
                *compared, self.template, similarity
            )
        compared = _inputs.compare_embeddings(
            *compared,
            far_max=float(self.far_max),
            similarity=similarity,
            n_jobs=self.n_jobs,
            device=self.device,
            expected=self._expected,
        )
        compared.hold_all(self.average, self.impostors)
        return self._store_fit(compared, identity, library)

    @fit_context(prefer_skip_nested_validation=True)
    def fit_pairs(
        self,
        y_score: ArrayLike,
        identity_1: Column | None = None,
        identity_2: Column | None = None,
        *,
        y_true: ArrayLike | None = None,
        sensitive_features: Columns | None = None,
        sensitive_features_1: Columns | None = None,
        sensitive_features_2: Columns | None = None,
        image_1: Column | None = None,
        image_2: Column | None = None,
        mated_only: bool = False,
        non_mated_only: bool = False,
    ) -> Self:
        """Fit to scored pairs, as a protocol file lists them.

        Order within a pair is ignored: groups (g, h) and (h, g) are one cell, and people
        (k, l) and (l, k) the same two people. ``fit`` distinguishes them if there are two
        sides (``X_reference`` or ``domain``). Cross-group rates then differ between the
        two methods, and so does every FAR with ``average="identity"``. With one side,
        ``fit`` distinguishes them only for cross-group rates with that average, if a
        person's images are in several groups. An earlier fit is discarded.

        Errors of pairs that share a person are dependent, so intervals need identities. If
        they are unknown, pass ``y_true``. Rates are the same, but intervals assume that no
        person is in two pairs, and are too narrow if some are. With ``y_true``, pairs
        are resampled, and ``resample`` is ignored.

        A list of only genuine or only impostor pairs is an error unless ``mated_only`` or
        ``non_mated_only`` is set, since misspelled identities have the same effect. Values
        that need the other kind are then nan, with a warning. Without impostor pairs no FAR
        level sets a threshold: pass ``threshold=`` to :meth:`estimate`.

        Parameters
        ----------
        y_score : array-like, shape (n_pairs,)
            Similarity of each pair, larger meaning more similar. Negate distances.
        identity_1, identity_2 : array-like, shape (n_pairs,), default=None
            Identities of the two images. A pair is genuine if they are equal.
        y_true : array-like, shape (n_pairs,), default=None
            Alternative to the identities: 1 if both images show one person, else 0.
        sensitive_features : array-like, frame or dict, shape (n_pairs,), default=None
            Group of both images of a pair, or None if they differ.
        sensitive_features_1, sensitive_features_2 : array-like, frame or dict, \
shape (n_pairs,), default=None
            Group of each image. None and NaN are unknown. Several columns as in ``fit``.
        image_1, image_2 : array-like, shape (n_pairs,), default=None
            Names of the images, required for resampling images.
        mated_only, non_mated_only : bool, default=False
            Declares that all pairs are genuine, or that none is.

        Returns
        -------
        self : SimilarityROC
            Fitted.

        Raises
        ------
        ValueError
            If lengths differ, a score is not finite, or an image belongs to two people or is
            compared with itself. If not exactly one of the identities and ``y_true`` is passed,
            or if ``sensitive_features`` is passed with groups of each image. If identities differ
            in spelling only, if one kind of pair is missing and not declared, or if
            ``sensitive_features`` seems to be the group of only one image.

        Warns
        -----
        ReversedScoresWarning
            If genuine pairs mostly have smaller scores than impostor pairs, as with
            distances, or hardly larger ones.

        Examples
        --------
        >>> import numpy as np
        >>> from skfairfr import SimilarityROC
        >>> y_true = np.arange(4000) % 2
        >>> y_score = np.random.default_rng(0).normal(size=4000) + 3 * y_true
        >>> roc = SimilarityROC(n_resamples=200, random_state=0)
        >>> found = roc.fit_pairs(y_score, y_true=y_true).estimate(far=1e-2)
        >>> bool(found.low < found.value < found.high)
        True
        """
        self._forget()
        _similarities.check_parameters(self.similarity, self.method, self.resample)
        of_each = (sensitive_features_1, sensitive_features_2)
        identities, images = (identity_1, identity_2), (image_1, image_2)
        compared, identity = _inputs.compare_listed(
            *(y_score, identities, sensitive_features, of_each, images, y_true),
            only=(mated_only, non_mated_only),
            n_people=self._n_people,
        )
        library = library_of(
            *(y_score, *identities, y_true, sensitive_features, *of_each, *images)
        )
        self._store_fit(compared, identity, library)
        warn_of_scores(self._engine.pairs)
        return self

    def by(
        self, sensitive_features: str | Sequence[str] | None = None, **parameters: Any
    ) -> Self:
        """Use the same comparisons with other groups or other parameters.

        The resamples are the same, and several attributes, resampling modes and averages
        need one pass over the pairs. Other ``impostors`` than in the fit, or a threshold
        below the stored scores, may need another pass.

        Parameters
        ----------
        sensitive_features : str, or tuple of str, default=None
            Name of an attribute that ``fit`` received as a column of a frame or a dict (the
            number of a column without a name). The groups of several are their
            combinations. None keeps all.
        **parameters
            Other values of average, impostors, resample, method, n_resamples,
            confidence_level and n_jobs.

        Returns
        -------
        roc : SimilarityROC
            Fitted.

        Raises
        ------
        ValueError
            If there is no such attribute, or another parameter is passed: far_max,
            similarity, device and random_state need a new fit.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> groups = {"gender": data.sensitive_features, "half": data.y % 2}
        >>> roc = SimilarityROC(n_resamples=200, random_state=0)
        >>> roc = roc.fit(data.X, data.y, groups)
        >>> roc.groups_.tolist()
        ['female & 0', 'female & 1', 'male & 0', 'male & 1']
        >>> roc.by("gender").groups_.tolist()
        ['female', 'male']
        """
        check_is_fitted(self)
        for name, value in parameters.items():
            if name not in ANSWERED:
                raise invalid(
                    *(name, value),
                    "is not among what one fit answers;",
                    f"give one of {', '.join(ANSWERED)}, or fit again.",
                )
        other = clone(self).set_params(**parameters)
        other._validate_params()
        _similarities.check_parameters(other.similarity, other.method, other.resample)
        for name in ("n_features_in_", "feature_names_in_", "identities_", "_library"):
            if hasattr(self, name):
                setattr(other, name, getattr(self, name))
        names, engine, pairs = self._names, self._engine, None
        if sensitive_features is not None:
            names = self._attributes.names(sensitive_features)
        asked = (names, other.average, other.impostors)
        if asked == (self._names, self.average, self.impostors):
            pairs = engine.pairs
        entropy = engine.resampling.entropy
        return other._set_up_engine(
            self._attributes, names, engine.far_max, entropy, pairs
        )

    def threshold_at(
        self, far: ArrayLike, *, operating_point: str = "overall", group: object = None
    ) -> float | np.ndarray:
        """Threshold that meets a FAR level.

        The number next above the largest impostor score at which the FAR still exceeds
        the level.

        Parameters
        ----------
        far : float in (0, 1) or array-like, shape (n_levels,)
            FAR level.
        operating_point : {"overall", "worst_group", "group"}, default="overall"
            Whether the FAR over all impostor pairs, that of every group, or that of one
            group meets the level.
        group : label, default=None
            The group, with ``operating_point="group"``.

        Returns
        -------
        threshold : float or ndarray, shape (n_levels,)
            Similarity from which on a pair is accepted. Higher is stricter.

        Raises
        ------
        ValueError
            If far is outside (0, 1) or the group unknown.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
        >>> round(roc.threshold_at(1e-2), 3)
        0.226
        >>> round(roc.threshold_at(1e-2, operating_point="worst_group"), 3)
        0.254
        """
        check_is_fitted(self)
        if (group is None) == (operating_point == "group"):
            raise ValueError(
                "group= names whose threshold operating_point='group' asks for, and goes "
                f"with it alone, got group={plain(group)!r}, "
                f"operating_point={operating_point!r}."
            )
        question = self._engine.question(far, None, "far", group, None, operating_point)
        return self._engine.thresholds(question)

    def estimate(
        self,
        far: ArrayLike | None = None,
        *,
        threshold: ArrayLike | None = None,
        rate: str = "frr",
        group: object = None,
        how: str | tuple | Callable | None = None,
        operating_point: str = "overall",
        p_target: float = 0.01,
        max_far: float | None = None,
    ) -> Estimate:
        """Estimate a rate or a disparity at a FAR level or threshold, with an interval.

        Parameters
        ----------
        far : float in (0, 1) or array-like, shape (n_levels,), default=None
            FAR level. Its threshold is estimated again in each resample.
        threshold : float or array-like, shape (n_levels,), default=None
            Similarity at or above which a deployed system accepts. Pass exactly one of far
            and threshold.
        rate : {"frr", "far", "dcf", "min_dcf", "cllr", "min_cllr", "auc"}, default="frr"
            Rate of false rejections or acceptances, a cost, or the area under the ROC curve
            ("auc"). Lower is better, except for "auc". Costs and "auc" accept no ``far`` or
            operating point. "min_dcf" is the lowest :func:`detection_cost` at any
            threshold. "dcf" is the cost at ``threshold``, which may be "bayes", and equals
            "min_dcf" if that is None (unlike in :func:`make_fairness_scorer`, in which it is
            at the Bayes threshold). See also :func:`cllr` and :func:`min_cllr`. Of their
            disparities, only "ratio", "max_min", "max_geomean" and "difference" have an
            interval.
        group : label or tuple of two labels, default=None
            Rate of one group, or the FAR between two. If None, overall.
        how : str, tuple or callable, default=None
            Disparity over groups: "max_min", "max_geomean", "log_geomean", "gini",
            "difference", "std" (larger is less fair), "ratio" (of two groups, second over
            first, or ("ratio", a, b) for b over a), or a function of rates
            (..., n_groups).
        operating_point : {"overall", "worst_group", "group"}, default="overall"
            FAR that meets the level: over all impostor pairs, the largest of the groups'
            (BFAR and BFRR, eq. (3)-(4) of EM22), or each group's own.
        p_target : float in (0, 1), default=0.01
            Prior of genuine pairs, for "dcf" and "min_dcf", whose costs are 1. Costs c_miss
            and c_fa lead to the same decisions as costs of 1 with the prior
            p c_miss / (p c_miss + (1 - p) c_fa).
        max_far : float in (0, 1), default=None
            Largest FAR of the partial "auc", which is scaled to 0.5 for uninformative scores
            as in scikit-learn's ``roc_auc_score(max_fpr=)``. If None, the whole curve.

        Returns
        -------
        estimate : Estimate
            Value, interval, uncertainty and whether the data support it.

        Raises
        ------
        ValueError
            If an argument is out of range or contradicts another, or resampling has
            nothing to draw.

        Warns
        -----
        EstimandWarning
            Once per fit, if the standard error for new people is over 1.5 times that for new
            photographs of the same people.
        UndefinedMetricWarning
            If a rate, or a group's, is undefined, or a level cannot be resolved.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
        >>> round(roc.estimate(1e-2).value, 4)  # FRR of everyone
        0.0323
        >>> round(roc.estimate(1e-2, rate="far", group="female").value, 4)
        0.0239
        >>> ratio = roc.estimate(1e-2, rate="far", how="max_min")
        >>> print(f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]")
        2.11 [1.41, 3.14]
        """
        check_is_fitted(self)
        if rate in COSTS:
            asked = (far, threshold, group, how, operating_point)
            question, cost = self._question_of_cost(rate, p_target, max_far, *asked)
            found = self._engine.score_cost(question, cost)
            return self._record(Estimate, found, question, named=False)
        asked = (far, threshold, rate, group, how, operating_point)
        question = self._engine.question(*asked)
        found = self._engine.answer(question)
        return self._record(Estimate, found, question)

    def _question_of_cost(
        self, rate, p_target, max_far, far, threshold, group, how, operating_point
    ):
        """A question, and the cost or the area under the curve that it is about."""
        asked = (rate, p_target, max_far, far, threshold, operating_point)
        cost = read_cost(*asked, self.resample)
        question = self._engine.question(None, 0.0, "frr", group, how, "overall")
        return question, cost

    def curve(
        self,
        far: ArrayLike,
        *,
        rate: str = "frr",
        group: object = None,
        how: str | tuple | Callable | None = None,
        operating_point: str = "overall",
    ) -> ROCCurve:
        """A rate or disparity over FAR levels. ``rate="frr"`` over far is the ROC.

        Parameters
        ----------
        far : array-like, shape (n_levels,)
            FAR levels in (0, 1).
        rate : {"frr", "far"}, default="frr"
            False rejections or false acceptances. Lower is better.
        group : label or tuple of two labels, default=None
            Rate of one group, or the FAR between two. If None, overall.
        how : str, tuple or callable, default=None
            Disparity over groups, such as "max_min" or "ratio": all are in :meth:`estimate`.
        operating_point : {"overall", "worst_group", "group"}, default="overall"
            FAR that meets the level: over all impostor pairs, the largest of the groups', or
            each group's own.

        Returns
        -------
        curve : ROCCurve
            Values with a pointwise and a simultaneous band.

        Raises
        ------
        ValueError
            As :meth:`estimate`, and if far is a single number.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
        >>> roc.curve([1e-2, 1e-3], group="male").value.round(3)
        array([0.004, 0.021])
        """
        check_is_fitted(self)
        question = self._engine.question(far, None, rate, group, how, operating_point)
        if len(question.shape) != 1:
            raise ValueError(
                f"far must be several levels, (n_levels,), got {plain(far)!r}. estimate() "
                "answers for one."
            )
        found = self._engine.answer(question, replicated=True)
        level = self._engine.confidence_level
        bounds = (0.0, 1.0) if question.how is None else question.how.bounds
        ends = (found.low, found.high)
        low, high = simultaneous(found.adjusted, found.value, ends, level, bounds)
        bands = {"far": question.levels, "band_low": low, "band_high": high}
        return self._record(ROCCurve, found, question, **bands)

    def compare(
        self,
        other: Self,
        far: ArrayLike | None = None,
        *,
        threshold: ArrayLike | None = None,
        rate: str = "frr",
        group: object = None,
        how: str | tuple | Callable | None = None,
        operating_point: str = "overall",
        p_target: float = 0.01,
        max_far: float | None = None,
    ) -> Comparison:
        """Difference and ratio to another system on the same images.

        Variation common to both cancels. With ``resample="identities"`` the difference of
        two rates is a sum of what each person and each pair of people add to it, its
        threshold included, and the interval that of this sum, whatever ``method`` is, so is
        that of a "ratio", and of "max_min" and "max_geomean" of two groups. Of more groups
        a largest rate may be large by chance: the interval is then that of the largest
        contrast of such sums, and other disparities have none. Else both systems use the
        same resamples. For a function of your own, false positives may be more frequent.

        Parameters
        ----------
        other : SimilarityROC
            Fitted on another system's embeddings of the same images in the same order, or
            on its scores of the same pairs in any order, with the same identities and
            groups. Their labels are compared, and so are names of images, if given.
        far : float in (0, 1) or array-like, shape (n_levels,), default=None
            FAR level, which each system meets at its own threshold.
        threshold : float or array-like, shape (n_levels,), default=None
            Similarity from which on both accept. Exactly one of far and threshold.
        rate, group, how, operating_point, p_target, max_far
            As in :meth:`estimate`. Costs and the area under the curve are compared in the
            same resamples of people, the minimum taken again in each. ``how`` may be a ratio.

        Returns
        -------
        comparison : Comparison
            This system minus, and over, the other.

        Raises
        ------
        ValueError
            As :meth:`estimate`, and if the two were not fitted on the same images. The
            message names what differs.

        Examples
        --------
        >>> import numpy as np
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
        >>> noisy = data.X + np.random.default_rng(0).normal(0, 0.05, data.X.shape)
        >>> other = SimilarityROC(random_state=0).fit(noisy, data.y, data.sensitive_features)
        >>> change = other.compare(roc, 1e-2, group="female")  # FRR with noise minus without
        >>> print(f"{change.difference:+.3f} [{change.low:+.3f}, {change.high:+.3f}]")
        +0.089 [+0.029, +0.185]
        """
        check_is_fitted(self)
        if not isinstance(other, SimilarityROC):
            raise invalid(
                *("other", other),
                f"must be a fitted SimilarityROC, got {kind_of_value(other)}.",
                "Fit one on the other system's embeddings, or on its scores.",
            )
        check_is_fitted(other)
        check_same_images(self, other)
        both = self._engine, other._engine
        if rate in COSTS:
            asked = (far, threshold, group, how, operating_point)
            asked = self._question_of_cost(rate, p_target, max_far, *asked)
            return framed(compare_costs(*both, *asked), self._library)
        asked = (far, threshold, rate, group, how, operating_point)
        question = self._engine.question(*asked)
        found = compare(*both, (question, question))
        return framed(found, self._library, **question.level_columns())

    def resamples(
        self,
        far: ArrayLike | None = None,
        *,
        threshold: ArrayLike | None = None,
        rate: str = "frr",
        group: object = None,
        how: str | tuple | Callable | None = None,
        operating_point: str = "overall",
    ) -> np.ndarray:
        """The bootstrap replicates themselves, before any recentring.

        Parameters
        ----------
        far : float in (0, 1) or array-like, shape (n_levels,), default=None
            FAR level.
        threshold : float or array-like, shape (n_levels,), default=None
            Similarity from which on a pair is accepted. Exactly one of far and threshold.
        rate : {"frr", "far"}, default="frr"
            False rejections or false acceptances. Lower is better.
        group : label or tuple of two labels, default=None
            Rate of one group, or the FAR between two. If None, overall.
        how : str, tuple or callable, default=None
            Disparity over groups, such as "max_min" or "ratio": all are in :meth:`estimate`.
        operating_point : {"overall", "worst_group", "group"}, default="overall"
            FAR that meets the level: over all impostor pairs, the largest of the groups', or
            each group's own.

        Returns
        -------
        replicates : ndarray, shape (n_resamples,) or (n_resamples, n_levels)
            Rates in [0, 1] or disparities, or nan where one is undefined (0/0).

        Raises
        ------
        ValueError
            As :meth:`estimate`.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
        >>> roc.resamples([1e-2, 1e-3]).shape
        (1000, 2)
        """
        check_is_fitted(self)
        asked = (far, threshold, rate, group, how, operating_point)
        question = self._engine.question(*asked)
        found = self._engine.answer(question, replicated=True)
        replicates = np.empty_like(found.replicates)
        replicates[question.order] = found.replicates
        return replicates.T.reshape(-1, *question.shape)

    def certify(
        self,
        far: float,
        *,
        frr: float | None = None,
        groups: Sequence[object] | None = None,
        confidence_level: float = 0.95,
        operating_point: str = "overall",
    ) -> CertifiedThreshold:
        """The loosest threshold that keeps a FAR for every group, also for new people.

        Upper bounds of the FAR within a group have people as units, and are valid at each
        threshold that was fixed before. The loosest one at which those of all groups keep the
        limit is too loose for some group with a chance of at most ``1 - confidence_level``:
        only the group whose true threshold is strictest matters, so the number of groups needs
        no correction [1]_. Thresholds of each group's own share the chance. The bounds are
        the upper ends of two-sided intervals, whose chance is nominally half of that. An audit
        at the threshold therefore passes the limit too. Few people with strongly dependent
        errors use up the other half, as the user guide shows. ``method``, ``resample`` and
        ``confidence_level`` of the class have no effect here.

        Parameters
        ----------
        far : float in (0, 1)
            Largest FAR allowed of each group, over impostor pairs within it.
        frr : float in (0, 1), default=None
            Largest FRR allowed of each group, which is certified likewise: ``threshold_high``
            of the result ends the thresholds that meet both, each limit with the stated
            confidence. None allows any.
        groups : sequence of labels, shape (n_groups,), default=None
            Groups that have to meet the limits. If None: all.
        confidence_level : float in (0, 1), default=0.95
            One minus the chance of a wrong certificate.
        operating_point : {"overall", "group"}, default="overall"
            Whether one threshold serves all groups, or each has its own, as
            :class:`~skfairfr.comparators.GroupThresholds` takes them.

        Returns
        -------
        certified : CertifiedThreshold
            The threshold, the rates of each group there, or why there is none.

        Raises
        ------
        ValueError
            If there are no groups, one is unknown, a rate is out of range, or far is beyond
            what was stored.

        References
        ----------
        .. [1] Bates, S., Angelopoulos, A., Lei, L., Malik, J., & Jordan, M. (2021).
           Distribution-Free, Risk-Controlling Prediction Sets. Journal of the ACM 68(6).
           One risk. That of the worst group is the intersection of such tests.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC().fit(data.X, data.y, data.sensitive_features)
        >>> found = roc.certify(1e-2)
        >>> found.binding_group, bool((found.far_high <= 1e-2).all())
        ('female', True)
        """
        check_is_fitted(self)
        if not self.groups_.size:
            raise no_groups("certify")
        limits = [check_number(far, "far", *RATE)]
        limits.append(None if frr is None else check_number(frr, "frr", *RATE))
        level = check_number(confidence_level, "confidence_level", *RATE)
        check_option(operating_point, "operating_point", ("overall", "group"))
        codes = list(range(self.groups_.size))
        if groups is not None:
            codes = [check_group(g, self.groups_, "groups") for g in groups]
        own = operating_point == "group"
        found = certify(self._engine, codes, *limits, level, own)
        return framed(found, self._library)

    def far_matrix(
        self, far: float | None = None, *, threshold: float | None = None
    ) -> GroupFARMatrix:
        """FAR within and between all groups at one overall threshold.

        Parameters
        ----------
        far : float in (0, 1), default=None
            Overall FAR level.
        threshold : float, default=None
            Similarity from which on a deployed system accepts, instead. Exactly one of
            the two.

        Returns
        -------
        matrix : GroupFARMatrix
            FAR of each pair of groups, with intervals.

        Raises
        ------
        ValueError
            If no groups were given, or not exactly one number of far and threshold.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
        >>> print(roc.far_matrix(1e-2).to_frame().iloc[:, :3].round(4))
          probe_group reference_group     far
        0      female          female  0.0239
        1      female            male  0.0047
        2        male          female  0.0047
        3        male            male  0.0114
        """
        question = self._question_of_cells("far_matrix", far, threshold)
        answers, count = self._engine.cells(question), self._engine.pairs.count
        return framed(to_matrix(answers, count, self.groups_), self._library)

    def far_asymmetry(
        self, far: float | None = None, *, threshold: float | None = None
    ) -> FARAsymmetry:
        """Test whether the FAR of two groups depends on which is the probe's.

        Parameters
        ----------
        far : float in (0, 1), default=None
            Overall FAR level.
        threshold : float, default=None
            Similarity from which on a deployed system accepts, instead. Exactly one of
            the two.

        Returns
        -------
        asymmetry : FARAsymmetry
            Differences of log10 FAR with intervals and p-values.

        Raises
        ------
        ValueError
            If there are no two groups or no two sides, or not exactly one number of far
            and threshold.

        Examples
        --------
        >>> import numpy as np
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0).fit(
        ...     data.X, data.y, data.sensitive_features, domain=np.arange(len(data.y)) % 2
        ... )
        >>> roc.far_asymmetry(1e-2).difference.round(4)
        array([0.1145])
        """
        question = self._question_of_cells("far_asymmetry", far, threshold)
        if self.groups_.size < 2:
            raise ValueError(
                f"far_asymmetry compares two groups, and there are {self.groups_.size}: "
                f"{self.groups_.tolist()}."
            )
        if not self._engine.two_sides:
            raise ValueError(
                "far_asymmetry needs probes and references, of which (a, b) and (b, a) are "
                "different pairs. Pass domain= or X_reference= to fit."
            )
        return framed(asymmetry(self._engine, question), self._library)

    def equal_error_rate(self, group: object = None) -> Estimate:
        """The rate at which FAR = FRR, overall or of one group at its own threshold.

        With finite data they are rarely equal: (FAR + FRR) / 2 at the score where they are
        closest.

        Parameters
        ----------
        group : label, default=None
            One group. If None, overall.

        Returns
        -------
        estimate : Estimate
            Rate in [0, 1], lower is better.

        Raises
        ------
        ValueError
            If the group is unknown, or resampling has nothing to draw.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
        >>> round(roc.equal_error_rate("female").value, 4)
        0.0465
        """
        check_is_fitted(self)
        if isinstance(group, tuple | list):
            raise ValueError(f"group must be one group here, got {plain(group)!r}.")
        question = self._engine.question(None, 0.0, "frr", group, None, "overall")
        found = self._engine.equal_error_rate(question)
        return self._record(Estimate, found, question, named=False)

    def score_summary(self) -> ScoreSummary:
        """Mean and standard deviation of genuine and impostor scores, overall and by group.

        Over all pairs, from sums over images, whatever ``average`` is.

        Returns
        -------
        summary : ScoreSummary
            Counts and moments of similarities.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If called before a fit.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
        >>> print(roc.score_summary().to_frame().iloc[1:, :3].round(2))
            group  n_genuine  genuine_mean
        1  female        495          0.43
        2    male        681          0.53
        """
        check_is_fitted(self)
        scopes = (None, *((g, g) for g in range(self.groups_.size)))
        moments = [score_moments(self._engine.pairs, scope) for scope in scopes]
        columns = [np.array(column) for column in zip(*moments, strict=True)]
        summary = ScoreSummary((None, *self.groups_.tolist()), *columns)
        return framed(summary, self._library)

    def to_frame(self, far: ArrayLike, backend: str | None = None) -> Any:
        """Both rates, overall and of every group, as a tidy table.

        Parameters
        ----------
        far : float in (0, 1) or array-like, shape (n_levels,)
            Overall FAR level, whose threshold all groups share.
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Library of the frame. If None, that of the frames passed to ``fit`` or,
            without any, the first of these that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            One row for each rate, group and level, in this order: ``group`` (missing:
            overall), ``rate`` ("far" or "frr"), ``far`` (the level), ``value``, ``low``
            and ``high`` in [0, 1], ``errors`` (pairs, above ``far_max`` accepted ones of
            a sample), ``people`` (in at least one error) and ``supported``, as in
            :class:`Estimate`.

        Raises
        ------
        ValueError
            As :meth:`estimate`, and if ``backend`` is none of those listed.
        ImportError
            If that library is not installed or, with None, none of them is.

        Examples
        --------
        >>> from skfairfr import SimilarityROC, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
        >>> list(roc.to_frame([1e-2]))
        ['group', 'rate', 'far', 'value', 'low', 'high', 'errors', 'people', 'supported']
        """
        check_is_fitted(self)
        names = ("group", "rate", "far", "value", "low", "high")
        names, rows = (*names, "errors", "people", "supported"), []
        for rate in ("far", "frr"):
            for group in (None, *self.groups_.tolist()):
                asked = (far, None, rate, group, None, "overall")
                question = self._engine.question(*asked)
                found = self._engine.answer(question)
                n_levels = found.value.size
                row = [[group] * n_levels, [rate] * n_levels, question.levels]
                row += [found.value, found.low, found.high]
                row += [*self._engine.errors_and_people(question, found.threshold)]
                rows += zip(*row, found.supported, strict=True)
        group, *others = zip(*rows, strict=True)
        columns = dict(zip(names, (group, *map(np.array, others)), strict=True))
        return build_frame(columns, backend, self._library)

    def _question_of_cells(self, name, far, threshold):
        """A question at one level or threshold, about each pair of groups."""
        check_is_fitted(self)
        question = self._engine.question(far, threshold, "far", None, None, "overall")
        if question.shape != ():
            given = plain(far if threshold is None else threshold)
            raise ValueError(f"{name} takes one level or threshold, got {given!r}.")
        if not self.groups_.size:
            raise no_groups(name)
        return question

    def _forget(self):
        """Delete the state of an earlier fit: a failed fit leaves none of it."""
        fitted = [name for name in vars(self) if name.endswith("_")]
        for name in (*fitted, "_engine", "_library", "_attributes", "_names"):
            vars(self).pop(name, None)

    def _store_fit(self, compared, identity, library):
        """Keep what was compared, and draw the seed of the resamples."""
        self.identities_, self._library = identity.values, library
        random_state = check_random_state(self.random_state)
        entropy = int(random_state.randint(np.iinfo(np.int32).max))
        names = tuple(compared.columns)
        return self._set_up_engine(compared, names, float(self.far_max), entropy)

    def _set_up_engine(self, compared, names, far_max, entropy, pairs=None):
        """Answer by these attributes, with intervals from the same resamples."""
        group = compared.labels(names)
        self.groups_ = np.empty(0) if group is None else group.values
        self._attributes, self._names = compared, names
        if pairs is None:
            pairs = compared.pairs(names, self.average, self.impostors)
        method = self.method
        if method == "wilson":
            warn_caller("method='wilson' is called 'jackknife' now.", FutureWarning)
            method = "jackknife"
        # Python's numbers: narrow ones round.
        resampling = Resampling(
            self.resample,
            "recentered" if method == "jackknife" else method,
            int(self.n_resamples),
            entropy,
            self.n_jobs,
        )
        how = (method, float(self.confidence_level), compared.images_named)
        how += (compared.terms,)
        self._engine = Engine(pairs, self.groups_, far_max, resampling, *how)
        scopes = (None, *((g, g) for g in range(self.groups_.size)))
        self.n_genuine_ = np.array([pairs.count(scope, "frr") for scope in scopes])
        self.n_impostor_ = np.array([pairs.count(scope) for scope in scopes])
        return self

    def _record(self, kind, found, question, named=True, **more):
        """Estimate or ROCCurve of an answer, in the caller's order, shape and frames."""
        columns = vars(found) | more
        values = [columns[field.name] for field in fields(kind)]
        values = [None if v is None else question.in_shape(v) for v in values]
        levels = question.level_columns() if named else {}
        return framed(kind(*values), self._library, **levels)
