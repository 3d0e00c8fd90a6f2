"""Flags stand where Python's arguments stand, and everything else stays."""

import argparse
import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

from skfairfr import cli
from skfairfr.report import EmbeddingData, audit_data, read_data
from skfairfr.report._policy import LIMITS
from skfairfr.utils._errors import Argument, ArgumentError, Message, place
from tests.report.audits import small_audit, synthetic
from tests.test_cli import faces, pairs, run  # noqa: F401

ROOT = Path(__file__).resolve().parents[1] / "skfairfr"
# Modules whose errors and notes reach the command.
REACHED = (
    *("datasets/_embeddings.py", "datasets/_files.py", "datasets/_scored_pairs.py"),
    *("metrics/_roc/_engine.py", "metrics/_roc/_inputs.py", "metrics/_plan.py"),
    "utils/_labels.py",
    *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "report").glob("*.py")),
)
# Arguments of Python that the command has no way to give, and never speaks of.
PYTHON_ONLY = {
    *("similarity", "data", "limits", "sensitive_features_1", "sensitive_features_2"),
    *("sensitive_features_reference", "dependence", "identities", "names"),
    *("resample", "method", "about"),
}


@pytest.mark.parametrize("label", ["far", "distance"])
def test_reasons_labels_and_settings_are_not_spelled(label):
    X, y, groups = synthetic()
    found = small_audit((X, y, np.where(groups == "male", label, "far=1")), far=1e-3)
    spelled = audit_data(
        EmbeddingData(X, y, {"distance=True": np.where(groups == "male", label, "f")}),
        far=1e-3,
        n_resamples=10,
    ).spelled(cli._spell)
    reasons = [row.far.reason for row in found.levels[0].rates[1:]]
    assert any(reason.startswith(f"{label}: ") for reason in reasons)
    (audit,) = spelled.audits
    assert audit.attribute == "distance=True"
    assert audit.groups[-1].group in (label, "f")
    assert "far_max" in audit.settings


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (Argument("random_state"), "--seed"),
        (Argument("n_resamples", 0), "--n-resamples 0"),
        (Argument("max_bfar", 2.0), "--max-bfar 2"),
        (Argument("far", [0.1, 1e-5]), "--fmr 0.1 1e-05"),
        (Argument("distance", True), "--distance"),
        (Argument("X"), "embedding"),
        (Argument("figures"), "--out"),
        (place("path"), "in its place"),
        (place("identity_1"), "with --identity-1"),
    ],
)
def test_arguments_become_flags(argument, words):
    assert cli._spell(argument) == words
    error = ArgumentError("It is ", argument, ".")
    assert cli._in_flags(error) == f"It is {words}."
    assert cli._in_flags(ImportError(Message(argument))) == words


def flags_of(command):
    (commands,) = (
        action
        for action in cli._parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return set(commands.choices[command]._option_string_actions)


def arguments_named_in(path):
    """Names in ``Argument("...")``, ``place("...")`` and their errors of a module."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        func = getattr(node, "func", None)
        called = getattr(func, "id", getattr(func, "attr", None))
        if called in ("Argument", "place", "argument_error", "file_error"):
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield first.value


def test_every_argument_that_an_error_names_has_a_flag():
    names = {name for path in REACHED for name in arguments_named_in(path)}
    spelled = {cli._spell(Argument(name)) for name in names - PYTHON_ONLY}
    words = {word for word in cli.OTHER_NAMES.values() if not word.startswith("-")}
    assert len(names) > 15
    commands = flags_of("audit") | flags_of("plan") | flags_of("compare")
    assert spelled - commands - words == set()


def test_options_of_the_command_are_arguments_of_what_it_calls():
    known = set(inspect.signature(audit_data).parameters)
    assert set(cli.READING) < set(inspect.signature(read_data).parameters)
    assert set(cli.MEASUREMENT) < known
    assert set(cli.LIMITS) == set(LIMITS)
