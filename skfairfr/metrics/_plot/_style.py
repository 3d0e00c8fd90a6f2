"""Colours, lines and legends that all displays share.

Groups differ by colour (Okabe and Ito's, safe for colour-blind readers), by line and by
marker, so that a grey print is readable. Values that the data do not support have thin
dotted lines, hollow markers and hatched bands. This module uses no SimilarityROC.
"""

from decimal import Decimal
from weakref import WeakKeyDictionary

import numpy as np

from skfairfr._core._rates import in_digits
from skfairfr.utils._errors import Argument, ArgumentError, kind_of_value
from skfairfr.utils._validation import check_line, check_option, check_sequence

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", (0, (6, 2)), (0, (7, 2, 1.5, 2)), (0, (3, 1.2)), (0, (9, 2, 2, 2, 2, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
OVERALL = {"color": "black", "linestyle": "-", "marker": "", "linewidth": 2.0}

RATE_LABELS = {"far": "FAR (FMR)", "frr": "FRR (FNMR)"}
RATE_TITLES = {
    "far": "False acceptance rate (FAR, FMR)",
    "frr": "False rejection rate (FRR, FNMR)",
}
NOT_SUPPORTED = "not supported by the data"
NO_PAIRS = "no pairs"
INFINITE = "infinite: a group without errors"
FEW = "fewer than 30 pairs: bins with any"
CONVENTIONS = (NOT_SUPPORTED, INFINITE, FEW)
SHADED = "shaded: "
GREY = "0.35"
# Of everyone in the second system drawn on the same axes, in the third and so on.
GREYS = ("black", "0.45", "0.65")
# Axes -> number of systems drawn there, and of styles that their groups use.
_DRAWN = WeakKeyDictionary()
# More bands than this hide each other, and more entries hide the curves.
MAX_BANDS = 3
MAX_ENTRIES = 5
# More bins than this are narrower than what is drawn with.
MOST_BINS = 10_000
# Ratio of the largest to the smallest value from which a log axis is used.
SPAN = 5


def figure_of(ax, name="ax"):
    """The figure that axes are in; an error of what are no axes."""
    if not callable(getattr(ax, "set", None)) or not hasattr(ax, "figure"):
        raise ArgumentError(
            Argument(name),
            f" must be axes of matplotlib, as plt.subplots() gives; got {kind_of_value(ax)}.",
            value=ax,
        )
    return ax.figure


def several_axes(given, n_axes, name, each):
    """As many axes as there is something to draw on, as a tuple.

    Parameters
    ----------
    given : matplotlib Axes, or sequence or array of them
    n_axes : int
    name : str
        Of the argument.
    each : str
        What every one of them is for, for the message: ``"rate"``.

    Raises
    ------
    ArgumentError
        If there are not as many, or one of them is none.
    """
    try:
        axes = tuple(np.ravel(np.asarray(given, dtype=object)))
    except ValueError:  # of arrays of several shapes
        axes = (given,)
    if len(axes) != n_axes:
        raise ArgumentError(
            Argument(name),
            f" must hold {n_axes} axes, one for each {each}; got {len(axes)}.",
            remedy=f"Make them with plt.subplots(1, {n_axes}).",
            value=given,
        )
    for ax in axes:
        figure_of(ax, name)
    return axes


