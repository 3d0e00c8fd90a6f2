"""A document is cut by names, and written as lines that fit and as Markdown."""

import re

import pytest

from skfairfr._text._document import (
    Cell,
    Document,
    Facts,
    Figure,
    Row,
    Section,
    Table,
    Verdict,
    write_markdown,
    write_text,
)

TABLE = Table(
    "Rates of each group.",
    ["group", "rate", "conclusion"],
    [
        Row("everyone", [Cell("1\N{NO-BREAK SPACE}%", "0 to 2 %"), Cell("*no*", few="few")]),
        Row("a|b", [Cell("3 %"), Cell("worse", more="surely")], place="at 1"),
    ],
)  # fmt: skip
DOCUMENT = Document(
    "Report",
    "of data",
    [
        Section("verdict", "Verdict", [Verdict("failed", "No.", ["One.", "Two."])]),
        Section(
            "by-0",
            "By sex",
            [
                "A paragraph.",
                Section("by-0-level", "At 1 %", [TABLE, ["a point"]]),
                Section("by-0-curve", "Curve", [Figure("A curve.", lambda: 1 / 0)]),
            ],
        ),
        Section("words", "Words", [Facts([("FMR", "a rate")], long=True)]),
    ],
)


def names(document):
    return re.findall(r"^#+ (.*)$", write_markdown(document), re.MULTILINE)


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        (("*",), ["Verdict", "By sex", "At 1 %", "Curve", "Words"]),
        (("verdict", "by-0"), ["Verdict", "By sex", "At 1 %", "Curve"]),
        (("by-*-level",), ["By sex", "At 1 %"]),
        (("nothing",), []),
    ],
)
def test_a_document_is_cut_to_sections_with_what_they_stand_in(patterns, kept):
    cut = DOCUMENT.only(*patterns)
    assert names(cut) == ["Report", *kept]
    # A paragraph goes with its own section alone.
    assert ("A paragraph." in write_text(cut)) == ("Curve" in kept)


def test_text_has_every_part_once_but_figures():
    text = write_text(DOCUMENT)
    for words in ("of data", "- One.", "A paragraph.", "- a point", "- FMR: a rate"):
        assert text.count(words) == 1
    assert "Curve" not in text and text.isascii()
    lines = text.splitlines()
    table = lines[lines.index("Rates of each group.") + 1 :][:3]
    assert [re.split(r"\s{2,}", line) for line in table] == [
        ["group", "rate", "conclusion"],
        ["everyone", "1 % (0 to 2 %)", "*no*, few"],
        ["a|b, at 1", "3 %", "worse, surely"],
    ]


def test_a_caption_that_was_said_is_not_said_again():
    twice = Document("Twice", "", [Section("a", "A", [TABLE, TABLE])])
    assert write_text(twice).count("Rates of each group.") == 1
    assert write_text(twice).count("everyone") == 2


@pytest.mark.parametrize(("n_columns", "length"), [(3, 60), (6, 30), (40, 9)])
def test_tables_of_any_width_fit_and_lose_nothing(n_columns, length):
    """Wide columns break their lines; columns beyond that become points."""
    words = [f"w{column} " + "x" * (length // 2) for column in range(n_columns)]
    head = ["name", *(f"h{column}" for column in range(n_columns))]
    table = Table("", head, [Row("row", [Cell(word) for word in words])])
    text = write_text(Document("Wide", "", [Section("a", "A", [table])]))
    assert max(map(len, text.splitlines())) <= 100
    for word in (*head[1:], *" ".join(words).split()):
        assert word in text


def test_markdown_escapes_what_it_would_read():
    card = write_markdown(DOCUMENT)
    assert r"| a\|b, at 1 | 3 % | worse, surely |" in card
    assert r"\*no\*, few" in card and "## Report" in card and "### Verdict" in card
    rows = [line for line in card.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    hostile = write_markdown(Document("<b>", "", [Section("a", "[x](y) & #", ["_z_"])]))
    assert "<" not in hostile and r"\[x\](y) \& \#" in hostile and r"\_z\_" in hostile


@pytest.mark.parametrize(
    ("text", "is_words"),
    [
        ("60 and over over 18 to under 40", True),
        ("18 to under 40", True),
        ("V-VI over I-II", True),
        ("2.47 %", False),
        ("at most 2", False),
        ("< 0.001", False),
        ("2.24 to 3.17, of any two groups", False),
        ("+5.17 to +6.98", False),
        ("1,372", False),
    ],
)
def test_labels_with_numbers_are_read_from_the_left(text, is_words):
    table = Table("", ["Limit", "Highest"], [Row("FMR", [Cell(text)])])
    assert table.words == [True, is_words]
