"""What ``monitor_log`` and the command ``skfairfr monitor`` say of logs, one after the other."""

import json
import re
from datetime import datetime

import numpy as np
import pytest
from matplotlib.axes import Axes

from skfairfr._text._words import percent, percents
from skfairfr.metrics import RateMonitor
from skfairfr.report import Monitoring, monitor_log
from skfairfr.report._watching import _by_itself
from skfairfr.report.sections._cells import lines_of
from skfairfr.report.sections._one_log import table_of
from tests.report.audits import HOSTILE
from tests.report.json_schema import is_valid
from tests.test_cli import assert_one_line, run

POLICY = """
name = "door"
attributes = ["gender"]
confidence_level = 0.9
[limits]
max_fmr = 1e-3
max_fnmr = 0.08
max_fnmr_ratio = 1.5
"""


def rows(seed, first_day, n=1200, rates=(0.03, 0.03), off=0):
    """Rows of a log of 60 days; a person comes once or again."""
    rng = np.random.default_rng(seed)
    day = np.sort(rng.integers(0, 60, n)) + first_day
    person = off + rng.integers(0, n, n)
    gender = np.where(person % 3 == 0, "f", "m")
    accepted = rng.random(n) >= np.where(gender == "f", *rates)
    date = np.datetime64("2026-01-01") + day
    return [*zip(date.astype(str), person, gender, accepted.astype(int), strict=True)]


