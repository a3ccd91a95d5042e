"""The files of texts: checked whole, told with file, line and field, replaced whole or not at all."""

import json
import logging
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from chatops_bot.app.bundled import bundled
from chatops_bot.app.known_tools import KNOWN_SPECS
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts, read_prompts
from chatops_bot.app.prompt_reload import PromptReload
from chatops_bot.app.prompt_sizes import Reviewed
from chatops_bot.context.hardening import TITLES
from chatops_bot.context.prompt_lint import lint_tools
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.domain.tool import ToolText
from chatops_bot.domain.withheld import Withheld
from chatops_bot.tools.registry import schema_of
from tests.small_tools import SEARCH


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped texts, to be edited."""
    return shutil.copytree(bundled("prompts"), tmp_path / "prompts")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def problems(folder: Path) -> str:
    with pytest.raises(ConfigInvalid) as raised:
        read_prompts([folder])
    return str(raised.value)


def letters(text: str) -> str:
    return re.sub(r"\W+", "", text)


def fragments(value: Any) -> Iterator[str]:
    """Every text of a file between its placeholders, keys included."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from (str(key), *fragments(each))
    elif isinstance(value, list):
        for each in value:
            yield from fragments(each)
    else:
        yield from re.split(r"\{\w+\}|\n", str(value))


@pytest.mark.case("prompt-R41")
def test_nothing_of_a_prompt_but_its_titles_comes_from_code(prompts: dict[str, Reviewed]):
    files = Path(bundled("prompts")).rglob("*.yaml")
    known = {
        letters(each)
        for file in files
        for each in fragments(yaml.safe_load(file.read_text(encoding="utf-8")))
    }
    by_length = sorted(known - {""}, key=len, reverse=True)
    left = set()
    for each in prompts.values():
        for part in each.prompt.sections:
            for line in part.text.splitlines() if part.title not in ("SKILLS", "CONTEXT") else ():
                rest = letters(line)
                for text in by_length:
                    rest = rest.replace(text, "")
                left |= {line} if rest else set()
    assert left == {f"[{title}]" for title in TITLES} - {"[SKILLS]", "[CONTEXT]"}


@pytest.mark.case("prompt-R43")
@pytest.mark.case("prompt-R59")
def test_an_agent_is_reached_by_its_id_alone_and_an_unknown_one_raises():
    prompts = PromptRegistry(configured_texts(AgentsConfig()))
    assert prompts.get("scheduler_operator", "zh").lang == "zh"
    with pytest.raises(
        ConfigInvalid, match="There is no agent nobody; there are incident_responder, scheduler_operator"
    ):
        prompts.get("nobody", "en")
    with pytest.raises(ConfigInvalid, match="has no version v9; it has v1"):
        prompts.get("scheduler_operator", "en", "v9")


