"""Extensions of the Ethical Module's paper, with numbers.

Synthetic people who vary in about as many directions as those of a real encoder, half of
them fitted and the others measured, four draws of each part, default head and options:

margin     A margin on the own cosine while training.
monitor    Keeping the epoch with the lowest loss, BFAR, BFRR or FRR of held-out people.
groups     Four groups with a kappa each.
age        A kappa that is a function of a number.
agreement  Wrong group labels, and EM22's rule that 75 % of a person's images agree.
encoders   The same people through three encoders, in place of EM22's Tables 3-9.
loss       The training loss of the paper's head, EM22 Fig. 8.

    python examples/mitigation/study_extensions.py [PART ...]
    python examples/mitigation/study_extensions.py --tables

The first runs all parts, or those named, and keeps them in study_extensions.json next to
this file (some six minutes on one core). The second prints the tables of
docs/evidence/extensions.rst.

``--features 512``, as the first argument, draws people with the same cosines in so many
features and keeps the numbers in a file of that name. The encoders have their own.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.stats import t

from skfairfr import EthicalModule, SimilarityROC, face_labels, make_face_embeddings

FAR = 1e-3
N_FEATURES = 64
SEEDS = range(4)
N_PEOPLE = 1000
DIRECTIONS = (33, 43)
TWO = ("male", "female")
FOUR = ("A", "B", "C", "D")
PAPER = {"EM-FAR": (15, 20), "EM-FRR": (25, 20), "EM-C": (45, 30)}
QUESTIONS = {
    "FRR": {},
    "BFAR": {"rate": "far", "how": "max_min", "operating_point": "worst_group"},
    "BFRR": {"how": "max_min", "operating_point": "worst_group"},
}
WRONG = 0.1  # share of images with the label of the other group
EPOCHS = (1, 5, 10, 20, 35, 50)


# Data


def two_groups(seed, n_features=None):
    """Embeddings, identity and group of each image."""
    groups = {"male": 0.65, "female": 0.35}
    return drawn(seed, groups, (128, 110), (8, 16), n_features)


def four_groups(seed):
    return drawn(seed, dict.fromkeys(FOUR, 0.25), (128, 110), (8, 16))


def drawn(seed, groups, kappa, crowding, n_features=None):
    """Groups that are graded from the first to the last."""
    graded = {
        name: dict(zip(groups, np.linspace(*ends, len(groups)), strict=True))
        for name, ends in (("kappa", kappa), ("crowding", crowding))
    }
    faces = make_face_embeddings(
        N_PEOPLE,
        (4, 8),
        n_features or N_FEATURES,
        groups=groups,
        **graded,
        n_directions=DIRECTIONS,
        random_state=seed,
    )
    return faces.X, faces.y, faces.sensitive_features


# Measuring


def measured(data, systems, base="before"):
    """Rates of each system on held-out people, and their ratios to a base.

    ``systems`` maps a name to what makes (fitted X, fitted y, rows of them) a transformer.
    """
    X, y, group = data
    fitted = y < N_PEOPLE // 2  # identities are in random order
    rocs, found = {}, {}
    for name, fit in {"before": None, **systems}.items():
        unseen = X[~fitted]
        made = None if fit is None else fit(X[fitted], y[fitted], fitted)
        if made is not None:
            unseen = made.transform(unseen)
        roc = SimilarityROC(n_resamples=100, random_state=0)
        rocs[name] = roc.fit(unseen, y[~fitted], group[~fitted])
        found[name] = {} if made is None else counts_of(made)
    for name, roc in rocs.items():
        for title, asked in QUESTIONS.items():
            paired = roc.compare(rocs[base], FAR, **asked)
            ends = (paired.ratio, paired.ratio_low, paired.ratio_high)
            found[name][title] = {
                "value": short(roc.estimate(FAR, **asked).value),
                "ratio": [short(end) for end in ends],
            }
    return found


def counts_of(module):
    """Numbers of people whose images disagree, by a fit."""
    return {"left out": module.n_left_out_, "unified": module.n_unified_}


def module(kappas=(20, 20), group=None, **options):
    """Function that fits a module with the groups of all images, or with other labels."""
    if isinstance(kappas, tuple):
        options |= {"kappa0": kappas[0], "kappa1": kappas[1], "groups": TWO}
    else:
        options["kappas"] = kappas

    def fit(X, y, rows):
        made = EthicalModule(random_state=0, device="cpu", **options)
        return made.fit(X, y, group[rows])

    return fit


# Parts: each returns a row for each draw.


def margin():
    def systems(group):
        return {f"{m:g}": module(group=group, margin=m) for m in (0.0, 0.1, 0.2, 0.35)}

    return [measured(d, systems(d[2]), "0") for d in map(two_groups, SEEDS)]


def monitor():
    def systems(group):
        validated = {"validation_fraction": 0.2}
        return {
            "last epoch": module(group=group),
            **{
                name: module(group=group, monitor=name, **validated)
                for name in ("loss", "bfar", "bfrr", "frr_at_far")
            },
        }

    return [measured(d, systems(d[2]), "loss") for d in map(two_groups, SEEDS)]


def groups():
    kappas = {
        "20 for all": (20, 20, 20, 20),
        "20, 25, 30, 35": (20, 25, 30, 35),
        "35, 30, 25, 20": (35, 30, 25, 20),
    }

    def systems(group):
        return {
            name: module(dict(zip(FOUR, of, strict=True)), group)
            for name, of in kappas.items()
        }

    return [measured(d, systems(d[2]), "20 for all") for d in map(four_groups, SEEDS)]


def age():
    """Ages 20 to 80, in four bands by which rates are measured and people drawn."""
    rows = []
    for seed in SEEDS:
        X, y, band = four_groups(seed)
        within = np.random.default_rng(seed).random(N_PEOPLE)[y]
        ages = 20 + 15 * (np.searchsorted(FOUR, band) + within)
        kappas = {
            "20 for all": lambda years: 20.0,
            "20 rising to 35": lambda years: 20 + (years - 20) / 4,
            "35 falling to 20": lambda years: 35 - (years - 20) / 4,
        }
        systems = {name: module(of, ages) for name, of in kappas.items()}
        rows.append(measured((X, y, band), systems, "20 for all"))
    return rows


def agreement():
    """EM-C, whose kappas differ, with right and with wrong labels."""
    rows = []
    for seed in SEEDS:
        X, y, group = two_groups(seed)
        rng = np.random.default_rng(seed)
        wrong = rng.random(y.size) < WRONG
        other = np.where(group == TWO[0], TWO[1], TWO[0])
        labels = np.where(wrong, other, group)
        systems = {
            "right labels": module(PAPER["EM-C"], group),
            "75 % agree": module(PAPER["EM-C"], labels, min_agreement=0.75),
            "most agree": module(PAPER["EM-C"], labels, min_agreement=0.51),
            "all agree": module(PAPER["EM-C"], labels, min_agreement=1.0),
        }
        rows.append(measured((X, y, group), systems, "right labels"))
    return rows


def encoders():
    """Rotated, with noise in more features, with fewer features than people vary in."""
    rows = []
    for seed in SEEDS:
        X, y, group = two_groups(seed, 64)
        rng = np.random.default_rng(seed)
        row = {}
        for name, n_features, noise in (
            ("64 features, rotated", 64, 0.0),
            ("128 features, noisy", 128, 0.03),
            ("48 features", 48, 0.0),
        ):
            # Orthonormal rows, or columns where these are fewer.
            basis = np.linalg.qr(rng.standard_normal((max(64, n_features), 64)))[0].T
            basis = basis[:, :n_features]
            Z = X @ basis + noise * rng.standard_normal((y.size, n_features))
            Z = (Z / np.linalg.norm(Z, axis=1, keepdims=True)).astype(np.float32)
            pairs = {"equal": (20, 20)} | PAPER
            systems = {choice: module(of, group) for choice, of in pairs.items()}
            row[name] = measured((Z, y, group), systems)
        rows.append(row)
    return rows


def loss():
    """Training loss of the paper's head with its options, after some epochs."""
    rows = []
    for seed in SEEDS:
        X, y, group = two_groups(seed)
        made = EthicalModule(
            head="mlp",
            lr=1e-2,
            init="random",
            max_epochs=50,
            groups=TWO,
            random_state=0,
            device="cpu",
        ).fit(X, face_labels(y, group))
        losses = np.asarray(made.history_["train_loss"])
        rows.append({str(epoch): short(losses[epoch - 1]) for epoch in EPOCHS})
    return rows


