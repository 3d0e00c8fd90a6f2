"""``python -m skfairfr`` is the command ``skfairfr``."""

import sys

from skfairfr.cli import main

if __name__ == "__main__":
    sys.exit(main())
