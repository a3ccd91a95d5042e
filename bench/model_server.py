"""A model server that plays the conversation, as a process of its own: `python -m bench.model_server` prints its port.

The round is the number of answers in the request. A model named `paced` sends an event every 10 ms, any other all at once.
The results of the calls so far must stand in the request, so that nobody is quick by leaving work out.
"""

import asyncio
import json
import re

from bench import conversation

PACE = 0.01
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [conversation.events(turn) for turn in range(conversation.TOOL_ROUNDS + 1)]


def refusal(messages: list[dict[str, str]], answers: int) -> str:
    """What is missing of the results of the calls so far, or nothing."""
    results = "\n".join(message["content"] for message in messages if message["role"] == "tool")
    wanted = [f"checkout-{turn} 5 0.02" for turn in range(answers)] + [
        str(turn + 41) for turn in range(answers)
    ]
    return ", ".join(each for each in wanted if each not in results)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: *(\d+)", head)
            body = json.loads(await reader.readexactly(int(length.group(1)) if length else 0))
            answers = sum(message["role"] == "assistant" for message in body["messages"])
            missing = refusal(body["messages"], answers)
            if missing:
                text = f"no result holds {missing}".encode()
                writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
            elif body["model"] == "paced":
                writer.write(HEAD)
                for event in EVENTS[answers]:
                    writer.write(_chunk(event))
                    await asyncio.sleep(PACE)
                writer.write(b"0\r\n\r\n")
            else:
                writer.write(HEAD + _chunk(b"".join(EVENTS[answers])) + b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
