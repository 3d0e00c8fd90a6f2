"""Words and numbers of what people and programs read: the terms of ISO/IEC 19795.

Rates are in percent in texts, and plain numbers in JSON.
"""

import math
import re
from dataclasses import fields, is_dataclass

import numpy as np

from skfairfr._core._kinds import (
    COMPARISONS,
    SEARCHES,
    WITH_FAILURES,
    terms_of_decisions,
)
from skfairfr._core._rates import in_digits, on_its_side, p_in_digits

PERCENT = "\N{NO-BREAK SPACE}%"
NONE = "\N{EN DASH}"
# What rests on too little, or may as well be chance, in texts, records and figures.
TOO_FEW, NO_DIFFERENCE = "too few errors", "no significant difference"
RATES = {"far": "FMR", "frr": "FNMR"}
# What a message quotes of a caller's.
QUOTED = re.compile(r"""((?<!\w)(?:'(?:\\.|[^\\\n])*?'|"(?:\\.|[^\\\n])*?")(?!\w))""")
# Keys whose values have names of users and of estimators.
OF_OTHERS = ("sha256", "withheld", "parameters", "about", "similarity", "gallery")
# Keys whose values are names of rates, limits or metrics.
OF_NAMES = ("rate", "name", "metric", "metrics")
LONG_RATES = {"far": "false match rate", "frr": "false non-match rate"}


def terms_of(settings):
    """Terms of what was measured with these settings, a dict."""
    if "decisions" in settings:
        transactions = bool(settings.get("best_of"))
        return terms_of_decisions(settings["decisions"], transactions)
    if "gallery" in settings:
        return SEARCHES
    return WITH_FAILURES if settings.get("failures") == "reject" else COMPARISONS


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


def rounded_up(value):
    """A count with two significant digits, not below it."""
    unit = 10 ** max(len(str(value)) - 2, 0)
    return -(-value // unit) * unit


def percent(rate):
    """A rate in percent with three significant digits, or a dash if undefined."""
    if rate is None or math.isnan(rate):
        return NONE
    return f"{_digits(100 * rate)}{PERCENT}"


def level_percent(level):
    """A level in percent, with the digits that it was given with."""
    # 0.07 is 7.000000000000001 %.
    rounded = float(f"{100 * level:.10g}")
    text = np.format_float_positional(rounded, trim="-")
    return f"{text if len(text) < 16 else f'{rounded:g}'}{PERCENT}"


def percents(low, high):
    """Two ends of an interval in percent, or empty if there is none.

    An end that is less than a hundred-thousandth of the other is 0 to its digits.
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    ends = (low, high), (high, low)
    low, high = (0.0 if abs(end) < 1e-5 * abs(other) else end for end, other in ends)
    return f"{_digits(100 * low)} to {_digits(100 * high)}{PERCENT}"


def numbers(low, high):
    """Two ends of an interval of a number, or empty if there is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"{number(low)} to {number(high)}"


def points(difference):
    """A difference of two rates, in percentage points."""
    return percent(difference).replace("%", "points")


def points_between(low, high):
    """Two ends of an interval of a difference, or empty if there is none."""
    return percents(low, high).replace("%", "points")


def signed(text):
    """Numbers of differences in a text with their signs."""
    text = re.sub(r"(?<![-\d.,])(?=\d)(?!0\b(?!\.))", "+", text)
    return text.replace("-", "\N{MINUS SIGN}")


def ratio(value):
    """A ratio or an index with three significant digits. 1 is written for no other number."""
    if math.isnan(value):
        return NONE
    value = round(value, 12)  # equal rates may differ by rounding
    return on_its_side(number, value, 1.0, 3).replace("inf", "infinite")


def ratios(low, high):
    """Two ends of an interval, or empty if there is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"{ratio(low)} to {ratio(high).replace('infinite', 'infinity')}"


def p_value(p):
    """A p-value, or a dash if there is none."""
    return NONE if math.isnan(p) else "< 0.001" if p < 0.001 else p_in_digits(p)


def count(value, source="all pairs"):
    """A number of pairs or people. One that was not counted over all pairs is marked."""
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
    """A label as text in which nothing moves the cursor. Quoted if space surrounds it."""
    text = "".join(c if c.isprintable() or c in PERCENT else "?" for c in str(label))
    return text if text == text.strip() else repr(text)


def who(group):
    """A group, or everyone, in a sentence."""
    return "everyone" if group is None else printable(group)


def by_attribute(attribute):
    """The words that follow what is by an attribute, or empty if there is none."""
    return f" by {printable(attribute)}" if attribute else ""


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


def outside_quotes(text, change):
    """A text, changed by a function except in what it quotes."""
    parts = QUOTED.split(text)
    return "".join(p if n % 2 else change(p) for n, p in enumerate(parts))


def plain_form(value, of_decisions=False):
    """Dicts, lists and values for strict JSON: nan as null, infinities as text.

    Half characters, as in the path of a file whose name is not UTF-8, become "?".
    Fields of dataclasses have the name in their metadata under "json", and in a record
    ``of_decisions`` that under "decisions", if they have one. Those with an empty name are
    left out.
    """
    if is_dataclass(value):
        names = {f: f.metadata.get("json", f.name) for f in fields(value)}
        if of_decisions:
            names = {f: f.metadata.get("decisions", name) for f, name in names.items()}
        shown = {name: getattr(value, f.name) for f, name in names.items() if name}
        return {name: plain_form(of, of_decisions) for name, of in shown.items()}
    if isinstance(value, dict):
        return {plain_form(k): plain_form(v, of_decisions) for k, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain_form(v, of_decisions) for v in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def in_terms(form, terms, of_name=False):
    """Dicts and lists for JSON or CSV, with the keys of some Terms.

    Python's ``far_errors`` is fmr_errors of comparisons, and ``rate`` is "fmr" or "fnmr". What
    users or estimators have named stays.
    """
    if isinstance(form, dict):
        return {
            terms.limit(terms.key(name)): value
            if name in OF_OTHERS
            else in_terms(value, terms, name in OF_NAMES)
            for name, value in form.items()
        }
    if isinstance(form, list | tuple):
        return [in_terms(value, terms, of_name) for value in form]
    return terms.limit(terms.key(form)) if of_name and isinstance(form, str) else form


def _digits(value):
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(float(f"{value:.2e}"))))
    return f"{value:,.{min(max(2 - magnitude, 0), 12)}f}".rstrip(" ")
