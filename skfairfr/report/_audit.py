"""From embeddings to an audit: which questions are asked, and what they mean together."""

import warnings
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._core._disparity import DISPARITIES
from skfairfr._core._intervals import simultaneous
from skfairfr.metrics import EstimandWarning, SimilarityROC
from skfairfr.report._record import (
    Audit,
    Disparity,
    Figure,
    Finding,
    GroupRates,
    GroupRow,
    Level,
    Other,
)
from skfairfr.utils._labels import encode
from skfairfr.utils._validation import check_level

HOWS = ("max_min", "max_geomean", "log_geomean", "gini", "difference")
RATES = ("far", "frr")
# Above this share of the genuine pairs by one person, both averages are shown.
DOMINANT_SHARE = 0.05
# A number with more distinct values than this is a measurement, not a label.
MAX_NUMBERS = 20
# Scores above far_max are held, 12 bytes each, in about far_max * n_images**2 pairs.
HELD_PAIRS = 2**25


def audit(
    X,
    y,
    sensitive_features,
    *,
    attribute="group",
    far=(1e-2, 1e-3),
    resample="identities",
    average="pair",
    impostors="all",
    method="recentered",
    n_resamples=1000,
    confidence_level=0.95,
    n_jobs=None,
    random_state=0,
):
    """Assess which groups a verification system treats worse, and how sure that is.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings, compared by their cosine.
    y : array-like, shape (n_samples,)
        Identity of each row.
    sensitive_features : array-like, shape (n_samples,)
        Group of each row; None and NaN are unknown.
    attribute : str, default="group"
        Name of the attribute, for messages and the report.
    far : float in (0, 1) or array-like, shape (n_levels,), default=(1e-2, 1e-3)
        FAR levels to operate at.
    resample : {"identities", "images", "both"}, default="identities"
        Whether intervals are about other people of the same population, other photographs
        of these people, or both.
    average, impostors, method, n_resamples, confidence_level, n_jobs
        As in :class:`~skfairfr.metrics.SimilarityROC`.
    random_state : int, default=0
        Seed of the resamples.

    Returns
    -------
    found : Audit
        Rates, lower being better, and disparities, larger being less fair.

    Raises
    ------
    ValueError
        If an argument is out of range, the data have fewer than two people or two groups,
        or the attribute is a measurement rather than a label.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.report import audit
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> found = audit(data.X, data.y, data.sensitive_features, far=1e-2, n_resamples=100)
    >>> finding = found.levels[0].findings[0]
    >>> finding.rate, finding.worst, finding.verdict
    ('far', 'female', 'worse')
    """
    levels = np.unique(check_level(far))[::-1]
    identity = encode(y, "y")
    group = encode(sensitive_features, attribute, allow_unknown=True)
    _check_groups(group, attribute)
    settings = {
        "average": average,
        "impostors": impostors,
        "resample": resample,
        "method": method,
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
        "random_state": random_state,
    }
    data = (X, y, sensitive_features)
    largest = max(levels.max(), min(1e-2, HELD_PAIRS / identity.codes.size**2))
    options = settings | {"far_max": float(largest), "n_jobs": n_jobs}
    notes = []
    with _noting(notes):
        measured = _Measured(SimilarityROC(**options).fit(*data), levels)
        groups = measured.groups(identity, group)
        found = measured.levels()
    share = _largest_share(identity)
    with _noting([]):
        resampled = _resampled(options, data, levels, identity)
        averaged = None
        if share > DOMINANT_SHARE:
            averaged = _changed(options, data, levels, "average")
    return Audit(
        attribute,
        settings | {"far": levels.tolist(), "far_max": options["far_max"]},
        int((group.codes < 0).sum()),
        share,
        groups,
        found,
        resampled,
        averaged,
        tuple(notes),
    )


def _check_groups(group, attribute):
    n_groups = group.values.size
    if group.values.dtype.kind == "f" and n_groups > MAX_NUMBERS:
        raise ValueError(
            f"{attribute} has {n_groups} different numbers, such as "
            f"{group.values[0]:g}; an audit compares groups: put the numbers into a few "
            "ranges and give their labels."
        )
    if n_groups < 2:
        known = f"one group, {group.values.tolist()[0]!r}" if n_groups else "no group"
        raise ValueError(
            f"{attribute} has {known}; a disparity compares two at least: give an "
            "attribute in which the people differ."
        )


