"""Observations and assumptions of the papers, each tested separately.

Synthetic people whose causes are known, five draws of each part:

causes       EM22 Fig. 2: images that are looser, people who are closer, both.
spread       FPR21 Fig. 1: whether the FAR differs more between groups than the FRR.
shares       EM22 2.2 and eq. 2: what the share of women among the people does to a global
             threshold, to the FAR of women there, and to the difference of FRRs.
consistency  ROC24 Prop. 1: how far an empirical ROC lies from that of many photographs.
rare         GEO20 Fig. 3-4: a group that is rare and crowded, only rare, only crowded.
noise        GEO20 section 6: dynamic weights if labels of held-out people are wrong.

    python examples/mitigation/study_premises.py [PART ...]
    python examples/mitigation/study_premises.py --tables

The first runs all parts, or those named, and keeps them in study_premises.json next to this
file (some six minutes on one core, "rare" and "noise" most of it). The second prints the
tables of docs/evidence/premises.rst.
"""

import copy
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import t
from skorch.callbacks import Callback

from skfairfr import SimilarityROC, TripletProjector, make_face_embeddings

FAR = 1e-3
SEEDS = range(5)
# Concentration of images, and of people, of men and of women.
CAUSES = {
    "neither": ((140, 140), (14, 14)),
    "images of women looser": ((140, 115), (14, 14)),
    "women closer together": ((140, 140), (14, 24)),
    "both": ((140, 115), (14, 24)),
}
# A ratio of FRRs needs an error in every group. Standard deviations need none.
LEVELS = {"max_geomean": (1e-4, 1e-3, 1e-2), "std": (1e-3, 1e-2, 1e-1)}
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
N_PHOTOGRAPHS = (3, 6, 12, 24)
# Share and concentration of a group X, with EU and AM of concentration 12.
PREMISES = {
    "rare and crowded": (0.1, 26),
    "rare, not crowded": (0.1, 12),
    "crowded, not rare": (0.6, 26),
}
TRAINING = {"lr": 1e-4, "final_lr": 1e-6, "max_epochs": 6}
STRATEGIES = ("natural", "equal", "dynamic")
NOISE = (0.2, 0.5)  # share of held-out people with the label of another group


# Parts: each returns JSON-able data, a row for each draw.


def causes():
    """FAR and FRR of women over those of men, at one overall threshold."""
    rows = []
    for seed in SEEDS:
        row = {}
        for name, (kappa, crowding) in CAUSES.items():
            faces = women_and_men(800, 0.5, kappa, crowding, seed)
            roc = plain_roc(faces.X, faces.y, faces.sensitive_features)
            row[name] = {
                rate: value(roc, FAR, rate=rate, how=("ratio", "men", "women"))
                for rate in ("far", "frr")
            }
        rows.append(row)
    return rows


def spread():
    """How far FARs and FRRs of four groups lie apart, by two measures, ten draws."""
    groups = {"A": 0.4, "B": 0.3, "C": 0.2, "D": 0.1}
    rows = []
    for seed in range(10):
        faces = make_face_embeddings(
            1000, (4, 8), n_features=64, groups=groups, random_state=seed
        )
        roc = plain_roc(faces.X, faces.y, faces.sensitive_features, far_max=0.1)
        rows.append(
            {
                f"{how} {level:g}": [
                    value(roc, level, rate=rate, how=how) for rate in ("far", "frr")
                ]
                for how, levels in LEVELS.items()
                for level in levels
            }
        )
    return rows


