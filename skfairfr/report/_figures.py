"""The figures of a page: SVG, narrow enough to be read on a telephone.

Their functions give a list of (svg, text in its place).
"""

from dataclasses import replace
from io import StringIO
from itertools import count, product
from math import ceil
from operator import attrgetter
from textwrap import fill

import numpy as np

from skfairfr._text._words import NO_DIFFERENCE, RATES, printable
from skfairfr.metrics import GallerySizeDisplay, GroupRatesDisplay, RateCurveDisplay
from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._from_roc import check_roc_groups
from skfairfr.metrics._plot._groups import (
    ends_of_rates,
    name_rows,
    offset,
    panel_height,
)
from skfairfr.report._notes import collecting

# The same audit writes the same bytes: no date, no random identifiers.
SALT = {"svg.hashsalt": "skfairfr"}
# Inches of a page: at 72 points each, 10-point text is 12 pixels on a screen of 390.
WIDTH = 4.1
# More curves than this on one axes cannot be distinguished. Each has axes of its own.
MAX_CURVES = 6
# Characters of a line below the axes, if no label has a letter.
LINE = 52
# Characters of a legend's entry, of which two fit into the width.
LONG_NAME = 16
TEXT = {"svg.fonttype": "none", "font.size": 10} | SALT
ABOVE = {"frameon": False, "fontsize": "small"}
RIGHT = {"loc": "lower right", "bbox_to_anchor": (1, 1.0), "ncols": 2} | ABOVE
# Colours of changes. In grey the side of 1 separates worse from better, and the width of the
# line what is certain from what is not.
VERDICTS = {"higher": "#9B1C1C", "lower": "#1B5E20"}
LOOKS = {word: {"color": colour, "linewidth": 3.0} for word, colour in VERDICTS.items()}
LOOKS[NO_DIFFERENCE] = {"color": _style.GREY, "linewidth": 1.0}
IN_ROW = {"size": "small", "ha": "center", "va": "center", "backgroundcolor": "white"}


# ---- rates ---------------------------------------------------------------------------


def rates_display(rows, names, limits, confidence_level):
    """A GroupRatesDisplay, not drawn. Arguments are those of ``group_rates``."""
    columns = {}
    for rate, field in product(RATES, ("value", "low", "high", "supported")):
        name = rate if field == "value" else f"{rate}_{field}"
        asked = attrgetter(f"{rate}.{field}")
        columns[name] = np.array([list(map(asked, of_level)) for of_level in rows])
    return GroupRatesDisplay(
        groups=_printable(row.group for row in rows[0]),
        **columns,
        names=tuple(names),
        limits=limits,
        confidence_level=confidence_level,
    )


def _printable(groups):
    """Labels that a font has glyphs for. None is everyone."""
    return tuple(None if g is None else printable(g) for g in groups)


def group_rates(rows, names, limits, confidence_level, terms, rates=("far", "frr")):
    """Both rates, or one of them, of every group at every level, an SVG for each.

    Parameters
    ----------
    rows : sequence of sequences of GroupRates, (n_levels, n_groups)
    names : sequence of str, shape (n_levels,)
        Of the levels.
    limits : dict of str -> ndarray, shape (n_levels,)
        Of each rate, or nan where there is none.
    confidence_level : float in (0, 1)
    terms : Terms
    rates : sequence of str, default=("far", "frr")

    Returns
    -------
    figures : list of tuple
    """
    display = rates_display(rows, names, limits, confidence_level)
    groups = display.groups
    # Two long names do not fit into one line.
    long_names = len(names) > 1 and max(map(len, names)) > LONG_NAME
    height = panel_height(len(groups), len(rows)) + 0.2 * long_names * len(names)

    def draw(figure, rate):
        display.plot([figure.subplots()], rates=(rate,))
        (ax,) = display.axes_
        ax.set_xlabel(_broken(f"{terms[rate].title}, log scale", groups))
        figure.suptitle(terms[rate].name, fontsize="medium", fontweight="bold")
        if long_names:
            entries = ax.get_legend_handles_labels()
            ax.get_legend().remove()
            figure.legend(*entries, loc="outside upper center", **ABOVE)

    about = "of every group, with intervals"
    return [
        _svg(
            lambda figure, r=rate: draw(figure, r),
            height + 0.35,
            f"{terms[rate].title} {about}",
        )
        for rate in rates
    ]


