"""Audits of decisions on attempts, without scores: rates by plain loops, words, formats."""

import csv
import io
import json
import re
from collections import defaultdict
from datetime import datetime, timedelta

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from skfairfr._core._jackknife import genuine_sums, rate_ends
from skfairfr.cli import main
from skfairfr.report import Policy, Report, audit_data, audit_decisions, read_data
from skfairfr.report._decisions import transactions
from tests.report.json_schema import is_valid
from tests.report.test_one_sided import THRESHOLD, audited, of_kind, pairs  # noqa: F401


def log(n=1200, n_people=90):
    """Person, group and error of attempts; groups are alike, people differ."""
    rng = np.random.default_rng(0)
    person = rng.integers(0, n_people, n)
    own = rng.beta(1, 12, n_people)
    return person, np.where(person % 2, "f", "m"), rng.random(n) < own[person]


def of_group(report, group, place=0):
    rows = report.audits[place].levels[0].rates
    return next(row for row in rows if row.group == group)


def test_decisions_have_the_rates_of_the_list_that_they_are_made_from(pairs):  # noqa: F811
    genuine = of_kind(pairs, True)
    error = genuine.y_score < THRESHOLD
    person, group = genuine.identities[0], genuine.columns["group"][0]
    found = audit_decisions(error, person, group).audits[0]
    whole = audited(pairs).audits[0]
    for one, other in zip(found.levels[0].rates, whole.levels[0].rates, strict=True):
        assert one.group == other.group
        assert one.frr_errors == other.frr_errors
        for name in ("value", "supported", "reason"):
            assert getattr(one.frr, name) == getattr(other.frr, name)
        assert one.frr.low == pytest.approx(other.frr.low, rel=1e-12)
        # Scores tell of the errors at other thresholds too, which bound a rate more tightly
        # where few people err: without them the bound is that of these errors alone.
        inside = group == one.group if one.group is not None else slice(None)
        people = np.unique(person[inside], return_inverse=True)[1]
        sums = genuine_sums(
            np.bincount(people, error[inside])[None], np.bincount(people)
        )
        assert one.frr.high == pytest.approx(float(rate_ends(sums, 0.025)[1][0]))
        if one.frr.supported:
            assert one.frr.high == pytest.approx(other.frr.high, rel=0.03)
    of_whole = next(f for f in whole.levels[0].findings if f.rate == "frr")
    ratio = found.levels[0].findings[0].ratio
    for name in ("value", "low", "high", "p_value"):
        expected = pytest.approx(getattr(of_whole.ratio, name), rel=1e-9)
        assert getattr(ratio, name) == expected


@pytest.mark.parametrize("kind", ["frr", "far", "bpcer", "apcer"])
def test_rates_by_a_loop(kind):
    person, group, error = log()
    report = audit_decisions(error, person, group, kind=kind)
    counted = defaultdict(list)
    for g, wrong in zip(group, error, strict=True):
        counted[g].append(wrong)
        counted[None].append(wrong)
    for g, wrong in counted.items():
        row = of_group(report, g)
        assert row.frr.value == sum(wrong) / len(wrong)
        assert row.frr_errors == sum(wrong)
    form = json.loads(report.to_json())
    assert is_valid(form, Report.schema())
    assert form["audits"][0]["levels"][0]["rates"][0][kind]["value"] == np.mean(error)


def best_of_by_a_loop(error, keys, best_of, of_acceptance):
    """First attempt and error of every transaction, in the order of their first attempts."""
    taken = {}
    for row, key in enumerate(zip(*keys, strict=True)):
        taken.setdefault(key, []).append(row)
    first, found = [], []
    for rows in taken.values():
        known = [error[row] for row in rows[:best_of] if error[row] == error[row]]
        accepted = any(e == of_acceptance for e in known)
        first.append(rows[0])
        found.append(float(accepted == of_acceptance) if known else np.nan)
    return first, found


