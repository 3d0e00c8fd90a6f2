"""The document of a comparison of systems: what is higher and lower with each of them."""

from dataclasses import replace
from functools import partial

from skfairfr._text._document import (
    Facts,
    Figure,
    Section,
    Verdict,
    shortened,
)
from skfairfr._text._words import (
    NO_DIFFERENCE,
    TOO_FEW,
    accepted,
    by_attribute,
    capital,
    count,
    listed,
    number,
    plural,
    printable,
    terms_of,
)
from skfairfr.report._figures import group_rates
from skfairfr.report._notes import (
    heading_of,
    lack_of_rows,
    nothing_concluded,
    place_of,
    rates_in,
    title_of,
)
from skfairfr.report.sections import _changes
from skfairfr.report.sections._answer import without_groups
from skfairfr.report.sections._audit_document import document_of
from skfairfr.report.sections._cells import READ_NOTES, level_in_percent, lines_of
from skfairfr.report.sections._costs import name_of_cost, table_of_changes
from skfairfr.report.sections._curves import TITLE, curves_of_systems
from skfairfr.report.sections._gallery import AS_GIVEN, facts_of_gallery, how_searched
from skfairfr.report.sections._indices import disparities
from skfairfr.report.sections._matrix import matrices
from skfairfr.report.sections._method import (
    FAILURE_TEXTS,
    IN_A_GAP,
    NO_GROUPS,
    OF_ATTEMPTS,
    OF_DECISIONS,
    OF_GROUPS,
    facts_of_data,
    glossary,
    reproduce,
    sizes,
)
from skfairfr.report.sections._open import FEW, unsupported
from skfairfr.report.sections._rates import counts, with_ranges_ascending

# Parts of the document that a notebook shows, and changes that a terminal shows.
IN_NOTEBOOK = ("verdict", "system-*")
MOST_TOLD, MOST_ROWS = 4, 2
LOGS_COMPARED = (
    "All logs are compared with the first. People in both are paired. Those in one alone add "
    "to the variance of its rates. Decisions are those that the system made."
)


def comparison_document(found, source=None, date=None):
    """A SystemsComparison as a document, with source and day if they are given."""
    found = replace(found, measured=tuple(map(with_ranges_ascending, found.measured)))
    first, *others = _changes.short_names(found.systems)
    opening = [verdict_of_changes(found), _changes.disparity_changes(found)]
    opening.append(_changes.figure_of_changes(found, _changes.of_headline(found)))
    without, only = ["Template", "FTA", "GFAR", *OF_ATTEMPTS], ""
    if "attempts" in found.settings:
        without, only = [], (f"{terms_of(found.settings).frr.name},", *OF_DECISIONS)
    if not found.disparities:
        without += [term for term in OF_GROUPS if term != "Holm"]
    terms = glossary(found.settings, tuple(without), only)
    systems = [
        Section(
            f"system-{n}",
            f"{short} against {first}",
            _changes.of_system(found, name, n),
        )
        for n, (short, name) in enumerate(zip(others, found.systems[1:], strict=True))
    ]
    attributes = dict.fromkeys(m.attribute for m in found.measured)
    by = [
        Section(f"by-{n}", f"Error rates{by_attribute(of)}", _of_attribute(found, of))
        for n, of in enumerate(attributes)
    ]
    as_given = [AS_GIVEN] if "gallery" in found.settings else []
    sections = [
        Section("verdict", "Result", opening),
        Section("data", "What was compared", [Facts(_facts_of_systems(found))]),
        *systems,
        *_costs(found),
        *by,
        Section("open", "What the data do not show", _few_errors(found)),
        Section("notes", "Notes", [[*map(printable, found.notes)]]),
        Section("method", "How it was computed", _method_of_comparison(found)),
        Section("limits", "Limits", [[*as_given, *lines_of("comparison_limits")]]),
        Section("glossary", "Glossary", [Section("words", "Words", [terms], True)]),
    ]
    return _finished(found, sections, source, date)


def summary_document(found, source=None, date=None):
    """The result and the largest changes of disparities, for a terminal."""
    table = _changes.disparity_changes(found, in_short=True)
    table = shortened(table, MOST_ROWS, "more disparities: --full")
    most = MOST_TOLD // 2 if found.costs else MOST_TOLD  # costs have sentences too
    opening = [verdict_of_changes(found, most), table]
    costs = Section(
        "costs", "Costs and calibration", [_changes.largest_cost_change(found)]
    )
    sections = [Section("verdict", "Result", opening), costs]
    return _finished(found, sections, source, date)


def _costs(found):
    """The section of changes of costs, in a list, or empty if they were not asked for."""
    if not found.costs:
        return []
    of_which = partial(_changes.which, found=found)
    table = table_of_changes(found.costs, _changes.pair_of_names(found), of_which)
    return [Section("costs", "Costs and calibration", [table])]


