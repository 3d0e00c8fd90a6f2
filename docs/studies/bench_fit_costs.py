"""What a default fit and README's search cost, by images, people and features.

    python -m docs.studies.bench_fit_costs [most_images]

One table: CPU seconds and peak extra memory of one EthicalModule, and CPU seconds of a
search as README's: 4 candidates x 3 folds, each a fit on two thirds of the people and a
comparison of the others, then one fit on everyone. A second table has the other
projectors, other sizes of a batch and half of the people as multiples of the default
EthicalModule in the same run. Four epochs are run, or two of
50,000 images, and those after the first stand for all up to the default of 20. Each line is
a process of its own with one thread, so that CPU seconds are those of one core. A third table
has those of whole searches in one process and with two workers. Linux only: it reads /proc.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from docs.studies._command import run_command

IMAGES, PEOPLE, FEATURES = (2_000, 10_000, 50_000), (500, 2_000, 10_000), (128, 512)
CANDIDATES, FOLDS = 4, 3
SIZES = 10_000, 2_000, 512
OTHERS = {
    "FPRPenaltyProjector": ("FPRPenaltyProjector", *SIZES),
    "LossProjector": ("LossProjector", *SIZES),
    "TripletProjector": ("TripletProjector", *SIZES),
    "AdversarialProjector": ("AdversarialProjector", *SIZES),
    "CentroidFairnessProjector": ("CentroidFairnessProjector", *SIZES),
    "batch_size=256": ("EthicalModule", *SIZES, False, {"batch_size": 256}),
    "batch_size=4096": ("EthicalModule", *SIZES, False, {"batch_size": 4096}),
    "half of the people": ("EthicalModule", 5_000, 1_000, 512),
}
SMALL = (1_000, 250, 64), (2_000, 500, 128), (4_000, 1_000, 128)
MIB = 2**20


# ---- the process that is measured -----------------------------------------------------


def draw(n_images, n_people, n_features):
    """Rows about one direction a person, and labels; images of a person are apart."""
    import numpy as np

    from skfairfr import face_labels

    rng = np.random.default_rng(0)
    y = np.arange(n_images) % n_people
    X = rng.standard_normal((n_people, n_features), dtype=np.float32)[y]
    X += rng.standard_normal(X.shape, dtype=np.float32)
    return X, face_labels(y, np.where(y % 2, "female", "male"))


def memory(name):
    """Bytes of this process, by a name in /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(x for x in lines if x.startswith(f"{name}:")).split()[1])


def fit(name, X, labels, **options):
    """A short fit, the CPU seconds of one of all epochs, and the peak of its memory."""
    from skorch.callbacks import Callback

    import skfairfr.projectors

    class Clock(Callback):
        ends = ()

        def on_epoch_end(self, net, **kwargs):
            self.ends = (*self.ends, time.process_time())

    projector = getattr(skfairfr.projectors, name)(
        random_state=0, device="cpu", **options
    )
    default, run, clock = projector.max_epochs, 4 if len(X) <= 10_000 else 2, Clock()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, start = memory("VmRSS"), time.process_time()
    projector.set_params(max_epochs=run, callbacks=[clock]).fit(X, labels)
    seconds = time.process_time() - start
    seconds += (default - run) * (clock.ends[-1] - clock.ends[0]) / (run - 1)
    return projector, seconds, memory("VmHWM") - before


def measure(name, n_images, n_people, n_features, search=False, options=()):
    """Print CPU seconds of a fit, bytes, and CPU seconds of a search."""
    import warnings

    from skfairfr import IdentityKFold, fairness_scores

    warnings.simplefilter("ignore")
    X, labels = draw(2_000, 500, 16)  # imports everything, and compiles kernels
    projector, *_ = fit(name, X, labels)
    fairness_scores(far=1e-3)(projector, X, labels)
    X, labels = draw(n_images, n_people, n_features)
    _, seconds, peak = fit(name, X, labels, **dict(options))
    of_search = 0.0
    if search:
        rows, rest = next(IdentityKFold(FOLDS).split(X, labels))
        projector, of_fold, _ = fit(name, X[rows], labels[rows])
        start = time.process_time()
        fairness_scores(far=1e-3)(projector, X[rest], labels[rest])
        of_fold += time.process_time() - start
        of_search = CANDIDATES * FOLDS * of_fold + seconds
    print(seconds, peak, of_search)