@pytest.mark.parametrize("of_acceptance", [False, True])
@pytest.mark.parametrize("best_of", [1, 2, 3, 100])
def test_transactions_by_a_loop(of_acceptance, best_of):
    rng = np.random.default_rng(best_of)
    error = rng.choice([0.0, 1.0, np.nan], 400)
    keys = [rng.integers(0, 20, 400), rng.choice(["a", "b", None], 400)]
    first, found = transactions(error, keys, best_of, of_acceptance)
    of_loop = best_of_by_a_loop(error, keys, best_of, of_acceptance)
    assert first.tolist() == of_loop[0]
    assert np.array_equal(found, of_loop[1], equal_nan=True)


def test_best_of_is_an_audit_of_transactions():
    person, group, error = log()
    session = np.arange(error.size) // 300
    report = audit_decisions(error, person, group, session=session, best_of=2)
    first, found = best_of_by_a_loop(error, [person, session], 2, False)
    alone = audit_decisions(found, person[first], group[first])
    # As text: nan is no nan of another place.
    as_attempts = repr(of_group(report, "f")).replace("transaction", "attempt")
    assert as_attempts == repr(of_group(alone, "f"))
    assert "Genuine transactions" in report.to_text()
    assert "first 2 attempts" in re.sub(r"\s+", " ", report.to_text())
    assert json.loads(report.to_json())["audits"][0]["settings"]["best_of"] == 2


# ---- the order of attempts -----------------------------------------------------------


@pytest.fixture(scope="module")
def sessions():
    """Rows of up to three attempts a session, of which the first fails most; and its FRR."""
    rng, rows, rejected = np.random.default_rng(7), [], 0
    for session in range(400):
        person, start = int(rng.integers(150)), datetime(2026, 1, 1) + session * HOURS
        for attempt, chance in enumerate((0.2, 0.05, 0.05)):
            accepted = int(rng.random() >= chance)
            rejected += attempt == 0 and not accepted
            when = start + attempt * timedelta(seconds=25)
            rows.append((person, "fm"[person % 2], session, when, accepted))
            if accepted:
                break
    return rows, rejected / 400


HOURS = timedelta(hours=7, minutes=3)
WRITTEN = {
    "iso": lambda when: when.isoformat(),
    "zone": lambda when: f"{when:%Y-%m-%d %H:%M:%S}+01:00",
    "seconds": lambda when: round(when.timestamp()),
    "milliseconds": lambda when: round(1000 * when.timestamp()),
    "day-first": lambda when: f"{when:%d.%m.%Y %H:%M:%S}",
    "month-first": lambda when: f"{when:%m/%d/%Y %I:%M:%S %p}",
    "day-first ": lambda when: f"{when.day}.{when.month}.{when:%y %H:%M:%S}",
    "slashes": lambda when: f"{when:%Y/%m/%d %H:%M:%S}",
    "digits": lambda when: f"{when:%Y%m%d%H%M%S}",
    "minutes": lambda when: f"{when:%Y-%m-%d %H:%M}",
    "days": lambda when: f"{when:%Y-%m-%d}",
}


def written(path, rows, form):
    lines = [
        f"{person},{group},{session},{WRITTEN[form](when)},{accepted}"
        for person, group, session, when, accepted in rows
    ]
    path.write_text("\n".join(["person,gender,visit,when,accepted", *lines]))
    return path


def first_of_session(path, **options):
    """FRR of everyone at the first attempt of each session."""
    asked = {"accepted": "accepted", "session": "visit", "best_of": 1} | options
    (part,) = read_data(path, "gender", **asked).parts
    return np.mean(part.y_score == 0)


@pytest.mark.parametrize("form", WRITTEN)
def test_log_in_either_order_with_time_has_one_rate(tmp_path, sessions, form):
    rows, truth = sessions
    options = {"time": "when", "dates": form.strip() if "first" in form else None}
    for name, some in (("first.csv", rows), ("last.csv", rows[::-1])):
        path = written(tmp_path / name, some, form)
        assert first_of_session(path, **options) == pytest.approx(truth)
    # In disorder as well, if times tell the attempts of a session apart.
    path = written(tmp_path / "shuffled.csv", sorted(rows, key=str), form)
    if form in ("minutes", "days"):
        with pytest.raises(ValueError, match="is equal for attempts of a session"):
            first_of_session(path, **options)
    else:
        assert first_of_session(path, **options) == pytest.approx(truth)


