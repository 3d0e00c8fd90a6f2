"""
======================================================
Who is taken for whom, before and after group sampling
======================================================

A border gate compares the face of a traveller with the photograph in a document. Somebody
who holds another person's document passes it more easily where the system hardly tells the
two apart, and that is likelier within some groups than within others: people there are
protected less against the misuse of their documents. Bruveris et al. (WACV workshops 2020)
show this as a matrix, by group of the face and group of the document.

We draw faces and documents of four groups, train a head on top of the encoder with groups
drawn as they are found and with dynamic weights, and compare the three matrices on people
no fit has seen. Then we test whether it matters which group holds the document, look at the
embedding space as the paper's Figure 10 does, and ask whether clusters find the groups.
"""

# %%
# Four groups, two domains
# ------------------------
# ``crowding`` says how alike the people of a group are to the encoder. AF is both the
# smallest and the most crowded group. The first 600 people are trained on.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from skfairfr import SimilarityROC, TripletProjector, make_face_embeddings
from skfairfr.metrics import GroupFARDisplay, cluster_groups

GROUPS = ("EU", "AM", "AS", "AF")
faces = make_face_embeddings(
    1600,
    4,
    n_features=64,
    groups={"EU": 0.6, "AM": 0.2, "AS": 0.1, "AF": 0.1},
    kappa=140,
    crowding={"EU": 12, "AM": 14, "AS": 22, "AF": 28},
    n_domains=2,
    domain_shift=1.0,
    random_state=0,
)
y, groups, domain = faces.y, faces.sensitive_features, faces.domain
fitted, unseen = y < 600, y >= 600
options = {"lr": 1e-4, "final_lr": 1e-6, "max_epochs": 5, "random_state": 0}
systems = {"As they are": faces.X[unseen]}
for sampling in ("natural", "dynamic"):
    model = TripletProjector(sampling=sampling, **options)
    model.fit(faces.X[fitted], y[fitted], groups[fitted], domain=domain[fitted])
    systems[f"Trained, {sampling}"] = model.transform(faces.X[unseen])
y, groups, domain = y[unseen], groups[unseen], domain[unseen]

# %%
# The matrix
# ----------
# One threshold for everybody, where one impostor pair in a thousand is accepted; only pairs
# across the domains are compared. The FRR stands beside it: a lower FAR at its expense is
# another harm.

FAR = 1e-3
rocs = {}
figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, (name, embeddings) in zip(axes, systems.items(), strict=True):
    roc = SimilarityROC(resample="identities", n_resamples=400, random_state=0)
    roc.fit(embeddings, y, groups, domain=domain)
    look = {"vmin": -4, "vmax": -2, "colorbar": ax is axes[-1]}
    GroupFARDisplay.from_roc(roc, far=FAR, ax=ax, **look)
    ax.set_title(name, pad=20)
    rocs[name] = roc
    spread = roc.estimate(FAR, rate="far", how="max_geomean")
    frr = roc.estimate(FAR)
    print(
        f"{name}: FAR max / geometric mean {spread.value:.2f} "
        f"[{spread.low:.2f}, {spread.high:.2f}], FRR {frr.value:.3f} "
        f"[{frr.low:.3f}, {frr.high:.3f}]"
    )

# %%
# Does it matter which of two groups holds the document?
# ------------------------------------------------------
# The paper calls differences of 0.3 and more genuine, since its matrix is symmetric to
# within that. Here each is tested over resamples of people, with Holm's correction for six.

for name in ("As they are", "Trained, dynamic"):
    tested = rocs[name].far_asymmetry(FAR).to_frame("pandas")
    said = ["group_1", "group_2", "difference", "low", "high", "p_holm"]
    print(name, tested[said].round(2).to_string(index=False), sep="\n")

# %%
# The embedding space
# -------------------
# Up to 60 unseen faces of each group, no documents. PCA keeps large distances, t-SNE
# neighbourhoods; the paper's UMAP is not used, as it would be one more dependency.

