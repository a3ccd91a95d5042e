"""`chatops-bot prompt`: the text behind a hash, what two of them differ in, what a prompt is made of, what an editor should look at."""

import difflib
import os
import re
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from chatops_bot.app.bundled import bundled
from chatops_bot.app.clock import SystemClock
from chatops_bot.app.config import Config, load_redis_url
from chatops_bot.app.prompt_budgets import approver_of, read_budgets, write_budgets
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import LANGUAGES, configured_texts
from chatops_bot.app.prompt_sizes import AS_SENT, Wording, prompt_for, reviewed, shipped_skills
from chatops_bot.app.where import CONFIG, DEMO, Where, tell_of_defaults
from chatops_bot.context.prompt_lint import lint_tools
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.context.prompt_types import AgentConfig
from chatops_bot.context.tokens import estimate
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.domain.kept_prompt import KeptPrompt
from chatops_bot.domain.language import Language
from chatops_bot.ports import PromptReader
from chatops_bot.rendering.escapes import shown
from chatops_bot.stores.sqlite_prompts import SqlitePromptReader
from chatops_bot.toolsets.scheduler.toolset import SCHEDULER_SPECS

SHORT = 12
"""Digits of a hash that people are shown; they are unique among millions."""
_LEAST = 4
_HASH = re.compile(r"[0-9a-f]{4,64}")
_TITLE = re.compile(r"\[([A-Z][A-Z -]+)\]")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whose prompt `explain` is to build; empty is what the configuration says for the channel."""

    agent: str = ""
    lang: Language = "en"
    channel: str = ""
    version: str = ""
    wording: Wording = AS_SENT


async def show(where: Where, beginning: str, agent: str) -> int:
    """Print the text. Raises ConfigInvalid when the hash means none or several, StoreError when it was changed."""
    async with _reader(where) as reader:
        kept = await _the_one(reader, beginning, agent)
    _say(f"{_headed(kept)}\n\n{kept.prefix}\n\n{_suffix(kept)}")
    return 0


async def diff(where: Where, first: str, second: str, agent: str) -> int:
    """Print what differs, section by section; 1 when something does, as diff does."""
    async with _reader(where) as reader:
        old, new = await _the_one(reader, first, agent), await _the_one(reader, second, agent)
    before, after = ({**_sections(each.prefix), "CONTEXT": _suffix(each)} for each in (old, new))
    lines = [f"- {_headed(old)}", f"+ {_headed(new)}"]
    same = [title for title in before if before[title] == after.get(title)]
    changed = [title for title in dict.fromkeys((*before, *after)) if title not in same]
    for title in changed:
        lines += ["", f"[{title}]", *_changes(before.get(title, ""), after.get(title, ""))]
    lines += ["", f"Same: {', '.join(same) or 'nothing'}. Different: {', '.join(changed) or 'nothing'}."]
    _say("\n".join(lines))
    return 1 if changed else 0


async def explain_kept(where: Where, beginning: str, agent: str) -> int:
    """Print how long each section of a kept prompt is."""
    async with _reader(where) as reader:
        kept = await _the_one(reader, beginning, agent)
    _say(f"{_headed(kept)}\n\n{_sizes({**_sections(kept.prefix), 'CONTEXT': _suffix(kept)})}")
    return 0


def explain(config: AgentsConfig, wanted: Wanted) -> int:
    """Print what the prompt of an agent is made of, as its texts stand now, offered all its tools and the skills that ship; where a
    goal is given, the whole text, for a model that is asked by hand. Raises PromptInvalid when that is too long."""
    texts = PromptRegistry(configured_texts(config))
    agent_id = wanted.agent or config.agent_in(wanted.channel)
    version = wanted.version or (texts.version_for(agent_id, wanted.channel) if wanted.channel else "")
    agent = texts.get(agent_id, wanted.lang, version)
    # Tools that are written out are for a model outside the bot, where the tools of the agent itself have nothing to act on.
    skills = None if wanted.wording.tools == "full" else shipped_skills()
    prompt = prompt_for(
        texts, agent, SCHEDULER_SPECS, skills=skills, channel=wanted.channel or "(none)", wording=wanted.wording
    )  # fmt: skip
    if wanted.wording.goal:
        _say(prompt)
        return 0
    why = f"because of {'agents.channels' if wanted.channel in config.channels else 'agents.default'}"
    lines = [
        f"agent {agent.agent_id}{'' if wanted.agent else f' ({why})'}, version {agent.version}, {agent.lang}",
        f"stable part {prompt.prefix_hash[:SHORT]}, tools {prompt.tools_hash[:SHORT]}, texts {prompt.config_hash[:SHORT]}",
        "",
        _sizes({**_sections(prompt.prefix), "CONTEXT": prompt.suffix}),
        "",
        f"tools: {', '.join(prompt.tools) or 'none'}",
    ]
    _say("\n".join([*lines, *(f"look at: {each}" for each in prompt.warnings)]))
    return 0


def lint(config: AgentsConfig) -> int:
    """Print what an editor of the texts should look at; 1 when there is something. What is longer than its soft limit, and was
    approved so when it shipped, is told and is nothing to do."""
    texts = PromptRegistry(configured_texts(config))
    names = {spec.name for spec in SCHEDULER_SPECS}
    found = [f"tools.{lang}.yaml: {each}" for lang in LANGUAGES for each in lint_tools(texts.tools(lang))]
    for agent in texts:
        at = f"{agent.agent_id} {agent.version} {agent.lang}"
        found += [f"{at}: {each}" for each in _named_tools(agent, names)]
    budgets = read_budgets(bundled("prompts") / "budgets.json")
    approved: list[str] = []
    for each in reviewed(texts, SCHEDULER_SPECS):
        agent_id, version, lang, scenario = each.name.rsplit(".", 3)
        for warning in each.prompt.warnings:
            is_size = "soft limit" in warning
            at = f"{agent_id} {version} {lang}{f', {scenario}' if is_size else ''}"
            by = approver_of(each, budgets) if is_size else ""
            (approved if by else found).append(f"{at}: {warning}{f'; approved by {by}' if by else ''}")
    found = list(dict.fromkeys(found))
    _say(
        "\n".join(
            [*approved, *(found or [f"Nothing to look at in the texts of {', '.join(texts.agent_ids)}."])]
        )
    )
    return 1 if found else 0


def _named_tools(agent: AgentConfig, names: set[str]) -> Iterator[str]:
    """A rule that names a tool speaks of one that may not be offered, and models call what they read of."""
    rules = agent.constraints
    for rule in (*rules.must, *rules.must_not, *rules.fallback):
        for name in sorted(names):
            if re.search(rf"\b{name}\b", rule):
                yield f"constraints: names {name}, which may not be offered; say what is to be done"


def agents_of(where: Where) -> AgentsConfig:
    """The section of the bot that is meant; the defaults, and a word about it, where there is no configuration."""
    if where == Where() and not (CONFIG.exists() or DEMO.exists()):
        tell_of_defaults(f"There is no {CONFIG} here")
        return AgentsConfig()
    _, config = where.settings()
    return config.agents if config is not None else AgentsConfig()


@asynccontextmanager
async def _reader(where: Where, env: Mapping[str, str] = os.environ) -> AsyncGenerator[PromptReader, None]:
    folder, config = where.find()
    if config is not None and config.store.redis_url_env:
        from chatops_bot.stores.redis_prompts import (
            RedisPromptReader,
        )  # its client is loaded where it is used

        async with RedisPromptReader.open(load_redis_url(config, env), config.store.redis_prefix) as reader:
            yield reader
    else:
        with SqlitePromptReader.open(_file(folder, config), SystemClock()) as local:
            yield local


def _file(folder: Path, config: Config | None) -> Path:
    return config.store_path if config else folder / "bot.db"


async def _the_one(reader: PromptReader, beginning: str, agent: str) -> KeptPrompt:
    if not _HASH.fullmatch(beginning.lower()):
        raise ConfigInvalid(
            f"{beginning!r} is no hash: give {_LEAST} to 64 hex digits, as `prompt=` in a log line shows them."
        )
    refs = [ref for ref in await reader.find(beginning.lower()) if agent in ("", ref.agent_id)]
    if not refs:
        of = f" of the agent {agent}" if agent else ""
        raise ConfigInvalid(
            f"No prompt{of} with a hash {beginning}… is kept; it may be older than agents.keep_days, or of another bot."
        )
    if len(refs) > 1:
        known = ", ".join(f"{ref.prompt_hash[: SHORT + 4]} ({ref.agent_id})" for ref in refs[:5])
        raise ConfigInvalid(
            f"{len(refs)} prompts begin with {beginning}: {known}{' …' if len(refs) > 5 else ''}; give more digits, or --agent."
        )
    kept = await reader.get(refs[0].agent_id, refs[0].prompt_hash)
    if kept is None:
        raise ConfigInvalid(f"The prompt {beginning} has just been deleted, since its time was over.")
    return kept


def _headed(kept: KeptPrompt) -> str:
    tools = ", ".join(kept.tools) or "none"
    return (
        f"prompt {kept.prompt_hash[:SHORT]}, stable part {kept.prefix_hash[:SHORT]}, agent {kept.agent_id}, "
        f"version {kept.version}, {kept.lang}, tools: {tools}"
    )


def _suffix(kept: KeptPrompt) -> str:
    if kept.suffix is not None:
        return kept.suffix
    return f"(the volatile part was not kept: agents.keep_suffix is false; its hash is {kept.suffix_hash[:SHORT]})"


def _sections(prefix: str) -> dict[str, str]:
    """The stable part by its titles; the follow-up rule, which has none, counts with the section before it. No value can make a line that looks like one: the builder sees to it."""
    found: dict[str, list[str]] = {}
    title = "AGENT IDENTITY"
    for line in prefix.splitlines():
        if match := _TITLE.fullmatch(line):
            title = match[1]
        found.setdefault(title, []).append(line)
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


def _changes(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in islice(lines, 2, None) if not line.startswith("@@")]  # two lines name the files


def _sizes(sections: Mapping[str, str]) -> str:
    rows = [(title, len(text), estimate(text)) for title, text in sections.items()]
    total = ("all", sum(row[1] for row in rows), sum(row[2] for row in rows))
    lines = [f"{'section':<18}{'characters':>12}{'tokens, about':>15}"]
    lines += [f"{title:<18}{chars:>12,}{tokens:>15,}" for title, chars, tokens in (*rows, total)]
    return "\n".join(lines)


def _say(text: str) -> None:
    sys.stdout.write(shown(text) + "\n")


def budgets(config: AgentsConfig, file: Path, approver: str, reason: str) -> int:
    """Bring the file of budgets up to date, in the name of whoever approves."""
    if not approver.strip() or not reason.strip():
        raise ConfigInvalid("A budget is approved by somebody for a reason; give --approver and --reason.")
    prompts = list(reviewed(PromptRegistry(configured_texts(config)), SCHEDULER_SPECS))
    changed = write_budgets(file, prompts, approver=approver, reason=reason)
    _say(
        "\n".join(f"approved: {name}" for name in changed)
        or "Every prompt is within its budget; nothing was changed."
    )
    return 0
