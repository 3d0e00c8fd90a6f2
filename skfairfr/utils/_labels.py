"""Labels of images: identity, group and domain, however a caller stores them.

``y`` is an array of identities, a structured array from :func:`face_labels`, or a frame
with the columns ``identity``, ``group`` and ``domain``. Everything below this layer uses
integer codes only. -1 is an unknown group.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from contextlib import suppress
from decimal import Decimal
from html import unescape
from typing import NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from skfairfr.utils._errors import invalid, kind_of_value, plain
from skfairfr.utils._types import Column
from skfairfr.utils._validation import is_written, to_array

FIELDS = ("identity", "group", "domain")
# Zeros in front of digits, and an integer apart from a plus and the zeros of its fraction.
ZEROS = re.compile(r"(?<![0-9.])0+(?=[0-9])")
# Of an image, a recording or a template, at the end of its name.
FILE_ENDING = re.compile(
    r"\.(bmp|flac|gif|heic|jpe?g|mp3|npy|pgm|png|ppm|tiff?|wav|webp)$"
)
# Spaces, dashes, underscores and slashes next to a letter, quotes, brackets and #, and what
# between digits separates numbers, as in 1-12 and 11-2.
SEPARATORS = r"[\s_\-\u2010-\u2015\u2212]+"
SIGNS = r"[\s_\-\u2010-\u2015\u2212/\\]+"
AT_LETTER = re.compile(
    rf"(?<=[^\W\d_]){SIGNS}(?=[^\W_])|(?<=[^\W_]){SIGNS}(?=[^\W\d_])"
)
# Accents of European letters, without the vowels of other scripts.
ACCENTS = re.compile("[\u0300-\u036f]")
QUOTES = re.compile("[\"'`\u2018\u2019\u201c\u201d#(){}\\[\\]]")
# Family name, given name.
LAST_FIRST = re.compile(r"([^,]*[^\W\d][^,]*), *([^,]+)")
BETWEEN_DIGITS = re.compile(rf"(?<=\d){SEPARATORS}(?=\d)")
WITH_POINTS = re.compile(rf"(?<=[^\W_])(?:\.|{SIGNS})+(?=[^\W_])")
# Letters, digits or signs. A beginning or an ending is some of these.
PARTS = re.compile(r"[^\W\d_]+|\d+|[\W_]+")
# Cyrillic and Greek letters that are drawn as a Latin one, small or capital, and Latin ones
# with a stroke, or without a dot, which are not composed of a letter and an accent.
LOOK_ALIKE = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455"
    "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0131\u0142\u00f8\u0111",
    "abekmhopctyxijsabezhikmnoptyxilod",
)
WITHOUT_UMLAUT = str.maketrans({"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue"})
FOLDER = re.compile(r".*[/\\]")
INTEGER = re.compile(r"\+?(-?[0-9]+)(\.0*)?")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")
THOUSANDS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+")
SCIENTIFIC = re.compile(r"[0-9](\.[0-9]+)?e\+?[0-9]{1,2}")
# Other words for one group.
GROUPS = dict.fromkeys(("f", "woman", "women"), "female")
GROUPS |= dict.fromkeys(("m", "man", "men"), "male")
MOST_LISTED = 5
# More groups than this are not one for each of few people by chance.
MANY_GROUPS = 20


class Labels(NamedTuple):
    """Codes (n_samples,) into sorted labels (n_labels,). Code -1 is an unknown label."""

    values: np.ndarray
    codes: np.ndarray

    def of_rows(self):
        """The label of each row, objects (n_samples,), or None where it is unknown."""
        return np.append(self.values.astype(object), None)[self.codes]


class CodedColumn(np.ndarray):
    """Column of a file of which distinct labels and codes are known, for reading only.

    Attributes
    ----------
    labels : Labels or None
        Values in any order, some of them equal or of no row. None for a part of a column.
    """

    labels = None

    @classmethod
    def of(cls, values, codes):
        """Column from values and the code of each row."""
        column = values[codes].view(cls)
        column.labels = Labels(values, codes)
        column.flags.writeable = False
        return column


def count_labels(column):
    """Number of rows that have each label of a column, a dict."""
    if (labels := getattr(column, "labels", None)) is None:
        return Counter(column.tolist())
    found, numbers = Counter(), np.bincount(labels.codes)
    for code in np.flatnonzero(numbers).tolist():
        found[labels.values[code]] += int(numbers[code])
    return found


def face_labels(
    identity: Column, group: Column | None = None, domain: Column | None = None
) -> np.ndarray:
    """Bundle identities, groups and domains into one ``y``.

    scikit-learn slices ``y`` with ``X`` in every search and pipeline, so groups that
    travel inside it need no metadata routing.

    Parameters
    ----------
    identity : array-like, shape (n_samples,)
        Whose image each row is. Labels of any type.
    group : array-like, shape (n_samples,) or (n_samples, n_attributes), default=None
        Demographic group of each image. None or NaN is unknown. Several columns, of a frame
        say, are joined into one label of their combination, " & " between.
    domain : array-like, shape (n_samples,), default=None
        Source of each image, such as "selfie" and "document".

    Returns
    -------
    y : structured ndarray, shape (n_samples,)
        Labels with the field ``identity``, and ``group`` and ``domain`` if they were passed.

    Raises
    ------
    ValueError
        If identity is None, identity or domain is not one-dimensional, or the lengths
        differ.

    Examples
    --------
    >>> from skfairfr import face_labels
    >>> y = face_labels(["ann", "ann", "bob"], ["f", "f", "m"])
    >>> y["identity"].tolist(), y.dtype.names
    (['ann', 'ann', 'bob'], ('identity', 'group'))
    """
    if identity is None:
        raise ValueError("identity must be the label of each row, got None.")
    if group is not None and len(to_columns(group, "group")) > 1:
        group = encode(group, "group", allow_unknown=True).of_rows()
    given = {"identity": identity, "group": group, "domain": domain}
    given = {name: values for name, values in given.items() if values is not None}
    columns = {name: to_column(values, name) for name, values in given.items()}
    n_samples = len(columns["identity"])
    for name, column in columns.items():
        check_length(column, n_samples, name, "identity")
    y = np.empty(n_samples, dtype=[(name, c.dtype) for name, c in columns.items()])
    for name, column in columns.items():
        y[name] = column
    return y


def split_labels(y, sensitive_features=None, domain=None):
    """The identity, group and domain columns of whatever ``y`` is, or None where absent.

    Explicit arguments win over nothing: a group given both inside ``y`` and next to it is
    an error, since one of them would be silently ignored.
    """
    if y is None:  # in the words that scikit-learn's checks look for
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: give the "
            "identity of each row, or face_labels(identity, group)."
        )
    native = nw.from_native(y, pass_through=True, allow_series=True)
    names = getattr(getattr(y, "dtype", None), "names", None)
    if isinstance(native, nw.DataFrame):
        names = native.columns
        if len(names) == 1 and "identity" not in names:
            names = None  # one column, whatever its name
    if names is not None and "identity" not in names:
        problem = f"has the columns {list(names)}, but none is 'identity';"
        remedy = "rename the one with the person of each row, or use face_labels."
        raise invalid("y", None, problem, remedy)
    columns = dict.fromkeys(FIELDS)
    if names is None:
        columns["identity"] = y
    else:
        columns |= {field: native[field] for field in FIELDS if field in names}
    unread = [] if names is None else [name for name in names if name not in FIELDS]
    if unread and columns["group"] is None and sensitive_features is None:
        problem = f"has the unknown columns {plain(unread)} and no group. The columns read are {FIELDS}."
        remedy = "Call the column of the groups 'group', or leave the others out."
        raise invalid("y", None, problem, remedy)
    for argument, field, values in (
        ("sensitive_features", "group", sensitive_features),
        ("domain", "domain", domain),
    ):
        if values is not None and columns[field] is not None:
            problem = f"was given both inside y (field {field!r}) and as an argument;"
            raise invalid(argument, None, problem, "give it once.")
        columns[field] = columns[field] if values is None else values
    return tuple(columns.values())


def label_images(
    y, sensitive_features, domain, n_samples, *, fields=FIELDS, by_attribute=False
):
    """Identity, group and domain of the rows of X.

    Parameters
    ----------
    y : array-like, shape (n_samples,)
        Identities, or a structured array or frame with some of FIELDS.
    sensitive_features, domain : array-like, shape (n_samples,), or None
    n_samples : int
        Rows of X.
    fields : tuple of str, default=FIELDS
        What is used. Other fields are ignored, but may not be given twice either.
    by_attribute : bool, default=False
        Whether the group is a dict, of the Labels of every attribute by its name.

    Returns
    -------
    identity, group, domain : Labels
        None where not given or not read.

    Raises
    ------
    ValueError
        If a length is wrong, an identity or a domain is missing, a field is given twice,
        there are not two domains, or there are more groups than people.
    """
    given = zip(FIELDS, split_labels(y, sensitive_features, domain), strict=True)
    identity, group, domain = (v if field in fields else None for field, v in given)
    identity = encode(to_column(identity, "y"), "y", n_samples=n_samples)
    check_spelling(identity.values, "y")
    name = "sensitive_features"
    if by_attribute:
        group = {} if group is None else encode_attributes(group, name, n_samples)
    elif group is not None:
        group = encode(group, name, n_samples=n_samples, allow_unknown=True)
    for labels in group.values() if by_attribute else [group] * (group is not None):
        check_not_exchanged(identity, labels)
    if domain is not None:
        domain = encode(to_column(domain, "domain"), "domain", n_samples=n_samples)
        found = domain.values.tolist()
        if len(found) != 2:
            problem = f"must have two values, not {len(found)} ({plain(found[:5])});"
            remedy = "images of one are compared with those of the other."
            raise invalid("domain", found, problem, remedy)
        sides = (f"y of {name!r}" for name in found)
        check_affixes(identity, domain.codes == 1, *sides)
    return identity, group, domain


def check_not_exchanged(identity, group, names=("y", "sensitive_features")):
    """Raise if groups are more than people, and images of a group mostly of one person.

    Also if many groups, named by texts, have fewer than two people each on average.
    """
    n_people, n_groups = identity.values.size, group.values.size
    texts = [*map(str, group.values.tolist())]
    are_many = MANY_GROUPS < n_groups <= n_people < 2 * n_groups
    if are_many and not any(map(NUMBER.fullmatch, texts)):
        problem = f"contains {n_groups:,} groups, as {texts[0]!r}, of {n_people:,} people, and groups "
        problem += "have several people: are they names, dates or numbers with a unit?"
        remedy = "Give groups, or numbers alone, of which ranges can be made."
        raise invalid(names[1], None, problem, remedy)
    # Floats may be values, such as ages, whose means are used.
    if n_groups <= n_people or group.values.dtype.kind == "f":
        return
    known = group.codes >= 0
    both = np.stack([identity.codes[known], group.codes[known]])
    # Images of the same age, which may be whole numbers, are of several people.
    n_mixed = np.unique(both, axis=1).shape[1] - n_groups
    if 2 * n_mixed <= both.shape[1] - n_groups:
        problem = f"contains {n_groups:,} groups, and {names[0]} {n_people:,} people. {names[0]} names "
        problem += "the person of each row, and a group has several people."
        remedy = "Swap the two if they are in the wrong order."
        raise invalid(names[1], None, problem, remedy)


def encode(values, name, *, n_samples=None, allow_unknown=False):
    """Labels of any type as sorted values and integer codes.

    Parameters
    ----------
    values : array-like, shape (n_samples,) or (n_samples, n_attributes)
        Several columns are joined into one label of their combination, " & " between.
    name : str
        The argument's name, for messages.
    n_samples : int, default=None
        The length expected, that of X.
    allow_unknown : bool, default=False
        Whether None and NaN are unknown (code -1) or an error.

    Returns
    -------
    labels : Labels
    """
    labels = intersect([*encode_attributes(values, name, n_samples).values()])
    if not allow_unknown and (labels.codes < 0).any():
        row = int(np.flatnonzero(labels.codes < 0)[0])
        problem = f"is missing (None or NaN) in row {row}. Every image needs one."
        remedy = "Drop such rows, with their embeddings, before the call."
        raise invalid(name, None, problem, remedy)
    return labels


def encode_joined(columns, name, allow_unknown=False):
    """Labels of columns end to end, as :func:`encode` of :func:`join_columns`."""
    columns = [to_column(column, name) for column in columns]
    coded = [getattr(column, "labels", None) for column in columns]
    if None in coded or len({column.dtype.kind for column in columns}) > 1:
        return encode(join_columns(columns), name, allow_unknown=allow_unknown)
    # Rows of coded columns are not joined: theirs are millions of texts.
    starts = np.cumsum([0, *(labels.values.size for labels in coded[:-1])])
    both = zip(coded, starts, strict=True)
    codes = np.concatenate([labels.codes + start for labels, start in both])
    joint = Labels(np.concatenate([one.values for one in coded]), codes)
    return encode(joint, name, allow_unknown=allow_unknown)


def encode_attributes(values, name, n_samples=None):
    """Labels of every column of an array, series, frame or dict, by its name."""
    columns = to_columns(values, name)
    check_text(columns, name)
    if n_samples is not None:
        for column in columns.values():
            check_length(column, n_samples, name, "X")
    return {key: _encode_column(column, name) for key, column in columns.items()}


def join_columns(columns):
    """Columns end to end, without a label changing on the way.

    numpy would make 1 and "1" equal, and join int64 with uint64 (or float) through float64,
    where identifiers above 2**53 collapse. Objects stay as they are. Encoding labels that
    cannot be sorted together raises an error.
    """
    if len({column.dtype.kind for column in columns}) == 1:
        return np.concatenate(columns)
    return np.concatenate([column.astype(object) for column in columns])


def check_exact(labels, name):
    """Raise if floats are so large that several integers have the same number."""
    largest = 2 ** (np.finfo(labels.dtype).nmant + 1)
    if labels.size and np.abs(labels).max() > largest:
        problem = f"contains {np.abs(labels).max():.0f} as {labels.dtype}, which has the same "
        problem += f"number for several integers above {largest:,}."
        remedy = "Pass identities as integers or as text."
        raise invalid(name, None, problem, remedy)


# How two spellings may differ, and what makes them equal then.
WAYS = {
    "case": str.casefold,
    "spaces": lambda text: "".join(text.split()),
    "leading zeros": lambda text: text.lstrip("0"),
}
ANY_WAY = (
    "case, leading zeros, number format, separators, folder, file ending, abbreviation, "
    "look-alike letters, umlauts or Unicode form"
)


def check_spelling(labels, name, other=None, what="person"):
    """Raise if distinct labels differ in spelling only, or as float32 may be several.

    Parameters
    ----------
    labels : ndarray, shape (n_labels,)
        Distinct.
    name : str or int
        The argument, or an attribute of groups, for messages.
    other : str, default=None
        That of the other side.
    what : {"person", "group"}, default="person"
        What has a label.
    """
    if labels.dtype.kind == "f":
        check_exact(labels, name)
    if labels.dtype.kind not in "OU":
        return
    same, words = {}, GROUPS if what == "group" else {}
    for label in labels.tolist():
        for text in dict.fromkeys(spellings(label)):
            same.setdefault(words.get(text, text), []).append(label)
    # A group such as east_asian/white is no file in a folder.
    in_folders = filter(FOLDER.match, map(str, labels.tolist()))
    for label in in_folders if what == "person" else ():
        same.get(spellings(FOLDER.sub("", label))[0], []).append(label)
    # Two spellings may be equal in both ways.
    several = dict.fromkeys(tuple(a[:2]) for a in same.values() if len(a) > 1)
    if several:
        contains = "contains" if other is None else f"and {other} contain"
        if what == "group" and name != "sensitive_features":  # that of an attribute
            name, contains = "sensitive_features", f"{name} {contains}"
        problem, remedy = two_spellings([*several], what)
        raise invalid(name, None, f"{contains} {problem}", remedy)


def two_spellings(pairs, what="person"):
    """Problem and remedy of pairs of labels that differ in spelling only."""
    texts = [(str(a), str(b)) for a, b in pairs]
    found = (
        way for way, form in WAYS.items() if all(form(a) == form(b) for a, b in texts)
    )
    problem = (
        f"{len(pairs):,} {'label' if len(pairs) == 1 else 'labels'} in two spellings, which "
        f"differ only in {next(found, ANY_WAY)} and may be one {what} or two: "
        f"{_examples(pairs)};"
    )
    remedy = (
        f"write one {what}'s label the same everywhere, or rename the other {what}."
    )
    return problem, remedy


def _examples(pairs):
    """The first pairs of labels in words."""
    shown = ", ".join(f"{plain(a)!r} and {plain(b)!r}" for a, b in pairs[:MOST_LISTED])
    return shown if len(pairs) <= MOST_LISTED else f"{shown}, …"


def spelled_otherwise(absent, known):
    """Pairs of an absent label and a known one that differ in spelling only, a list."""
    known = np.unique(known.astype(str)).tolist()
    by_spelling = {text: label for label in known for text in spellings(label)}
    pairs = []
    for label in np.unique(absent.astype(str)).tolist():
        same = (by_spelling.get(text) for text in spellings(label))
        pairs += [(label, found) for found in same if found][:1]
    return pairs


def spellings(label):
    """Texts of a label, a tuple. Labels that differ in spelling only share one of them.

    A label with umlauts has another text without them (ue for ü). So does one with
    separators, in which points are separators too: R writes p.1 for p-1. A point is not
    nothing: m.7 is what pandas and R make of an eighth m, and m7 may be another person.
    """
    text, others = str(label), ()
    if text.isascii() and text.isalnum():
        text = text.casefold()
    else:
        text, others = _without_signs(unescape(text))
    if SCIENTIFIC.fullmatch(text):
        whole = Decimal(text).to_integral_value()  # of any size, unlike a remainder
        text = str(int(whole)) if whole == Decimal(text) else text
    text = ZEROS.sub("", text)
    number = INTEGER.fullmatch(text)
    return number[1] if number else text, *others


def _without_signs(text):
    """A text in plain letters and digits, and other texts of it."""
    with suppress(UnicodeError):  # UTF-8 that was read as Windows-1252
        text = text.encode("cp1252").decode()
    folded = unicodedata.normalize("NFC", text).strip().casefold()
    spelled_out = folded.translate(WITHOUT_UMLAUT)
    others = () if spelled_out == folded else spellings(spelled_out)
    text = unicodedata.normalize("NFKD", folded)
    text = unicodedata.normalize("NFKC", ACCENTS.sub("", text)).translate(LOOK_ALIKE)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")  # invisible
    if not text.isalnum():
        text = FILE_ENDING.sub("", QUOTES.sub("", text).strip(".,; "))
        text = LAST_FIRST.sub(r"\2 \1", text)
        others += (WITH_POINTS.sub(" ", text),)
        text = BETWEEN_DIGITS.sub(" ", AT_LETTER.sub("", text))
    if THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    return text, others


def check_affixes(labels, second, name, other):
    """Raise if labels of one side are those of the other with a beginning or an ending.

    Parameters
    ----------
    labels : Labels, of n_rows
    second : ndarray of bool, shape (n_rows,)
        Whether a row is of the second side.
    name, other : str
        The arguments of the two sides, for messages.
    """
    if labels.values.dtype.kind in "OU":
        n = labels.values.size
        rows = (
            np.bincount(labels.codes[s], minlength=n) > 0 for s in (~second, second)
        )
        if found := affixed(*(labels.values[one].tolist() for one in rows)):
            raise invalid(name, None, f"and {other} contain {found[0]}", found[1])


def affixed(first, second, what="person"):
    """Problem and remedy of labels that the other side has without a beginning or an ending.

    Parameters
    ----------
    first, second : list of str
        Distinct labels of either side.
    what : str, default="person"
        What has a label.

    Returns
    -------
    problem, remedy : str, or None
        An affix counts if two labels or more that one side alone has are labels of the
        other side without it, and these are most labels with the affix on their side. The
        numbers of images after a label are one affix.
    """
    for own, others in ((second, first), (first, second)):
        known, pairs = {_plain(str(label)): label for label in others}, {}
        for label in {*own} - {*others}:
            for affix, rest in _affixes(str(label)):
                if (base := known.get(_plain(rest))) is not None:
                    pairs.setdefault(affix, []).append((base, label))
        affix = max(pairs, key=lambda one: (len(pairs[one]), one), default=None)
        found = sorted(pairs.get(affix, ()))
        n_with = (
            sum(affix in dict(_affixes(str(label))) for label in own) if found else 0
        )
        if len(found) > 1 and 2 * len(found) > n_with:
            which = "a beginning" if affix[0] else "an ending"
            problem = f"{len(found):,} labels that differ from one of the other side only by {which} "
            problem += f"and may be one {what} or two: {_examples(found)};"
            remedy = f"write one {what}'s label the same everywhere or, if they are two, begin the "
            remedy += "labels of either side with a word of its own (a12, b12)."
            return problem, remedy
    return None


def _plain(label):
    """A label in lower case, without the zeros in front of it."""
    return label.casefold().lstrip("0")


def _affixes(label):
    """Beginnings (text, "") and endings ("", text) of a label, and what is left without each."""
    label = label.casefold()
    ends = [part.end() for part in PARTS.finditer(label)][:-1]
    found = [((label[:k], ""), label[k:]) for k in ends]
    return found + [(("", re.sub(r"\d+", "1", label[k:])), label[:k]) for k in ends]


def find_labels(known, wanted):
    """The first place of each label among known ones, compared as texts without outer spaces.

    Parameters
    ----------
    known : ndarray, shape (n_known,)
    wanted : ndarray, shape (n_wanted,)

    Returns
    -------
    places : ndarray of int, shape (n_wanted,)
        -1 for those that are not there.
    """
    values, first = np.unique(np.char.strip(known.astype(str)), return_index=True)
    distinct, codes = np.unique(np.char.strip(wanted.astype(str)), return_inverse=True)
    near = np.searchsorted(values, distinct).clip(max=values.size - 1)
    return np.where(values[near] == distinct, first[near], -1)[codes]


def check_length(column, n_samples, name, other):
    """Raise unless the column has ``n_samples`` rows, as the argument ``other`` has."""
    if len(column) != n_samples:
        problem = f"has {len(column)} rows but {other} has {n_samples};"
        raise invalid(name, column, problem, "give one label for each row.")


def to_columns(values, name):
    """One-dimensional numpy columns of an array-like, series, frame or dict, by their names.

    Columns without names are numbered.
    """
    if isinstance(values, CodedColumn | Labels):
        return {0: values}
    if isinstance(values, dict):
        return {
            key: to_column(c, f"{name}[{plain(key)!r}]") for key, c in values.items()
        }
    native = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame):
        return {key: _series_to_numpy(native[key]) for key in native.columns}
    if isinstance(native, nw.Series):
        return {0 if native.name is None else native.name: _series_to_numpy(native)}
    array = to_array(values, name)
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        # numpy turns [None, "a"] into objects, but [1, "a"] and [nan, "a"] into strings:
        # a mixture of types stays objects.
        objects = np.asarray(values, dtype=object)
        is_text = all(isinstance(label, str) for label in objects.flat)
        array = array if is_text else objects
    if array.ndim == 2 and array.shape[1] >= 1:
        return dict(enumerate(array.T))
    if array.ndim != 1:
        got = f"shape {array.shape}" if array.ndim else kind_of_value(values)
        problem = f"must be one-dimensional, (n_samples,), got {got}."
        raise invalid(name, values, problem)
    return {0: array}


def check_text(labels, name):
    """Raise where a label is no text that can be written, as half a character is."""
    wrong = [v for v in labels if isinstance(v, str) and not is_written(v)]
    if wrong:
        shown = f"{plain(wrong[0])!r}, which is no text: half a character;"
        raise invalid(name, wrong[0], f"has the label {shown}", "rename it.")


def to_column(values, name):
    """One one-dimensional numpy column, or an error if there are several."""
    columns = [*to_columns(values, name).values()]
    if len(columns) != 1:
        problem = f"must be one column, (n_samples,), got {len(columns)} columns."
        raise invalid(name, values, problem)
    return columns[0]


def _series_to_numpy(series):
    """A series as numpy, its nulls as None, or nan of a floating-point type."""
    if series.null_count() == 0 or series.dtype.is_float():
        return series.to_numpy()
    objects = np.empty(len(series), dtype=object)
    # to_numpy would convert integers to floats if there is a null.
    objects[:] = series.to_list()
    objects[series.is_null().to_numpy()] = None
    return objects


def _encode_column(column, name):
    labels = column if isinstance(column, Labels) else getattr(column, "labels", None)
    if labels is not None:
        occurring = np.flatnonzero(np.bincount(labels.codes))
        values, own = _encode_column(labels.values[occurring], name)
        codes = np.full(labels.values.size, -1, dtype=np.int32)
        codes[occurring] = own
        return Labels(values, codes[labels.codes])
    try:
        if column.dtype.kind in "Vc":
            raise TypeError
        if column.dtype.kind == "O":
            # Lists and arrays, which have no hash, are no labels.
            tuples = [v for v in set(column.tolist()) if isinstance(v, tuple)]
            if tuples:
                problem = f"has several labels in a row, as {plain(tuples[0])!r};"
                remedy = "give them in columns: face_labels(identity, group)."
                raise invalid(name, None, problem, remedy)
        unknown = is_unknown(column)
        labels = column[~unknown].tolist()
        known = [*dict.fromkeys(labels)]
        values = np.empty(len(known), dtype=column.dtype)
        values[:] = known
        # Distinct labels alone are sorted: sorting the texts of all rows is slow.
        values.sort()
    except TypeError:
        kinds = sorted({type(v).__name__ for v in column.tolist() if v is not None})
        problem = f"has values that cannot be sorted as labels (types {kinds});"
        remedy = "give one number or text for each row, all of one type."
        raise invalid(name, None, problem, remedy) from None
    place = dict(zip(values.tolist(), range(values.size), strict=True))
    inverse = np.fromiter(map(place.__getitem__, labels), np.intp, len(labels))
    if values.dtype.kind in "OU":
        texts = [v.strip() if isinstance(v, str) else v for v in values.tolist()]
        if texts != values.tolist():
            texts = np.array(texts, dtype=values.dtype)
            values, place = np.unique(texts, return_inverse=True)
            inverse = place[inverse]
    check_text(values.tolist(), name)
    codes = np.full(len(column), -1, dtype=np.int32)
    codes[~unknown] = inverse
    return Labels(values, codes)


def is_unknown(column):
    """If a column contains None, NaN or NaT, bool (n_samples,)."""
    if column.dtype.kind in "US":
        return np.zeros(len(column), dtype=bool)
    if column.dtype.kind != "O":
        return column != column
    # From Python 3.12 on, comparing a NaN that is no array warns inside numpy's loop.
    with np.errstate(invalid="ignore"):
        return np.frompyfunc(_is_missing, 1, 1)(column).astype(bool)


def _is_missing(label):
    """None, NaN, NaT and pandas.NA, the only one whose truth value is an error."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def count_distinct(group, n_groups, codes):
    """Number of distinct codes of all rows, then of those of each group, (1 + n_groups,).

    Parameters
    ----------
    group : ndarray of int, shape (n_rows,)
        -1 if the group is unknown.
    n_groups : int
    codes : ndarray of int, shape (n_rows,)
    """
    found = np.zeros((n_groups + 1, codes.max(initial=0) + 1), dtype=bool)
    found[group, codes] = True
    return np.append(found.any(axis=0).sum(), found[:n_groups].sum(axis=1))


