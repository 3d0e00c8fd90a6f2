"""Figures of a page: inline SVG, narrow enough to be read on a telephone."""

import re
from io import StringIO
from math import ceil

import numpy as np
from markupsafe import Markup

from skfairfr.metrics import GroupRatesDisplay
from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._group_rates import panel_height

# Inches: at 72 points each, 10-point text is 12 pixels on a screen of 390.
WIDTH = 4.1
# More curves than this on one axes cannot be told apart; each has axes of its own.
MAX_CURVES = 6
# Characters of a legend's entry, of which two fit into the width.
LONG_NAME = 16
TEXT = {"svg.fonttype": "none", "font.size": 10, "svg.hashsalt": "skfairfr"}
TAG = re.compile(r"<[^>]*>")
HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
DROPPED = re.compile(r"<(metadata|style)\b.*?</\1>|<!--.*?-->", re.DOTALL)
FMR, FNMR = "False match rate (FMR)", "False non-match rate (FNMR)"


def rates_display(levels, names, limits, confidence_level):
    """A GroupRatesDisplay of levels, not drawn; arguments are those of ``group_rates``."""
    columns = {}
    for rate in ("far", "frr"):
        found = [[getattr(row, rate) for row in level.rates] for level in levels]
        for field, suffix in (("value", ""), ("low", "_low"), ("high", "_high")):
            columns[rate + suffix] = _column(found, field, float)
        columns[f"{rate}_supported"] = _column(found, "supported", bool)
    return GroupRatesDisplay(
        groups=tuple(row.group for row in levels[0].rates),
        **columns,
        names=tuple(names),
        limits=limits,
        confidence_level=confidence_level,
    )


def group_rates(levels, names, limits, confidence_level, prefix):
    """The FMR and the FNMR of every group at every level, an SVG for each.

    Parameters
    ----------
    levels : tuple of Level
    names : sequence of str, shape (n_levels,)
        Of the levels.
    limits : dict of str -> ndarray, shape (n_levels,)
        Of each rate; nan where there is none.
    confidence_level : float in (0, 1)
    prefix : str
        Put before ids, so that no two figures of a page share one.

    Returns
    -------
    figures : list of Markup
    """
    display = rates_display(levels, names, limits, confidence_level)
    groups = display.groups
    # Two long names do not fit beside each other.
    long_names = len(names) > 1 and max(map(len, names)) > LONG_NAME
    height = panel_height(len(groups), len(levels)) + 0.2 * long_names * len(names)
    size = WIDTH, height + 0.35
    # Beside long labels the axes are too narrow for the title in one line.
    gap = "\n" if max(map(_length, groups)) > 12 else " "

    def draw(figure, rate, title):
        display.plot([figure.subplots()], rates=(rate,))
        display.axes_[0].set_xlabel(f"{title},{gap}log scale")
        if long_names:
            _stack_legend(figure, display.axes_[0])

    return [
        _svg(lambda f, r=rate, t=title: draw(f, r, t), size, f"{prefix}-{rate}", about)
        for rate, title, about in (
            ("far", FMR, f"{FMR} of every group, with intervals"),
            ("frr", FNMR, f"{FNMR} of every group, with intervals"),
        )
    ]


def _stack_legend(figure, ax):
    """Put the entries of the axes' legend below each other, above the axes."""
    entries = ax.get_legend_handles_labels()
    ax.get_legend().remove()
    figure.legend(*entries, loc="outside upper center", fontsize="small", frameon=False)


def _column(found, field, kind):
    return np.array([[getattr(f, field) for f in row] for row in found], dtype=kind)


