"""Metrics of embeddings: every pair, spread of identities, and the FAR of each image.

Large sets never become a list of pairs: ``_core/_pair_tiles.py`` goes through them in tiles. The
displays live in ``_plot/_embeddings.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from skfairfr._core._pairs import Expected
from skfairfr._core._rates import count_at_least
from skfairfr.metrics._roc._engine import Engine
from skfairfr.metrics._roc._inputs import compare_embeddings
from skfairfr.metrics._roc._question import parse_question
from skfairfr.utils._errors import invalid
from skfairfr.utils._frames import Framed, framed, library_of
from skfairfr.utils._labels import label_images
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import (
    check_count,
    check_no_zero_row,
    check_option,
    check_rows,
    plain,
    warn_caller,
    warn_undefined,
)


def all_pairs(
    X: ArrayLike, y: Columns, *, sensitive_features: Column | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Every unordered pair of images, with its cosine similarity.

    For small sets: n images give n (n - 1) / 2 pairs (2,000 images, 2 million), all kept
    in memory. ``SimilarityROC`` takes the embeddings themselves and stores only a tail.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings. Rows need not have unit length.
    y : array-like, shape (n_samples,), or frame
        Identity of each image. Labels of any type. Or the result of
        :func:`~skfairfr.face_labels`, or a frame with the columns ``identity``,
        ``group`` and ``domain``. With two domains, images are compared across them only.
    sensitive_features : array-like, shape (n_samples,) or (n_samples, n_attributes), \
            default=None
        Group of each image. None and NaN are unknown. Several columns are joined into
        one label.

    Returns
    -------
    y_true : ndarray of int, shape (n_pairs,)
        1 when both images are of one identity (genuine), else 0 (impostor).
    y_score : ndarray of float32, shape (n_pairs,)
        Cosine similarity in [-1, 1]. Larger is more similar.
    pair_groups : ndarray, shape (n_pairs, 2), or None
        Group of each image, unknown ones None, or None when no groups were given.

    Raises
    ------
    ValueError
        If X is not a finite array of at least two rows, a row is zero (it has no
        direction, so no cosine), the lengths differ, an identity is missing, or
        there are not two domains.

    See Also
    --------
    far_frr_curve : Error rates of these pairs at every threshold.
    group_error_rates : Error rates within each group.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(3), which sum
       over these pairs.

    Examples
    --------
    >>> from skfairfr.metrics import all_pairs
    >>> X = [[1.0, 0.0], [0.8, 0.6], [0.0, 2.0]]
    >>> y_true, y_score, pair_groups = all_pairs(
    ...     X, ["ann", "ann", "bob"], sensitive_features=["f", "f", "m"])
    >>> y_true.tolist(), y_score.round(2).tolist()
    ([1, 0, 0], [0.800..., 0.0, 0.600...])
    >>> pair_groups.tolist()
    [['f', 'f'], ['f', 'm'], ['f', 'm']]
    """
    X = check_rows(X, dtype=np.float64, input_name="X", ensure_min_samples=2)
    identity, group, domain = label_images(y, sensitive_features, None, len(X))
    first, second = np.triu_indices(len(X), k=1)
    if domain is not None:
        across = domain.codes[first] != domain.codes[second]
        first, second = first[across], second[across]
    y_true = (identity.codes[first] == identity.codes[second]).astype(int)
    unit = _unit_rows(X)
    # Rounding to float32 also removes the 1e-16 by which a cosine may leave [-1, 1].
    y_score = (unit @ unit.T)[first, second].astype(np.float32)
    if group is None:
        return y_true, y_score, None
    labels = _image_groups(group)
    return y_true, y_score, np.stack([labels[first], labels[second]], axis=1)


def _unit_rows(X):
    check_no_zero_row(X)
    largest = np.abs(X).max(axis=1)
    scaled = X / largest[:, None]
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def _image_groups(group):
    """The group of each image as one label. Objects with None where some are unknown."""
    known = group.codes >= 0
    if known.all():
        return group.values[group.codes]
    column = np.full(group.codes.size, None, dtype=object)
    column[known] = group.values[group.codes[known]]
    return column


