"""The study of wrong labels, with fewer sets: cells of 100 people."""

import pytest
from scipy.stats import binom

from docs.studies.check_label_errors import BASE, KINDS, cell

SETS = 60


@pytest.mark.slow
@pytest.mark.parametrize("rate", BASE)
@pytest.mark.parametrize("kind", KINDS)
def test_corrections_and_bounds_contain_the_truth(kind, rate):
    labelled, corrected, *holds, bounds = cell(rate, 100, kind, SETS, jobs=1)
    assert bounds == 1
    holds = [share for share in holds if share == share]
    assert labelled < corrected
    if kind != "with errors":  # which the correction excludes
        assert 0.85 < corrected < 1.15
        # Chance alone leaves these limits in one of a thousand studies at most.
        assert min(holds) * SETS >= binom.ppf(0.001, SETS, 0.92)
