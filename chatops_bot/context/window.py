"""What of a conversation is sent with one call of a model. It is chosen on a copy; the conversation stays whole.

Three steps, each only if the one before was not enough: a result that is too long keeps head and tail; the oldest results
leave a note; the oldest turns leave a note, and what is sent starts at a person's message. A call and its result go together,
since notes take the place of results and turns are left out whole.

The conversation is walked through from its beginning, and each time that it outgrows its room it is brought down to well
below. So the choice depends on nothing but the messages so far, and one message more changes nothing of what was sent
before it, except at such a jump: providers can reuse the prefix that they have cached. A window that gave way a little with
each message would be new to them each time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chatops_bot.context.budget import PROMPT_TOKENS, Budget
from chatops_bot.context.clearing import cleared, is_kept, shortened
from chatops_bot.context.fence import Marks, fence
from chatops_bot.context.tokens import OTHER_TOKENS, estimate, tokens_of, tokens_of_tools
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.model import (
    ContextMessage,
    Message,
    ModelRequest,
    RecordMessage,
    ToolDefinition,
    ToolMessage,
    Usage,
    UserMessage,
)

NEWEST_KEPT = 5
"""Results that are cleared last (the number of the second seed system)."""
RESULT_SHARE = 6
"""One result gets at most a sixth of the room, so that the newest ones fit together with what was said about them."""
ROOMY = 4
"""A conversation of a quarter of the room fits, whatever prompt and tools take."""
BROUGHT_DOWN_TO = 0.6
"""Of the room, at a jump. Lower means fewer jumps and less memory between them."""


@dataclass(slots=True)
class _Walk:
    """The state of the walk: what is left out before `start`, and cleared before `clear`; `used` is what the rest takes."""

    start: int
    used: int
    clear: int = 0


def fit(messages: Sequence[Message], room: int, marks: Marks) -> Sequence[Message]:
    """The messages that are sent in a room of so many estimated tokens; `messages` itself if all of it fits.

    Records in front of the first person's message (what stood in the thread before) stay, as does the newest person's message
    and what follows it, whatever the size. `marks` has the nonce of the note about what is left out.
    """
    return _fitted(messages, list(map(tokens_of, messages)), room, marks, {})


def _fitted(
    messages: Sequence[Message], costs: Sequence[int], room: int, marks: Marks, notes: dict[Message, Message]
) -> Sequence[Message]:
    """As `fit`, where each message's cost is known, and `notes` holds what stands for cleared results, as far as it was written."""
    longest = room // RESULT_SHARE
    if sum(costs) <= room and not any(_is_long(m, c, longest) for m, c in zip(messages, costs, strict=True)):
        return messages
    sized = [
        shortened(message, int(longest / OTHER_TOKENS * _density(message, cost)))
        if _is_long(message, cost, longest) and isinstance(message, ToolMessage)
        else message
        for message, cost in zip(messages, costs, strict=True)
    ]
    lead = next(
        (place for place, message in enumerate(messages) if not isinstance(message, RecordMessage)),
        len(sized),
    )
    # Context is new in each turn and stands in another place; its cost is not part of the room.
    costs = [
        0 if isinstance(now, ContextMessage) else cost if now is was else tokens_of(now)
        for now, was, cost in zip(sized, messages, costs, strict=True)
    ]
    return _Fitting(sized, costs, lead, room, notes).sent(marks)


def _is_long(message: Message, cost: int, longest: int) -> bool:
    return _size(message, cost) > longest


def _density(message: Message, cost: int) -> float:
    """Characters a token of this text against those of plain ASCII."""
    text = message.text
    return min(1.0, OTHER_TOKENS * len(text) / max(cost, 1))


class _Fitting:
    def __init__(
        self, messages: list[Message], costs: list[int], lead: int, room: int, notes: dict[Message, Message]
    ) -> None:
        self._messages = messages
        self._lead = lead
        self._room = room
        self._target = int(room * BROUGHT_DOWN_TO)
        self._costs = costs
        self._notes = notes

    def sent(self, marks: Marks) -> list[Message]:
        walk = self._walked()
        kept = [
            self._note(place) if place < walk.clear and self._can_clear(place) else self._messages[place]
            for place in range(walk.start, len(self._messages))
        ]
        lead = self._messages[: self._lead]
        left_out = self._messages[self._lead : walk.start]
        return [*lead, *([_left_out(left_out, marks)] if left_out else []), *kept]

    def _walked(self) -> _Walk:
        walk = _Walk(self._lead, sum(self._costs[: self._lead]))
        results: list[int] = []
        starts: list[int] = []
        for place in range(self._lead, len(self._messages)):
            walk.used += self._costs[place]
            if isinstance(self._messages[place], UserMessage):
                starts.append(place)
            if self._can_clear(place):
                results.append(place)
            if walk.used > self._room:
                self._give_way(walk, results, starts)
        return walk

    def _give_way(self, walk: _Walk, results: list[int], starts: list[int]) -> None:
        self._clear(walk, results[:-NEWEST_KEPT])
        if (
            walk.used > (self._room + self._target) // 2
        ):  # else the next message or two would make another jump
            self._leave_out(walk, starts)
        if walk.used > self._room:
            self._clear(walk, results[:-1])

    def _clear(self, walk: _Walk, results: Sequence[int]) -> None:
        """Clear the oldest of `results` until it is well below the room."""
        for place in results:
            if walk.used <= self._target:
                return
            if place >= max(walk.clear, walk.start):
                note = self._note(place)
                walk.used -= self._costs[place] - tokens_of(note)
                walk.clear = place + 1

    def _leave_out(self, walk: _Walk, starts: Sequence[int]) -> None:
        """Leave out the oldest turns until it is well below the room; the newest person's message stays."""
        for start in starts:
            if start <= walk.start:
                continue
            if walk.used <= self._target:
                return
            walk.used -= sum(self._cost_now(place, walk) for place in range(walk.start, start))
            walk.start = start

    def _cost_now(self, place: int, walk: _Walk) -> int:
        is_cleared = place < walk.clear and self._can_clear(place)
        return tokens_of(self._note(place)) if is_cleared else self._costs[place]

    def _can_clear(self, place: int) -> bool:
        message = self._messages[place]
        return isinstance(message, ToolMessage) and not is_kept(message)

    def _note(self, place: int) -> Message:
        message = self._messages[place]
        if message not in self._notes and isinstance(message, ToolMessage):
            self._notes[message] = cleared(message)
        return self._notes.get(message, message)


