"""Small audits that several test modules read."""

from functools import cache

import numpy as np

from skfairfr.datasets import make_face_embeddings
from skfairfr.report import EmbeddingData, PairData, _figures, audit

HOSTILE = "<script>alert('x')</script>"


def synthetic(n_identities=60, groups=None, **options):
    """Arrays of a small synthetic set: X, y, sensitive_features."""
    groups = {"male": 0.6, "female": 0.4} if groups is None else groups
    options = {"kappa": 30.0, "heterogeneity": 0.5} | options
    made = make_face_embeddings(
        n_identities, n_features=16, groups=groups, random_state=0, **options
    )
    return made.X, made.y, made.sensitive_features


def small_report(data=None, **options):
    options = {"attribute": "gender", "far": 0.05} | options
    return audit(*(synthetic() if data is None else data), **options)


def small_audit(data=None, **options):
    return small_report(data, **options).audits[0]


@cache
def usual_report():
    """The one without options, made once: nothing changes a record."""
    return small_report()


@cache
def large_report():
    """Of 300 people, whose rates differ by group."""
    return small_report(synthetic(300))


def usual_audit():
    return usual_report().audits[0]


@cache
def dominated():
    """A report where one person is in most genuine pairs."""
    X, y, groups = synthetic()
    kept = np.r_[np.repeat(np.flatnonzero(y == y[0]), 2), np.arange(len(y))]
    noise = np.random.default_rng(0).normal(scale=0.05, size=(len(kept), X.shape[1]))
    return small_report((X[kept] + noise, y[kept], groups[kept]))


def systems(noise):
    """Two systems, the second of which is noisier for people of one group."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(120), 4)
    group = np.where(y % 2, HOSTILE, "m")
    centre = rng.standard_normal((120, 24))
    first = centre[y] + 0.7 * rng.standard_normal((y.size, 24))
    wider = np.where(y % 2, noise, 0.7)[:, None]
    second = centre[y] + wider * rng.standard_normal((y.size, 24))
    return [EmbeddingData(X, y, {"sex": group}) for X in (first, second)]


def without_rendering(monkeypatch):
    """Leave figures of pages empty, in tests of something else.

    Figures take most of the time of a page; ``test_figures``, ``test_labels`` and one test
    of the command look at what is drawn.
    """
    monkeypatch.setattr(_figures, "_svg", lambda draw, height, about: ("<svg/>", about))


def with_a_lone_person(data=None):
    """The same data, where one person is a group of their own."""
    X, y, groups = synthetic() if data is None else data
    return X, y, np.where(y == y[0], "alone", groups)


def scored_pairs(rng, people, frr, far=None, n_genuine=3, n_impostor=1, prefix=""):
    """Pairs that err independently at the threshold .5, at the rates of their groups.

    Parameters
    ----------
    rng : Generator
    people : dict of label -> int
        Of each group; a person is in ``n_genuine`` genuine pairs, and in as many impostor
        pairs as chance has it, ``n_impostor`` for each person in all.
    frr, far : dict of label -> float
        None errs as often in impostor pairs.
    prefix : str, default=""
        Of the names of people.
    """
    columns = []
    for group, n in people.items():
        wrong = (frr[group], (frr if far is None else far)[group])
        same = np.repeat(np.arange(n), n_genuine)
        first = np.repeat(np.arange(n), n_impostor)
        second = (first + 1 + rng.integers(n - 1, size=first.size)) % n
        scores = [
            np.where(rng.random(same.size) < wrong[0], 0.0, 1.0),
            np.where(rng.random(first.size) < wrong[1], 1.0, 0.0),
        ]
        names = [
            [f"{prefix}{group}{i}" for i in np.concatenate(both)]
            for both in ((same, first), (same, second))
        ]
        columns.append((np.concatenate(scores), *names, [group] * len(names[0])))
    score, left, right, group = (np.concatenate(c) for c in zip(*columns, strict=True))
    return PairData(score, (left, right), {"group": (group, group)})


def counted_pairs(false_matches, false_non_matches, n=200):
    """Pairs of which so many of each group err at the threshold .5, each of people of its own.

    Parameters
    ----------
    false_matches, false_non_matches : dict of label -> int
        A group that is not in one of them has no such pairs.
    n : int, default=200
        Impostor pairs, and genuine pairs, of each group that has them.
    """
    score, left, right, group = [], [], [], []
    for errors, wrong, step in ((false_matches, 1.0, 1), (false_non_matches, 0.0, 0)):
        for label, n_errors in errors.items():
            score += [wrong] * n_errors + [1 - wrong] * (n - n_errors)
            left += [f"{label}{2 * pair}" for pair in range(n)]
            right += [f"{label}{2 * pair + step}" for pair in range(n)]
            group += [label] * n
    return PairData(np.array(score), (left, right), {"group": (group, group)})
