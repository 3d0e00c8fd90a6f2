"""
===========================================
Drawing rare groups more often, in triplets
===========================================

A customer far away proves with a selfie who the owner of a document is. A false acceptance
hands an account to whoever has the document: a harm to its owner, and likelier within
groups that the system has seen little of. Bruveris et al. (WACV workshops 2020) found that
training an encoder on such pairs as they are found raised the FAR within Africa, of half a
percent of the pairs, from ten times the overall one to a hundred times, and that drawing
rare groups more often mitigates it. (Oceania was rarer still, with a FAR near the overall one.)

We train heads with every strategy of the paper on synthetic selfies and documents of four
groups, and look at held-out people: FAR and FRR within groups at one threshold, the
cost in FRR, a second attribute, and the batches of one group that the paper reports
as a failure. Numbers of the later parts come from ``study_group_sampling.json``, written by
``study_group_sampling.py`` in the same folder: five draws of 4,000 people, half of them fitted.
"""

# %%
# Weights that follow the FAR
# ---------------------------
# AF is the rarest and the most crowded group: its people resemble each other. With dynamic
# sampling the weight of a group follows its FAR on held-out people, from equal weights on.

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t

from skfairfr import TripletProjector, face_labels, make_face_embeddings
from skfairfr.metrics import GroupWeightsDisplay

faces = make_face_embeddings(
    1200,
    4,
    n_features=64,
    groups={"EU": 0.6, "AM": 0.2, "AS": 0.1, "AF": 0.1},
    kappa=140,
    crowding={"EU": 12, "AM": 14, "AS": 22, "AF": 28},
    n_domains=2,
    domain_shift=1.0,
    random_state=0,
)
y = face_labels(faces.y, faces.sensitive_features, faces.domain)
model = TripletProjector(sampling="dynamic", lr=1e-4, max_epochs=10, random_state=0)
model.fit(faces.X, y)
GroupWeightsDisplay.from_projector(model)

# %%
# FAR and FRR within groups
# -------------------------
# The first draw of the study, selfies against documents only, at the threshold at which one
# impostor pair in a thousand is accepted. Bars are 95 % intervals over people.

here = Path(__file__).parent
found = json.loads((here / "study_group_sampling.json").read_text(encoding="utf-8"))
LOOK = {"EU": "#cc79a7D", "AM": "#d55e00s", "AS": "#009e73^", "AF": "#0072b2o"}
first, strategies = found["rows"][0], list(found["training"][0])
figure, axes = plt.subplots(1, 2, figsize=(11, 5), sharey=True, layout="constrained")
for ax, rate in zip(axes, ("FAR", "FRR"), strict=True):
    for place, group in enumerate(LOOK):
        values = [first[name][f"{rate} {group}"] for name in ["before", *strategies]]
        value, low, high = np.array(values).T
        rows = np.arange(value.size) + (place - 1.5) / 6
        reach = np.maximum([value - low, high - value], 0)
        style = {"color": LOOK[group][:-1], "fmt": LOOK[group][-1], "capsize": 2}
        ax.errorbar(value, rows, xerr=reach, label=group, **style)
    ax.set(xscale="log", xlabel=f"{rate} within the group")
axes[0].axvline(found["far"], color="0.5", linestyle=":", label="overall")
axes[0].set_yticks(range(value.size), ["as they are", *strategies])
axes[0].set_ylim(value.size - 0.5, -0.5)
axes[0].legend()

# %%
# Against natural sampling, in five draws
# ---------------------------------------
# Points are the draws, bars the 95 % t interval of the change. Gender is an attribute that
# no strategy uses. Women are 36 % of every group and resemble each other more.

measures = ("FAR max/geomean", "FRR", "FRR AF", "FRR max/geomean", "FAR women/men")
figure, axes = plt.subplots(1, 5, figsize=(13, 4), sharey=True, layout="constrained")
for ax, measure in zip(axes, measures, strict=True):
    values = {
        name: np.array([each[name][measure][0] for each in found["rows"]])
        for name in ["before", *strategies]
    }
    print(f"{measure} as they are {values['before'].mean():.3g}", end="")
    print(f", trained naturally {values['natural'].mean():.3g}")
    for place, name in enumerate(strategies[1:]):
        change = 100 * (values[name] / values["natural"] - 1)
        half = t.ppf(0.975, change.size - 1) * change.std(ddof=1) / change.size**0.5
        ax.plot(change, np.full(change.size, place), "o", color="0.6", markersize=4)
        ax.errorbar(change.mean(), place, xerr=half, fmt="s", color="black", capsize=3)
        print(f"  {name}: {change.mean():+.0f} % [+-{half:.0f}]")
    ax.axvline(0, color="0.4", linewidth=1, linestyle=":")
    ax.set_xlabel(f"{measure},\nchange in %")
axes[0].set_yticks(range(4), strategies[1:])
axes[0].set_ylim(3.5, -0.5)

# %%
# Batches of one group
# --------------------
# In the paper, selecting negatives within one group at a time made the FARs swing from
# epoch to epoch (its Figure 6). The FARs on held-out people, in the first draw:

figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
for ax, name in zip(axes, ("equal", "homogeneous"), strict=True):
    each = found["training"][0][name]
    display = GroupWeightsDisplay(
        weights=each["weights"], fars=each["fars"], groups=each["groups"]
    )
    display.plot(ax, kind="far")
    ax.set_title(name)
plt.show()

# %%
# What to notice
# --------------
# - Trained on people as they are found, the head makes a tenth of the false rejections. In the
#   paper that raised the disparity of the FAR. Here it was larger than before in two draws of
#   five and smaller in three: as they are, it depends on where the domain's shift points.
# - Every strategy of the paper brings the FARs closer together, adjusted weights most. No
#   interval contains zero. As in the paper, the FRR rises a little, and that of AF by 73 to 130 %
#   with the first three: **the group that is protected better is turned away more often**.
# - In the paper the gap between women and men widened. Here it stays as it was, within 15 %
#   either way. Gender has nothing to do with the groups in these data.
# - Batches of one group make the FARs swing while the learning rate is high, AF against AS
#   at times, as in the paper. It is not the failure it was there: as the rate falls the
#   swings end, and after the last epoch the disparity is as low as with adjusted weights (the
#   table in the documentation). The fit keeps the epoch of the smallest loss, which is
#   earlier, and so keeps less of that.
#
# **What this does not show**: a whole encoder trained for millions of steps, at the paper's
# FAR of 1e-5, on real documents. The weights of "adjusted" were known to fit: the cause of
# the disparity was put in. Five draws are not enough for a ratio of FRRs, whose intervals are
# too wide either way.
