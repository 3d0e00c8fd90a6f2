"""Every benchmark answers ``--help``, and takes its numbers by position."""

import runpy
import sys
from pathlib import Path

import pytest

from tests.benchmarks._command import run_command

HERE = Path(__file__).parent
BENCHMARKS = [*sorted(HERE.glob("bench_*.py")), HERE / "check_disparities.py"]


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_answers_help(path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [path.name, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0
    assert f"usage: python -m tests.benchmarks.{path.stem} " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "fixed", "free"),
    [([], (1, 2), ()), (["5"], (5, 2), (5,)), (["5", "6"], (5, 6), (5, 6))],
)
def test_numbers_go_in_by_position(given, fixed, free, monkeypatch):
    called = []

    def of_two(batch=1, n_features=2):
        called.append((batch, n_features))

    def of_many(*n_images):
        called.append(n_images)

    monkeypatch.setattr(sys, "argv", ["bench", *given])
    run_command(of_two, "Two.")
    run_command(of_many, "Many.")
    assert called == [fixed, free]
