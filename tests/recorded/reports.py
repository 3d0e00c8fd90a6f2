"""Audits as text and JSON, and the readers of files."""

import json

import numpy as np

from skfairfr import make_face_embeddings
from skfairfr.datasets import load_embeddings, load_pairs
from skfairfr.report import audit, audit_pairs
from tests.recorded.data import THREE, columns, faces, listed, tied, with_unknown

QUICK = {"far": 0.05, "n_resamples": 20}


def texts_of(found):
    """The JSON of a report, read again, and its text."""
    return {
        "json": json.loads(found.to_json()),
        "report": json.loads(found.to_json(source="here", version="0")),
        "text": found.to_text(),
        "report text": found.to_text("here"),
    }


def audited(*data, **options):
    return texts_of(audit(*data, **(QUICK | options)))


def record_audits(record):
    X, y, groups = columns(faces(60))
    three = faces(150, groups=("a", "b", "c"), crowding=8.0)
    first = np.unique(y, return_index=True)[1]
    mixed = groups.copy()
    mixed[first[:3]] = np.where(mixed[first[:3]] == "male", "female", "male")
    one_each = np.sort(first)
    many = np.where(np.arange(len(y)) < 120, 0, y)
    cases = {
        "plain": (X, y, groups),
        "three": columns(three),
        "unknown": (X, y, with_unknown(groups)),
        "lone": (X, y, np.where(y == y[0], "alone", groups)),
        "mixed": (X, y, mixed),
        "one image each": (X[one_each], y[one_each], groups[one_each]),
        "dominant": (X, many, groups),
        "tied": tied(),
    }
    for name, data in cases.items():
        record(f"audit {name}", audited, *data)
        record(f"audit {name} levels", audited, *data, far=[0.2, 0.01])
    made = make_face_embeddings(
        200, (2, 3), 16, groups=THREE, n_domains=2, random_state=0
    )
    record("audit domain", audited, *columns(made), domain=made.domain)
    for options in (
        {"resample": "images"},
        {"resample": "both"},
        {"average": "identity"},
        {"impostors": "same_group"},
        {"method": "offdiagonal", "resample": "images"},
        {"confidence_level": 0.5, "attribute": "gender"},
        {"random_state": 3},
        {"far": None},
        {"far": None, "threshold": 0.5},
        {"far": None, "threshold": [0.9, 0.3]},
        {"far": 1e-6},
    ):
        record(f"audit plain {options}", audited, X, y, groups, **options)


def record_audits_of_pairs(record):
    scores, images, identities, groups = listed(30)
    options = QUICK | {"attribute": "gender"}
    cases = {
        "unnamed": {},
        "named": {"images": images},
        "images": {"images": images, "resample": "images"},
        "unnamed images": {"resample": "images"},
        "threshold": {"far": None, "threshold": 0.4},
        "identity": {"average": "identity"},
    }
    for name, more in cases.items():
        record(
            f"audit_pairs {name}",
            lambda m=more: texts_of(
                audit_pairs(scores, identities, groups, **(options | m))
            ),
        )
    record(
        "audit_pairs reversed",
        lambda: texts_of(audit_pairs(-scores, identities, groups, **options)),
    )


def record_synthetic_data(record):
    for options in (
        {},
        {"groups": THREE, "random_state": 1},
        {"kappa": 50.0, "crowding": {"male": 0.0, "female": 12.0}},
        {"kappa": {"male": 60.0, "female": 20.0}, "heterogeneity": 0.0},
        {"n_domains": 2, "domain_shift": 0.1},
        {"n_features": 2},
        {"images_per_identity": 1},
    ):
        made = {"n_identities": 10, "n_features": 5, "random_state": 0} | options
        record(f"make_face_embeddings {options}", make_face_embeddings, **made)
    generator = np.random.default_rng(0)
    record(
        "make_face_embeddings generator",
        make_face_embeddings,
        5,
        random_state=generator,
    )


def record_readers(record, folder):
    X, y, groups = columns(faces(10))
    np.savez(folder / "read.npz", X=X, y=y, gender=groups)
    np.save(folder / "read.npy", X)
    lines = ["identity,gender", *(f"{a},{b}" for a, b in zip(y, groups, strict=True))]
    (folder / "read.csv").write_text("\n".join(lines))
    np.savez(folder / "unknown.npz", X=X, y=y, gender=np.where(y % 2, "nan", groups))
    for name in ("read.npz", "read.npy", "unknown.npz"):
        record(f"load_embeddings {name}", load_embeddings, folder / name)
        record(
            f"load_embeddings {name} columns",
            load_embeddings,
            folder / name,
            columns=["gender"],
        )
    labels = {"labels": folder / "read.csv", "identity": "gender"}
    record("load_embeddings labels", load_embeddings, folder / "read.npy", **labels)
    rows = ["score,identity_1,identity_2,image_1,image_2,age_1,age_2"]
    rows += ["0.5,a,b,1,2,old,", "0.9,a,a,1,3,old,old", "-0.25,b,c,2,4,,young"]
    (folder / "pairs.csv").write_text("\n".join(rows))
    for options in (
        {},
        {"columns": ["age_1", "age_2"]},
        {"columns": ["age"]},
        {"distance": True},
        {"image_1": "image_1", "image_2": "image_2"},
    ):
        record(f"load_pairs {options}", load_pairs, folder / "pairs.csv", **options)
