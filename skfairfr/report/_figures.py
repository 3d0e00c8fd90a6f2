"""The figures of an audit, as files.

Which displays an audit draws, their names and how they are written. What they show is
computed by :class:`~skfairfr.metrics.SimilarityROC` and drawn by ``skfairfr.metrics``.
"""

import os
from pathlib import Path
from tempfile import TemporaryFile

from skfairfr.metrics import (
    DisparityCurveDisplay,
    ErrorRateDisplay,
    GroupFARDisplay,
    ScoreHistogramDisplay,
    SimilarityROCDisplay,
)
from skfairfr.metrics._plot._group_far import matrix_size
from skfairfr.report._measure import Points
from skfairfr.report._notes import collecting
from skfairfr.utils._errors import Argument, ArgumentError

SIZE = (6.0, 4.0)
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
    folders = [Path(folder) / slug for slug in slugs]
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


def write_figures(roc, folder, points):
    """Write the displays of an audit, each in both formats.

    ``roc`` (the frr over the far), ``error_rates`` and ``scores`` (over thresholds and
    scores, with the thresholds of the levels marked); with two groups or more
    ``disparity`` and ``disparity_uncertainty``; and, for every level, ``group_far`` (the
    matrix of groups). No state of pyplot is touched.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted.
    folder : Path
        Where the files go.
    points : Points
        Operating points of the audit; thresholds have no level, and are drawn at the usual
        ones.

    Returns
    -------
    paths : list of Path
        Files in the order written.
    """
    levels = Points.of().far if points.far is None else points.far
    paths = []
    # The audit's notes already hold what the displays warn of.
    with collecting([]):
        for name, draw in _figures(roc, levels):
            size = matrix_size(roc.groups_) if name.startswith("group_far") else SIZE
            paths += _write(draw, folder / name, size)
    return paths


def _figures(roc, levels):
    """File names and what draws them on axes."""
    yield "roc", lambda ax: SimilarityROCDisplay.from_roc(roc, ax=ax)
    yield "error_rates", lambda ax: ErrorRateDisplay.from_roc(roc, far=levels, ax=ax)
    yield "scores", lambda ax: ScoreHistogramDisplay.from_roc(roc, far=levels, ax=ax)
    if roc.groups_.size < 2:
        return
    yield "disparity", lambda ax: DisparityCurveDisplay.from_roc(roc, ax=ax)
    yield (
        "disparity_uncertainty",
        lambda ax: DisparityCurveDisplay.from_roc(
            roc,
            how=("max_min", "max_geomean", "gini"),
            quantity="normalized_uncertainty",
            ax=ax,
        ),
    )
    for level in levels:
        yield (
            f"group_far_{level:g}",
            lambda ax, far=float(level): GroupFARDisplay.from_roc(roc, far=far, ax=ax),
        )


def _write(draw, path, size):
    """Draw once and save in every format; the paths written."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
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
