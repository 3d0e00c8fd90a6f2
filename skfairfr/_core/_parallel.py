"""Blocks of work over joblib workers or threads, with an optional progress bar.

One layer is parallel at a time: inside workers and threads, BLAS is limited to one thread.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache, partial
from threading import Lock

from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController, threadpool_limits
from tqdm import tqdm

from skfairfr._core import _cluster

_SHOWN = ContextVar("skfairfr_progress_shown", default=False)


@contextmanager
def show_progress(shown=True):
    """Draw a progress bar on standard error for every long loop inside."""
    token = _SHOWN.set(shown)
    try:
        yield
    finally:
        _SHOWN.reset(token)


@cache
def _controller():
    return ThreadpoolController().select(user_api="blas")


def n_threads():
    """Number of threads that BLAS may use; a limit set on BLAS also limits the package."""
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
    they had found could leave it at one for good.
    """

    def __init__(self):
        self._lock, self._inside, self._limits = Lock(), 0, None

    def __enter__(self):
        with self._lock:
            if self._inside == 0:
                self._limits = threadpool_limits(1)
            self._inside += 1

    def __exit__(self, *_):
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()


ONE_BLAS_THREAD = _SharedLimit()


def over_blocks(function, tasks, n_jobs, description, sizes=None, shared=(), add=None):
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

    Returns
    -------
    results : list, or the total
    """
    sizes = [1] * len(tasks) if sizes is None else sizes
    bar = tqdm(
        total=sum(sizes), desc=description, disable=not _SHOWN.get(), leave=False
    )
    cluster = _cluster.active_backend()
    several = effective_n_jobs(n_jobs) > 1 and len(tasks) > 1
    if cluster is not None and _cluster.inside_task():
        several = False  # the tasks around this one keep the cluster busy
    pool = nullcontext() if several else ThreadPoolExecutor(n_threads())
    collected = []
    with bar, ONE_BLAS_THREAD, pool:
        if not several:
            call = partial(function, *shared)
            results = pool.map(call, *zip(*tasks, strict=True))
        elif cluster is not None:
            shared = (function, *shared)
            arguments = (_with_one_blas_thread, tasks, shared, description)
            results = _in_order(_cluster.results(cluster, *arguments))
        else:
            call = delayed(_with_one_blas_thread)
            parallel = Parallel(n_jobs=n_jobs, return_as="generator")
            results = parallel(call(function, *shared, *task) for task in tasks)
        for result, size in zip(results, sizes, strict=True):
            if add is not None and collected:
                collected[0] = add(collected[0], result)
            else:
                collected.append(result)
            bar.update(size)
    return collected if add is None else collected[0]


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
