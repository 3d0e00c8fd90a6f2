"""The command: exit codes, one clear line for unusable input, a file of strict JSON."""

import itertools
import json
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import skfairfr
from skfairfr import cli
from skfairfr._core import _parallel
from skfairfr.cli import _commands
from skfairfr.cli._parser import parse
from skfairfr.report import EmbeddingData, Report, audit_data
from skfairfr.report.sections._audit_document import audit_document
from tests.report.audits import synthetic, without_rendering
from tests.report.json_schema import is_valid

QUICK = ("--fmr", "0.05")
RATES = ("--max-fmr", "--max-fnmr")


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "faces.npz"
    X, y, groups = synthetic()
    others = {
        "age": np.where(y % 2, "old", "young"),
        "lens": np.where(np.arange(len(y)) % 2, "wide", "long"),
        "one": np.full(len(y), "a"),
        "same_person": np.zeros(len(y)),
        "zero": np.zeros_like(X),
    }
    np.savez(path, embedding=X, identity=y, gender=groups, **others)
    return str(path)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Distances of all pairs of a small set."""
    path = tmp_path_factory.mktemp("cli") / "pairs.csv"
    X, y, groups = synthetic(30)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    left, right = np.triu_indices(len(y), 1)
    distance = np.linalg.norm(unit[left] - unit[right], axis=1)
    columns = [distance, y[left], y[right], groups[left], groups[right]]
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    head = "distance,identity_1,identity_2,gender_1,gender_2"
    path.write_text("\n".join([head, *rows]))
    return str(path)


def run(capsys, *arguments):
    """Exit code, standard output and standard error of the command, without progress."""
    try:
        with mock.patch.object(_parallel, "EVERY", math.inf):
            code = cli.main([str(a) for a in arguments])
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def assert_one_line(code, out, err, command="audit"):
    assert (code, out) == (2, "")
    assert err.startswith(f"skfairfr {command}: error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


def headings(text):
    """Lines of a text that are underlined."""
    lines = text.splitlines()
    pairs = itertools.pairwise(lines)
    return [line for line, under in pairs if line and under == "-" * len(line)]


def test_audit_prints_a_summary_or_all_sections_and_nothing_else(capsys, faces):
    arguments = ("audit", faces, "--attribute", "gender", *QUICK)
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert headings(out) == ["Result"]  # nothing differs significantly
    assert out.endswith("--full. A page and files: --out DIR.\n")
    code, full, err = run(capsys, *arguments, "--full")
    assert (code, err) == (0, "")
    # Those of the page, in their order.
    data = EmbeddingData(*synthetic()[:2], {"gender": synthetic()[2]})
    page = audit_document(audit_data(data, far=0.05))
    assert headings(full) == [section.title for section in page.sections]
    assert "--full." not in full


@pytest.mark.parametrize("more", [("--out",), ("--out", "--full")])
def test_a_written_report_names_its_files(capsys, faces, tmp_path, monkeypatch, more):
    without_rendering(monkeypatch)
    asked = ("--attribute", "gender", *QUICK, more[0], tmp_path, *more[1:])
    code, out, err = run(capsys, "audit", faces, *asked)
    assert (code, err) == (0, "")
    assert f"\nPage: {tmp_path / 'report.html'}\n" in out
    (others,) = re.findall(r"^Other files: (.*)$", out, re.M)
    assert all((tmp_path / name).exists() for name in others.split(", "))
    assert ("What was tested" in out) == ("--full" in more)


def reference_of(audit):
    """The groups with which an audit compares the others."""
    found = [f for level in audit["levels"] for f in level["findings"]]
    return {finding["reference"] for finding in found}


def test_groups_are_compared_with_the_references_that_are_named(capsys, faces):
    two = ("--attribute", "gender", "--attribute", "age", *QUICK, "--format", "json")
    both = ("--reference", "female", "--reference", "young")
    read = json.loads(run(capsys, "audit", faces, *two, *both)[1])
    assert [reference_of(audit) for audit in read["audits"][:2]] == [
        {"female"},
        {"young"},
    ]


def test_audit_writes_strict_json(capsys, faces, tmp_path):
    folder = tmp_path / "new" / "folder"
    arguments = ("audit", faces, "--attribute", "gender", "--out", folder, *QUICK)
    code, out, _ = run(capsys, *arguments)
    text = (folder / "audit.json").read_text()
    read = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert code == 0
    assert "audit.json" in out
    found = read["audits"][0]
    assert found["settings"]["fmr"] == [0.05]
    assert [row["group"] for row in found["groups"]] == [None, "female", "male"]
    assert found["levels"][0]["rates"][1]["fmr"].keys() >= {"value", "low", "high"}
    written = ["audit.json", "disparities.csv", "figures", "rates.csv", "report.html"]
    assert sorted(p.name for p in folder.iterdir()) == written
    assert is_valid(read, Report.schema())
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert list(folder.parent.iterdir()) == [folder]
    figures = [path.read_text() for path in (folder / "figures").iterdir()]
    assert figures and all("<svg" in figure for figure in figures)


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        pytest.param("json", "{", marks=pytest.mark.slow),
        ("html", "<!DOCTYPE html>"),
        pytest.param("card", "## Audit", marks=pytest.mark.slow),
        pytest.param("junit", "<?xml", marks=pytest.mark.slow),
    ],
)
def test_other_formats_are_printed_alone(
    capsys, faces, tmp_path, monkeypatch, name, beginning
):
    without_rendering(monkeypatch)
    arguments = ("audit", faces, "--attribute", "gender", *QUICK, "--format", name)
    code, out, err = run(capsys, *arguments, "--out", tmp_path, "--max-fnmr", "1e-9")
    assert (code, err) == (1, "")
    assert out.startswith(beginning) and "Written: " not in out
    assert (tmp_path / "report.html").exists()


OF_FACES = [
    ("--attribute beard", "contains no 'beard'"),
    ("--attribute one", "'one' has one group, 'a'"),
    ("-a gender --fmr 0.1,1.5", "--fmr: must be a number"),
    ("-a gender --seed -1", "--seed: must be an integer"),
    ("-a gender --average people", "--average"),
    ("-a gender --threshold 0.5 --fmr 0.1", "--fmr and a threshold were both given"),
    ("-a gender --threshold nan", "threshold must be finite"),
    ("-a gender --threshold-from absent.npz", "--threshold-from"),
    ("-a gender --max-fmr-ratio 1", "--max-fmr-ratio must be"),
    ("-a gender --domain identity", "domain must have two values"),
    ("-a gender --labels absent.csv", "labels 'absent.csv' does not exist"),
    ("-a gender --distance", "--distance is no option of embeddings"),
]
OF_PAIRS = [
    ("", "smaller meaning more similar: give distance"),
    ("--distance --identity-1 who", "--identity-1 cannot be found: "),
    ("--distance --domain lens", "--domain is no option of scored pairs"),
    ("--score gender_1", "must contain numbers"),
]


@pytest.mark.parametrize(
    ("words", "message"), [*OF_FACES, *((f"-a gender {w}", m) for w, m in OF_PAIRS)]
)
def test_what_cannot_be_used_is_named(capsys, faces, pairs, words, message):
    data = faces if (words, message) in OF_FACES else pairs
    found = run(capsys, "audit", data, *words.split())
    assert_one_line(*found)
    assert message in found[2]


def test_a_threshold_set_on_the_same_data_is_the_same(capsys, faces):
    arguments = ("audit", faces, "--attribute", "gender", *QUICK, "--full")
    own = run(capsys, *arguments)[1]
    code, out, err = run(capsys, *arguments, "--threshold-from", faces)
    assert (code, err) == (0, "")
    assert "FMR of 5 % on other data: accepted" in " ".join(out.split())
    threshold = own.split("FMR of 5 %: ")[-1].splitlines()[0]
    assert threshold in " ".join(out.split())


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--max-fmr-ratio", "100", "--max-bfar", "100"), 0),
        (("--max-fmr-ratio", "100", "--max-fnmr-ratio", "1.3"), 3),
        (("--max-fnmr", "0.01", "--max-fnmr-ratio", "1.3"), 1),
    ],
)
def test_checks_decide_the_exit_code(capsys, faces, options, code):
    arguments = ("audit", faces, "--attribute", "gender", *QUICK, *options)
    found = run(capsys, *arguments)
    assert found[0] == code
    assert found[2] == ""
    verdict = {0: "passed", 1: "failed", 3: "undetermined"}[code]
    assert f"\n{verdict.capitalize()}. " in found[1]


def test_pairs_with_distances(capsys, pairs):
    asked = ("--attribute", "gender", "--distance", "--threshold", "1.1", "--full")
    code, out, err = run(capsys, "audit", pairs, *asked)
    assert (code, err) == (0, "")
    assert "Given distance 1.1: accepted up to distance 1.1" in out


def test_london_by_ethnicity_and_gender(capsys, shared_data):
    """Of its facts.json, and the cells counted from its labels."""
    path = shared_data / "london_pca" / "london_pca.npz"
    attributes = ("--attribute", "ethnicity", "--attribute", "gender")
    arguments = ("audit", path, *attributes, "--fmr", "0.1,0.01", "--format", "json")
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    read = json.loads(out)
    rates = {
        row["group"]: (row["fmr"]["value"], row["fnmr"]["value"])
        for row in read["audits"][0]["levels"][0]["rates"]
    }
    assert rates["black"] == pytest.approx((0.2724, 0.3077), abs=5e-5)
    assert rates["white"] == pytest.approx((0.1196, 0.0435), abs=5e-5)
    cells = {
        tuple(c["groups"]): c["n_identities"] for c in read["crossings"][0]["cells"]
    }
    assert cells == {
        (group, gender): n
        for group, both in (
            ("black", (5, 8)),
            ("east_asian", (4, 5)),
            ("east_asian/white", (0, 1)),
            ("west_asian", (5, 5)),
            ("white", (35, 34)),
        )
        for gender, n in zip(("female", "male"), both, strict=True)
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("adit", "faces.npz"), "Did you mean 'audit'?"),
        (("audits",), "Did you mean 'audit'?"),
        (("zzz",), "compare, explain, plan, threshold, monitor, bench, demo"),
        (("audit", "a.npz", "--attribute", "g", "--fra=.1"), "Did you mean --fmr"),
        (("compare", "a", "b", "--attribut", "g"), "Did you mean --attribute?"),
        (("audit", "a.csv", "--max-frr", "8%"), "--max-fnmr, which is of the FRR too?"),
        (("audit", "a.npz", "--json"), "Did you mean --format json?"),
        (("audit", "a.npz", "--output-format", "html"), "Did you mean --format?"),
        (
            ("plan", "--max-f", "0.1"),
            "Did you mean --max-fmr or --max-fnmr or ",
        ),
        (("demo", "faces.npz"), "unrecognized arguments: faces.npz"),
        (("audit", "a.npz", "gender"), "one column for each --attribute"),
        (("audit", "--fmr", "1%", "0.1%", "a.csv"), "have commas: --fmr 1e-2,1e-3"),
        (("help", "adit"), "Did you mean 'audit'?"),
        (("explain", "a.npz"), "required: --attribute. Name a column"),
        (("monitor", "a.csv"), "required: --attribute. Name a column"),
    ],
)
def test_what_is_unknown_is_named_with_what_it_is_like(capsys, arguments, words):
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


@pytest.mark.parametrize("inside", ["", "/deeper"])
def test_folder_that_cannot_be_written(capsys, faces, tmp_path, inside):
    (tmp_path / "file").write_text("here")
    folder = f"{tmp_path}/file{inside}"
    found = run(capsys, "audit", faces, "--attribute", "gender", "--out", folder)
    assert_one_line(*found)
    assert f"--out {folder!r} cannot be written to" in found[2]
    assert "Name another folder" in found[2]


def test_demo_ends_with_what_to_do_next(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(_commands, "DEMO_IDENTITIES", 60)
    without_rendering(monkeypatch)
    code, out, err = run(capsys, "demo", "--out", tmp_path)
    assert (code, err) == (0, "")
    assert "skfairfr audit faces.npz --attribute gender" in out
    assert "The data are synthetic: nothing here is about a real system." in out
    assert (tmp_path / "audit.json").is_file()


def test_help_is_quick_to_come():
    """Nothing heavy is loaded for it."""
    code = "import sys, skfairfr.cli; print({'numpy', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n"


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "skfairfr"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, skfairfr.__version__)


@pytest.mark.slow
def test_closed_pipe_is_no_error(faces):
    command = [
        sys.executable,
        "-c",
        "import sys, skfairfr.cli as c; sys.exit(c.main())",
    ]
    arguments = ["audit", faces, "--attribute", "gender"]
    process = subprocess.Popen(
        command + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), err) == (0, b"")


@pytest.fixture
def two_systems(tmp_path):
    """Embeddings of two systems, of which the second lacks five images and turns the rest."""
    X, y, groups = synthetic()
    rng = np.random.default_rng(0)
    noisy = X + 0.1 * rng.standard_normal(X.shape) * (groups == "female")[:, None]
    rows = rng.permutation(len(y))[5:]
    paths = []
    for name, of, kept in (("one", X, np.arange(len(y))), ("two", noisy, rows)):
        paths.append(tmp_path / f"{name}.npz")
        columns = {"gender": groups[kept], "photo": kept}
        np.savez(paths[-1], embedding=of[kept], identity=y[kept], **columns)
    return paths


def test_compare_names_who_is_harmed(capsys, monkeypatch, two_systems, tmp_path):
    without_rendering(monkeypatch)
    folder = tmp_path / "out"
    arguments = ("--attribute", "gender", "--image", "photo", *QUICK, "--out", folder)
    code, out, err = run(capsys, "compare", *two_systems, *arguments)
    assert (code, err) == (0, "")
    assert "What was tested" not in out and "FNMR" in out and "female" in out
    written = json.loads((folder / "comparison.json").read_text())
    assert {row["group"] for row in written["harm"]} >= {"female"}
    again = (*arguments, "--replace", "--fail-on-harm", "--full")
    code, full, err = run(capsys, "compare", *two_systems, *again)
    assert (code, err) == (1, "")
    assert re.search(r": 5 images that \S+ lacks", " ".join(full.split()))
    assert (folder / "comparison.txt").read_text() in full


@pytest.mark.parametrize(
    ("command", "record"),
    [("audit", "audit.json"), ("compare", "comparison.json"), ("demo", "audit.json")],
)
def test_an_older_report_is_refused_before_the_work(
    capsys, monkeypatch, faces, tmp_path, command, record
):
    (tmp_path / record).write_text("old")
    for work in ("audit_data", "compare_systems"):
        monkeypatch.setattr(
            f"skfairfr.report.{work}", lambda *_, **__: pytest.fail("work")
        )
    data = {"audit": [faces], "compare": [faces, faces], "demo": []}[command]
    attribute = ["--attribute", "gender"] if data else []
    said = run(capsys, command, *data, *attribute, "--out", tmp_path)
    assert_one_line(*said, command=command)
    assert f"--out {str(tmp_path)!r} contains an older report ({record})" in said[2]
    assert "--replace" in said[2]


@pytest.fixture(scope="module")
def two_scores(tmp_path_factory):
    """Two systems' scores of the same pairs, embeddings and labels, in files of every kind."""
    folder = tmp_path_factory.mktemp("two")
    X, y, groups = synthetic(30)
    rng = np.random.default_rng(1)
    arrays = {"one": X, "two": X + rng.normal(0, 0.4, X.shape)}
    np.savez(folder / "both.npz", **arrays, identity=y, gender=groups)
    left, right = np.triu_indices(len(y), 1)
    scores = {}
    for name, array in arrays.items():
        unit = array / np.linalg.norm(array, axis=1, keepdims=True)
        scores[name] = np.sum(unit[left] * unit[right], axis=1)
        trials = zip(left, right, scores[name], strict=True)
        lines = [f"im{i} im{j} {score}" for i, j, score in trials]
        (folder / f"{name}.txt").write_text("\n".join(lines))
        np.savez(folder / f"{name}.npz", X=array, identity=y, gender=groups)
    ends = [y[left], y[right], groups[left], groups[right]]
    rows = zip(*scores.values(), *ends, strict=True)
    head = "one,two,identity_1,identity_2,gender_1,gender_2"
    lines = [head, *(",".join(map(str, row)) for row in rows)]
    (folder / "both.csv").write_text("\n".join(lines))
    rows = zip(np.arange(len(y)), y, groups, strict=True)
    lines = ["image,identity,gender", *(f"im{i},{p},{g}" for i, p, g in rows)]
    (folder / "images.csv").write_text("\n".join(lines))
    same = y[left] == y[right]
    thresholds = [
        np.sort(s[~same])[-int(0.05 * (~same).sum())] for s in scores.values()
    ]
    told = zip(scores.values(), thresholds, strict=True)
    return folder, [np.mean(s[same] < threshold) for s, threshold in told]


