"""A policy to try in the demo: the sections `policy` and `proposals` of a configuration, with the demo's people and channels by name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from chatops_bot.app.config import ProposalsConfig
from chatops_bot.app.config_file import problems_of, read_config_file
from chatops_bot.app.policy_config import PolicyConfig, Section
from chatops_bot.domain.errors import ConfigInvalid

_OF_PLATFORM = ("people", "groups", "channels", "only_in")
"""The keys whose values are ids of the platform, which nobody knows before the demo made its workspace."""


class _Tried(Section):
    policy: PolicyConfig = PolicyConfig()
    proposals: ProposalsConfig = ProposalsConfig()


def read_policy(path: Path) -> Mapping[str, Any]:
    """The sections of the file at `path` as it gives them. Raises ConfigInvalid with file, line and what to do about what is wrong first."""
    value, lines = read_config_file(path, what="policy file", named_by="with --policy")
    if not isinstance(value, dict):
        raise ConfigInvalid(f"{path}, line 1: the file must hold the key `policy:`, as a configuration does.")
    try:
        _Tried.model_validate(value)
    except ValidationError as error:
        raise ConfigInvalid(next(problems_of(path, error, lines, _Tried))) from error
    return value


def with_ids(value: Any, ids: Mapping[str, str], *, names_platform: bool = False) -> Any:
    """`value` with each name of a person, a group or a channel of the demo as its id."""
    if isinstance(value, dict):
        return {key: with_ids(item, ids, names_platform=key in _OF_PLATFORM) for key, item in value.items()}
    if isinstance(value, list):
        return [with_ids(item, ids, names_platform=names_platform) for item in value]
    return ids.get(value.lstrip("@#"), value) if names_platform and isinstance(value, str) else value
