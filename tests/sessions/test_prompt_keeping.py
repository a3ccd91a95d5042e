"""Which agent and version answers a turn, what is kept of its prompts, and what it may call."""

import json
import logging
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.app.logs import JsonFormatter
from chatops_bot.app.metering import TurnCount, metered_store
from chatops_bot.app.metrics import Metrics
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.context.budget import Budget
from chatops_bot.context.fence import kept_marks, unfence
from chatops_bot.context.prompt_factory import build_agent_system_prompt
from chatops_bot.context.prompt_registry import PromptRegistry, PromptTexts
from chatops_bot.context.prompt_types import PromptOptions, SessionContext
from chatops_bot.context.rollout import Arm, Rollout, Rollouts
from chatops_bot.domain.errors import ConfigInvalid, StoreUnavailable, ToolUnknown
from chatops_bot.domain.kept_prompt import digest, whole
from chatops_bot.domain.language import Language
from chatops_bot.domain.model import (
    AssistantMessage,
    ContextMessage,
    ModelRequest,
    SystemMessage,
    UserMessage,
)
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.domain.tool import ToolText
from chatops_bot.domain.transcript import Prompted, UserSaid
from chatops_bot.ports import Consultations, ToolContext
from chatops_bot.sessions.arm_watch import ArmWatch
from chatops_bot.sessions.briefing import Briefer
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.sessions.prompt_keeping import PromptKeeper
from chatops_bot.sessions.tool_briefs import brief_of
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.stores.sqlite_arms import SqliteArms
from chatops_bot.tools.definitions import Definitions
from chatops_bot.tools.registry import Registry
from tests.small_tools import LOOK, OSCAR, SESSION, SWITCH, Look, Switch, texts_with
from tests.tracked import ROOT

SECRET = "hunter2-hunter2"
TEXTS = texts_with(LOOK, SWITCH)


def with_version(version: str, rollouts: Rollouts, says: str = "the") -> PromptTexts:
    """The shipped texts, and the responder in another version."""
    other = {
        (agent_id, lang, version): agent.model_copy(
            update={"version": version, "role_name": f"{says} {version}"}
        )
        for (agent_id, lang, _), agent in TEXTS.agents.items()
        if agent_id == "incident_responder"
    }
    return replace(TEXTS, agents={**TEXTS.agents, **other}, rollouts=rollouts)


def share(percent: float) -> Rollouts:
    return Rollouts({"incident_responder": Rollout(arms=(Arm(version="v2", percent=percent),))})