PARTS = {
    "margin": margin,
    "monitor": monitor,
    "groups": groups,
    "age": age,
    "agreement": agreement,
    "encoders": encoders,
    "loss": loss,
}


def short(number):
    """Four digits, which keeps the file small."""
    return float(f"{float(number):.4g}")


# Tables


def over_draws(values):
    """Geometric mean and its 95 % t interval."""
    logs = np.log(values)
    half = t.ppf(0.975, logs.size - 1) * logs.std(ddof=1) / logs.size**0.5
    ends = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    return "{:.2f} [{:.2f}, {:.2f}]".format(*ends)


def table(header, rows):
    lines = [".. csv-table::", "   :header-rows: 1", "   :delim: |", ""]
    return "\n".join(lines + [f"   {' | '.join(row)}" for row in [header, *rows]])


def lines_of(rows, base, prefix=""):
    """Of each system: means of its rates, and of their ratios to the base."""
    lines = []
    for name in rows[0]:
        line = [f"{prefix}{name}"]
        for title in QUESTIONS:
            cells = [row[name][title] for row in rows]
            line.append(f"{np.mean([cell['value'] for cell in cells]):.3g}")
            ratios = [cell["ratio"][0] for cell in cells]
            line.append("" if name == base else over_draws(ratios))
        lines.append(line)
    return lines


