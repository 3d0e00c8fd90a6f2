"""A policy is read from its file or refused, and decides what an audit is asked for."""

import math
import tomllib
from importlib.resources import files
from pathlib import Path
from time import process_time
from unicodedata import category

import numpy as np
import pytest

from skfairfr.report import EmbeddingData, PairData, Policy, audit, audit_data
from skfairfr.report._policy import COST_LIMITS, LIMITS, MOST_BYTES
from tests.refusals import refusal
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
# Text, and where in it the error is, or what the error tells of it.
INVALID = [
    ("limits = {max_fmr = 0.1}", "name = "),
    ('name = " "\nlimits = {max_fmr = 0.1}', "name must"),
    ("name = 1\nlimits = {max_fmr = 0.1}", "name must"),
    ('name = "a"', "[limits]"),
    ('name = "a"\nlimits = 0.1', "limits must"),
    ('name = "a"\n[[at]]\nfmr = 0.1\nlimits = 3', "at[0].limits must"),
    ('name = "a"\nfmrs = 1\nlimit = 2\nlimits = {max_fmr = 0.1}', "'fmrs', 'limit'"),
    ('name = "a"\nfmrs = 1\nlimits = {max_fmr = 0.1}', "Did you mean 'fmr'?"),
    ('name = "a"\nlimits = {max_fmrr = 0.1}', "Did you mean 'max_fmr'?"),
    ('name = "a"\nlimits = {max_fmr = 1}', "limits.max_fmr must"),
    ('name = "a"\nlimits = {max_fmr = -0.1}', "got -0.1"),
    ('name = "a"\nlimits = {max_fmr = true}', "limits.max_fmr must"),
    ('name = "a"\nlimits = {max_bfar = 1}', "limits.max_bfar must"),
    ('name = "a"\nmax_fmr = 0.1\nlimits = {max_fmr = 0.1}', "max_fmr under limits"),
    ('name = "a"\n[limits]\nmax_fmr = 0.1\nfmr = 0.1', "fmr above the first"),
    ('name = "a"\nfmr = []\nlimits = {max_fmr = 0.1}', "fmr must"),
    ('name = "a"\nfmr = 0\nlimits = {max_fmr = 0.1}', "fmr must"),
    ('name = "a"\nfmr = [0.1, 2]\nlimits = {max_fmr = 0.1}', "fmr[1] must"),
    ('name = "a"\nfmr = [0.1, 0.1]\nlimits = {max_fmr = 0.1}', "fmr must"),
    ('name = "a"\nfmr = "0.1"\nlimits = {max_fmr = 0.1}', "got '0.1'"),
    ('name = "a"\nthreshold = "x"\nlimits = {max_fmr = 0.1}', "threshold must"),
    ('name = "a"\nthreshold = [true]\nlimits = {max_fmr = 0.1}', "threshold[0] must"),
    ('name = "a"\nfmr = 0.1\nthreshold = 1\nlimits = {max_fmr = 0.1}', "not both"),
    ('name = "a"\nconfidence_level = 1\nlimits = {max_fmr = 0.1}', "confidence_level must"),
    ('name = "a"\nallow_threshold = 1\nlimits = {max_fmr = 0.1}', "allow_threshold must"),
    ('name = "a"\nattributes = [""]\nlimits = {max_fmr = 0.1}', "attributes[0] must"),
    ('name = "a"\nattributes = ["g", "g"]\nlimits = {max_fmr = 0.1}', "attributes must"),
    ('name = "a"\nat = {fmr = 0.1}', "at must"),
    ('name = "a"\nat = []', "at must"),
    ('name = "a"\nat = [{fmr = 0.1, limits = {max_fmr = 0.1}}, 1]', "at[1] must"),
    ('name = "a"\n[[at]]\nfmr = 0.1', "at[0] must"),
    ('name = "a"\n[[at]]\nlimits = {max_fmr = 0.1}', "at[0] must"),
    ('name = "a"\n[[at]]\nfmr = 0.1\nthreshold = 1\nlimits = {max_fmr = 0.1}', "at[0] must"),
    ('name = "a"\n[[at]]\nfmr = [0.1]\nlimits = {max_fmr = 0.1}', "at[0].fmr must"),
    ('name = "a"\n[[at]]\nfmr = 0.1\nfrr = 1\nlimits = {max_fmr = 0.1}', "at[0] has"),
    ('name = "a"\n[[at]]\nfmr = 0.1\nlimits = {max_fmr = 2}', "at[0].limits.max_fmr must"),
    # Of several errors the outermost is told.
    ('name = "a"\nlimits = {max_fmr = 2}\n[more]\ncolour = 1', "key 'more'"),
]  # fmt: skip
# What is about two keys, or two tables, at once, or about numbers that JSON has not.
BEYOND_THE_SCHEMA = [
    ('name = "a"\nthreshold = 1\nlimits = {max_bfar = 2}', "use max_fmr_ratio"),
    ('name = "a"\nfmr = 0.1\nallow_threshold = true\nlimits = {max_bfrr = 2}', "max_fnmr_ratio"),
    ('name = "a"\nallow_threshold = true\n[[at]]\nfmr = 0.1\nlimits = {max_fmr = 0.1}', "and at,"),
    ('name = "a"\nallow_threshold = true\nthreshold = 1\nlimits = {max_fmr = 0.1}', "leave one out"),
    ('name = "a"\nfmr = 0.1\n[[at]]\nthreshold = 1\nlimits = {max_fmr = 0.1}', "not both"),
    ('name = "a"\n[[at]]\nfmr = 0.1\nlimits = {max_fmr = 0.1}\n'
     "[[at]]\nfmr = 0.1\nlimits = {max_fmr = 0.2}", "two tables of fmr = 0.1"),
    ('name = "a"\nthreshold = inf\nlimits = {max_fmr = 0.1}', "threshold must"),
    ('name = "a"\nthreshold = nan\nlimits = {max_fmr = 0.1}', "threshold must"),
    ('name = "a"\nlimits = {max_fmr = nan}', "limits.max_fmr must"),
    ('name = "a"\nlimits = {max_bfar = inf}', "limits.max_bfar must"),
    (f'name = "a"\nlimits = {{max_bfar = 1{"0" * 400}}}', "limits.max_bfar must"),
]  # fmt: skip


