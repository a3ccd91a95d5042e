"""A proxy before a Redis server that loses replies when a test says so: the command is carried out, and nobody hears of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class LossyProxy:
    """`losing` answers to commands that contain `word` are lost, their connection with them; `lost` counts them."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.port = 0
        self.word = b"EVAL"
        self.losing = 0
        self.lost = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._target)
        try:
            while command := await reader.read(1 << 20):
                to_server.write(command)
                answer = await from_server.read(1 << 20)
                if self.losing and self.word in command:
                    self.losing, self.lost = self.losing - 1, self.lost + 1
                    return
                writer.write(answer)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()
            to_server.close()
            with suppress(ConnectionError):
                await asyncio.gather(writer.wait_closed(), to_server.wait_closed())


@asynccontextmanager
async def lossy_proxy(target: int) -> AsyncIterator[LossyProxy]:
    """A proxy to the server at port `target` of this machine, on a free port. Commands and answers must fit one packet."""
    proxy = LossyProxy(target)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await server.wait_closed()
