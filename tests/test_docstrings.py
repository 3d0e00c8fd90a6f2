"""A docstring says shape, range, direction and source, for every public name.

Every rule below is a function from a ``Subject`` (a callable's parameters, its parsed
docstring and its source) to a list of the facts that are missing.
"""

import dataclasses
import importlib
import inspect
import re

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

from tests.rules import assert_none

SUBPACKAGES = tuple(
    f"skfairfr.{name}"
    for name in (
        *("metrics", "comparators", "datasets", "utils", "samplers", "losses"),
        *("projectors", "model_selection", "report"),
    )
)

# Functions that implement no published formula or protocol, each with the reason.
WITHOUT_SOURCE = {
    "skfairfr.datasets.load_candidates": "reads a file",
    "skfairfr.datasets.load_decisions": "reads a file",
    "skfairfr.datasets.load_embeddings": "reads a file",
    "skfairfr.datasets.join_metadata": "reads a file",
    "skfairfr.datasets.load_pairs": "reads a file",
    "skfairfr.datasets.load_score_matrix": "reads a file",
    "skfairfr.datasets.load_trials": "reads a file",
    "skfairfr.metrics.all_pairs": "lists pairs",
}
# Functions of metrics whose result is neither a rate nor a disparity.
WITHOUT_DIRECTION = {
    "skfairfr.metrics.all_pairs": "returns pairs; the direction of scores is checked",
    "skfairfr.metrics.threshold_at_far": "returns a threshold",
}

WITHOUT_EXAMPLE = {
    "skfairfr.model_selection.ControlResult": "a control is a trained head",
}

RATES = {
    *("far", "frr", "fmr", "fnmr", "far_max", "fpr", "level", "confidence_level"),
    *("floor", "smoothing", "validation_fraction", "min_agreement"),
}
SCORES = {"y_score", "threshold", "thresholds"}

INTERVAL = re.compile(r"[\[(]\s*-?(\d|inf)[\d.e+-]*\s*,\s*-?(\d|inf)[\d.e+-]*\s*[\])]")
ARRAY = re.compile(r"array|\btensor|\bsequence of", re.IGNORECASE)
SHAPE = re.compile(r"\bshape|\(n_\w+,|one-dimensional|two-dimensional", re.IGNORECASE)
SCALE = re.compile(r"similar|alike|accept|reject|>=", re.IGNORECASE)
DIRECTION = re.compile(
    r"\b(less|more|most|least|un)[ -]?fair"
    r"|\b(lower|smaller|larger|greater|higher|less|more)\b[^.]{0,40}"
    r"\b(better|worse|equal|alike|dispar\w+|unequal|false(ly)? (accept|reject)\w*)"
    r"|\bbetter\b[^.]{0,20}\b(lower|smaller|larger|greater|higher)\b",
    re.IGNORECASE,
)
# Where a function implements a published formula.
HOMES = ("skfairfr.metrics.", "skfairfr.datasets.", "skfairfr.losses.")
COMPLAINS = re.compile(r"\braise\s+\w|\b_?(check|validate)_\w+\(")


@dataclasses.dataclass(frozen=True)
class Subject:
    """What the rules read of a public callable."""

    name: str
    kind: str  # function, method, class, result (dataclass, named tuple) or warning
    parameters: tuple
    doc: object
    source: str

    def entries(self, *sections):
        """The documented (name, all of its description) of these sections."""
        return [
            (name.strip().lstrip("*"), f"{entry.type} {' '.join(entry.desc)}")
            for section in sections
            for entry in self.doc[section]
            for name in (entry.name or entry.type).split(",")
        ]

    @property
    def everything(self):
        sections = ("Parameters", "Other Parameters", "Returns", "Yields", "Attributes")
        return self.entries(*sections)


def parameters_of(obj):
    parameters = inspect.signature(obj).parameters
    return tuple(name for name in parameters if name not in ("self", "cls"))


def kind_of(cls):
    if issubclass(cls, Exception):
        return "warning"
    recorded = dataclasses.is_dataclass(cls) or issubclass(cls, tuple)
    return "result" if recorded else "class"


def describe(name, obj):
    """The Subject of a class, a function or a method found under ``name``."""
    if inspect.isclass(obj):
        kind = kind_of(obj)
        doc = ClassDoc(obj, config={"show_class_members": False})
        parameters = () if kind == "warning" else parameters_of(obj)
        return Subject(name, kind, parameters, doc, inspect.getsource(obj))
    kind = "method" if obj.__qualname__.count(".") else "function"
    return Subject(name, kind, parameters_of(obj), FunctionDoc(obj), source_of(obj))


