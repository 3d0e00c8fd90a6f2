"""Numbers, labels and lines of a report for a terminal: ASCII of at most 100 columns."""

import math
from itertools import groupby
from textwrap import wrap

from skfairfr._core._intervals import join_reasons
from skfairfr._core._rates import in_digits, on_its_side

WIDTH = 100
LABEL_WIDTH = 24
FIGURE_WIDTH = 34
# More of the others that a group is compared with are counted, not named.
MOST_NAMED = 3
UNSUPPORTED = " ?"
SAMPLED = " ~"

RATE_NAMES = {"far": "FAR", "frr": "FRR"}
DISPARITY_NAMES = {
    "max_min": "max / min",
    "max_geomean": "max / geometric mean",
    "log_geomean": "log10 off geometric mean",
    "gini": "Gini",
    "difference": "max - min",
}

# How the reason of a figure ends that was not counted over all pairs.
SOURCES = {
    "all pairs": "",
    "sample": "beyond the FAR up to which all pairs are held: from a uniform sample of "
    "impostor pairs",
}


# ---- numbers -------------------------------------------------------------------------


def number(value, digits=3):
    """Three significant digits, without an exponent where four decimals or six digits do."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value) or value == 0:
        return f"{value:g}".replace("-0", "0")
    magnitude = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if not -4 <= magnitude < 6:
        return f"{value:.{digits - 1}e}"
    return f"{value:,.{max(digits - 1 - magnitude, 0)}f}"


def factor(value):
    """A ratio: 1 is written for no other number."""
    return number(value) if math.isnan(value) else on_its_side(number, value, 1.0, 3)


def bounds(found):
    """``[low, high]`` of a Figure, or that there is no interval."""
    return interval(found.low, found.high)


def interval(low, high, form=number):
    """``[low, high]``, or that there is none."""
    if math.isnan(low) or math.isnan(high):
        return "[no interval]"
    return f"[{form(low)}, {form(high)}]"


def figure(found):
    """Value, interval and mark of a Figure."""
    if math.isnan(found.value):
        return "undefined" + UNSUPPORTED
    return f"{number(found.value)} {bounds(found)}{mark(found)}"


def mark(found):
    """What follows a Figure that the data do not support, or not over all pairs."""
    if not found.supported:
        return UNSUPPORTED
    return "" if found.source == "all pairs" else SAMPLED


# Why verdicts are withheld, in short and at length, by the code of the warning.
WITHHELD = {
    "reversed_scores": (
        "scores look like distances",
        "genuine pairs mostly have smaller scores than impostor pairs, as distances do. If "
        "the scores are distances, give --distance (in Python distance=True); if it was "
        "given, leave it out.",
    ),
    "reversed_beside_others": (
        "scores of one system look like distances",
        "genuine pairs mostly have smaller scores than impostor pairs, unlike those of the "
        "other system: change the sign of its scores.",
    ),
    "uninformative_scores": (
        "scores are no better than chance",
        "scores hardly tell genuine pairs from impostor pairs, as where labels are not in "
        "the order of the rows.",
    ),
}


def withheld(settings):
    """A headline and the reason where verdicts are withheld; two empty texts if not.

    The reason names the systems of a comparison.
    """
    found = settings.get("withheld")
    if not found:
        return "", ""
    if isinstance(found, str):
        short, why = WITHHELD[found]
        return f"No verdict: {short}.", f"Verdicts are withheld: {why}"
    headlines, reasons = {}, []
    for name, code in found.items():
        headlines[WITHHELD[code][0]] = None
        reasons.append(f" In {printable(name)}, {WITHHELD[code][1]}")
    return (
        f"No verdict: {' and '.join(headlines)}.",
        f"Verdicts are withheld.{''.join(reasons)}",
    )


def accepted(threshold, settings):
    """Which pairs a threshold accepts, on the scale of the caller's scores."""
    if settings.get("distance"):
        return f"accepted up to distance {in_digits(-threshold)}"
    return f"accepted from similarity {in_digits(threshold)} on"


# ---- lines ---------------------------------------------------------------------------


def printable(label):
    """A label as text in which nothing moves the cursor; quoted where space surrounds it."""
    text = "".join(c if c.isprintable() else "?" for c in str(label))
    return text if text == text.strip() else repr(text)


