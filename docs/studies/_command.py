"""The command line of a benchmark: the whole numbers its ``main`` takes, by position."""

import argparse
import inspect
from pathlib import Path


def run_command(main, about):
    """Call a benchmark with the numbers of the command line; ``--help`` names them.

    Parameters
    ----------
    main : callable
        Its arguments are whole numbers; those without a default are any number of them.
    about : str
        Docstring of the benchmark's module.
    """
    name = Path(inspect.getfile(main)).stem
    parser = argparse.ArgumentParser(
        prog=f"python -m docs.studies.{name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for argument in inspect.signature(main).parameters.values():
        if argument.kind is argument.VAR_POSITIONAL:
            parser.add_argument("given", metavar=argument.name, type=int, nargs="*")
        else:
            parser.add_argument(
                argument.name,
                type=int,
                nargs="?",
                default=argument.default,
                help="default: %(default)s",
            )
    asked = vars(parser.parse_args())
    main(*asked.pop("given", ()), *asked.values())
