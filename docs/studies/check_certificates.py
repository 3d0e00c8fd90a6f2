"""How often certified thresholds are wrong, and what they cost: the study.

``python -m docs.studies.check_certificates 400`` draws 400 data sets for each row, whose
people and rates are known, and certifies a limit of the FMR for all groups at 95 %: bounds
are the upper ends of two-sided intervals.
Most rows have one group, whose FMR at the true threshold is the limit. It decides alone, which is
the worst case: other groups can only demand a stricter threshold. Where there are more, the others
have half of the limit there.

People are even, or *uneven*: their factors are lognormal with a standard deviation of .7 of the
logarithm, and 5 % of them have six times as much; or they have *Pareto* tails of the index that is
named. Every two people have a lognormal factor (.5) too.

Wrong is a certificate whose threshold lets some group exceed the limit. FMR is what the first
group has in truth at the threshold, as a share of the limit, in the median (0 where there is
none): what a certificate that knew the truth would have is 1. *Halves* choose the threshold on
half of the people of each group, by the same bounds, and certify it on the others.
"""

from dataclasses import replace

import numpy as np

from docs.studies._command import run_command
from docs.studies.coverage import Group, share, sums_of
from skfairfr._core._error_counts import NUMBERS, RateCurve
from skfairfr._core._jackknife import rate_ends

TAIL = 0.025
KINDS = {
    "even": {},
    "uneven": {"person": 0.7, "wolves": 0.05},
    "Pareto 2": {"person": 0.5, "heavy": True},
    "Pareto 1.5": {"person": 2 / 3, "heavy": True},
}
BOTH = ("even", "uneven")
# Groups, people a group, images, limit, kind.
ROWS = [
    *(
        (1, n, m, 10.0**-p, kind)
        for p in (2, 3, 4)
        for n in (30, 100, 300, 500)
        for m in (1, 5, 20)
        for kind in BOTH
        if (p, n, m) != (2, 500, 20)  # as long as all others together
    ),
    *((g, 100, 5, 1e-3, kind) for g in (2, 4, 8) for kind in BOTH),
    *(
        (1, n, m, 1e-3, kind)
        for n, m in ((30, 20), (100, 5), (300, 5), (500, 1))
        for kind in KINDS
        if kind not in BOTH
    ),
]


class Drawn:
    """Accepted pairs of a group, on a scale on which the true threshold of all is 1.

    The FMR of the group is in proportion to the place on it.
    """

    def __init__(self, group, rng, looser=4.0):
        *self.people, place, shift = group.impostors(rng, looser)
        self.place, self.group = np.exp(place - shift), group

    def half(self, which):
        """The pairs within every other person."""
        kept = (self.people[0] % 2 == which) & (self.people[1] % 2 == which)
        found = object.__new__(Drawn)
        found.people = [ends[kept] // 2 for ends in self.people]
        n = self.group.people // 2 + (self.group.people % 2 if which == 0 else 0)
        found.place, found.group = self.place[kept], replace(self.group, people=n)
        return found

    def sums(self, numbers):
        """ErrorSums of so many accepted pairs, each (n_numbers,)."""
        return sums_of(*self.people, numbers, self.group.people, self.group.images)

    def loosest(self, limit):
        """The loosest place at which the bounds meet a limit; 0 where there is none."""
        last = self.place.size
        numbers = np.unique([0, *NUMBERS[NUMBERS < last], last])
        sums = self.sums(numbers)
        errors = RateCurve(sums.errors, sums, 0.0, numbers.size - 1).most_errors(
            TAIL, limit
        )
        if np.isnan(errors):
            return 0.0
        return self.place[int(errors)] if errors < last else np.inf

    def meets(self, place, limit):
        """Whether the bound at a place meets a limit."""
        n = int(np.searchsorted(self.place, place))
        return bool(rate_ends(self.sums(np.array([n])), TAIL)[1][0] <= limit)


def certified(groups, limit):
    """The place that all groups allow; 0 where there is none."""
    return min(group.loosest(limit) for group in groups)


def check(groups, people, images, limit, kind, n_sets):
    """Places certified by all people, and by halves, (2, n_sets); 0 where there is none."""
    about = {"couple": 0.5, "log": True, **KINDS[kind]}
    first = Group(people, images, limit, **about)
    everybody = [first, *[replace(first, far=limit / 2)] * (groups - 1)]
    found = np.zeros((2, n_sets))
    for seed in range(n_sets):
        rng = np.random.default_rng([groups, people, images, round(1 / limit), seed])
        drawn = [Drawn(group, rng) for group in everybody]
        found[0, seed] = certified(drawn, limit)
        chosen = certified([group.half(0) for group in drawn], limit)
        kept = chosen and all(group.half(1).meets(chosen, limit) for group in drawn)
        found[1, seed] = chosen if kept else 0.0
    return found


def print_by_wolves(n_sets):
    """Wrong certificates of 30 uneven people by how many of them have six times the errors."""
    row = 1, 30, 5, 1e-2, "uneven"
    wrong = check(*row, n_sets)[0] > 1
    wolves = np.empty(n_sets, dtype=int)
    for seed in range(n_sets):
        rng = np.random.default_rng([1, 30, 5, 100, seed])
        rng.standard_normal(30)  # people's factors, which are drawn first
        wolves[seed] = (rng.random(30) < KINDS["uneven"]["wolves"]).sum()
    print(
        "\n1 x 30 x 5, limit 0.01, by the number of people with six times the errors:"
    )
    for n in range(4):
        with_n = wolves == n if n < 3 else wolves >= n
        print(
            f"{n}{'' if n < 3 else ' or more'}: {with_n.sum()} sets, {wrong[with_n].mean():.3f}"
        )


def main(n_sets=400, people=0):
    """Print the table, or its rows of groups of so many people."""
    print(f"{n_sets} data sets a row; certificates at {1 - 2 * TAIL:g}\n")
    print(
        "| groups x people x images | limit | people are | wrong | FMR | none | ",
        end="",
    )
    print("halves: wrong | FMR | none |")
    print("|---" * 9 + "|")
    most = dict.fromkeys(KINDS, 0.0)
    for row in ROWS:
        groups, n, images, limit, kind = row
        if people not in (0, n):
            continue
        columns = []
        places, _ = found = check(*row, n_sets)
        most[kind] = max(most[kind], (places > 1).mean())
        for places in found:
            columns += [share(places > 1), f"{np.median(places):.2f}"]
            columns += [f"{(places == 0).mean():.2f}"]
        told = [f"{groups} x {n} x {images}", f"{limit:g}", kind, *columns]
        print(f"| {' | '.join(told)} |", flush=True)
    told = (f"{kind} {wrong:.3f}" for kind, wrong in most.items())
    print(f"\nthe most that were wrong in a row: {', '.join(told)}")
    print_by_wolves(n_sets)


if __name__ == "__main__":
    run_command(main, __doc__)