def short(label):
    """A label that fits its column: long ones lose their middle."""
    text = printable(label)
    if len(text) < LABEL_WIDTH:
        return text
    return f"{text[:13]}..{text[-7:]}"


def listed(texts):
    """Texts with commas between them, and "and" before the last."""
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def others_of(finding, name=short):
    """Those that a group is compared with."""
    if len(finding.others) == 1:
        return name(finding.others[0])
    named = f"the {len(finding.others)} others"
    if len(finding.others) <= MOST_NAMED:
        named = listed([name(group) for group in finding.others])
    return f"{named} (geometric mean)"


def left_out(finding, level, name=short):
    """Groups with too few errors to be among the others; empty without any."""
    named = None, finding.group, *finding.others, *finding.not_compared
    groups = [row.group for row in level.rates if row.group not in named]
    return "" if finding.group is None else ", ".join(map(name, groups))


def worth(effective):
    """What errors are worth; empty where that is not known."""
    if effective is None or not effective.errors:
        return ""
    errors = (
        f"{round(effective.errors):,}" if effective.errors >= 0.5 else "less than 1"
    )
    return f"worth {errors} of {round(effective.people):,} people"


def label(group):
    """A group's label; None is everyone."""
    return "all" if group is None else short(group)


def level_name(level, settings):
    """The name of an operating point, unlike those of the others."""
    if level.set_on == "these data":
        return f"FAR {level.far:g}"
    if level.set_on == "other data":
        return f"FAR {level.far:g} elsewhere"
    return given_point(level.threshold, settings)


def given_point(threshold, settings):
    """A threshold that was given, on the scale of the caller's scores."""
    if settings.get("distance"):
        return f"distance {in_digits(-threshold)}"
    return f"threshold {in_digits(threshold)}"


def disparity_label(disparity):
    """A disparity's name, with its value where all groups have the same rate."""
    name = DISPARITY_NAMES[disparity.how]
    if disparity.operating_point == "worst_group":
        name = "BFAR, BFRR *"
    return f"{name} ({disparity.neutral:g})"


def title(text, underline="-"):
    """A line of text, or several, underlined."""
    lines = wrap(text, WIDTH)
    return [*lines, underline * len(lines[-1])]


def table(rows, widths):
    """Aligned columns, to the right where a width is negative."""
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width - 1) + " " if width > 0 else cell.rjust(-width - 2) + "  "
            for cell, width in zip(row, widths, strict=True)
        ]
        lines.append("".join(cells).rstrip())
    return lines


def paragraph(text, first="", rest=""):
    """Lines that fit."""
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest)


def bullets(texts):
    """A list."""
    return [line for text in texts for line in paragraph(text, "- ", "  ")]


def in_words(reasons, source="all pairs"):
    """Reasons, of any length, as one text that ends with the source.

    Parameters
    ----------
    reasons : sequence of Reason
    source : {"all pairs", "sample"}, default="all pairs"

    Returns
    -------
    text : str
    """
    texts = []
    for lacking, run in groupby(reasons, lambda reason: reason.code == "no_pairs"):
        texts.append((_no_pairs if lacking else join_reasons)(run))
    # A label at the start may begin with space.
    return "; ".join(filter(None, [*texts, SOURCES[source]])).strip()


def _no_pairs(reasons):
    """The kinds of pairs that are lacking, once for each label."""
    texts = []
    for label, of_label in groupby(reasons, lambda reason: reason.label):
        kinds = " and ".join(reason.words.removesuffix(" pair") for reason in of_label)
        texts.append(": ".join(filter(None, (label, f"{kinds} pair"))))
    return "; ".join(texts)


def reasons(name, figures):
    """A line for each distinct reason of the figures of one kind."""
    marks = {f.reason: SAMPLED if f.supported else UNSUPPORTED for f in figures}
    return [
        line
        for reason, mark in marks.items()
        if reason
        for line in reason_lines(name, reason, mark)
    ]


def reason_lines(name, reason, mark):
    """Lines that say why figures carry a mark."""
    return paragraph(f"{name}: {printable(reason)}", f" {mark} ", "      ")
