"""The bench: nobody is judged by what was fitted on them, and nothing is fitted twice."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline

from skfairfr import BestTradeOff, IdentityKFold, face_labels
from skfairfr._core._jackknife import holm
from skfairfr._text._words import percent
from skfairfr.comparators import CohortNormalizer, ScoreCalibrator
from skfairfr.metrics import cllr, min_cllr
from skfairfr.metrics._folds import Cell
from skfairfr.model_selection import (
    GroupChange,
    MetricChange,
    _bench,
    _bench_fits,
    _bench_text,
    _mitigations,
    compare_mitigations,
)
from skfairfr.model_selection._mitigations import Noise
from tests.model_selection.test_held_out import expected_cells, scores_of
from tests.model_selection.toy_methods import (
    Broken,
    Cosines,
    MatrixAlone,
    Remover,
    Scaled,
    Shifted,
    Warns,
    crowd,
)

# What the toys remove tells people apart, too, and costs more than would be allowed.
QUICK = {
    "far": 0.05,
    "n_splits": 2,
    "inner_splits": 2,
    "max_cost": None,
}
METHODS = {
    "remover": (Remover(), {"strength": [0.0, 1.0]}),
    "few": Scaled(4),
    "thresholds": Shifted(0.3),
    "both": Pipeline([("out", Remover()), ("scores", Shifted(0.05))]),
}


@pytest.fixture(scope="module")
def faces():
    return crowd()


@pytest.fixture(scope="module")
def sixty():
    """People for what does not rest on a detectable change."""
    return crowd(60)


@pytest.fixture(scope="module")
def bench(faces):
    X, y, group = faces
    others = {"odd": np.where(y % 2, "odd", "even")}
    return compare_mitigations(X, y, group, METHODS, others=others, **QUICK)


def method(bench, name):
    return next(m for m in bench.methods if m.name == name)


def numbers_of(change):
    return [value for value in vars(change).values() if not isinstance(value, str)]


def test_all_kinds_of_methods_have_results(bench):
    assert {m.name for m in bench.methods} == set(METHODS)
    assert bench.left_out == ()
    assert (bench.attribute, bench.groups) == ("group", ("female", "male"))
    for one in bench.methods:
        assert [g.group for g in one.groups] == 2 * ["female", "male"]
        assert [g.group for g in one.own_threshold] == ["female", "male"]
    assert (bench.n_people, bench.n_images, bench.others) == (120, 360, ("odd",))


def test_removing_what_makes_a_group_alike_lowers_the_bfar(bench):
    found = method(bench, "remover")
    assert found.changes["bfar"].ratio < 0.7
    assert [p["strength"] for p in found.parameters] == ["1.0", "1.0"]
    assert [p for p in method(bench, "few").parameters] == [{}, {}]


def test_names_and_estimators_stand_in_one_dict(sixty):
    methods = {"mine": Scaled(4), "theirs": "group means out", "as-norm": "as-norm"}
    found = compare_mitigations(*sixty, methods, refit=False, **QUICK)
    assert {m.name for m in found.methods} == set(methods) and found.left_out == ()
    alone = compare_mitigations(*sixty, ["group means out"], refit=False, **QUICK)
    assert method(found, "theirs").changes == alone.methods[0].changes


def test_a_comparator_that_has_a_matrix_alone_is_judged_as_one_that_prepares(sixty):
    methods = {"prepares": Shifted(0.3), "alone": MatrixAlone(Shifted(0.3), True)}
    methods["behind"] = Pipeline([("none", "passthrough"), ("s", methods["alone"])])
    methods["searched"] = methods["alone"], {"told": [True, True]}
    found = compare_mitigations(*sixty, methods, refit=False, **QUICK)
    assert found.left_out == () and len(found.methods) == 4
    expected = method(found, "prepares")
    assert expected.needs_groups
    for name in ("alone", "behind", "searched"):
        assert method(found, name).needs_groups
        for metric, change in expected.changes.items():
            again = method(found, name).changes[metric]
            assert_allclose(numbers_of(again), numbers_of(change))


def test_what_has_scores_alone_is_judged_without_a_fit(sixty):
    found = compare_mitigations(*sixty, {"cosines": Cosines()}, refit=False, **QUICK)
    for change in method(found, "cosines").changes.values():
        assert_allclose(change.after, change.before)


def test_a_method_whose_scores_are_likelihood_ratios_has_a_cllr(sixty, tmp_path):
    """The mean over splits, by the matrix of each; read from its folder the same."""
    X, y, group = sixty
    tried = ScoreCalibrator(by="group", random_state=0)
    methods = {"curves": tried, "none": "as-norm", "behind": make_pipeline(tried)}
    options = QUICK | {"refit": False, "folder": tmp_path}
    found, again = (compare_mitigations(*sixty, methods, **options) for _ in range(2))
    folds = IdentityKFold(2, shuffle=True, random_state=0)
    costs = []
    for fit, rest in folds.split(X, face_labels(y, group)):
        fitted = tried.fit(X[fit], y[fit], group[fit])
        of_both = {f"sensitive_features_{side}": group[rest] for side in (1, 2)}
        scores = fitted.score_matrix(X[rest], X[rest], **of_both)
        i, j = np.triu_indices(len(rest), 1)
        pairs = y[rest][i] == y[rest][j], scores[i, j]
        costs.append((cllr(*pairs), min_cllr(*pairs)))
    for name in ("curves", "behind"):
        for result in (found, again):
            one = method(result, name)
            assert_allclose((one.cllr, one.min_cllr), np.mean(costs, axis=0), rtol=0.02)
            assert one.cllr > one.min_cllr and one.needs_groups and one.n_numbers == 6
    assert np.isnan(method(found, "none").cllr)
    shown = (
        f"{method(found, 'curves').cllr:.3f} ({method(found, 'curves').min_cllr:.3f})"
    )
    assert found.to_text().count(shown) == 2 and "Cllr (min)" in found.to_text()
    assert json.loads(found.to_json())["methods"][0].keys() >= {"cllr", "min_cllr"}
    frame = found.to_frame("pandas")
    assert frame["cllr"].isna().tolist() == (frame["method"] == "none").tolist()
    alone = compare_mitigations(*sixty, ["as-norm"], refit=False, **QUICK)
    assert "Cllr" not in alone.to_text()


def test_scores_that_are_no_matrix_are_named(sixty):
    wrong = MatrixAlone(CohortNormalizer(top=20), wrong=True)
    found = compare_mitigations(*sixty, {"wrong": wrong}, refit=False, **QUICK)
    assert re.search(r"score_matrix.* finite", found.left_out[0][1])


def test_parameters_are_chosen_by_the_mean_over_inner_folds():
    """The twin fits every candidate on every fold, and counts pairs in loops."""
    split, (X, y, group) = 1, crowd(24)
    people = _bench._read_people(X, y, {"sex": group}, None)
    settings = _bench_fits.Settings(0.1, ("bfar", "frr_at_far"), 2, 2, 0)
    grid = [{"strength": s} for s in (0.0, 0.4, 1.0)]
    tried = _mitigations.Mitigation("remover", Remover(), grid)
    found, chosen = _bench_fits.choose_and_fit(people, tried, settings, split)
    seed = settings.entropy(split) % 2**31
    folds = IdentityKFold(2, shuffle=True, random_state=seed)
    scores = {"mean_test_bfar": [], "mean_test_frr_at_far": []}
    for candidate in grid:
        each = []
        for fit, rest in folds.split(X, face_labels(y, group)):
            remover = Remover(**candidate).fit(X[fit], y[fit], group[fit])
            rows = remover.transform(X[rest])
            cells = expected_cells(scores_of(rows), y[rest], group[rest], 0.1)

            def rate(point, of, label, cells=cells):
                wrong, pairs, _ = cells[Cell("sex", point, of, label)]
                return (len(wrong) + 0.5) / len(pairs)

            far = [rate("worst_group", "far", label) for label in ("female", "male")]
            each.append((max(far) / min(far), rate("overall", "frr", None)))
        for name, values in zip(scores, zip(*each, strict=True), strict=True):
            scores[name].append(-np.mean(values))
    best = BestTradeOff(("bfar", "frr_at_far"))(scores)
    assert chosen == {"strength": str(grid[best]["strength"])}
    alone = Remover(**grid[best]).fit(X, y, group)
    assert_array_equal(found.direction_, alone.direction_)


def test_what_a_method_needs_is_known(bench):
    needing = {m.name for m in bench.methods if m.needs_groups}
    assert needing == {"thresholds", "both"}
    assert method(bench, "remover").n_numbers == 12
    assert method(bench, "few").n_numbers == 12
    assert all(m.seconds > 0 for m in bench.methods)


def test_a_method_sees_only_the_people_of_the_training_parts(sixty):
    X, y, group = sixty
    Remover.seen.clear()
    methods = {"remover": (Remover(), {"strength": [0.0, 1.0]})}
    compare_mitigations(X, y, group, methods, refit=False, **QUICK)
    folds = IdentityKFold(2, shuffle=True, random_state=0)
    training = [set(y[fit]) for fit, _ in folds.split(X, face_labels(y, group))]
    # Two candidates on two inner splits, then the fit, in each of two splits.
    assert len(Remover.seen) == 2 * (2 * 2 + 1)
    for split, people in enumerate(training):
        *inner, last = Remover.seen[5 * split : 5 * split + 5]
        assert set(last) == people
        assert all(set(part) < people for part in inner)


def test_what_is_frozen_is_judged_as_it_is(sixty):
    others, *_ = crowd(40, random_state=1)
    fitted = PCA(6).fit(others)
    frozen = FrozenEstimator(fitted)
    methods = {
        "frozen": frozen,
        "before scores": Pipeline([("pca", frozen), ("scores", Shifted(0.0))]),
    }
    found = compare_mitigations(*sixty, methods, **QUICK)
    X, y, group = sixty
    alone = compare_mitigations(
        fitted.transform(X), y, group, {"few": Scaled()}, **QUICK
    )
    for name in methods:
        assert method(found, name).changes["bfar"].after == alone.before["bfar"]
        n_numbers = fitted.components_.size + fitted.mean_.size
        assert method(found, name).n_numbers >= n_numbers


def test_the_winner_is_fitted_on_all_people(faces, bench):
    X, y, group = faces
    assert bench.winner == "remover"
    alone = Remover(bench.system.strength).fit(X, y, group)
    assert_array_equal(bench.system.direction_, alone.direction_)
    assert bench.parameters == {"strength": str(bench.system.strength)}


def test_without_refit_there_is_no_system(sixty):
    X, y, group = sixty
    found = compare_mitigations(
        X, y, group, {"remover": Remover()}, refit=False, **QUICK
    )
    assert found.winner == "remover" and found.system is None
    with pytest.raises(ValueError, match="nothing to save"):
        found.save("nowhere")


def without_times(bench):
    methods = tuple(replace(m, seconds=0.0) for m in bench.methods)
    return replace(bench, methods=methods, system=None, library=None).to_json()


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [2])
def test_results_do_not_depend_on_the_number_of_workers(faces, bench, n_jobs):
    X, y, group = faces
    others = {"odd": np.where(y % 2, "odd", "even")}
    again = compare_mitigations(
        X, y, group, METHODS, others=others, n_jobs=n_jobs, **QUICK
    )
    assert without_times(again) == without_times(bench)


# ---- a folder of finished fits -------------------------------------------------------


def fits_in(folder):
    """Names of the files of fits; noise of the methods' cost has its own."""
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if not name.startswith("noise-")]


