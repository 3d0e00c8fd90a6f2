"""A few seconds of every fuzzer, and that the driver sees what it looks for."""

import hashlib
import itertools
import os
import random
import re
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("pandas")
from tests.fuzz import calls, command, driver, files, mutation
from tests.fuzz.__main__ import SHARES, main

ROOT = Path(__file__).resolve().parents[2]

# Fast, of every package, with arrays and numbers; `python -m tests.fuzz` takes all.
CALLED = (
    *("threshold_at_far", "far_frr_curve", "disparity", "plan_test"),
    *("Policy.from_dict", "SimilarityROC.fit", "SimilarityROC.estimate"),
    *("CohortNormalizer.score_pairs", "make_face_embeddings", "dynamic_weights"),
    *("GroupRatesDisplay.from_roc", "adjusted_weights", "load_pairs", "bfar"),
    *("group_error_rates", "instance_far", "face_labels", "identity_inertia"),
    *("SimilarityROC.fit_pairs", "PLDAComparator.fit", "load_embeddings"),
    *(
        *("GroupWeightedSampler", "FairVMFLoss", "CentroidFairnessLoss"),
        "EthicalModule.save",
        "garbe",
        "DisparityCurveDisplay.from_roc",
    ),
)


def failures(cases):
    """Texts of the failures among cases, and how many cases there were."""
    count = driver.Count()
    for case in cases:
        count.add("", *driver.judged(case))
    return count.failures, count.outcomes


@pytest.mark.parametrize("name", files.able())
def test_damaged_files_are_read_or_refused(name):
    n_cases = 40 if files.WEIGHTS[name] > 3 else 5
    found, outcomes = failures(files.cases(0, 0, n_cases, [name]))
    assert not found, found[0]
    assert outcomes.total() == n_cases


@pytest.mark.parametrize("name", files.able())
def test_undamaged_files_are_the_same(name):
    for file, data in files.undamaged(name)[0].items():
        assert driver.judged(files.case(name, file, data))[0] == "same"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["system", "bench"])
def test_archives_of_very_many_arrays_take_no_time(name, tmp_path):
    known, _ = files.undamaged(name)
    file = next(file for file in known if file.endswith(".npz"))
    path = tmp_path / file
    path.write_bytes(known[file])
    with zipfile.ZipFile(path, "a") as archive:
        array = zipfile.Path(archive, archive.namelist()[0]).read_bytes()
        for k in range(100_000):
            archive.writestr(f"c{k}.npy", array)
    started = time.process_time()
    outcome, text = driver.judged(files.case(name, file, path.read_bytes()))
    assert outcome == {"system": "clean", "bench": "same"}[name], text
    assert time.process_time() - started < 5


def test_a_night_damages_every_format_a_thousand_times():
    nightly = (ROOT / ".ci" / "nightly").read_text()
    n_cases = int(re.search(r"tests\.fuzz --cases (\d+)", nightly)[1]) * SHARES["files"]
    drawn = Counter(
        files.reader_of(mutation.random_of(0, k), tuple(files.READERS))
        for k in range(int(n_cases))
    )
    assert min(drawn[name] for name in files.READERS) >= 1000
    # On every other night, too: nine standard deviations below what is expected.
    least = n_cases * min(files.WEIGHTS.values()) / sum(files.WEIGHTS.values())
    assert least - 9 * least**0.5 >= 1000


@pytest.mark.parametrize("name", CALLED)
def test_odd_arguments_are_used_or_refused(name):
    found, outcomes = failures(calls.cases(0, 0, 20, [name]))
    assert not found, found[0]
    assert outcomes.total() > 12


@pytest.mark.parametrize("name", calls.PRODUCTS)
@pytest.mark.filterwarnings("ignore")
def test_odd_data_are_audited_or_refused(name):
    found, outcomes = failures(calls.cases(0, 0, 6, [name]))
    assert not found, found[0]
    assert outcomes.total() == 6


DRAWN_DAILY = ("garbe", "bfar", "threshold_at_far", "natural_weights", "Policy")


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(DRAWN_DAILY), st.randoms(use_true_random=False))
def test_odd_arguments_that_hypothesis_draws(name, rng):
    """From the same values; hypothesis looks for a smaller case where one fails."""
    made = calls.case(*calls.call([name], rng))
    assume(made is not None)
    outcome, text = driver.judged(made)
    assert outcome not in driver.FAILURES, text


def test_no_line_writes_outside_its_folder():
    for k in range(2000):
        number, changes = command.line(mutation.random_of(3, k))
        words = command.changed(command.LINES[number], changes)
        for before, word in itertools.pairwise(words):
            if before.startswith("--o") and not word.startswith("--o"):
                assert word in command.OUTS
    assert command.changed(("audit", "--out=/x"), []) == ["audit", "--out=report"]


def test_lines_of_the_command_are_run_or_refused():
    found, outcomes = failures(command.cases(0, 0, 5))
    assert not found, found[0]
    assert outcomes.total() == 5