@pytest.mark.parametrize(
    "words",
    [
        "both.csv --score one,two",
        "both.csv --score one --score two",
        "both.npz --embedding one,two",
        "both.csv --score one,two both.csv",
        "both.csv both.csv --score one --score two",
        "both.npz both.npz --embedding one --embedding=two",
        "images.csv images.csv --trials one.txt --trials two.txt",
        "one.npz two.npz --identity identity --embedding X",
    ],
)
def test_compare_reads_each_system_by_its_own_flags(
    capsys, monkeypatch, two_scores, words
):
    folder, truth = two_scores
    monkeypatch.chdir(folder)
    asked = (*words.split(), "--attribute", "gender", *QUICK, "--format", "json")
    code, out, err = run(capsys, "compare", *asked)
    lists = [word for word in words.split() if word.endswith(".txt")]
    told = "".join(f"{n}: read as scores (image_1 image_2 score)\n" for n in lists)
    assert (code, err) == (0, told)
    of_all = [c for c in json.loads(out)["changes"] if c["attribute"] is None]
    (change,) = (c for c in of_all if c["rate"] == "fnmr")
    assert truth[1] > 1.5 * truth[0]
    assert (change["before"], change["after"]) == pytest.approx(truth)
    assert change["verdict"] == "higher"


def test_compare_takes_a_threshold_for_each_system(capsys, monkeypatch, two_scores):
    monkeypatch.chdir(two_scores[0])
    rows = [line.split(",") for line in Path("both.csv").read_text().splitlines()[1:]]
    score = np.array([row[0] for row in rows], dtype=float)
    same = np.array([row[2] == row[3] for row in rows])
    words = (
        "both.csv both.csv --score one --threshold 0.3 --threshold 0.5 --format json"
    )
    asked = (*words.split(), "--attribute", "gender")
    code, out, err = run(capsys, "compare", *asked)
    assert (code, err) == (0, "")
    (change,) = (
        c
        for c in json.loads(out)["changes"]
        if c["attribute"] is None and c["rate"] == "fnmr"
    )
    truth = [np.mean(score[same] < t) for t in (0.3, 0.5)]
    assert (change["before"], change["after"]) == pytest.approx(truth)


