"""Every projector on a CUDA device, where there is one: these tests have run on none yet."""

import numpy as np
import pytest
import torch

from skfairfr import EthicalModule, FPRPenaltyProjector, TripletProjector
from skfairfr.projectors import (
    AdversarialProjector,
    CentroidFairnessProjector,
    LossProjector,
)
from tests.projectors.faces import MORE, MORE_Y, Breaking, Stop

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no CUDA device is at hand"
)
KINDS = [
    EthicalModule,
    FPRPenaltyProjector,
    TripletProjector,
    AdversarialProjector,
    CentroidFairnessProjector,
    LossProjector,
]
QUICK = {"max_epochs": 3, "batch_size": 64, "random_state": 0, "lr": 1e-4}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_close_to_those_of_the_cpu(kind):
    on_card = kind(device=torch.device("cuda"), **QUICK).fit(MORE.X, MORE_Y)
    on_cpu = kind(device="cpu", **QUICK).fit(MORE.X, MORE_Y)
    cosines = (on_card.transform(MORE.X) * on_cpu.transform(MORE.X)).sum(axis=1)
    assert cosines.min() > 0.99
    assert next(on_card.head_.parameters()).device.type == "cpu"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precision", ["bfloat16", "tf32"])
def test_other_precisions_and_people_held_out(kind, precision):
    made = kind(
        device="cuda",
        precision=precision,
        validation_fraction=0.5,
        monitor="frr_at_far",
        **QUICK,
    ).fit(MORE.X, MORE_Y)
    assert np.isfinite(made.history_["valid_frr_at_far"]).all()
    assert np.isfinite(made.transform(MORE.X)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_fit_goes_on(kind, tmp_path):
    options = {"device": "cuda", "checkpoint_dir": tmp_path, **QUICK}
    with pytest.raises(Stop):
        kind(callbacks=[Breaking(2)], **options).fit(MORE.X, MORE_Y)
    assert len(list(tmp_path.iterdir())) == 1
    resumed = kind(**options).fit(MORE.X, MORE_Y)
    assert resumed.history_["epoch"].tolist() == [1, 2, 3]
