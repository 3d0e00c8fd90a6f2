"""Pages of studies show the tables of the numbers kept, and the claims page quotes them."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
MITIGATION = EXAMPLES / "mitigation"
STUDIES = ROOT / "docs" / "studies"
# Script, the page, and what gives the texts of its tables from what it keeps.
PAGES = {
    "study_fpr_penalty": (
        "fpr_penalty",
        lambda study, found: [study.table(part) for part in found.values()],
    ),
    "study_group_sampling": (
        "group_sampling",
        lambda study, found: study.tables(found).values(),
    ),
    "study_premises": ("premises", lambda study, found: study.tables(found).values()),
    "study_extensions": (
        "extensions",
        lambda study, found: study.tables(found).values(),
    ),
    "study_training": ("training", lambda study, found: study.tables(found).values()),
    "study_lfw": ("lfw_ethical_module", lambda study, found: found.values()),
}
HEADS = ("residual", "mlp")
GRID = {
    head: json.loads((MITIGATION / f"kappa_grid_{head}.json").read_text("utf-8"))
    for head in HEADS
}


def kept(script):
    return json.loads((MITIGATION / f"{script}.json").read_text("utf-8"))


def load(script):
    """A script of the examples, as a module."""
    spec = importlib.util.spec_from_file_location(script, MITIGATION / f"{script}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[script] = module
    spec.loader.exec_module(module)
    return module


def flat(path):
    """Text without its line breaks, and without the escapes of a kappa's index."""
    text = " ".join((ROOT / path).read_text("utf-8").split())
    return text.replace(r"\ :sub:", ":sub:")


CLAIMS = flat("docs/claims.rst")


@pytest.mark.parametrize("script", PAGES)
def test_a_page_shows_the_tables_of_what_is_kept(script):
    pytest.importorskip("torch")
    page, texts = PAGES[script]
    shown = (STUDIES / f"{page}.rst").read_text("utf-8")
    texts = list(texts(load(script), kept(script)))
    assert len(texts) > 1
    for text in texts:
        assert text in shown


def test_the_page_of_london_shows_what_is_kept():
    found = json.loads((EXAMPLES / "evaluation/study_london.json").read_text("utf-8"))
    shown = (STUDIES / "london.rst").read_text("utf-8")
    assert len(found) > 5
    for title, text in found.items():
        assert f"\n{title}\n{'~' * len(title)}\n\n{text}\n" in shown


def scores(head, metric, level):
    """A metric over kappa0 and kappa1, smaller is better, and what it was before."""
    study, name = GRID[head], f"{metric}@{level}"
    return -np.array(study["scores"][name]), -study["scores_before"][name]


def n_lower_both(head, level):
    found = [scores(head, metric, level) for metric in ("bfar", "bfrr")]
    (bfar, bfar_before), (bfrr, bfrr_before) = found
    return int(((bfar < bfar_before) & (bfrr < bfrr_before)).sum())


def unseen(head, choice, metric):
    """After / before at 1e-3 of a choice, on people that no fit saw."""
    pair = GRID[head]["chosen"][f"{choice}@1e-3"]
    of = GRID[head]["unseen"]["{:g},{:g}".format(*pair)][metric]
    ends = (of[f"ratio_{name}"][0] for name in ("to_before", "low", "high"))
    return said(ends)


def said(ends):
    """Ratio and interval as the page has them: no 0 before the point."""
    value, low, high = (f"{end:.2f}".removeprefix("0") for end in ends)
    return f"{value} [{low}, {high}]"


def test_the_grid_of_kappas_is_quoted():
    assert n_lower_both("residual", "1e-3") == 0
    assert scores("residual", "bfar", "1e-3")[0].size == 36
    for text in (
        f"none of 36 pairs lowers both at 1e-3 ({n_lower_both('residual', '1e-4')} of 36 at",
        f"With the paper's head {n_lower_both('mlp', '1e-3')} of 36 do",
        f"BFAR × {unseen('residual', 'EM-C', 'bfar')}",
        f"BFRR × {unseen('residual', 'EM-C', 'bfrr')}",
        f"and FRR × {unseen('residual', 'EM-C', 'frr_at_far')}. With",
        f"{unseen('residual', 'EM-FAR', 'frr_at_far')} (EM-FAR)",
        f"{unseen('residual', 'EM-C', 'frr_at_far')} (EM-C)",
    ):
        assert text in CLAIMS
    for head in HEADS:
        chosen = [GRID[head]["chosen"][f"{name}@1e-3"] for name in ("EM-FAR", "EM-FRR")]
        far, frr = ("({:g}, {:g})".format(*pair) for pair in chosen)
        assert f"{far} and {frr}" in CLAIMS


