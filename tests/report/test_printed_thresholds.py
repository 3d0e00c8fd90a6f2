"""A printed threshold, given back, accepts the pairs that the report counted."""

import json
import re
from itertools import product

import numpy as np
import pytest

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.report import (
    EmbeddingData,
    PairData,
    audit_data,
    compare_systems,
    read_data,
)

FAR = [0.05, 0.01, 0.002]
QUICK = {"random_state": 0}
RATES = ("far", "frr")
# Decimals, type of the scores, and whether they are distances.
DAILY = [(2, "f2", True), (3, "f4", False), (2, "f8", False)]
NIGHTLY = sorted({*product((2, 3), ("f2", "f4", "f8"), (False, True))} - {*DAILY})
NUMBER = r"(-?\d[\d.]*(?:e[+-]\d+)?)"
PRINTED = re.compile(rf"FMR of \S+ ?%: accepted (?:up to|from) \w+ {NUMBER}")
SCALES = {
    "sigmoid": lambda s: 1 / (1 + np.exp(-(12 + 4 * s))),
    "tight": lambda s: 0.999 + 1e-4 * s,
    "ratios": lambda s: 1e6 * s - 3e5,
    "integers": lambda s: np.rint(40 * s),
}


@pytest.fixture(scope="module")
def faces():
    return make_face_embeddings(n_identities=60, n_features=24, random_state=0)


def listed(faces, scale):
    """All pairs of some faces, with their cosines on another scale."""
    unit = faces.X / np.linalg.norm(faces.X, axis=1, keepdims=True)
    left, right = np.triu_indices(len(unit), 1)
    scores = scale((unit @ unit.T).astype(np.float64)[left, right])
    people, groups = faces.y, faces.sensitive_features
    both = [(labels[left], labels[right]) for labels in (people, groups)]
    return PairData(scores, both[0], {"gender": both[1]})


def counts(audit):
    """Errors of everyone and of each group at every level."""
    return [
        [(row.group, row.far_errors, row.frr_errors) for row in level.rates]
        for level in audit.levels
    ]


def printed(report):
    """The thresholds in every form of a report, largest level first."""
    forms = {"text": report.to_text(), "page": report.to_html(date="2026-01-01")}
    forms["card"] = report.to_card()
    plain = {name: " ".join(text.split()) for name, text in forms.items()}
    found = {name: PRINTED.findall(text)[: len(FAR)] for name, text in plain.items()}
    assert {len(thresholds) for thresholds in found.values()} == {len(FAR)}
    return found


def check_printed(data):
    report = audit_data(data, far=FAR, **QUICK)
    (found,) = report.audits
    for texts in printed(report).values():
        thresholds = [float(text) for text in texts]
        (again,) = audit_data(data, threshold=thresholds, **QUICK).audits
        assert counts(again) == counts(found)
    return found


def test_of_cosines(faces):
    data = EmbeddingData(faces.X, faces.y, {"gender": faces.sensitive_features})
    found = check_printed(data)
    roc = SimilarityROC(resample="identities").fit(faces.X, faces.y)
    for level in found.levels:
        everyone = roc.estimate(level.far, rate="far").value
        assert level.rates[0].far.value == everyone


@pytest.mark.slow
@pytest.mark.parametrize(
    "scale",
    [
        "tight",
        "integers",
        *(pytest.param(s, marks=pytest.mark.slow) for s in ("sigmoid", "ratios")),
    ],
)
def test_of_scores_on_any_scale(faces, scale):
    check_printed(listed(faces, SCALES[scale]))


