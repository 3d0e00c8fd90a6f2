"""Words and numbers of what people and programs read: the terms of ISO/IEC 19795.

Rates are in percent in texts, and plain numbers in JSON.
"""

import math
import re
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from string import ascii_letters

import numpy as np

from skfairfr._core._rates import in_digits, on_its_side, p_in_digits

PERCENT = "\N{NO-BREAK SPACE}%"
NONE = "\N{EN DASH}"
# What rests on too little, or may as well be chance, in texts, records and figures.
TOO_FEW, NO_DIFFERENCE = "too few errors", "no significant difference"
RATES = {"far": "FMR", "frr": "FNMR"}
# What the standard calls rates in names.
ISO = {"far": "fmr", "frr": "fnmr"}
# Keys whose values have names of users and of estimators.
OF_OTHERS = ("sha256", "withheld", "parameters", "about")
LONG_RATES = {"far": "false match rate", "frr": "false non-match rate"}
# Letters and quotes of labels in texts that are not finished: no rewording finds a word there.
GUARDED = str.maketrans({c: chr(0xF0000 + ord(c)) for c in ascii_letters + "'\""})
LETTERS = {ord(guarded): chr(letter) for letter, guarded in GUARDED.items()}
# What a message quotes of a caller's.
QUOTED = re.compile(r"""((?<!\w)(?:'(?:\\.|[^\\\n])*?'|"(?:\\.|[^\\\n])*?")(?!\w))""")
# Functions that change texts into the words of what is measured, one after the other.
_WORDING = ContextVar("wording", default=())

# Of decisions on attempts: their rate, at length, what is counted, and what is an error.
DECISIONS = {
    "frr": ("FRR", "false rejection rate", "genuine attempts", "False rejections"),
    "far": ("FAR", "false acceptance rate", "impostor attempts", "False acceptances"),
    "bpcer": (
        *("BPCER", "bona fide presentation classification error rate"),
        *("bona fide attempts", "Taken for attacks"),
    ),
    "apcer": (
        *("APCER", "attack presentation classification error rate"),
        *("attack attempts", "Taken for bona fide"),
    ),
}
# A longer name of a rate does not fit below the axes of a figure.
LONGEST_RATE = 30
# What rates of comparisons are called where failures count as rejections.
WITH_FAILURES = {
    **{"FMR": "FAR", "FNMR": "FRR"},
    **{"False matches": "False acceptances", "False non-matches": "False rejections"},
    **{"false match rate": "false acceptance rate"},
    **{"false non-match rate": "false rejection rate"},
}


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
    # 0.07 is 7.000000000000001 %.
    rounded = float(f"{100 * level:.10g}")
    text = np.format_float_positional(rounded, trim="-")
    return f"{text if len(text) < 16 else f'{rounded:g}'}{PERCENT}"


