"""How much is worked on at a time: less where the memory is small, with the same results."""

from dataclasses import dataclass

# Resamples that a thread draws at a time: at most, and where the memory is small.
RESAMPLES, FEWEST_RESAMPLES = 128, 16
# Bytes of all drawn multiplicities that are kept for the next question.
KEPT_BYTES = 2**28


@dataclass
class Blocks:
    """What decides how much memory a comparison takes, and no result.

    Tiles are no part of it: they set the order of equal scores in the tail. Groupings of
    the same images share one object, which may shrink.

    Attributes
    ----------
    workers : int or None
        Threads, or processes of joblib, that work at the same time; None: all.
    pilots : int or None
        Scopes whose depth is chosen at the same time; None: as many as there are threads.
    resamples : int
        Resamples that a worker draws at a time, at most.
    kept : int
        Bytes of drawn multiplicities that are kept for the next question.
    """

    workers: int | None = None
    pilots: int | None = None
    resamples: int = RESAMPLES
    kept: int = KEPT_BYTES

    @classmethod
    def smallest(cls):
        """Those that take the least memory."""
        return cls(1, 1, FEWEST_RESAMPLES, 0)
