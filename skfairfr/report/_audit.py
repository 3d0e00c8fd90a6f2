"""From data to an audit: which questions are asked, and what they mean together."""

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr.metrics import EstimandWarning, ReversedScoresWarning, SimilarityROC
from skfairfr.report._data import Faces, ScoredPairs
from skfairfr.report._measured import Measured, Points
from skfairfr.report._record import Audit, Other

# Above this share of the genuine pairs by one person, both averages are shown.
DOMINANT_SHARE = 0.05
# A number with more distinct values than this is a measurement, not a label.
MAX_NUMBERS = 20
# Every two groups are compared; with more labels than this they are names or numbers.
MAX_GROUPS = 250
# Scores above far_max are held, 12 bytes each, in about far_max * n_images**2 pairs.
HELD_PAIRS = 2**25
# What SimilarityROC says of data, which belongs into an audit's notes.
SAID = (UndefinedMetricWarning, EstimandWarning, ReversedScoresWarning)


@dataclass(frozen=True)
class Options:
    """How an audit measures, as in SimilarityROC."""

    resample: str = "identities"
    average: str = "pair"
    impostors: str = "all"
    method: str = "recentered"
    n_resamples: int = 1000
    confidence_level: float = 0.95
    n_jobs: int | None = None
    random_state: int = 0

    def settings(self):
        """What an audit's numbers depend on."""
        return {name: v for name, v in vars(self).items() if name != "n_jobs"}


def audit(X, y, sensitive_features, *, attribute="group", domain=None, **measurement):
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
    domain : array-like, shape (n_samples,), default=None
        With two values, only pairs across them are compared.
    **measurement : options
        ``far`` : float in (0, 1) or array-like, shape (n_levels,), default=(1e-2, 1e-3):
        levels to operate at. ``threshold`` : float or array-like, shape (n_levels,),
        default=None: similarities from which on a deployed system accepts, instead.
        ``resample`` : {"identities", "images", "both"}, default="identities": whether
        intervals are about other people of the same population, other photographs of these
        people, or both. ``average``, ``impostors``, ``method``, ``n_resamples``,
        ``confidence_level`` and ``n_jobs``: as in
        :class:`~skfairfr.metrics.SimilarityROC`. ``random_state`` : int, default=0: seed
        of the resamples.

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
    data = Faces(X, y, {attribute: sensitive_features}, domain)
    return audit_data(data, (attribute,), **measurement)


def audit_pairs(
    y_score,
    identities,
    sensitive_features,
    *,
    attribute="group",
    images=(None, None),
    **measurement,
):
    """As :func:`audit`, of scored pairs.

    Parameters
    ----------
    y_score : array-like, shape (n_pairs,)
        Similarities, larger meaning more alike; give minus a distance.
    identities, sensitive_features : tuples of two array-likes, shape (n_pairs,)
        Labels of the first and of the second image of each pair.
    attribute : str, default="group"
        Name of the attribute.
    images : tuple of two array-likes, shape (n_pairs,), default=(None, None)
        Names of the images, which resampling images needs.
    **measurement : options
        As of :func:`audit`.

    Returns
    -------
    found : Audit
    """
    columns = {attribute: tuple(sensitive_features)}
    data = ScoredPairs(y_score, tuple(identities), columns, tuple(images))
    return audit_data(data, (attribute,), **measurement)


def audit_data(
    data,
    attributes,
    *,
    far=None,
    threshold=None,
    points=None,
    visit=None,
    **options,
):
    """As :func:`audit`, by the combinations of attributes.

    Parameters
    ----------
    data : Faces or ScoredPairs
    attributes : tuple of str
        Names of columns of the data.
    far, threshold : as of :func:`audit`
    points : Points, default=None
        Operating points, in place of both; such as :func:`points_on` gives.
    visit : callable, default=None
        Called with the audit's name and the fitted SimilarityROC, to draw it.
    **options : fields of Options

    Returns
    -------
    found : Audit
    """
    options = Options(**options)
    points = Points.of(far, threshold) if points is None else points
    name = " & ".join(attributes)
    group = data.groups(attributes)
    check_groups(group, name)
    fit = _Fit(data, attributes, options, points)
    notes = [*filter(None, [data.lack_of_genuine()])]
    with noting(notes):
        measured = fit.measured()
        people, images = data.people(), data.images()
        groups = measured.groups(people, images, group)
        found = measured.levels()
    if visit is not None:
        visit(name, measured.roc)
    notes += filter(None, [_mixed(people, group, name)])
    share = _largest_share(data.genuine_pairs())
    with noting([]):
        resampled = fit.resampled()
        averaged = fit.averaged() if share > DOMINANT_SHARE else None
    members = people if images is None else images
    return Audit(
        name,
        options.settings() | fit.described(),
        np.unique(members[group.codes < 0]).size,
        share,
        groups,
        found,
        resampled,
        averaged,
        tuple(notes),
    )