def det(curves, levels, names, prefix):
    """Detection error tradeoff of every group, with the operating points marked.

    Parameters
    ----------
    curves : Curves
    levels : tuple of Level
    names : sequence of str, shape (n_levels,)
    prefix : str

    Returns
    -------
    figure : Markup
    """
    n_groups = len(curves.groups)
    several = n_groups > MAX_CURVES
    n_panels = n_groups - 1 if several else 1
    n_columns = 2 if several else 1
    n_rows = ceil(n_panels / n_columns)
    height = 3.9 if not several else 0.6 + 1.75 * n_rows
    ends = [_ends(values) for values in (curves.far, curves.frr)]

    def draw(figure):
        axes = figure.subplots(
            n_rows, n_columns, squeeze=False, sharex=True, sharey=True
        ).ravel()
        panels = [[0, row] for row in range(1, n_groups)] if several else None
        panels = panels or [list(range(n_groups))]
        for ax, rows in zip(axes, panels, strict=False):
            _draw_det(ax, curves, levels, rows, ends)
            if several:
                for line in ax.lines:
                    # Each panel has one group: its colour need not tell it from others.
                    own = line.get_color() != "black"
                    line.set_color(_style.COLOURS[0] if own else "0.55")
                    line.set_linestyle(
                        "-" if line.get_linestyle() != "None" else "none"
                    )
                if not _is_drawn(curves, rows[-1]):
                    ax.text(0.5, 0.08, "no curve", **_centred(ax))
                title = _style.row_label(curves.groups[rows[-1]], 20)
                ax.set_title(title, fontsize="small")
        if several:
            _finish_panels(axes, n_panels, n_columns)
            figure.supxlabel(FMR, fontsize="medium")
            figure.supylabel(FNMR, fontsize="medium")
        else:
            axes[0].set(xlabel=FMR, ylabel=FNMR)
            n_columns_of_legend = 3 if max(map(_length, curves.groups)) < 9 else 2
            axes[0].legend(
                loc="lower center",
                bbox_to_anchor=(0.45, 1.0),
                ncols=n_columns_of_legend,
                fontsize="small",
                frameon=False,
                handlelength=2.6,
            )

    about = f"{FNMR} over {FMR} of every group; points mark {', '.join(names)}"
    return _svg(draw, (WIDTH, height), prefix, about)


def det_of_systems(curves, levels, names, prefix):
    """Detection error tradeoff of several systems, a panel for each group.

    Parameters
    ----------
    curves : sequence of Curves, shape (n_systems,)
        Of the same groups.
    levels : sequence of tuple of Level, shape (n_systems,)
    names : sequence of str, shape (n_systems,)
    prefix : str

    Returns
    -------
    figure : Markup
    """
    groups = curves[0].groups
    n_columns = 2
    n_rows = ceil(len(groups) / n_columns)
    ends = [
        _ends(np.concatenate([np.ravel(getattr(one, rate)) for one in curves]))
        for rate in ("far", "frr")
    ]

    def draw(figure):
        axes = figure.subplots(
            n_rows, n_columns, squeeze=False, sharex=True, sharey=True
        ).ravel()
        for row, (ax, group) in enumerate(zip(axes, groups, strict=False)):
            for system, (one, of_system) in enumerate(zip(curves, levels, strict=True)):
                style = _style.line_style(system)
                rates = [level.rates[row] for level in of_system]
                _draw_curve(ax, one, row, dict(style, marker=""), names[system])
                _mark_points(ax, rates, style["color"], style["marker"])
            if not any(_is_drawn(one, row) for one in curves):
                ax.text(0.5, 0.08, "no curve", **_centred(ax))
            _set_det_axes(ax, ends)
            ax.set_title(_style.row_label(group, 20), fontsize="small")
        _finish_panels(axes, len(groups), n_columns)
        figure.supxlabel(FMR, fontsize="medium")
        figure.supylabel(FNMR, fontsize="medium")
        _legend_of_systems(figure, names)

    height = 1.0 + 0.2 * len(names) + 1.75 * n_rows
    about = f"{FNMR} over {FMR} of every group under {', '.join(names)}"
    return _svg(draw, (WIDTH, height), prefix, about)


