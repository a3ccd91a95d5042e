"""Dependencies between tasks: an edge `a -> b` reads "a waits for b". Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def find_cycle(waits_for: Mapping[int, Iterable[int]]) -> list[int] | None:
    """One cycle as the ids along it, first id repeated at the end; None when there is none."""
    done: set[int] = set()
    for start in sorted(waits_for):
        if start in done:
            continue
        path: list[int] = []
        on_path: set[int] = set()
        stack: list[tuple[int, bool]] = [(start, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                on_path.discard(path.pop())
                done.add(node)
                continue
            if node in on_path:
                return [*path[path.index(node) :], node]
            if node in done:
                continue
            path.append(node)
            on_path.add(node)
            stack.append((node, True))
            stack.extend((below, False) for below in waits_for.get(node, ()))
    return None
