"""A policy: the limits of a gate, in a file that is kept next to the system.

The contents of a file are specified once, in ``policies/schema.json``. An error quotes the
``description`` of the key.
"""

from __future__ import annotations

import json
import math
import os
import tomllib
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self

import numpy as np

from skfairfr._core._kinds import SEARCHES
from skfairfr._text._words import terms_of
from skfairfr.utils._bands import band_names, split_bands
from skfairfr.utils._errors import invalid, plain, suggestion
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_path, to_float

# Limit -> the rate that it is about, the operating point, and the disparity of the groups'
# rates that it limits, or None where it limits the rate of each group.
LIMITS = {
    "max_fmr": ("far", "overall", None),
    "max_fnmr": ("frr", "overall", None),
    "max_bfar": ("far", "worst_group", "max_min"),
    "max_bfrr": ("frr", "worst_group", "max_min"),
    "max_fmr_ratio": ("far", "overall", "max_min"),
    "max_fnmr_ratio": ("frr", "overall", "max_min"),
    "max_fmr_geomean_ratio": ("far", "overall", "max_geomean"),
    "max_fnmr_geomean_ratio": ("frr", "overall", "max_geomean"),
}
RATE_LIMITS = ("max_fmr", "max_fnmr")
# Limits of searches, whose thresholds are not set by groups, as those of comparisons.
OF_SEARCHES = {
    SEARCHES.limit(name): name for name, (_, at, _) in LIMITS.items() if at == "overall"
}


def limited(name, settings):
    """The rate, operating point and disparity that a limit is about.

    The rate of decisions is in the slot ``frr``, whatever its kind.
    """
    rate, *about = LIMITS[name]
    if "decisions" in settings:
        of_kind = terms_of(settings).frr.limit in name.split("_")
        rate = "frr" if of_kind else "far"
    return (rate, *about)


# Limit -> the costs that it is about, the first that was measured.
COST_LIMITS = {"max_dcf": ("dcf", "min_dcf"), "max_cllr": ("cllr",)}
# Probability that an undetermined check has a result with the number of people reported for
# it. With 1/2, one comparison of two would be as likely as not.
POWER = 0.8
SHIPPED = files("skfairfr.report") / "policies"
USUAL_LEVEL = 0.95
# The parser's time grows with the square of the parts of a key.
MOST_BYTES = 16_384
# What may be several in a file.
POINTS = ("fmr", "threshold")
LISTS = (*POINTS, "attributes", "p_target")


