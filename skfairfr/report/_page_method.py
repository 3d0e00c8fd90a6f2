"""The sections of a page that are alike in all: how it was computed, limits, glossary."""

from skfairfr._core._rates import in_digits
from skfairfr.report._page_parts import bullets

GLOSSARY = (
    (
        "FMR, false match rate",
        "Share of non-mated comparisons that are accepted: two people taken for one. "
        "Called FAR in many papers and in skfairfr. Lower is better.",
    ),
    (
        "FNMR, false non-match rate",
        "Share of mated comparisons that are rejected: a person not recognised. Called "
        "FRR in many papers and in skfairfr. Lower is better.",
    ),
    (
        "Mated comparison, genuine pair",
        "A comparison of two samples of one person.",
    ),
    (
        "Non-mated comparison, impostor pair",
        "A comparison of samples of two people. Here nobody tries to look like somebody "
        "else: a zero-effort impostor.",
    ),
    (
        "Threshold",
        "{accepted}. One threshold holds for everybody.",
    ),
    (
        "Template, attempt, transaction",
        "What is stored of a sample for comparison; one presentation of a sample; one or "
        "more attempts that end in a decision. Rates here are of comparisons, not of "
        "transactions.",
    ),
    (
        "FTA and FTE",
        "Failure to acquire: a sample could not be taken or used. Failure to enrol: no "
        "template could be stored.",
    ),
    (
        "GFAR and GFRR",
        "Generalised false acceptance and false rejection rates, which count failures to acquire "
        "and to enrol as well.",
    ),
    (
        "EER, equal error rate",
        "The value of both rates at the threshold where they are equal.",
    ),
    (
        "DET, detection error tradeoff",
        "The curve of FNMR over FMR as the threshold moves.",
    ),
    (
        "Differential performance",
        "A difference between demographic groups in the scores or error rates of a "
        "system; a differential outcome is one in the decisions that follow.",
    ),
    (
        "FPD and FND",
        "False positive and false negative differential of ISO/IEC 19795-10: D/(D "
        "\N{MINUS SIGN} 1) times the Gini coefficient of the FMR, or of the FNMR, of D "
        "groups at one global threshold. 0 where all groups have the same rate, 1 at most.",
    ),
    (
        "Inequity rate, GARBE, FDR",
        "Indices that join both rates with equal weight: the geometric mean of the ratios "
        "of largest to smallest rate (1 if alike); the mean of the two Gini coefficients (0 "
        "if alike); one minus the mean of the largest differences (1 if alike, smaller is "
        "less fair).",
    ),
    (
        "Interval",
        "Values that are compatible with the data, at the stated level of confidence.",
    ),
    (
        "Not supported",
        "A number that rests on fewer than 30 errors, on errors of fewer than 10 people, or "
        "on errors more than a third of which come from one person.",
    ),
)


def method(audit):
    """How the numbers of an audit came about."""
    settings = audit.settings
    texts = [
        "Every two samples that the data compare make one comparison; it is accepted if "
        f"its {_accepted(settings)} the threshold. A comparison belongs to a group if both "
        "samples do.",
        *_similarity(settings),
        _threshold(audit),
        f"Every {'comparison' if settings['average'] == 'pair' else 'person'} weighs the "
        "same in a rate.",
        _intervals(settings),
        "Each group is compared with the geometric mean of the others by a two-sided test, "
        f"which allows for {_dependence(settings)}the number of comparisons made (Holm).",
    ]
    head = {"kind": "heading", "text": "Settings"}
    return [bullets(texts), head, settings_of(settings)]


def settings_of(settings):
    """Settings by name, thresholds on the scale of the caller's scores."""
    shown = {k: v for k, v in settings.items() if v is not None and k != "sha256"}
    if "threshold" in shown:
        sign = -1 if settings.get("distance") else 1
        shown["threshold"] = [in_digits(sign * v) for v in shown["threshold"]]
    rows = [(name, _plain(value)) for name, value in shown.items()]
    return {"kind": "facts", "rows": rows}


def _accepted(settings):
    return (
        "distance is at most" if settings.get("distance") else "similarity is at least"
    )


def _dependence(settings):
    independent = settings.get("independent_pairs")
    return "" if independent else "people who are in many pairs and for "


def _plain(value):
    if isinstance(value, list | tuple):
        return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _similarity(settings):
    """How embeddings are compared, where it is not by their cosine."""
    if "similarity" not in settings:
        return []
    return [f"Two samples are compared by {settings['similarity']}."]


def _threshold(audit):
    if audit.levels[0].set_on == "given":
        return "The threshold was given; intervals are about it."
    impostors = {
        "all": "all non-mated comparisons",
        "same_group": "the non-mated comparisons within a group",
    }[audit.settings["impostors"]]
    where = "other" if audit.levels[0].set_on == "other data" else "these"
    return (
        f"A threshold is set where the FMR of {impostors} meets the level, on {where} data: "
        "the shortest number that accepts the same comparisons. Intervals are about this "
        "threshold, not about one that other people would have set."
    )


def _intervals(settings):
    drawn, how = "other people of the same population", "people who are in many errors"
    if settings.get("independent_pairs"):
        drawn, how = "other pairs of the same kind, as if no two shared a person", "few"
        how = "few errors"
    return (
        f"Intervals are about {drawn}, at {100 * settings['confidence_level']:g} %, each "
        "alone. Those of rates, the EER, ratios and max / min come from the errors of each person, "
        f"on a scale that allows for {how}; the lower end of max / min allows for the "
        "number of groups. Other disparities take "
        f"{settings['n_resamples']:,} resamples."
    )


def limits_of_page(audit):
    """What the page does not say."""
    texts = [
        "Rates hold for these data, these groups and these operating points. Another "
        "population, camera, lighting or threshold may give others.",
        "An interval covers sampling alone: not how people were chosen or labelled.",
        "The data tell nothing of kinds of people that they lack: of a group of n people, "
        "nothing of kinds rarer than about 3/n.",
        "Labels of groups are taken as given. Wrong labels usually make groups look more "
        "alike.",
        "Finding no difference does not mean that there is none.",
        "Nobody tried to look like somebody else. Attacks, such as masks or morphed images, are not "
        "measured.",
        "No number here says that a system is fit for a purpose or lawful.",
    ]
    if audit.settings.get("independent_pairs"):
        texts.insert(
            1,
            "Nobody is known by name: pairs were taken as independent. Where people are in "
            "several pairs, intervals are too narrow.",
        )
    return [bullets(texts)]


def glossary(settings):
    """Words of the page."""
    accepted = "The similarity from which on a comparison is accepted"
    if settings.get("distance"):
        accepted = "The distance up to which a comparison is accepted"
    rows = [(term, text.replace("{accepted}", accepted)) for term, text in GLOSSARY]
    return {"kind": "glossary", "rows": rows}
