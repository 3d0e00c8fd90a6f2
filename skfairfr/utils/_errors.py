"""Errors about arguments, whose messages can name the arguments in other words.

A message is made of parts. Where it names an argument, the part is an :class:`Argument`, not
text: Python shows ``impostors='all'``, and a command shows ``--impostors all``, both from
the same part. No message is ever searched for words.
"""

import difflib
from typing import NamedTuple

import numpy as np


class NO_VALUE:
    """The value of an argument that is named without one; None may be a value."""


class Argument(NamedTuple):
    """An argument that a message names.

    Attributes
    ----------
    name : str
        As in Python.
    value : object
        Shown beside the name unless it is NO_VALUE.
    is_place : bool
        Whether the message says what to give there: ``as labels``.
    """

    name: str
    value: object = NO_VALUE
    is_place: bool = False

    @property
    def has_value(self):
        """Whether a value is shown beside the name."""
        return self.value is not NO_VALUE

    def in_python(self):
        """``labels``, ``impostors='all'`` or ``as labels``."""
        if self.has_value:
            return f"{self.name}={plain(self.value)!r}"
        return f"as {self.name}" if self.is_place else self.name


def place(name):
    """An argument as the place where something is to be given."""
    return Argument(name, is_place=True)


# What to do about rows without an embedding.
FAILED_EXTRACTIONS = (
    "an audit counts failed extractions by group with ",
    Argument("fte"),
    ", a column that marks them; rates without such rows hide whom the system fails.",
)


class Message(str):
    """A text in Python's words that can also be spelled in others.

    Parameters
    ----------
    *parts : str, Argument or Message
    """

    def __new__(cls, *parts):
        flat = []
        for part in parts:
            flat += part.parts if isinstance(part, Message) else [part]
        text = "".join(p.in_python() if isinstance(p, Argument) else p for p in flat)
        message = super().__new__(cls, text)
        message.parts = tuple(flat)
        return message

    def spelled(self, spell):
        """The text in which ``spell`` turns each Argument into a str."""
        return "".join(spell(p) if isinstance(p, Argument) else p for p in self.parts)


def all_spelled(texts, spell):
    """Texts as a tuple, with every Message among them spelled as ``spell`` does."""
    return tuple(t.spelled(spell) if isinstance(t, Message) else t for t in texts)


class ArgumentError(ValueError):
    """An argument cannot be used.

    ``ArgumentError(*problem, remedy=(), value=None)`` takes the problem and the remedy as
    parts, each a text, an Argument or a Message, so that the message can name arguments in
    other words than Python's: ``error.message.spelled(spell)``, where ``spell`` turns an
    Argument, with its ``name`` and ``value``, into a text.

    Attributes
    ----------
    message : str
        The problem and the remedy.
    problem : str
        What is wrong.
    argument : str or None
        Name of the first argument that the problem names.
    value : object
        What was given for it; None where that is not known.
    remedy : str
        What to do; may be empty.
    """

    def __init__(self, *problem, remedy=(), value=None):
        self.problem = Message(*problem)
        self.remedy = Message(*((remedy,) if isinstance(remedy, str) else remedy))
        self.message = Message(self.problem, *(" ", self.remedy) if self.remedy else ())
        first = next((p for p in self.problem.parts if isinstance(p, Argument)), None)
        self.argument = None if first is None else first.name
        shown = first is not None and first.has_value
        self.value = first.value if shown and value is None else value
        super().__init__(self.message)


def refused(name, value, problem, remedy=""):
    """The error that an argument has a value that it cannot have; ``problem`` follows its name.

    A part of an argument is named with it: ``columns['age']`` is about ``columns``.
    """
    argument = name.partition("[")[0]
    part = name.removeprefix(argument)
    return ArgumentError(
        Argument(argument), f"{part} {problem}", remedy=remedy, value=value
    )


def suggestion(name, known):
    """``Did you mean 'far'? `` where a name is like one of the known ones, or else nothing."""
    near = difflib.get_close_matches(str(name), known, 1)
    return f"Did you mean {near[0]!r}? " if near else ""


def kind_of_value(value):
    """Type and size of a value, which may be too long to be shown."""
    if value is None:
        return "None"
    shape, size = getattr(value, "shape", None), size_of(value)
    told = f"shape {tuple(shape)}" if shape is not None else f"length {size}"
    kind = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
    return kind if size is None else f"{kind} of {told}"


def size_of(value):
    """Number of elements; None of a value without any."""
    try:
        return len(value)
    except TypeError:
        return None


def plain(value):
    """A value to be shown: numpy's numbers and strings, also in a list, as Python's own.

    Their repr names their type, as in ``np.str_('a')``, which tells a caller nothing.
    """
    if isinstance(value, np.generic):
        return str(value) if value.dtype.kind in "mM" else value.item()
    if type(value) in (list, tuple):
        return type(value)(plain(v) for v in value)
    if type(value) is dict:
        return {plain(k): plain(v) for k, v in value.items()}
    return value