@pytest.mark.parametrize("form", ["iso", "seconds", "day-first "])
def test_log_that_runs_backwards_without_time_is_refused(tmp_path, sessions, form):
    rows, truth = sessions
    path = written(tmp_path / "first.csv", rows, form)
    assert first_of_session(path) == pytest.approx(truth)
    with pytest.raises(
        ValueError, match=r"'when' rows are not in ascending.*\(--time\)"
    ):
        first_of_session(written(path, rows[::-1], form))
    gaps = [
        (*row[:3], None, row[4]) if k % 9 == 5 else row for k, row in enumerate(rows)
    ]
    forms = WRITTEN[form]
    WRITTEN["gaps"] = lambda when: "" if when is None else forms(when)
    try:
        with pytest.raises(ValueError, match="ascending"):
            first_of_session(written(path, gaps[::-1], "gaps"))
    finally:
        del WRITTEN["gaps"]


def without_times(path, rows, numbers):
    """A log with numbers, words, and times that are one for all of a session."""
    rng, lines = np.random.default_rng(0), []
    for k, ((p, g, s, _, a), number) in enumerate(zip(rows, numbers, strict=True)):
        fixed = (
            f"{p % 5},{rng.integers(10**6)},{rng.random()},b{k},1980-01-{p % 28 + 1:02}"
        )
        lines.append(f"{p},{g},{s},{a},{number},{fixed}")
    head = "person,gender,visit,accepted,number,site,id,quality,name,born"
    path.write_text("\n".join([head, *lines]))
    return path


def test_log_without_order_is_refused_if_a_session_has_later_attempts(
    tmp_path, sessions
):
    rows, truth = sessions
    path, n = tmp_path / "log.csv", len(rows)
    of_session = [row[2] for row in rows]
    attempts = [1 + of_session[:k].count(s) for k, s in enumerate(of_session)]
    for numbers in (range(n), attempts):
        # The numbers of the rows, or of the attempts, say that rows are in order.
        found = first_of_session(without_times(path, rows, numbers))
        assert found == pytest.approx(truth)
        shuffled = np.random.default_rng(1).permutation(n).tolist()
        without_times(path, [rows[k] for k in shuffled], [numbers[k] for k in shuffled])
        assert first_of_session(path, time="number") == pytest.approx(truth)
        with pytest.raises(ValueError, match=r"no column shows which.*\(--time\)"):
            first_of_session(path)
    longer = sum(of_session.count(session) > 1 for session in set(of_session))
    without_times(path, rows, [3] * n)
    with pytest.raises(ValueError, match=f"first 1 .*, {longer} of 400 sessions have"):
        first_of_session(path)
    # Of the best of three attempts at most the order is no matter.
    rates = {
        first_of_session(without_times(path, r, [3] * n), best_of=3)
        for r in (rows, rows[::-1])
    }
    assert len(rates) == 1


@pytest.mark.parametrize("kind", ["datetime64[s]", "datetime64[ns]", "float", "str"])
def test_arrays_are_ordered_by_time(sessions, kind):
    rows, truth = sessions
    person, group, session, when, accepted = map(np.array, zip(*rows, strict=True))
    when = when.astype("datetime64[s]")
    when = when.astype(np.int64).astype(float) if kind == "float" else when.astype(kind)
    for order in (slice(None), slice(None, None, -1), np.argsort(person)):
        asked = {"session": session[order], "time": when[order], "best_of": 1}
        error = 1 - accepted[order]
        found = audit_decisions(error, person[order], group[order], **asked)
        assert of_group(found, None).frr.value == pytest.approx(truth)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"time": ["2026-01-01", "x", "2026-01-02"]}, "got 'x'. Name a column of"),
        ({"time": ["2026-01-01", "2026-01-01T10:00Z", "2026-01-02"]}, "time zone"),
        ({"time": ["2026-01-01", None, "2026-01-02"]}, "every attempt needs one"),
        ({"time": [1, 2]}, "time has 2"),
        ({"time": ["03.04.2026"] * 3}, "is 3 April or 4 March"),
        ({"time": ["03.04.2026"] * 3, "dates": "iso"}, "dates must be"),
        ({"time": [1, 2, 3], "best_of": None, "session": None}, "leave it out"),
    ],
)
def test_time_that_cannot_be_used_is_named(options, words):
    asked = {"session": [1, 1, 2], "best_of": 1} | options
    with pytest.raises(ValueError, match=words):
        audit_decisions([1, 0, 0], list("aab"), list("ffm"), **asked)


