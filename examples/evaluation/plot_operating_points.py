"""
=================================
Which threshold? Operating points
=================================

An exam board checks candidates by face. If the threshold is low, somebody else may sit
the exam for a candidate, and honest candidates are harmed. If it is high, the system rejects
candidates who should sit the exam. The board promises a false acceptance rate, but a promise
about *all pairs* and one about *every group* need different thresholds, and each moves the
harm to different people.

We take one synthetic set of embeddings and ask it about the same level of the far under
three operating points: over all pairs, in the worst group, and in each group at its own
threshold. Then we take a threshold from one set of people to another, as a deployed
system does.
"""

# %%
# One set, three operating points
# -------------------------------

import matplotlib.pyplot as plt
import numpy as np

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import (
    DisparityCurveDisplay,
    ExpectedPerformanceDisplay,
    SimilarityROCDisplay,
    all_pairs,
)

faces = make_face_embeddings(n_identities=600, n_features=64, random_state=0)
roc = SimilarityROC(n_resamples=300, random_state=0)
roc.fit(faces.X, faces.y, faces.sensitive_features)

FAR = 5e-3
POINTS = ("overall", "worst_group", "group")
MARKERS = {"female": "o", "male": "s"}


def thresholds(point):
    """Threshold of each group at an operating point."""
    if point == "group":
        return [
            roc.threshold_at(FAR, operating_point=point, group=g) for g in roc.groups_
        ]
    return [roc.threshold_at(FAR, operating_point=point)] * len(roc.groups_)


# %%
# What each group meets
# ---------------------
# "overall" keeps the promise on average: the group with the higher far exceeds the level.
# "worst_group" raises the threshold until no group does, which rejects more genuine pairs.
# "group" gives each group the same far by construction, and the disparity of the far is
# gone: what is left of it has moved into the frr.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for ax, rate in zip(axes, ("far", "frr"), strict=True):
    for shift, group in zip((-0.08, 0.08), roc.groups_, strict=True):
        found = [
            roc.estimate(FAR, rate=rate, group=group, operating_point=point)
            for point in POINTS
        ]
        value, low, high = (
            np.array([getattr(estimate, name) for estimate in found])
            for name in ("value", "low", "high")
        )
        for point, rate_of_group in zip(POINTS, value, strict=True):
            print(f"{point:>11}: {rate} of {group} {rate_of_group:.4f}")
        # Where every resample meets the level, value and interval may differ by a hair.
        reach = np.clip([value - low, high - value], 0, None)
        at = np.arange(len(POINTS)) + shift
        ax.errorbar(at, value, reach, fmt=MARKERS[group], capsize=3, label=group)
    ax.set_xticks(range(len(POINTS)), labels=POINTS)
    ax.set(ylabel=f"{rate} (lower is better)", xlabel="operating point")
axes[0].axhline(FAR, color="0.5", linestyle="--", label="level")
axes[0].legend()
fig.suptitle(f"Error rates at far = {FAR:g}, with 95 % intervals")

# %%
# The thresholds behind them
# --------------------------

for point in POINTS:
    of_groups = zip(roc.groups_, thresholds(point), strict=True)
    print(f"{point:>11}:", *(f"{group} {t:.3f}" for group, t in of_groups))

# %%
# Disparity over levels
# ---------------------
# No level is the level: the ratio of the groups' rates is a curve. BFAR and BFRR are these
# curves at the worst-group operating point. The intervals are of each level on its own;
# the table also contains a band meant for the whole curve at once.

levels = np.geomspace(1e-3, 1e-2, 8)
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, point in zip(axes, POINTS[:2], strict=True):
    DisparityCurveDisplay.from_roc(roc, far=levels, operating_point=point, ax=ax)
    ax.set_title(point)
bfrr = roc.curve(levels, rate="frr", how="max_min", operating_point="worst_group")
print(bfrr.to_frame("pandas").round(4).to_string(index=False))

# %%
# A threshold that was set elsewhere
# ----------------------------------
# Deployed systems take their threshold from one set of people and are used by others. With new
# people from the same population, the level is met up to chance. With people from another
# population, a synthetic one with more crowded people, it is not met at all.

deployed = roc.threshold_at(FAR)
crowded = {"male": 20, "female": 40}
for name, crowding in (("same population", None), ("crowded population", crowded)):
    others = make_face_embeddings(
        n_identities=300, n_features=64, crowding=crowding, random_state=1
    )
    there = SimilarityROC(n_resamples=300, random_state=0)
    there.fit(others.X, others.y, others.sensitive_features)
    far = there.estimate(threshold=deployed, rate="far")
    print(f"{name}: far {far.value:.4f} [{far.low:.4f}, {far.high:.4f}], level {FAR}")

# %%
# What errors cost
# ----------------
# Left: DET of every group over its own far, with the points of its least detection cost. Right:
# error of the crowded people at thresholds for all that are best for the first set.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
asked = {"operating_point": "group", "p_target": [0.01, 0.5], "scale": "det"}
SimilarityROCDisplay.from_roc(roc, **asked, ax=axes[0])
test = all_pairs(others.X, others.y, sensitive_features=others.sensitive_features)
y_true, y_score, _ = all_pairs(faces.X, faces.y)
asked = {"sensitive_features": test[2], "ax": axes[1]}
asked |= {"y_true_dev": y_true, "y_score_dev": y_score}
ExpectedPerformanceDisplay.from_pairs(*test[:2], **asked)

# %%
# What to notice
# --------------
# The same embeddings give different error rates and different disparities at the three
# operating points: a disparity without its operating point is not a result. Thresholds by
# group equalise the far by construction. This needs the group of each face at each comparison,
# and does not cover pairs of two groups.
#
# **What this does not show**: which operating point is the right one. That depends on who
# bears the cost of each error, which is not in the embeddings. Levels below those drawn
# need more impostor pairs in every group.
