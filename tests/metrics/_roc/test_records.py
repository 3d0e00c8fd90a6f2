"""The records that questions are answered with."""

import dataclasses

import pytest

from skfairfr.metrics import (
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
