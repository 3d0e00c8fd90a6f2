"""Data of the planned size answer about as often as the plan promises."""

import numpy as np
import pytest

from skfairfr.report import PairData, audit_data
from tests.benchmarks.check_plans import (
    BETWEEN,
    CASES,
    PEOPLE,
    WITHIN,
    check,
    draw,
    judged,
)


def scored(errors, people):
    """All pairs of two groups, of which so many are wrong: score 1 is accepted."""
    columns = []
    for place, (accepted, rejected) in enumerate(errors):
        ids = place * people + np.arange(people)
        for n, wrong, ends in (
            (BETWEEN, accepted, [ids[k] for k in np.triu_indices(people, 1)]),
            (WITHIN, rejected, [ids, ids]),
        ):
            score = (np.arange(n) < wrong[:, None]) != (n == WITHIN)
            columns.append((score.ravel(), *(np.repeat(end, n) for end in ends)))
    score, left, right = (np.concatenate(c) for c in zip(*columns, strict=True))
    groups = tuple(np.array(["a", "b"])[side // people] for side in (left, right))
    return PairData(score.astype(float), (left, right), {"group": groups})


def audited(case, errors, people):
    """Whether an audit of these errors answers."""
    limits = case.limits or None
    data = scored(errors, people)
    report = audit_data(data, threshold=0.5, limits=limits, n_resamples=2)
    if limits:
        return report.checks[0].verdict == "passed"
    return any(
        (f.rate, f.group, f.verdict) == (case.options["rate"], "a", "worse")
        for f in report.audits[0].levels[0].findings
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_audits(name):
    """Some of which answer, and some do not."""
    case, found = CASES[name], []
    for people in (30, 330):
        rng = np.random.default_rng(people)
        for known in PEOPLE.values():
            errors = draw(rng, people, case.rates, known)
            (answer,) = judged(case, [errors])
            assert answer == audited(case, errors, people)
            found.append(answer)
    assert len(set(found)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_plan_keeps_its_word(name):
    n_sets = 200
    _, shares = check(CASES[name], n_sets)
    for share in shares.values():
        assert share > 0.75 - 3 * np.sqrt(0.16 / n_sets)
