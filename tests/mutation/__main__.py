"""Change the code that measures, one small piece at a time; the daily tests must notice.

    python -m tests.mutation                           every mutant of every module
    python -m tests.mutation --sample 400 --seed 1     400 of them, the modules in proportion
    python -m tests.mutation --module _rates _policy   modules whose path ends like a word

A run that is stopped (Ctrl-C) reports on what it did. At the end all survivors are listed, each with
file:line and the mutation; ``survivors.py`` holds reasons of those that may survive.

Kernels of the mutated module, and all others with it, run as plain Python:
so a mutated kernel runs as mutated. Where a module has no kernel, those of other modules
are compiled. A first pass runs the related tests on the unbroken copy and records which
lines each of them reaches. A mutant then meets the tests that reach its line, and after
them the others of the same files, in a forked process that ends at the first failure. Tests
that fail or take long in plain Python are left out. A mutant survives if all the rest pass.

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
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutants import drawn, mutants_of, wilson
from tests.mutation.related import RELATED, ROOT, related
from tests.mutation.survivors import ACCEPTED

# Imported once, before processes are forked; nothing of the package.
PRELOADED = """
    hypothesis.extra.numpy jinja2 joblib matplotlib.pyplot mpmath narwhals numba pandas
    scipy.optimize scipy.sparse scipy.stats sklearn.linear_model sklearn.metrics
    sklearn.model_selection sklearn.svm torch
"""
# Seconds: of one test in the first pass, by the processor's clock and by that of the wall,
# and of all tests that a mutant meets.
SLOW_TEST, HANGING_TEST, LONGEST = 4.0, 120.0, 40.0
MEMORY = 12 * 2**30
COVERAGE = str(Path(find_spec("coverage").origin).parent)
WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
# Of the mutants that are not equivalent.
LEAST = 0.85


class FirstPass:
    """Record how long each test takes, and the lines of the modules that it reaches.

    A test is ended after its time, and one that cannot be ended takes the process with it.
    """

    def __init__(self, coverage, done, save):
        # A first test may compile a kernel, and is fast from then on.
        is_plain = "NUMBA_DISABLE_JIT" in os.environ
        self.slow = SLOW_TEST if is_plain else HANGING_TEST
        self.coverage, self.seconds, self.passed = coverage, {}, {}
        self.done, self.save = done, save
        signal.signal(signal.SIGPROF, self.end)
        signal.signal(signal.SIGALRM, self.leave)

    def end(self, _, frame):
        while frame is not None:
            # An exception in there would leave its lock behind, and all would wait for it.
            if frame.f_code.co_filename.startswith(COVERAGE):
                signal.setitimer(signal.ITIMER_PROF, 0.01)
                return
            frame = frame.f_back
        pytest.fail("slow")

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
        signal.setitimer(signal.ITIMER_PROF, self.slow)
        signal.setitimer(signal.ITIMER_REAL, HANGING_TEST)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        seconds = time.process_time() - started
        self.seconds[item.nodeid] = min(seconds, SLOW_TEST)
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


def preload():
    """Import what takes long and is never mutated."""
    os.environ |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    for name in PRELOADED.split():
        importlib.import_module(name)
    from hypothesis import Phase, settings

    # No shrinking: that a test fails is enough.
    settings.register_profile(
        "mutation",
        deadline=None,
        max_examples=40,
        database=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),
    )


def tested(folder, files, plugins, options=()):
    """Run tests in this process, which has none of the package yet; pytest's exit status."""
    os.chdir(folder)
    os.environ["PYTHONPATH"] = str(folder)
    sys.path = [str(folder), *(p for p in sys.path if p not in ("", str(ROOT)))]
    for name in list(sys.modules):
        if name.partition(".")[0] in ("tests", "skfairfr"):
            del sys.modules[name]
    quiet = ["-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-profile=mutation"]
    quiet += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return pytest.main([*quiet, *options, *files], plugins=plugins)


def has_kernels(source):
    return b"@njit" in source


