"""Records as tidy tables: columns for a frame, and CSV that a spreadsheet opens."""

import csv
import math
from io import StringIO

from skfairfr.utils._frames import build_frame
from skfairfr.utils._validation import check_option
from skfairfr.utils._words import plain_form

FIGURE = ("value", "low", "high", "standard_error", "supported", "reason", "source")
# A text that begins with one of these is a formula to a spreadsheet.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rates_of(audits):
    """Rows of both rates of every group at every level.

    Parameters
    ----------
    audits : sequence of Audit

    Returns
    -------
    rows : list of dict
        With the same keys; ``group`` None is everyone.
    """
    rows = []
    for audit in audits:
        sizes = {row.group: row for row in audit.groups}
        for level in audit.levels:
            generalised = {row.group: row for row in level.generalised}
            for found in level.rates:
                size, gen = sizes[found.group], generalised.get(found.group)
                equal = size.equal_error_rate
                rows.append(
                    {
                        **_point(audit, level),
                        "group": found.group,
                        "n_identities": size.n_identities,
                        "n_images": size.n_images,
                        "n_impostor": size.n_impostor,
                        **_rate("far", found),
                        "n_genuine": size.n_genuine,
                        **_rate("frr", found),
                        "equal_error_rate": equal.value,
                        "equal_error_rate_low": equal.low,
                        "equal_error_rate_high": equal.high,
                        "gfar": getattr(gen, "gfar", math.nan),
                        "gfrr": getattr(gen, "gfrr", math.nan),
                    }
                )
    return rows


def disparities_of(audits):
    """Rows of every disparity of either rate, and of indices of both, at every level.

    Parameters
    ----------
    audits : sequence of Audit

    Returns
    -------
    rows : list of dict
        With the same keys; ``rate`` is "far", "frr" or "both".
    """
    rows = []
    for audit in audits:
        for level in audit.levels:
            for found in level.disparities:
                names = ("how", "operating_point", "neutral")
                about = {name: getattr(found, name) for name in names}
                for rate in ("far", "frr"):
                    figure = getattr(found, rate)
                    fields = {name: getattr(figure, name) for name in FIGURE}
                    for name in ("corrected", "p_value"):
                        fields[name] = _number(getattr(figure, name))
                    rows.append(
                        {**_point(audit, level), **about, "rate": rate, **fields}
                    )
            for index in level.indices:
                rows.append(_row_of_index(audit, level, index))
    return rows


def changes_of(found):
    """Rows of every change of a SystemsComparison.

    Parameters
    ----------
    found : SystemsComparison

    Returns
    -------
    rows : list of dict
    """
    return [
        in_given_scale(
            vars(change)
            | {name: _number(getattr(change, name)) for name in ("far", "threshold")},
            found.settings,
        )
        for change in found.changes
    ]


def in_given_scale(form, settings):
    """Dicts and lists whose thresholds are distances where scores were given as such.

    Records hold similarities, minus the distances.
    """
    if not settings.get("distance"):
        return form
    if isinstance(form, dict):
        return {
            name: _negative(value)
            if name in ("threshold", "worst_group_threshold")
            else in_given_scale(value, settings)
            for name, value in form.items()
        }
    if isinstance(form, list):
        return [in_given_scale(value, settings) for value in form]
    return form


def _negative(value):
    """Minus a number, or numbers; None stays."""
    if isinstance(value, list):
        return [_negative(v) for v in value]
    return value if value is None else 0.0 - value


def _point(audit, level):
    point = {
        "attribute": audit.attribute,
        "level": math.nan if level.far is None else level.far,
        "threshold": level.threshold,
        "set_on": level.set_on,
    }
    return in_given_scale(point, audit.settings)


def _figure(rate, figure):
    """A figure as columns that are named after its rate."""
    return {
        rate if name == "value" else f"{rate}_{name}": getattr(figure, name)
        for name in FIGURE
    }


def _rate(rate, found):
    """Errors of a rate of GroupRates, what they are worth, and its figure, as columns."""
    worth = getattr(found, f"{rate}_effective")
    effective = {
        f"{rate}_effective_{name}": getattr(worth, name, math.nan)
        for name in ("errors", "people")
    }
    errors = {f"{rate}_errors": getattr(found, f"{rate}_errors")}
    return errors | effective | _figure(rate, getattr(found, rate))


def _row_of_index(audit, level, index):
    """An index, which has no interval, in the columns of disparities."""
    fields = dict.fromkeys((*FIGURE, "corrected", "p_value"), math.nan)
    about = {"how": index.name, "operating_point": "overall", "neutral": index.neutral}
    known = {"value": index.value, "supported": False, "source": "all pairs"}
    known["reason"] = "no interval is computed"
    return {**_point(audit, level), **about, "rate": "both", **(fields | known)}


def _number(value):
    return math.nan if value is None else value


def to_frame(audits, table, backend):
    """A table of audits as a frame.

    Parameters
    ----------
    audits : sequence of Audit
    table : {"rates", "disparities"}
    backend : {"pandas", "polars", "pyarrow"} or None

    Returns
    -------
    frame : the library's own frame
    """
    tables = {"rates": rates_of, "disparities": disparities_of}
    check_option(table, "table", tuple(tables))
    rows = tables[table](audits)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    if "group" in columns:
        kinds = {type(label) for label in columns["group"] if label is not None}
        if len(kinds) > 1:
            columns["group"] = [None if g is None else str(g) for g in columns["group"]]
    return build_frame(columns, backend)


def to_csv(rows):
    """Rows as CSV in UTF-8 that spreadsheets recognise; empty where undefined or unknown.

    Parameters
    ----------
    rows : iterable of dict
        With the same keys.

    Returns
    -------
    text : str
        Begins with a byte order mark. Half characters, as in the path of a file whose
        name is not UTF-8, are "?", as in JSON. A text that a spreadsheet would take for a
        formula has an apostrophe before it.
    """
    written, rows = StringIO(newline=""), list(rows)
    writer = csv.writer(written)
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
    return "\N{ZERO WIDTH NO-BREAK SPACE}" + written.getvalue()


def _cell(value):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        text = plain_form(value)
        return f"'{text}" if text.startswith(FORMULA) else text
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else value
