"""The one seam where the scheduler's refusals and the network's failures become `ToolFailed`.

    ToolFailed
    ├── Unreachable     no connection, no reply in time, or a gateway's 502, 503, 504
    ├── LoginRefused    401 that a fresh login does not cure, or no account for the person's role
    ├── Forbidden       403
    ├── NotFound        404
    ├── Conflict        409, and a 500 whose text speaks of a duplicate (the Go service's answer to a taken name)
    ├── Invalid         400, 405, 422
    ├── RateLimited     429
    ├── ProtocolBroken  an answer that is not what the API promises
    └── NotSupported    this scheduler does not offer what the tool needs

`outcome_unknown` is set on a write whose fate nobody told us: the request may have left, no trustworthy reply came.
"""

from chatops_bot.domain.errors import ToolFailed, ToolImpossible
from chatops_bot.domain.language import Phrase
from chatops_bot.toolsets.scheduler.formatting import cut, one_line

GATEWAY_STATUSES = frozenset({502, 503, 504})
_SAID_LIMIT = 300


class Unreachable(ToolFailed):
    """The scheduler does not answer."""


class LoginRefused(ToolFailed):
    """The scheduler does not accept the account, or there is none for the role."""


class Forbidden(ToolFailed):
    """The account may not do this."""


class NotFound(ToolImpossible):
    """What was asked for does not exist."""


class Conflict(ToolImpossible):
    """The state of the thing forbids the request."""


class Invalid(ToolFailed):
    """The scheduler calls the request wrong."""


class RateLimited(ToolFailed):
    """Too many requests."""


class ProtocolBroken(ToolFailed):
    """The answer does not follow the API."""


class NotSupported(ToolFailed):
    """This scheduler lacks the feature."""


def unreachable(host: str) -> Unreachable:
    """No request was carried out, so nothing changed."""
    return Unreachable(
        Phrase(
            f"调度服务 {host} 没有应答；未做任何改动。",
            f"The scheduler at {host} does not answer; nothing was changed.",
        )
    )


def reply_lost(host: str) -> Unreachable:
    """A write left, and its reply never came."""
    return Unreachable(
        Phrase(
            f"调度服务 {host} 没有回复：操作可能已执行，也可能没有；请先查询当前状态，再决定是否重试。",
            f"The scheduler at {host} did not reply: the action may or may not have happened; look at the current state before you try again.",
        ),
        outcome_unknown=True,
    )


def fate_unknown(host: str, said: str) -> Unreachable:
    """A gateway status on a write: whoever answered may have passed the request on before. `said` is the answer's text."""
    return Unreachable(
        Phrase(
            f"调度服务 {host} 暂不可用（{said}）：操作可能已执行，也可能没有；请先查询当前状态，再决定是否重试。",
            f"The scheduler at {host} is not available ({said}): the action may or may not have happened; look at the current state before you try again.",
        ),
        outcome_unknown=True,
    )


def protocol_broken(host: str, what: str, *, writing: bool = False) -> ProtocolBroken:
    """`what` says which part of the answer is wrong, in English."""
    known = "" if writing else "；未做任何改动"
    return ProtocolBroken(
        Phrase(
            f"调度服务 {host} 的应答不符合接口约定（{what}）{known}；请检查服务地址是否正确。",
            f"The scheduler at {host} answered outside its API ({what}); check that its address is right.",
        ),
        outcome_unknown=writing,
    )


def login_refused(host: str, username: str) -> LoginRefused:
    return LoginRefused(
        Phrase(
            f"调度服务 {host} 不接受账号 {username}；请检查配置中的用户名和密码。",
            f"The scheduler at {host} does not accept the account {username}; check the configured user name and password.",
        )
    )


def no_account(host: str, role: str) -> LoginRefused:
    return LoginRefused(
        Phrase(
            f"没有为角色 {role} 配置调度服务 {host} 的账号；请在配置中添加。",
            f"No account at the scheduler {host} is configured for the role {role}; add one to the configuration.",
        )
    )


def load_history_not_supported(host: str) -> NotSupported:
    return NotSupported(
        Phrase(
            f"not_supported_by_backend：调度服务 {host} 的接口不提供负载历史；请配置 scheduler 进程的地址。",
            f"not_supported_by_backend: the scheduler at {host} offers no load history; configure the address of its scheduler process.",
        )
    )


def refused(status: int, said: str | None, host: str, *, writing: bool) -> ToolFailed:
    """The error for an HTTP status of 400 or above; `said` is the service's own text, None when it spoke no JSON."""
    text = cut(one_line(said or f"HTTP {status}"), _SAID_LIMIT)
    if status in GATEWAY_STATUSES:
        # Gateways answer in JSON too, so the body doesn't tell whether the request got through.
        if writing:
            return fate_unknown(host, text)
        if said is None:
            return unreachable(host)
    if status == 500 and "duplicate" in text.lower():
        status = 409
    kind, phrase = _BY_STATUS.get(status, (ToolFailed, _FAILED))
    unknown = writing and status >= 500 and said is None
    return kind(phrase.filled(text=text, host=host), outcome_unknown=unknown)


_INVALID = Phrase("调度服务认为请求有误：{text}", "The scheduler calls the request wrong: {text}")
_FAILED = Phrase("调度服务 {host} 出错：{text}", "The scheduler at {host} failed: {text}")
_DOWN = Phrase("调度服务 {host} 暂不可用：{text}", "The scheduler at {host} is not available: {text}")

_BY_STATUS: dict[int, tuple[type[ToolFailed], Phrase]] = {
    400: (Invalid, _INVALID),
    401: (
        LoginRefused,
        Phrase("调度服务 {host} 拒绝了登录凭证：{text}", "The scheduler at {host} refused the login: {text}"),
    ),
    403: (
        Forbidden,
        Phrase("调度服务的账号没有此权限：{text}", "The scheduler does not let this account do that: {text}"),
    ),
    404: (NotFound, Phrase("调度服务中没有该对象：{text}", "The scheduler does not have it: {text}")),
    405: (Invalid, _INVALID),
    409: (
        Conflict,
        Phrase("与当前状态冲突：{text}", "That conflicts with the current state: {text}"),
    ),
    422: (Invalid, _INVALID),
    429: (
        RateLimited,
        Phrase("调度服务限流，请稍后再试：{text}", "The scheduler limits requests, try again later: {text}"),
    ),
    502: (Unreachable, _DOWN),
    503: (Unreachable, _DOWN),
    504: (Unreachable, _DOWN),
}
