"""The numbers of an audit: rates, disparities and findings from a fitted SimilarityROC."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from skfairfr._core._disparities import DISPARITIES
from skfairfr._core._intervals import simultaneous
from skfairfr.metrics import Reason
from skfairfr.report._records import (
    Disparity,
    Figure,
    Finding,
    GroupRates,
    GroupRow,
    Level,
)
from skfairfr.report._text_layout import in_words
from skfairfr.utils._errors import Argument, ArgumentError
from skfairfr.utils._validation import check_level, check_threshold, plain

DEFAULT_FAR = (1e-2, 1e-3)
HOWS = ("max_min", "max_geomean", "log_geomean", "gini", "difference")
RATES = ("far", "frr")


@dataclass(frozen=True)
class Points:
    """Operating points, from the largest FAR to the smallest.

    Attributes
    ----------
    far : ndarray, shape (n_levels,), or None
        Levels, which hold on the data that ``set_on`` names; None of given thresholds.
    threshold : ndarray, shape (n_levels,), or None
        Similarities; None where the audited data set them.
    set_on : {"these data", "other data", "given"}
    far_max : float, default=None
        FAR up to which all pairs are held; None before the data are known.
    """

    far: np.ndarray | None
    threshold: np.ndarray | None
    set_on: str
    far_max: float | None = None

    @classmethod
    def of(cls, far=None, threshold=None, distance=False):
        """Points of levels or of thresholds, not both; neither takes the usual levels.

        With ``distance`` thresholds are distances.
        """
        if far is not None and threshold is not None:
            raise ArgumentError(
                *(Argument("far", far), " and ", Argument("threshold", threshold)),
                " were both given; a threshold is set by its FAR or given:",
                remedy="leave one out.",
            )
        if threshold is not None:
            given = np.asarray(threshold)
            if given.dtype.kind in "fiu" and not np.isfinite(given).all():
                raise ArgumentError(
                    Argument("threshold"),
                    f" must be finite; got {plain(threshold)}, which accepts all pairs, "
                    "none, or is no number.",
                    remedy="Give the score at which the system accepts.",
                    value=threshold,
                )
            similarity = check_threshold(threshold) * (-1 if distance else 1)
            return cls(None, np.unique(similarity), "given")
        levels = check_level(DEFAULT_FAR if far is None else far)
        return cls(np.unique(levels)[::-1], None, "these data")

    @property
    def size(self):
        """Number of operating points."""
        return (self.far if self.threshold is None else self.threshold).size

    def arguments(self):
        """Those of SimilarityROC.estimate."""
        if self.threshold is None:
            return {"far": self.far}
        return {"threshold": self.threshold}


class AuditedROC:
    """A fitted SimilarityROC with the operating points that an audit asks it about.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted with groups.
    points : Points
    """

    def __init__(self, roc, points):
        self.roc = roc
        self.points = points
        self.at_points = points.arguments()
        self.labels = [None, *roc.groups_.tolist()]
        self.n_pairs = {"far": roc.n_impostor_, "frr": roc.n_genuine_}

    def groups(self, people, images, group):
        """Sizes and equal error rates, everyone first.

        Parameters
        ----------
        people : ndarray of int, shape (n_rows,)
        images : ndarray of int, shape (n_rows,), or None
            None where images are not named.
        group : Labels
        """
        rows = []
        for row, label in enumerate(self.labels):
            inside = group.codes == row - 1 if row else slice(None)
            n_genuine, n_impostor = (int(self.n_pairs[r][row]) for r in ("frr", "far"))
            if n_genuine and n_impostor:
                equal = figures_of(self.roc.equal_error_rate(label))[0]
            else:
                equal = Figure.undefined(*self._lack(row))
            sizes = (
                np.unique(people[inside]).size,
                None if images is None else np.unique(images[inside]).size,
                n_genuine,
                n_impostor,
            )
            rows.append(GroupRow(label, *sizes, equal))
        return tuple(rows)

    def levels(self, in_short=False):
        """Records of all levels; in short: max_min at the overall threshold alone."""
        points = self.points
        rates = {}
        for rate in RATES:
            rates[rate] = self._rates(rate)
        hows = [("max_min", "overall")]
        worst_group = np.full(points.size, np.nan)
        if not in_short:
            hows = [(how, "overall") for how in HOWS]
            if points.threshold is None:
                hows.append(("max_min", "worst_group"))
                worst_group = self.roc.threshold_at(
                    points.far, operating_point="worst_group"
                )
        disparities = []
        for how, operating_point in hows:
            disparities.append(self._disparity(how, operating_point))
        threshold = points.threshold
        if threshold is None:
            threshold = self.roc.threshold_at(points.far)
        return tuple(
            Level(
                None if points.far is None else float(points.far[level]),
                float(threshold[level]),
                float(worst_group[level]),
                tuple(
                    GroupRates(
                        label, rates["far"][row][level], rates["frr"][row][level]
                    )
                    for row, label in enumerate(self.labels)
                ),
                tuple(of_levels[level] for of_levels in disparities),
                tuple(self._finding(r, level, rates[r]) for r in RATES),
                points.set_on,
            )
            for level in range(points.size)
        )

    def _rates(self, rate):
        """Figures of every group at every level."""
        figures = []
        for row, label in enumerate(self.labels):
            if self.n_pairs[rate][row]:
                estimate = self.roc.estimate(**self.at_points, rate=rate, group=label)
                figures.append(figures_of(estimate))
            else:
                undefined = Figure.undefined(*self._lack(row))
                figures.append([undefined] * self.points.size)
        if rate == "far" and self.points.set_on == "these data":
            figures[0] = [_without_interval(figure) for figure in figures[0]]
        return figures

    def _disparity(self, how, operating_point):
        """One disparity of either rate, at every level."""
        question = {"how": how, "operating_point": operating_point}
        figures = []
        for rate in RATES:
            reason = self._few_groups(rate)
            if reason is not None:
                figures.append([Figure.undefined(reason)] * self.points.size)
            else:
                estimate = self.roc.estimate(**self.at_points, rate=rate, **question)
                figures.append(figures_of(estimate))
        neutral = DISPARITIES[how].neutral
        return [
            Disparity(how, operating_point, neutral, far, frr)
            for far, frr in zip(*figures, strict=True)
        ]

    def _lack(self, row):
        """Reasons that name the pairs a group is without; not the group if all are."""
        everywhere = [r for r in ("frr", "far") if not self.n_pairs[r][0]]
        lacking = [r for r in ("frr", "far") if not self.n_pairs[r][row]]
        groups = None if lacking == everywhere else (self.labels[row],)
        return tuple(_no_pairs(rate, groups) for rate in lacking)

    def _few_groups(self, rate):
        """The Reason why no two groups can be compared; None if they can."""
        if not self.n_pairs[rate][0]:
            return _no_pairs(rate)
        n_groups = np.count_nonzero(self.n_pairs[rate][1:])
        return None if n_groups > 1 else _only(n_groups)

    def _finding(self, rate, level, rates):
        """The extremes of the groups that the data support; of all if there are not two."""
        figures = {
            label: of_levels[level]
            for label, of_levels in zip(self.labels[1:], rates[1:], strict=True)
            if np.isfinite(of_levels[level].value)
        }
        supported = [label for label in figures if figures[label].supported]
        compared = supported if len(supported) > 1 else list(figures)
        left_out = tuple(label for label in self.labels[1:] if label not in compared)
        if len(compared) < 2:
            ratio = Figure.undefined(self._few_groups(rate) or _only(len(compared)))
            return Finding(rate, None, None, ratio, 0, left_out, "unsupported")
        ordered = sorted(compared, key=lambda label: figures[label].value)
        best, worst = ordered[0], ordered[-1]
        how = ("ratio", best, worst)
        ratio = figures_of(self.roc.estimate(**self.at_points, rate=rate, how=how))[
            level
        ]
        if len(ordered) > 2 and ratio.supported:
            values = np.array([figures[label].value for label in ordered])
            ratio = self._widened(ratio, values, self._replicates(rate, level, ordered))
        verdict = "worse" if ratio.low > 1 else "undecided"
        verdict = verdict if ratio.supported else "unsupported"
        return Finding(rate, worst, best, ratio, len(compared), left_out, verdict)

    def _replicates(self, rate, level, labels):
        return np.array(
            [
                self.roc.resamples(**self.at_points, rate=rate, group=label)[:, level]
                for label in labels
            ]
        )

    def _widened(self, ratio, values, replicates):
        """Interval of the largest ratio that holds for all pairs of groups at once.

        Logarithms make the two directions of a ratio alike. Groups come in increasing
        order of their rate, so that the last over the first is the ratio.
        """
        low, high = combinations_of(len(values))
        with np.errstate(divide="ignore", invalid="ignore"):
            logs, points = np.log(replicates), np.log(values)
            own = np.log([ratio.low, ratio.high])
            varied, differences = logs[high] - logs[low], points[high] - points[low]
        picked = len(values) - 2
        ends = [
            np.where(np.arange(low.size) == picked, end, differences) for end in own
        ]
        level = self.roc.confidence_level
        band = simultaneous(varied, differences, ends, level, (-np.inf, np.inf))
        bounds = [float(np.exp(end[picked])) for end in band]
        return replace(ratio, low=bounds[0], high=bounds[1])


def combinations_of(n):
    """Both members of every two of ``range(n)``; (0, n - 1) stands at n - 2."""
    return np.array(list(combinations(range(n), 2))).T


def figures_of(estimate):
    """One Figure for each level of an Estimate."""
    columns = (
        estimate.value,
        estimate.low,
        estimate.high,
        estimate.standard_error,
        estimate.supported,
    )
    rows = zip(*(np.atleast_1d(column).tolist() for column in columns), strict=True)
    sources = np.atleast_1d(estimate.source).tolist()
    one_level = np.ndim(estimate.value) == 0
    reasons = [estimate.reasons] if one_level else estimate.reasons.tolist()
    return [
        Figure(*row, in_words(why, source), source, why)
        for row, source, why in zip(rows, sources, reasons, strict=True)
    ]


def _no_pairs(rate, groups=None):
    return Reason("no_pairs", groups, rate, found=0, needed=1)


def _only(n_groups):
    return Reason("few_groups", found=int(n_groups), needed=2)


def _without_interval(figure):
    """Remove the interval of the overall FAR, which sets the threshold."""
    nan = float("nan")
    reasons = (Reason("set"), *figure.reasons)
    return replace(
        figure,
        low=nan,
        high=nan,
        standard_error=nan,
        reason=in_words(reasons, figure.source),
        reasons=reasons,
    )
