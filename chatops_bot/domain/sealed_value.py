"""A value sealed with a key: nobody without the key can read it, nor change it, nor pass it off as another one.

AES-SIV (RFC 5297), which needs no nonce: the name that a value is sealed under is authenticated with it, and is used once.
The length is padded, so that it tells little.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

_PADDED_TO = 64
_LENGTH_BYTES = 4


def seal(key: bytes, name: str, text: str) -> str:
    """`text` sealed under `name`, in hex. `key` has 32 bytes; a name must be random and never be used again."""
    data = text.encode(errors="surrogatepass")
    body = len(data).to_bytes(_LENGTH_BYTES, "big") + data
    body += bytes(-len(body) % _PADDED_TO)
    return _cipher(key).encrypt(body, [name.encode(errors="surrogatepass")]).hex()


def unseal(keys: Sequence[bytes], name: str, sealed: str) -> str | None:
    """What was sealed under `name` with one of `keys`; None where that is not what `sealed` is."""
    from cryptography.exceptions import InvalidTag

    try:
        encrypted = bytes.fromhex(sealed)
    except ValueError:
        return None
    for key in keys:
        try:
            body = _cipher(key).decrypt(encrypted, [name.encode(errors="surrogatepass")])
        except InvalidTag:
            continue
        size = int.from_bytes(body[:_LENGTH_BYTES], "big")
        return body[_LENGTH_BYTES : _LENGTH_BYTES + size].decode(errors="surrogatepass")
    return None


def _cipher(key: bytes) -> "AESSIV":
    """Loaded when a secret is first sealed: most bots never do, and it costs them 20 ms at each start."""
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    return AESSIV(key)
