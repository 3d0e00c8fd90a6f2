"""The command ``skfairfr``: it parses, calls public functions and prints what they give."""

import argparse
import difflib
import os
import pkgutil
import re
import shlex
import sys
import tempfile
import traceback
import warnings
from dataclasses import replace
from fractions import Fraction
from functools import partial
from inspect import signature
from itertools import takewhile
from pathlib import Path

from skfairfr import __version__
from skfairfr.utils._folder import (
    REPORT,
    Contents,
    check_replaceable,
    replaced,
)

DEMO_IDENTITIES, DEMO_LIMITS = 500, {"max_fmr_ratio": 2.0}
DEMO_ENDING = """\
These were synthetic embeddings, whose groups differ on purpose. For your own, write arrays with
a row for each image, in Python, and run the audit, which exits with 1 if a limit is exceeded:

  numpy.savez("faces.npz", embedding=X, identity=people, gender=gender)
  skfairfr audit faces.npz --attribute gender --max-fmr-ratio 2 --out audit-out
"""
# Limits of an audit.
LIMITS = (
    *("max_fmr", "max_fnmr", "max_bfar", "max_bfrr", "max_fmr_ratio"),
    *("max_fnmr_ratio", "max_fmr_geomean_ratio", "max_fnmr_geomean_ratio"),
)
# Those of searches.
SEARCH_LIMITS = (
    *("max_fpir", "max_fnir", "max_fpir_ratio", "max_fnir_ratio"),
    *("max_fpir_geomean_ratio", "max_fnir_geomean_ratio"),
)
# Flags of compare for searches, and those for comparisons alone with what they usually are.
OF_SEARCHES = ("gallery", "gallery_labels", "template", "rank", "fpir")
OF_COMPARISONS = {
    **{"far": None, "average": "pair", "impostors": "all", "domain": None},
    **{"max_fmr": None, "max_fnmr": None},
}
# How flags repeat, in their help.
AGAIN = "may be repeated"
CROSSED = f"{AGAIN}, and combinations count too"
EACH = f"{AGAIN}, for each system in their order"
ABOUT = ("title", "system", "dataset", "organisation", "tested", "labels_source")
ABOUT += ("sampling",)
# Limits of ratios that plan_test takes.
RATIOS = ("max_fmr_ratio", "max_fnmr_ratio")
# What a bench leaves in its folder.
OF_BENCH = Contents(("bench.json",), ("bench.txt", "bench.svg", "bench.png"))
# Rates as the command and as Python call them.
PYTHON = {"fmr": "far", "fnmr": "frr"}
# What the command calls an argument of Python whose flag has another name, or that has none.
FLAGS = {
    **{"X": "embedding", "y": "identity", "path": "file", "random_state": "--seed"},
    **{"folder": "--out"},
    "log": "log",
    **dict.fromkeys(("attributes", "columns", "sensitive_features"), "--attribute"),
    **{"sensitive_features_1": "--attribute", "y_score": "--score"},
    **{"before": "BEFORE", "after": "AFTER", "others": "--other"},
    **dict.fromkeys(("galleries", "y_gallery"), "--gallery"),
    **{"far": "--fmr", "frr": "--fnmr", "far_max": "--fmr"},
    **{"n_splits": "--splits", "metrics": "--metric"},
    **{"names": "--search", "scores": "--candidates"},
}
STATUS = """\
Exit status: 0 done, 2 unusable input or too little memory or disk, 4 a fault of the program, 130
interrupted."""
WRITTEN = "report.html, audit.json, rates.csv, disparities.csv and the figures are"
AUDIT_DESCRIPTION = """\
Error rates by group and their disparities, with intervals, from embeddings or scored pairs; without
--attribute the rates of everyone. Exit status: 0 done and every check passed, 1 a check failed, 2 unusable input or too little memory or
disk, 3 the data do not show whether a check passes, 4 a fault of the program, 130 interrupted."""
IDENTIFY_DESCRIPTION = """\
Error rates of searches (1:N) by group: how often a search by somebody who is not enrolled alarms
(FPIR), and how often that of somebody who is misses the mate (FNIR), with intervals. The gallery is
taken as given. Exit status: 0 done and every check passed, 1 a check failed, 2 unusable input or too
little memory or disk, 3 undetermined, 4 a fault of the program, 130 interrupted."""
PLAN_DESCRIPTION = f"""\
How many people per group a test needs: to certify that every group's FMR or FNMR is within a
limit, to detect that two groups' rates differ by a factor, or to show that all ratios of rates
are within a limit. Each number is given as if pairs were independent, and with errors that
depend on each other as a pilot shows. {STATUS}"""
THRESHOLD_DESCRIPTION = """\
The loosest threshold that keeps a limit of the FMR for every group, or of the FPIR of searches, also
in other people, with a stated confidence; what it costs each group, or how many more people it
takes. Exit status: 0 there is
one, 1 none keeps both limits, 2 unusable input or too little memory or disk, 3 the data cannot
tell, 4 a fault of the program, 130 interrupted."""
MONITOR_DESCRIPTION = """\
Watch the false rejections of groups in a log of decisions, after all logs before it. Two audits are
made: of people's first attempts in all logs, and of each log by itself. With --state the chance that
any of them ever raises a false alarm is 5 % at most, or 1 - the confidence level of the policy. Exit
status: 0 no limit is known to be exceeded, 1 this or an earlier log exceeds one, 2 unusable input or too little memory or disk, 4 a fault of the program, 130 interrupted."""
COMPARE_DESCRIPTION = f"""\
For which groups the rates of another system are higher or lower than those of BEFORE, on the same people: rates and
disparities with paired intervals, and one family of tests. {STATUS} With --fail-on-harm also 1
harm was found, 3 undetermined: scores look like distances, are equal or no better than chance, a
threshold lies beyond all scores, every rate rests on too few errors, or a file lacks most pairs
of a group that another has. With --gallery, searches (1:N) are compared."""
BENCH_DESCRIPTION = f"""\
Which mitigation lowers a disparity on these embeddings, at which cost, or that none does: every
method is chosen and fitted on some people and judged on others, and compared with doing nothing
on the same people. {STATUS}"""


class _ListPolicies(argparse.Action):
    """Prints the policies that are shipped, and ends the process."""

    def __call__(self, parser, namespace, values, option_string=None):
        from skfairfr.report import Policy

        shipped = [Policy.read(name) for name in Policy.shipped()]
        _print("".join(f"{policy.name}  {policy.description}\n" for policy in shipped))
        parser.exit(0)


class _Parser(argparse.ArgumentParser):
    """A parser of whole options, whose errors are one line, as all of the command are."""

    def __init__(self, **options):
        # --max-frr 1.9 would be taken for a limit of a ratio.
        super().__init__(allow_abbrev=False, **options)

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
        0 done and every check passed, 1 a check failed, 2 unusable input, 3 a check is
        undetermined, 4 a fault of the program (with its traceback), 130 interrupted.
    """
    arguments = _parse(argv)
    name = f"skfairfr {arguments.command}"
    try:
        text, code = arguments.run(arguments)
        _print(text)
        if not getattr(arguments, "quiet", False):
            for path, layout in arguments.read_as.items():
                print(f"{path}: read as {layout}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130
    except MemoryError as error:
        print(f"{name}: error: out of memory: {_one_line(str(error))}", file=sys.stderr)
        return 2
    except (ValueError, OSError, ImportError) as error:
        # An import that Python itself could not do has a name; it is no unusable input.
        if isinstance(error, ImportError) and error.name is not None:
            return _fault(name, error)
        message = _in_flags(error)
        if arguments.command != "audit":  # which alone has --failures
            from skfairfr.utils._errors import EMPTY_CELLS, IN_AN_AUDIT

            message = re.sub(f"({EMPTY_CELLS})?{re.escape(IN_AN_AUDIT)}", "", message)
        print(f"{name}: error: {_one_line(message)}", file=sys.stderr)
        return 2
    except Exception as error:
        return _fault(name, error)
    return code


def _fault(name, error):
    """Print a traceback; the exit status, as Python's own, 1, means a failed check."""
    traceback.print_exception(error)
    print(f"{name}: this is a fault of the program, please report it", file=sys.stderr)
    return 4


