"""How often explain_errors is wrong where covariates cause the difference, and where they do not.

``python -m docs.studies.check_explain`` draws people whose errors depend on each other and
whose quality is lower in one group. In *quality* the group has no effect at equal quality; in
*group* its odds are doubled on top of it. For each cell: the share of sets with a finding at
equal quality (5 % two-sided), of intervals that contain the true ratio, their median width
(upper end over lower end), and the share of sets whose raw ratio has a finding.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit

from skfairfr.metrics import explain_errors

PEOPLE, EFFECTS = (100, 300), {"quality": 0.0, "group": np.log(2.0)}
# Genuine rows of a person, and impostor rows for each person.
OWN, OTHERS = 12, 60
# Standard deviation of a person's own log-odds, and of a person's and an image's quality.
PERSON, QUALITY, IMAGE, LOWER = 0.7, 0.4, 0.5, 0.6
BASE = -2.8


def draw(people, impostors, effect, rng):
    """People, sexes and qualities of rows, and each row's log-odds for f and for m."""
    sex = np.where(np.arange(people) % 3 == 0, "f", "m")
    if impostors:
        ends = rng.integers(0, people, (2, people * OTHERS))
        ends = tuple(end[ends[0] != ends[1]] for end in ends)
    else:
        ends = (np.repeat(np.arange(people), OWN),)
    own = PERSON * rng.standard_normal(people)
    base = QUALITY * rng.standard_normal(people) - LOWER * (sex == "f")
    quality = [base[end] + IMAGE * rng.standard_normal(end.size) for end in ends]
    odds = BASE - np.min(quality, axis=0)
    odds = odds + sum(own[end] for end in ends) / np.sqrt(len(ends))
    return ends, [sex[end] for end in ends], quality, odds, odds + effect


def true_ratio(impostors, effect):
    """The average rate as f over that as m, over many people."""
    rng = np.random.default_rng(1)
    *_, as_m, as_f = draw(20_000, impostors, effect, rng)
    return expit(as_f).mean() / expit(as_m).mean()


def one_set(people, impostors, effect, seed):
    """The raw and the adjusted comparison of f with m."""
    rng = np.random.default_rng(seed)
    ends, sexes, quality, as_m, as_f = draw(people, impostors, effect, rng)
    is_f = np.all([side == "f" for side in sexes], axis=0)
    error = rng.random(as_m.size) < expit(np.where(is_f, as_f, as_m))

    def columns(sides):
        return tuple(sides) if impostors else sides[0]

    found = explain_errors(
        error,
        columns(ends),
        {"sex": columns(sexes)},
        covariates={"quality": columns(quality)},
        reference={"sex": "m"},
    )
    one = next(ratio for ratio in found.ratios if ratio.group == "f")
    return one.p_value, one.low, one.high, one.raw_low, one.raw_high


def cell(people, impostors, effect, sets, jobs=2):
    """Shares of one cell: findings, intervals that hold, median width, raw findings."""
    truth = true_ratio(impostors, effect)
    found = Parallel(jobs)(
        delayed(one_set)(people, impostors, effect, seed) for seed in range(sets)
    )
    p_value, low, high, raw_low, raw_high = np.array(found).T
    holds = (low <= truth) & (truth <= high)
    raw = (raw_low > 1) | (raw_high < 1)
    return (
        (p_value < 0.05).mean(),
        holds.mean(),
        np.median(high / low),
        raw.mean(),
        truth,
    )


def main(sets=200):
    """Print a row for each cell."""
    print(f"{sets} sets a cell")
    print("cause    pairs     people  true  found  contain  width  raw found")
    for cause, effect in EFFECTS.items():
        for impostors in (False, True):
            for people in PEOPLE:
                found, holds, width, raw, truth = cell(people, impostors, effect, sets)
                pairs = "impostor" if impostors else "genuine"
                print(
                    f"{cause:<8} {pairs:<8} {people:>7}  {truth:.2f}  {found:>5.3f}  "
                    f"{holds:>7.3f}  {width:>5.2f}  {raw:>9.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    from docs.studies import _command, check_explain

    _command.run_command(check_explain.main, __doc__)
