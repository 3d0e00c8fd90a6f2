"""Figures of a page: what they show, and their files, the same ones each time."""

import itertools
import re
from base64 import b64decode
from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from skfairfr._core._kinds import SEARCHES
from skfairfr._text._words import NO_DIFFERENCE
from skfairfr.report import EmbeddingData, PairData, audit_data
from skfairfr.report import _figures as figures
from skfairfr.report.sections._curves import curves_of_groups
from skfairfr.report.sections._rates import in_one_order, rates_figure, ratios_figure
from tests.report.audits import small_report, synthetic

pytestmark = pytest.mark.usefixtures("real_figures")
SHARES = {"a": 0.4, "b": 0.3, "c": 0.3}
OF_RATE = {"far": "FMR", "frr": "FNMR"}


def faces(**options):
    X, y, groups = synthetic(groups=SHARES, **options)
    return EmbeddingData(X, y, {"group": groups})


@pytest.fixture(scope="module")
def report():
    return audit_data(faces(), threshold=[0.3, 0.45])


@pytest.fixture
def axes(monkeypatch):
    """What draws the figures of a part of a page and gives the axes of each."""

    def keep(draw, height, about):
        figure = Figure(figsize=(figures.WIDTH, height), layout="constrained")
        draw(figure)
        return figure.axes, about

    monkeypatch.setattr(figures, "_svg", keep)
    return lambda part: [axes for axes, _ in part.draw()]


def counted(data, threshold):
    """FMR and FNMR of everyone (None) and of each group, by a double loop over groups."""
    unit = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    left, right = np.triu_indices(len(data.y), 1)
    score = (unit @ unit.T)[left, right]
    same, group = data.y[left] == data.y[right], data.columns["group"]
    found = {}
    for label in (None, *np.unique(group)):
        inside = np.ones(len(left), dtype=bool)
        if label is not None:
            inside = (group[left] == label) & (group[right] == label)
        far = np.mean(score[inside & ~same] >= threshold)
        found[label] = far, np.mean(score[inside & same] < threshold)
    return found


def points_of(ax):
    """Markers without a line: places (x, y) of one point each."""
    return [line.get_xydata()[0].tolist() for line in ax.lines if is_point(line)]


def is_point(line):
    return line.get_marker() not in ("", "None", None) and len(line.get_xdata()) == 1


def stands_at(ax, value):
    """Whether there is an upright line at a value."""
    places = [np.unique(x.get_xdata()).tolist() for x in ax.lines if not is_point(x)]
    return [value] in places


def texts_of(figure):
    """Texts of all axes of a figure: titles, labels and those of legends."""
    found = []
    for ax in figure:
        found += [ax.get_title(), ax.get_xlabel(), ax.get_ylabel()]
        found += [t.get_text() for t in ax.texts]
        if ax.get_legend() is not None:
            found += [t.get_text() for t in ax.get_legend().get_texts()]
    return found


# ---- what they show ------------------------------------------------------------------


def test_points_of_a_det_are_the_rates_at_the_thresholds(report, axes):
    (audit,) = report.audits
    ((ax,),) = axes(curves_of_groups(audit))
    expected = [
        rates
        for level in audit.levels
        for rates in counted(faces(), level.threshold).values()
        if min(rates) > 0
    ]
    assert len(expected) >= 6
    assert_allclose(sorted(points_of(ax)), sorted(map(list, expected)), rtol=1e-9)


def in_order(rates):
    """Groups by the higher of their two rates, the highest first."""
    return sorted(rates, key=lambda group: max(rates[group]), reverse=True)


def from_the_top(ax, ticks):
    return sorted(ticks, reverse=not ax.yaxis_inverted())


@pytest.mark.parametrize("place", [0, 1])
def test_ratios_are_those_to_the_reference(report, axes, place):
    """Points are ratios of rates; a group stands beside its own, and 1 is marked."""
    audit = in_one_order(report.audits[0])
    level, later = audit.levels[place], replace(audit, levels=audit.levels[place:])
    rates = counted(faces(), level.threshold)
    first = in_order(counted(faces(), audit.levels[0].threshold))
    for n, ((ax,), rate) in enumerate(
        zip(axes(ratios_figure(later)), OF_RATE, strict=True)
    ):
        people = {g: own for g, own in rates.items() if g not in (None, "a")}
        expected = {g: own[n] / rates["a"][n] for g, own in people.items()}
        names = [label.get_text() for label in ax.get_yticklabels()]
        ticks = dict(zip(names, ax.get_yticks(), strict=True))
        found = {y: x for x, y in points_of(ax)}
        assert {ticks[g]: pytest.approx(r) for g, r in expected.items()} == found
        assert OF_RATE[rate] in ax.get_xlabel() and " a" in ax.get_xlabel()
        assert stands_at(ax, 1)
        assert from_the_top(ax, found) == [ticks[g] for g in first if g in people]


