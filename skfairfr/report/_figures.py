"""The figures of an audit: as files, and on a page.

Files show what :class:`~skfairfr.metrics.SimilarityROC` computes, by the displays of
``skfairfr.metrics``. Figures of a page are SVG, narrow enough to be read on a telephone:
their functions give a list of (svg, text in its place).
"""

import os
from io import StringIO
from itertools import product
from math import ceil
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from skfairfr._core._parallel import next_step
from skfairfr._text._words import NO_DIFFERENCE, RATES, plain_label, printable, worded
from skfairfr.metrics import (
    DisparityCurveDisplay,
    ErrorRateDisplay,
    GroupRatesDisplay,
    ScoreHistogramDisplay,
    SimilarityROCDisplay,
)
from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._from_roc import (
    both_rates,
    curves_of,
    default_levels,
    score_range,
)
from skfairfr.metrics._plot._groups import (
    ends_of_rates,
    name_rows,
    offset,
    panel_height,
)
from skfairfr.metrics._plot._thresholds import histograms
from skfairfr.report._notes import collecting, short_place
from skfairfr.report._policy import limits_of
from skfairfr.utils._errors import refused
from skfairfr.utils._folder import temporary
from skfairfr.utils._validation import check_path

SIZE = (6.4, 4.6)
# More groups than this, which have no colours of their own left, have axes of their own.
MAX_GROUPS = 6
N_COLUMNS = 3
FORMATS = ("svg", "png")
DPI = 150
# The same audit writes the same bytes: no date, no random identifiers.
STEADY = {"svg": {"Date": None}, "png": {"Software": None}}
SALT = {"svg.hashsalt": "skfairfr"}
# Inches of a page: at 72 points each, 10-point text is 12 pixels on a screen of 390.
WIDTH = 4.1
# More curves than this on one axes cannot be told apart; each has axes of its own.
MAX_CURVES = 6
# Characters of a legend's entry, of which two fit into the width.
LONG_NAME = 16
TEXT = {"svg.fonttype": "none", "font.size": 10} | SALT
ABOVE = {"frameon": False, "fontsize": "small"}
# Colours of changes. In grey the side of 1 separates worse from better, and the width of the
# line what is certain from what is not.
VERDICTS = {"higher": "#9B1C1C", "lower": "#1B5E20"}


# ---- files ---------------------------------------------------------------------------


def make_folders(folder, names):
    """Make a folder for the figures of each audit, and try to write there.

    Parameters
    ----------
    folder : path-like
    names : sequence of str, shape (n_audits,)
        Those of the attributes: figures of an audit by gender go to ``folder / "gender"``.

    Returns
    -------
    folders : list of Path
        No two are the same, not even where letters of either case are.
    """
    slugs = []
    for name in names:
        stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)
        slug, number = stem, 1
        while slug.casefold() in map(str.casefold, slugs):
            number += 1
            slug = f"{stem}-{number}"
        slugs.append(slug)
    folders = [Path(check_path(folder, "figures")) / slug for slug in slugs]
    try:
        for path in folders:
            path.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=path):
                pass
    except OSError as error:
        problem = f"{os.fspath(folder)!r} cannot be written to ({error.strerror});"
        raise refused("figures", folder, problem, "name a folder that can.") from None
    return folders


def write_figures(audited, audit, folder, title=""):
    """Write the displays of an audit, each in both formats.

    ``rates`` (both rates of every group at the operating points), ``roc`` (the FNMR over the
    FMR), ``error_rates`` and ``scores`` (over thresholds and scores) and ``disparity``, all
    with the audit's operating points marked. Intervals are those of the tables, one at a
    time. No state of pyplot is touched.

    Parameters
    ----------
    audited : AuditedROC
    audit : Audit
        What it found, with checks and curves.
    folder : Path
        Where the files go.
    title : str, default=""
        What the data are, above every figure.

    Returns
    -------
    paths : list of Path
        Files in the order written.
    """
    drawn = []
    # The audit's notes already hold what the displays warn of.
    with temporary(folder) as staged, collecting([]):
        for name, draw, size in _figures(audited, audit):
            next_step(f"drawing {name} by {plain_label(audit.attribute)}")
            drawn += write_figure(draw, staged / name, size, title)
        for path in staged.iterdir():
            os.replace(path, folder / path.name)
    return [folder / path.name for path in drawn]


