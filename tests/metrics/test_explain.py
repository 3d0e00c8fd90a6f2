"""Ratios of rates at equal covariates: regressions, refits, invariances, edges."""

import numpy as np
import pytest
from scipy.special import expit, logit

from skfairfr._core._error_counts import errors_by_person, people_of_list
from skfairfr._core._jackknife import Contrasts, ErrorSums, genuine_sums, impostor_sums
from skfairfr._core._regression import collinear, fit_regression, standardised
from skfairfr.metrics import explain_errors
from skfairfr.metrics._explain import KNOTS, _spline


def make_rows(n_people=200, seed=0, effect=0.0, both=False):
    """Errors of quality, which is lower in f, and of people; quality matters, sex by effect."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), 10)
    ends = (person,)
    if both:
        ends = person, rng.permutation(person)
        ends = tuple(end[ends[0] != ends[1]] for end in ends)
    sex = np.where(np.arange(n_people) % 2, "f", "m")
    quality = rng.normal(size=n_people) * 0.5 - (sex == "f") * 0.8
    own = rng.normal(size=n_people) * 0.5
    value = (
        np.min([quality[e] for e in ends], axis=0) + rng.normal(size=ends[0].size) * 0.5
    )
    both_f = np.all([sex[e] == "f" for e in ends], axis=0)
    chance = expit(-2.2 - value + effect * both_f + sum(own[e] for e in ends))
    error = rng.random(value.size) < chance
    groups = tuple(sex[end] for end in ends)
    return error, ends, groups if both else groups[0], value


def design(groups, value):
    f = (groups == "f").astype(float)
    return np.column_stack([np.ones(f.size), f, value])


def settings_of(X):
    def at(value):
        return np.column_stack([X[:, 0], np.full(len(X), value), X[:, 2:]])

    return [lambda: at(0.0), lambda: at(1.0)], [X[:, 1] == 0, X[:, 1] == 1]


def test_coefficients_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    error, _, groups, value = make_rows()
    X, weight = (
        design(groups, value),
        np.random.default_rng(1).integers(1, 5, error.size),
    )
    expected = sm.GLM(
        error, X, family=sm.families.Binomial(), freq_weights=weight
    ).fit()
    fitted = fit_regression(X, error.astype(float), weight.astype(float))
    np.testing.assert_allclose(fitted.coefficients, expected.params, rtol=1e-7)
    assert fitted.ridge == 0


@pytest.mark.parametrize("both", [False, True])
def test_variance_is_that_of_refits_without_each_person(both):
    error, ends, groups, value = make_rows(both=both)
    if both:
        groups = np.where(groups[0] == groups[1], groups[0], "mixed")
    X, one = design(groups, value), np.ones(error.size)
    settings, members = settings_of(X)

    def ratio(keep):
        fitted = fit_regression(X[keep], error[keep].astype(float), one[keep])
        rates = [expit(s()[keep] @ fitted.coefficients).mean() for s in settings]
        return np.log(rates[1] / rates[0])

    without = [ratio(np.all([e != k for e in ends], axis=0)) for k in range(200)]
    expected = np.var(without) * 199
    fitted = fit_regression(X, error.astype(float), one)
    found = standardised(fitted, ends, 200, settings, members)
    logs = found.people / found.sums.rate[:, None]
    assert ((logs[1] - logs[0]) ** 2).sum() == pytest.approx(expected, rel=0.02)


def test_couples_add_what_their_rows_add():
    error, ends, groups, value = make_rows(n_people=20, both=True)
    X = design(np.where(groups[0] == groups[1], groups[0], "mixed"), value)
    fitted = fit_regression(X, error.astype(float), np.ones(error.size))
    settings, members = settings_of(X)
    found = standardised(fitted, ends, 20, settings, members)
    inverse = np.linalg.inv(fitted.information)
    for place, setting in enumerate(settings):
        rate = expit(setting() @ fitted.coefficients)
        slope = (rate * (1 - rate)) @ setting() / rate.size
        expected = 0.0
        for a in range(20):
            for b in range(a):
                rows = {a, b}
                rows = [{i, j} == rows for i, j in zip(*ends, strict=True)]
                score = (error - fitted.rate)[rows] @ X[rows]
                moved = (rate - rate.mean())[rows].sum() / rate.size
                expected += (slope @ inverse @ score + moved) ** 2
        own = found.couples[[place]].toarray()
        assert (own**2).sum() == pytest.approx(expected)


def test_raw_ratio_of_genuine_pairs_is_that_of_an_audit():
    error, (person,), groups, _ = make_rows(effect=0.7)
    sums = []
    for group in ("m", "f"):
        inside = groups == group
        errors = np.bincount(person[inside], error[inside], 200)
        pairs = np.bincount(person[inside], minlength=200).astype(float)
        sums.append(genuine_sums(errors[None], pairs))
    expected = Contrasts(ErrorSums.of_groups(sums), np.array([[-1.0, 1.0]]))
    (found,) = explain_errors(
        error, person, {"sex": groups}, reference={"sex": "m"}
    ).ratios
    bounds = np.ravel(expected.bounds(0.025))
    np.testing.assert_allclose([found.raw_low, found.raw_high], bounds, rtol=1e-6)
    assert found.p_value == pytest.approx(float(expected.p_value.item()), rel=1e-5)


def test_raw_rates_of_impostor_pairs_vary_as_in_an_audit():
    error, ends, groups, _ = make_rows(n_people=300, both=True)
    rows = [(groups[0] == g) & (groups[1] == g) for g in ("m", "f")]
    X = np.column_stack([np.ones(error.size), *(row.astype(float) for row in rows)])
    fitted = fit_regression(X, error.astype(float), np.ones(error.size))
    settings = [
        lambda k=k: np.tile(np.eye(3)[k] + [1, 0, 0], (error.size, 1)) for k in (1, 2)
    ]
    found = standardised(fitted, ends, 300, settings, rows)
    for place, inside in enumerate(rows):
        left, right = (end[inside].astype(np.int32) for end in ends)
        order = np.argsort(~error[inside], kind="stable")
        left, right = left[order], right[order]
        pairs, sizes, squared, between = people_of_list(left, right, None, 300)
        n = np.array([error[inside].sum()])
        between = between(left, right) if callable(between) else between
        errors, powers = errors_by_person(left, right, None, n, 300, between)
        expected = impostor_sums(errors, pairs, powers, sizes, squared)
        for name in ("errors", "pairs", "own", "variance", "people"):
            value = getattr(found.sums, name)[place]
            # Those who are half of their own couples differ in the third digit.
            assert value == pytest.approx(getattr(expected, name)[0], rel=0.01), name


def test_group_without_an_effect_of_its_own_has_ratio_near_one():
    error, ends, groups, value = make_rows(n_people=2000)
    found = explain_errors(
        error,
        ends[0],
        {"sex": groups},
        covariates={"quality": value},
        reference={"sex": "m"},
    )
    (one,) = found.ratios
    assert one.raw_low > 1.3
    assert one.low < 1 < one.high
    assert (one.difference_low < 0) == (one.low < 1)


def test_weights_of_sampled_rows_keep_the_ratio():
    error, ends, groups, value = make_rows(n_people=3000, effect=0.5)
    rng = np.random.default_rng(3)
    keep = error | (rng.random(error.size) < 0.3)
    weight = np.where(error, 1.0, 1 / 0.3)[keep]
    whole = explain_errors(error, ends[0], {"sex": groups}, covariates={"q": value})
    some = explain_errors(
        error[keep],
        ends[0][keep],
        {"sex": groups[keep]},
        covariates={"q": value[keep]},
        sample_weight=weight,
    )
    assert some.ratios[0].ratio == pytest.approx(whole.ratios[0].ratio, rel=0.05)


def test_group_with_errors_of_few_people_is_left_out_by_name():
    error, ends, groups, _ = make_rows()
    groups = groups.copy()
    groups[ends[0] == 7] = "x"
    found = explain_errors(error, ends[0], {"sex": groups})
    assert [one.group for one in found.ratios] in (["f"], ["m"])
    assert any(note.startswith("sex: x has errors of") for note in found.notes)


def test_columns_that_separate_errors_get_a_ridge():
    error, ends, groups, _ = make_rows()
    found = explain_errors(
        error,
        ends[0],
        {"sex": groups},
        covariates={"s": error + np.random.default_rng(0).uniform(0, 0.9, error.size)},
    )
    assert any("ridge" in note for note in found.notes)
    assert np.isfinite(found.ratios[0].ratio)


def test_collinear_columns_are_those_with_a_constant_sum():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 50))
    X = np.column_stack([np.ones(50), one, other, 3 - one])
    np.testing.assert_array_equal(collinear(X, np.ones(50)), [False, True, False, True])


def test_spline_is_linear_beyond_its_knots():
    knots = np.array([-1.0, 0.0, 1.0, 3.0])
    for start in (-9.0, 4.0):
        values = start + np.arange(4.0)
        np.testing.assert_allclose(
            np.diff(_spline(values, knots), 2, axis=0), 0, atol=1e-9
        )


@pytest.mark.parametrize("slope", [0.0, 1.5])
def test_curve_follows_the_rate(slope):
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(2000), 5)
    age = rng.uniform(20, 70, 2000)[person]
    rate = expit(logit(0.1) + slope * (age - 45) / 25)
    error, sex = rng.random(age.size) < rate, np.where(person % 2, "f", "m")
    found = explain_errors(
        error, person, {"sex": sex}, covariates={"age": age}, curves=["age"]
    )
    (curve,) = found.curves
    truth = expit(logit(0.1) + slope * (curve.at - 45) / 25)
    assert ((curve.low <= truth) & (truth <= curve.high)).mean() > 0.6
    np.testing.assert_allclose(curve.rate, truth, rtol=0.25)
    assert (curve.p_value < 1e-6) == (slope > 0)
    assert curve.at[0] == pytest.approx(np.quantile(age, KNOTS[0]))


def test_many_rows_without_errors_are_sampled_to_the_totals_of_groups(monkeypatch):
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(3000), 20)
    sex = np.where(person % 3, "m", "f")
    quality = rng.normal(size=person.size) - 0.5 * (sex == "f")
    error = rng.random(person.size) < 1 / (1 + np.exp(5 + quality))
    asked = (error, person, {"sex": sex})
    options = {"covariates": {"quality": quality}, "reference": {"sex": "m"}}
    (whole,) = explain_errors(*asked, **options).ratios
    monkeypatch.setattr("skfairfr.metrics._explain.LARGE", 10_000)
    found = explain_errors(*asked, **options)
    (one,) = found.ratios
    assert any("of the" in note for note in found.notes)
    # Totals of groups are those of all rows, and so are the rates as they are.
    assert one.n_trials == pytest.approx(whole.n_trials)
    assert one.raw == pytest.approx(whole.raw)
    assert one.ratio == pytest.approx(whole.ratio, rel=0.05)
    widths = [np.log(r.high / r.low) for r in (one, whole)]
    assert 0.95 < widths[0] / widths[1] < 1.15


def test_small_groups_are_used_whole_among_many_rows(monkeypatch):
    rng = np.random.default_rng(6)
    person = np.repeat(np.arange(3000), 20)
    group = np.where(person < 10, "few", np.where(person % 2, "a", "b"))
    error = rng.random(person.size) < np.where(group == "few", 0.2, 0.01)
    whole = explain_errors(error, person, {"group": group})
    monkeypatch.setattr("skfairfr.metrics._explain.LARGE", 10_000)
    for seed in range(2):
        found = explain_errors(error, person, {"group": group}, random_state=seed)
        for one, other in zip(found.ratios, whole.ratios, strict=True):
            assert one.n_trials == pytest.approx(other.n_trials)
            assert one.raw == pytest.approx(other.raw)
            assert one.low == pytest.approx(other.low, rel=0.05)


def two_attributes(n_people=1500, seed=4):
    """Errors whose log odds are highest in old f, and depend on quality."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), 8)
    sex = np.where(rng.random(n_people) < 0.5, "f", "m")[person]
    age = np.where(rng.random(n_people) < 0.4, "old", "young")[person]
    quality = rng.normal(size=person.size) - 0.5 * (sex == "f")
    both = (sex == "f") & (age == "old")
    error = rng.random(person.size) < expit(-2.5 - 0.8 * quality + 0.7 * both)
    return error, person, sex, age, quality


