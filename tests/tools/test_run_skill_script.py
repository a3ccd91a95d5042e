"""run_skill_script: which scripts can be reached at all, and what a model reads of their output."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.skill import Audience, BrokenSkill, ScriptRun, Skill
from chatops_bot.domain.tool import ToolCall
from chatops_bot.ports import ToolContext
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.invocation import Dispatched, TurnMemory
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.run_skill_script import RunSkillScript
from chatops_bot.tools.spilling import RESULT_CHARS
from tests.small_tools import HOUR, OSCAR, SESSION, WORDS, proposer_of

FOLDER = Path("skills")
TRIAGE = Skill("triage", "d", "b", FOLDER / "triage", "repo", scripts=("scripts/report.py", "fix.sh"))
FOR_U9 = Audience(people=frozenset({"U9"}))
HIDDEN = Skill("payroll", "d", "b", FOLDER / "payroll", "repo", scripts=("fix.sh",), audience=FOR_U9)
BARE = Skill("notes", "d", "b", FOLDER / "notes", "repo")
DONE = ScriptRun(0, "3 failed\n", "", (), 0.12, "namespaces")


@dataclass
class FewSkills:
    """Skills that are there from the start."""

    skills: tuple[Skill, ...] = (BARE, HIDDEN, TRIAGE)
    broken: Sequence[BrokenSkill] = ()

    def visible_to(self, person: Person, channel: str) -> Sequence[Skill]:
        return [skill for skill in self.skills if skill.audience.includes(person, channel)]


@dataclass
class Scripts:
    """Plays scripts; `disabled_because` is why none runs."""

    done: ScriptRun = DONE
    disabled_because: Phrase | None = None
    runs: list[tuple[str, str, tuple[str, ...], str]] = field(default_factory=list)

    async def run(self, skill: Skill, script: str, arguments: Sequence[str], stdin: str = "") -> ScriptRun:
        self.runs.append((skill.name, script, tuple(arguments), stdin))
        return self.done


@dataclass
class Bench:
    dispatcher: Dispatcher
    scripts: Scripts

    async def call(self, person: Person = OSCAR, **arguments: Any) -> Dispatched:
        call = ToolCall("c1", "run_skill_script", json.dumps(arguments))
        return await self.dispatcher.dispatch(
            call, ToolContext(person, SESSION, "turn_1"), TurnMemory(), "en"
        )


@pytest.fixture
async def bench(tmp_path: Path, clock: ManualClock, ids: CountingIds) -> AsyncIterator[Bench]:
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    scripts, redactor = Scripts(), Redactor(["hunter2hunter2"])
    registry = Registry([RunSkillScript(FewSkills(), scripts)])
    dispatcher = Dispatcher(
        registry, policy=Policy(), audit=store.audit, proposer=proposer_of(store, clock, ids),
        asker=Asker(store.forms, clock, ids, redactor, HOUR), redactor=redactor, clock=clock, words=WORDS
    )  # fmt: skip
    yield Bench(dispatcher, scripts)
    await store.aclose()


async def test_a_declared_script_runs_without_an_approval_and_its_output_is_the_result(bench: Bench):
    done = await bench.call(
        skill="triage", script="scripts/report.py", arguments=["--day", "a; b"], stdin="rows"
    )
    assert bench.scripts.runs == [("triage", "scripts/report.py", ("--day", "a; b"), "rows")]
    assert done.result.status == "ok"
    assert done.result.content == {
        "skill": "triage", "script": "scripts/report.py", "isolation": "namespaces", "exit": 0, "notes": [], "seconds": 0.12,
        "stdout": "3 failed\n", "stderr": "",
    }  # fmt: skip
    assert done.decision == "auto"


async def test_a_script_that_fails_is_a_result(bench: Bench):
    bench.scripts.done = ScriptRun(7, "", "no such task")
    done = await bench.call(skill="triage", script="fix.sh")
    assert (done.result.status, done.result.content["exit"]) == ("ok", 7)
    assert done.result.content["stderr"] == "no such task"
    assert done.result.summary.en == "fix.sh ended with 7"


async def test_a_script_that_was_killed_says_why(bench: Bench):
    bench.scripts.done = ScriptRun(None, "half", "", (Phrase("超时", "killed: too slow"),))
    done = await bench.call(skill="triage", script="fix.sh")
    assert (done.result.content["exit"], done.result.content["notes"]) == ("killed", ["killed: too slow"])
    assert done.result.summary.en == "fix.sh was killed"


async def test_a_hidden_skill_and_none_at_all_get_the_same_words(bench: Bench):
    hidden = await bench.call(skill="payroll", script="fix.sh")
    absent = await bench.call(skill="nothing", script="fix.sh")
    assert hidden.result == absent.result
    assert hidden.result.status == "error"
    assert bench.scripts.runs == []


async def test_whom_a_skill_is_for_runs_its_scripts(bench: Bench):
    done = await bench.call(Person("U9", "Nina", Role.VIEWER), skill="payroll", script="fix.sh")
    assert done.result.status == "ok"


@pytest.mark.parametrize(
    "script",
    [
        "scripts/other.py", "../triage/fix.sh", "./fix.sh", "scripts/../fix.sh", "/skill/fix.sh", "FIX.sh", "fix.sh ", "fix.sh\n",
        "fix.sh\u0000", "payroll/fix.sh", "../payroll/fix.sh", "SKILL.md", "", "-c", "scripts\\report.py", "scripts%2Freport.py",
    ],
)  # fmt: skip
async def test_only_a_script_that_the_skill_declares_can_be_named(bench: Bench, script: str):
    done = await bench.call(skill="triage", script=script)
    assert done.result.status == "error"
    assert "scripts/report.py, fix.sh" in done.result.content["error"]
    assert bench.scripts.runs == []


@pytest.mark.parametrize(("skill", "kept_back"), [("triage", "report"), ("notes", "notes")])
async def test_the_line_for_people_names_neither_the_skill_nor_its_scripts(
    bench: Bench, skill: str, kept_back: str
):
    said = (await bench.call(skill=skill, script="other.py")).result.summary
    assert said.en
    assert said.zh
    assert kept_back not in said.en + said.zh


async def test_a_skill_without_scripts_says_so(bench: Bench):
    done = await bench.call(skill="notes", script="fix.sh")
    assert "has no scripts" in done.result.content["error"]


@pytest.mark.parametrize("arguments", [["a\u0000b"], ["x" * 4097], ["x"] * 65, {"a": 1}, [1]])
async def test_arguments_that_no_command_line_takes_never_run(bench: Bench, arguments: object):
    done = await bench.call(skill="triage", script="fix.sh", arguments=arguments)
    assert done.result.status == "error"
    assert bench.scripts.runs == []


async def test_where_scripts_are_off_the_answer_says_why(bench: Bench):
    bench.scripts.disabled_because = Phrase("没有 bubblewrap。", "bubblewrap is not installed; install it.")
    done = await bench.call(skill="triage", script="fix.sh")
    assert done.result.status == "error"
    assert "bubblewrap is not installed; install it." in done.result.content["error"]
    assert bench.scripts.runs == []


async def test_secrets_in_the_output_are_taken_out_before_it_is_cut(bench: Bench):
    bench.scripts.done = ScriptRun(0, "key=hunter2hunter2\n" + "x" * 200_000, "hunter2hunter2")
    text = json.dumps((await bench.call(skill="triage", script="fix.sh")).result.content)
    assert "hunter2" not in text
    assert len(text) <= RESULT_CHARS + 1000
    assert '"of_characters": 2000' in text


def test_it_only_looks(bench: Bench):
    (tool,) = bench.dispatcher.registry
    assert tool.spec.effect is Effect.READ
    assert tool.spec.timeout > 30
