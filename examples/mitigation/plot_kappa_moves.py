"""
================================
One kappa moved, the other fixed
================================

An entrance opens to a face. Whoever tightens the images of one group of people at that
entrance moves the errors of both: the group is falsely accepted or rejected at other
rates, and a threshold that is shared by everybody moves under the other group. A promise
of the kind "a larger kappa1 helps women" is worth checking against its price.

With the Ethical Module we move one of two concentrations (kappa0 for men, kappa1 for
women) and follow the error rates of people whom no fit has seen: against the threshold,
as in Figures 15 and 16 of the paper, and at FAR = 1e-3 with intervals. The numbers come
from ``study_kappa_grid.py``, which runs for minutes and keeps them beside this file.
"""

# %%
# Error rates against the threshold
# ---------------------------------
# kappa0 stays at 20; each shade is one kappa1. The rates themselves fall over orders of
# magnitude and would hide each other, so we draw them relative to what they were before,
# where that is above 1e-5 (far) or 1e-2 (frr).

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

STUDY = {
    head: json.loads(
        Path(__file__).with_name(f"kappa_grid_{head}.json").read_text("utf-8")
    )
    for head in ("residual", "mlp")
}
kappas, fixed = STUDY["residual"]["kappas"], STUDY["residual"]["fixed"]
thresholds = np.array(STUDY["residual"]["thresholds"])
print(STUDY["residual"]["data"])
for head, study in STUDY.items():
    print(head, study["training"])


def relative(study, kappa, curve, least):
    """A curve after the fit over that before, where that is above ``least``."""
    before = np.array(study["curves"]["as they were"][curve])
    after = np.array(study["curves"][f"{fixed:g},{kappa:g}"][curve])
    return np.where(before > least, after, np.nan) / np.maximum(before, least)


shades = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(kappas)))
for head, study in STUDY.items():
    fig, axes = plt.subplots(
        2, 2, figsize=(9, 6), layout="constrained", sharex="col", sharey="col"
    )
    for row, group in zip(axes, ("female", "male"), strict=True):
        for ax, rate, least in zip(row, ("far", "frr"), (1e-5, 1e-2), strict=True):
            for kappa, shade in zip(kappas, shades, strict=True):
                curve = relative(study, kappa, f"{rate} {group}", least)
                ax.plot(thresholds, curve, color=shade, label=f"{kappa:g}")
            ax.axhline(1, color="black", linestyle="--", linewidth=1)
            ax.set(title=f"{rate} of {group}, after / before", yscale="log")
    for ax in axes[1]:
        ax.set_xlabel("threshold (cosine)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside right center", title="kappa1")
    fig.suptitle(f'head="{head}", kappa0 = {fixed:g}, on people that no fit has seen')

# %%
# At one far, with intervals
# --------------------------
# The threshold is where no group's far is above 1e-3 for the ratios, and where the far of
# all pairs is 1e-3 for the frr. The grey band is before.

PANELS = {
    "far_ratio": "far of women / men",
    "frr_ratio": "frr of women / men",
    "frr_at_far": "frr of everybody",
}
MOVED = {"kappa1": (f"{fixed:g},{{:g}}", "#D55E00", "o"), "kappa0": (f"{{:g}},{fixed:g}", "#0072B2", "s")}
for head, study in STUDY.items():
    fig, axes = plt.subplots(1, 3, figsize=(10, 3.8), layout="constrained")
    for ax, (metric, title) in zip(axes, PANELS.items(), strict=True):
        before = {k: v[0] for k, v in study["unseen"]["as they were"][metric].items()}
        ax.axhspan(before["low"], before["high"], color="0.88", label="before")
        ax.axhline(before["value"], color="0.5")
        for shift, (name, (pair, color, marker)) in zip((-.5, .5), MOVED.items(), strict=True):
            found = [study["unseen"][pair.format(kappa)][metric] for kappa in kappas]
            value, low, high = (
                np.array([of[what][0] for of in found]) for what in ("value", "low", "high")
            )
            ax.errorbar(np.array(kappas)+shift, value, [value-low, high-value], fmt=marker+"-", color=color, capsize=3, ms=5, label=f"{name} moved")
            print(f"{head}, {name} moved, {title}:", *(f"{v:.3g} [{l:.3g}, {h:.3g}]" for v,l,h in zip(value,low,high,strict=True)))
        if "ratio" in metric:
            ax.axhline(1, color="black", linestyle="--", linewidth=1)
            ax.set_yscale("log")
        ax.set(title=title, xlabel=f"kappa moved (the other {fixed:g})")
    axes[2].legend(fontsize="small")
    fig.suptitle(f'head="{head}", FAR = 1e-3, 95 % intervals over people')
