"""Tables of the bench in the guide are what its study kept."""

import json
import re
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from numpy.testing import assert_allclose

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "evidence"
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
    ends = np.exp([[-1 - 0.3, -1 + 0.3], [1 - 0.4, 1 + 0.4]])
    changes = [{"low": low, "high": high} for low, high in ends]
    value, low, high = study["over_draws"](changes, True)
    assert_allclose(value, 1.0)
    assert_allclose(np.log(high), 0.25)  # 0.5 / 2, from 3, 4 and 5
    assert_allclose(low * high, 1.0)
    assert_allclose(np.log(study["over_draws"](changes, False)[2]), 0.35)
    assert_allclose(study["over_draws"](changes[:1], True)[1:], ends[0])


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


def test_ratios_that_the_guide_quotes_are_in_the_tables():
    guide = (ROOT / "docs/understand/mitigating.rst").read_text("utf-8")
    section = guide.split("What to try first\n")[1]
    quoted = re.findall(r"\d\.\d\d \[\d\.\d\d, \d\.\d\d\]", " ".join(section.split()))
    names = ("bench_summary.txt", "bench_controls.txt")
    shown = "".join((PAGES / name).read_text("utf-8") for name in names)
    assert len(quoted) > 15 and all(ratio in shown for ratio in quoted)
