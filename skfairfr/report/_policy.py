"""A policy: the limits of a gate, in a file that is kept beside the system."""

import json
import math
import numbers
import os
import sys
import tomllib
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path

from skfairfr.report._checks import check_limits
from skfairfr.report._limits import LIMITS
from skfairfr.utils._errors import Argument, ArgumentError, plain, suggestion
from skfairfr.utils._validation import check_path

SHIPPED = files("skfairfr.report") / "policies"
USUAL_LEVEL = 0.95
MOST = sys.float_info.max
# The parser's time grows with the square of the parts of a key.
MOST_BYTES = 16_384
# Tables of ``at`` in a file have these keys.
KEYS_OF_AT = ("fmr", "threshold", "limits")
# What may be several in a file.
LISTS = ("fmr", "threshold", "attributes")
# Key -> what it may be, and how to write it.
MEANINGS = {
    "name": ("must be a text of one line", 'Write name = "door".'),
    "description": ("must be a text", 'Write description = "...", or leave it out.'),
    "allow_threshold": (
        "must be true or false",
        "Write allow_threshold = true, or leave it out.",
    ),
    "confidence_level": (
        "must lie in (0, 1)",
        "Write confidence_level = 0.95 for 95 %.",
    ),
    "fmr": (
        "must hold numbers in (0, 1)",
        "Write fmr = 1e-4, or several as fmr = [1e-3, 1e-4].",
    ),
    "threshold": (
        "must hold finite numbers",
        "Write threshold = 0.4, or several as threshold = [0.4, 0.5].",
    ),
    "attributes": (
        "must hold names of columns",
        'Write attributes = ["gender"], or leave it out.',
    ),
}


@dataclass(frozen=True)
class Policy:
    """A gate: limits, the operating points where they hold, and a confidence level.

    Parameters
    ----------
    name : str
        One line, printed above the checks.
    limits : dict of str -> float, default={}
        Those that hold at every level, as ``limits`` of :func:`audit_data`.
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
        Columns to audit by, each and in combination; none leaves them to the audit.
    description : str, default=""
        What the policy is for.

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
    skfairfr.utils._errors.ArgumentError: policy='gate': max_fmr must be a number in (0, 1), ...
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

    def __post_init__(self):
        if isinstance(self.name, str) and not self.name.isprintable():
            remedy = "Leave out line breaks, tabs and invisible characters."
            text = "name must be printable, on one line"
            raise _problem(self, text, self.name, remedy=remedy)
        for name, is_allowed in (
            ("name", lambda value: isinstance(value, str) and value.strip()),
            ("description", lambda value: isinstance(value, str)),
            ("allow_threshold", lambda value: isinstance(value, bool)),
            ("confidence_level", _is_share),
        ):
            if not is_allowed(getattr(self, name)):
                raise _misfit(self, name, getattr(self, name))
        fmr = _several(self, "fmr", _is_share)
        object.__setattr__(self, "fmr", tuple(map(float, fmr)))
        threshold = _several(self, "threshold", _is_number)
        object.__setattr__(self, "threshold", tuple(map(float, threshold)))
        # A float16 would round the arithmetic of the verdicts.
        object.__setattr__(self, "confidence_level", float(self.confidence_level))
        names = _several(self, "attributes", lambda v: isinstance(v, str) and v != "")
        object.__setattr__(self, "attributes", names)
        _check_operating_points(self)
        _check_all_limits(self)

    @classmethod
    def read(cls, source):
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
            A ValueError: if there is no such file or policy, or it holds something else.
        OSError
            If the system cannot read it.
        """
        label = check_path(source, "policy")
        path = Path(label)
        if label in cls.shipped():
            path = SHIPPED / _file_of(label)
        elif not os.path.isfile(path):  # which says no to a name that is too long, too
            raise _problem(
                label,
                "is neither a file nor a policy that is shipped",
                remedy=f"Give a file, or {', '.join(cls.shipped())}.",
            )
        return cls.from_dict(_values_of(path, label), label)

    @classmethod
    def from_dict(cls, values, source=None):
        """A policy from the tables of its file.

        Parameters
        ----------
        values : dict
            As ``tomllib`` reads the file. ``at`` is a list of tables with ``limits`` and
            either ``fmr`` or ``threshold``, which need not be repeated elsewhere.
        source : str, default=None
            The file, for messages; None takes the name.

        Returns
        -------
        policy : Policy

        Raises
        ------
        ArgumentError
            A ValueError: if a key is unknown, or a value cannot be used.
        """
        if not isinstance(values, dict):
            raise _problem(source, "must be tables of keys and values", values)
        source = values.get("name", "policy") if source is None else source
        known = [f.name for f in fields(cls)]
        _check_keys(source, values, known)
        if "name" not in values:
            raise _problem(source, "has no name", remedy='Write name = "...".')
        for name in LISTS:
            if isinstance(values.get(name), list | tuple) and not values[name]:
                remedy = f"{MEANINGS[name][1].split(', or')[0]}, or leave {name} out."
                text = f"{name} must not be empty"
                raise _problem(source, text, values[name], remedy=remedy)
        given = dict(values)
        if "at" in given:
            points, given["at"] = _single_levels(source, given["at"])
            for kind, levels in points.items():
                own = given.get(kind, ())
                own = own if isinstance(own, list | tuple) else (own,)
                given[kind] = (*own, *(x for x in levels if x not in own))
        try:
            return cls(**given)
        except ArgumentError as error:
            # The file is where to look, not the name in it.
            _, *problem = error.problem.parts
            about = Argument("policy", source)
            raise ArgumentError(about, *problem, remedy=error.remedy) from None

    @staticmethod
    def shipped():
        """Names of the policies that are shipped.

        Returns
        -------
        names : list of str
        """
        found = [p.name for p in SHIPPED.iterdir() if p.name.endswith(".toml")]
        return sorted(name.removesuffix(".toml").replace("_", "-") for name in found)

    @staticmethod
    def schema():
        """The JSON Schema of a policy's file.

        Returns
        -------
        schema : dict
            Of draft 2020-12.
        """
        return json.loads((SHIPPED / "schema.json").read_text(encoding="utf-8"))

    @property
    def all_limits(self):
        """Limits of any level, the strictest where several levels have one."""
        found = dict(self.limits)
        for limits in self.at.values():
            for name, limit in limits.items():
                found[name] = min(limit, found.get(name, math.inf))
        return found


