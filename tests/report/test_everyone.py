"""Audits without an attribute: everyone is the one group, and nothing is about groups."""

import json
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from skfairfr import cli
from skfairfr._text._words import percent, percents
from skfairfr.report import (
    EmbeddingData,
    PairData,
    Policy,
    Report,
    audit,
    audit_data,
    audit_decisions,
    audit_pairs,
    certify_data,
    compare_searches,
    compare_systems,
    identify,
    identify_data,
    read_data,
)
from skfairfr.utils import ArgumentError
from tests.report.audits import synthetic, without_rendering
from tests.report.json_schema import is_valid

FAR = [0.1, 0.05]
LIMITS = {"max_fmr": 0.2, "max_fnmr": 0.02}
NO_GROUPS = "No groups were given, so rates are of everyone."


def pairs():
    """All mated pairs of people in two groups, and 4,000 others."""
    X, y, groups = synthetic(80)
    left, right = np.triu_indices(len(y), 1)
    mated = y[left] == y[right]
    chosen = np.random.default_rng(0).choice(np.flatnonzero(~mated), 4000, False)
    both = np.r_[np.flatnonzero(mated), np.sort(chosen)]
    left, right = left[both], right[both]
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    columns = {"sex": (groups[left], groups[right])}
    return PairData((unit[left] * unit[right]).sum(1), (y[left], y[right]), columns)


def log(n=1500):
    """Error, person and group of attempts."""
    rng = np.random.default_rng(0)
    person = rng.integers(0, 150, n)
    return (rng.random(n) < 0.05).astype(float), person, np.where(person % 2, "f", "m")


def of_embeddings(grouped, **options):
    X, y, groups = synthetic()
    groups = groups if grouped else None
    return audit(X, y, groups, **{"far": FAR, "limits": LIMITS} | options)


def of_pairs(grouped, **options):
    data = pairs()
    data = data if grouped else replace(data, columns={})
    return audit_data(data, **{"far": FAR, "limits": LIMITS} | options)


def of_independent_pairs(grouped, **options):
    data = pairs()
    same = np.equal(*map(np.asarray, data.identities)).astype(int)
    groups = next(iter(data.columns.values())) if grouped else None
    options = {"far": FAR, "limits": LIMITS} | options
    return audit_pairs(data.y_score, None, groups, y_true=same, **options)


def of_log(grouped, **options):
    *attempts, group = log()
    options = {"limits": {"max_fnmr": 0.02}} | options
    return audit_decisions(*attempts, group if grouped else None, **options)


KINDS = [of_embeddings, of_pairs, of_independent_pairs, of_log]


@pytest.mark.parametrize("measure", KINDS)
def test_rates_of_everyone_are_those_of_an_audit_by_an_attribute(measure):
    """Rates, intervals, errors, sizes, thresholds and curves, to the last digit."""
    (alone,), (grouped,) = (measure(kind).audits for kind in (False, True))
    assert repr(alone.groups) == repr(grouped.groups[:1])
    for own, other in zip(alone.levels, grouped.levels, strict=True):
        assert repr(own.rates) == repr(other.rates[:1])
        assert own.threshold == other.threshold
    if alone.curves is not None:
        np.testing.assert_array_equal(alone.curves.frr, grouped.curves.frr[:1])
        np.testing.assert_array_equal(alone.curves.far, grouped.curves.far[:1])


def test_rates_of_everyone_are_those_of_a_double_loop():
    X, y, _ = synthetic(25)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    (level,) = audit(X, y, far=0.05).audits[0].levels
    errors, trials = {True: 0, False: 0}, {True: 0, False: 0}
    for i in range(len(y)):
        for j in range(i):
            mated = y[i] == y[j]
            trials[mated] += 1
            errors[mated] += (unit[i] @ unit[j] >= level.threshold) != mated
    (rates,) = level.rates
    assert (rates.far_errors, rates.frr_errors) == (errors[False], errors[True])
    assert rates.far.value == pytest.approx(errors[False] / trials[False], rel=1e-12)
    assert rates.frr.value == pytest.approx(errors[True] / trials[True], rel=1e-12)


