"""The command ``skfairfr``: it parses, calls public functions and prints what they give."""

import argparse
import difflib
import json
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
from functools import cache, partial
from inspect import signature
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
# Flags of which several values, with commas, are several systems of one file.
OF_ONE_FILE = ("score", "embedding")
# Flags of searches, those of them about lists, and those of comparisons alone.
OF_LISTS = ("search", "candidate", "listed_from")
OF_SEARCHES = (
    *("gallery", "gallery_labels", "candidates", *OF_LISTS),
    *("rank", "fpir"),
)
OF_COMPARISONS = (
    *("far", "average", "impostors", "domain", "max_fmr", "max_fnmr"),
    *("trials", "probes", "enrolment", "p_target", "llr"),
)
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
    **{"n_splits": "--splits", "metrics": "--metric", "curves": "--curve"},
    "interactions": "--interaction",
    **{"names": "--search", "scores": "--candidates"},
}
# Exit statuses of all commands, and what else some of them have.
STATUS = {
    0: "done",
    2: "unusable input, or too little memory or disk",
    4: "a fault of the program",
    130: "interrupted",
}
OF_CHECKS = {
    0: "done, and every check passed",
    1: "a check failed",
    3: "no check failed, and the data do not show whether one passes",
}
OWN_STATUS = {
    "audit": OF_CHECKS,
    "identify": OF_CHECKS,
    "compare": {
        1: "with --fail-on-harm: a rate of a group is higher",
        3: "with --fail-on-harm: undetermined",
    },
    "threshold": {
        0: "a threshold keeps the limits for every group",
        1: "no threshold keeps both limits",
        3: "the data do not show such a threshold",
    },
    "monitor": {
        0: "no limit is known to be exceeded",
        1: "this or an earlier log exceeds a limit",
    },
}
# A heading of the help and its commands, in the order of work.
GROUPS = {
    "Measure": "demo audit identify compare explain",
    "Decide": "plan threshold monitor",
    "Reduce": "bench",
}
# What every command is about: in a line, in its help, and three examples.
COMMANDS = {
    "audit": (
        "error rates by group: embeddings, scored pairs, decision logs",
        """\
Error rates by group and their disparities, with intervals, from embeddings, scored pairs or a log
of decisions; without --attribute the rates of everyone.""",
        """\
skfairfr audit pairs.csv -a gender --fmr 1%,0.1% -o report
skfairfr audit faces.npz -a gender -a age:18,30 --max-fmr-ratio 2
skfairfr audit log.csv --accepted accepted -a age:18,65 --max-fnmr 5%""",
    ),
    "identify": (
        "error rates of searches of a gallery (1:N) by group",
        """\
Error rates of searches (1:N) by group, with intervals: FPIR, the share of searches by people who
are not enrolled that raise a false alarm, and FNIR, the share of searches by enrolled people that
miss the mate.""",
        """\
skfairfr identify probes.npz --gallery gallery.npz -a gender
skfairfr identify probes.npz --gallery gallery.npz --fpir 0.1% --max-fnir 10%
skfairfr identify probes.csv --gallery people.csv --candidates lists.csv -a sex""",
    ),
    "compare": (
        "what another system changes for each group, on the same people",
        """\
For which groups the rates of another system are higher or lower than those of BEFORE, on the same
people: rates and disparities with paired intervals, and one family of tests. With --gallery,
searches (1:N) are compared; with --accepted logs of decisions, whose people need not be the same;
without --attribute the rates of everyone.""",
        """\
skfairfr compare before.npz after.npz -a gender --fail-on-harm
skfairfr compare pairs.csv --score old,new -a gender -o report
skfairfr compare june.csv july.csv --accepted accepted -a age:18,65""",
    ),
    "explain": (
        "whether differences between groups remain at equal covariates",
        """\
Error rates of groups at a threshold over those of a reference, as they are and at equal covariates
(age, quality, camera), by one logistic regression of each rate.""",
        """\
skfairfr explain faces.npz -a gender --covariate quality --covariate camera
skfairfr explain pairs.csv -a gender --covariate age --threshold 0.5
skfairfr explain log.csv --accepted ok -a gender --covariate device""",
    ),
    "plan": (
        "number of people that a conclusive test needs",
        """\
How many people per group a test needs: to certify that every group's FMR or FNMR is within a
limit, to detect that two groups' rates differ by a factor, or to show that all ratios of rates
are within a limit. Each number is given as if pairs were independent, and with errors that
depend on each other as a pilot shows.""",
        """\
skfairfr plan --max-fmr 0.1% --groups 4
skfairfr plan --detect-factor 2 --fmr 1e-3 --images-per-person 4
skfairfr plan --pilot faces.npz -a gender --max-fmr-ratio 1.5""",
    ),
    "threshold": (
        "a threshold at which every group keeps a limit",
        """\
The loosest threshold at which the FMR of every group, or the FPIR of searches, is within a limit,
also for new people, with a stated confidence. Reports the cost for each group, or how many more
people are needed.""",
        """\
skfairfr threshold faces.npz -a gender --max-fmr 0.1%
skfairfr threshold pairs.csv -a gender --max-fmr 1e-3 --max-fnmr 5% -o report
skfairfr threshold probes.npz --gallery gallery.npz -a sex --max-fpir 1%""",
    ),
    "monitor": (
        "limits checked in every new log of a system in operation",
        """\
Monitor false rejection rates by group over successive logs of decisions. Two audits are made: of
people's first attempts in all logs, and of each log on its own. With --state the probability of any
false alarm is at most 5 %, or 1 - the confidence level of the policy, however often you check.""",
        """\
skfairfr monitor june.csv -a gender --state door.state --max-fnmr-ratio 2
skfairfr monitor july.csv -a gender --state door.state --max-fnmr-ratio 2
skfairfr monitor log.csv -a age:18,65 --max-fnmr 5% --format json""",
    ),
    "bench": (
        "which mitigation lowers a disparity, and at what cost",
        """\
Which mitigation lowers a disparity on these embeddings, and at what cost, or that none does. Every
method is fitted on some people, measured on held-out people, and compared there with doing nothing.""",
        """\
skfairfr bench faces.npz -a gender -o bench
skfairfr bench faces.npz -a gender --fmr 1e-2 --metric bfrr,fnmr_at_fmr
skfairfr bench faces.npz -a gender --methods as-norm,WCCN --n-jobs 2""",
    ),
    "demo": (
        "an audit of synthetic embeddings, in 20 seconds",
        "Audit synthetic embeddings of two groups that differ on purpose, with a limit.",
        """\
skfairfr demo
skfairfr demo -o report --replace
skfairfr demo --seed 3 --format json""",
    ),
}


