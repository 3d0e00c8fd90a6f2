"""Records become strict JSON."""

import json
import math
from dataclasses import replace

from skfairfr.metrics import Reason
from skfairfr.report._records import Audit, Figure, Remeasured
from skfairfr.report._report import Report


def make_audit(figure):
    other = Remeasured("average", "identity", ())
    return Audit("gender", {"far": [0.01]}, 0, 0.1, (figure,), (), "f", other, ())


def refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


def test_json_is_strict():
    figure = Figure(math.inf, -math.inf, math.nan, 0.5, False, "few errors")
    text = Report((make_audit(figure),)).to_json(version="1.0")
    read = json.loads(text, parse_constant=refuse)
    assert read["audits"][0]["groups"][0] == {
        "value": "Infinity",
        "low": "-Infinity",
        "high": None,
        "standard_error": 0.5,
        "supported": False,
        "reason": "few errors",
        "source": "all pairs",
        "corrected": None,
        "p_value": None,
    }
    assert (read["schema_version"], read["version"]) == (10, "1.0")
    assert read["audits"][0]["reference"] == "f"


def test_what_is_hidden_stays_out_of_the_json():
    figure = Figure(0.1, 0.0, 0.2, 0.1, True, "", "sample", (Reason("no_pairs"),))
    audit = replace(make_audit(figure), sizes=lambda: "drawn over sizes")
    text = Report((audit,)).to_json()
    read = json.loads(text)
    assert list(read) == ["schema_version", "about", "audits", "crossings", "checks"]
    assert list(read["audits"][0])[-5:] == [
        *("failures", "curves", "control", "standardised", "costs")
    ]
    assert read["audits"][0].keys().isdisjoint({"sizes", "checks"})
    assert "no_pairs" not in text and "drawn over sizes" not in text


def test_undefined_figure_is_not_supported():
    lack = Reason("no_pairs", rate="frr", found=0, needed=1)
    figure = Figure.undefined(lack)
    assert math.isnan(figure.value)
    assert (figure.supported, figure.reason) == (False, "no genuine pair")
    assert figure.reasons == (lack,)
