"""How often a monitor raises a false alarm, and how soon it finds an excess: the study.

``python -m docs.studies.check_monitor 2000`` draws 2,000 streams for each row of the first
table and a tenth of them for the second, each of two groups whose people come in random order,
500 a month, and who attempt once. Alarms are at 5 %.

*False alarms*: the ratio of the rates is at its limit all the time, 24 months long, and whoever
looks after every person stops at the first alarm. Beside it stands the fixed-sample test of an
audit, of all people so far, repeated every month; and the monitor's alarms of a rate at its limit.
*Drift* multiplies both rates by what is named, after half of the time, or step by step.

*Found*: how many months it takes to find that a ratio exceeds its limit, by which share of the
streams are found within 48 months, from the first month on, or after 24 months with equal rates.
"""

import numpy as np

from docs.studies._command import run_command
from docs.studies.coverage import share
from skfairfr._core._betting import (
    SHARES,
    START_OF_RATE,
    START_OF_RATIO,
    TIMES,
    bet_on_rates,
    bet_on_ratios,
)
from skfairfr._core._jackknife import Contrasts, ErrorSums
from skfairfr._core._planning import genuine_sums_of

DELTA, MONTH = 0.05, 500
BOTH_WAYS = np.array([[1.0, -1.0], [-1.0, 1.0]])
# FRR of the better group, limit, share of the worse group, drift.
KEPT = [
    *((frr, 1.5, part, "none") for frr in (0.01, 0.05) for part in (0.5, 0.05, 0.95)),
    *((0.02, 1.0, part, "none") for part in (0.5, 0.05)),
    *(
        (0.02, 1.5, part, drift)
        for part in (0.5, 0.05, 0.95)
        for drift in ("x 3", "/ 3")
    ),
    *((0.02, 1.5, part, "x 3 slowly") for part in (0.5, 0.05)),
]
# FRR of the better group, true ratio, limit, share of the worse group, months before.
EXCEEDED = [
    *(
        (frr, ratio, 1.0, 0.5, 0)
        for frr in (0.01, 0.02, 0.05)
        for ratio in (1.5, 2.0, 3.0)
    ),
    *((frr, ratio, 1.5, 0.5, 0) for frr in (0.02, 0.05) for ratio in (2.0, 3.0)),
    *((0.02, 3.0, 1.5, part, 0) for part in (0.05, 0.95)),
    *((0.02, 3.0, 1.5, 0.5, 24), (0.05, 3.0, 1.5, 0.5, 24)),
]


def drifting(kind, n):
    """What both rates are multiplied by, person by person."""
    time = np.arange(n) / n
    factor = 1 / 3 if kind == "/ 3" else 3.0
    if kind == "none":
        return np.ones(n)
    return factor ** (time if "slowly" in kind else time >= 0.5)


def draw(rng, months, part, better, worse):
    """Groups (0 is the worse) and errors of a stream; as many of each group every month."""
    n_worse = round(part * MONTH)
    one = np.r_[np.zeros(n_worse, int), np.ones(MONTH - n_worse, int)]
    group = np.concatenate([rng.permutation(one) for _ in range(months)])
    rate = np.where(group == 0, worse, better)
    return group, (rng.random(group.size) < rate).astype(float)


class Watched:
    """The wealth of the ratio of two groups, and of the rate of the first."""

    def __init__(self, limit, rate=0.5):
        self.limit, self.rate = limit, rate
        self.of_ratio = (
            np.zeros((2, 2, 3)),
            np.full((2, 2, SHARES.size), START_OF_RATIO),
            np.zeros((2, 2)),
        )
        of_rate = np.full((2, TIMES.size), START_OF_RATE)
        self.of_rate = np.zeros(2), of_rate, np.zeros(2)

    def take(self, group, error):
        """Whether either wealth was ever enough."""
        bet_on_ratios(group, error, *self.of_ratio, self.limit)
        bet_on_rates(group, error, *self.of_rate, self.rate)
        best = self.of_ratio[-1][0, 1], self.of_rate[-1][0]
        return [wealth >= -np.log(DELTA) for wealth in best]


