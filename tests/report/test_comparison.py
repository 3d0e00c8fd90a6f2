"""Harm, improvement and levelling down, where they were put in and where they were not."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._text._words import NO_DIFFERENCE
from skfairfr.report import (
    EmbeddingData,
    PairData,
    SystemsComparison,
    compare_systems,
)
from skfairfr.report._data import Reading
from skfairfr.report.sections._changes import change_sentence
from tests.report.audits import counted_pairs, scored_pairs, systems
from tests.report.json_schema import is_valid
from tests.report.test_verdicts import adjusted_by_loop

QUICK = {"far": [1e-2]}


def people(seed, n_people=120, n_images=4, n_features=24):
    """Centres of people, whose they are and two groups."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_people), n_images)
    return (
        rng,
        y,
        np.where(y % 2, "f", "m"),
        rng.standard_normal((n_people, n_features)),
    )


def system(rng, y, centre, noise):
    shaken = rng.standard_normal((y.size, centre.shape[1]))
    return centre[y] + np.asarray(noise).reshape(-1, 1) * shaken


def data_of(seed, noise_before, noise_after, **columns):
    """Two systems whose images have a noise of their own for f and for m."""
    rng, y, group, centre = people(seed)
    made = []
    for noise in (noise_before, noise_after):
        X = system(rng, y, centre, np.where(group == "f", *noise))
        made.append(EmbeddingData(X, y, {"sex": group, **columns}))
    return made


@pytest.fixture(scope="module")
def harmed():
    """f loses much, m nothing."""
    return compare_systems(*data_of(0, (0.7, 0.7), (1.0, 0.7)), **QUICK)


def named(changes):
    return {(change.group, change.rate) for change in changes}


def test_a_harmed_group_is_named(harmed):
    assert ("f", "frr") in named(harmed.harm)
    assert ("m", "frr") not in named(harmed.harm)
    text = harmed.to_text()
    assert "FNMR of f (sex) at an overall FMR of 1 %" in text


def test_differences_beyond_the_first_are_counted(harmed):
    many = replace(harmed, changes=4 * harmed.changes)
    n, text = len(many.harm + many.improved), " ".join(many.to_text(full=False).split())
    shown = text.count("Higher with after: ") + text.count("Lower with after: ")
    assert 0 < shown < n and f"{n - shown} further differences." in text
    assert "further difference" not in harmed.to_text(full=False)


def test_comparing_back_turns_harm_into_improvement(harmed):
    data = data_of(0, (0.7, 0.7), (1.0, 0.7))
    back = compare_systems(*data[::-1], **QUICK)
    assert named(back.improved) == named(harmed.harm)
    assert named(back.harm) == named(harmed.improved)
    for there, here in zip(harmed.changes, back.changes, strict=True):
        assert_allclose(there.difference, -here.difference)
        assert_allclose(there.p_value, here.p_value)


def test_headline_is_the_largest_ratio_not_the_largest_difference(harmed):
    (frr,) = (c for c in harmed.changes if (c.group, c.rate) == ("f", "frr"))
    small = {"before": 0.3, "after": 0.36, "difference": 0.06, "ratio": 1.2}
    large = {"before": 0.01, "after": 0.022, "difference": 0.012, "ratio": 2.2}
    changes = replace(frr, **small), replace(frr, rate="far", **large)
    found = replace(harmed, changes=changes, disparities=())
    (headline,) = re.findall(r"Result\n-+\n(.*)", found.to_text())
    assert headline.startswith("Higher with after: FMR of f (sex)")


