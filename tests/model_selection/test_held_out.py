"""Errors of people who were left out equal loops over folds, people drawn, and pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr.metrics._folds import Cell, cells_of, count_errors
from skfairfr.model_selection._bench_fits import METRICS, rows_of
from skfairfr.model_selection._mitigations import embed
from tests.model_selection.toy_methods import Shifted, crowd

FAR, N_RESAMPLES, ENTROPY = 0.05, 3, 71


def scores_of(X, group=None, shift=0.0):
    """Cosines as the package rounds them, less a shift of every image of a group."""
    rows = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    scores = (rows.astype(float) @ rows.astype(float).T).astype(np.float32)
    if group is not None:
        of_image = np.where(group == "female", shift / 2, 0.0)
        scores = (scores - of_image[:, None] - of_image[None]).astype(np.float32)
    return scores


def weights_drawn(people, resample):
    """How often each person counts in a resample; all once in the data, None."""
    labels = np.unique(people)
    if resample is None:
        return dict.fromkeys(labels.tolist(), 1)
    seed = np.random.SeedSequence(ENTROPY, spawn_key=(0, resample))
    picks = np.random.default_rng(seed).integers(0, labels.size, labels.size)
    return {p: int((picks == k).sum()) for k, p in enumerate(labels.tolist())}


def pairs_of(people, group, wanted, weight):
    """Impostor and genuine pairs (i, j, weight) of everyone, or within a group."""
    impostor, genuine = [], []
    for i in range(len(people)):
        for j in range(i):
            if wanted is not None and not group[i] == group[j] == wanted:
                continue
            a, b = people[i], people[j]
            if a == b:
                genuine.append((i, j, weight[a]))
            else:
                impostor.append((i, j, weight[a] * weight[b]))
    return impostor, genuine


def threshold_at(scores, impostor, far):
    """The number next above the largest score at which the FAR exceeds the level."""
    total = sum(w for *_, w in impostor)
    if not total:
        return np.nan
    for candidate in sorted({scores[i, j] for i, j, _ in impostor}, reverse=True):
        accepted = sum(w for i, j, w in impostor if scores[i, j] >= candidate)
        if accepted > far * total * (1 + 1e-12):
            return np.nextafter(candidate, np.float32(np.inf))
    return -np.inf


def expected_cells(scores, people, group, far, weight):
    """Errors and pairs of every cell of one attribute, and the cell's threshold."""
    labels = sorted(set(group.tolist()))
    found = {}
    pairs = {g: pairs_of(people, group, g, weight) for g in (None, *labels)}
    own = {g: threshold_at(scores, pairs[g][0], far) for g in (None, *labels)}
    worst = np.nanmax([own[g] for g in labels])
    for point, threshold in (("overall", own[None]), ("worst_group", worst)):
        for g, (impostor, genuine) in pairs.items():
            accepted = sum(w for i, j, w in impostor if scores[i, j] >= threshold)
            rejected = sum(w for i, j, w in genuine if scores[i, j] < threshold)
            for rate, errors, of_rate in (
                ("far", accepted, impostor),
                ("frr", rejected, genuine),
            ):
                total = sum(w for *_, w in of_rate)
                found[Cell("sex", point, rate, g)] = errors, total, threshold
    return found


@pytest.fixture(scope="module")
def faces():
    return crowd(20, images_per_identity=(2, 3))


def counted(faces, similarity="cosine", **options):
    X, y, group = faces
    options = {"far": FAR, "n_resamples": N_RESAMPLES, "entropy": ENTROPY} | options
    groups = {"sex": ["female", "male"]}
    found = count_errors(X, y, {"sex": group}, groups, similarity=similarity, **options)
    return cells_of(groups), found


