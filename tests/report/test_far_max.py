"""How far an audit is exact: by a rule, or as memory allows, which it then says."""

import numpy as np
import pytest

from skfairfr._core import _memory, _pair_sets
from skfairfr._core._pair_design import CompleteDesign
from skfairfr._core._pair_sets import size_of
from skfairfr._core._resampling import Images
from skfairfr.report import EmbeddingData, _far_max, audit_pairs
from skfairfr.report._audit import AuditOptions
from skfairfr.report._measure import Points
from skfairfr.utils._labels import encode
from tests.report.audits import small_audit, synthetic

OPTIONS = AuditOptions("identity", "all", 9, 0.95, 2, 0)
# More pairs are held by rule.
MANY = 2**12


@pytest.fixture
def fitting(monkeypatch):
    """A function after which no larger far_max fits."""

    def fit(largest):
        monkeypatch.setattr(_memory, "fits", lambda size, far_max: far_max <= largest)

    return fit


def data_of(n_images, domain=None):
    names = np.arange(n_images)
    groups = np.array(["a", "b", None], dtype=object)[names % 3]
    return EmbeddingData(np.ones((n_images, 3)), names // 3, {"group": groups}, domain)


def chosen(data, far=None):
    points = Points.of(threshold=0.5) if far is None else Points.of(far)
    groups = [data.groups(("group",))]
    return _far_max.choose_far_max(data, groups, points, OPTIONS)


@pytest.mark.parametrize("far", [None, [1e-3], [1e-3, 0.2]])
@pytest.mark.parametrize("n_images", [30, 900])
def test_by_rule_it_depends_on_the_number_of_images(n_images, far, monkeypatch):
    monkeypatch.setattr(_pair_sets, "HELD_PAIRS", MANY)
    rule = {30: 1e-2, 900: MANY / 900**2}[n_images]
    assert chosen(data_of(n_images), far) == (max(rule, *(far or [0])), "")


@pytest.mark.parametrize(
    ("far", "expected"),
    [(None, 0.01 / 8), ([0.001], 0.01 / 8), ([0.004], 0.004), ([0.1], 0.1)],
)
def test_without_the_memory_it_is_halved_as_far_as_levels_allow(far, expected, fitting):
    fitting(0.002)
    found, note = chosen(data_of(30), far)
    assert found == expected
    rule = max(0.01, *(far or [0]))
    assert (f"up to a FAR of {expected:.3g} only" in note) == (expected < rule)


def test_it_ends_where_nothing_fits(fitting):
    fitting(0)
    assert chosen(data_of(30))[0] == _far_max.SMALLEST


@pytest.mark.parametrize("two_sides", [False, True])
def test_no_less_is_expected_than_in_the_fit(two_sides):
    data = data_of(60, np.array(["x", "y"])[np.arange(60) % 2] if two_sides else None)
    labels = data.groups(("group",))
    size = _far_max._size(data, [labels.codes], OPTIONS)
    side = encode(data.domain, "domain").codes.astype(np.int8) if two_sides else None
    images = Images(data.people().astype(np.int32), labels.codes, side, 20, 2)
    exact = size_of(CompleteDesign(images, "identity", "all"), 3, 2)
    for name in ("n_images", "n_features", "n_pairs", "n_genuine", "average", "n_jobs"):
        assert getattr(size, name) == getattr(exact, name)
    pairs = zip(size.n_impostors, exact.n_impostors, strict=True)
    assert all(n >= m for n, m in pairs)
    assert size.n_bytes(size.n_held(0.01)) >= exact.n_bytes(exact.n_held(0.01))


def test_the_audit_says_it_and_its_levels_stay_as_they_are(fitting):
    usual = small_audit(far=0.005)
    fitting(0.006)
    found = small_audit(far=0.005)
    assert usual.settings["far_max"] == 0.01
    assert found.settings["far_max"] == 0.005
    assert repr(found.levels) == repr(usual.levels)  # nan differs from nan
    [note] = set(found.notes) - set(usual.notes)
    assert note.startswith("For lack of memory")
    assert not [n for n in usual.notes if n.startswith("For lack of memory")]


def test_levels_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(_memory, "free_bytes", lambda: 1e7)
    with pytest.raises(ValueError, match=r"^far=0\.05 means to hold .* free memory\.$"):
        small_audit()


def test_scored_pairs_need_no_budget(monkeypatch):
    monkeypatch.setattr(_memory, "free_bytes", lambda: 0)
    _, y, groups = synthetic()
    n = len(y) // 2
    found = audit_pairs(
        np.random.default_rng(0).normal(size=n),
        (y[:n], y[-n:]),
        (groups[:n], groups[-n:]),
        far=0.1,
        n_resamples=9,
    )
    assert found.settings["far_max"] == 0.1
