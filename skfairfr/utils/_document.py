"""A document as a tree of sections, and its writers as plain text and as Markdown.

The parts of a section are sections, paragraphs (str), lists of points (list of str),
:class:`Verdict`, :class:`Facts`, :class:`Table` and :class:`Figure`. Texts are plain: each
writer escapes what its form would take for more.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from textwrap import wrap

WIDTH = 100
# What a terminal may not have, and what it gets instead.
PLAIN = str.maketrans(
    {
        "\N{NO-BREAK SPACE}": " ",
        "\N{EN DASH}": "-",
        "\N{MINUS SIGN}": "-",
        "\N{HORIZONTAL ELLIPSIS}": "..",
    }
)
# What Markdown or HTML would take for more than text.
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


@dataclass(frozen=True)
class Section:
    """A part of a document with a heading; ``name`` is its anchor, ``short`` its entry."""

    name: str
    title: str
    parts: list
    short: str = ""


@dataclass(frozen=True)
class Document:
    """A title, a line under it, and sections."""

    title: str
    subtitle: str
    sections: list

    def only(self, *names):
        """The document cut to sections, also inner ones, whose names match a pattern."""
        return replace(self, sections=_cut(self.sections, names))


def _cut(sections, names):
    """Sections that match, and those that hold some; parts go with the section they are of."""
    found = []
    for section in sections:
        if any(fnmatch(section.name, name) for name in names):
            found.append(section)
            continue
        inner = _cut([p for p in section.parts if isinstance(p, Section)], names)
        if inner:
            found.append(replace(section, parts=inner))
    return found


@dataclass(frozen=True)
class Verdict:
    """What was found: a class for its colour, a headline, and sentences."""

    status: str
    headline: str
    texts: list


@dataclass(frozen=True)
class Facts:
    """Pairs of a term and what is said of it; ``long`` where that is a sentence."""

    rows: list
    long: bool = False


@dataclass(frozen=True)
class Cell:
    """A text, with an interval, more and a mark beneath; a class or style for its colour."""

    text: str
    ends: str = ""
    more: str = ""
    few: str = ""
    word: str = ""
    style: str = ""

    @property
    def line(self):
        """All of it in one line."""
        shown = self.text + (f" ({self.ends})" if self.ends else "")
        return ", ".join(filter(None, (shown, self.more, self.few)))


@dataclass(frozen=True)
class Row:
    """The heading of a row, with a place beneath, and its cells."""

    name: str
    cells: list
    place: str = ""
    everyone: bool = False

    @property
    def line(self):
        """Heading and place in one line."""
        return f"{self.name}, {self.place}" if self.place else self.name


@dataclass(frozen=True)
class Table:
    """A table; ``kind`` is "matrix" where its rows must not become blocks on a telephone."""

    caption: str
    head: list
    rows: list
    kind: str = "stacked"


@dataclass(frozen=True)
class Figure:
    """Images that are drawn when a page is written: ``draw()`` gives (svg, alt) of each."""

    caption: str
    draw: Callable = field(repr=False)


# ---- plain text ----------------------------------------------------------------------


def write_text(document):
    """A document for a terminal: lines of at most 100 columns, figures left out."""
    parts, said = (
        [[*_underlined(document.title, "="), *wrap(document.subtitle, WIDTH)]],
        set(),
    )
    for section in document.sections:
        parts += _text_of_section(section, said)
    return "\n\n".join("\n".join(part) for part in parts).translate(PLAIN) + "\n"


def _text_of_section(section, said, underline="-"):
    """Blocks of lines, the first of which begins with the title; none of figures alone.

    What was ``said`` above a table is not said again.
    """
    blocks = []
    for part in section.parts:
        if isinstance(part, Section):
            blocks += _text_of_section(part, said, "")
            continue
        if isinstance(part, Table):
            part = replace(part, caption="" if part.caption in said else part.caption)
            said.add(part.caption)
        if lines := TEXTS[type(part)](part):
            blocks.append(lines)
    if not blocks:
        return []
    return [[*_underlined(section.title, underline), *blocks[0]], *blocks[1:]]


def _underlined(text, underline):
    lines = wrap(text, WIDTH)
    return [*lines, underline * len(lines[-1])] if underline else lines


def _points(texts, mark="- "):
    indents = {"initial_indent": mark, "subsequent_indent": " " * len(mark)}
    return [line for text in texts for line in wrap(text, WIDTH, **indents)]


def _verdict(part):
    return [*wrap(part.headline, WIDTH), *_points(part.texts)]


def _facts(part):
    return _points([f"{term}: {text}" for term, text in part.rows])


def _table(part):
    caption = wrap(part.caption, WIDTH)
    rows = [part.head, *([r.line, *(c.line for c in r.cells)] for r in part.rows)]
    if len(rows) == 1:
        return []
    widths = _widths(rows)
    if sum(widths) + 2 * len(widths) > WIDTH + 2:
        lines = []
        for name, *cells in rows[1:]:
            told = zip(part.head[1:], cells, strict=True)
            about = "; ".join(f"{h}: {c}" for h, c in told if c)
            lines += _points([f"{name}: {about}"])
        return [*caption, *lines]
    return [*caption, *(line for row in rows for line in _lines(row, widths))]


def _widths(rows):
    """Width of each column; the widest break their lines where all do not fit."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    least = [
        max(len(w) for c in column for w in (c.split() or [""])) for column in columns
    ]
    while sum(widths) + 2 * (len(widths) - 1) > WIDTH:
        room = [w - n for w, n in zip(widths, least, strict=True)]
        if not any(room):
            break
        widest = max((w, k) for k, w in enumerate(widths) if room[k])[1]
        widths[widest] -= 1
    return widths


