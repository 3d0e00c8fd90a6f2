"""The central contrasts of the studies of examples/mitigation, in 64 and in 512 features.

    python -m docs.studies.check_studies [n_draws] [night]

With a night, a whole number, one part alone: another one every night.

The studies draw people with 64 features. Here the same people, drawn and trained as there,
are placed in 512 by a random orthonormal map, which changes no cosine; ``mlp`` heads, whose
rate is not scaled, and kappas, whose normaliser depends on the features, in 128 as well.
Fewer settings, people and draws than in the studies:

- a rate: after over before on people not fitted on, geometric mean over the draws and its
  95 % t interval;
- against 64: that in these features over that in 64, paired over the draws.

At the end the advice of the guide, README and claims, the ratio that it speaks of, and
whether its interval agrees ("yes"), disagrees ("NO") or holds 1 ("open"). Some forty minutes
on one core.
"""

import warnings
from functools import partial
from pathlib import Path
from runpy import run_path
from unittest.mock import patch

import numpy as np

from docs.studies._command import run_command
from docs.studies.check_dimensions import interval, placed
from skfairfr import (
    EthicalModule,
    FPRPenaltyProjector,
    SimilarityROC,
    TripletProjector,
    face_labels,
)
from skfairfr._core._vmf import log_vmf_normalizer
from skfairfr.comparators import WithinClassWhitening
from skfairfr.losses import _fair_vmf
from skfairfr.projectors import AdversarialProjector, CentroidFairnessProjector

EXAMPLES = Path(__file__).parents[2] / "examples" / "mitigation"
TRAINING, FPR, SAMPLING, BENCH = (
    run_path(str(EXAMPLES / f"study_{name}.py"))
    for name in ("training", "fpr_penalty", "group_sampling", "bench")
)
FAR = 1e-3
WORST = {"how": "max_min", "operating_point": "worst_group"}
RATES = {"FRR": {}, "BFAR": {"rate": "far", **WORST}, "BFRR": WORST}
OF_FARS = {
    "FRR": {},
    "FAR std": {"rate": "far", "how": "std"},
    "FAR max/geomean": {"rate": "far", "how": "max_geomean"},
}
OF_RARE = {
    "FRR": {},
    "FRR AF": {"group": "AF"},
    "FAR max/geomean": OF_FARS["FAR max/geomean"],
}
OF_500 = (
    "defaults",
    "60 epochs",
    "5 epochs",
    "batch_size 256",
    "mlp, lr 0.01, from means, 5 epochs",
    "mlp, lr 0.01, from means, 20 epochs",
    "mlp, lr 0.01, drawn, 50 epochs",
)
OF_1500 = ("defaults", "5 epochs", "4 epochs, lr 0.005", *OF_500[-3:])
TWO = ("male", "female")
PAIRS = {
    "defaults": (20, 20),
    "kappas 10, 30": (10, 30),
    "kappas 30, 10": (30, 10),
    "EM-FAR (15, 20)": (15, 20),
    "EM-FRR (25, 20)": (25, 20),
    "EM-C (45, 30)": (45, 30),
    "kappas 40, 40": (40, 40),
}
OTHER = ", normaliser of 64"
PENALTIES = ("alpha = 0", FPR["DEFAULT"], "mean square, alpha = 1")
STRATEGIES = ("natural", "equal", "dynamic")
SAMPLED = {**SAMPLING["TRAINING"], "max_epochs": 10}
CAUSES = ("crowded group", "spread group", "crowded and spread", "nuisance direction")


class OfDirections(EthicalModule):
    """With the normaliser of 64 features, whatever their number."""

    def fit(self, X, y):
        def of_64(kappa, n_features):
            return log_vmf_normalizer(kappa, 64)

        with patch.object(_fair_vmf, "log_vmf_normalizer", of_64):
            return super().fit(X, y)


def heads(n_people, models):
    """A part whose people are those of study_training."""
    return partial(TRAINING["drawn"], n_people), n_people, models, RATES


def options(names):
    """Modules with options of study_training."""
    of = TRAINING["OPTIONS"]
    return {name: EthicalModule(groups=TWO, **of[name][0]) for name in names}


def pairs():
    """Modules with pairs of kappas."""
    made = {name: EthicalModule(*of, groups=TWO) for name, of in PAIRS.items()}
    for name in ("kappas 10, 30", "kappas 30, 10"):
        made[name + OTHER] = OfDirections(*PAIRS[name], groups=TWO)
    return made


def of_bench(cause):
    """Heads of the bench with their defaults, its controls, and WCCN."""
    models = {
        "plain head": EthicalModule(groups=TWO),
        "margin head": FPRPenaltyProjector(alpha=0.0),
        "FPR penalty": FPRPenaltyProjector(),
        "triplets": TripletProjector(sampling="equal"),
        "adversary": AdversarialProjector(lr=1e-3),  # its default then
        "centroid fairness": CentroidFairnessProjector(),
        "WCCN": WithinClassWhitening(shrinkage=0.5),
    }
    people = {"n_people": 1200, "n_features": 64}
    return partial(BENCH["population"], cause, **people), 600, models, RATES


