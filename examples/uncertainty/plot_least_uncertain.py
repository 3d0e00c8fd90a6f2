"""
======================================
Which disparity is the least uncertain
======================================

Between a noisy figure and a stable one, an auditor prefers the second. If
it is stable because it hardly reacts to anything, the group that is wronged gains
nothing by the choice: the disparity that would have been noticed is reported as small and
sure.

Conti and Clémençon (ICLR 2024) find that of four disparities the largest rate over the
geometric mean has the smallest normalised uncertainty, and recommend it for that (Figure
5). We repeat the figure on synthetic people of two groups and of six, and then ask the same
resamples which disparity separates groups that differ from groups with equal rates.
"""

# %%
# Two groups, and six
# -------------------
# The groups differ in how loose the images of their people are and in how crowded the
# people are. People are resampled here, photographs in the paper.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

from skfairfr import SimilarityROC, make_face_embeddings

LEVELS = np.geomspace(3e-4, 1e-2, 7)
HOWS = ("max_min", "max_geomean", "log_geomean", "gini")
NEUTRAL = {"max_min": 1, "max_geomean": 1, "log_geomean": 0, "gini": 0}


def fitted(n_groups):
    """Groups of equal size, each looser and more crowded than the one before."""
    names = [f"group {place}" for place in range(n_groups)]
    looseness = np.linspace(0, 1, n_groups)
    faces = make_face_embeddings(
        1200,
        4,
        n_features=64,
        groups=dict.fromkeys(names, 1 / n_groups),
        kappa=dict(zip(names, 105 - 15 * looseness, strict=True)),
        crowding=dict(zip(names, 16 + 8 * looseness, strict=True)),
        random_state=0,
    )
    roc = SimilarityROC(n_resamples=300, random_state=0)
    return roc.fit(faces.X, faces.y, faces.sensitive_features)


systems = {"two groups": fitted(2), "six groups": fitted(6)}

# %%
# Standard deviation over value
# -----------------------------
# This is the paper's normalised uncertainty, eq. (11). Solid lines are disparities of the
# FAR, dashed ones of the FRR.

estimates = {
    (name, rate, how): roc.estimate(LEVELS, rate=rate, how=how)
    for name, roc in systems.items()
    for rate in ("far", "frr")
    for how in HOWS
}


def draw(quantity, label, best, ticks, **scale):
    """A panel for each system, and which disparity is best at each level."""
    figure, axes = plt.subplots(
        1, 2, figsize=(10, 4), layout="constrained", sharey=True
    )
    for ax, name in zip(axes, systems, strict=True):
        for rate, line in (("far", "-"), ("frr", "--")):
            found = [quantity(estimates[name, rate, how], how) for how in HOWS]
            for place, (how, curve) in enumerate(zip(HOWS, found, strict=True)):
                style = {"color": f"C{place}", "marker": "osd^"[place]}
                ax.plot(LEVELS, curve, line, label=f"{how}, {rate}", **style)
                print(f"{name}, {rate}, {how}: mean {np.mean(curve):.3f}")
            first = [HOWS[place] for place in best(found, axis=0)]
            counts = {how: first.count(how) for how in HOWS if how in first}
            print(f"  best at how many of {LEVELS.size} levels: {counts}")
        ax.set(xscale="log", xlabel="FAR (FMR)", title=name, **scale)
    axes[0].set_ylabel(label)
    axes[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes[0].tick_params(axis="y", which="minor", labelleft=False)
    lines = axes[0].get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", ncols=4)


for (name, rate, how), estimate in estimates.items():
    if how == "max_min":
        print(f"{name}, {rate}: {estimate.supported.sum()} levels have enough errors")
draw(
    lambda estimate, how: estimate.normalized_uncertainty,
    "normalised uncertainty",
    np.argmin,
    [0.02, 0.05, 0.1, 0.2, 0.5],
    yscale="log",
)

# %%
# One number in four forms
# ------------------------
# Of two groups with rates in the ratio r, the four are r, its square root, a multiple of
# its logarithm, and (r - 1) / (r + 1). Each determines the others: resamples come in the same
# order by all. A square root halves a relative error, whatever it is taken of.

replicates = {how: systems["two groups"].resamples(1e-3, how=how) for how in HOWS}
squared = replicates["max_geomean"] ** 2
print("max_min is max_geomean squared:", np.allclose(squared, replicates["max_min"]))
for how in HOWS:
    order = spearmanr(replicates[how], replicates["max_min"]).statistic
    print(f"rank correlation of {how} and max_min over resamples: {order:.3f}")

# %%
# Distance from equal groups
# --------------------------
# The value of a disparity of equal groups is 1 for the first two and 0 for the
# others. The relevant distance is the number of standard errors from that value.

draw(
    lambda estimate, how: (estimate.value - NEUTRAL[how]) / estimate.standard_error,
    "standard errors from equal rates",
    np.argmax,
    [0, 2, 4, 6, 8, 10, 12],
)

# %%
# What to notice
# --------------
# max_geomean has the lowest normalised uncertainty, of the FAR and of the FRR, as in the
# paper. We draw another conclusion. Of two groups it is max_min under a square root, which
# halves the uncertainty without learning anything about the groups. And by the other
# yardstick the order turns: log_geomean and gini, the most uncertain in proportion, are
# further from equal groups. A disparity that is 1 without any difference
# divides its error by a value of which 1 carries no information.
#
# So let the meaning choose: max_min is the worst ratio anyone meets and rests on two of
# the groups, while gini and log_geomean take in every group. Each has its interval.
#
# **What this does not show**: which disparity detects a difference most often, as standard
# errors are not quantiles and replicates of ratios are skewed. That takes many data sets. It
# also does not show that groups chosen otherwise, or more unequal in size, keep this order.
