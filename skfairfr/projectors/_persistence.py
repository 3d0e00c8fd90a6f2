"""Fitted projectors as one safetensors file: tensors, and JSON in its header; no pickle."""

import json
import os
import re
from importlib.metadata import version

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from skfairfr.projectors._head import HEADS, ProjectionHead
from skfairfr.utils._folder import whole_file
from skfairfr.utils._json_form import check_format, decode, digest_of, encode, is_whole
from skfairfr.utils._validation import check_path, special_file, warn_caller

_HEADER = "skfairfr"
_HEAD = "head_."
# Changed where a version would no longer read what an earlier one wrote.
# 2 has a digest.
FORMAT = 2
# The head is written as its weights; metadata requests are not written.
_NOT_WRITTEN = ("head_", "net_", "_metadata_request")
# Templates of the people trained on, and their names.
PEOPLE = ("centroids_", "identities_")


def save(projector, path, include_people):
    """Write a fitted projector; parameters without a JSON form are left out, with a warning."""
    path = check_path(path, "path")
    if projector.head_.kind not in HEADS:
        raise ValueError(
            f"head={projector.head!r} is one of your own, which a file of save cannot make "
            "again; pickle the projector, or keep the weights of its head with "
            "torch.save(projector.head_.state_dict(), path)."
        )
    left_out = _NOT_WRITTEN if include_people else (*_NOT_WRITTEN, *PEOPLE)
    tensors = {
        _HEAD + name: weight.detach().cpu().numpy()
        for name, weight in projector.head_.state_dict().items()
    }
    plain = {}
    for name, value in vars(projector).items():
        if name in left_out or not (name.endswith("_") or name.startswith("_")):
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            tensors[name] = np.ascontiguousarray(value)
        else:
            plain[name] = _fitted(name, value)
    parameters, without_form = {}, []
    for name, value in projector.get_params(deep=False).items():
        value = str(value) if name == "device" else value  # a torch.device, too
        try:
            parameters[name] = encode(value)
            json.dumps(parameters[name])
        except TypeError:
            parameters[name] = None
            without_form.append(name)
    if without_form:
        warn_caller(
            f"{type(projector).__name__}.save leaves out the parameters {without_form}, which "
            "have no JSON form; they are None in what load returns, and set_params sets "
            "them again.",
            UserWarning,
        )
    header = {
        "format": FORMAT,
        "class": type(projector).__name__,
        "version": version("skfairfr"),
        "kind": projector.head_.kind,
        "parameters": parameters,
        "fitted": plain,
    }
    header["sha256"] = digest_of(header, tensors)
    try:
        with whole_file(path) as staged:
            save_file(tensors, staged, metadata={_HEADER: json.dumps(header)})
    except SafetensorError as error:
        number = re.search(r"os error (\d+)", str(error))
        if number:
            raise OSError(
                int(number[1]), os.strerror(int(number[1])), str(path)
            ) from error
        raise OSError(f"{str(path)!r} cannot be written ({error}).") from error


def load(cls, path):
    """A fitted projector of class ``cls`` from a file of :func:`save`."""
    path = check_path(path, "path")
    special = special_file(path)
    if special:
        raise ValueError(f"{str(path)!r} is {special}; give a file that save wrote.")
    try:
        with safe_open(path, framework="np") as file:
            header = (file.metadata() or {}).get(_HEADER)
            tensors = {name: file.get_tensor(name) for name in file.keys()}
    except SafetensorError as error:
        raise ValueError(
            f"{str(path)!r} is no safetensors file ({error}); give one that save wrote."
        ) from error
    header = _decoded(header, path)
    if header is None or header["class"] != cls.__name__:
        held = "no projector" if header is None else f"a {header['class']}"
        raise ValueError(
            f"{str(path)!r} holds {held}, not a {cls.__name__}; call load of the class "
            "that was saved."
        )
    check_format(header, FORMAT, path)
    if not is_whole(header, tensors):
        raise _damaged(path, "it is not as save wrote it")
    # What is damaged raises many kinds of errors.
    try:
        return _projector(cls, header, tensors)
    except Exception as error:
        raise _damaged(path, error) from error


def _decoded(header, path):
    """The header of a file as a dict that names a class; None where there is none."""
    if header is None:
        return None
    try:
        header = json.loads(header)
    except ValueError as error:
        raise _damaged(path, error) from error
    if not isinstance(header, dict) or not isinstance(header.get("class"), str):
        raise _damaged(path, "its header names no class")
    return header


def _projector(cls, header, tensors):
    """A projector with the parameters, attributes and weights that were saved."""
    projector = cls(**{k: decode(v) for k, v in header["parameters"].items()})
    fitted = {name: decode(value) for name, value in header["fitted"].items()}
    fitted |= {n: v for n, v in tensors.items() if not n.startswith(_HEAD)}
    for name, value in fitted.items():
        # As save chooses them: nothing stands in the place of a method.
        if name.startswith("__") or callable(getattr(cls, name, None)):
            raise ValueError(f"{name!r} is no fitted attribute")
        setattr(projector, name, value)
    projector.head_ = _head(tensors, header["kind"])
    n_features = projector.head_.hidden.in_features
    if projector.n_features_in_ != n_features:
        raise ValueError(f"the head has {n_features} features")
    return projector


def _damaged(path, error):
    kind = "" if isinstance(error, str | ValueError) else f"{type(error).__name__}: "
    return ValueError(
        f"{str(path)!r} is damaged ({kind}{error}); save the projector again."
    )


def _head(tensors, kind):
    """The head with the weights among the tensors."""
    import torch

    weights = {
        name.removeprefix(_HEAD): torch.from_numpy(np.array(value))
        for name, value in tensors.items()
        if name.startswith(_HEAD)
    }
    n_hidden, n_features = weights["hidden.weight"].shape
    n_outputs = weights["output.weight"].shape[0]
    head = ProjectionHead(n_features, n_hidden, n_outputs, kind)
    head.load_state_dict(weights)
    return head.eval().requires_grad_(False)


def _fitted(name, value):
    """The JSON form of a fitted attribute; raises where it has none."""
    try:
        return encode(value)
    except TypeError as error:
        raise ValueError(
            f"{name} cannot be saved: {error}. Labels must be numbers, strings or "
            "booleans; pickle keeps any."
        ) from error