PARTS = {
    "training, 500 people": heads(500, options(OF_500)),
    "training, 1,500 people": heads(1500, options(OF_1500)),
    "kappas, 500 people": heads(500, pairs()),
    **{f"bench, {cause}": of_bench(cause) for cause in CAUSES},
    "FPR penalty, 1,000 people": (
        FPR["synthetic"],
        1000,
        {
            n: FPRPenaltyProjector(**FPR["RESIDUAL"], **FPR["GRID"][n])
            for n in PENALTIES
        },
        OF_FARS,
    ),
    "triplets, 1,000 people": (
        partial(SAMPLING["draw"], n_identities=2000),
        1000,
        {
            n: TripletProjector(**SAMPLED, **SAMPLING["STRATEGIES"][n])
            for n in STRATEGIES
        },
        OF_RARE,
    ),
}
# By part: two settings, what is said of a rate of the first over that of the second, words.
ADVICE = {
    "training, 500 people": (
        ("defaults / before", "FRR <", "defaults lower FRR"),
        ("defaults / before", "BFAR <", "... and BFAR"),
        ("defaults / before", "BFRR >", "... and raise BFRR"),
        ("60 epochs / defaults", "FRR <", "60 epochs lower FRR further"),
        ("5 epochs / before", "FRR <", "5 epochs lower FRR"),
        ("batch_size 256 / defaults", "BFAR <", "small batches lower BFAR further"),
        (f"{OF_500[-1]} / before", "FRR >", "paper's options raise FRR"),
        (f"{OF_500[-1]} / before", "BFRR <", "... and lower BFRR"),
    ),
    "training, 1,500 people": (
        ("defaults / before", "FRR <", "defaults lower FRR"),
        ("defaults / before", "BFAR <", "... and BFAR"),
        ("defaults / before", "BFRR >", "... and raise BFRR"),
        ("defaults / 5 epochs", "FRR <", "FRR falls on after 5 epochs"),
        ("4 epochs, lr 0.005 / defaults", "FRR >", "4 epochs lower FRR less"),
        (f"{OF_500[-1]} / before", "FRR >", "paper's options raise FRR"),
        (f"{OF_500[-3]} / before", "FRR >", "mlp, 5 epochs raise FRR"),
        (f"{OF_500[-3]} / defaults", "BFRR <", "... with less BFRR"),
    ),
    "kappas, 500 people": (
        ("kappas 10, 30 / defaults", "BFAR <", "10, 30 lower BFAR further"),
        ("kappas 10, 30 / defaults", "FRR >", "... and raise FRR"),
        ("kappas 10, 30 / defaults", "BFRR >", "... and BFRR"),
        ("kappas 30, 10 / defaults", "BFRR <", "30, 10 lower BFRR"),
        ("kappas 30, 10 / defaults", "BFAR >", "... and raise BFAR"),
        ("kappas 30, 10 / defaults", "FRR >", "... and FRR"),
        ("EM-FAR (15, 20) / before", "BFAR <", "EM-FAR lowers BFAR"),
        ("EM-FAR (15, 20) / before", "FRR >", "... and raises FRR"),
        ("EM-FRR (25, 20) / before", "BFRR <", "EM-FRR lowers BFRR"),
        ("EM-C (45, 30) / before", "BFAR <", "EM-C lowers BFAR"),
        ("EM-C (45, 30) / before", "BFRR <", "... and BFRR"),
        ("kappas 40, 40 / defaults", "FRR >", "one kappa of 40 raises FRR"),
    ),
    "bench, crowded group": (
        ("plain head / before", "BFAR <", "a head lowers BFAR"),
        ("FPR penalty / margin head", "BFAR <", "... the penalty more"),
        ("centroid fairness / plain head", "BFAR <", "... regression more"),
        ("adversary / plain head", "FRR >", "an adversary raises FRR"),
        ("adversary / plain head", "BFAR <", "... and lowers BFAR"),
    ),
    "bench, spread group": (
        ("plain head / before", "BFRR <", "a head lowers BFRR"),
        ("centroid fairness / before", "BFRR <", "... or regression"),
        ("plain head / before", "FRR >", "a head raises FRR"),
    ),
    "bench, nuisance direction": (
        ("WCCN / before", "FRR <", "WCCN lowers FRR"),
        ("WCCN / before", "BFAR <", "... and BFAR"),
        ("plain head / before", "FRR <", "a head lowers FRR"),
        ("plain head / before", "BFAR <", "... and BFAR"),
        ("plain head / WCCN", "FRR >", "... FRR less than WCCN"),
    ),
    "FPR penalty, 1,000 people": (
        (f"{PENALTIES[1]} / {PENALTIES[0]}", "FAR std <", "ratio lowers FAR std"),
        (f"{PENALTIES[1]} / {PENALTIES[0]}", "FAR max/geomean <", "... max/geomean"),
        (f"{PENALTIES[2]} / {PENALTIES[0]}", "FAR std <", "mean square lowers it"),
        (f"{PENALTIES[2]} / {PENALTIES[0]}", "FAR max/geomean <", "... max/geomean"),
    ),
    "triplets, 1,000 people": (
        ("natural / before", "FRR <", "triplets lower FRR"),
        ("equal / natural", "FAR max/geomean <", "equal lowers max/geomean"),
        ("dynamic / natural", "FAR max/geomean <", "dynamic, too"),
        ("equal / natural", "FRR >", "equal raises FRR"),
        ("equal / natural", "FRR AF >", "... and FRR within AF"),
    ),
}


