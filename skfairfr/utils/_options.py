"""Options that a function passes on to another, listed by name in its signature and help."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, cleandoc, signature
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable)
MARK = re.compile(r"\*\*options.*\n(?: {4}.*\n)*")
# An entry of the section of parameters: a name, not indented, and its text.
ENTRY = re.compile(r"(?m)^(\w+) : .*\n(?: {4}.*\n|\n(?= {4}))+")


def with_options_of(
    source: Callable[..., Any], *, without: Sequence[str] = ()
) -> Callable[[F], F]:
    """List the options of ``source`` in place of a function's ``**options``.

    ``inspect.signature``, ``help`` and completion in a notebook show their names, defaults
    and texts, all written once. An option that does not exist is a TypeError.

    Parameters
    ----------
    source : callable
        Its keyword-only parameters are listed, but those that the function has itself. A
        text in the docstring of the function replaces that of ``source``.
    without : sequence of str, default=()
        Parameters of ``source`` that are not listed. ``source`` raises for them.

    Returns
    -------
    decorate : callable
        From the function to itself, with another signature and docstring.
    """

    def decorate(function: F) -> F:
        own = signature(function)
        known = {n: p for n, p in own.parameters.items() if p.kind != p.VAR_KEYWORD}
        taken = {
            name: parameter
            for name, parameter in signature(source).parameters.items()
            if parameter.kind is Parameter.KEYWORD_ONLY
            and name not in {*known, *without}
        }
        parameters = [*known.values(), *taken.values()]
        names = [*known, *taken]
        of_source = getattr(source, "accepted", signature(source).parameters)

        @wraps(function)
        def call(*args, **options):
            for name in options.keys() - call.accepted:
                near = get_close_matches(name, names, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise TypeError(
                    f"{function.__name__}() has no argument {name!r}.{hint}"
                )
            return function(*args, **options)

        call.accepted = {*known, *of_source}
        call.__signature__ = own.replace(parameters=parameters)
        text = cleandoc(function.__doc__ or "")
        written = {entry[1] for entry in ENTRY.finditer(text)}
        added = [
            entry[0]
            for entry in ENTRY.finditer(cleandoc(source.__doc__ or ""))
            if entry[1] in taken.keys() - written
        ]
        call.__doc__ = MARK.sub(lambda _: "".join(added), text)
        return call

    return decorate
