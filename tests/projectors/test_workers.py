"""Workers of a search use their share of the threads, and leave all numbers as they were."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.projectors.search_in_workers import N_JOBS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_and_scores_use_their_share(backend, tmp_path):
    environment = {k: v for k, v in os.environ.items() if "NUM_THREADS" not in k}
    environment["PYTHONPATH"] = str(ROOT)
    code = "from tests.projectors.search_in_workers import main; "
    code += f"main({backend!r}, {str(tmp_path)!r})"
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, env=environment, cwd=ROOT)
    found = [json.loads(path.read_text()) for path in tmp_path.iterdir()]
    at = {
        where: [record for record in found if record["where"] == where]
        for where in ("before", "fit", "score", "after")
    }
    assert all(at.values())
    (before,), (after,) = at["before"], at["after"]
    for name in ("torch", "blas"):
        assert before[name] == after[name]
    # A process of loky has its part of the cores; of threads every one is a part.
    share = max(1, before["cores"] // N_JOBS) if backend == "loky" else 1
    in_process = 1 if backend == "loky" else N_JOBS
    for record in at["fit"]:
        assert record["torch"] <= share
    for record in at["score"]:
        assert record["active"] <= share * in_process
        # Threads of one process share BLAS: the first to leave takes its limit along.
        assert record["blas"] == 1 or backend == "threading"
    workers = {record["pid"] for record in at["fit"]}
    assert (before["pid"] in workers) == (backend == "threading")
