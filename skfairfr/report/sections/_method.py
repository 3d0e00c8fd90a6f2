"""Who and what was tested, how the numbers came about, what they do not show, and words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from skfairfr._core._kinds import DECISIONS
from skfairfr._text._document import Cell, Facts, Row, Section, Table
from skfairfr._text._words import capital, count, percent, plural, printable, terms_of
from skfairfr.report._notes import of_unknown, rates_in, title_of
from skfairfr.report._verdicts import SHARE_OF_COMBINATIONS
from skfairfr.report.sections._cells import (
    beside,
    level_in_percent,
    lines_of,
    of_people,
    of_rate,
    row_of_group,
)
from skfairfr.report.sections._gallery import (
    AS_GIVEN,
    facts_of_gallery,
    how_compared,
    how_searched,
)
from skfairfr.report.sections._rates import references_of


@dataclass(frozen=True)
class GroupCount:
    """Number of people in one combination of the groups of several attributes.

    Attributes
    ----------
    groups : tuple of labels
        One of each attribute. None is unknown.
    n_identities : int
        Where scored pairs do not name their people, the number of pairs.
    n_images : int or None
        None if scored pairs do not name their images.
    """

    groups: tuple
    n_identities: int
    n_images: int | None


@dataclass(frozen=True)
class Crossing:
    """Every combination of the groups of several attributes, empty ones included."""

    attributes: tuple
    cells: tuple


# The fact of attributes if there are none.
NO_GROUPS = "none, so all are one group"


def cross(data, attributes):
    """Number of people in each combination of groups.

    Parameters
    ----------
    data : EmbeddingData or PairData
    attributes : tuple of str

    Returns
    -------
    crossing : Crossing
        Combinations in the order of sorted labels, unknown last if some are. A person
        whose images differ in a label counts in several.
    """
    masks = [_masks(data.groups((name,))) for name in attributes]
    people, images = data.people(), data.images()
    cells = []
    for combination in product(*masks):
        groups, of_groups = zip(*combination, strict=True)
        inside = np.logical_and.reduce(of_groups)
        sizes = (
            None if of is None else np.count_nonzero(np.bincount(of[inside]))
            for of in (people, images)
        )
        cells.append(GroupCount(groups, *sizes))
    return Crossing(tuple(attributes), tuple(cells))


def _masks(labels):
    """Each group and whether an image is in it, (n_rows,). Unknown last if some are."""
    groups = [*enumerate(labels.values.tolist()), (-1, None)]
    masks = [(group, labels.codes == code) for code, group in groups]
    return [(group, mask) for group, mask in masks if mask.any()]


def tested(report):
    """Parts of the section."""
    return [Facts(facts(report))]


def facts(report):
    """Description of an audit's data, as pairs of a term and its description."""
    first = report.audits[0]
    names = [audit.attribute for audit in report.audits if audit.attribute]
    attributes = [printable(name) for name in names] or [NO_GROUPS]
    decisions = "decisions" in first.settings
    if decisions:
        rows = _facts_of_decisions(report, attributes)
    else:
        terms = terms_of(first.settings)
        rows = facts_of_gallery(first.settings)
        rows += facts_of_data(first.groups[0], attributes, terms)
    unit = "images" if first.groups[0].n_images is not None else "people or pairs"
    unit = "people" if decisions else unit
    references = {
        printable(audit.attribute): references_of(
            audit.levels[0], terms_of(audit.settings)
        )
        for audit in report.audits
        if audit.reference is not None
    }
    named = "; ".join(f"{group} ({name})" for name, group in references.items())
    if named:
        why = "the group with the most people (the first of equal ones), unless one is asked for"
        rows.append(("Reference", f"{named}: {why}"))
    for audit in report.audits:
        if audit.n_unknown:
            about = f"{count(audit.n_unknown)} {unit}, counted for everyone only"
            errors, trials = of_unknown(audit.levels[0], audit)
            if trials:
                name = terms_of(audit.settings).frr.name
                about += f". Their {name} is {percent(errors / trials)}"
            rows.append((f"Unknown {printable(audit.attribute)}", about))
    if not decisions:
        points = "; ".join(title_of(level, first) for level in first.levels)
        rows.append(("Operating points", points))
    return rows


def _facts_of_decisions(report, attributes):
    """How many people made how many attempts of each kind, and by what they are grouped."""
    rows = {}
    for audit in report.audits:
        everyone = audit.groups[0]
        people = "people who are not known"
        if everyone.n_identities is not None:
            people = plural(everyone.n_identities, "person", "people")
        attempts = capital(terms_of(audit.settings).frr.trials)
        rows[attempts] = f"{count(everyone.n_genuine)}, of {people}"
    return [*rows.items(), ("Attributes", "; ".join(dict.fromkeys(attributes)))]


