"""Facts of the memory budget: what is free, what a comparison takes, and the refusal."""

import os
import re
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _memory, _pair_sets, _parallel
from skfairfr._core._blocks import FEWEST_RESAMPLES, KEPT_BYTES, RESAMPLES, Blocks
from skfairfr._core._budget import SHARE, VARIABLE
from skfairfr._core._pair_design import CompleteDesign
from skfairfr._core._pair_sets import size_of
from skfairfr.metrics import instance_far
from skfairfr.metrics._roc import _inputs
from skfairfr.report import audit
from tests._core.cases import compare, make_images, make_vectors
from tests._core.test_pair_tiles import all_pairs

ROOT = Path(__file__).resolve().parents[2]
GB = 10**9


# ---- what is free --------------------------------------------------------------------


def machine(root, available=8 * GB, groups="", **files):
    """A root folder in which the kernel tells of its memory."""
    texts = {
        "proc/meminfo": f"MemTotal: 99 kB\nMemAvailable: {available // 1024} kB\n",
        "proc/self/cgroup": groups,
        "proc/self/statm": "1000 500 1 1 0 1 0\n",
        **{name.replace("__", "/"): text for name, text in files.items()},
    }
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
    return root


def group(folder, limit, usage, cached=0, version=2):
    """The files of a control group."""
    names = {
        1: (
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            f"cache 5\ntotal_inactive_file {cached}\n",
        ),
        2: ("memory.max", "memory.current", f"anon 5\ninactive_file {cached}\n"),
    }[version]
    top = "sys/fs/cgroup/" + ("memory/" if version == 1 else "")
    values = (limit, usage, names[2])
    kinds = (names[0], names[1], "memory.stat")
    return {f"{top}{folder}{k}": v for k, v in zip(kinds, values, strict=True)}


def test_the_machine_tells_what_is_available(tmp_path):
    found = _memory.free_bytes(machine(tmp_path))
    assert found == pytest.approx(8 * GB, abs=1024)


