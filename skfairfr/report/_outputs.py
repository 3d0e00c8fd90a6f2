"""Records as tables, JSON and files."""

import csv
import json
import math
from importlib.resources import files
from io import StringIO
from itertools import repeat
from pathlib import Path

from skfairfr._core._kinds import SEARCHES, terms_of_decisions
from skfairfr._text._words import (
    OF_OTHERS,
    in_terms,
    plain_form,
    terms_of,
)
from skfairfr.report._notes import largest_rate
from skfairfr.report._records import Figure
from skfairfr.utils._folder import REPORT, check_replaceable, replaced
from skfairfr.utils._frames import build_frame
from skfairfr.utils._validation import check_option, check_path

FIGURE = ("value", "low", "high", "standard_error", "supported", "reason", "source")


# Columns of a frame that is not full, those that its rows have.
USUAL = {
    "rates": (
        *("attribute", "group", "level", "threshold"),
        *("far", "far_low", "far_high", "frr", "frr_low", "frr_high"),
        *("rate", "n_attempts", "errors", "value", "low", "high"),
    ),
    "disparities": (
        *("attribute", "level", "rate", "how", "operating_point"),
        *("value", "low", "high", "p_value", "supported"),
    ),
    "changes": (
        *("system", "attribute", "group", "rate", "far"),
        *("before", "after", "difference", "low", "high", "verdict"),
    ),
}

# Separator of cells and mark of decimals.
DIALECTS = {"comma": (",", "."), "semicolon": (";", ",")}

# A text that begins with one of these is a formula to a spreadsheet.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


# What records of decisions have not.
OF_SCORES = (
    *("threshold", "worst_group_threshold", "set_on", "matrix", "curves", "indices"),
    *("metrics", "costs"),
    *(
        "generalised",
        "n_impostor",
        "n_images",
        "equal_error_rate",
        "source",
        "far_max",
    ),
    "operating_point",
)


NO_FIGURE = Figure.undefined()


# ---- tables -------------------------------------------------------------------------


