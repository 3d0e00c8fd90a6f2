"""Wrong labels of groups in a report: what is measured, its texts and its errors."""

import json

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from numpy.testing import assert_allclose

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.cli import main
from skfairfr.metrics import correct_for_label_errors, label_error_bounds
from skfairfr.report import Report, audit, audit_decisions, audit_pairs
from skfairfr.report.sections._label_errors import MOST_SENTENCES

SAMPLE = pd.DataFrame(
    {"true": ["male", "female"], "male": [480, 15], "female": [20, 485]}
)
COUNTS = [[485, 15], [20, 480]]  # in the order of the groups


@pytest.fixture(scope="module")
def faces():
    return make_face_embeddings(n_identities=300, random_state=0)


@pytest.fixture(scope="module")
def report(faces):
    options = {"label_errors": SAMPLE, "label_error_rate": 0.02}
    group = faces.sensitive_features
    return audit(faces.X, faces.y, group, far=[0.02, 0.01], **options)


def test_rows_are_those_of_the_functions(report, faces):
    roc = SimilarityROC(method="jackknife")
    roc.fit(faces.X, faces.y, faces.sensitive_features)
    (found,) = report.audits
    assert len(found.label_errors) == 2 * 2 * 2
    for row in found.label_errors:
        asked = {"threshold": row.threshold, "rate": row.rate, "reference": "male"}
        place = ["female", "male"].index(row.group)
        of = correct_for_label_errors(roc, COUNTS, **asked)
        bounds = label_error_bounds(roc, 0.02, **asked)
        expected = [of.labelled, of.value, of.low, of.high, of.ratio, of.ratio_low]
        expected += [bounds.value_low, bounds.value_high, bounds.undo_share]
        columns = (
            *("labelled", "value", "low", "high", "ratio", "ratio_low"),
            *("bound_low", "bound_high", "undo_share"),
        )
        for name, values in zip(columns, expected, strict=True):
            assert_allclose(getattr(row, name), values[place], err_msg=name)
        cells = [(of.value, of.low, of.high) for of in row.with_groups]
        if row.rate == "far":
            expected = of.matrix, of.matrix_low, of.matrix_high
            assert_allclose(np.transpose(cells), [one[place] for one in expected])
        else:
            assert not cells


def test_json_has_a_schema(report, faces):
    schema = Draft202012Validator(Report.schema())
    record = json.loads(report.to_json())
    schema.validate(record)
    assert len(record["audits"][0]["label_errors"]) == 8
    without = audit(faces.X, faces.y, faces.sensitive_features, far=0.01)
    record = json.loads(without.to_json())
    schema.validate(record)
    assert "label_errors" not in record["audits"][0]


def test_texts_state_what_undoes_a_difference(report):
    text = " ".join(report.to_text(full=False).split())
    row = next(r for r in report.audits[0].label_errors if r.undo_share > 0)
    share = f"{100 * row.undo_share:.2f} % of the labels"
    assert (
        f"the FMR of female stays higher than that of male if fewer than {share}"
        in text
    )
    assert f"Corrected for wrong labels, it is {row.ratio:.2f} times that" in text
    full = " ".join(report.to_text().split())
    assert "Bounds: smallest and largest rates if up to 2 % of the labels" in full
    assert "If labels of groups are wrong" in report.to_html()
    title = "FMR of each pair of groups, corrected for wrong labels"
    assert title in report.to_html()
    assert title not in report.to_text(full=False)


