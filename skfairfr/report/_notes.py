"""Text next to the numbers of a report: notes, reasons, and operating points in words.

SimilarityROC warns in Python's words, with a code and with the numbers and names of its
message as values. A note has the same meaning in the words of a report.
"""

import re
import warnings
from contextlib import contextmanager

import numpy as np
from scipy.stats import binom
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._core._kinds import COMPARISONS
from skfairfr._core._support import label_of, words_of
from skfairfr._text._words import (
    RATES,
    accepted,
    by_attribute,
    capital,
    given_point,
    level_percent,
    listed,
    percent,
    printable,
    terms_of,
)
from skfairfr.metrics import ReversedScoresWarning
from skfairfr.metrics._roc._engine import left_out_in_words

# What SimilarityROC warns of that belongs into an audit's notes.
ABOUT_DATA = (UndefinedMetricWarning, ReversedScoresWarning)


@contextmanager
def collecting(collected, categories=ABOUT_DATA):
    """Append warnings of these categories to a list. The others are shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if issubclass(warning.category, categories):
            collected.append(warning.message)
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def notes_of(collected, terms=COMPARISONS):
    """Notes about warnings, a list of str, each once.

    A level that is below the resolution of everyone's trials is below that of each group's too.
    """
    notes, below = {}, set()
    for warning in collected:
        code = getattr(warning, "code", None)
        note = warning.args[0]
        if code == "below_resolution":
            far, group = warning.values["far"], warning.values.get("group")
            if group is None:
                below.add(far)
            elif far in below:
                continue
        if code in NOTES:
            note = NOTES[code](terms, **warning.values)
        notes[note] = None
    return list(notes)


def reason_to_withhold(collected):
    """The code of a warning that leaves no verdict worth its name, or None without any."""
    codes = (w.code for w in collected if isinstance(w, ReversedScoresWarning))
    return next(codes, None)


def lack_of_rows(names, left_out, n, unit):
    """How many rows of each system are compared, if another lacks some. A list of str.

    Parameters
    ----------
    names : sequence of str
        Of the systems.
    left_out : sequence of int
        Rows of each system that another lacks.
    n : int
        Rows that all systems have.
    unit : {"images", "pairs"}
    """
    return [
        f"{n:,} of {n + more:,} {unit} of {printable(name)} are compared. "
        f"{' or '.join(printable(n) for n in names if n != name)} lacks the others."
        for name, more in zip(names, left_out, strict=True)
        if more
    ]


def lack_of_group(rates, group, attribute, name, others, terms):
    """That rates of a group are not compared, because a system lacks what another has.

    Parameters
    ----------
    rates : dict of {"far", "frr"} -> int
        How many pairs all systems share.
    group : label
    attribute : str
    name : str
        Of a system that has the group's pairs.
    others : sequence of str
        Of systems, any of which may lack them.
    terms : Terms
    """
    whose = f"{printable(group)} ({printable(attribute)})"
    kinds = [terms[rate] for rate in rates]
    verb = "is" if len(kinds) == 1 else "are"
    trials = [f"{'most ' * bool(n)}{terms[rate].trials}" for rate, n in rates.items()]
    return (
        f"The {listed([kind.name for kind in kinds])} of {whose} {verb} not compared: "
        f"{' or '.join(map(printable, others))} lacks {listed(trials)} of "
        f"{printable(group)} that {printable(name)} has."
    )


def mixed_people(people, group, attribute, decisions=None):
    """The note about people whose images are in several groups, or empty without any.

    Parameters
    ----------
    people : ndarray of int, shape (n_rows,)
    group : Labels
    attribute : str
    decisions : str, default=None
        Names of the errors of decisions.
    """
    if decisions == "apcer":  # one attacker has several instruments
        return ""
    inside = np.zeros((len(group.values) + 1, people.max() + 1), dtype=bool)
    inside[group.codes, people] = True
    n_groups = inside[:-1].sum(axis=0)
    n_mixed, n_people = (np.count_nonzero(n_groups > n) for n in (1, 0))
    if not n_mixed:
        return ""
    of, counted = "image", "A pair counts in a group if both of its images are in it."
    if decisions:
        of, counted = "attempt", "Each counts in its own."
    return (
        f"{n_mixed:,} of {n_people:,} people {'has' if n_mixed == 1 else 'have'} "
        f"{of}s in more than one group of {printable(attribute)}. {counted} If the attribute belongs "
        f"to a person and not to an {of}, correct their labels."
    )


def _below_resolution(terms, far, smallest, group=None):
    name, trials = terms.far.name, terms.far.trials
    whose, about = f"all {trials}", "The threshold is"
    if group is not None:
        whose = f"{trials} of {printable(group)}"
        about = f"A threshold that the {name} of {printable(group)} sets is"
    return (
        f"An {name} of {level_percent(far)} is below 1 / ({whose}) = {percent(smallest)}, "
        f"the smallest {name} that they can resolve. {about} above their largest score. "
        f"Give a larger {name}, or more people."
    )


def _no_error(terms, rate):
    text = (
        f"a group has no {terms[rate].name} error, so the largest rate over the smallest is "
        "infinite or undefined"
    )
    more = f"More people{_other_level(terms, rate)} would lead to more errors."
    if not _other_level(terms, rate):
        return f"{capital(text)}. {more}"
    return f"At a threshold of this report, {text} there. {more}"


# More groups without errors are counted, not named.
MOST_NAMED = 4
# How a note ends that is about a folded table.
IN_FOLDED = "(see 'All disparities and indices')."


def no_errors(audit):
    """Notes on the largest over the smallest rate if it is infinite for lack of errors, a list."""
    notes = []
    for n, level in enumerate(audit.levels):
        for found in (d for d in level.disparities if d.how == "max_min"):
            for rate in (r for r in RATES if np.isposinf(getattr(found, r).value)):
                terms, by = terms_of(audit.settings), by_attribute(audit.attribute)
                name, at = terms[rate].name, at_place(level, audit)
                rows = level.rates[1:]
                none = [row.group for row in rows if getattr(row, rate).value == 0]
                whom, end = f"{len(none)} groups", IN_FOLDED
                if len(none) <= MOST_NAMED:
                    whom = listed([*map(printable, none)] or [""])
                if found.operating_point == "worst_group":
                    whom = "A group"
                    at = f"at the threshold at which no group's {terms.far.name} exceeds the level"
                elif n == 0:
                    end = f"More people{_other_level(terms, rate)} would lead to more errors."
                verb = "has" if len(none) < 2 or whom == "A group" else "have"
                about = f"{at and f' {at}'}{by and f',{by}'}"
                notes.append(
                    f"{whom} {verb} no {name} errors{about}, so the largest {name} over "
                    f"the smallest is infinite{'' if end is IN_FOLDED else '.'} {end}"
                )
    return notes


def _other_level(terms, rate):
    """Which level leads to more errors, in words, or empty of decisions, which have none."""
    if terms.trial not in ("pair", "search"):
        return ""
    return f", or a {'larger' if rate == 'far' else 'smaller'} {terms.far.name},"


def _reversed(terms, share, n_genuine, n_impostor):
    return (
        f"One of the {n_genuine:,} genuine pairs has a larger score than one of the "
        f"{n_impostor:,} impostor pairs in {percent(share)} of all cases. Is y_true the other "
        "way round, or are scores distances (--distance)?"
    )


NOTES = {
    "below_resolution": _below_resolution,
    "left_out": left_out_in_words,
    "no_error": _no_error,
    "reversed_scores": _reversed,
}


def rates_in(groups):
    """The rates that groups have pairs for, a tuple. The first GroupRow is everyone's."""
    n_pairs = {"far": groups[0].n_impostor, "frr": groups[0].n_genuine}
    return tuple(rate for rate in RATES if n_pairs[rate])


