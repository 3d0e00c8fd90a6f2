"""Does a plan keep its word? Audits of data of the planned size, and how often they answer.

``python -m tests.benchmarks.check_plans 200 2`` draws 200 data sets for each row, by two
processes, of even people and of uneven ones, as many as the plan says, and audits each as
scored pairs at a threshold. Their pairs are drawn one by one, from rates of people and of
every two of them that have gamma and beta distributions, and not the ones plans assume. Printed are
the promised chance of the answer, and the share of audits that gave it, with its
Monte-Carlo error.
"""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from skfairfr.metrics import Dependence, plan_test
from skfairfr.report import PairData, audit_data
from tests.benchmarks._command import run_command

IMAGES = 3
PEOPLE = {
    "even people": Dependence(0.0, 0.0),
    "uneven people": Dependence(),
}


@dataclass(frozen=True)
class Case:
    """A question, the rates that are true of the two groups, and an answer of an audit."""

    options: dict
    rates: dict
    limits: dict

    def plan(self):
        """At one level, as the audits are."""
        return plan_test(
            images_per_person=IMAGES, far=self.rates["far"][-1], **self.options
        )

    def is_answered(self, report):
        """Whether the limit is kept, or group a found worse."""
        if self.limits:
            return report.checks[0].verdict == "passed"
        rate = self.options["rate"]
        findings = report.audits[0].levels[0].findings
        return any(
            (f.rate, f.group, f.verdict) == (rate, "a", "worse") for f in findings
        )


CASES = {
    "certify an FMR, half the limit": Case(
        {"certify_fmr": 0.02}, {"far": (0.01, 0.01)}, {"max_fmr": 0.02}
    ),
    "certify an FNMR, half the limit": Case(
        {"certify_fnmr": 0.1},
        {"frr": (0.05, 0.05), "far": (0.01,) * 2},
        {"max_fnmr": 0.1},
    ),
    "detect twice the FMR": Case(
        {"detect_factor": 2, "rate": "far"}, {"far": (0.02, 0.01)}, {}
    ),
    "detect twice the FNMR": Case(
        {"detect_factor": 2, "rate": "frr", "frr": 0.05},
        {"frr": (0.1, 0.05), "far": (0.01, 0.01)},
        {},
    ),
}


def beta(rng, rate, correlation):
    """Rates of clumps in which errors are so correlated."""
    if correlation == 0:
        return rate
    strength = (1 - correlation) / correlation
    return rng.beta(np.maximum(rate * strength, 1e-300), (1 - rate) * strength)


def scored(rng, people, rates, known):
    """All pairs of two groups, each wrong with the rate of its person, or of its two."""
    columns = []
    for place in range(2):
        shape = 1 / max(known.variation, 1e-9)
        factors = rng.gamma(shape, 1 / shape, people)
        left, right = np.triu_indices(people, 1)
        own = np.minimum(rates["far"][place] * factors[left] * factors[right], 0.9)
        m = IMAGES * IMAGES
        accepted = (
            rng.random((left.size, m)) < beta(rng, own, known.correlation)[..., None]
        )
        n = IMAGES * (IMAGES - 1) // 2
        frr = np.full(people, rates.get("frr", (0.05, 0.05))[place])
        rejected = (
            rng.random((people, n)) < beta(rng, frr, known.correlation)[..., None]
        )
        ids = place * people + np.arange(people)
        columns.append(
            (
                np.concatenate([accepted.ravel(), ~rejected.ravel()]).astype(float),
                *(
                    np.concatenate([np.repeat(ids[k], m), np.repeat(ids, n)])
                    for k in (left, right)
                ),
            )
        )
    score, left, right = (np.concatenate(c) for c in zip(*columns, strict=True))
    groups = tuple(np.array(["a", "b"])[side // people] for side in (left, right))
    return PairData(score, (left, right), {"group": groups})


def check(case, n_sets, n_jobs=1):
    """The plan, and for each of its bases the share of audits that answered."""
    plan, shares = case.plan(), {}
    for basis, known in PEOPLE.items():
        people = int(plan.people[plan.basis == basis][0])
        found = Parallel(n_jobs)(
            delayed(_one_set)(case, people, known, seed) for seed in range(n_sets)
        )
        shares[basis] = float(np.mean(found))
    return plan, shares


def _one_set(case, people, known, seed):
    data = scored(np.random.default_rng([seed, 11]), people, case.rates, known)
    return case.is_answered(
        audit_data(data, threshold=0.5, limits=case.limits or None, n_resamples=10)
    )


def main(n_sets=200, n_jobs=1):
    print(f"{'question':34} {'basis':14} {'people':>7} {'promised':>8} {'found':>6}")
    for name, case in CASES.items():
        plan, shares = check(case, n_sets, n_jobs)
        for basis, found in shares.items():
            row = np.flatnonzero(plan.basis == basis)[0]
            error = np.sqrt(max(found * (1 - found), 0.25 / n_sets) / n_sets)
            print(
                f"{name:34} {basis:14} {plan.people[row]:7.0f} "
                f"{plan.chance[row]:8.2f} {found:6.2f} ({error:.2f})",
                flush=True,
            )


if __name__ == "__main__":
    run_command(main, __doc__)
