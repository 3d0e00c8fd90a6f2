"""A slow, plain second version of the person-jackknife intervals, to test against.

It was written from a description of the method, without sight of the library's own
code, and shares nothing with it. Everything is done with loops over Python floats.

A comparison is ``(one, other, weight, is_error)``. It is a genuine pair of one person
where ``one == other``, and an impostor pair of two people otherwise. A list of
comparisons is wholly genuine or wholly impostor. ``is_error`` may be the share of the
weight that is wrong.
"""

import math

from scipy.optimize import brentq
from scipy.stats import gamma, norm, t

SMALLEST_TAIL = 1e-16
LARGEST_TAIL = 0.4999


def moments(comparisons, strata=None):
    """Everything the intervals need to know about one list of comparisons.

    ``strata`` names the stratum of each comparison, whose weights make a standardised rate
    of the rates of strata. Without it there is one.
    """
    if strata is None:
        strata = ["all"] * len(comparisons)
    total = 0.0
    wrong = 0.0
    squares = 0.0
    for _one, _other, weight, is_error in comparisons:
        total += weight
        squares += weight * weight
        wrong += weight * is_error
    if total == 0:
        names = "errors pairs single clustered own variance cubes fourths people"
        return dict.fromkeys(names.split(), 0.0)

    # The weight of the pairs, and of the errors, of each cluster.
    cluster_pairs = {}
    cluster_errors = {}
    for one, other, weight, is_error in comparisons:
        cluster = frozenset([one, other])
        cluster_pairs[cluster] = cluster_pairs.get(cluster, 0.0) + weight
        wrong_so_far = cluster_errors.get(cluster, 0.0)
        cluster_errors[cluster] = wrong_so_far + weight * is_error
    clustered = 0.0
    for cluster in cluster_pairs:
        clustered += cluster_pairs[cluster] ** 2 / total

    by_stratum = {}
    for comparison, stratum in zip(comparisons, strata, strict=True):
        by_stratum.setdefault(stratum, []).append(comparison)
    # What an error weighs: the variance of independent errors over their number.
    single = squares / total
    if 0 < wrong < total:
        single = independent_variance(by_stratum) / (wrong * (1 - wrong / total))
    lost, sum_pairs_squared = leave_out_each_person(comparisons, by_stratum)
    second = third = fourth = 0.0
    for u in lost.values():
        second += u**2
        third += u**3
        fourth += u**4

    first_one, first_other, _weight, _is_error = comparisons[0]
    if first_one == first_other:
        own = variance = second
        cubes = third
        fourths = fourth
        effective_people = total**2 / sum_pairs_squared
    else:
        # What the errors of two people exceed those expected of their comparisons by.
        unexpected = dict(cluster_errors)
        for inside in by_stratum.values():
            rate_inside = rate_of(inside)
            for one, other, weight, _is_error in inside:
                unexpected[frozenset([one, other])] -= weight * rate_inside
        x2 = x3 = x4 = 0.0
        for x in unexpected.values():
            x2 += x**2
            x3 += x**3
            x4 += x**4
        own = max(x2, 0.0)
        variance = max(second - own, own)
        cubes = third - x3
        fourths = fourth - x4
        effective_people = 4 * total**2 / sum_pairs_squared

    return {
        "errors": wrong,
        "pairs": total,
        "single": single,
        "clustered": clustered,
        "own": own,
        "variance": variance,
        "cubes": cubes,
        "fourths": fourths,
        "people": effective_people,
    }


def leave_out_each_person(comparisons, by_stratum):
    """What is lost with each person, centred, and the sum of squares of their pairs.

    Without a person the rate of each stratum is another one, and the stratum has its weight.
    """
    people = sorted({person for c in comparisons for person in c[:2]})
    lost = dict.fromkeys(people, 0.0)
    for inside in by_stratum.values():
        weight_inside = sum(c[2] for c in inside)
        rate_inside = rate_of(inside)
        for person in people:
            lost[person] += weight_inside * (rate_inside - rate_without(inside, person))
    n = len(people)
    mean = sum(lost.values()) / n
    centred = {p: (v - mean) * math.sqrt((n - 1) / n) for p, v in lost.items()}
    pairs = [sum(c[2] for c in comparisons if person in c[:2]) for person in people]
    return centred, sum(weight**2 for weight in pairs)


def influence(comparisons, strata=None):
    """What the logarithm of the rate loses without each person, by person."""
    by_stratum = {}
    strata = strata or ["all"] * len(comparisons)
    for comparison, stratum in zip(comparisons, strata, strict=True):
        by_stratum.setdefault(stratum, []).append(comparison)
    lost, _ = leave_out_each_person(comparisons, by_stratum)
    wrong = sum(weight * is_error for _, _, weight, is_error in comparisons)
    return {person: value / wrong for person, value in lost.items()}


def independent_variance(by_stratum):
    """The variance of the errors if comparisons err independently."""
    total = 0.0
    for inside in by_stratum.values():
        rate = rate_of(inside)
        total += sum(c[2] ** 2 for c in inside) * rate * (1 - rate)
    return total


def rate_of(comparisons):
    """The weight of the errors over that of all."""
    total = wrong = 0.0
    for _one, _other, weight, is_error in comparisons:
        total += weight
        wrong += weight * is_error
    return wrong / total


def rate_without(comparisons, person):
    """The rate once a person's comparisons are left out."""
    kept = [c for c in comparisons if person not in c[:2]]
    total = sum(c[2] for c in comparisons)
    if sum(c[2] for c in kept) >= total / 2:
        return rate_of(kept)
    # A person with most of the pairs is left out as if they had half.
    rate = rate_of(comparisons)
    own = [c for c in comparisons if person in c[:2]]
    pairs_in = sum(c[2] for c in own)
    errors_in = sum(c[2] * c[3] for c in own)
    return rate - (errors_in - rate * pairs_in) / (total / 2)