def points_on(data, far=None, *, attributes=(), **options):
    """Operating points set on one set of data, to judge another at.

    Parameters
    ----------
    data : Faces or ScoredPairs
        Where the FAR meets the levels.
    far : float in (0, 1) or array-like, shape (n_levels,), default=None
        Levels; None takes the usual ones.
    attributes : tuple of str, default=()
        Whose groups the impostor pairs lie within, with ``impostors="same_group"``.
    **options : fields of Options

    Returns
    -------
    points : Points
    notes : list of str
        What could not be resolved.
    """
    options, points = Options(**options), Points.of(far)
    notes = []
    with noting(notes):
        roc = _Fit(data, attributes, options, points).roc({})
        threshold = np.asarray(roc.threshold_at(points.far))
    return replace(points, threshold=threshold, set_on="other data"), notes


def _largest_share(genuine):
    """Largest share of the genuine pairs that one person supplies; 0 without a pair."""
    return float(genuine.max() / max(genuine.sum(), 1))


def _mixed(people, group, attribute):
    """What there is to say of people whose images are in several groups; may be empty."""
    known = group.codes >= 0
    in_groups = np.unique(
        people[known].astype(np.int64) * (1 << 32) + group.codes[known]
    )
    n_groups = np.unique(in_groups >> 32, return_counts=True)[1]
    n_mixed = int((n_groups > 1).sum())
    if not n_mixed:
        return ""
    return (
        f"{n_mixed:,} of {n_groups.size:,} people {'has' if n_mixed == 1 else 'have'} "
        f"images in more than one group of {attribute}. A pair counts in a group if both "
        "of its images are in it. Where the attribute belongs to a person and not to an "
        "image, correct their labels."
    )


def check_groups(group, attribute):
    """Raise unless labels make groups that can be compared."""
    n_groups = group.values.size
    if group.values.dtype.kind == "f" and n_groups > MAX_NUMBERS:
        raise ValueError(
            f"{attribute} has {n_groups} different numbers, such as "
            f"{group.values[0]:g}; an audit compares groups: put the numbers into a few "
            "ranges and give their labels."
        )
    if n_groups > MAX_GROUPS:
        raise ValueError(
            f"{attribute} has {n_groups} groups; an audit compares {MAX_GROUPS} at most: "
            "give an attribute that many people share."
        )
    if n_groups < 2:
        known = f"one group, {group.values.tolist()[0]!r}" if n_groups else "no group"
        raise ValueError(
            f"{attribute} has {known}; a disparity compares two at least: give an "
            "attribute in which the people differ."
        )


@contextmanager
def noting(notes, categories=SAID):
    """Collect what is warned of in these categories; other warnings pass."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if not issubclass(warning.category, categories):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        elif str(warning.message) not in notes:
            notes.append(str(warning.message))


@dataclass(frozen=True)
class _Fit:
    """One set of data to be measured with one setting or another."""

    data: Faces | ScoredPairs
    attributes: tuple
    options: Options
    points: Points

    @property
    def far_max(self):
        held = HELD_PAIRS / self.data.people().size ** 2
        usual = min(1e-2, held)
        return float(
            usual if self.points.far is None else max(self.points.far.max(), usual)
        )

    def described(self):
        """Operating points, as the audit's settings tell them."""
        far, threshold = self.points.far, self.points.threshold
        return {
            "far": None if far is None else far.tolist(),
            "threshold": None if threshold is None else threshold.tolist(),
            "far_max": self.far_max,
        }

    def roc(self, changed):
        """A SimilarityROC of the data with some settings changed."""
        asked = vars(self.options) | {"far_max": self.far_max} | changed
        return self.data.fit(SimilarityROC(**asked), self.attributes)

    def measured(self, **changed):
        return Measured(self.roc(changed), self.points)

    def resampled(self):
        other = "images" if self.options.resample == "identities" else "identities"
        reason = self.data.others_to_draw() if other == "images" else ""
        if reason:
            return Other("resample", other, (), reason)
        levels = self.measured(resample=other).levels(in_short=True)
        return Other("resample", other, levels)

    def averaged(self):
        other = "pair" if self.options.average == "identity" else "identity"
        levels = self.measured(average=other).levels(in_short=True)
        return Other("average", other, levels)
