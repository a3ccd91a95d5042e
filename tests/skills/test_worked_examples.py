"""Every shipped skill's worked example is run: its calls validate, run on the demo's data, and end in what it names."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from chatops_bot.agent.briefing import Briefing
from chatops_bot.agent.loop import Loop, Turn
from chatops_bot.app.bundled import bundled
from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.context.fence import fresh_marks
from chatops_bot.context.skill_file import Place, parse_skill
from chatops_bot.context.worked_example import Step, example_in, kept_of, why_unreadable
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.model import UserMessage
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.skill import Skill
from chatops_bot.domain.turn_event import CallEnded, Proposed, Rested, TurnEvent
from chatops_bot.ports import ToolContext
from chatops_bot.scheduler.service import SchedulerService
from chatops_bot.scheduler.settings import SchedulerSettings
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.definitions import Definitions
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.toolbox import Toolbox
from chatops_bot.toolsets.scheduler import Account, SchedulerClient, scheduler_tools
from tests.scenarios.seeded_scheduler import put_seeded_data
from tests.skills.worked_example import ExamplePlayer
from tests.small_tools import PHRASES, WORDS, proposer_of

TEXTS = configured_texts(AgentsConfig())
FOLDER = bundled("skills")
SHIPPED = (
    "capacity-check",
    "dependency-map",
    "incident-timeline",
    "retry-campaign",
    "schedule-writing",
    "self-healing-draft",
    "shift-handover",
    "task-failure-triage",
)
OPERATOR = Person("U1", "Oscar", Role.OPERATOR)
_NUMBER = re.compile(r"\d+")


def read(name: str) -> Skill:
    folder = FOLDER / name
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    place = Place(folder, f"skills/{name}/SKILL.md", "shipped", files, name)
    skill = parse_skill((folder / "SKILL.md").read_bytes(), place)
    assert isinstance(skill, Skill), skill
    return skill


@dataclass
class Desk:
    """Loop, door and store over the demo's scheduler."""

    registry: Registry
    store: SqliteStore
    clock: SystemClock
    ids: RandomIds

    async def play(self, skill: Skill, player: ExamplePlayer) -> list[TurnEvent]:
        """The example as a turn of an operator, with the tools that the skill brings and no others."""
        redactor = Redactor()
        dispatcher = Dispatcher(
            self.registry,
            policy=Policy(),
            audit=self.store.audit,
            proposer=proposer_of(self.store, self.clock, self.ids),
            asker=Asker(self.store.forms, self.clock, self.ids, redactor, timedelta(hours=1)),
            redactor=redactor,
            clock=self.clock,
            words=WORDS,
        )
        toolbox = Toolbox(self.registry, offered=skill.tools)
        turn = Turn(
            context=ToolContext(OPERATOR, SessionKey("slack", "T1", "C1", skill.name), self.ids.new("turn")),
            language="en",
            briefing=Briefing(
                toolbox,
                Definitions(self.registry, TEXTS.tools["en"], PHRASES.tools.secret),
                lambda _tools, _loaded: skill.body,
                (UserMessage("go"),),
                PHRASES,
                fresh_marks(self.ids.nonce),
                rounds=skill.rounds,
            ),
        )
        events: list[TurnEvent] = []

        async def emit(event: TurnEvent) -> None:
            events.append(event)

        await Loop(player, dispatcher, self.store.transcripts, self.clock, self.ids).run_turn(turn, emit)
        return events


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    clock, ids, data = SystemClock(), RandomIds(), tmp_path / "scheduler"
    await put_seeded_data(data)
    async with (
        SchedulerService.start(SchedulerSettings(data=data, demo=True)) as scheduler,
        httpx.AsyncClient() as http,
    ):
        accounts = {
            Role(name): Account(**scheduler.accounts[name]) for name in ("viewer", "operator", "admin")
        }
        registry = Registry(scheduler_tools(SchedulerClient(http, scheduler.url, accounts), clock))
        store = await SqliteStore.open(tmp_path / "bot.db", clock)
        yield Desk(registry, store, clock, ids)
        await store.aclose()


def test_these_skills_ship_and_no_folder_is_without_one():
    assert tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir())) == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
