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
    with kept():
        yield
