"""The images of people held out that are compared after every epoch: all, or a sample.

Pairs grow as the square of the images. Above a stated number of pairs a sample of the
people is drawn once a fit, so that all epochs are judged by the same pairs.
"""

from dataclasses import replace
from math import isqrt

import numpy as np

# Pairs compared after an epoch, at most.
MOST_PAIRS = 2**24
# n images make n (n - 1) / 2 pairs. Where people have two images each, the loss compares
# them with n / 2 means, and with fewer where they have more: n**2 / 2 bounds both.
MOST_IMAGES = isqrt(2 * MOST_PAIRS)
# Images kept of a group that has them: their 130,816 pairs hold 130 errors at a FAR of 1e-3.
# Many groups share half of the sample.
FEWEST_IMAGES = 512
# People who share the images of a group, at least; of one with more images some are drawn.
FEWEST_PEOPLE = 32
# Makes the draws differ from all others of a fit.
STREAM = 1


def sample_to_compare(people, seed):
    """People whose images make at most MOST_PAIRS pairs: these, or a sample of them.

    Every group is sampled by itself, and in it people of several images and of one. Each
    has its share of the sample, but FEWEST_IMAGES at least, so that the FAR within a rare
    group can still be measured. People are drawn whole, except that none has more than
    its part of FEWEST_PEOPLE equal ones; of such a person's images some are drawn, in
    turn from both domains.

    Parameters
    ----------
    people : People
        Held out.
    seed : int
        Of the fit. The draws leave the others of the fit as they are.

    Returns
    -------
    sample : People
        ``people`` itself where all of them can be compared.
    """
    if people.rows.size <= MOST_IMAGES:
        return people
    rng = np.random.default_rng([seed, STREAM])
    n_images = np.bincount(people.y, minlength=people.identities.size)
    stratum = _strata(people, n_images)
    sizes = np.bincount(stratum, n_images).astype(np.int64)
    quotas = _quotas(sizes, MOST_IMAGES)
    n_people = np.minimum(np.bincount(stratum), FEWEST_PEOPLE)
    taken = np.minimum(n_images, np.maximum(2, quotas // n_people)[stratum])

    order = rng.permutation(n_images.size)
    order = order[np.argsort(stratum[order], kind="stable")]
    strata = stratum[order]
    reached = np.cumsum(taken[order])
    sums = np.bincount(stratum, taken)
    reached -= (np.cumsum(sums) - sums).astype(np.int64)[strata]
    taken[order[reached > quotas[strata]]] = 0

    turn = _turns(people, rng)
    sample = people.of(taken > 0, turn < taken[people.y])
    return replace(sample, is_sample=True)


def _strata(people, n_images):
    """Stratum of each identity: its group, and whether it has several images."""
    group = np.zeros(n_images.size, dtype=np.int64)
    if people.attribute is not None and people.attribute.dtype.kind != "f":
        group = people.attribute
    elif people.groups is not None:
        group = people.groups[np.unique(people.y, return_index=True)[1]]
    return np.unique(2 * group + (n_images > 1), return_inverse=True)[1]


def _quotas(sizes, total):
    """Images to take of each stratum: the same share of all, but a fewest of each.

    Parameters
    ----------
    sizes : ndarray of int64, shape (n_strata,)
        Their sum exceeds the total.
    total : int

    Returns
    -------
    quotas : ndarray of int64, shape (n_strata,)
        At most ``sizes``; their sum is at most ``total``.
    """
    fewest = np.minimum(sizes, min(FEWEST_IMAGES, total // (2 * sizes.size)))
    shared = np.ones(sizes.size, dtype=bool)
    while True:
        share = (total - fewest[~shared].sum()) / sizes[shared].sum()
        below = shared & (share * sizes < fewest)
        if not below.any():
            return np.where(shared, np.floor(share * sizes), fewest).astype(np.int64)
        shared &= ~below


def _turns(people, rng):
    """Place of every image in a random order of its person's, the domains in turn."""
    order = rng.permutation(people.y.size)
    side = np.zeros(order.size, dtype=np.int8)
    if people.domain is not None:
        side = people.domain[order]
    place = _places(2 * people.y[order] + side)
    order = order[np.lexsort((side, place))]
    turn = np.empty(order.size, dtype=np.int64)
    turn[order] = _places(people.y[order])
    return turn


def _places(labels):
    """Place of every element among those of its label, from 0 on."""
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    places = np.empty(labels.size, dtype=np.int64)
    starts = np.cumsum(counts) - counts
    places[order] = np.arange(labels.size) - np.repeat(starts, counts)
    return places