def _lines(row, widths):
    cells = [wrap(c, w) if c else [] for c, w in zip(row, widths, strict=True)]
    for place in range(max(map(len, cells))):
        line = [c[place] if place < len(c) else "" for c in cells]
        yield "  ".join(map(str.ljust, line, widths)).rstrip()


TEXTS = {
    str: lambda text: wrap(text, WIDTH),
    list: _points,
    Verdict: _verdict,
    Facts: _facts,
    Table: _table,
    Figure: lambda figure: [],
}


# ---- Markdown ------------------------------------------------------------------------


def write_markdown(document, level=2):
    """A document as Markdown, figures left out; its title is a heading of ``level``."""
    lines = [f"{'#' * level} {escaped(document.title)}", ""]
    lines += [escaped(document.subtitle), ""] if document.subtitle else []
    for section in document.sections:
        lines += _markdown_of_section(section, level + 1)
    return "\n".join(lines).rstrip() + "\n"


def _markdown_of_section(section, level):
    lines = [f"{'#' * level} {escaped(section.title)}", ""]
    for part in section.parts:
        if isinstance(part, Section):
            lines += _markdown_of_section(part, level + 1)
        elif found := MARKDOWN[type(part)](part):
            lines += [*found, ""]
    return lines


def escaped(text):
    """A text in which Markdown and HTML find nothing."""
    plain = " ".join(text.translate(PLAIN).split())
    return SPECIAL.sub(r"\\\1", plain).replace("\\<", "&lt;")


def _markdown_table(part):
    head = f"| {' | '.join(map(escaped, part.head))} |"
    rows = ([row.line, *(cell.line for cell in row.cells)] for row in part.rows)
    body = [f"| {' | '.join(map(escaped, row))} |" for row in rows]
    return [escaped(part.caption), "", head, "|---" * len(part.head) + "|", *body]


MARKDOWN = {
    str: lambda text: [escaped(text)],
    list: lambda texts: [f"- {escaped(text)}" for text in texts],
    Verdict: lambda v: [
        f"**{escaped(v.headline)}**",
        *(["", *(f"- {escaped(text)}" for text in v.texts)] if v.texts else []),
    ],
    Facts: lambda facts: [f"- {escaped(t)}: {escaped(v)}" for t, v in facts.rows],
    Table: _markdown_table,
    Figure: lambda figure: [],
}
