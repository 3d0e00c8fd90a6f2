"""A policy is read from its file or refused, and decides what an audit is asked for."""

import math
import re
import sys
import tomllib
from datetime import date
from importlib.resources import files
from pathlib import Path
from time import process_time
from unicodedata import category

import numpy as np
import pytest

from skfairfr.report import EmbeddingData, PairData, Policy, audit, audit_data
from skfairfr.report._limits import LIMITS
from skfairfr.report._policy import settle
from skfairfr.utils import ArgumentError
from tests.report.audits import synthetic
from tests.report.json_schema import is_valid

ROOT = Path(__file__).resolve().parents[2]
FULL = """
name = "border"
description = "A gate at a border"
fmr = [1e-2, 1e-3]
confidence_level = 0.9
attributes = ["gender", "region"]

[limits]
max_fmr = 0.02
max_fmr_ratio = 3

[[at]]
fmr = 1e-3
limits = { max_fmr = 0.002, max_fnmr = 0.1 }
"""
VALID = [
    FULL,
    'name = "a"\nlimits = {max_fnmr = 0.1}',
    'name = "a"\nfmr = 1e-4\nallow_threshold = true\n[limits]\nmax_fmr = 1e-4',
    'name = "a"\nthreshold = [0, 0.4]\nlimits = {max_fnmr_ratio = 1.5}',
    'name = "a"\nattributes = "gender"\nlimits = {max_bfar = 1.5, max_bfrr = 2}',
    'name = "a"\n[[at]]\nthreshold = 0.4\nlimits = {max_fmr = 0.1}',
]
# Text, and what the error says of it.
INVALID = [
    ("limits = {max_fmr = 0.1}", "has no name"),
    ('name = " "\nlimits = {max_fmr = 0.1}', "name must be a text of one line"),
    ('name = "a\\nb"\nlimits = {max_fmr = 0.1}', "name must be printable"),
    ("name = 1\nlimits = {max_fmr = 0.1}", "name must be a text of one line; got 1"),
    ('name = "a"', "sets no limit"),
    ('name = "a"\nlimits = {}', "sets no limit"),
    ('name = "a"\nlimits = 0.1', "limits must be a table (in Python, a dict); got 0.1. Write"),
    ('name = "a"\n[[limits]]\nmax_fmr = 0.1', "limits must be a table"),
    ('name = "a"\n[[at]]\nfmr = 0.1\nlimits = 3', "limits must be a table"),
    (
        'name = "a"\nfmrs = 1\nlimit = 2\nlimits = {max_fmr = 0.1}',
        "has unknown keys 'fmrs', 'limit'. Did you mean 'fmr'? Known are name, limits, fmr",
    ),
    (
        'name = "a"\nlimits = {max_fmrr = 0.1, max_eer = 1}',
        "has unknown keys 'max_fmrr', 'max_eer' under limits. Did you mean 'max_fmr'? "
        "Known are max_fmr, max_fnmr,",
    ),
    ('name = "a"\nlimits = {max_fmr = 1}', "max_fmr must be a number in (0, 1), as a rate is; got 1."),
    ('name = "a"\nlimits = {max_fmr = -0.1}', "got -0.1. Give the largest rate allowed, or"),
    ('name = "a"\nlimits = {max_fmr = nan}', "got nan. Give the largest rate allowed, or"),
    ('name = "a"\nlimits = {max_fmr = "1e-4"}', "max_fmr must be a number in (0, 1)"),
    ('name = "a"\nlimits = {max_fmr = true}', "max_fmr must be a number in (0, 1)"),
    ('name = "a"\nlimits = {max_fmr = 1970-01-01}', "max_fmr must be a number in (0, 1)"),
    ('name = "a"\nlimits = {max_bfar = 1}', "max_bfar must be a number above 1"),
    ('name = "a"\nlimits = {max_bfar = "2"}', "got '2'. Give the largest ratio allowed"),
    ('name = "a"\nmax_fmr = 0.1', "unknown key 'max_fmr'. Write max_fmr under limits."),
    (
        'name = "a"\n[limits]\nmax_fmr = 0.1\nfmr = 0.1',
        "unknown key 'fmr' under limits. Write fmr above the first line in brackets, as",
    ),
    (
        'name = "a"\nfmr = []\nlimits = {max_fmr = 0.1}',
        "fmr must not be empty; got []. Write fmr = 1e-4, or leave fmr out.",
    ),
    (
        'name = "a"\nthreshold = []\nlimits = {max_fmr = 0.1}',
        "threshold must not be empty; got []. Write threshold = 0.4, or leave",
    ),
    (
        'name = "a"\nattributes = []\nlimits = {max_fmr = 0.1}',
        'attributes must not be empty; got []. Write attributes = ["gender"], or leave',
    ),
    ('name = "a"\nfmr = nan\nlimits = {max_fmr = 0.1}', "got nan. Write fmr = 1e-4, or"),
    ('name = "a"\nfmr = -0.1\nlimits = {max_fmr = 0.1}', "got -0.1. Write fmr = 1e-4, or"),
    ('name = "a"\nfmr = 0\nlimits = {max_fmr = 0.1}', "fmr must hold numbers in (0, 1)"),
    ('name = "a"\nfmr = [0.1, 2]\nlimits = {max_fmr = 0.1}', "got 2"),
    ('name = "a"\nfmr = [0.1, 0.1]\nlimits = {max_fmr = 0.1}', "fmr must hold a value once"),
    ('name = "a"\nfmr = "0.1"\nlimits = {max_fmr = 0.1}', "got '0.1'"),
    ('name = "a"\nthreshold = "x"\nlimits = {max_fmr = 0.1}', "threshold must hold finite"),
    ('name = "a"\nthreshold = [true]\nlimits = {max_fmr = 0.1}', "threshold must hold finite"),
    ('name = "a"\nfmr = 0.1\nthreshold = 1\nlimits = {max_fmr = 0.1}', "Leave one out"),
    ('name = "a"\nconfidence_level = 1\nlimits = {max_fmr = 0.1}', "confidence_level must"),
    ('name = "a"\nconfidence_level = "0.9"\nlimits = {max_fmr = 0.1}', "got '0.9'"),
    ('name = "a"\nallow_threshold = 1\nlimits = {max_fmr = 0.1}', "must be true or false"),
    ('name = "a"\nattributes = [""]\nlimits = {max_fmr = 0.1}', "names of columns"),
    ('name = "a"\nattributes = [1]\nlimits = {max_fmr = 0.1}', "names of columns"),
    ('name = "a"\nattributes = ["g", "g"]\nlimits = {max_fmr = 0.1}', "a value once"),
    ('name = "a"\ndescription = 1\nlimits = {max_fmr = 0.1}', "description must be a text"),
    ('name = "a"\nat = {fmr = 0.1}', "at must be a list of tables"),
    ('name = "a"\nat = []', "at must be a list of tables"),
    ('name = "a"\nat = [1]', "at must be a list of tables"),
    ('name = "a"\nat = [{fmr = 0.1, limits = {max_fmr = 0.1}}, 1]', "at must be a list of tables"),
    ('name = "a"\n[[at]]\nfmr = 0.1', "every table under at must have limits"),
    ('name = "a"\n[[at]]\nfmr = 0.1\nlimits = {}', "every table under at must have limits"),
    ('name = "a"\n[[at]]\nlimits = {max_fmr = 0.1}', "either fmr or threshold"),
    (
        'name = "a"\n[[at]]\nfmr = 0.1\nthreshold = 1\nlimits = {max_fmr = 0.1}',
        "either fmr or threshold",
    ),
    ('name = "a"\n[[at]]\nfmr = [0.1]\nlimits = {max_fmr = 0.1}', "must be one finite number"),
    ('name = "a"\n[[at]]\nfmr = 2\nlimits = {max_fmr = 0.1}', "fmr must hold numbers"),
    (
        'name = "a"\n[[at]]\nfmr = 0.1\nfrr = 1\nlimits = {max_fmr = 0.1}',
        "has unknown key 'frr' under at",
    ),
    ('name = "a"\n[[at]]\nfmr = 0.1\nlimits = {max_fmr = 2}', "max_fmr must be a number in"),
]  # fmt: skip
# What is about two keys, or two tables, at once.
BEYOND_THE_SCHEMA = [
    (
        'name = "a"\nthreshold = 1\nlimits = {max_bfar = 2}',
        "use max_fmr_ratio, or leave the threshold to an FMR level",
    ),
    (
        'name = "a"\nfmr = 0.1\nallow_threshold = true\nlimits = {max_bfrr = 2}',
        "use max_fnmr_ratio",
    ),
    (
        'name = "a"\nallow_threshold = true\n[[at]]\nfmr = 0.1\nlimits = {max_fmr = 0.1}',
        "has allow_threshold and at",
    ),
    (
        'name = "a"\nallow_threshold = true\nthreshold = 1\nlimits = {max_fmr = 0.1}',
        "has allow_threshold and threshold",
    ),
    (
        'name = "a"\nfmr = 0.1\n[[at]]\nthreshold = 1\nlimits = {max_fmr = 0.1}',
        "has fmr and threshold",
    ),
    (
        'name = "a"\n[[at]]\nfmr = 0.1\nlimits = {max_fmr = 0.1}\n'
        "[[at]]\nfmr = 0.1\nlimits = {max_fmr = 0.2}",
        "at must name a level once",
    ),
    ('name = "a"\nthreshold = inf\nlimits = {max_fmr = 0.1}', "finite numbers"),
    ('name = "a"\nthreshold = nan\nlimits = {max_fmr = 0.1}', "finite numbers"),
    (
        f'name = "a"\nthreshold = 1{"0" * 400}\nlimits = {{max_fmr = 0.1}}',
        "finite numbers",
    ),
    ('name = "a"\nlimits = {max_bfar = inf}', "max_bfar must be a number above 1"),
    (
        f'name = "a"\nlimits = {{max_bfar = 1{"0" * 400}}}',
        "max_bfar must be a number above 1",
    ),
]


