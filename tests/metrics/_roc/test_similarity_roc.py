"""SimilarityROC against the slow oracle, resample by resample, and its invariants."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr import SimilarityROC
from skfairfr._core import _pairs, _parallel
from tests.covering import daily_pairwise
from tests.metrics import designs
from tests.metrics.designs import LEVELS, roc_of
from tests.oracles.rates import Oracle

N_RESAMPLES = 2
AVERAGES = ("pair", "identity")
KINDS = ("none", "people", "images")
MODES = ("images", "identities", "both")
# Without groups no pair is within one.
DESIGNS = daily_pairwise(
    (average, impostors, kind, resample)
    for average, impostors, kind, resample in product(
        AVERAGES, ("all", "same_group"), KINDS, MODES
    )
    if (impostors, kind) != ("same_group", "none")
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::skfairfr.metrics.EstimandWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]


def assert_resamples_equal(roc, oracle, kind, diagonal=True, weights=None):
    """Point values and every replicate of every question equal the oracle's."""
    weights = weights or [designs.weights_of(roc, b) for b in range(N_RESAMPLES)]
    for question in designs.questions(kind):
        got = roc.resamples(LEVELS, **question)
        value = roc.estimate(LEVELS, **question).value
        for column, level in enumerate(LEVELS):
            message = f"{question} at {level}"
            point = oracle.replicate(level=level, **question)
            assert_allclose(
                value[column], point, rtol=1e-12, atol=1e-14, err_msg=message
            )
            expected = [
                oracle.replicate(level=level, v=v, w=w, diagonal=diagonal, **question)
                for v, w in weights
            ]
            assert_allclose(
                got[:, column], expected, rtol=1e-12, atol=1e-14, err_msg=message
            )


@pytest.mark.parametrize(("average", "impostors", "kind", "resample"), DESIGNS)
def test_one_side_equals_the_double_loop(average, impostors, kind, resample):
    X, identity, group = designs.one_side(kind, np.random.default_rng(1))
    oracle = designs.oracle_of(X, identity, group, average=average, impostors=impostors)
    options = {"average": average, "impostors": impostors, "resample": resample}
    roc = roc_of(X, identity, group, n_resamples=N_RESAMPLES, **options)
    assert_resamples_equal(roc, oracle, kind)


@pytest.mark.parametrize(("average", "impostors", "kind", "resample"), DESIGNS)
def test_two_sides_equal_the_double_loop(average, impostors, kind, resample):
    rng = np.random.default_rng(3)
    X, identity, group = designs.one_side(kind, rng, n_images=24)
    probe = np.arange(24) < 11
    options = {"average": average, "impostors": impostors}
    sides = [
        [a[m] if a is not None else None for a in (X, identity, group)]
        for m in (probe, ~probe)
    ]
    rows = [s[0].astype(np.float32) for s in sides]
    oracle = Oracle.two_sides(
        rows[0] @ rows[1].T, sides[0][1].tolist(), sides[1][1].tolist(),
        sides[0][2], sides[1][2], **options,
    )  # fmt: skip
    roc = SimilarityROC(
        n_resamples=N_RESAMPLES,
        random_state=0,
        far_max=0.2,
        resample=resample,
        **options,
    ).fit(
        *sides[0],
        X_reference=sides[1][0],
        y_reference=sides[1][1],
        sensitive_features_reference=sides[1][2],
    )
    weights = []
    for b in range(N_RESAMPLES):
        v, w = designs.weights_of(roc, b)
        weights.append((v, None if w is None else (w[:11], w[11:])))
    assert_resamples_equal(roc, oracle, kind, weights=weights)


