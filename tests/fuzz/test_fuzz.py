"""A few damaged files a day, many of other seeds each night, and what once ended badly."""

import time
from pathlib import Path

import pytest

pytest.importorskip("pandas")
from tests.fuzz import command, driver, files, misread

# Files of corpus/<reader> are <number>-<name of the file that is damaged>.
CORPUS = sorted(Path(__file__).with_name("corpus").glob("*/*"))
# Of longer files only every eighth byte, but for the first and the last kilobyte.
LONG = 5000
SEPARATORS = {".csv": b",", ".tsv": b"\t", ".txt": b" ", "": b" "}


@pytest.mark.parametrize("name", files.able())
def test_damaged_files_are_read_or_refused(name):
    for case in files.cases(0, 0, 10 if files.WEIGHTS[name] > 3 else 3, [name]):
        outcome, text = driver.judged(case)
        assert outcome not in driver.FAILURES, text


def test_lists_that_mean_something_else_are_read_rightly_or_refused():
    for case in misread.cases(0, 0, 40):
        outcome, text = driver.judged(case)
        assert outcome in ("clean", "same"), (case.shown, text)


@pytest.mark.slow
@pytest.mark.parametrize("module", [files, command, misread])
def test_many_cases_of_another_seed_each_night(module):
    n_cases = 2100 if module is files else 450
    for case in module.cases(int(time.strftime("%Y%m%d")), 0, n_cases):
        outcome, text = driver.judged(case)
        assert outcome not in driver.FAILURES, text


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_files_that_once_ended_badly_are_refused(path):
    file = path.name.partition("-")[2]
    case = files.case(path.parent.name, file, path.read_bytes())
    assert driver.judged(case)[0] == "clean"


def cuts(name):
    """File and what is left of it: all shorter ones, or of a long file many."""
    undamaged, _ = files.undamaged(name)
    for file, data in undamaged.items():
        if any(Path(file).match(pattern) for pattern in files.READERS[name].harm):
            n = len(data)
            for length in range(n):
                if n <= LONG or not 1000 < length < n - 1000 or length % 8 == 0:
                    yield file, data[:length]


def is_valid(suffix, left):
    """Whether text is valid as it is left: no cell of the last row, quote or value is cut."""
    if suffix == ".toml":
        return left.endswith((b"\n", b"}"))
    # A template may have fewer images, and the last group another name.
    if suffix in (".enrol", ".celeba"):
        return True
    if suffix == ".ark":
        return left.rstrip().endswith(b"]")
    if suffix == ".json":  # without the end of its last line it is whole
        return left.count(b"{") == left.count(b"}")
    if suffix not in SEPARATORS or not left:
        return False
    lines = left.splitlines()
    cells = [line.count(SEPARATORS[suffix]) for line in lines]
    return cells[-1] == cells[0] and lines[-1].count(b'"') != 1


@pytest.mark.slow
@pytest.mark.parametrize("name", files.able())
def test_files_cut_at_every_byte(name):
    for file, left in cuts(name):
        outcome, text = driver.judged(files.case(name, file, left))
        valid = ("clean", "same", "different")
        allowed = valid if is_valid(Path(file).suffix, left) else ("clean",)
        assert outcome in allowed, (file, len(left), text)
