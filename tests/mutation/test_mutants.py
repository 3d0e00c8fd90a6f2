"""Facts of mutants: what is changed, and what is left alone."""

import math
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from tests.mutation.__main__ import report
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutants import Mutant, drawn, mutants_of, wilson
from tests.mutation.related import RELATED, ROOT, related
from tests.mutation.survivors import ACCEPTED


def changed(text):
    source = text.encode()
    mutants = mutants_of("a", source)
    assert all(m.is_valid(source) for m in mutants)
    return sorted(m.applied(source).decode() for m in mutants)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b", ["a <= b"]),
        ("x = a is not b", ["x = a is b"]),
        ("x = a < b != c", ["x = a <= b != c", "x = a < b == c"]),
        ("x = (a + b) * c", ["x = (a - b) * c", "x = (a + b) / c"]),
        ("x = a and b and c", ["x = a or b and c", "x = a and b or c"]),
        ("x = -a", ["x = (a)"]),
        ("x = 0.5", ["x = 1.5"]),
        ("x = True", ["x = False"]),
        ("x += y", ["x -= y"]),
        ("x[:] = y", ["pass"]),
        ("x = not a", ["x = (a)"]),
        ("x = b if a > c else d", ["x = b if (not (a > c)) else d", "x = b if a >= c else d"]),
        ("x = np.argmin(a)", ["x = np.argmax(a)"]),
        ("x = f(a, *b)", []),
        ("x = zip(*a, strict=True)", []),
        ("x = f(a + 'é', b)", ["x = f(b, a + 'é')", "x = f(a - 'é', b)"]),
        ("raise ValueError(f'{a + 1}')", ["pass"]),
        ("for a in b:\n    continue", ["for a in b:\n    break"]),
        ("def f(a: int = 1) -> 2:\n    'b'", ["def f(a: int = 2) -> 2:\n    'b'"]),
        ("@njit(cache=True)\ndef f():\n    return a", ["@njit(cache=True)\ndef f():\n    return None"]),
    ],
)  # fmt: skip
def test_each_change_is_made_and_no_other(text, expected):
    found = changed(text)
    # A call that stands alone can be left out, too.
    assert sorted(set(found) - {"pass"}) == sorted(set(expected) - {"pass"})
    assert ("pass" in found) == ("pass" in expected or text == "a < b")


def test_a_mutant_shows_its_lines():
    source = b"a = 1\nb = f(\n    c, d\n)\n"
    swap = next(m for m in mutants_of("a", source) if m.new == b"d, c")
    assert (swap.line, swap.shown(source)) == (3, "c, d -> d, c")


def test_what_python_cannot_read_is_no_mutant():
    assert not Mutant("a", 0, 1, b"(", 1).is_valid(b"1")


@pytest.mark.parametrize("seed", range(5))
def test_a_sample_has_its_part_of_every_module(seed):
    made = [
        Mutant(m, k, k, b"", 1) for m, n in (("a", 60), ("b", 30)) for k in range(n)
    ]
    sample = drawn(made, 30, seed)
    assert len(set(sample)) == 30
    counts = Counter(m.module for m in sample)
    assert abs(counts["a"] - 20) <= 1
    assert sample == drawn(made, 30, seed) != drawn(made, 30, seed + 1)
    assert set(drawn(made, 1000, seed)) == set(made)


@pytest.mark.parametrize(("killed", "n"), [(0, 9), (9, 9), (170, 200)])
def test_the_score_interval_holds_what_a_score_test_accepts(killed, n):
    for end in wilson(killed, n):
        z = abs(killed / n - end) / math.sqrt(max(end * (1 - end), 1e-300) / n)
        assert z == pytest.approx(1.96) or np.isclose(end, killed / n)


def test_every_module_has_tests():
    assert [m for m in RELATED if not related(m)] == []
    named = {f"tests/{test}.py" for tests in RELATED.values() for test in tests}
    assert [file for file in named if not (ROOT / file).is_file()] == []


def test_survivors_are_listed_with_their_place_and_the_interval(capsys):
    outcomes = {Mutant("a", k, k, b"", 9 - k): "killed" for k in range(7)}
    outcomes |= {Mutant("a", k, k, b"", 9 - k): "survived" for k in (7, 8)}
    status = report(outcomes, {"a": 20}, True, lambda m: f"a.py:{m.line}: x -> y")
    printed = capsys.readouterr().out
    assert "2 survivors\na.py:1: x -> y\na.py:2: x -> y\n" in printed
    low, high = wilson(7, 9)
    assert (
        f"7 of 9 mutants were killed, 77.8% (95% interval {low:.1%} to {high:.1%})"
        in (printed)
    )
    assert status == 1


def test_every_equivalent_mutant_is_still_made():
    assert not set(EQUIVALENT) & set(ACCEPTED)
    modules = {entry.partition(": ")[0] for entry in {**EQUIVALENT, **ACCEPTED}}
    made = set()
    for module in modules:
        source = (ROOT / f"skfairfr/{module}.py").read_bytes()
        made |= {f"{module}: {m.shown(source)}" for m in mutants_of(module, source)}
    assert {*EQUIVALENT, *ACCEPTED} - made == set()


@pytest.mark.slow
def test_the_command_counts_what_it_killed():
    command = [sys.executable, "-m", "tests.mutation", "--jobs", "1", "--sample", "4"]
    command += ["--module", "_core/_inner_products"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert re.search(r"[234] of [34] mutants were killed", done.stdout), done.stdout
