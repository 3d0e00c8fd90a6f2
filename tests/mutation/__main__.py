"""Change the code that measures, one small piece at a time; the daily tests must notice.

    python -m tests.mutation                           every mutant of every module
    python -m tests.mutation --sample 400 --seed 1     400 of them, the modules in proportion
    python -m tests.mutation --module _rates losses/   modules whose path has a word

At the end all survivors are listed, with file:line and the change. Some change nothing that
any test could notice, as where a fraction is multiplied above and below; LEAST has room for
them.

Kernels of the mutated module, and all others with it, run as plain Python: so a mutated
kernel runs as mutated. Where a module has no kernel, those of other modules are compiled. A
first pass runs the tests of a module's folder on the unbroken copy and records which lines
each of them reaches. A mutant then meets the tests that reach its line, and after them the
others of the same files, in a forked process that ends at the first failure. Tests that fail
or take long are left out. A mutant survives if all the rest pass.

Own code: mutmut puts all mutants of a function behind a dispatcher that numba cannot
compile or inline, and draws no sample; cosmic-ray starts a process per mutant, and the
imports take longer than most of these tests.
"""

import argparse
import compileall
import importlib
import json
import os
import py_compile
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

import pytest
from scipy.stats import binomtest

from tests.mutation.mutants import drawn, mutants_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "skfairfr"
# Modules that are mutated, and the folders of the tests that must notice.
MUTATED = {
    **{
        f"_core/_{module}": ("metrics", "_core")
        for module in ("candidates", "label_errors", "regression", "searches")
    },
    "_core/_*": ("_core", "metrics/_roc"),
    "losses/_*": ("losses",),
    "comparators/_*": ("comparators",),
    "metrics/_pairs/_*": ("metrics/_pairs", "metrics"),
    "metrics/_worst_group": ("metrics",),
    "metrics/_roc/_evidence": ("metrics/_roc", "report"),
    "metrics/_folds": ("metrics", "model_selection"),
    "metrics/_roc/_paired": ("metrics/_roc",),
    "report/_checks": ("report",),
    "report/_policy": ("report",),
    "report/_verdicts": ("report",),
}
# Of what they change, tests of rates see nothing: how pairs are held, and where work is done.
COSTS = {"__init__", "_pair_tiles", "_pairs", "_parallel"}
# Imported once, before processes are forked; nothing of the package.
PRELOADED = """
    hypothesis.extra.numpy jinja2 joblib matplotlib.pyplot mpmath narwhals numba pandas
    scipy.optimize scipy.sparse scipy.stats sklearn.linear_model sklearn.metrics
    sklearn.model_selection sklearn.svm torch
"""
# Seconds of one test, at which it is left out and at which it is ended, and of all tests that
# a mutant meets at once: those of a few files first, since most are killed there.
SLOW_TEST, HANGING_TEST, LONGEST, FIRST_FILES = 4.0, 20, 25.0, 3
MEMORY = 12 * 2**30
# Of the mutants.
LEAST = 0.85


def sources_of(words):
    """Source by module, for modules whose path has one of the words."""
    found = {}
    for pattern in MUTATED:
        for path in sorted(PACKAGE.glob(f"{pattern}.py")):
            name = path.relative_to(PACKAGE).with_suffix("").as_posix()
            if path.stem not in COSTS and any(word in name for word in words):
                found[name] = path.read_bytes()
    return found


def related(module, is_plain):
    """Files of tests that must notice; kernels meet those of their own folder alone."""
    folders = next(of for pattern, of in MUTATED.items() if Path(module).match(pattern))
    found = []
    for folder in folders[:1] if is_plain else folders:
        found += sorted((ROOT / "tests" / folder).glob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in found]


def has_kernels(source):
    return b"@njit" in source


# ---- what runs in a forked process -----------------------------------------------------


class FirstPass:
    """Record how long each test takes, and the lines of the modules that it reaches.

    A test that hangs ends the process, which begins anew after it.
    """

    def __init__(self, coverage, done, save):
        self.coverage, self.done, self.save = coverage, done, save
        self.seconds, self.passed = {}, {}
        signal.signal(signal.SIGALRM, self.leave)

    def leave(self, *_):
        self.passed[self.running] = False
        self.save(self, False)
        os._exit(0)

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid not in self.done]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.running = item.nodeid
        self.coverage.switch_context(item.nodeid)
        started = time.process_time()
        signal.alarm(HANGING_TEST)
        yield
        signal.alarm(0)
        self.seconds[item.nodeid] = time.process_time() - started
        self.coverage.switch_context("")

    def pytest_runtest_logreport(self, report):
        so_far = self.passed.get(report.nodeid, True)
        self.passed[report.nodeid] = so_far and report.outcome == "passed"