# ---- spread of the images of each identity -------------------------------------------


@dataclass(frozen=True)
class IdentityInertia(Framed):
    """Spread of the images of each identity, from :func:`identity_inertia`.

    Attributes
    ----------
    identities : ndarray, shape (n_identities,)
        Sorted labels of the identities with enough images.
    groups : ndarray, shape (n_identities,)
        Group of each identity, or None where unknown, or where its images disagree.
    inertia : ndarray, shape (n_identities,)
        Mean squared distance of its unit embeddings to their direction, in [0, 2]. Lower
        is better: images more similar, so fewer false rejections.
    n_images : ndarray of int, shape (n_identities,)
        Number of images.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    identity_inertia : Returns it.

    Examples
    --------
    >>> from skfairfr.metrics import identity_inertia
    >>> from skfairfr import make_face_embeddings
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> found = identity_inertia(data.X, data.y, sensitive_features=data.sensitive_features)
    >>> {g: round(float(found.inertia[found.groups == g].mean()), 3) for g in ("female", "male")}
    {'female': 0.467, 'male': 0.439}
    """

    identities: np.ndarray
    groups: np.ndarray
    inertia: np.ndarray
    n_images: np.ndarray

    def _columns(self):
        """One row for each identity."""
        return {
            "identity": self.identities,
            "group": self.groups,
            "inertia": self.inertia,
            "n_images": self.n_images,
        }


def identity_inertia(
    X: ArrayLike,
    y: Columns,
    *,
    sensitive_features: Column | None = None,
    min_images: int = 2,
) -> IdentityInertia:
    r"""Spread of the unit embeddings of each identity about their own direction.

    With unit embeddings :math:`z_1, \dots, z_n` of one identity, their mean
    :math:`\bar z` and its direction :math:`\mathfrak z = \bar z / \|\bar z\|`, the
    inertia is the unnumbered equation of Appendix E of [1]_ (Fig. 13-14),

    .. math:: I = \frac{1}{n} \sum_{i=1}^n \|z_i - \mathfrak z\|^2 = 2 (1 - \|\bar z\|).

    If the images of one group's identities are more spread than those of another's, the
    genuine scores are lower and the frr higher.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings. Rows need not have unit length.
    y : array-like, shape (n_samples,), or frame
        Identity of each image. Labels of any type. Or the result of
        :func:`~skfairfr.face_labels`, or a frame with the column ``identity`` and
        perhaps ``group``.
    sensitive_features : array-like, shape (n_samples,) or (n_samples, n_attributes), default=None
        Group of each image. None and NaN are unknown. An identity has the group that its
        images of known group agree on. If they disagree, as they may on age, it has
        none.
    min_images : int, at least 2, default=2
        Identities with fewer images are left out.

    Returns
    -------
    inertias : IdentityInertia
        Result with the arrays ``identities``, ``groups``, ``inertia`` in [0, 2] (lower is
        better) and ``n_images``, each of shape (n_identities,).

    Raises
    ------
    ValueError
        If X is not a finite array, a row is zero, the lengths differ, an identity is
        missing, or no identity has ``min_images`` images.

    Warns
    -----
    UserWarning
        If the images of an identity disagree on the group.

    See Also
    --------
    IdentityInertiaDisplay : Draws its distribution by group.

    Notes
    -----
    A mean lies closest to the points it is the mean of: of n images about one centre, the
    inertia is about 1 - 1/n of what it would be about the true direction, which is half
    of it for two images. Compare groups at like numbers of images, or take ``min_images``
    large. [1]_ takes 100.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Appendix E, Fig. 13-14.

    Examples
    --------
    >>> from skfairfr.metrics import identity_inertia
    >>> X = [[1.0, 0.0], [0.0, 1.0], [3.0, 4.0], [3.0, 4.0], [1.0, 0.0]]
    >>> found = identity_inertia(X, ["ann", "ann", "bob", "bob", "eve"])
    >>> dict(zip(found.identities.tolist(), found.inertia.round(3).tolist()))
    {'ann': 0.586, 'bob': 0.0}
    """
    min_images = check_count(min_images, "min_images", 2)
    library = library_of(X, y, sensitive_features)
    X = check_rows(X, dtype=np.float64, input_name="X")
    identity, group, _ = label_images(
        y, sensitive_features, None, len(X), fields=("identity", "group")
    )
    groups = _groups_of_identities(group, identity)
    n_images = np.bincount(identity.codes, minlength=len(identity.values))
    kept = n_images >= min_images
    if not kept.any():
        raise ValueError(
            f"No identity has min_images={min_images} images. The most that one has is "
            f"{n_images.max()}. Lower min_images."
        )
    rows = kept[identity.codes]
    codes = (np.cumsum(kept) - 1)[identity.codes[rows]]
    inertia = _inertias(_unit_rows(X[rows]), codes, int(kept.sum()))
    found = IdentityInertia(
        identity.values[kept], groups[kept], inertia, n_images[kept]
    )
    return framed(found, library)


