"""What README and the guide say of the bench is what its study kept."""

import json
import math
import re
from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose

from skfairfr._core._few_errors import holm

ROOT = Path(__file__).resolve().parents[2]
SETS = json.loads((ROOT / "examples/mitigation/study_bench.json").read_text("utf-8"))[
    "sets"
]
LFW = SETS["LFW"]
CHANGES = {
    name: {method["name"]: method["changes"] for method in bench["methods"]}
    for name, bench in SETS.items()
}
RATES = {
    (name, method["name"], group["group"], group["rate"]): group
    for name, bench in SETS.items()
    for method in bench["methods"]
    for group in method["groups"]
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
    for name in ("as-norm", "s-norm", "FSN", "group thresholds"):
        assert nuisance[name]["bfrr"]["low"] > 1
    heads = [nuisance[n] for n in ("ethical module", "FPR penalty", "triplets")]
    for metric in ("bfar", "frr_at_far"):
        assert all(
            abs(h[metric]["ratio"] - nuisance["WCCN"][metric]["ratio"]) < 0.03
            for h in heads
        )
    spread = CHANGES["spread group"].values()
    assert not any(found["bfrr"]["high"] < 1 for found in spread)
    lowest = min(found["bfrr"]["low"] for found in spread)
    assert f"no interval reaches below {math.floor(100 * lowest) / 100} times" in text
    raised = [c["frr_at_far"] for c in spread if c["frr_at_far"]["low"] > 1]
    assert len(raised) == 8
    adjusted = holm(np.array([c["frr_at_far"]["p_value"] for c in spread]))
    assert (adjusted <= 0.05).sum() == 7
    both = CHANGES["crowded and spread"].values()
    rose = [c["bfrr"] for c in both if c["bfar"]["high"] < 1]
    assert all(change["low"] > 1 for change in rose)
    changes = [c["bfrr"] for c in CHANGES["crowded and spread"].values()]
    adjusted = holm(np.array([change["p_value"] for change in changes]))
    assert all(adjusted[changes.index(change)] <= 0.05 for change in rose)
    ends = [f"{end(c['ratio'] for c in rose):.2f}" for end in (min, max)]
    assert f"between {ends[0]} and {ends[1]} times" in text
    of_crowded = [c["bfrr"] for c in crowded.values() if c["bfar"]["high"] < 1]
    ends = [f"{end(c['ratio'] for c in of_crowded):.2f}" for end in (min, max)]
    assert f"it was {ends[0].lstrip('0')} to {ends[1]} times" in text
    assert [n for n, c in crowded.items() if differs(c["bfrr"])] == ["group thresholds"]
    p_values = np.array([c["bfrr"]["p_value"] for c in crowded.values()])
    assert (
        f"the adjusted p-value is {holm(p_values).min():.2f}".replace("0.", ".") in text
    )
    assert f"wide there (as-norm: {said(crowded['as-norm']['bfrr'])})" in text


def test_who_pays_is_said():
    text = flat("docs/user_guide/mitigating.rst")
    crowded = CHANGES["crowded group"]
    women, men = (
        RATES["crowded group", "as-norm", g, "frr"] for g in ("female", "male")
    )
    assert f"FRR of women rose to {said(women)} times" in text
    assert f"that of men fell to {said(men)} times" in text
    most = sorted(crowded, key=lambda n: crowded[n]["bfar"]["ratio"])[:8]
    assert set(most) == {
        name
        for name in crowded
        if RATES["crowded group", name, "female", "frr"]["low"] > 1
    }
    both = CHANGES["crowded and spread"]
    for metric in ("bfar", "frr_at_far", "bfrr"):
        assert said(both["as-norm"][metric]) in text
        assert not differs(both["WCCN"][metric])
    assert [SETS[name]["winner"] for name in SETS] == [
        *(None, "centroid fairness", None, "centroid fairness", "ethical module")
    ]
    quoted = RATES["crowded group", "as-norm", "female", "frr"]
    assert "{ratio:.2f} times as often ({low:.2f} to {high:.2f})".format(
        **quoted
    ) in flat("README.md")


def test_the_guide_quotes_real_faces():
    text = flat("docs/user_guide/mitigating.rst")
    found = CHANGES["LFW"]
    for name in QUOTED:
        row = f"{said(found[name]['bfar'])} - {said(found[name]['frr_at_far'])}"
        assert f"* - {name} - {row}" in text
    others = set(found) - set(QUOTED)
    assert others == {"LDA", "FairCal", "adversary", "triplets"}
    assert not any(differs(found[name]["bfar"]) for name in others)
    assert f"the FRR, to {said(found['triplets']['frr_at_far'])} times" in text
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
    assert raised == {
        name for name in found if RATES["LFW", name, "female", "far"]["low"] > 1
    }
    for rate in ("far", "frr"):
        women, men = (RATES["LFW", "as-norm", g, rate] for g in ("female", "male"))
        shown = f"{women['before']:.3f}, men {men['before']:.3f}"
        assert f"{rate.upper()} ({shown})".replace("0.", ".") in text
        assert said(women) in text
    assert "and cannot fall below 1" in LFW["sentence"]


def test_plda_of_real_faces_is_quoted():
    found = CHANGES["LFW"]["PLDA"]["bfar"]
    assert f"{said(found)} times" in flat("docs/user_guide/embedding_side.rst")


def test_readme_quotes_the_study():
    text = flat("README.md")
    change = CHANGES["LFW"]["as-norm"]["bfar"]
    assert "{ratio:.2f} ({low:.2f} to {high:.2f})".format(**change) in text
    change = CHANGES["crowded group"]["as-norm"]["bfar"]
    words = (
        "from {before:.2f} to {after:.2f} ({ratio:.2f} times, {low:.2f} to {high:.2f})"
    )
    assert words.format(**change) in text


def test_the_page_of_the_study_prints_its_numbers():
    text = (ROOT / "docs/studies/bench_tables.txt").read_text("utf-8")
    parts = dict(
        zip(*[iter(re.split(r"^### (.*)\n", text, flags=re.M)[1:])] * 2, strict=True)
    )
    assert list(parts) == list(SETS)
    for name, part in parts.items():
        assert SETS[name]["sentence"] in " ".join(part.split())
        for method, changes in CHANGES[name].items():
            # The first table has the rows with the p-values of the change.
            (line,) = re.findall(rf"^{method} +\S+ +\S+ \[.*\(.*", part, flags=re.M)
            shown = re.findall(r"(\S+) \[(\S+), (\S+)\]", line)
            for found, metric in zip(
                shown, ("bfar", "frr_at_far", "bfrr"), strict=True
            ):
                expected = [changes[metric][n] for n in ("ratio", "low", "high")]
                assert_allclose([float(x) for x in found], expected, atol=0.006)
