"""The sections of a page about one attribute: figures, tables, disparities."""

import math
from itertools import cycle

import numpy as np

from skfairfr.report._limits import limits_of
from skfairfr.report._page_figures import MAX_CURVES, det, group_rates
from skfairfr.report._page_parts import cell, heading, place_of, row, table, text_of
from skfairfr.report._page_words import (
    DISPARITIES,
    INDICES,
    LONG_RATES,
    RATES,
    count,
    level_percent,
    percent,
    percents,
    points,
    points_between,
    ratio,
    ratios,
)
from skfairfr.report._text_layout import (
    accepted,
    given_point,
    left_out,
    printable,
    worth,
)

NOT_SUPPORTED = "not supported"
HOLLOW = (
    "Hollow points and dotted bars are not supported: few errors, few people, or one person "
    "in many of the errors."
)
# Names of the markers of levels, in the order in which figures use them.
MARKS = (
    "circle",
    "square",
    "triangle",
    "diamond",
    "inverted triangle",
    "plus",
    "cross",
)
# The darkest cell of a matrix, as red, green and blue; the palest is white.
DARK = np.array([8, 62, 112])
# Luminance at which black and white are equally clear, at a contrast of 4.6.
BALANCE = (1.05 * 0.05) ** 0.5 - 0.05


def sections_of_audit(audit, prefix, figured=False):
    """Parts of one audit.

    Parameters
    ----------
    audit : Audit
    prefix : str
        Of the ids of its figures.
    figured : bool, default=False
        Whether the figure of its rates stands elsewhere.

    Returns
    -------
    parts : list of dict
    """
    names = [_short(level, audit) for level in audit.levels]
    parts = [] if figured else [figure_of(audit, prefix)]
    for level in audit.levels:
        parts += [heading(_title(level, audit)), _rates(level, audit)]
        parts += [_disparities(level)]
        if level.matrix is not None and len(level.matrix.groups) > 1:
            parts.append(_matrix(level, audit))
    if audit.curves is not None:
        parts += [heading("Detection error tradeoff (DET) by group")]
        parts.append(_det(audit, names, prefix))
    if audit.averaged is not None:
        parts += [heading("Both averages"), _averages(audit)]
    parts += [heading("Groups"), _groups(audit)]
    if audit.failures:
        parts += [heading("Failures to acquire and to enrol"), *_failures(audit)]
    return parts


def unsupported_of(audit):
    """Sentences about figures that the data do not carry, with the reason."""
    texts, attribute = {}, printable(audit.attribute)
    for found in audit.groups:
        _note(texts, "EER", _who(found.group), attribute, None, found.equal_error_rate)
    for level in audit.levels:
        where = place_of(level, audit)
        for found in level.rates:
            for rate, name in RATES.items():
                figure = getattr(found, rate)
                _note(texts, name, _who(found.group), attribute, where, figure)
        for finding in level.findings:
            if finding.group is None:
                text = f"{RATES[finding.rate]} by {attribute} at {where}: not compared"
                texts[f"{text}, {printable(finding.ratio.reason)}."] = None
                continue
            if finding.not_compared:
                lacking = ", ".join(map(printable, finding.not_compared))
                text = f"{RATES[finding.rate]} by {attribute} at {where}: not compared"
                texts[f"{text} for lack of pairs: {lacking}."] = None
            if few := left_out(finding, level, printable):
                text = f"{RATES[finding.rate]} by {attribute} at {where}"
                texts[f"{text}: too few errors to compare with: {few}."] = None
    return list(texts)


def _note(texts, name, who, attribute, where, figure):
    if figure.supported:
        return
    place = "" if where is None else f" at {where}"
    text = f"{name} of {who} (by {attribute}){place}: {_why(figure, name)}."
    texts[text] = None


def _why(figure, name):
    """Reasons in the words of the page; the group has been named before them."""
    if not figure.reasons:
        return printable(figure.reason)
    words = {}
    for reason in figure.reasons:
        of_rate = name not in RATES.values() and reason.rate in RATES
        rate = (
            f"{RATES[reason.rate]}: " if of_rate and reason.code != "no_pairs" else ""
        )
        words.setdefault(rate, []).append(reason.words)
    text = "; ".join(f"{rate}{'; '.join(texts)}" for rate, texts in words.items())
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _who(group):
    return "everyone" if group is None else printable(group)


