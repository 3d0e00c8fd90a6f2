"""Records become strict JSON."""

import json
import math

import pytest

from skfairfr.report._record import Audit, Figure, Other


def make_audit(figure):
    other = Other("resample", "images", (), "one image each")
    return Audit("gender", {"far": [0.01]}, 0, 0.1, (figure,), (), other, None, ())


def refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


def test_json_is_strict():
    figure = Figure(math.inf, -math.inf, math.nan, 0.5, False, "few errors")
    text = make_audit(figure).to_json(version="1.0")
    read = json.loads(text, parse_constant=refuse)
    assert read["audits"][0]["groups"][0] == {
        "value": "Infinity",
        "low": "-Infinity",
        "high": None,
        "standard_error": 0.5,
        "supported": False,
        "reason": "few errors",
    }
    assert (read["schema_version"], read["version"]) == (2, "1.0")


def test_undefined_figure_is_not_supported():
    figure = Figure.undefined("no pair")
    assert math.isnan(figure.value)
    assert (figure.supported, figure.reason) == (False, "no pair")


def test_records_are_frozen():
    with pytest.raises(AttributeError):
        make_audit(Figure.undefined("")).attribute = "age"
