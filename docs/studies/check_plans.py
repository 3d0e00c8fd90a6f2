"""Does a plan keep its word? Data of the planned size, and how often they answer.

``python -m docs.studies.check_plans 400`` draws 400 data sets for each row, of even
people and of uneven ones, as many as the plan says, and judges each by the bounds and tests
of an audit at a threshold. Errors of people and of every two of them have gamma and beta
distributions, and not the ones plans assume. Printed are the promised chance of the answer,
and the share of data sets that gave it, with its Monte-Carlo error.
"""

from dataclasses import dataclass

import numpy as np

from docs.studies._command import run_command
from skfairfr._core._jackknife import (
    Contrasts,
    ErrorSums,
    genuine_sums,
    holm,
    impostor_sums,
    rate_ends,
)
from skfairfr.metrics import Dependence, plan_test

IMAGES = 3
# Pairs of two people, and of one.
BETWEEN, WITHIN = IMAGES**2, IMAGES * (IMAGES - 1) // 2
LEVEL = 0.05
RATES = ("far", "frr")
PEOPLE = {
    "independent errors": Dependence(0.0, 0.0),
    "dependent errors": Dependence(),
}


@dataclass(frozen=True)
class Case:
    """A question, the rates that are true of the two groups, and a limit if it has one."""

    options: dict
    rates: dict
    limits: dict

    def plan(self):
        """At one level, as the audits are."""
        return plan_test(
            images_per_person=IMAGES, far=self.rates["far"][-1], **self.options
        )

    def answers(self, sums):
        """Whether data sets meet the limit, or find the first group worse.

        ``sums`` are those of both rates, each (n_sets, 2).
        """
        for name, limit in self.limits.items():
            of_rate = sums["fnmr" in name or "frr" in name]
            if "ratio" in name:
                both_ways = np.array([[1.0, -1.0], [-1.0, 1.0]])
                high = Contrasts(of_rate, both_ways).bounds(LEVEL / 2)[1]
            else:
                high = rate_ends(of_rate, LEVEL / 2)[1]
            return high.max(axis=1) <= limit
        place = RATES.index(self.options["rate"])
        tests = [Contrasts(of_rate, np.array([[1.0, -1.0]])) for of_rate in sums]
        p = np.hstack([test.p_value for test in tests])
        adjusted = np.array([holm(of_set) for of_set in p])[:, place]
        return (adjusted <= LEVEL) & (tests[place].value[:, 0] > 0)


CASES = {
    "certify an FMR, half the limit": Case(
        {"max_fmr": 0.02}, {"far": (0.01, 0.01)}, {"max_fmr": 0.02}
    ),
    "certify an FNMR, half the limit": Case(
        {"max_fnmr": 0.1},
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
    "pass FMRs at most 3 times": Case(
        {"policy": {"max_fmr_ratio": 3.0}},
        {"far": (0.02, 0.01)},
        {"max_fmr_ratio": 3.0},
    ),
    "pass FNMRs at most 4 times": Case(
        {"policy": {"max_fnmr_ratio": 4.0}, "frr": 0.05},
        {"frr": (0.125, 0.05), "far": (0.01, 0.01)},
        {"max_fnmr_ratio": 4.0},
    ),
}


def beta(rng, rate, correlation):
    """Rates of clusters in which errors are so correlated."""
    if correlation == 0:
        return rate
    strength = (1 - correlation) / correlation
    return rng.beta(np.maximum(rate * strength, 1e-300), (1 - rate) * strength)


def draw(rng, people, rates, known):
    """Errors of every two people, and of each, in both groups."""
    left, right = np.triu_indices(people, 1)
    errors = []
    for place in range(2):
        shape = 1 / max(known.variation, 1e-9)
        factors = rng.gamma(shape, 1 / shape, people)
        far = np.minimum(rates["far"][place] * factors[left] * factors[right], 0.9)
        frr = np.full(people, rates.get("frr", (0.05, 0.05))[place])
        of_clusters = ((BETWEEN, far), (WITHIN, frr))
        errors.append(
            [rng.binomial(n, beta(rng, r, known.correlation)) for n, r in of_clusters]
        )
    return errors


def sums_of(accepted, rejected):
    """Sums of both rates of a group, each (1,)."""
    people, accepted = rejected.size, accepted.astype(float)
    ends = np.triu_indices(people, 1)
    of_person = sum(np.bincount(end, accepted, people) for end in ends)
    powers = [
        (accepted**a).sum() * BETWEEN**c
        for a, c in (
            (2, 0),
            (3, 0),
            (4, 0),
            (1, 1),
            (2, 1),
            (3, 1),
            (1, 2),
            (2, 2),
            (1, 3),
        )
    ]
    pairs = np.full(people, float(BETWEEN * (people - 1)))
    sizes = tuple(accepted.size * BETWEEN**k for k in (2, 3, 4))
    return (
        impostor_sums(of_person[None], pairs, np.array([powers]), sizes),
        genuine_sums(rejected[None], np.full(people, WITHIN)),
    )


def judged(case, drawn):
    """Answers of data sets, of the errors that were drawn."""
    groups = [
        [
            ErrorSums.joined(rows)
            for rows in zip(*(sums_of(*d[g]) for d in drawn), strict=True)
        ]
        for g in range(2)
    ]
    return case.answers(
        [ErrorSums.of_groups(both) for both in zip(*groups, strict=True)]
    )


def check(case, n_sets):
    """The plan, and for each of its bases the share of data sets that answered."""
    plan, shares = case.plan(), {}
    for basis, known in PEOPLE.items():
        people = int(plan.people[plan.basis == basis][0])
        rngs = (np.random.default_rng([seed, 11]) for seed in range(n_sets))
        found = [judged(case, [draw(rng, people, case.rates, known)]) for rng in rngs]
        shares[basis] = float(np.mean(found))
    return plan, shares


def main(n_sets=400):
    print(f"{'question':34} {'basis':14} {'people':>7} {'promised':>8} {'found':>6}")
    for name, case in CASES.items():
        plan, shares = check(case, n_sets)
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
