"""Figures of a page: SVG, narrow enough to be read on a telephone.

Every function gives a list of (svg, text in its place).
"""

from io import StringIO
from math import ceil

import numpy as np

from skfairfr.metrics import GroupRatesDisplay
from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._group_rates import panel_height
from skfairfr.utils._words import printable

# Inches: at 72 points each, 10-point text is 12 pixels on a screen of 390.
WIDTH = 4.1
# More curves than this on one axes cannot be told apart; each has axes of its own.
MAX_CURVES = 6
# Characters of a legend's entry, of which two fit into the width.
LONG_NAME = 16
TEXT = {"svg.fonttype": "none", "font.size": 10, "svg.hashsalt": "skfairfr"}
FMR, FNMR = "False match rate (FMR)", "False non-match rate (FNMR)"
ABOVE = {"frameon": False, "fontsize": "small"}


def rates_display(levels, names, limits, confidence_level):
    """A GroupRatesDisplay of levels, not drawn; arguments are those of ``group_rates``."""
    columns = {}
    for rate in ("far", "frr"):
        found = [[getattr(row, rate) for row in level.rates] for level in levels]
        for field, suffix in (("value", ""), ("low", "_low"), ("high", "_high")):
            columns[rate + suffix] = _column(found, field, float)
        columns[f"{rate}_supported"] = _column(found, "supported", bool)
    return GroupRatesDisplay(
        groups=_printable(row.group for row in levels[0].rates),
        **columns,
        names=tuple(names),
        limits=limits,
        confidence_level=confidence_level,
    )


def _printable(groups):
    """Labels that a font has glyphs for; None is everyone."""
    return tuple(None if g is None else printable(g) for g in groups)


def group_rates(levels, names, limits, confidence_level):
    """The FMR and the FNMR of every group at every level, an SVG for each.

    Parameters
    ----------
    levels : tuple of Level
    names : sequence of str, shape (n_levels,)
        Of the levels.
    limits : dict of str -> ndarray, shape (n_levels,)
        Of each rate; nan where there is none.
    confidence_level : float in (0, 1)

    Returns
    -------
    figures : list of tuple
    """
    display = rates_display(levels, names, limits, confidence_level)
    groups = display.groups
    # Two long names do not fit beside each other.
    long_names = len(names) > 1 and max(map(len, names)) > LONG_NAME
    height = panel_height(len(groups), len(levels)) + 0.2 * long_names * len(names)
    # Beside long labels the axes are too narrow for the title in one line.
    gap = "\n" if max(map(_length, groups)) > 12 else " "

    def draw(figure, rate, title):
        display.plot([figure.subplots()], rates=(rate,))
        (ax,) = display.axes_
        ax.set_xlabel(f"{title},{gap}log scale")
        if long_names:
            entries = ax.get_legend_handles_labels()
            ax.get_legend().remove()
            figure.legend(*entries, loc="outside upper center", **ABOVE)

    return [
        _svg(
            lambda figure, r=rate, t=title: draw(figure, r, t),
            height + 0.35,
            f"{title} of every group, with intervals",
        )
        for rate, title in (("far", FMR), ("frr", FNMR))
    ]


def _column(found, field, kind):
    return np.array([[getattr(f, field) for f in row] for row in found], dtype=kind)


def det(curves, levels, names):
    """Detection error tradeoff of every group, with the operating points marked.

    Parameters
    ----------
    curves : Curves
    levels : tuple of Level
    names : sequence of str, shape (n_levels,)

    Returns
    -------
    figures : list of tuple
    """
    groups = _printable(curves.groups)
    styles = _style.group_styles(groups)
    ends = [_ends(values) for values in (curves.far, curves.frr)]
    several = len(groups) > MAX_CURVES
    about = f"{FNMR} over {FMR} of every group; points mark {', '.join(names)}"

    def draw_row(ax, row, style):
        label = _style.row_label(groups[row])
        _draw_curve(ax, curves, row, style | {"marker": ""}, label)
        for place, level in enumerate(levels):
            marker = _style.MARKERS[place % len(_style.MARKERS)]
            _mark_points(ax, [level.rates[row]], style["color"], marker)

    def draw_panel(ax, panel):
        # Each panel has one group: its colour need not tell it from others.
        grey, blue = (
            {"color": c, "linestyle": "-"} for c in ("0.55", _style.COLOURS[0])
        )
        draw_row(ax, 0, grey | {"linewidth": 1.4})
        draw_row(ax, panel + 1, blue)
        return _is_drawn(curves, panel + 1)

    def draw_all(figure):
        ax = figure.subplots()
        for row, style in enumerate(styles):
            draw_row(ax, row, style | ({} if row else {"linewidth": 1.4}))
        _set_det_axes(ax, ends)
        ax.set(xlabel=FMR, ylabel=FNMR)
        n_columns = 3 if max(map(_length, groups)) < 9 else 2
        place = {"loc": "lower center", "bbox_to_anchor": (0.45, 1.0)}
        ax.legend(**place, ncols=n_columns, handlelength=2.6, **ABOVE)

    if several:
        return [_panels(groups[1:], draw_panel, ends, about)]
    return [_svg(draw_all, 3.9, about)]


