"""The model that answers when no language model is connected: rules, the scheduler's tools, a plain report."""

from chatops_bot.llm.offline.addressing import is_for_the_rules
from chatops_bot.llm.offline.model import OfflineModel

__all__ = ["OfflineModel", "is_for_the_rules"]
