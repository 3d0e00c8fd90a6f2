"""Audits of searches: their numbers, words, checks, files and the command."""

import json
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from skfairfr import cli, make_face_embeddings
from skfairfr._text._document import Table
from skfairfr.metrics import IdentificationROC
from skfairfr.report import (
    EmbeddingData,
    Policy,
    Report,
    SystemsComparison,
    compare_searches,
    identify,
    identify_data,
)
from skfairfr.report.sections._gallery import _of_many, who_alarms


@cache
def searches():
    data = make_face_embeddings(
        300, images_per_identity=2, n_features=16, random_state=0
    )
    _, first = np.unique(data.y, return_index=True)
    gallery = first[::2]
    probes = np.setdiff1d(np.arange(len(data.y)), gallery)
    return [
        (data.X[rows], data.y[rows], data.sensitive_features[rows])
        for rows in (probes, gallery)
    ]


@cache
def found(**options):
    probes, (X, y, group) = searches()
    gallery = {"X_gallery": X, "y_gallery": y, "sensitive_features_gallery": group}
    asked = {"fpir": 0.2, "attribute": "gender"} | options
    asked["limits"] = dict(asked.pop("limits", ())) or None
    return identify(*probes, **gallery, **asked)


LIMITED = (("max_fpir", 0.05), ("max_fnir_ratio", 9.0))


def test_rates_checks_and_tables_are_those_of_the_class():
    report = found(limits=LIMITED)
    probes, (X, y, group) = searches()
    roc = IdentificationROC(n_resamples=20, random_state=0).fit(
        *probes, X_gallery=X, y_gallery=y, sensitive_features_gallery=group
    )
    (audit,) = report.audits
    (level,) = audit.levels
    for row in level.rates:
        for rate, name in (("far", "fpir"), ("frr", "fnir")):
            own = roc.estimate(threshold=level.threshold, rate=name, group=row.group)
            figure = getattr(row, rate)
            assert (figure.value, figure.low, figure.high) == (
                own.value,
                own.low,
                own.high,
            )
    assert np.array_equal(
        level.matrix.far, roc.fpir_matrix(threshold=level.threshold).fpir
    )
    told = audit.settings["gallery"]
    assert told["enrolled"] == told["mated_people"] == 150 and told["rank"] == 1
    worst = roc.alarms(threshold=level.threshold)
    shown = [(row["identity"], row["n_alarms"]) for row in told["alarms"][0]]
    assert shown == list(zip(worst.identity[:10], worst.n_alarms[:10], strict=True))
    verdicts = {check.name: check.verdict for check in report.checks}
    assert verdicts["max_fmr"] == "failed" and report.exit_code == 1


@pytest.mark.parametrize("form", ["to_text", "to_html", "to_card", "to_junit"])
def test_texts_speak_of_searches(form):
    text = getattr(found(limits=LIMITED), form)()
    assert "FPIR" in text
    for word in ("FNMR", "impostor", "genuine", "non-match", "GARBE", " pairs"):
        assert word not in text
    if form in ("to_text", "to_html"):
        assert "Whom false alarms name" in text
    if form != "to_junit":
        assert "taken as given" in text or form == "to_text"
    else:
        assert 'name="max_fpir 0.05 at FPIR 20' in text


def test_json_and_tables_have_the_names_of_searches_and_a_schema(tmp_path):
    report = found(limits=LIMITED)
    told = json.loads(report.to_json())
    Draft202012Validator(Report.schema("identification")).validate(told)
    assert [check["name"] for check in told["checks"]] == ["max_fpir", "max_fnir_ratio"]
    rates = told["audits"][0]["levels"][0]["rates"][0]
    assert rates["fpir"]["value"] == pytest.approx(0.2) and "fmr" not in rates
    report.save(tmp_path / "out")
    for name in ("audit.json", "rates.csv", "disparities.csv"):
        assert "fmr" not in (tmp_path / "out" / name).read_text()
    with pytest.raises(ValueError, match="kind must be one of"):
        Report.schema("1:N")


