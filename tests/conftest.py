"""Fixtures that several test modules share."""

from pathlib import Path

import pytest
from hypothesis import settings

# The first example may compile a kernel, and machines of CI are shared.
settings.register_profile("skfairfr", deadline=None)
settings.load_profile("skfairfr")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real embeddings beside the checkout; skips where there is none."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the shared data sets, and {SHARED_DATA} does not exist")
    return SHARED_DATA
