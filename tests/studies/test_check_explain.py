"""The study of explain_errors, with fewer sets: cells of 100 people."""

import pytest
from scipy.stats import binom

from docs.studies.check_explain import EFFECTS, cell

SETS = 60


@pytest.mark.slow
@pytest.mark.parametrize("impostors", [False, True])
@pytest.mark.parametrize("cause", EFFECTS)
def test_differences_at_equal_quality_are_those_of_the_population(cause, impostors):
    found, holds, width, raw, truth = cell(100, impostors, EFFECTS[cause], SETS, jobs=1)
    # Chance alone leaves these limits in one of a thousand studies at most.
    assert holds * SETS >= binom.ppf(0.001, SETS, 0.92)
    assert raw > 0.3
    if cause == "quality":
        assert truth == pytest.approx(1)
        assert found * SETS <= binom.ppf(0.999, SETS, 0.06)
    else:
        assert found > 0.4
        assert width < 4
