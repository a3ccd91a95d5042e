"""What is wrong in a configuration is named with file, line and key, says what to do, and nothing starts."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from chatops_bot.app.config import (
    Config,
    Secrets,
    StoreConfig,
    load_config,
    load_secrets,
)
from chatops_bot.app.config_file import MAX_BYTES, MAX_DEPTH
from chatops_bot.app.keys import open_keys
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.domain.people import Role
from chatops_bot.domain.policy_rules import Rule, Scope, Who

EXAMPLE = Path(__file__).parents[2] / "chatops-bot.example.yaml"
GOOD = """\
scheduler:
  url: http://scheduler.internal:8082
  accounts:
    viewer: {username: v, password_env: SCHEDULER_VIEWER_PASSWORD}
    operator: {username: o, password_env: SCHEDULER_OPERATOR_PASSWORD}
    admin: {username: a, password_env: SCHEDULER_ADMIN_PASSWORD}
"""
ENV = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
    "SCHEDULER_VIEWER_PASSWORD": "pw-viewer",
    "SCHEDULER_OPERATOR_PASSWORD": "pw-operator",
    "SCHEDULER_ADMIN_PASSWORD": "pw-admin",
}


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "bot.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ConfigInvalid) as refused:
        load_config(path)
    message = str(refused.value)
    assert all(line.startswith(str(path)) for line in message.splitlines())
    return message.replace(str(path), "bot.yaml")


MISTAKES = [
    pytest.param(GOOD + "webb:\n  port: 1\n", "bot.yaml, line 7: webb is not a known key; did you mean web?", id="unknown key"),
    pytest.param(GOOD + "web:\n  prot: 1\n", "bot.yaml, line 8: web.prot is not a known key; did you mean port?", id="unknown key in a section"),
    pytest.param(GOOD + "xyzzy: 1\n", "bot.yaml, line 7: xyzzy is not a known key; remove it.", id="unknown key, nothing near"),
    pytest.param(GOOD.replace("username: o,", "user: o, username: o,"), "bot.yaml, line 5: scheduler.accounts.operator.user is not a known key; did you mean username?", id="unknown key of an account"),
    pytest.param(GOOD + "web:\n  host: x\n  port: 70000\n", "bot.yaml, line 9: web.port: input should be less than or equal to 65535; correct it.", id="number out of range"),
    pytest.param(GOOD + "web:\n  port: many\n", "bot.yaml, line 8: web.port: input should be a valid integer, unable to parse string as an integer; correct it.", id="not a number"),
    pytest.param(GOOD + "roles:\n  people:\n    U1: boss\n", "bot.yaml, line 9: roles.people.U1: input should be 'viewer', 'operator', 'approver' or 'admin'; correct it.", id="unknown role"),
    pytest.param(GOOD + "roles:\n  channels:\n    C1: admin\n", "bot.yaml, line 9: roles.channels.C1: input should be 'viewer' or 'operator'; correct it.", id="an approver by channel"),
    pytest.param(GOOD + "policy:\n  rules:\n    - tool: [x]\n", "bot.yaml, line 9: policy.rules.0.tool is not a known key; did you mean tools?", id="unknown key of a rule"),
    pytest.param(GOOD + "policy:\n  rules:\n    - count: 2\n      approve: [boss]\n", "bot.yaml, line 10: policy.rules.0.approve.roles.0: input should be 'viewer', 'operator', 'approver' or 'admin'; correct it.", id="unknown role of a rule"),
    pytest.param(GOOD + "policy:\n  rules:\n    - risks: [huge]\n", "bot.yaml, line 9: policy.rules.0.risks.0: input should be 'low', 'medium' or 'high'; correct it.", id="unknown risk"),
    pytest.param(GOOD + "policy:\n  rules:\n    - count: 0\n", "bot.yaml, line 9: policy.rules.0.count: input should be greater than or equal to 1; correct it.", id="a count of nobody"),
    pytest.param(GOOD + "policy:\n  freezes:\n    - {from: 22:00, to: 06:00}\n", "bot.yaml, line 9: policy.freezes.0.from: write `Fri 18:00`, `22:00` or `2026-12-24 18:00`, in quotes; correct it.", id="a time that YAML takes for a number"),
    pytest.param(GOOD + "policy:\n  freezes:\n    - {from: Fri 18:00, to: Mon 08:00, zone: Mars}\n", "bot.yaml, line 9: policy.freezes.0.zone: there is no such time zone; write one such as Europe/Berlin; correct it.", id="no such zone"),
    pytest.param(GOOD + "policy:\n  freezes:\n    - {from: Fri 18:00, to: Fri 18:00}\n", "bot.yaml, line 9: policy.freezes.0: to must come after from; the window has no length; correct it.", id="a window without length"),
    pytest.param(GOOD + "policy:\n  freezes:\n    - {from: Fri 18:00, till: Mon 08:00}\n", "bot.yaml, line 9: policy.freezes.0.to is missing; add it.\nbot.yaml, line 9: policy.freezes.0.till is not a known key; remove it.", id="unknown key of a freeze"),
    pytest.param(GOOD + "slack:\n  api_url: slack.com\n", "bot.yaml, line 8: slack.api_url: input should be a valid URL, relative URL without a base; correct it.", id="not a URL"),
    pytest.param(GOOD + "web: 80\n", "bot.yaml, line 7: web: it holds keys of its own; write them below it, indented.", id="a value where a section belongs"),
    pytest.param(GOOD + "web:\n", "bot.yaml, line 7: web: it holds keys of its own; write them below it, indented.", id="an empty section"),
    pytest.param(GOOD + "links:\n  hosts: [https://x.example]\n", "bot.yaml, line 8: links.hosts.0: a host looks like wiki.example.com, or .example.com for all below it; correct it.", id="no host"),
    pytest.param("data: x\n", "bot.yaml, line 1: scheduler is missing; add it.", id="missing section"),
    pytest.param(re.sub("    admin.*\n", "", GOOD), "bot.yaml, line 3: scheduler.accounts.admin is missing; add it.", id="missing account"),
    pytest.param(GOOD + "web:\n  port: 1\n  port: 2\n", "bot.yaml, line 9: web.port is given twice; keep one.", id="duplicate key"),
    pytest.param(GOOD + GOOD, "bot.yaml, line 7: scheduler is given twice; keep one.", id="duplicate section"),
    pytest.param(GOOD + "web: [1\n", "bot.yaml, line 8: this is not valid YAML: expected ',' or ']', but got '<stream end>'; correct it.", id="YAML error"),
    pytest.param(GOOD + "web:\n\tport: 1\n", "bot.yaml, line 8: this is not valid YAML: found character '\\t' that cannot start any token; correct it.", id="tab"),
    pytest.param(GOOD + "data: !!python/name:os.system\n", "bot.yaml, line 7: tags (!) are not supported; write the plain value.", id="object tag"),
    pytest.param(GOOD + "---\nweb: {}\n", "bot.yaml, line 7: this is not valid YAML: but found another document; correct it.", id="two documents"),
    pytest.param(GOOD + "data: 2026-02-31\n", "bot.yaml, line 7: this is not valid YAML: a value is not what it looks like to YAML, put it in quotes; correct it.", id="no such date"),
    pytest.param(GOOD + "data: \x07\n", "bot.yaml, line 7: holds a control character; write the line again.", id="control character"),
    pytest.param(GOOD.encode() + b"data: caf\xe9\n", "bot.yaml, line 7: is not UTF-8 text; save it as UTF-8.", id="not UTF-8"),
    pytest.param("", "bot.yaml, line 1: the file must hold keys, such as `scheduler:`; it holds none.", id="empty"),
    pytest.param("- a\n", "bot.yaml, line 1: the file must hold keys, such as `scheduler:`; it holds none.", id="a list"),
    pytest.param("# only\n# comments\n", "bot.yaml, line 1: the file must hold keys, such as `scheduler:`; it holds none.", id="only comments"),
    pytest.param(GOOD + "web: &w\n  port: 1\n", "bot.yaml, line 7: anchors and aliases (& and *) are not supported; write the value out.", id="anchor"),
    pytest.param(GOOD + "web: *w\n", "bot.yaml, line 7: anchors and aliases (& and *) are not supported; write the value out.", id="alias"),
    pytest.param(GOOD + f"web: {'[' * 100_000}\n", f"bot.yaml, line 7: is nested deeper than {MAX_DEPTH} levels; no key here is.", id="deep nesting"),
    pytest.param("#" * (MAX_BYTES + 1), f"bot.yaml: is larger than {MAX_BYTES // 1024} KiB; this is not a configuration file.", id="huge"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        *((value, "this is not valid YAML") for value in ('"\\UFFFFFFFF"', '"\\uD800"', "2025-02-31")),
        *(
            (tag, "tags (!) are not supported")
            for tag in ("!!bool maybe", "!!timestamp soon", '!!int ""', "!", "! 8320")
        ),
    ],
)
def test_a_value_that_is_none_names_its_line(tmp_path: Path, value: str, problem: str):
    said = refusal(written(tmp_path, f"{GOOD}web:\n  port: {value}\n"))
    assert said.startswith(f"bot.yaml, line 8: {problem}")


@pytest.mark.parametrize(("text", "sentence"), MISTAKES)
def test_a_mistake_names_file_line_and_key_and_says_what_to_do(
    tmp_path: Path, text: str | bytes, sentence: str
):
    assert refusal(written(tmp_path, text)) == sentence


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path):
    assert refusal(tmp_path / "bot.yaml") == (
        "bot.yaml: cannot be read (No such file or directory); name the file with --config."
    )
    (tmp_path / "bot.yaml").mkdir()
    assert refusal(tmp_path / "bot.yaml").startswith("bot.yaml: cannot be read (Is a directory)")


def test_all_mistakes_are_told_at_once(tmp_path: Path):
    told = refusal(written(tmp_path, GOOD + "web:\n  port: -1\nxyzzy: 1\nmodel:\n  max_rounds: 99\n"))
    assert {line.split(":")[0].partition(" xyzzy")[0] for line in told.splitlines()} == {
        "bot.yaml, line 8",
        "bot.yaml, line 9",
        "bot.yaml, line 11",
    }
    assert len(told.splitlines()) == 3


def test_a_message_never_repeats_the_value(tmp_path: Path):
    secret = "hunter2-of-the-tests"
    told = refusal(written(tmp_path, GOOD.replace("username: v", f"username: v, password: {secret}")))
    assert "scheduler.accounts.viewer.password is not a known key" in told
    assert secret not in told


def test_a_good_file_may_begin_with_a_byte_order_mark_and_end_lines_in_crlf(tmp_path: Path):
    path = written(tmp_path, b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert str(load_config(path).scheduler.url) == "http://scheduler.internal:8082/"


def test_data_is_relative_to_the_file(tmp_path: Path):
    config = load_config(written(tmp_path, GOOD + "data: here/below\n"))
    assert config.data == tmp_path / "here" / "below"
    assert config.store_path == tmp_path / "here" / "below" / "bot.db"


def test_people_become_roles(tmp_path: Path):
    config = load_config(written(tmp_path, GOOD + "roles:\n  people:\n    U1: approver\n"))
    assert config.people == {"U1": Role.APPROVER}


RULES = """\
roles:
  people: {U1: admin}
  groups: {S1: approver}
