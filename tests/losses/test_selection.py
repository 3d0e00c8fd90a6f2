"""The k largest: those of a sort are among them, whatever the values and their order."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skfairfr.losses import _fpr_penalty
from skfairfr.losses._fpr_penalty import places_of_largest


def assert_like_sort(values, k, also=None):
    """All that a sort finds at or above the k-th, never -inf, and its largest are found."""
    flat = values.reshape(-1)
    place = places_of_largest(flat, k, also)
    finite = np.isfinite(flat.numpy())
    floor = flat.sort(descending=True).values[k - 1]
    floor = floor if also is None else torch.minimum(floor, also)
    wanted = np.flatnonzero((flat >= floor).numpy() & finite)
    assert set(wanted) <= set(place.tolist()) and finite[place].all()
    assert len(set(place.tolist())) == len(place)


def drawn(*shape, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


@pytest.fixture(params=[1, 7, 64, 1 << 17])
def sampled(request, monkeypatch):
    """How many elements the guess looks at: from one to all."""
    monkeypatch.setattr(_fpr_penalty, "N_SAMPLED", request.param)
    return request.param


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_any_k(sampled, dtype):
    for k in (1, 2, 17, 300, 599, 600):
        assert_like_sort(drawn(20, 30, dtype=dtype), k)


@pytest.mark.parametrize("n_values", [1, 2, 5])
def test_ties(sampled, n_values):
    generator = torch.Generator().manual_seed(1)
    values = torch.randint(n_values, (20, 20), generator=generator).float()
    for k in (1, 3, 50, 399, 400):
        assert_like_sort(values, k)


@pytest.mark.parametrize("low", [True, False])
def test_a_stride_that_meets_the_same_elements_misleads_nobody(monkeypatch, low):
    # All that the sample sees is the largest, or the smallest.
    monkeypatch.setattr(_fpr_penalty, "N_SAMPLED", 40)
    for step in (1, 2, 3, 13, 39):
        values = drawn(40, 39, seed=step)
        values.view(-1)[::step] += -50 if low else 50
        for k in (1, 20, 100):
            assert_like_sort(values, k)


@given(
    st.lists(
        st.sampled_from([-math.inf, -2.0, -0.0, 0.0, 1.0, 1.5, 3e38]),
        min_size=1,
        max_size=40,
    ),
    st.data(),
)
def test_any_small_list(values, data):
    assert_like_sort(
        torch.tensor([values]), data.draw(st.integers(1, len(values)), label="k")
    )


@pytest.mark.parametrize("also", [-math.inf, -1.0, 0.5, 9.0])
def test_all_at_or_above_another_bound_are_found_too(sampled, also):
    for k in (1, 100, 400):
        assert_like_sort(drawn(20, 20), k, torch.tensor(also))


def test_few_more_than_asked_for_are_found():
    # The guess is of about twice as many.
    assert len(places_of_largest(drawn(512 * 3001), 1000)) < 4000
