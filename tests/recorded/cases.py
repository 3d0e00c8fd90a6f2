"""The themes of a record, each a module whose functions take a Record."""

import inspect
from importlib import import_module

THEMES = (
    *("names", "pairs", "roc", "tails", "displays", "selection", "losses", "training"),
    *("reports", "command", "errors", "training_errors"),
)


def run(theme, record, folder):
    """Call the public functions of a theme, in the order in which they are written."""
    module = import_module(f"tests.recorded.{theme}")
    for name, function in list(vars(module).items()):
        ours = inspect.isfunction(function) and function.__module__ == module.__name__
        if ours and name.startswith("record_"):
            given = {"record": record, "folder": folder}
            wanted = inspect.signature(function).parameters
            function(**{name: given[name] for name in wanted})
