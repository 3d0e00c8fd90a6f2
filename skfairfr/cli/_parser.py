"""Subjects of the commands, parsers built from the table, and checks of arguments."""

import argparse
import difflib
import shlex
import sys
from fractions import Fraction
from functools import cache

from skfairfr import __version__
from skfairfr.cli._inputs import one_line, print_text
from skfairfr.cli._options import (
    AGAIN,
    ARGUMENTS,
    DEFAULTS,
    EXCEPTIONS,
    OF_A_SYSTEM,
    OPTIONS,
    RARE,
    SHARED,
    SHORT,
    SHORT_FLAGS,
    rows_of,
)

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
        0: "a threshold meets the limits for every group",
        1: "no threshold meets both limits",
        3: "the data do not show such a threshold",
    },
    "explain": OF_CHECKS,
    "monitor": {
        0: "no limit is known to be exceeded",
        1: "this or an earlier log exceeds a limit",
    },
}

# Why a bench accepts no list of trials.
ALL_PAIRS = (
    "A bench compares all pairs of held-out people, so it accepts no list of trials."
)

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
of decisions. Without --attribute, the rates of everyone.""",
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
searches (1:N) are compared. With --accepted, logs of decisions, whose people need not be the same.
Without --attribute, the rates of everyone.""",
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
        "a threshold at which every group meets a limit",
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


# ---- parsers -------------------------------------------------------------------------


class _ListPolicies(argparse.Action):
    """Prints the policies that are shipped, and ends the process."""

    def __call__(self, parser, namespace, values, option_string=None):
        from skfairfr.report import Policy

        shipped = [Policy.read(name) for name in Policy.shipped()]
        print_text(
            "".join(f"{policy.name}  {policy.description}\n" for policy in shipped)
        )
        parser.exit(0)


class Formatter(argparse.HelpFormatter):
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
        options |= {"allow_abbrev": False, "formatter_class": Formatter}
        super().__init__(**options)

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {one_line(message)}\n")


def parse(argv):
    """The arguments of a command. What is not known ends the process."""
    given = sys.argv[1:] if argv is None else [*argv]
    if given[:1] in ([], ["help"]):  # help COMMAND is COMMAND --help
        given = [*given[1:2], "--help", *given[2:]]
    parser, commands = build_parsers(full="--help-all" in given)
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
                ". audit takes one DATA and one column for each --attribute: -a A -a B. "
                "Several levels, or scores, have commas: --fmr 1e-2,1e-3"
            )
        if arguments.command == "bench":
            message += ". Several values have commas: --methods as-norm,WCCN"
        if arguments.command == "monitor":
            message += ". monitor takes one LOG: run it for each, with the same --state"
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
            near = _similar_options(flag, known)
            asked = f" Did you mean {' or '.join(near)}?" if near else ""
            having = [
                n for n, c in commands.items() if flag in c._option_string_actions
            ]
            has = f" It is an option of {', '.join(having)}." if having else ""
            has += f" {ALL_PAIRS}" if (name, flag) == ("bench", "--trials") else ""
            command.error(f"unrecognized arguments: {flag}.{asked}{has}")
        words = before[place + 1 : place + 2] if known[flag].nargs is None else []
        values.setdefault(flag, []).append(value if equals else "".join(words))
    for flag, own in values.items():
        if len(own) > 1 and not isinstance(known[flag], argparse._AppendAction):
            shown = f" ({', '.join(map(repr, own))})" if any(own) else ""
            command.error(f"{flag} was given {len(own)} times{shown}. Use it once.")


def _similar_options(flag, known):
    """Options that accept a flag's name as a value, such as json, or have words in common."""
    if values := [
        f"{name} {flag[2:]}"
        for name, action in known.items()
        if flag[2:] in (action.choices or ())
    ]:
        return values
    # The rates of attempts have the limits of those of comparisons.
    if (name := flag.replace("frr", "fnmr").replace("far", "fmr")) in known:
        return [f"{name}, which is of the {'FRR' if 'frr' in flag else 'FAR'} too"]
    longer = [name for name in known if name.startswith(flag)]
    ends = [n for n in known if n[:2] == "--" and flag.endswith(n[1:])]
    close = difflib.get_close_matches(flag, known, 3, 0.7)
    return list(dict.fromkeys([*longer, *ends, *close]))


def _number(kind, is_allowed, meaning):
    """The type of an option that is an int or a float in a range, described by ``meaning``."""

    def convert(text):
        try:
            number = kind(text)
        except (ValueError, ZeroDivisionError):
            number = None
        if number is None or not is_allowed(number):
            raise argparse.ArgumentTypeError(f"must be {meaning}, got {text}")
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


def build_parsers(full=False):
    """The parser of the command, and those of its commands by their names."""
    parser = _Parser(
        prog="skfairfr",
        description="Measure and reduce demographic differences of biometric systems.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.format_help = lambda: _overview(parser.description)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    own = {(name, row[0]): row for name, _, *row in rows_of(EXCEPTIONS)}
    for name, (about, description, examples) in COMMANDS.items():
        command = commands.add_parser(
            name, help=about, description=description, epilog=_epilog(name, examples)
        )
        command.set_defaults(date=None, failures="error", read_as={})
        text = "show this help with the options that few need"
        command.add_argument("--help-all", action="help", help=text)
        command.usage, groups = f"skfairfr {name} [options]", {"options": command}
        for title, words, *row in rows_of(OPTIONS):
            if name in words.split():
                if title not in groups:
                    groups[title] = command.add_argument_group(title)
                flag, value, meaning = own.get((name, row[0]), row)
                meaning = row[-1] + meaning if meaning[0] == ";" else meaning
                each = name == "compare" and title in OF_A_SYSTEM
                shown = full or name == "monitor"
                shown |= (name, flag) == ("explain", "--covariate")
                _add(groups[title], flag, value, meaning, each, shown)
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
    """Add an option, of each system or of all. Help leaves out rare ones unless it is full."""
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
