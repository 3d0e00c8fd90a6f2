"""Logs of decisions, from files: one attempt a row, accepted or not, and no scores."""

from collections.abc import Sequence

import numpy as np
from sklearn.utils import Bunch

from skfairfr.datasets import _files
from skfairfr.utils._errors import refused
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_path

# What the words of a column mean, in lower case.
YES_NO = {
    **dict.fromkeys(("1", "true", "yes", "accept", "pass"), 1),
    **dict.fromkeys(("0", "false", "no", "reject", "fail"), 0),
}
KINDS_OF_ATTEMPTS = ("genuine", "impostor", "attack")
ATTEMPTS = {
    **dict.fromkeys(("genuine", "bona fide", "bonafide", "mated"), 0),
    **dict.fromkeys(("impostor", "imposter", "non mated", "nonmated"), 1),
    **dict.fromkeys(("attack", "presentation attack", "spoof"), 2),
}
USUAL = {"accepted": ("accepted",), "identity": ("identity", "person")}


def load_decisions(
    path: FilePath,
    *,
    accepted: str | None = None,
    identity: str | None = None,
    attempt: str | None = None,
    session: str | None = None,
    species: str | None = None,
    columns: Sequence[str] | None = None,
) -> Bunch:
    """A log of decisions: one attempt a row, in the order of time.

    Parameters
    ----------
    path : str or path-like
        A table with one row for each attempt, and names in its first row: .csv, .tsv, both
        also as .gz, or .parquet with pyarrow.
    accepted : str, default=None
        Column that says whether the attempt was accepted, by 1 and 0, true and false, yes
        and no, accept and reject, or pass and fail, in any case; an empty cell is an attempt
        without a decision. None takes "accepted".
    identity : str, default=None
        Column that names the person who attempts, whoever is claimed; None takes "identity"
        or "person".
    attempt : str, default=None
        Column that tells genuine (bona fide, mated), impostor (non-mated) and attack
        (presentation attack, spoof) attempts apart, in any case; None takes all as genuine.
    session, species : str, default=None
        Columns that name the session of an attempt, and the instrument of an attack; None
        reads none.
    columns : sequence of str, shape (n_columns,), default=None
        Other columns to read, such as "gender"; None reads all.

    Returns
    -------
    data : Bunch
        Of shape (n_attempts,) in the order of the file: ``accepted``, bool; ``captured``,
        bool, False where the column "captured" says 0 (or no, ...), or where no decision
        was made: such an attempt is not accepted; ``identity``; ``attempt``, "genuine",
        "impostor" or "attack"; ``session`` and ``species``, or None. ``columns``, a dict of
        arrays (n_attempts,) in which None and NaN are unknown; and ``path``.

    Raises
    ------
    ValueError
        If the file cannot be read or lacks a column, a value is none of these words (the
        message lists the values found), or what was accepted was not captured.
    ImportError
        If a .parquet file is read without pyarrow.

    Warns
    -----
    UserWarning
        If labels are words for an unknown value, such as "nan" and "None".

    Examples
    --------
    >>> import os, tempfile
    >>> from skfairfr.datasets import load_decisions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "log.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("person,accepted,gender\\nann,yes,f\\nbob,no,m\\nbob,,m")
    ...     data = load_decisions(path)
    >>> data.accepted.tolist(), data.captured.tolist(), data.columns["gender"].tolist()
    ([True, False, False], [True, True, False], ['f', 'm', 'm'])
    """
    names = {"accepted": accepted, "identity": identity, "attempt": attempt}
    names |= {"session": session, "species": species}
    return read_decisions(path, names, _files.check_columns(columns))


def read_decisions(path, names, asked=None):
    """As load_decisions.

    Parameters
    ----------
    names : dict of str -> str or None
        Column of each of accepted, identity, attempt, session and species.
    asked : dict of str -> str, default=None
        For each other requested column the argument that names it, for messages.
    """
    path = check_path(path, "path")
    table = _files.read_table(path)
    named = {argument: (name,) for argument, name in names.items() if name is not None}
    wanted = [*(USUAL | named).items()]
    others = [(argument, (name,)) for name, argument in (asked or {}).items()]
    found = _files.choose_all([*wanted, *others], table.names, path)
    found = dict(zip(dict(wanted), found, strict=False))

    def meant(argument, name, words, missing=-1):
        remedy = "write one of them, or name another column."
        asked = (words, argument, name, remedy, missing)
        return _files.meanings(table.labels(name), *asked)

    missing = dict.fromkeys(_files.WORDS_FOR_MISSING, -1)
    decision = meant("accepted", found["accepted"], YES_NO | missing)
    captured = decision >= 0
    if "captured" in table.names:
        captured &= meant("captured", "captured", YES_NO) != 0
        if (wrong := ~captured & (decision == 1)).any():
            name = found["accepted"]
            problem = f"{name!r} says yes in {_files.data_row(wrong.argmax())}, where "
            problem += "'captured' says that nothing was captured;"
            raise refused("accepted", name, problem, "correct one of the two.")
    kind = np.zeros(decision.size, dtype=np.intp)
    if "attempt" in found:
        kind = meant("attempt", found["attempt"], ATTEMPTS, missing=None)
    labels = {"session": None, "species": None}
    for argument in {"identity", *labels} & set(found):
        name = found[argument]
        labels[argument] = table.labels(name)
        if argument != "species":  # only attacks have one
            remedy = "every attempt needs one: write it, or drop such rows."
            _files.check_known(argument, name, labels[argument], remedy)
        _files.warn_of_words(labels[argument], name, path)
    if asked is None:
        read = {*found.values(), "captured"}
        asked = [n for n in table.plain_columns(decision.size) if n not in read]
    columns = {name: table.values(name) for name in asked}
    for name, column in columns.items():
        _files.warn_of_words(column, name, path)
    return Bunch(
        accepted=decision == 1,
        captured=captured,
        attempt=np.array(KINDS_OF_ATTEMPTS)[kind],
        **labels,
        columns=columns,
        path=path,
    )
