"""RateMonitor: who counts, what is kept, and that splitting a stream changes nothing."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr.metrics import RateMonitor
from skfairfr.report import audit_decisions

LIMITS = {"how": (None, "max_min"), "limit": (0.05, 1.5)}


def stream(n=600, seed=0, rates=(0.12, 0.04, 0.04), repeats=0.4):
    """Errors, people who come again, and groups, in the order of time."""
    rng = np.random.default_rng(seed)
    person = np.where(rng.random(n) < repeats, rng.integers(0, 50, n), np.arange(n))
    group = np.array(["a", "b", "c"])[person % 3]
    return rng.random(n) < np.array(rates)[person % 3], person, group


def watched(parts, **options):
    monitor = RateMonitor(**LIMITS | options)
    for part in parts:
        state = monitor.update(*part)
    return monitor, state


def units(error, person, group, attempts):
    """Whoever has made so many attempts, with their mean: a plain loop."""
    so_far, found = {}, {}
    for x, who, g in zip(error, person, group, strict=True):
        so_far.setdefault(who, []).append(x)
        if len(so_far[who]) == attempts:
            found.setdefault(g, []).append(np.mean(so_far[who]))
    return found


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_a_person_counts_once(attempts):
    given = stream()
    _, state = watched([given], attempts=attempts)
    expected = units(*given, attempts)
    rates = state.rates
    for place, group in enumerate(rates.groups):
        assert rates.n_people[place] == len(expected[group])
        assert rates.value[place] == pytest.approx(np.mean(expected[group]))
        of_group = given[2] == group
        assert rates.n_attempts[place] == of_group.sum()
        assert rates.n_errors[place] == given[0][of_group].sum()
    assert state.n_people == sum(map(len, expected.values()))


@pytest.mark.parametrize("attempts", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_updates_in_parts_come_to_the_same(tmp_path, attempts, seed):
    given = stream(seed=seed)
    _, whole = watched([given], attempts=attempts)
    cuts = np.sort(np.random.default_rng(seed).integers(0, 600, 4))
    monitor = RateMonitor(**LIMITS, attempts=attempts)
    for part in zip(*(np.split(column, cuts) for column in given), strict=True):
        if part[0].size:
            state = monitor.update(*part)
        # A file between two runs keeps everything.
        monitor.save(tmp_path / "state.json")
        monitor = RateMonitor.load(tmp_path / "state.json")
    assert state.n_people == whole.n_people
    # A group may come first in another part, but never to the same first group.
    assert state.rates.groups[0] in whole.rates.groups
    for one in whole.findings:
        other = next(
            f
            for f in state.findings
            if f.how == one.how and {*f.groups} == {*one.groups}
        )
        assert other.e_value == pytest.approx(one.e_value, rel=1e-9)
        assert (other.groups, other.verdict) == (one.groups, one.verdict)


def test_an_excess_is_found_and_the_rest_is_not():
    error, _, group = stream(6000, rates=(0.15, 0.04, 0.04))
    _, state = watched([(error, np.arange(6000), group)])
    failed = {found.groups for found in state.failed}
    assert failed == {("a",), ("a", "b"), ("a", "c")}
    for found in state.findings:
        assert found.p_value == pytest.approx(min(1, 1 / found.e_value))
        assert found.p_adjusted >= found.p_value
    of_two = next(f for f in state.findings if f.groups == ("a", "b"))
    places = {g: k for k, g in enumerate(state.rates.groups)}
    ratio = state.rates.value[places["a"]] / state.rates.value[places["b"]]
    assert of_two.value == pytest.approx(ratio)


def test_people_of_unknown_group_do_not_count():
    error, person, group = stream()
    group = group.astype(object)
    group[:100] = None
    _, state = watched([(error, person, group)])
    assert state.n_unknown == 100
    assert state.rates.n_attempts.sum() == 500


def test_without_a_limit_rates_alone_are_watched():
    state = RateMonitor().update(*stream())
    assert state.findings == () and state.rates.n_people.sum() == state.n_people
    assert (state.rates.low <= state.rates.value).all()
    assert state.rates.to_frame("pandas").shape == (3, 7)


def test_the_history_has_a_row_an_update(tmp_path):
    error, person, group = stream()
    monitor = RateMonitor(**LIMITS)
    monitor.update(error[:300], person[:300], group[:300], when="2026-01-31", log="x")
    monitor.update(error[300:], person[300:], group[300:], when="2026-02-28", log="y")
    assert [row["when"] for row in monitor.history_] == ["2026-01-31", "2026-02-28"]
    people = [sum(row["n_people"]) for row in monitor.history_]
    assert people[0] < people[1]
    monitor.save(tmp_path / "state.json")
    assert RateMonitor.load(tmp_path / "state.json").history_ == monitor.history_
    assert RateMonitor.load(tmp_path / "state.json").settings == monitor.settings


def test_a_log_is_taken_once(tmp_path):
    monitor = RateMonitor()
    monitor.update(*stream(), log="abc")
    monitor.save(tmp_path / "state.json")
    again = RateMonitor.load(tmp_path / "state.json")
    with pytest.raises(ValueError, match="'abc' was given before"):
        again.update(*stream(), log="abc")


def test_groups_are_spelled_as_before_and_of_the_same_people(tmp_path):
    error, person, group = stream()
    monitor = RateMonitor()
    monitor.update(error, person, group)
    monitor.save(tmp_path / "state.json")
    monitor = RateMonitor.load(tmp_path / "state.json")
    with pytest.raises(ValueError, match=r"two spellings.*'A' and 'a'"):
        monitor.update(error, person, np.char.upper(group))
    exchanged = np.where(group == "a", "b", "a")
    n_people = np.unique(person).size
    n_other = np.unique(person[group != exchanged]).size
    with pytest.raises(ValueError, match=f"for {n_other} of {n_people} people"):
        monitor.update(error, person, exchanged)
    # Some people change their group, as ages do, and of some it is unknown today.
    for mixed in (
        np.where(person < n_people // 3, exchanged, group),
        np.where(person < 9, exchanged, None),
    ):
        with pytest.warns(UserWarning, match=f"than before: .* of {n_people} people"):
            state = monitor.update(error, person, mixed)
    assert state.rates.n_people.sum() == n_people


def test_numbers_and_texts_are_the_same_people():
    error, person, group = stream()
    monitor = RateMonitor()
    first = monitor.update(error, person, group)
    again = monitor.update(error, person.astype(str), group)
    assert again.n_people == first.n_people
    assert_allclose(again.rates.n_attempts, 2 * first.rates.n_attempts)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"how": "gini", "limit": 2}, "how must be 'max_min' or None"),
        ({"limit": 0.5}, "limit must be a ratio of at least 1"),
        ({"how": None, "limit": 2}, "limit must be a rate in"),
        ({"limit": (1.5, 2)}, "does not have one for each how"),
        ({"confidence_level": 1}, "confidence_level must be"),
        ({"attempts": 0}, "attempts must be an integer from 1"),
    ],
)
def test_arguments_are_checked(options, words):
    with pytest.raises(ValueError, match=words):
        RateMonitor(**options)


@pytest.mark.parametrize(
    ("error", "words"),
    [([0, 2], "must be one number in"), ([0], "error"), (["no", "yes"], "error")],
)
def test_attempts_are_checked(error, words):
    with pytest.raises(ValueError, match=words):
        RateMonitor().update(error, ["ann", "bob"], ["f", "m"])


def test_a_damaged_state_is_named(tmp_path):
    path = tmp_path / "state.json"
    for text in (b"{", json.dumps({"format": 99}).encode(), b"[]", b'{"\xc0": 1}'):
        path.write_bytes(text)
        with pytest.raises(ValueError, match=r"state\.json"):
            RateMonitor.load(path)


def test_update_with_people_given_as_groups_is_refused():
    people = np.repeat([f"p{k}" for k in range(12)], 3)
    groups = np.where(np.arange(36) // 3 % 2, "f", "m")
    error = np.arange(36) % 5 == 0
    with pytest.raises(ValueError, match="contains 12 groups, and identity 2 people"):
        RateMonitor().update(error, groups, people)
    with pytest.raises(ValueError, match="contains 12 groups, and identity_1 2 people"):
        audit_decisions(error, groups, people)
    assert RateMonitor().update(error, people, groups).n_people == 12
