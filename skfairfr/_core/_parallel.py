"""Blocks of work over joblib's workers or threads, a progress bar, and an estimate of memory.

Inside a block BLAS has one thread: results are the same for any number of workers.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from itertools import starmap
from threading import Lock, current_thread, main_thread

import numpy as np
from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

# False, True (a bar for every loop) or the one bar over the steps of a task.
_SHOWN = ContextVar("skfairfr_progress_shown", default=False)
# Steps take unlike times: what is left of the time cannot be determined.
FORMAT = "{percentage:3.0f}%|{bar}| {desc} [{elapsed}]"
# Seconds between two lines, at least.
EVERY = 10.0
_LIMITING = Lock()


# ---- progress ------------------------------------------------------------------------


class _Bar(tqdm):
    """A bar without tqdm's thread, which it would start for bars that are not shown too."""

    monitor_interval = 0


class _Lines:
    """Text of a bar, as lines on standard error."""

    def __init__(self):
        self.shown_at = time.monotonic()

    def write(self, text):
        """Print what the bar shows, if it is time for a line."""
        # A bar may write several states at once, each after a return.
        text, now = text.strip().rpartition("\r")[2].strip(), time.monotonic()
        if text and now - self.shown_at >= EVERY:
            self.shown_at = now
            print(text, file=sys.stderr, flush=True)

    def flush(self):
        """Nothing is kept back."""


@contextmanager
def show_progress(shown=True, n_steps=None):
    """Draw a bar on standard error for every loop inside, or one over so many steps.

    Where standard error is no terminal, the bar is a line at most every ten seconds.
    """
    if shown and not (sys.stderr and sys.stderr.isatty()):
        shown = sys.stderr is not None and _Lines()
    if shown and n_steps:
        file = None if shown is True else shown
        shown = _Bar(total=n_steps, bar_format=FORMAT, leave=False, file=file)
        shown.step, shown.begun = "", 0
    token = _SHOWN.set(shown)
    try:
        yield
    finally:
        _SHOWN.reset(token)
        if isinstance(shown, _Bar):
            shown.close()


def next_step(description):
    """Begin the next step of a task that ``show_progress`` knows the number of."""
    bar = _SHOWN.get()
    if isinstance(bar, _Bar):
        bar.update(bar.begun - bar.n)  # all earlier steps are done
        bar.begun += 1
        bar.step = f"{description} (step {bar.begun} of {bar.total})"
        bar.set_description_str(bar.step)


def progress_bar(total, description):
    """A context whose value has ``update``. It is drawn only inside ``show_progress``."""
    shown = _SHOWN.get()
    if isinstance(shown, _Bar):
        return _Loop(shown, total, description)
    about = {
        "total": total,
        "desc": description,
        "file": None if isinstance(shown, bool) else shown,
    }
    return _Bar(**about, disable=not shown, leave=False, miniters=1)


class _Loop:
    """Progress of a loop on the bar over all steps."""

    def __init__(self, bar, total, description):
        self.bar, self.total, self.description, self.n = bar, total, description, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.bar.set_description_str(self.bar.step)

    def update(self, n=1):
        self.n += n
        share = 100 * self.n / max(self.total, 1)
        text = f"{self.bar.step}: {self.description} {share:.0f} %"
        self.bar.set_description_str(text)


# ---- threads and workers -------------------------------------------------------------


@cache
def _blas():
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread():
    """A context in which BLAS has one thread: products are then equal in every bit.

    If callers overlap, the one that finds more threads sets and restores the limit. Another
    would restore the number it found, and leave one thread for good.
    """
    with _LIMITING:
        if all(library["num_threads"] == 1 for library in _blas().info()):
            return nullcontext()
        return _blas().limit(limits=1)


def is_sharing_worker():
    """Whether this is one of joblib's threads, which share the cores."""
    backend, _ = get_active_backend()
    nested = getattr(backend, "nesting_level", None)
    return bool(nested) and current_thread() is not main_thread()