def test_only_what_differs_has_a_thick_line_and_few_errors_a_hollow_point(axes):
    data = faces(crowding={"a": 0.0, "b": 12.0, "c": 0.0})
    (audit,) = audit_data(data, far=0.05).audits
    findings = [f for f in audit.levels[0].findings if f.rate == "far"]
    assert {f.verdict for f in findings} == {"higher", "no significant difference"}
    (ax,), _ = axes(ratios_figure(audit))
    widths = [float(lines.get_linewidths()[0]) for lines in ax.collections]
    assert [width > 1 for width in widths] == [f.verdict == "higher" for f in findings]
    points = [line for line in ax.lines if line.get_marker() == "o"]
    filled = [point.get_markerfacecolor() != "white" for point in points]
    assert filled == [f.ratio.supported for f in findings]


def test_an_infinite_ratio_is_an_arrow_at_the_edge(axes):
    (audit,) = audit_data(faces(), far=0.05).audits
    (level,) = audit.levels
    findings = tuple(
        replace(f, ratio=replace(f.ratio, value=np.inf, high=np.inf))
        for f in level.findings
    )
    audit = replace(audit, levels=(replace(level, findings=findings),))
    for (ax,) in axes(ratios_figure(audit)):
        places = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == ">"]
        assert places == [ax.get_xlim()[1]] * (len(audit.groups) - 2)


def test_a_limit_exceeded_before_adjustment_alone_is_named_below_the_figure():
    (audit,) = audit_data(faces(), far=0.05).audits
    highest = max(audit.levels[0].rates[1:], key=lambda row: row.far.low)
    limits = {"max_fmr": 0.999 * highest.far.low}
    report = audit_data(faces(), far=0.05, limits=limits)
    assert [check.verdict for check in report.checks] == ["undetermined"]
    text = (
        f"adjustment for the number of groups: that the FMR of {highest.group} exceeds"
    )
    assert text in rates_figure(report.audits[0]).caption
    assert text not in rates_figure(audit).caption

    # If verdicts are withheld, it is not the adjustment that leaves them open.
    (check,) = report.checks
    withheld = replace(report.audits[0], checks=(replace(check, reason="withheld"),))
    assert text not in rates_figure(withheld).caption


def test_a_limit_on_a_ratio_is_drawn_with_the_ratios_of_its_rate(axes):
    (audit,) = audit_data(faces(), far=0.05, limits={"max_fnmr_ratio": 1.7}).audits
    assert [stands_at(ax, 1.7) for (ax,) in axes(ratios_figure(audit))] == [False, True]


def test_both_rates_have_the_groups_in_one_order(report, axes):
    audit = in_one_order(report.audits[0])
    rates = counted(faces(), audit.levels[0].threshold)
    for (ax,) in axes(rates_figure(audit)):
        names = [label.get_text() for label in ax.get_yticklabels()]
        found = [name for name in names if name in SHARES]
        assert found == in_order({g: rates[g] for g in SHARES})


def test_given_thresholds_are_those_of_the_figures(report, axes):
    (audit,) = report.audits
    ((ax,),) = axes(curves_of_groups(audit))
    assert {"threshold 0.3", "threshold 0.45"} <= set(texts_of([ax]))


def test_thresholds_of_other_data_are_those_of_the_figures(axes):
    other = faces(n_identities=80)
    (audit,) = audit_data(faces(), far=0.1, threshold_from=other).audits
    ((ax,),) = axes(curves_of_groups(audit))
    assert any("10\xa0% elsewhere" in text for text in texts_of([ax]))