def test_combinations_are_those_of_a_regression_with_products():
    sm = pytest.importorskip("statsmodels.api")
    error, person, sex, age, quality = two_attributes()
    splines = _spline(quality, np.quantile(quality, KNOTS))

    def columns(f, old):
        f, old = (np.broadcast_to(x, error.shape) for x in (f, old))
        return np.column_stack([np.ones(f.size), f, old, f * old, splines])

    X = columns(sex == "f", age == "old")
    fitted = sm.GLM(error, X, family=sm.families.Binomial()).fit()

    def rate(sex, age):
        return fitted.predict(columns(sex == "f", age == "old")).mean()

    found = explain_errors(
        error,
        person,
        {"sex": sex, "age": age},
        covariates={"q": quality},
        interactions=[("sex", "age")],
        reference={"sex": "m", "age": "young"},
    )
    combined = {r.group: r for r in found.ratios if r.attribute == "sex & age"}
    assert {r.reference for r in combined.values()} == {"m & young"}
    for sex_, age_ in (("f", "old"), ("f", "young"), ("m", "old")):
        one = combined[f"{sex_} & {age_}"]
        expected = rate(sex_, age_) / rate("m", "young")
        assert one.ratio == pytest.approx(expected, rel=1e-6)
        inside = (sex == sex_) & (age == age_), (sex == "m") & (age == "young")
        raw = error[inside[0]].mean() / error[inside[1]].mean()
        assert one.raw == pytest.approx(raw)
    # The attributes themselves are compared as without the combinations.
    alone = explain_errors(
        error,
        person,
        {"sex": sex, "age": age},
        covariates={"q": quality},
        reference={"sex": "m", "age": "young"},
    )
    assert found.ratios[: len(alone.ratios)] == alone.ratios


