"""Chat text to HTML that is safe by construction.

Two dialects arrive: Slack's mrkdwn (`text`, `section`, `context`) and standard Markdown (`markdown` blocks).
Both renderers build their output from fixed tags and escaped text, so no input can bring a tag of its own:
mrkdwn by a one-pass scanner, whose emphasis marks are paired on a stack (linear, always well nested); Markdown
by markdown-it with raw HTML off. What only the reader's browser knows (their time zone, whether a mention is
them) travels in `data-` attributes and is settled there.
"""

import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_EMOJI: Final[dict[str, str]] = dict(
    re.findall(
        r"(\S+?)=(\S+)",
        "white_check_mark=✅ heavy_check_mark=✔️ x=❌ warning=⚠️ rotating_light=🚨 fire=🔥 rocket=🚀 eyes=👀 "
        "thumbsup=👍 +1=👍 thumbsdown=👎 -1=👎 tada=🎉 bell=🔔 no_bell=🔕 mag=🔍 hourglass=⌛ "
        "hourglass_flowing_sand=⏳ clock1=🕐 lock=🔒 unlock=🔓 key=🔑 gear=⚙️ wrench=🔧 hammer=🔨 bulb=💡 "
        "information_source=ℹ️ question=❓ exclamation=❗ no_entry=⛔ no_entry_sign=🚫 octagonal_sign=🛑 "
        "stop_sign=🛑 red_circle=🔴 large_yellow_circle=🟡 large_green_circle=🟢 large_blue_circle=🔵 "
        "white_circle=⚪ black_circle=⚫ chart_with_upwards_trend=📈 chart_with_downwards_trend=📉 bar_chart=📊 "
        "robot_face=🤖 wave=👋 pray=🙏 clap=👏 heart=❤️ smile=😄 slightly_smiling_face=🙂 thinking_face=🤔 "
        "memo=📝 pencil=📝 clipboard=📋 link=🔗 package=📦 calendar=📅 alarm_clock=⏰ stopwatch=⏱️ "
        "arrows_counterclockwise=🔄 repeat=🔁 arrow_right=➡️ arrow_up=⬆️ arrow_down=⬇️ "
        "arrow_forward=▶️ black_square_for_stop=⏹️ zap=⚡ bug=🐛 computer=💻 speech_balloon=💬 pushpin=📌 "
        "raised_hand=✋ point_right=👉 100=💯 sos=🆘 new=🆕 star=⭐ sparkles=✨ skull=💀 construction=🚧",
    )
)
_SHORTCODE: Final = re.compile(r":([a-z0-9_+\-]{1,40}):")
_BARE_LINK: Final = re.compile(r"https?://[^\s<>|`\"'，。；、）】》]+")
_TRAILING: Final = ".,;:!?)*_~"  # punctuation after an address is the sentence's
_FENCE: Final = re.compile(r"```(.*?)```", re.DOTALL)
_CODE: Final = re.compile(r"`([^`\n]+)`")
_TOKEN: Final = re.compile(r"<([^<>\n]+)>")
_ENTITY: Final = re.compile(r"&(amp|lt|gt);")
_QUOTED: Final = re.compile(r"(?:&gt;|>)(?!(?:&gt;|>)) ?(.*)")
_ID: Final = re.compile(r"[A-Z0-9]{2,20}\Z")
_MARKS: Final = {"*": "strong", "_": "em", "~": "del"}
_LINK_SCHEMES: Final = frozenset({"http", "https", "mailto"})


Names: TypeAlias = Mapping[str, str]
"""Names of people and channels by id, for mentions. An unknown id is shown as the id."""


def mrkdwn_html(text: str, names: Names) -> str:
    """Slack mrkdwn (with its three entities and `<…>` tokens) as an HTML fragment."""
    parts = _FENCE.split(text)
    rendered = []
    for index, part in enumerate(parts):
        if index % 2:
            rendered.append(code_block_html(_unescape(part.strip("\n"))))
            continue
        # The newline next to a fence belongs to the fence, else it shows as an empty line.
        if index:
            part = part.removeprefix("\n")
        if index < len(parts) - 1:
            part = part.removesuffix("\n")
        rendered.append(_lines_html(part, names))
    return "".join(rendered)


def plain_html(text: str) -> str:
    """A plain_text value: escaped, with `:short:` names of emoji turned into them."""
    return _SHORTCODE.sub(lambda found: _EMOJI.get(found[1], found[0]), escape(text))


def emoji(name: str) -> str:
    """The character of an emoji's short name, or `:name:` when it isn't in our small set."""
    return _EMOJI.get(name.split("::")[0], f":{name}:")


def code_block_html(code: str) -> str:
    """Literal text as a code block."""
    return f"<pre><code>{escape(code)}</code></pre>"


