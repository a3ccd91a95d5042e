"""Who may do what, cell by cell: what the roads of the product do against what `docs/policy.md` says.

A cell is one person, one change, one place, one road and one set of rules. What is expected is read off the tables below,
which quote the page and share no code with the policy; what happens is decided by the router, the desk, the local API and
the dispatcher over a real store, with people as Slack's directory sees them.
"""

import getpass
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.core import Core, build_core, local_desk, local_people
from chatops_bot.app.engine import Node, build_engine, node_of
from chatops_bot.app.local_api import local_api
from chatops_bot.app.local_client import LocalClient, reach
from chatops_bot.app.local_desk import LocalDesk, Rests
from chatops_bot.app.platforms import ChatAndLocalPeople
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.event import ControlUsed, MessageReceived
from chatops_bot.domain.people import Effect, Person, Risk, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.sealed_button import sealed_button
from chatops_bot.domain.session import MessageRef, SessionKey
from chatops_bot.domain.tool import Outcome, Plan, ToolCall
from chatops_bot.llm.offline import OfflineModel
from chatops_bot.platforms.slack.directory import SlackDirectory
from chatops_bot.platforms.terminal.adapter import TerminalPlatform
from chatops_bot.ports import ToolContext, ToolSpec
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.drafting import Drafter, subject_of
from chatops_bot.tools.invocation import TurnMemory
from chatops_bot.tools.registry import Registry
from tests.sessions.test_answer import Wall
from tests.small_tools import SWITCH, WORDS, Look, Switch, SwitchArgs, texts_with
from tests.tracked import ROOT

# -- the page, quoted ---------------------------------------------------------------------------------------------------

NOTHING: frozenset[str] = frozenset()
MAY_ASK = {
    "none (bot, guest, deactivated)": NOTHING,
    "viewer": {"read"},
    "operator": {"read", "write", "destructive"},
    "approver": {"read", "write", "destructive"},
    "admin": {"read", "write", "destructive"},
}
MAY_APPROVE = {
    "none (bot, guest, deactivated)": NOTHING,
    "viewer": NOTHING,
    "operator": NOTHING,
    "approver": {"write"},
    "admin": {"write", "destructive"},
}
MAY_APPROVE_OWN_OF_RISK = {
    "none (bot, guest, deactivated)": NOTHING,
    "viewer": NOTHING,
    "operator": NOTHING,
    "approver": NOTHING,
    "admin": {"low", "medium"},
}
"""The three columns of the page's table of roles."""

ROW = {
    "viewer": "viewer",
    "operator": "operator",
    "approver": "approver",
    "admin": "admin",
    "guest": "none (bot, guest, deactivated)",
    "bot": "none (bot, guest, deactivated)",
    "deactivated": "none (bot, guest, deactivated)",
    "stranger": "none (bot, guest, deactivated)",
}
"""The row of the table in which each of the people below stands. All but the first four are named as admins in config."""

BARRED: Mapping[str, dict[str, Any]] = {
    "guest": {"is_restricted": True},
    "bot": {"is_bot": True},
    "deactivated": {"deleted": True},
    "stranger": {"team_id": "T2"},
}
LEADS = ("approver", "guest", "deactivated", "operator")
"""The members of user group S1."""
DENIED = ("approver",)


def test_the_tables_here_are_those_of_the_page():
    lines = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("| role | may ask for"))
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in itertools.takewhile(bool, lines[start + 2 :])
    ]

    def said(cell: str) -> set[str]:
        return set() if cell == "nothing" else set(cell.removeprefix("risk ").split(", "))

    assert {row: said(asks) for row, asks, _, _ in rows} == MAY_ASK
    assert {row: said(approves) for row, _, approves, _ in rows} == MAY_APPROVE
    assert {row: said(own) for row, _, _, own in rows} == MAY_APPROVE_OWN_OF_RISK


# -- the cells ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A tool, and what the page needs to know of it."""

    tool: str
    effect: str
    risk: str


SMALL, RISKY, DELETION = (
    Change("tweak", "write", "low"),
    Change("restart", "write", "high"),
    Change("erase", "destructive", "high"),
)
CHAT, MACHINE = ("button", "typed"), ("local", "cli")


@dataclass(frozen=True)
class Cell:
    who: str
    is_own: bool
    channel: str
    road: str
    change: Change
    reason: str = ""


