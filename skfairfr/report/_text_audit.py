"""An audit by one attribute as lines of a table.

Figures that the data do not support have a question mark, with the reason beneath them.
"""

import math

from skfairfr._core._intervals import MIN_ERRORS, MIN_IDENTITIES
from skfairfr._core._rates import p_in_digits
from skfairfr.report._text_layout import (
    DISPARITY_NAMES,
    FIGURE_WIDTH,
    LABEL_WIDTH,
    RATE_NAMES,
    UNSUPPORTED,
    accepted,
    bullets,
    disparity_label,
    factor,
    figure,
    in_words,
    interval,
    label,
    left_out,
    level_name,
    number,
    others_of,
    paragraph,
    printable,
    reason_lines,
    reasons,
    short,
    table,
    title,
    withheld,
    worth,
)

TWO_COLUMNS = (30, FIGURE_WIDTH, FIGURE_WIDTH)
# Disparities that noise makes too large by much, shown without it too.
CORRECTED = ("max_min", "max_geomean", "gini")
NO_ERRORS = f"no errors{UNSUPPORTED}"
WORTH = (
    "Errors of one person, or of the same two people, come together, so that they tell less "
    "of a rate than their number suggests. They are worth as many independent errors, of as "
    "many people who err alike, as stand beside them."
)
COLUMNS = {"far": "FAR (FMR)", "frr": "FRR (FNMR)"}
AVERAGES = {"pair": "pair", "identity": "person, or pair of people,"}


def sections(audit, source=None):
    """Sections of an audit, each a list of lines.

    Parameters
    ----------
    audit : Audit
    source : str, default=None
        Where the data come from, for the title.

    Returns
    -------
    parts : list of list of str
    """
    parts = [_opening(audit, source), _findings(audit), _groups(audit)]
    parts += [_level(level, audit.settings) for level in audit.levels]
    if audit.averaged is not None:
        parts.append(_averaged(audit))
    if audit.notes:
        parts.append([*title("Notes"), *bullets(map(printable, audit.notes))])
    return parts


def _opening(audit, source):
    everyone, settings = audit.groups[0], audit.settings
    attribute = printable(audit.attribute)
    head = f"Audit by {attribute}"
    if _is_of_independent_pairs(audit):
        head += ", pairs taken as independent"
    head += f": {printable(source)}" if source else ""
    counted, sizes = _counted(everyone)
    data = (
        f"{sizes} in {len(audit.groups) - 1} groups; "
        f"{everyone.n_genuine:,} genuine pairs (one person) and {everyone.n_impostor:,} "
        "impostor pairs (two people)."
    )
    if audit.n_unknown:
        data += (
            f" {audit.n_unknown:,} {counted} of unknown {attribute} count overall and in "
            "no group."
        )
    if settings.get("domain"):
        data += (
            f" Only pairs across the two values of {settings['domain']} are compared."
        )
    intervals = (
        f"Brackets hold {100 * settings['confidence_level']:g} % intervals for "
        f"{_drawn(audit)}, each alone; those of disparities but max / min "
        f"take {settings['n_resamples']:,} resamples."
    )
    lines = [*title(head, "="), *paragraph(withheld(settings)[1])]
    lines += [*paragraph(data), *paragraph(intervals)]
    if audit.notes:
        n_notes = len(audit.notes)
        counted = "1 note" if n_notes == 1 else f"{n_notes} notes"
        lines += paragraph(f"Read first: {counted} at the end.")
    return lines


def _is_of_independent_pairs(audit):
    return audit.settings.get("independent_pairs", False)


def _counted(everyone):
    """What the data are counted in, and how many there are."""
    if everyone.n_identities is None:
        n_pairs = everyone.n_genuine + everyone.n_impostor
        return "pairs", f"{n_pairs:,} pairs of images of unnamed people"
    people = f"{everyone.n_identities:,} people"
    if everyone.n_images is None:
        return "people", people
    return "images", f"{everyone.n_images:,} images of {people}"