def _inertias(unit, codes, n_identities):
    """Inertia (n_identities,) of unit rows about the direction of their mean."""
    n_images = np.bincount(codes, minlength=n_identities)
    # One row of ones for each identity: the product sums the rows of its images.
    ones = (np.ones(len(codes)), (codes, np.arange(len(codes))))
    member = csr_array(ones, shape=(n_identities, len(codes)))
    means = (member @ unit) / n_images[:, None]
    deviations = np.square(unit - means[codes]).sum(axis=1)
    variance = np.bincount(codes, weights=deviations) / n_images
    # 2 (1 - |m|) = 2 (1 - |m|^2) / (1 + |m|), and 1 - |m|^2 is the variance: no
    # cancellation for similar images, no direction needed if the mean is zero.
    return 2 * variance / (1 + np.linalg.norm(means, axis=1))


def _groups_of_identities(group, identity):
    """Label (n_identities,) that images agree on, or None where unknown or in dispute."""
    n_identities = len(identity.values)
    labels = np.full(n_identities, None, dtype=object)
    if group is None:
        return labels
    known = group.codes >= 0
    lowest = np.full(n_identities, len(group.values))
    highest = np.full(n_identities, -1)
    np.minimum.at(lowest, identity.codes[known], group.codes[known])
    np.maximum.at(highest, identity.codes[known], group.codes[known])
    agreed = lowest == highest
    labels[agreed] = group.values[lowest[agreed]]
    disputed = identity.values[lowest < highest]
    if disputed.size:
        warn_caller(
            f"The images of {disputed.size} identities disagree on the group, those of "
            f"{str(disputed[0])!r} among them: such identities are given no group.",
            UserWarning,
        )
    return labels


# ---- the FAR of each image, at one threshold for all ---------------------------------


# Of a given threshold: up to four times this share of the pairs is stored.
FIRST_FAR = 0.05


@dataclass(frozen=True)
class InstanceFAR(Framed):
    """False acceptance rate of each image, from :func:`instance_far`.

    Attributes
    ----------
    instance_far : ndarray, shape (n_samples,)
        Share of an image's impostor pairs that are accepted, in [0, 1]. Lower is better.
        nan where it has none.
    groups : ndarray, shape (n_samples,)
        Group of each image, or None where unknown.
    n_impostor : ndarray of int, shape (n_samples,)
        Number of impostor pairs of each image.
    threshold : float
        Similarity to accept from.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    instance_far : Returns it.

    Examples
    --------
    >>> from skfairfr.metrics import instance_far
    >>> from skfairfr import make_face_embeddings
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> found = instance_far(data.X, data.y, far=1e-2)
    >>> found.instance_far.shape, round(float(found.instance_far.max()), 2)
    ((1014,), 0.03)
    """

    instance_far: np.ndarray
    groups: np.ndarray
    n_impostor: np.ndarray
    threshold: float

    def _columns(self):
        """One row for each image."""
        columns = {"group": self.groups, "instance_far": self.instance_far}
        columns |= {"n_impostor": self.n_impostor, "threshold": self.threshold}
        levels = self._level_columns
        return columns | ({"far": levels["far"]} if "far" in levels else {})


