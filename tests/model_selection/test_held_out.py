"""Errors of people who were left out equal loops over people and pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core._jackknife import ErrorSums
from skfairfr.metrics._folds import Cell, cells_of, count_errors
from skfairfr.model_selection._bench_fits import METRICS, rows_of
from skfairfr.model_selection._mitigations import embed
from tests.model_selection.toy_methods import Shifted, crowd

FAR, STEP = 0.05, 1.5


def scores_of(X, group=None, shift=0.0):
    """Cosines as the package rounds them, less a shift of every image of a group."""
    rows = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    scores = (rows.astype(float) @ rows.astype(float).T).astype(np.float32)
    if group is not None:
        of_image = np.where(group == "female", shift / 2, 0.0)
        scores = (scores - of_image[:, None] - of_image[None]).astype(np.float32)
    return scores


def pairs_of(people, group, wanted):
    """Impostor and genuine pairs (i, j) of everyone, or within a group."""
    impostor, genuine = [], []
    for i in range(len(people)):
        for j in range(i):
            if wanted is None or group[i] == group[j] == wanted:
                (genuine if people[i] == people[j] else impostor).append((i, j))
    return impostor, genuine


def threshold_at(scores, impostor, far):
    """The number next above the largest score at which the FAR exceeds the level."""
    if not impostor:
        return np.nan
    for candidate in sorted({scores[p] for p in impostor}, reverse=True):
        accepted = sum(scores[p] >= candidate for p in impostor)
        if accepted > far * len(impostor) * (1 + 1e-12):
            return np.nextafter(candidate, np.float32(np.inf))
    return -np.inf


def expected_cells(scores, people, group, far):
    """Wrong pairs, all pairs, and the scope that sets the threshold, of every cell."""
    labels = sorted(set(group.tolist()))
    found, pairs = {}, {g: pairs_of(people, group, g) for g in (None, *labels)}
    own = {g: threshold_at(scores, pairs[g][0], far) for g in (None, *labels)}
    worst = labels[int(np.nanargmax([own[g] for g in labels]))]
    points = {
        "overall": dict.fromkeys(pairs),
        "worst_group": dict.fromkeys(pairs, worst),
    }
    points["group"] = {label: label for label in labels}
    for point, setters in points.items():
        for g, setter in setters.items():
            impostor, genuine = pairs[g]
            accepted = [p for p in impostor if scores[p] >= own[setter]]
            rejected = [p for p in genuine if scores[p] < own[setter]]
            found[Cell("sex", point, "far", g)] = accepted, impostor, setter
            found[Cell("sex", point, "frr", g)] = rejected, genuine, setter
    return found


def without_each(wrong, pairs, people):
    """What the errors lose without each person, at the same number of pairs."""
    seen = sorted({people[k] for p in pairs for k in p})
    lost = {}
    for person in seen:
        kept = [p for p in pairs if person not in (people[p[0]], people[p[1]])]
        share = 1 - len(kept) / len(pairs)
        fewer = len(set(kept) & set(wrong))
        deviation = len(wrong) - fewer - len(wrong) * share
        lost[person] = deviation / max(1 - share, 0.5)
    n, mean = len(seen), np.mean(list(lost.values()))
    return {p: (v - mean) * np.sqrt((n - 1) / n) for p, v in lost.items()}


@pytest.fixture(scope="module")
def faces():
    return crowd(20, images_per_identity=(2, 3))


def counted(faces, similarity="cosine"):
    X, y, group = faces
    groups = {"sex": ["female", "male"]}
    options = {"far": FAR, "similarity": similarity}
    found = count_errors(X, y, {"sex": group}, groups, **options)
    return cells_of(groups), found, ErrorSums(*found.sums)


@pytest.mark.parametrize("kind", ["cosine", "comparator", "matrix"])
def test_errors_and_pairs_equal_loops(faces, kind):
    X, y, group = faces
    shift = 0.0 if kind == "cosine" else 0.2
    similarity = "cosine" if kind == "cosine" else scores_of(X, group, shift)
    if kind == "comparator":
        fitted = Shifted(shift).fit(X, y, group)
        X, similarity = embed(fitted, X, group)
    cells, _, sums = counted((X, y, group), similarity)
    expected = expected_cells(scores_of(faces[0], group, shift), y, group, FAR)
    for row, cell in enumerate(cells):
        wrong, pairs, _ = expected[cell]
        assert (sums.errors[row], sums.pairs[row]) == (len(wrong), len(pairs)), cell


def test_what_people_add_equals_loops(faces):
    """By pairs of their own, and by the threshold that those of the setter move."""
    X, y, group = faces
    cells, found, _ = counted(faces)
    low, here, high = (
        expected_cells(scores_of(X), y, group, far)
        for far in (FAR / STEP, FAR, FAR * STEP)
    )
    for row, cell in enumerate(cells):
        wrong, pairs, setter = here[cell]
        setting, all_setting, _ = here[cell._replace(rate="far", group=setter)]
        many, few = len(high[cell][0]) + 0.5, len(low[cell][0]) + 0.5
        share = np.log(many / few) / (2 * np.log(STEP)) * len(wrong) / len(setting)
        own = without_each(wrong, pairs, y)
        moved = without_each(setting, all_setting, y)
        lost = [own.get(p, 0) - share * moved.get(p, 0) for p in np.unique(y)]
        assert_allclose(found.lost[row], lost, atol=1e-9, err_msg=str(cell))
        two = np.zeros((y.max() + 1,) * 2)
        for p, weight in (*((p, 1) for p in wrong), *((p, -share) for p in setting)):
            if y[p[0]] != y[p[1]]:
                two[tuple(sorted((y[p[0]], y[p[1]])))] += weight
        entries = np.zeros_like(two)
        mine = found.of_two[0] == row
        entries.ravel()[found.of_two[1][mine]] = found.of_two[2][mine]
        assert_allclose(entries, two, atol=1e-9, err_msg=str(cell))


def test_a_group_that_is_not_in_a_fold_has_no_pairs(faces):
    X, y, group = faces
    groups = {"sex": ["female", "male", "other"]}
    found = count_errors(X, y, {"sex": group}, groups, far=FAR)
    rows = [row for row, cell in enumerate(cells_of(groups)) if cell.group == "other"]
    assert rows and not ErrorSums(*found.sums).pairs[rows].any()


def test_several_attributes_are_counted_at_once(faces):
    X, y, group = faces
    both = {"sex": group, "odd": np.where(y % 2, "odd", "even")}
    groups = {"sex": ["female", "male"], "odd": ["even", "odd"]}
    together = count_errors(X, y, both, groups, far=FAR)
    cells = cells_of(groups)
    for name in both:
        one = {name: both[name]}, {name: groups[name]}
        alone = count_errors(X, y, *one, far=FAR)
        rows = [row for row, cell in enumerate(cells) if cell.attribute == name]
        for mine, its in zip(together.sums, alone.sums, strict=True):
            assert_allclose(mine[rows], its)


def test_a_metric_is_made_of_everyone_or_of_the_groups():
    cells = cells_of({"sex": ["f", "m"], "odd": ["a", "b"]})
    for name, asked in METRICS.items():
        found = [cells[row] for row in rows_of(cells, "odd", name)]
        labels = [None] if asked.how is None else ["a", "b"]
        expected = [Cell("odd", asked.point, asked.rate, label) for label in labels]
        assert found == expected