def _drawn(audit):
    """What the intervals of an audit are for."""
    if _is_of_independent_pairs(audit):
        return "other pairs of the same kind, as if none shared a person"
    return "other people of the same population"


def _findings(audit):
    lines = [*title("What the data say"), *_error_rate(audit)]
    for level in audit.levels:
        lines.append(f"At {level_name(level, audit.settings)}")
        for finding in level.findings:
            lines += paragraph(_sentence(finding, level), "  - ", "    ")
    return lines


def _sentence(finding, level):
    kind = {"far": "False acceptances", "frr": "False rejections"}[finding.rate]
    overall = getattr(level.rates[0], finding.rate).value
    if overall != overall:
        return f"{kind}: not measured, {finding.ratio.reason} (see Notes)."
    if finding.group is None:
        return f"{kind}: cannot be determined, {finding.ratio.reason}."
    text = f"{kind}: {_verdict(finding)}."
    if _without_errors(level, finding.rate):
        text += " There are no errors in any of the groups."
    else:
        text += f" {_observed(finding)}."
    if few := left_out(finding, level):
        text += f" Too few errors to compare with: {few}."
    if finding.not_compared:
        lacking = ", ".join(map(short, finding.not_compared))
        text += f" Without the pairs to judge: {lacking}."
    return text


def _observed(finding):
    """Both rates, their factor and the p-values of their difference."""
    ratio = finding.ratio
    ends = interval(ratio.low, ratio.high, factor)
    times = f"a factor of {factor(ratio.value)} {ends}"
    if finding.verdict == "worse" and not (
        ratio.supported and math.isfinite(ratio.value)
    ):
        times = (
            f"a factor of at least {factor(ratio.low)}; how much more cannot be "
            f"determined ({_too_few(finding)})"
        )
    elif not math.isfinite(ratio.value):
        times = f"a factor that cannot be determined ({_too_few(finding)})"
    p = f"p {_p_value(ratio.p_value)}"
    if finding.n_comparisons > 1:
        p += f", adjusted p {_p_value(finding.p_adjusted)}"
    return (
        f"{RATE_NAMES[finding.rate]} {number(finding.value)} for "
        f"{short(finding.group)} against {number(finding.other_value)} for "
        f"{others_of(finding)}, {times}; {p}"
    )


def _too_few(finding):
    """Whose errors are too few, and how many there are."""
    reasons = finding.ratio.reasons
    of_one = [r for r in reasons if r.code in ("no_errors", "few_errors")] or reasons
    named = [", ".join(map(short, r.groups or ())) for r in of_one]
    both = zip(named, of_one, strict=True)
    return "; ".join(f"{name}: {r.words}" if name else r.words for name, r in both)


def _p_value(p):
    return "< 0.001" if p < 0.001 else f"= {p_in_digits(p)}"


def _error_rate(audit):
    """The error rate that the verdicts of the report share."""
    numbers = {f.n_comparisons for level in audit.levels for f in level.findings}
    n_comparisons = max(numbers, default=0)
    if n_comparisons == 0:
        return []
    wrong = 100 * (1 - audit.settings["confidence_level"])
    compared, by = "The comparison of two groups has an error rate", ""
    if n_comparisons > 1:
        which = "Both" if n_comparisons == 2 else f"All {n_comparisons:,}"
        compared = (
            f"{which} comparisons of a group with the others, over rates, levels and "
            "attributes, have one error rate"
        )
        by = (
            " Verdicts go by the adjusted p. The interval of a factor, and its p, are those "
            "of one comparison alone."
        )
    return paragraph(
        f"{compared}: if no group were treated worse, nominally at most {wrong:g} % of such "
        f"audits would name one.{by}"
    )


def _verdict(finding):
    if finding.verdict in ("worse", "better"):
        others = " than the others" if len(finding.others) > 1 else ""
        return f"{short(finding.group)} is treated {finding.verdict}{others}"
    if finding.verdict == "untested":
        return "verdict withheld"
    return "no certain difference"


