"""Turns of two model calls, into one of which a fault is injected: made from a seed, with what may come of it.

Every word of the text is numbered, so that a doubled or lost piece shows. The calls carry arguments that no prefix of them
could be mistaken for.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.llm.model_server import (
    BEATING,
    DONE,
    Answer,
    ModelServer,
    call,
    chunk,
    complaint,
    event,
    text,
    usage,
)

STREAM_BYTES = 4096
NAMES = ("alpha 一", "beta 二", "gamma 三")
"""What the calls of the first message look for."""

SSE = {"Content-Type": "text/event-stream"}
KINDS = (
    "none", "eof", "reset", "stall", "heartbeats", "status", "status_once", "lost_once", "bad_json", "error_event",
    "finish", "no_finish", "said_again", "cut_arguments", "web_page", "empty",
)  # fmt: skip
BREAKING = frozenset(
    {"heartbeats", "bad_json", "error_event", "cut_arguments", "web_page", "empty", "status"}
)
UNCLEAN = ("length", "content_filter", "error", "insufficient_system_resource")
"""Finish reasons after which no call may run, however whole it looks."""
WRONG_FINISHES = (*UNCLEAN, "stop", "tool_calls", "function_call", "banana", None)


AFTER = "w9000 "
"""What is said when the model is asked again after both rounds, as it is when the calls of the second were cut."""


def words(first: int, count: int) -> list[str]:
    return [f"w{number:04d} 词 " for number in range(first, first + count)]


def events(said: Sequence[str], calls: Sequence[tuple[str, str]], finish: str | None) -> list[bytes]:
    """One streamed answer; each call's arguments come in several pieces."""
    found = [chunk(role="assistant", content=""), chunk(reasoning_content="thinking")]
    found += [text(word) for word in said]
    for index, (name, arguments) in enumerate(calls):
        found.append(call(index, f"call_{index}", name))
        found += [call(index, arguments=arguments[at : at + 7]) for at in range(0, len(arguments), 7)]
    return [*found, chunk(finish), usage(100, 20), DONE]


@dataclass(frozen=True)
class Case:
    """A turn under a fault. `answers` are played round by round; `once` comes before the first of them and must not show."""

    number: int
    kind: str
    at_round: int
    texts: tuple[str, str]
    calls: tuple[tuple[str, str], ...]
    answers: tuple[Answer, Answer]
    once: Answer | None = None

    @property
    def silent(self) -> bool:
        """Whether only a timeout ends it."""
        return self.kind in ("stall", "heartbeats")

    @property
    def broken(self) -> bool:
        """Whether the provider never said that its answer was whole, or said that it was not."""
        if self.kind in ("eof", "reset", "stall"):
            (sent, *_) = self.answers[self.at_round].pieces
            return isinstance(sent, bytes) and b'"finish_reason": "' not in sent
        if self.kind == "finish":
            sent = b"".join(piece for piece in self.answers[self.at_round].pieces if isinstance(piece, bytes))
            return any(b'"finish_reason": "%s"' % reason.encode() in sent for reason in UNCLEAN)
        return self.kind in BREAKING

    @property
    def whole(self) -> bool:
        """Whether everything must arrive as if there had been no fault."""
        return self.kind in ("none", "status_once", "lost_once", "said_again")


def made(number: int) -> Case:
    rng = random.Random(number)
    turn, kind = number // len(KINDS), KINDS[number % len(KINDS)]
    at_round = 0 if kind == "finish" else int(rng.random() < 0.4)
    said = (words(0, rng.randrange(4, 20)), words(5000, rng.randrange(4, 20)))
    calls = [
        ("look", json.dumps({"name": name}, ensure_ascii=False)) for name in NAMES[: rng.choice((1, 2, 3, 3))]
    ]
    if at_round == 0 and rng.random() < 0.3:
        calls.append(("switch", '{"task_id": 3, "action": "pause"}'))
    rounds = [events(said[0], calls, "tool_calls"), events(said[1], (), "stop")]
    answers = [Answer(rounds[0]), Answer(rounds[1])]
    once = None
    if kind in ("status_once", "lost_once"):
        once = _refusal(rng) if kind == "status_once" else Answer(torn=True)
    elif kind != "none":
        answers[at_round] = _faulty(
            rng, kind, turn, rounds[at_round], said[at_round], calls if at_round == 0 else []
        )
    texts = ("".join(said[0]), "".join(said[1]))
    return Case(number, kind, at_round, texts, tuple(calls), (answers[0], answers[1]), once)


