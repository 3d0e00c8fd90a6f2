"""What a bench found, for a person to read: a sentence, and tables of at most 100 columns."""

import math
import textwrap

from skfairfr._core._rates import on_its_side, p_in_digits
from skfairfr.model_selection._held_out import METRICS

WIDTH = 100
NAME_WIDTH = 19


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
    helping = [m for m in bench.methods if _helps(m, bench)]
    limit = (
        "With these people, a fall by a factor of "
        f"{number(bench.detectable_factor)} would be seen with probability .8, a smaller "
        f"one less often.{_little_to_lower(bench)}"
    )
    if not helping:
        if n == 1:
            return f"{bench.methods[0].name} does not lower {name} detectably. {limit}"
        return f"None of the {n} methods lowers {name} detectably. {limit}"
    method, max_cost = helping[0], bench.settings.get("max_cost")
    if method.needs_groups:
        but = "it needs the groups of both images to score a pair"
    elif method.levelling_down:
        but = f"this is levelling down: {method.levelling_down}"
    elif costs_more(method, max_cost):
        but = f"at most {max_cost:g} times the FRR was allowed"
    else:
        but = f"{name} cannot be compared among methods where a group has no error"
    return (
        f"Only with a reservation does a method help: {method.name} "
        f"{_effect(method.changes[bench.metric])} {_cost(method)}, but {but}."
        f"{_beyond(method, bench.metric)}"
    )


def _little_to_lower(bench):
    """Where a disparity is so small that even its end would often be missed, this."""
    before = bench.methods[0].changes[bench.metric].before
    # A largest over a smallest rate, or over a mean, is 1 at least.
    if METRICS[bench.metric].how is None or not before < bench.detectable_factor:
        return ""
    return (
        f" {METRICS[bench.metric].words} was {number(before)} and cannot fall below 1, so "
        "that these people can hardly show that a method helps."
    )


def _helps(method, bench):
    limit = 1 - bench.settings["confidence_level"]
    return method.p_adjusted <= limit and method.changes[bench.metric].high < 1


def costs_more(method, max_cost):
    """Whether the FRR of everyone exceeds that of nothing by more than this factor."""
    frr = method.changes["frr_at_far"]
    return max_cost is not None and not frr.after <= max_cost * frr.before


def _effect(change):
    return (
        f"lowers {METRICS[change.metric].words} from {number(change.before)} to "
        f"{number(change.after)} ({ratio(change)} times)"
    )


def _cost(method):
    """What happens to the FRR of everyone, and whether other attributes are harmed."""
    frr = method.changes["frr_at_far"]
    if frr.low > 1:
        text = (
            f"at a cost: the FRR rises from {number(frr.before)} to {number(frr.after)} "
            f"({ratio(frr)} times)"
        )
    elif frr.high < 1:
        text = (
            f"and the FRR, too, from {number(frr.before)} to {number(frr.after)} "
            f"({ratio(frr)} times)"
        )
    else:
        text = f"at no detectable cost (FRR {ratio(frr)} times)"
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


def to_text(bench):
    """Render a Bench.

    Parameters
    ----------
    bench : Bench

    Returns
    -------
    text : str
    """
    settings = bench.settings
    groups = ", ".join(map(_shown, bench.groups))
    head = (
        f"Bench of {len(bench.methods)} methods by {_shown(bench.attribute)} ({groups})"
    )
    values = ", ".join(
        f"{METRICS[m].words} {number(v)}" for m, v in bench.before.items()
    )
    about = (
        f"{bench.n_images:,} images of {bench.n_people:,} people, {settings['n_splits']} "
        f"splits, FAR {settings['far']:g}."
        + (f" With nothing: {values}." if values else "")
    )
    parts = [
        [*_title(head, "="), *_wrapped(about), "", *_wrapped(bench.sentence)],
        _effects(bench),
        _against_controls(bench),
        _needs(bench),
    ]
    if bench.left_out:
        listed = [f"{_shown(name)}: {_shown(why)}" for name, why in bench.left_out]
        parts.append([*_title("Without a result"), *_bullets(listed)])
    if bench.notes:
        parts.append([*_title("Notes"), *_bullets(map(_shown, bench.notes))])
    parts.append([*_title("How to read this"), *_bullets(_reading(bench))])
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _effects(bench):
    """The table of ratios, the surest gain first."""
    if not bench.methods:
        return []
    metrics = dict.fromkeys((bench.metric, "frr_at_far", "bfar", "bfrr"))
    shown = [m for m in metrics if m in METRICS][:3]
    heads = [f"{METRICS[m].words} after/before" for m in shown]
    rows = [
        ["method", METRICS[bench.metric].words, heads[0], "p (adjusted)", *heads[1:]]
    ]
    for method in bench.methods:
        change = method.changes[bench.metric]
        cells = [ratio(method.changes[m]) for m in shown]
        rows.append(
            [
                _short(method.name),
                number(change.after),
                cells[0],
                _both_p(change, method.p_adjusted),
                *cells[1:],
            ]
        )
    return _table(rows, (NAME_WIDTH, 5, 18, 14, 18, 18))


def _against_controls(bench):
    """The table of trained heads against those trained without regard to groups."""
    rows = []
    for method in bench.methods:
        for found in method.controls:
            shown = (ratio(found.changes[m]) for m in (bench.metric, "frr_at_far"))
            effect, cost = shown
            p = _both_p(found.changes[bench.metric], found.p_adjusted)
            rows.append([_short(method.name), found.control, effect, p, cost])
    if not rows:
        return []
    name = METRICS[bench.metric].words
    heads = ["method", "against a", f"{name} after/before", "p (adjusted)"]
    rows.insert(0, [*heads, "FRR after/before"])
    return _table(rows, (NAME_WIDTH, 12, 21, 15, 21))


