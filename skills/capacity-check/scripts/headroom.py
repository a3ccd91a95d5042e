"""Headroom of a set of workers. Standard input: {"workers": [{"id", "status", "max_concurrency"}], "peak_load": number}."""

import json
import sys


def main() -> int:
    try:
        given = json.load(sys.stdin)
        workers = [each for each in given["workers"] if each.get("status") == "online"]
        sizes = sorted((int(each["max_concurrency"]) for each in workers), reverse=True)
        peak = float(given["peak_load"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"cannot read the workers: {error!r}", file=sys.stderr)
        return 2
    total = sum(sizes)
    without = total - sizes[0] if sizes else 0
    print(f"online workers: {len(sizes)} of {len(given['workers'])}")
    print(f"runs at once: {total}, at the peak: {peak:g}, room: {total - peak:g}")
    print(f"without the largest worker: {without}, room: {without - peak:g}")
    return 0


sys.exit(main())
