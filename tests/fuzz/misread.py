"""Lists of pairs that mean something else than they seem to: right rates, or a refusal."""

import csv
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from skfairfr import SimilarityROC
from skfairfr.report import read_data
from tests.fuzz.driver import Case, random_of, summary
from tests.test_cli_misread import FAR, ROWS, SIDES, rates_of

PEOPLE, GROUPS = ("identity_1", "identity_2"), ("sex_1", "sex_2")
# Other spellings of 017x, or of 17.
SPELLINGS = (
    *(
        str.upper,
        str.title,
        lambda t: f"{t} ",
        lambda t: f"\t{t}",
        lambda t: f"{t}\u00a0",
    ),
    *(lambda t: t.replace("x", "\uff38"), lambda t: f"00{t}"),
    # A Cyrillic x, and beginnings and endings.
    *(lambda t: t.replace("x", "\u0445"), "id{}".format, "S_{}".format, "{}_1".format),
)
NUMBERS = (*SPELLINGS[2:5], lambda t: f"{t}.0", lambda t: f"00{t}", lambda t: f"+{t}")
TRUTHS = ("label", "Same", "target", "y_true", "is_match", "GT", "ground-truth")
WORDS = (
    ("0", "1"),
    ("-1", "1"),
    ("no", "YES"),
    ("Nontarget", "target"),
    ("imp", "gen"),
    ("N", "Y"),
)


def respelled(rows, rng):
    """People of one side, all or some of them, written otherwise."""
    numbers = rng.random() < 0.5
    if numbers:
        rows = [r | {n: str(int(r[n][:3])) for n in PEOPLE} for r in rows]
    side, spell = rng.choice(PEOPLE), rng.choice(NUMBERS if numbers else SPELLINGS)
    every = rng.choice((1, 1, 2, 7))
    return [
        r | {side: spell(r[side])} if int(r[side].strip("x")) % every == 0 else r
        for r in rows
    ]


def of_one_kind(rows, rng):
    """Genuine pairs alone, or impostor pairs alone."""
    kept = rng.random() < 0.5
    return [r for r in rows if (r["identity_1"] == r["identity_2"]) == kept]


def with_truth(rows, rng):
    """With a column that shows which pairs are genuine, wrong in one or in all rows."""
    name, words = rng.choice(TRUTHS), rng.choice(WORDS)
    wrong = rng.choice(({rng.randrange(len(rows))}, set(range(len(rows))), set()))
    return [
        r | {name: words[(r["identity_1"] == r["identity_2"]) != (k in wrong)]}
        for k, r in enumerate(rows)
    ]


def of_one_side(rows, rng):
    """With the group of one image alone."""
    side = rng.choice(GROUPS)
    return [{n: t for n, t in r.items() if n == side or n not in GROUPS} for r in rows]


def spaced(rows, rng):
    """With spaces around all cells of a column."""
    name = rng.choice([*rows[0]])
    return [r | {name: f" {r[name]} "} for r in rows]


def with_codes(rows, rng):
    """With a code in place of some scores."""
    code, step = rng.choice(("-999", "999", "-1e9")), rng.choice((20, 90))
    return [r | {"score": code} if k % step == 0 else r for k, r in enumerate(rows)]


# In their order: the first two compare the people as they are meant.
CHANGES = (of_one_kind, with_truth, respelled, of_one_side, spaced, with_codes)


def case(rng):
    """One or two changes, perhaps with other names of the columns of groups."""
    # The names of images tell some of what identities do.
    named = rng.random() < 0.5
    rows = [{n: t for n, t in r.items() if named or n[:5] != "image"} for r in ROWS]
    changes = sorted(rng.sample(CHANGES, rng.choice((1, 1, 2))), key=CHANGES.index)
    for change in changes:
        rows = change(rows, rng)
    one, other, stem = rng.choice((("sex_1", "sex_2", "sex"), *SIDES))
    names = dict(zip(GROUPS, (one, other), strict=True))
    if sum(n in GROUPS for n in rows[0]) == 1:
        one = other = stem = "gender"
        names = dict.fromkeys(GROUPS, "gender")
    asked = rng.choice((stem, stem, one, f"{one},{other}" if one != other else one))
    shown = f"{[change.__name__ for change in changes]} {names} {asked!r}"

    def run():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "pairs.csv"
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow([names.get(name, name) for name in rows[0]])
                writer.writerows(row.values() for row in rows)
            data = read_data(path, asked)
        roc = data.fit(SimilarityROC(n_resamples=2, random_state=0), (asked,))
        found = {
            group: tuple(
                roc.estimate(FAR, group=group, rate=rate).value
                for rate in ("far", "frr")
            )
            for group in roc.groups_.tolist()
        }
        for group, right in usual().items():
            np.testing.assert_allclose(found[group], right, err_msg=shown)
        return usual()

    return Case(run, summary(usual()), shown)


@cache
def usual():
    """The right rates, counted by a loop."""
    return rates_of(ROWS)


def cases(seed, first, n_cases):
    """Lists that are changed by seed and number alone."""
    for k in range(first, first + n_cases):
        yield case(random_of(seed, k))
