"""Several attributes are audited each and in combination, from every entry alike."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from skfairfr._text._document import Table
from skfairfr._text._words import ratio, ratios
from skfairfr.metrics import SimilarityROC
from skfairfr.report import (
    DecisionData,
    EmbeddingData,
    PairData,
    Report,
    audit,
    audit_data,
    audit_decisions,
    audit_pairs,
    compare_decisions,
    read_data,
)
from skfairfr.report._decisions import decisions
from skfairfr.report._notes import IN_FOLDED
from skfairfr.report.sections._audit_document import audit_document
from skfairfr.utils import ArgumentError
from tests.refusals import refusal
from tests.report.audits import scored_pairs, small_report, synthetic

QUICK = {"far": 0.05}


@pytest.fixture(scope="module")
def data():
    X, y, groups = synthetic()
    columns = {
        "gender": groups,
        "age": np.where(y % 2, "old", "young"),
        "place": np.where(y % 3, "north", "south"),
    }
    return EmbeddingData(X, y, columns)


def of(data, *names):
    """The same data with some of the attributes."""
    columns = {name: data.columns[name] for name in names}
    return EmbeddingData(data.X, data.y, columns)


def test_each_attribute_and_all_combinations(data):
    report = audit_data(data)
    names = [found.attribute for found in report.audits]
    assert names[:4] == ["gender", "age", "place", "gender & age"]
    assert names[4:] == ["gender & place", "age & place", "gender & age & place"]
    assert [len(c.attributes) for c in report.crossings] == [2, 2, 2, 3]
    groups = [row.group for row in report.audits[3].groups]
    assert groups == [None, *(f"{g} & {a}" for g, a in sorted(set(_cells(data))))]


def _cells(data):
    columns = data.columns["gender"].tolist(), data.columns["age"].tolist()
    return zip(*columns, strict=True)


def test_one_attribute_is_the_audit_alone(data):
    report = audit_data(of(data, "gender"))
    alone = small_report(far=None)
    assert report.to_json() == alone.to_json()
    assert report.crossings == report.checks == ()


@pytest.fixture(scope="module")
def of_two(data):
    """What is expected of two attributes."""
    return audit_data(of(data, "gender", "age"), **QUICK).to_json()


@pytest.mark.parametrize("library", [None, "pandas", "polars"])
def test_a_dict_or_a_frame_gives_a_report(data, of_two, library):
    columns = of(data, "gender", "age").columns
    groups = columns
    if library is not None:
        groups = pytest.importorskip(library).DataFrame(columns)
    report = audit(data.X, data.y, groups, **QUICK)
    assert isinstance(report, Report)
    assert report.to_json() == of_two


def test_names_that_are_no_text_become_one(data):
    report = audit(data.X, data.y, {1: data.columns["gender"]}, **QUICK)
    assert report.audits[0].attribute == "1"


@pytest.fixture(scope="module")
def pairs():
    """Scores, identities, columns and names of all pairs of a small set."""
    X, y, groups = synthetic(20)
    left, right = np.triu_indices(len(y), 1)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    columns = {"gender": groups, "age": np.where(y % 2, "old", "young")}
    columns = {name: (c[left], c[right]) for name, c in columns.items()}
    return (unit @ unit.T)[left, right], (y[left], y[right]), columns, (left, right)


@pytest.fixture(scope="module")
def of_pairs(pairs):
    """What is expected of two attributes of scored pairs."""
    scores, people, columns, images = pairs
    return audit_data(PairData(scores, people, columns, images), **QUICK).to_json()


@pytest.mark.slow
@pytest.mark.parametrize("library", [None, "pandas"])
def test_scored_pairs_have_several_attributes_too(pairs, of_pairs, library):
    scores, people, columns, images = pairs
    groups = columns
    if library is not None:
        DataFrame = pytest.importorskip(library).DataFrame
        sides = ({name: c[side] for name, c in columns.items()} for side in (0, 1))
        groups = tuple(map(DataFrame, sides))
    report = audit_pairs(scores, people, groups, images=images, **QUICK)
    names = [found.attribute for found in report.audits]
    assert names == ["gender", "age", "gender & age"]
    assert report.to_json() == of_pairs


def test_frames_of_two_images_have_the_same_columns(pairs):
    DataFrame = pytest.importorskip("pandas").DataFrame
    scores, people, columns, _ = pairs
    first = DataFrame({name: c[0] for name, c in columns.items()})
    second = DataFrame({name: c[1] for name, c in reversed(columns.items())})
    with pytest.raises(ArgumentError, match="the same columns") as caught:
        audit_pairs(scores, people, (first, second))
    assert caught.value.argument == "sensitive_features"


def test_limits_are_judged_by_every_attribute(data):
    limits = {"max_fmr": 0.01, "max_bfar": 100.0}
    report = audit_data(of(data, "gender", "age"), limits=limits, **QUICK)
    of_audits = [check.attribute for check in report.checks]
    assert of_audits == ["gender"] * 2 + ["age"] * 2 + ["gender & age"] * 2
    assert report.exit_code == 1
    alone = small_report(limits=limits)
    # A limit on rates does not depend on the other attributes; what ratios are compared
    # with does.
    assert report.audits[0].checks[0] == alone.checks[0]
    assert alone.exit_code == 1


@pytest.fixture(scope="module")
def files(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("files")
    columns = {name: column.copy() for name, column in data.columns.items()}
    columns["gender"][:3] = "nan"
    paths = {"audited": folder / "audited.npz", "old": folder / "old.npz"}
    np.savez(paths["audited"], embedding=data.X, identity=data.y, **columns)
    X, y, groups = synthetic(80)
    np.savez(paths["old"], embedding=X, identity=y, gender=groups)
    paths["pairs"] = folder / "pairs.csv"
    paths["pairs"].write_text("identity_1,identity_2,score\na,a,0.9\na,b,0.1\n")
    return paths


def test_notes_of_a_file_come_first_and_its_options_are_settings(files):
    read = read_data(files["audited"], ["gender", "age"])
    report = audit_data(read, threshold_from=str(files["old"]), **QUICK)
    settings = report.audits[0].settings
    assert "'nan' in 'gender' (3 rows) is taken as a label" in report.audits[0].notes[0]
    assert not any("'nan' in " in note for note in report.audits[1].notes)
    about = {name: settings[name] for name in ("domain", "distance", "threshold_from")}
    assert about == {
        "domain": None,
        "distance": False,
        "threshold_from": str(files["old"]),
    }


def test_thresholds_of_a_path_are_those_of_its_data(files):
    read, old = (read_data(files[name], "age") for name in ("audited", "audited"))
    by_path = audit_data(read, threshold_from=files["audited"], **QUICK)
    by_data = audit_data(read, threshold_from=old, **QUICK)
    assert by_path.to_json() == by_data.to_json()
    assert (
        by_path.audits[0].levels[0].threshold == by_data.audits[0].levels[0].threshold
    )
    roc = SimilarityROC(resample="identities").fit(read.X, read.y)
    (level,) = by_path.audits[0].levels
    assert level.rates[0].far.value == roc.estimate(0.05, rate="far").value


def test_thresholds_within_groups_are_set_by_those_of_the_other_data(files):
    read = read_data(files["audited"], "gender")
    options = {"impostors": "same_group", **QUICK}
    found = audit_data(read, threshold_from=files["old"], **options).audits[0]
    roc = SimilarityROC(impostors="same_group", resample="identities")
    roc.fit(*synthetic(80))
    at = found.levels[0].threshold
    there = roc.estimate(threshold=at, rate="far").value
    assert there == roc.estimate(0.05, rate="far").value


@pytest.mark.parametrize(
    ("options", "argument", "words"),
    [
        ({"threshold": 0.5}, "threshold", "Leave one out"),
        ({"limits": {"max_bfar": 2.0}}, "max_bfar", "use max_fmr_ratio"),
        ({"impostors": "same_group"}, "impostors", "one at a time"),
        ({"threshold_from": "absent.npz"}, "threshold_from", "give the path"),
    ],
)
def test_unusable_thresholds_from_other_data(files, options, argument, words):
    read = read_data(files["audited"], ["age", "place"])
    with refusal(argument, words):
        audit_data(read, **{"threshold_from": files["old"], **options})


def test_other_data_are_of_the_same_kind_and_read_in_the_same_way(files, data, pairs):
    read = read_data(files["audited"], "age")
    for other in (files["pairs"], PairData(*pairs)):
        with refusal("threshold_from", "give files of one kind") as caught:
            audit_data(read, threshold_from=other)
        assert caught.value.value == other
    with refusal("threshold_from", "give an EmbeddingData"):
        audit_data(of(data, "age"), threshold_from=files["old"])


def test_figures_are_written_for_each_audit(data, tmp_path):
    report = audit_data(of(data, "gender", "age"), **QUICK)
    report.save(tmp_path / "report")
    drawn = sorted(path.stem for path in (tmp_path / "report" / "figures").iterdir())
    of_one = [*("rates", "rates", "ratios", "ratios", "det")]
    for attribute in ("gender", "age", "gender-age"):
        own = [stem for stem in drawn if re.search(rf"^[a-z]+-{attribute}-\d$", stem)]
        assert sorted(stem.split("-")[0] for stem in own) == sorted(of_one)
    assert len(drawn) == 3 * len(of_one)


def keys(value):
    """Names of all fields of JSON, however deep; labels are values."""
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


def test_every_key_of_the_json_is_documented(files):
    read = read_data(files["audited"], ["gender", "age"])
    report = audit_data(read, limits={"max_fmr_ratio": 2.0}, **QUICK)
    text = report.to_json(version="1", source="faces.npz")
    page = Path(__file__).parents[2] / "docs" / "reference" / "json.rst"
    documented = set(re.findall(r"``(\w+)``", page.read_text(encoding="utf-8")))
    # The digest stands under the name of its file.
    assert keys(json.loads(text)) - documented == {"audited.npz"}


def test_ranges_ascend_in_audits_and_comparisons():
    rng = np.random.default_rng(0)
    person = rng.integers(0, 120, 2400)
    age = np.array(["under 18", "18 to under 100", "100 and over"])[person % 3]
    wrong = rng.random((2, 2400)) < 0.1 * (3 - person % 3)
    logs = [
        DecisionData((decisions(one * 1.0, person, {"age": age}, kind="frr"),))
        for one in wrong
    ]
    order = ["under 18", "18 to under 100", "100 and over"]
    for found in (audit_data(logs[0]), compare_decisions(*logs)):
        text = found.to_text()
        sizes = text[text.index("Attempts and errors of each group") :]
        places = [sizes.index(f"\n{label}") for label in order]
        assert places == sorted(places)


AGES = "old", "young"


def log_of(rates, n=2000):
    """Attempts of people by sex and age, with an error rate of each combination."""
    person = np.repeat(np.arange(n), 2)
    sex = np.where(person % 2, "f", "m")
    age = np.where(person // 2 % 2, "old", "young")
    rate = [rates.get((one, other), 0.01) for one, other in zip(sex, age, strict=True)]
    error = np.random.default_rng(0).random(2 * n) < rate
    return error, person, {"sex": sex, "age": age}


@pytest.mark.parametrize(("rate", "named"), [(0.14, True), (0.05, False), (0.4, False)])
def test_table_of_limits_names_a_combination_that_exceeds_inside_a_group(rate, named):
    """f and old meet the limit by their means, and f & old exceeds it, or all are the same."""
    log, limits = log_of({("f", "old"): rate}), {"max_fnmr": 0.1}
    page = audit_decisions(*log, limits=limits).to_html()
    text = "f meets the limit but contains f & old, which exceeds it."
    assert (text in unescape(page).replace("\xa0", " ")) == named


@pytest.mark.parametrize(
    ("rates", "because"),
    [
        ({("f", "old"): 0.4}, True),
        ({("f", "old"): 0.4, ("m", "young"): 0.4}, False),
        ({("f", "old"): 0.4, ("f", "young"): 0.12}, False),  # another is above it
        ({("f", "old"): 0.15}, False),  # no wider group exceeds the limit
    ],
)
def test_wider_groups_that_exceed_a_limit_by_one_combination_are_named(rates, because):
    report = audit_decisions(*log_of(rates), limits={"max_fnmr": 0.1})
    failed = [c.groups for c in report.checks if c.verdict == "failed"]
    assert not because or sorted(failed) == [("f",), ("f & old",), ("old",)]
    seen = " ".join(report.to_text(full=False).split())
    text = (
        "Of the 4 groups by sex & age, only f & old has an FRR above 10 %; f and old exceed "
        "the limit because they contain it."
    )
    assert (text in seen) == because
    (row,) = (r for r in report.audits[-1].levels[0].rates if r.group == "f & old")
    part = f"f & old, whose FRR is {100 * row.frr.value:.1f} %, is part of f."
    page = unescape(report.to_html()).replace("\xa0", " ")
    assert (part in page) == (report.checks[-1].groups[0] == "f & old")


def test_a_group_is_forecast_nothing_if_a_combination_inside_decides():
    """f is undetermined and contains f & old, or is undetermined without it."""
    limits = {"max_fnmr": 0.1}
    for rates, inside in (
        ({("f", "old"): 0.18}, True),
        ({("f", "old"): 0.1, ("f", "young"): 0.1}, False),
    ):
        report = audit_decisions(*log_of(rates), limits=limits)
        check = next(c for c in report.checks if c.groups[0] == "f")
        assert check.verdict == "undetermined"
        for text in (report.to_html(), report.to_junit(), report.to_text(full=True)):
            text = " ".join(unescape(text).replace("\xa0", " ").split())
            assert ("f contains f & old, which exceeds the limit." in text) == inside
            assert ("about" in text and "more people in f would" in text) != inside


def box_of(report):
    """Sentences of the result of a page."""
    return audit_document(report).sections[0].parts[0].texts


def test_the_result_counts_differences_that_no_sentence_names():
    """Rates differ by age and by sex, and the largest ratio is by age, or rates are equal."""
    log = log_of({("f", "old"): 0.4, ("m", "old"): 0.2})
    report = audit_decisions(*log, limits={"max_fnmr": 0.3})
    differ = [
        (audit.attribute, finding)
        for audit in report.audits
        for finding in audit.levels[0].findings
        if finding.verdict in ("higher", "lower")
    ]
    named = box_of(report)[0]
    (text,) = (t for t in box_of(report) if "more differences are significant" in t)
    assert text.startswith(
        f"{len(differ) - 1} more differences are significant, among "
    )
    assert "among them some by sex. The largest by one attribute: " in text
    of_sex = next(finding for by, finding in differ if by == "sex")
    assert f"f has a higher FRR than m, {ratio(1 / of_sex.ratio.value)} " in text
    assert named.startswith("old has a higher FRR than young")
    assert "more difference" not in report.to_text(full=False)
    report = audit_decisions(*log_of({}), limits={"max_fnmr": 0.3})
    assert not any("significant, " in text for text in box_of(report))


def test_tables_of_p_values_name_what_adjusts_them():
    """Holm's p-values of each family by hand: single attributes and combinations."""
    report = audit_decisions(*log_of({("f", "old"): 0.014, ("m", "old"): 0.013}))
    document = audit_document(report)
    for share, audits in ((0.8, report.audits[:2]), (0.2, report.audits[2:])):
        found = [f for a in audits for f in a.levels[0].findings]
        assert {f.n_comparisons for f in found} == {len(found)}
        for own, factor, name in (
            (found, 1 / share, "p"),
            (
                [o for a in audits for o in a.levels[0].against_others],
                5 / share,
                "others",
            ),
        ):
            for n, one in enumerate(sorted(own, key=lambda o: o.ratio.p_value)):
                before = sorted(own, key=lambda o: o.ratio.p_value)[: n + 1]
                p = [(len(own) - k) * o.ratio.p_value for k, o in enumerate(before)]
                assert one.p_adjusted == pytest.approx(min(1, max(p) * factor))
            for of in audits:
                by = document.only(f"by-{report.audits.index(of)}-{name}")
                captions = [
                    part.caption
                    for section in by.sections
                    for inner in section.parts
                    for part in inner.parts
                    if isinstance(part, Table)
                ]
                assert all(f"times {factor:g})" in caption for caption in captions)
                assert bool(captions) == (name == "p" or len(of.groups) > 3)


