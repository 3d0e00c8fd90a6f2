"""The metrics of people held out equal the pair metrics on these people."""

import math
import warnings

import numpy as np
import pytest

from skfairfr import EthicalModule, FPRPenaltyProjector, TripletProjector
from skfairfr.metrics import FewErrorsWarning, all_pairs, bfar, bfrr, frr_at_far
from skfairfr.projectors._people import HeldOutRates
from skfairfr.projectors._training import ProjectionHead, project
from skfairfr.utils import ArgumentError
from tests.projectors.faces import MORE, MORE_Y, losses, people_of, rows_of

# Loose images: every group has errors of both kinds.
NOISE = np.random.default_rng(0).standard_normal(MORE.X.shape)
X = (MORE.X + 0.25 * NOISE).astype(np.float32)
GROUP = MORE.sensitive_features.astype(object)
UNKNOWN = np.where(np.arange(len(X)) % 9 == 0, None, GROUP)
FAR = 1e-3
HEAD = ProjectionHead(16, 32, 16, "residual")


def measure(monitor, group=GROUP, X=X, y=MORE.y, chosen=None, far=FAR):
    people = people_of(y, group)
    if chosen is not None:
        people = people.of(chosen)
    Z = project(HEAD, rows_of(X), people.rows)
    return HeldOutRates(people, monitor, far).measure(Z)


def of_pairs(monitor, group=GROUP, X=X, y=MORE.y, Z=None, far=FAR):
    Z = project(HEAD, rows_of(X)) if Z is None else Z
    given = {} if group is None else {"sensitive_features": group}
    y_true, y_score, *pairs = all_pairs(Z, y, **given)
    if monitor == "frr_at_far":
        return frr_at_far(y_true, y_score, far=far)
    function = {"bfar": bfar, "bfrr": bfrr}[monitor]
    return function(y_true, y_score, sensitive_features=pairs[0], far=far)


@pytest.mark.parametrize("monitor", ["bfar", "bfrr", "frr_at_far"])
@pytest.mark.parametrize("group", [GROUP, UNKNOWN], ids=["known", "some unknown"])
def test_equals_the_pair_metrics(monitor, group):
    far = 1e-2 if monitor == "frr_at_far" else FAR
    found = measure(monitor, group, far=far)
    assert list(found) == [f"valid_{monitor}"]
    expected = of_pairs(monitor, group, far=far)
    assert math.isfinite(expected)
    assert found[f"valid_{monitor}"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("monitor", ["bfar", "frr_at_far"])
def test_only_the_people_given_count(monitor):
    some = np.arange(120) % 2 == 0
    rows = some[MORE.y]
    found = measure(monitor, chosen=some)[f"valid_{monitor}"]
    expected = of_pairs(monitor, GROUP[rows], X[rows], MORE.y[rows])
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("monitor", "group", "words"),
    [
        ("bfar", None, "monitor is 'bfar'.*got 0 among .* Pass sensitive_features"),
        ("bfrr", np.full(480, "f"), "monitor is 'bfrr'.*got 1 among"),
        ("bfrr", np.where(MORE.y < 2, "f", "m"), "monitor_far is 0.001,.*not resolve"),
    ],
)
def test_people_who_cannot_answer_are_refused(monitor, group, words):
    with pytest.raises(ArgumentError, match=words):
        measure(monitor, group)
    with pytest.raises(
        ArgumentError, match=r"monitor_far .* 0 genuine validation pairs"
    ):
        measure("frr_at_far", y=np.arange(len(X)))


def test_fewer_than_thirty_false_acceptances_are_warned_of():
    n = sum(i != j for k, i in enumerate(MORE.y) for j in MORE.y[:k])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measure("frr_at_far", far=30.5 / n)
    with pytest.warns(FewErrorsWarning, match="monitor_far=.* rests on"):
        measure("frr_at_far", far=29.5 / n)


FITS = [
    (EthicalModule, {"groups": ("male", "female"), "monitor": "bfar"}),
    (FPRPenaltyProjector, {"monitor": "frr_at_far"}),
    (TripletProjector, {"sampling": "equal", "monitor": "bfrr"}),
]


@pytest.mark.parametrize(("kind", "options"), FITS)
def test_what_is_measured_is_what_transform_gives(kind, options):
    """Under autocast, too: the monitored number is that of float32 rows."""
    seen = []

    class Watched(kind):
        def _held_out_loss(self, people, loss, embeddings, y, X):
            seen.append((embeddings, people))
            return super()._held_out_loss(people, loss, embeddings, y, X)

    fitted = Watched(
        validation_fraction=0.5,
        precision="bfloat16",
        max_epochs=1,
        random_state=0,
        device="cpu",
        **options,
    ).fit(X, MORE_Y)
    ((embeddings, people),) = seen
    np.testing.assert_array_equal(embeddings, fitted.transform(X)[people.rows])
    name = f"valid_{options['monitor']}"
    rows = people.rows
    expected = of_pairs(
        options["monitor"],
        None if options["monitor"] == "frr_at_far" else GROUP[rows],
        None,
        MORE.y[rows],
        Z=fitted.transform(X)[rows],
    )
    assert losses(fitted)[name] == [pytest.approx(expected, rel=1e-12)]
    assert math.isfinite(losses(fitted)["valid_loss"][0])
