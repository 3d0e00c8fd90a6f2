"""Blocks of work over joblib workers or threads, with an optional progress bar.

One layer is parallel at a time: inside workers and threads, BLAS is limited to one thread.
A joblib process starts with its share of the cores in environment variables that BLAS and
OpenMP read; a joblib thread has no number of its own, and one thread is its share.
"""

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache, partial
from itertools import starmap
from multiprocessing import current_process
from threading import Event, Lock, Thread, current_thread, local, main_thread

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

from skfairfr._core import _cluster
from skfairfr._core._cluster import WorkersEndedError

# False, True (a bar for every long loop) or the _Steps of a long task.
_SHOWN = ContextVar("skfairfr_progress_shown", default=False)
# Loops that take most of a step of large data, and how much of the step is theirs.
LONG, SHARE_OF_LONG = ("comparing all pairs", "counting all scores"), 0.9
# For each worker, where results do not come one by one.
TASKS_AT_A_TIME = 8
# Steps take unlike times: what is left of the time cannot be determined.
FORMAT = "{percentage:3.0f}%|{bar}| {desc} [{elapsed}]"
# How often work is given to worker processes before it is given up.
ATTEMPTS = 2


@contextmanager
def show_progress(shown=True, n_steps=None):
    """Draw a bar on standard error for every long loop inside, or one for all of them.

    Parameters
    ----------
    shown : bool, default=True
    n_steps : int, default=None
        Number of calls of :func:`next_step` to come: one bar is drawn for all of them.
    """
    steps = _Steps(n_steps) if shown and n_steps else None
    token = _SHOWN.set(steps or shown)
    try:
        yield
    finally:
        _SHOWN.reset(token)
        if steps is not None:
            steps.bar.close()


def next_step(description):
    """Begin the next step of a task that ``show_progress`` knows the number of."""
    steps = _SHOWN.get()
    if isinstance(steps, _Steps):
        steps.begin(description)


def progress_bar(total, description):
    """A bar on standard error, drawn only inside ``show_progress``."""
    shown = _SHOWN.get()
    if isinstance(shown, _Steps):
        return _Loop(shown, total, description)
    return _Bar(total=total, desc=description, disable=not shown, leave=False)


class _Bar(tqdm):
    """A bar without tqdm's thread.

    tqdm starts one for every bar, shown or not, and warns where it cannot. The thread redraws
    bars whose steps have become slow; with ``miniters`` of 1 every step looks at the clock.
    """

    monitor_interval = 0

    def __init__(self, **options):
        super().__init__(**({"miniters": 1} | options))


class _Steps:
    """One bar over the steps of a task; the long loops of a step move it on."""

    def __init__(self, total):
        self.bar = _Bar(total=total, bar_format=FORMAT, leave=False, miniters=0)
        self.begun, self.step = 0, ""

    def begin(self, description):
        self.step = f"{description} (step {self.begun + 1} of {self.bar.total})"
        self.bar.set_description_str(self.step, refresh=False)
        self.begun += 1
        self.reach(0)  # all earlier steps are done
        self.bar.refresh()

    def reach(self, within):
        """Move on to a share of the step; never back."""
        self.bar.update(max(max(self.begun - 1, 0) + within - self.bar.n, 0))