def _short(level, audit):
    """The name of a level in a legend."""
    if level.set_on == "these data":
        return f"FMR {level_percent(level.far)}"
    if level.set_on == "other data":
        return f"FMR {level_percent(level.far)} elsewhere"
    return given_point(level.threshold, audit.settings)


def _title(level, audit):
    place = place_of(level, audit).removeprefix("an ").removeprefix("the ")
    return f"{place[0].upper()}{place[1:]}: {accepted(level.threshold, audit.settings)}"


def figure_of(audit, prefix):
    """The figure of the rates of all groups."""
    names = [_short(level, audit) for level in audit.levels]
    limits = limits_of(audit)
    confidence = audit.settings["confidence_level"]
    caption = (
        f"Both error rates of every group at {'each' if len(names) > 1 else 'the'} "
        f"operating point; further right is worse. Bars are {100 * confidence:g} % "
        "intervals. "
    )
    if limits:
        caption += "Dashed vertical lines are the limits given. "
    caption += HOLLOW
    figures = group_rates(audit.levels, names, limits, confidence, f"{prefix}-rates")
    return {"kind": "figure", "figures": figures, "caption": caption}


def _rates(level, audit):
    rows = [
        rates_row(level, found, size)
        for found, size in zip(level.rates, audit.groups, strict=True)
    ]
    return rates_table(rows, audit.settings, bool(level.generalised))


def rates_row(level, found, size, place=""):
    """Comparisons, errors and rates of a group; ``size`` is its GroupRow."""
    far = cell(percent(found.far.value), *_marks(found.far, percents))
    frr = cell(percent(found.frr.value), *_marks(found.frr, percents))
    cells = [
        cell(count(size.n_impostor)),
        cell(
            count(found.far_errors, found.far.source), more=worth(found.far_effective)
        ),
        far,
        cell(count(size.n_genuine)),
        cell(
            count(found.frr_errors, found.frr.source), more=worth(found.frr_effective)
        ),
        frr,
        *_generalised(level, found.group),
    ]
    return row(name_of(found.group), cells, found.group is None, place)


def rates_table(rows, settings, generalised=False):
    """A table of such rows."""
    head = ["Group", "Non-mated comparisons", "False matches", "FMR (FAR)"]
    head += ["Mated comparisons", "False non-matches", "FNMR (FRR)"]
    head += ["GFAR", "GFRR"] if generalised else []
    caption = "Comparisons, errors and error rates of each group, with intervals. "
    if not settings.get("independent_pairs"):
        caption += (
            "Errors of one person come together: they are worth as many independent ones, "
            "of as many people who err alike, as stand beneath. "
        )
    if settings["average"] == "identity":
        caption += "Every person weighs the same, so that a rate is not errors over comparisons. "
    return table(caption, head, rows)


def _generalised(level, group):
    for found in level.generalised:
        if found.group == group:
            return [cell(percent(found.gfar)), cell(percent(found.gfrr))]
    return []


def _marks(figure, ends):
    """Interval and mark of a figure."""
    few = "" if figure.supported else NOT_SUPPORTED
    return ends(figure.low, figure.high), few


def name_of(group):
    """A group in a table; None is everyone."""
    return "Everyone" if group is None else printable(group)


def _disparities(level):
    return disparities_table(disparity_rows(level))


def disparity_rows(level, place=""):
    """Disparities and indices of a level."""
    rows = []
    found = {(d.how, d.operating_point): d for d in level.disparities}
    order = [(how, "overall") for how in DISPARITIES]
    for key in [k for k in order if k in found]:
        measured = found[key]
        name = DISPARITIES[key[0]].format(differential="FPD, FND")
        in_rates = key[0] == "difference"
        shown, ends = (points, points_between) if in_rates else (ratio, ratios)
        rows.append(_disparity(name, measured, shown, ends, place))
    worst = found.get(("max_min", "worst_group"))
    if worst is not None:
        name = "BFAR, BFRR: largest / smallest where no group's FMR exceeds the level"
        rows.append(_disparity(name, worst, ratio, ratios, place))
    joined = found.get(("max_min", "overall"))
    supported = joined is None or (joined.far.supported and joined.frr.supported)
    few = "" if supported else NOT_SUPPORTED
    for index in level.indices:
        cells = [
            cell(f"{index.neutral:g}"),
            cell(f"{ratio(index.value)} (both rates)", few=few),
            cell("\N{EN DASH}"),
        ]
        rows.append(row(INDICES[index.name], cells, place=place))
    return rows