def no_fit(*_):
    raise AssertionError("a fit was made again")


def test_finished_fits_are_not_made_again(sixty, tmp_path, monkeypatch):
    X, y, group = sixty
    options = {"folder": tmp_path, "refit": False, **QUICK}
    methods = {"few": Scaled(), "thresholds": Shifted()}
    first = compare_mitigations(X, y, group, methods, **options)
    names = fits_in(tmp_path)
    assert len(names) == 3 * 2 and not any(n.endswith(".part") for n in names)
    with monkeypatch.context() as patch:
        patch.setattr(_bench_fits, "_fit_and_judge", no_fit)
        again = compare_mitigations(X, y, group, methods, **options)
    assert again.to_json() == first.to_json()
    half = tmp_path / names[0]
    half.write_bytes(half.read_bytes()[:1000])
    with pytest.raises(ValueError, match=f"{names[0]}.*delete it"):
        compare_mitigations(X, y, group, methods, **options)


@pytest.fixture(scope="module")
def finished(sixty, tmp_path_factory):
    """People, and the folder of a finished bench of them."""
    people, folder = sixty, tmp_path_factory.mktemp("fits")
    options = {"folder": folder, "refit": False, **QUICK}
    compare_mitigations(*people, {"few": Scaled()}, **options)
    return people, folder


