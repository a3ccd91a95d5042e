"""A language model."""

from collections.abc import AsyncGenerator
from typing import Protocol

from chatops_bot.domain.model import ModelDelta, ModelRequest


class LLM(Protocol):
    """A language model, or something that stands in for one."""

    @property
    def name(self) -> str:
        """What people are told answers them, e.g. `offline` or `gpt-4o at api.example.com`."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """Yield the answer as it comes; the last delta is `Finished`.

        Raises only `ModelError`s. After an error nothing more is yielded, and what was yielded before stands.
        Closing the generator early (cancellation) releases the connection.
        """