def test_shapes_over_the_kappas_are_as_said():
    for head in HEADS:
        bfar, _ = scores(head, "bfar", "1e-3")
        assert ((bfar.argmin(1) > 0) & (bfar.argmin(1) < 5)).all()
        bfrr, _ = scores(head, "bfrr", "1e-3")
        assert (bfrr[-1] > bfrr.min(0)).all()
    frr, _ = scores("mlp", "frr_at_far", "1e-3")
    assert (np.diff(frr[2:, 1:], axis=1) > 0).all()
    frr, _ = scores("residual", "frr_at_far", "1e-3")
    rises = np.diff(frr, axis=1) > 0
    assert 0.1 < rises.mean() < 0.5


def test_the_far_of_women_is_as_said():
    """EM22 eq. 7 and 8."""
    women = []
    for head in HEADS:
        ratios = np.array(GRID[head]["scores"]["far_log_ratio@1e-3"])
        women.append(int((ratios > 0).sum()))
    told = "in {} (residual) and {} (the paper's head)".format(*women)
    assert f"of 36 pairs {told}" in CLAIMS
    for head, turn in (("residual", 30), ("mlp", 10)):
        study = GRID[head]
        pairs = [f"{study['fixed']:g},{kappa:g}" for kappa in study["kappas"]]
        fars = np.array([study["curves"][pair]["far female"] for pair in pairs])
        # Where there are false accepts to see.
        seen = (np.array(study["thresholds"]) >= 0) & (fars.max(0) > 1e-5)
        falls = np.diff(fars[:, seen], axis=0) < 0
        before = study["kappas"].index(turn)
        assert seen.sum() > 20
        assert falls[:before].all() and not falls[before:].any()
    assert "up to 30 (residual) or 10 and rises beyond" in CLAIMS


def test_what_kappa1_moves_is_as_said():
    """EM22 Fig. 15 and 16."""
    for head, told in (
        ("mlp", "FAR of women {}-fold and that of men {}-fold with the paper's head"),
        ("residual", "{}-fold and {}-fold with the residual head"),
    ):
        study = GRID[head]
        at = np.argmin(np.abs(np.array(study["thresholds"]) - 0.3))
        moved = []
        for group in ("female", "male"):
            far = [
                study["curves"][f"{study['fixed']:g},{kappa:g}"][f"far {group}"][at]
                for kappa in study["kappas"]
            ]
            moved.append(f"{max(far) / min(far):.1f}")
        assert told.format(*moved) in CLAIMS
    rejected, _ = scores("mlp", "frr_at_far", "1e-3")
    share = f"{100 * rejected.min():.0f} to {100 * rejected.max():.0f} %"
    assert f"{share} of the genuine pairs are rejected" in CLAIMS


PAPER_GRID = kept("paper_grid")
OF_PAPER = {(c["kind"], c["draw"], *c["kappas"]): c for c in PAPER_GRID["cells"]}


def on_grid(kind, metric, place, of="choice"):
    """A metric of the paper's grid over kappa0 and kappa1."""
    by = PAPER_GRID["kappas"][kind]
    cells = [[OF_PAPER[kind, 0, i, j][of][metric] for j in by] for i in by]
    return np.array(cells)[..., place]


def over_before(kind, draw, pair, metric):
    """After / before at 1e-3 on unseen people."""
    of = OF_PAPER[kind, draw, *pair][metric]
    ends = [of[name][0] for name in ("ratio", "ratio_low", "ratio_high")]
    if metric != "frr_at_far":
        return said(ends)
    return "{:.1f} [{:.1f}, {:.1f}]".format(*ends)


def in_three_draws(kind, pair, metric):
    first, second, third = (over_before(kind, k, pair, metric) for k in range(3))
    return f"{first}, {second} and {third}"


