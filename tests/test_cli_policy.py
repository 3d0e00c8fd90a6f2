"""Policies and limits of rates on the command line."""

import numpy as np
import pytest

from tests.report.audits import scored_pairs
from tests.test_cli import assert_one_line, run
from tests.test_cli_plan import few_are_drawn  # noqa: F401

RATES = {"f": 0.06, "m": 0.02}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """A list of scored pairs, whose groups err as often as RATES says."""
    made = scored_pairs(np.random.default_rng(0), {"f": 300, "m": 300}, RATES)
    columns = [made.y_score, *made.identities, *made.columns["group"]]
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path = tmp_path_factory.mktemp("policy") / "pairs.csv"
    head = "score,identity_1,identity_2,sex_1,sex_2"
    path.write_text("\n".join([head, *rows]))
    return str(path)


def gate(folder, limits, more=""):
    path = folder / "gate.toml"
    path.write_text(f'name = "gate"\nthreshold = 0.5\n{more}\n[limits]\n{limits}\n')
    return path


@pytest.mark.parametrize(
    ("limit", "code", "words"),
    [
        ("max_fnmr = 0.2", 0, "Passed. 1 limit: 1 met (policy gate)."),
        ("max_fnmr = 0.05", 3, "more people in f would show in 80 % of cases that the"),
        ("max_fmr = 0.2\nmax_fnmr = 0.01", 1, "Failed. 2 limits: 1 exceeded and 1 met (policy gate)."),
    ],
)  # fmt: skip
def test_a_policy_decides_the_exit_code(capsys, tmp_path, pairs, limit, code, words):
    path = gate(tmp_path, limit)
    options = ("--attribute", "sex", "--policy", path)
    found = run(capsys, "audit", pairs, *options)
    text = " ".join(found[1].split())
    assert (found[0], found[2]) == (code, "")
    assert words in text
    assert text.count("policy gate") == 1


def test_a_policy_may_name_the_attributes(capsys, tmp_path, pairs):
    path = gate(tmp_path, "max_fnmr = 0.2", 'attributes = "sex"')
    code, out, err = run(capsys, "audit", pairs, "--policy", path)
    assert (code, err) == (0, "")
    assert "errors by sex" in out
    for flags in (("--attribute", "sex"), ("--fmr", "0.1")):  # which it sets
        found = run(capsys, "audit", pairs, "--policy", path, *flags)
        assert_one_line(*found)
        assert f"error: {flags[0]} " in found[2] and "'gate'" in found[2]


def test_the_shipped_policy_takes_the_threshold_of_a_system(capsys, pairs):
    options = ("--attribute", "sex", "--policy", "sp800-63a-4", "--threshold", "0.5")
    code, out, err = run(capsys, "audit", pairs, *options)
    assert (code, err) == (1, "")
    assert "Failed." in out and "(policy sp800-63a-4)" in " ".join(out.split())
    out = run(capsys, "audit", pairs, *options, "--full")[1]
    assert "Given threshold 0.5: accepted from similarity 0.5 on" in out


def test_policies_that_are_shipped_are_listed(capsys):
    code, out, err = run(capsys, "audit", "--list-policies")
    assert (code, err) == (0, "")
    assert out.startswith("sp800-63a-4  FMR 1e-4 and FNMR 1e-2 at most, each group")


def test_a_policy_is_planned_for(capsys, tmp_path):
    code, out, err = run(capsys, "plan", "--policy", "sp800-63a-4", "--assumed", "0.5")
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    assert "every group's FMR is at most 0.01 %" in text
    assert "every group's FNMR is at most 1 %" in text
    at = "[[at]]\nthreshold = 0.5\nlimits = { max_fmr = 0.1 }"
    path = gate(tmp_path, "max_fnmr = 0.2\n" + at)
    code, out, err = run(capsys, "plan", "--policy", path)
    assert (code, err) == (0, "")
    second = out.split("\n")[2]
    assert second.startswith("Not planned for: at (")
    found = run(capsys, "plan", "--policy", path, "--max-fmr-ratio", "2")
    assert_one_line(*found, command="plan")
    assert "--max-fmr-ratio" in found[2] and "gate" in found[2]
