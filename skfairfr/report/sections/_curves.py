"""Detection error tradeoffs of the groups, of one system or of several."""

from skfairfr._text._document import Figure
from skfairfr._text._words import TOO_FEW, terms_of
from skfairfr.report._figures import MAX_CURVES, det, det_of_systems
from skfairfr.report._notes import rates_in, short_place

TITLE = "Detection error tradeoff (DET) by group"
POINTS = f"hollow ones rest on {TOO_FEW}. Rates of zero have no place on these axes."


def curves_of_groups(audit):
    """The figure of the curves of all groups; None without curves."""
    if audit.curves is None or len(rates_in(audit.groups)) < 2:
        return None
    names = [short_place(level, audit) for level in audit.levels]
    caption = (
        "Both rates of each group as the one threshold for everybody moves; nearer to the "
        "lower left is better. Points are at the operating points: if they lie apart, groups "
        f"have other rates at the same threshold; {POINTS}"
    )
    if len(audit.curves.groups) > MAX_CURVES:
        caption += " Each panel has one group in blue, and everyone in grey."
    name = f"det-{audit.attribute}"
    terms = terms_of(audit.settings)
    return Figure(caption, lambda: det(audit.curves, audit.levels, names, terms), name)


def curves_of_systems(systems, names, terms):
    """The figure of the curves of every group under each system."""
    if len(rates_in(systems[0].groups)) < 2:
        return None
    caption = (
        "Both rates of each group under each system, as its one threshold for everybody "
        "moves; nearer to the lower left is better. Points are at the operating points; "
        f"{POINTS}"
    )
    curves, levels = [s.curves for s in systems], [s.levels for s in systems]
    name = f"det-{systems[0].attribute}"
    return Figure(caption, lambda: det_of_systems(curves, levels, names, terms), name)
