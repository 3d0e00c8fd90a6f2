"""Errors of a file explained: attributes and covariates of all images, in one regression."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skfairfr._core._error_counts import errors_first
from skfairfr._core._jackknife import holm
from skfairfr._core._rates import in_digits
from skfairfr._text._document import Cell, Document, Row, Section, Table, write_text
from skfairfr._text._words import (
    NO_DIFFERENCE,
    level_percent,
    listed,
    p_value,
    percent,
    percents,
    points,
    points_between,
    printable,
    ratio,
    ratios,
)
from skfairfr.metrics import SimilarityROC, explain_errors
from skfairfr.metrics._explain import DIFFERENT
from skfairfr.report._data import DecisionData, EmbeddingData, PairData, check_data
from skfairfr.report._failing import BETWEEN
from skfairfr.report._identification import searches_of
from skfairfr.report._notes import collecting, notes_of
from skfairfr.report._outputs import json_text, save_texts
from skfairfr.utils._errors import ArgumentError, refused
from skfairfr.utils._labels import encode, to_column
from skfairfr.utils._types import FilePath

SCHEMA_VERSION, USUAL_FAR = 1, 1e-3
# Of more non-mated comparisons of embeddings without an error, so many are drawn.
MOST_DRAWN = 500_000


@dataclass(frozen=True)
class ExplainedErrors:
    """Differences between groups at equal covariates, from :func:`explain`.

    Attributes
    ----------
    explanations : dict of str -> Explanation
        By the name of the rate: "FNMR", "FMR", "FRR", "FNIR", ...
    adjusted : dict of str -> ndarray, shape (n_ratios,)
        p-values of the ratios of each, adjusted for their number in all (Holm).
    threshold : float or None
        Similarity at which the errors are counted. None of decisions.
    level : float in (0, 1), or None
        The FMR, or FPIR, that set the threshold.
    notes : tuple of str
    about : dict of str -> str

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    explain : Returns it.
    """

    explanations: dict = field(repr=False)
    adjusted: dict = field(repr=False)
    threshold: float | None
    level: float | None
    notes: tuple
    about: dict

    exit_code = 0

    def to_text(self, source: str | None = None, *, date: str | None = None) -> str:
        """Give the answers and a table for a terminal: ASCII of at most 100 columns.

        Parameters
        ----------
        source, date : str, default=None
            Where the data come from, and a day to be printed.

        Returns
        -------
        text : str
        """
        return write_text(self._document(source, date))

    def to_json(self, **about: Any) -> str:
        """Give strict JSON: nan as null, infinities as "Infinity" and "-Infinity".

        Parameters
        ----------
        **about : JSON-able values
            Keys written before the others.

        Returns
        -------
        text : str
        """
        rates = {
            name: asdict(found) | {"p_adjusted": self.adjusted[name]}
            for name, found in self.explanations.items()
        }
        record = {"threshold": self.threshold, "level": self.level, "rates": rates}
        record |= {"notes": self.notes, "about": self.about}
        return json_text({"schema_version": SCHEMA_VERSION, **about, **record})

    def save(
        self,
        folder: FilePath,
        source: str | None = None,
        *,
        replace: bool = False,
        version: str | None = None,
        date: str | None = None,
    ) -> tuple[Path, ...]:
        """Write the text and the JSON to a folder.

        Parameters
        ----------
        folder : path-like
            Made if it does not exist.
        source, version, date : str, default=None
            Where the data come from, of skfairfr, and the day of the text.
        replace : bool, default=False
            Whether an earlier report in the folder is replaced.

        Returns
        -------
        paths : tuple of pathlib.Path
            Files written.
        """
        written = {
            "explanation.txt": self.to_text(source, date=date),
            "explanation.json": self.to_json(version=version, source=source),
        }
        return save_texts(Path(folder), written, replace)

    def _document(self, source, date):
        under = [printable(text) for text in (source, date) if text]
        if self.threshold is not None:
            at = f"threshold {in_digits(self.threshold)}"
            under.append(at + (f" ({self._set})" if self.level else ""))
        found = self.explanations.values()
        used = next(iter(found)).covariates
        equal = [f"{printable(name)}: {how}" for name, how in used.items()]
        notes = [
            f"{name}: {n}" for name, e in self.explanations.items() for n in e.notes
        ]
        notes = [*map(printable, dict.fromkeys([*self.notes, *notes]))]
        sections = [
            Section("answer", "Result", [self._answers()]),
            Section("ratios", "Ratios", [self._table()]),
            Section("curves", "Rates over numbers", [self._curves()]),
            Section("equal", "Covariates", [equal]),
            Section("notes", "Notes", [notes]),
        ]
        return Document("Is it the group?", "; ".join(under), sections)

    @property
    def _set(self):
        name = "FPIR" if "FPIR" in self.explanations else "FMR"
        return f"{name} {level_percent(self.level)}"

    def _rows(self):
        return [
            (name, found, one, p)
            for name, found in self.explanations.items()
            for one, p in zip(found.ratios, self.adjusted[name], strict=True)
        ]

    def _answers(self):
        """A sentence for each rate and group, in the order of the rates."""
        texts = []
        for name, found, one, p in self._rows():
            if one.group == DIFFERENT:
                continue
            level = f"{100 * found.confidence_level:g} % CI"
            others = {r.attribute for r in found.ratios if " & " not in r.attribute}
            others -= {*one.attribute.split(" & ")}
            equal = listed(
                [*map(printable, [*found.covariates, *sorted(others)])] or [""]
            )
            difference = "higher" if one.ratio > 1 else "lower"
            verdict = difference if p < 1 - found.confidence_level else NO_DIFFERENCE
            text = f"{printable(one.group)} over {printable(one.reference)}: {name} "
            if equal:
                text += f"{ratio(one.raw)} times raw, "
            text += f"{ratio(one.ratio)} times ({level} {ratios(one.low, one.high)})"
            texts.append(f"{text}{equal and f' at equal {equal}'}: {verdict}.")
        return texts

    def _table(self):
        rows = []
        for name, _, one, p in self._rows():
            label = f"{name}, {one.attribute}: {one.group} over {one.reference}"
            cells = [
                f"{one.n_errors:,.0f}",
                f"{ratio(one.raw)} ({ratios(one.raw_low, one.raw_high)})",
                f"{ratio(one.ratio)} ({ratios(one.low, one.high)})",
                f"{points(one.difference)} "
                f"({points_between(one.difference_low, one.difference_high)})",
                p_value(p),
            ]
            rows.append(Row(printable(label), [*map(Cell, cells)]))
        head = ["Rate and groups", "Errors", "Ratio, raw", "Ratio, at equal values"]
        head += ["Difference, at equal values", "Adjusted p"]
        caption = "Ratios above 1 mean that the rate of the first group is higher."
        return Table(caption, head, rows)

    def _curves(self):
        rows = []
        for name, found in self.explanations.items():
            for curve in found.curves:
                shown = np.linspace(0, curve.at.size - 1, 5).astype(int)
                cells = [
                    f"{percent(curve.rate[k])} ({percents(curve.low[k], curve.high[k])})"
                    for k in shown
                ]
                label = f"{name} at {printable(curve.name)}"
                at = [f"{label} {in_digits(curve.at[k])}" for k in shown]
                rows += [Row(a, [Cell(c)]) for a, c in zip(at, cells, strict=True)]
                text = f"no trend: p {p_value(curve.p_value)}"
                rows.append(Row(f"{name} over {printable(curve.name)}", [Cell(text)]))
        return Table("", ["Rate", "At equal values"], rows) if rows else None


def explain(
    data: EmbeddingData | PairData | DecisionData,
    *,
    gallery: EmbeddingData | None = None,
    rank: int = 1,
    far: float | None = None,
    threshold: float | None = None,
    curves: Any = (),
    interactions: Any = (),
    reference: Any = None,
    confidence_level: float | None = None,
    about: dict | None = None,
    random_state: int = 0,
) -> ExplainedErrors:
    """Compare the error rates of groups at equal covariates, of all errors at a threshold.

    Parameters
    ----------
    data : EmbeddingData, PairData or DecisionData
        Such as :func:`read_data` gives. ``control`` of it names the columns that become
        ``covariates``.
    gallery : EmbeddingData, default=None
        Who is enrolled: data are then searches, and the level is an FPIR.
    rank : int, default=1
        Of searches: a mate counts whom fewer others reach.
    far : float in (0, 1), default=None
        Level that sets the threshold on these data. If None: 0.001.
    threshold : float, default=None
        Similarity from which on pairs are accepted (of distances, up to which), instead.
    curves : str or sequence of str, shape (n_curves,), default=()
        Covariates that are numbers, over which rates are computed.
    interactions : sequence of pairs of str, shape (n_interactions, 2), default=()
        Attributes whose combinations are compared too.
    reference : label or sequence of labels, shape (n_references,), default=None
        Groups to compare with, at most one of each attribute. If None: the largest.
    confidence_level : float in (0, 1), default=None
        None takes 0.95.
    about : dict of str -> str, default=None
        As of :func:`audit_data`.
    random_state : int, default=0
        Of the comparisons that are drawn from many.

    Returns
    -------
    found : ExplainedErrors
        One regression of each rate that the data have. Lower rates are better.

    Raises
    ------
    ValueError
        If there is no attribute, or neither rate has enough errors.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.report import EmbeddingData, explain
    >>> made = make_face_embeddings(n_identities=200, random_state=0)
    >>> data = EmbeddingData(made.X, made.y, {"gender": made.sensitive_features})
    >>> sorted(explain(data, far=0.001).explanations)
    ['FMR', 'FNMR']
    """
    if gallery is not None:
        data = searches_of(data, gallery, rank, "image")
    check_data(data, decisions=True)
    warnings, parts, level = [], [], None
    if isinstance(data, DecisionData):
        attributes = [*data.parts[0].columns]
        parts = [
            _of_decisions(part) for part in data.parts if part.decisions != "apcer"
        ]
        threshold = None
    else:
        attributes = [*data.columns]
        with collecting(warnings):
            if threshold is None:
                level = USUAL_FAR if far is None else far
            elif data.is_distance:
                threshold = -threshold
            roc = data.fit(
                SimilarityROC(n_resamples=1, far_max=min(4 * (level or 0.05), 1.0)), ()
            )
            if threshold is None:
                threshold = float(roc.threshold_at(level))
            make = _of_pairs if isinstance(data, PairData) else _of_images
            if gallery is not None:
                make = _of_searches
            parts = make(data, roc, threshold, np.random.default_rng(random_state))
    if not attributes:
        problem = "names no group;"
        raise refused("attributes", (), problem, "name a column (--attribute).")
    found, notes = {}, [*data.notes, *notes_of(warnings, data.terms)]
    curves = (curves,) if isinstance(curves, str) else tuple(curves)
    options = {"interactions": interactions}
    options |= {"curves": curves, "confidence_level": confidence_level or 0.95}
    options["reference"] = _references(parts, reference)
    problem = None
    for name, rows in parts:
        try:
            found[name] = explain_errors(**rows, **options)
        except ArgumentError as error:
            if error.argument != "sensitive_features":
                raise
            problem = error
            notes.append(f"{name} is left out: {str(error).partition(' ')[2]}")
    if not found:
        raise problem
    every = holm(np.array([one.p_value for e in found.values() for one in e.ratios]))
    cuts = np.cumsum([len(e.ratios) for e in found.values()])[:-1]
    adjusted = dict(zip(found, np.split(every, cuts), strict=True))
    return ExplainedErrors(found, adjusted, threshold, level, tuple(notes), about or {})


def _references(parts, asked):
    """The reference of each attribute that has one of the labels; raises at another label."""
    labels = () if asked is None else [asked] if np.ndim(asked) == 0 else asked
    found = {}
    for label in labels:
        for name, column in parts[0][1]["sensitive_features"].items():
            side = column[0] if isinstance(column, tuple) else column
            if str(label) in map(str, encode(side, name, allow_unknown=True).values):
                found[name] = label
                break
        else:
            raise refused("reference", label, f"{label!r} is no group of the data;")
    return found


def _taken(columns, rows):
    """Columns of pairs, or of both of their images, at some rows."""
    return {
        name: tuple(to_column(side, name)[rows] for side in column)
        if isinstance(column, tuple)
        else to_column(column, name)[rows]
        for name, column in columns.items()
    }


def _of_decisions(part):
    """Name of the rate and rows of a part of a log."""
    name = part.terms.frr.name
    identity = (
        np.arange(len(part.y_score)) if part.identities is None else part.identities[0]
    )
    every = np.arange(len(part.y_score))
    columns = {n: c[0] if isinstance(c, tuple) else c for n, c in part.columns.items()}
    return name, {
        "error": np.asarray(part.y_score) < BETWEEN,
        "identity": to_column(identity, "identity"),
        "sensitive_features": _taken(columns, every),
        "covariates": _taken(part.covariates, every),
    }


def _of_pairs(data, roc, threshold, rng):
    """Rows of listed pairs, by the name of the rate."""
    scores, parts = np.asarray(data.y_score), []
    if data.failed is not None:
        scores = np.where(data.failed, -np.inf, scores)
    ends = (np.arange(scores.size),) * 2
    genuine = np.asarray(data.y_true) == 1 if data.independent else None
    if not data.independent:
        ends = np.split(data.people(), 2)
        genuine = ends[0] == ends[1]
    for name, of_rate in (
        (data.terms.frr.name, genuine),
        (data.terms.far.name, ~genuine),
    ):
        rows = np.flatnonzero(of_rate)
        people = tuple(end[rows] for end in ends)
        if name == data.terms.frr.name or data.independent:
            people = people[0]
        if rows.size:
            above = scores[rows] >= threshold
            parts.append(
                (
                    name,
                    {
                        "error": ~above if of_rate is genuine else above,
                        "identity": people,
                        "sensitive_features": _taken(data.columns, rows),
                        "covariates": _taken(data.covariates, rows),
                    },
                )
            )
    return parts


def _of_images(data, roc, threshold, rng):
    """Rows of all pairs of embeddings; of non-mated ones without an error a sample."""
    pairs, people, parts = roc._engine.pairs, data.people(), []
    genuine, (n,) = errors_first(pairs, None, "frr", thresholds=np.array([threshold]))
    accepted, (n_errors,) = errors_first(
        pairs, None, "far", thresholds=np.array([threshold])
    )
    error = np.arange(genuine.scores.size) < n
    parts = [("FNMR", error, genuine.left, genuine.right, None)] if error.size else []
    one, other = accepted.left[:n_errors], accepted.right[:n_errors]
    left, right = _others(data, people, one, other, rng)
    weight = (roc.n_impostor_[0] - n_errors) / left.size
    error = np.arange(n_errors + left.size) < n_errors
    left, right = np.append(one, left), np.append(other, right)
    parts.append(("FMR", error, left, right, np.where(error, 1.0, weight)))

    def sides(columns, left, right):
        columns = {name: to_column(c, name) for name, c in columns.items()}
        return {name: (c[left], c[right]) for name, c in columns.items()}

    return [
        (
            name,
            {
                "error": error,
                "identity": people[left]
                if name == "FNMR"
                else (people[left], people[right]),
                "sensitive_features": sides(data.columns, left, right),
                "covariates": sides(data.covariates, left, right),
                "sample_weight": weight,
            },
        )
        for name, error, left, right, weight in parts
    ]


def _others(data, people, one, other, rng):
    """Impostor pairs that are no errors: all, or some drawn at random."""
    n = people.size
    if n * (n - 1) // 2 <= 2 * MOST_DRAWN:
        left, right = np.triu_indices(n, 1)
    else:
        left, right = rng.integers(0, n, (2, 2 * MOST_DRAWN))
    keep = people[left] != people[right]
    if data.domain is not None:
        domain = encode(data.domain, "domain").codes
        keep &= domain[left] != domain[right]
    keys = [
        np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)
        for a, b in ((left, right), (one, other))
    ]
    keep &= ~np.isin(*keys)
    return left[keep], right[keep]


def _of_searches(data, roc, threshold, rng):
    """Rows of non-mated and mated searches."""
    pairs, people, parts = roc._engine.pairs, data.people(), []
    for rate, name in (("frr", "FNIR"), ("far", "FPIR")):
        sequence, (n,) = errors_first(
            pairs, None, rate, thresholds=np.array([threshold])
        )
        error = np.zeros(people.size, dtype=bool)
        error[sequence.left[:n]] = True
        rows = np.flatnonzero(pairs._counted[rate])
        if rows.size:
            of = {"error": error[rows], "identity": people[rows]}
            of["sensitive_features"] = _taken(data.columns, rows)
            parts.append((name, of | {"covariates": _taken(data.covariates, rows)}))
    return parts