def _figures(audited, audit):
    """File names, what draws them on a figure, and sizes in inches."""
    points, levels, groups = audited.points, audit.levels, tuple(audited.labels)
    names = [worded(short_place(level, audit)) for level in levels]
    confidence = audit.settings["confidence_level"]
    rates = rates_display(levels, names, limits_of(audit), confidence)
    height = panel_height(len(groups), points.size) + 0.4
    measured = tuple(audited.rates)
    width = 9.0 if len(measured) > 1 else 5.0
    yield "rates", lambda figure: _draw_rates(figure, rates, measured), (width, height)
    if audit.curves is None:
        return
    if "gallery" in audit.settings:  # which has figures of its own
        return
    drawn = _Drawn(audited, audit, names)
    if len(measured) > 1:
        yield "roc", *_by_group(drawn.roc, groups, [0])
    yield "error_rates", *_by_group(drawn.error_rates, groups, [])
    yield "scores", *_by_group(drawn.scores, groups, [])
    if len(measured) > 1:
        yield "disparity", lambda figure: drawn.disparity(figure.subplots()), SIZE


class _Drawn:
    """Both rates of an audit over thresholds, drawn in four ways on given axes."""

    def __init__(self, audited, audit, names):
        self.audited, self.names = audited, names
        self.distance = bool(audit.settings.get("distance"))
        # Of `disparity` the intervals at each point are drawn, and no band.
        self.analytic = audited.roc.by(n_resamples=1)
        # Of the levels of curves every second one, which a reader tells apart.
        self.far = default_levels(audited.roc)[::2]
        self.over_far = audit.curves.threshold[::2]
        grid = np.unique(np.append(self.over_far, audited.points.threshold))
        if grid.size < 3:
            grid = np.unique(np.append(grid, np.linspace(*score_range(audited.roc), 9)))
        self.grid = grid
        self.rates, self.beyond = both_rates(
            self.analytic, audited.labels, threshold=grid
        )
        self.histograms = histograms(self.analytic, audited.labels)
        self.places = [level.rates[0].far.value for level in audit.levels]
        self.far_max = audited.roc.far_max if self.beyond.any() else None

    def groups(self, rows):
        """Labels of some rows; None is everyone."""
        return tuple(self.audited.labels[row] for row in rows)

    def roc(self, ax, rows):
        """The FNMR over the FMR."""
        order = np.searchsorted(self.grid, self.over_far)
        frr, *ends = (
            self.rates[f"frr{field}"][np.ix_(rows, order)]
            for field in ("", "_low", "_high", "_supported")
        )
        found = dict(zip(("low", "high", "supported"), ends, strict=True))
        found |= {"groups": self.groups(rows), "far_max": self.far_max}
        SimilarityROCDisplay(far=self.far, frr=frr, **found).plot(ax)
        self._mark(ax, self.places, above=True)

    def error_rates(self, ax, rows):
        """Both rates over thresholds."""
        columns = {name: values[rows] for name, values in self.rates.items()}
        if self.beyond.any():
            columns["sampled_to"] = float(self.grid[self.beyond].max())
        columns |= {"groups": self.groups(rows), "distance": self.distance}
        ErrorRateDisplay(threshold=self.grid, **columns).plot(ax)
        self._mark(ax, self.audited.points.threshold)

    def scores(self, ax, rows):
        """Histograms of both kinds of pairs."""
        edges, of_groups = self.histograms
        columns = {name: values[rows] for name, values in of_groups.items()}
        columns |= {"groups": self.groups(rows), "distance": self.distance}
        ScoreHistogramDisplay(edges=edges, **columns).plot(ax)
        self._mark(ax, self.audited.points.threshold)

    def disparity(self, ax):
        """The largest over the smallest rate, of either."""
        questions = [{"rate": rate, "how": "max_min"} for rate in RATES]
        found, _ = curves_of(self.analytic, questions, threshold=self.over_far)
        found["curves"] = tuple((rate, "max_min") for rate in RATES)
        DisparityCurveDisplay(far=self.far, far_max=self.far_max, **found).plot(ax)
        self._mark(ax, self.places, above=True)

    def _mark(self, ax, places, above=False):
        """Mark the operating points, and make room for their names."""
        _style.mark(ax, places, self.names)
        _style.add_legend(ax, above=above)


