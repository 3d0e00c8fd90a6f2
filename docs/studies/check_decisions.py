"""How often an audit of a log names a group where groups are alike: the study.

``python -m docs.studies.check_decisions 3000`` draws 3,000 logs for each row of the table. People
of two groups have rates of rejection of their own, from one distribution (beta, of shape 1) whatever
their group, and 10 attempts each on average. In most rows one person makes 30 % of all attempts.
*Named* is the share of audits of which a verdict names a group, nominally 0.05 at most; *missed* are
the shares of 95 % intervals of the FRR of f, and of m, that do not hold the true one.
"""

import numpy as np

from docs.studies._command import run_command
from docs.studies.coverage import share
from skfairfr._core._jackknife import (
    Contrasts,
    ErrorSums,
    against_others,
    genuine_sums,
    rate_ends,
)

# FRR, people, share of f among them, share of the attempts by one person, whose group.
LOGS = [
    (0.08, 80, 0.5, 0.0, "f"),
    (0.08, 80, 0.5, 0.3, "f"),
    (0.08, 80, 0.2, 0.3, "f"),
    (0.08, 80, 0.2, 0.3, "m"),
    (0.02, 400, 0.5, 0.3, "f"),
    (0.02, 400, 0.1, 0.3, "f"),
]


def draw(row, seed):
    """Person, group and error of the attempts of one log."""
    frr, n_people, part, heavy, group = row
    rng = np.random.default_rng([LOGS.index(row), seed])
    groups = np.where(np.arange(n_people) < part * n_people, "f", "m")
    often = np.full(n_people, 1.0)
    if heavy:
        often[np.argmax(groups == group)] = (n_people - 1) * heavy / (1 - heavy)
    person = rng.choice(n_people, 10 * n_people, p=often / often.sum())
    own = rng.beta(1, 1 / frr - 1, n_people)
    return person, groups[person], rng.random(person.size) < own[person]


def audited(person, group, error):
    """What an audit of a log finds: the p-value of its test, and the intervals of both groups.

    Returns
    -------
    p_value : float
    low, high : ndarrays, shape (2,)
    """
    sums = []
    for label in ("f", "m"):
        people = person[group == label]
        rejected = np.bincount(people, error[group == label])
        sums.append(genuine_sums(rejected[None], np.bincount(people)))
    of_both = ErrorSums.of_groups(sums).rows(0)
    p = Contrasts(of_both, against_others(of_both)).p_value
    return float(p[0]), *rate_ends(of_both, 0.025)


def outcomes(row, n_logs):
    """Whether a group is named, and whether the intervals of f and m miss, (3, n_logs)."""
    found = []
    for seed in range(n_logs):
        p_value, low, high = audited(*draw(row, seed))
        found.append([p_value <= 0.05, *((row[0] < low) | (row[0] > high))])
    return np.array(found).T


def main(n_logs=3000):
    """Print the table."""
    print(f"{n_logs} logs a row\n")
    print("| FRR | people | of f | by one person | named | f missed | m missed |")
    print("|---" * 7 + "|")
    for row in LOGS:
        frr, n_people, part, heavy, group = row
        shares = " | ".join(map(share, outcomes(row, n_logs)))
        whose = f"{heavy:.0%} of {group}" if heavy else "none"
        about = f"| {frr} | {n_people} | {part:.0%} | {whose} "
        print(f"{about}| {shares} |", flush=True)


if __name__ == "__main__":
    run_command(main, __doc__)