def test_changes_are_those_of_compare(harmed):
    before, after = data_of(0, (0.7, 0.7), (1.0, 0.7))
    rocs = [
        SimilarityROC(resample="identities", n_resamples=60, random_state=0).fit(
            one.X, one.y, one.columns["sex"]
        )
        for one in (before, after)
    ]
    for change in harmed.changes:
        asked = {"rate": change.rate, "group": change.group}
        found = rocs[1].compare(rocs[0], 1e-2, **asked)
        for name in ("difference", "low", "high", "ratio", "ratio_low", "p_value"):
            assert_allclose(getattr(change, name), getattr(found, name), err_msg=name)
        values = [roc.estimate(1e-2, **asked).value for roc in rocs]
        assert_allclose([change.before, change.after], values)
    tested = [c for c in harmed.changes if np.isfinite(c.p_adjusted)]
    expected = adjusted_by_loop([change.p_value for change in tested], 1.0)
    assert_allclose([change.p_adjusted for change in tested], expected)
    assert len(tested) > 2
    for disparity in harmed.disparities:
        asked = {"rate": disparity.rate, "how": "max_min"}
        found = rocs[1].compare(rocs[0], 1e-2, **asked)
        assert_allclose(disparity.ratio, found.ratio)
        assert disparity.ratio_low <= disparity.ratio <= disparity.ratio_high
        frr = [roc.estimate(1e-2).value for roc in rocs]
        assert_allclose([disparity.frr_before, disparity.frr_after], frr)


def test_levelling_down_needs_nobody_better_off():
    """Only m's genuine pairs change: its FRR rises to that of f."""
    rng = np.random.default_rng(2)
    n_people, per = 150, 10
    y = np.repeat(np.arange(n_people), per)
    group = np.where(np.arange(n_people) % 2, "f", "m")
    left, right = rng.integers(0, n_people, (2, 4000))
    left, right = left[left != right], right[left != right]
    impostor = rng.normal(0, 1, left.size)
    of_person = rng.normal(0, 0.3, n_people)[y]
    shaken = rng.normal(0, 1, y.size)
    f = group[y] == "f"

    def pairs(shift_of_m, shift_of_f=2.2):
        genuine = np.where(f, shift_of_f, shift_of_m) + of_person + shaken
        ends = np.r_[y, left], np.r_[y, right]
        columns = {"sex": tuple(group[end] for end in ends)}
        return PairData(np.r_[genuine, impostor], ends, columns)

    asked = {"far": 0.05}
    found = compare_systems(pairs(3.2), pairs(2.2), **asked)
    assert [(d.attribute, d.rate) for d in found.levelling_down] == [("sex", "frr")]
    assert not found.improved and named(found.harm) == {(None, "frr"), ("m", "frr")}
    assert "Levelling down: " in found.to_text()
    # With f a little better off it is none.
    found = compare_systems(pairs(3.2), pairs(2.2, 2.4), **asked)
    assert ("f", "frr") in named(found.improved)
    assert not found.levelling_down


