"""Exported comparators: the guide's scorer in plain Python computes the same scores."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skfairfr.comparators import (
    ClusterCalibration,
    CohortNormalizer,
    Comparator,
    GroupMeanRemover,
    GroupThresholds,
    WithinClassWhitening,
)
from tests.comparators.people import (
    GROUP,
    NEW,
    NEW_GROUP,
    ONE_SIDED,
    SYMMETRIC,
    X,
    Y,
    fit,
    of_groups,
)
from tests.test_docs import blocks

GUIDE = Path(__file__).parents[2] / "docs" / "how_to" / "export_comparators.rst"
COHORTS = [
    CohortNormalizer(cohort="images", top=30, strength=strength)
    for strength in (0, 0.4, 1.5)
]
N = 40


@pytest.fixture(scope="module")
def scorer():
    """Names of the block of the guide, run without those of the blocks before it."""
    found = blocks(GUIDE.read_text(encoding="utf-8"))
    (code,) = (code for *_, code in found if "def prepare(" in code)
    names = {}
    exec(compile(code, GUIDE.name, "exec"), names)
    return names


def scores_of(scorer, path, first, second, groups=(None, None)):
    """Scores of pairs of rows, by what was exported."""
    model = scorer["load"](path)
    groups = [group if group is not None else [None] * N for group in groups]
    sides = [
        [
            scorer["prepare"](model, row.tolist(), side, g)
            for row, g in zip(*of, strict=True)
        ]
        for side, of in (
            ("probe", (first, groups[0])),
            ("reference", (second, groups[1])),
        )
    ]
    return [scorer["score"](model, *pair) for pair in zip(*sides, strict=True)]


def close(expected):
    return pytest.approx(expected.astype(float), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("comparator", [*SYMMETRIC, *ONE_SIDED, *COHORTS], ids=str)
def test_the_guide_s_scorer_reproduces_score_pairs(comparator, scorer, tmp_path):
    comparator = fit(comparator)
    comparator.export(tmp_path / "c.json")
    first, second = NEW[:N], NEW[N : 2 * N]
    groups = NEW_GROUP[:N].astype(object), NEW_GROUP[N : 2 * N]
    groups[0][::5] = None
    used = groups if comparator.takes_groups else (None, None)
    found = scores_of(scorer, tmp_path / "c.json", first, second, used)
    expected = comparator.score_pairs(first, second, **of_groups(comparator, *groups))
    assert np.ptp(expected) > 0.5
    assert found == close(expected)


@pytest.mark.parametrize("transformer", [GroupMeanRemover(), WithinClassWhitening(0.2)])
def test_rows_of_a_transformer_are_its_vectors(transformer, scorer, tmp_path):
    transformer.fit(X, Y, GROUP).export(tmp_path / "t.json")
    model = scorer["load"](tmp_path / "t.json")
    found = [scorer["prepare"](model, row.tolist())[0] for row in NEW[:N]]
    assert np.array(found) == close(transformer.transform(NEW[:N]))
    cosines = scores_of(scorer, tmp_path / "t.json", NEW[:N], NEW[N : 2 * N])
    expected = transformer.transform(NEW[:N]) * transformer.transform(NEW[N : 2 * N])
    assert np.array(cosines) == close(expected.sum(axis=1, dtype=np.float64))


def test_log_odds_beyond_the_range_of_exp_are_the_same(scorer, tmp_path):
    (comparator,) = (fit(c) for c in SYMMETRIC if isinstance(c, ClusterCalibration))
    comparator.calibrations_ = comparator.calibrations_ * [[900.0, 900.0, 1.0]]
    comparator.export(tmp_path / "c.json")
    expected = comparator.score_pairs(NEW[:N], NEW[N : 2 * N])
    assert np.abs(expected).max() > 710
    found = scores_of(scorer, tmp_path / "c.json", NEW[:N], NEW[N : 2 * N])
    assert found == close(expected)


def test_numbers_of_a_cohort_are_read_as_they_are(tmp_path):
    comparator = fit(CohortNormalizer(cohort="centroids"))
    comparator.export(tmp_path / "c.json")
    found = json.loads((tmp_path / "c.json").read_text("utf-8"))
    cohort = np.array(found.pop("cohort"), dtype=np.float32)
    assert np.array_equal(cohort, comparator.cohort_)
    assert found == {
        "format": "skfairfr-comparator",
        "version": 1,
        "n_features": 24,
        "kind": "cohort",
        "normalises": ["probe", "reference"],
        "top": 20,
        "strength": 1.0,
        "mean_offset": 0.0,
        "deviation_factor": 1.0,
    }


def test_another_version_is_not_read(scorer, tmp_path):
    fit(CohortNormalizer()).export(path := tmp_path / "c.json")
    path.write_text(path.read_text("utf-8").replace('"version": 1', '"version": 2'))
    with pytest.raises(ValueError, match=r"c\.json has another format or version"):
        scorer["load"](path)


def test_what_cannot_be_exported_leaves_the_file_as_it_was(tmp_path):
    class Own(Comparator):
        def fit(self, X, y=None, sensitive_features=None):
            self.n_features_in_ = X.shape[1]
            return self

    (tmp_path / "c.json").write_text("kept")
    with pytest.raises(NotFittedError):
        clone(SYMMETRIC[0]).export(tmp_path / "c.json")
    with pytest.raises(NotImplementedError, match=r"Own .* define _exported\(\)"):
        Own().fit(X).export(tmp_path / "c.json")
    broken = fit(GroupThresholds(1e-2))
    broken.threshold_ = np.nan
    with pytest.raises(ValueError, match="not JSON compliant"):
        broken.export(tmp_path / "c.json")
    assert [p.read_text() for p in tmp_path.iterdir()] == ["kept"]