def _draw_rates(figure, display, rates):
    axes = figure.subplots(1, len(rates), sharey=True, squeeze=False)
    display.plot(list(axes[0]), rates=rates)
    # The title of the audit has the intervals.
    figure.suptitle(display.names[0] if len(display.names) == 1 else "")


def _by_group(draw, groups, always):
    """What draws on a figure, and its size: on axes for each of many groups."""
    own = list(range(1, len(groups)))
    if len(own) <= MAX_GROUPS:
        return lambda figure: draw(figure.subplots(), [*always, *own]), SIZE
    n_rows = ceil(len(own) / N_COLUMNS)

    def draw_all(figure):
        axes = figure.subplots(n_rows, N_COLUMNS, squeeze=False).ravel()
        for ax, row in zip(axes, own, strict=False):
            draw(ax, [*always, row])
            ax.set_title(_style.row_label(groups[row]), fontsize="medium", pad=24)
            if ax.get_legend() is not None:
                ax.get_legend().remove()
        for ax in axes[len(own) :]:
            ax.set_visible(False)
        _align(axes[: len(own)])

    return draw_all, (SIZE[0] * 0.75 * N_COLUMNS, SIZE[1] * 0.75 * n_rows)


def _align(axes):
    """Give panels the same axes, so that groups can be compared."""
    for side in ("x", "y"):
        limits = np.array([getattr(ax, f"get_{side}lim")() for ax in axes])
        # Axes of distances run the other way.
        reverse = limits[0, 0] > limits[0, 1]
        ends = (limits.max(), limits.min()) if reverse else (limits.min(), limits.max())
        for ax in axes:
            ax.set(**{f"{side}lim": ends})
            axis = getattr(ax, f"{side}axis")
            if axis.get_scale() == "log":
                _style.percent_ticks(axis, (ends[0], min(ends[1], 1.0)))


