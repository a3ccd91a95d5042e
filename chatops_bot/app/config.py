"""One YAML file, and the environment for secrets. Anything unknown or wrong names itself, file and line, and nothing starts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field, HttpUrl, PrivateAttr, ValidationError
from pydantic_core import PydanticCustomError

from chatops_bot.app.config_file import problems_of, read_config_file
from chatops_bot.app.keys import Keys
from chatops_bot.app.policy_config import (
    PolicyConfig,
    RoleName,
    RolesConfig,
    Section,
    Zone,
    make_policy,
    make_roster,
    named_groups,
)
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.skills_config import SkillsConfig
from chatops_bot.context.budget import CONTEXT_TOKENS
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.domain.people import RIGHTS, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.roster import Roster


class SlackConfig(Section):
    api_url: HttpUrl = Field(default_factory=lambda: HttpUrl("https://slack.com/api/"))
    """Base of the Web API; a local Slack-compatible workspace has its own."""


class AccountConfig(Section):
    username: str = Field(min_length=1)
    password_env: str = Field(min_length=1)
    """The environment variable that holds the password."""


class AccountsConfig(Section):
    viewer: AccountConfig
    operator: AccountConfig
    admin: AccountConfig


class SchedulerConfig(Section):
    url: HttpUrl
    accounts: AccountsConfig
    timezone: Zone = "UTC"
    """In which the service reads cron expressions, and models and rules put them; `doctor` sees where the service says another."""


class LocalConfig(Section):
    role: RoleName = "viewer"
    """The most that people may act as who reach the bot over its socket: those who may use its data folder."""


class AlertsConfig(Section):
    channel: str | None = None
    """Where the scheduler's failure alerts are posted; without it they are refused."""
    language: Literal["zh", "en"] = "en"


def _host(value: str) -> str:
    if not re.fullmatch(r"\.?[a-z0-9-]+(?:\.[a-z0-9-]+)*", value, re.IGNORECASE):
        raise PydanticCustomError(
            "host", "a host looks like wiki.example.com, or .example.com for all below it"
        )
    return value


class LinksConfig(Section):
    hosts: tuple[Annotated[str, AfterValidator(_host)], ...] = ()
    """Hosts that answers may link to; `.example.com` stands for all below it. Other addresses are shown as code."""


class WebConfig(Section):
    host: str = "127.0.0.1"
    port: int = Field(default=8320, ge=0, le=65535)


_Told = Annotated[str, Field(min_length=1, max_length=80)]


class EnvironmentConfig(Section):
    """What models are told of where the bot runs. There is no room for other keys, under which a secret could stand."""

    deployment: _Told | None = None
    environment: _Told | None = None
    location: _Told | None = None
    plan: _Told | None = None
    region: _Told | None = None
    stage: _Told | None = None
    tenant: _Told | None = None

    @property
    def told(self) -> dict[str, str]:
        return {key: value for key, value in self if value}


class LoggingConfig(Section):
    format: Literal["auto", "json", "text"] = "auto"
    """`auto` is text on a terminal and JSON anywhere else."""
    level: Literal["info", "warning", "error"] = "info"


class ModelConfig(Section):
    base_url: HttpUrl | None = None
    """An OpenAI-compatible endpoint; OPENAI_BASE_URL wins over it. Without one the offline rules answer."""
    name: str | None = None
    max_rounds: int = Field(default=10, ge=1, le=50)
    context_tokens: int = Field(default=CONTEXT_TOKENS, ge=4_000, le=2_000_000)
    """Size of one request with its answer; at most what the model takes."""
    connect_seconds: float = Field(default=10, gt=0, le=120)
    first_delta_seconds: float = Field(default=60, gt=0, le=600)
    between_deltas_seconds: float = Field(default=60, gt=0, le=600)
    routing: Literal["auto", "off"] = "auto"
    """auto: an agent with more than eight tools is offered those that the request is about."""


class ProposalsConfig(Section):
    expire_minutes: int = Field(default=60, ge=1, le=24 * 60)


class StoreConfig(Section):
    redis_url_env: str | None = Field(default=None, min_length=1)
    """The environment variable that holds the URL of the Redis that several bots share. Without it, SQLite under `data`."""
    redis_prefix: str = Field(default="chatops", pattern="^[a-z0-9-]{1,40}$")
    """Begins every key, so that bots of two workspaces can use one Redis."""
    lease_seconds: float = Field(default=15, ge=1, le=120)
    """A bot that was silent for this long is taken for dead, and another goes on with its turns."""


