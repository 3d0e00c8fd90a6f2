"""Blocks of work over joblib workers, with a progress bar where one was asked for.

One layer is parallel at a time: with several workers the BLAS threads inside are limited
to one, with a single worker BLAS keeps its own.
"""

from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits
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


def over_blocks(function, tasks, n_jobs, description, sizes=None):
    """Results of ``function(*task)`` for every task, in order.

    Parameters
    ----------
    function : callable
    tasks : list of tuples
    n_jobs : int or None
        As in scikit-learn; the joblib back end is the caller's choice.
    description : str
        What the progress bar says.
    sizes : list of int, default=None
        How much each task counts on the progress bar.

    Returns
    -------
    results : list
    """
    sizes = [1] * len(tasks) if sizes is None else sizes
    bar = tqdm(
        total=sum(sizes), desc=description, disable=not _SHOWN.get(), leave=False
    )
    several = effective_n_jobs(n_jobs) > 1 and len(tasks) > 1
    with bar, threadpool_limits(1) if several else nullcontext():
        if several:
            parallel = Parallel(n_jobs=n_jobs, return_as="generator")
            results = parallel(delayed(function)(*task) for task in tasks)
        else:
            results = (function(*task) for task in tasks)
        collected = []
        for result, size in zip(results, sizes, strict=True):
            collected.append(result)
            bar.update(size)
    return collected
