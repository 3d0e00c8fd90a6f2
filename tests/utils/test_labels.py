"""Labels come in from lists, arrays, frames and structured arrays, to the same codes."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from skfairfr.utils import face_labels
from skfairfr.utils._errors import ArgumentError
from skfairfr.utils._labels import (
    ANY_WAY,
    CodedColumn,
    check_spelling,
    count_labels,
    encode,
    encode_attributes,
    encode_joined,
    join_columns,
    label_images,
    spellings,
    split_labels,
    to_column,
    to_columns,
    two_spellings,
)

CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "pandas categorical": lambda values: pd.Series(values, dtype="category"),
    "pandas index": lambda values: pd.Series(values, index=range(5, 5 + len(values))),
    "pandas frame": lambda values: pd.DataFrame({"g": values}),
    "polars": pl.Series,
    "polars frame": lambda values: pl.DataFrame({"g": values}),
}
LABELS = {
    "str": ["b", "a", "b", "c"],
    "int": [20, 10, 20, 30],
    "bool": [True, False, True, True],
    "float": [1.5, 0.5, 1.5, 2.5],
}
UNKNOWN = {
    "None in a list": ["b", None, "a"],
    "nan in a list": ["b", np.nan, "a"],
    "pandas.NA in a list": ["b", pd.NA, "a"],
    "nan in floats": np.array([2.0, np.nan, 1.0]),
    "NaT": np.array(["2021", "NaT", "2020"], dtype="datetime64[Y]"),
    "pandas str": pd.Series(["b", None, "a"]),
    "pandas string": pd.Series(["b", None, "a"], dtype="string"),
    "pandas Int64": pd.Series([2, None, 1], dtype="Int64"),
    "pandas categorical": pd.Series(["b", None, "a"], dtype="category"),
    "polars null": pl.Series(["b", None, "a"]),
    "polars int": pl.Series([2, None, 1]),
    "polars nan": pl.Series([2.0, float("nan"), 1.0]),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_sorted_values_and_their_codes(container):
    for given_labels in LABELS.values():
        labels = encode(CONTAINERS[container](given_labels), "group")
        assert labels.values.tolist() == sorted(set(given_labels))
        assert labels.values[labels.codes].tolist() == given_labels


@pytest.mark.parametrize("case", UNKNOWN)
def test_unknown_labels_have_code_minus_one(case):
    labels = encode(UNKNOWN[case], "group", allow_unknown=True)
    assert labels.codes.tolist() == [1, -1, 0]
    assert len(labels.values) == 2


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_identity_is_an_error_that_names_its_row(case):
    with pytest.raises(ValueError, match=r"y is missing .* in row 1.*Drop"):
        encode(UNKNOWN[case], "y")


@pytest.mark.parametrize("values", [pl.Series([2, None, 1]), UNKNOWN["pandas Int64"]])
def test_integers_beside_a_null_stay_integers(values):
    # One group must not be called "1" in one data set and "1.0" in another.
    labels = encode(values, "group", allow_unknown=True)
    assert [type(value) for value in labels.values] == [int, int]


@given(st.lists(st.one_of(st.none(), st.sampled_from("xyz")), min_size=1, max_size=20))
def test_codes_are_those_of_a_plain_loop(values):
    known = sorted({v for v in values if v is not None})
    expected = [-1 if v is None else known.index(v) for v in values]
    assert encode(values, "group", allow_unknown=True).codes.tolist() == expected


@pytest.mark.parametrize(
    "values",
    [
        [["f", "old"], ["m", "old"], ["f", "old"]],
        pd.DataFrame({"sex": ["f", "m", "f"], "age": ["old"] * 3}),
        pl.DataFrame({"sex": ["f", "m", "f"], "age": ["old"] * 3}),
    ],
)
def test_several_columns_become_one_label(values):
    labels = encode(values, "group")
    assert labels.values.tolist() == ["f & old", "m & old"]
    assert labels.codes.tolist() == [0, 1, 0]


def test_many_unknown_numbers_among_objects_warn_of_nothing():
    """Python's interpreter compares floats in another way once it has seen many."""
    encoded = encode(
        np.array([1.0, np.nan] * 500, dtype=object), "y", allow_unknown=True
    )
    assert (encoded.codes < 0).sum() == 500


