"""Lines of the command, some of whose words are wrong."""

import contextlib
import io
import re
import struct
import time
import warnings
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from skfairfr import cli
from tests.fuzz import files
from tests.fuzz.driver import Case, Refused, random_of

QUICK = "--fmr 0.2 --quiet"
FACES = f"audit faces.npz --attribute gender {QUICK}"
PAIRS = f"audit pairs.csv --attribute gender {QUICK}"
BOTH = "compare faces.npz faces.npz --attribute gender"
BENCH = "bench faces.npz --attribute gender --splits 2 --inner-splits 2 --methods"
# Lines that work, in a folder with the files of files.py.
LINES = (
    FACES.split(),
    f"{FACES} --max-fmr 0.5".split(),
    f"{FACES} --full --reference f".split(),
    f"{PAIRS} --format json".split(),
    f"{PAIRS} --format junit --max-bfar 9".split(),
    f"{PAIRS} --out report".split(),
    f"{BOTH} --embedding embedding --embedding later {QUICK}".split(),
    [*BENCH.split(), "group means out", *QUICK.split()],
    "plan --max-fnmr 0.01".split(),
    "plan --policy door.toml --assumed 0.1".split(),
    "plan --detect-factor 2 --fmr 0.1 --pilot faces.npz".split(),
)
# Others draw or measure, a tenth of a second each.
WEIGHTS = [1, 1, 1, 2, 2, 1, 1, 1, 8, 8, 4]
# What follows --out: nothing else does, so that no line writes outside its folder.
OUTS = (
    *("report", "a/b/c", "faces.npz", "pairs.csv/x", ".", "", " ", "é", "\ud800", "-"),
    *("a" * 3000, "/dev/null", "/dev/null/x", "x/../report", "a\0b", "report.html"),
)
WORDS = (
    *("", " ", "é", "\ud800", "a" * 3000, "--help"),
    *"- -- -1 0 1 1e-3 1e-400 nan inf -inf 1e400 0.5 1.0 10 2 x -h --attribute".split(),
    *"gender age identity score faces.npz pairs.csv door.toml . missing.npz".split(),
    *"/dev/null --fmr --threshold --quiet --distance @x identities images".split(),
    *"jackknife json html None True [1] %s {}".split(),
)


@cache
def flags():
    """Every flag that the help of a command names."""
    found = set()
    for command in ("audit", "compare", "bench", "plan", "demo"):
        found |= set(re.findall(r"--[a-z][a-z0-9-]+", _run((command, "--help"))[2]))
    # Work that grows with the number that follows, and other processes.
    return sorted(found - {"--n-jobs", "--help"})


def changed(words, rng):
    """The words of a line with one to three changes; the command's name stays."""
    words = list(words)
    for _ in range(rng.randint(1, 3)):
        draws = (rng.choice(WORDS), str(odd_float(rng)), odd_text(rng, 5))
        word, k = rng.choice(draws), rng.randint(1, len(words))
        kind = rng.choice(("replace", "insert", "delete", "swap", "flag"))
        if kind == "swap":
            words[k : k + 2] = words[k : k + 2][::-1]
        else:
            new = {"delete": [], "flag": [rng.choice(flags()), word]}.get(kind, [word])
            words[k : k + (kind in ("replace", "delete"))] = new
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
            status = cli.main(list(words))
        except SystemExit as ended:
            status = ended.code
    return status, err.getvalue(), out.getvalue()


def checked(words):
    """Exit status and output of a line; raises where it is refused, or a fault."""
    status, err, out = _run(words)
    if status == 2 and err.endswith("\n") and "error: " in err:
        raise Refused(err)
    if status not in (0, 1, 3) or "Traceback" in err:
        raise RuntimeError(f"exit status {status}\n{err}")
    return status, out


@cache
def _usual(k):
    """What a line that works gives, and how many seconds of the processor it takes."""
    started = time.process_time()
    found = [repr(part) for part in checked(LINES[k])]
    return found, time.process_time() - started


def cases(seed, first, n_cases):
    """Lines with wrong words."""
    for k in range(first, first + n_cases):
        rng = random_of(seed, k)
        (number,) = rng.choices(range(len(LINES)), WEIGHTS)
        words = changed(LINES[number], rng)
        run = partial(checked, words)
        usual, seconds = _usual(number)
        yield Case(run, usual, f"skfairfr {words!r}", (Refused,), seconds)


def odd_float(rng):
    """Any bits, or a number in [0, 1], or one of few digits."""
    chance = rng.random()
    if chance < 1 / 3:
        return struct.unpack("<d", rng.randbytes(8))[0]
    if chance < 2 / 3:
        return rng.random()
    return rng.randrange(-99, 100) * 10.0 ** rng.randrange(-9, 10)


def odd_text(rng, longest):
    """Characters of every kind; half of them are those that parsers know."""
    known = "\0\t\n\r \"'#%,-./:;<=[]\\_{}019aé\u202e\ud800\U0001f600"
    return "".join(
        rng.choice(known) if rng.random() < 0.5 else chr(rng.randrange(0x110000))
        for _ in range(rng.randint(0, longest))
    )
