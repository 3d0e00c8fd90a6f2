"""Saving and loading: one safetensors file, with JSON in its header. No pickle, no torch.

A value is made of dicts, lists, tuples, texts, numbers, arrays and estimators. Arrays of
numbers become tensors, everything else is JSON. An estimator becomes its class, its
parameters and what was fitted. Only classes of skfairfr and scikit-learn are written and
read, so a file cannot name code to run. A file is written whole or not at all.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from skfairfr.utils._folder import whole_file

# Changed where files of earlier releases would no longer be read.
FORMAT = 1
PACKAGES = ("skfairfr", "sklearn")
_HEADER = "skfairfr"


class State(NamedTuple):
    """What is written of an estimator.

    Classes whose ``vars`` are not that return one by ``_to_save()``, and take what was
    fitted by ``_set_fitted_state(fitted)``.
    """

    cls: type
    parameters: dict
    fitted: dict


def write(path, value):
    """Write a value to a file.

    Parameters
    ----------
    path : str or path-like
        An earlier file is replaced.
    value : State, estimator, array, dict, list, tuple, text or number

    Raises
    ------
    ValueError
        If something in it has no form without pickle. The message names it.
    OSError
        If the file cannot be written.
    """
    from safetensors.numpy import save

    tensors = {}
    header = {
        "format": FORMAT,
        "version": version("skfairfr"),
        "value": to_form(value, "", tensors),
    }
    content = save(tensors, metadata={_HEADER: json.dumps(header)})
    with whole_file(path) as staged:
        staged.write_bytes(content)


def read(path, remedy):
    """Read what :func:`write` wrote.

    Parameters
    ----------
    path : str or path-like
    remedy : str
        What to do about a file that cannot be read.

    Returns
    -------
    value : object
        A State is read as the estimator.

    Raises
    ------
    ValueError
        If the file is damaged, or something else.
    OSError
        If there is no such file.
    """
    from safetensors import safe_open

    with damage_named(path, remedy):
        with safe_open(path, framework="np") as file:
            header = json.loads((file.metadata() or {})[_HEADER])
            tensors = {name: file.get_tensor(name) for name in file.keys()}
        if header["format"] != FORMAT:
            raise ValueError(
                f"it has format {header['format']} of skfairfr {header['version']}, and "
                f"this version reads {FORMAT}"
            )
        return _of_form(header["value"], tensors)


@contextmanager
def damage_named(path, remedy):
    """Turn errors inside into a ValueError that names the file and the remedy."""
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:  # what is damaged raises many kinds of errors
        why = f"{type(error).__name__}: {error}"
        if isinstance(error, KeyError):
            why = f"it has no {error}"
        raise ValueError(
            f"{str(path)!r} is no file of skfairfr, or is damaged ({why}): {remedy}."
        ) from error


def to_form(value, name="", tensors=None):
    """The JSON form of a value. Its arrays of numbers go to ``tensors``, by their names.

    Raises
    ------
    ValueError
        If there is none.
    """
    tensors = {} if tensors is None else tensors
    if isinstance(value, BaseEstimator):
        value = _state_of(value)
    if isinstance(value, State):
        cls = _home_of(value.cls), value.cls.__qualname__
        _class_of(*cls)
        parts = (to_form(part, name, tensors) for part in value[1:])
        return {"estimator": [*cls, *parts]}
    if isinstance(value, np.ndarray):
        return _form_of_array(value, name, tensors)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        keys = [to_form(key) for key in value]
        parts = [to_form(v, _inside(name, k), tensors) for k, v in value.items()]
        return {"pairs": list(zip(keys, parts, strict=True))}
    if isinstance(value, list | tuple):
        parts = [to_form(v, _inside(name, k), tensors) for k, v in enumerate(value)]
        return {"tuple": parts} if isinstance(value, tuple) else parts
    raise ValueError(
        f"{name or 'This'} cannot be saved without pickle: it is {value!r}, which is not an "
        "array, a number, a string or an estimator of skfairfr or scikit-learn. Pickle it, "
        "and load it only if you trust the source."
    )


def has_form(value):
    """Whether :func:`to_form` gives one."""
    try:
        to_form(value)
    except ValueError:
        return False
    return True


def _inside(name, key):
    return f"{name}.{key}" if name else str(key)


def _form_of_array(value, name, tensors):
    if value.dtype.kind not in "fiub" or value.dtype.itemsize > 8:
        dtype = "object" if value.dtype.kind == "O" else value.dtype.str
        return {"array": to_form(value.tolist(), name), "dtype": dtype}
    while name in tensors:
        name += "_"
    # Products of a matrix depend on the order of its numbers in the last bit.
    transposed = value.flags.f_contiguous and not value.flags.c_contiguous
    value = value.astype(value.dtype.newbyteorder("="), copy=False)
    tensors[name] = np.asarray(value.T if transposed else value, order="C")
    return {"tensor": name, "transposed": transposed}


def _state_of(estimator):
    if hasattr(type(estimator), "_to_save"):
        return estimator._to_save()
    parameters = estimator.get_params(deep=False)
    left_out = {*parameters, "_metadata_request"}
    fitted = {n: v for n, v in vars(estimator).items() if n not in left_out}
    return State(type(estimator), parameters, fitted)


def _of_form(form, tensors):
    """The value whose form :func:`to_form` gave."""
    if isinstance(form, list):
        return [_of_form(part, tensors) for part in form]
    if not isinstance(form, dict):
        return form
    if "tensor" in form:
        found = tensors[form["tensor"]]
        return found.T if form["transposed"] else found
    if "array" in form:
        return np.array(_of_form(form["array"], tensors), dtype=form["dtype"])
    if "pairs" in form:
        pairs = form["pairs"]
        return {_of_form(k, tensors): _of_form(v, tensors) for k, v in pairs}
    if "tuple" in form:
        return tuple(_of_form(form["tuple"], tensors))
    home, name, *parts = form["estimator"]
    parameters, fitted = (_of_form(part, tensors) for part in parts)
    made = _class_of(home, name)(**parameters)
    if hasattr(type(made), "_set_fitted_state"):
        made._set_fitted_state(fitted)
    else:
        vars(made).update(fitted)
    return made


def _home_of(cls):
    """The public package of a class: files outlive the private modules in it."""
    return cls.__module__.partition("._")[0]


def _class_of(home, name):
    """The class of an estimator: any other function or class could do anything."""
    found = None
    if home.split(".")[0] in PACKAGES:
        found = getattr(import_module(home), name, None)
    is_estimator = isinstance(found, type) and issubclass(found, BaseEstimator)
    if not is_estimator or _home_of(found) != home:
        raise ValueError(
            f"{home}.{name} is no estimator of skfairfr or scikit-learn, and no other is "
            "written or read. Pickle it, and load it only if you trust the source"
        )
    return found
