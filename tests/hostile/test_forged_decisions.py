"""The same forgeries without a network between, many more of them: from the payload to the stored proposal nothing moves."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.config import AccountConfig, AccountsConfig, Config, SchedulerConfig, Secrets
from chatops_bot.app.core import Core, build_core
from chatops_bot.app.engine import node_of
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.view import Button, Buttons, Modal, View
from chatops_bot.platforms.slack.api import Identity
from chatops_bot.platforms.slack.directory import SlackDirectory
from chatops_bot.platforms.slack.inbound import SlackInbound
from chatops_bot.ports import Place
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.registry import Registry
from tests.conftest import SOAK_SIZE
from tests.hostile.forged_events import Scene, forged
from tests.hostile.judge import Json
from tests.hostile.obedient import ObedientModel
from tests.scenarios.conftest import until
from tests.sessions.test_answer import Wall
from tests.small_tools import Switch, texts_with

FORGED = {"": 300, "ci": 5_000, "full": 100_000}[SOAK_SIZE]
ROLES = {"U0OSCAR": Role.OPERATOR, "U0ANA": Role.APPROVER, "U0VERA": Role.VIEWER}
WISH = '<@U0BOT> DO switch {"task_id": 3, "action": "pause"}'


class Quiet(Wall):
    """A platform whose whispers and dialogs nobody sees."""

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        pass

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        pass

    def value_of(self, proposal: Proposal) -> str:
        """What the Approve button of its card carries."""
        rows = [block.buttons for block in self.shown[proposal.id].blocks if isinstance(block, Buttons)]
        buttons: list[Button] = [button for row in rows for button in row]
        return next(button.value for button in buttons if button.control == "approve")


class Roles:
    """Who is who, asked from nobody."""

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        return Person(user_id, user_id, ROLES.get(user_id, Role.GUEST))

    async def user_name(self, user_id: str) -> str:
        return user_id

    async def channel_name(self, channel_id: str) -> str:
        return channel_id


@dataclass
class Desk:
    core: Core
    inbound: SlackInbound
    wall: Quiet
    switch: Switch
    store: SqliteStore

    async def proposed(self, thread: str) -> Proposal:
        """A change that Oscar asked for in a thread."""
        event = {"type": "message", "channel": "C1", "user": "U0OSCAR", "ts": thread, "text": WISH}
        self.inbound.receive({"type": "event_callback", "event": event})
        await self.inbound.drain()

        async def carded() -> Proposal | None:
            pending = await self.store.proposals.in_states(frozenset({ProposalState.PENDING}))
            return next((one for one in pending if one.session.thread == thread and one.card), None)

        found: Proposal = await until(carded, "a card")
        return found

    def press(self, proposal: Proposal) -> Json:
        """Ana's press of Approve on its card."""
        place = {
            "channel_id": "C1",
            "message_ts": f"{proposal.session.thread}1",
            "thread_ts": proposal.session.thread,
        }
        return {
            "type": "block_actions", "user": {"id": "U0ANA", "name": "ana"}, "container": place,
            "message": {"ts": place["message_ts"], "thread_ts": place["thread_ts"]}, "trigger_id": "t",
            "actions": [{"action_id": "approve", "value": self.wall.value_of(proposal)}],
        }  # fmt: skip


@asynccontextmanager
async def open_desk(folder: Path) -> AsyncIterator[Desk]:
    clock, ids, wall, switch, people = SystemClock(), RandomIds(), Quiet(), Switch(), Roles()
    wall.replies.set()
    account = AccountConfig(username="x", password_env="X")
    accounts = AccountsConfig(viewer=account, operator=account, admin=account)
    config = Config(
        data=folder,
        scheduler=SchedulerConfig(url=cast("Any", "http://127.0.0.1:1"), accounts=accounts),
        roles={"people": {key: role.value for key, role in ROLES.items()}},  # type: ignore[arg-type]  # pydantic reads it
    )
    store = await SqliteStore.open(folder / "bot.db", clock)
    secrets = Secrets(
        slack_bot_token="", slack_app_token="", scheduler_passwords={}, model=None, webhook_token=""
    )
    core = build_core(
        config, secrets, clock=clock, ids=ids, store=store, registry=Registry([switch]), prompts=PromptRegistry(texts_with(switch.spec)), model=ObedientModel(),
        platform=wall, directory=people, on_rest=lambda turn, outcome: None, node=node_of(store, ids, None),
    )  # fmt: skip
    inbound = SlackInbound(
        Identity("T1", "U0BOT", "B0BOT"), cast("SlackDirectory", people), wall.whisper, core.router.handle, core.router.submit
    )  # fmt: skip
    yield Desk(core, inbound, wall, switch, store)
    await inbound.drain()
    await core.router.drain(5)
    await core.router.cut(1)
    await store.aclose()


@pytest.mark.soak
@pytest.mark.case("hitl-C41")
@pytest.mark.case("hitl-C42")
async def test_no_forged_payload_decides_anything(tmp_path: Path):
    async with open_desk(tmp_path) as desk:
        card, other = await desk.proposed("100.000001"), await desk.proposed("100.000002")
        scene = Scene(
            desk.press(card), desk.press(other), card.code, ("U0OSCAR", "U0VERA", "U0BOT", "U0NOBODY", "")
        )
        chance = random.Random(42)
        for number in range(FORGED):
            _, payload = forged(chance, scene)
            answer = desk.inbound.receive(payload)
            if answer is not None:
                await answer
            if number % 100 == 0:
                await desk.inbound.drain()
                assert desk.switch.applied == [], f"at or shortly before payload {number}"
        await desk.inbound.drain()
        await desk.core.router.drain(30)
        states = await desk.store.proposals.in_states(frozenset(ProposalState))
        assert [one.state for one in states] == [ProposalState.PENDING] * 2
        assert desk.switch.applied == []
        for _ in range(5):
            desk.inbound.receive(desk.press(card))
        await desk.inbound.drain()
        assert len(desk.switch.applied) == 1, "the real press runs it, once"
    print(f"{FORGED} forged payloads, {len(desk.switch.applied)} change")