# ---- detection error tradeoffs -------------------------------------------------------


# Markers of detection costs.
CROSSES = ("x", "+", "1", "2")


def det(curves, levels, names, terms):
    """Detection error tradeoff of every group, with the operating points marked.

    Parameters
    ----------
    curves : Curves
    levels : tuple of Level
    names : sequence of str, shape (n_levels,)
    terms : Terms

    Returns
    -------
    figures : list of tuple
    """
    groups = _printable(curves.groups)
    marks = list(zip(*curves.marks.values(), strict=True)) or [(), ()]
    ends = [
        _ends([getattr(curves, rate), _points([levels], rate), *own])
        for rate, own in zip(RATES, marks, strict=True)
    ]
    # The points of a group have its colour, and the marker of their level.
    markers = [_style.line_style(place)["marker"] for place in range(len(names))]
    look = {"color": _style.GREY, "linestyle": "none"}
    of_levels = [look | {"marker": marker} for marker in markers]

    def draw_row(ax, row, style):
        label = _style.row_label(groups[row])
        label += "" if _is_drawn(curves, row) else " (no curve)"
        _draw_curve(ax, curves, row, style | {"marker": ""}, label)
        for level, mark in zip(levels, of_levels, strict=True):
            _mark_points(ax, [level.rates[row]], style["color"], mark["marker"])
        for (far, frr), mark in zip(curves.marks.values(), CROSSES, strict=False):
            ax.plot(far[row], frr[row], mark, color=style["color"], zorder=4)

    def draw_panel(ax, panel):
        # Each panel has one group, which needs no colour of its own.
        draw_row(ax, 0, {"color": "0.55", "linestyle": "-", "linewidth": 1.4})
        draw_row(ax, panel + 1, {"color": _style.COLOURS[0], "linestyle": "-"})
        return _is_drawn(curves, panel + 1)

    def draw_all(figure):
        ax = figure.subplots()
        for row, style in enumerate(_style.styles_on(ax, groups)[0]):
            draw_row(ax, row, style | ({} if row else {"linewidth": 1.4}))
        _set_det_axes(ax, ends)
        ax.set(xlabel=terms.far.title, ylabel=terms.frr.title)
        for name, look in zip(names, of_levels, strict=True):
            ax.plot([], [], **look, label=_style.plain_text(name))
        for name, mark in zip(curves.marks, CROSSES, strict=False):
            ax.plot([], [], mark, color=_style.GREY, label=_style.plain_text(name))
        labels = ax.get_legend_handles_labels()[1]
        n_columns = 3 if max(map(len, labels)) < 12 else 2
        place = {"loc": "lower center", "bbox_to_anchor": (0.45, 1.0)}
        ax.legend(**place, ncols=n_columns, handlelength=2.6, **ABOVE)

    about = f"{terms.frr.title} over {terms.far.title} of every group"
    about += f"; points mark {', '.join(names)}"
    if len(groups) > MAX_CURVES:
        return [_panels(groups[1:], draw_panel, ends, about, names, of_levels, terms)]
    return [_svg(draw_all, 4.1, about)]


