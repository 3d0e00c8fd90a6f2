"""The default screen of each command, from data of many groups: at most 40 lines."""

from dataclasses import replace

import numpy as np
import pytest

from skfairfr.report import (
    EmbeddingData,
    _regressions,
    audit,
    audit_data,
    audit_decisions,
    certify_data,
    compare_systems,
    explain,
    identify_data,
    monitor_log,
)
from tests.report.audits import synthetic

# Lines of a text; the command adds how to see all sections, and where the files are.
MOST_LINES = 38
GROUPS = {f"group {letter}": 0.125 for letter in "abcdefgh"}
LIMITS = {"max_fmr": 0.02, "max_fnmr": 0.1, "max_fmr_ratio": 1.5, "max_fnmr_ratio": 1.5}


@pytest.fixture(scope="module")
def faces():
    """Embeddings of eight groups by two sexes."""
    X, y, group = synthetic(240, GROUPS)
    sex = np.where(y % 2, "female", "male")
    return EmbeddingData(X, y, {"accent": group, "sex": sex})


def attempts(n=1500):
    """Errors, people and groups by two attributes of a log."""
    rng = np.random.default_rng(0)
    person = rng.integers(0, n // 4, n)
    columns = {
        "sex": np.where(person % 2, "female", "male"),
        "skin": np.array([f"type {i}" for i in person // 2 % 8]),
    }
    return rng.random(n) < 0.05 + 0.05 * (person % 2), person, columns


def of_embeddings(faces, tmp_path):
    return audit_data(faces, far=[0.1, 0.01], limits=LIMITS, p_target=[0.1, 0.01])


def of_everyone(faces, tmp_path):
    return audit(faces.X, faces.y, far=[0.1, 0.01], limits={"max_fnmr": 0.1})


def of_decisions(faces, tmp_path):
    return audit_decisions(*attempts(), limits={"max_fnmr": 0.1, "max_fnmr_ratio": 1.2})


def of_searches(faces, tmp_path):
    enrolled = np.isin(
        np.arange(faces.y.size), np.unique(faces.y, return_index=True)[1]
    )
    enrolled &= faces.y % 3 > 0
    gallery, probes = (
        EmbeddingData(
            faces.X[rows], faces.y[rows], {n: c[rows] for n, c in faces.columns.items()}
        )
        for rows in (enrolled, ~enrolled)
    )
    return identify_data(probes, gallery=gallery, fpir=[0.1, 0.05])


def of_systems(faces, tmp_path):
    rng, faces = np.random.default_rng(0), faces.take(faces.y < 40)
    others = (
        replace(faces, X=faces.X + noise * rng.standard_normal(faces.X.shape))
        for noise in (0.1, 0.2)
    )
    return compare_systems(faces, *others, far=0.1, p_target=[0.1])


def of_threshold(faces, tmp_path):
    return certify_data(faces, limits={"max_fmr": 0.2, "max_fnmr": 0.2})


def of_own_thresholds(faces, tmp_path):
    return certify_data(faces, limits={"max_fmr": 0.2, "max_fnmr": 0.2}, own=True)


def of_logs(faces, tmp_path):
    error, person, columns = attempts()
    rows = zip(~error + 0, person, columns["skin"], strict=True)
    lines = [",".join(map(str, row)) for row in [("accepted", "person", "skin"), *rows]]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    limits = {"max_fnmr": 0.05, "max_fnmr_ratio": 1.1}
    return monitor_log(tmp_path / "log.csv", "skin", limits=limits)


def of_causes(faces, tmp_path):
    faces = faces.take(faces.y < 190)
    covariates = {"age": 20 + faces.y % 40, "device": faces.y % 3}
    data = replace(faces, covariates=covariates)
    return explain(data, far=0.1, curves=["age"])


def of_few_people(faces, tmp_path):
    """Causes of errors of so few people that groups are left out, and numbers marked."""
    X, y, group = synthetic(110, GROUPS)
    columns = {"accent": group, "sex": np.where(y % 2, "female", "male")}
    age = np.random.default_rng(0).integers(20, 60, 110)[y]
    data = EmbeddingData(X, y, columns, covariates={"age": age, "device": y % 3})
    return explain(data, far=0.1, curves=["age"])


def of_wrong_labels(faces, tmp_path):
    return audit_data(faces.take(faces.y < 96), far=0.1, label_error_rate=0.05)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "make",
    [
        *(of_embeddings, of_everyone, of_decisions),
        *(of_searches, of_systems, of_threshold, of_own_thresholds, of_logs),
        *(of_causes, of_few_people, of_wrong_labels),
    ],
)
def test_default_screen_of_many_groups_fits_a_terminal(
    faces, tmp_path, make, monkeypatch
):
    monkeypatch.setattr(_regressions, "MOST_DRAWN", 20_000)
    found = make(faces, tmp_path)
    lines = found.to_text(full=False).splitlines()
    assert len(lines) <= MOST_LINES, "\n".join(lines)
    assert max(map(len, lines)) <= 100
    assert "CI ," not in " ".join(" ".join(lines).split())
    assert len(found.to_text().splitlines()) > len(lines)
