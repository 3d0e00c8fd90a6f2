"""The drawn rates are those of the estimates, limits included."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from skfairfr.metrics import GroupRatesDisplay
from skfairfr.metrics._plot import _style
from tests.metrics._plot.drawn import fitted


def axes(n=2):
    return Figure(layout="constrained").subplots(1, n, squeeze=False)[0]


def from_roc(roc=None, **options):
    options = {"ax": axes(), **options}
    return GroupRatesDisplay.from_roc(roc or fitted(), **options)


def arrays(far, frr, supported=True, **options):
    """A display of rates (n_levels, n_groups), not drawn."""
    columns = {}
    for name, values in (("far", far), ("frr", frr)):
        values = np.array(values, dtype=float)
        columns[name] = values
        columns[f"{name}_low"], columns[f"{name}_high"] = values / 2, values * 2
        columns[f"{name}_supported"] = np.full(values.shape, supported)
    n_levels, n_groups = np.shape(far)
    return GroupRatesDisplay(
        groups=tuple(range(n_groups)),
        names=tuple(f"level {i}" for i in range(n_levels)),
        **columns,
        **options,
    )


@pytest.mark.parametrize(
    "question", [{"far": [0.1, 0.05]}, {"threshold": 0.5}, {"threshold": [0.4, 0.6]}]
)
def test_stored_arrays_are_those_of_the_estimates(question):
    display = from_roc(**question)
    assert display.groups == (None, "female", "male")
    for rate in ("far", "frr"):
        for column, group in enumerate(display.groups):
            found = fitted().estimate(
                **{k: np.atleast_1d(v) for k, v in question.items()},
                rate=rate,
                group=group,
            )
            assert np.array_equal(getattr(display, rate)[:, column], found.value)
            low = getattr(display, f"{rate}_low")[:, column]
            if rate == "far" and group is None and "far" in question:
                # It is set, and has no interval.
                assert np.isnan(low).all()
            else:
                assert np.array_equal(low, found.low)


def test_points_lie_at_the_rates():
    display = arrays([[0.01, 0.02]], [[0.1, 0.3]]).plot(axes())
    for rate in ("far", "frr"):
        (points,) = display.points_[rate]
        assert points.get_xdata().tolist() == getattr(display, rate)[0].tolist()
    for ax in display.axes_:
        assert ax.get_xscale() == "log"
        assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1"]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"far": 0.05}, {"far": [0.05], "frr": []}),
        ({"frr": [0.2, np.nan]}, {"far": [], "frr": [0.2]}),
        ({"far": [0.1, 0.2], "frr": 0.5}, {"far": [0.1, 0.2], "frr": [0.5]}),
        (None, {"far": [], "frr": []}),
    ],
)
def test_limits_are_lines_within_the_axes(limits, expected):
    display = arrays([[0.01, 0.02]] * 2, [[0.1, 0.3]] * 2, limits=limits).plot(axes())
    for ax, rate in zip(display.axes_, ("far", "frr"), strict=True):
        places = [line.get_xdata()[0] for line in display.limits_[rate]]
        assert places == expected[rate]
        assert all(ax.get_xlim()[0] < place < ax.get_xlim()[1] for place in places)
        texts = [t.get_text() for t in ax.texts if t.get_text().startswith("limit")]
        assert len(texts) == len(expected[rate])


def test_no_limit_runs_through_a_number():
    """Pixels of a limit that crosses a value: none has its colour within the text."""
    display = arrays([[0.1]], [[0.1]], limits={"far": 0.1}).plot(axes())
    figure = display.figure_
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (value,) = (t for t in display.axes_[0].texts if t.get_text() == "10.0 %")
    box = value.get_window_extent()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, :3].astype(int)
    inside = pixels[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)]
    # The limit is red, the number and what is behind it are grey.
    assert np.ptp(pixels, axis=2).max() > 100 > np.ptp(inside, axis=2).max()


def test_rates_without_errors_and_without_pairs_are_told_apart():
    display = arrays([[0.0, np.nan, 0.1]], [[0.1, 0.2, 0.3]]).plot(axes())
    texts = [t.get_text() for t in display.axes_[0].texts]
    assert texts == ["0 %", _style.NO_PAIRS, "10.0 %"]
    markers = [line.get_marker() for line in display.axes_[0].lines]
    assert "<" in markers


def test_what_is_not_supported_is_hollow_and_explained():
    display = arrays([[0.1]], [[0.1]], supported=False).plot(axes())
    labels = [t.get_text() for t in display.axes_[0].get_legend().get_texts()]
    assert _style.TOO_FEW in labels
    assert arrays([[0.1]], [[0.1]]).plot(axes()).axes_[0].get_legend() is None


def test_one_rate_takes_one_axes():
    display = arrays([[0.1]], [[0.2]]).plot(axes(1), rates=("frr",))
    assert list(display.points_) == ["frr"]
    assert "FNMR" in display.axes_[0].get_xlabel()


def test_the_title_says_what_is_drawn():
    display = from_roc(far=0.05, name="encoder $a$ and $b$")
    title = display.figure_.get_suptitle()
    assert title == r"encoder \$a\$ and \$b\$, FMR 5 %, 95 % intervals"


def test_bad_arguments_name_a_remedy():
    with pytest.raises(ValueError, match=r"2 axes, one for each rate; got 1\. Make"):
        arrays([[0.1]], [[0.2]]).plot(axes(1))
    with pytest.raises(
        ValueError, match=r"limits must be a dict with the largest 'far'.*'fmr'"
    ):
        arrays([[0.1]], [[0.2]], limits={"fmr": 0.1}).plot(axes())
