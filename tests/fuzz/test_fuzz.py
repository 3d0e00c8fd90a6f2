"""A few damaged files a day, more at night; ``python -m tests.fuzz`` draws many."""

import os
import time

import pytest

pytest.importorskip("pandas")
from tests.fuzz import calls, command, driver, files

# Fast, of every package, with arrays and numbers; `python -m tests.fuzz` takes all.
CALLED = (
    *("threshold_at_far", "plan_test", "Policy.from_dict", "SimilarityROC.fit"),
    *("CohortNormalizer.score_pairs", "make_face_embeddings", "load_pairs"),
    *("GroupRatesDisplay.from_roc", "face_labels", "FairVMFLoss", "garbe"),
)


def failures(cases):
    """Texts of the failures among cases, and how many cases there were."""
    count = driver.Count()
    for case in cases:
        count.add("", *driver.judged(case))
    return count.failures, count.outcomes


@pytest.mark.parametrize("name", files.able())
def test_damaged_files_are_read_or_refused(name):
    n_cases = 10 if files.WEIGHTS[name] > 3 else 3
    found, outcomes = failures(files.cases(0, 0, n_cases, [name]))
    assert not found, found[0]
    assert outcomes.total() == n_cases


@pytest.mark.slow
@pytest.mark.parametrize("name", files.able())
def test_undamaged_files_are_the_same(name):
    for file, data in files.undamaged(name)[0].items():
        assert driver.judged(files.case(name, file, data))[0] == "same"


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLED)
def test_odd_arguments_are_used_or_refused(name):
    found, outcomes = failures(calls.cases(0, 0, 10, [name]))
    assert not found, found[0]
    assert outcomes.total() > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", calls.PRODUCTS)
@pytest.mark.filterwarnings("ignore")
def test_odd_data_are_audited_or_refused(name):
    found, outcomes = failures(calls.cases(0, 0, 6, [name]))
    assert not found, found[0]
    assert outcomes.total() == 6


@pytest.mark.slow
def test_lines_of_the_command_are_run_or_refused():
    found, outcomes = failures(command.cases(0, 0, 2))
    assert not found, found[0]
    assert outcomes.total() == 2


def test_every_public_name_is_called_or_left_out_with_a_reason():
    parts = {part for name in calls.public_names() for part in (name, *name.split("."))}
    assert set(calls.LEFT_OUT) <= parts
    assert set(calls.OF_SUBJECT) - parts <= {"score_matrix"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_call_works_before_it_is_changed():
    assert len(calls.subjects()) > 150


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
