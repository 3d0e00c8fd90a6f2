"""Tables of the bench in the guide are what its study kept."""

import json
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from numpy.testing import assert_allclose

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "studies"
SETS = json.loads((ROOT / "examples/mitigation/study_bench.json").read_text("utf-8"))[
    "sets"
]


@pytest.fixture(scope="module")
def study():
    return run_path(str(ROOT / "examples/mitigation/study_bench.py"))


@pytest.mark.parametrize("what", ["summary", "controls", "all"])
def test_the_tables_are_those_of_what_is_kept(study, what, capsys):
    study["print_tables"](what)
    name = {"all": "tables"}.get(what, what)
    shown = (PAGES / f"bench_{name}.txt").read_text("utf-8")
    assert shown == capsys.readouterr().out


def test_draws_are_averaged_by_their_geometric_mean(study):
    changes = [
        {"low": 0.25, "high": 1.0, "log_error": 0.3},
        {"low": 1.0, "high": 4.0, "log_error": 0.4},
    ]
    value, low, high = study["over_draws"](changes, True)
    assert_allclose(value, 1.0)  # of 0.5 and 2
    assert_allclose(np.log(high), 1.959964 * 0.25)  # 0.5 / 2, from 3, 4 and 5
    assert_allclose(low * high, 1.0)
    _, _, high = study["over_draws"](changes, False)
    assert_allclose(np.log(high), 1.959964 * 0.35)


def test_noise_on_all_images_wins_nowhere():
    for draws in SETS.values():
        for draw in draws:
            noise = [m for m in draw["methods"] if m["name"].startswith("noise")]
            assert len(noise) == 2 and "noise" not in (draw["winner"] or "")


def test_every_set_has_as_many_draws_and_all_methods(study):
    assert len({len(draws) for draws in SETS.values()}) == 1
    for draws in SETS.values():
        names = [{m["name"] for m in draw["methods"]} for draw in draws]
        assert names[0] == {*study["METHODS"]}
        assert all(n == {*study["METHODS"]} - {*study["ONCE"]} for n in names[1:])