def test_limit_of_everyone_is_judged_by_the_interval_of_the_rate():
    (found,) = of_pairs(False).audits
    for check in found.checks:
        level = next(level for level in found.levels if level.far == check.far)
        name = {"max_fmr": "far", "max_fnmr": "frr"}[check.name]
        rate = getattr(level.rates[0], name)
        assert (check.figure.low, check.figure.high) == (rate.low, rate.high)
        assert (check.groups, check.not_covered) == ((None,), ())
        assert check.verdict == (
            "failed"
            if rate.low > check.limit
            else "passed"
            if rate.high <= check.limit
            else "undetermined"
        )
    assert {check.verdict for check in found.checks} == {"passed", "failed"}


@pytest.mark.parametrize("measure", KINDS)
def test_nothing_of_groups_is_in_an_audit_of_everyone(measure):
    (found,) = measure(False).audits
    assert (found.attribute, found.reference, found.n_unknown) == ("", None, 0)
    for level in found.levels:
        empty = level.disparities, level.findings, level.indices, level.against_others
        assert empty == ((), (), (), ())
        assert level.matrix is None
        assert np.isnan(level.worst_group_threshold)


@pytest.mark.parametrize("measure", KINDS)
def test_all_outputs_of_an_audit_of_everyone(measure, tmp_path, monkeypatch):
    without_rendering(monkeypatch)
    report = measure(False)
    assert is_valid(json.loads(report.to_json()), Report.schema())
    assert report.to_frame("disparities").shape[0] == 0
    assert report.to_frame().shape[0] == len(report.audits[0].levels)
    assert 'classname="skfairfr.audit.everyone"' in report.to_junit()
    texts = [report.to_text(full=full) for full in (True, False)]
    texts += [report.to_card(), report.to_html(), report._repr_html_(), repr(report)]
    for text in texts:
        assert "None" not in text
        assert " by ." not in text
    for text in (*texts[:2], texts[3]):
        assert NO_GROUPS in " ".join(text.split())
    for word in ("Reference", "over reference", "Holm", "Largest differences"):
        assert word not in texts[0]
    names = [path.name for path in report.save(tmp_path)]
    assert sorted(names) == ["audit.json", "rates.csv", "report.html"]
    rows = (tmp_path / "rates.csv").read_text("utf-8-sig").splitlines()[1:]
    assert all(row.startswith(",") for row in rows)  # no attribute


def test_first_screen_of_everyone():
    """Rates with intervals, sizes and the EER, then the limit, then how to give groups."""
    report = of_pairs(False, far=0.05, limits={"max_fmr": 0.2})
    (found,) = report.audits
    (rates,), sizes = found.levels[0].rates, found.groups[0]
    text = " ".join(report.to_text(full=False).split())
    far, frr, eer = (
        f"{percent(of.value)} (95 % CI {percents(of.low, of.high)})"
        for of in (rates.far, rates.frr, sizes.equal_error_rate)
    )
    expected = [
        "Passed. 1 limit: 1 met.",
        f"At an overall FMR of 5 %, the FMR is {far} and the FNMR is {frr}.",
        f"The EER is {eer}.",
        f"80 people: {sizes.n_impostor:,} non-mated comparisons and "
        f"{sizes.n_genuine:,} mated comparisons.",
        "Met: FMR of everyone, at an overall FMR of 5 %, at most 20 %",
        f"{NO_GROUPS} To compare groups, give --attribute NAME",
    ]
    places = [text.find(" ".join(part.split())) for part in expected]
    assert -1 not in places
    assert places == sorted(places)


def test_figure_of_everyone_is_the_error_tradeoff_once(tmp_path):
    of_embeddings(False, far=0.05).save(tmp_path)
    assert [p.name for p in (tmp_path / "figures").iterdir()] == ["det--1.svg"]


def embeddings_with(**options):
    return lambda: of_embeddings(False, **{"limits": None, "far": None} | options)


def searches_with_ratio():
    probes, options = searches(limits={"max_fpir_ratio": 2.0})
    identify(*probes, **options)


def own_thresholds():
    certify_data(data_without_groups("pairs"), limits={"max_fmr": 0.05}, own=True)


POLICY = Policy("p", {"max_fnmr_ratio": 2.0}, fmr=0.1)


