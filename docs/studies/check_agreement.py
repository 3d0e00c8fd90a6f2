"""Numbers of this package beside those that others' code computes, or others printed.

    python -m docs.studies.check_agreement [embeddings.json]

Others' packages are no dependencies: one that is not installed is named with the pip command,
and its comparisons are left out. ``docs/evidence/agreement.rst`` shows what a run with all of them
printed, and explains each difference. The file is that of people and images which cimat's own
tests read, a mapping of identity to image to embedding. Some two minutes on one core.
"""

import argparse
import json
import warnings
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np

import skfairfr
from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core._calibration import fit_curve
from skfairfr._core._vmf import log_vmf_normalizer
from skfairfr.comparators import ClusterCalibration, CohortNormalizer, PLDAComparator
from skfairfr.metrics import (
    all_pairs,
    cllr,
    detection_cost,
    disparity,
    equal_error_rate,
    fairness_discrepancy_rate,
    far_frr_curve,
    garbe,
    group_error_rates,
    group_gate_rates,
    half_total_error_rate,
    inequity_rate,
    min_cllr,
    tar_at_far,
    threshold_at_far,
    werm,
)

SHARED = Path(__file__).parents[3] / "shared" / "data"
# Their pins are older than what this package needs, or their dependencies do not build; they
# run without.
WITHOUT_DEPENDENCIES = ("bob.measure", "cimat", "inequality")
LEVELS = (1e-1, 1e-2, 1e-3)
CHECKS = []

# github.com/RafaelMMamede/Fairness_OCFR, results/accuracies_and_fairness.csv (8fa5000): errors
# among the 6,000 pairs of each group of RFW (African, Asian, Caucasian, Indian), from the
# accuracies; printed standard deviation of the accuracies in per cent, and SER.
ERRORS_ON_RFW = [
    (451, 440, 289, 382, 1.069949375749467, 1.5605536332179941),
    (392, 394, 326, 304, 0.6629060600450438, 1.2960526315789476),
    (389, 416, 262, 326, 0.9924979009213771, 1.587786259541988),
    (361, 338, 254, 279, 0.7200501525742645, 1.4212598425196845),
    (1449, 1281, 1123, 1268, 1.9248872622110176, 1.2902938557435442),
    (1375, 1245, 1103, 1183, 1.6570346673769032, 1.2466001813236627),
    (1395, 1236, 1130, 1166, 1.6944507058172116, 1.2345132743362834),
    (1277, 1173, 1035, 1079, 1.5500896031448552, 1.2338164251207728),
    (1664, 1473, 1419, 1516, 1.5171702460684984, 1.172656800563777),
    (1620, 1518, 1319, 1446, 1.8266687576022094, 1.2282031842304775),
    (1667, 1403, 1316, 1429, 2.1672875712896653, 1.2667173252279633),
    (1547, 1424, 1318, 1352, 1.46232192648085, 1.1737481031866464),
    (2032, 1932, 1821, 1816, 1.48475470289802, 1.1189427312775333),
    (1984, 1850, 1748, 1753, 1.5967142912173633, 1.135011441647597),
    (2012, 1825, 1719, 1749, 1.8998309500818482, 1.170447934845841),
    (1877, 1731, 1628, 1630, 1.6932258824176112, 1.1529484029484032),
    (2311, 2188, 2122, 2252, 1.1761740588308598, 1.0890669180018848),
    (2267, 2196, 2081, 2133, 1.1598835549791684, 1.0893801057184047),
    (2236, 2121, 2049, 2126, 1.113615233771921, 1.0912640312347486),
    (2187, 2073, 1931, 2029, 1.5320646925708528, 1.1325737959606421),
]
# The same, and results/FMR_FNMR.csv (830270c): false matches, and false non-matches, among
# 3,000 pairs of each group; printed FDR, IR, GARBE and difference of equalised odds. The four
# rows whose accuracies are the same in both files; the others are of other runs.
FALSE_ON_RFW = [
    ((254, 91, 51, 190), (197, 349, 238, 192))
    + (0.97, 3.0088038033074516, 0.2887968817023816, 0.06766666666666667),
    ((110, 124, 7, 68), (282, 270, 319, 236))
    + (0.9833333333333333, 4.893292340271606, 0.25126950298629197, 0.039),
    ((141, 125, 10, 74), (220, 213, 244, 205))
    + (
        0.9858333333333333,
        4.0966375266052335,
        0.2348601662887377,
        0.043666666666666666,
    ),
    ((565, 396, 266, 616), (1102, 1007, 1050, 813))
    + (0.94675, 1.7717198960089315, 0.1484208868846257, 0.11666666666666667),
]


def against(whose, distribution=None):
    """Mark a generator of rows: what, on what data, our numbers, theirs; a letter may follow.

    The page explains the letters.
    """

    def mark(check):
        CHECKS.append((whose, distribution, check))
        return check

    return mark


# ---- data ----------------------------------------------------------------------------


