"""Damaged files of every format that the package reads."""

import gzip
import io
import json
import struct
import warnings
import zipfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest import mock

import numpy as np

from skfairfr.datasets import load_decisions, load_embeddings, load_pairs
from skfairfr.metrics import IdentificationROC, RateMonitor
from skfairfr.report import Policy, read_candidates, read_data
from skfairfr.utils._extras import missing
from tests.fuzz.driver import Case, random_of, summary

# What parsers stumble over, in text and in binary headers.
TOKENS = (
    *[bytes([c]) for c in b"\0\n\r\"',\t;#[]{}=()O\xff"],
    *b"nan NaN inf -inf None null true 1e400 -1 0 -0.0 1e-400 1_0 0x10".split(),
    *b"99999999999999999999 |O <f8 >f8 <U4 <M8[s] V8 ../ __class__ \\u0000".split(),
    *(b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80"),
)
NUMBERS = (0, 1, -1, 127, 128, 255, 2**15, 2**31 - 1, -(2**31), 2**62, -(2**63))


def damaged(data, rng):
    """Bytes with one to four small changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = _changed(data, rng)
    return data


def _changed(data, rng):
    """One change at a place: what stands there is replaced, left out or repeated."""
    k = rng.randrange(len(data) + 1)
    kind = rng.choice(
        ("flip", "byte", "cut", "delete", "repeat", "insert", "put", "swap")
    )
    if kind == "cut":
        return data[:k]
    if kind == "delete":
        return data[:k] + data[k + rng.choice((1, 2, 8, 64)) :]
    if kind == "repeat":
        n = rng.choice((1, 4, 16, 200))
        return data[:k] + data[k : k + n] * rng.choice((1, 3, 50)) + data[k:]
    if kind == "swap":
        a, b, c = sorted(rng.randrange(len(data) + 1) for _ in range(3))
        return data[:a] + data[b:c] + data[a:b] + data[c:]
    token = rng.choice(TOKENS)
    if kind == "flip":
        token = bytes([data[k] ^ 1 << rng.randrange(8)]) if k < len(data) else b""
    elif kind == "byte":
        token = rng.randbytes(1)
    elif kind == "put" and rng.random() < 0.5:
        token = (rng.choice(NUMBERS) % 2**64).to_bytes(8, "little")[
            : rng.choice((4, 8))
        ]
    return data[:k] + token + data[k + len(token) * (kind != "insert") :]


# ---- damage behind a compression or a checksum, which would hide it --------------------


def one_in_three_plainly(inside):
    """Damage within; one time in three the file itself is damaged."""
    return lambda data, rng: (damaged if rng.random() < 1 / 3 else inside)(data, rng)


@one_in_three_plainly
def inside_gzip(data, rng):
    """Damaged text, compressed again."""
    return gzip.compress(damaged(gzip.decompress(data), rng), mtime=0)


@one_in_three_plainly
def inside_npy(data, rng):
    """A damaged header, whose length is right."""
    (length,) = struct.unpack("<H", data[8:10])
    header = damaged(data[10 : 10 + length].rstrip(), rng) + b"\n"
    return data[:8] + struct.pack("<H", len(header)) + header + data[10 + length :]


@one_in_three_plainly
def inside_zip(data, rng):
    """A damaged member, or two in each other's place, archived again."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name, other = (rng.choice(sorted(members)) for _ in range(2))
    if rng.random() < 0.1:
        members[name], members[other] = members[other], members[name]
    else:
        members[name] = inside_npy(members[name], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member)
    return packed.getvalue()


@one_in_three_plainly
def inside_safetensors(data, rng):
    """A damaged header, whose length is right."""
    (length,) = struct.unpack("<Q", data[:8])
    text = data[8 : 8 + length]
    header = json.loads(text)
    if rng.random() < 0.7 and "skfairfr" in header.get("__metadata__", {}):
        about = inside_json(header["__metadata__"]["skfairfr"].encode(), rng)
        header["__metadata__"]["skfairfr"] = about.decode("utf-8", "replace")
        text = json.dumps(header).encode()
    else:
        text = damaged(text, rng)
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


ODD_JSON = (
    *(None, True, -1, 0, 3, 1e308, float("nan"), "", "x", "head_", "fit", [], [1], {}),
    *({"array": [1], "dtype": "<f8"}, {"array": ["x"], "dtype": "<f8"}, {"tuple": []}),
    *({"array": [[1], [2, 3]], "dtype": "O"}, {"pairs": [[1]]}, {"pairs": [[[], 1]]}),
    *({"array": [1], "dtype": "?!"}, {"tensor": "x"}, "os", "sklearn.datasets"),
    *("skfairfr.cli", "main", "/dev/null", "sklearn.utils._testing", "NMF", "Pipeline"),
)


@one_in_three_plainly
def inside_json(data, rng):
    """One value or key in another's place."""
    tree = json.loads(data)
    holder, key = rng.choice(list(_places(tree)))
    chance = rng.random()
    if chance < 0.6:
        holder[key] = rng.choice(ODD_JSON)
    elif chance < 0.8:
        del holder[key]
    elif isinstance(holder, dict):
        holder[rng.choice(("x", "__class__", "transform", "n_jobs"))] = holder.pop(key)
    else:
        holder.append(holder[key])
    return json.dumps(tree).encode()


def _places(tree):
    """Every (container, key) of a tree of dicts and lists."""
    for key in list(tree if isinstance(tree, dict) else range(len(tree))):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])


