"""Directives that say what the package says: its public names, its command's help."""

from importlib import import_module

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from skfairfr.cli._parser import Formatter, build_parsers


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


def setup(app):
    """Take part in the build."""
    app.add_directive("public-names", PublicNames)
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