@pytest.mark.parametrize("version", [1, 2])
def test_control_groups_limit_what_is_free(tmp_path, version):
    line = "4:cpu,memory:/jobs/one\n" if version == 1 else "0::/jobs/one\n"
    files = group("jobs/one/", 3 * GB, 2 * GB, GB // 2, version)
    root = machine(tmp_path, groups="9:name=systemd:/\n" + line, **files)
    assert _memory.free_bytes(root) == 1.5 * GB


def test_a_group_above_may_be_the_narrower_one(tmp_path):
    files = group("jobs/one/", 9 * GB, 0) | group("jobs/", GB, GB // 4)
    root = machine(tmp_path, groups="0::/jobs/one\n", **files)
    assert _memory.free_bytes(root) == 0.75 * GB


def test_in_a_container_the_group_is_at_the_top(tmp_path):
    root = machine(tmp_path, groups="0::/outside/abc\n", **group("", GB, 0))
    assert _memory.free_bytes(root) == GB


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_without_a_limit_limits_nothing(tmp_path, version):
    no_limit = 2**63 - 4096 if version == 1 else "max"
    line = "4:memory:/one\n" if version == 1 else "0::/one\n"
    files = group("one/", no_limit, GB, 0, version)
    root = machine(tmp_path, groups=line, **files)
    assert _memory.free_bytes(root) == pytest.approx(8 * GB, abs=1024)


def test_a_group_that_is_full_leaves_nothing(tmp_path):
    root = machine(tmp_path, groups="0::/one\n", **group("one/", GB, 2 * GB))
    assert _memory.free_bytes(root) == 0


def test_addresses_may_be_limited(tmp_path, monkeypatch):
    limit = (GB, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limit)
    taken = 1000 * resource.getpagesize()
    assert _memory.free_bytes(machine(tmp_path)) == GB - taken


def test_where_the_kernel_tells_nothing_half_of_the_memory_is_free(
    tmp_path, monkeypatch
):
    values = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(_memory.os, "sysconf", values.get, raising=False)
    assert _memory.free_bytes(tmp_path) == 500 * 4096
    monkeypatch.delattr(_memory.os, "sysconf")
    assert _memory.free_bytes(tmp_path) == np.inf


def test_here_something_is_free():
    assert 0 < _memory.free_bytes() < 2**50
    assert _memory.limit().n_bytes < _memory.free_bytes()


# ---- what a comparison takes ---------------------------------------------------------


@pytest.mark.parametrize("impostors", ["all", "same_group"])
@pytest.mark.parametrize("sides", [1, 2])
def test_pairs_are_counted_as_a_double_loop_does(sides, impostors):
    images = make_images(1, sides=sides, groups="unknown")
    size = size_of(CompleteDesign(images, "identity", impostors), 4)
    pairs = all_pairs(images)
    person, groups = images.identity, images.group
    apart = [(i, j) for i, j in pairs if person[i] != person[j]]
    own = [(groups[i], groups[j]) for i, j in apart if groups[i] == groups[j] >= 0]
    overall = len(apart) if impostors == "all" else len(own)
    assert (size.n_images, size.n_features) == (images.identity.size, 4)
    assert (size.n_pairs, size.n_genuine) == (len(pairs), len(pairs) - len(apart))
    assert size.n_impostors == (overall, *(own.count((g, g)) for g in (0, 1)))
    assert size.average == "identity"


@pytest.mark.parametrize("impostors", ["all", "same_group"])
@pytest.mark.parametrize("whole", [1, 300])
@pytest.mark.parametrize("seed", range(3))
def test_about_as_many_pairs_are_held_as_expected(seed, whole, impostors, monkeypatch):
    monkeypatch.setattr(_pair_sets, "WHOLE", whole)
    monkeypatch.setattr(_pair_sets, "WHOLE_GROUP", whole)
    images = make_images(seed, n_identities=60, most=7, groups="unknown")
    vectors = np.random.default_rng(seed).normal(size=(images.identity.size, 8))
    found = compare(images, vectors.astype(np.float32), impostors=impostors)
    expected = size_of(found.design, 8).n_held(found.far_max)
    assert 0.4 * expected < len(found.compared.held()) < 1.1 * expected
    assert size_of(found.design, 8).n_held(1.0) == size_of(found.design, 8).n_pairs


def small_size(n_jobs=None):
    images = make_images(0, n_identities=3000, most=3)
    return size_of(CompleteDesign(images, "pair", "all"), 4, n_jobs)


def test_processes_take_more_than_threads():
    alone = small_size().n_bytes(1e6)
    with joblib.parallel_config("threading"):
        threads = small_size(8).n_bytes(1e6)
    processes = small_size(8).n_bytes(1e6)
    assert alone < threads < processes


def test_fewer_people_have_fewer_pairs():
    size = small_size()
    half = size.scaled(0.5)
    assert half.n_images == size.n_images // 2
    assert half.n_impostors[0] == size.n_impostors[0] // 4


@pytest.mark.parametrize(
    ("n_bytes", "text"), [(12.4e9, "12 GB"), (3.44e9, "3.4 GB"), (7e5, "0.7 MB")]
)
def test_bytes_are_shown_in_units(n_bytes, text):
    assert _memory.in_units(n_bytes) == text


# ---- the refusal ---------------------------------------------------------------------


@pytest.fixture
def memory(monkeypatch):
    """A function that sets how many bytes are free."""

    def set_free(n_bytes):
        monkeypatch.setattr(_memory, "free_bytes", lambda: n_bytes)

    return set_free


def test_what_is_said_to_fit_does_and_more_does_not(memory):
    size = small_size()
    needed = size.n_bytes(size.n_held(0.5), Blocks.smallest())
    memory(needed / SHARE)
    _memory.check(size, 0.5)
    memory(0.8 * needed / SHARE)
    with pytest.raises(_memory.TooLittleMemoryError) as caught:
        _memory.check(size, 0.5)
    error = caught.value
    assert (error.needed, error.limit.n_bytes) == pytest.approx((needed, 0.8 * needed))
    _memory.check(size, error.far_max)
    _memory.check(size.scaled(error.n_images / size.n_images), 0.5)
    more = size.scaled(1.1 * error.n_images / size.n_images)
    for too_large in ((size, 2.5 * error.far_max), (more, 0.5)):
        with pytest.raises(_memory.TooLittleMemoryError):
            _memory.check(*too_large)


def test_where_nothing_fits_nothing_is_proposed(memory):
    memory(1e6)
    with pytest.raises(_memory.TooLittleMemoryError) as caught:
        _memory.check(small_size(), 0.5)
    assert caught.value.far_max is None and caught.value.n_images is None


FACES = make_face_embeddings(150, 4, 16, random_state=0)


def test_a_fit_is_refused_before_any_work(memory, monkeypatch):
    memory(4.5e7)
    monkeypatch.setattr(_inputs, "unit_rows", None)
    with pytest.raises(ValueError) as caught:
        SimilarityROC(far_max=0.3).fit(FACES.X, FACES.y)
    message = str(caught.value)
    assert message.startswith("far_max=0.3 means to hold")
    assert "may be used, 80 % of what is free" in message
    found = re.fullmatch(
        r"compare at most (\d+) images, or free memory\.", caught.value.remedy
    )
    assert 2 <= int(found[1]) < len(FACES.X)


def test_the_argument_is_called_as_in_the_call(memory):
    memory(4.5e7)
    with pytest.raises(ValueError, match=r"^far=0\.3 means to hold"):
        instance_far(FACES.X, FACES.y, far=0.3)


def test_a_deeper_tail_is_refused_too(memory, monkeypatch):
    monkeypatch.setattr(_pair_sets, "WHOLE", 1)
    monkeypatch.setattr(_pair_sets, "WHOLE_GROUP", 1)
    images = make_images(0, n_identities=150)
    pairs = compare(images, make_vectors(images), far_max=0.01)
    held = pairs.compared.held()
    memory(1e6)
    with pytest.raises(ValueError, match="smaller far or a larger threshold"):
        pairs.deepen(None)
    with pytest.raises(ValueError, match="smaller far or a larger threshold"):
        pairs.deepen(None, -np.inf)
    assert pairs.compared.held() is held


# ---- a budget ------------------------------------------------------------------------


@pytest.fixture
def budget(monkeypatch):
    """A function that sets the user's budget, in bytes, where much is free."""
    monkeypatch.setattr(_memory, "free_bytes", lambda: 1e15)
    return lambda n_bytes: monkeypatch.setenv(VARIABLE, f"{n_bytes:.0f}B")


@pytest.fixture
def threads(monkeypatch):
    """Four of them, whatever the machine."""
    monkeypatch.setattr(_memory, "n_threads", lambda: 4)
    monkeypatch.setattr(_parallel, "n_threads", lambda: 4)


def needs(size):
    """Bytes that a size needs at least, and at most."""
    n_held = size.n_held(0.01)
    return [size.n_bytes(n_held, blocks) for blocks in (Blocks.smallest(), Blocks())]


@pytest.mark.parametrize("n_jobs", [None, 8])
def test_blocks_fit_into_every_budget_that_the_smallest_fit_into(
    budget, threads, n_jobs
):
    size = small_size(n_jobs)
    n_held, (least, most) = size.n_held(0.01), needs(size)
    found = []
    for usable in np.linspace(1.001 * least, 1.001 * most, 40):
        budget(usable)
        blocks = _memory.check(size, 0.01)
        assert size.n_bytes(n_held, blocks) + blocks.kept <= usable * (1 + 1e-9)
        found.append(blocks)
        budget(0.999 * least)
        with pytest.raises(_memory.TooLittleMemoryError):
            _memory.check(size, 0.01)
    assert found[0].workers == 1
    assert found[-1].workers is None
    assert (found[-1].resamples, found[-1].pilots) == (RESAMPLES, None)
    workers = [blocks.workers or 8 for blocks in found]
    assert workers == sorted(workers)
    budget(2 * most + KEPT_BYTES)
    assert _memory.check(size, 0.01) == Blocks()


def test_fewer_resamples_are_drawn_before_fewer_threads_work(budget, threads):
    images = make_images(0, n_identities=100_000, most=3)
    size = size_of(CompleteDesign(images, "pair", "all"), 4)
    budget(needs(size)[1] - 4 * _memory.OF_MULTIPLICITY * 60 * images.identity.size)
    found = _memory.check(size, 0.01)
    assert (found.workers, found.resamples) == (None, RESAMPLES // 2)
    budget(size.n_bytes(size.n_held(0.01), Blocks(resamples=FEWEST_RESAMPLES)) - 1e6)
    assert _memory.check(size, 0.01).workers == 2


def answers_of(data):
    """What a fit and an audit give, equal error rates included, as text and as arrays."""
    options = {"n_resamples": 100, "random_state": 0}
    roc = SimilarityROC(far_max=0.05, **options)
    roc.fit(data.X, data.y, data.sensitive_features)
    held = roc._engine.pairs.compared.held()
    arrays = [held.scores, held.left, held.right]
    arrays += [
        roc.resamples([0.01, 0.05], rate=r, how="difference") for r in ("far", "frr")
    ]
    equal = roc.equal_error_rate()
    arrays.append(np.array([equal.value, equal.low, equal.high]))
    report = audit(
        data.X, data.y, data.sensitive_features, far=[0.01, 0.05], n_resamples=100
    )
    blocks = roc._engine.pairs.images.blocks
    return blocks, arrays, report.to_json()


def test_no_budget_changes_a_bit(budget, threads, monkeypatch):
    # What a small set takes by itself decides, and tails are cut.
    for name in ("OF_SAMPLED", "OF_THREAD"):
        monkeypatch.setattr(_memory, name, 1e6)
    for name in ("WHOLE", "WHOLE_GROUP"):
        monkeypatch.setattr(_pair_sets, name, 1)
    blocks, expected, report = answers_of(FACES)
    assert blocks == Blocks()
    seen = {(None, RESAMPLES)}
    for n_bytes in (3.2e6, 4e6, 4.8e6, 7.2e6):
        budget(n_bytes)
        blocks, found, other = answers_of(FACES)
        seen.add((blocks.workers, blocks.resamples))
        for one, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, wanted)
        assert other == report
    assert {workers for workers, _ in seen} == {None, 2, 1}
    assert {resamples for _, resamples in seen} >= {RESAMPLES, FEWEST_RESAMPLES}


def test_no_more_threads_work_than_blocks_allow(threads, monkeypatch):
    asked = []

    def pool(n, **options):
        asked.append(n)
        return ThreadPoolExecutor(n, **options)

    monkeypatch.setattr(_parallel, "ThreadPoolExecutor", pool)
    for most in (None, 3, 1, 9):
        tasks = [(k, 2) for k in range(6)]
        found = _parallel.over_blocks(divmod, tasks, None, "dividing", most=most)
        assert found == [divmod(*task) for task in tasks]
    assert asked == [4, 3, 4]


def test_no_more_processes_work_than_blocks_allow(monkeypatch):
    asked = []

    def workers(function, tasks, n_jobs, description, shared):
        asked.append(n_jobs)
        return [None] * len(tasks)

    monkeypatch.setattr(_parallel, "in_workers", workers)
    for most in (None, 3, 9):
        _parallel.over_blocks(divmod, [(1, 1), (2, 1)], 5, "dividing", most=most)
    assert asked == [5, 3, 5]
    assert _parallel.over_blocks(divmod, [(1, 1), (2, 1)], 5, "", most=1) == [
        (1, 0),
        (2, 0),
    ]


def test_a_refusal_names_the_budget(budget, monkeypatch):
    budget(3e7)
    with pytest.raises(ValueError) as caught:
        SimilarityROC(far_max=0.3).fit(FACES.X, FACES.y)
    assert "30 MB may be used, the budget SKFAIRFR_MEMORY=30000000B:" in str(
        caught.value
    )
    assert caught.value.remedy.endswith("raise that budget.")


def test_an_amount_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(ValueError, match=f"{VARIABLE} must be .* 4GB, .*; got much"):
        SimilarityROC().fit(FACES.X, FACES.y)


# What a fit and its questions take, where their numbers are put in.
ANSWER = """
import re, resource, sys, warnings
from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _memory

warnings.simplefilter("ignore")

def answer(data, far_max, n=None, average="pair"):
    roc = SimilarityROC(
        far_max=far_max, average=average, n_resamples=300, random_state=0
    )
    roc.fit(data.X[:n], data.y[:n], data.sensitive_features[:n])
    roc.estimate([far_max / 10, far_max], rate="far", how="max_min")
    roc.estimate(far_max, how="gini", operating_point="worst_group")
    roc.equal_error_rate()
    roc.far_matrix(far_max)
    return roc._engine.pairs

for average in ("pair", "identity"):  # compiles
    answer(make_face_embeddings(100, 4, 16, random_state=0), 1e-2, None, average)
n_images, n_features, far_max, average, n_free, which = sys.argv[1:]
n_images, n_features, which = map(int, (n_images, n_features, which))
far_max, n_free = map(float, (far_max, n_free))
data = make_face_embeddings(n_images // 4, 4, n_features, random_state=0)
"""

MEASURED = """
estimates, check = [], _memory.check

def recorded(size, far_max):
    estimates.append(size.n_bytes(size.n_held(far_max)))
    check(size, far_max)

_memory.check = recorded

def largest():
    # A process inherits ru_maxrss from the one that starts it.
    with open("/proc/self/status") as status:
        return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status.read())[1])

before = largest()
answer(data, far_max, None, average)
print(largest() - before, *estimates)
"""

LIMITED = """
with open("/proc/self/statm") as statm:
    taken = int(statm.read().split()[0]) * resource.getpagesize()
limit = taken + int(n_free)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    print("held", len(answer(data, far_max).compared.held()))
except ValueError as error:
    print(error)
    smaller = re.search(r"give far_max=(\\S+) or less", str(error))
    fewer = re.search(r"compare at most ([\\d,]+) images", str(error))
    fitting = (float(smaller[1]), None) if which else (far_max, int(fewer[1].replace(",", "")))
    print("held", len(answer(data, *fitting).compared.held()))
"""


# The command, first where nothing is compiled any more, then with few addresses left.
COMMAND = """
import os, resource, sys, warnings
from skfairfr import cli
from skfairfr._core._budget import VARIABLE

warnings.simplefilter("ignore")
small, large, budget, n_free = sys.argv[1:]
options = ["--attribute", "gender", "--far", "1e-2", "--n-resamples", "100"]
cli.main(["audit", small, *options])
with open("/proc/self/statm") as statm:
    taken = int(statm.read().split()[0]) * resource.getpagesize()
limit = taken + int(float(n_free))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
code = cli.main(["audit", large, *options, "--format", "json", "--memory", budget])
assert VARIABLE not in os.environ
print("\\nended with", code)
"""


def run_in_a_process(code, *arguments, budget=""):
    command = [sys.executable, "-c", ANSWER + code, *map(str, arguments)]
    env = os.environ | {VARIABLE: budget}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small file of embeddings, and one of 6,000 images."""
    folder = tmp_path_factory.mktemp("memory")
    for n_people in (60, 1500):
        data = make_face_embeddings(n_people, 4, 16, random_state=0)
        columns = {"identity": data.y, "gender": data.sensitive_features}
        np.savez(folder / f"{n_people}.npz", embedding=data.X, **columns)
    return [folder / "60.npz", folder / "1500.npz"]


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and limits")


@LINUX
@pytest.mark.parametrize(
    ("n_free", "which"),
    [
        pytest.param(8e8, 1, marks=pytest.mark.slow),
        pytest.param(8e8, 0, marks=pytest.mark.slow),
        pytest.param(5e8, 0, marks=pytest.mark.slow),
        pytest.param(3e9, 0, marks=pytest.mark.slow),
    ],
)
def test_under_a_limit_a_fit_is_refused_or_ends(n_free, which):
    *refusal, held = run_in_a_process(LIMITED, 8000, 16, 0.2, "pair", n_free, which)
    assert held.startswith("held")
    assert bool(refusal) == (n_free < 2e9)


@LINUX
@pytest.mark.parametrize(
    ("budget", "n_free", "ends"),
    [
        pytest.param("100GB", 6e8, True, marks=pytest.mark.slow),
        pytest.param("450MB", 4e9, True, marks=pytest.mark.slow),
        pytest.param("40MB", 2e9, False, marks=pytest.mark.slow),
        pytest.param("100%", 1e8, False, marks=pytest.mark.slow),
        pytest.param("25%", 2e9, True, marks=pytest.mark.slow),
        pytest.param("380MB", 4.8e8, None, marks=pytest.mark.slow),
    ],
)
def test_under_a_limit_an_audit_ends_or_is_refused(files, budget, n_free, ends):
    command = [sys.executable, "-c", COMMAND, *map(str, (*files, budget, n_free))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    code = int(done.stdout.splitlines()[-1].removeprefix("ended with "))
    assert code in (0, 2)
    if code == 2:  # and not "out of memory"
        assert re.search(r"--far 0\.01 means to hold .* may be used", done.stderr)
    if ends is not None:
        assert (code == 0) == ends


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_images", "n_features", "far_max", "average"),
    [
        (20_000, 64, 1e-2, "pair"),
        (20_000, 64, 1e-2, "identity"),
        (20_000, 512, 1e-3, "pair"),
        (20_000, 1536, 1e-3, "pair"),  # imports torch where there are units for it
        (30_000, 16, 5e-2, "identity"),
        (60_000, 16, 1e-3, "pair"),
    ],
)
def test_no_more_is_taken_than_estimated(n_images, n_features, far_max, average):
    arguments = (n_images, n_features, far_max, average, 0, 0)
    taken, estimate = run_in_a_process(MEASURED, *arguments)[0].split()
    assert float(taken) < float(estimate) < 2.5 * float(taken)


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("average", ["pair", "identity"])
def test_no_more_is_taken_than_a_budget_allows(average):
    arguments = (60_000, 16, 1e-3, average, 0, 0)
    usual = float(run_in_a_process(MEASURED, *arguments)[0].split()[1])
    budget = {"pair": 560e6, "identity": 680e6}[average]
    assert budget < usual  # all blocks at their largest would need more
    found = run_in_a_process(MEASURED, *arguments, budget=f"{budget:.0f}B")
    assert float(found[0].split()[0]) < budget
