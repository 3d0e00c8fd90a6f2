"""Pages of studies show the tables of the numbers kept, and claims quote them."""

import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
DOCS = ROOT / "docs"
STUDIES = DOCS / "evidence"
# Script -> the page that shows its tables.
PAGES = {
    "study_fpr_penalty": "fpr_penalty",
    "study_group_sampling": "group_sampling",
    "study_premises": "premises",
    "study_extensions": "extensions",
    "study_training": "training",
    "study_lfw": "lfw_ethical_module",
}
QUOTING = (
    STUDIES / "claims.rst",
    EXAMPLES / "mitigation" / "plot_heads.py",
    EXAMPLES / "mitigation" / "plot_kappa_grid.py",
    EXAMPLES / "mitigation" / "plot_paper_grid.py",
    STUDIES / "paper_grid.rst",
)
QUOTED = re.compile(r"(\d*\.\d+)(?: times)? \[(\d*\.\d+), (\d*\.\d+)\]")
NUMBER = re.compile(r"(?<![\w.])\d*\.?\d+(?:e-?\d+)?")
ROLE = re.compile(r":(ref|doc|func):`(?:[^`<]*<)?~?([^`>]+)>?`")


def load(script):
    """A script of the examples, as a module."""
    path = EXAMPLES / "mitigation" / f"{script}.py"
    spec = importlib.util.spec_from_file_location(script, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[script] = module
    spec.loader.exec_module(module)
    return module


def kept(path):
    return json.loads((EXAMPLES / f"{path}.json").read_text("utf-8"))


def tables(script):
    """Texts of the tables of what a study kept."""
    found = kept(f"mitigation/{script}")
    if script == "study_lfw":
        return found.values()
    study = load(script)
    if script == "study_fpr_penalty":
        return [study.table(part) for part in found.values()]
    return study.tables(found).values()


def page(name):
    """Source of a page of evidence, with the printed tables that it includes."""
    return "".join(
        path.read_text("utf-8")
        for path in (STUDIES / f"{name}.rst", STUDIES / f"{name}_tables.inc")
        if path.exists()
    )


@pytest.mark.parametrize("script", PAGES)
def test_a_page_shows_the_tables_of_what_is_kept(script):
    pytest.importorskip("torch")
    shown = page(PAGES[script])
    texts = list(tables(script))
    assert len(texts) > 1
    for text in texts:
        assert text in shown


def test_the_page_of_london_shows_what_is_kept():
    found = kept("evaluation/study_london")
    shown = page("london")
    assert len(found) > 5
    for title, text in found.items():
        assert f"\n{title}\n{'~' * len(title)}\n\n{text}\n" in shown


def ratios_in(tree):
    """Every (ratio, low, high) in what a study kept."""
    if isinstance(tree, dict):
        name = "ratio" if "ratio" in tree else "ratio_to_before"
        ends = [tree.get(key) for key in (name, "ratio_low", "ratio_high")]
        if None not in ends:
            lists = [end if isinstance(end, list) else [end] for end in ends]
            yield from zip(*lists, strict=True)
        tree = list(tree.values())
    if isinstance(tree, list):
        for branch in tree:
            yield from ratios_in(branch)


def spelled(numbers):
    """To one and two digits, without a 0 before the point."""
    for digits in (1, 2):
        yield tuple(f"{number:.{digits}f}".removeprefix("0") for number in numbers)


@pytest.fixture(scope="module")
def shown():
    """Ratios with their intervals that each study kept, or that its page shows."""
    found = {path: set() for path in (*EXAMPLES.rglob("*.json"), *STUDIES.iterdir())}
    for path in EXAMPLES.rglob("*.json"):
        for ratio in ratios_in(json.loads(path.read_text("utf-8"))):
            found[path] |= set(spelled(ratio))
    for path in STUDIES.iterdir():
        for quoted in QUOTED.findall(" ".join(path.read_text("utf-8").split())):
            found[path] |= set(spelled([float(number) for number in quoted]))
    return found


@pytest.mark.parametrize("path", QUOTING, ids=lambda path: path.name)
def test_ratios_with_intervals_are_those_of_the_studies(path, shown):
    text = " ".join(path.read_text("utf-8").replace("\n# ", " ").split())
    quoted = QUOTED.findall(text)
    assert len(quoted) > 5
    elsewhere = set().union(*(of for page, of in shown.items() if page != path))
    for found in quoted:
        assert tuple(number.removeprefix("0") for number in found) in elsewhere


def numbers(text):
    """Values of the numbers of a text: .45 and 0.45, or 1,500 and 1500, are equal."""
    return [
        float(found) for found in NUMBER.findall(re.sub(r"(?<=\d),(?=\d{3})", "", text))
    ]


def claims():
    """(claim, holds, effect, where) of each row of the page."""
    text = (STUDIES / "claims.rst").read_text("utf-8")
    text = re.sub(r"\\ :sub:`(\d)`", r"\1", text)
    for row in text.split("* - ")[1:]:
        cells = re.split(r"\n +- ", row.split("\n\n")[0])
        yield tuple(" ".join(cell.split()) for cell in cells)


def linked(where):
    """Texts of what a cell links to, with the files that they include."""
    for role, target in ROLE.findall(where):
        if role == "func":
            module, _, name = target.rpartition(".")
            yield inspect.getdoc(getattr(importlib.import_module(module), name))
            continue
        if target.startswith("sphx_glr_"):
            (page,) = EXAMPLES.glob("*/plot_" + target.partition("_plot_")[2])
        elif role == "doc":
            page = STUDIES / f"{target}.rst"
        else:
            label = f".. _{target}:\n"
            (page,) = (p for p in DOCS.rglob("*.rst") if label in p.read_text("utf-8"))
        text = page.read_text("utf-8")
        yield text
        for name in re.findall(r"(?:literalinclude::|:file:) ([.\w].*)", text):
            yield (page.parent / name).read_text("utf-8")


def test_claims_are_short_and_link_to_a_page_with_their_numbers():
    """A row has a verdict, at most 12 words and three numbers, all on the linked pages."""
    rows = [row for row in claims() if row[0] != "Claim"]
    assert len(rows) > 40
    for claim, holds, effect, where in rows:
        assert holds in {"yes", "in part", "no", "not tried"}, claim
        assert len(effect.split()) <= 12, effect
        quoted = numbers(effect)
        assert len(quoted) <= 3, effect
        texts = list(linked(where))
        assert texts or holds == "not tried", claim
        assert set(quoted) <= {number for text in texts for number in numbers(text)}, (
            effect
        )
