"""What a provider complains about, told as our errors.

Pure: a status and a body, or an error object from inside a stream, go in; a `ModelError` with one sentence in two
languages comes out. A provider's own words are quoted only where they help, redacted and bounded, and never for a
rejected key, since providers like to repeat the key there.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import msgspec

from chatops_bot.domain.errors import (
    ModelBlocked,
    ModelBroke,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelTooLong,
    ModelUnavailable,
)
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.redaction import Redactor
from chatops_bot.rendering.escapes import one_line

UNREACHABLE = Phrase(
    "连不上 {host} 的模型。请检查网络和地址。",
    "The model at {host} could not be reached. Check the network and the address.",
)
UNTRUSTED = Phrase(
    "与 {host} 的模型建立不了可信的 TLS 连接。请检查它的证书和地址。",
    "No trusted TLS connection to the model at {host}. Check its certificate and the address.",
)
SILENT = Phrase(
    "{host} 的模型在 {seconds} 秒内没有回答。", "The model at {host} did not answer within {seconds} s."
)
STALLED = Phrase(
    "{host} 的模型答到一半停了，{seconds} 秒没有动静。",
    "The model at {host} stopped in the middle of its answer and stayed silent for {seconds} s.",
)
OVERLOADED = Phrase(
    "{host} 的模型过载或出了故障（HTTP {status}）。请稍后再试。",
    "The model at {host} is overloaded or down (HTTP {status}). Try again in a moment.",
)
LIMITED = Phrase(
    "{host} 的模型限流了，暂时不接受请求。请稍后再试。",
    "The model at {host} is rate limited and takes no request right now. Try again in a moment.",
)
LIMITED_FOR = Phrase(
    "{host} 的模型限流了，请在 {seconds} 秒后再试。",
    "The model at {host} is rate limited. Try again in {seconds} s.",
)
KEY = Phrase(
    "{host} 不接受模型的 API key（HTTP {status}）。请检查配置里的 key 和它的权限。",
    "{host} does not accept the model's API key (HTTP {status}). Check the configured key and what it may use.",
)
QUOTA = Phrase(
    "{host} 上的账户已没有额度或余额。请充值，或换一个 key。",
    "The account at {host} has no quota or credit left. Top it up, or configure another key.",
)
NOT_FOUND = Phrase(
    "{host} 在这个地址上找不到模型 {model}（HTTP 404）。请检查模型名和 base URL。",
    "{host} finds no model {model} at this address (HTTP 404). Check the model name and the base URL.",
)
TOO_LONG = Phrase(
    "这段对话超过了 {host} 的模型 {model} 能接受的长度。请另开一个消息串。",
    "This conversation is longer than model {model} at {host} accepts. Go on in a new thread.",
)
REDIRECTED = Phrase(
    "{host} 把请求转到了别的地址（HTTP {status}）。请在配置里写最终的 base URL。",
    "{host} redirects to another address (HTTP {status}). Configure the final base URL.",
)
REFUSED = Phrase(
    "{host} 的模型拒绝了请求：{message}", "The model at {host} did not accept the request: {message}"
)
BLOCKED = Phrase(
    "{host} 的内容过滤拦下了这次回答。换个说法再问一次。",
    "The content filter of {host} withheld the answer. Ask again in other words.",
)
BROKE_OFF = Phrase(
    "{host} 的模型答到一半断了。请再问一次。",
    "The model at {host} broke off in the middle of its answer. Ask again.",
)
FAILED_MIDWAY = Phrase(
    "{host} 的模型出错，回答中断：{message}", "The model at {host} broke off with an error: {message}"
)
RUBBISH = Phrase(
    "{host} 返回的内容不是模型的回答。请检查 base URL；如果没错，请再问一次。",
    "{host} sent something that is not a model's answer. Check the base URL; if it is right, ask again.",
)
NOTHING = Phrase(
    "{host} 接受了请求，却什么也没返回。有些服务器这样对待超出自身上下文长度的请求：请看它的日志，或调大它的上下文。",
    "{host} took the request and sent nothing back. Some servers do so with a prompt that is longer than their context: "
    "see its log, or start it with a larger one.",
)
WEB_PAGE = Phrase(
    "{host} 返回的是网页，不是模型的回答。请检查 base URL。",
    "{host} answered with a web page instead of a model's answer. Check the base URL.",
)

QUOTED_CHARS = 200
"""How much of a provider's message is repeated."""

