"""``skfairfr plan`` prints what ``plan_test`` says, in flags."""

from unittest import mock

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr._core import _planning
from skfairfr._core._jackknife import genuine_sums, rate_ends
from skfairfr.metrics import plan_test
from skfairfr.report import read_data
from tests.test_cli import assert_one_line, faces, pairs, run  # noqa: F401


@pytest.fixture(autouse=True)
def few_are_drawn(monkeypatch):
    monkeypatch.setattr(_planning.Setting.draw, "__defaults__", (100,))


def test_it_prints_the_plan(capsys, monkeypatch):
    asked = mock.create_autospec(plan_test)
    asked.return_value.to_text.return_value = "the plan\n"
    monkeypatch.setattr("skfairfr.metrics.plan_test", asked)
    found = run(
        capsys,
        *("plan", "--max-fmr", 1e-2, "--detect-factor", 2, "--rate", "fnmr"),
        *("--fnmr", 0.05, "--max-fnmr-ratio", 3, "--groups", 3),
        *("--images-per-person", 4, "--power", 0.9, "--confidence-level", 0.9),
        *("--comparisons", 5, "--assumed", 0.25),
    )
    assert found == (0, "the plan\n", "")
    given = {
        "max_fmr": 1e-2,
        "detect_factor": 2,
        "rate": "frr",
        "frr": 0.05,
        "policy": {"max_fnmr_ratio": 3.0},
        "n_groups": 3,
        "images_per_person": 4,
        "power": 0.9,
        "confidence_level": 0.9,
        "comparisons": 5,
        "assumed": 0.25,
    }
    assert given.items() <= asked.call_args.kwargs.items()


def test_a_pilot_is_read_as_an_audit_reads(capsys, faces, pairs):  # noqa: F811
    options = ("plan", "--max-fmr", 1e-2, "--attribute", "gender", "--pilot")
    code, out, _ = run(capsys, *options, faces)
    roc = SimilarityROC(n_resamples=1, random_state=0)
    read_data(faces, "gender").fit(roc, ("gender",))
    assert (code, out) == (0, plan_test(max_fmr=1e-2, pilot=roc).to_text())
    code, out, _ = run(capsys, *options, pairs, "--distance")
    assert code == 0
    assert "pilot, FMR (" in out


def test_a_pilot_is_asked_at_the_level(capsys, faces):  # noqa: F811
    options = ("plan", "--max-fnmr", 0.1, "--attribute", "gender", "--pilot", faces)
    for far in (1e-2, 1e-1):
        roc = SimilarityROC(n_resamples=1, random_state=0, far_max=far)
        read_data(faces, "gender").fit(roc, ("gender",))
        code, out, _ = run(capsys, *options, "--fmr", far)
        plan = plan_test(max_fnmr=0.1, pilot=roc, far=far)
        assert (code, out) == (0, plan.to_text())
        assert plan.pilot_errors["far"][1] == far
    only_fmr = (*options[:1], "--max-fmr", *options[2:])
    assert run(capsys, *only_fmr, "--fmr", 0.1)[0] == 2
    code, _, err = run(capsys, "plan", "--max-fmr", 1.5, "--pilot", faces)
    assert (code, "--max-fmr must be a number in (0, 1)" in err) == (2, True)


def test_notes_on_a_pilot_are_printed(capsys, faces, pairs, tmp_path):  # noqa: F811
    arrays = dict(np.load(faces))
    arrays["gender"][:3] = "nan"
    path = tmp_path / "faces.npz"
    np.savez(path, **arrays)
    options = ("plan", "--max-fmr", 1e-2, "--attribute", "gender", "--pilot")
    code, out, err = run(capsys, *options, path)
    assert (code, err) == (0, "")
    assert "\nNote on the pilot: " in out
    assert "'nan' in 'gender' (3 rows) is taken as a label" in out
    code, out, err = run(capsys, *options, pairs, "--score", "distance")
    assert (code, err) == (0, "")
    assert "Note on the pilot: Genuine pairs (" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "Give --max-fmr, --max-fnmr, --max-fpir, --max-fmr-ratio"),
        (("--max-fmr", 1e-4, "--fmr", 1e-3), "--fmr is about ratios"),
        (("--max-fnmr-ratio", 2, "--groups", 1), "--groups 1 has no two rates"),
        (("--max-fmr", 0.1, "--identity-1", "a"), "--identity-1 is about a pilot"),
        (("--max-fmr", 0.1, "--threshold", 0.5), "--threshold is about a pilot"),
        (("--max-fmr", 0.1, "--pilot", "nope.npz"), "'nope.npz' does not exist"),
    ],
)
def test_errors_are_told_in_flags(capsys, options, message):
    code, out, err = run(capsys, "plan", *options)
    assert_one_line(code, out, err, "plan")
    assert message in err


