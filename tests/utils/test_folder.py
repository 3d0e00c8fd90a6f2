"""A folder of results is the old one or the new one; files of others stay."""

import os
import stat

import pytest

from skfairfr.utils._folder import Contents, replaced, whole_file

REPORT = Contents(("audit.json",), ("*.csv", "*.html", "fi*"))
NAMES = ("audit.json", "rates.csv", "report.html")


def write(folder, text, names=NAMES):
    with replaced(folder, REPORT) as staged:
        for name in names:
            (staged / name).parent.mkdir(exist_ok=True)
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
    write(folder, "new", (*NAMES, "figures/roc.svg"))
    assert read(folder) == dict.fromkeys((*NAMES, "figures/roc.svg"), "new")
    assert {path.name for path in folder.iterdir()} == {*NAMES, "figures"}


def test_an_earlier_report_goes_as_a_whole(tmp_path):
    write(tmp_path, "old", (*NAMES, "figures/roc.svg"))
    write(tmp_path, "new", (NAMES[0], "figures/scores.svg"))
    assert read(tmp_path) == dict.fromkeys(["audit.json", "figures/scores.svg"], "new")
    write(tmp_path, "newest", NAMES[:1])
    assert os.listdir(tmp_path) == ["audit.json"]


def test_files_of_others_stay(tmp_path, monkeypatch):
    """Also where the folder is the working one."""
    write(tmp_path, "old")
    (tmp_path / "thesis.tex").write_text("mine")
    monkeypatch.chdir(tmp_path)
    write(".", "new")
    assert read(tmp_path) == dict.fromkeys(NAMES, "new") | {"thesis.tex": "mine"}


@pytest.mark.parametrize("beside", [(), ("thesis.tex",)])
def test_figures_of_others_stay(tmp_path, beside):
    """A folder named figures is that of a report only beside a report's record."""
    mine = ["figures/mine.png", *beside]
    (tmp_path / "figures").mkdir()
    for name in mine:
        (tmp_path / name).write_text("mine")
    new = ["audit.json", "figures/roc.svg"]
    write(tmp_path, "new", new)
    assert read(tmp_path) == dict.fromkeys(new, "new") | dict.fromkeys(mine, "mine")


def test_what_is_written_goes_though_no_pattern_names_it(tmp_path):
    write(tmp_path, "old", ["audit.json", "winner/a"])
    write(tmp_path, "new", ["audit.json"])
    assert read(tmp_path) == {"audit.json": "new", "winner/a": "old"}
    write(tmp_path, "newest", ["audit.json", "winner/b"])
    assert read(tmp_path) == dict.fromkeys(["audit.json", "winner/b"], "newest")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_writer_leaves_the_old_folder_whole(tmp_path, error):
    write(tmp_path, "old")
    with pytest.raises(error), replaced(tmp_path, REPORT) as staged:
        (staged / NAMES[0]).write_text("new")
        raise error
    assert read(tmp_path) == dict.fromkeys(NAMES, "old")
    assert set(os.listdir(tmp_path)) == set(NAMES)


@pytest.mark.parametrize("n_done", range(6))
def test_an_interrupt_while_names_change_leaves_the_old_folder_whole(
    tmp_path, monkeypatch, n_done
):
    old = (*NAMES, "figures/a.svg")
    write(tmp_path, "old", old)
    rename, done = os.replace, []

    def interrupted(source, place):
        rename(source, place)
        done.append(source)
        if len(done) == n_done + 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, "new", ["audit.json", "figures/b.svg"])
    assert read(tmp_path) == dict.fromkeys(old, "old")
    assert set(os.listdir(tmp_path)) == {*NAMES, "figures"}


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
    with pytest.raises(KeyboardInterrupt), whole_file(path) as staged:
        staged.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "new" and list(tmp_path.iterdir()) == [path]