@pytest.mark.parametrize(
    ("name", "call", "words"),
    [
        (
            "max_fmr_ratio",
            embeddings_with(limits={"max_fmr_ratio": 2.0}),
            "--attribute",
        ),
        ("max_bfar", embeddings_with(limits={"max_bfar": 2.0}), "--attribute"),
        ("max_fnmr_ratio", embeddings_with(policy=POLICY), "--attribute"),
        ("reference", embeddings_with(reference=0), "--attribute"),
        ("threshold_group", embeddings_with(threshold_group="f"), "--attribute"),
        ("control", embeddings_with(control="quality"), "--attribute"),
        ("metrics", embeddings_with(metrics={"largest": max}), "--attribute"),
        ("impostors", embeddings_with(impostors="same_group"), "--attribute"),
        ("max_fpir_ratio", searches_with_ratio, "--attribute"),
        ("own", own_thresholds, "--attribute"),
        ("attribute", embeddings_with(attribute="gender"), "'gender' names labels"),
        (
            "sensitive_features",
            lambda: audit_decisions(*log()[:2], kind="apcer"),
            "species",
        ),
    ],
)
def test_what_is_about_groups_needs_an_attribute(name, call, words):
    with pytest.raises(ArgumentError, match=words) as caught:
        call()
    assert caught.value.argument == name


def test_policy_of_rates_needs_no_attribute():
    report = of_embeddings(False, policy="sp800-63a-4", limits=None, far=None)
    assert [check.name for check in report.checks] == ["max_fmr", "max_fnmr"]


def test_smallest_level_needs_the_pairs_of_everyone():
    rng = np.random.default_rng(0)
    for n, levels in ((780, 3), (770, 2)):  # 303,810 and 296,065 pairs
        y = np.arange(n)
        report = audit(rng.normal(size=(n, 4)), y, non_mated_only=True)
        assert len(report.audits[0].levels) == levels


def test_random_system_is_withheld():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(60), 4)
    report = audit(rng.normal(size=(240, 16)), y, far=0.1, limits={"max_fnmr": 0.99})
    assert report.exit_code == 3
    assert "no better than chance" in report.to_text(full=False)


def test_system_without_errors_keeps_its_limits():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(60), 4)
    X = rng.normal(size=(60, 64))[y] + 0.01 * rng.normal(size=(240, 64))
    report = audit(X, y, threshold=0.8, limits={"max_fmr": 0.05, "max_fnmr": 0.05})
    assert report.exit_code == 0
    (rates,) = report.audits[0].levels[0].rates
    assert (rates.far_errors, rates.frr_errors) == (0, 0)
    assert rates.frr.high > 0


def test_failures_are_counted_for_everyone():
    X, y, _ = synthetic()
    X = X.copy()
    X[::9] = np.nan
    (found,) = audit(X, y, far=0.05, failures="report").audits
    (row,) = found.failures
    assert (row.group, row.n_attempts) == (None, len(y))
    assert row.n_failed_to_acquire == len(range(0, len(y), 9))
    assert len(found.levels[0].generalised) == 1
    (rejected,) = audit(X, y, far=0.05, failures="reject").audits
    (rates,) = rejected.levels[0].rates
    assert 0 < rates.frr_failures < rates.frr_errors


def test_repeated_images_are_noted_for_everyone():
    X, y, _ = synthetic()
    (found,) = audit(np.r_[X, X[:3]], np.r_[y, y[:3]], far=0.05).audits
    assert any("same embedding" in note for note in found.notes)


