"""How often intervals of searches hold, and audits of groups that are alike name one.

``python -m docs.studies.check_searches 200 0`` draws so many sets of people who search one
gallery, from a pool whose rates are known, and prints the lines of ``docs/evidence``: groups are
drawn at random, so that all are alike. ``0 200`` compares two systems on so many sets instead, and
``0 0`` prints what LFW and the London set, in the folder of the shared data, say.
"""

import warnings
from pathlib import Path

import numpy as np

from docs.studies._command import run_command
from skfairfr.metrics import IdentificationROC
from skfairfr.report import EmbeddingData, compare_searches, identify

SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
POOL, ENROLLED, IMAGES, N_FEATURES = 40_000, 400, 3, 24
# People of a group, groups, and the FPIR at which the system operates.
CELLS = ((100, 2, 0.1), (100, 2, 0.02), (100, 8, 0.1), (100, 8, 0.02), (400, 2, 0.02))
SMALLER = 40


def pool(rng):
    """People who search, half of the first ones enrolled; some resemble many others."""
    common = rng.normal(size=N_FEATURES)
    centre = rng.normal(size=(POOL, N_FEATURES))
    centre += np.exp(0.5 * rng.normal(size=(POOL, 1)) - 0.5) * common
    rows = np.repeat(centre, IMAGES, axis=0)
    rows = rows + 0.6 * rng.normal(size=rows.shape)
    gallery = centre[:ENROLLED] + 0.6 * rng.normal(size=(ENROLLED, N_FEATURES))
    return rows.reshape(POOL, IMAGES, N_FEATURES), gallery


def fit(X, people, gallery):
    y = np.repeat(people, IMAGES)
    search = IdentificationROC(n_resamples=1, random_state=0)
    enrolled = {"X_gallery": gallery, "y_gallery": np.arange(ENROLLED)}
    return search.fit(X[people].reshape(-1, N_FEATURES), y, **enrolled)


def asked(threshold):
    """The rates whose intervals are looked at, by name."""
    at = {"threshold": threshold}
    return {
        "FPIR": at | {"rate": "fpir"},
        f"FPIR, {SMALLER} enrolled": at | {"rate": "fpir", "gallery_size": SMALLER},
        f"FNIR, {SMALLER} enrolled": at | {"rate": "fnir", "gallery_size": SMALLER},
    }


