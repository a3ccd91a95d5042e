"""The model that answers when no language model is connected: rules, the scheduler's tools, a plain report."""

from chatops_bot.llm.offline.model import OfflineModel

__all__ = ["OfflineModel"]
