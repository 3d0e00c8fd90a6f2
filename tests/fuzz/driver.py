"""Run a case, and name how it ends.

A case ends in one of OUTCOMES. Those of FAILURES are faults of the package: an exception of
another kind than it promises, or that no line of the package or of scikit-learn raised on
purpose; more seconds than TIMERS allow; more than MEMORY bytes beyond what earlier cases took.
"""

import linecache
import random
import re
import resource
import signal
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import joblib
import numpy as np
import sklearn

import skfairfr

OUTCOMES = ("clean", "same", "different", "traceback", "hang", "memory")
FAILURES = OUTCOMES[3:]
# Of the processor, and of waiting, as for a pipe without a writer, on a busy machine.
TIMERS = {
    signal.SIGPROF: (signal.ITIMER_PROF, 20),
    signal.SIGALRM: (signal.ITIMER_REAL, 300),
}
MEMORY = 2**30
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
        Of the processor, for the undamaged version. A case may take three times as much more.
    """

    run: object
    usual: object
    shown: str
    errors: tuple = (ValueError, OSError)
    seconds: float = 0.0


def random_of(seed, k):
    """What draws case k: the same in every process, whatever was drawn before."""
    return random.Random(f"{seed} {k}")


def judged(case):
    """The outcome of a case, and for a failure a text."""
    before = _most_held()
    try:
        with _alarm(3 * case.seconds):
            result = case.run()
    except MemoryError as error:
        return "memory", _told(case, error)
    except _Hang as error:
        return "hang", _told(case, error)
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


class _Hang(BaseException):
    """Which no handler of the package takes for an error of its own."""


@contextmanager
def _alarm(more):
    """Stop what takes longer than TIMERS and ``more`` seconds allow."""

    def stop(*_):
        raise _Hang

    before = {number: signal.signal(number, stop) for number in TIMERS}
    try:
        for timer, seconds in TIMERS.values():
            signal.setitimer(timer, seconds + more)
        yield
    finally:
        for number, (timer, _) in TIMERS.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])


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