def _finished(found, sections, source, date):
    first, *others = _changes.short_names(found.systems)
    what = f"{terms_of(found.settings).task} systems"
    what = "logs of decisions" if "attempts" in found.settings else what
    title, about = f"Comparison of {what}", f"{', '.join(others)} against {first}"
    terms = terms_of(found.settings)
    kinds = [terms[rate] for rate in rates_in(found.measured[0].groups)]
    return document_of(found, title, sections, "Data", source, date, kinds, about)


# ---- the first screen ----------------------------------------------------------------


def verdict_of_changes(found, most=None):
    """The largest change in a sentence, how many there are, and the ``most`` largest."""
    if nothing := nothing_concluded(found.settings):
        return Verdict("undetermined", *nothing)
    harm, improved = found.harm, found.improved
    verdicts = [change.verdict for change in found.changes]
    status, headline, texts = "none", "No rate differs significantly.", []
    gate = _changes.is_gate(found)
    by_size = _both_directions(_changes.largest_first((*harm, *improved), found))
    lost = (change.reason for change in found.changes if _changes.is_lost(change))
    not_compared = [*dict.fromkeys(lost)]
    unknown = found.is_unknown or set(verdicts) <= {TOO_FEW, "undetermined"}
    if by_size:
        headline, *texts = (
            _changes.change_sentence(change, found) for change in by_size
        )
        texts = [_counted(found), *texts[:most]] if texts else []
        if (more := len(by_size) - max(len(texts), 1)) > 0:
            texts.append(f"{plural(more, 'further difference')}.")
        certain = {c.verdict for c in by_size if _changes.is_supported(c, found)}
        if "higher" in certain:
            status = "failed"
        elif not harm and "lower" in certain:
            status = "passed"
    else:
        texts = _changes.largest_change(found)
        if unknown:
            headline = "The data do not show whether a rate differs."
        if unknown and not_compared and NO_DIFFERENCE in verdicts:
            headline = f"{not_compared.pop(0)} No other rate differs significantly."
    label = ""
    if gate:
        label = "No harm found"
        if harm:
            status = "failed"
            label = f"Harm found: {plural(len(harm), 'rate is', 'rates are')} higher"
    if unknown:
        status, label = "undetermined", "Undetermined"
    lacking = lack_of_rows(found.systems, found.left_out, found.n_rows, found.unit)
    if (more := len(not_compared) - MOST_TOLD) > 0:
        further = f"{plural(more, 'further group')} not compared: see the notes."
        not_compared = [*not_compared[:MOST_TOLD], further]
    texts = [*not_compared, *lacking, *texts]
    texts += [
        _changes.levelled(change, found) for change in found.levelling_down[:most]
    ]
    if found.unit == "attempts" and not found.n_people:
        known = any(own["people"] for own in found.settings["attempts"].values())
        who = "Nobody is in all logs" if known else "No person is known"
        texts.append(f"{who}, so a change may be one of people.")
    texts += _costs_of_everyone(found) + without_groups(found.measured)
    if found.notes:
        texts.append(READ_NOTES)
    return Verdict(status, headline, texts, label)


def _both_directions(changes):
    """The changes, the first of the other direction than the first one moved behind it."""
    others = [c for c in changes if c.verdict != changes[0].verdict][:1]
    return [*changes[:1], *others, *(c for c in changes[1:] if c not in others)]


def _costs_of_everyone(found):
    """Costs of everyone that differ, each alone, a list of a sentence: none counts as harm."""
    parts = [
        f"{name_of_cost(change)}: {number(change.after)} with {printable(change.system)} instead "
        f"of {number(change.before)}"
        for change in found.costs
        if change.attribute is None and not change.ratio_low <= 1 <= change.ratio_high
        if change.supported
    ]
    if not parts:
        return []
    return [
        f"Costs of everyone differ, and are in no count of rates. {'; '.join(parts)}."
    ]


def _counted(found):
    """How many rates are higher and lower than with the first system."""
    first, *others = _changes.short_names(found.systems)
    name = others[0] if len(others) == 1 else "other systems"
    counted = [
        f"{plural(len(of), 'rate')} {'is' if len(of) == 1 else 'are'} {word}"
        for of, word in ((found.harm, "higher"), (found.improved, "lower"))
        if of
    ]
    return f"With {name}, {listed(counted)} than with {first}."


def _facts_of_systems(found):
    rows = facts_of_gallery(found.settings)
    rows += [("First system", printable(found.systems[0]))]
    rows += [("Compared with it", printable(name)) for name in found.systems[1:]]
    attributes = dict.fromkeys(
        printable(m.attribute) or NO_GROUPS for m in found.measured
    )
    if "attempts" in found.settings:
        for name, own in found.settings["attempts"].items():
            people = f", of {count(own['people'])} people" * (own["people"] > 0)
            sentence = f"{count(own['attempts'])}{people}"
            rows.append((f"{capital(found.unit)} of {printable(name)}", sentence))
        if own["people"]:
            rows.append(("People in all logs", count(found.n_people)))
        return [*rows, ("Attributes", "; ".join(attributes))]
    rows += [
        ("People in all systems", count(found.n_people)),
        (f"{capital(found.unit)} in all systems", count(found.n_rows)),
    ]
    if found.measured:
        everyone, terms = found.measured[0].groups[0], terms_of(found.settings)
        rows += facts_of_data(everyone, attributes, terms)[-3:]
        rows.append(("Operating points", _thresholds(found)))
    for name, n in zip(found.systems, found.left_out, strict=True):
        if n:
            others = " or ".join(printable(o) for o in found.systems if o != name)
            about = f"{count(n)} {found.unit} that {others} lacks"
            rows.append((f"Left out of {printable(name)}", about))
    return rows


