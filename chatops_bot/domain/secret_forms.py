"""The forms in which a configured secret turns up: as it is, and as programs spell it in what they print."""

import base64
import html
import json
import shlex
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

SHORTEST_SECRET = 6
"""Characters. Shorter values turn up by chance in ordinary text, where hiding them would tell people what they are."""
_SHORTEST_FORM = 6


def forms(secrets: Iterable[str]) -> tuple[str, ...]:
    """Every form of every secret that is long enough, longest first."""
    found = {form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _forms(secret)}
    return tuple(sorted(found, key=lambda form: (-len(form), form)))


def _forms(secret: str) -> Iterator[str]:
    yield secret
    data = secret.encode(errors="surrogatepass")
    yield from _base64(data)
    yield from (data.hex(), data.hex().upper(), data.hex(" "), data.hex(":"), data.hex(":").upper())
    for spelled in (json.dumps(secret), json.dumps(secret, ensure_ascii=False)):
        yield spelled[1:-1]
        yield json.dumps(spelled)[3:-3]  # JSON inside JSON
    yield html.escape(secret)
    yield html.escape(secret, quote=False)
    yield html.escape(secret).replace("&#x27;", "&#39;")
    yield shlex.quote(secret)[1:-1] if shlex.quote(secret) != secret else secret
    yield repr(secret)[1:-1]
    yield from _percent(secret, data)


def _base64(data: bytes) -> Iterator[str]:
    """What is certain of it in base64, wherever in a longer text it begins: three alignments, two alphabets."""
    for before, first in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(bytes(before) + data).decode()
        certain = whole[first : (before + len(data)) * 8 // 6]
        if len(certain) >= _SHORTEST_FORM:
            yield certain
            yield certain.translate(str.maketrans("+/", "-_"))


def _percent(secret: str, data: bytes) -> Iterator[str]:
    """Percent-encoded in full, and as the usual functions leave this or that sign as it is."""
    try:
        spelled = {
            quote(secret, safe=""),
            quote(secret),
            quote_plus(secret),
            quote(secret, safe="!'()*~"),
            quote(secret, safe=";,/?:@&=+$!'()*~#"),
        }
    except UnicodeEncodeError:
        return
    spelled.add("".join(f"%{byte:02X}" for byte in data))
    for form in spelled:
        yield form
        yield _lower_percent(form)


def _lower_percent(form: str) -> str:
    head, *rest = form.split("%")
    return "%".join((head, *(part[:2].lower() + part[2:] for part in rest)))