@pytest.mark.parametrize("change", ["data", "groups", "far", "parameters", "grid"])
def test_a_fit_of_something_else_is_never_taken(finished, tmp_path, change):
    (X, y, group), folder = finished
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    options = {"folder": tmp_path, "refit": False, **QUICK}
    methods = {"few": Scaled()}
    n_before = len(fits_in(tmp_path))
    if change == "data":
        X = X.copy()
        X[0] *= -1
    elif change == "groups":
        group = np.where(np.arange(len(y)) == 0, "unknown", group)
        group[0] = "male" if finished[0][2][0] == "female" else "female"
    elif change == "parameters":
        methods = {"few": Scaled(5)}
    elif change == "grid":
        methods = {"few": (Scaled(), {"n_kept": [8]})}
    else:
        options["far"] = 0.06
    compare_mitigations(X, y, group, methods, **options)
    # What does nothing has no parameters.
    n_new = 2 if change in ("parameters", "grid") else 4
    assert len(fits_in(tmp_path)) == n_before + n_new


# ---- failures and bad input ----------------------------------------------------------


def test_a_method_that_cannot_be_fitted_is_left_out_with_the_reason(sixty):
    X, y, group = sixty
    found = compare_mitigations(
        X, y, group, {"few": Scaled(), "broken": Broken()}, **QUICK
    )
    assert [m.name for m in found.methods] == ["few"]
    ((name, why),) = found.left_out
    assert name == "broken" and "there is nothing to learn here" in why
    assert "there is nothing to learn here" in found.to_text()
    alone = compare_mitigations(X, y, group, {"broken": Broken()}, **QUICK)
    assert "With nothing" not in alone.to_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["as-nrom"]}, r"methods has .*Did you mean 'as-norm'\?"),
        ({"methods": []}, "methods names none"),
        ({"methods": {"mine": 3}}, r"'mine' with 3.*comparators\.Comparator.*BaseEst"),
        ({"methods": {"mine": Scaled}}, "an instance of an estimator"),
        ({"methods": {"nothing": Scaled()}}, "not 'nothing'"),
        ({"methods": {"few": (Scaled(), {"n_kept": 3})}}, "give a dict of lists"),
        ({"far": [0.1, 0.2]}, "'far' parameter .*range"),
        ({"far": 1e-6}, "far is below what .* give a larger one"),
        ({"metrics": ("bfar", "eer")}, "metrics must be different ones of"),
        ({"n_splits": 1}, "'n_splits' parameter .*range"),
        ({"confidence_level": 1}, "'confidence_level' parameter .*range"),
        ({"max_cost": 0.9}, "'max_cost' parameter .*range"),
        ({"n_jobs": 2.0}, "'n_jobs' parameter"),
        ({"sensitive_features": None}, "sensitive_features is missing"),
        ({"sensitive_features": np.full(360, "a")}, "fewer than two known groups"),
        (
            {"sensitive_features": {"a": np.arange(360) % 2, "b": np.arange(360) % 3}},
            "others",
        ),
        ({"others": {"group": np.arange(360) % 2}}, "others has 'group'"),
    ],
)
def test_bad_input_is_named(faces, options, message):
    X, y, group = faces
    arguments = {"sensitive_features": group, "methods": {"few": Scaled()}}
    with pytest.raises(ValueError, match=message):
        compare_mitigations(X, y, **{**arguments, **QUICK, **options})