class InOrder:
    """Run these tests in this order, and no others."""

    def __init__(self, tests):
        self.places = {test: k for k, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        kept = [item for item in items if item.nodeid in self.places]
        items[:] = sorted(kept, key=lambda item: self.places[item.nodeid])


def tested(folder, files, plugin, *options):
    """Run tests in this process, which has none of the package yet; pytest's exit status."""
    os.chdir(folder)
    os.environ["PYTHONPATH"] = str(folder)
    sys.path = [str(folder), *(p for p in sys.path if p not in ("", str(ROOT)))]
    for name in list(sys.modules):
        if name.partition(".")[0] in ("tests", "skfairfr"):
            del sys.modules[name]
    quiet = ["-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-profile=mutation"]
    quiet += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return pytest.main([*quiet, *options, *files], plugins=[plugin])


def first_pass(folder, file, paths, out, done):
    """Add test -> (seconds, lines by module) of a file; None where it does not pass."""
    from coverage import Coverage

    coverage = Coverage(data_file=None, config_file=False, include=[*paths])

    def save(seen, is_whole):
        coverage.stop()
        data = coverage.get_data()
        reached = defaultdict(dict)
        for path, module in paths.items():
            for line, contexts in (data.contexts_by_lineno(path) or {}).items():
                for test in contexts:
                    reached[test].setdefault(module, []).append(line)
        for test, passed in seen.passed.items():
            is_fast = passed and seen.seconds[test] < SLOW_TEST
            done[test] = (seen.seconds[test], reached[test]) if is_fast else None
        out.write_text(json.dumps([is_whole, done]))

    coverage.start()
    seen = FirstPass(coverage, done, save)
    tested(folder, [file], seen)
    save(seen, True)
    return 0


def forked(log, is_plain, seconds, function, *arguments):
    """Id of a process that calls a function and exits with what it returns.

    It ends after so many seconds of the processor, or ten times as many by the clock.
    """
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    status = 70
    try:
        os.setsid()
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for stream in (1, 2):
            os.dup2(written, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            signal.alarm(10 * seconds)
        if is_plain:
            importlib.import_module("numba").config.DISABLE_JIT = 1
            os.environ["NUMBA_DISABLE_JIT"] = "1"
        status = int(function(*arguments))
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


# ---- what starts them ------------------------------------------------------------------


def preload():
    """Import what takes long and is never mutated."""
    os.environ |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    for name in PRELOADED.split():
        importlib.import_module(name)
    from hypothesis import Phase, settings

    # No shrinking: that a test fails is enough.
    phases = (Phase.explicit, Phase.generate)
    options = {"deadline": None, "max_examples": 40, "database": None, "phases": phases}
    settings.register_profile("mutation", derandomize=True, **options)


def copy_to(folder):
    """What the tests need; sources are compared with what was compiled by their content."""
    # What numba compiled stays.
    ignore = shutil.ignore_patterns("*.pyc")
    for name in ("skfairfr", "tests", "examples", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    checked = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(folder / "skfairfr", quiet=1, invalidation_mode=checked)


def first_passes(folder, sources, jobs, is_plain):
    """File -> test -> (seconds, lines by module), of those that pass in time."""
    files = list(dict.fromkeys(f for m in sources for f in related(m, is_plain)))
    paths = {str(folder / "skfairfr" / f"{module}.py"): module for module in sources}
    waiting, running, found = [*files], {}, {file: {} for file in files}
    while waiting or running:
        if waiting and len(running) < jobs:
            file = waiting.pop(0)
            out = folder / f"{file.replace('/', '-')}.json"
            log = out.with_suffix(".log")
            task = (first_pass, folder, file, paths, out, found[file])
            running[forked(log, is_plain, None, *task)] = (file, out)
            continue
        file, out = running.pop(os.wait()[0])
        if not out.is_file():
            raise RuntimeError(out.with_suffix(".log").read_text())
        is_whole, found[file] = json.loads(out.read_text())
        out.unlink()
        waiting += [] if is_whole else [file]
    n = sum(map(len, found.values()))
    found = {f: {k: v for k, v in tests.items() if v} for f, tests in found.items()}
    out = n - sum(map(len, found.values()))
    how = "in plain Python" if is_plain else "compiled"
    print(f"{out} of {n} tests fail or are slow {how}", flush=True)
    return found


def stages(mutant, passes, is_plain):
    """Tests of the files that reach the line of a mutant most, then those of the others."""
    found = {}
    for file in related(mutant.module, is_plain):
        reached = {t: at.get(mutant.module) for t, (_, at) in passes[file].items()}
        # What runs at an import, or once for several tests, is no single test's.
        if any(reached.values()):
            found[file] = [
                (mutant.line not in (reached[test] or ()), seconds, test)
                for test, (seconds, _) in passes[file].items()
            ]
    files = sorted(found, key=lambda file: -sum(not miss for miss, *_ in found[file]))
    for some in (files[:FIRST_FILES], files[FIRST_FILES:]):
        yield in_time(sorted(test for file in some for test in found[file]))


def in_time(chosen):
    """The first tests, as many as LONGEST allows, and the seconds that they take."""
    total, kept = 0.0, []
    for _, seconds, test in chosen:
        total += seconds
        if total > LONGEST:
            break
        kept.append(test)
    return kept, total


def survives(mutant, source, passes, folder):
    """Whether all tests pass in a copy that has the mutant."""
    is_plain = has_kernels(source)
    path = folder / "skfairfr" / f"{mutant.module}.py"
    path.write_bytes(mutant.applied(source))
    lives = all(
        passed(folder, tests, seconds, is_plain)
        for tests, seconds in stages(mutant, passes[is_plain], is_plain)
        if tests
    )
    path.write_bytes(source)
    return lives


def passed(folder, tests, seconds, is_plain):
    """Whether tests pass in a process of their own."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    limit = round(10 + 3 * seconds)
    task = (tested, folder, files, InOrder(tests), "-x")
    process = forked(folder / "log", is_plain, limit, *task)
    _, status = os.waitpid(process, 0)
    with suppress(ProcessLookupError):  # what the tests started
        os.killpg(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status) in (0, 5)


def run_share(mutants, sources, passes, folder):
    """Write which of some mutants survive, one after the other."""
    for mutant in mutants:
        lives = survives(mutant, sources[mutant.module], passes, folder)
        with open(folder / "outcomes", "a") as file:
            file.write(f"{int(lives)}\n")
    return 0


def outcomes_of(mutants, sources, passes, copies):
    """Whether each mutant survives; every copy has its share of them."""
    shares = {copy: mutants[k :: len(copies)] for k, copy in enumerate(copies)}
    for copy, share in shares.items():
        forked(
            copy / "log-of-all", False, None, run_share, share, sources, passes, copy
        )
    for _ in copies:
        os.wait()
    found = {}
    for copy, share in shares.items():
        lines = (copy / "outcomes").read_text().split() if share else []
        found |= {m: line == "1" for m, line in zip(share, lines, strict=True)}
    return found


def report(outcomes, n_made, sources):
    """Print counts by module, the survivors and the score; exit status.

    Of a sample the score is an estimate, whose interval is printed beside it.
    """
    print(f"\n{'module':<34}{'mutants':>9}{'tried':>10}{'survived':>10}")
    for module, n in n_made.items():
        of_module = [lives for m, lives in outcomes.items() if m.module == module]
        print(f"{module:<34}{n:>9}{len(of_module):>10}{sum(of_module):>10}")
    left = [m for m, lives in outcomes.items() if lives]
    for m in sorted(left, key=lambda m: (m.module, m.line)):
        print(f"skfairfr/{m.module}.py:{m.line}: {m.shown(sources[m.module])}")
    n = len(outcomes)
    killed = n - len(left)
    text = f"{killed} of {n} mutants were killed, {killed / n:.1%}"
    if n < sum(n_made.values()):
        low, high = binomtest(killed, n).proportion_ci(method="wilson")
        text += f" (95% interval {low:.1%} to {high:.1%})"
    print(text)
    return int(killed < LEAST * n)


def main(arguments=None):
    """Exit status: 0 if enough mutants are killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, help="so many at random; all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", nargs="*", default=[""], help="parts of paths")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    sources = sources_of(options.module)
    made = [m for module, source in sources.items() for m in mutants_of(module, source)]
    made = [m for m in made if m.is_valid(sources[m.module])]
    chosen = drawn(made, options.sample or len(made), options.seed)
    preload()
    with tempfile.TemporaryDirectory() as name:
        copies = [Path(name) / str(k) for k in range(options.jobs)]
        copy_to(copies[0])
        passes = {}
        for is_plain in sorted({has_kernels(sources[m.module]) for m in chosen}):
            alike = {m: s for m, s in sources.items() if has_kernels(s) == is_plain}
            passes[is_plain] = first_passes(copies[0], alike, options.jobs, is_plain)
        for copy in copies[1:]:
            shutil.copytree(copies[0], copy)
        outcomes = outcomes_of(chosen, sources, passes, copies)
    return report(outcomes, Counter(m.module for m in made), sources)


if __name__ == "__main__":
    sys.exit(main())