DOMAINS = ("domain_0", "domain_1")
rng = np.random.default_rng(0)
shown = np.flatnonzero(domain == "domain_0")
shown = np.concatenate(
    [rng.permutation(shown[groups[shown] == group])[:60] for group in GROUPS]
)
COLORS = dict(zip(GROUPS, ("#88ccee", "#ddaa33", "#117733", "#aa3377"), strict=True))
figure, axes = plt.subplots(2, 3, figsize=(12, 7.5), layout="constrained")
for column, (name, embeddings) in enumerate(systems.items()):
    flat = TSNE(max_iter=350, random_state=0).fit_transform(embeddings[shown])
    for row, points in enumerate((PCA(2).fit_transform(embeddings[shown]), flat)):
        for group, marker in zip(GROUPS, "o^sD", strict=True):
            of = groups[shown] == group
            style = {"s": 14, "marker": marker, "color": COLORS[group], "label": group}
            axes[row, column].scatter(*points[of].T, **style)
        axes[row, column].set(xticks=[], yticks=[])
    axes[0, column].set_title(name)
    print(f"{name}, mean similarity across domains:", end="")
    for group in GROUPS:
        rows = [(groups == group) & (domain == d) for d in DOMAINS]
        one, other = (embeddings[of].mean(axis=0) for of in rows)
        print(f" {group} {one @ other:.3f}", end="")
    print()
axes[0, 0].set_ylabel("PCA")
axes[1, 0].set_ylabel("t-SNE")
axes[0, 0].legend()

# %%
# Groups without labels
# ---------------------
# Clusters of these embeddings are the two domains, which triplets leave apart. With each
# domain's mean taken off: four clusters beside the true groups, and the matrix that
# somebody would see who has no labels.

embeddings = systems["Trained, dynamic"]
centred = embeddings.copy()
for of in (domain == d for d in DOMAINS):
    centred[of] -= centred[of].mean(axis=0)
clusters = cluster_groups(centred, n_clusters=4, random_state=0)
roc = SimilarityROC(resample="identities", n_resamples=100, random_state=0)
roc.fit(embeddings, y, clusters, domain=domain)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
shares = [np.bincount(clusters[groups == g]) / sum(groups == g) for g in GROUPS]
axes[0].imshow(shares, cmap="cividis_r", vmin=0, vmax=1)
for (row, column), share in np.ndenumerate(shares):
    axes[0].text(column, row, f"{100 * share:.0f} %", ha="center")
axes[0].set(xlabel="Cluster", title="Images of a group by cluster", xticks=range(4))
axes[0].set_yticks(range(4), GROUPS)
GroupFARDisplay.from_roc(roc, far=FAR, ax=axes[1], vmin=-4, vmax=-2)
plt.show()

# %%
# What to notice
# --------------
# - The FAR is highest on the diagonal, and highest of all within AF once the head is trained:
#   as in the paper, training on people as they are found lowers the FRR tenfold and leaves
#   the rarest groups behind. With dynamic weights AF and AS are closer to the others; AF is
#   still the highest, and the intervals of the two trained spreads overlap.
# - As they are, the matrix is not symmetric: AS with documents of EU is accepted less often
#   than EU with documents of AS. The shift of the domain did that, and training undoes it.
#   Differences above 0.3 can be chance here, and are not tested away by their size.
# - The rarest group never lies apart, as Africa does in the paper's projection. What training
#   did is read in numbers: people of AF resemble each other less with dynamic weights.
# - Clusters gather AM, AS and AF, but EU is spread over all four: their matrix says that some
#   people are mistaken more often, and not for whom to answer.
#
# **What this does not show**: a study; this is one draw, and five are in :ref:`the next story
# <sphx_glr_auto_examples_mitigation_plot_group_sampling.py>`. The crowding was put in;
# what crowds real groups is not known, and t-SNE keeps neither distances nor densities.
