"""Several scores of one transform are those of the scorers alone, and choose in searches."""

import numpy as np
import pytest

from skfairfr import metrics
from skfairfr.metrics import fairness_scores
from tests.metrics._scorers.test_one_score import AS_THEY_ARE
from tests.metrics.searches import FAR, Counting, X, Y

ENTRIES = ["bfar", "bfrr", "far_max_geomean", "frr_at_far", "frr_max_geomean"]


def test_one_transform_gives_the_scores_of_the_ready_ones():
    estimator = Counting(weight=3.0)
    scores = fairness_scores()(estimator, X, Y)
    assert estimator.n_calls == 1
    single = {
        name: getattr(metrics, f"{name}_scorer")(estimator, X, Y) for name in ENTRIES
    }
    assert scores == pytest.approx(single, rel=1e-12)


def test_several_levels_name_their_entries():
    levels = (1e-2, 2.5e-3)
    scores = fairness_scores(levels)(AS_THEY_ARE, X, Y)
    assert sorted(scores) == sorted(
        f"{n}@{t}" for n in ENTRIES for t in ("1e-2", "2.5e-3")
    )
    for text, level in zip(("1e-2", "2.5e-3"), levels, strict=True):
        alone = fairness_scores(level)(AS_THEY_ARE, X, Y)
        assert {n: scores[f"{n}@{text}"] for n in ENTRIES} == pytest.approx(alone)


def test_log_ratios_are_signed_and_add_to_bfar():
    scores = fairness_scores(FAR, ratio=("male", "female"))(AS_THEY_ARE, X, Y)
    swapped = fairness_scores(FAR, ratio=("female", "male"))(AS_THEY_ARE, X, Y)
    assert scores["far_log_ratio"] > 0
    assert swapped["far_log_ratio"] == pytest.approx(-scores["far_log_ratio"])
    assert np.exp(scores["far_log_ratio"]) == pytest.approx(-scores["bfar"])
    assert np.exp(abs(scores["frr_log_ratio"])) == pytest.approx(-scores["bfrr"])


@pytest.mark.parametrize(
    "parameters",
    [
        {"far": 0},
        {"far": (1e-3, 1e-3)},
        {"far": [[1e-3]]},
        {"ratio": ("a",)},
        {"ratio": "ab"},
    ],
)
def test_wrong_parameters_of_the_dict_are_named_at_once(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        fairness_scores(**parameters)
