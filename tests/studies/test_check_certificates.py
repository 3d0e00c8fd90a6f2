"""Certificates are seldom wrong, and least of all those of groups that leave the limit room."""

import numpy as np
import pytest

from docs.studies.check_certificates import Drawn, check
from docs.studies.coverage import Group


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["even", "uneven"])
def test_few_certificates_are_wrong(kind):
    n_sets = 200
    places, halves = check(1, 100, 5, 1e-2, kind, n_sets)
    assert (places > 1).mean() < 0.07 + 3 * np.sqrt(0.07 / n_sets)
    assert (halves > 1).mean() <= (places > 1).mean()
    assert (halves == 0).mean() > 0.2


@pytest.mark.slow
def test_half_of_the_people_have_a_quarter_of_the_pairs():
    group = Group(60, 2, 0.05, couple=0.5, log=True)
    drawn = Drawn(group, np.random.default_rng(0))
    half = drawn.half(0)
    assert half.group.people == 30
    assert max(ends.max() for ends in half.people) < 30
    assert half.place.size == pytest.approx(drawn.place.size / 4, rel=0.3)