@cache
def simulated():
    """All pairs of people with unequal rates in three groups; scores of two decimals have many ties."""
    faces = make_face_embeddings(
        200, (2, 6), 32, groups={"a": 0.6, "b": 0.3, "c": 0.1}, random_state=0
    )
    y_true, scores, groups = all_pairs(
        faces.X, faces.y, sensitive_features=faces.sensitive_features
    )
    return y_true, np.round(scores, 2), groups


@cache
def lfw():
    """All pairs of the real faces beside the checkout."""
    with np.load(SHARED / "lfw_facenet" / "lfw_facenet.npz") as file:
        X, y, gender = (file[name] for name in ("embedding", "identity", "gender"))
    return all_pairs(X, y, sensitive_features=gender)


def package_file(package, *parts):
    """A file that comes with another's package."""
    return Path(find_spec(package).origin).parent.joinpath(*parts)


@cache
def voxceleb():
    """The trials of VoxCeleb1-H and their scores, as bt4vt brings them."""
    import pandas as pd

    folder = package_file("bt4vt", "data")
    trials = pd.read_csv(folder / "resnetse34v2_H-eval_scores.csv")
    people = pd.read_csv(folder / "vox1_meta.csv", sep="\t", index_col=0)
    group = people["Nationality"] + ", " + people["Gender"]
    sides = (
        group[trials[file].str[:7]].to_numpy() for file in ("ref_file", "com_file")
    )
    return trials["lab"].to_numpy(), trials["sc"].to_numpy(), np.stack([*sides], axis=1)


@cache
def pyeer_examples():
    """Genuine and impostor scores of the three experiments that pyeer brings."""
    folder = package_file("pyeer", "example_files", "non_hist")
    found = []
    for k in (1, 2, 3):
        genuine, impostor = (
            np.loadtxt(folder / f"exp{k}_{kind}.txt", usecols=-1)
            for kind in ("true", "false")
        )
        is_genuine = np.repeat([1, 0], [genuine.size, impostor.size])
        found.append((is_genuine, np.concatenate([genuine, impostor]), None))
    return found


def sets_of_scores():
    """The sets at hand, and those that other packages bring if they are installed."""
    found = [("simulated, ties", simulated())]
    if at_hand():
        found.append(("LFW", lfw()))
    if find_spec("bt4vt"):
        found.append(("VoxCeleb1-H", voxceleb()))
    if find_spec("pyeer"):
        found += zip(("pyeer 1", "pyeer 2", "pyeer 3"), pyeer_examples(), strict=True)
    return found


def at_hand():
    """Whether the folder of real data is there."""
    return SHARED.is_dir()


def apart(y_true, scores):
    """Impostor and genuine scores, ascending, as other packages take them."""
    genuine = y_true == 1
    return np.sort(scores[~genuine]), np.sort(scores[genuine])


def as_ratios(scores):
    """Scores on a scale of log-likelihood ratios, which they need not be."""
    return (scores - np.median(scores)) / scores.std()


# ---- rates ---------------------------------------------------------------------------


@against("scikit-learn", "scikit-learn")
def curves():
    """Rates at every score, and the equal error rate by interpolation."""
    from scipy.optimize import brentq
    from scipy.special import expit
    from sklearn.isotonic import IsotonicRegression
    from sklearn.metrics import log_loss, roc_auc_score, roc_curve

    for name, (y_true, scores, _) in sets_of_scores():
        far, frr, _ = far_frr_curve(y_true, scores)
        fpr, tpr, _ = roc_curve(y_true, scores, drop_intermediate=False)
        yield "FMR, FNMR at every score", name, [far, frr], [fpr, 1 - tpr]
        crossing = brentq(lambda x: x + np.interp(x, fpr, tpr) - 1, 0, 1)  # noqa: B023
        ours = equal_error_rate(y_true, scores)
        yield "EER, interpolated", name, ours, crossing, "a"
        yield (
            "TAR at FMR 0.01",
            name,
            tar_at_far(y_true, scores, far=0.01),
            tpr[fpr <= 0.01][-1],
        )
        ratios = as_ratios(scores)
        weights = 1 / np.bincount(y_true)[y_true]
        least = IsotonicRegression().fit(scores, y_true, weights).predict(scores)
        found = cllr(y_true, ratios), min_cllr(y_true, scores)
        theirs = [
            log_loss(y_true, posterior, sample_weight=weights) / np.log(2)
            for posterior in (expit(ratios), least)
        ]
        yield "Cllr, minCllr, as log losses", name, found, theirs
        roc = SimilarityROC(n_resamples=1).fit_pairs(scores, y_true=y_true)
        parts = (None, 0.1, 0.01, 0.001)
        ours = [roc.estimate(rate="auc", max_far=part).value for part in parts]
        theirs = [roc_auc_score(y_true, scores, max_fpr=part) for part in parts]
        yield "AUC, and up to FMR 0.1, 0.01, 0.001", name, ours, theirs


