"""Flags stand where Python's arguments stand, and everything else stays."""

import argparse
import ast
import inspect
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from skfairfr import cli
from skfairfr._core._kinds import SEARCHES
from skfairfr.cli import _options
from skfairfr.cli._inputs import ABOUT, FLAGS, in_flags, one_line
from skfairfr.cli._options import AGAIN, OPTIONS, RARE, rows_of
from skfairfr.cli._parser import (
    ALL_PAIRS,
    COMMANDS,
    GROUPS,
    OWN_STATUS,
    build_parsers,
    parse,
)
from skfairfr.metrics import plan_test
from skfairfr.report import (
    audit_data,
    certify_data,
    compare_decisions,
    compare_searches,
    compare_systems,
    identify_data,
    monitor_log,
    read_candidates,
    read_data,
)
from skfairfr.report._policy import COST_LIMITS, LIMITS
from skfairfr.utils._errors import invalid

ROOT = Path(__file__).resolve().parents[1] / "skfairfr"
# Modules whose errors and notes reach the command.
REACHED = (
    *("datasets/_embeddings.py", "datasets/_files.py", "datasets/_scored_pairs.py"),
    *("datasets/_trials.py", "datasets/_metadata.py", "datasets/_decisions.py"),
    "datasets/_candidates.py",
    *("metrics/_roc/_engine.py", "metrics/_roc/_inputs.py", "metrics/_plan.py"),
    "metrics/_plan_result.py",
    *("metrics/_roc/_compared.py", "metrics/_roc/_similarities.py"),
    *("metrics/_roc/_question.py", "datasets/_tables.py", "datasets/_texts.py"),
    "utils/_labels.py",
    *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "report").rglob("*.py")),
)
OF_A_BENCH = sorted(
    str(p.relative_to(ROOT)) for p in (ROOT / "model_selection").glob("_[bms]*.py")
)
# Arguments of Python that the command has no way to give, and never speaks of.
PYTHON_ONLY = {
    *("device", "max_far"),
    *("similarity", "data", "limits", "sensitive_features_1", "sensitive_features_2"),
    *("sensitive_features_reference", "dependence", "identities", "names"),
    *("resample", "method", "about", "error", "kind", "failed", "sections"),
}
# Flags of what the command does with a result, or that stand for several arguments.
OF_THE_COMMAND = {
    "csv_dialect",
    *("attribute", "format", "help", "help_all", "list_policies", "out", "quiet"),
    *("replace", "seed", "date", "gallery", "gallery_labels", "full"),
}


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("random_state", "--seed must be 3"),
        ("max_bfar", "--max-bfar must be 3"),
        ("far", "--fmr must be 3"),
        ("X", "embedding must be 3"),
        ("folder", "--out must be 3"),
        ("columns['age']", "--attribute['age'] must be 3"),
    ],
)
def test_an_error_names_the_flag_of_its_argument(argument, words):
    error = invalid(argument, 2, "must be 3;", "give 3.")
    assert in_flags(error) == f"{words}; give 3."
    assert in_flags(ValueError("far is far")) == "far is far"


def test_names_within_an_error_are_flags_but_not_those_of_files():
    remedy = "in 'y_true' or y_true.csv, name image_1 and image_2."
    said = in_flags(invalid("after", 2, "is 2;", remedy))
    assert said.endswith("in 'y_true' or y_true.csv, name --image-1 and --image-2.")
    # Methods of the caller's are no names.
    for value, flag in (("LDA", "--methods"), (object(), "--method")):
        said = in_flags(invalid("methods", value, "has one;", "leave it out."))
        assert said == f"{flag} has one; leave it out."


@pytest.mark.parametrize(
    "typed",
    [
        "identity_1;identity_2;y_true",
        "it's image_1",
        'a "y_true",  image_2',
        "x\\'y_true",
    ],
)
def test_what_an_error_quotes_is_unchanged(typed):
    error = invalid(
        "path", typed, f"{typed!r} has image_1;", "people's image_2 is 'x'."
    )
    said = one_line(in_flags(error))
    assert said == f"file {typed!r} has --image-1; people's --image-2 is 'x'."


