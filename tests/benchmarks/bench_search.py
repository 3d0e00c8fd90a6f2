"""What a search costs: cores kept busy, threads that compete for them, memory of a worker.

A grid of n_values x n_values kappas over 5 folds, with every joblib back end in a process
of its own that another one watches. Printed are the CPU seconds over wall seconds x cores
of the search ("busy") and of everything else on the machine ("others"), the threads of the
search that run or wait for a core (the mean, and the most seen at once), and the largest
private memory of a worker above what it has with nothing to do. A second table has the
memory on a larger X, in multiples of X.

    python -m tests.benchmarks.bench_search [n_values [n_identities [n_features [n_jobs]]]]

Linux only: it reads /proc. Imports are done before the clock starts.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks._command import run_command

PERIOD = 0.005
FOLDS, IMAGES_EACH = 5, 4
TICKS = os.sysconf("SC_CLK_TCK")
CORES = len(os.sched_getaffinity(0))
MIB = 2**20


# ---- the process that is watched --------------------------------------------------------


def run_search(backend, n_values, n_identities, n_features, n_jobs, scoring, epochs):
    """A search; waits for a line at the start and writes one before and after."""
    from joblib import parallel_config
    from sklearn.model_selection import GridSearchCV

    from skfairfr import (
        EthicalModule,
        IdentityKFold,
        face_labels,
        fairness_scores,
        make_face_embeddings,
        make_fairness_scorer,
    )

    far = 1e-2
    bfar, bfrr = (make_fairness_scorer(rate=rate, far=far) for rate in ("far", "frr"))
    scorers = {
        "one": bfar,
        "several": fairness_scores(far),
        "dict": {"bfar": bfar, "bfrr": bfrr},
    }

    def fit(faces, values, n_folds):
        module = EthicalModule(
            groups=("male", "female"), max_epochs=epochs, random_state=0, device="cpu"
        )
        search = GridSearchCV(
            module,
            {"kappa0": values, "kappa1": values},
            scoring=scorers[scoring],
            refit=False,
            cv=IdentityKFold(n_folds),
            error_score="raise",
            n_jobs=n_jobs,
        )
        search.fit(faces.X, face_labels(faces.y, faces.sensitive_features))

    def people(n_identities, n_features):
        return make_face_embeddings(
            n_identities, IMAGES_EACH, n_features, kappa=40.0, random_state=0
        )

    faces = people(n_identities, n_features)
    values = [5.0 + 2.5 * k for k in range(n_values)]
    with parallel_config(backend):
        # Workers start, import everything and load the compiled kernels.
        fit(people(600, 8), [10.0, 20.0], FOLDS)
        time.sleep(1)
        print(f"begins {faces.X.nbytes}", flush=True)
        sys.stdin.readline()
        fit(faces, values, FOLDS)
        print("ends", flush=True)
        sys.stdin.readline()


# ---- the process that watches -----------------------------------------------------------


def tree(pid):
    """A process and all below it."""
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            todo += [int(child) for child in read(children).split()]
    return found


def read(path):
    """Text of a file of /proc; empty where the process has ended."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def threads(pid):
    """Threads that run or wait for a core."""
    states = (
        read(task).rpartition(")")[2]
        for task in Path(f"/proc/{pid}/task").glob("*/stat")
    )
    return sum(state.startswith(" R") for state in states)


def cpu_seconds(pid):
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / TICKS if fields else 0.0


def cpu_seconds_of_all():
    """Seconds that all processes of the machine have run."""
    user, nice, system = read("/proc/stat").split()[1:4]
    return (int(user) + int(nice) + int(system)) / TICKS


def private_bytes(pid):
    """Memory that no other process shares and no file backs."""
    for line in read(f"/proc/{pid}/status").splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    return 0


def watch(*arguments):
    """What a search with these arguments of run_search took.

    Returns
    -------
    wall, cpu, others : float
        Seconds; the last of all other processes.
    runnable : list of int
        Threads that ran or waited, at every look.
    memory : int
        Most private bytes of a process above what it had before.
    size : int
        Bytes of X.
    """
    code = f"from {__spec__.name} import run_search; run_search(*{arguments!r})"
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    size = int(child.stdout.readline().split()[1])
    pids = tree(child.pid)
    before = {pid: private_bytes(pid) for pid in pids}
    spent, of_all = sum(map(cpu_seconds, pids)), cpu_seconds_of_all()
    os.set_blocking(child.stdout.fileno(), False)
    runnable, memory = [], 0
    start = time.perf_counter()
    child.stdin.write("\n")
    child.stdin.flush()
    while not child.stdout.readline() and child.poll() is None:
        runnable.append(sum(map(threads, pids)))
        grown = (private_bytes(pid) - before[pid] for pid in pids)
        memory = max(memory, *grown)
        time.sleep(PERIOD)
    wall = time.perf_counter() - start
    cpu = sum(map(cpu_seconds, pids)) - spent
    others = cpu_seconds_of_all() - of_all - cpu
    child.stdin.close()
    if child.wait():
        raise RuntimeError(f"the search {arguments} ended with an error")
    return wall, cpu, others, runnable, memory, size


def main(n_values=9, n_identities=400, n_features=64, n_jobs=CORES):
    print(
        f"{n_values} x {n_values} kappas x {FOLDS} folds, {n_identities * IMAGES_EACH} "
        f"images of {n_features} features, n_jobs={n_jobs}, {CORES} cores"
    )
    print(
        f"{'':>10} {'wall':>8} {'busy':>6} {'others':>7} {'threads':>8} {'most':>5} {'worker':>9}"
    )
    for backend in ("loky", "threading", "sequential"):
        arguments = (n_values, n_identities, n_features, n_jobs, "one", 3)
        wall, cpu, others, runnable, memory, _ = watch(backend, *arguments)
        print(
            f"{backend:>10} {wall:>6.1f} s {cpu / wall / CORES:>6.0%} "
            f"{others / wall / CORES:>7.0%} "
            f"{sum(runnable) / len(runnable):>8.2f} {max(runnable):>5} "
            f"{memory / MIB:>5.0f} MiB"
        )
    n_identities, n_features = 5_000, 512
    print(
        f"\none candidate x {FOLDS} folds, {n_identities * IMAGES_EACH} images of "
        f"{n_features} features, n_jobs={n_jobs}, one epoch"
    )
    print(f"{'scoring':>10} {'wall':>8} {'worker':>12}")
    for scoring in ("one", "several", "dict"):
        wall, *_, memory, size = watch(
            "loky", 1, n_identities, n_features, n_jobs, scoring, 1
        )
        print(f"{scoring:>10} {wall:>6.1f} s {memory / size:>6.2f} x X")


if __name__ == "__main__":
    run_command(main, __doc__)
