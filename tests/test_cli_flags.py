"""Flags stand where Python's arguments stand, and everything else stays."""

import argparse
import ast
import importlib
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from skfairfr import cli
from skfairfr.report import EmbeddingData, audit_data, read_data
from skfairfr.report._audit import check_groups
from skfairfr.report._checks import check_limits
from skfairfr.report._limits import LIMITS
from skfairfr.utils._errors import Argument, ArgumentError, Message, place
from skfairfr.utils._labels import encode
from skfairfr.utils._validation import check_level
from tests.report.audits import small_audit, synthetic
from tests.test_cli import faces, pairs, run  # noqa: F401

ROOT = Path(__file__).resolve().parents[1] / "skfairfr"
# Modules whose errors and notes reach the command.
REACHED = (
    *("datasets/_embeddings.py", "datasets/_files.py", "datasets/_scored_pairs.py"),
    *("datasets/_tables.py", "metrics/_roc/_engine.py", "metrics/_roc/_inputs.py"),
    *("metrics/_plan.py", "utils/_labels.py"),
    *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "report").glob("*.py")),
)
# Arguments of Python that the command has no way to give, and never speaks of.
PYTHON_ONLY = {
    *("similarity", "data", "limits", "sensitive_features_1", "sensitive_features_2"),
    *("sensitive_features_reference", "dependence", "identities", "names"),
    *("resample", "method", "about"),
}


def raised(call, *arguments, **options):
    """The text of an error as the command prints it."""
    with pytest.raises((ValueError, ImportError)) as caught:
        call(*arguments, **options)
    return cli._in_flags(caught.value)


def same_group():
    X, y, _ = synthetic(2)
    data = EmbeddingData(X, y, {"gender": np.where(y == y[0], "a", "b")})
    audit_data(data, impostors="same_group")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: check_limits({"max_bfar": 2.0}, False),
            "--max-bfar 2 is about the threshold where no group's FMR exceeds a level, and "
            "the threshold was given; use --max-fmr-ratio, or leave",
        ),
        (lambda: check_limits({"max_bfrr": 1.0}, True), "--max-bfrr must be a number above 1, "),
        (lambda: check_level(2.0), "--fmr must lie in (0, 1)"),
        (
            lambda: audit_data(EmbeddingData(np.eye(2), [1, 2]), far=[0.1], threshold=0.5),
            "--fmr 0.1 and --threshold 0.5 were both given",
        ),
        (same_group, "Give --attribute, or use --impostors all."),
        (
            lambda: audit_data(EmbeddingData(np.zeros((4, 2)), [1, 1, 2, 2], {"g": [*"abab"]})),
            "embedding has a zero row",
        ),
        (
            lambda: audit_data(EmbeddingData(np.eye(4), [1] * 4, {"g": [*"abab"]})),
            "identity holds no two people to compare",
        ),
        (
            lambda: audit_data(EmbeddingData(np.eye(4), [1, 1, 2, 2], {"g": [*"abab"]}, [1] * 4)),
            "--domain must have two values",
        ),
        (
            lambda: encode(["selfie", None], "domain"),
            "--domain is missing (None or NaN) in row 1; every image needs one.",
        ),
    ],
)  # fmt: skip
def test_flags_are_named(call, words):
    assert words in raised(call)


@pytest.mark.parametrize(
    ("file", "options", "start", "end"),
    [
        ("faces", {"distance": True}, "--distance is an option of", "leave it out."),
        ("faces", {"score": "s"}, "--score s is an option of", "leave it out."),
        ("faces", {"labels": "a.csv"}, "--labels 'a.csv' does not exist; ", "file."),
        ("faces", {"identity": "x"}, "--identity: ", "them with --identity."),
        ("faces", {"attributes": "x"}, "--attribute: ", "them with --attribute."),
        ("pairs", {}, "--score: ", "smaller meaning more alike: give --distance."),
        (
            "pairs",
            {"distance": True, "identity_1": "x"},
            "--identity-1: ",
            "; name one of them with --identity-1.",
        ),
        (
            "pairs",
            {"distance": True, "attributes": "x"},
            "--attribute: ",
            "; name one of them with --attribute.",
        ),
    ],
)
def test_flags_of_files_are_named(request, file, options, start, end):
    text = raised(read_data, request.getfixturevalue(file), **options)
    assert (text[: len(start)], text[-len(end) :]) == (start, end)


