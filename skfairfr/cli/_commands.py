"""The commands: each reads its data, calls a public function and writes what it finds."""

import argparse
import json
import os
import pkgutil
import sys
import warnings
from dataclasses import replace
from itertools import chain

from skfairfr import __version__
from skfairfr.cli._inputs import (
    OF_BENCH,
    OF_ONE_FILE,
    about_of,
    attributes_of,
    check_one_kind,
    flag_of,
    in_flags,
    limits_of,
    read,
    read_searches,
    report_folder,
    report_on,
    split_values,
    systems_of,
    taken_by,
    with_covariates,
    write_bench,
    write_found,
)
from skfairfr.cli._parser import ALL_PAIRS

DEMO_IDENTITIES, DEMO_LIMITS = 500, {"max_fmr_ratio": 2.0}

DEMO_ENDING = """\
These were synthetic embeddings, whose groups differ on purpose. For your own, write arrays with
a row for each image, in Python, and run the audit, which exits with 1 if a limit is exceeded:

  numpy.savez("faces.npz", embedding=X, identity=people, gender=gender)
  skfairfr audit faces.npz --attribute gender --max-fmr-ratio 2 --out audit-out
"""

# Limits of ratios that plan_test takes.
RATIOS = ("max_fmr_ratio", "max_fnmr_ratio")

# Rates as the command and as Python call them.
PYTHON = {"fmr": "far", "fnmr": "frr"}


def run_audit(arguments):
    given = vars(arguments)
    for name in OF_ONE_FILE:
        if len(values := split_values(name, [given[name] or ""])) > 1:
            return audit_each(arguments, name, values)
    attributes = attributes_of(arguments, needed=False)
    try:
        data = read(arguments.data, attributes, with_covariates(given))
    except ValueError as error:
        if arguments.attribute or not attributes:
            raise
        place = f"attributes of the policy {arguments.policy.name}"
        raise ValueError(in_flags(error, attributes=place)) from None
    return report_on(arguments, data, arguments.data, limits=limits_of(given))


def audit_each(arguments, name, values):
    """Audits of several systems of one file, each named by its column or array."""
    given, found = vars(arguments), {}
    if arguments.format in ("html", "junit"):
        raise ValueError(
            f"--format {arguments.format} is about one system, and {flag_of(name)} names "
            f"{len(values)}. Leave it out, and use --out, in which each has a folder."
        )
    for value in values:
        own = {name: value, "system": f"{arguments.system or ''} {value}".strip()}
        own["out"] = arguments.out and os.path.join(
            arguments.out, value.replace(os.sep, "_")
        )
        found[value] = run_audit(argparse.Namespace(**given | own))
    # A limit that is exceeded, then one that is undetermined, decides.
    code = min((code for _, code in found.values()), key=(1, 3, 0).index)
    return _in_turn(found, arguments.format == "json"), code


def _in_turn(found, is_json):
    """Texts of several systems, as one object of JSON or one after the other."""
    for place, (name, (texts, _)) in enumerate(found.items()):
        if is_json:
            yield f"{',' if place else '{'}{json.dumps(name)}: "
        elif place:
            yield "\n"
        yield from texts
    if is_json:
        yield "}\n"


def run_identify(arguments):
    from skfairfr.report import identify_data

    given = vars(arguments)
    attributes = attributes_of(arguments, needed=False)
    data, gallery = read_searches(arguments.data, attributes, with_covariates(given))
    source = f"{arguments.data}, gallery {arguments.gallery}"
    own = {"gallery": gallery, "limits": limits_of(given)}
    return report_on(arguments, data, source, identify_data, **own)


def run_explain(arguments):
    from skfairfr.report import explain

    given = vars(arguments)
    own = with_covariates(given) | {"policy": None}
    attributes = attributes_of(argparse.Namespace(**own))
    if check_one_kind(given):
        data, own["gallery"] = read_searches(arguments.data, attributes, own)
        own["far"] = arguments.fpir
    else:
        data = read(arguments.data, attributes, own)
    report_folder(arguments)
    pairs = [tuple(text.split(",")) for text in arguments.interaction or ()]
    own |= {
        "interactions": pairs,
        "curves": arguments.curve,
        "random_state": arguments.seed,
    }
    own |= {"limits": limits_of(given), "about": about_of(arguments)}
    found = explain(data, **taken_by(explain, own))
    return write_found(arguments, found, arguments.data)