# ---- files that can be read ------------------------------------------------------------

N = 24
Y = np.repeat(np.arange(8), 3)
X = np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32)
GROUP = np.array(["f", "m"])[Y % 2]
AGE = np.array([*range(20, 43), -1])


def _write_npz(folder):
    columns = {"identity": Y, "gender": GROUP, "age": AGE}
    np.savez(folder / "faces.npz", embedding=X, later=X[:, ::-1] ** 2, **columns)


def _labels():
    rows = [f'p{y},{g},"{a}"' for y, g, a in zip(Y, GROUP, AGE, strict=True)]
    return "\n".join(["identity,gender,age", *rows, ""])


def _write_npy(folder):
    np.save(folder / "faces.npy", X)
    (folder / "faces.csv").write_text(_labels())


def _pairs(separator=","):
    rows = [
        (f"{float(X[i] @ X[j]):.4f}", f"p{Y[i]}", f"p{Y[j]}", GROUP[i], GROUP[j])
        for i in range(N)
        for j in range(i)
    ]
    names = ("score", "identity_1", "identity_2", "gender_1", "gender_2")
    return "\n".join(separator.join(row) for row in (names, *rows)) + "\n"


def _write_text(name):
    def write(folder):
        text = _pairs("\t" if ".tsv" in name else ",").encode()
        compressed = gzip.compress(text, mtime=0)
        (folder / name).write_bytes(compressed if name.endswith(".gz") else text)

    return write


def _write_parquet(folder):
    import pyarrow
    from pyarrow import parquet

    names, *rows = (line.split(",") for line in _pairs().splitlines())
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    columns["score"] = [float(score) for score in columns["score"]]
    table = pyarrow.table({name: list(cells) for name, cells in columns.items()})
    parquet.write_table(table, folder / "pairs.parquet")


def _write_trials(folder):
    names = [f"{y}/{row}.png" for row, y in enumerate(Y)]
    np.savez(folder / "faces.npz", embedding=X, identity=Y, image=names)
    lines = [
        f"{int(Y[i] == Y[j])} {names[i]} {names[j]}" for i in range(N) for j in range(i)
    ]
    (folder / "trials.txt").write_text("\n".join(lines))
    rows = [f"{y},{group}" for y, group in zip(Y, GROUP, strict=True)]
    (folder / "people.csv").write_text("\n".join(["person,gender", *rows]))


def _read_trials(folder):
    files = {"trials": folder / "trials.txt", "metadata": folder / "people.csv"}
    return read_data(folder / "faces.npz", "gender", **files)


