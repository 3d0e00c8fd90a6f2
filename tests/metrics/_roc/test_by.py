"""One fitted object answers by several attributes, as separate fits would."""

import pickle
from itertools import product
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _error_counts, _pair_tiles, _pairs
from skfairfr.metrics import threshold_at_far
from skfairfr.metrics._roc import _evidence
from skfairfr.metrics._roc._similarity_roc import ANSWERED
from skfairfr.report import EmbeddingData, audit_data
from tests.covering import daily_pairwise
from tests.metrics.designs import hold_tails
from tests.report.audits import without_rendering

OPTIONS = {
    "resample": "identities",
    "n_resamples": 20,
    "far_max": 0.02,
    "random_state": 3,
}
LEVELS = [0.005, 0.02]


def make(n_people=100):
    """Embeddings of people with 1 to 7 images, and three attributes; one changes."""
    made = make_face_embeddings(n_people, 4, 16, kappa=25.0, random_state=0)
    rng = np.random.default_rng(0)
    kept = rng.permutation(len(made.X))[: 3 * n_people]
    X, y = made.X[kept], made.y[kept]
    columns = {
        "gender": made.sensitive_features[kept],
        "age": np.where(y % 3 == 0, "old", "young"),
        "light": rng.choice(["day", "night", None], y.size, p=[0.6, 0.3, 0.1]),
    }
    return X, y, columns


