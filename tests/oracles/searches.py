"""Searches by double loops: the slow twin of IdentificationROC."""

from math import comb

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


def in_random_galleries(scores, y, people, threshold, rank, parts, sizes):
    """Mean FPIR and FNIR over all galleries of so many people of each part of them.

    ``parts`` lists the places of people; a mated search is asked of the galleries that
    hold its person.
    """
    places = {p: k for k, p in enumerate(people)}
    alarms, misses = [], []
    for of_search, person in zip(scores, y, strict=True):
        own = places.get(person)
        if own is None:
            alarms.append(1 - fewer(1, of_search >= threshold, parts, sizes))
            continue
        others = [[k for k in part if k != own] for part in parts]
        left = [n - (own in part) for n, part in zip(sizes, parts, strict=True)]
        if min(left) >= 0:
            found = fewer(rank, of_search >= of_search[own], others, left)
            misses.append(1 - found * (of_search[own] >= threshold))
    return np.mean(alarms), np.mean(misses)


def fewer(rank, marked, parts, sizes):
    """Chance that fewer than ``rank`` of those drawn from each part are marked."""
    chances = [1.0]
    for part, n in zip(parts, sizes, strict=True):
        k = int(marked[part].sum())
        ways = [
            comb(k, j) * comb(len(part) - k, n - j) for j in range(min(rank, n + 1))
        ]
        chances = np.convolve(chances, np.divide(ways, comb(len(part), n)))
    return chances[:rank].sum()
