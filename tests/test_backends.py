"""Threads, processes and a Dask cluster give the same bits as one worker does."""

import json

import pytest
from joblib import parallel_config
from threadpoolctl import threadpool_limits

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.model_selection import compare_mitigations
from skfairfr.report import audit
from tests.model_selection.toy_methods import Remover, Scaled, crowd

pytestmark = pytest.mark.filterwarnings("ignore:resample='images' is about")

QUICK = {"far": 0.05, "n_splits": 2, "inner_splits": 2}


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
    options = {"far": 1e-3, "n_jobs": n_jobs}
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
    """Answers of one worker without threads."""
    with threadpool_limits(1):
        return {name: answer(1) for name, answer in ANSWERS.items()}


@pytest.mark.parametrize(
    "backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", list(ANSWERS))
def test_a_back_end_gives_the_bits_of_one_worker(name, backend, alone):
    with parallel_config(backend):
        assert ANSWERS[name](2) == alone[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ANSWERS))
def test_a_dask_cluster_gives_the_same_bits(name, alone):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        with parallel_config("dask"):
            assert ANSWERS[name](2) == alone[name]