def test_em_c_is_quoted():
    both = PAPER_GRID["paper"]["EM-C"]
    names = ("bfar", "bfrr", "frr_at_far")
    bfar, bfrr, frr = (in_three_draws("drawn", both, name) for name in names)
    told = (
        f"(45, 30), has BFAR × {bfar} in three draws, BFRR × {bfrr}, and FRR × {frr}."
    )
    assert told in CLAIMS
    bfar, bfrr, frr = (over_before("unit variance", 0, both, name) for name in names)
    assert f"has BFAR × {bfar}, BFRR × {bfrr} and FRR × {frr} in one draw" in CLAIMS
    drawn, means = (
        [over_before(kind, 0, PAPER_GRID["chosen"][grid]["EM-C"], of) for of in names]
        for kind, grid in (("drawn", "drawn grid"), ("named", "grid"))
    )
    told = (
        "BFAR × {}, BFRR × {} and FRR × {}, drawn, (50, 50), and × {}, {} and {} from"
    )
    assert told.format(*drawn, *means) in CLAIMS
    bfrr, bfar = (over_before("named", 0, both, name) for name in ("bfrr", "bfar"))
    assert f"Nor from the means: BFRR × {bfrr} and BFAR × {bfar}." in CLAIMS
    counts = []
    before = OF_PAPER["grid", 0]["choice"]
    for kind in ("drawn grid", "grid"):
        bfar, bfrr = (
            on_grid(kind, metric, 0) < before[metric][0] for metric in ("bfar", "bfrr")
        )
        counts += [(bfar & bfrr).sum(), bfar.size]
    assert "{} of {} and {} of {} lower both on the people".format(*counts) in CLAIMS
    # At four times the FRR and more, on 500 people.
    for cell in kept("heads")["cells"]:
        if (cell["head"], cell["people"]) == ("mlp", 500):
            assert cell["frr"]["ratio"] > 3.95
            assert max(cell[name]["ratio"] for name in ("bfar", "bfrr")) < 1


def test_em_far_and_em_frr_are_quoted():
    def ratios(kind, pair, *metrics):
        return [over_before(kind, 0, pair, metric) for metric in metrics]

    far, frr = (PAPER_GRID["paper"][f"EM-{name}"] for name in ("FAR", "FRR"))
    drawn, means = (PAPER_GRID["chosen"][kind] for kind in ("drawn grid", "grid"))
    three = ("bfar", "frr_at_far", "bfrr")
    for text, kind, pair, metrics in (
        ("BFAR × {} and FRR × {}, and BFRR × {}. One κ", "drawn", far, three),
        ("BFAR × {}, FRR × {}, BFRR × {}. EM-FRR", "drawn", (20, 20), three),
        ("(25, 20), has BFRR × {}: it rises", "drawn", frr, three[2:]),
        (
            "(10, 50), has BFRR × {} and FRR × {}, and BFAR × {}. From",
            "drawn",
            drawn["EM-FRR"],
            three[::-1],
        ),
        ("EM-FAR has BFAR × {} and FRR × {}; EM-FRR raises", "named", far, three[:2]),
        ("EM-FRR raises BFRR, × {}.", "named", frr, three[2:]),
        (
            "(35, 30), has BFAR × {} and FRR × {}, EM-FRR",
            "named",
            means["EM-FAR"],
            three[:2],
        ),
        (
            "(25, 45), BFRR × {} and FRR × {}, while",
            "named",
            means["EM-FRR"],
            three[:0:-1],
        ),
    ):
        assert text.format(*ratios(kind, pair, *metrics)) in CLAIMS
    assert "(10, 50), has BFRR" in CLAIMS
    for chosen in (drawn, means):
        pairs = "({:g}, {:g}) and ({:g}, {:g})"
        assert pairs.format(*chosen["EM-FAR"], *chosen["EM-FRR"]) in CLAIMS
    first, *_, last = OF_PAPER["drawn", 0, 20, 20]["loss"]
    last = f"{last:.2f}".removeprefix("0")
    assert f"on 10,000 from {first:.1f} to {last} over 25 epochs" in CLAIMS


