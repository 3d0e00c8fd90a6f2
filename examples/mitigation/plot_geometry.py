"""
===========================
Where a disparity is shaped
===========================

A phone opens to its owner's face, and two things harm its owner: the images of the owner
lie so widely that the phone stays shut, or other people lie so near that it opens to
them. Where women's images are more spread and women more crowded, as the paper reports of
trained encoders, women bear more of both harms at one threshold.

We draw that geometry, measure how widely the images of each person spread, and look at
what the Ethical Module does to the spread of men and women: of the people it was fitted
on, as in the paper's Figures 13 and 14, and of people it has not seen.
"""

# %%
# Two men, two women, one threshold
# ---------------------------------
# Each panel looks at the sphere from between two people. The circle holds the images that
# are accepted as the person in its middle: Figure 2 of the paper.

import matplotlib.pyplot as plt
import numpy as np

from skfairfr import EthicalModule, SimilarityROC, face_labels, make_face_embeddings
from skfairfr.metrics import IdentityInertiaDisplay, identity_inertia

THRESHOLD = 0.975  # a cosine
four = make_face_embeddings(
    4,
    60,
    3,
    groups={"male": 0.5, "female": 0.5},
    kappa={"male": 300, "female": 120},
    crowding={"male": 9, "female": 40},
    heterogeneity=0,
    random_state=3,
)


def plane_at(centres):
    """Two directions across the line of sight, which meets the sphere between two people."""
    sight = centres.sum(axis=0)
    across = np.cross(sight, centres[0])
    directions = np.stack([np.cross(across, sight), across])
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


fig, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", sharex=True, sharey=True)
radius = np.sqrt(1 - THRESHOLD**2)
for ax, group in zip(axes, ("male", "female"), strict=True):
    people = np.flatnonzero(four.group_of_identity == group)
    plane = plane_at(four.centroids[people])
    for person, color, marker in zip(people, ("#0072B2", "#D55E00"), "os", strict=True):
        images = four.X[four.y == person] @ plane.T
        ax.plot(*images.T, marker, color=color, markersize=4, alpha=0.7)
        centre = four.centroids[person] @ plane.T
        ax.add_patch(plt.Circle(centre, radius, fill=False, color="0.4"))
    ax.set(aspect="equal", title=f"two people, {group}", xticks=[], yticks=[])
fig.suptitle(f"Images of four people; circles: accepted at cosine {THRESHOLD:g}")

# %%
# How widely the images of each person spread
# -------------------------------------------
# The inertia of a person is the mean squared distance of the images to their direction.
# Women's are larger by construction. The module is fitted on half of the people.

faces = make_face_embeddings(
    1200,
    8,
    64,
    kappa={"male": 140, "female": 120},
    crowding={"male": 14, "female": 28},
    random_state=0,
)
X, y, a = faces.X, faces.y, faces.sensitive_features
fitted_on = y < 600  # identities are in random order
labels = face_labels(y[fitted_on], a[fitted_on])
KAPPAS = {"before": None, "(20, 20)": (20, 20), "(20, 40)": (20, 40)}
