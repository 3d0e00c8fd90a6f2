"""Text of a bench: rules for when a method lowers a disparity and wins, its sentence, its tables."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from skfairfr._core._jackknife import holm
from skfairfr._core._kinds import COMPARISONS
from skfairfr._core._rates import on_its_side
from skfairfr._core._support import MIN_ERRORS
from skfairfr._text._document import Cell, Document, Row, Section, Table
from skfairfr._text._words import (
    TOO_FEW,
    level_percent,
    listed,
    p_value,
    percent,
    plural,
    printable,
)
from skfairfr.model_selection._bench_fits import COST, METRICS
from skfairfr.model_selection._mitigations import CONTROLS
from skfairfr.model_selection._trade_off import BestTradeOff

# Probability with which an effect of the detectable factor would be seen.
POWER = 0.8


def with_adjusted_p(results, metric):
    """Results with p-values of one family (Holm). An undefined one counts as 1."""
    p_values = [result.changes[metric].p_value for result in results]
    adjusted = holm(np.nan_to_num(p_values, nan=1.0)).tolist()
    return [replace(r, p_adjusted=p) for r, p in zip(results, adjusted, strict=True)]


def levelling_down(changes, own_threshold):
    """How a disparity fell without a gain for any group, in words, or empty if it did not.

    Not empty if the interval of BFAR's or BFRR's ratio ends below 1, the FRR of every group
    at its own threshold is higher as counted, and the interval of one begins above 1. Shared
    thresholds would not show this: at a fixed overall FAR that of some group falls whenever
    BFAR does.
    """
    fell = [METRICS[m].words for m in ("bfar", "bfrr") if changes[m].high < 1]
    rose = all(g.ratio > 1 for g in own_threshold) and any(
        g.low > 1 for g in own_threshold
    )
    if not fell or not rose:
        return ""
    return f"{' and '.join(fell)} fell, and no group's own-threshold FNMR did"


def find_winner(judged, metrics, confidence_level, max_cost):
    """The best compromise among the methods that surely lower the first metric."""
    helping = [
        method
        for method in judged
        if lowers(method, metrics[0], 1 - confidence_level)
        and not reservation(method, max_cost)
    ]
    values = {
        f"mean_test_{name}": [-m.changes[name].after for m in helping]
        for name in metrics
    }
    if not np.isfinite(list(values.values())).all(axis=0).any():
        return None
    return helping[BestTradeOff(metrics)(values)].name


def detectable_factor(judged, metric, confidence_level):
    """The factor that a method with the median error would need."""
    errors = [e for m in judged if (e := m.changes[metric].log_error) > 0]
    if not errors:
        return float("nan")
    tail = (1 - confidence_level) / (2 * len(judged))
    return float(np.exp((ndtri(1 - tail) + ndtri(POWER)) * np.median(errors)))


def reservation(method, max_cost):
    """Why a method that lowers a disparity cannot win, or empty if it can."""
    why = []
    if method.needs_groups:
        why.append("it needs the groups of both images to score a pair")
    if method.levelling_down:
        why.append(f"this is levelling down: {method.levelling_down}")
    if max_cost is not None and math.isnan(method.changes[COST].ratio):
        why.append("no error shows whether it keeps the FNMR that was allowed")
    elif costs_more(method, max_cost):
        why.append(f"at most {max_cost:g} times the FNMR was allowed")
    return "; ".join(why)


def is_detectable(change, limit):
    """Whether a disparity before is larger than with equal groups. True of a rate."""
    return math.isnan(change.p_before) or change.p_before <= limit


def lowers(method, metric, limit):
    """Whether a method surely lowers a metric: by its adjusted p-value and its interval.

    A disparity that is no larger than chance makes it cannot be shown to fall.
    """
    change = method.changes[metric]
    is_lower = method.p_adjusted <= limit and change.high < 1
    return is_lower and math.isfinite(change.after) and is_detectable(change, limit)


def costs_more(method, max_cost):
    """Whether the FNMR of everyone exceeds that of nothing by more than this factor."""
    frr = method.changes["frr_at_far"]
    return max_cost is not None and not frr.after <= max_cost * frr.before


# ---- text ----------------------------------------------------------------------------


# FNMR of everyone above which the scores do not serve to compare people.
MOST_REJECTED = 0.5
SAME_COST = "noise at the same FNMR"
# Groups whose own thresholds have a column each.
MOST_GROUPS = 4


def sentence_of(bench):
    """Whether a method helps, which one does and what it costs."""
    name, n = METRICS[bench.metric].words, len(bench.methods)
    if not n:
        return "No method could be tried."
    limit = 1 - bench.settings["confidence_level"]
    won = [m for m in bench.methods if m.name == bench.winner]
    helping = won or [m for m in bench.methods if lowers(m, bench.metric, limit)]
    if not helping:
        who = f"None of the {n} methods lowers"
        if n == 1:
            who = f"{bench.methods[0].name} does not lower"
        return (
            f"{who} {name} detectably.{_fewer_rejections(bench, limit)} With these people, a "
            f"fall by a factor of {bench.detectable_factor:.3g} would be seen with probability "
            f"0.8, a smaller one less often.{_little_to_lower(bench)}{_other(bench, limit)}"
        )
    method, start, but = helping[0], "", ""
    if not won:
        start = "No method wins. "
        why = reservation(method, bench.settings["max_cost"]) or (
            f"{name} cannot be compared among methods if a group has no error"
        )
        but = f", but {why}"
    effect = f"lowers {name} {_fall(method.changes[bench.metric])}"
    beyond = [
        f"{_ratio(found.changes[bench.metric])} times that of {_control_words(found)}"
        for found in method.controls
    ]
    beyond = f" Its {name} is {listed(beyond)}." if beyond else ""
    return f"{start}{method.name} {effect} {_cost(method, bench.metric)}{but}.{beyond}"


def _by_group(bench):
    """Rates of each group at the threshold of everyone, with nothing and with the winner."""
    if not bench.methods:
        return ""
    won = [m for m in bench.methods if m.name == bench.winner]
    method = (won or bench.methods)[0]
    texts = []
    for rate in ("far", "frr"):
        own = [g for g in method.groups if g.rate == rate]
        if len(own) > MOST_GROUPS:
            own = sorted(own, key=lambda g: g.before)[:: len(own) - 1]
        rates = [
            f"{printable(g.group)} {percent(g.before)}"
            + (f" to {percent(g.after)}" if won else "")
            for g in own
        ]
        texts.append(f"{COMPARISONS[rate].name} of {listed(rates)}")
    start = f"From nothing to {printable(method.name)}" if won else "With nothing"
    return f"{start}, at the threshold of everyone: {'; '.join(texts)}."


def _other(bench, limit):
    """That the disparity of the other rate is there to be lowered, if it is."""
    other = "bfrr" if bench.metric == "bfar" else "bfar"
    change = bench.methods[0].changes[other]
    if bench.metric not in ("bfar", "bfrr") or not change.p_before <= limit:
        return ""
    words, shown = METRICS[other].words, _shown(other, change.before)
    if math.isinf(change.before):
        shown = "infinite, since a group has no error"
    return (
        f" {words} was {shown}, which is detectably more than with equal "
        f"groups: --metric {other} looks for what lowers it."
    )


def _fewer_rejections(bench, limit):
    """Where methods surely lower the FNMR of everyone (Holm over methods), the surest."""
    frr = "frr_at_far"
    found = [m for m in with_adjusted_p(bench.methods, frr) if lowers(m, frr, limit)]
    if not found or bench.metric == frr:
        return ""
    method = min(found, key=lambda each: each.changes[frr].high)
    return f" {method.name} lowers the FNMR {_fall(method.changes[frr])}."


def _little_to_lower(bench):
    """If a disparity is so small that even its end would often be missed, this."""
    change = max(
        (m.changes[bench.metric] for m in bench.methods), key=lambda c: c.errors
    )
    before = change.before
    if not is_detectable(change, 1 - bench.settings["confidence_level"]):
        return (
            f" {METRICS[bench.metric].words} was {_shown(bench.metric, before)}, which is not "
            f"detectably more than with equal groups (p {p_value(change.p_before)})."
        )
    # A largest over a smallest rate, or over a mean, is 1 at least.
    if METRICS[bench.metric].how is None or not before < bench.detectable_factor:
        return ""
    return (
        f" {METRICS[bench.metric].words} was {_shown(bench.metric, before)} and cannot fall below 1: "
        "these people would often not show even a fall to 1."
    )


def _fall(change):
    values = (_shown(change.metric, v) for v in (change.before, change.after))
    return f"from {' to '.join(values)} ({_ratio(change)} times)"


def _control_words(found):
    """A control in a sentence."""
    return f"a {found.control}" if found.control in CONTROLS else SAME_COST


def _cost(method, metric):
    """Changes of the FNMR of everyone, of the other disparity and of other attributes."""
    names = [name for name in (COST, "bfar", "bfrr") if name != metric]
    words = {name: METRICS[name].words for name in names}
    changes = {name: method.changes[name] for name in names}
    rising = {
        name: [g for g in method.groups if g.rate == METRICS[name].rate and g.low > 1]
        for name, change in changes.items()
        if change.low > 1
    }
    fall = [f"{words[n]} {_fall(c)}" for n, c in changes.items() if c.high < 1]
    if rising:
        rises = (
            f"{words[n]} rises {_fall(changes[n])}{_of_groups(n, groups)}"
            for n, groups in rising.items()
        )
        is_cost = COST in rising or any(rising.values())
        text = f"{'at a cost:' if is_cost else 'but'} {listed([*rises])}"
    elif fall:
        text = f"and also {listed(fall)}"
    else:
        ratios = (f"{words[n]} {_ratio(c)} times" for n, c in changes.items())
        seen = "no detectable cost"
        if math.isnan(changes.get(COST, method.changes[metric]).ratio):
            seen = "a cost that these people cannot show"
        text = f"at {seen} ({', '.join(ratios)})"
    if method.harmed:
        text += f", and makes disparities by {', '.join(method.harmed)} larger"
    return text


def _of_groups(name, rising):
    """The groups whose rate rises with a disparity, or that none does."""
    if METRICS[name].how is None:
        return ""
    kind, at = COMPARISONS[METRICS[name].rate].name, "at the threshold of everyone"
    if not rising:
        return f", while the {kind} of no group rises detectably {at}"
    groups = [f"{printable(g.group)} {_ratio(g)} times" for g in rising]
    return f", with the {kind} of {listed(groups)} {at}"


def document_of(bench):
    """A Bench as a Document."""
    settings, named = bench.settings, ", ".join(map(printable, bench.groups))
    methods = plural(len(bench.methods), "method")
    title = f"Bench of {methods} by {printable(bench.attribute)} ({named})"
    about = (
        f"{bench.n_images:,} images of {bench.n_people:,} people, {settings['n_splits']} "
        f"splits, FMR {level_percent(settings['far'])}."
    )
    if bench.before:
        values = (f"{METRICS[m].words} {_shown(m, v)}" for m, v in bench.before.items())
        about += f" With nothing: {', '.join(values)}."
        if bench.before[COST] > MOST_REJECTED:
            about += " The scores hardly separate people, whatever the groups."
    out = [f"{printable(name)}: {printable(why)}" for name, why in bench.left_out]
    # Estimators warn in Python's names of the rates.
    notes = [
        re.sub(r"\bFRR\b", "FNMR", re.sub(r"\bFAR\b", "FMR", printable(note)))
        for note in bench.notes
    ]
    sections = [
        Section("verdict", "What was found", [bench.sentence, _by_group(bench)]),
        Section("effects", "What each method does", _effects(bench)),
        Section(
            "controls", "Against controls without regard to groups", _controls(bench)
        ),
        Section("own", "With a threshold for each group", _own_threshold(bench)),
        Section("needs", "What each method needs", _needs(bench)),
        Section("out", "Without a result", [out]),
        Section("notes", "Notes", [notes]),
        Section("reading", "How to read this", [_reading(bench)]),
    ]
    return Document(title, about, sections)


def _effects(bench):
    """The table of ratios, the surest gain first."""
    metrics = dict.fromkeys((bench.metric, "frr_at_far", "bfar", "bfrr"))
    first, *others = list(metrics)[:3]
    heads = [f"{METRICS[m].words} after/before" for m in (first, *others)]
    head = ["method", METRICS[first].words, heads[0], "p", "adjusted p", *heads[1:]]
    with_cllr = _has_cllr(bench)
    head += ["Cllr (min)"] * with_cllr
    rows = []
    for method in bench.methods:
        change = method.changes[first]
        cells = [_shown(first, change.after), _marked(change), p_value(change.p_value)]
        cells += [p_value(method.p_adjusted)]
        cells += [_marked(method.changes[m]) for m in others]
        cllr = f"{method.cllr:.3f} ({method.min_cllr:.3f})"
        cells += ["" if math.isnan(method.cllr) else cllr] * with_cllr
        rows.append([method.name, *cells])
    return _table(head, rows)


def _has_cllr(bench):
    """Whether the scores of a method are log-likelihood ratios."""
    return any(not math.isnan(method.cllr) for method in bench.methods)


def _controls(bench):
    """The table of trained heads against those trained without regard to groups."""
    rows = []
    for method in bench.methods:
        for found in method.controls:
            change = found.changes[bench.metric]
            cells = [found.control, _ratio(change), p_value(change.p_value)]
            cells += [p_value(found.p_adjusted), _ratio(found.changes[COST])]
            rows.append([method.name, *cells])
    head = ["method", "against", f"{METRICS[bench.metric].words} method/control"]
    head += ["p", "adjusted p", "FNMR method/control"]
    return _table(head, rows)


def _own_threshold(bench):
    """The table of the groups' FNMR if each has its own threshold, and of their ratio."""
    gap, rows = "own_threshold_gap", []
    for method in bench.methods:
        change = method.changes[gap]
        cells = [_shown(gap, change.after), _ratio(change)]
        rows.append([method.name, *cells, *map(_ratio, method.own_threshold)])
    words = METRICS[gap].words
    head = ["method", words, f"{words} after/before"]
    head += [f"own-threshold FNMR of {printable(group)}" for group in bench.groups]
    return _table(head, rows) if len(bench.groups) <= MOST_GROUPS else []


