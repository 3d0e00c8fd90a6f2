"""The gallery of searches: its facts, whom false alarms name, and rates over its size."""

from functools import partial

from skfairfr._core._rates import end_in_digits
from skfairfr._text._document import Cell, Figure, Row, Section, Table
from skfairfr._text._words import capital, count, percent, plural, printable
from skfairfr.report._notes import place_of
from skfairfr.report.sections._cells import level_in_percent

AS_GIVEN = (
    "The gallery is taken as given: intervals are for new people who search it. Another "
    "gallery has another FPIR, a larger one a higher FPIR."
)


def facts_of_gallery(settings):
    """Facts about the gallery that is searched, in a list, or empty of comparisons."""
    if "gallery" not in settings:
        return []
    gallery = settings["gallery"]
    templates = {
        "image": "one image of each",
        "mean": "the mean of each person's images",
        "max": "all images of each, of which the best counts",
    }
    about = f"{count(gallery['enrolled'])}, {templates[gallery['template']]}"
    facts = [
        ("People enrolled", about),
        ("Rank up to which a mate counts", gallery["rank"]),
    ]
    if "candidates" in gallery:
        facts.append(("Scores", scores_given(gallery["candidates"], settings)))
    return facts


def scores_given(lists, settings):
    """Input in place of embeddings, and from where on it decides searches."""
    n, rank = count(lists["searches"]), settings["gallery"]["rank"]
    if lists["longest"] is None:
        return f"A matrix of the scores of all {n} searches with everybody enrolled."
    longest = plural(lists["longest"], "candidate")
    where = "at every threshold"
    if lists["known_from"] is not None:
        distance = settings.get("distance", False)
        end = end_in_digits(lists["known_from"], distance)
        where = f"up to distance {end}" if distance else f"from threshold {end} on"
    texts = [
        f"Candidate lists of {n} searches, up to {longest} each: with this gallery, rates at "
        f"rank {rank} are known {where}."
    ]
    if lists["empty"]:
        texts.append(f"{plural(lists['empty'], 'list is', 'lists are')} empty.")
    return " ".join(texts)


def searches_in_words(audit):
    """How many searches are mated and how many are not, and of how many people, in a list."""
    if "mated_people" not in audit.settings.get("gallery", ()):
        return []
    gallery, everyone = audit.settings["gallery"], audit.groups[0]
    mated, others = gallery["mated_people"], everyone.n_identities
    given = []
    if lists := gallery.get("candidates"):
        given = [scores_given(lists, audit.settings)]
    return [
        *given,
        f"{plural(everyone.n_genuine, 'mated search', 'mated searches')}, by {count(mated)} of "
        f"the {plural(gallery['enrolled'], 'person', 'people')} enrolled. "
        f"{plural(everyone.n_impostor, 'non-mated search', 'non-mated searches')}, by "
        f"{plural(others - mated, 'person', 'people')} not enrolled.",
    ]


def who_alarms(report):
    """Whom false alarms name, at each operating point of the first audit.

    A list that may be chance is folded.
    """
    first, parts = report.audits[0], []
    # Without an attribute nobody's group is known.
    grouped = bool(first.attribute)
    for level, alarms in zip(
        first.levels, first.settings["gallery"]["alarms"], strict=True
    ):
        rows = []
        for of in alarms:
            group = "unknown" if of["group"] is None else printable(of["group"])
            cells = [
                *[Cell(group)] * grouped,
                Cell(count(of["n_alarms"])),
                Cell(count(of["n_searchers"])),
                Cell(percent(of["share"])),
            ]
            rows.append(Row(printable(of["identity"]), cells))
        if not rows:
            continue
        n = sum(of["n_alarms"] for of in alarms)
        total = round(alarms[0]["n_alarms"] / alarms[0]["share"])
        caption = (
            f"Enrolled people whom most false alarms return first, at {place_of(level, first)}: "
            f"{n:,} of {plural(total, 'alarm')} return these {len(rows)}. 'By' counts the people who "
            "searched. Their identifiers are in the JSON, too: check who may read them."
        )
        head = ["Enrolled", *["Group"] * grouped, "Alarms", "By", "Share"]
        table = Table(caption, head, rows)
        place = f"{capital(place_of(level, first))}: "
        parts.append(f"{place if len(first.levels) > 1 else ''}{_of_many(alarms)}")
        name, title = f"by-gallery-alarms-{len(parts)}", "People named most"
        parts.append(
            table if _more_than_chance(alarms) else Section(name, title, [table], True)
        )
    return Section("by-gallery-alarms", "Whom false alarms name", parts)


def over_sizes(report):
    """The rates over the number of people enrolled."""
    first = report.audits[0]
    if first.sizes is None:
        text = (
            "Not known: rates of smaller galleries need, of every search, all candidates who "
            "reach the threshold and all who are ahead of the mate, and lists end before. Make "
            "longer lists or, if all candidates from a score on are listed, state it (listed_from, --listed-from)."
        )
        return Section("by-gallery-sizes", "Size of the gallery", [text])
    ci = level_in_percent(first.settings)
    caption = (
        "FPIR and FNIR of every group at the first operating point, in galleries of fewer people "
        "who are drawn at random. Crosses: what is often taken for the FPIR instead, 1 - (1 - "
        "FMR)^n. A group with a rate of 0 has no line in the figure, only its intervals. Bands or "
        f"vertical lines: {ci} CI. With many groups, each size of the gallery shows the interval "
        "of one group."
    )
    draw = partial(
        first.sizes, [row.group for of in report.audits for row in of.groups]
    )
    figures = [Figure(caption, draw, "gallery-sizes")]
    return Section("by-gallery-sizes", "Size of the gallery", figures)


def _of_many(alarms):
    """Whether some are returned to more people than by chance, in a sentence."""
    n_more = _more_than_chance(alarms)
    if not n_more:
        return "The data do not show that any person is returned more often than by chance."
    return (
        f"{plural(n_more, 'person is', 'people are')} returned to more people than chance explains: "
        "re-enrolling them may help more than another threshold. Without them, the searches may "
        "return someone else."
    )


def _more_than_chance(alarms):
    """How many are returned to more people than one of so many would be by chance."""
    return sum(of["p_value"] < 0.05 for of in alarms)


def how_searched(settings):
    """How the numbers of searches come about, in a list, or empty of comparisons."""
    if "gallery" not in settings:
        return []
    rank = settings["gallery"]["rank"]
    others = "somebody else scores" if rank == 1 else f"{rank} or more others score"
    compared = "Every probe is compared with everybody enrolled."
    if "candidates" in settings["gallery"]:
        longest = settings["gallery"]["candidates"]["longest"]
        compared = "Scores were given, and are used as they are."
        if longest is not None:
            compared = (
                "Candidate lists were given. A mated search whose mate is not listed is missed: "
                "enough others are ahead, or the mate's score is below the threshold. A search "
                "without candidates counts, too."
            )
        if longest == rank:
            compared += (
                " A mate who is last in a list is ahead of all who are not listed."
            )
    texts = [
        f"{compared} A search alarms if the score of "
        "somebody is at least the threshold. It belongs to the group of its probe. Searches "
        "by people who are not enrolled are non-mated, and their alarms false. A mated search "
        f"misses its mate if the mate's score is below the threshold, or if {others} at least "
        "as high as the mate."
    ]
    return [*texts, *how_compared(settings)]


def how_compared(settings):
    """By what samples are compared, in a list, or empty of the cosine of embeddings."""
    if "similarity" not in settings:
        return []
    return [f"Two samples are compared by {printable(settings['similarity'])}."]
