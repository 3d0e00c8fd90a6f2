"""The command ``skfairfr``: thin, it reads, asks the report and prints."""

import argparse
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

DEMO_IDENTITIES = 500
DEMO_ENDING = """\
These were synthetic embeddings, whose groups differ on purpose. For your own, write one row for
each image and run the audit:

  numpy.savez("faces.npz", embedding=..., identity=..., gender=...)
  skfairfr audit faces.npz --attribute gender --out audit-out
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as every other error of the command."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {_one_line(message)}\n")


def main(argv=None):
    """Run the command.

    Parameters
    ----------
    argv : list of str, default=None
        Arguments; None takes those of the process.

    Returns
    -------
    code : int
        0 done, 2 unusable input, 130 interrupted.
    """
    arguments = _parser().parse_args(argv)
    name = f"skfairfr {arguments.command}"
    try:
        _print(arguments.run(arguments))
    except (ValueError, OSError) as error:
        print(f"{name}: error: {_one_line(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130
    return 0


def _parser():
    parser = _Parser(
        prog="skfairfr",
        description="Assess demographic disparities of face (or other) verification.",
    )
    parser.add_argument("--version", action="version", version=version("skfairfr"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    _add_audit(commands)
    _add_demo(commands)
    return parser


def _add_audit(commands):
    audit = commands.add_parser(
        "audit",
        help="which groups a system treats worse, by how much, and how sure that is",
        description="Error rates by group and their disparities, with intervals, from "
        "embeddings. Exit status: 0 done, 2 unusable input.",
    )
    audit.add_argument(
        "data", metavar="DATA.npz", help="arrays, one row for each image"
    )
    audit.add_argument(
        "--attribute", required=True, metavar="NAME", help="array of the groups"
    )
    audit.add_argument(
        "--embedding",
        metavar="NAME",
        help="array of the embeddings; by default embedding or X",
    )
    audit.add_argument(
        "--identity",
        metavar="NAME",
        help="array of the people; by default identity or y",
    )
    _add_measurement(audit)
    _add_common(audit)
    audit.set_defaults(run=_audit)


def _add_measurement(audit):
    audit.add_argument(
        "--far",
        nargs="+",
        type=float,
        default=[1e-2, 1e-3],
        metavar="LEVEL",
        help="FAR levels to operate at (default: 1e-2 1e-3)",
    )
    audit.add_argument(
        "--resample",
        choices=("identities", "images", "both"),
        default="identities",
        help="intervals for other people, other photographs, or both (default: %(default)s)",
    )
    audit.add_argument(
        "--average",
        choices=("pair", "identity"),
        default="pair",
        help="what weighs the same (default: %(default)s)",
    )
    audit.add_argument(
        "--impostors",
        choices=("all", "same_group"),
        default="all",
        help="pairs whose FAR sets the threshold (default: %(default)s)",
    )
    audit.add_argument(
        "--method",
        choices=("recentered", "naive", "multiplicative", "offdiagonal"),
        default="recentered",
        help="how resamples become an interval (default: %(default)s)",
    )
    audit.add_argument(
        "--n-resamples",
        type=int,
        default=1000,
        metavar="N",
        help="bootstrap resamples (default: %(default)s)",
    )
    audit.add_argument(
        "--confidence-level",
        type=float,
        default=0.95,
        metavar="P",
        help="of the intervals (default: %(default)s)",
    )


def _add_demo(commands):
    demo = commands.add_parser(
        "demo",
        help="an audit of synthetic embeddings",
        description="Audit synthetic embeddings of two groups that differ on purpose.",
    )
    _add_common(demo)
    demo.set_defaults(run=_demo)


def _add_common(parser):
    parser.add_argument(
        "--out", metavar="DIR", help="folder that audit.json is written to"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="of all that is random (default: %(default)s)",
    )
    parser.add_argument(
        "--n-jobs", type=int, metavar="N", help="parallel workers (default: 1)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


# ---- commands ------------------------------------------------------------------------


def _audit(arguments):
    from skfairfr.datasets._files import read_faces

    faces = read_faces(
        arguments.data,
        attribute=arguments.attribute,
        embedding=arguments.embedding,
        identity=arguments.identity,
    )
    options = {
        "attribute": arguments.attribute,
        "far": arguments.far,
        "resample": arguments.resample,
        "average": arguments.average,
        "impostors": arguments.impostors,
        "method": arguments.method,
        "n_resamples": arguments.n_resamples,
        "confidence_level": arguments.confidence_level,
    }
    return _report(arguments, arguments.data, faces, options)


def _demo(arguments):
    from skfairfr.datasets import make_face_embeddings

    made = make_face_embeddings(DEMO_IDENTITIES, random_state=arguments.seed)
    faces = (made.X, made.y, made.sensitive_features)
    text = _report(arguments, "synthetic embeddings", faces, {"attribute": "gender"})
    return f"{text}\n{DEMO_ENDING}"


def _report(arguments, source, faces, options):
    """Text of an audit, whose JSON is written where it was asked for."""
    from skfairfr._core._parallel import show_progress
    from skfairfr.report import audit, to_text

    folder = None if arguments.out is None else _writable_folder(arguments.out)
    with show_progress(not arguments.quiet and sys.stderr.isatty()):
        found = audit(
            *faces, random_state=arguments.seed, n_jobs=arguments.n_jobs, **options
        )
    text = to_text(found, source)
    if folder is not None:
        path = folder / "audit.json"
        path.write_text(
            found.to_json(version=version("skfairfr"), source=source), encoding="utf-8"
        )
        text += f"\nWritten: {path}\n"
    return text


def _writable_folder(folder):
    """The folder, made and tried before the long work."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise ValueError(
            f"--out {folder!r} cannot be written to ({error.strerror}); name a folder "
            "that can."
        ) from None
    return path


def _print(text):
    """Print whatever the encoding; a reader that closes the pipe has read enough."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), end="")
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes again at exit, which would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _one_line(error):
    return " ".join(str(error).split())
