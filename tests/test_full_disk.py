"""Where there is no more room, the error names the file, and an earlier one stays."""

import os
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.decomposition import PCA

from skfairfr import EthicalModule, make_face_embeddings
from skfairfr.model_selection import compare_mitigations, save_mitigation
from skfairfr.report import EmbeddingData, audit, compare_systems
from tests.report.audits import small_audit, synthetic, without_rendering
from tests.test_cli import QUICK, assert_one_line, run
from tests.test_cli_bench import QUICK as QUICK_BENCH
from tests.test_cli_bench import toys  # noqa: F401

resource = pytest.importorskip("resource")

OLD = {"audit.json": "old", "comparison.json": "old", "bench.json": "old"}


@contextmanager
def full_disk(n_bytes=0):
    """No file may have more bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


# ---- what is written in Python -------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    return make_face_embeddings(60, n_features=16, random_state=0)


@pytest.fixture(scope="module")
def module(data):
    options = {"max_epochs": 1, "device": "cpu", "random_state": 0}
    return EthicalModule(**options).fit(data.X, data.y, data.sensitive_features)


@pytest.mark.parametrize("kind", ["head", "mitigation", "transformer"])
def test_what_was_fitted(tmp_path, data, module, kind):
    path = tmp_path / "saved"
    save = {
        "head": module.save,
        "mitigation": lambda path: save_mitigation(module, path),
        "transformer": lambda path: save_mitigation(PCA(2).fit(data.X), path),
    }[kind]
    assert_place_is_named(save, path, tmp_path)
    save(path)
    before = contents(tmp_path)
    assert_place_is_named(save, path, tmp_path, 50)
    assert contents(tmp_path) == before


def assert_place_is_named(save, path, folder, n_bytes=0):
    """And nothing new is left in the folder around it."""
    before = sorted(folder.iterdir())
    with full_disk(n_bytes), pytest.raises(OSError, match="too large") as found:
        save(path)
    assert found.value.filename == str(path)
    assert sorted(folder.iterdir()) == before


def contents(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("n_bytes", [0, 1, 5000, 10_000])
def test_a_checkpoint(tmp_path, data, module, n_bytes):
    """Torch itself raises a RuntimeError about a position in the file."""
    fit = EthicalModule(**module.get_params() | {"checkpoint_dir": tmp_path}).fit
    with full_disk(n_bytes), pytest.raises(OSError, match="too large") as found:
        fit(data.X, data.y, data.sensitive_features)
    place, name = os.path.split(found.value.filename)
    assert place == str(tmp_path)
    assert name.startswith("EthicalModule-") and name.endswith(".pt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["report", "comparison", "figures"])
def test_reports(monkeypatch, tmp_path, kind):
    X, y, groups = synthetic(30)
    quick = {"far": 0.05, "n_resamples": 5}
    if kind == "figures":

        def save(path):
            audit(X, y, groups, figures=path, **quick)

        monkeypatch.setattr(
            "skfairfr.report._figures._write",
            lambda draw, path, size, title: [path.write_bytes(b"figure")],
        )
    else:
        without_rendering(monkeypatch)
        data = EmbeddingData(X, y, {"group": groups})
        save = small_audit((X, y, groups)).save
        if kind == "comparison":
            save = compare_systems(data, data, **quick).save
    path = tmp_path / "out"
    path.mkdir()
    with full_disk(), pytest.raises(OSError, match="too large") as found:
        save(path)
    assert found.value.filename.startswith(str(path))
    assert ".part" not in found.value.filename
    assert not contents(tmp_path)


def test_fits_of_a_bench(tmp_path):
    X, y, groups = synthetic(30)
    options = {"far": 0.05, "n_splits": 2, "inner_splits": 2, "n_resamples": 5}
    with full_disk(), pytest.raises(OSError, match="too large") as found:
        compare_mitigations(X, y, groups, {"pca": PCA(4)}, folder=tmp_path, **options)
    place, name = os.path.split(found.value.filename)
    assert place == str(tmp_path) and name.endswith(".npz")
    assert not contents(tmp_path)


# ---- the command ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    path = tmp_path_factory.mktemp("full") / "faces.npz"
    X, y, groups = synthetic(60)
    np.savez(path, embedding=X, identity=y, gender=groups)
    return str(path)


@pytest.mark.parametrize("command", ["audit", "compare", "bench"])
def test_a_report_of_the_command(
    capsys,
    monkeypatch,
    toys,  # noqa: F811
    tmp_path,
    faces,
    command,
):
    """The page exceeds 20 kB, and so does the figure of the bench."""
    folder = tmp_path / "out"
    folder.mkdir()
    for name, text in OLD.items():
        (folder / name).write_text(text)
    monkeypatch.setattr("skfairfr.report._figures._write", lambda *_: [])
    others = [faces] if command == "compare" else []
    quick = QUICK_BENCH if command == "bench" else (*QUICK, "--replace")
    given = [command, faces, *others, "--attribute", "gender", "--out", folder, *quick]
    with full_disk(20_000):
        found = run(capsys, *given)
    assert_one_line(*found, command)
    assert f"writing {str(folder)!r} failed (File too large); make room" in found[2]
    assert {path.name: path.read_text() for path in folder.glob("*.json")} == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not list(folder.rglob(".*"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
def test_standard_output():
    command = [sys.executable, "-m", "skfairfr.cli", "plan", "--detect-factor", "2"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert_one_line(done.returncode, "", done.stderr, "plan")
    assert "writing 'standard output' failed (No space left on device)" in done.stderr
