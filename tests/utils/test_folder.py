"""A folder of results is the old one or the new one, whatever happens to the writer."""

import os
import random
import signal
import stat
import subprocess
import sys
import time
from threading import Event, Thread, current_thread

import pytest

from skfairfr.utils import _folder
from skfairfr.utils._folder import Contents, replaced, staging, whole_file

REPORT = Contents(("audit.json",), ("*.csv", "*.html", "fi*"))
NAMES = ("audit.json", "rates.csv", "report.html")

WRITER = """
import runpy, sys
from pathlib import Path
# Alone: its package imports much that no writer needs.
module = runpy.run_path(sys.argv[1])
contents = module["Contents"](("audit.json",), ("*.csv", "*.html", "fi*"))
folder, names = Path(sys.argv[2]), sys.argv[3:]
for version in range(10**9):
    if version == 1:
        print("ready", flush=True)
    with module["replaced"](folder, contents, ("fits",)) as staged:
        for name in names:
            (staged / name).write_text(f"{version}")
        (staged / "figures").mkdir()
        (staged / "figures" / "roc.svg").write_text(f"{version}")
"""


def write(folder, text, names=NAMES, kept=()):
    with replaced(folder, REPORT, kept) as staged:
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
    with replaced(folder, REPORT) as staged:
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
    with pytest.raises(RuntimeError), replaced(folder, REPORT) as staged:
        (staged / NAMES[0]).write_text("new")
        raise RuntimeError
    assert read(folder) == dict.fromkeys(NAMES, "old")
    assert list(tmp_path.iterdir()) == [folder]


def test_without_the_system_call_names_are_exchanged(tmp_path, monkeypatch):
    monkeypatch.setattr("skfairfr.utils._folder.sys.platform", "other")
    write(tmp_path / "out", "old")
    write(tmp_path / "out", "new")
    assert read(tmp_path / "out") == dict.fromkeys(NAMES, "new")


def test_a_folder_that_is_kept_goes_along(tmp_path):
    folder = tmp_path / "out"
    write(folder, "old")
    (folder / "figures" / "deep").mkdir(parents=True)
    (folder / "figures" / "deep" / "roc.svg").write_text("kept")
    (folder / "figures" / ".roc.svg.0.part").mkdir()
    write(folder, "new", NAMES[:1], kept=("figures", "missing"))
    assert read(folder) == {"audit.json": "new", "figures/deep/roc.svg": "kept"}
    assert not (folder / "figures" / ".roc.svg.0.part").exists()


def test_a_private_folder_stays_private(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir(mode=0o700)
    for text in ("old", "new"):
        write(folder, text)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_file_is_whole(tmp_path):
    path = tmp_path / "head.safetensors"
    for text in ("old", "new"):
        with whole_file(path) as staged:
            staged.write_text(text)
            assert not path.exists() or path.read_text() == "old"
        assert path.read_text() == text
    with pytest.raises(RuntimeError), whole_file(path) as staged:
        staged.write_text("half")
        raise RuntimeError
    assert path.read_text() == "new" and list(tmp_path.iterdir()) == [path]


on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="folders are exchanged, and locked, on Linux"
)


@on_linux
def test_what_killed_writers_left_goes_and_what_others_write_stays(tmp_path):
    folder = tmp_path / "out"
    write(folder, "old")
    left = [".out.1.part", "out/.out.2.part", ".out.3.part.old"]
    for name in left:
        (tmp_path / name).mkdir()
        (tmp_path / name / "half").write_text("")
    (tmp_path / ".other.1.part").mkdir()
    with staging(folder) as at_work:
        (at_work / "half").write_text("")
        write(folder, "new")
        assert (at_work / "half").exists()
    assert read(folder) == dict.fromkeys(NAMES, "new")
    assert {path.name for path in tmp_path.iterdir()} == {"out", ".other.1.part"}


@on_linux
def test_a_folder_put_aside_comes_back(tmp_path):
    """A writer was killed between two renames, where names cannot be exchanged."""
    write(tmp_path / ".out.1.part.old", "old")
    with staging(tmp_path / "out"):
        assert read(tmp_path / "out") == dict.fromkeys(NAMES, "old")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(_folder.fcntl is None, reason="needs locks")
@pytest.mark.parametrize("second_exchanges", [False, True])
def test_two_writers_take_turns(tmp_path, monkeypatch, second_exchanges):
    """Where files are replaced one by one, or by one of them, none gets between."""
    folder = tmp_path / "out"
    write(folder, "old")
    held = ["first"]
    if second_exchanges:
        # The first works in the folder, the second elsewhere.
        monkeypatch.setattr(
            _folder, "_is_held", lambda folder: current_thread().name in held
        )
    else:
        (folder / "of others").write_text("theirs")
    paused, go_on, replace = Event(), Event(), os.replace

    def slow(source, place):
        replace(source, place)
        if current_thread().name == "first" and not paused.is_set():
            paused.set()
            assert go_on.wait(10)

    monkeypatch.setattr(os, "replace", slow)
    first = Thread(target=write, args=(folder, "1"), name="first")
    first.start()
    assert paused.wait(10)
    second = Thread(target=write, args=(folder, "2"), name="second")
    second.start()
    second.join(0.3)
    assert second.is_alive()
    go_on.set()
    for writer in (first, second):
        writer.join(10)
    (folder / "of others").unlink(missing_ok=True)
    assert read(folder) == dict.fromkeys(NAMES, "2")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@on_linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_writers_leave_one_version_whole(tmp_path, number):
    """Two at once, killed at random times while they write again and again."""
    folder = tmp_path / "out"
    command = [sys.executable, "-c", WRITER, _folder.__file__, str(folder), *NAMES]
    draw = random.Random(int(number))
    for _ in range(8):
        writers = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for writer in writers:
            assert writer.stdout.readline() == "ready\n"
        (folder / "fits").mkdir(exist_ok=True)
        for writer in writers:
            time.sleep(draw.uniform(0, 0.03))
            os.kill(writer.pid, number)
            assert writer.wait() == -number
            writer.stdout.close()
        found = read(folder)
        assert set(found) == {*NAMES, "figures/roc.svg"}
        assert len(set(found.values())) == 1
    write(folder, "new")
    assert list(tmp_path.iterdir()) == [folder]
    assert read(folder) == dict.fromkeys(NAMES, "new")