def read(tmp_path, text):
    path = tmp_path / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return Policy.read(path)


@pytest.mark.parametrize("text", VALID)
def test_what_the_schema_allows_is_read(tmp_path, text):
    assert is_valid(tomllib.loads(text), Policy.schema())
    read(tmp_path, text)


@pytest.mark.parametrize(("text", "words"), INVALID + BEYOND_THE_SCHEMA)
def test_what_is_refused(tmp_path, text, words):
    in_schema = (text, words) in INVALID
    assert is_valid(tomllib.loads(text), Policy.schema()) != in_schema
    with refusal("policy", words) as caught:
        read(tmp_path, text)
    assert caught.value.value in (str(tmp_path / "gate.toml"), "a")


def test_a_mark_of_the_encoding_and_ends_of_lines_of_windows(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "a"\r\nlimits = { max_fmr = 0.1 }\r\n')
    assert Policy.read(path) == Policy("a", {"max_fmr": 0.1})


@pytest.mark.parametrize("values", [[], None, "door", [("name", "door")]])
def test_a_policy_is_made_from_a_dict(values):
    with refusal("policy", "[limits]"):
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
    with refusal("policy", "0.1", "Add it"):
        Policy("a", at={0.1: {"max_fmr": 0.1}})


def test_keys_of_the_schema_are_those_of_a_policy():
    schema = Policy.schema()
    assert set(schema["properties"]) == set(Policy.__dataclass_fields__)
    assert set(schema["$defs"]["limits"]["properties"]) == {*LIMITS, *COST_LIMITS}


def test_characters_of_a_name():
    controls = map(chr, range(0x3001))
    odd = [c for c in controls if category(c) in ("Cc", "Zs", "Zl", "Zp") and c != " "]
    for char in [*odd, "\u200b", "\u202e", "\ufeff", "\ud800"]:
        with refusal("policy", "name must"):
            Policy(f"a{char}b", {"max_fmr": 0.1})
    assert Policy("Tür 7 – Ost", {"max_fmr": 0.1}).name == "Tür 7 – Ost"


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
    with refusal("policy", str(tmp_path / "gate.toml"), place, "Write key = value"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a" + ".a" * 100_000 + " = 1", "has more than 16,384 bytes"),
        # How deep a Python reads decides which error it is.
        ("a" + ".a" * 8_000 + " = 1", "policy.toml"),
        ("a = " + "[" * 8_000 + "]" * 8_000, "no policy"),
    ],
    ids=["parts", "fewer parts", "lists"],
)
def test_no_file_takes_long(tmp_path, text, words):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    start = process_time()
    with refusal("policy", words):
        Policy.read(path)
    assert process_time() - start < 5