@dataclass(frozen=True)
class Policy:
    """A gate: limits, the operating points where they apply, and a confidence level.

    Parameters
    ----------
    name : str
        One line, printed above the checks.
    limits : dict of str -> float, default={}
        Limits at every level, as ``limits`` in :func:`audit_data`.
    fmr : float in (0, 1) or sequence of such, shape (n_levels,), default=()
        Levels to operate at. A policy without levels and thresholds leaves the operating
        point to the arguments of the audit.
    threshold : float or sequence of floats, shape (n_levels,), default=()
        Scores from which on the system accepts (of distances, up to which), instead.
    at : dict of float -> dict, default={}
        Further limits of single levels, which are among ``fmr``, or of single thresholds.
        They replace those of the same name in ``limits`` there.
    allow_threshold : bool, default=False
        Whether an audit may give the threshold at which a system operates, instead of
        ``fmr``. Only for limits that no choice of a threshold can loosen, as FMR and FNMR
        together are.
    confidence_level : float in (0, 1), default=0.95
        One minus the share of wrong verdicts that is put up with.
    attributes : str or sequence of str, shape (n_attributes,), default=()
        Columns to audit by, each and in combination. None leaves them to the audit.
    description : str, default=""
        Purpose of the policy.
    search : dict, default={}
        The same of searches (1:N), for :func:`identify_data`: ``fpir``, as ``fmr``, and
        ``limits`` by its names.
    p_target : float in (0, 1) or sequence of such, shape (n_points,), default=()
        Operating points of ``max_dcf``. None leaves them to the audit.
    llr : bool, default=False
        Whether scores have to be log-likelihood ratios, as ``max_cllr`` requires.

    Raises
    ------
    ArgumentError
        A ValueError, which names the key, the value and what to do.

    See Also
    --------
    audit_data : Takes a policy, its name or its file.

    Examples
    --------
    >>> from skfairfr.report import Policy
    >>> Policy("gate", {"max_fnmr": 0.02}, fmr=1e-3).fmr
    (0.001,)
    >>> Policy.read("sp800-63a-4").limits
    {'max_fmr': 0.0001, 'max_fnmr': 0.01}
    >>> Policy("gate", {"max_fmr": 2})
    Traceback (most recent call last):
    skfairfr.utils._errors.ArgumentError: policy 'gate': limits.max_fmr must be a number ...
    """

    name: str
    limits: dict = field(default_factory=dict)
    fmr: tuple = ()
    threshold: tuple = ()
    at: dict = field(default_factory=dict)
    allow_threshold: bool = False
    confidence_level: float = USUAL_LEVEL
    attributes: tuple = ()
    description: str = ""
    search: dict = field(default_factory=dict)
    p_target: tuple = ()
    llr: bool = False

    def __post_init__(self):
        for name in LISTS:
            object.__setattr__(self, name, _several(getattr(self, name)))
        _check_tables(self.name, self._tables())
        # A float16 would round the arithmetic of the verdicts.
        for name in ("fmr", "threshold", "p_target"):
            object.__setattr__(self, name, tuple(map(float, getattr(self, name))))
        object.__setattr__(self, "confidence_level", float(self.confidence_level))
        self._check_rules()

    @classmethod
    def read(cls, source: FilePath) -> Self:
        """Read a policy from its file, or one that is shipped by its name.

        Parameters
        ----------
        source : str or path-like
            A TOML file, or one of :meth:`shipped`.

        Returns
        -------
        policy : Policy

        Raises
        ------
        ArgumentError
            A ValueError: if there is no such file or policy, or it contains something else.
        OSError
            If the system cannot read it.
        """
        label = check_path(source, "policy")
        path = Path(label)
        if label in cls.shipped():
            path = SHIPPED / (label.replace("-", "_") + ".toml")
        elif not os.path.isfile(path):  # also False for a name that is too long
            known = ", ".join(cls.shipped())
            raise _refused(
                label,
                "is not a file or a policy that is shipped.",
                f"Name a file, or {known}.",
            )
        try:
            return cls.from_dict(_values_of(path, label), label)
        except RecursionError:
            text = (
                "no policy: it contains tables or lists inside each other without end."
            )
            raise _refused(label, text, "Keep what the schema names.") from None

    @classmethod
    def from_dict(cls, values: dict, source: str | None = None) -> Self:
        """A policy from the tables of its file.

        Parameters
        ----------
        values : dict
            As ``tomllib`` reads the file. ``at`` is a list of tables with ``limits`` and
            either ``fmr`` or ``threshold``, which need not be repeated elsewhere.
        source : str, default=None
            The file, for messages. If None: the name.

        Returns
        -------
        policy : Policy

        Raises
        ------
        ArgumentError
            A ValueError: if a key is unknown, or a value cannot be used.
        """
        if source is None:
            source = values.get("name") if isinstance(values, dict) else None
        _check_tables(source, values)
        if "at" not in values:
            return cls(**values)
        at, points = {}, {name: _several(values.get(name, ())) for name in POINTS}
        for table in values["at"]:
            kind = "fmr" if "fmr" in table else "threshold"
            if table[kind] in at:
                text = f"at has two tables of {kind} = {table[kind]:g};"
                raise _refused(source, text, "write their limits into one.")
            at[table[kind]] = table["limits"]
            if table[kind] not in points[kind]:
                points[kind] += (table[kind],)
        return cls(**values | points | {"at": at})

    @staticmethod
    def shipped() -> list[str]:
        """Names of the policies that are shipped.

        Returns
        -------
        names : list of str
        """
        found = [p.name for p in SHIPPED.iterdir() if p.name.endswith(".toml")]
        return sorted(name.removesuffix(".toml").replace("_", "-") for name in found)

    @staticmethod
    def schema() -> dict:
        """The JSON Schema of a policy's file.

        Returns
        -------
        schema : dict
            JSON Schema of draft 2020-12.
        """
        return json.loads((SHIPPED / "schema.json").read_text(encoding="utf-8"))

    def for_search(self) -> Self:
        """The policy of searches, as that of an audit of comparisons.

        Returns
        -------
        policy : Policy

        Raises
        ------
        ArgumentError
            A ValueError: if it has no limits of searches.
        """
        if not self.search:
            text = "it has no limits of searches;"
            raise _refused(self.name, text, "write them under [search.limits].")
        return Policy(
            self.name,
            {OF_SEARCHES[name]: v for name, v in self.search["limits"].items()},
            fmr=self.search.get("fpir", ()),
            allow_threshold=True,
            confidence_level=self.confidence_level,
            attributes=self.attributes,
        )

    @property
    def all_limits(self) -> dict:
        """Limits of any level, the strictest where several levels have one."""
        found = dict(self.limits)
        for limits in self.at.values():
            for name, limit in limits.items():
                found[name] = min(limit, found.get(name, math.inf))
        return found

    def _tables(self):
        """The policy as its file has it."""
        tables = {f.name: getattr(self, f.name) for f in fields(self)}
        if isinstance(self.at, dict):
            kind = "threshold" if self.threshold else "fmr"
            tables["at"] = [{kind: p, "limits": of} for p, of in self.at.items()]
        return {
            name: value
            for name, value in tables.items()
            if not isinstance(value, dict | list | tuple) or len(value)
        }

    def _check_rules(self):
        """Raise where keys contradict each other, which the schema cannot say."""
        points = self.threshold or self.fmr
        unknown = [point for point in self.at if point not in points]
        if unknown:
            known = ", ".join(f"{point:g}" for point in points) or "none"
            raise _refused(
                self.name,
                f"at must be about its levels ({known}), got {plain(unknown[0])!r}.",
                "Add it to fmr or threshold.",
            )
        of_level = {name for limits in self.at.values() for name in limits}
        if of_costs := sorted(of_level & COST_LIMITS.keys()):
            text = f"at has {of_costs[0]}, which is of all levels;"
            raise _refused(self.name, text, "write it under [limits].")
        if self.allow_threshold and (self.at or self.threshold):
            own = "at" if self.at else "threshold"
            raise _refused(
                self.name,
                f"it has allow_threshold and {own}, which another threshold would set "
                "aside;",
                "leave one out.",
            )
        if self.threshold or self.allow_threshold:
            check_operating_point(self.all_limits, self.name)