def _needs(bench):
    """The table of costs and of what a reader should be warned of."""
    if not bench.methods:
        return []
    rows = [["method", "s a fit", "numbers kept", "remarks"]]
    for method in bench.methods:
        remarks = []
        if method.needs_groups:
            remarks.append("needs groups to score")
        if method.levelling_down:
            remarks.append(f"levelling down: {method.levelling_down}")
        if costs_more(method, bench.settings.get("max_cost")):
            remarks.append(f"over {bench.settings.get('max_cost'):g} times the FRR")
        if method.harmed:
            remarks.append(
                f"larger disparity by {', '.join(map(_shown, method.harmed))}"
            )
        frr = {g.group: g.low > 1 for g in method.groups if g.rate == "frr"}
        if frr and all(frr.values()):
            remarks.append("every group's FRR rises")
        elif any(frr.values()):
            rises = ", ".join(_shown(group) for group, rose in frr.items() if rose)
            remarks.append(f"FRR of {rises} rises")
        seconds, kept = f"{method.seconds:.2g}", f"{method.n_numbers:,}"
        lines = textwrap.wrap("; ".join(remarks), WIDTH - 45) or [""]
        rows.append([_short(method.name), seconds, kept, lines[0]])
        rows += [["", "", "", line] for line in lines[1:]]
    return _table(rows, (NAME_WIDTH, 8, 13, WIDTH - 45))


def _reading(bench):
    settings = bench.settings
    level = 100 * settings["confidence_level"]
    name = METRICS[bench.metric].words
    texts = [
        "BFAR, BFRR: largest over smallest FAR (FRR) of the groups, 1 where they are equal, "
        "at the threshold where no group's FAR exceeds the level; FRR: that of everyone, at "
        "the threshold of the overall FAR. Smaller is better for all.",
        "after/before is a method over doing nothing, with its "
        f"{level:g} % interval for other people. Rows are sorted by the upper end of the "
        f"first: the surest gain stands first. p is of {name} and goes with its interval, "
        "each on its own; in parentheses it is adjusted for the number of methods (Holm).",
        "Everybody was judged by systems that were fitted, and whose parameters were "
        f"chosen, on other people. The FAR rests on pairs within a split: 1 / "
        f"{settings['n_splits']} of all.",
    ]
    if any(method.controls for method in bench.methods):
        texts.append(
            "The plain head and the margin head are trained without regard to groups. Where a "
            "head does not differ from them, its gain is that of training a head. Its adj. p "
            "against them is of a family of its own: all comparisons with the two (Holm)."
        )
    if settings.get("max_cost") is not None:
        texts.append(
            f"A method wins only if its FRR is at most {settings['max_cost']:g} times that "
            "of doing nothing."
        )
    changes = [m.changes[bench.metric] for m in bench.methods]
    if not all(math.isfinite(v) for c in changes for v in (c.before, c.after, c.ratio)):
        texts.append(
            f"{name} is inf or undefined where a group has no error. Intervals and adj. p are "
            "of rates with half an error more, which no group lacks."
        )
    if not math.isnan(bench.detectable_factor):
        texts.append(
            f"With these people, {name} has to fall by a factor of "
            f"{number(bench.detectable_factor)} to be seen to fall with probability .8: this "
            "is of the method with the median error; one that changes little has a smaller "
            "error."
        )
    return texts


# ---- words ---------------------------------------------------------------------------


def number(value):
    """Three significant digits."""
    if math.isnan(value):
        return "undefined"
    return f"{value:.3g}"


def ratio(change):
    """``0.43 [0.30, 0.61]``, or that there is none."""
    if math.isnan(change.low):
        return "undefined"
    shown = (on_its_side(_end, v, 1.0, 3) for v in (change.low, change.high))
    value = "undefined" if math.isnan(change.ratio) else f"{change.ratio:.2f}"
    return f"{value} [{', '.join(shown)}]"


def _end(value, digits):
    return f"{value:.{digits - 1}f}" if value < 99.995 else f"{value:.{digits}g}"


def _both_p(change, adjusted):
    """A p-value on its own, as its interval is, and adjusted."""
    own, all_methods = (
        "<.001" if p < 1e-3 else p_in_digits(p) for p in (change.p_value, adjusted)
    )
    return f"{own} ({all_methods})"


def _shown(label):
    """A label as text in which nothing moves the cursor."""
    return "".join(c if c.isprintable() else "?" for c in str(label))


def _short(name):
    text = _shown(name)
    return text if len(text) < NAME_WIDTH else f"{text[: NAME_WIDTH - 4]}.."


def _title(text, underline="-"):
    lines = textwrap.wrap(text, WIDTH)
    return [*lines, underline * len(lines[-1])]


def _wrapped(text):
    return textwrap.wrap(text, WIDTH)


def _bullets(texts):
    options = {"initial_indent": "- ", "subsequent_indent": "  "}
    return [line for text in texts for line in textwrap.wrap(text, WIDTH, **options)]


def _table(rows, widths):
    """Columns, aligned to the left."""
    return [
        " ".join(c.ljust(w) for c, w in zip(row, widths, strict=False)).rstrip()
        for row in rows
    ]
