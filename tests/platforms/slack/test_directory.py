"""A role needs config and an active full membership."""

from datetime import UTC, datetime

import pytest

from chatops_bot.domain.errors import PlatformUnavailable
from chatops_bot.domain.people import Person, Role
from chatops_bot.platforms.slack.directory import FRESH_FOR, USABLE_FOR, SlackDirectory
from tests.platforms.slack.conftest import http_429

ANA = {"id": "U1", "team_id": "T1", "name": "ana", "profile": {"display_name": "Ana"}}


class TurnedClock:
    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time, UTC)

    def monotonic(self) -> float:
        return self.time


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def directory(api, clock: TurnedClock) -> SlackDirectory:
    return SlackDirectory(api, clock, {"U1": Role.ADMIN})


async def test_a_mapped_member_has_the_configured_role(slack, directory):
    slack.users["U1"] = ANA
    assert await directory.person("U1") == Person("U1", "Ana", Role.ADMIN)


async def test_an_unmapped_member_has_the_default_role(slack, directory):
    slack.users["U2"] = ANA | {"id": "U2"}
    assert (await directory.person("U2")).role is Role.VIEWER


@pytest.mark.parametrize(
    "trait",
    [
        {"deleted": True},
        {"is_bot": True},
        {"is_restricted": True},
        {"is_ultra_restricted": True},
        {"is_stranger": True},
        {"team_id": "T2"},
    ],
)
async def test_a_mapping_gives_guests_bots_and_the_departed_nothing(slack, directory, trait):
    slack.users["U1"] = ANA | trait
    assert (await directory.person("U1")).role is Role.GUEST


async def test_an_unknown_user_is_a_guest_named_by_id(directory):
    assert await directory.person("U9") == Person("U9", "U9", Role.GUEST)


async def test_a_role_outlives_an_outage_for_an_hour(slack, directory, clock):
    slack.users["U1"] = ANA
    await directory.person("U1")
    clock.time = FRESH_FOR + 1
    slack.fault("users.info", http_429(30), http_429(30))
    assert (await directory.person("U1")).role is Role.ADMIN
    clock.time = USABLE_FOR + 1
    with pytest.raises(PlatformUnavailable):
        await directory.person("U1")


async def test_nobody_has_a_role_when_slack_never_said(slack, directory):
    slack.fault("users.info", http_429(30), http_429(30))
    with pytest.raises(PlatformUnavailable):
        await directory.person("U1")
    assert await directory.user_name("U1") == "U1"


async def test_a_recent_answer_is_not_asked_for_again(slack, directory):
    slack.users["U1"] = ANA
    await directory.person("U1")
    await directory.person("U1")
    assert slack.methods().count("users.info") == 1