def calls_in(path, *names):
    """Calls of functions of these names in a module."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        func = getattr(node, "func", None)
        if getattr(func, "id", getattr(func, "attr", None)) in names:
            yield node


def test_errors_that_reach_the_command_have_its_words():
    """FMR and flags, or no name: Python's FAR and n_splits tell its user nothing."""
    for path in (*REACHED, *OF_A_BENCH):
        for call in calls_in(path, "invalid", "_unpaired"):
            parts = [part for arg in call.args[1:] for part in ast.walk(arg)]
            texts = [p.value for p in parts if isinstance(p, ast.Constant)]
            said = " ".join(text for text in texts if isinstance(text, str))
            assert not re.search(r"\b(FARs?|FRRs?|n_splits|far_max)\b", said), said


def flags_of(command):
    return set(build_parsers()[1][command]._option_string_actions)


def arguments_named_in(path):
    """Names in ``invalid("...")`` and its like of a module."""
    for call in calls_in(path, "invalid", "file_error", "damaged", "reraise_for"):
        if isinstance(call.args[0], ast.Constant):
            yield call.args[0].value


def test_every_argument_that_an_error_names_has_a_flag():
    names = {name for path in REACHED for name in arguments_named_in(path)}
    errors = (invalid(name, None, "") for name in names - PYTHON_ONLY)
    spelled = {in_flags(error).rstrip() for error in errors}
    words = {word for word in FLAGS.values() if not word.startswith("-")}
    assert len(names) > 15
    commands = {f for name in build_parsers()[1] for f in flags_of(name)}
    assert spelled - commands - words == set()


@pytest.mark.parametrize(
    ("command", "functions"),
    [
        ("audit", (read_data, audit_data)),
        ("identify", (read_data, read_candidates, identify_data)),
        (
            "compare",
            (
                *(read_data, read_candidates, compare_systems, compare_searches),
                compare_decisions,
            ),
        ),
        ("plan", (read_data, plan_test)),
        ("threshold", (read_data, read_candidates, certify_data)),
        ("monitor", (monitor_log,)),
    ],
)
def test_every_flag_is_an_argument_of_what_the_command_calls(command, functions):
    """A flag by another name would be read and forgotten."""
    names = {action.dest for action in build_parsers()[1][command]._actions}
    taken = {name for f in functions for name in inspect.signature(f).parameters}
    known = {
        *ABOUT,
        *LIMITS,
        *COST_LIMITS,
        *map(SEARCHES.limit, LIMITS),
        *OF_THE_COMMAND,
    }
    assert names - taken - known == set()


# ---- flags that are given again ------------------------------------------------------

EVERY_FLAG = [
    (name, flag, action)
    for name, command in build_parsers(full=True)[1].items()
    for flag, action in command._option_string_actions.items()
    if flag.startswith("--")
]


def refusal_of(capsys, *words):
    """The line of standard error with which the command ends, status 2."""
    try:
        code = cli.main(list(words))
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    return capsys.readouterr().err


def repeats(action):
    """Lists grow by ","; others may be repeated."""
    return (
        isinstance(action, argparse._ExtendAction) or "may be repeated" in action.help
    )


def test_flags_that_repeat_are_those_whose_help_says_so():
    parsers = build_parsers()[1]
    for name, flag, action in EVERY_FLAG:
        if isinstance(action, argparse._ExtendAction):
            assert action.metavar.endswith(",...")
        again = parsers[name]._option_string_actions.get(flag, action)
        assert isinstance(again, argparse._AppendAction) == repeats(action), flag


ONE_OF_EACH_KIND = {
    (name, type(action), action.nargs): (name, flag, action)
    for name, flag, action in EVERY_FLAG
    if not repeats(action)
}


