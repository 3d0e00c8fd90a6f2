"""A column that tells impostor attempts and attacks from genuine ones has to be named."""

import pytest

from skfairfr.datasets import load_decisions


def log_with(tmp_path, head, values):
    rows = [f"p{n},{n % 2},{value}" for n, value in enumerate(values * 3)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join([f"person,accepted,{head}", *rows]))
    return path


@pytest.mark.parametrize(
    ("head", "values"),
    [
        ("attempt", ["genuine", "impostor"]),
        ("kind", ["Bona-fide", "spoof"]),
        ("type", ["attack", "attack"]),
        ("genuine", ["1", "0"]),
        ("is_mated", ["no", "yes"]),
        ("label", ["1", "0"]),
        ("role", ["client", "impostor"]),
        ("presentation", ["bona fide", "print attack"]),
    ],
)
def test_attempts_of_other_kinds_are_not_taken_for_genuine(tmp_path, head, values):
    path = log_with(tmp_path, head, values)
    with pytest.raises(ValueError, match=f"the column '{head}'"):
        load_decisions(path)


@pytest.mark.parametrize(
    ("head", "values"),
    [
        ("attempt", ["genuine", "mated"]),
        ("device", ["live", "kiosk"]),
        ("note", ["", ""]),
        ("passed", ["yes", "no"]),
        ("is_genuine", ["1", "1"]),
    ],
)
def test_other_columns_are_left_alone(tmp_path, head, values):
    assert load_decisions(log_with(tmp_path, head, values)).accepted.size == 6


def test_a_column_that_is_asked_for_may_have_such_labels(tmp_path):
    path = log_with(tmp_path, "tool", ["genuine", "attack"])
    found = load_decisions(path, columns=["tool"])
    assert set(found.columns["tool"]) == {"genuine", "attack"}


def test_kinds_that_begin_late_in_a_log_are_seen(tmp_path):
    path = log_with(tmp_path, "kind", ["genuine"] * 300 + ["impostor"])
    with pytest.raises(ValueError, match="the column 'kind'"):
        load_decisions(path)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rejected", ["rejected", "accepted"]),
        ("accept_reject", ["1", "0"]),
        ("not_rejected", ["1", "0"]),
    ],
)
def test_what_was_accepted_is_read_if_name_or_words_say_so(tmp_path, name, values):
    path = tmp_path / "log.csv"
    path.write_text(f"person,{name}\na,{values[0]}\nb,{values[1]}")
    found = load_decisions(path, accepted=name)
    assert found.accepted.tolist() == [values[0] == "1", values[0] != "1"]


def test_a_column_that_says_no_of_most_genuine_attempts_is_refused(tmp_path):
    path = tmp_path / "log.csv"
    rows = [f"p{n},{int(n % 9 == 0)},{int(n > 60)}" for n in range(90)]
    path.write_text("\n".join(["person,result,imp", *rows]))
    with pytest.raises(ValueError, match="is no in 80 of 90 genuine attempts"):
        load_decisions(path, accepted="result")
    path.write_text("\n".join(["person,accepted,imp", *rows]))
    assert load_decisions(path).accepted.sum() == 10
    # No of most impostor attempts is as it should be.
    kinds = [f"p{n},{int(n % 9 > 0)},genuine" for n in range(90)]
    kinds += [f"p{n},0,impostor" for n in range(900)]
    path.write_text("\n".join(["person,result,kind", *kinds]))
    found = load_decisions(path, accepted="result", attempt="kind")
    assert found.accepted.sum() == 80


@pytest.mark.parametrize(
    "name", ["rejected", "was_denied", "Refused", "failed", "is_error"]
)
def test_a_column_of_rejections_is_refused_by_its_name(tmp_path, name):
    path = tmp_path / "log.csv"
    path.write_text(f"person,{name}\na,1\nb,0")
    with pytest.raises(ValueError, match="a column of rejections"):
        load_decisions(path, accepted=name)
