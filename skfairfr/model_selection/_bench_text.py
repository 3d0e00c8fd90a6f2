"""What a bench found, for a person to read: a sentence, and a document of tables."""

import math

import numpy as np

from skfairfr._core._few_errors import holm
from skfairfr._core._rates import on_its_side
from skfairfr.model_selection._bench_fits import METRICS
from skfairfr.utils._document import Cell, Document, Row, Section, Table
from skfairfr.utils._words import level_percent, p_value, percent, printable


def sentence(bench):
    """Whether a method helps, which one does and what it costs.

    Parameters
    ----------
    bench : Bench

    Returns
    -------
    text : str
    """
    name = METRICS[bench.metric].words
    n = len(bench.methods)
    if not n:
        return "No method could be tried."
    if bench.winner is not None:
        method = next(m for m in bench.methods if m.name == bench.winner)
        effect = _effect(method.changes[bench.metric])
        return f"{method.name} {effect} {_cost(method)}.{_beyond(method, bench.metric)}"
    limit = 1 - bench.settings["confidence_level"]
    helping = [m for m in bench.methods if lowers(m, bench.metric, limit)]
    if not helping:
        who = f"None of the {n} methods lowers"
        if n == 1:
            who = f"{bench.methods[0].name} does not lower"
        return (
            f"{who} {name} detectably.{_fewer_rejections(bench, limit)} With these people, a "
            f"fall by a factor of {bench.detectable_factor:.3g} would be seen with probability "
            f".8, a smaller one less often.{_little_to_lower(bench)}"
        )
    method, max_cost = helping[0], bench.settings["max_cost"]
    if method.needs_groups:
        but = "it needs the groups of both images to score a pair"
    elif method.levelling_down:
        but = f"this is levelling down: {method.levelling_down}"
    elif costs_more(method, max_cost):
        but = f"at most {max_cost:g} times the FNMR was allowed"
    else:
        but = f"{name} cannot be compared among methods where a group has no error"
    return (
        f"Only with a reservation does a method help: {method.name} "
        f"{_effect(method.changes[bench.metric])} {_cost(method)}, but {but}."
        f"{_beyond(method, bench.metric)}"
    )


def _fewer_rejections(bench, limit):
    """Where methods surely lower the FNMR of everyone (Holm over methods), the surest."""
    changes = [method.changes["frr_at_far"] for method in bench.methods]
    adjusted = adjusted_p_values(changes)
    found = [
        (change.high, method.name, change)
        for method, change, p in zip(bench.methods, changes, adjusted, strict=True)
        if p <= limit and change.high < 1 and bench.metric != "frr_at_far"
    ]
    if not found:
        return ""
    _, name, change = min(found, key=lambda each: each[0])
    return (
        f" {name} lowers the FNMR from {shown('frr_at_far', change.before)} to "
        f"{shown('frr_at_far', change.after)} ({ratio(change)} times)."
    )


def _little_to_lower(bench):
    """Where a disparity is so small that even its end would often be missed, this."""
    before = bench.methods[0].changes[bench.metric].before
    # A largest over a smallest rate, or over a mean, is 1 at least.
    if METRICS[bench.metric].how is None or not before < bench.detectable_factor:
        return ""
    return (
        f" {METRICS[bench.metric].words} was {shown(bench.metric, before)} and cannot fall below 1, so "
        "that these people can hardly show that a method helps."
    )


def adjusted_p_values(changes):
    """P-values of one family (Holm); an undefined one counts as 1."""
    return holm(np.nan_to_num([change.p_value for change in changes], nan=1.0))


def lowers(method, metric, limit):
    """Whether a method surely lowers a metric: by its adjusted p-value and its interval."""
    return method.p_adjusted <= limit and method.changes[metric].high < 1


def costs_more(method, max_cost):
    """Whether the FNMR of everyone exceeds that of nothing by more than this factor."""
    frr = method.changes["frr_at_far"]
    return max_cost is not None and not frr.after <= max_cost * frr.before


def _effect(change):
    return (
        f"lowers {METRICS[change.metric].words} from {shown(change.metric, change.before)} "
        f"to {shown(change.metric, change.after)} ({ratio(change)} times)"
    )


def _cost(method):
    """What happens to the FNMR of everyone, and whether other attributes are harmed."""
    frr = method.changes["frr_at_far"]
    fell = f"from {percent(frr.before)} to {percent(frr.after)} ({ratio(frr)} times)"
    text = f"at no detectable cost (FNMR {ratio(frr)} times)"
    if frr.low > 1:
        text = f"at a cost: the FNMR rises {fell}"
    elif frr.high < 1:
        text = f"and the FNMR, too, {fell}"
    if method.harmed:
        text += (
            f", and makes disparities by {', '.join(map(str, method.harmed))} larger"
        )
    return text


def _beyond(method, metric):
    """What a trained head does against one trained without regard to groups."""
    said = [
        f"{ratio(found.changes[metric])} times that of a {found.control}"
        for found in method.controls
    ]
    return f" Its {METRICS[metric].words} is {' and '.join(said)}." if said else ""


