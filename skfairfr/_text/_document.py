"""A document as a tree of sections, and its writers: plain text, Markdown and HTML.

The parts of a section are sections, paragraphs (str), lists of points (list of str),
:class:`Verdict`, :class:`Facts`, :class:`Table` and :class:`Figure`. None, and what is empty,
is left out. Texts are plain: each writer escapes what its form would take for more. A page has no script and takes nothing from
a network: figures are images within it.
"""

from __future__ import annotations

import os
import re
import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import cache
from importlib import metadata
from textwrap import wrap

from skfairfr.utils._validation import check_line

WIDTH = 100
NO_BREAK = "\N{NO-BREAK SPACE}"
# What a terminal may not have, and what it gets instead.
PLAIN = str.maketrans(
    {
        NO_BREAK: " ",
        "\N{EN DASH}": "-",
        "\N{MINUS SIGN}": "-",
        "\N{HORIZONTAL ELLIPSIS}": "..",
    }
)
# What Markdown or HTML would take for more than text.
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
# In the name of a combination of groups.
AFTER_AND = re.compile(r"(?<=\w &) (?=\w)")
# Between a number and its percent sign, or a sign before it.
BESIDE_NUMBER = re.compile(r"(?<=\d) (?=%)|(?<=<) (?=\d)")
# A number or an interval, not a label such as "60 and over" or "18 to under 40".
NUMBER = re.compile(
    r"infinite$|(at most |at least |up to |< ?)?[+\-\N{MINUS SIGN}]?\d[\d.,e+\-]*(\s?%|\s?points)?"
    r"($|[,;:]| \(| to [+\-\N{MINUS SIGN}]?\d)"
)
IN_BRACKETS = re.compile(r"\([^()]*\)")


@dataclass(frozen=True)
class Section:
    """A part of a document with a heading. ``name`` is its anchor, which may be empty.

    A page shows one that is ``folded`` when it is opened, or printed.
    """

    name: str
    title: str
    parts: list
    folded: bool = False

    def __post_init__(self):
        object.__setattr__(self, "parts", list(filter(None, self.parts)))

    def __bool__(self):
        return bool(self.parts)


@dataclass(frozen=True)
class Document:
    """A title, a line under it, sections, and a line of what abbreviations mean."""

    title: str
    subtitle: str
    sections: list
    abbreviations: str = ""

    def __post_init__(self):
        object.__setattr__(self, "sections", list(filter(None, self.sections)))

    def only(self, *names):
        """The document cut to sections, also inner ones, whose names match a pattern."""
        return replace(self, sections=_cut(self.sections, names))

    def in_short(self, *names, most):
        """The document cut to sections with the first ``most`` points and rows of each part."""
        sections = [
            replace(s, parts=[shortened(part, most) for part in s.parts])
            for s in self.only(*names).sections
        ]
        return replace(self, sections=sections)


def _cut(sections, names):
    """Sections that match, or their parts that do."""
    found = []
    for section in sections:
        if not any(fnmatch(section.name, name) for name in names):
            inner = [p for p in section.parts if isinstance(p, Section)]
            section = replace(section, parts=_cut(inner, names))
        found.append(section)
    return found


def shortened(part, most, others="more"):
    """A part with its first points or rows, and how many others. Tables lose captions."""
    if isinstance(part, Verdict):
        return replace(part, texts=shortened(part.texts, most))
    if isinstance(part, Table):
        more = [
            Row(text, [Cell("")] * (len(part.head) - 1))
            for text in _more(part.rows, most, others)
        ]
        return replace(part, caption="", rows=[*part.rows[:most], *more])
    if isinstance(part, list):
        return [*part[:most], *_more(part, most, others)]
    return part


def _more(parts, most, others):
    """How many others there are, in a list, or empty if that is none."""
    return [f"{len(parts) - most:,} {others}"] * (len(parts) > most)


