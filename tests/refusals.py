"""How a test says that an argument is refused: by its name, and with what tells a user more."""

from contextlib import contextmanager

import pytest

from skfairfr.utils import ArgumentError


@contextmanager
def refusal(argument, *words):
    """A block that raises an ArgumentError about an argument, in one line with some words."""
    with pytest.raises(ArgumentError) as caught:
        yield caught
    message = str(caught.value)
    assert caught.value.argument == argument
    assert message.startswith(argument) and "\n" not in message
    for word in words:
        assert word in message
