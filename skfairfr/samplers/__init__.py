"""Which images training visits: weights of groups, and torch samplers that draw by them.

The weights are functions of numpy arrays; the samplers serve anyone's ``DataLoader`` and,
made without data, the ``sampler=`` of the projectors.
"""

from skfairfr.samplers._torch import GroupWeightedSampler, HomogeneousBatchSampler
from skfairfr.samplers._weights import (
    adjusted_weights,
    dynamic_weights,
    equal_weights,
    natural_weights,
)

__all__ = [
    "GroupWeightedSampler",
    "HomogeneousBatchSampler",
    "adjusted_weights",
    "dynamic_weights",
    "equal_weights",
    "natural_weights",
]
