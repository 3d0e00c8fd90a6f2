"""Data of the planned size answer about as often as the plan promises."""

import numpy as np
import pytest

from docs.studies.check_plans import CASES, check


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_plan_keeps_its_word(name):
    n_sets = 200
    _, shares = check(CASES[name], n_sets)
    for share in shares.values():
        assert share > 0.75 - 3 * np.sqrt(0.16 / n_sets)