def det_of_systems(curves, levels, names, terms):
    """Detection error tradeoff of several systems, a panel for each group.

    Parameters
    ----------
    curves : sequence of Curves, shape (n_systems,)
        Of the same groups.
    levels : sequence of tuple of Level, shape (n_systems,)
    names : sequence of str, shape (n_systems,)
    terms : Terms

    Returns
    -------
    figures : list of tuple
    """
    styles = [_style.line_style(row) for row in range(len(names))]
    ends = [
        _ends([*(getattr(one, rate) for one in curves), _points(levels, rate)])
        for rate in RATES
    ]

    def draw_panel(ax, row):
        for one, of_system, name, style in zip(
            curves, levels, names, styles, strict=True
        ):
            _draw_curve(ax, one, row, style | {"marker": ""}, name)
            rates = [level.rates[row] for level in of_system]
            _mark_points(ax, rates, style["color"], style["marker"])
        return any(_is_drawn(one, row) for one in curves)

    about = f"{terms.frr.title} over {terms.far.title} of every group"
    about += f" under {', '.join(names)}"
    groups = _printable(curves[0].groups)
    return [_panels(groups, draw_panel, ends, about, names, styles, terms)]


def _panels(groups, draw_panel, ends, about, names, styles, terms):
    """A panel for each group, two in a row. The legend of names is above all."""
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
        # All panels share their ticks. The largest rates have the shortest labels.
        ticks = axes[0].get_xticks()
        axes[0].set_xticks(ticks[::-1][:: ceil(len(ticks) / 3)])
        figure.supxlabel(terms.far.title, fontsize="medium")
        figure.supylabel(terms.frr.title, fontsize="medium")
        lines = [Line2D([], [], **style) for style in styles]
        place = {"loc": "outside upper center", "handlelength": 3.4}
        labels = [_style.plain_text(name) for name in names]
        figure.legend(lines, labels, **place, **ABOVE)

    return _svg(draw, 0.8 + 0.2 * len(names) + 1.75 * n_rows, about)


def _is_drawn(curves, row):
    """Whether a group has two neighbouring points with both rates above zero."""
    shown = (curves.far[row] > 0) & (curves.frr[row] > 0)
    return bool((shown[1:] & shown[:-1]).any())


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


def _points(systems, rate):
    """A rate of every group at the operating points of every system, ndarray."""
    rows = (row for levels in systems for level in levels for row in level.rates)
    return np.array([getattr(row, rate).value for row in rows])


def _ends(rates):
    """Ends of a log axis about arrays of rates, none of which is above 1."""
    return np.minimum(ends_of_rates(np.concatenate(rates, axis=None)), 1.0)


# ---- calibration ---------------------------------------------------------------------


def reliability(display, rows):
    """Observed over stated log-likelihood ratios of groups.

    Parameters
    ----------
    display : ReliabilityDisplay
    rows : ndarray of int, shape (n_groups,)
        Groups to draw, MAX_CURVES at most.

    Returns
    -------
    figures : list of tuple
    """
    columns = ("stated", "observed", "low", "high")
    columns = {name: getattr(display, name)[rows] for name in columns}
    groups = _printable(display.groups[row] for row in rows)
    shown = replace(display, groups=groups, **columns)
    about = "Observed over stated log-likelihood ratios of every group, with intervals"
    return [_svg(lambda figure: shown.plot(figure.subplots()), 3.6, about)]


# ---- changes -------------------------------------------------------------------------


