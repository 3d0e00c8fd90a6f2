"""Preparation before pairs are compared: attributes, groups, and operating points."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import chain, combinations

from skfairfr._core._pairs import Expected
from skfairfr._core._parallel import next_step
from skfairfr.datasets._embeddings import holds_embeddings
from skfairfr.metrics import SimilarityROC
from skfairfr.report._data import EmbeddingData, PairData, check_data
from skfairfr.report._given import choose_far_max, reraise_for
from skfairfr.report._measure import chosen_thresholds
from skfairfr.report._notes import collecting, notes_of
from skfairfr.report._reading import (
    OPTIONS_OF_ALL,
    OPTIONS_OF_EMBEDDINGS,
    OPTIONS_OF_PAIRS,
    read_data,
)
from skfairfr.report.sections._failures import failures_of, groups_lost_to_failures
from skfairfr.utils._errors import invalid, shown
from skfairfr.utils._validation import check_count

# Every two groups are compared. With more labels than this they are names or numbers.
MAX_GROUPS = 250


@dataclass(frozen=True)
class AuditOptions:
    """How an audit measures, as in SimilarityROC."""

    average: str
    impostors: str
    confidence_level: float
    n_jobs: int | None
    random_state: int

    def settings(self):
        """Everything on which an audit's numbers depend."""
        return {name: v for name, v in vars(self).items() if name != "n_jobs"}


def points_on(threshold_from, data, points, options):
    """Operating points whose thresholds other data set.

    Parameters
    ----------
    threshold_from : EmbeddingData, PairData or path-like
    data : EmbeddingData or PairData
        The audited data, as which a path is read.
    points : Points
        Their levels.
    options : AuditOptions

    Returns
    -------
    points : Points
    notes : list of str
        Unresolved values, and possible mistakes in the file.
    """
    next_step("setting thresholds on the other data")
    # Groups of the other data matter only if its FAR is over pairs within them.
    attributes = () if points.group is None else points.group[0]
    if options.impostors == "same_group":
        attributes = tuple(data.columns)
    check_one_threshold(options.impostors, attributes, "audit them")
    warnings = []
    try:
        other = _other_data(threshold_from, data, attributes)
        far_max = choose_far_max(other.people().size, points.far)
        with collecting(warnings):
            there = replace(points, far_max=far_max)
            roc = fit(other, attributes, options, there)
            if not roc.n_impostor_[0]:
                problem = "has no pair of two people, so no level of the FMR sets one;"
                remedy = "give data that do, or the threshold."
                raise invalid("threshold_from", threshold_from, problem, remedy)
            threshold = chosen_thresholds(roc, points.far, "overall", points.group)
    except ValueError as error:
        raise reraise_for(error, "threshold_from", threshold_from) from None
    notes = other.notes + notes_of(warnings, data.terms)
    path = None if other.reading is None else other.reading.path
    set_by = {"threshold": threshold, "set_on": "other data", "path": path}
    return replace(points, **set_by), notes


def prepare(data, points, random_state, whole=()):
    """Prepare the data before pairs are compared. Raise if they cannot be audited.

    Parameters
    ----------
    data : EmbeddingData or PairData
    points : Points
    random_state : int
    whole : sequence of EmbeddingData or PairData, default=()
        Data that these are a part of, whose groups count too.

    Returns
    -------
    chosen : list of tuple of str
        Every attribute, then every combination of two, of three and so on. For data without
        attributes an empty one, by which everyone is audited.
    points : Points
        With the FAR up to which pairs are kept.
    """
    names = tuple(data.columns)
    sizes = range(1 if names else 0, len(names) + 1)
    chosen = [attributes for size in sizes for attributes in combinations(names, size)]
    groups = [data.groups(attributes) for attributes in chosen]
    for attributes, group in zip(chosen, groups, strict=True):
        if not attributes:
            continue
        lost = groups_lost_to_failures(failures_of(data.attempts, attributes))
        labels = chain(*(one.groups(attributes).values.tolist() for one in whole))
        labels = dict.fromkeys([*group.values.tolist(), *labels])
        _check_groups([*labels], " & ".join(attributes), lost)
    check_count(random_state, "random_state", 0, 2**32 - 1)
    far_max = choose_far_max(data.people().size, points.far)
    points = replace(points, far_max=far_max, terms=data.terms)
    if points.group is not None:
        setter = _setting_group(points.group, groups, chosen)
        points = replace(points, group=setter)
    return chosen, points


