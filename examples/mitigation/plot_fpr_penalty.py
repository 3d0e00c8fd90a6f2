"""
=====================================================
A penalty on false accepts that needs no group labels
=====================================================

A false accept lets a stranger in. If it happens more often within some groups, the
people of those groups are protected less, and often nobody has recorded who belongs to
them. Xu et al. (CVPR 2021) therefore even out false accepts over images instead of groups:
an image with more than its share of them is penalised while the head is trained.

First the observation that the paper starts from (its Figure 1), at one threshold FAR differs
more between groups than FRR, by its measure and by another. Then the penalty, trained on
people without their groups, and its effect on held-out people, with intervals. The numbers
come in part from ``study_premises.json`` and ``study_fpr_penalty.json``, written by
``study_premises.py`` and ``study_fpr_penalty.py`` in the same folder.
"""

# %%
# Four groups that are unknown to every fit
# -----------------------------------------
# Each is smaller, more crowded and more spread than the one before.

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t

from skfairfr import FPRPenaltyProjector, SimilarityROC, make_face_embeddings
from skfairfr.metrics import ErrorRateDisplay, InstanceFARDisplay, instance_far

faces = make_face_embeddings(
    1200,
    (4, 8),
    n_features=64,
    groups={"A": 0.4, "B": 0.3, "C": 0.2, "D": 0.1},
    random_state=0,
)
X, y, groups = faces.X, faces.y, faces.sensitive_features
fitted = y % 2 == 0
roc = SimilarityROC(n_resamples=200, random_state=0)
roc.fit(X[~fitted], y[~fitted], groups[~fitted])

# %%
# Does FAR differ more between groups than FRR?
# ---------------------------------------------
# The paper compares standard deviations at one threshold. They grow with the rates, and the
# threshold makes one rate large and the other small. A ratio does not grow. We print both for
# these people, and in how many of ten draws the FARs differ more.

ErrorRateDisplay.from_roc(roc)
for how in ("max_geomean", "std"):
    for rate in ("far", "frr"):
        of = roc.estimate(1e-3, rate=rate, how=how)
        print(f"{how} of the {rate.upper()} at an overall FAR of 1e-3: ", end="")
        print(f"{of.value:.3g} [{of.low:.3g}, {of.high:.3g}]")
here = Path(__file__).parent
premises = json.loads((here / "study_premises.json").read_text(encoding="utf-8"))
for measure in premises["spread"][0]:
    larger = [row[measure][0] > row[measure][1] for row in premises["spread"]]
    print(f"{measure}: FAR differs more in {sum(larger)} of {len(larger)} draws")

# %%
# The view of the paper: each image's own false accepts
# -----------------------------------------------------
# The penalty is meant to lift none above the others. Two heads are trained, with the
# penalty and without (``alpha=0``), on the same people. Rates are those among an image's
# own group, at the threshold where their mean over all comparisons is 1e-3.

options = {"head": "residual", "lr": 1e-3, "max_epochs": 6, "random_state": 0}
plain = FPRPenaltyProjector(alpha=0.0, **options).fit(X[fitted], y[fitted])
penalised = FPRPenaltyProjector(alpha=0.1, **options).fit(X[fitted], y[fitted])
systems = {
    "As they are": X[~fitted],
    "Trained, alpha = 0": plain.transform(X[~fitted]),
    "Trained, alpha = 0.1": penalised.transform(X[~fitted]),
}
figure, axes = plt.subplots(
    1, 3, figsize=(14, 5.4), sharex=True, sharey=True, layout="constrained"
)
for ax, (name, embeddings) in zip(axes, systems.items(), strict=True):
    shares = instance_far(
        embeddings,
        y[~fitted],
        far=1e-3,
        sensitive_features=groups[~fitted],
        impostors="same_group",
    )
    InstanceFARDisplay.from_instance_far(shares, ax=ax)
    ax.set_title(name)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), fontsize="small")
    ax.set_xlabel("FAR of an image")
    ax.label_outer()

# %%
# Effect of the penalty on held-out people
# ----------------------------------------
# Five draws of 2,000 people each, half of them held out. Points are the draws, and bars the
# 95 % t interval of the change against ``alpha=0``, for two measures of the spread of the group
# FARs at an overall FAR of 1e-3. Below zero they are closer together.

found = json.loads((here / "study_fpr_penalty.json").read_text(encoding="utf-8"))
rows = found["synthetic"]["rows"]
names = [name for name in rows if name not in ("alpha = 0", "before")]
figure, axes = plt.subplots(1, 2, figsize=(11, 6), sharey=True, layout="constrained")
for ax, measure in zip(axes, ("FAR std", "FAR max/geomean"), strict=True):
    none = np.array([row[measure] for row in rows["alpha = 0"]])
    for place, name in enumerate(names):
        change = 100 * (np.array([row[measure] for row in rows[name]]) / none - 1)
        half = t.ppf(0.975, change.size - 1) * change.std(ddof=1) / change.size**0.5
        ax.plot(change, np.full(change.size, place), "o", color="0.6", markersize=4)
        ax.errorbar(change.mean(), place, xerr=half, fmt="s", color="black", capsize=3)
    ax.axvline(0, color="0.4", linewidth=1, linestyle=":")
    ax.set_xlabel(f"Change of {measure} against alpha = 0, %")
axes[0].set_yticks(range(len(names)), names)
axes[0].set_ylim(len(names) - 0.5, -0.5)
plt.show()

# %%
# What to notice
# --------------
# - Whether FAR differs more between groups than FRR depends on the measure and the threshold.
#   The paper's, the standard deviation, is larger of the FRR in all ten draws at 1e-3, and of
#   the FAR in all ten at 1e-1. By max/geomean the FAR differs more in most draws at 1e-4 and
#   1e-3, and in two of ten at 1e-2.
# - The standard deviation of the group FARs, the paper's measure, is lower with the penalty
#   than without for most settings. The ratio of the largest to the geometric mean hardly
#   moves: the interval of most settings, the default among them, contains zero. The penalty
#   pushes the groups' FARs down together against those of cross-group pairs more than it
#   brings them together.
# - At a ``far`` of 1e-4 all ``alpha`` from 0.1 on give the same head: the penalty is so large
#   that more of it changes nothing. One false accept is many times that share here.
#
# **What this does not show**: that it is so on faces. On the gender of LFW the penalty raised the
# standard deviation of the group FARs, by 111 % [22, 199] with the mean square and ``alpha = 0.3``,
# by 45 % [-5, 96] with the default, and no setting lowered it detectably (the table in the
# documentation). A head on frozen embeddings can do less than the paper's training of the whole
# encoder, which was not repeated.
