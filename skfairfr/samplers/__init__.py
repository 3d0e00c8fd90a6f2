"""Which images training visits: weights of groups, and torch samplers that draw by them.

The weights are functions of numpy arrays; the samplers serve anyone's ``DataLoader`` and,
made without data, the ``sampler=`` of the projectors. The samplers need torch, which comes
with the extra "mitigate"; without it only the weights are here.
"""

from skfairfr.utils import _extras

_HOME = {
    "GroupWeightedSampler": "skfairfr.samplers._torch",
    "HomogeneousBatchSampler": "skfairfr.samplers._torch",
    "adjusted_weights": "skfairfr.samplers._weights",
    "dynamic_weights": "skfairfr.samplers._weights",
    "equal_weights": "skfairfr.samplers._weights",
    "natural_weights": "skfairfr.samplers._weights",
}

__all__, __getattr__, __dir__ = _extras.lazy_names(
    __name__, _HOME, needs={"skfairfr.samplers._torch": ("torch",)}
)
