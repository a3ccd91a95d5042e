"""A secret that a person, a model, a tool's name or a hook brings in is in nothing that goes out or is kept for people."""

import base64
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.llm.scripted import ScriptedModel, calls, says
from chatops_bot.toolsets.scheduler.api import tail
from tests.app.test_web import HOOK, alerts_of, deliver
from tests.audit_rows import read_audit
from tests.scenarios.conftest import WEBHOOK_TOKEN, World, everything

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
KEY_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
PLANTED = {
    "a token": TOKEN,
    "a key": f"-----BEGIN PRIVATE KEY-----\n{KEY_BODY}\n-----END PRIVATE KEY-----",
    "a password behind a Chinese label": "数据库密码：hunter2-of-the-db",
    "a configured secret in base64": base64.b64encode(f"user:{WEBHOOK_TOKEN}".encode()).decode(),
}
VALUES = (
    TOKEN[4:],
    KEY_BODY,
    "hunter2-of-the-db",
    base64.b64encode(f"xxx{WEBHOOK_TOKEN}".encode()).decode()[8:-4],
)


def leaks(text: object) -> list[str]:
    said = str(text)
    return [value for value in VALUES if any(value[at : at + 8] in said for at in range(len(value) - 7))]


async def test_no_place_where_people_or_models_read_holds_what_was_planted(
    world: World, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    whole = " and ".join(PLANTED.values())
    model = ScriptedModel(
        [
            calls((f"look_{TOKEN}", {"secret": whole}), text=f"I look with {whole} now."),
            says(*whole, f"\n\nThat was {whole}.", "\n\n---FOLLOWUPS---\n", f"1. Use {TOKEN}?\n"),
        ]
    )
    async with world.bot(model) as bot:
        ts = await world.says("oscar", f"{world.mention} why does {whole} not work?")
        thread = await world.settled(ts, 1)
        assert not leaks([everything(message) for message in thread[1:]])
        asked = next(m.text for m in model.requests[0].messages if "not work" in m.text)
        assert not leaks(asked)
        assert asked.count("[redacted") == len(PLANTED)
        rows = list(read_audit(world.folder / "bot" / "bot.db"))
        assert len(rows) >= 1
        assert not leaks(rows)
        async with world.session.get(f"{bot.web_url}/metrics") as response:
            assert not leaks(await response.text())
    assert not leaks(caplog.text)


async def test_an_alert_is_posted_and_refused_without_the_secrets_of_its_hook(world: World):
    async with world.bot() as bot:
        hook: dict[str, Any] = HOOK | {"error_message": " and ".join(PLANTED.values()), "error_code": TOKEN}
        assert (await deliver(world, bot.web_url, hook))[0] == 200
        (alert,) = await alerts_of(world)
        assert not leaks(everything(alert))
        assert "redacted" in everything(alert)
        assert not leaks(await deliver(world, bot.web_url, HOOK | {"task_id": TOKEN, TOKEN: 1}))


def test_the_tail_of_a_log_holds_no_half_of_what_its_cut_went_through():
    log = f"first\nauth {TOKEN} ok\nlast line\n"
    for characters in range(1, len(log) + 2):
        assert not leaks(tail(log[-characters:], characters)) or TOKEN in tail(log[-characters:], characters)
    assert tail(log, len(log) + 1) == log
    assert tail("one two three", 9) == "three"
    assert tail("onetwothree", 9) == ""


def test_the_scheduler_logs_no_secret():
    say = (
        "import logging; from chatops_bot.scheduler.__main__ import log_to_stderr; log_to_stderr(['the-hook-token'])\n"
        f"try: raise ValueError('the-hook-token and {TOKEN}')\nexcept ValueError: logging.exception('failed')"
    )
    said = subprocess.run([sys.executable, "-c", say], capture_output=True, text=True, check=True).stderr
    assert "Traceback" in said
    assert "the-hook-token" not in said.splitlines()[-1]
    assert TOKEN not in said.splitlines()[-1]


def test_every_test_that_the_page_names_is_there():
    root = Path(__file__).parents[2]
    named = [
        cell.strip("` ").split("::")
        for line in (root / "docs" / "redaction.md").read_text().splitlines()
        for cell in line.split("|")
        if "::" in cell
    ]
    assert len(named) > 12
    for path, name in named:
        assert f"def {name}(" in (root / path).read_text(), f"{path}::{name}"