class AuditConfig(Section):
    """Where the head of the audit's chain is noted down, so that a tail that somebody cuts off is missed."""

    anchor_file: Path | None = None
    """On another disk or machine; None is a file beside the data folder. Resolved against the folder of the config."""
    anchor_channel: str | None = None
    """A channel to which each noted head is posted as well."""


class ShutdownConfig(Section):
    drain_seconds: float = Field(default=15, ge=0, le=15)
    """How long running turns and decisions get to come to their end; then turns are marked as interrupted."""


class Config(Section):
    """The whole file. `data` is resolved against the folder of the file."""

    data: Path = Path("data")
    timezone: Zone | None = None
    """Of people whose own nobody tells, such as those of this machine; None is UTC."""
    environment: EnvironmentConfig = Field(default_factory=EnvironmentConfig)
    slack: SlackConfig = Field(default_factory=SlackConfig)
    scheduler: SchedulerConfig
    roles: RolesConfig = Field(default_factory=RolesConfig)
    policy: PolicyConfig = Field(default_factory=PolicyConfig)
    local: LocalConfig = Field(default_factory=LocalConfig)
    alerts: AlertsConfig = Field(default_factory=AlertsConfig)
    links: LinksConfig = Field(default_factory=LinksConfig)
    web: WebConfig = Field(default_factory=WebConfig)
    logging: LoggingConfig = Field(default_factory=LoggingConfig)
    model: ModelConfig = Field(default_factory=ModelConfig)
    proposals: ProposalsConfig = Field(default_factory=ProposalsConfig)
    store: StoreConfig = Field(default_factory=StoreConfig)
    audit: AuditConfig = Field(default_factory=AuditConfig)
    skills: SkillsConfig = Field(default_factory=SkillsConfig)
    agents: AgentsConfig = Field(default_factory=AgentsConfig)
    shutdown: ShutdownConfig = Field(default_factory=ShutdownConfig)
    _lines: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def where(self, key: str) -> str:
        """Where a key such as `policy.rules.0` stands, to begin a sentence about it: with file and line if it was read from one."""
        return self._lines.get(key, key)

    @property
    def roster(self) -> Roster:
        return make_roster(self.roles, self.local.role)

    @property
    def groups(self) -> frozenset[str]:
        """Every user group that the file names."""
        return named_groups(self.roles, self.policy)

    def make_policy(self) -> Policy:
        return make_policy(self.policy, self.roster)

    @property
    def anchor_path(self) -> Path:
        return self.audit.anchor_file or anchor_path_of(self.data)

    @property
    def key_folder(self) -> Path | None:
        """Where the key may lie that seals the audit; None for bots that share a store, which must share the key as well."""
        return None if self.store.redis_url_env else self.data

    @property
    def store_path(self) -> Path:
        return self.data / "bot.db"

    @property
    def proposal_lifetime(self) -> timedelta:
        return timedelta(minutes=self.proposals.expire_minutes)

    @property
    def people(self) -> dict[str, Role]:
        return {person: Role(role) for person, role in self.roles.people.items()}

    @property
    def has_approver(self) -> bool:
        """Whether anybody could approve a change at all."""
        roster = self.roster
        roles = (*roster.people.values(), *roster.groups.values(), roster.local)
        return any(RIGHTS[role].approves for role in roles)


def anchor_path_of(data: Path) -> Path:
    """Where the heads of a bot's audit are noted down that names no other place: beside its data folder."""
    return data.with_name(f"{data.name}.audit-anchors")


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    base_url: str
    name: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Secrets:
    """What only the environment holds. `repr` shows nothing of it."""

    slack_bot_token: str
    slack_app_token: str
    scheduler_passwords: Mapping[str, str]
    model: ModelEndpoint | None
    webhook_token: str
    redis_url: str = ""
    keys: Keys | None = None
    """None for a bot whose store is thrown away: its audit is sealed with a key that nobody keeps."""

    def __repr__(self) -> str:
        return "Secrets(…)"

    def values(self) -> Iterator[str]:
        """Every secret value, for redaction."""
        yield self.slack_bot_token
        yield self.slack_app_token
        yield from self.scheduler_passwords.values()
        if self.model is not None:
            yield self.model.api_key
        yield self.webhook_token
        if self.redis_url:
            yield self.redis_url
        if password := _password(self.redis_url):
            yield password
        if self.keys is not None:
            yield from self.keys.texts


