"""Run cases, and count how they end.

A case ends in one of OUTCOMES. Those of FAILURES are faults of the package: an exception of
another kind than it promises, or that no line of the package or of scikit-learn raised on
purpose; more than CPU_SECONDS of work, or WAITING_SECONDS of waiting; more than MEMORY bytes
beyond what earlier cases took.
"""

import faulthandler
import linecache
import multiprocessing
import os
import random
import re
import resource
import signal
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path

import joblib
import numpy as np
import sklearn

import skfairfr

OUTCOMES = ("clean", "same", "different", "traceback", "hang", "memory")
FAILURES = OUTCOMES[3:]
CPU_SECONDS = 20
# A case that waits, as for a pipe without a writer, spends no CPU time. On a busy machine all
# of them wait longer.
WAITING_SECONDS = 20
MEMORY = 2**30
# Above what a process holds when its cases begin; allocations beyond it raise MemoryError.
ADDRESS_SPACE = 6 * 2**30
BATCH = 100
# A refusal is raised on purpose by a file under one of these.
REFUSING = tuple(str(Path(package.__file__).parent) for package in (skfairfr, sklearn))
# Its messages about arrays, and joblib's about n_jobs, are known to everybody.
ARRAYS = str(Path(sklearn.__file__).parent / "utils")
WORKERS = str(Path(joblib.__file__).parent)


class Refused(Exception):
    """Something else than an exception said why it took no input, as the command does."""


@dataclass(frozen=True)
class Case:
    """Something to run, and what the undamaged version of it gave.

    Attributes
    ----------
    run : callable
    usual : object
        What :func:`summary` gives of the undamaged result.
    shown : str
        Says how to run it again.
    errors : tuple of exception types
        Those that are refusals.
    seconds : float
        Of the processor, that the undamaged version takes where it takes seconds. The limits
        are longer by three times as much.
    """

    run: object
    usual: object
    shown: str
    errors: tuple = (ValueError, OSError)
    seconds: float = 0.0


@dataclass
class Count:
    """How many cases ended in which way, and the texts of failures."""

    outcomes: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)

    def add(self, where, outcome, text):
        self.outcomes[outcome] += 1
        if outcome in FAILURES:
            self.failures.append(f"{where}: {outcome}\n{text}")


def random_of(seed, k):
    """What draws case k: the same in every process, whatever was drawn before."""
    return random.Random(f"{seed} {k}")


def judged(case):
    """The outcome of a case, and for a failure a text."""
    before = _most_held()
    try:
        result = case.run()
    except MemoryError as error:
        return "memory", _told(case, error)
    except (*case.errors, RuntimeError) as error:
        if not is_on_purpose(error):
            return "traceback", _told(case, error)
        outcome = "clean"
    except (Exception, SystemExit) as error:
        return "traceback", _told(case, error)
    else:
        outcome = "same" if summary(result) == case.usual else "different"
    above = _most_held() - before
    if above > MEMORY:
        return "memory", f"{above / 2**20:.0f} MB more\n{case.shown}"
    return outcome, ""


def _told(case, error):
    return "".join(traceback.format_exception(error)[-8:]) + case.shown


def _most_held():
    """The most bytes that this process has held."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def is_on_purpose(error):
    """Whether a ``raise`` of this package or scikit-learn's check of arrays raised it.

    So did the system, if the error names a file.
    """
    named = isinstance(error, OSError) and error.filename is not None
    # Python's words about a path that is none, and torch's about a tensor.
    is_plain = isinstance(error, UnicodeEncodeError) or re.search(
        r"os\.PathLike|null (byte|character)|requires grad", str(error)
    )
    if named or isinstance(error, Refused) or is_plain:
        return True
    frame = error.__traceback__
    while frame.tb_next is not None:
        frame = frame.tb_next
    path = frame.tb_frame.f_code.co_filename
    line = linecache.getline(path, frame.tb_lineno).strip()
    refused = path.startswith(REFUSING) and line.startswith("raise ")
    return refused or path.startswith((ARRAYS, WORKERS))


def summary(value):
    """Something equal for equal results: arrays by their bytes, objects by what they hold."""
    if isinstance(value, np.ndarray):
        plain = value.tolist() if value.dtype.hasobject else value.tobytes()
        return value.shape, value.dtype.str, repr(plain)
    if isinstance(value, dict):
        return [(repr(key), summary(held)) for key, held in value.items()]
    if isinstance(value, list | tuple):
        return [summary(held) for held in value]
    if is_dataclass(value):
        return [summary(getattr(value, f.name)) for f in fields(value)]
    plain = bool | int | float | str | bytes | np.generic | None
    return repr(value) if isinstance(value, plain) else type(value).__name__


# ---- in processes of their own ----------------------------------------------------------


def count(module, n_cases, seed=0, first=0):
    """Run cases in copies of this process, which they cannot harm.

    Parameters
    ----------
    module : module
        Its ``cases(seed, first, n_cases)`` yields cases that depend on seed and number alone;
        its ``prepare()`` makes what they share.
    n_cases, seed, first : int

    Returns
    -------
    found : Count
    """
    for number in (signal.SIGPROF, signal.SIGALRM):
        faulthandler.register(number, chain=True)
    # Small data are warned of, and copies of a process with threads.
    warnings.simplefilter("ignore")
    if n_cases >= BATCH:
        module.prepare()
    name = module.__name__.rpartition(".")[2]
    found, last = Count(), first + n_cases
    while first < last:
        size = min(BATCH, last - first)
        for outcome, text in _in_a_copy(module.cases, seed, first, size):
            again = f"--only {name} --seed {seed} --first {first} --cases 1"
            found.add(f"python -m tests.fuzz {again}", outcome, text)
            first += 1
    return found


def _in_a_copy(cases, *numbers):
    """Outcome and text of every case; a hang or a crash is the last."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    copy = os.fork()
    if copy == 0:
        try:
            _run(theirs, cases(*numbers))
        except BaseException:
            traceback.print_exc()
            os._exit(70)
        os._exit(0)
    theirs.close()
    shown = ""
    while True:
        try:
            outcome, text = ours.recv()
        except EOFError:
            break
        if outcome is None:
            shown = text
        else:
            yield outcome, text
    code = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
    if code in (-signal.SIGPROF, -signal.SIGALRM):
        yield "hang", f"its place is printed above\n{shown}"
    elif code:
        yield "traceback", f"the process ended with {code}\n{shown}"


def _run(line, cases):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for case in cases:
        line.send((None, case.shown))
        more = 3 * case.seconds
        busy = max(1.0, os.getloadavg()[0] / os.cpu_count())
        # Without a handler, a timer that ends ends the process.
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS + more)
        signal.setitimer(signal.ITIMER_REAL, busy * (WAITING_SECONDS + more))
        found = judged(case)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        line.send(found)
