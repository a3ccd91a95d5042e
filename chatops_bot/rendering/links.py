"""Which addresses in a model's text may be links: those of hosts that the config allows, and no others.

A link is a way out: a model that was talked into it writes what it has seen into an address, and one click, or a client
that looks ahead, delivers it. So an address lives only when its host is on the list and its query is too short to carry
anything. Clients make links of more than was marked as one, so whatever a client could take for an address counts: any
scheme, `www.`, and a bare domain with something behind it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from chatops_bot.domain.regex import regex

QUERY_CHARS = 64
"""Longest query and fragment, together, of a link that lives."""
_DENSE = regex(r"(?=[^\W_]*\d)(?=[^\W_]*[^\W\d_])[^\W_]{20,}")
"""Letters and digits in one long run, as ciphers and encodings look; words and dates do not."""
_MARKED = regex(r"[*~]|://|www\.", re.IGNORECASE)
"""What may end an address early, and let another one begin inside it."""
_UNDERLINED = regex(r"(?<![^\W_])_|_(?![^\W_])")

_ENDS = r"\s<>|`\\\[\]，。；、！？：（）【】《》「」“”‘’"
_BODY = rf"(?:[^()&{_ENDS}]|\([^(){_ENDS}]*\)|&(?!(?:lt|gt);))"
_LABELS = r"(?:(?<![\w-])(?<![\w-]\.)(?<![\w.+-]@)|(?<=\\[-_]))(?:[\w-]++\.(?=[\w-]))"
_TOP = r"(?:xn--[a-z0-9-]{2,40}|[^\W\d_]{2,24})(?![\w-]|\[?:\]?/)"
_COMMON = r"(?:com|net|org|info|biz|io|dev|app|cloud|site|online|top|xyz|link|click|page|cn|ru|eu|uk|de|me|tv|ly)(?![\w-]|\[?:\]?/)"
ADDRESS = (
    rf"(?:(?:(?<![a-z0-9+.-])|(?<=\\[+.-]))[a-z0-9+.-]++://|(?<![^\W_])(?:mailto|tel|sms):|(?<![^\W_])www\.){_BODY}*(?<![.,;:!?'\"*_~])"
    rf"|{_LABELS}++{_TOP}\.?(?::\d+)?(?=[/?#]){_BODY}*(?<![.,;:!?'\"*_~])"
    rf"|{_LABELS}{{2,}}+{_TOP}"
    rf"|{_LABELS}++{_COMMON}"
)
"""Pattern, in lower or upper case, of everything that a client may make a link of by itself. Mail addresses stay text."""

_JOINT = regex(r":(?=//)|(?<=mailto):|(?<=tel):|(?<=sms):|(?<=\w)\.(?=\w)", re.IGNORECASE)
_ADDRESS = regex(ADDRESS, re.IGNORECASE)
_HOST = regex(
    r"https?://(?P<host>[a-z0-9.-]+)(?::\d{1,5})?(?P<path>/[^?#\s]*)?(?P<query>[?#].*)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Links:
    """The hosts that links may go to, in lower case. An entry that begins with a dot stands for every host below it."""

    hosts: frozenset[str] = frozenset()

    @classmethod
    def to(cls, hosts: Iterable[str]) -> "Links":
        return cls(frozenset(host.lower() for host in hosts))

    def allow(self, address: str) -> bool:
        """Whether `address` may be a link. Only http and https, no user part, no query that could carry something away."""
        parts = _HOST.fullmatch(address)
        if parts is None or not self._knows(parts["host"].lower().rstrip(".")):
            return False
        query = parts["query"] or ""
        if len(query) > QUERY_CHARS or _DENSE.search(query):
            return False
        rest = (parts["path"] or "") + query
        return not (_MARKED.search(rest) or (_UNDERLINED.search(rest) and has_address(rest)))

    def _knows(self, host: str) -> bool:
        below = (host[at:] for at, character in enumerate(host) if character == ".")
        return host in self.hosts or any(domain in self.hosts for domain in below)


NO_LINKS = Links()


def has_address(text: str) -> bool:
    return _ADDRESS.search(text) is not None


def defanged(text: str, links: Links = NO_LINKS) -> str:
    """Plain text in which nothing is taken for a link that may not be one: `https[:]//evil[.]example/x`. Idempotent."""
    while (broken := _ADDRESS.sub(lambda match: _unless(links, match[0]), text)) != text:
        text = broken  # what was the end of one address may now be the beginning of another
    return text


def _unless(links: Links, address: str) -> str:
    return address if links.allow(address) else _broken(address)


def _broken(address: str) -> str:
    """`address` with every place broken at which it, or one inside it, could be read as one."""
    return _JOINT.sub(r"[\g<0>]", address)
