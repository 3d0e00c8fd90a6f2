"""Numbers as groups: ranges by quantiles and at cut points, and the guard against none."""

import json

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr.metrics import IdentificationROC
from skfairfr.report import read_data
from skfairfr.utils import to_bands
from skfairfr.utils._bands import split_bands
from tests.report.audits import synthetic
from tests.test_cli import run

QUICK = ("--fmr", "0.05", "--n-resamples", "5", "--quiet", "--format", "json")


def named(value, cuts):
    """The range of one number, by going through the cut points."""
    if value is None or value != value:
        return None
    below = [c for c in cuts if c <= value]
    above = [c for c in cuts if c > value]
    if not below:
        return f"under {above[0]:g}"
    if not above:
        return f"{below[-1]:g} and over"
    return f"{below[-1]:g} to under {above[0]:g}"


@pytest.mark.parametrize("cuts", [[18, 30, 50], [30], [-1.5, 0, 17.25], (100, 200)])
def test_cut_points_make_the_ranges_of_a_loop(cuts):
    values = [17, 18, 29.999, 30, 50, 81, None, np.nan, -2, 0, 17.25]
    assert to_bands(values, cuts).tolist() == [named(v, cuts) for v in values]


@pytest.mark.parametrize("n", [2, 3, 4, 9])
def test_quantiles_make_ranges_of_nearly_equal_size(n):
    values = np.random.default_rng(n).permutation(900) / 7
    labels, counts = np.unique(to_bands(values, n).astype(str), return_counts=True)
    assert labels.size == n
    assert np.ptp(counts) <= 2


def test_quantiles_count_the_value_of_a_person_once():
    ages = np.array([20, 30, 40, 50])
    often = np.repeat([0, 1, 2, 3], [1000, 1, 1, 1])
    assert to_bands(ages[often], 2, often)[[0, -1]].tolist() == [
        "under 40",
        "40 and over",
    ]
    with pytest.raises(ValueError, match="two quantiles or more of different numbers"):
        to_bands(ages[often], 2)


@pytest.mark.parametrize(
    ("values", "cuts", "words"),
    [
        ([1, 2, 3], [2, 1], "ascending order"),
        ([1, 2, 3], [2, 2], "ascending order"),
        ([1, 2, 3], [], "ascending order"),
        (["a", "b"], [1], "values hold what is no number, such as 'a'"),
        ([5, 5, 5], 3, "of different numbers"),
    ],
)
def test_ranges_that_cannot_be_made_are_refused(values, cuts, words):
    with pytest.raises(ValueError, match=words):
        to_bands(values, cuts)


@pytest.mark.parametrize(
    ("text", "name", "cuts"),
    [
        ("age", "age", None),
        ("age:4", "age", 4),
        ("age:18,30,50", "age", [18, 30, 50]),
        ("age:18,", "age", [18]),
        ("age:18.5", "age", [18.5]),
        ("t:-5,0", "t", [-5, 0]),
        ("time:of day", "time:of day", None),
        ("age_1,age_2:18,30", "age_1,age_2", [18, 30]),
    ],
)
def test_an_attribute_is_a_column_and_its_ranges(text, name, cuts):
    assert split_bands(text) == (name, cuts)


@pytest.mark.parametrize("text", ["age:18", "age:1", "age:0", "age:10"])
def test_a_number_that_may_be_one_cut_point_is_refused(text):
    with pytest.raises(ValueError, match="quantiles or one cut point at"):
        split_bands(text)


# ---- where numbers come from -----------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Ages in embeddings, in metadata, in a list of pairs and in a log."""
    folder = tmp_path_factory.mktemp("ages")
    X, y, _ = synthetic()
    age = 18 + (y * 37 % 60)
    np.savez(folder / "bare.npz", embedding=X, identity=y)
    for kind in ("int64", "float64", "str"):
        np.savez(folder / f"{kind}.npz", embedding=X, identity=y, age=age.astype(kind))
    people, first = np.unique(y, return_index=True)
    lines = [f"{p},{age[row]}" for p, row in zip(people, first, strict=True)]
    (folder / "ages.csv").write_text("\n".join(["identity,age", *lines]))
    (folder / "some.csv").write_text(
        "\n".join(["identity,age", *lines[:-1], f"{people[-1]},"])
    )
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    left, right = np.triu_indices(len(y), 1)
    score = (unit[left] * unit[right]).sum(axis=1)
    rows = zip(score, y[left], y[right], age[left], age[right], strict=True)
    head = "score,identity_1,identity_2,age_1,age_2"
    text = "\n".join([head, *(",".join(map(str, row)) for row in rows)])
    (folder / "pairs.csv").write_text(text)
    rng = np.random.default_rng(0)
    rows = [f"{p},{int(rng.random() < 0.8)},{a}" for p, a in zip(y, age, strict=True)]
    (folder / "log.csv").write_text("\n".join(["identity,accepted,age", *rows]))
    return folder, X, y, age


