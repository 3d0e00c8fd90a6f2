"""Several attributes are audited each and in combination."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from skfairfr.report._data import Faces
from skfairfr.report._report import report_on
from tests.report.audits import small_audit, synthetic


@pytest.fixture(scope="module")
def data():
    X, y, groups = synthetic()
    columns = {
        "gender": groups,
        "age": np.where(y % 2, "old", "young"),
        "place": np.where(y % 3, "north", "south"),
        "one": np.full(len(y), "a"),
    }
    return Faces(X, y, columns)


def test_each_attribute_and_all_combinations(data):
    report = report_on(data, ["gender", "age", "place"], n_resamples=10)
    names = [found.attribute for found in report.audits]
    assert names[:4] == ["gender", "age", "place", "gender & age"]
    assert names[4:] == ["gender & place", "age & place", "gender & age & place"]
    assert [len(c.attributes) for c in report.crossings] == [2, 2, 2, 3]
    groups = [row.group for row in report.audits[3].groups]
    assert groups == [None, *(f"{g} & {a}" for g, a in sorted(set(_cells(data))))]


def _cells(data):
    columns = data.columns["gender"].tolist(), data.columns["age"].tolist()
    return zip(*columns, strict=True)


def test_one_attribute_is_the_audit_alone(data):
    report = report_on(data, ["gender"], n_resamples=40)
    alone = small_audit(far=None, n_resamples=40)
    assert report.to_json() == alone.to_json()
    assert report.crossings == report.checks == ()


def test_json_has_every_part(data):
    limits = {"max_far_ratio": 2.0}
    about = {"threshold_from": "x"}
    options = {"limits": limits, "about": about, "notes": ["said"], "n_resamples": 10}
    report = report_on(data, ["gender", "age"], **options)
    read = json.loads(report.to_json(version="1"))
    assert (len(read["audits"]), len(read["crossings"]), len(read["checks"])) == (
        3,
        1,
        6,
    )
    assert read["audits"][0]["settings"]["threshold_from"] == "x"
    assert read["audits"][0]["notes"][0] == "said"
    assert read["crossings"][0]["cells"][0].keys() == {
        *("groups", "n_identities", "n_images"),
    }


def test_what_was_fitted_can_be_visited(data):
    seen = {}
    report_on(data, ["gender", "age"], n_resamples=10, visit=seen.__setitem__)
    assert list(seen) == ["gender", "age", "gender & age"]
    assert seen["age"].groups_.tolist() == ["old", "young"]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (["gender", "gender"], "attribute 'gender' was named twice"),
        (["gender", "one"], "one has one group, 'a'"),
    ],
)
def test_unusable_attributes(data, attributes, message):
    with pytest.raises(ValueError, match=message):
        report_on(data, attributes)


def keys(value):
    """Names of all fields of JSON, however deep; labels are values."""
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


def test_every_key_of_the_json_is_documented(data):
    limits = {"max_far_ratio": 2.0}
    about = dict.fromkeys(("domain", "distance", "threshold_from"))
    options = {"limits": limits, "about": about, "n_resamples": 10}
    report = report_on(data, ["gender", "age"], **options)
    text = report.to_json(version="1", source="faces.npz")
    page = Path(__file__).parents[2] / "docs" / "api" / "report.rst"
    documented = set(re.findall(r"``(\w+)``", page.read_text(encoding="utf-8")))
    assert keys(json.loads(text)) - documented == set()
