"""An audit's figures are written, the same ones each time, without pyplot."""

import matplotlib.pyplot as plt
import pytest

from skfairfr.report import EmbeddingData, audit_data
from skfairfr.report._figures import make_folders, write_figures
from skfairfr.report._measure import Points
from skfairfr.utils import ArgumentError
from tests.metrics._plot.drawn import fitted, synthetic, unfitted

NAMES = ["roc", "error_rates", "scores", "disparity", "disparity_uncertainty"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    (folder,) = make_folders(tmp_path_factory.mktemp("figures") / "new", ["g"])
    return folder, write_figures(fitted(), folder, Points.of([0.1, 0.05]))


def test_every_display_is_written_in_every_format(written):
    folder, paths = written
    names = [*NAMES, "group_far_0.1", "group_far_0.05"]
    expected = [f"{name}.{kind}" for name in names for kind in ("svg", "png")]
    assert [path.name for path in paths] == expected
    assert {path.name for path in folder.iterdir()} == set(expected)


def test_files_are_what_their_names_say(written):
    for path in written[1]:
        start = path.read_bytes()[:100]
        assert start.startswith(b"\x89PNG" if path.suffix == ".png" else b"<?xml")


def test_no_pyplot_figure_is_left(written):
    assert plt.get_fignums() == []


def test_same_measurement_writes_same_bytes(written, tmp_path):
    again = write_figures(fitted(), tmp_path, Points.of([0.1, 0.05]))
    assert [p.read_bytes() for p in again] == [p.read_bytes() for p in written[1]]


def test_without_groups_there_is_no_disparity(tmp_path):
    X, y, _ = synthetic()
    paths = write_figures(unfitted().fit(X, y), tmp_path, Points.of(0.1))
    assert [path.stem for path in paths[::2]] == NAMES[:3]


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
