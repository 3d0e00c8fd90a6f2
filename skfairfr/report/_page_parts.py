"""Parts that pages are made of, and the page itself, from the templates.

A part is a dict with a ``kind`` that a template knows; its texts are plain, and escaped
there.
"""

import os
import re
from datetime import UTC, datetime
from importlib import metadata

from skfairfr.report._page_words import level_percent
from skfairfr.report._text_layout import given_point
from skfairfr.utils._validation import check_line

# Between a number and its percent sign.
BEFORE_PERCENT = re.compile(r"(?<=\d) (?=%)")


def render(title, subtitle, sections, version, date):
    """Sections as HTML, every text escaped.

    Raises
    ------
    ArgumentError
        If ``version`` or ``date`` is no text that can be written.
    """
    from jinja2 import Environment, PackageLoader

    check_line(version, "version")
    check_line(date, "date")
    environment = Environment(
        loader=PackageLoader("skfairfr.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        keep_trailing_newline=True,
        finalize=_kept_together,
    )
    page = {
        "title": title,
        "subtitle": subtitle,
        "sections": sections,
        "version": version_or_own(version),
        "date": date or today(),
    }
    return environment.get_template("page.html").render(page=page)


def _kept_together(value):
    """A text in which no line ends between a number and its percent sign."""
    return (
        BEFORE_PERCENT.sub("\N{NO-BREAK SPACE}", value) if type(value) is str else value
    )


def today():
    """The day in UTC, or that of SOURCE_DATE_EPOCH if it is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = (
        datetime.now(UTC) if epoch is None else datetime.fromtimestamp(int(epoch), UTC)
    )
    return now.date().isoformat()


def version_or_own(version):
    """The version given, or the installed one; empty if skfairfr is not installed."""
    try:
        return version or metadata.version("skfairfr")
    except metadata.PackageNotFoundError:
        return ""


def section(name, title, parts, short=None):
    """A section with its anchor; ``short`` stands in the contents."""
    return {"id": name, "title": title, "short": short, "parts": parts}


def place_of(level, audit):
    """The operating point of a level in words."""
    if level.set_on == "these data":
        return f"an FMR of {level_percent(level.far)}"
    if level.set_on == "other data":
        return f"an FMR of {level_percent(level.far)} on other data"
    return f"the given {given_point(level.threshold, audit.settings)}"


def heading(text):
    """A heading within a section."""
    return {"kind": "heading", "text": text}


def text_of(text):
    """A paragraph."""
    return {"kind": "text", "text": text}


def bullets(texts):
    """A list."""
    return {"kind": "bullets", "texts": list(texts)}


def table(caption, head, rows, kind="stacked"):
    """A table, whose rows become blocks on a narrow screen unless it is a matrix."""
    shown = {"caption": caption, "head": head, "rows": rows, "kind": kind}
    return {"kind": "table", "table": shown}


def row(name, cells, everyone=False, place=""):
    """A row of a table: its heading, with a place beneath, and cells."""
    return {"name": name, "place": place, "cells": cells, "everyone": everyone}


def cell(text, ends="", few="", word=None, style=None, more=""):
    """A cell: its text, an interval and more beneath, a mark, a colour by ``word``."""
    return {
        "text": text,
        "range": ends,
        "more": more,
        "few": few,
        "word": word,
        "style": style,
    }
