"""What ``certify_data`` and the command ``skfairfr threshold`` say of a certificate."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr._text._words import NONE, percent
from skfairfr.metrics import IdentificationROC
from skfairfr.report import Certificate, EmbeddingData, audit_data, certify_data
from tests.report.audits import scored_pairs, synthetic
from tests.report.json_schema import is_valid
from tests.test_cli import assert_one_line, faces, pairs, run  # noqa: F401


@pytest.fixture(scope="module")
def data():
    X, y, groups = synthetic(150)
    return EmbeddingData(X, y, {"gender": groups})


def test_it_is_that_of_the_roc(data):
    found = certify_data(data, limits={"max_fmr": 0.05, "max_fnmr": 0.6}).found
    roc = SimilarityROC().fit(data.X, data.y, data.columns["gender"])
    expected = roc.certify(0.05, frr=0.6)
    assert found.threshold == expected.threshold
    assert found.threshold_high == expected.threshold_high
    assert found.supported


@pytest.mark.parametrize("limit", [0.05, 0.02, 0.01])
def test_an_audit_passes_the_limit_there_and_not_at_a_looser_threshold(data, limit):
    limits = {"max_fmr": limit}
    threshold = certify_data(data, limits=limits).found.threshold
    roc = SimilarityROC().fit(data.X, data.y, data.columns["gender"])
    scores = np.concatenate(
        [roc._engine.pairs.impostors((g, g)).scores for g in (0, 1)]
    )
    looser = float(scores[scores < threshold].max())
    for at, verdict in ((threshold, "passed"), (looser, "undetermined")):
        report = audit_data(data, threshold=at, limits=limits)
        assert [check.verdict for check in report.checks] == [verdict]


@pytest.mark.parametrize(
    ("limits", "verdict", "code", "words"),
    [
        ({"max_fmr": 0.05}, "passed", 0, "every group has an FMR at or below 5 %"),
        ({"max_fmr": 0.05, "max_fnmr": 0.6}, "passed", 0, "At any threshold up to"),
        ({"max_fmr": 0.01, "max_fnmr": 0.01}, "failed", 1, "No threshold meets both"),
        ({"max_fmr": 0.05, "max_fnmr": 0.3}, "undetermined", 3, "do not show whether"),
        (
            {"max_fmr": 1e-6},
            "undetermined",
            3,
            "more people of each of them are needed",
        ),
    ],
)
def test_verdicts(data, limits, verdict, code, words):
    found = certify_data(data, limits=limits)
    assert (found.verdict, found.exit_code) == (verdict, code)
    assert words in " ".join(found.to_text().split())
    assert is_valid(json.loads(found.to_json(version="1", source="x")), found.schema())


def test_an_audit_of_the_printed_threshold_accepts_the_same_pairs(data):
    found = certify_data(data, limits={"max_fmr": 0.05})
    printed = float(re.search(r"from similarity (\S+) on", found.to_text())[1])
    level = audit_data(data, threshold=printed).audits[0].levels[0]
    assert [row.far.value for row in level.rates[1:]] == found.found.far.tolist()
    assert [row.frr.low for row in level.rates[1:]] == found.found.frr_low.tolist()


@pytest.mark.parametrize(("most", "result"), [(0.6, "met"), (0.3, "undetermined")])
def test_the_first_screen_has_the_limits_and_both_rates(data, most, result):
    limits = {"max_fmr": 0.05, "max_fnmr": most}
    certificate = certify_data(data, limits=limits)
    verdict, table, figure, last = certificate._document().sections[0].parts
    assert verdict.label.endswith(". 2 limits") and last.startswith("Does not show")
    found, results = certificate.found, []
    columns = (found.far, found.far_high), (found.frr, found.frr_high)
    for row, (values, bounds) in zip(table.rows, columns, strict=True):
        _, group, value, bound, told = (cell.text for cell in row.cells)
        place = list(found.groups).index(group)
        assert bounds[place] == max(bounds)
        assert (value, bound) == (
            percent(values[place]),
            f"up to {percent(bounds[place])}",
        )
        results.append(told)
    assert results == ["met", result]
    assert len(figure.draw()) == 2


def test_an_exceeded_limit_has_the_bound_that_decides(data):
    certificate = certify_data(data, limits={"max_fmr": 0.01, "max_fnmr": 0.01})
    assert certificate.verdict == "failed"
    *_, row = certificate._document().sections[0].parts[1].rows
    least = certificate.found.frr_least
    assert row.cells[1].text == certificate.found.groups[least.argmax()]
    # No rate at one threshold stands beside a bound at any.
    assert row.cells[2].text == NONE
    assert "more people" not in certificate.to_text()
    assert [cell.text for cell in row.cells[-2:]] == [
        f"at least {percent(least.max())} where the FMR may meet its limit",
        "exceeded",
    ]


@pytest.mark.parametrize(
    ("limits", "headline", "results"),
    [
        (
            {"max_fmr": 0.05, "max_fnmr": 0.6},
            "At its own threshold each group has an FMR at or below 5 % and an FNMR at or "
            "below 60 % (95 % confidence, each limit, all groups at once).",
            ["met", "met"],
        ),
        (
            {"max_fmr": 0.05, "max_fnmr": 0.3},
            "The data do not show whether a threshold meets both limits for ",
            ["met", "undetermined"],
        ),
        (
            {"max_fmr": 0.01, "max_fnmr": 0.01},
            "No threshold meets both limits for female and male: at every one",
            ["met", "exceeded"],
        ),
    ],
)
def test_own_thresholds_have_a_table_of_limits(data, limits, headline, results):
    certificate = certify_data(data, limits=limits, own=True)
    found, words = certificate.found, " ".join(certificate.to_text().split())
    assert headline in words and "Not every group has" not in words
    assert [row.cells[-1].text for row in certificate._limits().rows] == results
    page = certificate.to_html(date="2026-01-01")
    # Both bounds have the level that all groups share.
    assert "FNMR 97.5 % CI" in words.replace("  ", " ")
    for low, high in zip(found.threshold, found.threshold_high, strict=True):
        ends = certificate._point(low), certificate._point(high)
        assert ("{} up to {}".format(*ends) in page) == (low <= high)
        none = "none: FMR needs {}, FNMR allows {}".format(*ends)
        assert (none in page) == (low > high)
    without = [
        row.cells[1:]
        for row in certificate._table().rows
        if "none" in row.cells[0].text
    ]
    assert len(without) == (found.threshold > found.threshold_high).sum()
    assert {cell.text for cells in without for cell in cells} <= {NONE}
    assert ("At these thresholds" in words) == (len(without) < len(found.groups))
    assert "Every group at its own threshold" in words and "group there" not in words


def test_open_limits_name_the_people_that_decide(data):
    found = certify_data(data, limits={"max_fmr": 0.05, "max_fnmr": 0.3})
    assert found.verdict == "undetermined"
    words = " ".join(found.to_text().split())
    assert "For certain" not in words
    assert "The thresholds at which an FMR of 5 % is certain" in words
    assert re.search(r"About [\d,]+ more people, of all groups in proportion,", words)


def test_scores_of_noise_have_the_cost_in_the_headline():
    rng = np.random.default_rng(0)
    listed = scored_pairs(rng, {"a": 60, "b": 60}, {"a": 0.5, "b": 0.5})
    noise = replace(listed, y_score=rng.normal(size=len(listed.y_score)))
    certificate = certify_data(noise, limits={"max_fmr": 0.2})
    assert certificate.settings["withheld"] == "uninformative_scores"
    headline = certificate._result_section().headline
    most = percent(certificate.found.frr.max())
    assert "the highest FNMR is that of" in headline and most in headline
    assert {row.cells[-1].text for row in certificate._limits().rows} == {
        "undetermined"
    }


def test_distances_are_printed_as_they_were_given(data):
    rng = np.random.default_rng(0)
    listed = scored_pairs(rng, {"a": 30, "b": 30}, {"a": 0.2, "b": 0})
    similar = certify_data(listed, limits={"max_fmr": 0.2, "max_fnmr": 0.9})
    found = replace(similar, settings=similar.settings | {"distance": True})
    words = " ".join(found.to_text().split())
    assert f"accepted up to distance {-found.found.threshold:g}" in words
    form = json.loads(found.to_json())
    assert form["threshold"] == -found.found.threshold
    assert form["threshold_high"] == -found.found.threshold_high


def test_a_policy_sets_the_limits(data, tmp_path):
    path = tmp_path / "door.toml"
    path.write_text(
        'name = "door"\nconfidence_level = 0.9\n'
        "[limits]\nmax_fmr = 0.05\nmax_fmr_ratio = 2.0\n"
    )
    found = certify_data(data, policy=path)
    assert found.limits == {"max_fmr": 0.05}
    assert found.settings["confidence_level"] == 0.9
    assert found.notes[-1].startswith("Not certified: max_fmr_ratio")
    with pytest.raises(ValueError, match="max_fmr was given, and the policy 'door'"):
        certify_data(data, policy=path, limits={"max_fmr": 0.1})
    path.write_text('name = "door"\nlimits = { max_fnmr = 0.1 }\n')
    with pytest.raises(ValueError, match="max_fmr is not given by the policy 'door'"):
        certify_data(data, policy=path)


def test_nothing_is_concluded_from_scores_that_look_like_distances(data):
    rng = np.random.default_rng(0)
    listed = scored_pairs(rng, {"a": 30, "b": 30}, {"a": 0.2, "b": 0})
    listed = replace(listed, y_score=-listed.y_score)
    found = certify_data(listed, limits={"max_fmr": 0.2})
    assert (found.verdict, found.exit_code) == ("undetermined", 3)
    assert "Nothing is concluded" in found.to_text()


@pytest.fixture(scope="module")
def searches():
    X, y, groups = synthetic(150)
    _, first = np.unique(y, return_index=True)
    enrolled = np.isin(np.arange(len(y)), first[::2])
    return [
        EmbeddingData(X[rows], y[rows], {"gender": groups[rows]})
        for rows in (~enrolled, enrolled)
    ]


def test_searches_are_certified_in_their_own_words(searches, tmp_path):
    probes, gallery = searches
    limits = {"max_fpir": 0.5, "max_fnir": 0.9}
    found = certify_data(probes, gallery=gallery, limits=limits)
    roc = IdentificationROC().fit(
        *(probes.X, probes.y, probes.columns["gender"]),
        X_gallery=gallery.X,
        y_gallery=gallery.y,
    )
    expected = roc.certify(0.5, fnir=0.9)
    assert (found.found.threshold, found.verdict) == (expected.threshold, "passed")
    form = json.loads(found.to_json())
    assert form["fpir"] == expected.far.tolist() and form["limits"] == limits
    assert is_valid(form, found.schema("identification"))
    said = found.to_text() + found.to_html()
    assert "FPIR" in said and not re.search("FMR|FNMR|impostor|genuine|pairs", said)
    path = tmp_path / "door.toml"
    path.write_text(
        'name = "door"\n[search.limits]\nmax_fpir = 1e-4\nmax_fpir_ratio = 2.0\n'
    )
    found = certify_data(probes, gallery=gallery, policy=path)
    assert found.verdict == "undetermined" and "an FPIR of" in found.found.reason
    assert found.notes[-1].startswith("Not certified: max_fpir_ratio")
    with pytest.raises(ValueError, match="max_fpir is not given"):
        certify_data(probes, gallery=gallery)
    with pytest.raises(ValueError, match="unknown key 'max_fmr'"):
        certify_data(probes, gallery=gallery, limits={"max_fmr": 0.1})


def test_the_command_certifies_searches(capsys, searches, tmp_path):
    files = [tmp_path / name for name in ("probes.npz", "gallery.npz")]
    for path, data in zip(files, searches, strict=True):
        of = {"embedding": data.X, "identity": data.y, **data.columns}
        np.savez(path, **of)
    asked = ("threshold", files[0], "--gallery", files[1], "--attribute", "gender")
    asked = (*asked, "--quiet", "--max-fpir", 0.5)
    code, text, err = run(capsys, *asked)
    probes, gallery = searches
    found = certify_data(probes, gallery=gallery, limits={"max_fpir": 0.5})
    assert (code, err) == (0, "") and f"{found.found.threshold:g}" in text
    assert "gallery.npz" in text
    code, _, err = run(capsys, "threshold", files[0], *asked[4:])
    assert_one_line(code, "", err, "threshold")
    assert "--max-fpir is about searches. Use --gallery too" in err
    for more, problem in (
        (("--gallery", files[1], "--domain", "kind"), "--domain is about comparisons"),
        (("--rank", 2), "Use --gallery"),
        (("--gallery", files[1], "--max-fmr", 0.5), "--max-fmr is about comparisons"),
        (("--gallery", files[1], "--gallery-labels", "no.csv"), "--gallery-labels"),
        (("--gallery", tmp_path / "no.npz"), "--gallery"),
    ):
        code, _, err = run(capsys, "threshold", files[0], *asked[4:], *more)
        assert_one_line(code, "", err, "threshold")
        assert problem in err


def test_the_command_writes_what_it_prints(capsys, faces, tmp_path):  # noqa: F811
    out = tmp_path / "out"
    asked = (
        "threshold",
        faces,
        "--attribute",
        "gender",
        "--max-fmr",
        0.3,
        "--quiet",
        "--full",
    )
    code, text, err = run(capsys, *asked, "--out", out)
    assert err == "" and code in (0, 3)
    names = ["report.html", "threshold.json", "threshold.txt"]
    assert sorted(p.name for p in out.iterdir()) == names
    assert text.startswith((out / "threshold.txt").read_text())
    form = json.loads((out / "threshold.json").read_text())
    assert is_valid(form, Certificate.schema())
    code, printed, _ = run(capsys, *asked, "--format", "json")
    assert json.loads(printed)["threshold"] == form["threshold"]
    code, _, err = run(capsys, *asked, "--out", out)
    assert code == 2 and "--replace" in err


def test_the_command_names_its_flags(capsys, faces, pairs):  # noqa: F811
    asked = ("threshold", faces, "--attribute", "gender")
    code, _, err = run(capsys, *asked)
    assert code == 2
    assert "--max-fmr is not given;" in err
    assert_one_line(code, "", err, "threshold")
    asked = ("threshold", pairs, "--attribute", "gender", "--distance", "--quiet")
    code, _text, _ = run(capsys, *asked, "--max-fmr", 0.4)
    assert code in (0, 3)
