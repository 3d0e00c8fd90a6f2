"""Scores of attack detection in an audit: thresholds and rates by loops."""

import json

import numpy as np
import pytest

from skfairfr.cli import main
from skfairfr.datasets import load_decisions
from skfairfr.metrics import attack_detection
from skfairfr.report import Report, audit_data, read_data
from tests.refusals import refusal
from tests.report.json_schema import is_valid

SHIFT = {"": 0.0, "mask": 2.0, "print": 3.0}


def table(n=1600, n_people=80):
    """Rows (person, sex, tool, score) of presentations; no tool is bona fide."""
    rng, rows = np.random.default_rng(4), []
    for row in range(n):
        person = int(rng.integers(n_people))
        tool = ("", "mask", "", "print")[row % 4]
        score = round(float(rng.normal(0, 1) - SHIFT[tool]), 4)
        rows.append((f"p{person}", "fm"[person % 2], tool, score))
    return rows


def written(path, rows, head="person,sex,tool,score"):
    lines = [head, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture(scope="module")
def rows():
    return table()


@pytest.fixture
def path(rows, tmp_path):
    return written(tmp_path / "pad.csv", rows)


def rates_by_loops(rows, bpcer):
    """Threshold, and the rate of errors of each sex, of bona fide, and of each tool."""
    fide = np.array([score for *_, tool, score in rows if not tool])
    threshold = max(
        t
        for t in (score for *_, score in rows)
        if np.sum(fide < t) <= bpcer * len(fide)
    )
    errors = {}
    for _, sex, tool, score in rows:
        wrong = score >= threshold if tool else score < threshold
        errors.setdefault(tool or sex, []).append(wrong)
    return {name: np.mean(wrong) for name, wrong in errors.items()}


@pytest.mark.parametrize("bpcer", [0.05, 0.1])
@pytest.mark.parametrize("distance", [False, True])
def test_rates_at_a_bpcer_by_loops(rows, tmp_path, bpcer, distance):
    turned = [(*row[:-1], -row[-1] if distance else row[-1]) for row in rows]
    path = written(tmp_path / "pad.csv", turned)
    data = read_data(path, "sex", species="tool", bpcer=bpcer, distance=distance)
    found = {
        row.group: row.frr.value
        for audit in audit_data(data).audits
        for row in audit.levels[0].rates[1:]
    }
    assert found == pytest.approx(rates_by_loops(rows, bpcer), rel=1e-12)


def test_other_thresholds_are_those_of_attack_detection(rows, path):
    report = audit_data(read_data(path, "sex", species="tool", bpcer=[0.1, 0.02]))
    person, _, tool, score = zip(*rows, strict=True)
    attack = [bool(one) for one in tool]
    expected = attack_detection(score, attack, person, tool, bpcer=[0.1, 0.02])
    (section,) = report.sections
    for name in ("rate", "species", "value", "low", "high"):
        assert [row[name] for row in section.record["rates"]] == [
            *getattr(expected, name)
        ]
    assert section.record["threshold"] == expected.threshold[0]
    text = report.to_text()
    assert "at which the BPCER is at most 10.0 %" in " ".join(text.split())
    assert "BPCER 0.02" in text and "BPCER 0.1 " not in text
    record = json.loads(report.to_json())
    assert is_valid(record, Report.schema())


def test_bpcer_of_groups_is_on_the_first_screen(path, capsys):
    assert main(["audit", path, "--species", "tool", "-a", "sex"]) == 0
    out, err = capsys.readouterr()
    assert (
        "Highest BPCER by sex: " in out
        and "Largest APCER of 2 species, over everyone: " in out
    )
    assert "read as scores of attack detection, bona fide from -1." in err


def test_words_for_bona_fide_in_the_column_of_species(rows, tmp_path, path):
    named = [(p, s, tool or "Bona-fide", score) for p, s, tool, score in rows]
    other = written(tmp_path / "other.csv", named)
    both = [audit_data(read_data(one, "sex", species="tool")) for one in (path, other)]
    levels = [[audit.levels[0].rates for audit in one.audits] for one in both]
    assert repr(levels[0]) == repr(levels[1])


def test_species_without_kinds_mark_attacks_of_a_log_of_decisions(tmp_path):
    rows = [("a", "f", "", "yes"), ("a", "f", "mask", "no"), ("b", "m", "live", "no")]
    path = written(tmp_path / "log.csv", rows, "person,sex,tool,accepted")
    log = load_decisions(path, species="tool")
    assert log.attempt.tolist() == ["genuine", "attack", "genuine"]
    assert log.species.tolist() == [None, "mask", None]


def test_missing_scores_are_failures(rows, tmp_path):
    lost = [(*row[:-1], "" if k < 40 else row[-1]) for k, row in enumerate(rows)]
    path = written(tmp_path / "pad.csv", lost)
    with refusal("score", "is missing or infinite", "reject counts them"):
        read_data(path, "sex", species="tool")
    data = read_data(path, "sex", species="tool", failures="reject")
    report, errors = audit_data(data), {}
    threshold = report.sections[0].record["threshold"]
    for _, sex, tool, score in lost:
        accepted = score != "" and score >= threshold
        errors.setdefault(tool or sex, []).append(accepted == bool(tool))
    for audit in report.audits:
        for row in audit.levels[0].rates[1:]:
            assert row.frr.value == np.mean(errors[row.group])


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            "--species tool --threshold 0.5",
            "--threshold is about scores of comparisons",
        ),
        ("--species tool --bpcer 5", "--bpcer: must be a number in (0, 1)"),
        ("-a sex", "Scores of attack detection need --species."),
        ("--species sex", "--species needs scores of attacks and of bona fide"),
        ("--score score --y-true tool --bpcer 0.1", "--bpcer is no option of"),
    ],
)
def test_misuse_is_an_error_in_flags(path, flags, words, capsys):
    try:
        code = main(["audit", path, *flags.split()])
    except SystemExit as error:
        code = error.code
    assert code == 2
    assert words in capsys.readouterr().err


def test_two_detectors_are_compared(rows, path, tmp_path, capsys):
    rng = np.random.default_rng(1)
    better = [
        (*row[:3], row[3] - 1.0 * bool(row[2]) + rng.normal(0, 0.1)) for row in rows
    ]
    after = written(tmp_path / "after.csv", better)
    code = main(["compare", path, after, "--species", "tool", "--kind", "apcer"])
    assert code == 0 and "APCER" in capsys.readouterr().out