@dataclass(frozen=True)
class AuditRequest:
    """Options of an audit, given directly or by a policy.

    Attributes
    ----------
    data : EmbeddingData or PairData
        With the policy's attributes alone, if it names any.
    far, threshold : floats, sequences of such, or None
    limits, at : dicts
        As of a Policy.
    confidence_level : float in (0, 1)
    settings : dict
        ``policy``, its name, or empty without one.
    p_target, llr : options
        See :func:`audit_data`.
    """

    data: object
    far: object
    threshold: object
    limits: dict
    at: dict
    confidence_level: float
    settings: dict
    p_target: object
    llr: bool

    @property
    def names(self):
        """Names of all limits at operating points, a set."""
        every = (name for of in (self.limits, *self.at.values()) for name in of)
        return {name for name in every if name in LIMITS}


def resolve_request(policy, data, given, llr):
    """Options of an audit that a policy may set.

    Parameters
    ----------
    policy : Policy, str, path-like or None
    data : EmbeddingData or PairData
    given : dict
        ``far``, ``threshold``, ``threshold_from``, ``threshold_group``, ``limits``,
        ``confidence_level`` and ``p_target`` of :func:`audit_data`. None is not given.
    llr : bool

    Returns
    -------
    asked : AuditRequest
    """
    far, threshold, limits = given["far"], given["threshold"], given["limits"]
    threshold_from, p_target = given["threshold_from"], given["p_target"]
    given_point = threshold is not None or threshold_from is not None
    if policy is not None:
        policy = as_policy(policy)
        _check_alone(policy, given)
        if not (policy.fmr or policy.threshold) and far is None and threshold is None:
            raise _refused(
                policy.name,
                "it leaves open where the system operates;",
                "give the level or the threshold as well.",
            )
        data = _by_attributes(policy, data)
    if threshold is not None and threshold_from is not None:
        raise invalid(
            "threshold",
            plain(threshold),
            "and threshold_from were both given, but a threshold is either given or set on "
            "other data.",
            "Leave one out.",
        )
    if policy is None:
        if limits is not None:
            check_limits(limits)
            _check_costs(limits, p_target, llr)
        limits = {} if limits is None else limits
        if given_point:
            check_operating_point(limits)
        level = given["confidence_level"]
        level = USUAL_LEVEL if level is None else plain(level)
        return AuditRequest(data, far, threshold, limits, {}, level, {}, p_target, llr)
    if far is None and threshold is None:
        far, threshold = list(policy.fmr) or None, list(policy.threshold) or None
    if given_point:
        check_operating_point(policy.all_limits, policy.name)
    asked = policy.limits, policy.at, policy.confidence_level
    costs = list(policy.p_target) or p_target, policy.llr or llr
    _check_costs(policy.limits, *costs)
    return AuditRequest(data, far, threshold, *asked, {"policy": policy.name}, *costs)