def write_figure(draw, path, size, title=""):
    """Draw once and save in every format; the paths written."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure)
    if title:
        texts = filter(None, (_style.plain_text(title), figure.get_suptitle()))
        figure.suptitle("\n".join(texts), fontsize="small", wrap=True)
    # The layout takes as long as writing: once for all formats.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    written = []
    for extension in FORMATS:
        target = path.with_name(f"{path.name}.{extension}")
        with rc_context(SALT):
            figure.savefig(target, dpi=DPI, metadata=STEADY[extension])
        written.append(target)
    return written


# ---- rates on a page -----------------------------------------------------------------


def rates_display(levels, names, limits, confidence_level):
    """A GroupRatesDisplay of levels, not drawn; arguments are those of ``group_rates``."""
    columns = {}
    for rate, field in product(RATES, ("value", "low", "high", "supported")):
        name = rate if field == "value" else f"{rate}_{field}"
        asked = attrgetter(f"{rate}.{field}")
        columns[name] = np.array([list(map(asked, level.rates)) for level in levels])
    return GroupRatesDisplay(
        groups=_printable(row.group for row in levels[0].rates),
        **columns,
        names=tuple(map(worded, names)),
        limits=limits,
        confidence_level=confidence_level,
    )


def _printable(groups):
    """Labels that a font has glyphs for; None is everyone."""
    return tuple(None if g is None else plain_label(g) for g in groups)


def group_rates(levels, names, limits, confidence_level, rates=tuple(RATES)):
    """The FMR and the FNMR, or one of them, of every group at every level, an SVG for each.

    Parameters
    ----------
    levels : tuple of Level
    names : sequence of str, shape (n_levels,)
        Of the levels.
    limits : dict of str -> ndarray, shape (n_levels,)
        Of each rate; nan where there is none.
    confidence_level : float in (0, 1)
    rates : sequence of str, default=("far", "frr")

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

    def draw(figure, rate):
        display.plot([figure.subplots()], rates=(rate,))
        (ax,) = display.axes_
        ax.set_xlabel(worded(f"{_style.RATE_TITLES[rate]},{gap}log scale"))
        if long_names:
            entries = ax.get_legend_handles_labels()
            ax.get_legend().remove()
            figure.legend(*entries, loc="outside upper center", **ABOVE)

    about = "of every group, with intervals"
    return [
        _svg(lambda figure, r=rate: draw(figure, r), height + 0.35, f"{title} {about}")
        for rate, title in _style.RATE_TITLES.items()
        if rate in rates
    ]


# ---- detection error tradeoffs -------------------------------------------------------


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
    ends = [_ends([getattr(curves, rate)]) for rate in RATES]
    # The points of a group have its colour, and the marker of their level.
    markers = [_style.line_style(place)["marker"] for place in range(len(names))]
    look = {"color": _style.GREY, "linestyle": "none"}
    of_levels = [look | {"marker": marker} for marker in markers]

    def draw_row(ax, row, style):
        label = _style.row_label(groups[row])
        _draw_curve(ax, curves, row, style | {"marker": ""}, label)
        for level, mark in zip(levels, of_levels, strict=True):
            _mark_points(ax, [level.rates[row]], style["color"], mark["marker"])

    def draw_panel(ax, panel):
        # Each panel has one group: its colour need not tell it from others.
        draw_row(ax, 0, {"color": "0.55", "linestyle": "-", "linewidth": 1.4})
        draw_row(ax, panel + 1, {"color": _style.COLOURS[0], "linestyle": "-"})
        return _is_drawn(curves, panel + 1)

    def draw_all(figure):
        ax = figure.subplots()
        for row, style in enumerate(_style.styles_on(ax, groups)[0]):
            draw_row(ax, row, style | ({} if row else {"linewidth": 1.4}))
        _set_det_axes(ax, ends)
        titles = map(worded, _style.RATE_TITLES.values())
        ax.set(**dict(zip(("xlabel", "ylabel"), titles, strict=True)))
        for name, look in zip(names, of_levels, strict=True):
            ax.plot([], [], **look, label=_style.plain_text(worded(name)))
        labels = ax.get_legend_handles_labels()[1]
        n_columns = 3 if max(map(len, labels)) < 12 else 2
        place = {"loc": "lower center", "bbox_to_anchor": (0.45, 1.0)}
        ax.legend(**place, ncols=n_columns, handlelength=2.6, **ABOVE)

    about = f"{FNMR_OVER_FMR} of every group; points mark {', '.join(names)}"
    if len(groups) > MAX_CURVES:
        return [_panels(groups[1:], draw_panel, ends, about, names, of_levels)]
    return [_svg(draw_all, 4.1, about)]


FNMR_OVER_FMR = f"{_style.RATE_TITLES['frr']} over {_style.RATE_TITLES['far']}"


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
    ends = [_ends([getattr(one, rate) for one in curves]) for rate in RATES]

    def draw_panel(ax, row):
        for one, of_system, name, style in zip(
            curves, levels, names, styles, strict=True
        ):
            _draw_curve(ax, one, row, style | {"marker": ""}, name)
            rates = [level.rates[row] for level in of_system]
            _mark_points(ax, rates, style["color"], style["marker"])
        return any(_is_drawn(one, row) for one in curves)

    about = f"{FNMR_OVER_FMR} of every group under {', '.join(names)}"
    return [
        _panels(_printable(curves[0].groups), draw_panel, ends, about, names, styles)
    ]


