"""Messages name arguments in Python's words, or in those that a caller spells."""

import copy
import pickle

import numpy as np
import pytest

from skfairfr.utils import ArgumentError
from skfairfr.utils._errors import Argument, Message, place, suggestion


def shout(argument):
    """A spelling unlike Python's."""
    value = f" {argument.value}" if argument.has_value else ""
    return f"{'AS ' * argument.is_place}{argument.name.upper()}{value}"


@pytest.mark.parametrize(
    ("argument", "python", "shouted"),
    [
        (Argument("far"), "far", "FAR"),
        (Argument("impostors", "all"), "impostors='all'", "IMPOSTORS all"),
        (Argument("domain", None), "domain=None", "DOMAIN None"),
        (Argument("group", np.str_("f")), "group='f'", "GROUP f"),
        (place("labels"), "as labels", "AS LABELS"),
    ],
)
def test_arguments_are_spelled(argument, python, shouted):
    message = Message("Give it ", argument, ".")
    assert message == f"Give it {python}."
    assert message.spelled(shout) == f"Give it {shouted}."


@pytest.mark.parametrize("text", ["far=0.1 and 'labels'", "as path", "{far}", ""])
def test_text_is_never_searched_for_arguments(text):
    assert Message(text).spelled(shout) == Message(text) == text


def test_messages_may_hold_messages():
    inner = Message("use ", Argument("far"))
    outer = Message("Now ", inner, ", or ", Argument("how", "gini"))
    assert outer == "Now use far, or how='gini'"
    assert outer.spelled(shout) == "Now use FAR, or HOW gini"


def test_an_error_carries_its_argument_its_value_and_the_remedy():
    error = ArgumentError(
        Argument("impostors", "same_group"),
        " leaves no impostor pair.",
        remedy=("Give ", Argument("sensitive_features"), "."),
    )
    assert isinstance(error, ValueError)
    assert str(error) == (
        "impostors='same_group' leaves no impostor pair. Give sensitive_features."
    )
    assert (error.argument, error.value) == ("impostors", "same_group")
    assert error.problem == "impostors='same_group' leaves no impostor pair."
    assert error.remedy == "Give sensitive_features."
    assert error.message.spelled(shout).endswith("Give SENSITIVE_FEATURES.")


def test_a_value_need_not_be_shown():
    error = ArgumentError(Argument("far"), " must lie in (0, 1).", value=2)
    assert (str(error), error.value, error.remedy) == ("far must lie in (0, 1).", 2, "")
    assert ArgumentError("Nothing is right.").argument is None


def test_an_argument_of_the_remedy_is_not_the_one_that_is_wrong():
    error = ArgumentError("There is one group;", remedy=("give ", Argument("far", 0.1)))
    assert (error.argument, error.value) == (None, None)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_errors_come_back_from_other_processes(copied):
    error = copied(
        ArgumentError(Argument("far"), " is bad;", remedy=("give ", place("y")))
    )
    assert str(error) == "far is bad; give as y"
    assert error.args[0].spelled(shout) == "FAR is bad; give AS Y"
    assert (error.argument, error.remedy) == ("far", "give as y")


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
