"""Mutants that no test can kill, each with the reason, as the command prints them."""

EQUIVALENT = {
    "_core/_reaching: while start + WIDTH <= stop: -> while start + WIDTH < stop:": (
        "The branch below compares a last vector, too."
    ),
    "_core/_rates: return far > level * (1 + ROUNDING) -> return far >= level * (1 + ROUNDING)": (
        "They differ at the very margin of rounding alone."
    ),
    "_core/_few_errors: return wilson_interval(effective, -ndtri((1 - confidence_level) / 2), share) -> return wilson_interval(effective, (ndtri((1 - confidence_level) / 2)), share)": (
        "The interval takes the square of the quantile."
    ),
    "_core/_resampling: totals: dict = field(default_factory=dict, compare=False, repr=False) -> totals: dict = field(default_factory=dict, compare=True, repr=False)": (
        "Weights are arrays: nothing asks whether two of them are equal."
    ),
    "_core/_few_errors: starts = np.zeros(n_people + 1, dtype=np.int64) -> starts = np.zeros(n_people + 2, dtype=np.int64)": (
        "One more place, which nothing reads."
    ),
    '_core/_beta_calibration: options = {"gtol": 1e-10, "maxiter": 500} -> options = {"gtol": 1e-10, "maxiter": 501}': (
        "No search takes so many steps."
    ),
    "_core/_running_sums: n_pairs, n_resamples = pairs[0].size, weights[0].shape[1] -> n_pairs, n_resamples = pairs[1].size, weights[0].shape[1]": (
        "A pair has two members: both arrays are equally long."
    ),
}