def link_html(url: str, label_html: str) -> str:
    """A link when its scheme is http, https or mailto, else only its label."""
    try:
        scheme = urlsplit(url).scheme.lower()
    except ValueError:
        return label_html
    if scheme not in _LINK_SCHEMES:
        return label_html
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{label_html}</a>'


def user_html(user_id: str, names: Names, fallback: str = "") -> str:
    """A mention of a person; the page marks the one that is its reader."""
    name = names.get(user_id) or fallback.removeprefix("@") or user_id
    return f'<span class="mention" data-user="{escape(user_id)}">@{escape(name)}</span>'


def channel_html(channel_id: str, names: Names, fallback: str = "") -> str:
    """A mention of a channel; the page opens it on a click."""
    name = names.get(channel_id) or fallback.removeprefix("#") or channel_id
    return f'<a class="channel-mention" href="#/{escape(channel_id)}">#{escape(name)}</a>'


def broadcast_html(range_: str) -> str:
    """`@here`, `@channel` or `@everyone`."""
    return f'<span class="mention broadcast">@{escape(range_)}</span>'


def date_html(timestamp: str, pattern: str, fallback: str) -> str:
    """A moment that the browser formats in its own zone by Slack's pattern (`{date_short} {time}`)."""
    try:
        moment = datetime.fromtimestamp(int(timestamp), UTC)
    except (ValueError, OverflowError, OSError):
        return escape(fallback or timestamp)
    shown = fallback or f"{moment:%Y-%m-%d %H:%M} UTC"
    return f'<time datetime="{moment.isoformat()}" data-format="{escape(pattern)}">{escape(shown)}</time>'


def _unescape(text: str) -> str:
    return _ENTITY.sub(lambda found: {"amp": "&", "lt": "<", "gt": ">"}[found[1]], text)


def _lines_html(text: str, names: Names) -> str:
    if not text:
        return ""
    out: list[str] = []
    quote: list[str] = []
    lines = text.split("\n")
    for index, line in enumerate(lines):
        for marker in ("&gt;&gt;&gt;", ">>>"):
            if line.startswith(marker):
                rest = "\n".join([line.removeprefix(marker), *lines[index + 1 :]])
                out.append(f"<blockquote>{_inline_lines(rest.strip(), names)}</blockquote>")
                return _join_lines(out)
        quoted = _QUOTED.fullmatch(line)
        if quoted:
            quote.append(_inline_html(quoted[1], names))
        if quote and (not quoted or index == len(lines) - 1):
            out.append(f"<blockquote>{'<br>'.join(quote)}</blockquote>")
            quote = []
        if not quoted:
            out.append(_inline_html(line, names))
    return _join_lines(out)


def _join_lines(lines: list[str]) -> str:
    joined = ""
    for index, line in enumerate(lines):
        beside_block = line.startswith("<blockquote>") or (
            index and lines[index - 1].startswith("<blockquote>")
        )
        joined += line if index == 0 or beside_block else f"<br>{line}"
    return joined


def _inline_lines(text: str, names: Names) -> str:
    return "<br>".join(_inline_html(line, names) for line in text.split("\n"))


@dataclass(frozen=True, slots=True)
class _Mark:
    character: str
    may_open: bool
    may_close: bool


def _inline_html(line: str, names: Names) -> str:
    """One line: code, tokens, bare links and text become pieces; then the marks between them are paired."""
    pieces: list[str | _Mark] = []
    plain_from = position = 0
    while position < len(line):
        character = line[position]
        html, end = "", position
        if character == "`" and (found := _CODE.match(line, position)):
            html, end = f"<code>{escape(_unescape(found[1]))}</code>", found.end()
        elif character == "<" and (found := _TOKEN.match(line, position)):
            html, end = token_html(found[1], names), found.end()
        elif character == "h" and (found := _BARE_LINK.match(line, position)):
            url = found[0].rstrip(_TRAILING)
            html, end = link_html(_unescape(url), escape(_unescape(url))), position + len(url)
        if html:
            pieces += [_text_html(line[plain_from:position]), html]
            position = plain_from = end
        elif character in _MARKS:
            pieces += [_text_html(line[plain_from:position]), _mark(line, position)]
            position += 1
            plain_from = position
        else:
            position += 1
    pieces.append(_text_html(line[plain_from:]))
    return _pair_marks(pieces)


def _text_html(text: str) -> str:
    return plain_html(_unescape(text))


def _mark(line: str, position: int) -> _Mark:
    before = line[position - 1] if position else " "
    after = line[position + 1] if position + 1 < len(line) else " "
    # A mark inside a word (`snake_case`, `3*4`) is text. Chinese characters count as letters, as they do in Slack.
    return _Mark(
        line[position],
        may_open=not before.isalnum() and not after.isspace(),
        may_close=not before.isspace() and not after.isalnum(),
    )


