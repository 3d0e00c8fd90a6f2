"""A comparison of systems as lines for a terminal, the conclusion first."""

from itertools import groupby

from skfairfr._core._rates import p_in_digits
from skfairfr.report._text_layout import (
    LABEL_WIDTH,
    RATE_NAMES,
    UNSUPPORTED,
    bullets,
    factor,
    given_point,
    interval,
    label,
    number,
    paragraph,
    printable,
    short,
    table,
    title,
    withheld,
)

CHANGE_WIDTHS = (LABEL_WIDTH + 2, -11, -11, 36, -16)
DISPARITY_WIDTHS = (LABEL_WIDTH + 2, -12, -12, 38)


def to_text(found):
    """Render a SystemsComparison for a person to read.

    Parameters
    ----------
    found : SystemsComparison

    Returns
    -------
    text : str
        Lines of at most 100 columns.
    """
    parts = [_opening(found), _conclusions(found)]
    for name in found.systems[1:]:
        changes = [c for c in found.changes if c.system == name]
        # Everyone and all groups at a level, whatever their place in the record.
        changes.sort(key=_order_of_level(changes))
        for _, of_level in groupby(changes, _level_of):
            of_level = list(of_level)
            disparities = [
                d
                for d in found.disparities
                if (d.system, *_level_of(d)) == (name, *_level_of(of_level[0]))
            ]
            parts.append(_level(found, of_level, disparities))
    if found.notes:
        parts.append([*title("Notes"), *bullets(map(printable, found.notes))])
    parts.append(_reading(found))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _level_of(change):
    return change.far, change.threshold


def _order_of_level(changes):
    levels = list(dict.fromkeys(map(_level_of, changes)))
    return lambda change: levels.index(_level_of(change))


def _opening(found):
    first, *others = map(printable, found.systems)
    against = f"Comparison of {', '.join(others)} with {first}"
    data = f"{found.n_rows:,} {found.unit} of {found.n_people:,} people in all systems."
    if any(found.left_out):
        left_out = ", ".join(
            f"{n:,} of {printable(name)}"
            for name, n in zip(found.systems, found.left_out, strict=True)
            if n
        )
        data += f" Left out, since another system lacks them: {left_out}."
    else:
        data += " None was left out."
    lines = [*title(against, "="), *paragraph(withheld(found.settings)[1])]
    return [*lines, *paragraph(data)]


def _conclusions(found):
    lines = title("What the data say")
    headline, _ = withheld(found.settings)
    if headline:
        return [*lines, headline]
    for name in found.systems[1:]:
        lines += paragraph(f"{printable(name)}:" if len(found.systems) > 2 else "")
        harm, improved = (
            [c for c in changes if c.system == name]
            for changes in (found.harm, found.improved)
        )
        lines += _listed("Harm", "got worse", harm, found)
        lines += _listed("Improved", "got better", improved, found)
        for disparity in found.levelling_down:
            if disparity.system == name:
                lines += paragraph(_levelled(disparity, found), "- ", "  ")
    return lines


def _listed(head, words, changes, found):
    """One line of how many rates changed, and one for each of them."""
    if not changes:
        return paragraph(f"{head}: no rate was found to have {words}.", "- ", "  ")
    rates = "rate" if len(changes) == 1 else "rates"
    lines = paragraph(f"{head}: {len(changes)} {rates} {words}.", "- ", "  ")
    for change in changes:
        lines += paragraph(_changed(change, found), "  - ", "    ")
    return lines


def _changed(change, found):
    who = "everyone"
    if change.attribute is not None:
        who = f"{printable(change.attribute)} {short(change.group)}"
    return (
        f"{who}: {RATE_NAMES[change.rate]} at {_place(change, found)} {number(change.before)} "
        f"before, {number(change.after)} after; difference {_signed(change.difference)} "
        f"{interval(change.low, change.high)}, p "
        f"{p_in_digits(change.p_value)}, adjusted {p_in_digits(change.p_adjusted)}."
    )


