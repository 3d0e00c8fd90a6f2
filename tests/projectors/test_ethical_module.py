"""EthicalModule: who gets which kappa, who is left out, and what it says of bad input."""

import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr import (
    EthicalModule,
    IdentityKFold,
    SimilarityROC,
    face_labels,
    make_face_embeddings,
)
from skfairfr.utils import ArgumentError
from tests.projectors.faces import (
    GROUP,
    HALVES,
    IDENTITY,
    X,
    Y,
    assert_same_bits,
    module,
    without_groups,
)

AGES = (20 + 40 * (IDENTITY / 40)).round()
# One image of four of the first ten people is of the other group.
MIXED = GROUP.copy()
ODD = [np.flatnonzero(IDENTITY == who)[0] for who in range(10)]
MIXED[ODD] = np.where(GROUP[ODD] == "male", "female", "male")


def test_fitted_attributes():
    fitted = module().fit(X, Y)
    assert_array_equal(fitted.identities_, np.unique(IDENTITY))
    assert fitted.groups_.tolist() == ["male", "female"]
    assert fitted.kappa_ == {"male": 25.0, "female": 15.0}
    assert fitted.n_features_in_ == 16
    assert (fitted.n_left_out_, fitted.n_unified_) == (0, 0)
    assert type(fitted.kappa_["male"]) is float


def test_both_doors_and_any_label_type_give_the_same_bits():
    inside = module().fit(X, Y)
    assert_same_bits(inside, module().fit(X, IDENTITY, GROUP))
    assert_same_bits(inside, module().fit(X, IDENTITY, sensitive_features=GROUP))
    numbers = module(groups=(1, 2)).fit(X, IDENTITY, np.where(GROUP == "male", 1, 2))
    assert numbers.kappa_ == {1: 25.0, 2: 15.0}
    assert_array_equal(numbers.centroids_, inside.centroids_)


def test_the_first_group_takes_kappa0_whatever_the_order():
    named = module().fit(X, Y)
    by_label = module(groups=None).fit(X, Y)
    assert by_label.groups_.tolist() == ["female", "male"]
    assert by_label.kappa_ == {"female": 25.0, "male": 15.0}
    swapped = module(groups=None, kappa0=15.0, kappa1=25.0).fit(X, Y)
    assert_same_bits(named, swapped)
    assert not np.array_equal(named.centroids_, by_label.centroids_)


def test_a_group_may_be_absent():
    only = GROUP == "female"
    fitted = module().fit(X[only], Y[only])
    assert fitted.kappa_ == {"male": 25.0, "female": 15.0}
    alone = module(kappa0=15.0, groups=None)
    assert_array_equal(fitted.centroids_, alone.fit(X[only], IDENTITY[only]).centroids_)
    one = module(groups=None).fit(X[only], Y[only])
    assert one.kappa_ == {"female": 25.0}


def test_three_groups_need_kappas():
    three = np.array(["a", "b", "c"])[IDENTITY % 3]
    kappas = {"c": 30.0, "a": 10.0, "b": 20}
    fitted = module(kappas=kappas, groups=None).fit(X, IDENTITY, three)
    assert fitted.kappa_ == {"a": 10.0, "b": 20.0, "c": 30.0}
    ordered = module(kappas=kappas, groups=("c", "b", "a")).fit(X, IDENTITY, three)
    assert ordered.groups_.tolist() == ["c", "b", "a"]
    assert_array_equal(fitted.centroids_, ordered.centroids_)
    with pytest.raises(
        ValueError, match=r"there are 3: \['a', 'b', 'c'\]. Give kappas"
    ):
        module(groups=None).fit(X, IDENTITY, three)


@pytest.mark.parametrize("options", [{"kappa": 9.0}, {"kappa0": 9.0, "kappa1": 9.0}])
def test_one_kappa_serves_any_number_of_groups(options):
    three = np.array(["a", "b", "c"])[IDENTITY % 3]
    fitted = module(groups=None, **options).fit(X, IDENTITY, three)
    assert fitted.kappa_ == {"a": 9.0, "b": 9.0, "c": 9.0}
    assert module(**options).fit(X, Y).kappa_ == {"male": 9.0, "female": 9.0}
    alone = module(groups=None, **options).fit(X, IDENTITY)
    assert alone.kappa_ == {None: 9.0}
    assert_array_equal(alone.centroids_, fitted.centroids_)