@pytest.mark.parametrize(
    "words",
    [
        "both.csv both.csv --score one",
        "both.csv both.csv --score one --score one",
        "both.npz one.npz --embedding one --embedding X",
        "images.csv images.csv --trials one.txt",
        "one.npz one.npz --gallery one.npz --template max",
    ],
)
def test_compare_of_equal_scores_is_refused(capsys, monkeypatch, two_scores, words):
    monkeypatch.chdir(two_scores[0])
    said = run(capsys, "compare", *words.split(), "--attribute", "gender")
    assert_one_line(*said, command="compare")
    assert "the two systems are the same file, or have equal scores" in said[2]


def test_progress_in_a_file_is_a_line_every_ten_seconds(capsys, monkeypatch):
    monkeypatch.setattr(_parallel, "EVERY", 0)
    monkeypatch.setattr(_commands, "DEMO_IDENTITIES", 60)
    assert cli.main(["demo", "--seed", "1", "--format", "json"]) == 0
    told = capsys.readouterr().err.split("\n")
    assert all("\r" not in line for line in told)
    assert any("comparing all pairs (step 1 of 3)" in line for line in told)


def test_what_is_said_of_a_test_is_on_the_report_and_in_its_json(
    capsys, monkeypatch, faces
):
    without_rendering(monkeypatch)
    said = {"title": "Door 7", "system": "S 1.2", "dataset": "D", "organisation": "Lab"}
    said |= {"tested": "May", "labels_source": "asked", "sampling": "all"}
    given = said | {"date": "2026-02-03"}
    flags = [
        part
        for name, text in given.items()
        for part in (f"--{name.replace('_', '-')}", text)
    ]
    arguments = ("audit", faces, "--attribute", "gender", *QUICK, *flags)
    for form in ("text", "card", "html"):
        out = run(capsys, *arguments, "--format", form)[1]
        title, _, rest = out.partition("Result" if form != "html" else "<nav")
        first = " ".join(re.sub(r"\\|<[^>]+>", "", title).split())
        assert "Door 7" in first and rest
        assert "System: S 1.2; Data set: D; Organisation: Lab; Tested: May; " in first
        assert "Labels of groups: asked; Sampling: all; Data: " in first
        assert "; Report written: 2026-02-03" in first
    asked = (*arguments, "--format", "json")
    read = json.loads(run(capsys, *asked)[1])
    # What was typed can be typed again.
    assert shlex.split(read["about"].pop("command")) == ["skfairfr", *asked]
    assert read["about"] == said and given["date"] not in json.dumps(read)