FREEZE = {"from": "Mon 14:00", "to": "Mon 15:00"}
"""The clock of these tests stands at 14:32 on a Monday."""
RULES: Mapping[str, dict[str, Any]] = {
    "none": {},
    "own forbidden": {"rules": [{"own": False}]},
    "own allowed": {"rules": [{"own": True}]},
    "own both": {"rules": [{"own": True}, {"tools": ["tweak"], "own": False}]},
    "denied": {"rules": [{"deny": {"people": [*DENIED, *(f"local:{one}" for one in DENIED)]}}, {"approve": ["admin", "approver"]}]},
    "named": {"rules": [{"approve": {"people": ["admin", "operator-with-a-role", "local:admin"]}}]},
    "group": {"rules": [{"effects": ["write"], "approve": {"groups": ["S1"]}}]},
    "only in C1": {"rules": [{"only_in": ["C1"]}]},
    "of C1": {"rules": [{"channels": ["C1"], "deny": {"roles": ["approver"]}}]},
    "of high risk": {"rules": [{"risks": ["high"], "approve": ["admin"]}]},
    "two": {"rules": [{"count": 2}]},
    "frozen": {"freezes": [FREEZE]},
    "frozen in C1, with glass": {"freezes": [{**FREEZE, "channels": ["C1"], "break_glass": ["admin"]}]},
}  # fmt: skip


def expected(rules: str, cell: Cell) -> bool:
    """Whether the person may approve, as the page says it in its order."""
    row = ROW[cell.who]
    is_by_name = (
        cell.road != "cli"
    )  # there everybody is the one user of the operating system, whom no rule names
    if rules == "denied" and cell.who in DENIED and is_by_name:
        return False
    if rules == "of C1" and cell.who == "approver" and cell.channel == "C1":
        return False
    if cell.change.effect not in MAY_APPROVE[row]:
        return False
    if cell.is_own:
        says_own = {
            "own forbidden": False,
            "own allowed": True,
            "own both": cell.change.tool != "tweak",
        }.get(rules, cell.change.risk in MAY_APPROVE_OWN_OF_RISK[row])
        if not says_own:
            return False
    match rules:
        case "named":
            return cell.who == "admin" and is_by_name
        case "group":
            return cell.change.effect != "write" or (cell.who in LEADS and cell.road in CHAT)
        case "only in C1":
            return cell.channel == "C1" and cell.road in CHAT
        case "of high risk":
            return cell.change.risk != "high" or cell.who == "admin"
        case "frozen":
            return False
        case "frozen in C1, with glass":
            return cell.channel != "C1" or (cell.who == "admin" and bool(cell.reason))
        case _:
            return True


def cells(rules: str) -> Iterator[Cell]:
    """Without rules every combination; with some, those people who could come to feel them."""
    plain = rules == "none"
    in_chat = tuple(ROW) if plain else ("operator", "approver", "admin", "deactivated")
    at_machine = tuple(Role)[1:] if plain else (Role.APPROVER, Role.ADMIN)
    changes = (SMALL, RISKY, DELETION) if plain or "own" in rules or "risk" in rules else (SMALL, DELETION)
    channels = ("C1", "C2") if plain or "C1" in rules else ("C1",)
    for own, channel, change in itertools.product((False, True), channels, changes):
        for who, road in itertools.product(in_chat, CHAT):
            yield Cell(who, own, channel, road, change)
        for who, road in itertools.product(at_machine, MACHINE):
            yield Cell(who, own, channel, road, change)
        if "glass" in rules:
            for who, road in (
                *itertools.product(in_chat, ("typed",)),
                *itertools.product(at_machine, MACHINE),
            ):
                yield Cell(who, own, channel, road, change, reason="the site is down")


# -- the product --------------------------------------------------------------------------------------------------------


@dataclass
class Turning(Switch):
    """A change that can be made again and again."""

    risk: str = "low"

    async def plan(self, arguments: SwitchArgs, context: ToolContext) -> Plan:
        return replace(await super().plan(arguments, context), risk=self.risk, preconditions={})

    async def apply(self, arguments: SwitchArgs, context: ToolContext) -> Outcome:
        outcome = await super().apply(arguments, context)
        self.on = True
        return outcome


def spec(change: Change) -> ToolSpec:
    return replace(SWITCH, name=change.tool, effect=Effect(change.effect))


class Members:
    """What Slack answers about its people and its group."""

    async def identity(self) -> Any:
        return type("Identity", (), {"team_id": "T1"})

    async def read(self, method: str, **arguments: str) -> dict[str, Any]:
        if method == "usergroups.list":
            return {"usergroups": [{"id": "S1", "users": list(LEADS), "user_count": len(LEADS)}]}
        user = arguments["user"]
        return {"user": {"id": user, "name": user, "team_id": "T1", **BARRED.get(user, {})}}


class Hall(Wall):
    """A wall where people can be whispered to."""

    def __init__(self) -> None:
        super().__init__()
        self.replies.set()

    async def whisper(self, *_: Any) -> None:
        """They are told, and nobody looks."""