class _ListPolicies(argparse.Action):
    """Prints the policies that are shipped, and ends the process."""

    def __call__(self, parser, namespace, values, option_string=None):
        from skfairfr.report import Policy

        shipped = [Policy.read(name) for name in Policy.shipped()]
        _print("".join(f"{policy.name}  {policy.description}\n" for policy in shipped))
        parser.exit(0)


class _Formatter(argparse.HelpFormatter):
    """Help with examples and exit statuses in lines of their own."""

    def _fill_text(self, text, width, indent):
        if not text.startswith("examples:"):
            return super()._fill_text(text, width, indent)
        return "\n".join(indent + line for line in text.splitlines())

    def _format_action_invocation(self, action):
        """The value after the last name alone, as Python 3.13 does."""
        if action.nargs == 0 or len(action.option_strings) < 2:
            return super()._format_action_invocation(action)
        value = self._format_args(action, action.dest)
        return f"{', '.join(action.option_strings)} {value}"


class _Parser(argparse.ArgumentParser):
    """A parser of whole options, whose errors are one line, as all of the command are."""

    def __init__(self, **options):
        # --max-frr 1.9 would be taken for a limit of a ratio.
        options |= {"allow_abbrev": False, "formatter_class": _Formatter}
        super().__init__(**options)

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {_one_line(message)}\n")


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
        # An import that Python itself could not do has a name. It is no unusable input.
        if isinstance(error, ImportError) and error.name is not None:
            return _fault(name, error)
        columns = {}
        if arguments.command == "explain":
            columns = {"control": "--covariate", "covariates": "--covariate"}
            columns["curves"] = "--curve"
        message = _in_flags(error, **columns)
        if arguments.command not in ("audit", "compare", "plan"):  # with --failures
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
    given = sys.argv[1:] if argv is None else [*argv]
    if given[:1] in ([], ["help"]):  # help COMMAND is COMMAND --help
        given = [*given[1:2], "--help", *given[2:]]
    parser, commands = _parser(full="--help-all" in given)
    name = next((text for text in given if text[:1] != "-"), None)
    if name is not None and name not in commands:
        from skfairfr.utils._errors import suggestion

        known = ", ".join(commands)
        parser.error(f"no command {name!r}. {suggestion(name, commands)}Known: {known}")
    if name is not None:
        _check_flags(commands, name, given)
    arguments, unknown = parser.parse_known_args(given)
    arguments.typed = shlex.join(["skfairfr", *given])
    if arguments.command == "compare":  # argparse takes files up to a flag
        arguments.more = [*arguments.more, *(w for w in unknown if w[:1] != "-")]
        unknown = [word for word in unknown if word[:1] == "-"]
    if unknown:
        message = f"unrecognized arguments: {' '.join(unknown)}"
        if arguments.command == "audit":
            message += (
                "; audit takes one DATA, and every attribute an --attribute of its own: "
                "-a A -a B; several levels, or scores, have commas: --fmr 1e-2,1e-3"
            )
        if arguments.command == "bench":
            message += "; several values have commas: --methods as-norm,WCCN"
        if arguments.command == "monitor":
            message += "; monitor takes one LOG: run it for each, with the same --state"
        commands[arguments.command].error(message)
    return arguments


def _check_flags(commands, name, given):
    """End the process at a flag that the command does not have, or that is given again."""
    command, values = commands[name], {}
    known = command._option_string_actions
    before = given[: given.index("--")] if "--" in given else given
    for place, text in enumerate(before):
        flag, equals, value = text.partition("=")
        flag = SHORT_FLAGS.get(flag, flag)
        if flag[:2] != "--" or flag == "--version":
            continue
        if flag not in known:
            longer = [name for name in known if name.startswith(flag)]
            near = longer + difflib.get_close_matches(flag, known, 3, 0.7)
            asked = f" Did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
            having = [
                n for n, c in commands.items() if flag in c._option_string_actions
            ]
            has = f" It is an option of {', '.join(having)}." if having else ""
            command.error(f"unrecognized arguments: {flag}.{asked}{has}")
        words = before[place + 1 : place + 2] if known[flag].nargs is None else []
        values.setdefault(flag, []).append(value if equals else "".join(words))
    for flag, own in values.items():
        if len(own) > 1 and not isinstance(known[flag], argparse._AppendAction):
            shown = f" ({', '.join(map(repr, own))})" if any(own) else ""
            command.error(f"{flag} was given {len(own)} times{shown}; give it once.")


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
COUNT = _number(int, lambda n: n >= 1, "an integer of at least 1")