def test_shapes_of_the_papers_grid_are_as_said():
    for level, rises in ((0, 19), (1, 20)):
        bfrr, bfar, frr = (
            on_grid("drawn grid", name, level)
            for name in ("bfrr", "bfar", "frr_at_far")
        )
        # Rows are kappa0, 10 to 50; columns kappa1.
        assert bfrr.argmax(axis=1).tolist() == [1, 1, 0, 0, 0]
        assert (np.diff(bfrr[:, 1:], axis=1) < 0).all()
        assert (bfrr.argmin(axis=0) < 4).all()
        assert (np.diff(bfar[2]) > 0).all()
        assert (on_grid("grid", "bfrr", level).argmin(axis=0) < 8).all()
        assert (np.diff(frr, axis=0) > 0).all()
        assert (np.diff(frr, axis=1) > 0).sum() == rises
    bfrr, bfar = (on_grid("drawn grid", name, 0) for name in ("bfrr", "bfar"))
    lowest = bfar.argmin(axis=1)
    assert np.isin(lowest[[0, 1, 3, 4]], (1, 2, 3)).all()
    assert bfrr.argmin(axis=0).tolist() == [1, 1, 1, 0, 2]
    steps = np.sign(np.diff(bfar, axis=0))
    assert (steps[:, :2] == np.array([[1], [-1], [1], [1]])).all()
    assert (steps[:, 3:] < 0).all()
    assert 0.3 < (np.diff(on_grid("grid", "frr_at_far", 0), axis=1) > 0).mean() < 0.5


def test_equations_7_to_9_are_as_said():
    counts = []
    for kind in ("drawn grid", "grid"):
        women, men = (
            on_grid(kind, f"far {name}", 2, "unseen") for name in ("female", "male")
        )
        eight, nine = np.diff(women, axis=1) < 0, np.diff(men, axis=0) < 0
        counts += [(women > men).sum(), eight.sum(), nine.sum()]
        if kind == "drawn grid":
            assert not eight[:, 1:].any()
    assert f"larger FAR in {counts[0]} of 25 pairs" in CLAIMS
    assert f"lowers it in {counts[1]} of 20 steps, both from 10 to 20" in CLAIMS
    assert f"lowers that of men in {counts[2]}, where everybody's" in CLAIMS
    assert "{} of 81 pairs, {} and {} of 72 steps".format(*counts[3:]) in CLAIMS


def test_what_a_head_costs_is_as_said():
    story = (MITIGATION / "plot_heads.py").read_text("utf-8").replace("\n# ", " ")
    cells = kept("heads")["cells"]
    after = [cell for cell in cells if cell["head"] != "before"]

    def of(head, kappas, directions, people):
        wanted = {"head": head, "kappas": kappas, "directions": directions}
        wanted |= {"people": people, "draw": 0}
        (found,) = (c for c in after if wanted.items() <= c.items())
        frr = found["frr"]
        return [frr[name] for name in ("ratio", "ratio_low", "ratio_high")]

    def one_digit(ends):
        return "{:.1f} [{:.1f}, {:.1f}]".format(*ends)

    real = "33, 43"
    one = {n: of("mlp", "20, 20", real, n) for n in (1500, 5000, 10_000)}
    residual = {n: of("residual", "20, 20", real, n) for n in (500, 1500, 5000, 20_000)}
    for text in (
        f"the frr is x {one_digit(one[1500])} on 1500 people",
        f"{said(one[5000])} on 5000 and {said(one[10_000])} on 10,000",
        f"In 64 directions it is x {one_digit(of('mlp', '20, 20', '64', 10_000))} on",
        f"costs more: {one_digit(of('mlp', '45, 30', real, 10_000))} on 10,000",
        f"x {said(residual[500])}, {said(residual[1500])} on 1500",
        f"{said(residual[5000])} on 5000 and {said(residual[20_000])} on 20,000",
    ):
        assert text in story
    mlp = [cell for cell in after if cell["head"] == "mlp"]
    frr, bfar, bfrr = (
        np.array([cell[name]["ratio"] for cell in mlp])
        for name in ("frr", "bfar", "bfrr")
    )
    few = np.array([cell["people"] == 500 for cell in mlp])
    assert f"rejects {frr[few].min():.0f} to {frr[few].max():.0f} times" in story
    ends = (f"{end:.2f}".removeprefix("0") for end in (bfar.min(), bfar.max()))
    assert "to {} to {} of that before".format(*ends) in story
    lower = np.array([cell["bfrr"]["ratio_high"] < 1 for cell in mlp])
    assert f"only where the frr is about {frr[lower].min():.0f} times" in story
    rises = bfrr[frr < 1]
    assert f"BFRR rises (x {rises.min():.2f} to {rises.max():.2f})" in story


def test_the_path_of_a_head_is_as_said():
    """Wherever BFRR falls the FRR is a multiple of what it was."""
    study, found = load("study_training"), kept("study_training")
    page = flat("docs/studies/training.rst")
    lower = []
    for rows in [*found["options"].values(), found["quality"]]:
        for name in rows[0]:
            ratios = {
                of: [row[name][of]["ratio"][0] for row in rows]
                for of in study.QUESTIONS
            }
            high = float(study.mean_and_interval(ratios["BFRR"]).split()[-1].strip("]"))
            if name != "before" and high < 1:
                lower.append(np.exp(np.mean(np.log(ratios["FRR"]))))
    assert len(lower) > 3
    assert min(lower) > 2.95
    assert "only where the FRR is multiplied by three or more." in page


