"""
==================================================
Expression as the domain: Face Research Lab London
==================================================

102 people, each photographed neutral and smiling. The neutral photograph is the probe, the
smiling one the reference, and only pairs across the two are compared, as a selfie is with
a document: error rates by gender and by ethnicity as the people reported them, the FAR of
every two groups, and whether it depends on which of the two is the probe. Nothing is
fitted. The tables it prints are kept in ``study_london.json`` next to it and in
``docs/evidence/london.rst``, with what the set cannot answer. The set stays where it is:

    python examples/evaluation/study_london.py ../shared/data/london_pca/london_pca.npz
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

from skfairfr import SimilarityROC

DEFAULT = "../shared/data/london_pca/london_pca.npz"
ATTRIBUTES = ("gender", "ethnicity")
FARS = (1e-1, 1e-2)
N_RESAMPLES = 1000


def fitted(data, attribute, domain=True):
    """All pairs, or those across the expressions only."""
    roc = SimilarityROC(n_resamples=N_RESAMPLES, random_state=0)
    sides = {"domain": data["expression"]} if domain else {}
    groups = data[attribute] if attribute else None
    return roc.fit(data["embedding"], data["identity"], groups, **sides)


def text_of(estimate):
    """A value with its interval. An asterisk marks too few errors."""
    if np.isnan(estimate.value):
        return "undefined"
    text = bracket(estimate.value, estimate.low, estimate.high, ".3g")
    return text if estimate.supported else rf"{text} \*"


def bracket(value, low, high, form):
    """A value with its interval, if it has one."""
    ends = "no interval" if np.isnan(low) else f"{low:{form}}, {high:{form}}"
    return f"{value:{form}} [{ends}]"


def table(header, rows):
    lines = [".. csv-table::", "   :header-rows: 1", "   :delim: |", ""]
    return "\n".join(lines + [f"   {' | '.join(row)}" for row in [header, *rows]])


def overall(data):
    """Do pairs across expressions have higher error rates than all pairs?"""
    rows = []
    for name, domain in (("neutral against smiling", True), ("all pairs", False)):
        roc = fitted(data, None, domain)
        frr = [text_of(roc.estimate(far)) for far in FARS]
        rows.append([name, text_of(roc.equal_error_rate()), *frr])
    header = ["Compared", "EER", *(f"FRR at FAR {far:g}" for far in FARS)]
    return "Overall", table(header, rows)


def by_group(data, attribute, far):
    """Error rates of each group at the overall threshold, and their disparities."""
    roc, rows = fitted(data, attribute), []
    for group in roc.groups_.tolist():
        people = np.unique(data["identity"][data[attribute] == group]).size
        rates = [
            text_of(roc.estimate(far, rate=rate, group=group))
            for rate in ("far", "frr")
        ]
        rows.append([group, str(people), *rates])
    spread = [
        text_of(roc.estimate(far, rate=rate, how="max_geomean"))
        for rate in ("far", "frr")
    ]
    rows.append(["max/geomean", "", *spread])
    text = table(["Group", "people", "FAR within it", "FRR"], rows)
    return f"By {attribute}, overall FAR {far:g}", text


def matrix(data, attribute, far):
    """log10 FAR of the pairs of every probe group and reference group."""
    matrix = fitted(data, attribute).far_matrix(far)
    rows = []
    for i, group in enumerate(matrix.groups.tolist()):
        row = zip(
            *(matrix.far[i], matrix.low[i], matrix.high[i]),
            *(matrix.n_impostor[i], matrix.supported[i]),
            strict=True,
        )
        rows.append([group, *(cell(*values) for values in row)])
    title = f"log10 FAR, probe (row) by reference (column), overall FAR {far:g}"
    return title, table(["", *matrix.groups.tolist()], rows)


def cell(far, low, high, n_impostor, supported):
    """log10 of a FAR with its interval. An asterisk marks too few errors."""
    if n_impostor == 0:
        return "no pair"
    if far == 0:
        return rf"none of {n_impostor} \*"
    with np.errstate(divide="ignore"):
        text = bracket(*np.log10([far, low, high]), ".1f")
    return text if supported else rf"{text} \*"


def asymmetry(data, attribute, far):
    """Whether the FAR of two groups depends on which of them is the probe."""
    tested = fitted(data, attribute).far_asymmetry(far)
    rows = [
        [f"{a}, {b}", bracket(d, low, high, "+.2f"), f"{p:.2g}", f"{holm:.2g}"]
        for a, b, d, low, high, p, holm in zip(
            *(tested.group_1, tested.group_2),
            *(tested.difference, tested.low, tested.high),
            *(tested.p_value, tested.p_holm),
            strict=True,
        )
        if not np.isnan(low)
    ]
    text = table(["Groups", "difference of log10 FAR", "p", "p, Holm"], rows)
    left = tested.group_1.size - len(rows)
    if left:
        text += f"\n\nWithout an interval: {left} pairs of groups."
    return f"Does it matter who smiles? By {attribute}, overall FAR {far:g}", text


def every(data):
    """Title and text of each table."""
    found = [overall(data)]
    found += [by_group(data, name, far) for name in ATTRIBUTES for far in FARS]
    found.append(matrix(data, "ethnicity", FARS[0]))
    found += [asymmetry(data, name, FARS[0]) for name in ATTRIBUTES]
    return dict(found)


def main(path=DEFAULT):
    with np.load(path) as file:
        data = {name: file[name] for name in file.files}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = every(data)
    messages = dict.fromkeys(f"- {one.message}" for one in caught)
    found["Warnings"] = "\n".join(messages)
    target = Path(__file__).with_suffix(".json")
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for title, text in found.items():
        print(f"\n{title}\n{'~' * len(title)}\n\n{text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