def facts_of_data(everyone, attributes, terms):
    """How many people, images and comparisons there are, and by what they are grouped."""
    people = f"not known; {terms.trial}s taken as independent"
    if everyone.n_identities is not None:
        people = of_people(everyone).line
    images = [] if everyone.n_images is None else [("Images", count(everyone.n_images))]
    genuine, impostor = everyone.n_genuine, everyone.n_impostor
    of_kind = [
        ((capital(terms.frr.trials_at_length), count(genuine)), genuine),
        ((capital(terms.far.trials_at_length), count(impostor)), impostor),
    ]
    return [
        ("People", people),
        *images,
        *(kind for kind, n in of_kind if n),
        ("Attributes", "; ".join(attributes)),
    ]


def sizes(systems, terms, names=("",)):
    """Sizes of the groups, and the equal error rates of each system."""
    rows, shown = [], {"n_identities": "People", "n_images": "Images"}
    size = "Size of each group" if systems[0].attribute else "Size of the data"
    if systems[0].groups[0].n_images is None:
        del shown["n_images"]
    for system, name in zip(systems, names, strict=True):
        rows.append([])
        for found in system.groups:
            cells = [
                of_people(found)
                if column == "n_identities"
                else Cell(count(found.n_images))
                for column in shown
            ]
            equal = found.equal_error_rate
            cells = cells if equal is None else [*cells, of_rate(equal)]
            rows[-1].append(row_of_group(found.group, cells, name))
    caption, head = f"{size}.", ["Group", *shown.values()]
    if len(rates_in(systems[0].groups)) > 1:
        head.append("EER")
        caption = (
            f"{size}, and its equal error rate (EER), at the threshold where its "
            f"{terms.far.rate} equals its {terms.frr.rate}."
        )
        rates = [found.equal_error_rate for one in systems for found in one.groups]
        if any(rate and math.isnan(rate.value) and not rate.reasons for rate in rates):
            caption += " It is not known (-) if lists of candidates end before."
    return Table(caption, head, beside(rows))


def crossing(found, audit):
    """How many people there are of each combination of groups."""
    counted = "people"
    if audit.groups[0].n_identities is None:
        counted = f"{terms_of(audit.settings).trial}s"
    rows = [
        Row(
            ", ".join("unknown" if g is None else printable(g) for g in cell.groups),
            [Cell(count(cell.n_identities))],
        )
        for cell in found.cells
    ]
    names = ", ".join(map(printable, found.attributes))
    head = [names, capital(counted)]
    return Table(f"Number of {counted} by {names}.", head, rows)


ONE_PERSON_OUT = (
    "They are made by leaving out one person at a time (jackknife): people who are in many "
    "errors widen them."
)
ONE_PAIR_OUT = "They are made by leaving out one {} at a time (jackknife)."
TESTS_AGREE = (
    "Groups are compared with the reference by two-sided tests that agree with the intervals "
    "of their ratios. The ends of a disparity follow from those of largest / smallest."
)
SHARED_BY_TWO = (
    "Leaving out each of two people counts twice what their comparisons share. In an {}, one "
    "of the two is subtracted from the variance."
)
AGAINST_OTHERS = (
    "Tests against the other groups have an error probability of their own, a fifth of that of "
    "the tests against the reference and in addition to it."
)
ALL_GENUINE = (
    "All attempts are taken as genuine: a column would mark impostor attempts and attacks "
    "(--attempt)."
)
TESTS_OF_SEARCHES = (
    "The ends of a ratio follow from those of both rates (MOVER). If a group has no error, the test "
    "is close to the conditional test of two Poisson numbers, and conservative if people search "
    "several times."
)
ENDS_OF_SEARCHES = (
    "This gives the standard error of a rate and its skewness. The ends are as many standard errors "
    "away as the exact ends of a Poisson number of the same skewness, or of a binomial number if that "
    "has more. Without an error the lower end is 0, and the upper end is that of the rule of three, "
    "all searches of a person counted as one, or the end at a looser threshold if that is lower."
)
OF_COMBINATIONS = (
    f"Tests of single attributes have {100 * (1 - SHARE_OF_COMBINATIONS):g} % of the error "
    "probability, and those of combinations the rest. An adjusted "
    "p-value is Holm's, divided by that share."
)
IN_A_GAP = (
    "A score that equals it is accepted. It is printed as a short decimal between the last "
    "score that it accepts and the first that it rejects."
)
# What became of failures, in words.
FAILURE_TEXTS = {
    "reject": "What was not captured, or has no score, counts as rejected.",
    "report": "What was not captured, or has no score, is left out of the rates, and counted "
    "by group.",
}
# Terms of attempts, which comparisons have none of, and terms that decisions have.
OF_ATTEMPTS = ("FRR,", "FAR,", "BPCER", "APCER", "Attempt", "Template")
OF_DECISIONS = (
    "Attempt",
    "Differential",
    "Confidence",
    "Limit",
    "Reference",
    "Holm",
    "Too few errors",
    "Gini",
)
# Terms and limits that are about groups.
OF_GROUPS = (
    "Differential",
    "Gini",
    "FPD",
    "Inequity",
    "Levelling",
    "Reference",
    "Holm",
)
OF_LABELS = ("Labels of groups", "Finding no difference")
# Terms that are of comparisons alone.
OF_COMPARISONS = (
    *("FMR", "FNMR", "Mated", "Non-mated", "Template", "FTA", "GFAR", "FPD"),
    *("Inequity", "Levelling"),
)


