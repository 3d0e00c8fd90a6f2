"""JUnit XML, a model card, notebooks and short forms say what was found."""

import csv
import json
import os
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr.metrics import group_error_rates
from skfairfr.report import EmbeddingData, audit_data, compare_systems, read_data
from skfairfr.utils import ArgumentError
from tests.report.audits import HOSTILE, small_report, synthetic, systems
from tests.report.json_schema import is_valid
from tests.report.test_documents import Page

KEYS = ("threshold", "worst_group_threshold")


@pytest.fixture(scope="module")
def checked():
    return small_report(
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
    found = compare_systems(*systems(1.0), far=[1e-2])
    root = ElementTree.fromstring(found.to_junit().encode())
    assert int(root.get("tests")) == len(found.changes)
    assert int(root.get("failures")) == len(found.harm) > 0


@pytest.mark.parametrize("distance", [False, True])
def test_junit_names_a_given_threshold(distance):
    """A check at a threshold has no FAR level."""
    data = EmbeddingData(*synthetic()[:2], {"sex": synthetic()[2]})
    threshold = -0.5 if distance else 0.5
    limits = {"max_fnmr": 0.5}
    report = audit_data(data, threshold=threshold, limits=limits)
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
    limits = {"max_fnmr": 0.1, "max_fmr_ratio": 2.0}
    report = audit_data(data, limits=limits, **points)
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
    report = audit_data(data, far=0.1)
    report.save(tmp_path / "out", str(path))
    _assert_valid(report, tmp_path / "out", str(path))
    record = json.loads(report.to_json(source=str(path)))
    assert record["source"].endswith("faces-?.npz")
    assert list(record["audits"][0]["settings"]["sha256"]) == ["faces-?.npz"]


def test_an_older_report_is_replaced_only_where_that_is_said(tmp_path):
    X, y, groups = synthetic()
    found = audit_data(EmbeddingData(X, y, {"sex": groups}), far=0.1)
    found.save(tmp_path)
    before = (tmp_path / "audit.json").read_bytes()
    with pytest.raises(ArgumentError, match="or use replace=True") as caught:
        found.save(tmp_path, "other")
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
    report = audit_data(data, far=0.05, limits=limits)
    root = ElementTree.fromstring(report.to_junit().encode())
    assert "a?b?" in root.find("testsuite/testcase/failure").get("message")


def test_notebooks_show_tables_with_escaped_labels():
    X, y, groups = synthetic()
    groups = np.where(groups == "male", HOSTILE, "f")
    report = audit_data(EmbeddingData(X, y, {"sex": groups}), far=0.05)
    compared = compare_systems(*systems(1.0), far=[1e-2])
    rates = group_error_rates(
        [1, 0, 1, 0],
        [1.0, 0.0, 1.0, 0.0],
        sensitive_features=[HOSTILE] * 2 + ["b"] * 2,
        threshold=0.5,
    )
    for record in (report, compared, rates):
        page = Page(record._repr_html_())
        tags = [tag for tag, _ in page.elements]
        assert "table" in tags and "script" not in tags
        assert HOSTILE in page.text


def test_thresholds_of_distances_are_written_as_distances(tmp_path):
    """As text and page show them, and as --threshold takes them."""
    X, y, groups = synthetic()
    data = EmbeddingData(X, y, {"sex": groups})
    report = audit_data(data, far=[0.1, 0.05], limits={"max_bfar": 9.0})
    other = replace(data, X=X + 1e-6)
    found = compare_systems(data, other, threshold=[-0.5, 0.25])

    def of_distances(one):
        return replace(one, settings={**one.settings, "distance": True})

    def written(one, name):
        if name == "levels":
            one = replace(one, audits=tuple(map(of_distances, one.audits)))
            (record,) = json.loads(one.to_json())["audits"]
        else:
            record = json.loads(of_distances(one).to_json())
        return [level[key] for level in record[name] for key in KEYS if key in level]

    first = report.audits[0]
    similarity = [getattr(level, key) for level in first.levels for key in KEYS]
    assert_allclose(written(report, "levels"), np.negative(similarity))
    similarity = [change.threshold for change in found.changes]
    assert_allclose(written(found, "changes"), np.negative(similarity))
    settings = {**first.settings, "distance": True}
    replace(report, audits=(replace(first, settings=settings),)).save(tmp_path)
    with open(tmp_path / "rates.csv", encoding="utf-8-sig") as file:
        shown = {float(row["threshold"]) for row in csv.DictReader(file)}
    assert shown == {-level.threshold for level in first.levels}
