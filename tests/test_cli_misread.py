"""Files that mean something else than they seem to: right rates, or an error, never others."""

import csv
import json

import numpy as np
import pytest

from tests.test_cli import run

FAR = 0.01
PAIRS = ("--fmr", "1e-2", "--quiet")


def listed(n_people=30, n_images=3, seed=0):
    """All genuine pairs and half of the impostor pairs of images of two groups, rows of texts."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), n_images)
    centre = rng.normal(size=(n_people, 12)) + 0.5 * (np.arange(n_people) % 2)[:, None]
    X = centre[person] + rng.normal(size=(person.size, 12))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    rows = []
    for i in range(person.size):
        for j in range(i + 1, person.size):
            one, other = person[i], person[j]
            if one == other or rng.random() < 0.5:
                row = {
                    "score": f"{X[i] @ X[j]:.9f}",
                    "image_1": f"{i}",
                    "image_2": f"{j}",
                }
                row |= {
                    "identity_1": f"{one + 1:03d}x",
                    "identity_2": f"{other + 1:03d}x",
                }
                rows.append(row | {"sex_1": "fm"[one % 2], "sex_2": "fm"[other % 2]})
    return rows


ROWS = listed()


def rates_of(rows):
    """FMR and FNMR of each group at the smallest threshold with the FMR overall, by a loop."""

    def same(row):
        return row["identity_1"] == row["identity_2"]

    impostors = sorted((float(r["score"]) for r in rows if not same(r)), reverse=True)
    allowed = int(FAR * len(impostors) + 1e-9)
    bound = impostors[allowed]  # the largest score that is not accepted
    found = {}
    for group in "fm":
        errors, counts = [0, 0], [0, 0]
        for row in rows:
            if row["sex_1"] == row["sex_2"] == group:
                counts[same(row)] += 1
                errors[same(row)] += (float(row["score"]) > bound) != same(row)
        found[group] = tuple(e / n for e, n in zip(errors, counts, strict=True))
    return found


def write(path, rows, renamed=None):
    renamed = renamed or {}
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([renamed.get(name, name) for name in rows[0]])
        writer.writerows(row.values() for row in rows)
    return path


def audited(capsys, path, *more, attribute="sex"):
    """Exit code, FMR and FNMR by group of the first audit, and errors."""
    code, out, err = run(
        capsys,
        "audit",
        path,
        "--attribute",
        attribute,
        *PAIRS,
        "--format",
        "json",
        *more,
    )
    if code in (0, 1, 3):
        rates = json.loads(out)["audits"][0]["levels"][0]["rates"]
        found = {r["group"]: (r["fmr"]["value"], r["fnmr"]["value"]) for r in rates}
        return code, found, err
    return code, None, err


def is_right(found, rows=ROWS):
    return all(found[g] == pytest.approx(right) for g, right in rates_of(rows).items())


def respelled(**functions):
    """The list with some of its columns written otherwise."""
    return [
        {n: functions[n](text) if n in functions else text for n, text in row.items()}
        for row in ROWS
    ]


def test_the_list_as_it_should_be_has_the_rates_of_a_loop(capsys, tmp_path):
    code, found, _ = audited(capsys, write(tmp_path / "pairs.csv", ROWS))
    assert code == 0 and is_right(found)


@pytest.mark.parametrize(
    "functions",
    [
        {"identity_2": lambda t: f"{t} "},
        {"identity_1": lambda t: f"\t{t}", "sex_2": lambda t: f" {t}\u00a0"},
        {"image_1": lambda t: f"{t} ", "sex_1": lambda t: f"{t}  "},
    ],
)
def test_spaces_around_labels_change_no_rate(capsys, tmp_path, functions):
    path = write(tmp_path / "pairs.csv", respelled(**functions))
    code, found, _ = audited(capsys, path)
    assert code == 0 and is_right(found)


def some(function):
    """Written otherwise in the rows of every third person alone."""
    return lambda text: function(text) if int(text[:3]) % 3 == 0 else text


@pytest.mark.parametrize(
    ("function", "where"),
    [
        (str.upper, "identity_1"),
        (some(lambda t: t.replace("x", "\u0445")), "identity_2"),  # a Cyrillic x
        (lambda t: f"id{t}", "identity_1"),
        (
            some(lambda t: f"{t}_{int(t[:3]) % 4}"),
            "identity_2",
        ),  # the number of an image
    ],
)
def test_people_spelled_otherwise_on_one_side_are_refused(
    capsys, tmp_path, function, where
):
    path = write(tmp_path / "pairs.csv", respelled(**{where: function}))
    code, _, err = audited(capsys, path, "--max-fmr-ratio", "50")
    assert code == 2
    told = (
        "two spellings",
        "may be one person or two",
        "--non-mated-only was not given",
    )
    assert any(one in err for one in told)


def test_people_who_are_first_or_second_alone_are_counted_in_a_note(capsys, tmp_path):
    """Labels that nobody can know for those of the same people."""
    rows = respelled(identity_2=some(lambda t: f"q{997 * int(t[:3])}z"))
    # Names of images would show that these are of two people each.
    rows = [{n: text for n, text in r.items() if n[:5] != "image"} for r in rows]
    path = write(tmp_path / "pairs.csv", rows)
    code, out, _ = run(capsys, "audit", path, "--attribute", "sex", *PAIRS)
    assert code == 0 and "- Note: " in out
    code, out, _ = run(capsys, "audit", path, "--attribute", "sex", *PAIRS, "--full")
    sides = [[r[f"identity_{k}"] for r in rows] for k in (1, 2)]
    first, second = (
        sum(one.count(person) >= 8 for person in {*one} - {*other})
        for one, other in (sides, sides[::-1])
    )
    told = (
        f"{first} people are first in all of their pairs, {second} others second in all"
    )
    assert first > 5 and second > 5 and told in " ".join(out.split())


@pytest.mark.parametrize("code", ["-999", "999", "-1"])
def test_code_of_failures_among_scores_is_refused(capsys, tmp_path, code):
    more = ("--distance",) if code == "-1" else ()
    rows = respelled(score=lambda s: f"{1 - float(s):.6f}") if more else ROWS
    coded = [r | {"score": code} if n % 50 == 0 else r for n, r in enumerate(rows)]
    status, _, err = audited(capsys, write(tmp_path / "pairs.csv", coded), *more)
    assert status == 2 and f"'score' is {code} in {len(coded[::50])} rows" in err
    empty = [r | {"score": "" if r["score"] == code else r["score"]} for r in coded]
    more = (*more, "--failures", "reject")
    status, _, _ = audited(capsys, write(tmp_path / "pairs.csv", empty), *more)
    assert status == 0


def test_texts_with_a_group_for_each_person_are_refused(capsys, tmp_path):
    for write_age in ("{} years".format, "19{:02}-01-31".format):
        ages = [
            {f"sex_{k}": write_age(int(r[f"identity_{k}"][:3])) for k in (1, 2)}
            for r in ROWS
        ]
        rows = [r | age for r, age in zip(ROWS, ages, strict=True)]
        code, _, err = audited(capsys, write(tmp_path / "pairs.csv", rows))
        assert code == 2 and "30 groups, as" in err and "of 30 people" in err


@pytest.mark.parametrize(
    ("one", "other", "where"), [("f", "F", "sex_1"), ("1", "01", "sex_2")]
)
def test_groups_in_two_spellings_are_refused(capsys, tmp_path, one, other, where):
    rows = respelled(
        sex_1=lambda t: t.replace("f", one), sex_2=lambda t: t.replace("f", one)
    )
    for row in rows[::5]:
        row[where] = row[where].replace(one, other)
    code, _, err = audited(capsys, write(tmp_path / "pairs.csv", rows))
    assert code == 2 and "error: --attribute sex contains 1 label in two" in err
    assert f"{one!r} and {other!r}" in err or f"{other!r} and {one!r}" in err


def test_pairs_of_one_kind_alone_pass_no_limit_unless_stated(capsys, tmp_path):
    limit = ("--max-fmr", "0.5")
    for genuine, flag in ((True, "--mated-only"), (False, "--non-mated-only")):
        rows = [r for r in ROWS if (r["identity_1"] == r["identity_2"]) == genuine]
        path = write(tmp_path / f"{flag}.csv", rows)
        code, _, err = audited(capsys, path, *limit)
        assert code == 2 and f"{flag} was not given, and all {len(rows):,} pairs" in err
        code, _, err = audited(capsys, write(tmp_path / "all.csv", ROWS), flag)
        assert code == 2 and f"{flag} was given, and " in err
    code, found, _ = audited(capsys, path, "--non-mated-only", *limit)
    assert code == 0 and found["f"][1] is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("label", "01"),
        ("Target", ("nontarget", "TARGET")),
        ("ground truth", ("-1", "1")),
        ("same_person", ("N", "Y")),
        # A column of any name, by its words.
        ("kind", ("non-mated", "mated")),
    ],
)
def test_a_column_of_truth_that_contradicts_the_people_is_refused(
    capsys, tmp_path, name, words
):
    rows = [r | {name: words[r["identity_1"] == r["identity_2"]]} for r in ROWS]
    code, found, _ = audited(capsys, write(tmp_path / "right.csv", rows))
    assert code == 0 and is_right(found)
    genuine = sum(r["identity_1"] == r["identity_2"] for r in rows)
    wrong = [r | {"identity_2": f"{r['identity_2'][:3]}y"} for r in rows[:-1]] + [
        rows[-1]
    ]
    kept = sum(r["identity_1"] == r["identity_2"] for r in wrong)
    code, _, err = audited(
        capsys, write(tmp_path / "wrong.csv", wrong), "--non-mated-only"
    )
    assert code == 2
    counts = f"{name!r} contradicts the identities in {genuine - kept:,} of {len(rows):,} pairs"
    assert counts in err


def test_a_column_of_truth_with_an_empty_cell_is_compared_where_it_has_values(
    capsys, tmp_path
):
    rows = [r | {"label": str(int(r["identity_1"] == r["identity_2"]))} for r in ROWS]
    rows[0]["label"] = ""
    code, found, _ = audited(capsys, write(tmp_path / "right.csv", rows))
    assert code == 0 and is_right(found)
    rows[1]["label"] = str(1 - int(rows[1]["label"]))
    code, _, err = audited(capsys, write(tmp_path / "wrong.csv", rows))
    assert code == 2 and f"in 1 of {len(rows):,} pairs" in err


SIDES = [
    ("sex1", "sex2", "sex"),
    ("probe_sex", "bio_ref_sex", "sex"),
]


@pytest.mark.parametrize(("one", "other", "stem"), SIDES)
def test_columns_of_two_images_are_read_and_one_of_them_is_refused(
    capsys, tmp_path, one, other, stem
):
    path = write(tmp_path / "pairs.csv", ROWS, {"sex_1": one, "sex_2": other})
    for attribute in (stem, f"{one},{other}"):
        code, found, _ = audited(capsys, path, attribute=attribute)
        assert code == 0 and is_right(found)
    for name, partner in ((one, other), (other, one)):
        code, _, err = audited(capsys, path, attribute=name)
        assert code == 2 and repr(partner) in err and f"give {stem!r}" in err


@pytest.mark.parametrize("side", ["sex_1", "sex_2"])
def test_a_column_of_one_image_is_refused_by_its_values(capsys, tmp_path, side):
    path = write(
        tmp_path / "pairs.csv",
        ROWS,
        {side: "gender", "sex_1": "A", "sex_2": "B"} | {side: "gender"},
    )
    code, _, err = audited(capsys, path, attribute="gender")
    assert code == 2 and "--attribute FIRST,SECOND" in err
    assert f"of the {'first' if side == 'sex_1' else 'second'} image" in err


@pytest.mark.parametrize(
    "names", [("src_sex", "dst_sex"), ("sexA", "sexB"), ("sex", "sex.1")]
)
def test_a_column_of_one_image_is_refused_without_people(capsys, tmp_path, names):
    rows = [
        {
            "score": r["score"],
            "label": int(r["identity_1"] == r["identity_2"]),
            names[0]: r["sex_1"],
            names[1]: r["sex_2"],
        }
        for r in ROWS
    ]
    path = write(tmp_path / "pairs.csv", rows)
    code, _, err = audited(capsys, path, attribute=names[0])
    assert code == 2 and f"give '{names[0]},{names[1]}'" in err
    code, found, _ = audited(capsys, path, attribute=",".join(names))
    assert code == 0 and is_right(found)


def test_a_column_of_both_images_is_read(capsys, tmp_path):
    rows = [r for r in ROWS if r["sex_1"] == r["sex_2"]]
    alone = [{n: t for n, t in r.items() if n != "sex_2"} for r in rows]
    path = write(tmp_path / "pairs.csv", alone, {"sex_1": "sex"})
    code, found, _ = audited(capsys, path)
    assert code == 0 and is_right(found, rows)


@pytest.mark.parametrize("kind", ["case", "zeros", "spaces"])
@pytest.mark.parametrize("by", ["identity", "image"])
def test_metadata_that_spell_their_keys_otherwise_are_refused(
    capsys, tmp_path, kind, by
):
    path = write(
        tmp_path / "pairs.csv",
        [{n: t for n, t in r.items() if n[:3] != "sex"} for r in ROWS],
    )
    spell = {
        "case": str.upper,
        "zeros": lambda t: f"0{t}",
        "spaces": lambda t: f" {t} ",
    }[kind]
    of = {r[f"{by}_{k}"]: r[f"sex_{k}"] for r in ROWS for k in (1, 2)}
    rows = [{by: spell(key), "sex": sex} for key, sex in of.items()]
    table = write(tmp_path / "meta.csv", rows)
    code, found, err = audited(capsys, path, "--metadata", table, "--on", by)
    if kind == "spaces" or (kind, by) == ("case", "image"):  # digits have no case
        assert code == 0 and is_right(found)
    else:
        assert code == 2 and "two spellings" in err


# ---- types of scores -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_matrix_of_scores_is_compared_in_its_own_type(capsys, tmp_path, dtype):
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(20), 3)
    score = np.round(
        0.3 + 0.3 * (person[:, None] == person) + 0.1 * rng.normal(size=(60, 60)), 2
    )
    score = ((score + score.T) / 2).round(2).astype(dtype)
    np.save(tmp_path / "scores.npy", score)
    rows = [{"identity": f"p{p}", "sex": "fm"[p % 2]} for p in person]
    table = write(tmp_path / "labels.csv", rows)
    left, right = np.triu_indices(60, 1)
    same, score = (person[left] == person[right]), score[left, right]
    for threshold in (0.35, 0.45, 0.55):
        _, out, _ = run(
            *(capsys, "audit", tmp_path / "scores.npy", "--probes", table),
            *(
                "--attribute",
                "sex",
                "--quiet",
                "--format",
                "json",
            ),
            *("--threshold", threshold),
        )
        row = json.loads(out)["audits"][0]["levels"][0]["rates"][0]
        assert row["fmr"]["value"] == pytest.approx((score[~same] >= threshold).mean())
        assert row["fnmr"]["value"] == pytest.approx((score[same] < threshold).mean())


# ---- files of other people -----------------------------------------------------------


@pytest.fixture
def field(shared_data):
    folder = shared_data.parent / "findings" / "field"
    if not folder.is_dir():
        pytest.skip(f"{folder} does not exist")
    return folder


PEOPLE = ("identity_1", "identity_2")


def counted(path, one, other, groups, score="score"):
    """FMR and FNMR within each group of a file, counted from its rows."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = {
        "identity_1": one,
        "identity_2": other,
        "sex_1": groups[0],
        "sex_2": groups[1],
    }
    rows = [
        {new: row[old].strip().lower() for new, old in names.items()}
        | {"score": row[score]}
        for row in rows
    ]
    return rates_of(rows)