def disparities_table(rows):
    """A table of such rows."""
    caption = (
        "Disparities at one global threshold. FPD and FND, the false positive and the "
        "false negative differential, are D/(D \N{MINUS SIGN} 1) times the Gini "
        "coefficient of the D groups' rates. Larger is less fair; for FDR, smaller "
        "is. The last three combine both rates and have no interval. Chance alone makes "
        "rates differ: 'without noise' is an estimate of the disparity without that part."
    )
    head = ["Disparity", "If all are alike", "Of the FMR", "Of the FNMR"]
    return table(caption, head, rows)


def _disparity(name, measured, shown, ends, place):
    cells = [cell(f"{measured.neutral:g}")]
    for figure in (measured.far, measured.frr):
        more = ""
        if figure.corrected is not None and math.isfinite(figure.corrected):
            more = f"{shown(figure.corrected)} without noise"
        cells.append(cell(shown(figure.value), *_marks(figure, ends), more=more))
    return row(name, cells, place=place)


def _matrix(level, audit):
    about = f"{printable(audit.attribute)} at {place_of(level, audit)}"
    return matrix_table(level.matrix, shades_of(level.matrix.far), about)


def matrix_table(matrix, shades, about):
    """The FMR of every two groups.

    Parameters
    ----------
    matrix : Matrix
    shades : ndarray, shape (n_groups, n_groups)
        Depth of colour in [0, 1].
    about : str
        Attribute and operating point, in words.

    Returns
    -------
    table : dict
    """
    rows = []
    for g, group in enumerate(matrix.groups):
        cells = []
        for h in range(len(matrix.groups)):
            n = int(matrix.n_impostor[g, h])
            if not n:
                cells.append(cell("no pairs"))
                continue
            counted = f"{matrix.n_errors[g, h]:,} of {n:,}"
            style = _style(shades[g, h])
            cells.append(cell(percent(matrix.far[g, h]), counted, style=style))
        rows.append(row(printable(group), cells))
    head = ["Group", *map(printable, matrix.groups)]
    caption = (
        f"FMR of every two groups of {about}: how often two people, one of each group, are "
        "taken for one. Darker is worse."
    )
    if not np.allclose(matrix.far, matrix.far.T, equal_nan=True):
        caption += " Rows are the groups of probes, columns those of references."
    return table(caption, head, rows, "matrix")


def shades_of(far):
    """Depth of colour of each cell in [0, 1], by the logarithm of its rate.

    Those of several matrices at once can be compared.
    """
    shown = np.where(far > 0, far, np.nan)
    if np.isnan(shown).all():
        return np.zeros(far.shape)
    logs = np.log10(shown)
    low, high = np.nanmin(logs) - 0.3, np.nanmax(logs)
    return np.nan_to_num((logs - low) / max(high - low, 1.0))


def _style(shade):
    """Colours of a cell: the ground, and of black and white the ink that is clearer."""
    colour = np.rint(255 + (DARK - 255) * shade)
    ink = "#fff" if _luminance(colour / 255) < BALANCE else "#000"
    ground = ",".join(f"{part:.0f}" for part in colour)
    return f"background:rgb({ground});color:{ink};--soft:{ink}"


def _luminance(colour):
    """Relative luminance of sRGB in [0, 1], as WCAG defines it."""
    linear = np.where(
        colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4
    )
    return float(linear @ (0.2126, 0.7152, 0.0722))


def _det(audit, names, prefix):
    marks = zip(names, cycle(MARKS), strict=False)
    marked = [f"{name}: {mark}" for name, mark in marks]
    caption = (
        "Detection error tradeoff: both rates of each group as the one threshold for "
        "everybody moves. Points mark the operating points "
        f"({', '.join(marked)}); where the points of groups lie apart, the threshold treats "
        "them differently. Rates of zero have no place on these axes."
    )
    if len(audit.curves.groups) > MAX_CURVES:
        caption += " Each panel has one group in blue, and everyone in grey."
    figure = det(audit.curves, audit.levels, names, f"{prefix}-det")
    return {"kind": "figure", "figures": [figure], "caption": caption}


def _groups(audit):
    return groups_table([groups_row(found) for found in audit.groups])


