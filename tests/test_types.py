"""Public signatures have types, and type checkers find the names that are lazy at run time.

``tests.install.wheels`` gives mypy a program that uses them, beside the installed wheel.
"""

import ast
import importlib
import inspect
import textwrap

import pytest

from tests.rules import assert_none
from tests.test_imports import SUBPACKAGES
from tests.test_layers import MODULES

PACKAGES = ("skfairfr", *SUBPACKAGES)


def signatures(package):
    """(name, function) of all public functions and methods of ours."""
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isfunction(value):
            yield name, value
        for base in inspect.getmro(value) if inspect.isclass(value) else ():
            if not base.__module__.startswith("skfairfr"):
                continue
            for member, found in list(vars(base).items()):
                found = getattr(found, "fget", getattr(found, "__func__", found))
                public = not member.startswith("_") or member == "__init__"
                if public and inspect.isfunction(found):
                    yield f"{name}.{member}", found


def untyped(function):
    """Its parameters without a type, and "return"; those of scikit-learn's are not ours."""
    signature = inspect.signature(function)
    found = [
        name
        for name, parameter in signature.parameters.items()
        if name not in ("self", "cls") and parameter.annotation is parameter.empty
    ]
    return found + ["return"] * (signature.return_annotation is signature.empty)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_signature_has_types(package):
    found = {name: untyped(f) for name, f in signatures(package) if not made(f)}
    assert_none(f"{name}: {', '.join(lacks)}" for name, lacks in found.items() if lacks)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_signature_is_short_at_run_time(package):
    """300 characters; 45 a parameter for those whose length is that of their names.

    A list of options by name helps more than ``**options``. An expanded type, as the
    380 characters of ``ArrayLike``, exceeds both.
    """
    module = importlib.import_module(package)
    called = dict(signatures(package))
    called |= {n: v for n in module.__all__ if inspect.isclass(v := getattr(module, n))}
    too_long = []
    for name, value in called.items():
        if inspect.isclass(value) and issubclass(value, Warning):
            continue  # Python's own have no signature
        signature = inspect.signature(value)
        if len(str(signature)) > max(300, 45 * len(signature.parameters)):
            too_long.append(f"{name}{signature}")
    assert called
    assert_none(too_long)


def made(function):
    """Whether it is written by scikit-learn or by ``with_parameters``, at run time."""
    return not function.__module__.startswith("skfairfr") or hasattr(
        function, "__signature__"
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_read_every_lazy_name(package):
    module = importlib.import_module(package)
    homes = {**getattr(module, "_HOME", {}), **getattr(module, "_DISPLAYS", {})}
    tree = ast.parse(MODULES[package].read_text())
    read = {
        alias.asname: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        for alias in node.names
    }
    assert set(read) == {name for name, home in homes.items() if home != package}
    for name, home in read.items():
        assert getattr(importlib.import_module(home), name) is getattr(module, name)


def test_type_checkers_read_the_parameters_of_projectors():
    """Their own ones in each class, which are made at run time; the shared ones once."""
    projectors = pytest.importorskip("skfairfr.projectors")
    base = importlib.import_module("skfairfr.projectors._base")
    assert list(base.Training.__annotations__) == list(base.TRAINING)
    for name in projectors.__all__:
        cls = getattr(projectors, name)
        node = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
        (read,) = (n.body[0].args for n in node.body if isinstance(n, ast.If))
        own = [n for n in inspect.signature(cls).parameters if n not in base.TRAINING]
        assert [a.arg for a in read.args[1:] + read.kwonlyargs] == own
