"""What is no data and no label is refused by name, and labels bring their names."""

import inspect
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

from skfairfr._core import _pairs
from skfairfr.model_selection import compare_mitigations
from skfairfr.report import (
    EmbeddingData,
    PairData,
    audit,
    audit_data,
    audit_pairs,
    compare_systems,
    identify_data,
)
from skfairfr.report._given import choose_far_max, columns_of
from tests.refusals import refusal
from tests.report.audits import small_audit, synthetic

X, Y, GROUPS = synthetic(20)
LEFT, RIGHT = np.triu_indices(len(Y), 1)
SCORES = (X @ X.T)[LEFT, RIGHT]
PEOPLE = (Y[LEFT], Y[RIGHT])
BOTH = (GROUPS[LEFT], GROUPS[RIGHT])
DATA = EmbeddingData(X, Y, {"group": GROUPS})
OTHER = EmbeddingData(X + 0.1, Y, {"group": GROUPS})
QUICK = {"far": 0.05}


LAZY = pl.LazyFrame({"g": GROUPS})
NO_GROUPS = {
    "threshold_from": EmbeddingData(X, Y),
    "impostors": "same_group",
}


@pytest.mark.parametrize(
    ("call", "argument", "words"),
    [
        (lambda: audit(X, Y, {}), "sensitive_features", "Pass the group"),
        (lambda: audit(X, Y, "gender"), "sensitive_features", "got str"),
        (lambda: audit(X, Y, LAZY), "sensitive_features", "LazyFrame"),
        (lambda: audit(X, Y, GROUPS, attribute="g\ud800"), "attribute", "rename it"),
        (lambda: audit(X, Y, GROUPS, attribute=3), "attribute", "got 3"),
        (lambda: audit(X, Y, X[:, 0], attribute="age:4"), "attribute", "to_bands"),
        (lambda: audit(X, Y, GROUPS, random_state=None), "random_state", "None"),
        (lambda: audit(X, Y, GROUPS, random_state=-1), "random_state", "-1"),
        (
            lambda: audit(X, Y, GROUPS, threshold=[[1], [1, 2]]),
            "threshold",
            "of one length",
        ),
        (lambda: compare_systems(DATA, OTHER, random_state="x"), "random_state", "'x'"),
        (
            lambda: audit(X, Y, {"g": GROUPS}, attribute="s"),
            "attribute",
            "leave it out",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE, {"g": BOTH}, attribute="sex"),
            "attribute",
            "leave it out",
        ),
        (lambda: audit_pairs(SCORES, PEOPLE, {}), "sensitive_features", "no column"),
        (
            lambda: audit_pairs(SCORES, PEOPLE, {"g": [*BOTH, BOTH[0]]}),
            "sensitive_features",
            "['g'] must be a tuple of two",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE, np.stack(BOTH, axis=1)),
            "sensitive_features",
            "a tuple of two",
        ),
        (lambda: audit_pairs(SCORES, None, BOTH), "identities", "y_true"),
        (
            lambda: audit_pairs(SCORES, PEOPLE, BOTH, y_true=SCORES > 0),
            "identities",
            "y_true",
        ),
        (lambda: audit_pairs(SCORES, PEOPLE[0], BOTH), "identities", "a tuple of two"),
        (
            lambda: audit_pairs(SCORES, PEOPLE, BOTH, images=None),
            "images",
            "a tuple of two",
        ),
        (lambda: audit_data((X, Y)), "data", "Give EmbeddingData"),
        (
            lambda: audit_data(DATA, threshold_from=(X, Y)),
            "threshold_from",
            "Give EmbeddingData",
        ),
        (
            lambda: audit(X, Y, GROUPS, **NO_GROUPS),
            "threshold_from",
            "The columns are",
        ),
        (lambda: audit_data(DATA, threshold="abc"), "threshold", "'abc'"),
        (lambda: audit_data(DATA, about={"where": "x"}), "about", "organisation"),
    ],
)
def test_what_cannot_be_used_is_named(call, argument, words):
    with refusal(argument, words):
        call()


@pytest.mark.parametrize("wrong", [{"average": None}, {"impostors": "x"}])
def test_options_of_the_measurement_are_those_of_its_estimator(wrong):
    (name,) = wrong
    for call in (audit_data, lambda data, **o: compare_systems(data, OTHER, **o)):
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            call(DATA, **QUICK, **wrong)


