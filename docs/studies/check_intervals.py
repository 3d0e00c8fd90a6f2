"""How often intervals of rates hold, and how wide they are: the study.

``python -m docs.studies.check_intervals --sets 1000`` prints the tables of the user guide;
``.ci/nightly`` runs it with fewer. ``--earlier COMMIT`` adds the bounds that the package had
at a commit before the jackknife, whose module it reads from the history.

The rate of the population is known, and each data set gives an interval at a fixed threshold:
of comparisons (FMR, FNMR), of non-mated searches of a fixed gallery (FPIR) and of logs of
attempts (FRR). Ordinary people differ little or by a lognormal factor. In hard cells a few
people have most errors. The other columns are a percentile person bootstrap and the published
analytic interval (Fogliato, Patil & Perona 2024). A second table draws people from real sets.
"""

import argparse
import math
import subprocess
import types

import numpy as np
from joblib import Parallel, delayed
from numba import njit
from scipy.special import ndtr, ndtri

from skfairfr import SimilarityROC
from skfairfr._core._jackknife import ErrorSums, genuine_sums, impostor_sums, rate_ends

TAIL = 0.025
# Kind -> ordinary or hard, what makes people differ, and by how much.
FMR = {
    "no effect": ("ordinary", "probit", 0.0, 0.0),
    "mild": ("ordinary", "probit", 0.25, 0.1),
    "lognormal .7": ("ordinary", "log", 0.7, 0.0),
    "strong": ("hard", "probit", 0.6, 0.1),
    "5 % wolves x 6": ("hard", "wolves", 0.7, 0.0),
    "Pareto 2": ("hard", "pareto", 2.0, 0.0),
    "couples err wholly": ("hard", "whole", 0.0, 0.0),
}
FNMR = {
    "no effect": ("ordinary", "probit", 0.0),
    "probit .3": ("ordinary", "probit", 0.3),
    "people err wholly": ("hard", "whole", 0.0),
    "probit .9": ("hard", "probit", 0.9),
    "5 % goats x 6": ("hard", "wolves", 0.7),
}
# Alarms: a person's chance is that of any of the gallery, 1 - exp(-c f), f the person's factor.
FPIR = {
    "no effect": ("ordinary", "whole", 0.0),
    "lognormal .7": ("ordinary", "log", 0.7),
    "5 % wolves x 6": ("hard", "wolves", 0.7),
}
# Rejected attempts: chances are beta(1, .), and one person may have a share of the attempts.
FRR = {
    "beta": ("ordinary", "beta", 0.0),
    "beta, one person 30 %": ("hard", "beta", 0.3),
}
RATES = {"FMR": FMR, "FNMR": FNMR, "FPIR": FPIR, "FRR": FRR}
REAL = "lfw_facenet", "london_pca"
LEVELS = (1e-1, 1e-2, 1e-3, 1e-4)
PEOPLE = (30, 50, 100, 300, 1000)
# How many images a person has: between these; or all 10, but one person many more.
IMAGES, EQUAL, UNEQUAL = (2, 10), (5, 5), "one third"
ATTEMPTS, SEARCHES, ANY = 10, (1, 10), (1, 20)
COLUMNS = "jackknife", "analytic", "bootstrap", "before"
MOST_WOLVES, WOLF = 0.05, 6.0
# Of so many data sets of a cell resamples are drawn, if they are of few people.
BOOTSTRAPPED, RESAMPLES, FEW_PEOPLE = 200, 200, 300
# Of the errors of two people, and of the weight of their pairs, as they are summed.
POWERS = (2, 0), (3, 0), (4, 0), (1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (1, 3)
# A second draws five data sets of couples of so many people: so many fewer are drawn.
MANY_PEOPLE, FEWER = 1000, 5


@njit(cache=True)
def couples(own, images, base, couple, is_log, whole, rng):
    """Every two people who have accepted pairs, and how many: (left, right, errors)."""
    n, found = own.size, 0
    left, right = np.empty(1024, np.int64), np.empty(1024, np.int64)
    errors = np.empty(1024)
    for k in range(n):
        for h in range(k + 1, n):
            score = base + own[k] + own[h]
            if couple > 0:
                score += couple * rng.standard_normal()
            if is_log:
                chance = min(math.exp(score), 1.0)
            else:
                chance = 0.5 * math.erfc(-score / math.sqrt(2.0))
            pairs = images[k] * images[h]
            if whole:
                wrong = pairs if rng.random() < chance else 0
            else:
                none = math.exp(pairs * math.log1p(-min(chance, 1 - 1e-12)))
                if rng.random() < none:
                    continue
                wrong = 0
                while wrong == 0:
                    wrong = rng.binomial(pairs, chance)
            if wrong == 0:
                continue
            if found == left.size:
                left, right = np.append(left, left), np.append(right, right)
                errors = np.append(errors, errors)
            left[found], right[found], errors[found] = k, h, wrong
            found += 1
    return left[:found], right[:found], errors[:found]


def factors(kind, size, n, rng):
    """Logarithms of people's factors, whose mean is 1."""
    if kind == "pareto":
        return np.log(rng.pareto(size, n) + 1) - np.log(size / (size - 1))
    found = size * rng.standard_normal(n) - size**2 / 2
    if kind == "wolves":
        found += np.log(WOLF) * (rng.random(n) < MOST_WOLVES)
        found -= np.log(1 + MOST_WOLVES * (WOLF - 1))
    return found


def images_of(people, images, rng):
    """Number of images of everybody."""
    if images == UNEQUAL:  # one person is in a third of all pairs
        found = np.full(people, 4)
        found[0] = (people - 1) * 4 // 5
        return found
    return rng.integers(*images, people, endpoint=True)


def accepted(kind, people, level, images, rng):
    """Images of everybody, and the couples with accepted impostor pairs."""
    _, model, person, couple = FMR[kind]
    n = images_of(people, images, rng)
    is_log = model in ("log", "wolves", "pareto")
    if is_log:
        own, base = factors(model, person, people, rng), np.log(level)
    else:
        own = math.sqrt(person / 2) * rng.standard_normal(people)
        base = ndtri(level) * math.sqrt(1 + person + couple)
    spread = math.sqrt(couple)
    return n, *couples(own, n, base, spread, is_log, model == "whole", rng)


def chances(rate, kind, level, people, rng):
    """Everybody's chance of an error in a genuine pair, a search or an attempt."""
    _, model, person = RATES[rate][kind]
    if model == "beta":
        return rng.beta(1, 1 / level - 1, people)
    if model in ("log", "wolves"):
        factor = np.exp(factors(model, person, people, rng))
        if rate == "FPIR":
            return -np.expm1(np.log1p(-level) * factor)
        return np.minimum(level * factor, 1.0)
    if model == "whole":
        return np.full(people, level)
    scale = math.sqrt(1 + person)
    own = ndtri(level) * scale + math.sqrt(person) * rng.standard_normal(people)
    return ndtr(own)


def of_people(rate, kind, people, level, images, rng):
    """Genuine pairs, searches or attempts of everybody, and how many are errors."""
    if rate == "FNMR":
        n = images_of(people, images, rng)
        pairs = np.maximum(n * (n - 1) // 2, 1)
        if FNMR[kind][1] == "whole":
            return pairs, pairs * (rng.random(people) < level)
    elif rate == "FPIR":
        pairs = images_of(people, images, rng)
    else:
        often, heavy = np.ones(people), FRR[kind][2]
        often[0] = (people - 1) * heavy / (1 - heavy) if heavy else 1.0
        pairs = rng.multinomial(ATTEMPTS * people, often / often.sum())
    return pairs, rng.binomial(pairs, chances(rate, kind, level, people, rng))


def truth_of(rate, kind, level):
    """The rate of the population: below the level if chances are cut at 1."""
    _, model, *sizes = RATES[rate][kind]
    if model in ("probit", "whole", "beta"):
        return level
    rng = np.random.default_rng(1)
    if rate != "FMR":
        return float(chances(rate, kind, level, 1_000_000, rng).mean())
    means = []
    for _ in range(20):
        one, other = (np.exp(factors(model, sizes[0], 2000, rng)) for _ in range(2))
        means.append(np.minimum(level * np.multiply.outer(one, other), 1.0).mean())
    return float(np.mean(means))


# One data set -------------------------------------------------------------------------


def of_impostors(images, left, right, errors):
    """What ``impostor_sums`` takes: errors and pairs of people, powers and sizes."""
    n = images.astype(float)
    wrong = np.bincount(left, errors, n.size) + np.bincount(right, errors, n.size)
    pairs, c = n * (n.sum() - n), n[left] * n[right]
    powers = [(errors**i * c**j).sum() for i, j in POWERS]
    sizes = tuple(((n**p).sum() ** 2 - (n ** (2 * p)).sum()) / 2 for p in (2, 3, 4))
    return wrong[None], pairs, np.array([powers]), sizes


def bootstrap(draw, rng):
    """Ends of a percentile bootstrap of people."""
    found = np.array([draw(rng) for _ in range(RESAMPLES)])
    return np.nanquantile(found, [TAIL, 1 - TAIL])


def analytic(rate, pairs, own, people):
    """The published interval: Wilson's, of as many pairs as the variance says."""
    variance = (own + max(people - 2 * own, 0.0)) / pairs**2
    if variance <= 0:
        return rate, rate
    n, z = rate * (1 - rate) / variance, -ndtri(TAIL)
    middle = (rate + z**2 / 2 / n) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(rate * (1 - rate) / n + z**2 / 4 / n**2)
    return middle - reach, middle + reach


def data_set(rate, kind, people, level, images, seed, resampled):
    """Sums of a data set, and the ends of the other intervals."""
    rng = np.random.default_rng(seed)
    if rate == "FMR":
        n, left, right, errors = accepted(kind, people, level, images, rng)
        sizes = of_impostors(n, left, right, errors)
        sums, ((wrong,), pairs) = impostor_sums(*sizes), sizes[:2]
        total, c = pairs.sum() / 2, n.astype(float)

        def draw(rng):
            v = np.bincount(rng.integers(people, size=people), minlength=people)
            both = (v * c).sum() ** 2 - (v**2 * c**2).sum()
            return (v[left] * v[right] * errors).sum() / (both / 2)
    else:
        drawn = of_people(rate, kind, people, level, images, rng)
        pairs, wrong = (of.astype(float) for of in drawn)
        sums, total = genuine_sums(wrong[None], pairs), pairs.sum()

        def draw(rng):
            v = np.bincount(rng.integers(people, size=people), minlength=people)
            return (v * wrong).sum() / (v * pairs).sum()

    value = float(sums.rate[0])
    deviations = wrong - value * pairs
    own = float(sums.own[0]) if rate == "FMR" else 0.0
    published = analytic(value, total, own, (deviations**2).sum())
    resampled = bootstrap(draw, rng) if resampled else (np.nan, np.nan)
    return sums, published, resampled


def cell(rate, kind, people, level, images, n_sets, earlier=None):
    """Shares missed and widths of one cell, a row of the table."""
    if people >= MANY_PEOPLE and rate == "FMR":
        n_sets = max(n_sets // FEWER, 1)
    asked = rate, kind, people, level, images
    resampled = BOOTSTRAPPED if people <= FEW_PEOPLE else 0
    found = [data_set(*asked, [7, s], s < resampled) for s in range(n_sets)]
    sums = ErrorSums.joined([of[0] for of in found])
    true = truth_of(rate, kind, level)
    ends = {"jackknife": np.array(rate_ends(sums, TAIL))}
    ends["analytic"] = np.array([of[1] for of in found]).T
    if resampled:
        ends["bootstrap"] = np.array([of[2] for of in found[:resampled]]).T
    if earlier is not None:
        ends["before"] = np.array([earlier(*asked, [7, s]) for s in range(n_sets)]).T
    value, words = sums.rate, []
    drawn = np.quantile(value, [TAIL, 1 - TAIL])
    with np.errstate(divide="ignore"):
        oracle = np.log(drawn[1] / drawn[0])
    for name in COLUMNS[: 3 + (earlier is not None)]:
        if name not in ends:
            words.append("-")
            continue
        (low, high), n = ends[name], ends[name].shape[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            width = np.log(high / np.maximum(low, 1e-12))
        vacuous = high > 8 * np.maximum(value[:n], true)
        words.append(
            f"{(low > true).mean():.3f} {(high < true).mean():.3f} "
            f"{vacuous.mean():.3f} {np.median(width[value[:n] > 0]):.2f}"
        )
    named = {UNEQUAL: ", one third", ANY: ", 1-20 images"}.get(images, "")
    about = f"{rate} | {kind}{named} | {people} | {level:g} | {sums.errors.mean():.3g}"
    return f"| {about} | {oracle:.2f} | {' | '.join(words)} |"


def cells_of(rate):
    """Every cell with an error a data set at least."""
    usual = {"FPIR": SEARCHES, "FRR": None}.get(rate, IMAGES)
    for kind in RATES[rate]:
        for people in PEOPLE:
            for level in LEVELS:
                pairs = people * {"FNMR": 18, "FPIR": 5.5, "FRR": ATTEMPTS}.get(
                    rate, 18 * (people - 1)
                )
                images = EQUAL if "wholly" in kind else usual
                if level * pairs >= 1 and (kind != "Pareto 2" or level < 0.1):
                    yield kind, people, level, images
    if rate in ("FMR", "FNMR"):
        for people in (50, 300):
            for level in LEVELS[:3]:
                yield "no effect", people, level, UNEQUAL
                yield "mild" if rate == "FMR" else "probit .3", people, level, ANY


def earlier_bounds(commit):
    """The bounds of the module ``_few_errors`` of a commit, of a data set."""
    text = subprocess.run(
        ["git", "show", f"{commit}:skfairfr/_core/_few_errors.py"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.replace("cache=True", "cache=False")
    module = types.ModuleType("earlier")
    exec(compile(text, "earlier", "exec"), vars(module))

    def bounds(rate, kind, people, level, images, seed):
        rng = np.random.default_rng(seed)
        if rate != "FMR":
            pairs, wrong = of_people(rate, kind, people, level, images, rng)
            sums = module.genuine_sums(wrong[None].astype(float), pairs.astype(float))
        else:
            sizes = of_impostors(*accepted(kind, people, level, images, rng))
            sums = module.impostor_sums(*sizes)
        return [float(end[0]) for end in module.rate_bounds(sums, TAIL)]

    return bounds


def row(rate, of_cell, n_sets, commit):
    """A row of the table; workers read the earlier module by themselves."""
    earlier = None if commit is None else earlier_bounds(commit)
    return cell(rate, *of_cell, n_sets, earlier)


def intervals(n_sets, n_jobs, commit):
    """Table of all cells."""
    names = COLUMNS[: 3 + (commit is not None)]
    print(
        "\n## Two-sided 95 % intervals of a rate: missed low, missed high, vacuous (upper end "
        "above 8 times\n## the larger of value and truth), median log-width of rates that are "
        "not 0; drawn: log-width of\n## the middle 95 % of the values\n"
    )
    print(
        f"| rate | people who | people | level | errors | drawn | {' | '.join(names)} |"
    )
    print("|---" * (6 + len(names)) + "|")
    asked = [(rate, of) for rate in RATES for of in cells_of(rate)]
    rows = Parallel(n_jobs, return_as="generator")(
        delayed(row)(*of, n_sets, commit) for of in asked
    )
    for found in rows:
        print(found, flush=True)


# Real data ----------------------------------------------------------------------------


def of_real_people(X, y, people, threshold, true, seed):
    """Whether intervals of some people hold the rate of all: (2 rates, held and width, 2)."""
    rng = np.random.default_rng([people, seed])
    chosen = np.isin(y, rng.choice(np.unique(y), people, replace=False))
    found = []
    for method in ("jackknife", "recentered"):
        roc = SimilarityROC(n_resamples=200, method=method, random_state=seed)
        roc.fit(X[chosen], y[chosen])
        for rate, value in zip(("far", "frr"), true, strict=True):
            one = roc.estimate(threshold=threshold, rate=rate)
            low, high = float(one.low), float(one.high)
            found.append((low <= value <= high, high - low))
    return found


def real(n_sets, n_jobs, shared):
    """Table of draws of people from real sets, as populations."""
    print(
        "\n## Draws of people from real sets: share of intervals that include the rate of all, and\n"
        "## median width\n"
    )
    print("| set | people | rate | jackknife | bootstrap |")
    print("|---|---|---|---|---|")
    for name in REAL:
        with np.load(f"{shared}/data/{name}/{name}.npz") as data:
            X, y = data["embedding"], data["identity"]
        whole = SimilarityROC(n_resamples=2, method="jackknife", random_state=0)
        threshold = float(whole.fit(X, y).threshold_at(1e-2))
        true = [
            float(whole.estimate(threshold=threshold, rate=rate).value)
            for rate in ("far", "frr")
        ]
        for people in (30, 60, 120):
            if people > np.unique(y).size:
                continue
            drawn = Parallel(n_jobs)(
                delayed(of_real_people)(X, y, people, threshold, true, seed)
                for seed in range(n_sets)
            )
            drawn = np.array(drawn, dtype=float).reshape(-1, 2, 2, 2)
            holds, width = (
                drawn[..., 0].mean(axis=0),
                np.nanmedian(drawn[..., 1], axis=0),
            )
            for place, rate in enumerate(("FMR", "FNMR")):
                words = (f"{holds[m, place]:.3f} {width[m, place]:.4f}" for m in (0, 1))
                print(
                    f"| {name} | {people} | {rate} | {' | '.join(words)} |", flush=True
                )


def main(arguments=None):
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000, help="of a cell")
    parser.add_argument(
        "--draws", type=int, default=200, help="of people of a real set"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--earlier", help="a commit whose bounds are a column")
    parser.add_argument("--shared", default="../shared", help="folder of the real sets")
    asked = parser.parse_args(arguments)
    if asked.sets:
        intervals(asked.sets, asked.jobs, asked.earlier)
    if asked.draws:
        real(asked.draws, asked.jobs, asked.shared)


if __name__ == "__main__":
    # Workers load functions by the name of their module, which is not __main__ there.
    from docs.studies import check_intervals

    check_intervals.main()
