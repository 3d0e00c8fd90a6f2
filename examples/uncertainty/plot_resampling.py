"""
=====================
Meaning of resampling
=====================

An auditor who reports a rate with too narrow an interval does harm twice: to a vendor who
is blamed for chance, and to the people of a group whose disparity is declared settled when
it is not. An interval is about something that could have turned out otherwise: *other
photographs of these people*, or *new people*. Resampling images simulates the first,
resampling identities for the second.

We draw both for real, which only synthetic data allow: the same people photographed
again, and new people of the same population. We compare these with the bootstrap's
standard errors from a single set, and see which one answers which question.
"""

# %%
# One set of people, and the two ways in which it could have differed
# -------------------------------------------------------------------
# Each person has a pool of photographs, of which a data set contains four.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import EstimandWarning, all_pairs, frr_at_far

FAR, N_IMAGES, N_DRAWS = 1e-2, 4, 40
SETTINGS = {
    "n_identities": 100,
    "n_features": 32,
    "groups": {"everybody": 1.0},
    "kappa": 80,
    "heterogeneity": 0.5,
}
rng = np.random.default_rng(0)
pool = make_face_embeddings(images_per_identity=80, random_state=0, **SETTINGS)
by_person = np.argsort(pool.y, kind="stable").reshape(100, 80)


def photograph_again():
    """Four photographs of each of the same people."""
    rows = rng.permuted(by_person, axis=1)[:, :N_IMAGES].ravel()
    return pool.X[rows], pool.y[rows]


def meet_others(seed):
    """Four photographs of each of new people from the same population."""
    others = make_face_embeddings(
        images_per_identity=N_IMAGES, random_state=seed, **SETTINGS
    )
    return others.X, others.y


def frr(X, y):
    """The rate we are after: frr at the threshold where far = 1e-2."""
    return frr_at_far(*all_pairs(X, y)[:2], far=FAR)


same_people = np.array([frr(*photograph_again()) for _ in range(N_DRAWS)])
other_people = np.array([frr(*meet_others(seed)) for seed in range(1, N_DRAWS + 1)])
print(f"sd of the frr over other photographs: {same_people.std(ddof=1):.4f}")
print(f"sd of the frr over other people:      {other_people.std(ddof=1):.4f}")

# %%
# Nobody can photograph everyone again and again
# ----------------------------------------------
# The bootstrap draws from the one set available instead: people by default. With
# ``resample="images"``, as in the literature on ROC curves, the class compares both standard
# errors and warns where they are far apart.

X, y = photograph_again()
MODES = ("images", "identities", "both")
estimates, replicates = {}, {}
for mode in MODES:
    roc = SimilarityROC(resample=mode, n_resamples=500, random_state=0).fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EstimandWarning)
        found = estimates[mode] = roc.estimate(FAR)
    replicates[mode] = roc.resamples(FAR)
    print(
        f"{mode:>10}: {found.value:.4f} [{found.low:.4f}, {found.high:.4f}],", end=" "
    )
    print(f"standard error {found.standard_error:.4f}")
    for warning in caught:
        print(f"{'':>12}{warning.category.__name__}: {warning.message}")

# %%
# Compared with the truth
# -----------------------
# Bars are the standard errors claimed from one set, and lines the spread over the sets that we
# drew.

fig, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
errors = [estimates[mode].standard_error for mode in MODES]
ax.bar(MODES, errors, color="0.75", edgecolor="black", width=0.5)
ax.axhline(
    same_people.std(ddof=1), color="C0", linestyle="--", label="other photographs"
)
ax.axhline(other_people.std(ddof=1), color="C1", linestyle="-", label="other people")
ax.set(xlabel="resample", ylabel="standard deviation of the frr")
ax.set_title("Claimed from one set (bars) and drawn (lines)")
ax.set_ylim(0, 1.45 * max(*errors, other_people.std(ddof=1)))
ax.legend(ncols=2)

# %%
# Copies of a photograph
# ----------------------
# Resampling images draws some of them twice, and two copies of one photograph make a
# genuine pair that no threshold rejects. The replicates lie too low, around another value
# than the estimate. ``method="recentered"``, the default, moves the interval back;
# ``method="naive"`` does not. Identities drawn twice are compared with themselves as they
# were, and nothing needs moving.

naive = roc.by(resample="images", method="naive")
with warnings.catch_warnings():
    warnings.simplefilter("ignore", EstimandWarning)
    moved, unmoved = estimates["images"], naive.estimate(FAR)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained", sharex=True)
bins = np.linspace(0, max(replicates["identities"].max(), moved.high), 25)
for ax, mode in zip(axes, MODES[:2], strict=True):
    ax.hist(replicates[mode], bins=bins, color="0.75", edgecolor="white")
    ax.set_ylim(0, 1.7 * ax.get_ylim()[1])
    ax.axvline(estimates[mode].value, color="black", label="estimate")
    ax.set(title=f'resample="{mode}"', xlabel="frr of a resample", ylabel="resamples")
above = axes[0].get_xaxis_transform()
for name, found, line, height in (
    ("naive", unmoved, "C0:", 0.62),
    ("recentered", moved, "C1-", 0.68),
):
    ends = [found.low, found.high]
    axes[0].plot(ends, [height] * 2, line, marker="|", transform=above, label=name)
    print(f"{name:>10}: [{found.low:.4f}, {found.high:.4f}] around {moved.value:.4f}")
axes[0].legend()
axes[1].legend()
print(f"mean of the image replicates: {replicates['images'].mean():.4f}")

# %%
# What to notice
# --------------
# Photographs vary less than people. Resampling images answers the question whether *these*
# people would be rejected as often next time. For a statement about a population, which is
# what most reports make, its interval is too narrow and the class warns. ``"both"`` draws
# people and photographs at once, and is meant to be conservative.
#
# **What this does not show**: uncertainty about the sample itself. If the people available
# were not drawn from those the system will meet, no resampling shows it. Nor is one
# set enough to judge coverage: that takes many sets, as the study of :ref:`uncertainty` has.