@pytest.mark.parametrize(
    ("digits", "dtype", "distance"),
    [
        *DAILY,
        *(pytest.param(*case, marks=pytest.mark.slow) for case in NIGHTLY),
    ],
)
def test_of_scores_rounded_to_decimals(tmp_path, digits, dtype, distance):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rng = np.random.default_rng(1)
    who = rng.integers(0, 60, (2, 3000))
    who[1, :1500] = who[0, :1500]
    same, gender = who[0] == who[1], np.array(["f", "m"])[who % 2]
    decimals = np.round(0.4 + 0.3 * same + 0.15 * rng.normal(size=3000), digits)
    decimals = np.round(1 - decimals, digits) if distance else decimals
    scores = decimals.astype(dtype)
    names = ("identity_1", "identity_2", "gender_1", "gender_2", "score")
    table = dict(zip(names, (*who, *gender, scores), strict=True))
    parquet.write_table(pa.table(table), tmp_path / "pairs.parquet")
    data = read_data(tmp_path / "pairs.parquet", "gender", distance=distance)

    def errors(threshold, scores=scores):
        """As numpy counts them."""
        accepted = scores <= threshold if distance else scores >= threshold
        return (accepted & ~same).sum(), (~accepted & same).sum()

    thresholds = [0.29, 0.3, 0.31, 0.45, 0.6, 0.7]
    sign = -1 if distance else 1
    report = audit_data(data, threshold=thresholds, **QUICK)
    for level in report.audits[0].levels:
        row = level.rates[0]
        assert errors(sign * level.threshold) == (row.far_errors, row.frr_errors)
    roc = data.fit(SimilarityROC(n_resamples=2))
    for t in thresholds:
        far, frr = (roc.estimate(threshold=sign * t, rate=r).value for r in RATES)
        n_far, n_frr = errors(t)
        assert (far, frr) == (n_far / (~same).sum(), n_frr / same.sum())
    found = check_printed(data)
    texts = printed(audit_data(data, far=FAR, **QUICK))["text"]
    for text, level in zip(texts, found.levels, strict=True):
        row = level.rates[0]
        assert errors(float(text)) == (row.far_errors, row.frr_errors)
        # The same decimals in another type are accepted by it too, and short.
        assert errors(float(text), decimals) == errors(float(text))
        assert errors(float(text), scores.astype(float)) == errors(float(text))
        assert row.far_errors <= level.far * (~same).sum() and len(text) <= digits + 4
    certified = data.fit(SimilarityROC(n_resamples=2), ("gender",)).certify(0.3)
    inside = (gender[0] == gender[1]) & ~same
    accepted = sign * scores >= certified.threshold
    for group, far in zip(certified.groups, certified.far, strict=True):
        assert far == accepted[inside & (gender[0] == group)].mean()


@pytest.mark.slow
def test_of_distances(faces, tmp_path):
    data = listed(faces, lambda s: np.sqrt(2 - 2 * s))
    (one, other), (group, beside) = data.identities, data.columns["gender"]
    rows = zip(data.y_score, one, other, group, beside, strict=True)
    lines = ["score,identity_1,identity_2,gender_1,gender_2"]
    lines += [",".join(map(str, row)) for row in rows]
    path = tmp_path / "distances.csv"
    path.write_text("\n".join(lines))
    check_printed(read_data(path, "gender", distance=True))


@pytest.mark.slow
def test_of_systems_that_are_compared(faces):
    noise = np.random.default_rng(0).normal(0, 0.02, faces.X.shape)
    groups = {"gender": faces.sensitive_features}
    systems = [EmbeddingData(X, faces.y, groups) for X in (faces.X, faces.X + noise)]
    found = compare_systems(*systems, far=FAR, **QUICK)
    page = found.to_html(date="2026-01-01")
    for system, data, measured in zip(
        ("before", "after"), systems, found.measured, strict=True
    ):
        pattern = rf"{system}: accepted from similarity {NUMBER}"
        thresholds = [float(text) for text in re.findall(pattern, page)]
        (again,) = audit_data(data, threshold=thresholds, **QUICK).audits
        assert counts(again) == counts(measured)


@pytest.fixture(scope="module")
def limited(faces):
    """An audit with a limit at the thresholds where no group's FMR exceeds the level."""
    data = EmbeddingData(faces.X, faces.y, {"gender": faces.sensitive_features})
    return data, audit_data(data, far=FAR, limits={"max_bfar": 2.0}, **QUICK)


def test_the_limits_of_the_worst_group_are_about_the_threshold_in_the_json(limited):
    data, report = limited
    worst = [check["threshold"] for check in json.loads(report.to_json())["checks"]]
    (again,) = audit_data(data, threshold=worst, **QUICK).audits
    for check, level, own in zip(
        report.checks, again.levels, report.audits[0].levels, strict=True
    ):
        rates = [row.far.value for row in level.rates[1:]]
        assert max(rates) <= check.far
        assert own.disparities[-1].far.value == level.disparities[0].far.value


@pytest.mark.parametrize("form", ["to_text", "to_html", "to_card"])
def test_the_threshold_of_a_limit_is_printed(limited, form):
    _, report = limited
    printed = set(re.findall(NUMBER, getattr(report, form)()))
    for check in report.checks:
        assert f"{check.threshold:.12g}" in printed


@pytest.mark.parametrize("seed", [0, 7])
def test_a_bound_of_the_fnmr_does_not_fall_with_the_far(seed):
    faces = make_face_embeddings(n_identities=60, n_features=24, random_state=seed)
    data = EmbeddingData(faces.X, faces.y, {"gender": faces.sensitive_features})
    far = np.logspace(-1, -4.5, 12)
    levels = audit_data(data, far=far, **QUICK).audits[0].levels
    assert (np.diff([level.threshold for level in levels]) >= 0).all()
    high = np.array([level.rates[0].frr.high for level in levels])
    assert (np.diff(high) >= 0).all()
