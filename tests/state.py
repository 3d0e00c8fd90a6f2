"""What a process has besides its objects, and what a public call must leave as it was."""

import contextlib
import os
import random
import signal
import sys
import warnings

import numpy as np
import sklearn
from threadpoolctl import threadpool_info


def state():
    """Everything of the process that a call could change behind its caller's back.

    Libraries that are not loaded have no state, and are not loaded for it.

    Returns
    -------
    found : dict of str -> value
    """
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    environment = dict(os.environ)
    environment.pop("PYTEST_CURRENT_TEST", None)  # which pytest changes
    found = {
        "numpy's random state": (name, keys.tobytes(), *rest),
        "random's state": random.getstate(),
        "numpy's handling of errors": np.geterr(),
        "numpy's print options": np.get_printoptions(),
        "warning filters": list(warnings.filters),
        "scikit-learn's configuration": sklearn.get_config(),
        "environment": environment,
        "libraries": len(sys.modules),
        "working folder": os.getcwd(),
        "umask": _umask(),
        "signal handlers": [signal.getsignal(n) for n in (2, 15)],
        "threads": {
            pool["filepath"]: pool["num_threads"] for pool in threadpool_info()
        },
    }
    return found | _of_torch() | _of_matplotlib()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _of_torch():
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    return {
        "torch's random state": torch.get_rng_state().numpy().tobytes(),
        "torch's default type": torch.get_default_dtype(),
        "torch's threads": torch.get_num_threads(),
        "torch's gradients": torch.is_grad_enabled(),
        "torch's determinism": torch.are_deterministic_algorithms_enabled(),
    }


def _of_matplotlib():
    matplotlib = sys.modules.get("matplotlib")
    if not hasattr(matplotlib, "rcParams"):  # being imported, or not at all
        return {}
    pyplot = sys.modules.get("matplotlib.pyplot")
    # The backend is chosen when it is first asked for.
    shown = {k: v for k, v in dict.items(matplotlib.rcParams) if k != "backend"}
    open_figures = pyplot.get_fignums() if pyplot else []
    return {"rcParams": shown, "figures": open_figures}


def changes(before, after, but=()):
    """Names of what differs; what was loaded in between is in ``after`` alone."""
    # Libraries that are loaded bring threads of their own.
    loaded = {key: after["threads"].get(key) for key in before["threads"]}
    after = after | {"threads": loaded}
    left_out = {"libraries", *but}
    if before["libraries"] != after["libraries"]:
        left_out |= {"warning filters", "environment"}  # set as they are imported
    return [n for n in before if n not in left_out and before[n] != after[n]]


@contextlib.contextmanager
def kept(but=()):
    """Fail where the state differs afterwards, but for what is named."""
    before = state()
    yield
    found = changes(before, state(), but)
    assert not found, f"changed: {', '.join(found)}"
