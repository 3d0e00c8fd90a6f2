"""Semi-hard negatives: which are admissible, that the choice among them is uniform."""

from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from torch.nn.functional import normalize

from skfairfr.losses import _triplet, semi_hard_negatives
from tests.covering import daily_pairwise


def pairs(n_pairs, n_people, seed=0, noise=1.0, n_features=6):
    """Unit rows of the left and right images of pairs, and their identities."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(n_people, (n_pairs,), generator=generator)
    shape = (n_pairs, n_features)
    centre = torch.randn((n_people, n_features), generator=generator)[y]
    left, right = (
        normalize(centre + noise * torch.randn(shape, generator=generator)).double()
        for _ in range(2)
    )
    return left, right, y


def select(left, right, y, seed=0, **options):
    generator = torch.Generator().manual_seed(seed)
    return semi_hard_negatives(left, right, y, generator=generator, **options)


def admissible(left, right, y, margin=0.6):
    """For both anchors of every pair the set of admissible negatives, row by row."""
    found = []
    for anchor, positive in ((left, right), (right, left)):
        a, p = anchor.numpy(), positive.numpy()
        near = ((a - p) ** 2).sum(1)
        sets = []
        for i in range(len(y)):
            other = y.numpy() != int(y[i])
            too_near = near[i] + margin > ((a[i] - p) ** 2).sum(1)
            sets.append(set(np.flatnonzero(other & too_near).tolist()))
        found.append(sets)
    return found


@pytest.mark.parametrize(
    ("n_pairs", "n_people", "margin"),
    daily_pairwise(product((2, 7, 60, 250), (2, 40), (0.05, 0.6, 4.0))),
)
def test_negatives_are_admissible_and_missing_only_where_none_is(
    n_pairs, n_people, margin
):
    given = pairs(n_pairs, n_people, noise=0.4)
    for chosen, allowed in zip(
        select(*given, margin=margin), admissible(*given, margin), strict=True
    ):
        assert chosen.dtype == torch.int64
        for negative, may in zip(chosen.tolist(), allowed, strict=True):
            assert negative in may or (negative == -1 and not may)


@pytest.mark.parametrize("n_draws", [100, pytest.param(4000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("rows", "byte"), [(11, 4), (960, 7)])
def test_the_choice_is_uniform_in_both_directions(monkeypatch, rows, byte, n_draws):
    monkeypatch.setattr(_triplet, "ROWS", rows)
    monkeypatch.setattr(_triplet, "BYTE", byte)
    left, right, y = pairs(30, 12)
    allowed = admissible(left, right, y)
    generator = torch.Generator().manual_seed(0)
    counts = np.zeros((2, 30, 31), dtype=int)
    for _ in range(n_draws):
        drawn = semi_hard_negatives(left, right, y, generator=generator)
        for side, chosen in enumerate(drawn):
            counts[side, np.arange(30), chosen] += 1
    statistic = freedom = 0
    for side in range(2):
        for i, may in enumerate(allowed[side]):
            if may:
                n = counts[side, i, sorted(may)]
                expected = n_draws / len(may)
                statistic += ((n - expected) ** 2 / expected).sum()
                freedom += len(may) - 1
    assert freedom > 300
    # Chi-squared is nearly normal: five standard deviations either way.
    assert abs(statistic - freedom) < 5 * np.sqrt(2 * freedom)


def test_the_generator_decides():
    given = pairs(100, 50)
    one, same, other = (select(*given, seed=seed) for seed in (1, 1, 2))
    assert all(map(torch.equal, one, same))
    assert not torch.equal(one[0], other[0])


def test_one_person_has_no_negative():
    left, right, _ = pairs(5, 3)
    for chosen in select(left, right, torch.zeros(5, dtype=int)):
        assert_array_equal(chosen, np.full(5, -1))


def test_a_distance_equal_to_the_bound_does_not_violate_it():
    left = torch.tensor([[1.0, 0], [0, 1]])
    # D2_ap + 2 = D2_an = 2, exactly.
    of_left, _ = select(left, left, torch.arange(2), margin=2.0)
    assert of_left.tolist() == [-1, -1]
    of_left, _ = select(left, left, torch.arange(2), margin=2.001)
    assert of_left.tolist() == [1, 0]


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"same shape \(n_pairs, n_features\)"):
        semi_hard_negatives(torch.ones(3, 4), torch.ones(2, 4), torch.ones(3))
