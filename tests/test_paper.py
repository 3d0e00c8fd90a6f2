"""Numbers of ``paper/paper.md`` are those that commands printed, and its citations resolve."""

import re

from tests.rules import assert_none
from tests.test_tree import ROOT

PAPER = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
# What the commands of the paper printed.
PRINTED = (
    "README.md",
    "docs/evidence/verdicts_tables.txt",
    "docs/how_to/engine_table.txt",
    "docs/evidence/bench_tables.txt",
)


def test_numbers_were_printed():
    shown = PAPER.split("# What it shows")[1].split("# Limits")[0]
    numbers = set(re.findall(r"\d+\.\d+", shown)) - {"0.05", "0.8"}  # nominal ones
    assert len(numbers) > 12
    printed = " ".join((ROOT / name).read_text(encoding="utf-8") for name in PRINTED)
    assert_none(sorted(numbers - set(re.findall(r"\d+\.\d+", printed))))


def test_citations_resolve():
    cited = set(re.findall(r"@([a-z]+\d+)", PAPER))
    entries = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")
    assert cited == set(re.findall(r"^@\w+\{(\w+),", entries, re.M))
