"""
=========================
Which method helps where?
=========================

A team learns that impostors among women are accepted several times as often as among men, and
finds a dozen published remedies. Each was shown to work by its authors, on their data. Taking
the wrong one may do nothing for the women, and reject everybody more often at the door.

The bench tries all of them on the same splits of the same people, and judges them on people
they never saw. Here it does so on embeddings of real faces and on four synthetic populations,
in each of which the disparity has another, stated cause. The numbers come from
``study_bench.py`` beside this file, which runs for an hour, and are kept in
``study_bench.json``.
"""

# %%
# What each method does to BFAR
# -----------------------------
# A cell is BFAR with the method over BFAR without: below 1 the disparity fell. Bold cells
# differ from 1 surely, those of BFAR by a p-value adjusted for the number of methods: these
# are many, and some seem to help by chance.

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

study = json.loads(Path(__file__).with_name("study_bench.json").read_text())
sets = study["sets"]
for name, cause in study["causes"].items():
    print(f"{name}: {cause}")
for name, bench in sets.items():
    print(f"\n{name}, FAR {bench['settings']['far']:g}: {bench['sentence']}")

names = sorted({m["name"] for bench in sets.values() for m in bench["methods"]})


def of(bench, method, metric):
    """Ratio of a metric, and whether it surely differs from 1; nan where there is none."""
    for found in bench["methods"]:
        if found["name"] == method:
            change = found["changes"][metric]
            ratio, low, high = (
                float(change[k] or "nan") for k in ("ratio", "low", "high")
            )
            sure = found["p_adjusted"] <= 0.05 if metric == "bfar" else True
            return ratio, sure and (high < 1 or low > 1)
    return float("nan"), False


def table(ax, metric, title):
    """Draw ratios of all methods (rows) on all sets (columns)."""
    ratios = np.array([[of(b, m, metric)[0] for b in sets.values()] for m in names])
    ax.imshow(np.log(ratios), cmap="RdBu_r", vmin=-1.2, vmax=1.2, aspect="auto")
    for row, method in enumerate(names):
        for column, bench in enumerate(sets.values()):
            ratio, sure = of(bench, method, metric)
            if np.isfinite(ratio):
                dark = abs(np.log(ratio)) > 0.8
                style = {"color": "white" if dark else "black", "ha": "center"}
                style |= {"weight": "bold"} if sure else {}
                ax.text(column, row, f"{ratio:.2f}", va="center", size="small", **style)
    ax.set_xticks(range(len(sets)), sets, rotation=30, ha="right", size="small")
    ax.set(yticks=range(len(names)), yticklabels=names, title=title)


fig, axes = plt.subplots(1, 2, figsize=(11, 6), sharey=True, layout="constrained")
table(axes[0], "bfar", "BFAR after / before")
table(axes[1], "frr_at_far", "FRR of everyone, after / before")

# %%
# One set, with intervals
# -----------------------
# Arrows lead from doing nothing to every method. One that goes straight down lowers the
# disparity for free; one that goes to the right is paid for by everybody.


from skfairfr.metrics import MitigationsDisplay  # noqa: E402

shown = next(iter(sets))
bench = sets[shown]
METRICS = ("frr_at_far", "bfar", "bfrr")


def column(part):
    """One number of every method, by metric."""
    return {
        metric: np.array(
            [float(m["changes"][metric][part] or "nan") for m in bench["methods"]]
        )
        for metric in METRICS
    }


display = MitigationsDisplay(
    names=[method["name"] for method in bench["methods"]],
    before=bench["before"],
    ratio=column("ratio"),
    low=column("low"),
    high=column("high"),
    far=bench["settings"]["far"],
    winner=bench["winner"],
).plot()
display.figure_.suptitle(shown)

# %%
# What to notice
# --------------
# - The same method helps in one population and does nothing in the next. Its name does not
#   say which: try it on your people.
# - What one method gains in the BFAR, others pay for in the FRR, and a bold cell on the left
#   is worth little beside a bold one above 1 on the right.
# - **What this does not show**: other encoders, other grids of parameters, other levels. The
#   synthetic causes are pure; a real disparity has several at once.
