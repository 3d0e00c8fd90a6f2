"""Mutants that could be killed and are not, each with the reason why that is accepted.

They count as survivors in the score; the reason is printed beside them. ``equivalent.py``
has those that no test can kill, which do not count.
"""

ACCEPTED = {
    "comparators/_cluster_calibration: self, n_clusters=100, *, min_pairs=20, max_pairs=20000, random_state=None -> self, n_clusters=101, *, min_pairs=20, max_pairs=20000, random_state=None": (
        "A default, which papers choose and no test can."
    ),
    "comparators/_cluster_calibration: if genuine.shape[1] > self.size: -> if genuine.shape[1] >= self.size:": (
        "All genuine pairs in another order: another draw of impostor pairs."
    ),
    "comparators/_cohort: SMALLEST_DEVIATION = 2.0**-23 -> SMALLEST_DEVIATION = 2.0**-24": (
        "A tolerance: no score of the tests deviates by so little."
    ),
    "_core/_adjustments: HALVINGS = 60 -> HALVINGS = 61": (
        "One more halving than float64 resolves."
    ),
    "_core/_pairs: HELD_PAIRS = 2**25 -> HELD_PAIRS = 3**25": (
        "How many pairs are held where memory allows: what they cost, and no rate."
    ),
    "comparators/_group_thresholds: WIDEST, MARGIN = 0.5, 1.05 -> WIDEST, MARGIN = 1.5, 1.05": (
        "How deep a pass looks: what it costs, and no threshold."
    ),
    "_core/_few_errors: _over(single, total, 1.0) * levels, -> _over(single, total, 2.0) * levels,": (
        "Where there are no pairs the rate is nan in any case."
    ),
    "_core/_few_errors: _over(4.0, reach, 0.0) * levels, -> _over(4.0, reach, 1.0) * levels,": (
        "Where there are no pairs the rate is nan in any case."
    ),
    "_core/_pair_sequences: most = [int(unit.max(initial=0)) for unit in weights] -> most = [int(unit.max(initial=1)) for unit in weights]": (
        "A wider integer where all weights are zero: what it costs."
    ),
    "_core/_pair_sequences: whole = min(start + CHUNK, left.size) <= position -> whole = min(start - CHUNK, left.size) <= position": (
        "The same pairs are added, in another order: the last bits."
    ),
    "metrics/_roc/_paired: return found, max(people - 1, 1.0) -> return found, max(people - 1, 2.0)": (
        "Degrees of freedom of two people: no test has so few with an interval."
    ),
    'comparators/_group_thresholds: if self.operating_point == "group": -> if self.operating_point != "group":': (
        "How deep a pass looks: no threshold of data that are held whole."
    ),
    '_core/_resampling: return vars(self) | {"drawn": {}} -> return None': (
        "The tests with processes of their own notice; they are slow."
    ),
    "_core/_bootstrap: high = np.full(n_columns, candidates.size - 1) -> high = np.full(n_columns, candidates.size - 2)": (
        "The same rate; where all scores are equal, the threshold may be above them."
    ),
}
