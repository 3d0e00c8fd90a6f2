"""``skfairfr plan`` prints what ``plan_test`` says, in flags."""

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr._core import _planning
from skfairfr.metrics import plan_test
from skfairfr.report import read_data
from tests.test_cli import assert_one_line, faces, pairs, run  # noqa: F401


@pytest.fixture(autouse=True)
def few_are_drawn(monkeypatch):
    monkeypatch.setattr(_planning.Setting.draw, "__defaults__", (100,))


def test_it_prints_the_plan(capsys):
    code, out, err = run(
        capsys,
        *("plan", "--certify-fmr", 1e-2, "--detect-factor", 2, "--rate", "fnmr"),
        *("--fnmr", 0.05, "--max-fnmr-ratio", 3, "--groups", 3),
        *("--images-per-person", 4, "--power", 0.9, "--confidence-level", 0.9),
        *("--comparisons", 5, "--assumed", 0.25),
    )
    plan = plan_test(
        certify_fmr=1e-2,
        detect_factor=2,
        rate="frr",
        frr=0.05,
        policy={"max_fnmr_ratio": 3.0},
        groups=3,
        images_per_person=4,
        power=0.9,
        confidence_level=0.9,
        comparisons=5,
        assumed=0.25,
    )
    assert (code, out, err) == (0, plan.to_text(), "")


def test_a_pilot_is_read_as_an_audit_reads(capsys, faces, pairs):  # noqa: F811
    options = ("plan", "--certify-fmr", 1e-2, "--attribute", "gender", "--pilot")
    code, out, _ = run(capsys, *options, faces)
    roc = SimilarityROC(n_resamples=1, random_state=0)
    read_data(faces, "gender").fit(roc, ("gender",))
    assert (code, out) == (0, plan_test(certify_fmr=1e-2, pilot=roc).to_text())
    code, out, _ = run(capsys, *options, pairs, "--distance")
    assert code == 0
    assert "pilot, FMR (" in out


def test_a_pilot_is_asked_at_the_level(capsys, faces):  # noqa: F811
    options = ("plan", "--certify-fnmr", 0.1, "--attribute", "gender", "--pilot", faces)
    roc = SimilarityROC(n_resamples=1, random_state=0)
    read_data(faces, "gender").fit(roc, ("gender",))
    for far in (1e-2, 1e-1):
        code, out, _ = run(capsys, *options, "--fmr", far)
        plan = plan_test(certify_fnmr=0.1, pilot=roc, far=far)
        assert (code, out) == (0, plan.to_text())
    only_fmr = (*options[:1], "--certify-fmr", *options[2:])
    assert run(capsys, *only_fmr, "--fmr", 0.1)[0] == 2


def test_notes_on_a_pilot_are_printed(capsys, faces, pairs, tmp_path):  # noqa: F811
    arrays = dict(np.load(faces))
    arrays["gender"][:3] = "nan"
    path = tmp_path / "faces.npz"
    np.savez(path, **arrays)
    options = ("plan", "--certify-fmr", 1e-2, "--attribute", "gender", "--pilot")
    code, out, err = run(capsys, *options, path)
    assert (code, err) == (0, "")
    assert "\nNote on the pilot: " in out
    assert "holds 'nan' in 3 rows" in out
    code, out, err = run(capsys, *options, pairs, "--score", "distance")
    assert (code, err) == (0, "")
    assert "Note on the pilot: Genuine pairs mostly have smaller scores" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "Give --certify-fmr, --certify-fnmr"),
        (("--certify-fmr", 1e-4, "--fmr", 1e-3), "--fmr is about ratios"),
        (("--max-fnmr-ratio", 2, "--groups", 1), "--groups 1 has no two rates"),
        (("--certify-fmr", 0.1, "--identity-1", "a"), "--identity-1 is about a pilot"),
        (("--certify-fmr", 0.1, "--pilot", "nope.npz"), "'nope.npz' does not exist"),
    ],
)
def test_errors_are_told_in_flags(capsys, options, message):
    code, out, err = run(capsys, "plan", *options)
    assert_one_line(code, out, err, "plan")
    assert message in err


def test_what_cannot_be_is_no_error(capsys):
    code, out, err = run(capsys, "plan", "--certify-fmr", 1e-3, "--assumed", 2)
    assert (code, err) == (0, "")
    assert "cannot be certified: the assumed FMR, 0.2 %, is above the limit" in out