def line_style(index):
    """Colour, line and marker of the group at ``index``; no two of 210 are alike."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": LINES[index % len(LINES)],
        "marker": MARKERS[index % len(MARKERS)],
        "linewidth": 1.6,
        "markersize": 5.0,
    }


def group_styles(groups):
    """A style for each group; None, which stands for overall, is black and plain."""
    index, styles = 0, []
    for group in groups:
        styles.append(OVERALL if group is None else line_style(index))
        index += group is not None
    return styles


def name_of(display, name):
    """The name of a display's system: the one given, or the stored one; None without.

    Raises
    ------
    ArgumentError
        If it is no text that can be drawn.
    """
    name = display.name if name is None else name
    check_line(name, "name")
    return name


def given_groups(groups):
    """Groups to draw as a tuple, None among them standing for all.

    Raises
    ------
    ArgumentError
        If they are no sequence, or an empty one.
    """
    groups = check_sequence(groups, "groups", "labels")
    if not groups:
        raise ArgumentError(
            Argument("groups"),
            " names none;",
            remedy="give one at least, or None for all.",
            value=groups,
        )
    return groups


def styles_on(ax, groups, name=None):
    """Styles of groups on axes, unlike those of other systems drawn there before.

    Parameters
    ----------
    ax : matplotlib Axes
    groups : sequence of labels, shape (n_curves,)
        None is overall.
    name : str, default=None
        Of the system.

    Returns
    -------
    styles : list of dict
    name : str or None
        The name given; of a second system without a name, its number.
    """
    n_systems, used = _DRAWN.get(ax, (0, 0)) if ax.has_data() else (0, 0)
    styles = []
    for group in groups:
        if group is None:
            grey = GREYS[n_systems % len(GREYS)]
            line = LINES[n_systems % len(LINES)]
            styles.append(OVERALL | {"color": grey, "linestyle": line})
            continue
        styles.append(line_style(used))
        used += 1
    _DRAWN[ax] = n_systems + 1, used
    if name is None and n_systems:
        name = f"system {n_systems + 1}"
    return styles, name


def as_distances(ax):
    """Write minus the similarities of the horizontal axis, as distances from the left."""
    from matplotlib.ticker import FuncFormatter

    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{0.0 - value:.4g}"))
    low, high = sorted(ax.get_xlim())
    ax.set_xlim(high, low)


def plain_text(label):
    """A label as text: no formula, and no underscore in front, which hides it in legends."""
    text = str(label).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def row_label(group, longest=24):
    """A group's label for a row; None is everyone, and long ones lose their middle."""
    text = "everyone" if group is None else str(group)
    if len(text) > longest:
        text = f"{text[: longest - 9]}\N{HORIZONTAL ELLIPSIS}{text[-8:]}"
    return plain_text(text)


def percent(rate, n_digits=3):
    """A rate in percent, with some significant digits and no exponent."""
    # Through decimals: as a float, 65.9 has more digits than it was rounded to.
    rounded = Decimal(f"{100 * rate:.{n_digits - 1}e}").normalize()
    return f"{rounded:f} %"