def interval(m, tail, added=0.0):
    """The ends of the interval for a rate, with ``tail`` left outside each of them."""
    errors = m["errors"]
    pairs = m["pairs"]
    people = m["people"]
    if pairs == 0 or people <= 1 + 1e-9:
        return math.nan, math.nan
    if errors == 0:
        return 0.0, min(1.0, -math.log(tail) * m["clustered"] / pairs)
    if errors >= pairs:
        return max(0.0, 1 + math.log(tail) * m["clustered"] / pairs), 1.0

    rate = errors / pairs
    right = pairs - errors
    v = max(m["variance"], m["single"] * errors * (1 - rate))
    k3 = min(max(m["cubes"] / v**1.5, -1.0), 1.0)
    between = max(m["variance"] - m["own"], 0.0)
    skew = min(k3 + 0.75 * between**2 / (errors * v**1.5), 1.0)

    df = 2 / max(m["fourths"] / v**2 - m["single"] ** 2 / v - 1 / people, 1e-9)
    df = min(max(df, 1.0), max(people - 1, 1.0))

    widened = max(v + added * errors**2, 0.01 * v)
    skew *= min(v / widened, 1.0) ** 1.5

    stretch = float(t.ppf(tail, df)) / float(norm.ppf(tail))
    se = math.sqrt(widened)
    least = se * (right - errors) / (errors * right)
    if errors < right:
        skew = max(skew, least)
    else:
        skew = min(skew, least)

    # 1 / skew^2, without overflow for a skew that is all but zero.
    s = 1 / max(abs(skew), 1e-3) ** 2
    below = (s - float(gamma.ppf(tail, s))) / math.sqrt(s)
    above = (float(gamma.isf(tail, s + 1)) - s) / math.sqrt(s)
    if abs(skew) < 1e-3:  # from one side of 0 to the other without a step
        share = (1 + skew / 1e-3) / 2
        below, above = (
            share * below + (1 - share) * above,
            share * above + (1 - share) * below,
        )
    elif skew < 0:
        below, above = above, below
    left = []
    for count, other, reach in (
        (errors, right, se * below),
        (right, errors, se * above),
    ):
        number = count**2 * other / pairs / widened
        least = float(gamma.ppf(tail, number)) / number
        left.append(count * max(1 - reach / count, least) ** stretch)
    return left[0] / pairs, 1 - left[1] / pairs


def with_an_error(m):
    """The same list, with one cluster's worth of errors if it had none."""
    if m["errors"] > 0:
        return m
    clustered = m["clustered"]
    changed = dict(m)
    changed["errors"] = clustered
    changed["single"] = clustered
    changed["own"] = clustered**2
    changed["variance"] = clustered**2
    changed["cubes"] = clustered**3
    changed["fourths"] = clustered**4
    return changed


def log_ratio(groups, weights):
    """The weighted sum of the logarithms of the rates; nan if a rate is not known."""
    total = 0.0
    for m, w in zip(groups, weights, strict=True):
        if w == 0:
            continue
        g = with_an_error(m)
        if g["pairs"] == 0:
            return math.nan
        total += w * math.log(g["errors"] / g["pairs"])
    return total


def reaches(groups, weights, tail, added=0.0):
    """How far the interval reaches below and above the logarithm of the ratio."""
    z = float(norm.ppf(tail))
    lower_squares = 0.0
    upper_squares = 0.0
    for m, w in zip(groups, weights, strict=True):
        if w == 0:
            continue
        low, high = interval(m, tail)
        if math.isnan(low) or math.isnan(high):
            return math.nan, math.nan
        rate = with_an_error(m)["errors"] / m["pairs"]
        log_up = math.log(max(high / rate, 1.0))
        log_down = math.log(rate / low) if low > 0 else math.inf
        if w > 0:
            upper_squares += (w * log_up) ** 2
            lower_squares += (w * log_down) ** 2
        else:
            upper_squares += (w * log_down) ** 2
            lower_squares += (w * log_up) ** 2
    lower = math.sqrt(max(lower_squares + z**2 * added, 0.01 * lower_squares))
    upper = math.sqrt(max(upper_squares + z**2 * added, 0.01 * upper_squares))
    return lower, upper


def ratio(groups, weights, tail, added=0.0):
    """The ends of the interval for a ratio of rates; nan if a rate is not known."""
    centre = log_ratio(groups, weights)
    lower, upper = reaches(groups, weights, tail, added)
    if math.isnan(centre) or math.isnan(lower):
        return math.nan, math.nan
    return _exp(centre - lower), _exp(centre + upper)


def ratio_p(groups, weights, added=0.0):
    """The two-sided p-value for a ratio of 1; nan if a rate is not known."""
    centre = log_ratio(groups, weights)
    if math.isnan(centre) or math.isnan(reaches(groups, weights, LARGEST_TAIL)[0]):
        return math.nan

    def clearance(log_tail):
        """Above 0 where the interval leaves 1 out; never less than -1, so finite."""
        low, high = ratio(groups, weights, math.exp(log_tail), added)
        if centre > 0:
            return low - 1
        return 1 / high - 1 if high > 0 else math.inf

    smallest = math.log(SMALLEST_TAIL)
    largest = math.log(LARGEST_TAIL)
    if clearance(largest) <= 0:
        return 1.0
    if clearance(smallest) >= 0:
        return 2 * SMALLEST_TAIL
    return 2 * math.exp(brentq(clearance, smallest, largest, xtol=1e-9))


def _exp(x):
    """The exponential, infinite where it is too large for a float."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
