"""JUnit XML, a model card, notebooks and short forms say what was found."""

import csv
import json
import os
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr.metrics import group_error_rates
from skfairfr.report import EmbeddingData, audit_data, compare_systems, read_data
from skfairfr.utils import ArgumentError
from tests.report.audits import small_audit, synthetic
from tests.report.json_schema import is_valid
from tests.report.test_page import HOSTILE, Page, dominated
from tests.report.test_page_comparison import systems

KEYS = ("threshold", "worst_group_threshold")


@pytest.fixture(scope="module")
def checked():
    return small_audit(
        far=[0.1, 0.05], limits={"max_fnmr": 1e-9, "max_fmr": 1 - 1e-9, "max_bfar": 1.2}
    )


def test_junit_has_a_case_for_each_check(checked):
    checks = checked.checks
    root = ElementTree.fromstring(checked.to_junit().encode())
    cases = root.findall("testsuite/testcase")
    assert len(cases) == len(checks) == int(root.get("tests"))
    kinds = {"failed": "failure", "undetermined": "error"}
    for case, check in zip(cases, checks, strict=True):
        assert case.get("name").startswith(check.name)
        found = [child.tag for child in case]
        assert found == ([kinds[check.verdict]] if check.verdict in kinds else [])
    verdicts = [check.verdict for check in checks]
    assert int(root.get("failures")) == verdicts.count("failed") > 0
    assert int(root.get("errors")) == verdicts.count("undetermined")


def test_junit_of_a_comparison_fails_for_harm():
    found = compare_systems(*systems(1.0), far=[1e-2], n_resamples=60)
    root = ElementTree.fromstring(found.to_junit().encode())
    assert int(root.get("tests")) == len(found.changes)
    assert int(root.get("failures")) == len(found.harm) > 0


@pytest.mark.parametrize("distance", [False, True])
def test_junit_names_a_given_threshold(distance):
    """A check at a threshold has no FAR level."""
    data = EmbeddingData(*synthetic()[:2], {"sex": synthetic()[2]})
    threshold = -0.5 if distance else 0.5
    limits = {"max_fnmr": 0.5}
    report = audit_data(data, threshold=threshold, n_resamples=40, limits=limits)
    first = report.audits[0]
    settings = {**first.settings, "distance": distance}
    report = replace(report, audits=(replace(first, settings=settings),))
    root = ElementTree.fromstring(report.to_junit().encode())
    (case,) = root.findall("testsuite/testcase")
    scale = "distance" if distance else "threshold"
    assert case.get("name") == f"max_fnmr 0.5 at {scale} 0.5"


@pytest.mark.slow
@pytest.mark.parametrize(
    "points",
    [
        {"threshold": [-1e308, 1e-320, 0.3, 1e308]},
        {"far": [1e-300, 1e-17, 0.5, np.nextafter(1, 0)]},
    ],
    ids=["threshold", "far"],
)
def test_every_output_at_extreme_points_is_valid(tmp_path, points):
    X, y, groups = synthetic()
    data = EmbeddingData(X, y, {"sex": groups})
    limits = {"max_fnmr": 0.1, "max_far_ratio": 2.0}
    report = audit_data(data, n_resamples=5, limits=limits, **points)
    report.save(tmp_path)
    _assert_valid(report, tmp_path, None)


@pytest.mark.slow
def test_every_output_about_a_file_whose_name_is_no_text_is_valid(tmp_path):
    path = tmp_path / os.fsdecode(b"faces-\xff.npz")
    X, y, groups = synthetic()
    try:
        np.savez(path, embedding=X, identity=y, sex=groups)
    except OSError:
        pytest.skip("the file system takes text alone")
    data = read_data(path, "sex")
    report = audit_data(data, far=0.1, n_resamples=5, figures=tmp_path / "figures")
    report.save(tmp_path / "out", str(path))
    _assert_valid(report, tmp_path / "out", str(path))
    record = json.loads(report.to_json(source=str(path)))
    assert record["source"].endswith("faces-?.npz")
    assert list(record["audits"][0]["settings"]["sha256"]) == ["faces-?.npz"]


def test_an_older_report_is_replaced_only_where_that_is_said(tmp_path):
    X, y, groups = synthetic()
    found = audit_data(EmbeddingData(X, y, {"sex": groups}), far=0.1, n_resamples=5)
    found.save(tmp_path)
    before = (tmp_path / "audit.json").read_bytes()
    for older in (found, found.audits[0]):
        with pytest.raises(ArgumentError, match="or give replace=True") as caught:
            older.save(tmp_path, "other")
        assert caught.value.argument == "folder"
    assert (tmp_path / "audit.json").read_bytes() == before
    found.save(tmp_path, "other", replace=True)
    assert (tmp_path / "audit.json").read_bytes() != before