def test_a_page_of_a_log_is_about_attempts():
    page = unescape(audit_decisions(*log_of({})).to_html())
    assert "All attempts are taken as genuine" in page
    assert "other settings of the system" in page
    assert "operating points" not in page and "another threshold" not in page


@pytest.mark.parametrize(
    ("reference", "highest"), [("f & old", True), ("m & old", False)]
)
def test_ratios_to_a_reference_with_the_highest_rate_name_it(reference, highest):
    log = log_of({("f", "old"): 0.2})
    page = unescape(audit_decisions(*log, reference=reference).to_html())
    assert ("The reference has the highest FRR." in page) == highest


def test_the_result_names_undetermined_limits_and_those_that_are_met():
    report = audit_decisions(*log_of({("f", "old"): 0.19}), limits={"max_fnmr": 0.1})
    assert [c.verdict for c in report.checks] == [*["undetermined"] * 2, "failed"]
    assert "Undetermined: FRR by sex (f) and by age (old)." in box_of(report)
    assert any(text.endswith(" contains f & old.") for text in box_of(report))
    rates = {(sex, age): r for sex, r in (("f", 0.16), ("m", 0.04)) for age in AGES}
    report = audit_decisions(*log_of(rates), limits={"max_fnmr": 0.1})
    assert "by age (every group)" in " ".join(box_of(report))
    report = audit_decisions(*log_of({("f", "old"): 0.14}), limits={"max_fnmr": 0.1})
    assert [c.verdict for c in report.checks] == [*["passed"] * 2, "failed"]
    assert "Met: FRR by sex and by age." in box_of(report)
    report = audit_decisions(*log_of({}), limits={"max_fnmr": 0.1})
    assert not any(text.startswith("Met") for text in box_of(report))