def test_a_fault_names_file_line_and_field(folder: Path):
    path = folder / "agents" / "scheduler_operator.en.yaml"
    edit(path, "  role_name: opsbot", "  role_nam: opsbot")
    said = problems(folder)
    assert f"{path}, line 6: agent.role_nam is not a known key; did you mean role_name?" in said


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("agents/scheduler_operator.en.yaml", "version: v1", "version: v2", "is there in zh only"),
        ("agents/scheduler_operator.en.yaml", "    - delete_task\n", "", "has other tool_allow in zh than in en"),
        ("agents/incident_responder.zh.yaml", "      - 表达清楚", "      - 多一条。\n      - 表达清楚", "has other constraints"),
        ("agents/scheduler_operator.en.yaml", "agent_id: incident_responder", "agent_id: nobody", "nobody is no other agent"),
        ("agents/scheduler_operator.en.yaml", "agent_id: scheduler_operator", "agent_id: another", "rename it or correct them"),
        ("agents/scheduler_operator.en.yaml", "role_name: opsbot", "role_name: '{{name}}'", "a placeholder is left over"),
        ("tools.en.yaml", "  find_tools:", "  find_tool:", "tools.en.yaml: tools.find_tools is missing; say there what"),
        ("tools.zh.yaml", "  find_tools:", "  find_tool:", "tools.find_tool: there is no such tool, did you mean find_tools?; correct"),
        ("tools.zh.yaml", "      image: ", "      imag: ", "tools.zh.yaml: tools.create_task.arguments.image is missing"),
        ("tools.zh.yaml", "      image: ", "      imag: ", "tools.create_task.arguments.imag: there is no such argument; correct"),
        ("tools.en.yaml", "    what: List the workers", "    whit: List the workers", "line 28: tools.query_workers.whit is not a known key"),
        ("tools.en.yaml", "    what: List the workers", "    # List the workers", "tools.en.yaml: tools.query_workers.what is missing"),
        ("rollout.yaml", "agents: {}", "agents: {nobody: {arms: [{version: v2, percent: 1}]}}", "there is no such agent"),
        ("rollout.yaml", "agents: {}", "agents: {nobody: {arms: [{version: v2, percent: 101}]}}", "less than or equal to 100"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused(folder: Path, name: str, old: str, new: str, said: str):
    edit(folder / name, old, new)
    assert said in problems(folder)


def test_an_operators_folder_is_laid_over_the_shipped_one(folder: Path, tmp_path: Path):
    own = tmp_path / "own"
    (own / "agents").mkdir(parents=True)
    for lang in ("zh", "en"):
        shipped = folder / "agents" / f"scheduler_operator.{lang}.yaml"
        text = shipped.read_text(encoding="utf-8")
        (own / "agents" / shipped.name).write_text(
            text.replace("role_name: opsbot", "role_name: ours"), encoding="utf-8"
        )
        (own / "agents" / f"mine.{lang}.yaml").write_text(
            text.replace("agent_id: scheduler_operator", "agent_id: mine"), encoding="utf-8"
        )
        words = {"query_tasks": {"when": "When it is ours.", "arguments": {"limit": "A few."}}}
        (own / f"tools.{lang}.yaml").write_text(yaml.safe_dump({"tools": words}))
    prompts = PromptRegistry(configured_texts(AgentsConfig(folder=own, default="mine")))
    assert prompts.agent_ids == ("incident_responder", "mine", "scheduler_operator")
    assert prompts.get("scheduler_operator", "en").role_name == "ours"
    assert prompts.get("incident_responder", "en").role_name == "opsbot"
    ours, theirs = prompts.tools("en"), read_prompts([folder]).tools["en"]
    assert prompts.scenarios("query_tasks").en == ("When it is ours.",)
    assert ours["query_tasks"].what == theirs["query_tasks"].what
    assert ours["query_tasks"].arguments == {**theirs["query_tasks"].arguments, "limit": "A few."}
    assert ours["query_instances"] == theirs["query_instances"]


def test_a_tool_has_no_words_in_code():
    """They stand in `prompts/`, in both languages with the same arguments; what is missing there is told at the start."""
    for spec in KNOWN_SPECS:
        assert '"description"' not in json.dumps(schema_of(spec.arguments)), spec.name
    told = configured_texts(AgentsConfig()).tools
    arguments = {
        lang: {name: sorted(text.arguments) for name, text in words.items()} for lang, words in told.items()
    }
    assert arguments["zh"] == arguments["en"]
    assert arguments["en"].keys() == {spec.name for spec in KNOWN_SPECS}


def test_a_tool_that_is_added_without_words_is_refused(folder: Path):
    with pytest.raises(
        ConfigInvalid, match=r"tools\.zh\.yaml: tools\.search is missing; say there what"
    ) as raised:
        read_prompts([folder], [SEARCH])
    assert "tools.en.yaml: tools.search is missing" in str(raised.value)


def test_the_linter_looks_at_the_words_of_tools():
    long = ToolText("Arguments: a, b", "x" * 401, {"a": "y" * 141})
    assert [*lint_tools({"look": long})] == [
        "tools.look.when: lists parameters; say when to use it",
        "tools.look.what: 401 characters, more than 400; a model is sent them with each call",
        "tools.look.arguments.a: 141 characters, more than 140; a model is sent them with each call",
    ]
    for words in configured_texts(AgentsConfig()).tools.values():
        assert not [*lint_tools(words)]


def test_an_agent_has_no_phrases_of_its_own(folder: Path):
    edit(folder / "agents" / "incident_responder.en.yaml", "agent:\n", "agent:\n  phrases: {}\n")
    assert problems(folder).endswith("agent.phrases: no agent has phrases of its own; remove it.")


@pytest.mark.parametrize(
    "name", ["phrases.en.yaml", "routing.yaml", "tool.en.yaml", "agents/scheduler_operator.en.yml"]
)
def test_a_file_of_the_operator_that_nothing_would_read_is_refused(folder: Path, name: str):
    config = AgentsConfig(folder=folder)
    configured_texts(config)  # an unchanged copy of what ships is no fault, and neither is a note
    (folder / "README.md").write_text("ours", encoding="utf-8")
    configured_texts(config)
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write("\n# ours\n")
    with pytest.raises(ConfigInvalid, match=f"{re.escape(name)}: is not read; there are agents"):
        configured_texts(config)


@pytest.mark.case("prompt-P13")
def test_a_text_that_no_prompt_can_hold_is_refused_before_a_turn_meets_it(folder: Path, caplog):
    path = folder / "agents" / "scheduler_operator.en.yaml"
    agents = AgentsConfig(folder=folder)
    registry = PromptRegistry(configured_texts(agents))
    reload = PromptReload(agents, registry, Withheld(()))
    rules = "".join(f"      - {f'When asked for {n}, ' * 90}say so.\n" for n in range(8))
    for lang in ("en", "zh"):
        edit(path.with_name(f"scheduler_operator.{lang}.yaml"), "    must:\n", f"    must:\n{rules}")
    with caplog.at_level(logging.ERROR):
        reload.reload()
    assert registry.generation == 0
    assert "agents/scheduler_operator, version v1, en: prompt:" in caplog.text
    assert "characters are more than the 12000 it may have" in caplog.text


def test_config_that_names_an_agent_that_there_is_not_is_refused():
    with pytest.raises(ConfigInvalid, match=r"agents\.channels\.C1: there is no agent nobody"):
        configured_texts(AgentsConfig(channels={"C1": "nobody"}))


def test_a_reload_replaces_the_whole_set_or_nothing(folder: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    config, withheld = AgentsConfig(folder=folder), Withheld()
    reload = PromptReload(config, PromptRegistry(configured_texts(config)), withheld)
    rule = "When a result is long, show key data only: totals, and the rows that answer the question."
    assert rule not in withheld.text(rule)
    path = folder / "agents" / "scheduler_operator.en.yaml"
    edit(path, "role_name: opsbot", "role_name: renamed")
    edit(folder / "tools.en.yaml", "  find_tools:", "  find_tool:")
    reload.reload()
    assert reload.registry.get("scheduler_operator", "en").role_name == "opsbot"
    assert "those before stay in use" in caplog.text
    edit(folder / "tools.en.yaml", "  find_tool:", "  find_tools:")
    edit(path, rule, "When a result is long, say the totals and nothing besides them.")
    edit(folder / "tools.en.yaml", "What is to be done, in a few words.", "What to do, shortly.")
    reload.reload()
    assert reload.registry.tools("en")["find_tools"].arguments == {"query": "What to do, shortly."}
    assert reload.registry.get("scheduler_operator", "en").role_name == "renamed"
    assert "nothing besides them" not in withheld.text(
        "When a result is long, say the totals and nothing besides them."
    )