def _refusal(rng: random.Random) -> Answer:
    status = rng.choice((429, 429, 500, 502, 503, 529))
    headers = {"Retry-After": "1"} if rng.random() < 0.5 else {}
    return Answer([rng.choice((b"", b"<html>busy</html>", complaint("slow down")))], status, headers)


def _faulty(
    rng: random.Random,
    kind: str,
    turn: int,
    whole: list[bytes],
    said: list[str],
    calls: list[tuple[str, str]],
) -> Answer:
    stream = b"".join(whole)
    cut = stream[: rng.randrange(len(stream))]
    inside = rng.randrange(1, len(whole) - 3)
    match kind:
        case "eof":
            return Answer([cut])
        case "reset":
            return Answer([cut], torn=True)
        case "stall":
            return Answer([cut, asyncio.Event()])
        case "heartbeats":
            beat = rng.choice((b"\n: still here\n\n", b"\n\n" + chunk(content="")))
            return Answer([b"".join(whole[:inside]), BEATING], beat=beat)
        case "status":
            return _refusal(rng)
        case "bad_json":
            bad = rng.choice(
                (b"data: {\n\n", b'data: {"choices": [{"delta": {"content": 7}}]}\n\n', b"data: nope\n\n")
            )
            return Answer([*whole[:inside], bad, *whole[inside:]])
        case "error_event":
            error = event({"error": {"message": "boom", "code": rng.choice((429, 500, "overloaded_error"))}})
            return Answer([*whole[:inside], error, *whole[inside:]])
        case "finish":
            return Answer(events(said, calls, WRONG_FINISHES[turn % len(WRONG_FINISHES)]))
        case "no_finish":
            return Answer(whole[:-3] + ([DONE] if rng.random() < 0.5 else []))
        case "said_again":
            message = {"role": "assistant", "content": "".join(said)}
            again = {"index": 0, "message": message, "finish_reason": None}
            return Answer([*whole[:-1], event({"choices": [again]}), DONE])
        case "cut_arguments":
            name, arguments = calls[-1] if calls else ("look", '{"name": "x"}')
            shortened = (name, arguments[: rng.randrange(1, len(arguments))])
            return Answer(
                events(said, [*calls[:-1], shortened], rng.choice(("tool_calls", "stop", "length")))
            )
        case "web_page":
            return Answer([b"<!doctype html><title>Sign in</title>"], headers={"Content-Type": "text/html"})
        case _:
            return Answer(headers=SSE)


@dataclass
class FaultServer(ModelServer):
    """Plays the case that the request's model names, in the round that its messages show."""

    cases: dict[str, Case] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()
        self.tries: Counter[tuple[str, int]] = Counter()

    def answer_to(self, body: Any) -> Answer:
        case = self.cases[body["model"]]
        round_number = sum(message["role"] == "assistant" for message in body["messages"])
        if round_number > 1:
            return Answer(events([AFTER], (), "stop"))
        self.tries[body["model"], round_number] += 1
        if (
            case.once is not None
            and case.at_round == round_number
            and self.tries[body["model"], round_number] == 1
        ):
            return case.once
        return case.answers[round_number]


def long_stream(size: int = STREAM_BYTES) -> bytes:
    """One answer with text and calls of about `size` bytes."""
    calls = [("look", json.dumps({"name": name}, ensure_ascii=False)) for name in NAMES]
    count = 1
    while len(b"".join(events(words(0, count + 1), calls, "tool_calls"))) <= size:
        count += 1
    return b"".join(events(words(0, count), calls, "tool_calls"))
