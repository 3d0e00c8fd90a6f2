"""Input and output of the commands: files, options for one system or for each, errors as flags."""

import os
import re
import sys
import tempfile
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path

from skfairfr import __version__
from skfairfr.utils._folder import REPORT, Contents, check_replaceable, replaced

# What the command calls an argument of Python whose flag has another name, or that has none.
FLAGS = {
    **{"X": "embedding", "y": "identity", "path": "file", "random_state": "--seed"},
    **{"folder": "--out"},
    "log": "log",
    **dict.fromkeys(("attributes", "columns", "sensitive_features"), "--attribute"),
    **{"sensitive_features_1": "--attribute", "y_score": "--score"},
    **{"before": "BEFORE", "after": "AFTER", "others": "--other"},
    **dict.fromkeys(("galleries", "y_gallery"), "--gallery"),
    **{"far": "--fmr", "frr": "--fnmr", "far_max": "--fmr"},
    **{
        "n_groups": "--groups",
        "n_splits": "--splits",
        "metrics": "--metric",
        "curves": "--curve",
        "covariates": "--covariate",
        "explain_by": "--covariate",
    },
    "interactions": "--interaction",
    **{"names": "--search", "scores": "--candidates"},
}


def in_flags(error, **flags):
    """The message of an error, which begins with the flag of the argument that it is about."""
    from skfairfr._text._words import outside_quotes

    name, message = getattr(error, "argument", None), str(error)
    if name is None:
        return message
    if name == "methods" and not isinstance(error.value, str):
        name, message = "method", message.removeprefix(name)  # one of the caller's
    of_arguments = r"(?<![\w/.-])(identity_[12]|image_[12]|y_true)(?!\.?[\w/=])"
    named = partial(re.sub, of_arguments, lambda found: flag_of(found[0]))
    return flag_of(name, flags) + outside_quotes(message.removeprefix(name), named)


def flag_of(name, flags=()):
    """Flag of the command for an argument of Python."""
    return (FLAGS | dict(flags)).get(name, "--" + name.replace("_", "-"))


def one_line(error):
    from skfairfr._text._words import outside_quotes

    return outside_quotes(error, partial(re.sub, r"\s+", " ")).strip()


# ---- input ---------------------------------------------------------------------------


# Flags of which several values, with commas, are several systems of one file.
OF_ONE_FILE = ("score", "embedding")

# Flags of searches, those of them about lists, and those of comparisons alone.
OF_LISTS = ("search", "candidate", "listed_from")

OF_SEARCHES = (
    *("gallery", "gallery_labels", "candidates", *OF_LISTS),
    *("rank", "fpir", "max_fpir", "max_fnir"),
)

OF_COMPARISONS = (
    *("far", "average", "impostors", "domain", "max_fmr", "max_fnmr"),
    *("trials", "probes", "enrolment", "p_target", "llr"),
)


def split_values(name, given):
    """The values of a flag, some of which have commas between."""
    values = [value for text in given for value in text.split(",")]
    if any("," in text for text in given) and len({*values, ""}) <= len(values):
        raise ValueError(
            f"{flag_of(name)}: {','.join(given)!r} names one twice, or nothing."
        )
    return values


def read_searches(path, attributes, given):
    """Data of those who search, and of who is enrolled, from embeddings or candidates."""
    from skfairfr.report import read_candidates, read_data
    from skfairfr.utils._errors import LackingError

    given = given | {"template": None}  # of the gallery
    if given["candidates"] is not None:
        own = taken_by(read_candidates, given)
        of_embeddings = taken_by(read_data, given | {"failures": None, "control": None})
        for name in (*of_embeddings, "gallery_labels"):
            if given[name] and name not in own:
                raise ValueError(f"{flag_of(name)} is about embeddings. Leave it out.")
        controls = given.get("control") or []
        more = [name for name in controls if name not in attributes]
        data, gallery = read_candidates(path, [*attributes, *more], **own)
        covariates = {name: data.columns[name] for name in controls}
        columns = {n: c for n, c in data.columns.items() if n not in more}
        data = replace(data, columns=columns, covariates=covariates)
        given["read_as"].update(data.reading.read_as)
        return data, gallery
    for name in (*OF_LISTS, "score", "distance"):
        if given[name]:
            raise ValueError(f"{flag_of(name)} is about --candidates. Use both.")
    try:
        data = read(path, attributes, given)
        return data, read_gallery(given["gallery"], data.reading.bands, given)
    except LackingError as error:
        if path.endswith((".npz", ".npy")):
            raise
        hint = "Candidate lists go to --candidates, with a table of the searches as PROBES."
        raise ValueError(f"{error} {hint}") from None