@against("fairlearn", "fairlearn")
def metric_frame():
    """Rates of groups at thresholds, and their difference and ratio."""
    from fairlearn.metrics import (
        MetricFrame,
        false_negative_rate,
        false_positive_rate,
    )

    for name, (y_true, scores, groups) in sets_of_scores():
        if groups is None:
            continue
        same = groups[:, 0] == groups[:, 1]
        y_true, scores, group = y_true[same], scores[same], groups[same, 0]
        ours, theirs, pairs = [], [], []
        for level in LEVELS:
            threshold = threshold_at_far(y_true, scores, far=level)
            rates = group_error_rates(
                y_true, scores, sensitive_features=group, threshold=threshold
            )
            frame = MetricFrame(
                metrics={"far": false_positive_rate, "frr": false_negative_rate},
                y_true=y_true,
                y_pred=scores >= threshold,
                sensitive_features=group,
            )
            known = (rates.n_impostor > 0) & (rates.n_genuine > 0)
            for rate in ("far", "frr"):
                own = getattr(rates, rate)[known]
                other = frame.by_group[rate].loc[rates.groups[known]]
                ours.append(own), theirs.append(other)
                pairs.append((disparity(own, "difference"), np.ptp(other)))
                if known.all():
                    pairs.append(
                        (disparity(own, "difference"), frame.difference()[rate])
                    )
                    if own.min() > 0:
                        ratio = 1 / disparity(own, "max_min")
                        pairs.append((ratio, frame.ratio()[rate]))
        yield "FMR, FNMR of groups", name, ours, theirs
        yield "difference, min/max of groups", name, *zip(*pairs, strict=True)


@against("bob.measure", "bob.measure")
def bob():
    """Rates at given thresholds, thresholds at levels, the equal error rate, costs."""
    from bob.measure import eer, epc, far_threshold, farfrr
    from bob.measure import min_weighted_error_rate_threshold as best_threshold
    from bob.measure.calibration import cllr as its_cllr

    for name, (y_true, scores, _) in sets_of_scores():
        impostor, genuine = apart(y_true, scores)
        far, frr, thresholds = far_frr_curve(y_true, scores)
        some = np.linspace(1, thresholds.size - 1, 300).astype(int)
        theirs = [farfrr(impostor, genuine, t) for t in thresholds[some]]
        ours = np.stack([far[some], frr[some]], axis=1)
        yield "FMR, FNMR at 300 scores", name, ours, theirs
        ours = [threshold_at_far(y_true, scores, far=level) for level in LEVELS]
        theirs = [far_threshold(impostor, genuine, level, True) for level in LEVELS]
        ours, theirs = (
            np.array([farfrr(impostor, genuine, t) for t in found]).T
            for found in (ours, theirs)
        )
        yield "FMR at thresholds of levels", name, ours[0], theirs[0]
        yield "FNMR at thresholds of levels", name, ours[1], theirs[1], "b"
        theirs = eer(impostor, genuine, is_sorted=True)
        yield "EER", name, equal_error_rate(y_true, scores), theirs
        at = best_threshold(impostor, genuine, 0.99, True)
        ours, rates = detection_cost(y_true, scores), farfrr(impostor, genuine, at)
        yield "minDCF, p_target 0.01", name, ours, 99 * rates[0] + rates[1]
        ratios = apart(y_true, as_ratios(scores))
        yield "Cllr", name, cllr(y_true, as_ratios(scores)), its_cllr(*ratios)
        halves = [(y_true[k::2], scores[k::2]) for k in (0, 1)]
        split = [part for half in halves for part in apart(*half)]
        _, theirs, at = epc(*split, 11, is_sorted=True, thresholds=True)
        ours = [half_total_error_rate(*halves[1], threshold=t) for t in at]
        yield "HTER along its expected performance curve", name, ours, theirs
    rng, ours, theirs = np.random.default_rng(0), [], []
    for _ in range(1000):
        y_true = rng.permutation(np.repeat([0, 1], (7, 5)))
        scores = np.round(rng.normal(y_true, 1), 1)
        ours.append(equal_error_rate(y_true, scores))
        theirs.append(eer(*apart(y_true, scores), is_sorted=True))
    yield "EER of few pairs", "1,000 times 12 pairs", ours, theirs, "c"


@against("pyeer", "pyeer")
def pyeer():
    """Rates at every score, the equal error rate."""
    from pyeer.eer_stats import calculate_roc, get_eer_values

    for name, (y_true, scores, _) in sets_of_scores():
        impostor, genuine = apart(y_true, scores)
        _, fmr, fnmr = calculate_roc(genuine, impostor)
        far, frr, _ = far_frr_curve(y_true, scores)
        ours = far[:0:-1], frr[:0:-1]
        yield "FMR, FNMR at every score", name, ours, [fmr, fnmr]
        theirs = get_eer_values(fmr, fnmr)[-1]
        yield "EER", name, equal_error_rate(y_true, scores), theirs, "d"
        after = (far <= frr).nonzero()[0][-1]
        by_its_rule = min((far + frr)[after : after + 2]) / 2
        yield "EER, the lower of two", name, by_its_rule, theirs


