"""How much memory is free, and how much a comparison of all pairs takes.

The estimates are upper ones, fitted to measurements. They decide how much is worked on at a
time (``_blocks``) and whether work begins. What a fit holds never depends on the machine;
where it does not fit, an error says so before the work, with what would fit.
"""

import math
import os
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from skfairfr._core import _screen
from skfairfr._core._blocks import FEWEST_RESAMPLES, Blocks
from skfairfr._core._budget import Budget
from skfairfr._core._parallel import n_threads

# Bytes that are held for each of these at one time, at most; tests compare the estimates
# with measurements.
OF_IMAGE = 200  # labels, designs, lengths of rows
OF_GENUINE = 100  # a genuine pair, while all are sorted
OF_HELD = 32  # a held pair during the pass: its part, merges, what the allocator keeps
OF_ANSWERED = {"pair": 56, "identity": 76}  # a held pair in its scopes, with its people
OF_SAMPLED = 1.2e8  # uniform samples of the scopes, and their resamples
OF_PILOT = 9  # a pair whose score helps to choose the floor of a scope
OF_THREAD = 2**25  # a tile, buffers and a stack
OF_PROCESS = 3 * 2**27  # what a worker process imports
OF_TORCH = 2**28  # the library, which a long pass may import
OF_MULTIPLICITY = 24  # of an image in a resample: 8 bytes when drawn, and its products
# Pairs wanted above a floor when it is chosen, and pairs compared for that.
PICKED, PILOT = 4000, (1e6, 3.6e7)
# Multiplicities that a thread draws at a time, at most.
MULTIPLICITIES = 2**26


class TooLittleMemoryError(ValueError):
    """A comparison does not fit into the memory.

    Attributes
    ----------
    needed : float
        Bytes.
    limit : Limit
        Bytes that may be used.
    far_max : float or None
        A smaller value that fits; None where none does.
    n_images : int or None
        Number of images that fits with the value asked for; None where none does.
    """

    def __init__(self, needed, limit, far_max=None, n_images=None):
        super().__init__(needed, limit, far_max, n_images)
        self.needed = needed
        self.limit = limit
        self.far_max = far_max
        self.n_images = n_images

    def __str__(self):
        return (
            f"this takes about {in_units(self.needed)} of memory, and "
            f"{in_units(self.limit.n_bytes)} may be used ({self.limit.source}). Ask for a "
            f"smaller far or a larger threshold, or {self.limit.remedy}."
        )


def in_units(n_bytes):
    """Bytes as a person reads them: ``3.4 GB``."""
    unit, size = ("GB", 1e9) if n_bytes >= 1e9 else ("MB", 1e6)
    return f"{n_bytes / size:.{1 if n_bytes < 10 * size else 0}f} {unit}"


# ---- what there is -------------------------------------------------------------------


def limit():
    """Bytes that a comparison may take now, what says so, and how to be allowed more.

    Returns
    -------
    limit : Limit
        inf bytes where nothing tells.

    Raises
    ------
    ValueError
        If the user's budget is no amount of memory.
    """
    return Budget.in_force().limit(free_bytes())


def free_bytes(root=Path("/")):
    """Bytes free under all limits: the machine's, those of control groups, of addresses.

    Parameters
    ----------
    root : Path
        Where ``proc`` and ``sys`` are.

    Returns
    -------
    n_bytes : float
        inf where nothing tells.
    """
    found = [_free_of_machine(root), *_free_of_groups(root), _free_addresses(root)]
    return max(min(found), 0.0)


def _free_of_machine(root):
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return 1024.0 * int(line.split()[1])
    try:
        # Half of the memory, where its free part is unknown.
        return 0.5 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return math.inf


def _free_of_groups(root):
    """Bytes free in every control group that the process is in, of both versions."""
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, path = line.split(":", 2)
        if number == "0":
            tops = [root / "sys/fs/cgroup", root / "sys/fs/cgroup/unified"]
            names = ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            tops = [root / "sys/fs/cgroup/memory"]
            names = (
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            )
        else:
            continue
        parts = [part for part in path.split("/") if part]
        for top in tops:
            # In a container, the path may be that of the machine outside.
            for n in range(len(parts) + 1):
                yield _free_of_group(top.joinpath(*parts[:n]), *names)


def _free_of_group(group, limit, usage, reclaimable):
    try:
        free = int((group / limit).read_text()) - int((group / usage).read_text())
    except (OSError, ValueError):  # there is no such group, or "max"
        return math.inf
    for line in _lines(group / "memory.stat"):
        name, value = line.split()
        if name == reclaimable:
            free += int(value)
    return float(free)


