"""`python -m bench [--rounds N] [--only PATH]`: prints one table a hot path."""

import argparse

from bench import briefing, cutting, looping, parsing, projecting, redacting, routing, showing

PATHS = {
    "parsing": parsing,
    "looping": looping,
    "showing": showing,
    "cutting": cutting,
    "redacting": redacting,
    "projecting": projecting,
    "briefing": briefing,
    "routing": routing,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="What the hot paths cost, as ratios."
    )
    parser.add_argument("--rounds", type=int, default=15, help="the best of so many is taken (default 15)")
    parser.add_argument("--only", choices=sorted(PATHS), help="this path alone")
    options = parser.parse_args()
    print("Best of", options.rounds, "rounds; the ratio is to the first row of each table.")
    for name, path in PATHS.items():
        if options.only in (None, name):
            print()
            print(path.report(options.rounds), flush=True)


main()
