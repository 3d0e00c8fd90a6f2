"""Audits of candidate lists and score matrices: the same report as that of the embeddings."""

import csv
import json
import re
from functools import cache

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from skfairfr import cli, make_face_embeddings
from skfairfr.report import (
    EmbeddingData,
    Report,
    certify_data,
    compare_searches,
    identify,
    identify_data,
    read_candidates,
)
from skfairfr.report._identification import candidates_of
from tests.metrics.test_candidates import listed, matrix_of


@cache
def searches():
    """Probes and gallery as arrays, of people with names, and their scores."""
    data = make_face_embeddings(
        200, images_per_identity=2, n_features=16, random_state=0
    )
    _, first = np.unique(data.y, return_index=True)
    gallery = first[::2]
    probes = np.setdiff1d(np.arange(len(data.y)), gallery)
    names = np.array([f"p{k:03}" for k in range(len(data.y))])
    parts = [
        (data.X[rows], names[data.y[rows]], data.sensitive_features[rows])
        for rows in (probes, gallery)
    ]
    return (*parts, matrix_of(parts))


def arrays(**more):
    (X, y, group), (X_gallery, y_gallery, of_gallery), scores = searches()
    search, candidate, score = listed(scores, y_gallery, 10)
    lists = {"search": search, "candidate": candidate, "score": score}
    asked = {"fpir": 0.2, "attribute": "gender", "limits": {"max_fpir_ratio": 1.2}}
    gallery = {"y_gallery": y_gallery, "sensitive_features_gallery": of_gallery}
    options = asked | gallery | more
    embedded = identify(X, y, group, X_gallery=X_gallery, **options)
    return embedded, scores, lists, (y, group, options)


@pytest.mark.parametrize("n", [2, 10])
def test_curves_of_searches_go_as_far_as_candidates_are_known(n):
    (_, y, group), (_, y_gallery, of_gallery), scores = searches()
    search, candidate, score = listed(scores, y_gallery, n)
    lists = {"search": search, "candidate": candidate, "score": score}
    known = {"y_gallery": y_gallery, "sensitive_features_gallery": of_gallery}
    found = identify(
        None, y, group, candidates=lists, fpir=0.01, attribute="gender", **known
    )
    far = found.audits[0].curves.far[0]
    assert far.size > 3 and far.max() > 0.05


def test_reports_of_lists_and_matrices_are_those_of_the_embeddings():
    embedded, scores, lists, (y, group, options) = arrays()
    for candidates in (scores, lists):
        found = identify(None, y, group, candidates=candidates, **options)
        (audit,), (other,) = found.audits, embedded.audits
        (told,), (known,) = (
            json.loads(one.to_json())["audits"] for one in (found, embedded)
        )
        for part in ("levels", "groups", "findings", "checks", "curves"):
            assert told.get(part) == known.get(part)
        assert audit.levels[0].rates == other.levels[0].rates
        own = audit.settings["gallery"].pop("candidates")
        assert audit.settings["gallery"] == other.settings["gallery"]
        assert own["searches"] == len(y) and own["known_from"] is None
    assert own["longest"] == 10 and own["empty"] == 0
    with pytest.raises(ValueError, match="candidates were given, and embeddings"):
        identify(scores, y, group, candidates=lists, **options)
    with pytest.raises(ValueError, match="frame or a dict of search, candidate and sc"):
        identify(None, y, group, candidates={"search": [1]}, **options)


def test_certificates_of_lists_are_those_of_the_embeddings():
    (X, y, group), (X_gallery, y_gallery, of_gallery), scores = searches()
    columns, limits = {"gender": group}, {"max_fpir": 0.3}
    gallery = EmbeddingData(X_gallery, y_gallery, {"gender": of_gallery})
    rows = EmbeddingData(
        np.arange(len(y_gallery))[:, None], *(y_gallery, gallery.columns)
    )
    embedded = certify_data(
        EmbeddingData(X, y, columns), gallery=gallery, limits=limits
    )
    search, candidate, score = listed(scores, y_gallery, 5)
    data = candidates_of(y, columns, (search, candidate, score))
    found = certify_data(data, gallery=rows, limits=limits)
    assert found.found.threshold == embedded.found.threshold
    assert "up to 5 candidates each" in found.to_text()


