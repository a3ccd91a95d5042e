"""`chatops-bot eval run`: which cases, on which model, with which texts, and what is said at the end."""

import difflib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import aiohttp

from chatops_bot.app.bundled import bundled
from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.config import (
    Config,
    ModelEndpoint,
    Secrets,
    load_config,
    secrets_as_set,
    secrets_problems,
)
from chatops_bot.app.evals.arms import Arm, named_arm
from chatops_bot.app.evals.case import KINDS, Case, Kind, load_cases
from chatops_bot.app.evals.comparing import compare
from chatops_bot.app.evals.report import comparison_lines, jsonl, lines_of
from chatops_bot.app.evals.runner import PATIENCE, Bench, Run, run_case
from chatops_bot.app.evals.worlds import open_worlds
from chatops_bot.app.logs import set_up_logs
from chatops_bot.app.skills import borrowed_library, skills_of
from chatops_bot.domain.errors import ChatopsError, ConfigInvalid
from chatops_bot.domain.redaction import Redactor
from chatops_bot.llm.openai_client import ModelTimeouts, OpenAIClient
from chatops_bot.rendering.escapes import shown

PASSED, FAILED = 0, 1


class EvalRefused(ChatopsError):
    """A run that makes no sense as it was asked for; the message says why."""


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """`arms` are the two prompt versions or folders to compare, none for what is configured. `data` is the folder of a demo scheduler that has
    run before, which saves its first runs; `patience` are the seconds that one question may take."""

    paths: tuple[Path, ...] = ()
    kinds: tuple[Kind, ...] = ("scripted", "offline")
    repeat: int = 1
    arms: tuple[str, ...] = ()
    out: Path | None = None
    tags: tuple[str, ...] = ()
    config: Path | None = None
    data: Path | None = None
    patience: Mapping[Kind, float] = field(default_factory=lambda: PATIENCE)


async def evaluate(
    options: EvalOptions, env: Mapping[str, str], say: Callable[[str], None] | None = None
) -> int:
    """Run and report. Returns 1 when an expectation failed; of two arms, when the gate objects to the second.

    Each run is in the file of results as soon as it is over. Raises CaseInvalid, EvalRefused or ConfigInvalid before anything runs.
    """
    say = say or _say
    if options.arms and "live" not in options.kinds:
        raise EvalRefused(
            "Only a language model reads prompts, so --compare needs --model live; scripts and rules would answer alike."
        )
    if len(set(options.arms)) < len(options.arms):
        raise EvalRefused(f"--compare names {options.arms[0]} twice; name two versions, or two folders.")
    cases = chosen_cases(options)
    config, secrets = _settings(options, env)
    set_up_logs(Redactor(secrets.values()), "text", "error")
    if "live" in options.kinds and secrets.model is None:
        raise EvalRefused(
            "No model is configured, so nothing can run live: set OPENAI_BASE_URL, OPENAI_MODEL and OPENAI_API_KEY."
        )
    arms = [named_arm(config.agents, name) for name in options.arms or ("",)]
    _refuse_unknown_agents(cases, arms)
    if options.out is not None:
        _make(options.out)  # before anything runs: an hour of answers shall have a place
    runs = await _run_all(options, cases, arms, config, secrets, _noting(options, cases, len(arms), say))
    for line in lines_of(runs):
        say(line)
    is_fine = all(run.verdict.passed for run in runs)
    if len(arms) == 2:
        live = [run for run in runs if run.kind == "live"]
        first, second = ([run for run in live if run.arm == arm.name] for arm in arms)
        found = compare(first, second)
        is_fine = not found.objections
        for line in comparison_lines(found):
            say(line)
    if options.out is not None:
        say(f"{len(runs)} runs are in {options.out}")
    return PASSED if is_fine else FAILED


def _make(path: Path) -> None:
    try:
        path.write_text("", encoding="utf-8")
    except OSError as error:
        raise EvalRefused(
            f"{path} cannot be written ({error.strerror}); name another file with --json."
        ) from error


def _noting(
    options: EvalOptions, cases: Sequence[Case], arms: int, say: Callable[[str], None]
) -> Callable[[Run], None]:
    """What is done with a run once it is over: its line goes to the file of results, and how far the live ones are is said,
    which take hours."""
    numbers = count(1)
    total = options.repeat * arms * sum(case.runs_on("live") for case in cases)

    def note(run: Run) -> None:
        if options.out is not None:
            try:
                with options.out.open("a", encoding="utf-8") as file:
                    file.writelines(f"{line}\n" for line in jsonl([run]))
            except OSError as error:
                say(f"{options.out}: a run could not be added ({error.strerror})")
        if run.kind == "live":
            verdict = "passed" if run.verdict.passed else "FAILED"
            say(
                f"live {next(numbers)} of {total}: {run.case.id} #{run.repeat}, {run.arm}: {verdict} ({run.observed.seconds:.1f} s)"
            )

    return note