@pytest.mark.parametrize("name", ["ok.csv", "idspace.csv", "semi.csv"])
def test_a_space_behind_one_side_turns_no_rate_around(capsys, field, name):
    code, found, _ = audited(
        capsys, field / name, "--max-fmr-ratio", "3", attribute="gender"
    )
    right = counted(field / "ok.csv", *PEOPLE, ("gender_1", "gender_2"))
    assert code == 3
    assert all(found[g] == pytest.approx(rates) for g, rates in right.items())
    assert [f"{100 * v:.3g}" for v in (*right["f"], *right["m"])] == [
        *("1.95", "69.2"),
        *("0.947", "51.7"),
    ]


@pytest.mark.parametrize("attribute", ["g", "g1,g2"])
def test_the_columns_of_bfw_are_those_of_two_images(capsys, field, attribute):
    people = ("--identity-1", "id1", "--identity-2", "id2")
    more = (*people, "--max-fmr-ratio", "2.6")
    code, found, _ = audited(capsys, field / "bfw.csv", *more, attribute=attribute)
    right = counted(field / "bfw.csv", "id1", "id2", ("g1", "g2"))
    assert code == 3
    for group, rates in right.items():
        assert found[group.upper()] == pytest.approx(rates)
    code, _, err = audited(capsys, field / "bfw.csv", attribute="g")
    assert code == 2 and "(--identity-1 id1 --identity-2 id2)" in err
    code, _, err = audited(capsys, field / "bfw.csv", *more, attribute="g1")
    assert code == 2 and "give 'g', which reads both" in err


