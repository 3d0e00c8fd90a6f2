"""Facts of a Dask cluster: the same bits, few bytes, and no result lost with a worker."""

import os
import signal
import sys
import time
import warnings

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _cluster, _pair_sets, _parallel
from skfairfr._core._pair_tiles import Rows, collect_tail, unit_rows
from skfairfr._core._parallel import n_workers, over_blocks
from tests._core.network import bytes_on, count_on

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """A cluster of two processes with a thread each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions of the network's library
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
        with distributed.LocalCluster(**options) as cluster:
            with distributed.Client(cluster) as client:
                yield client


@pytest.fixture
def on_cluster(client):
    """joblib's Dask back end, with both workers up."""
    client.wait_for_workers(2, timeout=30)
    with joblib.parallel_config("dask"):
        yield client


def answers():
    """What a fit and some questions give, also from a sample."""
    data = make_face_embeddings(750, 4, 32, random_state=0)
    roc = SimilarityROC(
        far_max=1e-3, resample="identities", n_resamples=48, random_state=0
    )
    roc.fit(data.X, data.y, data.sensitive_features)
    levels = [1e-4, 1e-3, 1e-2]
    held = roc._engine.pairs.compared.held()
    found = [held.scores, held.left, held.right]
    for question in ({"rate": "far", "how": "max_min"}, {"rate": "frr"}):
        found.append(roc.resamples(levels, **question))
        estimate = roc.estimate(levels, **question)
        found += [estimate.value, estimate.low, estimate.high]
    equal = roc.equal_error_rate()
    return [*found, np.array([equal.value, equal.low, equal.high])]


def assert_equal_arrays(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).normal(size=(8000, 128)).astype(np.float32)
    each = np.arange(len(X), dtype=np.int32)
    no_group = np.full(len(X), -1, dtype=np.int32)
    return Rows(unit_rows(X, "cosine"), each, each, no_group)


def tail(rows):
    """In 55 tasks; about every thousandth pair."""
    floors = np.full((1, 1), 0.28, dtype=np.float32)
    return collect_tail(rows, rows, floors, tile=800)


def one_process():
    return joblib.parallel_config("threading", n_jobs=1)


@pytest.mark.slow
def test_answers_are_those_of_one_process(on_cluster, monkeypatch):
    # The set, of three tiles, is too small for tails otherwise.
    monkeypatch.setattr(_pair_sets, "WHOLE", 2**20)
    with one_process():
        expected = answers()
    assert_equal_arrays(answers(), expected)


# ---- what travels --------------------------------------------------------------------


@pytest.fixture(scope="module")
def counting(client):
    stop = count_on(client)
    yield
    stop()


@pytest.fixture
def n_sent(counting, on_cluster):
    """A function that gives the bytes that were sent since its last call."""
    before = [bytes_on(on_cluster)]

    def since():
        before.append(bytes_on(on_cluster))
        return before[-1] - before[-2]

    return since


def test_embeddings_reach_every_worker_once(rows, n_sent):
    found = tail(rows)
    # The client sends them to the scheduler, that to one worker, and that to the other.
    copies = 3 * rows.vectors.nbytes
    # A worker sends its pairs to the scheduler, and that to the client.
    pairs = 2 * sum(column.nbytes for column in found)
    sent = n_sent()
    assert copies + pairs < sent < 1.2 * copies + 1.2 * pairs + 2**18


def test_resamples_need_no_embeddings(n_sent, monkeypatch):
    monkeypatch.setattr(_pair_sets, "WHOLE", 1)
    monkeypatch.setattr(_pair_sets, "WHOLE_GROUP", 1)
    data = make_face_embeddings(300, 4, 2048, random_state=0)
    roc = SimilarityROC(resample="identities", n_resamples=50, random_state=0)
    with one_process():
        roc.fit(data.X, data.y, data.sensitive_features)
    roc.estimate(1e-3)
    assert 0 < n_sent() < data.X.size * 4 / 4


