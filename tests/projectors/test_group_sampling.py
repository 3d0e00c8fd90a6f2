"""Weights over epochs, and the FAR within groups: by loops over pairs."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr import make_face_embeddings
from skfairfr.projectors._people import GroupFARs, People
from skfairfr.projectors._triplet_projector import GroupSampling, starting_weights
from skfairfr.samplers import dynamic_weights
from skfairfr.utils import ArgumentError

FACES = make_face_embeddings(30, 4, 8, n_domains=2, random_state=0)
LABELS = np.array(["a", "b", "c"])
CODES = np.where(FACES.sensitive_features == "male", 0, 2).astype(np.int32)
CODES[:3] = -1
FAR_NAMES = ["far_a", "far_b", "far_c"]
DYNAMIC = {"smoothing": 0.3, "exponent": 1.0}


def people(domain=False, codes=CODES):
    sides = (FACES.domain == "domain_1").astype(np.int8) if domain else None
    rows = np.arange(len(FACES.y))
    identities = np.unique(FACES.y)
    return People(rows, FACES.y, identities, None, codes, LABELS, sides)


def fars_by_loop(far, domain):
    """FAR within each group at the threshold of an overall FAR, and the pairs."""
    scores = FACES.X @ FACES.X.T
    overall, within = [], {0: [], 1: [], 2: []}
    for i in range(len(FACES.y)):
        for j in range(len(FACES.y)):
            compared = i < j if not domain else FACES.domain[i] < FACES.domain[j]
            if compared and FACES.y[i] != FACES.y[j]:
                overall.append(scores[i, j])
                if CODES[i] == CODES[j] >= 0:
                    within[int(CODES[i])].append(scores[i, j])
    ordered = np.sort(overall)[::-1]
    # The largest score at which too many are accepted is rejected.
    bar = ordered[int(np.floor(far * len(ordered)))]
    return (
        [np.mean(np.array(w) > bar) if w else np.nan for w in within.values()],
        [len(w) for w in within.values()],
    )


@pytest.mark.parametrize("domain", [False, True])
def test_fars_and_pairs_are_those_of_the_loop(domain):
    measured = GroupFARs(people(domain), 0.05)
    fars, n_impostors = fars_by_loop(0.05, domain)
    assert_array_equal(measured.n_impostors, n_impostors)
    found = measured.measure(FACES.X)
    assert list(found) == measured.names == ["far_a", "far_b", "far_c"]
    assert_allclose(list(found.values()), fars, atol=1e-12)


def test_a_level_that_is_not_resolved_is_refused():
    codes = np.arange(len(FACES.y), dtype=np.int32) % 3
    measured = GroupFARs(people(codes=codes), 1e-6)
    assert not measured.resolved
    with pytest.raises(ValueError, match=r"far is 1e-06, .* do not resolve"):
        measured.check_for_dynamic(LABELS)
    GroupFARs(people(codes=codes), 1e-3).check_for_dynamic(LABELS)


@pytest.mark.parametrize(
    ("sampling", "given", "expected"),
    [
        ("natural", None, [0.6, 0.0, 2.4]),
        ("equal", None, [1, 1, 1]),
        ("dynamic", None, [1, 1, 1]),
        ("adjusted", {"a": 1, "b": 1, "c": 4}, [0.5, 0.5, 2]),
        ("dynamic", {"a": 1, "b": 1, "c": 4}, [0.5, 0.5, 2]),
    ],
)
def test_where_weights_start(sampling, given, expected):
    found = starting_weights(sampling, given, LABELS, np.array([20, 0, 80]))
    assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("sampling", "given", "words"),
    [
        ("equal", {"a": 1}, "group_weights would be ignored"),
        ("adjusted", None, "group_weights is None"),
        ("dynamic", {"a": 1, "b": 1, "c": 1, "d": 1}, "weights has .*'d'"),
    ],
)
def test_weights_that_do_not_fit(sampling, given, words):
    with pytest.raises(ArgumentError, match=words):
        starting_weights(sampling, given, LABELS, np.array([20, 1, 80]))


class History(list):
    """As much of skorch's history as the callback uses."""

    def record(self, name, value):
        self[-1][name] = value


def run(sampling, fars, n_epochs):
    """Weights of each epoch when these FARs are measured after each."""
    net = SimpleNamespace(history=History())
    weights = []
    for _ in range(n_epochs):
        net.history.append({})
        sampling.on_epoch_begin(net)
        weights.append(sampling.weights)
        net.history[-1] |= dict(zip(FAR_NAMES, fars, strict=True))
    return weights, net.history


def dynamic_sampling(measured):
    """Weights that follow what is measured."""
    sampling = GroupSampling(people(), np.ones(3), **DYNAMIC)
    sampling.fars = measured
    return sampling


def test_dynamic_weights_follow_the_measured_fars():
    measured = SimpleNamespace(names=FAR_NAMES, n_impostors=np.array([1000, 100, 10]))
    fars, errors = [0.05, 0.01, 0.0], [50, 1, 0]
    sampling = dynamic_sampling(measured)
    weights, history = run(sampling, fars, 4)
    expected = np.ones(3)
    for epoch in range(4):
        assert_allclose(weights[epoch], expected)
        assert [history[epoch][f"weight_{g}"] for g in "abc"] == weights[epoch].tolist()
        expected = dynamic_weights(
            expected, errors, [1000, 100, 10], smoothing=0.3, exponent=1.0
        )


def test_draws_go_by_the_weights_of_the_epoch():
    sampling = GroupSampling(people(), np.array([1.0, 1, 0]))
    generator = torch.Generator().manual_seed(0)
    drawn = CODES[sampling.draw(generator)]
    assert len(drawn) == len(CODES)
    assert set(drawn) <= {-1, 0}
    rounds = sampling.draw_homogeneous(32, generator)
    assert [len(r) for r in rounds] == [32] * 4
    assert all(len(set(CODES[r])) == 1 for r in rounds)
    assert len(sampling.draw_homogeneous(10_240, generator)) == 1
