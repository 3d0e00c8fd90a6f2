"""
=====================================
Who is stopped by mistake in a search
=====================================

A camera at a station compares every passer-by with a watch list. Whoever is not on it and
resembles somebody who is may be stopped by mistake: the false positive identification rate
(FPIR) counts how often. Whoever is on it and is not found makes the false negative one (FNIR).

We measure both by the group of the passer-by, ask what a shorter or another list would do, who
on the list causes the alarms, and what the Ethical Module does to the FPIR of women and men.
"""

# %%
# A list, and those who pass
# --------------------------
# One image of every second person is on the list. All other images are searches. The system
# raises an alarm from the similarity that five in a hundred searches by others reach.

import matplotlib.pyplot as plt
import numpy as np

from skfairfr import EthicalModule, face_labels, make_face_embeddings
from skfairfr.metrics import GallerySizeDisplay, IdentificationROC

FPIR = 0.05
faces = make_face_embeddings(1600, images_per_identity=2, n_features=64, random_state=0)
fitted_on = faces.y < 800  # people of the Ethical Module, who are not searched for
X, y, group = (a[~fitted_on] for a in (faces.X, faces.y, faces.sensitive_features))
_, first = np.unique(y, return_index=True)
enrolled = first[::2]
passing = np.setdiff1d(np.arange(len(y)), enrolled)


def search(embeddings):
    """A fitted search of the list by all who pass."""
    roc = IdentificationROC(n_resamples=100, random_state=0)
    gallery = {"X_gallery": embeddings[enrolled], "y_gallery": y[enrolled]}
    gallery["sensitive_features_gallery"] = group[enrolled]
    return roc.fit(embeddings[passing], y[passing], group[passing], **gallery)


before = search(X)
threshold = before.threshold_at(FPIR)
for name in before.groups_:
    for rate in ("fpir", "fnir"):
        found = before.estimate(threshold=threshold, rate=rate, group=name)
        print(f"{name} {rate.upper()} {found}")

# %%
# A shorter list
# --------------
# Lists of n people drawn from this one are answered exactly. The crosses are what is often
# taken instead, as if the comparisons of one search were independent.

GallerySizeDisplay.from_identification(before, threshold=threshold)

# %%
# A list of men alone
# -------------------
# Whom a search resembles depends on who is on the list.

shares = {"male": 1.0}
size = int((group[enrolled] == "male").sum()) // 2
for label, asked in (("drawn from all", None), ("men alone", shares)):
    for name in before.groups_:
        found = before.estimate(
            threshold=threshold,
            rate="fpir",
            group=name,
            gallery_size=size,
            gallery_shares=asked,
        )
        print(f"{size} people, {label}: FPIR of {name} searches {found}")

# %%
# Whom false alarms name
# -----------------------
# Each false alarm returns somebody on the list. To enrol a few people again may do more than
# another threshold.

alarms = before.alarms(threshold=threshold)
print(f"{alarms.n_alarms.sum()} alarms return {alarms.identity.size} people")
print(f"the ten worst are {alarms.share[:10].sum():.0%} of them")
print(before.fpir_matrix(threshold=threshold).to_frame())

# %%
# What the Ethical Module does
# ----------------------------
# Fitted on different people, with a smaller concentration for women. Each system operates at its
# own threshold for an FPIR of 5 %.

module = EthicalModule(groups=("male", "female"), kappa0=30, kappa1=20, random_state=0)
labels = face_labels(faces.y[fitted_on], faces.sensitive_features[fitted_on])
after = search(module.fit(faces.X[fitted_on], labels).transform(X))
fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
for ax, rate in zip(axes, ("fpir", "fnir"), strict=True):
    for place, (label, roc) in enumerate((("before", before), ("after", after))):
        own = roc.threshold_at(FPIR)
        rows = [
            roc.estimate(threshold=own, rate=rate, group=g)
            for g in (None, *roc.groups_)
        ]
        value, low, high = np.array([(r.value, r.low, r.high) for r in rows]).T
        at = np.arange(len(rows)) + 0.2 * (place - 0.5)
        ends = np.abs(np.array([low, high]) - value)
        ax.errorbar(value, at, xerr=ends, fmt="os"[place], label=label)
        text = ", ".join(
            f"{v:.3f} [{a:.3f}, {b:.3f}]"
            for v, a, b in zip(value, low, high, strict=True)
        )
        print(f"{rate.upper()} {label}: everyone, {', '.join(roc.groups_)}: {text}")
    ax.set(xlabel=rate.upper(), xlim=(0, None))
    ax.set_yticks(range(len(rows)), ["everyone", *before.groups_])
axes[0].legend()
change = after.compare(before, FPIR, rate="fpir", how="difference", gallery_size=200)
print(f"change of the difference of FPIR, 200 on the list: {change.difference:+.3f}")
print(f"interval {change.low:+.3f} to {change.high:+.3f}")

# %%
# What to notice
# --------------
# - At one threshold for everybody the two groups are stopped by mistake at different rates, and
#   a list of men alone moves the alarms to men: an FPIR is about one gallery.
# - Fitted with these concentrations, the Ethical Module brings the FPIR of women and men together
#   at the same FPIR of everyone: that of women falls, and that of men rises. Next to it is the
#   FNIR, whose intervals before and after overlap in either group.
#
# **What this does not show**: a real encoder, since the groups of these synthetic embeddings differ
# on purpose, longer lists, cameras, or what follows an alarm. Intervals are for new people who
# pass, with this list taken as given.
