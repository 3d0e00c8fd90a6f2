"""Settings and fixtures that all tests share."""

import gc
import os
import signal

# Several processes of tests share the cores, and threads that wait for one another cost
# more than they save. Libraries read these when they are loaded; torch is one of them.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

from importlib.util import find_spec  # noqa: E402
from pathlib import Path  # noqa: E402

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# The first example may compile a kernel, and machines of CI are shared.
settings.register_profile("daily", deadline=None, max_examples=20)
settings.register_profile("nightly", deadline=None, max_examples=200)
settings.load_profile("daily")

# These train, and a plain install does not.
collect_ignore = ["losses", "projectors", "samplers/test_draws.py"]
collect_ignore += ["samplers/test_torch.py", "utils/test_torch.py"]
if find_spec("torch") is not None:
    collect_ignore = []
collect_ignore += ["install/consumer.py"]  # which nothing runs


def pytest_configure(config):
    """Add the check of examples in docstrings, which stand outside of this folder."""
    config.pluginmanager.import_plugin("tests.state_of_examples")
    # A suite that was started in the background ignores interrupts, which tests send.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What is loaded stays until the end. Looking for garbage in it, again and again, took a
# quarter of the time of a collection of tests.
gc.disable()


def pytest_collection_finish(session):
    """From now on garbage is looked for in what tests make, and in nothing else."""
    gc.freeze()
    gc.set_threshold(50_000)  # and seldom
    gc.enable()


SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real embeddings beside the checkout; skips where there is none."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the shared data sets, and {SHARED_DATA} does not exist")
    return SHARED_DATA
