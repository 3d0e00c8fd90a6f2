"""Documents of reports and comparisons hold what the records say, the answer first."""

import math
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest

from skfairfr._text._document import (
    Facts,
    Section,
    Table,
    write_fragment,
    write_markdown,
    write_text,
)
from skfairfr._text._document import Figure as Drawn
from skfairfr._text._words import (
    TOO_FEW,
    count,
    p_value,
    percent,
    percents,
    points,
    points_between,
    ratio,
    ratios,
)
from skfairfr.report import (
    EmbeddingData,
    PairData,
    audit,
    audit_data,
    audit_decisions,
    compare_systems,
)
from skfairfr.report._records import Check, Figure
from skfairfr.report.sections import _audit_document as audits_
from skfairfr.report.sections import _changes as changes_
from skfairfr.report.sections import _comparison_document as comparisons_
from skfairfr.report.sections._limits import (
    RESULTS,
    sentence_of_check,
    sorted_checks,
)
from skfairfr.utils import ArgumentError
from tests.report.audits import (
    HOSTILE,
    dominated,
    large_report,
    scored_pairs,
    small_report,
    synthetic,
    systems,
    usual_report,
    with_a_lone_person,
)
from tests.report.test_gates import few_against_many

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """Elements and text of a page; an unbalanced tag is an error.

    ``main`` is the text of its sections, and ``seen`` that before anything is unfolded.
    """

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts, self.main, self.seen = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)
        if "main" in self.open:
            self.main.append(data)
            if "details" not in self.open or "summary" in self.open:
                self.seen.append(data)

    @property
    def text(self):
        return plain(" ".join(self.texts))

    def attributes(self, *names):
        return [a[name] for _, a in self.elements for name in names if name in a]


def plain(text):
    """A text with spaces of one kind, one at a time."""
    return " ".join(text.replace("\xa0", " ").split())


def parts_of(document, kind, name="*"):
    """All parts of a kind in the document cut to sections of a name, in their order."""

    def inside(sections):
        for section in sections:
            for part in section.parts:
                if isinstance(part, Section):
                    yield from inside([part])
                elif isinstance(part, kind):
                    yield part

    return list(inside(document.only(name).sections))


def cells_of(table):
    """Heading of each row with its place -> texts of its cells."""
    return {row.line: [cell.line for cell in row.cells] for row in table.rows}


@cache
def hostile():
    X, y, groups = synthetic()
    groups = np.where(groups == "male", HOSTILE, "a & \"b\" 'c' $x$ {{ 1 }}")
    columns = {"<img src=x onerror=alert(1)>": groups}
    limits = {"max_fnmr": 0.4, "max_fmr": 0.2}
    data = EmbeddingData(X, y, columns)
    return audit_data(data, far=0.05, limits=limits)


@cache
def harmed():
    names = ["<b>old</b>", "new"]
    return compare_systems(*systems(1.0), names=names, far=[1e-2])


@cache
def page_of(name):
    if name == "audit":
        return Page(hostile().to_html("<b>source</b>", date="2026-01-01"))
    return Page(harmed().to_html())


# ---- the writers on real documents ---------------------------------------------------


@pytest.mark.parametrize("name", ["audit", "comparison"])
def test_a_page_is_well_formed_runs_nothing_and_fetches_nothing(name):
    page = page_of(name)
    tags = [tag for tag, _ in page.elements]
    assert not {*tags} & {"script", "b", "iframe", "object", "link", "form"}
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")}
    assert all(link.startswith("#") for link in page.attributes("href"))
    images = page.attributes("src")
    assert images and all(i.startswith("data:image/svg+xml;base64,") for i in images)
    assert len(page.attributes("alt")) == len(images) and all(page.attributes("alt"))
    assert "default-src 'none'" in str(page.attributes("content"))
    assert HOSTILE in page.text


@pytest.mark.parametrize("name", ["audit", "comparison"])
def test_a_page_can_be_walked_by_its_headings_links_and_tables(name):
    page = page_of(name)
    tags = [tag for tag, _ in page.elements]
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    links = page.attributes("href", "aria-labelledby")
    assert {link.lstrip("#") for link in links} <= set(ids)
    assert tags.count("table") == tags.count("caption") == tags.count("thead") > 4
    scopes = [a.get("scope") for tag, a in page.elements if tag == "th"]
    assert set(scopes) == {"col", "row"}
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1 and max(np.diff(levels)) == 1


def documents():
    X, y, groups = synthetic()
    names = np.where(groups == "male", "a group\x1b[2J" + "x" * 90, "\u00e9t\u00e9")
    age = np.where(y % 2, "old", "young")
    many = np.array([f"g{i % 9}" for i in y])
    limits = {"max_bfar": 2.0, "max_fnmr_ratio": 1.5}
    quick = {"far": 0.05}
    reports = (
        usual_report(),
        dominated(),
        small_report(with_a_lone_person(), far=[0.05, 1e-4]),
        audit(X, y, {"name": names, "age": age}, limits=limits, **quick),
        audit(X, y, many, **quick),
    )
    for report in reports:
        yield audits_.audit_document(report, "faces.npz")
        yield audits_.summary_document(report, "faces.npz")
    yield comparisons_.comparison_document(harmed())
    yield comparisons_.summary_document(harmed())