# ---- a log in a file -----------------------------------------------------------------


@pytest.fixture
def mixed(tmp_path):
    """A log of all kinds of attempts: its path and its rows."""
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(900):
        person, kind = (
            int(rng.integers(60)),
            rng.choice(["bona fide", "Impostor", "ATTACK"]),
        )
        species = str(rng.choice(["mask", "print"])) if kind == "ATTACK" else ""
        chance = {"bona fide": 0.9, "Impostor": 0.1}.get(
            kind, 0.3 if species == "mask" else 0.1
        )
        captured = int(rng.random() > 0.06)
        accepted = "yes" if captured and rng.random() < chance else "no"
        rows.append(
            (person, "fm"[person % 2], kind, species, person % 7, accepted, captured)
        )
    path = tmp_path / "log.csv"
    head = "person,gender,kind,tool,visit,ok,captured,row"
    lines = [",".join(map(str, (*row, k))) for k, row in enumerate(rows)]
    path.write_text("\n".join([head, *lines]))
    return path, rows


NAMED = {"accepted": "ok", "attempt": "kind", "species": "tool"}


@pytest.mark.parametrize("failures", ["reject", "report"])
def test_a_log_of_all_kinds_by_a_loop(mixed, failures):
    path, rows = mixed
    data = read_data(path, "gender", **NAMED, failures=failures)
    assert [part.decisions for part in data.parts] == ["bpcer", "far", "apcer"]
    report = audit_of(data)
    counted = defaultdict(list)
    for _, gender, kind, species, _, accepted, captured in rows:
        if failures == "report" and not captured:
            continue
        wrong = (accepted == "no") == (kind == "bona fide")
        counted[kind, species or gender].append(wrong)
    kinds = {"bona fide": 0, "Impostor": 1, "ATTACK": 2}
    assert len(counted) == 6
    for (kind, group), wrong in counted.items():
        row = of_group(report, group, kinds[kind])
        assert row.frr.value == sum(wrong) / len(wrong)
    apcer = {s: np.mean(counted["ATTACK", s]) for s in ("mask", "print")}
    form = json.loads(report.to_json())
    assert form["audits"][2]["largest"] == max(apcer, key=apcer.get) == "mask"
    assert is_valid(form, Report.schema())
    text = re.sub(r"\s+", " ", report.to_text())
    assert (
        f"Largest APCER of 2 species, over everyone: {100 * apcer['mask']:.3g} %"
        in text
    )
    lost = sum(
        kind == "bona fide" and not captured for *_, kind, _, _, _, captured in rows
    )
    assert report.audits[0].failures[0].n_failed_to_acquire == lost
    of_rates = report.audits[0].levels[0].rates[0].frr_failures
    assert of_rates == (lost if failures == "reject" else None)
    assert report.audits[1].levels[0].rates[0].frr_failures is None
    assert ("Then taken for attacks" in text) == (failures == "reject")
    assert "Then not matched" not in text


def audit_of(data, **options):
    from skfairfr.report import audit_data

    return audit_data(data, **options)


def words_of_figures(monkeypatch, report, folder):
    """Texts of the figures that a report writes."""
    texts, save = [], Figure.savefig

    def look(figure, *args, **options):
        texts.extend(text.get_text() for text in figure.findobj(Text))
        save(figure, *args, **options)

    monkeypatch.setattr(Figure, "savefig", look)
    report.save(folder)
    monkeypatch.undo()
    return " ".join(texts)


