"""What a gate says: of few errors in the group with the lower rate, and of many equal groups."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from skfairfr.report import EmbeddingData, PairData, audit_data
from skfairfr.report.sections._limits import sentence_of_check
from tests.report.audits import scored_pairs, synthetic


def few_against_many():
    """74 false accepts of 2,979 pairs against 9 of 3,000, each pair of two other people."""
    scores, people, groups = [], [], []
    for group, errors, pairs in (("African", 74, 2979), ("Caucasian", 9, 3000)):
        names = np.array([f"{group} {i}" for i in range(2 * pairs)])
        scores += [np.arange(pairs) < errors, np.ones(500)]
        people += [(names[:pairs], names[pairs:]), (names[:500], names[:500])]
        groups += [[group] * (pairs + 500)]
    left, right = (np.concatenate(side) for side in zip(*people, strict=True))
    group = np.concatenate(groups)
    return PairData(
        np.concatenate(scores).astype(float), (left, right), {"race": (group, group)}
    )


@pytest.fixture(scope="module")
def gate():
    return audit_data(
        few_against_many(),
        threshold=0.5,
        limits={"max_fmr_ratio": 2, "max_fmr": 0.015, "max_fnmr": 0.02},
    )


def test_nine_errors_do_not_silence_a_certain_direction(gate):
    found = gate.audits[0].levels[0].findings[0]
    told = found.group, found.reference, found.verdict
    assert told == ("African", "Caucasian", "higher")
    # The exact conditional test of two Poisson counts says 3.7 at 95 % on its own.
    assert 3 < found.ratio.low < 4.5
    text = " ".join(gate.to_text().split())
    assert "too few errors among Caucasian" in text
    assert "9 errors, 30 needed" in text


def test_a_limit_that_is_certainly_exceeded_fails(gate):
    verdicts = {c.name: (c.verdict, c.groups) for c in gate.checks}
    assert verdicts == {
        "max_fmr_ratio": ("failed", ("African", "Caucasian")),
        "max_fmr": ("failed", ("African",)),
        "max_fnmr": ("passed", verdicts["max_fnmr"][1]),
    }
    assert gate.exit_code == 1
    ends = gate.checks[0].figure
    assert 3 < ends.low and f"{ends.low:.3g} to {ends.high:.3g}" in gate.to_text()


@pytest.mark.parametrize(
    ("limits", "verdict", "words"),
    [
        ({"max_fnmr": 0.5}, "met", ": {0} "),
        ({"max_fnmr": 1e-4}, "exceeded", ": {0} .*exceed it: {1}"),
        ({"max_fnmr": 0.25}, "undetermined", ": {0} .*may exceed it: {1}"),
        ({"max_fmr_ratio": 50}, "met", "{0} against {1}"),
        ({"max_fmr_ratio": 1.01}, "exceeded", "{0} against {1}"),
        ({"max_fmr_ratio": 2}, "undetermined", "{0} against {1}"),
        ({"max_bfar": 50}, "met", "{0} against {1}"),
        ({"max_bfrr": 50}, "met", "{0} against {1}"),
    ],
)
def test_every_verdict_names_its_groups(limits, verdict, words, audited):
    report = audited(limits)
    (check,) = report.checks
    said = sentence_of_check(check, report)
    assert said.startswith(verdict.capitalize())
    assert re.search(words.format(*check.groups), said)
    assert set(check.groups) <= {"male", "female"}


@pytest.fixture(scope="module")
def audited():
    X, y, groups = synthetic(150)
    data = EmbeddingData(X, y, {"gender": groups})
    return lambda limits: audit_data(data, far=0.05, limits=limits)


def test_eight_equal_groups_pass():
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((8 * 120, 64))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    person = np.repeat(np.arange(8 * 120), 4)
    X = centres[person] + 0.13 * rng.standard_normal((person.size, 64))
    data = EmbeddingData(X, person, {"group": np.array([*"abcdefgh"])[person % 8]})
    limits = {"max_fmr_ratio": 1.5, "max_fnmr_ratio": 20}
    report = audit_data(data, far=1e-2, limits=limits)
    assert [check.verdict for check in report.checks] == ["passed", "passed"]
    # No group of the eight has so few errors that nothing is judged.
    assert all(1 < check.figure.value < check.figure.high for check in report.checks)
    assert report.exit_code == 0


def test_a_check_shows_the_number_of_the_group_that_it_names():
    """Also where another group, of few people and no error, has the largest upper end."""
    people, errors = {"big": 2000, "mid": 2000, "small": 5}, {"big": 4, "mid": 50}
    group = np.repeat([*people], [*people.values()])
    who = np.arange(group.size)
    every = np.array([errors.get(g, group.size + 1) for g in group])
    genuine = (who % every > 0).astype(float)
    other = (who + 1) % who.size
    same = group == group[other]
    data = PairData(
        np.append(genuine, (who % 97 == 1)[same]),
        (np.append(who, who[same]), np.append(who, other[same])),
        {"group": (np.append(group, group[same]),) * 2},
    )
    limits = {"max_fnmr": 0.1, "max_fnmr_ratio": 3, "max_fnmr_geomean_ratio": 2}
    report = audit_data(data, threshold=0.5, limits=limits)
    rate = {r.group: r.frr.value for r in report.audits[0].levels[0].rates}
    of_each, ratio, over_mean = report.checks
    assert (of_each.groups, of_each.figure.value) == (("big",), rate["big"])
    assert of_each.verdict == ratio.verdict == "failed"
    assert ratio.groups == ("big", "small")
    # A group has no error; the bound is that of groups which tell.
    assert ratio.figure.value == over_mean.figure.value == np.inf
    assert 3 < ratio.figure.low < rate["big"] / rate["mid"]


BEYOND = "the threshold lies beyond all scores: {} pair is accepted, the {} is 100 %"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("threshold", "accepted"),
    # Scores are 0 and 1, and one in a hundred errs.
    [(0.5, ""), (50, "no"), (np.nextafter(1, 2), "no"), (0.0, "every"), (-50, "every")],
)
def test_a_threshold_beyond_all_scores_tells_nothing(threshold, accepted):
    people = {"a": 900, "b": 900}
    rates = dict.fromkeys(people, 0.01)
    data = scored_pairs(np.random.default_rng(0), people, rates, n_impostor=9)
    limits = {"max_fmr": 0.03, "max_fnmr": 0.03, "max_fnmr_ratio": 5}
    report = audit_data(data, threshold=threshold, limits=limits)
    rate = "FMR" if accepted == "every" else "FNMR"
    reason = BEYOND.format(accepted, rate) if accepted else ""
    verdict, code = ("undetermined", 3) if accepted else ("passed", 0)
    for check in json.loads(report.to_json())["checks"]:
        assert (check["verdict"], check["reason"]) == (verdict, reason)
        # No number of people would settle it.
        assert check["people_needed"] == []
    assert report.exit_code == code
    for text in (report.to_text(), report.to_html(), report.to_junit()):
        assert reason in " ".join(text.split())
    assert bool(reason) or "would show in" not in report.to_text()


def test_a_ratio_of_rates_that_are_all_one_passes_nothing():
    """Pairs of a group nobody knows are accepted, and all of the others rejected."""
    rng, rates = np.random.default_rng(0), {"a": 0.0, "b": 0.0, "?": 0.0}
    data = scored_pairs(rng, dict.fromkeys(rates, 60), rates, n_impostor=9)
    group = np.where(data.columns["group"][0] == "?", None, data.columns["group"][0])
    score = data.y_score + (group == None)  # noqa: E711
    data = replace(data, y_score=score, columns={"group": (group, group)})
    limits = {"max_fnmr_ratio": 3}
    report = audit_data(data, threshold=1.5, limits=limits)
    (check,) = report.checks
    assert (check.verdict, report.exit_code) == ("undetermined", 3)
    assert check.reason == "the FNMR of every group is 100\N{NO-BREAK SPACE}%"


@pytest.mark.slow
def test_eight_equal_groups_do_not_fail():
    """The ratio of the largest rate to the smallest is 1.7 and more by chance alone."""
    people = dict.fromkeys("abcdefgh", 60)
    rates = dict.fromkeys(people, 0.1)
    named, verdicts, ratios = [], [], []
    for seed in range(12):
        made = scored_pairs(np.random.default_rng(seed), people, rates, n_impostor=8)
        limits = {"max_fnmr_ratio": 3, "max_fmr_ratio": 3}
        report = audit_data(made, threshold=0.5, limits=limits)
        level = report.audits[0].levels[0]
        named += [f.group for f in level.findings if f.verdict in ("higher", "lower")]
        verdicts += [c.verdict for c in report.checks]
        ratios += [c.figure.value for c in report.checks]
    assert min(ratios) > 1.2
    assert "failed" not in verdicts
    # Of twelve audits with an error rate of .05 two or more name a group in .12 of cases.
    assert len(named) <= 1


def test_genuine_pairs_that_are_all_rejected_conclude_nothing():
    """If impostor pairs are accepted, the labels are likely to be wrong."""
    rng = np.random.default_rng(0)
    data = scored_pairs(rng, {"a": 90, "b": 90}, {"a": 0, "b": 0}, n_impostor=9)
    genuine = data.identities[0] == data.identities[1]
    scores = np.where(genuine, 0.3, np.where(rng.random(genuine.size) < 0.1, 0.9, 0.1))
    data = replace(data, y_score=scores + 0.01 * rng.random(genuine.size))
    report = audit_data(data, threshold=0.5, limits={"max_fnmr_ratio": 2})
    (check,) = report.checks
    assert report.audits[0].levels[0].rates[0].frr.value == 1
    assert check.verdict == "undetermined"
    text = " ".join(report.to_text().split())
    assert "no genuine pair is accepted, and some impostor pairs are" in text