# Options that have a short form.
SHORT = {"--attribute": "-a", "--out": "-o", "--quiet": "-q"}
SHORT_FLAGS = {short: flag for flag, short in SHORT.items()}

# ---- options -------------------------------------------------------------------------

# A title of the help and the commands that have the options below it: each a flag, the name
# of its value and, after two spaces, its meaning. One without a value is a switch. After the
# value " ..." means several files, ",..." a list with commas.
OPTIONS = """
options: audit
data DATA  embeddings (.npz, .npy), scored pairs (.csv, .tsv, .parquet, those of bob) or a log of
  decisions
options: threshold explain
data DATA  embeddings (.npz, .npy), or scored pairs (.csv, .tsv, .parquet, those of bob)
options: identify
data PROBES  embeddings (.npz, .npy), one row for each search, or with --candidates a table of
  the searches
options: compare
before BEFORE  data of the first system, as of audit
more AFTER ...  those of another system, of the same images, or of several; BEFORE alone has columns
  of several, --score A,B
options: monitor
log LOG  table of decisions (.csv, .tsv, .csv.gz, .tsv.gz, .parquet), one row an attempt
options: bench
data DATA  embeddings (.npz, .npy), one row for each image

options: audit identify compare threshold plan monitor bench explain
--attribute COLUMN  column of the groups; of pairs what two share (COLUMN_1 and COLUMN_2), or
  A,B; of numbers COLUMN:4 or COLUMN:18,30 (default: no groups, rates of everyone); may be repeated, for
  combinations too
options: audit
--control COLUMN[:K[:gap]]  covariate at equal values of which rates are shown too: COLUMN of
  categories, COLUMN:K for K quantiles of a number (of two images the lower), COLUMN:K:gap of
  its difference; may be repeated, for strata of several
options: explain
--covariate COLUMN  column of a covariate at equal values of which rates are compared: numbers as a curve,
  others, and numbers of up to ten values, as categories; may be repeated
--curve COLUMN  column of a number, such as age, over which rates are shown too; may be repeated
--interaction A,B  two attributes, rates of whose combinations are compared too; may be repeated
options: audit identify explain
--reference GROUP  group to compare with (default: that with the most people); may be repeated,
  one of each attribute
options: audit compare plan explain
--failures {reject,report,error}  what becomes of missing scores, NaN or zero embeddings,
  attempts without capture
options: plan
--pilot FILE  data as audit reads them, whose errors show how they depend on each other
options: monitor
--state FILE  file that keeps what is known for the next log; made if there is none
options: bench
--other COLUMN  column of another attribute, whose disparities must not grow; may be repeated
--methods NAME,...  methods to try (default: all whose libraries are installed); one that is
  unknown lists those that are known
--method NAME=MODULE:FACTORY  a method of your own, alone or with --methods, by a class or
  function that gives a transformer or comparator when called without arguments, as --method
  mine=package.module:MyTransformer; with it no fit is kept in --out; may be repeated
options: audit identify compare threshold monitor bench demo explain
--out DIR  folder that the page, JSON, tables and figures are written to, all at once
--replace  replace an older report in the folder of --out
--format {text,json,html,card,junit}  what is printed (default: text)
options: audit identify compare threshold bench demo explain
--seed SEED  of all that is random (default: 0)
options: audit identify compare threshold bench demo
--n-jobs JOBS  workers of joblib (default: one process, which uses all cores)
options: audit identify compare threshold plan monitor bench demo explain
--quiet  no progress shown
options: audit identify compare demo
--full  print all sections, and not a summary alone

further files: audit identify compare threshold plan bench explain
--metadata FILE  table of attributes of the people, or of the images
--on COLUMN  column of --metadata that names them
--image COLUMN  column that names the images, as trials do (default: image); compare pairs rows
  by it (default: in their order) and leaves out images that a system lacks
further files: audit compare threshold plan explain
--trials FILE  list of the pairs to compare, or of their scores
--probes FILE  labels of the rows of a matrix of scores (.npy, .npz), a table
--references FILE  those of its columns (default: the same images, each two one pair)
--enrolment LIST|COLUMN  list of templates (name: image image ...), or column that marks the
  images enrolled, all those of a person as one template
further files: audit identify compare threshold plan explain
--template {image,mean,max}  what is enrolled of each person: in searches one image (default),
  the mean of all (default of --enrolment), or all of them, of which the best counts

embeddings: audit identify compare threshold plan bench explain
--embedding NAME  array of the embeddings, in audit and compare also A,B of several systems (default:
  embedding or X)
embeddings: audit identify compare threshold plan monitor bench explain
--identity COLUMN  column of the people (default: identity or y, in a log also person)
embeddings: audit identify compare threshold plan bench explain
--labels FILE  table of the labels, one row for each image (default: those in the .npz file, or
  next to the .npy file)
embeddings: audit compare threshold plan explain
--domain COLUMN  column with two values, such as selfie and document: only pairs across them are
  compared
embeddings: audit
--fte COLUMN  column that marks rows without a template: fte (or 1) if enrolment failed,
  fta if acquisition failed, else 0 or empty; they are counted by group

scores: audit identify compare threshold plan explain
--score COLUMN  column of the scores, in audit and compare also A,B of several systems (default:
  score or distance)
--distance  scores are distances, smaller meaning more similar
scores: audit compare threshold plan explain
--identity-1 COLUMN  column of the first image's person
--identity-2 COLUMN  column of the second image's person
--image-1 COLUMN  column that names the first image
--image-2 COLUMN  column that names the second image
--layout NAME  layout of a list without names of columns, if its content leaves it open
scores: audit threshold explain
--y-true COLUMN  column that marks genuine pairs, instead of people: pairs are then independent
  (default: y_true, label, same, …)
scores: audit compare threshold plan explain
--mated-only  all pairs are meant to be genuine: FNMR alone is measured
scores: audit identify compare threshold plan explain
--non-mated-only  no pair, or search, is meant to be genuine: FMR, or FPIR, alone is measured

logs of decisions: audit compare plan monitor explain
--accepted COLUMN  column that marks accepted attempts: the data are a log of decisions (default of
  monitor: accepted)
--attempt COLUMN  column of kinds: genuine, impostor or attack (default: all are genuine)
logs of decisions: audit compare plan explain
--species COLUMN  column of the instrument of an attack: APCER is by species
--session COLUMN  column of the session of an attempt, with --best-of
--best-of K  rates of transactions: the first K attempts of a person in a session
logs of decisions: audit compare plan monitor explain
--time COLUMN  column of the time, as 2026-01-31T10:00 or a number (default: rows in their order)
--dates {day-first,month-first}  how --time, and attributes in ranges, have 31.01.2026 or
  01/31/2026 (default: as 2026-01-31)
logs of decisions: plan
--attempts-per-person N  of everybody on average, without a log too (default: as in the log)
logs of decisions: audit explain
--no-people  nobody is known, and attempts are taken as independent
logs of decisions: compare
--kind {frr,far,bpcer,apcer}  whose errors are compared (default: the one kind of the logs)
logs of decisions: monitor
--attempts K  first attempts of a person that make one value (default: 1); more only if nobody
  tries again because of a rejection

searches (1:N): identify compare threshold explain
--gallery GALLERY  embeddings of those who are enrolled or, with --candidates, a table of them;
  the other data are of those who search
--gallery-labels FILE  as --labels, of the gallery
--rank N  a mated search succeeds if the mate is among the top N (default: 1)
--candidates LIST  instead of embeddings: lists (search, candidate, score), or a matrix (.npy,
  .npz) of scores
--search COLUMN  column that names the searches, in LIST and in the table of the searches (default:
  search, probe, query, …)
--candidate COLUMN  column of who was returned (default: candidate)
--listed-from S  score from which on lists have all candidates, if that is known

operating points: audit compare plan bench explain
--fmr LEVEL,...  FMR levels to operate at (default: 1e-2,1e-3 and 1e-4 where two groups of
  every attribute have 300,000 impostor pairs)
operating points: plan
--fnmr RATE  the smaller FNMR, of ratios and of --detect-factor (default: the pilot's, or 0.01)
operating points: identify compare explain
--fpir LEVEL,...  FPIR levels to operate at (default: 1e-2,1e-3)
operating points: audit identify compare plan explain
--threshold T  score from which on a deployed system accepts, or alarms (of distances, up to
  which), instead of levels
operating points: audit
--threshold-from OTHER  file like DATA, on which the levels set thresholds
--threshold-group LABEL  group whose FMR meets the levels, instead of that of all impostor pairs:
  a label of an attribute, or of several together as 'f & young'
operating points: audit compare
--p-target P,...  show detection costs (minDCF) at these shares of genuine pairs
--llr  scores are log-likelihood ratios: show Cllr and actual costs

limits: audit identify threshold monitor plan
--policy FILE_OR_NAME  file (.toml) of levels, limits, confidence and attributes, which must not
  be given too; or the name of one that is shipped
limits: audit identify
--list-policies  print the names of the shipped policies, and exit
limits: audit threshold plan
--max-fmr RATE  largest FMR allowed of each group
limits: audit threshold monitor plan
--max-fnmr RATE  largest FNMR allowed of each group
limits: audit plan
--max-fmr-ratio X  largest over smallest FMR of the groups
limits: audit plan monitor
--max-fnmr-ratio X  largest over smallest FNMR of the groups
limits: audit
--max-fmr-geomean-ratio X  FMR over the groups' geometric mean, at most
--max-fnmr-geomean-ratio X  FNMR over the groups' geometric mean, at most
--max-bfar X  largest over smallest FMR (BFAR), with the threshold set where no group's FMR
  exceeds the level
--max-bfrr X  largest over smallest FNMR (BFRR), there
--max-dcf X  largest detection cost allowed at each --p-target
--max-cllr X  largest Cllr allowed; requires --llr
limits: identify threshold plan
--max-fpir RATE  largest FPIR allowed of each group
limits: identify threshold
--max-fnir RATE  largest FNIR allowed of each group
limits: identify
--max-fpir-ratio X  largest over smallest FPIR of the groups
--max-fnir-ratio X  largest over smallest FNIR of the groups
--max-fpir-geomean-ratio X  largest FPIR over the geometric mean
--max-fnir-geomean-ratio X  largest FNIR over the geometric mean
limits: threshold
--own  a threshold for each group instead, which share the chance of a wrong one
limits: compare
--baseline  BEFORE is in use, and the others are to replace it: higher rates are harm
--fail-on-harm  the same, and exit with status 1 if a rate of a group is higher, and 3 if that is
  undetermined

the test: plan
--detect-factor X  detect that one group's rate is X times another's
--rate {fmr,fnmr}  what --detect-factor is about (default: fmr)
--assumed SHARE  what is true, of the way from no error, or from equal groups, to the limit;
  above 1 a limit of a policy or of ratios is to be shown to be exceeded (default: 0.5)
--groups N  number of groups (default: the pilot's, or 2)
--images-per-person N  images of everybody (default: 2)
--comparisons N  tests of groups that share the error rate (default: those of an audit of both
  rates at its levels)
--power P  probability with which the answer is to be got (default: 0.8)

measurement: audit compare
--average {pair,identity}  what weighs the same (default: pair)
--impostors {all,same_group}  pairs whose FMR sets the threshold (default: all)
measurement: audit identify compare threshold plan monitor bench explain
--confidence-level P  of intervals, bounds and verdicts (default: the policy's, or 0.95)
measurement: bench
--metric {bfar,bfrr,fnmr_at_fmr,fmr_max_geomean,fnmr_max_geomean},...  what is to fall, and what
  parameters are chosen by along with it (default: bfar,fnmr_at_fmr)
--max-cost FACTOR  a method wins only if its FNMR is at most this times that of doing nothing,
  and its parameters are chosen within it; inf allows any (default: 1.25)
--splits SPLITS  splits of the people; everybody is judged in one (default: 5)
--inner-splits SPLITS  splits that parameters are chosen by (default: 3)

printed on the report and kept in its JSON: audit identify compare threshold monitor
--title TEXT  title of the report
--system TEXT  what was tested, with its version
--dataset TEXT  what it was tested on
--organisation TEXT  who tested
--tested DAY  when it was tested
--labels-source TEXT  where the groups come from
--sampling TEXT  how people were chosen
--date DAY  when the report was written (default: today)
"""
# A command for which options differ and the reason; what begins with ; is added to a meaning.
EXCEPTIONS = """
bench: one disparity is to fall
--attribute COLUMN  column of the groups whose disparity is to fall; required
bench: methods are compared at one level
--fmr LEVEL  FMR level to operate at (default: 0.001)
bench: it leaves other files
--out DIR  folder that bench.json, bench.txt, the figure (SVG, PNG), finished fits, from which
  the same command goes on, and the fitted winner are written to
--format {text,json}  what is printed (default: text)
compare: a card is of one system
--format {text,json,html,junit}  what is printed (default: text)
compare: each system may have its own
--threshold T  ; may be repeated, for each system in their order
explain: one threshold explains all errors
--fmr LEVEL  FMR level to operate at (default: 0.001)
--fpir LEVEL  FPIR level to operate at (default: 0.001)
explain: it leaves a text and a JSON file
--out DIR  folder that the text and the JSON are written to
--format {text,json}  what is printed (default: text)
identify: it measures nothing else
--gallery GALLERY  ; required
monitor: a log is watched by one attribute
--attribute COLUMN  column of the groups; required unless the policy names one
monitor: a log has attempts
--max-fnmr RATE  ; of attempts it is the FRR
--max-fnmr-ratio X  ; of attempts it is the FRR
monitor: its result is one for all groups
--format {text,json,html}  what is printed (default: text)
plan: levels are assumed, and nothing operates at them
--fmr LEVEL,...  the smaller FMR, of ratios and of --detect-factor (default: 0.001)
threshold: its result is one for all groups
--format {text,json,html}  what is printed (default: text)
threshold: the FMR, or the FPIR, decides which thresholds there are
--max-fmr RATE  ; required unless the policy, or --max-fpir of searches, has the limit
--max-fnmr RATE  ; requires --max-fmr
--max-fnir RATE  ; requires --max-fpir
"""
# What an option takes, by the name of its value.
TYPES = {
    **dict.fromkeys(("LEVEL", "P"), LEVEL),
    **dict.fromkeys(("RATE", "X"), RATE),
    **dict.fromkeys(("S", "SHARE", "T"), float),
    **dict.fromkeys(("K", "N"), COUNT),
    "FACTOR": _number(float, lambda cost: cost >= 1, "a number of at least 1"),
    "JOBS": _number(int, lambda n: n != 0, "an integer other than 0"),
    "SEED": _number(int, lambda n: 0 <= n < 2**32, "an integer in [0, 2**32)"),
    "SPLITS": _number(int, lambda n: n >= 2, "an integer of at least 2"),
}
# Options whose arguments have other names, and values of those that no function has.
ARGUMENTS = {"fmr": "far", "fnmr": "frr", "metric": "metrics", "splits": "n_splits"}
DEFAULTS = {"format": "text", "rate": "fmr", "seed": 0, "more": []}
# Options of measurements that --help leaves out, and --help-all has.
RARE = {
    *("fte", "image", "probes", "references", "layout", "mated_only", "non_mated_only"),
    *("enrolment", "template"),
    *("attempt", "species", "session", "best_of", "time", "dates", "control"),
    "no_people",
    *("threshold_group", "max_fmr_geomean_ratio", "max_fnmr_geomean_ratio", "average"),
    *("impostors", "seed", "n_jobs", "labels_source", "sampling", "dataset"),
    *("organisation", "tested", "date"),
}
# How options repeat: in compare those under some titles do, but for some.
AGAIN = "may be repeated"
OF_A_SYSTEM = ("further files", "embeddings", "scores", "searches (1:N)")
OF_A_SYSTEM += ("logs of decisions",)
SHARED = {"template", "rank", "kind", "best_of", "dates"}