def test_groups_that_do_not_resolve_the_level_are_noted(sixty):
    X, y, group = sixty
    few = np.isin(y, np.unique(y[group == "male"])[:6])
    group = np.where(few, "other", group)
    found = compare_mitigations(X, y, group, {"few": Scaled()}, **QUICK | {"far": 0.01})
    assert any(note.startswith("other: ") for note in found.notes)


def test_warnings_of_fits_are_noted_once(sixty):
    X, y, group = sixty
    found = compare_mitigations(X, y, group, {"warns": Warns()}, **QUICK)
    noted = [note for note in found.notes if note.startswith("warns: ")]
    assert len(noted) == 1
    assert noted[0].endswith(" images (The first of 2 such warnings.)")
    two = {"warns": Warns(), "also": Warns()}
    found = compare_mitigations(X, y, group, two, **QUICK)
    assert [note for note in found.notes if "such warnings" in note] == [
        noted[0].replace("warns:", "warns, also:").replace(" 2 such", " 4 such")
    ]


# ---- heads trained without regard to groups ----


@pytest.fixture(scope="module")
def heads(sixty):
    projectors = pytest.importorskip("skfairfr.projectors")
    pytest.importorskip("torch")
    short = {"max_epochs": 1, "hidden_dim": 4}
    methods = {
        "plain head": projectors.EthicalModule(**short),
        "margin head": projectors.FPRPenaltyProjector(alpha=0.0, **short),
        "same": projectors.EthicalModule(**short),
        "reduced": Pipeline(
            [("pca", PCA(6)), ("head", projectors.EthicalModule(**short))]
        ),
        "few": Scaled(4),
    }
    return compare_mitigations(*sixty, methods, **QUICK)