def _setting_group(label, groups, chosen):
    """The attributes that have the group that sets thresholds, and its label."""
    known = [
        (attributes, value)
        for attributes, group in zip(chosen, groups, strict=True)
        for value in group.values.tolist()
    ]
    # A label that was typed is a text.
    found = [one for one in known if str(one[1]) == str(label)]
    if len(found) == 1:
        return found[0]
    problem = f"{shown(label)} is not a group of the data. Its groups: "
    problem += f"{', '.join(dict.fromkeys(repr(value) for _, value in known))}."
    if found:
        names = " and of ".join(" & ".join(attributes) for attributes, _ in found)
        problem = f"{shown(label)} is a group of {names}. Audit one of them."
    raise invalid("threshold_group", label, problem)


def _check_groups(labels, attribute, lost):
    """Raise unless labels make groups that can be compared. ``lost`` explains too few."""
    n_groups = len(labels)
    if n_groups > MAX_GROUPS:
        raise ValueError(
            f"{attribute!r} has {n_groups} groups, and an audit compares at most {MAX_GROUPS}. "
            "Name an attribute that many people share."
        )
    if n_groups < 2:
        known = f"one group, {labels[0]!r}" if n_groups else "no group"
        raise ValueError(
            f"{attribute!r} has {known}, and a disparity compares at least two. Name an "
            f"attribute in which the people differ. {' '.join(lost)}".rstrip()
        )


def check_one_threshold(impostors, attributes, how):
    """Raise if the groups of none or of several attributes were to set one threshold."""
    if impostors == "same_group" and len(attributes) != 1:
        raise invalid(
            "impostors",
            "same_group",
            f"'same_group' sets one threshold by the groups of one attribute, got "
            f"{len(attributes)}:",
            f"{how} one at a time.",
        )


def fit(data, attributes, options, points):
    """A SimilarityROC of the data, ready for the points."""
    roc = SimilarityROC(**vars(options), method="jackknife", far_max=points.far_max)
    lowest = None if points.threshold is None else float(points.threshold.min())
    roc._expected = Expected(equal_error=True, lowest=lowest)
    return data.fit(roc, attributes)


def _other_data(threshold_from, data, attributes):
    """The data that set thresholds, read as the audited ones were if they are a path."""

    def refuse(problem, remedy):
        raise invalid("threshold_from", threshold_from, problem, remedy)

    is_path = isinstance(threshold_from, str | os.PathLike)
    if not is_path:
        check_data(threshold_from)
    elif data.reading is None:
        refuse(
            f"{os.fspath(threshold_from)!r} can only be read as the audited data were, and "
            "these are arrays;",
            "give an EmbeddingData or a PairData, such as read_data reads.",
        )
    kind = type(threshold_from)
    if is_path:
        kind = EmbeddingData if holds_embeddings(threshold_from) else PairData
    if not isinstance(data, kind):
        refuse(
            f"contains {kind.kind}, and the audited data are {data.kind};",
            "give files of one kind, whose scores mean the same.",
        )
    if is_path:
        # Labels and lists are those of the audited file, and metadata give the groups alone.
        own = (
            OPTIONS_OF_PAIRS if kind is PairData else OPTIONS_OF_EMBEDDINGS
        ) + OPTIONS_OF_ALL * bool(attributes)
        options = {name: data.reading.options[name] for name in own} | {"labels": None}
        bands = {name: data.reading.bands.get(name) for name in attributes}
        other = read_data(threshold_from, bands, **options)
        return other if kind is PairData else replace(other, similarity=data.similarity)
    ways = [getattr(part, "similarity", "cosine") for part in (threshold_from, data)]
    if ways[0] is not ways[1] and not ways[0] == ways[1]:
        refuse(
            f"is compared by {ways[0]!r}, and the audited data by {ways[1]!r};",
            "give both one similarity.",
        )
    return threshold_from
