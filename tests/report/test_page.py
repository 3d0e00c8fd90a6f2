"""A page holds what the records say, and nothing that runs or is fetched."""

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest

from skfairfr.report import EmbeddingData, audit, audit_data
from skfairfr.report._limits import limits_of
from skfairfr.report._page_words import percent
from skfairfr.utils import ArgumentError
from tests.report.audits import scored_pairs, small_audit, synthetic, usual_audit

HOSTILE = "<script>alert('x')</script>"
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """Elements, ids, links and text of a page; an unbalanced tag is an error."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).replace("\xa0", " ").split())

    def attributes(self, *names):
        return [a[name] for _, a in self.elements for name in names if name in a]


@cache
def usual_html():
    return usual_audit().to_html()


@pytest.mark.slow
def test_what_stands_on_a_page_can_be_written(tmp_path):
    """Refused before a file is touched, as of a report that was there before."""
    usual_audit().save(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.glob("*.*")}
    for argument, wrong in product(("date", "version"), ("a\ud800", 3, ["a"])):
        with pytest.raises(ArgumentError, match=f"{argument} .*text") as found:
            usual_audit().save(tmp_path, replace=True, **{argument: wrong})
        assert found.value.argument == argument
        assert {path: path.read_bytes() for path in tmp_path.glob("*.*")} == before


@pytest.fixture(scope="module")
def hostile():
    X, y, groups = synthetic()
    groups = np.where(groups == "male", HOSTILE, "a & \"b\" 'c' $x$ {{ 1 }}")
    columns = {"<img src=x onerror=alert(1)>": groups}
    report = audit_data(
        EmbeddingData(X, y, columns),
        far=0.05,
        n_resamples=40,
        limits={"max_fnmr": 0.4, "max_fmr": 0.2},
    )
    return report, Page(report.to_html("<b>source</b>", date="2026-01-01"))


def test_labels_are_text_and_nothing_runs(hostile):
    _, page = hostile
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "img", "b", "iframe", "object", "link", "form"}
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")}
    for label in (HOSTILE, "<b>source</b>", "<img src=x onerror=alert(1)>", "{{ 1 }}"):
        assert label in page.text


def test_figures_hold_labels_as_text(hostile):
    report, _ = hostile
    html = report.to_html()
    figures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(figures) == 3
    for figure in figures[:2]:
        # Long labels lose their middle, and a dollar begins no formula.
        assert "&lt;script&gt;" in figure and "$x$" in figure


def test_nothing_is_fetched(hostile):
    _, page = hostile
    links = page.attributes("href", "src", "xlink:href", "action", "data")
    assert links and all(link.startswith("#") for link in links)
    styles = " ".join(page.attributes("style"))
    assert all(name.startswith("#") for name in re.findall(r"url\(([^)]*)", styles))
    policy = dict(page.elements)["meta"]
    assert "default-src 'none'" in str(page.elements) and policy


def test_ids_are_unique_and_links_lead_somewhere(hostile):
    _, page = hostile
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    links = page.attributes("href", "xlink:href", "aria-labelledby")
    assert {link.lstrip("#") for link in links} <= set(ids)
    used = re.findall(r"url\(#([^)]*)", str(page.elements))
    assert used and set(used) <= set(ids)


def test_every_table_has_a_caption_and_headings(hostile):
    _, page = hostile
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption") == tags.count("thead") > 4
    scopes = [a.get("scope") for tag, a in page.elements if tag == "th"]
    assert set(scopes) == {"col", "row"}


def brute_force(X, y, groups, threshold):
    """Accepted impostor pairs and rejected genuine pairs of each group, by a loop."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    counts = {}
    for i in range(len(y)):
        for j in range(i):
            score = np.float32(unit[i]) @ np.float32(unit[j])
            wrong = (score < threshold) if y[i] == y[j] else (score >= threshold)
            kind = "frr" if y[i] == y[j] else "far"
            scopes = [None] + ([groups[i]] if groups[i] == groups[j] else [])
            for scope in scopes:
                counts[scope, kind] = counts.get((scope, kind), 0) + int(wrong)
    return counts


