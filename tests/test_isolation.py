"""The package runs no code from files, opens no connection, and a wheel holds it alone."""

import ast
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import skfairfr.projectors
from tests.house import assert_none

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "skfairfr").rglob("*.py"))

# Modules that run code which they are given, start programs, or talk to a network.
NEVER_IMPORTED = {
    *("pickle", "dill", "shelve", "marshal", "code", "codeop", "runpy"),
    *("subprocess", "pty", "socket", "ssl", "http", "urllib", "ftplib", "smtplib"),
    *("requests", "httpx", "aiohttp", "xmlrpc", "socketserver", "asyncio"),
    # What those are made of.
    *("_pickle", "_socket", "_ssl", "_posixsubprocess"),
}
NEVER_CALLED = {
    *("eval", "exec", "compile", "__import__", "breakpoint"),
    *("os.system", "os.popen", "os.startfile", "joblib.load", "joblib.dump"),
    *("joblib.Memory", "pandas.read_pickle", "numpy.lib.format.read_array"),
}
# Of any module or object, since none of ours has such a name.
NEVER_NAMED = {
    "read_pickle",
    "to_pickle",
    "popen",
    "check_output",
    "execv",
    "__import__",
}
# Names of these belong to os, and each starts a program.
STARTING = ("os.exec", "os.spawn", "os.posix_spawn")
# What a call must say; without it, a file could run code.
SAID = {
    "torch.load": ("weights_only", True),
    "numpy.load": ("allow_pickle", False),
}
DYNAMIC = "importlib.import_module of a name that is computed"
ALLOWED = {
    # Names of the package's own tables.
    *(("metrics/__init__.py", DYNAMIC), ("utils/_extras.py", DYNAMIC)),
    ("model_selection/_mitigations.py", DYNAMIC),
    # Modules of scikit-learn and of this package alone: test_saved_files tries others.
    ("utils/_saved.py", DYNAMIC),
}


def dotted(node):
    """``a.b.c`` of a name or of attributes of one; "" of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


USUAL_NAMES = {"np": "numpy", "pd": "pandas"}


def names_of(tree):
    """What names of a module stand for, wherever in it they are imported."""
    known = dict(USUAL_NAMES)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            aliases = [(a.asname, a.name) for a in node.names if a.asname]
        elif isinstance(node, ast.ImportFrom):
            aliases = [
                (a.asname or a.name, f"{node.module}.{a.name}") for a in node.names
            ]
        else:
            continue
        known.update(aliases)
    return known


def called(node, known):
    """The full name of what is called; as ``builtins.eval``, so ``eval``."""
    first, *rest = dotted(node.func).split(".")
    name = ".".join([known.get(first, first), *rest])
    return name.removeprefix("builtins.")


def breaches_of(text):
    """What in a module could run code from elsewhere, or open a connection."""
    tree = ast.parse(text)
    known = names_of(tree)
    for node in ast.walk(tree):
        last = dotted(node).split(".")[-1] if isinstance(node, ast.Attribute) else ""
        if last in NEVER_NAMED or (
            isinstance(node, ast.Name) and node.id in NEVER_CALLED
        ):
            yield last or node.id
        for name in imported(node):
            top = name.split(".")[0]
            if top in NEVER_IMPORTED or top == "cloudpickle" or name in NEVER_CALLED:
                yield name
        if not isinstance(node, ast.Call):
            continue
        name = called(node, known)
        if name == "getattr" and not is_safe_getattr(node):
            yield f"getattr of {node.args[1].value}"
        if name == "importlib.import_module":
            constant = isinstance(node.args[0], ast.Constant)
            if not constant:
                yield DYNAMIC
            elif node.args[0].value.split(".")[0] in NEVER_IMPORTED:
                yield node.args[0].value
        options = {o.arg: getattr(o.value, "value", None) for o in node.keywords}
        if name in NEVER_CALLED or name.startswith(STARTING):
            yield name
        if options.get("shell") or options.get("allow_pickle"):
            yield f"{name} with a shell or pickles"
        if name in SAID:
            option, value = SAID[name]
            if options.get(option) is not value:
                yield f"{name} without {option}={value}"


def is_safe_getattr(node):
    """Whether it names no builtin that runs code."""
    named = getattr(node.args[1], "value", None) if len(node.args) > 1 else None
    return named not in NEVER_CALLED | NEVER_NAMED


def test_nothing_runs_code_or_opens_a_connection():
    found = [
        (path.relative_to(ROOT / "skfairfr").as_posix(), breach)
        for path in MODULES
        for breach in breaches_of(path.read_text(encoding="utf-8"))
    ]
    assert len(MODULES) > 100 and ALLOWED <= set(found)
    assert_none(breach for breach in found if breach not in ALLOWED)


WITHOUT_NETWORK = """
import contextlib, importlib, io, pathlib, sys, tempfile, warnings

