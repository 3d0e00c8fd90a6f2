"""How often intervals of detection costs, Cllr and AUC contain what they estimate.

Scores are calibrated log-likelihood ratios, normal with effects of each person and of every
two (the "probit (.25, .1)" people of the study of intervals), three images a person, in two
groups of equal costs, which are computed by quadrature. The ratio is of the groups' costs, the
largest that of the largest to the smallest.

    python -m docs.studies.check_costs [n_sets [n_people ...]]
"""

import warnings

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from docs.studies._command import run_command
from skfairfr import SimilarityROC

N_IMAGES, DISTANCE, OF_PERSON, OF_TWO = 3, 3.5, 0.25, 0.1
VARIANCE = 1 + 2 * OF_PERSON**2 + OF_TWO**2
COSTS = {
    "minDCF, p .01": {"rate": "dcf", "p_target": 0.01},
    "minDCF, p .1": {"rate": "dcf", "p_target": 0.1},
    "DCF at 2.2, p .1": {"rate": "dcf", "p_target": 0.1, "threshold": 2.2},
    "Cllr": {"rate": "cllr"},
    "minCllr": {"rate": "min_cllr"},
    "AUC": {"rate": "auc"},
    "AUC up to .1": {"rate": "auc", "max_far": 0.1},
}
HOWS = {"": {}, ", ratio": {"how": ("ratio", 0, 1)}, ", largest": {"how": "max_min"}}


def truth(asked):
    """A cost of normal log-likelihood ratios."""
    spread = DISTANCE / np.sqrt(VARIANCE)
    middle, p = spread**2 / 2, asked.get("p_target", 0.5)

    def cost(t):
        miss, false = norm.cdf(t, middle, spread), norm.sf(t, -middle, spread)
        return (p * miss + (1 - p) * false) / min(p, 1 - p)

    def loss(z):
        return norm.pdf(z, middle, spread) * np.logaddexp(0, -z) / np.log(2)

    if "max_far" in asked:
        end, grid = asked["max_far"], np.linspace(-middle - 12 * spread, 30, 200_001)
        far = norm.sf(grid, -middle, spread)
        kept = far <= end
        far, tar = far[kept][::-1], norm.sf(grid[kept][::-1], middle, spread)
        area = np.trapezoid(np.append(tar, tar[-1]), np.append(far, end))
        return (1 + (area - end**2 / 2) / (end - end**2 / 2)) / 2
    if asked["rate"] == "auc":
        return norm.cdf(spread / np.sqrt(2))
    if asked["rate"] == "dcf":
        at = asked.get("threshold")
        ends = {"bounds": (-20, 30), "method": "bounded"}
        return minimize_scalar(cost, **ends).fun if at is None else cost(at)
    return quad(loss, middle - 12 * spread, middle + 12 * spread)[0]


def fitted(n_people, seed):
    """All pairs of a set of people."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(n_people * N_IMAGES, 1)
    one, other = first // N_IMAGES, second // N_IMAGES
    alone, together = rng.normal(size=(2, n_people))
    score = np.where(
        one == other,
        DISTANCE + OF_PERSON * np.sqrt(2) * together[one],
        OF_PERSON * (alone[one] + alone[other]),
    )
    score += OF_TWO * rng.normal(size=(n_people, n_people))[one, other]
    score += rng.normal(size=score.size)
    ratio = (score - DISTANCE / 2) * DISTANCE / VARIANCE
    roc = SimilarityROC(n_resamples=200, random_state=0)
    sides = {f"sensitive_features_{k}": of % 2 for k, of in enumerate((one, other), 1)}
    return roc.fit_pairs(ratio, one, other, **sides)


def main(n_sets=200, *n_people):
    print(
        "95 % intervals: share that contain the truth, lie above and below it; width / truth"
    )
    for n in n_people or (100, 50):
        rocs = [fitted(n, seed) for seed in range(n_sets)]
        for name, asked in COSTS.items():
            for suffix, how in HOWS.items():
                expected = 1.0 if how else truth(asked)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = [roc.estimate(**asked, **how) for roc in rocs]
                low, high = (
                    np.array([getattr(e, s) for e in found]) for s in ("low", "high")
                )
                above, below = np.mean(low > expected), np.mean(high < expected)
                width = np.nanmedian(high - low) / expected
                label = f"{name}{suffix}"
                print(
                    f"{n:4} people  {label:26} {1 - above - below:.3f}  {above:.3f}  "
                    f"{below:.3f}  {width:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    run_command(main, __doc__)
