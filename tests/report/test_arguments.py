"""What is no data and no label is refused by name, and labels bring their names."""

import inspect
import re
from dataclasses import replace

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
)
from skfairfr.report._arguments import (
    choose_far_max,
    name_of,
    name_of_both,
    named_columns,
)
from skfairfr.utils import ArgumentError
from tests.report.audits import small_audit, synthetic

X, Y, GROUPS = synthetic(20)
LEFT, RIGHT = np.triu_indices(len(Y), 1)
SCORES = (X @ X.T)[LEFT, RIGHT]
PEOPLE = (Y[LEFT], Y[RIGHT])
BOTH = (GROUPS[LEFT], GROUPS[RIGHT])
DATA = EmbeddingData(X, Y, {"group": GROUPS})
QUICK = {"far": 0.05, "n_resamples": 5}


@pytest.mark.parametrize(
    ("call", "argument", "message"),
    [
        (
            lambda: audit(X, Y, None),
            "sensitive_features",
            "is None, .*; give the group",
        ),
        (lambda: audit(X, Y, "gender"), "sensitive_features", "got the text 'gender'"),
        (
            lambda: audit(X, Y, pl.LazyFrame({"g": GROUPS})),
            "sensitive_features",
            r"LazyFrame, .*; give what its collect\(\) returns",
        ),
        (
            lambda: audit(X, Y, GROUPS, attribute="g\ud800"),
            "attribute",
            r"holds the label 'g\\ud800', which is no text",
        ),
        *(
            (lambda wrong=wrong: audit(X, Y, GROUPS, **wrong), *words)
            for wrong, *words in (
                ({"average": None}, "average", "must be one of 'pair', 'identity'"),
                ({"average": [1]}, "average", "must be one of 'pair', 'identity'"),
                ({"impostors": "x"}, "impostors", "must be one of 'all', 'same_group'"),
                (
                    {"random_state": None},
                    "random_state",
                    "must be an integer; got None",
                ),
                ({"random_state": -1}, "random_state", "must be at least 0; got -1"),
                (
                    {"threshold": [[1], [1, 2]]},
                    "threshold",
                    "rows of different lengths",
                ),
            )
        ),
        *(
            (lambda wrong=wrong: compare_systems(DATA, DATA, **wrong), *words)
            for wrong, *words in (
                (
                    {"average": "max_min"},
                    "average",
                    "must be one of 'pair', 'identity'",
                ),
                ({"random_state": "x"}, "random_state", "must be an integer; got 'x'"),
            )
        ),
        (lambda: audit(X, Y, {}), "sensitive_features", "has no column, .*; give the"),
        (
            lambda: audit(X, Y, {"g": GROUPS}, attribute="sex"),
            "attribute",
            r"='sex' names labels that .* names its own \(g\); leave it out\.",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE, {"g": BOTH}, attribute="sex"),
            "attribute",
            "='sex' names labels",
        ),
        (lambda: audit_pairs(SCORES, PEOPLE, None), "sensitive_features", "is None"),
        (
            lambda: audit_pairs(SCORES, PEOPLE, {}),
            "sensitive_features",
            "has no column",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE, {"g": [*BOTH, BOTH[0]]}),
            "sensitive_features",
            r" of 'g' must be a tuple of two .*; got list of length 3\.",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE, np.stack(BOTH, axis=1)),
            "sensitive_features",
            r"must be a tuple of two .*; got numpy.ndarray of shape \(\d+, 2\)\.",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE, "gender"),
            "sensitive_features",
            "must be a tuple of two .*; got str of length 6.",
        ),
        (
            lambda: audit_pairs(SCORES, None, BOTH),
            "identities",
            " and y_true are None; give whom the images show or",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE, BOTH, y_true=SCORES > 0),
            "identities",
            " and y_true were both given",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE[0], BOTH),
            "identities",
            "must be a tuple of two",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE, BOTH, images=None),
            "images",
            "must be a tuple of two .*; got None",
        ),
        (
            lambda: audit_data((X, Y)),
            "data",
            "got tuple of length 2. Give EmbeddingData",
        ),
        (lambda: audit_data(None), "data", "got None"),
        (
            lambda: audit_data(DATA, threshold_from=(X, Y)),
            "threshold_from",
            "got tuple of length 2: give an EmbeddingData.",
        ),
        (
            lambda: audit(
                X,
                Y,
                GROUPS,
                threshold_from=EmbeddingData(X, Y),
                impostors="same_group",
            ),
            "threshold_from",
            "has no column 'group', .* impostors='same_group' .*; give it the columns",
        ),
        (lambda: audit_data(DATA, threshold="abc"), "threshold", "got 'abc'"),
        (
            lambda: audit_data(DATA, limits=["max_bfar"]),
            "limits",
            r"got \['max_bfar'\]",
        ),
        (
            lambda: audit_data(DATA, limits={"max_bfar": None}),
            "max_bfar",
            "must be a number above 1, .* got None. Give the largest",
        ),
        (lambda: audit_data(DATA, limits={"max_bfar": "2"}), "max_bfar", "got '2'"),
        (lambda: audit_data(DATA, limits={"max_bfar": [2]}), "max_bfar", r"got \[2\]"),
    ],
)
def test_what_cannot_be_used_is_named(call, argument, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        call()
    assert caught.value.argument == argument
    assert str(caught.value).startswith(argument)
    assert "\n" not in str(caught.value)


# ---- rows ----------------------------------------------------------------------------

RAGGED = [*X.tolist()[:-1], [0.5]]
SHORT = f" has {len(Y) - 1} rows but X has {len(Y)}; give one label for each row."
# Parts of embeddings that cannot be used: what the message says, from the part's name on.
WRONG_IMAGES = {
    "X short": ({"X": X[:-1]}, f"y has {len(Y)} rows but X has {len(Y) - 1}; give"),
    "y short": ({"y": Y[:-1]}, f"y{SHORT}"),
    "y empty": ({"y": []}, f"y has 0 rows but X has {len(Y)}; give"),
    "y twice": ({"y": np.stack([Y, Y], 1)}, "y must be one column, (n_samples,); got"),
    "groups short": ({"columns": {"g": GROUPS[:-1]}}, f"columns['g']{SHORT}"),
    "groups long": (
        {"columns": {"g": [*GROUPS, "f"]}},
        f"columns['g'] has {len(Y) + 1} rows but X has {len(Y)}; give",
    ),
    "domain": ({"domain": (np.arange(len(Y)) % 2)[:-1]}, f"domain{SHORT}"),
    "names": ({"names": np.arange(len(Y) - 1)}, f"names{SHORT}"),
    "ragged": ({"X": RAGGED}, "X has rows of different lengths, or of other objects."),
    "X none": ({"X": None}, "X must have the shape (n_samples, n_features); got None."),
    "X column": (
        {"X": X[:, 0]},
        f"X must have the shape (n_samples, n_features); got numpy.ndarray of shape "
        f"({len(Y)},). Give an array with a row",
    ),
    "X empty": ({"X": X[:0]}, "X must have the shape (n_samples, n_features); got"),
    "text": ({"columns": "gender"}, "columns must be a dict of names to the labels of"),
    "no dict": ({"columns": None}, "columns must be a dict of names to the labels of"),
    "array": ({"columns": GROUPS}, "columns must be a dict of names to the labels of"),
    "number": ({"columns": {1: GROUPS}}, "columns has the name 1, and names are texts"),
    "no labels": ({"columns": {"g": None}}, "columns['g'] must be one-dimensional"),
    "reading": ({"reading": 3}, "reading is made by read_data; got int. Leave it out."),
}
LISTED = {"y_score": SCORES, "identities": PEOPLE, "columns": {"group": BOTH}}
FEW = f"has {len(SCORES) - 1} rows but y_score has {len(SCORES)}; give one label"
WRONG_PAIRS = {
    "scores": ({"y_score": SCORES[1:]}, "identities[0] has"),
    "no scores": ({"y_score": None}, "y_score must be one-dimensional"),
    "people": ({"identities": (PEOPLE[0], PEOPLE[1][1:])}, f"identities[1] {FEW}"),
    "text": ({"identities": "ab"}, "identities must be a tuple of two array-likes"),
    "groups": ({"columns": {"g": (BOTH[0][1:], BOTH[1])}}, f"columns['g'][0] {FEW}"),
    "one side": ({"columns": {"g": BOTH[0]}}, "columns['g'] must be a tuple of two"),
    "no dict": ({"columns": None}, "columns must be a dict of names to the labels of"),
    "images": ({"image_names": (LEFT, RIGHT[1:])}, f"image_names[1] {FEW}"),
    "no tuple": ({"image_names": None}, "image_names must be a tuple of two"),
    "y_true": (
        {"identities": None, "y_true": PEOPLE[0][1:] == PEOPLE[1][1:]},
        f"y_true {FEW}",
    ),
}
WRONG = [
    *((DATA, replace(DATA, **parts), words) for parts, words in WRONG_IMAGES.values()),
    *(
        (PairData(**LISTED), PairData(**LISTED | parts), words)
        for parts, words in WRONG_PAIRS.values()
    ),
]


@pytest.mark.parametrize(
    ("right", "wrong", "words"), WRONG, ids=[*WRONG_IMAGES, *WRONG_PAIRS]
)
def test_rows_are_as_many_in_every_part(right, wrong, words):
    """Wherever the data are given, before any work, and by the name of the part."""
    calls = {
        "": lambda: audit_data(wrong, **QUICK),
        "threshold_from: ": lambda: audit_data(right, threshold_from=wrong, **QUICK),
        "before: ": lambda: compare_systems(wrong, right, **QUICK),
        "after: ": lambda: compare_systems(right, wrong, **QUICK),
    }
    for prefix, call in calls.items():
        with pytest.raises(
            ArgumentError, match=f"^{re.escape(prefix + words)}"
        ) as told:
            call()
        named = told.value.argument.partition("[")[0]
        assert named == re.match(r"\w+", prefix + words)[0]
        assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: audit(X, Y, GROUPS[:-1]), f"sensitive_features{SHORT}"),
        (lambda: audit(X, Y, {"g": GROUPS[:-1]}), f"sensitive_features['g']{SHORT}"),
        (lambda: audit(X, Y, GROUPS, attribute=3), "attribute has the name 3, and"),
        (lambda: audit(RAGGED, Y, GROUPS), "X has rows of different lengths"),
        (
            lambda: audit_pairs(SCORES, PEOPLE, (BOTH[0], BOTH[1][1:])),
            f"sensitive_features[1] {FEW}",
        ),
        (
            lambda: audit_pairs(SCORES, PEOPLE, {"g": (BOTH[0], BOTH[1][1:])}),
            f"sensitive_features['g'][1] {FEW}",
        ),
        (lambda: compare_mitigations(X[:, 0], Y, GROUPS), "X must have the shape"),
        (lambda: compare_mitigations(None, Y, GROUPS), "X must have the shape"),
        (
            lambda: compare_mitigations(X, Y[:-1], GROUPS),
            f"y has {len(Y) - 1} rows but X has {len(Y)}; give one label for each row.",
        ),
        (
            lambda: compare_mitigations(X, Y, GROUPS[:-1]),
            f"sensitive_features has {len(Y) - 1} rows but X has {len(Y)}; give",
        ),
    ],
)
def test_rows_are_named_as_the_caller_gave_them(call, words):
    with pytest.raises(ArgumentError, match=f"^{re.escape(words)}") as told:
        call()
    assert told.value.argument == re.match(r"\w+", words)[0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_one_frame_is_not_the_labels_of_two_images(library):
    frame = pytest.importorskip(library).DataFrame(dict(zip("ab", BOTH, strict=True)))
    with pytest.raises(ArgumentError, match="must be a tuple of two"):
        audit_pairs(SCORES, PEOPLE, frame)


@pytest.mark.parametrize(
    ("call", "option"),
    [
        (lambda: audit(X, Y, GROUPS, far_max=0.1), "far_max=0.1"),
        (lambda: audit_pairs(SCORES, PEOPLE, BOTH, foo=1), "foo=1"),
    ],
)
def test_an_unknown_option_is_named(call, option):
    with pytest.raises(TypeError, match=f"^{option} is no option of .* far, thresh"):
        call()


def test_every_option_is_in_the_signature():
    parameters = inspect.signature(audit_data).parameters
    assert {"average", "n_resamples", "random_state"} < set(parameters)
    assert all(p.kind is not p.VAR_KEYWORD for p in parameters.values())
    with pytest.raises(TypeError, match="far_max"):
        audit_data(DATA, far_max=0.1)


# ---- names ---------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_dict_or_a_frame_of_several_columns_names_them(library):
    columns = {"g": ["f", "m"], "h": ["x", None]}
    frame = pytest.importorskip(library).DataFrame(columns)
    named = named_columns(frame)
    assert list(named) == ["g", "h"]
    labels = EmbeddingData(np.eye(2), [1, 2], named).groups(("h",))
    assert labels.codes.tolist() == [0, -1]
    assert named_columns(columns) == columns


@pytest.mark.parametrize(
    "labels", [["f", "m"], np.array(["f", "m"]), np.array([["f", "x"], ["m", "y"]])]
)
def test_labels_alone_have_no_names(labels):
    assert named_columns(labels) is None


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_series_and_a_frame_of_one_column_bring_their_name(library):
    module = pytest.importorskip(library)
    frame = module.DataFrame({"gender": GROUPS.tolist()})
    assert name_of(frame) == name_of(frame["gender"]) == "gender"
    assert name_of(module.Series(["f"])) == ""
    assert audit(X, Y, frame["gender"], **QUICK).audits[0].attribute == "gender"
    assert audit(X, Y, frame, **QUICK).audits[0].attribute == "gender"
    assert audit(X, Y, frame, attribute="sex", **QUICK).audits[0].attribute == "sex"


def test_labels_of_two_images_bring_the_name_that_they_share():
    Series = pytest.importorskip("pandas").Series
    named = [Series(["f"], name=n) for n in ("g", "g_1", "g_2", "h_2", None)]
    names = [name_of_both((a, b)) for a in named for b in named]
    assert names == [
        *("g", "", "", "", ""),
        *("", "g_1", "g", "", ""),
        *("", "", "g_2", "", ""),
        *("", "", "", "h_2", ""),
        *("", "", "", "", ""),
    ]
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
