"""Rates at equal covariates against loops over strata, and in simulations of known gaps."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from skfairfr import cli
from skfairfr.report import (
    EmbeddingData,
    PairData,
    Report,
    audit,
    audit_data,
    audit_decisions,
    audit_pairs,
    read_data,
)
from skfairfr.report._control import covariates_of, strata_of

QUICK = {"random_state": 0}


def simulated(gap, seed=0, n_people=500, n=16_000):
    """Pairs of two groups: f errs twice as often, by its poor images alone or by itself."""
    rng = np.random.default_rng(seed)
    one = rng.integers(0, n_people, n)
    same = rng.random(n) < 0.5
    other = np.where(same, one, 2 * rng.integers(0, n_people // 2, n) + one % 2)
    is_f = one % 2 == 1
    chance = np.where(is_f, 0.6, 0.1) if gap == "quality" else np.full(n, 0.3)
    poor = rng.random((2, n)) < chance
    rate = np.where(poor.any(axis=0), 0.08, 0.02)
    if gap == "group":
        rate = rate * np.where(is_f, 2, 1)
    wrong = rng.random(n) < rate
    score = ((one == other) ^ wrong) + rng.normal(0, 0.01, n)
    quality = tuple(np.where(poor, 0.2, 0.9))
    sex = np.where(is_f, "f", "m")
    return PairData(
        score, (one, other), {"sex": (sex, sex)}, covariates={"quality": quality}
    )


def audited(data, control="quality:2", **options):
    options = {"threshold": 0.5, "control": control} | QUICK | options
    return audit_data(data, **options)


def both_of(report):
    """The level as it is, and at equal covariates."""
    (audit,) = report.audits
    return audit.levels[0], audit.standardised.levels[0]


def test_a_gap_that_is_all_quality_is_gone_at_equal_quality():
    as_is, at_equal = both_of(audited(simulated("quality"), reference="m"))
    (ratio,) = at_equal.disparities
    for raw, equal in zip(as_is.findings, at_equal.findings, strict=True):
        assert (
            (raw.group, raw.reference) == (equal.group, equal.reference) == ("f", "m")
        )
        assert raw.verdict == "higher" and raw.ratio.value > 1.8
        assert equal.verdict == "no significant difference"
        assert equal.ratio.low < 1 < equal.ratio.high < 1.5
    for figure in (ratio.far, ratio.frr):
        assert figure.low == 1 < figure.value < figure.high and figure.p_value > 0.05


def test_a_gap_that_has_nothing_to_do_with_quality_stays():
    as_is, at_equal = both_of(audited(simulated("group"), reference="m"))
    for raw, equal in zip(as_is.findings, at_equal.findings, strict=True):
        assert equal.verdict == raw.verdict == "higher"
        assert equal.ratio.low < 2 < equal.ratio.high
        assert equal.ratio.value == pytest.approx(raw.ratio.value, rel=0.05)


@pytest.mark.slow
def test_intervals_at_equal_quality_hold_the_truth():
    """Of 300 audits whose gap is all quality."""
    missed = []
    for seed in range(300):
        data = simulated("quality", seed, n_people=200, n=4000)
        found = both_of(audited(data))[1].findings
        missed.append([not f.ratio.low <= 1 <= f.ratio.high for f in found])
    print(np.mean(missed, axis=0))
    assert np.mean(missed) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 600)


@pytest.mark.slow
def test_rates_that_differ_between_strata_widen_no_interval():
    """Of 400 logs, attempts with poor images fail in 0.2 and others in 0.02.

    Some people have poor images only, and others few: how many attempts of each stratum
    there are varies between people, and no standardised rate with it.
    """
    rng, errors, widths, missed = np.random.default_rng(0), [], [], []
    for _ in range(400):
        person = np.repeat(np.arange(200), 10)
        chance = rng.beta(0.3, 0.3, 200) * np.where(np.arange(200) % 2, 1, 0.5)
        poor = rng.random(person.size) < chance[person]
        failed = rng.random(person.size) < np.where(poor, 0.2, 0.02)
        group = np.where(person % 2, "f", "m")
        quality = np.where(poor, "poor", "good")
        options = {"covariates": {"quality": quality}, "control": "quality"}
        report = audit_decisions(failed, person, group, **options)
        level = report.audits[0].standardised.levels[0]
        truth = np.where(poor, 0.2, 0.02).mean()
        rates = [row.frr for row in level.rates if row.group in ("f", "m")]
        errors += [rate.value - truth for rate in rates]
        widths += [rate.high - rate.low for rate in rates]
        missed += [not rate.low <= truth <= rate.high for rate in rates]
    width = np.mean(widths) / (2 * 1.96 * np.std(errors))
    print(f"coverage {1 - np.mean(missed):.3f}, width {width:.2f} times the right one")
    assert np.mean(missed) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 800)
    assert width < 1.2


# ---- loops ---------------------------------------------------------------------------


def standardised_by_loops(pairs, groups):
    """Rate of each group from (group, stratum or None, error)s."""
    cells = {}
    for group, stratum, wrong in pairs:
        if group is not None and stratum is not None:
            cells.setdefault((group, stratum), []).append(wrong)
    strata = {s for _, s in cells}
    common = [s for s in strata if all((g, s) in cells for g in groups)]
    sizes = {s: sum(len(cells[g, s]) for g in groups) for s in common}
    return [
        sum(sizes[s] * np.mean(cells[g, s]) for s in common) / sum(sizes.values())
        for g in groups
    ]


def quantile_of(value, values, k):
    """Which of the k quantiles of some values holds one of them."""
    ordered = sorted(values)
    cuts = [ordered[-(-len(ordered) * q // k) - 1] for q in range(1, k)]
    return sum(value > cut for cut in cuts)


@pytest.fixture(scope="module")
def images():
    """Embeddings of 40 people with covariates, some unknown, and all pairs of two images."""
    rng = np.random.default_rng(3)
    y = rng.permutation(np.repeat(np.arange(40), 4))
    X = (rng.normal(size=(40, 8))[y] + rng.normal(size=(y.size, 8))).astype(np.float32)
    columns = {
        "quality": np.where(rng.random(y.size) < 0.05, np.nan, rng.random(y.size)),
        "camera": np.array(["a", "b", None], dtype=object)[
            rng.choice(3, y.size, p=[0.5, 0.4, 0.1])
        ],
        "age": rng.integers(20, 40, y.size),
    }
    data = EmbeddingData(X, y, {"half": y % 2}, covariates=columns)
    return data, list(combinations(range(y.size), 2))


def strata_by_loops(control, columns):
    """The stratum of two images by their rows, None where it is unknown."""
    quality, camera, age = columns.values()
    if control == "quality:3":
        known = [q for q in quality if q == q]
        own = [quantile_of(q, known, 3) if q == q else None for q in quality]
        return lambda i, j: None if None in (own[i], own[j]) else min(own[i], own[j])
    if control == "camera":
        return lambda i, j: (
            None
            if None in (camera[i], camera[j])
            else frozenset((camera[i], camera[j]))
        )
    gaps = [abs(a - b) for a in age for b in age]
    of_gap = {gap: quantile_of(gap, gaps, 3) for gap in set(gaps)}
    return lambda i, j: of_gap[abs(age[i] - age[j])]


@pytest.mark.parametrize("control", ["quality:3", "camera", "age:3:gap"])
def test_embeddings_agree_with_a_double_loop(images, control):
    data, pairs = images
    X = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    scores = X @ X.T
    level = both_of(audited(data, control, threshold=0.4))[1]
    stratum_of = strata_by_loops(control, data.covariates)
    rows = {"far": [], "frr": []}
    for i, j in pairs:
        same = data.y[i] == data.y[j]
        group = data.y[i] % 2 if data.y[i] % 2 == data.y[j] % 2 else None
        stratum = stratum_of(i, j)
        accepted = scores[i, j] >= 0.4
        rows["frr" if same else "far"].append((group, stratum, accepted != same))
    for rate, of_rate in rows.items():
        expected = standardised_by_loops(of_rate, [0, 1])
        found = [getattr(row, rate).value for row in level.rates[1:]]
        assert found == pytest.approx(expected, rel=1e-12)


def test_listed_pairs_of_images_are_as_the_embeddings(images):
    data, pairs = images
    X = (data.X / np.linalg.norm(data.X, axis=1, keepdims=True)).astype(np.float64)
    i, j = np.array(pairs).T
    both = {name: (c[i], c[j]) for name, c in data.covariates.items()}
    control = ["quality:3", "camera"]
    of_pairs = audit_pairs(
        np.einsum("ij,ij->i", X[i], X[j]),
        (data.y[i], data.y[j]),
        {"half": (data.y[i] % 2, data.y[j] % 2)},
        covariates=both,
        control=control,
        threshold=0.4,
        **QUICK,
    ).audits[0]
    of_images = audit(
        data.X,
        data.y,
        data.columns,
        covariates=data.covariates,
        control=control,
        threshold=0.4,
        **QUICK,
    ).audits[0]
    # Quantiles are of all images here, and of those in pairs there, each as often as any.
    for one, other in zip(
        of_pairs.control.strata, of_images.control.strata, strict=True
    ):
        assert one.name == other.name
        assert one.far_share == pytest.approx(other.far_share)
        assert one.frr_within == pytest.approx(other.frr_within)
    for one, other in zip(
        of_pairs.standardised.levels[0].rates[1:],
        of_images.standardised.levels[0].rates[1:],
        strict=True,
    ):
        for rate in ("far", "frr"):
            a, b = getattr(one, rate), getattr(other, rate)
            assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high))


# ---- decisions -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log of genuine, impostor and attack attempts with covariates, some unknown."""
    rng = np.random.default_rng(5)
    lines, chances = [], {"old": 0.3, "new": 0.1, "": 0.2}
    for _ in range(3000):
        person = int(rng.integers(120))
        kind = rng.choice(["genuine", "impostor", "attack"], p=[0.6, 0.3, 0.1])
        device = rng.choice(
            ["old", "new", ""],
            p=[0.3 + 0.4 * (person % 2), 0.2, 0.5 - 0.4 * (person % 2)],
        )
        quality = "" if rng.random() < 0.05 else f"{rng.random():.3f}"
        wrong = rng.random() < chances[device]
        accepted = int(wrong != (kind == "genuine"))
        tool = rng.choice(["mask", "print"]) if kind == "attack" else ""
        about = person, "mf"[person % 2], kind, tool, device, quality, accepted
        lines.append(",".join(map(str, about)))
    path = tmp_path_factory.mktemp("log") / "log.csv"
    head = "person,sex,kind,tool,device,quality,accepted"
    path.write_text("\n".join([head, *lines]))
    return path, [line.split(",") for line in lines]