def test_domain_is_the_same_as_two_arrays():
    X, identity, group = designs.one_side("people", np.random.default_rng(4))
    domain = np.where(np.arange(20) % 2, "selfie", "document")
    probe = domain == "document"
    by_domain = SimilarityROC(resample="identities", n_resamples=5, random_state=0).fit(
        X, identity, group, domain=domain
    )
    by_arrays = SimilarityROC(resample="identities", n_resamples=5, random_state=0).fit(
        X[probe],
        identity[probe],
        group[probe],
        X_reference=X[~probe],
        y_reference=identity[~probe],
        sensitive_features_reference=group[~probe],
    )
    for question in designs.questions("people"):
        assert_allclose(
            by_domain.resamples(0.2, **question), by_arrays.resamples(0.2, **question)
        )


@pytest.mark.parametrize(("average", "impostors", "kind", "resample"), DESIGNS)
def test_listed_pairs_equal_the_double_loop(average, impostors, kind, resample):
    rng = np.random.default_rng(5)
    X, identity, group = designs.one_side(kind, rng)
    left, right = np.triu_indices(20, 1)
    kept = rng.permutation(left.size)[:140]
    left, right = left[kept], right[kept]
    scores = (X @ X.T)[left, right]
    sides = [identity[left], identity[right]]
    groups = [None if group is None else group[s] for s in (left, right)]
    options = {"average": average, "impostors": impostors}
    oracle = Oracle.listed(
        scores, *(s.tolist() for s in sides), *groups, left.tolist(), right.tolist(),
        **options,
    )  # fmt: skip
    roc = SimilarityROC(
        n_resamples=N_RESAMPLES, random_state=0, resample=resample, **options
    ).fit_pairs(
        scores,
        *sides,
        sensitive_features_1=groups[0],
        sensitive_features_2=groups[1],
        image_1=left,
        image_2=right,
    )
    weights = []
    for b in range(N_RESAMPLES):
        v, w = designs.weights_of(roc, b)
        weights.append((v, None if w is None else dict(enumerate(w))))
    assert_resamples_equal(roc, oracle, kind, weights=weights)


def resampled():
    """Replicates of every question in 40 resamples of people and of their images."""
    rng = np.random.default_rng(15)
    X = rng.standard_normal((200, 16)).astype(np.float32)
    identity = designs.people(200, 60, rng)
    group = np.array(["a", "b"])[identity % 2]
    options = {"resample": "both", "n_resamples": 40}
    roc = roc_of(X, identity, group, **options)
    return [roc.resamples(LEVELS, **q) for q in designs.questions("people")]


def test_results_do_not_depend_on_the_threads(monkeypatch):
    one = resampled()
    monkeypatch.setattr(_parallel, "n_threads", lambda: 3)
    assert_array_equal(resampled(), one)


def test_fit_pairs_forgets_the_embeddings():
    X, identity, _ = designs.one_side("none", np.random.default_rng(28))
    roc = roc_of(X, identity, None, resample="identities")
    assert roc.n_features_in_ == 16
    roc.fit_pairs([0.9, 0.1, 0.4], ["a", "a", "b"], ["a", "b", "c"])
    assert not hasattr(roc, "n_features_in_")
    assert roc.identities_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("sides", "average", "question", "same"),
    [
        (1, "pair", {"group": ("a", "b")}, True),
        (1, "identity", {}, True),
        (1, "identity", {"group": "a"}, True),
        (1, "identity", {"group": ("a", "b")}, False),
        (2, "pair", {}, True),
        (2, "pair", {"group": ("a", "b")}, False),
        (2, "identity", {}, False),
        (2, "identity", {"group": "a"}, False),
        (2, "identity", {"rate": "frr"}, True),
    ],
)
def test_a_list_has_one_side_and_its_rates_differ_where_that_matters(
    sides, average, question, same
):
    X, identity, group = designs.one_side("images", np.random.default_rng(41), 40)
    side = np.arange(40) % 2
    left, right = np.triu_indices(40, 1)
    if sides == 2:
        left, right = np.nonzero((side[:, None] == 0) & (side == 1))
    options = {"average": average, "resample": "identities", "n_resamples": 4}
    compared = SimilarityROC(**options).fit(
        X, identity, group, domain=side if sides == 2 else None
    )
    listed = SimilarityROC(**options).fit_pairs(
        (X @ X.T)[left, right],
        identity[left],
        identity[right],
        sensitive_features_1=group[left],
        sensitive_features_2=group[right],
    )
    asked = {"threshold": 0.2, "rate": "far", **question}
    values = [roc.estimate(**asked).value for roc in (compared, listed)]
    assert (values[0] == pytest.approx(values[1], rel=1e-9)) == same