def _legend_of_systems(figure, names):
    """Line and marker of every system, above all panels."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **_style.line_style(row)) for row in range(len(names))]
    figure.legend(
        handles,
        [_style.plain_text(name) for name in names],
        loc="outside upper center",
        fontsize="small",
        frameon=False,
        handlelength=3.4,
    )


def _is_drawn(curves, row):
    """Whether a group has a point with both rates above zero."""
    return bool(((curves.far[row] > 0) & (curves.frr[row] > 0)).any())


def _centred(ax):
    return {"transform": ax.transAxes, "ha": "center", "fontsize": "small"}


def _draw_det(ax, curves, levels, rows, ends):
    styles = _style.group_styles(curves.groups)
    for row in rows:
        style = dict(styles[row], marker="")
        if row == 0:
            style["linewidth"] = 1.4
        _draw_curve(ax, curves, row, style, _style.row_label(curves.groups[row]))
        for place, level in enumerate(levels):
            marker = _style.MARKERS[place % len(_style.MARKERS)]
            _mark_points(ax, [level.rates[row]], styles[row]["color"], marker)
    _set_det_axes(ax, ends)


def _draw_curve(ax, curves, row, style, label):
    """The curve of a group where both rates are above zero."""
    x, y = (np.where(v > 0, v, np.nan) for v in (curves.far[row], curves.frr[row]))
    ax.plot(x, y, **style, label=label)


def _mark_points(ax, rates, color, marker):
    """Operating points of a group."""
    for found in rates:
        if found.far.value > 0 and found.frr.value > 0:
            ax.plot(
                found.far.value,
                found.frr.value,
                color=color,
                marker=marker,
                markersize=6.5,
                markeredgecolor="white",
                zorder=4,
            )


def _set_det_axes(ax, ends):
    ax.set(xscale="log", yscale="log", xlim=ends[0], ylim=ends[1])
    _style.percent_ticks(ax.xaxis, ends[0])
    _style.percent_ticks(ax.yaxis, ends[1])
    _style.light_grid(ax)


def _finish_panels(axes, n_panels, n_columns):
    """Hide what is left over; the lowest panel of each column has labels, which fit."""
    for ax in axes[n_panels:]:
        ax.set_visible(False)
    for place, ax in enumerate(axes[:n_panels]):
        ax.tick_params(labelsize="x-small", labelbottom=place + n_columns >= n_panels)
    # All panels share their ticks; the largest rates have the shortest labels.
    ticks = axes[0].get_xticks()
    axes[0].set_xticks(ticks[::-1][:: ceil(len(ticks) / 3)])


# Colours of changes. In grey the side of 1 separates worse from better, and the width of the
# line what is certain from what is not.
VERDICTS = {"worse": "#9B1C1C", "better": "#1B5E20"}


def changes(found, rate, names, prefix):
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
    labels = ["everyone" if a is None else _style.row_label(g) for a, g in groups]

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
        for word in (*VERDICTS, "undecided"):
            label = {"undecided": "no certain change"}.get(word, word)
            colour, width = VERDICTS.get(word, "0.35"), _width(word)
            ax.plot([], [], color=colour, linewidth=width, label=label)
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
    size = WIDTH, panel_height(len(groups), len(levels)) + 0.35
    return _svg(draw, size, prefix, f"{title} after, over before, of every group")


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


def _svg(draw, size, prefix, about):
    """What is drawn on a figure, as an SVG element that a page can hold."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(TEXT):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        written = StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    text = DROPPED.sub("", HEAD.sub("", written.getvalue(), count=1))
    text = TAG.sub(lambda tag: _with_prefix(tag[0], prefix), text)
    # Sizes in points; the page lets it shrink and never grow.
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    opening = Markup('<svg role="img" aria-label="{}" ').format(about)
    return Markup(text.replace("<svg ", opening, 1))


def _with_prefix(tag, prefix):
    tag = re.sub(r'\bid="', f'id="{prefix}-', tag)
    return re.sub(r'(url\(|href=")#', rf"\1#{prefix}-", tag)
