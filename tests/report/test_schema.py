"""The published schemas describe the records, and nothing else."""

import json
from dataclasses import replace

import numpy as np
import pytest

from skfairfr.report import Report, SystemsComparison, audit_data, compare_systems
from tests.report.audits import (
    scored_pairs,
    small_report,
    synthetic,
    systems,
    usual_report,
    with_a_lone_person,
)
from tests.report.json_schema import is_valid


def several():
    X, y, groups = synthetic()
    from skfairfr.report import EmbeddingData

    age = np.where(y % 3 == 0, None, y % 2)
    data = EmbeddingData(X, y, {"gender": groups, "age": age})
    return audit_data(data, far=[0.1, 0.05])


def independent():
    data = scored_pairs(
        np.random.default_rng(0), {"a": 30, "b": 30}, {"a": 0.2, "b": 0}
    )
    same = np.asarray(data.identities[0]) == np.asarray(data.identities[1])
    data = replace(data, identities=None, y_true=same.astype(int))
    limits = {"max_fnmr": 0.1, "max_fmr_ratio": 2.0}
    return audit_data(data, threshold=0.5, limits=limits)


RECORDS = {
    "plain": small_report,
    "a group of one": lambda: small_report(with_a_lone_person()),
    "both averages": lambda: small_report(synthetic(12)),
    "limits": lambda: small_report(limits={"max_bfar": 1.5, "max_fmr": 0.2}),
    "several attributes": several,
    "independent pairs": independent,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", RECORDS)
def test_records_are_valid(name):
    read = json.loads(RECORDS[name]().to_json(version="1.0", source="faces.npz"))
    assert is_valid(read, Report.schema())


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.pop("checks"),
        lambda record: record.update(schema_version=6),
        lambda record: record["audits"][0].update(new=1),
        lambda record: record["audits"][0]["levels"][0]["rates"][0].pop("fmr_errors"),
        lambda record: record["audits"][0]["levels"][0].update(set_on="elsewhere"),
        lambda record: record["audits"][0]["groups"][0].update(n_genuine=-1),
        lambda record: record["audits"][0]["curves"]["fmr"].append([2.0]),
        lambda record: record["audits"][0]["levels"][0]["matrix"].pop("n_errors"),
        lambda record: record["audits"][0]["groups"][0].update(n_genuine=1.5),
    ],
)
def test_others_are_not(change):
    record = json.loads(usual_report().to_json())
    assert is_valid(record, Report.schema())
    change(record)
    assert not is_valid(record, Report.schema())


def test_comparisons_are_valid():
    found = compare_systems(*systems(1.0), far=[1e-2])
    record = json.loads(found.to_json(version="1.0"))
    assert is_valid(record, SystemsComparison.schema())
    record["changes"][0]["verdict"] = "harmed"
    assert not is_valid(record, SystemsComparison.schema())


def test_what_both_schemas_describe_is_described_alike():
    """A record of a comparison holds parts of an audit's."""
    audit, comparison = Report.schema()["$defs"], SystemsComparison.schema()["$defs"]
    shared = audit.keys() & comparison.keys()
    assert len(shared) > 3
    for name in shared:
        assert audit[name] == comparison[name], name