def test_a_column_that_holds_distances_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("euclid,identity_1,identity_2\n1,a,b\n")
    assert raised(read_data, path).endswith("give --score euclid and --distance.")


def test_labels_in_place_of_data(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("identity,gender\n1,f\n")
    end = "give those (.npz, .npy) in its place and it with --labels."
    assert raised(read_data, path).endswith(end)


def test_the_file_that_sets_thresholds_is_named_first(faces):  # noqa: F811
    data = read_data(faces, "gender")
    text = raised(audit_data, data, threshold_from="absent.npz")
    assert text.startswith("--threshold-from: path 'absent.npz' does not exist")


def test_a_missing_library_is_told_in_flags(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1....")
    np.save(tmp_path / "a.npy", np.eye(3))
    text = raised(read_data, tmp_path / "a.npy", labels=str(tmp_path / "a.parquet"))
    assert text.startswith("--labels '")
    assert "which needs pyarrow; pip install pyarrow" in text


@pytest.mark.parametrize(
    "call",
    [
        lambda: check_groups(encode(np.arange(300.0), "score"), "score"),
        lambda: check_groups(encode([1, 1], "distance=True"), "distance=True"),
        lambda: read_data("runs/far=0.001/nope.npz"),
    ],
)
def test_labels_and_paths_stay(call):
    with pytest.raises(ValueError) as caught:
        call()
    assert cli._in_flags(caught.value) == str(caught.value)


def test_a_column_that_is_named_like_an_argument_stays(faces):  # noqa: F811
    text = raised(read_data, faces, "max_fmr_ratio")
    assert text.startswith(
        f"--attribute: {faces!r} holds no 'max_fmr_ratio', but 'gender'"
    )


def test_a_remedy_in_python_stays(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    text = raised(read_data, tmp_path / "a.txt")
    assert "write one with numpy.savez(path, embedding=..., identity=..., and" in text


@pytest.mark.parametrize("label", ["far", "average", "score", "domain", "distance"])
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
    """Names in ``Argument("...")``, ``place("...")`` and file_error("...") of a module."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        called = isinstance(node, ast.Call) and getattr(node.func, "id", None)
        if called in ("Argument", "place", "file_error"):
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


@pytest.mark.parametrize(
    "columns",
    [
        "l2_distance,identity_1,identity_2,gender_1,gender_2",
        "score,a,b,gender",
        "score,identity_1,identity_2",
        "identity,gender",
    ],
)
@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("compare", ("FILE", "FILE")),
        ("plan", ("--certify-fmr", "0.1", "--pilot", "FILE")),
        ("bench", ("FILE",)),
    ],
)
def test_remedies_name_options_of_the_command(
    capsys, tmp_path, command, options, columns
):
    path = tmp_path / "a.csv"
    path.write_text(f"{columns}\n{','.join('0' * (columns.count(',') + 1))}\n")
    options = [path if text == "FILE" else text for text in options]
    code, _, err = run(capsys, command, *options, "--attribute", "gender")
    said = err.replace("or for an audit with --y-true", "")
    assert code == 2 and "DATA" not in said
    assert set(re.findall(r"--[\w-]+", said)) <= flags_of(command)


def private_imports(text):
    """Imports of ours that are neither public names nor how all of us write files."""
    public = {"skfairfr", "skfairfr.datasets", "skfairfr.metrics", "skfairfr.report"}
    public |= {"skfairfr.model_selection", "skfairfr.utils"}
    breaches = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            breaches += [name for name in names if name.startswith("skfairfr")]
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("skfairfr"):
            if node.module == "skfairfr.utils._folder":
                continue
            allowed = {"__version__"}
            if node.module in public:
                allowed |= set(importlib.import_module(node.module).__all__)
            names = {alias.name for alias in node.names}
            outside = names if node.module not in public else names - allowed
            breaches += [f"{node.module}.{name}" for name in sorted(outside)]
    return breaches


def test_the_command_imports_public_names_alone():
    assert private_imports((ROOT / "cli.py").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "from skfairfr.report._audit import audit",
        "def f():\n    from skfairfr.report import _audit",
        "import skfairfr.report._data",
        "from skfairfr.samplers import balanced_identity_weights",
    ],
)
def test_a_private_import_is_seen(text):
    assert len(private_imports(text)) == 1