def test_combination_of_both_images_is_that_of_two_groups():
    error, ends, groups, _ = make_rows(n_people=600, both=True, effect=0.5)
    hand = tuple(np.where(end % 3, "l", "r") for end in ends)
    options = {"reference": {"sex": "m", "hand": "l"}}
    found = explain_errors(
        error,
        ends,
        {"sex": groups, "hand": hand},
        interactions=[("sex", "hand")],
        **options,
    )
    joined = tuple(
        np.char.add(np.char.add(s, " & "), h) for s, h in zip(groups, hand, strict=True)
    )
    (expected, *_) = explain_errors(
        error, ends, {"both": joined}, reference={"both": "m & l"}
    ).ratios
    (one,) = [r for r in found.ratios if r.group == expected.group]
    assert (one.ratio, one.low, one.raw) == pytest.approx(
        (expected.ratio, expected.low, expected.raw)
    )


def test_few_errors_of_combinations_leave_the_attributes():
    error, person, sex, age, _ = two_attributes(n_people=60)
    age = np.where(person == 1, "old", age)
    keep = ~((sex == "m") & (age == "young"))
    options = {"reference": {"sex": "m", "age": "young"}}
    found = explain_errors(
        error & keep,
        person,
        {"sex": sex, "age": age},
        interactions=[("sex", "age")],
        **options,
    )
    assert {r.attribute for r in found.ratios} == {"sex", "age"}
    assert any(
        "the reference m & young has errors of 0" in note for note in found.notes
    )