def searching(n, rng):
    """People who search, of whom a fifth are enrolled."""
    people = rng.choice(ENROLLED, min(n // 5, ENROLLED), replace=False)
    others = rng.choice(POOL - ENROLLED, n - people.size, replace=False)
    return np.concatenate([people, ENROLLED + others])


def simulated(n_sets):
    """A line for each cell: coverage, and how many audits name a group."""
    rng = np.random.default_rng(0)
    X, gallery = pool(rng)
    everyone = fit(X, np.arange(POOL), gallery)
    for n_people, n_groups, level in CELLS:
        threshold = everyone.threshold_at(level)
        questions = asked(threshold)
        true = {n: everyone.estimate(**q).value for n, q in questions.items()}
        missed, named, alarms = dict.fromkeys(true, 0), 0, []
        for _ in range(n_sets):
            n = n_people * n_groups
            people = searching(n, rng)
            some = fit(X, people[rng.permutation(n)[: max(n_people, 60)]], gallery)
            for name, question in questions.items():
                found = some.estimate(**question)
                missed[name] += not found.low <= true[name] <= found.high
            group = np.repeat(rng.integers(0, n_groups, n).astype(str), IMAGES)
            report = identify(
                *(X[people].reshape(-1, N_FEATURES), np.repeat(people, IMAGES), group),
                X_gallery=gallery,
                y_gallery=np.arange(ENROLLED),
                threshold=threshold,
            )
            (of_level,) = report.audits[0].levels
            named += any(f.verdict in ("higher", "lower") for f in of_level.findings)
            alarms.append(of_level.rates[0].far_errors / n_groups)
        covered = ", ".join(f"{n} {1 - m / n_sets:.3f}" for n, m in missed.items())
        print(
            f"{n_groups} groups of {n_people} people, FPIR {level:g} "
            f"({np.mean(alarms):.1f} alarms a group)\n  intervals hold: {covered}\n"
            f"  a group is named in {named / n_sets:.3f} of {n_sets} audits",
            flush=True,
        )


# ---- two systems ---------------------------------------------------------------------


def compared(n_sets):
    """A line for each cell: coverage of paired intervals, and how many comparisons err.

    Systems add noise of their own to the probes: "first" and "alike" as much, "worse" more.
    """
    rng = np.random.default_rng(0)
    X, gallery = pool(rng)
    noises = {"first": 0.3, "alike": 0.3, "worse": 0.8}
    systems = {n: X + s * rng.normal(size=X.shape) for n, s in noises.items()}
    everyone = {n: fit(x, np.arange(POOL), gallery) for n, x in systems.items()}
    enrolled = EmbeddingData(gallery, np.arange(ENROLLED))
    for n_people, n_groups, level in CELLS[:2]:  # the others take long
        threshold = everyone["first"].threshold_at(level)
        questions = {
            rate: {"threshold": threshold, "rate": rate} for rate in ("fpir", "fnir")
        }
        questions["fnir at the level"] = {"fpir": level}
        true = {
            name: everyone["worse"].estimate(**q).value
            - everyone["first"].estimate(**q).value
            for name, q in questions.items()
        }
        missed, named = dict.fromkeys(true, 0), 0
        for _ in range(n_sets):
            people = searching(n_people * n_groups, rng)
            some = {n: fit(systems[n], people, gallery) for n in ("first", "worse")}
            for name, question in questions.items():
                found = some["worse"].compare(some["first"], **question)
                missed[name] += not found.low <= true[name] <= found.high
            group = rng.integers(0, n_groups, people.size).astype(str)
            both = [
                EmbeddingData(
                    systems[n][people].reshape(-1, N_FEATURES),
                    np.repeat(people, IMAGES),
                    {"group": np.repeat(group, IMAGES)},
                )
                for n in ("first", "alike")
            ]
            told = compare_searches(*both, galleries=[enrolled] * 2, fpir=level)
            named += bool(told.harm or told.improved)
        covered = ", ".join(f"{n} {1 - m / n_sets:.3f}" for n, m in missed.items())
        print(
            f"{n_groups} groups of {n_people} people, FPIR {level:g}\n  paired intervals "
            f"hold: {covered}\n  a change is named in {named / n_sets:.3f} of {n_sets} "
            "comparisons of systems that are alike",
            flush=True,
        )


# ---- real data -----------------------------------------------------------------------


def real(X, y, group, name, levels):
    """One image enrolled of every second person, the rest searched."""
    people, first = np.unique(y, return_index=True)
    order = np.random.default_rng(0).permutation(people.size)
    gallery = first[order[::2]]
    probes = np.setdiff1d(np.arange(len(y)), gallery)
    search = IdentificationROC(random_state=0).fit(
        *(X[probes], y[probes], group[probes]),
        X_gallery=X[gallery],
        y_gallery=y[gallery],
        sensitive_features_gallery=group[gallery],
    )
    print(
        f"{name}: {gallery.size} enrolled, {search.n_mated_[0]} mated and "
        f"{search.n_nonmated_[0]} non-mated searches"
    )
    for level in levels:
        threshold = search.threshold_at(level)
        for rate in ("fpir", "fnir"):
            found = [search.estimate(threshold=threshold, rate=rate)]
            found += [
                search.estimate(threshold=threshold, rate=rate, group=g)
                for g in search.groups_
            ]
            labels = ("all", *search.groups_)
            told = [
                f"{label} {shown(one)}"
                for label, one in zip(labels, found, strict=True)
            ]
            told = "\n    ".join(told)
            print(f"  FPIR {level:g}: {rate.upper()}\n    {told}")
        at = {"threshold": threshold, "rate": "fpir"}
        fmr = search.estimate(**at, gallery_size=1).value
        for n in (gallery.size // 10, gallery.size // 2, gallery.size):
            one = search.estimate(**at, gallery_size=n)
            print(
                f"  {n} enrolled: FPIR {one.value:.4f} [{one.low:.4f}, {one.high:.4f}], "
                f"1 - (1 - FMR)**n {1 - (1 - fmr) ** n:.4f}"
            )
        worst = search.alarms(threshold=threshold)
        print(
            f"  the ten worst of {worst.identity.size} people returned are "
            f"{worst.share[:10].sum():.2f} of {worst.n_alarms.sum()} alarms"
        )
    told = search.cmc([1, 5, 10])
    ends = zip(told.value, told.low, told.high, strict=True)
    told = ", ".join(f"{v:.3f} [{low:.3f}, {high:.3f}]" for v, low, high in ends)
    print(f"  CMC at 1, 5, 10: {told}")


def shown(one):
    """An estimate with its interval; a star where it rests on too few errors."""
    star = "" if one.supported else "*"
    if np.isnan(one.low):
        return "no interval" + star
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]{star}"


def on_real_data():
    lfw = np.load(SHARED_DATA / "lfw_facenet" / "lfw_facenet.npz")
    columns = lfw["embedding"], lfw["identity"], lfw["gender"].astype(str)
    real(*columns, "LFW by gender", (0.1, 0.01))
    london = np.load(SHARED_DATA / "london_pca" / "london_pca.npz")
    for attribute in ("gender", "ethnicity"):
        columns = london["embedding"], london["identity"], london[attribute].astype(str)
        real(*columns, f"London by {attribute}", (0.1,))


def main(n_sets=200, n_compared=200):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if n_sets:
            simulated(n_sets)
        if n_compared:
            compared(n_compared)
        if not n_sets and not n_compared:
            on_real_data()


if __name__ == "__main__":
    run_command(main, __doc__)