def shares():
    """Of the same women and men, 1,000 in other proportions: thresholds and rates."""
    rows = []
    for seed in SEEDS:
        pool = women_and_men(1800, 0.5, (140, 115), (14, 24), seed)
        woman = pool.group_of_identity == "women"
        # Nested: whoever is among few women is among many.
        place = np.where(woman, np.cumsum(woman), np.cumsum(~woman)) - 1
        row = {}
        for share in SHARES:
            kept = place < np.where(woman, 1000 * share, 1000 * (1 - share))
            of = kept[pool.y]
            roc = plain_roc(pool.X[of], pool.y[of], pool.sensitive_features[of])
            row[f"{share:g}"] = {
                "threshold": short(roc.threshold_at(FAR)),
                "far women": value(roc, FAR, rate="far", group="women"),
                "frr difference": value(roc, FAR, how="difference"),
                "worst threshold": short(
                    roc.threshold_at(FAR, operating_point="worst_group")
                ),
            }
        rows.append(row)
    return rows


def consistency():
    """Largest distance of an empirical ROC from that of 100 photographs of each person."""
    levels = np.geomspace(1e-3, 0.5, 40)
    rows = []
    for seed in SEEDS:
        pool = make_face_embeddings(
            60, 100, n_features=16, kappa=40, crowding=0, random_state=seed
        )
        order = np.argsort(pool.y, kind="stable").reshape(60, 100)
        true = roc_at(pool, order.ravel(), levels)
        row = {}
        for n in N_PHOTOGRAPHS:
            far_off = np.abs(roc_at(pool, order[:, :n].ravel(), levels) - true)
            row[str(n)] = short(far_off.max())
        rows.append(row)
    return rows


def rare():
    """Effect of training within X, and between the groups, for each premise."""
    return [
        {
            name: fits(seed, share, crowding)
            for name, (share, crowding) in PREMISES.items()
        }
        for seed in SEEDS
    ]


def noise():
    """Dynamic weights that follow wrong labels, where X is rare and crowded."""
    rows = []
    for seed in SEEDS:
        data = selfies_and_documents(seed, *PREMISES["rare and crowded"])
        rocs, row = {}, {}
        for share in (0.0, *NOISE):
            model = WrongLabels(**TRAINING, sampling="dynamic", random_state=seed)
            roc = fitted_roc(model.with_share(share), data)
            rocs[share], place = roc, model.groups_.tolist().index("X")
            row[f"{share:g}"] = {
                "weight": short(model.group_weights_[-1, place]),
                "max/geomean": value(roc, FAR, rate="far", how="max_geomean"),
                "over clean": against(roc, rocs[0.0], how="max_geomean"),
                "far X over clean": against(roc, rocs[0.0], group="X"),
            }
        rows.append(row)
    return rows


PARTS = {
    "causes": causes,
    "spread": spread,
    "shares": shares,
    "consistency": consistency,
    "rare": rare,
    "noise": noise,
}


# What the parts share


def women_and_men(n_people, share, kappa, crowding, seed):
    """People with four images each, by kappa and crowding of men and of women."""
    groups = ("men", "women")
    return make_face_embeddings(
        n_people,
        4,
        n_features=64,
        groups=dict(zip(groups, (1 - share, share), strict=True)),
        kappa=dict(zip(groups, kappa, strict=True)),
        crowding=dict(zip(groups, crowding, strict=True)),
        random_state=seed,
    )


def selfies_and_documents(seed, share, crowding, n_people=2000):
    """X, identity, group and domain of each image, and which are fitted on."""
    others = (1 - share) * np.array([2 / 3, 1 / 3])
    faces = make_face_embeddings(
        n_people,
        4,
        n_features=64,
        groups={"EU": others[0], "AM": others[1], "X": share},
        kappa=140,
        crowding={"EU": 12, "AM": 12, "X": crowding},
        n_domains=2,
        domain_shift=1.0,
        random_state=seed,
    )
    fitted = faces.y < n_people // 2  # identities are in random order
    return faces.X, faces.y, faces.sensitive_features, faces.domain, fitted


