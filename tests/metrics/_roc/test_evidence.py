"""Evidence of a fitted SimilarityROC against loops over people, and what rests on it."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr import SimilarityROC
from skfairfr._core import _pairs
from skfairfr._core._jackknife import Contrasts
from skfairfr.metrics._roc._evidence import STEP
from tests.oracles.pairs import without_each

LEVELS = np.array([1e-2, 1e-3])


def draw(people, seed, noise=0.7, alike=2.0, n_features=24):
    """Images of people of some groups, who vary; whose they are, and people's groups.

    ``alike``: by how much the people of a group have the same in common.
    """
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(people)), people)
    centre = rng.standard_normal((group.size, n_features))
    centre[np.arange(group.size), group] += np.broadcast_to(alike, len(people))[group]
    y = np.repeat(np.arange(group.size), rng.integers(2, 6, group.size))
    spread = np.broadcast_to(noise, len(people))[group]
    spread = spread * np.exp(0.3 * rng.standard_normal(group.size))
    X = centre[y] + spread[y, None] * rng.standard_normal((y.size, n_features))
    return X, y, group


def fit(X, y, group, **options):
    options = {"method": "jackknife", "n_resamples": 5, "random_state": 0} | options
    return SimilarityROC(resample="identities", **options).fit(X, y, group[y])


@pytest.fixture(scope="module")
def drawn():
    return draw((60, 40, 50), 0, (0.5, 0.9, 0.7), (0.5, 3.5, 2.0))


@pytest.fixture(scope="module")
def fitted(drawn):
    return fit(*drawn)


def evidence_of(roc, rate, group=None, how=None, far=LEVELS, threshold=None):
    engine = roc._engine
    far = None if threshold is not None else np.sort(far)
    question = engine.question(far, threshold, rate, group, how, "overall")
    return engine.evidence(question)


class People:
    """Scores of all images, and errors of every two people: the slow way."""

    def __init__(self, X, y, group):
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
        scores = (X @ X.T)[np.triu_indices(y.size, 1)]
        left, right = (y[ends] for ends in np.triu_indices(y.size, 1))
        self.of = {"far": left != right, "frr": left == right}
        self.scores, self.left, self.right, self.group = scores, left, right, group

    def threshold(self, level):
        """Just above the largest impostor score at which the FAR is above the level."""
        impostor = np.sort(self.scores[self.of["far"]])[::-1]
        return np.nextafter(np.float32(impostor[int(level * impostor.size)]), np.inf)

    def counts(self, rate, inside, threshold):
        """Errors and pairs of every two people, symmetric."""
        wrong = (self.scores >= threshold) == (rate == "far")
        kept = self.of[rate] & inside[self.left] & inside[self.right]
        found = []
        for chosen in (kept & wrong, kept):
            table = np.zeros((self.group.size,) * 2)
            np.add.at(table, (self.left[chosen], self.right[chosen]), 1)
            found.append(table + (table.T if rate == "far" else 0))
        return found

    def influence(self, rate, inside, threshold):
        """Of each person on the logarithm, number of errors, and X of every two people."""
        e, c = self.counts(rate, inside, threshold)
        ends = 2 if rate == "far" else 1
        found = without_each(e.sum(0), c.sum(0), ends)
        return found, e.sum() / ends, e - e.sum() / c.sum() * c


@pytest.mark.parametrize(
    ("rate", "overall"), list(product(("far", "frr"), (False, True)))
)
def test_evidence_is_a_loop_over_people(drawn, fitted, rate, overall):
    people = People(*drawn)
    group = drawn[2]
    everyone = group >= 0
    groups = [everyone] if overall else [group == g for g in range(3)]
    found = evidence_of(fitted, rate, how=None if overall else "gini")
    for row, level in enumerate(np.sort(LEVELS)):
        at = people.threshold(level)
        setting, n_setting, x_setting = people.influence("far", everyone, at)
        # The jackknife counts what two people share twice.
        own = (x_setting**2).sum() / 2 / n_setting**2
        variance = max((setting**2).sum() - own, own)
        assert_allclose(found.variance[row], variance, rtol=1e-6)
        for place, inside in enumerate(groups):
            influence, n, x = people.influence(rate, inside, at)
            assert_allclose(found.sums.errors[row, place], n)
            assert_allclose(found.influence[place].toarray()[row], influence, atol=1e-9)
            near = [
                people.counts(rate, inside, people.threshold(level * step))[0].sum()
                for step in (STEP, 1 / STEP)
            ]
            near = np.array(near) / (2 if rate == "far" else 1) + 0.5
            slope = np.log(near[0] / near[1]) / (2 * np.log(STEP))
            assert_allclose(found.slope[row, place], slope, atol=1e-12)
            together = influence @ setting
            if rate == "far":  # clusters of the group are in both
                together -= (x * x_setting).sum() / 2 / (n * n_setting)
            assert_allclose(found.covariance[row, place], together, rtol=1e-6)
            expected = slope**2 * variance - 2 * slope * together
            assert_allclose(found.added[row, place], expected, rtol=1e-6)
            moved = influence - slope * setting
            assert_allclose(found.with_threshold(place)[row], moved, atol=1e-6)


def test_contrasts_of_rates_share_the_threshold(fitted):
    """What is added to a contrast is the variance of its influences with the threshold's."""
    found = evidence_of(fitted, "frr", how="gini")
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((4, 3))
    for level in range(2):
        fixed = weights @ np.stack([i.toarray()[level] for i in found.influence])
        moved = weights @ np.stack([found.with_threshold(g)[level] for g in range(3)])
        of_threshold = found.of_threshold[0].toarray()[level]
        # Clusters of impostor pairs count twice in influences, once in the variance.
        twice = (of_threshold**2).sum() - found.variance[level, 0]
        expected = (moved**2).sum(1) - (fixed**2).sum(1)
        expected -= twice * (weights @ found.slope[level]) ** 2
        assert_allclose(found.added_to(level, weights), expected, rtol=1e-6)


