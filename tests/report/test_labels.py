"""Labels, attributes and names of files made of our own words stand as typed in every output."""

import base64
import json
import re
from dataclasses import replace
from functools import cache
from string import ascii_letters

import numpy as np
import pytest

from skfairfr.datasets import make_face_embeddings
from skfairfr.metrics import IdentificationROC
from skfairfr.report import (
    EmbeddingData,
    audit_data,
    certify_data,
    compare_searches,
    compare_systems,
    identify_data,
    monitor_log,
    read_data,
)

# Attributes and their groups.
KINDS = {
    "genuine pairs": ("pair of glasses", "genuine leather", "FMR"),
    "--fmr": ("'tis a match", "the user's pair", "genuine attempt", "FMR threshold"),
}
SPECIES = ("pair of masks", "impostor", "genuine attempts", "APCER")
FILES = ("pair", "match", "FNMR", "far")
# Letters in the order of ours, of which no word of ours is made.
OTHERS = {ord(c): chr(0x100 + ord(c) - ord("A")) for c in ascii_letters}
LETTERS = {ord(other): chr(letter) for letter, other in OTHERS.items()}


def neutral(label):
    """A label of the same length and order that has none of our words."""
    return label.translate(OTHERS)


def as_typed(label):
    return label


def groups_of(code, rename):
    """Columns of labels by the codes of people."""
    return {
        rename(name): np.array([*map(rename, labels)])[code % len(labels)]
        for name, labels in KINDS.items()
    }


def write(path, columns):
    rows = [columns, *zip(*columns.values(), strict=True)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


@cache
def faces(noise=0.0):
    made = make_face_embeddings(
        90, n_features=12, kappa=25.0, heterogeneity=0.5, random_state=0
    )
    noise = noise * np.random.default_rng(0).normal(size=made.X.shape)
    return made.X + noise, np.unique(made.y, return_inverse=True)[1]


def embeddings(folder, rename, file, rows=slice(None), noise=0.0):
    X, y = (part[rows] for part in faces(noise))
    path = folder / f"{rename(file)}.npz"
    failed = np.arange(len(y)) % 9 == 0
    np.savez(path, embedding=X, identity=y, fte=failed, **groups_of(y, rename))
    return path


def halves():
    """Rows of probes and of a gallery of every second person."""
    y = faces()[1]
    first = np.unique(y, return_index=True)[1][::2]
    return np.setdiff1d(np.arange(len(y)), first), first


def audit_of_pairs(folder, rename):
    rng = np.random.default_rng(0)
    left = np.repeat(np.arange(80), 12)
    right = np.where(rng.random(left.size) < 0.4, left, rng.integers(0, 80, left.size))
    score = rng.normal(size=left.size) + 1.5 * (left == right)
    columns = {"identity_1": left, "identity_2": right, "score": np.round(score, 3)}
    for side, people in (("1", left), ("2", right)):
        found = groups_of(people, rename).items()
        columns |= {f"{name}_{side}": labels for name, labels in found}
    path = write(folder / f"{rename('pair')}.csv", columns)
    data = read_data(path, [*map(rename, KINDS)])
    limits = {"max_fmr": 0.2, "max_fnmr_ratio": 1.2}
    return audit_data(data, far=0.1, limits=limits)


def audit_of_rejected(folder, rename):
    path = embeddings(folder, rename, "FNMR")
    names = [*map(rename, KINDS)][:1]
    data = read_data(path, names, fte="fte", failures="reject")
    group = rename("pair of glasses")
    asked = {"far": 0.05, "threshold_group": group, "limits": {"max_fmr": 0.01}}
    return audit_data(data, **asked)


def log(folder, rename):
    rng = np.random.default_rng(1)
    n = 1500
    person = rng.integers(0, 120, n)
    attempt = rng.choice(["genuine", "impostor", "attack"], n, p=[0.6, 0.2, 0.2])
    names = np.array([*map(rename, SPECIES)])
    columns = {
        "person": person,
        "attempt": attempt,
        "accepted": (rng.random(n) < np.where(attempt == "genuine", 0.9, 0.1)) * 1,
        "session": np.arange(n) // 300,
        "when": np.arange(n),
        "species": np.where(attempt == "attack", names[person % names.size], ""),
    }
    return write(folder / f"{rename('match')}.csv", columns | groups_of(person, rename))


def audit_of_log(folder, rename):
    names = [*map(rename, KINDS)]
    columns = {"accepted": "accepted", "attempt": "attempt", "species": "species"}
    data = read_data(log(folder, rename), names, **columns)
    limits = {"max_fmr": 0.2, "max_fnmr": 0.1, "max_fnmr_ratio": 1.3}
    return audit_data(data, limits=limits)


def audit_of_transactions(folder, rename):
    columns = {"accepted": "accepted", "attempt": "attempt"}
    asked = columns | {
        "session": "session",
        "best_of": 2,
        "species": "species",
        "time": "when",
    }
    return audit_data(read_data(log(folder, rename), [rename("--fmr")], **asked))


def searched(folder, rename, file="far", noise=0.0):
    return [
        read_data(embeddings(folder, rename, of + file, rows, noise), [rename("--fmr")])
        for of, rows in zip(("", "match "), halves(), strict=True)
    ]


def audit_of_searches(folder, rename):
    data, gallery = searched(folder, rename)
    limits = {"max_fpir": 0.1, "max_fnir_ratio": 1.1}
    about = {"title": rename("Genuine pairs at FMR"), "system": rename("pair, FNMR")}
    asked = {"fpir": [0.1, 1e-4], "limits": limits, "about": about}
    return identify_data(data, gallery=gallery, **asked)


def comparison(folder, rename):
    files = (("pair", 0.0), ("FNMR", 0.2))
    data = [
        read_data(embeddings(folder, rename, f, noise=noise), [rename("--fmr")])
        for f, noise in files
    ]
    names = [rename(file) for file, _ in files]
    return compare_systems(*data, names=names, far=[0.05, 1e-5])


def comparison_of_searches(folder, rename):
    both = [searched(folder, rename, *of) for of in (("pair", 0.0), ("FNMR", 0.2))]
    data, galleries = zip(*both, strict=True)
    names = [rename("pair"), rename("FNMR")]
    return compare_searches(*data, galleries=galleries, names=names, fpir=[0.1, 1e-3])


def certificate(folder, rename):
    path = embeddings(folder, rename, "pair")
    return certify_data(read_data(path, [rename("--fmr")]), limits={"max_fmr": 0.1})


def certificate_of_searches(folder, rename):
    data, gallery = searched(folder, rename)
    limits = {"max_fpir": 0.3, "max_fnir": 0.2}
    return certify_data(data, gallery=gallery, limits=limits)


def monitoring(folder, rename):
    limits = {"max_fnmr": 0.05, "max_fnmr_ratio": 1.1}
    asked = {"limits": limits, "attempt": "attempt"}
    return monitor_log(log(folder, rename), rename("genuine pairs"), **asked)


def texts_of_figure(svg):
    """What a figure says; files have letters as curves, and texts in comments."""
    return re.findall(r"<text[^>]*>(.*?)</text>|<!-- (.*?) -->", svg, re.DOTALL)


def outputs(make, folder, rename):
    """Every output by its name."""
    folder.mkdir()
    made = make(folder, rename)
    source = [rename("match") + ".csv"] * ("comparison" not in make.__name__)
    found = {"repr": repr(made), "notebook": made._repr_html_()}
    for form in ("to_text", "to_junit", "to_card"):
        if hasattr(made, form):
            found[form] = getattr(made, form)(*source * (form != "to_junit"))
    for path in made.save(folder / "report", *source):
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".json":
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=1)
        found[path.name] = text
    for name, text in found.items():
        found[name] = re.sub(
            r"data:image/svg\+xml;base64,([^\"]*)",
            lambda uri: str(texts_of_figure(base64.b64decode(uri[1]).decode())),
            re.sub(r"\b[0-9a-f]{64}\b", "digest", text).replace(str(folder), "FOLDER"),
        )
    return found