def test_several_attributes_are_their_intersection():
    both = np.column_stack([GROUP, np.where(IDENTITY % 2, "old", "young")])
    names = [f"{g} & {age}" for g in ("female", "male") for age in ("old", "young")]
    kappas = dict(zip(names, (10, 20, 30, 40), strict=True))
    fitted = module(kappas=kappas, groups=None).fit(X, IDENTITY, both)
    assert fitted.kappa_ == kappas


def test_a_function_of_age():
    fitted = module(kappas=lambda age: age / 2, groups=None).fit(X, IDENTITY, AGES)
    assert fitted.kappa_ == {age: age / 2 for age in np.unique(AGES).tolist()}
    table = {age: age / 2 for age in np.unique(AGES).tolist()}
    assert_same_bits(fitted, module(kappas=table, groups=None).fit(X, IDENTITY, AGES))


def test_min_agreement_drops_and_unifies():
    with pytest.raises(ValueError, match="disagrees between the images of identity 0"):
        module().fit(X, face_labels(IDENTITY, MIXED))
    unified = module(min_agreement=0.75).fit(X, face_labels(IDENTITY, MIXED))
    assert (unified.n_left_out_, unified.n_unified_) == (0, 10)
    assert_same_bits(unified, module().fit(X, Y))
    dropped = module(min_agreement=0.76).fit(X, face_labels(IDENTITY, MIXED))
    assert (dropped.n_left_out_, dropped.n_unified_) == (10, 0)
    kept = IDENTITY >= 10
    assert_array_equal(dropped.identities_, np.arange(10, 40))
    assert_same_bits(dropped, module().fit(X[kept], Y[kept]))


def test_unknown_groups():
    some = GROUP.astype(object)
    some[ODD] = None
    assert_same_bits(module().fit(X, face_labels(IDENTITY, some)), module().fit(X, Y))
    nobody = np.where(IDENTITY < 10, None, some)
    with pytest.raises(ValueError, match=r"identity 0, or is unknown.*min_agreement"):
        module().fit(X, face_labels(IDENTITY, nobody))
    fitted = module(min_agreement=0.75).fit(X, face_labels(IDENTITY, nobody))
    assert fitted.n_left_out_ == 10 and fitted.identities_.size == 30


def test_missing_groups_are_warned_of_where_they_would_matter():
    with pytest.warns(UserWarning, match="No groups were given.*face_labels") as seen:
        module(groups=None).fit(X, IDENTITY)
    seen = [w for w in seen if "No groups were given" in str(w.message)]
    assert len(seen) == 1
    without_groups().fit(X, IDENTITY)  # warnings are errors here


def test_the_held_out_loss_is_that_of_the_plain_formula():
    """One epoch: the loss of the fitted head on the people held out."""
    from skfairfr._core._vmf import log_vmf_normalizer

    fitted = module(max_epochs=1, validation_fraction=0.3, margin=0.1).fit(X, Y)
    held = ~np.isin(IDENTITY, fitted.identities_)
    Z, who, group = fitted.transform(X[held]), IDENTITY[held], GROUP[held]
    people, losses = np.unique(who), []
    kappas = {p: fitted.kappa_[group[who == p][0]] for p in people}
    for i, own in enumerate(who):
        logits = {}
        for p in people:
            mean = Z[(who == p) & (np.arange(len(Z)) != i)].astype(float).sum(0)
            cosine = Z[i] @ mean / np.linalg.norm(mean) - 0.1 * (p == own)
            logits[p] = kappas[p] * cosine + log_vmf_normalizer(kappas[p], 16)
        total = math.log(sum(math.exp(q - logits[own]) for q in logits.values()))
        losses.append(total)
    assert_allclose(fitted.history_["valid_loss"], np.mean(losses), rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kappas": {"male": 10.0}}, "kappa has no entry for 'female'"),
        ({"kappas": {"male": 10.0, "female": 0.0}}, "got 0.0 for 'female'"),
        ({"kappas": lambda age: age}, r"sensitive_features contains .*; give numbers"),
        ({"kappa": 9.0, "kappas": {"male": 9.0}}, "kappa is for all groups"),
        ({"groups": ("male", "other")}, r"groups must name each .*'female'"),
        ({"groups": ("male", "female", "male")}, "groups must name each .* once"),
        ({"groups": ("male", "female", "other")}, "kappa0 and kappa1 .* there are 3"),
        ({"validation_fraction": 0.01}, "validation_fraction 0.01 reserves 0 of 40"),
    ],
)
def test_options_that_do_not_fit_the_groups_are_named(options, words):
    with pytest.raises(ArgumentError, match=words):
        module(**options).fit(X, Y)


