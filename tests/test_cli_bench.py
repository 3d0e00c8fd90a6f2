"""skfairfr bench: what it prints and writes, and one clear line for unusable input."""

import json
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from skfairfr.cli import main
from skfairfr.model_selection import _mitigations
from tests.model_selection.toy_methods import crowd
from tests.test_cli import assert_one_line, run

SMALL = ("--fmr", "0.05", "--splits", "2", "--inner-splits", "2")
# What the toys remove tells people apart, too, and costs more than would be allowed.
QUICK = (*SMALL, "--max-cost", "inf")
TOYS = {
    "group means out": ("tests.model_selection.toy_methods", "Remover", {}, {}),
    "LDA": ("sklearn.decomposition", "PCA", {"n_components": 4}, {}),
}


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "faces.npz"
    X, y, group = crowd()
    others = {"odd": np.where(y % 2, "odd", "even")}
    np.savez(path, embedding=X, identity=y, gender=group, **others)
    return str(path)


@pytest.fixture
def toys(monkeypatch):
    monkeypatch.setattr(_mitigations, "_known", lambda setting: TOYS)
    packages = ("sklearn", "tests")
    monkeypatch.setattr("skfairfr.utils._saved.PACKAGES", packages)


def test_the_winner_its_figure_and_its_fits_are_written(capsys, faces, toys, tmp_path):
    arguments = ("bench", faces, "--attribute", "gender", "--other", "odd", *QUICK)
    code, out, err = run(capsys, *arguments, "--out", tmp_path)
    assert (code, err) == (0, "")
    assert "group means out lowers BFAR from" in " ".join(out.split())
    names = {p.name for p in tmp_path.iterdir()}
    files = {"bench.json", "bench.txt", "bench.svg", "bench.png"}
    assert names == files | {"fits", "winner"}
    read = json.loads((tmp_path / "bench.json").read_text(), parse_constant=pytest.fail)
    assert read["winner"] == "group means out" and read["others"] == ["odd"]
    assert read["source"] == faces
    assert f"load_mitigation('{tmp_path / 'winner'}')" in out
    assert out.startswith((tmp_path / "bench.txt").read_text())
    refused, _, told = run(capsys, *arguments, "--out", tmp_path)
    assert refused == 2 and "contains an older report (bench.json)" in told
    assert "--replace" in told
    # The same command goes on from the fits that are there, and prints the same.
    again = run(capsys, *arguments, "--out", tmp_path, "--replace")
    assert again == (code, out, err)


@pytest.mark.slow
def test_the_winner_of_an_earlier_run_is_not_taken_for_one(
    capsys, faces, toys, tmp_path
):
    arguments = ("bench", faces, "--attribute", "gender", *QUICK, "--out", tmp_path)
    _, out, _ = run(capsys, *arguments)
    assert (tmp_path / "winner").exists() and "earlier run" not in out
    options = ("--methods", "LDA", "--metric", "bfrr,fnmr_at_fmr")
    _, out, _ = run(capsys, *arguments, *options, "--replace")
    assert f"{tmp_path / 'winner'} is of an earlier run" in out


def test_methods_and_metrics_are_heard_and_json_alone_is_printed(
    capsys, faces, toys, tmp_path
):
    options = ("--methods", "LDA", "--metric", "bfrr,fnmr_at_fmr", *QUICK)
    asked = (*options, "--format", "json", "--out", tmp_path)
    code, out, _ = run(capsys, "bench", faces, "--attribute", "gender", *asked)
    assert code == 0 and out == (tmp_path / "bench.json").read_text()
    text = " ".join((tmp_path / "bench.txt").read_text().split())
    assert "LDA does not lower BFRR detectably" in text
    assert "group means out" not in text


GUIDE = (
    Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "reduce_disparity.rst"
)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with the guide's module mine.py, which is the current one."""
    after = GUIDE.read_text(encoding="utf-8").partition("``mine.py``")[2]
    code = re.search(r"code-block:: python\n\n((?:   .*\n|\n)+)", after)[1]
    (tmp_path / "mine.py").write_text(textwrap.dedent(code))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("mine", None)


@pytest.mark.parametrize("methods", [(), ("--methods", "LDA")])
def test_a_method_of_ones_own(capsys, faces, toys, own, methods):
    option = "--method", "directions=mine:GroupDirections"
    arguments = ("bench", faces, "--attribute", "gender", *QUICK, *methods, *option)
    code, out, err = run(capsys, *arguments, "--quiet", "--out", own / "out")
    assert (code, err) == (0, "")
    assert "directions lowers BFAR from" in " ".join(out.split())
    assert "directions is not written: mine.GroupDirections" in out
    read = json.loads((own / "out" / "bench.json").read_text())
    names = [method["name"] for method in read["methods"]]
    assert sorted(names) == sorted(["directions", *methods[1:]])
    assert not (own / "out" / "winner").exists()


@pytest.mark.parametrize(
    ("method", "words"),
    [
        *(("x", "cannot be imported"), ("x=nowhere:X", "'nowhere'")),
        *(("x=mine:Nothing", "'Nothing'"), ("x=mine:np", "not callable")),
        *(("LDA=mine:GroupDirections", "named twice"), ("x=mine:BaseEstimator", "'x'")),
    ],
)
def test_a_method_that_cannot_be_had(capsys, faces, toys, own, method, words):
    options = ("--attribute", "gender", "--methods", "LDA", "--method", method)
    found = run(capsys, "bench", faces, *options)
    assert_one_line(*found, command="bench")
    assert "--method " in found[2] and words in found[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--attribute", "gender", "--methods", "asnorm"), "--methods has 'asnorm'"),
        (("--attribute", "beard"), "contains no 'beard'"),
        (("--attribute", "gender", "--splits", "1"), "--splits: must be an integer of"),
        (
            ("--attribute", "gender", "--splits", "999"),
            "--splits is 999, and there are",
        ),
        (("--attribute", "gender", "--metric", "eer"), "--metric: invalid choice"),
        (("--attribute", "gender", "--fmr", "1e-7"), "--fmr is below"),
        (
            ("--attribute", "gender", "--max-cost", ".5"),
            "--max-cost: must be a number of",
        ),
        (("--attribute", "gender", "--other", "gender"), "was named twice"),
        ((), "--attribute"),
    ],
)
def test_unusable_arguments(capsys, faces, options, message):
    found = run(capsys, "bench", faces, *options)
    assert_one_line(*found, command="bench")
    assert message in found[2]


@pytest.mark.parametrize("metadata", [[], ["--metadata", "people.csv"]])
def test_bench_of_scores_requires_embeddings(tmp_path, capsys, metadata):
    path = tmp_path / "scores.txt"
    path.write_text("1 ann/1.wav ann/2.wav 0.7\n0 ann/1.wav bob/1.wav 0.1\n")
    assert main(["bench", str(path), "-a", "gender", *metadata]) == 2
    assert "contains no embeddings, which a bench needs" in capsys.readouterr().err
