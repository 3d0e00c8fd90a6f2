"""Displays are names of skfairfr.metrics, and cost no matplotlib until they draw."""

import subprocess
import sys

import pytest

import skfairfr.metrics
from skfairfr.metrics._plot._from_roc import FromEstimatorMixin

DISPLAYS = [name for name in skfairfr.metrics.__all__ if name.endswith("Display")]


@pytest.mark.parametrize("name", DISPLAYS)
def test_display_is_listed_and_resolved(name):
    assert name in dir(skfairfr.metrics)
    assert getattr(skfairfr.metrics, name).__name__ == name


@pytest.mark.parametrize(
    "name",
    ["DisparityCurve", "ErrorRate", "GroupFAR", "ScoreHistogram", "SimilarityROC"],
)
def test_display_of_a_measurement_is_built_from_an_estimator_too(name):
    display = getattr(skfairfr.metrics, f"{name}Display")
    assert issubclass(display, FromEstimatorMixin)


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchDisplay"):
        skfairfr.metrics.NoSuchDisplay  # noqa: B018


def test_importing_displays_loads_no_matplotlib():
    code = f"from skfairfr.metrics import {', '.join(DISPLAYS)}\nimport sys"
    check = f"{code}\nsys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0
