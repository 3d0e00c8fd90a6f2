"""Kernels run where no folder can keep what is compiled, and where the disk is full."""

import errno
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skfairfr
from skfairfr._core import _compiled
from skfairfr._core._compiled import njit

# numba tries the folder that is named, one beside the source, and one of the user.
NOWHERE = {"NUMBA_CACHE_DIR": "/proc/none", "XDG_CACHE_HOME": "/proc/none"}
TOTAL = """
import pathlib, skfairfr
import numpy as np
from skfairfr._core._resampling import _count_picks
from skfairfr._core import _few_errors, _pair_tiles, _running_sums, _screen
print(pathlib.Path(skfairfr.__file__).parent, len(_count_picks.stats.cache_misses))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc takes no folder, on Linux")
def test_without_a_folder_for_compiled_code_the_package_is_imported(tmp_path):
    """Not by access rights, which do not bind every user: files stand in the way."""
    copy = tmp_path / "skfairfr"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(skfairfr.__file__).parent, copy, ignore=ignored)
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    environment = {"PATH": "", "HOME": "/proc/none", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", TOTAL],
        cwd=tmp_path,
        env=environment | NOWHERE,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, f"{copy} 0\n"), done.stderr


def test_other_errors_of_numba_are_raised(monkeypatch):
    def fail(**options):
        raise RuntimeError("something else")

    monkeypatch.setattr(_compiled.numba, "njit", fail)
    with pytest.raises(RuntimeError, match="something else"):
        njit(cache=True)(len)


def test_a_full_disk_keeps_no_kernel_from_running(monkeypatch):
    numba = pytest.importorskip("numba.core.caching")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(numba.IndexDataCacheFile, "save", fail)

    def successor(number):
        return number + 1

    assert njit(cache=True)(successor)(1) == 2
