"""A fitted mitigation as a folder of files, without pickle.

``system.json`` names the class of every step and holds what is no array; arrays are in
``.npz`` files, and a projector writes a file of its own. It also holds the digests of these
files, since a writer that is stopped in a folder of others may leave files of two systems.
"""

import json
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from skfairfr.metrics._roc._inputs import is_comparator
from skfairfr.utils._folder import Contents, replaced
from skfairfr.utils._json_form import check_format, decode, digest_of, encode, is_whole
from skfairfr.utils._validation import check_path, special_file

INDEX = "system.json"
CONTENTS = Contents((INDEX,), ("[0-9]*-*.npz", "[0-9]*-*.safetensors"))
# Changed where a version would no longer read what an earlier one wrote.
# 2 has a digest of the index too.
FORMAT = 2
# Only classes of these packages are imported when a folder is read.
PACKAGES = ("skfairfr", "sklearn")
# Of a step; thousands are read in a second.
MOST_ARRAYS = 10_000
NOT_WRITTEN = ("_metadata_request",)


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
        If a class is of another package, what it holds has no form without pickle, or a
        step holds more than 10,000 arrays.
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
    ...     sorted(os.listdir(folder))
    ['0-system.npz', 'system.json']
    """
    folder = check_path(folder, "folder")
    steps = [("system", estimator)]
    if isinstance(estimator, Pipeline):
        steps = [(n, s) for n, s in estimator.steps if s not in (None, "passthrough")]
    # What is frozen is fitted already, and what is read is not fitted again.
    frozen = [isinstance(step, FrozenEstimator) for _, step in steps]
    steps = [
        (n, s.estimator if f else s) for (n, s), f in zip(steps, frozen, strict=True)
    ]
    with replaced(folder, CONTENTS) as staged:
        index = {
            "format": FORMAT,
            "version": version("skfairfr"),
            "pipeline": isinstance(estimator, Pipeline),
            "steps": [_write_step(k, *step, staged) for k, step in enumerate(steps)],
        }
        index["sha256"] = digest_of(index)
        text = json.dumps(index, indent=1, allow_nan=True) + "\n"
        (staged / INDEX).write_text(text, encoding="utf-8")


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
        If the folder holds no mitigation, a damaged one, or a class of another package.

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
    folder = Path(check_path(folder, "folder"))
    try:
        special = special_file(folder / INDEX)
        if special:
            raise ValueError(
                f"{str(folder / INDEX)!r} is {special}; give a folder that "
                "save_mitigation, or save of a Bench, wrote."
            )
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(
            f"{str(folder)!r} holds no {INDEX}; give a folder that save_mitigation, or "
            "save of a Bench, wrote."
        ) from None
    except ValueError as error:
        raise _damaged(folder / INDEX, error) from error
    _check_index(index, folder)
    check_format(index, FORMAT, folder / INDEX)
    if not is_whole(index):
        raise _damaged(folder / INDEX, "it was changed after it was written")
    steps = [(step["name"], _read_step(step, folder)) for step in index["steps"]]
    return Pipeline(steps) if index["pipeline"] else steps[0][1]


def lines_to_deploy(estimator, folder):
    """Three lines of Python that read a mitigation and score pairs with it.

    Parameters
    ----------
    estimator : fitted estimator
    folder : str or path-like

    Returns
    -------
    lines : str
    """
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    lines = [
        "from skfairfr.model_selection import load_mitigation",
        f"system = load_mitigation({str(folder)!r})",
    ]
    if is_comparator(last) and last is not estimator:
        lines.append(
            "scores = system[-1].score_pairs(system[:-1].transform(probes), "
            "system[:-1].transform(references))"
        )
    elif is_comparator(last):
        lines.append("scores = system.score_pairs(probes, references)")
    elif last is estimator and hasattr(estimator, "head_"):
        lines.append(
            "head = system.head_  # a torch module: unit rows, whose inner products are "
            "the scores"
        )
    else:
        lines.append(
            "rows = system.transform(images)  # numpy; the cosines of rows are the scores"
        )
    return "\n".join(lines) + "\n"


def _write_step(k, name, step, folder):
    """Write the arrays of a step; what the index holds of it."""
    _check_class(type(step).__module__)
    about = {
        "name": name,
        "module": type(step).__module__,
        "class": type(step).__qualname__,
    }
    if hasattr(step, "save") and hasattr(type(step), "load"):
        about["file"] = f"{k}-{name}.safetensors"
        step.save(folder / about["file"])
        return about | {"sha256": _digest(folder / about["file"])}
    arrays, plain = {}, {}
    parameters = step.get_params(deep=False)
    for attribute, value in vars(step).items():
        if attribute in parameters or attribute in NOT_WRITTEN:
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiubSU":
            arrays[attribute] = value
        else:
            plain[attribute] = _encoded(step, attribute, value)
    if len(arrays) > MOST_ARRAYS:
        raise ValueError(
            f"{type(step).__name__} holds {len(arrays):,} arrays, of which load_mitigation "
            f"reads at most {MOST_ARRAYS:,}; keep them in one array."
        )
    about["file"] = f"{k}-{name}.npz"
    np.savez(folder / about["file"], **arrays)
    about["parameters"] = {n: _encoded(step, n, v) for n, v in parameters.items()}
    return about | {"fitted": plain, "sha256": _digest(folder / about["file"])}


def _digest(path):
    return sha256(path.read_bytes()).hexdigest()


def _encoded(step, name, value):
    try:
        return encode(value)
    except TypeError as error:
        raise ValueError(
            f"{type(step).__name__}.{name} has no form without pickle ({error}); pickle "
            "the estimator, if you trust where it goes."
        ) from error


def _check_index(index, folder):
    """Raise unless an index lists steps, each with its name, its class and its file."""
    steps = index.get("steps") if isinstance(index, dict) else None
    if not isinstance(steps, list) or not steps or "pipeline" not in index:
        raise _damaged(folder / INDEX, "it lists no steps")
    for step in steps:
        for key in ("name", "module", "class", "file"):
            if not isinstance(step, dict) or not isinstance(step.get(key), str):
                raise _damaged(folder / INDEX, f"a step has no {key}")
        if Path(step["file"]).name != step["file"]:
            raise _damaged(folder / INDEX, f"{step['file']!r} is no file beside it")


def _read_step(about, folder):
    made = _class_of(about)
    path = folder / about["file"]
    _check_digest(path, about)
    try:
        if "parameters" not in about:
            return made.load(path)
        step = made(**{name: decode(v) for name, v in about["parameters"].items()})
        fitted = {name: decode(value) for name, value in about["fitted"].items()}
        # numpy does not close a file that it opened itself if the archive is damaged.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            if len(arrays.files) > MOST_ARRAYS:
                raise ValueError(
                    f"it holds {len(arrays.files):,} arrays, and no more than "
                    f"{MOST_ARRAYS:,} are read"
                )
            fitted |= {name: arrays[name] for name in arrays.files}
        _set_fitted(step, fitted)
    # What is damaged raises many kinds of errors.
    except Exception as error:
        raise _damaged(path, error) from error
    return step


def _set_fitted(step, fitted):
    """Set what was fitted; nothing of it stands in the place of a method."""
    for name, value in fitted.items():
        if name.startswith("__") or callable(getattr(type(step), name, None)):
            raise ValueError(f"{name!r} is no fitted attribute")
        setattr(step, name, value)


def _class_of(about):
    """The class of a step: an estimator's, since any other could do anything."""
    _check_class(about["module"])
    try:
        found = getattr(import_module(about["module"]), about["class"], None)
    except (ImportError, ValueError):
        found = None
    # A module also holds functions, and classes and modules that it imports.
    is_estimator = isinstance(found, type) and issubclass(found, BaseEstimator)
    if not is_estimator or found.__module__ != about["module"]:
        raise ValueError(
            f"{about['module']}.{about['class']}, which {INDEX} names, is no estimator of "
            "this version; read the folder with the version that wrote it."
        )
    return found


def _check_digest(path, about):
    """Raise unless a file is the one that was written with the index."""
    if not path.is_file():
        raise ValueError(
            f"{str(path)!r}, which {INDEX} names, is no file beside it; save the "
            "mitigation again."
        )
    # The first systems have no digests.
    if about.get("sha256", _digest(path)) != _digest(path):
        raise ValueError(
            f"{str(path)!r} is not the file that {INDEX} was written with: another was "
            "written there, or it is damaged. Save the mitigation again."
        )


def _damaged(path, error):
    kind = "" if isinstance(error, str | ValueError) else f"{type(error).__name__}: "
    return ValueError(
        f"{str(path)!r} is damaged, or not what save_mitigation wrote ({kind}{error}); "
        "save the mitigation again."
    )


def _check_class(module):
    if module.split(".")[0] not in PACKAGES:
        raise ValueError(
            f"A class of {module} is neither skfairfr's nor scikit-learn's, and only those "
            "are written and read; pickle the estimator, if you trust where it goes."
        )