def test_what_cannot_be_is_no_error(capsys):
    code, out, err = run(capsys, "plan", "--max-fmr", 1e-3, "--assumed", 1)
    assert (code, err) == (0, "")
    assert "cannot be certified: the assumed FMR, 0.1 %, is at the limit" in out


def uneven_log(path, n_people=300, seed=0):
    """Attempts, few of most people and many of some, who have rates of their own."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), np.where(np.arange(n_people) % 10, 4, 24))
    own = rng.beta(1, 9, n_people)
    rejected = rng.random(person.size) < own[person]
    rows = zip(person, person % 2, rejected, strict=True)
    lines = [f"{p},{'mf'[sex]},{int(not wrong)}" for p, sex, wrong in rows]
    path.write_text("\n".join(["person,sex,accepted", *lines]))
    return person, rejected


def test_a_pilot_may_be_a_log_of_decisions(capsys, tmp_path):
    person, rejected = uneven_log(tmp_path / "log.csv")
    log = ("--pilot", tmp_path / "log.csv", "--accepted", "accepted")
    code, out, err = run(capsys, "plan", "--max-fnmr", 0.2, *log)
    assert (code, err) == (0, "")
    assert out.startswith("People per group, 6 attempts of each person")
    assert "every group's FRR is at most 20 %" in out and "FNMR" not in out
    roc = SimilarityROC(n_resamples=1, random_state=0)
    roc.fit_pairs(1.0 - rejected, person, person, mated_only=True)
    asked = {"max_fnmr": 0.2, "pilot": roc, "threshold": 0.5}
    plan = plan_test(**asked, attempts_per_person=6)
    assert plan.to_text() == out
    # By a loop that leaves out people: how much more errors vary than independent ones.
    rate = rejected.mean()
    lost = [rate - rejected[person != one].mean() for one in range(300)]
    variance = np.var(lost) * 299 * person.size**2
    phi = variance / (rejected.sum() * (1 - rate))
    found = plan.dependence["frr"].inflation("attempt", 6)
    assert found == pytest.approx(phi) and found > 1.5
    assert plan.pilot_errors["frr"][0] == rejected.sum()
    # Of twice as many attempts, as uneven.
    twice = plan_test(**asked, attempts_per_person=12).dependence["frr"]
    correlation = (phi - 1) / ((24**2 * 30 + 4**2 * 270) / 1800 - 1)
    expected = 1 + correlation * (2 * (24**2 * 30 + 4**2 * 270) / 1800 - 1)
    assert twice.inflation("attempt", 12) == pytest.approx(expected)
    for flags, said in (
        (
            ("--max-fmr", 0.1),
            "--max-fmr is no question about rejected attempts",
        ),
        (("--detect-factor", 2), "give rate='frr' (--rate fnmr)"),
        (("--max-fnmr", 0.1, "--threshold", 1), "Leave --threshold out"),
    ):
        assert run(capsys, "plan", *flags, *log)[0] == 2
        code, out, err = run(capsys, "plan", *flags, *log)
        assert said in err


def test_as_many_people_as_planned_from_a_log_give_the_answer(tmp_path, capsys):
    """Of 300 logs as uneven as the pilot, judged by the interval of an audit."""
    person, rejected = uneven_log(tmp_path / "log.csv", 3000)
    roc = SimilarityROC(n_resamples=1, random_state=0)
    roc.fit_pairs(1.0 - rejected, person, person, mated_only=True)
    asked = {"max_fnmr": 0.2, "pilot": roc, "threshold": 0.5, "n_groups": 1}
    plan = plan_test(**asked, attempts_per_person=6)
    (people,) = plan.people[plan.basis == "pilot"].astype(int)
    rng, certified = np.random.default_rng(0), []
    for _ in range(300):
        n = np.where(rng.random(people) < 0.1, 24, 4)
        wrong = rng.binomial(n, rng.beta(1, 9, people))
        sums = genuine_sums(wrong[None].astype(float), n.astype(float))
        certified.append(float(rate_ends(sums, 0.025)[1][0]) <= 0.2)
    assert 0.7 < np.mean(certified) < 0.92