def _needs(bench):
    """The table of costs and of what a reader should be warned of."""
    rows = []
    for method in bench.methods:
        remarks = []
        if method.needs_groups:
            remarks.append("needs groups to score")
        if method.changes[COST].after == 1:
            remarks.append(
                "accepts no pair, as if all scores were equal: BFAR is undefined"
            )
        if method.levelling_down:
            remarks.append(f"levelling down: {method.levelling_down}")
        if costs_more(method, bench.settings["max_cost"]):
            remarks.append(f"over {bench.settings['max_cost']:g} times the FNMR")
        if method.harmed:
            harmed = ", ".join(map(printable, method.harmed))
            remarks.append(f"larger disparity by {harmed}")
        frr = [g for g in method.groups if g.rate == "frr"]
        remarks += [
            f"FNMR of {printable(g.group)} {_ratio(g)} times" for g in frr if g.low > 1
        ]
        needs = [f"{method.seconds:.2g}", f"{method.n_numbers:,}", "; ".join(remarks)]
        rows.append([method.name, *needs])
    return _table(["method", "s a fit", "numbers kept", "remarks"], rows)


def _table(head, rows):
    """A table of texts, the name of a method first."""
    made = [Row(printable(name), [Cell(text) for text in row]) for name, *row in rows]
    return [Table("", head, made)]