def fits(seed, share, crowding):
    """Each strategy on people it was not fitted on, against natural sampling."""
    data = selfies_and_documents(seed, share, crowding)
    rocs = {"before": fitted_roc(None, data)}
    for sampling in STRATEGIES:
        model = TripletProjector(**TRAINING, sampling=sampling, random_state=seed)
        rocs[sampling] = fitted_roc(model, data)
    return {
        name: {
            "far X": value(roc, FAR, rate="far", group="X"),
            "max/geomean": value(roc, FAR, rate="far", how="max_geomean"),
            "frr": value(roc, FAR),
            "over natural": against(roc, rocs["natural"], how="max_geomean"),
        }
        for name, roc in rocs.items()
    }


class LastHead(Callback):
    """Keeps the head of the last epoch. A fit keeps that of the smallest loss."""

    def on_epoch_end(self, net, **kwargs):
        self.head = copy.deepcopy(net.module_)


class WrongLabels(TripletProjector):
    """Some held-out people have the label of another group. Training people keep theirs.

    The head is that of the last epoch: the smallest loss may come before the weights moved.
    """

    def with_share(self, share):
        self._wrong = share
        return self.set_params(callbacks=[LastHead()])

    def fit(self, X, y, *labels, **sides):
        super().fit(X, y, *labels, **sides)
        self.head_ = self.callbacks[0].head
        return self

    def _hold_out(self, people, rng):
        people, held_out = super()._hold_out(people, rng)
        own = np.random.default_rng(self.random_state)
        n_groups, code = held_out.labels.size, held_out.attribute.copy()
        wrong = own.random(code.size) < self._wrong
        code[wrong] += own.integers(1, n_groups, wrong.sum())
        code %= n_groups
        groups = code[held_out.y].astype(held_out.groups.dtype)
        return people, replace(held_out, groups=groups, attribute=code)


def fitted_roc(model, data):
    """Rates of held-out people, after a model or as they are."""
    X, y, group, domain, fitted = data
    unseen = X[~fitted]
    if model is not None:
        model.fit(X[fitted], y[fitted], group[fitted], domain=domain[fitted])
        unseen = model.transform(unseen)
    roc = SimilarityROC(n_resamples=200, far_max=FAR, random_state=0)
    return roc.fit(unseen, y[~fitted], group[~fitted], domain=domain[~fitted])


def plain_roc(X, y, group, far_max=FAR):
    """Values alone."""
    roc = SimilarityROC(n_resamples=1, far_max=far_max, random_state=0)
    return roc.fit(X, y, group)


def roc_at(pool, rows, levels):
    """FRR at each level of all pairs of some rows."""
    roc = plain_roc(pool.X[rows], pool.y[rows], None, far_max=levels[-1])
    return roc.estimate(levels).value


def value(roc, far, **asked):
    return short(roc.estimate(far, **asked).value)


def against(roc, other, **asked):
    """Ratio of two disparities, or rates, of the FAR, with the paired interval."""
    found = roc.compare(other, FAR, rate="far", **asked)
    return [short(end) for end in (found.ratio, found.ratio_low, found.ratio_high)]


def short(number):
    """Four digits, which keeps the file small."""
    return float(f"{float(number):.4g}")


# Tables


def over_draws(values, form):
    """Mean and 95 % t interval of what the draws gave."""
    values = np.asarray(values)
    half = t.ppf(0.975, values.size - 1) * values.std(ddof=1) / values.size**0.5
    ends = values.mean(), values.mean() - half, values.mean() + half
    return "{:{form}} [{:{form}}, {:{form}}]".format(*ends, form=form)


def ratio_over_draws(values):
    """Geometric mean and its 95 % t interval."""
    logs = np.log(values)
    half = t.ppf(0.975, logs.size - 1) * logs.std(ddof=1) / logs.size**0.5
    ends = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    return "{:.2f} [{:.2f}, {:.2f}]".format(*ends)


def table(header, rows):
    lines = [".. csv-table::", "   :header-rows: 1", "   :delim: |", ""]
    return "\n".join(lines + [f"   {' | '.join(row)}" for row in [header, *rows]])


def column(rows, *keys):
    """The same entry of every draw."""
    for key in keys:
        rows = [row[key] for row in rows]
    return rows