def _assert_valid(report, folder, source):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    record = json.loads((folder / "audit.json").read_text(), parse_constant=refuse)
    json.dumps(record, ensure_ascii=False).encode()
    assert is_valid(record, report.schema())
    ElementTree.fromstring(report.to_junit().encode())
    for name in ("rates.csv", "disparities.csv"):
        text = (folder / name).read_text(encoding="utf-8")
        first, *rows = csv.reader(text.splitlines())
        assert rows and {len(row) for row in rows} == {len(first)}
        assert "nan" not in text.lower()
    for text in (report.to_text(source), report.to_card(source), repr(report)):
        assert text.encode()
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert ">nan" not in page and Page(page).text


def test_control_characters_do_not_break_xml():
    X, y, groups = synthetic()
    groups = np.where(groups == "male", "a\x01b\x1b", "<&>")
    data = EmbeddingData(X, y, {"sex": groups})
    limits = {"max_fnmr": 1e-9}
    report = audit_data(data, far=0.05, n_resamples=40, limits=limits)
    root = ElementTree.fromstring(report.to_junit().encode())
    assert "a?b?" in root.find("testsuite/testcase/failure").get("message")


def test_the_card_has_the_rates_and_escapes_labels():
    X, y, groups = synthetic()
    groups = np.where(groups == "male", HOSTILE, "a|b *c*")
    report = audit_data(EmbeddingData(X, y, {"sex": groups}), far=0.05, n_resamples=40)
    card = report.to_card("faces.npz", version="1.0")
    assert card.startswith("## ")
    assert "<" not in card.replace("&lt;", "") and r"a\|b \*c\*" in card
    value = 100 * report.audits[0].levels[0].rates[1].frr.value
    assert f"{value:.3g}"[:3] in card
    rows = [line for line in card.splitlines() if line.startswith("|")]
    # An escaped bar is no border of a cell.
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}


def test_the_card_points_to_no_section_of_the_page():
    found = dominated()
    beside = found.averaged.levels[0]
    verdicts = [f.verdict for f in found.levels[0].findings]
    other = {"worse": "undecided"}
    findings = tuple(
        replace(finding, verdict=other.get(verdict, "worse"))
        for finding, verdict in zip(beside.findings, verdicts, strict=True)
    )
    averaged = replace(found.averaged, levels=(replace(beside, findings=findings),))
    found = replace(found, averaged=averaged)
    assert "weighs the same" in found.to_card()
    assert "Both averages" in found.to_html()
    assert "Both averages" not in found.to_card() and "below" not in found.to_card()


def test_short_forms_are_short(checked):
    text = repr(checked)
    assert text.startswith("Audit by gender: 60 people in 2 groups\n  at FAR 0.1: ")
    assert len(text.splitlines()) == 4
    found = compare_systems(*systems(1.0), far=[1e-2], n_resamples=60)
    assert repr(found).startswith("Comparison of after with before: 120 people")
    assert "\n" not in repr(found)


def test_notebooks_show_tables_with_escaped_labels():
    X, y, groups = synthetic()
    groups = np.where(groups == "male", HOSTILE, "f")
    report = audit_data(EmbeddingData(X, y, {"sex": groups}), far=0.05, n_resamples=40)
    compared = compare_systems(*systems(1.0), far=[1e-2], n_resamples=60)
    rates = group_error_rates(
        [1, 0, 1, 0],
        [1.0, 0.0, 1.0, 0.0],
        sensitive_features=[HOSTILE] * 2 + ["b"] * 2,
        threshold=0.5,
    )
    for record in (report, report.audits[0], compared, rates):
        page = Page(record._repr_html_())
        tags = [tag for tag, _ in page.elements]
        assert "table" in tags and "script" not in tags
        assert HOSTILE in page.text


def test_thresholds_of_distances_are_written_as_distances(tmp_path):
    """As text and page show them, and as --threshold takes them."""
    X, y, groups = synthetic()
    data = EmbeddingData(X, y, {"sex": groups})
    report = audit_data(data, far=[0.1, 0.05], n_resamples=2, limits={"max_bfar": 9.0})
    found = compare_systems(data, data, threshold=[-0.5, 0.25], n_resamples=2)

    def written(one, name):
        settings = {**one.settings, "distance": True}
        record = json.loads(replace(one, settings=settings).to_json())
        if name == "levels":
            (record,) = record["audits"]
        return [level[key] for level in record[name] for key in KEYS if key in level]

    first = report.audits[0]
    similarity = [getattr(level, key) for level in first.levels for key in KEYS]
    assert_allclose(written(first, "levels"), np.negative(similarity))
    similarity = [change.threshold for change in found.changes]
    assert_allclose(written(found, "changes"), np.negative(similarity))
    settings = {**first.settings, "distance": True}
    replace(report, audits=(replace(first, settings=settings),)).save(tmp_path)
    with open(tmp_path / "rates.csv", encoding="utf-8-sig") as file:
        shown = {float(row["threshold"]) for row in csv.DictReader(file)}
    assert shown == {-level.threshold for level in first.levels}