def _write_matrix(folder):
    np.save(folder / "scores.npy", X @ X.T)
    (folder / "labels.csv").write_text(_labels())


def _read_matrix(folder):
    return read_data(folder / "scores.npy", "gender", probes=folder / "labels.csv")


def _write_lists(folder):
    """Everybody's first image is enrolled, but for the last people; the others search."""
    _, first = np.unique(Y, return_index=True)
    enrolled, searching = first[:-2], np.setdiff1d(np.arange(N), first)
    for name, rows in (("gallery.csv", enrolled), ("probes.csv", searching)):
        lines = [f"s{row},p{Y[row]},{GROUP[row]}" for row in rows]
        text = "\n".join(["search,identity,gender", *lines])
        (folder / name).write_text(text)
    lines = [
        f"s{row},{rank},p{Y[enrolled[place]]},{X[row] @ X[enrolled[place]]:.4f}"
        for row in searching
        for rank, place in enumerate(np.argsort(-(X[enrolled] @ X[row]))[:3], 1)
    ]
    text = "\n".join(["search,rank,candidate,score", *lines])
    (folder / "lists.csv").write_text(text)


def _read_lists(folder):
    files = {n: folder / f"{n}.csv" for n in ("gallery", "lists")}
    given = {"gallery": files["gallery"], "candidates": files["lists"]}
    data, gallery = read_candidates(folder / "probes.csv", "gender", **given)
    roc = IdentificationROC(n_resamples=1).fit_candidates(
        *data.candidates,
        y=data.y,
        sensitive_features=data.columns["gender"],
        y_gallery=gallery.y,
        names=data.searches,
    )
    return vars(roc._searches.found)


def _write_bob(folder):
    rows = (row.split(",") for row in _pairs().splitlines()[1:])
    lines = (f"{one} {other} x.png {score}" for score, one, other, *_ in rows)
    (folder / "scores-dev").write_text("\n".join(lines))


# A line of each layout of lists, of two images and their score.
LINES = {
    "wespeaker": lambda i, j, s: f"{NAMES[i]} {NAMES[j]} {s} {_key(i, j)}",
    "speechbrain": lambda i, j, s: f"{NAMES[i]} {NAMES[j]} {int(Y[i] == Y[j])} {s}",
    "voxceleb-scores": lambda i, j, s: f"{_key(i, j)} {NAMES[i]} {NAMES[j]} {s}",
    "bob5": lambda i, j, s: f"p{Y[i]} {NAMES[i]} p{Y[j]} {NAMES[j]} {s}",
    "scores": lambda i, j, s: f"{NAMES[i]} {NAMES[j]} {s}",
    "kaldi": lambda i, j, s: f"{NAMES[i]} {NAMES[j]} {_key(i, j)}",
    "pairs": lambda i, j, s: f"{NAMES[i]} {NAMES[j]}",
    "labels": lambda i, j, s: f"{int(Y[i] == Y[j])}",
}
NAMES = [f"p{y}_{row % 3 + 1:04d}" for row, y in enumerate(Y)]


def _key(i, j):
    return "target" if Y[i] == Y[j] else "nontarget"


def _write_list(layout, folder, separator=" "):
    """A list, embeddings, tables of images and people, and an array of scores."""
    rows = [(i, j) for i in range(N) for j in range(i)]
    scores = [round(float(X[i] @ X[j]), 4) for i, j in rows]
    lines = [LINES[layout](*row, s) for row, s in zip(rows, scores, strict=True)]
    (folder / "list.txt").write_text("\n".join(lines).replace(" ", separator))
    np.save(folder / "scores.npy", scores)
    _write_by_name(folder)


def _write_lfw(folder):
    """Two folds, whose first line says how long they are."""
    _write_by_name(folder)
    genuine = [f"p{person} {one} {one + 1}" for person in range(8) for one in (1, 2)]
    others = [f"p{k % 8} 1 p{(k + 1) % 8} {k % 3 + 1}" for k in range(16)]
    halves = [[*genuine[k : k + 8], *others[k : k + 8]] for k in (0, 8)]
    (folder / "list.txt").write_text("\n".join(["2 8", *halves[0], *halves[1]]))


