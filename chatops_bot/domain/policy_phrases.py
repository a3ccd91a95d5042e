"""What a policy says when it says no: what stands in the way, and who or what gets past it."""

from collections.abc import Iterable

from chatops_bot.domain.channel_token import channel_token
from chatops_bot.domain.freeze import Freeze
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy_rules import Who

DENIED = Phrase(
    "策略规定您不能发起或批准 {tool}；请让其他有权限的人来处理。",
    "The policy rules you out for {tool}: you may neither ask for it nor approve it. Somebody else who may has to.",
)
NOT_NAMED = Phrase(
    "您不在策略为 {tool} 指定的批准人之中；请让卡片上提到的人来处理。",
    "You are not among those whom the policy names to approve {tool}; ask one of those whom the card calls.",
)
NOT_YOURS = Phrase(
    "这个表单是问 {name} 的，只有 {name} 可以填写；您可以另外提出自己的请求。",
    "This form asks {name}, and only {name} can fill it in; you can ask for the same yourself.",
)
BREAK_GLASS = Phrase(
    "冻结期至 {until}，未执行任何操作。您可以紧急批准，理由会被标记以供复核：请输入“批准 {code} 紧急: 原因”。",
    "Frozen until {until}, so nothing was run. You may break the glass, and your reason is flagged for review: "
    "type “approve {code} break-glass: reason”.",
)
_FROZEN = Phrase(
    "冻结期至 {until}，未执行任何操作；{who}可以用“批准 {code} 紧急: 原因”紧急批准。",
    "Frozen until {until}, so nothing was run; {who} may break the glass with “approve {code} break-glass: reason”.",
)
_ON_CARD = Phrase(
    "冻结期至 {until}；{who}可以紧急批准，请输入：批准 {code} 紧急: 原因",
    "Frozen until {until}; {who} may break the glass by typing: approve {code} break-glass: reason",
)
_ON_CARD_FOR_ALL = Phrase(
    "冻结期至 {until}；此前任何人都不能批准。", "Frozen until {until}; nobody may approve before."
)
_FROZEN_FOR_ALL = Phrase(
    "冻结期至 {until}，未执行任何操作；此前任何人都不能批准，请在那之后再批准。",
    "Frozen until {until}, so nothing was run; nobody may approve before, so approve it then.",
)
_ONLY_IN = Phrase(
    "策略规定 {tool} 只能在频道 {channels} 中发起和批准；请到那里处理。",
    "The policy lets {tool} be asked for and approved only in {channels}; do it there.",
)
_MAY_NOT_ASK = Phrase(
    "策略规定只有{who}可以发起 {tool}，您的角色是 {role}；请让他们来提出。",
    "The policy lets only {who} ask for {tool}, and you are {role}; ask one of them to request it.",
)
_NOBODY_ASKS = Phrase(
    "策略规定任何人都不能发起 {tool}；如有需要，请让管理员修改策略。",
    "The policy lets nobody ask for {tool}; if it is needed, the policy has to be changed.",
)


def frozen(freeze: Freeze, code: str) -> Phrase:
    """To somebody who may not break the glass; `code` is what they would type."""
    if freeze.break_glass == Who():
        return _FROZEN_FOR_ALL.filled(until=freeze.until)
    return _with_who(_FROZEN, freeze.break_glass, until=freeze.until, code=code)


def frozen_on_card(freeze: Freeze, code: str) -> Phrase:
    """To everybody who sees the card."""
    if freeze.break_glass == Who():
        return _ON_CARD_FOR_ALL.filled(until=freeze.until)
    return _with_who(_ON_CARD, freeze.break_glass, until=freeze.until, code=code)


def only_in(tool: str, channels: Iterable[str]) -> Phrase:
    """To somebody elsewhere."""
    listed = [channel_token(channel) for channel in sorted(channels)]
    return Phrase(
        _ONLY_IN.zh.format(tool=tool, channels="、".join(listed)),
        _ONLY_IN.en.format(tool=tool, channels=" or ".join(listed) or "no channel"),
    )


def may_not_ask(tool: str, person: Person, who: Who) -> Phrase:
    """To somebody who is not among those who may ask."""
    if who == Who():
        return _NOBODY_ASKS.filled(tool=tool)
    return _with_who(_MAY_NOT_ASK, who, tool=tool, role=person.role)


def _with_who(phrase: Phrase, who: Who, **values: object) -> Phrase:
    roles = [f"{'an' if role[0] in 'aeiou' else 'a'} {role}" for role in who.roles]
    named = ["somebody whom the policy names"] if who.people or who.groups else []
    return Phrase(
        phrase.zh.format(who="、".join([*(f" {role} " for role in who.roles), *(["策略指定的人"] if named else [])]), **values),
        phrase.en.format(who=" or ".join([*roles, *named]), **values),
    )  # fmt: skip