import numpy

warnings.simplefilter("ignore")
asked, trained = [], []

def refuse(event, arguments):
    if event.startswith("socket."):
        asked.append(event)
        raise OSError("there is no network")

sys.addaudithook(refuse)

import skfairfr, skfairfr.cli
for package in ("utils", "datasets", "metrics", "model_selection", "report", "comparators"):
    module = importlib.import_module(f"skfairfr.{package}")
    [getattr(module, name) for name in module.__all__]
with contextlib.suppress(ImportError):  # without the extra
    import skfairfr.projectors, skfairfr.losses, skfairfr.samplers

skfairfr.cli.DEMO_IDENTITIES = 60
with contextlib.redirect_stdout(io.StringIO()) as printed:
    code = skfairfr.cli.main(["demo", "--quiet", "--format", "html"])
html = "</html>" in printed.getvalue()

from skfairfr import make_face_embeddings
from skfairfr.comparators import CohortNormalizer
from skfairfr.report import EmbeddingData, audit, compare_systems, read_data

made = make_face_embeddings(40, 4, 8, random_state=0)
X, y, g = made.X, made.y, made.sensitive_features
quick = {"far": 0.1, "n_resamples": 5}
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    numpy.savez(folder / "faces.npz", embedding=X, identity=y, group=g)
    data = read_data(folder / "faces.npz", ["group"])
    audit(X, y, g, figures=folder / "figures", **quick).save(folder / "audit")
    compare_systems(data, EmbeddingData(numpy.tanh(X), y, {"group": g}), **quick)
    options = {"n_splits": 2, "inner_splits": 2, **quick}
    methods = {"cohort": CohortNormalizer(top=5)}
    skfairfr.model_selection.compare_mitigations(X, y, g, methods, **options)
    for name in getattr(skfairfr.projectors, "__all__", ()):
        made = getattr(skfairfr.projectors, name)
        made(max_epochs=1, hidden_dim=4).fit(X, y, g).transform(X)
        trained.append(name)
    if "EthicalModule" in skfairfr.__all__:
        fitted = skfairfr.EthicalModule(max_epochs=1).fit(X, y, g)
        fitted.save(folder / "head.safetensors")
        skfairfr.EthicalModule.load(folder / "head.safetensors").transform(X)
print(code, html, asked, len(trained))
"""


@pytest.mark.slow
def test_neither_imports_nor_what_measures_and_trains_open_a_socket():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NETWORK],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    n_trained = len(skfairfr.projectors.__all__)
    expected = (0, f"0 True [] {n_trained}\n")
    assert (done.returncode, done.stdout) == expected, done.stderr[-2000:]


def test_a_wheel_holds_the_package_alone(tmp_path):
    """Neither data nor tests, nor what lies about in a checkout."""
    setuptools = pytest.importorskip("setuptools")
    if int(setuptools.__version__.split(".")[0]) < 77:
        pytest.skip("pyproject.toml asks for setuptools 77")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("skfairfr", "tests/utils"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    about = (tmp_path / "skfairfr" / "faces.npz", tmp_path / "docs" / "page.py")
    for path in about:
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    build = "import setuptools.build_meta as b; b.build_wheel('.')"
    command = [sys.executable, "-W", "ignore", "-c", build]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        names = [Path(name) for name in held.namelist()]
    tops = {name.parts[0].split("-")[0] for name in names}
    kinds = {name.suffix for name in names if name.parts[0] == "skfairfr"}
    assert tops == {"skfairfr"}
    assert kinds == {".py", ".toml", ".json", ".html", ".css", ".txt"}
    assert len(names) > len(MODULES)
