"""Calls and what came of them: one leaf for each number, array or text."""

import base64
import dataclasses
import gzip
import json
import re
import warnings

import numpy as np

ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
FRAMES = re.compile(r"(Traceback \(most recent call last\):\n)(?:[ \t].*\n)+")
# The order of a set of strings in a message changes from process to process.
OPTIONS = re.compile(r"\{('[^'{}]*'(?:, '[^'{}]*')*)\}")


class Record:
    """Keeps what calls return, warn of and raise, under readable keys.

    Parameters
    ----------
    folder : path-like
        Temporary folder, whose path is replaced in every text.
    """

    def __init__(self, folder):
        self.folder = str(folder)
        self.leaves = {}

    def __call__(self, key, function, *args, **options):
        """Call a function; return its result, or None where it raised an error."""
        result = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = function(*args, **options)
            except Exception as error:
                self.keep(f"{key} / error", f"{type(error).__name__}: {error}")
            else:
                self.keep(key, result)
        if caught:
            texts = [f"{w.category.__name__}: {w.message}" for w in caught]
            self.keep(f"{key} / warnings", texts)
        return result

    def keep(self, key, value):
        """Keep a value as it is, part by part."""
        parts = parts_of(value)
        if parts is None:
            if key in self.leaves:
                raise KeyError(f"two cases have the key {key!r}")
            self.leaves[key] = self._encode(value)
            return
        for name, part in parts.items():
            self.keep(f"{key}{name}", part)

    def write(self, path):
        """Write all leaves, compressed."""
        with gzip.open(path, "wt", encoding="utf-8") as file:
            json.dump(self.leaves, file, indent=0)

    def _encode(self, value):
        if isinstance(value, str):
            return self._plain_text(str(value))
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float) and not isinstance(value, np.generic):
            return {"float": repr(value)}
        if isinstance(value, np.generic):
            return {"scalar": str(value.dtype), "value": self._encode(value.item())}
        if type(value).__name__ in ("Tensor", "Parameter"):
            return {"tensor": self._encode(value.detach().numpy())}
        if isinstance(value, np.ndarray):
            return self._encode_array(value)
        return {"object": type(value).__name__}

    def _encode_array(self, array):
        found = {"array": array.dtype.str, "shape": list(array.shape)}
        if array.dtype.kind in "OSU":
            return found | {"items": [self._encode(v) for v in array.ravel().tolist()]}
        data = np.ascontiguousarray(array).tobytes()
        return found | {"bytes": base64.b64encode(data).decode()}

    def _plain_text(self, text):
        text = text.replace(self.folder, "<folder>")
        text = ADDRESS.sub("<address>", FRAMES.sub(r"\1", text))
        return OPTIONS.sub(
            lambda m: "{" + ", ".join(sorted(m[1].split(", "))) + "}", text
        )


def parts_of(value):
    """Suffix of the key -> part; None of what is kept as one leaf."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {"": type(value).__name__} | named(fields)
    if isinstance(value, dict):
        return named(value) or None
    if isinstance(value, np.ndarray) and value.dtype.names:
        return named({name: value[name] for name in value.dtype.names})
    if type(value).__name__ == "DataFrame":
        library = type(value).__module__.split(".")[0]
        columns = {name: np.asarray(value[name]) for name in value.columns}
        return {"": library} | named(columns)
    if isinstance(value, list | tuple) and value:
        return {f"[{i}]": part for i, part in enumerate(value)}
    return None


def named(parts):
    return {f".{name}": part for name, part in parts.items()}


def read(path):
    """The leaves that :meth:`Record.write` wrote."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def decoded(leaf):
    """Numbers of a leaf as an array; None of a text or another object."""
    if isinstance(leaf, dict) and "tensor" in leaf:
        return decoded(leaf["tensor"])
    if isinstance(leaf, dict) and "bytes" in leaf:
        flat = np.frombuffer(base64.b64decode(leaf["bytes"]), dtype=leaf["array"])
        return flat.reshape(leaf["shape"])
    if isinstance(leaf, dict) and "scalar" in leaf:
        return decoded(leaf["value"])
    if isinstance(leaf, dict) and "float" in leaf:
        return np.array(float(leaf["float"]))
    return np.array(leaf) if isinstance(leaf, bool | int) else None