def percents(low, high):
    """Two ends of an interval in percent; empty if there is none.

    An end that is less than a hundred-thousandth of the other is 0 to its digits.
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    ends = (low, high), (high, low)
    low, high = (0.0 if abs(end) < 1e-5 * abs(other) else end for end, other in ends)
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
    value = round(value, 12)  # equal rates may differ by rounding
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


def plain_label(label):
    """A label as text in which nothing moves the cursor; quoted if space surrounds it."""
    text = "".join(c if c.isprintable() or c in PERCENT else "?" for c in str(label))
    return text if text == text.strip() else repr(text)


def printable(label):
    """The same for a text that is not finished; no rewording changes it.

    What finishes a text, ``worded`` or a writer, turns its letters back.
    """
    return plain_label(label).translate(GUARDED)


def guarded(reasons):
    """Reasons whose groups no rewording changes."""
    return [
        replace(
            r, groups=r.groups and tuple(str(g).translate(GUARDED) for g in r.groups)
        )
        for r in reasons
    ]


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


def words_for(settings):
    """Words of a document -> those for what was audited with these settings, a dict."""
    if "decisions" not in settings:
        return WITH_FAILURES if settings.get("failures") == "reject" else {}
    name, rate, attempts, errors = DECISIONS[settings["decisions"]]
    one = "attempt"
    if settings.get("best_of"):
        attempts, one = attempts.replace(one, "transaction"), "transaction"
    found = {
        "Attempts": f"{capital(one)}s",
        "share of all attempts": f"share of all {one}s",
        **{
            "Mated comparisons (genuine pairs)": attempts,
            "mated comparisons": attempts,
        },
        **{"False non-matches": errors, "false non-match rate": rate, "FNMR": name},
        **{"genuine pairs": attempts, "genuine pair": attempts[:-1]},
        **{
            "every comparison": f"every {one}",
            "comparisons, errors": f"{one}s, errors",
        },
        **{"pairs": f"{one}s", "pair": one},
    }
    if len(rate) > LONGEST_RATE:  # below a figure
        found["false non-match rate (FNMR)"] = name
    # Limits are about errors of either kind, of which these decisions have one.
    opposite = {"frr": "far", "far": "frr", "bpcer": "apcer", "apcer": "bpcer"}
    found["FMR"] = DECISIONS[opposite[settings["decisions"]]][0]
    if settings["decisions"] in ("far", "apcer"):
        found |= {"max_fnmr": "max_fmr", "max_fmr": "max_fnmr"}
        ratios = [
            f"max_{rate}_{of}ratio"
            for rate in ("fmr", "fnmr")
            for of in ("", "geomean_")
        ]
        found |= dict(zip(ratios, ratios[2:] + ratios[:2], strict=True))
    if settings["decisions"] == "bpcer":
        found |= {"compared and then not matched": "then taken for attacks"}
        found |= {"Then not matched": "Then taken for attacks"}
    return found


def reworded(part, settings):
    """A text, or a part of a document, in the words for what was audited."""
    words = words_for(settings)
    return changed(part, replacer(tuple(words.items()))) if words else part


@cache
def replacer(words):
    """A function that replaces pairs of words, capital ones too, in a text."""
    known = dict(words) | {capital(old): capital(new) for old, new in words}
    longest = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w-])({longest})(?![\w-])")
    return partial(pattern.sub, lambda found: known[found[0]])


def changed(part, change):
    """A text, or all texts of a part of a document, changed by a function."""
    if isinstance(part, str):
        return change(part)
    if isinstance(part, list | tuple):
        return type(part)(changed(one, change) for one in part)
    if is_dataclass(part):
        found = {f.name: changed(getattr(part, f.name), change) for f in fields(part)}
        return replace(part, **found)
    if callable(part):  # what draws a figure
        return wording(change)(part)
    return part


@contextmanager
def wording(change):
    """Let a function change the texts that ``worded`` finishes."""
    before = _WORDING.set((change, *_WORDING.get()))
    try:
        yield
    finally:
        _WORDING.reset(before)


def wording_of(settings):
    """The same for what is measured with these settings, a dict."""
    words = words_for(settings)
    return wording(replacer(tuple(words.items()))) if words else nullcontext()


def worded(text):
    """A finished text, in the words of what is measured; labels and quotes stay as typed."""
    for change in _WORDING.get():
        text = outside_quotes(text, change)
    return text.translate(LETTERS)


def outside_quotes(text, change):
    """A text, changed by a function except in what it quotes."""
    parts = QUOTED.split(text)
    return "".join(p if n % 2 else change(p) for n, p in enumerate(parts))


def as_typed(part):
    """A text, or a part of a document, whose labels have their letters back."""
    return changed(part, lambda text: text.translate(LETTERS))


def plain_form(value):
    """Dicts, lists and values for strict JSON: nan as null, infinities as text.

    Half characters, as in the path of a file whose name is not UTF-8, become "?".
    Fields of dataclasses whose metadata say ``json=False`` are left out.
    """
    if is_dataclass(value):
        shown = [f.name for f in fields(value) if f.metadata.get("json", True)]
        return {name: plain_form(getattr(value, name)) for name in shown}
    if isinstance(value, dict):
        return {plain_form(key): plain_form(v) for key, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain_form(v) for v in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def in_iso(form):
    """Dicts and lists for JSON or CSV, with the names of ISO/IEC 19795 for both rates.

    Python's ``far_errors`` is fmr_errors there, and ``rate`` is "fmr" or "fnmr". What users
    or estimators have named stays.
    """
    of_names = ("rate", "metric", "metrics")
    return with_names(form, ISO, OF_OTHERS, of_names, partial(named, names=ISO))


def named(name, names):
    """A name whose parts, between underscores, are called otherwise."""
    return "_".join(names.get(part, part) for part in name.split("_"))


def with_names(form, names, of_users, of_names, text, is_name=False):
    """Dicts and lists with other names of their keys, and other texts under some of them.

    Parameters
    ----------
    form : object
    names : dict of str -> str
        Of parts of keys.
    of_users, of_names : tuples of str
        Keys whose values stay, and those whose values ``text`` translates.
    text : callable
    """
    if isinstance(form, dict):
        asked = names, of_users, of_names, text
        return {
            named(key, names): value
            if key in of_users
            else with_names(value, *asked, key in of_names)
            for key, value in form.items()
        }
    if isinstance(form, list | tuple):
        return [with_names(v, names, of_users, of_names, text, is_name) for v in form]
    return text(form) if is_name and isinstance(form, str) else form


def _digits(value):
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(float(f"{value:.2e}"))))
    return f"{value:,.{min(max(2 - magnitude, 0), 12)}f}".rstrip(" ")
