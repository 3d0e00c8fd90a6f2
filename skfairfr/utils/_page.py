"""The writer of documents as HTML: one self-contained page, or a fragment for a notebook.

No script, nothing from a network: figures are images within the page. ``templates`` escapes
every text.
"""

import os
import re
from base64 import b64encode
from datetime import UTC, datetime
from functools import cache
from importlib import metadata

from skfairfr.utils._document import Facts, Figure, Section, Table, Verdict
from skfairfr.utils._validation import check_line

# Between a number and its percent sign.
BEFORE_PERCENT = re.compile(r"(?<=\d) (?=%)")
KINDS = {
    **{str: "text", list: "points", Verdict: "verdict", Facts: "facts"},
    **{Table: "table", Figure: "figure", Section: "section"},
}


def write_page(document, version=None, date=None):
    """A document as a page.

    Parameters
    ----------
    document : Document
    version, date : str, default=None
        Of skfairfr, and the day of the page; None takes the installed one, and today.

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
    about = {"version": version_or_own(version), "date": date or today()}
    return _render("page.html", document, **about)


def write_fragment(document):
    """A document as HTML within another page, without figures."""
    return _render("fragment.html", document)


def _render(template, document, **about):
    return _environment().get_template(template).render(page=document, **about)


@cache
def _environment():
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("skfairfr.utils", "templates"),
        autoescape=True,
        trim_blocks=True,
        keep_trailing_newline=True,
        finalize=_kept_together,
    )
    environment.globals |= {"kind_of": lambda part: KINDS[type(part)], "uri": _uri}
    return environment


def _kept_together(value):
    """A text in which no line ends between a number and its percent sign."""
    return (
        BEFORE_PERCENT.sub("\N{NO-BREAK SPACE}", value) if type(value) is str else value
    )


def _uri(svg):
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


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