@against("bt4vt", "bt4vt")
def bt4vt():
    """The equal error rate of everyone, and of each group of its example."""
    from bt4vt.evaluate import compute_fpfnth
    from bt4vt.metrics import compute_eer

    y_true, scores, groups = voxceleb()
    parts = [groups[:, 0] == group for group in np.unique(groups[:, 0])]
    parts = [np.ones(scores.size, dtype=bool)] + parts
    ours, theirs, by_its_rule = [], [], []
    for part in parts:
        curve = compute_fpfnth(scores[part], y_true[part])
        theirs.append(compute_eer(*curve)[0] / 100)
        ours.append(equal_error_rate(y_true[part], scores[part]))
        far, frr, _ = far_frr_curve(y_true[part], scores[part])
        closest = np.abs(far - frr).argmin()
        by_its_rule.append(max(far[closest], frr[closest]))
    yield "EER, all and 18 groups", "VoxCeleb1-H", ours, theirs, "e"
    yield "EER, the larger rate", "VoxCeleb1-H", by_its_rule, theirs


@against("facts beside the data")
def facts():
    """What was counted, by no code of this package, when the real data were prepared."""
    if not at_hand():
        raise FileNotFoundError(f"no {SHARED}")
    with open(SHARED / "lfw_facenet" / "facts.json") as file:
        known = json.load(file)
    y_true, scores, groups = lfw()
    everyone = known["all"]
    ours = equal_error_rate(y_true, scores)
    yield "EER, 5 digits", "LFW", ours, everyone["eer"]
    found, expected = [], []
    for level in LEVELS:
        at = everyone[f"fmr<={level:g}"]
        threshold = threshold_at_far(y_true, scores, far=level)
        rates = group_error_rates(
            y_true, scores, sensitive_features=groups, threshold=threshold
        )
        accepted = scores >= threshold
        found += accepted[y_true == 0].mean(), 1 - accepted[y_true == 1].mean()
        expected += at["fmr"], at["fnmr"]
        for k, group in enumerate(rates.groups):
            at = known[group][f"at_global_fmr<={level:g}"]
            found += rates.far[k], rates.frr[k]
            expected += at["fmr"], at["fnmr"]
    yield "FMR, FNMR, 5 digits", "LFW", found, expected


# ---- indices -------------------------------------------------------------------------


@against("printed: Fairness_OCFR")
def occluded_rfw():
    """Indices of a published table, from the rates that are published beside it."""
    errors, std, ser = np.split(np.array(ERRORS_ON_RFW), [4, 5], axis=1)
    name = "RFW, 20 systems"
    ours = [disparity(row / 60, "std") for row in errors]
    yield "std of accuracies, ddof 0", name, ours, std
    ours = [disparity(row / 6000, "max_min") for row in errors]
    yield "SER: max/min of errors", name, ours, ser
    fmr, fnmr, fdr, ir, printed_garbe, odds = zip(*FALSE_ON_RFW, strict=True)
    fmr, fnmr, name = np.array(fmr) / 3000, np.array(fnmr) / 3000, "RFW, 4 systems"
    of_rows = list(zip(fmr, fnmr, strict=True))
    yield "inequity rate", name, [inequity_rate(*r) for r in of_rows], ir
    yield "GARBE", name, [garbe(*r) for r in of_rows], printed_garbe
    ours = [max(disparity(rates, "difference") for rates in r) for r in of_rows]
    yield "equalised odds difference", name, ours, odds
    ours = np.array([fairness_discrepancy_rate(*r) for r in of_rows])
    yield "FDR", name, ours, fdr, "f"
    yield "FDR, errors over all pairs", name, (1 + ours) / 2, fdr


@against("inequality (PySAL)", "inequality")
def inequality():
    """The Gini coefficient, which biometrics multiply by M / (M - 1)."""
    from inequality.gini import Gini

    rng = np.random.default_rng(0)
    rows = [rng.lognormal(-5, 1, rng.integers(2, 12)) for _ in range(100)]
    theirs = [Gini(row).g * row.size / (row.size - 1) for row in rows]
    yield (
        "Gini, times M/(M - 1)",
        "100 lists",
        [disparity(r, "gini") for r in rows],
        theirs,
    )


@against("by hand, in fractions")
def by_hand():
    """All indices of two lists of rates whose values have closed forms."""
    fmr, fnmr = [1e-3, 2e-3, 4e-3, 8e-3], [1e-2, 2e-2, 2e-2, 5e-2]
    expected = {
        "max_min": (8, 5),
        "max_geomean": (8**0.5, 5 / 20**0.25),
        "log_geomean": (4 * np.log10(2), 2 * np.log10(5 / 20**0.25)),
        "gini": (Fraction(23, 45), Fraction(2, 5)),
        "difference": (Fraction(7, 1000), Fraction(1, 25)),
        "std": (Fraction(115, 16) ** 0.5 / 1000, Fraction(9, 4) ** 0.5 / 100),
    }
    ours = [[disparity(rates, how) for rates in (fmr, fnmr)] for how in expected]
    theirs = [[float(x) for x in pair] for pair in expected.values()]
    yield "six disparities", "two lists", ours, theirs
    ours = [index(fmr, fnmr) for index in (fairness_discrepancy_rate, inequity_rate)]
    ours += [garbe(fmr, fnmr), werm(fmr, fnmr)]
    theirs = [0.9765, 40**0.5, 41 / 90, (8**0.5 * 5 / 20**0.25) ** 0.5]
    yield "FDR, IR, GARBE, WERM", "two lists", ours, theirs