def test_trained_heads_alone_are_compared_with_the_controls(heads):
    compared = {
        m.name: [c.control for c in m.controls if c.control != "noise"]
        for m in heads.methods
    }
    both = ["plain head", "margin head"]
    assert compared.pop("same") == compared.pop("reduced") == both
    assert compared == {name: [] for name in (*both, "few")}


def test_a_control_is_what_the_head_started_from_in_its_comparison(heads):
    for name in ("same", "reduced"):
        for found in method(heads, name).controls[:2]:
            control = method(heads, found.control)
            for metric, change in found.changes.items():
                assert change.before == control.changes[metric].after
                assert change.after == method(heads, name).changes[metric].after
    plain, *_ = method(heads, "same").controls
    for same in plain.changes.values():
        assert (same.ratio, same.p_value) == (1, 1) and same.low < 1 < same.high


def test_comparisons_with_controls_are_a_family_of_their_own(heads):
    with_nothing = [m.changes["bfar"].p_value for m in heads.methods]
    assert [m.p_adjusted for m in heads.methods] == holm(
        np.array(with_nothing)
    ).tolist()
    controls = [c for m in heads.methods for c in m.controls]
    found = np.array([c.changes["bfar"].p_value for c in controls])
    expected = holm(np.where(np.isnan(found), 1.0, found))
    assert [c.p_adjusted for c in controls] == expected.tolist()


def test_controls_are_in_the_text_the_frame_and_the_json(heads):
    same = method(heads, "same")
    text = replace(heads, winner="same").to_text()
    assert len(re.findall("(same|reduced) .*(plain|margin)", text)) == 4
    frame = heads.to_frame("pandas")
    own = frame[(frame.method == "same") & (frame.metric == "bfar")]
    assert own.against.tolist() == ["nothing", "plain head", "margin head"]
    expected = [same.p_adjusted, *(c.p_adjusted for c in same.controls)]
    assert own.p_adjusted.tolist() == expected
    assert frame.p_adjusted[frame.metric != "bfar"].isna().all()
    read = {m["name"]: m for m in json.loads(heads.to_json())["methods"]}
    assert read["same"]["controls"][0]["changes"]["bfar"]["ratio"] == 1


# ---- what is said about it -----------------------------------------------------------


def test_json_is_strict_and_complete(bench):
    read = json.loads(bench.to_json(source="x"), parse_constant=pytest.fail)
    assert read["source"] == "x" and "system" not in read
    assert [m["name"] for m in read["methods"]] == [m.name for m in bench.methods]
    assert read["methods"][0]["changes"]["bfar"].keys() >= {"ratio", "low", "high"}


def with_changes(bench, name, **ends):
    """A bench of one method, some of whose metrics have these (low, high)."""
    found = method(bench, name)
    changes = dict(found.changes)
    for metric, (low, high) in ends.items():
        changed = {"low": low, "high": high, "ratio": (low * high) ** 0.5}
        changes[metric] = replace(changes[metric], **changed)
    return replace(found, changes=changes, p_adjusted=0.001, levelling_down="")


def test_sentences(bench):
    """What is lowered, at which cost, with which harm, or why nothing wins."""
    kept = {"bfar": (0.3, 0.6), "frr_at_far": (0.9, 1.1)}
    sure = with_changes(bench, "few", **kept)
    dear = with_changes(bench, "few", bfar=(0.3, 0.6), frr_at_far=(1.2, 1.4))
    moved = with_changes(bench, "few", **kept, bfrr=(1.2, 1.9))
    lower = tuple(replace(g, ratio=0.8, low=0.5, high=1.1) for g in moved.groups)
    both = with_changes(bench, "few", **kept, bfrr=(0.4, 0.9))
    undefined = replace(sure.changes["frr_at_far"], ratio=np.nan, low=0.06, high=16.0)
    unknown = replace(sure, changes=sure.changes | {"frr_at_far": undefined})
    by_chance = replace(sure.changes["bfar"], p_before=0.42)
    by_chance = replace(sure, changes=sure.changes | {"bfar": by_chance})
    assert _bench_text.lowers(sure, "bfar", 0.05)
    assert not _bench_text.lowers(by_chance, "bfar", 0.05)
    needing = replace(sure, needs_groups=True)
    won = replace(bench, methods=(sure,), winner="few")
    limited = replace(won, winner=None, settings=won.settings | {"max_cost": 1.25})
    lost = replace(won, winner=None)
    for found, words in (
        ((won, sure), "at no detectable cost"),
        ((won, dear), "at a cost: FNMR rises"),
        ((won, replace(sure, harmed=("age",))), "by age larger"),
        ((won, replace(moved, groups=lower)), ") but BFRR rises from"),
        ((won, both), "and also BFRR from"),
        ((limited, unknown), "these people cannot show (FNMR undefined [0.06, 16.00"),
        ((lost, by_chance), "not detectably more than with equal groups (p 0.42)"),
        ((lost, needing), "No method wins"),
        ((lost, replace(needing, levelling_down="more")), "levelling down"),
    ):
        assert words in replace(found[0], methods=found[1:]).sentence
    frr = with_changes(bench, "few", bfar=(0.5, 1.2), frr_at_far=(0.6, 0.8))
    frr.changes["frr_at_far"] = replace(frr.changes["frr_at_far"], p_value=1e-4)
    methods = (replace(frr, p_adjusted=1.0),) * 2
    none = replace(lost, methods=methods, detectable_factor=1.6)
    assert none.sentence.startswith("None of the 2 methods lowers BFAR detectably")
    assert "few lowers the FNMR" in none.sentence and "of 1.6" in none.sentence
    before = frr.changes["bfar"].before
    little = replace(none, detectable_factor=2 * before).sentence
    assert "would often not show" in little and "would often not" not in none.sentence
    for p_before in (0.2, 0.001):
        change = replace(frr.changes["bfrr"], p_before=p_before)
        other = replace(frr, changes=frr.changes | {"bfrr": change})
        found = replace(none, methods=(other,)).sentence
        assert ("more than with equal groups: --metric" in found) == (p_before < 0.05)
    assert replace(lost, methods=()).sentence == "No method could be tried."


