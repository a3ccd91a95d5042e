"""What a button of a card carries: a proposal's id, the revision that the card showed, and an HMAC over both and the press.

Nothing else: no arguments, no names. Whoever presses is told by the platform, what runs is told by the store; the seal
proves that this program made the button, for this press.
"""

import hashlib
import hmac
from collections.abc import Sequence

SEAL_CHARS = 32
"""128 bits of the HMAC-SHA256, in hex."""


def sealed_button(key: bytes, press: str, proposal_id: str, revision: int) -> str:
    """The value of the button `press` (such as `approve`) on a card that shows `revision`."""
    return f"{proposal_id}.{revision}.{_seal(key, press, proposal_id, revision)}"


def opened_button(keys: Sequence[bytes], press: str, value: str) -> tuple[str, int] | None:
    """The proposal's id and the revision when `value` was sealed with one of `keys` for `press`, else None."""
    proposal_id, _, rest = value.partition(".")
    revision, _, seal = rest.partition(".")
    if not (revision.isascii() and revision.isdigit() and len(revision) <= 9 and seal.isascii()):
        return None
    number = int(revision)
    if str(number) != revision:
        return None
    seals = (_seal(key, press, proposal_id, number) for key in keys)
    return (proposal_id, number) if any(hmac.compare_digest(seal, each) for each in seals) else None


def _seal(key: bytes, press: str, proposal_id: str, revision: int) -> str:
    message = f"{press}\0{proposal_id}\0{revision}".encode(errors="surrogatepass")
    return hmac.new(key, message, hashlib.sha256).hexdigest()[:SEAL_CHARS]
