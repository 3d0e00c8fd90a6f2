"""
======================================================
Another score for the same embeddings: s-norm, as-norm
======================================================

An entrance of a block of flats compares a face with those of its tenants. If some tenants look
similar to the encoder, strangers who resemble them are accepted as well. The encoder is
bought, and nobody can train it again. A comparator keeps the embeddings and gives each pair
another score.

We fit two ways of score normalisation on half of the people, without a group label, and
one that needs the groups. We compare all three with the cosine on the other half, at one
threshold for everybody, and then search a head and a normaliser together.
"""

# %%
# People whose groups differ by one cause
# ---------------------------------------
# The women of this population are crowded. The people seen are fitted on, never judged.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from skfairfr import (
    BestTradeOff,
    EthicalModule,
    IdentityKFold,
    SimilarityROC,
    face_labels,
    fairness_scores,
    make_face_embeddings,
)
from skfairfr.comparators import CohortNormalizer, GroupThresholds

faces = make_face_embeddings(
    1200, 4, 64, kappa=100.0, crowding={"male": 8.0, "female": 20.0}, random_state=0
)
seen = faces.y < 600  # identities are in random order
fitted = faces.X[seen], faces.y[seen], faces.sensitive_features[seen]
X, y, group = faces.X[~seen], faces.y[~seen], faces.sensitive_features[~seen]

# %%
# Fit them, and measure by them
# -----------------------------
# ``CohortNormalizer`` keeps a cohort, here all images of the people seen. An image that
# scores high with the cohort scores high with everybody, and this is divided out: with all
# of the cohort ("s"), or the nearest fifth of it for each image ("as").

comparators = {
    "s-norm": CohortNormalizer("s"),
    "as-norm": CohortNormalizer("as"),
    "group thresholds": GroupThresholds(1e-3),
}


def measure(similarity, rows=X):
    """The pairs of the people not seen, scored by a comparator."""
    options = {"n_resamples": 300, "random_state": 0}
    return SimilarityROC(similarity=similarity, **options).fit(rows, y, group)


roc = {"cosine": measure("cosine")}
roc |= {name: measure(c.fit(*fitted)) for name, c in comparators.items()}

# %%
# Before and after
# ----------------
# BFAR is the largest over the smallest FAR of the groups, if no group exceeds the level.
# Ratios are over the same resamples of people before and after.

FAR = 1e-3
BFAR = {"rate": "far", "how": "max_min", "operating_point": "worst_group"}


def ends(value, low, high):
    """A value with its interval."""
    return f"{value:.3g} [{low:.3g}, {high:.3g}]"


for name, of in roc.items():
    found = [of.estimate(FAR, **asked) for asked in (BFAR, {})]
    bfar, frr = (ends(f.value, f.low, f.high) for f in found)
    print(f"{name:>16}: BFAR {bfar:18} FRR {frr}")
for name in comparators:
    found = [roc[name].compare(roc["cosine"], FAR, **asked) for asked in (BFAR, {})]
    bfar, frr = (ends(f.ratio, f.ratio_low, f.ratio_high) for f in found)
    print(f"{name:>16} over cosine: BFAR x {bfar:18} FRR x {frr}")

# %%
# At every level
# --------------
LEVELS = np.geomspace(3e-4, 1e-2, 9)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, asked, label in zip(
    axes, (BFAR, {}), ("BFAR (1: equal FAR)", "FRR"), strict=True
):
    for place, (name, of) in enumerate(roc.items()):
        curve = of.curve(LEVELS, **asked)
        color = f"C{place}"
        ax.plot(LEVELS, curve.value, "os^D"[place] + "-", color=color, label=name)
        if name in ("cosine", "as-norm"):
            ax.fill_between(LEVELS, curve.low, curve.high, color=color, alpha=0.2)
    ax.set(xscale="log", xlabel="FAR (FMR)", ylabel=label)
axes[0].axhline(1, color="0.5", linestyle=":")
axes[0].set(yscale="log", yticks=[1, 2, 4, 8], yticklabels=["1", "2", "4", "8"])
axes[0].minorticks_off()
axes[1].set_ylim(0, None)
axes[1].legend()

# %%
# A head and a normaliser, searched together
# ------------------------------------------
# A comparator may be the last step of a pipeline. Scorers then use it. The choice is made on
# the people seen, and evaluated on held-out people.

steps = [
    ("head", EthicalModule(groups=("female", "male"), max_epochs=5, random_state=0)),
    ("scores", CohortNormalizer()),
]
search = GridSearchCV(
    Pipeline(steps),
    {"head__kappa1": [15.0, 20.0], "scores__kind": ["s", "as"]},
    scoring=fairness_scores(FAR),
    refit=BestTradeOff(("bfar", "frr_at_far")),
    cv=IdentityKFold(3),
    error_score="raise",
).fit(fitted[0], face_labels(*fitted[1:]))
chain = search.best_estimator_
both = measure(chain[-1], chain[:-1].transform(X))
print("chosen:", search.best_params_)
for name, asked in (("BFAR", BFAR), ("FRR", {})):
    found = both.compare(roc["cosine"], FAR, **asked)
    text = ends(found.ratio, found.ratio_low, found.ratio_high)
    print(f"head and normaliser over cosine: {name} x {text}")

plt.show()

# %%
# What to notice
# --------------
# - All three lower BFAR, to 0.36 to 0.55 times what it was, and none raises the FRR detectably.
#   s-norm and as-norm know no groups: who looks like many others is found without a label.
# - Thresholds of groups do no better here, and need the group of both people at each comparison.
# - Behind a head the normaliser gains no more than alone: try the simple method first.
#
# **What this does not show**: that it helps on real faces, whose cause is not known and for which
# the same methods have raised BFAR. :ref:`The bench <bench>` tries them on yours. The cohort was
# drawn like the people evaluated, which is rarely possible in practice.