@pytest.mark.parametrize("average", ["pair", "identity"])
def test_error_counts_are_those_of_a_loop_over_pairs(average):
    data = synthetic(40)
    found = small_audit(data, average=average)
    level = found.levels[0]
    expected = brute_force(*data, level.threshold)
    for row in level.rates:
        errors = expected[row.group, "far"], expected[row.group, "frr"]
        assert (row.far_errors, row.frr_errors) == errors
    if average == "pair":
        sizes = {row.group: row for row in found.groups}
        for row in level.rates:
            n = sizes[row.group]
            assert row.far.value == pytest.approx(row.far_errors / n.n_impostor)
            assert row.frr.value == pytest.approx(row.frr_errors / n.n_genuine)
    text = Page(found.to_html()).text
    assert f" {level.rates[0].far_errors:,} " in text


def test_the_matrix_is_that_of_a_loop_over_pairs():
    X, y, groups = synthetic(40)
    found = small_audit((X, y, groups))
    matrix = found.levels[0].matrix
    unit = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    errors, counts = np.zeros((2, 2), int), np.zeros((2, 2), int)
    for i in range(len(y)):
        for j in range(i):
            if y[i] != y[j]:
                cells = {
                    (matrix.groups.index(groups[a]), matrix.groups.index(groups[b]))
                    for a, b in ((i, j), (j, i))
                }
                for cell in cells:
                    counts[cell] += 1
                    errors[cell] += unit[i] @ unit[j] >= found.levels[0].threshold
    assert np.array_equal(matrix.n_impostor, counts)
    assert np.array_equal(matrix.n_errors, errors)
    assert np.allclose(matrix.far, errors / counts)


def test_curves_are_the_rates_at_one_threshold_each():
    """Along each curve of the DET the FMR rises as the FNMR falls."""
    found = usual_audit()
    assert found.curves.groups == (None, "female", "male")
    for far, frr in zip(found.curves.far, found.curves.frr, strict=True):
        assert (np.diff(far) >= 0).all() and (np.diff(frr) <= 0).all()
    # The level of the audit lies between two points of the curve of everyone.
    at = found.levels[0].rates[0]
    place = np.searchsorted(found.curves.far[0], at.far.value)
    around = found.curves.frr[0][max(place - 1, 0) : place + 1]
    assert around.min() <= at.frr.value <= around.max()


def test_differentials_are_scaled_gini_coefficients():
    """FPD and FND of ISO/IEC 19795-10, from the rates by a double loop."""
    found = usual_audit()
    level = found.levels[0]
    (gini,) = (d for d in level.disparities if d.how == "gini")
    for rate in ("far", "frr"):
        x = [getattr(row, rate).value for row in level.rates[1:]]
        n = len(x)
        total = sum(abs(a - b) for a in x for b in x)
        expected = n / (n - 1) * total / (2 * n * n * (sum(x) / n))
        assert getattr(gini, rate).value == pytest.approx(expected)
    by_name = {index.name: index.value for index in level.indices}
    mean = (gini.far.value + gini.frr.value) / 2
    assert by_name["garbe"] == pytest.approx(mean)


@pytest.mark.parametrize(
    ("limit", "status", "words"),
    [
        (1 - 1e-9, "passed", "The limits: passed."),
        (1e-9, "failed", "The limits: failed."),
        (None, "none", "No limit was given"),
    ],
)
def test_the_verdict_is_that_of_the_checks(limit, status, words):
    if limit is None:
        page = Page(usual_html())
    else:
        page = Page(small_audit(limits={"max_fnmr": limit}).to_html())
    classes = [a.get("class", "") for _, a in page.elements]
    assert f"verdict {status}" in classes
    assert words in page.text


