"""The directive ``layers``: packages drawn from their imports, and a list of them.

Layers and imports are those that ``tests/test_layers.py`` reads and asserts, so the drawing
matches the code. An arrow is an import that no chain of others implies.
"""

import ast
from collections import defaultdict

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from tests.test_layers import LAYERS, MODULES, PACKAGES, home, imports_of, within

# Middle and width of each package in the drawing. The tests state its layer.
ACROSS = {
    "cli": (320, 150),
    "report": (170, 150),
    "metrics._plot": (245, 140),
    "model_selection": (405, 150),
    "projectors": (590, 150),
    "comparators": (405, 150),
    "datasets": (85, 140),
    "metrics": (285, 200),
    "losses": (490, 140),
    "samplers": (645, 140),
    "_text": (285, 150),
    "utils": (365, 710),
    "_core": (365, 710),
    "_compat": (365, 710),
}
WIDTH, HEIGHT, ROW, TOP = 730, 46, 88, 10
LEFT_OUT = ("skfairfr", "skfairfr.__main__")
ARROW = (
    '<marker id="down" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor"/></marker>'
)


def imports():
    """Package -> packages that its modules import from."""
    found = defaultdict(set)
    for module, path in MODULES.items():
        here = home(module)
        for i in imports_of(path.read_text(encoding="utf-8"), MODULES):
            own = module in PACKAGES and within(i.module, module)
            if within(i.module, "skfairfr") and not own:
                found[here].add(home(i.module))
    return {package: found[package] - {package, *LEFT_OUT} for package in LAYERS}


def reached(graph, package):
    """All packages that a package imports, directly or not."""
    return {*graph[package]}.union(*(reached(graph, other) for other in graph[package]))


def needed(graph):
    """The imports that no chain of others implies, as pairs of packages."""
    return [
        (package, other)
        for package in graph
        for other in graph[package]
        if not any(other in reached(graph, third) for third in graph[package])
    ]


def short(package):
    """Name of a package without "skfairfr."."""
    return package.removeprefix("skfairfr.")


def about(package):
    """First sentence of a package's docstring."""
    text = ast.get_docstring(ast.parse(MODULES[package].read_text(encoding="utf-8")))
    return text.split("\n\n")[0].replace("\n", " ")


def drawing():
    """The layers as SVG in the colours of the page."""
    graph = imports()
    packages = [package for package in LAYERS if package not in LEFT_OUT]
    layers = sorted({LAYERS[package] for package in packages}, reverse=True)
    top = {package: TOP + ROW * layers.index(LAYERS[package]) for package in packages}
    parts = [f"<defs>{ARROW}</defs>"]
    for package, other in needed(graph):
        # Every package may import the lowest layer.
        if package in LEFT_OUT or not LAYERS[other]:
            continue
        (x, _), (middle, width) = ACROSS[short(package)], ACROSS[short(other)]
        reach = width / 2 - 20
        to = min(max(x, middle - reach), middle + reach)
        parts.append(
            f'<line x1="{x}" y1="{top[package] + HEIGHT}" x2="{to:.0f}" y2="{top[other] - 2}" '
            'stroke="currentColor" marker-end="url(#down)"/>'
        )
    for package in packages:
        (x, width), y = ACROSS[short(package)], top[package]
        n = sum(home(name) == package for name in MODULES)
        parts.append(
            f'<rect x="{x - width / 2:.0f}" y="{y}" width="{width}" height="{HEIGHT}" '
            'rx="5" fill="var(--pst-color-surface, #eee)" stroke="currentColor"/>'
            f'<text x="{x}" y="{y + 20}" text-anchor="middle" font-weight="600">'
            f'{short(package)}</text><text x="{x}" y="{y + 37}" text-anchor="middle" '
            f'font-size="11">{n} module{"s" * (n > 1)}</text>'
        )
    height = max(top.values()) + HEIGHT + TOP
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" width="100%" font-size="14" '
        'fill="currentColor" aria-label="Packages by layer, with an arrow '
        f'from each to those it imports from">{"".join(parts)}</svg>'
    )


class Layers(SphinxDirective):
    """The drawing, and the purpose of each package."""

    def run(self):
        """A picture and a list, the upper layers first."""
        packages = sorted(
            (r for r in LAYERS if r not in LEFT_OUT), key=LAYERS.get, reverse=True
        )
        lines = [f"``{short(package)}``\n   {about(package)}" for package in packages]
        return [
            nodes.raw("", drawing(), format="html"),
            *self.parse_text_to_nodes("\n".join(lines)),
        ]


def setup(app):
    """Take part in the build."""
    app.add_directive("layers", Layers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