class Constant(Scaled):
    def transform(self, X):
        return np.ones_like(X)


def test_rates_of_few_errors_are_marked_and_equal_scores_are_named(sixty):
    X, y, group = sixty
    methods = {"few": Scaled(), "equal": Constant()}
    found = compare_mitigations(X, y, group, methods, **QUICK | {"far": 0.01})
    text = " ".join(found.to_text().split())
    assert "accepts no pair, as if all scores were equal: BFAR is undefined" in text
    for one in found.methods:
        for name in ("bfar", "frr_at_far"):
            shown = f"{_bench_text._ratio(one.changes[name])}, too few errors"
            assert (_bench_text._marked(one.changes[name]) == shown) == (
                one.changes[name].errors < 30
            )
    equal = method(found, "equal")
    assert equal.changes["bfar"].errors == 0 and "too few errors" in text
    sure = replace(equal.changes["bfar"], low=0.1, high=0.4, p_value=1e-4)
    equal = replace(equal, p_adjusted=1e-3, changes=equal.changes | {"bfar": sure})
    assert "lowers BFAR" not in replace(found, methods=(equal,), winner=None).sentence


def test_a_method_that_needs_groups_never_wins(faces):
    X, y, group = faces
    found = compare_mitigations(X, y, group, {"thresholds": Shifted(0.3)}, **QUICK)
    assert found.methods[0].changes["bfar"].high < 1
    assert found.winner is None and "No method wins" in found.sentence


def test_a_method_that_costs_too_much_never_wins(faces):
    X, y, group = faces
    options = {name: value for name, value in QUICK.items() if name != "max_cost"}
    found = compare_mitigations(X, y, group, {"remover": Remover()}, **options)
    change, frr = (found.methods[0].changes[m] for m in ("bfar", "frr_at_far"))
    assert change.high < 1 and found.methods[0].p_adjusted < 0.05
    assert frr.ratio > 1.25 and found.settings["max_cost"] == 1.25
    assert found.winner is None and found.system is None
    assert "but at most 1.25 times the FNMR was allowed" in found.sentence
    assert "over 1.25 times the FNMR" in found.to_text()
    for allowed in (frr.ratio * (1 + 1e-9), np.inf):
        options = QUICK | {"max_cost": allowed, "refit": False}
        again = compare_mitigations(X, y, group, {"remover": Remover()}, **options)
        assert again.winner == "remover"
        assert "at a cost: FNMR rises" in again.sentence
        assert "over 1.25 times" not in again.to_text()


def test_people_without_one_group_are_fitted_and_judged_where_that_can_be(sixty):
    X, y, group = sixty
    some = group.astype(object)
    some[np.isin(y, [0, 1, 2])] = None  # nothing is known of three people
    some[np.flatnonzero(y == 3)[0]] = None  # of one image of another
    ungrouped = 3
    pytest.importorskip("torch")
    names = ["group means out", "group thresholds", "centroid fairness"]
    found = compare_mitigations(X, y, some, names, refit=False, **QUICK)
    assert {m.name for m in found.methods} == set(names) and found.left_out == ()
    (note,) = (n for n in found.notes if "no known group" in n)
    assert note.startswith(f"centroid fairness: {ungrouped} people")
    assert found.n_people == 60
    complete = compare_mitigations(X, y, group, names[2:], refit=False, **QUICK)
    assert not [n for n in complete.notes if "no known group" in n]


