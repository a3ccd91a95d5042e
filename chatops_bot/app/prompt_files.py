"""The files of `prompts/` as one checked set of texts. Whatever is wrong names file, line and field, and nothing of the set is used.

    agents/<agent_id>.<lang>.yaml             the default version of an agent
    agents/<agent_id>.<version>.<lang>.yaml   another version, for a rollout
    tools.<lang>.yaml                         when to use each tool, what it does, what its arguments are
    rollout.yaml                              who gets which version

An operator's folder is laid over the shipped one: a file of the same name replaces the shipped one; tool texts are
merged, field by field.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, Field, ValidationError

from chatops_bot.app.bundled import bundled, load_phrases, load_routing
from chatops_bot.app.config_file import problems_of, read_config_file
from chatops_bot.app.known_tools import KNOWN_SPECS
from chatops_bot.app.policy_config import Section
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.context.prompt_factory import build_agent_system_prompt
from chatops_bot.context.prompt_registry import PromptTexts
from chatops_bot.context.prompt_types import AgentConfig, PromptOptions, SessionContext, Text
from chatops_bot.context.rollout import Rollout, Rollouts
from chatops_bot.domain.errors import ConfigInvalid, PromptInvalid
from chatops_bot.domain.language import Language
from chatops_bot.domain.tool import ToolText
from chatops_bot.ports import ToolSpec
from chatops_bot.tools.definitions import unmeant, unsaid

M = TypeVar("M", bound=BaseModel)
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
LANGUAGES: tuple[Language, ...] = get_args(Language)


class _AgentFile(Section):
    agent: AgentConfig


class _ToolWords(Section):
    """Of a file that is laid over another one, any part may be missing."""

    when: Text | None = None
    what: Text | None = None
    arguments: dict[str, Text] = Field(default_factory=dict)

    def over(self, other: "_ToolWords") -> "_ToolWords":
        return _ToolWords(
            when=self.when or other.when,
            what=self.what or other.what,
            arguments={**other.arguments, **self.arguments},
        )


class _ToolsFile(Section):
    tools: dict[str, _ToolWords]


class _RolloutFile(Section):
    enabled: bool = True
    agents: dict[str, Rollout] = Field(default_factory=dict)


def configured_texts(config: AgentsConfig, more: Sequence[ToolSpec] = ()) -> PromptTexts:
    """The texts that `config` names; `more` are tools beside those that this program has. Raises ConfigInvalid, also when it names
    an agent that there is not."""
    if config.folder is not None and not config.folder.is_dir():
        raise ConfigInvalid(f"agents.folder: {config.folder} is no folder; make it, or correct the key.")
    texts = read_prompts([bundled("prompts"), *([config.folder] if config.folder else [])], more)
    named = {"agents.default": config.default} | {
        f"agents.channels.{at}": each for at, each in config.channels.items()
    }
    problems = [
        f"{key}: there is no agent {agent_id}; there are {', '.join(sorted(texts.defaults))}."
        for key, agent_id in named.items()
        if agent_id not in texts.defaults
    ]
    problems += _not_read(config.folder) if config.folder else ()
    problems += (problem for agent in texts.agents.values() for problem in _not_built(agent))
    if problems:
        raise ConfigInvalid("\n".join(problems))
    return texts if config.rollout else replace(texts, rollouts=replace(texts.rollouts, enabled=False))


def _not_read(folder: Path) -> Iterator[str]:
    """Files of an operator's folder that nothing reads, such as a misspelt one: its author would believe it in force. Copies of
    shipped files, as they are, say nothing else than those."""
    read = {"rollout.yaml", *(f"tools.{lang}.yaml" for lang in LANGUAGES)}
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        at = path.relative_to(folder)
        is_agent = at.parent == Path("agents") and at.suffix == ".yaml"
        is_note = at.suffix in {".md", ".txt"} or any(part.startswith(".") for part in at.parts)
        shipped = bundled("prompts") / at
        is_copy = shipped.is_file() and shipped.read_bytes() == path.read_bytes()
        if not (is_agent or is_note or is_copy or str(at) in read):
            yield f"{path}: is not read; there are agents/*.yaml, {', '.join(sorted(read))}; rename or remove it."


def _not_built(agent: AgentConfig) -> Iterator[str]:
    """Why no prompt can be made of an agent, whatever its tools: each turn would fail."""
    session = SessionContext(session_id="check", agent_id=agent.agent_id, current_time=_ANY_TIME)
    try:
        build_agent_system_prompt(agent, (), session, "check", options=PromptOptions(tell_goal=False))
    except PromptInvalid as error:
        yield f"agents/{agent.agent_id}, version {agent.version}, {agent.lang}: {'; '.join(error.problems)}."


def read_prompts(folders: Sequence[Path], more: Sequence[ToolSpec] = ()) -> PromptTexts:
    """The set that `folders` make, each laid over those before it. Raises ConfigInvalid with a sentence for each problem."""
    agent_files = {
        path.name: path for folder in folders for path in sorted((folder / "agents").glob("*.yaml"))
    }
    agents = {name: _read_agent(path) for name, path in sorted(agent_files.items())}
    tools, tool_problems = _read_tools(folders, {spec.name: spec for spec in (*KNOWN_SPECS, *more)})
    rollout_files = [path for folder in folders if (path := folder / "rollout.yaml").exists()]
    rollout = _read(rollout_files[-1], _RolloutFile) if rollout_files else _RolloutFile()
    by_key = {(agent.agent_id, agent.lang, agent.version): agent for agent in agents.values()}
    defaults = {
        agent.agent_id: agent.version
        for name, agent in agents.items()
        if name == f"{agent.agent_id}.{agent.lang}.yaml"
    }
    problems = [
        *(problem for name, agent in agents.items() for problem in _misnamed(agent_files[name], agent)),
        *_doubled(agents, agent_files),
        *_unpaired(by_key, agent_files),
        *_unknown_handoffs(agents, agent_files, defaults),
        *tool_problems,
        *_wrong_arms(rollout, rollout_files, by_key),
    ]
    if problems:
        raise ConfigInvalid("\n".join(problems))
    ranks = {name: rank.sort_hint for name, rank in load_routing().tools.items()}
    return PromptTexts(by_key, defaults, tools, Rollouts(rollout.agents, rollout.enabled), ranks)


def _read_agent(path: Path) -> AgentConfig:
    """The agent of a file, with the fixed lines of its language, which no file of an agent can change."""

    def with_phrases(value: Any) -> Any:
        agent = value.get("agent") if isinstance(value, dict) else None
        if not isinstance(agent, dict):
            return value
        if "phrases" in agent:
            raise ConfigInvalid(f"{path}: agent.phrases: no agent has phrases of its own; remove it.")
        lang = agent.get(
            "lang"
        )  # one that is missing or wrong is told as such, and phrases are nobody's to add
        return value | {"agent": agent | {"phrases": load_phrases()[lang if lang in LANGUAGES else "en"]}}

    return _read(path, _AgentFile, with_phrases).agent


def _read(path: Path, model: type[M], complete: Callable[[Any], Any] = lambda value: value) -> M:
    value, lines = read_config_file(path, what="file of prompts", named_by="in the folder of prompts")
    value = complete(value)
    try:
        return model.model_validate(value if value is not None else {})
    except ValidationError as error:
        raise ConfigInvalid("\n".join(problems_of(path, error, lines, model))) from error


def _misnamed(path: Path, agent: AgentConfig) -> Iterator[str]:
    right = (f"{agent.agent_id}.{agent.lang}.yaml", f"{agent.agent_id}.{agent.version}.{agent.lang}.yaml")
    if path.name not in right:
        yield f"{path}: its agent_id, version and lang belong into a file {right[0]} or {right[1]}; rename it or correct them."


def _doubled(agents: Mapping[str, AgentConfig], files: Mapping[str, Path]) -> Iterator[str]:
    first: dict[tuple[str, str, str], str] = {}
    for name, agent in agents.items():
        key = (agent.agent_id, agent.lang, agent.version)
        if key in first:
            yield f"{files[name]}: has the version {agent.version}, as {first[key]} has; give each file a version of its own."
        first.setdefault(key, name)


def _unpaired(
    agents: Mapping[tuple[str, Language, str], AgentConfig], files: Mapping[str, Path]
) -> Iterator[str]:
    """Both languages say the same: an agent is there in both, with the same fields, ids and tools, and as many items in each list."""
    for (agent_id, lang, version), agent in agents.items():
        other: Language = "en" if lang == "zh" else "zh"
        twin = agents.get((agent_id, other, version))
        if twin is None:
            yield f"agents/{agent_id}: version {version} is there in {lang} only; add the file in {other}."
        elif lang == "zh" and (different := [*_different(agent, twin)]):
            yield (
                f"agents/{agent_id}: version {version} has other {', '.join(different)} in zh than in en; "
                "give both languages the same fields and as many items."
            )


def _different(one: AgentConfig, other: AgentConfig) -> Iterator[str]:
    for name in AgentConfig.model_fields:
        values = getattr(one, name), getattr(other, name)
        mine, theirs = values if name == "tool_allow" else map(_shape, values)
        if name != "lang" and mine != theirs:
            yield name


def _shape(value: object) -> object:
    """What of a field does not depend on the language."""
    if isinstance(value, BaseModel):
        return {key: _shape(getattr(value, key)) for key in type(value).model_fields}
    if isinstance(value, tuple):
        return [_shape(item) for item in value]
    return value is None


def _unknown_handoffs(
    agents: Mapping[str, AgentConfig], files: Mapping[str, Path], known: Iterable[str]
) -> Iterator[str]:
    for name, agent in agents.items():
        for number, handoff in enumerate(agent.handoffs):
            if handoff.agent_id not in known or handoff.agent_id == agent.agent_id:
                yield (
                    f"{files[name]}: agent.handoffs.{number}.agent_id: {handoff.agent_id} is no other agent; "
                    f"there are {', '.join(sorted(known))}."
                )


def _read_tools(
    folders: Sequence[Path], specs: Mapping[str, ToolSpec]
) -> tuple[dict[Language, dict[str, ToolText]], list[str]]:
    """What is said of each tool by language, and what is wrong with it: each tool and argument has a text, and no other."""
    texts: dict[Language, dict[str, ToolText]] = {}
    problems: list[str] = []
    for lang in LANGUAGES:
        words: dict[str, _ToolWords] = {}
        for folder in folders:
            if (path := folder / f"tools.{lang}.yaml").exists():
                for name, own in _read(path, _ToolsFile).tools.items():
                    words[name] = own.over(words.get(name, _ToolWords()))
        texts[lang] = {
            name: ToolText(each.when or "", each.what or "", each.arguments) for name, each in words.items()
        }
        at = f"tools.{lang}.yaml: tools."
        missing = [
            f"{name}.{key}"
            for name, each in words.items()
            for key in ("when", "what")
            if not getattr(each, key)
        ]
        missing += unsaid(specs.values(), texts[lang])
        problems += (f"{at}{each} is missing; say there what a model should know of it." for each in missing)
        problems += (
            f"{at}{each}: there is no such {'argument' if '.' in each else 'tool'}{_meant(each, specs)}; correct or remove it."
            for each in unmeant(specs.values(), texts[lang])
        )
    return texts, problems


def _meant(unknown: str, specs: Mapping[str, ToolSpec]) -> str:
    near = difflib.get_close_matches(unknown, specs, n=1)
    return f", did you mean {near[0]}?" if near and "." not in unknown else ""


def _wrong_arms(
    rollout: _RolloutFile, files: Sequence[Path], agents: Mapping[tuple[str, Language, str], AgentConfig]
) -> Iterator[str]:
    for agent_id, arms in rollout.agents.items():
        versions = sorted({version for known, _, version in agents if known == agent_id})
        for number, arm in enumerate(arms.arms):
            if arm.version not in versions:
                yield (
                    f"{files[-1]}: agents.{agent_id}.arms.{number}.version: {arm.version} is no version of {agent_id}; "
                    f"it has {', '.join(versions) or 'none: there is no such agent'}."
                )
