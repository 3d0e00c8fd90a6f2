"""Words and numbers of a page: the terms of ISO/IEC 19795, rates in percent."""

import math

from skfairfr.report._text_layout import factor

PERCENT = "\N{NO-BREAK SPACE}%"
RATES = {"far": "FMR", "frr": "FNMR"}
LONG_RATES = {"far": "false match rate", "frr": "false non-match rate"}
LIMITED = {
    "max_fmr": "FMR of each group",
    "max_fnmr": "FNMR of each group",
    "max_bfar": "largest over smallest FMR, where no group's FMR exceeds the level (BFAR)",
    "max_bfrr": "largest over smallest FNMR, where no group's FMR exceeds the level (BFRR)",
    "max_far_ratio": "largest over smallest FMR",
    "max_frr_ratio": "largest over smallest FNMR",
}
DISPARITIES = {
    "gini": "{differential} of ISO/IEC 19795-10 (Gini)",
    "max_min": "largest / smallest",
    "max_geomean": "largest / geometric mean",
    "log_geomean": "log10 distance from geometric mean",
    "difference": "largest \N{MINUS SIGN} smallest",
}
INDICES = {
    "inequity_rate": "Inequity rate (IR)",
    "garbe": "GARBE",
    "fairness_discrepancy_rate": "Fairness discrepancy rate (FDR)",
}


def percent(rate):
    """A rate in percent with three significant digits; a dash where undefined."""
    if rate is None or math.isnan(rate):
        return "\N{EN DASH}"
    return f"{_digits(100 * rate)}{PERCENT}"


def level_percent(level):
    """A level in percent, with the digits that it was given with."""
    text = _digits(100 * level)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text}{PERCENT}"


def percents(low, high):
    """Two ends of an interval in percent; empty where there is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"{_digits(100 * low)} to {_digits(100 * high)}{PERCENT}"


def points(difference):
    """A difference of two rates, in percentage points."""
    return percent(difference).replace("%", "points")


def points_between(low, high):
    """Two ends of an interval of a difference; empty where there is none."""
    return percents(low, high).replace("%", "points")


def ratio(value):
    """A ratio or an index with three significant digits; a dash where undefined."""
    return "\N{EN DASH}" if math.isnan(value) else _infinite(factor(value))


def ratios(low, high):
    """Two ends of an interval; empty where there is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"{_infinite(factor(low))} to {factor(high).replace('inf', 'infinity')}"


def count(value, source="all pairs"):
    """A number of pairs or people; one that was not counted over all pairs is marked."""
    if value is None:
        return "\N{EN DASH}"
    about = "" if source == "all pairs" else "about "
    return f"{about}{value:,}"


def plural(n, one, several=None):
    """A number and its noun."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def _infinite(text):
    return text.replace("inf", "infinite")


def _digits(value):
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(float(f"{value:.2e}"))))
    return f"{value:,.{min(max(2 - magnitude, 0), 12)}f}".rstrip(" ")