def test_help_fits_two_screens_and_the_rest_is_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, "audit", "--help")
    assert code == 0 and len(out.splitlines()) <= 112
    assert "--n-jobs" not in out
    assert "--n-jobs" in run(capsys, "audit", "--help-all")[1]


@pytest.mark.parametrize("level", ["5%", "5/100", "0.05"])
def test_rates_are_numbers_percentages_or_fractions(level):
    asked = parse(["audit", "faces.npz", "--fmr", level, "--max-fnmr", level])
    assert (asked.far, asked.max_fnmr) == ([0.05], 0.05)


def certified(capsys, *words):
    code, out, err = run(capsys, "threshold", *words, "--format", "json", "--quiet")
    assert err == "" and code in (0, 3)
    own = {"settings", "about", "notes", "source"}
    return {k: v for k, v in json.loads(out).items() if k not in own}


def test_threshold_reads_trials_and_metadata(capsys, monkeypatch, two_scores):
    monkeypatch.chdir(two_scores[0])
    asked = ("--max-fmr", "0.05", "--attribute", "gender")
    listed = certified(capsys, "images.csv", "--trials", "one.txt", *asked)
    assert listed == certified(capsys, "both.csv", "--score", "one", *asked)
    rows = [line.split(",") for line in Path("images.csv").read_text().splitlines()]
    people = dict(row[1:] for row in rows)
    Path("people.csv").write_text("\n".join(map(",".join, people.items())))
    X = np.load("one.npz")
    np.savez("plain.npz", embedding=X["X"], identity=X["identity"])
    of_people = ("plain.npz", "--metadata", "people.csv", *asked)
    assert certified(capsys, "one.npz", *asked) == certified(capsys, *of_people)