def test_a_module_that_needs_a_group_of_everybody_is_left_out_with_the_reason(sixty):
    projectors = pytest.importorskip("skfairfr.projectors")
    pytest.importorskip("torch")
    X, y, group = sixty
    some = group.astype(object)
    some[y == 0] = None
    mine = {"mine": projectors.EthicalModule(max_epochs=1), "few": Scaled()}
    found = compare_mitigations(X, y, some, mine, refit=False, **QUICK)
    ((name, why),) = found.left_out
    assert name == "mine" and "images of identity 0" in why
    assert "min_agreement=0.75" in why


def test_harm_to_another_attribute_is_flagged(faces):
    X, y, group = faces
    others = {"same": group}
    found = compare_mitigations(
        X, y, group, {"worse": Shifted(-0.4)}, others=others, **QUICK
    )
    assert found.methods[0].harmed == ("same",)
    assert "larger disparity by same" in found.to_text()


def change(low, high, **kind):
    """A change whose ratio is the middle of its interval."""
    made = {"ratio": (low * high) ** 0.5, "low": low, "high": high}
    return {
        "before": 0.1,
        "after": 0.1,
        "p_value": 0.5,
        "log_error": 0.1,
        **made,
        **kind,
    }


@pytest.mark.parametrize(
    ("bfar", "bfrr", "own", "words"),
    [
        # Nothing fell.
        ((0.8, 1.1), (0.9, 1.1), [(1.2, 1.5), (1.3, 1.6)], ""),
        # One group has a lower FRR at its own threshold, if only as counted.
        ((0.3, 0.6), (0.9, 1.1), [(1.2, 1.5), (0.85, 1.1)], ""),
        # Nobody's is known to be higher.
        ((0.3, 0.6), (0.9, 1.1), [(0.95, 1.2), (0.9, 1.2)], ""),
        ((0.3, 0.6), (0.9, 1.1), [(1.2, 1.5), (0.95, 1.2)], "BFAR fell, and no group"),
        ((0.9, 1.1), (0.3, 0.6), [(1.2, 1.5), (1.1, 1.2)], "BFRR fell, and no group"),
        ((0.3, 0.6), (0.3, 0.6), [(1.2, 1.5), (1.1, 1.2)], "BFAR and BFRR fell"),
    ],
)
def test_levelling_down(bfar, bfrr, own, words):
    changes = {
        name: MetricChange(name, "sex", **change(*ends))
        for name, ends in {"bfar": bfar, "bfrr": bfrr}.items()
    }
    groups = [
        GroupChange(group, "frr", **change(*ends))
        for group, ends in zip("wb", own, strict=True)
    ]
    found = _bench_text.levelling_down(changes, groups)
    assert words in found and bool(found) == bool(words)


# ---- noise on all images -------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy():
    """People with a crowded group whose images vary more, and noise as a method."""
    X, y, group = crowd(160, crowding={"male": 0.0, "female": 6.0})
    methods = {"noise 1": Noise(1.0, 0), "noise 2": Noise(2.0, 0), "out": Remover()}
    return compare_mitigations(X, y, group, methods, **QUICK)


def test_noise_lowers_a_disparity_and_never_wins_at_any_cost(noisy):
    found = [method(noisy, name) for name in ("noise 1", "noise 2")]
    assert any(m.changes["bfar"].high < 1 and m.p_adjusted < 0.05 for m in found)
    for each in found:
        assert all(g.ratio > 1 for g in each.own_threshold)
        if each.changes["bfar"].high < 1:
            assert each.levelling_down.startswith("BFAR")
    assert noisy.winner not in ("noise 1", "noise 2") and QUICK["max_cost"] is None


def test_what_costs_as_noise_does_is_compared_with_noise(noisy):
    for each in noisy.methods:
        lowers, frr = each.changes["bfar"].high < 1, each.changes["frr_at_far"]
        controls = [c for c in each.controls if c.control == "noise"]
        assert len(controls) == (lowers and frr.after > frr.before)
        for found in controls:
            assert_allclose(found.changes["frr_at_far"].ratio, 1, atol=0.1)
    assert "times that of noise at the same FNMR" in noisy.sentence.replace("\n", " ")