def table_of_causes(rows):
    of = partial(column, rows)
    return table(
        ["Women against men", "FAR, women / men", "FRR, women / men"],
        [
            [name, *(ratio_over_draws(of(name, rate)) for rate in ("far", "frr"))]
            for name in CAUSES
        ],
    )


def table_of_spread(rows):
    lines = []
    for measure in rows[0]:
        far, frr = np.array(column(rows, measure)).T
        larger = f"{np.count_nonzero(far > frr)} of {len(rows)}"
        name, level = measure.split()
        lines.append([name, level, f"{far.mean():.3g}", f"{frr.mean():.3g}", larger])
    return table(["Measure", "overall FAR", "of FARs", "of FRRs", "FAR larger"], lines)


def table_of_shares(rows):
    names = {
        "threshold": ".3f",
        "far women": ".5f",
        "frr difference": ".4f",
        "worst threshold": ".3f",
    }
    return table(
        [
            "Share of women",
            "global threshold",
            "FAR of women there",
            "difference of FRRs there",
            "worst-group threshold",
        ],
        [
            [share, *(over_draws(column(rows, share, n), f) for n, f in names.items())]
            for share in rows[0]
        ],
    )


def table_of_consistency(rows):
    return table(
        ["Photographs of each person", "largest distance"],
        [[n, over_draws(column(rows, n), ".3f")] for n in rows[0]],
    )


def table_of_rare(rows):
    lines = []
    for name in PREMISES:
        for trained in rows[0][name]:
            of = partial(column, rows, name, trained)
            each = " / ".join(
                "{:.2f} [{:.2f}, {:.2f}]".format(*ends) for ends in of("over natural")
            )
            same = trained == "natural"
            changed = np.array(of("far X")) / column(rows, name, "before", "far X")
            change = ratio_over_draws(np.array(of("over natural"))[:, 0])
            lines.append(
                [
                    f"{name}: {trained}",
                    over_draws(np.log10(of("far X")), ".2f"),
                    "" if trained == "before" else ratio_over_draws(changed),
                    over_draws(of("max/geomean"), ".2f"),
                    over_draws(of("frr"), ".4f"),
                    "" if same else change,
                    "" if same else each,
                ]
            )
    return table(
        [
            "Trained",
            "log10 FAR within X",
            "FAR within X, over before",
            "FAR max/geomean",
            "FRR",
            "max/geomean over natural",
            "a draw each",
        ],
        lines,
    )


def table_of_noise(rows):
    lines = []
    for share in rows[0]:
        of = partial(column, rows, share)
        over = [
            ratio_over_draws(np.array(of(name))[:, 0])
            for name in ("over clean", "far X over clean")
        ]
        none = share == "0"
        lines.append(
            [
                share,
                over_draws(of("weight"), ".2f"),
                over_draws(of("max/geomean"), ".2f"),
                *(("", "") if none else over),
            ]
        )
    return table(
        [
            "Share of wrong labels",
            "last weight of X",
            "FAR max/geomean",
            "over that of right labels",
            "FAR within X, over that of right labels",
        ],
        lines,
    )


TABLES = {
    "causes": table_of_causes,
    "spread": table_of_spread,
    "shares": table_of_shares,
    "consistency": table_of_consistency,
    "rare": table_of_rare,
    "noise": table_of_noise,
}


def tables(found):
    """reStructuredText of every part."""
    return {name: TABLES[name](rows) for name, rows in found.items()}


def main(*names):
    path = Path(__file__).with_suffix(".json")
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if names != ("--tables",):
        for name in names or PARTS:
            found[name] = PARTS[name]()
            kept = {name: found[name] for name in PARTS if name in found}
            path.write_text(json.dumps(kept) + "\n", encoding="utf-8")
            print(f"{name} done", file=sys.stderr)
        found = kept
    for name, text in tables(found).items():
        print(f"\n{name}\n\n{text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
