"""The studies' people are alike in any number of features, and the verdicts right."""

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.benchmarks import check_studies
from tests.test_studies import load

DRAWS = {
    "study_training": lambda study: study.drawn(20, 0),
    "study_fpr_penalty": lambda study: study.synthetic(0),
    "study_group_sampling": lambda study: study.draw(0, 1000),
    "study_bench": lambda study: study.population(
        "nuisance direction", n_features=study.N_FEATURES
    ),
    "study_extensions": lambda study: study.four_groups(0),
    "study_kappa_grid": lambda study: study.draw()[0],
    "study_heads": lambda study: heads(study),
}


def heads(study):
    study.N_FITTED = (1000,)
    faces = study.draw("64", 0, study.N_FEATURES)
    return faces.X, faces.y


def percentiles(X, y):
    """Of genuine and of impostor cosines of the first people."""
    X, y = X[y < 600], y[y < 600]
    upper = np.triu_indices(y.size, 1)
    genuine = (y[:, None] == y)[upper]
    cosines = (X @ X.T)[upper]
    parts = cosines[genuine], cosines[~genuine]
    return [np.percentile(part, [1, 10, 50, 90, 99]) for part in parts]


@pytest.mark.slow
@pytest.mark.parametrize("script", DRAWS)
def test_cosines_are_alike_in_more_features(script):
    study, found = load(script), {}
    for study.N_FEATURES in (64, 512):
        X, y, *_ = DRAWS[script](study)
        assert X.shape == (y.size, study.N_FEATURES)
        found[study.N_FEATURES] = percentiles(X, np.unique(y, return_inverse=True)[1])
    np.testing.assert_allclose(found[512], found[64], atol=0.02)


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
