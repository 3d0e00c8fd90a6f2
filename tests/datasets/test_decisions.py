"""What a log of decisions must hold, and the errors where it does not."""

import numpy as np
import pytest

from skfairfr.datasets import load_decisions


@pytest.fixture
def save(tmp_path):
    def save(*lines):
        (tmp_path / "log.csv").write_text("\n".join(lines))
        return tmp_path / "log.csv"

    return save


def test_columns_come_back(save):
    path = save(
        "person,ok,kind,visit,tool,gender,captured",
        "ann,yes,Bona Fide,1,,f,1",
        "bob,NO,non-mated,1,,m,1",
        "cy,Accept,ATTACK,2,mask,,1",
        "cy,fail,spoof,2,print,,0",
    )
    names = {"accepted": "ok", "attempt": "kind", "session": "visit", "species": "tool"}
    data = load_decisions(path, **names)
    assert data.accepted.tolist() == [True, False, True, False]
    assert data.captured.tolist() == [True, True, True, False]
    assert data.identity.tolist() == ["ann", "bob", "cy", "cy"]
    assert data.attempt.tolist() == ["genuine", "impostor", "attack", "attack"]
    assert data.session.tolist() == [1, 1, 2, 2]
    assert data.species.tolist() == [None, None, "mask", "print"]
    assert list(data.columns) == ["gender"]


@pytest.mark.parametrize(
    "words",
    [
        *("1 0", "1.0 0.0", "True FALSE", "t f", "Yes no", "y n", "accept reject"),
        *("PASS Fail", "Accepted rejected", "match no_match", "MATCH Non-Match"),
        *("match nonmatch", "Ja nein", "oui NON", "SÍ no", "si no"),
    ],
)
def test_words_for_a_decision(save, words):
    path = save("identity,accepted", *(f"a,{word}" for word in words.split()))
    data = load_decisions(path)
    assert data.accepted.tolist() == [True, False]
    assert (data.session, data.species, data.attempt.tolist()) == (
        *(None, None),
        ["genuine"] * 2,
    )


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ("Live spoof", "genuine attack"),
        ("bona-fide ATTACK", "genuine attack"),
        ("BonaFide presentation_attack", "genuine attack"),
        ("mated nonmated", "genuine impostor"),
    ],
)
def test_words_for_a_kind_of_attempt(save, words, kinds):
    path = save("identity,accepted,kind", *(f"a,1,{word}" for word in words.split()))
    data = load_decisions(path, attempt="kind")
    assert data.attempt.tolist() == kinds.split()


@pytest.mark.parametrize("word", ["live", "Spoof", "bona fide", "nonmated", "genuine"])
def test_a_kind_of_attempt_is_no_decision(save, word):
    path = save("identity,accepted", "a,yes", f"b,{word}")
    with pytest.raises(
        ValueError, match=f"'accepted' contains '{word}'.*one of 1, true"
    ):
        load_decisions(path)


@pytest.mark.parametrize("word", ["yes", "0", "FALSE", "match", "nein"])
def test_a_decision_is_no_kind_of_attempt(save, word):
    path = save("identity,accepted,spoof", "a,yes,genuine", f"b,no,{word}")
    with pytest.raises(ValueError, match=f"'spoof' contains '{word}'.*one of genuine"):
        load_decisions(path, attempt="spoof")


def test_five_unknown_words_are_listed_and_the_others_counted(save):
    words = [f"maybe {n}" for n in range(7)]
    path = save("identity,accepted", *(f"a,{word}" for word in words), "a,yes")
    listed = ", ".join(map(repr, words[:5]))
    with pytest.raises(ValueError, match=f"contains {listed} and 2 other values "):
        load_decisions(path)


def test_an_attempt_without_a_decision_was_not_captured(save, tmp_path):
    data = load_decisions(save("identity,accepted", "a,1", "a,", "b,0"))
    assert data.captured.tolist() == [True, False, True]
    assert data.accepted.tolist() == [True, False, False]
    for word in ("nan", "NA", "None"):
        written = load_decisions(save("identity,accepted", "a,1", f"a,{word}", "b,0"))
        assert written.captured.tolist() == [True, False, True]
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    for accepted in ([True, None, False], [1.0, None, 0.0]):
        frame = pd.DataFrame({"identity": list("aab"), "accepted": accepted})
        frame.to_parquet(tmp_path / "log.parquet")
        typed = load_decisions(tmp_path / "log.parquet")
        assert np.array_equal(typed.accepted, data.accepted)
        assert np.array_equal(typed.captured, data.captured)


@pytest.mark.parametrize(
    ("lines", "options", "said"),
    [
        (
            ("identity,accepted", "a,1", "a,maybe"),
            {},
            "^accepted .* 'maybe' .*data row 2",
        ),
        (
            ("identity,accepted,try", "a,1,mated", "a,1,first"),
            {"attempt": "try"},
            "^attempt .* 'first' .*genuine, bona fide",
        ),
        (
            ("identity,accepted,try", "a,1,mated", "a,1,"),
            {"attempt": "try"},
            "^attempt .*'None'",
        ),
        (("identity,accepted,captured", "a,1,2"), {}, "^captured .* contains '2'"),
        (
            ("identity,accepted,captured", "a,1,1", "a,1,0"),
            {},
            "^accepted .*data row 2",
        ),
        (("identity,accepted", ",1", "a,1"), {}, "^identity .*missing in data row 1"),
        (("identity,ok", "a,1"), {}, "^accepted cannot be found"),
        (
            ("identity,accepted,s", "a,1,", "a,1,x"),
            {"session": "s"},
            "^session .*missing in data row 1",
        ),
    ],
)
def test_what_cannot_be_read(save, lines, options, said):
    with pytest.raises(ValueError, match=said):
        load_decisions(save(*lines), **options)
