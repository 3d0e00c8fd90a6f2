"""Lists of genuine pairs alone, and of impostor pairs alone, at a given threshold."""

import json
import re
import warnings
from dataclasses import astuple, replace

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr import SimilarityROC
from skfairfr.metrics import plan_test
from skfairfr.report import PairData, SystemsComparison, audit_data, compare_systems
from tests.report.json_schema import is_valid
from tests.test_cli_plan import few_are_drawn  # noqa: F401

THRESHOLD = 0.3


def listed(X, y, group, n_impostor, same_group=False, seed=0):
    """All genuine pairs of embeddings and some impostor pairs, PairData."""
    left, right = np.triu_indices(len(X), 1)
    genuine = y[left] == y[right]
    allowed = ~genuine & ((group[left] == group[right]) | (not same_group))
    drawn = np.random.default_rng(seed).choice(
        np.flatnonzero(allowed), n_impostor, False
    )
    rows = np.concatenate([np.flatnonzero(genuine), drawn])
    left, right = left[rows], right[rows]
    score = np.einsum("ij,ij->i", X[left], X[right], dtype=np.float64)
    columns = {"group": (group[left], group[right])}
    return PairData(score, (y[left], y[right]), columns)


def like_rfw():
    """Four groups, pairs within a group alone, as many genuine ones as others."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(240), 4)
    group = np.array(["a", "b", "c", "d"])[y % 4]
    spread = np.array([0.9, 1.0, 1.2, 1.4])[y % 4, None]
    X = rng.normal(size=(240, 16))[y] + spread * rng.normal(size=(y.size, 16))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return listed(X, y, group, 1440, same_group=True)


@pytest.fixture(params=["rfw", "lfw"])
def pairs(request):
    if request.param == "rfw":
        return like_rfw()
    shared = request.getfixturevalue("shared_data")
    data = np.load(shared / "lfw_facenet" / "lfw_facenet.npz")
    return listed(data["embedding"], data["identity"], data["gender"], 5000)


def of_kind(pairs, genuine):
    left, right = pairs.identities
    kept = pairs.take((left == right) == genuine)
    return replace(kept, mated_only=genuine, non_mated_only=not genuine)


def audited(data, **options):
    options = {"threshold": THRESHOLD} | options
    return audit_data(data, **options)


@pytest.mark.parametrize(("genuine", "rate"), [(True, "frr"), (False, "far")])
def test_half_of_a_list_has_the_rates_of_the_whole(pairs, genuine, rate):
    whole, half = audited(pairs).audits[0], audited(of_kind(pairs, genuine)).audits[0]
    for one, other in zip(whole.levels[0].rates, half.levels[0].rates, strict=True):
        assert one.group == other.group
        a, b = (getattr(row, rate) for row in (one, other))
        assert (a.supported, a.reason) == (b.supported, b.reason)
        # Not the standard error, which comes from resamples of all people.
        ends = (b.value, b.low, b.high)
        assert (a.value, a.low, a.high) == pytest.approx(ends, rel=1e-12)
        a, b = (
            [
                getattr(row, f"{rate}_errors"),
                *astuple(getattr(row, f"{rate}_effective")),
            ]
            for row in (one, other)
        )
        assert a == pytest.approx(b, rel=1e-12)
    of_whole = [f for f in whole.levels[0].findings if f.rate == rate]
    of_half = half.levels[0].findings
    # The family of tests is smaller, so that more groups may be found to differ.
    n_groups = len(half.groups) - 1
    assert len(of_half) == len(of_whole) == n_groups - 1
    for one, other in zip(of_half, of_whole, strict=True):
        assert (one.group, one.reference) == (other.group, other.reference)
        assert one.ratio.p_value == pytest.approx(other.ratio.p_value, rel=1e-9)
        assert one.n_comparisons == other.n_comparisons / 2 == n_groups - 1


def without_glossary(report):
    """The text up to the meanings of words, which are those of any audit."""
    return report.to_text().partition("\nGlossary\n")[0]


@pytest.mark.parametrize(("genuine", "lacking"), [(True, "FMR"), (False, "FNMR")])
def test_what_lacks_is_named_in_one_line(genuine, lacking):
    limits = {"max_fnmr" if genuine else "max_fmr": 0.9}
    report = audited(of_kind(like_rfw(), genuine), limits=limits)
    text = re.sub(r"\s+", " ", without_glossary(report))
    sentences = [
        s for s in re.split(r"(?<=[.:]) ", text) if re.search(rf"\b{lacking}\b", s)
    ]
    assert len(sentences) == 1
    for word in ("EER", "BFAR", "GARBE", "DET", "FDR"):
        assert word not in text
    page = report.to_html().partition('id="glossary"')[0]
    assert len(re.findall(rf"\b{lacking}\b", page)) == 1
    assert report.checks[0].verdict == "passed"
    assert report.audits[0].groups[0].equal_error_rate is None


def test_figures_of_what_was_measured(tmp_path):
    audited(of_kind(like_rfw(), True)).save(tmp_path)
    stems = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert stems == {"rates-group-1", "ratios-group-1"}


def test_a_level_needs_impostor_pairs():
    genuine = of_kind(like_rfw(), True)
    with pytest.raises(ValueError, match=r"^threshold is missing.*threshold_from"):
        audited(genuine, threshold=None)
    with pytest.raises(ValueError, match=r"^threshold_from has no pair of two"):
        audited(genuine, threshold=None, threshold_from=genuine)
    found = audited(genuine, threshold=None, far=0.01, threshold_from=like_rfw())
    whole = audited(like_rfw(), threshold=None, far=0.01)
    frr = [r.audits[0].levels[0].rates[0].frr.value for r in (found, whole)]
    assert frr[0] == frr[1]


@pytest.mark.parametrize(("genuine", "rate"), [(True, "frr"), (False, "far")])
def test_systems_are_compared_on_half_of_the_pairs(genuine, rate):
    whole, later = like_rfw(), like_rfw()
    later.y_score[later.columns["group"][0] == "d"] -= 0.2 if genuine else -0.2
    both = whole, later
    asked = {"threshold": THRESHOLD}
    of_whole = compare_systems(*both, **asked)
    found = compare_systems(*(of_kind(one, genuine) for one in both), **asked)
    assert {change.rate for change in found.changes} == {rate}
    assert [(c.group, c.difference, c.p_value) for c in found.changes] == [
        (c.group, c.difference, c.p_value) for c in of_whole.changes if c.rate == rate
    ]
    assert {change.group for change in found.harm} >= {"d"}
    assert {change.rate for change in found.disparities} == {rate}
    lacking = r"\bFMR\b" if genuine else r"\bFNMR\b"
    assert not re.search(lacking, without_glossary(found))
    assert re.search(lacking, without_glossary(of_whole))
    assert is_valid(json.loads(found.to_json()), SystemsComparison.schema())


@pytest.mark.usefixtures("few_are_drawn")
def test_a_pilot_of_genuine_pairs_needs_a_threshold():
    rocs = []
    for data in (like_rfw(), of_kind(like_rfw(), True)):
        rocs.append(data.fit(SimilarityROC(n_resamples=1, random_state=0), ("group",)))
    plans = [plan_test(max_fnmr=0.1, pilot=p, threshold=THRESHOLD) for p in rocs]
    assert plans[0].people.tolist() == plans[1].people.tolist()
    assert plans[0].pilot_errors["frr"][0] == plans[1].pilot_errors["frr"][0]
    assert "at the given threshold" in plans[1].to_text()
    of_far = plan_test(max_fmr=1e-3, pilot=rocs[1], threshold=THRESHOLD)
    assert "FMR (the pilot has no such pairs" in of_far.to_text()
    with pytest.raises(
        ValueError, match=r"^threshold is missing, and the pilot has no"
    ):
        plan_test(max_fnmr=0.1, pilot=rocs[1])
    with pytest.raises(ValueError, match=r"^threshold is that of a pilot"):
        plan_test(max_fnmr=0.1, threshold=THRESHOLD)


@pytest.mark.parametrize("average", ["pair", "identity"])
@pytest.mark.parametrize("impostors", ["all", "same_group"])
def test_a_roc_of_genuine_pairs(average, impostors):
    data = of_kind(like_rfw(), True)
    options = {"average": average, "impostors": impostors, "method": "jackknife"}
    rocs = [
        one.fit(SimilarityROC(n_resamples=5, random_state=0, **options), ("group",))
        for one in (data, like_rfw())
    ]
    for asked in ({}, {"group": "a"}, {"how": "max_min"}):
        one, other = (roc.estimate(threshold=THRESHOLD, **asked) for roc in rocs)
        assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
    assert rocs[0].n_impostor_.tolist() == [0] * 5
    with pytest.warns(
        UndefinedMetricWarning, match="no threshold meets a level of the FAR"
    ) as told:
        assert np.isnan(rocs[0].estimate(0.01).value)
    assert len(told) == 1
    with pytest.warns(UndefinedMetricWarning, match="^No impostor pair: the FAR"):
        assert np.isnan(rocs[0].estimate(threshold=THRESHOLD, rate="far").value)
    with pytest.warns(
        UndefinedMetricWarning, match="^There is no impostor pair overall"
    ):
        rocs[0].equal_error_rate()


def test_independent_genuine_pairs():
    data = of_kind(like_rfw(), True)
    found = [
        SimilarityROC(n_resamples=50, random_state=0).fit_pairs(
            score, y_true=y_true, mated_only=bool(y_true.all())
        )
        for score, y_true in (
            (data.y_score, np.ones(data.y_score.size)),
            (np.append(data.y_score, 0.0), np.append(np.ones(data.y_score.size), 0)),
        )
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = [roc.estimate(threshold=THRESHOLD).value for roc in found]
    assert values[0] == values[1] == np.mean(data.y_score < THRESHOLD)
