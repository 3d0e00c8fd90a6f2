"""A report as a table for a terminal: ASCII of at most 100 columns.

The sections of an audit come from ``_text_audit``; here a report adds the number of people
in each cell of several attributes, and its checks.
"""

import math

from skfairfr.report._limits import verdict_of
from skfairfr.report._needed import MOST_PEOPLE, POWER
from skfairfr.report._text_audit import reading, sections
from skfairfr.report._text_layout import (
    LABEL_WIDTH,
    RATE_NAMES,
    accepted,
    bounds,
    label,
    level_name,
    listed,
    number,
    paragraph,
    printable,
    short,
    table,
    title,
)

CELL_WIDTH = 15
MOST_COLUMNS = 5
CHECK_NAMES = {
    "max_fmr": "FMR of each group",
    "max_fnmr": "FNMR of each group",
    "max_bfar": "BFAR",
    "max_bfrr": "BFRR",
    "max_far_ratio": "max / min of the FAR",
    "max_frr_ratio": "max / min of the FRR",
}


def to_text(found, source=None):
    """Render an audit as text for a person to read.

    Parameters
    ----------
    found : Report or Audit
        Such as :func:`audit` and :func:`audit_data` give.
    source : str, default=None
        Where the data come from, for the titles.

    Returns
    -------
    text : str
        Lines of at most 100 columns.

    Raises
    ------
    AttributeError
        If ``found`` is neither a Report nor an Audit.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.report import audit, to_text
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> found = audit(data.X, data.y, data.sensitive_features, far=1e-2, n_resamples=100)
    >>> to_text(found).splitlines()[0]
    'Audit by group'
    """
    audits = getattr(found, "audits", (found,))
    crossings = {" & ".join(c.attributes): c for c in getattr(found, "crossings", ())}
    parts = []
    for audit in audits:
        opening, *others = sections(audit, source)
        parts.append(opening)
        if audit.failures:
            parts.append(failure_lines(audit))
        if audit.attribute in crossings:
            counted = "Pairs" if audit.groups[0].n_identities is None else "People"
            parts.append(cells(crossings[audit.attribute], counted))
        parts += others
    parts.append(reading(audits[0]))
    if found.checks:
        parts.append(check_lines(found.checks, audits[0].settings))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def in_short(audit):
    """The size of an audit and its findings, in a few lines.

    Parameters
    ----------
    audit : Audit

    Returns
    -------
    text : str
    """
    everyone = audit.groups[0]
    size = "pairs of unnamed people"
    if everyone.n_identities is not None:
        size = f"{everyone.n_identities:,} people"
    lines = [
        f"Audit by {printable(audit.attribute)}: {size} in {len(audit.groups) - 1} groups"
    ]
    for level in audit.levels:
        said = []
        for finding in level.findings:
            name = RATE_NAMES[finding.rate]
            if finding.verdict in ("worse", "better"):
                said.append(f"{name} {finding.verdict} for {short(finding.group)}")
            else:
                said.append(f"{name} {finding.verdict}")
        lines.append(f"  at {level_name(level, audit.settings)}: {', '.join(said)}")
    verdicts = [check.verdict for check in audit.checks]
    words = [w for w in ("passed", "failed", "undetermined") if w in verdicts]
    if words:
        counted = ", ".join(f"{verdicts.count(word)} {word}" for word in words)
        lines.append(f"  checks: {counted}")
    return "\n".join(lines)


def cells(crossing, counted="People"):
    """Lines of a crossing: a table of two attributes, a list of more.

    Parameters
    ----------
    crossing : Crossing
    counted : str, default="People"
        What the numbers are of.

    Returns
    -------
    lines : list of str
    """
    names = " & ".join(map(printable, crossing.attributes))
    head = title(f"{counted} by {names}")
    if len(crossing.attributes) == 2:
        rows, columns = (
            {c.groups[side]: None for c in crossing.cells} for side in (0, 1)
        )
        counts = {c.groups: c.n_identities for c in crossing.cells}
        if len(columns) > len(rows):
            rows, columns = columns, rows
            counts = {groups[::-1]: count for groups, count in counts.items()}
        if len(columns) <= MOST_COLUMNS:
            return [*head, *_crosstab(rows, columns, counts)]
    rows = [
        [" & ".join(map(_name, cell.groups)), f"{cell.n_identities:,}"]
        for cell in crossing.cells
    ]
    return [*head, *table(rows, (80, -12))]


def _crosstab(rows, columns, counts):
    widths = (LABEL_WIDTH + 2, *(-CELL_WIDTH for _ in columns))
    named = [["", *(_name(column)[: CELL_WIDTH - 3] for column in columns)]]
    return table(
        named
        + [[_name(row), *(f"{counts[row, c]:,}" for c in columns)] for row in rows],
        widths,
    )


def _name(group):
    return "unknown" if group is None else short(group)


