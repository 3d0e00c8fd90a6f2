"""Evidence of a fitted SimilarityROC against the study's own sorting of all pairs."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr import SimilarityROC
from skfairfr.metrics._roc._evidence import Evidence
from tests.benchmarks.coverage import LEVELS, Design, draw, measure

DESIGN = Design((60, 40, 50), noise=(0.7, 0.8, 0.6))


@pytest.fixture(scope="module")
def drawn():
    return draw(DESIGN, np.random.default_rng(0))


@pytest.fixture(scope="module")
def fitted(drawn):
    X, y, group, _ = drawn
    roc = SimilarityROC(
        resample="identities", method="wilson", n_resamples=5, random_state=0
    )
    return roc.fit(X, y, group[y])


def evidence_of(roc, rate, group=None, how=None, far=LEVELS):
    engine = roc._engine
    question = engine.question(np.sort(far), None, rate, group, how, "overall")
    return engine.evidence(question)


@pytest.mark.parametrize(
    ("rate", "overall"), list(product(("far", "frr"), (False, True)))
)
def test_evidence_is_that_of_the_study(drawn, fitted, rate, overall):
    X, y, group, n_images = drawn
    groups = [group >= 0] if overall else [group == g for g in range(3)]
    expected = measure(X, y, n_images, groups)
    found = evidence_of(fitted, rate, how=None if overall else "gini")
    # The study takes the level with the most errors first, and pairs of equal scores in
    # another order.
    for name in ("errors", "pairs", "between", "freedom"):
        of_study = getattr(expected.effective[rate], name)
        of_levels = getattr(found.effective, name)[::-1]
        assert_allclose(of_levels, of_study, rtol=2e-2, atol=1e-12, err_msg=name)
    assert_allclose(found.share[::-1], expected.share[rate], rtol=2e-2)
    for place in range(len(groups)):
        of_study = expected.threshold_influence[rate][place]
        of_people = found.with_threshold(place)[::-1]
        assert_allclose(of_people, of_study, atol=0.02)


@pytest.mark.parametrize("rate", ["far", "frr"])
def test_what_else_is_asked_changes_nothing(fitted, rate):
    several = evidence_of(fitted, rate, how="gini", far=[1e-4, 3e-3, 1e-2])
    for place, level in enumerate([1e-4, 3e-3, 1e-2]):
        alone = evidence_of(fitted, rate, group=1, far=[level])
        assert_allclose(alone.share[0], several.share[place])
        for name in ("errors", "pairs", "between", "freedom"):
            found, expected = (getattr(e.effective, name) for e in (alone, several))
            assert_allclose(found[0], expected[place])


def test_the_order_of_groups_changes_no_interval_of_a_disparity(drawn, fitted):
    X, y, group, _ = drawn
    other = SimilarityROC(**fitted.get_params()).fit(X, y, 2 - group[y])
    for rate in ("far", "frr"):
        for how in ("max_min", "gini"):
            asked = {"rate": rate, "far": [1e-3, 1e-4], "how": how}
            found = [roc.estimate(**asked) for roc in (fitted, other)]
            ends = [(one.low, one.high) for one in found]
            # The draws behind the quantile are others.
            assert_allclose(*ends, rtol=0.02, err_msg=f"{rate} {how}")


def test_given_thresholds_do_not_move(fitted):
    engine = fitted._engine
    question = engine.question(None, [0.3, 0.5], "frr", None, "gini", "overall")
    found = engine.evidence(question)
    assert (found.share == 1).all()
    assert (found.slope == 0).all()
    assert_allclose(found.with_threshold(0), found.influence[0].toarray())


def test_evidence_is_gathered_once(fitted):
    assert evidence_of(fitted, "frr", group=0) is evidence_of(fitted, "frr", how="gini")


def test_parts_are_joined():
    """Levels above far_max come from a sample; the evidence is one all the same."""
    X, y, group, _ = draw(Design((40, 40)), np.random.default_rng(1))
    roc = SimilarityROC(resample="identities", n_resamples=5, random_state=0)
    whole = evidence_of(roc.fit(X, y, group[y]), "frr", how="gini", far=[1e-3, 1e-2])
    parts = [evidence_of(roc, "frr", how="gini", far=[level]) for level in (1e-3, 1e-2)]
    found = Evidence.joined(parts)
    assert_allclose(found.share, whole.share)
    assert_allclose(found.with_threshold(1), whole.with_threshold(1))
    assert_allclose(found.rate, whole.rate)


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
            assert_allclose(found.rate, values)
    # A rate that its own threshold sets has little variance left.
    question = engine.question(LEVELS, None, "far", None, "gini", "group")
    assert (engine.evidence(question).share < 0.5).all()


def test_cross_group_evidence_finds_either_order(fitted):
    forth = fitted.estimate(1e-2, rate="far", group=(0, 2))
    back = fitted.estimate(1e-2, rate="far", group=(2, 0))
    assert forth == back
    assert forth.low < forth.value < forth.high


def test_band_is_never_narrower_than_the_interval(fitted):
    for rate, group in product(("far", "frr"), (None, 1)):
        curve = fitted.curve(np.geomspace(1e-3, 5e-2, 6), rate=rate, group=group)
        assert (curve.band_low <= curve.low).all()
        assert (curve.band_high >= curve.high).all()


def test_wilson_needs_people(drawn):
    X, y, group, _ = drawn
    roc = SimilarityROC(resample="images", method="wilson", n_resamples=5)
    with pytest.raises(
        ValueError, match=r"(?s)resample='images'.*resample='identities'"
    ):
        roc.fit(X, y, group[y])
    roc.set_params(resample="identities").fit(X, y, group[y])
    with pytest.raises(ValueError, match="method='recentered'"):
        roc.by(None, resample="images").estimate(1e-2)


@pytest.mark.filterwarnings("ignore:Genuine pairs mostly")
def test_more_errors_raise_both_ends():
    """From no error to many, without a seam."""
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(60), 4)
    impostor = rng.normal(0, 1, 4000)
    ends = rng.integers(0, 60, (2, 4000))
    ends[1] = np.where(ends[0] == ends[1], (ends[1] + 1) % 60, ends[1])
    lows, highs = [], []
    for n_rejected in (0, 1, 2, 5, 20, 60, 120):
        # One error of each person before anybody has two.
        order = np.argsort(np.tile(np.arange(4), 60), kind="stable")
        genuine = np.full(240, 9.0)
        genuine[order[:n_rejected]] = -9.0
        roc = SimilarityROC(
            resample="identities", method="wilson", n_resamples=2, random_state=0
        ).fit_pairs(
            np.r_[genuine, impostor], np.r_[people, ends[0]], np.r_[people, ends[1]]
        )
        found = roc.estimate(threshold=5.0)
        assert found.low <= found.value <= found.high
        lows.append(found.low)
        highs.append(found.high)
    assert (np.diff(lows) > -1e-12).all()
    assert (np.diff(highs) > -1e-12).all()


def test_equal_groups_have_no_corrected_disparity():
    """Shrunken rates of groups that differ by noise are the same rate."""
    X, y, group, _ = draw(Design((25,) * 8), np.random.default_rng(3))
    roc = SimilarityROC(
        resample="identities", method="wilson", n_resamples=50, random_state=0
    ).fit(X, y, group[y])
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
    X, y, group, _ = draw(Design((30,) * 4), np.random.default_rng(1))
    roc = SimilarityROC(
        resample="identities", method="wilson", n_resamples=100, random_state=0
    ).fit(X, y, {"four": group[y], "two": group[y] % 2})
    return roc.by("two"), roc.by("four")


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


@pytest.mark.parametrize("method", ["wilson", "recentered"])
@pytest.mark.parametrize(
    ("rate", "threshold", "why"),
    [
        ("frr", 2.0, "the threshold is above all genuine scores"),
        ("far", -2.0, "the threshold is not above any impostor score"),
    ],
)
@pytest.mark.parametrize("how", ["max_min", "max_geomean", "gini", "difference", "std"])
def test_rates_that_are_all_one_say_so(
    of_few_people, method, rate, threshold, why, how
):
    roc = of_few_people[1].by(method=method)
    both = roc.estimate(threshold=[threshold, 0.4], rate=rate, how=how)
    assert both.reason[0] == f"all rates are 1, because {why}"
    assert not both.supported[0]
    assert "all rates are 1" not in both.reason[1]
    found = roc.estimate(threshold=threshold, rate=rate, how=how)
    assert found.low == found.value
    if method == "wilson":
        # Of other people some rate may be smaller.
        assert found.value < found.high