@pytest.mark.slow
def test_any_false_verdict_is_rare():
    """Of 150 comparisons of equal systems, by two attributes and both levels, at 5 %."""
    wrong = 0
    for seed in range(150):
        half = np.repeat(np.arange(120) // 2 % 2, 4)
        data = data_of(seed, (0.8, 0.8), (0.8, 0.8), half=half)
        found = compare_systems(*data)
        wrong += bool(found.harm or found.improved)
    assert wrong / 150 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.slow
def test_several_systems_attributes_and_levels():
    rng, y, group, centre = people(3, n_people=60)
    half = np.where(y % 3, "x", "z")
    columns = {"sex": group, "half": half}
    data = [EmbeddingData(system(rng, y, centre, 0.8), y, columns) for _ in range(3)]
    found = compare_systems(*data, far=[1e-2, 1e-1], names="abc")
    per_level = 1 + 2 * (2 + 2 + 4)
    assert len(found.changes) == 2 * 2 * per_level
    assert len(found.disparities) == 2 * 2 * 2 * 3
    assert found.systems == ("a", "b", "c")
    lines = found.to_text().splitlines()
    assert max(map(len, lines)) <= 100
    assert "\n".join(lines).isascii()
    read = json.loads(found.to_json(source="x"), parse_constant=pytest.fail)
    assert read["source"] == "x" and len(read["changes"]) == len(found.changes)
    assert read["harm"] == [c for c in read["changes"] if c["verdict"] == "higher"]


def test_a_group_without_pairs_is_not_tested():
    rng, y, group, centre = people(4, n_people=40)
    group = np.where(y == 0, "lone", group)
    data = [
        EmbeddingData(system(rng, y, centre, 0.8), y, {"sex": group}) for _ in range(2)
    ]
    found = compare_systems(*data, **QUICK)
    lone = [c for c in found.changes if c.group == "lone" and c.rate == "far"]
    assert [c.verdict for c in lone] == ["too few errors"]
    assert np.isnan(lone[0].p_adjusted)


def test_what_is_left_out_is_counted():
    before, after = data_of(5, (0.8, 0.8), (0.8, 0.8))
    names = np.arange(len(before.y))
    rows = np.random.default_rng(0).permutation(names)[:-7]
    data = [
        EmbeddingData(
            one.X[r], one.y[r], {"sex": one.columns["sex"][r]}, names=names[r]
        )
        for one, r in ((before, names), (after, rows))
    ]
    found = compare_systems(*data, **QUICK)
    assert found.left_out == (7, 0) and found.n_rows == len(names) - 7
    assert "Left out of before: 7 " in found.to_text()


def test_harm_fails_only_where_it_is_asked(harmed):
    assert harmed.exit_code == 0
    data = data_of(0, (0.7, 0.7), (1.0, 0.7))
    assert compare_systems(*data, fail_on_harm=True, **QUICK).exit_code == 1
    same = replace(data[0], X=data[0].X + 1e-6)
    asked = compare_systems(*data, baseline=True, **QUICK)
    assert asked.exit_code == 0 and "Harm found: " in asked.to_text()
    assert "arm found" not in harmed.to_text()
    found = compare_systems(data[0], same, fail_on_harm=True, **QUICK)
    assert found.exit_code == 0 and not found.harm


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"names": ["one", "one"]}, "names must be 2 different ones"),
        ({"far": 0.1, "threshold": 0.5}, "were both given"),
        ({"impostors": "neither"}, "impostors"),
    ],
)
def test_arguments_are_checked(change, words):
    data = data_of(0, (0.7, 0.7), (1.0, 0.7))
    with pytest.raises(ValueError, match=words):
        compare_systems(*data, **change)


def test_verdicts_are_withheld_where_scores_look_like_distances():
    columns = {"a": 200, "b": 200}, {"a": 0.4, "b": 0.1}
    before = scored_pairs(np.random.default_rng(0), *columns)
    noise = np.random.default_rng(1).normal(0, 0.2, (2, before.y_score.size))
    before = replace(before, y_score=before.y_score + noise[0])
    after = replace(before, y_score=before.y_score + 4 * noise[1])
    asked = {"far": 0.3, "fail_on_harm": True, "names": ("A", "B")}
    assert compare_systems(before, after, **asked).harm
    found = compare_systems(before, replace(after, y_score=-after.y_score), **asked)
    assert not found.harm and not found.improved and not found.levelling_down
    assert {change.verdict for change in found.changes} == {"undetermined"}
    assert found.exit_code == 3
    assert found.settings["withheld"] == {"B": "reversed_beside_others"}
    for shown in (found.to_text(), found.to_html()):
        assert "In B, genuine pairs mostly have smaller" in " ".join(shown.split())
        assert "Undetermined: scores of one system look like distances." in shown
        for words in ("Harm:", "No rate was found"):
            assert words not in shown
    assert "Undetermined" in repr(found)
    assert is_valid(json.loads(found.to_json()), SystemsComparison.schema())


