"""Held-out images that are compared: all of a small set, of a large one a fixed sample."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr.projectors import _people
from skfairfr.projectors._people import STREAM, People, sample_to_compare


def people_with(n_images, group=None, domain=None):
    """People of so many images each; ``group`` is each one's."""
    n_images = np.asarray(n_images)
    y = np.repeat(np.arange(n_images.size), n_images)
    if group is not None:
        group = np.asarray(group, dtype=np.int32)
    labels = None if group is None else np.arange(group.max() + 1)
    return People(
        np.arange(y.size),
        y,
        np.arange(n_images.size),
        group,
        None if group is None else group[y],
        labels,
        domain,
    )


def sample_by_loop(people, seed, total, fewest_images, fewest_people):
    """The images chosen, person by person and image by image, with the same draws."""
    rng = np.random.default_rng([seed, STREAM])
    n_images, strata = Counter(people.y.tolist()), defaultdict(list)
    for who in people.identities.tolist():
        group = 0 if people.attribute is None else int(people.attribute[who])
        strata[group, n_images[who] > 1].append(who)
    sizes = {s: sum(n_images[w] for w in who) for s, who in strata.items()}
    fewest = {
        s: min(n, fewest_images, total // (2 * len(sizes))) for s, n in sizes.items()
    }
    left = (total - sum(fewest.values())) / (sum(sizes.values()) - sum(fewest.values()))
    most = dict.fromkeys(n_images, 0)
    for s in sorted(strata):
        quota, n_taken = int(fewest[s] + left * (sizes[s] - fewest[s])), 0
        for who in rng.permutation(strata[s]).tolist():
            part = min(
                n_images[who], max(2, quota // min(fewest_people, len(strata[s])))
            )
            n_taken += part
            if n_taken <= quota:
                most[who] = part
    chosen, seen = [], Counter()
    for image in rng.permutation(len(people.y)).tolist():
        who = int(people.y[image])
        seen[who] += 1
        if seen[who] <= most[who]:
            chosen.append(image)
    return np.sort(chosen)


RNG = np.random.default_rng(0)
CASES = {
    "one group": people_with(RNG.integers(1, 6, 60)),
    "two groups": people_with(RNG.integers(1, 6, 90), RNG.integers(0, 2, 90)),
    "a rare group": people_with(np.full(80, 3), np.arange(80) < 4),
    "someone with very many": people_with([200, *np.full(30, 2)]),
    "few people of many images": people_with([50, 60, 70], [0, 0, 1]),
    "many groups": people_with(np.full(90, 3), np.arange(90) % 30),
    "mostly single images": people_with(np.where(np.arange(150) < 5, 2, 1)),
    "two domains": people_with(
        np.full(30, 12), np.arange(30) % 2, RNG.integers(0, 2, 360).astype(np.int8)
    ),
}


@pytest.fixture
def small(monkeypatch):
    """A sample of 80 images, 16 of a rare group and 6 people of a group at least."""
    for name, value in (
        ("MOST_IMAGES", 80),
        ("FEWEST_IMAGES", 16),
        ("FEWEST_PEOPLE", 6),
    ):
        monkeypatch.setattr(_people, name, value)


@pytest.mark.parametrize("case", CASES)
def test_the_sample_is_that_of_the_loop(case, small):
    people = CASES[case]
    sample = sample_to_compare(people, 1)
    assert_array_equal(sample.rows, sample_by_loop(people, 1, 80, 16, 6))
    assert 0 < sample.rows.size <= 80
    assert_array_equal(sample.identities[sample.y], people.y[sample.rows])
    for name in ("groups", "domain"):
        given = getattr(people, name)
        if given is not None:
            assert_array_equal(getattr(sample, name), given[sample.rows])
    if people.attribute is not None:
        assert_array_equal(sample.attribute, people.attribute[sample.identities])
