"""A value sealed with a key: nobody without the key can read it, nor change it, nor pass it off as another one.

Encrypt-then-MAC from one pseudo-random function, HMAC-SHA256. Each value is sealed under a name that is used once, and from
the name come two keys of its own: one for a key stream (HMAC over a counter) that is added to the value, one for the tag
over name and ciphertext. A key stream is therefore never used for two values, which is all that it asks for. The length is
padded, so that it tells little.
"""

import hashlib
import hmac
from collections.abc import Sequence

_BLOCK = hashlib.sha256().digest_size
_PADDED_TO = 64
_LENGTH_BYTES = 4


def seal(key: bytes, name: str, text: str) -> str:
    """`text` sealed under `name`, in hex. A name must be random and never be used again."""
    data = text.encode(errors="surrogatepass")
    body = len(data).to_bytes(_LENGTH_BYTES, "big") + data
    body += bytes(-len(body) % _PADDED_TO)
    encrypted = _added(_of(key, "stream", name), body)
    return (encrypted + _tag(key, name, encrypted)).hex()


def unseal(keys: Sequence[bytes], name: str, sealed: str) -> str | None:
    """What was sealed under `name` with one of `keys`; None where that is not what `sealed` is."""
    try:
        whole = bytes.fromhex(sealed)
    except ValueError:
        return None
    encrypted, tag = whole[:-_BLOCK], whole[-_BLOCK:]
    for key in keys:
        if hmac.compare_digest(_tag(key, name, encrypted), tag):
            body = _added(_of(key, "stream", name), encrypted)
            size = int.from_bytes(body[:_LENGTH_BYTES], "big")
            return body[_LENGTH_BYTES : _LENGTH_BYTES + size].decode(errors="surrogatepass")
    return None


def _of(key: bytes, use: str, name: str) -> bytes:
    return hmac.digest(key, f"{use}\0{name}".encode(), "sha256")


def _tag(key: bytes, name: str, encrypted: bytes) -> bytes:
    return hmac.digest(_of(key, "tag", name), encrypted, "sha256")


def _added(key: bytes, data: bytes) -> bytes:
    stream = b"".join(
        hmac.digest(key, counter.to_bytes(8, "big"), "sha256") for counter in range(-(-len(data) // _BLOCK))
    )
    return bytes(one ^ other for one, other in zip(data, stream, strict=False))
