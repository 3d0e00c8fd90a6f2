"""Damaged files of every format that the package reads."""

import gzip
import io
import json
import struct
import warnings
import zipfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest import mock

import numpy as np

from skfairfr.datasets import load_embeddings, load_pairs
from skfairfr.report import Policy, read_data
from skfairfr.utils._extras import missing
from tests.fuzz.driver import Case, summary
from tests.fuzz.mutation import damaged, random_of

DOCUMENTED = (ValueError, OSError)


@dataclass(frozen=True)
class Reader:
    """A way to read a folder of files, one of which is damaged.

    Attributes
    ----------
    write : callable
        Takes an empty folder, and writes files that can be read.
    read : callable
        Takes the folder.
    harm : dict of str -> callable
        Names of the files that are damaged, each with a function of its bytes and a
        random.Random that gives other bytes.
    needs : tuple of str
        Libraries without which nothing is read.
    """

    write: object
    read: object
    harm: dict
    needs: tuple = ()


# ---- damage behind a compression or a checksum, which would hide it --------------------


def inside_gzip(data, rng):
    """Damaged text, compressed again; one time in three the file itself is damaged."""
    if rng.random() < 1 / 3:
        return damaged(data, rng)
    return gzip.compress(damaged(gzip.decompress(data), rng), mtime=0)