def document_of(bench):
    """A Bench as a document.

    Parameters
    ----------
    bench : Bench

    Returns
    -------
    document : Document
    """
    settings, named = bench.settings, ", ".join(map(printable, bench.groups))
    title = f"Bench of {len(bench.methods)} methods by {printable(bench.attribute)} ({named})"
    about = (
        f"{bench.n_images:,} images of {bench.n_people:,} people, {settings['n_splits']} "
        f"splits, FMR {level_percent(settings['far'])}."
    )
    if bench.before:
        values = (f"{METRICS[m].words} {shown(m, v)}" for m, v in bench.before.items())
        about += f" With nothing: {', '.join(values)}."
    out = [f"{printable(name)}: {printable(why)}" for name, why in bench.left_out]
    notes = [printable(note) for note in bench.notes]
    sections = [
        Section("verdict", "What was found", [bench.sentence]),
        Section("effects", "What each method does", _effects(bench)),
        Section("controls", "Against heads without regard to groups", _controls(bench)),
        Section("needs", "What each method needs", _needs(bench)),
        Section("out", "Without a result", [out]),
        Section("notes", "Notes", [notes]),
        Section("reading", "How to read this", [_reading(bench)]),
    ]
    return Document(title, about, sections)


def _effects(bench):
    """The table of ratios, the surest gain first."""
    metrics = dict.fromkeys((bench.metric, "frr_at_far", "bfar", "bfrr"))
    first, *others = [m for m in metrics if m in METRICS][:3]
    heads = [f"{METRICS[m].words} after/before" for m in (first, *others)]
    head = ["method", METRICS[first].words, heads[0], "p", "adjusted p", *heads[1:]]
    rows = []
    for method in bench.methods:
        change = method.changes[first]
        cells = [shown(first, change.after), ratio(change), p_value(change.p_value)]
        cells += [p_value(method.p_adjusted)]
        rows.append([method.name, *cells, *(ratio(method.changes[m]) for m in others)])
    return _table(head, rows)


def _controls(bench):
    """The table of trained heads against those trained without regard to groups."""
    rows = []
    for method in bench.methods:
        for found in method.controls:
            change = found.changes[bench.metric]
            cells = [found.control, ratio(change), p_value(change.p_value)]
            cells += [p_value(found.p_adjusted), ratio(found.changes["frr_at_far"])]
            rows.append([method.name, *cells])
    head = ["method", "against a", f"{METRICS[bench.metric].words} after/before"]
    head += ["p", "adjusted p", "FNMR after/before"]
    return _table(head, rows)


def _needs(bench):
    """The table of costs and of what a reader should be warned of."""
    rows = []
    for method in bench.methods:
        remarks = []
        if method.needs_groups:
            remarks.append("needs groups to score")
        if method.levelling_down:
            remarks.append(f"levelling down: {method.levelling_down}")
        if costs_more(method, bench.settings["max_cost"]):
            remarks.append(f"over {bench.settings['max_cost']:g} times the FNMR")
        if method.harmed:
            harmed = ", ".join(map(printable, method.harmed))
            remarks.append(f"larger disparity by {harmed}")
        frr = {g.group: g.low > 1 for g in method.groups if g.rate == "frr"}
        if frr and all(frr.values()):
            remarks.append("every group's FNMR rises")
        elif any(frr.values()):
            rises = ", ".join(printable(group) for group, rose in frr.items() if rose)
            remarks.append(f"FNMR of {rises} rises")
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
        "BFAR, BFRR: largest over smallest FMR (FNMR) of the groups, 1 where they are equal, "
        "at the threshold where no group's FMR exceeds the level; FNMR: that of everyone, at "
        "the threshold of the overall FMR. Smaller is better for all.",
        "after/before is a method over doing nothing, with its "
        f"{level:g} % interval for other people. Rows are sorted by the upper end of the "
        f"first: the surest gain stands first. p is of {name} and goes with its interval, "
        "each on its own; the adjusted p allows for the number of methods (Holm).",
        "Everybody was judged by systems that were fitted, and whose parameters were "
        f"chosen, on other people. The FMR rests on pairs within a split: 1 / "
        f"{settings['n_splits']} of all.",
    ]
    if any(method.controls for method in bench.methods):
        texts.append(
            "The plain head and the margin head are trained without regard to groups. Where a "
            "head does not differ from them, its gain is that of training a head. Its adjusted p "
            "against them is of a family of its own: all comparisons with the two (Holm)."
        )
    if settings["max_cost"] is not None:
        texts.append(
            f"A method wins only if its FNMR is at most {settings['max_cost']:g} times that "
            "of doing nothing."
        )
    changes = [m.changes[bench.metric] for m in bench.methods]
    if not all(math.isfinite(v) for c in changes for v in (c.before, c.after, c.ratio)):
        texts.append(
            f"{name} is inf or undefined where a group has no error. Intervals and adjusted p are "
            "of rates with half an error more, which no group lacks."
        )
    if not math.isnan(bench.detectable_factor):
        texts.append(
            f"With these people, {name} has to fall by a factor of "
            f"{bench.detectable_factor:.3g} to be seen to fall with probability .8: this "
            "is of the method with the median error; one that changes little has a smaller "
            "error."
        )
    return texts


# ---- words ---------------------------------------------------------------------------


def shown(metric, value):
    """A rate in percent, or a disparity, with three significant digits."""
    if math.isnan(value):
        return "undefined"
    return percent(value) if METRICS[metric].how is None else f"{value:.3g}"


def ratio(change):
    """``0.43 [0.30, 0.61]``, or that there is none."""
    if math.isnan(change.low):
        return "undefined"
    ends = (on_its_side(_end, v, 1.0, 3) for v in (change.low, change.high))
    value = "undefined" if math.isnan(change.ratio) else f"{change.ratio:.2f}"
    return f"{value} [{', '.join(ends)}]"


def _end(value, digits):
    return f"{value:.{digits - 1}f}" if value < 99.995 else f"{value:.{digits}g}"
