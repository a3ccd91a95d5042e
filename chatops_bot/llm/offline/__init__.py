"""The model that answers when no language model is connected: rules, the scheduler's tools, a plain report."""

from chatops_bot.llm.offline.addressing import is_for_the_rules
from chatops_bot.llm.offline.model import OfflineModel
from chatops_bot.llm.offline.wishes import changes_asked

__all__ = ["OfflineModel", "changes_asked", "is_for_the_rules"]