CONTROL = ["device", "quality:3"]
OF_LOG = {"accepted": "accepted", "attempt": "kind", "species": "tool"}


def test_decisions_at_equal_covariates_agree_with_a_double_loop(log):
    path, rows = log
    report = audit_data(
        read_data(path, "sex", control=CONTROL, **OF_LOG), control=CONTROL
    )
    assert [one.settings["decisions"] for one in report.audits] == [
        "bpcer",
        "far",
        "apcer",
    ]
    for one, kind in zip(report.audits, ("genuine", "impostor", "attack"), strict=True):
        own = [row for row in rows if row[2] == kind]
        known = [float(row[5]) for row in own if row[5]]
        cells = [
            (
                row[3] if kind == "attack" else row[1],
                (row[4], quantile_of(float(row[5]), known, 3))
                if row[4] and row[5]
                else None,
                (row[6] == "0") == (kind == "genuine"),
            )
            for row in own
        ]
        groups = [row.group for row in one.groups[1:]]
        found = [row.frr.value for row in one.standardised.levels[0].rates[1:]]
        assert found == pytest.approx(standardised_by_loops(cells, groups), rel=1e-12)
    record = json.loads(report.to_json(version="0"))
    Draft202012Validator(Report.schema()).validate(record)
    (rate, *_) = record["audits"][0]["standardised"]["levels"][0]["rates"][1:]
    equal = report.audits[0].standardised.levels[0].rates[1].frr.value
    assert rate["bpcer"]["value"] == pytest.approx(equal)
    assert 0 < record["audits"][0]["control"]["strata"][0]["bpcer_share"] < 1
    told = section_of(report.to_text(), "At equal device and quality")
    assert "FAR" not in told.split("Strata")[0].split("FAR of")[0]
    assert "share of the bona fide attempts of each" in " ".join(told.split())


