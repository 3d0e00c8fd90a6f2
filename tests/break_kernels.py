"""Break one kernel after the other, and see whether the daily tests notice.

    python -m tests.break_kernels              all of them
    python -m tests.break_kernels gini tiles   those named

Works on a copy of the package and its tests, never in place. Each break replaces one piece
of text, which must stand in the package exactly once, wherever that is; then the related
tests of the daily run must fail. On the unbroken copy they must pass.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Break:
    """A replacement of text, and the tests that must notice it."""

    name: str
    old: str
    new: str
    tests: tuple[str, ...]


BREAKS = [
    Break(
        "tie rule",
        'np.searchsorted(descending[::-1], thresholds, side="left")',
        'np.searchsorted(descending[::-1], thresholds, side="right")',
        ("tests/metrics/_pairs/test_rates.py",),
    ),
    Break(
        "threshold",
        "np.asarray(targets, dtype=np.float64) * (1 + ROUNDING)",
        "np.asarray(targets, dtype=np.float64) * (1 - ROUNDING)",
        ("tests/metrics/_pairs/test_rates.py",),
    ),
    Break(
        "totals",
        "pairs = (sums**2 - squares) / 2",
        "pairs = sums**2 / 2",
        ("tests/metrics/_roc/test_similarity_roc.py",),
    ),
    Break(
        "mixed totals",
        "total -= (own[:, None] * dense[0] * dense[1]).sum(axis=0)",
        "total -= 0",
        ("tests/metrics/_roc/test_similarity_roc.py",),
    ),
    Break(
        "running sums",
        "if total > target:",
        "if total >= target:",
        ("tests/_core/test_running_sums.py",),
    ),
    Break(
        "resampled genuine pairs",
        "return (unit, self.image), (left, right)",
        "return (unit, unit), (left, right)",
        ("tests/metrics/_roc/test_similarity_roc.py",),
    ),
    Break(
        "recentring",
        "value + (replicates - centre)",
        "value + (replicates - value)",
        ("tests/metrics/_roc/test_recentring.py",),
    ),
    Break(
        "quantile",
        "np.where(undefined, np.inf, replicates), 1 - tail)",
        "np.where(undefined, np.inf, replicates), 1 - 2 * tail)",
        ("tests/_core/test_intervals.py",),
    ),
    Break(
        "gini",
        "2 * n_groups**2 * rates.mean(axis=-1)",
        "2 * n_groups * (n_groups - 1) * rates.mean(axis=-1)",
        ("tests/_core/test_disparities.py",),
    ),
    Break(
        "range of gini",
        "return apart / (n_groups - 1 + smallest), apart * most / (n_groups - 1)",
        "return apart / (n_groups + smallest), apart * most / (n_groups - 1)",
        ("tests/_core/test_disparities.py",),
    ),
    Break(
        "ends agree with max / min",
        "varying & ~np.isnan(own), np.clip(own, *possible), widest(*possible)",
        "varying & ~np.isnan(own), own, widest(*possible)",
        ("tests/metrics/_roc/test_evidence.py",),
    ),
    Break(
        "geometric mean",
        "np.exp(np.mean(np.log(rates), axis=-1))",
        "np.mean(rates, axis=-1)",
        ("tests/_core/test_disparities.py",),
    ),
    Break(
        "tiles",
        "first = i + 1 if diagonal else 0",
        "first = i + 2 if diagonal else 0",
        ("tests/_core/test_pair_tiles.py",),
    ),
    Break(
        "equal error",
        "rejected[lowest] = sums[1][row + 1, r] if row + 1 < n_rows else 0.0",
        "rejected[lowest] = 0.0",
        ("tests/_core/test_equal_error.py",),
    ),
    Break(
        "floors of partitions",
        "same = (group[:, None] == group) & (group[:, None] >= 0)",
        "same = group[:, None] != group",
        ("tests/metrics/_roc/test_by.py",),
    ),
    Break(
        "slack",
        "return terms / (1 - terms) * longest",
        "return 0 * longest",
        ("tests/_core/test_pair_tiles.py",),
    ),
    Break(
        "merge",
        "for c in zip(*pieces, strict=True)",
        "for c in zip(*pieces[::-1], strict=True)",
        ("tests/_core/test_pair_sequences.py",),
    ),
    Break(
        "softmax gradient",
        "of_scaled, scaled) / scale.square()",
        "of_scaled, scaled) / scale",
        ("tests/losses/test_softmax.py",),
    ),
    Break(
        "normaliser in the loss",
        "offset = log_normalizer - log_normalizer.max()",
        "offset = 0 * log_normalizer",
        ("tests/losses/test_fair_vmf.py",),
    ),
    Break(
        "indifference",
        "-log_softmax(logits, 1).mean() - math.log(logits.shape[1])",
        "-log_softmax(logits, 1).mean()",
        ("tests/losses/test_group_adversary.py",),
    ),
    Break(
        "levels of scores",
        "return (np.arange(n) + 0.5) / n",
        "return (np.arange(n) + 1.0) / n",
        ("tests/losses/test_score_map.py",),
    ),
    Break(
        "genuine targets",
        "apply_score_map(impostor_map, cosines).scatter_(1, place, own)",
        "apply_score_map(impostor_map, cosines)",
        ("tests/losses/test_centroid_fairness.py",),
    ),
    Break(
        "semi-hard negatives",
        "cosines[same_person.places(rows)] = -torch.inf",
        "cosines[same_person.places(rows)] = -1.0",
        ("tests/losses/test_semi_hard.py",),
    ),
    Break(
        "semi-hard choice",
        "ranks = (share.to(counts.device) * counts).long()",
        "ranks = (share.to(counts.device) ** 1.5 * counts).long()",
        ("tests/losses/test_semi_hard.py",),
    ),
    Break(
        "people of a fold",
        "_deal(splitter, strata, identity.codes, n_samples)",
        "_deal(splitter, strata, np.arange(n_samples), n_samples)",
        ("tests/model_selection/test_identity_k_fold.py",),
    ),
    Break(
        "errors of two people",
        "e2, e3 = after**2 - before**2, after**3 - before**3",
        "e2, e3 = e**2, e**3",
        ("tests/_core/test_few_errors.py",),
    ),
    Break(
        "pairs of two people",
        "return (self.size @ self._numbers - np.diag(self.size))[self.kind]",
        "return (self.size @ self._numbers)[self.kind]",
        ("tests/_core/test_error_counts.py",),
    ),
    Break(
        "family of comparisons",
        "steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))",
        "steps = p[order] * np.arange(p.size, 0, -1)",
        ("tests/_core/test_few_errors.py",),
    ),
    Break(
        "threshold of the same data",
        "found = self.slope**2 * self.variance - 2 * self.slope * self.covariance",
        "found = self.slope**2 * self.variance",
        ("tests/metrics/_roc/test_evidence.py",),
    ),
    Break(
        "how well a variance is known",
        "freedom = 1 / np.maximum(share",
        "freedom = 4 / np.maximum(share",
        ("tests/_core/test_few_errors.py",),
    ),
    Break(
        "plans: lower bounds of rates",
        "min(tail, 2 * tail / self.groups)",
        "tail",
        ("tests/_core/test_planning.py",),
    ),
    Break(
        "scale of a bound",
        "1 - 2 / 3 * skewed - sums.between / 2",
        "1 - 2 / 3 * skewed",
        ("tests/_core/test_few_errors.py",),
    ),
    Break(
        "bound without errors",
        "np.maximum(np.where(sums.errors > 0, high, 0.0), least)",
        "np.where(sums.errors > 0, high, 0.0)",
        ("tests/_core/test_few_errors.py",),
    ),
    Break(
        "groups with few errors",
        "counted = known & (sums.errors >= FEWEST_CLUMPS * sums.clump)",
        "counted = known",
        ("tests/_core/test_few_errors.py",),
    ),
    Break(
        "largest ratio",
        "pairs.bounds(tail / max(n_pairs, 1))",
        "pairs.bounds(tail)",
        ("tests/metrics/_roc/test_analytic.py",),
    ),
    Break(
        "combinations of attributes",
        "np.minimum(p / share, 1.0)",
        "np.minimum(p, 1.0)",
        ("tests/report/test_verdicts.py",),
    ),
    Break(
        "limits on rates",
        "tail = min(self.tail, 2 * self.tail / len(self.labels))",
        "tail = self.tail",
        ("tests/report/test_verdicts.py",),
    ),
    Break(
        "comparator: nearest of the cohort",
        "axis=1)[:, -top:]",
        "axis=1)[:, :top]",
        ("tests/comparators/test_cohort.py",),
    ),
    Break(
        "comparator: length of centers",
        "multiply_rows(rows, centers) - squares / 2",
        "multiply_rows(rows, centers)",
        ("tests/comparators/test_fair_score_normalizer.py",),
    ),
    Break(
        "comparator: pairs inside a cluster twice",
        "(j < start) | (j >= stop) | (j > row)",
        "(j < start) | (j >= stop) | (j != row)",
        ("tests/_core/test_cluster_pairs.py",),
    ),
    Break(
        "comparator: weight of both kinds",
        "[0.5 / genuine.size, 0.5 / impostor.size]",
        "[0.5 / q.size, 0.5 / q.size]",
        ("tests/_core/test_beta_calibration.py",),
    ),
    Break(
        "comparator: log odds of the mean",
        "accept = odds * reject + others_odds * rejected",
        "accept = odds * reject + odds * rejected",
        ("tests/_core/test_adjustments.py",),
    ),
    Break(
        "comparator: a pass dismisses too much",
        "low = floor - 2.0**-23 * abs(np.float64(floor)) - 2.0**-149",
        "low = floor + 0.05",
        ("tests/_core/test_adjustments.py",),
    ),
    Break(
        "comparator: offset of a cluster",
        "Adjustment.affine(np.full(len(rows), 0.5), above / 2)",
        "Adjustment.affine(np.full(len(rows), 0.5), above)",
        ("tests/comparators/test_fair_score_normalizer.py",),
    ),
    Break(
        "comparator: unknown groups",
        "np.append(self.thresholds_, self.threshold_)[codes] / 2",
        "np.append(self.thresholds_, 0.0)[codes] / 2",
        ("tests/comparators/test_group_thresholds.py",),
    ),
    Break(
        "comparator: probe and reference",
        '1 if self.kind == "z" else 0',
        '0 if self.kind == "z" else 1',
        ("tests/comparators/test_cohort.py",),
    ),
    Break(
        "pooled clumps",
        "variance = max(replicates.var(ddof=1) - 2 * together, together)",
        "variance = max(replicates.var(ddof=1), together)",
        ("tests/_core/test_pooled_folds.py",),
    ),
    Break(
        "pooled threshold",
        "found = found + sparse.diags_array(1 / total) @ own - move @ own",
        "found = found + sparse.diags_array(1 / total) @ own",
        ("tests/_core/test_pooled_folds.py",),
    ),
    Break(
        "pairs of a fold",
        "np.where(defined, rates, 0.0) * pairs_of,",
        "np.where(defined, rates, 0.0) * pairs_of[0],",
        ("tests/model_selection/test_held_out.py",),
    ),
    Break(
        "people judged are fitted",
        "system, parameters = choose_and_fit(fitted_on, mitigation, settings, split)",
        "system, parameters = choose_and_fit(people, mitigation, settings, split)",
        ("tests/model_selection/test_bench.py",),
    ),
    Break(
        "moments of people",
        "between = np.cov(means, rowvar=False) - within * (1 / n_images).mean()",
        "between = np.cov(means, rowvar=False)",
        ("tests/comparators/test_plda.py",),
    ),
    Break(
        "moments within people",
        "covariance = squares / (len(rows) - n_images.size)",
        "covariance = squares / len(rows)",
        ("tests/comparators/test_plda.py",),
    ),
    Break(
        "likelihood ratio of people",
        "b / (2 * (1 + b))) - half",
        "b / (2 * (1 + 2 * b))) - half",
        ("tests/comparators/test_plda.py",),
    ),
    Break(
        "constant of the likelihood ratio",
        "half = (np.log1p(b) - np.log1p(2 * b) / 2).sum() / 2",
        "half = (np.log1p(b) - np.log1p(2 * b) / 2).sum()",
        ("tests/comparators/test_plda.py",),
    ),
    Break(
        "root of the covariance within people",
        "(axes / np.sqrt(variances)) @ axes.T",
        "(axes / variances) @ axes.T",
        ("tests/comparators/test_whitening.py",),
    ),
    Break(
        "span of the groups' means",
        "self.directions_ = basis[strength > ROUNDING]",
        "self.directions_ = basis[:1]",
        ("tests/comparators/test_group_means.py",),
    ),
]


def copy_to(folder):
    """The package and what its tests need, without caches."""
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("skfairfr", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)


def places_of(breaks, folder):
    """Name -> the one module that holds a break's text once; anything else is an error."""
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in sorted((folder / "skfairfr").rglob("*.py"))
    }
    found = {
        b.name: [path for path, text in texts.items() for _ in range(text.count(b.old))]
        for b in breaks
    }
    wrong = {name: paths for name, paths in found.items() if len(paths) != 1}
    if wrong:
        raise LookupError(f"These must stand in exactly one place: {wrong}")
    return {name: paths[0] for name, paths in found.items()}


