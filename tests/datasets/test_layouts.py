"""Every layout of lists and of embeddings: a file of ten rows has the rates of a double loop.

The ten pairs are of six images of three people, and every file says the same about them.
"""

import gzip
import io
import warnings

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr.cli import main
from skfairfr.datasets import (
    load_embeddings,
    load_pairs,
    load_trials,
)
from skfairfr.datasets._texts import NAMES
from skfairfr.report import read_data
from tests.refusals import refusal

PEOPLE = ["Ann_Lee", "Ann_Lee", "Bob", "Bob", "Cleo", "Cleo"]
NUMBERS = [1, 2, 1, 2, 1, 2]
SEX = dict(zip(PEOPLE, "ffmmff", strict=True))
IMAGES = [f"{p}_{n:04d}" for p, n in zip(PEOPLE, NUMBERS, strict=True)]
X = np.round(np.random.default_rng(3).normal(size=(6, 4)) + np.eye(6, 4)[::-1], 3)
# Genuine pairs and impostor pairs, some within a group: ten rows.
PAIRS = [(0, 1), (2, 3), (4, 5), (0, 2), (1, 4), (0, 5), (2, 4), (3, 5), (1, 3), (5, 1)]
SCORES = [0.71, 0.34, 0.5, 0.12, 0.62, -0.2, 0.05, 0.41, 0.02, 0.33]
THRESHOLD = 0.4


def genuine(i, j):
    return PEOPLE[i] == PEOPLE[j]


def rates(scores, threshold=THRESHOLD):
    """FMR and FNMR overall and of each group, by a loop over all pairs."""
    found = {}
    for group in (None, "f", "m"):
        errors, counts = [0, 0], [0, 0]
        for (i, j), score in zip(PAIRS, scores, strict=True):
            if group in (None, SEX[PEOPLE[i]]) and group in (None, SEX[PEOPLE[j]]):
                counts[genuine(i, j)] += 1
                errors[genuine(i, j)] += (score >= threshold) != genuine(i, j)
        found[group] = [
            e / n if n else None for e, n in zip(errors, counts, strict=True)
        ]
    return found


def cosines():
    norm = np.linalg.norm(X, axis=1)
    return [X[i] @ X[j] / norm[i] / norm[j] for i, j in PAIRS]


