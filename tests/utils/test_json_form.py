"""Results are strict JSON."""

from dataclasses import dataclass, field

import numpy as np

from skfairfr.utils._json_form import plain_form


@dataclass
class Result:
    value: float
    hidden: object = field(default=None, metadata={"json": False})


def test_results_are_strict_json():
    found = plain_form({"a": (Result(np.float64("nan")), -np.inf, [np.int32(3), "b"])})
    assert found == {"a": [{"value": None}, "-Infinity", [3, "b"]]}
    assert plain_form(np.array([[1.5, np.nan], [np.inf, 2]])) == [
        [1.5, None],
        ["Infinity", 2.0],
    ]
