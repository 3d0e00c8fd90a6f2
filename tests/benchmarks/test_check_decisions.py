"""The study of logs: groups that are alike are seldom told apart, whoever comes often."""

import numpy as np
import pytest

from tests.benchmarks.check_decisions import LOGS, draw, outcomes


@pytest.mark.slow
def test_heavy_users_name_no_group():
    named, *_ = outcomes((0.08, 80, 0.2, 0.3, "f"), 1000)
    assert named.mean() <= 0.055


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