def _left_out(messages: Sequence[Message], marks: Marks) -> RecordMessage:
    """How much is left out, and whose messages are among it."""
    said = [message for message in messages if isinstance(message, UserMessage)]
    authors = list(dict.fromkeys(message.author for message in said if message.author))
    told = {"left_out": {"messages": len(messages), "questions": len(said), "people": authors}}
    note = canonical_json(told)
    return RecordMessage(fence(note, source="start of the conversation", nonce=marks(note)))


class Window:
    """The window of one turn. It grows at its end, and while the turn is prepared its context changes: what was counted or noted
    once is not again, and of the same messages in the same room the same is sent."""

    def __init__(self, budget: Budget, model: str, marks: Marks) -> None:
        """`model` is the name of the model that is asked; `marks` are the nonces of the conversation."""
        self._budget = budget
        self._model = model
        self._marks = marks
        self._seen: tuple[Message, ...] = ()
        self._costs: list[int] = []
        self._notes: dict[Message, Message] = {}
        self._newest: tuple[int, tuple[Message, ...], Sequence[Message]] = 0, (), ()
        self._tokens = 0
        self._longest = 0
        self._context = 0
        self._asked = 0
        self._refusals = 0

    def fit(
        self, messages: tuple[Message, ...], tools: tuple[ToolDefinition, ...], prompt: str
    ) -> Sequence[Message]:
        """See the module; `tools` and `prompt` are sent beside them."""
        self._count(messages)
        longer = max(0, estimate(prompt) - PROMPT_TOKENS)
        room = self._budget.room(self._model, tokens_of_tools(tools) + self._context + longer)
        if self._tokens <= room and self._longest <= room // RESULT_SHARE:
            return messages
        if self._newest[:2] != (room, messages):
            sent = _fitted(messages, self._costs, room, self._marks, self._notes)
            self._newest = room, messages, sent
        return self._newest[2]

    def is_roomy(self, messages: tuple[Message, ...]) -> bool:
        """Whether they fit so well that it need not be known how much goes beside them."""
        self._count(messages)
        room = self._budget.room(self._model, 0) // ROOMY
        return self._tokens <= room and self._longest <= room // RESULT_SHARE

    def sends(self, request: ModelRequest) -> None:
        """Remember how large the request is that is sent now."""
        self._asked = sum(map(tokens_of, request.messages)) + tokens_of_tools(request.tools)

    def answered(self, model: str, usage: Usage) -> None:
        """The model reports what the request cost; another model than the one that is asked teaches about itself only."""
        self._budget.learn(model, self._asked, usage)

    def too_long(self) -> bool:
        """The provider called the request too long. Whether a smaller one is worth a try: once a turn."""
        self._budget.refused(self._model, self._asked)
        self._refusals += 1
        return self._refusals == 1

    def _count(self, messages: tuple[Message, ...]) -> None:
        """Add up what is new; tuples compare by identity first, at the speed of C."""
        known = len(self._seen)
        if messages[:known] != self._seen:
            both = enumerate(zip(self._seen, messages, strict=False))
            changed = (place for place, (was, now) in both if was is not now)
            known = next(changed, min(known, len(messages)))
            for message, cost in zip(self._seen[known:], self._costs[known:], strict=True):
                self._add(message, -cost)
            self._longest = max(map(_size, messages[:known], self._costs), default=0)
            del self._costs[known:]
        for message in messages[known:]:
            cost = tokens_of(message)
            self._costs.append(cost)
            self._add(message, cost)
            self._longest = max(self._longest, _size(message, cost))
        self._seen = messages

    def _add(self, message: Message, cost: int) -> None:
        if isinstance(message, ContextMessage):
            self._context += cost
        else:
            self._tokens += cost


def _size(message: Message, cost: int) -> int:
    """What a result that can be made smaller takes; nothing else is too long by itself."""
    return cost if isinstance(message, ToolMessage) and not is_kept(message) else 0
