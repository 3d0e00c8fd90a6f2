"""Differences between groups at equal covariates: the record and its page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np

from skfairfr._text._document import Cell, Row, Table, Verdict
from skfairfr._text._words import (
    accepted,
    capital,
    level_percent,
    listed,
    p_value,
    percent,
    percents,
    plural,
    printable,
)
from skfairfr.metrics._explain import KNOTS
from skfairfr.report._notes import nothing_concluded
from skfairfr.report._outputs import Page
from skfairfr.report.sections._answer import LABELS, MOST_NOTES, NO_LIMITS, most_serious
from skfairfr.report.sections._cells import READ_NOTES
from skfairfr.report.sections._equal_covariates import (
    figure,
    largest_first,
    place_of_threshold,
    sentence,
    table,
)
from skfairfr.report.sections._gallery import facts_of_gallery

AT_EACH = (
    "Average rate of everyone at each value, over the middle "
    f"{level_percent(KNOTS[-1] - KNOTS[0])} of each number."
)
# Values of a number whose rates a table shows.
N_SHOWN = 4


@dataclass(frozen=True)
class ExplainedErrors(Page):
    """Differences between groups at equal covariates, from :func:`explain`.

    Attributes
    ----------
    explanations : dict of str -> Explanation
        Explanations by the name of the rate: "FNMR", "FMR", "FRR", "FNIR", ...
    adjusted : dict of str -> ndarray, shape (n_ratios,)
        p-values of the ratios of each, adjusted for their number in all (Holm).
    threshold : float or None
        Similarity at which the errors are counted. None of decisions.
    level : float in (0, 1), or None
        The FMR, or FPIR, that set the threshold.
    settings : dict
        Settings that the numbers depend on.
    limits : dict of str -> float
        Largest rate allowed at every value of the numbers of the curves: ``max_fnmr``, ...
    kinds : dict of str -> object
        Words of each rate.
    notes : tuple of str
    about : dict of str -> str

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    explain : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import explain, make_face_embeddings
    >>> from skfairfr.report import EmbeddingData
    >>> made = make_face_embeddings(n_identities=60, random_state=0)
    >>> quality = np.random.default_rng(0).random(len(made.y))
    >>> data = EmbeddingData(
    ...     made.X, made.y, {"gender": made.sensitive_features},
    ...     covariates={"quality": quality},
    ... )
    >>> found = explain(data, far=1e-2)
    >>> [(ratio.group, ratio.reference) for ratio in found.explanations["FMR"].ratios]
    [('female', 'male'), ('different', 'male')]
    """

    explanations: dict = field(repr=False)
    adjusted: dict = field(repr=False)
    threshold: float | None
    level: float | None
    settings: dict
    limits: dict
    kinds: dict = field(repr=False)
    notes: tuple
    about: dict

    _name = "explain"
    _most_rows = 3  # a row has three lines

    @property
    def verdict(self) -> str:
        """State of the limits: "failed", "undetermined", "passed", or "none" without any.

        A limit is exceeded if the band of a curve is above it at some value, and passed if the
        band is below it at all values. One of a rate without a regression is undetermined.
        """
        return most_serious([status for status, _ in self._states()])

    def _record(self):
        names = (
            "threshold",
            "level",
            "settings",
            "verdict",
            "limits",
            "notes",
            "about",
        )
        rates = []
        for name, found in self.explanations.items():
            one = asdict(found)
            used = [{"name": n, "used_as": how} for n, how in found.covariates.items()]
            for row, p in zip(one["ratios"], self.adjusted[name], strict=True):
                row["p_adjusted"] = p
            rates.append({"rate": self.kinds[name].key, **one, "covariates": used})
        return {name: getattr(self, name) for name in names} | {"rates": rates}

    # ---- limits over a range -----------------------------------------------------

    def limit_of(self, name: str) -> float | None:
        """Largest value allowed of a rate, or None without a limit.

        Parameters
        ----------
        name : str
            Name of the rate, such as "FNMR".

        Returns
        -------
        limit : float or None
        """
        return self.limits.get(f"max_{self.kinds[name].limit}")

    def _limited(self):
        """Rate, curve and limit of each limited curve."""
        return [
            (name, curve, self.limit_of(name))
            for name, found in self.explanations.items()
            for curve in found.curves
            if self.limit_of(name) is not None
        ]

    def _states(self):
        """The state of each limit, and a sentence, the most serious first."""
        known = {f"max_{kind.limit}" for kind in self.kinds.values()}
        states = [self._judged(*one) for one in self._limited()]
        states += [
            ("undetermined", f"{name} is undetermined: its rate has no regression.")
            for name in self.limits
            if name not in known
        ]
        return sorted(states, key=lambda one: [*LABELS].index(one[0]))

    def _judged(self, name, curve, limit):
        """The state of a limit over a curve, and a sentence about ranges of the number."""
        above, below = curve.band_low > limit, curve.band_high <= limit
        if "withheld" in self.settings:
            above[:] = below[:] = False
        status = (
            "failed" if above.any() else "passed" if below.all() else "undetermined"
        )
        state = np.where(above, "exceeded", np.where(below, "met", "undetermined"))
        ranges = _ranges(curve.at, state)
        ranges_by_state = [
            f"{word} from {listed(ranges[word])}"
            for word in ("exceeded", "met", "undetermined")
            if word in ranges
        ]
        most = (
            f"{name} of everyone of at most {level_percent(limit)} over {_over(curve)}"
        )
        return status, f"{most}: {', '.join(ranges_by_state)}."

    # ---- the document ------------------------------------------------------------

    _called = "Data", "Rates over numbers", "What was compared"
    _heading = "Is it the group?"
    _does_not_show = (
        "Does not show: the effect of covariates that are not named, or that the system is "
        "lawful."
    )

    def _opening(self):
        return [self._result(), table(self), figure(self)]

    def _kinds(self):
        return self.kinds.values()

    def _first_notes(self):
        if len(self.notes) <= MOST_NOTES:
            return [[*map(printable, self.notes)]]
        return [[*map(printable, self.notes[: MOST_NOTES - 1]), READ_NOTES]]

    def _result(self):
        """Limits if there are any, the largest ratio, and what curves show."""
        if nothing := nothing_concluded(self.settings):
            return Verdict("undetermined", *nothing)
        found, states = self._limited(), self._states()
        trends = [
            f"{'A' if c.p_value < 1 - of.confidence_level else 'No'} significant trend of the "
            f"{name} over {printable(c.name) if found else _over(c)} (p {p_value(c.p_value)})."
            for name, of in self.explanations.items()
            for c in of.curves
        ]
        largest = sentence(self, largest_first(self)[0])
        headline, *texts = [
            *(text for _, text in states),
            capital(", ".join(filter(None, (place_of_threshold(self), largest)))),
            *trends,
            *self._assumes_one_ratio(),
        ]
        label = NO_LIMITS
        if states:
            label = f"{LABELS[self.verdict]}. {plural(len(states), 'limit')}"
        return Verdict(self.verdict, headline, texts, label)

    def _assumes_one_ratio(self):
        """How to compare a significant ratio of one attribute over a covariate, in a list."""
        of, one, p = largest_first(self)[0][1:]
        attributes = {ratio.attribute for ratio in of.ratios}
        alone = len(attributes) == 1 and of.covariates
        if not alone or p >= 1 - self.settings["confidence_level"]:
            return []
        name = printable(next(iter(of.covariates)))
        return [
            f"One ratio is assumed for all values of {name}. To compare by {name}: --attribute "
            f"{name} (a number in ranges, as {name}:3) --interaction {printable(one.attribute)},{name}."
        ]

    def _table(self):
        """Rates at some values of the number of each curve."""
        rows = []
        for name, found in self.explanations.items():
            for curve in found.curves:
                for k in np.linspace(0, curve.at.size - 1, N_SHOWN).astype(int):
                    cells = [
                        Cell(
                            percent(curve.rate[k]),
                            percents(curve.low[k], curve.high[k]),
                        ),
                        Cell(percents(curve.band_low[k], curve.band_high[k])),
                    ]
                    label = f"{name} at {printable(curve.name)} {curve.at[k]:.4g}"
                    rows.append(Row(label, cells))
        head = ["Value", "Rate, all else equal", "For all values at once"]
        return Table(AT_EACH if rows else "", head, rows)

    def _facts(self):
        facts = facts_of_gallery(self.settings) if "gallery" in self.settings else []
        if self.threshold is not None:
            at = accepted(self.threshold, self.settings)
            if self.level:
                at += f", set by an {self.settings['level_of']} of everyone of "
                at += level_percent(self.level)
            facts.append(("Threshold", at))
        for name, found in self.explanations.items():
            kind = self.kinds[name]
            facts.append(
                (
                    name,
                    f"{found.n_errors:,.0f} errors in {found.n_trials:,.0f} "
                    f"{kind.standard_trials} of {found.n_people:,} people",
                )
            )
        used = {
            n: h for e in self.explanations.values() for n, h in e.covariates.items()
        }
        return facts + [(printable(name), how) for name, how in used.items()]

    def _method(self):
        return self._lines("explain")


def _over(curve):
    """The part of a number that its curve is over, in words."""
    middle = level_percent(KNOTS[-1] - KNOTS[0])
    return f"the middle {middle} of {printable(curve.name)}"


def _ranges(at, state):
    """Ranges of a number by the state of the nearest point, a dict of lists of texts.

    Each value has one state. Ends have the digits that half a step between points supports.
    """
    half = np.diff(at).min() / 2
    digits = int(np.floor(np.log10(0.999 * half)))
    unit, found = 10.0**digits, {}
    starts = np.flatnonzero(np.append(True, state[1:] != state[:-1]))
    before = np.floor((at[starts[1:]] - half) / unit) * unit
    first = np.append(np.floor(at[0] / unit) * unit, before + unit)
    last = np.append(before, np.ceil(at[-1] / unit) * unit)
    for word, *ends in zip(state[starts], first, last, strict=True):
        low, high = (f"{end:.{max(0, -digits)}f}" for end in ends)
        found.setdefault(word, []).append(f"{low} to {high}")
    return found