def _check_costs(limits, p_target, llr):
    """Raise if a limit of a cost lacks what it needs."""
    for name in [n for n in COST_LIMITS if n in limits]:
        wanted = "log-likelihood ratios (--llr, in Python llr=True)"
        if name == "max_dcf":
            wanted = "shares of genuine pairs (--p-target, in Python p_target)"
        if p_target is None if name == "max_dcf" else not llr:
            raise invalid(name, limits[name], f"needs {wanted};", "give them too.")


def settle_limits(policy, limits, confidence_level):
    """Limits of any operating point, which a policy may set.

    Parameters
    ----------
    policy : Policy, str, path-like or None
    limits, confidence_level : options
        See :func:`audit_data`, None where they were not given.

    Returns
    -------
    limits : dict of str -> float
        Of a policy, the strictest where several levels have one.
    confidence_level : float in (0, 1)
    settings : dict
        ``policy``, its name, or empty without one.
    """
    if policy is None:
        limits = {} if limits is None else limits
        check_limits(limits)
        level = USUAL_LEVEL if confidence_level is None else plain(confidence_level)
        return limits, level, {}
    policy = as_policy(policy)
    _check_alone(policy, {"limits": limits, "confidence_level": confidence_level})
    return policy.all_limits, policy.confidence_level, {"policy": policy.name}


def as_policy(policy):
    """A policy from itself, its file or its name."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str | os.PathLike):
        return Policy.read(policy)
    raise invalid(
        "policy",
        policy,
        "must be a Policy, its file or the name of one that is shipped, got "
        f"{plain(policy)!r}.",
    )


def _by_attributes(policy, data):
    """The data with the policy's attributes alone, if it names any."""
    columns, asked = data.columns, []
    for attribute in policy.attributes:
        name, cuts = (
            (attribute, None) if attribute in columns else split_bands(attribute)
        )
        asked.append(name)
        found = {*np.ravel(columns.get(name, ())).tolist()} - {None}
        if isinstance(cuts, list) and not found <= {*band_names(cuts)}:
            problem = f"it is about {attribute!r}, and the data have other groups of {name!r}."
            remedy = (
                "Read the data with this attribute, or use skfairfr.utils.to_bands."
            )
            raise _refused(policy.name, problem, remedy)
    missing = [name for name in asked if name not in columns]
    if missing:
        raise _refused(
            policy.name,
            f"it is about {', '.join(map(repr, missing))}, and the data have "
            f"{', '.join(map(repr, data.columns))}.",
            "Name the column so, or change the policy's attributes.",
        )
    if not policy.attributes:
        return data
    return replace(data, columns={name: data.columns[name] for name in asked})


def _check_alone(policy, given):
    """Raise where an option could loosen what a policy sets."""
    points = "threshold" if policy.threshold else "fmr" if policy.fmr else None
    sets = {
        "far": points,
        "threshold": points if not policy.allow_threshold else None,
        "threshold_from": "threshold" if policy.threshold else None,
        "threshold_group": points,
        "p_target": "p_target" if policy.p_target else None,
        "limits": "limits",
        "confidence_level": "confidence_level",
    }
    for name, own in sets.items():
        value = given.get(name)
        if value is None or own is None:
            continue
        if name == "limits" and isinstance(value, dict):
            name = next(iter(value), name)
        problem = f"was given, and the policy {policy.name!r} sets {own};"
        remedy = "leave one out, or write into the policy what it is to ask."
        raise invalid(name, value, problem, remedy)


# ---- limits -------------------------------------------------------------------------


def verdict_of(figure, limit):
    """Verdict of an interval about a limit. Undetermined where there is none."""
    if figure.low > limit:
        return "failed"
    return "passed" if figure.high <= limit else "undetermined"


def limits_of(audit):
    """Limits on rates, to be drawn.

    Parameters
    ----------
    audit : Audit
        With its checks.

    Returns
    -------
    limits : dict of str -> ndarray, shape (n_levels,)
        nan where a level has none.
    """
    found = {}
    for check in audit.checks:
        if check.name in RATE_LIMITS:
            rate, *_ = limited(check.name, audit.settings)
            point = check.far, check.threshold
            at = [(level.far, level.threshold) == point for level in audit.levels]
            known = found.setdefault(rate, np.full(len(at), np.nan))
            found[rate] = np.where(at, check.limit, known)
    return found


