"""What the workspace refuses: Slack's error codes for the Web API, plain sentences for people and drivers."""

from collections.abc import Mapping


class SlackError(Exception):
    """A Web API refusal: `code` is Slack's, `messages` its per-field details (`response_metadata.messages`), `details`
    what else stands in the answer."""

    def __init__(
        self, code: str, messages: list[str] | None = None, details: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(code if not messages else f"{code}: {'; '.join(messages)}")
        self.code = code
        self.messages = messages or []
        self.details = dict(details or {})


class DrivingError(Exception):
    """A refusal of the driving interface: a stable `code` and one sentence for the person who drives."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class AppNotResponding(DrivingError):
    """The bot has no socket, or did not acknowledge an interaction in time; Slack shows exactly this."""

    def __init__(self) -> None:
        super().__init__("app_not_responding", "This app is not responding.")


class WorkspaceUnusable(Exception):
    """The data folder cannot be used; the message is one sentence that says why and what to do."""
