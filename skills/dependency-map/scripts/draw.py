"""Draws who waits for whom. Standard input: {"tasks": [{"id", "name", "depends_on": [ids]}]}; output: an indented tree.

What stands below a task is drawn once; where the task comes again, it says so.
"""

import json
import sys


def main() -> int:
    try:
        tasks = {each["id"]: each for each in json.load(sys.stdin)["tasks"]}
        below = {key: [k for k, each in tasks.items() if key in each["depends_on"]] for key in tasks}
    except (ValueError, KeyError, TypeError) as error:
        print(f"cannot read the tasks: {error!r}", file=sys.stderr)
        return 2
    roots = [key for key in sorted(tasks) if not any(other in tasks for other in tasks[key]["depends_on"])]
    drawn: set = set()
    for root in (*roots, *sorted(tasks)):  # what no root leads to stands in a circle
        if root not in drawn:
            draw(root, tasks, below, drawn)
    return 0


def draw(root, tasks: dict, below: dict, drawn: set) -> None:
    path: list = []
    waiting = [(root, 0)]
    while waiting:
        key, depth = waiting.pop()
        del path[depth:]
        again = "  <- a circle" if key in path else "  (see above)" if key in drawn and below[key] else ""
        print(f"{'  ' * depth}{'- ' if depth else ''}{tasks[key]['name']} (#{key}){again}")
        if key not in drawn:
            waiting += [(each, depth + 1) for each in sorted(below[key], reverse=True)]
        drawn.add(key)
        path.append(key)


if __name__ == "__main__":
    sys.exit(main())
