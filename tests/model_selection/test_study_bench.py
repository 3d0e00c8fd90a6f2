"""What README and the guide say of the bench is what its study kept."""

import json
import math
import re
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core._few_errors import holm

ROOT = Path(__file__).resolve().parents[2]
SETS = json.loads((ROOT / "examples/mitigation/study_bench.json").read_text("utf-8"))[
    "sets"
]
LFW = SETS["LFW"]
METHODS = {
    name: {method["name"]: method for method in bench["methods"]}
    for name, bench in SETS.items()
}
CHANGES = {
    name: {method: found["changes"] for method, found in of.items()}
    for name, of in METHODS.items()
}
RATES = {
    (name, method, group["group"], group["rate"]): group
    for name, of in METHODS.items()
    for method, found in of.items()
    for group in found["groups"]
}
WITH_HEADS = [name for name in SETS if "plain head" in METHODS[name]]
TRAINED = [name for name, found in METHODS["LFW"].items() if found["controls"]]


def said(change):
    """A ratio and its interval, as the guide writes them."""
    return "{ratio:.2f} [{low:.2f}, {high:.2f}]".format(**change)


def flat(path):
    return " ".join((ROOT / path).read_text("utf-8").split())


@pytest.fixture(scope="module")
def guide():
    return flat("docs/user_guide/mitigating.rst")


def adjusted(name, metric):
    """P-values of a metric of a set, adjusted for its methods, by method."""
    p_values = [found[metric]["p_value"] for found in CHANGES[name].values()]
    return dict(zip(CHANGES[name], holm(np.array(p_values)), strict=True))


def raised(name, metric):
    """Methods that raised a metric, and those that still did after adjustment."""
    own = [m for m, found in CHANGES[name].items() if found[metric]["low"] > 1]
    return own, [m for m in own if adjusted(name, metric)[m] <= 0.05]


def lowered(name, metric="bfar"):
    return [m for m, found in CHANGES[name].items() if found[metric]["high"] < 1]


def words(number):
    return "none one two three four five six seven eight nine".split()[number]


def test_the_table_of_all_sets_is_the_study(guide):
    before = [
        f"{b['before']['bfar']:.2f}, {b['before']['bfrr']:.2f}" for b in SETS.values()
    ]
    rows = {"before: BFAR, BFRR": before}
    for name in CHANGES["LFW"]:
        rows[name] = [
            "{:.2f}, {:.2f}".format(
                *(found[name][metric]["ratio"] for metric in ("bfar", "frr_at_far"))
            )
            if name in found
            else ""
            for found in CHANGES.values()
        ]
    for name, cells in rows.items():
        assert " ".join(f"* - {name} - {' - '.join(cells)}".split()) in guide


def test_the_table_of_heads_against_controls_is_the_study(guide):
    stars = 0
    for head in TRAINED:
        for control in ("plain head", "margin head"):
            cells = []
            for name in WITH_HEADS:
                found = {c["control"]: c for c in METHODS[name][head]["controls"]}
                star = found[control]["p_adjusted"] <= 0.05
                stars += star
                cells.append(said(found[control]["changes"]["bfar"]) + r"\*" * star)
            first = head if control == "plain head" else ""
            assert " ".join(
                f"* - {first} - {control} - {' - '.join(cells)}".split()
            ) in (guide)
    n = 2 * len(TRAINED) * len(WITH_HEADS)
    assert f"{words(stars)} of {n} comparisons differ" in guide
    kappas = {
        tuple(sorted(chosen.items()))
        for name in WITH_HEADS
        for chosen in METHODS[name]["ethical module"]["parameters"]
    }
    assert kappas == {(("kappa0", "20.0"), ("kappa1", "20.0"))}


def test_the_advice_rests_on_the_study(guide):
    crowded, nuisance = CHANGES["crowded group"], CHANGES["nuisance direction"]
    for found in (crowded["as-norm"], nuisance["WCCN"]):
        assert all(said(found[m]) in guide for m in ("bfar", "frr_at_far"))
    helping = lowered("crowded group")
    assert set(crowded) - set(helping) == {"WCCN", "LDA"}
    assert crowded["LDA"]["frr_at_far"]["low"] > 1
    paid = [m for m in helping if RATES["crowded group", m, "female", "frr"]["low"] > 1]
    assert set(helping) - set(paid) == {"adversary"}
    assert f"of the {len(helping)} methods that lowered BFAR all but the" in guide
    for name in ("as-norm", "s-norm", "FSN", "group thresholds"):
        assert (
            nuisance[name]["bfar"]["high"] < 1 <= nuisance[name]["frr_at_far"]["high"]
        )
    for name in ("plain head", "margin head", "FPR penalty", "triplets"):
        for metric in ("bfar", "frr_at_far"):
            ratios = [nuisance[m][metric]["ratio"] for m in (name, "WCCN")]
            assert abs(ratios[0] - ratios[1]) < 0.03
    spread = CHANGES["spread group"]
    assert lowered("spread group", "bfrr") == ["LDA"]
    assert METHODS["spread group"]["LDA"]["levelling_down"]
    assert f"BFRR, to {said(spread['LDA']['bfrr'])} times, by rejecting" in guide
    times = spread["LDA"]["frr_at_far"]["ratio"]
    assert f"rejecting everyone {times:.0f} times as often" in guide
    lowest = min(found["bfrr"]["low"] for m, found in spread.items() if m != "LDA")
    assert f"interval reaches below {math.floor(100 * lowest) / 100} times" in guide
    own, after = map(len, raised("spread group", "frr_at_far"))
    assert f"{words(own).capitalize()} raised the FRR of everyone" in guide
    assert f"({words(after)}, if p-values are adjusted)" in guide
    both = CHANGES["crowded and spread"]
    for metric in ("bfar", "frr_at_far", "bfrr"):
        assert said(both["as-norm"][metric]) in guide
    for metric in ("bfar", "frr_at_far"):
        assert both["WCCN"][metric]["low"] < 1 < both["WCCN"][metric]["high"]
    assert set(raised("crowded and spread", "bfrr")[1]) == set(
        lowered("crowded and spread")
    )
    assert raised("crowded group", "bfrr")[1] == ["group thresholds", "s-norm"]
    assert [SETS[name]["winner"] for name in SETS] == [
        *(None, "as-norm", None, "as-norm", "FPR penalty")
    ]