LONGEST_RETRY_AFTER = 86_400.0
"""Seconds. Beyond a day, a provider's word on when to come back says no more than "not today"."""

_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")

_QUOTA_CODES = (
    "insufficient_quota", "insufficient_balance", "current_quota", "billing", "arrearage", "overdue", "credit",
)  # fmt: skip
_QUOTA_WORDS = (
    "insufficient balance",
    "check your plan and billing",
    "run out of credits",
    "credit balance is too low",
    "insufficient credit",
    "余额不足",
    "欠费",
)
_QUOTA_STATUSES = (400, 403, 429)
_LENGTH_CODES = ("context_length_exceeded", "request_too_large")
_LENGTH_WORDS = (
    "maximum context length",
    "prompt is too long",
    "exceeds the maximum number of tokens",
    "exceed context limit",
    "context window",
    "exceeds the available context size",
    "range of input length",
    "max message tokens",
)
"""OpenAI and vLLM, Anthropic, Gemini, Anthropic again, several gateways, llama.cpp, DashScope, MiniMax."""
_BUSY_STATUSES = (408, 425)
_HTTP_ERRORS = frozenset(str(status) for status in range(400, 600))
_STATUS_OF_CODE = (("rate_limit", 429), ("overloaded", 529), ("unavailable", 503), ("server_error", 500),
                   ("authentication", 401), ("invalid_request", 400))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Complaint:
    """An error object's content: `message` for people, `codes` its machine words in lower case, `status` if it has one.

    `passes_in` are the seconds after which a limit of calls passes, where the object itself says so.
    """

    message: str = ""
    codes: str = ""
    status: int | None = None
    passes_in: float | None = None


def complaint_of(value: object) -> Complaint:
    """Read any of the shapes in which providers send errors: object, text, list of one, nested under `error`."""
    for _ in range(3):
        if isinstance(value, list) and value:
            value = value[0]
        elif isinstance(value, dict) and value.get("error"):
            value = value["error"]
    if isinstance(value, str):
        return Complaint(message=value)
    if not isinstance(value, dict):
        return Complaint()
    message = next(
        (value[key] for key in ("message", "detail", "msg") if isinstance(value.get(key), str)), ""
    )
    codes = " ".join(str(value[key]) for key in ("code", "type", "status") if value.get(key)).lower()
    code = str(value.get("code", ""))
    status = int(code) if code in _HTTP_ERRORS else None
    return Complaint(message, codes, status, _passes_in(value.get("details")))


