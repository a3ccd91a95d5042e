"""The table of secrets, row by row: a secret that each row finds, and something like it that no row may touch."""

from functools import partial
from time import process_time

import pytest

from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.secret_rules import PEM_CHARS, RULES
from tests.timing import FACTOR, ratio

HEX32, ALNUM40 = "0123456789abcdef" * 2, "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6kL9n"
WORDS = "only words and no token at all"


# A bar parts what a scanner of source code would take for a live secret. Each: label, text, the value that must go, near miss.
ROWS = [
    ("private-key", "-----BEGIN OPENSSH PRI|VATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRI|VATE KEY-----", "b3BlbnNzaC1r", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"),
    ("private-key", "-----BEGIN PGP PRI|VATE KEY BLOCK-----\n\nlQOYBF\n-----END PGP PRI|VATE KEY BLOCK-----", "lQOYBF", "-----BEGIN PUBLIC KEY-----"),
    ("private-key", r'{"private_key": "-----BEGIN PRI|VATE KEY-----\nMIIEvQ\n-----END PRI|VATE KEY-----\n"}', "MIIEvQ", "private_key.pem was not found"),
    ("putty-key", "Private-Lines: 2\nAAAAgQCabc\nzzzz0123456=\nPrivate-MAC: 00", "AAAAgQCabc\nzzzz0123456=", "Private-Lines: none"),
    ("age-key", "AGE-SECRET|-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", "age1qpzry9x8gf2tvdw0"),
    ("slack-token", "xo|xb-123456789012-abcdEFGH", "abcdEFGH", "xoxb-short"),
    ("slack-token", "xo|xe.xo|xp-1-Mi0yLTEyMzQ1Njc4OTA", "Mi0yLTEyMzQ1Njc4OTA", "the xox family of tokens"),
    ("slack-token", "xa|pp-1-A123-456-abcdef", "A123-456", "xapp-1"),
    ("slack-token", "xw|fp-1234567890-abc", "1234567890", "xwfp-token"),
    ("slack-webhook", "https://hooks.sl|ack.com/services/T000/B000/XXXXXXXX", "T000/B000/XXXXXXXX", "https://slack.com/services/help"),
    ("discord-webhook", "https://disc|ord.com/api/webhooks/123456789012345678/" + ALNUM40, ALNUM40, "https://discord.com/api/v10/gateway"),
    ("teams-webhook", "https://acme.webhook.off|ice.com/webhookb2/0123-4567@89ab/IncomingWebhook/cdef", "0123-4567", "https://acme.webhook.office.com/help"),
    ("feishu-webhook", "https://open.feishu.cn/open-apis/bot/v2/hook/|01234567-89ab-cdef-0123-456789abcdef", "01234567-89ab", "https://open.feishu.cn/open-apis/bot/v2/hook/"),
    ("wecom-webhook", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=|01234567-89ab-cdef", "01234567-89ab-cdef", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send"),
    ("telegram-token", "api.telegram.org/bot123456789:A|A" + ALNUM40[:33] + "/getMe", ALNUM40[:33], "at 12:34:56:AAPL rose"),
    ("model-key", "sk|-ant-api03-" + ALNUM40, ALNUM40, "the task-scheduling-service-of-acme"),
    ("model-key", "gsk|_" + ALNUM40, ALNUM40, "xai-team"),
    ("github-token", "gh|p_" + ALNUM40, ALNUM40, "ghp_short"),
    ("github-token", "github|_pat_11ABCDE0" + ALNUM40, ALNUM40, "github_patch_release"),
    ("gitlab-token", "gl|cbt-64_" + ALNUM40[:20], ALNUM40[:20], "glpat-…"),
    ("aws-key", "AK|IAIOSFODNN7EXAMPLE", "IOSFODNN7", "the timezone is ASIA/SHANGHAI"),
    ("aws-secret", "AK|IAIOSFODNN7EXAMPLE," + ALNUM40, ALNUM40, f"commit {HEX32}01234567"),
    ("google-key", "AI|zaSy" + ALNUM40[:33], ALNUM40[:33], "AIzawa is a name"),
    ("google-token", "ya|29." + ALNUM40, ALNUM40, "ya29.short"),
    ("azure-signature", "https://a.blob.core.windows.net/c?sv=2020&sig=|aBcD%2FeFgHiJkLmNoPqRsTuVwXyZ0%3D", "eFgHiJkLmNoPq", "sig=SIGTERM"),
    ("url-signature", "https://s3.amazonaws.com/b?X-Amz-Signature=|" + HEX32 * 2, HEX32, "signature=invalid"),
    ("azure-secret", "abc8|Q~" + ALNUM40[:34], ALNUM40[:34], "8Q~x"),
    ("digitalocean-token", "dop|_v1_" + HEX32 * 2, HEX32, "dop_v1_ tokens"),
    ("alibaba-key", "LT|AI5tAbCdEfGhIjKl", "5tAbCdEfGhIjKl", "LTAI keys"),
    ("tencent-key", "AK|ID" + ALNUM40[:32], ALNUM40[:32], "AKID keys"),
    ("volcengine-key", "AK|LT" + ALNUM40, ALNUM40, "AKLT keys"),
    ("grafana-token", "gl|sa_" + ALNUM40[:32] + "_0a1b2c3d", ALNUM40[:32], "glsa_token"),
    ("newrelic-key", "NR|AK-" + ALNUM40[:27], ALNUM40[:27], "NRAK-key"),
    ("datadog-key", "dd|p_" + ALNUM40, ALNUM40, "ddp_server"),
    ("sentry-token", "sn|trys_eyJpYXQiOjE2" + ALNUM40, ALNUM40, "sntrys_token"),
    ("sentry-dsn", f"https://{HEX32}@o42.ingest.sentry.io/1", HEX32, "https://user@o42.ingest.sentry.io/1"),
    ("package-token", "npm|_" + ALNUM40, ALNUM40, "npm_config_registry"),
    ("pypi-token", "pyp|i-AgEIcHlwaS5vcmc" + ALNUM40, ALNUM40, "pypi-AgE"),
    ("docker-token", "dckr|_pat_" + ALNUM40[:27], ALNUM40[:27], "dckr_pat_short"),
    ("docker-auth", '{"auths": {"r.io": {"auth": "|dXNlcjpwYXNzd29yZA=="}}}', "dXNlcjpwYXNz", '{"auth": "none"}'),
    ("stripe-key", "sk|_live_" + ALNUM40[:24], ALNUM40[:24], "sk_live_mode"),
    ("stripe-key", "wh|sec_" + ALNUM40[:32], ALNUM40[:32], "whsec_"),
    ("twilio-key", "S|K" + HEX32, HEX32, f"TASK{HEX32}"),
    ("sendgrid-key", "S|G." + ALNUM40[:22] + "." + ALNUM40, ALNUM40, "MSG.template.name"),
    ("mailgun-key", "ke|y-" + HEX32, HEX32, "key-value"),
    ("brevo-key", "xkeys|ib-" + HEX32 * 2, HEX32, "xkeysib-"),
    ("vault-token", "hv|s." + ALNUM40, ALNUM40, "hvs.token"),
    ("terraform-token", "aBcDeFgHiJkLmN.atlas|v1." + ALNUM40 * 2, ALNUM40, "x.atlasv1.short"),
    ("heroku-key", "HRK|U-" + ALNUM40, ALNUM40, "HRKU-key"),
    ("huggingface-token", "hf|_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH", "aBcDeFgHiJkLmNoPqRs", "hf_hub_download"),
    ("databricks-token", "da|pi" + HEX32, HEX32, "dapi is a prefix"),
    ("shopify-token", "shp|at_" + HEX32, HEX32, "shpat_"),
    ("square-token", "sq0|atp-" + ALNUM40[:22], ALNUM40[:22], "sq0atp-"),
    ("atlassian-token", "ATA|TT3xFfGF0" + ALNUM40, ALNUM40, "ATATT3x"),
    ("linear-key", "lin|_api_" + ALNUM40, ALNUM40, "lin_api_key"),
    ("notion-token", "nt|n_" + ALNUM40, ALNUM40, "ntn_"),
    ("cloud-token", "tskey|-auth-" + ALNUM40, ALNUM40, "tskey-auth-"),
    ("build-token", "squ|_" + ALNUM40, ALNUM40, "squ_id"),
    ("jwt", "jwt ey|JhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "eyJzdWIiOiIx", "eyJhbGciOiJI alone"),
    ("bearer", "bearer |abcdef0123456789", "abcdef0123456789", "bearer authentication is on"),
    ("basic", "Authorization: Basic |dXNlcjpwYXNz", "dXNlcjpwYXNz", "authorization: basically none"),
    ("authorization", "Authorization: GenieKey |eb243592-faa2", "eb243592-faa2", "authorization: denied immediately"),
    ("cookie", "Set-Cookie: sid=|s%3AabcDEF.123; Path=/; HttpOnly", "s%3AabcDEF.123", "cookie: consent was not given"),
    ("fence", f"[UNTRUSTED DATA nonce={HEX32}", HEX32, "nonce=42"),
    ("url-password", "redis://:|s3cr3tpw@cache:6379/0", "s3cr3tpw", '{"url":"http://h:8080","owner":"bob@x.com"}'),
    ("url-password", "postgres://app:|s3@cr3tpw@db:5432/x", "cr3tpw", "http://127.0.0.1:8321/api/"),
    ("password", "deploy --password |hunter2hunter2", "hunter2hunter2", "deploy --password-file x"),
    ("password", "mysql -h db -u root -p|hunter2 -e 'select 1'", "hunter2", "ssh -p2222 db"),
    ("password", "curl -s -u admin:|hunter2 http://h", "hunter2", "curl -s http://h:80"),
    ("password", "redis-cli -h cache -a |hunter2", "hunter2", "ls -a folder"),
    ("password", "CREATE USER a IDENTIFIED BY '|hunter2'", "hunter2", "identified by its name"),
    ("password", "machine h login me password |hunter2", "hunter2", "machine learning page with a password prompt"),
    ("password", "db.acme:5432:orders:app:|hunter2", "hunter2", "db.acme:5432 refused"),
    ("assigned-secret", "PASSWORD=|correcthorse", "correcthorse", "password reset was asked for"),
    ("assigned-secret", 'password: "|correct horse"', "correct horse", "password: none"),
    ("assigned-secret", r'{"password": "|pa\"ssword9"}', 'ssword9"'[:-1], "the secret is patience"),
    ("assigned-secret", r'"{\"password\":\"|hunter22\",\"a\":1}"', "hunter22", "secretName: my-tls-cert"),
    ("assigned-secret", "DefaultEndpointsProtocol=https;AccountKey=|" + ALNUM40, ALNUM40, "the API key: see wiki"),
    ("assigned-secret", "DD_API_KEY=|" + HEX32, HEX32, "api_keys: 3"),
    ("assigned-secret", "dbPwd=|hunter22x", "hunter22x", "PWD=/srv/deploy/app"),
    ("assigned-secret", "VAULT_TOKEN=|s.a1b2c3d4e5f6g7h8i9j0", "a1b2c3d4e5f6g7h8i9j0", "next_token=a1b2c3d4e5f6g7h8i9j0k1"),
    ("assigned-secret", "https://oapi.dingtalk.com/robot/send?access_token=|" + HEX32, HEX32, "access_token missing"),
    ("assigned-secret", "    client-key-data: |LS0tLS1CRUdJTiBSU0E", "LS0tLS1CRUdJ", "client-key: /etc/x"),
    ("assigned-secret", "数据库密码：|hunter2!", "hunter2!", "密码：请联系管理员重置"),
    ("assigned-secret", "令牌是|hunter2!abc", "hunter2!abc", "密钥 轮换 完成"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "text", "value", "near_miss"), ROWS, ids=[f"{n}-{row[0]}" for n, row in enumerate(ROWS)]
)
def test_each_row_hides_its_secret_and_leaves_what_only_looks_like_it(
    label: str, text: str, value: str, near_miss: str
):
    text, redactor = text.replace("|", ""), Redactor()
    shown = redactor.text(text)
    assert value not in shown
    assert ("[redacted]" if label == "assigned-secret" else f"[redacted:{label}]") in shown
    assert redactor.text(shown) == shown
    assert redactor.text(near_miss) == near_miss


def test_every_row_has_its_sample():
    assert {rule.label for rule in RULES} == {label for label, *_ in ROWS}
    assert len(RULES) >= 60


def test_hints_are_in_lower_case_and_begin_where_their_pattern_may():
    for rule in RULES:
        assert all(hint == hint.lower() and len(hint) > 1 for hint in rule.hints), rule.label


@pytest.mark.parametrize("row", ROWS, ids=[f"{n}-{row[0]}" for n, row in enumerate(ROWS)])
def test_a_secret_is_found_wherever_it_stands(row: tuple[str, str, str, str]):
    _, text, value, _ = row
    for around in ("{}", "log: {} end", "令牌{}。", "x\n{}\ny", *([] if '"' in text else ['{{"k":"{}"}}'])):
        assert value not in Redactor().text(around.format(text.replace("|", ""))), around


def test_the_end_of_a_private_key_is_known_without_its_beginning():
    text = "cut\nMIIEvQIBADANBgkq\nAAAA=\n-----END PRIVATE KEY-----\nafter"
    assert Redactor().text(text) == "[redacted:private-key]-----END PRIVATE KEY-----\nafter"


def test_a_private_key_without_its_end_hides_no_more_than_a_key_is_long():
    text = "-----BEGIN PRIVATE KEY-----" + "a" * PEM_CHARS + "after"
    assert Redactor().text(text) == "[redacted:private-key]after"


HOSTILE = (
    "a\n",
    "a\n-----END ",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY----",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN " + "PRIVATE KEY " * 800,
    "xoxb-",
    "xoxb-1234567 ",
    "xapp-",
    "https://hooks.slack.com/services/",
    "https://hooks.slack.com/services/a ",
    "sk-",
    "ghp_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "AKIA0123456789ABCDEFA ",
    "AIza-",
    "glsa_=",
    "npm_",
    "npm_a-",
    "eyJ-",
    "eyJ",
    "eyJaaaaaaaa.",
    "eyJaaaaaaaa.eyJ-",
    "a-" * 5_000 + ".eyJaaaaaaaa.aaaaaaaa",
    "eyJ-" * 2_500 + ".eyJaaaaaaaa.aaaaaaa",
    "-eyJ" * 2_500 + ".eyJaaaaaaaa.aaaaaaaa",
    "eyJ" + "a-eyJ" * 800 + ".",
    ".eyJaaaaaaaa.eyJaaaaaaaa",
    "bearer ",
    "Bearer a-",
    "authorization",
    "authorization: basic ",
    "authorization:" + " " * 5_000,
    "authorization: basic" + " " * 5_000,
    "nonce=",
    "nonce=" + "a" * 31 + "-",
    "://",
    "://a:b",
    "://" + "a" * 5_000,
    "://a:" + "b" * 5_000,
    "://:::::",
    "password",
    "password=",
    "password" + " " * 5_000,
    "password=" + " " * 5_000,
    "api_key=short;",
    "tr0ub4dor",
)
"""Where a pattern could be tricked into going over the same characters again and again."""


QUICK_SECONDS = 0.015
"""For 12,000 characters: 1 MB/s. What goes over them once for each of them takes 70 ms at the very least."""


def seconds(text: str) -> float:
    start = process_time()
    Redactor().text(text)
    return process_time() - start


def pieces() -> list[str]:
    """What an attacker would repeat: hints, whole secrets, secrets less their last part, and the tricks above."""
    hints = [hint for rule in RULES for hint in rule.hints[:6]]
    texts = [text.replace("|", "") for _, text, _, _ in ROWS]
    halves = [text[: len(text) // 2] for text in texts]
    return sorted(
        {
            *hints,
            *(f"{hint}-" for hint in hints),
            *texts,
            *halves,
            *(f"{text[:-1]} " for text in texts),
            *HOSTILE,
        }
    )


def _redact_head(redactor: Redactor, text: str, size: int) -> str:
    return redactor.text(text[:size])


@pytest.mark.soak
def test_no_text_makes_redaction_slower_than_its_length(soak: int):
    redactor = Redactor(["tr0ub4dor&3"])
    for piece in pieces():
        many = piece * (12_000 * soak // len(piece) + 1)
        if seconds(many[: FACTOR * 2_000 * soak]) < QUICK_SECONDS * soak:
            continue
        grown = ratio(partial(_redact_head, redactor, many), 2_000 * soak)
        assert grown < 2.5 * FACTOR, piece
