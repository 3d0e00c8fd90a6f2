"""The command: exit codes, one clear line for unusable input, a file of strict JSON."""

import json
import subprocess
import sys

import numpy as np
import pytest

from skfairfr import cli
from tests.report.audits import synthetic

QUICK = ("--far", "0.05", "--n-resamples", "40")


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "faces.npz"
    X, y, groups = synthetic()
    others = {
        "one": np.full(len(y), "a"),
        "same_person": np.zeros(len(y)),
        "zero": np.zeros_like(X),
    }
    np.savez(path, embedding=X, identity=y, gender=groups, **others)
    return str(path)


def run(capsys, *arguments):
    """Exit code, standard output and standard error of the command."""
    try:
        code = cli.main([str(a) for a in arguments])
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    return code, said.out, said.err


def assert_one_line(code, out, err, command="audit"):
    assert (code, out) == (2, "")
    assert err.startswith(f"skfairfr {command}: error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_audit_prints_a_table_and_nothing_else(capsys, faces):
    code, out, err = run(capsys, "audit", faces, "--attribute", "gender", *QUICK)
    assert (code, err) == (0, "")
    assert "What the data say" in out


def test_audit_writes_strict_json(capsys, faces, tmp_path):
    folder = tmp_path / "new" / "folder"
    arguments = ("audit", faces, "--attribute", "gender", "--out", folder, *QUICK)
    code, out, _ = run(capsys, *arguments)
    text = (folder / "audit.json").read_text()
    read = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert code == 0
    assert "audit.json" in out
    assert read["settings"]["resample"] == "identities"
    assert read["settings"]["far"] == [0.05]
    assert [row["group"] for row in read["groups"]] == [None, "female", "male"]
    assert read["levels"][0]["rates"][1]["far"].keys() >= {"value", "low", "high"}
    assert [p.name for p in folder.iterdir()] == ["audit.json"]


def test_two_runs_print_the_same(capsys, faces):
    arguments = ("audit", faces, "--attribute", "gender", *QUICK)
    assert run(capsys, *arguments) == run(capsys, *arguments)


@pytest.mark.parametrize(
    "options",
    [
        ("--resample", "images"),
        ("--resample", "both", "--average", "identity"),
        ("--impostors", "same_group", "--method", "multiplicative"),
        ("--seed", "3", "--confidence-level", "0.9", "--quiet"),
    ],
)
def test_options_are_heard(capsys, faces, options):
    arguments = ("audit", faces, "--attribute", "gender", *QUICK, *options)
    code, _, err = run(capsys, *arguments)
    assert (code, err) == (0, "")


def test_london_with_a_group_of_one_person(capsys, shared_data):
    path = shared_data / "london_pca" / "london_pca.npz"
    code, out, err = run(capsys, "audit", path, "--attribute", "ethnicity", *QUICK)
    assert (code, err) == (0, "")
    assert "east_asian/white: no impostor pair" in out
    assert "is treated worse" not in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--attribute", "age"), "holds no array 'age'"),
        (("--attribute", "gender", "--far", "1.5"), "far must lie in (0, 1)"),
        (("--attribute", "gender", "--far", "low"), "--far"),
        (("--attribute", "one"), "one has one group, 'a'"),
        (("--attribute", "gender", "--identity", "same_person"), "one identity"),
        (("--attribute", "gender", "--embedding", "zero"), "zero row"),
        (("--attribute", "gender", "--n-resamples", "0"), "n_resamples"),
        (("--attribute", "gender", "--confidence-level", "2"), "confidence_level"),
        (("--attribute", "gender", "--resample", "people"), "--resample"),
        ((), "--attribute"),
    ],
)
def test_unusable_arguments(capsys, faces, options, message):
    found = run(capsys, "audit", faces, *options)
    assert_one_line(*found)
    assert message in found[2]


def test_missing_file(capsys, tmp_path):
    found = run(capsys, "audit", tmp_path / "absent.npz", "--attribute", "gender")
    assert_one_line(*found)
    assert "absent.npz' does not exist; give the path" in found[2]


def test_truncated_file(capsys, faces, tmp_path):
    path = tmp_path / "short.npz"
    with open(faces, "rb") as file:
        path.write_bytes(file.read()[:5000])
    found = run(capsys, "audit", path, "--attribute", "gender")
    assert_one_line(*found)
    assert "cut short or damaged" in found[2]


def test_pickled_array(capsys, tmp_path):
    path = tmp_path / "pickled.npz"
    X, y, groups = synthetic()
    np.savez(path, embedding=X, identity=y, gender=groups.astype(object))
    found = run(capsys, "audit", path, "--attribute", "gender")
    assert_one_line(*found)
    assert "pickled" in found[2]


@pytest.mark.parametrize("inside", ["", "/deeper"])
def test_folder_that_cannot_be_written(capsys, faces, tmp_path, inside):
    (tmp_path / "file").write_text("here")
    folder = f"{tmp_path}/file{inside}"
    found = run(capsys, "audit", faces, "--attribute", "gender", "--out", folder)
    assert_one_line(*found)
    assert f"--out {folder!r} cannot be written to" in found[2]
    assert "name a folder" in found[2]


def test_image_resampling_needs_several_images(capsys, tmp_path):
    X, y, groups = synthetic(images_per_identity=1)
    np.savez(tmp_path / "faces.npz", embedding=X, identity=y, gender=groups)
    arguments = ("audit", tmp_path / "faces.npz", "--attribute", "gender", *QUICK)
    found = run(capsys, *arguments, "--resample", "images")
    assert_one_line(*found)
    assert "resample='images'" in found[2]


def test_interruption(capsys, faces, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("skfairfr.report.audit", interrupt)
    code, out, err = run(capsys, "audit", faces, "--attribute", "gender")
    assert (code, out, err) == (130, "", "skfairfr audit: interrupted\n")


def test_demo_ends_with_what_to_do_next(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "DEMO_IDENTITIES", 60)
    code, out, err = run(capsys, "demo", "--out", tmp_path)
    assert (code, err) == (0, "")
    assert "skfairfr audit faces.npz --attribute gender" in out
    assert (tmp_path / "audit.json").is_file()


def test_version(capsys):
    code, out, _ = run(capsys, "--version")
    assert (code, out) == (0, "0.1.0.dev0\n")


@pytest.mark.parametrize("arguments", [(), ("audits",)])
def test_unknown_command(capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_help_is_quick_to_come():
    """Nothing heavy is loaded for it."""
    code = "import sys, skfairfr.cli; print({'numpy', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n"


def test_closed_pipe_is_no_error(faces):
    command = [
        sys.executable,
        "-c",
        "import sys, skfairfr.cli as c; sys.exit(c.main())",
    ]
    arguments = ["audit", faces, "--attribute", "gender", *QUICK]
    process = subprocess.Popen(
        command + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), err) == (0, b"")