def test_texts_fit_a_terminal_and_cards_are_tables_of_markdown():
    for document in documents():
        lines = write_text(document).splitlines()
        assert max(map(len, lines)) <= 100
        assert all(line.isprintable() for line in lines)
        card = write_markdown(document)
        assert "<" not in card.replace("&lt;", "")
        width = 0
        for line in card.splitlines():
            bars = len(re.findall(r"(?<!\\)\|", line))
            assert not line.startswith("|") or width in (0, bars)
            width = bars
        shown = re.sub(
            r"<style>.*?</style>", "", write_fragment(document), flags=re.DOTALL
        )
        assert not re.search(r"\d\s%", shown, re.ASCII)
        assert not re.search(r"\bnan\b", shown.replace("0/0 (nan)", ""))


def test_text_card_and_notebook_are_the_document_cut():
    """What one of them says, the page says too."""
    report = dominated()
    page = Page(report.to_html()).text.replace("\N{MINUS SIGN}", "-")
    for text in (report.to_text(), report.to_card(), Page(report._repr_html_()).text):
        for level in report.audits[0].levels:
            for row in level.rates:
                assert percent(row.frr.value).replace("\xa0", " ") in " ".join(
                    text.split()
                )
    *_, told = report.to_text(full=False).partition("Result\n------\n")
    label = audits_.audit_document(report).sections[0].parts[0].label
    for sentence in re.split(r"\n- |\n\n", told.removeprefix(f"{label}. ")):
        assert plain(sentence).strip("- ") in page


def test_what_stands_on_a_page_can_be_written(tmp_path):
    """Refused before a file is touched, as of a report that was there before."""
    usual_report().save(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.glob("*.*")}
    for argument, wrong in product(("date", "version"), ("a\ud800", 3, ["a"])):
        with pytest.raises(ArgumentError, match=f"{argument} .*text") as found:
            usual_report().save(tmp_path, replace=True, **{argument: wrong})
        assert found.value.argument == argument
        assert {path: path.read_bytes() for path in tmp_path.glob("*.*")} == before


