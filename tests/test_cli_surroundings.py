"""The command among others, and where a system offers little: neither home nor UTF-8."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests.report.audits import synthetic
from tests.test_cli import QUICK

COMMAND = [sys.executable, "-m", "skfairfr"]
# No folder of the user's is there, and none can be made, whatever his rights.
NO_HOME = {
    name: "/proc/none" for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
} | {"NUMBA_CACHE_DIR": "/proc/none"}
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "40"}


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    path = tmp_path_factory.mktemp("faces") / "faces.npz"
    X, y, groups = synthetic(60)
    # In an argument an ASCII locale leaves no such letters.
    np.savez(path, embedding=X, identity=y, size=np.char.add("größe ", groups))
    return path


def started(faces, folder, command="audit", **environment):
    data = [faces, faces] if command == "compare" else [faces]
    given = ["--attribute", "size", "--out", folder, "--replace", *QUICK]
    return subprocess.Popen(
        [*COMMAND, command, *data, *given],
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder): path.read_bytes() for path in files}


@pytest.mark.slow
def test_neither_a_home_nor_utf8_changes_a_result(faces, tmp_path):
    """All that is printed, and every file; matplotlib numbers glyphs by its cache of fonts."""
    printed, written, drawn = [], [], []
    for environment in ({"PYTHONUTF8": "1"}, NO_HOME, ASCII):
        process = started(faces, tmp_path / "out", **environment)
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert b"Traceback" not in err
        printed.append(out)
        files = contents(tmp_path / "out")
        written.append({p: text for p, text in files.items() if p.suffix != ".svg"})
        drawn.append({p for p in files if p.suffix == ".svg"})
        shutil.rmtree(tmp_path / "out")
    usual = printed[0].decode()
    assert "größe" in usual
    assert {".json", ".html"} <= {path.suffix for path in written[0]}
    assert drawn[0] and drawn[0] == drawn[1] == drawn[2]
    for environment, out in zip((NO_HOME, ASCII), printed[1:], strict=True):
        ascii_alone = environment is ASCII
        wanted = usual.encode("ascii" if ascii_alone else "utf-8", "backslashreplace")
        assert out == wanted
    assert written[0] == written[1] == written[2]
