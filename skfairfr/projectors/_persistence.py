"""What is written of a fitted projector: the weights of its head, and all else it holds."""

import torch

from skfairfr.projectors._head import HEADS, ProjectionHead
from skfairfr.utils._saved import State, to_form
from skfairfr.utils._validation import warn_caller

# The head is written as its weights; metadata requests are not written.
_NOT_WRITTEN = ("head_", "net_", "_metadata_request")
# Templates of the people trained on, and their names.
PEOPLE = ("centroids_", "identities_")


def state_of(projector, include_people):
    """A State; parameters without a JSON form are None in it, with a warning."""
    head = projector.head_
    if head.kind not in HEADS:
        raise ValueError(
            f"head={projector.head!r} is one of your own, which a file of save cannot make "
            "again; pickle the projector, or keep the weights of its head with "
            "torch.save(projector.head_.state_dict(), path)."
        )
    parameters = projector.get_params(deep=False)
    parameters["device"] = str(parameters["device"])
    without_form = [n for n, value in parameters.items() if not _has_form(value)]
    if without_form:
        warn_caller(
            f"{type(projector).__name__}.save leaves out the parameters {without_form}, which "
            "have no JSON form; they are None in what load returns, and set_params sets "
            "them again.",
            UserWarning,
        )
        parameters |= dict.fromkeys(without_form)
    left_out = {*parameters, *_NOT_WRITTEN, *(() if include_people else PEOPLE)}
    fitted = {n: v for n, v in vars(projector).items() if n not in left_out}
    weights = {n: w.numpy(force=True) for n, w in head.state_dict().items()}
    fitted["head_"] = {"kind": head.kind, **weights}
    return State(type(projector), parameters, fitted)


def _has_form(value):
    try:
        to_form(value)
    except ValueError:
        return False
    return True


def set_state(projector, fitted):
    """Set what was fitted, as :func:`state_of` gave it."""
    weights = {n: w for n, w in fitted["head_"].items() if n != "kind"}
    n_hidden, n_features = weights["hidden.weight"].shape
    n_outputs = len(weights["output.weight"])
    head = ProjectionHead(n_features, n_hidden, n_outputs, fitted["head_"]["kind"])
    head.load_state_dict({n: torch.from_numpy(w) for n, w in weights.items()})
    vars(projector).update(fitted)
    projector.head_ = head.eval().requires_grad_(False)
