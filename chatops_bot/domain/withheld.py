"""What is hidden beside configured secrets: what people typed for tools alone, for as long as it lives, and what only the
model may read, which are the nonces of the fences around outside text, and the sentences of its prompt.

A model that obeys what it reads would say the latter to whoever asks. These are no secrets of anybody's, but a nonce that is known
while its fence stands could close it, and a prompt that is known is easier to talk round; so neither leaves in any text.
"""

import base64
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable

from chatops_bot.domain.redaction import Redactor

REMEMBERED_NONCES = 16_384
"""What a turn is sent has at most a few thousand fences, and each turn brings those of its own conversation to the front."""
_LEAST_HEX = 12
"""So many digits of a nonce in a row are a part of it: 48 bits, which no other number shares by chance. Fewer close nothing."""
_KEY_CHARS, _KEY_STEP = 8, 5
"""A nonce is found by one of its keys: any `_LEAST_HEX` digits of it hold a whole one."""
_CORE_CHARS = 16
"""Enough of a nonce's base64 to know it by: 96 bits of it."""
_TAIL_CHARS = 12
"""From here on the beginning of a sentence is held back until it is clear whether it goes on."""

_HALF_NONCE = re.compile(r"[0-9a-f]{8,31}\Z", re.IGNORECASE)
_HEX_RUN = re.compile(rf"[0-9A-Fa-f]{{{_LEAST_HEX},}}+")
_RUN = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_LEAST_HEX},}}+={{0,2}}")
"""Whatever may hold a nonce or a part of one, in hex or in base64."""
_BASE64_CHARS = 20
"""The shortest run that can hold all of a nonce in base64."""
_FENCE, _PROMPT = "[redacted:fence]", "[redacted:prompt]"


