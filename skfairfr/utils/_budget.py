"""A budget of memory for some lines of Python."""

import os
from contextlib import contextmanager

from skfairfr._core._budget import VARIABLE, Budget
from skfairfr.utils._errors import Argument, ArgumentError


@contextmanager
def memory_budget(memory):
    """Limit the memory that fits, audits, scorers and reading files may take.

    Sets the environment variable ``SKFAIRFR_MEMORY``, which is read before a fit of
    SimilarityROC compares all pairs, and before a file is read. Later questions to a fitted
    object keep the settings that its fit chose. Worker processes that start inside inherit
    the variable; one that joblib started before keeps what it has. Threads share it.

    Parameters
    ----------
    memory : str
        An amount, such as ``"4GB"``, ``"500MB"`` or ``"4GiB"``, or ``"50%"`` of what is
        free. No comparison uses more than 80 % of what is free.

    Raises
    ------
    ArgumentError
        If it is no amount of memory.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.utils import memory_budget
    >>> faces = make_face_embeddings(n_identities=50, random_state=0)
    >>> with memory_budget("500MB"):
    ...     roc = SimilarityROC().fit(faces.X, faces.y)
    """
    try:
        text = Budget.of(str(memory)).text
    except ValueError as error:
        raise ArgumentError(Argument("memory", memory), f" {error}.") from None
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = text
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before