def read(tmp_path, text):
    path = tmp_path / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return Policy.read(path)


@pytest.mark.parametrize("text", VALID)
def test_what_the_schema_allows_is_read(tmp_path, text):
    assert is_valid(tomllib.loads(text), Policy.schema())
    read(tmp_path, text)


@pytest.mark.parametrize(("text", "words"), INVALID)
def test_what_the_schema_forbids_is_refused(tmp_path, text, words):
    assert not is_valid(tomllib.loads(text), Policy.schema())
    refused(tmp_path, text, words)


@pytest.mark.parametrize(("text", "words"), BEYOND_THE_SCHEMA)
def test_what_no_schema_says_is_refused(tmp_path, text, words):
    refused(tmp_path, text, words)


def refused(tmp_path, text, words):
    with pytest.raises(ValueError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert words in message
    assert message.startswith(f"policy='{tmp_path / 'gate.toml'}'")
    assert "\n" not in message


def test_a_mark_of_the_encoding_and_ends_of_lines_of_windows(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "a"\r\nlimits = { max_fmr = 0.1 }\r\n')
    assert Policy.read(path) == Policy("a", {"max_fmr": 0.1})


@pytest.mark.parametrize("values", [[], None, "door", [("name", "door")]])
def test_a_policy_is_made_from_a_dict(values):
    with pytest.raises(ValueError, match="must be tables of keys and values"):
        Policy.from_dict(values)


def test_an_error_names_the_policy():
    for values, name in (({"name": "door", "fmr": 0}, "door"), ({"fmr": 0}, "policy")):
        with pytest.raises(ValueError, match=f"^policy='{name}'"):
            Policy.from_dict(values)


def test_everything_in_a_file(tmp_path):
    found = read(tmp_path, FULL)
    assert found == Policy(
        "border",
        {"max_fmr": 0.02, "max_fmr_ratio": 3},
        fmr=(1e-2, 1e-3),
        at={1e-3: {"max_fmr": 0.002, "max_fnmr": 0.1}},
        confidence_level=0.9,
        attributes=("gender", "region"),
        description="A gate at a border",
    )


def test_levels_of_at_need_not_be_repeated(tmp_path):
    text = 'name = "a"\nfmr = 0.1\n[[at]]\nfmr = 0.01\nlimits = {max_fmr = 0.1}'
    assert read(tmp_path, text).fmr == (0.1, 0.01)
    # In Python a level has to be among the others: it may be a threshold.
    with pytest.raises(ValueError, match=r"its levels \(none\); got 0.1. Add it"):
        Policy("a", at={0.1: {"max_fmr": 0.1}})


def test_keys_of_the_schema_are_those_of_a_policy():
    schema = Policy.schema()
    assert set(schema["properties"]) == set(Policy.__dataclass_fields__)
    assert set(schema["$defs"]["limits"]["properties"]) == set(LIMITS)


# Of every kind, what a key may hold or not.
VALUES = (
    *(
        "x",
        "",
        " ",
        "a\nb",
        "a\tb",
        "a\x07",
        True,
        False,
        0,
        1,
        -1,
        2,
        0.5,
        1.5,
        float("nan"),
        *(sys.float_info.max, -sys.float_info.max),
    ),
    *([], [0.5], [0.5, 0.1], [0.5, 0.5], [1], [True], ["x"], ["x", "x"], [""], [[0.5]]),
    *({}, {"max_fmr": 0.5}, {"max_fmr": 2}, {"max_bfar": 2}, {"x": 0.5}, [{}]),
    *([{"fmr": 0.5, "limits": {"max_fmr": 0.5}}], [{"fmr": 0.5}], date(2024, 1, 1)),
)


@pytest.mark.parametrize(
    "place",
    [
        *("name", "description", "fmr", "threshold", "allow_threshold", "attributes"),
        *("confidence_level", "limits", "at", "unknown"),
        *(f"limits.{name}" for name in (*LIMITS, "unknown")),
        *("at.fmr", "at.threshold", "at.limits", "at.limits.max_fnmr", "at.unknown"),
    ],
)
def test_schema_and_policy_agree_on_every_value(place):
    schema = Policy.schema()
    for value in VALUES:
        values = {"name": "a", "limits": {"max_fmr": 0.1}}
        *outer, key = place.split(".")
        table = values
        if outer and outer[0] == "at":
            table = {"limits": {"max_fmr": 0.1}}
            if key != "threshold":
                table["fmr"] = 0.1
            values["at"] = [table]
            outer = outer[1:]
        for name in outer:
            table = table[name]
        table[key] = value
        if is_number(value) and math.isnan(value) and key == "threshold":
            continue  # No schema tells it from other numbers.
        try:
            Policy.from_dict(values)
        except ValueError as error:
            assert not is_valid(values, schema), (value, str(error))
        else:
            assert is_valid(values, schema), value


def test_schema_and_policy_agree_on_invisible_characters_of_a_name():
    pattern = Policy.schema()["properties"]["name"]
    controls = map(chr, range(0x3001))
    for char in (c for c in controls if category(c) in ("Cc", "Zs", "Zl", "Zp")):
        name = f"a{char}b"
        assert is_valid(name, pattern) == (char == " "), char
        if char != " ":
            with pytest.raises(ValueError, match="name must be printable, on one line"):
                Policy(name, {"max_fmr": 0.1})
    for name in ("\u200b", "a\u202eb", "\ufeffa"):
        assert not is_valid(name, pattern)
        assert not name.isprintable()
    assert is_valid("Tür 7 – Ost", pattern)
    assert Policy("Tür 7 – Ost", {"max_fmr": 0.1}).name == "Tür 7 – Ost"


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


# Text, the place of its error, and what to do.
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("fmr = 0.1\nname = door", "line 2, column 8"),
        ("name: door", "line 1, column 5"),
        ("fmr = 1\nfmr = 2\n\n", "line 2, column 8"),
        ("[at]\n\n[at]\n", "line 3, column 4"),
        ('x = "\x01"', "line 1, column 6"),
        ("fmr = [0.1", "end of document"),
    ],
)
def test_a_file_that_is_no_toml(tmp_path, text, place):
    with pytest.raises(ValueError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"policy='{tmp_path / 'gate.toml'}' is no TOML: ")
    assert place in message and "Write key = value" in message
    assert message.isprintable()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a" + ".a" * 100_000 + " = 1", "has more than 16,384 bytes"),
        ("# " + "x" * 10_000_000, "has more than 16,384 bytes"),
        ("".join(f"k{i} = 1\n" for i in range(100_000)), "more than 16,384 bytes"),
        ("a" + ".a" * 8_000 + " = 1", "has unknown key 'a'"),
        ("a = " + "[" * 8_000 + "]" * 8_000, "inside each other without end. Close"),
    ],
    ids=["parts", "comment", "keys", "fewer parts", "lists"],
)
def test_no_file_takes_long(tmp_path, text, words):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    start = process_time()
    with pytest.raises(ArgumentError, match=re.escape(words)):
        Policy.read(path)
    assert process_time() - start < 5


