"""Small data sets for the tests of the core, and their pairs by plain loops.

Embeddings are small integers, compared by their dot product: scores are exact in float32
whatever the order of summation, and ties abound.
"""

import numpy as np

from skfairfr._core._pairs import ListedPairs, ListedScores, compare_images
from skfairfr._core._resampling import Images, Totals, Weights
from tests.oracles.rates import Oracle

GROUPS = ("constant", "changing", "unknown", "partly")


def make_images(seed=0, *, sides=1, groups="changing", n_identities=7, most=4):
    """Up to ``most`` images of each identity, in random order.

    ``groups``: two of them, constant within an identity, changing from image to image,
    changing and sometimes unknown, or partly unknown and else constant; None for no
    groups at all.
    """
    rng = np.random.default_rng(seed)
    counts = np.append(rng.integers(1, most + 1, n_identities - 1), most)
    identity = rng.permutation(np.repeat(np.arange(n_identities), counts))
    group = {
        None: np.full(identity.size, -1),
        "constant": (np.arange(n_identities) % 2)[identity],
        "changing": rng.integers(0, 2, identity.size),
        "unknown": rng.integers(-1, 2, identity.size),
        "partly": np.where(rng.random(identity.size) < 0.3, -1, identity % 2),
    }[groups]
    side = rng.integers(0, 2, identity.size).astype(np.int8) if sides == 2 else None
    return Images(
        identity.astype(np.int32),
        group.astype(np.int32),
        side,
        n_identities,
        0 if groups is None else 2,
    )


def make_vectors(images, seed=0, n_features=4):
    """Integer embeddings of which those of one person are alike."""
    rng = np.random.default_rng([seed, 1])
    people = rng.integers(-2, 3, (images.n_identities, n_features))
    noise = rng.integers(-1, 2, (images.identity.size, n_features))
    return (people[images.identity] + noise).astype(np.float32)


def compare(images, vectors, average="pair", impostors="all", far_max=0.1):
    design = Totals(images, average, impostors)
    return compare_images(vectors, design, far_max)


def embedded(seed=0, average="pair", impostors="all", far_max=0.1, **options):
    """EmbeddingPairs of a small data set."""
    images = make_images(seed, **options)
    return compare(images, make_vectors(images, seed), average, impostors, far_max)


def hamming(seed=0, n_identities=75, most=7, **options):
    """Images and embeddings in {-1, 1}: s(x, x) is the largest score, as for cosine."""
    images = make_images(seed, n_identities=n_identities, most=most, **options)
    rng = np.random.default_rng([seed, 2])
    people = rng.choice([-1, 1], (images.n_identities, 64))
    flipped = np.where(rng.random((images.identity.size, 64)) < 0.25, -1, 1)
    return images, (people[images.identity] * flipped).astype(np.float32)


def listed(seed=0, n=60, average="pair", impostors="all", named=True):
    """ListedPairs with ties, two groups and unknown ones, and their arguments."""
    rng = np.random.default_rng(seed)
    images = make_images(seed, groups=None)
    left, right = rng.integers(0, images.identity.size, (2, n)).astype(np.int32)
    left, right = left[left != right], right[left != right]
    if not named:
        images = Images(
            np.arange(7, dtype=np.int32), np.full(7, -1, np.int32), None, 7, 0
        )
        left, right = rng.integers(0, 7, (2, n)).astype(np.int32)
    images = Images(images.identity, images.group, None, 7, 2)
    scores = rng.integers(0, 8, left.size) / 8
    groups = tuple(rng.integers(-1, 2, (2, left.size)))
    arguments = (scores, left, right, groups, images, average, impostors)
    return list_pairs(*arguments), arguments


def list_pairs(scores, left, right, groups, images, average, impostors):
    """ListedPairs of scored pairs."""
    sorted_pairs = ListedScores(scores, left, right, images.identity)
    return ListedPairs(sorted_pairs, groups, images, average, impostors)


# ---- the oracle of these data --------------------------------------------------------


def oracle_of(images, scores=None, average="pair", impostors="all"):
    """The slow twin, with identities and groups named by their codes."""
    if scores is None:
        scores = np.zeros((images.identity.size, images.identity.size))
    identity = images.identity.tolist()
    group = [None if g < 0 else g for g in images.group.tolist()]
    options = {"average": average, "impostors": impostors}
    if images.side is None:
        return Oracle.one_side(scores, identity, group, **options)
    p, r = sides_of(images)
    labels = [[c[i] for i in s] for c in (identity, group) for s in (p, r)]
    return Oracle.two_sides(scores[np.ix_(p, r)], *labels, **options)


def oracle_of_pairs(pairs):
    """The slow twin of EmbeddingPairs."""
    scores = pairs.compared.vectors @ pairs.compared.vectors.T
    return oracle_of(pairs.images, scores, pairs.totals.average, pairs.totals.impostors)


def oracle_of_listed(arguments):
    """The slow twin of ListedPairs; images are named by their codes."""
    scores, left, right, groups, images, average, impostors = arguments
    identity = [images.identity[i].tolist() for i in (left, right)]
    groups = [[None if g < 0 else g for g in side.tolist()] for side in groups]
    named = [left.tolist(), right.tolist()]
    options = {"average": average, "impostors": impostors}
    return Oracle.listed(scores, *identity, *groups, *named, **options)


def resample(images, weights, r):
    """Multiplicities v and w of resample r in the oracle's form."""
    v = None if weights.identity is None else weights.identity[:, r].tolist()
    if weights.image is None:
        return {"v": v, "w": None}
    w = weights.image[:, r]
    if images.side is None:
        return {"v": v, "w": w.tolist()}
    return {"v": v, "w": tuple(w[s].tolist() for s in sides_of(images))}


def oracle_scope(scope):
    """None, a group or two of them."""
    return scope[0] if scope is not None and scope[0] == scope[1] else scope


def sides_of(images):
    return tuple(np.flatnonzero(images.side == s) for s in (0, 1))


def scores_and_base(sequence):
    """(score, base weight) of every pair of a sequence, sorted, for a comparison."""
    base = np.ones(sequence.scores.size) if sequence.base is None else sequence.base
    return sorted(zip(sequence.scores.tolist(), base.tolist(), strict=True))


ONE = Weights()
