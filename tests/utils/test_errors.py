"""An error names its argument, what was given, and what to do."""

import copy
import pickle

import pytest

from skfairfr.utils import ArgumentError
from skfairfr.utils._errors import invalid, suggestion
from tests.refusals import refusal


def test_an_error_carries_its_argument_its_value_and_the_remedy():
    error = invalid("far", 2, "must lie in (0, 1), got 2.", "Give 0.02 for 2 %.")
    assert isinstance(error, ValueError) and isinstance(error, ArgumentError)
    assert str(error) == "far must lie in (0, 1), got 2. Give 0.02 for 2 %."
    assert (error.argument, error.value) == ("far", 2)
    assert error.remedy == "Give 0.02 for 2 %."


def test_a_part_of_an_argument_is_about_the_argument():
    with refusal("columns", "columns['age'] has 2 rows."):
        raise invalid("columns['age']", [1, 2], "has 2 rows.")


def test_one_of_two_arguments_is_about_the_first():
    with refusal("y", "y or y_gallery is missing."):
        raise invalid("y or y_gallery", None, "is missing.")


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_errors_come_back_from_other_processes(copied):
    error = invalid("far", 2, "is bad;", "give y.")
    assert vars(copied(error)) == vars(error)
    assert str(copied(error)) == str(error)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fars", "Did you mean 'far'? "),
        ("max_fnrm", "Did you mean 'max_fnmr'? "),
        ("colour", ""),
        (3, ""),
    ],
)
def test_a_name_that_is_like_a_known_one(name, expected):
    assert suggestion(name, ("far", "max_fmr", "max_fnmr")) == expected