def test_share_of_wrong_labels_is_answered_without_a_difference():
    rng = np.random.default_rng(0)
    person = rng.integers(0, 300, 3000)
    asked = {"label_error_rate": 0.05, "limits": {"max_fnmr_ratio": 3.0}}
    rejected, group = rng.random(3000) < 0.1, np.where(person % 2, "f", "m")
    found = audit_decisions(rejected, person, group, **asked)
    text = " ".join(found.to_text(full=False).split())
    of = {row.group: row for row in found.audits[0].label_errors}
    assert all(row.bound_low < row.labelled < row.bound_high for row in of.values())
    Draft202012Validator(Report.schema()).validate(json.loads(found.to_json()))
    ends = [f"{100 * of['m'].bound_low:.2f} to {100 * of['m'].bound_high:.1f} %"]
    ends.append(f"{100 * of['f'].bound_low:.2f} to {100 * of['f'].bound_high:.1f} %")
    expected = f"the FRR of m may be {ends[0]}, and that of f {ends[1]} ("
    assert f"If up to 5 % of the labels of each group are wrong, {expected}" in text
    assert text.count("Limits are judged with the labels as given.") == 1
    assert "Labels of groups are taken as given" not in found.to_text()


@pytest.mark.parametrize("without", ["f", "m"])
def test_no_share_undoes_a_difference_from_a_group_without_errors(without):
    person = np.repeat(np.arange(301), 4)
    group = np.where(person % 2, "f", "m")
    rejected = (np.random.default_rng(0).random(1204) < 0.2) & (group != without)
    found = audit_decisions(rejected, person, group, label_error_rate=0.01)
    text = " ".join(found.to_text(full=False).split())
    assert "has a higher FRR than" in text
    assert "of the labels of each group are wrong, the FRR of" in text
    assert "stays higher" not in text and "may vanish" not in text
    full = found.to_text().partition("groups are wrong\n")[2].partition("\n\n")[0]
    assert "unknown: no error" in full and "no difference" not in full


def test_section_at_the_terminal_is_short():
    rng = np.random.default_rng(0)
    person = rng.integers(0, 300, 3000)
    groups = {name: person // k % 3 for k, name in ((1, "a"), (3, "b"), (9, "c"))}
    odds = sum(np.take([0.2, 1.0, 3.0], of) for of in groups.values())
    rejected = rng.random(3000) < 0.04 * odds
    found = audit_decisions(rejected, person, groups, label_error_rate=0.02)
    section = found.to_text(full=False).partition("groups are wrong\n")[2]
    lines = section.partition("\n\n")[0].splitlines()[1:]
    assert sum(line.startswith("- ") for line in lines) == MOST_SENTENCES
    assert len(lines) <= 8


def test_command_reads_a_file(tmp_path, faces, capsys):
    np.savez(tmp_path / "faces.npz", X=faces.X, y=faces.y, sex=faces.sensitive_features)
    SAMPLE.to_csv(tmp_path / "labels.csv", index=False)
    command = f"audit {tmp_path}/faces.npz --attribute sex --fmr 0.01"
    main(
        f"{command} --label-errors {tmp_path}/labels.csv --label-error-rate 2%".split()
    )
    assert "Corrected for wrong labels" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"label_errors": SAMPLE.assign(male=[0.9, 0.1], female=[0.1, 0.9])},
            "not shares",
        ),
        ({"label_error_rate": 0}, "label_error_rate must be a number in"),
        ({"label_errors": SAMPLE.rename(columns={"male": "man"})}, "has rows"),
        (
            {
                "label_errors": SAMPLE.replace("male", "man").rename(
                    columns={"male": "man"}
                )
            },
            "no attribute has these",
        ),
        (
            {"label_errors": SAMPLE.assign(male=[20, 35], female=[380, 365])},
            "label_errors leaves no pairs",
        ),
    ],
)
def test_what_cannot_be_corrected_raises(faces, options, problem):
    with pytest.raises(ValueError, match=problem):
        audit(faces.X, faces.y, faces.sensitive_features, far=0.01, **options)


def test_pairs_without_people_raise(faces):
    rng = np.random.default_rng(0)
    score, same = rng.random(100), np.arange(100) % 2
    group = np.where(np.arange(100) % 4 < 2, "f", "m")
    with pytest.raises(ValueError, match="label_error_rate needs people"):
        audit_pairs(
            score,
            None,
            (group, group),
            y_true=same,
            threshold=0.5,
            label_error_rate=0.1,
        )
