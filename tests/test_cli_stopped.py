"""The command that is stopped, or lacks room, leaves an earlier report as it was."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pkgutil import resolve_name

import numpy as np
import pytest

from skfairfr.model_selection import _bench_fits
from skfairfr.model_selection._bench_fits import read_fit
from tests.model_selection.toy_methods import crowd
from tests.report.audits import synthetic, without_rendering
from tests.test_cli import QUICK, assert_one_line, run
from tests.test_cli_bench import QUICK as QUICK_BENCH
from tests.test_cli_bench import toys  # noqa: F401

resource = pytest.importorskip("resource")

# The function that each phase calls first, where it is looked up.
READING = {"reading": "skfairfr.report.read_data"}
PAIRS = {"pairs": "skfairfr._core._pair_tiles.over_blocks"}
WRITING = {"writing": "skfairfr.utils._folder._put"}
PHASES = {
    "audit": READING
    | PAIRS
    | {
        "resampling": "skfairfr._core._bootstrap.over_blocks",
        "drawing": "skfairfr.report._figures._write",
    }
    | WRITING,
    "compare": READING
    | PAIRS
    | {
        "comparing": "skfairfr.report._comparison.PairedSystems",
        "measuring": "skfairfr.report._comparison._measured",
    }
    | WRITING,
    "bench": {
        "reading": "skfairfr.datasets.load_embeddings",
        "fitting": "skfairfr.model_selection._bench_fits.fit_system",
        "judging": "skfairfr.model_selection._bench_fits.judge",
        "keeping a fit": "skfairfr.model_selection._bench_fits.write_fit",
        "drawing": "skfairfr.metrics.MitigationsDisplay.from_bench",
        "saving": "skfairfr.model_selection._bench.Bench.save",
    }
    | WRITING,
}
# Of a bench: what does nothing was judged by then.
AFTER_FITS = ("fitting", "drawing", "saving", "writing")
OLD = {"audit.json": "old", "report.html": "old"}


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    path = tmp_path_factory.mktemp("stopped") / "faces.npz"
    X, y, groups = synthetic(60)
    np.savez(path, embedding=X, identity=y, gender=groups)
    return str(path)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """People among whom a mitigation wins."""
    path = tmp_path_factory.mktemp("stopped") / "crowd.npz"
    X, y, groups = crowd()
    np.savez(path, embedding=X, identity=y, gender=groups)
    return str(path)


@pytest.fixture
def folder(tmp_path):
    """An earlier report, alone in its folder."""
    (tmp_path / "out").mkdir()
    for name, text in OLD.items():
        (tmp_path / "out" / name).write_text(text)
    return tmp_path / "out"


def contents(folder):
    """Bytes of every file; a date that differs would be found, and there is none."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder): path.read_bytes() for path in files}


def texts(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def audit(faces, folder):
    return given("audit", faces, folder)


def given(command, faces, folder):
    """Arguments of a short run."""
    others = [faces] if command == "compare" else []
    quick = QUICK_BENCH if command == "bench" else (*QUICK, "--replace")
    return [command, faces, *others, "--attribute", "gender", "--out", folder, *quick]


def stopping_at(monkeypatch, place, number):
    """Let the process be stopped at its first call of a function; the calls so far."""
    *home, name = place.split(".")
    home = resolve_name(".".join(home))
    function, reached = getattr(home, name), []

    def stopped(*arguments, **options):
        reached.append(place)
        os.kill(os.getpid(), number)
        return function(*arguments, **options)

    monkeypatch.setattr(home, name, stopped)
    return reached


def all_phases():
    """Every phase with either signal; daily with one of them, in turn."""
    of_commands = [(c, phase) for c, phases in PHASES.items() for phase in phases]
    for k, one in enumerate(of_commands):
        for daily, number in enumerate((signal.SIGINT, signal.SIGTERM)):
            marks = () if k % 2 == daily else pytest.mark.slow
            yield pytest.param(*one, number, marks=marks)


@pytest.mark.parametrize(("command", "phase", "number"), list(all_phases()))
def test_stopped_in_a_phase(
    capsys,
    monkeypatch,
    toys,  # noqa: F811
    faces,
    crowded,
    folder,
    command,
    phase,
    number,
):
    without_rendering(monkeypatch)
    reached = stopping_at(monkeypatch, PHASES[command][phase], number)
    said = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[number]
    data = crowded if command == "bench" else faces
    found = run(capsys, *given(command, data, folder))
    assert found == (128 + number, "", f"skfairfr {command}: {said}\n")
    assert len(reached) == 1
    # Fits of a bench that were finished stay, each of them whole.
    fits = list(folder.glob("fits/*.npz"))
    assert all(read_fit(path) is not None for path in fits)
    assert (command == "bench" and phase in AFTER_FITS) == (len(fits) > 0)
    shutil.rmtree(folder / "fits", ignore_errors=True)
    assert texts(folder) == OLD and list(folder.parent.iterdir()) == [folder]


def test_a_stopped_bench_goes_on_from_its_fits(
    capsys,
    monkeypatch,
    toys,  # noqa: F811
    crowded,
    folder,
):
    """Only fits that were not finished are made; the results are those of one run."""
    without_rendering(monkeypatch)
    places = [folder.parent / name for name in ("stopped", "whole")]
    kept, made = [], []
    write_fit = _bench_fits.write_fit

    def third(path, fit):
        if len(kept) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        kept.append(path)
        write_fit(path, fit)

    with monkeypatch.context() as patch:
        patch.setattr(_bench_fits, "write_fit", third)
        assert run(capsys, *given("bench", crowded, places[0]))[0] == 130
    assert len(kept) == 2
    monkeypatch.setattr(
        _bench_fits,
        "write_fit",
        lambda path, fit: made.append(path) or write_fit(path, fit),
    )
    for place in places:
        assert run(capsys, *given("bench", crowded, place))[0] == 0
    stored = [{p.name for p in place.glob("fits/*")} for place in places]
    assert stored[0] == stored[1] and len(made) == 2 * len(stored[0]) - 2
    names = {path.name for path in made[: len(stored[0]) - 2]}
    assert not names & {path.name for path in kept}
    read = [json.loads((place / "bench.json").read_text()) for place in places]
    for one in read:
        for method in one["methods"]:
            del method["seconds"]
    assert read[0] == read[1]


def test_a_disk_that_is_full(capsys, monkeypatch, faces, folder):
    """No file may exceed 20 kB: the page does, tables do not."""
    monkeypatch.setattr("skfairfr.report._figures._write", lambda *_: [])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        found = run(capsys, *audit(faces, folder))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_one_line(*found)
    assert "failed (File too large); make room" in found[2]
    assert texts(folder) == OLD and list(folder.parent.iterdir()) == [folder]


COMMAND = [sys.executable, "-m", "skfairfr.cli"]


@pytest.mark.slow
def test_a_terminal_that_knows_little(faces, tmp_path):
    """No terminal, 40 columns, ASCII alone, and a reader that closes after a line."""
    stored = dict(np.load(faces))
    np.savez(tmp_path / "faces.npz", größe=stored.pop("gender"), **stored)
    narrow = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "COLUMNS": "40"}
    process = subprocess.Popen(
        [*COMMAND, "audit", tmp_path / "faces.npz", "--attribute", "größe", *QUICK],
        env=os.environ | narrow,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    first = process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), err) == (0, b"")
    assert first.startswith(b"Audit by gr\\xf6\\xdfe")


