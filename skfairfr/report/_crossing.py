"""How many people stand in each cell of several attributes."""

from itertools import product

import numpy as np

from skfairfr.report._record import Cell, Crossing


def cross(data, attributes):
    """Who stands in each combination of groups.

    Parameters
    ----------
    data : Faces or ScoredPairs
    attributes : tuple of str

    Returns
    -------
    crossing : Crossing
        Combinations in the order of sorted labels, unknown last where some are; a person
        whose images differ in a label stands in several.
    """
    encoded = [data.groups((name,)) for name in attributes]
    people, images = data.people(), data.images()
    cells = []
    for codes in product(*map(_codes, encoded)):
        inside = np.logical_and.reduce(
            [labels.codes == code for labels, code in zip(encoded, codes, strict=True)]
        )
        groups = tuple(
            None if code < 0 else labels.values.tolist()[code]
            for labels, code in zip(encoded, codes, strict=True)
        )
        n_images = None if images is None else np.unique(images[inside]).size
        cells.append(Cell(groups, np.unique(people[inside]).size, n_images))
    return Crossing(tuple(attributes), tuple(cells))


def _codes(labels):
    known = list(range(labels.values.size))
    return [*known, -1] if (labels.codes < 0).any() else known