@pytest.mark.parametrize(("name", "flag", "action"), ONE_OF_EACH_KIND.values())
def test_flag_given_twice_is_refused(capsys, name, flag, action):
    words, shown = (flag, flag), "."
    if action.nargs != 0:
        words, shown = (flag, "0.25", f"{flag}=7"), " ('0.25', '7')."
    said = refusal_of(capsys, name, *words)
    assert f"skfairfr {name}: error: {flag} was given 2 times{shown} Use it" in said


@pytest.mark.parametrize(
    "words",
    [
        ("--fmr", "1e-2,0.1%", "pairs.csv"),
        ("--fmr=1%", "pairs.csv", "--fmr", "1/1000"),
        ("pairs.csv", "--fmr", "0.01,0.001"),
    ],
)
def test_lists_have_commas_or_are_repeated_and_leave_the_file(words):
    arguments = parse(["audit", *words])
    assert (arguments.data, arguments.far) == ("pairs.csv", [0.01, 0.001])


@pytest.mark.parametrize("command", ["audit", "identify", "compare", "bench"])
def test_short_options_are_their_long_ones(command):
    files = {"compare": ["b.npz"], "identify": ["--gallery", "b.npz"]}.get(command, [])
    long = ["--attribute", "sex", "--out", "x", "--quiet"]
    found = [
        vars(parse([command, *options, "a.npz", *files]))
        for options in (long, ["-a", "sex", "-o", "x", "-q"], ["-asex", "-qox"])
    ]
    for arguments in found:
        del arguments["typed"]
    assert found[0] == found[1] == found[2]


def test_short_option_given_twice_is_refused(capsys):
    said = refusal_of(capsys, "audit", "a.csv", "-o", "x", "--out", "y")
    assert "--out was given 2 times ('x', 'y'). Use it once." in said
    # After -- are names of files.
    assert "times" not in refusal_of(capsys, "audit", "-o", "x", "--", "-o", "y")


def test_options_of_columns_say_so():
    for _, flag, action in EVERY_FLAG:
        if flag == "--enrolment":  # or a list
            continue
        is_column = str(action.metavar).startswith("COLUMN")
        says_so = re.search(r"(?<!whose )\bcolumn (of|that|with)", action.help)
        assert is_column == bool(says_so) or flag == "--control", flag


OF_EACH = [
    flag
    for name, flag, action in EVERY_FLAG
    if name == "compare" and "for each system" in action.help
]


@pytest.mark.parametrize("flag", OF_EACH)
def test_compare_flag_of_a_system_given_more_often_than_systems_is_refused(
    capsys, flag
):
    given = [word for value in ("0.1", "0.2", "0.3") for word in (flag, value)]
    words = ("compare", "--attribute", "g", *given)
    said = refusal_of(capsys, *words, "--quiet", "a.csv", "b.csv")
    assert (
        f"{flag} was given 3 times ('0.1', '0.2', '0.3'), and there are 2 systems"
        in said
    )
    said = refusal_of(capsys, *words[:-2], "--quiet", "a.csv", "b.csv", "c.csv")
    assert f"{flag} was given 2 times ('0.1', '0.2'), and there are 3 systems" in said


def test_every_option_that_reads_data_is_of_a_system():
    """But for those of pairs without people, and what is said of all systems."""
    reading = set(inspect.signature(read_data).parameters)
    flags = {action.dest for action in build_parsers()[1]["compare"]._actions}
    asked = {flag[2:].replace("-", "_") for flag in OF_EACH}
    shared = {"distance", "mated_only", "no_people", "non_mated_only", "template"}
    assert (reading & flags) - asked == shared | {"failures", "best_of", "dates"}


def flags_in(text):
    """Flags that a text names, but no beginning of one and no variable of a style."""
    return set(re.findall(r"(?<![\w(;-])--[a-z][a-z\d-]*[a-z\d]\b(?!-)", text))


