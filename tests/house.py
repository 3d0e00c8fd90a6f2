"""How a rule of the house fails: with every breach, each on a line of its own."""

import pytest


def assert_none(breaches):
    """Fail with all of them; pytest's comparison of lists would show the first."""
    breaches = list(breaches)
    if breaches:
        lines = "\n".join(map(str, breaches))
        pytest.fail(f"{len(breaches)} breaches:\n{lines}", pytrace=False)
