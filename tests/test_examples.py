"""Every example runs without a warning, tells its story, and fits on two screens."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))
MAX_LINES = 150
# Ten seconds on a machine of its own; machines of CI are shared.
TIME_LIMIT = 240


def relative(path):
    return str(path.relative_to(ROOT))


def cells(text):
    """Headings of the ``# %%`` cells."""
    lines = text.splitlines()
    return [
        lines[i + 1].removeprefix("#").strip()
        for i, line in enumerate(lines)
        if line.startswith("# %%")
    ]


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=relative)
def test_example_runs(path, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=relative)
def test_example_is_a_short_story(path):
    text = path.read_text(encoding="utf-8")
    title, *paragraphs = ast.get_docstring(ast.parse(text)).split("\n\n")
    rule, heading, below = title.split("\n")
    assert rule == below == "=" * len(heading)
    assert len(paragraphs) == 2
    assert len(text.splitlines()) <= MAX_LINES
    assert all(cells(text))
    assert cells(text)[-1] == "What to notice"
    assert "**What this does not show**" in text


@pytest.mark.parametrize("path", EXAMPLES, ids=relative)
def test_example_s_theme_has_a_title(path):
    assert (path.parent / "README.rst").is_file()


def test_headings_of_cells_are_seen():
    assert cells("x = 1\n# %%\n# One\n# ---\n# %%\n#\n") == ["One", ""]
