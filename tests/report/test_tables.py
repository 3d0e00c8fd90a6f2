"""Tables say what the records say, to a frame and to a spreadsheet."""

import csv
import json
import math
import re
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from skfairfr._core._kinds import COMPARISONS
from skfairfr._text._words import in_terms
from skfairfr.report import (
    EmbeddingData,
    audit,
    audit_decisions,
    compare_systems,
)
from skfairfr.report._outputs import USUAL, disparities_of, rates_of, to_csv
from skfairfr.report.sections._matrix import style_of
from tests.report.audits import small_report, synthetic

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"


@pytest.fixture(scope="module")
def found():
    return small_report(far=[0.1, 0.05])


def rows_of(text):
    assert text.startswith(BOM)
    return list(csv.DictReader(StringIO(text.removeprefix(BOM), newline="")))


def test_rates_are_those_of_the_json(found):
    (audit,) = json.loads(found.to_json())["audits"]
    sizes = {row["group"]: row for row in audit["groups"]}
    expected = [(lev, rates) for lev in audit["levels"] for rates in lev["rates"]]
    rows = rows_of(to_csv(in_terms(rates_of(found.audits), COMPARISONS)))
    assert len(rows) == len(expected) == 6
    for row, (level, rates) in zip(rows, expected, strict=True):
        assert float(row["level"]) == level["fmr"]
        assert row["group"] == (rates["group"] or "")
        size = sizes[rates["group"]]
        for name in ("n_identities", "n_images", "n_genuine", "n_impostor"):
            assert int(row[name]) == size[name]
        for end in ("value", "low", "high"):
            name = f"equal_error_rate_{end}".removesuffix("_value")
            assert float(row[name]) == size["equal_error_rate"][end]
        for rate in ("fmr", "fnmr"):
            assert float(row[rate]) == rates[rate]["value"]
            low = rates[rate]["low"]
            assert row[f"{rate}_low"] == ("" if low is None else repr(low))
            assert int(row[f"{rate}_errors"]) == rates[f"{rate}_errors"]
            assert row[f"{rate}_supported"] == str(rates[rate]["supported"]).lower()


def test_rates_of_decisions_are_those_of_the_json():
    person = np.arange(600) % 60
    error = (np.arange(600) * 7 % 11 < 2).astype(float)
    error[::50] = np.nan
    groups = np.where(person % 2, "a", "b")
    found = audit_decisions(error, person, groups, failures="reject", kind="bpcer")
    (audit,) = json.loads(found.to_json())["audits"]
    (level,) = audit["levels"]
    rows = rows_of(to_csv(rates_of(found.audits)))
    for row, size, of in zip(rows, audit["groups"], level["rates"], strict=True):
        figure = of["bpcer"] | {"errors": of["bpcer_errors"]}
        figure |= {f"effective_{n}": v for n, v in of["bpcer_effective"].items()}
        figure |= {"failures": of["bpcer_failures"], "n_attempts": size["n_attempts"]}
        figure |= {"n_identities": size["n_identities"], "group": of["group"] or ""}
        figure |= {"attribute": audit["attribute"], "rate": "bpcer"}
        del figure["corrected"], figure["p_value"]
        assert row == {n: str(v).replace("True", "true") for n, v in figure.items()}


def test_disparities_are_those_of_the_json(found):
    levels = json.loads(found.to_json())["audits"][0]["levels"]
    rows = rows_of(to_csv(in_terms(disparities_of(found.audits), COMPARISONS)))
    read = {
        (float(r["level"]), r["how"], r["operating_point"], r["rate"]): r["value"]
        for r in rows
    }
    expected = {
        (lev["fmr"], d["how"], d["operating_point"], rate): repr(d[rate]["value"])
        for lev in levels
        for d in lev["disparities"]
        for rate in ("fmr", "fnmr")
    } | {
        (lev["fmr"], i["name"], "overall", "both"): repr(i["value"])
        for lev in levels
        for i in lev["indices"]
    }
    assert read == {k: v.replace("'Infinity'", "inf") for k, v in expected.items()}


