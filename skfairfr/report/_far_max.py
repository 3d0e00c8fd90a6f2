"""How much of the impostor scores an audit holds: by a rule, or as memory allows."""

import numpy as np

from skfairfr._core import _memory, _pair_sets
from skfairfr.report._arguments import check_ranges
from skfairfr.report._data import PairData
from skfairfr.utils._errors import Argument
from skfairfr.utils._memory import check_memory

# Of a smaller far_max, where there are no levels; far fewer pairs are held whole.
SMALLEST = 1e-6


def choose_far_max(data, groups, points, options):
    """The FAR up to which all pairs are held.

    The rule depends on the number of images alone. Where its pairs do not fit into the
    memory, it is halved until they do, but for the levels asked about: rates at these are
    exact in any case, and only what exceeds far_max, such as the FAR of one group at a
    threshold for all, comes from a histogram and a sample. The audit has a note on it.

    Parameters
    ----------
    data : EmbeddingData or PairData
    groups : list of Labels
        Those of every attribute and combination; may be empty.
    points : Points
    options : AuditOptions

    Returns
    -------
    far_max : float
    note : str
        That memory changed it; empty otherwise.

    Raises
    ------
    ValueError
        If not even the levels fit into the memory, or an option is out of range.
    """
    check_ranges(options)
    level = None if points.far is None else float(points.far.max())
    rule = _pair_sets.usual_far_max(data.people().size)
    rule = rule if level is None else max(rule, level)
    if isinstance(data, PairData):  # all pairs are held as they are
        return rule, ""
    size = _size(data, [group.codes for group in groups], options)
    least = SMALLEST if level is None else level
    far_max = rule
    while far_max > least and not _memory.fits(size, far_max):
        far_max = max(far_max / 2, least)
    if level is not None:
        check_memory(size, Argument("far", level))
    if far_max == rule:
        return rule, ""
    limit = _memory.limit()
    usable = f"{_memory.in_units(limit.n_bytes)} may be used, {limit.source}"
    return far_max, (
        f"For lack of memory ({usable}), rates are "
        f"exact up to a FAR of {far_max:.3g} only, and not up to {rule:.3g}: above it, values "
        "come from a histogram of all scores and intervals from a sample of the pairs. Rates at the "
        "levels asked about are exact."
    )


def _size(data, partitions, options):
    """Size of the comparison by the groups of all partitions, lists of codes of images."""
    people = data.people()
    n_images = people.size
    by_side = data.images_by_side().sum(axis=1)
    n_pairs = n_images * (n_images - 1) // 2
    if by_side.size == 2:
        n_pairs = int(by_side[0] * by_side[1])
    held, n_people = [n_pairs], [np.unique(people).size]
    for codes in partitions:
        for group in np.unique(codes[codes >= 0]):
            inside = people[codes == group]
            held.append(min(n_pairs, inside.size * (inside.size - 1) // 2))
            n_people.append(np.unique(inside).size)
    shape = np.shape(data.X)
    return _memory.Size(
        n_images,
        shape[1] if len(shape) == 2 else 1,  # another shape is an error of fit
        n_pairs,
        int(data.genuine_pairs().sum()),
        tuple(held),
        _pair_sets.multiple_of_far_max(min(n_people)),
        (_pair_sets.WHOLE, _pair_sets.WHOLE_GROUP),
        options.average,
        options.n_jobs,
    )
