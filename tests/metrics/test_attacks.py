"""Attack detection from scores: rates by loops, and intervals of people left out and drawn."""

import re

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr.metrics import attack_detection

SHIFT = {"mask": 2.0, "print": 3.0}


def presentations(seed=0, n_people=150, n_each=12, spread=0.4):
    """Scores of people who present bona fide, and with two instruments; own means."""
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(n_people), n_each)
    attack = np.tile(np.arange(n_each) % 2 == 1, n_people)
    tool = np.tile(np.where(np.arange(n_each) % 4 == 1, "mask", "print"), n_people)
    own = rng.normal(0, spread, (2, n_people))[attack.astype(int), subject]
    shift = np.array([SHIFT[t] for t in tool]) * attack
    score = rng.normal(0, 1, subject.size) + own - shift
    return score, attack, subject, tool


def rates(score, attack, tool, threshold):
    """BPCER, and APCER of all and of each species, by comparing every score."""
    found = {"bpcer": np.mean(score[~attack] < threshold)}
    for name in (None, *SHIFT):
        own = attack & ((tool == name) | (name is None))
        found[name] = np.mean(score[own] >= threshold)
    return found


def test_rates_by_a_loop_over_thresholds():
    score, attack, subject, tool = presentations()
    found = attack_detection(score, attack, subject, tool, bpcer=0.05, apcer=0.1)
    at = [rates(score, attack, tool, t) for t in np.sort(score)]
    # The strictest that keeps the BPCER, and the loosest that keeps the APCER of each.
    of_bpcer = [one for one in at if one["bpcer"] <= 0.05][-1]
    of_apcer = next(one for one in at if max(one[name] for name in SHIFT) <= 0.1)
    for rate, species, value, threshold in zip(
        found.rate, found.species, found.value, found.threshold, strict=True
    ):
        if rate == "eer":
            both = [(abs(one["bpcer"] - one[species]), one["bpcer"]) for one in at]
            assert value == pytest.approx(min(both)[1], abs=0.003)
            continue
        expected = of_bpcer[species] if rate == "apcer" else of_apcer["bpcer"]
        assert value == pytest.approx(expected, rel=1e-12)
        there = rates(score, attack, tool, threshold)
        assert there[species if rate == "apcer" else "bpcer"] == value
        if rate == "apcer":  # the bona fide score that is the lowest to pass
            passing = score[~attack & (score >= threshold)]
            assert there["bpcer"] == of_bpcer["bpcer"] and threshold == passing.min()
    assert found.species.tolist() == [None, *SHIFT, None, None, *SHIFT]
    assert found.to_frame("pandas").shape == (7, 9)


def test_interval_is_that_of_people_left_out_with_their_thresholds():
    score, attack, subject, tool = presentations(1)
    asked = {"bpcer": 0.1, "apcer": 0.1}
    found = attack_detection(score, attack, subject, tool, **asked)
    apart = []
    for one in np.unique(subject):
        kept = subject != one
        threshold = np.quantile(score[kept & ~attack], 0.1)
        own = score[kept & attack & (tool == "mask")]
        apart.append(np.mean(own >= threshold))
    error = np.sqrt((len(apart) - 1) * np.var(apart))
    (row,) = np.flatnonzero((found.rate == "apcer") & (found.species == "mask"))
    width = found.high[row] - found.low[row]
    assert width / (2 * 1.96 * error) == pytest.approx(1, abs=0.2)
    fixed = []
    for one in np.unique(subject):
        own = score[(subject != one) & attack & (tool == "mask")]
        fixed.append(np.mean(own >= found.threshold[row]))
    # The threshold that moves adds to the interval.
    assert width > 1.1 * 2 * 1.96 * np.sqrt((len(fixed) - 1) * np.var(fixed))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"is_attack": np.zeros(1800)}, "and both occur"),
        ({"is_attack": np.full(1800, 2)}, "is_attack must be 1 for attacks"),
        ({"subject": np.arange(7)}, "subject has 7 rows"),
        ({"species": np.full(1800, None)}, "species is missing"),
        ({"bpcer": 1.5}, "bpcer must"),
    ],
)
def test_what_cannot_be_measured_is_refused(changed, said):
    names = ("y_score", "is_attack", "subject", "species")
    data = dict(zip(names, presentations(), strict=True))
    with pytest.raises(ValueError, match=said):
        attack_detection(**data | changed)


def test_reasons_and_warnings_are_in_the_words_of_attacks():
    with pytest.warns(UndefinedMetricWarning, match="smallest BPCER"):
        found = attack_detection(*presentations(n_people=15), bpcer=1e-4)
    reasons = " ".join(found.reason)
    assert "bona fide attempt" in reasons
    assert not {*re.findall(r"\w+", reasons)} & {"FAR", "FRR", "impostor", "genuine"}