@pytest.mark.usefixtures("real_figures")
def test_what_a_log_has_not_is_nowhere(mixed, tmp_path, monkeypatch):
    data = read_data(mixed[0], "gender", **NAMED, failures="reject")
    report = audit_of(data, limits={"max_fnmr": 0.5})
    texts = report.to_text(), report.to_html(), report.to_card(), report.to_junit()
    for text in (*texts, report.to_json()):
        assert not re.search(r"\b(FNMR|FMR|fnmr|fmr|EER|DET|BFAR)\b", text)
        assert not re.search(r"\b(genuine|impostor) pairs?\b|mated comparison", text)
    found, _ = texts[0].split("Limits of this report")
    assert "threshold" not in found + report.to_json()
    words = words_of_figures(monkeypatch, report, tmp_path / "out")
    assert "BPCER" in words and "FNMR" not in words
    drawn = {path.name for path in (tmp_path / "out" / "figures").iterdir()}
    assert drawn and not {name for name in drawn if name.startswith("det")}
    tables = [
        list(
            csv.DictReader(
                io.StringIO((tmp_path / "out" / name).read_text("utf-8-sig"))
            )
        )
        for name in ("rates.csv", "disparities.csv")
    ]
    assert {row["rate"] for table in tables for row in table} == {
        "bpcer",
        "far",
        "apcer",
    }
    assert not {"threshold", "fmr", "fnmr", "n_impostor"} & {*tables[0][0]}
    assert report.to_frame().shape[0] == len(tables[0])


@pytest.mark.parametrize(
    ("kind", "limits", "verdicts"),
    [
        ("frr", {"max_fnmr": 0.5}, ["passed"]),
        ("frr", {"max_fmr": 0.5}, ["undetermined"]),
        ("far", {"max_fmr": 0.5}, ["passed"]),
        ("far", {"max_fnmr": 0.5}, ["undetermined"]),
        ("apcer", {"max_fmr": 0.001, "max_fmr_ratio": 50}, ["failed", "passed"]),
    ],
)
def test_limits_are_about_errors_of_their_kind(kind, limits, verdicts):
    person, group, error = log()
    report = audit_decisions(error, person, group, kind=kind, limits=limits)
    assert [check.verdict for check in report.checks] == verdicts
    names = [check["name"] for check in json.loads(report.to_json())["checks"]]
    assert names == list(limits)
    assert all(f'name="{name} ' in report.to_junit() for name in names)


def test_a_policy_for_decisions():
    person, group, error = log()
    policy = Policy("desk", {"max_fnmr": 0.5}, fmr=1e-3, allow_threshold=True)
    assert audit_decisions(error, person, group, policy=policy).exit_code == 0
    with pytest.raises(ValueError, match="made at a threshold of their own"):
        audit_decisions(
            error, person, group, policy=Policy("gate", {"max_fnmr": 0.5}, fmr=1e-3)
        )


def test_one_family_for_all_kinds(mixed):
    report = audit_of(read_data(mixed[0], "gender", **NAMED, failures="reject"))
    findings = [f for audit in report.audits for f in audit.levels[0].findings]
    assert {f.n_comparisons for f in findings} == {3}


# ---- errors --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": "fnmr"}, "^kind must be one of 'frr'"),
        ({"far": 0.1}, "^far is about scores"),
        ({"threshold": 0.5}, "^threshold is about scores"),
        ({"best_of": 2}, "^session is required with best_of"),
        ({"session": np.zeros(1200)}, "^best_of is required with session"),
        ({"session": np.zeros(1200), "best_of": 0}, "^best_of must be"),
        ({"session": np.zeros(5), "best_of": 2}, "^session has 5 rows"),
        ({"failures": "drop"}, "^failures must be one of 'reject'"),
        ({"limits": {"max_bfrr": 2.0}}, "^max_bfrr is about the threshold"),
    ],
)
def test_what_cannot_be_audited(options, said):
    person, group, error = log()
    with pytest.raises(ValueError, match=said):
        audit_decisions(error, person, group, **options)


