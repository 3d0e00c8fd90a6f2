"""Public names that are imported on first use, and what they need beyond a plain install.

A plain install measures. Training needs the libraries of an extra. Without them its names
are left out of ``__all__`` and ``dir()``, and using one raises an error that names the extra.
"""

import sys
from importlib import import_module
from importlib.util import find_spec

# What the extra "mitigate" of pyproject.toml installs.
TRAINING = ("torch", "skorch")


def lazy_names(package, homes, needs=None):
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package, to be assigned to these.

    Parameters
    ----------
    package : str
        Name of the package.
    homes : dict of str to str
        The module in which each public name lives.
    needs : dict of str to sequence of str, default=None
        Libraries of the extra "mitigate" that a module imports. One without an entry needs
        none.

    Returns
    -------
    names : list of str
        The names whose modules can be imported in this environment, sorted.
    resolve : callable
        Raises ImportError where a library is missing, also inside ``hasattr``. An
        AttributeError would make ``hasattr`` False, but ``from package import name`` replaces
        its message, which names the remedy. No class can inherit from both errors.
    listed : callable
        What ``dir()`` lists.
    """
    needs = needs or {}
    names = sorted(name for name in homes if not missing(needs.get(homes[name], ())))

    def resolve(name):
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = homes[name]
        absent = missing(needs.get(module, ()))
        if absent:
            raise ImportError(
                f"{name} needs {' and '.join(needs[module])}. Not installed: "
                f"{', '.join(absent)}. Install the extra 'mitigate': "
                'pip install "skfairfr[mitigate]"',
                name=absent[0],
            )
        return getattr(import_module(module), name)

    def listed():
        return sorted({*vars(sys.modules[package]), *names})

    return names, resolve, listed


def missing(libraries):
    """Those of these top-level modules that are not installed. None is imported."""
    return [name for name in libraries if not is_installed(name)]


def is_installed(library):
    """Whether a top-level module can be imported. It is not imported."""
    if library in sys.modules:
        return sys.modules[library] is not None
    try:
        return find_spec(library) is not None
    except ImportError:  # raised by a finder that blocks the library
        return False
