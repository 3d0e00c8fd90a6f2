"""Damage bytes: one to four small changes, all from a seed."""

import random
import struct

# What parsers stumble over, in text and in binary headers.
TOKENS = (
    *(b"", b"\0", b"\n", b"\r", b'"', b"'", b",", b"\t", b";", b"#", b"[", b"{", b"]"),
    *(b"}", b"=", b"nan", b"NaN", b"inf", b"-inf", b"None", b"null", b"true", b"1e400"),
    *(
        b"-1",
        b"0",
        b"-0.0",
        b"1e-400",
        b"1_0",
        b"0x10",
        b"99999999999999999999",
        b"\xff",
    ),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"(", b")", b"|O"),
    *(b"O", b"<f8", b">f8", b"<U4", b"<M8[s]", b"V8", b"../", b"__class__", b"\\u0000"),
)
NUMBERS = (
    0,
    1,
    -1,
    127,
    128,
    255,
    2**15,
    2**31 - 1,
    -(2**31),
    2**62,
    -(2**63),
    2**63 - 1,
)


def random_of(seed, k):
    """What draws case k: the same in every process, whatever was drawn before."""
    return random.Random(f"{seed} {k}")


def damaged(data, rng):
    """Bytes with a few changes.

    Parameters
    ----------
    data : bytes
    rng : random.Random
    """
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(CHANGES)(data, rng)
    return data


def _place(data, rng):
    return rng.randrange(len(data) + 1)


def _flip(data, rng):
    """One bit."""
    if not data:
        return data
    k = rng.randrange(len(data))
    return data[:k] + bytes([data[k] ^ 1 << rng.randrange(8)]) + data[k + 1 :]


def _random_byte(data, rng):
    if not data:
        return data
    k = rng.randrange(len(data))
    return data[:k] + bytes([rng.randrange(256)]) + data[k + 1 :]


def _truncate(data, rng):
    return data[: _place(data, rng)]


def _delete(data, rng):
    k = _place(data, rng)
    return data[:k] + data[k + rng.choice((1, 2, 8, 64)) :]


def _repeat(data, rng):
    """A slice once more, a few times."""
    k, n = _place(data, rng), rng.choice((1, 4, 16, 200))
    return data[:k] + data[k : k + n] * rng.choice((1, 3, 50)) + data[k:]


def _insert_token(data, rng):
    k = _place(data, rng)
    return data[:k] + rng.choice(TOKENS) + data[k:]


def _overwrite_token(data, rng):
    k, token = _place(data, rng), rng.choice(TOKENS)
    return data[:k] + token + data[k + len(token) :]


def _overwrite_number(data, rng):
    """An extreme integer of 4 or 8 bytes."""
    k, kind = _place(data, rng), rng.choice(("<i", "<q"))
    number = rng.choice(NUMBERS)
    if kind == "<i":
        number = max(-(2**31), min(number, 2**31 - 1))
    packed = struct.pack(kind, number)
    return data[:k] + packed + data[k + len(packed) :]


def _swap(data, rng):
    """Two slices change places."""
    a, b, c, d = sorted(_place(data, rng) for _ in range(4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


CHANGES = (
    *(_flip, _random_byte, _truncate, _delete, _repeat),
    *(_insert_token, _overwrite_token, _overwrite_number, _swap),
)