# Those with the most figures are tests of .ci/nightly.
SLOW = [
    *(audit_of_pairs, audit_of_log, audit_of_transactions),
    *(comparison, comparison_of_searches),
]
MAKERS = [
    *(audit_of_rejected, audit_of_searches),
    *(certificate, certificate_of_searches, monitoring),
    *(pytest.param(make, marks=pytest.mark.slow) for make in SLOW),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("real_figures")
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_labels_made_of_our_words_stand_as_typed_in_every_output(make, tmp_path):
    right = outputs(make, tmp_path / "neutral", neutral)
    found = outputs(make, tmp_path / "typed", as_typed)
    assert found.keys() == right.keys()
    for name, text in found.items():
        assert text.split("\n") == right[name].translate(LETTERS).split("\n"), name


def test_notes_and_reasons_of_searches_name_groups_as_typed(tmp_path):
    (audit,) = audit_of_searches(tmp_path, as_typed).audits
    told = [f.reason for row in audit.levels[1].rates for f in (row.far, row.frr)]
    assert "the user's pair: no mated search" in told
    assert "genuine attempt: no non-mated search" in told
    assert any("mated search within group \"'tis a match" in n for n in audit.notes)
    assert any("group 'FMR threshold', \"the user's pair\"" in n for n in audit.notes)


@pytest.mark.parametrize("label", ["genuine pair", "FMR 'far'", "the user's pair"])
def test_errors_of_searches_quote_labels_as_typed(label):
    X, y = faces()
    probes, gallery = halves()
    group = np.where(y % 2, label, "search")
    enrolled = {"X_gallery": X[gallery], "y_gallery": y[gallery]}
    roc = IdentificationROC(n_resamples=2).fit(
        *(part[probes] for part in (X, y, group)), **enrolled
    )
    with pytest.raises(ValueError, match="is not a group of the data") as error:
        roc.estimate(0.1, group=f"impostor {label}")
    assert repr(f"impostor {label}") in str(error.value)
    assert f"Its groups: {', '.join(map(repr, sorted(['search', label])))}." in str(
        error.value
    )


@pytest.mark.parametrize("file", ["pair.npz", "FMR of pairs.npz", "genuine.npz"])
def test_errors_of_compared_searches_quote_files_as_typed(file):
    parts = [EmbeddingData(*part, {}) for part in (faces(), faces(0.1))]
    parts[1] = replace(parts[1], columns={"pair": parts[1].y})
    with pytest.raises(ValueError, match="no column") as error:
        compare_searches(*parts[::-1], galleries=parts[::-1], names=["match", file])
    assert f"{file!r} has no column 'pair'" in str(error.value)
