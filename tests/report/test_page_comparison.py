"""The page of a comparison flags harm, and escapes what people named."""

import re
from dataclasses import replace

import numpy as np
import pytest

from skfairfr.report import EmbeddingData, audit_data, compare_systems
from skfairfr.report._page_systems import short_names
from skfairfr.report._page_words import count, percent
from skfairfr.report._text_comparison import to_text
from tests.report.test_page import HOSTILE, Page


def systems(noise):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(120), 4)
    group = np.where(y % 2, HOSTILE, "m")
    centre = rng.standard_normal((120, 24))
    first = centre[y] + 0.7 * rng.standard_normal((y.size, 24))
    wider = np.where(y % 2, noise, 0.7)[:, None]
    second = centre[y] + wider * rng.standard_normal((y.size, 24))
    columns = {"sex": group}
    return [EmbeddingData(X, y, columns) for X in (first, second)]


@pytest.fixture(scope="module")
def harmed():
    names = ["<b>old</b>", "new"]
    return compare_systems(*systems(1.0), names=names, far=[1e-2], n_resamples=60)


def test_harm_comes_first_and_labels_are_text(harmed):
    assert harmed.harm
    page = Page(harmed.to_html())
    classes = [a.get("class", "") for _, a in page.elements]
    assert "verdict harm" in classes
    assert not {tag for tag, _ in page.elements} & {"script", "b"}
    assert HOSTILE in page.text and "<b>old</b>" in page.text
    assert page.text.index("Harm: ") < page.text.rindex("What was compared")


def test_digests_name_their_files(harmed):
    digests = {"emb.npy": "1" * 64, "labels.csv": "2" * 64}
    settings = harmed.settings | {"sha256": {"lfw/emb.npy": digests}}
    html = replace(harmed, settings=settings).to_html()
    for file, digest in digests.items():
        assert re.search(f"SHA-256 of {file} .lfw/emb.npy.(<[^>]*>|\\s)*{digest}", html)


def test_every_change_has_a_row(harmed):
    html = replace(harmed, measured=()).to_html()
    page = Page(html)
    n_rows = sum(tag == "tr" for tag, _ in page.elements)
    n_tables = sum(tag == "table" for tag, _ in page.elements)
    assert n_rows == len(harmed.changes) + len(harmed.disparities) + n_tables


def test_without_harm_none_is_flagged():
    same = systems(0.7)[:1] * 2
    found = compare_systems(*same, far=[1e-2], n_resamples=60)
    text = Page(found.to_html()).text
    assert "No rate was found to have changed" in text


@pytest.mark.slow
def test_three_systems_have_a_section_each():
    first, second = systems(1.0)
    found = compare_systems(first, second, second, far=[1e-2], n_resamples=60)
    page = Page(found.to_html())
    assert "after against before" in page.text
    assert "after 2 against before" in page.text


def test_paths_are_shown_in_full_once_and_then_by_their_files(harmed):
    names = ["/tests/spring/old.npz", "/tests/autumn/new.npz"]
    changes = tuple(replace(c, system=names[1]) for c in harmed.changes)
    disparities = tuple(replace(d, system=names[1]) for d in harmed.disparities)
    measured = tuple(
        replace(m, system=name) for m, name in zip(harmed.measured, names, strict=True)
    )
    found = replace(
        harmed,
        systems=tuple(names),
        changes=changes,
        disparities=disparities,
        measured=measured,
    )
    page = Page(found.to_html())
    assert "new.npz against old.npz" in page.text
    assert "First system /tests/spring/old.npz" in page.text
    verdict = page.text[page.text.index("Harm: ") :].split("First system")[0]
    assert "/tests/" not in verdict


def test_ids_are_unique(harmed):
    ids = Page(harmed.to_html()).attributes("id")
    assert len(ids) == len(set(ids))


def test_distances_are_named_as_distances(harmed):
    """A threshold is kept as a similarity; whoever gave a distance reads a distance."""
    found = compare_systems(*systems(1.0), threshold=[-0.5], n_resamples=60)
    assert "threshold -0.5" in Page(found.to_html()).text
    found = replace(found, settings={**found.settings, "distance": True})
    printed = (found.to_html(), found.to_junit(), str(found._repr_html_()))
    for text in (Page(printed[0]).text, *printed[1:], to_text(found)):
        assert "distance 0.5" in text and "-0.5" not in text


