"""Flags stand where Python's arguments stood, and everything else stays."""

import math

import pytest

from skfairfr.report._flags import in_flags, with_flags
from skfairfr.report._record import Audit, Figure, Other, Report


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            "The 'n_resamples' parameter of SimilarityROC must be an int in the range "
            "[1, inf). Got 0 instead.",
            "--n-resamples must be an int in the range [1, inf); got 0.",
        ),
        ("max_bfar=2 is about it; use max_far_ratio.", "--max-bfar 2 is about it; use --max-far-ratio."),
        ("distance=True is an option", "--distance is an option"),
        ("score='s' is an option; give score='d' and distance=True.", "--score s is an option; give --score d and --distance."),
        ("identity_1: 'a.csv' holds no 'x'; name one of them as identity_1.", "--identity-1: 'a.csv' holds no 'x'; name one of them with --identity-1."),
        ("--threshold-from: labels 'a.csv' does not exist", "--threshold-from: --labels 'a.csv' does not exist"),
        ("far must lie in (0, 1)", "--far must lie in (0, 1)"),
        ("random_state must be an int, a RandomState, a Generator or None; got -1.", "--seed must be an int; got -1."),
        ("far=1e-05 is below 1 / n_impostor = 0.1: it", "FAR 1e-05 is below 1 / (impostor pairs) = 0.1: it"),
        ("give x, or use SimilarityROC(resample='identities').", "give x, or use --resample identities."),
        ("give the embeddings as path and it as labels.", "give the embeddings as DATA and it with --labels."),
        ("X has a zero row", "embedding has a zero row"),
    ],
)  # fmt: skip
def test_flags_are_named(message, said):
    assert in_flags(message) == said


@pytest.mark.parametrize(
    "message",
    [
        "score has 300 different numbers, such as 1",
        "write one with numpy.savez(path, embedding=..., identity=..., and)",
        "--threshold 0.5 is used as it is and --far 0.1 sets one; give one of them.",
        "no genuine pair",
        "path 'runs/far=0.001/nope.npz' does not exist",
        "'faces.npz' holds no 'max_far_ratio', but 'gender'",
        "1 of 60 people has images in more than one group of X.",
    ],
)
def test_the_rest_stays(message):
    assert in_flags(message) == message


@pytest.mark.parametrize("label", ["far", "average", "score", "domain", "distance"])
def test_a_reason_begins_with_a_label_that_may_read_like_an_argument(label):
    reason = f"{label}: 28 errors, 30 needed"
    figure = Figure(0.1, math.nan, math.nan, math.nan, False, reason)
    assert with_flags(figure).reason == reason


def test_notes_and_reasons_are_said_in_flags_and_labels_are_not():
    nan = math.nan
    figure = Figure(0.1, nan, nan, nan, False, "beyond far_max: a histogram")
    other = Other("resample", "images", (), "")
    settings = {"far_max": 0.01}
    notes = ("Ask for how='difference', a larger far, or more people.",)
    audit = Audit("distance=True", settings, 0, 0.1, (figure,), (), other, None, notes)
    found = with_flags(Report((audit,))).audits[0]
    assert found.groups[0].reason.startswith("beyond the FAR up to which")
    assert found.notes[0].startswith("max - min does without a ratio")
    assert (found.attribute, found.settings) == ("distance=True", settings)