def test_every_public_name_is_called_or_left_out_with_a_reason():
    parts = {part for name in calls.public_names() for part in (name, *name.split("."))}
    assert set(calls.LEFT_OUT) <= parts
    assert set(calls.OF_SUBJECT) - parts <= {"score_matrix"}


def test_documented_errors_are_those_of_the_docstring():
    assert calls.documented("disparity") == (ValueError, TypeError)
    assert OSError in calls.documented("EthicalModule.save")
    assert OSError not in calls.documented("EthicalModule")
    for name in calls.subject_names():
        assert all(issubclass(kind, Exception) for kind in calls.documented(name))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_call_works_before_it_is_changed():
    assert len(calls.subjects()) > 150


def test_a_call_that_changes_its_argument_is_a_failure(monkeypatch):
    def change(rates):
        rates[0] = 9

    subject = calls.Subject("change", change, {"rates": calls.RATES.copy()}, {}, "")
    monkeypatch.setattr(calls, "subject", lambda name: subject)
    outcome, text = driver.judged(calls.case("change", []))
    assert outcome == "traceback"
    assert "ChangedError: rates" in text


# ---- the driver --------------------------------------------------------------------------


def raising(error):
    def run():
        raise error

    return run


@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (lambda: np.arange(3), "same"),
        (lambda: np.arange(4), "different"),
        (lambda: np.arange(3.0), "different"),
        (lambda: calls.public_names()["disparity"]("x"), "clean"),
        (raising(driver.Refused("2")), "clean"),
        (lambda: open("/nowhere/at/all"), "clean"),
        (raising(ValueError("another library's")), "traceback"),
        (raising(KeyError("x")), "traceback"),
        (raising(SystemExit(0)), "traceback"),
        (raising(MemoryError()), "memory"),
        (lambda: len(np.ones(150_000_000)), "memory"),
    ],
)
def test_outcomes(run, outcome):
    usual = driver.summary(np.arange(3))
    errors = (ValueError, OSError, driver.Refused)
    case = driver.Case(run, usual, lambda: "shown", errors)
    found, text = driver.judged(case)
    assert found == outcome
    assert ("shown" in text) == (outcome in driver.FAILURES)


def hard(seed, first, n_cases):
    """Case 2 waits, 3 computes for ever, 5 ends the process."""

    def spin():
        while True:
            pass

    runs = {
        2: lambda: time.sleep(100),
        3: spin,
        5: lambda: os._exit(3),
    }
    driver.CPU_SECONDS, driver.WAITING_SECONDS = 0.2, 1
    for k in range(first, first + n_cases):
        yield driver.Case(
            runs.get(k, list), driver.summary([]), lambda k=k: f"shown {k}"
        )


@pytest.mark.slow
def test_a_case_that_never_ends_costs_no_other(monkeypatch):
    monkeypatch.setattr(driver, "BATCH", 8)
    count = driver.count_apart("tests.fuzz.test_fuzz:hard", 10, seed=4)
    assert dict(count.outcomes) == {"hang": 2, "traceback": 1, "same": 7}
    for k, text in zip((2, 3, 5), count.failures, strict=True):
        line, *_, shown = text.splitlines()
        assert f"--only test_fuzz --seed 4 --first {k} --cases 1: " in line
        assert shown == f"shown {k}"
    assert "ended with 3" in count.failures[2]


DRAWN = """
import warnings
warnings.simplefilter("ignore")
from tests.fuzz.test_fuzz import digests
print(*digests(), sep="\\n")
"""


def digests():
    """One of each case that is drawn."""
    shown = []
    for kind in (files, calls, command):
        shown += [case.shown() for case in kind.cases(7, 40, 300)]
    for k in range(300):
        rng = mutation.random_of(7, k)
        name, changes = calls.call(calls.subject_names(), rng)
        shown.append(f"{name} {[change[:2] for change in changes]}")
        shown.append(repr(command.line(rng)))
    texts = [text.encode("utf-8", "backslashreplace") for text in shown]
    return [hashlib.sha256(text).hexdigest() for text in texts]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_seed_gives_the_same_cases_in_every_process():
    run = subprocess.run(
        [sys.executable, "-c", DRAWN],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == digests()


@pytest.mark.slow
def test_counts_are_printed_by_outcome(capsys):
    assert main(["--cases", "20", "--only", "files"]) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == ["cases", *driver.OUTCOMES]
    assert line.split()[:2] == ["files", "20"]


# ---- damage ------------------------------------------------------------------------------


@pytest.mark.parametrize("change", mutation.CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_small_and_the_same_for_the_same_seed(change):
    data = bytes(range(100))
    changed = [change(data, random.Random(seed)) for seed in range(50)]
    assert changed == [change(data, random.Random(seed)) for seed in range(50)]
    assert sum(other != data for other in changed) > 25
    assert all(isinstance(change(b"", random.Random(s)), bytes) for s in range(20))
