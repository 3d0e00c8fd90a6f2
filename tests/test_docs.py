"""The site's own promises: every public name has a place, and every block of code runs.

The blocks run once, in the job of the documentation (``-m docs``). ``docs/build.py`` builds
the site, with warnings as errors, and checks its links and the output of its stories. Nothing
here needs Sphinx.
"""

import importlib
import re
import shlex
import textwrap
from pathlib import Path

import numpy as np
import pytest

import skfairfr
from skfairfr.cli import main
from skfairfr.cli._inputs import read
from skfairfr.cli._parser import parse
from skfairfr.report import EmbeddingData
from tests.rules import assert_none

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GENERATED = {"_build", "auto_examples", "auto_api"}
PAGES = sorted(
    page
    for page in DOCS.rglob("*.rst")
    if not GENERATED & set(page.relative_to(DOCS).parts)
    and "_templates" not in str(page)
)
SUBPACKAGES = sorted(
    f"skfairfr.{path.parent.name}"
    for path in (ROOT / "skfairfr").glob("[!_]*/__init__.py")
    if path.parent.name != "cli"
)
BLOCK = re.compile(
    r"^\.\. (testcode|testoutput|code-block)::(.*)\n((?:[ ]{3}.*\n|\s*\n)*)",
    re.MULTILINE,
)
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?|(?<![\w.])-?\d+(?![\w.])")
# Trained networks differ in their last bits between machines.
RELATIVE, ABSOLUTE = 0.1, 0.02


def relative(path):
    return str(path.relative_to(ROOT))


def blocks(text):
    """(kind, argument, code) of every block of code of a page."""
    found = []
    for kind, argument, body in BLOCK.findall(text):
        lines = textwrap.dedent(body).strip("\n").split("\n")
        while lines and re.match(r":\w+:", lines[0]):
            lines.pop(0)
        found.append((kind, argument.strip(), "\n".join(lines).strip("\n")))
    return found


def agree(printed, shown):
    """Whether two texts are the same but for numbers with decimals, which are close."""
    words = [NUMBER.sub("#", text).split() for text in (printed, shown)]
    ours, theirs = (NUMBER.findall(text) for text in (printed, shown))
    if words[0] != words[1] or len(ours) != len(theirs):
        return False
    for one, other in zip(ours, theirs, strict=True):
        if "." not in one + other:
            same = one == other
        else:
            same = float(one) == pytest.approx(float(other), rel=RELATIVE, abs=ABSOLUTE)
        if not same:
            return False
    return True


def documented(text):
    """Names that the pages of the API list, under the module they are in."""
    found, module = set(), None
    for line in text.splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        entry = re.match(r"(?:   |\.\. py:data:: )(\w+)$", line)
        if module and entry:
            found.add(f"{module}.{entry[1]}")
    return found


API = set().union(
    *(
        documented(p.read_text(encoding="utf-8"))
        for p in (DOCS / "reference").glob("*.rst")
    )
)


def public():
    """Full names of everything that the subpackages offer."""
    return {
        f"{package}.{name}"
        for package in SUBPACKAGES
        for name in importlib.import_module(package).__all__
    }


def test_every_public_name_has_a_place_in_the_api():
    assert_none(sorted(public() - API))


def test_the_api_lists_nothing_that_is_gone():
    assert_none(sorted(API - public()))


def test_blocks_of_pages_compile():
    broken = []
    for page in PAGES:
        for kind, argument, code in blocks(page.read_text(encoding="utf-8")):
            try:
                if kind == "testcode" or argument == "python":
                    compile(code, relative(page), "exec")
            except SyntaxError as error:
                broken.append(f"{relative(page)}: {error}: {code}")
    assert_none(broken)


EXECUTED = [page for page in PAGES if ".. testcode::" in page.read_text("utf-8")]