@dataclass(frozen=True)
class Asked:
    """What an audit is asked for, by its options or by a policy.

    Attributes
    ----------
    data : EmbeddingData or PairData
        With the policy's attributes alone, if it names any.
    far, threshold : floats, sequences of such, or None
    limits, at : dicts
        As of a Policy.
    confidence_level : float in (0, 1)
    by_default : bool
        Whether nobody said where the system operates.
    settings : dict
        ``policy``, its name; empty without one.
    """

    data: object
    far: object
    threshold: object
    limits: dict
    at: dict
    confidence_level: float
    by_default: bool
    settings: dict

    @property
    def names(self):
        """Names of all limits, a set."""
        return {name for limits in (self.limits, *self.at.values()) for name in limits}


def settle(policy, data, far, threshold, threshold_from, limits, confidence_level):
    """What an audit is asked for, where a policy may decide it.

    Parameters
    ----------
    policy : Policy, str, path-like or None
    data : EmbeddingData or PairData
    far, threshold, threshold_from, limits, confidence_level : options
        As of :func:`audit_data`, None where they were not given.

    Returns
    -------
    asked : Asked
    """
    if policy is not None:
        policy = _as_policy(policy)
        given = {"far": far, "threshold": threshold, "threshold_from": threshold_from}
        given |= {"limits": limits, "confidence_level": confidence_level}
        _check_alone(policy, given)
        data = _by_attributes(policy, data)
    if threshold is not None and threshold_from is not None:
        raise ArgumentError(
            *(Argument("threshold", threshold), " and ", Argument("threshold_from")),
            " were both given; a threshold is given or set on other data:",
            remedy="leave one out.",
        )
    if policy is None:
        limits = {} if limits is None else limits
        check_limits(limits, threshold is None and threshold_from is None)
        level = USUAL_LEVEL if confidence_level is None else plain(confidence_level)
        by_default = far is None and threshold is None and threshold_from is None
        return Asked(data, far, threshold, limits, {}, level, by_default, {})
    if far is None and threshold is None:
        far, threshold = list(policy.fmr) or None, list(policy.threshold) or None
    try:
        check_limits(policy.all_limits, threshold is None and threshold_from is None)
    except ArgumentError as error:
        raise _about(policy, error) from None
    asked = policy.limits, policy.at, policy.confidence_level
    return Asked(data, far, threshold, *asked, False, {"policy": policy.name})


