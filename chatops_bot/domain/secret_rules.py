"""What secrets look like: one table, a row a kind.

A row is looked at only where one of its hints stands, in whatever case, so text without hints costs one search. Each pattern
takes time linear in the text, tried at every place of its hints: what an unbounded repetition runs over holds no further
hint of its row that could begin anew and fail, or the row begins behind what it matched. Word borders are ASCII: a token
right behind a Chinese character is a token all the same.

Seen letter by letter, as a text that streams is seen, a row either matches from its first character of value on, or the
value is one run of visible ASCII, which nobody is shown before it has ended (`redaction.held_back`).

Sources of shapes: what each provider documents; where it documents none, its tokens.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from chatops_bot.domain.literals import tree

_BORDER = "(?<![A-Za-z0-9])"
_ALNUM, _WORD, _B64, _HEX = "[A-Za-z0-9]", "[A-Za-z0-9_]", "[A-Za-z0-9_-]", "[0-9a-f]"

PEM_CHARS = 16_384
"""No private key in use is longer (RSA of 16,384 bits: 12,700 characters); where its end is missing, this much is hidden."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret. `hints` are in lower case. The pattern hides its group `v`, or all of it where it has none.

    It is tried where a hint stands and `follows`, a pattern for the text in lower case, comes behind it, so that a word which
    ordinary text is full of costs little; or, `anywhere`, over the whole text once such a hint stands somewhere.
    """

    label: str
    hints: tuple[str, ...]
    source: str
    follows: str = ""
    anywhere: bool = False
    any_case: bool = False

    @property
    def guards(self) -> Iterator[tuple[str, str]]:
        """Each hint with what must stand around it, in lower case."""
        bordered = self.source.startswith(_BORDER)
        for hint in self.hints:
            yield hint, (f"(?<![a-z0-9]{re.escape(hint)})" if bordered else "") + self.follows

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first needed: all of them together would be felt at every start."""
        return _compiled(self.source, re.ASCII | (re.IGNORECASE if self.any_case else re.NOFLAG))


@cache
def _compiled(source: str, flags: re.RegexFlag) -> re.Pattern[str]:
    return re.compile(source, flags)


def _rule(
    label: str, hints: str | tuple[str, ...], source: str, follows: str = "", *, anywhere: bool = False, any_case: bool = False
) -> Rule:  # fmt: skip
    """A row; `hints` in one string are parted by spaces."""
    words = tuple(hints.split()) if isinstance(hints, str) else hints
    return Rule(label, words, source, follows, anywhere, any_case)


def _token(label: str, prefixes: str, characters: str, at_least: int) -> Rule:
    """A token with a beginning of its own; `prefixes` are parted by spaces."""
    found = "|".join(map(re.escape, prefixes.split()))
    many = f"{{{at_least}}}"
    return _rule(
        label,
        prefixes.lower(),
        f"{_BORDER}(?:{found}){characters}{many}{characters}*+",
        characters.lower() + many,
    )


def _spellings(words: Iterable[str]) -> Iterator[str]:
    """`api key` as it is, and as api_key, api-key, apikey."""
    for word in words:
        yield from dict.fromkeys(mark.join(word.split()) for mark in (" ", "_", "-", ""))


_PASSWORD_LABELS = tuple(_spellings((
    "password", "passwd", "passphrase", "pass phrase", "secret", "secret key", "secret access key", "client secret", "app secret",
    "api key", "app key", "application key", "access key", "private key", "account key", "shared access key", "encryption key",
    "signing key", "signing secret", "master key", "license key", "integration key", "routing key", "service key", "genie key",
    "access key secret", "secret id", "client key data", "auth token", "access token", "refresh token", "session token",
    "security token", "bot token", "bearer token", "api token", "deploy token", "webhook token", "credentials",
)))  # fmt: skip
_CHINESE_LABELS = ("密码", "密钥", "口令", "令牌", "私钥", "秘钥")
_QUOTE = r"\\*[\"']"
_SEPARATOR = rf"(?:{_QUOTE})?+\]?\s*+(?::=|=>|[:=：＝])\s*+"  # the wide signs that Chinese text puts there
_NOT_YET_REDACTED = r"(?!\\*[\"']?\[redacted|\\*[\"']?-----BEGIN)"
_VALUE = (
    r"(?:\"(?P<quoted>(?:[^\"\\\r\n]|\\[^\r\n]){6,}+)|\\++\"(?P<nested>(?:[^\"\\\r\n]|\\++[^\\\r\n\"]){6,}+)"
    r"|\\*+'(?P<single>[^'\r\n]{6,}+)|(?P<bare>[^\s\"',;&]{6,}+))"
)
"""What is assigned: in quotes, in the quotes of JSON inside JSON, or one run of characters."""