def det_of_systems(curves, levels, names):
    """Detection error tradeoff of several systems, a panel for each group.

    Parameters
    ----------
    curves : sequence of Curves, shape (n_systems,)
        Of the same groups.
    levels : sequence of tuple of Level, shape (n_systems,)
    names : sequence of str, shape (n_systems,)

    Returns
    -------
    figures : list of tuple
    """
    styles = [_style.line_style(row) for row in range(len(names))]
    ends = [
        _ends(np.concatenate([np.ravel(getattr(one, rate)) for one in curves]))
        for rate in ("far", "frr")
    ]

    def draw_panel(ax, row):
        for one, of_system, name, style in zip(
            curves, levels, names, styles, strict=True
        ):
            _draw_curve(ax, one, row, style | {"marker": ""}, name)
            rates = [level.rates[row] for level in of_system]
            _mark_points(ax, rates, style["color"], style["marker"])
        return any(_is_drawn(one, row) for one in curves)

    about = f"{FNMR} over {FMR} of every group under {', '.join(names)}"
    return [_panels(_printable(curves[0].groups), draw_panel, ends, about, names)]


def _panels(groups, draw_panel, ends, about, names=()):
    """A panel for each group, two in a row; line and marker of each name above all."""
    n_rows = ceil(len(groups) / 2)

    def draw(figure):
        from matplotlib.lines import Line2D

        shape = {"squeeze": False, "sharex": True, "sharey": True}
        axes = figure.subplots(n_rows, 2, **shape).ravel()
        for panel, (ax, group) in enumerate(zip(axes, groups, strict=False)):
            if not draw_panel(ax, panel):
                where = {"transform": ax.transAxes, "ha": "center"}
                ax.text(0.5, 0.08, "no curve", fontsize="small", **where)
            _set_det_axes(ax, ends)
            ax.set_title(_style.row_label(group, 20), fontsize="small")
            ax.tick_params(labelsize="x-small", labelbottom=panel + 2 >= len(groups))
        for ax in axes[len(groups) :]:
            ax.set_visible(False)
        # All panels share their ticks; the largest rates have the shortest labels.
        ticks = axes[0].get_xticks()
        axes[0].set_xticks(ticks[::-1][:: ceil(len(ticks) / 3)])
        figure.supxlabel(FMR, fontsize="medium")
        figure.supylabel(FNMR, fontsize="medium")
        if names:
            lines = [
                Line2D([], [], **_style.line_style(row)) for row in range(len(names))
            ]
            texts = [_style.plain_text(name) for name in names]
            place = {"loc": "outside upper center", "handlelength": 3.4}
            figure.legend(lines, texts, **place, **ABOVE)

    return _svg(draw, 0.8 + 0.2 * len(names) + 1.75 * n_rows, about)


def _is_drawn(curves, row):
    """Whether a group has a point with both rates above zero."""
    return bool(((curves.far[row] > 0) & (curves.frr[row] > 0)).any())


def _draw_curve(ax, curves, row, style, label):
    """The curve of a group where both rates are above zero."""
    x, y = (np.where(v > 0, v, np.nan) for v in (curves.far[row], curves.frr[row]))
    ax.plot(x, y, **style, label=label)


def _mark_points(ax, rates, color, marker):
    """Operating points of a group."""
    points = np.array([(r.far.value, r.frr.value) for r in rates])
    x, y = points[(points > 0).all(axis=1)].T
    style = {"color": color, "marker": marker, "markersize": 6.5, "zorder": 4}
    ax.plot(x, y, linestyle="none", markeredgecolor="white", **style)