def _panels(groups, draw_panel, ends, about, names, styles):
    """A panel for each group, two in a row; what each name looks like above all."""
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
        figure.supxlabel(worded(_style.RATE_TITLES["far"]), fontsize="medium")
        figure.supylabel(worded(_style.RATE_TITLES["frr"]), fontsize="medium")
        lines = [Line2D([], [], **style) for style in styles]
        place = {"loc": "outside upper center", "handlelength": 3.4}
        labels = [_style.plain_text(worded(name)) for name in names]
        figure.legend(lines, labels, **place, **ABOVE)

    return _svg(draw, 0.8 + 0.2 * len(names) + 1.75 * n_rows, about)


def _is_drawn(curves, row):
    """Whether a group has a point with both rates above zero."""
    return bool(((curves.far[row] > 0) & (curves.frr[row] > 0)).any())


def _draw_curve(ax, curves, row, style, label):
    """The curve of a group where both rates are above zero."""
    x, y = (np.where(v > 0, v, np.nan) for v in (curves.far[row], curves.frr[row]))
    ax.plot(x, y, **style, label=label)


def _mark_points(ax, rates, color, marker):
    """Operating points of a group, hollow where one of the rates is hollow elsewhere."""
    for rate in rates:
        point, face, edge = (rate.far.value, rate.frr.value), color, "white"
        if not (rate.far.supported and rate.frr.supported):
            face, edge = edge, face
        look = {"markerfacecolor": face, "markeredgecolor": edge, "markersize": 6.5}
        if min(point) > 0:
            ax.plot(*point, marker=marker, linestyle="none", zorder=4, **look)


def _set_det_axes(ax, ends):
    ax.set(xscale="log", yscale="log", xlim=ends[0], ylim=ends[1])
    _style.percent_ticks(ax.xaxis, ends[0])
    _style.percent_ticks(ax.yaxis, ends[1])
    _style.light_grid(ax)


def _ends(rates):
    """Ends of a log axis about arrays of rates, none of which is above 1."""
    return np.minimum(ends_of_rates(np.concatenate(rates, axis=None)), 1.0)


# ---- changes -------------------------------------------------------------------------


