"""The people to train on or to hold out: images, identities, groups, domains."""

from dataclasses import dataclass, replace

import numpy as np

from skfairfr.utils._labels import FIELDS, label_images


@dataclass(frozen=True)
class People:
    """Images of some identities.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_images,)
        Increasing positions in X.
    y : ndarray of int64, shape (n_images,)
        Identity of each image, in 0..n_identities - 1.
    identities : ndarray, shape (n_identities,)
        Their labels, sorted.
    attribute : ndarray, shape (n_identities,), or None
        Code of the group, or value, of each identity; None where no group is used.
    groups : ndarray of int32, shape (n_images,), or None
        Code of the group of each image, -1 unknown, as the caller gave it; metrics of
        held-out people and samplers use it.
    labels : ndarray, shape (n_groups,), or None
        What the codes stand for.
    domain : ndarray of int8, shape (n_images,), or None
        0 or 1, where images of two domains are compared with each other.
    """

    rows: np.ndarray
    y: np.ndarray
    identities: np.ndarray
    attribute: np.ndarray | None = None
    groups: np.ndarray | None = None
    labels: np.ndarray | None = None
    domain: np.ndarray | None = None

    def of(self, chosen, images=None):
        """The People among the chosen identities, with all or some of their images.

        Parameters
        ----------
        chosen : ndarray of bool, shape (n_identities,)
        images : ndarray of bool, shape (n_images,), default=None
            One of every chosen identity at least, and none of another; None: all.
        """
        if images is None:
            images = chosen[self.y]
        return People(
            self.rows[images],
            (np.cumsum(chosen) - 1)[self.y[images]],
            self.identities[chosen],
            None if self.attribute is None else self.attribute[chosen],
            None if self.groups is None else self.groups[images],
            self.labels,
            None if self.domain is None else self.domain[images],
        )


def read_labels(y, sensitive_features, domain, n_samples, *, fields=FIELDS):
    """Identity, group and domain of the rows of X, as Labels; None where not given.

    The arguments are those of :func:`~skfairfr.utils._labels.label_images`.

    Raises
    ------
    ValueError
        If there are not two people, or a label is wrong.
    """
    identity, group, domain = label_images(
        y, sensitive_features, domain, n_samples, fields=fields
    )
    if identity.values.size < 2:
        raise ValueError(
            "y holds one identity (1 class): with nobody to tell it from there is "
            "nothing to train; give the images of at least two people."
        )
    return identity, group, domain


def everyone(identity, group=None, domain=None):
    """All images, as People without attribute.

    Parameters
    ----------
    identity : Labels
    group, domain : Labels or None
    """
    return People(
        np.arange(len(identity.codes)),
        identity.codes.astype(np.int64),
        identity.values,
        groups=None if group is None else group.codes,
        labels=None if group is None else group.values,
        domain=None if domain is None else domain.codes.astype(np.int8),
    )


def agree_on_group(identity, group, min_agreement):
    """The group of each identity, from those of its images that have one.

    Parameters
    ----------
    identity, group : Labels
    min_agreement : float or None
        Share of an identity's images that must agree; None: all.

    Returns
    -------
    chosen : ndarray of int64, shape (n_identities,)
        Code of the group; -1 where too few images agree.
    unified : ndarray of bool, shape (n_identities,)
        Whether some of its images have another group than the chosen one.

    Raises
    ------
    ValueError
        If ``min_agreement`` is None and the images of an identity disagree, or none of
        them has a group.
    """
    shape = (identity.values.size, group.values.size)
    known = group.codes >= 0
    place = identity.codes[known].astype(np.int64) * shape[1] + group.codes[known]
    counts = np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)
    n_known, most = counts.sum(1), counts.max(1, initial=0)
    chosen = counts.argmax(1) if shape[1] else np.full(shape[0], -1)
    agreed = (n_known > 0) & (most >= (min_agreement or 1.0) * n_known)
    if min_agreement is None and not agreed.all():
        who = np.flatnonzero(~agreed)[0]
        found = zip(group.values.tolist(), counts[who].tolist(), strict=True)
        found = {label: n for label, n in found if n} or "unknown for all"
        raise ValueError(
            "sensitive_features disagrees between the images of identity "
            f"{identity.values.tolist()[who]!r}, or is unknown: {found}. Set "
            "min_agreement=0.75 to keep the identities whose images agree to that share "
            "(the rest are left out and counted), or correct the labels."
        )
    return np.where(agreed, chosen, -1), agreed & (most < n_known)


def everyone_by_most(identity, group, domain=None):
    """Everyone, to be held out by the group of most of their images; no images are lost."""
    people = everyone(identity, group, domain)
    if group is None or group.values.size == 0:
        return people
    most, _ = agree_on_group(identity, group, np.finfo(float).tiny)
    return replace(people, attribute=most)


def people_by_group(identity, group, min_agreement):
    """People whose images agree on a group, with its code as their attribute.

    Parameters
    ----------
    identity, group : Labels
    min_agreement : float or None
        As in :func:`agree_on_group`.

    Returns
    -------
    people : People
    n_left_out, n_unified : int
        Identities left out, and given the group of most of their images.

    Raises
    ------
    ValueError
        As :func:`agree_on_group` does, or if fewer than two identities are left.
    """
    chosen, unified = agree_on_group(identity, group, min_agreement)
    kept = chosen >= 0
    if kept.sum() < 2:
        raise ValueError(
            f"min_agreement={min_agreement} leaves {int(kept.sum())} of {kept.size} "
            "identities, and two are needed; lower it, or correct sensitive_features."
        )
    people = replace(everyone(identity, group), attribute=chosen).of(kept)
    return people, int((~kept).sum()), int(unified.sum())


def mean_value(identity, group):
    """Mean of a numeric attribute over the images of each identity.

    Returns
    -------
    values : ndarray of float64, shape (n_identities,)

    Raises
    ------
    ValueError
        If the attribute is no number, or unknown for all images of an identity.
    """
    try:
        values = group.values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "kappas is a function of a number, but sensitive_features holds the labels "
            f"{group.values.tolist()[:5]}; give numbers, or kappas={{label: kappa}}."
        ) from None
    known = group.codes >= 0
    owner = identity.codes[known]
    n_known = np.bincount(owner, minlength=identity.values.size)
    if (n_known == 0).any():
        who = identity.values.tolist()[int(np.flatnonzero(n_known == 0)[0])]
        raise ValueError(
            f"sensitive_features is unknown for every image of identity {who!r}; drop "
            "such people before the call."
        )
    weights = values[group.codes[known]]
    return np.bincount(owner, weights, minlength=identity.values.size) / n_known


def hold_out(people, fraction, rng):
    """Split off a share of the identities, the same share of every group.

    Returns
    -------
    trained, held_out : People

    Raises
    ------
    ValueError
        If either part is left without two people, or the second without a person of two
        images.
    """
    strata = people.attribute
    if strata is None or strata.dtype.kind == "f":
        strata = np.zeros(people.identities.size, dtype=np.int64)
    chosen = np.zeros(people.identities.size, dtype=bool)
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        chosen[members[: round(fraction * members.size)]] = True
    several = (np.bincount(people.y) > 1) & chosen
    if chosen.sum() < 2 or (~chosen).sum() < 2 or not several.any():
        raise ValueError(
            f"validation_fraction={fraction} holds out {int(chosen.sum())} of "
            f"{chosen.size} identities, {int(several.sum())} of them with two images; both "
            "parts need two people, and validation one with two images. Give more people "
            "or another fraction."
        )
    return people.of(~chosen), people.of(chosen)
