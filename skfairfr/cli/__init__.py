"""The command ``skfairfr``: it parses, calls public functions and prints what they give."""

import re
import sys
import traceback

from skfairfr.cli import _commands
from skfairfr.cli._inputs import in_flags, one_line, print_text
from skfairfr.cli._parser import parse

# Commands with --failures.
WITH_FAILURES = ("audit", "compare", "explain", "plan")


def main(argv=None):
    """Run the command.

    Parameters
    ----------
    argv : list of str, default=None
        Arguments. If None: those of the process.

    Returns
    -------
    code : int
        0 done and every check passed, 1 a check failed, 2 unusable input, 3 a check is
        undetermined, 4 a fault of the program (with its traceback), 130 interrupted.
    """
    arguments = parse(argv)
    name = f"skfairfr {arguments.command}"
    try:
        run = getattr(_commands, f"run_{arguments.command}")
        texts, code = run(arguments)
        for text in texts:  # the report, before its figures are drawn
            print_text(text)
        if not getattr(arguments, "quiet", False):
            for path, layout in arguments.read_as.items():
                print(f"{path}: read as {layout}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130
    except MemoryError as error:
        print(f"{name}: error: out of memory: {one_line(str(error))}", file=sys.stderr)
        return 2
    except (ValueError, OSError, ImportError) as error:
        # An import that Python itself could not do has a name. It is no unusable input.
        if isinstance(error, ImportError) and error.name is not None:
            return _fault(name, error)
        named = getattr(arguments, "control", None) is not None
        message = in_flags(error, **({} if named else {"control": "--covariate"}))
        if arguments.command not in WITH_FAILURES:
            from skfairfr.utils._errors import EMPTY_CELLS, IN_AN_AUDIT

            message = re.sub(f"({EMPTY_CELLS})?{re.escape(IN_AN_AUDIT)}", "", message)
        print(f"{name}: error: {one_line(message)}", file=sys.stderr)
        return 2
    except Exception as error:
        return _fault(name, error)
    return code


def _fault(name, error):
    """Print a traceback. The exit status, as Python's own, 1, means a failed check."""
    traceback.print_exception(error)
    print(f"{name}: this is a fault of the program, please report it", file=sys.stderr)
    return 4