def forked(log, is_plain, seconds, function, *arguments):
    """Id of a process that calls a function and exits with what it returns.

    It ends after so many seconds of the processor.
    """
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    status = 70
    try:
        os.setsid()
        streams = os.open(os.devnull, os.O_RDONLY), os.open(log, WRITTEN, 0o600)
        for stream in range(3):
            os.dup2(streams[stream > 0], stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        if is_plain:
            numba = importlib.import_module("numba")
            numba.config.DISABLE_JIT = 1
            os.environ["NUMBA_DISABLE_JIT"] = "1"
        status = int(function(*arguments))
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def first_pass(folder, file, sources, out, done):
    """Add test -> (seconds, lines by module) of a file; None where it does not pass."""
    from coverage import Coverage

    coverage = Coverage(data_file=None, config_file=False, include=[*sources])

    def save(seen, is_whole):
        coverage.stop()
        data = coverage.get_data()
        reached = defaultdict(dict)
        for path, module in sources.items():
            for line, contexts in (data.contexts_by_lineno(path) or {}).items():
                for test in contexts:
                    reached[test].setdefault(module, []).append(line)
        for test, passed in seen.passed.items():
            done[test] = (seen.seconds[test], reached[test]) if passed else None
        out.write_text(json.dumps([is_whole, done]))

    coverage.start()
    seen = FirstPass(coverage, done, save)
    tested(folder, [file], [seen])
    save(seen, True)
    return 0


def first_passes(folder, files, sources, jobs, is_plain):
    """File -> test -> (seconds, lines by module), of those that pass."""
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


def tests_for(mutant, passes):
    """Tests that reach the line of a mutant, and those of the same files; fast ones first."""
    chosen = []
    for file in related(mutant.module):
        reached = {t: at.get(mutant.module) for t, (_, at) in passes[file].items()}
        # What runs at an import, or once for several tests, is no single test's.
        if any(reached.values()):
            for test, (seconds, _) in passes[file].items():
                misses = mutant.line not in (reached[test] or ())
                chosen.append((misses, seconds, test))
    chosen.sort()
    total, kept = 0.0, []
    for _, seconds, test in chosen:
        total += seconds
        if total > LONGEST:
            break
        kept.append(test)
    return kept, total


class Runner:
    """Run mutants in several copies, one process each."""

    def __init__(self, copies, sources, passes):
        self.free, self.sources, self.passes = [*copies], sources, passes
        self.running, self.outcomes = {}, {}

    def start(self, mutant):
        while not self.free:
            self.wait()
        is_plain = has_kernels(self.sources[mutant.module])
        tests, seconds = tests_for(mutant, self.passes[is_plain])
        folder = self.free.pop()
        path = folder / "skfairfr" / f"{mutant.module}.py"
        path.write_bytes(mutant.applied(self.sources[mutant.module]))
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        task = (tested, folder, files, [InOrder(tests)], ("-x",)) if tests else (int, 0)
        limit = round(10 + 3 * seconds)
        process = forked(folder / "log", is_plain, limit, *task)
        self.running[process] = (mutant, folder, path, time.monotonic() + 10 * limit)

    def wait(self):
        """Until a process ends; one that lasts too long is killed, as its mutant is."""
        while True:
            for process, (_, _, _, limit) in self.running.items():
                ended, status = os.waitpid(process, os.WNOHANG)
                late = time.monotonic() > limit
                if not ended and late:
                    os.killpg(process, signal.SIGKILL)
                    os.waitpid(process, 0)
                if ended or late:
                    code = os.waitstatus_to_exitcode(status) if ended else -9
                    return self.end(process, code not in (0, 5))
            time.sleep(0.02)

    def end(self, process, killed):
        mutant, folder, path, _ = self.running.pop(process)
        source = self.sources[mutant.module]
        path.write_bytes(source)
        self.free.append(folder)
        shown = f"{mutant.module}: {mutant.shown(source)}"
        reason = None if killed else EQUIVALENT.get(shown)
        if len(self.outcomes) % 50 == 49:
            print(f"... {len(self.outcomes) + 1} mutants", flush=True)
        survived = "equal" if reason else "survived"
        self.outcomes[mutant] = "killed" if killed else survived
        if not killed:
            print(self.told(mutant), flush=True)

    def told(self, mutant):
        """Where a mutant that lives on is, what it changes, and why it may."""
        shown = f"{mutant.module}: {mutant.shown(self.sources[mutant.module])}"
        path = f"skfairfr/{mutant.module}.py:{mutant.line}"
        text = "survived"
        if shown in EQUIVALENT:
            text = f"equivalent: {EQUIVALENT[shown]}"
        elif shown in ACCEPTED:
            text = f"survived, accepted: {ACCEPTED[shown]}"
        return f"{path}: {shown.partition(': ')[2]}\n    {text}"


def report(outcomes, n_made, is_sample, told=str):
    """Print counts by module, the survivors and the score; exit status.

    The score is compared with LEAST as it stands. Of a sample it is an estimate, whose
    interval is printed beside it.
    """
    kinds = ("killed", "survived", "equal")
    print(
        f"\n{'module':<34}{'mutants':>9}{'killed':>10}{'survived':>10}{'equivalent':>12}"
    )
    for module, n in n_made.items():
        of_module = Counter(o for m, o in outcomes.items() if m.module == module)
        killed, survived, equal = (of_module[kind] for kind in kinds)
        print(f"{module:<34}{n:>9}{killed:>10}{survived:>10}{equal:>12}")
    count = Counter(outcomes.values())
    n = count["killed"] + count["survived"]
    left = sorted(
        (m.module, m.line, told(m)) for m, o in outcomes.items() if o == "survived"
    )
    if left:
        print(f"\n{len(left)} survivors")
        print("\n".join(text for *_, text in left))
    text = f"{count['killed']} of {n} mutants were killed, {count['killed'] / n:.1%}"
    if is_sample:
        text += " (95% interval {:.1%} to {:.1%})".format(*wilson(count["killed"], n))
    print(f"{text}; {count['equal']} more are equivalent")
    return int(count["killed"] < LEAST * n)


def main(arguments=None):
    """Exit status: 0 if enough mutants are killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, help="so many at random; all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", nargs="*", default=[""], help="ends of paths")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    words = tuple(options.module)
    sources = {
        m: (ROOT / f"skfairfr/{m}.py").read_bytes()
        for m in RELATED
        if m.endswith(words)
    }
    made = [m for module, source in sources.items() for m in mutants_of(module, source)]
    chosen = (
        made if options.sample is None else drawn(made, options.sample, options.seed)
    )
    chosen = [m for m in chosen if m.is_valid(sources[m.module])]
    preload()
    with tempfile.TemporaryDirectory() as name:
        copies = [Path(name) / str(k) for k in range(options.jobs)]
        copy_to(copies[0])
        passes = {}
        for is_plain in sorted({has_kernels(source) for source in sources.values()}):
            alike = {m: s for m, s in sources.items() if has_kernels(s) == is_plain}
            files = list(dict.fromkeys(f for module in alike for f in related(module)))
            task = (copies[0], files, alike, options.jobs, is_plain)
            passes[is_plain] = first_passes(*task)
        for copy in copies[1:]:
            shutil.copytree(copies[0], copy)
        runner = Runner(copies, sources, passes)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            # In any order, so that what a stopped run has done is a sample, too.
            for mutant in random.Random(options.seed).sample(chosen, len(chosen)):
                runner.start(mutant)
            while runner.running:
                runner.wait()
        except KeyboardInterrupt:
            print(f"stopped after {len(runner.outcomes)} of {len(chosen)} mutants")
            for process in runner.running:
                os.killpg(process, signal.SIGKILL)
    n_made = Counter(m.module for m in made)
    is_sample = len(runner.outcomes) < len(made)
    return report(runner.outcomes, n_made, is_sample, runner.told)


if __name__ == "__main__":
    sys.exit(main())