policy:
  rules:
    - tools: [delete_task]
      ask: [operator, admin]
      approve: {roles: [admin], people: [U1], groups: [S2]}
      deny: {groups: [S3]}
      count: 2
      own: false
      only_in: [C1]
      remind_minutes: 20
      escalate: {groups: [S4]}
      keep_minutes: 10
  freezes:
    - {from: Fri 18:00, to: Mon 08:00, zone: Europe/Berlin, tools: [delete_task], break_glass: [admin]}
    - {from: 2026-12-24 18:00:00, to: 2026-12-27}
"""


def test_rules_and_freezes_become_the_policy(tmp_path: Path):
    config = load_config(written(tmp_path, GOOD + RULES))
    policy = config.make_policy()
    (rule,) = policy.rules
    assert rule == Rule(
        name="policy.rules.0",
        scope=Scope(tools=frozenset({"delete_task"})),
        ask=Who(roles=(Role.OPERATOR, Role.ADMIN)),
        approve=Who(("U1",), ("S2",), (Role.ADMIN,)),
        deny=Who(groups=("S3",)),
        count=2,
        own=False,
        only_in=frozenset({"C1"}),
        remind_after=timedelta(minutes=20),
        escalate=Who(groups=("S4",)),
        keep_for=timedelta(minutes=10),
    )
    weekend, holidays = policy.freezes
    assert (weekend.until, str(weekend.start)) == ("Mon 08:00 Europe/Berlin", "Fri 18:00")
    assert weekend.break_glass == Who(roles=(Role.ADMIN,))
    assert (str(holidays.start), holidays.until) == ("2026-12-24 18:00", "2026-12-27 00:00 UTC")
    assert config.groups == {"S1", "S2", "S3", "S4"}
    assert config.where("policy.rules.0") == f"{tmp_path / 'bot.yaml'}, line 12: policy.rules.0"
    assert config.has_approver


# -- the example ------------------------------------------------------------------------------------------------------


def keys_of(value: Any, at: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    if not isinstance(value, dict) or not value:
        return {at}
    return set().union(*(keys_of(item, (*at, name)) for name, item in value.items()))


def keys_of_model(model: type[BaseModel], at: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for name, field in model.model_fields.items():
        kind = field.annotation
        is_section = isinstance(kind, type) and issubclass(kind, BaseModel)
        found |= keys_of_model(kind, (*at, name)) if is_section else {(*at, name)}  # type: ignore[arg-type]  # narrowed above
    return found


def uncommented(text: str) -> str:
    """The example with every commented key in force: lines such as `# web:` and `#   port: 8320`."""
    return re.sub(r"(?m)^# ((?:  )*[a-z_]+:(?: .*)?)$", r"\1", text)


def test_the_example_loads_and_everything_commented_is_the_default(tmp_path: Path):
    as_it_is = load_config(EXAMPLE)
    given = Config(scheduler=as_it_is.scheduler)
    assert as_it_is.model_dump(exclude={"data"}) == given.model_dump(exclude={"data"})
    text = uncommented(EXAMPLE.read_text(encoding="utf-8"))
    in_force = load_config(written(tmp_path, text))
    assert in_force.model_dump(exclude={"data"}) == given.model_dump(exclude={"data"})
    assert in_force.data == tmp_path / given.data
    assert keys_of(yaml.safe_load(text)) == keys_of_model(Config)


# -- the environment --------------------------------------------------------------------------------------------------


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load_config(written(tmp_path, GOOD))


def test_all_missing_variables_are_told_at_once(config: Config):
    with pytest.raises(ConfigInvalid) as refused:
        load_secrets(config, {"SLACK_APP_TOKEN": "", "OPENAI_BASE_URL": "http://127.0.0.1:1"})
    assert str(refused.value).splitlines() == [
        *(f"{name} is not set in the environment; set it." for name in ENV),
        "A model endpoint is set but no model: set OPENAI_MODEL, or model.name in the config.",
    ]


def test_without_an_endpoint_there_is_no_model_and_a_key_alone_is_no_mistake(config: Config):
    assert load_secrets(config, ENV | {"OPENAI_API_KEY": "sk-1"}).model is None


def test_a_model_without_an_endpoint_is_refused(config: Config):
    with pytest.raises(ConfigInvalid, match=r"The model m is named but no endpoint: set OPENAI_BASE_URL"):
        load_secrets(config, ENV | {"OPENAI_MODEL": "m"})


def test_an_endpoint_that_is_no_url_is_refused(config: Config):
    with pytest.raises(ConfigInvalid, match="OPENAI_BASE_URL must begin with http:// or https://"):
        load_secrets(config, ENV | {"OPENAI_BASE_URL": "localhost:1234/v1", "OPENAI_MODEL": "m"})


def test_the_environment_wins_over_the_file(tmp_path: Path):
    model = "model:\n  base_url: http://file.internal/v1\n  name: of-file\n"
    config = load_config(written(tmp_path, GOOD + model))
    endpoint = load_secrets(config, ENV).model
    assert endpoint is not None
    assert (endpoint.base_url, endpoint.name) == ("http://file.internal/v1", "of-file")
    endpoint = load_secrets(
        config, ENV | {"OPENAI_BASE_URL": "https://env/v1", "OPENAI_MODEL": "of-env"}
    ).model
    assert endpoint is not None
    assert (endpoint.base_url, endpoint.name) == ("https://env/v1", "of-env")


def test_repr_hides_every_secret_and_redaction_knows_them_all(config: Config):
    config = config.model_copy(update={"store": StoreConfig(redis_url_env="BOT_REDIS")})
    env = ENV | {
        "BOT_REDIS": "redis://bot:redis%2F1@host/0",
        "OPENAI_BASE_URL": "http://m", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "sk-1", "SCHEDULER_WEBHOOK_TOKEN": "hook-1",
    }  # fmt: skip
    secrets: Secrets = load_secrets(config, env)
    values = [*ENV.values(), "sk-1", "hook-1", "redis://bot:redis%2F1@host/0", "redis/1"]
    assert sorted(secrets.values()) == sorted(values)
    for shown in (repr(secrets), str(secrets), f"{secrets.model!r}", f"{secrets}"):
        assert [value for value in values if value in shown] == []


def test_the_second_place_of_the_audit_is_found_from_the_files_folder(tmp_path: Path):
    config = load_config(written(tmp_path, GOOD))
    assert config.anchor_path == tmp_path / "data.audit-anchors"
    config = load_config(written(tmp_path, GOOD + "audit:\n  anchor_file: ../elsewhere/heads\n"))
    assert config.anchor_path == tmp_path.parent / "elsewhere" / "heads"


def test_bots_that_share_a_store_must_be_given_the_key_that_they_share(config: Config):
    assert config.key_folder == config.data
    shared = config.model_copy(update={"store": StoreConfig(redis_url_env="BOT_REDIS")})
    with pytest.raises(ConfigInvalid, match="CHATOPS_KEY is not set in the environment"):
        open_keys({}, shared.key_folder)
    with pytest.raises(ConfigInvalid, match="BOT_REDIS is not set in the environment"):
        load_secrets(shared, ENV)