class Desk:
    """A briefer over a store, and what it is asked."""

    def __init__(self, store: SqliteStore, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.prompts = PromptRegistry(TEXTS)
        self.config = AgentsConfig(channels={"C2": "scheduler_operator"})

    async def asks(
        self, text: str, *, lang: Language = "en", session: SessionKey = SESSION, keep_suffix: bool = True
    ) -> ModelRequest:
        """The first model call of a turn in `session`."""
        keeper = PromptKeeper(self.store.prompts, self.store.transcripts, self.clock, 30, keep_suffix)
        briefer = Briefer(
            registry=Registry([Look(), Switch()]), prompts=self.prompts, agent_in=self.config.agent_in, clock=self.clock,
            ids=CountingIds(), keeper=keeper, clean=Redactor([SECRET]).text, budget=Budget(), model="scripted",
            may_ask=Policy().may_ask, marks=lambda session: kept_marks(b"a key", str(session)),
        )  # fmt: skip
        now = self.clock.now()
        said = UserSaid(f"turn_{now.timestamp()}", now, OSCAR.id, OSCAR.name, "operator", text)
        await self.store.transcripts.append(session, [said])
        entries = await self.store.transcripts.load(session)
        self.briefer, self.turn = briefer, said.turn_id
        turn = TurnInput(said.turn_id, session, OSCAR, text, language=lang)
        self.turn_input, self.entries = turn, entries
        self.briefing = briefer.brief(turn, entries, lang)
        return await self.briefing.request((), lang)

    async def prompted(self, session: SessionKey = SESSION) -> list[Prompted]:
        return [each for each in await self.store.transcripts.load(session) if isinstance(each, Prompted)]


@pytest.fixture
async def desk(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Desk]:
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    yield Desk(store, clock)
    await store.aclose()


def parts(request: ModelRequest) -> tuple[str, str]:
    [system] = [each.text for each in request.messages if isinstance(each, SystemMessage)]
    [context] = [each.text for each in request.messages if isinstance(each, ContextMessage)]
    return system, context


class Facts(logging.Handler):
    """What a log line says, as machines read it."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter(Redactor()))
        self.lines: list[dict[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@contextmanager
def logged() -> Iterator[Facts]:
    """What is logged of a prompt meanwhile."""
    facts, log = Facts(), logging.getLogger("chatops_bot.sessions.prompt_keeping")
    log.addHandler(facts)
    log.setLevel(logging.INFO)
    try:
        yield facts
    finally:
        log.removeHandler(facts)
        log.setLevel(logging.NOTSET)


@pytest.mark.case("prompt-R64")
@pytest.mark.case("prompt-R65")
@pytest.mark.case("prompt-V20")
async def test_the_hash_in_the_log_leads_to_the_bytes_that_were_sent(desk: Desk):
    with logged() as facts:
        system, context = parts(await desk.asks("what failed?"))
    [entry], [line] = await desk.prompted(), facts.lines
    assert (line["message"], line["agent"]) == ("the model is asked", "incident_responder")
    assert (line["prompt"], line["prefix"]) == (entry.prompt_hash, entry.prefix_hash)
    kept = await desk.store.prompts.get("incident_responder", line["prompt"])
    assert kept is not None
    assert (kept.prefix, kept.suffix) == (system, context)
    assert (kept.prompt_hash, kept.prefix_hash) == (digest(whole(system, context)), digest(system))
    assert entry.tools == kept.tools == tuple(tool.spec.name for tool in (Look(), Switch()))
    assert (entry.agent_id, entry.version, kept.lang) == ("incident_responder", "v1", "en")


@pytest.mark.case("prompt-R4")
async def test_what_is_sent_is_what_the_one_builder_wrote(desk: Desk):
    system, context = parts(await desk.asks("what failed?"))
    briefs = [brief_of(tool.spec, desk.prompts) for tool in (Look(), Switch())]
    session = SessionContext(session_id="another", current_time=desk.clock.now())
    agent = desk.prompts.get("incident_responder", "en")
    built = build_agent_system_prompt(
        agent, briefs, session, "another", options=PromptOptions(tool_text="names")
    )
    assert system == built.prefix
    told, people = context[: (at := context.index("[UNTRUSTED DATA"))], context[at:]
    assert OSCAR.id in unfence(people), "and nothing stands behind it"
    title, *lines = told.splitlines()
    words = agent.phrases.context.model_dump().values()
    labels = tuple(str(each).partition("{")[0] for each in words)
    assert all(labels)
    assert title == "[CONTEXT]"
    assert [line for line in lines if not line.startswith((*labels, "| "))] == []


async def test_tools_are_told_in_the_language_of_the_conversation_and_as_the_texts_are_now(desk: Desk):
    """A turn that runs keeps the words that it began with; of the same tools there is one tuple, whichever turn asks."""
    [look, _] = (await desk.asks("what failed?")).tools
    assert look.description == "Does the look."
    assert look.parameters["properties"]["limit"] == {"type": "integer", "minimum": 1, "default": 20, "description": "The limit of it."}  # fmt: skip
    names = frozenset({"look", "switch"})

    def begun() -> Definitions:
        return desk.briefer.brief(desk.turn_input, desk.entries, "en").definitions

    before = begun()
    assert begun().of(names) is before.of(names)
    told = {
        lang: {**words, "look": ToolText("Now.", f"Looks anew, {lang}.", words["look"].arguments)}
        for lang, words in TEXTS.tools.items()
    }
    desk.prompts.replace(replace(TEXTS, tools=told))
    assert before.of(names)[0].description == "Does the look."
    assert begun().of(names)[0].description == "Looks anew, en."
    assert (await desk.asks("刚才失败了什么？", lang="zh")).tools[0].description == "Looks anew, zh."


@pytest.mark.case("prompt-R2")
async def test_every_call_carries_every_rule_anew_and_no_transcript_holds_them(desk: Desk):
    rules = desk.prompts.get("incident_responder", "en").constraints
    said = (*rules.must, *rules.must_not, *rules.fallback)
    calls = [
        await desk.asks("what failed?"),
        await desk.briefing.request((AssistantMessage("Let me look."),), "en"),
        await desk.asks("and now?"),
    ]
    for request in calls:
        assert isinstance(request.messages[0], SystemMessage)
        assert [rule for rule in said if f"- {rule}" not in request.messages[0].text] == []
    kept = "".join(map(str, await desk.store.transcripts.load(SESSION)))
    assert not [rule for rule in said if rule in kept]


@pytest.mark.case("prompt-R39")
async def test_no_earlier_message_stands_in_the_prompt(desk: Desk):
    await desk.asks("the zebra stands at the gate")
    request = await desk.asks("and now?")
    assert not [part for part in parts(request) if "zebra" in part or "and now?" in part]
    assert [m.text for m in request.messages if isinstance(m, UserMessage)] == [
        "the zebra stands at the gate",
        "and now?",
    ]


@pytest.mark.case("prompt-R64")
async def test_the_table_of_symptoms_names_only_what_there_is(desk: Desk):
    page = (
        (ROOT / "docs" / "prompts.md").read_text(encoding="utf-8").split("before you blame the model", 1)[1]
    )
    rows = re.findall(r"^\| (?!what you see|---)(.+) \| (.+) \| (.+) \|$", page, re.MULTILINE)
    assert len(rows) >= 7
    with logged() as log:
        await desk.asks("what failed?")
    [facts] = log.lines
    assert facts["message"] == "the model is asked"
    named = {field for row in rows for field in re.findall(r"`(\w+)=`", row[2])}
    assert named >= {"agent", "version", "prefix", "chars", "tools"}
    assert named <= facts.keys()
    assert {word for row in rows for word in re.findall(r"`prompt (\w+)", row[2])} == {
        "show",
        "diff",
        "lint",
        "explain",
    }


async def test_steps_of_one_prompt_make_one_entry_and_a_change_makes_another(desk: Desk):
    await desk.asks("what failed?")
    await desk.briefing.request((), "en")
    assert len(await desk.prompted()) == 1
    await desk.briefing.request((), "en", may_call=False)
    assert len(await desk.prompted()) == 1
    desk.clock.advance(timedelta(minutes=1))
    await desk.asks("and now?")
    first, second = await desk.prompted()
    assert first.prefix_hash == second.prefix_hash
    assert first.prompt_hash != second.prompt_hash


async def test_a_secret_is_in_neither_what_is_sent_nor_what_is_kept(desk: Desk):
    session = replace(SESSION, channel=SECRET)
    _, context = parts(await desk.asks("hello", session=session))
    [entry] = await desk.prompted(session)
    kept = await desk.store.prompts.get("incident_responder", entry.prompt_hash)
    assert kept is not None
    assert SECRET not in context
    assert kept.suffix == context


async def test_without_the_suffix_its_hash_alone_is_kept(desk: Desk):
    _, context = parts(await desk.asks("hello", keep_suffix=False))
    [entry] = await desk.prompted()
    kept = await desk.store.prompts.get("incident_responder", entry.prompt_hash)
    assert kept is not None
    assert (kept.suffix, kept.suffix_hash) == (None, digest(context))


@pytest.mark.case("prompt-R43")
@pytest.mark.case("prompt-R59")
async def test_the_channel_chooses_the_agent_and_the_asker_the_language(desk: Desk):
    there = replace(SESSION, channel="C2")
    for session, agent_id in ((SESSION, "incident_responder"), (there, "scheduler_operator")):
        for lang in ("zh", "en"):
            system, _ = parts(await desk.asks("hello", lang=lang, session=session))
            assert desk.prompts.get(agent_id, lang).role_description in system


@pytest.mark.case("prompt-R60")
async def test_an_agent_is_told_of_offered_and_let_call_its_own_tools_only(desk: Desk):
    there = replace(SESSION, channel="C2")
    request = await desk.asks("hello", session=there)
    own = desk.prompts.get("scheduler_operator", "en").tool_allow or ()
    foreign = {Look().spec.name, Switch().spec.name} - set(own)
    assert foreign
    assert not foreign & {tool.name for tool in request.tools}
    assert not [name for name in foreign if f"- {name}" in parts(request)[0]]
    for name in foreign:
        with pytest.raises(ToolUnknown):
            desk.briefing.toolbox.find(name)
    desk.briefing.toolbox.offer(foreign)
    assert not foreign & desk.briefing.toolbox.offered


@pytest.mark.case("prompt-R63")
@pytest.mark.case("prompt-V20")
async def test_a_thread_never_mixes_versions_while_the_share_grows(desk: Desk):
    desk.prompts.replace(with_version("v2", share(0)))
    before, _ = parts(await desk.asks("hello"))
    desk.prompts.replace(with_version("v2", share(100)))
    after, _ = parts(await desk.asks("go on"))
    other, _ = parts(await desk.asks("hello", session=replace(SESSION, thread="2.2")))
    assert before == after
    assert "the v2" in other
    assert {each.version for each in await desk.prompted()} == {"v1"}


@pytest.mark.case("prompt-R63")
async def test_an_arm_whose_turns_fail_is_given_to_nobody_until_the_texts_are_read_again(
    desk: Desk, caplog: pytest.LogCaptureFixture
):
    desk.prompts.replace(with_version("v2", share(100)))
    for number in range(10):
        told, _ = parts(await desk.asks("hello", session=replace(SESSION, thread=f"{number}.1")))
        assert "the v2" in told
        desk.briefer.rested(desk.turn, TurnOutcome.STOPPED if number == 3 else TurnOutcome.FAILED)
    watch = ArmWatch(desk.prompts, desk.store.arms)
    await watch.sweep()
    assert "the v2" in parts(await desk.asks("hello"))[0], "what people stopped says nothing"
    desk.briefer.rested(desk.turn, TurnOutcome.CAPPED)
    await watch.sweep()
    assert "incident_responder v2 paused itself" in caplog.text
    assert "the v2" not in parts(await desk.asks("go on"))[0], "also of threads that began with it"
    desk.prompts.replace(with_version("v2", share(100)))
    await watch.sweep()
    assert "the v2" in parts(await desk.asks("hello", session=replace(SESSION, thread="11.1")))[0]


async def test_processes_count_together_and_a_restart_forgets_nothing(
    desk: Desk, caplog: pytest.LogCaptureFixture
):
    ours, theirs, restarted = (PromptRegistry(with_version("v2", share(50))) for _ in "123")
    watches = [ArmWatch(each, desk.store.arms) for each in (ours, theirs)]
    for number in range(10):
        (ours, theirs)[number % 2].rested("incident_responder", "v2", failed=True)
        for watch in watches:
            await watch.sweep()
    assert caplog.text.count("incident_responder v2 paused itself") == 1, (
        "each had five turns, and one of them says it"
    )
    for watch in (*watches, ArmWatch(restarted, desk.store.arms)):
        await watch.sweep()
    paused = frozenset({("incident_responder", "v2")})
    assert (ours.paused, theirs.paused, restarted.paused) == (paused, paused, paused)
    other = PromptRegistry(with_version("v2", share(50), says="another text of"))
    await ArmWatch(other, desk.store.arms).sweep()
    assert not other.paused, "a new text under the old name is a new try"
    theirs.replace(with_version("v2", share(50)))
    for watch in reversed(watches):
        await watch.sweep()
    assert (ours.paused, theirs.paused) == (frozenset(), frozenset())


async def test_what_the_store_did_not_take_is_told_the_next_time(desk: Desk):
    class Away(SqliteArms):
        async def ended(self, agent_id: str, text: str, most: int, *, failed: bool) -> None:
            raise StoreUnavailable("away")

    prompts = PromptRegistry(with_version("v2", share(50)))
    prompts.rested("incident_responder", "v2", failed=True)
    with pytest.raises(StoreUnavailable):
        await ArmWatch(prompts, Away(desk.store._file)).sweep()
    await ArmWatch(prompts, desk.store.arms).sweep()
    text = prompts.text_id("incident_responder", "v2")
    assert await desk.store.arms.turns("incident_responder", text) == [True]


async def test_an_outage_pauses_no_arm(desk: Desk):
    desk.prompts.replace(with_version("v2", share(100)))
    for _ in range(12):
        assert "the v2" in parts(await desk.asks("hello"))[0]
        desk.briefer.rested(desk.turn, TurnOutcome.FAILED, is_outage=True)


@pytest.mark.case("prompt-R61")
async def test_who_may_be_consulted_is_said_by_the_version_that_the_thread_has(desk: Desk):
    texts = with_version("v2", share(100))
    alone = {
        key: agent.model_copy(update={"handoffs": ()}) if key[2] == "v2" else agent
        for key, agent in texts.agents.items()
    }
    desk.prompts.replace(replace(texts, agents=alone))
    asking = ToolContext(OSCAR, SESSION, "", agents=("incident_responder",), consultations=Consultations())
    assert "the v2" in parts(await desk.asks("hello"))[0]
    assert desk.briefer.handoffs(replace(asking, turn_id=desk.turn)) == ()
    consulted = replace(asking, turn_id=desk.turn, agents=("incident_responder", "scheduler_operator"))
    assert desk.briefer.handoffs(consulted) == ("incident_responder",)
    desk.prompts.replace(TEXTS)
    assert "the v2" not in parts(await desk.asks("hello", session=replace(SESSION, thread="3.3")))[0]
    assert desk.briefer.handoffs(replace(asking, turn_id=desk.turn)) == ("scheduler_operator",)


def test_the_environment_can_keep_every_arm_out(tmp_path: Path):
    config = AgentsConfig().as_ordered({"CHATOPS_ROLLOUT": "off"})
    assert not configured_texts(config).rollouts.enabled
    assert configured_texts(AgentsConfig().as_ordered({})).rollouts.enabled
    with pytest.raises(ConfigInvalid, match="CHATOPS_ROLLOUT is 'no'; set it to off"):
        AgentsConfig().as_ordered({"CHATOPS_ROLLOUT": "no"})


async def test_the_kill_switch_takes_a_thread_back(desk: Desk):
    desk.prompts.replace(with_version("v2", share(100)))
    assert "the v2" in parts(await desk.asks("hello"))[0]
    desk.prompts.replace(with_version("v2", replace(share(100), enabled=False)))
    assert "the v2" not in parts(await desk.asks("go on"))[0]


@pytest.mark.case("prompt-R3")
@pytest.mark.case("prompt-R42")
async def test_a_text_that_was_replaced_is_told_from_the_next_turn_on(desk: Desk):
    await desk.asks("hello")
    agents = {key: agent.model_copy(update={"role_name": "renamed"}) for key, agent in TEXTS.agents.items()}
    running = desk.briefing
    desk.prompts.replace(replace(TEXTS, agents=agents))
    assert "renamed" not in parts(await running.request((), "en"))[0]
    assert "renamed" in parts(await desk.asks("again"))[0]


@pytest.mark.case("prompt-R48")
async def test_a_prompt_over_its_soft_limit_is_said_once_until_the_texts_are_read_again_and_counted_each_time(
    desk: Desk, clock: ManualClock, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.WARNING)
    metrics = Metrics()
    store = metered_store(desk.store, metrics, TurnCount(metrics), ())
    keeper = PromptKeeper(store.prompts, store.transcripts, clock, 30, keep_suffix=False)
    agent = desk.prompts.get("incident_responder", "en")
    other, again = desk.prompts.get("incident_responder", "zh"), agent.model_copy()
    for told, prefix in (
        (agent, "x" * 6001), (agent, "y" * 6002), (agent, "z" * 6000), (other, "x" * 6003), (again, "x" * 6004), (again, "x" * 6004)
    ):  # fmt: skip
        await keeper.of_turn(SESSION, "turn_1", told, "what people say, however long" * 99)(prefix, ("look",))
    warned = [each for each in caplog.messages if "over its soft limit" in each]
    assert [each.partition(";")[0] for each in warned] == [
        f"a prompt of incident_responder v1 in {lang} is over its soft limit: {chars} characters of 6000, about {tokens} tokens of 2000"
        for lang, chars, tokens in (("en", 6001, 1801), ("zh", 6003, 1801), ("en", 6004, 1802))
    ]
    counted = metrics.prompts_over_soft.labels("incident_responder", "v1")
    assert next(iter(counted.collect())).samples[0].value == 5