def run_plan(arguments):
    from skfairfr.metrics import plan_test
    from skfairfr.report import Policy

    given = vars(arguments)
    limits = limits_of(given) or {}
    policy = {n: v for n, v in limits.items() if n in RATIOS} or None
    if arguments.policy is not None:
        policy = Policy.read(arguments.policy)
        of_policy = (*limits, *(("far",) if policy.fmr else ()), "confidence_level")
        for name in of_policy:
            if given[name] is not None:
                raise ValueError(
                    f"{flag_of(name)} was given, and the policy {policy.name!r} sets it or "
                    "its limits. Leave one out."
                )
    if policy is None and not limits and given["detect_factor"] is None:
        flags = ", ".join(map(flag_of, ("max_fmr", "max_fnmr", "max_fpir", *RATIOS)))
        raise ValueError(
            f"Nothing was asked. Give {flags}, --detect-factor or --policy."
        )
    _check_rates_are_asked(given, limits if arguments.policy is None else policy.limits)
    levels = [*(given["far"] or ()), given["max_fmr"] or 0.0, given["max_fpir"] or 0.0]
    levels += [] if arguments.policy is None else policy.fmr
    pilot, notes = read_pilot(given, levels)
    options = taken_by(plan_test, given) | {"policy": policy, "pilot": pilot}
    text = plan_test(**options | {"rate": PYTHON[given["rate"]]}).to_text()
    return [text, *(f"Note on the pilot: {note}\n" for note in notes)], 0


def _check_rates_are_asked(given, limits):
    """Raise if --fmr or --fnmr is given and no question is about it."""
    detected = given["detect_factor"] is not None
    # A pilot is asked at the threshold of the level, unless only an FMR is to be certified.
    of_pilot = given["pilot"] is not None and (
        detected or set(limits) - {"max_fmr", "max_fpir"}
    )
    for rate, name in PYTHON.items():
        asked = f"max_{rate}_ratio" in limits or (detected and given["rate"] == rate)
        if given[name] is not None and not asked and not (rate == "fmr" and of_pilot):
            raise ValueError(
                f"--{rate} is about ratios of rates, and no ratio is limited. Leave it out, or "
                f"use --max-{rate}-ratio, or --detect-factor with --rate {rate}."
            )


def read_pilot(given, levels):
    """A fitted SimilarityROC of the pilot's data, None without one, and notes on them.

    ``levels`` of the FMR are those asked about.
    """
    from skfairfr.metrics import SimilarityROC
    from skfairfr.report import read_data

    attributes = given["attribute"] or []
    reading = taken_by(read_data, given)
    if given["pilot"] is None:
        options = reading | {"attribute": attributes, "threshold": given["threshold"]}
        for name, value in options.items():
            if value not in (None, False, [], "error"):
                name = flag_of(name)
                raise ValueError(f"{name} is about a pilot. Name one with --pilot.")
        return None, ()
    data = read(given["pilot"], attributes, given)
    notes = data.reading.notes
    if hasattr(data, "parts"):  # a log
        data = _genuine_attempts(data, given)
    # Errors are counted, and nothing is resampled, up to the largest level asked about.
    # plan_test names the option of a level that is none.
    far_max = max([1e-2, *(level for level in levels if level < 1)])
    roc = SimilarityROC(n_resamples=1, random_state=0, far_max=far_max)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data.fit(roc, tuple(data.columns))
    return roc, [*notes, *(str(w.message) for w in caught)]


def _genuine_attempts(log, given):
    """The decisions of a log that may be rejected. How many each person has is kept."""
    from skfairfr.report._decisions import BETWEEN

    parts = [part for part in log.parts if part.decisions == "frr"]
    if not parts or given["threshold"] is not None:
        raise ValueError(
            "--pilot: a log of decisions has a threshold of its own. Leave --threshold out."
            if parts
            else "--pilot: the log has no genuine attempts, or attacks among them."
        )
    (data,), given["threshold"] = parts, BETWEEN
    people = data.people()
    if given["attempts_per_person"] is None:
        each = people.size / 2 / (people.max() + 1)
        given["attempts_per_person"] = max(round(each), 1)
    return data


def run_threshold(arguments):
    from skfairfr.report import certify_data

    given, source = vars(arguments), arguments.data
    attributes, limits = attributes_of(arguments, needed=False), limits_of(given)
    searched = check_one_kind(given)
    report_folder(arguments)
    if searched:
        source = f"{arguments.data}, gallery {arguments.gallery}"
        data, given["gallery"] = read_searches(arguments.data, attributes, given)
    else:
        data = read(arguments.data, attributes, given)
    found = certify_data(
        data,
        limits=limits,
        progress=not arguments.quiet,
        about=about_of(arguments),
        **taken_by(certify_data, given),
    )
    return write_found(arguments, found, source)


def run_monitor(arguments):
    from skfairfr.report import monitor_log

    given = vars(arguments)
    (attribute, *more) = attributes_of(arguments)
    if more:
        raise ValueError("--attribute: a log is monitored by one attribute. Name one.")
    report_folder(arguments)
    found = monitor_log(
        arguments.log,
        attribute,
        limits=limits_of(given),
        about=about_of(arguments),
        **taken_by(monitor_log, given),
    )
    texts, code = write_found(arguments, found, arguments.log)
    if arguments.state is None and arguments.format == "text":
        texts = chain(
            texts,
            ["\nNothing is kept for the next log. To keep it, use --state FILE.\n"],
        )
    return texts, code