def _write_by_name(folder):
    """Embeddings by the names of the images, in three formats, and the labels."""
    np.savez(folder / "by_name.npz", **dict(zip(NAMES, X, strict=True)))
    rows = [f"{n}  [ {' '.join(map(str, x))} ]" for n, x in zip(NAMES, X, strict=True)]
    (folder / "vectors.ark").write_text("\n".join(rows))
    lines = [f"{n} p{y}" for n, y in zip(NAMES, Y, strict=True)]
    (folder / "utt2spk").write_text("\n".join(lines))
    lines = [f"p{person} {'fm'[person % 2]}" for person in range(8)]
    (folder / "spk2gender").write_text("\n".join(lines))
    rows = zip(NAMES, Y, GROUP, *X.T, strict=True)
    lines = [
        "image,identity,gender,e0,e1,e2",
        *(",".join(map(str, row)) for row in rows),
    ]
    (folder / "table.csv").write_text("\n".join(lines))
    rows = zip(NAMES, Y, GROUP, strict=True)
    lines = ["image;identity;gender", *(";".join(map(str, row)) for row in rows)]
    (folder / "images.csv").write_text("\n".join(lines))
    lines = [f"p{person}: p{person}_0001 p{person}_0002" for person in range(8)]
    (folder / "list.enrol").write_text("\n".join(lines))
    lines = [f"{n} {-1 + 2 * (y % 2)} 1" for n, y in zip(NAMES, Y, strict=True)]
    (folder / "list.celeba").write_text("\n".join([str(N), "gender Young", *lines]))


def _of_layout(name, data, harm, separator=" ", **files):
    """A reader of a list in a layout, with other files."""

    def read(folder):
        named = {option: folder / file for option, file in files.items()}
        return read_data(folder / data, "gender" if files else (), **named)

    def write(folder):
        if name == "lfw":
            _write_lfw(folder)
        else:
            _write_list(name, folder, separator)

    return Reader(write, read, dict.fromkeys(harm, damaged))


def _write_log(folder):
    """Attempts, one person after the other, and the state of a monitor that read them."""
    rows = [
        f"{y},{group},{'yes' if k % 5 else 'no'},{'impostor' if k % 7 == 0 else 'genuine'}"
        for k, (y, group) in enumerate(zip(Y, GROUP, strict=True))
    ]
    text = "\n".join(["person,gender,accepted,attempt", *rows])
    (folder / "log.csv").write_text(text)
    monitor = RateMonitor(limit=3.0)
    monitor.update(np.arange(N) % 5 == 0, Y, GROUP)
    monitor.save(folder / "state.json")


def _read_log(folder):
    log = load_decisions(folder / "log.csv", attempt="attempt")
    state = RateMonitor.load(folder / "state.json").state
    return {name: log[name] for name in log if name != "path"} | {"state": state}


POLICY = """\
name = "door"
description = "ours"
fmr = [1e-2, 1e-3]
confidence_level = 0.9
attributes = ["gender"]
limits = { max_fnmr = 0.05, max_fmr_ratio = 2 }

[[at]]
fmr = 1e-3
limits = { max_fmr = 0.002 }
"""


def _write_policy(folder):
    (folder / "door.toml").write_text(POLICY)


def _write_head(folder):
    from skfairfr import EthicalModule

    head = EthicalModule(max_epochs=1, random_state=0).fit(X, Y, GROUP)
    head.save(folder / "head.safetensors")


def _read_head(path):
    from skfairfr import EthicalModule

    return EthicalModule.load(path).transform(X)


def _write_system(folder):
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    from skfairfr.comparators import CohortNormalizer
    from skfairfr.model_selection import save_mitigation

    steps = PCA(2).fit(X), CohortNormalizer(top=2).fit(X[:, :2], Y)
    save_mitigation(make_pipeline(*steps), folder)