@pytest.mark.slow
def test_no_change_is_tested_where_few_impostors_set_a_threshold():
    data = make_face_embeddings(60, 4, 32, random_state=0)
    noise = np.random.default_rng(0).normal(0, 0.15, data.X.shape)
    groups = {"gender": data.sensitive_features}
    before = EmbeddingData(data.X, data.y, groups)
    after = EmbeddingData(data.X + noise, data.y, groups)
    few, enough = 3 / 28_320, 0.01  # of all impostor pairs
    found = compare_systems(before, after, far=[few, enough])
    at_few = [c for c in found.changes if c.far == few]
    assert {c.verdict for c in at_few} == {"too few errors"}
    assert all(np.isnan(c.p_adjusted) for c in at_few)
    (reason,) = {c.reason for c in at_few}
    assert "there are 3 of before, 3 of after" in reason and reason in found.notes
    others = [c for c in found.changes if c.far == enough]
    assert {c.reason for c in others} == {""}
    alone = compare_systems(before, after, far=enough)
    assert [c.p_adjusted for c in others] == [c.p_adjusted for c in alone.changes]
    for shown in (found.to_text(), found.to_html()):
        assert " ".join(reason.split()) in " ".join(shown.split())
    assert is_valid(json.loads(found.to_json()), SystemsComparison.schema())


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "words"), [(-9, "no pair"), (9, "every pair")])
@pytest.mark.parametrize("place", [0, 1])
def test_a_system_that_accepts_all_pairs_or_none_improves_nothing(shift, words, place):
    """Rejecting everybody harms; that nobody is taken for another is no improvement."""
    rates = dict.fromkeys("ab", 0.1)
    usual = scored_pairs(
        np.random.default_rng(0), dict.fromkeys(rates, 90), rates, n_impostor=9
    )
    systems = [usual, usual]
    systems[place] = replace(usual, y_score=usual.y_score + shift)
    found = compare_systems(*systems, threshold=[0.5])
    assert found.harm and not found.improved
    told = {c.reason for c in found.changes if c.verdict == "undetermined"}
    assert len(told) == 1
    (reason,) = told
    name = ("before", "after")[place]
    assert name in reason and f"{words} is accepted" in reason
    for shown in (found.to_text(), found.to_html()):
        assert reason in " ".join(shown.split())


@pytest.mark.parametrize("shift", [-9, 9])
def test_a_comparison_that_tells_nothing_is_no_gate_that_opens(shift):
    """Where both systems accept all pairs, or none, nothing is found, nor is its absence."""
    rates = dict.fromkeys("ab", 0.1)
    usual = scored_pairs(
        np.random.default_rng(0), dict.fromkeys(rates, 90), rates, n_impostor=9
    )
    beyond = replace(usual, y_score=usual.y_score + shift)
    asked = {"threshold": [0.5]}
    systems = beyond, replace(beyond, y_score=beyond.y_score + 0.1)
    found = compare_systems(*systems, **asked, fail_on_harm=True)
    assert {c.verdict for c in found.changes} == {"undetermined"}
    assert (found.exit_code, compare_systems(*systems, **asked).exit_code) == (3, 0)
    assert f'errors="{len(found.changes)}"' in found.to_junit()


ALIKE = {"ash": 60, "birch": 60}


@pytest.mark.slow
@pytest.mark.parametrize("is_distance", [False, True])
def test_thresholds_of_each_system_are_those_of_shifted_scores(is_distance):
    """Of multiples of 1/1024, whose differences are exact, at one threshold for both."""
    data, at = [], (0.25, -1.5, 0.125)
    for one in (*data_of(3, (0.7, 0.7), (1.0, 0.7)), data_of(3, (0.9, 0.9), (1, 1))[0]):
        unit = one.X / np.linalg.norm(one.X, axis=1, keepdims=True)
        left, right = np.triu_indices(len(one.y), 1)
        scores = np.round(1024 * np.sum(unit[left] * unit[right], axis=1)) / 1024
        ends = tuple(
            {k: v[rows] for k, v in one.columns.items()} for rows in (left, right)
        )
        columns = {"sex": tuple(end["sex"] for end in ends)}
        data.append(PairData(scores, (one.y[left], one.y[right]), columns))
    sign = -1 if is_distance else 1
    reading = Reading("p.csv", {"distance": is_distance}) if is_distance else None
    moved = [
        replace(one, y_score=one.y_score - 0.375 + sign * t, reading=reading)
        for one, t in zip(data, at, strict=True)
    ]
    names = ["one", "two", "three"]
    expected = compare_systems(*data, threshold=0.375, names=names)
    asked = {"threshold": [[t] for t in at], "names": names}
    found = compare_systems(*moved, **asked)
    assert {change.verdict for change in found.changes} >= {"higher"}
    for name in ("changes", "disparities"):
        for one, other in zip(
            getattr(found, name), getattr(expected, name), strict=True
        ):
            assert one.threshold == sign * at[names.index(one.system)]
            assert repr(replace(one, threshold=0.375)) == repr(other)
    for one, other in zip(found.measured, expected.measured, strict=True):
        assert one.levels[0].rates == other.levels[0].rates
    text = " ".join(found.to_text().split())
    word = "up to distance" if is_distance else "from similarity"
    told = f"one: accepted {word} 0.25", f"two: accepted {word} -1.5"
    assert all(part in text for part in told) and "at the given thresholds" in text
    assert is_valid(json.loads(found.to_json()), SystemsComparison.schema())
    assert "threshold that was given for it" in found.to_html()


