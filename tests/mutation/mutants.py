"""Small changes of a source: another operator, a condition negated, a statement left out."""

import ast
import random
import re
import warnings
from dataclasses import dataclass
from itertools import pairwise

COMPARED = {"<=": "<", ">=": ">", "<": "<=", ">": ">=", "==": "!=", "!=": "=="}
COMPARED |= {"is not": "is", "not in": "in", "is": "is not", "in": "not in"}
COMPUTED = {"**": "*", "//": "/", "+": "-", "-": "+", "*": "/", "/": "*", "%": "*"}
COMPUTED |= {"&": "|", "|": "&", "<<": ">>", ">>": "<<"}
NAMES = [("min", "max"), ("minimum", "maximum"), ("any", "all"), ("argmin", "argmax")]
NAMES += [("floor", "ceil"), ("nanmin", "nanmax"), ("zeros", "ones"), ("fmin", "fmax")]
NAMES = {a: b for pair in NAMES for a, b in (pair, pair[::-1])}
WORDS = {"left": "right", "right": "left"}
SYMMETRIC = {"min", "max", "minimum", "maximum", "fmin", "fmax", "hypot", "array_equal"}


@dataclass(frozen=True)
class Mutant:
    """A replacement of bytes [start, stop) in a module; line is where it starts."""

    module: str
    start: int
    stop: int
    new: bytes
    line: int

    def applied(self, source):
        return source[: self.start] + self.new + source[self.stop :]

    def is_valid(self, source):
        """Whether Python can read it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compile(self.applied(source), self.module, "exec")
            except SyntaxError:
                return False
        return True

    def shown(self, source):
        """The lines that it touches, before and after."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.stop)
        both = (source[first:last], self.applied(source)[first : last - len(source)])
        return " -> ".join(" ".join(text.decode().split()) for text in both)


class Places(ast.NodeVisitor):
    """Collect (start, stop, new) of every mutant of a source.

    Decorators, annotations, texts and what an error says stay as they are, and so does what
    writes LLVM code: it does not run in plain Python.
    """

    def __init__(self, source):
        self.source, self.found = source, []
        lengths = [len(line) for line in source.split(b"\n")]
        self.starts = [sum(lengths[:k]) + k for k in range(len(lengths))]
        self.visit(ast.parse(source))

    def span(self, node):
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node):
        return self.source[slice(*self.span(node))]

    def replace(self, node, new):
        self.found.append((*self.span(node), new))

    def operator(self, start, stop, table):
        """Another operator for the first one between two operands."""
        tokens = sorted(table, key=len, reverse=True)
        pattern = "|".join(re.escape(t).replace(r"\ ", r"\s+") for t in tokens)
        between = re.search(pattern.encode(), self.source[start:stop])
        if between:
            new = table[" ".join(between[0].decode().split())].encode()
            self.found.append((start + between.start(), start + between.end(), new))

    def negate(self, test):
        simple = isinstance(test, ast.Compare) and type(test.ops[0]).__name__ in (
            *("Eq", "NotEq", "Is", "IsNot", "In", "NotIn"),
        )
        if not simple and not isinstance(test, ast.UnaryOp):
            self.replace(test, b"(not (" + self.text(test) + b"))")

    def visit_FunctionDef(self, node):
        for child in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(child)
        for child in node.body:
            self.visit(child)

    def visit_ClassDef(self, node):
        for child in node.body:
            self.visit(child)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node):
        """A text."""

    def visit_Raise(self, node):
        self.replace(node, b"pass")

    def visit_Break(self, node):
        self.replace(node, b"continue")

    def visit_Continue(self, node):
        self.replace(node, b"break")

    def visit_Return(self, node):
        if node.value is not None and self.text(node.value) != b"None":
            self.replace(node, b"return None")
        self.generic_visit(node)

    def visit_Expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.replace(node, b"pass")
            self.generic_visit(node)

    def visit_Assign(self, node):
        if not isinstance(node.targets[0], (ast.Name, ast.Tuple)):
            self.replace(node, b"pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        table = {f"{a}=": f"{b}=" for a, b in COMPUTED.items()}
        self.operator(self.span(node.target)[1], self.span(node.value)[0], table)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        self.operator(self.span(node.left)[1], self.span(node.right)[0], COMPUTED)
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        table = {"and": "or", "or": "and"}
        for left, right in pairwise(node.values):
            self.operator(self.span(left)[1], self.span(right)[0], table)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if not isinstance(node.operand, ast.Constant):
            self.replace(node, b"(" + self.text(node.operand) + b")")
        self.generic_visit(node)

    def visit_Compare(self, node):
        operands = [node.left, *node.comparators]
        for left, right in pairwise(operands):
            self.operator(self.span(left)[1], self.span(right)[0], COMPARED)
        self.generic_visit(node)

    def visit_If(self, node):
        self.negate(node.test)
        self.generic_visit(node)

    visit_IfExp = visit_While = visit_If

    def visit_comprehension(self, node):
        for test in node.ifs:
            self.negate(test)
        self.generic_visit(node)

    def visit_keyword(self, node):
        """Lengths that zip compares are equal in code that is right."""
        if node.arg != "strict":
            self.visit(node.value)

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            self.replace(node, str(not node.value).encode())
        elif isinstance(node.value, (int, float)):
            self.replace(node, repr(node.value + 1).encode())
        elif node.value in WORDS:
            self.replace(node, f'"{WORDS[node.value]}"'.encode())

    def visit_Call(self, node):
        name = self.text(node.func).decode().rpartition(".")[2]
        if name in NAMES:
            stop = self.span(node.func)[1]
            self.found.append((stop - len(name), stop, NAMES[name].encode()))
        plain = not any(isinstance(a, ast.Starred) for a in node.args[:2])
        if len(node.args) > 1 and plain and name not in SYMMETRIC:
            (start, end), (begin, stop) = map(self.span, node.args[:2])
            texts = (
                self.source[begin:stop],
                self.source[end:begin],
                self.source[start:end],
            )
            self.found.append((start, stop, b"".join(texts)))
        self.generic_visit(node)


def mutants_of(module, source):
    """Every mutant of a module, in its order."""
    places = {p for p in Places(source).found if p[2] != source[p[0] : p[1]]}
    return [
        Mutant(module, start, stop, new, source.count(b"\n", 0, start) + 1)
        for start, stop, new in sorted(places)
    ]


def drawn(mutants, n, seed):
    """A random sample; every module has its part, up to rounding by chance."""
    rng = random.Random(seed)
    ordered = sorted(mutants, key=lambda m: (m.module, rng.random()))
    step = len(ordered) / min(n, len(ordered))
    start = rng.random() * step
    return [ordered[int(start + k * step)] for k in range(min(n, len(ordered)))]