def test_a_file_that_is_no_policy(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(b'name = "a"\nx = "\xff"')
    with pytest.raises(ValueError, match=r"is no text in UTF-8, in line 2\. Save"):
        Policy.read(path)
    with pytest.raises(ValueError, match=r"neither a file nor .* or sp800-63a-4\."):
        Policy.read(tmp_path / "absent.toml")


# ---- shipped -------------------------------------------------------------------------


def test_every_shipped_policy_is_in_the_package_and_valid():
    folder = files("skfairfr.report") / "policies"
    names = sorted(p.name for p in folder.iterdir() if p.name.endswith(".toml"))
    assert names == ["sp800_63a_4.toml"]
    for file, name in zip(names, Policy.shipped(), strict=True):
        assert is_valid(
            tomllib.loads((folder / file).read_text("utf-8")), Policy.schema()
        )
        assert Policy.read(name).name == name
        assert Policy.read(name).description


def test_every_file_of_the_folder_is_installed():
    """As setuptools is told; it leaves out what no pattern names."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        setuptools = tomllib.load(file)["tool"]["setuptools"]
    patterns = setuptools["package-data"]["skfairfr.report"]
    report = ROOT / "skfairfr" / "report"
    installed = {path for pattern in patterns for path in report.glob(pattern)}
    folders = [report / name for name in ("policies", "schemas", "texts")]
    assert {path for folder in folders for path in folder.iterdir()} == installed


def test_the_limits_of_sp800_63a_4():
    policy = Policy.read("sp800-63a-4")
    assert policy.limits == {"max_fmr": 1 / 10_000, "max_fnmr": 1 / 100}
    assert (policy.fmr, policy.allow_threshold) == ((1e-4,), True)


# ---- audits by a policy --------------------------------------------------------------


def data(columns=("gender",)):
    X, y, groups = synthetic()
    made = {"gender": groups, "region": np.where(y % 2, "n", "s")}
    return EmbeddingData(X, y, {name: made[name] for name in columns})


def by(policy, made=None, **options):
    return audit_data(
        data() if made is None else made, policy=policy, n_resamples=10, **options
    )


@pytest.mark.parametrize(
    ("given", "by_default"),
    [({}, True), ({"far": 0.1}, False), ({"threshold": 0.4}, False)]
    + [({"threshold_from": "other.npz"}, False)],
)
def test_levels_are_chosen_where_nobody_said_where_the_system_operates(
    given, by_default
):
    options = {"far": None, "threshold": None, "threshold_from": None} | given
    asked = settle(None, None, limits=None, confidence_level=None, **options)
    assert asked.by_default == by_default


def test_a_policy_says_what_options_say():
    limits = {"max_fnmr": 0.3, "max_fmr_ratio": 2.0}
    policy = Policy("gate", limits, fmr=[0.1, 0.05], confidence_level=0.9)
    found = by(policy)
    same = audit_data(
        data(), far=[0.1, 0.05], limits=limits, confidence_level=0.9, n_resamples=10
    )
    assert found.checks == same.checks
    assert found.audits[0].settings == same.audits[0].settings | {"policy": "gate"}


def test_a_report_says_the_name_of_its_policy_once():
    found = by(Policy("gate-7", {"max_fnmr": 0.3}, fmr=[0.1]))
    assert (found.policy, found.to_text().count("The policy gate-7")) == ("gate-7", 1)
    assert found.to_json().count("gate-7") == 1
    assert audit_data(data(), far=0.1, n_resamples=10).policy is None


def test_limits_of_single_levels():
    at = {0.05: {"max_fnmr": 0.5, "max_fmr_ratio": 9.0}}
    found = by(Policy("gate", {"max_fnmr": 0.3}, fmr=[0.1, 0.05], at=at))
    assert [(c.name, c.far, c.limit) for c in found.checks] == [
        ("max_fnmr", 0.1, 0.3),
        ("max_fnmr", 0.05, 0.5),
        ("max_fmr_ratio", 0.05, 9.0),
    ]


def test_limits_of_single_thresholds_are_on_the_scale_of_distances(tmp_path):
    from skfairfr.report import read_data

    rows = [f"{i % 7 / 7},{i},{i + 1},{i % 2},{i % 2}" for i in range(60)]
    head = "distance,identity_1,identity_2,g_1,g_2"
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join([head, *rows]))
    policy = Policy("gate", threshold=[0.2, 0.4], at={0.4: {"max_fmr": 0.9}})
    found = by(policy, read_data(path, "g", distance=True))
    assert [(c.threshold, c.limit) for c in found.checks] == [(-0.4, 0.9)]


def test_worst_group_limits_of_one_level_are_judged():
    policy = Policy("gate", fmr=[0.1], at={0.1: {"max_bfar": 9.0}})
    (check,) = by(policy).checks
    assert check.name == "max_bfar"
    assert check.groups


def test_a_policy_picks_its_attributes():
    both = data(("gender", "region"))
    found = by(Policy("gate", {"max_fnmr": 0.3}, fmr=0.1, attributes="region"), both)
    assert [audit.attribute for audit in found.audits] == ["region"]
    with pytest.raises(ValueError, match="is about 'age', and the data have 'gender'"):
        by(Policy("gate", {"max_fnmr": 0.3}, fmr=0.1, attributes=["gender", "age"]))


def test_audit_takes_a_policy_by_name():
    found = audit(*synthetic(), policy="sp800-63a-4", n_resamples=10)
    assert found.policy == "sp800-63a-4"
    assert [c.name for c in found.checks] == ["max_fmr", "max_fnmr"]
    assert {c.far for c in found.checks} == {1e-4}


def test_a_threshold_may_be_given_where_the_policy_allows_it():
    found = by("sp800-63a-4", threshold=0.6)
    assert [(c.far, c.threshold) for c in found.checks] == [(None, 0.6)] * 2
    with pytest.raises(ValueError, match=r"sets fmr, and threshold=0\.6 was given too"):
        by(Policy("gate", {"max_fmr": 0.1}, fmr=0.1), threshold=0.6)


@pytest.mark.parametrize(
    ("policy", "options", "words"),
    [
        ({"fmr": 0.1}, {"far": 0.2}, "policy='gate' sets fmr, and far=0.2 was"),
        ({"fmr": 0.1}, {"limits": {"max_fmr": 0.2}}, "limits, and max_fmr=0.2 was"),
        (
            {"fmr": 0.1},
            {"limits": {"max_bfar": 2.0, "max_fmr": 0.2}},
            "sets limits, and max_bfar=2.0, max_fmr=0.2 was given too; leave one out",
        ),
        (
            {"fmr": 0.1},
            {"confidence_level": 0.5},
            "sets confidence_level, and confidence_level=0.5 was",
        ),
        ({"threshold": 0.4}, {"far": 0.2}, "sets threshold, and far=0.2"),
        ({"threshold": 0.4}, {"threshold": 0.2}, "sets threshold, and threshold=0.2"),
        (
            {"threshold": 0.4},
            {"threshold_from": "other.npz"},
            "sets threshold, and threshold_from was given too",
        ),
        ({}, {}, "leaves open where the system operates; give threshold or far."),
    ],
)
def test_no_option_loosens_a_policy(policy, options, words):
    with pytest.raises(ValueError) as caught:
        by(Policy("gate", {"max_fmr": 0.1}, **policy), **options)
    assert words in str(caught.value)


def test_what_a_policy_leaves_open_may_be_given():
    found = by(Policy("gate", {"max_fmr": 0.3}), far=0.1)
    assert [c.far for c in found.checks] == [0.1]
    found = by(Policy("gate", {"max_fmr": 0.3}, fmr=0.1), threshold_from=data())
    assert [c.far for c in found.checks] == [0.1]
    assert found.audits[0].levels[0].set_on == "other data"


def test_a_limit_about_the_data_and_a_threshold_from_elsewhere():
    policy = Policy("gate", {"max_bfar": 2.0}, fmr=0.1)
    with pytest.raises(ValueError, match=r"policy='gate': max_bfar=2\.0 is about"):
        by(policy, threshold_from=data())


def test_a_name_that_no_file_can_have():
    with pytest.raises(ValueError, match="is neither a file nor a policy"):
        Policy.read("a" * 5000)


def test_what_is_no_policy():
    with pytest.raises(ValueError, match="policy must be a Policy, its file or"):
        by({"max_fmr": 0.1})


def test_pairs_are_audited_by_a_policy():
    rng = np.random.default_rng(0)
    people = rng.integers(0, 40, (2, 2000))
    scores = rng.normal(size=2000) + 2 * (people[0] == people[1])
    groups = tuple(np.where(people % 2, "f", "m"))
    pairs = PairData(scores, tuple(people), {"gender": groups})
    found = by(Policy("gate", {"max_fnmr": 0.9}, threshold=0.5), pairs)
    assert [c.threshold for c in found.checks] == [0.5]