def least_cost(y_true, scores, p_target):
    """The normalised detection cost of NIST's plans at the best of all thresholds."""
    genuine = [s for s, y in zip(scores, y_true, strict=True) if y]
    impostor = [s for s, y in zip(scores, y_true, strict=True) if not y]
    costs = []
    for t in (*scores, max(scores) + 1):
        miss = Fraction(sum(s < t for s in genuine), len(genuine))
        false = Fraction(sum(s >= t for s in impostor), len(impostor))
        costs.append(p_target * miss + (1 - p_target) * false)
    return float(min(costs) / min(p_target, 1 - p_target))


def least_cllr(y_true, scores):
    """Cllr of the best of all maps of scores to one ratio for neighbours in order."""
    known = sorted(set(scores))
    share = {kind: Fraction(1, y_true.count(kind)) for kind in (0, 1)}
    weights = {s: [Fraction(0), Fraction(0)] for s in known}
    for s, y in zip(scores, y_true, strict=True):
        weights[s][y] += share[y]
    best = np.inf
    for cuts in product((False, True), repeat=len(known) - 1):
        blocks = [[known[0]]]
        for s, cut in zip(known[1:], cuts, strict=True):
            blocks.append([s]) if cut else blocks[-1].append(s)
        sums = [[sum(weights[s][y] for s in b) for y in (0, 1)] for b in blocks]
        posterior = [of[1] / sum(of) for of in sums]
        if posterior == sorted(posterior):
            lost = (w * np.log2(float(w / sum(of))) for of in sums for w in of if w)
            best = min(best, -sum(map(float, lost)) / 2)
    return best


@against("by hand, in fractions")
def costs_by_hand():
    """NIST's costs by a double loop, and the best increasing map among all of them."""
    rng, rows = np.random.default_rng(0), []
    vectors = [
        ([0, 0, 1, 1], [1.0, 2.0, 2.0, 3.0]),
        ([0, 1, 0, 1], [4.0, 3.0, 2.0, 1.0]),
    ]
    for _ in range(98):
        y_true = rng.permutation(np.repeat([0, 1], (6, 5)))
        scores = np.round(rng.normal(1.5 * y_true, 1))
        vectors.append((y_true.tolist(), scores.tolist()))
    points = [Fraction(1, 100), Fraction(1, 200), Fraction(1, 20), Fraction(1, 2)]
    for y_true, scores in vectors:
        ours = [detection_cost(y_true, scores, p_target=float(p)) for p in points]
        theirs = [least_cost(y_true, scores, p) for p in points]
        primary = detection_cost(y_true, scores, p_target=[0.01, 0.005])
        rows.append((ours + [primary], [*theirs, (theirs[0] + theirs[1]) / 2]))
    yield "minDCF at 4 points, mean of SRE16", "100 lists", *zip(*rows, strict=True)
    ours = [min_cllr(*vector) for vector in vectors]
    yield "minCllr", "100 lists", ours, [least_cllr(*vector) for vector in vectors]


@against("printed: GEO20, slides")
def gate():
    """A matcher behind a classifier of groups."""
    ours = group_gate_rates(far=1e-5, frr=1e-2, error=1e-3)
    yield (
        "FMR, FNMR, gated, 4 digits",
        "two groups",
        [ours.far, ours.frr],
        [5e-6, 0.01198],
    )
    yield "FMR within a group", "two groups", ours.far_within, 5e-6, "g"


# ---- intervals -----------------------------------------------------------------------


def people_of(y, scores_of):
    """The nested dictionary of scores that cimat takes: identity, identity, scores."""
    found = {int(i): {} for i in np.unique(y)}
    rows = {i: np.flatnonzero(y == i) for i in found}
    for i, own in rows.items():
        for j, others in rows.items():
            if i == j:
                found[i][i] = scores_of[own][:, own][
                    np.triu_indices(own.size, 1)
                ].tolist()
            elif i < j:
                found[i][j] = found[j][i] = scores_of[own][:, others].ravel().tolist()
    return found


def sets_of_people(path):
    """Embeddings and identities to make intervals of."""
    for n, spread in ((30, 0.0), (30, 0.5), (120, 0.0), (120, 0.5)):
        faces = make_face_embeddings(
            n, (2, 5), 16, groups={"all": 1.0}, heterogeneity=spread, random_state=n
        )
        kind = "unequal" if spread else "equal"
        yield f"{n} people, {kind}", faces.X, faces.y
    if path is not None:
        with open(path) as file:
            people = json.load(file)
        X = [row for images in people.values() for row in images.values()]
        n_images = [len(images) for images in people.values()]
        yield (
            "cimat's test data",
            np.array(X),
            np.repeat(np.arange(len(people)), n_images),
        )