async def test_the_worked_example_runs_to_the_end_that_it_names(desk: Desk, name: str):
    skill = read(name)
    example = example_in(skill.body)
    player = ExamplePlayer(example)
    events = await desk.play(skill, player)
    ended = [event for event in events if isinstance(event, CallEnded)]
    assert [event.tool for event in ended] == [step.call for step in example.steps]
    proposals = [event.proposal for event in events if isinstance(event, Proposed)]
    wanted = example.ends.proposal
    if wanted is None:
        assert [event.status for event in ended] == ["ok"] * len(ended), player.results
        assert proposals == []
        rested = events[-1]
        assert isinstance(rested, Rested)
        assert rested.body == player.answer
        found = canonical_json(player.results)
        facts = [str(player.filled(fact)) for fact in example.ends.facts]
        assert [fact for fact in facts if fact not in found] == [], "facts that no result holds"
        assert [fact for fact in facts if fact not in player.answer and fact not in found] == []
        assert {number for number in _NUMBER.findall(player.answer) if number not in found} == set()
    else:
        assert [event.status for event in ended] == ["ok"] * (len(ended) - 1) + ["waits"], player.results
        (proposal,) = proposals
        assert proposal.tool == wanted.tool
        expected = player.filled(wanted.arguments)
        assert {key: proposal.arguments[key] for key in expected} == expected


@pytest.mark.parametrize("name", SHIPPED)
def test_a_skill_brings_the_tools_that_its_example_uses_and_says_when_to_use_it_in_both_languages(name: str):
    skill = read(name)
    example = example_in(skill.body)
    assert {step.call for step in example.steps} <= set(skill.tools)
    assert re.search(r"[\u4e00-\u9fff、：，]{6}", skill.description_zh)
    assert not re.search(r"[\u4e00-\u9fff]", skill.description)
    assert re.search(r"[a-z]{4} [a-z]+ ", skill.description)
    assert skill.rounds > len(example.steps)


@pytest.mark.parametrize("text", ["", "---\nname: x\ndescription: y\n---\n", "---\nname: x\n---\nsteps"])
def test_an_empty_skill_is_no_skill(text: str):
    assert not isinstance(
        parse_skill(text.encode(), Place(FOLDER / "x", "x/SKILL.md", "test", (), "x")), Skill
    )


@pytest.mark.parametrize(
    "body", ["", "## Worked example\n\nnone yet", "```yaml example\nasked: what?\nsteps: []\n```"]
)
def test_a_skill_without_a_worked_example_fails(body: str):
    with pytest.raises(ValueError, match=r"example|steps"):
        example_in(body)


def drawn(*tasks: tuple[int, tuple[int, ...]]) -> str:
    """What the script of the dependency map prints; each of `tasks` is its id and those that it waits for."""
    said = {"tasks": [{"id": id_, "name": f"t{id_}", "depends_on": others} for id_, others in tasks]}
    script = bundled("skills") / "dependency-map" / "scripts" / "draw.py"
    done = subprocess.run(
        [sys.executable, "-I", script], input=canonical_json(said), capture_output=True, text=True, check=True
    )
    return done.stdout


EXAMPLE = "```yaml example\nasked: what is there\nsteps:\n  - call: query_tasks\n{more}ends:\n  answer: {answer}\n  facts: [x]\n```\n"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("Only prose.\n", ""),
        (EXAMPLE.format(more="", answer="done"), ""),
        (
            "Text.\n\n" + EXAMPLE.format(more="    wiht: {}\n", answer="done"),
            "line 3: steps.0.wiht: ",
        ),
        (
            EXAMPLE.format(more="", answer="[unclosed"),
            "line 1: the example is no YAML that can be read",
        ),
        (EXAMPLE.format(more="", answer="done") * 2, "line 1: a skill has one block"),
    ],
)
def test_an_example_that_cannot_be_read_is_told_with_its_line(body: str, why: str):
    assert why_unreadable(body) == why if not why else why_unreadable(body).startswith(why)


@pytest.mark.parametrize(
    "path", ["tasks.².name", "tasks.٣.name", "tasks.-1.name", "tasks..name", "tasks.9.name"]
)
def test_a_path_that_leads_nowhere_keeps_nothing(path: str):
    step = Step.model_validate({"call": "query_tasks", "keep": {"a": path}})
    assert kept_of(step, {"tasks": [{"name": "x"}]}) == {}


def test_what_stands_below_a_task_is_drawn_once_however_many_ways_lead_there():
    assert drawn((1, ()), (2, (1,)), (3, (1,)), (4, (2, 3)), (5, (4,)), (6, (7,)), (7, (6,))) == (
        "t1 (#1)\n  - t2 (#2)\n    - t4 (#4)\n      - t5 (#5)\n  - t3 (#3)\n    - t4 (#4)  (see above)\n"
        "t6 (#6)\n  - t7 (#7)\n    - t6 (#6)  <- a circle\n"
    )
    layers = [(layer, number) for layer in range(1, 30) for number in (2 * layer, 2 * layer + 1)]
    assert len(drawn(*((id_, (2 * layer - 2, 2 * layer - 1)) for layer, id_ in layers)).splitlines()) < 150
    assert len(drawn(*((id_, (id_ - 1,)) for id_ in range(3000))).splitlines()) == 3000
