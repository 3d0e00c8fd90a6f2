"""Plans as users ask for them: questions, pilots, words and errors."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _planning
from skfairfr._core._planning import PlanGoal, Setting
from skfairfr.metrics import Dependence, Plan, _plan, plan_test
from skfairfr.report import Policy, _measure
from tests.refusals import refusal

BASES = ["independent errors", "dependent errors"]


DRAWN, ANSWERED = cache(Setting.draw), cache(PlanGoal.answers)


@pytest.fixture(autouse=True)
def few_are_drawn_and_once(monkeypatch):
    """Plans are rough here; ``tests/_core/test_planning.py`` is about their numbers."""
    monkeypatch.setattr(_planning, "MOST_CLUSTERS", 40)
    monkeypatch.setattr(_planning, "FEWEST_PEOPLE", 10)
    monkeypatch.setattr(Setting.draw, "__defaults__", (100,))
    monkeypatch.setattr(Setting, "draw", DRAWN)
    monkeypatch.setattr(PlanGoal, "answers", ANSWERED)


def people(plan, basis, question=0):
    """Number of people of a basis, of the question at this place."""
    kept = plan.question == list(dict.fromkeys(plan.question))[question]
    (found,) = plan.people[kept & (plan.basis == basis)]
    return found


def test_every_question_has_a_row_for_each_basis():
    plan = plan_test(
        max_fmr=1e-3, max_fnmr=0.02, detect_factor=4, rate="frr", assumed=0
    )
    assert isinstance(plan, Plan)
    assert plan.kind.tolist() == ["certify"] * 6 + ["detect"] * 3
    assert plan.rate.tolist() == ["far"] * 3 + ["frr"] * 6
    assert plan.basis.tolist() == ["rule of 3", *BASES] * 2 + ["rule of 30", *BASES]
    assert (plan.chance[np.isin(plan.basis, BASES)] >= 0.8).all()
    assert (plan.reason == "").all()


def test_half_the_limit_is_assumed_and_the_median_bound_keeps_it():
    plan = plan_test(max_fmr=1e-3, max_fnmr=0.02)
    assert sorted(set(plan.true_rate)) == [5e-4, 0.01]
    planned = np.isin(plan.basis, BASES)
    assert (plan.bound[planned] <= plan.limit[planned]).all()
    assert (plan.bound > plan.true_rate).all()
    assert (plan_test(detect_factor=4, rate="frr").bound[1:] > 1).all()


def test_pairs_are_all_pairs_of_a_group():
    plan = plan_test(max_fmr=1e-3, max_fnmr=0.02, images_per_person=3)
    n = plan.people
    expected = np.where(plan.rate == "far", n * (n - 1) / 2 * 9, n * 3)
    assert plan.pairs.tolist() == expected.tolist()
    assert plan.expected_errors == pytest.approx(expected * plan.true_rate)


def test_uneven_people_are_more():
    plan = plan_test(max_fmr=1e-3, max_fnmr=0.02, images_per_person=3)
    for question in (0, 1):
        assert people(plan, BASES[0], question) < people(plan, BASES[1], question)


@pytest.mark.parametrize(
    ("options", "comparisons"),
    [
        (
            {},
            4,
        ),  # two rates at the two levels of an audit, each group but the reference
        ({"far": [1e-2, 1e-3, 1e-4], "n_groups": 3}, 12),
        ({"images_per_person": 1}, 2),
        ({"comparisons": 7}, 7),
        ({"policy": {"max_fmr": 0.1}}, 4),
        ({"policy": Policy("gate", {"max_fmr": 0.1}, fmr=1e-2)}, 2),
    ],
)
def test_tests_are_those_of_an_audit(options, comparisons):
    plan = plan_test(max_fmr=0.1, **options)
    assert plan.comparisons == comparisons
    assert len(_measure.DEFAULT_FAR) == _plan.USUAL_LEVELS


@pytest.mark.parametrize(
    ("assumed", "kinds"), [(0.5, ["certify", "pass"]), (1.5, ["fail", "fail"])]
)
def test_a_policy_is_passed_or_failed(assumed, kinds):
    limits = {"max_fnmr": 0.02, "max_fmr_ratio": 2.0}
    plan = plan_test(policy=limits, far=1e-2, assumed=assumed)
    assert list(dict.fromkeys(zip(plan.kind, plan.limit, strict=True))) == [
        (kinds[0], 0.02),
        (kinds[1], 2.0),
    ]
    assert plan.true_rate[0] == pytest.approx(0.02 * assumed)
    assert plan.true_ratio[-1] == 1 + assumed


def test_failing_is_no_likelier_with_more_groups():
    one, five = (
        plan_test(policy={"max_fnmr": 0.02}, assumed=2.0, n_groups=n) for n in (1, 5)
    )
    assert people(one, BASES[0]) < people(five, BASES[0])
    text = " ".join(five.to_text().split())
    assert "The lower bound of a group's rate, which is valid at 95 % for all" in text
    assert "interval of every group" not in text


def test_a_policy_object_brings_its_levels_and_its_confidence():
    policy = SimpleNamespace(
        limits={"max_fmr_ratio": 9.0, "max_bfar": 3.0},
        fmr=[0.1, 0.03],
        confidence_level=0.9,
    )
    plan = plan_test(policy=policy, far=0.5)
    assert sorted(set(plan.true_rate)) == [0.03, 0.1]
    assert plan.confidence_level == 0.9
    assert plan_test(policy=policy, confidence_level=0.99).confidence_level == 0.99


@pytest.mark.parametrize(
    "left_out",
    [("max_bfar",), ("max_bfar", "max_bfrr", "at"), ("max_dcf", "max_cllr")],
)
def test_what_is_not_planned_for_is_said_first(left_out, tmp_path):
    limits = {"max_fmr": 1e-3} | {name: 2.0 for name in left_out if name != "at"}
    at = {1e-2: {"max_fnmr": 0.1}} if "at" in left_out else {}
    rows = [f"{name} = {limit}" for name, limit in limits.items()]
    rows += ["[[at]]\nfmr = 1e-2\nlimits = { max_fnmr = 0.1 }"] * bool(at)
    path = tmp_path / "gate.toml"
    path.write_text("\n".join(['name = "gate"', "fmr = 1e-2", "[limits]", *rows]))
    policies = [Policy.read(path), Policy("gate", limits, fmr=1e-2, at=at)]
    policies += [] if at else [limits]
    usual = set(plan_test(policy={"max_fmr": 1e-3}).question)
    for policy in policies:
        plan = plan_test(policy=policy)
        assert plan.left_out == left_out
        first, rest = plan.to_text().split("\n\n", 1)
        assert f"Not planned for: {', '.join(left_out)} (" in first
        assert max(map(len, first.split("\n"))) <= 100
        assert "Not planned" not in rest
        assert set(plan.question) == usual


@pytest.mark.parametrize(
    ("limits", "at", "words"),
    [
        ({"max_bfar": 2.0}, {}, "only max_bfar."),
        ({"max_bfrr": 2.0, "max_bfar": 3.0}, {}, "only max_bfar, max_bfrr."),
        ({}, {1e-2: {"max_fmr": 0.1}}, "only at."),
    ],
)
def test_a_policy_of_which_nothing_can_be_planned(limits, at, words):
    policies = [Policy("gate", limits, fmr=1e-2, at=at)] + ([] if at else [limits])
    for policy in policies:
        # Not even beside another question.
        for more in ({}, {"max_fmr": 1e-3}):
            with refusal("policy", words, "Give one of max_fmr"):
                plan_test(policy=policy, **more)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"max_fnmr": 0.02, "assumed": 1},
            "cannot be certified: the assumed FNMR, 2 %, is at the limit",
        ),
        (
            {"policy": {"max_fmr_ratio": 2.0}, "assumed": 1.0},
            "cannot be passed or failed: the assumed ratio is at the limit",
        ),
        (
            {"policy": {"max_fnmr": 0.5}, "assumed": 3.0},
            "the assumed FNMR would be 150 %: set a smaller share",
        ),
    ],
)
def test_what_is_impossible_is_said(options, reason):
    plan = plan_test(**options)
    assert plan.people.tolist() == [np.inf]
    assert plan.reason.tolist() == [reason]
    text = plan.to_text()
    assert text.endswith(f"-\n{reason}\n")


def test_limits_mean_the_same_as_arguments_and_in_a_policy():
    for limits in ({"max_fmr": 0.02}, {"max_fnmr": 0.1}, {"max_fpir": 0.05}):
        for assumed in (0.5, 2.0):
            alone = plan_test(**limits, assumed=assumed)
            assert (
                alone.to_text() == plan_test(policy=limits, assumed=assumed).to_text()
            )
            assert set(alone.kind) == {"certify" if assumed < 1 else "fail"}


def test_more_people_than_there_are():
    plan = plan_test(max_fnmr=0.01, assumed=0.9999999)
    assert plan.people[1:].tolist() == [np.inf] * 2
    assert plan.reason[1] == "more than ten million people"
    assert "more than ten million people" in plan.to_text()


def test_a_frame_has_a_row_for_each_basis():
    pytest.importorskip("pandas")
    plan = plan_test(max_fmr=1e-3)
    frame = plan.to_frame("pandas")
    assert frame.shape == (3, 18)
    assert frame["people"].tolist() == plan.people.tolist()
    assert frame["n_groups"].tolist() == [2, 2, 2]


def test_a_given_dependence_replaces_the_usual_ones():
    usual = plan_test(max_fmr=1e-3, images_per_person=4)
    for given, basis in ((Dependence(0.0, 0.0), BASES[0]), (Dependence(), BASES[1])):
        plan = plan_test(max_fmr=1e-3, images_per_person=4, dependence=given)
        assert plan.basis.tolist() == ["rule of 30", "given dependence"]
        assert people(plan, "given dependence") == people(usual, basis)
    both = {"far": Dependence(0.0, 0.0), "frr": Dependence(1.0, 0.0)}
    one = plan_test(max_fmr=1e-3, images_per_person=4, dependence=both)
    assert people(one, "given dependence") == people(usual, BASES[0])
    assert one.dependence == both


@pytest.mark.parametrize(
    ("rate", "images", "phi"), [("far", 1, 1.0), ("far", 3, 2.6), ("frr", 4, 2.0)]
)
def test_inflation_is_one_of_pairs_that_stand_alone(rate, images, phi):
    assert Dependence(0.2).inflation(rate, images) == pytest.approx(phi)


@pytest.fixture(scope="module")
def pilot():
    made = make_face_embeddings(
        n_identities=240,
        n_features=32,
        groups={"a": 0.4, "b": 0.4, "c": 0.2},
        kappa=40.0,
        heterogeneity=0.6,
        random_state=0,
    )
    roc = SimilarityROC(n_resamples=1, random_state=0)
    return roc.fit(made.X, made.y, made.sensitive_features), made


def test_a_pilot_shows_the_dependence_of_its_groups(pilot):
    """By the formulas in the notes, from a loop over every two people."""
    roc, made = pilot
    plan = plan_test(max_fmr=1e-2, pilot=roc)
    assert plan.basis.tolist() == ["rule of 30", "pilot"]
    threshold = roc.threshold_at(1e-2)
    X = made.X / np.linalg.norm(made.X, axis=1, keepdims=True)
    errors, own, wrong, between, squared, cluster = np.zeros(6)
    for group in roc.groups_:
        inside = made.sensitive_features == group
        _, who = np.unique(made.y[inside], return_inverse=True)
        accepted = X[inside] @ X[inside].T >= threshold
        member = np.eye(who.max() + 1)[who]
        e, c = member.T @ accepted @ member, member.T @ np.ones(accepted.shape) @ member
        np.fill_diagonal(e, 0)
        np.fill_diagonal(c, 0)
        rate = e.sum() / c.sum()
        x = e - rate * c
        of_clusters = (x**2).sum() / 2
        n = c.sum() ** 2 / (c.sum(axis=1) ** 2).sum()
        errors += e.sum() / 2
        own, wrong = own + of_clusters, wrong + e.sum() / 2 * (1 - rate)
        between += ((x.sum(axis=1) ** 2).sum() - 2 * of_clusters) * n / 4
        squared += (e.sum() / 2) ** 2
        cluster += e.sum() / 2 * (c**2).sum() / c.sum()
    found = plan.dependence["far"]
    expected = (own / wrong - 1) / (cluster / errors - 1)
    assert found.correlation == pytest.approx(expected, rel=1e-3)
    assert found.variation == pytest.approx(between / squared, rel=0.15)
    assert plan.pilot_errors["far"] == (errors, 1e-2)
    assert f"pilot, FMR ({errors:,.0f} errors at an FMR of 1 %)" in plan.to_text()


def test_few_errors_of_a_pilot_give_way_to_a_level_with_more(pilot):
    roc, _ = pilot
    plan = plan_test(max_fmr=1e-5, pilot=roc)
    n_errors, far = plan.pilot_errors["far"]
    assert far > 1e-5
    assert n_errors > plan_test(max_fmr=far / 10, pilot=roc).pilot_errors["far"][0] / 20


def test_a_pilot_brings_its_groups_and_the_usual_frr(pilot):
    roc, _ = pilot
    plan = plan_test(detect_factor=2, rate="frr", far=1e-2, pilot=roc)
    assert (plan.n_groups, plan.comparisons) == (3, 4)
    rates = [roc.estimate(1e-2, group=g) for g in roc.groups_]
    errors = sum(r.value * r.n_genuine for r in rates)
    assert plan.true_rate[0] == pytest.approx(errors / sum(r.n_genuine for r in rates))
    given = plan_test(
        detect_factor=2, rate="frr", frr=0.03, far=1e-2, n_groups=2, pilot=roc
    )
    assert given.true_rate[0] == 0.03
    assert given.n_groups == 2


def test_a_pilot_needs_neither_groups_nor_genuine_pairs():
    made = make_face_embeddings(n_identities=60, random_state=0)
    _, first = np.unique(made.y, return_index=True)
    roc = SimilarityROC(n_resamples=1, random_state=0)
    roc.fit(made.X[first], made.y[first])
    plan = plan_test(max_fmr=1e-3, max_fnmr=0.1, pilot=roc)
    assert plan.dependence["frr"] == Dependence()
    assert np.isfinite(plan.people).all()


def test_a_plan_names_a_group_whose_rate_in_the_pilot_is_above_the_limit(pilot):
    roc, _ = pilot
    rates = {g: roc.estimate(1e-3, group=g).value for g in roc.groups_}
    largest = max(rates, key=rates.get)
    plan = plan_test(max_fnmr=0.9 * rates[largest], far=1e-3, pilot=roc)
    assert plan.pilot_largest == {"frr": (largest, rates[largest], 1e-3)}
    text = " ".join(plan.to_text().split())
    assert f"In the pilot, at an FMR of 0.1 %, the FNMR of {largest} is " in text
    within = plan_test(max_fnmr=1.1 * rates[largest], far=1e-3, pilot=roc)
    assert "In the pilot" not in within.to_text()
    # A level sets the FMR of everyone: some group's is always above it.
    assert "In the pilot" not in plan_test(max_fmr=1e-2, pilot=roc).to_text()


def test_a_plan_leads_with_the_people_to_recruit():
    plan = plan_test(max_fpir=0.05)
    text = " ".join(plan.to_text().split())
    people = f"{plan.people[-1]:,.0f} people per group: with dependent errors"
    assert f"Recruit {people}, this is certified in" in text
    assert text.index("Recruit") < text.index("rule of")
    assert "All pairs within a group" not in text


@pytest.mark.parametrize(
    ("options", "argument", "words"),
    [
        ({"max_fmr": 1.0}, "max_fmr", "(0, 1)"),
        ({"detect_factor": 1}, "detect_factor", "above 1"),
        ({"max_fmr": 0.1, "n_groups": 0}, "n_groups", "from 1"),
        ({"max_fnmr": 0.1, "images_per_person": 1}, "images_per_person", "2 or"),
        ({"detect_factor": 2, "rate": "frr", "frr": 0.5}, "frr", "a smaller one"),
        ({"policy": {"max_fnrm": 0.1}}, "policy", "Did you mean 'max_fnmr'?"),
        ({"policy": {"max_fmr": 2}}, "max_fmr", "(0, 1)"),
        ({"max_fmr": 0.1, "pilot": 3}, "pilot", "SimilarityROC"),
        (
            {"max_fmr": 0.1, "pilot": 3, "dependence": Dependence()},
            "dependence",
            "leave one out",
        ),
    ],
)
def test_errors_name_the_argument(options, argument, words):
    with refusal(argument, words):
        plan_test(**options)


def test_a_plan_needs_a_question():
    with pytest.raises(ValueError, match="Give max_fmr"):
        plan_test()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"correlation": 1.5}, "correlation must be a number in [0, 1], got 1.5."),
        ({"variation": -0.1}, "variation must be a number in [0, 100], got -0.1."),
    ],
)
def test_a_dependence_has_its_ranges(options, words):
    with pytest.raises(ValueError) as caught:
        Dependence(**options)
    assert words in str(caught.value)


def test_searches_are_planned_as_what_errs_with_one_person():
    searches = plan_test(max_fpir=0.05, images_per_person=1)
    pairs = plan_test(max_fnmr=0.05, images_per_person=2)  # one pair of each person
    for name in ("people", "pairs", "expected_errors", "bound", "chance"):
        assert_array_equal(getattr(searches, name), getattr(pairs, name))
    assert set(searches.rate) == {"fpir"} and "FPIR" in searches.to_text()
    often = plan_test(max_fpir=0.05, images_per_person=3)
    assert_array_equal(often.pairs, 3 * often.people)
    # Searches of one person err together: three of them tell less than three people.
    assert (
        often.pairs[-1] > searches.pairs[-1] and often.people[-1] < searches.people[-1]
    )
    assert Dependence(0.5).inflation("fpir", images_per_person=3) == 2
