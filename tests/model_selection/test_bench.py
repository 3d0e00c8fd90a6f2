"""The bench: nobody is judged by what was fitted on them, and nothing is fitted twice."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from skfairfr import IdentityKFold, face_labels
from skfairfr._core._few_errors import holm
from skfairfr.model_selection import (
    GroupChange,
    MetricChange,
    _bench,
    _bench_fits,
    _saved_systems,
    compare_mitigations,
    load_mitigation,
)
from tests.model_selection.toy_methods import (
    Broken,
    Remover,
    Scaled,
    Shifted,
    crowd,
)

# What the toys remove tells people apart, too, and costs more than would be allowed.
QUICK = {
    "far": 0.05,
    "n_splits": 2,
    "inner_splits": 2,
    "n_resamples": 20,
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
def bench(faces):
    X, y, group = faces
    others = {"odd": np.where(y % 2, "odd", "even")}
    return compare_mitigations(X, y, group, METHODS, others=others, **QUICK)


def method(bench, name):
    return next(m for m in bench.methods if m.name == name)


def test_all_kinds_of_methods_have_results(bench):
    assert {m.name for m in bench.methods} == set(METHODS)
    assert bench.left_out == ()
    assert (bench.attribute, bench.groups) == ("group", ("female", "male"))
    assert (bench.n_people, bench.n_images, bench.others) == (120, 360, ("odd",))


def test_removing_what_makes_a_group_alike_lowers_the_bfar(bench):
    found = method(bench, "remover")
    assert found.changes["bfar"].ratio < 0.7
    assert [p["strength"] for p in found.parameters] == ["1.0", "1.0"]
    assert [p for p in method(bench, "few").parameters] == [{}, {}]


def test_what_a_method_needs_is_known(bench):
    needing = {m.name for m in bench.methods if m.needs_groups}
    assert needing == {"thresholds", "both"}
    assert method(bench, "remover").n_numbers == 12
    assert method(bench, "few").n_numbers == 12
    assert all(m.seconds > 0 for m in bench.methods)


def test_rows_stand_in_the_order_of_the_sure_gain(bench):
    highs = [m.changes["bfar"].high for m in bench.methods]
    assert highs == sorted(highs)


def test_p_values_are_adjusted_for_the_number_of_methods(bench):
    alone = np.array([m.changes["bfar"].p_value for m in bench.methods])
    assert_array_equal([m.p_adjusted for m in bench.methods], holm(alone))


def test_a_method_sees_only_the_people_of_the_training_parts(faces):
    X, y, group = faces
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


def test_what_is_frozen_is_judged_as_it_is(faces):
    others, *_ = crowd(40, random_state=1)
    fitted = PCA(6).fit(others)
    frozen = FrozenEstimator(fitted)
    methods = {
        "frozen": frozen,
        "before scores": Pipeline([("pca", frozen), ("scores", Shifted(0.0))]),
    }
    found = compare_mitigations(*faces, methods, **QUICK)
    X, y, group = faces
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


def test_without_refit_there_is_no_system(faces):
    X, y, group = faces
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


def no_fit(*_):
    raise AssertionError("a fit was made again")


def test_finished_fits_are_not_made_again(faces, tmp_path, monkeypatch):
    X, y, group = faces
    options = {"folder": tmp_path, "refit": False, **QUICK}
    methods = {"few": Scaled(), "thresholds": Shifted()}
    first = compare_mitigations(X, y, group, methods, **options)
    names = sorted(p.name for p in tmp_path.iterdir())
    assert len(names) == 3 * 2 and not any(n.endswith(".part") for n in names)
    with monkeypatch.context() as patch:
        patch.setattr(_bench_fits, "_fit_and_judge", no_fit)
        again = compare_mitigations(X, y, group, methods, **options)
    assert again.to_json() == first.to_json()
    # A file that a stopped process left is made again, and so is a new method's.
    half = tmp_path / names[0]
    half.write_bytes(half.read_bytes()[:1000])
    compare_mitigations(X, y, group, {**methods, "all": Scaled(12)}, **options)
    assert len(list(tmp_path.iterdir())) == 4 * 2


@pytest.mark.parametrize(
    "change",
    ["data", "groups", "far", "n_resamples", "random_state", "parameters", "grid"],
)
def test_a_fit_of_something_else_is_never_taken(faces, tmp_path, change):
    X, y, group = faces
    options = {"folder": tmp_path, "refit": False, **QUICK}
    methods = {"few": Scaled()}
    compare_mitigations(X, y, group, methods, **options)
    n_before = len(list(tmp_path.iterdir()))
    if change == "data":
        X = X.copy()
        X[0] *= -1
    elif change == "groups":
        group = np.where(np.arange(len(y)) == 0, "unknown", group)
        group[0] = "male" if faces[2][0] == "female" else "female"
    elif change == "parameters":
        methods = {"few": Scaled(5)}
    elif change == "grid":
        methods = {"few": (Scaled(), {"n_kept": [8]})}
    else:
        changed = {"far": 0.06, "n_resamples": 21, "random_state": 1}
        options[change] = changed[change]
    compare_mitigations(X, y, group, methods, **options)
    # What does nothing has no parameters.
    n_new = 2 if change in ("parameters", "grid") else 4
    assert len(list(tmp_path.iterdir())) == n_before + n_new


# ---- failures and bad input ----------------------------------------------------------


def test_a_method_that_cannot_be_fitted_is_left_out_with_the_reason(faces):
    X, y, group = faces
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
        ({"methods": ["as-nrom"]}, r"Did you mean 'as-norm'\?"),
        ({"methods": []}, "names none"),
        ({"methods": {"mine": 3}}, "neither a transformer nor a comparator"),
        ({"methods": {"mine": Scaled}}, r"give an instance, Scaled\(\)"),
        ({"methods": {"nothing": Scaled()}}, "other than 'nothing'"),
        ({"methods": {"few": (Scaled(), {"n_kept": 3})}}, "a grid that is not one"),
        ({"far": 2}, "must lie in"),
        ({"far": [0.1, 0.2]}, "must be one level"),
        ({"far": 1e-6}, "below what a split resolves"),
        ({"metrics": ("bfar", "eer")}, "must be different ones of"),
        ({"n_splits": 1}, "must be at least 2"),
        ({"confidence_level": 1}, "a number in"),
        ({"confidence_level": None}, "a number in"),
        ({"confidence_level": {0.1}}, "a number in"),
        ({"max_cost": 0.9}, "a factor of at least 1, or None; got 0.9"),
        ({"max_cost": "1.2"}, "a factor of at least 1"),
        *(
            (
                {"n_jobs": n},
                rf"^n_jobs must be an integer other than 0.*{re.escape(got)}",
            )
            for n, got in (
                (0, "got 0"),
                ([0.1], "got [0.1]"),
                (np.float16(0.5), "got 0.5"),
                (2.0, "got 2.0"),
                ("2", "got '2'"),
                (True, "got True"),
            )
        ),
        ({"sensitive_features": None}, "y holds no groups"),
        ({"sensitive_features": np.full(360, "a")}, "1 known group;"),
        ({"sensitive_features": {"a": np.arange(360), "b": np.arange(360)}}, "others"),
        ({"others": {"group": np.arange(360) % 2}}, "which is what is mitigated"),
    ],
)
def test_bad_input_is_named(faces, options, message):
    X, y, group = faces
    arguments = {"sensitive_features": group, "methods": {"few": Scaled()}}
    with pytest.raises(ValueError, match=message):
        compare_mitigations(X, y, **{**arguments, **QUICK, **options})


def test_a_zero_row_is_named_by_its_place_in_x(faces):
    X, y, group = faces
    X = X.copy()
    X[[300, 7]] = 0
    with pytest.raises(ValueError, match=r"X has a zero row \(7, 2 in all\)"):
        compare_mitigations(X, y, group, {"few": Scaled()}, **QUICK)


def test_a_domain_is_refused(faces):
    X, y, group = faces
    labels = face_labels(y, group, np.arange(len(y)) % 2)
    with pytest.raises(ValueError, match="has a domain"):
        compare_mitigations(X, labels, methods={"few": Scaled()}, **QUICK)


# ---- how long it will take ----


@pytest.fixture
def slow(monkeypatch):
    """Every trial says that a judgement, or a head, takes ten minutes."""
    monkeypatch.setattr(_bench, "time_trial", ten_minutes)


def ten_minutes(people, mitigation, split, rows, settings):
    return 600.0 if mitigation.name in ("nothing", "few") else 0.0


def test_a_long_run_says_how_long_it_takes_once(faces, slow, tmp_path, capsys):
    options = QUICK | {"folder": tmp_path, "progress": True}
    remover = {"remover": (Remover(), {"strength": [0.0, 1.0]})}
    compare_mitigations(*faces, remover, **options)
    # Two splits of nothing, and of a method that is judged with each of two candidates, too.
    said = "1 method, 4 fits: about 80 minutes\n"
    assert said in capsys.readouterr().err
    compare_mitigations(*faces, remover | {"few": Scaled(4)}, **options)
    assert "1 method, 2 fits: about 40 minutes\n" in capsys.readouterr().err
    compare_mitigations(*faces, remover | {"few": Scaled(4)}, **options)
    assert "minutes" not in capsys.readouterr().err


# ---- heads trained without regard to groups ----


@pytest.fixture(scope="module")
def heads(faces):
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
    return compare_mitigations(*faces, methods, **QUICK)


def test_trained_heads_alone_are_compared_with_the_controls(heads):
    compared = {m.name: [c.control for c in m.controls] for m in heads.methods}
    both = ["plain head", "margin head"]
    assert compared.pop("same") == compared.pop("reduced") == both
    assert compared == {name: [] for name in (*both, "few")}


def test_a_control_is_what_the_head_started_from_in_its_comparison(heads):
    for name in ("same", "reduced"):
        for found in method(heads, name).controls:
            control = method(heads, found.control)
            for metric, change in found.changes.items():
                assert change.before == control.changes[metric].after
                assert change.after == method(heads, name).changes[metric].after
    plain, _ = method(heads, "same").controls
    assert {(c.ratio, c.low, c.high) for c in plain.changes.values()} == {(1, 1, 1)}


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
    assert max(map(len, text.splitlines())) <= 100
    assert (
        " ".join(text.split()).count("1.00 [1.00, 1.00] times that of a plain head")
        == 1
    )
    rows = [
        r for r in text.splitlines() if re.match("(same|reduced) .*(plain|margin) ", r)
    ]
    assert len(rows) == 4
    frame = heads.to_frame("pandas")
    own = frame[(frame.method == "same") & (frame.metric == "bfar")]
    assert own.against.tolist() == ["nothing", "plain head", "margin head"]
    expected = [same.p_adjusted, *(c.p_adjusted for c in same.controls)]
    assert own.p_adjusted.tolist() == expected
    read = {m["name"]: m for m in json.loads(heads.to_json())["methods"]}
    assert read["same"]["controls"][0]["changes"]["bfar"]["ratio"] == 1


# ---- what is said about it -----------------------------------------------------------


def test_the_text_fits_and_names_everything(bench):
    text = bench.to_text()
    assert max(map(len, text.splitlines())) <= 100 and text.isascii()
    assert all(m.name in text for m in bench.methods)
    assert " ".join(bench.sentence.split()) in " ".join(text.split())


def test_a_group_without_an_error_is_explained(bench):
    assert "half an error more" not in bench.to_text()
    (method, *rest) = bench.methods
    bfar = replace(method.changes["bfar"], before=np.inf, ratio=0.0)
    method = replace(method, changes=method.changes | {"bfar": bfar})
    text = replace(bench, methods=(method, *rest)).to_text()
    assert "BFAR is inf or undefined where a group has no error" in text
    assert max(map(len, text.splitlines())) <= 100


def test_json_is_strict_and_complete(bench):
    read = json.loads(bench.to_json(source="x"), parse_constant=pytest.fail)
    assert read["source"] == "x" and "system" not in read
    assert [m["name"] for m in read["methods"]] == [m.name for m in bench.methods]
    assert read["methods"][0]["changes"]["bfar"].keys() >= {"ratio", "low", "high"}


def test_a_frame_has_a_row_for_each_metric(bench):
    frame = bench.to_frame("pandas")
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == len(METHODS) * (5 + 2)


def with_changes(bench, name, **ends):
    """A bench of one method, some of whose metrics have these (low, high)."""
    found = method(bench, name)
    changes = dict(found.changes)
    for metric, (low, high) in ends.items():
        changed = {"low": low, "high": high, "ratio": (low * high) ** 0.5}
        changes[metric] = replace(changes[metric], **changed)
    return replace(found, changes=changes, p_adjusted=0.001, levelling_down="")


def test_sentences(bench):
    sure = with_changes(bench, "few", bfar=(0.3, 0.6), frr_at_far=(0.9, 1.1))
    won = replace(bench, methods=(sure,), winner="few")
    assert "few lowers BFAR from" in won.sentence
    assert "at no detectable cost" in won.sentence
    dear = with_changes(bench, "few", bfar=(0.3, 0.6), frr_at_far=(1.2, 1.4))
    assert "at a cost: the FRR rises" in replace(won, methods=(dear,)).sentence
    both = with_changes(bench, "few", bfar=(0.3, 0.6), frr_at_far=(0.7, 0.9))
    assert "and the FRR, too" in replace(won, methods=(both,)).sentence
    harm = replace(sure, harmed=("age",))
    assert "by age larger" in replace(won, methods=(harm,)).sentence
    unsure = replace(with_changes(bench, "few", bfar=(0.5, 1.2)), p_adjusted=0.3)
    none = replace(won, methods=(unsure, unsure), winner=None, detectable_factor=1.6)
    assert none.sentence.startswith("None of the 2 methods lowers BFAR detectably")
    assert "a fall by a factor of 1.6 would be seen" in none.sentence
    assert "cannot fall below" not in none.sentence  # 2.2 could fall by 1.6
    little = replace(none, detectable_factor=2 * unsure.changes["bfar"].before)
    assert "and cannot fall below 1, so that these people can" in little.sentence
    assert "would be seen with" in little.sentence
    of_frr = {**bench.settings, "metrics": ("frr_at_far",)}
    assert "cannot fall below" not in replace(little, settings=of_frr).sentence
    needing = replace(sure, needs_groups=True)
    but = replace(won, methods=(needing,), winner=None)
    assert "Only with a reservation" in but.sentence
    down = replace(sure, levelling_down="every group is rejected more often")
    assert "levelling down" in replace(but, methods=(down,)).sentence
    nobody = replace(sure.changes["bfar"], before=np.inf, after=np.inf, ratio=np.nan)
    nobody = replace(sure, changes=sure.changes | {"bfar": nobody})
    for max_cost in (None, 100.0):
        settings = {**bench.settings, "max_cost": max_cost}
        none = replace(but, methods=(nobody,), settings=settings)
        assert "where a group has no error." in none.sentence
    assert replace(won, methods=(), winner=None).sentence == "No method could be tried."


@pytest.mark.parametrize(
    ("rising", "remark"),
    [
        ((), None),
        (("male",), "FRR of male rises"),
        (("female", "male"), "every group's FRR rises"),
    ],
)
def test_groups_that_are_rejected_more_often_are_named(bench, rising, remark):
    found = method(bench, "remover")
    groups = tuple(
        replace(g, low=1.1 if g.rate == "frr" and g.group in rising else 0.9)
        for g in found.groups
    )
    found = replace(found, groups=groups, harmed=(), levelling_down="")
    text = replace(bench, methods=(found,), winner="remover").to_text()
    (row,) = [row for row in text.splitlines() if row.startswith("remover  ")][1:]
    assert row.endswith(remark) if remark else row.endswith("12")


def test_a_method_that_needs_groups_never_wins(faces):
    X, y, group = faces
    found = compare_mitigations(X, y, group, {"thresholds": Shifted(0.3)}, **QUICK)
    assert found.methods[0].changes["bfar"].high < 1
    assert found.winner is None and "Only with a reservation" in found.sentence


def test_a_method_that_costs_too_much_never_wins(faces):
    X, y, group = faces
    options = {name: value for name, value in QUICK.items() if name != "max_cost"}
    found = compare_mitigations(X, y, group, {"remover": Remover()}, **options)
    change, frr = (found.methods[0].changes[m] for m in ("bfar", "frr_at_far"))
    assert change.high < 1 and found.methods[0].p_adjusted < 0.05
    assert frr.ratio > 1.25 and found.settings["max_cost"] == 1.25
    assert found.winner is None and found.system is None
    assert "but at most 1.25 times the FRR was allowed" in found.sentence
    assert "over 1.25 times the FRR" in found.to_text()
    for allowed in (frr.ratio * (1 + 1e-9), np.inf, None):
        options = QUICK | {"max_cost": allowed, "refit": False}
        again = compare_mitigations(X, y, group, {"remover": Remover()}, **options)
        assert again.winner == "remover"
        assert "at a cost: the FRR rises" in again.sentence
        assert "times the FRR\n" not in again.to_text()


class Coarse(Remover):
    """Removes the group's direction, and most of what tells people apart."""

    def transform(self, X):
        return super().transform(X)[:, :4]