def test_other_average_of_everyone_is_shown():
    y = np.r_[np.zeros(25, int), 1 + np.arange(100) // 2]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(52, 8))[y] + 0.5 * rng.normal(size=(125, 8))
    report = audit(X, y, far=0.05)
    assert report.audits[0].averaged is not None
    assert "Both averages" in report.to_text()


def test_threshold_of_other_data_is_that_of_an_audit_by_an_attribute():
    X, y, groups = synthetic()
    other = EmbeddingData(*synthetic(40)[:2])
    options = {"far": 0.05, "threshold_from": other}
    alone, grouped = (audit(X, y, of, **options) for of in (None, groups))
    both = [report.audits[0].levels[0] for report in (alone, grouped)]
    assert both[0].threshold == both[1].threshold
    assert repr(both[0].rates) == repr(both[1].rates[:1])


def searches(**options):
    """Probes, of which 120 of 300 are enrolled, and the gallery, as arguments of identify."""
    rng, y = np.random.default_rng(0), np.arange(300)
    centre = rng.normal(size=(300, 16))
    probes = centre + 0.6 * rng.normal(size=centre.shape)
    enrolled = {"X_gallery": centre[:120], "y_gallery": y[:120]}
    return (probes, y), enrolled | {"fpir": [0.1, 0.05]} | options


def test_searches_of_everyone_have_the_rates_of_an_audit_by_an_attribute():
    probes, options = searches(limits={"max_fpir": 0.2, "max_fnir": 0.05})
    grouped = identify(*probes, probes[1] % 2, **options | {"limits": None})
    report = identify(*probes, **options)
    for own, other in zip(
        *(one.audits[0].levels for one in (report, grouped)), strict=True
    ):
        assert own.threshold == other.threshold
        assert repr(own.rates) == repr(other.rates[:1])
    assert {check.name for check in report.checks} == {"max_fmr", "max_fnmr"}
    schema = Report.schema("identification")
    assert is_valid(json.loads(report.to_json()), schema)
    text = report.to_text()
    assert NO_GROUPS in " ".join(text.split())
    assert "unknown" not in text
    shown = " ".join(report.to_text(full=False).split())
    assert "FNIR of everyone, at an overall FPIR of 10 %, at most 5 %" in shown


# ---- certified thresholds -----------------------------------------------------------


def data_without_groups(kind):
    if kind == "pairs":
        return replace(pairs(), columns={})
    return EmbeddingData(*synthetic(60)[:2])


@pytest.mark.parametrize("kind", ["embeddings", "pairs"])
def test_certified_threshold_is_the_loosest_that_an_audit_of_everyone_passes(kind):
    data, limits = data_without_groups(kind), {"max_fmr": 0.05, "max_fnmr": 0.9}
    certificate = certify_data(data, limits=limits)
    found, step = certificate.found, 1e-6
    assert (certificate.attribute, found.groups.tolist()) == ("", ["everyone"])
    assert certificate.verdict == "passed"
    report = audit_data(data, threshold=found.threshold, limits=limits)
    assert report.exit_code == 0
    (rates,) = report.audits[0].levels[0].rates
    np.testing.assert_allclose(found.far, rates.far.value, rtol=1e-12)
    np.testing.assert_allclose(found.far_high, rates.far.high, rtol=1e-9)
    np.testing.assert_allclose(found.frr, rates.frr.value, rtol=1e-12)
    while True:  # the next pair
        looser = audit_data(data, threshold=found.threshold - step).audits[0]
        (next_rates,) = looser.levels[0].rates
        if next_rates.far_errors > rates.far_errors:
            break
        step *= 2
    assert next_rates.far.high > limits["max_fmr"]


def test_outputs_of_a_certificate_of_everyone(tmp_path, monkeypatch):
    without_rendering(monkeypatch)
    data = data_without_groups("pairs")
    for limits in ({"max_fmr": 0.05, "max_fnmr": 0.9}, {"max_fmr": 1e-6}):
        certificate = certify_data(data, limits=limits)
        text = certificate.to_text()
        assert "Threshold for everyone" in text
        assert "very group" not in text
        assert "each group" not in text
        assert is_valid(json.loads(certificate.to_json()), certificate.schema())
        certificate.save(tmp_path, replace=True)


# ---- comparisons of systems -----------------------------------------------------------


def two_systems(kind, grouped):
    """A system and a noisier one, as compare_systems takes them, and how it is called."""
    rng = np.random.default_rng(0)
    if kind == "pairs":
        data = pairs()
        systems = [
            data,
            replace(data, y_score=data.y_score + rng.normal(0, 0.3, data.y_score.size)),
        ]
    else:
        X, y, groups = synthetic(120 if kind == "searches" else 60)
        noisy = X + rng.normal(0, 0.5, X.shape)
        systems = [EmbeddingData(one, y, {"sex": groups}) for one in (X, noisy)]
    if not grouped:
        systems = [replace(one, columns={}) for one in systems]
    if kind != "searches":
        return systems, partial(compare_systems, far=FAR)
    enrolled = np.unique(systems[0].y, return_index=True)[1][::2]
    others = np.setdiff1d(np.arange(len(systems[0].y)), enrolled)
    galleries = [one.take(enrolled) for one in systems]
    systems = [one.take(others) for one in systems]
    return systems, partial(compare_searches, fpir=FAR, galleries=galleries)


@pytest.mark.parametrize("kind", ["embeddings", "pairs", "searches"])
def test_changes_of_everyone_are_those_of_a_comparison_by_an_attribute(kind):
    """Rates, differences, ratios, intervals and p-values; the family alone is smaller."""
    alone, grouped = (
        compare(*systems) for systems, compare in (two_systems(kind, g) for g in (0, 1))
    )
    of_all = [change for change in grouped.changes if change.attribute is None]
    assert len(alone.changes) == len(of_all) == 2
    for own, other in zip(alone.changes, of_all, strict=True):
        assert own.p_adjusted <= other.p_adjusted
        assert repr(replace(other, p_adjusted=own.p_adjusted)) == repr(own)
    assert alone.disparities == () and alone.levelling_down == ()
    assert [one.attribute for one in alone.measured] == ["", ""]
    for own, other in zip(alone.measured, grouped.measured, strict=True):
        assert repr(own.groups) == repr(other.groups[:1])


@pytest.mark.parametrize("kind", ["embeddings", "pairs", "searches"])
def test_outputs_of_a_comparison_of_everyone_name_no_groups(kind, tmp_path):
    systems, compare = two_systems(kind, False)
    found = compare(*systems, fail_on_harm=True)
    assert found.exit_code == 1 and found.harm == found.changes
    text = " ".join(found.to_text().split())
    assert text.count(f"{NO_GROUPS} To compare groups, give --attribute NAME") == 1
    assert "Attributes: none, so all are one group" in text
    text = text.split("Limits -")[0].replace("none, so all are one group", "")
    text = re.sub(f"{NO_GROUPS}[^.]*[.]", "", text)
    assert re.findall(r"\w*groups|each group|every group|[Dd]isparit\w*", text) == []
    task = "identification" if kind == "searches" else "verification"
    assert is_valid(json.loads(found.to_json()), found.schema(task))
    places = [path.name for path in found.save(tmp_path)]
    assert "report.html" in places and (tmp_path / "figures").is_dir()


def test_compare_without_attribute_has_exit_statuses_and_all_forms(tmp_path, capsys):
    """Nothing but noise is no harm; the threshold of same-group pairs needs groups."""
    (data, noisy), _ = two_systems("embeddings", False)
    paths = [tmp_path / f"{name}.npz" for name in ("one", "two")]
    for path, one in zip(paths, (data, noisy), strict=True):
        np.savez(path, embedding=one.X, identity=one.y)
    asked = ("--fmr", "0.05", "--fail-on-harm")
    for form in ("text", "json", "html", "junit"):
        assert run(capsys, "compare", *paths, *asked, "--format", form)[0] == 1
    assert run(capsys, "compare", *paths[::-1], *asked)[0] == 0
    assert run(capsys, "compare", *paths)[0] == 0
    code, _, err = run(capsys, "compare", *paths, "--impostors", "same_group")
    assert code == 2 and "--impostors 'same_group' sets one threshold" in err


# ---- files --------------------------------------------------------------------------


def run(capsys, *arguments):
    code = cli.main([*map(str, arguments), "--quiet"])
    printed = capsys.readouterr()
    return code, " ".join(printed.out.split()), printed.err


def test_command_names_columns_of_a_log(tmp_path, capsys):
    error, person, group = log()
    path = tmp_path / "log.csv"
    rows = zip(person, 1 - error.astype(int), group, strict=True)
    lines = ["person,accepted,sex", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines))
    log_read = "audit", path, "--accepted", "accepted"
    code, text, _ = run(capsys, *log_read, "--max-fnmr", "0.2")
    assert code == 0
    assert "The FRR is" in text
    assert "Columns that may name groups: sex." in text
    code, _, error = run(capsys, *log_read, "--max-fnmr-ratio", "2")
    assert code == 2
    assert error.startswith("skfairfr audit: error: --max-fnmr-ratio is about groups")
    assert "--attribute" in error


