"""Which model answers: the configured one, and the offline rules where there is none or none answers."""

from collections.abc import AsyncGenerator, Callable, Sequence
from functools import cached_property

import aiohttp

from chatops_bot.app.bundled import load_phrases
from chatops_bot.app.config import Config, Secrets
from chatops_bot.context.fence import fresh_marks
from chatops_bot.context.history import project
from chatops_bot.domain.model import ModelDelta, ModelRequest
from chatops_bot.domain.transcript import Entry
from chatops_bot.llm.failover import FailoverModel
from chatops_bot.llm.openai_client import ModelTimeouts, OpenAIClient
from chatops_bot.ports import LLM, Ids
from chatops_bot.sessions.router import Overhears, every_message

OFFLINE_PACE = 0.03
"""Seconds between two pieces of an offline report, so that it grows before the reader's eyes as a model's answer does."""


class OfflineRules:
    """The `OfflineModel`, whose rules are imported when they are first asked: a start needs none of them, and a bot whose model
    always answers never does. `pace` is the model's."""

    name = "offline"

    def __init__(self, pace: float) -> None:
        self._pace = pace

    @cached_property
    def _model(self) -> LLM:
        from chatops_bot.llm.offline import OfflineModel

        return OfflineModel(pace=self._pace)

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """See `ports.LLM.stream`."""
        return self._model.stream(request)


def configured_model(
    config: Config,
    secrets: Secrets,
    session: aiohttp.ClientSession,
    metered: Callable[[LLM], LLM] = lambda model: model,
    show: float = OFFLINE_PACE,
) -> LLM:
    """The model of `config`, and the offline rules where there is none or none answers, with `show` seconds between two pieces.
    `metered` goes around each."""
    offline = metered(OfflineRules(show))
    if secrets.model is None:
        return offline
    timeouts = ModelTimeouts(
        connect=config.model.connect_seconds,
        first_delta=config.model.first_delta_seconds,
        between=config.model.between_deltas_seconds,
    )
    client = OpenAIClient(
        session,
        base_url=secrets.model.base_url,
        api_key=secrets.model.api_key,
        model=secrets.model.name,
        timeouts=timeouts,
    )
    return FailoverModel(metered(client), offline)


def configured_overhearing(secrets: Secrets, ids: Ids) -> Overhears:
    """Where the rules are all that answers, what no rule understands is for somebody else; a model gets every message."""
    if secrets.model is not None:
        return every_message

    words = load_phrases()["en"].calls

    def by_rules(text: str, author_id: str, entries: Sequence[Entry]) -> bool:
        from chatops_bot.llm.offline import is_for_the_rules

        return is_for_the_rules(text, project(entries, marks=fresh_marks(ids.nonce), words=words), author_id)

    return by_rules
