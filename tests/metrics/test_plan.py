"""Plans as users ask for them: questions, pilots, words and errors."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import gamma, norm

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import Dependence, Plan, _plan, plan_test
from skfairfr.report import Policy, _checks
from tests.benchmarks.coverage import LEVELS, Design, SortedPairs, draw


def people(plan, basis, question=0):
    """Number of people of a basis, of the question at this place."""
    kept = plan.question == list(dict.fromkeys(plan.question))[question]
    (found,) = plan.people[kept & (plan.basis == basis)]
    return found


def test_every_question_has_a_row_for_each_basis():
    plan = plan_test(certify_fmr=1e-3, certify_fnmr=0.02, detect_factor=2, rate="frr")
    assert isinstance(plan, Plan)
    assert plan.kind.tolist() == ["certify"] * 6 + ["detect"] * 3
    assert plan.rate.tolist() == ["far"] * 3 + ["frr"] * 6
    rules = ["rule of 3", "independent pairs", "assumed dependence"]
    assert plan.basis.tolist() == rules * 2 + ["rule of 30", *rules[1:]]
    assert (plan.chance[plan.basis != "rule of 30"] >= 0.8).all()
    assert (plan.reason == "").all()


def test_the_bound_of_what_is_expected_keeps_the_limit():
    plan = plan_test(certify_fmr=1e-3, certify_fnmr=0.02, assumed=0.4)
    certified = plan.basis != "rule of 30"
    assert (plan.bound[certified] <= plan.limit[certified]).all()
    assert (plan.expected_errors < plan.most_errors)[certified].all()
    detected = plan_test(detect_factor=1.5)
    assert (detected.bound[1:] > 1).all()


def test_pairs_are_all_pairs_of_a_group():
    plan = plan_test(certify_fmr=1e-3, certify_fnmr=0.02, images_per_person=3)
    n = plan.people
    expected = np.where(plan.rate == "far", n * (n - 1) / 2 * 9, n * 3)
    assert plan.pairs.tolist() == expected.tolist()


def test_more_is_asked_of_several_groups():
    one, four = (plan_test(certify_fmr=1e-3, assumed=0.5, groups=n) for n in (1, 4))
    assert people(one, "independent pairs") < people(four, "independent pairs")
    two, eight = (
        plan_test(policy={"max_far_ratio": 1.5}, far=1e-2, groups=n) for n in (2, 8)
    )
    assert eight.comparisons == 28
    assert people(two, "independent pairs") < people(eight, "independent pairs")
    wider = plan_test(detect_factor=1.5, far=1e-2, comparisons=10)
    narrow = plan_test(detect_factor=1.5, far=1e-2)
    assert people(narrow, "independent pairs") < people(wider, "independent pairs")


@pytest.mark.parametrize(
    ("assumed", "kinds"), [(0.5, ["certify", "pass"]), (1.5, ["fail", "fail"])]
)
def test_a_policy_is_passed_or_failed(assumed, kinds):
    limits = {"max_fnmr": 0.02, "max_far_ratio": 2.0}
    plan = plan_test(policy=limits, far=1e-2, assumed=assumed)
    assert list(dict.fromkeys(zip(plan.kind, plan.limit, strict=True))) == [
        (kinds[0], 0.02),
        (kinds[1], 2.0),
    ]
    assert plan.true_rate[0] == pytest.approx(0.02 * assumed)
    assert plan.true_ratio[-1] == 1 + assumed


def test_failing_is_no_likelier_with_more_groups():
    for groups in (1, 5):
        limits = {"max_fnmr": 0.02}
        plan = plan_test(policy=limits, assumed=2.0, groups=groups)
        row = plan.basis == "independent pairs"
        (n,), (bound,) = plan.pairs[row], plan.bound[row]
        errors, tail = np.floor(0.04 * n), 0.05 / groups
        exact = gamma.ppf(tail, errors) / n
        # Wilson's lower end solves (p - x)**2 = z**2 x (1 - x) / n, and is above it here.
        p, z2 = errors / n, norm.ppf(tail) ** 2
        wilson = np.roots([1 + z2 / n, -2 * p - z2 / n, p**2]).min()
        assert bound == pytest.approx(exact)
        assert wilson > bound > 0.02
        text = " ".join(plan.to_text().split())
        assert "The lower one-sided 95 % bound of a group's rate, which holds" in text
        assert "upper one-sided" not in text


def test_a_policy_object_brings_its_levels_and_its_confidence():
    policy = SimpleNamespace(
        limits={"max_far_ratio": 2.0, "max_bfar": 3.0},
        far=[1e-2, 1e-3],
        confidence_level=0.9,
    )
    plan = plan_test(policy=policy, far=0.5)
    assert sorted(set(plan.true_rate)) == [1e-3, 1e-2]
    assert plan.confidence_level == 0.9
    assert plan_test(policy=policy, confidence_level=0.99).confidence_level == 0.99


FIRST_LINES = {
    ("max_bfar",): (
        "Not planned for: max_bfar (judged where no group's FAR exceeds a level, at a "
        "threshold that the data of the test set)."
    ),
    ("max_bfar", "max_bfrr", "at"): (
        "Not planned for: max_bfar and max_bfrr (judged where no group's FAR exceeds a level, "
        "at a threshold that the data of the test set), limits of single levels or "
        "thresholds (at)."
    ),
}


@pytest.mark.parametrize("left_out", FIRST_LINES)
def test_what_is_not_planned_for_is_said_first(left_out, tmp_path):
    limits = {"max_fmr": 1e-3} | {name: 2.0 for name in left_out if name != "at"}
    at = {1e-2: {"max_fnmr": 0.1}} if "at" in left_out else {}
    rows = [f"{name} = {limit}" for name, limit in limits.items()]
    rows += ["[[at]]\nfar = 1e-2\nlimits = { max_fnmr = 0.1 }"] * bool(at)
    path = tmp_path / "gate.toml"
    path.write_text("\n".join(['name = "gate"', "far = 1e-2", "[limits]", *rows]))
    policies = [Policy.read(path), Policy("gate", limits, far=1e-2, at=at)]
    policies += [] if at else [limits]
    for policy in policies:
        plan = plan_test(policy=policy)
        assert plan.left_out == left_out
        first, rest = plan.to_text().split("\n\n", 1)
        lines = first.split("\n")
        assert lines[0] == "People per group, 2 images of each person"
        assert " ".join(map(str.strip, lines[1:])) == FIRST_LINES[left_out]
        assert max(map(len, lines)) <= 88
        assert "Not planned" not in rest
        assert set(plan.question) == set(plan_test(policy={"max_fmr": 1e-3}).question)


def test_nothing_is_said_where_all_is_planned_for():
    plan = plan_test(policy={"max_fmr": 1e-3})
    assert plan.left_out == ()
    assert "Not planned" not in plan.to_text()


@pytest.mark.parametrize(
    ("limits", "at", "words"),
    [
        ({"max_bfar": 2.0}, {}, "only max_bfar (judged where no group's FAR exceeds"),
        ({"max_bfrr": 2.0, "max_bfar": 3.0}, {}, "only max_bfar and max_bfrr (judged"),
        (
            {},
            {1e-2: {"max_fmr": 0.1}},
            "only limits of single levels or thresholds (at).",
        ),
    ],
)
def test_a_policy_of_which_nothing_can_be_planned(limits, at, words):
    policies = [Policy("gate", limits, far=1e-2, at=at)] + ([] if at else [limits])
    for policy in policies:
        # Not even beside another question.
        for more in ({}, {"certify_fmr": 1e-3}):
            with pytest.raises(ValueError) as caught:
                plan_test(policy=policy, **more)
            message = str(caught.value)
            label = "gate" if isinstance(policy, Policy) else limits
            assert message.startswith(
                f"policy={label!r} holds nothing that can be planned for, "
            )
            assert words in message
            assert message.endswith(
                "Give one of max_fmr, max_fnmr, max_far_ratio, max_frr_ratio for all levels."
            )


def test_limits_of_audits_are_planned_for_or_left_out():
    assert set(_plan.LIMITS) | set(_plan.UNPLANNED) == set(_checks.LIMITS)
    assert not set(_plan.LIMITS) & set(_plan.UNPLANNED)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"certify_fmr": 1e-3, "assumed": 1.5},
            "cannot be certified: the assumed FMR, 0.0015, is above the limit",
        ),
        (
            {"certify_fnmr": 0.02, "assumed": 1},
            "cannot be certified: the assumed FNMR, 0.02, is at the limit",
        ),
        (
            {"policy": {"max_far_ratio": 2.0}, "assumed": 1.0},
            "can be neither passed nor failed: the assumed ratio is at the limit",
        ),
        (
            {"policy": {"max_fnmr": 0.5}, "assumed": 3.0},
            "the assumed FNMR would be 1.5; give a smaller share",
        ),
    ],
)
def test_what_is_impossible_is_said(options, reason):
    plan = plan_test(**options)
    assert plan.people.tolist() == [np.inf]
    assert plan.reason.tolist() == [reason]
    text = plan.to_text()
    assert text.endswith(f":\n  {reason}\n")


def test_more_people_than_there_are():
    plan = plan_test(certify_fnmr=0.01, assumed=0.9999999)
    assert plan.people[1:].tolist() == [np.inf] * 2
    assert plan.reason[1] == "more than ten million people"
    assert "independent pairs   more than ten million people" in plan.to_text()


def test_the_words_say_what_was_assumed():
    text = plan_test(certify_fmr=1e-4, detect_factor=1.5, groups=3).to_text()
    assert "To certify that every group's FMR is at most 0.0001, if it is 0:" in text
    assert "To detect that the FMR of a group is 1.5 times that of another" in text
    assert "3 groups of as many people each." in text
    assert "errors vary 2.5 times as much as independent ones" in text
    assert "widened for 3 comparisons" in text
    assert max(map(len, text.splitlines())) <= 88
    one = plan_test(certify_fnmr=0.1, images_per_person=2, groups=1).to_text()
    assert "widened" not in one
    assert "- 1 group. All pairs within a group are compared" in " ".join(one.split())


def test_rules_of_thumb_are_explained_where_they_are_used():
    without_errors = plan_test(certify_fmr=1e-4).to_text()
    assert "rule of 3: 3 / limit pairs; if none of them errs" in without_errors
    assert "rule of 30:" not in without_errors
    with_errors = plan_test(certify_fmr=1e-4, assumed=0.5).to_text()
    assert "rule of 30: enough pairs to expect 30 errors." in with_errors
    assert "rule of 3:" not in with_errors


def test_errors_without_correlation_vary_as_independent_ones_do():
    none = Dependence(correlation=0.0)
    text = plan_test(certify_fnmr=0.01, dependence=none).to_text()
    assert "FNMR: errors vary as much as independent ones (correlation 0)" in text


def test_a_frame_has_a_row_for_each_basis():
    pytest.importorskip("pandas")
    plan = plan_test(certify_fmr=1e-3)
    frame = plan.to_frame("pandas")
    assert frame.shape == (3, 19)
    assert frame["people"].tolist() == plan.people.tolist()
    assert frame["groups"].tolist() == [2, 2, 2]


def test_a_given_dependence_replaces_the_assumed_one():
    few = {"dependence": Dependence(0.0, 0.0)}
    plan = plan_test(certify_fmr=1e-3, images_per_person=4, assumed=0.5, **few)
    assumed = plan_test(certify_fmr=1e-3, images_per_person=4, assumed=0.5)
    alone = people(plan, "independent pairs")
    given = people(plan, "given dependence")
    assert alone <= given < 1.2 * alone < people(assumed, "assumed dependence")
    both = {"far": Dependence(0.0, 0.0), "frr": Dependence(1.0, 0.0)}
    one = plan_test(certify_fmr=1e-3, images_per_person=4, assumed=0.5, dependence=both)
    assert people(one, "given dependence") == given
    assert one.dependence == both


@pytest.mark.parametrize(
    ("rate", "images", "phi"), [("far", 1, 1.0), ("far", 3, 2.6), ("frr", 4, 2.0)]
)
def test_inflation_is_one_of_pairs_that_stand_alone(rate, images, phi):
    assert Dependence(0.2).inflation(rate, images) == pytest.approx(phi)


DESIGN = Design(
    (90, 70),
    noise=(0.7, 1.2),
    spread=(0.05, 0.9),
    direction=(0.2, 0.6),
    images=(3, 3),
)


@pytest.fixture(scope="module")
def pilot():
    X, y, group, n_images = draw(DESIGN, np.random.default_rng(0))
    roc = SimilarityROC(n_resamples=1, random_state=0).fit(X, y, group[y])
    return roc, SortedPairs.of(X, y, n_images, 0.02), group


def test_a_pilot_shows_the_dependence_of_its_groups(pilot):
    """From sums over pairs, by their definitions: with so many errors priors matter little."""
    roc, pairs, group = pilot
    plan = plan_test(certify_fmr=1e-2, pilot=roc, assumed=0.5)
    assert "pilot" in plan.basis
    thresholds = pairs.thresholds(LEVELS)
    correlation, variation = [], []
    for g in range(2):
        sums, _ = pairs.accepted(thresholds, group == g)
        p = sums.rate[0]
        together = sums.squares[0] / (sums.errors[0] * (1 - p))
        correlation.append((together - 1) / 8)
        variation.append(
            sums.shared[0] / (sums.errors[0] * (1 - p)) ** 2 / sums.reach[0]
        )
    found = plan.dependence["far"]
    assert max(variation) > 2 * min(variation)
    assert found.correlation == pytest.approx(max(correlation), abs=0.03)
    assert found.variation == pytest.approx(max(variation), abs=0.12)
    assert found.lent == found.correlation
    at_small = plan_test(certify_fmr=1e-3, pilot=roc).dependence["far"]
    assert at_small.correlation < at_small.lent == found.correlation


def test_a_pilot_gives_the_usual_frr(pilot):
    roc, pairs, group = pilot
    plan = plan_test(detect_factor=1.5, rate="frr", far=1e-2, pilot=roc)
    sums = [
        pairs.rejected(pairs.thresholds(LEVELS), group == g)[0].errors for g in (0, 1)
    ]
    expected = (sums[0] + sums[1])[0] / (3 * group.size)
    assert plan.true_rate[0] == pytest.approx(expected, rel=0.02)
    given = plan_test(detect_factor=1.5, rate="frr", frr=0.03, pilot=roc)
    assert given.true_rate[0] == 0.03


def test_a_pilot_needs_neither_groups_nor_genuine_pairs():
    made = make_face_embeddings(n_identities=60, random_state=0)
    _, first = np.unique(made.y, return_index=True)
    roc = SimilarityROC(n_resamples=1, random_state=0)
    roc.fit(made.X[first], made.y[first])
    plan = plan_test(certify_fmr=1e-3, certify_fnmr=0.1, pilot=roc)
    assert plan.dependence["frr"] == Dependence()
    assert np.isfinite(plan.people).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Nothing was asked. Give certify_fmr, "),
        ({"certify_fmr": 1.0}, "certify_fmr must be a number in (0, 1); got 1.0."),
        ({"certify_fnmr": "a"}, "certify_fnmr must be a number in (0, 1); got 'a'."),
        ({"detect_factor": 1}, "detect_factor must be a finite number above 1; got 1."),
        ({"certify_fmr": 0.1, "power": 1}, "power must be a number in (0, 1); got 1."),
        ({"certify_fmr": 0.1, "assumed": -1}, "assumed must be a finite number of at"),
        ({"certify_fmr": 0.1, "assumed": np.nan}, "assumed must be a finite number of"),
        (
            {"certify_fmr": 0.1, "confidence_level": 0.5},
            "confidence_level must be a number in (0.5, 1); got 0.5.",
        ),
        ({"certify_fmr": 0.1, "groups": 0}, "groups must be at least 1; got 0."),
        (
            {"certify_fnmr": 0.1, "images_per_person": 1},
            "images_per_person=1 leaves no genuine pair, which an FNMR needs. Give 2",
        ),
        (
            {"detect_factor": 2, "groups": 1},
            "groups=1 has no two rates to compare. Give 2 or more.",
        ),
        (
            {"detect_factor": 2, "rate": "frr", "frr": 0.5},
            "frr=0.5 times 2 is no rate below 1. Give a smaller one.",
        ),
        ({"detect_factor": 2, "rate": "eer"}, "rate must be one of 'far', 'frr'"),
        (
            {"policy": {"max_fnrm": 0.1}},
            "policy={'max_fnrm': 0.1} has an unknown limit, 'max_fnrm'. Did you mean "
            "'max_fnmr'? Known are max_fmr, max_fnmr, ",
        ),
        (
            {"policy": SimpleNamespace(limits={"eer": 0.1})},
            "policy={'eer': 0.1} has an unknown limit, 'eer'. Known are max_fmr, ",
        ),
        (
            {"policy": {"max_fmr": 0.1, "max_bfar": "2"}},
            "max_bfar must be a finite number above 1; got '2'.",
        ),
        ({"policy": {"max_fmr": 2}}, "max_fmr must be a number in (0, 1); got 2."),
        (
            {"policy": {"max_frr_ratio": 1}},
            "max_frr_ratio must be a finite number above 1; got 1.",
        ),
        ({"policy": 3}, "policy must be a mapping of limits, as {'max_fmr': 1e-4}"),
        ({"policy": {}}, "Nothing was asked. Give certify_fmr, "),
        ({"certify_fmr": 0.1, "dependence": 0.3}, "dependence must be a Dependence, or"),
        ({"certify_fmr": 0.1, "pilot": 3}, "pilot must be a fitted SimilarityROC; got 3"),
        (
            {"certify_fmr": 0.1, "pilot": 3, "dependence": Dependence()},
            "dependence and pilot were both given; leave one out.",
        ),
    ],
)  # fmt: skip
def test_errors_name_the_argument(options, words):
    with pytest.raises(ValueError) as caught:
        plan_test(**options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"correlation": 1.5}, "correlation must be a number in [0, 1]; got 1.5."),
        ({"variation": -0.1}, "variation must be a finite number of at least 0"),
        ({"lent": np.nan}, "lent must be a number in [0, 1]; got nan."),
    ],
)
def test_a_dependence_has_its_ranges(options, words):
    with pytest.raises(ValueError) as caught:
        Dependence(**options)
    assert words in str(caught.value)
