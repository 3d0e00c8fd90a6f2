"""An audit as a table for a terminal: ASCII of at most 100 columns.

What the data do not support carries a question mark, and the reason stands beneath.
"""

import math
from textwrap import wrap

WIDTH = 100
LABEL_WIDTH = 24
FIGURE_WIDTH = 34
TWO_COLUMNS = (30, FIGURE_WIDTH, FIGURE_WIDTH)
FOUR_COLUMNS = (LABEL_WIDTH, 32, 6, 32, 5)
UNSUPPORTED = " ?"
SAMPLED = " ~"

RATIO_NAME = "worst / best group"
RATE_NAMES = {"far": "FAR", "frr": "FRR"}
COLUMNS = {"far": "FAR (FMR)", "frr": "FRR (FNMR)"}
DISPARITY_NAMES = {
    "max_min": "max / min",
    "max_geomean": "max / geometric mean",
    "log_geomean": "log10 off geometric mean",
    "gini": "Gini",
    "difference": "max - min",
}
RESAMPLED = {
    "identities": "other people of the same population",
    "images": "the same people in other photographs",
    "both": "other people in other photographs",
}
AVERAGES = {"pair": "pair", "identity": "person, or pair of people,"}


def to_text(audit, source=None):
    """The audit as text that a person can read.

    Parameters
    ----------
    audit : Audit
    source : str, default=None
        Where the data come from, for the title.

    Returns
    -------
    text : str
        Lines of at most 100 columns.
    """
    parts = [_opening(audit, source), _findings(audit), _groups(audit)]
    parts += [_level(level) for level in audit.levels]
    parts += [_resampled(audit)]
    if audit.averaged is not None:
        parts.append(_averaged(audit))
    if audit.notes:
        parts.append([*_title("Notes"), *_bullets(map(printable, audit.notes))])
    parts.append(_reading(audit))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


# ---- sections ------------------------------------------------------------------------


def _opening(audit, source):
    everyone, settings = audit.groups[0], audit.settings
    attribute = printable(audit.attribute)
    title = f"Audit by {attribute}" + (f": {printable(source)}" if source else "")
    data = (
        f"{everyone.n_images:,} images of {everyone.n_identities:,} people in "
        f"{len(audit.groups) - 1} groups; {everyone.n_genuine:,} genuine pairs (one "
        f"person) and {everyone.n_impostor:,} impostor pairs (two people)."
    )
    if audit.n_unknown:
        data += (
            f" {audit.n_unknown:,} images of unknown {attribute} count overall and in no "
            "group."
        )
    intervals = (
        f"Brackets hold {100 * settings['confidence_level']:g} % intervals for "
        f"{RESAMPLED[settings['resample']]} ({settings['n_resamples']:,} resamples)."
    )
    return [*_title(title, "="), *_paragraph(data), *_paragraph(intervals)]


def _findings(audit):
    lines = _title("What the data say")
    for index, level in enumerate(audit.levels):
        lines.append(f"At FAR {level.far:g}")
        for position, finding in enumerate(level.findings):
            said = _sentence(finding, level)
            if audit.averaged is not None:
                other = audit.averaged.levels[index].findings[position]
                said += _differently(finding, other, audit.averaged.value)
            lines += _paragraph(said, "  - ", "    ")
    return lines


def _sentence(finding, level):
    kind = {"far": "False acceptances", "frr": "False rejections"}[finding.rate]
    if finding.worst is None:
        return f"{kind}: the data do not tell, {finding.ratio.reason}."
    rates = {row.group: getattr(row, finding.rate).value for row in level.rates}
    worst, best = short(finding.worst), short(finding.best)
    observed = (
        f"{RATE_NAMES[finding.rate]} {number(rates[finding.worst])} for {worst} against "
        f"{number(rates[finding.best])} for {best}, a factor of {figure(finding.ratio)}"
    )
    why = {
        "worse": "the interval excludes 1",
        "undecided": "the interval includes 1",
        "unsupported": "too few errors, or errors of too few people, carry it (see below)",
    }[finding.verdict]
    said = f"{kind}: {_verdict(finding)}. {observed}; {why}."
    if finding.not_compared and finding.verdict != "unsupported":
        left_out = ", ".join(map(short, finding.not_compared))
        said += f" Too little data to judge: {left_out}."
    return said


def _verdict(finding):
    if finding.verdict == "worse":
        return f"{short(finding.worst)} is treated worse"
    return "the data do not tell"


def _differently(finding, other, average):
    """What the other average concludes, where it concludes something else."""
    if _verdict(finding) == _verdict(other):
        return ""
    ratio = "" if other.worst is None else f", a factor of {figure(other.ratio)}"
    return f" Averaged by {average}: {_verdict(other)}{ratio} (see 'Both averages')."


