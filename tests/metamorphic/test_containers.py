"""What holds the numbers and labels changes no bit, or is refused by name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from skfairfr import SimilarityROC
from skfairfr.comparators import CohortNormalizer
from tests.metamorphic import surface


def on_disk(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


EMBEDDINGS = {
    "float16": lambda X, path: X.astype(np.float16),
    "float64": lambda X, path: X.astype(np.float64),
    "big-endian": lambda X, path: X.astype(">f4"),
    "Fortran": lambda X, path: np.asfortranarray(X),
    "columns of a larger array": lambda X, path: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards and back": lambda X, path: np.ascontiguousarray(X[::-1])[::-1],
    "memory map": on_disk,
    "lists": lambda X, path: X.tolist(),
    "pandas": lambda X, path: pd.DataFrame(X),
    "pandas, nullable": lambda X, path: pd.DataFrame(X).convert_dtypes(),
    "polars": lambda X, path: pl.DataFrame(X),
}
LABELS = {
    "lists": list,
    "objects": lambda v: np.asarray(v).astype(object),
    "pandas": pd.Series,
    "pandas, another index": lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
    "pandas, nullable": lambda v: pd.Series(v).convert_dtypes(),
    "categories": lambda v: pd.Series(pd.Categorical(v)),
    "polars": lambda v: pl.Series(np.asarray(v).tolist()),
    "masked, nothing hidden": lambda v: np.ma.array(np.array(v)),
}


def resamples(X, y, groups):
    """Every number that a small curve rests on."""
    options = {"resample": "identities", "n_resamples": 10, "far_max": 0.2}
    roc = SimilarityROC(**options, random_state=0).fit(X, y, groups)
    return np.concatenate(
        [roc.resamples([0.05, 0.1], rate=r, group=g).ravel() for r in ("far", "frr")
         for g in ("f", "m")]
    )  # fmt: skip


@pytest.fixture(scope="module")
def usual():
    return resamples(*surface.people())


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_embeddings(name, usual, tmp_path):
    X, y, groups = surface.people()
    held = EMBEDDINGS[name](X, tmp_path)
    np.testing.assert_array_equal(resamples(held, y, groups), usual)
    cohort = CohortNormalizer(top=5)
    plain = cohort.fit(X, y).score_matrix(X[:9], X)
    other = cohort.fit(held, y).score_matrix(held[:9], held)
    np.testing.assert_array_equal(plain, other)


@pytest.mark.parametrize("name", LABELS)
def test_labels(name, usual):
    X, y, groups = surface.people()
    hold = LABELS[name]
    np.testing.assert_array_equal(resamples(X, hold(y), hold(groups)), usual)


def test_containers_of_an_audit_a_comparison_and_a_bench(tmp_path):
    X, y, groups = surface.people()
    odd = (on_disk(X.astype(np.float16), tmp_path), pl.Series(y), pd.Series(groups))
    one, two = (surface.rates(surface.audited(*held)) for held in ((X, y, groups), odd))
    surface.assert_same_rates(one, two, rtol=0)
    first, second = (
        surface.gains(surface.benched(*held)) for held in ((X, y, groups), odd)
    )
    assert first == second


def test_an_unknown_group_is_the_same_in_every_container():
    X, y, groups = surface.people()
    unknown = np.arange(len(y)) % 7 == 0
    held = [
        np.where(unknown, None, groups.astype(object)),
        pd.Series(groups).mask(unknown),
        pd.Series(groups, dtype="string").mask(unknown),
        pl.Series(
            [None if u else g for g, u in zip(groups.tolist(), unknown, strict=True)]
        ),
        [
            float("nan") if u else g
            for g, u in zip(groups.tolist(), unknown, strict=True)
        ],
    ]
    first, *others = (resamples(X, y, labels) for labels in held)
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_array])
def test_sparse_embeddings_are_refused(kind):
    X, y, groups = surface.people()
    held = kind(X.astype(np.float64))
    for use in (
        lambda: SimilarityROC().fit(held, y, groups),
        lambda: CohortNormalizer().fit(held, y),
        lambda: surface.audited(held, y, groups),
        lambda: surface.benched(held, y, groups),
    ):
        with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
            use()


def test_nothing_given_is_changed():
    arrays = [np.array(a) for a in surface.people()]
    copies = [a.copy() for a in arrays]
    surface.audited(*arrays)
    surface.benched(*arrays)
    CohortNormalizer(top=5).fit(arrays[0], arrays[1]).score_matrix(arrays[0], arrays[0])
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
