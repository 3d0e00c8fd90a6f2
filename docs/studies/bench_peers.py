"""Time and memory of skfairfr and other tools, and the coverage of their intervals.

``python -m docs.studies.bench_peers`` writes one file of scored pairs and gives it to each
tool in a process of its own: time over that of ``skfairfr audit`` and peak memory. Then many
sets of 50 people of one population: the share of 95 % intervals of a group's FMR that contain
the true FMR, and their mean width over the FMR. Tools that are not installed are named;
``docs/evidence/peers.rst`` lists what to install.
"""

import csv
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from skfairfr import SimilarityROC, make_face_embeddings

FMR, N_BOOT, TAIL = 1e-2, 200, 0.025
IMAGES, SPREAD, PEOPLE = 4, 0.3, 50
GROUPS = {"female": 0.5, "male": 0.5}
REPORTS = {
    "skfairfr": "rates, ratios, tests, thresholds, limits; intervals over people",
    "pandas + scikit-learn": "rates by group; bootstrap of pairs",
    "fairlearn": "rates by group; bootstrap of pairs",
    "pyeer": "EER and FNMR at fixed FMR, by group; no intervals",
    "cimat": "rates by group; intervals over people",
    "bob.measure": "rates, Cllr by group; no intervals",
}
MODULES = {"pandas + scikit-learn": "pandas", "bob.measure": "bob"}


def faces_of(people, seed):
    """Images of a population whose people differ from each other."""
    return make_face_embeddings(
        people, IMAGES, 32, groups=GROUPS, heterogeneity=SPREAD, random_state=seed
    )


def pairs_of(faces):
    """All pairs of images: both people, both sexes and the score, as columns."""
    rows = faces.X / np.linalg.norm(faces.X, axis=1, keepdims=True)
    left, right = np.triu_indices(len(rows), 1)
    sex = faces.sensitive_features
    return {
        "identity_1": faces.y[left],
        "identity_2": faces.y[right],
        "sex_1": sex[left],
        "sex_2": sex[right],
        "score": np.einsum("ij,ij->i", rows[left], rows[right]),
    }


def write_pairs(path, columns):
    """A file of scored pairs. Their number."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return len(columns["score"])


def within_groups(pairs):
    """Pairs within the groups, with ``genuine``."""
    pairs = pairs[pairs.sex_1 == pairs.sex_2]
    return pairs.assign(genuine=pairs.identity_1 == pairs.identity_2)


def threshold_of(pairs):
    return np.quantile(pairs.score[~pairs.genuine], 1 - FMR)


def bootstrap_of_rows(pairs, threshold, rng):
    """Percentile interval of the FMR from resamples of pairs."""
    accepted = pairs.score[~pairs.genuine].to_numpy() >= threshold
    found = [rng.choice(accepted, accepted.size).mean() for _ in range(N_BOOT)]
    return np.quantile(found, [TAIL, 1 - TAIL])


def metric_frame(pairs, threshold):
    """fairlearn's rates by group, with its bootstrap of samples."""
    from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate

    return MetricFrame(
        metrics={"fmr": false_positive_rate, "fnmr": false_negative_rate},
        y_true=pairs.genuine.astype(int),
        y_pred=(pairs.score >= threshold).astype(int),
        sensitive_features=pairs.sex_1,
        n_boot=N_BOOT,
        ci_quantiles=[TAIL, 1 - TAIL],
        random_state=0,
    )


def people_of(pairs):
    """The nested dictionary of scores that cimat takes."""
    found = {i: {} for i in set(pairs.identity_1) | set(pairs.identity_2)}
    for (i, j), scores in pairs.groupby(["identity_1", "identity_2"]).score:
        found[i][j] = found[j][i] = [*found[i].get(j, []), *scores]
    return found


def cimat_interval(pairs, threshold):
    """cimat's interval of the FMR."""
    from cimat import UncertaintyEstimator

    peer = UncertaintyEstimator(people_of(pairs))
    peer.compute_binerror_metrics(threshold)
    return peer.get_binerror_ci(None, *peer.compute_variance(threshold))[1]