def test_an_undetermined_check_says_how_many_more_people():
    rates = {"a": 0.1, "b": 0.1}
    data = scored_pairs(np.random.default_rng(0), {"a": 40, "b": 40}, rates)
    report = audit_data(data, threshold=0.5, limits={"max_fnmr": 0.12}, n_resamples=40)
    assert report.checks[0].verdict == "undetermined"
    text = Page(report.to_html()).text
    assert "There are too few data to decide" in text
    assert re.search(r"more people in [ab]", text)


def test_limits_are_drawn_where_they_hold():
    found = small_audit(far=[0.1, 0.05], limits={"max_fmr": 0.3})
    assert limits_of(found)["far"].tolist() == [0.3, 0.3]
    assert "limit 30 %" in found.to_html()
    one = replace(found, checks=found.checks[:1])
    assert np.isnan(limits_of(one)["far"]).tolist() == [False, True]
    assert "limit" not in str(re.findall("<svg.*?</svg>", usual_html()))


def test_the_same_report_gives_the_same_page(monkeypatch):
    found = usual_audit()
    assert found.to_html() == found.to_html()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert "1970-01-02" in found.to_html()


def test_a_group_without_pairs_and_one_without_errors_are_shown():
    X, y, groups = synthetic()
    groups = np.where(y == y[0], "alone", groups)
    found = audit(X, y, groups, far=0.05, n_resamples=40)
    text = Page(found.to_html()).text
    assert "no pairs" in text and "alone" in text
    numbers = text.replace("0/0 (nan)", "")
    assert not re.search(r"\bnan\b", numbers)


def test_several_attributes_have_a_section_each():
    X, y, groups = synthetic()
    age = np.where(y % 2, "old", "young")
    found = audit(X, y, {"gender": groups, "age": age}, far=0.05, n_resamples=40)
    page = Page(found.to_html())
    for name in ("gender", "age", "gender & age"):
        assert f"Error rates by {name}" in page.text


def test_given_thresholds_and_distances_are_named_as_such():
    """Whatever the scale, the page says from which side of the threshold on it accepts."""
    found = small_audit(threshold=0.5, far=None)
    text = Page(found.to_html()).text
    assert "the given threshold 0.5" in text and "distance 0.5" not in text
    assert "its similarity is at least the threshold" in text
    level = replace(found.levels[0], threshold=-0.5)
    settings = {**found.settings, "threshold": [-0.5], "distance": True}
    text = Page(replace(found, levels=(level,), settings=settings).to_html()).text
    assert "the given distance 0.5" in text and "-0.5" not in text
    assert "its distance is at most the threshold" in text
    assert "The distance up to which a comparison is accepted" in text


def test_indices_are_marked_where_either_rate_is_not_supported():
    found = usual_audit()
    (level,) = found.levels
    (ratio,) = (
        d
        for d in level.disparities
        if (d.how, d.operating_point) == ("max_min", "overall")
    )
    for supported in (True, False):
        frr = replace(ratio.frr, supported=supported)
        far = replace(ratio.far, supported=True)
        changed = tuple(
            replace(d, far=far, frr=frr) if d is ratio else d for d in level.disparities
        )
        page = replace(found, levels=(replace(level, disparities=changed),)).to_html()
        row = page[page.index("Inequity rate (IR)") :].split("</tr>")[0]
        assert ("not supported" in row) is not supported


def test_reasons_are_in_the_words_of_the_page():
    X, y, groups = synthetic(12)
    text = Page(audit(X, y, groups, far=0.05, n_resamples=40).to_html()).text
    assert "EER of" in text and "FNMR: " in text
    assert not re.search(r"\b(far|frr): |\d%", text)


@pytest.mark.slow
def test_many_groups_become_small_multiples():
    X, y, _ = synthetic(80)
    found = audit(X, y, np.array([f"g{i % 9}" for i in y]), far=0.05, n_resamples=40)
    figures = re.findall(r"<svg.*?</svg>", found.to_html(), re.DOTALL)
    assert all(f">g{i}<" in figures[-1] for i in range(9))