@pytest.mark.parametrize("kind", ["cosine", "comparator", "matrix"])
def test_errors_and_pairs_equal_loops(faces, kind):
    X, y, group = faces
    shift = 0.0 if kind == "cosine" else 0.2
    similarity = "cosine" if kind == "cosine" else scores_of(X, group, shift)
    if kind == "comparator":
        fitted = Shifted(shift).fit(X, y, group)
        X, similarity = embed(fitted, X, group)
    cells, found = counted(faces, similarity)
    scores = scores_of(X, group, shift)
    for column, resample in enumerate((None, *range(N_RESAMPLES))):
        weight = weights_drawn(y, resample)
        expected = expected_cells(scores, y, group, FAR, weight)
        for row, cell in enumerate(cells):
            errors, pairs, _ = expected[cell]
            assert_allclose(found.pairs[row, column], pairs, err_msg=str(cell))
            assert_allclose(found.errors[row, column], errors, atol=1e-9)


def test_errors_near_the_level_equal_loops(faces):
    X, y, group = faces
    cells, found = counted(faces)
    for column, far in enumerate((FAR / 1.5, FAR * 1.5)):
        expected = expected_cells(scores_of(X), y, group, far, weights_drawn(y, None))
        for row, cell in enumerate(cells):
            assert_allclose(found.near[row, column], expected[cell][0], atol=1e-9)


def test_accepted_pairs_of_two_people_equal_loops(faces):
    X, y, group = faces
    cells, found = counted(faces)
    scores = scores_of(X)
    weight = weights_drawn(y, None)
    expected = expected_cells(scores, y, group, FAR, weight)
    for row, cell in enumerate(cells):
        got = {(a, b): n for r, a, b, n in found.accepted if r == row}
        wanted = {}
        if cell.rate == "far":
            for i, j, _ in pairs_of(y, group, cell.group, weight)[0]:
                if scores[i, j] >= expected[cell][2]:
                    two = tuple(sorted((y[i], y[j])))
                    wanted[two] = wanted.get(two, 0) + 1
        assert got == wanted


def test_the_setter_is_everyone_or_the_group_with_the_highest_threshold(faces):
    cells, found = counted(faces)
    # The crowded group has the higher FAR everywhere, so that it sets the threshold.
    for row, cell in enumerate(cells):
        setter = None if cell.point == "overall" else "female"
        assert cells[found.setter[row]] == Cell("sex", cell.point, "far", setter)


def test_without_resamples_the_data_alone_are_counted(faces):
    _, with_resamples = counted(faces)
    _, alone = counted(faces, n_resamples=0, entropy=None)
    assert alone.errors.shape == (len(alone.pairs), 1)
    assert_allclose(alone.errors, with_resamples.errors[:, :1])


def test_a_group_that_is_not_in_a_fold_has_no_pairs(faces):
    X, y, group = faces
    groups = {"sex": ["female", "male", "other"]}
    found = count_errors(
        X, y, {"sex": group}, groups, far=FAR, n_resamples=2, entropy=0
    )
    rows = [row for row, cell in enumerate(cells_of(groups)) if cell.group == "other"]
    assert rows and not found.pairs[rows].any()


def test_several_attributes_are_counted_at_once(faces):
    X, y, group = faces
    both = {"sex": group, "odd": np.where(y % 2, "odd", "even")}
    groups = {"sex": ["female", "male"], "odd": ["even", "odd"]}
    options = {"far": FAR, "n_resamples": 3, "entropy": 5}
    together = count_errors(X, y, both, groups, **options)
    cells = cells_of(groups)
    for name in both:
        alone = count_errors(X, y, {name: both[name]}, {name: groups[name]}, **options)
        rows = [row for row, cell in enumerate(cells) if cell.attribute == name]
        assert_allclose(together.errors[rows], alone.errors)


def test_a_metric_is_made_of_everyone_or_of_the_groups():
    cells = cells_of({"sex": ["f", "m"], "odd": ["a", "b"]})
    for name, asked in METRICS.items():
        found = [cells[row] for row in rows_of(cells, "odd", name)]
        labels = [None] if asked.how is None else ["a", "b"]
        expected = [Cell("odd", asked.point, asked.rate, label) for label in labels]
        assert found == expected
