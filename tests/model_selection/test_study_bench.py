"""What README and the guide say of the bench is what its study kept."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETS = json.loads((ROOT / "examples/mitigation/study_bench.json").read_text("utf-8"))[
    "sets"
]
LFW = SETS["LFW"]
CHANGES = {
    name: {method["name"]: method["changes"] for method in bench["methods"]}
    for name, bench in SETS.items()
}
QUOTED = (
    *("as-norm", "s-norm", "FSN", "PLDA", "FPR penalty", "ethical module"),
    *("group means out", "centroid fairness", "WCCN", "group thresholds"),
)


def said(change):
    """A ratio and its interval, as the guide writes them."""
    return "{ratio:.2f} [{low:.2f}, {high:.2f}]".format(**change)


def flat(path):
    return " ".join((ROOT / path).read_text("utf-8").split())


def differs(change):
    return change["high"] < 1 or change["low"] > 1


def test_the_table_of_all_sets_is_the_study():
    text = flat("docs/user_guide/mitigating.rst")
    cells = [
        f"{b['before']['bfar']:.2f}, {b['before']['bfrr']:.2f}" for b in SETS.values()
    ]
    assert f"* - before: BFAR, BFRR - {' - '.join(cells)}" in text
    for name in CHANGES["LFW"]:
        cells = [
            "{:.2f}, {:.2f}".format(
                *(found[name][metric]["ratio"] for metric in ("bfar", "frr_at_far"))
            )
            for found in CHANGES.values()
        ]
        assert f"* - {name} - {' - '.join(cells)}" in text


def test_the_advice_rests_on_the_study():
    text = flat("docs/user_guide/mitigating.rst")
    crowded, nuisance = CHANGES["crowded group"], CHANGES["nuisance direction"]
    for found in (crowded["as-norm"], nuisance["WCCN"]):
        assert all(said(found[m]) in text for m in ("bfar", "frr_at_far"))
    lowered = [c["bfar"]["ratio"] for c in crowded.values() if c["bfar"]["high"] < 1]
    assert len(lowered) == 12 and not differs(crowded["WCCN"]["bfar"])
    for name in ("as-norm", "s-norm", "FSN", "group thresholds"):
        assert nuisance[name]["bfar"]["high"] < 1
        assert nuisance[name]["frr_at_far"]["high"] >= 1
    spread = CHANGES["spread group"].values()
    assert not any(found["bfrr"]["high"] < 1 for found in spread)
    assert sum(found["frr_at_far"]["low"] > 1 for found in spread) == 8
    both = CHANGES["crowded and spread"].values()
    rose = [c["bfrr"] for c in both if c["bfar"]["high"] < 1]
    assert all(change["low"] > 1 for change in rose)
    ends = [f"{end(c['ratio'] for c in rose):.2f}" for end in (min, max)]
    assert f"between {ends[0]} and {ends[1]} times" in text
    of_crowded = [c["bfrr"] for c in crowded.values() if c["bfar"]["high"] < 1]
    ends = [f"{end(c['ratio'] for c in of_crowded):.2f}" for end in (min, max)]
    assert f"it was {ends[0].lstrip('0')} to {ends[1]} times" in text
    assert [n for n, c in crowded.items() if differs(c["bfrr"])] == ["group thresholds"]


def test_the_guide_quotes_real_faces():
    text = flat("docs/user_guide/mitigating.rst")
    found = CHANGES["LFW"]
    for name in QUOTED:
        row = f"{said(found[name]['bfar'])} - {said(found[name]['frr_at_far'])}"
        assert f"* - {name} - {row}" in text
    assert LFW["sentence"].startswith("None of the 14 methods lowers BFAR detectably")
    factor = re.search(r"factor of ([0-9.]+) would", LFW["sentence"]).group(1)
    assert f"a fall by a factor of {factor} would have been seen" in text
    assert f"BFAR was {found['as-norm']['bfar']['before']:.2f} before" in text
    raised = {
        method["name"]
        for method in LFW["methods"]
        if method["p_adjusted"] <= 0.05 and method["changes"]["bfar"]["low"] > 1
    }
    assert raised == {"as-norm", "s-norm", "FSN", "PLDA"}


def test_readme_quotes_the_study():
    text = flat("README.md")
    change = CHANGES["LFW"]["as-norm"]["bfar"]
    assert "{ratio:.2f} ({low:.2f} to {high:.2f})".format(**change) in text
    change = CHANGES["crowded group"]["as-norm"]["bfar"]
    words = (
        "from {before:.2f} to {after:.2f} ({ratio:.2f} times, {low:.2f} to {high:.2f})"
    )
    assert words.format(**change) in text
