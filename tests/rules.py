"""Fail a test of a rule with every breach, each on its own line."""

import pytest


def assert_none(breaches):
    """Fail with all of them; pytest's comparison of lists would show the first."""
    breaches = list(breaches)
    if breaches:
        lines = "\n".join(map(str, breaches))
        pytest.fail(f"{len(breaches)} breaches:\n{lines}", pytrace=False)
