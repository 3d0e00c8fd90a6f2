"""With fewer resamples, what the guide says of linear maps and PLDA."""

from functools import cache

import pytest

from docs.studies.check_embedding_side import METHODS, measure

MADE_FOR = [
    ("people of one group alike", "GroupMeanRemover()"),
    ("one group shifted", "GroupMeanRemover()"),
    ("one group varies along a direction", "WithinClassWhitening()"),
    ("one group varies along a direction", "LDA, shrinkage 0.9"),
    ("one group varies along a direction", "PLDAComparator()"),
    ("people of one group alike", "PLDAComparator()"),
]
LEFT_ALONE = ("people of one group alike", "WithinClassWhitening()")


@cache
def measured(cause):
    """Of one cause, all methods that a test asks for, beside the same people."""
    names = [name for made_for, name in [*MADE_FOR, LEFT_ALONE] if made_for == cause]
    return measure(cause, 1200, 100, {name: METHODS[name] for name in names})


@pytest.mark.slow
@pytest.mark.parametrize(("cause", "name"), MADE_FOR)
def test_a_method_lowers_the_disparity_of_its_cause(cause, name):
    before, after = measured(cause)
    assert before["BFAR"].low > 1.5
    assert after[name]["BFAR"].ratio_high < 1


@pytest.mark.slow
def test_whitening_leaves_how_people_differ():
    cause, name = LEFT_ALONE
    found = measured(cause)[1][name]["BFAR"]
    assert found.ratio_low < 1 < found.ratio_high
