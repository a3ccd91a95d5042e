"""The command line. Imports of a subcommand happen when it runs, so that `--help` answers at once."""

import argparse
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from chatops_bot.app.evals_cli import add_eval
from chatops_bot.domain.errors import ChatopsError

CANNOT_START = 2
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""What a command is added to; argparse has no public name for it."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its code: 0 done, 1 a fault inside, 2 cannot start, in which case a sentence says why."""
    options = _parser().parse_args(arguments)
    try:
        code = options.run(options)
    except ChatopsError as error:
        from chatops_bot.domain.redaction import Redactor
        from chatops_bot.rendering.escapes import shown

        # It may quote a file name, a model, or a server with the password in its address.
        sys.stderr.write(shown(Redactor().text(f"chatops-bot: {error}\n")))
        code = CANNOT_START
    except KeyboardInterrupt:
        code = 130
    except Exception:  # the process border: nothing leaves as a bare traceback on the screen
        import logging

        logging.getLogger(__name__).exception("chatops-bot stopped because of a fault inside")
        code = 1
    sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="chatops-bot", description="An on-call bot that proposes; people approve."
    )
    commands: Commands = parser.add_subparsers(required=True, dest="command")
    for add in (
        _add_demo,
        _add_run,
        _add_ask,
        _add_decisions,
        _add_audit,
        _add_prompt,
        _add_skills,
        add_eval,
        _add_doctor,
    ):
        add(commands)
    return parser


def _add_demo(commands: Commands) -> None:
    demo = commands.add_parser("demo", help="the whole product on this machine, in a browser")
    demo.add_argument(
        "--port", type=_port, default=8321, help="the workspace's port; 0 means any (default 8321)"
    )
    demo.add_argument(
        "--scheduler-port", type=_port, default=0, help="the scheduler's port; 0 means any (default 0)"
    )
    demo.add_argument("--data", type=Path, default=Path(".chatops-demo"), help="folder that keeps everything")
    demo.add_argument("--policy", type=Path, metavar="FILE", help="rules to try: a file with the key policy")
    demo.add_argument("--no-browser", action="store_true", help="do not open a browser")
    demo.add_argument("--json", action="store_true", help="print one JSON line when ready, and nothing else")
    demo.set_defaults(run=_demo)


def _add_run(commands: Commands) -> None:
    run = commands.add_parser("run", help="the bot against a Slack workspace")
    run.add_argument("--config", type=Path, default=Path("chatops-bot.yaml"), help="the configuration file")
    run.add_argument("--ready-json", action="store_true", help="print one JSON line when connected")
    run.add_argument("--exit-with-parent", action="store_true", help="end when stdin ends")
    run.set_defaults(run=_run)


def _add_ask(commands: Commands) -> None:
    ask = commands.add_parser(
        "ask", help="ask the bot from this terminal",
        description="Ask the bot that runs on a data folder and print its answer as it comes. Where none runs, the "
        "question is answered in this process by the configured scheduler and model, and nothing is kept. "
        "Exit code: 0 answered, 1 failed or stopped, 2 not asked, 130 Ctrl-C.",
    )  # fmt: skip
    ask.add_argument("question", help="the question in quotes; - reads it from stdin")
    ask.add_argument("--thread", help="go on with an earlier question; its id is printed at the end")
    ask.add_argument("--json", action="store_true", help="one JSON object for each thing that happens")
    _local(ask, "act with this role instead of viewer, as far as the bot's local.role allows")
    ask.set_defaults(run=_ask)


def _add_decisions(commands: Commands) -> None:
    for verdict, what in (("approve", "run the change that a card shows"), ("reject", "close a proposal")):
        decide = commands.add_parser(
            verdict, help=f"{what}, by its code",
            description=f"{verdict.capitalize()} a proposal of the running bot, as yourself (local:<your user name>), with "
            "the role that the bot's configuration gives people of this machine. Exit code: 0 done, 1 not done, 2 not asked.",
        )  # fmt: skip
        decide.add_argument("code", help="the six letters and digits on the card")
        why = (
            "in spite of a freeze, where the policy lets you; it is flagged for review"
            if verdict == "approve"
            else "for whoever asked"
        )
        decide.add_argument("--reason", default="", help=f"why, {why}")
        _local(decide, "act with this role instead of all that the bot's local.role allows")
        decide.set_defaults(run=_decide, verdict=verdict)


