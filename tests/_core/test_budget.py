"""Facts of the memory that a user allows: amounts, the limit in force, and its name."""

import pytest

from skfairfr._core._budget import SHARE, VARIABLE, Budget

GB = 10**9
FREE = 10 * GB


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        *(("4GB", 4e9), ("500MB", 5e8), ("1.5 gb", 1.5e9), ("20kB", 20_000)),
        *(("0.001TB", 1e9), (".5GB", 5e8), ("2000000000B", 2e9)),
        *(("4GiB", 4 * 1024**3), ("3 MiB", 3 * 1024**2), (" 7KiB ", 7 * 1024)),
        ("0.001TiB", 0.001 * 1024**4),
        *(("50%", FREE / 2), ("12.5 %", FREE / 8)),
    ],
)
def test_an_amount_is_what_may_be_used(text, n_bytes, monkeypatch):
    assert Budget.of(text).limit(FREE).n_bytes == n_bytes
    monkeypatch.setenv(VARIABLE, text)
    assert Budget.in_force().limit(FREE).n_bytes == n_bytes


@pytest.mark.parametrize(
    "text",
    ["4", "GB", "4 apples", "-4GB", "0GB", "0%", "101%", "4GB 2", "1e3GB", "inf"],
)
def test_anything_else_is_an_error_with_examples(text, monkeypatch):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(ValueError) as caught:
        Budget.in_force()
    message = str(caught.value)
    assert message.startswith(f"The environment variable {VARIABLE} must be")
    assert message.endswith(
        f"such as 4GB, 500MB or 4GiB, or 50% of what is free; got {text}."
    )


@pytest.mark.parametrize("text", [None, "", "  "])
def test_by_default_it_is_a_share_of_what_is_free(text, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    if text is not None:
        monkeypatch.setenv(VARIABLE, text)
    found = Budget.in_force().limit(FREE)
    assert found == (SHARE * FREE, "80 % of what is free", "free memory")


@pytest.mark.parametrize("text", ["4GB", "50%"])
def test_the_limit_names_the_budget_and_how_to_raise_it(text):
    found = Budget.of(text).limit(FREE)
    assert found.source == f"the budget SKFAIRFR_MEMORY={text}"
    assert found.remedy == "raise that budget"


@pytest.mark.parametrize("text", ["9GB", "100%", "80%"])
def test_no_budget_allows_more_than_the_share_of_what_is_free(text):
    found = Budget.of(text).limit(FREE)
    assert found.n_bytes == SHARE * FREE
    assert found.source == (
        f"80 % of what is free, which the budget SKFAIRFR_MEMORY={text} does not lower"
    )
    assert found.remedy == "free memory"
