"""The figures of an audit, as files.

Which displays an audit draws, their names and how they are written. What they show is
computed by :class:`~skfairfr.metrics.SimilarityROC` and drawn by ``skfairfr.metrics``.
"""

import os
from math import ceil
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from skfairfr._core._parallel import next_step
from skfairfr.metrics import (
    DisparityCurveDisplay,
    ErrorRateDisplay,
    ScoreHistogramDisplay,
    SimilarityROCDisplay,
)
from skfairfr.metrics._plot._from_roc import default_levels, score_range
from skfairfr.metrics._plot._group_rates import panel_height
from skfairfr.metrics._plot._style import (
    add_legend,
    mark,
    percent_ticks,
    plain_text,
    row_label,
)
from skfairfr.report._common_parts import short_place
from skfairfr.report._measure import RATES
from skfairfr.report._notes import collecting
from skfairfr.report._page_figures import rates_display
from skfairfr.report._policy import limits_of
from skfairfr.utils._errors import Argument, ArgumentError
from skfairfr.utils._folder import temporary
from skfairfr.utils._validation import check_path
from skfairfr.utils._words import printable

SIZE = (6.4, 4.6)
SAMPLED = "from a sample"
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


def write_figures(audited, audit, folder, title="", bands=False):
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
    bands : bool, default=False
        Whether ``roc`` shows bands that hold for a whole curve, of resamples of people.

    Returns
    -------
    paths : list of Path
        Files in the order written.
    """
    drawn = []
    # The audit's notes already hold what the displays warn of.
    with temporary(folder) as staged, collecting([]):
        for name, draw, size in _figures(audited, audit, bands):
            next_step(f"drawing {name} by {printable(audit.attribute)}")
            drawn += _write(draw, staged / name, size, title)
        for path in staged.iterdir():
            os.replace(path, folder / path.name)
    return [folder / path.name for path in drawn]


def _figures(audited, audit, bands):
    """File names, what draws them on a figure, and sizes in inches."""
    points, levels, groups = audited.points, audit.levels, tuple(audited.labels)
    names = [short_place(level, audit) for level in levels]
    confidence = audit.settings["confidence_level"]
    rates = rates_display(levels, names, limits_of(audit), confidence)
    height = panel_height(len(groups), points.size) + 0.4
    yield "rates", lambda figure: _draw_rates(figure, rates), (9.0, height)
    drawn = _Drawn(audited, audit, names, bands)
    yield "roc", *_by_group(drawn.roc, groups, [0])
    yield "error_rates", *_by_group(drawn.error_rates, groups, [])
    yield "scores", *_by_group(drawn.scores, groups, [])
    yield "disparity", lambda figure: drawn.disparity(figure.subplots()), SIZE


class _Drawn:
    """Both rates of an audit over thresholds, drawn in four ways on given axes."""

    def __init__(self, audited, audit, names, bands):
        self.audited, self.names, self.bands = audited, names, bands
        self.distance = bool(audit.settings.get("distance"))
        # Of the levels of curves every second one, which a reader tells apart.
        self.far, over_far = (
            default_levels(audited.roc)[::2],
            audit.curves.threshold[::2],
        )
        grid = np.unique(np.append(over_far, audited.points.threshold))
        if grid.size < 3:
            grid = np.unique(np.append(grid, np.linspace(*score_range(audited.roc), 9)))
        self.grid, self.along = grid, audited.along(grid)
        self.order = np.searchsorted(grid, over_far)
        self.places = [level.rates[0].far.value for level in audit.levels]
        self.beyond = self.along["far"].sampled
        far_max = audited.roc.far_max if self.beyond.any() else None
        self.shaded = {"far_max": far_max, "beyond": SAMPLED}

    def groups(self, rows):
        """Labels of some rows; None is everyone."""
        return tuple(self.audited.labels[row] for row in rows)

    def roc(self, ax, rows):
        """The FNMR over the FMR."""
        if self.bands:
            options = {"groups": self.groups(rows), "band": "simultaneous"}
            SimilarityROCDisplay.from_roc(self.audited.roc, ax=ax, **options)
        else:
            found = self.along["frr"].fields(rows, self.order)
            found |= dict.fromkeys(("band_low", "band_high")) | self.shaded
            found["frr"] = found.pop("value")
            groups = self.groups(rows)
            SimilarityROCDisplay(far=self.far, groups=groups, **found).plot(ax)
        self._mark_levels(ax)

    def error_rates(self, ax, rows):
        """Both rates over thresholds."""
        columns = {}
        for rate, found in self.along.items():
            fields = found.fields(rows, slice(None))
            columns[rate] = fields.pop("value")
            columns |= {f"{rate}_{name}": values for name, values in fields.items()}
        ErrorRateDisplay(
            threshold=self.grid,
            **columns,
            groups=self.groups(rows),
            distance=self.distance,
            sampled_to=float(self.grid[self.beyond].max())
            if self.beyond.any()
            else None,
            beyond=SAMPLED,
        ).plot(ax)
        self._mark_thresholds(ax)

    def scores(self, ax, rows):
        """Histograms of both kinds of pairs."""
        edges, densities = self.audited.densities
        ScoreHistogramDisplay(
            edges=edges,
            genuine=densities["frr"][rows],
            impostor=densities["far"][rows],
            n_genuine=self.audited.n_pairs["frr"][rows],
            n_impostor=self.audited.n_pairs["far"][rows],
            groups=self.groups(rows),
            distance=self.distance,
        ).plot(ax)
        self._mark_thresholds(ax)

    def disparity(self, ax):
        """The largest over the smallest rate, of either."""
        found = [self.along[rate].largest_ratio() for rate in RATES]
        fields = {n: np.stack([f[n][self.order] for f in found]) for n in found[0]}
        fields |= dict.fromkeys(("band_low", "band_high", "normalized_uncertainty"))
        curves = tuple((rate, "max_min") for rate in RATES)
        fields |= {"curves": curves, **self.shaded}
        DisparityCurveDisplay(far=self.far, **fields).plot(ax)
        self._mark_levels(ax)

    def _mark_levels(self, ax):
        mark(ax, self.places, self.names)
        add_legend(ax, min(len(self.places), 2), above=True)

    def _mark_thresholds(self, ax):
        mark(ax, self.audited.points.threshold, self.names)
        add_legend(ax, min(len(self.places), 2))


def _draw_rates(figure, display):
    display.plot(figure.subplots(1, 2, sharey=True))
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
            ax.set_title(row_label(groups[row]), fontsize="medium", pad=24)
            if ax.get_legend() is not None:
                ax.get_legend().remove()
        for ax in axes[len(own) :]:
            ax.set_visible(False)
        _align(axes[: len(own)])

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
