"""Every example tells its story and fits on two screens.

``docs/build.py`` runs them, with warnings as errors: each prints something and leaves no
file behind.
"""

import ast
from pathlib import Path

from tests.rules import assert_none

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))
MAX_LINES = 150


def cells(text):
    """Headings of the ``# %%`` cells."""
    lines = text.splitlines()
    return [
        lines[i + 1].removeprefix("#").strip()
        for i, line in enumerate(lines)
        if line.startswith("# %%")
    ]


def flaws(text):
    """What keeps the text of an example from being a short story."""
    title, *paragraphs = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")
    rule, heading, below = [*title.split("\n"), "", "", ""][:3]
    kept = {
        "a title between two rules": rule == below == "=" * len(heading) != "",
        "two paragraphs below the title": len(paragraphs) == 2,
        f"at most {MAX_LINES} lines": len(text.splitlines()) <= MAX_LINES,
        "a heading in every cell": all(cells(text)),
        "a last cell, What to notice": cells(text)[-1:] == ["What to notice"],
        "what this does not show": "**What this does not show**" in text,
    }
    return [f"lacks {what}" for what, there in kept.items() if not there]


def test_examples_are_short_stories():
    assert len(EXAMPLES) > 10
    found = {path: flaws(path.read_text(encoding="utf-8")) for path in EXAMPLES}
    assert_none(
        f"{path.relative_to(ROOT)} {flaw}" for path in found for flaw in found[path]
    )


def test_themes_have_titles():
    themes = {path.parent for path in EXAMPLES}
    assert_none(t for t in themes if not (t / "README.rst").is_file())