def test_decisions_at_equal_covariates_are_as_the_log_written_as_pairs(log, tmp_path):
    rows = log[1]
    pairs, genuine = (
        tmp_path / "pairs.csv",
        [row for row in rows if row[2] == "genuine"],
    )
    head = "identity_1,identity_2,sex,device,quality,score"
    pairs.write_text(
        "\n".join([head, *(",".join([r[0], r[0], r[1], *r[4:]]) for r in genuine)])
    )
    only = tmp_path / "genuine.csv"
    only.write_text(
        "\n".join(
            [
                "person,sex,device,quality,accepted",
                *(",".join([*r[:2], *r[4:]]) for r in genuine),
            ]
        )
    )
    of_log = audit_data(
        read_data(only, "sex", control=CONTROL, accepted="accepted"), control=CONTROL
    )
    of_pairs = audit_data(
        read_data(pairs, "sex", control=CONTROL, mated_only=True),
        threshold=0.5,
        control=CONTROL,
    )
    columns = {
        name: np.array([r[k] or np.nan for r in genuine], dtype=kind)
        for name, k, kind in (("device", 4, object), ("quality", 5, float))
    }
    in_python = audit_decisions(
        np.array([r[6] == "0" for r in genuine]),
        np.array([r[0] for r in genuine]),
        {"sex": np.array([r[1] for r in genuine])},
        covariates=columns,
        control=CONTROL,
    )
    for other in (of_pairs, in_python):
        for one, same in zip(
            both_of(of_log)[1].findings, both_of(other)[1].findings, strict=True
        ):
            assert (one.group, one.verdict) == (same.group, same.verdict)
            for name in ("value", "low", "high", "p_value"):
                expected = pytest.approx(getattr(same.ratio, name), rel=1e-9)
                assert getattr(one.ratio, name) == expected
    # As text: nan is no nan of another place.
    assert repr(of_log.audits[0].control) == repr(of_pairs.audits[0].control)