def failure_lines(audit):
    """Lines of failures to acquire and to enrol, and of generalised rates.

    Parameters
    ----------
    audit : Audit

    Returns
    -------
    lines : list of str
    """
    head = ["group", "attempts", "not acquired", "FTA", "not enrolled", "FTE"]
    rows = [
        [
            label(row.group),
            f"{row.n_attempts:,}",
            f"{row.n_failed_to_acquire:,}",
            number(row.fta),
            f"{row.n_failed_to_enrol:,}",
            number(row.fte),
        ]
        for row in audit.failures
    ]
    widths = (LABEL_WIDTH, -12, -15, -12, -15, -12)
    lines = [*title("Failures to acquire and to enrol"), *table([head, *rows], widths)]
    for level in audit.levels:
        head = [level_name(level, audit.settings), "GFAR", "GFRR"]
        rates = [
            [label(row.group), number(row.gfar), number(row.gfrr)]
            for row in level.generalised
        ]
        lines += ["", *table([head, *rates], (LABEL_WIDTH, -12, -12))]
    return lines


def check_lines(checks, settings):
    """A line for each check.

    Parameters
    ----------
    checks : sequence of Check
    settings : dict
        Of an audit of the report.

    Returns
    -------
    lines : list of str
    """
    policy = settings.get("policy")
    lines = title("Checks" + (f" of the policy {printable(policy)}" if policy else ""))
    for check in checks:
        lines += paragraph(check_sentence(check, settings), "- ", "  ")
    return lines


def _why(check, of_ratio):
    """The number, its bounds and the groups that they are about."""
    found, groups = check.figure, list(map(short, check.groups))
    if not groups:
        return f"{number(found.value)} {bounds(found)}; there is nothing to judge by"
    verdict = verdict_of(found, check.limit)
    if check.reason and verdict == "undetermined":
        return f"{number(found.value)} {bounds(found)}; {check.reason}"
    but = f", but {check.reason}" if check.reason else ""
    if of_ratio:
        pair = f"{groups[0]} over {' and '.join(groups[1:])}"
        ends = {
            "passed": f"largest for {pair}, at most {number(found.high)}",
            "failed": f"{pair} is at least {number(found.low)}",
            "undetermined": f"{pair} may be as large as {number(found.high)}",
        }
        return f"{number(found.value)} {bounds(found)}; {ends[verdict]}{but}"
    named = ", ".join(groups)
    above = f"{named}, at least {number(found.low)}"
    if len(groups) > 1:
        above = f"{named}; for {groups[0]} it is at least {number(found.low)}"
    if math.isnan(found.high):
        return f"for {named} there is no bound, as its pairs are of one person"
    open_end = f"for {named} it may be as large as {number(found.high)}"
    if found.high >= 1:
        open_end = f"for {named} there is no bound: too few people carry the errors"
    if found.value > check.limit:
        low = f"{number(found.low)}, as all groups are judged at once"
        open_end = f"for {named} it may be as small as {low}"
    ends = {
        "passed": f"largest for {named}, at most {number(found.high)}",
        "failed": f"above it for {above}",
        "undetermined": open_end,
    }
    return ends[verdict] + but


def needed_words(check, settings):
    """How many more people, or pairs, would settle an undetermined check."""
    if check.reason:
        return ""
    what = "people"
    if settings.get("independent_pairs"):
        of_far = check.name in ("max_fmr", "max_bfar", "max_far_ratio")
        what = f"{'impostor' if of_far else 'genuine'} pairs"
    if math.isnan(check.figure.value + check.figure.high):
        return "More people, or a threshold with more errors, are needed."
    if not check.people_needed:
        return (
            f"If rates are as found, no number of {what} up to {MOST_PEOPLE:,} would "
            "settle it."
        )
    people = listed(
        [
            f"{_rounded_up(more):,} more {_of_number(what, more)} in {short(group)}"
            for group, more in check.people_needed
        ]
    )
    return (
        f"If rates are as found, {people} would settle it in {100 * POWER:g} % of "
        "cases."
    )


def _of_number(what, count):
    """The singular of one."""
    return {"people": "person"}.get(what, what[:-1]) if count == 1 else what


def _rounded_up(count):
    """A count with two significant digits, not below it."""
    unit = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // unit) * unit


def check_sentence(check, settings):
    """The verdict of a check and the reason for it."""
    where = f"FAR {check.far:g}" if check.far is not None else "the given threshold"
    if settings.get("threshold_from"):
        where += f" on {printable(settings['threshold_from'])}"
    of_ratio = check.name not in ("max_fmr", "max_fnmr")
    by = "by" if of_ratio else "of"
    text = (
        f"{check.verdict.upper()}: {CHECK_NAMES[check.name]} {by} "
        f"{printable(check.attribute)} at most {number(check.limit)}, at {where} "
        f"({accepted(check.threshold, settings)}): {_why(check, of_ratio)}."
    )
    if check.verdict == "undetermined" and check.groups:
        needed = needed_words(check, settings)
        text += f" {needed}" if needed else ""
    if check.not_covered:
        left_out = ", ".join(map(short, check.not_covered))
        text += f" Not covered, without the pairs it needs: {left_out}."
    return text
