"""Failures to acquire and to enrol, and where each group is lost."""

from skfairfr._text._document import Cell, Table
from skfairfr._text._words import capital, count, percent, terms_of
from skfairfr.report._notes import at_place
from skfairfr.report.sections._cells import row_of_group


def lost(audit):
    """A table of genuine pairs that fail before they are compared, and after; or None."""
    rows = []
    for level in audit.levels:
        if level.rates[0].frr_failures is None:
            return None
        for size, found in zip(audit.groups, level.rates, strict=True):
            n, failed = size.n_genuine, found.frr_failures
            numbers = failed, (found.frr_errors or 0) - failed
            cells = [Cell(count(n))]
            for number in (*numbers, sum(numbers)):
                share = percent(number / n) if n else ""
                cells.append(Cell(count(number), share))
            rows.append(row_of_group(found.group, cells, at_place(level, audit)))
    trials = capital(terms_of(audit.settings).frr.standard_trials)
    later = "not matched"
    if audit.settings.get("decisions") == "bpcer":
        later = "taken for attacks"
    caption = (
        f"{trials} of each group that fail to be enrolled or acquired, and those that are "
        f"not, and are then {later}. Both are rejected."
    )
    head = ["Group", trials, "Not enrolled or acquired", f"Then {later}"]
    return Table(caption, [*head, "Rejected"], rows)


def failures(audit):
    """A table of attempts without a template, by group."""
    rows, enrolled = [], any(found.n_failed_to_enrol for found in audit.failures)
    for found in audit.failures:
        shown = count(found.n_failed_to_acquire), percent(found.fta)
        shown += count(found.n_failed_to_enrol), percent(found.fte)
        texts = (count(found.n_attempts), *shown)[: 5 if enrolled else 3]
        rows.append(row_of_group(found.group, list(map(Cell, texts))))
    attempts = "attempts"
    if "decisions" in audit.settings:
        attempts = terms_of(audit.settings).trials
    head = ["Group", capital(attempts), "Failed to acquire", "FTA"]
    of_all = f"FTA is the share of all {attempts}"
    if enrolled:
        head += ["Failed to enrol", "FTE"]
        of_all += ", FTE the share of those acquired"
    caption = (
        f"{capital(attempts)} that gave no template or no score, by group. {of_all}."
    )
    return Table(caption, head, rows)