def _levelled(disparity, found):
    return (
        f"Levelling down: max / min of the {RATE_NAMES[disparity.rate]} by "
        f"{printable(disparity.attribute)} at {_place(disparity, found)} fell from "
        f"{number(disparity.before)} to {number(disparity.after)} (after / before "
        f"{factor(disparity.ratio)} "
        f"{interval(disparity.ratio_low, disparity.ratio_high, factor)}), "
        "and groups are worse off; no rate was found to have got better."
    )


def _place(change, found):
    if change.far is not None:
        return f"FAR {change.far:g}"
    return given_point(change.threshold, found.settings)


def _level(found, changes, disparities):
    system, first = printable(changes[0].system), printable(found.systems[0])
    head = f"At {_place(changes[0], found)}: {system} against {first}"
    lines = title(head)
    for rate, name in RATE_NAMES.items():
        of_rate = [c for c in changes if c.rate == rate]
        if not of_rate:
            continue
        rows = [[name, "before", "after", "difference", "p (adjusted)"]]
        attribute = None
        for change in of_rate:
            if change.attribute != attribute:
                attribute = change.attribute
                rows.append(
                    [f"by {printable(attribute)}"[:LABEL_WIDTH], "", "", "", ""]
                )
            rows.append(_row(change))
        lines += table(rows, CHANGE_WIDTHS)
        lines.append("")
    rows = [["max / min (1)", "before", "after", "after / before"]]
    mark = UNSUPPORTED if any(c.reason for c in changes) else ""
    for disparity in disparities:
        name = f"{RATE_NAMES[disparity.rate]} by {printable(disparity.attribute)}"
        rows.append(
            [
                name[: LABEL_WIDTH + 1],
                number(disparity.before),
                number(disparity.after),
                f"{factor(disparity.ratio)} "
                f"{interval(disparity.ratio_low, disparity.ratio_high, factor)}{mark}",
            ]
        )
    if disparities:
        everyone = disparities[0]
        rows.append(
            [
                "FRR of everyone",
                number(everyone.frr_before),
                number(everyone.frr_after),
                "",
            ]
        )
    return [*lines, *table(rows, DISPARITY_WIDTHS)]


def _row(change):
    mark = {"worse": " worse", "better": " better"}.get(change.verdict, "")
    mark = UNSUPPORTED if change.reason else mark
    p, adjusted = change.p_value, change.p_adjusted
    told = "-" if p != p else p_in_digits(p)
    told += "" if adjusted != adjusted else f" ({p_in_digits(adjusted)})"
    return [
        ("" if change.attribute is None else "  ") + label(change.group),
        number(change.before),
        number(change.after),
        f"{_signed(change.difference)} {interval(change.low, change.high)}{mark}",
        told,
    ]


def _signed(value):
    return f"+{number(value)}" if value > 0 else number(value)


def _reading(found):
    level = 100 * found.settings["confidence_level"]
    alpha = 100 - level
    texts = [
        "FAR (FMR): share of impostor pairs accepted; FRR (FNMR): share of genuine pairs "
        "rejected. Lower is better for both. Each system meets a FAR level at a threshold "
        "of its own."
        if found.settings["threshold"] is None
        else "FAR (FMR): share of impostor pairs accepted; FRR (FNMR): share of genuine "
        "pairs rejected. Lower is better for both. All systems have the given threshold.",
        f"Brackets hold {level:g} % intervals for other people of the same population, which "
        "go with the p before the parentheses, each of one change on its own. 'worse' and 'better' come from the adjusted p: among all changes of "
        "this comparison together, the nominal chance that one is called so without having "
        f"changed is {alpha:g} %.",
        "A group that is not named may have changed too. Disparities "
        "(1 where all groups have the same rate, larger is less fair) are not among these "
        "tests.",
        "Levelling down: the interval of a disparity's ratio ends below 1, groups are worse "
        "off, and no rate was found to have got better.",
    ]
    return [*title("How to read this"), *bullets(texts)]