def test_two_systems_of_lists_are_compared_by_the_names_of_searches():
    (_, y, group), (_, y_gallery, _), scores = searches()
    gallery = EmbeddingData(np.arange(len(y_gallery))[:, None], y_gallery)
    other = scores + np.random.default_rng(0).normal(0, 0.2, scores.shape).astype("f4")
    lists = [
        candidates_of(y, {"gender": group}, listed(of, y_gallery, 8))
        for of in (scores, other)
    ]
    found = compare_searches(*lists, galleries=[gallery] * 2, fpir=0.2)
    assert found.harm
    with pytest.raises(ValueError, match="the same file, or have equal scores"):
        compare_searches(lists[0], lists[0], galleries=[gallery] * 2, fpir=0.2)


def test_lists_that_end_before_the_equal_error_rate_are_audited(capsys):
    (_, y, group), (_, y_gallery, _), scores = searches()
    cut = float(np.quantile(scores[~np.isin(y, y_gallery)].max(axis=1), 0.97))
    search, candidate, score = listed(scores, y_gallery, floor=cut)
    data = candidates_of(y, {"gender": group}, (search, candidate, score))
    gallery = EmbeddingData(np.arange(len(y_gallery))[:, None], y_gallery)
    report = identify_data(data, gallery=gallery, fpir=0.02)
    rate = report.audits[0].groups[0].equal_error_rate
    assert np.isnan(rate.value)
    text = " ".join(report.to_text().split())
    assert "not known (-) if lists of candidates end before" in text
    assert "lists are empty" in text and "Not known: rates of smaller" in text
    Draft202012Validator(Report.schema("identification")).validate(
        json.loads(report.to_json())
    )
    for asked in ({"fpir": 0.5}, {"threshold": cut - 0.1}):
        with pytest.raises(ValueError, match=r"suffice from similarity .* \(FPIR"):
            identify_data(data, gallery=gallery, **asked)


# ---- files and the command -----------------------------------------------------------


