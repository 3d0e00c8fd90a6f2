"""Synthetic embeddings of faces: a von Mises-Fisher mixture whose truth is known.

Identities are directions on the unit sphere, images are draws about them, and groups
differ in how concentrated the images are and how crowded the identities. This module
measures no rate and no disparity.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from sklearn.utils import Bunch

from skfairfr._core._vmf import sample_vmf
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._validation import (
    check_count,
    check_number,
    random_state_of,
    to_float,
)

DEFAULT_GROUPS = MappingProxyType({"male": 0.65, "female": 0.35})
SHARE_TOLERANCE = 1e-9
# Images are drawn a block of rows at a time, which bounds the float64 copies.
BLOCK_ELEMENTS = 2**22


def make_face_embeddings(
    n_identities: int = 1000,
    images_per_identity: int | tuple[int, int] = (2, 8),
    n_features: int = 128,
    *,
    groups: dict = DEFAULT_GROUPS,
    kappa: float | dict | None = None,
    crowding: float | dict | None = None,
    heterogeneity: float = 0.3,
    n_directions: int | tuple[int, int] | None = None,
    nuisance: float | dict = 0.0,
    n_domains: int = 1,
    domain_shift: float = 0.5,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> Bunch:
    """Draw face embeddings whose disparities have a known cause.

    The model is a von Mises-Fisher mixture on the unit sphere [1]_: each group has a
    random direction, each identity a centroid drawn about its group's direction with
    concentration ``crowding``, and each image is drawn about its identity's centroid with
    that identity's concentration. Crowded identities resemble each other, which raises
    the group's far. Loose images resemble their identity less, which raises its frr.

    Parameters
    ----------
    n_identities : int, at least 2, default=1000
        Number of people.
    images_per_identity : int or (int, int), at least 1, default=(2, 8)
        Images of each identity: a number, or an inclusive range (low, high) from which
        each identity's number is drawn uniformly.
    n_features : int, at least 2, default=128
        Dimension of the embeddings.
    groups : dict of label -> float in (0, 1], default={"male": 0.65, "female": 0.35}
        Share of the identities that each group has. The shares sum to 1. Numbers of
        identities are apportioned by largest remainder, so they are exact, and every
        group has at least one identity.
    kappa : float or dict of label -> float in [0, inf), default=None
        Concentration of a group's images about their centroids. A higher one raises
        genuine scores and lowers the frr, 0 makes images uniform on the sphere. None
        grades the groups in the order given, from 100 + 0.65 d for the first to 0.85
        times that for the last, where d is the number of directions in which images vary.
    crowding : float or dict of label -> float in [0, inf), default=None
        Concentration of a group's centroids about the group's direction. A higher one
        raises impostor scores inside the group, hence its far, and 0 spreads the
        identities uniformly over the sphere. None grades the groups in the order given,
        from 0.5 d**0.8 for the first to d**0.8 for the last, where d is the number of
        directions in which people vary.
    heterogeneity : float in [0, inf), default=0.3
        Standard deviation of the logarithm of an identity's concentration about the
        logarithm of its group's. 0 gives all identities of a group the same.
    n_directions : int or (int, int), at least 2, default=None
        Number of directions, the same for all people, in which people vary, and in which
        the images of a person vary about their centroid. One number for both, or two, the
        second at least as large. The other features only turn these directions, so cosines
        do not depend on ``n_features``. None: all features. Real encoders vary in few. See
        Notes.
    nuisance : float or dict of label -> float in [0, inf), default=0.0
        Effects unrelated to the person and equal for all, such as the camera or
        the light: every image of a group is moved along one direction that all groups
        share, by a normal amount of this standard deviation, before it is scaled back to
        unit length. It raises scores of strangers who were moved to one side.
    n_domains : int, at least 1, default=1
        Number of domains, such as selfies and documents, at most that of the images that
        an identity can have. With two or more, the images of each identity alternate
        between "domain_0", "domain_1"...: identities with at least two images have images
        in at least two domains.
    domain_shift : float in [0, inf), default=0.5
        Length of the vector added to every image of a domain other than "domain_0",
        before it is scaled back to unit length. Each domain has its own random
        direction. Unused with one domain.
    random_state : int, RandomState instance, Generator or None, default=None
        Source of randomness. An int gives the same data at every call. None draws fresh
        entropy from the operating system and leaves numpy's global state alone.

    Returns
    -------
    faces : :class:`~sklearn.utils.Bunch`
        Rows are in random order. Its attributes:

        X : ndarray of float32, shape (n_samples, n_features)
            Embeddings, unit rows.
        y : ndarray of int64, shape (n_samples,)
            Identity of each image, in 0..n_identities - 1.
        sensitive_features : ndarray, shape (n_samples,)
            Group of each image, that of its identity.
        domain : ndarray of str, shape (n_samples,), or None
            Domain of each image, or None if there is one domain only.
        kappa : ndarray of float64, shape (n_identities,)
            Concentration of each identity's images, in [0, inf).
        centroids : ndarray of float64, shape (n_identities, n_features)
            Direction of each identity, unit rows, before any nuisance or domain shift.
        group_of_identity : ndarray, shape (n_identities,)
            Group of each identity.
        DESCR : str
            One sentence that describes the draw.

    Raises
    ------
    ValueError
        If an argument is outside its range, memory does not suffice, the shares do not sum
        to 1, a group would have no identity, or ``kappa``, ``crowding`` or ``nuisance`` does
        not name exactly the groups.

    See Also
    --------
    skfairfr.utils.face_labels : Bundle identities, groups and domains into one ``y``.

    Notes
    -----
    A parameter changes only what depends on it: with the same int as
    ``random_state``, other values of ``kappa`` keep the centroids, and other numbers of
    domains keep the images of "domain_0".

    Embeddings of a real encoder vary in fewer directions than they have features. The
    participation ratio of a covariance with eigenvalues w, (sum w)**2 / sum w**2, is d for
    d directions of equal variance. For 512 features of FaceNet on images of Labeled Faces
    in the Wild, estimated without the bias that few people cause, it is 32 between people
    and 44 between images of a person (``python -m docs.studies.check_directions``).

    All pairs of five default draws (``random_state`` 0 to 4), at the threshold where the
    overall far is 1e-3: overall frr 0.046 to 0.062. The far of the female group 3.2 to 3.7
    times that of the male group, frr 1.7 to 2.8 times.

    References
    ----------
    .. [1] J.-R. Conti, N. Noiry, V. Despiegel, S. Gentric, S. Clémençon, "Mitigating
       Gender Bias in Face Recognition Using the von Mises-Fisher Mixture Model",
       ICML 2022, section 3.
    .. [2] A. T. A. Wood, "Simulation of the von Mises Fisher distribution",
       Communications in Statistics - Simulation and Computation 23(1), 1994.

    Examples
    --------
    >>> from skfairfr.datasets import make_face_embeddings
    >>> faces = make_face_embeddings(n_identities=200, random_state=0)
    >>> faces.X.shape == (len(faces.y), 128)
    True
    >>> for group in ("male", "female"):
    ...     kappa = faces.kappa[faces.group_of_identity == group]
    ...     print(group, len(kappa), round(kappa.mean()))
    male 130 185
    female 70 170
    """
    n_identities = check_count(n_identities, "n_identities", 2)
    n_features = check_count(n_features, "n_features", 2)
    of_people = of_images = n_features
    if n_directions is not None:
        of_people, of_images = _check_pair(n_directions, "n_directions", 2)
        check_count(of_images, "n_directions", 2, n_features)
    images = _check_pair(images_per_identity, "images_per_identity", 1)
    n_domains = check_count(n_domains, "n_domains", 1, n_identities * images[1])
    labels, shares = _check_groups(groups)
    n_of_group = _apportion(n_identities, shares, labels)
    # With these defaults, for 16 to 512 features, about one genuine pair in twenty is
    # rejected at far 1e-3 and both rates are higher in the last group. The slow test of this
    # module prints the rates.
    tight, crowded = 100 + 0.65 * of_images, of_people**0.8
    kappa = _per_group(kappa, "kappa", labels, (tight, 0.85 * tight))
    crowding = _per_group(crowding, "crowding", labels, (0.5 * crowded, crowded))
    nuisance = _per_group(nuisance, "nuisance", labels, None)
    heterogeneity = _check_nonnegative(heterogeneity, "heterogeneity")
    domain_shift = _check_nonnegative(domain_shift, "domain_shift")

    # New streams come last and change no other.
    generators = _generators(random_state, 6)
    for_people, for_rows, for_images, for_domains, for_basis, for_nuisance = generators
    group = for_people.permutation(np.repeat(np.arange(len(labels)), n_of_group))
    spread = np.exp(heterogeneity * for_people.standard_normal(n_identities))
    kappa_of_identity = kappa[group] * spread
    directions = _random_directions(len(labels), of_people, for_people)
    centroids = sample_vmf(directions[group], crowding[group], for_people)
    centroids = np.pad(centroids, [(0, 0), (0, of_images - of_people)])
    basis = None
    if n_directions is not None:
        basis = _random_basis(n_features, of_images, for_basis)

    y, domain = _lay_out_rows(n_identities, images, n_domains, for_rows, for_domains)
    X = _draw_images(centroids, kappa_of_identity, y, basis, for_images)
    if nuisance.any():
        _add_nuisance(X, nuisance[group[y]], for_nuisance)
    if n_domains > 1:
        _shift_domains(X, domain, n_domains, domain_shift, for_domains)

    return Bunch(
        X=X,
        y=y,
        sensitive_features=labels[group[y]],
        domain=domain if n_domains > 1 else None,
        kappa=kappa_of_identity,
        centroids=centroids if basis is None else centroids @ basis,
        group_of_identity=labels[group],
        DESCR=f"{len(y)} synthetic embeddings, {n_features} features, of {n_identities} "
        f"identities in {len(labels)} groups: a von Mises-Fisher mixture.",
    )


def _lay_out_rows(n_identities, images, n_domains, for_rows, for_domains):
    """Identity and domain of every row, each of shape (n_samples,), in random order."""
    n_images = for_rows.integers(*images, size=n_identities, endpoint=True)
    y = np.repeat(np.arange(n_identities), n_images)
    first_row = np.cumsum(n_images) - n_images
    rank = np.arange(y.size) - first_row[y]
    order = for_rows.permutation(y.size)
    start = for_domains.integers(n_domains, size=n_identities)
    labels = np.array([f"domain_{j}" for j in range(n_domains)])
    return y[order], labels[(rank + start[y]) % n_domains][order]


def _draw_images(centroids, kappa, y, basis, rng):
    """Unit float32 rows about the centroids of identities, (n_images, n_features)."""
    n_features = centroids.shape[1] if basis is None else basis.shape[1]
    X = np.empty((y.size, n_features), dtype=np.float32)
    n_rows = max(1, BLOCK_ELEMENTS // n_features)
    for start in range(0, y.size, n_rows):
        block = y[start : start + n_rows]
        drawn = sample_vmf(centroids[block], kappa[block], rng)
        # ``basis``, (n_directions, n_features), turns directions into all features.
        X[start : start + n_rows] = drawn if basis is None else drawn @ basis
    return X


def _add_nuisance(X, amount, rng):
    """Move, in place, every row along one direction, and scale it back."""
    direction = _random_directions(1, X.shape[1], rng)
    moved = X + (amount * rng.standard_normal(len(X)))[:, None] * direction
    X[:] = moved / np.linalg.norm(moved, axis=1, keepdims=True)


def _shift_domains(X, domain, n_domains, domain_shift, rng):
    """Move, in place, the rows of every domain but the first, and scale them back."""
    directions = _random_directions(n_domains - 1, X.shape[1], rng)
    for j, direction in enumerate(directions, start=1):
        rows = np.flatnonzero(domain == f"domain_{j}")
        moved = X[rows] + domain_shift * direction
        X[rows] = moved / np.linalg.norm(moved, axis=1, keepdims=True)


def _random_directions(n_directions, n_features, rng):
    """Directions uniform on the sphere, shape (n_directions, n_features)."""
    directions = rng.standard_normal((n_directions, n_features))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _random_basis(n_features, n_directions, rng):
    """Orthonormal rows, shape (n_directions, n_features), with one sign everywhere."""
    columns, triangle = np.linalg.qr(rng.standard_normal((n_features, n_directions)))
    return (columns * np.where(np.diag(triangle) < 0, -1.0, 1.0)).T


def _generators(random_state, n_generators):
    """Independent generators, one for each part of the draw."""
    if not isinstance(random_state, np.random.Generator) and random_state is not None:
        seeded = random_state_of(random_state)
        random_state = seeded.randint(2**32, size=4, dtype=np.uint32)
    rng = np.random.default_rng(random_state)
    seeds = rng.integers(2**63, size=(n_generators, 2))
    return [np.random.default_rng(seed) for seed in seeds]


def _apportion(n_identities, shares, labels):
    """Numbers of identities by largest remainder. A tie goes to the group given first."""
    # 0.29 * 50 rounds to less than 14.5 and 0.71 * 50 to 35.5: ties must stay ties.
    quotas = np.round(shares * n_identities, 9)
    counts = np.floor(quotas).astype(int)
    by_remainder = np.argsort(counts - quotas, kind="stable")
    counts[by_remainder[: n_identities - counts.sum()]] += 1
    if (counts == 0).any():
        empty = labels[np.flatnonzero(counts == 0)[0]]
        problem = f"leave {empty!s} without any of the {n_identities} identities;"
        raise invalid("groups", None, problem, "raise its share, or n_identities.")
    return counts


def _check_pair(value, name, least):
    """Two integers of at least ``least``, the second no smaller. One number is used for both."""
    pair = (value, value) if isinstance(value, numbers.Integral) else value
    if isinstance(pair, tuple | list) and len(pair) == 2:
        low, high = (check_count(n, name, least) for n in pair)
        if low <= high:
            return low, high
    got = plain(value)
    problem = f"must be an integer or a pair (low, high), low <= high, got {got!r}."
    raise invalid(name, value, problem)


def _check_groups(groups):
    """Labels and shares of the groups, each of shape (n_groups,)."""
    if not isinstance(groups, Mapping) or not groups:
        problem = "must be a dict of label -> share, such as {'a': 0.5, 'b': 0.5}, got "
        raise invalid("groups", groups, f"{problem}{plain(groups)!r}.")
    for label, share in groups.items():
        if np.ndim(label) != 0:
            problem = f"must have single labels, such as strings, got {plain(label)!r}."
            remedy = "Join several attributes into one string."
            raise invalid("groups", groups, problem, remedy)
        if not to_float(share) > 0:
            problem = f"must be above 0, got {plain(share)!r}."
            remedy = "Leave out a group that has no identity."
            raise invalid(f"groups[{plain(label)!r}]", share, problem, remedy)
    shares = np.array([float(share) for share in groups.values()])
    if not abs(shares.sum() - 1) <= SHARE_TOLERANCE:
        problem = f"must have shares that sum to 1, but their sum is {shares.sum()!s}."
        raise invalid("groups", groups, problem, "Divide each by it.")
    return _label_array(groups), shares


def _label_array(labels):
    """Labels as an array that keeps their types: ``[1, "a"]`` stay an int and a str."""
    labels = list(labels)
    same_type = len({type(label) for label in labels}) == 1
    return np.array(labels, dtype=None if same_type else object)


def _per_group(value, name, labels, graded):
    """One concentration for each group, shape (n_groups,)."""
    if value is None and graded is not None:
        return np.linspace(*graded, num=len(labels))
    if not isinstance(value, Mapping):
        return np.full(len(labels), _check_nonnegative(value, name))
    if value.keys() != set(labels.tolist()):
        problem = f"must name exactly the groups {labels.tolist()}, got {plain(dict(value))!r}."
        remedy = "Give a number for each of them, or one for all."
        raise invalid(name, value, problem, remedy)
    named = ((f"{name}[{plain(label)!r}]", value[label]) for label in labels.tolist())
    return np.array([_check_nonnegative(v, part) for part, v in named])


def _check_nonnegative(value, name):
    """A finite float of at least 0."""
    wanted = "must be a finite number of at least 0"
    return check_number(value, name, lambda v: 0 <= v < np.inf, wanted)
