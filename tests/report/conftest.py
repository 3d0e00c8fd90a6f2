"""Figures of these tests are empty: rendering takes most of the time of a page."""

import pytest

from tests.report.audits import without_rendering


@pytest.fixture(autouse=True)
def empty_figures(request, monkeypatch):
    """For all tests but those that ask for ``real_figures``."""
    if "real_figures" not in request.fixturenames:
        without_rendering(monkeypatch)


@pytest.fixture(scope="module")
def real_figures():
    """What a figure shows is looked at."""
