"""README's Python block runs and prints what README shows below it."""

import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_python_block_prints_what_follows_it(capsys):
    text = README.read_text(encoding="utf-8")
    code, printed = re.search(
        r"```python\n(.*?)```\n+```text\n(.*?)```", text, re.DOTALL
    ).groups()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_the_demo_prints_what_readme_quotes(capsys):
    from skfairfr.cli import main

    text = README.read_text(encoding="utf-8")
    (quoted,) = re.findall(r"prints:\n\n```text\n(.*?)```", text, re.DOTALL)
    assert main(["demo", "--quiet"]) == 0
    assert quoted in capsys.readouterr().out