def failed(tests, folder, *options):
    """Ids of the tests that failed; an error before them is one here, too."""
    with tempfile.TemporaryDirectory() as kernels:
        environment = {
            **os.environ,
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            # Compiled anew: a cache does not know what a kernel calls.
            "NUMBA_CACHE_DIR": kernels,
        }
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", *options, *tests]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True
        )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"The tests did not run:\n{done.stdout}{done.stderr}")
    return re.findall(r"^FAILED (\S+)", done.stdout, re.MULTILINE)


def main(arguments=None):
    """Exit status: 0 where every break is noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="words of the names of breaks")
    words = parser.parse_args(arguments).names
    chosen = [b for b in BREAKS if not words or any(w in b.name for w in words)]
    unnoticed = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_to(folder)
        places = places_of(chosen, folder)
        tests = sorted({test for b in chosen for test in b.tests})
        if whole := failed(tests, folder):
            raise RuntimeError(f"The unbroken copy fails: {whole}")
        for b in chosen:
            path = places[b.name]
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(b.old, b.new), encoding="utf-8")
            noticed = failed(b.tests, folder, "-x")
            path.write_text(text, encoding="utf-8")
            by = noticed[0] if noticed else "NOT NOTICED"
            print(f"{b.name} ({path.relative_to(folder)}): {by}", flush=True)
            unnoticed += [] if noticed else [b.name]
    print(f"{len(chosen) - len(unnoticed)} of {len(chosen)} breaks were noticed")
    return int(bool(unnoticed) or not chosen)


if __name__ == "__main__":
    sys.exit(main())