def test_a_ratio_of_two_groups_has_the_bounds_of_their_contrast(fitted):
    asked = {"rate": "frr", "how": ("ratio", 2, 0)}
    found = fitted.estimate(np.sort(LEVELS), **asked)
    evidence = evidence_of(fitted, **asked)
    weights = np.array([[{(0, 0): 1, (2, 2): -1}.get(s, 0) for s in evidence.scopes]])
    for level in range(LEVELS.size):
        added = evidence.added_to(level, weights)
        low, high = Contrasts(evidence.sums.rows(level), weights, added).bounds(0.025)
        assert_allclose([found.low[level], found.high[level]], [low[0], high[0]])


def test_far_within_two_groups_and_of_their_own_thresholds(fitted):
    engine = fitted._engine
    for operating_point in ("worst_group", "group"):
        for rate in ("far", "frr"):
            question = engine.question(
                LEVELS, None, rate, None, "gini", operating_point
            )
            found = engine.evidence(question)
            values = np.stack(
                [
                    np.atleast_1d(
                        fitted.estimate(
                            np.sort(LEVELS),
                            rate=rate,
                            group=g,
                            operating_point=operating_point,
                        ).value
                    )
                    for g in range(3)
                ],
                axis=-1,
            )
            assert_allclose(found.sums.rate, values)
    # A rate that its own threshold sets has little variance left.
    question = engine.question(LEVELS, None, "far", None, "gini", "group")
    found = engine.evidence(question)
    assert (found.added < -0.5 * found.sums.log_variance).all()
    # The group with the largest FAR sets the threshold of all.
    question = engine.question(LEVELS, None, "far", None, "gini", "worst_group")
    found = engine.evidence(question)
    is_set = found.added < -0.5 * found.sums.log_variance
    assert (is_set == (found.sums.rate == found.sums.rate.max(axis=1)[:, None])).all()


def test_thresholds_that_groups_set_apart_add_apart(fitted):
    """The threshold of one group moves the rate of no other."""
    question = fitted._engine.question(LEVELS, None, "frr", None, "gini", "group")
    found = fitted._engine.evidence(question)
    weights = np.random.default_rng(0).standard_normal((4, 3))
    for level in range(2):
        expected = np.zeros(4)
        for g in range(3):
            slope = found.slope[level, g]
            moved = slope**2 * found.variance[level, g]
            moved -= 2 * slope * found.covariance[level, g]
            expected += weights[:, g] ** 2 * moved
        assert_allclose(found.added_to(level, weights), expected)


def test_wilson_needs_people(drawn):
    X, y, group = drawn
    roc = SimilarityROC(resample="images", method="jackknife", n_resamples=5)
    with pytest.raises(
        ValueError, match=r"(?s)resample='images'.*resample='identities'"
    ):
        roc.fit(X, y, group[y])
    roc.set_params(resample="identities").fit(X, y, group[y])
    with pytest.raises(ValueError, match="method='recentered'"):
        roc.by(None, resample="images").estimate(1e-2)


def test_equal_groups_have_no_corrected_disparity():
    """Shrunken rates of groups that differ by noise are the same rate."""
    X, y, _ = draw((200,), 3)
    roc = fit(X, y, np.arange(200) % 8, n_resamples=50)
    found = roc.estimate(1e-2, rate="far", how="max_min")
    assert found.value > 1.3
    assert found.corrected < 1.1
    assert found.low == 1.0
    assert found.p_value > 0.05


