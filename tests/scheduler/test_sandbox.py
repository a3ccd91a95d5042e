"""What a hostile shell payload can reach: nothing of ours."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.usefixtures("bubblewrap")


async def test_a_payload_cannot_read_the_data_folder(api, tmp_path):
    payload = f"cat {tmp_path}/scheduler-token-secret {tmp_path}/scheduler.db; ls {tmp_path}; ls /home /root /work /etc/passwd"
    run = await api.run(await api.create(payload=payload))
    assert run["Status"] == "failed"
    log = await api.get(f"/api/v1/task-instances/{run['ID']}/logs")
    secret = (tmp_path / "scheduler-token-secret").read_text()
    assert secret not in log["content"]
    assert log["content"].count("No such file or directory") >= 4


async def test_a_payload_sees_no_environment_but_its_own(api):
    os.environ["SCHEDULER_TEST_CANARY"] = "canary-7f3a"
    try:
        run = await api.run(await api.create(payload="env; cat /proc/*/environ | tr '\\0' '\\n'"))
    finally:
        del os.environ["SCHEDULER_TEST_CANARY"]
    log = await api.get(f"/api/v1/task-instances/{run['ID']}/logs")
    assert "canary" not in log["content"]
    names = {line.partition("=")[0] for line in log["content"].splitlines()}
    assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "TZ", "PWD", "SHLVL", "_", "OLDPWD"}, names


async def test_a_payload_sees_no_process_but_its_own(api):
    run = await api.run(
        await api.create(payload="cat /proc/[0-9]*/cmdline | tr '\\0' ' '; ls -d /proc/[0-9]* | wc -l")
    )
    assert "pytest" not in run["ErrorMessage"]
    assert int(run["ErrorMessage"].split()[-1]) < 10


async def test_a_payload_cannot_connect_to_loopback_or_beyond(api):
    port = api.service.url.rpartition(":")[2]
    payload = f"for host in 127.0.0.1 10.0.0.1 1.1.1.1; do (exec 3<>/dev/tcp/$host/{port}) 2>/dev/null && echo reached $host; done; cat /proc/net/dev"
    run = await api.run(await api.create(payload=payload))
    assert "reached" not in run["ErrorMessage"]
    interfaces = [line.split(":")[0].strip() for line in run["ErrorMessage"].splitlines() if ":" in line]
    assert interfaces == ["lo"]


async def test_a_payload_inherits_no_descriptor(api):
    run = await api.run(
        await api.create(payload="ls -l /proc/$$/fd | grep -v 'pipe:\\|/dev/null\\|^total' ; true")
    )
    assert run["ErrorMessage"] == ""


async def test_a_payload_has_no_rights_and_no_place_to_write_but_tmp(api):
    payload = "for place in /usr/x /bin/x /x /etc/x; do touch $place 2>/dev/null && echo wrote $place; done; id -u; grep CapEff /proc/self/status; unshare -r true && echo namespaces; echo ok > /tmp/x && cat /tmp/x"
    run = await api.run(await api.create(payload=payload))
    words = run["ErrorMessage"].split()
    assert "wrote" not in words
    assert "namespaces" not in words
    assert words[words.index("CapEff:") + 1] == "0" * 16
    assert words[-1] == "ok"


async def test_a_fork_bomb_and_a_full_disk_stay_inside(api):
    payload = "head -c 200000000 /dev/zero > /tmp/big; for i in $(seq 400); do sleep 2 & done; wait; echo end"
    run = await api.run(await api.create(payload=payload, timeout_seconds=3))
    log = await api.get(f"/api/v1/task-instances/{run['ID']}/logs")
    assert "No space left" in log["content"] or "File size limit" in log["content"]
    assert "Resource temporarily unavailable" in log["content"]
    assert (await api.run(await api.create("after")))["Status"] == "success"
