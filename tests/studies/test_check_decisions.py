"""The study of logs: groups that are alike are seldom told apart, whoever comes often."""

import numpy as np
import pytest

from docs.studies.check_decisions import LOGS, audited, draw, outcomes
from skfairfr.report import audit_decisions


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in LOGS if row[3]])
def test_heavy_users_name_no_group(row):
    named, *_ = outcomes(row, 1000)
    assert named.mean() <= 0.055


@pytest.mark.parametrize("row", LOGS)
def test_the_study_finds_what_an_audit_finds(row):
    drawn = person, group, error = draw(row, 7)
    p_value, low, high = audited(*drawn)
    (level,) = audit_decisions(error, person, group).audits[0].levels
    assert level.findings[0].ratio.p_value == pytest.approx(p_value)
    frr = [rates.frr for rates in level.rates[1:]]
    assert [one.low for one in frr] == pytest.approx(low)
    assert [one.high for one in frr] == pytest.approx(high)


@pytest.mark.parametrize("row", LOGS)
def test_logs_are_as_they_are_described(row):
    frr, n_people, part, heavy, whose = row
    person, group, error = draw(row, 0)
    often = np.bincount(person, minlength=n_people)
    assert person.size == 10 * n_people
    if heavy:
        assert often.max() / person.size == pytest.approx(heavy, abs=0.05)
        assert group[person == often.argmax()][0] == whose
    others = person != often.argmax()
    assert np.mean(group[others] == "f") == pytest.approx(part, abs=0.06)
    assert 0.4 * frr < error[others].mean() < 2.5 * frr