@pytest.mark.parametrize("backend", ["pandas", "polars"])
@pytest.mark.parametrize("table", ["rates", "disparities"])
def test_a_frame_has_the_columns_of_the_csv(found, backend, table):
    frame = found.to_frame(table, backend, full=True)
    rows = {"rates": rates_of, "disparities": disparities_of}[table](found.audits)
    assert list(frame.columns) == list(rows[0])
    assert len(frame) == len(rows)


@pytest.mark.parametrize("table", ["rates", "disparities"])
def test_a_frame_has_the_ten_columns_that_most_uses_need(found, table):
    frame, whole = found.to_frame(table), found.to_frame(table, full=True)
    assert frame.shape[1] == 10 and whole.shape[1] > 10
    assert frame.equals(whole[list(frame)])


def test_a_frame_of_decisions_has_the_rate_and_its_counts():
    rng = np.random.default_rng(0)
    person = rng.integers(0, 60, 900)
    found = audit_decisions(rng.random(900) < 0.2, person, person % 2)
    assert {"rate", "group", "n_attempts", "value"} <= set(found.to_frame())


def test_a_frame_of_a_comparison_has_a_row_for_each_change():
    X, y, groups = synthetic()
    both = [EmbeddingData(Z, y, {"gender": groups}) for Z in (X, X + 0.01 * X[::-1])]
    found = compare_systems(*both, far=0.05)
    frame = found.to_frame(full=True)
    assert list(frame["verdict"]) == [change.verdict for change in found.changes]
    assert list(found.to_frame()) == [n for n in frame if n in USUAL["changes"]]


def test_tables_for_spreadsheets_have_the_separator_and_decimal_mark_of_the_dialect():
    rows = [
        {"level": 0.5, "group": "a;b", "n": 1234},
        {"level": -1.5e-7, "group": "", "n": 0},
    ]
    read = pd.read_csv(StringIO(to_csv(rows, "semicolon")), sep=";", decimal=",")
    assert read["level"].tolist() == [0.5, -1.5e-7]
    assert (read["group"][0], read["n"][0]) == ("a;b", 1234)


def test_an_unknown_dialect_is_an_error_that_names_those_known(found, tmp_path):
    with pytest.raises(ValueError, match="csv_dialect must be one of 'comma'"):
        found.save(tmp_path, csv_dialect="tab")


def test_an_unknown_table_is_an_error(found):
    with pytest.raises(ValueError, match="table must be one of"):
        found.to_frame("errors")


def test_labels_of_several_types_become_text():
    X, y, groups = synthetic()
    age = np.where(y % 2, 1, 2)
    report = audit(X, y, {"gender": groups, "age": age}, far=0.05)
    labels = report.to_frame(backend="polars")["group"].to_list()
    assert {"female", "1", "female & 1", None} <= set(labels)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("-x", "'-x"),
        ("plain", "plain"),
        (-1.5, "-1.5"),
        (math.nan, ""),
        (None, ""),
        (math.inf, "inf"),
        (True, "true"),
        ('a "b", c\nd', 'a "b", c\nd'),
        ("bad\udcff.npz", "bad?.npz"),
    ],
)
def test_cells(value, text):
    (row,) = rows_of(to_csv([{"column": value, "other": 1}]))
    assert row["column"] == text


def contrast(rate):
    """Contrast of the text of a cell of a matrix with its ground, as WCAG 2 defines it."""
    style = style_of(rate, 0.01)
    ground, ink = re.match(r"background:rgb\((.*?)\);color:#(\w)", style).groups()
    parts = [int(part) / 255 for part in ground.split(",")]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    light, dark = max(luminance, ink == "f"), min(luminance, ink == "f")
    return (light + 0.05) / (dark + 0.05)


def test_a_rate_of_zero_is_white_in_a_matrix():
    assert style_of(0.0, 0.01).startswith("background:rgb(255,255,255)")


def test_every_shade_of_a_matrix_has_a_contrast_of_at_least_4_5():
    assert min(map(contrast, 0.01 * 40.0 ** np.linspace(-1, 1, 81))) >= 4.5