def _free_addresses(root):
    """Bytes of addresses that the process may still take (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # on Windows
        return math.inf
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    sizes = _lines(root / "proc/self/statm")
    if limit == resource.RLIM_INFINITY or not sizes:
        return math.inf
    return float(limit - int(sizes[0].split()[0]) * os.sysconf("SC_PAGE_SIZE"))


def _lines(path):
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


# ---- what a comparison takes ---------------------------------------------------------


def share_to_hold(depth, keep, n_pairs):
    """Share of a scope's pairs that is held: all of a small scope."""
    return max(depth, min(1.0, keep / max(n_pairs, 1)))


@dataclass(frozen=True)
class Size:
    """What the memory of a comparison depends on.

    Attributes
    ----------
    n_images, n_features : int
    n_pairs : int
        Pairs compared, genuine or not.
    n_genuine : int
    n_impostors : tuple of int
        Impostor pairs of the overall scope, then of each group.
    depth : float
        What is held of a scope, as a multiple of far_max.
    keep : tuple of two ints
        Impostor pairs up to which the overall scope, and a group, is held whole.
    average : {"pair", "identity"}
    n_jobs : int or None
    """

    n_images: int
    n_features: int
    n_pairs: int
    n_genuine: int
    n_impostors: tuple
    depth: float
    keep: tuple
    average: str = "pair"
    n_jobs: int | None = None

    @classmethod
    def of(cls, design, n_features, depth, keep, n_jobs=None):
        """Size of the comparison of a CompleteDesign."""
        images = design.images
        sides = [images.identity]
        if design.two_sides:
            sides = [images.identity[images.side == s] for s in (0, 1)]
        counts = [np.bincount(side, minlength=images.n_identities) for side in sides]
        if design.two_sides:
            n_genuine = int((counts[0] * counts[1]).sum())
            n_pairs = sides[0].size * sides[1].size
        else:
            n_genuine = int((counts[0] * (counts[0] - 1) // 2).sum())
            n_pairs = sides[0].size * (sides[0].size - 1) // 2
        scopes = (None, *((g, g) for g in range(images.n_groups)))
        return cls(
            images.identity.size,
            n_features,
            n_pairs,
            n_genuine,
            tuple(design.count_impostors(scope) for scope in scopes),
            depth,
            keep,
            design.average,
            n_jobs,
        )

    def scaled(self, factor):
        """The same comparison with another number of people."""
        return replace(
            self,
            n_images=max(int(self.n_images * factor), 2),
            n_pairs=int(self.n_pairs * factor**2),
            n_genuine=int(self.n_genuine * factor),
            n_impostors=tuple(int(n * factor**2) for n in self.n_impostors),
        )

    def n_held(self, far_max):
        """Number of pairs that are held, about."""
        overall, *groups = self.n_impostors
        depth, (keep, keep_of_group) = self.depth * far_max, self.keep
        # The floor of the overall scope holds for all pairs.
        held = self.n_pairs * share_to_hold(depth, keep, overall)
        held += sum(n * share_to_hold(depth, keep_of_group, n) for n in groups)
        return min(held, self.n_pairs)

    def n_bytes(self, n_held, blocks=None):
        """Bytes that are needed at one time, at most, beside the embeddings given.

        Parameters
        ----------
        n_held : float
        blocks : Blocks, default=None
            None: the largest.
        """
        lasting, phases = self._parts(n_held, blocks or Blocks())
        return lasting + max(phases.values())

    def narrow(self, blocks, n_held, usable):
        """Make blocks smaller until so many pairs fit; False if they never do.

        Fewer workers take the longest, and so come last.
        """
        resamples, pilots = blocks.resamples, blocks.pilots
        while (needed := self.n_bytes(n_held, blocks)) > usable:
            lasting, phases = self._parts(n_held, blocks)
            if (
                phases["answers"] > usable - lasting
                and blocks.resamples > FEWEST_RESAMPLES
            ):
                blocks.resamples //= 2
            elif phases["pilots"] > usable - lasting and self._n_pilots(blocks) > 1:
                blocks.pilots = self._n_pilots(blocks) // 2
            elif blocks.workers != 1:
                blocks.workers = max((blocks.workers or self._workers(None)[0]) // 2, 1)
                blocks.resamples, blocks.pilots = resamples, pilots
            else:
                return False
        blocks.kept = int(min(blocks.kept, usable - needed))
        return True

    def _n_pilots(self, blocks):
        """Scopes whose depth is chosen at the same time."""
        at_once = min(n_threads(), len(self.n_impostors))
        return min(at_once, blocks.pilots or at_once)

    def _parts(self, n_held, blocks):
        """Bytes that are needed all the time, and those of each phase beside them."""
        workers, of_process, copies = self._workers(blocks.workers)
        rows = 4 * self.n_images * self.n_features
        # Unit rows and rows in order, and what other processes map.
        lasting = (2 + copies) * rows + 12 * copies * n_held + workers * of_process
        lasting += OF_IMAGE * self.n_images + OF_GENUINE * self.n_genuine
        lasting += self._of_rounding(rows, workers if of_process else 0)
        picked = np.clip(PICKED * self.n_pairs / max(n_held, 1), *PILOT)
        threads = workers * OF_THREAD
        most = np.clip(
            MULTIPLICITIES / self.n_images, FEWEST_RESAMPLES, blocks.resamples
        )
        answers = n_held * OF_ANSWERED[self.average]
        answers += workers * OF_MULTIPLICITY * most * self.n_images
        if n_held < self.n_pairs:
            # Other questions take samples, and another pass, one after the other.
            answers += max(OF_SAMPLED, threads)
        return lasting, {
            "pilots": OF_PILOT * min(picked, self.n_pairs) * self._n_pilots(blocks),
            "pass": threads + OF_HELD * n_held,
            "answers": answers,
        }

    def _of_rounding(self, rows, n_processes):
        """Bytes of rows in bfloat16, and of torch where the pass may be what imports it."""
        if not _screen.may_round(self.n_pairs, self.n_features, self.n_jobs):
            return 0
        n_importing = n_processes + (not _screen.has_torch())
        return rows / 2 + n_importing * OF_TORCH

    def _workers(self, most):
        """Workers, what the process of each takes by itself, copies of what they share.

        At most so many, where ``most`` is not None.
        """
        jobs, most = self.n_jobs, math.inf if most is None else most
        if jobs is not None and (not isinstance(jobs, Integral) or jobs == 0):
            raise ValueError(
                f"n_jobs must be an integer other than 0, or None; got {jobs!r}."
            )
        n_jobs = min(effective_n_jobs(self.n_jobs), most)
        backend, _ = get_active_backend()
        if n_jobs == 1 or getattr(backend, "supports_sharedmem", False):
            return min(max(n_jobs, n_threads()), most), 0, 0
        return n_jobs, OF_PROCESS, 1


def fits(size, far_max):
    """Whether a comparison fits into the memory that may be used now."""
    return _least(size, far_max) <= limit().n_bytes


def _least(size, far_max):
    """Bytes that a comparison needs at least."""
    return size.n_bytes(size.n_held(far_max), Blocks.smallest())


def check(size, far_max):
    """Blocks with which a comparison fits into the memory.

    Parameters
    ----------
    size : Size
    far_max : float

    Returns
    -------
    blocks : Blocks

    Raises
    ------
    TooLittleMemoryError
        With what would fit.
    """
    blocks, allowed = Blocks(), limit()
    usable = allowed.n_bytes
    if size.narrow(blocks, size.n_held(far_max), usable):
        return blocks
    values = [float(f"{digit}e-{k}") for k in range(1, 10) for digit in (5, 2, 1)]
    smaller = [v for v in values if v < far_max and _least(size, v) <= usable]
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        fitting = _least(size.scaled(middle), far_max) <= usable
        low, high = (middle, high) if fitting else (low, middle)
    n_images = int(size.n_images * low)
    n_images -= n_images % 10 ** max(len(str(n_images)) - 2, 0)  # two digits
    fitting = max(smaller, default=None), n_images if n_images > 1 else None
    raise TooLittleMemoryError(_least(size, far_max), allowed, *fitting)


def check_held(size, n_held, blocks):
    """Make blocks smaller, where need be, so that so many pairs fit into the memory.

    Parameters
    ----------
    size : Size
    n_held : float
    blocks : Blocks
        Changed.

    Raises
    ------
    TooLittleMemoryError
    """
    allowed = limit()
    if not size.narrow(blocks, n_held, allowed.n_bytes):
        needed = size.n_bytes(n_held, Blocks.smallest())
        raise TooLittleMemoryError(needed, allowed)
