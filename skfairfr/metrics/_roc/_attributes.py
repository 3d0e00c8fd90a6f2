"""What was compared, by the groups of every attribute and of their combinations."""

from itertools import combinations

import numpy as np

from skfairfr._core._pairs import EmbeddingPairs, Expected, ListedPairs
from skfairfr._core._totals import Totals
from skfairfr.utils._errors import Argument, ArgumentError, plain
from skfairfr.utils._labels import intersect


class Attributes:
    """Base: attributes of what was compared.

    Parameters
    ----------
    columns : dict of str -> Labels
        Attributes by name.
    images : Images
        Without groups.
    """

    def __init__(self, columns, images):
        self.columns = columns
        self.images = images

    def names(self, attributes):
        """Names of columns.

        Parameters
        ----------
        attributes : None, name, or sequence of names
            None is all of them.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        if attributes is None:
            return tuple(self.columns)
        if not isinstance(attributes, (list, tuple)):
            attributes = (attributes,)
        unknown = [name for name in attributes if name not in self.columns]
        if unknown or len(set(attributes)) < len(attributes):
            problem = f"no attribute {plain(unknown[0])!r}" if unknown else "one twice"
            raise ValueError(
                f"sensitive_features={plain(attributes)!r} names {problem}; fit was given "
                f"{plain(list(self.columns))}. Give some of these names, each once."
            )
        return tuple(attributes)

    def labels(self, names):
        """Combinations of attributes, Labels; None of no attribute."""
        columns = [self.columns[name] for name in names]
        return intersect(columns) if columns else None


class EmbeddingAttributes(Attributes):
    """Attributes of compared embeddings.

    Parameters
    ----------
    columns, images
        As of :class:`Attributes`.
    compared : HeldPairs
    far_max : float
    expected : Expected, default=None
        Questions that the pass should answer too.
    """

    def __init__(self, columns, images, compared, far_max, expected=None):
        super().__init__(columns, images)
        self.compared = compared
        self.far_max = far_max
        self.expected = expected or Expected()
        self._made = {}

    def hold_all(self, average, impostors):
        """Let the next pass hold what every attribute, combination and average needs."""
        sizes = self.images.per_stratum()
        averages = {average}
        if sizes.min() < sizes.max():  # else both averages weigh all pairs alike
            averages = {"pair", "identity"}
        names = tuple(self.columns)
        for size in range(min(1, len(names)), len(names) + 1):
            for chosen in combinations(names, size):
                for asked in sorted(averages):
                    self._pairs(chosen, asked, impostors)

    def pairs(self, names, average, impostors):
        """Pairs by the combinations of attributes, EmbeddingPairs.

        Raises
        ------
        ValueError
            If no two people share a group where only such pairs are compared.
        """
        pairs = self._pairs(names, average, impostors)
        if pairs.count(None) == 0:
            raise ArgumentError(
                Argument("impostors", "same_group"),
                " leaves no impostor pair: no two people share a known group.",
                remedy=(
                    *("Give ", Argument("sensitive_features")),
                    *(", or use ", Argument("impostors", "all"), "."),
                ),
            )
        return pairs

    def _pairs(self, names, average, impostors):
        key = (names, average, impostors)
        totals, floors = self._made.get(key, (None, None))
        if totals is None:
            group, images = self.labels(names), self.images
            if group is not None:
                images = images.by(group.codes, group.values.size)
            totals = Totals(images, average, impostors)
        options = (self.far_max, self.expected, floors)
        pairs = EmbeddingPairs(self.compared, totals, *options)
        self._made[key] = (totals, pairs.floors)
        return pairs


class ListedAttributes(Attributes):
    """Attributes of listed pairs.

    Parameters
    ----------
    columns : dict of str -> Labels, of codes (2 * n_pairs,)
        Groups of the first images of all pairs, then of the second.
    images : Images
    listed : ListedScores
    image_names : ndarray, shape (n_images,), or None
        Sorted names of the images; None where images are people.
    """

    def __init__(self, columns, images, listed, image_names=None):
        super().__init__(columns, images)
        self.listed = listed
        self.image_names = image_names

    def pairs(self, names, average, impostors):
        """Pairs by the combinations of attributes, ListedPairs.

        Raises
        ------
        ValueError
            If there is no impostor pair.
        """
        group, images = self.labels(names), self.images
        if group is None:
            groups = np.full((2, self.listed.n_pairs), -1)
        else:
            images = images.by(images.group, group.values.size)
            groups = group.codes.reshape(2, -1)
        pairs = ListedPairs(self.listed, tuple(groups), images, average, impostors)
        if pairs.count(None) == 0:
            within = " within a group" if impostors == "same_group" else ""
            lists = (Argument("identity_1"), " and ", Argument("identity_2"), " list")
            if images.n_drawn is not None:
                lists = (Argument("y_true"), " lists")
            raise ArgumentError(
                *lists,
                f" no impostor pair{within};",
                remedy="a FAR needs pairs of two people.",
            )
        return pairs
