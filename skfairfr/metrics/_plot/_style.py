"""Shared style of displays: colours, lines, ticks, labels and legends.

Groups differ by colour (Okabe and Ito's, safe for colour-blind readers), by line and by
marker, and a grey print is readable. Only values that the data do not support have
thin dotted lines, hollow markers and hatched bands. This module uses no SimilarityROC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform
from weakref import WeakKeyDictionary

import numpy as np
from scipy.ndimage import binary_dilation

from skfairfr._core._rates import in_digits
from skfairfr._text import _words
from skfairfr._text._words import LONG_RATES, RATES, TOO_FEW, capital
from skfairfr.utils._errors import invalid, kind_of_value
from skfairfr.utils._validation import (
    check_group,
    check_line,
    check_option,
    check_sequence,
)

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", (0, (6, 2)), (0, (7, 2, 1.5, 2)), (0, (3, 1.2)), (0, (9, 2, 2, 2, 2, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
OVERALL = {"color": "black", "linestyle": "-", "marker": "", "linewidth": 2.0}

RATE_TITLES = {r: f"{capital(LONG_RATES[r])} ({RATES[r]})" for r in RATES}
NO_PAIRS = "no pairs"
INFINITE = "infinite: a group without errors"
FEW = "fewer than 30 pairs: bins with any"
CONVENTIONS = (TOO_FEW, INFINITE, FEW)
SHADED = "shaded: "
GREY = "0.35"
# Of everyone in the second system drawn on the same axes, in the third and so on.
GREYS = ("black", "0.45", "0.65")
# Axes -> number of systems drawn there, and of styles that their groups use.
_DRAWN = WeakKeyDictionary()
# Label of what is written above axes.
ABOVE = "_above"
# More bands than this hide each other, and more entries hide the curves.
MAX_BANDS = 3
MAX_ENTRIES = 5
# More bins than this are narrower than what is drawn with.
MOST_BINS = 10_000
# Ratio of the largest to the smallest value from which a log axis is used.
SPAN = 5
# Points of a letter of small text, of the handle in front of it, and of a line.
LETTER, HANDLE, LINE = 4.4, 44.0, 12.0
# Points that the label of a tick takes along the axis.
TICK = {"x": 38.0, "y": 16.0}
# Weights of red, green and blue in what a grey print shows.
LUMINANCE = (0.299, 0.587, 0.114)
REFERENCE = {"color": GREY, "linewidth": 1, "linestyle": (0, (1, 1.5))}

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, eq_default=False)
def display(cls: type[T]) -> type[T]:
    """A dataclass, also for type checkers."""
    return dataclass(kw_only=True, eq=False, repr=False)(cls)


def figure_of(ax, name="ax"):
    """The figure that axes are in, or an error of what are no axes."""
    if not callable(getattr(ax, "set", None)) or not hasattr(ax, "figure"):
        problem = "must be axes of matplotlib, as plt.subplots() gives, got "
        raise invalid(name, ax, f"{problem}{kind_of_value(ax)}.")
    return ax.figure


def begin_on(drawn, axes, n_axes, each, figsize, name="ax", **shared):
    """Give a drawing the axes given or, for None, new ones of pyplot side by side.

    Parameters
    ----------
    drawn : display
        Gets ``axes_`` and ``figure_``.
    axes : matplotlib Axes, sequence or array of them, or None
    n_axes : int
    each : str
        Purpose of each, for the message: ``"rate"``.
    figsize : tuple of two float
        Width and height of a new figure in inches.
    name : str, default="ax"
        Of the argument.
    **shared : dict
        Keywords of ``plt.subplots``.
    """
    if axes is None:
        import matplotlib.pyplot as plt

        size = {"figsize": figsize, "layout": "constrained"}
        axes = plt.subplots(1, n_axes, **size, **shared)[1]
    drawn.axes_ = tuple(np.ravel(np.asarray(axes, dtype=object)))
    if len(drawn.axes_) != n_axes:
        problem = (
            f"must contain {n_axes} axes, one for each {each}, got {len(drawn.axes_)}."
        )
        remedy = f"Make them with plt.subplots(1, {n_axes})."
        raise invalid(name, axes, problem, remedy)
    drawn.figure_, *_ = (figure_of(ax, name) for ax in drawn.axes_)


def name_of(drawn, name):
    """The name of a system: the one given, or that of the display, if it has one."""
    name = getattr(drawn, "name", None) if name is None else name
    check_line(name, "name")
    return name


def begin(drawn, ax, name=None, figsize=None):
    """First step of every drawing.

    Parameters
    ----------
    drawn : display
        Gets ``ax_`` and ``figure_``.
    ax : matplotlib Axes or None
        None makes a pyplot figure of (width, height) inches.
    name : str or None
        Of the system. If None: that of the display, if it has one.

    Returns
    -------
    ax : matplotlib Axes
    name : str or None
    earlier : tuple or None
        Limits of axes on which something was drawn.
    """
    name = name_of(drawn, name)
    begin_on(drawn, ax, 1, "display", figsize)
    ax = drawn.ax_ = drawn.axes_[0]
    return ax, name, (ax.get_xlim(), ax.get_ylim()) if ax.has_data() else None


def size_of(ax):
    """Width and height of axes in points, before the layout is known."""
    box, inches = ax.get_position(), figure_of(ax).get_size_inches()
    return 72 * box.width * inches[0], 72 * box.height * inches[1]


def line_style(index):
    """Colour, line and marker of the group at ``index``, different for up to 210 groups."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": LINES[index % len(LINES)],
        "marker": MARKERS[index % len(MARKERS)],
        "linewidth": 1.6,
        "markersize": 5.0,
    }