def changes(found, kind, names, few=(), over="second over first system", about=None):
    """Ratios of a rate with two systems, of every group and level.

    Parameters
    ----------
    found : list of Change
        Of one rate of one system.
    kind : ErrorKind
        Of that rate.
    names : dict of tuple -> str
        Level and threshold of a change -> its name.
    few : sequence of Change, default=()
        Those that rest on too few errors. Hollow.
    over, about : str, default="second over first system", None
        Quantity of the ratios, on the axis, and in the text in place of the figure.

    Returns
    -------
    figure : tuple
    """
    groups = list(dict.fromkeys((c.attribute, c.group) for c in found))
    levels = list(names)
    values = np.array([[c.ratio, c.ratio_low, c.ratio_high] for c in found], float)
    # A tenth of the axis is free on both sides.
    ends = _ends_of_ratios(values, 0.1)
    markers = [_style.MARKERS[n % len(_style.MARKERS)] for n in range(len(levels))]

    def draw(figure):
        title = f"{kind.name}, {over}, log scale"
        rows = [None if a is None else g for a, g in groups]
        ax = _axes_of_ratios(figure, title, ends, rows)
        for change, (ratio, low, high) in zip(found, values, strict=True):
            place = levels.index((change.far, change.threshold))
            row = groups.index((change.attribute, change.group))
            y = row + offset(place, len(levels))
            look = LOOKS.get(change.verdict, LOOKS[NO_DIFFERENCE])
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
                face = {"markerfacecolor": "white"} if change in few else {}
                ax.plot(ratio, y, color=look["color"], **at, **face)
        for name, marker in zip(names.values(), markers, strict=True):
            at = {"marker": marker, "linestyle": "none", "label": name}
            ax.plot([], [], color=_style.GREY, **at)
        for word, look in LOOKS.items():
            ax.plot([], [], **look, label=word)
        ax.legend(**RIGHT)
        figure.suptitle(kind.name, fontsize="medium", fontweight="bold")

    about = about or f"{kind.title} of the second system over the first, of every group"
    return _svg(draw, panel_height(len(groups), len(levels)) + 0.35, about)


def _ends_of_ratios(values, free=0.0):
    """Ends of a log axis about ratios, with a share of it ``free`` on both sides."""
    values = np.asarray(values)
    shown = values[np.isfinite(values) & (values > 0)]
    shown = np.clip([*shown, 0.8, 1.25], 1e-3, 1e3)
    margin = max(1.15, (shown.max() / shown.min()) ** free)
    return shown.min() / margin, shown.max() * margin


def _axes_of_ratios(figure, title, ends, groups):
    """Axes with a row for each group, and a line where ratios are 1."""
    ax = figure.subplots()
    ax.axvline(1, color="black", linewidth=1)
    ax.set(xscale="log", xlim=ends)
    ax.set_xlabel(_broken(title, groups))
    _style.ratio_ticks(ax.xaxis, ends)
    name_rows(ax, _printable(groups))
    return ax


def ratios_to_reference(findings, kind, limit=None):
    """Ratios of every group's rate to that of the reference, the largest on top.

    Parameters
    ----------
    findings : sequence of Finding
        Of one rate at one operating point.
    kind : ErrorKind
        Of that rate.
    limit : float, default=None
        Largest ratio that is allowed.

    Returns
    -------
    figure : tuple
    """
    values = np.array([[f.ratio.value, f.ratio.low, f.ratio.high] for f in findings])
    ends = _ends_of_ratios([*values.ravel(), limit or 1])

    def draw(figure):
        reference = printable(findings[0].reference)
        title = f"{kind.name} over that of {reference}, log scale"
        ax = _axes_of_ratios(figure, title, ends, [f.group for f in findings])
        if limit is not None:
            ax.axvline(limit, **_style.REFERENCE, label="limit")
        for word in dict.fromkeys(f.verdict for f in findings if f.verdict in LOOKS):
            ax.plot([], [], **LOOKS[word], label=word)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(**RIGHT)
        for row, (finding, (ratio, low, high)) in enumerate(
            zip(findings, values, strict=True)
        ):
            look = LOOKS.get(finding.verdict, LOOKS[NO_DIFFERENCE])
            face = look["color"] if finding.ratio.supported else "white"
            if np.isnan(ratio):
                ax.text(1, row, "no ratio: no errors", **IN_ROW)
            informative = low > 0 or np.isfinite(high)
            if informative and not np.isnan(low + high):
                ax.hlines(row, max(low, ends[0]), min(high, ends[1]), **look)
            at, marker = ratio, "o"
            if ratio == 0 or np.isinf(ratio):
                at, marker = (ends[0], "<") if ratio == 0 else (ends[1], ">")
            ax.plot(
                *(at, row, marker),
                **{"markerfacecolor": face, "color": look["color"], "clip_on": False},
            )

    about = f"{kind.title} of every group over that of the reference"
    return _svg(draw, panel_height(len(findings), 1) + 0.35, about)


