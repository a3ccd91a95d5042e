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
_HEX_CHARS = 32
_CORE_CHARS = 16
"""Enough of a nonce's base64 to know it by: 96 bits of it."""
_TAIL_CHARS = 12
"""From here on the beginning of a sentence is held back until it is clear whether it goes on."""

_HALF_NONCE = re.compile(r"[0-9a-f]{8,31}\Z", re.IGNORECASE)
_HEX_RUN = re.compile(rf"[0-9A-Fa-f]{{{_HEX_CHARS}}}")
_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}+={0,2}")
"""Whatever may hold a nonce, in hex or in base64."""
_FENCE, _PROMPT = "[redacted:fence]", "[redacted:prompt]"


class Withheld(Redactor):
    """A redactor that also takes out nonces that it has seen being made, and `sentences`, however they are wrapped."""

    def __init__(self, secrets: Iterable[str] = (), sentences: Iterable[str] = ()) -> None:
        self._configured = tuple(secrets)
        self._live: dict[str, str] = {}
        super().__init__(self._configured)
        self._nonces: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._cores: set[str] = set()
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
        """As `Redactor.text`, without nonces in hex or base64, and without sentences of the prompt."""
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
        if len(self._nonces) > REMEMBERED_NONCES:
            _, forgotten = self._nonces.popitem(last=False)
            self._cores.difference_update(forgotten)

    def _without_nonces(self, match: re.Match[str]) -> str:
        run = match.group()
        if any(run[at : at + _CORE_CHARS] in self._cores for at in range(len(run) - _CORE_CHARS + 1)):
            return _FENCE
        if _HEX_RUN.search(run) is None:
            return run
        pieces: list[str] = []
        at = kept_to = 0
        while at <= len(run) - _HEX_CHARS:
            if run[at : at + _HEX_CHARS].lower() in self._nonces:
                pieces += (run[kept_to:at], _FENCE)
                at = kept_to = at + _HEX_CHARS
            else:
                at += 1
        return "".join((*pieces, run[kept_to:]))


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