def source_of(function):
    """Code of a function, its docstring left out."""
    source = inspect.getsource(function)
    return source.replace(function.__doc__ or "\0", "", 1)


def lacking(texts, is_asked, pattern, fact):
    """A fact for each entry that is asked for something and does not say it."""
    return [
        f"{name} {fact}"
        for name, text in texts
        if is_asked(name, text) and not pattern.search(text)
    ]


def missing_parameters(subject):
    """Both ways; the fields of a result may be documented as its attributes."""
    stated = {name for name, _ in subject.entries("Parameters", "Other Parameters")}
    attributes = {name for name, _ in subject.entries("Attributes")}
    fields = attributes if subject.kind == "result" else set()
    absent = [p for p in subject.parameters if p not in stated | fields]
    stale = sorted(stated - set(subject.parameters))
    return [f"{p} is not documented" for p in absent] + [
        f"{p} is documented but no parameter" for p in stale
    ]


def missing_shapes(subject):
    def is_array(_, text):
        return ARRAY.search(text)

    return lacking(subject.everything, is_array, SHAPE, "is an array without a shape")


def missing_intervals(subject):
    def is_rate(name, _):
        return name in RATES

    fact = "is a rate without its interval"
    return lacking(subject.everything, is_rate, INTERVAL, fact)


def missing_scales(subject):
    def is_score(name, _):
        return name in SCORES

    fact = "does not say that larger means more alike, or what is accepted"
    return lacking(subject.everything, is_score, SCALE, fact)


def missing_sections(subject):
    """Those that are needed of a public name, and a summary.

    A function says what it gives and raises; a method where its body shows that it does. A
    display draws what others computed: there is nothing to cite.
    """
    doc, kind = subject.doc, subject.kind
    is_callable = kind in ("function", "method")
    is_method = kind == "method"
    home = subject.name.startswith(HOMES) and kind == "function"
    cited = home or (kind == "class" and not subject.name.endswith("Display"))
    stands = {
        "summary": "".join(doc["Summary"]).strip(),
        "Returns": doc["Returns"] or doc["Yields"],
        "Raises": doc["Raises"],
        "References": doc["References"],
        "Examples that run": any(">>>" in line for line in doc["Examples"]),
    }
    needed = {
        "summary": True,
        "Returns": is_callable and re.search(r"\breturn\s+\S", subject.source),
        "Raises": is_callable and (not is_method or COMPLAINS.search(subject.source)),
        "References": cited and subject.name not in WITHOUT_SOURCE,
        "Examples that run": kind in ("function", "class", "result")
        and subject.name not in WITHOUT_EXAMPLE,
    }
    return [f"no {name}" for name in needed if needed[name] and not stands[name]]


def missing_direction(subject):
    needed = subject.kind == "function" and subject.name.startswith("skfairfr.metrics.")
    # Lines are joined: a sentence may be broken anywhere.
    text = re.sub(r"\s+", " ", str(subject.doc))
    if needed and subject.name not in WITHOUT_DIRECTION and not DIRECTION.search(text):
        return ["does not say whether larger or smaller is better, or less fair"]
    return []


RULES = (
    *(missing_parameters, missing_shapes, missing_intervals, missing_scales),
    *(missing_sections, missing_direction),
)


def public_methods(cls):
    """Methods written in this package; scikit-learn documents those it brings."""
    for name, member in inspect.getmembers(cls, callable):
        function = inspect.unwrap(getattr(member, "__func__", member))
        ours = str(getattr(function, "__module__", "")).startswith("skfairfr")
        if ours and inspect.isfunction(function) and not name.startswith("_"):
            yield name, function


def public_objects():
    """Full name -> object, of every public name and every public method of classes."""
    found = {}
    for package in SUBPACKAGES:
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            found[f"{package}.{name}"] = obj = getattr(module, name)
            if inspect.isclass(obj):
                methods = public_methods(obj)
                found |= {f"{package}.{name}.{m}": f for m, f in methods}
    return {name: obj for name, obj in found.items() if callable(obj)}


def instance_or_class(obj):
    """A public instance, such as a scorer, is described by its class."""
    described = inspect.isclass(obj) or inspect.isfunction(obj)
    return obj if described else type(obj)


PUBLIC = {name: instance_or_class(obj) for name, obj in public_objects().items()}


@pytest.fixture(scope="module")
def subjects():
    """Full name -> Subject of all that is public."""
    return {name: describe(name, obj) for name, obj in PUBLIC.items()}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_docstrings_miss_nothing(rule, subjects):
    found = {name: rule(described) for name, described in subjects.items()}
    assert_none(f"{name}: {fact}" for name, facts in found.items() for fact in facts)
