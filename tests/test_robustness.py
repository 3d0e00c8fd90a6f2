"""The page on what once got through, and SECURITY.md, name tests that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "contributing" / "robustness.rst"
NAMED = re.compile(r"(tests/[\w/]+\.py)(?:::(\w+))?")


@pytest.mark.parametrize("page", [PAGE, ROOT / "SECURITY.md"], ids=lambda p: p.name)
def test_every_test_that_is_named_is_there(page):
    named = NAMED.findall(page.read_text())
    assert len(named) > 3
    for file, test in named:
        text = (ROOT / file).read_text()
        assert not test or f"def {test}(" in text, (file, test)


def test_every_fault_on_the_page_has_a_test():
    faults = PAGE.read_text().split("\n- ")[1:]
    assert len(faults) > 15
    assert [fault for fault in faults if "::test_" not in fault] == []
