"""The table can be read: narrow and plain, whatever was audited."""

import numpy as np
import pytest

from skfairfr.report import to_text
from skfairfr.report._data import Faces
from skfairfr.report._report import report_on
from tests.report.audits import small_audit, synthetic, with_a_lone_person


@pytest.fixture(scope="module")
def found():
    X, y, groups = synthetic()
    names = np.where(groups == "male", "a group\x1b[2J" + "x" * 90, "\u00e9t\u00e9")
    data = Faces(X, y, {"name": names, "age": np.where(y % 2, "old", "young")})
    limits = {"max_bfar": 2.0, "max_frr_ratio": 1.5}
    return [
        small_audit(far=[0.05, 0.2]),
        small_audit(with_a_lone_person(), far=[0.05, 1e-4]),
        small_audit((X, y, names), resample="images"),
        report_on(data, ["name", "age"], limits=limits, n_resamples=20),
    ]


def test_lines_fit_and_are_printable(found):
    for one in found:
        lines = to_text(one, "faces.npz").splitlines()
        assert max(map(len, lines)) <= 100
        assert all(line.isprintable() for line in lines)


def test_a_report_has_its_parts_once_and_in_order(found):
    text = to_text(found[-1])
    assert text.count("How to read this") == 1
    places = [
        text.index(said)
        for said in ("Audit by name", "Audit by age", "Audit by name & age")
    ]
    cells, checks = text.index("People by name & age"), text.index("Checks\n")
    assert sorted([*places, cells, checks]) == [*places, cells, checks]