def test_rows_with_unknown_covariates_are_left_out_by_name():
    error, ends, groups, value = make_rows()
    value[:7] = np.nan
    found = explain_errors(error, ends[0], {"sex": groups}, covariates={"q": value})
    assert (
        "q is unknown in 7 of 2,000 rows (0.35 %), which are left out." in found.notes
    )
    assert found.n_trials == 1993


def test_covariate_of_one_value_is_named():
    error, ends, groups, value = make_rows()
    covariates = {"q": value, "c": np.full(error.size, "x")}
    found = explain_errors(error, ends[0], {"sex": groups}, covariates=covariates)
    assert "c has one value, so it adjusts nothing." in found.notes
    assert [*found.covariates] == ["q"]


def test_numbers_of_two_images_enter_as_the_smaller_one_and_their_difference():
    error, ends, groups, value = make_rows(both=True)
    gap = np.random.default_rng(0).integers(
        0, 2, error.size
    )  # of two values: a category
    found, expected = (
        explain_errors(error, ends, {"sex": groups}, covariates=covariates)
        for covariates in ({"q": (value + gap, value)}, {"q": value, "gap": gap})
    )
    assert found.covariates == {
        "q": "number (spline, with the difference of both images)"
    }
    for one, other in zip(found.ratios, expected.ratios, strict=True):
        assert one.ratio == pytest.approx(other.ratio, rel=1e-6)


@pytest.mark.parametrize(("n_rare", "merged"), [(2, "bc"), (1, "bcd")])
def test_categories_with_errors_of_few_people_are_merged(n_rare, merged):
    """With the next category if they are too few together."""
    error, (person,), sex, _ = make_rows()
    wrong = np.unique(person[error])
    camera = np.full(error.size, "a")
    for name, people in zip(
        "dcb", (wrong[:30], wrong[:n_rare], wrong[-3:]), strict=True
    ):
        camera[np.isin(person, people)] = name
    found, expected = (
        explain_errors(error, person, {"sex": sex}, covariates={"camera": column})
        for column in (camera, np.where(np.isin(camera, [*merged]), "b", camera))
    )
    assert found.ratios[0].ratio == pytest.approx(expected.ratios[0].ratio, rel=1e-6)
    assert found.covariates == {"camera": f"{5 - len(merged)} categories"}
    assert any(note.endswith(f"merged: {', '.join(merged)}.") for note in found.notes)


@pytest.mark.parametrize(
    ("changed", "options", "words"),
    [
        ({}, {"covariates": {"camera": "sex"}}, "cannot be separated"),
        ({}, {"covariates": {"q": np.nan}}, "'q' is unknown in every row"),
        ({"sex": None}, {}, "sensitive_features 'sex' is unknown in every"),
        ({"error": True}, {}, "'sex' has errors in every row"),
        (
            {},
            {"interactions": [("sex", "race")]},
            "names 'race', which is no attribute",
        ),
    ],
)
def test_what_explains_nothing_is_named(changed, options, words):
    error, (person,), sex, _ = make_rows(n_people=60)
    for name, value in options.get("covariates", {}).items():
        value = sex if value == "sex" else np.full(error.size, value)
        options = {"covariates": {name: value}}
    error = np.full(error.size, changed.get("error", error))
    sex = np.full(error.size, changed.get("sex", sex))
    with pytest.raises(ValueError, match=words):
        explain_errors(error, person, {"sex": sex}, **options)
