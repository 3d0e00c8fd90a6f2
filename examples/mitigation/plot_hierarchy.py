"""
=======================================
Trained by continent, judged by country
=======================================

Groups nest: a system with equal rates for continents may still accept strangers of one country
more often than those of its neighbour, and a traveller is of a country. Bruveris et al.
(WACV workshops 2020) therefore judge by country what was trained by continent, and the
other way round (their Figures 7 and 8).

We train a head by continent, see how much its ROC depends on which people its thresholds
were set on (their Figure 2) and who is taken for whom, by country. Then we judge heads that
drew people as they are found, by continent and by country: ten draws of 3,000 people, whose
numbers ``study_hierarchy.py`` in the same folder stores.
"""

# %%
# Two continents of two countries each
# ------------------------------------
# ``crowding`` sets how similar the people of a country are: EU-2 is a crowded country of an
# uncrowded continent. The countries of a continent share a direction besides. Faces are
# compared with documents.

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t

from skfairfr import SimilarityROC, TripletProjector, make_face_embeddings
from skfairfr.metrics import GroupFARDisplay
from skfairfr.model_selection import roc_over_splits

SHARES = {"EU-1": 0.5, "EU-2": 0.1, "AF-1": 0.25, "AF-2": 0.15}
CROWDING = {"EU-1": 12, "EU-2": 26, "AF-1": 18, "AF-2": 22}
model = {"groups": SHARES, "kappa": 140, "crowding": CROWDING, "n_domains": 2}
faces = make_face_embeddings(1200, 4, 64, **model, domain_shift=1.0, random_state=0)
y, domain, country = faces.y, faces.domain, faces.sensitive_features
continent = np.array([label[:2] for label in country])
shared = np.random.default_rng(0).standard_normal((2, 64))
shared *= 0.4 / np.linalg.norm(shared, axis=1, keepdims=True)
X = faces.X + shared[(continent == "EU").astype(int)]
X /= np.linalg.norm(X, axis=1, keepdims=True)

fitted, unseen = y < 600, y >= 600
options = {"lr": 1e-4, "final_lr": 1e-6, "max_epochs": 5, "random_state": 0}
head = TripletProjector(sampling="dynamic", **options)
head.fit(X[fitted], y[fitted], continent[fitted], domain=domain[fitted])
systems = {"not trained": X[unseen], "by continent": head.transform(X[unseen])}
y, domain, country = y[unseen], domain[unseen], country[unseen]

# %%
# One ROC for each choice of people
# ---------------------------------
# Thresholds come from four fifths of the people and rates from the rest, five times. Bars
# are the standard deviation over the splits.

levels = np.geomspace(1e-3, 3e-2, 6)
_, ax = plt.subplots(layout="constrained")
for name, embeddings in systems.items():
    roc = roc_over_splits(embeddings, y, far=levels, domain=domain)
    ax.errorbar(levels, roc.frr_mean, roc.frr_std, capsize=3, marker="o", label=name)
    print(
        f"{name}: FRR at a FAR of 1e-3 set on the others "
        f"{roc.frr_mean[0]:.3f}, standard deviation {roc.frr_std[0]:.3f}"
    )
ax.set(xscale="log", yscale="log", xlabel="FAR on the others", ylabel="FRR")
ax.legend()

# %%
# Countries, of the head trained by continent
# -------------------------------------------
# The paper's Figure 7: one threshold for everybody, overall FAR 1e-3.

roc = SimilarityROC(n_resamples=1, random_state=0)
roc.fit(systems["by continent"], y, country, domain=domain)
GroupFARDisplay.from_roc(roc, far=1e-3)

# %%
# The heads of the study, judged by continent and by country
# ----------------------------------------------------------
# FAR within a group at one threshold for everybody, overall FAR 1e-3, on the half of the
# held-out people: geometric means over ten draws with 95 % t intervals.

here = Path(__file__).parent
rows = json.loads((here / "study_hierarchy.json").read_text(encoding="utf-8"))["rows"]
reach = t.ppf(0.975, len(rows) - 1) / len(rows) ** 0.5
names = list(rows[0])
figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
for ax, attribute in zip(axes, ("continent", "country"), strict=True):
    for place, group in enumerate(rows[0][names[0]][attribute]["far"]):
        fars = [[row[name][attribute]["far"][group] for name in names] for row in rows]
        logs = np.log10(fars)
        half = reach * logs.std(axis=0, ddof=1)
        where = np.arange(len(names)) + (place - 1) / 8
        style = {"fmt": "osD^"[place], "capsize": 2, "label": group}
        ax.errorbar(logs.mean(axis=0), where, xerr=half, **style)
    ax.axvline(-3, color="0.5", linestyle=":")
    ax.set_xlabel(f"log10 FAR within the {attribute}")
    ax.legend()
axes[0].set_yticks(range(len(names)), names)
axes[0].set_ylim(len(names) - 0.5, -0.5)

# %%
# What each head changes against the one trained as found
# -------------------------------------------------------
# Points are the ten draws, bars the 95 % t interval of the change in FAR max / geometric
# mean (below 0: closer together) and in the overall FRR.

measures = {
    "FAR max/geomean\nby continent": lambda row: row["continent"]["max/geomean"],
    "FAR max/geomean\nby country": lambda row: row["country"]["max/geomean"],
    "FRR": lambda row: row["frr"],
}
names = [name for name in names if name not in ("not trained", "as found")]
figure, axes = plt.subplots(1, 3, figsize=(11, 4), sharey=True, layout="constrained")
for ax, (title, of) in zip(axes, measures.items(), strict=True):
    for place, name in enumerate(names):
        ratio = [of(row[name]) / of(row["as found"]) for row in rows]
        change = 100 * (np.array(ratio) - 1)
        half = reach * change.std(ddof=1)
        ax.plot(change, np.full(change.size, place), "o", color="0.6", markersize=4)
        ax.errorbar(change.mean(), place, xerr=half, fmt="s", color="black", capsize=3)
        text = title.replace("\n", " ")
        print(f"{text}, {name}: {change.mean():+.1f} % [+-{half:.1f}]")
    ax.axvline(0, color="0.4", linewidth=1, linestyle=":")
    ax.set_xlabel(f"{title}, change in %")
axes[0].set_yticks(range(len(names)), names)
axes[0].set_ylim(len(names) - 0.5, -0.5)
plt.show()

# %%
# What to notice
# --------------
# - Training makes an FRR of one seventh, and the spread over splits is small in comparison.
# - Neighbours are taken for each other, people of two continents hardly ever: high FARs off
#   the diagonal, as in the paper. Here we put them there.
# - Equal sampling of continents brings continents closer together, but not countries:
#   with dynamic weights they end further apart, as EU-2 is drawn with its continent.
#   Drawing by country brings both closer together, at a somewhat higher FRR, as in the paper.
# - There fixed weights did better than dynamic ones. Ours, 4 for the crowded countries, are
#   too much: they turn the order of the countries round, at the highest FRR.
#
# **What this does not show**: real countries, or continents of many. Groups that nobody
# recorded cannot be drawn at all.
