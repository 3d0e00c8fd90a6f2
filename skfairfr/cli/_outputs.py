"""Output of the commands, printed and written to a folder."""

import os
import sys
import tempfile
from pathlib import Path

from skfairfr import __version__
from skfairfr.cli._inputs import taken_by
from skfairfr.utils._folder import REPORT, Contents, check_replaceable, replaced

ABOUT = ("title", "system", "dataset", "organisation", "tested", "labels_source")

ABOUT += ("sampling",)

# What a bench leaves in its folder.
OF_BENCH = Contents(("bench.json",), ("bench.txt", "bench.svg", "bench.png"))


def about_of(arguments):
    """The description of a test, and the command that was typed."""
    given = vars(arguments)
    described = {name: given[name] for name in ABOUT if given.get(name) is not None}
    return described | {"command": arguments.typed}


def report_on(arguments, data, source, measure=None, **options):
    """Printed text of a report, and exit code."""
    from skfairfr.report import audit_data

    measure = measure or audit_data
    options["about"] = about_of(arguments)
    report_folder(arguments)
    report = measure(
        data,
        progress=not arguments.quiet,
        random_state=arguments.seed,
        **taken_by(measure, vars(arguments)) | options,
    )
    return write_found(arguments, report, source)


def write_found(arguments, found, *source):
    """Printed texts, of which the last follow what is written, and exit code."""
    return _texts_of(arguments, found, source), found.exit_code


def _texts_of(arguments, found, source):
    """The report and, after it is written to --out with its figures, its path."""
    asked = {"full": arguments.full} if "full" in arguments else {}
    yield formatted(found, arguments.format, arguments.date, *source, **asked)
    is_text = arguments.format == "text"
    if arguments.out is None:
        if is_text and not asked.get("full", True):
            yield "\nAll sections: --full; with page, tables and figures: --out DIR\n"
        return
    about = {"version": __version__, "date": arguments.date}
    if getattr(arguments, "csv_dialect", None) is not None:
        about["csv_dialect"] = arguments.csv_dialect
    page, *others = found.save(arguments.out, *source, replace=True, **about)
    if is_text:
        beside = [path.name for path in others]
        beside += ["figures"] * Path(arguments.out, "figures").is_dir()
        yield f"\nPage: {page}\nBeside it: {', '.join(beside)}\n"


def formatted(found, name, date, *source, **asked):
    """The result in one of the formats."""
    if name == "json":
        about = {"source": source[0]} if source else {}
        return found.to_json(version=__version__, **about)
    if name == "html":
        return found.to_html(*source, version=__version__, date=date)
    if name == "card":
        return found.to_card(*source, date=date)
    if name == "junit":
        return found.to_junit()
    return found.to_text(*source, date=date, **asked)


def report_folder(arguments, contents=REPORT):
    """The folder of --out, made and found to be writable, or None if none was given."""
    if arguments.out is None:
        return None
    path = place = Path(arguments.out)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
        place = path / "figures"
        if place.exists():  # a file of that name is somebody else's
            os.listdir(place)
    except (OSError, ValueError) as error:  # ValueError: no name of a file, as "a\0b"
        why = getattr(error, "strerror", None) or error
        raise ValueError(
            f"--out {str(place)!r} cannot be written to ({why}); name a folder that can."
        ) from None
    check_replaceable(path, arguments.replace, contents)
    return path


def write_bench(bench, written, folder):
    """Write texts by name, a figure and the winner to a folder. Lines that name them."""
    from matplotlib.figure import Figure

    from skfairfr.metrics import MitigationsDisplay

    names, winner, lines = list(written), folder / "winner", ""
    with replaced(folder, OF_BENCH) as staged:
        for name, content in written.items():
            (staged / name).write_text(content, encoding="utf-8")
        if bench.methods:
            figure = Figure(figsize=(11, 5), layout="constrained")
            MitigationsDisplay.from_bench(bench, axes=figure.subplots(1, 2))
            for name in ("bench.svg", "bench.png"):
                figure.savefig(staged / name, dpi=120)
                names.append(name)
        if bench.system is not None:
            try:
                deploy = bench.save(staged / "winner")
            except ValueError as error:  # a class of the caller's
                os.rmdir(staged / "winner")
                lines = f"{bench.winner} is not written: {error}.\n"
            else:
                deploy = deploy.replace(repr(str(staged / "winner")), repr(str(winner)))
                lines = f"{bench.winner}, fitted on all people: {winner}\n\n{deploy}"
        elif winner.exists():
            lines = f"{winner} is of an earlier run: nothing won in this one.\n"
    return f"\nWritten: {', '.join(str(folder / n) for n in names)}\n{lines}"


def print_text(text):
    """Print whatever the encoding. A reader that closes the pipe has read enough."""
    if sys.stdout is None:  # closed by the caller
        return
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), end="")
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes again at exit, which would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
