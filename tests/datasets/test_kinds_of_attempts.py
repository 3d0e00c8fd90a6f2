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
        ("is_genuine", ["1", "1"]),
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
    ],
)
def test_other_columns_are_left_alone(tmp_path, head, values):
    assert load_decisions(log_with(tmp_path, head, values)).accepted.size == 6


def test_a_column_that_is_asked_for_may_have_such_labels(tmp_path):
    path = log_with(tmp_path, "tool", ["genuine", "attack"])
    found = load_decisions(path, columns=["tool"])
    assert set(found.columns["tool"]) == {"genuine", "attack"}


@pytest.mark.parametrize("name", ["rejected", "was_denied", "Refused", "failed"])
def test_a_column_of_rejections_is_refused_by_its_name(tmp_path, name):
    path = tmp_path / "log.csv"
    path.write_text(f"person,{name}\na,1\nb,0")
    with pytest.raises(ValueError, match="a column of rejections"):
        load_decisions(path, accepted=name)