# ---- every system by itself ----------------------------------------------------------


def test_every_system_has_the_numbers_of_its_own_audit(harmed):
    """Rates, disparities, matrix and curves are those that an audit of it prints."""
    for measured, data in zip(harmed.measured, systems(1.0), strict=True):
        (audit,) = audit_data(data, far=[1e-2], n_resamples=60).audits
        own, expected = measured.levels[0], audit.levels[0]
        assert repr(measured.groups) == repr(audit.groups)
        for part in ("rates", "disparities", "indices", "threshold"):
            assert repr(getattr(own, part)) == repr(getattr(expected, part))
        assert np.array_equal(own.matrix.far, expected.matrix.far)
        assert np.array_equal(measured.curves.frr, audit.curves.frr)
        assert own.findings == ()
    page = Page(harmed.to_html())
    section = page.text[page.text.rindex("Error rates by sex") :]
    for measured in harmed.measured:
        for row in measured.levels[0].rates:
            assert percent(row.frr.value).replace("\xa0", " ") in section
            assert count(row.far_errors) in section
        for matrix in (measured.levels[0].matrix,):
            n, m = matrix.n_errors[0, 1], matrix.n_impostor[0, 1]
            assert f"{n:,} of {m:,}" in section


@pytest.mark.slow
@pytest.mark.parametrize("n_systems", [2, 3])
def test_systems_differ_by_colour_dash_and_marker(n_systems):
    first, second = systems(1.0)
    data = [first, second, first][:n_systems]
    html = compare_systems(*data, far=[1e-2], n_resamples=60).to_html()
    det = re.findall(r"<svg.*?</svg>", html, re.DOTALL)[-1]
    # Curves come in the order of the groups, and of the systems for each of them.
    lines = re.findall(r'style="fill: none; stroke[^"]*"', det)
    curves = [
        line
        for line in lines
        if not re.search("#(000000|e0e0e0|ffffff)|stroke: #0{6}", line)
    ]
    colours = {re.search(r"#\w{6}", line)[0] for line in curves}
    dashes = {d[1] for line in curves if (d := re.search(r"array: ([\d. ,]+)", line))}
    assert len(colours) >= n_systems and len(dashes) >= n_systems - 1
    figures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    for name in ("before", "after"):
        assert all(f">{name}<" in figure for figure in figures[-3:])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["/a/old.npz", "/b/new.npz"], ["old.npz", "new.npz"]),
        (["/a/x.npz", "/b/x.npz"], ["/a/x.npz", "/b/x.npz"]),
        (["/" + "a" * 60 + "/x", "/" + "a" * 11 + "b" * 49 + "/x"], None),
    ],
)
def test_names_of_systems_are_short_and_differ(names, expected):
    shown = short_names(names)
    assert expected is None or shown == expected
    assert len(set(shown)) == len(names) and max(map(len, shown)) <= 31


@pytest.mark.slow
def test_long_names_stay_inside_the_figures():
    """Legends of the browser's text: its letters are about .6 of their size wide."""
    names = [f"{'_' * 12} encoder of the year {year}" for year in (2024, 2025, 2026)]
    data = *systems(1.0), systems(0.8)[1]
    found = compare_systems(*data, names=names, far=[1e-2], n_resamples=20)
    drawn = re.findall(
        r'<svg[^>]*viewBox="0 0 ([\d.]+)[^>]*>(.*?)</svg>', found.to_html(), re.S
    )
    n_names = 0
    for width, svg in drawn:
        for style, x, text in re.findall(
            r'<text style="([^"]*)" x="([\d.-]+)"[^>]*>([^<]*)</text>', svg
        ):
            if "____" in text:
                size = float(re.search(r"([\d.]+)px", style).group(1))
                assert float(x) >= 0
                assert float(x) + 0.6 * size * len(text) <= float(width)
                n_names += 1
    assert n_names >= 4