@pytest.mark.parametrize(("most", "where"), [(2.0, "all 3"), (3.4, "2 of 3")])
def test_the_result_counts_operating_points_that_exceed_a_ratio(most, where):
    far = [0.15, 0.2, 0.3]
    rng, n = np.random.default_rng(0), 1000
    label = np.arange(2 * n) % 2
    score = np.concatenate([rng.normal(5, 1, 2 * n), rng.normal(label, 1)])
    people = np.arange(4 * n)
    data = PairData(
        score,
        (people, np.r_[people[: 2 * n], people[2 * n :] + 4 * n]),
        {"group": (np.tile(np.array(["a", "b"])[label], 2),) * 2},
    )
    report = audit_data(data, far=far, limits={"max_fmr_ratio": most})
    exceeded = [c.figure.value for c in report.checks if c.verdict == "failed"]
    assert len(exceeded) == int(where[-1 if where == "all 3" else 0])
    between = f"({ratios(min(exceeded), max(exceeded))} times)"
    text = f"By group, the limit is exceeded at {where} operating points {between}."
    assert text in box_of(report)


def test_further_limits_that_are_exceeded_are_in_the_result_with_everyone():
    """f has more false matches; all have as many false non-matches, more than their limit."""
    far, frr = {"f": 0.3, "m": 0.02}, {"f": 0.25, "m": 0.25}
    people = dict.fromkeys(far, 300)
    data = scored_pairs(np.random.default_rng(0), people, frr, far)
    limits = {"max_fmr": 0.2, "max_fnmr": 0.2}
    report = audit_data(data, threshold=0.5, limits=limits)
    seen = " ".join(report.to_text(full=False).split())
    also = seen[seen.index("Also exceeded: the FNMR of ") :]
    for text in (
        "The limit is 20 %.",
        "The FNMR of everyone, ",
        ", exceeds it too, and ",
    ):
        assert text in also[:260]
    assert "no difference by group is significant." in also[:260]
    report = audit_data(data, threshold=0.5, limits={"max_fmr": 0.16})
    assert report.audits[0].levels[0].rates[0].far.value > 0.16  # and may be less
    seen = " ".join(report.to_text(full=False).split())
    assert "Also exceeded" not in seen and "of everyone" not in seen