@pytest.mark.parametrize("unknown", [None, np.nan])
def test_an_unknown_attribute_leaves_the_combination_unknown(unknown):
    values = [["f", "old"], ["m", unknown], [unknown, "old"]]
    labels = encode(values, "group", allow_unknown=True)
    assert labels.codes.tolist() == [0, -1, -1]
    assert labels.values.tolist() == ["f & old"]


@given(st.lists(st.tuples(*[st.sampled_from([None, 2, 10])] * 3), min_size=1))
def test_combinations_are_those_of_a_plain_loop(rows):
    joined = [None if None in row else " & ".join(map(str, row)) for row in rows]
    known = sorted({text for text in joined if text is not None})
    labels = encode(np.array(rows, dtype=object), "group", allow_unknown=True)
    assert labels.values.tolist() == known
    assert labels.codes.tolist() == [known.index(t) if t else -1 for t in joined]


def test_combinations_of_one_name_are_not_mixed():
    with pytest.raises(ValueError, match="Two combinations"):
        encode([["a & b", "c"], ["a", "b & c"]], "group")


def test_all_unknown_leaves_no_value():
    assert encode([None, None], "group", allow_unknown=True).values.size == 0
    assert encode([[None, 1]], "group", allow_unknown=True).values.size == 0


def test_mixed_types_never_become_strings():
    with pytest.raises(ValueError, match=r"group has values .*'int', 'str'"):
        encode([1, "1", "a"], "group")
    assert encode([1, None, 2], "group", allow_unknown=True).values.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (5, "one-dimensional, .* got int"),
        ({"a", "b"}, "one-dimensional, .* got set of length 2"),
        (csr_matrix(np.eye(2)), r"one-dimensional, .* got scipy.sparse\S*csr_matrix"),
        ("abc", "one-dimensional, .* got str"),
        (pl.LazyFrame({"g": ["f"]}), r"one-dimensional, .* got polars\S*LazyFrame"),
        ([["f", "m"], ["f"]], "Pass rows of one length"),
        (np.zeros((2, 2, 2)), "one-dimensional"),
        (np.zeros((2, 0)), "one-dimensional"),
        (np.ma.array(["f", "m"], mask=[0, 1]), "masked values .* leave their rows out"),
    ],
)
def test_what_is_no_column_is_named(values, message):
    with pytest.raises(ValueError, match=f"group .*{message}"):
        to_columns(values, "group")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([{"a": 1}, {"a": 1}], "dict"),
        (pd.Series([[1], [2]]), "list"),
        (pd.Series([np.zeros(2), np.ones(2)]), "ndarray"),
        (face_labels([1, 2], ["f", "m"]), "tuple"),
        (np.zeros(2, complex), "complex"),
    ],
)
def test_a_label_is_one_number_or_text(values, kind):
    with pytest.raises(
        ArgumentError, match=f"^group has values .* as labels .*'{kind}'"
    ):
        encode(values, "group", allow_unknown=True)


@pytest.mark.parametrize("kind", [str, object])
def test_half_a_character_is_no_label(kind):
    labels = np.array(["f", "m\ud800", "f"], dtype=kind)
    about = r"has the label 'm\\ud800', which is no text: .*; rename it"
    with pytest.raises(ArgumentError, match=f"^group {about}"):
        encode(labels, "group")
    with pytest.raises(ArgumentError, match=f"^groups {about}"):
        encode_attributes({"m\ud800": ["f"]}, "groups", 1)
    assert encode(["\U0001f600"], "group").values.tolist() == ["\U0001f600"]


def test_lengths_and_counts_of_columns():
    with pytest.raises(ValueError, match="group has 2 rows but X has 3"):
        encode(["a", "b"], "group", n_samples=3)
    with pytest.raises(ValueError, match=r"y must be one column.* got 2 columns"):
        to_column([["a", "b"]], "y")


def test_face_labels_keep_each_column():
    y = face_labels(["ann", "bob"], ["f", None], domain=[0, 1])
    assert y.dtype.names == ("identity", "group", "domain")
    assert y["identity"].tolist() == ["ann", "bob"]
    assert y["group"].tolist() == ["f", None]
    assert y[[1, 0]]["domain"].tolist() == [1, 0]  # it is sliced as scikit-learn does