@dataclass
class Product:
    core: Core
    node: Node
    policy: Policy
    store: SqliteStore
    directory: ChatAndLocalPeople
    dispatcher: Dispatcher
    desk: LocalDesk
    client: LocalClient
    registry: Registry
    clock: ManualClock
    ids: CountingIds
    outcomes: Counter[str] = field(default_factory=Counter)

    def person_id(self, cell: Cell) -> str:
        if cell.road in CHAT:
            return cell.who
        return f"local:{cell.who}" if cell.road == "local" else f"local:{getpass.getuser()}"

    async def propose(self, cell: Cell) -> Proposal:
        """A stored proposal as it would be made for whoever asked, who need not be one who may ask."""
        drafter = Drafter(
            Policy(), self.clock, self.ids, timedelta(hours=1), self.node.actions[0], self.store.proposals
        )
        session = SessionKey("slack", "T1", cell.channel, "1.1")
        asker = ToolContext(Person("asker", "Asker", Role.ADMIN), session, "turn_1")
        tool: Any = self.registry.find(cell.change.tool)
        arguments = SwitchArgs(task_id=3, action="pause")
        bare = await drafter.draft(tool, arguments, asker, call_id="c1", language="en")
        bare = replace(
            bare,
            policy_version=self.policy.version,
            requester_id=self.person_id(cell) if cell.is_own else "asker",
        )
        proposal = drafter.sealed(replace(bare, quorum=self.policy.quorum(subject_of(bare))))
        await self.store.proposals.add(proposal)
        return proposal

    async def approve(self, proposal: Proposal, cell: Cell) -> None:
        session, code = proposal.session, proposal.code
        role = Role(cell.who) if cell.road in MACHINE else None
        if cell.road in CHAT:
            person = await self.directory.person(cell.who, cell.channel)
        if cell.road == "button":
            value = sealed_button(self.node.buttons[0], "approve", proposal.id, 0)
            await self.core.router.handle(
                ControlUsed(session, person, "approve", value, MessageRef(cell.channel, "1.2"))
            )
        elif cell.road == "typed":
            text = f"approve {code} break-glass: {cell.reason}" if cell.reason else f"approve {code}"
            message = MessageReceived(
                self.ids.new("key"), session, "1.3", person, text, mentions_bot=True, is_direct=False
            )
            received = await self.core.router.message(message)
            assert received.telling is not None
            await received.telling
        elif cell.road == "local":
            await self.desk.decide(cell.who, code, "approve", reason=cell.reason)
        else:
            await self.client.decide("approve", code, role, cell.reason)


SCHEDULER = {
    "url": "http://127.0.0.1:1",
    "accounts": {name: {"username": name, "password_env": name} for name in ("viewer", "operator", "admin")},
}


def config_of(folder: Path, rules: dict[str, Any]) -> Config:
    roles = {who: ROW[who] if ROW[who] == who else "admin" for who in ROW}
    local = {f"local:{role}": str(role) for role in tuple(Role)[1:]}
    people = {**roles, **local, "operator-with-a-role": "admin"}
    told = {
        "data": folder,
        "scheduler": SCHEDULER,
        "roles": {"people": people},
        "local": {"role": "admin"},
        "policy": rules,
    }
    return Config.model_validate(told)


@asynccontextmanager
async def product(
    folder: Path, clock: ManualClock, ids: CountingIds, rules: dict[str, Any]
) -> AsyncIterator[Product]:
    config = config_of(folder, rules)
    secrets = Secrets("", "", {}, None, "")
    registry = Registry(
        [Look(), *(Turning(spec=spec(one), risk=one.risk) for one in (SMALL, RISKY, DELETION))]
    )
    async with AsyncExitStack() as stack:
        store = await SqliteStore.open(folder / "bot.db", clock)
        stack.push_async_callback(store.aclose)
        members: Any = Members()
        slack = SlackDirectory(members, clock, config.roster, config.groups)
        directory = ChatAndLocalPeople(slack, local_people(config))
        node, hall, rests, redactor = node_of(store, ids, None), Hall(), Rests(), Redactor(())
        shared: dict[str, Any] = {
            "clock": clock,
            "ids": ids,
            "store": store,
            "registry": registry,
            "platform": hall,
            "directory": directory,
        }
        core = build_core(
            config,
            secrets,
            model=OfflineModel(),
            on_rest=rests.tell,
            node=node,
            prompts=PromptRegistry(texts_with(*(tool.spec for tool in registry))),
            **shared,
        )
        engine = build_engine(config, node, redactor=redactor, secrets=core.secrets, **shared)
        dispatcher = Dispatcher(
            registry, policy=engine.policy, audit=store.audit, proposer=engine.proposer,
            asker=Asker(store.forms, clock, ids, redactor, timedelta(hours=1)), redactor=redactor, clock=clock, words=WORDS
        )  # fmt: skip
        desk = local_desk(core, TerminalPlatform(ids), hall, local_people(config), rests, ids)
        stack.push_async_callback(desk.aclose, 5.0)
        await (await stack.enter_async_context(local_api(folder))).start(desk)
        client = await stack.enter_async_context(reach(folder))
        assert client is not None
        yield Product(
            core, node, engine.policy, store, directory, dispatcher, desk, client, registry, clock, ids
        )