@dataclass(frozen=True)
class Verdict:
    """Result: a class for its colour, a headline, sentences, and the status in words."""

    status: str
    headline: str
    texts: list
    label: str = ""


@dataclass(frozen=True)
class Facts:
    """Pairs of a term and its description. ``long`` if that is a sentence."""

    rows: list
    long: bool = False


@dataclass(frozen=True)
class Cell:
    """A text, with an interval, more and a mark beneath. A class or style for its colour."""

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
    """A table. ``kind`` is "matrix" if its rows must not become blocks on a telephone.

    ``colours`` is the legend of those on a page. Texts have no colours.
    """

    caption: str
    head: list
    rows: list
    kind: str = "stacked"
    colours: str = ""

    def __bool__(self):
        return bool(self.rows)

    @property
    def words(self):
        """Whether each column has labels or no number in any cell, and is read from the left."""
        columns = zip(
            *([cell.text for cell in row.cells] for row in self.rows), strict=True
        )
        return [
            True,
            *(
                "group" in name.lower() or not any(map(NUMBER.match, texts))
                for name, texts in zip(self.head[1:], columns, strict=True)
            ),
        ]


@dataclass(frozen=True)
class Figure:
    """Images that are drawn once, when a page is written: ``draw()`` gives (svg, alt) of each.

    ``name`` is that of their files.
    """

    caption: str
    draw: Callable = field(repr=False)
    name: str = ""

    def __post_init__(self):
        object.__setattr__(self, "draw", cache(self.draw))


def figures_of(document):
    """The images of a document by the names of their files, a dict."""
    found = {}

    def walk(parts):
        for part in parts:
            if isinstance(part, Section):
                walk(part.parts)
            elif isinstance(part, Figure):
                for n, (svg, _) in enumerate(part.draw(), 1):
                    stem = re.sub(r"[^\w-]+", "-", part.name) or "figure"
                    name = f"{stem}-{n}"
                    while name.casefold() in map(str.casefold, found):
                        name += "-"
                    found[name] = svg

    walk(document.sections)
    return found


def _kept_together(text):
    """A text in which no line ends between a number and its sign."""
    return BESIDE_NUMBER.sub(NO_BREAK, text)


def _on_page(text):
    """A text in which no line ends within the name of a combination of groups either."""
    return AFTER_AND.sub(NO_BREAK, _kept_together(text))


def _intervals_together(text):
    """A text in which no line ends within brackets either."""
    text = _kept_together(text)
    return IN_BRACKETS.sub(lambda found: found[0].replace(" ", NO_BREAK), text)


# ---- plain text ----------------------------------------------------------------------


def write_text(document):
    """A document for a terminal: lines of at most 100 columns, figures left out."""
    captions = set()
    under = _wrapped(document.subtitle) + _wrapped(document.abbreviations)
    parts = [[*_underlined(document.title, "="), *under]]
    for section in document.sections:
        parts += _text_of_section(section, captions)
    return "\n\n".join("\n".join(part) for part in parts).translate(PLAIN) + "\n"


def _text_of_section(section, captions, underline="-"):
    """Blocks of lines, the first with the title on top, or none of figures alone."""
    blocks = []
    for part in section.parts:
        if isinstance(part, Section):
            blocks += _text_of_section(part, captions, "")
            continue
        if isinstance(part, Table):
            # A caption already printed above a table is not repeated.
            part = replace(
                part, caption="" if part.caption in captions else part.caption
            )
            captions.add(part.caption)
        if lines := TEXTS[type(part)](part):
            blocks.append(lines)
    if not blocks:
        return []
    return [[*_underlined(section.title, underline), *blocks[0]], *blocks[1:]]


def _wrapped(text, width=WIDTH, **options):
    return wrap(_kept_together(text), width, **options)


def _underlined(text, underline):
    lines = _wrapped(text)
    return [*lines, underline * len(lines[-1])] if underline else lines