@contextmanager
def _noting(notes):
    """Collect what SimilarityROC warns of; other warnings pass."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if not issubclass(warning.category, UndefinedMetricWarning | EstimandWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        elif str(warning.message) not in notes:
            notes.append(str(warning.message))


def _largest_share(identity):
    """Largest share of the genuine pairs that one person supplies; 0 without a pair."""
    images = np.bincount(identity.codes)
    pairs = images * (images - 1) // 2
    return float(pairs.max() / max(pairs.sum(), 1))


def _resampled(options, data, levels, identity):
    other = "images" if options["resample"] == "identities" else "identities"
    if other == "images" and np.bincount(identity.codes).max() == 1:
        reason = "every person has one image, so that there are no others to draw"
        return Other("resample", other, (), reason)
    return _changed(options, data, levels, "resample", other)


def _changed(options, data, levels, setting, value=None):
    if setting == "average":
        value = "pair" if options["average"] == "identity" else "identity"
    roc = SimilarityROC(**options | {setting: value}).fit(*data)
    return Other(setting, value, _Measured(roc, levels).levels(in_short=True))


class _Measured:
    """A fitted SimilarityROC, asked at the audit's levels.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted with groups.
    far : ndarray, shape (n_levels,)
    """

    def __init__(self, roc, far):
        self.roc = roc
        self.far = far
        self.labels = [None, *roc.groups_.tolist()]
        summary = roc.score_summary()
        self.n_pairs = {"far": summary.n_impostor, "frr": summary.n_genuine}

    def groups(self, identity, group):
        """Sizes and equal error rates, everyone first."""
        rows = []
        for row, label in enumerate(self.labels):
            inside = group.codes == row - 1 if row else slice(None)
            people = identity.codes[inside]
            n_genuine, n_impostor = (int(self.n_pairs[r][row]) for r in ("frr", "far"))
            if n_genuine and n_impostor:
                equal = _figures(self.roc.equal_error_rate(label))[0]
            else:
                equal = Figure.undefined(self._lack(row))
            sizes = (np.unique(people).size, people.size, n_genuine, n_impostor)
            rows.append(GroupRow(label, *sizes, equal))
        return tuple(rows)

    def levels(self, in_short=False):
        """Records of all levels; in short: max_min at the overall threshold alone."""
        rates = {r: self._rates(r) for r in RATES}
        hows = [("max_min", "overall")]
        worst_group = np.full(self.far.shape, np.nan)
        if not in_short:
            hows = [(how, "overall") for how in HOWS] + [("max_min", "worst_group")]
            worst_group = self.roc.threshold_at(self.far, operating_point="worst_group")
        disparities = {key: self._disparity(*key) for key in hows}
        threshold = self.roc.threshold_at(self.far)
        return tuple(
            Level(
                float(self.far[level]),
                float(threshold[level]),
                float(worst_group[level]),
                tuple(
                    GroupRates(
                        label, rates["far"][row][level], rates["frr"][row][level]
                    )
                    for row, label in enumerate(self.labels)
                ),
                tuple(of_levels[level] for of_levels in disparities.values()),
                tuple(self._finding(r, level, rates[r]) for r in RATES),
            )
            for level in range(self.far.size)
        )

    def _rates(self, rate):
        """Figures of every group at every level."""
        return [
            _figures(self.roc.estimate(self.far, rate=rate, group=label))
            if self.n_pairs[rate][row]
            else [Figure.undefined(self._lack(row))] * self.far.size
            for row, label in enumerate(self.labels)
        ]

    def _disparity(self, how, operating_point):
        asked = {"how": how, "operating_point": operating_point}
        of_far, of_frr = (
            _figures(self.roc.estimate(self.far, rate=rate, **asked)) for rate in RATES
        )
        neutral = DISPARITIES[how].neutral
        return [
            Disparity(how, operating_point, neutral, far, frr)
            for far, frr in zip(of_far, of_frr, strict=True)
        ]

    def _lack(self, row):
        kinds = {"frr": "genuine", "far": "impostor"}
        lacking = [kinds[r] for r in ("frr", "far") if not self.n_pairs[r][row]]
        return f"{self.labels[row]}: no {' and no '.join(lacking)} pair"

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
            reason = "fewer than two groups have the pairs it needs"
            ratio = Figure.undefined(reason)
            return Finding(rate, None, None, ratio, 0, left_out, "unsupported")
        ordered = sorted(compared, key=lambda label: figures[label].value)
        best, worst = ordered[0], ordered[-1]
        asked = self.roc.estimate(self.far, rate=rate, how=("ratio", best, worst))
        ratio = _figures(asked)[level]
        if len(ordered) > 2 and ratio.supported:
            values = np.array([figures[label].value for label in ordered])
            ratio = self._widened(ratio, values, self._replicates(rate, level, ordered))
        verdict = "worse" if ratio.low > 1 else "undecided"
        verdict = verdict if ratio.supported else "unsupported"
        return Finding(rate, worst, best, ratio, len(compared), left_out, verdict)

    def _replicates(self, rate, level, labels):
        return np.array(
            [
                self.roc.resamples(self.far, rate=rate, group=label)[:, level]
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


def _figures(estimate):
    """One Figure for each level."""
    columns = (
        estimate.value,
        estimate.low,
        estimate.high,
        estimate.standard_error,
        estimate.supported,
        estimate.reason,
    )
    rows = zip(*(np.atleast_1d(column).tolist() for column in columns), strict=True)
    return [Figure(*row) for row in rows]
