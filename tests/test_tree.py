"""The tree holds what DESIGN lists, in pieces that fit on a screen, in careful words."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "skfairfr",
    "tests",
    "docs",
    "examples",
}
CODE = ("skfairfr", "tests", "docs", "examples")
TEXT_SUFFIXES = {".py", ".rst", ".md", ".html", ".j2", ".toml", ".css", ".js", ".txt"}
MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 450

# Spelled so that this file does not breach its own rule.
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME)\b")
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
    """Top-level entries that DESIGN does not list; dot-files are free."""
    top = {path.split("/")[0] for path in paths}
    return sorted(name for name in top - TOP_LEVEL if not name.startswith("."))


def matches(pattern, text):
    return [
        f"line {text[: m.start()].count(chr(10)) + 1}: {m[0]}"
        for m in pattern.finditer(text)
    ]


def code_lines(text, node):
    """Lines of a function's code: neither its docstring, nor comments, nor blanks."""
    first = node.body[0]
    documented = ast.get_docstring(node, clean=False) is not None
    docstring = range(first.lineno, first.end_lineno + 1) if documented else ()
    lines = text.splitlines()
    return sum(
        number not in docstring and not re.match(r"\s*(#|$)", lines[number - 1])
        for number in range(node.lineno, node.end_lineno + 1)
    )


def oversized(text):
    """A sentence for the file and for each function that is too long."""
    breaches = []
    n_lines = len(text.splitlines())
    if n_lines > MAX_FILE_LINES:
        breaches.append(f"{n_lines} lines, over {MAX_FILE_LINES}")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            n_code = code_lines(text, node)
            if n_code > MAX_FUNCTION_LINES:
                breaches.append(
                    f"{node.name} has {n_code} code lines, over {MAX_FUNCTION_LINES}"
                )
    return breaches


def relative(path):
    return str(path.relative_to(ROOT))


PYTHON = [p for p in files_under(*CODE) if p.suffix == ".py"]


def test_top_level_holds_what_the_design_lists():
    assert stray(tracked()) == []


@pytest.mark.parametrize("path", files_under(*CODE, "README.md"), ids=relative)
def test_nothing_is_left_unfinished(path):
    assert matches(UNFINISHED, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "path", files_under("skfairfr", "docs", "README.md"), ids=relative
)
def test_words_are_careful(path):
    assert matches(CARELESS, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_pieces_fit_on_a_screen(path):
    assert oversized(path.read_text(encoding="utf-8")) == []


def test_stray_entries_are_seen():
    assert stray(["setup.py", ".ci/run", "tests/a.py", "notes/b.md"]) == [
        "notes",
        "setup.py",
    ]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (UNFINISHED, "x = 1  # TO" + "DO: later"),
        (CARELESS, "A fair model."),
        (CARELESS, "Debiased embeddings"),
        (CARELESS, "an unbiased estimate"),
    ],
)
def test_words_are_seen(pattern, text):
    assert len(matches(pattern, text)) == 1


def test_code_lines_leave_out_docstring_comments_and_blanks():
    text = 'def f(x):\n    """Say.\n\n    More.\n    """\n\n    # why\n    return x\n'
    assert code_lines(text, ast.parse(text).body[0]) == 2


@pytest.mark.parametrize("n_lines", [MAX_FUNCTION_LINES, MAX_FILE_LINES])
def test_oversized_pieces_are_seen(n_lines):
    assert oversized("def f():\n" + "    x = 1\n" * n_lines) != []
    assert oversized("def f():\n" + "    x = 1\n" * (MAX_FUNCTION_LINES - 1)) == []
