"""What holds the numbers and labels changes no bit, or is refused by name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import skfairfr
from skfairfr import SimilarityROC
from skfairfr.report import audit_pairs
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
ESTIMATORS = dict(surface.COMPARATORS)
if "EthicalModule" in skfairfr.__all__:  # with the extra "mitigate"
    from skfairfr import EthicalModule

    ESTIMATORS["module"] = EthicalModule(max_epochs=1, random_state=0)
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


@pytest.mark.parametrize("name", LABELS)
def test_labels(name, usual):
    X, y, groups = surface.people()
    hold = LABELS[name]
    np.testing.assert_array_equal(resamples(X, hold(y), hold(groups)), usual)


SCORES = {
    "float32": lambda s: s.astype(np.float32),
    "lists": lambda s: s.tolist(),
    "Fortran column": lambda s: np.asfortranarray(np.stack([s, s]))[0],
    "pandas, nullable": lambda s: pd.Series(s).convert_dtypes(),
    "polars": lambda s: pl.Series(s),
    "read-only": lambda s: np.frombuffer(s.tobytes()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES)
def test_scores_of_pairs(name):
    rng = np.random.default_rng(0)
    left, right = np.triu_indices(60, 1)
    # Multiples of 1/256, which every container holds.
    scores = np.round(256 * rng.random(len(left))) / 256
    people, groups = np.arange(60) // 3, np.array(["f", "m"])[np.arange(60) // 3 % 2]
    hold = SCORES[name]
    found = []
    for held in (scores, hold(scores)):
        sides = [(v[left], v[right]) for v in (people, groups)]
        report = audit_pairs(held, *sides, far=[0.1, 0.2], limits=surface.LIMITS)
        found.append(report)
    # A threshold is the next number above a score, of the scores' own type.
    rates = map(surface.rates, found)
    surface.assert_same_rates(*rates, rtol=1e-6 if name == "float32" else 0)
    assert surface.verdicts(found[0]) == surface.verdicts(found[1])


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


REFUSED = {
    "csr": (sparse.csr_array, r"Sparse data was passed for X"),
    "coo": (sparse.coo_array, r"Sparse data was passed for X"),
    "masked": (lambda X: np.ma.array(X, mask=X == X[3, 3]), r"X.* has masked values"),
}


def uses(X, y, groups):
    """Every way into the package for embeddings."""
    plain = surface.people()
    yield lambda: SimilarityROC().fit(X, y, groups)
    yield lambda: surface.audited(X, y, groups)
    yield lambda: surface.compared((X, y, groups), plain)
    yield lambda: surface.compared(plain, (X, y, groups))
    yield lambda: surface.benched(X, y, groups)
    for estimator in ESTIMATORS.values():
        yield lambda estimator=estimator: estimator.fit(X, y, groups)
        fitted = clone(estimator).fit(*plain)
        yield lambda fitted=fitted: surface.asked(fitted, X, groups)


@pytest.mark.parametrize("kind", REFUSED)
def test_sparse_and_masked_embeddings_are_refused(kind):
    X, y, groups = surface.people()
    hold, message = REFUSED[kind]
    for use in uses(hold(X.astype(np.float64)), y, groups):
        with pytest.raises((TypeError, ValueError), match=message):
            use()


def test_a_fit_changes_nothing_given():
    """Audits, comparisons and benches get the read-only people in the other tests."""
    arrays = [np.array(a) for a in surface.people()]
    copies = [a.copy() for a in arrays]
    for estimator in ESTIMATORS.values():
        surface.answered(estimator, *arrays)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
