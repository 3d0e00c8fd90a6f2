"""Run cases, and count how they end.

A case ends in one of OUTCOMES. Those of FAILURES are faults of the package: an exception
that no docstring names, or that no line of the package or of scikit-learn raised on purpose;
more than CPU_SECONDS of work, or WAITING_SECONDS of waiting; more than MEMORY bytes beyond the input.
"""

import faulthandler
import linecache
import multiprocessing
import os
import resource
import signal
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from unittest import mock

import numpy as np
import sklearn

import skfairfr

OUTCOMES = ("clean", "same", "different", "traceback", "hang", "memory")
FAILURES = OUTCOMES[3:]
CPU_SECONDS = 10
# A case that waits, as for a pipe without a writer, spends no CPU time. Where more processes
# run than there are processors, all of them wait longer: see waiting_seconds.
WAITING_SECONDS = 10
MEMORY = 2**30
# Above what a process holds when its cases begin; allocations beyond it raise MemoryError.
ADDRESS_SPACE = 6 * 2**30
BATCH = 100
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    "1",
)
# A refusal is raised on purpose by a file under one of these.
REFUSING = tuple(str(Path(package.__file__).parent) for package in (skfairfr, sklearn))
# Its messages about arrays are known to everybody, also those that it takes from numpy.
ARRAYS = str(Path(sklearn.__file__).parent / "utils")


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
    shown : callable
        Gives a text that says how to run it again.
    errors : tuple of exception types
        Those that are documented.
    n_bytes : int
        Size of the input.
    seconds : float
        Of the processor, that the undamaged version takes on this machine where it takes
        seconds, as drawing all figures of a report does. The limits are longer by three
        times as much.
    """

    run: object
    usual: object
    shown: object
    errors: tuple = (ValueError, OSError)
    n_bytes: int = 0
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

    def line(self, name):
        """One line of a table."""
        counts = "".join(f"{self.outcomes[outcome]:>11}" for outcome in OUTCOMES)
        return f"{name:<22}{self.outcomes.total():>8}{counts}"


def judged(case):
    """The outcome of a case, and for a failure a text."""
    before = reset_peak()
    try:
        result = case.run()
    except MemoryError as error:
        return "memory", _told(case, error)
    except case.errors as error:
        if not is_on_purpose(error):
            return "traceback", _told(case, error)
        outcome, text = "clean", ""
    except (Exception, SystemExit) as error:
        return "traceback", _told(case, error)
    else:
        outcome, text = "same" if summary(result) == case.usual else "different", ""
    above = peak() - before - case.n_bytes
    if above > MEMORY:
        return "memory", f"{above / 2**20:.0f} MB above the input\n{case.shown()}"
    return outcome, text


def _told(case, error):
    lines = traceback.format_exception(error)
    return "".join(lines[-8:]) + case.shown()


def is_on_purpose(error):
    """Whether a ``raise`` of this package or scikit-learn's check of arrays raised it.

    So did the system, if the error names a file.
    """
    named = isinstance(error, OSError) and error.filename is not None
    # Python's words about a path that is none.
    if named or isinstance(error, Refused) or "os.PathLike" in str(error):
        return True
    frame = error.__traceback__
    while frame.tb_next is not None:
        frame = frame.tb_next
    path = frame.tb_frame.f_code.co_filename
    line = linecache.getline(path, frame.tb_lineno).strip()
    refused = path.startswith(REFUSING) and line.startswith("raise ")
    return refused or path.startswith(ARRAYS)


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
    if value is None or isinstance(
        value, bool | int | float | str | bytes | np.generic
    ):
        return repr(value)
    return type(value).__name__


@cache
def _status():
    path = Path("/proc/self/status")
    return path if path.exists() else None


def reset_peak():
    """Memory held now, in bytes, from which on the peak is counted; 0 where unknown."""
    if _status() is None:
        return 0
    Path("/proc/self/clear_refs").write_text("5")
    return _held("VmRSS")


def peak():
    """The most memory held since :func:`reset_peak`."""
    return 0 if _status() is None else _held("VmHWM")


def _held(name):
    text = _status().read_text()
    return int(text.partition(name + ":")[2].split(None, 1)[0]) * 1024


# ---- in processes of their own ----------------------------------------------------------


def count_apart(target, n_cases, seed=0, first=0):
    """Run cases in processes that cannot harm this one.

    Parameters
    ----------
    target : str
        ``module:function``; the function takes a seed, the number of the first case and how
        many there are, and yields that many cases. A case depends on seed and number alone.
    n_cases : int
    seed : int
    first : int

    Returns
    -------
    count : Count
    """
    count, server = Count(), _Server(target, n_cases)
    last = first + n_cases
    while first < last:
        size = min(BATCH, last - first)
        found = [*server.batch(seed, first, size)]
        for k, (outcome, text) in enumerate(found, first):
            if text is None:
                text = f"{server.ended}\n{server.shown(seed, k)}"
            count.add(reproducing(target, seed, k), outcome, text)
        first += len(found)
    server.end()
    return count


def reproducing(target, seed, k):
    """The command that runs one case alone."""
    name = target.partition(":")[0].rpartition(".")[2]
    return f"python -m tests.fuzz --only {name} --seed {seed} --first {k} --cases 1"


class _Server:
    """A process that has imported everything, and runs each batch in a copy of itself.

    A copy costs hundredths of a second, a process of its own many seconds. Batches begin
    alike, since what one of them changes ends with its copy.
    """

    def __init__(self, target, n_cases):
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        arguments = theirs, target, n_cases >= BATCH
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        # Threads of these libraries do not live on in a copy, which waits for them.
        with mock.patch.dict(os.environ, ONE_THREAD):
            self._process.start()
        theirs.close()

    def batch(self, seed, first, size):
        """Outcome and text of every case; a hang or a crash, without text, is the last."""
        self._line.send((seed, first, size, False))
        yield from iter(self._line.recv, None)
        code = self._line.recv()
        if code in (-signal.SIGPROF, -signal.SIGALRM):
            self.ended = "its place is printed above"
            yield "hang", None
        elif code:
            self.ended = f"the process ended with {code}"
            yield "traceback", None

    def shown(self, seed, k):
        """What is fed in a case, without running it."""
        self._line.send((seed, k, 1, True))
        found = [*iter(self._line.recv, None)]
        self._line.recv()
        return "\n".join(found)

    def end(self):
        self._line.close()
        self._process.join()


def _serve(line, target, many):
    """Run the batches that are asked for, until the line is closed."""
    for number in (signal.SIGPROF, signal.SIGALRM):
        faulthandler.register(number, chain=True)
    # Small data are warned of, and copies of a process with threads.
    warnings.simplefilter("ignore")
    module, name = target.split(":")
    module = import_module(module)
    if many and hasattr(module, "prepare"):
        module.prepare()
    while True:
        try:
            asked = line.recv()
        except EOFError:
            return
        copy = os.fork()
        if copy == 0:
            try:
                _run(line, getattr(module, name), *asked)
            except BaseException:
                traceback.print_exc()
                os._exit(70)
            os._exit(0)
        _, status = os.waitpid(copy, 0)
        line.send(None)
        line.send(os.waitstatus_to_exitcode(status))


def _run(line, cases, seed, first, size, shown_only):
    _limit_addresses()
    for case in cases(seed, first, size):
        if shown_only:
            line.send(case.shown())
            continue
        more = 3 * case.seconds
        _set_timers(CPU_SECONDS + more, waiting_seconds(WAITING_SECONDS + more))
        found = judged(case)
        _set_timers(0, 0)
        line.send(found)


def waiting_seconds(idle):
    """How long a case may last by the clock of the wall, on a machine as busy as this one.

    Parameters
    ----------
    idle : float
        How long on an idle machine.
    """
    return idle * max(1.0, os.getloadavg()[0] / os.cpu_count())


def _set_timers(cpu, waiting):
    """Without a handler, a timer that ends ends the process."""
    signal.setitimer(signal.ITIMER_PROF, cpu)
    signal.setitimer(signal.ITIMER_REAL, waiting)


def _limit_addresses():
    if _status() is not None:
        most = _held("VmSize") + ADDRESS_SPACE
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
