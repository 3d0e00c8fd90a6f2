"""The figures of an audit, as files.

Which displays an audit draws, their names and how they are written. What they show is
computed by :class:`~skfairfr.metrics.SimilarityROC` and drawn by ``skfairfr.metrics``.
"""

from pathlib import Path

import numpy as np

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
from skfairfr.utils._validation import check_level, check_option

SIZE = (6.0, 4.0)
FORMATS = ("svg", "png")
# The same audit writes the same bytes: no date, no random identifiers.
STEADY = {"svg": {"Date": None}, "png": {"Software": None}}
SALT = {"svg.hashsalt": "skfairfr"}


def write_figures(roc, directory, *, far=1e-3, formats=FORMATS, dpi=150):
    """Write the displays of an audit.

    ``roc`` (the frr over the far), ``error_rates`` and ``scores`` (over thresholds and
    scores, with the thresholds of the levels marked); with two groups or more
    ``disparity`` and ``disparity_uncertainty``; and, for every level, ``group_far`` (the
    matrix of groups). No state of pyplot is touched.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted.
    directory : path-like
        Where the files go; made if it does not exist.
    far : float in (0, 1) or array-like, shape (n_levels,), default=1e-3
        FAR levels of the audit.
    formats : sequence of {"svg", "png"}, default=("svg", "png")
        File formats.
    dpi : int, default=150
        Dots per inch of PNG files; figures are 6 by 4 inches, matrices of many groups
        larger.

    Returns
    -------
    paths : list of Path
        Files in the order written.

    Raises
    ------
    ValueError
        If far is outside (0, 1) or a format is unknown.
    """
    levels = np.unique(check_level(far))[::-1]
    for extension in formats:
        check_option(extension, "formats", FORMATS)
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in _figures(roc, levels):
        size = matrix_size(roc.groups_) if name.startswith("group_far") else SIZE
        paths += _write(draw, directory / name, formats, dpi, size)
    return paths


def write_figures_of(roc, attribute, folder, points):
    """Write the figures of an audit by one attribute.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted.
    attribute : str
        Figures of an audit by gender go to ``folder / "gender"``.
    folder : path-like
    points : Points
        Operating points of the audit; thresholds have no level, and are drawn at the usual
        ones.

    Returns
    -------
    paths : list of Path
    """
    levels = Points.of().far if points.far is None else points.far
    slug = "".join(c if c.isalnum() or c in "-_" else "-" for c in attribute)
    # The audit's notes already hold what the displays warn of.
    with collecting([]):
        return write_figures(roc, Path(folder) / slug, far=levels)


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


def _write(draw, path, formats, dpi, size):
    """Draw once and save in every format; the paths written."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
    written = []
    for extension in formats:
        target = path.with_name(f"{path.name}.{extension}")
        with rc_context(SALT):
            figure.savefig(target, dpi=dpi, metadata=STEADY[extension])
        written.append(target)
    return written