def test_one_system_at_two_thresholds_is_compared():
    one, _ = data_of(3, (0.7, 0.7), (1.0, 0.7))
    found = compare_systems(one, one, threshold=[[0.4], [0.6]])
    assert {(None, "frr"), ("f", "frr")} <= named(found.harm)
    assert (None, "far") in named(found.improved)
    with pytest.raises(ValueError, match="the same file, or have equal scores"):
        compare_systems(one, one, threshold=[[0.4], [0.4]])
    for wrong in ([[0.4]], [[0.4, 0.5], [0.6, 0.7]]):
        with pytest.raises(ValueError, match=r"or \(2, 1\), got"):
            compare_systems(one, one, threshold=wrong)


def test_beyond_all_scores_harm_is_told_and_no_disparity():
    """A system that accepts nobody has rates of 1 in all groups, which is no levelling."""
    before = counted_pairs({"ash": 60, "birch": 50}, ALIKE | {"birch": 90})
    after = replace(before, y_score=before.y_score - 9)
    found = compare_systems(before, after, threshold=0.5)
    assert found.harm and not found.levelling_down
    for change in found.changes:
        assert max(abs(change.low), abs(change.high)) <= 1
    table = found.to_text().split("Largest over")[1].split("What was compared")[0]
    assert table.count("undetermined") == len(found.disparities) == 2
    assert "lower" not in table and "higher" not in table


@pytest.mark.parametrize("n_errors", [0, 3])
def test_few_errors_of_a_system_are_marked_and_tell_nothing_of_a_disparity(n_errors):
    usual = counted_pairs(ALIKE, ALIKE)
    few = counted_pairs(ALIKE | {"birch": n_errors}, ALIKE)
    for both in ((usual, few), (few, usual)):
        found = compare_systems(*both, threshold=0.5)
        verdict = "lower" if both[0] is usual else "higher"
        assert ("birch", "far", verdict) in {
            (c.group, c.rate, c.verdict) for c in found.changes
        }
        assert not found.levelling_down
        told, *_ = found.to_text().split("What was compared")
        sentences, table = " ".join(told.split()).split("Largest over")
        for sentence in sentences.split(" - ")[1:]:
            assert ("too few errors" in sentence) == ("of birch" in sentence)
        assert table.count("too few errors") == 1


def test_a_system_beside_itself_in_another_order_is_refused():
    rng = np.random.default_rng(0)
    rates = {"f": 0.1, "m": 0.1}
    data = scored_pairs(rng, {"f": 40, "m": 40}, rates)
    order = rng.permutation(len(data.y_score))
    with pytest.raises(ValueError, match="equal scores"):
        compare_systems(data, replace(data, y_score=data.y_score[order]), **QUICK)


def test_rows_that_another_system_lacks_are_counted_first():
    one, other = systems(0.2)
    names = np.array([f"image {k}" for k in range(len(one.X))])
    both = [replace(one, names=names), replace(other, names=names).take(np.arange(100))]
    text = " ".join(compare_systems(*both, far=0.1).to_text().split())
    assert f"100 of {len(names):,} images of before are compared. after lacks" in text
    assert "of after are compared" not in text


