"""The audit asks SimilarityROC and reads its answers rightly."""

import re
import sys

import numpy as np
import pytest
from pytest import approx

from skfairfr.metrics import SimilarityROC
from skfairfr.report import EmbeddingData, audit, audit_pairs
from tests.report.audits import small_audit, synthetic, usual_audit, with_a_lone_person
from tests.test_depth import deepest

# Of the page beside the shared data: FAR level -> group -> (FMR, FNMR).
LFW = {
    1e-2: {
        None: (0.01, 0.1091),
        "female": (0.01942, 0.1776),
        "male": (0.01659, 0.0837),
    },
    1e-3: {
        None: (0.001, 0.3349),
        "female": (0.00217, 0.4153),
        "male": (0.00162, 0.3052),
    },
}


@pytest.fixture(scope="module")
def lfw(shared_data):
    data = np.load(shared_data / "lfw_facenet" / "lfw_facenet.npz")
    columns = (data[name] for name in ("embedding", "identity", "gender"))
    return audit(*columns, attribute="gender").audits[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_an_audit_is_near_its_arithmetic():
    """Its own functions are few: the deepest stack is that of SimilarityROC and seven more."""
    options = {}
    small_audit(**options)
    stack = deepest(lambda: small_audit(random_state=1, **options))
    own = [name for name in stack if name.startswith("skfairfr.report.")]
    assert len(own) <= 7, "\n".join(stack)
    assert len(stack) <= 22, "\n".join(stack)


def test_lfw_rates_are_the_published_ones(lfw):
    assert [level.far for level in lfw.levels] == [1e-2, 1e-3]
    for level in lfw.levels:
        for row in level.rates:
            expected = LFW[level.far][row.group]
            assert row.far.value == approx(expected[0], abs=6e-6)
            assert row.frr.value == approx(expected[1], abs=6e-5)


def test_lfw_has_a_dominant_person_and_both_averages(lfw):
    assert lfw.largest_genuine_share == approx(741 / 3631)
    assert lfw.averaged.value == "identity"
    # One person makes the pair average's standard error the larger one.
    pair, person = (x.levels[0].rates[0].frr for x in (lfw, lfw.averaged))
    assert pair.standard_error > person.standard_error


def test_lfw_does_not_tell_who_has_the_higher_fmr(lfw):
    """max_min cannot fall below 1, and so would tell whatever the data are."""
    for level in lfw.levels:
        found = level.findings[0]
        assert (found.group, found.reference) == ("female", "male")
        assert found.verdict == "no significant difference"
        assert found.ratio.low < 1 < found.ratio.high
        assert level.disparities[0].far.low >= 1


def test_figures_are_those_of_similarity_roc():
    data = synthetic()
    found = small_audit(data).levels[0]
    roc = SimilarityROC(
        method="jackknife", n_resamples=40, far_max=0.05, random_state=0
    ).fit(*data)
    for row in found.rates[:2]:
        at = {"threshold": found.threshold, "group": row.group}
        estimate = roc.estimate(**at, rate="far")
        assert (row.far.value, row.far.low) == (estimate.value, estimate.low)
        assert row.far.value == roc.estimate(0.05, rate="far", group=row.group).value
    worst = found.worst_group_threshold
    estimate = roc.estimate(threshold=worst, how="max_min")
    assert found.disparities[-1].frr.high == estimate.high
    asked = {"how": "max_min", "operating_point": "worst_group"}
    assert estimate.value == roc.estimate(0.05, **asked).value


def test_one_image_each_has_no_frr():
    X, y, groups = synthetic()
    first = np.unique(y, return_index=True)[1]
    alone = (X[first], y[first], groups[first])
    with pytest.raises(ValueError, match="non_mated_only was not given, and no person"):
        small_audit(alone)
    found = small_audit(alone, non_mated_only=True)
    assert found.averaged is None
    assert np.isnan(found.levels[0].rates[0].frr.value)
    assert [finding.rate for finding in found.levels[0].findings] == ["far"]


def test_a_group_without_data_leaves_the_others_comparable():
    data = with_a_lone_person(synthetic(120))
    found = small_audit(data)
    row = next(row for row in found.groups if row.group == "alone")
    assert (row.n_identities, row.n_impostor) == (1, 0)
    assert row.equal_error_rate.reason == "alone: no impostor pair"
    of_far = found.levels[0].findings[0]
    assert of_far.not_compared == ("alone",)
    assert {of_far.group, of_far.reference} == {"female", "male"}
    assert any("'alone'" in note for note in found.notes)


@pytest.mark.parametrize(("n_mixed", "words"), [(0, ""), (1, "1 of"), (3, "3 of")])
def test_people_in_several_groups_are_counted(n_mixed, words):
    X, y, groups = synthetic()
    first = np.unique(y, return_index=True)[1][:n_mixed]
    groups[first] = np.where(groups[first] == "male", "female", "male")
    notes = [n for n in small_audit((X, y, groups)).notes if "images in more" in n]
    assert len(notes) == (n_mixed > 0)
    assert "".join(notes).startswith(words)


def test_a_level_is_audited_as_the_threshold_that_it_chose():
    (level,) = usual_audit().levels
    everyone = level.rates[0].far
    assert everyone.value <= level.far
    assert everyone.low < everyone.value < everyone.high
    (given,) = small_audit(far=None, threshold=level.threshold).levels
    assert given.rates == level.rates
    for one, other in zip(given.findings, level.findings, strict=True):
        assert (one.group, one.p_adjusted) == (other.group, other.p_adjusted)
        assert one.ratio == other.ratio
    for one, other in zip(given.disparities, level.disparities[:-1], strict=True):
        assert (one.far.low, one.frr.high) == (other.far.low, other.frr.high)


def test_unknown_groups_are_counted():
    X, y, groups = synthetic()
    groups = groups.astype(object)
    groups[:7] = None
    found = small_audit((X, y, groups))
    assert found.n_unknown == 7
    assert [row.group for row in found.groups] == [None, "female", "male"]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (lambda y: np.full(len(y), "a"), "'gender' has one group, 'a'"),
        (lambda y: np.full(len(y), None), "'gender' has no group"),
        (lambda y: y + 0.5, "60 different numbers"),
        (lambda y: np.arange(len(y)), "groups, and an audit compares at most 250"),
    ],
)
def test_attribute_that_makes_no_groups_is_an_error(groups, message):
    X, y, _ = synthetic()
    with pytest.raises(ValueError, match=message):
        small_audit((X, y, groups(y)))