def given_groups(groups, known):
    """Groups to draw as a tuple, each None, for all, or one of those known."""
    groups = check_sequence(groups, "groups", "labels")
    if not groups:
        remedy = "give one at least, or None for all."
        raise invalid("groups", groups, "names none;", remedy)
    for group in groups:
        if group is not None:
            check_group(group, known, "groups")
    return groups


def styles_on(ax, groups, name=None, options=()):
    """Styles of groups on axes, unlike those of other systems drawn there before.

    Parameters
    ----------
    ax : matplotlib Axes
    groups : sequence of labels, shape (n_curves,)
        None is overall.
    name : str, default=None
        Of the system.
    options : dict, default=()
        Further keywords of every style.

    Returns
    -------
    styles : list of dict
    name : str or None
        The name given. For a second system without a name, its number.
    """
    n_systems, used = _DRAWN.get(ax, (0, 0)) if ax.has_data() else (0, 0)
    grey = {"color": GREYS[n_systems % 3], "linestyle": LINES[n_systems % len(LINES)]}
    styles = []
    for group in groups:
        styles.append(OVERALL | grey if group is None else line_style(used))
        used += group is not None
    _DRAWN[ax] = n_systems + 1, used
    if name is None and n_systems:
        name = f"system {n_systems + 1}"
    return [style | dict(options) for style in styles], name


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
    """A group's label for a row. None is everyone, and long ones lose their middle."""
    text = "everyone" if group is None else str(group)
    if len(text) > longest:
        text = f"{text[: longest - 9]}\N{HORIZONTAL ELLIPSIS}{text[-8:]}"
    return plain_text(text)


def percent(rate):
    """A rate in percent, as tables have it."""
    return _words.percent(rate).replace("\N{NO-BREAK SPACE}", " ")


def level_percent(level):
    """A level, a limit or a tick in percent, with the digits that it was given with."""
    return _words.level_percent(level).replace("\N{NO-BREAK SPACE}", " ")


def fmr(level):
    """A level of the FMR."""
    return f"FMR {level_percent(level)}"


def percent_ticks(axis, ends):
    """Ticks of a log axis of rates, in percent: no more than have room."""
    set_ticks(axis, percent_places(ends), level_percent)