def changes(found, rate, names):
    """What a rate is divided or multiplied by, for every group and level.

    Parameters
    ----------
    found : list of Change
        Of one rate of one system.
    rate : {"far", "frr"}
    names : dict of tuple -> str
        Level and threshold of a change -> its name.

    Returns
    -------
    figure : tuple
    """
    groups = list(dict.fromkeys((c.attribute, c.group) for c in found))
    levels = list(names)
    values = np.array(
        [[c.ratio, c.ratio_low, c.ratio_high] for c in found], dtype=float
    )
    shown = values[np.isfinite(values) & (values > 0)]
    shown = np.clip([*shown, 0.8, 1.25], 1e-3, 1e3)
    ends = shown.min() / 1.15, shown.max() * 1.15
    looks = {w: {"color": c, "linewidth": 3.0} for w, c in VERDICTS.items()}
    looks[NO_DIFFERENCE] = {"color": _style.GREY, "linewidth": 1.0}
    markers = [_style.MARKERS[n % len(_style.MARKERS)] for n in range(len(levels))]

    def draw(figure):
        ax = figure.subplots()
        ax.axvline(1, color="black", linewidth=1)
        for change, (ratio, low, high) in zip(found, values, strict=True):
            place = levels.index((change.far, change.threshold))
            row = groups.index((change.attribute, change.group))
            y = row + offset(place, len(levels))
            look = looks.get(change.verdict, looks[NO_DIFFERENCE])
            if np.isfinite(low) and not np.isnan(high):
                ax.hlines(y, max(low, ends[0]), min(high, ends[1]), **look)
                for beyond, edge, arrow in (
                    (low < ends[0], ends[0], "<"),
                    (high > ends[1], ends[1], ">"),
                ):
                    if beyond:
                        at = {"marker": arrow, "clip_on": False}
                        ax.plot(edge, y, color=look["color"], **at)
            if ratio > 0 and np.isfinite(ratio):
                at = {"marker": markers[place], "linestyle": "none"}
                ax.plot(ratio, y, color=look["color"], **at)
        for name, marker in zip(names.values(), markers, strict=True):
            at = {"marker": marker, "linestyle": "none", "label": worded(name)}
            ax.plot([], [], color=_style.GREY, **at)
        for word, look in looks.items():
            ax.plot([], [], **look, label=word)
        ax.set(xscale="log", xlim=ends)
        ax.set_xlabel(worded(f"{RATES[rate]}, after / before, log scale"))
        _style.ratio_ticks(ax.xaxis, ends)
        name_rows(ax, [None if a is None else plain_label(g) for a, g in groups])
        place = {"loc": "lower right", "bbox_to_anchor": (1, 1.0), "ncols": 2}
        ax.legend(**place, **ABOVE)

    about = f"{_style.RATE_TITLES[rate]} after, over before, of every group"
    return _svg(draw, panel_height(len(groups), len(levels)) + 0.35, about)


def ratios_to_reference(findings, rate, limit=None):
    """Ratios of every group's rate to that of the reference, the largest on top.

    Parameters
    ----------
    findings : sequence of Finding
        Of one rate at one operating point.
    rate : {"far", "frr"}
    limit : float, default=None
        Largest ratio that is allowed.

    Returns
    -------
    figure : tuple
    """
    values = np.array([[f.ratio.value, f.ratio.low, f.ratio.high] for f in findings])
    shown = values[np.isfinite(values) & (values > 0)]
    shown = np.clip([*shown, 0.8, 1.25, limit or 1], 1e-3, 1e3)
    ends = shown.min() / 1.15, shown.max() * 1.15

    def draw(figure):
        ax = figure.subplots()
        ax.axvline(1, color="black", linewidth=1)
        if limit is not None:
            ax.axvline(limit, **_style.REFERENCE, label="limit")
            ax.legend(loc="lower right", bbox_to_anchor=(1, 1.0), **ABOVE)
        for row, (finding, (ratio, low, high)) in enumerate(
            zip(findings, values, strict=True)
        ):
            colour = VERDICTS.get(finding.verdict, _style.GREY)
            face = colour if finding.verdict in VERDICTS else "white"
            if np.isfinite(low) and not np.isnan(high):
                ax.hlines(row, max(low, ends[0]), min(high, ends[1]), color=colour)
            if ratio > 0 and np.isfinite(ratio):
                look = {"marker": "o", "markerfacecolor": face, "color": colour}
                ax.plot(ratio, row, **look)
        ax.set(xscale="log", xlim=ends)
        reference = plain_label(findings[0].reference)
        ax.set_xlabel(worded(f"{RATES[rate]} over that of {reference}, log scale"))
        _style.ratio_ticks(ax.xaxis, ends)
        name_rows(ax, [plain_label(f.group) for f in findings])

    about = f"{_style.RATE_TITLES[rate]} of every group over that of the reference"
    return _svg(draw, panel_height(len(findings), 1) + 0.35, about)


def _length(group):
    return len(_style.row_label(group))


def evidence_of(known, finding):
    """What a row of the history of a monitor knows of a finding of later; no evidence if none."""
    about = (finding.how, finding.limit, {*finding.groups})
    for one in known["findings"]:
        if (one["how"], one["limit"], {*one["groups"]}) == about:
            return one
    return {"e_value": 1.0, "verdict": "undetermined"}


