"""What was compared, with its attributes: the pairs by any of them and by combinations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import ClassVar

import numpy as np

from skfairfr._core._kinds import PAIRS, Terms
from skfairfr._core._pairs import (
    EmbeddingPairs,
    Expected,
    HeldPairs,
    ListedPairs,
    ListedScores,
)
from skfairfr._core._resampling import Images, Totals
from skfairfr.utils._errors import invalid
from skfairfr.utils._labels import intersect
from skfairfr.utils._validation import plain


@dataclass
class Attributes:
    """Attributes of what was compared, Labels by name. Images without groups."""

    columns: dict
    images: Images
    _labels: dict = field(default_factory=dict, init=False, repr=False)
    terms: ClassVar[Terms] = PAIRS

    def names(self, attributes):
        """Names of some columns: of a name, or a list or tuple of names.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        if not isinstance(attributes, (list, tuple)):
            attributes = (attributes,)
        unknown = [name for name in attributes if name not in self.columns]
        if unknown or len(set(attributes)) < len(attributes):
            problem = f"no attribute {plain(unknown[0])!r}" if unknown else "one twice"
            raise ValueError(
                f"sensitive_features={plain(attributes)!r} names {problem}. The attributes of "
                f"fit are {plain(list(self.columns))}. Pass some of these names, each once."
            )
        return tuple(attributes)

    def labels(self, names):
        """Combinations of attributes, Labels, or None of no attribute. Kept."""
        if names and names not in self._labels:
            self._labels[names] = intersect([self.columns[name] for name in names])
        return self._labels.get(names)


@dataclass
class EmbeddingAttributes(Attributes):
    """Attributes of compared embeddings."""

    compared: HeldPairs
    far_max: float
    expected: Expected
    images_named = True
    _made: dict = field(default_factory=dict)

    def hold_all(self, average, impostors):
        """Hold, by one pass, what every attribute, combination and average needs."""
        _, sizes = np.unique(self.images.strata, return_counts=True)
        averages = [average]
        # With equal sizes both averages give all pairs the same weight.
        if sizes.min() < sizes.max():
            averages = ["identity", "pair"]
        names = tuple(self.columns)
        for size in range(min(1, len(names)), len(names) + 1):
            for chosen in combinations(names, size):
                for asked in averages:
                    self.pairs(chosen, asked, impostors)
        self.compared.tail()

    def pairs(self, names, average, impostors):
        """Pairs by the combinations of attributes, EmbeddingPairs.

        Raises
        ------
        ValueError
            If no two people share a group where only such pairs are compared.
        """
        key = (names, average, impostors)
        totals, floors = self._made.get(key, (None, None))
        if totals is None:
            group, images = self.labels(names), self.images
            if group is not None:
                n_groups = group.values.size
                images = replace(images, group=group.codes, n_groups=n_groups)
            totals = Totals(images, average, impostors)
        options = (self.far_max, self.expected, floors)
        pairs = EmbeddingPairs(self.compared, totals, *options)
        if pairs.count(None) == 0:
            raise invalid(
                *("impostors", impostors),
                "'same_group' leaves no impostor pair: no two people share a known group.",
                "Give sensitive_features, or use impostors='all'.",
            )
        self._made[key] = (totals, pairs.floors)
        return pairs


@dataclass
class ListedAttributes(Attributes):
    """Attributes of listed pairs: of the first images of all pairs, then of the second.

    ``image_names`` are sorted, or None where images are people.
    """

    listed: ListedScores
    image_names: np.ndarray | None = None

    @property
    def images_named(self):
        """Whether images can be resampled."""
        return self.image_names is not None

    def pairs(self, names, average, impostors):
        """Pairs by the combinations of attributes, ListedPairs.

        Raises
        ------
        ValueError
            If no impostor pair is within a group where only such pairs count.
        """
        group, images = self.labels(names), self.images
        groups = np.full((2, self.listed.n_pairs), -1)
        if group is not None:
            images = replace(images, n_groups=group.values.size)
            groups = group.codes.reshape(2, -1)
        pairs = ListedPairs(self.listed, tuple(groups), images, average, impostors)
        if self.listed.impostors.scores.size and pairs.count(None) == 0:
            raise invalid(
                *("impostors", impostors),
                "'same_group' leaves no impostor pair: no two people share a known group.",
                "Give groups, or use impostors='all'.",
            )
        return pairs
