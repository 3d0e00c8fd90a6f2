"""How often corrected rates and bounds are wrong if labels of groups are wrong.

``python -m docs.studies.check_label_errors`` draws people whose errors depend on each other and
whose rate is twice as high in group f. A tenth of the labels is wrong: *at random*; *one way*, if
a fifth of the people of f is labelled m and nobody the reverse; *with errors*, if people with
many errors are labelled wrongly more often. A sample of 300 people shows true groups and labels. For each
cell: the median ratio of f to m by labels over the true one, the same after correction, the
shares of intervals that contain the true rates of both groups, the true ratio and the true FAR
between the groups (``f-m``, nan of the FRR), and the share of sets in which the bounds contain
the rates with true labels.
"""

import warnings

import numpy as np
from joblib import Parallel, delayed

from skfairfr import SimilarityROC
from skfairfr.metrics import correct_for_label_errors, label_error_bounds

PEOPLE, SAMPLE, RATIO = (100, 300), 300, 2.0
KINDS = {
    "at random": ((0.1, 0.1), 0.0),
    "one way": ((0.2, 0.0), 0.0),
    "with errors": ((0.1, 0.1), 1.5),
}
# Genuine rows of a person, and impostor rows for each person.
OWN, OTHERS = 12, 60
# Rates of m; of two people of f the square root of the ratio counts for each.
BASE = {"frr": 0.08, "far": 0.03}
# Standard deviation of the logarithm of a person's own factor of the rate.
PERSON = 0.6


def draw_people(people, wrong, with_errors, rng):
    """True groups, labels and own factors of people; group 1 is m, every second person."""
    group = np.arange(people) % 2
    own = rng.standard_normal(people)
    chance = np.take(wrong, group) * np.exp(with_errors * own - with_errors**2 / 2)
    label = np.where(rng.random(people) < chance, 1 - group, group)
    return group, label, np.exp(PERSON * own - PERSON**2 / 2)


def draw_rows(rate, group, own, rng):
    """People of rows, and errors: rates are BASE for m, RATIO times that for f."""
    if rate == "frr":
        ends = (np.repeat(np.arange(group.size), OWN),) * 2
    else:
        ends = rng.integers(0, group.size, (2, group.size * OTHERS))
        ends = ends[:, ends[0] != ends[1]]
    factor = RATIO ** ((group[ends[0]] == 0) / 2 + (group[ends[1]] == 0) / 2)
    factor = factor * (own[ends[0]] if rate == "frr" else own[ends[0]] * own[ends[1]])
    return ends, rng.random(factor.size) < BASE[rate] * factor


def fit(rate, ends, error, label):
    """A fit of these errors with labels of people."""
    names = np.array(["f", "m"])[label]
    score = np.where(error == (rate == "far"), 1.0, 0.0)
    roc = SimilarityROC(method="jackknife")
    only = {"mated_only": True} if rate == "frr" else {"non_mated_only": True}
    return roc.fit_pairs(
        score,
        *ends,
        sensitive_features_1=names[ends[0]],
        sensitive_features_2=names[ends[1]],
        **only,
    )


def one_set(rate, people, kind, seed):
    """Log ratios by labels and corrected, and whether intervals and bounds contain the truth."""
    rng, (wrong, with_errors) = np.random.default_rng(seed), KINDS[kind]
    group, label, own = draw_people(people, wrong, with_errors, rng)
    ends, error = draw_rows(rate, group, own, rng)
    true, given, _ = draw_people(SAMPLE, wrong, with_errors, rng)
    sample = np.zeros((2, 2))
    np.add.at(sample, (true, given), 1)
    asked = {"threshold": 0.5, "rate": rate, "reference": "m"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scores of two values
        roc, with_truth = (fit(rate, ends, error, of) for of in (label, group))
    found = correct_for_label_errors(roc, sample, **asked)
    share = max((group != label)[label == g].mean() for g in (0, 1))
    bounds = label_error_bounds(roc, share, **asked)
    right = label_error_bounds(with_truth, 0.0, **asked).value
    rates = np.array([RATIO, 1.0]) * BASE[rate]
    between = RATIO**0.5 * BASE[rate]
    return (
        np.log(found.labelled[0] / found.labelled[1]),
        np.log(found.ratio[0]),
        *((found.low <= rates) & (rates <= found.high)),
        found.ratio_low[0] <= RATIO <= found.ratio_high[0],
        found.matrix_low[0, 1] <= between <= found.matrix_high[0, 1]
        if rate == "far"
        else np.nan,
        np.all(
            (bounds.value_low <= right + 1e-12) & (right <= bounds.value_high + 1e-12)
        ),
    )


def cell(rate, people, kind, sets, jobs=2):
    """Of one cell: ratios by labels and corrected, over the true one, and five shares."""
    rows = Parallel(jobs)(
        delayed(one_set)(rate, people, kind, seed) for seed in range(sets)
    )
    labelled, corrected, *shares = np.array(rows, dtype=float).T
    ratios = (np.exp(np.median(of)) / RATIO for of in (labelled, corrected))
    return (*ratios, *(of.mean() for of in shares))


def main(sets=200):
    """Print a row for each cell."""
    print(f"{sets} sets a cell, {SAMPLE} people with true groups")
    print(
        "labels wrong rate  people  labelled  corrected  f      m      ratio  f-m    bounds"
    )
    for kind in KINDS:
        for rate in BASE:
            for people in PEOPLE:
                labelled, corrected, *shares = cell(rate, people, kind, sets)
                shares = "  ".join(f"{share:5.3f}" for share in shares)
                print(
                    f"{kind:<12} {rate}   {people:>6}  {labelled:>8.2f}  "
                    f"{corrected:>9.2f}  {shares}",
                    flush=True,
                )


if __name__ == "__main__":
    from docs.studies import _command, check_label_errors

    _command.run_command(check_label_errors.main, __doc__)
