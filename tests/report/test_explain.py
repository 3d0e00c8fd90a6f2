"""Explained errors of embeddings, pairs, logs and searches."""

import json
import re

import numpy as np
import pytest

from skfairfr.cli import main
from skfairfr.report import (
    EmbeddingData,
    ExplainedErrors,
    PairData,
    Report,
    _regressions,
    audit,
    explain,
)
from skfairfr.report._explained_errors import _ranges
from tests.report.json_schema import is_valid


def make_images(n=150, seed=0):
    """Embeddings whose FNMR depends on quality, which is lower in f."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n), 4)
    sex = np.where(y % 2, "f", "m")
    quality = np.clip(rng.normal(np.where(sex == "f", 0.45, 0.7), 0.12), 0.05, 1)
    base = rng.normal(size=(n, 64)) / 8
    X = base[y] + rng.normal(size=(y.size, 64)) * (0.13 / np.sqrt(quality))[:, None]
    return X, y, sex, quality


def test_pairs_of_embeddings_give_the_same_as_embeddings():
    X, y, sex, quality = make_images(80)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    one, other = np.triu_indices(y.size, 1)
    score = (unit @ unit.T)[one, other]
    sides = {n: (c[one], c[other]) for n, c in (("sex", sex), ("quality", quality))}
    pairs = PairData(
        score,
        (y[one], y[other]),
        {"sex": sides["sex"]},
        covariates={"quality": sides["quality"]},
    )
    images = EmbeddingData(X, y, {"sex": sex}, covariates={"quality": quality})
    found, expected = (
        explain(d, threshold=0.4, reference="m") for d in (pairs, images)
    )
    for name in ("FMR", "FNMR"):
        for a, b in zip(
            found.explanations[name].ratios,
            expected.explanations[name].ratios,
            strict=True,
        ):
            assert a.n_errors == pytest.approx(b.n_errors, abs=1)
            assert a.ratio == pytest.approx(b.ratio, rel=0.01)
            assert a.low == pytest.approx(b.low, rel=0.01)


def test_command_answers_for_embeddings(tmp_path, capsys):
    X, y, sex, quality = make_images(150)
    np.savez(tmp_path / "a.npz", embedding=X, identity=y, sex=sex, quality=quality)
    asked = ["explain", str(tmp_path / "a.npz"), "--attribute", "sex", "--quiet"]
    asked += ["--covariate", "quality", "--reference", "m"]
    assert main([*asked, "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    text_in_a_line = " ".join(text.split())
    assert re.search(
        r"At threshold [\d.]+ \(FMR 0\.1 %\), the FNMR of f is [\d.]+ times that of m, and "
        r"[\d.]+ times at equal quality \(95 % CI [\d.]+ to [\d.]+\): no significant difference\.",
        text_in_a_line,
    )
    assert "too few errors" not in text_in_a_line
    assert len(text.splitlines()) <= 27
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("data:image/svg+xml") == 2
    assert "Is it the group?" in page
    record = json.loads((tmp_path / "out" / "explain.json").read_text())
    assert is_valid(record, ExplainedErrors.schema())
    (ratio,) = record["rates"][0]["ratios"]
    assert record["rates"][0]["rate"] == "fnmr"
    assert ratio["raw_low"] > 1.2
    assert ratio["low"] < 1 < ratio["high"]


def test_command_compares_combinations(tmp_path, capsys):
    X, y, sex, quality = make_images(80)
    age = np.where(y % 3, "old", "young")
    np.savez(tmp_path / "a.npz", embedding=X, identity=y, sex=sex, age=age, q=quality)
    asked = ["explain", str(tmp_path / "a.npz"), "-a", "sex", "-a", "age", "--quiet"]
    asked += ["--interaction", "sex,age", "--covariate", "q", "--reference", "m"]
    assert main([*asked, "--reference", "old", "--fmr", "1%"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "f & young against" in text
    # Whatever differs most, the combination has no other attribute.
    assert re.search(
        r"FNMR of f is .* at equal q and age \(|FNMR of [fm] & .* at equal q \(", text
    )
    assert main([*asked, "--interaction", "sex,race"]) == 2
    assert "--interaction names 'race'" in capsys.readouterr().err


def write_log(path, slope, n=1500):
    """A log whose FRR is 5 % at 18 years and rises by a slope until 80."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(n), 6)
    sex, age = np.where(person % 2, "f", "m"), rng.integers(18, 80, n)[person]
    accepted = rng.random(person.size) > 0.05 + slope * (age - 18) / 62
    rows = zip(person, sex, age, accepted.astype(int), strict=True)
    lines = ["person,sex,age,accepted", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines))
    return ["explain", str(path), "--accepted", "accepted", "-a", "sex", "--quiet"]


