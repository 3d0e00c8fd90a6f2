"""Over 70 varied calls of public names, each as a flat dict of numbers and texts.

``python -m tests.golden.calls`` writes ``numbers.json`` and, of reports, ``records.json``, with
which ``test_golden.py`` compares them. They were written before the engine was rewritten, and
are to be written anew only for a number that a change of the method is meant to move.

No number is on an edge: with noise of 1e-7 on the embeddings, with their features in another
order or with twice the precision, all stay within 1e-6, and scores within 2e-6, but those
of ``levels_above_far_max`` and ``thresholds_below_the_tail``, which another sample moves.
:data:`NOTES` holds notes of what else may move.
"""

import json
import tempfile
import warnings
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import FunctionTransformer

import skfairfr
from skfairfr import IdentityKFold, SimilarityROC, face_labels, metrics
from skfairfr import comparators as compared
from skfairfr import report as reports
from skfairfr.model_selection import BestTradeOff, compare_mitigations, roc_over_splits
from tests.golden.data import (
    binary,
    clustered,
    columns,
    faces,
    four,
    listed,
    many,
    scored,
    shaken,
    some_unknown,
)
from tests.golden.numbers import flat, record_of

HERE = Path(__file__).parent
NUMBERS, RECORDS = (HERE / f"{name}.json" for name in ("numbers", "records"))
CALLS = {}
# Of calls whose numbers may move further than 1e-6: why.
NOTES = {}
NEED_TORCH = set()
# Levels that no share of few pairs, or of few people, equals.
LEVELS = (0.0137, 0.0613)
FAR = 0.0313
HOWS = ("max_min", "max_geomean", "log_geomean", "gini", "difference", "std")
POINTS = ("overall", "worst_group", "group")


def call(note=None, torch=False):
    """Keep a function among the calls, under its name."""

    def keep(function):
        CALLS[function.__name__] = function
        if note is not None:
            NOTES[function.__name__] = note
        if torch:
            NEED_TORCH.add(function.__name__)
        return function

    return keep


