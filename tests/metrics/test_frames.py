"""Facts of records as tidy tables."""

import pickle
from functools import cache
from itertools import combinations

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import (
    group_error_rates,
    identity_inertia,
    worst_cluster_rate,
    worst_group_rate,
)

FACES = make_face_embeddings(n_identities=40, random_state=0)
BACKENDS = ["pandas", "polars"]  # test_frames of utils has all libraries


@pytest.fixture(scope="module")
def roc():
    roc = SimilarityROC(resample="identities", n_resamples=20, random_state=0)
    return roc.fit(FACES.X, FACES.y, FACES.sensitive_features)


def rows(frame):
    """Rows of a native frame, as tuples of Python values."""
    return nw.from_native(frame).rows()


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_estimate_has_one_row_for_each_level(roc, backend):
    one, two = roc.estimate(1e-2), roc.estimate([1e-1, 1e-2])
    names = ["far", "value", "low", "high", "standard_error"]
    for estimate, n_rows in ((one, 1), (two, 2)):
        frame = nw.from_native(estimate.to_frame(backend))
        assert frame.shape == (n_rows, 12)
        assert frame.columns[:5] == names
        assert frame["value"].to_list() == np.atleast_1d(estimate.value).tolist()
        assert set(frame["supported"].to_list()) <= {True, False}


@pytest.mark.parametrize(
    ("asked", "levels"),
    [
        ({"far": 1e-2}, [1e-2]),
        ({"far": [1e-2, 1e-1]}, [1e-2, 1e-1]),
        ({"far": [1e-1, 1e-2]}, [1e-1, 1e-2]),
        ({"threshold": [0.5, 0.3]}, [0.5, 0.3]),
        ({"far": [[0.1, 0.02], [0.03, 0.2]]}, [0.1, 0.02, 0.03, 0.2]),
    ],
)
def test_rows_tell_the_level_they_are_of(roc, asked, levels):
    (name,) = asked
    for record in (roc.estimate(**asked), roc.compare(roc, **asked)):
        frame = record.to_frame("polars")
        assert frame.columns[0] == name
        assert frame[name].to_list() == levels
    values = roc.estimate(**asked).to_frame("polars")["value"].to_list()
    assert values == [roc.estimate(**{name: level}).value for level in levels]


@cache
def errors_one_by_one(rate, group, threshold):
    """Number of erroneous pairs of a group (None: overall), and of the people in them."""
    unit = FACES.X / np.linalg.norm(FACES.X, axis=1, keepdims=True)
    accepted = (unit @ unit.T >= threshold).tolist()
    identities, groups = FACES.y.tolist(), FACES.sensitive_features.tolist()
    errors, people = 0, set()
    for i, j in combinations(range(len(unit)), 2):
        genuine = identities[i] == identities[j]
        inside = group is None or groups[i] == groups[j] == group
        if inside and genuine == (rate == "frr") and accepted[i][j] == (rate == "far"):
            errors += 1
            people |= {identities[i], identities[j]}
    return errors, len(people)


@pytest.mark.filterwarnings("ignore::skfairfr.metrics.EstimandWarning")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_measurement_has_one_row_for_each_rate_group_and_level(roc, backend):
    # The threshold is the number next above a score: rounding may not accept that one.
    frame = nw.from_native(roc.to_frame([1e-2, 1e-3], backend))
    assert type(frame.to_native()).__module__.startswith(backend)
    names = ["group", "rate", "far", "value", "low", "high", "errors", "people"]
    assert frame.columns == [*names, "supported"]
    places = [(r, g) for r in ("far", "frr") for g in (None, *roc.groups_.tolist())]
    asked = [(rate, group, far) for rate, group in places for far in (1e-3, 1e-2)]
    assert frame.shape[0] == len(asked)
    for row, (rate, group, far) in zip(frame.rows(named=True), asked, strict=True):
        found = roc.estimate(far, rate=rate, group=group)
        expected = (rate, far, found.value, found.low, found.high, found.supported)
        assert tuple(row[n] for n in (*names[1:6], "supported")) == expected
        assert row["group"] == group or (group is None and pd.isna(row["group"]))
        counted = errors_one_by_one(rate, group, roc.threshold_at(far) + 1e-6)
        assert (row["errors"], row["people"]) == counted


