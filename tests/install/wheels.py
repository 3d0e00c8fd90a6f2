"""The wheel in fresh environments, used from a folder that holds no checkout.

    python -m tests.install.wheels [ENVIRONMENT...]

Builds sdist and wheel, checks both, and installs the wheel by itself, with the extra
``mitigate``, with the lowest and with the newest versions of what it declares, and by itself on
Python 3.12 and 3.13. Prints a table. Environments stay in ``.venv-NAME``.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Other wheels of torch bring gigabytes of libraries for a card.
PINNED_TORCH = "torch==2.13.0"
# Python, extra, what constrains the versions.
ENVIRONMENTS = {
    "light": ("python3", "", "constraints"),
    "mitigate": ("python3", "[mitigate]", "constraints"),
    "lowest": ("python3", "[mitigate]", "lowest"),
    "newest": ("python3", "[mitigate]", None),
    "light-3.12": ("python3.12", "", "constraints"),
    "light-3.13": ("python3.13", "", "constraints"),
}
MEGABYTE = 1e6
LARGEST_LIGHT = 620
LONGEST_IMPORT = 0.1

IMPORT_TIME = """
import time, numpy
start = time.process_time()
import skfairfr
print(time.process_time() - start, skfairfr.__file__)
"""

PAIRS = """
import csv
from skfairfr import make_face_embeddings
from skfairfr.metrics import all_pairs
faces = make_face_embeddings(n_identities=120, random_state=0)
y_true, score, group = all_pairs(
    faces.X, faces.y, sensitive_features=faces.sensitive_features
)
rows, columns = __import__("numpy").triu_indices(len(faces.y), 1)
with open("pairs.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["score", "identity_1", "identity_2", "gender_1", "gender_2"])
    table.writerows(zip(score, faces.y[rows], faces.y[columns], *group.T))
"""

# Each some seconds: arithmetic of pairs, both kinds of files, scikit-learn, the records.
SMOKE = [
    "tests/test_imports.py",
    "tests/metrics/_pairs/test_rates.py",
    "tests/metrics/_pairs/test_disparities.py",
    "tests/datasets/test_embeddings.py",
    "tests/datasets/test_scored_pairs.py",
    "tests/model_selection/test_splits.py",
    "tests/report/test_checks.py",
]
SMOKE_OF_TRAINING = [
    "tests/losses/test_softmax.py",
    "tests/projectors/test_persistence.py",
]


def run(*command, cwd, timeout=1800):
    """What a command prints; shows it and raises where the command fails."""
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if done.returncode:
        print(*command, done.stdout[-4000:], done.stderr[-4000:], sep="\n")
        raise subprocess.CalledProcessError(done.returncode, command)
    return done.stdout


def build(folder):
    """The wheel, made from the sdist, after ``twine check --strict``; a Python with mypy."""
    run(sys.executable, "-m", "venv", folder / "tools", cwd=folder)
    python = folder / "tools" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "build", "twine", "mypy", cwd=folder)
    run(python, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
    made = sorted((folder / "dist").iterdir())
    run(python, "-m", "twine", "check", "--strict", *made, cwd=folder)
    print(*(f"{path.name} {path.stat().st_size / 1e3:.0f} kB" for path in made))
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel, python


def outside(folder):
    """A folder with the tests and README, and without the package."""
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=left_out)
    for name in ("pyproject.toml", "README.md", "CITATION.cff"):
        shutil.copy(ROOT / name, folder)
    return folder


def megabytes(folder):
    """Of all files of an environment's libraries, as ``du --apparent-size`` counts."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) / MEGABYTE


def declared():
    """Names of the libraries that every install, and the extra ``mitigate``, need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["mitigate"]
    return [re.match(r"[\w-]+", name)[0] for name in wanted]


def use(name, wheel, checker, away):
    """Install the wheel and use it; the lines of the table."""
    python_name, extra, constraint = ENVIRONMENTS[name]
    environment = ROOT / f".venv-{name}"
    shutil.rmtree(environment, ignore_errors=True)
    run(shutil.which(python_name), "-m", "venv", environment, cwd=ROOT)
    python = environment / "bin" / "python"
    pins = away / f"{name}.txt"
    pins.write_text(PINNED_TORCH + "\n")
    if constraint:
        shutil.copy(ROOT / ".ci" / f"{constraint}.txt", pins)
    pip = (python, "-m", "pip", "install", "-q", "-c", pins)
    took = {}

    def step(what, *command):
        start = time.perf_counter()
        printed = run(*command, cwd=away)
        took[what] = time.perf_counter() - start
        return printed

    step("install", *pip, f"{wheel}{extra}")
    (packages,) = environment.glob("lib/python*/site-packages")
    size = megabytes(packages)
    assert extra or size <= LARGEST_LIGHT, f"{name}: {size:.0f} MB"
    imports = [step("import", python, "-c", IMPORT_TIME).split() for _ in range(5)]
    quickest = min(float(seconds) for seconds, _ in imports)
    assert quickest < LONGEST_IMPORT, (
        f"{name}: import takes {quickest:.3f} s over numpy"
    )
    assert Path(imports[0][1]).is_relative_to(packages), imports[0][1]
    step("demo", environment / "bin" / "skfairfr", "demo", "--quiet")
    step("pairs", python, "-c", PAIRS)
    audit = ("audit", "pairs.csv", "--attribute", "gender", "--fmr", "1e-2", "--quiet")
    step("audit", environment / "bin" / "skfairfr", *audit)

    if name == "light":  # types are the same in all
        mypy = (checker, "-m", "mypy", "--warn-unused-ignores")
        program = "tests/install/consumer.py"
        step("types", *mypy, "--python-executable", python, program)

    step("test extra", *pip, "--no-compile", f"{wheel}[test]")
    pytest = (python, "-m", "pytest", "-q", "-W", "ignore::DeprecationWarning")
    step("README", *pytest, "-m", "docs", "tests/test_readme.py")
    files = SMOKE + (SMOKE_OF_TRAINING if extra else [])
    last = step("tests", *pytest, *files).strip().split("\n")[-1]

    found = "import sys, importlib.metadata as m; print(sys.version.split()[0])\n"
    found += f"for name in {declared()}:\n try: print(name, m.version(name))\n"
    found += " except m.PackageNotFoundError: pass"
    version, *libraries = run(python, "-c", found, cwd=away).strip().split("\n")
    seconds = ", ".join(f"{what} {value:.0f} s" for what, value in took.items())
    return [
        f"{name:<11} Python {version:<7} {size:6.0f} MB {quickest:7.4f} s  passed",
        textwrap.indent(textwrap.fill(", ".join(libraries), 84), "    "),
        textwrap.indent(textwrap.fill(seconds, 84), "    "),
        f"    {last.strip('= ')}",
    ]


def main(names):
    """Print the table; the exit status is the number of environments that failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "away").mkdir()
        away = outside(folder / "away")
        wheel, checker = build(folder)
        print("environment Python             size  import  result", flush=True)
        for name in names or ENVIRONMENTS:
            try:
                print(*use(name, wheel, checker, away), sep="\n", flush=True)
            except (subprocess.CalledProcessError, AssertionError, OSError) as error:
                failed += 1
                print(f"{name:<11} FAILED: {error}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
