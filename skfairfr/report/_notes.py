"""Notes of an audit, built from the values of warnings.

SimilarityROC warns in Python's words, with a code and with the numbers and names of its
message as values. A note has the same meaning in the words of a report.
"""

import warnings
from contextlib import contextmanager

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr.metrics import ReversedScoresWarning
from skfairfr.utils._errors import Argument, Message
from skfairfr.utils._words import RATES, level_percent

# What SimilarityROC warns of that belongs into an audit's notes.
ABOUT_DATA = (UndefinedMetricWarning, ReversedScoresWarning)


@contextmanager
def collecting(collected, categories=ABOUT_DATA):
    """Append warnings of these categories to a list; the others are shown."""
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


def notes_of(collected):
    """Notes about warnings, a list of str, each once."""
    notes = {}
    for warning in collected:
        code = getattr(warning, "code", None)
        note = warning.args[0]
        if code in NOTES:
            note = NOTES[code](**warning.values)
        notes[note] = None
    return list(notes)


def reason_to_withhold(collected):
    """The code of a warning that leaves no verdict worth its name; None without any."""
    codes = (w.code for w in collected if isinstance(w, ReversedScoresWarning))
    return next(codes, None)


def mixed_people(people, group, attribute):
    """The note about people whose images are in several groups; empty without any.

    Parameters
    ----------
    people : ndarray of int, shape (n_rows,)
    group : Labels
    attribute : str
    """
    known = group.codes >= 0
    in_groups = np.unique(
        people[known].astype(np.int64) * (1 << 32) + group.codes[known]
    )
    n_groups = np.unique(in_groups >> 32, return_counts=True)[1]
    n_mixed = int((n_groups > 1).sum())
    if not n_mixed:
        return ""
    return (
        f"{n_mixed:,} of {n_groups.size:,} people {'has' if n_mixed == 1 else 'have'} "
        f"images in more than one group of {attribute}. A pair counts in a group if both "
        "of its images are in it. Where the attribute belongs to a person and not to an "
        "image, correct their labels."
    )


def similar_labels(groups, chosen):
    """Notes about labels that differ only in case or surrounding space, a list.

    Parameters
    ----------
    groups : list of Labels
    chosen : list of tuple of str
        The attributes of each.
    """
    notes = []
    for group, (attribute, *others) in zip(groups, chosen, strict=True):
        alike = {}
        for label in [] if others else group.values.tolist():
            alike.setdefault(str(label).strip().casefold(), []).append(repr(label))
        found = [" and ".join(labels) for labels in alike.values() if len(labels) > 1]
        if found:
            notes.append(
                f"Groups of {attribute} differ only in case or surrounding space: "
                f"{'; '.join(found)}. They were taken as different groups; where they are "
                "one, write its label alike everywhere."
            )
    return notes


def _below_resolution(far, smallest, group=None):
    whose = "all impostor pairs"
    if group is not None:
        whose = f"the impostor pairs within group {group}"
    about = "" if group is None else "This is about BFAR and BFRR. "
    return Message(
        f"An FMR of {level_percent(far)} is below 1 / (impostor pairs) = "
        f"{level_percent(smallest)}, the smallest FMR that "
        f"{whose} can resolve. {about}The threshold is above their largest score. "
        "Give a larger ",
        *(Argument("far"), " or more people."),
    )


def _left_out(kind, groups, rate):
    return (
        f"No {kind} pair within group {', '.join(groups)}: left out of the disparity of "
        f"the {RATES[rate]}."
    )


def _no_error(rate):
    return (
        f"A group has no error, so that the disparity of the {RATES[rate]} is x/0 (+inf) "
        "or 0/0 (nan). max - min does without a ratio; else audit more people, or at "
        f"another threshold: a {'larger' if rate == 'far' else 'smaller'} FMR has more errors."
    )


NOTES = {
    "below_resolution": _below_resolution,
    "left_out": _left_out,
    "no_error": _no_error,
}