# -- what happens -------------------------------------------------------------------------------------------------------


@pytest.mark.case("hitl-C31")
@pytest.mark.case("hitl-C32")
@pytest.mark.case("hitl-C33")
@pytest.mark.case("hitl-C38")
@pytest.mark.parametrize("rules", RULES)
async def test_every_road_approves_what_the_page_says_and_nothing_else(
    rules: str, tmp_path: Path, clock: ManualClock, ids: CountingIds
):
    deviations, tried = [], 0
    async with product(tmp_path, clock, ids, RULES[rules]) as bot:
        for cell in cells(rules):
            proposal = await bot.propose(cell)
            await bot.approve(proposal, cell)
            after = await bot.store.proposals.get(proposal.id)
            assert after is not None
            counted = [vote.person_id for vote in after.votes] == [bot.person_id(cell)]
            has_run = after.state is ProposalState.APPLIED
            should_run = expected(rules, cell) and rules != "two"
            tried += 1
            if (counted, has_run) != (expected(rules, cell), should_run):
                deviations.append((cell, counted, has_run, after.outcome_text))
    assert deviations == []
    print(f"\n[measured] {tried} cells of approving under the rules {rules!r}")
    assert tried == len(list(cells(rules)))


def test_there_are_enough_cells():
    approving = sum(len(list(cells(rules))) for rules in RULES)
    asking = len(ASKING) * len(ROW) * 2 * 4
    print(f"\n[measured] {approving} cells of approving, {asking} of asking")
    assert approving >= 800
    assert asking >= 500


ASKING: Mapping[str, dict[str, Any]] = {
    "none": {},
    "denied": {"rules": [{"deny": {"people": [*DENIED]}}]},
    "only admins": {"rules": [{"effects": ["write"], "ask": ["admin"]}]},
    "nobody": {"rules": [{"tools": ["erase"], "ask": []}]},
    "only in C1": {"rules": [{"only_in": ["C1"]}]},
    "of C1": {"rules": [{"channels": ["C1"], "effects": ["destructive", "write"], "ask": {"groups": ["S1"]}}]},
    "of high risk": {"rules": [{"risks": ["high"], "ask": ["admin", "operator"]}]},
    "frozen": {"freezes": [FREEZE]},
}  # fmt: skip
LOOKING = Change("look", "read", "")


def expected_to_ask(rules: str, who: str, channel: str, change: Change) -> bool:
    """Whether the person may ask for it, as the page says."""
    if change.effect not in MAY_ASK[ROW[who]]:
        return False
    match rules:
        case "denied":
            return who not in DENIED
        case "only admins":
            return change.effect != "write" or who == "admin"
        case "nobody":
            return change.tool != "erase"
        case "only in C1":
            return channel == "C1"
        case "of C1":
            return channel != "C1" or change.effect == "read" or who in LEADS
        case "of high risk":
            return change.risk != "high" or who in ("admin", "operator")
        case _:
            return True


@pytest.mark.case("hitl-C32")
@pytest.mark.parametrize("rules", ASKING)
async def test_the_one_door_of_tools_lets_in_whom_the_page_lets_ask(
    rules: str, tmp_path: Path, clock: ManualClock, ids: CountingIds
):
    changes: Sequence[Change] = (LOOKING, SMALL, RISKY, DELETION)
    deviations, tried = [], 0
    async with product(tmp_path, clock, ids, ASKING[rules]) as bot:
        for who, channel, change in itertools.product(ROW, ("C1", "C2"), changes):
            person = await bot.directory.person(who, channel)
            thread = SessionKey("slack", "T1", channel, ids.new("thread"))
            arguments = "{}" if change is LOOKING else '{"task_id": 3, "action": "pause"}'
            dispatched = await bot.dispatcher.dispatch(
                ToolCall("c1", change.tool, arguments),
                ToolContext(person, thread, "turn_1"),
                TurnMemory(),
                "en",
            )
            tried += 1
            happened = {"auto": True, "proposed": True, "refused": False}[dispatched.decision]
            if happened is not expected_to_ask(rules, who, channel, change):
                deviations.append((who, channel, change, dispatched.result.content))
    assert deviations == []
    assert tried == len(ROW) * 2 * 4


def test_the_risks_and_roles_here_are_all_there_are():
    assert {row for row in ROW.values() if row in set(Role)} == {*Role} - {Role.GUEST}
    assert {SMALL.risk, RISKY.risk} < set(Risk)
