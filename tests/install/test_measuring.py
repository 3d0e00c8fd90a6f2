"""A plain install measures: every step of ``measuring.py``, with torch forbidden.

``.ci/run`` takes the same steps, and runs the tests of the measuring half, in an environment
that has no torch.
"""

import subprocess
import sys
from pathlib import Path

from tests.install.measuring import STEPS

ROOT = Path(__file__).resolve().parents[2]


# Old libraries deprecate one another's functions, which is no fault of a plain install.
STRICT = ("-W", "error", "-W", "ignore::DeprecationWarning")


def test_everything_but_training_works_without_its_libraries():
    done = subprocess.run(
        [sys.executable, *STRICT, "-m", "tests.install.measuring", "--forbid"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [step.__name__ for step in STEPS]