def test_independent_pairs_say_so():
    data = scored_pairs(
        np.random.default_rng(0), {"a": 30, "b": 30}, {"a": 0.2, "b": 0.1}
    )
    same = np.asarray(data.identities[0]) == np.asarray(data.identities[1])
    independent = replace(data, identities=None, y_true=same.astype(int))
    text = Page(audit_data(independent, threshold=0.5, n_resamples=40).to_html()).text
    assert "pairs taken as independent" in text
    assert "Nobody is known by name" in text
    # Without names no number of people, and none to allow for, can be spoken of.
    assert "errors from" not in text and "people who are in many pairs" not in text


def dominated():
    """An audit where one person is in most genuine pairs."""
    X, y, groups = synthetic()
    kept = np.r_[np.repeat(np.flatnonzero(y == y[0]), 2), np.arange(len(y))]
    noise = np.random.default_rng(0).normal(scale=0.05, size=(len(kept), X.shape[1]))
    return small_audit((X[kept] + noise, y[kept], groups[kept]))


def test_both_averages_are_shown_where_one_person_dominates():
    found = dominated()
    text = Page(found.to_html()).text
    assert "Both averages" in text
    section = text[text.index("Every comparison alike") :]
    for level in (found.levels[0], found.averaged.levels[0]):
        for row in level.rates:
            assert percent(row.frr.value).replace("\xa0", " ") in section
    assert "Both averages" not in Page(usual_html()).text


def test_a_conclusion_that_depends_on_the_average_stands_in_the_verdict():
    """What one average concludes and the other does not is no detail of a table."""
    found = dominated()
    words = "the conclusion differs if every person weighs the same"
    for same in (True, False):
        (beside,) = found.averaged.levels
        verdicts = [finding.verdict for finding in found.levels[0].findings]
        if not same:
            verdicts[0] = "worse" if verdicts[0] != "worse" else "undecided"
        findings = tuple(
            replace(finding, verdict=verdict)
            for finding, verdict in zip(beside.findings, verdicts, strict=True)
        )
        averaged = replace(found.averaged, levels=(replace(beside, findings=findings),))
        html = replace(found, averaged=averaged).to_html()
        verdict = html[html.index('class="verdict') :].split("</div>")[0]
        assert (words in " ".join(verdict.split())) is not same


def test_a_difference_of_rates_is_in_percentage_points():
    """A rate of 3 % beside one of 1 % is 2 points higher, and 200 %."""
    (found,) = (d for d in usual_audit().levels[0].disparities if d.how == "difference")
    text = Page(usual_html()).text
    row = text[text.index("largest \N{MINUS SIGN} smallest") :].split("BFAR")[0]
    assert f"{100 * found.far.value:.3g}"[:4] in row
    assert "points" in row and "%" not in row


def test_no_line_ends_before_a_percent_sign():
    shown = re.sub(r"<style>.*?</style>", "", usual_html(), flags=re.DOTALL)
    shown = re.sub(r"<svg.*?</svg>", "", shown, flags=re.DOTALL)
    assert "95\xa0%" in shown and not re.search(r"\d\s%", shown, re.ASCII)


def test_one_group_with_pairs_is_said_to_have_nothing_to_compare_with():
    X, y, _ = synthetic()
    lone = np.where(y == y[0], "alone", "others")
    keep = (y != y[0]) | (np.arange(len(y)) == np.flatnonzero(y == y[0])[0])
    found = audit(X[keep], y[keep], lone[keep], far=0.05, n_resamples=40)
    text = Page(found.to_html()).text
    for rate in ("FMR", "FNMR"):
        said = (
            f"Only one group has the pairs for the {rate} by group: nothing to compare."
        )
        assert said in text
    assert "cannot be determined, fewer than two groups" in found.to_text()
