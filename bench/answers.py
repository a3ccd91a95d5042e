"""An answer of a model, as the bytes of its stream and as the deltas in it."""

import json

from chatops_bot.domain.turn_event import TextStreamed

DELTAS = 1_000
EVENTS_PER_PIECE = 3
"""How many events one read from the network brings; a provider's chunks are small and come singly or in short rows."""

_SENTENCES = (
    "**db-backup** failed 3 times since 02:00: `connection to server at 10.20.4.15 failed: Connection refused`.",
    "任务 **nightly-report** 最近一次运行成功，耗时 0.4 秒，共读取 48211 行。",
    "| task | runs | failed |\n|---|---|---|\n| cert-check | 12 | 0 |\n| cache-warmup | 12 | 12 |",
    "```sh\npg_dump: error: Is the server running on that host and accepting TCP/IP connections?\n```",
    "- retry it after the database is back, see <https://wiki.example.com/db>;\n- or pause it until then.",
)


def texts() -> list[str]:
    """The visible text in pieces of a few characters, as models stream it."""
    whole = "\n\n".join(_SENTENCES)
    size = 4
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    return [pieces[number % len(pieces)] for number in range(DELTAS)]


def events() -> list[TextStreamed]:
    return [TextStreamed(text) for text in texts()]


def stream() -> list[bytes]:
    """The same text as an OpenAI-compatible stream, in pieces as the network brings them."""
    chunks = [_chunk({"content": text}) for text in texts()]
    chunks += [_chunk({}, finish="stop"), b"data: [DONE]\n\n"]
    return [b"".join(chunks[at : at + EVENTS_PER_PIECE]) for at in range(0, len(chunks), EVENTS_PER_PIECE)]


def call_stream() -> list[bytes]:
    """A stream of one tool call whose arguments come in as many pieces."""
    first = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": "create_task", "arguments": ""},
    }
    arguments = ['{"note": "', *("abcd" for _ in range(DELTAS - 2)), '"}']
    chunks = [_chunk({"tool_calls": [first]})]
    chunks += [_chunk({"tool_calls": [{"index": 0, "function": {"arguments": each}}]}) for each in arguments]
    chunks += [_chunk({}, finish="tool_calls"), b"data: [DONE]\n\n"]
    return [b"".join(chunks[at : at + EVENTS_PER_PIECE]) for at in range(0, len(chunks), EVENTS_PER_PIECE)]


def _chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
    body = {
        "id": "chatcmpl-9f2c", "object": "chat.completion.chunk", "created": 1772461920, "model": "night-owl-2",
        "system_fingerprint": "fp_3c1d", "choices": [
            {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        ],
    }  # fmt: skip
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"
