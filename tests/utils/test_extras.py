"""Names of an extra: absent where a library is missing, with an error that says what to do."""

import importlib
import sys
from types import ModuleType

import pytest

from skfairfr.utils._extras import lazy_names, missing

ABSENT = "a_library_that_nobody_wrote"


class Refusing:
    """A finder that refuses one module, as environments that forbid a library do."""

    def find_spec(self, name, path=None, target=None):
        if name == ABSENT:
            raise ImportError(f"{name} is forbidden")


@pytest.mark.parametrize("library", [ABSENT, "xml"])
def test_a_library_blocked_in_sys_modules_is_missing(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    assert missing(["json", library]) == [library]


def test_a_library_that_a_finder_refuses_is_missing(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [Refusing(), *sys.meta_path])
    assert missing([ABSENT]) == [ABSENT]


def test_looking_for_a_library_imports_nothing(monkeypatch):
    monkeypatch.delitem(sys.modules, "this", raising=False)
    assert missing(["this"]) == []
    assert "this" not in sys.modules


HOMES = {"sqrt": "math", "dumps": "json"}


def test_names_come_from_their_homes():
    names, resolve, _ = lazy_names("json", HOMES)
    assert names == ["dumps", "sqrt"]
    assert resolve("sqrt") is importlib.import_module("math").sqrt


def test_an_unknown_name_is_an_attribute_error():
    _, resolve, _ = lazy_names("json", HOMES, needs={"math": [ABSENT]})
    with pytest.raises(AttributeError, match="module 'json' has no attribute 'cube'"):
        resolve("cube")


def test_a_name_without_its_library_is_not_listed():
    names, resolve, listed = lazy_names("json", HOMES, needs={"math": [ABSENT]})
    assert names == ["dumps"]
    assert resolve("dumps") is importlib.import_module("json").dumps
    assert "sqrt" not in listed()
    assert {"dumps", "loads", "__name__"} <= set(listed())


@pytest.mark.parametrize(
    ("needs", "start"),
    [
        ([ABSENT], f"sqrt needs {ABSENT}. "),
        (["numpy", ABSENT], f"sqrt needs numpy and {ABSENT}. "),
    ],
)
def test_a_name_without_its_library_names_the_remedy(needs, start):
    _, resolve, _ = lazy_names("json", HOMES, needs={"math": needs})
    with pytest.raises(ImportError) as raised:
        resolve("sqrt")
    message = str(raised.value)
    assert message.startswith(start)
    assert f"Not installed: {ABSENT}." in message
    assert message.endswith('pip install "skfairfr[mitigate]"')
    assert raised.value.name == ABSENT


def test_import_and_hasattr_give_the_same_message(monkeypatch):
    module = ModuleType("light")
    _, module.__getattr__, _ = lazy_names(
        "light", {"sqrt": "math"}, needs={"math": [ABSENT]}
    )
    monkeypatch.setitem(sys.modules, "light", module)
    for use in (
        lambda: hasattr(module, "sqrt"),
        lambda: exec("from light import sqrt"),
    ):
        with pytest.raises(ImportError, match=r"pip install \"skfairfr\[mitigate\]\"$"):
            use()
    assert not hasattr(module, "cube")
