"""Where a TOML file breaks off, and what to write there instead."""

import re
import textwrap
import tomllib

# Characters of the line that are shown.
MOST_SHOWN = 60
# How the parser's messages start -> what to do.
REMEDIES = {
    "Invalid value": (
        'Write a text in quotation marks ("door"), a number as 0.01 or 1e-4, true or false '
        "in small letters, and ] at the end of a list."
    ),
    "Expected '='": "Write key = value.",
    "Expected newline": (
        "Write one key = value on each line, with nothing after the value but a comment; "
        "numbers are written as 0.01 or 1e-4."
    ),
    "Invalid statement": "Start each line with key = value, a [table] or a # comment.",
    "Unterminated string": "Close the text with a quotation mark.",
    'Expected "\'"': "Close the text with a quotation mark.",
    "Illegal character '\\n'": "Close the text with a quotation mark, on the same line.",
    "Illegal character": "Leave that character out.",
    "Found invalid character": "Leave that character out.",
    "Escaped character": "Write the character itself.",
    "Invalid hex value": "Write \\\\ for each \\, or the text in single quotation marks.",
    "Unescaped '\\'": "Write \\\\ for each \\, or the text in single quotation marks.",
    "Unclosed array": "Separate values by commas, and close the list with ].",
    "Unclosed inline table": "Separate keys by commas, and close the table with }.",
    "Invalid initial character": (
        "Write a table in braces on one line, { key = value, key = value }, without a "
        "comma at its end."
    ),
    "Expected ']": "Write the name of a table on a line of its own, as [limits] or [[at]].",
    "Cannot overwrite a value": "Write each key once.",
    "Duplicate inline table key": "Write each key once.",
    "Cannot declare": "Write each table once.",
    "Cannot mutate": "Write each table once, as [limits] or in braces.",
}


def loads(text):
    """Tables of a TOML text.

    Parameters
    ----------
    text : str

    Returns
    -------
    values : dict

    Raises
    ------
    TOMLProblem
        If it is none; with the place, and what to do.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TOMLProblem(str(error), text) from None


class TOMLProblem(ValueError):
    """A text is no TOML.

    Parameters
    ----------
    found : str
        The parser's message.
    text : str

    Attributes
    ----------
    place : str
        Line, column, and what the line holds.
    remedy : str
    """

    def __init__(self, found, text):
        lines = text.rstrip().split("\n")
        at = re.search(r"\(at line (\d+), column (\d+)\)", found)
        line, column = len(lines), len(lines[-1]) + 1
        if at:
            line, column = map(int, at.groups())
        shown = lines[line - 1].strip() if line <= len(lines) else ""
        shown = textwrap.shorten(shown, MOST_SHOWN, placeholder=" ...")
        place = f"line {line}, column {column}"
        self.place = f"{place} ({shown})" if shown.isprintable() and shown else place
        starts = (start for start in REMEDIES if found.startswith(start))
        self.remedy = REMEDIES.get(next(starts, None), f"The parser says: {found}.")
        super().__init__(f"{self.place}: {found}")
