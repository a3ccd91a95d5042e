"""`chatops-bot eval run | record | import`: options in, work of `app.evals` out. Nothing of it is imported before it runs."""

import argparse
import os
from pathlib import Path
from typing import Any


def add_eval(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    evals = commands.add_parser("eval", help="cases that the bot is measured by")
    inside = evals.add_subparsers(required=True, dest="what")
    run = inside.add_parser(
        "run", help="run cases and say which expectations fail",
        description="Exit code: 0 all passed, 1 an expectation failed (with --compare: the gate objects), 2 nothing ran.",
    )  # fmt: skip
    run.add_argument(
        "cases",
        nargs="*",
        type=Path,
        help="case files, folders, and ids of cases that ship (default: all that ship)",
    )
    run.add_argument(
        "--model", action="append", choices=("scripted", "offline", "live"),
        help="who answers; may be given more than once (default: scripted and offline)",
    )  # fmt: skip
    run.add_argument("--repeat", type=_times, default=1, help="how often each case runs live (default 1)")
    run.add_argument(
        "--compare", nargs=2, metavar=("FIRST", "SECOND"), default=(), help="two prompt versions, or folders of prompts; with --model live"
    )  # fmt: skip
    run.add_argument("--tag", action="append", default=[], help="cases that have this tag")
    run.add_argument("--json", type=Path, help="write one JSON object a run to this file, as each is over")
    run.add_argument("--config", type=Path, help="a bot's configuration (default: none, the shipped prompts)")
    run.set_defaults(run=_run)
    record = inside.add_parser("record", help="make a case of a thread of a bot, redacted")
    record.add_argument("thread", help="a permalink, a thread's id, or a session's key")
    record.add_argument("-o", "--out", type=Path, required=True, help="the case file to write")
    record.add_argument(
        "--turn", type=_times, default=0, help="the question to ask, counted from 1 (default: the last)"
    )
    which = record.add_mutually_exclusive_group()
    which.add_argument("--data", type=Path, help="the bot's data folder, or the folder of a demo")
    which.add_argument("--config", type=Path, help="the bot's configuration file")
    record.set_defaults(run=_record)
    imported = inside.add_parser("import", help="make cases of a public set, from a checkout of it")
    imported.add_argument("set", choices=("holmes", "opensre"))
    imported.add_argument("checkout", type=Path, help="the checkout, or a folder in it")
    imported.add_argument("-o", "--out", type=Path, required=True, help="the folder to write cases to")
    imported.set_defaults(run=_import)


def _times(text: str) -> int:
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on; give 1 or more.")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    import asyncio

    from chatops_bot.app.evals.command import EvalOptions, evaluate
    from chatops_bot.app.stdout import while_read

    wanted = EvalOptions(
        paths=tuple(options.cases), kinds=tuple(dict.fromkeys(options.model or ("scripted", "offline"))),
        repeat=options.repeat, arms=tuple(options.compare), out=options.json, tags=tuple(options.tag), config=options.config,
    )  # fmt: skip
    return while_read(lambda: asyncio.run(evaluate(wanted, os.environ)))


def _record(options: argparse.Namespace) -> int:
    from chatops_bot.app.evals.keeping_cases import record_thread
    from chatops_bot.app.where import Where

    return record_thread(Where(options.data, options.config), options.thread, options.out, options.turn)


def _import(options: argparse.Namespace) -> int:
    from chatops_bot.app.evals.keeping_cases import import_set
    from chatops_bot.app.stdout import while_read

    return while_read(lambda: import_set(options.set, options.checkout, options.out))