def test_the_policy_of_sp_800_63a_4_has_a_part_of_searches():
    policy = Policy.read("sp800-63a-4")
    assert policy.search == {"fpir": [0.001], "limits": {"max_fpir": 0.001}}
    report = found(fpir=None, policy="sp800-63a-4")
    assert report.policy == "sp800-63a-4"
    assert [c.name for c in report.checks] == ["max_fmr"]
    assert found(fpir=None, threshold=0.99, policy="sp800-63a-4").audits[0].levels
    with pytest.raises(ValueError, match="no limits of searches"):
        Policy("door", {"max_fmr": 0.1}, fmr=0.1).for_search()
    with pytest.raises(ValueError, match=r"search\.limits .* unknown key"):
        Policy("door", search={"limits": {"max_fmr": 0.1}})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"limits": (("max_fmr", 0.1),)}, "unknown key 'max_fmr'. Known are max_fpir"),
        ({"limits": (("max_fpir", 2.0),)}, "max_fpir must be a number"),
        ({"fpir": 2.0}, "fpir must lie in"),
        ({"fpir": 0.1, "threshold": 0.5}, "fpir .* leave one out"),
    ],
)
def test_errors_name_the_arguments_of_searches(options, words):
    with pytest.raises(ValueError, match=words):
        found(**options)


def test_limits_are_a_dict():
    probes, (X, y, _) = searches()
    with pytest.raises(ValueError, match="limits must be a dict"):
        identify(*probes, X_gallery=X, y_gallery=y, threshold=0.5, limits=["max_fpir"])


def test_probes_of_which_nobody_is_enrolled_are_refused_unless_stated():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 8)), np.arange(80)
    gallery = {"X_gallery": rng.normal(size=(20, 8)), "fpir": 0.1}
    names = [f"p{k}" for k in y]
    for letter, words in (
        ("q", "non_mated_only was not given, and no probe is of a person enrolled"),
        (
            "P",
            "and y_gallery contain 20 labels in two spellings, which differ only in case",
        ),
    ):
        enrolled = [f"{letter}{k}" for k in range(20)]
        with pytest.raises(ValueError, match=words):
            identify(X, names, y % 2, y_gallery=enrolled, **gallery)
    spaced = [f" p{k} " for k in range(20)]
    reports = [
        identify(X, names, y % 2, y_gallery=enrolled, **gallery)
        for enrolled in (spaced, names[:20])
    ]
    assert reports[0].to_json() == reports[1].to_json()


@pytest.mark.parametrize("write", ["id{}".format, "{}_1".format, "x{}y".format])
def test_people_renamed_in_a_gallery_are_refused_or_counted_on_the_first_screen(
    tmp_path, capsys, write
):
    """Every third label has a beginning, an ending, or is another that nobody can know."""
    (X, y, group), (X_gallery, enrolled, of_gallery) = searches()
    renamed = [str(k) if n % 3 else write(k) for n, k in enumerate(enrolled)]
    files = [tmp_path / "probes.npz", tmp_path / "gallery.npz"]
    np.savez(files[0], X=X, y=y.astype(str), gender=group)
    np.savez(files[1], X=X_gallery, y=renamed, gender=of_gallery)
    command = ["identify", str(files[0]), "--gallery", str(files[1]), "--quiet"]
    command += ["--attribute", "gender", "--fpir", "0.1"]
    if write(1) != "x1y":
        assert cli.main(command) == 2
        assert "contain 50 labels that differ" in capsys.readouterr().err
        return
    mated = np.isin(y.astype(str), renamed)
    by_whom = [np.unique(y[kind]).size for kind in (mated, ~mated)]
    for options in ([], ["--full"]):
        assert cli.main([*command, *options]) == 0
        text = " ".join(capsys.readouterr().out.split())
        first = f"{mated.sum()} mated searches, by {by_whom[0]} of the 150 people enrolled. "
        first += (
            f"{(~mated).sum()} non-mated searches, by {by_whom[1]} people not enrolled."
        )
        assert first in text.partition("Does not show")[0]


def test_the_people_that_a_limit_needs_grow_with_their_searches():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(60), 8)
    X, enrolled = rng.normal(size=(y.size, 64)), rng.normal(size=(20, 64))
    gallery = {"X_gallery": enrolled, "y_gallery": np.arange(20) + 100}
    report = identify(
        *(X, y, y % 2),
        threshold=0.6,
        limits={"max_fpir": 1e-4},
        non_mated_only=True,
        **gallery,
    )
    (check,) = report.checks
    # Without an alarm, at best by 3.7 / p searches that err independently.
    for _, more in check.people_needed:
        assert 8 * (30 + more) > -np.log(0.025) / 1e-4


