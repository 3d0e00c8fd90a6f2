"""Notes say what warnings carry, in a report's words and each once."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._text._words import percent
from skfairfr.metrics import ReversedScoresWarning, SimilarityROC
from skfairfr.report import EmbeddingData, PairData, audit, audit_data, compare_systems
from skfairfr.report._notes import collecting, notes_of
from tests.report.audits import scored_pairs, synthetic, with_a_lone_person


def collected(ask, **options):
    """What SimilarityROC warns of when asked."""
    found = []
    with collecting(found):
        ask(SimilarityROC(n_resamples=20, random_state=0, **options))
    return found


def resolve(roc):
    roc.fit(*synthetic()).threshold_at(1e-5)


def leave_out(roc):
    roc.fit(*with_a_lone_person()).estimate(0.05, rate="far", how="max_min")


def divide(roc):
    roc.fit(*synthetic(kappa=1e4)).estimate(0.05, how="max_min")


def reverse(roc):
    people = np.random.default_rng(0).integers(0, 5, (2, 200))
    roc.fit_pairs(np.arange(200.0) * (people[0] != people[1]), *people)


@pytest.mark.parametrize(
    ("ask", "code", "note"),
    [
        (
            resolve,
            "below_resolution",
            r"FMR of 0.001\s% .* = 0.00246\s%, .* larger FMR",
        ),
        (leave_out, "left_out", "No impostor pair within group 'alone'.* the FMR"),
        (divide, "no_error", "a group has no FNMR error, .* or a smaller FMR"),
    ],
)
def test_what_a_warning_carries_is_noted(ask, code, note):
    found = [w for w in collected(ask, resample="identities") if w.code == code]
    (text,) = notes_of(found * 2)
    assert re.search(note, text)


def test_reversed_scores_are_asked_about_in_the_words_of_the_caller():
    (warning,) = collected(reverse)
    (note,) = notes_of([warning])
    assert isinstance(warning, ReversedScoresWarning)
    assert f"in {percent(warning.values['share'])} of all cases" in note
    n_genuine = int(
        (np.equal(*np.random.default_rng(0).integers(0, 5, (2, 200)))).sum()
    )
    for counted in (f"{n_genuine} genuine pairs", f"{200 - n_genuine} impostor pairs"):
        assert counted in note
    assert "Is y_true the other way round" in note
    assert "--distance" in note and "distance=True" in str(warning)


def test_other_warnings_of_the_data_are_noted_as_they_are():
    assert notes_of([UndefinedMetricWarning("far=0.1 is odd")]) == ["far=0.1 is odd"]


def test_warnings_that_are_no_notes_are_shown():
    found = []
    with pytest.warns(DeprecationWarning, match="old"), collecting(found):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        warnings.warn("people", UndefinedMetricWarning, stacklevel=1)
    assert [str(warning) for warning in found] == ["people"]


def test_a_level_that_a_group_cannot_resolve_is_noted_with_the_group():
    X, y, groups = synthetic(40)
    small = np.where(y < 4, "few", groups)
    notes = audit(X, y, small, far=1e-3).audits[0].notes
    (note,) = (n for n in notes if "is below 1 / (" in n)
    assert "is below 1 / (impostor pairs of few) = " in note
    # Of a level that everyone's pairs do not resolve there is one note.
    notes = audit(X, y, small, far=1e-6).audits[0].notes
    (note,) = (n for n in notes if "is below 1 / (" in n)
    assert "is below 1 / (all impostor pairs) = " in note


def test_verdicts_are_withheld_where_scores_look_like_distances():
    data = scored_pairs(
        np.random.default_rng(0), {"a": 60, "b": 60}, {"a": 0.4, "b": 0.1}
    )
    limits = {"max_fnmr": 0.9}
    told = audit_data(data, threshold=0.5, limits=limits)
    assert told.exit_code == 0
    data = replace(data, y_score=-data.y_score)
    withheld = audit_data(data, threshold=-0.5, limits=limits)
    assert withheld.exit_code == 3
    (found,) = withheld.audits
    verdicts = {f.verdict for level in found.levels for f in level.findings}
    assert verdicts == {"undetermined"}
    # Nothing that reads as a conclusion is left, nor a wrong reason for having none.
    for shown in (withheld.to_text(), withheld.to_html()):
        assert "Undetermined: scores look like distances" in shown
        assert "--distance" in shown and "would show in" not in shown
        for words in ("no certain difference", "not compared, ."):
            assert words not in shown


@pytest.fixture(scope="module")
def mixed_up(shared_data):
    """A system of real embeddings, as it is and with its rows out of order."""
    file = np.load(shared_data / "lfw_facenet" / "lfw_facenet.npz")
    shuffled = np.random.default_rng(0).permutation(file["embedding"])
    return [
        EmbeddingData(X, file["identity"], {"gender": file["gender"]})
        for X in (file["embedding"], shuffled)
    ]


@pytest.mark.slow
def test_verdicts_are_withheld_where_scores_carry_no_information(mixed_up):
    asked = {"far": 0.01, "limits": {"max_fmr": 0.1, "max_fnmr": 0.7}}
    told, withheld = (audit_data(d, **asked) for d in mixed_up)
    assert told.exit_code == 0
    assert {f.verdict for f in told.audits[0].levels[0].findings} != {"undetermined"}
    assert (withheld.exit_code, {c.verdict for c in withheld.checks}) == (
        3,
        {"undetermined"},
    )
    (found,) = withheld.audits
    assert {f.verdict for f in found.levels[0].findings} == {"undetermined"}
    text = " ".join(withheld.to_text().split())
    for shown in (text, withheld.to_html(), withheld.to_card()):
        assert "scores are no better than chance" in shown
        assert "look like distances" not in shown and "worse" not in shown
    assert text.count("would show in") == 0
    assert any("hardly separate genuine pairs" in note for note in found.notes)


def test_the_other_average_is_withheld_with_the_first():
    X, y, groups = synthetic(30)
    heavy = np.flatnonzero(y == y[0])[0]
    X, y, groups = (
        np.concatenate([v, np.repeat(v[heavy : heavy + 1], 30, axis=0)])
        for v in (X, y, groups)
    )
    left, right = np.triu_indices(len(y), 1)
    distances = 1 - (X @ X.T)[left, right]
    data = PairData(
        distances, (y[left], y[right]), {"sex": (groups[left], groups[right])}
    )
    (found,) = audit_data(data, far=0.1).audits
    assert found.averaged is not None
    findings = [f for level in found.averaged.levels for f in level.findings]
    assert {f.verdict for f in findings} == {"undetermined"}


# ---- data as they come ---------------------------------------------------------------


def all_pairs(X, y, groups, scores=None):
    """Scored pairs of all images, which are named."""
    left, right = np.triu_indices(len(y), 1)
    scores = (X @ X.T)[left, right] if scores is None else scores
    columns = {"sex": (groups[left], groups[right])}
    return PairData(scores, (y[left], y[right]), columns, (left, right))


def noted(data, words, **options):
    """The notes of a report that hold some words."""
    report = audit_data(data, **options)
    return [n for audit in report.audits for n in audit.notes if words in n]


def test_two_spellings_of_a_group_are_an_error_in_audits_and_comparisons():
    X, y, groups = synthetic()
    labels = np.where(y % 3, groups, np.char.title(groups))
    data = EmbeddingData(X, y, {"sex": labels, "other": np.where(y % 2, "a", "b")})
    expected = "sex contains 2 labels in two spellings.*'Female' and 'female', 'Male' and 'male'"
    with pytest.raises(ValueError, match=expected):
        audit_data(data, far=0.05)
    with pytest.raises(ValueError, match=expected):
        compare_systems(data, replace(data, X=X + 1e-6), far=0.05)
    spaced = EmbeddingData(
        X, y, {"sex": np.where(y % 3, groups, np.char.add(groups, " "))}
    )
    assert audit_data(spaced, far=0.05).audits[0].groups


@pytest.mark.slow
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"impostors": "same_group", "average": "identity"}]
)
def test_repeats_are_counted_with_the_rates_without_them(listed, options):
    """The same thresholds, given, of data in which they never stood."""
    X, y, groups = synthetic(30)
    plain = all_pairs(X, y, groups) if listed else EmbeddingData(X, y, {"sex": groups})
    assert not noted(plain, "as an earlier", far=[0.2, 0.05], **options)
    rows = np.append(np.arange(len(plain.y_score if listed else y)), [3, 3, 7, 90])
    data = plain.take(rows)
    report = audit_data(data, far=[0.2, 0.05], **options)
    (note,) = (n for n in report.audits[0].notes if "as an earlier" in n)
    assert note.startswith(f"4 of {rows.size:,} {'pairs' if listed else 'images'}")
    at = [level.threshold for level in report.audits[0].levels]
    without = audit_data(plain, threshold=at, **options).audits[0].levels
    for before, after in zip(report.audits[0].levels, without, strict=True):
        for name, rate in (("FMR", "far"), ("FNMR", "frr")):
            new, old = (
                percent(getattr(of.rates[0], rate).value) for of in (after, before)
            )
            words = f"{name} {new} instead of {old} at an overall FMR of {100 * before.far:g}\xa0%"
            assert (words in note) == (new != old)


def test_without_repeats_nothing_may_be_left():
    X, y = np.repeat([[1.0, 0.0]], 6, axis=0), np.arange(6) // 2
    data = EmbeddingData(X, y, {"sex": np.where(y, "f", "m")})
    (note,) = noted(data, "as an earlier", far=0.5)
    assert note.startswith("5 of 6 images") and note.endswith("nothing to compare.")


def test_a_level_that_tied_scores_miss_is_noted_with_those_on_both_sides():
    rng = np.random.default_rng(0)
    people = rng.integers(0, 50, (2, 4000))
    scores = rng.integers(0, 20, 4000) + 5.0 * (people[0] == people[1])
    groups = tuple(np.where(people % 2, "f", "m"))
    data = PairData(scores, tuple(people), {"sex": groups})
    impostor = np.sort(scores[people[0] != people[1]])
    attainable = [(impostor >= s).mean() for s in np.unique(impostor)] + [0.0]
    far = 0.12
    below, above = (
        max(a for a in attainable if a <= far),
        min(a for a in attainable if a > far),
    )
    (note,) = noted(data, "cannot be met", far=far)
    assert "FMR of 12\N{NO-BREAK SPACE}% cannot be met" in note
    assert f"{percent(below)} and {percent(above)}" in note
    # Met, missed by less than a tenth, and a threshold that was given.
    assert not noted(data, "cannot be met", far=float(below))
    assert not noted(
        data, "cannot be met", far=min(float(below) * 1.1, (below + above) / 2)
    )
    assert not noted(data, "cannot be met", threshold=10)


def test_a_level_that_few_pairs_miss_is_not_put_down_to_ties():
    data = all_pairs(*synthetic(6))
    n_impostor = int((data.identities[0] != data.identities[1]).sum())
    found = noted(data, "cannot be met", far=1.8 / n_impostor)
    assert not found