def instance_far(
    X: ArrayLike,
    y: Columns,
    *,
    far: float | None = None,
    threshold: float | None = None,
    sensitive_features: Column | None = None,
    impostors: str = "all",
    similarity: str = "cosine",
    n_jobs: int | None = None,
) -> InstanceFAR:
    r"""False acceptance rate of each image: the share of its impostor pairs accepted.

    With :math:`n_i` images of different people than that of image :math:`i`, each with the
    score :math:`s_{ij}`, and one threshold :math:`t` for all images, it is

    .. math:: \gamma_i = \frac{1}{n_i} \sum_{j : y_j \ne y_i} 1\{s_{ij} \ge t\} .

    [1]_ defines it in words for the centroids of different people during training ("instance
    FPR"). Here the other side consists of their images. Groups differ if the images of one
    cause more false accepts than those of another. The mean over images is the overall far
    up to the number of each person's images, and equals it if all have the same number.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings. Rows need not have unit length.
    y : array-like, shape (n_samples,), or frame
        Identity of each image. Labels of any type. Or the result of
        :func:`~skfairfr.face_labels`, or a frame with the columns ``identity``,
        ``group`` and ``domain``. With two domains, images are compared across them only.
    far : float in (0, 1), default=None
        Level of the FAR over all impostor pairs used, which sets the threshold. Exactly
        one of ``far`` and ``threshold`` is given.
    threshold : float, default=None
        Similarity to accept from.
    sensitive_features : array-like, shape (n_samples,) or (n_samples, n_attributes), default=None
        Group of each image. None and NaN are unknown. They label the result, and matter
        to it with ``impostors="same_group"`` only.
    impostors : {"all", "same_group"}, default="all"
        Pairs of two people, or only those within a group: "same_group" gives how often an
        image is taken for another person of its own group.
    similarity : {"cosine", "dot"}, default="cosine"
        Similarity of two embeddings.
    n_jobs : int, default=None
        Joblib workers, as in :class:`SimilarityROC`.

    Returns
    -------
    found : InstanceFAR
        Result with the arrays ``instance_far`` in [0, 1] (lower is better), ``groups`` and
        ``n_impostor``, each of shape (n_samples,), and the ``threshold``.

    Raises
    ------
    ValueError
        If both or neither of ``far`` and ``threshold`` are given or one is no number in
        its range, an option is unknown, X is not a finite array, a row is zero, lengths
        differ, an identity is missing, or there is no impostor pair.

    Warns
    -----
    UndefinedMetricWarning
        If ``far`` is below 1 / n_impostor of all pairs (the threshold is then just above
        the largest impostor score, and every rate 0), or some image has no impostor pair
        (nan).

    See Also
    --------
    InstanceFARDisplay : Draws its distribution by group.
    FPRPenaltyProjector : Is trained to even it out, without knowing groups.
    SimilarityROC : The FAR of groups, with intervals.

    Notes
    -----
    With ``impostors="all"`` most of an image's impostors are of other groups, which are
    rarely similar, so the images of a small group have low rates for that reason alone.
    "same_group" compares like with like.

    One pass over tiles of all pairs. The accepted ones are stored, 12 bytes each, and half as
    many again.

    References
    ----------
    .. [1] Xu, X., Huang, Y., Shen, P., Li, S., Li, J., Huang, F., Li, Y., & Cui, Z.
       (2021). Consistent Instance False Positive Improves Fairness in Face Recognition.
       CVPR. Abstract and introduction. Equation numbers were not available.

    Examples
    --------
    >>> from skfairfr.metrics import instance_far
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.8, 0.2], [0.0, 1.0]]
    >>> found = instance_far(X, ["ann", "bob", "eve", "kim"], threshold=0.98)
    >>> found.instance_far.round(2).tolist()
    [0.33, 0.67, 0.33, 0.0]
    """
    check_option(impostors, "impostors", ("all", "same_group"))
    check_option(similarity, "similarity", ("cosine", "dot"))
    question = _one_question(far, threshold)
    library = library_of(X, y, sensitive_features)
    X = check_rows(
        X, dtype=(np.float32, np.float64), ensure_min_samples=2, input_name="X"
    )
    identity, group, domain = label_images(y, sensitive_features, None, len(X))
    side = None if domain is None else domain.codes.astype(np.int8)
    far_max = FIRST_FAR if far is None else float(far)
    # Groups that the pairs do not depend on would only add tails of their own.
    attributes = {}
    if impostors == "same_group" and group is not None:
        attributes["group"] = group
    compared = compare_embeddings(
        X,
        identity,
        attributes,
        side,
        far_max=far_max,
        similarity=similarity,
        n_jobs=n_jobs,
        far_name="far",
        expected=Expected(lowest=None if threshold is None else float(threshold)),
    )
    pairs = compared.pairs(tuple(attributes), "pair", impostors)
    threshold = _threshold(pairs, far_max, question)
    n_impostor = _count_impostors(pairs.images, impostors == "same_group")
    rates = _rates_of_images(pairs, threshold, n_impostor)
    groups = np.full(len(X), None) if group is None else group.of_rows()
    found = InstanceFAR(rates, groups, n_impostor, threshold)
    return framed(found, library, **question.level_columns())