def _read_system(folder):
    from skfairfr.model_selection import load_mitigation

    return vars(load_mitigation(folder))


CHECKPOINTS = {"max_epochs": 3, "random_state": 0, "hidden_dim": 2}


def _write_checkpoint(folder):
    """What a fit leaves behind that is stopped after its first epoch."""
    from skorch.callbacks import Callback

    from skfairfr import EthicalModule

    class Stop(Callback):
        def on_epoch_begin(self, net, **values):
            if len(net.history) == 2:
                raise KeyboardInterrupt

    head = EthicalModule(**CHECKPOINTS, checkpoint_dir=folder, callbacks=[Stop()])
    with warnings.catch_warnings(), suppress(KeyboardInterrupt):
        warnings.simplefilter("ignore")
        head.fit(X, Y, GROUP)


def _read_checkpoint(folder):
    from skfairfr import EthicalModule

    head = EthicalModule(**CHECKPOINTS, checkpoint_dir=folder)
    return head.fit(X, Y, GROUP).transform(X)


@dataclass(frozen=True)
class Reader:
    """A way to read a folder of files, one of which is damaged.

    ``write`` takes an empty folder, ``read`` a full one; ``harm`` has names of the files that
    are damaged, each with a function of its bytes and a random.Random that gives other bytes.
    """

    write: object
    read: object
    harm: dict
    needs: tuple = ()


def _of_file(write, read, name, harm, needs=()):
    """A reader of one file."""
    return Reader(write, lambda folder: read(folder / name), {name: harm}, needs)


def _of_text(read, name, harm):
    return _of_file(_write_text(name), read, name, harm)


def _data(path):
    return read_data(path, "gender")


TRAINING = ("torch", "skorch")
READERS = {
    "npz": _of_file(_write_npz, load_embeddings, "faces.npz", inside_zip),
    "npy": Reader(
        _write_npy,
        lambda folder: load_embeddings(folder / "faces.npy"),
        {"faces.npy": inside_npy, "faces.csv": damaged},
    ),
    "data": _of_file(_write_npz, _data, "faces.npz", inside_zip),
    "csv": _of_text(load_pairs, "pairs.csv", damaged),
    "tsv": _of_text(_data, "pairs.tsv", damaged),
    "csv.gz": _of_text(load_pairs, "pairs.csv.gz", inside_gzip),
    "parquet": _of_file(
        _write_parquet, load_pairs, "pairs.parquet", damaged, ("pyarrow",)
    ),
    "trials": Reader(
        _write_trials, _read_trials, {"trials.txt": damaged, "people.csv": damaged}
    ),
    "matrix": Reader(
        _write_matrix, _read_matrix, {"scores.npy": inside_npy, "labels.csv": damaged}
    ),
    "lists": Reader(
        _write_lists,
        _read_lists,
        {"lists.csv": damaged, "probes.csv": damaged, "gallery.csv": damaged},
    ),
    "bob": _of_file(_write_bob, load_pairs, "scores-dev", damaged),
    "wespeaker": _of_layout("wespeaker", "list.txt", ["list.txt"]),
    "speechbrain": _of_layout("speechbrain", "list.txt", ["list.txt"], "\t"),
    "commas": _of_layout("wespeaker", "list.txt", ["list.txt"], ","),
    "voxceleb-scores": _of_layout("voxceleb-scores", "list.txt", ["list.txt"]),
    "bob5": _of_layout(
        "bob5", "list.txt", ["list.txt", "spk2gender"], metadata="spk2gender"
    ),
    "scores": _of_layout(
        "scores", "images.csv", ["list.txt", "images.csv"], trials="list.txt"
    ),
    "kaldi": _of_layout(
        "kaldi",
        "by_name.npz",
        ["list.txt", "utt2spk"],
        trials="list.txt",
        labels="utt2spk",
        metadata="spk2gender",
    ),
    "pairs": _of_layout(
        "pairs", "table.csv", ["list.txt", "table.csv"], trials="list.txt"
    ),
    "enrolment": Reader(
        _write_by_name,
        lambda folder: read_data(
            *(folder / "table.csv", "gender"),
            enrolment=str(folder / "list.enrol"),
            template="max",
        ),
        {"list.enrol": damaged, "table.csv": damaged},
    ),
    "celeba": Reader(
        _write_by_name,
        lambda folder: read_data(
            *(folder / "by_name.npz", "gender"),
            labels=str(folder / "utt2spk"),
            metadata=folder / "list.celeba",
        ),
        {"list.celeba": damaged, "utt2spk": damaged},
    ),
    "lfw": _of_layout("lfw", "table.csv", ["list.txt"], trials="list.txt"),
    "array": Reader(
        partial(_write_list, "labels"),
        lambda folder: read_data(folder / "scores.npy", trials=folder / "list.txt"),
        {"scores.npy": inside_npy, "list.txt": damaged},
    ),
    "table": Reader(
        _write_by_name,
        lambda folder: load_embeddings(folder / "table.csv"),
        {"table.csv": damaged},
    ),
    "by name": Reader(
        _write_by_name,
        lambda folder: load_embeddings(folder / "by_name.npz", folder / "utt2spk"),
        {"by_name.npz": inside_zip, "utt2spk": damaged},
    ),
    "ark": Reader(
        _write_by_name,
        lambda folder: load_embeddings(folder / "vectors.ark", folder / "images.csv"),
        {"vectors.ark": damaged, "images.csv": damaged},
    ),
    "log": Reader(_write_log, _read_log, {"log.csv": damaged, "state.json": damaged}),
    "policy": _of_file(_write_policy, Policy.read, "door.toml", damaged),
    "head": _of_file(
        _write_head, _read_head, "head.safetensors", inside_safetensors, TRAINING
    ),
    "system": Reader(
        _write_system, _read_system, {"system.safetensors": inside_safetensors}
    ),
    "checkpoint": Reader(
        _write_checkpoint, _read_checkpoint, {"*.safetensors": damaged}, TRAINING
    ),
}
# How often each is taken: those that train are slow.
WEIGHTS = dict.fromkeys(READERS, 10) | {"checkpoint": 3, "head": 6}


