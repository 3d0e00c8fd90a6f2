"""The pass over all pairs on an accelerator: the same tail as on the CPU, bit for bit.

Rows are copied to the device once. Strips of rows are multiplied with wide chunks of columns
in low precision, what passes this screen is scored exactly, and the tail is sorted there.
Only the sorted tail is copied back. It is what ``sort_pairs`` makes of ``collect_tail``:
the same pairs and scores, and ties in the same order.

Equal scores. Products of float32 numbers are exact in float64, and a float64 sum of two
numbers is rounded to nearest on every device that torch computes float64 on. The sums here
are element by element, in the one order that ``_inner_products`` documents, and the result
is rounded once to float32. So every step gives the same bits; a fused product changes
nothing, because the product is exact.

Equal pairs. The screen is that of ``_screen``, with the limits that it computes. Points 1
and 3 to 5 of its bound hold on any device. For point 2, a matrix unit adds m numbers at once,
a few products and the sum so far: it shifts them to the exponent of the largest, cuts off
all bits after the 24th, adds them, and rounds or cuts the sum. Each number loses less than
2**-23 of the largest one and the sum at most 2**-23 of itself: together at most
(m + 1) 2**-23 times the sum of the magnitudes; a unit that keeps more bits loses less.
Numbers that are zero lose nothing and are not counted, so that m >= 2. In whatever order,
groups and partial sums d products are added, every addition makes one number of m: the
m - 1 add up to d - 1, there are at most d - 1 additions, and the m + 1 add up to less than
3d. So point 2 holds with 3d in place of d, also where each operation rounds as it likes. It
needs sums of 24 bits: reduced precision is switched off during a pass, and a trial compares
some products with exact ones before the device is trusted.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

import numpy as np

from skfairfr._core import _screen
from skfairfr._core._compiled import njit
from skfairfr._core._inner_products import LANES, WIDTH
from skfairfr._core._pair_sequences import sort_pairs
from skfairfr._core._pair_tiles import TILE
from skfairfr._core._parallel import progress_bar

# Products that are held at once, and those of a histogram, which need more bytes each.
PRODUCTS = 2**28
COUNTED = 2**25
# Roundings of a float32 sum for each feature: see above.
TERMS = 3
# Columns that share a limit.
BLOCK = 2**14
# Pairs that are scored at once, unless one row has more.
SCORED = 2**20
# Torch cannot sort longer arrays on an accelerator.
LONGEST = 2**31 - 1
# Rows and columns of the trial.
TRIAL = (64, 512)

# Settings of torch belong to the process and a pass fills the device: one pass at a time.
_ONE_PASS = Lock()


def is_at_hand(device):
    """Whether this process can run a pass on a device of this name; never true of "cpu"."""
    if device == "cpu":
        return False
    torch = _screen._torch()
    if torch is None or not torch.cuda.is_available():
        return False
    return (torch.device(device).index or 0) < torch.cuda.device_count()


def sorted_tail(probe, reference, floors, device, tile=TILE, precision=None):
    """Impostor pairs whose score reaches the floor of their two groups, sorted.

    Parameters
    ----------
    probe, reference : Rows
        The same object for all pairs within one side.
    floors : ndarray of float32, shape (n_groups + 1, n_groups + 1)
        As for ``collect_tail``.
    device : str
        A device of torch.
    tile : int, default=TILE
        That of ``collect_tail``, whose order of ties depends on it.
    precision : {None, "float32", "bfloat16"}, default=None
        Precision of the screen, which changes the time alone; None chooses.

    Returns
    -------
    scores, left, right : ndarrays, shape (n_tail,)
        ``sort_pairs(*collect_tail(probe, reference, floors, tile=tile))``.

    Raises
    ------
    MemoryError
        If the device runs out of memory.
    """
    import torch

    held, n_held = [], 0
    try:
        with _ONE_PASS, _float32_sums(torch.device(device)) as device:
            if precision is None:
                precision = choose(device, probe.vectors.shape[1])
            sides = _sides(probe, reference, precision, device)
            starts = range(0, len(sides[0]), tile)
            with progress_bar(len(starts), "comparing all pairs") as bar:
                for start in starts:
                    held.append(_tail_of_strip(*sides, floors, start, tile))
                    n_held += len(held[-1][0])
                    bar.update()
            return _sort(held)
    except torch.cuda.OutOfMemoryError:
        pass  # outside of this block, no traceback keeps the tensors alive
    raise _out_of_memory(device, probe, reference, n_held)


def compare_all(probe, reference, floors, measures, device):
    """As ``_pair_tiles.compare_all`` on a device, the tail sorted; None where not asked."""
    tail = counts = None
    if floors is not None:
        tail = sorted_tail(probe, reference, floors, device)
    if measures is not None:
        counts = histogram(probe, reference, measures, device)
    return tail, counts


def histogram(probe, reference, measures, device, tile=TILE):
    """Weighted histograms of impostor scores.

    Scores are float32 products, as in ``_pair_tiles.compare_all``: one on an edge may be
    counted in the next bin. The order of the sums is free.

    Parameters
    ----------
    probe, reference : Rows
    measures : Measures
    device : str
        A device of torch.

    Returns
    -------
    counts : ndarray, shape (n_rows, n_bins)

    Raises
    ------
    MemoryError
        If the device runs out of memory.
    """
    import torch

    try:
        with _ONE_PASS, _float32_sums(torch.device(device)) as device:
            sides = _sides(probe, reference, "float32", device)
            factors = [_copy(factor, device) for factor in measures.factors]
            row_of_cell = _copy(measures.row_of_cell, device)
            options = {"dtype": torch.float64, "device": device}
            counts = torch.zeros((measures.n_rows, measures.edges[2]), **options)
            starts = range(0, len(sides[0]), tile)
            with progress_bar(len(starts), "counting all scores") as bar:
                for start in starts:
                    asked = (factors, row_of_cell, measures.edges)
                    _count_strip(*sides, asked, start, tile, counts)
                    bar.update()
            return counts.cpu().numpy()
    except torch.cuda.OutOfMemoryError:
        pass
    raise _out_of_memory(device, probe, reference, 0)


def score_pairs(rows, left, columns, right):
    """Exact scores of listed pairs: those of ``_inner_products``.

    Parameters
    ----------
    rows, columns : tensors of float32, shape (n_rows, n_features)
    left, right : tensors of int64, shape (n_pairs,)
        A row of ``rows`` and one of ``columns``.

    Returns
    -------
    scores : tensor of float32, shape (n_pairs,)
    """
    import torch

    def products(first, stop):
        part = rows[:, first:stop][left].double()
        return part.mul_(columns[:, first:stop][right])

    n_features = rows.shape[1]
    in_lanes, whole = n_features - n_features % LANES, n_features - n_features % WIDTH
    lanes = rows.new_zeros((len(left), LANES), dtype=torch.float64)
    for k in range(0, in_lanes, LANES):
        lanes += products(k, k + LANES)
    for k in range(in_lanes, whole, WIDTH):
        lanes[:, :WIDTH] += products(k, k + WIDTH)
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    total = lanes[:, 0]
    for k in range(whole, n_features):
        total += products(k, k + 1)[:, 0]
    return total.float()


# ---- rows on the device --------------------------------------------------------------


@dataclass(frozen=True)
class _Side:
    """Rows of one side, in the order of the pass.

    Attributes
    ----------
    vectors, values : tensors, shape (n_rows, n_features)
        float32, and in the precision of the screen.
    image, identity, group : tensors of int32, int32 and int64, shape (n_rows,)
    groups : ndarray of int32, shape (n_rows,)
        The group, on the host.
    lengths, distances : ndarrays of float64, shape (n_rows,)
        Those of ``ScreenedRows``, on the host.
    runs : ndarrays first, stop, group, length and distance, shape (n_runs,)
        Runs of rows of one group, none longer than BLOCK, and the largest length and
        distance of each.
    """

    vectors: object
    values: object
    image: object
    identity: object
    group: object
    groups: np.ndarray
    lengths: np.ndarray
    distances: np.ndarray
    runs: tuple

    def __len__(self):
        return self.groups.size

    @classmethod
    def of(cls, rows, precision, device):
        """Copy rows to the device."""
        import torch

        vectors = _copy(rows.vectors, device)
        values = vectors.to(getattr(torch, precision))
        lengths, distances = _measure(vectors, values)
        columns = (rows.image, rows.identity, rows.group.astype(np.int64))
        first = np.union1d(rows.blocks()[0], np.arange(0, rows.group.size, BLOCK))
        return cls(
            vectors,
            values,
            *(_copy(column, device) for column in columns),
            rows.group,
            lengths,
            distances,
            (
                first,
                np.append(first[1:], rows.group.size),
                rows.group[first],
                np.maximum.reduceat(lengths, first),
                np.maximum.reduceat(distances, first),
            ),
        )

    def runs_in(self, first, stop):
        """The runs that overlap rows first to stop, clipped to these and counted from there."""
        a, b = np.searchsorted(self.runs[1], [first, stop - 1], side="right")
        starts, stops, *others = (column[a : b + 1] for column in self.runs)
        starts, stops = np.maximum(starts, first), np.minimum(stops, stop)
        return starts - first, stops - first, *others


def _sides(probe, reference, precision, device):
    """Both sides on the device; the same object for all pairs within one side."""
    side = _Side.of(probe, precision, device)
    if probe is reference:
        return side, side
    return side, _Side.of(reference, precision, device)


def _copy(array, device):
    """An array as a tensor on the device; on the CPU they share their memory."""
    import torch

    return torch.from_numpy(_screen._writable(array)).to(device)


def _measure(vectors, values):
    """Lengths of rows, and their distances from the rounded ones, rounded up."""
    lengths, distances = np.empty((2, len(vectors)))
    for start in range(0, len(vectors), BLOCK):
        part = slice(start, start + BLOCK)
        wide = vectors[part].double()
        apart = wide - values[part].double()
        for found, difference in ((lengths, wide), (distances, apart)):
            length = difference.square_().sum(1).sqrt_() * _screen.UP
            found[part] = length.cpu().numpy()
    return lengths, distances


def _chunks(probe, reference, start, n_rows, n_products):
    """The chunks of columns of a strip, as slices, to be multiplied at once."""
    width = max(1, n_products // (n_rows * BLOCK)) * BLOCK
    first = start if probe is reference else 0
    while first < len(reference):
        stop = min(first - first % width + width, len(reference))
        yield slice(first, stop)
        first = stop


# ---- the tail ------------------------------------------------------------------------


def _tail_of_strip(probe, reference, floors, start, tile):
    """Pairs of a strip of rows: scores and images, in the order of ``collect_tail``."""
    import torch

    strip = slice(start, min(start + tile, len(probe)))
    on_device = _copy(floors, probe.vectors.device)
    found = []
    for chunk in _chunks(probe, reference, start, tile, PRODUCTS):
        passed = _screen_tile(probe, reference, floors, strip, chunk)
        for left, right in _pairs_of(passed):
            left += strip.start
            right += chunk.start
            scores = score_pairs(probe.vectors, left, reference.vectors, right)
            kept = scores >= on_device[probe.group[left], reference.group[right]]
            kept &= probe.identity[left] != reference.identity[right]
            if probe is reference:
                kept &= left < right
            kept = kept.nonzero().squeeze(1)
            found.append((scores[kept], left[kept], right[kept]))
    scores, left, right = (torch.cat(part) for part in zip(*found, strict=True))
    # The CPU goes from tile to tile, and within one from row to row.
    first = start if probe is reference else 0
    place = (right - first) // tile * tile + left - start
    order = place.sort(stable=True).indices
    left, right = left[order], right[order]
    return scores[order], probe.image[left], reference.image[right]


def _screen_tile(probe, reference, floors, rows, columns):
    """Mask of the pairs whose score may reach their floor, (n_rows, n_columns)."""
    import torch

    products = multiply(probe.values[rows], reference.values[columns])
    first, stop, *run = reference.runs_in(columns.start, columns.stop)
    row = (probe.groups[rows], probe.lengths[rows], probe.distances[rows])
    kind, shift = (np.int16, 16) if products.element_size() == 2 else (np.int32, 0)
    codes = _codes(row, tuple(run), floors, TERMS * probe.vectors.shape[1], shift)
    # A code is the bits of its number, and EVERYTHING those of a NaN.
    limits = _copy(codes.astype(kind), products.device).view(products.dtype)
    below = torch.empty_like(products, dtype=torch.bool)
    for limit, a, b in zip(limits, first, stop, strict=True):
        torch.lt(products[:, a:b], limit[:, None], out=below[:, a:b])
    return below.logical_not_()  # nothing is below a NaN


def multiply(rows, columns):
    """Products of all rows and columns."""
    return rows @ columns.T


@njit(nogil=True, cache=True)
def _codes(rows, runs, floors, n_terms, shift):
    """Code of the lowest product of each run of columns and each row, (n_runs, n_rows)."""
    group, lengths, distances = rows
    groups, longest, farthest = runs
    codes = np.empty((groups.size, group.size), dtype=np.int32)
    for k in range(groups.size):
        for r in range(group.size):
            codes[k, r] = _screen.lowest(
                floors[group[r], groups[k]],
                (lengths[r], distances[r]),
                (longest[k], farthest[k]),
                n_terms,
                shift,
            )
    return codes


def _pairs_of(passed):
    """Rows and columns of the pairs of a mask, row by row, SCORED at a time."""
    ends = passed.sum(1).cumsum(0).cpu().numpy()
    first = before = 0
    while first < ends.size:
        stop = np.searchsorted(ends, before + SCORED, side="right")
        stop = max(int(stop), first + 1)
        left, right = passed[first:stop].nonzero(as_tuple=True)
        yield left + first, right
        first, before = stop, ends[stop - 1]


def _sort(held):
    """One sorted tail of those of the strips, on the host."""
    import torch

    scores, left, right = (torch.cat(part) for part in zip(*held, strict=True))
    held.clear()
    if len(scores) > LONGEST:
        return sort_pairs(*(part.cpu().numpy() for part in (scores, left, right)))
    scores += 0.0  # no negative zero
    scores, order = scores.sort(descending=True, stable=True)
    return tuple(part.cpu().numpy() for part in (scores, left[order], right[order]))


# ---- the histogram -------------------------------------------------------------------


def _count_strip(probe, reference, measures, start, tile, counts):
    """Add the pairs of a strip of rows to the counts."""
    factors, row_of_cell, (low, high, n_bins) = measures
    rows = slice(start, min(start + tile, len(probe)))
    for columns in _chunks(probe, reference, start, tile, COUNTED):
        scores = multiply(probe.vectors[rows], reference.vectors[columns])
        bins = scores.double().sub_(low).mul_(n_bins / (high - low))
        bins = bins.int().clamp_(0, n_bins - 1)
        apart = probe.identity[rows, None] != reference.identity[columns]
        if probe is reference and columns.start < rows.stop:
            apart.triu_(1 + start - columns.start)
        for measure, row_of in enumerate(row_of_cell):
            row, column = row_of[probe.group[rows]], row_of[reference.group[columns]]
            inside = (row[:, None] == column) & (row[:, None] >= 0) & apart
            weight = factors[0][measure, rows, None] * factors[1][measure, columns]
            place = row.clamp(min=0)[:, None] * n_bins + bins
            counts.view(-1).index_add_(0, place.flatten(), (weight * inside).flatten())


# ---- the device ----------------------------------------------------------------------


def choose(device, n_features):
    """Precision of the screen on a device: "bfloat16" where it has units for that.

    Raises
    ------
    RuntimeError
        If not even float32 products are as exact as the bound of the screen says.
    """
    import torch

    units = device.type != "cuda" or bool(torch.version.hip)
    units = units or torch.cuda.get_device_capability(device) >= (8, 0)
    for precision in ("bfloat16",) * units + ("float32",):
        if is_within_bound(device, precision, n_features):
            return precision
    raise RuntimeError(
        f"Products of float32 numbers on device={str(device)!r} are less exact than "
        "float32 sums, so that a screen would lose pairs; use device='cpu'. Does "
        "NVIDIA_TF32_OVERRIDE or another setting reduce their precision?"
    )


def is_within_bound(device, precision, n_features):
    """Whether some products are as exact as the screen needs: float32 sums of all terms.

    TF32 would round all of these rows one way, and sums in bfloat16 would show where the
    terms up to some feature are positive and cancel with the others.
    """
    import torch

    rng = np.random.default_rng(0)
    rows, columns = (
        rng.integers(128, 256, (n, n_features)) / 128 + 2.0**-11 - 2.0**-23
        for n in TRIAL
    )
    turn = np.arange(1, 1 + len(columns))[:, None] / len(columns) * n_features
    columns[np.arange(n_features) >= turn] *= -1
    rows, columns = (
        torch.tensor(side, dtype=torch.float32, device=device).to(
            getattr(torch, precision)
        )
        for side in (rows, columns)
    )
    found = multiply(rows, columns).double()
    rows, columns = rows.double(), columns.double()
    exact = multiply(rows, columns)
    error = rows.norm(dim=1)[:, None] * columns.norm(dim=1)
    error *= np.expm1((TERMS * n_features + 2) * _screen.STEP)
    if precision == "bfloat16":  # the output is rounded, too
        error = error * (1 + 2.0**-8) + exact.abs() * 2.0**-8
    return bool(((found - exact).abs() <= error).all())


@contextmanager
def _float32_sums(device):
    """Products whose sums are float32 numbers; settings of torch are restored afterwards."""
    import torch

    settings = torch.backends.cuda.matmul
    name = "allow_bf16_reduced_precision_reduction"
    before = getattr(settings, name)
    split = getattr(settings, f"{name}_split_k", None)
    if split is not None:  # newer versions set it together with the other
        before = (before, split)
    setattr(settings, name, False)
    try:
        with _no_tf32(settings), torch.autocast(device.type, enabled=False):
            yield device
    finally:
        setattr(settings, name, before)


@contextmanager
def _no_tf32(settings):
    """Products of float32 numbers without TF32.

    Newer versions of torch have a second name for this setting, and some of their functions
    refuse to run while the two differ: whichever is in use is changed.
    """
    import torch

    try:
        before = torch.get_float32_matmul_precision()
    except RuntimeError:
        before, settings.fp32_precision = settings.fp32_precision, "ieee"
        try:
            yield
        finally:
            settings.fp32_precision = before
        return
    if before != "highest":
        torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        if before != "highest":
            torch.set_float32_matmul_precision(before)


def _out_of_memory(device, probe, reference, n_held):
    rows = {id(side): side.vectors.nbytes for side in (probe, reference)}
    return MemoryError(
        f"device={str(device)!r} has too little free memory: it ran out when it held "
        f"{sum(rows.values()) / 2**30:.3g} GiB of embeddings and {n_held:,} pairs of the "
        "tail. Use a smaller far_max, which holds fewer pairs, or device='cpu'."
    )
