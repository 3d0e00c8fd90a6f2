"""The studies' people are the same in any number of features, and the verdicts right."""

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.benchmarks import check_studies
from tests.test_studies import load

DRAWS = {
    "study_training": lambda study: study.drawn(20, 0),
    "study_fpr_penalty": lambda study: study.synthetic(0),
    "study_group_sampling": lambda study: study.draw(0, 200),
    "study_bench": lambda study: study.population("nuisance direction"),
    "study_extensions": lambda study: study.four_groups(0),
}


@pytest.mark.parametrize("script", DRAWS)
def test_more_features_change_no_cosine(script):
    study, rows = load(script), {}
    for study.N_FEATURES in (64, 512):
        X, y, *_ = DRAWS[script](study)
        assert X.shape == (y.size, study.N_FEATURES)
        rows[study.N_FEATURES] = X[:500] @ X[:500].T
    np.testing.assert_allclose(rows[512], rows[64], atol=1e-5)


@pytest.mark.parametrize(
    ("text", "side", "said"),
    [
        ("0.90 [0.80, 0.99]", "<", "yes"),
        ("0.90 [0.80, 0.99]", ">", "NO"),
        ("0.90 [0.80, 1.00]", "<", "open"),
    ],
)
def test_a_sentence_is_held_against_an_interval(text, side, said):
    assert check_studies.verdict(text, side) == said


def test_advice_is_about_what_is_measured():
    for part, sentences in check_studies.ADVICE.items():
        models, rates = check_studies.PARTS[part][2:]
        for settings, asked, _ in sentences:
            assert set(settings.rsplit(" / ", 1)) <= {*models, "before"}
            assert asked.rsplit(" ", 1)[0] in rates
