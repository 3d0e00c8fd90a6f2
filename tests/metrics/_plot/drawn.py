"""Small fitted measurements and bare axes, for the tests of displays."""

from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _pairs
from skfairfr.metrics._plot import _style
from tests.metrics import designs

LEVELS = np.array([0.02, 0.05, 0.1, 0.2])


@cache
def synthetic(n_identities=60):
    """Embeddings of two groups that differ."""
    made = make_face_embeddings(
        n_identities, n_features=16, kappa=30.0, heterogeneity=0.5, random_state=0
    )
    return made.X, made.y, made.sensitive_features


def unfitted(**options):
    """One that resamples people, a few times."""
    options = {
        "resample": "identities",
        "n_resamples": 20,
        "random_state": 0,
        **options,
    }
    return SimilarityROC(**options)


@cache
def fitted():
    """A SimilarityROC of two groups."""
    return unfitted().fit(*synthetic())


@cache
def fitted_with_lone_person():
    """A SimilarityROC where one person is a group of their own."""
    X, y, groups = synthetic()
    return unfitted().fit(X, y, np.where(y == y[0], "alone", groups))


@cache
def fitted_beyond_far_max():
    """A SimilarityROC that answers levels above far_max, 0.03, from a sample."""
    X, y, groups = synthetic()
    changed = np.where(np.arange(len(y)) % 7 == 0, "female", groups)
    with pytest.MonkeyPatch.context() as patch:
        designs.hold_tails(patch)
        patch.setattr(_pairs, "DEEPEST", 0)  # no equal error rate is held
        roc = unfitted(far_max=0.03).fit(X, y, changed)
        # Samples are drawn when they are first needed.
        roc.curve(np.array([0.1]), how="max_min", rate="far")
    return roc


BEYOND = "above FMR 3 %, "


def bands(ax):
    """Left and right end of every shaded band."""
    shaded = [p for p in ax.patches if str(p.get_label()).startswith(_style.SHADED)]
    return [(p.get_x(), p.get_x() + p.get_width()) for p in shaded]


def axes():
    """Axes of a figure that pyplot knows nothing of."""
    return Figure(figsize=(6, 4)).subplots()


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]