def save(folder, name, rows):
    with open(folder / name, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def write(folder, most=8, sign=1, floor=-np.inf):
    (_, y, group), (_, y_gallery, of_gallery), scores = searches()
    names = [f"s{k}" for k in range(len(y))]
    save(
        folder,
        "probes.csv",
        [("probe", "identity", "gender"), *zip(names, y, group, strict=True)],
    )
    save(
        folder,
        "gallery.csv",
        [("identity", "gender"), *zip(y_gallery, of_gallery, strict=True)],
    )
    search, candidate, score = listed(scores, y_gallery, most, floor)
    rows = zip(
        [names[k] for k in search], candidate, (sign * score).tolist(), strict=True
    )
    save(folder, "lists.csv", [("probe", "candidate", "score"), *rows])
    np.save(folder / "S.npy", scores)


def command(folder, *options, lists="lists.csv"):
    files = [str(folder / name) for name in ("probes.csv", "gallery.csv", lists)]
    asked = ["--attribute", "gender", "--quiet", *map(str, options)]
    return [
        "identify",
        files[0],
        "--gallery",
        files[1],
        "--candidates",
        files[2],
        *asked,
    ]


def levels(text):
    (audit,) = json.loads(text)["audits"]
    return audit["levels"]


def test_the_command_reads_lists_matrices_and_distances(tmp_path, capsys):
    write(tmp_path)
    asked = ("--fpir", 0.2, "--format", "json")
    assert cli.main(command(tmp_path, *asked)) == 0
    lists = levels(capsys.readouterr().out)
    assert cli.main(command(tmp_path, *asked, lists="S.npy")) == 0
    assert levels(capsys.readouterr().out) == lists
    write(tmp_path, sign=-1)
    assert cli.main(command(tmp_path, *asked, "--distance")) == 0
    turned = levels(capsys.readouterr().out)
    assert turned[0]["rates"] == lists[0]["rates"]
    assert cli.main(command(tmp_path, "--fpir", 0.2, "--out", tmp_path / "out")) == 0
    text = capsys.readouterr().out
    assert "Candidate lists of 300 searches, up to 8 candidates each: with this" in text
    assert (tmp_path / "out" / "report.html").exists()


def test_floors_are_shown_on_the_scale_of_the_file(tmp_path, capsys):
    write(tmp_path, most=None, sign=-1, floor=0.6)
    assert cli.main(command(tmp_path, "--distance", "--threshold", -0.2)) == 2
    assert "suffice up to distance -0.6" in capsys.readouterr().err
    assert cli.main(command(tmp_path, "--distance", "--fpir", 0.1)) == 0
    assert "known up to distance -0.6" in " ".join(capsys.readouterr().out.split())
    floor = ("--distance", "--listed-from", -0.5)
    assert cli.main(command(tmp_path, *floor, "--threshold", -0.5)) == 0


def test_searches_are_named_by_people_who_search_once(tmp_path):
    save(tmp_path, "probes.csv", ["identity,half".split(","), "ab", "cd", "xd"])
    save(tmp_path, "gallery.csv", [["identity"], "a", "c"])
    save(tmp_path, "lists.csv", [("probe", "candidate", "score"), ("a", "a", 1)])
    paths = {n: tmp_path / f"{n}.csv" for n in ("gallery", "lists")}
    given = {"gallery": paths["gallery"], "candidates": paths["lists"]}
    data, gallery = read_candidates(tmp_path / "probes.csv", "half", **given)
    assert data.searches.tolist() == ["a", "c", "x"] and gallery.columns == {}
    save(tmp_path, "probes.csv", ["identity,half".split(","), "ab", "ab", "xd"])
    with pytest.raises(ValueError, match="search was not given, people search several"):
        read_candidates(tmp_path / "probes.csv", "half", **given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rank", 2, "--threshold", 0.1), "a smaller rank"),
        (("--labels", "x.csv"), "--labels is about embeddings"),
        (("--candidate", "who"), "--candidate cannot be found"),
        (("--listed-from", 0.1), "--listed-from means .* have 8, the most of any"),
        (("--template", "mean"), "--template 'mean' is of embeddings"),
    ],
)
def test_what_does_not_fit_lists_is_an_error_of_the_command(
    options, words, tmp_path, capsys
):
    write(tmp_path, most=1 if "--rank" in options else 8)
    assert cli.main(command(tmp_path, *options)) == 2
    assert re.search(words, capsys.readouterr().err)


def test_flags_of_lists_need_lists(capsys):
    files = ["identify", "a.npz", "--gallery", "b.npz", "--attribute", "gender"]
    assert cli.main([*files, "--listed-from", "1"]) == 2
    assert "--listed-from is about --candidates" in capsys.readouterr().err


def test_the_files_of_a_vendor_are_read_as_they_are(tmp_path, capsys):
    """Searches named by their people, a column of ranks, groups in every file."""
    people = [f"q{k}" for k in range(8)]
    save(
        tmp_path,
        "probes.csv",
        [("identity", "gender"), *zip(people, "fmfmfmfm", strict=True)],
    )
    save(
        tmp_path,
        "gallery.csv",
        [("identity", "gender"), *zip(people[:4], "fmfm", strict=True)],
    )
    rows = [("probe", "rank", "candidate", "score", "gender")]
    for k, person in enumerate(people):
        others = [people[(k + step) % 4] for step in range(3)]
        rows += [
            (person, r + 1, c, 0.9 - r / 10 - k / 100, "f")
            for r, c in enumerate(others)
        ]
    save(tmp_path, "lists.csv", rows)
    assert cli.main(command(tmp_path, "--threshold", 0.85)) == 0
    assert "up to 3 candidates each" in capsys.readouterr().out
    rows[1] = ("q0", 1, "Q0", 0.9, "f")
    save(tmp_path, "lists.csv", rows)
    assert cli.main(command(tmp_path, "--threshold", 0.85)) == 2
    assert (
        "--candidate and the people enrolled have 1 label in two sp"
        in capsys.readouterr().err
    )


