"""Detection costs and calibration in a report."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from numpy.testing import assert_allclose

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.cli import main
from skfairfr.metrics import calibration_loss, detection_cost
from skfairfr.report import (
    PairData,
    Policy,
    Report,
    SystemsComparison,
    audit,
    audit_decisions,
    audit_pairs,
    compare_systems,
    identify,
)
from skfairfr.report._records import Figure
from skfairfr.report.sections._costs import Cost, in_short, of_calibration

SETTINGS = {"confidence_level": 0.95}
NAMES = ("min_dcf", "dcf", "min_cllr", "cllr")


@pytest.fixture(scope="module")
def faces():
    return make_face_embeddings(80, (2, 4), 16, kappa=40.0, random_state=1)


@pytest.fixture(scope="module")
def pairs(faces):
    """All pairs, with scores that are nearly log-likelihood ratios."""
    first, second = np.triu_indices(len(faces.y), 1)
    ratio = 20 * (faces.X[first] * faces.X[second]).sum(axis=1) - 10
    return ratio, *(
        (of[first], of[second]) for of in (faces.y, faces.sensitive_features)
    )


@pytest.fixture(scope="module")
def report(pairs):
    return audit_pairs(*pairs, far=1e-2, p_target=[0.1, 0.05], llr=True)


def test_costs_are_those_of_the_roc(report, pairs):
    score, people, groups = pairs
    sides = {f"sensitive_features_{k}": of for k, of in enumerate(groups, 1)}
    roc = SimilarityROC(method="jackknife", random_state=0)
    roc.fit_pairs(score, *people, **sides)
    (found,) = report.audits
    assert found.reference == "male"
    assert {(row.cost, row.p_target) for row in found.costs} == {
        *(("min_dcf", p) for p in (0.1, 0.05)),
        *(("dcf", p) for p in (0.1, 0.05)),
        *((name, None) for name in NAMES[2:]),
    }
    for row in found.costs:
        asked = {"rate": row.cost.removeprefix("min_" if "dcf" in row.cost else "")}
        if row.p_target is not None:
            asked["p_target"] = row.p_target
        if row.cost == "dcf":
            asked["threshold"] = np.log((1 - row.p_target) / row.p_target)
        expected = roc.estimate(group=row.group, **asked)
        figure = row.figure
        assert (figure.value, figure.low, figure.high, figure.supported) == (
            *(expected.value, expected.low, expected.high, expected.supported),
        )
        if row.group == "female":
            ratio = roc.estimate(how=("ratio", "male", "female"), **asked)
            assert (row.ratio.value, row.ratio.low) == (ratio.value, ratio.low)
        else:
            assert row.ratio is None


def test_what_calibration_loses_is_said_of_each_group(report, pairs):
    score, (one, other), groups = pairs
    inside = (groups[0] == "female") & (groups[1] == "female")
    lost = calibration_loss((one == other)[inside].astype(int), score[inside])
    text = " ".join(report.to_text().split())
    assert f"{lost:.3g} of" in text.split("Lost by calibration, Cllr:")[1]
    assert "minDCF, p_target 0.05" in text and "natural logarithms" not in text


@pytest.mark.parametrize(
    ("least", "end"),
    [
        ((0.26, 0.22), "0.0500 of the difference is calibration"),
        ((0.31, 0.22), "0 of the difference is calibration"),
        (
            (0.2, 0.21),
            "calibration is more than the difference, since the minima are 0.200",
        ),
        ((0.3, 0.1), "poor calibration hides part of the difference: after the best"),
    ],
)
def test_calibration_explains_a_part_of_the_difference(least, end):
    values = {"women": 0.31, "men": 0.22}
    text = of_calibration(values, dict(zip(values, least, strict=True)), "women", "men")
    assert text.startswith(end)


def sentences(rows, p_target=0.01, reference="men"):
    """Sentences of costs (cost, group) -> (value, ratio and its ends)."""
    found = []
    for (cost, group), (value, *over) in rows.items():
        over = Figure(*over, 0.1, True, "") if over else None
        p = None if "cllr" in cost else p_target
        found.append(
            Cost(cost, p, group, Figure(value, 0.1, 0.5, 0.1, False, "few"), over)
        )
    audit = SimpleNamespace(costs=found, reference=reference, settings=SETTINGS)
    return in_short(audit)


def test_costs_in_short_name_the_groups_that_differ_most():
    rows = {
        ("min_dcf", None): (0.25,),
        ("min_dcf", "women"): (0.25, 1.25, 0.9, 2.0),
        ("min_dcf", "others"): (0.15, 0.75, 0.6, 0.9),
        ("min_dcf", "men"): (0.2,),
    }
    start = "At p_target 0.01 minDCF is "
    ends = "(0.100 to 0.500)"
    both = f"0.200 {ends} for men and 0.150 {ends} for others, 1.33 times as high"
    assert sentences(rows) == [f"{start}{both} (95 % CI 1.11 to 1.67)."]
    rows |= {
        ("dcf", group): (value + 0.06 * (group == "women"), *over)
        for (_, group), (value, *over) in rows.items()
    }
    rows["dcf", "women"] = (0.31, 1.5, 1.1, 2.0)
    both = f"0.310 {ends} for women and 0.200 {ends} for men"
    end = "; 0.0600 of the difference is calibration."
    assert sentences(rows)[1:] == [f"At p_target 0.01 DCF is {both}{end}"]
    rows["dcf", "women"], rows["dcf", "others"] = (
        (0.31, 1.5, 0.9, 2),
        (0.1, 0.5, 0.1, 2),
    )
    end = "; no significant difference."
    assert sentences(rows)[1:] == [f"At p_target 0.01 DCF is {both}{end}"]


def test_costs_in_short_without_groups_have_an_interval():
    rows = {("min_cllr", None): (0.25,), ("cllr", None): (0.3,)}
    (text,) = sentences(rows, reference=None)
    assert text == "Cllr is 0.300 (95 % CI 0.100 to 0.500), too few errors."


@pytest.mark.parametrize("llr", [False, True])
def test_costs_are_on_the_first_screen_without_limits(pairs, llr, tmp_path):
    report = audit_pairs(*pairs, far=1e-2, p_target=0.1, llr=llr)
    costs = {(c.cost, c.group): c.figure for c in report.audits[0].costs}
    name, kind = ("DCF", "dcf") if llr else ("minDCF", "min_dcf")
    low, high = sorted(("male", "female"), key=lambda g: costs[kind, g].value)
    parts = [f"At p_target 0.1 {name} is {costs[kind, high].value:.3g} ("]
    parts += [f") for {high} and {costs[kind, low].value:.3g} ("]
    page = report.to_html().partition('id="data"')[0]
    for text in (report.to_text(), report.to_text(full=True), page):
        assert [" ".join(text.split()).count(one) for one in parts] == [1, 1]
        assert text.count("\n- Cllr is ") + text.count("<li>Cllr is ") <= llr


def test_no_difference_of_equal_groups_is_attributed_to_calibration(pairs):
    score, people, _ = pairs
    of_person = np.random.default_rng(3).permutation(["a", "b"] * 300)
    groups = tuple(of_person[one] for one in people)
    report = audit_pairs(score, people, groups, far=1e-2, llr=True)
    (own,) = (c.ratio for c in report.audits[0].costs if c.cost == "cllr" and c.ratio)
    assert own.low < 1 < own.high
    assert "of the difference" not in report.to_text()
    assert "no significant difference" in report.to_text()


def test_reliability_is_drawn_with_its_largest_certain_deviation(pairs):
    score, people, groups = pairs
    wrong = score + 3 * (
        groups[0] == "male"
    )  # overstates that pairs of men are genuine
    found = audit_pairs(wrong, people, groups, far=1e-2, llr=True)
    display = found.audits[0].reliability
    row = display.groups.index("male")
    certain = (display.stated < display.low) | (display.stated > display.high)
    assert certain[row].any() and not certain[1 - row].any()
    assert (display.observed[row] < display.stated[row])[certain[row]].all()
    text = " ".join(found.to_text().split())
    assert "accept more non-mated comparisons of male than the scores state" in text
    assert "Observed over stated log-likelihood ratios" in found.to_html()
    assert "reliability" not in found.to_json()


def test_costs_are_in_the_json_and_on_the_page(report):
    record = json.loads(report.to_json())
    Draft202012Validator(Report.schema()).validate(record)
    costs = record["audits"][0]["costs"]
    assert len(costs) == 6 * 3 and {row["cost"] for row in costs} == {*NAMES}
    assert "Costs and calibration" in report.to_html()
    assert "Costs and calibration" not in report.to_text(full=False)


def test_without_being_asked_there_are_none(faces):
    report = audit(faces.X, faces.y, faces.sensitive_features, far=1e-2)
    assert report.audits[0].costs == () and "Costs" not in report.to_text()


def test_everyone_has_costs(faces):
    report = audit(faces.X, faces.y, far=1e-2, p_target=0.01)
    (row,) = report.audits[0].costs
    expected = SimilarityROC(random_state=0).fit(faces.X, faces.y).estimate(rate="dcf")
    assert_allclose(row.figure.value, expected.value)
    assert "minDCF, p_target 0.01" in report.to_text()


def test_cosines_are_not_taken_for_ratios_in_silence(faces, pairs):
    with pytest.raises(ValueError, match="the scores are cosines"):
        audit(faces.X, faces.y, far=1e-2, p_target=0.01, llr=True)
    ratio, people, _ = pairs
    report = audit_pairs((ratio + 10) / 20, people, far=1e-2, p_target=0.01, llr=True)
    assert "are the scores natural logarithms" in " ".join(report.to_text().split())


def test_what_has_no_scores_has_no_costs(faces):
    with pytest.raises(ValueError, match="p_target needs scores of comparisons"):
        audit_decisions([0, 1, 0], [1, 2, 3], p_target=0.01)
    with pytest.raises(ValueError, match="p_target"):
        gallery = {"X_gallery": faces.X[:5], "y_gallery": faces.y[:5]}
        identify(faces.X, faces.y, None, **gallery, p_target=0.01)
    with pytest.raises(ValueError, match=r"p_target must lie in \(0, 1\)"):
        audit(faces.X, faces.y, p_target=1.0)


LIMITS = {"max_dcf": 0.3, "max_cllr": 0.3}


def limit_of(report, name, p_target=None):
    return next(c for c in report.checks if (c.name, c.p_target) == (name, p_target))


@pytest.mark.parametrize("llr", [True, False])
def test_limits_of_costs_are_judged_by_everyone_and_every_group(pairs, llr):
    limits = {"max_dcf": 0.2} | ({"max_cllr": 0.2} if llr else {})
    options = {"far": 1e-2, "p_target": [0.1, 0.05], "llr": llr}
    (found,) = audit_pairs(*pairs, limits=limits, **options).audits
    assert len(found.checks) == (3 if llr else 2)
    for check in found.checks:
        cost = "cllr" if check.name == "max_cllr" else "dcf" if llr else "min_dcf"
        rows = [
            row
            for row in found.costs
            if (row.cost, row.p_target) == (cost, check.p_target)
        ]
        values = {row.group: row.figure.value for row in rows}
        assert {None, "female", "male"} == {*values}
        assert check.groups[0] == max(values, key=values.get)
        assert check.figure.value == max(values.values())
        assert check.figure.high == max(row.figure.high for row in rows)


@pytest.mark.parametrize(
    ("limit", "verdict", "exit_code"),
    [(0.05, "failed", 1), (0.45, "undetermined", 3), (0.95, "passed", 0)],
)
def test_verdicts_of_costs_follow_their_intervals(pairs, limit, verdict, exit_code):
    options = {"far": 1e-2, "p_target": 0.1, "limits": {"max_dcf": limit}}
    report = audit_pairs(*pairs, **options)
    check = limit_of(report, "max_dcf", 0.1)
    assert (check.verdict, report.exit_code) == (verdict, exit_code)
    record = json.loads(report.to_json())
    Draft202012Validator(Report.schema()).validate(record)
    assert record["checks"][0]["p_target"] == 0.1
    text = " ".join(report.to_text(full=False).split())
    result = {"failed": "Exceeded", "passed": "Met"}.get(verdict, "Undetermined")
    place = "by group, at p_target 0.1"
    assert f"{result}: minDCF of everyone and each group, {place}, at most" in text
    assert "nan" not in text
    assert "max_dcf" in report.to_junit() and "p_target 0.1" in report.to_junit()
    assert "minDCF of everyone and each group" in report.to_html()


def test_lower_ends_of_limits_are_valid_for_all_groups_at_once(pairs):
    score, people, groups = pairs
    sides = {f"sensitive_features_{k}": of for k, of in enumerate(groups, 1)}
    roc = SimilarityROC(confidence_level=1 - 0.05 * 2 / 3, random_state=0)
    roc.fit_pairs(score, *people, **sides)
    options = {"rate": "min_dcf", "p_target": 0.1}
    low = max(roc.estimate(group=g, **options).low for g in (None, "female", "male"))
    for limit, verdict in ((0.99 * low, "failed"), (1.01 * low, "undetermined")):
        asked = {"far": 1e-2, "p_target": 0.1, "limits": {"max_dcf": limit}}
        check = limit_of(audit_pairs(*pairs, **asked), "max_dcf", 0.1)
        assert check.verdict == verdict
        assert_allclose(check.figure.low, low)


def test_a_group_without_genuine_pairs_leaves_limits_of_costs_open(pairs):
    score, people, groups = pairs
    alone = np.isin(people, [0, 1]).any(axis=0) & (people[0] == people[1])
    kept = tuple(of[~alone] for of in (score, *people, *groups))
    few = [np.where(np.isin(of, [0, 1]), "few", "rest") for of in kept[1:3]]
    options = {"far": 1e-2, "p_target": 0.1, "limits": {"max_dcf": 0.95}}
    report = audit_pairs(kept[0], kept[1:3], few, **options)
    check = limit_of(report, "max_dcf", 0.1)
    assert (check.verdict, check.not_covered) == ("undetermined", ("few",))
    assert check.reason == "not every group has genuine and impostor pairs"
    assert "not judged for lack of" in report.to_html()
    assert check.reason in " ".join(report.to_text(full=False).split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limits": {"max_dcf": 0.3}}, "max_dcf needs shares of genuine pairs"),
        (
            {"limits": {"max_cllr": 0.3}, "p_target": 0.1},
            "max_cllr needs log-likelihood",
        ),
        (
            {"limits": {"max_dcf": 0}, "p_target": 0.1},
            "max_dcf must be a finite number",
        ),
    ],
)
def test_limits_of_costs_require_what_they_are_about(pairs, options, message):
    with pytest.raises(ValueError, match=message):
        audit_pairs(*pairs, far=1e-2, **options)


def test_a_policy_sets_limits_of_costs_and_their_operating_point(pairs):
    gate = Policy("voices", LIMITS, fmr=1e-2, p_target=0.1, llr=True)
    report = audit_pairs(*pairs, policy=gate)
    assert {(c.name, c.p_target) for c in report.checks} == {
        ("max_dcf", 0.1),
        ("max_cllr", None),
    }
    assert "policy voices" in " ".join(report.to_text().split())
    with pytest.raises(ValueError, match="the policy 'voices' sets p_target"):
        audit_pairs(*pairs, policy=gate, p_target=0.5)
    with pytest.raises(ValueError, match="at has max_cllr, which is of all levels"):
        Policy("voices", fmr=1e-2, at={1e-2: LIMITS})


@pytest.mark.parametrize(("limit", "status"), [("0.95", 0), ("0.05", 1)])
def test_the_command_judges_costs(pairs, tmp_path, capsys, limit, status):
    score, people, groups = pairs
    columns = {"score": score}
    for k in (0, 1):
        columns |= {f"identity_{k + 1}": people[k], f"gender_{k + 1}": groups[k]}
    path = tmp_path / "pairs.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    options = ["--fmr", "0.01", "--p-target", "0.1", "--max-dcf", limit, "--quiet"]
    found = main(["audit", str(path), "--attribute", "gender", *options])
    assert found == status
    assert "minDCF of everyone and each group" in " ".join(
        capsys.readouterr().out.split()
    )
    options[options.index("--max-dcf")] = "--max-cllr"
    assert main(["audit", str(path), "--attribute", "gender", *options]) == 2
    assert "--max-cllr needs log-likelihood ratios (--llr" in capsys.readouterr().err


@pytest.fixture(scope="module")
def two_systems(pairs):
    """The same pairs with noise that has little effect on one group."""
    score, people, groups = pairs
    rng = np.random.default_rng(0)
    noise = rng.normal(0, np.where(groups[0] == "male", 0.1, 4.0))
    return [PairData(s, people, {"gender": groups}) for s in (score, score + noise)]


def test_changes_of_costs_are_those_of_the_rocs(two_systems, pairs):
    found = compare_systems(*two_systems, far=1e-2, p_target=0.1, llr=True)
    assert len(found.costs) == 4 * 3
    _, people, groups = pairs
    sides = {f"sensitive_features_{k}": of for k, of in enumerate(groups, 1)}
    before, after = (
        SimilarityROC(random_state=0).fit_pairs(one.y_score, *people, **sides)
        for one in two_systems
    )
    for change in found.costs:
        asked = {"rate": change.cost, "group": change.group}
        if "dcf" in change.cost:
            asked |= {"p_target": 0.1}
        if change.cost == "dcf":
            asked |= {"threshold": "bayes"}
        expected = after.compare(before, **asked)
        assert change.before == before.estimate(**asked).value
        assert change.after == after.estimate(**asked).value
        for name in ("difference", "low", "high", "ratio_low", "p_value"):
            assert getattr(change, name) == getattr(expected, name)
    of_cllr = {c.group: c for c in found.costs if c.cost == "cllr"}
    assert of_cllr["female"].low > 0
    text = " ".join(found.to_text().split())
    assert "female, Cllr, by" in text
    assert "Most increased: " in found.to_text(full=False)
    everyone = [c for c in found.costs if c.attribute is None]
    differ = [
        c for c in everyone if c.supported and not c.ratio_low <= 1 <= c.ratio_high
    ]
    assert "cllr" in {c.cost for c in differ}
    start = "Costs of everyone differ, and are in no count of rates. "
    sentence = text.partition(start)[2].partition(". ")[0]
    assert sentence.count(" instead of ") == len(differ)
    for change in differ:
        value = f"{change.after:.3f} with after instead of {change.before:.3f}"
        assert value in sentence
    assert "Everyone, minDCF," in text and "p_target 0.1" in text
    record = json.loads(found.to_json())
    Draft202012Validator(SystemsComparison.schema()).validate(record)
    assert len(record["costs"]) == 12 and "Costs and calibration" in found.to_html()


def test_a_comparison_has_no_costs_unless_asked(two_systems):
    found = compare_systems(*two_systems, far=1e-2)
    assert found.costs == () and "costs" not in json.loads(found.to_json())
    assert "Costs" not in found.to_text()


def test_least_costs_are_marked_on_the_curves(report, pairs):
    score, (one, other), groups = pairs
    curves = report.audits[0].curves
    assert [*curves.marks] == ["minDCF, p_target 0.1", "minDCF, p_target 0.05"]
    for p, (far, frr) in zip((0.1, 0.05), curves.marks.values(), strict=True):
        for row, group in enumerate(curves.groups):
            inside = np.ones(score.size, dtype=bool)
            if group is not None:
                inside = (groups[0] == group) & (groups[1] == group)
            cost = (1 - p) * far[row] + p * frr[row]
            expected = detection_cost(
                (one == other)[inside].astype(int), score[inside], p_target=p
            )
            assert cost / min(p, 1 - p) == pytest.approx(expected)
    turned = curves.take([0, 2, 1])
    assert (
        turned.marks["minDCF, p_target 0.1"][0][1]
        == curves.marks["minDCF, p_target 0.1"][0][2]
    )
    page = report.to_html()
    assert "Crosses are at the least detection cost of each group." in page
    assert "minDCF, p_target 0.05" in page