# ---- workers that end ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2])
def test_workers_that_are_killed_lose_nothing(n, rows, on_cluster, monkeypatch):
    with one_process():
        expected = tail(rows)
    results = _cluster.results
    killed = list(on_cluster.run(os.getpid).values())[:n]

    def ending(*args):
        found = results(*args)
        yield next(found)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        yield from found

    monkeypatch.setattr(_cluster, "results", ending)
    assert_equal_arrays(tail(rows), expected)
    on_cluster.wait_for_workers(2, timeout=30)
    assert not {*killed} & {*on_cluster.run(os.getpid).values()}


def rounds(*found):
    """A stand-in for an attempt at the tasks, which finds these places one time each."""
    found = iter(found)

    def attempt(function, tasks, *_):
        for place in next(found):
            yield place, tasks[place]

    return attempt


class BackEnd:
    submit_kwargs, client = {}, None


def test_lost_tasks_are_repeated(monkeypatch):
    monkeypatch.setattr(_cluster, "_attempt", rounds([], [2, 0], [], [1]))
    found = _cluster.results(BackEnd, None, "abc", (), "spelling")
    assert list(found) == [(2, "c"), (0, "a"), (1, "b")]


def test_tasks_that_are_always_lost_are_an_error(monkeypatch):
    monkeypatch.setattr(_cluster, "_attempt", rounds([0], *[[]] * 9))
    with pytest.raises(RuntimeError, match="2 of 3 tasks have no result"):
        list(_cluster.results(BackEnd, None, "abc", (), "spelling"))


class Holder:
    """An object with a large array inside."""

    def __init__(self, values):
        self.values = values


def take(holder, place):
    return int(holder.values[place])


class NoWorkers:
    """A client whose tasks never end."""

    def submit(self, *_):
        return self

    def result(self, timeout):
        raise TimeoutError


def test_without_workers_there_is_an_error():
    with pytest.raises(RuntimeError, match="No worker"):
        list(_cluster._attempt(None, {}, (), "nothing", NoWorkers(), {}))


def test_objects_that_do_not_fit_into_a_worker_are_not_sent(on_cluster, monkeypatch):
    info = {"workers": {"a": {"memory_limit": 10**9}, "b": {"memory_limit": 0}}}
    monkeypatch.setattr(on_cluster, "scheduler_info", lambda: info)
    shared = (Holder(np.zeros(50_000_000, dtype=np.uint8)),)
    assert over_blocks(take, [(0,), (1,)], None, "taking", shared=shared) == [0, 0]
    shared = (Holder(np.zeros(500_000_000, dtype=np.uint8)),)
    with pytest.raises(
        ValueError, match=r"needs 0\.9 GB of memory, and one has 1\.0 GB"
    ):
        over_blocks(take, [(0,), (1,)], None, "taking", shared=shared)


# ---- where tasks are computed --------------------------------------------------------


def pid_of(*_):
    time.sleep(0.1)
    return os.getpid()


def pids_of_inner_tasks():
    with joblib.parallel_config("dask"):
        return os.getpid(), over_blocks(pid_of, [(1,), (2,)], None, "asking")


def test_all_workers_take_part(on_cluster):
    pids = over_blocks(pid_of, [(k,) for k in range(8)], None, "asking")
    assert set(pids) == set(on_cluster.run(os.getpid).values())


def test_tasks_of_a_task_stay_with_it(on_cluster):
    outer, inner = on_cluster.submit(pids_of_inner_tasks, pure=False).result()
    assert inner == [outer, outer]


def test_errors_of_tasks_come_through(on_cluster):
    with pytest.raises(ZeroDivisionError):
        over_blocks(divmod, [(1, 1), (1, 0)], None, "dividing")


def test_a_cluster_has_as_many_workers_as_cores(on_cluster, monkeypatch):
    monkeypatch.setattr(_parallel, "n_threads", lambda: 1)
    assert n_workers() == 2
    with one_process():
        assert n_workers() == 1


def test_other_back_ends_do_not_load_distributed(monkeypatch):
    monkeypatch.delitem(sys.modules, "distributed")
    assert over_blocks(divmod, [(3, 2), (4, 2)], None, "dividing") == [(1, 1), (2, 0)]
    assert "distributed" not in sys.modules