def _parse(argv):
    """The arguments of a command; what is not known ends the process."""
    given = sys.argv[1:] if argv is None else argv
    parser, commands = _parser(full="--help-all" in given)
    name = next((text for text in given if text[:1] != "-"), None)
    if name is not None and name not in commands:
        from skfairfr.utils._errors import suggestion

        known = ", ".join(commands)
        parser.error(f"no command {name!r}. {suggestion(name, commands)}Known: {known}")
    if name is not None:
        _check_flags(commands[name], given)
    arguments, unknown = parser.parse_known_args(argv)
    arguments.typed = shlex.join(["skfairfr", *given])
    if unknown:
        message = f"unrecognized arguments: {' '.join(unknown)}"
        if arguments.command == "audit":
            message += (
                "; audit takes one DATA, and every attribute an --attribute of its own: "
                "--attribute A --attribute B"
            )
        parser.error(message)
    return arguments


def _check_flags(command, given):
    """End the process at a flag that the command does not have, or that is given again."""
    known, values = command._option_string_actions, {}
    before = given[: given.index("--")] if "--" in given else given
    for place, text in enumerate(before):
        flag, equals, value = text.partition("=")
        if flag[:2] != "--" or flag == "--version":
            continue
        if flag not in known:
            longer = [name for name in known if name.startswith(flag)]
            near = longer + difflib.get_close_matches(flag, known, 3, 0.7)
            asked = f" Did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
            command.error(f"unrecognized arguments: {flag}.{asked}")
        most = {None: 1, "+": None}.get(known[flag].nargs, known[flag].nargs)
        words = [*takewhile(lambda word: word[:2] != "--", before[place + 1 :])]
        own = values.setdefault(flag, [])
        own.append(value if equals else " ".join(words[:most]))
    for flag, own in values.items():
        if len(own) > 1 and not isinstance(known[flag], argparse._AppendAction):
            shown = f" ({', '.join(map(repr, own))})" if any(own) else ""
            once = "once, with all values" if known[flag].nargs == "+" else "once"
            command.error(f"{flag} was given {len(own)} times{shown}; give it {once}.")


def _number(kind, is_allowed, meaning):
    """The type of an option that is an int or a float in a range, which ``meaning`` says."""

    def convert(text):
        try:
            number = kind(text)
        except (ValueError, ZeroDivisionError):
            number = None
        if number is None or not is_allowed(number):
            raise argparse.ArgumentTypeError(f"must be {meaning}; got {text}")
        return number

    return convert


def _share(text):
    """A float from 0.01, 1% or 1/100."""
    if text.endswith("%"):
        return float(Fraction(text[:-1]) / 100)
    return float(Fraction(text))


LEVEL = _number(
    _share, lambda level: 0 < level < 1, "a number in (0, 1), as 0.01, 1% or 1/100"
)
RATE = _number(_share, lambda _: True, "a number, as 0.01, 1% or 1/100")
QUIET = "no progress shown"
COUNT = _number(int, lambda n: n >= 1, "an integer of at least 1")


