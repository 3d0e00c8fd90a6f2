"""An audit of pairs without people says so first, and counts no person."""

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from skfairfr import SimilarityROC
from skfairfr.report import PairData, audit_data, audit_pairs, read_data

RNG = np.random.default_rng(0)
N = 1200
Y_TRUE = (RNG.random(N) < 0.4).astype(int)
GROUPS = RNG.choice(["f", "m"], N)
AGES = RNG.choice(["old", "young"], (2, N))
SCORES = np.round(RNG.normal(size=N) + (3 - 0.9 * (GROUPS == "m")) * Y_TRUE, 4)
QUICK = {"far": 0.1}


def audited(sensitive_features=GROUPS, **options):
    options = QUICK | options
    return audit_pairs(SCORES, None, sensitive_features, y_true=Y_TRUE, **options)


def audited_alone(*labels, **options):
    return audited(*labels, **options).audits[0]


@pytest.fixture
def path(tmp_path):
    lines = ["score,genuine,gender,age_1,age_2"]
    for row in zip(SCORES, Y_TRUE, GROUPS, *AGES, strict=True):
        lines.append(",".join(map(str, row)))
    (tmp_path / "pairs.csv").write_text("\n".join(lines))
    return tmp_path / "pairs.csv"


def test_the_first_line_says_it():
    text = audited(attribute="gender").to_text("pairs.csv")
    assert text.splitlines()[0].endswith("by gender, pairs taken as independent")
    assert "as if no two shared a person" in " ".join(text.split())


def test_numbers_are_those_of_the_fit():
    found = audited_alone()
    options = {"resample": "identities", "method": "jackknife", "random_state": 0}
    roc = SimilarityROC(n_resamples=40, **options)
    roc.fit_pairs(SCORES, y_true=Y_TRUE, sensitive_features=GROUPS)
    at = found.levels[0].threshold
    for row in found.levels[0].rates:
        expected = roc.estimate(threshold=at, rate="frr", group=row.group)
        assert (row.frr.value, row.frr.low) == (expected.value, expected.low)
    inside = [np.ones(N, bool), GROUPS == "f", GROUPS == "m"]
    for row, chosen in zip(found.groups, inside, strict=True):
        assert (row.n_identities, row.n_images) == (None, None)
        assert row.n_genuine == Y_TRUE[chosen].sum()
        assert row.n_impostor == (1 - Y_TRUE[chosen]).sum()


def test_the_record_says_it():
    report = audited()
    (found,) = report.audits
    assert found.settings["independent_pairs"] is True
    assert found.notes[0].startswith("No person is known, and pairs were taken as")
    assert not any("images in more than one group" in note for note in found.notes)
    record = json.loads(report.to_json())["audits"][0]
    assert record["settings"]["independent_pairs"] is True
    assert record["groups"][1]["n_identities"] is None
    assert record["largest_genuine_share"] is None
    assert found.averaged is None
    # Pairs taken as independent are worth as many as they are, of people not known.
    assert record["levels"][0]["rates"][1]["fmr_effective"] is None


def test_nothing_is_said_of_people_in_errors():
    """Nobody is known: neither the text nor the record counts people in few errors."""
    report = audited(far=None, threshold=float(np.sort(SCORES)[-4]))
    (found,) = report.audits
    said = "".join(report.to_text().split("These numbers rest on")) + report.to_json()
    assert "errors, 30 needed" in said
    assert "errors from" not in said and "one person is in" not in said
    codes = {r.code for row in found.levels[0].rates for r in row.far.reasons}
    assert codes and not codes & {"few_people", "one_person"}


def test_named_people_are_said_to_be_nothing_else():
    people = RNG.integers(0, 60, (2, N))
    report = audit_pairs(SCORES, tuple(people), GROUPS, **QUICK)
    (found,) = report.audits
    assert "independent_pairs" not in found.settings
    assert found.groups[0].n_identities == np.unique(people).size
    assert "as independent" not in report.to_text()


def test_several_attributes_count_pairs():
    report = audited({"gender": GROUPS, "age": tuple(AGES)})
    assert [audit.attribute for audit in report.audits] == [
        "gender",
        "age",
        "gender & age",
    ]
    text = report.to_text()
    assert "Number of pairs by gender, age" in text
    assert "Number of people" not in text
    alike = AGES[0] == AGES[1]
    rows = {row.group: row for row in report.audits[1].groups}
    assert rows["old"].n_impostor == (alike & (AGES[0] == "old") & (Y_TRUE == 0)).sum()
    cells = {cell.groups: cell.n_identities for cell in report.crossings[0].cells}
    with_old = (AGES == "old").any(axis=0)
    assert cells["f", "old"] == (with_old & (GROUPS == "f")).sum()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_one_column_may_be_a_series_with_a_name(library):
    library = pytest.importorskip(library)
    series = library.Series(GROUPS.tolist(), name="gender") if library.__name__ == (
        "pandas"
    ) else library.Series("gender", GROUPS.tolist())  # fmt: skip
    for labels in (series, series.to_frame()):
        found = audited_alone(labels)
        assert found.attribute == "gender"
        assert repr(found.levels) == repr(audited_alone().levels)


def test_without_a_genuine_pair_there_is_no_frr():
    stated = {"y_true": np.zeros(N), "non_mated_only": True}
    report = audit_pairs(SCORES, None, GROUPS, **stated, **QUICK)
    notes = report.audits[0].notes
    assert any("No pair is genuine, so no" in note for note in notes)


def test_pairs_of_unknown_group_are_counted():
    groups = np.where(np.arange(N) < 7, None, GROUPS)
    found = audited(groups)
    assert found.audits[0].n_unknown == 7
    assert "Unknown group: 7 " in found.to_text()


def test_a_file_gives_the_same_as_arrays(path):
    data = read_data(path, ("gender", "age"))
    report = audit_data(data, **QUICK)
    expected = audited({"gender": GROUPS, "age": tuple(AGES)})
    for one, other in zip(report.audits, expected.audits, strict=True):
        assert repr(one.levels) == repr(other.levels)


def test_thresholds_may_be_set_on_other_pairs(path):
    data = PairData(SCORES, None, {"gender": (GROUPS, GROUPS)}, y_true=Y_TRUE)
    found = audit_data(data, threshold_from=data, **QUICK).audits[0]
    assert found.levels[0].threshold == audited_alone().levels[0].threshold
    read = audit_data(read_data(path, "gender"), threshold_from=path, **QUICK)
    assert read.audits[0].levels[0].threshold == found.levels[0].threshold


# ---- the command ---------------------------------------------------------------------


def test_rates_of_independent_pairs_have_the_exact_binomial_interval():
    """Independent pairs are worth as many as they are: the ends agree to a few percent."""
    row = audited_alone().levels[0].rates[1]
    inside = (Y_TRUE == 0) & (row.group == GROUPS)
    n = int(inside.sum())
    expected = binomtest(round(row.far.value * n), n).proportion_ci(method="exact")
    at = audited_alone().levels[0].threshold
    threshold_given = audited_alone(far=None, threshold=at)
    found = threshold_given.levels[0].rates[1].far
    assert found.low == pytest.approx(expected.low, rel=6e-2)
    assert found.high == pytest.approx(expected.high, rel=6e-2)
