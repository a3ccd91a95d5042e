"""The order of the checks: the configuration first, since everything else follows from it; then all others side by side."""

import logging
import sys
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import httpx

from chatops_bot.app.config import Config, Secrets, load_config, secrets_as_set, secrets_problems
from chatops_bot.app.doctor import findings as f
from chatops_bot.app.doctor.audit import check_audit
from chatops_bot.app.doctor.local import check_bot, check_data, check_roles, check_store, check_texts
from chatops_bot.app.doctor.policy import people_of_today_checks, policy_check
from chatops_bot.app.doctor.scripts import check_scripts
from chatops_bot.app.doctor.services import model_check, scheduler_checks, slack_checks
from chatops_bot.app.doctor.shared_store import check_bots, check_redis_store
from chatops_bot.app.doctor.skills import check_skills
from chatops_bot.domain.errors import ChatopsError, ConfigInvalid
from chatops_bot.domain.redaction import Redactor


async def doctor(config_path: Path, env: Mapping[str, str], *, as_json: bool) -> int:
    """Print every finding; 0 when nothing failed, else 1."""
    logging.getLogger("chatops_bot").addHandler(logging.NullHandler())  # what would be logged is a finding
    found = await examine(config_path, env)
    sys.stdout.write(f.as_json(found) if as_json else f.as_lines(found))
    return 0 if f.all_well(found) else 1


async def examine(config_path: Path, env: Mapping[str, str]) -> list[f.Finding]:
    """Every finding, free of secrets."""
    try:
        config = load_config(config_path)
    except ConfigInvalid as error:
        return [
            *(f.failed("config", problem) for problem in str(error).splitlines()),
            f.warning("the rest", "Not looked at: it follows from the configuration."),
        ]
    secrets, problems = secrets_as_set(config, env), secrets_problems(config, env)
    found = [
        f.ok("config", f"{config_path} is understood, every key of it."),
        *(f.failed("environment", problem) for problem in problems),
    ]
    if not problems:
        found.append(f.ok("environment", "Every variable that is needed is set."))
    async with aiohttp.ClientSession() as session, httpx.AsyncClient(trust_env=False) as http:
        found += await f.run_side_by_side(_checks(config, secrets, env, session, http))
    return f.redacted(found, Redactor(secrets.values()))


def _checks(
    config: Config,
    secrets: Secrets,
    env: Mapping[str, str],
    session: aiohttp.ClientSession,
    http: httpx.AsyncClient,
) -> list[f.Check]:
    is_shared = config.store.redis_url_env is not None
    return [
        f.Check("roles", check_roles(config)),
        policy_check(config, secrets),
        f.Check("prompts", check_texts(config)),
        f.Check("skills", check_skills(config), seconds=60.0),
        f.Check("data folder", check_data(config)),
        f.Check("store", check_redis_store(config, env) if is_shared else check_store(config)),
        f.Check("audit", check_audit(config, env)),
        f.Check("bot", check_bots(config, env, session) if is_shared else check_bot(config, session)),
        *scheduler_checks(config, secrets.scheduler_passwords, http),
        model_check(secrets.model, session, config.data),
        f.Check("scripts", check_scripts(config)),
        *slack_checks(config, secrets.slack_bot_token, secrets.slack_app_token, session),
        *people_of_today_checks(config, secrets, session),
    ]


def demo_of(folder: Path, env: Mapping[str, str]) -> tuple[Path, dict[str, str]]:
    """The configuration of the demo in `folder`, and the environment that its bot has. Raises ChatopsError without one."""
    bot = folder / "bot"
    try:
        lines = (bot / "chatops-bot.env").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ChatopsError(
            f"{folder} is not the folder of a demo ({error.strerror}); start one with `chatops-bot demo`."
        ) from error
    return bot / "chatops-bot.yaml", {**env, **dict(line.split("=", 1) for line in lines if "=" in line)}