# Of each command; one that draws nothing and trains nothing.
BUDGETED = {
    "audit": ["audit", "{}", "--attribute", "gender", *QUICK],
    "compare": ["compare", "{}", "{}", "--attribute", "gender", *QUICK],
    "plan": ["plan", "--certify-fmr", "0.01", "--pilot", "{}", "--attribute", "gender"],
    "bench": [
        *("bench", "{}", "--attribute", "gender", "--methods", "as-norm"),
        *QUICK_BENCH,
    ],
}
# With less than 40 MB the others do not always load their kernels, and numba, LLVM or Python
# end in words of their own.
ROOMS = [("audit", n_mb) for n_mb in (1, 5, 10, 20, 40, 80, 160, 320, 640)] + [
    (name, n_mb) for name in ("compare", "plan", "bench") for n_mb in (40, 160, 640)
]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(("name", "n_mb"), ROOMS)
def test_a_budget_of_memory_is_told_or_suffices(faces, name, n_mb):
    """Of addresses, as ulimit -v sets it, beyond what the libraries take."""
    child = [sys.executable, "-c", LIMITED, str(1_000_000 * n_mb)]
    command = child + [word.format(faces) for word in BUDGETED[name]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert "Traceback" not in done.stderr
    if done.stderr.startswith("OpenBLAS error: Memory allocation"):
        return  # it ends the process itself, with status 1
    assert done.returncode in (0, 2), done.stderr[-2000:]
    if done.returncode:
        assert_one_line(done.returncode, done.stdout, done.stderr, name)
        assert "memory" in done.stderr


LIMITED = """
import resource, sys
import matplotlib.figure, skfairfr.cli, skfairfr.report
[getattr(skfairfr.report, name) for name in skfairfr.report.__all__]
with open("/proc/self/statm") as statm:
    taken = int(statm.read().split()[0]) * resource.getpagesize()
limit = taken + int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.exit(skfairfr.cli.main())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "n_jobs"),
    [(signal.SIGINT, 1), (signal.SIGINT, 2), (signal.SIGTERM, 1), (signal.SIGKILL, 1)],
)
def test_stopped_at_random_times(faces, folder, number, n_jobs):
    """The whole process group, as a terminal does it; the old report, or the new one."""
    command = [*COMMAND, *map(str, audit(faces, folder)), "--n-jobs", str(n_jobs)]
    for _ in range(2):  # the first may compile
        start = time.perf_counter()
        assert subprocess.run(command, capture_output=True).returncode == 0
    seconds = time.perf_counter() - start
    new = contents(folder)
    draw = random.Random(number)
    for _ in range(5):
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            path.unlink()
        (folder / "audit.json").write_text("old")
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        time.sleep(draw.uniform(0.3, seconds))
        os.killpg(process.pid, number)
        _, err = process.communicate(timeout=60)
        # A process that Python ends by the signal itself has status 128 + n in a shell.
        assert process.returncode in (0, 128 + number, -number)
        assert err.count("\n") <= 1
        if (folder / "audit.json").read_text() != "old":
            assert contents(folder) == new
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert list(folder.parent.iterdir()) == [folder]
    assert contents(folder) == new