def test_a_probe_that_is_enrolled_by_another_image_alone_can_be_audited_by_rank():
    assert found(rank=3).audits[0].settings["gallery"]["rank"] == 3
    first, third = (found(rank=rank).audits[0].levels[0].rates[0] for rank in (1, 3))
    assert first.frr.value >= third.frr.value and first.far == third.far


def write(folder, groups_of_gallery=True):
    for name, (X, y, group) in zip(("probes", "gallery"), searches(), strict=True):
        columns = {"embedding": X, "identity": y}
        if name == "probes" or groups_of_gallery:
            columns["gender"] = group
        np.savez(folder / f"{name}.npz", **columns)
    return [str(folder / "probes.npz"), "--gallery", str(folder / "gallery.npz")]


def test_the_command_writes_what_was_found(tmp_path, capsys):
    files = write(tmp_path)
    out = tmp_path / "out"
    asked = ["--attribute", "gender", "--fpir", "0.2", "--quiet"]
    status = cli.main(
        [
            "identify",
            *files,
            *asked,
            "--max-fpir",
            "0.9",
            "--rank",
            "2",
            "--out",
            str(out),
        ]
    )
    assert status == 0
    assert "Audit of identification errors by gender" in capsys.readouterr().out
    names = {path.name for path in out.rglob("*") if path.is_file()}
    assert {"report.html", "audit.json", "rates.csv", "rates-gender-1.svg"} <= names
    assert cli.main(["identify", *files, *asked, "--max-fpir", "0.05"]) == 1
    assert cli.main(["identify", *files, *asked, "--max-fpir", "1.5"]) == 2
    assert "--max-fpir must be a number" in capsys.readouterr().err