def _groups(audit):
    head = ["group", "people", "images", "genuine pairs", "impostor pairs", "EER"]
    rows = [
        [
            label(row.group),
            "-" if row.n_identities is None else f"{row.n_identities:,}",
            "-" if row.n_images is None else f"{row.n_images:,}",
            f"{row.n_genuine:,}",
            f"{row.n_impostor:,}",
            figure(row.equal_error_rate),
        ]
        for row in audit.groups
    ]
    widths = [LABEL_WIDTH, -8, -8, -15, -16, FIGURE_WIDTH]
    why = reasons("EER", [row.equal_error_rate for row in audit.groups])
    lines = title("Groups, and the rate at which FAR = FRR (EER; lower is better)")
    return [*lines, *table([head, *rows], widths), *why]


def _level(level, settings):
    rates = [
        [label(row.group), figure(row.far), figure(row.frr)] for row in level.rates
    ]
    disparities = [
        [disparity_label(d), *(_disparity(d, level, rate) for rate in RATE_NAMES)]
        for d in level.disparities
    ]
    lines = [
        *title(_level_title(level, settings)),
        *table([["group", *COLUMNS.values()], *rates], TWO_COLUMNS),
        "",
        *table(
            [["errors", *(f"in the {n}" for n in RATE_NAMES.values())]],
            TWO_COLUMNS,
        ),
        *table([_errors(row) for row in level.rates], TWO_COLUMNS),
        "",
        *table([["disparity (if equal)", "of the FAR", "of the FRR"]], TWO_COLUMNS),
        *table(disparities, TWO_COLUMNS),
    ]
    if math.isfinite(level.worst_group_threshold):
        lines += paragraph(
            "* max / min at the threshold where no group's FAR exceeds the level: "
            f"{accepted(level.worst_group_threshold, settings)}."
        )
    return [*lines, *_level_reasons(level)]


def _level_title(level, settings):
    set_by = "Given threshold"
    if level.far is not None:
        set_by = f"FAR {level.far:g}"
    if level.set_on == "other data":
        set_by += f" on {printable(settings.get('threshold_from') or 'other data')}"
    return f"{set_by}: {accepted(level.threshold, settings)}"


def _errors(row):
    """Numbers of errors, and what they are worth."""
    cells = []
    for rate in RATE_NAMES:
        errors, effective = (
            getattr(row, f"{rate}_{name}") for name in ("errors", "effective")
        )
        text = "-" if errors is None else f"{errors:,}"
        cells.append(f"{text}, {found}" if (found := worth(effective)) else text)
    return [label(row.group), *cells]


def _disparity(disparity, level, rate):
    if disparity.operating_point == "overall" and _without_errors(level, rate):
        return NO_ERRORS
    found = getattr(disparity, rate)
    shown = found.corrected is not None and math.isfinite(found.corrected)
    if disparity.how not in CORRECTED or not shown:
        return figure(found)
    return f"{figure(found)} ({number(found.corrected)})"


def _without_errors(level, rate):
    """Whether two groups or more have the pairs for a rate, and none has an error."""
    values = [getattr(row, rate).value for row in level.rates[1:]]
    known = [value for value in values if value == value]
    return len(known) > 1 and not any(known)


def _level_reasons(level):
    """Lines that say why figures carry a mark.

    Those of disparities list the reasons that are not already those of a group.
    """
    lines = []
    for rate, name in RATE_NAMES.items():
        figures = [getattr(row, rate) for row in level.rates]
        lines += reasons(name, figures)
        for reason, names in _reasons_of_disparities(level, rate, figures).items():
            lines += reason_lines(names, reason, UNSUPPORTED)
    return lines


