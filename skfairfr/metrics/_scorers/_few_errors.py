"""The warning that a score rests on few errors, given once a search.

A search scores every candidate on every fold, often in other processes, whose warnings
are printed elsewhere, once for each process, or nowhere. A score that is made in a worker
is therefore a float that carries the message: it is unpickled where the search runs, and
that is where the warning is given. One search is one ``joblib.Parallel``, found on the
stack of the thread that runs it.
"""

import sys
import threading
import warnings
from multiprocessing import parent_process
from weakref import WeakSet

import joblib
import numpy as np

from skfairfr._core._intervals import MIN_ERRORS
from skfairfr.utils._validation import FewErrorsWarning, caller_of

ERRORS = {"far": "false acceptances", "frr": "false rejections"}

# Searches that have warned.
_WARNED = WeakSet()
_LOCK = threading.Lock()


class _FewErrors(float):
    """A score made in a worker, with the message for where the search runs."""

    def __new__(cls, value, message):
        score = super().__new__(cls, value)
        score.message = message
        return score

    def __reduce__(self):
        return reported, (float(self), self.message)


def reported(score, message):
    """A score of which ``message`` has been said, or will be; nothing is said if empty.

    Parameters
    ----------
    score : float
    message : str

    Returns
    -------
    score : float
    """
    if not message:
        return score
    if parent_process() is not None:
        return _FewErrors(score, message)
    _warn_once(message)
    return score


def about_few_errors(scorer, engine, question, errors):
    """What to say of a score that rests on too few errors.

    Parameters
    ----------
    scorer : object
    engine : Engine
    question : Question
    errors : ndarray of int, shape (n_scopes, n_levels)
        Of :meth:`Engine.points_and_errors`.

    Returns
    -------
    fewest : int
    message : str
        Empty where there are enough.
    """
    fewest = int(errors.min())
    if fewest >= MIN_ERRORS:
        return fewest, ""
    scopes = engine.scopes_of_points(question)
    scope = scopes[int(np.argmin(errors.min(axis=1)))]
    where = "" if scope is None else f" in group {str(engine.groups[scope[0]])!r}"
    return fewest, (
        f"A score of {scorer!r} rests on {fewest} {ERRORS[question.rate]}{where}, fewer "
        f"than {MIN_ERRORS}, so that candidates may differ by chance alone. Give a larger "
        "far, fewer folds or more people."
    )


def _warn_once(message):
    """Warn at the line that runs the search, unless this search has warned."""
    frame = _frame_of_search()
    if frame is None:
        frame = sys._getframe()
    else:
        search = frame.f_locals["self"]
        with _LOCK:
            if search in _WARNED:
                return
            _WARNED.add(search)
    caller = caller_of(frame)
    try:
        warnings.warn_explicit(
            FewErrorsWarning(message),
            None,
            caller.f_code.co_filename,
            caller.f_lineno,
            registry=caller.f_globals.setdefault("__warningregistry__", {}),
        )
    except FewErrorsWarning:
        # In a thread of joblib an error would end the thread, and the search wait forever.
        if threading.current_thread() is threading.main_thread():
            raise


def _frame_of_search():
    """The outermost running call of a Parallel: of this thread, else of another."""
    stacks = sys._current_frames()
    own, main = threading.get_ident(), threading.main_thread().ident
    for thread in dict.fromkeys((own, main, *stacks)):
        frame, found = stacks.get(thread), None
        while frame is not None:
            if frame.f_code is joblib.Parallel.__call__.__code__:
                found = frame
            frame = frame.f_back
        if found is not None:
            return found
    return None
