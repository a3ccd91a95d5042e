"""A local Slack-compatible workspace: Web API, Socket Mode, interactions, and a page for people.

Unchanged slack-bolt and slack_sdk reach it by base URL. Tests start it in process with `Workspace.start`.
"""

from chatops_bot.simulators.slack.server import Workspace
from chatops_bot.simulators.slack.settings import Settings

__all__ = ["Settings", "Workspace"]
