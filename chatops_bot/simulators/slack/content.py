"""What a call says: text, `markdown_text`, blocks, attachments and metadata, each refused as Slack refuses it."""

import json
from typing import Any

from chatops_bot.simulators.slack.arguments import Arguments
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.posting import Content, with_block_ids
from chatops_bot.simulators.slack.validation import MARKDOWN_TEXT, MESSAGE_TEXT, check_message_blocks

Json = dict[str, Any]
ATTACHMENTS = 100
METADATA_BYTES = 8_000
"""Slack publishes no figure; a bot that needs more than this keeps a store in its messages."""


def read_content(args: Arguments) -> Content:
    """Raises no_text and each refusal of text, markdown_text, blocks, attachments and metadata."""
    text, markdown = args.text("text"), args.text("markdown_text")
    blocks = args.structure("blocks")
    if markdown:
        if text or blocks:
            raise SlackError("markdown_text_conflict")
        if len(markdown) > MARKDOWN_TEXT:
            raise SlackError("msg_too_long")
        blocks, text = [{"type": "markdown", "text": markdown}], markdown
    if blocks is not None:
        blocks = check_message_blocks(blocks)
    attachments = _attachments(args)
    if not (text.strip() or blocks or attachments):
        raise SlackError("no_text")
    extra: Json = {"attachments": attachments} if attachments else {}
    if (metadata := args.structure("metadata")) is not None:
        extra["metadata"] = read_metadata(metadata)
    return Content(text[:MESSAGE_TEXT], blocks, extra)


def _attachments(args: Arguments) -> list[Json]:
    attachments = args.structure("attachments")
    if attachments is None:
        return []
    if not isinstance(attachments, list) or not all(isinstance(one, dict) for one in attachments):
        raise SlackError("invalid_attachments")
    if len(attachments) > ATTACHMENTS:
        raise SlackError("too_many_attachments")
    # As Slack does: attachments are numbered, and one without a fallback gets one.
    return [
        {"id": number, "fallback": "[no preview available]", **attachment, **_blocks_of(attachment)}
        for number, attachment in enumerate(attachments, 1)
    ]


def _blocks_of(attachment: Json) -> Json:
    blocks = attachment.get("blocks")
    return {} if blocks is None else {"blocks": with_block_ids(check_message_blocks(blocks))}


def read_metadata(metadata: Any) -> Json:
    """Raises invalid_metadata_format or metadata_too_large."""
    if not (
        isinstance(metadata, dict)
        and isinstance(metadata.get("event_type"), str)
        and metadata["event_type"]
        and isinstance(metadata.get("event_payload"), dict)
    ):
        raise SlackError("invalid_metadata_format")
    kept = {"event_type": metadata["event_type"], "event_payload": metadata["event_payload"]}
    if len(json.dumps(kept).encode()) > METADATA_BYTES:
        raise SlackError("metadata_too_large")
    return kept
