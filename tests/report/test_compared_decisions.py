"""Two logs of decisions: against a loop that leaves out people, and where nothing changed."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core._jackknife import lost
from skfairfr._core._paired import PairedDifference
from skfairfr.cli import main
from skfairfr.report import (
    DecisionData,
    SystemsComparison,
    compare_decisions,
    read_data,
)
from skfairfr.report._decisions import decisions
from skfairfr.utils._errors import ArgumentError
from tests.report.json_schema import is_valid


def people(seed=0, n=400):
    """Own rates of people; two groups."""
    return np.random.default_rng(seed).beta(1, 9, n)


def log(seed, own, who, factor=1.0, n=1500, kind="frr", **columns):
    """Attempts of some people, of whom f err ``factor`` times as often."""
    rng = np.random.default_rng(seed)
    person = rng.choice(who, n)
    sex = np.where(person % 2, "f", "m")
    wrong = rng.random(n) < own[person] * np.where(sex == "f", factor, 1.0)
    columns = {"sex": sex} | columns
    part = decisions(wrong.astype(float), person, columns, kind=kind)
    return DecisionData((part,))


# An attempt is of one person: what two people add together is nothing.
NO_COUPLES = np.zeros((2, 0)), (np.zeros((2, 2)), 0.0, 0.0)
EARLY, LATE = np.arange(250), np.arange(100, 400)


def leave_one_out(person, wrong):
    """Rate, and of each person the rate minus that without her, centred, by a loop."""
    rate, lost = wrong.mean(), {}
    for one in np.unique(person):
        lost[one] = rate - wrong[person != one].mean()
    mean, n = np.mean(list(lost.values())), len(lost)
    return rate, {k: (v - mean) * np.sqrt((n - 1) / n) for k, v in lost.items()}


def test_changes_agree_with_a_loop_that_leaves_out_people():
    own = people()
    both = log(1, own, EARLY), log(2, own, LATE, 2.0)
    found = compare_decisions(*both)
    assert found.n_people == 150 and found.n_rows == 3000
    for change in found.changes:
        rates, influence, single, effective = [], np.zeros((2, 400)), [], []
        for place, data in enumerate(both[::-1]):
            (part,) = data.parts
            inside = np.ones(1500, dtype=bool)
            if change.group is not None:
                inside = part.columns["sex"][0] == change.group
            person, wrong = part.identities[0][inside], part.y_score[inside] == 0
            rate, lost = leave_one_out(person, wrong)
            rates.append(rate)
            influence[place, [*lost]] = [*lost.values()]
            single.append(1 / person.size)
            counts = np.bincount(person)
            effective.append(person.size**2 / (counts**2).sum())
        asked = influence, *NO_COUPLES, np.array(single), min(effective)
        p, *ends = PairedDifference(*asked).judge(np.array(rates), 0.025)
        assert_allclose([change.after, change.before], rates)
        known = change.low, change.high, change.ratio_low, change.ratio_high
        assert_allclose(known, ends, rtol=1e-8)
        assert_allclose(change.p_value, p, rtol=1e-6)
    verdicts = {change.group: change.verdict for change in found.changes}
    assert verdicts["f"] == "higher" and verdicts["m"] == "no significant difference"


def test_people_in_both_logs_are_paired():
    """An interval is narrower if the people are the same, as many as they are."""
    own = people()
    widths = [
        np.diff([c.low, c.high])[0]
        for who in (EARLY, EARLY + 150)
        for c in compare_decisions(log(1, own, EARLY), log(2, own, who)).changes[:1]
    ]
    assert widths[0] < 0.9 * widths[1]


def test_size_of_the_test_where_nothing_changed():
    """Of 600 pairs of logs whose people partly overlap, with their own rates in both."""
    rng, named = np.random.default_rng(3), []
    for _ in range(600):
        own, rates, influence, n_all = rng.beta(1, 9, 400), [], [], []
        for who in (EARLY, LATE):
            n = np.bincount(rng.choice(who, 1500), minlength=400).astype(float)
            wrong = rng.binomial(n.astype(int), own)
            rates.append(wrong.sum() / n.sum())
            influence.append(lost(wrong[None], n)[0] / n.sum())
            n_all.append(n.sum() ** 2 / (n**2).sum())
        asked = np.array(influence), *NO_COUPLES, np.full(2, 1 / 1500), min(n_all)
        found = PairedDifference(*asked)
        named.append(found.judge(np.array(rates), 0.025)[0] < 0.05)
    assert abs(np.mean(named) - 0.05) < 2 * np.sqrt(0.05 * 0.95 / 600)


def test_order_and_other_people_names_change_nothing():
    own = people()
    both = log(1, own, EARLY), log(2, own, LATE)
    back = compare_decisions(*both[::-1])
    there = compare_decisions(*both)
    for one, other in zip(there.changes, back.changes, strict=True):
        assert_allclose(one.difference, -other.difference)
        assert_allclose([one.low, one.high], [-other.high, -other.low])
        assert_allclose(one.p_value, other.p_value)


def test_a_group_that_a_log_lacks_is_not_compared():
    own = people()
    before = log(1, own, EARLY, site=np.repeat(["x", "y", "z"], 500))
    after = log(2, own, LATE, site=np.repeat(["y", "x", "w"], 500))
    found = compare_decisions(before, after)
    by_site = {c.group: c for c in found.changes if c.attribute == "site"}
    for site, name in (("w", "before"), ("z", "after")):
        assert by_site[site].verdict == "undetermined"
        assert f"{name} lacks genuine attempts of {site}" in by_site[site].reason
    for place, site in (((1, 0), "x"), ((0, 1), "y")):
        rates = [
            (one.parts[0].y_score.reshape(3, -1)[k] == 0).mean()
            for one, k in zip((after, before), place, strict=True)
        ]
        assert_allclose([by_site[site].after, by_site[site].before], rates)
    assert {d.attribute for d in found.disparities} == {"sex"}


@pytest.mark.parametrize("kind", ["frr", "far", "bpcer", "apcer"])
def test_records_and_texts(kind, tmp_path):
    own = people()
    both = (
        log(1, own, EARLY, kind=kind),
        log(2, own, LATE, 2.0, kind=kind),
    )
    found = compare_decisions(*both, baseline=True)
    form = json.loads(found.to_json())
    assert is_valid(form, SystemsComparison.schema(kind))
    assert form["changes"][0]["rate"] == kind and form["unit"] == "attempts"
    text = found.to_text()
    assert "threshold" not in text.split("Glossary")[0].lower()
    assert f"{kind.upper()} of f (sex), " in text and "People in all logs: 150" in text
    assert "at the given" not in found.to_html() + found.to_junit()
    found.save(tmp_path)


def test_what_cannot_be_compared_is_refused():
    own = people()
    one, other = log(1, own, EARLY), log(2, own, LATE)
    several = DecisionData((*one.parts, *log(3, own, EARLY, kind="far").parts))
    for about, said in (
        (dict(after=one), "have equal decisions"),
        (dict(after=several), "kind must be one of frr, far, which after has"),
        (dict(after=other.parts[0]), "after must be a DecisionData"),
        (dict(after=log(3, own, EARLY, kind="bpcer")), "of another kind than before"),
        (dict(after=other, kind="far"), "kind must be one of frr"),
    ):
        with pytest.raises(ValueError, match=said):
            compare_decisions(one, **about)
    assert compare_decisions(one, several_of(other), kind="frr").n_people == 150


def several_of(data):
    return DecisionData((*data.parts, *log(3, people(), EARLY, kind="far").parts))


def test_the_command(tmp_path, capsys):
    own = people()
    paths = []
    for name, seed, who in (("a.csv", 1, EARLY), ("b.csv", 2, LATE)):
        (part,) = log(seed, own, who, 2.0).parts
        rows = zip(
            part.identities[0], part.columns["sex"][0], part.y_score, strict=True
        )
        lines = [f"{p},{sex},{int(accepted)}" for p, sex, accepted in rows]
        column = f"ok_{name[0]}"
        paths.append(tmp_path / name)
        paths[-1].write_text("\n".join([f"person,sex,{column}", *lines]))
    both = f"compare {paths[0]} {paths[1]} --attribute sex --quiet"
    named = f"{both} --accepted ok_a --accepted ok_b"
    assert main(f"{named} --fail-on-harm --out {tmp_path / 'out'}".split()) in (0, 1, 3)
    form = json.loads((tmp_path / "out" / "comparison.json").read_text())
    (one, other) = (log(1, own, EARLY, 2.0), log(2, own, LATE, 2.0))
    same = compare_decisions(one, other).changes
    for change, expected in zip(form["changes"], same, strict=True):
        assert_allclose(change["p_value"], expected.p_value)
    capsys.readouterr()
    for flags, said in (
        (
            "--fmr 0.01",
            "--fmr is about scores of comparisons, and the data are decisions",
        ),
        ("--kind far", "--kind must be one of frr, which before has, got 'far'"),
        ("--score ok_a", "--score is no option of decisions"),
    ):
        assert main(f"{named} {flags}".split()) == 2
        assert said in capsys.readouterr().err


def test_logs_without_people_are_those_of_people_with_one_attempt(tmp_path, capsys):
    own, rng, paths, known = people(), np.random.default_rng(3), [], []
    for k, factor in enumerate((1.0, 2.0)):
        person = rng.choice(EARLY, 1200)
        sex = np.where(person % 2, "f", "m")
        wrong = rng.random(1200) < own[person] * np.where(sex == "f", factor, 1.0)
        rows = [f"{s},{'no' if w else 'yes'}" for s, w in zip(sex, wrong, strict=True)]
        paths.append(str(tmp_path / f"log{k}.csv"))
        Path(paths[-1]).write_text("\n".join(["sex,accepted", *rows]))
        each = 1200 * k + np.arange(1200)
        known.append(
            DecisionData((decisions(wrong * 1.0, each, {"sex": sex}, kind="frr"),))
        )
    options = {"accepted": "accepted", "no_people": True}
    found = compare_decisions(*(read_data(p, "sex", **options) for p in paths))
    expected = compare_decisions(*known)
    assert [vars(c) for c in found.changes] == [
        vars(c) | {"system": found.systems[1]} for c in expected.changes
    ]
    assert found.notes[0].startswith("No person is known, and attempts were taken as")
    flags = ["--accepted", "accepted", "-a", "sex", "--no-people", "--full"]
    assert main(["compare", *paths, *flags]) == 0
    text = capsys.readouterr().out
    assert "Attempts of" in text and "People in all logs" not in text
    with pytest.raises(ArgumentError, match="another does; read all with their people"):
        compare_decisions(read_data(paths[0], "sex", **options), known[1])
