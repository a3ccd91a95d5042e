"""The dialog in which somebody says why they rejected."""

from chatops_bot.domain.language import Language
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.view import Modal, TextInput
from chatops_bot.rendering import card_notices as notices
from chatops_bot.rendering.card_buttons import Sealed

REASON = "reason"
"""The name of its input, and the press that its value is sealed for."""


def reason_modal(proposal: Proposal, sealed: Sealed, most: int) -> Modal:
    """It takes a reason of `most` characters; its value says which proposal it is about."""
    language: Language = "zh" if proposal.language == "zh" else "en"
    asked = TextInput(
        name=REASON, key=proposal.id, label=notices.WHY_LABEL.filled(code=proposal.code).said_in(language),
        is_multiline=True, hint=notices.WHY_HINT.said_in(language), max_chars=most,
    )  # fmt: skip
    return Modal(
        sealed(REASON, proposal.id, proposal.revision), notices.WHY_TITLE.said_in(language), (asked,),
        submit=notices.SEND.said_in(language), cancel=notices.CANCEL.said_in(language),
    )  # fmt: skip
