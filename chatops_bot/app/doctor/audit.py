"""Checks of what the audit rests on: its key, and the second place that knows its head."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from chatops_bot.app.anchoring import is_held, newest_anchor
from chatops_bot.app.audit_reading import open_audit
from chatops_bot.app.config import Config
from chatops_bot.app.doctor.findings import Finding, failed, ok, warning
from chatops_bot.app.keys import VARIABLE, key_file, read_keys
from chatops_bot.domain.audit_check import Unreadable
from chatops_bot.domain.errors import ConfigInvalid, StoreError

_KEY, _ANCHORS = "audit key", "audit anchors"
_VERIFY = "Look with `chatops-bot audit verify`."


async def check_audit(config: Config, env: Mapping[str, str]) -> Sequence[Finding]:
    return [await _key(config, env), await _anchors(config, env)]


async def _key(config: Config, env: Mapping[str, str]) -> Finding:
    path, sealed_with = key_file(config.data), await _newest_key(config, env)
    if config.key_folder and not (env.get(VARIABLE) or path.exists() or sealed_with):
        return ok(_KEY, f"{VARIABLE} is not set; the next start makes a key in {path}.")
    try:
        keys = await asyncio.to_thread(read_keys, env, config.key_folder)
    except ConfigInvalid as error:
        return failed(_KEY, str(error))
    if sealed_with not in ("", *(key.id for key in keys.audit)):
        says = f"The newest record was sealed with another key ({sealed_with}); give that one in CHATOPS_KEY_OLD."
        return failed(_KEY, says)
    where = "the environment" if env.get(VARIABLE) else f"{path}, which only its owner reads"
    return ok(_KEY, f"The key stands in {where}.")


async def _newest_key(config: Config, env: Mapping[str, str]) -> str:
    """The id of the key that sealed the newest record; empty when there is none, or the store is told of elsewhere."""
    if not _has_store(config):
        return ""
    try:
        async with open_audit(config.data, config, env) as audit:
            rows = await audit.page((await audit.head()).seq - 1, 1)
    except (ConfigInvalid, StoreError):
        return ""
    return "" if not rows or isinstance(rows[0], Unreadable) else rows[0].key_id


async def _anchors(config: Config, env: Mapping[str, str]) -> Finding:
    path = config.anchor_path
    try:
        noted = await asyncio.to_thread(newest_anchor, path)
    except OSError as error:
        return failed(
            _ANCHORS, f"{path} cannot be read ({error.strerror}); name another file with audit.anchor_file."
        )
    if noted is not None and _has_store(config):
        try:
            async with open_audit(config.data, config, env) as audit:
                if not await is_held(audit, noted):
                    says = f"{path} knows record {noted.seq} of the audit with a seal that the store does not have. {_VERIFY}"
                    return failed(_ANCHORS, says)
        except (ConfigInvalid, StoreError):
            return warning(_ANCHORS, "Not looked at: it follows from the store.")
    is_beside = config.key_folder is not None  # a shared store is on another machine
    if is_beside and config.audit.anchor_channel is None and _disk(path) == _disk(config.data):
        says = (
            f"{path} is on the same disk as the store, so whoever loses or changes one may do so with the other; "
            "name a file on another disk with audit.anchor_file, or a channel with audit.anchor_channel."
        )
        return warning(_ANCHORS, says)
    confirmed = f" It knows record {noted.seq}, and the store has it." if noted else ""
    return ok(_ANCHORS, f"The audit's head is noted down in a second place.{confirmed}")


def _has_store(config: Config) -> bool:
    return config.store.redis_url_env is not None or config.store_path.exists()


def _disk(path: Path) -> int:
    """The device of a path that may not exist yet."""
    return next(each for each in (path, *path.parents) if each.exists()).stat().st_dev
