"""Nobody is on both sides, and every fold has its share of groups and genuine pairs."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import cross_validate
from sklearn.preprocessing import FunctionTransformer

from skfairfr import IdentityKFold, face_labels, make_face_embeddings
from skfairfr.metrics import make_fairness_scorer

FACES = make_face_embeddings(
    n_identities=90, images_per_identity=(1, 6), n_features=8, random_state=0
)
X, IDENTITY, GROUP = FACES.X, FACES.y, FACES.sensitive_features
ROWS = np.random.default_rng(0).permutation(len(X))
X, IDENTITY, GROUP = X[ROWS], IDENTITY[ROWS], GROUP[ROWS]
Y = face_labels(IDENTITY, GROUP)
SPLITTERS = [
    IdentityKFold(),
    IdentityKFold(3),
    IdentityKFold(2, shuffle=True, random_state=1),
]


def pairs_within(identity, group, rows):
    """Genuine pairs of each group among some rows."""
    frame = pd.DataFrame({"identity": identity[rows], "group": group[rows]})
    n = frame.groupby(["group", "identity"]).size()
    return (n * (n - 1) // 2).groupby("group").sum().to_dict()


def shared_people(train, test):
    return np.intersect1d(IDENTITY[train], IDENTITY[test]).size


@pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
@pytest.mark.parametrize(
    "y", [Y, IDENTITY, pd.DataFrame(Y)], ids=["y", "plain", "frame"]
)
def test_folds_partition_people(splitter, y):
    splits = list(splitter.split(X, y))
    assert len(splits) == splitter.get_n_splits(X, y) == splitter.n_splits
    tested = np.concatenate([test for _, test in splits])
    assert np.array_equal(np.sort(tested), np.arange(len(X)))
    for train, test in splits:
        assert shared_people(train, test) == 0
        assert train.size + test.size == len(X)


@pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
def test_groups_and_their_pairs_are_balanced(splitter):
    share = (GROUP == "female").mean()
    for _, test in splitter.split(X, Y):
        assert abs((GROUP[test] == "female").mean() - share) < 0.1
        pairs = pairs_within(IDENTITY, GROUP, test)
        total = pairs_within(IDENTITY, GROUP, np.arange(len(X)))
        for group in ("male", "female"):
            assert pairs[group] > 0.5 * total[group] / splitter.n_splits


@pytest.mark.parametrize("seed", range(2))
def test_people_of_one_image_do_not_crowd_a_fold(seed):
    """Of nine people with a genuine pair, each of three folds gets three."""
    paired = np.random.default_rng(seed).choice(60, 9, replace=False)
    identity = np.concatenate([np.arange(60), paired])
    for _, test in IdentityKFold(3).split(np.empty((69, 1)), identity):
        assert (np.bincount(identity[test]) == 2).sum() == 3


def test_shuffling_follows_the_seed():
    def folds(seed):
        splitter = IdentityKFold(3, shuffle=True, random_state=seed)
        return [test.tolist() for _, test in splitter.split(X, Y)]

    assert folds(0) == folds(0) != folds(1)


# ---- refusals --------------------------------------------------------------------------


def test_fewer_people_than_splits():
    with pytest.raises(ValueError, match=r"n_splits is 5, and there are 4"):
        next(IdentityKFold().split(np.empty((8, 1)), np.repeat(np.arange(4), 2)))


def test_a_fold_without_genuine_pairs_or_of_one_person():
    with pytest.raises(ValueError, match="genuine pair"):
        list(IdentityKFold(2).split(np.empty((7, 1)), [0, 0, 1, 2, 3, 4, 5]))
    with pytest.raises(ValueError, match="two people"):
        list(IdentityKFold(2).split(np.empty((9, 1)), np.repeat([0, 1, 2], (5, 2, 2))))


def test_pairs_within_a_domain_do_not_count():
    identity, domain = np.repeat(np.arange(8), 2), np.repeat(["a", "b"], 8)
    X, across = np.empty((16, 1)), np.tile(["a", "b"], 8)
    assert len(list(IdentityKFold(2).split(X, identity, domain=across))) == 2
    with pytest.raises(ValueError, match="genuine pair"):
        list(IdentityKFold(2).split(X, face_labels(identity, domain=domain)))


def test_a_group_without_pairs_in_a_fold_is_named():
    identity = np.repeat(np.arange(12), 3)
    group = np.where(identity == 0, "rare", "common")
    with pytest.warns(UndefinedMetricWarning, match="within group 'rare'"):
        list(IdentityKFold(2).split(np.empty((36, 1)), face_labels(identity, group)))


def test_groups_argument_is_ignored_aloud():
    with pytest.warns(UserWarning, match="groups parameter is ignored"):
        splits = list(IdentityKFold(3).split(X, Y, groups=GROUP))
    assert all(shared_people(*split) == 0 for split in splits)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"n_splits": 1}, ValueError),
        ({"n_splits": 2.5}, ValueError),
        ({"shuffle": 1}, TypeError),
        ({"random_state": 0}, ValueError),
    ],
)
def test_wrong_parameters(parameters, error):
    with pytest.raises(error):
        next(IdentityKFold(**parameters).split(X, Y))


# ---- with scikit-learn -----------------------------------------------------------------


def test_groups_are_routed_to_splitter_and_scorer():
    options = {"scoring": make_fairness_scorer(far=0.05), "cv": IdentityKFold(3)}
    inside = cross_validate(FunctionTransformer(), X, Y, **options)
    with config_context(enable_metadata_routing=True):
        beside = cross_validate(
            FunctionTransformer(),
            X,
            IDENTITY,
            params={"sensitive_features": GROUP},
            **options,
        )
    assert inside["test_score"].tolist() == beside["test_score"].tolist()
    assert np.isfinite(inside["test_score"]).all()
