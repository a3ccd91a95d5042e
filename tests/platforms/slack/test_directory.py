"""A role needs config and an active full membership."""

from datetime import UTC, datetime

import pytest

from chatops_bot.domain.errors import PlatformUnavailable
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.roster import Roster
from chatops_bot.platforms.slack.directory import FRESH_FOR, USABLE_FOR, SlackDirectory
from chatops_bot.platforms.terminal.people import LocalPeople
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
    return SlackDirectory(api, clock, Roster({"U1": Role.ADMIN}))


async def test_a_mapped_member_has_the_configured_role(slack, directory):
    slack.users["U1"] = ANA
    assert await directory.person("U1") == Person("U1", "Ana", Role.ADMIN)


@pytest.mark.case("prompt-P10")
@pytest.mark.parametrize(
    ("told", "known"), [("Asia/Shanghai", "Asia/Shanghai"), ("Mars/Base", ""), (None, ""), (7, "")]
)
async def test_a_member_brings_the_time_zone_that_slack_tells_if_there_is_such_a_zone(
    slack, directory, told, known
):
    slack.users["U1"] = ANA | {"tz": told}
    assert (await directory.person("U1")).timezone == known


async def test_who_has_no_known_zone_has_the_configured_one(slack, api, clock):
    directory = SlackDirectory(api, clock, Roster({"U1": Role.ADMIN}), timezone="Asia/Shanghai")
    slack.users["U1"] = ANA
    assert (await directory.person("U1")).timezone == "Asia/Shanghai"
    assert LocalPeople({}, Role.VIEWER, "Asia/Shanghai").acting("lin").timezone == "Asia/Shanghai"


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
        {"is_workflow_bot": True},
        {"is_invited_user": True},
        {"is_forgotten": True},
        {"team_id": "T2"},
    ],
)
async def test_a_mapping_gives_guests_bots_and_the_departed_nothing(slack, directory, trait):
    slack.users["U1"] = ANA | trait
    assert (await directory.person("U1")).role is Role.GUEST


async def test_slackbot_has_no_role(slack, directory):
    slack.users["USLACKBOT"] = ANA | {"id": "USLACKBOT"}
    assert (await directory.person("USLACKBOT")).role is Role.GUEST


@pytest.mark.parametrize(
    "said", [{"name": "ana"}, {"id": "U1"}, {"team_id": "T1"}, ANA | {"id": "U2"}, ANA | {"team_id": ""}]
)
async def test_an_answer_that_does_not_say_who_and_of_which_workspace_gives_no_role(slack, directory, said):
    slack.users["U1"] = said
    with pytest.raises(PlatformUnavailable, match="does not say who U1 is"):
        await directory.person("U1")


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


async def test_a_fresh_answer_is_asked_for_whatever_is_known_and_is_none_when_slack_is_away(slack, directory):
    slack.users["U1"] = ANA
    await directory.person("U1")
    slack.users["U1"] = ANA | {"deleted": True}
    assert (await directory.person("U1", fresh=True)).role is Role.GUEST
    assert (await directory.person("U1")).role is Role.GUEST, "what was asked afresh is known from then on"
    slack.fault("users.info", http_429(30), http_429(30))
    with pytest.raises(PlatformUnavailable):
        await directory.person("U1", fresh=True)


async def test_somebody_who_authorised_the_app_keeps_their_role(slack, directory):
    slack.users["U1"] = ANA | {"is_app_user": True}
    assert (await directory.person("U1")).role is Role.ADMIN


@pytest.fixture
def grouped(api, clock: TurnedClock) -> SlackDirectory:
    roster = Roster({"U1": Role.OPERATOR}, {"S1": Role.APPROVER}, {"C1": Role.OPERATOR})
    return SlackDirectory(api, clock, roster, {"S1", "S2"})


async def test_members_have_the_role_of_their_group_and_the_groups_that_config_names(slack, grouped):
    slack.users |= {
        "U1": ANA,
        "U2": ANA | {"id": "U2"},
        "U3": ANA | {"id": "U3"},
        "U4": ANA | {"id": "U4", "deleted": True},
    }
    slack.groups |= {"S1": ["U1", "U2", "U4"], "S2": ["U2"], "S3": ["U2"]}
    assert await grouped.person("U1", "C1") == Person("U1", "Ana", Role.OPERATOR, frozenset({"S1"}))
    assert await grouped.person("U2", "C1") == Person("U2", "Ana", Role.APPROVER, frozenset({"S1", "S2"}))
    assert await grouped.person("U3", "C1") == Person("U3", "Ana", Role.OPERATOR)
    assert await grouped.person("U3", "C2") == Person("U3", "Ana", Role.VIEWER)
    assert await grouped.person("U4", "C1") == Person("U4", "Ana", Role.GUEST)


async def test_a_fresh_look_sees_who_left_the_group_or_the_workspace(slack, grouped):
    slack.users["U2"] = ANA | {"id": "U2"}
    slack.groups |= {"S1": ["U2"], "S2": []}
    assert (await grouped.person("U2")).role is Role.APPROVER
    slack.groups["S1"] = []
    assert (await grouped.person("U2")).role is Role.APPROVER
    assert (await grouped.person("U2", fresh=True)).role is Role.VIEWER
    slack.users["U2"] |= {"deleted": True}
    assert (await grouped.person("U2")).role is Role.VIEWER
    assert (await grouped.person("U2", fresh=True)).role is Role.GUEST


async def test_what_slack_said_lately_is_not_fresh(slack, directory):
    slack.users["U1"] = ANA
    await directory.person("U1")
    slack.fault("users.info", http_429(30), http_429(30))
    with pytest.raises(PlatformUnavailable):
        await directory.person("U1", fresh=True)


async def test_nobody_has_a_role_while_slack_never_told_of_a_group(slack, grouped):
    slack.users["U1"] = ANA
    slack.groups["S1"] = ["U1"]
    with pytest.raises(PlatformUnavailable, match="S2"):
        await grouped.person("U1")
    slack.groups["S2"] = []
    assert (await grouped.person("U1")).groups == {"S1"}


async def test_all_groups_take_one_call_and_a_list_that_is_cut_another(slack, grouped):
    slack.users["U1"] = ANA
    slack.groups |= {"S1": ["U2", "U1"], "S2": ["U1"]}
    await grouped.person("U1")
    assert slack.methods().count("usergroups.list") == 1
    assert "usergroups.users.list" not in slack.methods()
    slack.users_told = 1
    assert (await grouped.person("U1", fresh=True)).groups == {"S1", "S2"}
    assert slack.methods().count("usergroups.users.list") == 1
    assert await grouped.members("S1") == {"U1", "U2"}
