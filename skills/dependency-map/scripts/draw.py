"""Draws who waits for whom. Standard input: {"tasks": [{"id", "name", "depends_on": [ids]}]}; output: an indented tree."""

import json
import sys


def main() -> int:
    try:
        tasks = {each["id"]: each for each in json.load(sys.stdin)["tasks"]}
        below = {key: [k for k, each in tasks.items() if key in each["depends_on"]] for key in tasks}
    except (ValueError, KeyError, TypeError) as error:
        print(f"cannot read the tasks: {error!r}", file=sys.stderr)
        return 2
    drawn: set = set()

    def draw(key, depth: int, path: tuple) -> None:
        circle = key in path
        print(
            f"{'  ' * depth}{'- ' if depth else ''}{tasks[key]['name']} (#{key}){'  <- a circle' if circle else ''}"
        )
        drawn.add(key)
        if not circle:
            for each in sorted(below[key]):
                draw(each, depth + 1, (*path, key))

    for key in sorted(tasks):
        if not any(other in tasks for other in tasks[key]["depends_on"]):
            draw(key, 0, ())
    for key in sorted(set(tasks) - drawn):
        if key not in drawn:
            draw(key, 0, ())
    return 0


sys.exit(main())