def _assigned(labels: Iterable[str], before: str = "", value: str = _VALUE) -> str:
    return rf"{before}{tree(dict.fromkeys(labels, _SEPARATOR))}{_NOT_YET_REDACTED}{value}"


_ASSIGNS = r"[\\\"'\]]*+\s*+(?:=>|[:=：＝])"
_HAS_AT = r"[^\s/@\"'<>]*+@"
_SCHEMES = (
    "bearer|token|bot|apikey|api-key|key|digest|negotiate|ntlm|hawk|splunk|geniekey|pass|aws4-hmac-sha256"
)


def _authorization(schemes: str) -> str:
    return (
        rf"authorization(?:{_QUOTE})?+\s*+[:=]\s*+(?:{_QUOTE})?+(?:{schemes})\s++"
        r"(?!\[redacted)(?P<v>[^\s\"'\\,;]{8,}+)"
    )


RULES: tuple[Rule, ...] = (
    _rule("private-key", "-----begin",
          r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
          rf"(?:(?:[^-]{{1,32}}+|-(?!----END )){{0,{PEM_CHARS // 32}}}+-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----|[\s\S]{{0,{PEM_CHARS}}}+)"),
    # What a cut has left of one: whole lines of it, and its end. The lines before are gone over once a run of them.
    _rule("private-key", "-----end", r"(?<![A-Za-z0-9+/=\r\n])(?P<v>(?:[A-Za-z0-9+/=]{1,80}+\r?\n)++)-----END [A-Z0-9 ]{0,40}PRIVATE KEY", anywhere=True),
    _rule("putty-key", "private-lines:", r"Private-Lines: \d{1,4}\r?\n(?P<v>(?:[A-Za-z0-9+/=]{1,80}+(?:\r?\n|\Z)){1,200}+)"),
    _token("age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]", 40),
    _rule("slack-token", "xox xapp- xwfp-", rf"{_BORDER}x(?:ox[abeoprs]|app|wfp)-[A-Za-z0-9.-]{{8,}}+", "[a-z0-9.-]{8}"),
    _rule("slack-webhook", "https://hooks.slack", r"https://hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{10,}+"),
    _rule("discord-webhook", "discord.com/api/ discordapp.com/api/", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{5,25}/[A-Za-z0-9_-]{20,}+"),
    _rule("teams-webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{20,}+"),
    _rule("feishu-webhook", "/open-apis/bot/", r"/open-apis/bot/(?:v2/)?hook/(?P<v>[A-Za-z0-9-]{16,}+)"),
    _rule("wecom-webhook", "/cgi-bin/webhook/", r"/cgi-bin/webhook/(?:send|upload_media)\?key=(?P<v>[A-Za-z0-9-]{16,}+)"),
    _rule("telegram-token", ":aa", r"(?<=\d{8}):AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])", "[a-z0-9_-]{32}"),
    _token("model-key", "sk-", _B64, 16),
    _token("model-key", "gsk_ xai- pplx- r8_ lsv2_pt_ lsv2_sk_", _WORD, 24),
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", _WORD, 20),
    _token("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- GR1348941", "[A-Za-z0-9_.-]", 16),
    _rule("aws-key", "akia asia abia acca", rf"{_BORDER}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}(?![A-Za-z0-9])", "[a-z0-9]{16}"),
    _rule("aws-secret", "akia asia", rf"{_BORDER}(?:AKIA|ASIA)[A-Z0-9]{{16}}[\s,:;|\"']{{1,8}}(?P<v>[A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])", "[a-z0-9]{16}"),
    _token("google-key", "AIza", _B64, 30),
    _token("google-token", "ya29. GOCSPX- 1//0", "[A-Za-z0-9_./-]", 20),
    _rule("azure-signature", "sig=", r"(?<![A-Za-z0-9])sig=(?P<v>[A-Za-z0-9%+/=_-]{20,}+)", "[a-z0-9%+/=_-]{20}"),
    _rule("url-signature", "signature=", r"(?i:signature)=(?P<v>[A-Za-z0-9%+/=_-]{20,}+)", "[a-z0-9%+/=_-]{20}"),
    _rule("azure-secret", "8q~", r"8Q~[A-Za-z0-9~_.-]{31,}+", "[a-z0-9~_.-]{31}"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", _HEX, 32),
    _token("alibaba-key", "LTAI", _ALNUM, 12),
    _token("tencent-key", "AKID", _ALNUM, 28),
    _token("volcengine-key", "AKLT", _ALNUM, 28),
    _token("grafana-token", "glsa_ glc_ eyJrIjoi", "[A-Za-z0-9_=+/-]", 20),
    _token("newrelic-key", "NRAK- NRII- NRJS-", _B64, 20),
    _token("datadog-key", "ddp_ pub_dd", _ALNUM, 24),
    _token("sentry-token", "sntrys_ sntryu_", "[A-Za-z0-9_=+/-]", 32),
    _rule("sentry-dsn", "://", r"://(?P<v>[0-9a-f]{32}(?::[0-9a-f]{32})?)@", _HAS_AT),
    _token("package-token", "npm_ rubygems_ CLOJARS_", _ALNUM, 30),
    _token("pypi-token", "pypi-AgE", _B64, 30),
    _token("docker-token", "dckr_pat_ dckr_oat_", _B64, 20),
    _rule("docker-auth", '"auth"', r'"auth"\s*+:\s*+"(?P<v>[A-Za-z0-9+/=]{12,}+)"'),
    _token("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", "[A-Za-z0-9+/=]", 16),
    _rule("twilio-key", " ".join(f"sk{digit}" for digit in "0123456789abcdef"), rf"{_BORDER}SK[0-9a-f]{{32}}(?![A-Za-z0-9])", "[0-9a-f]{31}"),
    _rule("sendgrid-key", "sg.", rf"{_BORDER}SG\.{_B64}{{16,64}}+\.{_B64}{{16,}}+", "[a-z0-9_-]{16}"),
    _rule("mailgun-key", "key-", rf"{_BORDER}key-[0-9a-f]{{32}}(?![A-Za-z0-9])", "[0-9a-f]{32}"),
    _token("brevo-key", "xkeysib- xsmtpsib-", _B64, 32),
    _token("vault-token", "hvs. hvb. hvr.", _B64, 20),
    _rule("terraform-token", ".atlasv1.", r"\.atlasv1\.[A-Za-z0-9_=-]{40,}+"),
    _token("heroku-key", "HRKU-", _B64, 30),
    _token("huggingface-token", "hf_ api_org_", _ALNUM, 30),
    _token("databricks-token", "dapi", _HEX, 32),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_", "[A-Fa-f0-9]", 32),
    _token("square-token", "sq0atp- sq0csp- sq0idp- EAAAl EAAAE", _B64, 22),
    _token("atlassian-token", "ATATT3x ATCTT3x ATBB", "[A-Za-z0-9_=-]", 24),
    _token("linear-key", "lin_api_ lin_oauth_", _ALNUM, 32),
    _token("notion-token", "ntn_ secret_", _ALNUM, 40),
    _token("cloud-token", "pscale_tkn_ pscale_pw_ pscale_oauth_ dp.pt. dp.st. sbp_ pul- rnd_ nfp_ tskey-auth- tskey-api- tskey-client- fo1_", "[A-Za-z0-9_.-]", 30),
    _token("build-token", "CCIPAT_ CCIPRJ_ bkua_ squ_ sqp_ sqa_ pnu_ sgp_ figd_ PMAK- dt0c01. dt0s01. CFPAT-", "[A-Za-z0-9_.-]", 30),
    # The whole shape is looked for once per run of characters; only then where in its first part the token begins.
    _rule("jwt", "eyj", rf"(?<!{_B64})(?={_B64}*+\.eyJ{_B64}{{8,}}+\.{_B64}{{8}})(?:{_B64}*?[_-])??(?P<v>eyJ{_B64}{{8,}}+\.{_B64}++\.{_B64}++)", anywhere=True),
    _rule("bearer", "bearer", r"bearer\s{1,4}+(?P<v>(?=[A-Z._~+/=-]*+[0-9])[A-Z0-9._~+/=-]{12,}+)", r"\s{1,4}+[a-z0-9._~+/=-]{12}", any_case=True),
    _rule("basic", "authorization", _authorization("basic"), _ASSIGNS, any_case=True),
    _rule("authorization", "authorization", _authorization(_SCHEMES), _ASSIGNS, any_case=True),
    _rule("cookie", "cookie", rf"cookie2?(?:{_QUOTE})?+\s*+[:=]\s*+(?:{_QUOTE})?+(?P<v>[A-Z0-9!#$%&*+.^_`|~-]{{1,64}}+=[^\r\n\"'\\]{{4,}}+)", f"2?{_ASSIGNS}", any_case=True),
    _rule("fence", "nonce=", r"nonce=(?P<v>[0-9a-f]{32})", "[0-9a-f]{32}"),  # a nonce that a model repeats is no use to anybody who reads it
    _rule("url-password", "://", r"://(?!\[redacted)(?P<v>[!#-&(-.0-9;=?A-Z\[\]^_a-z{-~]*+:[!#-&(-.0-;=?-\[\]^_a-z{-~]+)(?=@)", _HAS_AT),
    _rule("password", "--pass", r"--pass(?:word|wd|phrase)?[= ]+[\"']?(?!\[redacted)(?P<v>[^\s\"'-][^\s\"']{3,}+)", "[a-z]{0,6}[= ]"),
    _rule("password", "mysql", r"mysql(?:(?!mysql)[^\n|;]){0,200}?\s(?:-p|MYSQL_PWD=)(?P<v>[^\s\"']{4,}+)", r"[a-z]{0,8}\s"),
    _rule("password", "curl", r"curl(?:(?!curl)[^\n|;]){0,400}?\s(?:-u|--user)[= ]?[\"']?[^\s:\"']{1,64}+:(?P<v>[^\s\"']{3,}+)", r"(?:\.exe)?\s"),
    _rule("password", "redis-cli", r"redis-cli(?:(?!redis-cli)[^\n|;]){0,200}?\s-a[= ][\"']?(?P<v>[^\s\"']{4,}+)", r"\s"),
    _rule("password", "identified", r"identified\s{1,4}by\s{1,4}[\"'](?P<v>[^\r\n\"']{4,}+)", any_case=True),
    _rule("password", "machine", r"machine\s{1,8}\S{1,255}+\s{1,8}login\s{1,8}\S{1,255}+\s{1,8}password\s{1,8}(?P<v>\S++)", r"\s{1,8}\S{1,255}+\s{1,8}login\s"),
    _rule("password", ":5432: :6432: :*:", r":(?:5432|6432|\*):[^:\s]{1,64}+:[^:\s]{1,64}+:(?P<v>\S{4,}+)", r"[^:\s]{1,64}+:[^:\s]{1,64}+:\S"),
    _rule("assigned-secret", _PASSWORD_LABELS, _assigned(_PASSWORD_LABELS), _ASSIGNS, any_case=True),
    _rule("assigned-secret", "pwd", _assigned(["pwd"], f"(?:{_BORDER}|(?-i:(?<=[a-z])(?=P)))", r"(?![\"']?[/~])" + _VALUE), _ASSIGNS, any_case=True),
    _rule("assigned-secret", "token", _assigned(["token"], "(?<!next_)(?<!page_)(?<!Next)", r"[\"']?(?P<v>(?=[A-Z_.-]*+[0-9])[A-Z0-9_.=-]{20,}+)"), _ASSIGNS, any_case=True),
    _rule("assigned-secret", _CHINESE_LABELS, rf"(?:{'|'.join(_CHINESE_LABELS)})\s*+(?:[:=：＝是为]|是：|为：)\s*+{_NOT_YET_REDACTED}[\"'“`]?(?P<v>[!-~]{{6,}}+)", r"\s*+[:=：＝是为]"),
)  # fmt: skip
