"""Arguments of a question that contradict each other or the data."""

import numpy as np
import pytest

from tests.metrics.designs import GROUP, IDENTITY, X, unfitted


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, "exactly one of far and threshold; got neither"),
        ({"far": 0.1, "threshold": 0.5}, "exactly one of far and threshold; got both"),
        ({"far": 0}, r"far must lie in \(0, 1\)"),
        ({"far": 1.0}, r"far must lie in \(0, 1\)"),
        ({"far": [0.1, 1.5]}, r"far must lie in \(0, 1\).*1.5"),
        ({"far": "0.1"}, "far must lie in"),
        ({"threshold": np.nan}, "threshold must be"),
        ({"far": 0.1, "rate": "fnmr"}, "rate must be one of 'far', 'frr'; got 'fnmr'"),
        ({"far": 0.1, "how": "maxmin"}, "how must be one of 'max_min'.*got 'maxmin'"),
        (
            {"far": 0.1, "group": "x"},
            "group 'x' is not a group of the data.*: 'a', 'b'",
        ),
        ({"far": 0.1, "group": "a", "how": "gini"}, "exclude each other"),
        ({"far": 0.1, "group": ("a", "b")}, "only impostor pairs cross groups"),
        ({"far": 0.1, "group": ("a",), "rate": "far"}, "one group or two"),
        ({"far": 0.1, "operating_point": "eer"}, "operating_point must be one of"),
        ({"threshold": 0.1, "operating_point": "worst_group"}, "leave it out"),
        ({"far": 0.1, "operating_point": "group"}, "give group= or how="),
        ({"far": 0.1, "how": ("ratio", "a")}, "give how=.'ratio', a, b"),
        ({"far": 0.1, "how": ("ratio", "a", "x")}, "how 'x' is not a group"),
    ],
)
def test_estimate(question, message):
    fitted = unfitted().fit(X, IDENTITY, GROUP)
    with pytest.raises(ValueError, match=message):
        fitted.estimate(**question)


@pytest.mark.parametrize(
    "question",
    [
        {"far": 0.1, "how": "max_min"},
        {"far": 0.1, "operating_point": "worst_group"},
        {"far": 0.1, "group": "a"},
    ],
)
def test_groups_asked_for_but_never_given(question):
    with pytest.raises(ValueError, match=r"fit was given none|these are: none"):
        unfitted().fit(X, IDENTITY).estimate(**question)


def test_two_groups_may_come_as_a_list():
    fitted = unfitted().fit(X, IDENTITY, GROUP)
    listed, paired = (
        fitted.estimate(0.2, rate="far", group=kind(["a", "b"]))
        for kind in (list, tuple)
    )
    assert listed == paired


@pytest.mark.parametrize("how", [(), np.ptp])
def test_a_how_that_cannot_be(how):
    with pytest.raises(ValueError, match=r"^how"):
        unfitted().fit(X, IDENTITY, GROUP).estimate(0.2, how=how)


def test_one_group_where_two_make_no_sense():
    fitted = unfitted().fit(X, IDENTITY, GROUP)
    with pytest.raises(ValueError, match="one group here"):
        fitted.equal_error_rate(("a", "b"))