def _rows(table):
    """Words of a heading, and flag, value and meaning of each option below it."""
    heading = ()
    for line in filter(None, table.replace("\n  ", " ").split("\n")):
        option, spaces, meaning = line.partition("  ")
        if spaces:
            flag, _, value = option.partition(" ")
            yield *heading, flag, value, meaning
        else:
            heading = line.rsplit(": ", 1)


def _parser(full=False):
    """The parser of the command, and those of its commands by their names."""
    parser = _Parser(
        prog="skfairfr",
        description="Measure and reduce demographic differences of biometric systems.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.format_help = lambda: _overview(parser.description)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    own = {(name, row[0]): row for name, _, *row in _rows(EXCEPTIONS)}
    for name, (about, description, examples) in COMMANDS.items():
        command = commands.add_parser(
            name, help=about, description=description, epilog=_epilog(name, examples)
        )
        run = globals()[f"_{name}"]
        command.set_defaults(run=run, date=None, failures="error", read_as={})
        text = "show this help with the options that few need"
        command.add_argument("--help-all", action="help", help=text)
        command.usage, groups = f"skfairfr {name} [options]", {"options": command}
        for title, words, *row in _rows(OPTIONS):
            if name in words.split():
                if title not in groups:
                    groups[title] = command.add_argument_group(title)
                flag, value, meaning = own.get((name, row[0]), row)
                meaning = row[-1] + meaning if meaning[0] == ";" else meaning
                each = name == "compare" and title in OF_A_SYSTEM
                _add(
                    groups[title], flag, value, meaning, each, full or name == "monitor"
                )
                if flag[:2] != "--":
                    command.usage += f" [{value}]" if " " in value else f" {value}"
    return parser, commands.choices


def _overview(description):
    """The help without a command."""
    lines = [f"skfairfr - {description}", "", "usage: skfairfr COMMAND [options]"]
    for title, names in GROUPS.items():
        lines += ["", title]
        lines += [f"  {name:10} {COMMANDS[name][0]}" for name in names.split()]
    firsts = (COMMANDS[name][2].splitlines()[0] for name in ("demo", "audit", "plan"))
    lines += ["", "examples:", *(f"  {line}" for line in firsts)]
    lines += [
        "",
        "skfairfr COMMAND --help, or skfairfr help COMMAND: options of a command",
    ]
    return "\n".join([*lines, "skfairfr --version: version of the package", ""])


def _epilog(name, examples):
    """The end of a command's help: examples, and a table of its exit statuses."""
    status = STATUS | OWN_STATUS.get(name, {})
    lines = ["examples:", *(f"  {line}" for line in examples.splitlines())]
    lines += ["", "exit status:"]
    return "\n".join(
        lines + [f"  {code:<3}  {status[code]}" for code in sorted(status)]
    )


@cache
def _each_of(kind, choices):
    """The type of a list with commas, whose elements have a kind or are choices."""

    def convert(text):
        for value in text.split(","):
            if choices and value not in choices:
                raise argparse.ArgumentTypeError(
                    f"invalid choice: {value!r} (choose from {', '.join(choices)})"
                )
        return [kind(value) if kind else value for value in text.split(",")]

    return convert


def _add(group, flag, value, meaning, each, full):
    """Add an option, of each system or of all; help leaves out rare ones unless it is full."""
    name = flag.removeprefix("--").replace("-", "_")
    dest, files = ARGUMENTS.get(name, name), value.endswith(" ...")
    listed = value.endswith(",...")
    value = value.removesuffix(" ...").removesuffix(",...")
    how = {"dest": dest} if flag[:2] == "--" else {}
    if each and value and name not in SHARED:
        meaning += f"; {AGAIN}, for each system in their order"
    if name == "list_policies":
        how |= {"action": _ListPolicies, "nargs": 0}
    elif not value:
        how["action"] = "store_true"
    else:
        kind = {"metavar": value, "type": TYPES.get(value)}
        choices = value[1:-1].split(",") if value[0] == "{" else None
        kind = {"choices": choices} if choices else kind
        if listed:
            kind = {
                "type": _each_of(TYPES.get(value), choices and (*choices,)),
                "action": "extend",
            }
            kind["metavar"] = f"{value},..."
        how |= kind | {"default": DEFAULTS.get(dest)}
    if files:
        how["nargs"] = "*"
    if AGAIN in meaning:
        how["action"] = "append"
    if meaning.endswith("; required"):
        how["required"] = True
    rare = name in RARE and not full
    flags = [SHORT[flag], flag] if flag in SHORT else [flag]
    group.add_argument(*flags, help=argparse.SUPPRESS if rare else meaning, **how)


# ---- commands ------------------------------------------------------------------------


def _audit(arguments):
    given = vars(arguments)
    for name in OF_ONE_FILE:
        if len(values := _split(name, [given[name] or ""])) > 1:
            return _audits(arguments, name, values)
    attributes = _attributes(arguments, needed=False)
    try:
        data = _read(arguments.data, attributes, given)
    except ValueError as error:
        if arguments.accepted and getattr(error, "argument", None) == "identity":
            nobody = "If nobody is known, give --no-people."
            raise ValueError(f"{_in_flags(error)} {nobody}") from None
        if arguments.attribute or not attributes:
            raise
        place = f"attributes of the policy {arguments.policy.name}"
        raise ValueError(_in_flags(error, attributes=place)) from None
    return _report(arguments, data, arguments.data, limits=_limits(given))


def _split(name, given):
    """The values of a flag, some of which have commas between."""
    values = [value for text in given for value in text.split(",")]
    if any("," in text for text in given) and len({*values, ""}) <= len(values):
        raise ValueError(
            f"{_flag(name)}: {','.join(given)!r} names one twice, or nothing."
        )
    return values


def _audits(arguments, name, values):
    """Audits of several systems of one file, each named by its column or array."""
    given, found = vars(arguments), {}
    if arguments.format in ("html", "junit"):
        raise ValueError(
            f"--format {arguments.format} is about one system, and {_flag(name)} names "
            f"{len(values)}; leave it out, and give --out, where each has a folder."
        )
    for value in values:
        own = {name: value, "system": f"{arguments.system or ''} {value}".strip()}
        own["out"] = arguments.out and os.path.join(
            arguments.out, value.replace(os.sep, "_")
        )
        found[value] = _audit(argparse.Namespace(**given | own))
    texts, codes = zip(*found.values(), strict=True)
    text = "\n".join(texts)
    if arguments.format == "json":
        named = ",".join(map("{}: {}".format, map(json.dumps, values), texts))
        text = f"{{{named}}}\n"
    # A limit that is exceeded, then one that is undetermined, decides.
    return text, min(codes, key=(1, 3, 0).index)


def _identify(arguments):
    from skfairfr.report import identify_data

    given = vars(arguments)
    attributes = _attributes(arguments, needed=False)
    data, gallery = _searches(arguments.data, attributes, given)
    source = f"{arguments.data}, gallery {arguments.gallery}"
    own = {"gallery": gallery, "limits": _limits(given)}
    return _report(arguments, data, source, identify_data, **own)


def _searches(path, attributes, given):
    """Data of those who search, and of who is enrolled, from embeddings or candidates."""
    from skfairfr.report import read_candidates, read_data
    from skfairfr.utils._errors import LackingError

    given = given | {"template": None}  # of the gallery
    if given["candidates"] is not None:
        own = _taken_by(read_candidates, given)
        others = _taken_by(read_data, given | {"failures": None}).items() - own.items()
        others = [name for name, value in others if value] + ["gallery_labels"]
        for name in others:
            if given[name] is not None:
                raise ValueError(f"{_flag(name)} is about embeddings; leave it out.")
        data, gallery = read_candidates(path, attributes, **own)
        given["read_as"].update(data.reading.read_as)
        return data, gallery
    for name in (*OF_LISTS, "score", "distance"):
        if given[name]:
            raise ValueError(f"{_flag(name)} is about --candidates; give it too.")
    try:
        data = _read(path, attributes, given)
        return data, _gallery(given["gallery"], data.reading.bands, given)
    except LackingError as error:
        if path.endswith((".npz", ".npy")):
            raise
        told = "Candidate lists go to --candidates; PROBES is then a table of the searches."
        raise ValueError(f"{error} {told}") from None


def _gallery(path, attributes, given):
    """Embeddings of who is enrolled, whose groups may not be known."""
    from skfairfr.utils._errors import LackingError

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
    return {name: given[name] for name in names if given.get(name) is not None}


def _limits(given):
    """The limits that were given; None without any."""
    limits = {n: v for n, v in given.items() if n[:4] == "max_" and v is not None}
    return limits or None


def _about(arguments):
    """What is said of a test, and the command that was typed."""
    given = vars(arguments)
    said = {name: given[name] for name in ABOUT if given.get(name) is not None}
    return said | {"command": arguments.typed}


def _attributes(arguments, needed=True):
    """Names of the columns to audit by, from the flags or from the policy, which is read."""
    if arguments.policy is not None:
        from skfairfr.report import Policy

        arguments.policy = Policy.read(arguments.policy)
    flags, policy = arguments.attribute, arguments.policy
    flags = [flags] if isinstance(flags, str) else flags
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


def _explain(arguments):
    from skfairfr.report import explain

    given = vars(arguments)
    covariates = [*(arguments.covariate or ()), *(arguments.curve or ())]
    own = given | {"control": [*dict.fromkeys(covariates)], "policy": None}
    attributes = _attributes(argparse.Namespace(**own))
    if _check_one_kind(given):
        data, own["gallery"] = _searches(arguments.data, attributes, own)
        own["far"] = arguments.fpir
    else:
        data = _read(arguments.data, attributes, own)
    _report_folder(arguments)
    pairs = [tuple(text.split(",")) for text in arguments.interaction or ()]
    own |= {
        "interactions": pairs,
        "curves": arguments.curve,
        "random_state": arguments.seed,
    }
    own["about"] = {"command": arguments.typed}
    found = explain(data, **_taken_by(explain, own))
    return _written(arguments, found, arguments.data)


def _plan(arguments):
    from skfairfr.metrics import plan_test
    from skfairfr.report import Policy

    given = vars(arguments)
    limits = _limits(given) or {}
    policy = {n: v for n, v in limits.items() if n in RATIOS} or None
    if arguments.policy is not None:
        policy = Policy.read(arguments.policy)
        of_policy = (*limits, *(("far",) if policy.fmr else ()), "confidence_level")
        for name in of_policy:
            if given[name] is not None:
                raise ValueError(
                    f"{_flag(name)} was given, and the policy {policy.name!r} sets it or "
                    "its limits; leave one out."
                )
    if policy is None and not limits and given["detect_factor"] is None:
        flags = ", ".join(map(_flag, ("max_fmr", "max_fnmr", "max_fpir", *RATIOS)))
        raise ValueError(
            f"Nothing was asked. Give {flags}, --detect-factor or --policy."
        )
    _check_rates_are_asked(given, limits if arguments.policy is None else policy.limits)
    pilot, notes = _pilot(given)
    options = _taken_by(plan_test, given) | {"policy": policy, "pilot": pilot}
    text = plan_test(**options | {"rate": PYTHON[given["rate"]]}).to_text()
    return text + "".join(f"Note on the pilot: {note}\n" for note in notes), 0


def _check_rates_are_asked(given, limits):
    """Raise where --fmr or --fnmr is given and no question is about it."""
    detected = given["detect_factor"] is not None
    # A pilot is asked at the threshold of the level, unless only an FMR is to be certified.
    of_pilot = given["pilot"] is not None and (
        detected or set(limits) - {"max_fmr", "max_fpir"}
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
    notes = data.reading.notes
    if given["accepted"] is not None:
        data = _genuine_attempts(data, given)
    # Errors are counted, and nothing is resampled.
    roc = SimilarityROC(n_resamples=1, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data.fit(roc, tuple(data.columns))
    return roc, [*notes, *(str(w.message) for w in caught)]


def _genuine_attempts(log, given):
    """The decisions of a log that may be rejected; how many each person has is kept."""
    from skfairfr.report._failing import BETWEEN

    parts = [part for part in log.parts if part.decisions == "frr"]
    if not parts or given["threshold"] is not None:
        raise ValueError(
            "--pilot: a log of decisions has a threshold of its own; leave --threshold out."
            if parts
            else "--pilot: the log has no genuine attempts, or attacks among them."
        )
    (data,), given["threshold"] = parts, BETWEEN
    people = data.people()
    if given["attempts_per_person"] is None:
        each = people.size / 2 / (people.max() + 1)
        given["attempts_per_person"] = max(round(each), 1)
    return data


def _threshold(arguments):
    from skfairfr.report import certify_data

    given, source = vars(arguments), arguments.data
    attributes, limits = _attributes(arguments, needed=False), _limits(given)
    searched = _check_one_kind(given)
    _report_folder(arguments)
    if searched:
        source = f"{arguments.data}, gallery {arguments.gallery}"
        data, given["gallery"] = _searches(arguments.data, attributes, given)
    elif {"max_fpir", "max_fnir"} & {*(limits or ())}:
        raise ValueError(
            "--gallery is not given, and a limit of searches is; name the file of those "
            "enrolled."
        )
    else:
        data = _read(arguments.data, attributes, given)
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
        limits=_limits(given),
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
    from skfairfr.report import compare_decisions, compare_searches, compare_systems

    given, attributes = vars(arguments), arguments.attribute or []
    systems = _of_systems(given)
    searched = _check_one_kind(given)
    compare = compare_searches if searched else compare_systems
    options = _taken_by(compare_systems, given)
    if len(arguments.threshold or ()) > 1:
        options["threshold"] = [[own["threshold"]] for own in systems]
    _report_folder(arguments)
    data, galleries = [], []
    for own in systems:
        if searched:
            one, gallery = _searches(own["path"], attributes, own)
            galleries.append(gallery)
        else:
            one = _read(own["path"], attributes, own)
        # All are put into the ranges of the first.
        data.append(one)
        attributes = data[0].reading.bands
    if searched:
        del options["llr"]
        options |= {"galleries": galleries} | _taken_by(compare_searches, given)
    if arguments.accepted is not None:
        of_scores = dict.fromkeys(("far", "threshold", "p_target"))
        of_scores |= {"impostors": "all", "llr": False}
        for name, usual in of_scores.items():
            if options.pop(name, None) not in (None, usual):
                raise ValueError(
                    f"{_flag(name)} is about scores, and --accepted asks for decisions; "
                    "leave it out."
                )
        compare, options = compare_decisions, options | {"kind": arguments.kind}
    found = compare(
        *data,
        progress=not arguments.quiet,
        random_state=arguments.seed,
        about=_about(arguments),
        **options,
    )
    return _written(arguments, found)


def _of_systems(given):
    """What was given for each system: flags that describe one, once for all or for each."""
    shared = ("attribute", "far", "fpir", "more", "p_target")
    each = {n: v for n, v in given.items() if isinstance(v, list) and n not in shared}
    each |= {name: _split(name, each[name]) for name in OF_ONE_FILE if name in each}
    each["path"] = [given["before"], *given["more"]]
    n_systems = len(each["path"])
    if n_systems == 1 and (n_systems := max(map(len, each.values()))) == 1:
        raise ValueError(
            "AFTER is missing; give the file of another system, or name columns of two in "
            "BEFORE, as --score A,B."
        )
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


def _check_one_kind(given):
    """Whether searches are asked for; raises if flags of comparisons and of searches meet."""
    searched = [name for name in OF_SEARCHES if given.get(name) is not None]
    if searched and given["gallery"] is None:
        lone = _flag(searched[0])
        raise ValueError(f"{lone} is about searches; give --gallery too.")
    for name in OF_COMPARISONS:
        if searched and given.get(name) not in (None, False):
            raise ValueError(
                f"{_flag(name)} is about comparisons, and --gallery asks for searches; "
                f"{'give --fpir' if name == 'far' else 'leave it out'}."
            )
    return bool(searched)


def _bench(arguments):
    from skfairfr._core._kinds import renamed
    from skfairfr.model_selection import compare_mitigations
    from skfairfr.report import EmbeddingData

    given = vars(arguments)
    attributes = [arguments.attribute, *(arguments.other or ())]
    if len({*attributes}) < len(attributes):
        raise ValueError("--other: a column was named twice; name it once.")
    methods = _methods(arguments)
    data = _read(arguments.data, attributes, given)
    if not isinstance(data, EmbeddingData):
        raise ValueError(
            f"DATA {arguments.data!r} contains scored pairs; give embeddings. A bench compares "
            "all pairs of held-out people, so it takes no list of trials."
        )
    folder = _report_folder(arguments, OF_BENCH)
    first, *others = data.columns
    options = _taken_by(compare_mitigations, given)
    if arguments.metrics:
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
    for text in arguments.method or ():
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
