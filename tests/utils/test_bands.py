"""Numbers as groups: ranges by quantiles and at cut points, and the guard against none."""

import json
from decimal import Decimal

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr.metrics import IdentificationROC, RateMonitor, bfar
from skfairfr.report import EmbeddingData, Policy, audit_data, monitor_log, read_data
from skfairfr.utils import to_bands
from skfairfr.utils._bands import in_ascending_order, split_bands
from tests.report.audits import synthetic
from tests.test_cli import run

QUICK = ("--fmr", "0.05", "--quiet", "--format", "json")


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
    with pytest.raises(
        ValueError, match="need quantiles of different numbers, and 2 are not"
    ):
        to_bands(ages[often], 2)


@pytest.mark.parametrize(
    ("values", "cuts", "words"),
    [
        ([1, 2, 3], [2, 1], "ascending order"),
        ([1, 2, 3], [2, 2], "ascending order"),
        ([1, 2, 3], [], "ascending order"),
        (["a", "b"], [1], "values contain what is no number, such as 'a'"),
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
    with pytest.raises(ValueError, match="quantiles or a cut point at"):
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


@pytest.mark.parametrize(
    ("words", "asked"),
    [*((words, "age:3") for words in LINES), (LINES[0], "age:30,50")],
)
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


def test_quantiles_of_logs_are_refused(capsys, files):
    log = files[0] / "log.csv"
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


# ---- numbers that are not what they seem to be -----------------------------------------


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "str", "object"])
def test_numbers_at_a_cut_point_are_above_it_in_every_type(kind):
    texts = ["0.1", "0.3", "0.7", "0.9", "0.69"]
    cuts = [0.1, 0.3, 0.7, 0.9]
    values = np.array([float(text) for text in texts]).astype(kind)
    assert to_bands(values, cuts).tolist() == [named(float(t), cuts) for t in texts]


def test_quantiles_of_equal_numbers_are_refused(files):
    values = [20] * 70 + [19, *range(29, 58)]
    for n in (3, 4, 9):
        with pytest.raises(ValueError, match=f"different numbers, and {n} are not"):
            to_bands(values, n)
    assert np.unique(to_bands(values, [20, 40])).size == 3


AGES = np.arange(120) % 51 + 18


@pytest.mark.parametrize(
    "labels",
    [
        AGES.astype(str),
        np.where(AGES > 60, "60+", AGES.astype(str)),
        np.where(AGES < 25, None, AGES.astype(str)),
        [f"{age}.0" for age in AGES],
        np.array([*map(Decimal, AGES.tolist())]),
        AGES.astype("float32"),
    ],
    ids=["text", "open end", "unknown", "decimals", "Decimal", "float32"],
)
def test_texts_of_many_numbers_are_no_groups(labels):
    X, y = np.random.default_rng(0).normal(size=(240, 4)), np.repeat(AGES.cumsum(), 2)
    groups = np.repeat(np.asarray(labels), 2)
    score = np.arange(240.0)
    for call in (
        lambda: SimilarityROC().fit(X, y, groups),
        lambda: RateMonitor().update(score > 7, y, groups),
        lambda: bfar(score % 2, score, sensitive_features=groups),
    ):
        with pytest.raises(ValueError, match=r"has \d+ different numbers, .* as c21"):
            call()


def test_words_beside_ages_in_metadata_do_not_hide_them(capsys, files):
    folder, _, y, age = files
    rows = [
        f"{p},{a if a < 70 else '70+'}"
        for p, a in dict(zip(y, age, strict=False)).items()
    ]
    (folder / "open.csv").write_text("\n".join(["identity,age", *rows]))
    words = line(files, ("bare.npz", "--metadata", "open.csv", "--attribute"))
    code, _, err = run(capsys, "audit", *words, "age", *QUICK)
    assert code == 2 and "--attribute age has" in err and "different numbers" in err
    code, _, err = run(capsys, "audit", *words, "age:30,50", *QUICK)
    assert code == 2 and "contain what is no number, such as '70+'" in err


def test_codes_with_a_letter_are_groups(files):
    _, X, y, age = files
    codes = [f"c{a % 25}" for a in age]
    assert SimilarityROC(n_resamples=5).fit(X, y, codes).groups_.size == 25


# ---- one attribute, several files ------------------------------------------------------


def test_a_column_that_is_called_as_ranges_is_read_as_it_is(tmp_path):
    X, y, groups = synthetic()
    columns = {"cohort:4": groups, "cohort": y % 7, "age:18,30": groups, "age": y}
    np.savez(tmp_path / "faces.npz", embedding=X, identity=y, **columns)
    data = read_data(tmp_path / "faces.npz", ["cohort:4", "age:18,30", "cohort:2,4"])
    assert data.columns["cohort:4"].tolist() == groups.tolist()
    assert data.columns["age:18,30"].tolist() == groups.tolist()
    assert data.columns["cohort"].tolist() == [named(c, [2, 4]) for c in y % 7]