def test_the_largest_file(tmp_path):
    text = 'name = "a"\nfmr = 0.1\nlimits = {max_fmr = 0.1}\n#'
    text = text.ljust(MOST_BYTES, "#")
    assert read(tmp_path, text).name == "a"
    with refusal("policy", "more than"):
        read(tmp_path, text + "#")


def test_a_file_that_is_no_policy(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(b'name = "a"\nx = "\xff"')
    with refusal("policy", "no TOML"):
        Policy.read(path)
    for absent in (tmp_path / "absent.toml", "a" * 5000):
        with refusal("policy", "sp800-63a-4"):
            Policy.read(absent)


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
    return audit_data(data() if made is None else made, policy=policy, **options)


@pytest.mark.parametrize(
    ("given", "by_default"),
    [({}, True), ({"far": 0.1}, False), ({"threshold": 0.4}, False)]
    + [({"threshold_from": data()}, False)]
    + [({"policy": Policy("gate", {"max_fnmr": 0.3}, fmr=0.1)}, False)],
)
def test_levels_are_chosen_where_nobody_said_where_the_system_operates(
    given, by_default, monkeypatch
):
    monkeypatch.setattr("skfairfr.report._by_attribute.ENOUGH_IMPOSTORS", 1)
    levels = audit_data(data(), **given).audits[0].levels
    assert (1e-4 in [level.far for level in levels]) == by_default


def test_a_policy_says_what_options_say():
    limits = {"max_fnmr": 0.3, "max_fmr_ratio": 2.0}
    policy = Policy("gate", limits, fmr=[0.1, 0.05], confidence_level=0.9)
    found = by(policy)
    same = audit_data(data(), far=[0.1, 0.05], limits=limits, confidence_level=0.9)
    assert str(found.checks) == str(same.checks)  # nan is not nan
    assert found.audits[0].settings == same.audits[0].settings | {"policy": "gate"}


def test_a_report_says_the_name_of_its_policy_once():
    found = by(Policy("gate-7", {"max_fnmr": 0.3}, fmr=[0.1]))
    assert (found.policy, found.to_text().count("gate-7")) == ("gate-7", 1)
    assert found.to_json().count("gate-7") == 1
    assert audit_data(data(), far=0.1).policy is None


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

    rows = [f"{i % 7 / 7},{i},{i + 1},{i % 2},{(i + 1) % 2}" for i in range(60)]
    head = "distance,identity_1,identity_2,g_1,g_2"
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join([head, *rows]))
    policy = Policy("gate", threshold=[0.2, 0.4], at={0.4: {"max_fmr": 0.9}})
    found = by(policy, read_data(path, "g", distance=True, non_mated_only=True))
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
    with refusal("policy", "'age'", "'gender'"):
        by(Policy("gate", {"max_fnmr": 0.3}, fmr=0.1, attributes=["gender", "age"]))


