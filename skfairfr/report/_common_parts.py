"""Parts of the documents of audits and of comparisons alike."""

from importlib.resources import files
from itertools import groupby
from operator import attrgetter

from skfairfr._core._rates import in_digits
from skfairfr.utils._document import Facts
from skfairfr.utils._words import (
    RATES,
    accepted,
    capital,
    count,
    given_point,
    in_iso,
    level_percent,
    printable,
)

DISPARITIES = {
    "gini": "FPD, FND of ISO/IEC 19795-10 (Gini)",
    "max_min": "largest / smallest",
    "max_geomean": "largest / geometric mean",
    "log_geomean": "log10 distance from geometric mean",
    "difference": "largest \N{MINUS SIGN} smallest",
}
# How the reason of a figure ends that was not counted over all pairs.
SOURCES = {
    "all pairs": "",
    "sample": "beyond the FMR up to which all pairs are held: from a uniform sample of "
    "impostor pairs",
}
# Why verdicts are withheld, in short and at length, by the code of the warning.
WITHHELD = {
    "reversed_scores": (
        "scores look like distances",
        "genuine pairs mostly have smaller scores than impostor pairs, as distances do. If "
        "the scores are distances, give --distance (in Python distance=True); if it was "
        "given, leave it out.",
    ),
    "reversed_beside_others": (
        "scores of one system look like distances",
        "genuine pairs mostly have smaller scores than impostor pairs, unlike those of the "
        "other system: change the sign of its scores.",
    ),
    "uninformative_scores": (
        "scores are no better than chance",
        "scores hardly tell genuine pairs from impostor pairs, as where labels are not in "
        "the order of the rows.",
    ),
}


def lines_of(name):
    """Lines of a text that is the same on every page."""
    file = files("skfairfr.report") / "texts" / f"{name}.txt"
    return file.read_text(encoding="utf-8").splitlines()


def glossary(settings, without=()):
    """Words of the page."""
    accepted = "similarity from which on"
    if settings.get("distance"):
        accepted = "distance up to which"
    lines = (line.replace("{accepted}", accepted) for line in lines_of("glossary"))
    terms = (line.split(": ", 1) for line in lines)
    return Facts(
        [(t, said) for t, said in terms if not t.startswith(without)], long=True
    )


def settings_of(settings):
    """Settings by name, thresholds on the scale of the caller's scores."""
    unset = (None, False)
    shown = {k: v for k, v in settings.items() if v not in unset and k != "sha256"}
    if "threshold" in shown:
        sign = -1 if settings.get("distance") else 1
        shown["threshold"] = [in_digits(sign * v) for v in shown["threshold"]]
    rows = []
    for name, value in in_iso(shown).items():
        values = value if isinstance(value, list | tuple) else [value]
        texts = (f"{v:g}" if isinstance(v, float) else str(v) for v in values)
        rows.append((name, ", ".join(texts)))
    return Facts(rows)


def about_rows(found):
    """What the caller said of the test."""
    named = {"system": "System", "dataset": "Data set", "organisation": "Laboratory"}
    return [
        (t, printable(found.about[k])) for k, t in named.items() if k in found.about
    ]


def facts_of_data(everyone, attributes):
    """How many people, images and comparisons there are, and by what they are grouped."""
    people = "not known; pairs taken as independent"
    if everyone.n_identities is not None:
        people = count(everyone.n_identities)
    rows = [("People", people)]
    if everyone.n_images is not None:
        rows.append(("Images", count(everyone.n_images)))
    return [
        *rows,
        ("Mated comparisons (genuine pairs)", count(everyone.n_genuine)),
        ("Non-mated comparisons (impostor pairs)", count(everyone.n_impostor)),
        ("Attributes", "; ".join(attributes)),
    ]


# ---- operating points ----------------------------------------------------------------


def place_of(level, found):
    """The operating point of a level in words."""
    if level.far is None:
        return f"the given {given_point(level.threshold, found.settings)}"
    other = " on other data" if getattr(level, "set_on", "") == "other data" else ""
    return f"an FMR of {level_percent(level.far)}{other}"


def short_place(level, found):
    """The same for a legend."""
    place = place_of(level, found).replace("an FMR of", "FMR")
    return place.removeprefix("the given ").replace("on other data", "elsewhere")


def title_of(level, found):
    """The same with the threshold there, for a heading."""
    place = capital(place_of(level, found).removeprefix("an ").removeprefix("the "))
    return f"{place}: {accepted(level.threshold, found.settings)}"


# ---- reasons -------------------------------------------------------------------------


def withheld(settings):
    """A headline and the reason where verdicts are withheld; two empty texts if not.

    The reason names the systems of a comparison.
    """
    found = settings.get("withheld")
    if not found:
        return "", ""
    if isinstance(found, str):
        short, why = WITHHELD[found]
        return f"No verdict: {short}.", f"Verdicts are withheld: {why}"
    headlines = dict.fromkeys(WITHHELD[code][0] for code in found.values())
    reasons = [f" In {printable(n)}, {WITHHELD[code][1]}" for n, code in found.items()]
    return (
        f"No verdict: {' and '.join(headlines)}.",
        f"Verdicts are withheld.{''.join(reasons)}",
    )


def reason_in_words(figure, rate=None):
    """Why a figure is not supported; its group, and a rate that is given, were named."""
    words = {}
    for reason in figure.reasons:
        of_rate = rate is None and reason.rate in RATES and reason.code != "no_pairs"
        about = f"{RATES[reason.rate]}: " if of_rate else ""
        words.setdefault(about, []).append(reason.words)
    text = "; ".join(f"{about}{'; '.join(texts)}" for about, texts in words.items())
    return text or printable(figure.reason)


def in_words(reasons, source="all pairs"):
    """Reasons, of any length, as one text that ends with the source.

    Parameters
    ----------
    reasons : sequence of Reason
    source : {"all pairs", "sample"}, default="all pairs"

    Returns
    -------
    text : str
    """
    texts = []
    for lacking, run in groupby(reasons, lambda reason: reason.code == "no_pairs"):
        texts.append((_no_pairs if lacking else _joined)(run))
    # A label at the start may begin with space.
    return "; ".join(filter(None, [*texts, SOURCES[source]])).strip()


def _joined(reasons):
    """Reasons, those about one label behind it, with the standard's names of rates."""
    texts = []
    for label, of_label in groupby(reasons, attrgetter("label")):
        first, *others = of_label
        words = "; ".join(reason.words for reason in (first, *others))
        if first.rate and label.endswith(own := first.rate.upper()):
            label = label.removesuffix(own) + RATES[first.rate]
        texts.append(f"{label}: {words}" if label else words)
    return "; ".join(texts)


def _no_pairs(reasons):
    """The kinds of pairs that are lacking, once for each label."""
    texts = []
    for label, of_label in groupby(reasons, lambda reason: reason.label):
        kinds = " and ".join(reason.words.removesuffix(" pair") for reason in of_label)
        texts.append(": ".join(filter(None, (label, f"{kinds} pair"))))
    return "; ".join(texts)
