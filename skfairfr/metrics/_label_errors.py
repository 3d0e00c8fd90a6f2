"""Group error rates if some labels of groups are wrong: bounds, and a correction."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfairfr._core._label_errors import movable_genuine, movable_impostor
from skfairfr.metrics._roc._engine import no_groups
from skfairfr.utils._errors import refused
from skfairfr.utils._frames import Framed, framed
from skfairfr.utils._validation import check_group, check_number, plain

SHARE = (lambda x: 0 <= x < 1, "must be a number in [0, 1)")
# Numbers of people are counted from shares up to rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class LabelErrorBounds(Framed):
    """Rates of groups and their ratios if a share of the labels may be wrong.

    Attributes
    ----------
    group : ndarray, shape (n_groups,)
    value : ndarray, shape (n_groups,)
        Rate of the labelled group; lower is better.
    value_low, value_high : ndarrays, shape (n_groups,)
        Bounds of the rate of these people if labels are corrected, without sampling error.
    ratio : ndarray, shape (n_groups,)
        Rate over that of the reference, or over the geometric mean of the other groups; nan
        of the reference.
    low, high : ndarrays, shape (n_groups,)
        Ends of the interval of the ratio, for new people and for wrong labels.
    undo_share : ndarray, shape (n_groups,)
        Smallest share of wrong labels in each labelled group at which the interval may include
        1. 0 if it includes 1 in any case, inf if no share makes it.
    share : float
        That ``value_low``, ``value_high``, ``low`` and ``high`` allow.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    label_error_bounds : Returns it.
    """

    group: np.ndarray
    value: np.ndarray
    value_low: np.ndarray
    value_high: np.ndarray
    ratio: np.ndarray
    low: np.ndarray
    high: np.ndarray
    undo_share: np.ndarray
    share: float


def label_error_bounds(
    roc: object,
    share: float,
    far: float | None = None,
    *,
    threshold: float | None = None,
    rate: str = "frr",
    reference: object = None,
) -> LabelErrorBounds:
    """Bounds of group rates if at most a share of each group's labels is wrong.

    Of the people with each label, up to ``share`` may belong to another group, whoever they
    are. A rate is smallest or largest over all such corrections of labels: exactly for the
    FRR, and with wider bounds for the FAR, in which two people who both change groups count on
    the unfavourable side. Lower rates are better; a ratio above 1 means a higher rate. A ratio is bounded by the bounds of its rates, times what its
    interval adds for new people.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted with groups; all images of a person have one label.
    share : float in [0, 1)
        Largest share of wrong labels among the people of each labelled group.
    far : float in (0, 1), default=None
        Overall FAR level, which sets the threshold.
    threshold : float, default=None
        Similarity from which on a pair is accepted; exactly one of far and threshold.
    rate : {"frr", "far"}, default="frr"
    reference : label, default=None
        Group to compare with; None compares with the geometric mean of the others
        that have enough errors.

    Returns
    -------
    bounds : LabelErrorBounds
        A row for each group with pairs.

    Raises
    ------
    ArgumentError
        A ValueError: if images of one person have labels of several groups.
    ValueError
        If there are no two groups with pairs, or an argument is out of range.

    References
    ----------
    Manski (2003), "Partial Identification of Probability Distributions".

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import label_error_bounds
    >>> data = make_face_embeddings(n_identities=300, random_state=0)
    >>> roc = SimilarityROC(method="jackknife").fit(data.X, data.y, data.sensitive_features)
    >>> found = label_error_bounds(roc, 0.05, 1e-2, rate="far")
    >>> bool((found.value_low < found.value).all())
    True
    """
    check_is_fitted(roc)
    share = check_number(share, "share", *SHARE)
    labelled = _Labelled(roc, far, threshold, rate, reference)
    bounds = labelled.bounds(share)
    low, high = labelled.interval(bounds)
    found = LabelErrorBounds(
        labelled.groups,
        labelled.value,
        *bounds,
        labelled.ratio,
        low,
        high,
        np.array([labelled.undo_share(row) for row in range(low.size)]),
        share,
    )
    return framed(found, roc._library)


class _Labelled:
    """Rates of labelled groups at one threshold, and the people that they are of."""

    def __init__(self, roc, far, threshold, rate, reference):
        if not roc.groups_.size:
            raise no_groups("a share of wrong labels")
        engine = self.engine = roc._engine
        question = engine.question(far, threshold, rate, None, None, "overall")
        if question.shape != ():
            given = plain(far if threshold is None else threshold)
            raise ValueError(f"far and threshold must be one number; got {given!r}.")
        self.rate, self.label = rate, label_of_people(engine.pairs.images)
        self.people = np.bincount(
            self.label[self.label >= 0], minlength=roc.groups_.size
        )
        own = tuple((g, g) for g in range(self.people.size))
        evidence = self.evidence = engine.evidence(question, own)
        n_known = 0 if evidence is None else len(evidence.scopes)
        if n_known < 2:
            raise ValueError(f"two groups with pairs are needed; there are {n_known}.")
        self.codes = np.array([g for g, _ in evidence.scopes])
        self.groups = roc.groups_[self.codes]
        self.sums, self.value = evidence.sums.rows(0), evidence.sums.rate[0]
        compared = evidence.compared[0]
        self.weights, self.tail = compared.weights, (1 - roc.confidence_level) / 2
        if reference is not None:
            code = check_group(reference, roc.groups_, "reference")
            row = np.flatnonzero(self.codes == code)
            self.weights = np.eye(n_known) - (np.arange(n_known) == row[0])
        self.contrasts = compared.contrasts(self.weights)
        self.alone = (self.weights == 0).all(axis=1)
        self.ratio = np.where(self.alone, np.nan, np.exp(self.contrasts.value))
        self.ends = np.where(self.alone, np.nan, self.contrasts.bounds(self.tail))
        self._movable = self._known_bounds = None

    def counts(self, scopes):
        """ErrorCounts of scopes at the threshold, by scope; of those with pairs."""
        asked, at = self.evidence.asked[0], self.evidence.thresholds[0, :1]
        known = [s for s in scopes if self.engine.pairs.count(s, self.rate)]
        found = asked.counts(self.rate, [(scope, at) for scope in known])
        return dict(zip(known, found, strict=True))

    def scopes(self):
        """Every two labelled groups; of genuine pairs each group alone."""
        n, two_sides = self.people.size, self.engine.two_sides
        if self.rate == "frr":
            return [(g, g) for g in range(n)]
        return [(g, h) for g in range(n) for h in range(0 if two_sides else g, n)]

    @property
    def movable(self):
        if self._movable is None:
            counts = self.counts(self.scopes())
            of = movable_genuine if self.rate == "frr" else movable_impostor
            found = of(counts, self.label, self.people.size)
            self._movable, self._known_bounds = [found[g] for g in self.codes], {}
        return self._movable

    def bounds(self, share):
        """Smallest and largest rates, two (n_known,)."""
        movable = self.movable
        most = np.floor(share * self.people + ROUNDING).astype(np.int64)
        key = most.tobytes()
        if key not in self._known_bounds:
            self._known_bounds[key] = [
                np.array([one.bound(most, upper) for one in movable])
                for upper in (False, True)
            ]
        return self._known_bounds[key]

    def interval(self, bounds):
        """Ends of the ratios for new people and wrong labels, two (n_known,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            down, up = (np.log(bound / self.value) for bound in bounds)
            above, below = np.maximum(self.weights, 0), np.minimum(self.weights, 0)
            lower = _weighted(above, down) + _weighted(below, up)
            upper = _weighted(above, up) + _weighted(below, down)
            low, high = self.ends[0] * np.exp(lower), self.ends[1] * np.exp(upper)
        # A rate without an error does not bound the ratio.
        low, high = np.nan_to_num(low), np.where(np.isnan(high), np.inf, high)
        return np.where(self.alone, np.nan, low), np.where(self.alone, np.nan, high)

    def undo_share(self, row):
        """Smallest share at which the interval of a ratio may include 1; 0 if it does."""
        if self.alone[row]:
            return np.nan

        def is_certain(share):
            low, high = self.interval(self.bounds(share))
            return low[row] > 1 or high[row] < 1

        if not is_certain(0.0):
            return 0.0
        shares = [np.arange(1, n + 1) / n for n in self.people if n]
        shares = np.unique(np.concatenate(shares))
        first, last = 0, shares.size
        while first < last:
            middle = (first + last) // 2
            if is_certain(shares[middle]):
                first = middle + 1
            else:
                last = middle
        return float(shares[first]) if first < shares.size else np.inf


def _weighted(weights, logs):
    """Sums (n_contrasts,) of weighted logarithms; those without weight do not count."""
    return np.where(weights == 0, 0.0, weights * logs).sum(axis=1)


def label_of_people(images):
    """Group of each person, (n_people,), -1 of those whose images have none.

    Raises
    ------
    ArgumentError
        If images of one person have labels of several groups.
    """
    known = images.group >= 0
    label = np.full(images.n_identities, -1)
    label[images.identity[known]] = images.group[known]
    several = np.unique(
        images.identity[known][label[images.identity[known]] != images.group[known]]
    )
    if several.size:
        problem = (
            f"has {several.size:,} people whose images have labels of several groups;"
        )
        remedy = "give each person one label, such as the most frequent one."
        raise refused("sensitive_features", None, problem, remedy)
    return label