# Limits whose evidence is drawn.
MOST_LIMITS = 5


def watched_over_time(history, findings, enough):
    """Rates of groups, and the evidence against limits, as they were known at the time.

    Parameters
    ----------
    history : sequence of dict
        As of RateMonitor.
    findings : sequence of WatchedLimit
        The last ones.
    enough : float
        Evidence that is enough whatever that of other limits is.

    Returns
    -------
    figures : list of tuple
    """
    groups = history[-1]["groups"]
    limits = {finding.limit for finding in findings if finding.how is None}
    place = np.arange(len(history))
    logs = [(k, known["log"]) for k, known in enumerate(history) if "log" in known]
    rates_of_logs = [rate for _, log in logs for rate in log["value"]]

    def of(name, row):
        return np.array(
            [p[name][row] if row < len(p[name]) else np.nan for p in history]
        )

    def draw_rates(figure):
        ax = figure.subplots()
        for row, group in enumerate(groups):
            style = _style.line_style(row)
            label = _style.row_label(plain_label(group))
            line = style | {"marker": "none"}
            ax.plot(place, of("value", row), **line, label=label)
            if len(groups) <= _style.MAX_BANDS:
                ends = of("low", row), of("high", row)
                ax.fill_between(place, *ends, color=style["color"], alpha=0.12, lw=0)
            of_logs = [
                (k, log["value"][log["groups"].index(group)])
                for k, log in logs
                if group in log["groups"]
            ]
            if of_logs:
                ax.plot(*zip(*of_logs, strict=True), **style | {"linestyle": "none"})
        for limit in limits:
            ax.axhline(limit, **_style.REFERENCE, label="limit")
        rows = range(len(groups))
        values = np.concatenate([of("value", row) for row in rows])
        shown = np.nanmax([*values, *rates_of_logs])
        most = max(np.nanmax([of("high", row) for row in rows]), 1.1 * shown)
        ax.set_ylim(0, min(most, 3 * max(shown, *limits, 1e-3)))
        ax.yaxis.set_major_formatter(lambda value, _: _style.percent(value))
        ax.set_ylabel("False rejection rate (FRR)")
        finish(ax)

    def draw_evidence(figure):
        ax = figure.subplots()
        most = sorted(findings, key=lambda finding: -finding.e_value)
        for row, finding in enumerate(most[:MOST_LIMITS]):
            name = " / ".join(map(plain_label, finding.groups))
            # A group has the same line in both figures.
            alone = len(finding.groups) == 1
            style = _style.line_style(
                groups.index(finding.groups[0]) if alone else len(groups) + row
            )
            evidence = [evidence_of(known, finding)["e_value"] for known in history]
            ax.plot(place, evidence, **style, label=_style.row_label(name))
        ax.axhline(enough, **_style.REFERENCE, label="enough")
        ax.set_yscale("log")
        ax.set_ylabel("Evidence against the limit")
        finish(ax)

    def finish(ax):
        step = ceil(len(history) / 3)
        ax.set_xticks(place[::-step][::-1])
        when = [str(p["when"])[:16].replace("T", "\n") for p in history]
        names = [_style.plain_text(text) for text in when]
        ax.set_xticklabels(names[::-step][::-1], fontsize="x-small")
        labels = ax.get_legend_handles_labels()[1]
        where = {"loc": "lower center", "bbox_to_anchor": (0.45, 1.0)}
        if len(labels) <= MAX_CURVES:
            ax.legend(**where, ncols=3, **ABOVE)

    about = f"FRR of {', '.join(map(printable, groups))} over time"
    figures = [_svg(draw_rates, 3.0, about)]
    if findings:
        figures.append(
            _svg(draw_evidence, 3.0, "Evidence against each limit over time")
        )
    return figures


def _svg(draw, height, about):
    """What is drawn on a figure, as SVG, and the text in its place."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(TEXT):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure)
        written = StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue(), worded(about)
