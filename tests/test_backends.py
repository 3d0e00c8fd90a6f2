"""Every joblib back end gives the same bits: what is measured, audited and benched."""

import json

import pytest
from joblib import parallel_config
from joblib.parallel import BACKENDS

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _parallel
from skfairfr.model_selection import compare_mitigations
from skfairfr.report import audit
from tests.model_selection.toy_methods import Remover, Scaled, crowd

pytestmark = pytest.mark.filterwarnings("ignore:resample='images' is about")

QUICK = {"far": 0.05, "n_splits": 2, "inner_splits": 2, "n_resamples": 20}
# The others share what the one does that has no stream of results, or are tested apart.
DAILY = "multiprocessing"
REGISTERED = [
    pytest.param(name, marks=[] if name == DAILY else pytest.mark.slow)
    for name in BACKENDS
    if name != "dask"
]


def of_roc(n_jobs):
    data = make_face_embeddings(750, 4, 32, random_state=0)
    roc = SimilarityROC(
        far_max=1e-3, resample="both", n_resamples=48, random_state=0, n_jobs=n_jobs
    )
    roc.fit(data.X, data.y, data.sensitive_features)
    found = roc.estimate([1e-4, 1e-3], rate="far", how="max_min")
    return [part.tolist() for part in (found.value, found.low, found.high)]


def of_audit(n_jobs):
    data = make_face_embeddings(750, 4, 32, random_state=0)
    options = {"far": 1e-3, "n_resamples": 20, "n_jobs": n_jobs}
    return audit(data.X, data.y, data.sensitive_features, **options).to_json()


def of_bench(n_jobs):
    X, y, group = crowd()
    methods = {"remover": (Remover(), {"strength": [0.0, 1.0]}), "few": Scaled(4)}
    bench = compare_mitigations(
        X, y, group, methods, max_cost=None, n_jobs=n_jobs, **QUICK
    )
    record = json.loads(bench.to_json())
    return json.dumps(without_seconds(record))


def without_seconds(record):
    if isinstance(record, dict):
        return {k: without_seconds(v) for k, v in record.items() if "seconds" not in k}
    return list(map(without_seconds, record)) if isinstance(record, list) else record


ANSWERS = {"roc": of_roc, "audit": of_audit, "bench": of_bench}


@pytest.fixture(scope="module")
def alone():
    """Answers without any back end."""
    return {name: answer(None) for name, answer in ANSWERS.items()}


@pytest.fixture
def shared_out(monkeypatch):
    """How many tasks each call gave to joblib's workers."""
    given, usual = [], _parallel.joblib_results

    def counted(function, tasks, n_jobs):
        given.append(len(tasks))
        return usual(function, tasks, n_jobs)

    monkeypatch.setattr(_parallel, "joblib_results", counted)
    return given


@pytest.mark.parametrize("backend", REGISTERED)
@pytest.mark.parametrize("name", list(ANSWERS))
def test_every_registered_back_end_gives_the_same_bits(
    name, backend, alone, shared_out
):
    with parallel_config(backend):
        assert ANSWERS[name](2) == alone[name]
    if name != "bench" and backend != "sequential":
        assert max(shared_out) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ANSWERS))
def test_a_dask_cluster_gives_the_same_bits(name, alone):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        with parallel_config("dask"):
            assert ANSWERS[name](2) == alone[name]