def _reading(bench):
    settings = bench.settings
    level = 100 * settings["confidence_level"]
    name = METRICS[bench.metric].words
    texts = [
        "BFAR, BFRR: largest over smallest FMR (FNMR) of the groups, 1 if they are equal, "
        "at the threshold at which no group's FMR exceeds the level. FNMR: that of everyone, at "
        "the threshold of the overall FMR. Smaller is better for all.",
        "Own-threshold gap: largest over smallest FNMR of the groups if each has its own "
        "threshold at the level. A method that only shifts a group's scores does not change it. "
        "A gap that stays shows a difference of the encoder that no threshold repairs.",
        "after/before is a method over doing nothing, with its "
        f"{level:g} % interval for new people. Rows are sorted by the upper end of the "
        f"first: the surest gain is first. p is of {name} and goes with its interval, "
        "each on its own. The adjusted p allows for the number of methods (Holm).",
        "Everybody was judged by systems that were fitted, and whose parameters were "
        f"chosen, on different people. The FMR rests on pairs within a split: 1 / "
        f"{settings['n_splits']} of all.",
    ]
    if _has_cllr(bench):
        texts.append(
            "Cllr: cost of scores that are log-likelihood ratios, in bits, over all pairs of a split "
            "(mean over splits). Scores of 0 have 1. In parentheses: what the best increasing map of "
            "the scores would leave."
        )
    if any(method.needs_groups for method in bench.methods):
        texts.append(
            "Shifts of groups are fitted to the other splits of the same people. Over all splits "
            "they undo what chance made of a disparity: for new people it is larger than shown."
        )
    if any(method.controls for method in bench.methods):
        texts.append(
            "The plain head and the margin head are trained without regard to groups: a head that "
            "does not differ from them has the gain of training a head. Noise is added to all "
            "images until everyone's FNMR is that of the method: it lowers a disparity by more "
            "errors of every group. The adjusted p against controls is of one family: all these "
            "comparisons (Holm)."
        )
    wins = "A method is levelling down if a disparity falls while the own-threshold FNMR of every "
    wins += "group is higher, of one at least detectably. It does not win."
    if settings["max_cost"] is not None:
        wins += f" Neither does a method whose FNMR is over {settings['max_cost']:g} times that of "
        wins += "doing nothing."
    wins += " FNMRs of groups among the remarks are at the threshold of everyone, after/before."
    texts.append(wins)
    changes = [m.changes[bench.metric] for m in bench.methods]
    if not all(math.isfinite(v) for c in changes for v in (c.before, c.after, c.ratio)):
        texts.append(
            f"{name} is inf or undefined where a group has no error. Intervals and adjusted p are "
            "of rates with half an error more, which no group lacks."
        )
    if not math.isnan(bench.detectable_factor):
        texts.append(
            f"With these people, {name} has to fall by a factor of "
            f"{bench.detectable_factor:.3g} to be seen to fall with probability 0.8, by a "
            "method whose standard error is the median of those tried."
        )
    return texts


# ---- words ---------------------------------------------------------------------------


def _shown(metric, value):
    """A rate in percent, or a disparity, with three significant digits."""
    if math.isnan(value):
        return "undefined"
    return percent(value) if METRICS[metric].how is None else f"{value:.3g}"


def _ratio(change):
    """``0.43 [0.30, 0.61]``, or that there is none."""
    if math.isnan(change.low):
        return "undefined"
    ends = (on_its_side(_end, v, 1.0, 3) for v in (change.low, change.high))
    value = "undefined" if math.isnan(change.ratio) else f"{change.ratio:.2f}"
    return f"{value} [{', '.join(ends)}]"


def _marked(change):
    """The same, with a mark if a rate rests on too few errors."""
    few = f", {TOO_FEW}" if change.errors < MIN_ERRORS else ""
    return f"{_ratio(change)}{few}"


def _end(value, digits):
    return f"{value:.{digits - 1}f}" if value < 99.995 else f"{value:.{digits}g}"
