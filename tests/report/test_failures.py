"""Failures to acquire and to enrol are counted by group, and change no other rate."""

import csv
import json
import re

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr.cli import main
from skfairfr.comparators import CohortNormalizer
from skfairfr.datasets import load_pairs
from skfairfr.report import Report, audit, audit_data, audit_pairs, read_data
from skfairfr.report._data import PairData
from skfairfr.report._decisions import MADE, WORDS, outcomes, with_failures
from skfairfr.report._reading import placeholders
from skfairfr.utils import ArgumentError
from tests.report.audits import synthetic
from tests.report.json_schema import is_valid

QUICK = {"far": 0.05}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same faces, with and without attempts that failed, and what became of those."""
    folder = tmp_path_factory.mktemp("fte")
    X, y, groups = synthetic()
    np.savez(folder / "made.npz", embedding=X, identity=y, gender=groups)
    rng = np.random.default_rng(0)
    outcome = rng.choice(["", "fta", "fte"], size=3 * len(y) // 2, p=[0, 0.3, 0.7])
    who = rng.integers(len(y), size=outcome.size)
    lost = np.full((outcome.size, X.shape[1]), np.nan)
    rows = [("", *pair) for pair in zip(y, groups, strict=True)]
    rows += list(zip(outcome, y[who], groups[who], strict=True))
    rows.append(("fte", "nobody", "unseen"))
    order = rng.permutation(len(rows))
    vectors = np.concatenate([X, lost, lost[:1]])[order].astype(np.float32)
    np.save(folder / "all.npy", vectors)
    with open(folder / "all.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["outcome", "identity", "gender"])
        writer.writerows(rows[place] for place in order)
    return folder, rows


@pytest.mark.parametrize(
    "values",
    [
        ["", None, "fta", " FTE ", "1", np.nan, "Enroll", "ok"],
        [0, 1, 1, 0],
        [0.0, np.nan, 1.0],
        [True, False],
        np.array(["no", "acquire", ""]),
        np.array([None, 0, "fte", 1.0, True], dtype=object),
        np.array([], dtype=float),
    ],
)
def test_every_attempt_is_read_as_a_loop_reads_it(values):
    expected = [
        MADE
        if v is None or v != v
        else WORDS[str(v).strip().casefold().removesuffix(".0")]
        for v in (values.tolist() if isinstance(values, np.ndarray) else values)
    ]
    column = np.asarray(values, dtype=object) if None in values else np.asarray(values)
    assert outcomes(column, "fte").tolist() == expected


def test_the_first_attempt_that_says_nothing_is_named():
    rows = np.array(["fte", "lost", "", "ab", "lost"])
    with pytest.raises(
        ArgumentError, match=r"^fte 'x' contains .*'lost' .*data row 2.*write fte"
    ):
        outcomes(rows, "x")
    with pytest.raises(ArgumentError, match=r"contains 'nan' .*data row 1"):
        outcomes(np.array(["nan"]), "x")


@pytest.fixture(scope="module")
def report(files):
    folder, _ = files
    data = read_data(folder / "all.npy", "gender", fte="outcome")
    return audit_data(data, **QUICK)


def test_counts_are_those_of_a_loop(files, report):
    expected = {}
    for outcome, _, group in files[1]:
        for scope in (None, group):
            found = expected.setdefault(scope, {"": 0, "fta": 0, "fte": 0})
            found[outcome] += 1
    for row in report.audits[0].failures:
        own = expected[row.group]
        assert row.n_attempts == sum(own.values())
        assert row.n_failed_to_acquire == own["fta"]
        assert row.n_failed_to_enrol == own["fte"]
        assert row.fta == own["fta"] / row.n_attempts
        assert row.fte == own["fte"] / (row.n_attempts - own["fta"])
    groups = [row.group for row in report.audits[0].failures]
    assert groups == [None, "female", "male", "unseen"]


def test_rates_are_those_of_the_others(files, report):
    folder, _ = files
    alone = audit_data(read_data(folder / "made.npz", "gender"), **QUICK).audits[0]
    for failing, without in zip(
        report.audits[0].levels[0].rates, alone.levels[0].rates, strict=True
    ):
        for rate in ("far", "frr"):
            values = getattr(failing, rate), getattr(without, rate)
            assert values[0].value == pytest.approx(values[1].value)


def test_generalised_rates_follow_their_formulas(report):
    """By what happens to 1,000 people who try: not acquired, not enrolled, then compared."""
    (level,) = report.audits[0].levels
    failures = {row.group: row for row in report.audits[0].failures}
    assert [row.group for row in level.generalised] == list(failures)
    generalised = {row.group: row for row in level.generalised}
    for rates in level.rates:
        row, own = generalised[rates.group], failures[rates.group]
        acquired = 1000 * (1 - own.fta)
        enrolled = acquired * (1 - own.fte)
        recognised = enrolled * (1 - rates.frr.value)
        assert row.gfrr == pytest.approx(1 - recognised / 1000)
        assert row.gfar == pytest.approx(rates.far.value * enrolled / 1000)


@pytest.mark.parametrize("outcome", ["fta", "fte"])
def test_a_group_without_a_template_is_rejected_whole(tmp_path, outcome):
    X, y, groups = synthetic()
    groups = groups.astype("U8")
    groups[:12] = "unseen"
    lost = np.where(groups == "unseen", outcome, "")
    path = tmp_path / "faces.npz"
    np.savez(path, embedding=X, identity=y, gender=groups, outcome=lost)
    found = audit_data(read_data(path, "gender", fte="outcome"), **QUICK)
    (audit,) = found.audits
    own = {row.group: row for row in audit.levels[0].generalised}["unseen"]
    assert (own.gfar, own.gfrr) == (0, 1)
    assert any("None of the 12 attempts of 'unseen'" in note for note in audit.notes)
    assert "None of the 12 attempts of" in found.to_html()
    assert is_valid(json.loads(found.to_json()), Report.schema())

    # Where one group is left, the message names the other.
    lost = np.where(groups == "female", lost, outcome)
    np.savez(path, embedding=X, identity=y, gender=groups, outcome=lost)
    message = "one group, 'female'.*None of the 12 attempts of 'unseen'"
    with pytest.raises(ValueError, match=message):
        audit_data(read_data(path, "gender", fte="outcome"), **QUICK)


def test_they_are_on_the_page_in_the_text_and_in_the_json(report):
    assert "Failures to acquire and to enrol" in report.to_text()
    html = report.to_html()
    assert "GFRR" in html and "unseen" in html
    assert is_valid(json.loads(report.to_json()), Report.schema())
    digests = report.audits[0].settings["sha256"]
    assert sorted(digests) == ["all.csv", "all.npy"]


def test_first_screen_counts_failures(files, report):
    outcome = [row[0] for row in files[1]]
    lost = sum(one != "" for one in outcome)
    shown = " ".join(report.to_text(full=False).split())
    assert (
        f"{lost} of {len(outcome)} attempts gave no template or score and are left out"
        in shown
    )
    assert "The largest share is that of unseen: 100 % (1 of 1)." in shown
    made = audit_data(read_data(files[0] / "made.npz", "gender"), **QUICK)
    assert "gave no template" not in made.to_text(full=False)


def test_table_of_failures_has_ranges_in_ascending_order(tmp_path):
    ages = [("under 30", 20), ("30 to under 65", 40), ("65 and over", 70)]
    rows = [f"p{k},{ages[k % 3][1]},{['yes', 'no', ''][k % 7 % 3]}" for k in range(210)]
    (tmp_path / "log.csv").write_text("\n".join(["person,age,accepted", *rows]))
    data = read_data(
        tmp_path / "log.csv", "age:30,65", accepted="accepted", failures="report"
    )
    (table,) = re.findall(
        r"FTA\nEveryone.*\n(.*)\n(.*)\n(.*)", audit_data(data).to_text()
    )
    for row, (label, _) in zip(table, ages, strict=True):
        assert row.startswith(label)


def test_without_failures_there_are_no_rows(files):
    folder, _ = files
    report = audit_data(read_data(folder / "made.npz", "gender"), **QUICK)
    (found,) = report.audits
    assert found.failures == () and found.levels[0].generalised == ()
    assert "GFRR" not in report.to_html().split("Glossary</h2>")[0]


def test_attempts_without_any_template_are_refused(tmp_path):
    path, y = tmp_path / "faces.npz", [0, 0, 1, 1, 2, 2]
    np.savez(path, embedding=np.eye(6), identity=y, gender=list("aabbab"), fte=[1] * 6)
    with pytest.raises(ArgumentError, match="marks every row as an attempt without a"):
        read_data(path, "gender", fte="fte")


def test_scored_pairs_have_no_attempts(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("score,identity_1,identity_2,gender,fte\n0.5,a,b,f,0\n")
    with pytest.raises(ArgumentError, match="fte is no option of scored pairs"):
        read_data(path, "gender", fte="fte")


# ---- failures that are not marked ------------------------------------------------------


def pairs_of(X, y, groups):
    """All pairs of images: scores, people and groups of both."""
    left, right = np.triu_indices(len(y), 1)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.einsum("ij,ij->i", unit[left], unit[right]), left, right


def rates_by_a_loop(score, left, right, y, groups, failed, threshold, dropped):
    """Errors and numbers of pairs by (rate, group), every pair in turn."""
    found = {}
    for s, a, b, lost in zip(score, left, right, failed, strict=True):
        if lost and dropped:
            continue
        rate = "frr" if y[a] == y[b] else "far"
        accepted = not lost and s >= threshold
        wrong = accepted != (rate == "frr")
        for group in {None, groups[a] if groups[a] == groups[b] else None}:
            errors, n = found.get((rate, group), (0, 0))
            found[rate, group] = errors + wrong, n + 1
    return found


@pytest.mark.parametrize(
    ("listed", "failures", "similarity"),
    [
        *((True, "reject", "cosine"), (True, "report", "cosine")),
        *((False, "reject", "dot"), (False, "report", "cosine")),
    ],
)
def test_missing_scores_and_embeddings_by_a_loop(listed, failures, similarity):
    X, y, groups = synthetic(30)
    X = X.astype(np.float64) * (1 if similarity == "cosine" else 3)
    bad = np.random.default_rng(0).random(len(y)) < np.where(
        groups == "female", 0.2, 0.05
    )
    score, left, right = pairs_of(X, y, groups)
    if similarity == "dot":
        score = np.einsum("ij,ij->i", X[left], X[right])
    failed, threshold = (
        bad[left] | bad[right],
        float(np.quantile(score[y[left] == y[right]], 0.2)),
    )
    options = {"threshold": threshold, "failures": failures}
    if listed:
        ends = (y[left], y[right]), (groups[left], groups[right])
        found = audit_pairs(np.where(failed, np.nan, score), *ends, **options)
    else:
        missing = np.where(bad[:, None], np.nan, X)
        found = audit(missing, y, groups, similarity=similarity, **options)
    of_loop = rates_by_a_loop(
        score, left, right, y, groups, failed, threshold, failures == "report"
    )
    genuine = y[left] == y[right]
    audited = found.audits[0]
    for row in audited.levels[0].rates:
        for rate in ("far", "frr"):
            errors, n = of_loop[rate, row.group]
            assert getattr(row, rate).value == pytest.approx(errors / n)
            assert getattr(row, f"{rate}_errors") == errors
        inside = genuine & ((row.group is None) | (groups[left] == row.group))
        lost = None if failures == "report" else (failed & inside).sum()
        assert row.frr_failures == lost
    attempts = audited.failures[0]
    assert attempts.n_failed_to_acquire == (
        failed[genuine].sum() if listed else bad.sum()
    )
    text = found.to_text().split("\nGlossary\n")[0]
    assert bool(re.search(r"\bFRR\b", text)) == (failures == "reject")
    assert ("Where each group is lost" in text) == (failures == "reject")
    assert is_valid(json.loads(found.to_json()), Report.schema())


def test_the_three_ways_are_named():
    X, y, groups = synthetic(10)
    X = X.copy()
    X[3] = 0
    named = "reject counts .* report leaves .* error stops"
    with pytest.raises(
        ValueError, match=rf"^X is zero, or .* 1 of 43 .* row 3; .*{named}"
    ):
        audit(X, y, groups)
    with pytest.raises(ValueError, match=rf"^X is zero, or .*{named}"):
        audit(X, y, groups, failures="error")
    with pytest.raises(ValueError, match=r"^failures must be one of"):
        audit(X, y, groups, failures="drop")
    comparator = CohortNormalizer().fit(synthetic(10)[0], synthetic(10)[1])
    with pytest.raises(
        ValueError, match=r"^failures rejects images .* not by a comparator"
    ):
        audit(X, y, groups, similarity=comparator, failures="reject")


def test_rejected_failures_stay_rejected_whatever_the_threshold():
    X, y, groups = synthetic(20)
    score, left, right = pairs_of(X, y, groups)
    score[::7] = np.nan
    ends = (y[left], y[right]), (groups[left], groups[right])
    found = audit_pairs(score, *ends, threshold=-5.0, failures="reject")
    row = found.audits[0].levels[0].rates[0]
    assert (
        row.frr_errors == np.isnan(score[y[left] == y[right]]).sum() == row.frr_failures
    )
    bad = np.arange(len(y)) % 7 == 0
    lost = (bad[left] | bad[right]) & (y[left] == y[right])
    X = np.where(bad[:, None], np.nan, X)
    for threshold in (-0.99, -5.0):
        found = audit(X, y, groups, threshold=threshold, failures="reject")
        assert found.audits[0].levels[0].rates[0].frr_errors == lost.sum()


def test_rejected_failures_are_below_all_scores_of_a_coarse_type():
    X, y, groups = synthetic(20)
    score, left, right = pairs_of(X, y, groups)
    score = (1500 + np.rint(2 * score)).astype(np.float16)  # steps of 1 there
    lowest = float(score.min())
    score[::7] = np.nan
    ends = (y[left], y[right]), (groups[left], groups[right])
    options = {"threshold": lowest, "failures": "reject"}
    row = audit_pairs(score, *ends, **options).audits[0].levels[0].rates[0]
    assert row.frr_errors == np.isnan(score[y[left] == y[right]]).sum()


def test_files_with_missing_scores(tmp_path, capsys):
    X, y, groups = synthetic(20)
    score, left, right = pairs_of(X, y, groups)
    lines = [
        f"{'' if n % 9 == 0 else s},{y[a]},{y[b]},{groups[a]},{groups[b]}"
        for n, (s, a, b) in enumerate(zip(score, left, right, strict=True))
    ]
    path = tmp_path / "pairs.csv"
    path.write_text(
        "score,identity_1,identity_2,gender_1,gender_2\n" + "\n".join(lines)
    )
    given = [
        "audit",
        str(path),
        "--attribute",
        "gender",
        "--quiet",
    ]
    assert main(given) == 2
    said = capsys.readouterr().err
    assert "--score is missing" in said and "first in data row 1;" in said
    assert "--failures" in said
    assert main([*given, "--failures", "reject", "--full"]) == 0
    assert "Where each group is lost" in capsys.readouterr().out
    # Other commands have no such choice.
    assert main(["compare", str(path), str(path), "--attribute", "gender"]) == 2
    assert "--score is missing" in capsys.readouterr().err


def test_a_group_without_mated_pairs_has_rates_but_no_failures():
    X, y, groups = synthetic(20)
    groups = groups.astype("U8")
    groups[y == y[0]] = "lone"
    groups[y == y[-1]] = "lone"
    score, left, right = pairs_of(X, y, groups)
    kept = (y[left] != y[right]) | (groups[left] != "lone")
    score, left, right = score[kept], left[kept], right[kept]
    genuine = y[left] == y[right]
    lost = [*np.flatnonzero(genuine)[:3], *np.flatnonzero(~genuine)[:5]]
    missing = np.isin(np.arange(score.size), lost)
    found = audit_pairs(
        np.where(missing, np.nan, score),
        (y[left], y[right]),
        (groups[left], groups[right]),
        failures="report",
        **QUICK,
    )
    text = found.to_text()
    row = re.search("^lone .*", text, re.M)[0]
    assert re.search(r"-\s+-$", row)
    assert is_valid(json.loads(found.to_json()), Report.schema())
    # The table is of mated pairs, and the others that failed are told beside it.
    assert found.audits[0].failures[0].n_attempts == genuine.sum()
    told = f"Non-mated comparisons without a score: 5 of {(~genuine).sum():,}."
    assert told in " ".join(text.split())


def people_and_scores():
    """Identities, groups and similarities of pairs; every 40th pair failed."""
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 30, (2, 1500))
    second[:300] = first[:300]
    score = (rng.normal(size=1500) + 3 * (first == second)).round(1)
    return (
        first,
        second,
        np.where(first % 2, "f", "m"),
        score,
        np.arange(1500) % 40 == 0,
    )


def rates_at(found):
    level = found.audits[0].levels[0]
    return [(r.group, r.far.value, r.frr.value) for r in level.rates]


@pytest.mark.parametrize(
    ("cell", "distance", "failures"),
    [
        *(("", False, "report"), ("nan", False, "reject"), ("-inf", False, "reject")),
        *(("", True, "reject"), ("inf", True, "report")),
    ],
)
def test_all_spellings_of_a_missing_score_are_one(tmp_path, cell, distance, failures):
    first, second, group, score, failed = people_and_scores()
    other = np.where(second % 2, "f", "m")
    path = tmp_path / "pairs.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["score", "identity_1", "identity_2", "sex_1", "sex_2"])
        shown = [
            cell if f else s
            for s, f in zip(-score if distance else score, failed, strict=True)
        ]
        writer.writerows(zip(shown, first, second, group, other, strict=True))
    data = read_data(path, "sex", distance=distance, failures=failures)
    found = audit_data(data, threshold=-1.5 if distance else 1.5)
    for group_, far, frr in rates_at(found):
        inside = (group == other) & (group == group_) if group_ else np.full(1500, True)
        counted = inside & ~failed if failures == "report" else inside
        accepted = (score >= 1.5) & ~failed
        genuine = first == second
        assert far == pytest.approx(accepted[counted & ~genuine].mean())
        assert frr == pytest.approx((~accepted)[counted & genuine].mean())
    # Equal pairs without a score are no repeats of each other.
    assert not any("earlier pair" in note for note in found.audits[0].notes)
    for missing in (np.nan, -np.inf):
        scores = np.where(failed, missing, score)
        same = audit_pairs(
            *(scores, (first, second), {"sex": (group, other)}),
            **{"failures": failures, "threshold": 1.5},
        )
        assert rates_at(same) == rates_at(found)


def test_failures_are_no_repeats_and_equal_scores_are():
    first, second, group, score, failed = people_and_scores()
    score = np.arange(score.size) + 0.5
    score[[1, 2]] = 7.25
    first[[1, 2]], second[[1, 2]] = 3, 3
    first[failed], second[failed] = 5, 5
    data = audit_pairs_data(first, second, group, np.where(failed, np.nan, score))
    assert np.flatnonzero(data.repeats()[0]).tolist() == [2]


def audit_pairs_data(first, second, group, score):
    known, failed = placeholders(
        PairData(score, (first, second), {"sex": (group, group)})
    )
    return with_failures(known, failed, "reject", ("y_score", "is missing"))


@pytest.mark.parametrize("missing", [0.0, -np.inf])
def test_all_spellings_of_a_missing_embedding_are_one(tmp_path, missing):
    X, y, groups = synthetic()
    found = []
    for value in (np.nan, missing):
        lost = X.astype(np.float32)
        lost[::9] = value
        for path in (tmp_path / "faces.npz", None):
            options = {"failures": "reject"}
            if path is None:
                found.append(
                    audit(lost, y, groups, attribute="sex", **options, **QUICK)
                )
            else:
                np.savez(path, embedding=lost, identity=y, sex=groups)
                found.append(audit_data(read_data(path, "sex", **options), **QUICK))
    assert len({repr(rates_at(one)) for one in found}) == 1
    with pytest.raises(ValueError, match="--failures"):
        read_data(tmp_path / "faces.npz", "sex")


def test_the_advice_about_a_failure_is_one(tmp_path):
    first, second, _, score, failed = people_and_scores()
    score = np.where(failed, np.nan, score)
    with pytest.raises(
        ValueError, match=r"how an audit counts failures .*--failures"
    ) as error:
        SimilarityROC().fit_pairs(score, first, second)
    path = tmp_path / "pairs.csv"
    rows = zip(score, first, second, strict=True)
    path.write_text(
        "score,identity_1,identity_2\n" + "\n".join(",".join(map(str, r)) for r in rows)
    )
    with pytest.raises(ValueError) as other:
        load_pairs(path)
    assert error.value.remedy == other.value.remedy
    for winning in (score.copy(), -score):
        winning[0] = np.inf
        with pytest.raises(ValueError, match=r"give the score that your system"):
            SimilarityROC().fit_pairs(winning, first, second)


# How a file says that a comparison has no score, or that a similarity (or a distance) is lost.
MISSING = ["", "nan", "NA", "None"]
LOST = {False: ["-inf", "-Infinity", "-1e999"], True: ["inf", "+inf", "1e999"]}
SCORES = ["0.9", "0.1", None, "0.2", "0.8", "0.3"]
LEFT, RIGHT = [1, 1, 1, 2, 3, 3], [1, 2, 1, 3, 3, 1]


def write_scores(folder, form, word):
    """A file whose third pair has this score, and the options that read it."""
    scores = [word if score is None else score for score in SCORES]
    people = list(zip(LEFT, RIGHT, strict=True))
    if form in ("csv", "tsv"):
        rows = [("identity_1", "identity_2", "score")]
        rows += [(*both, s) for both, s in zip(people, scores, strict=True)]
        between = "," if form == "csv" else "\t"
        path = folder / f"pairs.{form}"
        path.write_text("\n".join(between.join(map(str, row)) for row in rows))
        return path, {}
    rows = [(*both, f"i{k}", scores[k]) for k, both in enumerate(people)]
    if form == "list":
        rows = [(f"a{k}", f"b{k}", scores[k]) for k in range(6)]
        images = "\n".join(f"{a},a{k}\n{b},b{k}" for k, (a, b) in enumerate(people))
        (folder / "images.csv").write_text(f"identity,image\n{images}")
    (folder / form).write_text("\n".join(" ".join(map(str, row)) for row in rows))
    if form == "bob":
        return folder / form, {}
    return folder / "images.csv", {"trials": folder / form}


@pytest.mark.parametrize("distance", [False, True])
@pytest.mark.parametrize("form", ["csv", "tsv", "bob", "list"])
def test_a_text_file_without_a_score_has_a_failure(tmp_path, form, distance):
    for word in [*MISSING, *LOST[distance]]:
        if word or form in ("csv", "tsv"):
            path, options = write_scores(tmp_path, form, word)
            found = read_data(path, distance=distance, failures="reject", **options)
            assert found.failed.tolist() == [False, False, True, *[False] * 3], word
            with pytest.raises(ArgumentError, match=r"is missing or inf.*--failures"):
                read_data(path, distance=distance, **options)
    for word in LOST[not distance]:
        path, options = write_scores(tmp_path, form, word)
        with pytest.raises(ArgumentError, match=r"infinite, above .* data row 3"):
            read_data(path, distance=distance, failures="reject", **options)


@pytest.mark.parametrize(
    ("dtype", "distance"), [("f2", True), ("f4", False), ("f8", True)]
)
def test_an_array_without_a_score_has_a_failure_and_keeps_its_type(
    tmp_path, dtype, distance
):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "images.csv").write_text("identity\n1\n1\n2")
    lost = np.inf if distance else -np.inf
    for bad in (np.nan, None, lost, -lost):
        scores = np.array([0.7, np.nan if bad is None else bad, 0.2], dtype=dtype)
        column = pa.array(scores, mask=np.array([False, bad is None, False]))
        table = pa.table({"identity_1": [1, 1, 1], "identity_2": [1, 2, 2]})
        parquet.write_table(table.append_column("score", column), tmp_path / "p")
        matrix = np.eye(3, dtype=dtype)
        matrix[np.triu_indices(3, 1)] = matrix.T[np.triu_indices(3, 1)] = scores
        np.save(tmp_path / "m.npy", matrix)
        np.savez(tmp_path / "m.npz", score=matrix)
        for name in ("p", "m.npy", "m.npz"):
            options = {} if name == "p" else {"probes": tmp_path / "images.csv"}
            options |= {"distance": distance, "failures": "reject"}
            if bad == -lost:
                with pytest.raises(ArgumentError, match="above every threshold"):
                    read_data(tmp_path / name, **options)
                continue
            found = read_data(tmp_path / name, **options)
            assert found.failed.tolist() == [False, True, False]
            assert found.y_score.dtype == dtype


@pytest.mark.parametrize("bad", [np.nan, -np.inf, None])
def test_in_python_a_lost_comparison_is_a_missing_one(bad):
    X, y, groups = synthetic(20)
    score, left, right = pairs_of(X, y, groups)
    ends = (y[left], y[right]), (groups[left], groups[right])
    given = score.tolist()
    given[::9] = [bad] * len(given[::9])
    options = {"threshold": 0.3, "failures": "reject"}
    (audited,) = audit_pairs(given, *ends, **options).audits
    genuine = y[left] == y[right]
    rejected = (score < 0.3) | (np.arange(score.size) % 9 == 0)
    row = audited.levels[0].rates[0]
    assert row.frr_errors == (rejected & genuine).sum()
    assert row.far_errors == (~rejected & ~genuine).sum()
    with pytest.raises(ArgumentError, match=r"^y_score is missing .*--failures"):
        audit_pairs(given, *ends, threshold=0.3)
    given[0] = np.inf
    with pytest.raises(ArgumentError, match=r"^y_score must be finite, but pair 0"):
        audit_pairs(given, *ends, **options)


def test_zeros_of_a_dot_product_have_a_score():
    X, y, groups = synthetic(20)
    X = X.copy()
    X[3] = 0.0
    found = audit(X, y, groups, similarity="dot", threshold=0.3)
    assert found.audits[0].failures == ()
    with pytest.raises(ArgumentError, match="X is zero, or"):
        audit(X, y, groups, threshold=0.3)