def _pair_marks(pieces: Sequence[str | _Mark]) -> str:
    out: list[str] = []
    open_at: MutableMapping[str, list[int]] = {character: [] for character in _MARKS}
    for piece in pieces:
        if isinstance(piece, str):
            out.append(piece)
            continue
        waiting = open_at[piece.character]
        if piece.may_close and waiting and "".join(out[waiting[-1] + 1 :]).strip():
            opened = waiting.pop()
            # Marks that were opened inside this pair and not closed there stay text: tags never cross.
            for others in open_at.values():
                while others and others[-1] > opened:
                    others.pop()
            out[opened] = f"<{_MARKS[piece.character]}>"
            out.append(f"</{_MARKS[piece.character]}>")
            continue
        if piece.may_open:
            waiting.append(len(out))
        out.append(piece.character)
    return "".join(out)


def token_html(token: str, names: Names) -> str:
    """The inside of a `<…>` token: mention, channel, broadcast, date or link."""
    target, _, label = token.partition("|")
    label = _unescape(label)
    if target.startswith("@") and _ID.match(target[1:]):
        return user_html(target[1:], names, label)
    if target.startswith("#") and _ID.match(target[1:]):
        return channel_html(target[1:], names, label)
    if target.startswith("!date^"):
        timestamp, pattern, link, *_ = [*target.split("^")[1:], "", "", ""]
        shown = date_html(timestamp, pattern, label)
        return link_html(_unescape(link), shown) if link else shown
    if target.startswith("!"):
        return broadcast_html(label.removeprefix("@") or target[1:].partition("^")[0])
    url = _unescape(target)
    linked = link_html(url, plain_html(label) if label else escape(url.removeprefix("mailto:")))
    return linked if linked.startswith("<a") else escape(f"<{_unescape(token)}>")


# --- standard Markdown ---------------------------------------------------------------------------------------


def markdown_html(text: str, names: Names) -> str:
    """Standard Markdown as Slack shows it: tables, strikethrough, line breaks kept, Slack's tokens understood."""
    return str(_MARKDOWN.render(text, {"names": names})).strip()


def _slack_token_rule(state: StateInline, silent: bool) -> bool:
    found = _TOKEN.match(state.src, state.pos)
    if not found or (found[1][0] not in "@#!" and "|" not in found[1]):
        return False
    if not silent:
        state.push("slack_token", "", 0).content = found[1]
    state.pos = found.end()
    return True


class _MarkdownRenderer(RendererHTML):
    """markdown-it's renderer, less what the page's content policy forbids: images, style attributes, any scheme."""

    def slack_token(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        html = token_html(tokens[idx].content, env["names"])
        return escape(tokens[idx].content) if env.get("in_link") and html.startswith("<a") else html

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return plain_html(tokens[idx].content) if env.get("in_link") else _linked_html(tokens[idx].content)

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        source = str(tokens[idx].attrGet("src") or "")
        label = escape(tokens[idx].content or source)
        return label if env.get("in_link") else link_html(source, label)

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        href = str(token.attrGet("href") or "")
        env["in_link"] = bool(href)  # `[text]()` goes nowhere, so it is text
        if not href:
            return ""
        token.attrs = {"href": href, "target": "_blank", "rel": "noopener noreferrer"}
        return self.renderToken(tokens, idx, options, env)

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        was_in_link, env["in_link"] = env["in_link"], False
        if not was_in_link:
            return ""
        return self.renderToken(tokens, idx, options, env)

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        info = tokens[idx].info.split()
        language = f' data-language="{escapeHtml(info[0])}"' if info else ""
        return f"<pre{language}><code>{escapeHtml(tokens[idx].content)}</code></pre>"

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return code_block_html(tokens[idx].content)

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _cell_open(tokens[idx])

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _cell_open(tokens[idx])


def _linked_html(text: str) -> str:
    """Text with its bare web addresses made links."""
    out, position = [], 0
    for found in _BARE_LINK.finditer(text):
        url = found[0].rstrip(_TRAILING)
        out += [plain_html(text[position : found.start()]), link_html(url, escape(url))]
        position = found.start() + len(url)
    return "".join([*out, plain_html(text[position:])])


def _cell_open(token: Token) -> str:
    style = str(token.attrGet("style") or "")
    align = style.removeprefix("text-align:")
    return f'<{token.tag} data-align="{align}">' if align in {"left", "center", "right"} else f"<{token.tag}>"


def _valid_link(url: str) -> bool:
    try:
        return urlsplit(url).scheme.lower() in _LINK_SCHEMES
    except ValueError:
        return False


def _markdown_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_MarkdownRenderer)
    parser.enable(["table", "strikethrough"])
    parser.inline.ruler.before("autolink", "slack_token", _slack_token_rule)
    parser.validateLink = _valid_link  # type: ignore[method-assign]  # the documented way to restrict schemes
    return parser


_MARKDOWN: Final = _markdown_parser()
