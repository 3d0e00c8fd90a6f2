"""
=======================================
One number for the similarity of images
=======================================

A lock compares faces. If the images of a person are spread widely about that person's
direction, the lock too often rejects its owner. If they reach into a neighbour's, it accepts
somebody else. The von Mises-Fisher distribution has one number for this, the concentration
kappa, and the Ethical Module fits one kappa per group.

We look at what kappa does to images on a sphere, at the constant of the density, which
is where programs break in the 512 dimensions of an encoder, and at the numbers that the
loss then works with. These are Figures 3, 6 and 7 of the paper.
"""

# %%
# What kappa does
# ---------------
# Two people with 250 images each on the sphere in three dimensions, if one can look.

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.special import ive

from skfairfr import make_face_embeddings
from skfairfr.losses import FairVMFLoss

SHADES = np.array(["#0072B2", "#D55E00"])
fig, axes = plt.subplots(1, 3, figsize=(9, 3.3), layout="constrained")
for ax, kappa in zip(axes, (5, 50, 500), strict=True):
    two = make_face_embeddings(
        2,
        250,
        3,
        groups={"everybody": 1.0},
        kappa=kappa,
        heterogeneity=0,
        random_state=4,
    )
    # Seen from between the two people. The far side is pale.
    sight = two.centroids.sum(axis=0)
    sight /= np.linalg.norm(sight)
    across = np.cross(sight, two.centroids[0])
    across /= np.linalg.norm(across)
    seen = two.X @ np.stack([np.cross(across, sight), across, sight], axis=1)
    near = np.where(seen[:, 2] > 0, 0.8, 0.15)
    ax.scatter(*seen[:, :2].T, s=8, c=SHADES[two.y], alpha=near, linewidths=0)
    ax.add_patch(plt.Circle((0, 0), 1, fill=False, color="0.6"))
    ax.set(
        aspect="equal", xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), title=f"kappa = {kappa}"
    )
    ax.axis("off")
fig.suptitle("Images of two people on the sphere, by colour")

# %%
# The constant of the density
# ---------------------------
# The density is C(kappa) exp(kappa cos). Its constant contains a Bessel function that leaves
# the range of floating point in high dimension: scipy's, even the scaled one, is 0 at
# small kappa, and its logarithm -inf. The loss works with log C throughout.

N_FEATURES = 512
order = N_FEATURES / 2 - 1
kappas = np.geomspace(0.1, 1000, 200)
loss = FairVMFLoss(kappas.size, N_FEATURES, kappas)
log_c = loss.log_normalizer.numpy()
log_i = order * np.log(kappas) - N_FEATURES / 2 * np.log(2 * np.pi) - log_c
with np.errstate(divide="ignore"):
    from_scipy = np.log(ive(order, kappas)) + kappas
broken = ~np.isfinite(from_scipy)
print(f"log C from {log_c.min():.1f} to {log_c.max():.1f}")
print(f"scipy: no finite value up to kappa = {kappas[broken].max():.1f}")
apart = np.abs(log_i - from_scipy)[~broken].max()
print(f"largest difference elsewhere (the loss keeps float32): {apart:.1e}")

fig, axes = plt.subplots(1, 2, figsize=(9, 3.3), layout="constrained")
axes[0].plot(kappas, log_i, color="black", label="here")
axes[0].plot(kappas, from_scipy, "--", color="#D55E00", linewidth=3, label="scipy")
axes[0].axvspan(kappas[0], kappas[broken].max(), color="0.92", label="scipy: -inf")
axes[0].set_title("log of the Bessel function I")
axes[1].plot(kappas, log_c, color="black")
axes[1].set_title("log C, falling with slope -A(kappa)")
for ax in axes:
    ax.set(xscale="log", xlabel=f"kappa, {N_FEATURES} features")
axes[0].legend()

# %%
# What the loss works with
# ------------------------
# The logit of a person is log C + kappa cos, so it lies within kappa of log C. We draw
# the bounds and the logits of images uniform on the sphere, at a few kappas.

shown = np.linspace(2, 50, 25)
loss = FairVMFLoss(
    shown.size, N_FEATURES, shown, generator=torch.Generator().manual_seed(0)
)
Z = torch.randn(300, N_FEATURES, generator=torch.Generator().manual_seed(1))
with torch.no_grad():
    logits = loss.logits(torch.nn.functional.normalize(Z)).numpy()
middle = loss.log_normalizer.numpy()
inside = (np.abs(logits - middle) <= shown * (1 + 1e-5) + 1e-4).all()
print(f"log C falls by {middle[0] - middle[-1]:.1f} from kappa 2 to 50")
print(f"all {logits.size} logits within kappa of log C: {inside}")

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.fill_between(shown, middle - shown, middle + shown, color="0.88", label="possible")
ax.plot(shown, middle, color="black", label="log C (cosine 0)")
ax.plot(shown, middle + shown, ":", color="black", label="cosine 1: on the centroid")
ax.plot(shown, middle - shown, "--", color="black", label="cosine -1")
ax.errorbar(
    shown,
    (logits.max(axis=0) + logits.min(axis=0)) / 2,
    np.ptp(logits, axis=0) / 2,
    fmt="none",
    color="#0072B2",
    linewidth=3,
    label="images uniform on the sphere",
)
ax.set(xlabel="kappa", ylabel="logit", title=f"Logits in {N_FEATURES} dimensions")
ax.set_ylim(None, 960)
ax.legend(loc="upper left", fontsize="small", ncols=2)

# %%
# What to notice
# --------------
# A larger kappa asks for images closer to their centroid. In 512 dimensions and over the
# kappas of the paper, log C falls by two or three while the logit on the centroid rises
# by nearly as much as kappa does: a small correction, which makes the logits of groups
# with different kappas comparable. Images uniform on the sphere use little of the range:
# in high dimension their cosines are all near 0. Figures 6 and 7 agree with the paper's.
#
# **What this does not show**: that the images of real people follow this distribution,
# with one kappa for all people of a group, or what a choice of kappas does to the error
# rates of people. That is :ref:`the grid of kappas
# <sphx_glr_auto_examples_mitigation_plot_kappa_grid.py>`.
