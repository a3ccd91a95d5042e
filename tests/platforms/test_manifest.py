"""The Slack manifest asks for what the adapter uses, within Slack's limits."""

from pathlib import Path

import yaml

MANIFEST = yaml.safe_load((Path(__file__).parents[2] / "manifest.yaml").read_text())


def test_names_are_within_slacks_limits():
    shown = MANIFEST["display_information"]
    assert len(shown["name"]) <= 35
    assert len(shown["description"]) <= 140
    assert len(MANIFEST["features"]["bot_user"]["display_name"]) <= 80


def test_every_event_has_its_scope():
    needs = {
        "app_mention": "app_mentions:read",
        "message.channels": "channels:history",
        "message.groups": "groups:history",
        "message.im": "im:history",
    }
    scopes = MANIFEST["oauth_config"]["scopes"]["bot"]
    assert {needs[event] for event in MANIFEST["settings"]["event_subscriptions"]["bot_events"]} <= set(
        scopes
    )
    assert {"chat:write", "usergroups:read", "users:read", "channels:read", "groups:read"} <= set(scopes)


def test_the_socket_and_the_buttons_are_on():
    assert MANIFEST["settings"]["socket_mode_enabled"]
    assert MANIFEST["settings"]["interactivity"]["is_enabled"]
