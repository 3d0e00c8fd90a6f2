"""Names that displays are given; ``test_imports`` has the displays' own."""

import inspect

import pytest

import skfairfr.metrics
from skfairfr.utils import ArgumentError
from tests.metrics._plot.drawn import axes

DISPLAYS = [name for name in skfairfr.metrics.__all__ if name.endswith("Display")]


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
