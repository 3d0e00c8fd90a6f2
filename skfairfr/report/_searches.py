"""An audit of searches in its own words: documents, and names in JSON and CSV.

Records are those of comparisons, in which "far" is the FPIR and "frr" the FNIR.
"""

import json
import re
from dataclasses import replace

from skfairfr._text._document import Cell, Facts, Row, Section, Table
from skfairfr._text._words import capital, count, percent, printable, with_words
from skfairfr.report._notes import place_of

NAMES = {"far": "fpir", "frr": "fnir", "fmr": "fpir", "fnmr": "fnir"}
# Terms of comparisons -> of searches.
TERMS = {
    **{"FMR": "FPIR", "FNMR": "FNIR"},
    **{"false match rate": "false positive identification rate"},
    **{"false non-match rate": "false negative identification rate"},
    **{"non-mated comparisons (impostor pairs)": "non-mated searches"},
    **{"mated comparisons (genuine pairs)": "mated searches"},
    **{
        "non-mated comparisons": "non-mated searches",
        "mated comparisons": "mated searches",
    },
    **{"false matches": "false alarms", "false non-matches": "missed mates"},
    **{"impostor pairs": "non-mated searches", "impostor pair": "non-mated search"},
    **{"genuine pairs": "mated searches", "genuine pair": "mated search"},
    **{"errors between": "errors of", "error between": "error of"},
    "comparisons, errors": "searches, errors",
    "verification errors": "identification errors",
    "accepted from": "alarms from",
    "FPD, FND (Gini) of ISO/IEC 19795-10, as cited by DeSCon": "Gini coefficient",
    "BFAR, BFRR: largest": "largest",
    "fair; for FDR, smaller is. The last four combine both rates and have no interval": "fair",
    "of every two groups": "by the groups of the probe (rows) and of the person returned",
    "how often two people, one of each group, are taken for one": "how often a search of the "
    "row's group returns somebody of the column's first",
    " Rows are the groups of probes, columns those of references.": "",
    "a pair counts in a group if both of its images are in it": "a search counts in the group "
    "of its probe",
    "genuine": "mated",
    "pairs": "searches",
    "pair": "search",
}
KNOWN = TERMS | {capital(old): capital(new) for old, new in TERMS.items()}
PATTERN = re.compile(
    rf"(?<![\w-])({'|'.join(map(re.escape, sorted(KNOWN, key=len, reverse=True)))})(?![\w-])"
)
# Keys whose values users have named.
OF_USERS = ("sha256", "about", "similarity", "gallery")
# Terms of the glossary that are about comparisons alone.
LEFT_OUT = (
    *("FMR", "FNMR", "Mated", "Non-mated", "Template", "FTA", "GFAR", "FPD"),
    *("Inequity", "Levelling"),
)


def in_search_terms(part):
    """A text, or a part of a document, in the terms of searches."""
    return with_words(part, KNOWN, PATTERN)


def searched(document, report, glossary):
    """The document of an audit of searches, from that of an audit of comparisons."""
    settings = report.audits[0].settings
    gallery, sections = settings["gallery"], []
    lines = [line.split(": ", 1) for line in glossary]
    for section in in_search_terms(document).sections:
        if section.name == "data":
            (facts,) = section.parts
            section = replace(section, parts=[Facts([*_facts(gallery), *facts.rows])])
        if section.name == "open":
            sections.append(_alarms(report))
        if section.name == "method":
            section = replace(section, parts=[_method(settings, *section.parts)])
        if section.name == "limits":
            section = replace(section, parts=[[AS_GIVEN, *section.parts[0]]])
        if section.name == "glossary":
            (own,) = section.parts
            kept = [row for row in own.rows if not row[0].startswith(LEFT_OUT)]
            section = replace(section, parts=[replace(own, rows=lines + kept)])
        sections.append(section)
    return replace(in_search_terms(document), sections=sections)


AS_GIVEN = (
    "The gallery is taken as given: intervals are for other people who search it. Another "
    "gallery has another FPIR, a larger one a higher FPIR."
)


def _facts(gallery):
    templates = {
        "image": "one image of each",
        "mean": "the mean of each person's images",
        "max": "all images of each, of which the best counts",
    }
    about = f"{count(gallery['enrolled'])}, {templates[gallery['template']]}"
    return [
        ("People enrolled", about),
        ("Rank up to which a mate counts", gallery["rank"]),
    ]


def _alarms(report):
    """Who causes the alarms at each operating point of the first audit."""
    first, parts = report.audits[0], []
    for level, alarms in zip(
        first.levels, first.settings["gallery"]["alarms"], strict=True
    ):
        rows = []
        for of in alarms:
            group = "unknown" if of["group"] is None else printable(of["group"])
            cells = [
                Cell(group),
                Cell(count(of["n_alarms"])),
                Cell(percent(of["share"])),
            ]
            rows.append(Row(printable(of["identity"]), cells))
        total = percent(sum(of["share"] for of in alarms))
        caption = in_search_terms(
            f"Enrolled people whom false alarms return first, at {place_of(level, first)}: "
            f"these {len(rows)} are {total} of all such alarms. To enrol them anew may do "
            "more than another threshold; without them, other people may be returned."
        )
        if rows:
            head = ["Enrolled", "Group", "Alarms", "Share"]
            parts.append(Table(caption, head, rows))
    return Section("by-gallery-alarms", "Who causes the alarms", parts)


def _method(settings, told):
    """How the numbers came about: searches, then what is said of any audit."""
    gallery = settings["gallery"]
    more = f"{gallery['rank']} or more others reach"
    first = [
        "Every probe is compared with everybody enrolled. A search alarms if the score of "
        "somebody is at least the threshold; it belongs to the group of its probe. Searches "
        "by people who are not enrolled are non-mated, and their alarms false. A mated search "
        "misses its mate if the mate's score is below the threshold, or if "
        f"{'somebody else reaches' if gallery['rank'] == 1 else more} it."
    ]
    if "similarity" in settings:
        first.append(f"Two samples are compared by {settings['similarity']}.")
    given = told[-3].split(" Every comparison")[0]
    tests = "Groups are compared by two-sided tests of the errors of each person."
    return [*first, given, told[-2], tests]


def in_search_names(form, is_name=False):
    """Dicts and lists for JSON or CSV, with the names of rates of searches."""
    if isinstance(form, dict):
        return {
            named(key): value
            if key in OF_USERS
            else in_search_names(value, key in ("rate", "name", "reason", "notes"))
            for key, value in form.items()
        }
    if isinstance(form, list | tuple):
        return [in_search_names(value, is_name) for value in form]
    if is_name and isinstance(form, str):
        return named(form) if re.fullmatch("[a-z_]+", form) else in_search_terms(form)
    return form


def named(name):
    """A name that holds a rate, as of searches: max_fmr_ratio is max_fpir_ratio."""
    return "_".join(NAMES.get(part, part) for part in name.split("_"))


def schema_of_searches(schema):
    """The JSON Schema of an audit of searches, from that of comparisons."""
    text = json.dumps(schema)
    for old, new in (
        ("fnmr", "fnir"),
        ("fmr", "fpir"),
        ("FNMR", "FNIR"),
        ("FMR", "FPIR"),
    ):
        text = text.replace(old, new)
    return json.loads(text)