pytestmark = [
    pytest.mark.filterwarnings("ignore::skfairfr.metrics.EstimandWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]


@pytest.fixture
def passes(monkeypatch):
    """Every pass over all pairs, in a list."""
    made = []
    collect_tail = _pair_tiles.collect_tail

    def counted(*args, **options):
        made.append("tail")
        return collect_tail(*args, **options)

    monkeypatch.setattr(_pair_tiles, "collect_tail", counted)
    return made


def answers(roc):
    """Everything that a report asks."""
    found = [roc.equal_error_rate(g) for g in (None, *roc.groups_)]
    for rate in ("far", "frr"):
        found += [
            roc.estimate(LEVELS, rate=rate, group=g) for g in (None, *roc.groups_)
        ]
        for point in ("overall", "worst_group", "group"):
            asked = {"rate": rate, "how": "max_min", "operating_point": point}
            found.append(roc.estimate(LEVELS, **asked))
    return found


def assert_same_answers(one, other):
    assert one.groups_.tolist() == other.groups_.tolist()
    for first, second in zip(answers(one), answers(other), strict=True):
        for name in ("value", "low", "high", "standard_error"):
            # The order of ties may differ, and with it the last bits of a sum of shares.
            np.testing.assert_allclose(
                getattr(first, name), getattr(second, name), rtol=1e-9, err_msg=name
            )
        assert_array_equal(first.source, second.source)


NAMES = [("gender",), ("light",), ("age", "gender"), ("gender", "age", "light")]


@pytest.mark.parametrize(
    ("names", "tails", "average"),
    daily_pairwise(product(NAMES, (False, True), ("pair", "identity"))),
)
def test_answers_are_those_of_a_fit_by_that_attribute(
    monkeypatch, names, tails, average
):
    if tails:
        hold_tails(monkeypatch)
    X, y, columns = make()
    asked = {name: columns[name] for name in names}
    together = SimilarityROC(**OPTIONS, average=average).fit(X, y, columns)
    alone = SimilarityROC(**OPTIONS, average=average).fit(X, y, asked)
    assert_same_answers(together.by(names), alone)


@pytest.mark.parametrize(
    "changed",
    [
        {"resample": "images"},
        {"average": "identity"},
        {"impostors": "same_group"},
        {"method": "naive", "resample": "both"},
        {"n_resamples": 7, "confidence_level": 0.8},
    ],
)
def test_other_parameters_answer_as_a_fit_with_them(monkeypatch, changed):
    hold_tails(monkeypatch)
    X, y, columns = make()
    fitted = SimilarityROC(**OPTIONS).fit(X, y, columns["gender"])
    other = SimilarityROC(**(OPTIONS | changed)).fit(X, y, columns["gender"])
    found = fitted.by(**changed)
    assert found.get_params() == other.get_params()
    assert_same_answers(found, other)


@pytest.mark.parametrize("impostors", ["all", "same_group"])
def test_listed_pairs_answer_by_several_attributes(impostors):
    rng = np.random.default_rng(0)
    people = rng.integers(0, 30, (2, 3000))
    scores = rng.normal(size=3000) + 2 * (people[0] == people[1])
    frames = [
        pd.DataFrame({"gender": np.where(p % 2, "f", "m"), "age": p % 3})
        for p in people
    ]
    options = {**OPTIONS, "far_max": 0.5, "impostors": impostors}
    names = ("sensitive_features_1", "sensitive_features_2")
    given = dict(zip(names, frames, strict=True))
    roc = SimilarityROC(**options).fit_pairs(scores, *people, **given)
    assert roc.groups_.tolist() == [f"{g} & {a}" for g in "fm" for a in "012"]
    for name, average in product(("gender", "age"), ("pair", "identity")):
        given = {key: frame[name] for key, frame in zip(names, frames, strict=True)}
        alone = SimilarityROC(**options, average=average)
        alone.fit_pairs(scores, *people, **given)
        found = roc.by(name, average=average)
        assert_same_answers(found, alone)
        # Results about everyone, which the attributes share.
        for rate, method in product(("far", "frr"), ("recentered", "jackknife")):
            one, other = (of.by(method=method) for of in (found, alone))
            asked = {"threshold": [0.5, 1.5], "rate": rate}
            assert (
                one.estimate(**asked).high.tolist()
                == other.estimate(**asked).high.tolist()
            )


def test_errors_are_counted_once_and_of_no_other_group(monkeypatch):
    errors = mock.Mock(wraps=_evidence.errors_of)
    people_of_list = mock.Mock(wraps=_error_counts.people_of_list)
    monkeypatch.setattr(_evidence, "errors_of", errors)
    monkeypatch.setattr(_error_counts, "people_of_list", people_of_list)
    rng = np.random.default_rng(0)
    people = rng.integers(0, 30, (2, 3000))
    scores = rng.normal(size=3000) + 2 * (people[0] == people[1])
    groups = [{"half": p % 2, "third": p % 3} for p in people]
    named = dict(
        zip(("sensitive_features_1", "sensitive_features_2"), groups, strict=True)
    )
    roc = SimilarityROC(method="jackknife").fit_pairs(scores, *people, **named)
    for name in ("half", "third"):
        found = roc.by(name)
        found.equal_error_rate(), found.equal_error_rate(found.groups_[1])
    assert {call.args[1] for call in errors.mock_calls} == {None, (1, 1)}
    n_pairs = [call.args[0].size for call in people_of_list.mock_calls]
    assert n_pairs.count(roc.n_impostor_[0]) == 1
    assert len(n_pairs) == 3


# ---- passes --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_attributes", "n_audits"), [(2, 3), pytest.param(3, 7, marks=pytest.mark.slow)]
)
def test_all_attributes_and_their_combinations_take_one_pass(
    monkeypatch, passes, tmp_path, n_attributes, n_audits
):
    hold_tails(monkeypatch)
    without_rendering(monkeypatch)
    monkeypatch.setattr(_pairs, "WHOLE_GROUP", 4000)  # the smallest groups, as always
    X, y, columns = make(100)
    # One person holds many of the genuine pairs, so that the other average is shown too.
    y = np.where(np.arange(y.size) % 12 == 0, y[0], y)
    columns = dict(list(columns.items())[-n_attributes:])
    report = audit_data(EmbeddingData(X, y, columns), far=LEVELS)
    report.save(tmp_path / "report")
    assert len(report.audits) == n_audits
    assert all(found.averaged is not None for found in report.audits)
    assert len([*(tmp_path / "report" / "figures").iterdir()]) > 8
    assert passes == ["tail"]


def test_groups_have_the_pairs_of_thresholds_of_their_own(monkeypatch):
    """The young are alike: the others' threshold is far below everyone's."""
    hold_tails(monkeypatch)
    X, y, columns = make()
    group = columns["age"]
    X = X + 3 * np.outer(group == "young", np.eye(16)[0])
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    left, right = np.triu_indices(len(y), 1)
    scores = (unit @ unit.T)[left, right]
    roc = SimilarityROC(**OPTIONS).fit(X, y, columns).by("age")
    for name in roc.groups_:
        within = (group[left] == name) & (group[right] == name)
        pairs = y[left][within] == y[right][within], scores[within]
        found = roc.threshold_at(0.02, operating_point="group", group=name)
        assert found == pytest.approx(threshold_at_far(*pairs, far=0.02), rel=1e-5)


# ---- names and errors ----------------------------------------------------------------


def test_names_are_those_of_a_frame_a_dict_or_numbers():
    X, y, columns = make()
    frame = pd.DataFrame(columns)
    for given in (frame, columns):
        roc = SimilarityROC(**OPTIONS).fit(X, y, given)
        assert roc.by("gender").groups_.tolist() == ["female", "male"]
        assert roc.by(["age", "gender"]).groups_.tolist()[0] == "old & female"
        assert roc.by().groups_.tolist() == roc.groups_.tolist()
    roc = SimilarityROC(**OPTIONS).fit(X, y, frame[["gender", "age"]].to_numpy())
    assert roc.by(1).groups_.tolist() == ["old", "young"]
    roc = SimilarityROC(**OPTIONS).fit(X, y, frame["age"])
    assert roc.by("age").groups_.tolist() == ["old", "young"]


def test_the_seed_and_the_fitted_attributes_are_kept():
    X, y, columns = make()
    roc = SimilarityROC(**OPTIONS | {"random_state": None}).fit(X, y, columns)
    found = roc.by("gender")
    assert found.n_features_in_ == 16
    assert_array_equal(found.identities_, roc.identities_)
    asked = {"rate": "frr", "threshold": 0.5}
    one, other = (r.resamples(**asked) for r in (roc, found))
    assert_array_equal(one, other)
    assert roc.groups_.size == 8


def test_a_pickled_object_still_answers_by_each():
    X, y, columns = make()
    roc = SimilarityROC(**OPTIONS).fit(X, y, columns)
    copy = pickle.loads(pickle.dumps(roc))
    asked = {"far": 0.01, "rate": "far", "how": "max_min"}
    one, other = (r.by("age").estimate(**asked) for r in (roc, copy))
    assert (one.value, one.low, one.high) == (other.value, other.low, other.high)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            ("height", {}),
            "names no attribute 'height'. The attributes of fit are ['gender', 'age'",
        ),
        ((("age", "age"), {}), "names one twice"),
        ((None, {"far_max": 0.5}), f"give one of {', '.join(ANSWERED)}, or fit again"),
        ((None, {"n_resamples": 0}), "n_resamples"),
    ],
)
def test_what_cannot_be_asked(asked, words):
    X, y, columns = make()
    names, parameters = asked
    roc = SimilarityROC(**OPTIONS).fit(X, y, columns)
    with pytest.raises(ValueError) as raised:
        roc.by(names, **parameters)
    assert words in str(raised.value)
