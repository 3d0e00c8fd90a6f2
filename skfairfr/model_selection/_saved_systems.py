"""A fitted mitigation as a folder with one file, and the lines of Python that load it."""

import os
from pathlib import Path

from sklearn.pipeline import Pipeline

from skfairfr.metrics._roc._inputs import is_comparator
from skfairfr.utils import _saved
from skfairfr.utils._validation import check_path

NAME = "system.safetensors"


def save_mitigation(estimator, folder):
    """Write a fitted mitigation.

    Parameters
    ----------
    estimator : fitted transformer, comparator or Pipeline
        Of this package or of scikit-learn.
    folder : str or path-like
        Made where there is none. A mitigation in it is replaced, files of others stay.

    Raises
    ------
    ValueError
        If a class is of another package, or what it holds has no form without pickle.
    OSError
        If the folder cannot be written.

    See Also
    --------
    load_mitigation : Reads it.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.decomposition import PCA
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.model_selection import load_mitigation, save_mitigation
    >>> X = make_face_embeddings(20, n_features=8, random_state=0).X
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_mitigation(PCA(2).fit(X), folder)
    ...     os.listdir(folder)
    ['system.safetensors']
    """
    folder = check_path(folder, "folder")
    os.makedirs(folder, exist_ok=True)
    _saved.write(Path(folder, NAME), estimator)


def load_mitigation(folder):
    """Read what :func:`save_mitigation`, or :meth:`Bench.save`, wrote.

    Parameters
    ----------
    folder : str or path-like

    Returns
    -------
    estimator : transformer, comparator or Pipeline
        Fitted.

    Raises
    ------
    ValueError
        If the file is damaged, or holds a class of another package.
    OSError
        If the folder holds no mitigation.

    See Also
    --------
    save_mitigation : Writes it.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.decomposition import PCA
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.model_selection import load_mitigation, save_mitigation
    >>> X = make_face_embeddings(20, n_features=8, random_state=0).X
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_mitigation(PCA(2).fit(X), folder)
    ...     load_mitigation(folder).transform(X).shape == (len(X), 2)
    True
    """
    path = Path(check_path(folder, "folder"), NAME)
    return _saved.read(path, "save the mitigation again")


def lines_to_deploy(estimator, folder):
    """Three lines of Python that read a mitigation and score pairs with it."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if is_comparator(last) and last is not estimator:
        use = (
            "scores = system[-1].score_pairs(system[:-1].transform(probes), "
            "system[:-1].transform(references))"
        )
    elif is_comparator(last):
        use = "scores = system.score_pairs(probes, references)"
    elif hasattr(estimator, "head_"):
        use = (
            "head = system.head_  # a torch module: unit rows, whose inner products are "
            "the scores"
        )
    else:
        use = "rows = system.transform(images)  # numpy; the cosines of rows are the scores"
    return (
        "from skfairfr.model_selection import load_mitigation\n"
        f"system = load_mitigation({str(folder)!r})\n{use}\n"
    )