def set_ticks(axis, places, write):
    """As many of the places as have room, from the largest on."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    length = size_of(axis.axes)[axis.axis_name == "y"]
    n_fit = max(2, int(length // TICK[axis.axis_name]))
    places = places[::-1][:: -(-len(places) // n_fit) or 1][::-1]
    axis.set_major_locator(FixedLocator(places))
    axis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))
    axis.set_minor_locator(NullLocator())


def percent_places(ends):
    """Places for ticks between two ends: round numbers, few where they span decades."""
    fine = (1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    by_span = {0.35: fine, 0.9: (1, 1.5, 2, 3, 5, 7), 1.7: (1, 2, 5), 2.6: (1, 3)}
    low, high = np.log10(ends)
    parts = next((p for span, p in by_span.items() if high - low < span), (1,))
    decades = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    places = np.array([part * 10.0**decade for decade in decades for part in parts])
    return places[(places >= ends[0]) & (places <= ends[1])]


def ratio_ticks(axis, ends):
    """Ticks of a log axis of ratios, as plain numbers."""
    set_ticks(axis, percent_places(ends), "{:g}".format)


def ends_about(values, log):
    """Ends of an axis about finite values, with room on both sides."""
    if values.size == 0:
        return 0.0, 1.0
    low, high = values.min(), values.max()
    if log:
        room = max((high / low) ** 0.06, 1.04)
        return low / room, high * room
    room = 0.06 * (high - low or 1.0)
    return low - room, high + room


def group_labels(groups, values, name=None, missing=NO_PAIRS):
    """Texts of legend entries, with a note where all values (n_groups, n_points) are nan."""
    named = ("everyone" if group is None else str(group) for group in groups)
    labels = [plain_text(text if name is None else f"{name}, {text}") for text in named]
    lacking = [f" ({missing})" * bool(np.isnan(of).all()) for of in values]
    return [label + note for label, note in zip(labels, lacking, strict=True)]


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


def draw_curves(drawn, x, rows, supported, styles, labels):
    """Draw curves: each in its own style, and dotted where it is not supported.

    Parameters
    ----------
    drawn : display
        Gets ``lines_`` and ``unsupported_lines_``, None where all is supported.
    x : ndarray, shape (n_points,)
    rows : ndarray, shape (n_curves, n_points)
    supported : ndarray of bool, shape (n_curves, n_points)
    styles : list of dict
        Keywords of ``ax.plot``.
    labels : list of str
    """
    ax, step = drawn.ax_, max(1, x.size // 12)
    drawn.lines_, drawn.unsupported_lines_ = [], []
    hollow = {"linestyle": ":", "linewidth": 1.3, "markerfacecolor": "white"}
    for y, solid, style, label in zip(rows, supported, styles, labels, strict=True):
        defined = np.isfinite(y)
        kept = solid & defined
        whole = {"markevery": thinned(kept, step), **style}
        # The legend has the look of what is drawn.
        whole["label"] = label if kept.any() or solid[defined].all() else ""
        drawn.lines_ += ax.plot(x, np.where(solid, y, np.nan), **whole)
        if solid[defined].all():
            drawn.unsupported_lines_.append(None)
            continue
        doubtful = style | {"markevery": thinned(~solid & defined, step)} | hollow
        doubtful["label"] = "" if whole["label"] else label
        # Of a doubtful segment, both ends.
        near = np.where(binary_dilation(~solid), y, np.nan)
        drawn.unsupported_lines_ += ax.plot(x, near, **doubtful)
        explain(ax, TOO_FEW)


def thinned(mask, step):
    """Indices of the points that get a marker: about one in ``step``."""
    return np.flatnonzero(mask)[::step].tolist()


def band_of(display, band):
    """Ends of the band of a display that ``band`` names. Two None without one."""
    if band is None:
        return None, None
    check_option(band, "band", ("pointwise", "simultaneous"))
    prefix = "" if band == "pointwise" else "band_"
    low, high = (getattr(display, prefix + end) for end in ("low", "high"))
    if low is None:
        raise invalid("band", band, "was not computed;", "make it with from_roc.")
    return low, high


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
        at = np.arange(row * every // len(lines), x.size, every)
        for dashes, kept in (("-", supported[row][at]), (":", ~supported[row][at])):
            ends = (end[at][kept] for end in edges)
            look = {"color": color, "linestyle": dashes, "alpha": 0.6}
            ax.vlines(x[at][kept], *ends, **look, linewidth=1.2)


def draw_band(ax, x, low, high, supported, color):
    """Fill between two curves, hatched where they are not supported."""
    known = np.isfinite(low) & np.isfinite(high)
    plain = {"color": color, "alpha": 0.2, "linewidth": 0}
    ax.fill_between(x, low, high, where=known & supported, **plain)
    near = known & binary_dilation(~supported)
    if near.any():
        hatched = {"facecolor": "none", "edgecolor": color, "hatch": "////"}
        ax.fill_between(x, low, high, where=near, **hatched, alpha=0.35, linewidth=0)


def explain(ax, label, **style):
    """Add the legend entry of a convention, once for each axes."""
    if label not in ax.get_legend_handles_labels()[1]:
        hollow = {"linestyle": ":", "marker": "o", "linewidth": 1.3, "markersize": 5}
        look = {"color": GREY, "markerfacecolor": "white", **hollow, **style}
        ax.plot([], [], **look, label=label)


def write_once(ax, text, place, offset, **options):
    """Write at a place of the data, in points away from it. Once for each axes."""
    if text not in [written.get_text() for written in ax.texts]:
        look = {"va": "bottom", "fontsize": "small", "textcoords": "offset points"}
        ax.annotate(text, place, offset, **look, **options)


def add_legend(ax, above=False):
    """Add a legend with long handles, which show line styles. Conventions come last.

    If it would hide much of the axes it is above them, and above what is written
    there. With ``above`` it always does.
    """
    handles, labels = ax.get_legend_handles_labels()
    last = [label in CONVENTIONS or label.startswith(SHADED) for label in labels]
    order = np.argsort(last, kind="stable")
    lines = [line for label in labels for line in label.split("\n")]
    longest, (width, height) = max(map(len, lines), default=0), size_of(ax)
    small = HANDLE + LETTER * longest
    style = {"handlelength": 3.4, "fontsize": "small", "framealpha": 0.85}
    hides = LINE * len(lines) > 0.45 * height or small > 0.7 * width
    if above or hides or len(labels) > MAX_ENTRIES:
        style |= stands_above(ax, 0.5) | {"loc": "lower center"}
        style["ncols"] = 2 if 2 * 0.8 * small < 1.3 * width else 1
        if style["ncols"] * small > 1.3 * width:
            style |= {"fontsize": "x-small", "handlelength": 2.2, "columnspacing": 1}
    ax.legend([handles[i] for i in order], [labels[i] for i in order], **style)


def stands_above(ax, place):
    """Keywords of a legend above axes, their title, and what else is written there."""
    from matplotlib.transforms import ScaledTranslation

    up = max([4, *(text.xyann[1] + LINE for text in written_above(ax))])
    title = ax.get_title()
    if title:
        up += (title.count("\n") + 1) * 1.3 * ax.title.get_fontsize()
    up = ScaledTranslation(0, up / 72, ax.figure.dpi_scale_trans)
    where = {"bbox_transform": ax.transAxes + up, "bbox_to_anchor": (place, 1)}
    return where | {"borderaxespad": 0.0}


def finish(drawn, xlabel, ylabel, above=False):
    """Label the axes of a display, add a grid and a legend, and return the display."""
    drawn.ax_.set(xlabel=xlabel, ylabel=ylabel)
    light_grid(drawn.ax_)
    add_legend(drawn.ax_, above=above)
    return drawn


def point_names(thresholds, levels, distance=False):
    """Operating points by the levels that set them, or by thresholds where those are nan."""
    word, sign = ("distance", -1) if distance else ("threshold", 1)
    return [
        fmr(level) if level == level else f"{word} {in_digits(sign * threshold)}"
        for threshold, level in zip(thresholds, levels, strict=True)
    ]


def mark(ax, places, names):
    """Draw a vertical line at each place, with its name above.

    A place outside the axes is named at their edge, with an arrow.
    """
    low, high = sorted(ax.get_xlim())
    for at, text in zip(places, names, strict=True):
        place, side = at, "center"
        if at > high:
            place, side, text = high, "right", f"{text} \N{RIGHTWARDS ARROW}"
        elif at < low:
            place, side, text = low, "left", f"\N{LEFTWARDS ARROW} {text}"
        else:
            ax.axvline(at, **REFERENCE)
        write_above(ax, text, place, ha=side, color=GREY)


def write_above(ax, text, place, ha="center", **options):
    """Write above axes at a place of the horizontal axis, over no other text there."""
    look = {"va": "bottom", "ha": ha, "fontsize": "small", **options}
    look |= {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    others = [other.get_window_extent() for other in written_above(ax)]
    written = ax.annotate(text, (place, 1), (0, 3), **look, label=ABOVE)
    while written.get_window_extent().count_overlaps(others):
        written.xyann = 0, written.xyann[1] + LINE


def written_above(ax):
    """Texts above axes."""
    return [text for text in ax.texts if text.get_label() == ABOVE]


def shade(ax, ends, label):
    """Draw a light grey band behind everything, with one legend entry."""
    label = SHADED + label
    if label in ax.get_legend_handles_labels()[1]:
        label = "_nolegend_"
    ax.axvspan(*ends, facecolor="0.93", edgecolor="0.8", zorder=-1, label=label)


def write_cell(ax, image, value, place, text, size):
    """Write on a coloured cell, readable in a grey print too."""
    dark = value > 0 and np.dot(image.to_rgba(value)[:3], LUMINANCE) < 0.5
    look = {"color": "white" if dark else "black", "ha": "center", "va": "center"}
    return ax.text(*place, text, **look, fontsize=size)


def add_colorbar(drawn, image, axes, write, label):
    """Add the scale of colours of a log scale, with round ticks, and return it."""
    bar = drawn.figure_.colorbar(image, ax=axes)
    places = percent_places(image.get_clim())
    bar.set_ticks(places, labels=list(map(write, places)))
    bar.minorticks_off()
    bar.set_label(plain_text(label))
    return bar


def scale_by_ratio(ax):
    """Use log axes with plain numbers where what is drawn is positive and spans a lot."""
    for axis in (ax.xaxis, ax.yaxis):
        ends = axis.get_data_interval()
        if 0 < SPAN * ends[0] <= ends[1]:
            ends = ends_about(ends, log=True)
            ax.set(**{f"{axis.axis_name}scale": "log", f"{axis.axis_name}lim": ends})
            ratio_ticks(axis, ends)


def light_grid(ax):
    """Draw thin grey lines behind everything."""
    ax.grid(True, which="major", color="0.88", linewidth=0.7)
    ax.set_axisbelow(True)
