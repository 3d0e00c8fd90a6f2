"""Every example of a docstring leaves the process as it was: each public name has one."""

import pytest
from _pytest.doctest import DoctestItem

from tests.state import kept


@pytest.fixture(autouse=True)
def process_state(request):
    """Of examples alone: tests change the process to see what happens."""
    if not isinstance(request.node, DoctestItem):
        yield
        return
    # Examples draw themselves, and random_state=None draws from numpy's global state.
    with kept(but=("numpy's random state", "random's state", "torch's random state")):
        yield