@pytest.mark.parametrize("name", ["two_dec.csv", "two_dec32.parquet"])
def test_rounded_scores_have_one_rate_in_every_type(capsys, field, name):
    quiet = ("--attribute", "gender", "--quiet")
    asked = ("audit", field / name, *quiet, "--format", "json")
    read = json.loads(run(capsys, *asked, "--threshold", "0.7")[1])
    everyone = read["audits"][0]["levels"][0]["rates"][0]
    assert f"{100 * everyone['fnmr']['value']:.3g}" == "24.2"
    read = json.loads(run(capsys, *asked, "--fmr", "0.003")[1])
    assert 0.7 < read["audits"][0]["levels"][0]["threshold"] <= 0.71


@pytest.mark.parametrize("names", ["two.csv two.csv", "sysA.csv sysB.csv"])
def test_systems_are_those_of_their_flags(capsys, field, names):
    """Two columns of one file, by --score once for each, are as the same two in two files."""
    scores = ("facenet", "arcface")
    files = [str(field / name) for name in names.split()]
    asked = ("compare", *files, "--attribute", "gender", *PAIRS, "--format", "json")
    flags = [w for s in scores for w in ("--score", s)] if "two" in names else ()
    changes = json.loads(run(capsys, *asked, *flags)[1])["changes"]
    groups = ("gender_1", "gender_2")
    before, after = (counted(field / "two.csv", *PEOPLE, groups, s) for s in scores)
    verdicts = {(c["group"], c["rate"]): c["verdict"] for c in changes}
    assert verdicts.pop(("m", "fmr")) == "higher"
    assert [*verdicts.values()] == ["lower"] * 4
    for change in (c for c in changes if c["group"]):
        kind = ("fmr", "fnmr").index(change["rate"])
        found = (change["before"], change["after"])
        right = (before[change["group"]][kind], after[change["group"]][kind])
        assert found == pytest.approx(right)


