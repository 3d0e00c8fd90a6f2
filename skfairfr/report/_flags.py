"""What the package says in Python's words, in those of the command line.

Messages name arguments, as ``far`` and ``distance=True``; whoever types a command knows
flags. This is the one place that turns the former into the latter.
"""

import re
from dataclasses import fields, is_dataclass, replace

from skfairfr.report._checks import CHECKS
from skfairfr.report._sources import OF_EMBEDDINGS, OF_PAIRS

ARGUMENTS = (
    *OF_EMBEDDINGS,
    *OF_PAIRS,
    *CHECKS,
    *("attribute", "far", "threshold", "resample", "average", "impostors", "method"),
    *("n_resamples", "confidence_level", "n_jobs", "random_state"),
)
# Not inside a word, a path or a quoted name.
_ALONE = r"(?<![\w/'\\.-])"
_NAMED = rf"{_ALONE}(?P<name>{'|'.join(ARGUMENTS)})"
_LIMITS = rf"{_ALONE}(?P<name>{'|'.join(CHECKS)})\b"
# Sentences that speak of Python; the flags of the rest are found by the names before them.
PHRASES = (
    (
        r"The '(\w+)' parameter of SimilarityROC must be (.*)\. Got (.*) instead\.",
        r"\1 must be \2; got \3.",
    ),
    (r", an instance of 'numpy\.random\.mtrand\.RandomState' or None", ""),
    (r", a RandomState, a Generator or None", ""),
    (r"n_jobs == 0 in Parallel has no meaning", "n_jobs must not be 0"),
    (r"SimilarityROC\((\w+='\w+')\)", r"\1"),
    (
        r"fit_pairs was not told which they are; give image_1 and image_2",
        "no columns name them; give --image-1 and --image-2",
    ),
    (
        r"y_score is a similarity, larger .* as load_pairs\(path, distance=True\) does\.",
        "Scores are taken for similarities, larger meaning more alike, and with --distance "
        "for distances: should it be given, or left out?",
    ),
    (r"far=(\S+) is below", r"FAR \1 is below"),
    (r"1 / n_impostor\b", "1 / (impostor pairs)"),
    (
        r"Ask for how='difference', a larger far, or more people",
        "max - min does without a ratio; else audit at a larger FAR, or more people",
    ),
    (r"disparity of the f(ar|rr)\b", lambda m: f"disparity of the F{m[1].upper()}"),
    (r"Give a larger far\b", "Give a larger --far"),
    (r"Give sensitive_features, or", "Give another attribute, or"),
    (r"^beyond far_max:", "beyond the FAR up to which all pairs are held:"),
    (r"; beyond far_max:", "; beyond the FAR up to which all pairs are held:"),
    (r"\bas path\b", "as DATA"),
    (r"^y holds", "identity holds"),
    (r"^X has", "embedding has"),
    (r"(rows? [\d and]+) of X\b", r"\1 of the embeddings"),
)


def in_flags(message, leading=True):
    """A message that names flags in place of arguments.

    Parameters
    ----------
    message : str
    leading : bool, default=True
        Whether it may begin with an argument; reasons begin with labels, which may read
        the same.

    Returns
    -------
    message : str
    """
    for pattern, said in PHRASES:
        message = re.sub(pattern, said, message, flags=re.DOTALL)
    message = re.sub(rf"{_NAMED}=True\b", _flag, message)
    message = re.sub(
        rf"{_NAMED}=('(?P<text>[^']*)'|(?P<number>-?[\d.]*\d(e-?\d+)?))",
        lambda m: f"{_flag(m)} {m['text'] or m['number']}",
        message,
    )
    message = re.sub(rf"\bas {_NAMED}(?=[.,;]|$)", _with_flag, message)
    message = re.sub(_LIMITS, _flag, message)
    if not leading:
        return message
    start = r"^(?P<before>--threshold-from: )?"
    return re.sub(
        rf"{start}{_NAMED}(?=: | must | '| is missing )",
        lambda m: (m["before"] or "") + _flag(m),
        message,
    )


def with_flags(record):
    """A record of an audit whose reasons and notes name flags.

    Parameters
    ----------
    record : Report, or any record inside

    Returns
    -------
    record : of the same type
    """
    if isinstance(record, tuple):
        return tuple(map(with_flags, record))
    if not is_dataclass(record):
        return record
    changed = {f.name: with_flags(getattr(record, f.name)) for f in fields(record)}
    if "reason" in changed:
        changed["reason"] = in_flags(record.reason, leading=False)
    if "notes" in changed:
        changed["notes"] = tuple(map(in_flags, record.notes))
    return replace(record, **changed)


def _flag(match):
    name = "seed" if match["name"] == "random_state" else match["name"]
    return "--" + name.replace("_", "-")


def _with_flag(match):
    return f"with {_flag(match)}"