def _add_audit(commands: Commands) -> None:
    audit = commands.add_parser(
        "audit", help="what was asked, shown, decided and done, and whether that record is whole"
    )
    inside: Commands = audit.add_subparsers(required=True, dest="what")
    show = inside.add_parser("show", help="print records")
    _which_bot(show)
    show.add_argument("--json", action="store_true", help="one JSON object a line")
    show.add_argument("--last", type=_count, default=100, help="how many rows (default 100)")
    show.add_argument(
        "--proposal", default="", help="those of a proposal, by the code on its card or by its id"
    )
    show.add_argument("--person", default="", help="those of a person, by id or name")
    show.add_argument(
        "--session", default="", help="those whose session has this in its key, such as a channel's id"
    )
    show.add_argument("--tool", default="", help="those of a tool")
    show.add_argument(
        "--decision", default="", help="such as asked, shown, approved, refused, applied, expired"
    )
    show.add_argument(
        "--since", help="those since a time, such as 2026-03-02T14:00 (UTC), or ago, such as 2h or 7d"
    )
    show.set_defaults(run=_audit_show)
    verify = inside.add_parser(
        "verify", help="say whether every record is as it was sealed, and name the first that is not",
        description="Exit code: 0 whole, 1 broken, 2 cannot be said. Needs the key, as the bot has it.",
    )  # fmt: skip
    _which_bot(verify)
    verify.add_argument("--json", action="store_true", help="one JSON object")
    verify.add_argument("--file", type=Path, help="an export, in place of a bot's store")
    verify.add_argument(
        "--anchors", type=Path, help="the anchor file (default: the bot's; for an export: none)"
    )
    verify.add_argument(
        "--anchor", action="append", default=[], metavar="RECORD:SEAL",
        help="a head that you know, such as one from the anchor channel; may be given more than once",
    )  # fmt: skip
    verify.set_defaults(run=_audit_verify)
    export = inside.add_parser("export", help="write every record with its seal, one JSON object a line")
    _which_bot(export)
    export.add_argument("--out", type=Path, help="a new file (default: standard output)")
    export.set_defaults(run=_audit_export)


def _add_skills(commands: Commands) -> None:
    skills = commands.add_parser("skills", help="the skills that the bot has")
    inside: Commands = skills.add_subparsers(required=True, dest="what")
    listing = inside.add_parser(
        "list", help="print every skill, where it is from and who sees it, and what is broken on which line",
        description="Reads the sources afresh. Exit code: 0 all well, 1 a skill is broken, 2 cannot be said.",
    )  # fmt: skip
    _which_bot(listing)
    listing.add_argument("--json", action="store_true", help="one JSON object")
    listing.set_defaults(run=_skills_list)