def groups_row(found, place=""):
    """The size of a group, and its equal error rate."""
    equal = found.equal_error_rate
    sizes = found.n_identities, found.n_images, found.n_genuine, found.n_impostor
    cells = [cell(count(size)) for size in sizes]
    cells.append(cell(percent(equal.value), *_marks(equal, percents)))
    return row(name_of(found.group), cells, found.group is None, place)


def groups_table(rows):
    """A table of such rows."""
    head = ["Group", "People", "Images", "Mated comparisons"]
    head += ["Non-mated comparisons", "EER"]
    caption = (
        "Size of each group, and its equal error rate (EER), at the threshold where its "
        f"{LONG_RATES['far']} equals its {LONG_RATES['frr']}. A comparison belongs to a "
        "group if both of its images do."
    )
    return table(caption, head, rows)


def other_conclusions(audit):
    """Levels and rates of which the other average concludes something else, a list."""
    if audit.averaged is None:
        return []
    found = []
    for level, beside in zip(audit.levels, audit.averaged.levels, strict=True):
        for rate in RATES:
            own, other = (
                {(f.group, f.verdict) for f in at.findings if f.rate == rate}
                for at in (level, beside)
            )
            if own != other and {v for _, v in own | other} != {"undecided"}:
                found.append((level, rate))
    return found


def _averages(audit):
    """Rates and conclusions, every comparison weighing the same and every person."""
    rows = []
    levels = zip(audit.levels, audit.averaged.levels, strict=True)
    for level, beside in levels:
        place = f"at {place_of(level, audit)}"
        for rate in RATES:
            pairs = zip(level.rates, beside.rates, strict=True)
            for both in pairs:
                name = f"{RATES[rate]} of {_who(both[0].group)}"
                rows.append(
                    row(name, [_of_rate(getattr(r, rate)) for r in both], place=place)
                )
            cells = [
                cell(
                    "; ".join(
                        finding_words(f)[1] for f in found.findings if f.rate == rate
                    )
                )
                for found in (level, beside)
            ]
            rows.append(row(f"{RATES[rate]}, conclusion", cells, place=place))
    weighs = {"pair": "Every comparison alike", "identity": "Every person alike"}
    caption = (
        f"One person is in {100 * audit.largest_genuine_share:.0f} % of the mated "
        "comparisons, so it matters whether every comparison weighs the same or every "
        "person. The conclusions, checks and tables above use the first of the two columns."
    )
    head = ["Rate", weighs[audit.settings["average"]], weighs[audit.averaged.value]]
    return table(caption, head, rows)


def _of_rate(figure):
    return cell(percent(figure.value), *_marks(figure, percents))


def finding_words(finding):
    """What a finding concludes: the class of its colour, and its words."""
    if finding.verdict == "untested" and finding.group is not None:
        return "undetermined", "verdict withheld"
    others = " than the others" if len(finding.others) > 1 else ""
    group = "" if finding.group is None else printable(finding.group)
    return {
        "worse": ("worse", f"{group} is treated worse{others}"),
        "better": ("passed", f"{group} is treated better{others}"),
        "undecided": ("undetermined", "no certain difference"),
        "untested": ("undetermined", "not tested: too few pairs"),
    }[finding.verdict]


def _failures(audit):
    rows = [
        row(
            name_of(found.group),
            [
                cell(count(found.n_attempts)),
                cell(count(found.n_failed_to_acquire)),
                cell(percent(found.fta)),
                cell(count(found.n_failed_to_enrol)),
                cell(percent(found.fte)),
            ],
            found.group is None,
        )
        for found in audit.failures
    ]
    head = ["Group", "Attempts", "Failed to acquire", "FTA"]
    head += ["Failed to enrol", "FTE"]
    caption = (
        "Attempts that gave no template, by group. FTA is the share of all attempts, FTE "
        "the share of those acquired."
    )
    about = (
        "Generalised rates count these failures: GFAR = FMR (1 \N{MINUS SIGN} FTA)(1 "
        "\N{MINUS SIGN} FTE), GFRR = FTE + (1 \N{MINUS SIGN} FTE) FTA + (1 \N{MINUS SIGN} "
        "FTE)(1 \N{MINUS SIGN} FTA) FNMR (ISO/IEC 19795-1). They stand in the tables of "
        "rates above, without intervals."
    )
    return [table(caption, head, rows), text_of(about)]