def fold(text):
    """A ratio with its interval to one digit."""
    ends = (float(part.strip("[],")) for part in text.split())
    return "{:.1f}-fold [{:.1f}, {:.1f}]".format(*ends)


def test_premises_of_em22_and_fpr21_are_quoted():
    pytest.importorskip("torch")
    study, found = load("study_premises"), kept("study_premises")
    for name, rate in (
        ("images of women looser", "frr"),
        ("women closer together", "far"),
    ):
        ratios = study.column(found["causes"], name, rate)
        assert fold(study.ratio_over_draws(ratios)) in CLAIMS
    ends = [
        np.mean(study.column(found["shares"], share, "far women")) / study.FAR
        for share in ("0.1", "0.9")
    ]
    assert "falls from {:.1f} to {:.1f} times the level".format(*ends) in CLAIMS
    larger = {
        measure: sum(row[measure][0] > row[measure][1] for row in found["spread"])
        for measure in found["spread"][0]
    }
    assert (larger["std 0.001"], larger["std 0.1"]) == (0, 10)
    words = {9: "nine", 8: "eight", 2: "two"}
    counted = [words[larger[f"max_geomean {level}"]] for level in (1e-4, 1e-3, 1e-2)]
    told = "in {} of ten at 1e-4, in {} at 1e-3 and in {} at 1e-2".format(*counted)
    assert told in CLAIMS


def test_premises_of_geo20_are_quoted():
    pytest.importorskip("torch")
    study, found = load("study_premises"), kept("study_premises")
    raised, lowered = [], []
    for name in study.PREMISES:
        before, after = (
            np.array(study.column(found["rare"], name, trained, "far X"))
            for trained in ("before", "natural")
        )
        raised.append(fold(study.ratio_over_draws(after / before)))
        equal = np.array(study.column(found["rare"], name, "equal", "over natural"))
        lowered.append(100 * (1 - np.exp(np.log(equal[:, 0]).mean())))
    assert f"rare and crowded {raised[0]}" in CLAIMS
    assert f"only rare {raised[1]}" in CLAIMS
    assert f"not at all ({raised[2].replace('-fold', '')})" in CLAIMS
    assert "by {:.0f}, {:.0f} and {:.0f} %".format(*lowered) in CLAIMS
    ratios = np.array(study.column(found["noise"], "0.5", "over clean"))[:, 0]
    value, *ends = study.ratio_over_draws(ratios).split()
    told = f"{value} times {' '.join(ends).replace('0.', '.')}"
    assert told in CLAIMS


def test_premises_of_roc24_are_quoted():
    pytest.importorskip("torch")
    study, rows = load("study_premises"), kept("study_premises")["consistency"]
    few, many = (
        f"{np.mean(study.column(rows, n)):.3f}"[1:]
        for n in (min(rows[0], key=int), "24")
    )
    assert f"from {few} with 3 of each person to {many} with 24" in CLAIMS


def test_extensions_are_quoted():
    pytest.importorskip("torch")
    study, found = load("study_extensions"), kept("study_extensions")

    def over_base(part, name, question):
        cells = [row[name][question]["ratio"][0] for row in part]
        value, low, high = study.over_draws(cells).split()
        return " ".join([value, low, high]).replace("0.", ".")

    assert f"FRR to {over_base(found['margin'], '0.35', 'FRR')}" in CLAIMS
    assert f"BFAR is {over_base(found['agreement'], '75 % agree', 'BFAR')}" in CLAIMS
    kept_by = over_base(found["monitor"], "bfar", "BFAR")
    assert f"lowest BFAR changed it to {kept_by}" in CLAIMS
    lowered = [
        over_base([row[name] for row in found["encoders"]], "EM-FAR", "BFAR").split()[0]
        for name in found["encoders"][0]
    ]
    assert "to {}, {} and {} of that before".format(*lowered) in CLAIMS
    first, last = (
        np.mean([row[epoch] for row in found["loss"]]) for epoch in ("1", "50")
    )
    told = f"from {first:.1f} after the first epoch to {last:.2f}".replace("0.", ".")
    assert told in CLAIMS