def rate_curve(explanation, covariate, kind, limit):
    """A rate over a number, with both bands.

    Parameters
    ----------
    explanation : Explanation
    covariate : str
    kind : ErrorKind
        Of the rate.
    limit : float or None

    Returns
    -------
    figure : tuple
    """

    def draw(figure):
        RateCurveDisplay.from_explanation(
            explanation,
            covariate,
            ax=figure.subplots(),
            rate_title=kind.title,
            limit=limit,
        )

    return _svg(draw, 3.0, f"{kind.title} over {printable(covariate)}")


def over_gallery_sizes(search, threshold, groups):
    """FPIR and FNIR of every group over the number of people in random galleries.

    Parameters
    ----------
    search : IdentificationROC
        Fitted.
    threshold : float
    groups : sequence of labels
        In the order of the page, so a group has one colour on it. May have more groups.

    Returns
    -------
    figures : list of tuple
    """
    place = {group: n for n, group in reversed([*enumerate(groups)])}
    groups = sorted(check_roc_groups(search, None), key=place.get)

    def draw(figure, rate):
        # The audit's notes already contain the display's warnings.
        with collecting([]):
            GallerySizeDisplay.from_identification(
                search,
                threshold=threshold,
                rate=rate,
                groups=groups,
                ax=figure.subplots(),
            )

    about = "of every group over the number of people enrolled"
    return [
        _svg(
            lambda figure, rate=rate: draw(figure, rate), 3.4, f"{rate.upper()} {about}"
        )
        for rate in ("fpir", "fnir")
    ]


def _broken(title, groups):
    """The title of an axis in as many lines as fit next to the labels of groups."""
    longest = max(len(_style.row_label(group)) for group in groups)
    return fill(title, max(LINE - longest, 20))


def evidence_of(known, finding):
    """Evidence of a later finding in a row of the history of a monitor, or none if absent."""
    about = (finding.how, finding.limit, {*finding.groups})
    for one in known["findings"]:
        if (one["how"], one["limit"], {*one["groups"]}) == about:
            return one
    return {"e_value": 1.0, "verdict": "undetermined"}


# Limits whose evidence is drawn.
MOST_LIMITS = 5


def watched_over_time(history, findings, enough, level):
    """Rates of groups, and the evidence against limits, as they were known at the time.

    Parameters
    ----------
    history : sequence of dict
        As of RateMonitor.
    findings : sequence of WatchedLimit
        The last ones.
    enough : float
        Evidence that is enough whatever that of other limits is.
    level : str
        Confidence level of the bands.

    Returns
    -------
    figures : list of tuple
    """
    groups = history[-1]["groups"]
    # None between two logs interrupts all lines.
    rows = []
    for known in history:
        rows += [known, None] if "log" in known else [known]
    rows = rows if rows[-1] else rows[:-1]
    limits = {finding.limit for finding in findings if finding.how is None}
    about = f"FRR of {', '.join(map(printable, groups))} over time"
    of_rates = rows, limits, level
    figures = [_svg(lambda figure: _rates_over_time(figure, *of_rates), 3.0, about)]
    if findings:
        about = "Evidence against each limit over time"
        of_limits = rows, findings, enough
        figures.append(
            _svg(lambda figure: _evidence_over_time(figure, *of_limits), 3.0, about)
        )
    return figures