def _passes_in(details: object) -> float | None:
    """Gemini tells of limits a minute in the words in which it tells of an account without quota; only the details differ.
    A limit a day names a delay too, which is not true."""
    told = [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []
    if any("PerDay" in str(each.get("violations")) for each in told):
        return None
    delay = next((str(each["retryDelay"]) for each in told if each.get("retryDelay")), "")
    seconds = delay.removesuffix("s")
    return min(float(seconds), LONGEST_RETRY_AFTER) if _SECONDS.fullmatch(seconds) else None


def complaint_in(body: bytes) -> Complaint:
    """The complaint in the body of an error answer, be it JSON, plain text or a web page (which says nothing)."""
    try:
        return complaint_of(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = body.decode("utf-8", "replace").strip()
        return Complaint(message="" if text.startswith("<") else text)


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `Retry-After-Ms` or `Retry-After`, at most a day; a date counts from the answer's own `Date`.

    `headers` looks names up without regard to case, as HTTP libraries' mappings do.
    """
    for name, unit in (("Retry-After-Ms", 0.001), ("Retry-After", 1.0)):
        value = headers.get(name, "").strip()
        if value.replace(".", "", 1).isdecimal():
            return min(float(value) * unit, LONGEST_RETRY_AFTER)
    try:
        wait = parsedate_to_datetime(headers["Retry-After"]) - parsedate_to_datetime(headers["Date"])
    except (KeyError, ValueError, TypeError):
        return None
    return min(max(0.0, wait.total_seconds()), LONGEST_RETRY_AFTER)


class ProviderErrors:
    """Makes the errors of one model at one host. `secrets` are hidden in whatever the provider says."""

    def __init__(self, host: str, model: str, secrets: Iterable[str] = ()) -> None:
        self.host = host
        self.model = model
        self._redactor = Redactor(secrets)

    def unreachable(self) -> ModelUnavailable:
        return ModelUnavailable(self._say(UNREACHABLE))

    def untrusted(self) -> ModelRefused:
        return ModelRefused(self._say(UNTRUSTED))

    def silent(self, seconds: float) -> ModelTimeout:
        return ModelTimeout(self._say(SILENT, seconds=f"{seconds:g}"))

    def stalled(self, seconds: float) -> ModelTimeout:
        return ModelTimeout(self._say(STALLED, seconds=f"{seconds:g}"))

    def broke_off(self) -> ModelBroke:
        return ModelBroke(self._say(BROKE_OFF))

    def rubbish(self) -> ModelBroke:
        return ModelBroke(self._say(RUBBISH))

    def nothing(self) -> ModelBroke:
        return ModelBroke(self._say(NOTHING))

    def web_page(self) -> ModelBroke:
        return ModelBroke(self._say(WEB_PAGE))

    def from_answer(self, status: int, body: bytes, retry_after: float | None = None) -> ModelError:
        """The error of an answer whose HTTP status is not 200; `body` may be cut."""
        return self._told(status, complaint_in(body), retry_after)

    def from_stream(self, error: object) -> ModelError:
        """The error that an error object inside a stream stands for; `error` is decoded JSON."""
        complaint = complaint_of(error)
        status = complaint.status
        if status is None:
            status = next((status for code, status in _STATUS_OF_CODE if code in complaint.codes), 0)
        return self._told(status, complaint, None)

    def _told(self, status: int, complaint: Complaint, retry_after: float | None) -> ModelError:
        """A `status` of 0 stands for an error in a stream that fits no HTTP status."""
        if complaint.passes_in is not None and status == 429:
            wait = max(retry_after or 0.0, complaint.passes_in)
            return ModelUnavailable(self._limited(wait), wait)
        if _speaks_of_quota(status, complaint):
            return ModelRefused(self._say(QUOTA))
        if "content_filter" in complaint.codes:
            return ModelBlocked(self._say(BLOCKED))
        if _speaks_of_length(complaint):
            return ModelTooLong(self._say(TOO_LONG))
        if status == 429:
            return ModelUnavailable(self._limited(retry_after), retry_after)
        if status >= 500 or status in _BUSY_STATUSES:
            return ModelUnavailable(self._say(OVERLOADED, status=status), retry_after)
        if status in (401, 403):
            return ModelRefused(self._say(KEY, status=status))
        if status == 404:
            return ModelRefused(self._say(NOT_FOUND))
        if 300 <= status < 400:
            return ModelRefused(self._say(REDIRECTED, status=status))
        message = self._quote(complaint.message) or f"HTTP {status}"
        if status:
            return ModelRefused(self._say(REFUSED, message=message))
        return (
            ModelBroke(self._say(FAILED_MIDWAY, message=message)) if complaint.message else self.broke_off()
        )

    def _limited(self, retry_after: float | None) -> Phrase:
        if retry_after is None:
            return self._say(LIMITED)
        return self._say(LIMITED_FOR, seconds=f"{retry_after:.0f}")

    def _quote(self, message: str) -> str:
        """Redacted first and cut second: half a key would no longer be recognised."""
        line = one_line(self._redactor.text(message))
        return line if len(line) <= QUOTED_CHARS else line[:QUOTED_CHARS] + "…"

    def _say(self, phrase: Phrase, **values: object) -> Phrase:
        return phrase.filled(host=self.host, model=self.model, **values)


def _speaks_of_quota(status: int, complaint: Complaint) -> bool:
    if status == 402 or any(code in complaint.codes for code in _QUOTA_CODES):
        return True
    message = complaint.message.lower()
    return status in _QUOTA_STATUSES and any(words in message for words in _QUOTA_WORDS)


def _speaks_of_length(complaint: Complaint) -> bool:
    message = complaint.message.lower()
    return any(code in complaint.codes for code in _LENGTH_CODES) or any(
        words in message for words in _LENGTH_WORDS
    )
