"""The dialog in which somebody reads all of a long action, page by page, and puts on record that they have.

The buttons lead from one page to the next only, and the last page alone has the button that records: whoever pressed it had
every page on the screen. What they press is sealed like every button of a card.
"""

from collections.abc import Callable

from chatops_bot.domain.language import Language
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.view import Block, Button, Buttons, Code, Heading, Lines, Modal, Notice, View
from chatops_bot.rendering import card_notices as notices
from chatops_bot.rendering.card_buttons import Sealed
from chatops_bot.rendering.card_outcome import all_parts
from chatops_bot.rendering.card_pages import pages_of
from chatops_bot.rendering.card_redaction import redacted
from chatops_bot.rendering.escapes import exact


def page_modal(
    proposal: Proposal, number: int, *, sealed: Sealed, redact: Callable[[str], str], may_record: bool
) -> Modal:
    """Page `number`, from 1, of all that `proposal` would do; a number beyond the last is the last.

    The last page has the button that records its reader, where `may_record`: they may approve and have not read it yet.
    """
    shown = redacted(proposal, redact)
    language: Language = "zh" if proposal.language == "zh" else "en"
    pages = pages_of(all_parts(shown, language), language)
    page = pages[max(1, min(number, len(pages))) - 1]
    is_last = page.number == page.count
    where = notices.PAGE_OF.filled(
        page=page.number, pages=page.count, first=page.first, last=page.last, lines=page.lines
    )
    blocks: list[Block] = [Lines((where.said_in(language),))]
    blocks += [Code(box.text, box.label) for box in page.boxes]
    buttons: list[Button] = []
    if page.number > 1:
        buttons.append(_turn(proposal, page.number - 1, notices.PREVIOUS.said_in(language), sealed))
    if not is_last:
        buttons.append(_turn(proposal, page.number + 1, notices.NEXT.said_in(language), sealed))
    elif may_record:
        blocks.append(Notice(notices.NOT_APPROVED_YET.said_in(language)))
        read = notices.HAVE_READ.said_in(language)
        buttons.append(Button("read", read, sealed("read", proposal.id, proposal.revision), "primary"))
    if buttons:
        blocks.append(Buttons(tuple(buttons)))
    title, close = notices.PAGES_TITLE.said_in(language), notices.CLOSE.said_in(language)
    return Modal(proposal.id, title, tuple(blocks), submit=None, cancel=close)


def read_modal(proposal: Proposal, *, is_recorded: bool = True) -> Modal:
    """What stands in the dialog after the press on its last page: its reader is on record, or it came too late."""
    language: Language = "zh" if proposal.language == "zh" else "en"
    phrase = notices.READ_RECORDED if is_recorded else notices.CLOSED
    said = Notice(phrase.said_in(language), "good" if is_recorded else "warning")
    title, close = notices.PAGES_TITLE.said_in(language), notices.CLOSE.said_in(language)
    return Modal(proposal.id, title, (said,), submit=None, cancel=close)


def whole_view(proposal: Proposal, redact: Callable[[str], str]) -> View:
    """All of a long action at once, for a terminal; who has it on the screen is told how to go on."""
    proposal = redacted(proposal, redact)
    language: Language = "zh" if proposal.language == "zh" else "en"
    title = notices.PAGES_TITLE.said_in(language)
    said = notices.READ_HERE.filled(code=exact(proposal.code)).said_in(language)
    codes = (Code(part.text, part.label) for part in all_parts(proposal, language))
    return View((Heading(title), *codes, Notice(said, "warning")), title)


def _turn(proposal: Proposal, number: int, label: str, sealed: Sealed) -> Button:
    control = f"page_{number}"
    return Button(control, label, sealed(control, proposal.id, proposal.revision))