def _add_prompt(commands: Commands) -> None:
    prompt = commands.add_parser("prompt", help="what the model was told, and what it is made of")
    inside: Commands = prompt.add_subparsers(required=True, dest="what")
    show = inside.add_parser("show", help="print the prompt of a model call, by the hash in its log line")
    show.add_argument("hash", help="the hash, or its first digits")
    diff = inside.add_parser(
        "diff", help="what two prompts differ in, section by section",
        description="Exit code: 0 the same, 1 different, 2 cannot be said.",
    )  # fmt: skip
    diff.add_argument("first", help="the hash of one, or its first digits")
    diff.add_argument("second", help="the hash of the other")
    explain = inside.add_parser(
        "explain", help="how long each section is, of a kept prompt or of what the texts make now",
        description="With a hash: that prompt. Without one: what the agent would be told now, offered the scheduler's tools.",
    )  # fmt: skip
    explain.add_argument("hash", nargs="?", default="", help="the hash of a kept prompt, or its first digits")
    explain.add_argument("--lang", choices=("zh", "en"), default="en", help="the language (default en)")
    explain.add_argument("--channel", default="", help="the channel that it is asked in, by id")
    explain.add_argument("--version", default="", help="that version of the text")
    explain.add_argument(
        "--tool-text", choices=("full", "names", "off"), default="names",
        help="what it says of tools: with their arguments, as a model reads it that cannot call tools by itself; names, as the "
        "bot sends it (default); or nothing",
    )  # fmt: skip
    explain.add_argument(
        "--mode", choices=("full", "minimal", "none"), default="full",
        help="full (default); minimal, as a consulted agent gets it; none: only who it is",
    )  # fmt: skip
    explain.add_argument("--goal", default="", help="print the whole text for this request, instead of sizes")
    lint = inside.add_parser(
        "lint", help="what an editor of the texts should look at", description="Exit code: 0 nothing, 1 something."
    )  # fmt: skip
    budgets = inside.add_parser("budgets", help="approve the sizes that prompts have grown to")
    budgets.add_argument(
        "--file", type=Path, default=Path("prompts/budgets.json"), help="(default prompts/budgets.json)"
    )
    budgets.add_argument("--approver", default="", help="who approves")
    budgets.add_argument("--reason", default="", help="what the growth is for")
    for command, run in (
        (show, _prompt_show),
        (diff, _prompt_diff),
        (explain, _prompt_explain),
        (lint, _prompt_lint),
        (budgets, _prompt_budgets),
    ):
        _which_bot(command)
        if command not in (lint, budgets):
            command.add_argument("--agent", default="", help="of this agent only, by its id")
        command.set_defaults(run=run)


def _add_doctor(commands: Commands) -> None:
    doctor = commands.add_parser("doctor", help="what is well and what is not, and what to do")
    _which_bot(doctor, data="the folder of a demo")
    doctor.add_argument("--json", action="store_true", help="one JSON object")
    doctor.set_defaults(run=_doctor)


def _which_bot(
    command: argparse.ArgumentParser, data: str = "the bot's data folder, or the folder of a demo"
) -> None:
    """The options of `app.where`."""
    which = command.add_mutually_exclusive_group()
    which.add_argument("--data", type=Path, help=data)
    which.add_argument(
        "--config",
        type=Path,
        help="the bot's configuration file (default chatops-bot.yaml, else the demo here)",
    )


def _local(command: argparse.ArgumentParser, what_role: str) -> None:
    """The options of commands that reach the bot of this machine."""
    _which_bot(command)
    command.add_argument(
        "--as", dest="role", choices=("viewer", "operator", "approver", "admin"), help=what_role
    )


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number from 0 to 65535.")
    return int(text)


def _count(text: str) -> int:
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows; give 1 or more.")
    return int(text)


def _demo(options: argparse.Namespace) -> int:
    import asyncio

    from chatops_bot.app.demo import Demo, DemoOptions

    return asyncio.run(
        Demo(
            DemoOptions(
                port=options.port,
                scheduler_port=options.scheduler_port,
                data=options.data.resolve(),
                open_browser=not options.no_browser,
                as_json=options.json,
                policy=options.policy,
            )
        ).run()
    )


def _run(options: argparse.Namespace) -> int:
    import asyncio

    run = imported_run()
    return asyncio.run(
        run(options.config, ready_json=options.ready_json, with_parent=options.exit_with_parent)
    )


def imported_run() -> Callable[..., Coroutine[Any, Any, int]]:
    """`app.run.run`. What its imports make is kept for good, so the collector looks at none of it, now or later."""
    import gc

    gc.disable()
    from chatops_bot.app.run import run

    gc.freeze()
    gc.enable()
    return run


def _ask(options: argparse.Namespace) -> int:
    import asyncio

    from chatops_bot.app.ask import Question, ask, question_text
    from chatops_bot.app.where import Where
    from chatops_bot.domain.people import Role

    role = Role(options.role) if options.role else None
    question = Question(question_text(options.question), options.thread, role, options.json)
    return asyncio.run(ask(question, Where(options.data, options.config)))


def _decide(options: argparse.Namespace) -> int:
    import asyncio

    from chatops_bot.app.ask import decide
    from chatops_bot.app.where import Where
    from chatops_bot.domain.people import Role

    role = Role(options.role) if options.role else None
    return asyncio.run(
        decide(options.verdict, options.code, role, Where(options.data, options.config), options.reason)
    )


