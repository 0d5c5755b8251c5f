"""Public and secret seeds, and the seeds that are derived from them.

A seed below SECRET is a number that a learner may know and type. From SECRET on it is a secret of 128 bits: a seed
that is derived from it discloses neither the secret nor any other derived seed.
"""

import hashlib
import secrets
import zlib

SECRET = 1 << 128


def secret_seed() -> int:
    """A new secret seed, for grading other people's work."""
    return SECRET | secrets.randbits(128)


def part(seed: int, *names: object) -> int:
    """The seed of a part, such as a check or one of its calls, named by `names`. It is secret where `seed` is."""
    if seed < SECRET:
        return zlib.crc32(" ".join(map(str, (seed, *names))).encode())
    return SECRET | int.from_bytes(_key(seed, "part", *names, size=16), "little")


def torch_seed(seed: int) -> int:
    """The number that seeds torch's generator, which a worker may know: for a secret seed, 63 bits of a hash."""
    return seed if seed < SECRET else int.from_bytes(_key(seed, "torch", size=8), "little") >> 1


def _key(seed: int, *names: object, size: int) -> bytes:
    """`size` bytes of a hash of the names, keyed with the secret."""
    key = (seed % SECRET).to_bytes(16, "little")
    return hashlib.blake2b(" ".join(map(str, names)).encode(), key=key, digest_size=size).digest()
