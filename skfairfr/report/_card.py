"""An audit as a section of a model card, in Markdown.

Hugging Face and skops both keep cards as Markdown; the section stands below theirs about
evaluation.
"""

import re

from skfairfr.report._page import verdict
from skfairfr.report._page_parts import place_of
from skfairfr.report._page_words import count, percent, percents, ratio, ratios
from skfairfr.report._text_layout import accepted, printable

# What Markdown or HTML would take for more than text.
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def to_card(report, source=None, version=None):
    """A report as a section of a model card.

    Parameters
    ----------
    report : Report
    source : str, default=None
        Where the data come from.
    version : str, default=None
        Of skfairfr.

    Returns
    -------
    markdown : str
    """
    first = report.audits[0]
    found = verdict(report, on_page=False)
    lines = ["## Differences between demographic groups", ""]
    lines += [f"**{_text(found['headline'])}** {_text(found['texts'][0])}", ""]
    lines += [_data(first, source), ""]
    for audit in report.audits:
        lines += [f"### By {_text(audit.attribute)}", ""]
        for level in audit.levels:
            lines += _level(audit, level)
    lines += [
        "FMR: false match rate (FAR), the share of pairs of two people that are accepted. "
        "FNMR: false non-match rate (FRR), the share of pairs of one person that are "
        "rejected. Lower is better. FPD and FND: differentials of ISO/IEC 19795-10, 0 "
        "where all groups have the same rate. A star marks what rests on few errors, few "
        "people, or one person in many errors.",
        "",
        "Rates hold for these data and operating points; intervals cover sampling alone. "
        "Finding no difference does not mean that there is none.",
        "",
        f"Measured with skfairfr{'' if version is None else ' ' + _text(version)}.",
    ]
    return "\n".join(lines) + "\n"


def _data(audit, source):
    everyone, settings = audit.groups[0], audit.settings
    parts = []
    if everyone.n_identities is not None:
        parts.append(f"{count(everyone.n_identities)} people")
    if everyone.n_images is not None:
        parts.append(f"{count(everyone.n_images)} images")
    parts.append(f"{count(everyone.n_genuine)} genuine pairs")
    parts.append(f"{count(everyone.n_impostor)} impostor pairs")
    named = "" if source is None else f"{_text(source)}: "
    return (
        f"Data: {named}{', '.join(parts)}. Intervals are "
        f"{100 * settings['confidence_level']:g} %."
    )


def _level(audit, level):
    place = place_of(level, audit)
    lines = [
        f"At {_text(place)} ({_text(accepted(level.threshold, audit.settings))}):",
        "",
        "| Group | FMR | FNMR |",
        "|---|---|---|",
    ]
    for row in level.rates:
        name = "everyone" if row.group is None else _text(row.group)
        cells = [_figure(f, percent, percents) for f in (row.far, row.frr)]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} |")
    lines += ["", "| Disparity | of the FMR | of the FNMR |", "|---|---|---|"]
    names = {"gini": "FPD, FND", "max_min": "largest / smallest (1 if equal)"}
    for found in level.disparities:
        if found.how in names and found.operating_point == "overall":
            cells = [_figure(f, ratio, ratios) for f in (found.far, found.frr)]
            lines.append(f"| {names[found.how]} | {cells[0]} | {cells[1]} |")
    return [*lines, ""]


def _figure(figure, shown, ends):
    interval = ends(figure.low, figure.high)
    star = "" if figure.supported else "\\*"
    return f"{shown(figure.value)}{f' ({interval})' if interval else ''}{star}"


def _text(text):
    """A text in which Markdown and HTML find nothing."""
    plain = printable(str(text).replace("\N{NO-BREAK SPACE}", " "))
    return SPECIAL.sub(r"\\\1", plain).replace("\\<", "&lt;")