def rates_of(audits):
    """Rows of both rates of every group at every level.

    Parameters
    ----------
    audits : sequence of Audit

    Returns
    -------
    rows : list of dict
        With the same keys. ``group`` None is everyone.
    """
    rows = []
    for audit in audits:
        sizes = {row.group: row for row in audit.groups}
        if "decisions" in audit.settings:
            rows += _rows_of_decisions(audit)
            continue
        at_equal = repeat(None)
        if audit.standardised is not None:
            at_equal = audit.standardised.levels
        for level, equal in zip(audit.levels, at_equal, strict=False):
            generalised = {row.group: row for row in level.generalised}
            standard = {r.group: r for r in equal.rates[1:]} if equal else {}
            for found in level.rates:
                size, gen = sizes[found.group], generalised.get(found.group)
                eer = size.equal_error_rate or NO_FIGURE
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
                        "equal_error_rate": eer.value,
                        "equal_error_rate_low": eer.low,
                        "equal_error_rate_high": eer.high,
                        "gfar": getattr(gen, "gfar", math.nan),
                        "gfrr": getattr(gen, "gfrr", math.nan),
                        **_standardised("far", standard.get(found.group)),
                        **_standardised("frr", standard.get(found.group)),
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
        With the same keys. ``rate`` is "far", "frr" or "both".
    """
    rows = []
    names = ("how", "operating_point", "neutral", "rate")
    for audit in audits:
        for level in audit.levels:
            found = [
                (d.how, d.operating_point, d.neutral, rate, getattr(d, rate))
                for d in level.disparities
                for rate in ("far", "frr")
            ]
            found += [
                (index.name, "overall", index.neutral, "both", _without_interval(index))
                for index in level.indices
            ]
            decisions = audit.settings.get("decisions")
            for *about, figure in found:
                fields = _point(audit, level) | dict(zip(names, about, strict=True))
                if decisions:
                    if fields["rate"] != "frr":
                        continue
                    fields = {"attribute": audit.attribute, "rate": decisions}
                    fields |= dict(
                        zip(("how", "neutral"), (about[0], about[2]), strict=True)
                    )
                for name in (
                    *FIGURE[: 6 if decisions else None],
                    "corrected",
                    "p_value",
                ):
                    value = getattr(figure, name)
                    fields[name] = math.nan if value is None else value
                rows.append(fields)
    return rows


def _rows_of_decisions(audit):
    """Rows of the rate of every group of an audit of decisions."""
    rows = []
    for size, found in zip(audit.groups, audit.levels[0].rates, strict=True):
        of_rate = {
            name.removeprefix("frr_"): v for name, v in _rate("frr", found).items()
        }
        value = of_rate.pop("frr")
        del of_rate["source"]
        rows.append(
            {
                "attribute": audit.attribute,
                "rate": audit.settings["decisions"],
                "group": found.group,
                "n_identities": size.n_identities,
                "n_attempts": size.n_genuine,
                "value": value,
                **of_rate,
                "failures": found.frr_failures,
            }
        )
    return rows


def in_given_scale(form, settings):
    """Dicts and lists whose thresholds are distances if scores were given as such.

    Records contain similarities, minus the distances.
    """
    return _with_distances(form) if settings.get("distance") else form


# Keys of what is a score.
THRESHOLDS = ("threshold", "worst_group_threshold", "threshold_high")


def _with_distances(form, of=""):
    """Dicts, lists and values with minus the thresholds. ``of`` is the key of a value."""
    if isinstance(form, dict):
        return {name: _with_distances(value, name) for name, value in form.items()}
    if isinstance(form, list):
        return [_with_distances(value, of) for value in form]
    negated = of in THRESHOLDS and form is not None
    return 0.0 - form if negated else form


def _point(audit, level):
    point = {
        "attribute": audit.attribute,
        "level": math.nan if level.far is None else level.far,
        "threshold": level.threshold,
        "set_on": level.set_on,
    }
    return in_given_scale(point, audit.settings)


def _rate(rate, found):
    """Errors of a rate of GroupRates, what they are worth, and its figure, as columns."""
    columns = {f"{rate}_errors": getattr(found, f"{rate}_errors")}
    figure, effective = getattr(found, rate), getattr(found, f"{rate}_effective")
    for name in ("errors", "people"):
        columns[f"{rate}_effective_{name}"] = getattr(effective, name, math.nan)
    for name in FIGURE:
        key = rate if name == "value" else f"{rate}_{name}"
        columns[key] = getattr(figure, name)
    return columns


def _standardised(rate, found):
    """A standardised rate and its interval as columns, or nan without any."""
    figure = None if found is None else getattr(found, rate)
    return {
        f"{rate}_standardised{end and f'_{end}'}": getattr(
            figure, end or "value", math.nan
        )
        for end in ("", "low", "high")
    }


def _without_interval(index):
    """An index as a figure."""
    nan = math.nan
    return Figure(index.value, nan, nan, nan, False, "no interval is computed")


def rows_to_frame(rows, table, full, backend):
    """Rows of a table, list of dict, as a frame with all columns or the usual ones."""
    names = list((rows or [{}])[0])
    if not full:
        names = [name for name in USUAL[table] if name in names]
    columns = {name: [row[name] for row in rows] for name in names}
    if "group" in columns:
        kinds = {type(label) for label in columns["group"] if label is not None}
        if len(kinds) > 1:
            columns["group"] = [g if g is None else str(g) for g in columns["group"]]
    return build_frame(columns, backend)


def to_csv(rows, dialect="comma"):
    """Rows as CSV in UTF-8 that spreadsheets recognise; empty where undefined or unknown.

    Parameters
    ----------
    rows : iterable of dict
        With the same keys.
    dialect : {"comma", "semicolon"}, default="comma"
        Cells with commas between and decimal points, or semicolons and decimal commas.

    Returns
    -------
    text : str
        Begins with a byte order mark. Half characters, as in the path of a file whose
        name is not UTF-8, are "?", as in JSON. A text that a spreadsheet would take for a
        formula has an apostrophe before it.
    """
    check_option(dialect, "csv_dialect", tuple(DIALECTS))
    separator, decimal = DIALECTS[dialect]
    written, rows = StringIO(newline=""), list(rows)
    writer = csv.writer(written, delimiter=separator)
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow([_cell(value, decimal) for value in row.values()])
    return "\N{ZERO WIDTH NO-BREAK SPACE}" + written.getvalue()


def _cell(value, decimal):
    if isinstance(value, str):
        text = plain_form(value)
        return f"'{text}" if text.startswith(FORMULA) else text
    if isinstance(value, bool):
        return str(value).lower()
    if value != value:  # nan, which is empty
        return None
    return str(value).replace(".", decimal) if isinstance(value, float) else value


# ---- JSON and files ------------------------------------------------------------------


def save_texts(folder, written, replace, figures=()):
    """Write texts by name, and figures next to them, to a folder. The paths without these.

    Parameters
    ----------
    folder : path-like
    written : dict of str -> str
    replace : bool
        Whether an earlier report is.
    figures : dict of str -> str
        SVG by name.
    """
    check_replaceable(check_path(folder, "folder"), replace)
    with replaced(folder, REPORT) as staged:
        for name, text in written.items():
            (staged / name).write_text(text, encoding="utf-8", newline="")
        for name, svg in dict(figures).items():
            (staged / "figures").mkdir(exist_ok=True)
            (staged / "figures" / f"{name}.svg").write_text(svg, "utf-8", newline="")
    return tuple(Path(folder) / name for name in written)


def to_json(version, about, record, settings):
    """A record as JSON, after its version and what the caller adds."""
    form = plain_form({"schema_version": version, **about, **record})
    return json_text(standard_form(form, settings))


def standard_form(form, settings):
    """Dicts and lists with the keys of what was measured, and thresholds in its scale."""
    return in_terms(in_given_scale(form, settings), terms_of(settings))


def json_text(form):
    """Plain forms as JSON."""
    return json.dumps(plain_form(form), indent=1, allow_nan=False, default=str) + "\n"


def audit_form(record, audit=None):
    """An audit, or a check of one, as dicts with the keys of what was measured."""
    audit = audit or record
    form, decisions = plain_form(record), audit.settings.get("decisions")
    if record is audit and not audit.label_errors:
        del form["label_errors"]
    if decisions is None:
        return standard_form(form, audit.settings)
    found = in_terms(_without_scores(form), terms_of(audit.settings))
    for name in ("control", "standardised") if record is audit else ():
        if found[name] is None:
            del found[name]
    if decisions == "apcer" and record is audit:
        found["largest"] = largest_rate(audit).group
    return found


def _without_scores(form):
    """A form of decisions, without what they have not."""
    if isinstance(form, list):
        return [_without_scores(one) for one in form]
    if not isinstance(form, dict):
        return form
    return {
        "n_attempts" if name == "n_genuine" else name: value
        if name in OF_OTHERS
        else _without_scores(value)
        for name, value in form.items()
        if name not in OF_SCORES and not name.startswith("far")
    }


def read_schema(name):
    """A JSON Schema of the package, as a dict."""
    path = files("skfairfr.report") / "schemas" / name
    return json.loads(path.read_text(encoding="utf-8"))


def schema_of(name, kind, decisions=()):
    """A JSON Schema of comparisons, of searches, or of some kind of decisions."""
    check_option(kind, "kind", ("verification", "identification", *decisions))
    schema = read_schema(name)
    if kind == "verification":
        return schema
    terms = terms_of_decisions(kind) if kind in decisions else SEARCHES
    text = json.dumps(schema)
    for old, new in (("fnmr", terms.frr.key), ("fmr", terms.far.key)):
        text = text.replace(old, new).replace(old.upper(), new.upper())
    return json.loads(text)
