"""The product as a runner of a benchmark harness, which loads this file by its path: `IMPORTS`, `start`, `converse`, `stop`.

The harness has put its modules `tools` (`SYSTEM`, `FUNCTIONS`, `SCHEMAS`) and `script` on `sys.path`.
"""

import gc
import importlib
import sys
from contextlib import AsyncExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.product import OnDelta, Product, open_product

IMPORTS = "from chatops_bot.app.cli import imported_run; imported_run()"
"""What importing costs a process that runs the bot, as `chatops-bot run` does it: all of it, the chat adapter and the scheduler's
tools included."""

_open = AsyncExitStack()
_products: list[Product] = []


async def start(base_url: str) -> None:
    gc.freeze()  # as `chatops-bot run` does when its imports are done
    tools = importlib.import_module("tools")
    product = open_product(base_url, system=tools.SYSTEM, functions=tools.FUNCTIONS, schemas=tools.SCHEMAS)
    _products.append(await _open.enter_async_context(product))


async def converse(prompt: str, model: str, on_delta: OnDelta) -> None:
    await _products[-1].converse(prompt, model, on_delta)


async def stop() -> None:
    _products.clear()
    await _open.aclose()
