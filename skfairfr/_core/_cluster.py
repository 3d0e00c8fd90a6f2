"""Tasks on a Dask cluster, where joblib's active back end is Dask's.

What all tasks share is sent once, to every worker; joblib's own Dask back end would send it
again with every task, since it looks for large arrays among the arguments only and not
inside of them. A task whose worker ends is computed again elsewhere. If all workers that
held the shared objects end, the objects are sent again and the missing tasks repeated.
Nothing here imports ``distributed`` unless a caller already has.
"""

import sys
from concurrent.futures import CancelledError
from uuid import uuid4

from joblib.parallel import get_active_backend

# How often the shared objects are sent before the tasks are given up.
ATTEMPTS = 5
# Bytes that a worker needs beside what it is sent, and the share of its memory above which
# Dask lets it rest.
OF_WORKER, RESTS = 3 * 2**27, 0.8
# Seconds to wait for a worker; one that ended takes some to come back.
WAIT = 120


class WorkersEndedError(ChildProcessError, RuntimeError):
    """Workers ended again and again before their work was done, or there were none."""


def active_backend():
    """joblib's active back end if it is Dask's; None otherwise."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)
    return backend if isinstance(client, distributed.Client) else None


def inside_task():
    """Whether the caller is itself a task of a Dask cluster."""
    try:
        sys.modules["distributed"].get_worker()
    except (KeyError, ValueError):
        return False
    return True


def results(backend, function, tasks, shared, description):
    """Compute ``function(*shared, *task)`` for every task.

    Parameters
    ----------
    backend : joblib's back end of Dask
    function : callable
        Importable on the workers, or small.
    tasks : list of tuples
        Arguments of each task, which are sent with it.
    shared : tuple
        First arguments of all tasks, which are sent to every worker once.
    description : str
        Name of the tasks on the cluster.

    Yields
    ------
    place : int
        Of the task among the tasks; they come in the order in which they end.
    result : object

    Raises
    ------
    ValueError
        If a worker has too little memory for the shared objects.
    WorkersEndedError
        If all workers that held the shared objects ended, time after time, or if there is
        no worker for long.
    """
    missing = dict(enumerate(tasks))
    options = {"pure": False, **backend.submit_kwargs}
    arguments = (shared, description.replace(" ", "-"), backend.client, options)
    for _ in range(ATTEMPTS):
        for place, result in _attempt(function, missing.copy(), *arguments):
            del missing[place]
            yield place, result
        if not missing:
            return
    raise WorkersEndedError(
        f"{len(missing)} of {len(tasks)} tasks have no result: all workers of the cluster "
        f"ended {ATTEMPTS} times while they held the data. Give each worker more memory."
    )


def _attempt(function, tasks, shared, name, client, options):
    """Yield the results of the tasks whose data some worker keeps."""
    _wait_for_worker(client, options)
    _check_room((function, shared), client)
    try:
        held = _send((function, shared), client, options)
    except OSError:  # the worker ended while it received them
        return
    name = f"{name}-{uuid4().hex}"
    futures = client.map(
        _compute,
        [_Arguments(task) for task in tasks.values()],
        held=held,
        key=[f"{name}-{place}" for place in tasks],
        **options,
    )
    places = dict(zip(futures, tasks, strict=True))
    del futures
    try:
        for future in _as_completed(list(places), client):
            try:
                result = future.result()
            except CancelledError:  # the shared objects were lost
                continue
            place = places.pop(future)
            future.release()  # the worker may drop the result
            yield place, result
    finally:
        client.cancel(list(places))


def _wait_for_worker(client, options):
    try:
        # A task makes a cluster that adapts to its work start a worker.
        client.submit(int, **options).result(timeout=WAIT)
    except TimeoutError:
        raise WorkersEndedError(
            f"No worker of the cluster was ready within {WAIT} s: start workers, or leave "
            "joblib's Dask back end."
        ) from None


def _check_room(objects, client):
    """Raise if the objects do not fit into a worker, which Dask would end again and again."""
    from cloudpickle import dumps

    sizes = []
    dumps(objects, protocol=5, buffer_callback=lambda b: sizes.append(b.raw().nbytes))
    needed = sum(sizes) + OF_WORKER
    workers = client.scheduler_info()[
        "workers"
    ].values()  # some of them; they are alike
    limits = [w["memory_limit"] for w in workers if w["memory_limit"]]
    if limits and needed > RESTS * min(limits):
        raise ValueError(
            f"Every worker of the cluster needs {needed / 1e9:.1f} GB of memory, and one has "
            f"{min(limits) / 1e9:.1f} GB, of which Dask uses {100 * RESTS:.0f} %: give the workers "
            "more memory, or start fewer of them on each machine."
        )


def _send(objects, client, options):
    """Copy objects to all workers, each time to as many more as already hold them.

    Dask's own broadcast never ends if a worker ends meanwhile. Without copies, the objects
    would be lost with the worker that received them, which also had to send them to all
    others at once.
    """
    # A hash of the objects would take longer than sending them.
    [held] = client.scatter([objects], workers=options.get("workers"), hash=False)
    first = client.who_has([held]).get(held.key, ())
    rest = [w for w in client.nthreads(options.get("workers")) if w not in first]
    n_copies = 1
    while rest:
        wave, rest = rest[:n_copies], rest[n_copies:]
        n_copies += len(wave)
        anywhere = options | {"allow_other_workers": True}
        copies = [
            client.submit(_nothing, held, **anywhere | {"workers": [worker]})
            for worker in wave
        ]
        for _ in _as_completed(copies, client):
            pass
    return held


def _as_completed(futures, client):
    from distributed import as_completed

    return as_completed(futures, loop=client.loop)


def _nothing(held):
    return None


class _Arguments:
    """Arguments of one task, opaque to Dask, which would search a tuple for its keys."""

    __slots__ = ("values",)

    def __init__(self, values):
        self.values = values


def _compute(task, held):
    function, shared = held
    return function(*shared, *task.values)
