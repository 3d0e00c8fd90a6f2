"""Where addresses run out, as ``ulimit -v`` sets them, a projector says so."""

import subprocess
import sys

import numpy as np
import pytest

from skfairfr import make_face_embeddings

pytest.importorskip("resource")

# First where memory suffices, so that everything is loaded and compiled, then without.
LIMITED = """
import resource, sys, warnings
import numpy as np
from skfairfr import EthicalModule

def limited(n_mb):
    most = resource.RLIM_INFINITY
    if n_mb:
        with open("/proc/self/statm") as statm:
            taken = int(statm.read().split()[0]) * resource.getpagesize()
        most = taken + 1_000_000 * n_mb
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))

def tell(call):
    try:
        call()
        print("done")
    except MemoryError as error:
        print(error)

warnings.simplefilter("ignore")
path = sys.argv[1]
with np.load(path) as faces:
    X, y, gender = (faces[name] for name in ("embedding", "identity", "gender"))
"""
FIT = """
def module(hidden_dim):
    return EthicalModule(hidden_dim=hidden_dim, max_epochs=1, device="cpu", random_state=0)

fitted = module(40_000).fit(X, y, gender)
for n_mb in (1, 100):
    limited(n_mb)
    tell(lambda: module(400_000).fit(X, y, gender))
    tell(lambda: fitted.transform(X))
limited(0)
tell(lambda: fitted.transform(X))
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    data = make_face_embeddings(60, n_features=16, random_state=0)
    path = tmp_path_factory.mktemp("memory") / "faces.npz"
    columns = {"identity": data.y, "gender": data.sensitive_features}
    np.savez(path, embedding=data.X, **columns)
    return path


def run(code, path):
    command = [sys.executable, "-c", LIMITED + code, path]
    return subprocess.run(command, capture_output=True, text=True, timeout=500)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits addresses")
def test_a_fit_without_memory_says_so(path):
    done = run(FIT, path)
    assert done.returncode == 0, done.stderr
    *short, last = done.stdout.splitlines()
    assert last == "done"
    assert len(short) == 4
    for line in short[:3]:
        assert line.startswith("Unable to allocate "), line
        assert line.endswith(
            "a smaller batch_size, hidden_dim or output_dim needs less"
        )