@pytest.mark.parametrize(
    ("slope", "limit", "status", "words"),
    [
        (
            0.0,
            "10%",
            0,
            "Passed. 1 limit. FRR of everyone of at most 10 % over the middle 90 % of age: met from 21",
        ),
        (
            0.2,
            "10%",
            1,
            "Failed. 1 limit. FRR of everyone of at most 10 % over the middle 90 % of age: exceeded from",
        ),
        (
            0.0,
            "5%",
            3,
            "Undetermined. 1 limit. FRR of everyone of at most 5 % over the middle 90 % of age: undetermined",
        ),
    ],
)
def test_limit_over_a_curve_names_ranges(tmp_path, capsys, slope, limit, status, words):
    asked = write_log(tmp_path / "log.csv", slope)
    assert main([*asked, "--curve", "age", "--max-fnmr", limit]) == status
    text = capsys.readouterr().out
    one_line = " ".join(text.split())
    assert words in one_line
    trend = f"{'A' if slope else 'No'} significant trend of the FRR over age (p"
    assert trend in one_line
    assert (
        text.splitlines().index("All sections: --full. A page and files: --out DIR.")
        <= 28
    )
    if slope:  # it rises through the limit at 33.5 years
        found = re.search(
            r"exceeded from (\S+) to (\S+), met from (\S+) to (\S+),", one_line
        )
        first, last, low, high = map(float, found.groups())
        assert 33.5 < first < 45 and last > 75
        assert low < 22 and 20 < high < 33.5


@pytest.mark.parametrize(("first", "last"), [(20, 68), (0.2, 0.9), (21, 71)])
def test_each_value_has_one_state(first, last):
    at = np.linspace(first, last, 25)
    words = np.array(["met"] * 5 + ["undetermined"] + ["exceeded"] * 18 + ["met"])
    found = _ranges(at, words)
    ends = [one.split(" to ") for word in found for one in found[word]]
    ends = sorted([float(low), float(high)] for low, high in ends)
    half = (at[1] - at[0]) / 2
    assert ends[0][0] == first and ends[-1][1] == pytest.approx(last)
    for k, (low, high) in zip((4, 5, 23), ends, strict=False):
        assert low < high < ends[ends.index([low, high]) + 1][0]
        assert high == pytest.approx(at[k] + half, abs=half)


def test_ratios_of_two_groups_have_one_direction(tmp_path, capsys):
    asked = write_log(tmp_path / "log.csv", 0.0, 300)
    lines = (tmp_path / "log.csv").read_text().splitlines()
    people = {"f": 0, "m": 0}
    for k, line in enumerate(lines[1:], 1):
        person, sex, age, _ = line.split(",")
        if sex == "m" and int(person) % 4 == 0:
            lines[k] = f"{person},{sex},{age},0"
        people[sex] += lines[k].endswith("0")
    (tmp_path / "log.csv").write_text("\n".join(lines))
    assert main([*asked, "--reference", "m"]) == 0
    text = capsys.readouterr().out
    assert "The FRR of m is " in text and "f against m" not in text
    assert "all else equal" not in text
    assert f"{people['m']:,} " in next(
        t for t in text.splitlines() if "m against f, " in t
    )


