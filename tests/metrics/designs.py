"""Small designs with exactly representable scores, for the class and for its oracle."""

import numpy as np

from skfairfr import SimilarityROC
from skfairfr._core import _pairs
from skfairfr._core._resampling import draw
from tests.oracles.rates import Oracle

LEVELS = (0.05, 0.2)


def exact_rows(n_rows, rng):
    """Unit rows of 16 entries +-1/4: cosines are multiples of 1/8, so ties abound."""
    return rng.choice([-0.25, 0.25], size=(n_rows, 16))


def people(n_images, n_people, rng):
    """Identity of each image: everyone has one image at least."""
    rest = rng.integers(0, n_people, n_images - n_people)
    return rng.permutation(np.concatenate([np.arange(n_people), rest]))


def groups_of(identity, kind, rng):
    """No groups, groups of people, or groups of images with unknown ones."""
    if kind == "none":
        return None
    if kind == "people":
        of_person = rng.permutation(np.arange(identity.max() + 1) % 2)
        return np.array(["a", "b"])[of_person[identity]]
    labels = np.array(["a", "b", "c", None], dtype=object)
    return labels[rng.choice(4, size=identity.size, p=[0.4, 0.3, 0.2, 0.1])]


def one_side(kind, rng, n_images=20, n_people=8):
    """Embeddings whose identities have 1 to some images, their identities and groups."""
    identity = people(n_images, n_people, rng)
    return exact_rows(n_images, rng), identity, groups_of(identity, kind, rng)


def weights_of(roc, resample):
    """v (by identity) and w (by image) of one resample, as the oracle takes them."""
    made = roc._engine.resampling
    images = roc._engine.pairs.images
    drawn = draw(images, made.mode, made.entropy, resample, resample + 1)
    v = None if drawn.identity is None else dict(enumerate(drawn.identity[:, 0]))
    w = None if drawn.image is None else drawn.image[:, 0].astype(int).tolist()
    return v, w


def oracle_of(X, identity, group, **options):
    """The oracle of one side."""
    rows = np.asarray(X, dtype=np.float32)
    return Oracle.one_side(rows @ rows.T, identity.tolist(), group, **options)


def questions(kind):
    """Everything that can be asked of rates by group, as keyword arguments."""
    yield {"rate": "frr"}
    yield {"rate": "far"}
    if kind == "none":
        return
    for rate in ("far", "frr"):
        yield {"rate": rate, "group": "a"}
        for point in ("overall", "worst_group", "group"):
            yield {"rate": rate, "how": "max_min", "operating_point": point}
        yield {"rate": rate, "how": ("ratio", "b", "a")}
    yield {"rate": "far", "group": ("a", "b")}
    yield {"rate": "frr", "group": "b", "operating_point": "group"}
    yield {"rate": "frr", "operating_point": "worst_group"}
    yield {"rate": "far", "how": "gini"}
    yield {"rate": "frr", "how": "log_geomean"}


def roc_of(X, identity, group, **options):
    """A small fitted SimilarityROC that answers LEVELS exactly."""
    options = {"n_resamples": 4, "random_state": 0, "far_max": 0.2, **options}
    return SimilarityROC(**options).fit(X, identity, group)


def hold_tails(monkeypatch):
    """No set is small enough to be held whole, and samples are small."""
    for name, size in (("WHOLE", 0), ("WHOLE_GROUP", 0), ("SAMPLE", 20000)):
        monkeypatch.setattr(_pairs, name, size)


def tail_only(kind, n_images=120, **options):
    """One whose levels above far_max, 0.02, are answered from a sample.

    After :func:`hold_tails`.
    """
    rng = np.random.default_rng(33)
    X = rng.standard_normal((n_images, 12))
    identity = people(n_images, n_images // 3, rng)
    options = {"far_max": 0.02, "resample": "identities", "n_resamples": 30, **options}
    return roc_of(X, identity, groups_of(identity, kind, rng), **options)


def unfitted(**options):
    """An unfitted one that resamples people."""
    options = {"resample": "identities", "n_resamples": 5, "random_state": 0, **options}
    return SimilarityROC(**options)


X, IDENTITY, GROUP = one_side("people", np.random.default_rng(0), 30)
SCORES, ONE, TWO = [0.9, 0.1, 0.3], ["a", "a", "b"], ["a", "b", "c"]