def n_threads():
    """Number of threads that BLAS may use. A limit set on BLAS also limits the package."""
    if is_sharing_worker():
        return 1
    return min([cpu_count(), *(library["num_threads"] for library in _blas().info())])


def over_blocks(function, tasks, n_jobs, description, sizes=None, shared=()):
    """Results of ``function(*shared, *task)`` for every task, in order.

    With one worker, tasks share the threads that BLAS would use.

    Parameters
    ----------
    function : callable
        It should release the GIL where it takes long.
    tasks : list of tuples
    n_jobs : int or None
        As in scikit-learn. The joblib back end is the caller's choice.
    description : str
        Text of the progress bar.
    sizes : list of int, default=None
        How much each task counts on the progress bar.
    shared : tuple, default=()
        First arguments of all tasks, which no task may change.

    Returns
    -------
    results : list
    """
    sizes = [1] * len(tasks) if sizes is None else sizes
    threads, collected, call = n_threads(), [], partial(function, *shared)
    bar, pool = progress_bar(sum(sizes), description), ThreadPoolExecutor(threads)
    with bar, pool, one_blas_thread():
        if effective_n_jobs(n_jobs) > 1 and len(tasks) > 1:
            parallel = Parallel(n_jobs=n_jobs, return_as="generator")
            common = _Shared(call)
            results = parallel(delayed(_compute)(common, *task) for task in tasks)
        elif threads > 1 and len(tasks) > 1:
            results = pool.map(call, *zip(*tasks, strict=True))
        else:
            results = starmap(call, tasks)
        for result, size in zip(results, sizes, strict=True):
            collected.append(result)
            bar.update(size)
    return collected


@dataclass(eq=False)
class _Shared:
    """A function with its first arguments. Joblib sends what is large to Dask once."""

    call: Callable

    def __sizeof__(self):
        return 2**20


def _compute(shared, *task):
    with one_blas_thread():
        return shared.call(*task)


# ---- memory, before a comparison of all pairs begins ---------------------------------

# Largest number of bytes in memory per stored pair with its results, and per genuine pair.
OF_HELD, OF_GENUINE = 76, 100


def available_bytes():
    """Memory that the system reports as available. All of it, or inf, if it reports less."""
    try:
        with open("/proc/meminfo") as file:
            memory = dict(line.split(":") for line in file)
        return 1024.0 * int(memory["MemAvailable"].split()[0])
    except (OSError, KeyError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def comparison_bytes(identity, groupings, side, n_features, depth, keep):
    """Bytes that comparing all pairs takes next to the embeddings given, about.

    Parameters
    ----------
    identity : ndarray of int, shape (n_images,)
    groupings : list of ndarray of int, shape (n_images,)
        -1 is unknown.
    side : ndarray of int, shape (n_images,), or None
    n_features : int
    depth : float
        Share of a scope's pairs that is stored.
    keep : tuple of two ints
        Pairs up to which the overall scope, and a group, is stored whole.
    """
    overall = _pairs_within(np.zeros_like(identity), side)
    held = overall * np.where(overall <= keep[0], 1.0, depth)
    for codes in groupings:
        n_pairs = _pairs_within(codes, side)
        held = held + (n_pairs * np.where(n_pairs <= keep[1], 1.0, depth)).sum()
    n_genuine = _pairs_within(identity, side).sum()
    # Unit rows, and the same in the order of the pass.
    rows = 2 * 4 * identity.size * n_features
    return rows + OF_GENUINE * n_genuine + OF_HELD * min(held, overall).item()


def _pairs_within(codes, side):
    """Number of pairs within each group, float64 (n_groups,)."""
    size = codes.max(initial=0) + 1
    if side is None:
        counts = np.bincount(codes[codes >= 0], minlength=size).astype(float)
        return counts * (counts - 1) / 2
    first, second = (
        np.bincount(codes[(codes >= 0) & (side == s)], minlength=size) for s in (0, 1)
    )
    return first * second.astype(float)
