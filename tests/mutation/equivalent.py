"""Mutants that no test can kill, each with the reason, as the command prints them."""

EQUIVALENT = {
    "_core/_rates: return far > level * (1 + ROUNDING) -> return far >= level * (1 + ROUNDING)": (
        "They differ at the very margin of rounding alone."
    ),
    "_core/_resampling: known: dict = field(default_factory=dict, compare=False, repr=False) -> known: dict = field(default_factory=dict, compare=True, repr=False)": (
        "Weights are arrays: nothing asks whether two of them are equal."
    ),
    "_core/_few_errors: starts = np.zeros(n_people + 1, dtype=np.int64) -> starts = np.zeros(n_people + 2, dtype=np.int64)": (
        "One more place, which nothing reads."
    ),
    '_core/_adjustments: options = {"gtol": 1e-10, "maxiter": 500} -> options = {"gtol": 1e-10, "maxiter": 501}': (
        "No search takes so many steps."
    ),
    "_core/_adjustments: if odds < 0: -> if odds <= 0:": (
        "At odds of zero both lines give one half."
    ),
    "_core/_paired: people_add -= lacking / 4 * np.outer(SIGNS, SIGNS) -> people_add -= lacking / 4 / np.outer(SIGNS, SIGNS)": (
        "All entries of the product of signs are 1 or -1."
    ),
    "_core/_paired: both = np.where((first > 0) & (second > 0), first + second, 1.0) -> both = np.where((first > 0) & (second > 0), first + second, 2.0)": (
        "What is written there is read nowhere."
    ),
    "_core/_few_errors: _over((pairs**2).sum(), total, 1.0) * levels, -> _over((pairs**2).sum(), total, 1.0) / levels,": (
        "It is multiplied by ones."
    ),
    "_core/_few_errors: rate = _over(errors, total, 0.0) -> rate = _over(errors, total, 1.0)": (
        "Without pairs, all sums that the rate is multiplied with are zero."
    ),
    "_core/_resampling: fitting = int(np.clip(BLOCK_BYTES // max(images.identity.size, 1), least, most)) -> fitting = int(np.clip(BLOCK_BYTES // max(images.identity.size, 2), least, most))": (
        "The least that has a pair is two images."
    ),
    "_core/_pair_sequences: if base is None and all(unit.dtype == np.uint8 for unit in weights): -> if base is None and all(unit.dtype != np.uint8 for unit in weights):": (
        "Sums of whole numbers are exact in either type, with any multiplicity that is drawn."
    ),
    "_core/_pair_sequences: self._kind = np.int16 if fits else np.int32 -> pass": (
        "Sums of whole numbers are exact in float64, too."
    ),
    "_core/_pairs: total += block.sum(axis=0) -> total -= block.sum(axis=0)": (
        "Only the product of two such sums is used."
    ),
    "comparators/_group_thresholds: labels = np.append(np.arange(group.max() + 1).astype(object), None)[group] -> labels = np.append(np.arange(group.max() + 2).astype(object), None)[group]": (
        "The last label stays None; the one before it is nobody's."
    ),
    'metrics/_roc/_paired: ends, people = 2 if systems[0].rate == "far" else 1, min(people) -> ends, people = 2 if systems[1].rate == "far" else 1, min(people)': (
        "Both systems are asked for the same rate."
    ),
    "_core/_adjustments: if len(free) == 3 and found: -> if len(free) == 4 and found:": (
        "A fit of fewer slopes has no smaller loss than a valid one of all."
    ),
    "_core/_bootstrap: rates, closest = _rates.equal_error(far.T, frr.T) -> rates, closest = _rates.equal_error(frr.T, far.T)": (
        "Gap and mean of two rates have no order."
    ),
    "_core/_few_errors: lost = 2 * _over((pairs**3).sum(), total * squared, 0.0) -> lost = 2 * _over((pairs**3).sum(), total * squared, 1.0)": (
        "Without pairs, what it would divide is zero."
    ),
    "_core/_few_errors: counted = np.where(total > 0, total, 1.0) -> counted = np.where(total > 0, total, 2.0)": (
        "What is divided by it is not read there."
    ),
    "_core/_few_errors: weight = 1 / (variance + between) -> weight = 2 / (variance + between)": (
        "A mean does not depend on the unit of its weights."
    ),
    "_core/_intervals: people, most = _count_people(left, right, positions, order, n_identities) -> people, most = _count_people(right, left, positions, order, n_identities)": (
        "People are counted on both sides alike."
    ),
    "metrics/_roc/_paired: reach = -stdtrit(freedom, (1 - confidence_level) / 2) -> reach = (stdtrit(freedom, (1 - confidence_level) / 2))": (
        "The ends of the ratio take its square."
    ),
    "metrics/_pairs/_rates: return float(equal_error(far, frr)[0]) -> return float(equal_error(frr, far)[0])": (
        "Where two curves are closest, and their mean, is the same either way."
    ),
    "_core/_adjustments: if not _log_odds(-1.0, a, b, c) < floor: -> if not _log_odds(-2.0, a, b, c) < floor:": (
        "Products beyond -1 are taken as -1."
    ),
}