def test_table_of_limits_counts_the_results_of_other_groups():
    rates = {"a": 0.3, "b": 0.02, "c": 0.02, "d": 0.08}
    data = scored_pairs(np.random.default_rng(0), dict.fromkeys(rates, 300), rates)
    report = audit_data(data, threshold=0.5, limits={"max_fnmr": 0.1})
    (check,), level = report.checks, report.audits[0].levels[0]
    high = {row.group: row.frr.high for row in level.rates[1:]}
    assert check.groups == ("a",) and [high[g] <= 0.1 for g in "bcd"] == [
        True,
        True,
        False,
    ]
    assert "others: 2 met, d undetermined" in report.to_html()
    assert "others met" not in report.to_html()


def test_a_group_without_errors_is_named_with_the_ratio_that_is_infinite():
    rates = {"a": 0.3, "b": 0.0, "c": 0.3}
    data = scored_pairs(np.random.default_rng(0), dict.fromkeys(rates, 100), rates)
    report = audit_data(data, threshold=0.5)
    notes = [note for note in report.audits[0].notes if "infinite" in note]
    assert notes == [
        f"b has no {rate} errors at the given threshold 0.5, by group, so the largest {rate} over "
        f"the smallest is infinite. More people, or a {other} FMR, would lead to more errors."
        for rate, other in (("FMR", "larger"), ("FNMR", "smaller"))
    ]
    # One about a table that is folded is counted on the first screen.
    audit = replace(report.audits[0], notes=(f"A note {IN_FOLDED}",))
    text = replace(report, audits=(audit,)).to_text(full=False)
    assert "1 note: --full." in text and "A note" not in text