def test_commands_read_candidates_alike(tmp_path, capsys):
    """threshold certifies as Python does; compare names its systems by their lists."""
    write(tmp_path)
    (_, y, group), (_, y_gallery, of_gallery), scores = searches()
    of_lists = command(tmp_path, "--format", "json")[1:]
    assert cli.main(["threshold", *of_lists, "--max-fpir", "0.3"]) == 0
    found = json.loads(capsys.readouterr().out)
    gallery = EmbeddingData(
        np.arange(len(y_gallery))[:, None], y_gallery, {"gender": of_gallery}
    )
    data = candidates_of(y, {"gender": group}, scores)
    truth = certify_data(data, gallery=gallery, limits={"max_fpir": 0.3}).found
    assert found["threshold"] == pytest.approx(truth.threshold)
    noise = np.random.default_rng(0).normal(0, 0.2, scores.shape)
    noisy = tmp_path / "noisy.npy"
    np.save(noisy, scores + noise)
    both = ["compare", of_lists[0], of_lists[0], *of_lists[1:], "--fpir", "0.2"]
    assert cli.main([*both, "--candidates", str(noisy)]) == 0
    found = json.loads(capsys.readouterr().out)
    lists = [candidates_of(y, {"gender": group}, of) for of in (scores, scores + noise)]
    truth = compare_searches(*lists, galleries=[gallery] * 2, fpir=0.2)
    assert len(truth.changes) == len(found["changes"]) > 2
    for own, other in zip(found["changes"], truth.changes, strict=True):
        assert own["after"] == pytest.approx(other.after)
        assert own["before"] == pytest.approx(other.before)
    assert [name.rpartition("/")[2] for name in found["systems"]] == [
        "lists.csv",
        "noisy.npy",
    ]


@pytest.mark.parametrize("kind", ["candidates", "embeddings"])
def test_groups_of_searches_come_from_metadata(kind, tmp_path, capsys):
    """As from the files themselves, which then have none."""
    write(tmp_path)
    (X, y, group), (X_gallery, y_gallery, of_gallery), _ = searches()
    people = dict(zip([*y, *y_gallery], [*group, *of_gallery], strict=True))
    save(tmp_path, "people.csv", [("person", "gender"), *people.items()])
    asked = command(tmp_path, "--fpir", 0.2, "--format", "json")
    if kind == "embeddings":
        asked = [*asked[:4], *asked[6:]]
        for k, name, arrays in (
            (1, "X.npz", {"embedding": X, "identity": y, "gender": group}),
            (3, "G.npz", {"embedding": X_gallery, "identity": y_gallery}),
        ):
            np.savez(tmp_path / name, **arrays)
            asked[k] = str(tmp_path / name)
    assert cli.main(asked) == 0
    truth = levels(capsys.readouterr().out)
    if kind == "embeddings":
        np.savez(tmp_path / "X.npz", embedding=X, identity=y)
    else:
        for name in ("probes.csv", "gallery.csv"):
            with open(tmp_path / name) as file:
                rows = [row[:-1] for row in csv.reader(file)]
            save(tmp_path, name, rows)
    beside = ["--metadata", str(tmp_path / "people.csv"), "--on", "person"]
    assert cli.main([*asked, *beside]) == 0
    found = levels(capsys.readouterr().out)
    assert found[0]["rates"] == truth[0]["rates"]
    assert cli.main([*asked, *beside[2:]]) == 2
    assert "give it (--metadata)" in capsys.readouterr().err
