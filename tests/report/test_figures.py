"""An audit's figures are written, the same ones each time, without pyplot."""

import warnings

import matplotlib.pyplot as plt
import pytest

from skfairfr.report._figures import write_figures
from tests.metrics._plot.drawn import fitted, synthetic, unfitted

NAMES = ["roc", "error_rates", "scores", "disparity", "disparity_uncertainty"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures") / "new"
    return folder, write_figures(fitted(), folder, far=[0.1, 0.05], dpi=50)


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
    options = {"far": [0.1, 0.05], "dpi": 50}
    again = write_figures(fitted(), tmp_path, **options, formats=["svg"])
    first = [path for path in written[1] if path.suffix == ".svg"]
    assert [p.read_bytes() for p in again] == [p.read_bytes() for p in first]


def test_without_groups_there_is_no_disparity(tmp_path):
    X, y, _ = synthetic()
    paths = write_figures(unfitted().fit(X, y), tmp_path, far=0.1, formats=["svg"])
    assert [path.stem for path in paths] == NAMES[:3]


@pytest.mark.parametrize(
    ("wrong", "message"), [({"far": 2}, "far"), ({"formats": ["gif"]}, "formats")]
)
def test_arguments_are_checked(wrong, message, tmp_path):
    with pytest.raises(ValueError, match=message), warnings.catch_warnings():
        write_figures(fitted(), tmp_path / "none", **wrong)
    assert not (tmp_path / "none").exists()