def test_the_date_of_a_page_is_that_of_a_reproducible_build(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert "1970-01-02" in usual_report().to_html()


# ---- an audit ------------------------------------------------------------------------


def four_by_two(**options):
    """A report of four groups by two attributes at two levels."""
    X, y, groups = synthetic(240, {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1})
    age = np.array(["young", "middle", "old", "older"])[y // 3 % 4]
    return audit(X, y, {"origin": groups, "age": age}, far=[0.05, 0.01], **options)


@cache
def limited():
    return four_by_two(limits={"max_fnmr": 0.3, "max_fmr_ratio": 2.0})


def test_the_first_screen_answers():
    """Status, then one sentence with the group, its rate, ratio, interval and limit."""
    X, y, groups = synthetic(300)
    report = small_report((X, y, groups), limits={"max_fmr_ratio": 1.1})
    verdict, table, rule, figure, *lines = (
        audits_.audit_document(report).sections[0].parts
    )
    (check,) = report.checks
    found = check.figure
    assert (verdict.status, check.verdict) == ("failed", "failed") and verdict.label
    for words in (*check.groups, "FMR", ratio(found.value), "The limit is 1.1"):
        assert words in verdict.headline
    assert (
        ratios(found.low, found.high) in verdict.headline and "95 %" in verdict.headline
    )
    assert not any("higher FMR than" in text for text in verdict.texts)
    assert (type(table), type(rule), type(figure)) == (Table, str, Drawn)
    assert len(lines) <= 5 and max(map(len, lines)) < 400


def test_without_a_limit_nothing_passes_and_the_largest_ratio_is_told():
    report = large_report()
    document = audits_.audit_document(report)
    verdict = document.sections[0].parts[0]
    assert verdict.status == "none" and not parts_of(document, Table, "verdict")
    findings = report.audits[0].levels[0].findings
    found = max(findings, key=lambda f: max(f.ratio.value, 1 / f.ratio.value))
    assert found.verdict == "higher"
    for words in (found.group, found.reference, percent(found.value), "FMR"):
        assert words in verdict.headline
    assert percent(found.reference_value) in verdict.headline
    assert ratios(found.ratio.low, found.ratio.high) in verdict.headline
    # A terminal shows all that differ, the largest in the headline.
    told = [p for s in audits_.summary_document(report).sections[1:] for p in s.parts]
    differ = sum(f.verdict in ("higher", "lower") for f in findings)
    assert sum(map(len, told)) == differ - 1


@pytest.mark.parametrize("write", ["to_html", "to_text"])
def test_names_of_rates_are_explained_below_the_title(write):
    text = plain(getattr(usual_report(), write)())
    named = (
        "FMR: false match rate; FNMR: false non-match rate; CI: confidence interval."
    )
    assert named in text[: text.index("No limits set")]


def test_a_page_shows_few_numbers_before_it_is_unfolded():
    for report, most in ((usual_report(), 150), (limited(), 300)):
        page = Page(report.to_html())
        numbers = re.findall(r"\d[\d.,]*", " ".join(page.seen))
        assert len(numbers) <= most
        assert len(re.findall(r"\d[\d.,]*", " ".join(page.main))) > 1.4 * len(numbers)


def test_what_is_folded_is_open_in_print():
    html = usual_report().to_html()
    *_, rules = html.partition("@media print")
    assert "details" in rules.partition("</style>")[0]
    assert html.count("<details>") == html.count("<summary><h") > 4


def test_groups_are_sorted_by_their_rates_beside_one_reference():
    report = limited()
    document = audits_.audit_document(report)
    for n, found in enumerate(report.audits):
        (table,) = parts_of(document, Table, f"by-{n}-rates")
        level = found.levels[0]
        far = {row.group: row.far.value for row in level.rates}
        names = [row.name for row in table.rows if not row.everyone]
        assert names == sorted(names, key=lambda name: -far[name])
        said = "Groups are sorted by FMR, highest first" in table.caption
        assert said == (len(names) > 2)
        assert {f.reference for f in level.findings} == {found.reference}
        assert table.head[3] == f"FMR over {found.reference} (95 % CI)"
        assert table.head[5] == f"FNMR over {found.reference} (95 % CI)"
        shown = cells_of(table)[found.reference]
        assert [shown[2], shown[4]] == ["reference"] * 2
    facts = dict(document.sections[1].parts[0].rows)
    assert all(
        f"{a.reference} ({a.attribute})" in facts["Reference"] for a in report.audits
    )


def test_rows_of_groups_have_rates_ratios_and_conclusions():
    report = limited()
    (table,) = parts_of(audits_.audit_document(report), Table, "by-0-rates")
    (level, _), shown = report.audits[0].levels, cells_of(table)
    findings = {(f.group, f.rate): f for f in level.findings}
    sizes = {row.group: row.n_identities for row in report.audits[0].groups}
    assert len(shown) == len(level.rates)
    for row in level.rates:
        people, *cells = shown[row.group or "Everyone"]
        assert people == count(sizes[row.group])
        for rate, of_rate, of_ratio in zip(
            ("far", "frr"), cells[::2], cells[1::2], strict=True
        ):
            figure, finding = getattr(row, rate), findings.get((row.group, rate))
            ends = percents(figure.low, figure.high)
            assert of_rate.startswith(f"{percent(figure.value)} ({ends})")
            assert (TOO_FEW in of_rate) is not figure.supported
            if finding is not None:
                ends = ratios(finding.ratio.low, finding.ratio.high)
                assert of_ratio.startswith(f"{ratio(finding.ratio.value)} ({ends})")
                assert finding.verdict in of_ratio
                assert (TOO_FEW in of_ratio) is not finding.ratio.supported


def numbers_of(report):
    """Every number that the JSON of a report has of groups, as a page writes it."""
    for found in report.audits:
        for row in found.groups:
            yield from map(count, (row.n_identities, row.n_images))
            yield percent(row.equal_error_rate.value)
        for level in found.levels:
            for row in level.rates:
                yield from map(count, (row.far_errors, row.frr_errors))
                for of in (row.far, row.frr):
                    yield from (percent(of.value), percents(of.low, of.high))
            for one in level.disparities:
                for of in (one.far, one.frr):
                    is_points = one.how == "difference"
                    shown = (points, points_between) if is_points else (ratio, ratios)
                    yield from (shown[0](of.value), shown[1](of.low, of.high))
            for one in (*level.findings, *level.against_others):
                yield from (
                    ratio(one.ratio.value),
                    ratios(one.ratio.low, one.ratio.high),
                )
                yield from map(p_value, (one.ratio.p_value, one.p_adjusted))
            yield from map(percent, level.matrix.far.ravel())
            yield from (ratio(index.value) for index in level.indices)
        for check in found.checks:
            of = check.figure
            if "ratio" in check.name:
                yield from (ratio(of.value), ratios(of.low, of.high))
            else:  # the page has the group's own interval
                yield percent(of.value)
    for cell in report.crossings[0].cells:
        yield count(cell.n_identities)


def test_every_number_of_the_record_is_somewhere_on_the_page():
    page = Page(limited().to_html()).text
    assert {n for n in map(plain, numbers_of(limited())) if n not in page} == set()


def check_of(name, limit, verdict, ends, groups, **more):
    figure = Figure(*ends, 0.1, True, "")
    (level,) = usual_report().audits[0].levels
    about = name, limit, "gender", level.far, level.threshold
    more = {"decided_by": groups if "ratio" in name else groups[:1]} | more
    return Check(*about, figure, groups, ("lone",), verdict, **more)


BOTH = ("female", "male")
CHECKS = [
    ("max_bfar", 2.0, "passed", (1.2, 1, 1.9), BOTH, "female against male"),
    ("max_fmr_ratio", 2.0, "failed", (3, 2.5, 9), BOTH, "female against male"),
    ("max_fmr", 0.02, "failed", (0.1, 0.05, 0.2), BOTH, "female, also exceed it: male"),
    ("max_fnmr", 0.1, "undetermined", (0.2, 0.05, 0.3), BOTH[:1], "female"),
    (
        "max_fnmr",
        0.2,
        "undetermined",
        (1e-9, 0, 1.0),
        BOTH,
        "female, also may exceed it: male",
    ),
    ("max_fnmr", 0.2, "undetermined", (np.nan,) * 3, (), "none"),
]


@pytest.mark.parametrize("case", CHECKS)
def test_a_limit_has_a_row_with_its_group_number_interval_and_result(case):
    *about, words = case
    check = check_of(*about)
    (audit_,) = usual_report().audits
    report = replace(usual_report(), audits=(replace(audit_, checks=(check,)),))
    document = audits_.audit_document(report)
    (row,) = parts_of(document, Table, "verdict")[0].rows
    _, group, found, shown, _ = (plain(cell.line) for cell in row.cells)
    assert group.startswith(words) and "pairs: lone" in group
    rate = {"max_fmr": "far", "max_fnmr": "frr"}.get(check.name)
    form, ends = (percent, percents) if rate else (ratio, ratios)
    assert found == plain(form(check.figure.value))
    own = check.figure
    if rate and check.groups:  # the group's own interval
        (own,) = (
            getattr(r, rate) for r in audit_.levels[0].rates if r.group == "female"
        )
    assert plain(ends(own.low, own.high)) in shown
    result = row.cells[-1].text
    assert result == RESULTS[check.verdict]
    assert document.sections[0].parts[0].status == check.verdict
    assert sentence_of_check(check, report).startswith(result.capitalize())


def test_limits_are_sorted_by_result_and_then_by_excess():
    """Rows of one limit stand together, the excess being that of the row with most errors."""
    report = limited()
    rows = parts_of(audits_.audit_document(report), Table, "verdict")[0].rows
    ranks = [["exceeded", "undetermined", "met"].index(r.cells[-1].text) for r in rows]
    found = []
    for row in rows:  # each row is one of the checks
        start = f"{row.cells[-1].text.capitalize()}: {row.line},"
        (check,) = (
            c for c in report.checks if sentence_of_check(c, report).startswith(start)
        )
        (audit,) = (a for a in report.audits if a.attribute == check.attribute)
        (level,) = (level for level in audit.levels if level.far == check.far)
        rate = "far" if "fmr" in check.name else "frr"
        named = check.groups if "ratio" in check.name else check.groups[:1]
        errors = [
            getattr(r, f"{rate}_errors") for r in level.rates[1:] if r.group in named
        ]
        found.append((check, min(errors)))
    kinds = [
        (*one, c.name, c.attribute) for *one, (c, _) in zip(ranks, found, strict=True)
    ]
    excess, errors_of = [], {}
    for kind, (check, errors) in zip(kinds, found, strict=True):
        if kind not in errors_of:
            excess.append((kind[0], -check.figure.value / check.limit))
        assert errors <= errors_of.get(kind, errors)
        errors_of[kind] = errors
    assert excess == sorted(excess) and len(set(ranks)) == 3
    assert [kind for n, kind in enumerate(kinds) if kind not in kinds[:n]] == [
        *errors_of
    ]


def pairs_with_few_errors_at_a_level():
    """At 1 %, the ratio of b rests on few errors and is larger; at 10 % it is certain."""
    rng = np.random.default_rng(0)
    people = {group: 150 for group in "abc"}
    data = scored_pairs(rng, people, dict.fromkeys(people, 0.1), n_impostor=8)
    group, same = data.columns["group"][0], np.equal(*data.identities)
    scores = rng.normal(size=group.size) + 2.5 * same
    scores[(group == "b") & ~same] += 0.5
    return replace(data, y_score=scores)


def test_headline_of_a_ratio_has_the_operating_point_with_most_errors():
    asked = {"far": [0.1, 0.002], "limits": {"max_fmr_ratio": 1.05}}
    report = audit_data(pairs_with_few_errors_at_a_level(), **asked)
    certain, few = report.checks
    assert certain.verdict == few.verdict or certain.verdict == "failed"
    assert few.figure.value > certain.figure.value
    opening = audits_.audit_document(report).sections[0].parts
    verdict, table, _, figure, *_ = opening
    assert verdict.headline.startswith(
        "At an overall FMR of 10\N{NO-BREAK SPACE}%, the FMR of b"
    )
    assert "10\N{NO-BREAK SPACE}%" in table.rows[0].place
    assert "at an overall FMR of 10\N{NO-BREAK SPACE}%" in figure.caption


def test_significant_difference_of_a_further_level_is_in_the_result():
    data = pairs_with_few_errors_at_a_level()
    report = audit_data(data, far=[0.9995, 0.1])
    first, second = (
        {f.verdict for f in level.findings} for level in report.audits[0].levels
    )
    assert "higher" not in first and "higher" in second
    headline = audits_.audit_document(report).sections[0].parts[0].headline
    assert headline.startswith(
        "At an overall FMR of 10\N{NO-BREAK SPACE}%, b has a higher FMR"
    )


def test_headline_of_an_open_limit_says_why_its_interval_decides_nothing():
    """Six groups: an interval alone is above the limit, and the adjusted end is not."""
    rng = np.random.default_rng(3)
    people = {group: 100 for group in "abcdef"}
    rates = dict.fromkeys(people, 0.02) | {"f": 0.2}
    data = scored_pairs(rng, people, rates, n_impostor=3)
    probe = audit_data(data, threshold=0.5, limits={"max_fnmr": 0.1})
    judged = probe.checks[0].figure.low
    (own,) = (r.frr for r in probe.audits[0].levels[0].rates if r.group == "f")
    assert judged < own.low
    limit = (judged + own.low) / 2
    report = audit_data(data, threshold=0.5, limits={"max_fnmr": limit})
    assert report.checks[0].verdict == "undetermined"
    verdict, table, *_ = audits_.audit_document(report).sections[0].parts
    for text in (verdict.headline, table.rows[0].cells[3].text):
        assert f", adjusted lower end {percent(judged)}" in text


def test_figure_of_the_first_screen_is_of_the_level_of_the_headline():
    data = pairs_with_few_errors_at_a_level()
    report = audit_data(data, far=[0.1, 0.01], limits={"max_fnmr": 0.25})
    verdict, _, _, figure, *_ = audits_.audit_document(report).sections[0].parts
    # A significant difference of the other rate is in the result, too, and only there.
    _, everyone, difference, *_ = verdict.texts
    assert "b has a higher FMR than " in difference
    assert difference.endswith(" No limit is set for the FMR.")
    assert "exceeds it too, and no difference by group is significant" in everyone
    assert report.to_text(full=False).count("has a higher FMR than") == 1
    at = "t an overall FMR of 1\N{NO-BREAK SPACE}%"
    assert verdict.headline.startswith(f"A{at}") and f" a{at}" in figure.caption


def with_two_checks(*figures, names=("max_fmr_ratio",) * 2):
    """A report at two levels, which are 0.1 and 0.01, with a failed check of each."""
    data = pairs_with_few_errors_at_a_level()
    report = audit_data(data, far=[0.1, 0.01], limits={"max_fmr_ratio": 1.5})
    (audit,) = report.audits
    checks = tuple(
        Check(
            *(name, 1.5, "group", level.far, level.threshold),
            *(replace(Figure.undefined(), **figure), ("a", "b"), (), "failed"),
        )
        for name, level, figure in zip(names, audit.levels, figures, strict=True)
    )
    return report, audit, checks


def test_infinite_ratio_is_no_headline_beside_a_finite_one():
    finite = {"value": 2.0, "low": 1.6, "high": 3.0}
    infinite = {"value": np.inf, "low": 1.7, "high": np.inf}
    report, audit, checks = with_two_checks(finite, infinite)
    for order in (checks, checks[::-1]):
        changed = replace(report, audits=(replace(audit, checks=order),))
        assert [c.figure.value for c in sorted_checks(changed)] == [2.0, np.inf]


def test_headline_is_about_a_level_that_the_data_resolve():
    small, large = ({"value": v, "low": 1.6, "high": 30.0} for v in (2.0, 9.0))
    names = "max_fmr_ratio", "max_fnmr_ratio"
    report, audit, checks = with_two_checks(small, large, names=names)
    everyone, *others = audit.groups
    # The smaller level is 0.01.
    for n_impostor, order in ((99, [2.0, 9.0]), (100, [9.0, 2.0])):
        sizes = (replace(everyone, n_impostor=n_impostor), *others)
        changed = replace(report, audits=(replace(audit, checks=checks, groups=sizes),))
        assert [c.figure.value for c in sorted_checks(changed)] == order


def test_tables_have_the_groups_in_the_order_of_the_first():
    report = audit_data(pairs_with_few_errors_at_a_level(), far=[0.1, 0.002])
    rates = [
        max((row.far.value, row.frr.value)) for row in report.audits[0].levels[1].rates
    ]
    document = audits_.audit_document(report)
    orders = []
    for table in parts_of(document, Table, "by-0*"):
        names = [row.name for row in table.rows if row.name in "abc"]
        orders += [tuple(names)] if len(names) == 3 else []
    first = orders[0]
    assert len(orders) >= 7 and set(orders) == {first}
    # The second level by itself would have another order.
    own = report.audits[0].levels[1].rates[1:]
    by_rate = sorted(own, key=lambda row: -max(row.far.value, row.frr.value))
    assert tuple(row.group for row in by_rate) != first and len(rates) == 4


def test_reasons_that_nothing_is_told_have_their_levels():
    data = pairs_with_few_errors_at_a_level()
    same = np.equal(*data.identities)
    apart = replace(data, y_score=np.where(same, data.y_score, data.y_score - 40))
    report = audit_data(apart, threshold=[-60.0, -20.0], limits={"max_fmr_ratio": 1.5})
    texts = audits_.audit_document(report).sections[0].parts[0]
    said = [texts.headline, *texts.texts]
    assert any(t.startswith("At the given threshold -20") for t in said)
    assert any(t.startswith("At the given threshold -60") for t in said)


@pytest.mark.parametrize(
    ("far", "attained", "tied"),
    [
        (0.05, "0 %", "steps of 10.0 %"),
        (0.25, "20.0 %", "an FMR of 0 % because of equal scores"),
    ],
)
def test_levels_between_two_rates_are_not_of_equal_scores(far, attained, tied):
    people = np.arange(40)
    left, right = np.r_[people, people[:10]], np.r_[people, people[:10] + 40]
    scores = np.r_[np.linspace(0.5, 1, 40), np.linspace(0, 0.4, 10)]
    groups = tuple(np.where(side % 2, "f", "m") for side in (left, right))
    data = PairData(scores, (left, right), {"sex": groups})
    text = " ".join(audit_data(data, far=far).to_text().split())
    words = f"an FMR of {attained}: 10 impostor pairs have rates in steps of 10.0 %"
    assert words in text and "because of equal scores" not in text
    equal = replace(data, y_score=np.where(left == right, scores, 0.1))
    assert tied in " ".join(audit_data(equal, far=far).to_text().split())


def test_a_finding_on_too_few_errors_has_no_colour_of_a_finding():
    document = audits_.audit_document(audit_data(few_against_many(), threshold=0.5))
    (table,) = parts_of(document, Table, "by-0-rates")
    (cell,) = (row.cells[2] for row in table.rows if row.name == "African")
    assert (cell.more, cell.few, cell.word) == ("higher", "", "")
    marked = {row.name for row in table.rows if row.cells[1].few}  # its FMR
    assert "Caucasian" in marked and "African" not in marked
    assert f"{TOO_FEW} among Caucasian" in document.sections[0].parts[0].headline
    document = audits_.audit_document(large_report())
    (table,) = parts_of(document, Table, "by-0-rates")
    (cell,) = (row.cells[2] for row in table.rows if row.name == "female")
    assert (cell.more, cell.few, cell.word) == ("higher", "", "higher")


@pytest.mark.usefixtures("real_figures")
def test_a_change_on_too_few_errors_has_no_colour_of_a_change():
    found = harmed()
    groups = {change.group for change in found.harm} - {None}
    assert len(groups) == 1
    sure = shown_of(with_support(found, lambda group: True))
    # The others have no say: one rate with enough errors is a finding.
    some = shown_of(with_support(found, lambda group: group in groups))
    assert sure[:2] == ("failed", {"higher"}) and some[:2] == ("failed", {"higher", ""})
    few = with_support(found, lambda group: False)
    assert shown_of(few)[:2] == ("none", {""})
    assert len({str(drawn) for *_, drawn in (sure, some, shown_of(few))}) == 3
    # The words stay.
    verdict, *_ = comparisons_.comparison_document(few).sections[0].parts
    assert verdict.headline.startswith("Higher with ")
    first, second = changes_.short_names(few.systems)
    assert verdict.headline.endswith(f"), {TOO_FEW} with {first} and {second}.")
    # Everyone is in the levels of every attribute, and each system is named once.
    everyone = next(c for c in few.changes if c.attribute is None)
    few = replace(few, measured=(*few.measured, *few.measured))
    assert changes_.systems_with_few_errors(everyone, few) == [first, second]


def with_support(found, enough):
    """The comparison whose rates rest on enough errors in some groups alone."""

    def changed(level):
        rows = []
        for row in level.rates:
            both = {rate: getattr(row, rate) for rate in ("far", "frr")}
            supported = enough(row.group)
            both = {r: replace(of, supported=supported) for r, of in both.items()}
            rows.append(replace(row, **both))
        return replace(level, rates=tuple(rows))

    measured = [
        replace(one, levels=tuple(map(changed, one.levels))) for one in found.measured
    ]
    return replace(found, measured=tuple(measured))


def shown_of(found):
    """Status of a comparison, classes of the cells of higher rates, and its figure."""
    document = comparisons_.comparison_document(found)
    rows = [r for t in parts_of(document, Table, "system-0") for r in t.rows]
    words = {row.cells[-1].word for row in rows if row.cells[-1].text == "higher"}
    (figure,) = parts_of(document, Drawn, "verdict")
    return document.sections[0].parts[0].status, words, figure.draw()


@pytest.mark.usefixtures("real_figures")
def test_limits_are_drawn():
    report = small_report(far=[0.1, 0.05], limits={"max_fmr": 0.3})
    assert "limit 30 %" in images(report, 1)[0]
    assert "limit" not in images(usual_report(), 1)[0]


def images(report, n=None):
    """The first figures of its page, as SVG."""
    drawn = parts_of(audits_.audit_document(report), Drawn)
    return [svg for figure in drawn[:n] for svg, _ in figure.draw()]


@pytest.mark.usefixtures("real_figures")
def test_figures_hold_labels_as_text():
    for svg in images(hostile(), 2)[:2]:
        # Long labels lose their middle, and a dollar begins no formula.
        assert "&lt;script&gt;" in svg and "$x$" in svg


@pytest.mark.usefixtures("real_figures")
@pytest.mark.slow
def test_many_groups_become_small_multiples():
    X, y, _ = synthetic(80)
    found = audit(X, y, np.array([f"g{i % 9}" for i in y]), far=0.05)
    svg = images(found)[-1]
    assert all(f">g{i}<" in svg for i in range(9))


def test_a_threshold_beyond_all_scores_concludes_nothing():
    report = small_report(threshold=40.0, far=None)
    verdicts = {f.verdict for f in report.audits[0].levels[0].findings}
    assert verdicts == {"undetermined"}
    document = audits_.audit_document(report)
    headline = document.sections[0].parts[0].headline
    assert "beyond all scores: no pair is accepted, the FNMR is 100 %" in headline
    # What is undefined has no value without noise either.
    (table,) = parts_of(document, Table, "by-0-indices")
    for row in table.rows:
        assert all(not c.more for c in row.cells if c.text == "\N{EN DASH}")


def test_several_attributes_have_a_section_each_and_count_their_people():
    X, y, groups = synthetic()
    age = np.where(y % 2, "old", "young").astype(object)
    age[y == y[0]] = None
    found = audit(X, y, {"gender": groups, "age": age}, far=0.05)
    document = audits_.audit_document(found)
    titles = [s.title for s in document.sections if s.name.startswith("by-")]
    assert titles == [f"Error rates by {n}" for n in ("gender", "age", "gender & age")]
    shown = cells_of(parts_of(document, Table, "by-2-groups")[-1])
    expected = {
        ", ".join("unknown" if g is None else g for g in cell.groups): [
            str(cell.n_identities)
        ]
        for cell in found.crossings[0].cells
    }
    assert shown == expected


def test_given_thresholds_and_distances_are_named_as_such():
    """Whatever the scale, the page says from which side of the threshold on it accepts."""
    report = small_report(threshold=0.5, far=None)
    text = Page(report.to_html()).text
    assert "the given threshold 0.5" in text and "distance 0.5" not in text
    assert "its similarity is at least the threshold" in text
    (found,) = report.audits
    level = replace(found.levels[0], threshold=-0.5)
    settings = {**found.settings, "threshold": [-0.5], "distance": True}
    found = replace(found, levels=(level,), settings=settings)
    text = Page(replace(report, audits=(found,)).to_html()).text
    assert "the given distance 0.5" in text and "-0.5" not in text
    assert "its distance is at most the threshold" in text
    assert "The distance up to which a comparison is accepted" in text


def test_what_is_not_supported_is_listed_with_its_reason():
    X, y, groups = synthetic(12)
    report = audit(X, y, groups, far=0.05)
    (listed,) = parts_of(audits_.audit_document(report), list, "open-few")
    (found,) = report.audits
    expected = sum(not row.equal_error_rate.supported for row in found.groups)
    for row in found.levels[0].rates:
        expected += (not row.far.supported) + (not row.frr.supported)
    said = [text for text in listed if " of " in text.split(" (")[0]]
    assert len(said) == expected > 2
    assert not re.search(r"\b(far|frr)\b", " ".join(listed))


def test_independent_pairs_say_so():
    data = scored_pairs(
        np.random.default_rng(0), {"a": 30, "b": 30}, {"a": 0.2, "b": 0.1}
    )
    same = np.asarray(data.identities[0]) == np.asarray(data.identities[1])
    independent = replace(data, identities=None, y_true=same.astype(int))
    limits = {"max_fnmr": 0.25}
    found = audit_data(independent, threshold=0.5, limits=limits)
    text = Page(found.to_html()).text
    assert "pairs taken as independent" in text
    assert "Nobody is known by name" in text
    # Without names no number of people, and none to allow for, can be spoken of.
    assert "people who are in many" not in text and "more people in" not in text
    group = np.tile(["a", "b", "c"], 100)
    error = (np.arange(300) < 60) & (group != "b")
    limits = {"max_fnmr": 0.05}
    found = audit_decisions(error, None, {"sex": group}, limits=limits)
    assert "Groups are compared with a." in Page(found.to_html()).text


def test_both_averages_stand_side_by_side_where_one_person_dominates():
    report = dominated()
    (found,) = report.audits
    (table,) = parts_of(audits_.audit_document(report), Table, "by-0-averages")
    rows = cells_of(table)
    for own, beside in zip(
        found.levels[0].rates, found.averaged.levels[0].rates, strict=True
    ):
        name = "everyone" if own.group is None else own.group
        (cells,) = (
            c for line, c in rows.items() if line.startswith(f"FNMR of {name},")
        )
        for cell, row in zip(cells, (own, beside), strict=True):
            assert cell.startswith(percent(row.frr.value))
    assert not parts_of(audits_.audit_document(usual_report()), Table, "by-0-averages")


def test_a_conclusion_that_depends_on_the_average_is_no_detail_of_a_table():
    """What one average concludes and the other does not is told on the first screen."""
    report, told = dominated(), []
    (found,) = report.audits
    (beside,) = found.averaged.levels
    for verdict in ("no significant difference", "higher"):
        findings = tuple(replace(f, verdict=verdict) for f in beside.findings)
        averaged = replace(found.averaged, levels=(replace(beside, findings=findings),))
        changed = replace(report, audits=(replace(found, averaged=averaged),))
        document = audits_.audit_document(changed).only("verdict")
        told.append(write_text(document))
    assert told[0] != told[1]


# ---- a comparison --------------------------------------------------------------------


def test_harm_comes_first_and_every_change_has_a_row():
    found = harmed()
    document = comparisons_.comparison_document(found)
    verdict, disparities, figure = document.sections[0].parts
    assert figure.name == "changes-0"
    assert found.harm and verdict.status == "failed"
    by_size = sorted(
        found.harm,
        key=lambda change: (not changes_.is_supported(change, found), -change.ratio),
    )
    headline, (counted, *texts) = verdict.headline, verdict.texts
    assert f"{len(found.harm)} rates are higher" in counted
    changes = (*by_size, *found.improved)
    for change, text in zip(changes, (headline, *texts), strict=True):
        assert text.startswith(change.verdict.capitalize())
        assert percent(change.before) in text and percent(change.after) in text
    assert len(disparities.rows) == len(found.disparities)
    sizes = sorted((max(d.ratio, 1 / d.ratio) for d in found.disparities), reverse=True)
    shown = [float(row.cells[2].text) for row in disparities.rows]
    assert [max(s, 1 / s) for s in shown] == pytest.approx(sizes, rel=0.01)
    rows = [r for t in parts_of(document, Table, "system-0") for r in t.rows]
    assert len(rows) == len(found.changes)
    by_rate = [[c for c in found.changes if c.rate == r] for r in ("far", "frr")]
    for table, of in zip(
        parts_of(document, Table, "system-0"), filter(None, by_rate), strict=True
    ):
        sizes = {c.group: abs(math.log(c.ratio)) for c in of if c.attribute}
        names = [row.name for row in table.rows if not row.everyone]
        assert names == sorted(sizes, key=lambda group: -sizes[group])
    shown = {(row.cells[0].text, row.cells[1].text) for row in rows}
    assert shown == {(percent(c.before), percent(c.after)) for c in found.changes}


def test_largest_change_comes_first_and_of_a_gate_the_largest_harm():
    found = harmed()
    one = next(c for c in found.harm if c.attribute is not None)
    # The factor from or to no error is the end of its interval that is nearer to 1.
    values = {"up": (9, 1, 99), "more": (np.inf, 20, np.inf), "down": (0.01, 0, 1)}
    values |= {"gone": (0, 0, 0.5)}
    names = ("ratio", "ratio_low", "ratio_high")
    changes = tuple(
        replace(
            one,
            group=group,
            verdict="lower" if ratio < 1 else "higher",
            **dict(zip(names, (ratio, *ends), strict=True)),
        )
        for group, (ratio, *ends) in values.items()
    )
    # The second is the largest of the other direction.
    for options, order in (
        ({}, ["down", "more", "up", "gone"]),
        ({"fail_on_harm": True}, ["more", "down", "up", "gone"]),
    ):
        shown = comparisons_.verdict_of_changes(
            replace(found, changes=changes, **options)
        )
        told = [shown.headline, *shown.texts[1:]]
        groups = [re.search(r"of (\w+) \(", text)[1] for text in told[:4]]
        assert groups == order
        assert ["times, difference" in text for text in told[:4]] == [
            group in ("up", "down") for group in order
        ]


def test_legend_of_colours_is_on_the_page_alone():
    report = usual_report()
    assert "Red is above" in report.to_html() and "Red is above" not in report.to_text()


def test_states_of_a_comparison_have_the_words_of_an_audit():
    for verdict, status, words in (
        (TOO_FEW, "undetermined", "The data do not show"),
        ("undetermined", "undetermined", "The data do not show"),
        ("no significant difference", "none", "No rate differs"),
    ):
        changes = tuple(replace(c, verdict=verdict) for c in harmed().changes)
        found = replace(harmed(), changes=changes)
        shown = comparisons_.comparison_document(found).sections[0].parts[0]
        assert shown.status == status and shown.headline.startswith(words)


def test_who_tested_what_and_when_stands_under_the_title_of_a_comparison():
    about = {"system": "S", "dataset": "D", "organisation": "L"}
    found = replace(harmed(), about=about)
    first, other = changes_.short_names(found.systems)
    line = f"System: S; Data set: D; Organisation: L; {other} against {first}"
    assert comparisons_.comparison_document(found).subtitle == line
    dated = f"{line}; Report written: 2026-02-03"
    assert dated in found.to_text(date="2026-02-03")
    page = Page(found.to_html(date="2026-02-03")).text
    assert dated in page.partition("Contents")[0] and page.count("2026-02-03") == 1
    assert "written" not in found.to_text() and "2026-02-03" not in found.to_json()


def test_disparities_have_the_verdict_of_their_interval():
    change, *_ = harmed().disparities
    for low, high, words in (
        (1.1, 2.0, "higher"),
        (0.2, 0.9, "lower"),
        (0.5, 2.0, "no significant difference"),
        (np.nan, np.nan, TOO_FEW),
    ):
        one = replace(change, ratio_low=low, ratio_high=high, levelling_down=False)
        found = replace(harmed(), disparities=(one,))
        _, table, _ = comparisons_.comparison_document(found).sections[0].parts
        assert table.rows[0].cells[3].line == words


def test_three_systems_have_a_section_each():
    first, second = systems(1.0)
    third = replace(second, X=second.X + 1e-6)
    found = compare_systems(first, second, third, far=[1e-2])
    titles = [s.title for s in comparisons_.comparison_document(found).sections]
    assert {"after against before", "after 2 against before"} <= {*titles}


def test_files_are_named_with_their_digests_and_then_in_short():
    names = ["/tests/spring/old.npz", "/tests/autumn/new.npz"]
    found = harmed()
    digests = {names[0]: {"emb.npy": "1" * 64, "labels.csv": "2" * 64}}
    found = replace(
        found,
        systems=tuple(names),
        settings=found.settings | {"sha256": digests},
        changes=tuple(replace(c, system=names[1]) for c in found.changes),
        disparities=tuple(replace(d, system=names[1]) for d in found.disparities),
        measured=tuple(
            replace(m, system=n) for m, n in zip(found.measured, names, strict=True)
        ),
    )
    document = comparisons_.comparison_document(found)
    assert document.subtitle == "new.npz against old.npz"
    facts = dict(document.sections[1].parts[0].rows)
    assert facts["First system"] == names[0]
    (again,) = parts_of(document, Facts, "method")
    assert dict(again.rows)[f"SHA-256 of labels.csv ({names[0]})"] == "2" * 64
    assert "/tests/" not in " ".join(document.sections[0].parts[0].texts)


def test_distances_of_a_comparison_are_named_as_distances():
    """A threshold is kept as a similarity; whoever gave a distance reads a distance."""
    found = compare_systems(*systems(1.0), threshold=[-0.5])
    assert "threshold -0.5" in Page(found.to_html()).text
    found = replace(found, settings={**found.settings, "distance": True})
    printed = (Page(found.to_html()).text, found.to_junit(), found._repr_html_())
    for text in (*printed, found.to_text()):
        assert "distance 0.5" in text and "-0.5" not in text


def test_every_system_has_the_numbers_of_its_own_audit():
    """Rates, disparities, matrix and curves are those that an audit of it prints."""
    for measured, data in zip(harmed().measured, systems(1.0), strict=True):
        (found,) = audit_data(data, far=[1e-2]).audits
        own, expected = measured.levels[0], found.levels[0]
        assert repr(measured.groups) == repr(found.groups)
        for part in ("rates", "disparities", "indices", "threshold"):
            assert repr(getattr(own, part)) == repr(getattr(expected, part))
        assert np.array_equal(own.matrix.far, expected.matrix.far)
        assert np.array_equal(measured.curves.frr, found.curves.frr)
        assert own.findings == ()
    tables = parts_of(comparisons_.comparison_document(harmed()), Table, "by-0")
    assert len(tables[0].rows) == 2 * len(own.rates)
    for row, measured in zip(tables[0].rows, harmed().measured, strict=False):
        assert row.cells[2].text == percent(measured.levels[0].rates[0].far.value)


@pytest.mark.usefixtures("real_figures")
@pytest.mark.slow
def test_long_names_stay_inside_the_figures():
    """Legends of the browser's text: its letters are about .6 of their size wide."""
    names = [f"{'_' * 12} encoder of the year {year}" for year in (2024, 2025, 2026)]
    data = *systems(1.0), systems(0.8)[1]
    found = compare_systems(*data, names=names, far=[1e-2])
    n_names = 0
    for figure in parts_of(comparisons_.comparison_document(found), Drawn):
        for svg, _ in figure.draw():
            width = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])
            for style, x, text in re.findall(
                r'<text style="([^"]*)" x="([\d.-]+)"[^>]*>([^<]*)</text>', svg
            ):
                if "____" in text:
                    size = float(re.search(r"([\d.]+)px", style)[1])
                    assert float(x) >= 0
                    assert float(x) + 0.6 * size * len(text) <= width
                    n_names += 1
    assert n_names >= 4