@cache
def beside_cimat(path=None):
    """Of each set of people, what cimat finds at a threshold and what this package does."""
    found = []
    for name, X, y in sets_of_people(path):
        roc = SimilarityROC(method="jackknife", n_resamples=1, random_state=0).fit(X, y)
        found.append((name, *both(roc, X, y, roc.threshold_at(5e-3))))
    return found


def both(roc, X, y, threshold):
    """Ours and cimat's (rate, low, high, variance), each of FNMR and FMR."""
    from cimat import UncertaintyEstimator

    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    peer = UncertaintyEstimator(people_of(y, rows @ rows.T))
    rates = peer.compute_binerror_metrics(threshold)[:2]
    variances = peer.compute_variance(threshold)
    intervals = peer.get_binerror_ci(None, *variances)
    theirs = [
        (rate, *interval, variance)
        for rate, interval, variance in zip(rates, intervals, variances, strict=True)
    ]
    ours = []
    for rate in ("frr", "far"):
        found = roc.estimate(threshold=threshold, rate=rate)
        asked = (None, threshold, rate, None, None, "overall")
        sums = roc._engine.evidence_of(roc._engine.question(*asked)).sums
        variance = sums.variance[0, -1] / sums.pairs[0, -1] ** 2
        ours.append((found.value, found.low, found.high, variance))
    return np.array(ours), np.array(theirs)


@against("cimat", "cimat")
def cimat(path=None):
    """Rates, their variances by people and intervals."""
    for name, ours, theirs in beside_cimat(path):
        yield "FNMR, FMR", name, ours[:, 0], theirs[:, 0]
        scale = np.where(theirs[:, 3] > 0, theirs[:, 3], 1)
        ours_over, theirs_over = ours[:, 3] / scale, theirs[:, 3] / scale
        yield "variances, ratio", name, ours_over, theirs_over, "h"
        yield "ends of intervals", name, ours[:, 1:3], theirs[:, 1:3], "h"


def print_intervals(path, n_sets):
    """The intervals of both, and how often each covers the rate of new people."""
    print("\nFNMR and FMR in per cent with 95 % intervals, of the same pairs:\n")
    print(f"{'':26}{'rate':>6}  {'cimat, Wilson':16}skfairfr, jackknife")
    for name, *found in beside_cimat(path):
        for label, ours, theirs in zip(("FNMR", "FMR"), *found, strict=True):
            ends = [f"[{100 * x[1]:.2f}, {100 * x[2]:.2f}]" for x in (theirs, ours)]
            print(f"{name:20}{label:6}{100 * ours[0]:6.2f}  {ends[0]:16}{ends[1]}")
    if n_sets:
        print(
            f"\nOf {n_sets} sets of 30 people, unequal, the share whose 95 % interval covers"
        )
        print("the rate, is below it and is above it:\n")
        print(f"{'':18}{'rate':>6}  {'cimat, Wilson':23}skfairfr, jackknife")
    for threshold in (0.6, 0.7) if n_sets else ():
        found = np.array([drawn(seed, threshold) for seed in range(n_sets)])
        rates = found[:, 0, :, 0].mean(axis=0)
        above = (found[..., 1] > rates).mean(axis=0)
        below = (found[..., 2] < rates).mean(axis=0)
        for k, label in enumerate(("FNMR", "FMR")):
            ours, theirs = (
                f"{1 - low - high:.3f}  {low:.3f}  {high:.3f}"
                for low, high in zip(below[:, k], above[:, k], strict=True)
            )
            where = f"from {threshold} on"
            print(f"{where:13}{label:5}{100 * rates[k]:6.2f}  {theirs:23}{ours}")


def drawn(seed, threshold):
    """What both find in one set of thirty people, three images each."""
    faces = make_face_embeddings(
        30, 3, 16, groups={"all": 1.0}, heterogeneity=0.6, random_state=seed
    )
    roc = SimilarityROC(method="jackknife", n_resamples=1, random_state=0)
    return np.array(both(roc.fit(faces.X, faces.y), faces.X, faces.y, threshold))


# ---- scores --------------------------------------------------------------------------


def calibration_scores(n=4000, seed=0):
    """Genuine and impostor cosines, overlapping, as many of each."""
    rng = np.random.default_rng(seed)
    return np.clip(rng.normal(((0.45,), (0.05,)), 0.18, (2, n)), -0.99, 0.99)


def softly(genuine, impostor):
    """Every score twice, as genuine and as impostor, weighted by Platt's targets."""
    n, m = genuine.size, impostor.size
    target = np.repeat([(n + 1) / (n + 2), 1 / (m + 2)], [n, m])
    weight = np.repeat([0.5 / n, 0.5 / m], [n, m]) * (n + m)
    q = (1 + np.concatenate([genuine, impostor])) / 2
    label = np.repeat([1, 0], n + m)
    return (
        np.tile(q, 2),
        label,
        np.concatenate([weight * target, weight * (1 - target)]),
    )