def of_two_systems(rng, lost):
    """Pairs of three groups under two systems, the second without ``lost`` ones."""
    people = {"a": 40, "b": 40, "c": 40}
    one = scored_pairs(rng, people, dict.fromkeys(people, 0.15), n_impostor=3)
    keys = np.char.add("pair ", np.arange(len(one.y_score)).astype(str))
    one = replace(one, image_names=(keys, np.char.add(keys, " again")))
    other = replace(one, y_score=one.y_score + rng.normal(0, 0.1, keys.size))
    group, same = one.columns["group"][0], np.equal(*one.identities)
    return one, other.take(~((group == "c") & lost(same)))


@pytest.mark.parametrize(
    ("lost", "rates", "words"),
    [
        (np.ones_like, {"far", "frr"}, "The FMR and FNMR of c (group) are not"),
        (np.array, {"frr"}, "The FNMR of c (group) is not"),
        (np.logical_not, {"far"}, "The FMR of c (group) is not"),
    ],
)
def test_group_that_a_system_lacks_is_named_and_undetermined(lost, rates, words):
    both = of_two_systems(np.random.default_rng(0), lost)
    for data, has in ((both, "before"), (both[::-1], "after")):
        found = compare_systems(*data, threshold=0.5, fail_on_harm=True)
        unknown = [c for c in found.changes if c.verdict == "undetermined"]
        assert {(c.group, c.rate) for c in unknown} == {("c", rate) for rate in rates}
        assert (found.harm, found.is_unknown, found.exit_code) == ((), True, 3)
        lacks = "after" if has == "before" else "before"
        text = " ".join(found.to_text(full=False).split())
        assert f"Undetermined. {words} compared: {lacks} lacks" in text
        assert f"of c that {has} has" in text
        assert "another system" not in text and "No harm" not in text
        assert is_valid(json.loads(found.to_json()), SystemsComparison.schema())
        assert lacks in found.to_junit()


def test_one_of_three_systems_that_lacks_a_group_is_named():
    rng = np.random.default_rng(0)
    one, without = of_two_systems(rng, np.ones_like)
    third = replace(one, y_score=one.y_score + rng.normal(0, 0.1, len(one.y_score)))
    found = compare_systems(one, without, third, threshold=0.5, names="abc")
    words = "c (group) are not compared: b lacks impostor pairs and genuine pairs of c"
    assert words in " ".join(found.to_text().split())


def test_group_that_no_system_has_is_not_lost():
    data = of_two_systems(np.random.default_rng(0), np.ones_like)
    groups = np.where(
        data[0].columns["group"][0] == "c", None, data[0].columns["group"]
    )
    unknown = replace(data[0], columns={"group": tuple(groups)})
    found = compare_systems(unknown, data[1], threshold=0.5, fail_on_harm=True)
    assert "undetermined" not in {change.verdict for change in found.changes}
    assert found.exit_code == 0


def test_one_of_two_groups_that_a_system_lacks_is_undetermined():
    data = of_two_systems(np.random.default_rng(0), np.ones_like)
    both = [one.take(one.columns["group"][0] != "b") for one in data]
    found = compare_systems(*both, threshold=0.5, fail_on_harm=True)
    assert (found.harm, found.exit_code) == ((), 3)
    for text in (found.to_text(), found.to_text(full=False), found.to_html()):
        assert "The FMR and FNMR of c (group) are not compared: after" in " ".join(
            text.split()
        )
    constant = [one.take(one.columns["group"][0] == "a") for one in data]
    with pytest.raises(ValueError, match="has one group, 'a'"):
        compare_systems(*constant, threshold=0.5)


@pytest.mark.parametrize(("kept", "code"), [(0.4, 3), (0.9, 0)])
def test_group_that_lost_most_pairs_is_named_and_undetermined(kept, code):
    rng = np.random.default_rng(0)
    both = of_two_systems(rng, lambda same: rng.random(same.size) >= kept)
    for data, lacks in ((both, "after"), (both[::-1], "before")):
        found = compare_systems(*data, threshold=0.5, fail_on_harm=True)
        assert (found.harm, found.exit_code) == ((), code)
        words = f"{lacks} lacks most impostor pairs and most genuine pairs of c"
        assert (words in " ".join(found.to_text().split())) == (code == 3)


