"""Words and numbers of documents: the terms of ISO/IEC 19795, rates in percent."""

import math
import re

from skfairfr._core._rates import in_digits, on_its_side, p_in_digits

PERCENT = "\N{NO-BREAK SPACE}%"
NONE = "\N{EN DASH}"
# What rests on too little, in texts, records and figures.
TOO_FEW = "too few errors"
RATES = {"far": "FMR", "frr": "FNMR"}
# Keys whose values have names of users and of estimators.
OF_OTHERS = ("sha256", "withheld", "parameters", "about")
LONG_RATES = {"far": "false match rate", "frr": "false non-match rate"}


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


def percent(rate):
    """A rate in percent with three significant digits; a dash where undefined."""
    if rate is None or math.isnan(rate):
        return NONE
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


def signed(text):
    """Numbers of differences in a text with their signs."""
    text = re.sub(r"(?<![-\d.,])(?=\d)(?!0\b(?!\.))", "+", text)
    return text.replace("-", "\N{MINUS SIGN}")


def ratio(value):
    """A ratio or an index with three significant digits; 1 is written for no other number."""
    if math.isnan(value):
        return NONE
    return on_its_side(number, value, 1.0, 3).replace("inf", "infinite")


def ratios(low, high):
    """Two ends of an interval; empty where there is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"{ratio(low)} to {ratio(high).replace('infinite', 'infinity')}"


def p_value(p):
    """A p-value; a dash where there is none."""
    return NONE if math.isnan(p) else "< 0.001" if p < 0.001 else p_in_digits(p)


def count(value, source="all pairs"):
    """A number of pairs or people; one that was not counted over all pairs is marked."""
    if value is None:
        return NONE
    about = "" if source == "all pairs" else "about "
    return f"{about}{value:,}"


def plural(n, one, several=None):
    """A number and its noun."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def listed(texts):
    """Texts with commas between them, and "and" before the last."""
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def capital(text):
    """The text with a capital first."""
    return f"{text[:1].upper()}{text[1:]}"


def printable(label):
    """A label as text in which nothing moves the cursor; quoted where space surrounds it."""
    text = "".join(c if c.isprintable() or c in PERCENT else "?" for c in str(label))
    return text if text == text.strip() else repr(text)


def who(group):
    """A group, or everyone, in a sentence."""
    return "everyone" if group is None else printable(group)


def accepted(threshold, settings):
    """Which pairs a threshold accepts, on the scale of the caller's scores."""
    if settings.get("distance"):
        return f"accepted up to distance {in_digits(-threshold)}"
    return f"accepted from similarity {in_digits(threshold)} on"


def given_point(threshold, settings):
    """A threshold that was given, on the scale of the caller's scores."""
    if settings.get("distance"):
        return f"distance {in_digits(-threshold)}"
    return f"threshold {in_digits(threshold)}"


def in_iso(form, named=False):
    """Dicts and lists for JSON or CSV, with the names of ISO/IEC 19795 for both rates.

    Python's ``far_errors`` is fmr_errors there, and ``rate`` is "fmr" or "fnmr". What users
    or estimators have named stays.
    """
    if isinstance(form, dict):
        return {
            _iso(key): value
            if key in OF_OTHERS
            else in_iso(value, key in ("rate", "metric", "metrics"))
            for key, value in form.items()
        }
    if isinstance(form, list | tuple):
        return [in_iso(value, named) for value in form]
    return _iso(form) if named and isinstance(form, str) else form


def _iso(name):
    """A name whose parts are Python's, in the words of the standard."""
    return "_".join({"far": "fmr", "frr": "fnmr"}.get(p, p) for p in name.split("_"))


def _digits(value):
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(float(f"{value:.2e}"))))
    return f"{value:,.{min(max(2 - magnitude, 0), 12)}f}".rstrip(" ")
