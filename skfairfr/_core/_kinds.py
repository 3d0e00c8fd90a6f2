"""Kinds of error: their keys in JSON and in limits, and their words in texts.

Arrays and records have two slots of rates: ``far``, the share of trials that accept whom they
should not, and ``frr``, that of trials that reject whom they should accept. A :class:`Terms` is
what both are called for comparisons, searches (1:N), or decisions on attempts, of which one
rate is known, in the slot ``frr``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

# A longer name of a rate does not fit below the axes of a figure.
LONGEST_RATE = 40


@dataclass(frozen=True)
class ErrorKind:
    """One kind of error.

    Attributes
    ----------
    key : str
        In JSON and CSV: "fmr".
    name : str
        Of its rate in texts: "FMR".
    rate : str
        The same at length: "false match rate".
    trial : str
        Unit that can have such an error: "impostor pair".
    errors : str
        "false matches".
    limit : str
        In names of limits: "fmr".
    consequence : str
        Meaning of a higher rate: "more comparisons of different people are accepted".
    standard : str, default=""
        Trials as the standard calls them, if otherwise: "non-mated comparisons".
    """

    key: str
    name: str
    rate: str
    trial: str
    errors: str
    limit: str
    consequence: str
    standard: str = ""

    @property
    def trials(self):
        """Several of what can have such an error."""
        return several(self.trial)

    @property
    def title(self):
        """Of an axis: the rate at length and its name. The name alone if that is too long."""
        if len(self.rate) > LONGEST_RATE:
            return self.name
        return f"{self.rate[0].upper()}{self.rate[1:]} ({self.name})"

    @property
    def trials_at_length(self):
        """The standard's name of these trials, and the name in texts if it differs."""
        return f"{self.standard} ({self.trials})" if self.standard else self.trials

    @property
    def standard_trials(self):
        """The standard's name of these trials."""
        return self.standard or self.trials


@dataclass(frozen=True)
class Terms:
    """Names of both rates, and of the trials of each.

    Attributes
    ----------
    far, frr : ErrorKind
        ``terms[rate]`` is one of them.
    trial : str
        Of either kind: "pair", "search", "attempt" or "transaction".
    comparison : str
        The same in the words of the standard.
    task : str
        Task of the system: "verification" or "identification".
    level : str
        The argument that is a level of the rate in the slot ``far``.
    """

    far: ErrorKind
    frr: ErrorKind
    trial: str = "pair"
    comparison: str = "comparison"
    task: str = "verification"
    level: str = "far"

    @property
    def trials(self):
        """Several of either kind."""
        return several(self.trial)

    @property
    def comparisons(self):
        """The same in the words of the standard."""
        return several(self.comparison)

    def __getitem__(self, rate):
        return getattr(self, rate)

    def limit(self, name):
        """The name of a limit, such as "max_fmr_ratio", in these terms.

        Searches have names of their own. Limits of decisions have the same names as those of
        pairs.
        """
        if self.task == "verification":
            return name
        return renamed(name, {"fmr": self.far.limit, "fnmr": self.frr.limit})

    def key(self, name):
        """The name of a field, such as "far_errors", in these terms."""
        return renamed(name, {"far": self.far.key, "frr": self.frr.key})


def several(noun):
    """The plural of a noun."""
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"


def renamed(name, parts):
    """A name whose parts, between underscores, are called otherwise."""
    return "_".join(parts.get(part, part) for part in name.split("_"))


TAKEN_FOR_OTHERS = "more comparisons of different people are accepted"
NOT_RECOGNISED = "more comparisons of the same person are rejected"
# In Python, FAR and FRR are the rates of pairs.
PAIRS = Terms(
    ErrorKind(
        key="far",
        name="FAR",
        rate="false acceptance rate",
        trial="impostor pair",
        errors="false acceptances",
        limit="fmr",
        consequence=TAKEN_FOR_OTHERS,
    ),
    ErrorKind(
        key="frr",
        name="FRR",
        rate="false rejection rate",
        trial="genuine pair",
        errors="false rejections",
        limit="fnmr",
        consequence=NOT_RECOGNISED,
    ),
)
# If failures to enrol or to acquire count as rejections.
WITH_FAILURES = Terms(
    replace(PAIRS.far, key="fmr", standard="non-mated comparisons"),
    replace(PAIRS.frr, key="fnmr", standard="mated comparisons"),
)
COMPARISONS = Terms(
    replace(
        WITH_FAILURES.far, name="FMR", rate="false match rate", errors="false matches"
    ),
    replace(
        WITH_FAILURES.frr,
        name="FNMR",
        rate="false non-match rate",
        errors="false non-matches",
    ),
)
SEARCHES = Terms(
    ErrorKind(
        key="fpir",
        name="FPIR",
        rate="false positive identification rate",
        trial="non-mated search",
        errors="false alarms",
        limit="fpir",
        consequence="more searches by people who are not enrolled cause alarms",
    ),
    ErrorKind(
        key="fnir",
        name="FNIR",
        rate="false negative identification rate",
        trial="mated search",
        errors="missed mates",
        limit="fnir",
        consequence="more searches by people who are enrolled miss them",
    ),
    trial="search",
    comparison="search",
    task="identification",
    level="fpir",
)
DECISIONS = {
    "frr": replace(
        PAIRS.frr,
        trial="genuine attempt",
        consequence="more genuine attempts are rejected",
    ),
    "far": replace(
        PAIRS.far,
        trial="impostor attempt",
        consequence="more impostor attempts are accepted",
    ),
    "bpcer": ErrorKind(
        key="bpcer",
        name="BPCER",
        rate="bona fide presentation classification error rate",
        trial="bona fide attempt",
        errors="taken for attacks",
        limit="fnmr",
        consequence="more bona fide attempts are taken for attacks",
    ),
    "apcer": ErrorKind(
        key="apcer",
        name="APCER",
        rate="attack presentation classification error rate",
        trial="attack attempt",
        errors="taken for bona fide",
        limit="fmr",
        consequence="more attacks are taken for bona fide",
    ),
}
OPPOSITE = {"frr": "far", "far": "frr", "bpcer": "apcer", "apcer": "bpcer"}


def terms_of_decisions(kind, transactions=False):
    """Terms of decisions on attempts, or on transactions.

    Parameters
    ----------
    kind : {"frr", "far", "bpcer", "apcer"}
    transactions : bool, default=False
        Whether the best of several attempts is one trial.
    """
    trial = "transaction" if transactions else "attempt"
    measured = DECISIONS[kind]
    named = {
        name: getattr(measured, name).replace("attempt", trial)
        for name in ("trial", "consequence")
    }
    measured = replace(measured, **named)
    return Terms(DECISIONS[OPPOSITE[kind]], measured, trial, trial)