@cache
def undamaged(name):
    """The files of a reader as a dict of bytes, and what is read of them."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        if "skorch" in READERS[name].needs:
            # Files hold how long a fit took, and are to be the same each time.
            stopped = SimpleNamespace(time=lambda: 0.0)
            clock = mock.patch("skorch.callbacks.logging.time", stopped)
            stack.enter_context(clock)
        READERS[name].write(Path(folder))
        files = {
            path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())
        }
    return files, summary(_read(name, files))


def _read(name, files):
    """What a reader reads of these files, without the place they were read from."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file, data in files.items():
            (Path(folder) / file).write_bytes(data)
        found = READERS[name].read(Path(folder))
    if isinstance(found, dict):
        return {name: held for name, held in found.items() if name != "path"}
    return replace(found, reading=None) if hasattr(found, "reading") else found


def case(name, file, data):
    """A case of one file of a reader that holds other bytes."""
    files, usual = undamaged(name)
    shown = f"reader {name!r}, file {file!r}: {data!r}"
    return Case(lambda: _read(name, files | {file: data}), usual, shown)


def cases(seed, first, n_cases, names=None):
    """Files with damage, of some readers or of all that are able to read."""
    names = able() if names is None else names
    for k in range(first, first + n_cases):
        rng = random_of(seed, k)
        (name,) = rng.choices(names, [WEIGHTS[name] for name in names])
        files, _ = undamaged(name)
        pattern, harm = rng.choice(sorted(READERS[name].harm.items()))
        file = rng.choice([f for f in files if Path(f).match(pattern)])
        yield case(name, file, harm(files[file], rng))


def able():
    """Names of the readers whose libraries are installed."""
    return [name for name, reader in READERS.items() if not missing(reader.needs)]
