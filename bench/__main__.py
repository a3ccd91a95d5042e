"""`python -m bench [--rounds N]`: prints one table a hot path."""

import argparse

from bench import cutting, looping, parsing, showing


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="What the hot paths cost, as ratios."
    )
    parser.add_argument("--rounds", type=int, default=15, help="the best of so many is taken (default 15)")
    rounds = parser.parse_args().rounds
    print("Best of", rounds, "rounds; the ratio is to the first row of each table.")
    for path in (parsing, looping, showing, cutting):
        print()
        print(path.report(rounds), flush=True)


main()
