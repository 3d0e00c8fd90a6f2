"""Mutants that could be killed and are not, each with the reason why that is accepted.

They count as survivors in the score; the reason is printed beside them. ``equivalent.py``
has those that no test can kill, which do not count.
"""

ACCEPTED = {
    "_core/_equal_error: if not copies_rejected(pairs, above.max(initial=-np.inf)): -> if (copies_rejected(pairs, above.max(initial=-np.inf))):": (
        "The test of rejected copies notices, compiled; in plain Python it takes too long."
    ),
    "_core/_equal_error: defined = (impostor.total > 0) & (genuine.total > 0) -> defined = (impostor.total >= 0) & (genuine.total > 0)": (
        "Resamples without pairs make more pairs be collected; no rate changes."
    ),
    "_core/_planning: low = first_number(lambda k: question.probability(k, whole=False) >= power, 2) -> low = first_number(lambda k: question.probability(k, whole=True) >= power, 2)": (
        "Another start of the same search, whose end is the same but where a grid is coarse."
    ),
    "comparators/_cluster_calibration: self, n_clusters=100, *, min_pairs=20, max_pairs=20000, random_state=None -> self, n_clusters=101, *, min_pairs=20, max_pairs=20000, random_state=None": (
        "A default, which papers choose and no test can."
    ),
    "comparators/_cluster_calibration: if genuine.shape[1] > self.size: -> if genuine.shape[1] >= self.size:": (
        "All genuine pairs in another order: another draw of impostor pairs."
    ),
    "comparators/_cohort: SMALLEST_DEVIATION = 2.0**-23 -> SMALLEST_DEVIATION = 2.0**-24": (
        "A tolerance: no score of the tests deviates by so little."
    ),
    "metrics/_roc/_analytic: generator = np.random.default_rng([entropy, evidence.share.shape[0]]) -> generator = np.random.default_rng([entropy, evidence.share.shape[1]])": (
        "Another seed."
    ),
    "_core/_adjustments: HALVINGS = 60 -> HALVINGS = 61": (
        "One more halving than float64 resolves."
    ),
    "metrics/_roc/_analytic: FEWEST_DRAWS = 1_000 -> FEWEST_DRAWS = 1001": (
        "A number of draws, which more or less precisely give the same."
    ),
    "report/_far_max: HELD_PAIRS = 2**25 -> HELD_PAIRS = 3**25": (
        "How many pairs are held where memory allows: what they cost, and no rate."
    ),
    "comparators/_group_thresholds: WIDEST, MARGIN = 0.5, 1.05 -> WIDEST, MARGIN = 1.5, 1.05": (
        "How deep a pass looks: what it costs, and no threshold."
    ),
}
