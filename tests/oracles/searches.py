"""Searches by double loops: the slow twin of IdentificationROC."""

import numpy as np

from tests.oracles.pairs import unit


def scores_of(X, y_gallery, X_gallery, template):
    """Enrolled people, and the float32 score of every probe with each, one by one."""
    people, probes, enrolled = sorted(set(y_gallery)), unit(X), unit(X_gallery)
    scores = np.empty((len(X), len(people)), dtype=np.float32)
    for i, probe in enumerate(probes):
        for k, person in enumerate(people):
            own = [
                row
                for row, who in zip(enrolled, y_gallery, strict=True)
                if who == person
            ]
            if template == "mean":
                own = unit([np.mean(own, axis=0)])
            scores[i, k] = max(float(probe @ row) for row in own)
    return people, scores


def rates_of(scores, y, people, threshold, rank=1, inside=None):
    """FPIR and FNIR of some probes at a threshold, search by search."""
    alarms, misses = [], []
    for i, person in enumerate(y):
        if inside is not None and not inside[i]:
            continue
        if person not in people:
            alarms.append(any(s >= threshold for s in scores[i]))
            continue
        mate = scores[i, people.index(person)]
        ahead = sum(
            s >= mate
            for s, other in zip(scores[i], people, strict=True)
            if other != person
        )
        misses.append(mate < threshold or ahead >= rank)
    return np.mean(alarms), np.mean(misses)


def in_random_galleries(scores, y, people, threshold, rank, draw, n_draws, seed=0):
    """Mean FPIR and FNIR over random galleries, drawn again for every one.

    ``draw(rng)`` gives the places of the people of a gallery; a mated search is asked of
    those that hold its person.
    """
    rng, places = np.random.default_rng(seed), {p: k for k, p in enumerate(people)}
    own = np.array([places.get(person, -1) for person in y])
    alarms, missed, asked = 0.0, np.zeros(len(y)), np.zeros(len(y))
    for _ in range(n_draws):
        chosen = np.sort(draw(rng))
        of_gallery = scores[:, chosen]
        alarms += (of_gallery[own < 0] >= threshold).any(axis=1).mean()
        for i in np.flatnonzero(np.isin(own, chosen)):
            mate = scores[i, own[i]]
            ahead = (of_gallery[i] >= mate).sum() - 1
            missed[i] += mate < threshold or ahead >= rank
            asked[i] += 1
    return alarms / n_draws, (missed[asked > 0] / asked[asked > 0]).mean()