def _rates_over_time(figure, rows, limits, level):
    """Rates of first attempts with their bands as lines, those of logs as points."""
    ax, groups = figure.subplots(), rows[-1]["groups"]
    place = np.arange(len(rows))
    logs = [(k, row["log"]) for k, row in enumerate(rows) if row and row.get("log")]
    known = {
        name: np.array([_padded(row and row[name], len(groups)) for row in rows])
        for name in ("value", "low", "high")
    }
    for n, group in enumerate(groups):
        style = _style.line_style(n)
        label = _style.row_label(printable(group))
        ax.plot(place, known["value"][:, n], **style | {"marker": "none"}, label=label)
        if len(groups) <= _style.MAX_BANDS:
            ends = known["low"][:, n], known["high"][:, n]
            ax.fill_between(place, *ends, color=style["color"], alpha=0.12, lw=0)
        of_logs = [
            (k, log["value"][log["groups"].index(group)])
            for k, log in logs
            if group in log["groups"]
        ]
        if of_logs:
            ax.plot(*zip(*of_logs, strict=True), **style | {"linestyle": "none"})
    if len(groups) <= _style.MAX_BANDS:
        label = f"{level} CI"
        ax.fill_between([], [], color="grey", alpha=0.3, lw=0, label=label)
    ax.scatter([], [], color="grey", s=25, label="a log by itself")
    for limit in limits:
        ax.axhline(limit, **_style.REFERENCE, label="limit")
    rates_of_logs = [rate for _, log in logs for rate in log["value"]]
    shown = np.nanmax([*known["value"].ravel(), *rates_of_logs])
    most = max(np.nanmax(known["high"]), 1.1 * shown)
    ax.set_ylim(0, min(most, 3 * max(shown, *limits, 1e-3)))
    ax.yaxis.set_major_formatter(lambda value, _: _style.percent(value))
    ax.set_ylabel("False rejection rate (FRR)")
    _finish(ax, rows)


def _padded(values, n_groups):
    """Values of groups, with nan for those that came later, and for all between logs."""
    values = list(values or ())
    return values + [np.nan] * (n_groups - len(values))


def _evidence_over_time(figure, rows, findings, enough):
    """Evidence against the limits with the most, and how much is enough."""
    ax, groups = figure.subplots(), rows[-1]["groups"]
    excess = [np.nan_to_num(finding.value / finding.limit) for finding in findings]
    order = sorted(
        range(len(findings)), key=lambda k: (-findings[k].e_value, -excess[k])
    )
    most = [findings[k] for k in order]
    of_ratios = count(len(groups))
    for finding in most[:MOST_LIMITS]:
        name = " / ".join(map(printable, finding.groups))
        # A group has the same line in both figures.
        alone = len(finding.groups) == 1
        style = _style.line_style(
            groups.index(finding.groups[0]) if alone else next(of_ratios)
        )
        evidence = [row and evidence_of(row, finding)["e_value"] for row in rows]
        evidence = np.array(evidence, dtype=float)  # None is nan
        ax.plot(np.arange(len(rows)), evidence, **style, label=_style.row_label(name))
    ax.axhline(enough, **_style.REFERENCE, label="enough")
    ax.set_yscale("log")
    ax.set_ylabel("Evidence against the limit")
    _finish(ax, rows)


def _finish(ax, rows):
    """Times below an axis, and a legend above it if it fits."""
    # One tick for each time: parts of a log without times have the same.
    last_at = {known["when"]: k for k, known in enumerate(rows) if known}
    known_at, numbered = [*last_at.values()], "log 1" in last_at
    most = 12 if numbered else 3
    ticks = known_at[:: -ceil(len(known_at) / most)][::-1]
    when = [str(rows[k]["when"])[:16] for k in ticks]
    if len({text[:10] for text in when}) == len(when):  # days are enough
        when = [text.partition("T")[0] for text in when]
    names = [_style.plain_text(text.replace("T", "\n")) for text in when]
    if numbered:
        ax.set_xlabel("Log")
        names = [name.removeprefix("log ") for name in names]
    ax.set_xticks(ticks, names, fontsize="small")
    labels = ax.get_legend_handles_labels()[1]
    where = {"loc": "lower center", "bbox_to_anchor": (0.45, 1.0)}
    if len(labels) <= MAX_CURVES:
        ax.legend(**where, ncols=3, **ABOVE)


def _svg(draw, height, about):
    """Drawing of a figure, as SVG, and the text in its place."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(TEXT):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure)
        written = StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue(), about