def _as_policy(policy):
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str | os.PathLike):
        return Policy.read(policy)
    raise ArgumentError(
        Argument("policy"),
        f" must be a Policy, its file or the name of one that is shipped; got "
        f"{plain(policy)!r}.",
        value=policy,
    )


def _by_attributes(policy, data):
    """The data with the policy's attributes alone, if it names any."""
    missing = [name for name in policy.attributes if name not in data.columns]
    if missing:
        raise _problem(
            policy,
            f"is about {', '.join(map(repr, missing))}, and the data have "
            f"{', '.join(map(repr, data.columns))}",
            remedy="Name the column so, or change the policy's attributes.",
        )
    if not policy.attributes:
        return data
    return replace(
        data, columns={name: data.columns[name] for name in policy.attributes}
    )


def _check_alone(policy, given):
    """Raise where an option could loosen what a policy sets."""
    points = "threshold" if policy.threshold else "fmr" if policy.fmr else None
    sets = {
        "far": points,
        "threshold": points if not policy.allow_threshold else None,
        "threshold_from": "threshold" if policy.threshold else None,
        "limits": "limits",
        "confidence_level": "confidence_level",
    }
    for name, own in sets.items():
        if given[name] is None or own is None:
            continue
        value = plain(given[name])
        what = [Argument(name, value)]
        if name == "threshold_from":
            what = [Argument(name)]
        elif name == "limits" and isinstance(value, dict) and value:
            what = [Argument(n, v) for n, v in value.items()]
            what = [part for one in what for part in (one, ", ")][:-1]
        raise ArgumentError(
            Argument("policy", policy.name),
            f" sets {own}, and ",
            *what,
            " was given too;",
            remedy="leave one out, or write into the policy what it is to ask.",
        )
    if points is None and given["far"] is None and given["threshold"] is None:
        raise ArgumentError(
            Argument("policy", policy.name),
            " leaves open where the system operates;",
            remedy=("give ", Argument("threshold"), " or ", Argument("far"), "."),
        )


# ---- the keys ------------------------------------------------------------------------


def _problem(policy, text, *value, remedy="", end="."):
    """An error about a policy, its name or its file."""
    label = getattr(policy, "name", policy)
    if value:
        text = f"{text}; got {plain(value[0])!r}"
    link = " " if text.startswith(("is ", "has ", "cannot ", "sets ")) else ": "
    about = Argument("policy", label), f"{link}{text}{end}"
    return ArgumentError(*about, remedy=remedy, value=label)


def _about(policy, error):
    """An error about limits as one about the policy that has them."""
    return _problem(policy, str(error.problem), remedy=str(error.remedy), end="")


def _misfit(policy, name, value):
    """An error about a value that a key cannot have."""
    meaning, remedy = MEANINGS[name]
    return _problem(policy, f"{name} {meaning}", value, remedy=remedy)


def _is_number(value):
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    return -MOST <= value <= MOST


def _is_share(value):
    return _is_number(value) and 0 < value < 1


def _check_keys(policy, values, known, table=None):
    """Raise where a table, by default the file itself, has a key that it may not have."""
    unknown = [key for key in values if key not in known]
    if not unknown:
        return
    keys = "key" if len(unknown) == 1 else "keys"
    named = ", ".join(repr(plain(key)) for key in unknown)
    where = "" if table is None else f" under {table}"
    remedy = f"{suggestion(unknown[0], known)}Known are {', '.join(known)}."
    if table != "limits" and unknown[0] in LIMITS:
        remedy = f"Write {unknown[0]} under limits."
    elif table is not None and unknown[0] in (f.name for f in fields(Policy)):
        remedy = f"Write {unknown[0]} above the first line in brackets, as [limits]."
    raise _problem(policy, f"has unknown {keys} {named}{where}", remedy=remedy)


def _several(policy, name, is_allowed):
    """One value, or a sequence of several, as a tuple."""
    values = getattr(policy, name)
    # Arrays and Series are sequences, too; what has other shapes is refused below.
    values = values.tolist() if hasattr(values, "tolist") else values
    found = tuple(values) if isinstance(values, list | tuple) else (values,)
    for value in found:
        if not is_allowed(value):
            raise _misfit(policy, name, value)
    if len(set(found)) < len(found):
        remedy = "Leave the second one out."
        raise _problem(policy, f"{name} must hold a value once", values, remedy=remedy)
    return found


