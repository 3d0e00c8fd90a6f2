"""How much memory the user allows: the environment variable ``SKFAIRFR_MEMORY``.

It is read before a fit compares all pairs and before a file is read; worker processes that
start later inherit it.
"""

import math
import os
import re
from dataclasses import dataclass
from typing import NamedTuple

VARIABLE = "SKFAIRFR_MEMORY"
# Share of the free memory that a comparison may take, whatever the user allows.
SHARE = 0.8
UNITS = {"b": 1, **{f"{p}b": 10 ** (3 * k) for k, p in enumerate("kmgt", 1)}} | {
    f"{p}ib": 2 ** (10 * k) for k, p in enumerate("kmgt", 1)
}
AMOUNT = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*(%|[kmgt]?i?b)\s*", re.IGNORECASE)
EXAMPLES = "4GB, 500MB or 4GiB, or 50% of what is free"


class Limit(NamedTuple):
    """Bytes that may be used, what says so, and how to be allowed more."""

    n_bytes: float
    source: str
    remedy: str


@dataclass(frozen=True)
class Budget:
    """What a comparison may take.

    Attributes
    ----------
    text : str
        As it was given; empty where nothing was.
    n_bytes : float
    share : float
        Of what is free.
    """

    text: str = ""
    n_bytes: float = math.inf
    share: float = 1.0

    @classmethod
    def of(cls, text):
        """The budget that a text such as ``4GB`` or ``50%`` names.

        Raises
        ------
        ValueError
            If it names none.
        """
        found = AMOUNT.fullmatch(text)
        number, unit = (0.0, "b") if found is None else (float(found[1]), found[2])
        unit = unit.lower()
        known = unit == "%" or unit in UNITS
        if not known or not 0 < number < math.inf or (unit == "%" and number > 100):
            raise ValueError(f"must be an amount of memory, such as {EXAMPLES}")
        if unit == "%":
            return cls(text.strip(), share=number / 100)
        return cls(text.strip(), number * UNITS[unit])

    @classmethod
    def in_force(cls):
        """The budget that the environment sets.

        Raises
        ------
        ValueError
            If it sets something else.
        """
        text = os.environ.get(VARIABLE, "").strip()
        try:
            return cls.of(text) if text else cls()
        except ValueError as error:
            raise ValueError(
                f"The environment variable {VARIABLE} {error}; got {text}."
            ) from None

    def limit(self, free):
        """The limit where so many bytes are free."""
        usual = f"{100 * SHARE:.0f} % of what is free"
        own, given = min(self.share * free, self.n_bytes), f"{VARIABLE}={self.text}"
        if own < SHARE * free:
            return Limit(own, f"the budget {given}", "raise that budget")
        source = (
            f"{usual}, which the budget {given} does not lower" if self.text else usual
        )
        return Limit(SHARE * free, source, "free memory")
