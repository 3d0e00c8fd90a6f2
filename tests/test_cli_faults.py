"""The command where it fails: faults, missing memory and interruptions each have a status."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from skfairfr import cli
from skfairfr._core._cluster import WorkersEndedError
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


def failing_with(error):
    def fail(arguments):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ImportError("failed to map segment", name="a"), "out of memory, while"),
        (MemoryError(), "error: out of memory; free memory, or"),
        (OSError(errno.ENOSPC, "No space left", "x.svg"), "writing 'x.svg' failed (No"),
        (OSError(errno.EFBIG, "File too large"), "writing failed (File too large)"),
        (WorkersEndedError("ended (n_jobs=1 starts none)"), "(--n-jobs=1 starts none)"),
    ],
)
def test_what_does_not_suffice_is_told(capsys, monkeypatch, error, words):
    monkeypatch.setattr(cli, "_audit", failing_with(error))
    found = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert_one_line(*found)
    assert words in found[2]


def test_another_runtime_error_is_a_fault(capsys, monkeypatch):
    monkeypatch.setattr(cli, "_audit", failing_with(RuntimeError("ours")))
    code, _, err = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert code == 4 and "RuntimeError: ours" in err


@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")],
)
@pytest.mark.parametrize("lost", [False, True, "in an error"])
def test_a_signal_ends_the_command(capsys, monkeypatch, number, said, lost):
    """Libraries may lose the exception of a signal, or make another error of it."""

    def stopped(arguments):
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            if not lost:
                raise
            if lost == "in an error":
                raise ImportError("multiarray failed to import") from None
        return "all is well", 0

    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setattr(cli, "_audit", stopped)
    found = run(capsys, "audit", "faces.npz", "--attribute", "gender")
    assert found == (128 + number, "", f"skfairfr audit: {said}\n")
    assert before == [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_stream_is_no_fault(capsys, monkeypatch, closed):
    monkeypatch.setattr(sys, closed, None)
    monkeypatch.setattr(cli, "_audit", lambda arguments: ("text", 3))
    assert cli.main(["audit", "faces.npz", "--attribute", "gender"]) == 3
    monkeypatch.setattr(cli, "_audit", failing_with(ValueError("unusable")))
    assert cli.main(["audit", "faces.npz", "--attribute", "gender"]) == 2
    assert capsys.readouterr().out == ("text" if closed == "stderr" else "")


# Addresses are limited as ulimit -v does, far above what is needed.
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))
from skfairfr import cli
def act(arguments):
    {act}
cli._audit = act
sys.exit(cli.main(["audit", "x", "--attribute", "y"]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits addresses")
@pytest.mark.parametrize(
    ("act", "code", "said"),
    [
        # As OpenBLAS ends the process.
        ("import ctypes; ctypes.CDLL(None).exit(1)", 2, "out of memory: a library"),
        ("return 'a check failed', 1", 1, ""),
        ("return 'passed', 0", 0, ""),
        ("raise ValueError('no such column')", 2, "error: no such column"),
        ("raise ZeroDivisionError", 4, "please report it"),
        ("import os; os.kill(os.getpid(), 9)", 137, ""),
        (
            "import os; os.kill(os.getppid(), 15); import time; time.sleep(9)",
            143,
            "termi",
        ),
        ("import os; os.killpg(0, 2); import time; time.sleep(9)", 130, "interrupted"),
    ],
)
def test_a_library_that_ends_the_process_is_no_failed_check(act, code, said):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(act=act)],
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert said or not done.stderr
    assert (done.stdout != "") == (act.startswith("return"))