def test_errors_are_ones_and_zeros():
    person, group, error = log()
    for wrong in (2 * error.astype(int), np.where(error, "no", "yes")):
        with pytest.raises(ValueError, match=r"^error must be 1"):
            audit_decisions(wrong, person, group)
    missing = np.where(np.arange(error.size) == 3, np.nan, error)
    named = (
        r"error is nan in 1 of 1,200 genuine attempts; .*reject counts .* report leaves"
    )
    for failures in (None, "error"):
        with pytest.raises(ValueError, match=rf"^{named} .* error stops"):
            audit_decisions(missing, person, group, failures=failures)


def test_errors_may_be_objects():
    person, group, error = log()
    objects = np.where(np.arange(error.size) == 3, None, error.astype(object))
    missing = np.where(np.arange(error.size) == 3, np.nan, error)
    asked = {"failures": "reject"}
    one, other = (
        audit_decisions(e, person, group, **asked) for e in (objects, missing)
    )
    assert one.to_json() == other.to_json()


def test_the_command(mixed, capsys):
    path = mixed[0]
    named = f"audit {path} --accepted ok --attribute gender --quiet"
    # Attempts that are not genuine are not taken for genuine ones.
    assert main(f"{named} --failures reject --full".split()) == 2
    assert "--attempt is missing" in capsys.readouterr().err
    every = f"{named} --attempt kind --species tool --failures report"
    sessions = f"{every} --session visit --best-of 2 --max-fmr 0.05 --full"
    assert main(sessions.split()) == 1
    text = capsys.readouterr().out
    assert "Impostor transactions" in text and "Transactions that gave no" in text
    assert "is left out of the rates" in re.sub(r"\s+", " ", text)
    for wrong, said in (
        (f"{named} --attempt kind --species tool", "--failures): reject counts them"),
        (f"{named} --failures reject --attempt kind", "--species is missing"),
        (f"{named} --failures reject --species tool", "--attempt"),
        (f"{every} --session visit", "--best-of is required with session"),
        (f"{every} --threshold 0.5", "--threshold is about scores"),
        (f"{every} --control eyes", "contains no 'eyes'"),
        (
            f"audit {path} --attribute gender",
            "A log of decisions has no scores: give --accepted",
        ),
        (f"{every} --score ok", "--score is no option of decisions"),
        (f"compare {path} {path} --attribute gender", "identity-1"),
    ):
        assert main(wrong.split()) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("limits", [{"max_fnmr": 0.3}, {"max_fnmr_ratio": 3.0}])
def test_no_limit_passes_if_people_of_unknown_group_have_more_errors(limits):
    """Demographics that are stored only after a success leave out who was rejected."""
    people = np.arange(600)
    error, group = (people % 10 < 2).astype(float), np.array([*"fm"])[people % 2]
    known = np.where((error == 1) & (people % 3 > 0), None, group)
    ask = {"attribute": "gender", "limits": limits}
    assert audit_decisions(error, people, group, **ask).exit_code == 0
    report = audit_decisions(error, people, known, **ask)
    (check,) = report.checks
    assert check.verdict == "undetermined"
    assert "FRR 100 %" in check.reason.replace("\N{NO-BREAK SPACE}", " ")
    text = " ".join(report.to_text().split())
    n = int((known == None).sum())  # noqa: E711
    assert (
        f"People of unknown gender have a higher FRR than every group: 100 % of {n}"
        in text
    )
    # As many errors as others tell nothing.
    some = np.where(people % 7 == 0, None, group)
    assert audit_decisions(error, people, some, **ask).exit_code == 0


# ---- attempts without people ---------------------------------------------------------


def test_attempts_without_people_are_as_those_of_as_many_people():
    person, group, error = log()
    nobody = audit_decisions(error, None, group, limits={"max_fnmr": 0.2})
    everybody = audit_decisions(error, np.arange(error.size), group)
    rates = (one.audits[0].levels[0].rates for one in (nobody, everybody))
    for one, other in zip(*rates, strict=True):
        for name in ("value", "low", "high"):
            found, expected = getattr(one.frr, name), getattr(other.frr, name)
            assert found == pytest.approx(expected, rel=1e-9)
    # Who are dependent have wider intervals.
    wide = of_group(audit_decisions(error, person, group), None).frr
    assert wide.high - wide.low > 1.2 * (one_of(nobody).high - one_of(nobody).low)
    lines = nobody.to_text().splitlines()
    assert lines[0] == "Audit of decisions by group, attempts taken as independent"
    assert "of people who are not known" in nobody.to_text()
    assert "pairs" not in nobody.to_text().split("Glossary")[0].split("Limits of")[0]
    form = json.loads(nobody.to_json())
    assert is_valid(form, Report.schema())
    assert form["audits"][0]["settings"]["independent_pairs"] is True
    assert form["audits"][0]["groups"][0]["n_identities"] is None
    assert "<h1" in nobody.to_html()