def test_audit_takes_a_policy_by_name():
    found = audit(*synthetic(), policy="sp800-63a-4")
    assert found.policy == "sp800-63a-4"
    assert [c.name for c in found.checks] == ["max_fmr", "max_fnmr"]
    assert {c.far for c in found.checks} == {1e-4}


def test_a_threshold_may_be_given_where_the_policy_allows_it():
    found = by("sp800-63a-4", threshold=0.6)
    assert [(c.far, c.threshold) for c in found.checks] == [(None, 0.6)] * 2
    with refusal("threshold", "sets fmr", "leave one out"):
        by(Policy("gate", {"max_fmr": 0.1}, fmr=0.1), threshold=0.6)


@pytest.mark.parametrize(
    ("policy", "options", "argument"),
    [
        ({"fmr": 0.1}, {"far": 0.2}, "far"),
        ({"fmr": 0.1}, {"limits": {"max_bfar": 2.0, "max_fmr": 0.2}}, "max_bfar"),
        ({"fmr": 0.1}, {"confidence_level": 0.5}, "confidence_level"),
        ({"threshold": 0.4}, {"far": 0.2}, "far"),
        ({"threshold": 0.4}, {"threshold": 0.2}, "threshold"),
        ({"threshold": 0.4}, {"threshold_from": "other.npz"}, "threshold_from"),
    ],
)
def test_no_option_loosens_a_policy(policy, options, argument):
    with refusal(argument, "'gate' sets", "leave one out"):
        by(Policy("gate", {"max_fmr": 0.1}, **policy), **options)


def test_what_a_policy_leaves_open_is_to_be_given():
    with refusal("policy", "'gate'", "give the level or the threshold"):
        by(Policy("gate", {"max_fmr": 0.1}))
    found = by(Policy("gate", {"max_fmr": 0.3}), far=0.1)
    assert [c.far for c in found.checks] == [0.1]
    found = by(Policy("gate", {"max_fmr": 0.3}, fmr=0.1), threshold_from=data())
    assert [c.far for c in found.checks] == [0.1]
    assert found.audits[0].levels[0].set_on == "other data"


def test_a_limit_about_the_data_and_a_threshold_from_elsewhere():
    policy = Policy("gate", {"max_bfar": 2.0}, fmr=0.1)
    with refusal("policy", "max_bfar", "use max_fmr_ratio"):
        by(policy, threshold_from=data())
    with refusal("policy", "must be a Policy"):
        by({"max_fmr": 0.1})


# ---- limits of an audit --------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "argument", "words"),
    [
        *(({"max_bfar": v}, "max_bfar", "above 1") for v in (1.0, math.inf, "2", True)),
        *(({"max_fnmr": v}, "max_fnmr", "(0, 1)") for v in (0.0, 1.0, math.nan, None)),
        *((v, "limits", "a dict") for v in (2.0, "max_bfar", [("max_bfar", 2.0)])),
        ({"max_fmrr": 2.0}, "limits", "Did you mean 'max_fmr'?"),
    ],
)
def test_limits_that_are_refused(limits, argument, words):
    with refusal(argument, words):
        audit_data(data(), limits=limits)


def test_a_limit_about_the_worst_group_needs_a_level():
    audit_data(data(), threshold=0.4, limits={"max_fnmr_ratio": 2.0})
    with refusal("max_bfrr", "use max_fnmr_ratio"):
        audit_data(data(), threshold=0.4, limits={"max_bfrr": 2.0})


def test_pairs_are_audited_by_a_policy():
    rng = np.random.default_rng(0)
    people = rng.integers(0, 40, (2, 2000))
    scores = rng.normal(size=2000) + 2 * (people[0] == people[1])
    groups = tuple(np.where(people % 2, "f", "m"))
    pairs = PairData(scores, tuple(people), {"gender": groups})
    found = by(Policy("gate", {"max_fnmr": 0.9}, threshold=0.5), pairs)
    assert [c.threshold for c in found.checks] == [0.5]
