"""Random model streams over real HTTP: made from a seed, torn at any byte, and with the text that must become visible."""

import json
import random
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from chatops_bot.rendering.sanitise import sanitise
from tests.llm.model_server import DONE, call, chunk, text, usage

CALLS = (
    ("query_tasks", "{}"),
    ("query_workers", ""),
    ("get_task_detail", '{"task_id": 1}'),
    ("query_instances", '{"limit": 3}'),
    ("no_such_tool", "{}"),
    ("query_tasks", '{"status": }'),
)
FRAGMENTS = (
    "The backup failed at 03:30 UTC. ",
    "数据库 db-primary 拒绝了连接，请先检查网络。",
    "👩‍👩‍👧‍👦 family, 🇨🇳 flag, é combining, naïve café ",
    "**bold _and nested_** and ~~gone~~ ",
    "\n\n# A heading\n\n",
    "\n- one\n- two\n  - nested\n\n",
    "\n1. first\n2. second\n\n",
    "\n\n```python\nif a < b and c > d:\n    print('<!channel>')\n```\n\n",
    "\n\n~~~\nls -l <file>\n~~~\n\n",
    "\n| task | runs |\n|---|---:|\n| `a` | 3 |\n| 乙 | 4 |\n\n",
    "`inline <code>` ",
    "<@U123> and <!here> and <#C1|general> ",
    "[a link](https://example.com/a?b=c) and <https://example.com|label> ",
    "![image](https://example.com/x.png) ",
    "[odd](javascript:alert(1)) ",
    "> quoted\n> twice\n\n",
    "a < b && c > d &amp; &lt;kept&gt; ",
    "\\* escaped \\` \\<@U1> ",
    "line with two spaces  \nnext ",
    "``` not a fence` ",
    "5 * 3 * 2 = 30 and __init__ and snake_case ",
    "\u202eright to left\u202c \u200bzero width ",
    "--- ",
    "\n\n---\n\n",
    "[ref]: https://example.com 'title'\n",
    "long" * 40 + " ",
    "    indented code, if it comes first\n\n",
)
QUESTIONS = ("Why did db-backup fail?", "Which workers are offline?", "Show the queue")


@dataclass(frozen=True)
class Stream:
    """One turn's model answers: the bytes of each call in order, and what people must see in the end."""

    rounds: tuple[tuple[bytes, ...], ...]
    visible: str
    followups: tuple[str, ...]


def made(seed: int) -> Stream:
    rng = random.Random(seed)
    texts = [_prose(rng, rng.randrange(6)) for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))]
    final = _prose(rng, rng.choice((0, 1, 4, 12, 12, 400)) if rng.random() < 0.9 else 900)
    followups = tuple(rng.sample(QUESTIONS, rng.randrange(3)))
    block = (
        "\n\n```followups\n"
        + "\n".join(f"query_tasks: {each}" for each in followups)
        + "\n```"
        + rng.choice(("", "\n"))
        if followups
        else ""
    )
    rounds = [_streamed(rng, each, calls=rng.randrange(1, 4)) for each in texts]
    rounds.append(_streamed(rng, final + block, calls=0))
    parts = [part for each in (*texts, final) if (part := each.strip("\r\n").rstrip())]
    return Stream(tuple(rounds), sanitise("\n\n".join(parts)), followups)


def _prose(rng: random.Random, fragments: int) -> str:
    return "".join(rng.choice(FRAGMENTS) for _ in range(fragments))


def _streamed(rng: random.Random, said: str, *, calls: int) -> tuple[bytes, ...]:
    """The answer as events in a random number of deltas, then its bytes torn anywhere, inside characters too."""
    events = [text(piece) for piece in _torn(rng, said, most=1 + len(said) // rng.choice((1, 7, 60)))]
    if rng.random() < 0.4:
        events.insert(0, chunk(reasoning_content="thinking about <it>"))
    for index in range(calls):
        name, arguments = rng.choice(CALLS)
        pieces = [call(index, f"call_{rng.random()}", name)]
        pieces += [call(index, arguments=piece) for piece in _torn(rng, arguments, most=3)]
        events += pieces
    if rng.random() < 0.3:
        events.insert(rng.randrange(len(events) + 1), b": still here\n\n")
    events += [chunk(finish="tool_calls" if calls else "stop"), usage(10, 20), DONE]
    whole = b"".join(events)
    cuts = sorted(rng.randrange(len(whole) + 1) for _ in range(rng.choice((0, 1, 5, 30))))
    return tuple(whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True))


def _torn(rng: random.Random, whole: str, most: int) -> list[str]:
    cuts = sorted(rng.randrange(len(whole) + 1) for _ in range(rng.randrange(most)))
    return [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]


@asynccontextmanager
async def open_stream_server(stream_of: Callable[[int], Stream]) -> AsyncIterator[str]:
    """A model that is asked "stream N" and plays that stream, round by round; yields its base URL."""

    async def answer(request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        asked = [m["content"] for m in body["messages"] if m["role"] == "user"]
        number = next(
            int(found.group(1))
            for said in asked
            if (found := re.search(r"^stream (\d+)\Z", said, re.MULTILINE))
        )
        round_number = sum(m["role"] == "assistant" for m in body["messages"])
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in stream_of(number).rounds[round_number]:
            await response.write(piece)
        return response

    app = web.Application(client_max_size=8 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}/v1"
    finally:
        await runner.cleanup()
