"""Both averages: every comparison weighing the same, and every person."""

from itertools import product

from skfairfr._text._document import Cell, Row, Table
from skfairfr._text._words import printable, terms_of, who
from skfairfr.report._notes import at_place, rates_in
from skfairfr.report.sections._cells import of_rate


def averages(audit):
    """Rates and conclusions, every comparison weighing the same and every person."""
    if audit.averaged is None:
        return None
    rows, terms = [], terms_of(audit.settings)
    for both in zip(audit.levels, audit.averaged.levels, strict=True):
        place = at_place(both[0], audit)
        for rate in rates_in(audit.groups):
            for of_group in zip(*(level.rates for level in both), strict=True):
                name = f"{terms[rate].name} of {who(of_group[0].group)}"
                cells = [of_rate(getattr(found, rate)) for found in of_group]
                rows.append(Row(name, cells, place))
            named = [_differing(level, rate) for level in both]
            rows.append(
                Row(f"{terms[rate].name}, significant", [*map(Cell, named)], place)
            )
    weighs = {
        "pair": f"Equal weight of every {terms.comparison}",
        "identity": "Equal weight of every person",
    }
    caption = (
        f"One person is in {100 * audit.largest_genuine_share:.0f} % of the "
        f"{terms.frr.standard_trials}, so it matters whether every {terms.comparison} "
        "weighs the same or every person. The conclusions, limits and tables above use the first of the two columns."
    )
    head = ["Rate", weighs[audit.settings["average"]], weighs[audit.averaged.value]]
    return Table(caption, head, rows)


def _differing(level, rate):
    """Which groups differ from the reference, in words."""
    named = [
        f"{printable(f.group)} {f.verdict}"
        for f in level.findings
        if f.rate == rate and f.verdict in ("higher", "lower")
    ]
    return "; ".join(named) or "no group"


def n_differing(audit):
    """At how many levels, of either rate, the other average concludes something else."""
    if audit.averaged is None:
        return 0
    both = product(
        zip(audit.levels, audit.averaged.levels, strict=True), rates_in(audit.groups)
    )
    return sum(_differing(a, rate) != _differing(b, rate) for (a, b), rate in both)
