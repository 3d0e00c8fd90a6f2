"""What an audit is of, from the file that holds it."""

from skfairfr.datasets._embeddings import read_embeddings
from skfairfr.datasets._files import kind_of
from skfairfr.datasets._scored_pairs import read_pairs
from skfairfr.report._data import Faces, ScoredPairs

# Options that only a file of one kind has.
OF_EMBEDDINGS = ("labels", "embedding", "identity", "domain")
OF_PAIRS = ("score", "identity_1", "identity_2", "image_1", "image_2", "distance")


def read_source(path, attributes, options):
    """Embeddings from an .npz or .npy file, scored pairs from a .csv or .parquet file.

    Parameters
    ----------
    path : str
    attributes : sequence of str
        Columns of embeddings; of scored pairs, two columns each, ending in _1 and _2.
    options : dict
        Those of OF_EMBEDDINGS and of OF_PAIRS; None or False where not given.

    Returns
    -------
    data : Faces or ScoredPairs
    """
    if _holds_pairs(path):
        _refuse(options, OF_EMBEDDINGS, path, "scored pairs", "embeddings")
        return _read_pairs(path, attributes, options)
    _refuse(options, OF_PAIRS, path, "embeddings", "scored pairs")
    return _read_embeddings(path, attributes, options)


def check_same_kind(path, audited):
    """Raise unless two files both hold embeddings, or both scored pairs."""
    if _holds_pairs(path) != _holds_pairs(audited):
        raise ValueError(
            f"of {path!r} and {audited!r} one holds embeddings and one scored pairs; give "
            "files of one kind, whose scores mean the same."
        )


def _holds_pairs(path):
    return kind_of(path) in ("csv", "parquet")


def _refuse(options, names, path, what, other):
    for name in names:
        value = options.get(name)
        if value not in (None, False):
            raise ValueError(
                f"{name}={value!r} is an option of {other}, but {path!r} holds {what}; "
                "leave it out."
            )


def _read_embeddings(path, attributes, options):
    domain = options.get("domain")
    asked = dict.fromkeys(attributes, "attribute")
    if domain is not None:
        asked.setdefault(domain, "domain")
    names = (options.get(name) for name in ("labels", "embedding", "identity"))
    data = read_embeddings(path, *names, asked)
    columns = {name: data.columns[name] for name in attributes}
    return Faces(
        data.X, data.y, columns, None if domain is None else data.columns[domain]
    )


def _read_pairs(path, attributes, options):
    names = {name: options.get(name) for name in OF_PAIRS if name != "distance"}
    for name in ("identity_1", "identity_2"):
        names[name] = names[name] or name
    both = {name: (f"{name}_1", f"{name}_2") for name in attributes}
    asked = {column: "attribute" for columns in both.values() for column in columns}
    data = read_pairs(path, names, asked, bool(options.get("distance")))
    return ScoredPairs(
        data.y_score,
        (data.identity_1, data.identity_2),
        {
            name: tuple(data.columns[c] for c in columns)
            for name, columns in both.items()
        },
        (data.image_1, data.image_2),
    )
