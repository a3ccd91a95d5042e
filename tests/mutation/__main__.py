"""`python -m tests.mutation [--size ci|full] [--only PATH ...]`: how many faults the tests notice, a line a module."""

import argparse
import sys

from tests.mutation.scoring import run

parser = argparse.ArgumentParser(
    prog="python -m tests.mutation", description="How many faults the tests notice."
)
parser.add_argument("--size", choices=["ci", "full"], default="full", help="a sample, or all (default)")
parser.add_argument("--only", nargs="+", default=[], help="modules, by path; several after another")
parser.add_argument("--jobs", type=int, default=2, help="trials at a time (default 2)")
options = parser.parse_args()
sys.exit(run(options.size, options.only, options.jobs))