def _reasons_of_disparities(level, rate, of_groups):
    """Reason -> names of the disparities that it is of, without reasons of groups.

    Parameters
    ----------
    level : Level
    rate : {"far", "frr"}
    of_groups : list of Figure
        Rates of the groups, whose reasons are listed already.
    """
    known = {reason for found in of_groups for reason in found.reasons}
    sources = {found.source for found in of_groups}
    names_of = {}
    without = _without_errors(level, rate)
    for disparity in level.disparities:
        found = getattr(disparity, rate)
        if disparity.operating_point == "overall":
            # Without errors a disparity has no reason but that it is undefined.
            if without:
                continue
            new = [reason for reason in found.reasons if reason not in known]
            source = "all pairs" if found.source in sources else found.source
            name = f"{DISPARITY_NAMES[disparity.how]} of the {RATE_NAMES[rate]}"
            names_of.setdefault(in_words(new, source), []).append(name)
        else:
            names_of.setdefault(found.reason, []).append(f"B{RATE_NAMES[rate]} *")
    of_all = sum(d.operating_point == "overall" for d in level.disparities)
    return {
        reason: ", ".join(names)
        if len(names) != of_all
        else f"disparities of the {RATE_NAMES[rate]}"
        for reason, names in names_of.items()
        if reason
    }


def _figures(level):
    """Label, FAR and FRR of everyone and of the groups, and max / min."""
    rows = [(label(row.group), row.far, row.frr) for row in level.rates]
    return [*rows, *((disparity_label(d), d.far, d.frr) for d in level.disparities[:1])]


def _averaged(audit):
    own, other = audit.settings["average"], audit.averaged.value
    lines = [
        *title("Both averages"),
        *paragraph(
            f"One person supplies {100 * audit.largest_genuine_share:.0f} % of the genuine "
            "pairs, so that it matters whether every pair weighs the same or every person. "
            f"All findings, checks and tables above are those of the average by {own}."
        ),
    ]
    for level, beside in zip(audit.levels, audit.averaged.levels, strict=True):
        name = level_name(level, audit.settings)
        found = [[name, f"average by {own}", f"average by {other}"]]
        rows = list(zip(_figures(level), _figures(beside), strict=True))
        for column, name in enumerate(RATE_NAMES.values(), start=1):
            found += [
                [f"{name}  {a[0]}", figure(a[column]), figure(b[column])]
                for a, b in rows
            ]
        lines += ["", *table(found, TWO_COLUMNS)]
    return lines


def reading(audit):
    """Lines that say how to read an audit."""
    settings = audit.settings
    return [
        *title("How to read this"),
        *bullets(
            [
                "FAR (FMR): share of impostor pairs accepted; FRR (FNMR): share of genuine "
                "pairs rejected. Lower is better for both. A group's pairs have both "
                f"images in the group. {_how_compared(settings)}"
                f"{_how_threshold_is_set(audit.levels[0], settings)} Every "
                f"{AVERAGES[settings['average']]} weighs the same.",
                "Disparities: larger is less fair; in brackets the value when all groups "
                "have the same rate. Chance alone makes rates differ: the number in "
                "brackets after a disparity is an estimate without that part.",
                *([] if _is_of_independent_pairs(audit) else [WORTH]),
                f"? marks what rests on few errors (under {MIN_ERRORS} in a group, from "
                f"under {MIN_IDENTITIES} people, or one person in over a third of them): "
                "do not conclude from its size. What the data say, the checks, and intervals "
                "of rates for other people allow for that. ~ marks what was not counted "
                "over all pairs; the line beneath says where it comes from.",
                "An interval covers sampling alone: not how these people were chosen or "
                "labelled, nor other cameras or conditions. A group of n people tells nothing "
                "of kinds of people rarer than about 3/n.",
            ]
        ),
    ]


def _how_compared(settings):
    """A sentence where embeddings are not compared by their cosine."""
    if "similarity" not in settings:
        return ""
    return f"Two images are compared by {settings['similarity']}. "


def _how_threshold_is_set(level, settings):
    impostors = {
        "all": "all impostor pairs",
        "same_group": "the impostor pairs within a group",
    }[settings["impostors"]]
    if level.set_on == "given":
        return "The thresholds were given; intervals are about them."
    where = "other" if level.set_on == "other data" else "these"
    return (
        f"The threshold of a level is set where, on {where} data, the FAR over {impostors} "
        "meets it: the shortest number that accepts the same pairs. Intervals are about "
        "this threshold, not about one that other people would have set."
    )
