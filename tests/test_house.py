"""A rule's failure lists every breach."""

import pytest

from tests.house import assert_none


def test_every_breach_is_listed():
    breaches = [f"module {i} breaks the rule" for i in range(50)]
    with pytest.raises(pytest.fail.Exception) as caught:
        assert_none(breaches)
    assert str(caught.value).splitlines() == ["50 breaches:", *breaches]


def test_no_breach_is_no_failure():
    assert_none([])