def _thresholds(found):
    """The operating point of every level, and the threshold of each system there."""
    names, texts = _changes.short_names(found.systems), []
    for levels in zip(*(m.levels for m in found.measured[: len(names)]), strict=True):
        text = title_of(levels[0], found)
        if "threshold_of_each" in found.settings or levels[0].far is not None:
            own = (
                f"{name}: {accepted(level.threshold, found.settings)}"
                for name, level in zip(names, levels, strict=True)
            )
            text = f"{heading_of(levels[0], found)} ({', '.join(own)})"
        texts.append(text)
    return "; ".join(texts)


# ---- every system by one attribute ---------------------------------------------------


def _of_attribute(found, attribute):
    """Figures and tables of all systems by one attribute, as of audits of each."""
    systems = [m for m in found.measured if m.attribute == attribute]
    names, terms = _changes.short_names(found.systems), terms_of(found.settings)
    parts = [
        "Each system as an audit of it shows it, with intervals that are not paired."
    ]
    by = f"{by_attribute(attribute)} at".strip()
    for n, levels in enumerate(zip(*(m.levels for m in systems), strict=True)):
        about = [f"{by} {place_of(levels[0], found)}, {name}" for name in names]
        tables = [
            counts(levels, systems, found.settings, names),
            disparities(levels, systems, found.settings, None, names),
            *matrices(levels, about, terms),
        ]
        shown = [_figure_of_systems(found, levels, names), *tables]
        parts.append(Section(f"rates-{n}", heading_of(levels[0], found), shown, True))
    title, det = ("Groups", TITLE) if attribute else ("Size", TITLE.split(" by ")[0])
    parts.append(Section("rates-det", det, [curves_of_systems(systems, names, terms)]))
    return [*parts, Section("rates-groups", title, [sizes(systems, terms, names)])]


def _figure_of_systems(found, levels, names):
    confidence, ci = (
        found.settings["confidence_level"],
        level_in_percent(found.settings),
    )
    rates, terms = rates_in(found.measured[0].groups), terms_of(found.settings)
    whose = "every group" if found.measured[0].attribute else "everyone"
    caption = (
        f"{'Both error rates' if len(rates) > 1 else terms[rates[0]].name} of {whose} under {listed(names)}. Further right is worse. "
        f"Bars are {ci} CI of each rate on its own: whether two systems differ is for the "
        "paired intervals above."
    )
    rows = [level.rates for level in levels]
    return Figure(
        caption, lambda: group_rates(rows, names, None, confidence, terms, rates)
    )


# ---- what is open, how, and what not -------------------------------------------------


def _few_errors(found):
    """Results with too few errors of any system, as parts of a section."""
    parts = []
    for place, name in enumerate(found.systems):
        own = [m for m in found.measured if m.system == name]
        texts = list(dict.fromkeys(t for m in own for t in unsupported(m, found)))
        parts.append(Section(f"open-{place}", printable(name), [texts]))
    return [FEW, *parts] if any(parts) else []


def _method_of_comparison(found):
    settings, of_logs = found.settings, "attempts" in found.settings
    alpha = 100 * (1 - settings["confidence_level"])
    name = terms_of(settings).far.name
    own = f"Each system meets a level of the {name} at its own threshold. {IN_A_GAP}"
    if settings["threshold"] is not None:
        own = "All systems have the threshold that was given."
        if "threshold_of_each" in settings:
            own = "Each system has the threshold that was given for it."
    compared = (
        "All systems are compared with the first, on the same people and the same "
        f"{found.unit}. {own}"
    )
    if of_logs:
        sentence = FAILURE_TEXTS.get(settings.get("failures"), "")
        compared = f"{LOGS_COMPARED} {sentence}".rstrip()
    texts = [
        *how_searched(settings),
        compared,
        f"Intervals are paired, at {100 - alpha:g} %, and each is unadjusted: what "
        "varies for both systems cancels. They are about new people from the same "
        "population.",
        "Conclusions about rates come from adjusted p-values (Holm): if nothing changed, "
        f"about {alpha:g} % of such comparisons or fewer would name a change."
        + " Disparities are not among these tests."
        * bool(found.disparities),
    ]
    digests = {
        f"{file} ({name})": digest
        for name, of_files in settings.get("sha256", {}).items()
        for file, digest in of_files.items()
    }
    return [texts, reproduce(settings, found.about, digests)]
