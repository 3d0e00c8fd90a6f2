"""The questions that a fitted SimilarityROC answers."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfairfr._core._moments import score_moments
from skfairfr.metrics import _answers
from skfairfr.metrics._questions import check_one_group
from skfairfr.metrics._results import ScoreSummary
from skfairfr.utils._validation import plain


class PairQuestions:
    """Public methods of SimilarityROC after ``fit``; all speak through its measurement."""

    def threshold_at(self, far, *, operating_point="overall", group=None):
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
            Similarity from which on a pair is accepted; higher is stricter.

        Raises
        ------
        ValueError
            If far is outside (0, 1) or the group unknown.
        """
        check_is_fitted(self)
        if (group is None) == (operating_point == "group"):
            raise ValueError(
                "group= names whose threshold operating_point='group' asks for, and goes "
                f"with it alone; got group={plain(group)!r}, "
                f"operating_point={operating_point!r}."
            )
        measured = self._measurement
        check_one_group(group)
        question = measured.ask(far, None, "far", group, None, operating_point)
        return measured.thresholds(question)

    def estimate(
        self,
        far=None,
        *,
        threshold=None,
        rate="frr",
        group=None,
        how=None,
        operating_point="overall",
    ):
        """A rate or a disparity at a FAR level or a given threshold, with its interval.

        Parameters
        ----------
        far : float in (0, 1) or array-like, shape (n_levels,), default=None
            FAR level; its threshold is estimated again in every resample.
        threshold : float or array-like, shape (n_levels,), default=None
            Similarity from which on a deployed system accepts; exactly one of far and
            threshold.
        rate : {"frr", "far"}, default="frr"
            False rejections or false acceptances; lower is better.
        group : label or tuple of two labels, default=None
            Rate of one group, or the FAR between two; None is overall.
        how : str, tuple or callable, default=None
            Disparity over groups: "max_min", "max_geomean", "log_geomean", "gini",
            "difference", "std" (larger is less fair), "ratio" (of two groups, second over
            first, or ("ratio", a, b) for b over a), or a function of rates
            (..., n_groups).
        operating_point : {"overall", "worst_group", "group"}, default="overall"
            Which FAR meets the level: over all impostor pairs, the largest of the groups'
            (BFAR and BFRR, eq. (3)-(4) of EM22), or each group's own.

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
            Once a fit, where other people would vary over 1.5 times as much as other
            photographs of these people.
        UndefinedMetricWarning
            Where a rate, or a group's, is undefined, or a level cannot be resolved.
        """
        check_is_fitted(self)
        measured = self._measurement
        question = measured.ask(far, threshold, rate, group, how, operating_point)
        found = measured.answer(question)
        estimate = _answers.to_estimate(found, question, measured.counts(question))
        return measured.framed(estimate, question)

    def curve(
        self,
        far,
        *,
        rate="frr",
        group=None,
        how=None,
        operating_point="overall",
    ):
        """A rate or disparity over FAR levels; ``rate="frr"`` over far is the ROC.

        Parameters
        ----------
        far : array-like, shape (n_levels,)
            FAR levels in (0, 1).
        rate, group, how, operating_point
            As in :meth:`estimate`.

        Returns
        -------
        curve : ROCCurve
            Values with a pointwise and a simultaneous band.

        Raises
        ------
        ValueError
            As :meth:`estimate`, and if far is a single number.
        """
        check_is_fitted(self)
        if np.ndim(far) != 1:
            raise ValueError(
                f"far must be several levels, (n_levels,); got {plain(far)!r}. estimate() "
                "answers for one."
            )
        measured = self._measurement
        question = measured.ask(far, None, rate, group, how, operating_point)
        found = measured.answer(question)
        level = measured.settings.confidence_level
        return measured.framed(_answers.to_curve(found, question, level))

    def compare(
        self,
        other,
        far=None,
        *,
        threshold=None,
        rate="frr",
        group=None,
        how=None,
        operating_point="overall",
    ):
        """Difference and ratio to another system on the same images.

        Both are asked over the same resamples, so that what varies for both alike cancels.

        Parameters
        ----------
        other : SimilarityROC
            Fitted on another system's embeddings (or scores) of the same images, in the
            same order, with the same groups.
        far : float in (0, 1) or array-like, shape (n_levels,), default=None
            FAR level, which each system meets at a threshold of its own.
        threshold : float or array-like, shape (n_levels,), default=None
            Similarity from which on both accept; exactly one of far and threshold.
        rate, group, how, operating_point
            As in :meth:`estimate`.

        Returns
        -------
        comparison : Comparison
            This system minus, and over, the other.

        Raises
        ------
        ValueError
            As :meth:`estimate`, and if the two were not fitted on the same images.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        measured = self._measurement
        question = measured.ask(far, threshold, rate, group, how, operating_point)
        comparison = measured.compare(other._measurement, question)
        return measured.framed(comparison, question)

    def resamples(
        self,
        far=None,
        *,
        threshold=None,
        rate="frr",
        group=None,
        how=None,
        operating_point="overall",
    ):
        """The bootstrap replicates themselves, before any recentring.

        Parameters
        ----------
        far : float in (0, 1) or array-like, shape (n_levels,), default=None
            FAR level.
        threshold : float or array-like, shape (n_levels,), default=None
            Similarity from which on a pair is accepted; exactly one of far and threshold.
        rate, group, how, operating_point
            As in :meth:`estimate`.

        Returns
        -------
        replicates : ndarray, shape (n_resamples,) or (n_resamples, n_levels)
            Rates in [0, 1] or disparities; nan where one is undefined (0/0).

        Raises
        ------
        ValueError
            As :meth:`estimate`.
        """
        check_is_fitted(self)
        measured = self._measurement
        question = measured.ask(far, threshold, rate, group, how, operating_point)
        found = measured.answer(question)
        replicates = np.empty_like(found.replicates)
        replicates[question.order] = found.replicates
        return replicates.T.reshape(-1, *question.shape)

    def far_matrix(self, far=None, *, threshold=None):
        """FAR within and between all groups at one overall threshold.

        Parameters
        ----------
        far : float in (0, 1), default=None
            Overall FAR level.
        threshold : float, default=None
            Similarity from which on a deployed system accepts, instead; exactly one of
            the two.

        Returns
        -------
        matrix : GroupFARMatrix
            FAR of every two groups, with intervals.

        Raises
        ------
        ValueError
            If no groups were given, or not exactly one number of far and threshold.
        """
        question = self._ask_of_cells("far_matrix", far, threshold)
        return self._measurement.framed(self._measurement.matrix(question))

    def far_asymmetry(self, far=None, *, threshold=None):
        """Test whether the FAR of two groups depends on which is the probe's.

        Parameters
        ----------
        far : float in (0, 1), default=None
            Overall FAR level.
        threshold : float, default=None
            Similarity from which on a deployed system accepts, instead; exactly one of
            the two.

        Returns
        -------
        asymmetry : FARAsymmetry
            Differences of log10 FAR with intervals and p-values, over the same resamples
            for both.

        Raises
        ------
        ValueError
            If there are no two groups or no two sides, or not exactly one number of far
            and threshold.
        """
        question = self._ask_of_cells("far_asymmetry", far, threshold)
        if self.groups_.size < 2:
            raise ValueError(
                f"far_asymmetry compares two groups, and there are {self.groups_.size}: "
                f"{self.groups_.tolist()}."
            )
        if not self._measurement.two_sides:
            raise ValueError(
                "far_asymmetry needs probes and references, of which (a, b) and (b, a) are "
                "different pairs; pass domain= or X_reference= to fit."
            )
        return self._measurement.framed(self._measurement.asymmetry(question))

    def _ask_of_cells(self, name, far, threshold):
        """A question at one level or threshold, about every two groups."""
        check_is_fitted(self)
        given = far if threshold is None else threshold
        if np.ndim(given) != 0:
            raise ValueError(
                f"{name} takes one level or threshold; got {plain(given)!r}."
            )
        self._measurement.check_has_groups(name)
        return self._measurement.ask(far, threshold, "far", None, None, "overall")

    def equal_error_rate(self, group=None):
        """The rate at which FAR = FRR, overall or of one group at its own threshold.

        With finite data they are seldom equal: (FAR + FRR) / 2 at the score where they are
        closest.

        Parameters
        ----------
        group : label, default=None
            One group; None is overall.

        Returns
        -------
        estimate : Estimate
            Rate in [0, 1], lower is better.

        Raises
        ------
        ValueError
            If the group is unknown, or resampling has nothing to draw.
        """
        check_is_fitted(self)
        measured = self._measurement
        check_one_group(group)
        question = measured.ask(None, 0.0, "frr", group, None, "overall")
        return measured.framed(measured.equal_error_rate(question))

    def score_summary(self):
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
        """
        check_is_fitted(self)
        measured = self._measurement
        scopes = (None, *((g, g) for g in range(self.groups_.size)))
        moments = [score_moments(measured.pairs, scope) for scope in scopes]
        columns = [np.array(column) for column in zip(*moments, strict=True)]
        return measured.framed(ScoreSummary((None, *self.groups_.tolist()), *columns))
