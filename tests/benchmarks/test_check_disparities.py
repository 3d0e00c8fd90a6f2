"""A small version of what the guide says of intervals of disparities and of the matrix."""

import pytest

from tests.benchmarks import check_disparities as study


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A group has no error")
def test_equal_groups_are_within_the_interval_of_every_disparity():
    held = study.check("4 x 50", n_sets=4)
    for (rate, _), (replicates, wilson) in held.items():
        assert wilson.mean() > 0.7
        # Of equal groups replicates exclude what is true of them, the neutral value.
        assert rate == "cells" or replicates.max() < 0.5


@pytest.mark.slow
def test_the_truth_is_that_of_many_people():
    values, matrix = study.truth("2 x 60, differ", n_identities=600)
    assert values["far", "max_min"] == pytest.approx(matrix_ratio(matrix))
    assert (values["far", "max_min"] > 1.1).all()
    equal, _ = study.truth("2 x 100", n_identities=60)
    assert set(equal["frr", "gini"]) == {0.0} and set(equal["far", "max_min"]) == {1.0}


def matrix_ratio(matrix):
    return [far.diagonal().max() / far.diagonal().min() for far in matrix]