def _check_operating_points(policy):
    if policy.fmr and policy.threshold:
        raise _problem(
            policy,
            "has fmr and threshold, and a threshold is set by its FMR or given",
            remedy="Leave one out.",
        )
    if not isinstance(policy.at, dict):
        raise _problem(policy, "at must be a dict of levels to limits", policy.at)
    points = policy.threshold or policy.fmr
    unknown = [point for point in policy.at if point not in points]
    if unknown:
        known = ", ".join(f"{point:g}" for point in points) or "none"
        text = f"at must be about its levels ({known})"
        raise _problem(policy, text, unknown[0], remedy="Add it to fmr or threshold.")
    if policy.allow_threshold and (policy.at or policy.threshold):
        own = "at" if policy.at else "threshold"
        raise _problem(
            policy,
            f"has allow_threshold and {own}, which another threshold would set aside",
            remedy="Leave one out.",
        )


def _check_all_limits(policy):
    is_set = not policy.threshold and not policy.allow_threshold
    for limits in (policy.limits, *policy.at.values()):
        if not isinstance(limits, dict):
            raise _problem(
                policy,
                "limits must be a table (in Python, a dict)",
                limits,
                remedy="Write limits = { max_fmr = 1e-4 }.",
            )
        _check_keys(policy, limits, LIMITS, "limits")
        try:
            check_limits(limits, is_set)
        except ArgumentError as error:
            raise _about(policy, error) from None
    if not policy.all_limits:
        raise _problem(
            policy,
            "sets no limit, so that every audit would pass",
            remedy=f"Give one of {', '.join(LIMITS)} under limits.",
        )


def _single_levels(source, tables):
    """Levels and thresholds of the tables under ``at``, and the limits of each."""
    of_tables = isinstance(tables, list | tuple) and len(tables) > 0
    if not of_tables or not all(isinstance(table, dict) for table in tables):
        remedy = (
            "Write [[at]], and below it fmr = 1e-3 and limits = { max_fnmr = 0.01 }."
        )
        text = "at must be a list of tables ([[at]])"
        raise _problem(source, text, tables, remedy=remedy)
    points, at = {"fmr": [], "threshold": []}, {}
    for table in tables:
        _check_keys(source, table, KEYS_OF_AT, "at")
        kinds = [kind for kind in points if kind in table]
        if len(kinds) != 1 or not table.get("limits"):
            text = "every table under at must have limits, and either fmr or threshold"
            remedy = "Write fmr = 1e-3 and limits = { max_fnmr = 0.01 }."
            raise _problem(source, text, table, remedy=remedy)
        (kind,) = kinds
        if not _is_number(table[kind]):
            text = f"{kind} under at must be one finite number"
            remedy = f"Write one [[at]] with {kind} = 0.1 for each."
            raise _problem(source, text, table[kind], remedy=remedy)
        point = float(table[kind])
        if point in at:
            remedy = "Write its limits into one table."
            raise _problem(source, "at must name a level once", point, remedy=remedy)
        points[kind].append(point)
        at[point] = table["limits"]
    return {kind: levels for kind, levels in points.items() if levels}, at


def _values_of(path, label):
    """Tables of a policy's file."""
    try:
        with open(path, "rb") as file:
            written = file.read(MOST_BYTES + 1)
        if len(written) > MOST_BYTES:
            text = f"is no policy: it has more than {MOST_BYTES:,} bytes"
            raise _problem(label, text, remedy="Keep what the schema names.")
        # Some editors put a mark of the encoding first.
        return tomllib.loads(written.decode("utf-8-sig"))
    except OSError as error:
        raise _problem(label, f"cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        text = f"is no text in UTF-8, in line {line}"
        raise _problem(label, text, remedy="Save it in that encoding.") from None
    except RecursionError:
        text = "holds lists or tables inside each other without end"
        raise _problem(label, text, remedy="Close each on its line.") from None
    except tomllib.TOMLDecodeError as error:
        found = "".join(c if c.isprintable() else " " for c in str(error))
        remedy = 'Write key = value on each line: text in "", numbers as 0.01 or 1e-4.'
        raise _problem(label, f"is no TOML: {found}", remedy=remedy) from None


def _file_of(name):
    return name.replace("-", "_") + ".toml"