def test_a_limit_of_the_cost_leaves_the_cheaper_method_to_win(faces):
    X, y, group = faces
    methods = {"coarse": Coarse(), "remover": Remover()}
    options = QUICK | {"refit": False, "metrics": "bfar"}
    free = compare_mitigations(X, y, group, methods, **options)
    frr = [m.changes["frr_at_far"].ratio for m in free.methods]
    between = float(np.mean(frr))
    options["max_cost"] = between
    found = compare_mitigations(X, y, group, methods, **options)
    assert min(frr) < between < max(frr) and found.winner == "remover"


def test_a_module_that_needs_a_group_of_everybody_is_left_out_with_the_reason(faces):
    projectors = pytest.importorskip("skfairfr.projectors")
    pytest.importorskip("torch")
    X, y, group = faces
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


def group_change(group, rate, before, low, high):
    ratio = (low * high) ** 0.5
    return GroupChange(group, rate, before, before * ratio, ratio, low, high, 0.5)


@pytest.mark.parametrize(
    ("bfar", "far", "frr", "words"),
    [
        # Nothing fell.
        ((0.8, 1.1), [(0.9, 1.1)] * 2, [(1.2, 1.5)] * 2, ""),
        # It fell for the group that was worse off, whatever it cost.
        ((0.3, 0.6), [(0.3, 0.6), (0.9, 1.2)], [(0.9, 1.1)] * 2, ""),
        ((0.3, 0.6), [(0.3, 0.6), (0.9, 1.2)], [(1.2, 1.5)] * 2, ""),
        # It fell, and nobody is known to be worse off.
        ((0.3, 0.6), [(0.8, 1.1), (0.9, 1.2)], [(0.9, 1.1)] * 2, ""),
        ((0.3, 0.6), [(0.8, 1.1)] * 2, [(1.2, 1.5)] * 2, "every group is worse off"),
        ((0.3, 0.6), [(0.8, 1.1), (1.5, 2.0)], [(0.9, 1.1)] * 2, "and b worse"),
    ],
)
def test_levelling_down(bfar, far, frr, words):
    base = {"attribute": "a", "before": 2.0, "after": 2.0, "ratio": 1.0}
    rest = {"p_value": 0.5, "log_error": 0.1}
    changes = {
        name: MetricChange(name, low=low, high=high, **base, **rest)
        for name, (low, high) in {"bfar": bfar, "bfrr": (0.9, 1.1)}.items()
    }
    groups = [
        group_change(label, rate, before, *ends)
        for rate, of_rate in (("far", far), ("frr", frr))
        for label, before, ends in zip("wb", (0.1, 0.02), of_rate, strict=True)
    ]
    found = _bench.levelling_down(changes, groups)
    assert words in found and bool(found) == bool(words)


