"""The tree holds what it should, in careful words, with nothing left unfinished.

Each rule is one test, whose failure lists every breach.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tests.rules import assert_none

ROOT = Path(__file__).resolve().parents[1]

TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CITATION.cff",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "skfairfr",
    "tests",
    "docs",
    "examples",
    "paper",
}
TEXT_SUFFIXES = {".py", ".rst", ".md", ".html", ".toml", ".css", ".txt"}

CARELESS = re.compile(r"debias|\bunbiased|\bfair[ -]models?\b", re.IGNORECASE)


def files_under(*names):
    """Text files in these folders (or the files themselves), built ones left out."""
    found = []
    for name in names:
        path = ROOT / name
        inside = path.rglob("*") if path.is_dir() else [path]
        found += [p for p in inside if p.is_file() and p.suffix in TEXT_SUFFIXES]
    built = {"__pycache__", "_build", "auto_api", "auto_examples"}
    return sorted(p for p in found if not built & set(p.relative_to(ROOT).parts))


def tracked():
    """Paths that git tracks; skips outside a git checkout."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if done.returncode:
        pytest.skip("not a git checkout")
    return done.stdout.split("\0")[:-1]


def stray(paths):
    """Top-level entries that no one planned; dot-files are free."""
    top = {path.split("/")[0] for path in paths}
    return sorted(name for name in top - TOP_LEVEL if not name.startswith("."))


def test_top_level_holds_nothing_else():
    assert_none(stray(tracked()))


def test_words_are_careful():
    paths = files_under("skfairfr", "docs", "paper", "README.md", "CHANGELOG.md")
    assert len(paths) > 100
    assert_none(
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in paths
        for found in CARELESS.finditer(path.read_text(encoding="utf-8"))
    )


DOCSTRING = re.compile(r'(\A|[\w\])]:\n) *r?"""[\s\S]*?"""$', re.MULTILINE)


def code_lines(path):
    """Number of lines with code: no docstring, comment or empty line."""
    lines = DOCSTRING.sub(r"\1", path.read_text("utf-8")).splitlines()
    return sum(not re.match(r" *(#|$)", line) for line in lines)


def test_no_module_has_more_than_450_lines_of_code():
    sizes = {p: code_lines(p) for p in (ROOT / "skfairfr").rglob("*.py")}
    assert_none(f"{p}: {n} lines of code" for p, n in sizes.items() if n > 450)
