"""The answer of one turn as people see it: a fold of turn events into messages.

Events only change the state; what people see is computed from the whole state whenever somebody asks, so it makes no
difference into how many pieces a text was streamed. Redacting and sanitising see the whole visible text each time. While
a text still streams, a tail that may turn out to be the beginning of a secret is held back; it comes with what follows.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.turn_event import (
    CallEnded,
    CallStarted,
    Noted,
    Rested,
    RoundEnded,
    TextStreamed,
    TextWithdrawn,
    TurnEvent,
)
from chatops_bot.domain.view import Block, Button, Buttons, Lines, Markdown, Notice, Tone, View
from chatops_bot.rendering import notices
from chatops_bot.rendering.escapes import inert, one_line, shown
from chatops_bot.rendering.followup_buttons import followup_buttons
from chatops_bot.rendering.graphemes import clip
from chatops_bot.rendering.healing import heal
from chatops_bot.rendering.links import NO_LINKS, Links
from chatops_bot.rendering.sanitise import sanitise
from chatops_bot.rendering.splitting import split
from chatops_bot.rendering.tool_lines import Call, tool_lines
from chatops_bot.rendering.turn_snapshot import Snapshot

FALLBACK_CHARS = 300

_ENDINGS: dict[TurnOutcome, tuple[Phrase, Tone]] = {
    TurnOutcome.STOPPED: (notices.STOPPED, "info"),
    TurnOutcome.INTERRUPTED: (notices.INTERRUPTED, "warning"),
    TurnOutcome.CAPPED: (notices.CAPPED, "warning"),
    TurnOutcome.FAILED: (notices.FAILED, "danger"),
}
_SAID_BY_NOTES = frozenset({TurnOutcome.CAPPED, TurnOutcome.FAILED, TurnOutcome.STOPPED})
"""Endings whose reason is usually noted by whoever ended the turn; the general sentence stands in only when it did not."""


class TurnView:
    """What one turn shows, event by event.

    `text_chars` is how much visible text one message holds (`PlatformLimits.text_chars`); `stop_value` is what the Stop
    button stands for. Without a `redactor` nothing is redacted and nothing held back. Addresses that `links` does not
    allow are shown as code.
    """

    def __init__(
        self,
        language: Language,
        text_chars: int,
        redactor: Redactor | None = None,
        *,
        stop_value: str,
        links: Links = NO_LINKS,
    ) -> None:
        self._language = language
        self._text_chars = text_chars
        self._redactor = redactor
        self._stop_value = stop_value
        self._links = links
        self._rounds: list[str] = []
        self._streaming = ""
        self._may_grow = False
        self._calls: list[Call] = []
        self._first_notes: list[Phrase] = []
        self._notes: list[Phrase] = []
        self._outcome: TurnOutcome | None = None
        self._offered: tuple[tuple[str, str], ...] = ()
        self._state: Phrase | None = None
        self._silence = 0

    def fold(self, event: TurnEvent) -> None:
        """Take the next event in. Text that comes after the end is dropped; reasoning is never shown."""
        if self._outcome is not None and not isinstance(event, CallEnded | Noted):
            return
        match event:
            case TextStreamed(text):
                self._streaming += text
                self._may_grow = True
            case TextWithdrawn():
                self._streaming = ""
            case RoundEnded():
                self._end_round()
            case CallStarted(call_id, _, label):
                self._put(Call(call_id, label))
            case CallEnded(call_id, tool, status, summary, milliseconds):
                known = next((call for call in self._calls if call.call_id == call_id), None)
                label = known.label if known else Phrase(tool, tool)
                self._put(Call(call_id, label, status, summary, milliseconds))
            case Noted(phrase, is_first):
                notes = self._first_notes if is_first else self._notes
                if phrase not in notes:
                    notes.append(phrase)
            case Rested():
                self._rest(event)
            case _:  # reasoning has a channel of its own, a proposal has a card of its own
                pass

    def wait(self, ahead: int) -> None:
        """Say that the turn waits for `ahead` others; 0 when it starts."""
        self._state = notices.WAITING.filled(ahead=ahead) if ahead else None

    def hand_over(self) -> None:
        """Say that the turn starts after the restart of the bot."""
        self._state = notices.HANDED_OVER

    def silent_for(self, seconds: int) -> bool:
        """Say that the model is waited for since so many seconds, 0 for not at all; whether that changes what is shown."""
        if self._is_busy and seconds:
            return False
        changed = seconds != self._silence
        self._silence = seconds
        return changed

    def offer(self, followups: Sequence[tuple[str, str]]) -> None:
        """Offer next questions as buttons once the turn rests: (question, opaque value of its button), best first."""
        self._offered = tuple(followups)

    def interrupted(self) -> None:
        """Mark a turn that died as interrupted. What had been found stays; a turn that had ended keeps its ending."""
        if self._outcome is None:
            self._break_off()
            self._end_round()
            self._outcome = TurnOutcome.INTERRUPTED

    @property
    def outcome(self) -> TurnOutcome | None:
        """How the turn came to rest; None while it runs."""
        return self._outcome

    @property
    def has_findings(self) -> bool:
        """Whether anything of an answer stands in it: text, or calls that came back."""
        return bool(self.visible_text.strip()) or any(call.status is not None for call in self._calls)

    @property
    def visible_text(self) -> str:
        """The sanitised text of all rounds and the body, parted by blank lines: what all messages together hold."""
        return sanitise(self._redacted(self._joined()), self._links)

    def pages(self) -> tuple[View, ...]:
        """The messages of this turn, in order; never none. Tool lines and what explains the answer stand on the first, other notes and
        buttons on the last."""
        texts = self._page_texts()
        head, tail = self._head(has_text=bool(texts[0])), self._tail(has_text=bool(texts[0]))
        if not (texts[0] or head or any(isinstance(block, Notice) for block in tail)):
            tail = (self._notice(notices.NO_ANSWER, "warning"), *tail)
        views = []
        for number, text in enumerate(texts):
            blocks: list[Block] = list(head) if number == 0 else []
            if text:
                blocks.append(Markdown(text))
            if number == len(texts) - 1:
                blocks.extend(tail)
            views.append(View(tuple(blocks), _fallback(text, blocks)))
        return tuple(views)

    def snapshot(self) -> str:
        """This view as JSON, redacted, to be stored; `restore` gives a view with the same pages back."""
        redacted = self._redacted
        return Snapshot(
            language=self._language,
            text_chars=self._text_chars,
            stop_value=self._stop_value,
            text=shown(redacted(self._joined())),
            calls=tuple(replace(call, summary=_both(call.summary, redacted)) for call in self._calls),
            first_notes=tuple(_both(note, redacted) for note in self._first_notes),
            notes=tuple(_both(note, redacted) for note in self._notes),
            outcome=self._outcome,
            offered=tuple((redacted(question), value) for question, value in self._offered),
        ).model_dump_json()

    @classmethod
    def restore(cls, snapshot: str, redactor: Redactor | None = None) -> "TurnView":
        """The view that `snapshot` came from. Raises ValueError on anything else, an empty text included."""
        stored = Snapshot.model_validate_json(snapshot)
        view = cls(stored.language, stored.text_chars, redactor, stop_value=stored.stop_value)
        view._rounds = [stored.text] if stored.text else []
        view._calls = list(stored.calls)
        view._first_notes = list(stored.first_notes)
        view._notes = list(stored.notes)
        view._outcome = stored.outcome
        view._offered = stored.offered
        return view

    def _put(self, call: Call) -> None:
        for index, known in enumerate(self._calls):
            if known.call_id == call.call_id:
                self._calls[index] = call
                return
        self._calls.append(call)

    def _end_round(self) -> None:
        if self._streaming.strip():
            self._rounds.append(self._streaming)
        self._streaming = ""
        self._may_grow = False

    def _rest(self, event: Rested) -> None:
        """The body takes the place of what streamed since the last round.

        Without a body, or with one that only repeats the last round, a text that broke off stays as far as it came.
        """
        body = event.body.strip()
        is_new = bool(body) and not (self._rounds and self._rounds[-1].strip() == body)
        if is_new or event.outcome is TurnOutcome.ANSWERED:
            self._streaming = event.body
        else:
            self._break_off()
        self._end_round()
        self._outcome = event.outcome

    def _break_off(self) -> None:
        """No more text comes: what was held back is shown, unless it may be half of a secret, which nobody would recognise."""
        if self._redactor is not None and self._redactor.may_end_in_a_secret(self._streaming):
            self._streaming = f"{self._streaming[: -self._redactor.held_back(self._streaming)]}…"

    def _joined(self) -> str:
        texts = (*self._rounds, self._settled_streaming())
        return "\n\n".join(text.strip("\r\n").rstrip() for text in texts if text.strip())

    def _settled_streaming(self) -> str:
        """What of the streaming text can be shown: all but a tail that may be the beginning of a secret."""
        if self._redactor is None or not self._may_grow:
            return self._streaming
        return self._streaming[: len(self._streaming) - self._redactor.held_back(self._streaming)]

    def _redacted(self, text: str) -> str:
        return self._redactor.text(text) if self._redactor else text

    def _page_texts(self) -> list[str]:
        texts = [text for text in split(self.visible_text, self._text_chars) if text.strip()] or [""]
        if self._outcome is None:
            healed = heal(texts[-1])
            texts[-1] = healed if len(healed) <= self._text_chars else texts[-1]
        return texts

    def _head(self, *, has_text: bool) -> tuple[Block, ...]:
        is_over = self._outcome is not None
        lines = tool_lines(self._calls, self._language, is_over=is_over, redact=self._redacted)
        if not (is_over or self._is_busy or has_text):
            lines = (*lines, (self._state or self._silent or notices.WORKING).said_in(self._language))
        first = tuple(self._notice(note, "warning") for note in self._first_notes)
        return (*first, Lines(lines)) if lines else first

    @property
    def _is_busy(self) -> bool:
        return any(call.status is None for call in self._calls)

    @property
    def _silent(self) -> Phrase | None:
        return notices.SILENT.filled(seconds=self._silence) if self._silence else None

    def _tail(self, *, has_text: bool) -> tuple[Block, ...]:
        if self._outcome is None:
            waits = self._state is not None and self._state is not notices.HANDED_OVER
            label = notices.TAKE_BACK if waits else notices.STOP
            stop = Button("stop", label.said_in(self._language), self._stop_value)
            notes = tuple(self._notice(note, "info") for note in self._notes)
            silent = (Lines((self._silent.said_in(self._language),)),) if self._silent and has_text else ()
            return (*notes, *silent, Buttons((stop,)))
        last_words = (self._notice(phrase, tone) for phrase, tone in self._last_words(self._outcome))
        return (*last_words, *followup_buttons(self._offered, self._redacted))

    def _last_words(self, outcome: TurnOutcome) -> list[tuple[Phrase, Tone]]:
        """The notes, and how the turn ended; where the loop noted the reason last, that stands for the general sentence."""
        words: list[tuple[Phrase, Tone]] = [(note, "info") for note in self._notes]
        if outcome in _ENDINGS:
            phrase, tone = _ENDINGS[outcome]
            if words and outcome in _SAID_BY_NOTES:
                words[-1] = (words[-1][0], tone)
            else:
                words.append((phrase, tone))
        return words

    def _notice(self, phrase: Phrase, tone: Tone) -> Notice:
        return Notice(one_line(self._redacted(phrase.said_in(self._language))), tone)


def _both(phrase: Phrase, change: Callable[[str], str]) -> Phrase:
    return Phrase(change(phrase.zh), change(phrase.en))


def _fallback(text: str, blocks: Sequence[Block]) -> str:
    """A message as plain text, for notifications and screen readers: its visible text, else its last line."""
    if text:
        return text.replace("&lt;", "<").replace("&gt;", ">")
    lines = [block.lines[-1] for block in blocks if isinstance(block, Lines)]
    plain = next((block.text for block in blocks if isinstance(block, Notice)), lines[-1] if lines else "…")
    return clip(one_line(inert(plain)), FALLBACK_CHARS)