def test_real_embeddings_have_the_known_rates(shared_data):
    data = np.load(shared_data / "lfw_facenet" / "lfw_facenet.npz")
    roc = SimilarityROC(resample="identities", n_resamples=20, random_state=0).fit(
        data["embedding"], data["identity"], data["gender"]
    )
    table = {
        (None, 1e-2): (0.01000, 0.1091),
        (None, 1e-3): (0.00100, 0.3349),
        ("female", 1e-2): (0.01942, 0.1776),
        ("female", 1e-3): (0.00217, 0.4153),
        ("male", 1e-2): (0.01659, 0.0837),
        ("male", 1e-3): (0.00162, 0.3052),
    }
    for (group, level), (far, frr) in table.items():
        got = [roc.estimate(level, rate=r, group=group).value for r in ("far", "frr")]
        assert got[0] == pytest.approx(far, abs=5.1e-6)
        assert got[1] == pytest.approx(frr, abs=5.1e-5)
    cross = roc.estimate([1e-2, 1e-3], rate="far", group=("female", "male")).value
    assert_allclose(cross, [0.00151, 0.00012], atol=5.1e-6)
    for group, rate in ((None, 0.0422), ("female", 0.0764), ("male", 0.0407)):
        assert roc.equal_error_rate(group).value == pytest.approx(rate, abs=5e-5)
    summary = roc.score_summary()
    assert_allclose(summary.genuine_mean, [0.632, 0.604, 0.643], atol=5e-4)
    assert_allclose(summary.impostor_mean, [0.043, 0.071, 0.067], atol=5e-4)
    assert summary.n_impostor.tolist() == [1020965, 128815, 421930]
    assert summary.n_genuine.tolist() == [3631, 980, 2651]


def test_frr_at_a_threshold_needs_no_impostor(monkeypatch):
    rng = np.random.default_rng(32)
    X = rng.standard_normal((300, 12))
    identity = designs.people(300, 90, rng)
    monkeypatch.setattr(_pairs, "WHOLE", 0)
    roc = roc_of(X, identity, None, far_max=0.02)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    found = roc.estimate(threshold=-0.5)
    assert found.value == float(designs.oracle_of(unit, identity, None).frr(-0.5)) > 0
    assert "sample" not in found.reason


def test_answers_that_are_not_kept_for_long_are_the_same(monkeypatch):
    usual = roc_of(designs.X, designs.IDENTITY, designs.GROUP).far_matrix(0.2)
    monkeypatch.setattr(_pairs.LastAnswers, "MOST", 1)
    found = roc_of(designs.X, designs.IDENTITY, designs.GROUP).far_matrix(0.2)
    for name in ("far", "low", "high"):
        assert_array_equal(getattr(found, name), getattr(usual, name))


def test_the_former_name_of_the_jackknife_warns_and_answers_alike():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 8)), np.arange(60) // 3
    now = SimilarityROC(method="jackknife", n_resamples=5, random_state=0).fit(X, y)
    before = SimilarityROC(method="wilson", n_resamples=5, random_state=0)
    with pytest.warns(FutureWarning, match="called 'jackknife' now"):
        before.fit(X, y)
    one, other = (roc.estimate(threshold=0.3, rate="frr") for roc in (now, before))
    assert (one.low, one.high) == (other.low, other.high)
