"""Values as JSON: of results, which only need be read, and of fitted estimators."""

import json
import math
from dataclasses import fields, is_dataclass
from hashlib import sha256

import numpy as np


def plain_form(value):
    """Dicts, lists and values for strict JSON: nan as null, infinities as text.

    Half characters, as in the path of a file whose name is not UTF-8, become "?".
    Fields of dataclasses whose metadata say ``json=False`` are left out.
    """
    if is_dataclass(value):
        shown = [f.name for f in fields(value) if f.metadata.get("json", True)]
        return {name: plain_form(getattr(value, name)) for name in shown}
    if isinstance(value, dict):
        return {plain_form(key): plain_form(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain_form(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain_form(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def check_format(header, newest, path):
    """Raise unless a saved file has a format that is read.

    Parameters
    ----------
    header : dict
        Of the file; the first files, which have no number, are of format 1.
    newest : int
        That this version writes; earlier ones are read.
    path : path-like
    """
    found = header.get("format", 1)
    if found not in range(1, newest + 1):
        raise ValueError(
            f"{str(path)!r} has format {found!r}, and this version of skfairfr reads "
            f"formats up to {newest}; read it with the version that wrote it, "
            f"{header.get('version', 'which it does not name')}, or a newer one."
        )


def digest_of(header, arrays=None):
    """SHA-256 of a saved file's header, without its own digest, and of arrays beside it.

    Parameters
    ----------
    header : dict
        Of JSON.
    arrays : dict of str -> ndarray, default=None

    Returns
    -------
    digest : str
    """
    told = {name: value for name, value in header.items() if name != "sha256"}
    digest = sha256(json.dumps(told, sort_keys=True).encode())
    for name, array in sorted((arrays or {}).items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def is_whole(header, arrays=None):
    """Whether a saved file is as it was written; those of format 1 do not tell."""
    if header.get("format", 1) == 1 and "sha256" not in header:
        return True
    return header.get("sha256") == digest_of(header, arrays)


def encode(value):
    """A JSON form that :func:`decode` turns back into the same value.

    Raises
    ------
    TypeError
        If there is none.
    """
    if isinstance(value, np.ndarray):
        dtype = "object" if value.dtype.kind == "O" else value.dtype.str
        return {"array": [encode(v) for v in value.tolist()], "dtype": dtype}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {"pairs": [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [encode(v) for v in value]}
    if isinstance(value, list):
        return [encode(v) for v in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"no JSON form of {value!r}")


def decode(value):
    """The value whose JSON form :func:`encode` gave."""
    if isinstance(value, list):
        return [decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array([decode(v) for v in value["array"]], dtype=value["dtype"])
    if "pairs" in value:
        return {decode(k): decode(v) for k, v in value["pairs"]}
    return tuple(decode(v) for v in value["tuple"])
