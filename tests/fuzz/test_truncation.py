"""Files of every format that end too early are refused, or hold what they held."""

from pathlib import Path

import pytest

pytest.importorskip("pandas")
from tests.fuzz import driver, files

# Of longer files only every eighth byte, but for the first and the last kilobyte.
LONG = 5000
READERS = files.able()
SEPARATORS = {".csv": b",", ".tsv": b"\t"}


def lengths(data):
    """Of what is left of a file: all shorter ones, or of a long file many."""
    every = range(len(data))
    if len(data) <= LONG:
        return every
    return sorted({*every[:1000], *every[1000:-1000:8], *every[-1000:]})


def allowed(file, left):
    """How reading may end: text that is valid as it is left is other data."""
    if is_valid(Path(file).suffix, left):
        return ("clean", "same", "different")
    return ("clean",)


def is_valid(suffix, left):
    """Whether no cell is missing in the last row of a text, and no quote or value is."""
    if suffix == ".toml":
        return left.endswith((b"\n", b"}"))
    if suffix not in SEPARATORS or not left:
        return False
    lines = left.splitlines()
    cells = [line.count(SEPARATORS[suffix]) for line in lines]
    return cells[-1] == cells[0] and lines[-1].count(b'"') != 1


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_files_cut_at_every_byte(name):
    undamaged, _ = files.undamaged(name)
    cut = [file for file in undamaged if is_harmed(name, file)]
    assert cut
    for file in cut:
        data = undamaged[file]
        for length in lengths(data):
            outcome, text = driver.judged(files.case(name, file, data[:length]))
            assert outcome in allowed(file, data[:length]), (file, length, text)


def is_harmed(name, file):
    return any(Path(file).match(pattern) for pattern in files.READERS[name].harm)
