"""One change at a time on a target: the lease lives as long as its run, and ends with it or by itself."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.proposal import Proposal
from chatops_bot.sessions.target_lock import TargetLock
from tests.sessions.panel import Panel

SECONDS = 0.03


@dataclass
class Shelf:
    """Leases in memory that end when they are dropped, and count how often each is asked for and renewed, and when; `faults` come
    before that."""

    held: dict[str, str] = field(default_factory=dict)
    faults: list[StoreError | bool] = field(default_factory=list)
    tried: int = 0
    renewed: int = 0
    times: list[float] = field(default_factory=list)
    renewals: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, name: str, holder: str, seconds: float) -> int | None:
        self.tried += 1
        return 1 if self.held.setdefault(name, holder) == holder else None

    async def renew(self, name: str, holder: str, seconds: float) -> bool:
        self.times.append(asyncio.get_running_loop().time())
        fault = self.faults.pop(0) if self.faults else True
        if isinstance(fault, StoreError):
            raise fault
        self.renewed += 1
        if self.renewed >= 3 or not fault:
            self.renewals.set()
        return fault

    async def drop(self, name: str, holder: str) -> None:
        if self.held.get(name) == holder:
            del self.held[name]

    async def holder(self, name: str) -> str | None:
        return self.held.get(name)


@pytest.fixture
async def proposal(panel: Panel) -> Proposal:
    return await panel.propose()


def lock_of(shelf: Shelf, clock: ManualClock) -> TargetLock:
    async def is_dead(process: str) -> bool:
        return process == "dead"

    return TargetLock(shelf, "me", is_dead, clock, SECONDS)


async def unasked() -> None:
    raise AssertionError("the target is free")


@pytest.mark.parametrize("faults", [[], [StoreError("The disk is full."), StoreError("The disk is full.")]])
async def test_a_lease_is_renewed_while_its_change_runs_and_given_back_after(
    clock: ManualClock, proposal: Proposal, faults: list[StoreError | bool]
):
    shelf = Shelf(faults=faults)
    async with lock_of(shelf, clock).held(proposal, unasked) as fence:
        assert fence == 1
        async with asyncio.timeout(5):
            await shelf.renewals.wait()
        assert shelf.held == {"target:task #1": f"me/{proposal.id}"}
    assert shelf.held == {}


async def test_a_lease_that_was_lost_is_said_in_the_log_and_the_change_goes_on(
    clock: ManualClock, proposal: Proposal, caplog: pytest.LogCaptureFixture
):
    shelf = Shelf(faults=[False])
    async with lock_of(shelf, clock).held(proposal, unasked):
        async with asyncio.timeout(5):
            await shelf.renewals.wait()
    assert "was lost while its change ran" in caplog.text


async def test_a_run_that_is_cut_off_does_not_give_its_target_back(clock: ManualClock, proposal: Proposal):
    shelf = Shelf()
    with pytest.raises(asyncio.CancelledError):
        async with lock_of(shelf, clock).held(proposal, unasked):
            raise asyncio.CancelledError
    assert shelf.held == {"target:task #1": f"me/{proposal.id}"}


@pytest.mark.parametrize("others", ["dead/prop_9", "alive/prop_9", "me/prop_9"])
async def test_who_waits_says_so_once_and_takes_over_only_from_the_dead(
    clock: ManualClock, proposal: Proposal, others: str
):
    shelf, waits = Shelf({"target:task #1": others}), 0

    async def waiting() -> None:
        nonlocal waits
        waits += 1
        clock.advance(proposal.expires_at - clock.now())

    async with lock_of(shelf, clock).held(proposal, waiting) as fence:
        assert (fence, waits) == ((1, 0) if others.startswith("dead") else (None, 1))
    assert shelf.held == ({} if others.startswith("dead") else {"target:task #1": others})


def keeping() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("lease ")]


async def test_a_lease_is_kept_for_the_time_of_the_run_and_no_longer(clock: ManualClock, proposal: Proposal):
    async with lock_of(Shelf(), clock).held(proposal, unasked):
        assert keeping() == ["lease target:task #1"]
    assert keeping() == []


async def test_what_was_not_to_be_had_is_not_kept(clock: ManualClock, proposal: Proposal):
    clock.advance(proposal.expires_at - clock.now())
    shelf = Shelf({"target:task #1": "alive/prop_9"})
    async with lock_of(shelf, clock).held(proposal, unasked) as fence:
        assert (fence, keeping()) == (None, [])


@dataclass
class Hasty(Shelf):
    """The target is given back right after it was found taken for the last time."""

    refuses: int = 1

    async def take(self, name: str, holder: str, seconds: float) -> int | None:
        self.tried += 1
        return None if self.tried <= self.refuses else 7


@pytest.mark.parametrize(("shelf", "fence"), [(Hasty(), 7), (Shelf({"target:task #1": "me/prop_9"}), None)])
async def test_neither_nobody_nor_this_process_is_asked_whether_it_is_dead(
    clock: ManualClock, proposal: Proposal, shelf: Shelf, fence: int | None
):
    asked: list[str] = []

    async def is_dead(process: str) -> bool:
        asked.append(process)
        return True

    async def waiting() -> None:
        if fence is None:
            clock.advance(proposal.expires_at - clock.now())

    async with TargetLock(shelf, "me", is_dead, clock, SECONDS).held(proposal, waiting) as got:
        assert (got, asked) == (fence, [])


async def test_who_waits_long_says_so_once_and_looks_now_and_then(clock: ManualClock, proposal: Proposal):
    shelf, waits = Hasty(refuses=2), 0

    async def waiting() -> None:
        nonlocal waits
        waits += 1

    began = asyncio.get_running_loop().time()
    async with lock_of(shelf, clock).held(proposal, waiting) as fence:
        assert (fence, waits, shelf.tried) == (7, 1, 3)
    assert 0.9 < asyncio.get_running_loop().time() - began < 2, "nobody at a card takes it for stuck"


async def test_two_renewals_in_a_row_may_fail_before_a_lease_ends(clock: ManualClock, proposal: Proposal):
    async def is_dead(process: str) -> bool:
        return False

    away, seconds = StoreError("The disk is full."), 0.8
    shelf = Shelf(faults=[away, away, False])
    began = asyncio.get_running_loop().time()
    async with TargetLock(shelf, "me", is_dead, clock, seconds).held(proposal, unasked):
        async with asyncio.timeout(6):
            await shelf.renewals.wait()
    assert shelf.times[2] - began < seconds


async def test_whoever_waits_in_this_process_has_the_target_at_once_when_it_is_given_back(
    clock: ManualClock, proposal: Proposal
):
    shelf, waits = Shelf(), asyncio.Event()
    lock, other = lock_of(shelf, clock), replace(proposal, id="prop_x")

    async def waiting() -> None:
        waits.set()

    async def second() -> float:
        async with lock.held(other, waiting):
            return asyncio.get_running_loop().time()

    async with lock.held(proposal, unasked):
        taking = asyncio.create_task(second())
        await asyncio.wait_for(waits.wait(), 5)
        given_back = asyncio.get_running_loop().time()
    assert await taking - given_back < 0.3


async def test_whoever_waits_after_a_target_was_given_back_once_does_not_ask_all_the_time(
    clock: ManualClock, proposal: Proposal
):
    shelf = Shelf()
    lock, waits = lock_of(shelf, clock), asyncio.Event()

    async def waiting() -> None:
        waits.set()

    async def second() -> None:
        async with lock.held(replace(proposal, id="prop_x"), waiting):
            pass

    async with lock.held(proposal, unasked):
        pass
    shelf.tried = 0
    async with lock.held(proposal, unasked):
        taking = asyncio.create_task(second())
        await asyncio.wait_for(waits.wait(), 5)
        for _ in range(20):
            await asyncio.sleep(0)
    await taking
    assert shelf.tried <= 3


async def test_a_process_says_that_it_lives_right_before_the_effect(clock: ManualClock, proposal: Proposal):
    shelf, order = Shelf(), list[str]()

    async def is_dead(process: str) -> bool:
        return False

    async def says_alive() -> None:
        order.append("alive")

    lock = TargetLock(shelf, "me", is_dead, clock, 60, say_alive=says_alive)
    async with lock.held(proposal, unasked):
        assert await lock.still_held(proposal)
    assert (order, shelf.renewed) == (["alive"], 1)