def measured(data, groups=True, threshold=THRESHOLD):
    """The same of data that were read."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few pairs
        roc = data.fit(SimilarityROC(n_resamples=2, random_state=0), ("sex",) * groups)
        for group in (None, "f", "m") if groups else (None,):
            found[group] = [
                roc.estimate(threshold=threshold, group=group, rate=rate).value
                for rate in ("far", "frr")
            ]
    return found


def agree(found, right):
    for group, both in found.items():
        for value, wanted in zip(both, right[group], strict=True):
            assert wanted is None or value == pytest.approx(wanted), group


def word(i, j):
    return "target" if genuine(i, j) else "nontarget"


def lfw(i, j, score):
    if genuine(i, j):
        return f"{PEOPLE[i]} {NUMBERS[i]} {NUMBERS[j]}"
    return f"{PEOPLE[i]} {NUMBERS[i]} {PEOPLE[j]} {NUMBERS[j]}"


# One line of each layout.
LINES = {
    "pairs": lambda i, j, s: f"{IMAGES[i]} {IMAGES[j]}",
    "voxceleb": lambda i, j, s: f"{int(genuine(i, j))} {IMAGES[i]} {IMAGES[j]}",
    "kaldi": lambda i, j, s: f"{IMAGES[i]} {IMAGES[j]} {word(i, j)}",
    "scores": lambda i, j, s: f"{IMAGES[i]} {IMAGES[j]} {s}",
    "wespeaker": lambda i, j, s: f"{IMAGES[i]} {IMAGES[j]} {s} {word(i, j)}",
    "speechbrain": lambda i, j, s: f"{IMAGES[i]} {IMAGES[j]} {int(genuine(i, j))} {s}",
    "voxceleb-scores": lambda i, j, s: f"{int(genuine(i, j))} {IMAGES[i]} {IMAGES[j]} {s}",
    "bob4": lambda i, j, s: f"{PEOPLE[i]} {PEOPLE[j]} {IMAGES[j]} {s}",
    "bob5": lambda i, j, s: f"{PEOPLE[i]} {IMAGES[i]} {PEOPLE[j]} {IMAGES[j]} {s}",
    "labels": lambda i, j, s: f"{int(genuine(i, j))}",
    "lfw": lfw,
}  # fmt: skip
WITH_SCORES = ("scores", "wespeaker", "speechbrain", "voxceleb-scores")
WITH_TRUTH = ("wespeaker", "speechbrain", "voxceleb-scores")
TRIALS = ("pairs", "voxceleb", "kaldi", "lfw")


def listed(layout, separator=" ", comma=False):
    rows = [LINES[layout](i, j, s) for (i, j), s in zip(PAIRS, SCORES, strict=True)]
    text = "\n".join(rows) + "\n"
    text = text.replace(".", ",") if comma else text
    return text.replace(" ", separator)


def test_every_layout_is_tried_here():
    assert {*LINES, "table"} == {*NAMES}


@pytest.fixture
def folder(tmp_path):
    """A folder with tables of the images and of the people, and embeddings."""
    rows = zip(IMAGES, PEOPLE, strict=True)
    lines = [f"{image},{person},{SEX[person]}" for image, person in rows]
    (tmp_path / "images.csv").write_text("\n".join(["image,identity,sex", *lines]))
    lines = [f"{person},{sex}" for person, sex in SEX.items()]
    (tmp_path / "people.csv").write_text("\n".join(["person,sex", *lines]))
    np.savez(
        tmp_path / "faces.npz",
        embedding=X,
        identity=PEOPLE,
        image=IMAGES,
        sex=[SEX[p] for p in PEOPLE],
    )
    return tmp_path


# Ends of lines and separators that mean the same.
WRITTEN = {
    "spaces": lambda text: text.encode(),
    "tabs": lambda text: text.replace(" ", "\t").encode(),
    "aligned": lambda text: text.replace(" ", "   ").replace("\n", "  \r\n").encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
    "mark": lambda text: b"\xef\xbb\xbf\n" + text.encode(),
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("layout", WITH_SCORES)
def test_lists_of_scores_with_labels_of_images(folder, layout, written):
    (folder / "list").write_bytes(WRITTEN[written](listed(layout)))
    data = read_data(folder / "images.csv", "sex", trials=folder / "list")
    agree(measured(data), rates(SCORES))
    assert data.reading.read_as[str(folder / "list")].startswith(f"{layout} (")


def test_a_list_of_images_and_people_is_enough_for_scores(folder):
    rows = zip(IMAGES, PEOPLE, strict=True)
    (folder / "utt2spk").write_text("".join(f"{i} {p}\n" for i, p in rows))
    (folder / "list").write_text(listed("voxceleb-scores"))
    of_people = {"metadata": folder / "people.csv", "on": "person"}
    data = read_data(folder / "utt2spk", "sex", trials=folder / "list", **of_people)
    agree(measured(data), rates(SCORES))


@pytest.mark.parametrize("layout", WITH_TRUTH)
def test_lists_of_scores_alone_are_pairs_without_people(folder, layout):
    (folder / "list.txt").write_text(listed(layout))
    agree(measured(read_data(folder / "list.txt"), groups=False), rates(SCORES))
    of_images = {"metadata": folder / "images.csv", "on": "image"}
    data = read_data(folder / "list.txt", "sex", **of_images)
    agree(measured(data), rates(SCORES))


VOXCELEB = {
    "voxceleb-scores": lambda i, j, s: f"{int(genuine(i, j))} {{}} {{}} {s}",
    "wespeaker": lambda i, j, s: f"{{}} {{}} {s} {word(i, j)}",
    "scores": lambda i, j, s: f"{{}} {{}} {s}",
}


def voxceleb(layout, folders=PEOPLE):
    """Ten rows whose files are in folders."""
    files = [f"{one}/5r0d/{k:05d}.wav" for k, one in enumerate(folders)]
    rows = (
        VOXCELEB[layout](i, j, s).format(files[i], files[j])
        for (i, j), s in zip(PAIRS, SCORES, strict=True)
    )
    return "\n".join(rows)


@pytest.mark.parametrize("name", ["person", "VoxCeleb1 ID", "VoxCeleb2 ID "])
@pytest.mark.parametrize("layout", VOXCELEB)
def test_people_are_the_first_folders_if_metadata_name_them(folder, layout, name):
    lines = [f"{person}\tx\t{sex}" for person, sex in SEX.items()]
    (folder / "vox_meta.csv").write_text("\n".join([f"{name}\tName\tsex", *lines]))
    (folder / "list.txt").write_text(voxceleb(layout))
    data = read_data(folder / "list.txt", "sex", metadata=folder / "vox_meta.csv")
    assert data.identities[0].tolist() == [PEOPLE[i] for i, _ in PAIRS]
    assert data.identities[1].tolist() == [PEOPLE[j] for _, j in PAIRS]
    agree(measured(data), rates(SCORES))
    read_as = data.reading.read_as[str(folder / "list.txt")]
    assert read_as.endswith(" (people are read from the part before the first /)")


def test_people_are_the_first_folders_if_labels_agree(folder):
    (folder / "list.txt").write_text(voxceleb("wespeaker"))
    assert load_pairs(folder / "list.txt").identity_2[0] == "Ann_Lee"
    one = [*PEOPLE[:-1], "Dan"]
    for folders in (one, ["eval"] * 6, ["", *PEOPLE[1:]]):
        (folder / "list.txt").write_text(voxceleb("wespeaker", folders))
        assert load_pairs(folder / "list.txt").identity_1 is None
    (folder / "list.txt").write_text(voxceleb("scores"))
    with refusal("identity_1", "identity_2 cannot be found"):
        load_pairs(folder / "list.txt")


def test_first_folders_that_are_known_people_and_contradict_labels_are_an_error(folder):
    (folder / "list.txt").write_text(voxceleb("wespeaker", [*PEOPLE[:-1], "Bob"]))
    with refusal("path", "contradicts the identities in 2 of 10 pairs"):
        read_data(folder / "list.txt", "sex", metadata=folder / "people.csv")


@pytest.mark.parametrize("name", ["list.csv", "list.tsv", "list.txt"])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
@pytest.mark.parametrize("layout", WITH_TRUTH)
def test_lists_between_other_separators_have_no_names_either(
    folder, layout, separator, name
):
    text = listed(layout, separator, comma=separator == ";")
    (folder / name).write_text(text)
    data = read_data(folder / name)
    assert len(data.y_score) == 10
    agree(measured(data, groups=False), rates(SCORES))


@pytest.mark.parametrize("layout", TRIALS)
def test_lists_of_trials_choose_pairs_of_embeddings(folder, layout):
    (folder / "trials.txt").write_text(listed(layout))
    data = read_data(folder / "faces.npz", "sex", trials=folder / "trials.txt")
    np.testing.assert_allclose(data.y_score, cosines(), atol=1e-6)
    agree(measured(data), rates(cosines()))


@pytest.mark.parametrize("first", ["", "1 5\n"])
def test_folds_of_lfw_are_kept_and_images_may_be_files(folder, first):
    order = sorted(range(10), key=lambda k: not genuine(*PAIRS[k]))
    some = [order[k] for k in (0, 1, 3, 4, 2, 2, 5, 6)]
    if not first:
        rows = [lfw(*PAIRS[k], None) for k in some]
        folds = [0, 0, 0, 0, 1, 1, 1, 1]
    else:
        first, folds = "2 2\n", [0] * 4 + [1] * 4
        rows = [lfw(*PAIRS[k], None) for k in some]
    (folder / "pairs.txt").write_text(first + "\n".join(rows))
    files = [
        f"{person}/{image}.jpg" for person, image in zip(PEOPLE, IMAGES, strict=True)
    ]
    np.savez(folder / "faces.npz", embedding=X, identity=PEOPLE, image=files)
    data = load_trials(folder / "faces.npz", folder / "pairs.txt")
    assert data.columns["fold"].tolist() == folds
    assert data.image_1.tolist() == [files[PAIRS[k][0]] for k in some]
    (folder / "pairs.txt").write_text("2 3\n" + "\n".join(rows))
    with refusal("trials", "announces 12 pairs, and there are 8"):
        load_trials(folder / "faces.npz", folder / "pairs.txt")


def test_lfw_that_contradicts_the_people_is_an_error(folder):
    (folder / "pairs.txt").write_text("Ann_Lee 1 2\nAnn_Lee 1 Bob 1\n")
    people = [*PEOPLE[:1], "Other", *PEOPLE[2:]]
    np.savez(folder / "faces.npz", embedding=X, identity=people, image=IMAGES)
    with refusal("path", "contradicts the identities in 1 of 2 pairs"):
        load_trials(folder / "faces.npz", folder / "pairs.txt")


@pytest.mark.parametrize("layout", ["voxceleb", "kaldi", "labels", "lfw"])
@pytest.mark.parametrize("shape", [(10,), (10, 1)])
def test_an_array_of_scores_next_to_its_list(folder, layout, shape):
    np.save(folder / "scores.npy", np.reshape(SCORES, shape))
    np.savez(folder / "scores.npz", score=np.reshape(SCORES, shape))
    (folder / "list.txt").write_text(listed(layout))
    for name in ("scores.npy", "scores.npz"):
        data = read_data(folder / name, trials=folder / "list.txt")
        agree(measured(data, groups=False), rates(SCORES))
        assert (data.identities is None) == (layout != "lfw")
        if layout != "labels":
            files = {"trials": folder / "list.txt", "labels": folder / "images.csv"}
            data = read_data(folder / name, "sex", **files)
            agree(measured(data), rates(SCORES))
    np.save(folder / "scores.npy", SCORES[:9])
    with refusal("trials", "lists 10 pairs, and there are 9 scores"):
        read_data(folder / "scores.npy", trials=folder / "list.txt")


def test_an_array_of_scores_next_to_a_table_of_pairs(folder):
    np.save(folder / "scores.npy", SCORES)
    rows = [
        f"{PEOPLE[i]},{PEOPLE[j]},{SEX[PEOPLE[i]]},{SEX[PEOPLE[j]]}" for i, j in PAIRS
    ]
    head = "identity_1,identity_2,sex_1,sex_2"
    (folder / "pairs.csv").write_text("\n".join([head, *rows]))
    data = read_data(folder / "scores.npy", "sex", trials=folder / "pairs.csv")
    agree(measured(data), rates(SCORES))


# ---- what names columns, and what does not -------------------------------------------


def test_names_of_columns_are_read_in_lists_too(folder):
    head = "image_1 image_2 score label\n"
    (folder / "list.txt").write_text(head + listed("wespeaker"))
    data = load_pairs(folder / "list.txt")
    assert data.y_score.tolist() == SCORES and data.read_as == {}


@pytest.mark.parametrize("layout", WITH_TRUTH)
def test_a_first_row_is_not_taken_for_names(folder, layout):
    text = listed(layout, ",")
    (folder / "list.csv").write_text(text)
    assert load_pairs(folder / "list.csv").y_score.tolist() == SCORES
    (folder / "list.csv").write_text(f"enrol,test,x,y\n{text}")
    with refusal("score", "contains no 'score'", "but 'enrol', 'test', 'x'"):
        load_pairs(folder / "list.csv")


def test_a_first_line_that_may_be_names_is_an_error_that_shows_both(folder):
    rows = ["a,b,target", "c,d,target", "c,e,nontarget"]
    (folder / "trials.csv").write_text("\n".join(rows))
    with refusal("trials", "may be table () or kaldi (image_1", "'a,b,target'"):
        load_trials(folder / "faces.npz", folder / "trials.csv")


def test_two_layouts_that_fit_are_an_error_until_one_is_stated(folder):
    rows = [
        f"{IMAGES[i]} {IMAGES[j]} {k % 2} {int(genuine(i, j))}"
        for k, (i, j) in enumerate(PAIRS)
    ]
    (folder / "list.txt").write_text("\n".join(rows))
    with refusal("path", "may be wespeaker (", " or speechbrain (", "--layout"):
        read_data(folder / "list.txt")
    data = read_data(folder / "list.txt", layout="wespeaker")
    agree(measured(data, groups=False), rates([k % 2 for k in range(10)]))
    with refusal(
        "layout", "needs the columns voxceleb-scores (y_true", "in which y_true is not"
    ):
        read_data(folder / "list.txt", layout="voxceleb-scores")
    with refusal("layout", "'x'", "wespeaker"):
        read_data(folder / "list.txt", layout="x")
    with refusal("layout", "'kaldi' needs the columns", "has 4"):
        read_data(folder / "list.txt", layout="kaldi")


def test_words_of_lists_may_be_quoted(folder):
    (folder / "list.txt").write_text('"a b" c 0.5 1\n"a d" e 0.25 0\n')
    data = load_pairs(folder / "list.txt")
    assert (data.y_score.tolist(), data.image_1.tolist()) == (
        [0.5, 0.25],
        ["a b", "a d"],
    )
    (folder / "list.txt").write_text("a m b 0.7 0.5\na n c 0.2 0.1\n")
    with refusal("path", "may be bob5 (identity_1"):
        load_pairs(folder / "list.txt")


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("name", ["pairs.csv", "pairs.tsv"])
def test_tables_with_semicolons_tabs_and_decimal_commas(folder, separator, name):
    head = " identity_1 ,identity_2, score,sex_1 ,sex_2"
    rows = [
        f"{PEOPLE[i]} , {PEOPLE[j]},{str(s).replace('.', '#')} ,{SEX[PEOPLE[i]]}, {SEX[PEOPLE[j]]}"
        for (i, j), s in zip(PAIRS, SCORES, strict=True)
    ]
    text = "\n".join([head, *rows]).replace(",", separator).replace("#", ",")
    (folder / name).write_text(text)
    agree(measured(read_data(folder / name, "sex")), rates(SCORES))


def test_a_comma_that_may_separate_thousands_is_an_error(folder):
    head = "identity_1;identity_2;score"
    rows = [f"{PEOPLE[i]};{PEOPLE[j]};{k + 1},{k}00" for k, (i, j) in enumerate(PAIRS)]
    (folder / "pairs.csv").write_text("\n".join([head, *rows]))
    with refusal("path", "'1,000' in column 'score' may be 1.000 or 1000"):
        load_pairs(folder / "pairs.csv")


# ---- embeddings ----------------------------------------------------------------------


def by_name(folder, name="xvectors.npz"):
    np.savez(folder / name, **dict(zip(IMAGES, X, strict=True)))
    return folder / name


def write_ark(folder):
    lines = [
        f"{n}  [ {' '.join(map(str, x))} ]\n" for n, x in zip(IMAGES, X, strict=True)
    ]
    (folder / "xvector.ark").write_text("".join(lines))
    return folder / "xvector.ark"


def rows_of(cells):
    """Lines of a table with some columns before those of labels."""
    rows = zip(cells, PEOPLE, IMAGES, strict=True)
    return [f"{cell},{person},{SEX[person]},{image}" for cell, person, image in rows]


def as_columns(folder, stem="", name="faces.csv"):
    head = ",".join(f"{stem}{k}" for k in range(4)) + ",identity,sex,image"
    lines = [head, *rows_of([",".join(map(str, x)) for x in X])]
    (folder / name).write_text("\n".join(lines))
    return folder / name


def as_lists(folder, form='"[{}]"', between=", "):
    cells = [form.format(between.join(map(str, x))) for x in X]
    lines = ["embedding,identity,sex,image", *rows_of(cells)]
    (folder / "faces.csv").write_text("\n".join(lines))
    return folder / "faces.csv"


def as_parquet(folder, columns):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    labels = {"identity": PEOPLE, "sex": [SEX[p] for p in PEOPLE], "image": IMAGES}
    parquet.write_table(pyarrow.table(columns | labels), folder / "faces.parquet")
    return folder / "faces.parquet"


EMBEDDINGS = {
    "columns": as_columns,
    "columns with a stem": lambda f: as_columns(f, "e_"),
    "columns and semicolons": lambda f: semicolons(as_columns(f, "f")),
    "lists": as_lists,
    "lists with spaces": lambda f: as_lists(f, "{}", " "),
    "parquet with columns": lambda f: as_parquet(
        f, {f"x{k + 1}": x for k, x in enumerate(X.T)}
    ),
    "parquet with lists": lambda f: as_parquet(f, {"features": X.tolist()}),
}


def semicolons(path):
    text = path.read_text().replace(",", ";").replace(".", ",")
    path.write_text(text)
    return path


@pytest.mark.parametrize("form", EMBEDDINGS)
def test_tables_of_embeddings(folder, form):
    path = EMBEDDINGS[form](folder)
    data = load_embeddings(path)
    np.testing.assert_allclose(data.X, X)
    assert data.y.tolist() == PEOPLE and {*data.columns} == {"sex", "image"}
    (folder / "trials").write_text(listed("kaldi"))
    found = read_data(path, "sex", trials=folder / "trials")
    agree(measured(found), rates(cosines()))
    assert read_data(path, "sex").X.shape == (6, 4)


@pytest.mark.parametrize("write", [by_name, write_ark])
@pytest.mark.parametrize("labels", ["images.csv", "utt2spk"])
def test_embeddings_by_name_find_their_labels_in_any_order(folder, write, labels):
    path = write(folder)
    lines = [f"{n} {p}" for n, p in zip(IMAGES, PEOPLE, strict=True)][::-1]
    (folder / "utt2spk").write_text("\n".join(lines))
    (folder / "spk2gender").write_text("".join(f"{p} {s}\n" for p, s in SEX.items()))
    (folder / "trials").write_text(listed("voxceleb"))
    files = {"labels": folder / labels, "trials": folder / "trials"}
    files |= {"metadata": folder / "spk2gender"} if labels == "utt2spk" else {}
    data = read_data(path, "sex", **files)
    np.testing.assert_allclose(data.y_score, cosines(), atol=1e-6)
    agree(measured(data), rates(cosines()))
    data = load_embeddings(path, folder / labels)
    assert data.y.tolist() == PEOPLE
    np.testing.assert_allclose(data.X, X)


def test_embeddings_by_name_lose_no_row_in_silence(folder):
    path = by_name(folder)
    with refusal("path", "no labels of its rows, and no", "(--labels)"):
        load_embeddings(path)
    text = (folder / "images.csv").read_text()
    (folder / "images.csv").write_text(text.replace("Bob_0001", "Bob_1"))
    with refusal("labels", "has no row for 1 image ('Bob_0001')"):
        load_embeddings(path, folder / "images.csv")
    (folder / "images.csv").write_text(f"{text}\nDan_0001,Dan,m")
    with pytest.warns(UserWarning, match="lists 1 image .'Dan_0001'. without an emb"):
        load_embeddings(path, folder / "images.csv")
    (folder / "images.csv").write_text(f"{text}\n{IMAGES[0]},Dan,m")
    with refusal("image", "'Ann_Lee_0001' several times"):
        load_embeddings(path, folder / "images.csv")
    np.savez(path, **dict(zip(IMAGES, X, strict=True)) | {"Dan_0001": X[0, :3]})
    with refusal("path", "an embedding of 4 numbers", "'Dan_0001'"):
        load_embeddings(path, folder / "images.csv")


def test_vectors_that_are_cut_are_an_error(folder):
    path = as_lists(folder)
    path.write_text(path.read_text().replace(f", {X[2, 3]}]", ", ...]"))
    with refusal("path", "'embedding' has 0 numbers in data row 3"):
        load_embeddings(path)
    path = write_ark(folder)
    path.write_text(path.read_text().replace(f" {X[2, 3]} ]", " ]"))
    with refusal("path", "line 3 ('Bob_0001", "of 4 numbers"):
        load_embeddings(path, folder / "images.csv")


def test_embeddings_and_pairs_in_one_table_are_an_error(folder):
    path = as_columns(folder)
    lines = path.read_text().splitlines()
    lines = [f"{lines[0]},score,label", *(f"{line},0.5,1" for line in lines[1:])]
    path.write_text("\n".join(lines))
    with refusal(
        "path", "may be embeddings ('0' to '3') or pairs ('score' and 'label')"
    ):
        read_data(path, "sex")
    assert read_data(path, "sex", embedding="").X.shape == (6, 4)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.ark", b"utt1 \0BFV \4\1\0\0\0\0\0\0\0", "copy-vector ark:FILE ark,t:FILE"),
        ("x.ark", b"utt1  [\n 1 2\n 3 4 ]\n", "copy-vector ark:FILE ark,t:FILE"),
        ("x.pkl", b"\x80\x04\x95", "is a pickle, which can run code"),
        ("x.h5", b"\x89HDF\r\n\x1a\n", "HDF5"),
        ("x.pt", None, "such as a workbook, or what torch.save writes"),
    ],
)
def test_what_cannot_be_read_is_explained(folder, name, content, words):
    if content is None:
        import zipfile

        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("archive/data.pkl", b"\x80")
        content = packed.getvalue()
    (folder / name).write_bytes(content)
    with refusal("path", words):
        read_data(folder / name, "sex")


# ---- metadata ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "on"),
    [
        (
            "vox1_meta.csv",
            "VoxCeleb1 ID\tsex\n{0}\tf\n{1}\tm\n{2}\tf\n",
            "VoxCeleb1 ID",
        ),
        ("meta.csv", "person ; sex \n {0} ; f\n{1};m \n{2};f\n", "person"),
        ("spk2gender", "{0} f\n{1} m\n{2} f\n", None),
        ("spk2sex", "{0}\tf\n{1}\tm\n{2}\tf\n", None),
        ("people.txt", "{0} f\n{1} m\n{2} f\n", None),
        ("people.csv", "{0},f\n{1},m\n{2},f\n", None),
    ],
)
def test_metadata_as_they_are_distributed(folder, name, text, on):
    (folder / name).write_text(text.format("Ann_Lee", "Bob", "Cleo"))
    (folder / "scores-dev").write_text(listed("bob4"))
    data = read_data(folder / "scores-dev", "sex", metadata=folder / name, on=on)
    agree(measured(data), rates(SCORES))


def test_a_list_of_people_without_names_has_one_attribute(folder):
    (folder / "people.txt").write_text("Ann_Lee f\nBob m\nCleo f\n")
    (folder / "scores-dev").write_text(listed("bob4"))
    with refusal("metadata", "has no names of columns"):
        read_data(folder / "scores-dev", ["sex", "age"], metadata=folder / "people.txt")


# ---- the command ---------------------------------------------------------------------


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_the_command_prints_the_layout_that_a_list_was_read_as(capsys, tmp_path, quiet):
    path, text = tmp_path / "list.txt", ""
    rng = np.random.default_rng(0)
    for k, score in enumerate(rng.normal(size=400).round(3)):
        i, same = k % 40, k % 4 == 0
        other = f"p{i}_2" if same else f"p{(i + 1 + k // 40) % 40}_3"
        text += f"p{i}_1 {other} {score + 2 * same:.3f} {'' if same else 'non'}target\n"
    path.write_text(text)
    names = {n for line in text.splitlines() for n in line.split()[:2]}
    rows = [f"{n},{n[:-2]},{'fm'[int(n[1:-2]) % 2]}" for n in sorted(names)]
    (tmp_path / "images.csv").write_text("\n".join(["image,identity,sex", *rows]))
    words = ["audit", str(tmp_path / "images.csv"), "--trials", str(path)]
    code = main([*words, "--attribute", "sex", "--fmr", "1e-1", *quiet])
    err = capsys.readouterr().err
    assert code == 0
    told = f"{path}: read as wespeaker (image_1 image_2 score y_true)\n"
    assert err.endswith(told) if not quiet else told not in err
    assert main([*words, "--attribute", "sex", "--layout", "bob4"]) == 2
    assert "--layout 'bob4' needs the columns" in capsys.readouterr().err