def test_noise_has_its_length_on_average():
    X, *_ = crowd(200)
    moved = Noise(0.5, 0).fit(X).transform(X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    lengths = np.linalg.norm(moved - unit, axis=1)
    assert_allclose(np.sqrt(np.mean(lengths**2)), 0.5, rtol=0.05)
    assert_array_equal(moved, Noise(0.5, 0).transform(X))


def test_thresholds_of_groups_close_no_gap(bench):
    """A shift of a group's scores changes no FRR at the group's own threshold."""
    shifted = method(bench, "thresholds")
    assert shifted.changes["bfar"].high < 1
    assert_allclose(shifted.changes["own_threshold_gap"].ratio, 1, rtol=1e-6)
    assert [(g.group, g.rate) for g in shifted.own_threshold] == [
        ("female", "frr"),
        ("male", "frr"),
    ]
    assert_allclose([g.ratio for g in shifted.own_threshold], 1, rtol=1e-6)


# ---- parameters within the cost ------------------------------------------------------


TRIED = _bench_fits.Settings(0.05, ("bfar",), 2, 2, 0)


@pytest.fixture(scope="module")
def means(sixty):
    """Strength, None for doing nothing -> mean of each measure over the inner folds."""
    X, y, group = sixty
    people = _bench._read_people(X, y, {"sex": group}, None)
    folds = IdentityKFold(2, shuffle=True, random_state=TRIED.entropy(1) % 2**31)
    means = {}
    for strength in (None, 0.2, 0.5, 0.8, 1.0):
        found = []
        for fit, rest in folds.split(X, face_labels(y, group)):
            system = None
            if strength is not None:
                system = Remover(strength).fit(X[fit], y[fit], group[fit])
            found.append(_bench_fits._measured(people.take(rest), system, TRIED))
        means[strength] = {k: np.mean([f[k] for f in found]) for k in found[0]}
    return means


@pytest.mark.parametrize("max_cost", [None, 1.0, 1.3, 2.0, 50.0])
def test_parameters_are_chosen_within_the_cost(sixty, means, max_cost):
    """The twin measures every candidate, and doing nothing, on the inner folds."""
    X, y, group = sixty
    people = _bench._read_people(X, y, {"sex": group}, None)
    grid = [{"strength": s} for s in means if s is not None]
    tried = _mitigations.Mitigation("remover", Remover(), grid)
    settings = replace(TRIED, max_cost=max_cost)
    _, chosen = _bench_fits.choose_and_fit(people, tried, settings, 1)
    nothing, measured = means[None], {s: m for s, m in means.items() if s is not None}
    cost = {s: m["frr_at_far"] / nothing["frr_at_far"] for s, m in measured.items()}
    allowed = [s for s in measured if max_cost is None or cost[s] <= max_cost]
    allowed = allowed or [min(cost, key=cost.get)]
    assert chosen == {"strength": str(min(allowed, key=lambda s: measured[s]["bfar"]))}


# ---- what is deployed ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "use"),
    [
        (PCA(5), "rows = system.transform(images)"),
        (CohortNormalizer(top=9), "scores = system.score_pairs(probes, references)"),
        (
            Pipeline([("pca", PCA(6)), ("scores", CohortNormalizer(top=9))]),
            "scores = system[-1].score_pairs(system[:-1].transform(probes)",
        ),
    ],
    ids=["transformer", "comparator", "pipeline"],
)
def test_lines_load_what_was_saved_and_use_it(sixty, tmp_path, made, use):
    X, y, group = sixty
    system = _mitigations.fit_system(made, X, y, group)
    _mitigations.save_mitigation(system, tmp_path)
    lines = _mitigations.lines_to_deploy(system, tmp_path)
    assert lines.count("\n") == 3 and use in lines
    names = {"images": X, "probes": X[:9], "references": X[9:18]}
    exec(lines, names)
    if isinstance(made, PCA):
        assert_array_equal(names["rows"], system.transform(X))
    else:
        Z = system[:-1].transform(X) if isinstance(made, Pipeline) else X
        scorer = system[-1] if isinstance(made, Pipeline) else system
        assert_array_equal(names["scores"], scorer.score_pairs(Z[:9], Z[9:18]))


def test_the_text_has_the_rates_of_groups_before_and_after(sixty):
    X, y, group = sixty
    found = compare_mitigations(X, y, group, {"few": Scaled(4)}, **QUICK)
    (own,) = found.methods
    lines = " ".join(found.to_text().split())
    start = "From nothing to few" if found.winner else "With nothing"
    assert f"{start}, at the threshold of everyone: FMR of" in lines
    for one in own.groups:
        assert " ".join(f"{one.group} {percent(one.before)}".split()) in lines
