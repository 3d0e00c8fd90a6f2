"""Facts of the worst group's rate, chosen among people and measured among others."""

import numpy as np
import pytest
from sklearn.utils import check_random_state

from skfairfr import face_labels, make_face_embeddings
from skfairfr.metrics import (
    all_pairs,
    group_error_rates,
    threshold_at_far,
    worst_group_rate,
)

FACES = make_face_embeddings(n_identities=120, n_features=16, random_state=0)
GROUPS = np.random.default_rng(0).integers(3, size=120)[FACES.y]


def slow_rates(rows, far, rate):
    """Rates of every group in some rows, from the list of all their pairs."""
    X, y, groups = FACES.X[rows], FACES.y[rows], GROUPS[rows]
    y_true, y_score, pair_groups = all_pairs(X, y, sensitive_features=groups)
    threshold = threshold_at_far(y_true, y_score, far=far)
    rates = group_error_rates(
        y_true, y_score, sensitive_features=pair_groups, threshold=threshold
    )
    return getattr(rates, rate)


@pytest.mark.parametrize("rate", ["far", "frr"])
def test_choice_and_held_out_rates_are_those_of_the_pairs(rate):
    worst = worst_group_rate(
        FACES.X, FACES.y, sensitive_features=GROUPS, far=2e-2, rate=rate,
        n_resamples=10, random_state=5,
    )  # fmt: skip
    second = check_random_state(5).permutation(120) % 2 == 1
    in_second = second[FACES.y]
    first, other, whole = (
        slow_rates(rows, 2e-2, rate) for rows in (~in_second, in_second, slice(None))
    )
    assert worst.chosen.tolist() == [np.argmax(first), np.argmax(other)]
    expected = [other[np.argmax(first)], first[np.argmax(other)]]
    assert worst.held_out == pytest.approx(expected, abs=1e-12)
    assert worst.value == pytest.approx(np.mean(expected))
    assert (worst.naive, worst.naive_group) == (
        pytest.approx(whole.max()),
        whole.argmax(),
    )
    assert worst.n_groups == 3


def test_the_halves_share_no_person_and_the_interval_averages_theirs():
    wide, worst = (
        worst_group_rate(
            *(FACES.X, FACES.y),
            **{"sensitive_features": GROUPS, "far": 2e-2, "n_resamples": 50},
            confidence_level=level,
            random_state=0,
        )
        for level in (0.99, 0.8)
    )
    assert wide.low < worst.low < worst.high < wide.high
    assert worst.low == pytest.approx(worst.held_out_low.mean())
    assert worst.high == pytest.approx(worst.held_out_high.mean())
    assert worst.low <= worst.value <= worst.high
    assert isinstance(worst.supported, bool)


def test_groups_inside_y_and_renamed_groups_give_the_same():
    options = {"far": 2e-2, "n_resamples": 10, "random_state": 0}
    plain = worst_group_rate(FACES.X, FACES.y, sensitive_features=GROUPS, **options)
    inside = worst_group_rate(FACES.X, face_labels(FACES.y, GROUPS), **options)
    named = np.array(["a", "b", "c"])
    renamed = worst_group_rate(
        FACES.X, FACES.y, sensitive_features=named[GROUPS], **options
    )
    for field in ("value", "low", "high", "naive"):
        assert getattr(plain, field) == getattr(inside, field)
        assert getattr(plain, field) == getattr(renamed, field)
    assert renamed.chosen.tolist() == named[plain.chosen].tolist()


def test_a_group_of_exactly_so_many_people_is_compared():
    in_second = (check_random_state(5).permutation(120) % 2 == 1)[FACES.y]
    people = [
        [np.unique(FACES.y[(GROUPS == g) & half]).size for g in range(3)]
        for half in (in_second, ~in_second)
    ]
    least = np.min(people, axis=0)
    for n, n_groups in (
        (least.min(), 3),
        (least.min() + 1, (least > least.min()).sum()),
    ):
        worst = worst_group_rate(
            FACES.X, FACES.y, sensitive_features=GROUPS, far=2e-2, n_resamples=1,
            min_identities=n, random_state=5,
        )  # fmt: skip
        assert worst.n_groups == n_groups


def test_people_of_two_images_have_a_genuine_pair():
    first_two = np.concatenate([np.flatnonzero(FACES.y == k)[:2] for k in range(120)])
    X, y, groups = (v[first_two] for v in (FACES.X, FACES.y, GROUPS))
    worst = worst_group_rate(
        X, y, sensitive_features=groups, far=2e-2, rate="frr", n_resamples=1,
        random_state=5,
    )  # fmt: skip
    assert worst.n_groups == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sensitive_features": None}, "worst_group_rate needs groups"),
        ({"far": [1e-2, 1e-3]}, "far must be one number"),
        ({"far": 0.0}, "far must lie in"),
        ({"rate": "fmr"}, "rate must be one of 'far', 'frr'"),
        ({"min_identities": 1}, "min_identities must be an integer from 2"),
        ({"min_identities": 50}, "0 of 3 groups have min_identities=50"),
        ({"sensitive_features": np.zeros(len(FACES.y))}, "among at least two, but 1 of 1"),
        ({"sensitive_features": GROUPS[1:]}, "sensitive_features has"),
        ({"n_resamples": 0}, "n_resamples"),
    ],
)  # fmt: skip
def test_worst_group_rate_refuses(options, message):
    options = {"sensitive_features": GROUPS, **options}
    with pytest.raises(ValueError, match=message):
        worst_group_rate(FACES.X, FACES.y, **options)