def write(path, found):
    lines = [
        ",".join(map(str, row))
        for row in [("date", "person", "gender", "accepted"), *found]
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def logs(tmp_path):
    (tmp_path / "door.toml").write_text(POLICY)
    first = write(tmp_path / "first.csv", rows(0, 0))
    second = write(tmp_path / "second.csv", rows(1, 60, rates=(0.2, 0.03), off=5000))
    return first, second


ASKED = {"attribute": "gender", "time": "date"}


def test_it_is_the_monitor_of_the_rows_in_their_time(logs, tmp_path):
    found = rows(0, 0)
    np.random.default_rng(5).shuffle(found)
    shuffled = write(tmp_path / "shuffled.csv", found)
    limits = {"max_fnmr": 0.08, "max_fnmr_ratio": 1.5}
    state = monitor_log(shuffled, limits=limits, **ASKED).state
    dates, person, gender, accepted = map(np.array, zip(*found, strict=True))
    order = np.argsort(dates, kind="stable")
    monitor = RateMonitor(how=(None, "max_min"), limit=(0.08, 1.5))
    expected = monitor.update(1 - accepted[order], person[order], gender[order])
    assert [f.groups for f in state.findings] == [f.groups for f in expected.findings]
    for one, other in zip(state.findings, expected.findings, strict=True):
        assert one.e_value == pytest.approx(other.e_value)
    assert state.n_people == expected.n_people == np.unique(person).size


def test_a_second_log_goes_on_where_the_first_ended(logs, tmp_path):
    options = ASKED | {"policy": tmp_path / "door.toml", "state": tmp_path / "s.json"}
    first = monitor_log(logs[0], **options)
    assert (first.verdict, first.exit_code, first.n_logs) == ("undetermined", 0, 1)
    second = monitor_log(logs[1], **options)
    assert (second.verdict, second.exit_code, second.n_logs) == ("failed", 1, 2)
    text = " ".join(second.to_text().split())
    shown = r"First attempts alone show since 2026-0\S+ that the FRR of f was above 8 % at some time"
    assert re.search(shown, text)
    assert "Not monitored: max_fmr" in text
    assert second.history[: len(first.history)] == first.history
    both = write(
        tmp_path / "both.csv", rows(0, 0) + rows(1, 60, rates=(0.2, 0.03), off=5000)
    )
    whole = monitor_log(both, policy=tmp_path / "door.toml", **ASKED)
    for one, other in zip(second.state.findings, whole.state.findings, strict=True):
        assert one.e_value == pytest.approx(other.e_value)
    form = json.loads(second.to_json(version="1", source="x"))
    assert is_valid(form, Monitoring.schema())
    page = second.to_html("x", date="2026-01-01")
    assert page.count("<img") == 2


def test_what_does_not_belong_to_a_state_is_refused(logs, tmp_path):
    state = tmp_path / "s.json"
    policy = tmp_path / "door.toml"
    options = ASKED | {"policy": policy, "state": state}
    monitor_log(logs[1], **options)
    before = state.read_bytes()
    for log, changed, words in (
        (logs[1], {}, "was taken before"),
        (logs[0], {}, "begins at 2026-01-01, and the last log ended at"),
        (logs[0], {"attempts": 2}, "is of attempts 1, not 2"),
        (logs[0], {"attribute": "person"}, "is of attribute 'gender', not 'person'"),
        (
            logs[0],
            {"policy": None, "limits": {"max_fnmr": 0.1}},
            r"is of limits {.max_fnmr.: 0.08, .max",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            monitor_log(log, **options | changed)
    policy.write_text(POLICY.replace("0.08", "0.07"))
    with pytest.raises(
        ValueError, match=r"is of limits {.max_fnmr.: 0.08, .*not {.max_fnmr.: 0.07"
    ):
        monitor_log(logs[0], **options)
    assert state.read_bytes() == before


def test_only_genuine_attempts_are_watched(tmp_path):
    found = rows(0, 0)
    path = tmp_path / "log.csv"
    kinds = ["genuine", "impostor", "attack"]
    lines = ["date,person,gender,accepted,kind"]
    lines += [f"{','.join(map(str, r))},{kinds[k % 3]}" for k, r in enumerate(found)]
    path.write_text("\n".join(lines))
    some = monitor_log(path, attempt="kind", **ASKED)
    write(path, found[::3])
    assert some.state.rates.n_attempts.tolist() == (
        monitor_log(path, **ASKED).state.rates.n_attempts.tolist()
    )
    assert "800 attempts were no genuine ones" in some.notes[0]


def test_log_with_every_row_twice_is_noted_by_its_times(tmp_path):
    found = rows(0, 0)
    log = write(tmp_path / "log.csv", found * 2)
    note, *_ = monitor_log(log, **ASKED).notes
    assert "in it twice" in note
    # Each person and each time have two rows, but no two rows are the same.
    days = ("2026-01-01", "2026-01-02")
    visits = [(day, person, "f", 1) for day in days for person in (9998, 9999)]
    for other in (found, found * 2 + visits):
        assert not monitor_log(write(tmp_path / "other.csv", other), **ASKED).notes
    log = write(tmp_path / "by_row.csv", sorted(found * 2))
    assert not monitor_log(log, "gender").notes


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y-%m-%dT%H:%M:%S", "%s"])
def test_monitor_reads_times_as_audits_do(tmp_path, form):
    """A log in either order has the same first attempts, whichever way its dates are written."""
    found = rows(0, 0)
    days = [datetime.fromisoformat(row[0]) for row in found]
    made = [(f"{day:{form}}", *row[1:]) for day, row in zip(days, found, strict=True)]
    asked = ASKED | {"limits": {"max_fnmr": 0.08}}
    expected = monitor_log(write(tmp_path / "iso.csv", found), **asked)
    dates = "day-first" if "." in form else None
    for name, some in (("last.csv", made[::-1]), ("first.csv", made)):
        log = write(tmp_path / name, some)
        got = monitor_log(log, **asked, dates=dates, state=tmp_path / f"{name}.json")
        assert got.state.findings == expected.state.findings
        with pytest.raises(ValueError, match="begins at"):
            later = write(tmp_path / "later.csv", made[:-30])
            monitor_log(later, **asked, dates=dates, state=tmp_path / f"{name}.json")
    with pytest.raises(ValueError, match="'date' rows are not in ascending time"):
        monitor_log(tmp_path / "last.csv", "gender")
    assert monitor_log(tmp_path / "first.csv", "gender").n_logs == 1


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%s"])
def test_log_before_the_last_one_is_an_error_without_a_time_column(tmp_path, form):
    def log(month):
        day, made = datetime(2026, month, 1), rows(0, 0)
        made = [(f"{day:{form}}", f"{month} {row[1]}", *row[2:]) for row in made]
        return write(tmp_path / f"{month}.csv", made)

    asked = {"attribute": "gender", "state": tmp_path / "state.json"}
    monitor_log(log(3), **asked)
    for month in (1, 2):
        for time in (None, "date"):
            with pytest.raises(ValueError, match="order of time"):
                monitor_log(log(month), **asked, time=time)
    assert monitor_log(log(4), **asked).n_logs == 2


def test_number_of_the_last_time_is_no_decimal_and_evidence_is_explained(tmp_path):
    found = [(k, k, "fm"[k % 2], int(k % 5 > 0)) for k in range(300)]
    asked = ASKED | {"limits": {"max_fnmr_ratio": 2}}
    for time, words in (
        ("date", "Until, by the numbers of the time: 299 "),
        (None, None),
    ):
        found_ = monitor_log(
            write(tmp_path / "log.csv", found), **(asked | {"time": time})
        )
        text = " ".join(found_.to_text().split())
        assert words in text if words else "Until" not in text
        which = "log 1 (0 to 299)" if time else "log 1"
        assert f"This log is {which}. It has 300 attempts and 300 new people." in text
        assert "First attempts alone show since " not in text
        n_limits = len(found_.state.findings)
        assert f"{40 * n_limits} is enough to find the limit exceeded" in text
        assert f"reaches {40 * n_limits}, the number of limits" in text
        for line in lines_of("monitoring"):
            assert line.format(wrong="5 %", attempts=1) in text


def test_numbers_are_times_and_labels_are_escaped(tmp_path):
    found = [(k, k, HOSTILE if k % 2 else "m", int(k % 5 > 0)) for k in range(300)]
    log = write(tmp_path / "log.csv", found)
    watched = monitor_log(log, limits={"max_fnmr": 0.1}, **ASKED)
    page = watched.to_html(date="2026-01-01")
    assert HOSTILE not in page and "&lt;script&gt;" in page
    assert watched.history[-1]["when"] == "299"
    watched = monitor_log(log, limits={"max_fnmr": 0.01}, **ASKED)
    text = " ".join(watched.to_text().split())
    assert (
        "First attempts alone show since time" in text
        and "a ratio compares" not in text
    )


def test_the_command_watches_log_after_log(capsys, logs, tmp_path):
    asked = ("monitor", "--time", "date", "--policy", tmp_path / "door.toml")
    asked += ("--state", tmp_path / "s.json", "--out", tmp_path / "out")
    code, text, err = run(capsys, *asked, logs[0])
    assert (code, err) == (0, "")
    assert "No limit is known to be exceeded." in text
    code, text, _ = run(capsys, *asked, "--replace", logs[1])
    assert code == 1
    names = ["monitor.json", "monitor.txt", "report.html"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == names
    code, out, err = run(capsys, *asked, "--replace", logs[1])
    assert "--log" not in err and "was taken before" in err
    assert_one_line(code, out, err, "monitor")


def test_people_spelled_otherwise_in_another_log_are_known(tmp_path):
    rng = np.random.default_rng(0)
    found = []
    for number, spell in enumerate(
        (str.lower, str.upper, lambda t: f" {t}", lambda t: f"u{int(t[1:])}")
    ):
        rows = [
            f"{spell(f'u{k:03d}')},{int(rng.random() < 0.9)},{'fm'[k % 2]}"
            for k in range(200)
        ]
        path = tmp_path / f"{number}.csv"
        path.write_text("\n".join(["identity,accepted,sex", *rows]))
        state = tmp_path / "state.json"
        found.append(monitor_log(path, "sex", limits={"max_fnmr": 0.5}, state=state))
    assert [one.state.n_people for one in found] == [200] * 4


def bank_log(path, month, people, rates, rng, n=8000):
    """Attempts of some people in a month; Ost and Nord have these rates."""
    person = rng.choice(people, n)
    region = np.where(person % 4 == 0, "Ost", "Nord")
    accepted = rng.random(n) >= np.where(region == "Ost", *rates)
    day = np.sort(rng.integers(1, 29, n))
    date = [f"2026-{month:02}-{d:02}" for d in day]
    columns = [date, person, region, accepted.astype(int)]
    found = [*zip(*(list(c) for c in columns), strict=True)]
    return write(path, found)


def test_customers_who_come_back_are_audited_log_by_log(tmp_path):
    """Rates of known customers rise from 13.8 to 22.7 %; few people are new."""
    rng = np.random.default_rng(0)
    asked = {"attribute": "gender", "time": "date", "limits": {"max_fnmr": 0.16}}
    asked["state"] = tmp_path / "state.json"
    codes = []
    for month in range(1, 10):
        rates = (0.138 if month < 8 else 0.227, 0.1)
        people = np.arange(1000 + month)
        log = bank_log(tmp_path / f"{month}.csv", month, people, rates, rng)
        found = monitor_log(log, **asked)
        codes.append(found.exit_code)
        assert not found.state.failed
    assert codes == [0] * 7 + [1] * 2
    read = [line.split(",") for line in log.read_text().split()[1:]]
    ost = [(person, int(done)) for _, person, group, done in read if group == "Ost"]
    place = found.log["groups"].index("Ost")
    assert found.log["attempts"][place] == len(ost)
    assert found.log["people"][place] == len({person for person, _ in ost})
    rate = 1 - np.mean([done for _, done in ost])
    assert found.log["value"][place] == pytest.approx(rate)
    expected = 1 - 0.025 * 6 / (np.pi * 9) ** 2
    assert found.log["confidence_level"] == pytest.approx(expected)
    kept = RateMonitor.load(tmp_path / "state.json").confidence_level
    assert kept == found.settings["level_of_first"] == pytest.approx(1 - 0.05 / 2)
    text = " ".join(found.to_text().split())
    assert re.search(rf"Ost: FRR {100 * rate:.1f} % \(\S+ % CI .*?\) in this log", text)
    assert "It has 8,000 attempts and 1 new person." in text
    (check,) = found.log["checks"]
    assert (check["verdict"], check["groups"]) == ("failed", ["Ost"])
    assert [check[end] for end in ("low", "high")] == [
        found.log[end][place] for end in ("low", "high")
    ]
    part = 0.025 * 6 / (np.pi * 9) ** 2 / 2
    level = f"{100 * (1 - 2 * part):.5g} %"
    assert f"so the level is one minus twice the part, here {level}." in text
    assert "a ratio compares people" not in text
    assert check["low"] > 0.16
    form = json.loads(found.to_json())
    assert is_valid(form, Monitoring.schema())
    assert form["log"] == form["history"][-1]["log"]


def test_the_first_line_says_how_much_is_new(tmp_path):
    rng = np.random.default_rng(0)
    asked = {"attribute": "gender", "time": "date", "state": tmp_path / "state.json"}
    groups = np.arange(200)
    cases = (
        (1, groups, "It has 1,000 attempts and {} new people."),
        (2, groups[:50], "It has 1,000 attempts and no new people."),
        (
            3,
            groups + 1000,
            "It has 1,000 attempts and {} new people.",
        ),
    )
    for month, people, words in cases:
        log = bank_log(tmp_path / "log.csv", month, people, (0.1, 0.1), rng, 1000)
        found = monitor_log(log, **asked)
        n_people = len({line.split(",")[1] for line in log.read_text().split()[1:]})
        words = words.format(n_people)
        assert words in " ".join(found.to_text().split())
    log = write(
        tmp_path / "one.csv", [("2026-04-01", k + 3000, "Ost", 1) for k in range(9)]
    )
    found = monitor_log(log, **asked)
    assert found.log == {} and "fewer than two groups" in found.to_text()
    later = [("2026-05-01", k + 4000, "Sued" if k % 2 else "Ost", 1) for k in range(99)]
    found = monitor_log(write(tmp_path / "later.csv", later), **asked)
    assert found.state.rates.groups[-1] == "Sued"
    assert sorted(found.log["groups"]) == ["Ost", "Sued"]
    assert is_valid(json.loads(found.to_json()), Monitoring.schema())
    assert found.to_html(date="2026-01-01").count("<img") == 1


def test_the_first_screen_names_the_highest_rate_of_the_log(tmp_path):
    rates = {"Ost": 0.3, "Sued": 0.1, "West": 0.2}
    found = [
        ("2026-01-01", f"{g}{k % 100}", g, int(k % 10 >= 10 * rate))
        for g, rate in rates.items()
        for k in range(1000)
    ]
    log = write(tmp_path / "log.csv", found)
    for limits, status in (({}, "none"), ({"max_fnmr": 0.5}, "undetermined")):
        watched = monitor_log(log, limits=limits or None, **ASKED)
        verdict = watched._opening()[0]
        assert verdict.status == status
        assert verdict.headline.startswith(
            "The highest FRR in this log is that of Ost: 30"
        )
    assert "3,000 attempts and 300 new people" in verdict.label
    by_rate = ["Ost", "West", "Sued"]
    assert [row.name for row in watched._table().rows] == by_rate
    of_log = [row.name for row in table_of(watched.log).rows]
    assert of_log == [f"FRR, {group}" for group in by_rate]
    (digest,) = watched.settings["sha256"].values()
    assert digest in watched.to_text() and len(digest) == 64


def test_a_log_in_which_everybody_is_rejected_exceeds_the_limit_of_each_group(tmp_path):
    found = [("2026-01-01", k % 300, "fm"[k % 2], 0) for k in range(3000)]
    log, limits = write(tmp_path / "log.csv", found), {"max_fnmr": 0.05}
    told = monitor_log(log, limits=limits | {"max_fnmr_ratio": 1.5}, **ASKED)
    text = " ".join(told.to_text().split())
    assert (
        told.exit_code == 1
        and "Exceeded. 2 of 2 groups exceed the limit of the FRR in this log, and at some time so far."
        in text
    )
    for group in "fm":
        words = (
            r"FRR 100 % \(\S+ % CI \S+ to 100 %\) in this log \(1,500 attempts of 150"
        )
        assert re.search(f"{group}: {words} people", text)
    assert (
        "The ratio of rates of this log cannot be judged: the FRR of every group is 100 %."
        in text
    )


def test_a_log_without_times_is_audited_by_itself(tmp_path):
    """Without a column of times, too, and what a log exceeded is not forgotten."""
    state, limits = tmp_path / "state.json", {"max_fnmr": 0.05, "max_fnmr_ratio": 2}
    codes, texts = [], []
    for number, share in enumerate((0.02, 0.3, 0.02, 0.3)):
        rng = np.random.default_rng(number)
        accepted = rng.random(6000) >= np.where(np.arange(6000) % 2, 0.02, share)
        lines = [f"{k % 600},{'fm'[k % 2]},{int(a)}" for k, a in enumerate(accepted)]
        log = tmp_path / f"{number}.csv"
        log.write_text("\n".join(["person,gender,accepted", *lines]))
        found = monitor_log(log, "gender", limits=limits, state=state)
        codes.append(found.exit_code)
        texts.append(" ".join(found.to_text().split()))
        assert [one["name"] for one in found.log["checks"]] == [*limits]
    assert codes == [0, 1, 1, 1] and not found.state.failed
    *_, text, last = texts
    assert last.count("(exceeded in logs 2 and 4)") == 2
    assert "exceeded in logs" not in text
    assert "in log 2 (3,000 attempts of 300 people)" in text
    assert (
        "Exceeded. 1 of 2 groups exceeds the limit of the FRR in an earlier log; the ratio of FRR "
        "exceeds its limit in an earlier log. This log" in text
    )
    assert re.search(r"[fm]: FRR \S+ % in the log before, \S+ % in this one\.", text)
    assert "until log" not in text and "a ratio compares people" in text
    assert "ratio of FRR, " in text and "Not monitored" not in text
    monitor_log(write(tmp_path / "a.csv", rows(0, 0)), state=tmp_path / "t", **ASKED)
    with pytest.raises(ValueError, match="time is missing"):
        later = write(tmp_path / "b.csv", rows(1, 60))
        monitor_log(later, "gender", state=tmp_path / "t")


def groups_log(rates, n_people=60, n=1200, seed=0):
    """Rows of a log in which each group has a rate."""
    rng = np.random.default_rng(seed)
    people = (
        {group: n_people for group in rates} if isinstance(n_people, int) else n_people
    )
    found = []
    for group, rate in rates.items():
        person = rng.integers(0, people[group], n * people[group] // 60)
        errors = rng.random(person.size) < rate
        rows = zip(person.tolist(), errors.tolist(), strict=True)
        found += [("2026-01-01", f"{group}{k}", group, int(not e)) for k, e in rows]
    return found


def row_of(found, name):
    """Cells of a row of the table of the last log."""
    rows = {row.name: row for row in table_of(found.log).rows}
    return [cell.text for cell in rows[name].cells]


def test_printed_interval_of_a_log_is_the_judged_one(tmp_path):
    """With six groups, a limit between the judged end and that of each group alone."""
    rates = dict.fromkeys("abcde", 0.02) | {"f": 0.12}
    log = write(tmp_path / "log.csv", groups_log(rates))
    alone = monitor_log(log, **ASKED).log
    place = alone["groups"].index("f")
    judged = monitor_log(log, limits={"max_fnmr": 0.5}, **ASKED).log
    assert judged["low"][place] < alone["low"][place]
    level = 1 - 0.025 * 6 / np.pi**2
    assert alone["confidence_level"] == pytest.approx(level)
    assert judged["confidence_level"] == pytest.approx(1 - (1 - level) / 3)
    between = (judged["low"][place] + alone["low"][place]) / 2
    for limit, result in ((between, "above, not certain"), (0.05, "exceeded")):
        found = monitor_log(log, limits={"max_fnmr": limit}, **ASKED)
        *_, ends, _, _, got = row_of(found, "FRR, f")
        low = float(ends.split(" to ")[0]) / 100
        assert (got, low > limit) == (result, result == "exceeded")
        (check,) = found.log["checks"]
        if result == "exceeded":
            place = found.log["groups"].index("f")
            assert check["high"] == found.log["high"][place]


def test_only_groups_that_certainly_exceed_a_limit_are_named(tmp_path):
    """Nine people have the highest rate, and too few attempts to be sure of it."""
    people = {"few": 9, "many": 600, "most": 600}
    rates = {"few": 0.28, "many": 0.22, "most": 0.02}
    found = groups_log(rates, people)
    log = write(tmp_path / "log.csv", found)
    limits = {"max_fnmr": 0.18}
    watched = monitor_log(log, limits=limits, **ASKED)
    values = dict(zip(watched.log["groups"], watched.log["value"], strict=True))
    assert values["few"] > values["many"] and watched.log["checks"][0]["groups"]
    assert row_of(watched, "FRR, few")[-1] == "above, not certain"
    assert row_of(watched, "FRR, many")[-1] == "exceeded"
    opening = watched._opening()[0]
    assert opening.headline.startswith("many: ")
    assert opening.label.startswith("Exceeded. 1 of 3 groups exceeds the limit of the")
    assert row_of(watched, "FRR, most")[-1] == "interval below limit"
    cut = monitor_log(log, limits={"max_fnmr": 0.5}, **ASKED)
    (few,) = (k for k, g in enumerate(cut.log["groups"]) if g == "few")
    between = (values["few"] + cut.log["high"][few]) / 2
    unsure = monitor_log(log, limits={"max_fnmr": between}, **ASKED)
    assert row_of(unsure, "FRR, few")[-1] == "no excess found"
    assert any("not certain: FRR in this log (few)" in text for text in opening.texts)


def test_headline_names_rates_above_a_limit_that_are_not_certain(tmp_path):
    log = write(tmp_path / "log.csv", groups_log({"a": 0.11, "b": 0.02}))
    found = monitor_log(log, limits={"max_fnmr": 0.1}, **ASKED)
    opening = found._opening()[0]
    assert (opening.status, found.exit_code) == ("undetermined", 0)
    assert opening.headline.startswith(
        "Above a limit, not certain: FRR in this log (a)"
    )
    assert opening.texts[0].startswith("The highest FRR in this log is that of a")
    calm = monitor_log(log, limits={"max_fnmr": 0.9}, **ASKED)._opening()[0]
    assert "not certain" not in calm.headline


@pytest.mark.usefixtures("real_figures")
def test_lines_of_the_figure_break_between_logs(tmp_path, monkeypatch):
    drawn = []
    plot = Axes.plot
    monkeypatch.setattr(
        Axes, "plot", lambda ax, *xy, **o: drawn.append(xy) or plot(ax, *xy, **o)
    )
    asked = ASKED | {"limits": {"max_fnmr": 0.5}, "state": tmp_path / "s.json"}
    for name, first_day in (("a.csv", 0), ("b.csv", 60)):
        found = monitor_log(write(tmp_path / name, rows(first_day, first_day)), **asked)
    assert ["log" in row for row in found.history].count(True) == 2
    found.to_html(date="2026-01-01")
    lines = [np.array(y, dtype=float) for _, y in drawn if len(y) > len(found.history)]
    assert len(lines) == 4  # rates and evidence of two groups
    for y in lines:
        assert np.flatnonzero(np.isnan(y)).tolist() == [12]


def test_command_without_state_says_that_nothing_is_kept(capsys, logs, tmp_path):
    asked = ("monitor", logs[0], "--attribute", "gender", "--time", "date", "--quiet")
    words = "Nothing is kept for the next log. To keep it, use --state FILE."
    assert run(capsys, *asked)[1].count(words) == 1
    assert words not in run(capsys, *asked, "--state", tmp_path / "s.json")[1]


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "least", "most"), [(0.1, 0, 6), (0.16, 0.8 * 40, 40)])
def test_alarms_of_all_logs_together(rate, least, most):
    """Six logs of the same people: with rates at the limit, and above it."""
    rng, alarms = np.random.default_rng(0), 0
    for _ in range(40):
        # People of either group differ, as a sample of people with the mean rate.
        person = np.arange(400)
        own = rng.beta(20 * rate, 20 * (1 - rate), 400)
        own[person % 4 > 0] /= 4
        found = False
        for k in range(1, 7):
            some = rng.integers(0, 400, 2000)
            error = rng.random(2000) < own[some]
            group = np.where(some % 4 == 0, "Ost", "Nord")
            share = 0.05 / 2 * 6 / (np.pi * k) ** 2
            log = _by_itself(error, some, {"region": group}, {"max_fnmr": 0.1}, share)
            found |= any(check["verdict"] == "failed" for check in log["checks"])
        alarms += found
    assert least <= alarms <= most


def test_people_whose_group_changed_are_noted(tmp_path):
    def log(name, month, of):
        rows = [(f"2026-{month:02}-01", k, of(k), k % 9 > 0) for k in range(100)]
        return write(tmp_path / name, rows)

    asked = {"attribute": "gender", "state": tmp_path / "state.json"}
    first = log("a.csv", 1, lambda k: "fm"[k % 2])
    assert not monitor_log(first, time="date", **asked).notes
    second = log("b.csv", 2, lambda k: "fm"[(k + (k < 30)) % 2])
    (note,) = monitor_log(second, time="date", **asked).notes
    assert note.startswith("Another group than before: 30 of 100 people")


def test_state_file_of_another_program_is_named(tmp_path, capsys):
    log, state = tmp_path / "log.csv", tmp_path / "door.state"
    log.write_text("person,gender,accepted\nann,f,yes\nbob,m,no\n")
    state.write_text("{}")
    flags = ["-a", "gender", "--max-fnmr", "0.5", "--state", str(state)]
    code, _, err = run(capsys, "monitor", str(log), *flags)
    assert code == 2 and "door.state' is no file of skfairfr" in err
    assert "it has no 'format'" in err


def test_a_log_of_mostly_rejected_attempts_asks_whether_yes_and_no_are_swapped(logs):
    first, _ = logs
    swapped = [(*row[:-1], 1 - row[-1]) for row in rows(0, 0)]
    assert "swapped" not in monitor_log(first, **ASKED).to_text()
    nothing_captured = [(*row[:-1], "") for row in rows(0, 0)]
    text = monitor_log(write(first, nothing_captured), **ASKED).to_text()
    assert "1,200 of 1,200 attempts" in text and "swapped" not in text
    text = monitor_log(write(first, swapped), **ASKED).to_text()
    assert (
        "% of the genuine attempts of this log are rejected. Are yes and no swapped?"
        in (" ".join(text.split()))
    )


def test_first_screen_counts_attempts_that_were_not_captured(tmp_path):
    found = [[*row, 1] for row in rows(0, 0)]
    of_f = [row for row in found if row[2] == "f"]
    for row in of_f[:9]:
        row[3:] = 0, 0
    lines = [("date", "person", "gender", "accepted", "captured"), *found]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in lines))
    state = monitor_log(path, **ASKED)
    assert dict(zip(state.log["groups"], state.log["not_captured"], strict=True)) == {
        "f": 9,
        "m": 0,
    }
    text = " ".join(state.to_text().split())
    assert "9 of 1,200 attempts were not captured and count as rejected." in text
    share = percent(9 / len(of_f)).replace("\N{NO-BREAK SPACE}", " ")
    assert f"that of f: {share} (9 of {len(of_f)})." in text
    assert is_valid(json.loads(state.to_json()), Monitoring.schema())


def test_an_average_that_may_meet_a_limit_is_not_called_above_it(tmp_path):
    """The rate of f rises in the fourth log, its evidence suffices, and its mean is uncertain."""
    asked = ASKED | {"limits": {"max_fnmr": 0.1}, "state": tmp_path / "s.json"}
    texts, unsure = [], ", which does not show that the average is above 10 %."
    for k, rate in enumerate((0.03, 0.03, 0.03, 0.35, 0.5)):
        made = rows(k, 60 * k, rates=(rate, 0.03), off=5000 * k)
        found = monitor_log(write(tmp_path / f"{k}.csv", made), **asked)
        texts.append(found.to_text().replace("\N{NO-BREAK SPACE}", " "))
        texts[-1] = " ".join(texts[-1].split())
        if k < 3:
            continue
        (failed,) = found.state.failed
        rates = found.state.rates
        place = rates.groups.index("f")
        low, high = rates.low[place], rates.high[place]
        assert (low <= 0.1 < failed.value) == (k == 3)
        average = f"{percent(failed.value)} (97.5 % CI {percents(low, high)} if the rate did not change)"
        average = average.replace("\N{NO-BREAK SPACE}", " ")
        end = unsure if k == 3 else "."
        assert f"Its average over all first attempts is {average}{end}" in texts[-1]
    assert [unsure in text for text in texts] == [False] * 3 + [True, False]
    chance = (
        "in any log ever, is at most 5 %: 2.5 % for all single logs together, 2.5 %"
    )
    assert chance in texts[-1]


def test_every_group_has_the_rates_of_first_and_of_all_attempts(tmp_path):
    found = [("2026-01-01", k % 300, "fm"[k % 2], int(k >= 90)) for k in range(900)]
    watched = monitor_log(write(tmp_path / "log.csv", found), **ASKED)
    cells = [
        cell.text.replace("\N{NO-BREAK SPACE}", " ")
        for cell in watched._table().rows[0].cells
    ]
    assert cells[0] == "30.0 % (45 of 150)" and cells[2] == "10.0 % (45 of 450)"
