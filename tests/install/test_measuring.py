"""A plain install measures: the steps of ``measuring.py``, with torch forbidden.

``.ci/run`` takes the same steps, and runs the tests of the measuring half, in an environment
that has no torch.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.install.measuring import STEPS

ROOT = Path(__file__).resolve().parents[2]


# Old libraries deprecate one another's functions, which is no fault of a plain install.
STRICT = ("-W", "error", "-W", "ignore::DeprecationWarning")


# Which .ci/run takes without torch each time.
LONG = (
    "displays_are_drawn",
    "scorers_serve_a_search_over_any_transformer",
    "the_command_audits",
)


@pytest.mark.slow
@pytest.mark.parametrize("without", [LONG, ()])
def test_everything_but_training_works_without_its_libraries(without):
    command = [sys.executable, *STRICT, "-m", "tests.install.measuring", "--forbid"]
    done = subprocess.run(
        [*command, "--without", *without], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    names = [step.__name__ for step in STEPS]
    assert set(without) <= set(names)
    assert done.stdout.split() == [name for name in names if name not in without]