class _Loop:
    """What a loop shows of itself on the bar of all steps."""

    def __init__(self, steps, total, description):
        self.steps, self.total, self.description = steps, total, description
        self.n = 0
        self.from_here = steps.bar.n - max(steps.begun - 1, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.steps.bar.set_description_str(self.steps.step, refresh=False)

    def update(self, n=1):
        self.n += n
        share = self.n / max(self.total, 1)
        text = f"{self.steps.step}: {self.description} {100 * share:.0f} %"
        self.steps.bar.set_description_str(text, refresh=False)
        if self.description in LONG:
            left = SHARE_OF_LONG * (1 - self.from_here)
            self.steps.reach(self.from_here + left * share)
        else:
            self.steps.bar.update(0)


@cache
def _controller():
    return ThreadpoolController().select(user_api="blas")


def is_sharing_worker():
    """Whether this is one of several workers that share the threads of all cores.

    These are the threads of joblib's back ends, and the processes of ``multiprocessing``,
    which are forked and keep the numbers of threads of their parent.
    """
    backend, _ = get_active_backend()
    if not getattr(backend, "nesting_level", 0):
        return False
    return current_thread() is not main_thread() or current_process().daemon


@contextmanager
def own_threads():
    """Limit BLAS to the share of a worker that shares the cores; otherwise do nothing."""
    with ONE_BLAS_THREAD if is_sharing_worker() else nullcontext():
        yield


def n_threads():
    """Number of threads that BLAS may use; a limit set on BLAS also limits the package."""
    if is_sharing_worker():
        return 1
    return min([cpu_count(), *(blas["num_threads"] for blas in _controller().info())])


def n_workers():
    """Number of workers that blocks should keep busy: threads, or those of a cluster."""
    cluster = _cluster.active_backend()
    if cluster is None or _cluster.inside_task():
        return n_threads()
    return max(n_threads(), cluster.effective_n_jobs(-1))


class _SharedLimit:
    """Limits BLAS to one thread for callers that may overlap; the last one restores.

    The limit holds for the whole process: concurrent callers that each restored the limit
    they had found could leave it at one for good. Since threadpoolctl lets one thread at a
    time change it, a thread of our own sets the limit and restores it.
    """

    def __init__(self):
        self._lock, self._inside, self._holder = Lock(), 0, None
        self._of_thread = local()

    def __enter__(self):
        blas = _controller()
        with self._lock:
            if self._inside == 0 and _has_threads(blas):
                self._holder = _LimitHolder()
            self._inside += 1
        # The caller may be the thread that may change it, or BLAS may keep a number for
        # each thread.
        limits = self._of_thread.__dict__.setdefault("limits", [])
        limits.append(blas.limit(limits=1) if _has_threads(blas) else None)

    def __exit__(self, *_):
        # A generator may be closed in another thread than the one that began it.
        limits = self._of_thread.__dict__.get("limits")
        limit = limits.pop() if limits else None
        if limit is not None:
            limit.restore_original_limits()
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._holder is not None:
                self._holder.end()
                self._holder = None


def _has_threads(blas):
    return any(library["num_threads"] > 1 for library in blas.info())


class _LimitHolder(Thread):
    """A thread in which BLAS is limited to one thread until it ends."""

    def __init__(self):
        super().__init__(daemon=True)
        self._begun, self._ended = Event(), Event()
        self.start()
        self._begun.wait()

    def run(self):
        try:
            with _controller().limit(limits=1):
                self._begun.set()
                self._ended.wait()
        finally:
            self._begun.set()

    def end(self):
        self._ended.set()
        self.join()


ONE_BLAS_THREAD = _SharedLimit()


def _limit_this_thread():
    """Limit a BLAS that keeps a number for each thread, in a thread of our own."""
    _controller().limit(limits=1)


def over_blocks(
    function,
    tasks,
    n_jobs,
    description,
    sizes=None,
    shared=(),
    add=None,
    most=None,
):
    """Results of ``function(*shared, *task)`` for every task, in order.

    With one worker, tasks share the threads that BLAS would use. BLAS uses one thread in
    each task: products are then equal in every bit for any number of threads or workers.

    Parameters
    ----------
    function : callable
        It should release the GIL where it takes long.
    tasks : list of tuples
        Arguments that go with each task; small ones.
    n_jobs : int or None
        As in scikit-learn; the joblib back end is the caller's choice.
    description : str
        Text of the progress bar.
    sizes : list of int, default=None
        How much each task counts on the progress bar.
    shared : tuple, default=()
        First arguments of all tasks. Large arrays in them, also those inside of objects,
        reach other processes once: as memory maps from joblib's processes, by the network
        from a Dask cluster. No task may change them.

    add : callable, default=None
        ``add(total, result)`` gives the total with one more result, which may be the first
        argument changed. The total of all results is returned then, and no more of them is
        held than necessary.
    most : int, default=None
        Threads, or joblib's workers, that work at the same time at most: each takes memory.
        The workers of a cluster have memory of their own and all take part.

    Returns
    -------
    results : list, or the total
    """
    sizes = [1] * len(tasks) if sizes is None else sizes
    bar = progress_bar(sum(sizes), description)
    cluster = _cluster.active_backend()
    if most is not None and cluster is None:
        n_jobs = min(effective_n_jobs(n_jobs), most)
    several = effective_n_jobs(n_jobs) > 1 and len(tasks) > 1
    if cluster is not None and _cluster.inside_task():
        several = False  # the tasks around this one keep the cluster busy
    threads = 0 if several else min(n_threads(), most or n_threads())
    pool = nullcontext()
    if threads > 1:
        pool = ThreadPoolExecutor(threads, initializer=_limit_this_thread)
    collected = []
    with bar, ONE_BLAS_THREAD, pool:
        if threads == 1:
            results = starmap(partial(function, *shared), tasks)
        elif threads:
            results = pool.map(partial(function, *shared), *zip(*tasks, strict=True))
        elif cluster is not None:
            shared = (function, *shared)
            arguments = (_with_one_blas_thread, tasks, shared, description)
            results = _in_order(_cluster.results(cluster, *arguments))
        else:
            arguments = (_with_one_blas_thread, tasks, n_jobs, description)
            results = in_workers(*arguments, shared=(function, *shared))
        for result, size in zip(results, sizes, strict=True):
            if add is not None and collected:
                collected[0] = add(collected[0], result)
            else:
                collected.append(result)
            bar.update(size)
    return collected if add is None else collected[0]


def in_workers(function, tasks, n_jobs, description, shared=()):
    """Results of ``function(*shared, *task)``, in order, from joblib's workers.

    A worker that ends before its work is done, as the system ends one where memory runs
    out, takes all others along; what they had not finished is computed once more.

    Parameters
    ----------
    function, tasks, n_jobs, description, shared
        As of :func:`over_blocks`. The joblib back end is the caller's choice.

    Yields
    ------
    result : object
        As soon as it is there.

    Raises
    ------
    WorkersEndedError
        If a worker ended again.
    """
    left, error = list(tasks), None
    for _ in range(ATTEMPTS):
        n_done = 0
        try:
            for result in joblib_results(partial(function, *shared), left, n_jobs):
                n_done += 1
                yield result
            return
        except BrokenProcessPool as ended:
            left, error = left[n_done:], ended
    raise WorkersEndedError(
        f"A worker process ended {ATTEMPTS} times while {description}, probably because "
        "memory ran out: give fewer workers (n_jobs=1 starts none), or free memory."
    ) from error


def joblib_results(function, tasks, n_jobs):
    """Results of ``function(*task)`` for every task, in order, each as soon as it is there.

    A back end that cannot do so, such as "multiprocessing", is given a few tasks at a
    time, so that no more of the results is held.
    """
    backend, _ = get_active_backend()
    if getattr(backend, "supports_return_generator", False):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
        yield from parallel(delayed(function)(*task) for task in tasks)
        return
    size = TASKS_AT_A_TIME * effective_n_jobs(n_jobs)
    with Parallel(n_jobs=n_jobs) as parallel:
        for start in range(0, len(tasks), size):
            some = tasks[start : start + size]
            yield from parallel(delayed(function)(*task) for task in some)


def in_threads(function, tasks):
    """Results of ``function(*task)`` for every task, in order, on the threads of BLAS.

    For short work that releases the GIL and calls no BLAS: limiting BLAS, as
    :func:`over_blocks` does, takes longer.
    """
    if len(tasks) < 2 or n_threads() < 2:
        return list(starmap(function, tasks))
    with ThreadPoolExecutor(n_threads()) as pool:
        return list(pool.map(function, *zip(*tasks, strict=True)))


def _with_one_blas_thread(function, *arguments):
    with ONE_BLAS_THREAD:
        return function(*arguments)


def _in_order(numbered):
    """Results in the order of their numbers, which are 0, 1, 2 and so on."""
    waiting, following = {}, 0
    for number, result in numbered:
        waiting[number] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1
