"""Scores of attack detection as a log of decisions, and a section about other thresholds."""

import math

import numpy as np
from sklearn.utils import Bunch

from skfairfr._text._words import number, percent, percents
from skfairfr.metrics import attack_detection
from skfairfr.utils._errors import invalid

# BPCER levels at which thresholds are set. The first is that of the decisions.
BPCER = (0.05, 0.01)
NAMES = {"apcer": "APCER", "bpcer": "BPCER", "eer": "EER"}
OTHER = {"apcer": "BPCER", "bpcer": "largest APCER"}


def decided(log, bpcer, is_distance):
    """A log with decisions in place of scores, and the section about other thresholds.

    Parameters
    ----------
    log : Bunch
        Of ``read_decisions``, with ``y_score``.
    bpcer : sequence of float in (0, 1), shape (n_levels,), or None
        None takes 5 % and 1 %.
    is_distance : bool
        Whether smaller scores mean bona fide.

    Returns
    -------
    log : Bunch
        A copy. Impostors are bona fide too.
    sections : tuple of AttackScores
    read_as : str
        Kind of the decisions.
    """
    score = -log.y_score if is_distance else log.y_score
    attack, rows = log.attempt == "attack", np.flatnonzero(log.captured)
    if not 0 < np.count_nonzero(attack[rows]) < rows.size:
        problem = "needs scores of attacks and of bona fide presentations;"
        remedy = "name the column that has the instrument of attacks alone (--species)."
        raise invalid("species", None, problem, remedy)
    people = np.arange(score.size) if log.identity is None else log.identity
    found = attack_detection(
        *(column[rows] for column in (score, attack, people, log.species)),
        bpcer=BPCER if bpcer is None else bpcer,
    )
    threshold = found.threshold[0]
    accepted = log.captured & (score >= threshold)
    attempt = np.where(attack, "attack", "genuine")
    section = AttackScores(found, -threshold if is_distance else threshold)
    line = (
        f"scores of attack detection, bona fide {'up to' if is_distance else 'from'} "
    )
    line += f"{section.threshold:.4g}, at a BPCER of {100 * found.level[0]:g} %"
    return Bunch(**log | {"accepted": accepted, "attempt": attempt}), (section,), line


class AttackScores:
    """A section of an audit: errors at other thresholds than that of the decisions.

    Parameters
    ----------
    found : AttackDetection
    threshold : float
        On the scale of the scores that were given.
    """

    title = "Attack detection by score"

    def __init__(self, found, threshold):
        self.found, self.threshold = found, threshold

    def measure(self, _):
        """Rows of the table, and the threshold of the decisions, for the JSON."""
        found, names = self.found, ("rate", "species", "level", "value", "low", "high")
        rows = zip(*(getattr(found, name).tolist() for name in names), strict=True)
        rows = [dict(zip(names, row, strict=True)) for row in rows]
        for row in rows:
            row["level"] = None if math.isnan(row["level"]) else row["level"]
        return {"threshold": self.threshold, "rates": rows}

    def document(self, record):
        """The threshold of the report, and a table without the rates at it."""
        first, *_ = record["rates"]
        rows = [
            (
                f"{NAMES[row['rate']]}, {row['species'] or 'all attacks'}",
                "-"
                if row["level"] is None
                else f"{OTHER[row['rate']]} {row['level']:.3g}",
                f"{percent(row['value'])} ({percents(row['low'], row['high'])})",
            )
            for row in record["rates"]
            if (row["rate"], row["level"]) != ("apcer", first["level"])
        ]
        caption = (
            "Thresholds are set on these data, and intervals allow for that. The BPCER is at the "
            "threshold at which the APCER of no species exceeds the level."
        )
        return [
            f"The rates of this report are at the threshold {number(record['threshold'])}, at "
            f"which the BPCER is at most {percent(first['level'])}.",
            (caption, ["Rate", "At", "Value"], rows),
        ]
