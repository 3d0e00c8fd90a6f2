"""Some 20 calls of public names, each as a flat dict of numbers and texts.

``python -m tests.golden.calls`` writes ``numbers.json`` and, of reports, ``records.json``, with
which ``test_golden.py`` compares them: reports, and what no short loop gives (resamples,
samples of pairs). Write them again only for a number that a change of the
method is meant to move.

No number is on an edge: noise of 1e-7 on the embeddings, another order of their features and
twice the precision leave all within 1e-6, and scores within 2e-6, but those of
``levels_above_far_max``, which another sample moves. :data:`NOTES` holds notes of what else may move.
"""

import json
import tempfile
import warnings
from pathlib import Path

import numpy as np

import skfairfr
from skfairfr import SimilarityROC, metrics
from skfairfr import comparators as compared
from skfairfr import report as reports
from skfairfr.model_selection import compare_mitigations
from tests.golden.data import (
    clustered,
    columns,
    faces,
    four,
    listed,
    many,
    scored,
    some_unknown,
)
from tests.golden.numbers import flat, record_of

HERE = Path(__file__).parent
NUMBERS, RECORDS = (HERE / f"{name}.json" for name in ("numbers", "records"))
CALLS = {}
# Of calls whose numbers may move further than 1e-6: why.
NOTES = {}
# Levels that no share of few pairs, or of few people, equals.
LEVELS = (0.0137, 0.0613)
FAR = 0.0313


def call(note=None):
    """Keep a function among the calls, under its name."""

    def keep(function):
        CALLS[function.__name__] = function
        if note is not None:
            NOTES[function.__name__] = note
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


# SimilarityROC: embeddings


@call()
def the_data():
    """If these move, so does all else, for another reason than the engine."""
    sets = {
        "faces": faces().X,
        "four": four().X,
        "many": many().X,
        "clustered": clustered()[0],
        "listed": listed()[0],
        "scored": scored()[1],
    }
    moments = {
        name: [np.sum(np.asarray(X, np.float64) ** p) for p in (1, 2, 3)]
        for name, X in sets.items()
    }
    return flat(**moments, n_images=[len(X) for X in sets.values()])


@call()
def replicates():
    roc = roc_of(n_resamples=50).fit(*columns(faces()))
    return flat(
        frr=roc.resamples(FAR),
        far=roc.resamples(FAR, rate="far", group="female"),
        ratio=roc.resamples(FAR, how="max_min", operating_point="worst_group"),
        at=roc.resamples(threshold=0.4137, rate="far", how="difference"),
    )


@call(
    "Levels above far_max are answered from a sample of the pairs; another sample moves "
    "them."
)
def levels_above_far_max():
    roc = roc_of(far_max=2e-3, n_resamples=20).fit(*columns(many()))
    levels = (0.0513, 0.2137)
    return flat(
        eer=roc.equal_error_rate(),
        frr=roc.estimate(levels),
        far=roc.estimate(levels, rate="far", group="b"),
        ratio=roc.estimate(levels, rate="far", how="max_min"),
        threshold=roc.threshold_at(levels),
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


def write():
    """Write the numbers of today."""
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
