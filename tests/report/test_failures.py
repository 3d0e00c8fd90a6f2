"""Failures to acquire and to enrol are counted by group, and change no other rate."""

import csv
import json

import numpy as np
import pytest

from skfairfr.report import Report, audit_data, read_data
from skfairfr.report._data import MADE, WORDS, outcomes
from skfairfr.utils import ArgumentError
from tests.report.audits import synthetic
from tests.report.json_schema import is_valid

QUICK = {"far": 0.05, "n_resamples": 40}


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
        MADE if v is None or v != v else WORDS[str(v).strip().casefold()]
        for v in (values.tolist() if isinstance(values, np.ndarray) else values)
    ]
    column = np.asarray(values, dtype=object) if None in values else np.asarray(values)
    assert outcomes(column, "fte").tolist() == expected


def test_the_first_attempt_that_says_nothing_is_named():
    rows = np.array(["fte", "lost", "", "ab", "lost"])
    with pytest.raises(
        ArgumentError, match="fte 'x' holds 'lost' in row 1, which says"
    ):
        outcomes(rows, "x")
    with pytest.raises(ArgumentError, match="holds 'nan' in row 0"):
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
    for with_failures, without in zip(
        report.audits[0].levels[0].rates, alone.levels[0].rates, strict=True
    ):
        for rate in ("far", "frr"):
            values = getattr(with_failures, rate), getattr(without, rate)
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


def test_without_failures_there_are_no_rows(files):
    folder, _ = files
    report = audit_data(read_data(folder / "made.npz", "gender"), **QUICK)
    (found,) = report.audits
    assert found.failures == () and found.levels[0].generalised == ()
    assert "GFRR" not in report.to_html().split("Glossary</h2>")[0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["maybe", *[""] * 5], "holds 'maybe' in row 0"),
        ([1] * 6, "no row has a template"),
    ],
)
def test_columns_that_say_nothing_are_refused(tmp_path, values, words):
    path = tmp_path / "faces.npz"
    y = [0, 0, 1, 1, 2, 2]
    np.savez(path, embedding=np.eye(6), identity=y, gender=list("aabbab"), fte=values)
    with pytest.raises(ArgumentError, match=words):
        read_data(path, "gender", fte="fte")


def test_scored_pairs_have_no_attempts(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("score,identity_1,identity_2,gender,fte\n0.5,a,b,f,0\n")
    with pytest.raises(ArgumentError, match="fte is no option of scored pairs"):
        read_data(path, "gender", fte="fte")
