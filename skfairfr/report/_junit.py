"""Checks as JUnit XML, in which CI systems show tests."""

from xml.etree import ElementTree

from skfairfr.report._documents import change_sentence, check_sentence
from skfairfr.report._notes import short_place
from skfairfr.utils._words import RATES, printable


def audit_to_junit(report):
    """Checks of a report: an undetermined one is an error, since it did not pass.

    Parameters
    ----------
    report : Report

    Returns
    -------
    xml : str
    """
    cases = []
    for check in report.checks:
        kind = {"failed": "failure", "undetermined": "error"}.get(check.verdict)
        at = short_place(check, report.audits[0])
        name = f"{check.name} {check.limit:g} at {at}"
        said = check_sentence(check, report)
        cases.append((f"skfairfr.audit.{check.attribute}", name, kind, said))
    return _suite("skfairfr audit", cases)


def comparison_to_junit(found):
    """Changes of a comparison: one for the worse is a failure, what is not told is skipped.

    Parameters
    ----------
    found : SystemsComparison

    Returns
    -------
    xml : str
    """
    cases = []
    for change in found.changes:
        who = "everyone" if change.attribute is None else change.group
        name = f"{RATES[change.rate]} of {who} at {short_place(change, found)}"
        told = {
            "worse": "failure",
            "too few errors": "skipped",
            "undetermined": "error",
        }
        kind = told.get(change.verdict)
        place = f"skfairfr.compare.{change.attribute or 'everyone'}"
        said = change_sentence(change, found)
        cases.append((place, f"{change.system}: {name}", kind, said))
    return _suite("skfairfr compare", cases)


def _suite(name, cases):
    """Cases as a suite: class name, name, kind of failure or None, and a sentence."""
    counts = {
        "tests": len(cases),
        "failures": sum(kind == "failure" for _, _, kind, _ in cases),
        "errors": sum(kind == "error" for _, _, kind, _ in cases),
        "skipped": sum(kind == "skipped" for _, _, kind, _ in cases),
    }
    attributes = {key: str(count) for key, count in counts.items()}
    root = ElementTree.Element("testsuites", attributes)
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **attributes})
    for place, title, kind, said in cases:
        about = {"classname": printable(place), "name": printable(title)}
        case = ElementTree.SubElement(suite, "testcase", about)
        if kind is not None:
            failed = ElementTree.SubElement(case, kind, {"message": printable(said)})
            failed.text = printable(said)
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"
