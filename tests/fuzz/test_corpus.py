"""What once ended badly: files under corpus/<reader>, calls and lines of the command."""

from pathlib import Path

import pytest

pytest.importorskip("pandas")
from tests.fuzz import calls, command, driver, files, values

CORPUS = Path(__file__).with_name("corpus")
# Names of files are <number>-<name of the file that is damaged>.
KEPT = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", KEPT, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_files(path):
    name, file = path.parent.name, path.name.partition("-")[2]
    if name not in files.able():
        pytest.skip(f"{name} needs {files.READERS[name].needs}")
    outcome, text = driver.judged(files.case(name, file, path.read_bytes()))
    assert outcome == "clean", text


@pytest.mark.parametrize(
    ("name", "parameter", "change"),
    [
        ("SimilarityROC.fit", "X", "tensor"),
    ],
)
def test_calls(name, parameter, change):
    changes = [(parameter, change, (values.ARRAYS | values.NUMERIC)[change])]
    outcome, text = driver.judged(calls.case(name, changes))
    assert outcome not in driver.FAILURES, text


@pytest.mark.parametrize(
    "words",
    [
        # Two people in a split, one of each group: no impostor pair in any group.
        (
            "bench",
            "faces.npz",
            "--attribute",
            "gender",
            "--methods",
            "group means out",
            "--splits",
            "4",
            "--inner-splits",
            "2",
            "--far",
            "0.2",
            "--quiet",
        ),
    ],
)
def test_lines(words):
    with pytest.raises(driver.Refused):
        command.checked(words)