def search(n_jobs, *sizes):
    """Print CPU seconds of a search, with those of its workers from their start."""
    import resource

    from joblib.externals.loky import get_reusable_executor
    from sklearn.model_selection import GridSearchCV

    from skfairfr import EthicalModule, IdentityKFold, bfar_scorer

    X, labels = draw(*sizes)
    searching = GridSearchCV(
        EthicalModule(random_state=0),
        {"kappa0": [15.0, 20.0], "kappa1": [15.0, 20.0]},
        scoring=bfar_scorer,
        cv=IdentityKFold(FOLDS),
        n_jobs=n_jobs,
        error_score="raise",
    )
    start = time.process_time()
    searching.fit(X, labels)
    if n_jobs is not None:
        get_reusable_executor().shutdown(wait=True)
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(time.process_time() - start + workers.ru_utime + workers.ru_stime)


# ---- the process that prints ----------------------------------------------------------


def in_process(*arguments, function="measure"):
    """What ``measure``, or another function, prints in a process with one thread."""
    code = f"from {__spec__.name} import {function}; {function}(*{arguments!r})"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return map(float, done.stdout.split())


def jobs():
    """Print what workers change in small searches."""
    print(
        "\nSuch a search, run whole: seconds of one core in one process, with two workers in all,"
        "\nand what the start of a worker adds\n"
    )
    columns = (f"{c:>12}" for c in ("n_jobs=None", "n_jobs=2", "a worker"))
    print(f"{'images':>7} {'people':>7} {'features':>9}", *columns)
    for sizes in SMALL:
        alone, shared = (
            next(in_process(n, *sizes, function="search")) for n in (None, 2)
        )
        cells = (f"{s:>10.1f} s" for s in (alone, shared, (shared - alone) / 2))
        print("{:>7,} {:>7,} {:>9}".format(*sizes), *cells, flush=True)


def main(most_images=50_000):
    print(
        "Seconds of one core: two to four epochs were run, and stand for all up to 20.\n"
        f"The search has {CANDIDATES} candidates x {FOLDS} folds: {CANDIDATES * FOLDS} fits on "
        "2/3 of the people, each\nscored on the others, and one fit on everyone. Memory is that "
        "of one fit beside X,\nand 'fits' is the search over one fit.\n"
    )
    print(f"{'images':>7} {'people':>7} {'features':>9} {'one fit':>10}", end="")
    print(f" {'memory':>9} {'search':>10} {'fits':>6}")
    for n_images in IMAGES:
        for n_people in PEOPLE:
            for n_features in FEATURES:
                if n_people > n_images / 2 or n_images > most_images:
                    continue
                sizes = n_images, n_people, n_features
                one, peak, all_fits = in_process("EthicalModule", *sizes, True)
                print(
                    f"{n_images:>7,} {n_people:>7,} {n_features:>9} {one:>8.1f} s "
                    f"{peak / MIB:>5.0f} MiB {all_fits:>8.0f} s {all_fits / one:>6.1f}",
                    flush=True,
                )
    one, peak, _ = in_process("EthicalModule", *SIZES)
    print(
        "\nThe defaults of the other projectors, and EthicalModule with another option or half\n"
        "of the people with their images: 10,000 images of 2,000 people, 512 features,\n"
        f"over the default EthicalModule ({one:.1f} s, {peak / MIB:.0f} MiB)\n"
    )
    print(f"{'':>26} {'seconds':>8} {'memory':>7}")
    for name, arguments in OTHERS.items():
        seconds, bytes_, _ = in_process(*arguments)
        print(f"{name:>26} {seconds / one:>8.2f} {bytes_ / peak:>7.2f}", flush=True)
    jobs()


if __name__ == "__main__":
    run_command(main, __doc__)
