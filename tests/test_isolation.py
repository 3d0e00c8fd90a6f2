"""The package runs no code from files, opens no connection, and a wheel holds it alone.

``ruff check`` refuses imports and calls that could: pyproject.toml lists them.
"""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import skfairfr.projectors
from tests.rules import assert_none

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "skfairfr").rglob("*.py"))

RUNS_CODE = re.compile(r"(?<![.\w])(compile|__import__)\(|\.to_pickle\(|shell=True")
UNSAFE_LOAD = re.compile(r"\bnp\.load\((?!.*allow_pickle=False)")


@pytest.mark.parametrize("rule", [RUNS_CODE, UNSAFE_LOAD])
def test_no_line_runs_code_of_a_file(rule):
    assert len(MODULES) > 50
    assert_none(
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in MODULES
        for line in path.read_text(encoding="utf-8").splitlines()
        if rule.search(line)
    )


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

import skfairfr, skfairfr.cli._commands
for package in ("utils", "datasets", "metrics", "model_selection", "report", "comparators"):
    module = importlib.import_module(f"skfairfr.{package}")
    [getattr(module, name) for name in module.__all__]
with contextlib.suppress(ImportError):  # without the extra
    import skfairfr.projectors, skfairfr.losses, skfairfr.samplers

skfairfr.cli._commands.DEMO_IDENTITIES = 60
with contextlib.redirect_stdout(io.StringIO()) as printed:
    code = skfairfr.cli.main(["demo", "--quiet", "--format", "html"])
html = "</html>" in printed.getvalue()

from skfairfr import make_face_embeddings
from skfairfr.comparators import CohortNormalizer
from skfairfr.report import EmbeddingData, audit, compare_systems, read_data

made = make_face_embeddings(40, 4, 8, random_state=0)
X, y, g = made.X, made.y, made.sensitive_features
quick = {"far": 0.1}
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    numpy.savez(folder / "faces.npz", embedding=X, identity=y, group=g)
    data = read_data(folder / "faces.npz", ["group"])
    audit(X, y, g, **quick).save(folder / "audit")
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
    assert kinds == {".py", ".typed", ".toml", ".json", ".html", ".css", ".txt"}
    assert len(names) > len(MODULES)