class Withheld(Redactor):
    """A redactor that also takes out nonces that it has seen being made, and `sentences`, however they are wrapped."""

    def __init__(self, secrets: Iterable[str] = (), sentences: Iterable[str] = ()) -> None:
        self._configured = tuple(secrets)
        self._live: dict[str, str] = {}
        super().__init__(self._configured)
        self._nonces: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._cores: set[str] = set()
        self._keyed: dict[str, str] = {}
        self.withhold(sentences)

    def withhold(self, sentences: Iterable[str]) -> None:
        """Take these sentences out of every text, in place of those before."""
        self._sentences = tuple({" ".join(sentence.split()) for sentence in sentences})
        longest_first = sorted(self._sentences, key=len, reverse=True)
        spelled = "|".join(r"\s+".join(map(re.escape, each.split(" "))) for each in longest_first)
        self._heads = tuple(sentence[:_TAIL_CHARS].lower() for sentence in self._sentences)
        self._said = re.compile(spelled, re.IGNORECASE) if spelled else None

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the live secrets."""
        return tuple(self._live)

    def hide(self, name: str, secret: str) -> None:
        """Take `secret` out of every text, in all forms of a configured one, until `show`."""
        if self._live.get(name) != secret:
            self._live[name] = secret
            self._know((*self._configured, *self._live.values()))

    def show(self, name: str) -> None:
        """Hide the secret of this name no more."""
        if self._live.pop(name, None) is not None:
            self._know((*self._configured, *self._live.values()))

    def watching(self, nonce: Callable[[], str]) -> Callable[[], str]:
        """`nonce`, with each one that it makes remembered."""

        def make() -> str:
            made = nonce()
            self._remember(made)
            return made

        return make

    def watching_marks(self, marks: Callable[[str], Callable[[], str]]) -> Callable[[str], Callable[[], str]]:
        """`marks`, which name an item's nonces, likewise."""
        return lambda item: self.watching(marks(item))

    def text(self, text: str) -> str:
        """As `Redactor.text`, without nonces in base64 or hex, or parts of these, and without sentences of the prompt."""
        text = super().text(text)
        if self._said is not None and self._may_say(text):
            text = self._said.sub(_PROMPT, text)
        return _RUN.sub(self._without_nonces, text)

    def without_secrets(self, text: str) -> str:
        """`text` for the model: nonces and the sentences of its own prompt stay."""
        return super().text(text)

    def held_back(self, text: str) -> int:
        """As `Redactor.held_back`; what may be the beginning of a sentence counts too."""
        return max(super().held_back(text), self._sentence_begun(text))

    def may_end_in_a_secret(self, text: str) -> bool:
        """As `Redactor.may_end_in_a_secret`, also of a sentence that broke off, and of what may be half a nonce."""
        return bool(self._sentence_begun(text) or _HALF_NONCE.search(text)) or super().may_end_in_a_secret(
            text
        )

    def _sentence_begun(self, text: str) -> int:
        return max((_begun(text, sentence) for sentence in self._sentences), default=0)

    def _may_say(self, text: str) -> bool:
        """Whether a sentence begins in `text`; much quicker to tell than what it says."""
        plain = " ".join(text.split()).lower()
        return any(head in plain for head in self._heads)

    def _remember(self, nonce: str) -> None:
        if nonce in self._nonces:
            self._nonces.move_to_end(nonce)
            return
        self._nonces[nonce] = cores = _cores(nonce)
        self._cores.update(cores)
        self._keyed.update((key, nonce) for key in _keys(nonce))
        if len(self._nonces) > REMEMBERED_NONCES:
            gone, forgotten = self._nonces.popitem(last=False)
            self._cores.difference_update(forgotten)
            for key in _keys(gone):
                if self._keyed.get(key) == gone:
                    del self._keyed[key]

    def _without_nonces(self, match: re.Match[str]) -> str:
        run = match.group()
        if len(run) >= _BASE64_CHARS and any(
            run[at : at + _CORE_CHARS] in self._cores for at in range(len(run) - _CORE_CHARS + 1)
        ):
            return _FENCE
        return _HEX_RUN.sub(self._without_digits, run)

    def _without_digits(self, match: re.Match[str]) -> str:
        digits, written = match.group().lower(), match.group()
        if self._keyed.keys().isdisjoint(
            [digits[at : at + _KEY_CHARS] for at in range(len(digits) - _KEY_CHARS + 1)]
        ):
            return written  # nearly always
        pieces: list[str] = []
        at = kept_to = 0
        while at <= len(digits) - _KEY_CHARS:
            nonce = self._keyed.get(digits[at : at + _KEY_CHARS])
            first, end = _shared(digits, at, nonce, kept_to) if nonce else (at, at)
            if end - first >= _LEAST_HEX:
                pieces += (written[kept_to:first], _FENCE)
                at = kept_to = end
            else:
                at += 1
        return "".join((*pieces, written[kept_to:]))


def _keys(nonce: str) -> list[str]:
    last = len(nonce) - _KEY_CHARS
    return [nonce[at : at + _KEY_CHARS] for at in (*range(0, last, _KEY_STEP), last)]


def _shared(digits: str, at: int, nonce: str, least: int) -> tuple[int, int]:
    """How far `digits` and `nonce` are the same around the key at `at`; not before `least`."""
    place = nonce.index(digits[at : at + _KEY_CHARS])
    first, end = at, at + _KEY_CHARS
    while first > least and place > at - first and digits[first - 1] == nonce[place - (at - first) - 1]:
        first -= 1
    while end < len(digits) and (after := place + end - at) < len(nonce) and digits[end] == nonce[after]:
        end += 1
    return first, end


def _cores(nonce: str) -> tuple[str, ...]:
    """What every base64 of `nonce` holds, as text or as its bytes, whatever stands before it, in both alphabets."""
    found: list[str] = []
    for said in (nonce.encode(), bytes.fromhex(nonce)):
        for shift in range(3):
            coded = base64.b64encode(b"\0" * shift + said).decode()
            core = coded[4 if shift else 0 :][:_CORE_CHARS]
            found += {core, core.replace("+", "-").replace("/", "_")}
    return tuple(found)


def _begun(text: str, sentence: str) -> int:
    tail, whole = text[-2 * len(sentence) :].lower(), sentence.lower()
    at = tail.rfind(whole[:_TAIL_CHARS])
    return len(tail) - at if at >= 0 and whole.startswith(" ".join(tail[at:].split())) else 0
