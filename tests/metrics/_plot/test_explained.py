"""The curve that is drawn is the one that was computed."""

import numpy as np
import pytest

from skfairfr.metrics import RateCurveDisplay, explain_errors
from tests.metrics._plot.drawn import axes, legend_texts


def explained(curves=("age",)):
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(600), 5)
    age, sex = rng.uniform(20, 70, 600)[person], np.where(person % 2, "f", "m")
    error = rng.random(person.size) < age / 300
    return explain_errors(
        error, person, {"sex": sex}, covariates={"age": age}, curves=curves
    )


def test_curve_limit_and_both_bands_are_drawn():
    found = explained()
    (curve,) = found.curves
    display = RateCurveDisplay.from_explanation(
        found, "age", ax=axes(), limit=0.2, rate_title="FRR", name="A"
    )
    assert np.array_equal(display.lines_[0].get_ydata(), curve.rate)
    assert legend_texts(display.ax_) == ["A", "limit"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("age", "FRR")
    inner, outer = display.ax_.collections
    assert inner.get_datalim(display.ax_.transData).y1 == curve.high.max()
    assert outer.get_datalim(display.ax_.transData).y1 == curve.band_high.max()
    assert (curve.band_low < curve.low).all() and (curve.high < curve.band_high).all()


def test_unknown_curve_is_named():
    with pytest.raises(ValueError, match="'quality' has no curve"):
        RateCurveDisplay.from_explanation(explained(), "quality")
    with pytest.raises(ValueError, match="has no curve; name the covariate"):
        RateCurveDisplay.from_explanation(explained(()))
