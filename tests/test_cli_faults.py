"""The command where it fails: faults, missing memory and interruptions each have a status."""

import sys

from skfairfr import cli
from tests.test_cli import assert_one_line, run


def test_a_broken_import_is_no_unusable_input(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "skfairfr.report", None)
    code, _, err = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert code == 4
    assert "ModuleNotFoundError" in err
    assert "please report it" in err


def test_memory_that_runs_out_is_told(capsys, monkeypatch):
    def too_large(arguments):
        raise MemoryError("Unable to allocate 1 TiB")

    monkeypatch.setattr(cli, "_audit", too_large)
    found = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert_one_line(*found)
    assert "1 TiB" in found[2]


def test_a_fault_is_no_failed_check(capsys, monkeypatch):
    def broken(arguments):
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(cli, "_audit", broken)
    code, out, err = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert (code, out) == (4, "")
    assert "ZeroDivisionError: ours" in err


def test_interruption(capsys, monkeypatch):
    def interrupt(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_audit", interrupt)
    code, out, err = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert (code, out, err) == (130, "", "skfairfr audit: interrupted\n")