# ---- rows ----------------------------------------------------------------------------

RAGGED = [*X.tolist()[:-1], [0.5]]
ROWS = f" {len(Y) - 1}"
# Parts of embeddings that cannot be used, with what the message says after its name.
WRONG_IMAGES = [
    ("y", {"X": X[:-1]}, ROWS),
    ("y", {"y": Y[:-1]}, ROWS),
    ("y", {"y": []}, "0 rows"),
    ("y", {"y": np.stack([Y, Y], 1)}, "one column"),
    ("columns['g']", {"columns": {"g": GROUPS[:-1]}}, ROWS),
    ("domain", {"domain": (np.arange(len(Y)) % 2)[:-1]}, ROWS),
    ("names", {"names": np.arange(len(Y) - 1)}, ROWS),
    ("X", {"X": RAGGED}, "of one length"),
    ("X", {"X": None}, "(n_samples, n_features)"),
    ("X", {"X": X[:, 0]}, "Give an array"),
    ("X", {"X": X[:0]}, "(n_samples, n_features)"),
    ("columns", {"columns": "gender"}, "a dict"),
    ("columns", {"columns": None}, "a dict"),
    ("columns", {"columns": {1: GROUPS}}, "got 1"),
    ("columns['g']", {"columns": {"g": None}}, "one-dimensional"),
]
LISTED = {"y_score": SCORES, "identities": PEOPLE, "columns": {"group": BOTH}}
FEW = f" {len(SCORES) - 1}"
ONE_SHORT = {"identities": None, "y_true": PEOPLE[0][1:] == PEOPLE[1][1:]}
WRONG_PAIRS = [
    ("identities[0]", {"y_score": SCORES[1:]}, "rows"),
    ("y_score", {"y_score": None}, "one-dimensional"),
    ("identities[1]", {"identities": (PEOPLE[0], PEOPLE[1][1:])}, FEW),
    ("identities", {"identities": "ab"}, "a tuple of two"),
    ("columns['g'][0]", {"columns": {"g": (BOTH[0][1:], BOTH[1])}}, FEW),
    ("columns['g']", {"columns": {"g": BOTH[0]}}, "a tuple of two"),
    ("image_names[1]", {"image_names": (LEFT, RIGHT[1:])}, FEW),
    ("image_names", {"image_names": None}, "a tuple of two"),
    ("y_true", ONE_SHORT, FEW),
]
WRONG = [(DATA, *row) for row in WRONG_IMAGES]
WRONG += [(PairData(**LISTED), *row) for row in WRONG_PAIRS]


@pytest.mark.parametrize(("right", "part", "changed", "words"), WRONG)
def test_rows_are_as_many_in_every_part(right, part, changed, words):
    """Wherever the data are given, before any work, and by the name of the part."""
    wrong = replace(right, **changed)
    for argument, call in {
        part.partition("[")[0]: lambda: audit_data(wrong, **QUICK),
        "threshold_from": lambda: audit_data(right, threshold_from=wrong, **QUICK),
        "before": lambda: compare_systems(wrong, right, **QUICK),
        "after": lambda: compare_systems(right, wrong, **QUICK),
    }.items():
        with refusal(argument, part, words):
            call()


@pytest.mark.parametrize(
    ("call", "argument", "words"),
    [
        (lambda: audit(X, Y, GROUPS[:-1]), "sensitive_features", ROWS),
        (lambda: audit(X, Y, {"g": GROUPS[:-1]}), "sensitive_features", "['g'] has"),
        (
            lambda: audit_pairs(SCORES, PEOPLE, (BOTH[0], BOTH[1][1:])),
            "sensitive_features",
            "[1] has",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE, {"g": (BOTH[0], BOTH[1][1:])}),
            "sensitive_features",
            "['g'][1] has",
        ),
        (lambda: compare_mitigations(X, Y[:-1], GROUPS), "y", ROWS),
        (
            lambda: compare_mitigations(X, Y, GROUPS[:-1]),
            "sensitive_features",
            ROWS,
        ),
    ],
)
def test_rows_are_named_as_the_caller_gave_them(call, argument, words):
    with refusal(argument, words):
        call()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_one_frame_is_not_the_labels_of_two_images(library):
    frame = pytest.importorskip(library).DataFrame(dict(zip("ab", BOTH, strict=True)))
    with refusal("sensitive_features", "a tuple of two"):
        audit_pairs(SCORES, PEOPLE, frame)


