"""Does a head trained by continent equalise the countries inside it?

The study behind the example plot_hierarchy.py: TripletProjector trained on people as they
are found, and with groups drawn equally or by weights, the groups being continents or
countries, in ten draws of 3,000 synthetic people in four countries, half of them fitted.
Everything is measured on the other half, faces against documents only, by continent and by
country.

    python examples/mitigation/study_hierarchy.py
    python examples/mitigation/study_hierarchy.py --table

The first writes study_hierarchy.json next to this file (some five minutes on one core). Both
print the changes.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.stats import t

from skfairfr import SimilarityROC, TripletProjector, make_face_embeddings

SEEDS = range(10)
FAR = 1e-3
SHARES = {"EU-1": 0.5, "EU-2": 0.1, "AF-1": 0.25, "AF-2": 0.15}
CROWDING = {"EU-1": 12, "EU-2": 26, "AF-1": 18, "AF-2": 22}
LIKENESS = 0.4  # Length of the direction that the countries of a continent share.
TRAINING = {"lr": 1e-4, "final_lr": 1e-6, "max_epochs": 10}
WEIGHTS = {
    "EU-1": 1,
    "EU-2": 4,
    "AF-1": 1,
    "AF-2": 4,
}  # Those of the crowded countries.
STRATEGIES = {
    "as found": ("continent", {}),
    "by continent, equal": ("continent", {"sampling": "equal"}),
    "by continent, dynamic": ("continent", {"sampling": "dynamic"}),
    "by country, equal": ("country", {"sampling": "equal"}),
    "by country, adjusted": (
        "country",
        {"sampling": "adjusted", "group_weights": WEIGHTS},
    ),
    "by country, dynamic": ("country", {"sampling": "dynamic"}),
}


def draw(n_identities, seed):
    """Embeddings, identity, domain, and the groups of each attribute."""
    faces = make_face_embeddings(
        n_identities,
        4,
        64,
        groups=SHARES,
        kappa=140,
        crowding=CROWDING,
        n_domains=2,
        domain_shift=1.0,
        random_state=seed,
    )
    country = faces.sensitive_features
    continent = np.array([label[:2] for label in country])
    shared = np.random.default_rng(seed).standard_normal((2, 64))
    shared *= LIKENESS / np.linalg.norm(shared, axis=1, keepdims=True)
    X = faces.X + shared[np.unique(continent, return_inverse=True)[1]]
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    return X, faces.y, faces.domain, {"continent": continent, "country": country}


def measure(X, y, domain, by):
    """Overall FRR, and by each attribute FAR within groups and its max / geometric mean."""
    found = {}
    for attribute, groups in by.items():
        roc = SimilarityROC(n_resamples=1, far_max=FAR, random_state=0)
        roc.fit(X, y, groups, domain=domain)
        far = [float(roc.estimate(FAR, rate="far", group=g).value) for g in roc.groups_]
        spread = float(roc.estimate(FAR, rate="far", how="max_geomean").value)
        found[attribute] = {
            "far": {g: short(f) for g, f in zip(roc.groups_, far, strict=True)},
            "max/geomean": short(spread),
        }
    return {"frr": short(float(roc.estimate(FAR).value)), **found}


def short(number):
    """Four digits, which keeps the file small."""
    return float(f"{number:.4g}")


def one_draw(seed):
    """Rates of every head on people it was not fitted on."""
    X, y, domain, by = draw(3000, seed)
    fitted = y < 1500  # Identities are in random order.
    unseen = y[~fitted], domain[~fitted], {a: g[~fitted] for a, g in by.items()}
    rows = {"not trained": measure(X[~fitted], *unseen)}
    for name, (attribute, options) in STRATEGIES.items():
        model = TripletProjector(**options, **TRAINING, random_state=seed)
        model.fit(X[fitted], y[fitted], by[attribute][fitted], domain=domain[fitted])
        rows[name] = measure(model.transform(X[~fitted]), *unseen)
    return rows


def change(found, name, of):
    """Change in % against the head trained as found: mean and half width of 95 %."""
    ratio = np.array([of(row[name]) / of(row["as found"]) for row in found["rows"]])
    percent = 100 * (ratio - 1)
    error = percent.std(ddof=1) / percent.size**0.5
    return percent.mean(), t.ppf(0.975, percent.size - 1) * error


def spread(attribute):
    """Function that reads FAR max / geometric mean by an attribute from a row."""
    return lambda row: row[attribute]["max/geomean"]


def table(found):
    """A line for each head and measure."""
    measures = {"FRR": lambda row: row["frr"]}
    for attribute in ("continent", "country"):
        measures[f"FAR max/geomean by {attribute}"] = spread(attribute)
    return "\n".join(
        "trained {}: {} {:+.1f} % [+-{:.1f}]".format(
            name, measure, *change(found, name, of)
        )
        for name in list(STRATEGIES)[1:]
        for measure, of in measures.items()
    )


def main(*arguments):
    target = Path(__file__).with_suffix(".json")
    if arguments != ("--table",):
        found = {"far": FAR, "rows": []}
        for seed in SEEDS:
            found["rows"].append(one_draw(seed))
            print(f"seed {seed} done", file=sys.stderr)
        target.write_text(json.dumps(found) + "\n", encoding="utf-8")
    print(table(json.loads(target.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main(*sys.argv[1:])
