"""`chatops-bot prompt`: what an operator reads who looks up a hash."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app import prompt_cli
from chatops_bot.app.bundled import bundled
from chatops_bot.app.clock import SystemClock
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.app.prompt_sizes import Wording, prompt_for, shipped_skills
from chatops_bot.app.where import Where
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.errors import ConfigInvalid, StoreError
from chatops_bot.domain.kept_prompt import KeptPrompt, prompt_of
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.toolsets.scheduler.toolset import SCHEDULER_SPECS
from tests.app.conftest import run_cli
from tests.context.prompt_inputs import TOOLS, a_session, an_agent, build
from tests.tracked import ROOT

PREFIX = "[AGENT IDENTITY]\nYou are one.\n\n[CAPABILITIES]\n- Look.\n\n[CONSTRAINTS]\n- When asked, {rule}."


def kept(rule: str, agent: str = "one", *, keep_suffix: bool = True) -> KeptPrompt:
    return prompt_of(
        agent, "v1", "en", ("look",), PREFIX.format(rule=rule), "[CONTEXT]\nnow", keep_suffix=keep_suffix
    )


async def filled(folder: Path, *prompts: KeptPrompt) -> Where:
    store = await SqliteStore.open(folder / "bot.db", SystemClock())
    for prompt in prompts:
        await store.prompts.put(prompt, 3600)
    await store.aclose()
    return Where(data=folder)


@pytest.mark.case("prompt-R65")
async def test_the_first_digits_show_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    prompt = kept("query")
    where = await filled(tmp_path, prompt, kept("answer", keep_suffix=False))
    assert await prompt_cli.show(where, prompt.prompt_hash[:10].upper(), "") == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0].startswith(f"prompt {prompt.prompt_hash[:12]}")
    assert f"{prompt.prefix}\n\n{prompt.suffix}\n" in said
    await prompt_cli.show(where, kept("answer").prompt_hash, "one")
    assert "the volatile part was not kept" in capsys.readouterr().out


async def test_a_hash_that_means_none_or_several_says_what_to_do(tmp_path: Path):
    mine, theirs = kept("query"), kept("query", "two")
    where = await filled(tmp_path, mine, theirs)
    with pytest.raises(
        ConfigInvalid, match=r"2 prompts begin with .*\(one\).*\(two\); give more digits, or --agent"
    ):
        await prompt_cli.show(where, mine.prompt_hash, "")
    assert await prompt_cli.show(where, mine.prompt_hash, "two") == 0
    with pytest.raises(ConfigInvalid, match=r"may be older than agents\.keep_days"):
        await prompt_cli.show(where, "0000", "")
    with pytest.raises(ConfigInvalid, match="'xyz' is no hash"):
        await prompt_cli.show(where, "xyz", "")


async def test_a_text_that_somebody_changed_is_not_shown(tmp_path: Path):
    changed = replace(kept("query"), prefix="You obey.")
    where = await filled(tmp_path, changed)
    with pytest.raises(StoreError, match="is not what its hash says"):
        await prompt_cli.show(where, changed.prompt_hash, "")


@pytest.mark.case("prompt-R11")
@pytest.mark.case("prompt-R64")
async def test_a_difference_is_told_by_section(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    old, new = kept("query"), kept("answer")
    where = await filled(tmp_path, old, new)
    assert await prompt_cli.diff(where, old.prompt_hash, new.prompt_hash, "") == 1
    said = capsys.readouterr().out
    assert "\n[CONSTRAINTS]\n-- When asked, query.\n+- When asked, answer.\n" in said
    assert said.endswith("Same: AGENT IDENTITY, CAPABILITIES, CONTEXT. Different: CONSTRAINTS.\n")
    assert await prompt_cli.diff(where, old.prompt_hash, old.prompt_hash, "") == 0


def sent(**values: Any) -> KeptPrompt:
    built = build(**values)
    return prompt_of(built.agent_id, built.version, built.lang, built.tools, built.prefix, built.suffix)


GROWN = an_agent(capabilities=["Find tasks.", "Tell of all that was ever seen, at length."])
SYMPTOMS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("it calls the wrong tool", {"tools": TOOLS[:1]}, ["Different: AVAILABLE TOOLS", "tools: query_tasks, pause_task", "tools: query_tasks\n"]),
    ("it makes up numbers", {"agent": an_agent(constraints=["If blind, ask."])}, ["Different: CONSTRAINTS.", "\n-- When asked for state, query first.\n"]),
    ("it speaks as somebody else", {"agent": an_agent(agent_id="other", role_name="owl")}, ["agent opsbot,", "agent other,"]),
    ("some channels answer in another form", {"agent": an_agent(version="v2", output_format="a table")}, ["version v1,", "version v2,"]),
    ("the first word comes late", {"agent": GROWN}, ["Different: CAPABILITIES."]),
]  # fmt: skip


@pytest.mark.case("prompt-R64")
@pytest.mark.parametrize(("symptom", "cause", "shown"), SYMPTOMS, ids=[row[0] for row in SYMPTOMS])
async def test_a_symptom_leads_to_its_cause_before_the_model_is_blamed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], symptom: str, cause: dict[str, Any], shown: list[str]
):
    table = (ROOT / "docs" / "prompts.md").read_text(encoding="utf-8")
    assert f"\n| {symptom}" in table.split("before you blame the model", 1)[1]
    good, bad = sent(), sent(**cause)
    where = await filled(tmp_path, good, bad)
    await prompt_cli.diff(where, good.prompt_hash, bad.prompt_hash, "")
    said = capsys.readouterr().out
    assert [each for each in shown if each not in said] == []
    await prompt_cli.explain_kept(where, good.prompt_hash, "")
    await prompt_cli.explain_kept(where, bad.prompt_hash, "")
    sizes = re.findall(r"^CAPABILITIES +([\d,]+)", capsys.readouterr().out, re.MULTILINE)
    assert (sizes[0] != sizes[1]) == (cause == {"agent": GROWN})


@pytest.mark.case("prompt-R64")
async def test_dearer_calls_show_as_a_stable_part_that_does_not_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    first, later, churned = sent(), sent(session=a_session(channel="C9")), sent(tools=TOOLS[:1])
    where = await filled(tmp_path, first, later, churned)
    for other, parts in ((later, 1), (churned, 2)):
        await prompt_cli.diff(where, first.prompt_hash, other.prompt_hash, "")
        assert len(set(re.findall(r"stable part (\w+)", capsys.readouterr().out))) == parts


@pytest.mark.case("prompt-R64")
def test_a_rule_that_names_a_tool_is_told_by_lint(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "agents" / "scheduler_operator.en.yaml"
    path.parent.mkdir()
    shipped = (bundled("prompts") / "agents" / path.name).read_text(encoding="utf-8")
    path.write_text(shipped.replace("query the list", "query_tasks"), encoding="utf-8")
    assert prompt_cli.lint(AgentsConfig(folder=tmp_path)) == 1
    assert "names query_tasks, which may not be offered" in capsys.readouterr().out
    assert prompt_cli.lint(AgentsConfig()) == 0


def test_lint_tells_of_each_prompt_over_its_soft_limit_with_the_skills_that_it_is_sent_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert prompt_cli.lint(AgentsConfig()) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said[:-1]] == [
        f"{agent} v1 en, with_skills" for agent in ("incident_responder", "scheduler_operator")
    ]
    assert all(line.endswith("approved by the maintainers") for line in said[:-1])
    assert said[-1].startswith("Nothing to look at")
    path = tmp_path / "agents" / "scheduler_operator.zh.yaml"
    path.parent.mkdir()
    shipped = (bundled("prompts") / "agents" / path.name).read_text(encoding="utf-8")
    path.write_text(
        shipped.replace("role_description: >-\n", f"role_description: >-\n    {'关' * 800}\n", 1),
        encoding="utf-8",
    )
    assert prompt_cli.lint(AgentsConfig(folder=tmp_path)) == 1
    assert "scheduler_operator v1 zh, routed: prompt: about" in capsys.readouterr().out


async def test_a_changed_line_that_begins_like_a_diff_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    old, new = kept("query\n-- dry-run\n@@ one"), kept("query\n++ twice\n@@ two")
    where = await filled(tmp_path, old, new)
    assert await prompt_cli.diff(where, old.prompt_hash, new.prompt_hash, "") == 1
    said = capsys.readouterr().out
    assert "\n--- dry-run\n-@@ one.\n+++ twice\n+@@ two.\n" in said


@pytest.mark.case("prompt-R44")
async def test_sizes_are_told_by_section(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    prompt = kept("query")
    await prompt_cli.explain_kept(await filled(tmp_path, prompt), prompt.prompt_hash, "")
    rows = {line.split("  ")[0]: line.split()[-2:] for line in capsys.readouterr().out.splitlines()[2:]}
    assert rows["CONSTRAINTS"] == ["34", "11"]


def test_explain_says_which_agent_answers_in_a_channel_and_why(capsys: pytest.CaptureFixture[str]):
    config = AgentsConfig(channels={"C1": "scheduler_operator"})
    for channel, first in (
        ("C1", "agent scheduler_operator (because of agents.channels), version v1, zh"),
        ("C2", "agent incident_responder (because of agents.default), version v1, zh"),
    ):
        prompt_cli.explain(config, prompt_cli.Wanted(lang="zh", channel=channel))
        assert capsys.readouterr().out.splitlines()[0] == first


def test_the_whole_text_of_a_request_stands_alone_with_its_goal_and_the_arguments_of_tools(
    capsys: pytest.CaptureFixture[str],
):
    wording = Wording("full", "full", "what failed?")
    prompt_cli.explain(AgentsConfig(), prompt_cli.Wanted(wording=wording))
    said = capsys.readouterr().out
    assert said.startswith("[AGENT IDENTITY]\n")
    assert "\nGoal of this turn: what failed?\n" in said
    assert '"instance_id":{"description"' in said
    assert "load_skill" not in said
    prompt_cli.explain(AgentsConfig(), prompt_cli.Wanted(wording=Wording("off", "minimal", "what failed?")))
    shorter = capsys.readouterr().out
    assert "query_tasks:" not in shorter
    assert "followups" not in shorter
    assert "[SKILLS]" in shorter


async def test_one_prompt_has_one_table_of_sections(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    texts = PromptRegistry(configured_texts(AgentsConfig()))
    agent = texts.get("incident_responder", "en")
    prompt = prompt_for(texts, agent, SCHEDULER_SPECS, skills=shipped_skills(), channel="C1")
    sent = prompt_of(agent.agent_id, "v1", "en", prompt.tools, prompt.prefix, prompt.suffix)
    where = await filled(tmp_path, sent)
    prompt_cli.explain(AgentsConfig(), prompt_cli.Wanted(channel="C1"))
    now = capsys.readouterr().out
    await prompt_cli.explain_kept(where, sent.prompt_hash, "")
    tables = [said.split("\n\n")[at] for said, at in ((now, 1), (capsys.readouterr().out, 1))]
    assert tables[0].splitlines() == tables[1].splitlines()
    assert "\nSKILLS  " in tables[0]


def test_a_budget_needs_a_name_and_a_reason(tmp_path: Path):
    with pytest.raises(ConfigInvalid, match="give --approver and --reason"):
        prompt_cli.budgets(AgentsConfig(), tmp_path / "budgets.json", "Ana", " ")


async def test_the_commands_are_there(tmp_path: Path):
    prompt = kept("query")
    await filled(tmp_path, prompt)
    shown = run_cli("prompt", "show", prompt.prompt_hash[:8], "--data", tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "You are one." in shown.stdout
    linted = run_cli("prompt", "lint", cwd=tmp_path)
    assert linted.returncode == 0
    assert linted.stderr == (
        "chatops-bot: There is no chatops-bot.yaml here: this is what ships, with the default settings; name a configuration "
        "with --config.\n"
    )


def test_the_hash_of_the_tools_tells_every_word_of_them():
    texts = configured_texts(AgentsConfig())

    def tools_hash(**other: str) -> str:
        words = texts.tools["en"]
        changed = replace(words["query_tasks"], arguments={**words["query_tasks"].arguments, **other})
        prompts = PromptRegistry(
            replace(texts, tools={**texts.tools, "en": {**words, "query_tasks": changed}})
        )
        return prompt_for(prompts, prompts.get("incident_responder", "en"), SCHEDULER_SPECS).tools_hash

    assert tools_hash() == tools_hash()
    assert tools_hash() != tools_hash(limit="A few rows.")
