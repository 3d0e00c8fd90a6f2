"""What others printed, and what libraries at hand compute, agrees; peers are named."""

from pathlib import Path

import numpy as np
import pytest

from docs.studies import check_agreement
from docs.studies.check_agreement import CHECKS, flat

TABLE = Path(__file__).parents[2] / "docs" / "evidence" / "agreement_table.txt"
AT_HAND = (
    "occluded_rfw",
    "by_hand",
    "calibrations",
    "cohorts",
    "densities",
    "normaliser",
)
# Scores are float32 numbers.
ALLOWED = {"k": 2e-4}


@pytest.mark.parametrize("name", AT_HAND)
def test_numbers_are_those_of_others(name):
    (check,) = (check for *_, check in CHECKS if check.__name__ == name)
    compared = 0
    for what, data, ours, theirs, *why in check():
        if why and why[0] not in ALLOWED:
            continue
        error = np.abs(np.subtract(flat(ours), flat(theirs))).max()
        assert error <= (ALLOWED[why[0]] if why else 1e-10), (what, data, error)
        compared += 1
    assert compared


def test_a_package_that_lacks_is_named_with_its_remedy(monkeypatch, capsys):
    monkeypatch.setattr(check_agreement, "CHECKS", [("one", "no-such-package", None)])
    check_agreement.main(n_sets=0)
    assert "pip install no-such-package" in capsys.readouterr().out


def test_the_page_shows_everybody_compared_with():
    shown = TABLE.read_text("utf-8")
    assert [whose for whose, *_ in CHECKS if whose not in shown] == []
    assert "not installed" not in shown and "not at hand" not in shown