def run_tool(tool, path):
    """Measure what the tool measures, on the file."""
    if tool == "skfairfr":
        from skfairfr.cli import main

        # The exit status is that of the verdict: 0, as there is no limit.
        status = main(["audit", path, "--attribute", "sex", "--fmr", str(FMR)])
        if status:
            raise SystemExit(status)
        return
    import pandas as pd

    pairs = within_groups(pd.read_csv(path))
    threshold, rng = threshold_of(pairs), np.random.default_rng(0)
    if tool == "fairlearn":
        metric_frame(pairs, threshold)
        return
    for _, group in pairs.groupby("sex_1"):
        genuine = group.score[group.genuine].to_numpy()
        impostor = group.score[~group.genuine].to_numpy()
        if tool == "pandas + scikit-learn":
            from sklearn.metrics import roc_curve

            roc_curve(group.genuine, group.score)
            bootstrap_of_rows(group, threshold, rng)
        elif tool == "pyeer":
            from pyeer.eer_info import get_eer_stats

            get_eer_stats(genuine, impostor)
        elif tool == "cimat":
            cimat_interval(group, threshold)
        else:
            from bob.measure import farfrr
            from bob.measure.calibration import cllr

            farfrr(impostor, genuine, threshold), cllr(impostor, genuine)


def cost(tool, path):
    """Seconds and peak MiB of a process that runs the tool."""
    command = [
        sys.executable,
        "-m",
        "docs.studies.bench_peers",
        "--tool",
        tool,
        path,
    ]
    started = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.perf_counter() - started, int(done.stdout.split()[-1]) / 1024


def intervals(seed, threshold, tools):
    """The FMR of women among new people, and each tool's interval of it."""
    import pandas as pd

    faces = faces_of(PEOPLE, seed)
    pairs = within_groups(pd.DataFrame(pairs_of(faces)))
    pairs = pairs[pairs.sex_1 == "female"]
    found = {}
    if "skfairfr" in tools:
        women = faces.sensitive_features == "female"
        roc = SimilarityROC(method="jackknife").fit(faces.X[women], faces.y[women])
        ours = roc.estimate(threshold=threshold, rate="far")
        found["skfairfr"] = ours.low, ours.high
    # fairlearn's bootstrap takes resamples of samples, too, and takes far longer.
    rng = np.random.default_rng(seed)
    found["bootstrap of pairs"] = bootstrap_of_rows(pairs, threshold, rng)
    if "cimat" in tools:
        found["cimat"] = cimat_interval(pairs, threshold)
    accepted = pairs.score[~pairs.genuine] >= threshold
    return accepted.mean(), found


def installed():
    """The tools that are there. Others are named in a line."""
    tools = [t for t in REPORTS if find_spec(MODULES.get(t, t))]
    missing = [t for t in REPORTS if t not in tools]
    if missing:
        print("not installed:", ", ".join(missing))
    return tools


def main(people=160, sets=1000):
    """Print both tables."""
    tools = installed()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "pairs.csv")
        print(
            f"{write_pairs(path, pairs_of(faces_of(people, 0))):,} pairs of {people} people"
        )
        costs = {tool: cost(tool, path) for tool in tools}
    print(f"{'':<22} {'time':>5} {'MiB':>6}  reports")
    for tool, (seconds, memory) in costs.items():
        ratio = seconds / costs["skfairfr"][0]
        print(f"{tool:<22} {ratio:>5.2f} {memory:>6,.0f}  {REPORTS[tool]}")
    coverage(sets, tools)


def coverage(sets, tools):
    """Print the table of intervals: a miss is of an interval below or above the truth."""
    many = faces_of(1000, sets)
    threshold = SimilarityROC().fit(many.X, many.y).threshold_at(FMR)
    found = [intervals(seed, threshold, tools) for seed in range(sets)]
    truth = np.mean([rate for rate, _ in found])
    print(
        f"\nFMR {truth:.2%} of women, {sets} sets of {PEOPLE} people, half of them women"
    )
    print(f"{'':<22} {'contain':>8} {'below':>6} {'above':>6} {'width':>6}")
    for tool in found[0][1]:
        low, high = np.array([ends[tool] for _, ends in found], float).T
        below, above = (high < truth).mean(), (low > truth).mean()
        shares = f"{1 - below - above:>8.3f} {below:>6.3f} {above:>6.3f}"
        print(f"{tool:<22} {shares} {(high - low).mean() / truth:>6.2f}")


if __name__ == "__main__":
    from docs.studies import _command, bench_peers

    if sys.argv[1:2] == ["--tool"]:
        bench_peers.run_tool(*sys.argv[2:])
        status = Path("/proc/self/status").read_text()
        print(status.partition("VmHWM:")[2].split()[0])  # KiB, of this process alone
    else:
        _command.run_command(bench_peers.main, __doc__)