def odds_of(calibration, q):
    """Log odds of a beta calibration."""
    a, b, c = calibration
    return a * np.log(q) - b * np.log1p(-q) + c


GRID = np.linspace(0.05, 0.95, 19)


@against("betacal", "betacal")
def betacal():
    """Beta calibration of weighted scores."""
    from betacal import BetaCalibration

    genuine, impostor = calibration_scores()
    q, label, weight = softly(genuine, impostor[:1500])
    theirs = BetaCalibration("abm").fit(q, label, weight).predict(GRID)
    ours = 1 / (1 + np.exp(-odds_of(fit_curve("beta", genuine, impostor[:1500]), GRID)))
    yield "beta calibration, probabilities", "5,500 scores", ours, theirs, "i"


@against("netcal", "netcal")
def netcal():
    """Beta calibration of as many genuine as impostor scores, which take no weights."""
    from netcal.scaling import BetaCalibration

    scores = calibration_scores()
    q, label = (1 + scores.ravel()) / 2, np.repeat([1, 0], scores.shape[1])
    peer = BetaCalibration().fit(q, label, random_state=0, tensorboard=False)
    ours = 1 / (1 + np.exp(-odds_of(fit_curve("beta", *scores), GRID)))
    theirs = np.ravel(peer.transform(GRID))
    yield "beta calibration, probabilities", "8,000 scores", ours, theirs, "j"


def logistic(genuine, impostor):
    """a, b and c of beta calibration, by scikit-learn's logistic regression."""
    from sklearn.linear_model import LogisticRegression

    q, label, weight = softly(genuine, impostor)
    columns = np.stack([np.log(q), -np.log1p(-q)], axis=1)
    found = LogisticRegression(C=1e12, solver="newton-cholesky", tol=1e-12)
    kept = [0, 1]
    found.fit(columns, label, weight)
    if found.coef_.min() < 0:  # of the two slopes neither may be
        kept = [int(found.coef_.argmax())]
        found.fit(columns[:, kept], label, weight)
    slopes = np.zeros(2)
    slopes[kept] = found.coef_[0]
    return np.append(slopes, found.intercept_)


@against("scikit-learn", "scikit-learn")
def calibrations():
    """Beta calibration, and FairCal's mean over two clusters of look-alikes."""
    genuine, impostor = calibration_scores()
    impostor = impostor[:1500]
    ours, theirs = fit_curve("beta", genuine, impostor), logistic(genuine, impostor)
    ours, theirs = odds_of(ours, GRID), odds_of(theirs, GRID)
    yield "beta calibration, log odds", "5,500 scores", ours, theirs
    faces = make_face_embeddings(120, (2, 5), 16, random_state=0)
    peer = ClusterCalibration(3, max_pairs=10**6, random_state=0).fit(faces.X, faces.y)
    rows = faces.X / np.linalg.norm(faces.X, axis=1, keepdims=True)
    cluster = ((rows[:, None] - peer.cluster_centers_) ** 2).sum(axis=2).argmin(axis=1)
    left, right = np.triu_indices(len(rows), 1)
    scores = np.einsum("ij,ij->i", rows[left], rows[right]).astype(float)
    genuine = faces.y[left] == faces.y[right]
    curves, sizes = [], []
    for c in range(3):
        inside = (cluster[left] == c) | (cluster[right] == c)
        curves.append(logistic(scores[inside & genuine], scores[inside & ~genuine]))
        sizes.append(inside.sum())
    some = np.random.default_rng(0).choice(left.size, 2000, replace=False)
    left, right, q = left[some], right[some], (1 + scores[some]) / 2
    of_clusters = np.stack([1 / (1 + np.exp(-odds_of(curve, q))) for curve in curves])
    first, second = cluster[left], cluster[right]
    n = np.array(sizes, dtype=float)
    places = np.arange(some.size)
    p = n[first] * of_clusters[first, places] + n[second] * of_clusters[second, places]
    p /= n[first] + n[second]
    ours = peer.score_pairs(faces.X[left], faces.X[right])
    ours = 1 / (1 + np.exp(-ours.astype(float)))
    yield "FairCal, probabilities", "2,000 pairs", ours, p, "k"


@against("numpy, the formula", "numpy")
def cohorts():
    """s-norm and adaptive s-norm."""
    faces = make_face_embeddings(150, 3, 16, random_state=0)
    X, y = faces.X.astype(float), faces.y
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    seen = y < 100
    cohort = np.stack([rows[y == i].mean(axis=0) for i in range(100)])
    cohort /= np.linalg.norm(cohort, axis=1, keepdims=True)
    new = rows[~seen]
    products = np.sort(new @ cohort.T, axis=1)
    for kind, top in (("s", None), ("as", 30)):
        counted = products[:, -(top or 100) :]
        mean, deviation = counted.mean(axis=1), counted.std(axis=1)
        z = (new @ new.T - mean[:, None]) / deviation[:, None]
        options = {"cohort": "centroids", "top": top}
        peer = CohortNormalizer(kind, **options).fit(X[seen], y[seen])
        ours = peer.score_matrix(X[~seen], X[~seen])
        yield f"{kind}-norm", f"{ours.size} pairs", ours, (z + z.T) / 2, "k"