@pytest.mark.parametrize("suffixes", [("",), ("_1", "_2")])
def test_columns_of_lists_and_logs_that_are_called_as_ranges(tmp_path, suffixes):
    people = [f"p{k}" for k in range(60)]
    lists = [
        f"{p},{q},0.{k:02d},{k % 2},1"
        for k, (p, q) in enumerate(zip(people, people[::-1], strict=False))
    ]
    if len(suffixes) == 2:
        head = "identity_1,identity_2,score,c:4_1,c:4_2"
        (tmp_path / "table.csv").write_text("\n".join([head, *lists]))
        data = read_data(tmp_path / "table.csv", "c:4", non_mated_only=True)
        assert data.columns["c:4"][0].tolist() == [k % 2 for k in range(60)]
    else:
        head = "identity,other,time,c:4,accepted"
        (tmp_path / "table.csv").write_text("\n".join([head, *lists]))
        found = monitor_log(tmp_path / "table.csv", "c:4", limits={"max_fnmr": 0.5})
        assert found.state.rates.groups == (0, 1)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Files of two systems, the second without the oldest, whose quantiles differ."""
    folder = tmp_path_factory.mktemp("two")
    X, y, _ = synthetic()
    age, name = 20 + 10 * (y % 6), np.arange(y.size)
    noise = np.random.default_rng(0).normal(0, 0.3, X.shape)
    kept = age < 60
    parts = {"one": (X, slice(None)), "two": (X + noise, kept)}
    for label, (rows, some) in parts.items():
        columns = {"identity": y[some], "age": age[some], "image": name[some]}
        np.savez(folder / f"{label}.npz", embedding=rows[some], **columns)
    return folder / "one.npz", folder / "two.npz", age, kept


def test_systems_are_put_into_the_ranges_of_the_first(capsys, two):
    one, other, age, kept = two
    first = read_data(one, "age:2")
    (cut,) = first.reading.bands["age"]
    assert read_data(other, "age:2").reading.bands["age"] != [cut]
    words = [named(a, [cut]) for a in age[kept]]
    assert read_data(other, first.reading.bands).columns["age"].tolist() == words
    flags = ("--attribute", "age:2", "--image", "image", *QUICK)
    code, out, err = run(capsys, "compare", one, other, *flags)
    assert code == 0, err
    groups = {change["group"] for change in json.loads(out)["changes"]} - {None}
    assert groups == {f"under {cut:g}", f"{cut:g} and over"}


def test_a_gallery_is_put_into_the_ranges_of_the_probes(capsys, two):
    one, other, _age, _kept = two
    gallery = other.parent / "gallery.npz"
    arrays = dict(np.load(other))
    some = arrays["image"] % 3 == 0
    arrays = {n: a[some] for n, a in arrays.items()}
    np.savez(gallery, **arrays)
    (cut,) = read_data(one, "age:2").reading.bands["age"]
    flags = ("--template", "mean", "--attribute", "age:2", "--fpir", "0.1", *QUICK[2:])
    code, out, err = run(capsys, "identify", one, "--gallery", gallery, *flags)
    assert code == 0, err
    (level,) = json.loads(out)["audits"][0]["levels"]
    assert level["matrix"]["groups"] == [f"{cut:g} and over", f"under {cut:g}"]
    assert np.isfinite(level["matrix"]["fpir"]).all()


@pytest.mark.parametrize("asked", ["age:2", "age:40,55"])
def test_thresholds_from_other_data_are_by_the_same_ranges(two, asked):
    one, other, age, kept = two
    data = read_data(one, asked)
    there = read_data(other)
    labels = [named(a, data.reading.bands["age"]) for a in age[kept]]
    expected = EmbeddingData(there.X, there.y, {"age": labels})
    options = {"impostors": "same_group", "far": 0.1}
    thresholds = [
        audit_data(data, threshold_from=given, **options).audits[0].levels[0].threshold
        for given in (other, expected)
    ]
    assert thresholds[0] == thresholds[1]


def test_a_policy_of_ranges_is_of_these_ranges(two):
    policy = Policy("p", limits={"max_fmr": 0.5}, fmr=(0.1,), attributes=("age:30,50",))
    read = [read_data(two[0], asked) for asked in ("age:30,50", "age:40,55", "age")]
    options = {"policy": policy}
    assert audit_data(read[0], **options).exit_code == 0
    for data in read[1:]:
        with pytest.raises(ValueError, match="'age:30,50', and the data have other"):
            audit_data(data, **options)


def test_fit_accepts_codes_and_refuses_ages():
    """0 to K - 1 are codes; with a gap, or from 1, they may be ages."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = np.arange(300) // 2
    codes = y % 30
    roc = SimilarityROC(n_resamples=1).fit(X, y, codes)
    assert roc.groups_.tolist() == list(range(30))
    for numbers in (codes + 1, np.where(codes == 7, 40, codes)):
        with pytest.raises(ValueError, match="has 30 different numbers"):
            SimilarityROC(n_resamples=1).fit(X, y, numbers)


@pytest.mark.parametrize("cuts", [30.0, [[18, 30]], [], [30, 18], [18, np.nan]])
def test_cut_points_are_an_ascending_list(cuts):
    """One number that is no int could be a cut point or a number of ranges."""
    with pytest.raises(ValueError, match="need a list of cut points in ascending"):
        to_bands([15, 18, 42], cuts)


@pytest.mark.parametrize(
    "labels",
    [
        ["under 18", "18 to under 30", "30 to under 100", "100 and over"],
        ["0-9", "10-17", "18-30", "31-64", "65+"],
        ["<18", "18–30", "31 – 99", ">=100"],
        ["-5 to 0", "0.5 to 1.5", "2 and older"],
    ],
)
def test_ranges_ascend(labels):
    assert in_ascending_order(sorted(labels)) == labels


@pytest.mark.parametrize("labels", [["f", "m"], ["18-30", "old"], ["18-30", "18+"], []])
def test_labels_that_are_no_ranges_have_no_order(labels):
    assert in_ascending_order(labels) is None