def measured(rates, X, y, group, domain=None):
    """Each rate on people not fitted on."""
    roc = SimilarityROC(n_resamples=1, random_state=0)
    roc.fit(X, y, group, domain=domain)
    return [roc.estimate(FAR, **asked).value for asked in rates.values()]


def dimensions(name):
    """The numbers of features in which a setting is fitted."""
    in_128 = name.startswith(("mlp", "kappas", "EM")) and not name.endswith(OTHER)
    return (64, 128, 512) if in_128 else (64, 512)


def of_draw(part, seed):
    """Rates (n_rates,) of each setting and number of features, and before."""
    draw, n_people, models, rates = part
    X, y, group, *others = draw(seed=seed)
    domain = others[-1] if others else None
    labels = face_labels(y, group, domain=domain)
    fit = y < n_people  # identities are in random order
    about = [c if c is None else c[~fit] for c in (y, group, domain)]
    found = {("before", d): measured(rates, X[~fit], *about) for d in (64, 512)}
    for name, model in models.items():
        if "random_state" in model.get_params():
            model.set_params(random_state=0, device="cpu")
        for d in dimensions(name):
            placed_rows = placed(X, d, seed)
            model.fit(placed_rows[fit], labels[fit])
            found[name, d] = measured(rates, model.transform(placed_rows[~fit]), *about)
    return found


def table(title, rates, found):
    """Print a row for each setting and number of features."""
    values = found["before", 64].mean(axis=0)
    said = (f"{name} {value:.3g}" for name, value in zip(rates, values, strict=True))
    print(f"\n{title}, before: {', '.join(said)}")
    columns = [*rates, *(f"{name} against 64" for name in rates)]
    print(f"{'':36}features", *(f"{column:22}" for column in columns))
    for (name, d), values in found.items():
        if name != "before":
            ratios = [values / found["before", 64], values / found[name, 64]]
            cells = [interval(r) for part in ratios[: 1 + (d > 64)] for r in part.T]
            print(f"{name:36}{d:8}", *(f"{cell:22}" for cell in cells), flush=True)


def advice(found):
    """Print each sentence with the ratio it speaks of, as it came out."""
    print(f"\n{'':65}64 features              512 features")
    for part, sentences in ADVICE.items():
        for settings, asked, words in sentences if part in found else ():
            name, base = settings.rsplit(" / ", 1)
            rate, side = asked.rsplit(" ", 1)
            column = list(PARTS[part][3]).index(rate)
            cells = []
            for d in (64, 512):
                values = found[part][name, d] / found[part][base, d]
                text = interval(values[:, column])
                cells.append(f"{text} {verdict(text, side):5}")
            print(f"{part:28}{words:36}", *cells)


def verdict(text, side):
    """Whether an interval, as it is printed, lies on a side of 1."""
    low, high = (float(end) for end in text[:-1].split("[")[1].split(", "))
    seen = "<" if high < 1 else ">" if low > 1 else None
    return "open" if seen is None else "yes" if seen == side else "NO"


def main(n_draws=3, night=None):
    """Print a table for each part, or for that of a night, and the advice."""
    parts = list(PARTS.items())
    parts = parts if night is None else [parts[night % len(parts)]]
    print(f"{n_draws} draws, FAR {FAR:g}, after over before")
    warnings.simplefilter("ignore", UserWarning)  # of few people and steps
    found = {}
    for title, part in parts:
        draws = [of_draw(part, seed) for seed in range(n_draws)]
        found[title] = {key: np.array([d[key] for d in draws]) for key in draws[0]}
        table(title, part[3], found[title])
    print(
        "\nlog C_d(10) - log C_d(30), what the loss takes from logits of the larger kappa"
    )
    for d in (64, 128, 512):
        print(f"{d:4} features {-np.diff(log_vmf_normalizer([10, 30], d))[0]:.1f}")
    advice(found)


if __name__ == "__main__":
    run_command(main, __doc__)
