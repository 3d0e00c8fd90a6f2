"""The command: exit codes, what it prints and what it writes."""

import contextlib
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd

from skfairfr.cli import main
from tests.recorded.data import columns, faces, listed

QUICK = ("--fmr", "0.05", "--n-resamples", "20")
GENDER = ("--attribute", "gender")
# Stands for the folder of the files.
FILES = Path("/files")
REFUSED = (
    (),
    ("--attribute", "beard"),
    (*GENDER, "--fmr", "1.5"),
    (*GENDER, "--fmr", "0"),
    (*GENDER, "--fmr", "low"),
    ("--attribute", "one"),
    ("--attribute", "number"),
    ("--attribute", "each"),
    (*GENDER, "--identity", "same_person"),
    (*GENDER, "--identity", "gone"),
    (*GENDER, "--embedding", "zero"),
    (*GENDER, "--embedding", "holes"),
    (*GENDER, "--embedding", "gone"),
    (*GENDER, "--embedding", "gender"),
    (*GENDER, "--n-resamples", "0"),
    (*GENDER, "--n-resamples", "2.5"),
    (*GENDER, "--confidence-level", "2"),
    (*GENDER, "--resample", "people"),
    (*GENDER, "--method", "exact"),
    (*GENDER, "--average", "group"),
    (*GENDER, "--impostors", "none"),
    (*GENDER, "--seed", "-1"),
    (*GENDER, "--threshold", "0.5", "--fmr", "0.1"),
    (*GENDER, "--threshold", "0.5", "--threshold-from", "x"),
    (*GENDER, "--threshold", "high"),
    (*GENDER, "--threshold", "nan"),
    (*GENDER, "--threshold", "inf"),
    (*GENDER, "--threshold", "0.5", "--max-bfar", "2"),
    (*GENDER, "--threshold", "0.5", "--max-bfrr", "2"),
    (*GENDER, "--threshold-from", "absent.npz"),
    (*GENDER, "--threshold-from", FILES / "pairs.csv"),
    (*GENDER, "--threshold-from", FILES / "damaged.npz"),
    (*GENDER, "--max-fmr-ratio", "1"),
    (*GENDER, "--max-fnmr-ratio", "inf"),
    (*GENDER, "--max-bfrr", "few"),
    (*GENDER, "--domain", "gone"),
    (*GENDER, "--domain", "identity"),
    (*GENDER, "--domain", "one"),
    (*GENDER, *GENDER),
    (*GENDER, "--attribute", "one"),
    (*GENDER, "age"),
    (*GENDER, "--beard", "1"),
    (*GENDER, "--labels", "absent.csv"),
    (*GENDER, "--labels", FILES / "short.csv"),
    (*GENDER, "--distance"),
    (*GENDER, "--score", "s"),
    (*GENDER, "--identity-1", "a"),
    (*GENDER, "--image-2", "a"),
    (*GENDER, "--out", FILES / "text.txt" / "inside"),
    (
        *(*GENDER, "--attribute", "age", "--impostors", "same_group"),
        *("--threshold-from", FILES / "other.npz"),
    ),
)


