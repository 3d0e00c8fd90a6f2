"""RateMonitor: rates of groups over time, with verdicts that are valid at any time."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._betting import (
    SHARES,
    START_OF_RATE,
    START_OF_RATIO,
    TIMES,
    bet_on_rates,
    bet_on_ratios,
    confidence_sequence,
)
from skfairfr._core._jackknife import holm
from skfairfr._core._resampling import places_among_equals
from skfairfr._text._words import plain_form
from skfairfr.utils._bands import check_groups
from skfairfr.utils._errors import invalid
from skfairfr.utils._folder import whole_file
from skfairfr.utils._frames import Framed
from skfairfr.utils._labels import (
    check_length,
    check_not_exchanged,
    check_spelling,
    encode,
    spellings,
)
from skfairfr.utils._saved import damage_named
from skfairfr.utils._types import Column, FilePath
from skfairfr.utils._validation import (
    RATE,
    check_count,
    check_number,
    plain,
    to_numbers,
    warn_caller,
)

# 2: the report shares the error probability between first attempts and single logs.
FORMAT = 2
# What the history keeps of a finding.
OF_HISTORY = ("how", "limit", "e_value", "verdict")
MOST_ATTEMPTS = 100
# What limits may be of, and the range of each.
LIMITED = {
    None: (lambda x: 0 < x < 1, "must be a rate in (0, 1)"),
    "max_min": (lambda x: 1 <= x < np.inf, "must be a ratio of at least 1"),
}


@dataclass(frozen=True)
class WatchedRates(Framed):
    """Rates of the groups so far, with confidence sequences.

    Attributes
    ----------
    groups : tuple, shape (n_groups,)
        Labels, in the order in which they were first seen.
    n_people : ndarray of int, shape (n_groups,)
        People who count.
    value : ndarray, shape (n_groups,)
        Mean of their errors, in [0, 1]. Lower is better. NaN without people.
    low, high : ndarrays, shape (n_groups,)
        Ends of the confidence sequence, in [0, 1]: of a rate that does not change, all
        intervals that were ever read cover the rates together with the confidence level.
    n_attempts : ndarray of int, shape (n_groups,)
        All attempts, those of people who had counted before included.
    n_errors : ndarray, shape (n_groups,)
        Errors among all attempts.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    RateMonitor.update : Returns it, within a state.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.metrics import RateMonitor
    >>> rng = np.random.default_rng(0)
    >>> person = rng.integers(0, 400, 4000)
    >>> group = np.where(person % 2, "f", "m")
    >>> rejected = rng.random(4000) < np.where(group == "f", 0.3, 0.03)
    >>> rates = RateMonitor(limit=2).update(rejected, person, group).rates
    >>> rates.groups, rates.value.round(3)
    (('f', 'm'), array([0.34 , 0.025]))
    """

    groups: tuple
    n_people: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_attempts: np.ndarray
    n_errors: np.ndarray


@dataclass(frozen=True)
class WatchedLimit:
    """State of one limit, of a group or of two.

    Attributes
    ----------
    how : str or None
        "max_min" of a ratio. None of a rate.
    limit : float
        A rate in (0, 1), or a ratio of at least 1.
    groups : tuple of labels
        The group, or the two, that with the larger rate so far first.
    value : float
        The rate in [0, 1], or the ratio, so far. Larger is worse, nan where it is undefined.
    e_value : float
        The largest wealth so far of the bets that the limit is exceeded, 0 or more: a large
        one is evidence that it is.
    p_value : float
        One over it, in (0, 1], valid at any time.
    p_adjusted : float
        The same for all limits and groups together (Holm), in (0, 1].
    verdict : str
        "failed" where the limit is exceeded, else "undetermined".

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    RateMonitor.update : Returns it, within a state.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.metrics import RateMonitor
    >>> rng = np.random.default_rng(0)
    >>> person = rng.integers(0, 400, 4000)
    >>> group = np.where(person % 2, "f", "m")
    >>> rejected = rng.random(4000) < np.where(group == "f", 0.3, 0.03)
    >>> state = RateMonitor(limit=2).update(rejected, person, group)
    >>> limit = state.findings[0]
    >>> limit.groups, limit.verdict, bool(limit.p_value < 0.05)
    (('f', 'm'), 'failed', True)
    """

    how: str | None
    limit: float
    groups: tuple
    value: float
    e_value: float
    p_value: float
    p_adjusted: float
    verdict: str


@dataclass(frozen=True)
class MonitorState:
    """State of a monitor after an update.

    Attributes
    ----------
    rates : WatchedRates
        Rates of every group, lower being better.
    findings : tuple of WatchedLimit
        One for each limit of a rate and group, and for each limit of a ratio and two groups.
    n_people : int
        People who count.
    n_unknown : int
        Attempts of people of unknown group, who do not count.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    RateMonitor.update : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.metrics import RateMonitor
    >>> rng = np.random.default_rng(0)
    >>> person = rng.integers(0, 400, 4000)
    >>> group = np.where(person % 2, "f", "m")
    >>> rejected = rng.random(4000) < np.where(group == "f", 0.3, 0.03)
    >>> state = RateMonitor(limit=2).update(rejected, person, group)
    >>> [(limit.groups, limit.verdict) for limit in state.failed]
    [(('f', 'm'), 'failed')]
    """

    rates: WatchedRates
    findings: tuple
    n_people: int
    n_unknown: int

    @property
    def failed(self) -> tuple:
        """Limits that are exceeded: a tuple of WatchedLimit."""
        return tuple(f for f in self.findings if f.verdict == "failed")

    def _repr_html_(self):
        """The rates as a table in a notebook."""
        return self.rates._repr_html_()


def _fresh(kind, n):
    """Arrays that are remembered of ``n`` groups: of "all", or of a limit, as its bets take them."""
    if kind == "all":
        return {name: np.zeros(n) for name in ("people", "errors", "attempts", "wrong")}
    if kind is None:
        wealth = np.full((n, TIMES.size), START_OF_RATE)
        return {"people": np.zeros(n), "log_wealth": wealth, "best": np.zeros(n)}
    wealth = np.full((n, n, SHARES.size), START_OF_RATIO)
    both = {"waiting": np.zeros((n, n, 3)), "log_wealth": wealth}
    return both | {"best": np.zeros((n, n))}


class RateMonitor:
    """Watch the error rates of groups after deployment, with verdicts valid at any time.

    A fixed-sample audit that is repeated every month finds an excess sooner or later, whether
    there is one or not. Here each limit has a wealth, which bets on its excess multiply
    whenever a person comes: while the limit is met, it ever reaches 1 / delta with chance
    delta at most, so one may look after every person and stop at any time [1]_,
    [2]_. Rates may drift below their limit, and together: a ratio is judged by people who come
    about the same time. People are the units: a person counts once, by the first attempts.

    Parameters
    ----------
    how : str, None or tuple of these, default="max_min"
        Limited quantity: "max_min", the ratio of the rates of each pair of groups, or None, the
        rate of every group.
    limit : float or tuple of floats, shape (n_limits,), default=None
        The largest allowed, one for each ``how``: a ratio of at least 1, or a rate in (0, 1).
        None watches rates alone.
    confidence_level : float in (0, 1), default=0.95
        One minus the chance that any limit that is always met is ever found to be exceeded,
        and of each confidence sequence.
    attempts : int, default=1
        Number of first attempts of a person whose mean is one value. The person counts when
        they are complete. Later attempts are counted, and not bet on. More than one is for
        attempts that do not depend on each other's outcome, as in a test: where whoever is
        rejected tries again at once, those who are complete were rejected more often.

    Attributes
    ----------
    history_ : list of dict
        State after each update: ``when`` as it was given, ``groups``, ``n_people``,
        ``value``, ``low`` and ``high``, and ``findings`` in short.
    logs_ : list of str
        Digests of logs that were given.
    about_ : dict
        The caller's own data, stored with the state, JSON-able. Empty by default.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.certify : A threshold, before deployment.

    References
    ----------
    .. [1] Waudby-Smith, I., & Ramdas, A. (2024). Estimating means of bounded random variables
       by betting. JRSS B 86(1).
    .. [2] Chugg, B., Cortes-Gomez, S., Wilder, B., & Ramdas, A. (2023). Auditing Fairness by
       Betting. NeurIPS.
    .. [3] Vovk, V., & Wang, R. (2021). E-values: Calibration, combination and applications.
       Annals of Statistics 49(3). Means of wealths, and Holm's method of them.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.metrics import RateMonitor
    >>> rng = np.random.default_rng(0)
    >>> group = rng.choice(["a", "b"], 4000)
    >>> rejected = rng.random(4000) < np.where(group == "a", 0.09, 0.03)
    >>> monitor = RateMonitor(limit=1.5)
    >>> state = monitor.update(rejected, np.arange(4000), group)
    >>> [(found.groups, found.verdict) for found in state.findings]
    [(('a', 'b'), 'failed')]
    """

    def __init__(
        self,
        *,
        how: str | tuple | None = "max_min",
        limit: ArrayLike | None = None,
        confidence_level: float = 0.95,
        attempts: int = 1,
    ) -> None:
        self.how = how
        self.limit = limit
        hows = how if isinstance(how, tuple | list) else (how,)
        limits = limit if isinstance(limit, tuple | list) else (limit,)
        if limit is None:
            hows = limits = ()
        if len(hows) != len(limits):
            problem = f"{plain(limit)!r} does not have one for each how, "
            problem += f"{plain(how)!r};"
            raise invalid("limit", limit, problem, "give as many.")
        for kind in hows:
            if kind not in LIMITED:
                problem = f"must be 'max_min' or None, got {plain(kind)!r}."
                raise invalid("how", how, problem)
        self._limits = [
            (kind, check_number(value, "limit", *LIMITED[kind]))
            for kind, value in zip(hows, limits, strict=True)
        ]
        level = check_number(confidence_level, "confidence_level", *RATE)
        self.confidence_level = level
        self.attempts = check_count(attempts, "attempts", 1, MOST_ATTEMPTS)
        self.history_, self.logs_, self.about_ = [], [], {}
        # Digests of the people who counted, sorted, and the place of their group, or -1.
        self._seen = np.zeros(0, dtype=np.uint64)
        self._group_of = np.zeros(0, dtype=int)
        self._unfinished, self._n_unknown = {}, 0
        self._groups, self._kinds = [], ["all", *(kind for kind, _ in self._limits)]
        self._known = [_fresh(kind, 0) for kind in self._kinds]

    def update(
        self,
        error: ArrayLike,
        identity: Column,
        sensitive_features: Column,
        *,
        when: str | None = None,
        log: str | None = None,
    ) -> MonitorState:
        """Take the attempts since the last update, in the order of time.

        Several updates come to the same as one with all attempts.

        Parameters
        ----------
        error : array-like, shape (n_attempts,)
            1 where the decision was wrong, else 0: of genuine attempts, that they were
            rejected.
        identity : array-like, shape (n_attempts,)
            Person who made each attempt.
        sensitive_features : array-like, shape (n_attempts,)
            Group of each. None and NaN are unknown, and such people do not count.
        when : str, default=None
            A date for the history.
        log : str, default=None
            Identifier of the log of these attempts, such as its digest.

        Returns
        -------
        state : MonitorState
            Rates and findings about all attempts so far.

        Raises
        ------
        ValueError
            If lengths differ, errors are not in [0, 1], the log was given before, or most
            people who came before have another group now.

        Examples
        --------
        >>> import numpy as np
        >>> from skfairfr.metrics import RateMonitor
        >>> rng = np.random.default_rng(0)
        >>> person = rng.integers(0, 400, 4000)
        >>> group = np.where(person % 2, "f", "m")
        >>> rejected = rng.random(4000) < np.where(group == "f", 0.3, 0.03)
        >>> monitor = RateMonitor(limit=2)
        >>> for log in np.array_split(np.arange(4000), 2):
        ...     state = monitor.update(rejected[log], person[log], group[log])
        >>> state.n_people, [limit.verdict for limit in state.findings]
        (400, ['failed'])
        """
        if log is not None and log in self.logs_:
            problem = f"{log!r} was given before, and its attempts would count twice;"
            raise invalid("log", log, problem, "give the attempts since then.")
        people, group = encode(identity, "identity"), None
        check_spelling(people.values, "identity")
        group = encode(sensitive_features, "sensitive_features", allow_unknown=True)
        error = to_numbers(error, "error")
        check_length(error, people.codes.size, "error", "identity")
        check_length(group.codes, people.codes.size, "sensitive_features", "identity")
        if error.ndim != 1 or not ((error >= 0) & (error <= 1)).all():
            problem = "must be one number in [0, 1] for each attempt."
            raise invalid("error", None, problem, "1 is a wrong decision.")
        check_not_exchanged(people, group, ("identity", "sensitive_features"))
        check_groups(group, "sensitive_features")
        digests = np.array([_digest(label) for label in people.values.tolist()])
        digests = digests.astype(np.uint64)
        self._check_same_groups(digests, people, group)
        codes = self._codes(group)
        known = codes >= 0
        self._add("attempts", codes[known])
        self._add("wrong", codes[known], error[known])
        self._n_unknown += int((~known).sum())
        self._bet(*self._units(digests, people, codes, error))
        if log is not None:
            self.logs_.append(log)
        state = self._state()
        rates = state.rates
        numbers = ("n_people", "value", "low", "high")
        entry = {"when": when, "groups": list(rates.groups)}
        entry |= {name: getattr(rates, name).tolist() for name in numbers}
        entry["findings"] = [
            {name: getattr(found, name) for name in OF_HISTORY}
            | {"groups": list(found.groups)}
            for found in state.findings
        ]
        self.history_.append(entry)
        return state

    def save(self, path: FilePath) -> None:
        """Write the state to a JSON file, whole or not at all.

        People are in it as digests of their labels: whoever has the labels can recognise them.

        Parameters
        ----------
        path : str or path-like
            An earlier file is replaced.
        """
        content = {
            "format": FORMAT,
            "settings": self.settings,
            "groups": self._groups,
            "known": plain_form(self._known),
            "people": b64encode(self._seen.astype("<u8").tobytes()).decode(),
            "groups_of_people": self._group_of.tolist(),
            "unfinished": [[str(k), *v] for k, v in self._unfinished.items()],
            "n_unknown": self._n_unknown,
            "logs": self.logs_,
            "about": self.about_,
            "history": self.history_,
        }
        with whole_file(path) as staged:
            staged.write_text(json.dumps(content) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: FilePath) -> Self:
        """Read a monitor that goes on where it was saved.

        Parameters
        ----------
        path : str or path-like
            What :meth:`save` wrote.

        Returns
        -------
        monitor : RateMonitor

        Raises
        ------
        ValueError
            If the file is damaged, or something else.
        OSError
            If there is no such file.
        """
        with (
            damage_named(path, "give the state of a monitor, or name a new file"),
            open(path, encoding="utf-8") as file,
        ):
            content = json.load(file)
            if content["format"] != FORMAT:
                raise ValueError(f"it has format {content['format']}, not {FORMAT}")
            monitor = cls(**content["settings"])
            monitor._groups, n = content["groups"], len(content["groups"])
            monitor._known = [
                {
                    name: np.array(known[name], dtype=np.float64).reshape(array.shape)
                    for name, array in _fresh(kind, n).items()
                }
                for kind, known in zip(monitor._kinds, content["known"], strict=True)
            ]
            seen = np.frombuffer(b64decode(content["people"]), dtype="<u8")
            monitor._seen = seen.astype(np.uint64)
            monitor._group_of = np.array(content["groups_of_people"], dtype=int)
            monitor._unfinished = {
                np.uint64(int(key)): (count, total)
                for key, count, total in content["unfinished"]
            }
            monitor._n_unknown, monitor.logs_ = content["n_unknown"], content["logs"]
            monitor.history_, monitor.about_ = content["history"], content["about"]
        return monitor

    @property
    def settings(self) -> dict:
        """Arguments that make a monitor of the same limits: a dict for JSON."""
        return {
            "how": [kind for kind, _ in self._limits],
            "limit": [limit for _, limit in self._limits] or None,
            "confidence_level": self.confidence_level,
            "attempts": self.attempts,
        }

    @property
    def state(self) -> MonitorState:
        """The state so far, a MonitorState."""
        return self._state()

    def _check_same_groups(self, digests, people, group):
        """Raise if groups are spelled otherwise, or most known people have another one."""
        both = {*self._groups, *group.values.tolist()}
        both = np.array(sorted(both, key=str), dtype=object)
        check_spelling(both, "sensitive_features", what="group")
        _, before, here = np.intersect1d(
            self._seen, digests, assume_unique=True, return_indices=True
        )
        last = np.zeros(digests.size, dtype=int)  # attempts
        last[people.codes] = np.arange(people.codes.size)
        now = group.of_rows()[last[here]]
        then = np.array([*self._groups, None], dtype=object)[self._group_of[before]]
        known = (group.codes[last[here]] >= 0) & (self._group_of[before] >= 0)
        (other,) = np.nonzero((now != then) & known)
        if not other.size:
            return
        first = other[0]
        who, group, earlier = people.values[here[first]], now[first], then[first]
        whose = (
            f"{other.size:,} of {here.size:,} people who came before, as {plain(group)!r} of "
            f"{plain(who)!r}, who was in {plain(earlier)!r}"
        )
        if 2 * other.size > here.size:
            remedy = "name groups as in the earlier logs, or start a new state."
            problem = f"contains other groups than before for {whose};"
            raise invalid("sensitive_features", None, problem, remedy)
        warn_caller(f"Another group than before: {whose}.", UserWarning)

    def _codes(self, group):
        """Places of the groups of attempts among all groups so far. -1 is unknown."""
        groups, labels = self._groups, group.values.tolist()
        groups += [label for label in labels if label not in groups]
        for kind, known in zip(self._kinds, self._known, strict=True):
            for name, array in _fresh(kind, len(groups)).items():
                array[tuple(map(slice, known[name].shape))] = known[name]
                known[name] = array
        places = [groups.index(label) for label in labels]
        return np.array([*places, -1])[group.codes]

    def _units(self, digests, people, codes, error):
        """Group and value of the people who come to count, in their order.

        Returns
        -------
        group : ndarray of int, shape (n_units,)
        value : ndarray, shape (n_units,)
        """
        done = np.isin(digests, self._seen)
        before = [self._unfinished.get(key, (0, 0.0)) for key in digests]
        count, total = np.array(before, dtype=np.float64).reshape(-1, 2).T
        count[done] = self.attempts
        place = places_among_equals(people.codes) + count[people.codes]
        used = place < self.attempts
        total += np.bincount(people.codes[used], error[used], minlength=digests.size)
        count += np.bincount(people.codes[used], minlength=digests.size)
        (last,) = np.nonzero(place == self.attempts - 1)
        complete = people.codes[last]
        seen = np.concatenate([self._seen, digests[complete]])
        by_digest = np.argsort(seen)
        self._seen = seen[by_digest]
        self._group_of = np.concatenate([self._group_of, codes[last]])[by_digest]
        for key in digests[complete]:
            self._unfinished.pop(key, None)
        for person in np.flatnonzero((count > 0) & (count < self.attempts)):
            self._unfinished[digests[person]] = (int(count[person]), total[person])
        kept = codes[last] >= 0
        return codes[last][kept], total[complete][kept] / self.attempts

    def _bet(self, group, value):
        """Bet on all limits as people come."""
        for (kind, limit), known in zip(self._limits, self._known[1:], strict=True):
            bet = bet_on_rates if kind is None else bet_on_ratios
            bet(group, value, *known.values(), limit)
        self._add("people", group)
        self._add("errors", group, value)

    def _add(self, name, group, weights=None):
        """Count, or sum the weights, by group."""
        n = len(self._groups)
        self._known[0][name] += np.bincount(group, weights, minlength=n)

    def _state(self):
        people, errors, attempts, wrong = self._known[0].values()
        with np.errstate(invalid="ignore"):
            value = errors / people
        ends = [
            confidence_sequence(*of_group, self.confidence_level)
            for of_group in zip(people, errors, strict=True)
        ]
        low, high = np.array(ends).reshape(-1, 2).T
        n_people, n_attempts = (count.astype(np.int64) for count in (people, attempts))
        columns = n_people, value, low, high, n_attempts, wrong.copy()
        rates, n_all = WatchedRates(tuple(self._groups), *columns), int(n_people.sum())
        return MonitorState(rates, self._findings(value), n_all, self._n_unknown)

    def _findings(self, value):
        """One WatchedLimit for each limit and group, or two groups."""
        groups, found = self._groups, []
        for (kind, limit), known in zip(self._limits, self._known[1:], strict=True):
            best = known["best"]
            if kind is None:
                for g, label in enumerate(groups):
                    found.append((kind, limit, (label,), value[g], best[g]))
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = value[:, None] / value
            for g, h in combinations(range(len(groups)), 2):
                first, second = (h, g) if value[h] > value[g] else (g, h)
                both = groups[first], groups[second]
                found.append((kind, limit, both, ratios[first, second], best[g, h]))
        logs = np.array([row[-1] for row in found])
        p = np.minimum(np.exp(-logs), 1.0)
        with np.errstate(over="ignore"):
            rows = zip(found, np.exp(logs), p, holm(p), strict=True)
        return tuple(
            WatchedLimit(
                *(*about, float(of), float(e), float(own), float(adjusted)),
                "failed" if adjusted <= 1 - self.confidence_level else "undetermined",
            )
            for (*about, of, _), e, own, adjusted in rows
        )


def _digest(label):
    """A number for the label of a person, the same in every log's spelling."""
    found = hashlib.blake2b(
        spellings(label)[0].encode("utf-8", "replace"), digest_size=8
    )
    return int.from_bytes(found.digest(), "little")