def method(report):
    """Parts of the section: how, and what makes the same numbers again."""
    first = report.audits[0]
    # Of a log, attacks alone may have groups, the species.
    sentences = _method(next((a for a in report.audits if a.attribute), first))
    if any(" & " in audit.attribute for audit in report.audits):
        sentences.append(OF_COMBINATIONS)
    levels = (level for audit in report.audits for level in audit.levels)
    if any(level.against_others for level in levels):
        sentences.append(AGAINST_OTHERS)
    if kinds_of(report) == {"frr"}:
        sentences[:0] = [ALL_GENUINE]
    digests = first.settings.get("sha256", {})
    return [sentences, reproduce(first.settings, report.about, digests)]


def reproduce(settings, about, digests):
    """The command, the seed, the confidence level and the digest of every input."""
    rows = [("Command", printable(about["command"]))] if "command" in about else []
    if "random_state" in settings:
        rows.append(("Seed", f"{settings['random_state']}"))
    of_all = " of all alarms together" if "level_of_first" in settings else ""
    rows.append((f"Confidence level{of_all}", level_in_percent(settings)))
    rows += [(f"SHA-256 of {printable(name)}", of) for name, of in digests.items()]
    return Section("reproduce", "Reproduce", [Facts(rows)])


def _method(audit):
    """How the numbers of an audit came about."""
    settings, set_on = audit.settings, audit.levels[0].set_on
    if "decisions" in settings:
        sentences = _method_of_decisions(settings)
        return [*sentences, *_of_tests(audit, TESTS_AGREE)]
    if "gallery" in settings:
        tests = f"{TESTS_AGREE} {TESTS_OF_SEARCHES}"
        interval = f"{_of_intervals(settings)} {ENDS_OF_SEARCHES}"
        sentences = *how_searched(settings), _setting(settings, set_on), interval
        return [*sentences, *_of_tests(audit, tests)]
    end = (
        "distance is at most" if settings.get("distance") else "similarity is at least"
    )
    member = ", and belongs to a group if both samples do" if audit.attribute else ""
    texts = [
        "Every two samples that the data compare make one comparison. It is accepted if its "
        f"{end} the threshold{member}.",
        *how_compared(settings),
    ]
    if failures := FAILURE_TEXTS.get(settings.get("failures")):
        texts.append(failures)
    if settings.get("domain"):
        across = f"the two values of {printable(settings['domain'])}"
        texts.append(f"Only samples across {across} are compared.")
    return [
        *texts,
        f"{_setting(settings, set_on)} {_weighs(settings)}",
        _of_intervals(settings),
        *_of_shared(audit),
        *_of_tests(audit, TESTS_AGREE),
    ]


def _of_tests(audit, text):
    """How groups are compared, in a list, or empty without groups."""
    return [text] if audit.attribute else []


def _setting(settings, set_on):
    """How the threshold was set."""
    if set_on == "given":
        return "The threshold was given."
    far = terms_of(settings).far
    trials = f"all {far.standard_trials}"
    if settings["impostors"] == "same_group":
        trials = f"the {far.standard_trials} within a group"
    if "threshold_group" in settings:
        trials = f"{printable(settings['threshold_group'])} alone"
    on = printable(settings.get("threshold_from") or set_on)
    return (
        f"A threshold is the one at which the {far.name} of {trials} meets the level, on {on}. "
        f"{IN_A_GAP}"
    )