def _points(texts):
    indents = {"initial_indent": "- ", "subsequent_indent": "  "}
    return [line for text in texts for line in _wrapped(text, **indents)]


def _with_label(verdict):
    return f"{verdict.label}. {verdict.headline}" if verdict.label else verdict.headline


def _table(part):
    rows = [part.head, *([r.line, *(c.line for c in r.cells)] for r in part.rows)]
    lines = _wrapped(part.caption) if part.caption else []
    for kept in (_intervals_together, _kept_together):
        shown = [list(map(kept, row)) for row in rows]
        widths = _widths(shown)
        if sum(widths) + 2 * len(widths) <= WIDTH + 2:
            return [*lines, *(line for row in shown for line in _lines(row, widths))]
    for name, *cells in rows[1:]:
        labelled = zip(part.head[1:], cells, strict=True)
        about = "; ".join(f"{h}: {c}" for h, c in labelled if c)
        lines += _points([f"{name}: {about}" if about else name])
    return lines


def _widths(rows):
    """Width of each column. The widest break their lines if not all fit."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    # Lines end at plain spaces alone.
    least = [max(len(w) for c in column for w in c.split(" ")) for column in columns]
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
    str: _wrapped,
    list: _points,
    Verdict: lambda v: [*_wrapped(_with_label(v)), *_points(v.texts)],
    Facts: lambda facts: _points(f"{term}: {text}" for term, text in facts.rows),
    Table: _table,
    Figure: lambda figure: [],
}


# ---- Markdown ------------------------------------------------------------------------


def write_markdown(document, level=2):
    """A document as Markdown, figures left out. Its title is a heading of ``level``."""
    lines = [f"{'#' * level} {escaped(document.title)}", ""]
    for text in filter(None, (document.subtitle, document.abbreviations)):
        lines += [escaped(text), ""]
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


def _markdown_points(texts):
    return [f"- {escaped(text)}" for text in texts]


def _markdown_table(part):
    rows = [part.head, *([r.line, *(c.line for c in r.cells)] for r in part.rows)]
    head, *body = [f"| {' | '.join(map(escaped, row))} |" for row in rows]
    caption = [escaped(part.caption), ""] if part.caption else []
    return [*caption, head, "|---" * len(part.head) + "|", *body]


MARKDOWN = {
    str: lambda text: [escaped(text)],
    list: _markdown_points,
    Verdict: lambda v: [
        f"**{escaped(_with_label(v))}**",
        "",
        *_markdown_points(v.texts),
    ],
    Facts: lambda facts: _markdown_points(f"{t}: {v}" for t, v in facts.rows),
    Table: _markdown_table,
    Figure: lambda figure: [],
}


# ---- HTML ----------------------------------------------------------------------------


def write_page(document, version=None, date=None):
    """A document as one self-contained page.

    Parameters
    ----------
    document : Document
    version, date : str, default=None
        Of skfairfr, and the day of the page. If None: the installed one, and today.

    Returns
    -------
    html : str

    Raises
    ------
    ArgumentError
        If ``version`` or ``date`` is no text that can be written.
    """
    check_line(version, "version")
    check_line(date, "date")
    about = {
        "version": version or metadata.version("skfairfr"),
        "date": date or _today(),
    }
    return _render("page.html", document, **about)


def write_fragment(document):
    """A document as HTML within another page, without figures."""
    return _render("fragment.html", document)


def _render(template, document, **about):
    page = document
    return _environment().get_template(template).render(page=page, **about)


@cache
def _environment():
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("skfairfr._text", "templates"),
        autoescape=True,
        trim_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda v: _on_page(v) if type(v) is str else v,
    )
    environment.globals |= {"kind_of": lambda part: type(part).__name__, "uri": _uri}
    return environment


def _uri(svg):
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def _today():
    """The day in UTC, or that of SOURCE_DATE_EPOCH if it is set."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