def sums_of(errors, people):
    """ErrorSums of people with one attempt each, of several streams."""
    return genuine_sums_of([errors] * 4, people, 1.0)


def repeated_audits(group, errors, limit):
    """Whether some month's test of all people so far says that the ratio exceeds the limit.

    Parameters
    ----------
    group, errors : ndarrays, shape (n_streams, n_people)
    """
    found = np.zeros(len(group), dtype=bool)
    n_worse = int((group[0, :MONTH] == 0).sum())
    for month in range(1, group.shape[1] // MONTH + 1):
        until = slice(month * MONTH)
        of_group = [((group[:, until] == g) * errors[:, until]).sum(1) for g in (0, 1)]
        sizes = month * n_worse, month * (MONTH - n_worse)
        sums = [sums_of(e, n) for e, n in zip(of_group, sizes, strict=True)]
        low, _ = Contrasts(ErrorSums.of_groups(sums), BOTH_WAYS).bounds(DELTA / 2)
        found |= low.max(axis=1) > limit
    return found


def kept(row, n_streams, months=24):
    """False alarms of a ratio, of repeated audits, and of a rate, each (n_streams,)."""
    frr, limit, part, drift = row
    factor = drifting(drift, months * MONTH)
    groups, errors, alarms = [], [], []
    for seed in range(n_streams):
        rng = np.random.default_rng([KEPT.index(row), seed])
        group, error = draw(rng, months, part, frr * factor, frr * factor * limit)
        # The rate of the worse group, whose limit is the largest that it has.
        alarms.append(Watched(limit, frr * limit * factor.max()).take(group, error))
        groups.append(group)
        errors.append(error)
    of_ratio, of_rate = np.array(alarms).T
    return of_ratio, repeated_audits(np.array(groups), np.array(errors), limit), of_rate


def found_after(row, n_streams, months=48):
    """Months until the excess is found, inf of those that are not, (n_streams,)."""
    frr, ratio, limit, part, before = row
    times = np.full(n_streams, np.inf)
    for seed in range(n_streams):
        rng = np.random.default_rng([EXCEEDED.index(row), seed])
        worse = np.where(
            np.arange((before + months) * MONTH) < before * MONTH, 1, ratio
        )
        group, error = draw(rng, before + months, part, frr, frr * worse)
        watched = Watched(limit)
        for month in range(before + months):
            rows = slice(month * MONTH, (month + 1) * MONTH)
            if watched.take(group[rows], error[rows])[0]:
                times[seed] = month + 1 - before
                break
    return times


def main(n_streams=2000):
    """Print both tables."""
    print(f"{n_streams} streams a row, 24 months of {MONTH} people\n")
    print("| FRR | limit | worse group | drift | monitor | monthly audits | rate |")
    print("|---" * 7 + "|")
    for row in KEPT:
        frr, limit, part, drift = row
        shares = " | ".join(share(found) for found in kept(row, n_streams))
        print(f"| {frr} | {limit} | {part:.0%} | {drift} | {shares} |", flush=True)
    few = max(n_streams // 10, 1)
    print(f"\n{few} streams a row, {MONTH} people a month\n")
    print(
        "| FRR | ratio | limit | worse group | months before | found | months, median |"
    )
    print("|---" * 7 + "|")
    for row in EXCEEDED:
        frr, ratio, limit, part, before = row
        times = found_after(row, few)
        about = f"| {frr} | {ratio} | {limit} | {part:.0%} | {before} "
        n_found, middle = (times < np.inf).mean(), np.median(times)
        shown = f"{middle:.0f}" if middle < np.inf else "over 48"
        print(f"{about}| {n_found:.2f} | {shown} |", flush=True)


if __name__ == "__main__":
    run_command(main, __doc__)