def test_group_that_lost_most_images_is_named_and_undetermined():
    made = make_face_embeddings(n_identities=200, random_state=0)
    names, groups = np.arange(made.y.size), made.sensitive_features
    noise = np.random.default_rng(0).normal(0, 0.001, made.X.shape)
    one = EmbeddingData(made.X, made.y, {"gender": groups}, names=names)
    most = (groups != "male") | (names % 10 == 0)
    other = replace(one, X=made.X + noise).take(np.flatnonzero(most))
    found = compare_systems(one, other, far=0.01, fail_on_harm=True)
    lost = {c.group for c in found.changes if c.verdict == "undetermined"}
    assert (lost, found.exit_code) == ({"male"}, 3)


def of_a_broken_system(scores_of):
    """Two systems of 3 groups, the second with other scores of images of "c" in any pair."""
    rng = np.random.default_rng(0)
    one = scored_pairs(rng, {"a": 30, "b": 30, "c": 150}, dict.fromkeys("abc", 0.1))
    in_c = one.columns["group"][0] == "c"
    return one, replace(
        one, y_score=np.where(in_c, scores_of(rng, in_c.size), one.y_score)
    )


def test_noise_in_the_scores_of_most_pairs_is_harm():
    both = of_a_broken_system(lambda rng, n: rng.normal(0.5, 9, n))
    found = compare_systems(*both, threshold=0.5, fail_on_harm=True)
    assert ("c", "frr") in named(found.harm) and found.exit_code == 1


def test_system_of_equal_scores_is_named_and_undetermined():
    one, _ = of_a_broken_system(np.random.Generator.random)
    other = replace(one, y_score=np.full_like(one.y_score, 0.5))
    for far, threshold in ((0.1, None), (None, 0.5)):
        asked = {"far": far, "threshold": threshold, "fail_on_harm": True}
        found = compare_systems(one, other, **asked)
        text = " ".join(found.to_text().split())
        assert "Undetermined: all scores are equal." in text and found.exit_code == 3
        assert (
            "In after, genuine pairs and impostor pairs all have the same score" in text
        )
        assert {c.verdict for c in found.changes} == {"undetermined"}
        assert is_valid(json.loads(found.to_json()), SystemsComparison.schema())


@pytest.mark.slow
def test_interval_without_0_says_why_nothing_is_concluded():
    """Among many changes of equal systems, some interval excludes no change."""
    for seed in range(40):
        found = compare_systems(*data_of(seed, (0.8, 0.8), (0.8, 0.8)), far=[0.1])
        open_ = [
            change
            for change in found.changes
            if change.low * change.high > 0 and change.verdict == NO_DIFFERENCE
        ]
        if open_:
            break
    one = open_[0]
    assert one.p_value < 0.05 < one.p_adjusted
    why = f"no significant difference among all {len(found.changes)} changes"
    table = found.to_html().split("p, adjusted", 1)[1]
    assert table.count(why) == len(open_)
    assert change_sentence(one, found).startswith(f"{why.capitalize()} with after: ")
    assert change_sentence(one, found, "largest change").endswith(f", {why}.")


def test_no_harm_is_not_said_of_too_few_errors():
    rng = np.random.default_rng(0)
    one = scored_pairs(rng, {"a": 30, "b": 30}, {"a": 0.02, "b": 0.02}, n_genuine=1)
    few = [
        one,
        replace(one, y_score=one.y_score + rng.normal(0, 0.2, len(one.y_score))),
    ]
    found = compare_systems(*few, threshold=0.5, fail_on_harm=True)
    rates = [row for m in found.measured for row in m.levels[0].rates]
    assert not any(row.frr.supported or row.far.supported for row in rates)
    assert (found.exit_code, found.is_unknown) == (3, True)
    text = found.to_text()
    assert "No harm found" not in text and "Undetermined. The data do not show" in text
