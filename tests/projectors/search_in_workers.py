"""A search that records how many threads its fits and scorers may use.

Run in a process of its own, in which libraries have as many threads as they like, and
imported by it: joblib pickles what a script defines, and a lock has no pickle.
"""

import json
import os
from pathlib import Path
from threading import Lock
from uuid import uuid4

import torch
from joblib import cpu_count, parallel_config
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import Callback
from threadpoolctl import threadpool_info

from skfairfr import (
    EthicalModule,
    IdentityKFold,
    bfar_scorer,
    face_labels,
    make_face_embeddings,
)
from skfairfr._core import _pair_tiles

N_JOBS = 2
LOCK, ACTIVE = Lock(), []


def blas():
    """Most threads that a BLAS of this process may use."""
    pools = threadpool_info()
    return max(pool["num_threads"] for pool in pools if pool["user_api"] == "blas")


def write(folder, **found):
    """One file for each record: workers share the folder."""
    Path(folder, f"{uuid4()}.json").write_text(
        json.dumps({"pid": os.getpid(), **found})
    )


class Recorder(Callback):
    """Threads of torch and BLAS in training steps."""

    def __init__(self, folder):
        self.folder = folder

    def on_batch_end(self, net, **kwargs):
        write(self.folder, where="fit", torch=torch.get_num_threads(), blas=blas())


class RecordingScorer:
    """BFAR; records how many runs of tiles are compared at a time, and their BLAS."""

    def __init__(self, folder):
        self.folder = folder
        self.strip = _pair_tiles._tail_of_tiles

    def recorded(self, *arguments):
        with LOCK:
            ACTIVE.append(None)
            n_active = len(ACTIVE)
        try:
            write(self.folder, where="score", active=n_active, blas=blas())
            return self.strip(*arguments)
        finally:
            with LOCK:
                ACTIVE.pop()

    def __call__(self, estimator, X, y):
        strip = _pair_tiles._tail_of_tiles
        _pair_tiles._tail_of_tiles = self.recorded
        try:
            return bfar_scorer(estimator, X, y)
        finally:
            _pair_tiles._tail_of_tiles = strip


def numbers():
    """What a search must leave as it was."""
    return {"torch": torch.get_num_threads(), "blas": blas()}


def main(backend, folder):
    # A fold of them is compared in several tiles.
    faces = make_face_embeddings(1300, 4, 8, kappa=20.0, random_state=0)
    module = EthicalModule(
        max_epochs=1,
        random_state=0,
        device="cpu",
        validation_fraction=0.2,
        monitor="bfar",
        callbacks=[Recorder(folder)],
    )
    search = GridSearchCV(
        module,
        {"kappa0": [10.0, 20.0]},
        scoring=RecordingScorer(folder),
        cv=IdentityKFold(2),
        refit=False,
        n_jobs=N_JOBS,
        error_score="raise",
    )
    write(folder, where="before", cores=cpu_count(), **numbers())
    with parallel_config(backend):
        search.fit(faces.X, face_labels(faces.y, faces.sensitive_features))
    write(folder, where="after", cores=cpu_count(), **numbers())