def check_operating_point(limits, policy=None):
    """Raise where a limit is about a threshold that the audited data set, and it was given.

    Parameters
    ----------
    limits : dict of str -> float
        With keys of LIMITS.
    policy : str, default=None
        Name of the policy that has them.
    """
    problem = (
        "is about the threshold where no group's FMR exceeds a level, and the threshold was "
        "given;"
    )
    for name in ("max_bfar", "max_bfrr"):
        if name in limits:
            other = name.replace("bfar", "fmr_ratio").replace("bfrr", "fnmr_ratio")
            remedy = f"use {other}, or leave the threshold to an FMR level."
            if policy is None:
                raise invalid(name, limits[name], problem, remedy)
            raise _refused(policy, f"{name} {problem}", remedy)


# ---- the keys ------------------------------------------------------------------------


def check_limits(limits):
    """Raise unless limits of an audit are those that a policy may have."""
    error = _first_error(limits, "limits")
    if error is None:
        return
    argument = next(iter(error.path), "limits")
    problem, remedy = _problem_and_remedy(error)
    raise invalid(argument, error.instance, problem, remedy)


def _check_tables(label, tables):
    """Raise, with the path of the key, unless tables are what the schema describes."""
    error = _first_error(tables, None)
    if error is not None:
        path = error.json_path.removeprefix("$").removeprefix(".")
        problem, remedy = _problem_and_remedy(error)
        raise _refused(label, f"{path} {problem}".lstrip(), remedy)


def _problem_and_remedy(error):
    """What is wrong with an instance, by an error of the schema, and what to do."""
    if error.validator != "additionalProperties":
        got = f", got {plain(error.instance)!r}" if error.path else ""
        return f"must be {error.schema['description']}{got}.", ""
    known = list(error.schema["properties"])
    unknown = [key for key in error.instance if key not in known]
    remedy = f"{suggestion(unknown[0], known)}Known are {', '.join(known)}."
    if "limits" in known and unknown[0] in LIMITS:
        remedy = f"Write {unknown[0]} under limits."
    elif error.path and unknown[0] in Policy.__dataclass_fields__:
        remedy = f"Write {unknown[0]} above the first line in brackets, as [limits]."
    keys = "key" if len(unknown) == 1 else "keys"
    return f"has the unknown {keys} {', '.join(map(repr, plain(unknown)))}.", remedy


def _first_error(instance, part):
    """The outermost error of an instance by a part of the schema, or None without any."""
    errors = _validator(part).iter_errors(instance)
    return min(errors, key=lambda error: len(error.path), default=None)


@cache
def _validator(part):
    # It takes a tenth of a second to load.
    from jsonschema import Draft202012Validator, validators

    # Tuples are lists here, and nan or an integer beyond floats is no number.
    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "array": lambda _, value: isinstance(value, list | tuple),
            "number": lambda _, value: math.isfinite(to_float(value)),
        }
    )
    schema = Policy.schema()
    if part is not None:
        schema = {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
    return validators.extend(Draft202012Validator, type_checker=types)(schema)


def _several(values):
    """One value, or a sequence of several, as a tuple."""
    # Arrays and Series are sequences, too. Other shapes are an error below.
    values = values.tolist() if hasattr(values, "tolist") else values
    return tuple(values) if isinstance(values, list | tuple) else (values,)


def _refused(label, problem, remedy=""):
    """The error that a policy, known by its name or its file, cannot be used."""
    about = "" if label is None else f"{plain(label)!r}: "
    return invalid("policy", label, f"{about}{problem}", remedy)


def _values_of(path, label):
    """Tables of a policy's file."""
    try:
        with open(path, "rb") as file:
            written = file.read(MOST_BYTES + 1)
        if len(written) > MOST_BYTES:
            text = f"no policy: it has more than {MOST_BYTES:,} bytes."
            raise _refused(label, text, "Keep what the schema names.")
        # Some editors put a mark of the encoding first.
        return tomllib.loads(written.decode("utf-8-sig"))
    except OSError as error:
        raise _refused(label, f"cannot be read ({error.strerror}).") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        found = "".join(c if c.isprintable() else " " for c in str(error))
        remedy = 'Write key = value on each line: text in "", numbers as 0.01 or 1e-4.'
        raise _refused(label, f"no TOML: {found}.", remedy) from None
