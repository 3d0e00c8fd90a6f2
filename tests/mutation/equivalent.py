"""Mutants that no test can kill, each with the reason, as the command prints them."""

EQUIVALENT = {
    "_core/_reaching: while start + WIDTH <= stop: -> while start + WIDTH < stop:": (
        "The branch below compares a last vector, too."
    ),
    "_core/_rates: return far > level * (1 + ROUNDING) -> return far >= level * (1 + ROUNDING)": (
        "They differ at the very margin of rounding alone."
    ),
}