LINES = [
    ("int64.npz",),
    ("float64.npz",),
    ("bare.npz", "--metadata", "ages.csv"),
    ("bare.npz", "--metadata", "some.csv"),
    ("pairs.csv",),
    ("log.csv", "--accepted", "accepted"),
]


def line(files, words):
    return [files[0] / w if w.endswith((".npz", ".csv")) else w for w in words]


@pytest.mark.parametrize("words", LINES, ids=lambda words: words[-1])
def test_many_numbers_are_no_groups(capsys, files, words):
    words = line(files, words)
    quick = QUICK[2:] if "--accepted" in words else QUICK
    code, _, err = run(capsys, "audit", *words, "--attribute", "age", *quick)
    assert code == 2
    assert "different numbers, such as 18" in err and "age:18,30,50" in err


@pytest.mark.parametrize("words", LINES, ids=lambda words: words[-1])
@pytest.mark.parametrize("asked", ["age:3", "age:30,50"])
def test_ranges_are_the_groups_of_an_audit(capsys, files, words, asked):
    words = line(files, words)
    quick = QUICK[2:] if "--accepted" in words else QUICK
    code, out, _ = run(capsys, "audit", *words, "--attribute", asked, *quick)
    assert code == 0
    audit = json.loads(out)["audits"][0]
    counts = {g["group"]: g["n_identities"] for g in audit["groups"] if g["group"]}
    _, _, y, age = files
    people, first = np.unique(y, return_index=True)
    people, ages = people, age[first]
    if "some.csv" in str(words[-1]):
        ages = ages[:-1]
    cuts = [30, 50]
    if asked == "age:3":
        ordered = np.sort(ages)
        cuts = [
            ordered[int(np.ceil((ordered.size - 1) * k / 3 - 1e-9))] for k in (1, 2)
        ]
    names = [named(a, cuts) for a in ages]
    assert counts == {name: names.count(name) for name in sorted({*names})}


def test_a_function_makes_the_groups_of_a_file(files):
    path = files[0] / "int64.npz"
    data = read_data(path, {"age": lambda ages: np.where(ages > 40, "old", "young")})
    assert (
        data.columns["age"].tolist() == np.where(files[3] > 40, "old", "young").tolist()
    )


def test_quantiles_of_logs_and_galleries_are_refused(capsys, files):
    log, faces = files[0] / "log.csv", files[0] / "int64.npz"
    limit = ("--max-fnmr", "0.5")
    code, _, err = run(
        capsys, "monitor", log, "--accepted", "accepted", "--attribute", "age:4", *limit
    )
    assert code == 2 and "differ from log to log; give cut points" in err
    code, out, err = run(
        *(capsys, "monitor", log, "--accepted", "accepted"),
        *("--attribute", "age:30,50", *limit, "--format", "json"),
    )
    assert code in (0, 3) and "30 to under 50" in out
    code, _, err = run(
        capsys, "identify", faces, "--gallery", faces, "--attribute", "age:4"
    )
    assert code == 2 and "between probes and gallery; give cut points" in err


def test_many_numbers_are_no_groups_of_a_roc(files):
    _, X, y, age = files
    fits = (
        lambda: SimilarityROC().fit(X, y, age),
        lambda: SimilarityROC().fit(X, y, {"age": age.astype(float)}),
        lambda: SimilarityROC().fit_pairs(
            np.arange(y.size - 1),
            y[:-1],
            y[1:],
            sensitive_features_1=age[:-1],
            sensitive_features_2=age[1:],
        ),
        lambda: IdentificationROC().fit(
            X[1:], y[1:], age[1:], X_gallery=X[:1], y_gallery=y[:1]
        ),
    )
    for fit in fits:
        with pytest.raises(ValueError, match="different numbers, such as 18"):
            fit()
    assert SimilarityROC(n_resamples=5).fit(X, y, to_bands(age, 3)).groups_.size == 3
