"""What groups of few people can show: the table of docs/how_to/small_groups.rst.

    python -m docs.studies.check_small_groups

For each limit :func:`skfairfr.metrics.plan_test` gives the people it takes in 80 % of tests.
A cell is the smallest of the limits tried for which the group is large enough.
"""

from skfairfr.metrics import plan_test

PEOPLE = (20, 40, 100, 200, 400, 1000)
LIMITS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4, 1e-4)
FACTORS = (20, 10, 5, 3, 2, 1.5)
QUESTIONS = {
    "FMR": [{"max_fmr": limit} for limit in LIMITS[2:]],
    "FNMR": [{"max_fnmr": limit} for limit in LIMITS[:6]],
    "FMR ratio": [{"detect_factor": f, "far": 0.01} for f in FACTORS],
    "FNMR ratio": [
        {"detect_factor": f, "rate": "frr", "frr": 0.05} for f in FACTORS[1:]
    ],
}


def answers(images):
    """(question, basis) -> [(number asked about, people it takes)]."""
    found = {}
    for name, asked in QUESTIONS.items():
        for question in asked:
            plan = plan_test(images_per_person=images, **question)
            for basis, people in zip(plan.basis, plan.people, strict=True):
                number = next(iter(question.values()))
                found.setdefault((name, basis), []).append((number, people))
    return found


def cell(name, tried, people):
    """The smallest number tried that so many people are enough for."""
    enough = [number for number, needed in tried if needed <= people]
    if not enough:
        return "-"
    return f"{min(enough):g}" if "ratio" in name else f"{100 * min(enough):g} %"


def main():
    """Print the table: independent errors / strongly dependent errors."""
    row = "{:>6}  {:>6}" + "  {:>15}" * len(QUESTIONS)
    print(row.format("images", "people", *QUESTIONS))
    for images in (2, 5, 10):
        found = answers(images)
        for people in PEOPLE:
            cells = [
                " / ".join(
                    cell(name, found[name, f"{kind} errors"], people)
                    for kind in ("independent", "dependent")
                )
                for name in QUESTIONS
            ]
            print(row.format(images, people, *cells))


if __name__ == "__main__":
    main()
