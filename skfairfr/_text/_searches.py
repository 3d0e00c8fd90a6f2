"""Searches (1:N) in their own words: texts, documents, and names in JSON and CSV.

To the engine, and in records, a non-mated search is an impostor pair, a mated one a genuine pair;
"far" is the FPIR and "frr" the FNIR.
"""

from functools import partial

from skfairfr._text import _words
from skfairfr._text._words import changed, replacer, with_names

NAMES = {"far": "fpir", "frr": "fnir", "fmr": "fpir", "fnmr": "fnir"}
# Terms of comparisons -> of searches.
TERMS = {
    **{"FMR": "FPIR", "FNMR": "FNIR", "FAR": "FPIR", "FRR": "FNIR"},
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
    "verification systems": "identification systems",
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
    **{"impostor score": "score of a non-mated search", "n_impostor": "n_nonmated_"},
    **{"genuine": "mated", "impostor": "non-mated"},
    "pairs": "searches",
    "pair": "search",
}
# Keys whose values users have named.
OF_USERS = (*_words.OF_OTHERS, "similarity", "gallery")


def in_search_terms(part):
    """A text, or a part of a document, in the terms of searches."""
    return changed(part, replacer(tuple(TERMS.items())))


def in_search_names(form):
    """Dicts and lists for JSON or CSV, with the names of rates of searches."""

    return with_names(form, NAMES, OF_USERS, ("rate", "name"), named)


# A name that holds a rate, as of searches: max_fmr_ratio is max_fpir_ratio.
named = partial(_words.named, names=NAMES)
