"""A small version of what the guide says of intervals of disparities and of the matrix."""

import pytest

from docs.studies import check_disparities as study


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A group has no error")
def test_equal_groups_are_within_the_interval_of_every_disparity():
    held = study.check("4 x 50", n_sets=4)
    for (rate, _), (replicates, wilson) in held.items():
        assert wilson.mean() > 0.7
        # Of equal groups replicates exclude what is true of them, the neutral value.
        assert rate == "cells" or replicates.max() < 0.5