def read_gallery(path, attributes, given):
    """Embeddings of who is enrolled, whose groups may not be known."""
    from skfairfr.utils._errors import LackingError

    own = given | {"labels": given["gallery_labels"], "control": None}
    for wanted in (attributes, ()):
        try:
            return read(path, wanted, own)
        except ValueError as error:
            lacking = isinstance(error, LackingError) and error.argument == "attributes"
            if not (wanted and lacking):
                flags = {"path": "--gallery", "labels": "--gallery-labels"}
                raise ValueError(in_flags(error, **flags)) from None


def read(path, attributes, given):
    """Data from files. The layouts of lists without names are kept to be printed."""
    from skfairfr.report import read_data

    try:
        data = read_data(path, attributes, **taken_by(read_data, given))
    except ValueError as error:
        is_log = given.get("accepted") or given.get("species")
        if not is_log or getattr(error, "argument", None) != "identity":
            raise
        nobody = " If nobody is known, give --no-people." * ("no_people" in given)
        raise ValueError(f"{in_flags(error)}{nobody}") from None
    given.setdefault("read_as", {}).update(data.reading.read_as)
    return data


def with_covariates(given):
    """What was given, with the columns of all covariates in ``control``, which are read."""
    names = ("control", "explain_by", "curve")
    columns = [one for name in names for one in given.get(name) or ()]
    return given | {"control": [*dict.fromkeys(columns)] or None}


def taken_by(function, given):
    """Given options that a function takes by keyword, by their names."""
    taken = signature(function).parameters.values()
    names = [option.name for option in taken if option.kind is option.KEYWORD_ONLY]
    return {name: given[name] for name in names if given.get(name) is not None}


def limits_of(given):
    """The limits that were given, or None without any."""
    limits = {n: v for n, v in given.items() if n[:4] == "max_" and v is not None}
    return limits or None


def attributes_of(arguments, needed=True):
    """Names of the columns to audit by, from the flags or from the policy, which is read."""
    if arguments.policy is not None:
        from skfairfr.report import Policy

        arguments.policy = Policy.read(arguments.policy)
    flags, policy = arguments.attribute, arguments.policy
    flags = [flags] if isinstance(flags, str) else flags
    of_policy = () if policy is None else policy.attributes
    if flags and of_policy:
        raise ValueError(
            f"--attribute was given, and the policy {policy.name!r} sets attributes "
            f"({', '.join(of_policy)}). Leave one out."
        )
    if needed and not flags and not of_policy:
        raise ValueError(
            "the following arguments are required: --attribute. Name a column of the groups."
        )
    return flags or list(of_policy)


def systems_of(given):
    """Options of each system: flags that describe one, once for all or for each."""
    shared = ("attribute", "far", "fpir", "more", "p_target")
    each = {n: v for n, v in given.items() if isinstance(v, list) and n not in shared}
    each |= {
        name: split_values(name, each[name]) for name in OF_ONE_FILE if name in each
    }
    each["path"] = [given["before"], *given["more"]]
    n_systems = len(each["path"])
    if n_systems == 1 and (n_systems := max(map(len, each.values()))) == 1:
        raise ValueError(
            "AFTER is missing. Name the file of another system, or columns of two systems in "
            "BEFORE, as --score A,B."
        )
    for name, values in each.items():
        if len(values) not in (1, n_systems):
            shown = ", ".join(repr(str(value)) for value in values)
            raise ValueError(
                f"{flag_of(name)} was given {len(values)} times ({shown}), and there are "
                f"{n_systems} systems. Use it once for all, or once for each in their order."
            )
    return [
        given | {name: (n_systems * values)[place] for name, values in each.items()}
        for place in range(n_systems)
    ]


def check_one_kind(given):
    """Whether searches are asked for. Raise if flags of comparisons and of searches meet."""
    searched = [name for name in OF_SEARCHES if given.get(name) is not None]
    if searched and given["gallery"] is None:
        lone = flag_of(searched[0])
        raise ValueError(f"{lone} is about searches. Use --gallery too.")
    for name in OF_COMPARISONS:
        if searched and given.get(name) not in (None, False):
            raise ValueError(
                f"{flag_of(name)} is about comparisons, and --gallery is about searches. "
                f"{'Use --fpir' if name == 'far' else 'Leave it out'}."
            )
    return bool(searched)


# ---- output --------------------------------------------------------------------------


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
            yield "\nAll sections: --full. A page and files: --out DIR.\n"
        return
    about = {"version": __version__, "date": arguments.date}
    if getattr(arguments, "csv_dialect", None) is not None:
        about["csv_dialect"] = arguments.csv_dialect
    page, *others = found.save(arguments.out, *source, replace=True, **about)
    if is_text:
        files = [path.name for path in others]
        files += ["figures"] * Path(arguments.out, "figures").is_dir()
        yield f"\nPage: {page}\nOther files: {', '.join(files)}\n"


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
            f"--out {str(place)!r} cannot be written to ({why}). Name another folder."
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