def test_an_estimate_prints_as_one_line(roc):
    one, two = roc.estimate(1e-2), roc.estimate([1e-2, 1e-3])
    assert str(one).startswith(f"{one.value:.3g} [{one.low:.3g}, {one.high:.3g}]")
    assert str(one) in str(two) and "\n" not in str(two)
    few = roc.estimate(1e-3, rate="far", group="female")
    assert few.reason and str(few).endswith(f" ({few.reason})")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_matrix_has_one_row_for_each_cell(roc, backend):
    matrix = roc.far_matrix(1e-1)
    cells = [
        (
            g,
            h,
            *(float(part[i, j]) for part in (matrix.far, matrix.low, matrix.high)),
            int(matrix.n_impostor[i, j]),
            bool(matrix.supported[i, j]),
            str(matrix.reason[i, j]),
            str(matrix.source[i, j]),
        )
        for i, g in enumerate(matrix.groups.tolist())
        for j, h in enumerate(matrix.groups.tolist())
    ]
    assert rows(matrix.to_frame(backend)) == cells


@pytest.mark.parametrize("backend", BACKENDS)
def test_group_rates_repeat_their_threshold(backend):
    rates = group_error_rates(
        [0, 1, 0, 1], [1, 2, 3, 1], sensitive_features=[5, 5, 7, 7], threshold=2
    )
    frame = nw.from_native(rates.to_frame(backend))
    assert frame.columns == [
        "group",
        "far",
        "frr",
        "n_impostor",
        "n_genuine",
        "threshold",
    ]
    assert frame.rows() == [(5, 0.0, 0.0, 1, 1, 2.0), (7, 1.0, 1.0, 1, 1, 2.0)]


SCORED = {
    "score": [0.9, 0.1, 0.8, 0.2, 0.3],
    "one": ["a", "a", "b", "b", "c"],
    "two": ["a", "b", "b", "c", "a"],
    "group": ["f", "f", "m", "m", "m"],
}


def as_frame(columns, backend):
    return nw.from_dict(columns, backend=backend).to_native()


def embeddings(backend):
    """X, y and groups in a library, or as they are."""
    X = {f"x{i}": column for i, column in enumerate(FACES.X.T.astype(float))}
    labels = {"identity": FACES.y, "group": FACES.sensitive_features}
    frames = [as_frame(columns, backend) for columns in (X, labels)]
    return frames[0], frames[1]["identity"], frames[1]["group"]


def small(**options):
    options = {"resample": "identities", "n_resamples": 5, "random_state": 0, **options}
    return SimilarityROC(**options)


def records_of(roc):
    """One record of each kind that a fitted SimilarityROC answers with."""
    yield roc.estimate(0.1)
    yield roc.curve([0.1, 0.2])
    yield roc.compare(roc, 0.1)
    yield roc.far_matrix(0.2)
    yield roc.equal_error_rate()
    yield roc.score_summary()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("which", [[0], [1], [2], [0, 1, 2]])
def test_frames_are_of_the_library_of_those_fitted(backend, which):
    given = [FACES.X, FACES.y, FACES.sensitive_features]
    for place in which:
        given[place] = embeddings(backend)[place]
    for record in records_of(small().fit(*given)):
        assert type(record.to_frame()).__module__.startswith(backend)
        assert isinstance(record.to_frame("pandas"), pd.DataFrame)


def test_pickles_remember_the_library_and_the_level():
    roc = pickle.loads(pickle.dumps(small().fit(*embeddings("polars"))))
    for record in records_of(roc):
        again = pickle.loads(pickle.dumps(record)).to_frame()
        assert again.equals(record.to_frame())
        assert isinstance(again, pl.DataFrame)


def test_other_records_are_of_the_caller_s_library():
    X, y, _ = embeddings("polars")
    scored = as_frame(SCORED, "polars")
    genuine = scored["one"] == scored["two"]
    for record in (
        identity_inertia(FACES.X, y),
        group_error_rates(
            genuine.to_numpy(),
            SCORED["score"],
            sensitive_features=scored["group"],
            threshold=0.5,
        ),
        worst_group_rate(
            X, FACES.y, sensitive_features=FACES.sensitive_features, far=0.1,
            min_identities=2, n_resamples=5, random_state=0,
        ),
        worst_cluster_rate(
            X, FACES.y, 2, far=0.1, min_identities=2, n_resamples=5, random_state=0
        ),
    ):  # fmt: skip
        assert isinstance(record.to_frame(), pl.DataFrame)
