"""Templates from enrolment lists and columns: rates are those of a loop over all samples."""

import warnings

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr.cli import main
from skfairfr.datasets import load_trials
from skfairfr.report import compare_systems, read_data
from tests.oracles.pairs import unit
from tests.oracles.searches import scores_of
from tests.refusals import refusal

PEOPLE = ["ann", "bob", "cleo", "dan", "eve"]
SEX = dict(zip(PEOPLE, "fmfmf", strict=True))
# Four images of everybody; the first one to three are enrolled.
WHO = [person for person in PEOPLE for _ in range(4)]
IMAGES = [f"{person}/{k}.wav" for person in PEOPLE for k in range(4)]
N_ENROLLED = dict(zip(PEOPLE, [2, 1, 3, 2, 2], strict=True))
ENROLLED = [person for person in PEOPLE for k in range(4) if k < N_ENROLLED[person]]
IS_ENROLLED = np.array(
    [int(i[-5]) < N_ENROLLED[w] for i, w in zip(IMAGES, WHO, strict=True)]
)
X = np.random.default_rng(1).normal(size=(20, 6)) + np.repeat(
    np.eye(5, 6) * 2, 4, axis=0
)
X = np.round(X, 3)
THRESHOLD = 0.35
# An enrolment list, as speech toolkits write it.
LISTS = {
    "colon": "{}: {}",
    "spaces": "{} {}",
    "tabs": "{}\t{}",
    "apart": "{} : {}",
}


def listed(way="colon", names=None):
    lines = []
    for person in PEOPLE:
        own = [i for i in IMAGES if i.startswith(person)][: N_ENROLLED[person]]
        lines.append(
            LISTS[way].format((names or {}).get(person, person), " ".join(own))
        )
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path):
    np.savez(
        *(tmp_path / "voices.npz",),
        embedding=X,
        identity=WHO,
        image=IMAGES,
        sex=[SEX[w] for w in WHO],
        enrolled=np.where(IS_ENROLLED, "yes", "no"),
    )
    rows = zip(IMAGES, WHO, strict=True)
    lines = [f"{image},{who},{SEX[who]}" for image, who in rows]
    (tmp_path / "images.csv").write_text("\n".join(["image,identity,sex", *lines]))
    for way in LISTS:
        (tmp_path / f"{way}.txt").write_text(listed(way))
    return tmp_path


def rates(template, group=None):
    """FMR and FNMR of every image that is not enrolled with every template, pair by pair."""
    people, scores = scores_of(
        X[~IS_ENROLLED], np.array(WHO)[IS_ENROLLED], X[IS_ENROLLED], template
    )
    errors, counts = [0, 0], [0, 0]
    for own, who in zip(scores, np.array(WHO)[~IS_ENROLLED], strict=True):
        for score, person in zip(own, people, strict=True):
            if group is None or SEX[who] == SEX[person] == group:
                same = int(who == person)
                counts[same] += 1
                errors[same] += (score >= THRESHOLD) != same
    return np.divide(errors, counts).tolist()