def test_a_disparity_does_not_depend_on_the_other_levels(fitted):
    several = fitted.estimate([1e-3, 1e-2], rate="far", how="max_min")
    alone = fitted.estimate(1e-2, rate="far", how="max_min")
    for name in ("value", "low", "high", "corrected", "p_value"):
        assert getattr(several, name)[1] == getattr(alone, name), name
    gini = fitted.estimate(1e-2, rate="far", how="gini")
    assert gini.p_value == alone.p_value


@pytest.fixture(scope="module")
def of_few_people():
    """Two and four groups of so few people that some have hardly an error."""
    X, y, group = draw((30,) * 4, 1)
    roc = SimilarityROC(
        resample="identities", method="jackknife", n_resamples=100, random_state=0
    ).fit(X, y, {"four": group[y], "two": group[y] % 2})
    return roc.by("two"), roc.by("four")


@pytest.mark.filterwarnings("ignore:far=")
@pytest.mark.parametrize("group", [None, 0, 1, 2])
def test_a_far_that_sets_its_threshold_is_bounded_from_the_first_error_on(
    fitted, group
):
    """About as well as at a given threshold, or better."""
    levels = np.geomspace(1e-5, 1e-2, 20)
    operating_point = "overall" if group is None else "group"
    asked = {"operating_point": operating_point, "group": group}
    found = fitted.estimate(levels, rate="far", **asked)
    thresholds = fitted.threshold_at(levels, **asked)
    fixed = fitted.estimate(threshold=thresholds, rate="far", group=group)
    assert (found.high <= 2 * fixed.high).all()


@pytest.mark.filterwarnings("ignore:A group has no error")
@pytest.mark.parametrize("rate", ["far", "frr"])
@pytest.mark.parametrize("place", [0, 1])
def test_intervals_of_all_disparities_agree_with_max_min(of_few_people, rate, place):
    roc = of_few_people[place]
    n_groups = roc.groups_.size
    levels = np.array([3e-4, 1e-3, 1e-2])
    ratio = roc.estimate(levels, rate=rate, how="max_min")
    assert (ratio.low == 1).any()
    found = {
        how: roc.estimate(levels, rate=rate, how=how)
        for how in ("max_geomean", "log_geomean", "gini", "difference", "std")
    }
    for how, estimate in found.items():
        neutral = float(how == "max_geomean")
        # Whether groups differ at all is the same question of every disparity.
        assert ((estimate.low > neutral) == (ratio.low > 1)).all(), how
        assert (estimate.low <= estimate.value).all(), how
        assert (estimate.value <= estimate.high).all(), how
    geomean = found["max_geomean"]
    for end in ("low", "high"):
        largest, of_mean = getattr(ratio, end), getattr(geomean, end)
        assert (of_mean <= largest * (1 + 1e-12)).all()
        assert (of_mean**n_groups >= largest * (1 - 1e-12)).all()
    if n_groups == 2:
        assert_allclose(geomean.low, np.sqrt(ratio.low))
        assert_allclose(geomean.high, np.sqrt(ratio.high))
        assert_allclose(found["gini"].high, (ratio.high - 1) / (ratio.high + 1))


def test_no_error_is_counted_at_a_threshold_whose_pairs_are_not_held(
    monkeypatch, drawn
):
    for name in ("WHOLE", "WHOLE_GROUP"):
        monkeypatch.setattr(_pairs, name, 1)
    roc = fit(*drawn, far_max=0.01)
    (asked,) = set(evidence_of(roc, "far", far=[0.01]).asked)
    held = roc._engine.pairs.impostors((0, 0)).scores
    thresholds = np.array([held[0], held[-1], -1.0])
    found = asked.where_held((0, 0), thresholds)
    assert_allclose(found, [held[0], held[-1], np.nan])
    (of_frr,) = set(evidence_of(roc, "frr", far=[0.01]).asked)
    assert_allclose(of_frr.where_held((0, 0), thresholds), thresholds)


def test_errors_of_a_level_beyond_what_is_held_are_those_of_its_sample(
    monkeypatch, drawn
):
    for name in ("WHOLE", "WHOLE_GROUP"):
        monkeypatch.setattr(_pairs, name, 1)
    roc, level = fit(*drawn, far_max=0.01), 0.3
    found = roc.to_frame(level, backend="pandas")
    everyone = found[(found["rate"] == "far") & found["group"].isna()]
    sample = roc._engine.pairs.impostors(None, True).scores
    at = roc.threshold_at(level)
    assert everyone["errors"].item() == (sample >= at).sum()
    assert roc.estimate(level, rate="far").source == "sample"