def test_a_gallery_without_groups_is_searched(tmp_path, capsys):
    files = write(tmp_path, groups_of_gallery=False)
    asked = ["--attribute", "gender", "--fpir", "0.2", "--quiet"]
    assert cli.main(["identify", *files, *asked, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    names = ["probes.npz", "gallery.npz (gallery)"]
    assert list(told["audits"][0]["settings"]["sha256"]) == names
    alarms = told["audits"][0]["settings"]["gallery"]["alarms"][0]
    assert alarms and all(row["group"] is None for row in alarms)


def test_groups_of_a_gallery_in_two_spellings_are_no_missing_groups(tmp_path, capsys):
    """A gallery without groups is searched, and one whose groups cannot be read is not."""
    files = write(tmp_path)
    gallery = tmp_path / "gallery.npz"
    arrays = dict(np.load(gallery))
    arrays["gender"] = np.where(
        np.arange(len(arrays["gender"])) % 2, arrays["gender"], "Female"
    )
    np.savez(gallery, **arrays)
    asked = ["--attribute", "gender", "--fpir", "0.2", "--quiet"]
    assert cli.main(["identify", *files, *asked]) == 2
    assert "two spellings" in capsys.readouterr().err


# ---- two systems -----------------------------------------------------------------------


def systems(names=None):
    """Probes and galleries of a system, and of one with noise on women."""
    rng, parts = np.random.default_rng(0), []
    for X, y, group in searches():
        noise = 0.3 * rng.normal(size=X.shape) * (group == "female")[:, None]
        for rows in (X, X + noise):
            parts.append(EmbeddingData(rows, y, {"gender": group}, names=names))
    return parts[:2], parts[2:]


@cache
def compared():
    probes, galleries = systems()
    asked = {"fpir": [0.2, 0.1], "rank": 2}
    return compare_searches(*probes, galleries=galleries, **asked)


def test_changes_of_two_systems_are_those_of_the_class():
    probes, galleries = systems()
    fits = [
        IdentificationROC(rank=2, n_resamples=20, random_state=0).fit(
            *(one.X, one.y, one.columns["gender"]),
            X_gallery=of.X,
            y_gallery=of.y,
            sensitive_features_gallery=of.columns["gender"],
        )
        for one, of in zip(probes, galleries, strict=True)
    ]
    found, n_groups = compared(), 0
    for change in found.changes:
        name = {"far": "fpir", "frr": "fnir"}[change.rate]
        own = fits[1].compare(fits[0], change.far, rate=name, group=change.group)
        columns = ("difference", "low", "high", "ratio", "p_value")
        told = [getattr(change, column) for column in columns]
        assert told == [getattr(own, column) for column in columns]
        n_groups += change.group is not None
    assert n_groups == 8 and {c.group for c in found.harm} >= {"female"}
    for one, roc in zip(found.measured, fits, strict=True):
        for level in one.levels:
            matrix = roc.fpir_matrix(threshold=level.threshold).fpir
            assert np.array_equal(level.matrix.far, matrix)


@pytest.mark.parametrize("form", ["to_text", "to_html", "to_junit"])
def test_texts_of_a_comparison_speak_of_searches(form):
    text = getattr(compared(), form)()
    assert "FPIR" in text and "FNIR" in text
    for word in ("FNMR", "impostor", "genuine", "non-match", "verification", " pairs"):
        assert word not in text
    assert form != "to_html" or "taken as given" in text


def test_json_and_changes_of_a_comparison_have_a_schema(tmp_path):
    found = compared()
    schema = SystemsComparison.schema("identification")
    told = json.loads(found.to_json())
    Draft202012Validator(schema).validate(told)
    assert {change["rate"] for change in told["changes"]} == {"fpir", "fnir"}
    assert told["settings"]["gallery"]["rank"] == 2
    found.save(tmp_path / "out")
    header, row = (tmp_path / "out" / "changes.csv").read_text().splitlines()[:2]
    assert "fpir" in header and ",fnir," in row


def test_galleries_of_other_images_are_refused():
    probes, galleries = systems()
    with pytest.raises(ValueError, match="galleries are 1, and the systems are 2"):
        compare_searches(*probes, galleries=galleries[:1])
    other = [galleries[0], galleries[1].take(np.arange(9))]
    with pytest.raises(ValueError, match="galleries are not of the same people"):
        compare_searches(*probes, galleries=other)
    with pytest.raises(ValueError, match="fpir must lie in"):
        compare_searches(*probes, galleries=galleries, fpir=2.0)


def test_the_command_compares_searches(tmp_path, capsys):
    files = write(tmp_path)
    noisy = np.load(tmp_path / "probes.npz")
    shift = np.random.default_rng(0).normal(0, 0.3, noisy["embedding"].shape)
    shifted = {**noisy, "embedding": noisy["embedding"] + shift}
    np.savez(tmp_path / "after.npz", **shifted)
    both = [files[0], str(tmp_path / "after.npz")]
    asked = ["--attribute", "gender", "--quiet"]
    run = ["compare", *both, *asked]
    gallery = ["--gallery", files[2]] * 2
    for own in (gallery, gallery[:2]):
        assert cli.main([*run, *own, "--fpir", "0.2", "--fail-on-harm"]) == 1
        assert "Comparison of identification systems" in capsys.readouterr().out
    for wrong, words in (
        ([*gallery, "--fmr", "0.1"], "--fmr is about comparisons"),
        (["--fpir", "0.1"], "--fpir is about searches. Use --gallery too"),
        (gallery[:2] * 3, "--gallery was given 3 times"),
    ):
        assert cli.main([*run, *wrong]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        (
            [3, 3, 2, 2, *[1] * 90],
            "The data do not show that any person is returned more often",
        ),
        ([40, 3, 2], "1 person is returned to more people than chance explains: re-"),
        ([40, 30, 2], "2 people are returned to more people than chance explains: re-"),
    ],
)
def test_to_enrol_anew_is_advised_if_few_are_returned_to_many(counts, told):
    found = alarms_of(np.repeat(np.arange(len(counts)), counts), np.arange(sum(counts)))
    rows = [{"p_value": p} for p in found.p_value.tolist()]
    assert _of_many(rows).startswith(told)


@pytest.mark.parametrize("most", [2, 40])
def test_a_list_of_people_that_chance_explains_is_folded(most):
    counts = [most, 2, *[1] * 90]
    found = alarms_of(np.repeat(np.arange(len(counts)), counts), np.arange(sum(counts)))
    columns = (
        found.identity,
        found.n_alarms,
        found.n_searchers,
        found.p_value,
        found.share,
    )
    names = ("identity", "n_alarms", "n_searchers", "p_value", "share")
    alarms = [
        dict(zip(names, row, strict=True), group=None)
        for row in zip(*(c[:10].tolist() for c in columns), strict=True)
    ]
    level = SimpleNamespace(far=0.01, threshold=0.5, set_on="these data")
    audit = SimpleNamespace(
        levels=[level],
        attribute="",
        settings={"gallery": {"alarms": [alarms]}},
    )
    _, shown = who_alarms(SimpleNamespace(audits=[audit])).parts
    assert isinstance(shown, Table) == (most == 40)
    table = shown if most == 40 else shown.parts[0]
    assert most == 40 or shown.folded
    n = sum(counts[:10])
    assert f"{n} of {sum(counts)} alarms return these 10." in table.caption


def alarms_of(returned, searcher, n_enrolled=100):
    """GalleryAlarms of searches that each return one enrolled person."""
    scores = np.zeros((returned.size + 1, n_enrolled))
    scores[np.arange(returned.size), returned] = 1.0
    y = np.append(searcher + 1000, 0)
    search = IdentificationROC(n_resamples=1)
    search.fit_matrix(scores, y, y_gallery=np.arange(n_enrolled))
    return search.alarms(threshold=0.5)


def test_who_searches_often_makes_nobody_look_returned_to_many():
    """Of people who search twenty times each and always get the same person."""
    rng = np.random.default_rng(0)
    returned = np.repeat(rng.integers(0, 100, 30), 20)
    found = alarms_of(returned, np.repeat(np.arange(30), 20))
    assert found.n_alarms.max() >= 20 and found.p_value.min() > 0.05
    assert found.n_searchers.tolist() == (found.n_alarms // 20).tolist()
    assert found.n_alarms.tolist() == sorted(found.n_alarms.tolist(), reverse=True)


def test_chance_rarely_returns_somebody_to_many():
    rng = np.random.default_rng(0)
    least = [
        alarms_of(rng.integers(0, 100, 100), np.arange(100)).p_value.min()
        for _ in range(200)
    ]
    assert (np.array(least) < 0.05).mean() <= 0.05


@pytest.mark.parametrize("longest", [None, 1, 5])
@pytest.mark.parametrize("noise", [0.3, 1e4])
def test_searches_no_better_than_chance_leave_no_verdict(longest, noise):
    rng = np.random.default_rng(1)
    centre, y = rng.normal(size=(300, 16)), np.arange(300)
    probes = centre + noise * rng.normal(size=centre.shape)
    scores = (probes @ centre[:150].T).round(6)
    candidates = scores
    if longest:
        best = np.argsort(-scores, axis=1)[:, :longest]
        search = np.repeat(y, longest)
        columns = search, best.ravel(), scores[search, best.ravel()]
        candidates = dict(zip(("search", "candidate", "score"), columns, strict=True))
    report = identify(
        *(None, y, y % 2),
        y_gallery=y[:150],
        candidates=candidates,
        searches=y,
        fpir=0.3,
        limits={"max_fpir": 0.6},
    )
    useless = noise > 1
    assert (report.exit_code == 3) == useless
    told = "mates are found no more often than by chance"
    assert (told in " ".join(report.to_text().split())) == useless


def test_a_gallery_of_other_groups_than_the_probes_is_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 8)), np.arange(120) % 40
    group = np.array([*"fm"])[y % 2]
    probes = EmbeddingData(X[40:], y[40:], {"gender": group[40:]})
    gallery = EmbeddingData(X[:30], y[:30], {"gender": group[:30]})
    identify_data(probes, gallery=gallery, fpir=0.2)
    other = {"gender": np.where(group[:30] == "f", "m", "f")}
    with pytest.raises(
        ValueError, match="another 'gender' than the probes for 30 of 30"
    ):
        identify_data(probes, gallery=EmbeddingData(X[:30], y[:30], other), fpir=0.2)


def test_people_of_searches_are_counted_by_whether_they_are_enrolled():
    """Of a: 3 enrolled and 1 not, of b: 1 and 2. One of unknown group is not enrolled."""
    person = np.array([0, 0, 1, 2, 3, 4, 4, 5, 6, 7])
    group = np.array([*"aaaaabbbb", None], dtype=object)
    rng = np.random.default_rng(0)
    data = EmbeddingData(rng.normal(size=(10, 4)), person, {"g": group})
    enrolled = np.array([0, 1, 2, 4])
    gallery = EmbeddingData(
        rng.normal(size=(4, 4)), enrolled, {"g": np.array([*"aaab"])}
    )
    report = identify_data(data, gallery=gallery, threshold=0.5)
    (audit,) = report.audits
    found = {row.group: (row.n_identities, row.n_mated) for row in audit.groups}
    assert found == {None: (8, 4), "a": (4, 3), "b": (3, 1)}
    assert "4 (3 enrolled, 1 not)" in " ".join(report.to_text().split())
    assert "n_mated" not in report.to_json()