@pytest.mark.docs
# Of torch's exporter to ONNX about torch itself.
@pytest.mark.filterwarnings("ignore:.isinstance.treespec, LeafSpec:FutureWarning")
@pytest.mark.parametrize("page", EXECUTED, ids=relative)
def test_blocks_of_a_page_print_what_stands_below_them(
    page, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "docs"}
    found = blocks(page.read_text(encoding="utf-8"))
    for number, (kind, argument, code) in enumerate(found):
        if argument == "console":
            for line in re.findall(r"^\$ skfairfr (audit .*)", code, re.MULTILINE):
                # Checks may fail, and nothing else.
                assert main(shlex.split(line)) in (0, 1, 3), capsys.readouterr().err
            capsys.readouterr()
        if kind != "testcode":
            continue
        exec(compile(code, relative(page), "exec"), namespace)
        printed = capsys.readouterr().out
        after = found[number + 1] if number + 1 < len(found) else (None,) * 3
        shown = after[2] if after[0] == "testoutput" else ""
        assert agree(printed, shown), f"printed:\n{printed}\nshown:\n{shown}"


EXAMPLE = re.compile(
    r"^   \* - .+\n(?:     (?!- ).+\n)*"
    r"     - (?:\.\. code-block:: text\n\n(?P<rows>(?: {10}.*\n)+)|.*\n)"
    r"     - ``(?P<command>.+)``\n",
    re.MULTILINE,
)


@pytest.mark.docs
def test_examples_of_input_formats_are_read(monkeypatch, tmp_path):
    """The rows of an example are of the file that its command names and the page lacks."""
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "reference" / "input_formats.rst").read_text(encoding="utf-8")
    namespace = {"__name__": "docs"}
    for kind, _, code in blocks(page):
        if kind == "testcode":
            exec(code, namespace)
    ready = {path.name for path in tmp_path.iterdir()} - {"scores-dev"}
    examples = [found.groups() for found in EXAMPLE.finditer(page)]
    assert len(examples) == page.count("     - ``audit") + page.count("     - ``plan")
    for rows, command in examples:
        words = shlex.split(command)
        named = [
            w for w in words if re.search(r"\.\w{3,4}$|^(scores-dev|utt2|spk2)", w)
        ]
        own = [name for name in named if name not in ready]
        if rows is not None:
            Path(own[-1]).write_text(textwrap.dedent(rows))
        arguments = parse(words)
        given = vars(arguments)
        path, attributes = given.get("data", given.get("pilot")), arguments.attribute
        data = read(path, attributes or [], given)
        people = 3 if isinstance(data, EmbeddingData) else len(data.y_score)
        assert people == 3, command
        assert [*data.columns] == [a.partition(":")[0] for a in attributes or ()], (
            command
        )
        if "score" in command:
            np.testing.assert_allclose(data.y_score, [0.71, 0.12, 0.34])


def listed():
    """Pages that some table of contents names, and the front page."""
    found = {DOCS / "index.rst"}
    for parent in PAGES:
        text = parent.read_text(encoding="utf-8")
        for toctree in re.findall(r"\.\. toctree::\n(?:[ ]{3}.*\n|\n)*", text):
            for entry in toctree.split():
                names = (
                    parent.parent.glob("*.rst")
                    if entry == "*"
                    else [parent.parent / f"{entry}.rst"]
                )
                found.update(names)
    return found


def test_every_page_is_reached():
    assert len(PAGES) > 10
    assert_none(sorted(map(relative, set(PAGES) - listed())))


def test_files_that_pages_of_contributors_and_of_security_name_are_there():
    """But for those that a reader is told to make."""
    new = {"_scaled_softmax.py", "test_scaled_softmax.py", "_shifted.py"}
    named = {
        name
        for page in (ROOT / "SECURITY.md", *(DOCS / "development").glob("*.rst"))
        for name in re.findall(
            r"`((?:skfairfr|tests|docs)/(?!_build)[\w/.]+)`", page.read_text()
        )
    }
    assert len(named) > 40
    assert_none(
        name
        for name in sorted(named)
        if name.rpartition("/")[2] not in new and not (ROOT / name).exists()
    )


def test_top_level_has_what_readme_and_tutorials_import():
    """All but constants and the command."""
    pytest.importorskip("torch")
    pages = [ROOT / "README.md", *(DOCS / "tutorials").glob("*.rst")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    found = re.findall(r"from skfairfr(?:\.(?!cli)\w+)? import (\([^)]*\)|.*)", text)
    names = {name for line in found for name in re.findall(r"\w+", line)}
    used = {name for name in names if not name.isupper()}
    assert "read_data" in used
    assert used <= set(skfairfr.__all__)
