"""Plain English: phrases that readers stumble over are not in README, help and reports.

In pages and docstrings their number may only fall.
"""

import ast
import re
from functools import cache
from pathlib import Path

from skfairfr.cli._parser import build_parsers
from tests.rules import assert_none

ROOT = Path(__file__).resolve().parents[1]
PHRASES = {
    "where, for if": r"(?:^|[.;:,(]\s*)[Ww]here (?:the |a |an |it |no |one |there |they |few )",
    "opening with Of": r"(?:^|[.]\s+)Of (?:the |a |all |each |every |these |[a-z]+s\b)",
    "What… as a subject": r"(?:^|[.]\s+)What (?!is |are |does |do |can |to |was |were )\w+",
    "told": r"\b(?:tells?|told)\b",
    "software says": r"\b(?:says|said)\b",
    "held": r"\b(?:holds?|held)\b(?!-out| out)",
    "stands": r"\bstands?\b|\bstood\b",
    "err": r"\b(?:err|errs|erred)\b",
    "alike, beside, anew": r"\balike\b|\bbeside\b|\banew\b|\bseldom\b|\bat hand\b",
    "other people": r"\bother people\b",
    "clumps": r"\buneven\b|\bclumps?\b|\beven people\b|\berrors are worth\b",
    "house": r"\b(?:the|a|this|six) (?:house|rooms?|doors?|floors?|night)\b",
    "treated worse": r"\btreated (?:worse|better)\b",
    "refuses": r"\brefuse[sd]?\b",
    "a decimal without zero": r"(?<![\w.\])}:*])\.\d+(?!f)",
}

# How many pages, and docstrings and messages, still have.
PAGES, DOCSTRINGS = 3, 35


def phrases(text):
    """Name of each phrase of a text, with what is around it."""
    return [
        f"{name}: …{text[max(0, found.start() - 40) : found.end() + 30]!r}"
        for name, pattern in PHRASES.items()
        for found in re.finditer(pattern, text)
    ]


@cache
def strings(path):
    """Sentences in the strings of a module, docstrings and messages."""
    nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    bodies = [n.body for n in nodes if isinstance(getattr(n, "body", 0), list)]
    documented = {id(b[0].value) for b in bodies if b and isinstance(b[0], ast.Expr)}
    found = {True: [], False: []}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if " " in node.value:
                found[id(node) in documented].append(" ".join(node.value.split()))
    return found[True], found[False]


def read_first():
    """Name and text of everything that users read first."""
    yield "README.md", (ROOT / "README.md").read_text("utf-8")
    parser, commands = build_parsers(full=True)
    for name, command in {"": parser, **commands}.items():
        yield f"help {name}", " ".join(command.format_help().split())
    package = ROOT / "skfairfr"
    for path in (package / "report" / "texts").glob("*.txt"):
        yield path.name, path.read_text("utf-8")
    for folder in (package / "report", package / "_text"):
        for path in folder.rglob("*.py"):
            _, messages = strings(path)
            yield path.name, " ".join(messages)


def test_what_users_read_first_is_plain_english():
    assert_none(f"{name}: {p}" for name, text in read_first() for p in phrases(text))


def test_phrases_in_pages_and_docstrings_become_no_more():
    built = {"_build", "auto_examples", "auto_api"}
    pages = [p for p in (ROOT / "docs").rglob("*.rst") if not built & {*p.parts}]
    assert sum(len(phrases(p.read_text("utf-8"))) for p in pages) <= PAGES
    modules = [*(ROOT / "skfairfr").rglob("*.py")]
    texts = [text for path in modules for both in strings(path) for text in both]
    assert sum(len(phrases(text)) for text in texts) <= DOCSTRINGS