def of_groups(rows):
    """Rows of groups, without everyone's, the first. If there is no other, everyone's."""
    return rows[1:] or rows


def of_unknown(level, audit):
    """Errors and trials of one person each that are of no known group, two int."""
    everyone, *groups = audit.groups
    found, *rates = level.rates
    trials = everyone.n_genuine - sum(row.n_genuine for row in groups)
    if not audit.n_unknown or trials <= 0 or found.frr_errors is None:
        return 0, 0
    return found.frr_errors - sum(row.frr_errors or 0 for row in rates), trials


def unknown_exceed(level, audit, rate):
    """Whether people of unknown group have significantly more errors than a rate."""
    errors, trials = of_unknown(level, audit)
    chance = 1 - audit.settings["confidence_level"]
    return errors > 0 and binom.sf(errors - 1, trials, rate) < chance


def largest_rate(audit):
    """The group with the largest rate of an audit of decisions, as GroupRates."""
    known = (row for row in audit.levels[0].rates[1:] if row.frr.value == row.frr.value)
    return max(known, key=lambda row: row.frr.value)


# By how much of the level an FMR that equal scores leave has to differ to be named.
WORTH_NAMING = 0.1


# ---- operating points ----------------------------------------------------------------


def place_of(level, found):
    """The operating point of a level, or of a limit of a cost, in words."""
    if hasattr(level, "p_target"):
        return "" if level.p_target is None else f"p_target {level.p_target:g}"
    if "threshold_of_each" in found.settings:
        return "the given thresholds"
    if level.far is None:
        return f"the given {given_point(level.threshold, found.settings)}"
    elsewhere = any(lev.set_on == "other data" for lev in getattr(found, "levels", ()))
    other = " on other data" if elsewhere else ""
    group = found.settings.get("threshold_group")
    within = "" if group is None else f" in {printable(group)}"
    name = terms_of(found.settings).far.name
    overall = "" if within else "overall "  # of everyone, unlike a group's rate there
    return f"an {overall}{name} of {level_percent(level.far)}{within}{other}"


def at_place(level, found):
    """The same after "at", or empty of decisions, whose operating point is not known."""
    place = "" if "decisions" in found.settings else place_of(level, found)
    return place and f"at {place}"