def test_compare_of_columns_of_one_file_names_them(capsys, monkeypatch, two_scores):
    monkeypatch.chdir(two_scores[0])
    _, out, err = run(capsys, "compare", "both.csv", "--score", "one,two", *QUICK)
    assert err == "" and "both.csv, two against both.csv, one" in out
    for words, problem in (
        ("both.csv", "AFTER is missing. Name the file of another system, or"),
        ("both.csv --score one", "AFTER is missing"),
        ("both.csv --score one,one", "--score: 'one,one' names one twice, or nothing."),
        ("both.csv both.csv --score one,two,two2", "there are 2 systems"),
        ("both.csv --score one,three", "three"),
    ):
        said = run(capsys, "compare", *words.split())
        assert_one_line(*said, command="compare")
        assert problem in said[2]


@pytest.mark.parametrize("words", ["both.csv --score", "both.npz --embedding"])
def test_audit_of_several_columns_is_an_audit_of_each(
    capsys, monkeypatch, two_scores, words, tmp_path
):
    """With its name, and the exit status of the worst."""
    without_rendering(monkeypatch)
    monkeypatch.chdir(two_scores[0])
    asked = (*QUICK, "--attribute", "gender", "--max-fnmr", "0.7")
    alone = {}
    for name in ("one", "two"):
        ran = run(capsys, "audit", *words.split(), name, *asked, "--format", "json")
        alone[name] = ran[0], json.loads(ran[1])
    several = ("audit", *words.split(), "one,two", *asked, "--out", tmp_path)
    code, out, err = run(capsys, *several, "--format", "json")
    assert err == ""
    assert code == (1 if 1 in (c := [c for c, _ in alone.values()]) else max(c))
    found = json.loads(out)
    assert [*found] == ["one", "two"]
    for name, report in found.items():
        assert report["about"]["system"] == name
        assert report["audits"] == alone[name][1]["audits"]
        assert (tmp_path / name / "report.html").exists()
    _, out, _ = run(capsys, *several, "--replace", "--system", "S")
    places = [out.index(f"System: S {name}; ") for name in found]
    assert places == sorted(places) and out.count("Result\n---") == 2
    for form in ("html", "junit"):
        said = run(capsys, *several, "--format", form)
        assert_one_line(*said)
        assert f"--format {form} is about one system, and --" in said[2]
    said = run(capsys, "audit", *words.split(), "one,", *asked)
    assert_one_line(*said)
    assert "'one,' names one twice, or nothing" in said[2]


def test_no_group_is_the_highest_if_every_rate_is_0(capsys, faces):
    limits = ("--max-fmr", ".5", "--threshold", ".9999")
    _, out, _ = run(capsys, "audit", faces, "--attribute", "gender", *limits)
    assert "at most 50 %: all groups equal, interval of " in re.sub(r"\s+", " ", out)