def chosen_cases(options: EvalOptions) -> list[Case]:
    """The cases of the named files and folders, or those that ship, as far as they have the tags and run on a model that was
    asked for. Raises EvalRefused when none is left."""
    cases = _named(options.paths)
    cases = [case for case in cases if set(options.tags) <= set(case.tags)]
    cases = [case for case in cases if any(case.runs_on(kind) for kind in options.kinds)]
    if not cases:
        with_tags = f" with the tags {', '.join(options.tags)}" if options.tags else ""
        raise EvalRefused(
            f"No case fits: none{with_tags} runs on {', '.join(options.kinds)}; leave out --tag, or name another --model."
        )
    return cases


def _named(named: Sequence[Path]) -> list[Case]:
    """The cases of files, of folders, and of the shipped set by their ids. Raises EvalRefused for what is none of these, and
    CaseInvalid."""
    shipped = bundled("evals") / "cases"
    ids = {path.stem: path for path in sorted(shipped.rglob("*.yaml"))}
    paths: list[Path] = []
    unknown: list[Path] = []
    for path in named:
        found = path if path.exists() else ids.get(str(path))
        (unknown if found is None else paths).append(found or path)
    if unknown:
        raise EvalRefused("\n".join(_unknown(str(path), ids) for path in unknown))
    return load_cases(paths or (shipped,))


def _unknown(name: str, ids: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, ids, n=3) or [one for one in ids if one.startswith(name)][:3]
    hint = f" (near: {', '.join(near)})" if near else ""
    return f"{name} is no file, no folder, and no id of a case that ships{hint}; without a name all that ship are run."


def _refuse_unknown_agents(cases: Sequence[Case], arms: Sequence[Arm]) -> None:
    problems = [
        f"The case {case.id} is for the agent {case.agent}, which is not among the {arm.name} prompts; there are {', '.join(arm.agents)}."
        for arm in arms
        for case in cases
        if case.agent not in arm.agents
    ]
    if problems:
        raise EvalRefused("\n".join(problems))


async def _run_all(
    options: EvalOptions,
    cases: Sequence[Case],
    arms: Sequence[Arm],
    config: Config,
    secrets: Secrets,
    note: Callable[[Run], None],
) -> list[Run]:
    """Arms take turns within a repeat, so that a model which changes during the day changes for both."""
    clock, ids = SystemClock(), RandomIds()
    runs: list[Run] = []
    async with AsyncExitStack() as stack:
        worlds = await stack.enter_async_context(open_worlds(cases, clock, options.data))
        library = stack.enter_context(borrowed_library(config.skills, config.data))
        skills = skills_of(config, library)
        await skills.refresh()
        bench = Bench(config, secrets, worlds, clock, ids, skills, patience=options.patience)
        if secrets.model is not None and "live" in options.kinds:
            session = await stack.enter_async_context(aiohttp.ClientSession())
            bench = replace(bench, live=_live(config, secrets.model, session))
        for kind in options.kinds:
            for repeat in range(1, (options.repeat if kind == "live" else 1) + 1):
                for case in (case for case in cases if case.runs_on(kind)):
                    for arm in arms:
                        runs.append(await run_case(bench, case, kind, arm, repeat))  # one at a time
                        note(runs[-1])
    return sorted(runs, key=lambda run: (KINDS.index(run.kind), [arm.name for arm in arms].index(run.arm)))


def _settings(options: EvalOptions, env: Mapping[str, str]) -> tuple[Config, Secrets]:
    """The bot's own configuration where one is named; else defaults, with the model of the environment."""
    if options.config is not None:
        config = load_config(options.config)
        return config, secrets_as_set(config, env)
    accounts = {
        role: {"username": role, "password_env": "UNUSED"} for role in ("viewer", "operator", "admin")
    }
    config = Config.model_validate(
        {"scheduler": {"url": "http://127.0.0.1:9", "accounts": accounts}, "local": {"role": "admin"}}
    )
    if problems := secrets_problems(config, {"UNUSED": "-", **env}, with_slack=False):
        raise ConfigInvalid("\n".join(problems))
    return config, secrets_as_set(config, {**env, "UNUSED": ""})


def _live(config: Config, endpoint: ModelEndpoint, session: aiohttp.ClientSession) -> OpenAIClient:
    """The configured model alone: an answer of the rules in its place would be counted as its own."""
    return OpenAIClient(
        session,
        base_url=endpoint.base_url,
        api_key=endpoint.api_key,
        model=endpoint.name,
        timeouts=ModelTimeouts(
            connect=config.model.connect_seconds,
            first_delta=config.model.first_delta_seconds,
            between=config.model.between_deltas_seconds,
        ),
    )


def _say(line: str) -> None:
    sys.stdout.write(shown(f"{line}\n"))
    sys.stdout.flush()  # a pipe would keep hours of progress to itself
