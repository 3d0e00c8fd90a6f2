"""Fitted projectors as one safetensors file: tensors, and JSON in its header; no pickle."""

import json
from importlib.metadata import version

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from skfairfr.projectors._head import HEADS, ProjectionHead
from skfairfr.utils._folder import whole_file
from skfairfr.utils._json_form import decode, encode
from skfairfr.utils._validation import check_path, warn_caller

_HEADER = "skfairfr"
_HEAD = "head_."
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
    weights = projector.head_.state_dict()
    tensors = {_HEAD + n: w.numpy(force=True) for n, w in weights.items()}
    parameters = projector.get_params(deep=False)
    parameters["device"] = str(parameters["device"])
    plain, without_form = {}, []
    for name, value in vars(projector).items():
        if name in parameters:
            try:
                parameters[name] = encode(parameters[name])
            except TypeError:
                parameters[name] = None
                without_form.append(name)
        elif name in left_out:
            continue
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            tensors[name] = np.ascontiguousarray(value)
        else:
            try:
                plain[name] = encode(value)
            except TypeError as error:
                raise ValueError(
                    f"{name} cannot be saved: {error}. Labels must be numbers, strings or "
                    "booleans; pickle keeps any."
                ) from error
    if without_form:
        warn_caller(
            f"{type(projector).__name__}.save leaves out the parameters {without_form}, which "
            "have no JSON form; they are None in what load returns, and set_params sets "
            "them again.",
            UserWarning,
        )
    header = {
        "class": type(projector).__name__,
        "version": version("skfairfr"),
        "kind": projector.head_.kind,
        "parameters": parameters,
        "fitted": plain,
    }
    content = to_bytes(tensors, metadata={_HEADER: json.dumps(header)})
    with whole_file(path) as staged:
        staged.write_bytes(content)


def load(cls, path):
    """A fitted projector of class ``cls`` from a file of :func:`save`."""
    path = check_path(path, "path")
    try:
        with safe_open(path, framework="np") as file:
            header = (file.metadata() or {}).get(_HEADER)
            tensors = {name: file.get_tensor(name) for name in file.keys()}
    except SafetensorError as error:
        raise ValueError(
            f"{str(path)!r} is no safetensors file ({error}); give one that save wrote."
        ) from error
    try:
        header = {"class": None} if header is None else json.loads(header)
        if header["class"] == cls.__name__:
            return _projector(cls, header, tensors)
    except Exception as error:  # what is damaged raises many kinds of errors
        raise ValueError(
            f"{str(path)!r} is damaged ({error}); save the projector again."
        ) from error
    raise ValueError(
        f"{str(path)!r} holds {header['class'] or 'no projector'}, not {cls.__name__}; "
        "call load of the class that was saved."
    )


def _projector(cls, header, tensors):
    """A projector with the parameters, attributes and weights that were saved."""
    projector = cls(**{k: decode(v) for k, v in header["parameters"].items()})
    fitted = {name: decode(value) for name, value in header["fitted"].items()}
    fitted |= {n: v for n, v in tensors.items() if not n.startswith(_HEAD)}
    vars(projector).update(fitted)
    n_hidden, n_features = tensors[f"{_HEAD}hidden.weight"].shape
    n_outputs = len(tensors[f"{_HEAD}output.weight"])
    head = ProjectionHead(n_features, n_hidden, n_outputs, header["kind"])
    weights = {n: torch.from_numpy(tensors[_HEAD + n]) for n in head.state_dict()}
    head.load_state_dict(weights)
    projector.head_ = head.eval().requires_grad_(False)
    return projector