def everyone_of(capsys, *asked):
    """The rates of everyone at the first operating point, as the command prints them."""
    levels = json.loads(run(capsys, *asked, "--quiet", "--format", "json")[1])
    return levels["audits"][0]["levels"][0]["rates"][0]


def test_a_list_of_wespeaker_has_the_rates_of_its_table(capsys, field):
    found, right = (
        everyone_of(capsys, "audit", field / name, "--fmr", "1e-2")
        for name in ("vox1_O.score", "ok.csv")
    )
    for rate, errors in (("fmr", 151 / 15143), ("fnmr", 290 / 480)):
        assert found[rate]["value"] == right[rate]["value"] == pytest.approx(errors)


def test_zero_rows_are_failures(capsys, field):
    asked = ("audit", field / "zero.npz", "--attribute", "gender", "--fmr", "1e-2")
    code, _, err = run(capsys, *asked, "--quiet")
    assert code == 2 and "is zero, or has nan or infinite values, in 8 of 320" in err
    found = everyone_of(capsys, *asked, "--failures", "reject")
    with np.load(field / "zero.npz") as data:
        X, y = data["embedding"].astype(float), data["identity"]
    length = np.linalg.norm(X, axis=1)
    one, other = np.triu_indices(y.size, 1)
    score = (X[one] * X[other]).sum(axis=1) / np.maximum(
        length[one] * length[other], 1e-9
    )
    score[length[one] * length[other] == 0] = -np.inf
    same = y[one] == y[other]
    impostor = np.sort(score[~same])[::-1]
    accepted = score > impostor[int(0.01 * impostor.size)]
    assert found["fmr"]["value"] == pytest.approx(accepted[~same].mean())
    assert found["fnmr"]["value"] == pytest.approx((~accepted)[same].mean())


def test_candidate_lists_are_searches(capsys, field):
    """Each list begins with the probe's own name and a score of 1; half are enrolled."""
    gallery = ("--gallery", field / "gl.csv", "--candidates", field / "cand.csv")
    asked = ("identify", field / "pl.csv", *gallery, "--attribute", "gender")
    found = everyone_of(capsys, *asked, "--threshold", "0.95")
    assert (found["fpir"]["value"], found["fnir"]["value"]) == (1.0, 0.0)
