"""The figures of an audit, as files.

Which displays an audit draws, their names and how they are written. What they show is
computed by :class:`~skfairfr.metrics.SimilarityROC` and drawn by ``skfairfr.metrics``.
"""

import os
from math import ceil
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from skfairfr._core._rates import in_digits
from skfairfr.metrics import (
    DisparityCurveDisplay,
    ErrorRateDisplay,
    GroupFARDisplay,
    ScoreHistogramDisplay,
    SimilarityROCDisplay,
)
from skfairfr.metrics._plot._group_far import matrix_size
from skfairfr.metrics._plot._group_rates import panel_height
from skfairfr.metrics._plot._style import (
    add_legend,
    mark,
    percent_ticks,
    plain_text,
    point_names,
    row_label,
)
from skfairfr.report._notes import collecting
from skfairfr.report._page_figures import rates_display
from skfairfr.report._text_layout import level_name
from skfairfr.utils._errors import Argument, ArgumentError
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
        raise ArgumentError(
            Argument("figures"),
            f" {os.fspath(folder)!r} cannot be written to ({error.strerror});",
            remedy="name a folder that can.",
            value=folder,
        ) from None
    return folders


def write_figures(audited, levels, folder, title="", distance=False, limits=None):
    """Write the displays of an audit, each in both formats.

    ``rates`` (both rates of every group at the operating points), ``roc`` (the frr over
    the far), ``error_rates`` and ``scores`` (over thresholds and scores), ``disparity`` and
    ``disparity_uncertainty``, all with the audit's operating points marked; and, for every
    level or threshold, ``group_far`` (the matrix of groups, where pairs of two groups are
    compared). No state of pyplot is touched.

    Parameters
    ----------
    audited : AuditedROC
    levels : tuple of Level
        Of the audit.
    folder : Path
        Where the files go.
    title : str, default=""
        What the data are, above every figure.
    distance : bool, default=False
        Whether scores are minus distances.
    limits : dict of str -> ndarray, shape (n_levels,), default=None
        Largest rates allowed, as of GroupRatesDisplay.

    Returns
    -------
    paths : list of Path
        Files in the order written.
    """
    drawn = []
    # The audit's notes already hold what the displays warn of.
    with temporary(folder) as staged, collecting([]):
        for name, draw, size in _figures(audited, levels, distance, limits):
            drawn += _write(draw, staged / name, size, title)
        for path in staged.iterdir():
            os.replace(path, folder / path.name)
    return [folder / path.name for path in drawn]


def _figures(audited, levels, distance, limits):
    """File names, what draws them on a figure, and sizes in inches."""
    roc, points = audited.roc, audited.points
    groups = roc.groups_.tolist()
    marks = {
        "far": points.far,
        "operating_thresholds": points.threshold,
        "distance": distance,
    }
    names = [level_name(level, {"distance": distance}) for level in levels]
    rates = rates_display(levels, names, limits, roc.confidence_level)
    yield (
        "rates",
        lambda figure: _draw_rates(figure, rates),
        (9.0, panel_height(1 + len(groups), points.size) + 0.4),
    )
    set_here = points.set_on == "these data"
    sources = points.far if set_here else np.full(points.size, np.nan)
    marked = (
        [level.rates[0].far.value for level in levels],
        point_names(points.threshold, sources, distance),
    )
    yield "roc", *_by_group(_marked(SimilarityROCDisplay, marked), roc, [None])
    yield "error_rates", *_by_group(ErrorRateDisplay.from_roc, roc, [], **marks)
    yield "scores", *_by_group(ScoreHistogramDisplay.from_roc, roc, [], **marks)
    curve = _marked(DisparityCurveDisplay, marked)
    yield "disparity", _on_axes(curve, roc), SIZE
    uncertainty = {
        "how": ("max_min", "max_geomean", "gini"),
        "quantity": "normalized_uncertainty",
    }
    yield (
        "disparity_uncertainty",
        _on_axes(curve, roc, **uncertainty),
        SIZE,
    )
    for level in levels:
        matrix = roc.far_matrix(threshold=level.threshold)
        # Without pairs of two groups, a matrix is a diagonal: the figure of the rates.
        if np.any(matrix.n_impostor[_off_diagonal(len(groups))]):
            shown = in_digits(-level.threshold if distance else level.threshold)
            if set_here:
                shown = f"{level.far:g}"
            draw = _on_axes(GroupFARDisplay.from_roc, roc, threshold=level.threshold)
            yield f"group_far_{shown}", draw, matrix_size(roc.groups_)


def _off_diagonal(n):
    """Off the diagonal."""
    return ~np.eye(n, dtype=bool)


def _draw_rates(figure, display):
    display.plot(figure.subplots(1, 2, sharey=True))
    # The title of the audit has the intervals.
    figure.suptitle(display.names[0] if len(display.names) == 1 else "")


def _marked(display, levels):
    """What draws a display over levels of the FAR, and marks those of the audit."""

    def draw(roc, ax, **options):
        display.from_roc(roc, ax=ax, **options)
        mark(ax, *levels)
        add_legend(ax, min(len(levels[0]), 2), above=True)

    return draw


def _on_axes(draw, roc, **options):
    return lambda figure: draw(roc, ax=figure.subplots(), **options)


def _by_group(draw, roc, always, **options):
    """What draws on a figure, and its size: on axes for each of many groups."""
    groups = roc.groups_.tolist()
    if len(groups) <= MAX_GROUPS:
        return _on_axes(draw, roc, **options), SIZE
    n_rows = ceil(len(groups) / N_COLUMNS)

    def draw_all(figure):
        axes = figure.subplots(n_rows, N_COLUMNS, squeeze=False).ravel()
        for ax, group in zip(axes, groups, strict=False):
            draw(roc, ax=ax, groups=[*always, group], **options)
            ax.set_title(row_label(group), fontsize="medium", pad=24)
            if ax.get_legend() is not None:
                ax.get_legend().remove()
        for ax in axes[len(groups) :]:
            ax.set_visible(False)
        _align(axes[: len(groups)])

    return draw_all, (SIZE[0] * 0.75 * N_COLUMNS, SIZE[1] * 0.75 * n_rows)


def _align(axes):
    """Give panels the same axes, so that groups can be compared."""
    for get, change, side in (
        ("get_xlim", "set_xlim", "x"),
        ("get_ylim", "set_ylim", "y"),
    ):
        limits = np.array([getattr(ax, get)() for ax in axes])
        # Axes of distances run the other way.
        reverse = limits[0, 0] > limits[0, 1]
        ends = (limits.max(), limits.min()) if reverse else (limits.min(), limits.max())
        for ax in axes:
            getattr(ax, change)(*ends)
            axis = getattr(ax, f"{side}axis")
            if axis.get_scale() == "log":
                percent_ticks(axis, (ends[0], min(ends[1], 1.0)))


def _write(draw, path, size, title):
    """Draw once and save in every format; the paths written."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure)
    if title:
        above = figure.get_suptitle()
        text = f"{plain_text(title)}\n{above}" if above else plain_text(title)
        figure.suptitle(text, fontsize="small", wrap=True)
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