def test_face_labels_join_columns_of_a_group():
    frame = pd.DataFrame({"sex": ["f", "m", None], "age": ["old", "old", "old"]})
    y = face_labels([1, 2, 3], frame)
    assert y["group"].tolist() == ["f & old", "m & old", None]
    assert encode(y["group"], "g", allow_unknown=True).codes.tolist() == [0, 1, -1]
    assert face_labels([1], [[None, "old"]])["group"].tolist() == [None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, ["f"]), "identity must be the label of each row"),
        ((["a", "b"], ["f"]), "group has 1 rows but identity has 2"),
        ((["a", "b"], None, [0]), "domain has 1 rows but identity has 2"),
        (([["a", "b"]],), "identity must be one column"),
    ],
)
def test_face_labels_refuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        face_labels(*arguments)


@pytest.mark.parametrize(
    "y",
    [
        face_labels([2, 1], ["f", "m"]),
        pd.DataFrame({"identity": [2, 1], "group": ["f", "m"]}),
        pl.DataFrame({"group": ["f", "m"], "identity": [2, 1], "note": ["", ""]}),
    ],
)
def test_split_finds_identity_and_group_inside_y(y):
    identity, group, domain = split_labels(y)
    assert to_column(identity, "y").tolist() == [2, 1]
    assert to_column(group, "group").tolist() == ["f", "m"]
    assert domain is None
    with pytest.raises(ValueError, match=r"sensitive_features .* give it once"):
        split_labels(y, sensitive_features=["f", "m"])


def test_plain_y_is_the_identities_and_groups_come_beside():
    given = [2, 1], ["f", "m"], ["s", "d"]
    assert split_labels(*given) == given
    identity, group, _ = split_labels(pd.DataFrame({"person": ["a", "b"]}))
    assert to_column(identity, "y").tolist() == ["a", "b"] and group is None


@pytest.mark.parametrize(
    "y",
    [
        np.array([(1, "f")], dtype=[("id", int), ("group", "U1")]),
        pd.DataFrame({"id": [1], "group": ["f"]}),
        pl.DataFrame({"id": [1], "group": ["f"]}),
    ],
)
def test_several_columns_without_an_identity_are_an_error(y):
    with pytest.raises(ValueError, match=r"y has the columns .* none is 'identity'"):
        split_labels(y)


def test_frame_with_a_group_of_another_name_is_refused():
    frame = pd.DataFrame({"identity": [1, 2], "gender": ["f", "m"]})
    with pytest.raises(ArgumentError, match=r"y has the unknown columns \['gender'\]"):
        split_labels(frame)
    assert split_labels(frame, ["f", "m"])[1] == ["f", "m"]
    assert split_labels(frame.assign(group=["f", "m"]))[1].to_list() == ["f", "m"]


def test_dates_are_labels_too():
    dates = [datetime.date(2021, 1, 1), None, datetime.date(2020, 1, 1)]
    assert encode(dates, "group", allow_unknown=True).codes.tolist() == [1, -1, 0]


SIDES = ["selfie", "document", "selfie"]
INSIDE = face_labels(["b", "a", "b"], ["f", None, "m"], SIDES)


def test_images_have_codes_of_identity_group_and_domain():
    identity, group, domain = label_images(INSIDE, None, None, 3)
    assert identity.codes.tolist() == [1, 0, 1]
    assert group.codes.tolist() == [0, -1, 1]
    assert domain.values.tolist() == ["document", "selfie"]
    assert domain.codes.tolist() == [1, 0, 1]
    assert label_images(["b", "a", "b"], None, None, 3)[1:] == (None, None)


def test_fields_that_are_not_read_are_ignored_wherever_they_stand():
    given = {"sensitive_features": ["f"], "domain": ["one", "two", "three"]}
    found = label_images(["b", "a", "b"], **given, n_samples=3, fields=("identity",))
    assert found[0].codes.tolist() == [1, 0, 1]
    assert found[1:] == (None, None)
    three = face_labels(["b", "a", "b"], ["f", None, "m"], ["one", "two", "three"])
    _, group, domain = label_images(three, None, None, 3, fields=("identity", "group"))
    assert group.codes.tolist() == [0, -1, 1] and domain is None


@pytest.mark.parametrize("domain", [["one"] * 3, ["one", "two", "three"]])
def test_domains_are_two(domain):
    with pytest.raises(ValueError, match="domain must have two values"):
        label_images(["b", "a", "b"], None, domain, 3)


