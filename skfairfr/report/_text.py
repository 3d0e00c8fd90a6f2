"""A report as a table for a terminal: ASCII of at most 100 columns."""

from skfairfr.report._audit_text import reading, sections
from skfairfr.report._record import Report
from skfairfr.report._report_text import cells, check_lines


def to_text(found, source=None):
    """What was found as text that a person can read.

    Parameters
    ----------
    found : Report or Audit
    source : str, default=None
        Where the data come from, for the titles.

    Returns
    -------
    text : str
        Lines of at most 100 columns.
    """
    report = found if isinstance(found, Report) else Report((found,))
    crossings = {" & ".join(c.attributes): c for c in report.crossings}
    parts = []
    for audit in report.audits:
        opening, *others = sections(audit, source)
        parts.append(opening)
        if audit.attribute in crossings:
            parts.append(cells(crossings[audit.attribute]))
        parts += others
    parts.append(reading(report.audits[0]))
    if report.checks:
        parts.append(check_lines(report))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"