def test_distances_are_named_as_such(axes):
    data = faces()
    unit = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    left, right = np.triu_indices(len(data.y), 1)
    both = [(c[left], c[right]) for c in (data.y, data.columns["group"])]
    scores = -np.linalg.norm(unit[left] - unit[right], axis=1)
    listed = PairData(scores, both[0], {"group": both[1]})
    (audit,) = audit_data(listed, threshold=-1.1).audits
    audit = replace(audit, settings=audit.settings | {"distance": True})
    ((ax,),) = axes(curves_of_groups(audit))
    assert "distance 1.1" in texts_of([ax])


@pytest.mark.slow
def test_many_groups_have_axes_of_their_own(axes):
    X, y, _ = synthetic()
    data = EmbeddingData(X, y, {"group": np.array([f"g{i % 8}" for i in y])})
    (panels,) = axes(curves_of_groups(audit_data(data, far=0.1).audits[0]))
    assert [ax.get_title() for ax in panels if ax.get_visible()] == [
        f"g{i}" for i in range(8)
    ]


def test_what_cannot_be_drawn_is_left_out():
    """One kind of pairs has no curve, and no pairs of a second group have no ratio."""
    data = small_report(threshold=0.3, far=None).audits[0]
    groups = tuple(replace(row, n_impostor=0) for row in data.groups)
    assert curves_of_groups(replace(data, groups=groups)) is None
    assert curves_of_groups(replace(data, curves=None)) is None
    untested = [replace(f, group=None, reference=None) for f in data.levels[0].findings]
    level = replace(data.levels[0], findings=tuple(untested))
    assert ratios_figure(replace(data, levels=(level,))) is None


# ---- files ---------------------------------------------------------------------------


def saved(report, folder):
    """The page that is saved, and its figures by the names of their files."""
    report.save(folder, date="2026-01-01", version="1")
    drawn = {path.name: path.read_text() for path in (folder / "figures").iterdir()}
    return (folder / "report.html").read_text(), drawn


@pytest.mark.parametrize("names", [["a/b", "A-b"], ["../up", "..\\up"]])
def test_every_figure_of_a_page_is_a_file_beside_it(tmp_path, monkeypatch, names):
    """Names of attributes become those of files, which differ also where case does not count."""
    written = itertools.count()
    monkeypatch.setattr(
        figures, "_svg", lambda *given: (f"<svg>{next(written)}</svg>", given[-1])
    )
    data = faces()
    groups = data.columns["group"], np.where(data.y % 2, "odd", "even")
    columns = dict(zip(names, groups, strict=True))
    report = audit_data(EmbeddingData(data.X, data.y, columns), far=0.1)
    page, drawn = saved(report, tmp_path / "report")
    shown = [
        b64decode(uri).decode()
        for uri in re.findall(r"data:image/svg\+xml;base64,([^\"]*)", page)
    ]
    assert sorted(drawn.values()) == sorted(shown)
    assert len({name.casefold() for name in drawn}) == len(shown) >= 3 * 5
    for name in drawn:
        assert re.fullmatch(r"[\w-]+\.svg", name)
    assert {path.name for path in tmp_path.iterdir()} == {"report"}


def test_same_measurement_writes_same_bytes(tmp_path):
    one, other = (saved(small_report(), tmp_path / name) for name in "ab")
    assert one == other and len(one[1]) >= 5
    for svg in one[1].values():
        assert svg.startswith("<?xml") and "</svg>" in svg
    assert plt.get_fignums() == []


def test_the_text_and_the_json_draw_nothing(monkeypatch):
    """Rendering takes most of the time of a page."""
    drawn = []
    monkeypatch.setattr(figures, "_svg", lambda *about: drawn.append(about))
    report = small_report()
    for form in (report.to_text, report.to_json, report.to_card, report._repr_html_):
        form()
    assert drawn == []


def test_a_group_without_a_ratio_is_marked_in_its_row(axes):
    undefined = SimpleNamespace(value=np.nan, low=0.0, high=np.inf, supported=False)
    known = SimpleNamespace(value=2.0, low=1.1, high=3.0, supported=True)
    findings = [
        SimpleNamespace(ratio=of, group=g, reference="c", verdict=NO_DIFFERENCE)
        for g, of in (("a", known), ("b", undefined))
    ]
    ((ax,), _) = figures.ratios_to_reference(findings, SEARCHES.far)
    ((text, row),) = [(t.get_text(), t.get_position()[1]) for t in ax.texts]
    assert (text, row) == ("no ratio: no errors", 1)