@against("scipy", "scipy")
def densities():
    """Likelihood ratios of PLDA, and the von Mises-Fisher normaliser where scipy's is finite."""
    from scipy.stats import multivariate_normal, vonmises_fisher

    faces = make_face_embeddings(200, 3, 12, random_state=0)
    peer = PLDAComparator().fit(faces.X, faces.y)
    rows = faces.X / np.linalg.norm(faces.X, axis=1, keepdims=True)
    u = (rows - peer.mean_) @ peer.components_.T
    between, within = np.diag(peer.variances_), np.eye(peer.variances_.size)
    one = between + within
    joint = multivariate_normal(cov=np.block([[one, between], [between, one]]))
    alone = multivariate_normal(cov=one)
    left, right = np.random.default_rng(0).integers(len(u), size=(2, 1000))
    theirs = joint.logpdf(np.hstack([u[left], u[right]]))
    theirs = theirs - alone.logpdf(u[left]) - alone.logpdf(u[right])
    ours = peer.score_pairs(faces.X[left], faces.X[right])
    yield "PLDA, log-likelihood ratios", "1,000 pairs", ours, theirs, "k"
    ours, theirs = [], []
    for d in (3, 16, 64, 128, 512):
        mu = np.eye(d)[0]
        for kappa in (0.5, 5.0, 20.0, 45.0, 200.0, 1000.0):
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                value = vonmises_fisher(mu, kappa).logpdf(mu) - kappa
            if np.isfinite(value):
                theirs.append(value)
                ours.append(float(log_vmf_normalizer(kappa, d)))
    scale = np.maximum(1, np.abs(theirs))
    what = f"log C_d, {len(ours)} of 30, relative"
    yield what, "d 3 to 512", ours / scale, theirs / scale


@against("mpmath", "mpmath")
def normaliser():
    """The von Mises-Fisher normaliser with forty digits."""
    from mpmath import besseli, log, mp, pi

    ours, theirs = [], []
    with mp.workdps(40):
        for d in (2, 3, 64, 128, 512, 1024):
            for kappa in (0.001, 0.5, 5, 20, 45, 200, 2000):
                order = mp.mpf(d) / 2 - 1
                value = order * log(kappa) - (order + 1) * log(2 * pi)
                theirs.append(float(value - log(besseli(order, kappa))))
                ours.append(float(log_vmf_normalizer(kappa, d)))
    scale = np.maximum(1, np.abs(theirs))
    yield "log C_d, relative", "d 2 to 1024", ours / scale, theirs / scale


# ---- the table -----------------------------------------------------------------------


def flat(values):
    """Numbers of nested lists and arrays, one after the other."""
    if np.ndim(values) == 0 and not isinstance(values, (list, tuple, zip)):
        return [float(values)]
    return [number for part in values for number in flat(part)]


def version_of(whose, distribution):
    """The heading of a peer, or how to install it."""
    if distribution is None:
        return whose
    try:
        return f"{whose} {version(distribution)}"
    except PackageNotFoundError:
        alone = "--no-deps " if distribution in WITHOUT_DEPENDENCIES else ""
        return f"{whose}: not installed: pip install {alone}{distribution}"


def compared(rows):
    """Of rows about the same on several sets: numbers, sets and the largest difference."""
    found = {}
    for what, data, ours, theirs, *why in rows:
        ours, theirs = np.array(flat(ours)), np.array(flat(theirs))
        of_what = found.setdefault(" ".join([what, *(f"({x})" for x in why)]), [])
        of_what.append((np.abs(ours - theirs).max(), ours.size, data))
    for what, parts in found.items():
        difference, numbers, data = zip(*parts, strict=True)
        sets = data[0] if len(data) == 1 else f"{len(data)} sets"
        yield f"{max(difference):10.2g}{sum(numbers):10}  {what}, {sets}"


def main(path=None, n_sets=400):
    print("skfairfr", skfairfr.__version__, "against:\n")
    print("difference   numbers")
    for whose, distribution, check in CHECKS:
        heading = version_of(whose, distribution)
        print(f"\n{heading}", flush=True)
        if "not installed" in heading:
            continue
        try:
            for line in compared(check(*([path] if check is cimat else []))):
                print(line, flush=True)
        except FileNotFoundError as error:
            print(f"  not at hand: {error}")
    if find_spec("cimat"):
        print_intervals(path, n_sets)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m docs.studies.check_agreement",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("embeddings", nargs="?", help="cimat's data/embeddings.json")
    parser.add_argument("--sets", type=int, default=400, help="default: %(default)s")
    asked = parser.parse_args()
    main(asked.embeddings, asked.sets)
