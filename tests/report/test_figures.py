"""An audit's figures are written, the same ones each time, without pyplot."""

from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from skfairfr.report import EmbeddingData, audit_data
from skfairfr.report._figures import make_folders, write_figures
from skfairfr.report._measure import AuditedROC, Points
from skfairfr.report._notes import collecting
from skfairfr.report._records import Audit
from skfairfr.utils import ArgumentError
from tests.metrics._plot.drawn import fitted, synthetic, unfitted

pytestmark = pytest.mark.usefixtures("real_figures")
NAMES = [
    *("rates", "roc", "error_rates", "scores"),
    "disparity",
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    (folder,) = make_folders(tmp_path_factory.mktemp("figures") / "new", ["g"])
    return folder, write(fitted(), Points.of([0.1, 0.05]), folder)


def write(roc, points, folder, *more, distance=False):
    """The figures of an audit at these points."""
    audited = AuditedROC(roc, points)
    settings = {"confidence_level": 0.95, "distance": distance}
    with collecting([]):
        levels, curves = audited.levels(None), audited.curves(whole=True)
    about = ("gender", settings, 0, 0.1, (), levels, None, ())
    return write_figures(audited, Audit(*about, curves=curves), folder, *more)


def test_every_display_is_written_in_every_format(written):
    folder, paths = written
    expected = [f"{name}.{kind}" for name in NAMES for kind in ("svg", "png")]
    assert [path.name for path in paths] == expected
    assert {path.name for path in folder.iterdir()} == set(expected)


def test_files_are_what_their_names_say(written):
    for path in written[1]:
        start = path.read_bytes()[:100]
        assert start.startswith(b"\x89PNG" if path.suffix == ".png" else b"<?xml")


def test_no_pyplot_figure_is_left(written):
    assert plt.get_fignums() == []


@pytest.mark.slow
def test_same_measurement_writes_same_bytes(written, tmp_path):
    again = write(fitted(), Points.of([0.1, 0.05]), tmp_path)
    assert [p.read_bytes() for p in again] == [p.read_bytes() for p in written[1]]


def drawn(monkeypatch, roc, points, **options):
    """Name of each file -> texts of its figure."""
    found = {}

    def keep(draw, path, size, title, *_):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        texts = [t.get_text() for ax in figure.axes for t in (*ax.texts, ax.title)]
        labels = [label for ax in figure.axes for label in (ax.get_xlabel(),)]
        found[path.name] = [*texts, *labels, len(figure.axes), title]
        return [path]

    monkeypatch.setattr("skfairfr.report._figures.write_figure", keep)
    write(roc, points, Path(), "title", **options)
    return found


def test_given_thresholds_are_those_of_the_figures(monkeypatch):
    found = drawn(monkeypatch, fitted(), Points.of(threshold=[0.4, 0.5]))
    for name in ("roc", "error_rates", "scores", "disparity"):
        assert {"threshold 0.4", "threshold 0.5", "title"} <= set(found[name])


def test_thresholds_of_other_data_are_those_of_the_figures(monkeypatch):
    points = replace(Points.of([0.1]), threshold=np.array([0.45]), set_on="other data")
    texts = drawn(monkeypatch, fitted(), points)
    assert "FMR 10\xa0% elsewhere" in texts["error_rates"]


@pytest.mark.parametrize("points", [Points.of([0.1, 0.02]), Points.of(threshold=0.4)])
def test_levels_are_marked_where_the_whole_population_has_them(monkeypatch, points):
    if points.far is not None:
        expected = fitted().estimate(points.far, rate="far").value
    else:
        X, y, _ = synthetic()
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        left, right = np.triu_indices(len(y), 1)
        impostor = y[left] != y[right]
        expected = [np.mean((unit @ unit.T)[left, right][impostor] >= 0.4)]
    lines = []
    monkeypatch.setattr(
        "skfairfr.report._figures._Drawn._mark",
        lambda drawn, ax, places, above=False: lines.append(places),
    )
    drawn(monkeypatch, fitted(), points)
    over_thresholds = AuditedROC(fitted(), points).points.threshold
    for places, wanted in zip(
        lines, (expected, over_thresholds, over_thresholds, expected), strict=True
    ):
        np.testing.assert_allclose(places, wanted)


def test_distances_are_named_as_such(monkeypatch):
    points = Points.of(threshold=[0.4], distance=True)
    found = drawn(monkeypatch, fitted(), points, distance=True)
    assert "Distance threshold" in found["error_rates"]
    assert "Distance" in found["scores"]
    assert any("distance 0.4" in str(text) for text in found["error_rates"])


@pytest.mark.slow
def test_many_groups_have_axes_of_their_own(monkeypatch):
    X, y, _ = synthetic()
    many = np.array([f"g{i % 8}" for i in y])
    found = drawn(monkeypatch, unfitted().fit(X, y, many), Points.of(0.1))
    for name in ("roc", "error_rates", "scores"):
        assert {f"g{i}" for i in range(8)} <= set(found[name])


def test_every_audit_has_a_folder_of_its_own(tmp_path):
    names = ["a/b", "a-b", "A-b", "a-b-2", "a/b & a-b"]
    folders = make_folders(tmp_path / "new", names)
    assert [folder.name for folder in folders] == [
        *("a-b", "a-b-2", "A-b-3", "a-b-2-2", "a-b---a-b"),
    ]
    assert all(folder.is_dir() for folder in folders)
    assert make_folders(tmp_path / "new", names) == folders


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_file_in_place_of_the_folder_is_refused_before_the_work(tmp_path, inside):
    (tmp_path / "file").write_text("here")
    folder = tmp_path / "file" / inside
    X, y, groups = synthetic()
    data = EmbeddingData(0 * X, y, {"group": groups})
    with pytest.raises(
        ArgumentError, match=r"cannot be written to .*; name a"
    ) as caught:
        audit_data(data, figures=folder)
    assert (caught.value.argument, caught.value.value) == ("figures", folder)
