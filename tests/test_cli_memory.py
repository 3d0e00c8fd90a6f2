"""Facts of --memory: it sets the budget of one run, and changes no result."""

import os
from contextlib import suppress

import pytest

from skfairfr import cli
from skfairfr._core import _memory
from skfairfr._core._budget import VARIABLE
from tests.test_cli import assert_one_line, faces, run  # noqa: F401

QUICK = ("--attribute", "gender", "--far", "0.05", "--n-resamples", "40")


@pytest.mark.parametrize("before", [None, "", "3GB"])
@pytest.mark.parametrize("command", ["audit", "compare", "bench", "demo"])
def test_the_variable_is_set_for_that_run_alone(command, before, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    if before is not None:
        monkeypatch.setenv(VARIABLE, before)
    seen = []

    def ran(arguments):
        seen.append(os.environ.get(VARIABLE))
        if arguments.seed:
            raise RuntimeError("a fault")
        return "", 0

    monkeypatch.setattr(cli, f"_{command}", ran)
    words = {
        "audit": ["x", "--attribute", "g"],
        "compare": ["x", "y", "--attribute", "g"],
        "bench": ["x", "--attribute", "g"],
        "demo": [],
    }[command]
    for options in ([], ["--memory", "2GB"], ["--memory", "2GB", "--seed", "1"]):
        with suppress(SystemExit):
            cli.main([command, *words, *options])
        assert os.environ.get(VARIABLE) == before
    assert seen == [before, "2GB", "2GB"]


def test_results_are_those_without_it(capsys, faces):  # noqa: F811
    command = ("audit", faces, *QUICK, "--format", "json")
    expected = run(capsys, *command)
    assert expected[0] == 0
    assert run(capsys, *command, "--memory", "200MB") == expected


def test_what_does_not_fit_is_one_line_that_names_the_budget(capsys, faces):  # noqa: F811
    found = run(capsys, "audit", faces, *QUICK, "--memory", "9MB")
    assert_one_line(*found)
    assert "--far 0.05 means to hold" in found[2]
    assert "9.0 MB may be used, the budget SKFAIRFR_MEMORY=9MB: " in found[2]
    assert found[2].endswith("raise that budget.\n")


@pytest.mark.parametrize("amount", ["4", "none", "0%", "-1GB"])
def test_an_amount_that_is_none_is_refused(capsys, faces, amount, monkeypatch):  # noqa: F811
    examples = "must be an amount of memory, such as 4GB, 500MB or 4GiB"
    found = run(capsys, "audit", faces, *QUICK, f"--memory={amount}")
    assert_one_line(*found)
    assert f"error: --memory {amount} {examples}" in found[2]
    monkeypatch.setenv(VARIABLE, amount)
    found = run(capsys, "audit", faces, *QUICK)
    assert_one_line(*found)
    assert f"{VARIABLE} {examples}" in found[2] and f"got {amount}." in found[2]


def test_a_smaller_far_max_names_the_limit(capsys, faces, monkeypatch):  # noqa: F811
    fits = _memory.fits
    monkeypatch.setattr(
        _memory, "fits", lambda size, far: far < 0.006 and fits(size, far)
    )
    options = ("--attribute", "gender", "--far", "0.001", "--n-resamples", "5")
    code, out, _ = run(capsys, "audit", faces, *options, "--memory", "250MB")
    assert code == 0
    lines = " ".join(out.split())
    assert (
        "For lack of memory (250 MB may be used, the budget SKFAIRFR_MEMORY=250MB)"
        in lines
    )