def test_a_group_with_a_slash_is_no_file_in_a_folder():
    labels = np.array(["white", "east_asian/white"])
    check_spelling(labels, "group", what="group")
    with pytest.raises(ValueError, match="'white' and 'east_asian/white'"):
        check_spelling(labels, "y")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("O'Neil", "O\N{RIGHT SINGLE QUOTATION MARK}Neil"),
        ("Jos\N{LATIN SMALL LETTER E WITH ACUTE}", "Jose"),
        ("p\N{ZERO WIDTH SPACE}1", "p1"),
        ("\N{FULLWIDTH LATIN SMALL LETTER P}1", "p1"),
        ("p/1", "p\\1"),
        ("p1.", "p1"),
        ("[p1]", "#p1"),
        ("p1.HEIC", "p1"),
        ("1,000", "1000"),
        ("1.000e+03", "1000"),
        ("1E3", "1000.0"),
        ("1e30", f"1{30 * '0'}"),
        ("Lee, Anna", "Anna Lee"),
        ("{p1}", "p1"),
        ("Smith &amp; Son", "smith & son"),
        ("M\u00fcller-1", "M\u00c3\u00bcller-1"),  # UTF-8 read as Windows-1252
        ("M\u00fcller-1", "MUELLER 1"),
        ("Mu\u0308ller", "Mueller"),
        ("Gro\u00df", "GROSS"),
    ],
)
def test_spellings_of_one_person(one, other):
    assert {*spellings(one)} & {*spellings(other)}


@pytest.mark.parametrize(
    ("pairs", "ways"),
    [
        ([("Ann", "ann"), ("Bob", "bob")], "case"),
        ([("Ann B", "AnnB")], "spaces"),
        ([(7, "007")], "leading zeros"),
        ([("Ann", "ann"), ("7", "007")], ANY_WAY),
    ],
)
def test_only_the_way_in_which_all_spellings_differ_is_named(pairs, ways):
    problem, _ = two_spellings(pairs)
    assert f"differ only in {ways} and may be one person or two" in problem


def test_groups_may_have_two_words():
    check_spelling(np.array(["f", "female", "m"], dtype=object), "y")
    for labels in (["f", "m", "Female"], ["man", "male", "other"]):
        with pytest.raises(ArgumentError, match="may be one group or two"):
            check_spelling(np.array(labels), "gender", what="group")
    check_spelling(np.array(["f", "m", "x"]), "gender", what="group")
    with pytest.raises(
        ArgumentError, match="may be one group or two: 'A' and '\u0410'"
    ):
        check_spelling(np.array(["A", "B", "\u0410"]), "grade", what="group")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.1", "11"),
        ("1-12", "11-2"),
        ("1,2", "12"),
        ("1.5e+00", "15"),
        ("a1", "b1"),
        ("Mueller", "Muller"),
        # Vowels of other scripts, and the voicing of Japanese, are no accents.
        ("\u0915\u093f", "\u0915\u0941"),
        ("\u304b", "\u304c"),
    ],
)
def test_labels_of_two_people(one, other):
    assert not {*spellings(one)} & {*spellings(other)}


@pytest.mark.parametrize(
    "values",
    [
        np.array(["b", "a", "b ", "unused"]),
        np.array(["b", None, "a", "unused"], dtype=object),
        np.array([3.0, np.nan, 1.0, 7.0]),
    ],
    ids=["texts", "missing", "numbers"],
)
def test_coded_columns_have_the_labels_of_their_rows(values):
    codes = np.random.default_rng(0).integers(3, size=50)
    coded = CodedColumn.of(values, codes)
    other = CodedColumn.of(values[::-1], codes)
    plain = join_columns([values[codes], values[::-1][codes]])
    found = encode_joined([coded, other], "y", allow_unknown=True)
    expected = encode(plain, "y", allow_unknown=True)
    assert found.values.tolist() == expected.values.tolist()
    assert found.codes.tolist() == expected.codes.tolist()
    counts = count_labels(CodedColumn.of(np.append(values, values), codes + 4))
    assert sorted(map(str, counts.elements())) == sorted(map(str, values[codes]))


def test_a_part_of_a_coded_column_has_no_codes():
    coded = CodedColumn.of(np.array(["a", "b"]), np.array([0, 1, 1]))
    assert encode(coded[1:], "y").values.tolist() == ["b"]
