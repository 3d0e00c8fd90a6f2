"""Options of another function are listed by name."""

import inspect
from inspect import Parameter

import pytest

from skfairfr import report
from skfairfr.utils._options import with_options_of


def source(data, *, far=None, average="pair", seed=0):
    """Measure.

    Parameters
    ----------
    data : array
        Rows.
    far : float, default=None
        Levels,

        in two paragraphs.
    average : str, default="pair"
        What weighs the same.
    seed : int, default=0
        Of samples.

    Returns
    -------
    found : tuple
        All of it.
    """
    return data, far, average, seed


@with_options_of(source, without=("seed",))
def listing(data, *, mine=1, **options):
    """Measure my data.

    Parameters
    ----------
    data : array
        My rows.
    mine : int, default=1
        An option of its own.
    average : str, default="pair"
        Another text.
    **options
        As of source.

    Returns
    -------
    found : tuple
        All of it.
    """
    return source(data, **options)


def test_options_of_another_function_are_listed_with_their_defaults():
    listed = inspect.signature(listing).parameters
    assert list(listed) == ["data", "mine", "far", "average"]
    assert listed["average"].default == "pair"
    assert listed["far"].kind is Parameter.KEYWORD_ONLY


def test_options_have_the_text_of_the_other_function_unless_they_have_their_own():
    text = inspect.getdoc(listing)
    assert "far : float, default=None\n    Levels,\n\n    in two paragraphs.\n" in text
    assert text.count("average : ") == 1 and "Another text" in text
    assert "seed" not in text and "**options" not in text
    assert text.index("far : ") < text.index("Returns\n-------\nfound")


def test_options_are_passed_on_and_unknown_ones_raise():
    assert listing(1, far=0.1) == (1, 0.1, "pair", 0)
    with pytest.raises(TypeError, match="'fra'"):
        listing(1, fra=0.1)


@pytest.mark.parametrize("name", report.__all__)
def test_functions_of_the_report_list_their_options_by_name(name):
    function = getattr(report, name)
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    assert Parameter.VAR_KEYWORD not in kinds


def test_misspelt_option_names_the_function_that_was_called():
    match = r"audit_decisions\(\) has no argument .*Did you mean 'confidence_level'"
    with pytest.raises(TypeError, match=match):
        report.audit_decisions([0, 1], [0, 1], confidence_leve=0.9)