def test_every_flag_that_a_text_names_is_one_of_some_command():
    known, named = {"--version"}.union(*map(flags_of, build_parsers()[1])), {}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named |= {flag: path for flag in flags_in(node.value)}
    assert len(named) > 50
    assert {flag: path for flag, path in named.items() if flag not in known} == {}


@pytest.mark.parametrize(
    "arguments",
    [
        "audit {0}",
        "bench {0}",
        "compare {0} {1}",
        "compare {2} {3}",
        "compare {3} {2}",
        "compare {2} {4}",
        "identify {0} --gallery {1}",
        "threshold {0} --max-fmr 0.1",
        "threshold {2} --max-fmr 0.1",
        "threshold {3} --max-fmr 0.1",
        "threshold {4} --max-fmr 0.1",
    ],
)
def test_advice_names_flags_of_its_command_alone(arguments, tmp_path, capsys):
    """Missing embeddings and scores, a code of failures, and distances."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(20), 3)
    X, group = rng.normal(size=(60, 8)), np.where(y % 2, "f", "m")
    paths = [tmp_path / f"{k}.npz" for k in range(2)]
    for path, value in zip(paths, (np.nan, 0.5), strict=True):
        X[3, 0] = value
        np.savez(path, embedding=X, identity=y, group=group)
    left, right = np.triu_indices(60, 1)
    score = rng.normal(size=left.size) / 9 + (y[left] == y[right])
    for k, made in enumerate((score, -score, score), 2):
        shown = np.round(made, 6).astype(str)
        shown[::9] = {3: "-999", 4: ""}.get(k, "0.25")
        columns = [y[left], y[right], group[left], group[right], shown]
        rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
        head = "identity_1,identity_2,group_1,group_2,score"
        paths.append(tmp_path / f"{k}.csv")
        paths[-1].write_text("\n".join([head, *rows]))
    command, *rest = arguments.format(*paths).split()
    cli.main([command, *rest, "--attribute", "group", "--quiet"])
    out, said = capsys.readouterr()
    advice = out.split("\nReproduce")[0] + said
    assert advice and flags_in(advice) <= flags_of(command)


def test_help_of_a_threshold_names_the_limits_that_others_require(capsys):
    with pytest.raises(SystemExit):
        cli.main(["threshold", "--help"])
    shown = "".join(capsys.readouterr().out.split())  # lines break after hyphens
    assert "FNMRallowedofeachgroup;requires--max-fmr" in shown
    assert "FNIRallowedofeachgroup;requires--max-fpir" in shown


# ---- one table -----------------------------------------------------------------------

READING = "audit identify compare threshold plan monitor bench".split()
# Flags of all that read embeddings, of those that read pairs too, and of searches.
BESIDE = "--metadata --on --image --embedding --labels"
OF_PAIRS = "--trials --probes --references --domain --identity-1 --identity-2 --layout"
OF_PAIRS += " --image-1 --image-2 --score --distance --mated-only --non-mated-only"
OF_SEARCHES = (
    "--gallery --gallery-labels --candidates --search --candidate --listed-from"
)
EXCEPTIONS = {(row[0], row[2]): row[1] for row in rows_of(_options.EXCEPTIONS)}


@pytest.mark.parametrize("command", READING)
def test_commands_that_read_data_have_the_same_flags(command):
    asked = "--attribute --identity --confidence-level --quiet"
    if command != "monitor":  # reads logs alone
        asked += f" {BESIDE}"
    if command in ("audit", "compare", "threshold", "plan"):
        asked += f" {OF_PAIRS}"
    if command in ("identify", "compare", "threshold"):
        asked += f" {OF_SEARCHES} --template --rank --score --distance"
    if command in ("audit", "monitor"):
        asked += " --accepted --attempt --time --dates"
    if command != "plan":  # prints numbers
        asked += " --out --replace --format"
    assert {*asked.split()} - flags_of(command) == set()


def meaning_of(action):
    """All that a flag means, but that compare takes it of each system."""
    each = f"; {AGAIN}, for each system in their order"
    kind = argparse._StoreAction if action.help.endswith(each) else type(action)
    how = action.dest, action.nargs, str(action.choices), action.default, action.metavar
    return action.help.removesuffix(each), kind, action.type, action.required, *how


def test_flag_of_several_commands_has_one_meaning():
    """Help, type, choices, value and argument, unless the table gives a reason."""
    meanings = {}
    for command, flag, action in EVERY_FLAG:
        if (command, flag) not in EXCEPTIONS:
            meanings.setdefault(flag, {}).setdefault(meaning_of(action), command)
    assert len(meanings) > 90
    several = {flag: of.values() for flag, of in meanings.items() if len(of) > 1}
    assert several == {}


def test_exceptions_of_the_table_are_needed_and_have_a_reason():
    usual = {(n, row[2]): row for row in rows_of(OPTIONS) for n in row[1].split()}
    assert {*EXCEPTIONS} - {*usual} == set()
    for command, _, flag, *own in rows_of(_options.EXCEPTIONS):
        assert own != usual[command, flag][3:]
    assert all(len(reason.split()) > 3 for reason in EXCEPTIONS.values())


def test_every_option_is_of_commands_that_there_are_and_in_the_table_once():
    rows = [*rows_of(OPTIONS)]
    assert {word for row in rows for word in row[1].split()} == {*COMMANDS}
    flags = [row[2] for row in rows if row[2].startswith("--")]
    assert len(flags) == len(set(flags))
    assert {*RARE} <= {flag[2:].replace("-", "_") for flag in flags}


def test_flag_of_other_commands_is_refused_with_their_names(capsys):
    said = refusal_of(capsys, "bench", "a.npz", "--trials", "t.txt")
    assert "unrecognized arguments: --trials." in said
    having = "It is an option of audit, compare, explain, plan, threshold."
    assert said.endswith(f"{having} {ALL_PAIRS}\n")
    said = refusal_of(capsys, "identify", "a.npz", "--trials", "t.txt")
    assert said.endswith(f"{having}\n")


# ---- help ----------------------------------------------------------------------------

EXAMPLES = [
    (name, line)
    for name, (*_, examples) in COMMANDS.items()
    for line in examples.splitlines()
]


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_examples_of_help_can_be_typed(name, line, capsys):
    """Each is parsed, and calls only options that the command knows."""
    program, command, *rest = shlex.split(line)
    assert (program, command) == ("skfairfr", name)
    assert parse([command, *rest]).command == name
    assert line in help_of(capsys, name)


def help_of(capsys, *words):
    """What help of a command prints, which ends with status 0."""
    with pytest.raises(SystemExit) as stop:
        cli.main([*words, "--help"])
    assert stop.value.code == 0
    return capsys.readouterr().out


def test_every_command_has_three_examples_and_its_exit_statuses(capsys):
    names = [name for name, _ in EXAMPLES]
    assert {names.count(name) for name in COMMANDS} == {3}
    assert set(names) == {*COMMANDS}
    for name in COMMANDS:
        ending = help_of(capsys, name).partition("\nexit status:\n")[2].splitlines()
        codes = [int(line.split()[0]) for line in ending]
        own = OWN_STATUS.get(name, {})
        assert codes == sorted({0, 2, 4, 130} | own.keys())


@pytest.mark.parametrize("words", [[], ["help"], ["--help"], ["-h"]])
def test_help_without_a_command_groups_all_commands(capsys, words):
    with pytest.raises(SystemExit) as stop:
        cli.main(words)
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    grouped = " ".join(GROUPS.values()).split()
    assert sorted(grouped) == sorted(COMMANDS)
    order = [shown.index(f"\n  {name} ") for name in grouped]
    assert order == sorted(order)
    assert max(map(len, shown.splitlines())) <= 80


def test_help_of_a_command_has_two_spellings(capsys):
    with pytest.raises(SystemExit):
        cli.main(["help", "audit"])
    assert capsys.readouterr().out == help_of(capsys, "audit")
