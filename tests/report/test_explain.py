"""Explained errors of embeddings, pairs, logs and searches."""

import json

import numpy as np
import pytest

from skfairfr.cli import main
from skfairfr.report import EmbeddingData, PairData, explain


def make_images(n=150, seed=0):
    """Embeddings whose FNMR depends on quality, which is lower in f."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n), 4)
    sex = np.where(y % 2, "f", "m")
    quality = np.clip(rng.normal(np.where(sex == "f", 0.45, 0.7), 0.12), 0.05, 1)
    base = rng.normal(size=(n, 64)) / 8
    X = base[y] + rng.normal(size=(y.size, 64)) * (0.13 / np.sqrt(quality))[:, None]
    return X, y, sex, quality


def test_pairs_of_embeddings_give_the_same_as_embeddings():
    X, y, sex, quality = make_images()
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    one, other = np.triu_indices(y.size, 1)
    score = (unit @ unit.T)[one, other]
    sides = {n: (c[one], c[other]) for n, c in (("sex", sex), ("quality", quality))}
    pairs = PairData(
        score,
        (y[one], y[other]),
        {"sex": sides["sex"]},
        covariates={"quality": sides["quality"]},
    )
    images = EmbeddingData(X, y, {"sex": sex}, covariates={"quality": quality})
    found, expected = (
        explain(d, threshold=0.4, reference="m") for d in (pairs, images)
    )
    for name in ("FMR", "FNMR"):
        for a, b in zip(
            found.explanations[name].ratios,
            expected.explanations[name].ratios,
            strict=True,
        ):
            assert a.n_errors == pytest.approx(b.n_errors, abs=1)
            assert a.ratio == pytest.approx(b.ratio, rel=0.01)
            assert a.low == pytest.approx(b.low, rel=0.01)


def test_command_answers_for_embeddings(tmp_path, capsys):
    X, y, sex, quality = make_images(300)
    np.savez(tmp_path / "a.npz", embedding=X, identity=y, sex=sex, quality=quality)
    asked = ["explain", str(tmp_path / "a.npz"), "--attribute", "sex", "--quiet"]
    asked += ["--covariate", "quality", "--reference", "m"]
    assert main([*asked, "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert "f over m: FNMR" in text
    assert "at equal quality: no significant difference" in " ".join(text.split())
    assert len(text.splitlines()) <= 40
    record = json.loads((tmp_path / "out" / "explanation.json").read_text())
    (ratio,) = record["rates"]["FNMR"]["ratios"]
    assert ratio["raw_low"] > 1.2
    assert ratio["low"] < 1 < ratio["high"]


def test_command_answers_for_a_log(tmp_path, capsys):
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(400), 5)
    sex, device = np.where(person % 2, "f", "m"), rng.choice(["a", "b"], person.size)
    accepted = rng.random(person.size) > np.where(device == "a", 0.05, 0.2)
    rows = zip(person, sex, device, accepted.astype(int), strict=True)
    lines = ["person,sex,device,accepted", *(",".join(map(str, row)) for row in rows)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines))
    asked = ["explain", str(path), "--accepted", "accepted", "--attribute", "sex"]
    assert main([*asked, "--covariate", "device", "--quiet"]) == 0
    assert "FRR" in capsys.readouterr().out


def test_command_compares_combinations(tmp_path, capsys):
    X, y, sex, quality = make_images(300)
    age = np.where(y % 3, "old", "young")
    np.savez(tmp_path / "a.npz", embedding=X, identity=y, sex=sex, age=age, q=quality)
    asked = ["explain", str(tmp_path / "a.npz"), "-a", "sex", "-a", "age", "--quiet"]
    asked += ["--interaction", "sex,age", "--covariate", "q", "--reference", "m"]
    assert main([*asked, "--reference", "old", "--fmr", "1%"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "f & young over m & old: FNMR" in text
    assert "at equal q:" in text
    assert "at equal q and age:" in text
    assert main([*asked, "--interaction", "sex,race"]) == 2
    assert "--interaction names 'race'" in capsys.readouterr().err


def test_searches_are_explained():
    X, y, sex, _ = make_images(400)
    enrolled = (np.arange(y.size) % 4 == 0) & (y < 200)
    gallery = EmbeddingData(X[enrolled], y[enrolled], {"sex": sex[enrolled]})
    probes = EmbeddingData(X[~enrolled], y[~enrolled], {"sex": sex[~enrolled]})
    found = explain(probes, gallery=gallery, far=0.05)
    assert {*found.explanations} <= {"FNIR", "FPIR"}
    assert "FNIR" in found.to_text()


def test_unknown_reference_is_named():
    X, y, sex, _ = make_images()
    with pytest.raises(ValueError, match="'x' is no group"):
        explain(EmbeddingData(X, y, {"sex": sex}), far=0.01, reference="x")


@pytest.mark.parametrize(
    ("flag", "column", "words"),
    [
        ("--covariate", "nothing", "--covariate cannot be found"),
        ("--curve", "sex", "--curve 'sex' is no number"),
        ("--covariate", "copy", "--covariate sex, copy determine each other"),
    ],
)
def test_command_names_its_own_flags(tmp_path, capsys, flag, column, words):
    X, y, sex, _ = make_images()
    np.savez(tmp_path / "a.npz", embedding=X, identity=y, sex=sex, copy=sex)
    asked = ["explain", str(tmp_path / "a.npz"), "-a", "sex", "--quiet", flag, column]
    assert main(asked) == 2
    assert words in capsys.readouterr().err
