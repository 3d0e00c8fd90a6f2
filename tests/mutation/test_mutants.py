"""Facts of mutants: what is changed, and what is left alone."""

import re
import subprocess
import sys

import pytest

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutants import mutants_of
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


def test_every_module_has_tests():
    assert [m for m in RELATED if not related(m)] == []
    named = {f"tests/{test}.py" for tests in RELATED.values() for test in tests}
    assert [file for file in named if not (ROOT / file).is_file()] == []


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
    command += ["--module", "_core/_pair_tiles"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert re.search(r"[234] of [34] mutants were killed", done.stdout), done.stdout
