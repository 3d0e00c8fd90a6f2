"""Displays are names of skfairfr.metrics; ``test_imports`` has that they load nothing."""

import inspect

import pytest

import skfairfr.metrics
from skfairfr.metrics._plot._from_roc import FromEstimatorMixin
from skfairfr.utils import ArgumentError
from tests.metrics._plot.drawn import axes

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


@pytest.mark.parametrize("name", DISPLAYS)
def test_a_system_s_name_is_a_text_that_can_be_drawn(name):
    """matplotlib fails on half a character, and only where a legend is laid out."""
    cls = getattr(skfairfr.metrics, name)
    if "name" not in inspect.signature(cls.plot).parameters:
        pytest.skip("of several systems, or of none")
    others = set(inspect.signature(cls).parameters) - {"name"}
    display = cls(**dict.fromkeys(others, ()))
    for wrong in ("a\ud800", 3, ["a"]):
        with pytest.raises(ArgumentError, match=r"name .*text") as found:
            display.plot(axes(), name=wrong)
        assert found.value.argument == "name"


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchDisplay"):
        skfairfr.metrics.NoSuchDisplay  # noqa: B018
