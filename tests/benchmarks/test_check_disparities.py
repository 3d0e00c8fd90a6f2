"""A small version of what the guide says of intervals of disparities."""

import numpy as np
import pytest

from skfairfr import SimilarityROC
from tests.benchmarks.check_disparities import RATES, check, drawn_rates
from tests.benchmarks.coverage import LEVELS, Design, draw


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A group has no error")
def test_equal_groups_are_within_the_interval_of_every_disparity():
    held, _ = check("4 x 50", n_sets=4)
    replicates, wilson = held
    # Of equal groups replicates exclude what is true of them, the neutral value.
    assert replicates[RATES.index("frr")].max() < 0.5
    assert wilson.mean() > 0.8


def test_drawn_rates_vary_as_evidence_has_it():
    X, y, group, _ = draw(Design((60, 40, 50)), np.random.default_rng(0))
    roc = SimilarityROC(resample="identities", method="wilson", n_resamples=2)
    engine = roc.set_params(random_state=0).fit(X, y, group[y])._engine
    question = engine.question(LEVELS, None, "far", None, "gini", "overall")
    evidence = engine.evidence(question)
    rates = drawn_rates(evidence, 1, np.random.default_rng(1))
    spread = np.log(rates).std(axis=0)
    expected = np.sqrt(evidence.effective.log_variance * evidence.share)[1]
    assert spread == pytest.approx(expected, rel=0.1)
    assert np.median(rates, axis=0) == pytest.approx(evidence.rate[1], rel=0.1)