def load_config(path: Path) -> Config:
    """The file as a Config. Raises ConfigInvalid with file, line and what to do."""
    value, lines = read_config_file(path)
    if not isinstance(value, dict):
        raise ConfigInvalid(f"{path}, line 1: the file must hold keys, such as `scheduler:`; it holds none.")
    try:
        config = Config.model_validate(value)
    except ValidationError as error:
        raise ConfigInvalid("\n".join(problems_of(path, error, lines, Config))) from error
    folder, audit = path.parent, config.audit
    if audit.anchor_file is not None:
        audit = audit.model_copy(update={"anchor_file": (folder / audit.anchor_file).resolve()})
    moved = {
        "data": (folder / config.data).resolve(),
        "audit": audit,
        "skills": config.skills.resolved(folder),
        "agents": config.agents.resolved(folder),
    }
    config = config.model_copy(update=moved)
    config._lines = {".".join(at): f"{path}, line {line}: {'.'.join(at)}" for at, line in lines.items()}
    return config


def load_secrets(config: Config, env: Mapping[str, str], *, with_slack: bool = True) -> Secrets:
    """The secrets that this config needs; Slack's are empty unless they are needed and set.

    Raises ConfigInvalid naming every variable that is missing.
    """
    problems = secrets_problems(config, env, with_slack=with_slack)
    if problems:
        raise ConfigInvalid("\n".join(problems))
    return secrets_as_set(config, env)


def load_redis_url(config: Config, env: Mapping[str, str]) -> str:
    """The URL of the Redis that `config` names. Raises ConfigInvalid when it is not set."""
    variable = config.store.redis_url_env or ""
    if not env.get(variable):
        raise ConfigInvalid(f"{variable} is not set in the environment; set it.")
    return env[variable]


def secrets_problems(config: Config, env: Mapping[str, str], *, with_slack: bool = True) -> list[str]:
    """A sentence for each variable that is missing or cannot be used."""
    slack = ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"] if with_slack else []
    redis = [config.store.redis_url_env] if config.store.redis_url_env else []
    needed = [*slack, *_password_variables(config).values(), *redis]
    base_url, model_name = _endpoint(config, env)
    problems = [
        f"{name} is not set in the environment; set it."
        for name in dict.fromkeys(needed)
        if not env.get(name)
    ]
    if base_url and not model_name:
        problems.append(
            "A model endpoint is set but no model: set OPENAI_MODEL, or model.name in the config."
        )
    if model_name and not base_url:
        problems.append(
            f"The model {model_name} is named but no endpoint: set OPENAI_BASE_URL, or model.base_url in the config."
        )
    if base_url and not base_url.startswith(("http://", "https://")):
        problems.append("OPENAI_BASE_URL must begin with http:// or https://.")
    return problems


def secrets_as_set(config: Config, env: Mapping[str, str]) -> Secrets:
    """The secrets as far as they are set; what is missing is empty, and an endpoint without a model is none."""
    passwords = _password_variables(config)
    base_url, model_name = _endpoint(config, env)
    has_model = bool(base_url and model_name)
    return Secrets(
        slack_bot_token=env.get("SLACK_BOT_TOKEN", ""),
        slack_app_token=env.get("SLACK_APP_TOKEN", ""),
        scheduler_passwords={account: env.get(variable, "") for account, variable in passwords.items()},
        model=ModelEndpoint(base_url, model_name, env.get("OPENAI_API_KEY", "")) if has_model else None,
        webhook_token=env.get("SCHEDULER_WEBHOOK_TOKEN", ""),
        redis_url=env.get(config.store.redis_url_env or "", ""),
    )


def _password(url: str) -> str:
    """The password in a URL, empty when there is none, or no URL."""
    try:
        return unquote(urlsplit(url).password or "")
    except ValueError:
        return ""


def _password_variables(config: Config) -> dict[str, str]:
    accounts = config.scheduler.accounts
    return {name: getattr(accounts, name).password_env for name in ("viewer", "operator", "admin")}


def _endpoint(config: Config, env: Mapping[str, str]) -> tuple[str, str]:
    base_url = env.get("OPENAI_BASE_URL") or (str(config.model.base_url) if config.model.base_url else "")
    return base_url, env.get("OPENAI_MODEL") or config.model.name or ""