def _one_question(far, threshold):
    """The question about the far at one level or one threshold."""
    question = parse_question(np.empty(0), far, threshold, "far", None, None, "overall")
    if question.shape != ():
        name, given = ("far", far) if threshold is None else ("threshold", threshold)
        raise ValueError(
            f"{name} must be one number here, got {plain(given)!r}. Every image has one "
            "rate: call instance_far once for each."
        )
    return question


def _threshold(pairs, far_max, question):
    """The threshold of a question, if all pairs that it accepts are stored."""
    if question.levels is not None:
        return Engine(pairs, np.empty(0), far_max).thresholds(question)
    threshold = question.in_shape(question.thresholds)
    if not pairs.holds(None, threshold):
        raise invalid(
            *("threshold", threshold),
            f"of {threshold:g} accepts too many impostor pairs to store;",
            "give a higher one, or far=.",
        )
    return threshold


def _count_impostors(images, same_group):
    """Images of different people that each image is compared with, (n_images,)."""
    n_images, people = images.identity.size, images.n_identities
    nothing = np.zeros(n_images, dtype=np.int64)
    side = nothing if images.side is None else images.side.astype(np.int64)
    other = side if images.side is None else 1 - side
    group = images.group if same_group else nothing
    known = np.flatnonzero(group >= 0)
    identity, group = images.identity[known], group[known]
    # Strata are the two sides or, within groups, the groups of each.
    stratum, facing = (2 * group.astype(np.int64) + s[known] for s in (side, other))
    in_stratum = np.bincount(stratum, minlength=2 * max(1, images.n_groups))
    own, n_own = np.unique(stratum * people + identity, return_counts=True)
    wanted = facing * people + identity
    place = np.minimum(np.searchsorted(own, wanted), own.size - 1)
    of_person = np.where(own[place] == wanted, n_own[place], 0)
    counts = nothing.copy()
    counts[known] = in_stratum[facing] - of_person
    return counts


def _rates_of_images(pairs, threshold, n_impostor):
    """Share of each image's impostor pairs that are accepted, (n_images,)."""
    tail = pairs.impostors(None)
    accepted = slice(0, int(count_at_least(tail.scores, threshold)))
    n_images = n_impostor.size
    counts = sum(
        np.bincount(ends[accepted], minlength=n_images)
        for ends in (tail.left, tail.right)
    )
    without = int((n_impostor == 0).sum())
    if without:
        warn_undefined(
            f"{without} of {n_images} images have no impostor pair: their false "
            "acceptance rate is undefined and set to nan."
        )
    undefined = np.full(n_images, np.nan)
    return np.divide(counts, n_impostor, out=undefined, where=n_impostor > 0)
