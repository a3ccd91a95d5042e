"""Stable parts that were written before: the builder is pure, so the same agent, tools and skills need it only once.

A prefix is asked for before every step of every turn, and there are few of them.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

KEPT = 64


class PromptCache(Generic[K, V]):
    """The last `KEPT` values that were made, by what they were made of."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key]
        value = self._values[key] = make()
        if len(self._values) > self._kept:
            self._values.popitem(last=False)
        return value
