"""The package has layers: an import goes down, or one way between siblings.

Every rule below is a function from the imports of a module, read from its text, to a list of
sentences, one for each breach.
"""

import ast
import graphlib
import re
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.rules import assert_none

ROOT = Path(__file__).resolve().parents[1]

LAYERS = {
    "skfairfr": 8,
    "skfairfr.__main__": 9,
    "skfairfr.cli": 8,
    "skfairfr.report": 7,
    "skfairfr.model_selection": 6,
    "skfairfr.projectors": 6,
    "skfairfr.metrics._plot": 6,
    "skfairfr.comparators": 5,
    "skfairfr.metrics": 4,
    "skfairfr.datasets": 4,
    "skfairfr.losses": 4,
    "skfairfr.samplers": 4,
    "skfairfr._text": 3,
    "skfairfr.utils": 2,
    "skfairfr._core": 1,
    "skfairfr._compat": 0,
}


class Import(NamedTuple):
    """One imported module and, of ``from module import name``, the name."""

    module: str
    name: str | None
    line: int


def find_modules(root):
    """Dotted name -> path of every module under ``root``/skfairfr."""
    modules = {}
    for path in sorted((root / "skfairfr").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        modules[".".join(p for p in parts if p != "__init__")] = path
    return modules


STATEMENT = re.compile(r"^ *((?:from \S+ )?import (?:\([^)]*\)|.*))", re.MULTILINE)


def imports_of(text, known=()):
    """Every import of a module's text; ``from p import m`` of a known p.m imports p.m."""
    found = []
    for statement in STATEMENT.finditer(text):
        line = text.count("\n", 0, statement.start()) + 1
        (node,) = ast.parse(statement[1]).body
        for alias in node.names:
            module, name = alias.name, None
            if isinstance(node, ast.ImportFrom):
                module, name = node.module, alias.name
            if f"{module}.{name}" in known:
                module, name = f"{module}.{name}", None
            found.append(Import(module, name, line))
    return found


def home(module):
    """The entry of LAYERS that a module of ours belongs to."""
    parts = module.split(".")
    while ".".join(parts) not in LAYERS:
        parts.pop()
    entry = ".".join(parts)
    if entry == "skfairfr" and module != "skfairfr":
        raise KeyError(f"{module} has no layer: add it to LAYERS")
    return entry


def within(module, package):
    return module == package or module.startswith(package + ".")


def upward_imports(module, imports, packages):
    """A package's __init__ re-exports its own modules, whatever their layer."""
    breaches = []
    for i in imports:
        if not within(i.module, "skfairfr"):
            continue
        if module in packages and within(i.module, module):
            continue
        here, there = home(module), home(i.module)
        siblings = here == there or {here, there} == {"skfairfr", "skfairfr.cli"}
        if not siblings and LAYERS[there] >= LAYERS[here]:
            breaches.append(
                f"{module}:{i.line} (layer {LAYERS[here]}) imports {i.module} "
                f"(layer {LAYERS[there]})"
            )
    return breaches


def forbidden_neighbours(module, imports, packages):
    """metrics and projectors never meet; metrics and losses know their own libraries."""
    never = {
        "skfairfr.metrics": ("skfairfr.projectors", "torch", "skorch"),
        "skfairfr.projectors": ("skfairfr.metrics",),
        "skfairfr.losses": ("sklearn", "skorch"),
        "skfairfr.samplers": ("skorch",),
    }
    return [
        f"{module}:{i.line} imports {i.module}, which {package} never does"
        for package, others in never.items()
        if within(module, package)
        for i in imports
        if any(within(i.module, other) for other in others)
    ]


# Of _core, this one takes products of float32 rows by torch.
MULTIPLYING = ("skfairfr._core._pair_tiles",)


def impure_core(module, imports, packages):
    """_core is functions of arrays: no estimators, no plotting; torch multiplies only."""
    if not within(module, "skfairfr._core"):
        return []
    breaches = []
    for i in imports:
        full = f"{i.module}.{i.name}" if i.name else i.module
        torch = within(i.module, "torch") and module not in MULTIPLYING
        if torch or within(i.module, "matplotlib"):
            breaches.append(f"{module}:{i.line} imports {i.module}")
        allowed = ("sklearn.utils", "sklearn.exceptions")
        if within(i.module, "sklearn") and not any(within(full, a) for a in allowed):
            breaches.append(f"{module}:{i.line} imports {full}")
    return breaches


def private_sklearn(module, imports, packages):
    if module == "skfairfr._compat":
        return []
    breaches = []
    for i in imports:
        parts = [*i.module.split("."), i.name or ""]
        private = any(p.startswith("_") and not p.endswith("__") for p in parts)
        if parts[0] == "sklearn" and private:
            breaches.append(f"{module}:{i.line} imports {'.'.join(parts)}")
    return breaches


RULES = (
    upward_imports,
    forbidden_neighbours,
    impure_core,
    private_sklearn,
)


def cycle(imports_by_module):
    """Modules that import each other in a ring, inside functions or out; [] if none."""
    graph = {
        module: {i.module for i in imports if i.module in imports_by_module} - {module}
        for module, imports in imports_by_module.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


MODULES = find_modules(ROOT)
PACKAGES = {name for name, path in MODULES.items() if path.name == "__init__.py"}


@pytest.fixture(scope="module")
def imports():
    return {name: imports_of(p.read_text(), MODULES) for name, p in MODULES.items()}


def test_modules_are_found():
    assert len(MODULES) > 60 and {"skfairfr", "skfairfr.cli"} < set(MODULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_modules_keep_to_the_rule(rule, imports):
    found = [rule(module, imports[module], PACKAGES) for module in MODULES]
    assert_none(breach for breaches in found for breach in breaches)


def test_imports_never_go_in_a_ring():
    """Those that run: what only type checkers read may name any module."""
    unread = re.compile(r"^if TYPE_CHECKING:\n(    .*\n)+", re.M)
    texts = {name: unread.sub("", p.read_text()) for name, p in MODULES.items()}
    imports = {name: imports_of(text, MODULES) for name, text in texts.items()}
    assert_none(cycle(imports))


def test_every_library_that_is_imported_is_declared(imports):
    """By the package or an extra: a library of another library may vanish."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    used = project["dependencies"] + extras["mitigate"] + extras["parquet"]
    declared = {re.match(r"[\w-]+", entry)[0] for entry in used}
    declared = declared - {"scikit-learn"} | {"sklearn", "skfairfr"}
    names = {i.module.partition(".")[0] for found in imports.values() for i in found}
    found = names - sys.stdlib_module_names
    assert {"numpy", "torch", "sklearn"} <= found
    assert found - declared == set()