def one_of(report):
    return of_group(report, None).frr


def test_transactions_without_people_are_those_of_sessions():
    _, group, error = log()
    session = np.arange(error.size) // 2
    group = group[session * 2]
    found = audit_decisions(error, None, group, session=session, best_of=2)
    best = error.reshape(-1, 2).all(axis=1)
    assert one_of(found).value == best.mean()
    assert "transactions taken as independent" in found.to_text().splitlines()[0]


def test_a_log_without_people_needs_no_people_and_one_with_them_has_none(
    tmp_path, capsys
):
    person, group, error = log()
    rows = [
        f"{p},{g},{int(not e)}" for p, g, e in zip(person, group, error, strict=True)
    ]
    people, nobody = tmp_path / "people.csv", tmp_path / "nobody.csv"
    people.write_text("\n".join(["person,sex,accepted", *rows]))
    bare = (row.partition(",")[2] for row in rows)
    nobody.write_text("\n".join(["sex,accepted", *bare]))
    asked = "--accepted accepted --attribute sex --quiet"
    assert main(f"audit {nobody} {asked} --no-people".split()) == 0
    assert "attempts taken as independent" in capsys.readouterr().out.splitlines()[0]
    for typed, said in (
        (f"audit {nobody} {asked}", "If nobody is known, give --no-people."),
        (f"audit {people} {asked} --no-people", "has a column 'person'; leave it out"),
        (f"compare {nobody} {people} {asked}", "--identity cannot be found"),
        (f"audit {people} --attribute sex --no-people", "no option of scored pairs"),
    ):
        assert main(typed.split()) == 2
        assert said in capsys.readouterr().err


def test_verdicts_are_withheld_if_a_log_rejects_most_genuine_attempts(tmp_path):
    person, group, error = log()
    for accepted, exit_code in ((~error, 0), (error, 3)):
        rows = zip(person, group, accepted.astype(int), strict=True)
        path = tmp_path / "log.csv"
        lines = [",".join(map(str, row)) for row in rows]
        path.write_text("\n".join(["person,gender,accepted", *lines]))
        report = audit_data(
            read_data(path, "gender", accepted="accepted"), limits={"max_fnmr": 0.99}
        )
        assert report.exit_code == exit_code
        text = " ".join(report.to_text().split())
        assert (exit_code == 3) == ("yes and no may be swapped" in text)
        assert (exit_code == 3) == ("has a higher" not in text and "Passed" not in text)
    assert f"{100 * (1 - error.mean()):.3g} % of the genuine attempts are rejected" in (
        text.replace("\N{NO-BREAK SPACE}", " ")
    )
    assert is_valid(json.loads(report.to_json()), Report.schema())


def test_verdicts_of_all_kinds_are_withheld_if_most_genuine_attempts_are_rejected(
    tmp_path,
):
    person, group, error = log()
    lines = ["person,gender,attempt,accepted"]
    for row in zip(person, group, error.astype(int), strict=True):
        lines += [
            f"{row[0]},{row[1]},{kind},{code}"
            for kind, code in (("genuine", row[2]), ("impostor", 1 - row[2]))
        ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines))
    data = read_data(path, "gender", accepted="accepted", attempt="attempt")
    report = audit_data(data, limits={"max_fmr": 0.1, "max_fnmr": 0.1})
    assert {audit.settings["decisions"] for audit in report.audits} == {"frr", "far"}
    assert {check.verdict for check in report.checks} == {"undetermined"}
    assert report.exit_code == 3
