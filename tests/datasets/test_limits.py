"""Files that claim, or unpack to, more than there is memory are refused before they are read."""

import gzip
import io
import struct
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

from skfairfr._core import _memory
from skfairfr.datasets import _files, load_embeddings, load_pairs
from skfairfr.utils._errors import ArgumentError

USABLE = 2**20
ROW = b"0.5,ann,bob,f,m\n"
HEAD = b"score,identity_1,identity_2,gender_1,gender_2\n"


@pytest.fixture
def little(monkeypatch):
    """A megabyte of memory is available, and files of a kilobyte are looked at."""
    monkeypatch.setattr(_memory, "available_bytes", lambda: USABLE)
    monkeypatch.setattr(_files, "SMALL", 2**10)


def peak_of(call):
    """The message of an error, and bytes that were allocated on the way to it."""
    tracemalloc.start()
    try:
        started = time.process_time()
        with pytest.raises(ArgumentError) as found:
            call()
        assert time.process_time() - started < 5
        return str(found.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layers", [1, 2])
def test_a_gzip_bomb_is_unpacked_no_further_than_memory_reaches(
    tmp_path, little, layers
):
    path = tmp_path / "pairs.csv.gz"
    data = HEAD + ROW * 2**22
    for _ in range(layers):
        data = gzip.compress(data, 9)
    path.write_bytes(data)
    message, peak = peak_of(lambda: load_pairs(path))
    if layers == 1:
        assert "does not fit into memory (it unpacks to more than 0.00052 GB" in message
    else:
        assert "is not UTF-8 text" in message or "null" in message
    assert peak < 3 * USABLE


def test_packed_text_that_fits_is_read(tmp_path, little):
    path = tmp_path / "pairs.csv.gz"
    path.write_bytes(gzip.compress(HEAD + ROW * 1000))
    assert load_pairs(path).y_score.size == 1000
    # Files that were appended to each other are one.
    path.write_bytes(gzip.compress(HEAD + ROW) + gzip.compress(ROW))
    assert load_pairs(path).y_score.size == 2


def test_a_text_larger_than_memory_is_not_read(tmp_path, little):
    path = tmp_path / "pairs.csv"
    path.write_bytes(HEAD + ROW * 2**16)
    message, peak = peak_of(lambda: load_pairs(path))
    assert "does not fit into memory (it takes 0.002" in message
    assert peak < USABLE


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(f"{name}.npy", data)


def npy(array, shape=None):
    """Bytes of an .npy file, whose header may claim another shape."""
    out = io.BytesIO()
    np.save(out, array)
    data = out.getvalue()
    if shape is None:
        return data
    (length,) = struct.unpack("<H", data[8:10])
    header = data[10 : 10 + length].rstrip().decode()
    header = header.replace(str(array.shape), str(shape)).encode() + b"\n"
    return data[:8] + struct.pack("<H", len(header)) + header + data[10 + length :]


def test_an_archive_that_unpacks_to_more_than_memory_is_not_read(tmp_path, little):
    path = tmp_path / "faces.npz"
    X = np.zeros((2**16, 8))
    archive(path, {"embedding": npy(X), "identity": npy(np.arange(2**16))})
    message, peak = peak_of(lambda: load_embeddings(path))
    assert "'embedding' does not fit into memory" in message
    assert peak < USABLE


@pytest.mark.parametrize("shape", [(10**12, 512), (2**61, 2), (2**63, 1), (10**30, 2)])
def test_headers_that_claim_more_than_there_is(tmp_path, shape):
    X, y = np.zeros((4, 2)), np.arange(4)
    archive(tmp_path / "faces.npz", {"embedding": npy(X, shape), "identity": npy(y)})
    message, peak = peak_of(lambda: load_embeddings(tmp_path / "faces.npz"))
    assert "embedding" in message
    assert peak < 2**24
    (tmp_path / "faces.npy").write_bytes(npy(X, shape))
    (tmp_path / "faces.csv").write_text("identity\n1\n1\n2\n2\n")
    message, peak = peak_of(lambda: load_embeddings(tmp_path / "faces.npy"))
    assert "is cut short or damaged" in message
    assert peak < 2**24


def test_a_table_of_one_row_a_billion_times_is_not_read(tmp_path, little):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    n = 2**18
    texts = pyarrow.array(["ann"] * n)
    columns = {"score": pyarrow.array(np.zeros(n)), "identity_1": texts}
    columns["identity_2"] = texts
    parquet.write_table(pyarrow.table(columns), tmp_path / "pairs.parquet")
    assert (tmp_path / "pairs.parquet").stat().st_size < USABLE / 20
    message, peak = peak_of(lambda: load_pairs(tmp_path / "pairs.parquet"))
    assert "does not fit into memory" in message
    assert peak < USABLE


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz"])
def test_a_header_of_very_many_columns_is_refused_at_once(tmp_path, ending):
    separator = b"\t" if "tsv" in ending else b","
    data = separator.join(b"c%d" % k for k in range(200_000)) + b"\n"
    path = tmp_path / f"pairs{ending}"
    path.write_bytes(gzip.compress(data, 1) if ending.endswith("gz") else data)
    with pytest.raises(ArgumentError, match="names 200,000 columns"):
        load_pairs(path)


@pytest.mark.slow
@pytest.mark.parametrize("n_others", [9_000, 100_000])
def test_an_archive_of_very_many_arrays_takes_no_time(tmp_path, n_others):
    """As many as are read, of which each was looked for among all, or far more."""
    path = tmp_path / "faces.npz"
    known = {"embedding": npy(np.eye(4)), "identity": npy(np.array([1, 1, 2, 2]))}
    other = npy(np.arange(4))
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in known.items():
            packed.writestr(f"{name}.npy", data)
        for k in range(n_others):
            packed.writestr(f"c{k}.npy", other)
    started = time.process_time()
    if n_others > 10_000:
        with pytest.raises(ArgumentError, match="names 100,002 columns, and no more"):
            load_embeddings(path)
    else:
        assert len(load_embeddings(path).columns) == n_others
    assert time.process_time() - started < 5