def short_place(level, found):
    """The same for a legend."""
    if "decisions" in found.settings:
        return ""
    place = _without_article(place_of(level, found)).replace(" of ", " ", 1)
    return place.removeprefix("given ").replace("on other data", "elsewhere")


def heading_of(level, found):
    """The same for a heading."""
    if "decisions" in found.settings:
        return "Rates"
    return capital(_without_article(place_of(level, found)))


def _without_article(place):
    return re.sub("^(an overall|an|the) ", "", place)


def title_of(level, found):
    """The same with the threshold there."""
    if "decisions" in found.settings:
        return heading_of(level, found)
    text = f"{heading_of(level, found)}: {accepted(level.threshold, found.settings)}"
    attained = level.rates[0].far.value
    if level.set_on == "other data" or level.far is None:
        return text
    if abs(attained / level.far - 1) > WORTH_NAMING:
        far = terms_of(found.settings).far
        text += f", an {far.name} of {percent(attained)}"
        (everyone, *_) = getattr(found, "groups", None) or found.measured[0].groups
        n = everyone.n_impostor
        if found.settings["average"] == "pair" and attained + 1 / n > level.far:
            text += f": {n:,} {far.trials} have rates in steps of {percent(1 / n)}"
        elif found.settings["impostors"] == "all":
            text += " because of equal scores"
    return text


# ---- reasons -------------------------------------------------------------------------

# Why nothing is concluded, in short and at length, by the code of the warning.
WITHHELD = {
    "reversed_scores": (
        "scores look like distances, or genuine and impostor pairs are swapped",
        "genuine pairs mostly have smaller scores than impostor pairs. If the file marks "
        "genuine pairs (--y-true), check the mark first: 1 means the same person. If the "
        "scores are distances, use --distance (in Python distance=True). If it was used, "
        "leave it out.",
    ),
    "reversed_beside_others": (
        "scores of one system look like distances",
        "genuine pairs mostly have smaller scores than impostor pairs, unlike those of the "
        "other system: change the sign of its scores.",
    ),
    "mostly_rejected": (
        "most genuine attempts are rejected; yes and no may be swapped",
        "more than half of the genuine attempts are rejected. Check in the log that yes, or 1, "
        "means accepted.",
    ),
    "equal_scores": (
        "all scores are equal",
        "genuine pairs and impostor pairs all have the same score. They are accepted together "
        "or not at all, and the ratio of largest to smallest FMR (BFAR) is undefined.",
    ),
    "uninformative_scores": (
        "scores are no better than chance",
        "scores hardly separate genuine pairs from impostor pairs: labels may be in another "
        "order than the rows, or the system may not work.",
    ),
    "uninformative_searches": (
        "mates are found no more often than by chance",
        "mated searches have their mates first about as often as chance would: identities may "
        "belong to other rows, or the system may not work.",
    ),
}
# How the reason of a figure ends that was not counted over all pairs.
SOURCES = {
    "all pairs": "",
    "sample": "beyond the FMR up to which all pairs are stored: from a uniform sample of "
    "impostor pairs",
}


def nothing_concluded(settings):
    """A headline, and in a list why nothing is concluded, or None if something is.

    The reason names the systems of a comparison.
    """
    found = settings.get("withheld")
    if not found:
        return None
    if isinstance(found, str):
        short, why = WITHHELD[found]
        reasons = [f"Nothing is concluded: {why}"]
    else:
        short = " and ".join(
            dict.fromkeys(WITHHELD[code][0] for code in found.values())
        )
        by_code = {}
        for name, code in found.items():
            by_code.setdefault(code, []).append(printable(name))
        sentences = [
            f" In {listed(names)}, {WITHHELD[code][1]}"
            for code, names in by_code.items()
        ]
        reasons = [f"Nothing is concluded.{''.join(sentences)}"]
    return f"Undetermined: {short}.", reasons


def reason_in_words(figure, terms, rate=None):
    """Why a figure rests on too few errors. Its group, and a given rate, were named."""
    words = {}
    for reason in figure.reasons:
        of_rate = rate is None and reason.rate in RATES and reason.code != "no_pairs"
        about = f"{terms[reason.rate].name}: " if of_rate else ""
        words.setdefault(about, []).append(words_of(reason, terms))
    text = "; ".join(f"{about}{'; '.join(texts)}" for about, texts in words.items())
    return text or printable(figure.reason)


def in_words(reasons, terms=COMPARISONS, source="all pairs"):
    """Reasons, of any length, as one text that ends with the source.

    Parameters
    ----------
    reasons : sequence of Reason
    terms : Terms, default=COMPARISONS
    source : {"all pairs", "sample"}, default="all pairs"

    Returns
    -------
    text : str
    """
    by_label = {}
    for reason in reasons:
        lacking, others = by_label.setdefault(label_of(reason, terms), ([], []))
        own = lacking if reason.code == "no_pairs" else others
        own.append(words_of(reason, terms))
    texts = []
    for label, (lacking, others) in by_label.items():
        sentence = "; ".join(filter(None, [" and ".join(lacking), *others]))
        texts.append(f"{label}: {sentence}" if label else sentence)
    return "; ".join(filter(None, [*texts, SOURCES[source]]))