def _audit_show(options: argparse.Namespace) -> int:
    import asyncio
    from datetime import UTC, datetime

    from chatops_bot.app.audit_filter import AuditFilter, known_decision, moment
    from chatops_bot.app.audit_show import show
    from chatops_bot.app.stdout import while_read
    from chatops_bot.app.where import Where

    wanted = AuditFilter(
        proposal=options.proposal, person=options.person, session=options.session, tool=options.tool,
        decision=known_decision(options.decision), since=moment(options.since, datetime.now(UTC)) if options.since else None,
    )  # fmt: skip
    where = Where(options.data, options.config)
    return while_read(lambda: asyncio.run(show(where, wanted, as_json=options.json, last=options.last)))


def _audit_verify(options: argparse.Namespace) -> int:
    import asyncio

    from chatops_bot.app.anchoring import named_anchor
    from chatops_bot.app.audit_verify import Proof, verify
    from chatops_bot.app.where import Where

    proof = Proof(options.file, options.anchors, tuple(map(named_anchor, options.anchor)))
    where = Where(options.data, options.config)
    return asyncio.run(verify(where, proof, os.environ, as_json=options.json))


def _audit_export(options: argparse.Namespace) -> int:
    import asyncio

    from chatops_bot.app.audit_verify import export
    from chatops_bot.app.stdout import while_read
    from chatops_bot.app.where import Where

    return while_read(lambda: asyncio.run(export(Where(options.data, options.config), options.out)))


def _skills_list(options: argparse.Namespace) -> int:
    from chatops_bot.app.skills_list import list_skills
    from chatops_bot.app.stdout import while_read
    from chatops_bot.app.where import Where

    where = Where(options.data, options.config)
    return while_read(lambda: list_skills(where, as_json=options.json))


def _prompt_show(options: argparse.Namespace) -> int:
    import asyncio

    from chatops_bot.app.prompt_cli import show
    from chatops_bot.app.stdout import while_read
    from chatops_bot.app.where import Where

    where = Where(options.data, options.config)
    return while_read(lambda: asyncio.run(show(where, options.hash, options.agent)))


def _prompt_diff(options: argparse.Namespace) -> int:
    import asyncio

    from chatops_bot.app.prompt_cli import diff
    from chatops_bot.app.stdout import while_read
    from chatops_bot.app.where import Where

    where = Where(options.data, options.config)
    return while_read(lambda: asyncio.run(diff(where, options.first, options.second, options.agent)))


def _prompt_explain(options: argparse.Namespace) -> int:
    import asyncio

    from chatops_bot.app.prompt_cli import Wanted, agents_of, explain, explain_kept
    from chatops_bot.app.prompt_sizes import Wording
    from chatops_bot.app.stdout import while_read
    from chatops_bot.app.where import Where

    where = Where(options.data, options.config)
    if options.hash:
        return while_read(lambda: asyncio.run(explain_kept(where, options.hash, options.agent)))
    wording = Wording(options.tool_text, options.mode, options.goal)
    wanted = Wanted(options.agent, options.lang, options.channel, options.version, wording)
    return while_read(lambda: explain(agents_of(where), wanted))


def _prompt_lint(options: argparse.Namespace) -> int:
    from chatops_bot.app.prompt_cli import agents_of, lint
    from chatops_bot.app.stdout import while_read
    from chatops_bot.app.where import Where

    return while_read(lambda: lint(agents_of(Where(options.data, options.config))))


def _prompt_budgets(options: argparse.Namespace) -> int:
    from chatops_bot.app.prompt_cli import agents_of, budgets
    from chatops_bot.app.where import Where

    agents = agents_of(Where(options.data, options.config))
    return budgets(agents, options.file, options.approver, options.reason)


def _doctor(options: argparse.Namespace) -> int:
    import asyncio

    from chatops_bot.app.doctor.command import demo_of, doctor
    from chatops_bot.app.where import CONFIG, Where

    where = Where(options.data, options.config).or_here()
    path, env = demo_of(where.data, os.environ) if where.data else (where.config or CONFIG, os.environ)
    return asyncio.run(doctor(path, env, as_json=options.json))
