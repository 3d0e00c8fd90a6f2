"""Tables of the bench in the guide, and its page, are what its study kept."""

import json
from pathlib import Path
from runpy import run_path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETS = json.loads((ROOT / "examples/mitigation/study_bench.json").read_text("utf-8"))[
    "sets"
]
METHODS = {
    name: {method["name"]: method for method in bench["methods"]}
    for name, bench in SETS.items()
}
CHANGES = {
    name: {method: found["changes"] for method, found in of.items()}
    for name, of in METHODS.items()
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


def test_the_tables_are_those_of_what_is_kept():
    study = run_path(str(ROOT / "examples/mitigation/study_bench.py"))
    texts = [f"### {n}\n\n{study['again'](b).to_text()}\n" for n, b in SETS.items()]
    shown = (ROOT / "docs/studies/bench_tables.txt").read_text("utf-8")
    assert shown == "".join(texts)
