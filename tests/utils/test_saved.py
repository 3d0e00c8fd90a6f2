"""What is written to a file comes back, with its types; nothing else is written."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr.utils import _saved


def there_and_back(value, path):
    _saved.write(path, value)
    return _saved.read(path, "write it again")


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        0.1,
        float("inf"),
        "a",
        (1, "b", (None,)),
        [1, [2.5]],
        {"a": 1, 2: "b", (3, "c"): [None], "array": {"pairs": 1}},
        {"tensor": 1, "dtype": 2},
        {"tuple": []},
    ],
)
def test_values_come_back(value, tmp_path):
    again = there_and_back(value, tmp_path / "a")
    assert again == value and type(again) is type(value)


ARRAYS = [
    np.array(["a", None], dtype=object),
    np.array(["a", "bc"]),
    np.array([1, 2], dtype="<i2"),
    np.array([1.5, np.nan], dtype=">f8"),
    np.arange(6.0).reshape(2, 3).T,
    np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2],
    np.array(3.0, dtype=np.float16),
    np.zeros((0, 3), dtype=bool),
]


def test_arrays_come_back_with_their_type_and_order(tmp_path):
    found = there_and_back(ARRAYS, tmp_path / "a")
    for again, value in zip(found, ARRAYS, strict=True):
        assert (
            again.dtype == value.dtype.newbyteorder("=") and again.shape == value.shape
        )
        assert_array_equal(again, value)
    assert found[4].flags.f_contiguous and not found[4].flags.c_contiguous


def test_names_of_arrays_do_not_collide(tmp_path):
    value = {"a": {"b.c": np.zeros(2)}, "a.b": {"c": np.ones(3)}}
    again = there_and_back(value, tmp_path / "a")
    assert again["a"]["b.c"].tolist() == [0, 0] and again["a.b"]["c"].size == 3


@pytest.mark.parametrize("value", [object(), abs, {1, 2}, [1, b"a"], np.array([b"a"])])
def test_values_without_a_form_are_named_and_nothing_is_written(value, tmp_path):
    with pytest.raises(ValueError, match=r"thing.* cannot be saved.*ickle"):
        _saved.write(tmp_path / "a", {"thing": value})
    assert not list(tmp_path.iterdir())