def test_groups_of_one_person_are_not_compared():
    """One person's errors tell nothing of other people of the group."""
    rng = np.random.default_rng(0)
    person = np.repeat([0, 1], 60)
    spread = np.array([0.4, 1.0])[person, None]
    X = rng.standard_normal((2, 8))[person] + spread * rng.standard_normal((120, 8))
    found = small_audit(
        (X, person, np.array(["a", "b"])[person]), far=None, threshold=0.5
    )
    assert [f.verdict for f in found.levels[0].findings] == ["too few errors"] * 2


def test_thresholds_from_other_data_are_theirs():
    one, other = synthetic(), synthetic(80)
    roc = SimilarityROC(resample="identities").fit(*other[:2])
    given = {"far": [0.05, 0.1], "threshold_from": EmbeddingData(*other[:2])}
    found = small_audit(one, **given)
    assert [(x.far, x.set_on) for x in found.levels] == [
        (0.1, "other data"),
        (0.05, "other data"),
    ]
    for level in found.levels:
        for rate in ("far", "frr"):
            there = roc.estimate(threshold=level.threshold, rate=rate).value
            assert there == roc.estimate(level.far, rate=rate).value


def test_domains_compare_across_alone():
    X, y, groups = synthetic(images_per_identity=2)
    domain = np.tile(["a", "b"], len(y) // 2)[np.argsort(np.argsort(y, kind="stable"))]
    found = small_audit((X, y, groups), domain=domain)
    assert found.groups[0].n_genuine == len(np.unique(y))


def test_scored_pairs_give_what_embeddings_give():
    X, y, groups = synthetic(30)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    left, right = np.triu_indices(len(y), 1)
    scores = (unit @ unit.T)[left, right]
    both = [(labels[left], labels[right]) for labels in (y, groups)]
    options = {"attribute": "gender", "far": 0.05}
    (listed,) = audit_pairs(scores, *both, images=(left, right), **options).audits
    (whole,) = audit(X, y, groups, **options).audits
    assert [g.n_images for g in listed.groups] == [g.n_images for g in whole.groups]
    for a, b in zip(listed.levels[0].rates, whole.levels[0].rates, strict=True):
        assert a.far.value == approx(b.far.value)
        assert (a.frr.low, a.frr.high) == approx((b.frr.low, b.frr.high))
    (unnamed,) = audit_pairs(scores, *both, **options).audits
    assert unnamed.groups[0].n_images is None


def test_progress_of_an_audit_is_one_bar(capsys, monkeypatch):
    """By two attributes: two steps before them, and one for each and their combination."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    X, y, groups = synthetic()
    groups = {"gender": groups, "half": np.array(["a", "b"])[y % 2]}
    audit(X, y, groups, far=0.05, progress=True)
    drawn = capsys.readouterr().err
    named = dict.fromkeys(re.findall(r"([\w &]+) \(step (\d) of 5\)", drawn))
    assert [step for _, step in named] == ["1", "2", "3", "4", "5"]
    assert [name.strip() for name, _ in named][2:] == [
        "auditing by gender",
        "auditing by half",
        "auditing by gender & half",
    ]
    assert "\x1b[A" not in drawn
