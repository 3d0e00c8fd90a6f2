"""Multiplicities of one resample: images within identities, identities, or both.

Every resample has a seed of its own, derived from the entropy drawn in ``fit``, so that
neither the size of a block nor the number of workers changes a single bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numba import njit

from skfairfr._core._parallel import n_threads

MODES = ("images", "identities", "both")
# Bytes of the multiplicities that a block of resamples may hold.
BLOCK_BYTES = 2**26
# Resamples that a thread draws at a time.
FEWEST_RESAMPLES, MOST_RESAMPLES = 16, 128
# Bytes of all drawn multiplicities that are kept for the next question.
KEPT_BYTES = 2**28


@dataclass(frozen=True)
class Images:
    """The images (or, where images are unnamed, the identities) that pairs are made of.

    Attributes
    ----------
    identity : ndarray of int32, shape (n_images,)
    group : ndarray of int32, shape (n_images,)
        -1 is unknown.
    side : ndarray of int8, shape (n_images,), or None
        0 for probes and 1 for references where only pairs across are compared.
    n_identities, n_groups : int
    n_drawn : int, default=None
        Number of identities, the first, that resamples draw among. The others count once
        in each. None draws among all. Independent pairs are drawn so: each has one
        identity that is drawn, though an impostor pair is of two.
    drawn : dict
        Multiplicities already drawn, by their seeds. Other groups of the same images
        share them. They stay behind when the images travel to another process.
    """

    identity: np.ndarray
    group: np.ndarray
    side: np.ndarray | None
    n_identities: int
    n_groups: int
    n_drawn: int | None = None
    drawn: dict = field(default_factory=dict, compare=False, repr=False)

    def __getstate__(self):
        return vars(self) | {"drawn": {}}

    @property
    def strata(self):
        """Code of each image's (side, identity), within which it is drawn."""
        if self.side is None:
            return self.identity
        return self.identity + self.n_identities * self.side.astype(np.int32)

    def per_stratum(self):
        """Number of images of the same identity on the same side, for each image."""
        strata = self.strata
        return np.bincount(strata)[strata]


@dataclass(frozen=True)
class Weights:
    """Multiplicities of a block of resamples. By default the data, as one resample.

    Attributes
    ----------
    identity : ndarray, shape (n_identities, n_resamples), or None where all are 1
    image : ndarray, shape (n_images, n_resamples), or None where all are 1
    n_resamples : int
    sums : dict
        Sums over people that :class:`Totals` computed. Many scopes need the same ones.
    known : dict
        Weights of all pairs of a scope that :class:`Totals` computed. Kept with the drawn
        multiplicities for the next question.
    block : tuple, or None
        Drawn units. If None, the data.
    """

    identity: np.ndarray | None = None
    image: np.ndarray | None = None
    n_resamples: int = 1
    block: tuple | None = None
    sums: dict = field(default_factory=dict, compare=False, repr=False)
    known: dict = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Resampling:
    """How resamples are drawn, and how many."""

    mode: str
    method: str
    n_resamples: int
    entropy: int
    n_jobs: int | None


class Resamples(NamedTuple):
    """The resamples ``start`` to ``stop`` of a mode, as :func:`draw` takes them."""

    mode: str
    entropy: int
    start: int
    stop: int


def draw(images, mode, entropy, start, stop):
    """Weights of the resamples ``start`` to ``stop`` of a mode.

    Parameters
    ----------
    images : Images
    mode : {"images", "identities", "both"}
        Independent pairs are drawn whatever it is.
    entropy : int
        The same entropy gives the same resamples, and modes that both draw identities
        draw the same ones.
    start, stop : int

    Returns
    -------
    weights : Weights
    """
    mode = mode if images.n_drawn is None else "identities"
    key = (mode, entropy, start, stop)
    if key not in images.drawn:
        identity = image = None
        n_resamples = stop - start
        streams = [
            [
                np.random.SeedSequence(entropy, spawn_key=(stream, r))
                for r in range(start, stop)
            ]
            for stream in (0, 1)
        ]
        if mode in ("identities", "both"):
            n_drawn = images.n_identities if images.n_drawn is None else images.n_drawn
            identity = np.ones((n_resamples, images.n_identities), dtype=np.int32)
            for r, seed in enumerate(streams[0]):
                picks = np.random.default_rng(seed).integers(0, n_drawn, n_drawn)
                identity[r, :n_drawn] = np.bincount(picks, minlength=n_drawn)
            identity = smallest(identity.T)
        if mode in ("images", "both"):
            image = smallest(_draw_images(images, streams[1]).T)
        drawn = sum(array.nbytes for array in (identity, image) if array is not None)
        kept = sum(size for *_, size in list(images.drawn.values()))
        if kept + drawn > KEPT_BYTES:
            return Weights(identity, image, stop - start, key)
        images.drawn[key] = (identity, image, {}, drawn)
    identity, image, known, _ = images.drawn[key]
    return Weights(identity, image, stop - start, key, known=known)


def blocks_of_resamples(images, resampling):
    """Blocks of Resamples as tasks of ``over_blocks``, and how many resamples each has.

    A block has at most BLOCK_BYTES and MOST_RESAMPLES, but at least FEWEST_RESAMPLES. It is
    smaller where there would be fewer of them than workers or threads that compute them.
    """
    least, most = FEWEST_RESAMPLES, MOST_RESAMPLES
    fitting = int(np.clip(BLOCK_BYTES // max(images.identity.size, 1), least, most))
    n_workers, n = max(n_threads(), effective_n_jobs()), resampling.n_resamples
    size = min(fitting, max(least, -(-n // n_workers)))
    seeds = (resampling.mode, resampling.entropy)
    tasks = [(Resamples(*seeds, s, min(s + size, n)),) for s in range(0, n, size)]
    return tasks, [block.stop - block.start for (block,) in tasks]


def _draw_images(images, seeds):
    """Draw as many images as there are, with replacement, within every stratum."""
    strata = images.strata
    order = np.argsort(strata, kind="stable")
    counts = np.bincount(strata)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    size = np.repeat(counts, counts)
    image = np.zeros((len(seeds), strata.size), dtype=np.int32)
    for r, seed in enumerate(seeds):
        u = np.random.default_rng(seed).random(strata.size)
        # u * size is below size for u < 1, and several times faster than drawing integers.
        _count_picks(u, size, order, first, image[r])
    return image


@njit(nogil=True, cache=True)
def _count_picks(u, size, order, first, counts):
    for i in range(u.size):
        counts[order[first[i] + np.int64(u[i] * size[i])]] += 1


def smallest(multiplicities):
    """uint8 where the multiplicities fit, for the running sums' fast path."""
    fits = multiplicities.size == 0 or multiplicities.max() <= np.iinfo(np.uint8).max
    return multiplicities.astype(np.uint8 if fits else np.float64, order="C")