def test_whose_kappa0_is_is_said_where_nobody_said_it():
    with pytest.warns(UserWarning, match="kappa0 is that of 'female'.*groups=") as seen:
        found = module(groups=None, kappa0=9.0, kappa1=8.0).fit(X, Y)
    assert repr(found).endswith("kappa0=9.0 [female], kappa1=8.0 [male]")
    assert sum("kappa0 is that of" in str(w.message) for w in seen) == 1
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "kappa0 is that of")
        module(groups=("male", "female")).fit(X, Y)
        module(groups=None, kappa0=9.0, kappa1=9.0).fit(X, Y)
        module(groups=None, kappa=9.0).fit(X, Y)
        module(groups=None, kappas={"male": 9.0, "female": 8.0}).fit(X, Y)


@pytest.mark.parametrize("n_people", [400, 401])
def test_few_people_are_warned_of(n_people):
    rng = np.random.default_rng(0)
    rows, y = rng.standard_normal((2 * n_people, 4)), np.arange(2 * n_people) % n_people
    few = without_groups(max_epochs=3, batch_size=500)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        few.fit(rows, y)
    said = [str(w.message) for w in seen]
    assert len(said) == (n_people == 400)
    for text in said:
        assert "400 people and 6 steps" in text and "held-out people" in text


# ---- labels that are not where they seem to be ------------------------------------------


def small():
    data = make_face_embeddings(20, 3, 8, groups=HALVES, random_state=0)
    return data.X, data.y, data.sensitive_features


def test_names_of_groups_without_groups_are_refused():
    X, y, _ = small()
    with pytest.raises(ValueError, match="groups names the groups, and fit was given"):
        EthicalModule(groups=("female", "male"), max_epochs=1).fit(X, y)


@pytest.mark.parametrize("fitted", ["module", "roc"])
def test_people_given_as_groups_are_refused(fitted):
    X, y, groups = small()
    estimator = {
        "module": EthicalModule(max_epochs=1),
        "roc": SimilarityROC(),
    }[fitted]
    with pytest.raises(ValueError, match="contains 20 groups, and y 2 people"):
        estimator.fit(X, groups, y)
    with pytest.raises(ValueError, match="contains 20 groups, and y 2 people"):
        estimator.fit(X, face_labels(groups, y))


@pytest.mark.parametrize("kind", [int, float, str])
def test_ages_of_images_of_few_people_are_values_and_not_people(kind):
    y = np.repeat(np.arange(8), 6)
    ages = np.random.default_rng(0).integers(20, 50, y.size).astype(kind)
    assert np.unique(ages).size > 8
    X, kappas = np.random.default_rng(1).normal(size=(y.size, 4)), lambda age: 20 + age
    few = EthicalModule(kappas=kappas, max_epochs=1, device="cpu")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "This fit has 8 people")
        warnings.filterwarnings("ignore", "Test fold", UndefinedMetricWarning)
        few.fit(X, face_labels(y, ages))
        folds = [*IdentityKFold(2).split(X, face_labels(y, ages))]
    expected = {20 + ages[y == k].astype(float).mean() for k in range(8)}
    assert [*few.kappa_.values()] == pytest.approx(sorted(expected))
    assert all(not {*y[train]} & {*y[test]} for train, test in folds)
