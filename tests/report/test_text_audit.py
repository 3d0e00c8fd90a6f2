"""The sections of an audit say what is there, marked where it is not supported."""

import numpy as np
import pytest

from skfairfr._core import _pairs
from skfairfr.report import to_text
from skfairfr.report._records import Finding
from skfairfr.report._text_audit import reading, sections
from skfairfr.report._text_layout import SOURCES
from tests.metrics.designs import hold_tails
from tests.report.audits import small_audit, synthetic, usual_audit, with_a_lone_person


@pytest.fixture(scope="module")
def audits():
    return [
        small_audit(far=[0.05, 0.2]),
        small_audit(with_a_lone_person(), far=[0.05, 1e-4]),
    ]


def test_every_group_and_level_is_there(audits):
    text = to_text(audits[0], "faces.npz")
    for words in ("female", "male", "FAR 0.05", "FAR 0.2", "faces.npz", "FMR", "FNMR"):
        assert words in text
    for words in (
        "EER",
        "max / min",
        "Gini",
        "BFAR",
        "genuine pairs",
        "larger is less",
    ):
        assert words in text


def test_what_is_not_supported_is_marked_and_explained(audits):
    text = to_text(audits[1])
    assert "undefined ?" in text
    assert "alone: no impostor pair" in text
    assert "Notes" in text


def test_dominant_person_shows_both_averages():
    X, y, groups = synthetic()
    kept = np.r_[np.flatnonzero(y == y[0]), np.arange(len(y))]
    noise = np.random.default_rng(0).normal(scale=0.05, size=(len(kept), X.shape[1]))
    found = small_audit((X[kept] + noise, y[kept], groups[kept]))
    text = to_text(found)
    assert found.averaged is not None
    assert "One person supplies" in text
    assert "average by identity" in text


def test_the_data_tell_only_when_the_interval_excludes_one():
    """The sentence follows the verdict, never the value alone."""
    found = usual_audit()
    text = to_text(found)
    for finding in found.levels[0].findings:
        assert isinstance(finding, Finding)
    verdicts = [f.verdict for f in found.levels[0].findings]
    assert text.count("is treated worse.") == verdicts.count("worse")


def test_a_given_threshold_is_not_called_a_level():
    found = small_audit(far=None, threshold=0.5)
    text = "\n".join(line for part in sections(found) for line in part)
    assert "At threshold 0.5" in text
    assert "Given threshold: accepted from similarity 0.5 on" in text
    assert "BFAR" not in text
    assert "thresholds were given" in " ".join(reading(found))


@pytest.mark.parametrize("point", [{"threshold": 0.2}, {"far": 0.05}])
def test_what_is_not_counted_over_all_pairs_is_said_and_marked(monkeypatch, point):
    hold_tails(monkeypatch)
    monkeypatch.setattr(_pairs, "HELD_PAIRS", 2**8)
    monkeypatch.setattr(_pairs, "DEEPEST", 0.5)  # no equal error rate is reached
    found = small_audit(**{"far": None, **point})
    figures = [rates.far for rates in found.levels[0].rates]
    # A level is never above the far_max of its audit; a threshold's far may be.
    sampled = "threshold" in point
    words, source = SOURCES["sample"], "sample" if sampled else "all pairs"
    assert all((words in f.reason) == sampled for f in figures)
    assert {f.source for f in figures} == {source}
    equal = found.groups[0].equal_error_rate
    assert (equal.source, words in equal.reason) == ("sample", True)
    text, record = " ".join(to_text(found).split()), found.to_json()
    assert f"~ EER: {words}" in text
    assert (f"~ FAR: {words}" in text) == sampled
    assert record.count(words) > 3 * sampled
    assert record.count('"source": "sample"') > 3 * sampled


def test_groups_without_errors_are_not_a_factor_apart():
    X, y, groups = synthetic(kappa=1e4)
    found = small_audit((X, y, groups), far=0.2)
    text = " ".join(to_text(found).split())
    assert "There are no errors in any of the groups." in text
    assert text.count("no errors ?") == 5
    assert "undefined in" not in text
    three = {"a": 0.3, "b": 0.3, "c": 0.4}
    found = small_audit(synthetic(groups=three, kappa=1e4), far=0.2)
    assert "There are no errors in any of the groups." in " ".join(
        to_text(found).split()
    )


def test_an_frr_without_genuine_pairs_is_not_measured():
    X, _, groups = synthetic()
    text = to_text(small_audit((X, np.arange(len(X)), groups)))
    assert "False rejections: not measured, no genuine pair (see Notes)." in text
    assert "EER: no genuine pair\n" in text
    assert "None" not in text
    assert "Read first: 1 note at the end." in text.split("What the data say")[0]
    notes = " ".join(text.split("Notes\n")[1].split())
    assert notes.startswith("----- - No person has two images, so that there is no")
    assert "A group has no error" not in notes