def table_of_rates(rows, base, first):
    titles = [c for q in QUESTIONS for c in (q, f"{q}, over {base}")]
    return table([first, *titles], lines_of(rows, base))


def table_of_encoders(rows):
    titles = [c for q in QUESTIONS for c in (q, f"{q}, over before")]
    lines = []
    for name in rows[0]:
        lines += lines_of([row[name] for row in rows], "before", f"{name}: ")
    return table(["Encoder and kappas", *titles], lines)


def table_of_agreement(rows):
    text = table_of_rates(rows, "right labels", "Labels")
    counted = [
        "{}: {}".format(
            name,
            " / ".join(f"{r[name]['left out']}, {r[name]['unified']}" for r in rows),
        )
        for name in list(rows[0])[2:]
    ]
    return text + (
        f"\n\nOf {N_PEOPLE // 2} people, left out and given the group of most of their "
        f"images, a draw each: {'. '.join(counted)}."
    )


def table_of_loss(rows):
    means = [f"{np.mean([row[e] for row in rows]):.3g}" for e in rows[0]]
    return table(["Epoch", *rows[0]], [["Training loss", *means]])


def tables(found):
    """reStructuredText of every part."""
    made = {
        "margin": lambda rows: table_of_rates(rows, "0", "Margin"),
        "monitor": lambda rows: table_of_rates(rows, "loss", "Epoch kept by"),
        "groups": lambda rows: table_of_rates(rows, "20 for all", "Kappas of A to D"),
        "age": lambda rows: table_of_rates(rows, "20 for all", "Kappa by age"),
        "agreement": table_of_agreement,
        "encoders": table_of_encoders,
        "loss": table_of_loss,
    }
    return {name: made[name](rows) for name, rows in found.items()}


def main(*names):
    path = Path(__file__).with_suffix(
        ".json" if N_FEATURES == 64 else f".{N_FEATURES}.json"
    )
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if names != ("--tables",):
        for name in names or PARTS:
            found[name] = PARTS[name]()
            found = {part: found[part] for part in PARTS if part in found}
            path.write_text(json.dumps(found) + "\n", encoding="utf-8")
            print(f"{name} done", file=sys.stderr)
    for name, text in tables(found).items():
        print(f"\n{name}\n\n{text}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--features"]:
        N_FEATURES = int(arguments[1])
        del arguments[:2]
    main(*arguments)
