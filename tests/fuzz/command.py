"""Lines of the command, some of whose words are wrong."""

import contextlib
import io
import re
import time
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from skfairfr import cli
from tests.fuzz import files
from tests.fuzz.driver import Case, Refused, is_on_purpose
from tests.fuzz.mutation import random_of
from tests.fuzz.values import odd_float, odd_text

QUICK = ("--n-resamples", "10", "--fmr", "0.2", "--quiet")
PAIRS = ("audit", "pairs.csv", "--attribute", "gender", *QUICK)
# Lines that work, in a folder with the files of files.py.
LINES = (
    ("audit", "faces.npz", "--attribute", "gender", *QUICK),
    ("audit", "faces.npz", "--attribute", "gender", "--max-fmr", "0.5", *QUICK),
    (*PAIRS, "--format", "json"),
    (*PAIRS, "--format", "junit", "--max-bfar", "9"),
    ("compare", "faces.npz", "faces.npz", "--attribute", "gender", *QUICK),
    (
        *(
            "bench",
            "faces.npz",
            "--attribute",
            "gender",
            "--methods",
            "group means out",
        ),
        *("--splits", "2", "--inner-splits", "2", *QUICK),
    ),
    ("plan", "--certify-fmr", "0.01"),
    ("plan", "--policy", "door.toml", "--assumed", "0.1"),
    ("plan", "--detect-factor", "2", "--fmr", "0.1", "--pilot", "faces.npz"),
    ("--version",),
    (*PAIRS, "--out", "report"),
)
# Those of them that draw or measure, a tenth of a second each.
COSTS = {"audit": 2, "compare": 1, "bench": 1, "plan": 8, "--version": 1}
# What follows --out: nothing else does, so that no line writes outside its folder.
OUTS = (
    *("report", "a/b/c", "faces.npz", "pairs.csv/x", ".", "", " ", "é", "\ud800", "-"),
    *("a" * 3000, "/dev/null", "/dev/null/x", "x/../report", "a\0b", "report.html"),
)
WORDS = (
    *(
        "",
        " ",
        "-",
        "--",
        "-1",
        "0",
        "1",
        "1e-3",
        "1e-400",
        "nan",
        "inf",
        "-inf",
        "1e400",
    ),
    *(
        "0.5",
        "1.0",
        "10",
        "2",
        "x",
        "é",
        "\ud800",
        "a" * 3000,
        "--help",
        "-h",
        "--attribute",
    ),
    *("gender", "age", "identity", "score", "faces.npz", "pairs.csv", "door.toml", "."),
    *(
        "missing.npz",
        "/dev/null",
        "--fmr",
        "--threshold",
        "--quiet",
        "--distance",
        "@x",
    ),
    *(
        "identities",
        "images",
        "wilson",
        "json",
        "html",
        "None",
        "True",
        "[1]",
        "%s",
        "{}",
    ),
)


@cache
def flags():
    """Every flag that the help of a command names."""
    found = set()
    for command in ("audit", "compare", "bench", "plan", "demo"):
        found |= set(re.findall(r"--[a-z][a-z0-9-]+", _run((command, "--help"))[2]))
    # Work that grows with the number that follows, and other processes.
    return sorted(found - {"--n-jobs", "--n-resamples", "--help"})


def line(rng):
    """A line that works, and one to three changes of it: (kind, place, word, flag)."""
    weights = [COSTS[words[0]] for words in LINES]
    (k,) = rng.choices(range(len(LINES)), weights)
    return k, [_change(rng) for _ in range(rng.randint(1, 3))]


def _change(rng):
    word = rng.choice(
        (
            lambda: rng.choice(WORDS),
            lambda: str(odd_float(rng)),
            lambda: odd_text(rng, 5),
        )
    )()
    kind = rng.choice(("replace", "insert", "delete", "swap", "flag"))
    return kind, rng.randrange(13), word, rng.choice(flags())


def changed(words, changes):
    """The words of a line with changes; the command's name stays."""
    words = list(words)
    for kind, place, word, flag in changes:
        k = 1 + place % len(words)
        if kind == "replace":
            words[k : k + 1] = [word]
        elif kind == "insert":
            words.insert(k, word)
        elif kind == "flag":
            words[k:k] = [flag, word]
        elif kind == "delete":
            del words[k : k + 1]
        else:
            words[k : k + 2] = words[k : k + 2][::-1]
    return _kept_inside(words)


def _kept_inside(words):
    """The words, in which every folder to write into is one of OUTS."""
    kept = []
    for k, word in enumerate(words):
        follows = k > 0 and words[k - 1].startswith("--o")
        if follows and not word.startswith("--o") and word not in OUTS:
            word = OUTS[len(word) % len(OUTS)]
        name, equals, _ = word.partition("=")
        kept.append(f"{name}=report" if equals and name.startswith("--o") else word)
    return kept


class Fault(Exception):
    """The command ended as it never should."""


def _run(words):
    """Exit status, and what was printed, in a folder with the files of files.py."""
    out, err = io.StringIO(), io.StringIO()
    with (
        TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for reader in ("npz", "csv", "policy"):
            for file, data in files.undamaged(reader)[0].items():
                Path(file).write_bytes(data)
        try:
            with mock.patch.object(cli, "_in_flags", _told_on_purpose):
                status = cli.main(list(words))
        except SystemExit as ended:
            status = ended.code
    return status, err.getvalue(), out.getvalue()


def _told_on_purpose(error, spell=None, told=cli._in_flags):
    """What the command says of an error or a warning; another library's words are a fault."""
    if not isinstance(error, Warning) and not is_on_purpose(error):
        raise Fault from error
    return told(error, spell)


def checked(words):
    """Exit status and output of a line; raises where it is refused, or a fault."""
    status, err, out = _run(words)
    if status == 2 and err.endswith("\n") and "error: " in err:
        raise Refused(err)
    if status not in (0, 1, 3) or "Traceback" in err:
        raise Fault(f"exit status {status}\n{err}")
    return status, out


@cache
def _usual(k):
    """What a line that works gives, and how many seconds of the processor it takes."""
    checked(LINES[k])  # loads and compiles what it needs
    started = time.process_time()
    found = [repr(part) for part in checked(LINES[k])]
    return found, time.process_time() - started


def case(k, words):
    """A case of other words in place of a line that works."""
    usual, seconds = _usual(k)
    shown = f"skfairfr {words!r}"
    return Case(
        lambda: checked(words), usual, lambda: shown, (Refused,), seconds=seconds
    )


def cases(seed, first, n_cases):
    """Lines with wrong words.

    Parameters
    ----------
    seed, first, n_cases : int
    """
    for k in range(first, first + n_cases):
        number, changes = line(random_of(seed, k))
        yield case(number, changed(LINES[number], changes))


def prepare():
    """Run the lines that work, before the processes that run others are copied."""
    flags()
    for k in range(len(LINES)):
        _usual(k)