def test_transactions_have_the_covariates_of_their_first_attempt():
    rng = np.random.default_rng(0)
    person, session = np.divmod(np.arange(2400) // 2, 6)
    sex, light = np.where(person % 2, "f", "m"), rng.choice(["in", "out"], 2400)
    wrong = rng.random(2400) < 0.3
    best = wrong.reshape(-1, 2).all(axis=1)
    asked = {"control": "light", "attribute": "sex"}
    of_both = audit_decisions(
        wrong,
        person,
        sex,
        session=session,
        best_of=2,
        covariates={"light": light},
        **asked,
    )
    first = slice(None, None, 2)
    of_first = audit_decisions(
        best, person[first], sex[first], covariates={"light": light[first]}, **asked
    )
    one, other = (both_of(of)[1].rates[1].frr for of in (of_both, of_first))
    assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
    with pytest.raises(ValueError, match=r"covariates\['light'\] has 7 rows"):
        audit_decisions(wrong, person, sex, covariates={"light": light[:7]}, **asked)
    with pytest.raises(ValueError, match="one column of the attempt, which has no"):
        audit_decisions(
            wrong, person, sex, covariates={"age": person}, control="age:2:gap"
        )


def test_attacks_without_covariates_are_noted(log, tmp_path):
    rows = log[1]
    bare = tmp_path / "bare.csv"
    lines = (",".join([*r[:4], r[4] if r[2] != "attack" else "", *r[5:]]) for r in rows)
    bare.write_text("\n".join(["person,sex,kind,tool,device,quality,accepted", *lines]))
    report = audit_data(
        read_data(bare, "sex", control="device", **OF_LOG), control="device"
    )
    assert [one.control is None for one in report.audits] == [False, False, True]
    assert "APCER cannot be standardised" in report.audits[2].notes[-1]


# ---- strata --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("camera", ("camera", None, False)),
        ("quality:4", ("quality", 4, False)),
        ("age:3:gap", ("age", 3, True)),
        ("a:b:12", ("a:b", 12, False)),
        ("age_gap", ("age_gap", None, False)),
    ],
)
def test_what_a_text_asks_for(text, expected):
    assert covariates_of(text) == [expected]


