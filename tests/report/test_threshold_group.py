"""Thresholds where the FMR of one group meets the levels."""

import numpy as np
import pytest

from skfairfr.metrics import group_error_rates
from skfairfr.report import EmbeddingData, PairData, Policy, audit_data

QUICK = {"random_state": 0}
FAR = [0.05, 0.01]


def pairs(seed=0, names=("gender",), n=2000):
    """Scores of pairs of people, who are each in many."""
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 60, (2, n))
    gender = np.array(["f", "m"])[people % 2]
    age = np.array(["old", "young"])[people // 2 % 2]
    score = rng.normal(size=n) + 2 * (people[0] == people[1]) + (gender == "f").all(0)
    columns = {"gender": tuple(gender), "age": tuple(age)}
    columns = {name: columns[name] for name in names}
    return PairData(score, tuple(people), columns)


@pytest.mark.parametrize("label", ["m", "f & young"])
def test_the_fmr_of_the_group_meets_the_levels(label):
    data = pairs(names=("gender", "age"))
    report = audit_data(data, far=FAR, threshold_group=label, **QUICK)
    is_genuine = data.identities[0] == data.identities[1]
    both = np.array([data.columns["gender"], data.columns["age"]])
    if "&" in label:
        inside = np.isin(both, label.split(" & ")).all(axis=(0, 1))
    else:
        inside = (both[0] == label).all(axis=0)
    scores = np.sort(data.y_score[inside & ~is_genuine])[::-1]
    audit = report.audits[0]
    assert audit.settings["threshold_group"] == label
    for far, level in zip(FAR, audit.levels, strict=True):
        n = int(far * scores.size)
        assert np.count_nonzero(scores >= level.threshold) == n
    # Everything else is about that threshold.
    rates = group_error_rates(
        is_genuine,
        data.y_score,
        sensitive_features=both[0].T,
        threshold=audit.levels[1].threshold,
    )
    assert [row.far.value for row in audit.levels[1].rates[1:]] == rates.far.tolist()
    text = " ".join(report.to_text().split())
    assert f"FMR of 1 % in {label}: accepted" in text
    assert f"at which the FMR of {label} alone meets the level" in text


def test_other_data_set_the_threshold_of_the_group():
    there, here = pairs(seed=1), pairs()
    options = {"far": FAR, "threshold_group": "f"} | QUICK
    own = audit_data(there, **options).audits[0]
    other = audit_data(here, threshold_from=there, **options).audits[0]
    assert [a.threshold for a in own.levels] == [a.threshold for a in other.levels]


def test_ties_around_a_level_are_noted():
    data = pairs()
    data = PairData(np.rint(data.y_score), data.identities, data.columns)
    notes = audit_data(data, far=0.04, threshold_group="m", **QUICK).audits[0].notes
    assert sum("cannot be met: scores are equal" in note for note in notes) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"threshold_group": "x"},
            "'x' is not a group of the data. Its groups: 'f', 'm'",
        ),
        ({"threshold_group": "f", "threshold": 1.0}, "threshold_group sets thresholds"),
        (
            {
                "threshold_group": "f",
                "policy": Policy("a gate", {"max_fmr": 0.1}, fmr=0.01),
            },
            "threshold_group was given, and the policy 'a gate' sets fmr",
        ),
    ],
)
def test_refused(options, message):
    with pytest.raises(ValueError, match=message):
        audit_data(pairs(), **options, **QUICK)


def test_a_label_of_two_attributes_is_refused():
    data = pairs()
    twice = PairData(
        data.y_score, data.identities, {**data.columns, "sex": data.columns["gender"]}
    )
    with pytest.raises(
        ValueError, match=r"'f' is a group of gender and of sex\. Audit"
    ):
        audit_data(twice, threshold_group="f", **QUICK)


def test_numbers_may_be_typed_as_text():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 8)), np.repeat(np.arange(30), 4)
    data = EmbeddingData(X, y, {"half": y % 2})
    found = audit_data(data, far=0.05, threshold_group="1", **QUICK).audits[0]
    assert found.settings["threshold_group"] == 1
    assert found.levels[0].rates[2].far.value <= 0.05
