"""Sections that a user writes stand in every output, and bad ones are refused."""

import json
from types import SimpleNamespace

import pytest

from tests.report.audits import small_report


def section(parts, title="Mine", record=None):
    return SimpleNamespace(
        title=title, measure=lambda report: record or {}, document=lambda record: parts
    )


def test_a_section_is_in_the_text_the_page_and_the_json():
    parts = ["A sentence.", ["one point"], ("A table.", ["Group", "n"], [["f", 7]])]
    report = small_report(sections=[section(parts, "<Mine> & FMR", {"n": [7, 8]})])
    assert json.loads(report.to_json())["sections"] == {"<Mine> & FMR": {"n": [7, 8]}}
    text, page = report.to_text(), report.to_html()
    assert "<Mine> & FMR\n" in text and "- one point" in text and "f      7" in text
    assert "&lt;Mine&gt; &amp; FMR" in page and "A sentence." in page
    assert "sections" not in json.loads(small_report().to_json())


def test_a_section_measures_the_whole_report():
    seen = []
    own = section([])
    own.measure = lambda report: seen.append(report.audits[0].attribute)
    small_report(sections=[own])
    assert seen == ["gender"]


@pytest.mark.parametrize(
    "bad",
    [
        SimpleNamespace(title="T", measure=lambda report: 1),
        section([3]),
        section([("caption", ["Group", "n"], [["f"]])]),
    ],
)
def test_others_are_refused_by_name(bad):
    with pytest.raises(ValueError, match=r"^sections"):
        small_report(sections=[bad])