def test_a_number_without_two_values_has_one_stratum():
    assert strata_of(data_of(one=np.ones(5)), "one:4").codes.tolist() == [0] * 5


def data_of(**covariates):
    n = len(next(iter(covariates.values())))
    return PairData(np.zeros(n), None, covariates=covariates)


def test_columns_of_a_pair_are_taken_as_they_are():
    found = strata_of(data_of(light=np.array(["in", "out", None, "in"])), "light")
    assert found.names == ["light in", "light out"] and found.codes.tolist() == [
        0,
        1,
        -1,
        0,
    ]
    found = strata_of(data_of(age_gap=np.array([1.0, 5, np.nan, 9, 7])), "age_gap:2")
    assert found.names == ["age_gap up to 5", "age_gap above 5"]
    assert found.codes.tolist() == [0, 0, -1, 1, 1]


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (["q:4", "q:4"], "control names a covariate twice; give it once."),
        ("q:1", "control must be NAME, NAME:K or NAME:K:gap with K >= 2, got 'q:1'"),
        ("q:gap", "NAME:K:gap with K >= 2, got 'q:gap'"),
        ("", "got ''"),
        ("z:2", "'z' is no covariate of the data. Its covariates: 'q', 'text', 'one'"),
        ("text:2", "'text' contains values that are no numbers"),
        ("q:3:gap", "'q' is one column of the pair, which has no difference"),
        ("q", "'q' has 30 categories, and 20 are taken at most; give q:4"),
    ],
)
def test_refused(control, message):
    columns = {"q": np.arange(30.0), "text": ["a", "b"] * 15, "one": [1] * 30}
    with pytest.raises(ValueError, match=message):
        strata_of(data_of(**columns), control)


def test_differences_of_many_numbers_are_refused():
    values = np.arange(300.0)
    data = EmbeddingData(np.eye(300), np.arange(300), covariates={"age": values})
    with pytest.raises(ValueError, match="'age' has 300 different values"):
        strata_of(data, "age:3:gap")


def test_columns_of_another_length_are_refused():
    data = simulated("group", n=400)
    data.covariates["quality"] = data.covariates["quality"][0][:10]
    with pytest.raises(ValueError, match="10 rows but the data has 400"):
        audited(data)