@pytest.mark.parametrize(("n", "few"), [(200, True), (1500, False)])
def test_few_errors_are_marked_and_a_ratio_by_age_is_suggested(
    tmp_path, capsys, n, few
):
    person = np.repeat(np.arange(n), 4)
    sex, rng = np.where(person % 2, "f", "m"), np.random.default_rng(0)
    accepted = rng.random(person.size) >= np.where(sex == "f", 0.12, 0.02)
    rows = zip(person, sex, 20 + person % 50, accepted.astype(int), strict=True)
    lines = ["person,sex,age,ok", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    asked = ["explain", str(tmp_path / "log.csv"), "--accepted", "ok", "--quiet"]
    asked += ["-a", "sex", "--reference", "m", "--covariate", "age"]
    assert main(asked) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "The FRR of f is " in text and ": significantly higher." in text
    assert few == ("The ratio is uncertain: too few errors." in text)
    assert text.count("too few errors") == 2 * few
    assert "age:3) --interaction sex,age." in text


def test_unknown_reference_is_named():
    X, y, sex, _ = make_images(20)
    with pytest.raises(ValueError, match="'x' is no group"):
        explain(EmbeddingData(X, y, {"sex": sex}), far=0.01, reference="x")


@pytest.mark.parametrize("level", [{"far": [0.01]}, {"threshold": [0.3, 0.4]}])
def test_several_levels_are_an_error(level):
    X, y, sex, _ = make_images(20)
    with pytest.raises(ValueError, match="must be one number"):
        explain(EmbeddingData(X, y, {"sex": sex}), **level)


@pytest.mark.parametrize(
    ("flag", "column", "words"),
    [
        ("--covariate", "nothing", "--covariate cannot be found"),
        ("--curve", "sex", "--curve 'sex' is no number"),
        (
            "--covariate",
            "copy",
            "--covariate and attributes determine each other (sex, copy)",
        ),
        ("--max-fmr", "5%", "--max-fmr is of the rate at every value of a number"),
        ("--max-fpir", "1%", "--max-fpir is about searches. Use --gallery"),
    ],
)
def test_command_names_its_own_flags(tmp_path, capsys, flag, column, words):
    X, y, sex, _ = make_images(20)
    np.savez(tmp_path / "a.npz", embedding=X, identity=y, sex=sex, copy=sex)
    asked = ["explain", str(tmp_path / "a.npz"), "-a", "sex", "--quiet", flag, column]
    assert main(asked) == 2
    assert words in capsys.readouterr().err


def test_pairs_across_domains_alone_count():
    X, y, sex, quality = make_images(150)
    domain = np.where(np.arange(y.size) % 2, "selfie", "document")
    data = EmbeddingData(X, y, {"sex": sex}, domain, covariates={"quality": quality})
    found = explain(data, threshold=0.4).explanations
    # Two images of each person in each domain, and of all others.
    assert found["FNMR"].n_trials == 150 * 4
    assert found["FMR"].n_trials == 300 * 300 - 150 * 4
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    scores = (unit @ unit.T)[np.ix_(domain == "selfie", domain == "document")]
    same = y[domain == "selfie"][:, None] == y[domain == "document"]
    assert found["FNMR"].n_errors == (scores[same] < 0.4).sum()
    assert found["FMR"].n_errors == (scores[~same] >= 0.4).sum()


def test_templates_have_the_covariate_of_the_other_image(tmp_path, capsys):
    X, y, sex, quality = make_images(200)
    enrolled = (np.arange(y.size) % 4 < 2).astype(int)
    named = {"embedding": X, "identity": y, "sex": sex, "quality": quality}
    np.savez(tmp_path / "a.npz", **named, enrolled=enrolled)
    asked = ["explain", str(tmp_path / "a.npz"), "-a", "sex", "--covariate", "quality"]
    asked += ["--enrolment", "enrolled", "--threshold", "0.4", "--quiet", "--format"]
    assert main([*asked, "json"]) == 0
    rates = json.loads(capsys.readouterr().out)["rates"]
    assert [rate["n_trials"] for rate in rates] == [400, 400 * 199]
    # Both values are those of the one image: there is no difference between them.
    assert rates[0]["covariates"] == [{"name": "quality", "used_as": "number (spline)"}]


def test_failures_of_a_log_are_left_out_or_rejected(tmp_path, capsys):
    asked = write_log(tmp_path / "log.csv", 0.1)
    lines = (tmp_path / "log.csv").read_text().split("\n")
    lines[1::50] = [line.rpartition(",")[0] + "," for line in lines[1::50]]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    found = {}
    for how in ("report", "reject"):
        assert main([*asked, "--failures", how, "--format", "json"]) == 0
        found[how] = json.loads(capsys.readouterr().out)["rates"][0]
    failed = len(lines[1::50])
    assert found["reject"]["n_trials"] - found["report"]["n_trials"] == failed
    assert found["reject"]["n_errors"] - found["report"]["n_errors"] == failed
    assert main(asked) == 2
    assert "--failures" in capsys.readouterr().err


def test_searches_have_a_rank_and_limits(tmp_path, capsys):
    X, y, sex, quality = make_images(400)
    enrolled = (np.arange(y.size) % 4 == 0) & (y < 200)
    for name, rows in (("gallery", enrolled), ("probes", ~enrolled)):
        named = {"embedding": X[rows], "identity": y[rows], "sex": sex[rows]}
        np.savez(tmp_path / f"{name}.npz", **named, quality=quality[rows])
    asked = ["explain", str(tmp_path / "probes.npz"), "-a", "sex", "--quiet"]
    asked += ["--gallery", str(tmp_path / "gallery.npz"), "--curve", "quality"]
    asked += ["--fpir", "0.2", "--max-fnir", "0.9999", "--format", "json"]
    errors = []
    for rank in ("1", "20"):
        main([*asked, "--rank", rank])
        record = json.loads(capsys.readouterr().out)
        assert is_valid(record, ExplainedErrors.schema())
        assert record["limits"] == {"max_fnir": 0.9999}
        errors.append({one["rate"]: one["n_errors"] for one in record["rates"]})
    assert errors[1]["fnir"] < errors[0]["fnir"]
    assert errors[1]["fpir"] == errors[0]["fpir"]


def test_drawn_pairs_have_the_weights_of_their_groups(monkeypatch):
    X, y, sex, quality = make_images(100)
    sex = np.where(y < 15, "x", sex)
    domain = np.where(np.arange(y.size) % 2, "selfie", "document")
    options = {"threshold": 0.4, "reference": "m"}
    for of_two in (None, domain):
        data = EmbeddingData(X, y, {"sex": sex}, of_two, covariates={"q": quality})
        whole = explain(data, **options).explanations["FMR"]
        with monkeypatch.context() as few:
            few.setattr("skfairfr.report._regressions.MOST_DRAWN", 8_000)
            drawn = explain(data, **options).explanations["FMR"]
        assert drawn.n_trials == pytest.approx(whole.n_trials)
        for one, other in zip(drawn.ratios, whole.ratios, strict=True):
            assert one.n_errors == other.n_errors
            assert one.raw == pytest.approx(other.raw, rel=1e-9)
            if one.group != "different":
                assert one.n_trials == pytest.approx(other.n_trials)
            assert one.ratio == pytest.approx(other.ratio, rel=0.1)


def test_most_pairs_of_a_small_group_are_drawn(monkeypatch):
    X, y, sex, _ = make_images(100)
    sex, (left, right) = np.where(y < 15, "x", sex), np.triu_indices(y.size, 1)
    inside = (sex[left] == "x") & (sex[right] == "x") & (y[left] != y[right])
    n_pairs, none = np.count_nonzero(y[left] != y[right]), np.zeros((2, 0), dtype=int)
    monkeypatch.setattr(_regressions, "MOST_DRAWN", len(left) // 4)
    data, rng = EmbeddingData(X, y, {"sex": sex}), np.random.default_rng(0)
    left, right, weight = _regressions._others(data, y, none, n_pairs, rng)
    assert weight.sum() == pytest.approx(n_pairs) and len(left) < n_pairs / 2
    drawn = (sex[left] == "x") & (sex[right] == "x")
    assert np.count_nonzero(drawn) > 0.7 * np.count_nonzero(inside)


def test_threshold_that_accepts_most_pairs_is_explained_or_an_error():
    X, y, sex, _ = make_images(60)
    data = EmbeddingData(X, y, {"sex": sex})
    found = explain(data, threshold=0.0).explanations["FMR"]
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    one, other = np.triu_indices(y.size, 1)
    accepted = (unit @ unit.T)[one, other] >= 0.0
    assert found.n_errors == (accepted & (y[one] != y[other])).sum()


def test_audit_has_the_ratios_of_explain_at_its_first_threshold(tmp_path, capsys):
    X, y, sex, quality = make_images(100)
    np.savez(tmp_path / "a.npz", embedding=X, identity=y, sex=sex, quality=quality)
    given = [str(tmp_path / "a.npz"), "-a", "sex", "--covariate", "quality", "--quiet"]
    given += ["--reference", "m", "--fmr"]
    assert main(["audit", *given, "1%,0.1%", "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    section = text.partition("At equal covariates\n")[2].partition("\n\n")[0]
    assert "The FNMR of f is " in section
    assert len(section.splitlines()) <= 8
    record = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert is_valid(record, Report.schema())
    assert main(["explain", *given, "1%", "--format", "json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    fnmr, fmr = expected["rates"]
    assert record["explained"][0] == fnmr
    # Of the comparisons without a false match another sample is used.
    for one, other in zip(record["explained"][1]["ratios"], fmr["ratios"], strict=True):
        assert one["n_errors"] == other["n_errors"]
        assert one["raw"] == pytest.approx(other["raw"])
        assert one["ratio"] == pytest.approx(other["ratio"], rel=0.03)
    assert record["audits"][0]["levels"][0]["threshold"] == expected["threshold"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "At equal covariates, by regression" in page
    (one, _) = record["audits"][0]["levels"][0]["rates"][1:]
    (ratio,) = record["explained"][0]["ratios"]
    assert ratio["n_errors"] == one["fnmr_errors"]


def test_audit_of_a_log_and_of_arrays_has_ratios_too(tmp_path, capsys):
    asked = write_log(tmp_path / "log.csv", 0.1)
    assert main(["audit", *asked[1:], "--covariate", "age"]) == 0
    assert re.search("FRR .* at equal age", capsys.readouterr().out)
    X, y, sex, quality = make_images(100)
    covariates = {"quality": quality}
    found = audit(X, y, sex, far=0.05, covariates=covariates, explain_by=["quality"])
    assert {*found.explained.explanations} == {"FMR", "FNMR"}
    with pytest.raises(ValueError, match="names 'camera', which is no covariate"):
        audit(X, y, sex, far=0.05, covariates=covariates, explain_by=["camera"])


def test_references_are_those_of_the_audits_although_attributes_share_labels():
    X, y, *_, quality = make_images(60)
    both = {"hat": y % 4 == 0, "glasses": y % 4 != 1}  # few have a hat, most glasses
    both = {name: np.where(column, "yes", "no") for name, column in both.items()}
    options = {"covariates": {"q": quality}, "explain_by": ["q"]}
    found = audit(X, y, both, far=0.05, **options)
    expected = {a.attribute: a.reference for a in found.audits[:2]}
    assert expected == {"hat": "no", "glasses": "yes"}
    for one in found.explained.explanations.values():
        assert {r.attribute: r.reference for r in one.ratios} == expected


def test_limit_of_a_rate_without_a_regression_is_undetermined(tmp_path, capsys):
    asked = [*write_log(tmp_path / "log.csv", 0.1), "--curve", "age"]
    assert main([*asked, "--fmr", "1%"]) == 2
    assert "--fmr is about scores" in capsys.readouterr().err
    assert main([*asked, "--max-fmr", "10%"]) == 3
    text = " ".join(capsys.readouterr().out.split())
    assert "max_fmr is undetermined: its rate has no regression." in text
    assert main([*asked, "--max-fmr", "10%", "--max-fnmr", "0.01%"]) == 1
    assert "2 limits" in capsys.readouterr().out


def test_attacks_of_a_log_are_left_out(tmp_path, capsys):
    rng, lines = np.random.default_rng(0), ["identity,sex,age,tool,accepted"]
    for n in range(3000):
        tool, right = ("", 0.8) if n % 2 else (("mask", "photo")[n % 4 // 2], 0.2)
        person = n % 211
        age, accepted = rng.integers(18, 70), int(rng.random() < right)
        lines.append(f"p{person},{'fm'[person % 2]},{age},{tool},{accepted}")
    every, attacks = tmp_path / "every.csv", tmp_path / "attacks.csv"
    every.write_text("\n".join(lines))
    attacks.write_text("\n".join(one for one in lines if ",," not in one))
    asked = "--accepted accepted --species tool -a sex --covariate age -q".split()
    assert main(["audit", str(every), *asked]) == 0
    assert re.search("BPCER .* at equal age", capsys.readouterr().out)
    assert main(["audit", str(attacks), *asked]) == 0
    assert "No regression on covariates: needs genuine" in capsys.readouterr().out
    assert main(["explain", str(attacks), *asked]) == 2
    assert "needs genuine or impostor attempts" in capsys.readouterr().err


def test_audit_without_errors_notes_that_there_is_no_regression():
    X, y, sex, quality = make_images(40)
    options = {"covariates": {"q": quality}, "explain_by": ["q"]}
    found = audit(np.eye(40)[y] + 1e-3 * X[:, :1], y, sex, threshold=0.999, **options)
    assert found.explained is None
    assert any("No regression on covariates" in n for n in found.audits[0].notes)


def test_searches_of_an_identification_have_ratios(tmp_path, capsys):
    X, y, sex, quality = make_images(400)
    enrolled = (np.arange(y.size) % 4 == 0) & (y < 200)
    named = {"embedding": X[enrolled], "identity": y[enrolled], "sex": sex[enrolled]}
    np.savez(tmp_path / "gallery.npz", **named)  # without the covariate
    rest = {"embedding": X[~enrolled], "identity": y[~enrolled], "sex": sex[~enrolled]}
    np.savez(tmp_path / "probes.npz", **rest, quality=quality[~enrolled])
    asked = ["identify", str(tmp_path / "probes.npz"), "-a", "sex", "--quiet"]
    asked += ["--gallery", str(tmp_path / "gallery.npz"), "--covariate", "quality"]
    assert main([*asked, "--fpir", "0.2", "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert is_valid(record, Report.schema("identification"))
    assert [rate["rate"] for rate in record["explained"]] == ["fnir", "fpir"]


def test_explained_searches_of_mean_templates_are_those_of_an_audit(tmp_path, capsys):
    X, y, sex, quality = make_images(300)
    enrolled = (np.arange(y.size) % 4 < 2) & (y < 150)
    for name, rows in (("gallery", enrolled), ("probes", ~enrolled)):
        named = {"embedding": X[rows], "identity": y[rows], "sex": sex[rows]}
        np.savez(tmp_path / f"{name}.npz", **named, quality=quality[rows])
    asked = [str(tmp_path / "probes.npz"), "--gallery", str(tmp_path / "gallery.npz")]
    asked += "-a sex --covariate quality --fpir 0.2 --format json --quiet".split()
    asked += ["--template", "mean", "--reference", "m"]
    ratios = []
    for command, key in (("explain", "rates"), ("identify", "explained")):
        assert main([command, *asked]) == 0
        record = json.loads(capsys.readouterr().out)
        (rate,) = (one for one in record[key] if one["rate"] == "fpir")
        ratios.append(rate["ratios"][0]["ratio"])
    assert ratios[0] == pytest.approx(ratios[1])


def test_candidate_lists_give_what_their_embeddings_give(tmp_path, capsys):
    X, y, sex, quality = make_images(300)
    enrolled = (np.arange(y.size) % 4 == 0) & (y < 200)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    for name, rows in (("gallery", enrolled), ("probes", ~enrolled)):
        named = {"embedding": X[rows], "identity": y[rows], "sex": sex[rows]}
        np.savez(tmp_path / f"{name}.npz", **named, quality=quality[rows])
    scores = X[~enrolled] @ X[enrolled].T
    lists = ["search,candidate,score"]
    people = ["identity,sex", *map("{},{}".format, y[enrolled], sex[enrolled])]
    probes = ["search,identity,sex,quality"]
    about = zip(y[~enrolled], sex[~enrolled], quality[~enrolled], strict=True)
    for k, (one, row) in enumerate(zip(about, scores, strict=True)):
        probes.append(f"s{k},{one[0]},{one[1]},{one[2]}")
        best = np.argsort(-row)[:50]
        lists += [f"s{k},{y[enrolled][j]},{row[j]}" for j in best]
    for name, lines in (("lists", lists), ("people", people), ("probes", probes)):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    found = []
    for of in (
        ("probes.csv", "people.csv", "--candidates", str(tmp_path / "lists.csv")),
        ("probes.npz", "gallery.npz"),
    ):
        data, gallery = (str(tmp_path / name) for name in of[:2])
        asked = ["explain", data, "--gallery", gallery, *of[2:], "-a", "sex", "--quiet"]
        asked += ["--covariate", "quality", "--threshold", "0.4", "--format", "json"]
        assert main(asked) == 0
        found.append(json.loads(capsys.readouterr().out)["rates"])
    for one, other in zip(*found, strict=True):
        for name in ("n_errors", "raw", "ratio", "low"):
            value = other["ratios"][0][name]
            assert one["ratios"][0][name] == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("command", ["explain", "compare"])
def test_nothing_is_concluded_from_logs_with_yes_and_no_swapped(
    command, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        group, accepted = np.arange(2000) % 2, rng.random(2000) < 0.2
        accepted &= (group == 0) | (rng.random(2000) < 0.5)
        age = rng.integers(20, 70, 2000)
        rows = zip(range(2000), "fm" * 1000, age, accepted.astype(int), strict=True)
        lines = ["person,sex,age,accepted", *(",".join(map(str, row)) for row in rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    logs, more = ["a.csv", "b.csv"], []
    if command == "explain":
        logs, more = logs[:1], ["--covariate", "age", "--curve", "age"]
        more += ["--max-fnmr", "0.5"]
    status = main([command, *logs, "--accepted", "accepted", "-a", "sex", *more, "-q"])
    text = " ".join(capsys.readouterr().out.split())
    assert "Undetermined: most genuine attempts are rejected" in text
    assert text.count("Check in the log that yes, or 1, means accepted.") == 1
    assert "higher" not in text and "lower" not in text
    if command == "explain":
        assert status == 3
    else:
        assert "In a.csv and b.csv, more than half of the" in text
