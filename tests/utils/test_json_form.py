"""What is written as JSON comes back, and results are strict JSON."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest

from skfairfr.utils._json_form import decode, encode, plain_form


@dataclass
class Result:
    value: float
    hidden: object = field(default=None, metadata={"json": False})


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        0.1,
        "a",
        (1, "b", (None,)),
        [1, [2.5]],
        {"a": 1, 2: "b", (3, "c"): [None], "array": {"pairs": 1}},
        {"array": 1, "dtype": 2},
        {"tuple": []},
    ],
)
def test_values_come_back_from_json(value):
    again = decode(json.loads(json.dumps(encode(value))))
    assert again == value and type(again) is type(value)


@pytest.mark.parametrize("value", [object(), abs, {1, 2}, [1, b"a"]])
def test_values_without_a_json_form_are_errors(value):
    with pytest.raises(TypeError, match="no JSON form"):
        encode(value)


def test_arrays_come_back_with_their_type():
    for value in (np.array(["a", None], dtype=object), np.array([1, 2], dtype="<i2")):
        again = decode(json.loads(json.dumps(encode(value))))
        assert again.dtype == value.dtype and again.tolist() == value.tolist()


def test_results_are_strict_json():
    found = plain_form({"a": (Result(np.float64("nan")), -np.inf, [np.int32(3), "b"])})
    assert found == {"a": [{"value": None}, "-Infinity", [3, "b"]]}
    assert plain_form(np.array([[1.5, np.nan], [np.inf, 2]])) == [
        [1.5, None],
        ["Infinity", 2.0],
    ]