def run(*arguments, out=None):
    """Exit code and texts of the command, the JSON and the names of files it wrote."""
    stdout, stderr = io.StringIO(), io.StringIO()
    if out is not None:
        arguments = (*arguments, "--out", out)
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
    found = {"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}
    if out is not None and (out / "audit.json").exists():
        found["json"] = json.loads((out / "audit.json").read_text())
        found["files"] = sorted(str(p.relative_to(out)) for p in out.rglob("*.*"))
    return found


def write_files(folder):
    """Files of embeddings, labels and pairs that the cases read."""
    X, y, groups = columns(faces(60))
    arrays = {
        "embedding": X,
        "identity": y,
        "gender": groups,
        "age": np.where(y % 2, "old", "young"),
        "far": np.where(y % 3, "far", "near"),
        "lens": np.where(np.arange(len(y)) % 2, "wide", "long"),
        "one": np.full(len(y), "a"),
        "number": y + 0.5,
        "each": np.array([f"g{i}" for i in range(len(y))]),
        "same_person": np.zeros(len(y)),
        "zero": np.zeros_like(X),
        "holes": np.where(X > 0.9 * X.max(), np.nan, X),
    }
    np.savez(folder / "faces.npz", **arrays)
    np.savez(
        folder / "unknown.npz", **arrays | {"gender": np.where(y % 5, groups, "nan")}
    )
    X2, y2, groups2 = columns(faces(80, random_state=4))
    np.savez(
        folder / "other.npz", embedding=X2, identity=y2, gender=groups2, age=groups2
    )
    np.save(folder / "faces.npy", X)
    labels = ["identity,gender", *(f"{a},{b}" for a, b in zip(y, groups, strict=True))]
    (folder / "faces.csv").write_text("\n".join(labels))
    (folder / "short.csv").write_text("\n".join(labels[:-3]))
    write_pairs(folder)
    (folder / "damaged.npz").write_bytes((folder / "faces.npz").read_bytes()[:5000])
    (folder / "text.txt").write_text("nothing")


def write_pairs(folder):
    scores, images, identities, groups = listed(24)
    age = [np.where(side % 2, "old", "young") for side in identities]
    columns = [1 - scores, *identities, *groups, *age, *images]
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    names = [f"{n}_{i}" for n in ("identity", "gender", "age", "image") for i in (1, 2)]
    (folder / "distances.csv").write_text(
        "\n".join([",".join(["distance", *names]), *rows])
    )
    frame = pd.DataFrame(dict(zip(["distance", *names], columns, strict=True)))
    frame.to_parquet(folder / "distances.parquet")
    columns[0] = scores
    rows = [",".join(map(str, row)) for row in zip(*columns[:-2], strict=True)]
    head = ",".join(["score", *names[:-2]])
    (folder / "pairs.csv").write_text("\n".join([head, *rows]))


def record_embeddings(record, folder):
    write_files(folder)
    data = ("audit", folder / "faces.npz", *QUICK)
    cases = {
        "plain": GENDER,
        "levels": (*GENDER, "--fmr", "0.2", "0.01"),
        "usual levels": (*GENDER, "--fmr", "0.01", "0.001"),
        "unresolved": (*GENDER, "--fmr", "1e-7"),
        "images": (*GENDER, "--resample", "images"),
        "both": (*GENDER, "--resample", "both", "--average", "identity"),
        "inside": (*GENDER, "--impostors", "same_group", "--method", "multiplicative"),
        "seed": (*GENDER, "--seed", "3", "--confidence-level", "0.9", "--quiet"),
        "label like an argument": ("--attribute", "far"),
        "two attributes": (*GENDER, "--attribute", "age"),
        "three attributes": (*GENDER, "--attribute", "age", "--attribute", "far"),
        "domain": (*GENDER, "--domain", "lens"),
        "passed": (*GENDER, "--max-fmr-ratio", "100", "--max-bfar", "100"),
        "failed": (*GENDER, "--max-fmr-ratio", "1.0001", "--max-bfar", "100"),
        "undetermined": (*GENDER, "--max-fmr-ratio", "100", "--max-fnmr-ratio", "1.3"),
        "all checks": (
            *(*GENDER, "--attribute", "age", "--max-bfar", "2", "--max-bfrr", "3"),
            *("--max-fmr-ratio", "4", "--max-fnmr-ratio", "5"),
        ),
        "another identity": (*GENDER, "--identity", "age"),
        "from other": (*GENDER, "--threshold-from", folder / "other.npz"),
        "from other, two": (
            *(*GENDER, "--attribute", "age", "--threshold-from", folder / "other.npz"),
        ),
        "from other, inside": (
            *(*GENDER, "--threshold-from", folder / "other.npz"),
            *("--impostors", "same_group", "--max-fmr-ratio", "3"),
        ),
    }
    for i, (name, options) in enumerate(cases.items()):
        out = (
            folder / f"out {i}"
            if name in ("plain", "two attributes", "from other")
            else None
        )
        record(f"command {name}", run, *data, *options, out=out)
    given = ("--n-resamples", "20", "--threshold", "0.6", "--max-fmr-ratio", "3")
    out = folder / "out threshold"
    record("command threshold", run, *data[:2], *GENDER, *given, out=out)


def record_other_files(record, folder):
    labels = ("--labels", folder / "faces.csv")
    record("command npy", run, "audit", folder / "faces.npy", *GENDER, *QUICK)
    record(
        "command npy labels",
        run,
        "audit",
        folder / "faces.npy",
        *labels,
        *GENDER,
        *QUICK,
    )
    record("command unknown", run, "audit", folder / "unknown.npz", *GENDER, *QUICK)
    pairs = {
        "similarities": ("pairs.csv", ()),
        "distances": ("distances.csv", ("--distance",)),
        "taken for similarities": ("distances.csv", ("--score", "distance")),
        "parquet": ("distances.parquet", ("--distance",)),
        "two attributes": ("distances.csv", ("--distance", "--attribute", "age")),
        "images": ("distances.csv", ("--distance", "--resample", "images")),
        "checks": (
            "distances.csv",
            ("--distance", "--max-bfar", "2", "--max-fnmr-ratio", "9"),
        ),
        "from": (
            "distances.csv",
            ("--distance", "--threshold-from", folder / "distances.csv"),
        ),
    }
    for name, (file, options) in pairs.items():
        out = folder / f"out {name}" if name == "distances" else None
        given = ("audit", folder / file, *GENDER, *QUICK, *options)
        record(f"command pairs {name}", run, *given, out=out)
    given = ("--distance", "--threshold", "0.7", "--n-resamples", "20")
    record(
        "command pairs threshold",
        run,
        "audit",
        folder / "distances.csv",
        *GENDER,
        *given,
    )


def record_demo_and_help(record, folder):
    record("command demo", run, "demo", out=folder / "out demo")
    record("command demo seed", run, "demo", "--seed", "2", "--quiet")
    for arguments in (
        (),
        ("--help",),
        ("--version",),
        ("audit", "--help"),
        ("demo", "--help"),
    ):
        record(f"command {arguments}", run, *arguments)


def record_unusable_embeddings(record, folder):
    data = ("audit", folder / "faces.npz")
    for options in REFUSED:
        key = f"command refused {' '.join(map(str, options))}"
        placed = [str(o).replace(str(FILES), str(folder)) for o in options]
        record(key, run, *data, *placed)
    record("command refused absent", run, "audit", folder / "absent.npz", *GENDER)
    record("command refused damaged", run, "audit", folder / "damaged.npz", *GENDER)
    record("command refused text", run, "audit", folder / "text.txt", *GENDER)
    record("command refused folder", run, "audit", folder, *GENDER)
    record("command refused other command", run, "plot")
    labels = ("--labels", folder / "short.csv")
    record(
        "command refused short", run, "audit", folder / "faces.npy", *labels, *GENDER
    )
    embedding = ("--embedding", "X")
    record(
        "command refused array", run, "audit", folder / "faces.npy", *embedding, *GENDER
    )


def record_unusable_pairs(record, folder):
    data = ("audit", folder / "distances.csv", *GENDER)
    for options in (
        (),
        ("--distance", "--score", "gone"),
        ("--distance", "--identity-1", "who"),
        ("--distance", "--image-1", "image_1", "--image-2", "gone"),
        ("--distance", "--image-1", "image_1"),
        ("--distance", "--domain", "lens"),
        ("--distance", "--labels", "x.csv"),
        ("--distance", "--embedding", "X"),
        ("--distance", "--identity", "X"),
        ("--distance", "--attribute", "beard"),
        ("--score", "gender_1"),
        ("--distance", "--threshold-from", folder / "faces.npz"),
        ("--distance", "--threshold-from", folder / "pairs.csv"),
    ):
        shown = [str(option).replace(str(folder), "") for option in options]
        record(f"command refused pairs {' '.join(shown)}", run, *data, *options)
    pairs = ("audit", folder / "pairs.csv", *GENDER)
    record("command refused images", run, *pairs, "--resample", "images")
    (folder / "ragged.csv").write_text("score,identity_1,identity_2\n1,a\n")
    (folder / "empty.csv").write_text("score,identity_1,identity_2\n")
    (folder / "one.csv").write_text("score;identity_1\n1;a\n")
    (folder / "twice.csv").write_text("score,score\n1,2\n")
    (folder / "latin.csv").write_bytes("score,identity_1\n1,é\n".encode("latin-1"))
    (folder / "hole.csv").write_text(
        "score,identity_1,identity_2,gender_1,gender_2\n,a,b,f,m\n"
    )
    (folder / "missing.csv").write_text(
        "score,identity_1,identity_2,gender_1,gender_2\n1,,b,f,m\n"
    )
    for name in ("ragged", "empty", "one", "twice", "latin", "hole", "missing"):
        record(
            f"command refused {name}.csv", run, "audit", folder / f"{name}.csv", *GENDER
        )