# ---- what is deployed ----------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    [
        PCA(5),
        Remover(),
        Shifted(0.2),
        Pipeline([("out", Remover()), ("pca", PCA(6))]),
        Pipeline([("out", Remover()), ("scores", Shifted(0.2))]),
        FrozenEstimator(PCA(5).fit(crowd(40, random_state=1)[0])),
    ],
    ids=[
        "sklearn",
        "transformer",
        "comparator",
        "pipeline",
        "pipeline of scores",
        "frozen",
    ],
)
def test_what_is_saved_scores_the_same(faces, tmp_path, monkeypatch, made):
    X, y, group = faces
    monkeypatch.setattr(_saved_systems, "PACKAGES", ("sklearn", "tests"))
    system = _bench_fits.fit_system(made, X, y, group)
    _saved_systems.save_mitigation(system, tmp_path / "winner")
    again = load_mitigation(tmp_path / "winner")
    (one, of_one), (other, of_other) = (
        _bench_fits.embed(s, X, group) for s in (system, again)
    )
    assert_array_equal(one, other)
    if of_one != "cosine":
        for a, b in zip(of_one.prepare(X)[0], of_other.prepare(X)[0], strict=True):
            assert_array_equal(a, b)
    lines = _saved_systems.lines_to_deploy(system, tmp_path / "winner")
    assert lines.count("\n") == 3
    if of_one == "cosine":
        names = {"images": X}
        exec(lines, names)
        assert_array_equal(names["rows"], one)


def test_a_projector_is_saved_with_its_own_file(faces, tmp_path):
    pytest.importorskip("torch")
    projectors = pytest.importorskip("skfairfr.projectors")
    X, y, group = faces
    module = projectors.EthicalModule(max_epochs=1, random_state=0)
    system = _bench_fits.fit_system(module, X, y, group)
    _saved_systems.save_mitigation(system, tmp_path)
    assert_array_equal(load_mitigation(tmp_path).transform(X), system.transform(X))
    assert "a torch module" in _saved_systems.lines_to_deploy(system, tmp_path)
