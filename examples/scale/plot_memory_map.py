"""
================================
More images than fit into memory
================================

Groups that are few among many are the first to vanish when a large set is thinned out to
fit in memory: their errors become too few to count, and a disparity that harms them goes
unseen. A set that is kept whole has as many pairs as the square of its images, too many for
any memory.

We audit embeddings that stay on disk, see what each level of FAR costs in memory and what
is answered beyond it, and train a transformer from the same file, in a fit that is interrupted
and continued. The set is small to keep the example short.
"""

# %%
# A file, not an array
# --------------------
# ``mmap_mode="r"`` opens a file without reading it. The folder is removed at the end.

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from joblib import parallel_config
from skorch.callbacks import Callback

from skfairfr import FPRPenaltyProjector, SimilarityROC, make_face_embeddings

folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "embeddings.npy")
faces = make_face_embeddings(1000, 5, n_features=64, random_state=0)
y, group = faces.y, faces.sensitive_features
np.save(path, faces.X)
X = np.load(path, mmap_mode="r")
n_pairs = len(X) * (len(X) - 1) // 2
print(f"{type(X).__name__} of {X.shape}, {path.stat().st_size / 2**20:.1f} MiB on disk")
print(f"{n_pairs:,} pairs, whose scores alone would take {4 * n_pairs / 2**20:.0f} MiB")

# %%
# What a level costs
# ------------------
# A FAR of 1e-3 needs the largest thousandth of the impostor scores, and a resample may
# need somewhat lower ones. ``far_max`` is the level up to which they are stored: about
# ``1.5 * far_max`` of all pairs, 12 bytes each. Points are measured here, lines follow the
# rule to more images.

FAR_MAX = (3e-1, 1e-3)
options = {"n_resamples": 100, "random_state": 0}


def rule(far_max, n_images):
    """MiB of a stored tail, as the user guide counts them."""
    return 12 * 1.5 * far_max * n_images * (n_images - 1) / 2 / 2**20


rocs, kept = {}, []
for far_max in FAR_MAX:
    tracemalloc.start()
    rocs[far_max] = SimilarityROC(far_max=far_max, **options).fit(X, y, group)
    after, peak = (n / 2**20 for n in tracemalloc.get_traced_memory())
    tracemalloc.stop()
    kept.append(after)
    print(f"far_max={far_max:g}: {after:.0f} MiB kept after the fit,", end=" ")
    print(f"{peak:.0f} at most during it, {rule(far_max, len(X)):.2g} by the rule")

figure, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
levels = np.geomspace(1e-5, 3e-1, 100)
for n_images, line in ((len(X), "-"), (100_000, "--"), (1_000_000, ":")):
    ax.plot(levels, rule(levels, n_images), line, label=f"{n_images:,} images")
ax.plot(FAR_MAX, kept, "o", color="black", label=f"{len(X):,} images, measured")
ax.axhline(2**14, color="0.5", linewidth=0.8, label="16 GiB")
ax.set(xscale="log", yscale="log", xlabel="far_max", ylabel="MiB")
ax.legend(fontsize="small")

# %%
# What is answered beyond it
# --------------------------
# Levels above ``far_max`` have an answer too, from a sample of the impostor pairs, and
# ``reason`` reports it.

LEVELS = np.array([3e-4, 1e-3, 3e-3, 1e-2])
figure, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
for place, far_max in enumerate(FAR_MAX):
    found = rocs[far_max].estimate(LEVELS, group="female")
    reach = np.clip([found.value - found.low, found.high - found.value], 0, None)
    style = {"fmt": "os"[place], "capsize": 3, "label": f"far_max={far_max:g}"}
    ax.errorbar(LEVELS * 1.08 ** (2 * place - 1), found.value, reach, **style)
    print(f"far_max={far_max:g}")
    table = found.to_frame("pandas")[["far", "value", "low", "high"]]
    print(table.round(4).to_string(index=False))
    print(*{why or "exact": None for why in found.reason}, sep="\n")
ax.set(xscale="log", xlabel="FAR (FMR)", ylabel="FRR (FNMR) of female")
ax.legend()

# %%
# More workers, the same answer
# -----------------------------
# Processes are worth their start on large sets only. joblib's own switch selects threads.

alone = rocs[1e-3].estimate(1e-3, how="max_min")
with parallel_config(backend="threading"):
    many = SimilarityROC(far_max=1e-3, n_jobs=2, **options).fit(X, y, group)
    print("as with one worker:", many.estimate(1e-3, how="max_min") == alone)

# %%
# A fit that is broken off
# ------------------------
# The transformer reads the file a batch at a time. ``checkpoint_dir`` keeps its state after
# every epoch. The same fit, started again, does the epochs that are left.


class PowerCut(Callback):
    """Break a fit off after two epochs."""

    def on_epoch_end(self, net, **kwargs):
        if len(net.history) == 2:
            raise RuntimeError("power cut")


training = {"max_epochs": 3, "head": "residual", "lr": 1e-3, "random_state": 0}
whole = FPRPenaltyProjector(**training).fit(X, y)
training["checkpoint_dir"] = Path(folder.name, "checkpoints")
try:
    FPRPenaltyProjector(**training, callbacks=[PowerCut()]).fit(X, y)
except RuntimeError as error:
    print(error, "but kept:", len(list(training["checkpoint_dir"].iterdir())), "file")
resumed = FPRPenaltyProjector(**training).fit(X, y)
same = np.array_equal(whole.transform(X), resumed.transform(X))
print("as if it had not been broken off:", same)
del X
folder.cleanup()

# %%
# What to notice
# --------------
# No code depends on whether the embeddings are in memory or on disk. The number of workers and
# an interruption do not change a result, and the levels above ``far_max`` have the same
# values with intervals that hardly differ here. The tail of a million images fits in 16 GiB
# at FAR 1e-3. At 1e-2 it does not, and need not.
#
# The rule counts the tail alone. Somewhat more is stored after a fit, and during it over three
# times as much in this story: leave room.
#
# **What this does not show**: time, which grows with the square of the images and which the
# benchmarks measure. ``SimilarityROC`` copies embeddings into memory once, as float32 unit
# rows. Only the transformers leave them on disk. And a larger set is not a better one: it
# describes the people in it.