def answer(name):
    """What a call gives: numbers, or a report. Tests of their own are about the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CALLS[name]()


def roc_of(**options):
    given = {"n_resamples": 60, "random_state": 0, "far_max": 0.1} | options
    return SimilarityROC(**given)


def all_disparities(roc, rate, point="overall", **where):
    """Every disparity of a rate, at one operating point."""
    asked = {"rate": rate, "operating_point": point}
    return flat(**{how: roc.estimate(how=how, **asked, **where) for how in HOWS})


# SimilarityROC: embeddings

FAR_RATIO = {"rate": "far", "how": "max_min"}
ASKED = {
    "frr": lambda roc: roc.estimate(LEVELS),
    "far": lambda roc: roc.estimate(LEVELS, rate="far"),
    "ratio": lambda roc: roc.estimate(FAR, **FAR_RATIO),
    "gini": lambda roc: roc.estimate(FAR, how="gini"),
    "bfrr": lambda roc: roc.estimate(FAR, how="max_min", operating_point="worst_group"),
    "cross": lambda roc: roc.estimate(FAR, rate="far", group=("female", "male")),
    "matrix": lambda roc: roc.far_matrix(FAR),
    "threshold": lambda roc: roc.threshold_at(LEVELS),
    "eer": lambda roc: roc.equal_error_rate(),
    "summary": lambda roc: roc.score_summary(),
    "n_genuine": lambda roc: roc.n_genuine_,
    "n_impostor": lambda roc: roc.n_impostor_,
}


def asked(roc, names, **others):
    """Usual questions by their names, and others."""
    return flat(**{name: ASKED[name](roc) for name in names.split()}, **others)


@call()
def the_data():
    """If these move, so does all else, for another reason than the engine."""
    sets = {
        "faces": faces().X,
        "four": four().X,
        "many": many().X,
        "clustered": clustered()[0],
        "binary": binary()[0],
        "listed": listed()[0],
        "scored": scored()[1],
    }
    moments = {
        name: [np.sum(np.asarray(X, np.float64) ** p) for p in (1, 2, 3)]
        for name, X in sets.items()
    }
    return flat(**moments, n_images=[len(X) for X in sets.values()])


@call()
def overall_rates():
    roc = roc_of().fit(*columns(faces()))
    return asked(
        *(roc, "frr far summary threshold n_genuine n_impostor"),
        at=roc.estimate(threshold=0.4137, rate="far"),
        at_two=roc.estimate(threshold=[0.3137, 0.6137]),
    )


@call()
def rates_of_groups():
    roc = roc_of().fit(*columns(four()))
    found = {"groups": roc.groups_}
    for group in "abcd":
        for rate in ("far", "frr"):
            found[f"{rate}_{group}"] = roc.estimate(FAR, rate=rate, group=group)
    found["own"] = roc.estimate(FAR, group="c", operating_point="group")
    found["worst"] = roc.estimate(FAR, group="c", operating_point="worst_group")
    return flat(**found)


@call()
def cross_groups():
    roc = roc_of().fit(*columns(four()))
    pairs = {
        f"far_{a}{b}": roc.estimate(LEVELS, rate="far", group=(a, b))
        for a, b in ("ab", "bc", "dd")
    }
    return asked(
        *(roc, "matrix"),
        **pairs,
        at=roc.estimate(threshold=0.3521, rate="far", group=("b", "d")),
        matrix_at=roc.far_matrix(threshold=0.4137),
    )


@call()
def disparities_of_the_far():
    roc = roc_of().fit(*columns(four()))
    return flat(**{p: all_disparities(roc, "far", p, far=FAR) for p in POINTS})


@call()
def disparities_of_the_frr():
    roc = roc_of().fit(*columns(four()))
    return flat(**{p: all_disparities(roc, "frr", p, far=FAR) for p in POINTS})


@call()
def disparities_at_a_threshold():
    roc = roc_of().fit(*columns(four()))
    ratio = {"how": ("ratio", "c", "a"), "rate": "frr"}
    return flat(
        far=all_disparities(roc, "far", threshold=0.3521),
        frr=all_disparities(roc, "frr", threshold=0.3521),
        ratio=roc.estimate(threshold=0.3521, **ratio),
        ratio_at_far=roc.estimate(LEVELS, **ratio),
        own=roc.estimate(FAR, how=lambda x: np.max(x, axis=-1) - np.min(x, axis=-1)),
    )


@call()
def worst_group_point():
    roc = roc_of().fit(*columns(faces()))
    point = {"operating_point": "worst_group"}
    return flat(
        bfar=roc.estimate(LEVELS, **FAR_RATIO, **point),
        bfrr=roc.estimate(LEVELS, rate="frr", how="max_min", **point),
        overall=roc.estimate(LEVELS, **point),
        threshold=roc.threshold_at(LEVELS, **point),
        threshold_own=roc.threshold_at(FAR, operating_point="group", group="male"),
    )


@call()
def average_of_identities():
    roc = roc_of(average="identity").fit(*columns(four()))
    return asked(
        *(roc, "frr bfrr matrix summary threshold eer"),
        far=roc.estimate(LEVELS, rate="far", group="b"),
        ratio=roc.estimate(LEVELS, **FAR_RATIO),
    )


@call()
def impostors_of_one_group():
    roc = roc_of(impostors="same_group").fit(*columns(four()))
    return asked(roc, "frr far ratio eer threshold summary")


@call()
def impostors_of_one_group_by_identity():
    roc = roc_of(impostors="same_group", average="identity").fit(*columns(faces()))
    return asked(roc, "frr far ratio eer")


def of_method(resample, method):
    """The questions that every way to make an interval is asked."""
    roc = roc_of(resample=resample, method=method).fit(*columns(faces()))
    return asked(
        *(roc, "frr gini bfrr"),
        far=roc.estimate(LEVELS, rate="far", group="female"),
        at=roc.estimate(threshold=0.4137, **FAR_RATIO),
        eer=roc.equal_error_rate("male"),
    )


for way in (
    *("identities recentered", "identities jackknife", "identities multiplicative"),
    *("images recentered", "images naive", "images offdiagonal", "both offdiagonal"),
):
    CALLS[way.replace(" ", "_")] = partial(of_method, *way.split())


@call()
def wilson_by_identity():
    roc = roc_of(method="jackknife", average="identity").fit(*columns(four()))
    return asked(
        *(roc, "frr matrix"),
        far=roc.estimate(LEVELS, rate="far", group="b"),
        at=roc.estimate(threshold=0.4137, rate="far", group="a"),
        ratio=roc.estimate(FAR, rate="far", how=("ratio", "b", "a")),
        worst=roc.estimate(FAR, **FAR_RATIO),
        rare=roc.estimate(threshold=0.9137, rate="far", group="d"),
    )


@call()
def curves():
    roc = roc_of().fit(*columns(faces()))
    levels = (0.0037, 0.0137, 0.0313, 0.0613)
    return flat(
        frr=roc.curve(levels),
        group=roc.curve(levels, group="female"),
        far=roc.curve(levels, **FAR_RATIO),
        worst=roc.curve(levels, how="gini", operating_point="worst_group"),
        own=roc.curve(levels, how="max_geomean", operating_point="group"),
    )


@call()
def replicates():
    roc = roc_of(n_resamples=50).fit(*columns(faces()))
    return flat(
        frr=roc.resamples(FAR),
        far=roc.resamples(FAR, rate="far", group="female"),
        ratio=roc.resamples(FAR, how="max_min", operating_point="worst_group"),
        at=roc.resamples(threshold=0.4137, rate="far", how="difference"),
    )


def before_and_after(**options):
    """Curves of the same people by two systems."""
    X, y, groups = columns(faces())
    return (roc_of(**options).fit(rows, y, groups) for rows in (X, shaken(X)))


@call()
def comparison():
    before, after = before_and_after()
    worst = {**FAR_RATIO, "operating_point": "worst_group"}
    return flat(
        frr=before.compare(after, LEVELS),
        at=before.compare(after, threshold=0.4137, rate="far"),
        group=before.compare(after, FAR, group="female"),
        ratio=before.compare(after, FAR, **FAR_RATIO),
        bfar=before.compare(after, FAR, **worst),
    )


@call()
def comparison_by_wilson():
    before, after = before_and_after(method="jackknife", average="identity")
    return flat(
        frr=before.compare(after, LEVELS),
        at=before.compare(after, threshold=0.4137, rate="far", group="male"),
        gini=before.compare(after, FAR, how="gini"),
    )


@call()
def equal_error_rates():
    roc = roc_of().fit(*columns(four()))
    images = roc_of(resample="images").fit(*columns(faces()))
    return flat(
        overall=roc.equal_error_rate(),
        **{group: roc.equal_error_rate(group) for group in "abcd"},
        images=images.equal_error_rate(),
    )


@call()
def levels_above_far_max_of_a_small_set():
    """All pairs are held, so that far_max does not matter."""
    roc = roc_of(far_max=1e-3).fit(*columns(faces()))
    return flat(
        frr=roc.estimate([0.0613, 0.3137]),
        ratio=roc.estimate(0.3137, **FAR_RATIO),
        curve=roc.curve([0.0137, 0.3137]),
    )


# Of many pairs, of which a tail is held.
RARE = (5.137e-4, 1.613e-3)


def of_a_tail(**options):
    return roc_of(far_max=2e-3, n_resamples=20, **options)


@call()
def a_tail_is_held():
    roc = of_a_tail().fit(*columns(many()))
    return asked(
        *(roc, "summary n_impostor"),
        frr=roc.estimate(RARE),
        far=roc.estimate(RARE, rate="far", group="b"),
        ratio=roc.estimate(RARE, **FAR_RATIO),
        threshold=roc.threshold_at(RARE),
    )


@call(
    "Levels above far_max are answered from a sample of the pairs; another sample moves "
    "them."
)
def levels_above_far_max():
    roc = of_a_tail().fit(*columns(many()))
    levels = (0.0513, 0.2137)
    return asked(
        *(roc, "eer"),
        frr=roc.estimate(levels),
        far=roc.estimate(levels, rate="far", group="b"),
        ratio=roc.estimate(levels, **FAR_RATIO),
        threshold=roc.threshold_at(levels),
    )


@call()
def a_tail_by_identity():
    roc = of_a_tail(average="identity").fit(*columns(many()))
    return flat(
        frr=roc.estimate(RARE),
        ratio=roc.estimate(RARE[1], **FAR_RATIO),
        threshold=roc.threshold_at(RARE),
    )


@call()
def a_tail_of_a_comparator():
    X, y, groups = columns(many())
    plda = compared.PLDAComparator().fit(X[y % 3 == 0], y[y % 3 == 0])
    roc = of_a_tail(similarity=plda).fit(X, y, groups)
    return flat(
        frr=roc.estimate(RARE),
        far=roc.estimate(RARE[1], rate="far", group=("a", "b")),
        score_thresholds=roc.threshold_at(RARE),
    )


@call(
    "Thresholds below the tail are answered from a sample of the pairs; another sample "
    "moves their FAR."
)
def thresholds_below_the_tail():
    roc = of_a_tail().fit(*columns(many()))
    at = (0.8513, 0.6137, 0.3137)
    return flat(
        far=[roc.estimate(threshold=t, rate="far").value for t in at],
        ratio=roc.estimate(threshold=at[0], **FAR_RATIO),
        frr=roc.estimate(threshold=at),
    )


@call()
def domains():
    data = faces(60, seed=4, n_domains=2)
    roc = roc_of().fit(*columns(data), domain=data.domain)
    names = "frr ratio cross matrix eer summary"
    return asked(roc, names, asymmetry=roc.far_asymmetry(FAR))


def references_of(data, first, rest):
    """Probes, and one image of each person as a reference."""
    X, y, groups = data
    reference = {"X_reference": X[first], "y_reference": y[first]}
    reference["sensitive_features_reference"] = groups[first]
    return (X[rest], y[rest], groups[rest]), reference


@call()
def references():
    data = columns(faces())
    first = np.unique(data[1], return_index=True)[1]
    rest = np.setdiff1d(np.arange(len(data[1])), first)
    probes, reference = references_of(data, first, rest)
    roc = roc_of(average="identity").fit(*probes, **reference)
    return asked(
        *(roc, "frr n_genuine n_impostor"),
        far=roc.estimate(FAR, rate="far", group=("male", "female")),
        ratio=roc.estimate(FAR, how="max_min"),
        asymmetry=roc.far_asymmetry(threshold=0.3521),
    )


@call()
def labels_of_several_types():
    X, y, groups = columns(faces(50, seed=6))
    entries = {
        "names": (X, np.array([f"person {i}" for i in y]), groups),
        "numbers": (X, y, np.where(groups == "male", 1.5, 2.5)),
        "truths": (X, y, groups == "male"),
        "structured": (X, face_labels(y, groups)),
        "unknown": (X, y, some_unknown(groups)),
        "no_groups": (X, y),
    }
    found = {}
    for name, given in entries.items():
        roc = roc_of().fit(*given)
        found[name] = roc.estimate(FAR)
        if name != "no_groups":
            found[f"{name}_ratio"] = roc.estimate(FAR, **FAR_RATIO)
            found[f"{name}_groups"] = roc.groups_
            found[f"{name}_impostor"] = roc.n_impostor_
    return flat(**found)


@call()
def two_attributes():
    X, y, groups = columns(faces())
    age = np.where(y % 3 == 0, "old", "young")
    roc = roc_of().fit(X, y, {"sex": groups, "age": age})
    frame = pd.DataFrame({"sex": groups, "age": age})
    labels = pd.DataFrame({"identity": y, "group": some_unknown(groups)})
    return flat(
        groups=roc.groups_,
        both=roc.estimate(FAR, how="max_min"),
        far=roc.estimate(FAR, rate="far", how="gini"),
        age=roc.by("age").estimate(FAR, how="max_min"),
        sex=roc.by("sex", average="identity").estimate(FAR, **FAR_RATIO),
        frame=roc_of().fit(X, y, frame).estimate(FAR, group=roc.groups_[0]),
        labels=roc_of().fit(X, labels).estimate(LEVELS, **FAR_RATIO),
        age_images=roc.by("age", resample="images").estimate(FAR, group="old"),
    )


@call()
def dot_products():
    X, y, groups = columns(faces())
    lengths = np.random.default_rng(1).uniform(0.8, 1.25, (len(X), 1))
    roc = roc_of(similarity="dot").fit(X * lengths, y, groups)
    return asked(roc, "frr ratio threshold")


@call()
def tied_cosines():
    roc = roc_of().fit(*binary())
    return asked(
        *(roc, "eer"),
        frr=roc.estimate([0.0613, 0.1137]),
        at=roc.estimate(threshold=[0.25, 0.5], rate="far"),
        ratio=roc.estimate(threshold=0.5, **FAR_RATIO),
        threshold=roc.threshold_at([0.0613, 0.1137]),
        matrix=roc.far_matrix(threshold=0.375),
    )


# SimilarityROC: listed pairs


def of_list(scores, groups, with_images=None, **options):
    """A curve of listed pairs; their images are named where they are resampled."""
    people = listed()[2]
    images = {} if with_images is None else dict(zip(IMAGES, with_images, strict=True))
    given = {"sensitive_features_1": groups[0], "sensitive_features_2": groups[1]}
    return roc_of(**options).fit_pairs(scores, *people, **given, **images)


IMAGES = ("image_1", "image_2")


@call()
def listed_pairs():
    scores, images, _, groups = listed()
    roc = of_list(scores, groups)
    of_images = of_list(scores, groups, images, resample="images")
    return asked(
        *(roc, "frr ratio cross matrix summary"),
        eer=roc.equal_error_rate("male"),
        images=of_images.estimate(LEVELS),
        images_ratio=of_images.estimate(FAR, how="max_min"),
    )


@call()
def listed_pairs_by_identity():
    scores, _, _, groups = listed()
    options = {"average": "identity", "impostors": "same_group", "method": "jackknife"}
    roc = of_list(scores, (some_unknown(groups[0]), groups[1]), **options)
    return asked(
        *(roc, "frr n_impostor"),
        far=roc.estimate(FAR, rate="far", group="female"),
        ratio=roc.estimate(FAR, how="max_min"),
    )


@call()
def tied_integer_scores():
    scores, images, _, groups = listed()
    marks = np.rint(scores * 100).astype(int)
    roc = of_list(marks, groups)
    options = {"resample": "images", "method": "offdiagonal"}
    worst = {**FAR_RATIO, "operating_point": "worst_group"}
    return asked(
        *(roc, "frr threshold eer"),
        at=roc.estimate(threshold=[30, 45], **FAR_RATIO),
        bfar=roc.estimate(FAR, **worst),
        images=of_list(marks, groups, images, **options).estimate(threshold=30),
    )


@call()
def pairs_of_unknown_people():
    y_true, y_score, groups = scored()
    roc = roc_of().fit_pairs(y_score, y_true=y_true, sensitive_features=groups)
    wilson = roc.by(method="jackknife")
    return asked(
        *(roc, "frr eer"),
        ratio=roc.estimate(FAR, how="max_min"),
        wilson=wilson.estimate(threshold=1.3137, rate="far", group="a"),
    )


# Comparators


def of_comparator(comparator, data):
    """Scores of pairs, and the rates of a SimilarityROC that has the comparator."""
    X, y, groups = data
    seen = y % 2 == 0
    comparator = comparator.fit(X[seen], y[seen])
    rest = X[~seen]
    roc = roc_of(similarity=comparator, n_resamples=20)
    roc.fit(rest, y[~seen], groups[~seen])
    return asked(
        *(roc, "frr ratio"),
        score_pairs=comparator.score_pairs(rest[:40], rest[1:41]),
        score_matrix=comparator.score_matrix(rest[:6], rest[-7:]),
        far=roc.estimate(LEVELS, rate="far", group=roc.groups_[0]),
        score_thresholds=roc.threshold_at(LEVELS),
    )


@call()
def cohort_adaptive():
    return of_comparator(
        compared.CohortNormalizer(cohort="centroids", top=12),
        columns(faces(90, seed=3)),
    )


@call()
def cohort_symmetric():
    normalizer = compared.CohortNormalizer("s", cohort="images")
    return of_comparator(normalizer, columns(faces(90, seed=3)))


@call()
def cohort_of_binary_rows():
    """Sums of cosines are exact."""
    X, y, _ = binary()
    seen, rest, found = y % 2 == 0, X[y % 2 == 1], {}
    for kind in ("as", "s", "z", "t"):
        top = 7 if kind == "as" else None
        normalizer = compared.CohortNormalizer(kind, cohort="images", top=top)
        normalizer.fit(X[seen], y[seen])
        found[f"score_pairs_{kind}"] = normalizer.score_pairs(rest[:20], rest[1:21])
        found[f"score_matrix_{kind}"] = normalizer.score_matrix(rest[:5], rest[-5:])
    return flat(**found)


@call()
def cohort_of_references():
    data = columns(faces(90, seed=3))
    X, y, _ = data
    seen, first = y % 2 == 0, np.unique(y, return_index=True)[1]
    normalizer = compared.CohortNormalizer("z", cohort="centroids").fit(
        X[seen], y[seen]
    )
    probes = np.setdiff1d(np.flatnonzero(~seen), first)
    gallery = np.intersect1d(np.flatnonzero(~seen), first)
    probes, reference = references_of(data, gallery, probes)
    roc = roc_of(similarity=normalizer).fit(*probes, **reference)
    return asked(roc, "frr", score_thresholds=roc.threshold_at(LEVELS))


@call()
def fair_score_normalizer():
    """Clusters are far apart, so that their centres hold the same images."""
    found = {}
    for pairs in ("inside", "either"):
        options = {"far": 0.0313, "pairs": pairs, "random_state": 0}
        normalizer = compared.FairScoreNormalizer(3, **options)
        found[pairs] = of_comparator(normalizer, clustered())
        # K-means may number its clusters in another order.
        order = np.argsort(normalizer.n_impostor_, kind="stable")
        found[f"score_thresholds_{pairs}"] = normalizer.thresholds_[order]
        found[f"n_impostor_{pairs}"] = normalizer.n_impostor_[order]
    return flat(**found)


@call("A calibration is found by an optimiser, which may stop elsewhere.")
def cluster_calibration():
    calibration = compared.ClusterCalibration(3, random_state=0)
    return of_comparator(calibration, clustered())


@call()
def group_thresholds():
    X, y, groups = columns(faces(90, seed=3))
    seen = y % 2 == 0
    rest, of_rest = X[~seen], groups[~seen]
    both = {
        "sensitive_features_1": of_rest[:40],
        "sensitive_features_2": some_unknown(of_rest[1:41]),
    }
    found = {}
    for point in ("group", "overall"):
        scores = compared.GroupThresholds(FAR, operating_point=point)
        scores.fit(X[seen], y[seen], groups[seen])
        roc = roc_of(similarity=scores).fit(rest, y[~seen], of_rest)
        found |= {
            f"score_pairs_{point}": scores.score_pairs(rest[:40], rest[1:41], **both),
            f"score_thresholds_{point}": scores.thresholds_,
            f"{point}_ratio": roc.estimate(FAR, **FAR_RATIO),
            f"{point}_frr": roc.estimate(LEVELS),
        }
    return flat(**found)


@call()
def plda():
    return of_comparator(compared.PLDAComparator(), columns(faces(90, seed=3)))


@call()
def transformers():
    X, y, groups = columns(faces(90, seed=3))
    found = {}
    for name, made in (
        ("whitening", compared.WithinClassWhitening(0.5)),
        ("group_means", compared.GroupMeanRemover()),
    ):
        Z = made.fit(X, y, sensitive_features=groups).transform(X)
        roc = roc_of(n_resamples=20).fit(Z, y, groups)
        found[f"score_rows_{name}"] = Z[:5]
        found[name] = roc.estimate(FAR, **FAR_RATIO)
        found[f"{name}_frr"] = roc.estimate(LEVELS)
    return flat(**found)


# Scorers and selection


@call()
def scorers():
    data = faces(200, seed=7)
    X, labels = data.X, face_labels(data.y, data.sensitive_features)
    make = metrics.make_fairness_scorer
    point = {"far": 0.0113, "operating_point": "overall"}
    made = {
        "bfar": metrics.bfar_scorer,
        "bfrr": metrics.bfrr_scorer,
        "frr_at_far": metrics.frr_at_far_scorer,
        "far_geomean": metrics.far_max_geomean_scorer,
        "frr_geomean": metrics.frr_max_geomean_scorer,
        "gini": make(rate="frr", how="gini", **point),
        "ratio": make(how=("ratio", "female", "male"), **point),
        "group": make(rate="frr", how=None, group="male", **point),
        "identity": make(average="identity", impostors="same_group", far=0.0113),
    }
    identity = FunctionTransformer().fit(X)
    return flat(
        **{name: scorer(identity, X, labels) for name, scorer in made.items()},
        several=metrics.fairness_scores(0.0113)(identity, X, labels),
        levels=metrics.fairness_scores((0.0113, 0.0613))(identity, X, labels),
        domain=made["identity"](
            identity, X, data.y, data.sensitive_features, np.arange(len(X)) % 2
        ),
    )


@call()
def search():
    data = faces(120, seed=8)
    labels = face_labels(data.y, data.sensitive_features)
    found = GridSearchCV(
        FunctionTransformer(weigh),
        {"kw_args": [{"weight": weight} for weight in (0.3, 1.0, 1.7)]},
        scoring=metrics.fairness_scores(0.0313),
        cv=IdentityKFold(3, shuffle=True, random_state=0),
        refit=BestTradeOff(("bfar", "frr_at_far")),
        error_score="raise",
    ).fit(data.X, labels)
    scores = {k: v for k, v in found.cv_results_.items() if k.startswith("mean_test")}
    return flat(best=found.best_index_, **scores)


def weigh(X, weight=1.0):
    """Multiply the first half of the features."""
    return X * np.where(np.arange(X.shape[1]) < X.shape[1] // 2, weight, 1.0)


@call()
def splits():
    data = faces(90, seed=3)
    splitting = IdentityKFold(3, shuffle=True, random_state=0)
    options = {"sensitive_features": data.sensitive_features, "cv": splitting}
    folds = list(splitting.split(data.X, data.y))
    return flat(
        roc=roc_over_splits(data.X, data.y, far=LEVELS, **options),
        group=roc_over_splits(data.X, data.y, far=LEVELS, group="male", **options),
        folds=[int(test.sum()) for _, test in folds],
    )


@call()
def bench():
    found = compare_mitigations(
        *columns(faces(90, seed=3)),
        methods=["group means out", "s-norm"],
        far=0.0313,
        n_splits=2,
        inner_splits=2,
        refit=False,
    )
    kept = {"before": found.before, "winner": found.winner}
    for method in found.methods:
        key = method.name.replace(" ", "_").replace("-", "_")
        kept[key] = {"levelling_down": method.levelling_down, "p": method.p_adjusted}
        for name, change in method.changes.items():
            fields = "before after ratio low high p_value".split()
            kept[f"{key}_{name}"] = {f: getattr(change, f) for f in fields}
    return flat(**kept)


# Pairs and rates without resamples


@call()
def rates_of_pairs():
    y_true, y_score, groups = scored()
    far, frr, thresholds = metrics.far_frr_curve(y_true, y_score)
    given = {"sensitive_features": groups}
    found = {
        "curve_far": far[::20],
        "curve_frr": frr[::20],
        "curve_threshold": thresholds[::20],
        "n_curve": len(far),
        "eer": metrics.equal_error_rate(y_true, y_score),
        "frr_at_far": [metrics.frr_at_far(y_true, y_score, far=f) for f in LEVELS],
        "rates": metrics.group_error_rates(y_true, y_score, threshold=1.3, **given),
        "bfar": metrics.bfar(y_true, y_score, far=FAR, **given),
        "bfrr": metrics.bfrr(y_true, y_score, far=FAR, **given),
    }
    for point in ("overall", "worst_group"):
        found[f"threshold_{point}"] = metrics.threshold_at_far(
            y_true, y_score, far=FAR, operating_point=point, **given
        )
    for point in POINTS:
        for how in HOWS:
            asked = {"far": FAR, "how": how, "operating_point": point, **given}
            found[f"{how}_{point}"] = [
                metrics.far_disparity(y_true, y_score, **asked),
                metrics.frr_disparity(y_true, y_score, **asked),
            ]
    return flat(**found)


@call()
def indices():
    fmr, fnmr = [0.011, 0.023, 0.083], [0.051, 0.032, 0.021]
    three = (
        metrics.fairness_discrepancy_rate,
        metrics.inequity_rate,
        metrics.garbe,
    )
    return flat(
        **{f.__name__: [f(fmr, fnmr, alpha=b) for b in (0.2, 0.5, 0.9)] for f in three},
        **{how: metrics.disparity(fmr, how) for how in HOWS},
        zero=[metrics.disparity([0.0, 0.2], how, zero_division=7.0) for how in HOWS],
        undefined=[metrics.disparity([0.1, np.nan, 0.3], how) for how in HOWS],
        sample_std=metrics.disparity(fmr, "std", ddof=1),
        base_two=metrics.disparity(fmr, "log_geomean", log_base=2, log_reduce="mean"),
        gate=metrics.group_gate_rates(far=0.0113, frr=0.2137, n_groups=4),
    )


@call()
def all_pairs():
    X, y, groups = columns(faces(12, seed=9))
    y_true, y_score, of_pairs = metrics.all_pairs(X, y, sensitive_features=groups)
    return flat(y_true=y_true, score=y_score, groups=[a + b for a, b in of_pairs])


@call()
def inertia_and_instances():
    X, y, groups = columns(faces(25, seed=9))
    given = {"sensitive_features": groups}
    options = {"impostors": "same_group", "similarity": "dot"}
    return flat(
        inertia=metrics.identity_inertia(X, y, min_images=3, **given),
        far=metrics.instance_far(X, y, far=FAR, **given),
        at=metrics.instance_far(X, y, threshold=0.3521, **options, **given),
    )


@call()
def worst_groups():
    X, y, groups = columns(four())
    options = {"far": FAR, "n_resamples": 50, "random_state": 0}
    X_clustered, y_clustered, _ = clustered()
    clusters = metrics.cluster_groups(X_clustered, 3, random_state=0)
    return flat(
        far=metrics.worst_group_rate(X, y, sensitive_features=groups, **options),
        frr=metrics.worst_group_rate(
            X, y, sensitive_features=groups, rate="frr", **options
        ),
        clusters=np.sort(np.bincount(clusters)),
        cluster=metrics.worst_cluster_rate(
            X_clustered, y_clustered, 3, min_identities=5, **options
        ),
    )


# Plans


@call()
def plan():
    uneven = metrics.Dependence(0.3, 0.8)
    return flat(
        certify=metrics.plan_test(max_fnmr=0.05),
        detect=metrics.plan_test(
            detect_factor=3, rate="frr", frr=0.1, dependence=uneven, groups=3
        ),
        detect_far=metrics.plan_test(detect_factor=4, far=0.01, images_per_person=1),
    )


@call()
def plan_to_certify_the_fmr():
    asked = {"max_fmr": 0.01, "images_per_person": 1, "power": 0.5}
    return flat(plan=metrics.plan_test(**asked))


@call()
def plan_with_pilot():
    pilot = roc_of().fit(*columns(four()))
    planned = metrics.plan_test(max_fnmr=0.11, far=FAR, pilot=pilot)
    return flat(plan=planned, errors=planned.pilot_errors)


# Reports

QUICK = {"random_state": 0}


@call()
def audit():
    return reports.audit(*columns(four()), far=LEVELS, **QUICK)


@call()
def audit_with_limits():
    limits = {"max_fmr": 0.2, "max_fnmr": 0.1, "max_fmr_ratio": 3.0, "max_bfrr": 1.5}
    data = reports.EmbeddingData(
        four().X, four().y, {"group": four().sensitive_features}
    )
    return reports.audit_data(data, far=FAR, limits=limits, **QUICK)


@call()
def audit_with_policy():
    gate = reports.Policy(
        "gate",
        {"max_fnmr_ratio": 4.0},
        fmr=LEVELS,
        at={LEVELS[1]: {"max_fnmr": 0.6, "max_bfar": 2.0}},
        confidence_level=0.9,
    )
    return reports.audit(*columns(four()), policy=gate, **QUICK)


@call()
def audit_of_two_attributes():
    X, y, groups = columns(faces(90, seed=3))
    features = {
        "sex": some_unknown(groups),
        "age": np.where(y % 3 == 0, "old", "young"),
    }
    options = {"average": "identity", "far": FAR, "confidence_level": 0.9}
    return reports.audit(X, y, features, **options, **QUICK)


@call()
def audit_at_a_threshold():
    data = faces(60, seed=4, n_domains=2)
    options = {"threshold": [0.3521, 0.2137], "impostors": "same_group", **QUICK}
    return reports.audit(*columns(data), domain=data.domain, **options)


@call()
def audit_with_thresholds_of_other_data():
    own, other = faces(), faces(seed=3)
    data, source = (
        reports.EmbeddingData(d.X, d.y, {"sex": d.sensitive_features})
        for d in (own, other)
    )
    return reports.audit_data(data, far=LEVELS, threshold_from=source, **QUICK)


@call()
def audit_of_a_dominant_person():
    """Both averages are shown."""
    X, y, groups = columns(faces(90, seed=3))
    y = np.where(np.arange(len(y)) < 25, 0, y)
    groups = np.where(y == 0, groups[0], groups)
    return reports.audit(X, y, groups, far=FAR, **QUICK)


@call()
def audit_of_a_comparator():
    X, y, groups = columns(four(240))
    seen = y % 2 == 0
    normalizer = compared.CohortNormalizer("s", cohort="centroids").fit(
        X[seen], y[seen]
    )
    data = (X[~seen], y[~seen], groups[~seen])
    return reports.audit(*data, similarity=normalizer, far=FAR, **QUICK)


@call()
def audit_of_pairs():
    scores, images, people, groups = listed()
    options = {"far": LEVELS, "limits": {"max_fnmr": 0.4}, **QUICK}
    return reports.audit_pairs(scores, people, groups, images=images, **options)


@call()
def audit_of_unknown_people():
    y_true, y_score, groups = scored()
    return reports.audit_pairs(y_score, None, groups, y_true=y_true, far=FAR, **QUICK)


@call()
def audit_of_distances():
    scores, images, people, groups = listed()
    given = (1 - scores, *people, *images, *groups)
    names = "score,identity_1,identity_2,image_1,image_2,sex_1,sex_2"
    lines = [names, *(",".join(map(str, row)) for row in zip(*given, strict=True))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        data = reports.read_data(path, ["sex"], distance=True)
        return reports.audit_data(data, threshold=[0.6137, 0.7], **QUICK)


def two_systems():
    X, y, groups = columns(four())
    noise = np.where(groups == "a", 0.12, 0.0)[:, None]
    after = X + noise * np.random.default_rng(5).normal(size=X.shape)
    return [reports.EmbeddingData(Z, y, {"group": groups}) for Z in (X, after)]


@call()
def systems():
    options = {"far": LEVELS, "fail_on_harm": True, **QUICK}
    return reports.compare_systems(*two_systems(), **options)


@call()
def systems_at_a_threshold():
    options = {"threshold": 0.3521, "average": "identity", **QUICK}
    return reports.compare_systems(*two_systems(), **options)


@call()
def systems_of_pairs():
    scores, _, people, groups = listed()
    noise = 0.05 * np.random.default_rng(6).normal(size=scores.size)
    noise[groups[0] == "male"] = 0
    data = [
        reports.PairData(s, people, {"sex": groups}) for s in (scores, scores + noise)
    ]
    return reports.compare_systems(*data, far=FAR, **QUICK)


@call()
def systems_that_level_down():
    """The better group gets as bad as the other, which stays as it was."""
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(120), 10)
    sex = np.where(np.arange(120) % 2, "female", "male")
    left, right = rng.integers(0, 120, (2, 4000))
    left, right = left[left != right], right[left != right]
    impostor = rng.normal(0, 1, left.size)
    genuine = rng.normal(0, 0.3, 120)[y] + rng.normal(0, 1, y.size)
    ends = np.r_[y, left], np.r_[y, right]
    data = []
    for shift in (3.2, 2.2):
        scores = genuine + np.where(sex[y] == "female", 2.2, shift)
        features = {"sex": tuple(sex[end] for end in ends)}
        data.append(reports.PairData(np.r_[scores, impostor], ends, features))
    return reports.compare_systems(*data, far=0.0513, **QUICK)


# Training


@call(torch=True)
def mises_fisher_normaliser():
    from skfairfr.losses import FairVMFLoss

    kappa = [1e-3, 0.1, 1.0, 8.5, 20.0, 64.0, 300.0, 2e3, 1e5]
    dimensions = (2, 3, 24, 128, 512, 2048)
    return flat(
        **{
            f"d{d}": FairVMFLoss(len(kappa), d, kappa).log_normalizer.double().numpy()
            for d in dimensions
        }
    )


@call(torch=True)
def mises_fisher_loss():
    import torch

    from skfairfr.losses import FairVMFLoss

    rng = np.random.default_rng(0)
    centroids, Z = rng.normal(size=(5, 16)), rng.normal(size=(12, 16))
    kappa = {"a": 25.0, "b": 15.0}
    loss = FairVMFLoss(
        *(5, 16, kappa), attribute=list("aabba"), centroids=centroids
    ).double()
    Z = torch.tensor(Z / np.linalg.norm(Z, axis=1, keepdims=True), requires_grad=True)
    value = loss(Z, torch.arange(12) % 5)
    value.backward()
    return flat(score_loss=value.item(), score_gradient=Z.grad.numpy()[:3])


def write():
    """Write the numbers of today."""
    if find_spec("torch") is None:
        raise SystemExit("calls need torch, which is not installed")
    numbers, records = [], []
    for name in CALLS:
        if isinstance(found := answer(name), dict):
            numbers.append(f'"{name}": {one_a_line(found)}')
        else:
            records.append(f'"{name}": {json.dumps(record_of(found))}')
    for path, entries in ((NUMBERS, numbers), (RECORDS, records)):
        path.write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8")
    print(f"{len(CALLS)} calls, skfairfr {skfairfr.__version__}, in {HERE}")


def one_a_line(found):
    """JSON of a dict, with a line for each key."""
    lines = (f"  {json.dumps(key)}: {json.dumps(found[key])}" for key in found)
    return "{\n" + ",\n".join(lines) + "\n}"


if __name__ == "__main__":
    write()