def _groups(audit):
    head = ["group", "people", "images", "genuine pairs", "impostor pairs", "EER"]
    rows = [
        [
            _label(row.group),
            f"{row.n_identities:,}",
            f"{row.n_images:,}",
            f"{row.n_genuine:,}",
            f"{row.n_impostor:,}",
            figure(row.equal_error_rate),
        ]
        for row in audit.groups
    ]
    widths = [LABEL_WIDTH, -8, -8, -15, -16, FIGURE_WIDTH]
    reasons = _reasons("EER", [row.equal_error_rate for row in audit.groups])
    title = _title("Groups, and the rate at which FAR = FRR (EER; lower is better)")
    return [*title, *_table([head, *rows], widths), *reasons]


def _level(level):
    title = f"FAR {level.far:g}: accepted from similarity {level.threshold:.4f} on"
    rates = [[_label(row.group), _far(row), figure(row.frr)] for row in level.rates]
    disparities = [
        [_disparity_label(d), figure(d.far), figure(d.frr)] for d in level.disparities
    ]
    return [
        *_title(title),
        *_table([["group", *COLUMNS.values()], *rates], TWO_COLUMNS),
        "",
        *_table([["disparity (if equal)", "of the FAR", "of the FRR"]], TWO_COLUMNS),
        *_table([_ratio_row(level), *disparities], TWO_COLUMNS),
        *_paragraph(
            "* max / min at the threshold where no group's FAR exceeds the level: accepted "
            f"from {level.worst_group_threshold:.4f} on."
        ),
        *_level_reasons(level),
    ]


def _ratio_row(level):
    return [f"{RATIO_NAME} (1)", *(figure(f.ratio) for f in level.findings)]


def _level_reasons(level):
    """Why figures carry a mark; those of disparities add what their groups do not say."""
    lines = []
    for rate, name in RATE_NAMES.items():
        rows = level.rates[1:] if rate == "far" else level.rates
        figures = [getattr(row, rate) for row in rows]
        lines += _reasons(name, figures)
        known = {part for found in figures for part in found.reason.split("; ")}
        reasons = {}
        for disparity in level.disparities:
            reason = getattr(disparity, rate).reason
            if disparity.operating_point == "overall":
                parts = [part for part in reason.split("; ") if part not in known]
                reasons["; ".join(parts)] = f"disparities of the {name}"
            else:
                reasons[reason] = f"B{name} *"
        lines += [
            line for r, n in reasons.items() if r for line in _reason(n, r, UNSUPPORTED)
        ]
    return lines


def _resampled(audit):
    own, other = audit.settings["resample"], audit.resampled
    title = _title(f"Beside it: intervals for {RESAMPLED[other.value]}")
    if not other.levels:
        return [*title, *_paragraph(f"Not possible: {other.reason}.")]
    # So that the number reads "times as large", the wider one usually on top.
    names, swapped = (own, other.value), own == "images"
    wider, narrower = reversed(names) if swapped else names
    ratio = (
        f"standard error for {RESAMPLED[wider]}, over that for {RESAMPLED[narrower]}"
    )
    lines = [*title, *_paragraph(f"x: {ratio}.")]
    for level, beside in zip(other.levels, audit.levels, strict=True):
        head = [f"FAR {level.far:g}", COLUMNS["far"], "x", COLUMNS["frr"], "x"]
        rows = []
        for (label, *found), (_, *owns) in zip(
            _figures(level), _figures(beside), strict=True
        ):
            cells = []
            for pair in zip(owns, found, strict=True):
                times = _times(*(reversed(pair) if swapped else pair))
                cells += [figure(pair[1]), times]
            rows.append([label, *cells])
        rows[0][1:3] = [_far(level.rates[0]), ""]
        lines += ["", *_table([head, *rows], FOUR_COLUMNS)]
    return lines


def _figures(level):
    """Label, FAR and FRR of everyone, of the groups, and of the worst over the best."""
    rows = [(_label(row.group), row.far, row.frr) for row in level.rates]
    return [*rows, (f"{RATIO_NAME} (1)", *(f.ratio for f in level.findings))]


def _averaged(audit):
    own, other = audit.settings["average"], audit.averaged.value
    lines = [
        *_title("Both averages"),
        *_paragraph(
            f"One person supplies {100 * audit.largest_genuine_share:.0f} % of the genuine "
            "pairs, so that it matters whether every pair weighs the same or every person."
        ),
    ]
    for level, beside in zip(audit.levels, audit.averaged.levels, strict=True):
        table = [[f"FAR {level.far:g}", f"average by {own}", f"average by {other}"]]
        rows = list(zip(_figures(level), _figures(beside), strict=True))
        for column, name in enumerate(RATE_NAMES.values(), start=1):
            # The FAR of everyone is set: it comes first and says nothing.
            table += [
                [f"{name}  {a[0]}", figure(a[column]), figure(b[column])]
                for a, b in rows[column == 1 :]
            ]
        lines += ["", *_table(table, TWO_COLUMNS)]
    return lines


