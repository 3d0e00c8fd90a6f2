"""IdentificationROC: errors of searches (1:N) by group, with their uncertainty.

A search is an event of one person. To the engine of SimilarityROC a non-mated search is an
impostor pair whose score is that of the person returned, and a mated one a genuine pair.
``_core._searches`` defines alarms, mates and random galleries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from skfairfr._compat import Interval, StrOptions, fit_context
from skfairfr._core._candidates import CandidateLists, ScoreMatrix
from skfairfr._core._jackknife import genuine_sums, rate_ends
from skfairfr._core._kinds import SEARCHES
from skfairfr._core._rates import accepts
from skfairfr._core._resampling import MODES
from skfairfr._core._searches import FloorTooHighError
from skfairfr.metrics._records import CMC, GalleryAlarms, GroupFPIRMatrix
from skfairfr.metrics._roc import _inputs, _similarities
from skfairfr.metrics._roc._question import not_exactly_one
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.metrics._searches import (
    Searches,
    check_known,
    check_listed_from,
    check_matrix,
    check_repeats,
    rows_of_list,
    templates_of,
)
from skfairfr.utils._errors import invalid, kind_of_value
from skfairfr.utils._frames import framed, library_of
from skfairfr.utils._labels import Labels, label_images
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import (
    MOST,
    RATE,
    NeedsIdentities,
    check_count,
    check_group,
    check_level,
    check_number,
    check_option,
    plain,
    to_array,
    validate_rows,
)

if TYPE_CHECKING:
    from skfairfr.metrics._certificates import CertifiedThreshold
    from skfairfr.metrics._records import Comparison, Estimate
RATES = {"fpir": "far", "fnir": "frr"}


class IdentificationROC(NeedsIdentities, BaseEstimator):
    """Errors of searches of a gallery (1:N), by group, gallery size and composition.

    A search whose person is enrolled is *mated*, another *non-mated*. FPIR(t) is the share of
    non-mated searches in which the score of some enrolled person is at least t. FNIR(t, rank)
    is the share of mated searches in which the mate's score is below t, or ``rank`` or more
    others reach it: a tie with the mate counts against the system. Rates are by the group of
    the probe.

    One pass compares all probes with the gallery in tiles. Galleries of n of its N people,
    drawn at random, are answered exactly and without simulation: with k people at or above
    t, a non-mated search alarms with the probability 1 - C(N - k, n) / C(N, n), and the
    number of others ahead of the mate is hypergeometric. 1 - (1 - FMR)**n, which is often
    taken instead, assumes that comparisons are independent.

    The gallery is taken as given: intervals are for new people who search this gallery.

    Parameters
    ----------
    rank : int, default=1
        A mate counts as found if fewer others reach her score.
    template : {"image", "mean", "max"}, default="image"
        Template of each person: the only image, the mean of a person's unit rows, or
        all of them, of which the best counts.
    resample : {"identities", "images", "both"}, default="identities"
        Units that intervals at FPIR levels resample: people of the probes, or their searches. At given
        thresholds, with "identities", intervals come from the errors of each person.
    n_resamples : int, default=1000
        Number of bootstrap resamples, >= 1.
    confidence_level : float in (0, 1), default=0.95
        Nominal coverage of the intervals.
    similarity : {"cosine", "dot"} or comparator, default="cosine"
        As in :class:`SimilarityROC`. A comparator's scores take several times as long.
    device : {"cpu", "cuda", "cuda:0", ...}, default="cpu"
        Device of the products. Scores are the same.
    n_jobs : int, default=None
        Joblib workers. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the resamples, drawn in ``fit``.

    Attributes
    ----------
    groups_ : ndarray, shape (n_groups,)
        Sorted labels of the groups, of probes and of the gallery.
    gallery_ : ndarray, shape (n_enrolled,)
        Sorted labels of the people enrolled.
    n_mated_, n_nonmated_ : ndarrays of int, shape (1 + n_groups,)
        Searches, overall and of each group.
    n_features_in_ : int
        Number of features of the embeddings.
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    SimilarityROC : Errors of comparisons (1:1).

    References
    ----------
    .. [1] ISO/IEC 19795-1:2021, Biometric performance testing and reporting. FPIR, FNIR and
       CMC.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.metrics import IdentificationROC
    >>> data = make_face_embeddings(n_identities=400, images_per_identity=2, random_state=0)
    >>> _, first = np.unique(data.y, return_index=True)
    >>> gallery = first[::2]  # one image of every second person
    >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
    >>> roc = IdentificationROC(random_state=0).fit(
    ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
    ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
    ... )
    >>> threshold = roc.threshold_at(0.1)
    >>> whole = roc.estimate(threshold=threshold, rate="fpir").value
    >>> smaller = roc.estimate(threshold=threshold, rate="fpir", gallery_size=20).value
    >>> bool(smaller < whole)
    True
    """

    # The gallery is not aligned with X, so no split may slice it.
    __metadata_request__fit = {  # noqa: RUF012
        "sensitive_features": True,
        "X_gallery": UNUSED,
        "y_gallery": UNUSED,
        "sensitive_features_gallery": UNUSED,
    }

    _parameter_constraints: dict = {  # noqa: RUF012
        "rank": [Interval(Integral, 1, None, closed="left")],
        "template": [StrOptions({"image", "mean", "max"})],
        "resample": [StrOptions(set(MODES))],
        "n_resamples": [Interval(Integral, 1, None, closed="left")],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "similarity": "no_validation",  # check_parameters names the remedy
        "device": [str],
        "n_jobs": [None, Interval(Integral, None, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        rank: int = 1,
        template: str = "image",
        resample: str = "identities",
        n_resamples: int = 1000,
        confidence_level: float = 0.95,
        similarity: Any = "cosine",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.rank = rank
        self.template = template
        self.resample = resample
        self.n_resamples = n_resamples
        self.confidence_level = confidence_level
        self.similarity = similarity
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
        X_gallery: ArrayLike,
        y_gallery: Column,
        sensitive_features_gallery: Columns | None = None,
    ) -> Self:
        """Search the gallery with every probe.

        Parameters
        ----------
        X : array-like, shape (n_probes, n_features)
            Embeddings of the probes, each a search.
        y : array-like, shape (n_probes,)
            Identity of each probe, as in :class:`SimilarityROC`. Those who are in the gallery
            make mated searches, the others non-mated ones.
        sensitive_features : array-like, frame or dict, shape (n_probes,), default=None
            Group of each probe. None and NaN are unknown.
        X_gallery : array-like, shape (n_images, n_features)
            Embeddings enrolled.
        y_gallery : array-like, shape (n_images,)
            Whose they are.
        sensitive_features_gallery : array-like, frame or dict, shape (n_images,), default=None
            Groups of these, for galleries of a given composition and by the person returned.

        Returns
        -------
        self : IdentificationROC
            Fitted.

        Raises
        ------
        ValueError
            If shapes differ, values are not finite, or a row is zero. If a probe is itself in
            the gallery. If ``template="image"`` and a person has several images there. If
            fewer than two people search, or there is no such device.
        ImportError
            If the device is not the CPU and torch is not installed.
        """
        _similarities.check_parameters(self.similarity, "recentered", self.resample)
        if self.device != "cpu":
            _similarities.check_device(self.device, self.similarity)
        library = library_of(X, y, sensitive_features, X_gallery, y_gallery)
        X = validate_rows(self, X, dtype=(np.float32, np.float64))
        joined = _inputs.join_reference(
            (X, y, sensitive_features, None),
            (X_gallery, y_gallery, sensitive_features_gallery),
            "gallery",
        )
        _inputs.check_not_enrolled(joined[0][: len(X)], joined[0][len(X) :])
        if self.template == "mean":
            *joined, _ = _inputs.join_references(*joined, "mean", self.similarity)
        both, identity, attributes, _ = joined
        source_of = partial(templates_of, both, len(X), attributes, self)
        return self._store_fit(identity, attributes, len(X), source_of, library)

    @fit_context(prefer_skip_nested_validation=True)
    def fit_matrix(
        self,
        scores: ArrayLike,
        y: Column,
        sensitive_features: Columns | None = None,
        *,
        y_gallery: Column,
        sensitive_features_gallery: Columns | None = None,
    ) -> Self:
        """Take the scores of all searches with all templates that are enrolled.

        Parameters
        ----------
        scores : array-like, shape (n_searches, n_templates)
            Similarities, larger meaning more similar. Negate distances. With
            ``template="max"`` the best template of a person counts.
        y, sensitive_features : array-likes, shape (n_searches,)
            Labels of the rows, as in :meth:`fit`.
        y_gallery, sensitive_features_gallery : array-likes, shape (n_templates,)
            Labels of the columns, as in :meth:`fit`.

        Returns
        -------
        self : IdentificationROC
            Fitted. Answers are those of :meth:`fit` on embeddings with these scores.

        Raises
        ------
        ValueError
            If shapes differ, a score is missing or infinite, ``template`` is "mean", or as in
            :meth:`fit`.
        """
        library = library_of(scores, y, sensitive_features, y_gallery)
        matrix = check_matrix(scores)
        of = (("scores", matrix.shape[0]), ("the columns of scores", matrix.shape[1]))
        labels = (y, sensitive_features), (y_gallery, sensitive_features_gallery)
        identity, attributes, _ = _inputs.join_labels(*labels, of)
        self._check_template()

        def source_of(order, first):
            return (ScoreMatrix(matrix, order, first),)

        return self._store_fit(identity, attributes, len(matrix), source_of, library)

    @fit_context(prefer_skip_nested_validation=True)
    def fit_candidates(
        self,
        search: Column,
        candidate: Column,
        y_score: ArrayLike,
        *,
        y: Column,
        sensitive_features: Columns | None = None,
        y_gallery: Column,
        sensitive_features_gallery: Columns | None = None,
        names: Column | None = None,
        listed_from: float | None = None,
    ) -> Self:
        """Take lists of candidates, the people whom each search returned with their scores.

        Lists end at a rank, at a score, or at both. A non-mated search is decided by its first
        candidate. A mated one is decided by her mate or, if the mate is not listed, by ``rank``
        others who are. Lists without all candidates give answers from a threshold on, and asking below
        it is an error that states it. Smaller galleries need longer lists: everybody who reaches
        the threshold, and everybody who is ahead of a mate.

        A mate who is last in a list counts as ahead of whoever ties with her and is not listed,
        which matters if ``rank`` is the length of the list.

        Parameters
        ----------
        search : array-like, shape (n_rows,)
            The search of each candidate: the number of its row in ``y``, or its name.
        candidate : array-like, shape (n_rows,)
            The person returned, one of ``y_gallery``.
        y_score : array-like, shape (n_rows,)
            Similarities. Negate distances.
        y : array-like, shape (n_searches,)
            Person of each search, also if no candidate was returned. As in :meth:`fit`.
        sensitive_features : array-like, frame or dict, shape (n_searches,), default=None
            Group of each search. None and NaN are unknown.
        y_gallery : array-like, shape (n_enrolled,)
            Everybody enrolled, also those who are no candidate of any search. With
            ``template="max"`` the best of several candidates of one person counts.
        sensitive_features_gallery : array-like, frame or dict, shape (n_enrolled,), default=None
            Groups of these.
        names : array-like, shape (n_searches,), default=None
            Names of the searches, by which ``search`` calls them. None numbers them from 0.
        listed_from : float, default=None
            Score from which on every list has all candidates. None if that is not known: lists
            are then taken to lack nobody above their last score and, if one is empty, nobody
            above the lowest score of all lists.

        Returns
        -------
        self : IdentificationROC
            Fitted.

        Raises
        ------
        ValueError
            If lengths differ, a score is missing or infinite, a search or a candidate is
            unknown, a candidate is listed twice for a search, lists contradict ``listed_from``, or as
            in :meth:`fit`.

        Examples
        --------
        >>> from skfairfr.metrics import IdentificationROC
        >>> roc = IdentificationROC(n_resamples=20, random_state=0).fit_candidates(
        ...     search=[0, 0, 1, 2], candidate=["ann", "bob", "bob", "ann"],
        ...     y_score=[0.9, 0.4, 0.5, 0.7],
        ...     y=["ann", "cleo", "bob", "dan"], y_gallery=["ann", "bob"],
        ... )
        >>> roc.estimate(threshold=0.6, rate="fnir").value
        0.5
        """
        library = library_of(search, candidate, y, sensitive_features, y_gallery)
        labels = (y, sensitive_features), (y_gallery, sensitive_features_gallery)
        identity, attributes, side = _inputs.join_labels(*labels)
        self._check_template()
        if listed_from is not None:
            wanted = math.isfinite, "must be finite"
            listed_from = check_number(listed_from, "listed_from", *wanted)
        enrolled, n = identity.values[identity.codes[side == 1]], int((side == 0).sum())
        rows = rows_of_list(search, candidate, y_score, enrolled, names, n)
        check_repeats(*rows[:2], enrolled, self.template)
        lists = CandidateLists(*rows, listed_from, int(self.rank))
        check_listed_from(lists, n, np.unique(enrolled).size)
        return self._store_fit(identity, attributes, n, lambda *_: (lists,), library)

    def _check_template(self):
        if self.template == "mean":
            problem = "'mean' is of embeddings, and scores were given;"
            raise invalid("template", "mean", problem, "use 'max', or enrol one image.")

    def _store_fit(self, identity, attributes, n_searches, source_of, library):
        """Keep what was found, and draw the seed of the resamples."""
        searches = Searches.of(identity, attributes, n_searches, self, source_of)
        self.gallery_ = identity.values[searches.enrolled]
        base = SimilarityROC(
            resample=self.resample,
            n_resamples=self.n_resamples,
            confidence_level=self.confidence_level,
            far_max=float(np.nextafter(1.0, 0.0)),  # all levels are exact
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
        people = Labels(identity.values[searches.people], None)
        self._searches, self._library = searches, library
        self._systems = {None: base._store_fit(searches, people, library)}
        self.groups_ = base.groups_
        self.n_mated_, self.n_nonmated_ = base.n_genuine_, base.n_impostor_
        return self

    def threshold_at(
        self, fpir: ArrayLike, *, operating_point: str = "overall", group: object = None
    ) -> float | np.ndarray:
        """Threshold that meets an FPIR level with the whole gallery.

        The number next above the largest score of a non-mated search at which the FPIR still
        exceeds the level.

        Parameters
        ----------
        fpir : float in (0, 1) or array-like, shape (n_levels,)
        operating_point : {"overall", "worst_group", "group"}, default="overall"
            Whether the FPIR of all searches, that of every group, or that of one group meets
            the level.
        group : label, default=None
            The group, with ``operating_point="group"``.

        Returns
        -------
        threshold : float or ndarray, shape (n_levels,)
            Similarity from which on a search alarms. Higher is stricter.

        Raises
        ------
        ValueError
            If fpir is outside (0, 1) or the group unknown.

        Examples
        --------
        >>> import numpy as np
        >>> from skfairfr import IdentificationROC, make_face_embeddings
        >>> data = make_face_embeddings(400, images_per_identity=3, random_state=0)
        >>> gallery = np.unique(data.y, return_index=True)[1][::2]
        >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
        >>> roc = IdentificationROC(random_state=0).fit(
        ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
        ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
        ... )
        >>> round(roc.threshold_at(1e-1), 3)
        0.298
        """
        check_is_fitted(self)
        check_level(fpir, "fpir")
        return self._system().threshold_at(
            fpir, operating_point=operating_point, group=group
        )

    def estimate(
        self,
        fpir: ArrayLike | None = None,
        *,
        threshold: ArrayLike | None = None,
        rate: str = "fnir",
        group: object = None,
        how: str | tuple | Callable | None = None,
        gallery_size: int | None = None,
        gallery_shares: dict | None = None,
        operating_point: str = "overall",
    ) -> Estimate:
        """A rate or a disparity at an FPIR level or a given threshold, with its interval.

        Parameters
        ----------
        fpir : float in (0, 1) or array-like, shape (n_levels,), default=None
            FPIR level, met with the gallery asked about. Its threshold is estimated again in
            every resample.
        threshold : float or array-like, shape (n_levels,), default=None
            Similarity from which on a deployed system alarms. Exactly one of the two.
        rate : {"fnir", "fpir"}, default="fnir"
            Lower is better.
        group : label, default=None
            Rate of the probes of one group. If None, overall.
        how : str, tuple or callable, default=None
            Disparity over the groups of probes, as in :meth:`SimilarityROC.estimate`.
        gallery_size : int, default=None
            Number of people of a random gallery, up to those enrolled. If None, all of them.
            The rate is its expectation over such galleries. For a mated search the mate is
            enrolled.
        gallery_shares : dict of label -> float, default=None
            Composition of that gallery by group, which adds up to 1. If None, everyone has the same chance.
            Mated searches of groups without a place are left out.
        operating_point : {"overall", "worst_group", "group"}, default="overall"
            FPIR that meets the level.

        Returns
        -------
        estimate : Estimate
            ``n_genuine`` counts mated searches and ``n_impostor`` non-mated ones. In
            ``reasons`` the rates "far" and "frr" are the FPIR and the FNIR.

        Raises
        ------
        ValueError
            If an argument is out of range or contradicts another. If a gallery is larger than
            the one searched, or needs more people of a group than are enrolled.

        Warns
        -----
        UndefinedMetricWarning
            If a rate, or a group's, is undefined, or a level cannot be resolved.

        Examples
        --------
        >>> import numpy as np
        >>> from skfairfr import IdentificationROC, make_face_embeddings
        >>> data = make_face_embeddings(400, images_per_identity=3, random_state=0)
        >>> gallery = np.unique(data.y, return_index=True)[1][::2]
        >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
        >>> roc = IdentificationROC(random_state=0).fit(
        ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
        ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
        ... )
        >>> found = roc.estimate(1e-1)
        >>> print(f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")
        0.083 [0.049, 0.117]
        """
        asked = _in_engine_terms(fpir, threshold, rate, group, how, operating_point)
        return self._answer("estimate", asked, gallery_size, gallery_shares)

    def compare(
        self,
        other: Self,
        fpir: ArrayLike | None = None,
        *,
        threshold: ArrayLike | None = None,
        rate: str = "fnir",
        group: object = None,
        how: str | tuple | Callable | None = None,
        gallery_size: int | None = None,
        gallery_shares: dict | None = None,
        operating_point: str = "overall",
    ) -> Comparison:
        """Difference and ratio to another system on the same gallery and probes.

        Effects common to both systems cancel person by person.

        Parameters
        ----------
        other : IdentificationROC
            Fitted on another system's embeddings of the same images in the same order, with
            the same identities and groups.
        fpir : float in (0, 1) or array-like, shape (n_levels,), default=None
            FPIR level, which each system meets at its own threshold.
        threshold : float or array-like, shape (n_levels,), default=None
            Similarity from which on both alarm. Exactly one of fpir and threshold.
        rate, group, how, gallery_size, gallery_shares, operating_point
            As in :meth:`estimate`.

        Returns
        -------
        comparison : Comparison
            This system minus, and over, the other.

        Raises
        ------
        ValueError
            As :meth:`estimate`, and if the two were not fitted on the same searches.
        """
        check_is_fitted(self)
        if not isinstance(other, IdentificationROC):
            raise invalid(
                *("other", other),
                f"must be a fitted IdentificationROC, got {kind_of_value(other)}.",
            )
        check_is_fitted(other)
        if not np.array_equal(self.gallery_, other.gallery_):
            raise invalid(
                *("other", None),
                "was fitted on a gallery of different people;",
                "a paired comparison needs the same gallery and the same probes.",
            )
        asked = _in_engine_terms(fpir, threshold, rate, group, how, operating_point)
        return self._answer("compare", asked, gallery_size, gallery_shares, other)

    def cmc(self, ranks: ArrayLike, group: object = None) -> CMC:
        """Cumulative match characteristic, the closed-set rates of mated searches.

        Parameters
        ----------
        ranks : int or array-like of int, shape (n_ranks,)
            Ranks, at least 1.
        group : label, default=None
            Group of the probes. If None, overall.

        Returns
        -------
        cmc : CMC

        Raises
        ------
        ValueError
            If a rank is no integer from 1 on, or the group is unknown.

        Examples
        --------
        >>> import numpy as np
        >>> from skfairfr import IdentificationROC, make_face_embeddings
        >>> data = make_face_embeddings(400, images_per_identity=3, random_state=0)
        >>> gallery = np.unique(data.y, return_index=True)[1][::2]
        >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
        >>> roc = IdentificationROC(random_state=0).fit(
        ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
        ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
        ... )
        >>> roc.cmc([1, 5], group="female").value.round(3)
        array([0.936, 0.979])
        """
        check_is_fitted(self)
        given = np.atleast_1d(to_array(ranks, "ranks")).ravel()
        ranks = np.array([check_count(plain(rank), "ranks", 1) for rank in given])
        found, (people, inside) = self._searches.found, self._probes_of(group)
        inside = inside & ~np.isnan(found.mate)
        ahead = found.above[inside].sum(axis=1)
        known_to = ahead[np.isneginf(found.mate[inside])].min(initial=MOST)
        if ranks.max() > known_to:
            raise invalid(
                *("ranks", given),
                f"go up to {ranks.max()}, and a list without its mate has {known_to} people;",
                "ask up to there, or at a threshold: estimate(threshold=, rate='fnir').",
            )
        sums = self._sums(people[inside], ahead >= ranks[:, None])
        low, high = rate_ends(sums, self._tail)
        columns = (1 - sums.rate, 1 - high, 1 - low, int(inside.sum()))
        return framed(CMC(ranks, *columns), self._library)

    def certify(
        self,
        fpir: float,
        *,
        fnir: float | None = None,
        groups: Sequence[object] | None = None,
        confidence_level: float = 0.95,
        operating_point: str = "overall",
    ) -> CertifiedThreshold:
        """The loosest threshold that keeps an FPIR for every group, also for new people.

        As :meth:`SimilarityROC.certify`, of searches of the whole gallery, which is taken as
        given.

        Parameters
        ----------
        fpir : float in (0, 1)
            Largest FPIR allowed of each group.
        fnir : float in (0, 1), default=None
            Largest FNIR allowed of each group, which is certified likewise. None allows any.
        groups : sequence of labels, shape (n_groups,), default=None
            Groups of probes that have to meet the limits. If None: all.
        confidence_level : float in (0, 1), default=0.95
            One minus the chance of a wrong certificate.
        operating_point : {"overall", "group"}, default="overall"
            Whether one threshold serves all groups, or each has its own.

        Returns
        -------
        certified : CertifiedThreshold
            Its "far" is the FPIR and its "frr" the FNIR.

        Raises
        ------
        ValueError
            If there are no groups, one is unknown, or a rate is out of range.

        Examples
        --------
        >>> import numpy as np
        >>> from skfairfr import IdentificationROC, make_face_embeddings
        >>> data = make_face_embeddings(400, images_per_identity=3, random_state=0)
        >>> gallery = np.unique(data.y, return_index=True)[1][::2]
        >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
        >>> roc = IdentificationROC(random_state=0).fit(
        ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
        ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
        ... )
        >>> found = roc.certify(0.3)
        >>> bool(found.supported)
        True
        """
        check_is_fitted(self)
        for name, level in (("fpir", fpir), ("fnir", fnir)):
            if level is not None:
                check_number(level, name, *RATE)
        found = self._system().certify(
            fpir,
            frr=fnir,
            groups=groups,
            confidence_level=confidence_level,
            operating_point=operating_point,
        )
        return framed(found, self._library)

    def fpir_matrix(
        self, fpir: float | None = None, *, threshold: float | None = None
    ) -> GroupFPIRMatrix:
        """FPIR by the group of the probe and that of the person returned.

        Parameters
        ----------
        fpir : float in (0, 1), default=None
            Overall FPIR level.
        threshold : float, default=None
            Similarity from which on a search alarms, instead.

        Returns
        -------
        matrix : GroupFPIRMatrix

        Raises
        ------
        ValueError
            If no groups were given, or not exactly one number of the two.
        """
        alarm, returned = self._alarms_at(fpir, threshold)
        if not self.groups_.size:
            raise ValueError(
                "fpir_matrix needs groups: pass sensitive_features= to fit."
            )
        groups = np.arange(self.groups_.size)
        group_of, rows = self._searches.gallery_by(self._names).group[returned], []
        for label in self.groups_.tolist():
            people, inside = self._probes_of(label)
            inside = inside & (self._searches.own < 0)
            falsely = alarm[inside] & (group_of[inside] == groups[:, None])
            sums = self._sums(people[inside], falsely)
            rows.append((sums.rate, *rate_ends(sums, self._tail)))
        columns = np.swapaxes(np.array(rows), 0, 1)
        matrix = GroupFPIRMatrix(self.groups_, *columns, self.n_nonmated_[1:])
        return framed(matrix, self._library)

    def alarms(
        self, fpir: float | None = None, *, threshold: float | None = None
    ) -> GalleryAlarms:
        """Which enrolled people cause the false alarms.

        Parameters
        ----------
        fpir : float in (0, 1), default=None
            Overall FPIR level.
        threshold : float, default=None
            Similarity from which on a search alarms, instead.

        Returns
        -------
        alarms : GalleryAlarms
            The people with most of them first: to enrol a few again is often the remedy.

        Raises
        ------
        ValueError
            If not exactly one number of the two is given.
        """
        alarm, returned = self._alarms_at(fpir, threshold)
        counts = np.bincount(returned[alarm], minlength=self.gallery_.size)
        # A person who searches often has many alarms by one enrolled person.
        n_people, (people, _) = counts.size, self._probes_of(None)
        pairs = np.unique(people[alarm].astype(np.int64) * n_people + returned[alarm])
        searchers = np.bincount(pairs % n_people, minlength=n_people)
        by_chance = n_people * binom.sf(searchers - 1, pairs.size, 1 / n_people)
        order = np.lexsort((-searchers, -counts))[: np.count_nonzero(counts)]
        group = self._searches.gallery_by(self._names).group[order]
        labels = np.append(self.groups_.astype(object), None)[group]
        share = counts[order] / max(counts.sum(), 1)
        numbers = counts[order], searchers[order], np.minimum(by_chance[order], 1.0)
        found = GalleryAlarms(self.gallery_[order], labels, *numbers, share)
        return framed(found, self._library)

    # ---- what is behind the answers --------------------------------------------------

    @property
    def _names(self):
        return tuple(self._searches.columns)

    @property
    def _tail(self):
        return (1 - self.confidence_level) / 2

    def _answer(self, method, asked, gallery_size, gallery_shares, other=None):
        """The answer of SimilarityROC about a gallery."""
        check_is_fitted(self)
        if asked["group"] is not None:
            check_group(asked["group"], self.groups_)
        systems = [self, *([] if other is None else [other])]
        while True:
            rocs = [system._system(gallery_size, gallery_shares) for system in systems]
            if asked["far"] is None and self.resample == "identities":
                rocs = [roc.by(method="jackknife") for roc in rocs]
            try:
                for roc in rocs:
                    check_known(roc, asked["threshold"])
                found = getattr(rocs[0], method)(*rocs[1:], **asked)
                break
            except FloorTooHighError:
                # No further candidates of lists, or of a whole matrix, can be found.
                able = [system for system in systems if system._searches.share < 1]
                if not able:
                    raise
                for system in able:
                    system._find_more_candidates()
        levels = {
            "fpir" if name == "far" else name: level
            for name, level in found._level_columns.items()
        }
        return framed(found, self._library, **levels)

    def _system(self, size=None, shares=None):
        """The SimilarityROC whose pairs are the searches of a gallery."""
        if size is None and shares is not None:
            raise invalid(
                *("gallery_shares", shares),
                "is the composition of a random gallery;",
                "give its gallery_size too.",
            )
        key = size and (size, *sorted((shares or {}).items(), key=str))
        if key not in self._systems:
            whole = self._systems[None]
            drawn = self._drawn(size, shares)
            small = replace(self._searches, drawn=drawn)
            roc = SimilarityROC(**whole.get_params())
            roc.identities_, roc._library = whole.identities_, whole._library
            engine = whole._engine
            asked = (self._names, engine.far_max, engine.resampling.entropy)
            self._systems[key] = roc._set_up_engine(small, *asked)
        return self._systems[key]

    def _drawn(self, size, shares):
        """People drawn: of all, (1,), or of each group, (n_groups + 1,)."""
        enrolled = self.gallery_.size
        if check_count(size, "gallery_size", 1) > enrolled:
            raise invalid(
                *("gallery_size", size),
                f"is {size:,}, and {enrolled:,} people are enrolled: beyond the gallery "
                "nothing is known;",
                f"give {enrolled} at most, or enrol more people.",
            )
        if shares is None:
            return np.array([size])
        places = [check_group(g, self.groups_, "gallery_shares") for g in shares]
        parts = np.array([*shares.values()], dtype=float)
        if not ((parts >= 0).all() and np.isclose(parts.sum(), 1)):
            raise invalid(
                *("gallery_shares", shares),
                f"must be shares that add up to 1, got {plain(list(shares.values()))}.",
            )
        drawn = np.zeros(self.groups_.size + 1, dtype=int)
        drawn[places] = np.floor(size * parts + 1e-9)
        # The largest remainders make up for what was rounded down.
        left = np.argsort(drawn[places] - size * parts, kind="stable")
        for place in left[: size - drawn.sum()]:
            drawn[places[place]] += 1
        sizes = self._searches.gallery_by(self._names).sizes()
        for place in places:
            if drawn[place] > sizes[place]:
                raise invalid(
                    *("gallery_shares", shares),
                    f"asks for {drawn[place]:,} people of {plain(self.groups_[place])!r}, "
                    f"and {sizes[place]:,} are enrolled;",
                    "lower gallery_size or that share.",
                )
        return drawn

    def _find_more_candidates(self):
        """Search again, and store candidates down to a lower score."""
        whole = self._systems[None]
        self._searches = self._searches.deeper(self)
        self._systems = {None: whole}

    def _probes_of(self, group):
        """Person of each probe, and which probes are of a group."""
        images = self._systems[None]._engine.pairs.images
        if group is None:
            return images.identity, np.ones(images.identity.size, dtype=bool)
        return images.identity, images.group == check_group(group, self.groups_)

    def _sums(self, people, errors):
        """ErrorSums of errors (n_levels, n_searches) of these people."""
        n = self._systems[None].identities_.size
        counts = np.stack([np.bincount(people, row, n) for row in errors.astype(float)])
        return genuine_sums(counts, np.bincount(people, minlength=n).astype(float))

    def _alarms_at(self, fpir, threshold):
        """Whether each probe alarms falsely, and the person returned."""
        check_is_fitted(self)
        if (fpir is None) == (threshold is None):
            raise not_exactly_one(fpir, SEARCHES)
        threshold = self.threshold_at(fpir) if threshold is None else threshold
        if np.ndim(threshold):
            raise ValueError(f"Give one level or threshold, got {plain(threshold)!r}.")
        check_known(self._systems[None], threshold)
        found = self._searches.found
        return (found.returned >= 0) & accepts(found.best, threshold), found.returned


def searches_within(X, y, sensitive_features, similarity):
    """The SimilarityROC of searches among images: every second person of a group is enrolled.

    By the first of her images. All other images search.
    """
    identity, group, _ = label_images(
        y, sensitive_features, None, len(X), fields=("identity", "group")
    )
    _, first = np.unique(identity.codes, return_index=True)
    if group is not None:
        first = first[np.argsort(group.codes[first], kind="stable")]
    enrolled = first[::2]
    probes = np.setdiff1d(np.arange(len(X)), enrolled)
    groups = (None, None)
    if group is not None:
        groups = [group.of_rows()[rows] for rows in (probes, enrolled)]
    search_ = IdentificationROC(n_resamples=1, similarity=similarity).fit(
        *(X[probes], identity.codes[probes], groups[0]),
        X_gallery=X[enrolled],
        y_gallery=identity.codes[enrolled],
        sensitive_features_gallery=groups[1],
    )
    return search_._system()


def _in_engine_terms(fpir, threshold, rate, group, how, operating_point):
    """The arguments of a question as SimilarityROC has them."""
    if (fpir is None) == (threshold is None):
        raise not_exactly_one(fpir, SEARCHES)
    check_option(rate, "rate", tuple(RATES))
    asked = {"far": fpir, "threshold": threshold, "rate": RATES[rate]}
    return asked | {"group": group, "how": how, "operating_point": operating_point}