def _weighs(settings):
    own = "person"
    if settings["average"] == "pair":
        own = terms_of(settings).comparison
    return f"Every {own} weighs the same in a rate."


def _of_intervals(settings):
    """The quantity of the intervals, and their computation."""
    about, left_out = "new people from the same population", ONE_PERSON_OUT
    if settings.get("independent_pairs"):
        trial = terms_of(settings).trial
        about = f"other {trial}s, as if no two shared a person"
        left_out = ONE_PAIR_OUT.format(trial)
    if "decisions" not in settings:
        about = f"this threshold and {about}"
    return f"Intervals are about {about}, at {level_in_percent(settings)}, each alone. {left_out}"


def _of_shared(audit):
    """How the variance of a rate of two people is made, in a list."""
    by_pairs = audit.settings.get("independent_pairs")
    if by_pairs or "far" not in rates_in(audit.groups):
        return []
    return [SHARED_BY_TWO.format(terms_of(audit.settings).far.name)]


def _method_of_decisions(settings):
    """How the numbers of an audit of decisions came about."""
    best_of, texts = settings.get("best_of"), []
    if best_of:
        texts.append(
            f"A transaction is the first {best_of} attempts of one person in a session, in "
            "the order of the data. It is accepted if one of them is."
        )
    failures = FAILURE_TEXTS.get(settings.get("failures"))
    texts += [failures] if failures else []
    return [*texts, _weighs(settings), _of_intervals(settings)]


def limits_of_page(report):
    """Limits of the page."""
    audit, lines = report.audits[0], lines_of("limits")
    if kinds_of(report) & {"far", "apcer"}:
        lines = [line for line in lines if not line.startswith("Attacks are")]
    if kinds_of(report):
        lines[0] = (
            "Rates apply to these data and groups. They may differ for another population, "
            "other conditions or other settings of the system."
        )
    if not any(audit.attribute for audit in report.audits):
        lines = [line for line in lines if not line.startswith(OF_LABELS)]
    if any(audit.label_errors for audit in report.audits):
        lines = [line for line in lines if not line.startswith(OF_LABELS[0])]
    if audit.settings.get("independent_pairs"):
        trials = f"{terms_of(audit.settings).trial}s"
        about = (
            f"Nobody is known by name: {trials} were taken as independent. Where people"
        )
        lines.insert(1, f"{about} are in several {trials}, intervals are too narrow.")
    return [*([AS_GIVEN] if "gallery" in audit.settings else []), *lines]


def glossary(settings, without, only=""):
    """Words of the page: none of those that begin so, and only those that begin so."""
    accepted_at = "similarity from which on"
    if settings.get("distance"):
        accepted_at = "distance up to which"
    terms = terms_of(settings)
    values = {"accepted": accepted_at, "far": terms.far.name, "frr": terms.frr.name}
    values |= {"level": level_in_percent(settings)}
    values |= {"alpha": f"{100 - 100 * settings['confidence_level']:g}"}
    lines = [line.format(**values) for line in lines_of("glossary")]
    if "gallery" in settings:
        kept = [line for line in lines if not line.startswith(OF_COMPARISONS)]
        lines = lines_of("search_glossary") + kept
    words = (line.split(": ", 1) for line in lines)
    return Facts(
        [(t, s) for t, s in words if t.startswith(only) and not t.startswith(without)],
        long=True,
    )


def kinds_of(report):
    """Names of the errors of decisions, a set, or empty of comparisons."""
    return {a.settings["decisions"] for a in report.audits if "decisions" in a.settings}


def words_of(report):
    """Words of an audit's page: those of comparisons, or of the decisions that it has."""
    settings, kinds = report.audits[0].settings, kinds_of(report)
    of_groups = OF_GROUPS
    if any(audit.attribute for audit in report.audits):
        of_groups = ()
    failed = any(audit.failures for audit in report.audits)
    if kinds:
        wanted = [f"{DECISIONS[kind].name}," for kind in kinds]
        wanted += ["FTA"] * failed
        return glossary(settings, of_groups, (*wanted, *OF_DECISIONS))
    left_out = ["Levelling down", *OF_ATTEMPTS, *([] if failed else ["FTA", "GFAR"])]
    if settings.get("failures") == "reject":
        left_out = ["Levelling down", "BPCER", "APCER", "GFAR"]
    return glossary(settings, (*left_out, *of_groups))
