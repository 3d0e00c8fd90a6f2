"""skfairfr bench: what it prints and writes, and one clear line for unusable input."""

import json

import numpy as np
import pytest

from skfairfr.model_selection import _mitigations
from tests.model_selection.toy_methods import crowd
from tests.test_cli import assert_one_line, run

SMALL = ("--fmr", "0.05", "--splits", "2", "--inner-splits", "2", "--n-resamples", "20")
# What the toys remove tells people apart, too, and costs more than would be allowed.
QUICK = (*SMALL, "--max-cost", "inf")
TOYS = {
    "group means out": _mitigations._Named(
        "tests.model_selection.toy_methods", "Remover", {}
    ),
    "LDA": _mitigations._Named("sklearn.decomposition", "PCA", {"n_components": 4}),
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
    monkeypatch.setattr(_mitigations, "_NAMED", TOYS)
    monkeypatch.setattr(_mitigations, "MITIGATIONS", tuple(TOYS))
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
    assert refused == 2 and "holds an older report (bench.json)" in told
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
    options = ("--methods", "LDA", "--metric", "bfrr", "fnmr_at_fmr")
    _, out, _ = run(capsys, *arguments, *options, "--replace")
    assert f"{tmp_path / 'winner'} is of an earlier run" in out


def test_methods_and_metrics_are_heard(capsys, faces, toys):
    options = ("--methods", "LDA", "--metric", "bfrr", "fnmr_at_fmr", *QUICK)
    code, out, _ = run(capsys, "bench", faces, "--attribute", "gender", *options)
    assert code == 0
    assert "LDA does not lower BFRR detectably" in " ".join(out.split())
    assert "group means out" not in out


def test_json_alone_is_printed(capsys, faces, toys, tmp_path):
    arguments = ("bench", faces, "--attribute", "gender", "--methods", "LDA", *QUICK)
    _, out, _ = run(capsys, *arguments, "--format", "json", "--out", tmp_path)
    assert out == (tmp_path / "bench.json").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--attribute", "gender", "--methods", "asnorm"), "--methods has 'asnorm'"),
        (("--attribute", "beard"), "holds no 'beard'"),
        (("--attribute", "gender", "--splits", "1"), "--splits: must be an integer of"),
        (("--attribute", "gender", "--metric", "eer"), "--metric must be different"),
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