def test_options_are_those_of_audit_data():
    parameters = inspect.signature(audit_data).parameters
    assert all(p.kind is not p.VAR_KEYWORD for p in parameters.values())
    for call in (
        lambda: audit(X, Y, GROUPS, far_max=0.1),
        lambda: audit_pairs(SCORES, PEOPLE, BOTH, far_max=1),
    ):
        with pytest.raises(TypeError, match="far_max"):
            call()


# ---- names ---------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_dict_or_a_frame_of_several_columns_names_them(library):
    columns = {"g": ["f", "m"], "h": ["x", None]}
    frame = pytest.importorskip(library).DataFrame(columns)
    named, _ = columns_of(frame, None)
    assert list(named) == ["g", "h"]
    labels = EmbeddingData(np.eye(2), [1, 2], named).groups(("h",))
    assert labels.codes.tolist() == [0, -1]
    assert columns_of(columns, None) == (columns, True)


@pytest.mark.parametrize(
    "labels", [["f", "m"], np.array(["f", "m"]), np.array([["f", "x"], ["m", "y"]])]
)
def test_labels_alone_have_no_names(labels):
    columns, named = columns_of(labels, None)
    assert columns["group"] is labels
    assert not named


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_series_and_a_frame_of_one_column_bring_their_name(library):
    module = pytest.importorskip(library)
    frame = module.DataFrame({"gender": GROUPS.tolist()})
    assert audit(X, Y, frame["gender"], **QUICK).audits[0].attribute == "gender"
    assert audit(X, Y, frame, **QUICK).audits[0].attribute == "gender"
    assert audit(X, Y, frame, attribute="sex", **QUICK).audits[0].attribute == "sex"


def test_labels_of_two_images_bring_the_name_that_they_share():
    Series = pytest.importorskip("pandas").Series
    named = [Series(["f"], name=n) for n in ("g", "g_1", "g_2", "h_2", None)]
    shared = {}
    for both in product(named, repeat=2):
        (found,), _ = columns_of(both, None, of_pairs=True)
        if found != "group":
            shared[both[0].name, both[1].name] = found
    same = {(name, name): name for name in ("g", "g_1", "g_2", "h_2")}
    assert shared == same | {("g_1", "g_2"): "g"}
    both = [Series(labels, name="age") for labels in BOTH]
    assert audit_pairs(SCORES, PEOPLE, both, **QUICK).audits[0].attribute == "age"


def test_labels_without_a_name_are_called_group():
    assert small_audit((X, Y, GROUPS), attribute=None).attribute == "group"
    found = audit_data(PairData(SCORES, PEOPLE, {"group": BOTH}), **QUICK)
    alone = audit_pairs(SCORES, PEOPLE, BOTH, **QUICK)
    assert found.to_json() == alone.to_json()


@pytest.mark.parametrize("far", [None, [1e-3], [1e-3, 0.2]])
@pytest.mark.parametrize(("n_images", "rule"), [(30, 1e-2), (900, 1e-2 / 81)])
def test_pairs_are_held_up_to_the_largest_level_or_by_the_number_of_images(
    n_images, rule, far, monkeypatch
):
    monkeypatch.setattr(_pairs, "HELD_PAIRS", 1e-2 * 100**2)
    found = choose_far_max(n_images, None if far is None else np.array(far))
    assert found == pytest.approx(max(rule, *(far or [0])))


@pytest.mark.parametrize(
    "failed",
    [
        np.zeros(len(Y) - 1, bool),
        np.zeros(len(Y)),
        1,
        [False] * len(Y),
        np.full(len(Y), True),
    ],
)
def test_rows_that_failed_are_as_many_booleans(failed):
    with pytest.raises(
        ValueError, match=r"^failed must be .* Give True where"
    ) as found:
        audit_data(replace(DATA, failed=failed), **QUICK)
    assert found.value.argument == "failed"


def test_an_empty_gallery_is_refused_by_name():
    gallery = EmbeddingData(None, Y)
    with pytest.raises(ValueError, match=r"^gallery cannot be used: X must"):
        identify_data(DATA, gallery=gallery, fpir=0.1)
