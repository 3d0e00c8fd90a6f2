"""Importing is cheap, and the public names are where the documentation puts them."""

import importlib
import math
import os
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import skfairfr
import skfairfr.metrics

ROOT = Path(__file__).resolve().parents[1]
SUBPACKAGES = (
    "skfairfr.utils",
    "skfairfr.datasets",
    "skfairfr.metrics",
    "skfairfr.comparators",
    "skfairfr.model_selection",
    "skfairfr.losses",
    "skfairfr.samplers",
    "skfairfr.projectors",
    "skfairfr.report",
)
HEAVY = ("torch", "matplotlib", "skorch")


DISPLAYS = [name for name in skfairfr.metrics.__all__ if name.endswith("Display")]


LIGHT = (
    "import skfairfr",
    "import skfairfr.utils",
    "import skfairfr.datasets",
    "import skfairfr.metrics",
    "import skfairfr.model_selection",
    "import skfairfr.losses, skfairfr.samplers, skfairfr.projectors",
    "from skfairfr.samplers import dynamic_weights",
    "from skfairfr import BestTradeOff, IdentityKFold, bfar_scorer, fairness_scores",
    "from skfairfr import SimilarityROC, make_face_embeddings, face_labels",
    f"from skfairfr.metrics import {', '.join(DISPLAYS)}",
)


FIRST_FIT = """
import numpy as np
from skfairfr import EthicalModule
rng = np.random.default_rng(0)
X, y = rng.standard_normal((1000, 64)), np.repeat(np.arange(250), 4)
EthicalModule(random_state=0).fit(X, y, np.repeat(rng.choice(["m", "f"], 250), 4))
"""


@pytest.fixture(scope="module")
def loaded():
    """What a fresh interpreter has loaded, of HEAVY after each line of LIGHT, then of a fit."""
    found = f"print(*[m for m in {HEAVY} if m in sys.modules])"
    code = ["import sys", *(f"{line}\n{found}" for line in LIGHT)]
    if find_spec("torch") is not None:
        code += [FIRST_FIT.replace("random_state=0", "random_state=0, max_epochs=1")]
        code += ["print(*{'sympy', 'torch._dynamo'} & {*sys.modules})"]
    command = [sys.executable, "-W", "ignore", "-c", "\n".join(code)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.split("\n")[:-1]]


def test_imports_load_nothing_heavy(loaded):
    """In one interpreter: where nothing is loaded after all, none of them loads it."""
    assert dict(zip(LIGHT, loaded, strict=False)) == {line: [] for line in LIGHT}


def test_a_first_fit_does_not_load_the_compiler_of_torch(loaded):
    """It takes as long as half of torch."""
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    assert loaded[len(LIGHT) :] == [[]]


def seconds(code):
    """Processor time of a fresh interpreter with one thread; the best of three."""
    resource = pytest.importorskip("resource")  # not on Windows
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    best = math.inf
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, took)
    return best


@pytest.mark.slow
def test_import_and_first_fit_take_half_more_than_torch_and_skorch():
    pytest.importorskip("torch")
    assert seconds(FIRST_FIT) < 1.5 * seconds("import torch, skorch")


def test_dir_lists_the_public_names():
    assert set(skfairfr.__all__) <= set(dir(skfairfr))


@pytest.mark.parametrize("package", SUBPACKAGES)
def test_subpackage_names_resolve(package):
    module = importlib.import_module(package)
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert missing == []
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("name", skfairfr.__all__)
def test_top_level_name_is_the_subpackage_s(name):
    homes = [importlib.import_module(package) for package in SUBPACKAGES]
    found = [home for home in homes if name in home.__all__]
    assert found
    assert all(getattr(home, name) is getattr(skfairfr, name) for home in found)


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        skfairfr.no_such_name  # noqa: B018


def test_version_is_that_of_the_metadata():
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert skfairfr.__version__ == metadata["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {skfairfr.__version__}" in citation