def measured(data, group=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few pairs
        roc = data.fit(SimilarityROC(n_resamples=2, random_state=0), ("sex",))
        return [
            roc.estimate(threshold=THRESHOLD, group=group, rate=rate).value
            for rate in ("far", "frr")
        ]


@pytest.mark.parametrize("template", ["mean", "max"])
@pytest.mark.parametrize("enrolment", [*LISTS, "enrolled"])
def test_all_images_are_compared_with_all_templates(folder, enrolment, template):
    path = enrolment if enrolment == "enrolled" else str(folder / f"{enrolment}.txt")
    options = {"enrolment": path, "template": template}
    data = read_data(folder / "voices.npz", "sex", **options)
    for group in (None, "f", "m"):
        assert measured(data, group) == pytest.approx(rates(template, group))
    assert [*data.reading.read_as.values()] == [
        f"5 templates of 10 images ({template})"
    ]
    assert data.genuine_pairs().tolist() == [2, 3, 1, 2, 2]
    turned = data.take(np.arange(len(data.y))[::-1])
    assert measured(turned) == pytest.approx(rates(template))


@pytest.mark.parametrize("names", [None, {p: f"model_{p}" for p in PEOPLE}])
@pytest.mark.parametrize("template", ["mean", "max"])
def test_trials_call_templates_by_their_names(folder, template, names):
    (folder / "enrol.txt").write_text(listed(names=names))
    tests = [i for i, inside in zip(IMAGES, IS_ENROLLED, strict=True) if not inside]
    (folder / "trials.txt").write_text(
        "".join(f"{(names or {}).get(p, p)} {t}\n" for p in PEOPLE for t in tests)
    )
    options = {"enrolment": folder / "enrol.txt", "template": template}
    trials = {"trials": folder / "trials.txt", **options}
    data = read_data(folder / "voices.npz", "sex", **trials)
    assert len(data.y_score) == 5 * len(tests)
    for group in (None, "f", "m"):
        assert measured(data, group) == pytest.approx(rates(template, group))


@pytest.mark.parametrize("template", ["mean", "max"])
def test_two_templates_may_be_compared_as_in_ijb(folder, template):
    (folder / "enrol.txt").write_text(
        "t1: ann/0.wav ann/1.wav\nt2: ann/2.wav ann/3.wav\nt3: bob/0.wav\n"
    )
    (folder / "trials.txt").write_text("t1 t2 target\nt1 t3 nontarget\n")
    rows = unit(X)
    wanted = []
    for one, other in (([0, 1], [2, 3]), ([0, 1], [4])):
        if template == "mean":
            one, other = (unit([rows[side].mean(axis=0)])[0] for side in (one, other))
            wanted.append(one @ other)
        else:
            wanted.append(max(rows[i] @ rows[j] for i in one for j in other))
    paths = folder / "voices.npz", folder / "trials.txt"
    data = load_trials(*paths, enrolment=folder / "enrol.txt", template=template)
    np.testing.assert_allclose(data.y_score, wanted, atol=1e-6)
    assert data.identity_1.tolist() == ["ann", "ann"]


def test_lists_of_scores_call_templates_too(folder):
    (folder / "scores.txt").write_text("ann ann/3.wav 0.5\nann bob/2.wav 0.1\n")
    files = {"trials": folder / "scores.txt", "enrolment": folder / "colon.txt"}
    data = read_data(folder / "images.csv", "sex", **files)
    assert data.y_score.tolist() == [0.5, 0.1]
    assert data.identities[0].tolist() == ["ann", "ann"]
    assert data.columns["sex"][1].tolist() == ["f", "m"]


def test_images_that_failed_are_left_out_of_templates(folder):
    failed = X.copy()
    failed[0] = np.nan  # one of ann's two, and bob's only one
    failed[4] = 0
    np.savez(
        folder / "failed.npz", embedding=failed, identity=WHO, image=IMAGES, sex=WHO
    )
    for template in ("mean", "max"):
        options = {"enrolment": folder / "colon.txt", "template": template}
        with refusal("embedding", "in 1 of 15 rows, first in data row 12"):
            read_data(folder / "failed.npz", **options)
        for failures, n_genuine in (("report", 7), ("reject", 10)):
            data = read_data(folder / "failed.npz", failures=failures, **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                roc = data.fit(SimilarityROC(n_resamples=2))
                assert roc.n_genuine_[0] == n_genuine
                wanted = (n_genuine - 7) / n_genuine
                assert roc.estimate(threshold=-1.0).value == pytest.approx(wanted)


def test_a_template_of_images_of_two_groups_is_in_none(folder):
    sex = ["m", *(SEX[w] for w in WHO[1:])]
    np.savez(folder / "mixed.npz", embedding=X, identity=WHO, image=IMAGES, sex=sex)
    data = read_data(folder / "mixed.npz", "sex", enrolment=folder / "colon.txt")
    assert [*data.columns["sex"][-5:]] == [None, "m", "f", "m", "f"]


def test_two_systems_are_compared_by_the_same_templates(folder):
    rng = np.random.default_rng(2)
    np.savez(
        *(folder / "other.npz",),
        embedding=X + rng.normal(size=X.shape), identity=WHO, image=IMAGES,
        sex=[SEX[w] for w in WHO],
    )  # fmt: skip
    both = [
        read_data(
            folder / name,
            "sex",
            enrolment=folder / "colon.txt",
            template="max",
            image="image",
        )
        for name in ("voices.npz", "other.npz")
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare_systems(*both, threshold=THRESHOLD)
    change = next(c for c in found.changes if c.rate == "far" and c.group is None)
    assert change.before == pytest.approx(rates("max")[0])


def test_the_command_takes_lists_and_columns(folder, capsys):
    for enrolment, template in ((folder / "colon.txt", "mean"), ("enrolled", "max")):
        command = ["audit", str(folder / "voices.npz"), "--attribute", "sex"]
        command += ["--enrolment", str(enrolment), "--template", template]
        assert main([*command, "--threshold", str(THRESHOLD)]) == 0
        assert f"5 templates of 10 images ({template})" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "options", "argument", "words"),
    [
        (None, {"template": "max"}, "template", "'max' is of images enrolled together"),
        (
            "ann: ann/0.wav ann/9.wav",
            {},
            "enrolment",
            "lists 1 image ('ann/9.wav') that",
        ),
        (
            "m: ann/0.wav bob/0.wav",
            {},
            "enrolment",
            "has images of 2 people ('ann', 'bob')",
        ),
        ("bob: ann/0.wav", {}, "enrolment", "has 'ann/0.wav' as an image of 'bob'"),
        ("a: ann/0.wav\nb: ann/1.wav", {}, "enrolment", "has 2 templates of 'ann'"),
        ("", {}, "enrolment", "enrols 0 of 20 images"),
        (
            "ann: ann/0.wav",
            {"template": "best"},
            "template",
            "must be one of 'mean', 'max'",
        ),
        ("ann: ann/0.wav", {"domain": "sex"}, "domain", "is of single images"),
        ("ann: ann/0.wav", {"fte": "sex"}, "fte", "is of single images"),
        ("ann", {}, "enrolment", "enrols 0 of 20 images"),
    ],
)
def test_what_makes_no_templates_is_an_error(folder, text, options, argument, words):
    if text is not None:
        (folder / "list.txt").write_text(text, encoding="utf-8")
        options = {"enrolment": str(folder / "list.txt"), **options}
    with refusal(argument, words):
        read_data(folder / "voices.npz", "sex", **options)


def test_a_column_that_marks_nothing_is_an_error(folder):
    with refusal("enrolment", "contains 'f', 'm'", "write yes, or no"):
        read_data(folder / "voices.npz", enrolment="sex")
    with refusal("enrolment", "'lacking'"):
        read_data(folder / "voices.npz", enrolment="lacking")
    np.save(folder / "scores.npy", [0.5, 0.1])
    (folder / "trials.txt").write_text("ann ann/3.wav 1\nann bob/2.wav 0\n")
    files = {"trials": folder / "trials.txt", "enrolment": folder / "colon.txt"}
    with refusal("enrolment", "no table of their labels is named"):
        read_data(folder / "scores.npy", **files)
