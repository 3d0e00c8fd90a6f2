"""Numbers of numpy's narrow types give what Python's give; those beyond floats, an error."""

from functools import partial

import numpy as np
import pytest

from skfairfr import make_face_embeddings
from skfairfr.metrics import Dependence, disparity, plan_test
from skfairfr.model_selection import compare_mitigations
from skfairfr.report import Policy, audit
from skfairfr.samplers import dynamic_weights
from tests.metamorphic import surface

# A product of two of them leaves their range, and 1 - level is rounded.
NARROW = {"confidence_level": np.float16(0.9), "random_state": np.int8(100)}
LIMITS = {"max_fmr": np.float16(0.2), "max_bfar": np.int8(3)}


def wide(numbers):
    return {name: number.item() for name, number in numbers.items()}


def audited(numbers, limits):
    people = surface.people()
    return audit(*people, far=surface.LEVELS, limits=limits, **numbers).to_json()


def policed(numbers, limits):
    level = numbers["confidence_level"]
    policy = Policy("door", limits, fmr=surface.LEVELS, confidence_level=level)
    seed = numbers["random_state"]
    return audit(*surface.people(), policy=policy, random_state=seed).to_json()


@pytest.mark.parametrize(
    "answer", [audited, pytest.param(policed, marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore")
def test_narrow_numbers_are_those_of_python(answer):
    assert answer(NARROW, LIMITS) == answer(wide(NARROW), wide(LIMITS))


FAR = [0.1, 0.2, 0.05]
BEYOND = 10**400  # no float


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (plan_test, {"detect_factor": BEYOND}),
        (plan_test, {"policy": {"max_fmr_ratio": BEYOND}}),
        (Dependence, {"variation": BEYOND}),
        (partial(disparity, FAR, "log_geomean"), {"log_base": BEYOND}),
        (partial(disparity, FAR), {"zero_division": BEYOND}),
        (partial(dynamic_weights, [1, 1], [1, 2], [9, 9]), {"exponent": BEYOND}),
        (partial(disparity, FAR), {"how": lambda rates: BEYOND}),
        (
            partial(dynamic_weights, n_false_accepts=[1, 2], n_impostors=[9, 9]),
            {"previous": [BEYOND, 1]},
        ),
        (make_face_embeddings, {"heterogeneity": BEYOND}),
        (make_face_embeddings, {"kappa": BEYOND}),
        (make_face_embeddings, {"groups": {"a": BEYOND, "b": 0.5}}),
        (partial(compare_mitigations, *surface.people()), {"max_cost": BEYOND}),
        (partial(Policy, "door"), {"limits": {"max_bfar": BEYOND}}),
    ],
)
def test_integers_beyond_floats_are_refused(function, arguments):
    ((name, value),) = arguments.items()
    if name in ("policy", "limits"):
        (name,) = value
    with pytest.raises(ValueError, match=rf"\b{name}\b.* must"):
        function(**arguments)
