"""What an audit found: plain frozen records of numbers and labels, and their JSON.

Nothing is computed here. Rates are named ``far`` and ``frr`` as everywhere in the package
(FMR and FNMR of ISO/IEC 19795), lower being better; disparities are larger where groups
are treated less alike.
"""

import json
import math
from dataclasses import asdict, dataclass

import numpy as np

SCHEMA_VERSION = 2


@dataclass(frozen=True)
class Figure:
    """One number with its interval, nan where undefined.

    Attributes
    ----------
    value, low, high, standard_error : float
    supported : bool
        Whether the data carry it; see :class:`skfairfr.metrics.Estimate`.
    reason : str
        Why not, and where it comes from if not from all pairs.
    """

    value: float
    low: float
    high: float
    standard_error: float
    supported: bool
    reason: str

    @classmethod
    def undefined(cls, reason):
        """A number that the data have no pairs for."""
        return cls(math.nan, math.nan, math.nan, math.nan, False, reason)


@dataclass(frozen=True)
class GroupRow:
    """Size of a group and its equal error rate; ``group`` None is everyone.

    ``n_images`` is None where scored pairs do not name their images.
    """

    group: object
    n_identities: int
    n_images: int | None
    n_genuine: int
    n_impostor: int
    equal_error_rate: Figure


@dataclass(frozen=True)
class GroupRates:
    """Rates of a group at the threshold of a level; ``group`` None is over all pairs."""

    group: object
    far: Figure
    frr: Figure


@dataclass(frozen=True)
class Disparity:
    """One disparity of the groups' FAR and of their FRR.

    ``neutral`` is its value when all groups have the same rate; larger is less fair.
    """

    how: str
    operating_point: str
    neutral: float
    far: Figure
    frr: Figure


@dataclass(frozen=True)
class Finding:
    """The group with the highest rate against that with the lowest.

    Attributes
    ----------
    rate : {"far", "frr"}
    worst, best : labels
        Among the groups compared; None where there are not two.
    ratio : Figure
        Rate of ``worst`` over that of ``best``. Its interval can include 1, as that of
        max_min cannot. Among more than two groups it is widened to hold for every two of
        them at once, since these two were picked for being the extremes.
    n_compared : int
        Groups that the two were picked from.
    not_compared : tuple of labels
        Groups that the data do not support, left out where two others remain.
    verdict : {"worse", "undecided", "unsupported"}
        Whether the interval excludes 1, includes it, or cannot be relied upon.
    """

    rate: str
    worst: object
    best: object
    ratio: Figure
    n_compared: int
    not_compared: tuple
    verdict: str


@dataclass(frozen=True)
class Level:
    """Everything at one FAR level, or at one threshold.

    Attributes
    ----------
    far : float in (0, 1) or None
        The level that the threshold was set for; None of a given one.
    threshold, worst_group_threshold : float
        Similarity (minus a distance) from which on a pair is accepted, so that the FAR of
        all impostor pairs, or that of every group, meets the level; the second is nan where the
        threshold was not set on these data.
    rates : tuple of GroupRates
        At ``threshold``; everyone first, then the groups.
    disparities : tuple of Disparity
    findings : tuple of Finding
        Of the FAR, then of the FRR.
    set_on : {"these data", "other data", "given"}
        Where the threshold comes from.
    """

    far: float | None
    threshold: float
    worst_group_threshold: float
    rates: tuple
    disparities: tuple
    findings: tuple
    set_on: str = "these data"


@dataclass(frozen=True)
class Other:
    """The same levels measured with one setting changed, to stand beside the audit's.

    Attributes
    ----------
    setting : {"resample", "average"}
    value : str
        What the setting was changed to.
    levels : tuple of Level
        With max_min at the overall threshold alone; empty if impossible.
    reason : str
        Why impossible.
    """

    setting: str
    value: str
    levels: tuple
    reason: str = ""


@dataclass(frozen=True)
class Audit:
    """An audit of a verification system by one attribute.

    Attributes
    ----------
    attribute : str
        Name of the attribute.
    settings : dict
        Options of the measurement.
    n_unknown : int
        Images of unknown group, which count overall and in no group.
    largest_genuine_share : float in [0, 1]
        Share of the genuine pairs that one person supplies.
    groups : tuple of GroupRow
        Everyone first.
    levels : tuple of Level
        Largest FAR first.
    resampled : Other
        With what intervals are about changed.
    averaged : Other or None
        With the average changed, where one person supplies over 5 % of the genuine pairs.
    notes : tuple of str
        What was undefined, left out or could not be resolved.
    """

    attribute: str
    settings: dict
    n_unknown: int
    largest_genuine_share: float
    groups: tuple
    levels: tuple
    resampled: Other
    averaged: Other | None
    notes: tuple

    def to_json(self, **about):
        """JSON of a report of this audit alone; see :meth:`Report.to_json`."""
        return Report((self,)).to_json(**about)


@dataclass(frozen=True)
class Cell:
    """How many people stand where attributes cross.

    Attributes
    ----------
    groups : tuple of labels
        One of each attribute; None is unknown.
    n_identities : int
    n_images : int or None
        None where scored pairs do not name their images.
    """

    groups: tuple
    n_identities: int
    n_images: int | None


@dataclass(frozen=True)
class Crossing:
    """Every combination of the groups of several attributes, empty ones included."""

    attributes: tuple
    cells: tuple


@dataclass(frozen=True)
class Check:
    """Whether a disparity stays within a limit, as far as its interval tells.

    Attributes
    ----------
    name : str
        Of the option that set the limit.
    limit : float > 1
    attribute : str
    far : float in (0, 1) or None
    threshold : float
        Operating point, as of a Level.
    figure : Figure
        The disparity, larger being less fair.
    not_covered : tuple of labels
        Groups without the pairs it needs, of which it says nothing.
    verdict : {"passed", "failed", "undetermined"}
        Passed where the data support the interval and it ends at the limit or below; failed
        where it begins above.
    """

    name: str
    limit: float
    attribute: str
    far: float | None
    threshold: float
    figure: Figure
    not_covered: tuple
    verdict: str


@dataclass(frozen=True)
class Report:
    """Audits of one set of data.

    Attributes
    ----------
    audits : tuple of Audit
        By each attribute, then by their combinations.
    crossings : tuple of Crossing
        For each combination of attributes who stands in its cells.
    checks : tuple of Check
    """

    audits: tuple
    crossings: tuple = ()
    checks: tuple = ()

    def to_json(self, **about):
        """Strict JSON: nan as null, infinities as "Infinity" and "-Infinity".

        Parameters
        ----------
        **about : JSON-able values
            Said before the audits, such as the version of the package.

        Returns
        -------
        text : str
        """
        record = {"schema_version": SCHEMA_VERSION, **about, **asdict(self)}
        return json.dumps(_plain(record), indent=1, allow_nan=False, default=str) + "\n"


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
