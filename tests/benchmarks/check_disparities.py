"""How often intervals of disparities hold the truth, and how much wider than needed they are.

``python -m tests.benchmarks.check_disparities 40`` draws 40 data sets of some designs of
``coverage.py``, whose rates in the population are known, and prints for each rate, FAR level
and disparity of several groups the coverage of the nominal 95 % intervals of
``method="recentered"`` (replicates alone) and of ``"wilson"`` (replicates whose ends agree
with max / min), and the median width of the second over that of an interval with the same
limits and, in place of replicates, normal draws that have the rates' analytic variance.
Half a minute.
"""

import warnings

import numpy as np

from skfairfr import SimilarityROC
from skfairfr._core._disparities import DISPARITIES
from skfairfr._core._family import draw_jointly
from skfairfr.metrics._roc._analytic import analyse
from tests.benchmarks._command import run_command
from tests.benchmarks.coverage import CONFIDENCE, DESIGNS, LEVELS, RATES, draw, truth

CHECKED = ("4 x 50", "4 x 50, one direction .47", "200/100/40/20, all differ")
HOWS = ("max_geomean", "log_geomean", "gini", "difference")
N_DRAWS = 2000
N_RESAMPLES = 200


def drawn_rates(evidence, level, rng):
    """Draws of all rates with their analytic variance, (N_DRAWS, n_groups)."""
    of_people = [e[level] for e in map(evidence.with_threshold, range(_size(evidence)))]
    normal = draw_jointly(np.stack(of_people), N_DRAWS, rng)
    spread = normal.std(axis=0)
    # Of no error nobody has an influence.
    alone = rng.standard_normal(normal.shape)
    normal = np.where(spread > 0, normal / np.where(spread > 0, spread, 1), alone)
    effective = evidence.effective.at(level)
    error = np.sqrt(effective.log_variance * evidence.share[level])
    middle = np.log((effective.errors + 0.5) / (effective.pairs + 1))
    return np.minimum(np.exp(middle + error * normal), 1.0)


def _size(evidence):
    return len(evidence.scopes)


def by_draws(engine, rate, how, rng):
    """Ends of the interval by draws at each of LEVELS, within the limits of ``"wilson"``."""
    question = engine.question(LEVELS, None, rate, None, how, "overall")
    evidence = engine.evidence(question)
    possible = analyse(evidence, question, CONFIDENCE, engine.intervals.entropy)
    tail = (1 - CONFIDENCE) / 2
    rows = []
    for level in range(LEVELS.size):
        found = DISPARITIES[how].function(drawn_rates(evidence, level, rng))
        ends = np.quantile(found, [tail, 1 - tail])
        limits = (
            [side[level] for side in limit] for limit in (possible.low, possible.high)
        )
        rows.append(
            [np.clip(end, *limit) for end, limit in zip(ends, limits, strict=True)]
        )
    return np.array(rows)[np.argsort(question.order)].T


def check(name, n_sets):
    """Coverage and widths of every rate, level and disparity of a design.

    Returns
    -------
    held : ndarray, shape (2, n_rates, n_hows, n_levels)
        Share of data sets whose interval holds the truth, of replicates and of "wilson".
    wider : ndarray, shape (n_rates, n_hows, n_levels)
        Median width of "wilson" over that by draws.
    """
    design = DESIGNS[name]
    true = truth(design, LEVELS, n_drawn=60_000, n_quantiles=300)
    held = np.zeros((2, len(RATES), len(HOWS), LEVELS.size))
    widths = np.empty((n_sets, 2, len(RATES), len(HOWS), LEVELS.size))
    for seed in range(n_sets):
        rng = np.random.default_rng([7, seed])
        X, y, group, _ = draw(design, rng)
        settings = {"n_resamples": N_RESAMPLES, "random_state": seed}
        roc = SimilarityROC(resample="identities", method="wilson", **settings)
        roc.fit(X, y, group[y])
        plain = roc.by(method="recentered")
        for r, rate in enumerate(RATES):
            for h, how in enumerate(HOWS):
                value = DISPARITIES[how].function(true[rate])
                for m, answering in enumerate((plain, roc)):
                    found = answering.estimate(LEVELS, rate=rate, how=how)
                    within = (found.low <= value + 1e-9) & (value <= found.high + 1e-9)
                    held[m, r, h] += within / n_sets
                low, high = by_draws(roc._engine, rate, how, rng)
                widths[seed, 0, r, h] = found.high - found.low
                widths[seed, 1, r, h] = high - low
    return held, np.median(widths[:, 0], axis=0) / np.median(widths[:, 1], axis=0)


def main(n_sets=40):
    """Print one line for each design, rate, level and disparity."""
    print(f"{'design':28} {'rate':10} {'disparity':12} replicates  wilson  width")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in CHECKED:
            held, wider = check(name, n_sets)
            for r, level, h in np.ndindex(len(RATES), LEVELS.size, len(HOWS)):
                at = f"{RATES[r]} {LEVELS[level]:g}"
                shares = held[:, r, h, level]
                print(
                    f"{name:28} {at:10} {HOWS[h]:12} {shares[0]:10.3f}  {shares[1]:6.3f}  "
                    f"{wider[r, h, level]:5.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    run_command(main, __doc__)
