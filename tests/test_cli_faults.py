"""The command where it fails: faults, missing memory and interrupts each have a status."""

import errno
import os
import signal
import sys

import numpy as np
import pytest

from skfairfr.cli import _commands
from tests.report.audits import synthetic, without_rendering
from tests.test_cli import QUICK, assert_one_line, run


def test_a_broken_import_is_no_unusable_input(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "skfairfr.report", None)
    code, _, err = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert code == 4
    assert "ModuleNotFoundError" in err
    assert "please report it" in err


def failing_with(error):
    def fail(arguments):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("Unable to allocate 1 TiB"), "error: out of memory: Unable to"),
        (OSError(errno.ENOSPC, "No space left", "x.svg"), "No space left: 'x.svg'"),
    ],
)
def test_what_does_not_suffice_is_told(capsys, monkeypatch, error, words):
    monkeypatch.setattr(_commands, "run_audit", failing_with(error))
    found = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert_one_line(*found)
    assert words in found[2]


@pytest.mark.parametrize("error", [ZeroDivisionError("ours"), RuntimeError("ours")])
def test_a_fault_is_no_failed_check(capsys, monkeypatch, error):
    monkeypatch.setattr(_commands, "run_audit", failing_with(error))
    code, out, err = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert (code, out) == (4, "")
    assert f"{type(error).__name__}: ours" in err


def test_interruption(capsys, monkeypatch):
    monkeypatch.setattr(_commands, "run_audit", failing_with(KeyboardInterrupt()))
    code, out, err = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert (code, out, err) == (130, "", "skfairfr audit: interrupted\n")


def test_an_interrupted_audit_leaves_the_old_report_whole(
    capsys, monkeypatch, tmp_path
):
    without_rendering(monkeypatch)
    X, y, groups = synthetic(60)
    np.savez(tmp_path / "faces.npz", embedding=X, identity=y, gender=groups)
    out = tmp_path / "out"
    out.mkdir()
    old = {"audit.json": "old", "report.html": "old", "notes.txt": "mine"}
    for name, text in old.items():
        (out / name).write_text(text)

    def interrupted(*_):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("skfairfr.report._report.to_csv", interrupted)
    given = ["--attribute", "gender", "--out", out, "--replace", *QUICK]
    code, said, told = run(capsys, "audit", tmp_path / "faces.npz", *given)
    assert (code, told) == (130, "skfairfr audit: interrupted\n")
    # The report is printed before its files are written and figures are drawn.
    assert "Result" in said and "Page:" not in said
    assert {path.name: path.read_text() for path in out.iterdir()} == old