def run_compare(arguments):
    from skfairfr.report import compare_decisions, compare_searches, compare_systems

    given, attributes = vars(arguments), arguments.attribute or []
    systems = systems_of(given)
    searched = check_one_kind(given)
    compare = compare_searches if searched else compare_systems
    options = taken_by(compare_systems, given)
    if len(arguments.threshold or ()) > 1:
        options["threshold"] = [[own["threshold"]] for own in systems]
    report_folder(arguments)
    data, galleries = [], []
    for own in systems:
        if searched:
            one, gallery = read_searches(own["path"], attributes, own)
            galleries.append(gallery)
        else:
            one = read(own["path"], attributes, own)
        # All are put into the ranges of the first.
        data.append(one)
        attributes = data[0].reading.bands
    if searched:
        del options["llr"]
        options |= {"galleries": galleries} | taken_by(compare_searches, given)
    if hasattr(data[0], "parts"):  # logs
        of_scores = dict.fromkeys(("far", "threshold", "p_target"))
        of_scores |= {"impostors": "all", "llr": False}
        for name, usual in of_scores.items():
            if options.pop(name, None) not in (None, usual):
                raise ValueError(
                    f"{flag_of(name)} is about scores of comparisons, and the data are decisions. "
                    "Leave it out."
                )
        compare, options = compare_decisions, options | {"kind": arguments.kind}
    found = compare(
        *data,
        progress=not arguments.quiet,
        random_state=arguments.seed,
        about=about_of(arguments),
        **options,
    )
    return write_found(arguments, found)


def run_bench(arguments):
    from skfairfr._core._kinds import renamed
    from skfairfr.datasets._embeddings import holds_embeddings
    from skfairfr.model_selection import compare_mitigations

    given = vars(arguments)
    attributes = [arguments.attribute, *(arguments.other or ())]
    if len({*attributes}) < len(attributes):
        raise ValueError("--other: a column was named twice. Name it once.")
    methods = methods_of(arguments)
    if not holds_embeddings(arguments.data, arguments.embedding):
        raise ValueError(
            f"DATA {arguments.data!r} contains no embeddings, which a bench needs. {ALL_PAIRS}"
        )
    data = read(arguments.data, attributes, given)
    folder = report_folder(arguments, OF_BENCH)
    first, *others = data.columns
    options = taken_by(compare_mitigations, given)
    if arguments.metrics:
        options["metrics"] = [renamed(name, PYTHON) for name in arguments.metrics]
    found = compare_mitigations(
        data.X,
        data.y,
        {first: data.columns[first]},
        methods,
        others={name: data.columns[name] for name in others} or None,
        # No class of a caller's is written or read.
        folder=None if folder is None or arguments.method else folder / "fits",
        progress=not arguments.quiet,
        random_state=arguments.seed,
        **options,
    )
    found = replace(found, notes=(*data.notes, *found.notes))
    about = {"version": __version__, "source": arguments.data}
    written = {"bench.json": found.to_json(**about), "bench.txt": found.to_text()}
    return _texts_of_bench(arguments, found, written, folder), 0


def _texts_of_bench(arguments, found, written, folder):
    """The table and, after files and figure are written, their paths."""
    yield written["bench.json" if arguments.format == "json" else "bench.txt"]
    if folder is not None:
        places = write_bench(found, written, folder)
        if arguments.format == "text":
            yield places


def methods_of(arguments):
    """Methods by name, those of the caller's made, or None for all that are known."""
    methods = {name: name for name in arguments.methods or ()}
    sys.path.insert(0, os.getcwd())  # as Python itself does for -m
    for text in arguments.method or ():
        name, _, place = text.partition("=")
        if name in methods:
            raise ValueError(f"--method {text}: {name} was named twice. Name it once.")
        try:
            methods[name] = pkgutil.resolve_name(place)()
        except Exception as error:  # whatever a module does as it is imported or called
            raise ValueError(
                f"--method {text}: {place!r} cannot be imported and called ({error!r}). "
                "Pass NAME=MODULE:FACTORY, which Python finds from this folder and which "
                "returns a transformer or comparator when called without arguments."
            ) from error
    return methods or None


def run_demo(arguments):
    from skfairfr.datasets import make_face_embeddings
    from skfairfr.report import EmbeddingData

    made = make_face_embeddings(DEMO_IDENTITIES, random_state=arguments.seed)
    data = EmbeddingData(made.X, made.y, {"gender": made.sensitive_features})
    texts, _ = report_on(arguments, data, "synthetic embeddings", limits=DEMO_LIMITS)
    ending = [f"\n{DEMO_ENDING}"] if arguments.format == "text" else []
    return chain(texts, ending), 0
