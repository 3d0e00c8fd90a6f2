"""The directive ``rooms``: the house drawn from the imports of its modules, and a list of rooms.

Floors and imports are those that ``tests/test_floors.py`` reads and asserts, so that the drawing
is that of the code at hand. An arrow is an import that no chain of others implies.
"""

import ast
from collections import defaultdict

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from tests.test_floors import FLOORS, MODULES, PACKAGES, home, imports_of, within

# Middle and width of each room across the drawing; its floor is that of the tests.
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
    """Room -> rooms that its modules import from."""
    found = defaultdict(set)
    for module, path in MODULES.items():
        here = home(module)
        for i in imports_of(path.read_text(encoding="utf-8"), MODULES):
            own = module in PACKAGES and within(i.module, module)
            if within(i.module, "skfairfr") and not own:
                found[here].add(home(i.module))
    return {room: found[room] - {room, *LEFT_OUT} for room in FLOORS}


def reached(graph, room):
    """All rooms below a room."""
    return {*graph[room]}.union(*(reached(graph, other) for other in graph[room]))


def needed(graph):
    """The imports that no chain of others implies, as pairs of rooms."""
    return [
        (room, other)
        for room in graph
        for other in graph[room]
        if not any(other in reached(graph, third) for third in graph[room])
    ]


def short(room):
    """The name of a room, as pages say it."""
    return room.removeprefix("skfairfr.")


def about(room):
    """The first sentence of a room's docstring."""
    text = ast.get_docstring(ast.parse(MODULES[room].read_text(encoding="utf-8")))
    return text.split("\n\n")[0].replace("\n", " ")


def drawing():
    """The house as SVG in the colours of the page."""
    graph = imports()
    rooms = [room for room in FLOORS if room not in LEFT_OUT]
    floors = sorted({FLOORS[room] for room in rooms}, reverse=True)
    top = {room: TOP + ROW * floors.index(FLOORS[room]) for room in rooms}
    parts = [f"<defs>{ARROW}</defs>"]
    for room, other in needed(graph):
        # Every room may use what is in the cellar.
        if room in LEFT_OUT or not FLOORS[other]:
            continue
        (x, _), (middle, width) = ACROSS[short(room)], ACROSS[short(other)]
        reach = width / 2 - 20
        to = min(max(x, middle - reach), middle + reach)
        parts.append(
            f'<line x1="{x}" y1="{top[room] + HEIGHT}" x2="{to:.0f}" y2="{top[other] - 2}" '
            'stroke="currentColor" marker-end="url(#down)"/>'
        )
    for room in rooms:
        (x, width), y = ACROSS[short(room)], top[room]
        n = sum(home(name) == room for name in MODULES)
        parts.append(
            f'<rect x="{x - width / 2:.0f}" y="{y}" width="{width}" height="{HEIGHT}" '
            'rx="5" fill="var(--pst-color-surface, #eee)" stroke="currentColor"/>'
            f'<text x="{x}" y="{y + 20}" text-anchor="middle" font-weight="600">'
            f'{short(room)}</text><text x="{x}" y="{y + 37}" text-anchor="middle" '
            f'font-size="11">{n} module{"s" * (n > 1)}</text>'
        )
    height = max(top.values()) + HEIGHT + TOP
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" width="100%" font-size="14" '
        'fill="currentColor" aria-label="Rooms of the package by floor, with an arrow '
        f'from each to those it imports from">{"".join(parts)}</svg>'
    )


class Rooms(SphinxDirective):
    """The drawing, and what each room is for."""

    def run(self):
        """A picture and a list, the upper floors first."""
        rooms = sorted(
            (r for r in FLOORS if r not in LEFT_OUT), key=FLOORS.get, reverse=True
        )
        lines = [f"``{short(room)}``\n   {about(room)}" for room in rooms]
        return [
            nodes.raw("", drawing(), format="html"),
            *self.parse_text_to_nodes("\n".join(lines)),
        ]


def setup(app):
    """Take part in the build."""
    app.add_directive("rooms", Rooms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
