"""A folder of results is the old one or the new one, whatever happens to the writer."""

import os
import signal
import subprocess
import sys
import time

import pytest

from skfairfr.report import _folder
from skfairfr.report._folder import replaced

NAMES = ("audit.json", "rates.csv", "report.html")

WRITER = """
import runpy, sys
from pathlib import Path
# Alone: its package imports much that no writer needs.
replaced = runpy.run_path(sys.argv[1])["replaced"]
folder, names = Path(sys.argv[2]), sys.argv[3:]
print("ready", flush=True)
for version in range(10**9):
    with replaced(folder) as staged:
        for name in names:
            (staged / name).write_text(f"{version}")
        (staged / "figures").mkdir()
        (staged / "figures" / "roc.svg").write_text(f"{version}")
"""


def write(folder, text, names=NAMES):
    with replaced(folder) as staged:
        for name in names:
            (staged / name).write_text(text)


def read(folder):
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("exists", [False, True])
def test_a_new_folder_holds_what_was_written(tmp_path, exists):
    folder = tmp_path / "deep" / "out"
    if exists:
        folder.mkdir(parents=True)
    write(folder, "new")
    assert read(folder) == dict.fromkeys(NAMES, "new")
    assert list(folder.parent.iterdir()) == [folder]


def test_an_earlier_report_goes_as_a_whole(tmp_path):
    folder = tmp_path / "out"
    write(folder, "old")
    (folder / "figures").mkdir()
    (folder / "figures" / "roc.svg").write_text("old")
    write(folder, "new", NAMES[:1])
    assert read(folder) == {"audit.json": "new"}


def test_files_of_others_stay(tmp_path):
    write(tmp_path, "old")
    (tmp_path / "thesis.tex").write_text("mine")
    write(tmp_path, "new")
    assert read(tmp_path) == dict.fromkeys(NAMES, "new") | {"thesis.tex": "mine"}


@pytest.mark.parametrize("beside", [(), ("thesis.tex",)])
def test_figures_of_others_stay(tmp_path, beside):
    """A folder named figures is that of a report only beside a report's record."""
    folder = tmp_path / "paper"
    (folder / "figures").mkdir(parents=True)
    mine = ["figures/mine.png", *beside]
    for name in mine:
        (folder / name).write_text("mine")
    with replaced(folder) as staged:
        (staged / "audit.json").write_text("new")
        (staged / "figures").mkdir()
        (staged / "figures" / "roc.svg").write_text("new")
    expected = dict.fromkeys(("audit.json", "figures/roc.svg"), "new")
    assert read(folder) == expected | dict.fromkeys(mine, "mine")


def test_the_working_folder_can_be_written_to(tmp_path, monkeypatch):
    write(tmp_path, "old")
    monkeypatch.chdir(tmp_path)
    write(".", "new")
    assert read(tmp_path) == dict.fromkeys(NAMES, "new")


def test_an_error_changes_nothing(tmp_path):
    folder = tmp_path / "out"
    write(folder, "old")
    with pytest.raises(RuntimeError), replaced(folder) as staged:
        (staged / NAMES[0]).write_text("new")
        raise RuntimeError
    assert read(folder) == dict.fromkeys(NAMES, "old")
    assert list(tmp_path.iterdir()) == [folder]


def test_without_the_system_call_names_are_exchanged(tmp_path, monkeypatch):
    monkeypatch.setattr("skfairfr.report._folder.sys.platform", "other")
    write(tmp_path / "out", "old")
    write(tmp_path / "out", "new")
    assert read(tmp_path / "out") == dict.fromkeys(NAMES, "new")


@pytest.mark.skipif(sys.platform != "linux", reason="folders are exchanged on Linux")
def test_a_killed_writer_leaves_one_version_whole(tmp_path):
    """Killed at any time while it writes again and again, and read all along."""
    folder = tmp_path / "out"
    command = [sys.executable, "-c", WRITER, _folder.__file__, str(folder), *NAMES]
    for wait in (0.0, 0.003, 0.01, 0.02, 0.05):
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert writer.stdout.readline() == "ready\n"
        while not folder.exists():
            time.sleep(0.001)
        time.sleep(wait)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        found = read(folder)
        assert set(found) == {*NAMES, "figures/roc.svg"}
        assert len(set(found.values())) == 1