def _reading(audit):
    settings = audit.settings
    impostors = {
        "all": "all impostor pairs",
        "same_group": "the impostor pairs within a group",
    }
    return [
        *_title("How to read this"),
        *_bullets(
            [
                "FAR (FMR): share of impostor pairs accepted; FRR (FNMR): share of genuine "
                "pairs rejected. Lower is better for both. A group's pairs have both "
                "images in the group. The threshold of a level is the one at which the "
                f"FAR over {impostors[settings['impostors']]} meets it, which is what (set) "
                f"says. Every {AVERAGES[settings['average']]} weighs the same.",
                "Disparities: larger is less fair; in brackets the value when all groups "
                "have the same rate. Apart from the first they cannot fall below it, so "
                "that their intervals do not tell whether groups differ; that of worst / "
                "best, of the two groups under 'What the data say', does. Among more than "
                "two groups it is widened, since the two were picked as the extremes.",
                "? marks what the data do not support (under 30 errors in a group, from "
                "under 10 people, or one person in over a third of them): no fact in "
                "either direction. ~ marks what comes from a sample of the pairs.",
                "An interval speaks of sampling alone: not of how these people were "
                "chosen or labelled, nor of other cameras or conditions.",
            ]
        ),
    ]


# ---- numbers -------------------------------------------------------------------------


def number(value):
    """Three significant digits, without an exponent where four decimals show them."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value) or value == 0:
        return f"{value:g}".replace("-0", "0")
    magnitude = math.floor(math.log10(abs(float(f"{value:.2e}"))))
    if magnitude < -4:
        return f"{value:.2e}"
    return f"{value:,.{max(2 - magnitude, 0)}f}"


def bounds(found):
    """``[low, high]``, or that there is no interval."""
    if math.isnan(found.low) or math.isnan(found.high):
        return "[no interval]"
    return f"[{number(found.low)}, {number(found.high)}]"


def figure(found):
    """Value, interval and mark of a Figure."""
    if math.isnan(found.value):
        return "undefined" + UNSUPPORTED
    mark = UNSUPPORTED if not found.supported else SAMPLED if found.reason else ""
    return f"{number(found.value)} {bounds(found)}{mark}"


def _far(row):
    """The FAR of a group; that of everyone is the level, and varies in no resample."""
    return f"{number(row.far.value)} (set)" if row.group is None else figure(row.far)


def _times(wider, narrower):
    if not narrower.standard_error > 0 or not math.isfinite(wider.standard_error):
        return ""
    return f"{wider.standard_error / narrower.standard_error:.1f}"


# ---- lines ---------------------------------------------------------------------------


def printable(label):
    """A label as text in which nothing moves the cursor."""
    return "".join(c if c.isprintable() else "?" for c in str(label))


def short(label):
    """A label that fits its column: long ones lose their middle."""
    text = printable(label)
    if len(text) < LABEL_WIDTH:
        return text
    return f"{text[:13]}..{text[-7:]}"


def _label(group):
    return "all" if group is None else short(group)


def _disparity_label(disparity):
    name = DISPARITY_NAMES[disparity.how]
    if disparity.operating_point == "worst_group":
        name = "BFAR, BFRR *"
    return f"{name} ({disparity.neutral:g})"


def _title(text, underline="-"):
    lines = wrap(text, WIDTH)
    return [*lines, underline * len(lines[-1])]


def _table(rows, widths):
    """Aligned columns, to the right where a width is negative."""
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width - 1) + " " if width > 0 else cell.rjust(-width - 2) + "  "
            for cell, width in zip(row, widths, strict=True)
        ]
        lines.append("".join(cells).rstrip())
    return lines


def _paragraph(text, first="", rest=""):
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest)


def _bullets(texts):
    return [line for text in texts for line in _paragraph(text, "- ", "  ")]


def _reasons(name, figures):
    """A line for each distinct reason of the figures of one kind."""
    reasons = {f.reason: SAMPLED if f.supported else UNSUPPORTED for f in figures}
    return [
        line
        for reason, mark in reasons.items()
        if reason
        for line in _reason(name, reason, mark)
    ]


def _reason(name, reason, mark):
    return _paragraph(f"{name}: {printable(reason)}", f" {mark} ", "      ")