def test_who_pays_is_said(guide):
    women, men = (
        RATES["crowded group", "as-norm", g, "frr"] for g in ("female", "male")
    )
    assert f"FRR of women rose to {said(women)} times" in guide
    assert f"that of men was {said(men)} times" in guide
    assert "{ratio:.2f} times as often ({low:.2f} to {high:.2f})".format(**women) in (
        flat("README.md")
    )
    for name in ("crowded group", "crowded and spread"):
        ratios = [CHANGES[name][m]["bfrr"]["ratio"] for m in lowered(name)]
        ends = min(ratios), max(ratios)
        assert "{:.2f} and {:.2f} times".format(*ends) in guide


def test_the_guide_quotes_real_faces(guide):
    found = CHANGES["LFW"]
    for name, changes in found.items():
        row = f"{said(changes['bfar'])} - {said(changes['frr_at_far'])}"
        assert f"* - {name} - {row}" in guide
    n = len(found)
    assert LFW["sentence"].startswith(f"None of the {n} methods lowers BFAR detectably")
    factor = re.search(r"factor of ([0-9.]+) would", LFW["sentence"]).group(1)
    assert f"a fall by a factor of {factor} would have been seen" in guide
    assert f"BFAR was {LFW['before']['bfar']:.2f} before" in guide
    assert "and cannot fall below 1" in LFW["sentence"]
    harmful = raised("LFW", "bfar")[1]
    for text in (
        f"and {words(len(harmful))} raised it (p-values adjusted for {n} methods)",
        f"none of the {n} methods lowered BFAR detectably",
    ):
        assert text in guide
    for name in harmful:
        assert RATES["LFW", name, "female", "far"]["low"] > 1
    for rate in ("far", "frr"):
        women, men = (RATES["LFW", "as-norm", g, rate] for g in ("female", "male"))
        shown = f"{women['before']:.3f}, men {men['before']:.3f}"
        assert f"{rate.upper()} ({shown})".replace("0.", ".") in guide
        assert said(women) in guide


def test_plda_of_real_faces_is_quoted():
    found = CHANGES["LFW"]["PLDA"]["bfar"]
    assert f"{said(found)} times" in flat("docs/user_guide/embedding_side.rst")


def test_readme_and_the_first_page_quote_the_study():
    text, n = flat("README.md"), len(CHANGES["LFW"])
    change = CHANGES["LFW"]["as-norm"]["bfar"]
    assert "{ratio:.2f} ({low:.2f} to {high:.2f})".format(**change) in text
    change = CHANGES["crowded group"]["as-norm"]["bfar"]
    told = (
        "from {before:.2f} to {after:.2f} ({ratio:.2f} times, {low:.2f} to {high:.2f})"
    )
    assert told.format(**change) in text
    harmful = words(len(raised("LFW", "bfar")[1]))
    assert f"detectably, and {harmful} raised it" in text
    first = flat("docs/index.rst")
    for words_of in (text, first):
        assert f"BFAR was {LFW['before']['bfar']:.2f}" in words_of or (
            f"it was {LFW['before']['bfar']:.2f} before" in words_of
        )
    assert f"none of {n} methods" in first and f"and {harmful} raised it" in first
    n_helping = len(lowered("crowded group"))
    assert f"{n_helping} of the {n} lowered it" in first


def test_the_tables_are_those_of_what_is_kept():
    study = run_path(str(ROOT / "examples/mitigation/study_bench.py"))
    texts = [f"### {n}\n\n{study['again'](b).to_text()}\n" for n, b in SETS.items()]
    shown = (ROOT / "docs/studies/bench_tables.txt").read_text("utf-8")
    assert shown == "".join(texts)


def test_the_page_of_the_study_prints_its_numbers():
    text = (ROOT / "docs/studies/bench_tables.txt").read_text("utf-8")
    parts = dict(
        zip(*[iter(re.split(r"^### (.*)\n", text, flags=re.M)[1:])] * 2, strict=True)
    )
    assert list(parts) == list(SETS)
    for name, part in parts.items():
        assert SETS[name]["sentence"] in " ".join(part.split())
        for method, changes in CHANGES[name].items():
            # Of the first table, whose later cells can go over two lines.
            (line,) = re.findall(rf"^{method} +[0-9.]+ +[0-9.]+ \[.*", part, flags=re.M)
            shown = re.findall(r"(\S+) \[(\S+), (\S+)\]", line)
            expected = [changes["bfar"][n] for n in ("ratio", "low", "high")]
            assert_allclose([float(x) for x in shown[0]], expected, atol=0.006)
