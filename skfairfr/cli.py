"""The command ``skfairfr``: thin, it reads, asks the report and prints."""

import argparse
import os
import re
import sys
import tempfile
import traceback
from importlib.metadata import version
from pathlib import Path

DEMO_IDENTITIES = 500
DEMO_ENDING = """\
These were synthetic embeddings, whose groups differ on purpose. For your own, write arrays with
a row for each image, in Python, and run the audit:

  numpy.savez("faces.npz", embedding=X, identity=people, gender=gender)
  skfairfr audit faces.npz --attribute gender --out audit-out
"""
MEASUREMENT = (
    *("resample", "average", "impostors", "method"),
    *("n_resamples", "confidence_level"),
)
LIMITS = ("max_bfar", "max_bfrr", "max_far_ratio", "max_frr_ratio")
AUDIT_DESCRIPTION = """\
Error rates by group and their disparities, with intervals, from embeddings or scored pairs. Exit
status: 0 done and every check passed, 1 a check failed, 2 unusable input, 3 the data cannot tell
whether a check passes, 4 a fault of the program."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as every other error of the command."""

    def error(self, message):
        if re.match("unrecognized arguments: [^-]", message):
            message += (
                "; audit takes one DATA, and every attribute an --attribute of its own: "
                "--attribute A --attribute B"
            )
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
        0 done and every check passed, 1 a check failed, 2 unusable input, 3 a check is
        undetermined, 4 a fault of ours (with its traceback), 130 interrupted.
    """
    arguments = _parser().parse_args(argv)
    name = f"skfairfr {arguments.command}"
    try:
        text, code = arguments.run(arguments)
        _print(text)
    except (ValueError, OSError, ImportError) as error:
        # Python names what it could not import; a message of ours names the remedy.
        if getattr(error, "name", None) is not None:
            return _at_fault(name)
        print(f"{name}: error: {_one_line(_in_flags(error))}", file=sys.stderr)
        return 2
    except MemoryError as error:
        said = f"out of memory ({error}); lower --far, or audit fewer images"
        print(f"{name}: error: {_one_line(said)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130
    except Exception:
        return _at_fault(name)
    return code


def _at_fault(name):
    """Tell all; Python's own exit status, 1, would say that a check failed."""
    traceback.print_exc()
    print(f"{name}: this is a fault of the program, please report it", file=sys.stderr)
    return 4


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
        description=AUDIT_DESCRIPTION,
    )
    audit.add_argument(
        "data",
        metavar="DATA",
        help="embeddings (.npz, .npy), one row for each image, or scored pairs (.csv, "
        ".parquet)",
    )
    audit.add_argument(
        "--attribute",
        required=True,
        action="append",
        metavar="NAME",
        help="column of the groups, of pairs the columns NAME_1 and NAME_2; give it again "
        "for other attributes, which are audited each and in combination",
    )
    _add_embeddings(audit.add_argument_group("embeddings"))
    _add_pairs(audit.add_argument_group("scored pairs"))
    _add_points(audit.add_argument_group("operating points"))
    _add_measurement(audit.add_argument_group("measurement"))
    _add_checks(
        audit.add_argument_group(
            "checks",
            "Judged at every level and by every attribute: passed where the data support "
            "the disparity's interval and it ends at X or below, failed where they support "
            "it and it begins above X, else undetermined.",
        )
    )
    _add_common(audit)
    audit.set_defaults(run=_audit)


def _add_embeddings(group):
    for name, default, meaning in (
        ("embedding", "embedding or X", "array of the embeddings in an .npz file"),
        ("identity", "identity or y", "column of the people"),
    ):
        group.add_argument(
            f"--{name}", metavar="NAME", help=f"{meaning}; by default {default}"
        )
    group.add_argument(
        "--labels",
        metavar="FILE",
        help=".csv or .parquet of the labels, one row for each image; by default those in "
        "the .npz file, or beside the .npy file under the same name",
    )
    group.add_argument(
        "--domain",
        metavar="COLUMN",
        help="column with two values, such as selfie and document: only pairs across them "
        "are compared",
    )


def _add_pairs(group):
    for name, default, meaning in (
        ("score", "score or, of distances, distance", "column of the similarities"),
        ("identity-1", "identity_1", "column of the first image's person"),
        ("identity-2", "identity_2", "column of the second image's person"),
        ("image-1", "image_1 if there", "column that names the first image"),
        ("image-2", "image_2 if there", "column that names the second image"),
    ):
        group.add_argument(
            f"--{name}", metavar="NAME", help=f"{meaning}; by default {default}"
        )
    group.add_argument(
        "--distance",
        action="store_true",
        help="scores are distances, smaller meaning more alike",
    )


def _add_points(group):
    group.add_argument(
        "--far",
        nargs="+",
        type=float,
        metavar="LEVEL",
        help="FAR levels to operate at (default: 1e-2 1e-3)",
    )
    given = group.add_mutually_exclusive_group()
    given.add_argument(
        "--threshold",
        type=float,
        metavar="T",
        help="score from which on a deployed system accepts (of distances, up to which), "
        "instead of levels",
    )
    given.add_argument(
        "--threshold-from",
        metavar="OTHER",
        help="file of the same kind as DATA, on which the thresholds of the levels are set",
    )


