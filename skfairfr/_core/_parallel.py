"""Blocks of work over joblib workers or threads, with an optional progress bar.

One layer is parallel at a time: inside workers and threads, BLAS is limited to one thread.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from threading import Lock

from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController, threadpool_limits
from tqdm import tqdm

_SHOWN = ContextVar("skfairfr_progress_shown", default=False)


@contextmanager
def show_progress(shown=True):
    """Draw a progress bar on standard error for every long loop inside."""
    token = _SHOWN.set(shown)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def progress_bar(total, description):
    """A bar on standard error, drawn only inside ``show_progress``."""
    return tqdm(total=total, desc=description, disable=not _SHOWN.get(), leave=False)


@cache
def _controller():
    return ThreadpoolController().select(user_api="blas")


def n_threads():
    """Number of threads that BLAS may use; a limit set on BLAS also limits the package."""
    return min([cpu_count(), *(blas["num_threads"] for blas in _controller().info())])


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


def over_blocks(function, tasks, n_jobs, description, sizes=None):
    """Results of ``function(*task)`` for every task, in order.

    With one worker, tasks share the threads that BLAS would use, and BLAS uses one in
    each: products are then equal in every bit for any number of threads or workers.

    Parameters
    ----------
    function : callable
        It should release the GIL where it takes long.
    tasks : list of tuples
    n_jobs : int or None
        As in scikit-learn; the joblib back end is the caller's choice.
    description : str
        Text of the progress bar.
    sizes : list of int, default=None
        How much each task counts on the progress bar.

    Returns
    -------
    results : list
    """
    sizes = [1] * len(tasks) if sizes is None else sizes
    bar = progress_bar(sum(sizes), description)
    several = effective_n_jobs(n_jobs) > 1 and len(tasks) > 1
    pool = nullcontext() if several else ThreadPoolExecutor(n_threads())
    collected = []
    with bar, ONE_BLAS_THREAD, pool:
        if several:
            parallel = Parallel(n_jobs=n_jobs, return_as="generator")
            results = parallel(delayed(function)(*task) for task in tasks)
        else:
            results = pool.map(function, *zip(*tasks, strict=True))
        for result, size in zip(results, sizes, strict=True):
            collected.append(result)
            bar.update(size)
    return collected