def _parser(full=False):
    parser = _Parser(
        prog="skfairfr",
        description="Assess demographic disparities of face (or other) verification.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    first = (_add_audit, _add_identify, _add_compare, _add_plan)
    then = (_add_threshold_command, _add_monitor, _add_bench, _add_demo)
    for add in (*first, *then):
        add(commands, full)
    return parser, commands.choices


def _command(commands, name, help, description, run, full):
    """A command, whose ``--help`` leaves out rare options unless the help is full."""
    data = dict.fromkeys(("audit", "bench", "threshold"), " DATA")
    files = data | {"compare": " BEFORE AFTER [MORE ...]", "identify": " PROBES"}
    files["monitor"] = " LOG"
    usage = f"skfairfr {name} [options]{files.get(name, '')}"
    about = {"help": help, "description": description}
    command = commands.add_parser(name, usage=usage, **about)
    command.set_defaults(run=run, date=None, failures="error", read_as={})
    text = "show this help with the options that few need"
    command.add_argument("--help-all", action="help", help=text)
    command.rare = lambda text: text if full else argparse.SUPPRESS
    return command


def _add(group, *rows, repeats="", **common):
    """Options from rows of a flag, its metavar and its meaning; how they repeat, if they do."""
    if repeats:
        common["action"] = "append"
    for flag, metavar, meaning in rows:
        if repeats and meaning != argparse.SUPPRESS:
            meaning = f"{meaning}; {repeats}"
        group.add_argument(flag, metavar=metavar, help=meaning, **common)


def _add_audit(commands, full):
    about = (
        "for which groups a system errs more often, by how much, and how sure that is"
    )
    audit = _command(commands, "audit", about, AUDIT_DESCRIPTION, _audit, full)
    meaning = (
        "embeddings (.npz, .npy), scored pairs (.csv, .tsv, .parquet, those of bob), or a "
        "log of decisions"
    )
    _add(audit, ("data", "DATA", meaning))
    meaning = (
        "column of the groups; of pairs what two share (NAME_1 and NAME_2), or A,B; of "
        "numbers NAME:4 or NAME:18,30 (default: no groups, rates of everyone)"
    )
    _add(audit, ("--attribute", "NAME", meaning), repeats=CROSSED)
    meaning = "column that says which attempts were accepted: DATA is a log"
    _add(audit, ("--accepted", "COLUMN", meaning))
    _add_inputs(audit)
    embeddings = audit.add_argument_group("embeddings")
    _add_embeddings(embeddings)
    meaning = (
        "column that says which rows gave no template: fte (or 1) where enrolment failed, "
        "fta where acquisition failed, else 0 or empty; they are counted by group"
    )
    _add(embeddings, ("--fte", "COLUMN", audit.rare(meaning)))
    _add_pairs(
        audit.add_argument_group("scored pairs"), audit.rare, without_people=True
    )
    _add_log(audit.add_argument_group("logs of decisions"), audit.rare)
    meaning = (
        "covariate at equal values of which rates are shown too: COLUMN of categories, "
        "COLUMN:K for K quantiles of a number (of two images the lower), COLUMN:K:gap of its "
        "difference"
    )
    row = ("--control", "COLUMN[:K[:gap]]", audit.rare(meaning))
    _add(audit, row, repeats="may be repeated, for strata of several")
    _add_reference(audit)
    points = audit.add_argument_group("operating points")
    _add_levels(points)
    given = points.add_mutually_exclusive_group()
    _add_threshold(given)
    meaning = "file like DATA, on which the levels set thresholds"
    _add(given, ("--threshold-from", "OTHER", meaning))
    meaning = (
        "group whose FMR meets the levels, instead of that of all impostor pairs: a label "
        "of an attribute, or of several together as 'f & young'"
    )
    _add(points, ("--threshold-group", "LABEL", audit.rare(meaning)))
    meaning = "show detection costs (minDCF) at these shares of genuine pairs"
    _add(points, ("--p-target", "P", meaning), nargs="+", type=LEVEL)
    text = "scores are log-likelihood ratios: show Cllr and actual costs"
    points.add_argument("--llr", action="store_true", help=text)
    _add_checks(audit)
    # None, so that a policy may set it.
    _add_measurement(audit, confidence_level=None)
    meaning = "what becomes of missing scores, NaN or zero embeddings, attempts without capture"
    choices = {"choices": ("reject", "report", "error"), "default": None}
    audit.add_argument("--failures", help=meaning, **choices)
    _add_common(audit, formats=("text", "json", "html", "card", "junit"))
    _add_full(audit)
    _add_about(audit)


def _add_identify(commands, full):
    about = "for which groups searches of a gallery err more"
    text = IDENTIFY_DESCRIPTION
    command = _command(commands, "identify", about, text, _identify, full)
    meaning = (
        "embeddings (.npz, .npy), one row for each search, or with --candidates a table of "
        "the searches"
    )
    _add(command, ("data", "PROBES", meaning))
    meaning = "embeddings of those who are enrolled, with their identities, or a table of them"
    _add(command, ("--gallery", "GALLERY", meaning), required=True)
    meaning = (
        "column of the groups, in the gallery too if it is known there (default: no groups, "
        "rates of everyone)"
    )
    _add(command, ("--attribute", "NAME", meaning), repeats=CROSSED)
    _add_reference(command)
    embeddings = command.add_argument_group("embeddings")
    _add_embeddings(embeddings, domain=False)
    _add(embeddings, ("--gallery-labels", "FILE", "such a table for the gallery"))
    meaning = "no probe is meant to be of a person enrolled; the FPIR alone is measured"
    embeddings.add_argument(
        "--non-mated-only", action="store_true", help=command.rare(meaning)
    )
    _add_candidates(command.add_argument_group("candidates instead of embeddings"))
    group = _add_search(command.add_argument_group("the search"))
    _add_levels_of_searches(group)
    meaning = "score from which on a deployed system alarms, instead of levels"
    _add(group, ("--threshold", "T", meaning), type=float)
    _add_checks(
        command,
        ("--max-fpir", "RATE", "largest FPIR allowed of each group"),
        ("--max-fnir", "RATE", "largest FNIR allowed of each group"),
        ("--max-fpir-ratio", "X", "largest over smallest FPIR of the groups"),
        ("--max-fnir-ratio", "X", "largest over smallest FNIR of the groups"),
        ("--max-fpir-geomean-ratio", "X", "largest FPIR over the geometric mean"),
        ("--max-fnir-geomean-ratio", "X", "largest FNIR over the geometric mean"),
    )
    _add_confidence_level(command.add_argument_group("measurement"), None)
    _add_common(command, formats=("text", "json", "html", "card", "junit"))
    _add_full(command)
    _add_about(command)


def _add_candidates(group):
    """Lists of candidates, or a matrix of scores."""
    meaning = "lists (search, candidate, score), or a matrix (.npy, .npz) of scores"
    _add(
        group,
        ("--candidates", "LIST", meaning),
        (
            "--search",
            "COLUMN",
            "names of the searches, in LIST and PROBES (default: search, probe, query, …)",
        ),
        ("--candidate", "COLUMN", "who was returned (default: candidate)"),
        ("--score", "COLUMN", "column of the scores (default: score or distance)"),
    )
    meaning = "scores are distances, smaller meaning more alike"
    group.add_argument("--distance", action="store_true", help=meaning)
    meaning = "score from which on lists have all candidates, if that is known"
    _add(group, ("--listed-from", "S", meaning), type=float)


def _add_search(group):
    """What is enrolled, and when a mate counts; None where it is not given."""
    meaning = (
        "what is enrolled: the one image of each person, the mean of her images, or all of "
        "them, of which the best counts (default: image)"
    )
    group.add_argument("--template", choices=("image", "mean", "max"), help=meaning)
    meaning = "a mate counts whom fewer others reach (default: 1)"
    _add(group, ("--rank", "N", meaning), type=COUNT)
    return group


def _add_levels_of_searches(group):
    meaning = "FPIR levels to operate at (default: 1e-2 1e-3)"
    _add(group, ("--fpir", "LEVEL", meaning), nargs="+", type=LEVEL)


def _add_threshold_command(commands, full):
    about = "a threshold at which every group keeps a limit, also in other people"
    command = _command(
        commands, "threshold", about, THRESHOLD_DESCRIPTION, _threshold, full
    )
    _add(command, ("data", "DATA", "embeddings or scored pairs, as audit reads them"))
    meaning = (
        "column of the groups; of several, their combinations are the groups (default: no "
        "groups, a threshold for everyone)"
    )
    _add(command, ("--attribute", "NAME", meaning), repeats=AGAIN)
    group = command.add_argument_group("limits")
    meaning = (
        "file (.toml) of limits and confidence, or the name of one that is shipped"
    )
    _add(group, ("--policy", "FILE_OR_NAME", meaning))
    needed = "required unless the policy, or --max-fpir of searches, has the limit"
    _add(
        group,
        ("--max-fmr", "RATE", f"largest FMR allowed of each group; {needed}"),
        (
            "--max-fnmr",
            "RATE",
            "largest FNMR allowed of each group; requires --max-fmr",
        ),
        type=RATE,
    )
    meaning = (
        "a threshold for each group instead, which share the chance of a wrong one"
    )
    group.add_argument("--own", action="store_true", help=meaning)
    meaning = (
        "one minus the share of wrong certificates (default: the policy's, or 0.95)"
    )
    _add(group, ("--confidence-level", "P", meaning), type=LEVEL)
    _add_embeddings(command.add_argument_group("embeddings"))
    _add_pairs(
        command.add_argument_group("scored pairs"), command.rare, without_people=True
    )
    group = command.add_argument_group("searches (1:N)")
    meaning = "embeddings of those who are enrolled, whom DATA are to search"
    _add(group, ("--gallery", "GALLERY", meaning))
    _add(group, ("--gallery-labels", "FILE", "such a table for the gallery"))
    _add_search(group)
    _add(
        group,
        ("--max-fpir", "RATE", "largest FPIR allowed of each group"),
        (
            "--max-fnir",
            "RATE",
            "largest FNIR allowed of each group; requires --max-fpir",
        ),
        type=RATE,
    )
    _add_common(
        command,
        "report.html, threshold.json and threshold.txt are",
        formats=("text", "json", "html"),
    )
    _add_about(command)


def _add_monitor(commands, full):
    about = "whether limits are still kept in operation"
    monitor = _command(commands, "monitor", about, MONITOR_DESCRIPTION, _monitor, full)
    meaning = "table of decisions (.csv, .tsv, .csv.gz, .tsv.gz, .parquet), one row an attempt"
    _add(monitor, ("log", "LOG", meaning))
    meaning = "column of the groups; required unless the policy names one"
    _add(monitor, ("--attribute", "NAME", meaning), nargs=1)
    meaning = "file that keeps what is known for the next log; made if there is none"
    _add(monitor, ("--state", "FILE", meaning))
    columns = monitor.add_argument_group("columns of the log")
    _add(
        columns,
        ("--accepted", "NAME", "whether the attempt was accepted (default: accepted)"),
        ("--identity", "NAME", "who attempts (default: identity or person)"),
        ("--attempt", "NAME", "genuine, impostor or attack (default: all are genuine)"),
    )
    _add_time(columns)
    group = monitor.add_argument_group("limits")
    meaning = (
        "file (.toml) of limits and confidence, or the name of one that is shipped"
    )
    _add(group, ("--policy", "FILE_OR_NAME", meaning))
    _add(
        group,
        (
            "--max-fnmr",
            "RATE",
            "largest false rejection rate (FRR) allowed of each group",
        ),
        ("--max-fnmr-ratio", "X", "largest ratio allowed of the FRR of two groups"),
        type=RATE,
    )
    meaning = "one minus the chance of any false alarm (default: the policy's, or 0.95)"
    _add(group, ("--confidence-level", "P", meaning), type=LEVEL)
    meaning = (
        "first attempts of a person that make one value (default: %(default)s); more only if "
        "nobody tries again because of a rejection"
    )
    _add(group, ("--attempts", "K", meaning), type=COUNT, default=1)
    _add_written(
        monitor,
        "report.html, monitor.json and monitor.txt are",
        formats=("text", "json", "html"),
    )
    monitor.add_argument("--quiet", action="store_true", help=QUIET)
    _add_about(monitor)


def _add_compare(commands, full):
    about = "which groups another system harms or helps, on the same people"
    compare = _command(commands, "compare", about, COMPARE_DESCRIPTION, _compare, full)
    for name, options, meaning in (
        ("before", {}, "embeddings or scored pairs of the first system, as of audit"),
        ("after", {}, "those of another system, of the same images"),
        # With a default it is not called required.
        ("more", {"nargs": "*", "default": []}, "those of further systems"),
    ):
        compare.add_argument(name, metavar=name.upper(), help=meaning, **options)
    meaning = "column of the groups, of pairs the columns NAME_1 and NAME_2"
    _add(compare, ("--attribute", "NAME", meaning), required=True, repeats=CROSSED)
    _add_inputs(compare, EACH)
    _add_embeddings(compare.add_argument_group("embeddings"), repeats=EACH)
    _add_pairs(compare.add_argument_group("scored pairs"), compare.rare, repeats=EACH)
    searches = compare.add_argument_group("searches (1:N)")
    _add(
        searches,
        ("--gallery", "GALLERY", "who is enrolled: BEFORE and AFTER are then probes"),
        ("--gallery-labels", "FILE", "as --labels, of the gallery"),
        repeats=EACH,
    )
    _add_levels_of_searches(_add_search(searches))
    points = compare.add_argument_group("operating points")
    _add_levels(points)
    _add_threshold(points, repeats=EACH)
    checks = compare.add_argument_group("checks")
    checks.add_argument(
        "--baseline",
        action="store_true",
        help="BEFORE is in use, and the others are to replace it: higher rates are harm",
    )
    checks.add_argument(
        "--fail-on-harm",
        action="store_true",
        help="the same, and exit with status 1 if a rate of a group is higher, and 3 if "
        "that is undetermined",
    )
    _add_measurement(compare)
    _add_common(
        compare, "report.html, comparison.json, comparison.txt and changes.csv are"
    )
    _add_full(compare)
    _add_about(compare)


def _add_bench(commands, full):
    about = "which mitigation lowers a disparity, at which cost"
    bench = _command(commands, "bench", about, BENCH_DESCRIPTION, _bench, full)
    _add(bench, ("data", "DATA", "embeddings (.npz, .npy), one row for each image"))
    meaning = "column of the groups whose disparity is to fall"
    _add(bench, ("--attribute", "NAME", meaning), required=True)
    meaning = "column of another attribute, whose disparities must not grow"
    _add(bench, ("--other", "NAME", meaning), repeats=AGAIN, default=[])
    meaning = (
        "methods to try (default: all whose libraries are installed); one that is unknown "
        "lists those that are known"
    )
    _add(bench, ("--methods", "NAME", meaning), nargs="+")
    meaning = (
        "a method of your own, alone or beside --methods, by a class or function that gives "
        "a transformer or comparator when called without arguments, as "
        "--method mine=package.module:MyTransformer; with it no fit is kept in --out"
    )
    row = ("--method", "NAME=MODULE:FACTORY", meaning)
    _add(bench, row, repeats=AGAIN, default=[])
    _add_embeddings(bench.add_argument_group("embeddings"), domain=False)
    _add_metadata(bench)
    group = bench.add_argument_group("measurement")
    meaning = "FMR level to operate at (default: %(default)s)"
    _add(group, ("--fmr", "LEVEL", meaning), dest="far", type=LEVEL, default=1e-3)
    meaning = (
        "what is to fall, and what parameters are chosen by along with it: bfar, bfrr, "
        "fnmr_at_fmr, fmr_max_geomean, fnmr_max_geomean (default: bfar fnmr_at_fmr)"
    )
    row = ("--metric", "NAME", meaning)
    _add(group, row, nargs="+", dest="metrics", default=("bfar", "fnmr_at_fmr"))
    meaning = (
        "a method wins only if its FNMR is at most this times that of doing nothing, and "
        "its parameters are chosen within it; inf allows any (default: %(default)s)"
    )
    cost = _number(float, lambda cost: cost >= 1, "a number of at least 1")
    _add(group, ("--max-cost", "FACTOR", meaning), type=cost, default=1.25)
    for flag, name, default, meaning in (
        ("splits", "n_splits", 5, "splits of the people; everybody is judged in one"),
        ("inner-splits", "inner_splits", 3, "splits that parameters are chosen by"),
    ):
        row = (f"--{flag}", "N", f"{meaning} (default: %(default)s)")
        two = _number(int, lambda n: n >= 2, "an integer of at least 2")
        _add(group, row, dest=name, type=two, default=default)
    _add_confidence_level(group)
    _add_common(
        bench,
        "bench.json, bench.txt, the figure (SVG, PNG), finished fits, from which the same "
        "command goes on, and the fitted winner are",
        formats=("text", "json"),
        how="",
    )


def _add_demo(commands, full):
    description = (
        "Audit synthetic embeddings of two groups that differ on purpose, with a limit."
    )
    about = "an audit of synthetic embeddings"
    demo = _command(commands, "demo", about, description, _demo, full)
    _add_common(demo, formats=("text", "json", "html", "card", "junit"))
    _add_full(demo)


def _add_plan(commands, full):
    about = "how many people a test needs to get an answer"
    plan = _command(commands, "plan", about, PLAN_DESCRIPTION, _plan, full)
    group = plan.add_argument_group("questions")
    meaning = (
        "show that every limit of a policy is kept, or with --assumed above 1 that one is "
        "not; a file, or a name that skfairfr audit --list-policies prints"
    )
    _add(group, ("--policy", "FILE_OR_NAME", meaning))
    _add(
        group,
        ("--certify-fmr", "X", "certify that every group's FMR is at most X"),
        ("--certify-fnmr", "X", "certify that every group's FNMR is at most X"),
        ("--certify-fpir", "X", "certify that every group's FPIR (1:N) is at most X"),
        ("--detect-factor", "X", "detect that one group's rate is X times another's"),
        ("--max-fmr-ratio", "X", "show that all ratios of groups' FMR are at most X"),
        ("--max-fnmr-ratio", "X", "show that all ratios of groups' FNMR are at most X"),
        type=float,
    )
    meaning = "what --detect-factor is about (default: %(default)s)"
    group.add_argument("--rate", choices=("fmr", "fnmr"), default="fmr", help=meaning)
    group = plan.add_argument_group("what is assumed to be true")
    meaning = (
        "of the way from no error, or from equal groups, to the limit; above 1 a limit of a "
        "policy or of ratios is to be shown to be exceeded (default: %(default)g)"
    )
    _add(group, ("--assumed", "SHARE", meaning), type=float, default=0.5)
    meaning = "the smaller FMR, of ratios and of --detect-factor (default: 0.001)"
    _add(group, ("--fmr", "LEVEL", meaning), dest="far", nargs="+", type=LEVEL)
    meaning = "the smaller FNMR, of the same (default: the pilot's, or 0.01)"
    _add(group, ("--fnmr", "RATE", meaning), dest="frr", type=RATE)
    group = plan.add_argument_group("the test")
    meaning = "number of groups (default: the pilot's, or 2)"
    _add(group, ("--groups", "N", meaning), type=COUNT)
    meaning = "images of everybody (default: %(default)s)"
    _add(group, ("--images-per-person", "N", meaning), type=COUNT, default=2)
    meaning = (
        "tests of groups that share the error rate (default: those of an audit of both "
        "rates at its levels)"
    )
    _add(group, ("--comparisons", "N", meaning), type=COUNT)
    meaning = "probability with which the answer is to be got (default: %(default)s)"
    _add(group, ("--power", "P", meaning), type=float, default=0.8)
    meaning = "of bounds and tests (default: that of the policy, or 0.95)"
    _add(group, ("--confidence-level", "P", meaning), type=float)
    pilot = plan.add_argument_group(
        "pilot", "Data whose errors show how they depend on each other."
    )
    meaning = "embeddings or scored pairs, as audit reads them"
    _add(pilot, ("--pilot", "FILE", meaning))
    meaning = (
        "column of the pilot's groups; of several, their combinations are the groups"
    )
    _add(pilot, ("--attribute", "NAME", meaning), repeats=AGAIN)
    meaning = (
        "score from which on the pilot's system accepts, instead of the level of --fmr"
    )
    _add(pilot, ("--threshold", "T", meaning), type=float)
    _add_inputs(plan)
    _add_embeddings(plan.add_argument_group("a pilot of embeddings"))
    _add_pairs(plan.add_argument_group("a pilot of scored pairs"), plan.rare)


def _add_inputs(command, repeats=""):
    """Files beside the data."""
    group = _add_metadata(command, repeats)
    meaning = (
        "column that names the images, as trials do (default: image); compare pairs rows by "
        "it (default: in their order) and leaves out images that a system lacks"
    )
    rows = "labels of the rows of a matrix of scores (.npy, .npz), a table"
    columns = "those of its columns (default: the same images, each two one pair)"
    _add(
        group,
        ("--trials", "FILE", "list of the pairs to compare, or of their scores"),
        ("--image", "COLUMN", command.rare(meaning)),
        ("--probes", "FILE", command.rare(rows)),
        ("--references", "FILE", command.rare(columns)),
        repeats=repeats,
    )


def _add_metadata(command, repeats=""):
    group = command.add_argument_group("files beside the data")
    _add(
        group,
        ("--metadata", "FILE", "table of attributes of the people, or of the images"),
        ("--on", "COLUMN", "its column that names them"),
        repeats=repeats,
    )
    return group


def _add_embeddings(group, domain=True, repeats=""):
    _add(
        group,
        ("--embedding", "NAME", "array of the embeddings (default: embedding or X)"),
        ("--identity", "NAME", "column of the people (default: identity or y)"),
        (
            "--labels",
            "FILE",
            "table of the labels, one row for each image (default: those in the .npz file, "
            "or beside the .npy file)",
        ),
        repeats=repeats,
    )
    if domain:
        meaning = (
            "column with two values, such as selfie and document: only pairs across them "
            "are compared"
        )
        _add(group, ("--domain", "COLUMN", meaning), repeats=repeats)


def _add_pairs(group, rare, without_people=False, repeats=""):
    _add(
        group,
        ("--score", "NAME", "column of the scores (default: score or distance)"),
        ("--identity-1", "NAME", "column of the first image's person"),
        ("--identity-2", "NAME", "column of the second image's person"),
        ("--image-1", "NAME", "column that names the first image"),
        ("--image-2", "NAME", "column that names the second image"),
        (
            "--layout",
            "NAME",
            rare(
                "layout of a list without names of columns, if its content leaves it open"
            ),
        ),
        repeats=repeats,
    )
    if without_people:
        meaning = (
            "which pairs are genuine, instead of people: pairs are then independent "
            "(default: y_true, label, same, …)"
        )
        _add(group, ("--y-true", "NAME", meaning))
    meaning = "scores are distances, smaller meaning more alike"
    group.add_argument("--distance", action="store_true", help=meaning)
    for flag, meaning in (
        ("--mated-only", "all pairs are meant to be genuine: FNMR alone is measured"),
        ("--non-mated-only", "none is meant to be: FMR alone is measured"),
    ):
        group.add_argument(flag, action="store_true", help=rare(meaning))


def _add_log(group, rare):
    for name, meaning in (
        ("attempt", "genuine, impostor or attack (default: all are genuine)"),
        ("species", "instrument of an attack: APCER is by species"),
        ("session", "session of an attempt, with --best-of"),
    ):
        _add(group, (f"--{name}", "COLUMN", rare(meaning)))
    meaning = rare(
        "rates of transactions: the first K attempts of a person in a session"
    )
    _add(group, ("--best-of", "K", meaning), type=COUNT)
    _add_time(group, rare)


def _add_time(group, rare=str):
    meaning = "when, as 2026-01-31T10:00 or a number (default: rows in their order)"
    _add(group, ("--time", "COLUMN", rare(meaning)))
    meaning = "how --time has 31.01.2026 or 01/31/2026 (default: as 2026-01-31)"
    choices = ("day-first", "month-first")
    group.add_argument("--dates", choices=choices, help=rare(meaning))


def _add_levels(group):
    meaning = (
        "FMR levels to operate at (default: 1e-2 1e-3, and 1e-4 where two groups of every "
        "attribute have 300,000 impostor pairs)"
    )
    _add(group, ("--fmr", "LEVEL", meaning), dest="far", nargs="+", type=LEVEL)


def _add_threshold(group, repeats=""):
    meaning = (
        "score from which on a deployed system accepts (of distances, up to which), "
        "instead of levels"
    )
    _add(group, ("--threshold", "T", meaning), repeats=repeats, type=float)


def _add_checks(audit, *limits):
    group = audit.add_argument_group(
        "checks",
        "At every level and by every attribute. Failed and passed are wrong in at most the "
        "share 1 - P of audits; undetermined is neither.",
    )
    meaning = (
        "file (.toml) of levels, limits, confidence and attributes, which must not be given "
        "too; or the name of one that is shipped"
    )
    _add(group, ("--policy", "FILE_OR_NAME", meaning))
    meaning = "print the names of the shipped policies, and exit"
    group.add_argument("--list-policies", action=_ListPolicies, nargs=0, help=meaning)
    at_worst = "with the threshold set where no group's FMR exceeds the level"
    geomean = "the groups' geometric mean, at most"
    of_comparisons = (
        ("--max-fmr", "RATE", "largest FMR allowed of each group"),
        ("--max-fnmr", "RATE", "largest FNMR allowed of each group"),
        ("--max-fmr-ratio", "X", "largest over smallest FMR of the groups"),
        ("--max-fnmr-ratio", "X", "largest over smallest FNMR of the groups"),
        ("--max-fmr-geomean-ratio", "X", audit.rare(f"FMR over {geomean}")),
        ("--max-fnmr-geomean-ratio", "X", audit.rare(f"FNMR over {geomean}")),
        ("--max-bfar", "X", f"largest over smallest FMR (BFAR), {at_worst}"),
        ("--max-bfrr", "X", "largest over smallest FNMR (BFRR), there"),
    )
    _add(group, *(limits or of_comparisons), type=RATE)


def _add_reference(command):
    meaning = "group to compare with (default: that with the most people)"
    repeats = f"{AGAIN}, one of each attribute"
    _add(command, ("--reference", "GROUP", meaning), repeats=repeats)


def _add_measurement(command, confidence_level=0.95):
    group = command.add_argument_group("measurement")
    for flag, choices, meaning in (
        ("--average", ("pair", "identity"), "what weighs the same"),
        ("--impostors", ("all", "same_group"), "pairs whose FMR sets the threshold"),
    ):
        usual, meaning = choices[0], f"{meaning} (default: %(default)s)"
        rare = command.rare(meaning)
        group.add_argument(flag, choices=choices, default=usual, help=rare)
    _add_confidence_level(group, confidence_level)


def _add_confidence_level(group, confidence_level=0.95):
    meaning = "of the intervals and the verdicts (default: 0.95)"
    row = ("--confidence-level", "P", meaning)
    _add(group, row, type=LEVEL, default=confidence_level)


def _add_written(command, written, formats, how=", all at once"):
    _add(command, ("--out", "DIR", f"folder that {written} written to{how}"))
    meaning = "replace an older report in the folder of --out"
    command.add_argument("--replace", action="store_true", help=meaning)
    meaning = "what is printed (default: %(default)s)"
    command.add_argument("--format", choices=formats, default="text", help=meaning)


def _add_common(
    command,
    written=WRITTEN,
    formats=("text", "json", "html", "junit"),
    how=", all at once",
):
    _add_written(command, written, formats, how)
    meaning = command.rare("of all that is random (default: %(default)s)")
    seed = _number(int, lambda n: 0 <= n < 2**32, "an integer in [0, 2**32)")
    command.add_argument("--seed", type=seed, default=0, help=meaning)
    meaning = "workers of joblib (default: one process, which uses all cores)"
    jobs = _number(int, lambda n: n != 0, "an integer other than 0")
    _add(command, ("--n-jobs", "N", command.rare(meaning)), type=jobs)
    command.add_argument("--quiet", action="store_true", help=QUIET)


def _add_full(command):
    meaning = "print all sections, and not a summary alone"
    command.add_argument("--full", action="store_true", help=meaning)


def _add_about(command):
    _add(
        command.add_argument_group("printed on the report and kept in its JSON"),
        ("--title", "TEXT", "title of the report"),
        ("--system", "TEXT", "what was tested, with its version"),
        ("--dataset", "TEXT", "what it was tested on"),
        ("--organisation", "TEXT", "who tested"),
        ("--tested", "DAY", "when it was tested"),
        ("--labels-source", "TEXT", command.rare("where the groups come from")),
        ("--sampling", "TEXT", command.rare("how people were chosen")),
        ("--date", "DAY", "when the report was written (default: today)"),
    )


# ---- commands ------------------------------------------------------------------------


def _audit(arguments):
    given = vars(arguments)
    attributes = _attributes(arguments, needed=False)
    try:
        data = _read(arguments.data, attributes, given)
    except ValueError as error:
        if arguments.attribute or not attributes:
            raise
        place = f"attributes of the policy {arguments.policy.name}"
        raise ValueError(_in_flags(error, attributes=place)) from None
    options = {"limits": _some(given, LIMITS)}
    return _report(arguments, data, arguments.data, **options)


def _identify(arguments):
    from skfairfr.report import identify_data, read_candidates

    given = vars(arguments)
    attributes = _attributes(arguments, needed=False)
    if arguments.candidates is None:
        for name in ("search", "candidate", "score", "distance", "listed_from"):
            if given[name] not in (None, False):
                raise ValueError(f"{_flag(name)} is about --candidates; give it too.")
        data = _probes(arguments.data, attributes, given)
        gallery = _gallery(arguments.gallery, data.reading.bands, given)
    else:
        for name in ("embedding", "labels", "gallery_labels"):
            if given[name] is not None:
                raise ValueError(f"{_flag(name)} is about embeddings; leave it out.")
        own = _taken_by(read_candidates, given)
        data, gallery = read_candidates(arguments.data, attributes, **own)
        given["read_as"].update(data.reading.read_as)
        given["rank"], given["template"] = (
            given["rank"] or 1,
            given["template"] or "image",
        )
    options = {"limits": _some(given, SEARCH_LIMITS)}
    source = f"{arguments.data}, gallery {arguments.gallery}"
    return _report(arguments, data, source, identify_data, gallery=gallery, **options)


def _probes(path, attributes, given):
    """Embeddings of those who search; an error about a table names what reads lists."""
    from skfairfr.utils._errors import LackingError

    try:
        return _read(path, attributes, given)
    except LackingError as error:
        if path.endswith((".npz", ".npy")):
            raise
        told = "Candidate lists go to --candidates; PROBES is then a table of the searches."
        raise ValueError(f"{error} {told}") from None


def _gallery(path, attributes, given):
    """Embeddings of who is enrolled, whose groups may not be known; and what is usual."""
    from skfairfr.utils._errors import LackingError

    for name, usual in (("rank", 1), ("template", "image")):
        given[name] = given[name] or usual
    own = given | {"labels": given["gallery_labels"]}
    for wanted in (attributes, ()):
        try:
            return _read(path, wanted, own)
        except ValueError as error:
            lacking = isinstance(error, LackingError) and error.argument == "attributes"
            if not (wanted and lacking):
                flags = {"path": "--gallery", "labels": "--gallery-labels"}
                raise ValueError(_in_flags(error, **flags)) from None


def _read(path, attributes, given):
    """Data from files; the layouts of lists without names are kept to be printed."""
    from skfairfr.report import read_data

    data = read_data(path, attributes, **_taken_by(read_data, given))
    given.setdefault("read_as", {}).update(data.reading.read_as)
    return data


def _taken_by(function, given):
    """What was given of the options that a function takes by keyword, by their names."""
    taken = signature(function).parameters.values()
    names = [option.name for option in taken if option.kind is option.KEYWORD_ONLY]
    return {name: given[name] for name in names if name in given}


def _some(given, names):
    """What was given by some names; None without any."""
    return {name: given[name] for name in names if given[name] is not None} or None


def _about(arguments):
    """What is said of a test, and the command that was typed."""
    given = vars(arguments)
    said = _some(given, [name for name in ABOUT if name in given]) or {}
    return said | {"command": arguments.typed}


def _attributes(arguments, needed=True):
    """Names of the columns to audit by, from the flags or from the policy, which is read."""
    if arguments.policy is not None:
        from skfairfr.report import Policy

        arguments.policy = Policy.read(arguments.policy)
    flags, policy = arguments.attribute, arguments.policy
    of_policy = () if policy is None else policy.attributes
    if flags and of_policy:
        raise ValueError(
            f"--attribute was given, and the policy {policy.name!r} sets attributes "
            f"({', '.join(of_policy)}); leave one out."
        )
    if needed and not flags and not of_policy:
        raise ValueError(
            "the following arguments are required: --attribute; name a column of the groups."
        )
    return flags or list(of_policy)


def _plan(arguments):
    from skfairfr.metrics import plan_test
    from skfairfr.report import Policy

    given = vars(arguments)
    policy = limits = _some(given, RATIOS)
    if arguments.policy is not None:
        policy = Policy.read(arguments.policy)
        of_policy = ("far", *RATIOS) if policy.fmr else RATIOS
        for name in (*of_policy, "confidence_level"):
            if given[name] is not None:
                raise ValueError(
                    f"{_flag(name)} was given, and the policy {policy.name!r} sets it or "
                    "its limits; leave one out."
                )
    asked = ("certify_fmr", "certify_fnmr", "certify_fpir", "detect_factor")
    if policy is None and all(given[name] is None for name in asked):
        flags = ", ".join(map(_flag, (*asked, *RATIOS)))
        raise ValueError(f"Nothing was asked. Give {flags} or --policy.")
    _check_rates_are_asked(
        given, limits or {} if arguments.policy is None else policy.limits
    )
    pilot, notes = _pilot(given)
    options = _taken_by(plan_test, given) | {"policy": policy, "pilot": pilot}
    text = plan_test(**options | {"rate": PYTHON[given["rate"]]}).to_text()
    return text + "".join(f"Note on the pilot: {note}\n" for note in notes), 0


def _check_rates_are_asked(given, limits):
    """Raise where --fmr or --fnmr is given and no question is about it."""
    detected = given["detect_factor"] is not None
    # A pilot is asked at the threshold of the level, unless only an FMR is to be certified.
    of_pilot = given["pilot"] is not None and (
        detected or given["certify_fnmr"] is not None or set(limits) - {"max_fmr"}
    )
    for rate, name in PYTHON.items():
        asked = f"max_{rate}_ratio" in limits or (detected and given["rate"] == rate)
        if given[name] is not None and not asked and not (rate == "fmr" and of_pilot):
            raise ValueError(
                f"--{rate} is about ratios of rates, and none is asked for; leave it out, or "
                f"give --max-{rate}-ratio, or --detect-factor with --rate {rate}."
            )


def _pilot(given):
    """A fitted SimilarityROC of the pilot's data, None without one, and notes on them."""
    from skfairfr.metrics import SimilarityROC
    from skfairfr.report import read_data

    attributes = given["attribute"] or []
    reading = _taken_by(read_data, given)
    if given["pilot"] is None:
        options = reading | {"attribute": attributes, "threshold": given["threshold"]}
        given_ones = (
            n for n, v in options.items() if v not in (None, False, [], "error")
        )
        lone = next(given_ones, None)
        if lone is not None:
            raise ValueError(f"{_flag(lone)} is about a pilot; give one with --pilot.")
        return None, ()
    data = _read(given["pilot"], attributes, given)
    # Errors are counted, and nothing is resampled.
    roc = SimilarityROC(n_resamples=1, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data.fit(roc, tuple(data.columns))
    return roc, [*data.reading.notes, *(str(w.message) for w in caught)]


def _threshold(arguments):
    from skfairfr.report import certify_data

    given = vars(arguments)
    attributes = _attributes(arguments, needed=False)
    searched = {n: given[n] for n in OF_SEARCHES if given.get(n) is not None}
    _check_one_kind(given, searched)
    _report_folder(arguments)
    data = _read(arguments.data, attributes, given)
    names, source = ("max_fmr", "max_fnmr", "max_fpir", "max_fnir"), arguments.data
    limits = _some(given, names)
    if arguments.gallery is not None:
        source = f"{arguments.data}, gallery {arguments.gallery}"
        bands = data.reading.bands
        given["gallery"] = _gallery(arguments.gallery, bands, given)
    elif {"max_fpir", "max_fnir"} & {*(limits or ())}:
        raise ValueError(
            "--gallery is not given, and a limit of searches is; name the file of those "
            "enrolled."
        )
    found = certify_data(
        data,
        limits=limits,
        progress=not arguments.quiet,
        about=_about(arguments),
        **_taken_by(certify_data, given),
    )
    return _written(arguments, found, source)


def _monitor(arguments):
    from skfairfr.report import monitor_log

    given = vars(arguments)
    (attribute, *more) = _attributes(arguments)
    if more:
        raise ValueError("--attribute: a log is watched by one; name it once.")
    _report_folder(arguments)
    found = monitor_log(
        arguments.log,
        attribute,
        limits=_some(given, ("max_fnmr", "max_fnmr_ratio")),
        about=_about(arguments),
        **_taken_by(monitor_log, given),
    )
    text, code = _written(arguments, found, arguments.log)
    if arguments.state is None and arguments.format == "text":
        text += "\nNothing is kept for the next log; pass --state FILE.\n"
    return text, code


def _written(arguments, found, *source):
    """Text of a report, which goes to --out as well, and exit code."""
    asked = {"full": arguments.full} if "full" in arguments else {}
    text = _formatted(found, arguments.format, arguments.date, *source, **asked)
    if (
        arguments.out is None
        and arguments.format == "text"
        and not asked.get("full", True)
    ):
        text += "\nAll sections: --full; with page, tables and figures: --out DIR\n"
    if arguments.out is not None:
        about = {"version": __version__, "date": arguments.date}
        written = found.save(arguments.out, *source, replace=True, **about)
        if arguments.format == "text":
            page, *others = written
            beside = [path.name for path in others]
            beside += ["figures"] * Path(arguments.out, "figures").is_dir()
            text += f"\nPage: {page}\nBeside it: {', '.join(beside)}\n"
    return text, found.exit_code


def _compare(arguments):
    from skfairfr.report import compare_searches, compare_systems

    given, attributes = vars(arguments), arguments.attribute
    compare, options = compare_systems, _taken_by(compare_systems, given)
    paths = [arguments.before, arguments.after, *arguments.more]
    systems = _of_systems(given, len(paths))
    if len(arguments.threshold or ()) > 1:
        options["threshold"] = [[own["threshold"]] for own in systems]
    searched = {n: given[n] for n in OF_SEARCHES if given[n] is not None}
    _check_one_kind(given, searched)
    _report_folder(arguments)
    data = []
    for path, own in zip(paths, systems, strict=True):
        # All are put into the ranges of the first.
        data.append(_read(path, attributes, own))
        attributes = data[0].reading.bands
    if searched:
        compare = compare_searches
        galleries = [_gallery(own["gallery"], attributes, own) for own in systems]
        options = {n: v for n, v in options.items() if n not in OF_COMPARISONS}
        options |= {"galleries": galleries} | _taken_by(compare_searches, searched)
    found = compare(
        *data,
        progress=not arguments.quiet,
        random_state=arguments.seed,
        about=_about(arguments),
        **options,
    )
    return _written(arguments, found)


def _of_systems(given, n_systems):
    """What was given for each system: flags that describe one, once for all or for each."""
    from skfairfr.report import read_data

    names = (*_taken_by(read_data, given), "gallery", "gallery_labels", "threshold")
    each = {name: given[name] for name in names if isinstance(given[name], list)}
    for name, values in each.items():
        if len(values) not in (1, n_systems):
            shown = ", ".join(repr(str(value)) for value in values)
            raise ValueError(
                f"{_flag(name)} was given {len(values)} times ({shown}), and there are "
                f"{n_systems} systems; give it once for all, or once for each in their order."
            )
    return [
        given | {name: (n_systems * values)[place] for name, values in each.items()}
        for place in range(n_systems)
    ]


def _check_one_kind(given, searched):
    """Raise where flags of comparisons and of searches meet."""
    if searched and "gallery" not in searched:
        lone = _flag(next(iter(searched)))
        raise ValueError(f"{lone} is about searches; give --gallery too.")
    for name, usual in OF_COMPARISONS.items():
        if searched and given.get(name, usual) != usual:
            raise ValueError(
                f"{_flag(name)} is about comparisons, and --gallery asks for searches; "
                f"{'give --fpir' if name == 'far' else 'leave it out'}."
            )


def _bench(arguments):
    from skfairfr._core._kinds import renamed
    from skfairfr.model_selection import compare_mitigations
    from skfairfr.report import EmbeddingData

    given = vars(arguments)
    attributes = [arguments.attribute, *arguments.other]
    if len({*attributes}) < len(attributes):
        raise ValueError("--other: a column was named twice; name it once.")
    methods = _methods(arguments)
    data = _read(arguments.data, attributes, given)
    if not isinstance(data, EmbeddingData):
        raise ValueError(
            f"DATA {arguments.data!r} holds scored pairs; give embeddings."
        )
    folder = _report_folder(arguments, OF_BENCH)
    first, *others = data.columns
    options = _taken_by(compare_mitigations, given)
    options["metrics"] = [renamed(name, PYTHON) for name in arguments.metrics]
    found = compare_mitigations(
        data.X,
        data.y,
        {first: data.columns[first]},
        methods,
        others={name: data.columns[name] for name in others} or None,
        # No class of a caller's is written or read.
        folder=None if folder is None or arguments.method else folder / "fits",
        progress=not arguments.quiet,
        random_state=arguments.seed,
        **options,
    )
    found = replace(found, notes=(*data.notes, *found.notes))
    about = {"version": __version__, "source": arguments.data}
    written = {"bench.json": found.to_json(**about), "bench.txt": found.to_text()}
    text = written["bench.json" if arguments.format == "json" else "bench.txt"]
    if folder is not None:
        places = _write_bench(found, written, folder)
        text += places if arguments.format == "text" else ""
    return text, 0


def _methods(arguments):
    """Methods by name, those of the caller's made; None for all that are known."""
    methods = {name: name for name in arguments.methods or ()}
    sys.path.insert(0, os.getcwd())  # as Python itself does for -m
    for text in arguments.method:
        name, _, place = text.partition("=")
        if name in methods:
            raise ValueError(f"--method {text}: {name} was named twice; name it once.")
        try:
            methods[name] = pkgutil.resolve_name(place)()
        except Exception as error:  # whatever a module does as it is imported or called
            raise ValueError(
                f"--method {text}: {place!r} cannot be imported and called ({error!r}); "
                "give NAME=MODULE:FACTORY, which Python finds from this folder and which "
                "makes a transformer or comparator when called without arguments."
            ) from error
    return methods or None


def _write_bench(bench, written, folder):
    """Write texts by name, a figure and the winner to a folder; lines that say so."""
    from matplotlib.figure import Figure

    from skfairfr.metrics import MitigationsDisplay

    names, winner, lines = list(written), folder / "winner", ""
    with replaced(folder, OF_BENCH) as staged:
        for name, content in written.items():
            (staged / name).write_text(content, encoding="utf-8")
        if bench.methods:
            figure = Figure(figsize=(11, 5), layout="constrained")
            MitigationsDisplay.from_bench(bench, axes=figure.subplots(1, 2))
            for name in ("bench.svg", "bench.png"):
                figure.savefig(staged / name, dpi=120)
                names.append(name)
        if bench.system is not None:
            try:
                deploy = bench.save(staged / "winner")
            except ValueError as error:  # a class of the caller's
                os.rmdir(staged / "winner")
                lines = f"{bench.winner} is not written: {error}.\n"
            else:
                deploy = deploy.replace(repr(str(staged / "winner")), repr(str(winner)))
                lines = f"{bench.winner}, fitted on all people: {winner}\n\n{deploy}"
        elif winner.exists():
            lines = f"{winner} is of an earlier run: nothing won in this one.\n"
    return f"\nWritten: {', '.join(str(folder / n) for n in names)}\n{lines}"


def _demo(arguments):
    from skfairfr.datasets import make_face_embeddings
    from skfairfr.report import EmbeddingData

    made = make_face_embeddings(DEMO_IDENTITIES, random_state=arguments.seed)
    data = EmbeddingData(made.X, made.y, {"gender": made.sensitive_features})
    text, _ = _report(arguments, data, "synthetic embeddings", limits=DEMO_LIMITS)
    ending = f"\n{DEMO_ENDING}" if arguments.format == "text" else ""
    return text + ending, 0


def _report(arguments, data, source, measure=None, **options):
    """Text of a report, which goes to --out as well, and exit code."""
    from skfairfr.report import audit_data

    measure = measure or audit_data
    options["about"] = _about(arguments)
    _report_folder(arguments)
    report = measure(
        data,
        progress=not arguments.quiet,
        random_state=arguments.seed,
        **_taken_by(measure, vars(arguments)) | options,
    )
    return _written(arguments, report, source)


def _formatted(found, name, date, *source, **asked):
    """What was found, in one of the formats."""
    if name == "json":
        about = {"source": source[0]} if source else {}
        return found.to_json(version=__version__, **about)
    if name == "html":
        return found.to_html(*source, version=__version__, date=date)
    if name == "card":
        return found.to_card(*source, date=date)
    if name == "junit":
        return found.to_junit()
    return found.to_text(*source, date=date, **asked)


def _report_folder(arguments, contents=REPORT):
    """The folder of --out, made and found to be writable; None if none was given."""
    if arguments.out is None:
        return None
    path = place = Path(arguments.out)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
        place = path / "figures"
        if place.exists():  # a file of that name is somebody else's
            os.listdir(place)
    except (OSError, ValueError) as error:  # ValueError: no name of a file, as "a\0b"
        why = getattr(error, "strerror", None) or error
        raise ValueError(
            f"--out {str(place)!r} cannot be written to ({why}); name a folder that can."
        ) from None
    check_replaceable(path, arguments.replace, contents)
    return path


def _print(text):
    """Print whatever the encoding; a reader that closes the pipe has read enough."""
    if sys.stdout is None:  # closed by the caller
        return
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), end="")
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes again at exit, which would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _in_flags(error, **flags):
    """The message of an error, which begins with the flag of the argument that it is about."""
    from skfairfr._text._words import outside_quotes

    name, message = getattr(error, "argument", None), str(error)
    if name is None:
        return message
    if name == "methods" and not isinstance(error.value, str):
        name, message = "method", message.removeprefix(name)  # one of the caller's
    of_arguments = r"(?<![\w/.-])(identity_[12]|image_[12]|y_true)(?!\.?[\w/=])"
    in_flags = partial(re.sub, of_arguments, lambda found: _flag(found[0]))
    return _flag(name, flags) + outside_quotes(message.removeprefix(name), in_flags)


def _flag(name, flags=()):
    """What the command calls an argument of Python."""
    return (FLAGS | dict(flags)).get(name, "--" + name.replace("_", "-"))


def _one_line(error):
    from skfairfr._text._words import outside_quotes

    return outside_quotes(error, partial(re.sub, r"\s+", " ")).strip()


if __name__ == "__main__":
    sys.exit(main())
