"""
=========================
Which method helps where?
=========================

A team finds that impostors among women are accepted several times as often as among men. A
dozen published methods promise to help. The authors of each showed it on their own data. On
yours a method may do nothing for the women, and reject everyone more often.

The bench tries all of them on the same splits of the same people, and judges them on held-out
people. Here it does so on embeddings of real faces and on four synthetic populations. In each
of those the disparity has one stated cause, or two. The numbers come from ``study_bench.py``
in this folder, which takes more than an hour of one core, and are kept in ``study_bench.json``.
"""

# %%
# Disparities and FRR after each method
# -------------------------------------
# Each cell is the metric with the method over the metric without it, over all draws: below 1 it
# fell. In bold cells the 95 % interval excludes 1. For BFAR, the p-value adjusted for the number
# of methods must also be at most 0.05 in every draw. In the other panels some cells are bold by
# chance. The last panel gives each group its own threshold: a method that shifts the scores of a
# group does not change it.

import json
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skfairfr.metrics import MitigationsDisplay

here = Path(__file__).parent
made_by = runpy.run_path(str(here / "study_bench.py"))
METRICS = made_by["METRICS"]
study = json.loads((here / "study_bench.json").read_text())
sets = study["sets"]
for name, cause in study["causes"].items():
    print(f"{name}: {cause}")
for name, draws in sets.items():
    for draw in draws:
        print(f"\n{name}, FAR {draw['settings']['fmr']:g}: {draw['sentence']}")

names = list(made_by["METHODS"])


def change(set_name, method, metric):
    """Ratio of a metric, and whether it differs from 1. nan if there is none."""
    found = made_by["by_method"](sets[set_name])[method]
    changes = [each["changes"][metric] for each in found]
    if not changes or any(c["high"] is None for c in changes):
        return float("nan"), False
    drawn = set_name in study["causes"]
    ratio, low, high = made_by["over_draws"](changes, drawn)
    sure = metric != "bfar" or all(m["p_adjusted"] <= 0.05 for m in found)
    return ratio, sure and (high < 1 or low > 1)


def draw_table(ax, metric, title):
    """Ratios of all methods (rows) on all sets (columns)."""
    cells = [[change(each, m, metric) for each in sets] for m in names]
    ratios = np.array([[ratio for ratio, _ in row] for row in cells])
    ax.imshow(np.log(ratios), cmap="RdBu_r", vmin=-1.2, vmax=1.2, aspect="auto")
    for (row, column), ratio in np.ndenumerate(ratios):
        if np.isfinite(ratio):
            dark = abs(np.log(ratio)) > 0.8
            style = {"color": "white" if dark else "black", "ha": "center"}
            style |= {"weight": "bold"} if cells[row][column][1] else {}
            ax.text(column, row, f"{ratio:.2f}", va="center", size="small", **style)
    ax.set_xticks(range(len(sets)), sets, rotation=30, ha="right", size="small")
    ax.set(yticks=range(len(names)), yticklabels=names, title=title)


fig, axes = plt.subplots(1, 4, figsize=(14, 7), sharey=True, layout="constrained")
for ax, (metric, title) in zip(axes, METRICS.items(), strict=True):
    draw_table(ax, metric, f"{title}, after / before")

# %%
# Real faces, with intervals
# --------------------------
# Arrows lead from doing nothing to each method. An arrow straight down lowers the disparity at
# no cost. An arrow to the right rejects everyone more often. Bars are 95 % intervals.

bench = sets["LFW"][0]


NAMES = {"bfar": "bfar", "bfrr": "bfrr", "frr_at_far": "fnmr_at_fmr"}


def column(part):
    """One number of every method, by metric."""
    return {
        name: np.array(
            [float(m["changes"][key][part] or "nan") for m in bench["methods"]]
        )
        for name, key in NAMES.items()
    }


display = MitigationsDisplay(
    names=[method["name"] for method in bench["methods"]],
    before={name: bench["before"][key] for name, key in NAMES.items()},
    ratio=column("ratio"),
    low=column("low"),
    high=column("high"),
    far=bench["settings"]["fmr"],
    winner=bench["winner"],
).plot()
display.figure_.suptitle("LFW by FaceNet, 751 people, groups by gender")

# %%
# What to notice
# --------------
# - The cause decides. If one group is crowded, nearly every method lowers BFAR. Along a nuisance
#   direction WCCN, a closed form, lowers BFAR, BFRR and the FRR together. In a crowded group it does
#   nothing. If one group is spread, LDA and noise lower BFRR and reject everyone 7.6 times and 1.2 to
#   2.0 times as often. Calibration of groups lowers BFRR, too, and raises BFAR.
# - Heads with kappas ("ethical module") have a lower BFAR than a plain head on LFW, in the crowded
#   population and in the crowded and spread one.
# - Errors move. In the crowded and spread population BFRR rises with every method that lowers BFAR to
#   a third or less. The last panel shows which methods move only thresholds: those at 1.
# - Noise on all images lowers disparities, too. The bench reports it as levelling down.
# - **What this does not show**: FairCal, more than 500 people fitted, other encoders, other grids of
#   parameters, other levels. The synthetic causes are pure, and real disparities have several at
#   once. So run the bench on your own people.