def joint_codes(codes, first):
    """Code of each run of rows that have one code. -1 of runs that have several.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
    first : ndarray of int, shape (n_runs,)
        Start of each run.
    """
    least, most = (f.reduceat(codes, first) for f in (np.minimum, np.maximum))
    return np.where(least == most, least, -1)


def intersect(encoded):
    """Labels of the combinations that occur. Unknown where any attribute is unknown."""
    if len(encoded) == 1:
        return encoded[0]
    place = encoded[0].codes.astype(np.int64) + 1
    chosen = np.arange(-1, encoded[0].values.size)[
        :, None
    ]  # codes of combinations so far
    for labels in encoded[1:]:
        size = labels.values.size + 1
        # Numbers of the combinations so far, which therefore never grow large.
        number = place * size + labels.codes + 1
        found = np.unique(number)
        place = np.searchsorted(found, number)
        chosen = np.column_stack([chosen[found // size], found % size - 1])
    known = (chosen >= 0).all(axis=1)
    parts = [
        own.values[code] for own, code in zip(encoded, chosen[known].T, strict=True)
    ]
    combined = [" & ".join(map(str, part)) for part in zip(*parts, strict=True)]
    names, order = np.unique(np.array(combined, dtype=object), return_inverse=True)
    if names.size < len(combined):
        raise ValueError(
            'Two combinations of labels have the same name once joined by " & ". Rename '
            "the labels that contain it."
        )
    codes = np.full(known.size, -1, dtype=np.int32)
    codes[known] = order
    return Labels(names.astype(str) if names.size else names, codes[place])