def percent_ticks(axis, ends):
    """Ticks of a log axis of rates, in percent: few where it spans decades."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(percent_places(ends)))
    axis.set_major_formatter(FuncFormatter(lambda rate, _: percent(rate)))
    axis.set_minor_locator(NullLocator())


def percent_places(ends):
    """Rates for ticks between two ends: round numbers, few where they span decades."""
    decades = np.arange(np.floor(np.log10(ends[0])), np.ceil(np.log10(ends[1])) + 1)
    span = np.log10(ends[1] / ends[0])
    parts = (1, 2, 5) if span < 1.7 else (1, 3) if span < 2.6 else (1,)
    places = np.array([part * 10.0**decade for decade in decades for part in parts])
    return places[(places >= ends[0]) & (places <= ends[1])]


def ends_of_ratios(values):
    """Ends of a log axis about positive ratios and 1, with room on both sides."""
    room = max((max(values.max(), 1) / min(values.min(), 1)) ** 0.06, 1.04)
    return min(values.min(), 1) / room, max(values.max(), 1) * room


def ratio_ticks(axis, ends):
    """Ticks of a log axis of ratios, as plain numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    span = np.log10(ends[1] / ends[0])
    fine = (1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    parts = fine if span < 0.35 else (1, 1.5, 2, 3, 5, 7) if span < 0.9 else (1, 2, 5)
    parts = (1,) if span > 2.5 else parts
    places = np.array(
        [part * 10.0**decade for decade in range(-4, 5) for part in parts]
    )
    inside = places[(places >= ends[0]) & (places <= ends[1])]
    axis.set_major_locator(FixedLocator(inside))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def group_label(group, values, name=None, missing=NO_PAIRS):
    """Text of a legend entry, with a note if there is nothing to draw."""
    label = "overall" if group is None else str(group)
    if name is not None:
        label = f"{name}, {label}"
    label = plain_text(label)
    return f"{label} ({missing})" if np.isnan(values).all() else label


def get_axes(ax, figsize=None):
    """The axes given, or those of a new pyplot figure of (width, height) inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=figsize, layout="constrained")[1]


def earlier_limits(ax):
    """Limits of axes that something was drawn on; None for empty axes."""
    return (ax.get_xlim(), ax.get_ylim()) if ax.has_data() else None


def set_limits(ax, earlier, xlim, ylim):
    """Set limits, no narrower than those of an earlier display on these axes."""
    for new, old, set_limit in zip(
        (xlim, ylim), earlier or (xlim, ylim), (ax.set_xlim, ax.set_ylim), strict=True
    ):
        low, high = min(new[0], old[0]), max(new[1], old[1])
        if low < high:  # of a single value, matplotlib chooses
            set_limit(low, high)


def smallest_positive(*arrays):
    """Half the smallest positive finite number, where zeros are drawn on a log axis."""
    values = np.concatenate([np.ravel(array) for array in arrays])
    values = values[np.isfinite(values) & (values > 0)]
    return values.min() / 2 if values.size else 1e-6


def draw_curve(ax, x, y, supported, style, label):
    """Draw one curve: solid in its own style, and dotted where it is not supported.

    Parameters
    ----------
    ax : matplotlib Axes
    x, y : ndarrays, shape (n_points,)
    supported : ndarray of bool, shape (n_points,)
    style : dict
        Keywords of ``ax.plot``.
    label : str

    Returns
    -------
    line, doubtful : matplotlib Line2D, Line2D or None
        The supported part, and the other; None where all is supported.
    """
    defined = np.isfinite(y)
    step = max(1, x.size // 12)
    (line,) = ax.plot(
        x,
        np.where(supported, y, np.nan),
        **{"markevery": thinned(supported & defined, step), **style},
        label=label,
    )
    if supported[defined].all():
        return line, None
    near = with_neighbours(~supported)
    hollow = {"linestyle": ":", "linewidth": 1.3, "markerfacecolor": "white"}
    (doubtful,) = ax.plot(
        x,
        np.where(near, y, np.nan),
        **{**style, "markevery": thinned(~supported & defined, step), **hollow},
    )
    explain(ax, NOT_SUPPORTED)
    return line, doubtful


def thinned(mask, step):
    """Indices of the points that get a marker: about one in ``step``."""
    return np.flatnonzero(mask)[::step].tolist()


def with_neighbours(doubtful):
    """Doubtful points and their neighbours: the ends of every doubtful segment."""
    near = doubtful.copy()
    near[1:] |= doubtful[:-1]
    near[:-1] |= doubtful[1:]
    return near


def band_of(display, band):
    """Ends of the band of a display that ``band`` names; two None without one."""
    if band is None:
        return None, None
    bands = {
        "pointwise": (display.low, display.high),
        "simultaneous": (display.band_low, display.band_high),
    }
    check_option(band, "band", tuple(bands))
    return bands[band]


def draw_bands(ax, x, low, high, supported, lines):
    """Draw the interval of every line: as bands, or as bars where bands would overlap.

    Parameters
    ----------
    ax : matplotlib Axes
    x : ndarray, shape (n_points,)
    low, high : ndarrays, shape (n_lines, n_points)
    supported : ndarray of bool, shape (n_lines, n_points)
    lines : list of matplotlib Line2D
    """
    every = max(len(lines), x.size // 6)
    for row, line in enumerate(lines):
        edges, color = (low[row], high[row]), line.get_color()
        if len(lines) <= MAX_BANDS:
            draw_band(ax, x, *edges, supported[row], color)
            continue
        at = slice(row * every // len(lines), None, every)
        ends = (end[at] for end in edges)
        ax.vlines(x[at], *ends, color=color, linewidth=1.2, alpha=0.6)


def draw_band(ax, x, low, high, supported, color):
    """Fill between two curves, hatched where they are not supported."""
    known = np.isfinite(low) & np.isfinite(high)
    ax.fill_between(
        x, low, high, where=known & supported, color=color, alpha=0.2, linewidth=0
    )
    near = with_neighbours(~supported)
    if (known & near).any():
        ax.fill_between(
            x,
            low,
            high,
            where=known & near,
            facecolor="none",
            edgecolor=color,
            alpha=0.35,
            hatch="////",
            linewidth=0,
        )


def explain(ax, label, **style):
    """Add the legend entry of a convention, once for each axes."""
    if label in ax.get_legend_handles_labels()[1]:
        return
    hollow = {"linestyle": ":", "marker": "o", "linewidth": 1.3, "markersize": 5}
    ax.plot(
        [], [], color=GREY, **{**hollow, **style}, markerfacecolor="white", label=label
    )


def add_legend(ax, n_above=0, above=False):
    """Add a legend with long handles, which show line styles; conventions come last.

    A long legend stands above the axes, and above ``n_above`` lines of text there; any
    does with ``above``.
    """
    handles, labels = ax.get_legend_handles_labels()
    last = [label in CONVENTIONS or label.startswith(SHADED) for label in labels]
    order = np.argsort(last, kind="stable")
    style = {"handlelength": 3.4, "fontsize": "small", "framealpha": 0.85}
    if above or len(labels) > MAX_ENTRIES:
        style |= {"loc": "lower center", "ncols": 2}
        style["bbox_to_anchor"] = (0.5, 1.03 + 0.05 * n_above)
    ax.legend([handles[i] for i in order], [labels[i] for i in order], **style)


def mark_thresholds(ax, thresholds, levels, distance=False):
    """Draw a vertical line at each threshold, with the FAR level that set it above."""
    mark(ax, thresholds, point_names(thresholds, levels, distance))


def point_names(thresholds, levels, distance=False):
    """Operating points by the levels that set them, or by thresholds where those are nan."""
    word, sign = ("distance", -1) if distance else ("threshold", 1)
    return [
        f"{word} {in_digits(sign * threshold)}"
        if np.isnan(level)
        else f"FAR = {level:g}"
        for threshold, level in zip(thresholds, levels, strict=True)
    ]


def mark(ax, places, names):
    """Draw a vertical line at each place, with its name above.

    A place outside the axes is named at their edge, with an arrow.
    """
    low, high = sorted(ax.get_xlim())
    for row, (at, text) in enumerate(zip(places, names, strict=True)):
        place, side = at, "center"
        if at > high:
            place, side, text = high, "right", f"{text} \N{RIGHTWARDS ARROW}"
        elif at < low:
            place, side, text = low, "left", f"\N{LEFTWARDS ARROW} {text}"
        else:
            ax.axvline(at, color=GREY, linewidth=1, linestyle=(0, (1, 1.5)))
        ax.annotate(
            text,
            (place, 1),
            (0, 3 + 11 * (row % 2)),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha=side,
            va="bottom",
            fontsize="small",
            color=GREY,
        )


def shade(ax, ends, label):
    """Draw a light grey band behind everything, with one legend entry."""
    label = SHADED + label
    if label in ax.get_legend_handles_labels()[1]:
        label = "_nolegend_"
    ax.axvspan(*ends, facecolor="0.93", edgecolor="0.8", zorder=-1, label=label)


def luminance(rgba):
    """Perceived lightness of a colour in [0, 1], as a grey print shows it."""
    return float(np.dot(rgba[:3], (0.299, 0.587, 0.114)))


def scale_by_ratio(axis, values):
    """Use a log axis with plain numbers if values are positive and span a wide range.

    Parameters
    ----------
    axis : matplotlib Axis
    values : ndarray, shape (n_values,)
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0 or finite.min() <= 0 or finite.max() < SPAN * finite.min():
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def light_grid(ax):
    """Draw thin grey lines behind everything."""
    ax.grid(True, which="major", color="0.88", linewidth=0.7)
    ax.set_axisbelow(True)