def test_groups_without_a_common_stratum_are_refused_and_combinations_noted():
    data = simulated("group", n=4000)
    sex, people = data.columns["sex"][0], data.identities[0]
    light = np.where(sex == "f", "in", "out")
    data.covariates["light"] = light
    with pytest.raises(
        ValueError, match="nothing common to groups of 'sex': no stratum"
    ):
        audited(data, "light")
    # Each alone has both; their combinations have one each.
    young = np.where(people // 2 % 2, "young", "old")
    of_other = np.where(data.identities[1] // 2 % 2, "young", "old")
    light = np.where((sex == "f") == (young == "old"), "in", "out")
    columns = data.columns | {"age": (young, of_other)}
    data = replace(data, columns=columns, covariates={"light": light})
    report = audited(data, "light")
    assert [one.control is None for one in report.audits] == [False, False, True]
    told = [note for note in report.audits[2].notes if "standardised" in note]
    assert len(told) == 2 and told[0].startswith(
        "By sex & age, no stratum of the covariates"
    )


# ---- what people see -----------------------------------------------------------------


def section_of(text, title):
    """From the title of a section of a text to that of the next one that has a line below."""
    return text.split(f"\n{title}\n")[1].split("\n---")[0]


def test_records_tables_and_texts():
    report = audited(simulated("quality"), ["quality:2"])
    record = json.loads(report.to_json(version="0"))
    Draft202012Validator(Report.schema()).validate(record)
    found = record["audits"][0]["standardised"]
    assert (found["setting"], found["value"]) == ("control", "quality:2")
    assert found["levels"][0]["rates"][1]["fmr"]["value"] > 0
    frame = report.to_frame(backend="pandas", full=True)
    assert frame["far_standardised_low"].notna().tolist() == [False, True, True]
    text = report.to_text()
    told = section_of(text, "At equal quality")
    assert "f has a higher" not in told and "quality up to 0.2" in told
    assert "FNMR, at equal" in told and "FMR, at equal" in told
    told = section_of(audited(simulated("group")).to_text(), "At equal quality")
    for rate in ("FMR", "FNMR"):
        assert f"f has a higher {rate} than m" in " ".join(told.split())
    assert "<h3" in report.to_html() and "At equal quality" in report.to_html()
    gap = audited(simulated("quality"), "quality:2:gap").to_text()
    assert "At equal difference of quality" in gap
    plain = audit_data(simulated("quality"), threshold=0.5, **QUICK)
    assert "equal quality" not in plain.to_text() and plain.audits[0].control is None


def test_the_command_reads_columns_of_images_and_of_pairs(tmp_path, capsys, images):
    data = simulated("quality", n=3000)
    rows = zip(
        data.y_score,
        *data.identities,
        data.columns["sex"][0],
        *data.covariates["quality"],
        np.arange(3000) % 3,
        strict=True,
    )
    lines = ["score,identity_1,identity_2,sex,quality_1,quality_2,light"]
    lines += [",".join(map(str, row)) for row in rows]
    (tmp_path / "pairs.csv").write_text("\n".join(lines))
    asked = ["--threshold", "0.5", "--quiet", "--full"]
    flags = ["--attribute", "sex", "--control", "quality:2", "--control", "light"]
    assert cli.main(["audit", str(tmp_path / "pairs.csv"), *flags, *asked]) == 0
    assert "At equal quality and light" in capsys.readouterr().out
    faces, _ = images
    arrays = {"quality": faces.covariates["quality"], "half": faces.y % 2}
    np.savez(tmp_path / "faces.npz", embedding=faces.X, identity=faces.y, **arrays)
    flags = ["--attribute", "half", "--control", "quality:2"]
    assert cli.main(["audit", str(tmp_path / "faces.npz"), *flags, *asked]) == 0
    assert "quality up to" in capsys.readouterr().out
    flags[-1] = "light:2"
    assert cli.main(["audit", str(tmp_path / "faces.npz"), *flags, *asked]) == 2
    assert "--control cannot be found: " in capsys.readouterr().err
    flags = ["--attribute", "sex", "--control", "shade"]
    assert cli.main(["audit", str(tmp_path / "pairs.csv"), *flags, *asked]) == 2
    assert "--control cannot be found: " in capsys.readouterr().err