def test_command_identifies_without_an_attribute(tmp_path, capsys):
    (X, y), options = searches()
    gallery = {"embedding": options["X_gallery"], "identity": options["y_gallery"]}
    np.savez(tmp_path / "gallery.npz", **gallery)
    np.savez(tmp_path / "probes.npz", embedding=X, identity=y, half=y % 2)
    read = "identify", tmp_path / "probes.npz", "--gallery", tmp_path / "gallery.npz"
    code, text, _ = run(capsys, *read, "--fpir", "0.1", "--max-fpir", "0.3")
    assert code == 0
    assert "At an overall FPIR of 10 %, the FPIR is 10.0 %" in text
    assert "Columns that may name groups: half." in text
    code, _, error = run(capsys, *read, "--max-fpir-ratio", "2")
    assert (code, "--max-fpir-ratio is about groups" in error) == (2, True)


def test_command_certifies_without_an_attribute(tmp_path, capsys):
    X, y, _ = synthetic(120)
    np.savez(tmp_path / "faces.npz", embedding=X, identity=y)
    asked = "threshold", tmp_path / "faces.npz", "--max-fmr", "0.05"
    code, text, _ = run(capsys, *asked)
    assert code == 0
    assert "FMR of everyone at most 5 %" in text
    assert run(capsys, *asked, "--own")[0] == 2


