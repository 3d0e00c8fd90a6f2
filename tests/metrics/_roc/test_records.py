"""The records that questions are answered with."""

import dataclasses

import pytest

from skfairfr.metrics import (
    EstimandWarning,
    Estimate,
    GroupFARMatrix,
    ROCCurve,
    ScoreSummary,
)


@pytest.mark.parametrize("record", [Estimate, GroupFARMatrix, ROCCurve, ScoreSummary])
def test_records_are_frozen(record):
    made = record(*(None for _ in dataclasses.fields(record)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, dataclasses.fields(record)[0].name, 1)


@pytest.mark.parametrize("record", [Estimate, GroupFARMatrix, ROCCurve])
def test_support_and_its_reasons_come_last(record):
    names = [field.name for field in dataclasses.fields(record)]
    assert names[-4:] == ["supported", "reason", "source", "reasons"]


def test_the_estimand_warning_is_a_user_warning():
    assert issubclass(EstimandWarning, UserWarning)
