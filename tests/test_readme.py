"""README's Python blocks run and print what README shows below them.

They run once, in the job of the documentation: ``-m docs``.
"""

import json
import re
from pathlib import Path

import pytest

from skfairfr import make_face_embeddings

README = Path(__file__).resolve().parents[1] / "README.md"


def blocks():
    """Code blocks of README with the text that each should print."""
    text = README.read_text(encoding="utf-8")
    return re.findall(r"```python\n((?:(?!```).)*?)```\n+```text\n(.*?)```", text, re.S)


@pytest.mark.docs
def test_the_measuring_block_prints_what_follows_it(capsys):
    ((code, shown),) = blocks()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == shown


@pytest.mark.docs
def test_the_search_runs_as_written():
    pytest.importorskip("torch")
    text = README.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n((?:(?!```).)*GridSearchCV.*?)```", text, re.S)
    known = {"faces": make_face_embeddings(n_identities=300, random_state=0)}
    exec(compile(code, "README.md", "exec"), known)
    assert known["search"].best_params_["kappa0"] in (18, 20)


def audited(path, monkeypatch, capsys):
    """What README's command writes of a file in place of its list of pairs: its JSON."""
    from skfairfr.cli import main

    (command,) = re.findall(
        r"`skfairfr (audit pairs[^`]*)`", README.read_text(encoding="utf-8")
    )
    assert " pairs.csv " in command
    monkeypatch.chdir(path.parent)
    command = command.replace("pairs.csv", path.name)
    assert main([*command.split(), "--quiet"]) == 0
    assert (path.parent / "audit-out" / "report.html").exists()
    assert "Page: audit-out/report.html" in capsys.readouterr().out
    return json.loads((path.parent / "audit-out" / "audit.json").read_text())["audits"][
        0
    ]


@pytest.mark.docs
def test_the_pairs_that_readme_shows_can_be_audited(tmp_path, monkeypatch, capsys):
    text = README.read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(identity_1,.*?)```", text, re.S)
    path = tmp_path / "pairs.csv"
    path.write_text(shown)
    audit = audited(path, monkeypatch, capsys)
    assert audit["groups"][0]["n_genuine"] == 2
    rates = audit["levels"][0]["rates"]
    assert not any(row[rate]["supported"] for row in rates for rate in ("fmr", "fnmr"))


@pytest.mark.docs
def test_the_embeddings_that_readme_writes_can_be_audited(
    tmp_path, monkeypatch, capsys
):
    text = README.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n((?:(?!```).)*savez.*?)```", text, re.S)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    audit = audited(tmp_path / "faces.npz", monkeypatch, capsys)
    found = [f for level in audit["levels"] for f in level["findings"]]
    assert ("female", "higher") in {(f["group"], f["verdict"]) for f in found}


@pytest.mark.docs
def test_the_demo_prints_what_readme_quotes(capsys):
    from skfairfr.cli import main

    text = README.read_text(encoding="utf-8")
    (quoted,) = re.findall(r"Its result:\n\n```text\n(.*?)```", text, re.DOTALL)
    assert main(["demo", "--quiet"]) == 0
    assert quoted in capsys.readouterr().out


def test_commands_of_readme_are_understood(capsys):
    from skfairfr.cli._parser import parse

    commands = re.findall(r"`skfairfr ([^`]*)`", README.read_text(encoding="utf-8"))
    assert len(commands) > 8
    for command in commands:
        if len(command.split()) > 1:
            parse(command.split())


def test_files_that_readme_names_are_there():
    text = README.read_text(encoding="utf-8")
    named = re.findall(
        r"\]\((?!http)([^)#]+)\)|`((?:examples|docs|tests)/[^`*]+)`", text
    )
    assert len(named) > 3
    for pair in named:
        assert (README.parent / "".join(pair)).exists(), pair
