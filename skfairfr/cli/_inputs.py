"""Input of the commands: files, and options for one system or for each."""

from dataclasses import replace
from inspect import signature

from skfairfr.cli._errors import flag_of, in_flags

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
        columns = given.get("control") or []
        of_embeddings = given | {"failures": None, "control": None}
        others = taken_by(read_data, of_embeddings).items() - own.items()
        others = [name for name, value in others if value] + ["gallery_labels"]
        for name in others:
            if given[name] is not None:
                raise ValueError(f"{flag_of(name)} is about embeddings; leave it out.")
        more = [name for name in columns if name not in attributes]
        data, gallery = read_candidates(path, [*attributes, *more], **own)
        covariates = {name: data.columns[name] for name in columns}
        named = {n: c for n, c in data.columns.items() if n not in more}
        data = replace(data, columns=named, covariates=covariates)
        given["read_as"].update(data.reading.read_as)
        return data, gallery
    for name in (*OF_LISTS, "score", "distance"):
        if given[name]:
            raise ValueError(f"{flag_of(name)} is about --candidates; give it too.")
    try:
        data = read(path, attributes, given)
        return data, read_gallery(given["gallery"], data.reading.bands, given)
    except LackingError as error:
        if path.endswith((".npz", ".npy")):
            raise
        hint = "Candidate lists go to --candidates; PROBES is then a table of the searches."
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
            f"({', '.join(of_policy)}); leave one out."
        )
    if needed and not flags and not of_policy:
        raise ValueError(
            "the following arguments are required: --attribute; name a column of the groups."
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
            "AFTER is missing; give the file of another system, or name columns of two in "
            "BEFORE, as --score A,B."
        )
    for name, values in each.items():
        if len(values) not in (1, n_systems):
            shown = ", ".join(repr(str(value)) for value in values)
            raise ValueError(
                f"{flag_of(name)} was given {len(values)} times ({shown}), and there are "
                f"{n_systems} systems; give it once for all, or once for each in their order."
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
        raise ValueError(f"{lone} is about searches; give --gallery too.")
    for name in OF_COMPARISONS:
        if searched and given.get(name) not in (None, False):
            raise ValueError(
                f"{flag_of(name)} is about comparisons, and --gallery asks for searches; "
                f"{'give --fpir' if name == 'far' else 'leave it out'}."
            )
    return bool(searched)