def test_searches_of_everyone_are_certified():
    (X, y), options = searches()
    gallery = EmbeddingData(options["X_gallery"], options["y_gallery"])
    asked = {"gallery": gallery, "limits": {"max_fpir": 0.2}}
    found = certify_data(EmbeddingData(X, y), **asked)
    threshold = found.found.threshold
    at = identify_data(EmbeddingData(X, y), gallery=gallery, threshold=threshold)
    (rates,) = at.audits[0].levels[0].rates
    assert found.verdict == "passed"
    np.testing.assert_allclose(found.found.far_high, rates.far.high, rtol=1e-9)


def test_attacks_of_a_log_stay_by_species(tmp_path, capsys):
    """Bona fide attempts are those of everyone, and how species are compared is stated."""
    rng, n = np.random.default_rng(0), 900
    species = rng.choice(["print", "screen"], n)
    attack, accepted = rng.random(n) < 0.5, (rng.random(n) < 0.5).astype(int)
    kinds = np.where(attack, "attack", "genuine")
    attempts = rng.integers(0, 99, n), kinds, np.where(attack, species, ""), accepted
    rows = zip(*attempts, strict=True)
    lines = ["person,attempt,species,accepted", *(",".join(map(str, r)) for r in rows)]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    flags = ("--accepted", "accepted", "--attempt", "attempt", "--species", "species")
    code, text, _ = run(capsys, "audit", tmp_path / "log.csv", *flags, "--full")
    assert code == 0
    assert "The BPCER is" in text
    assert "APCER by species" in text
    assert "Groups are compared with the reference" in text


def test_columns_of_embeddings_that_may_be_groups(tmp_path):
    X, y, groups = synthetic()
    n, age = np.arange(len(y)), np.array(["", "old", "young"])[1 + y % 2].astype(object)
    age[::5] = ""
    columns = {"gender": groups, "age": age.astype(str), "camera": n % 3, "name": n}
    np.savez(
        tmp_path / "x.npz", embedding=X, identity=y, one=np.ones(len(y)), **columns
    )
    assert read_data(tmp_path / "x.npz").reading.candidates == ("gender", "age")


@pytest.mark.parametrize("with_people", [True, False])
def test_columns_of_pairs_that_may_be_groups(with_people, tmp_path):
    data, path = pairs(), tmp_path / "pairs.csv"
    sides = next(iter(data.columns.values()))
    same = np.equal(*map(np.asarray, data.identities)).astype(int)
    people = dict(zip(("identity_1", "identity_2"), data.identities, strict=True))
    columns = {"score": data.y_score, **(people if with_people else {"label": same})}
    columns |= {"probe_sex": sides[0], "reference_sex": sides[1]}
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [columns, *rows]))
    assert read_data(path).reading.candidates == ("sex",)


def test_columns_of_metadata_may_be_groups(tmp_path):
    X, y, groups = synthetic()
    np.savez(tmp_path / "faces.npz", embedding=X, identity=y)
    of_person = dict(zip(y.tolist(), groups.tolist(), strict=True))
    lines = ["identity,sex", *(f"{one},{sex}" for one, sex in of_person.items())]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    data = read_data(tmp_path / "faces.npz", metadata=str(tmp_path / "people.csv"))
    assert data.reading.candidates == ("sex",)
    assert not isinstance(data, PairData)
