"""Directives made from the package: its public names, help of commands, keys of its JSON."""

import json
import re
from importlib import import_module

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from skfairfr.cli._parser import Formatter, build_parsers
from skfairfr.report._outputs import schema_of


class PublicNames(SphinxDirective):
    """A line of links to everything in ``__all__`` of a module."""

    required_arguments = 1

    def run(self):
        """The paragraph."""
        (name,) = self.arguments
        module = import_module(name)
        links = " · ".join(f":py:obj:`~{name}.{n}`" for n in module.__all__)
        return self.parse_text_to_nodes(links)


class CommandHelp(SphinxDirective):
    """What ``skfairfr COMMAND --help`` prints."""

    required_arguments = 1

    def run(self):
        """The text, in an environment-free width."""
        (name,) = self.arguments
        _, commands = build_parsers()
        parser = commands[name]
        parser.formatter_class = lambda prog: Formatter(prog, width=88)
        lines = StringList(parser.format_help().splitlines())
        block = nodes.literal_block("\n".join(lines), "\n".join(lines))
        block["language"] = "text"
        return [block]


class JsonKeys(SphinxDirective):
    """Keys of a file of JSON by its schema: a table of the file, and of each record in it."""

    required_arguments = 1

    def run(self):
        """The tables."""
        (name,) = self.arguments
        schema = schema_of(name)
        records = {name: schema} | schema.get("$defs", {})
        lines = []
        for title, record in records.items():
            if "properties" in record:
                about = text_of(record)
                lines += [
                    f".. csv-table:: {title}. {about}",
                    "   :widths: 25 30 45",
                    "",
                ]
                lines += [
                    f"   {row}"
                    for row in map(
                        row_of, *zip(*record["properties"].items(), strict=True)
                    )
                ]
                lines.append("")
        return self.parse_text_to_nodes("\n".join(lines))


def row_of(key, schema):
    """A key, what its value is, and its meaning, as cells of a table."""
    cells = f"``{key}``", kind_of(schema), text_of(schema)
    return ",".join('"{}"'.format(cell.replace('"', '""')) for cell in cells)


def text_of(schema):
    """A description, without meaning to reStructuredText."""
    return re.sub(r"([*`|_])", r"\\\1", schema.get("description", ""))


def kind_of(schema):
    """What a value is, in words: a type, the name of a record, a list, or the values."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(map(kind_of, schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ", ".join(f"``{json.dumps(value)}``" for value in values)
    if "items" in schema:
        return f"list of {kind_of(schema['items'])}"
    kind = schema.get("type", "any value")
    return kind if isinstance(kind, str) else " or ".join(kind)


def setup(app):
    """Take part in the build."""
    app.add_directive("public-names", PublicNames)
    app.add_directive("command-help", CommandHelp)
    app.add_directive("json-keys", JsonKeys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