def inside_zip(data, rng):
    """A damaged member, archived again; one time in three the file itself is damaged."""
    if rng.random() < 1 / 3:
        return damaged(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    if rng.random() < 0.1:
        other = rng.choice(sorted(members))
        members[name], members[other] = members[other], members[name]
    else:
        members[name] = inside_npy(members[name], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member)
    return packed.getvalue()


def inside_npy(data, rng):
    """A damaged header, whose length is right; one time in three anything is damaged."""
    if rng.random() < 1 / 3 or data[:8] != b"\x93NUMPY\x01\x00":
        return damaged(data, rng)
    (length,) = struct.unpack("<H", data[8:10])
    header = damaged(data[10 : 10 + length].rstrip(), rng) + b"\n"
    return data[:8] + struct.pack("<H", len(header)) + header + data[10 + length :]


def inside_safetensors(data, rng):
    """A damaged header, whose length is right; one time in three anything is damaged."""
    if rng.random() < 1 / 3:
        return damaged(data, rng)
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    if rng.random() < 0.7 and "skfairfr" in header.get("__metadata__", {}):
        about = header["__metadata__"]["skfairfr"].encode()
        about = inside_json(about, rng).decode("utf-8", "replace")
        header["__metadata__"]["skfairfr"] = about
        text = json.dumps(header).encode()
    else:
        text = damaged(data[8 : 8 + length], rng)
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


ODD_JSON = (
    *(None, True, -1, 0, 3, 1e308, float("nan"), "", "x", "head_", "fit", [], [1], {}),
    *({"array": [1], "dtype": "<f8"}, {"array": ["x"], "dtype": "<f8"}, {"tuple": []}),
    *({"array": [[1], [2, 3]], "dtype": "O"}, {"pairs": [[1]]}, {"pairs": [[[], 1]]}),
    *(
        {"array": [1], "dtype": "?!"},
        {"tensor": "x"},
        "os",
        "sklearn.datasets",
        "skfairfr.cli",
        "main",
    ),
    *("/dev/null", "sklearn.utils._testing", "NMF", "Pipeline"),
)


def inside_json(data, rng):
    """One value or key in another's place; one time in four the text is damaged."""
    if rng.random() < 1 / 4:
        return damaged(data, rng)
    tree = json.loads(data)
    places = list(_places(tree))
    holder, key = rng.choice(places)
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
    keys = tree if isinstance(tree, dict) else range(len(tree))
    for key in list(keys):
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
    np.savez(folder / "faces.npz", embedding=X, identity=Y, gender=GROUP, age=AGE)


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


def _head():
    from skfairfr import EthicalModule

    return EthicalModule(max_epochs=1, random_state=0).fit(X, Y, GROUP)


def _write_head(folder):
    _head().save(folder / "head.safetensors")


def _read_head(folder):
    from skfairfr import EthicalModule

    return EthicalModule.load(folder / "head.safetensors").transform(X)


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


def _write_checkpoint(folder):
    """What a fit leaves behind that is stopped after its first epoch."""
    from skorch.callbacks import Callback

    from skfairfr import EthicalModule

    class Stop(Callback):
        def on_epoch_begin(self, net, **values):
            if len(net.history) == 2:
                raise KeyboardInterrupt

    head = EthicalModule(
        max_epochs=3,
        random_state=0,
        checkpoint_dir=folder,
        hidden_dim=2,
        callbacks=[Stop()],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            head.fit(X, Y, GROUP)
        except KeyboardInterrupt:
            pass


def _read_checkpoint(folder):
    from skfairfr import EthicalModule

    head = EthicalModule(
        max_epochs=3, random_state=0, checkpoint_dir=folder, hidden_dim=2
    )
    return head.fit(X, Y, GROUP).transform(X)


TRAINING = ("torch", "skorch")
READERS = {
    "npz": Reader(
        _write_npz,
        lambda folder: load_embeddings(folder / "faces.npz"),
        {"faces.npz": inside_zip},
    ),
    "npy": Reader(
        _write_npy,
        lambda folder: load_embeddings(folder / "faces.npy"),
        {"faces.npy": inside_npy, "faces.csv": damaged},
    ),
    "data": Reader(
        _write_npz,
        lambda folder: read_data(folder / "faces.npz", "gender"),
        {"faces.npz": inside_zip},
    ),
    "csv": Reader(
        _write_text("pairs.csv"),
        lambda folder: load_pairs(folder / "pairs.csv"),
        {"pairs.csv": damaged},
    ),
    "tsv": Reader(
        _write_text("pairs.tsv"),
        lambda folder: read_data(folder / "pairs.tsv", "gender"),
        {"pairs.tsv": damaged},
    ),
    "csv.gz": Reader(
        _write_text("pairs.csv.gz"),
        lambda folder: load_pairs(folder / "pairs.csv.gz"),
        {"pairs.csv.gz": inside_gzip},
    ),
    "parquet": Reader(
        _write_parquet,
        lambda folder: load_pairs(folder / "pairs.parquet"),
        {"pairs.parquet": damaged},
        ("pyarrow",),
    ),
    "policy": Reader(
        _write_policy,
        lambda folder: Policy.read(folder / "door.toml"),
        {"door.toml": damaged},
    ),
    "head": Reader(
        _write_head, _read_head, {"head.safetensors": inside_safetensors}, TRAINING
    ),
    "system": Reader(
        _write_system, _read_system, {"system.safetensors": inside_safetensors}
    ),
    "checkpoint": Reader(
        _write_checkpoint, _read_checkpoint, {"*.safetensors": damaged}, TRAINING
    ),
}
# How often each is taken: those that train are slow, and even they get 1,000 cases
# of a night.
WEIGHTS = dict.fromkeys(READERS, 10) | {"checkpoint": 3, "head": 6}


@cache
def undamaged(name):
    """The files of a reader as a dict of bytes, and what is read of them."""
    reader = READERS[name]
    with TemporaryDirectory() as folder:
        with _stopped_clocks(reader.needs):
            reader.write(Path(folder))
        paths = sorted(path for path in Path(folder).iterdir())
        files = {path.name: path.read_bytes() for path in paths}
        return files, summary(_read(name, files))


@contextmanager
def _stopped_clocks(libraries):
    """Files hold how long a fit took, and are to be the same each time."""
    stopped = SimpleNamespace(time=lambda: 0.0)
    with ExitStack() as stack:
        if "skorch" in libraries:
            clock = mock.patch("skorch.callbacks.logging.time", stopped)
            stack.enter_context(clock)
        yield


def _read(name, files):
    """What a reader reads of these files."""
    with TemporaryDirectory() as folder:
        for file, data in files.items():
            (Path(folder) / file).write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _without_folder(READERS[name].read(Path(folder)))


def _without_folder(found):
    """Data without the place they were read from, which is another one each time."""
    if isinstance(found, dict):
        return {name: held for name, held in found.items() if name != "path"}
    if hasattr(found, "reading"):
        return replace(found, reading=None)
    return found


def case(name, file, data):
    """A case of one file of a reader that holds other bytes."""
    files, usual = undamaged(name)
    return Case(
        lambda: _read(name, files | {file: data}),
        usual,
        lambda: f"reader {name!r}, file {file!r}: {data!r}",
        DOCUMENTED,
        len(data),
    )


def cases(seed, first, n_cases, names=None):
    """Files with damage.

    Parameters
    ----------
    seed, first, n_cases : int
    names : sequence of str, default=None
        Of READERS; None takes all whose libraries are installed.
    """
    names = able() if names is None else names
    for k in range(first, first + n_cases):
        rng = random_of(seed, k)
        name = reader_of(rng, names)
        files, _ = undamaged(name)
        pattern, harm = rng.choice(sorted(READERS[name].harm.items()))
        file = rng.choice([f for f in files if Path(f).match(pattern)])
        yield case(name, file, harm(files[file], rng))


def reader_of(rng, names):
    """The reader of a case, by the weights."""
    (name,) = rng.choices(names, [WEIGHTS[name] for name in names])
    return name


def prepare():
    """Make all files, before the processes that read them are copied."""
    for name in able():
        undamaged(name)


def able():
    """Names of the readers whose libraries are installed."""
    return [name for name, reader in READERS.items() if not missing(reader.needs)]
