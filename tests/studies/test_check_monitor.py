"""The study of the monitor: few false alarms, more of audits that are repeated."""

import numpy as np
import pytest

from docs.studies.check_monitor import KEPT, Watched, drifting, found_after, kept


@pytest.mark.slow
def test_a_kept_ratio_is_seldom_found_to_be_exceeded():
    row = (0.05, 1.5, 0.5, "none")
    assert row in KEPT
    of_ratio, audits, of_rate = kept(row, 200)
    most = 0.05 + 3 * np.sqrt(0.05 / 200)
    assert of_ratio.mean() < most and of_rate.mean() < most
    assert audits.mean() > of_ratio.mean()


@pytest.mark.slow
def test_a_large_excess_is_found():
    assert np.median(found_after((0.05, 3.0, 1.5, 0.5, 0), 20)) < 12


def test_rates_drift_as_they_are_named():
    assert set(drifting("none", 4)) == {1.0}
    assert drifting("x 3", 4).tolist() == [1, 1, 3, 3]
    assert drifting("/ 3", 2)[1] == pytest.approx(1 / 3)
    assert drifting("x 3 slowly", 3)[1] == pytest.approx(3 ** (1 / 3))


def test_streams_without_errors_raise_no_alarm():
    group = np.arange(400) % 2
    assert Watched(1.5).take(group, np.zeros(400)) == [False, False]