def _set_det_axes(ax, ends):
    ax.set(xscale="log", yscale="log", xlim=ends[0], ylim=ends[1])
    _style.percent_ticks(ax.xaxis, ends[0])
    _style.percent_ticks(ax.yaxis, ends[1])
    _style.light_grid(ax)


# Colours of changes. In grey the side of 1 separates worse from better, and the width of the
# line what is certain from what is not.
VERDICTS = {"worse": "#9B1C1C", "better": "#1B5E20"}


def changes(found, rate, names):
    """What a rate is divided or multiplied by, for every group and level.

    Parameters
    ----------
    found : list of Change
        Of one rate of one system.
    rate : {"far", "frr"}
    names : dict of tuple -> str
        Level and threshold of a change -> its name.
    prefix : str

    Returns
    -------
    figure : Markup
    """
    groups = list(dict.fromkeys((c.attribute, c.group) for c in found))
    levels = list(names)
    values = np.array(
        [[c.ratio, c.ratio_low, c.ratio_high] for c in found], dtype=float
    )
    ends = _ends_of_ratios(values)
    labels = [_style.row_label(None if a is None else printable(g)) for a, g in groups]

    def draw(figure):
        ax = figure.subplots()
        ax.axvline(1, color="black", linewidth=1)
        for change, (ratio, low, high) in zip(found, values, strict=True):
            place = levels.index((change.far, change.threshold))
            y = groups.index((change.attribute, change.group))
            y += 0.56 * (place / (len(levels) - 1) - 0.5) if len(levels) > 1 else 0
            colour = VERDICTS.get(change.verdict, "0.35")
            if np.isfinite(low) and low == low and high == high:
                reach = max(low, ends[0]), min(high, ends[1])
                ax.hlines(y, *reach, color=colour, linewidth=_width(change.verdict))
                if high > ends[1]:
                    ax.plot(ends[1], y, color=colour, marker=">", clip_on=False)
            if ratio > 0 and np.isfinite(ratio):
                marker = _style.MARKERS[place % len(_style.MARKERS)]
                ax.plot(ratio, y, color=colour, marker=marker, linestyle="none")
        for place, name in enumerate(names.values()):
            marker = _style.MARKERS[place % len(_style.MARKERS)]
            ax.plot([], [], color="0.35", marker=marker, linestyle="none", label=name)
        for word in (*VERDICTS, "no certain difference"):
            colour, width = VERDICTS.get(word, "0.35"), _width(word)
            ax.plot([], [], color=colour, linewidth=width, label=word)
        ax.set(xscale="log", xlim=ends, ylim=(len(groups) - 0.5, -0.5))
        ax.set_yticks(range(len(groups)), labels)
        ax.set_xlabel(
            f"{'FMR' if rate == 'far' else 'FNMR'}, after / before, log scale"
        )
        _style.ratio_ticks(ax.xaxis, ends)
        _style.light_grid(ax)
        ax.grid(False, axis="y")
        ax.tick_params(axis="y", length=0)
        for row in range(0, len(groups), 2):
            ax.axhspan(row - 0.5, row + 0.5, facecolor="0.96", zorder=-1)
        ax.legend(
            loc="lower right",
            bbox_to_anchor=(1, 1.0),
            ncols=2,
            fontsize="small",
            frameon=False,
        )

    title = FMR if rate == "far" else FNMR
    height = panel_height(len(groups), len(levels)) + 0.35
    return _svg(draw, height, f"{title} after, over before, of every group")


def _width(verdict):
    """The width of the interval of a change."""
    return 3.0 if verdict in VERDICTS else 1.0


def _ends_of_ratios(values):
    """Ends of a log axis about ratios and 1, symmetric enough to see both sides."""
    shown = values[np.isfinite(values) & (values > 0)]
    shown = np.clip(shown, 1e-3, 1e3)
    low, high = min(1.0, *shown, 0.8), max(1.0, *shown, 1.25)
    return low / 1.15, high * 1.15


def _ends(values):
    """Ends of a log axis about positive rates."""
    shown = values[np.isfinite(values) & (values > 0)]
    if not shown.size:
        return 1e-3, 1.0
    high = min(shown.max() * 1.3, 1.0)
    return min(shown.min() / 1.3, high / 4), high


def _length(group):
    return len(_style.row_label(group))


def _svg(draw, height, about):
    """What is drawn on a figure, as SVG, and the text in its place."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(TEXT):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure)
        written = StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue(), about