def _add_checks(group):
    for name, meaning in (
        ("max-bfar", "FAR, at the threshold where no group's FAR exceeds the level"),
        ("max-bfrr", "FRR, there"),
        ("max-far-ratio", "FAR, at the overall threshold"),
        ("max-frr-ratio", "FRR, there"),
    ):
        group.add_argument(
            f"--{name}",
            type=float,
            metavar="X",
            help=f"largest max / min allowed of the groups' {meaning}",
        )


def _add_measurement(audit):
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
        "--out",
        metavar="DIR",
        help="folder that audit.json and the figures (SVG, PNG) are written to",
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
    from skfairfr.report._audit import noting
    from skfairfr.report._measured import Points
    from skfairfr.report._sources import read_source

    given = vars(arguments)
    _check_points(arguments)
    notes = []
    with noting(notes, UserWarning):
        data = read_source(arguments.data, arguments.attribute, given)
    folder = _writable_folder(arguments.out)
    options = {name: given[name] for name in MEASUREMENT}
    about = {name: given[name] for name in ("domain", "distance", "threshold_from")}
    if arguments.threshold_from is not None:
        points, said = _points_elsewhere(arguments, options)
        notes += said
    elif arguments.threshold is not None:
        sign = -1 if arguments.distance else 1
        points = Points.of(threshold=sign * arguments.threshold)
    else:
        points = Points.of(arguments.far)
    limits = {name: given[name] for name in LIMITS if given[name] is not None}
    asked = {"points": points, "limits": limits, "about": about, "notes": notes}
    return _report(arguments, data, arguments.attribute, folder, asked | options)


def _check_points(arguments):
    if arguments.threshold is not None and arguments.far is not None:
        raise ValueError(
            f"--threshold {arguments.threshold:g} is used as it is and --far "
            f"{arguments.far[0]:g} sets one; give one of them."
        )


def _points_elsewhere(arguments, options):
    """Thresholds that another file sets, read as the audited one is."""
    from skfairfr.report._audit import noting, points_on
    from skfairfr.report._sources import check_same_kind, read_source

    # Groups of the other file matter only where its FAR is over pairs within them.
    inside = arguments.impostors == "same_group"
    if inside and len(arguments.attribute) > 1:
        raise ValueError(
            "--threshold-from with --impostors same_group sets one threshold by the groups "
            f"of one attribute; got {len(arguments.attribute)}: audit them one at a time."
        )
    attributes = tuple(arguments.attribute) if inside else ()
    # The labels named are those of the audited file.
    own = vars(arguments) | {"labels": None}
    try:
        check_same_kind(arguments.threshold_from, arguments.data)
        notes = []
        with noting(notes, UserWarning):
            other = read_source(arguments.threshold_from, attributes, own)
        points, said = points_on(
            other, arguments.far, attributes=attributes, **_with_run(arguments, options)
        )
        return points, [*notes, *said]
    except ValueError as error:
        raise ValueError(f"--threshold-from: {error}") from None


def _with_run(arguments, options):
    return options | {"random_state": arguments.seed, "n_jobs": arguments.n_jobs}


def _demo(arguments):
    from skfairfr.datasets import make_face_embeddings
    from skfairfr.report._data import Faces

    made = make_face_embeddings(DEMO_IDENTITIES, random_state=arguments.seed)
    data = Faces(made.X, made.y, {"gender": made.sensitive_features})
    folder = _writable_folder(arguments.out)
    text, code = _report(arguments, data, ["gender"], folder, {})
    return f"{text}\n{DEMO_ENDING}", code


def _report(arguments, data, attributes, folder, options):
    """Text of a report, whose JSON is written where it was asked for, and exit code."""
    from skfairfr._core._parallel import show_progress
    from skfairfr.report import to_text
    from skfairfr.report._checks import exit_code
    from skfairfr.report._flags import with_flags
    from skfairfr.report._report import report_on

    source = getattr(arguments, "data", "synthetic embeddings")
    paths = []
    if folder is not None:
        from skfairfr.report._figures import figure_writer

        visit, paths = figure_writer(folder, options.get("points"))
        options = options | {"visit": visit}
    with show_progress(not arguments.quiet and sys.stderr.isatty()):
        found = report_on(data, attributes, **_with_run(arguments, options))
    found = with_flags(found)
    text = to_text(found, source)
    if folder is not None:
        path = folder / "audit.json"
        path.write_text(
            found.to_json(version=version("skfairfr"), source=source), encoding="utf-8"
        )
        folders = sorted({str(p.parent) for p in paths})
        text += f"\nWritten: {path}\n"
        text += "".join(f"Figures: {name}\n" for name in folders)
    return text, exit_code(found.checks)


def _writable_folder(folder):
    """The folder, made and tried before the long work; None of None."""
    if folder is None:
        return None
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


def _in_flags(error):
    from skfairfr.report._flags import in_flags

    return in_flags(str(error))


def _one_line(error):
    return " ".join(error.split())
