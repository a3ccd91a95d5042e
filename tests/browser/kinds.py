"""One message of each kind that a bot may post, so that a person can look at all of them: the bodies, by name."""

from typing import Any

from chatops_bot.simulators.slack.server import Workspace

Json = dict[str, Any]

LONG_WORD = "registry.internal.example/" + "very-long-image-name-" * 12 + "latest"
LOG = "\n".join(
    f"2026-03-02T02:1{n}:07Z ERROR payments.worker connection to db-primary-{n} refused after {n}00 ms "
    for n in range(8)
)


def channel_of(workspace: Workspace, name: str = "incidents") -> str:
    return next(channel.id for channel in workspace.identity.channels if channel.name == name)


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def options(*labels: str) -> list[Json]:
    return [{"text": plain(label), "value": label.lower()} for label in labels]


def button(action_id: str, label: str, **more: Any) -> Json:
    return {"type": "button", "action_id": action_id, "text": plain(label), "value": "v1", **more}


def field(block_id: str, label: str, element: Json, **more: Any) -> Json:
    return {"type": "input", "block_id": block_id, "label": plain(label), "element": element, **more}


def context(*texts: str) -> Json:
    return {"type": "context", "elements": [mrkdwn(text) for text in texts]}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def card(state: str, *more: Json) -> list[Json]:
    """A proposal's card as the bot draws it: what would change, who asks, and the state it is in."""
    return [
        {
            "type": "section",
            "text": mrkdwn("*Pause task* `nightly-backup` — it fails every night since Monday"),
        },
        {
            "type": "section",
            "fields": [mrkdwn("*Status*\nactive → paused"), mrkdwn("*Next run*\ntomorrow 02:00 → none")],
        },
        context(f"P-17 · asked by Oscar · {state}"),
        *more,
    ]


ENVIRONMENTS = options("Development", "Staging", "Production")
REGIONS = options("eu-west-1", "eu-central-1", "us-east-1", "us-west-2", "ap-northeast-1", "ap-southeast-2")
GROUPS: list[Json] = [
    {"label": plain("Payments"), "options": options("nightly-backup", "settle-invoices", "charge-cards")},
    {"label": plain("Reports"), "options": options("weekly-digest", "archive-logs")},
]
FORM = [
    {"type": "section", "text": mrkdwn("*Create a task* — three facts are missing.")},
    field(
        "task",
        "Task",
        {
            "type": "static_select",
            "action_id": "v",
            "option_groups": GROUPS,
            "initial_option": GROUPS[0]["options"][0],
        },
    ),
    field(
        "regions",
        "Regions",
        {
            "type": "multi_static_select",
            "action_id": "v",
            "options": REGIONS,
            "initial_options": REGIONS[:2],
            "placeholder": plain("Choose regions"),
        },
        hint=plain("One run for each region."),
    ),
    field("name", "Name", {"type": "plain_text_input", "action_id": "v", "max_length": 40}),
    context("⚠️ A task named `archive` exists already; choose another name."),
    field(
        "script",
        "Command",
        {"type": "plain_text_input", "action_id": "v", "multiline": True, "max_length": 300, "min_length": 3},
        optional=True,
    ),
    actions(button("submit", "Submit", style="primary"), button("cancel", "Cancel")),
]

KINDS: dict[str, Json] = {
    "text": {
        "text": "Plain *bold*, _italic_, ~struck~, `code`, <https://example.com/runbook|the runbook> :eyes:\n"
        "> a quoted line\nand a second paragraph that is long enough to wrap on a phone, so its leading can be judged.",
    },
    "cjk": {
        "text": "夜间备份在 02:10 失败：连接 db-primary 被拒绝。已自动重试两次，均失败；请查看 `nightly-backup` 的日志，并确认主库是否在维护窗口内。"
    },
    "long-word": {"text": f"Image {LONG_WORD} could not be pulled, see {LONG_WORD}"},
    "code": {
        "blocks": [
            {"type": "markdown", "text": f"The log ends with:\n\n```text\n{LOG}\n```\n\nand then nothing."}
        ]
    },
    "markdown": {
        "blocks": [
            {
                "type": "markdown",
                "text": "## What I found\n\nThree runs of **nightly-backup** failed in the last 24 hours.\n\n"
                "1. 02:10 — `Connection refused`\n2. 02:15 — the same\n3. 02:20 — *timeout* after 300 s\n\n"
                "- the database answers now\n- the next run is at 02:00\n\n> psql: could not connect to server\n\n"
                "| Run | State | Took | Message |\n|---|---|--:|---|\n| 41 | failed | 12 s | connection refused by the primary |\n"
                "| 42 | failed | 300 s | timeout |\n| 43 | success | 9 s | |\n",
            }
        ]
    },
    "tool-lines": {
        "blocks": [
            context("querying runs → 3 found, 120 ms"),
            context("reading the log of run 42 → 214 lines, 80 ms"),
            {"type": "markdown", "text": "Both runs failed with **Connection refused**."},
            actions(button("why", "Why did run 42 fail?"), button("pause", "Pause nightly-backup")),
        ]
    },
    "notices": {
        "blocks": [
            context("ℹ️ No language model is connected; this answer follows fixed rules."),
            context("⚠️ The log was cut at 200 lines."),
            context("⛔ You may not do this: it needs an approver."),
            context("✅ Done in 3.1 s."),
        ]
    },
    "alert": {
        "text": "",
        "attachments": [
            {
                "color": "#c01343",
                "blocks": [
                    {"type": "header", "text": plain("nightly-backup failed")},
                    {
                        "type": "section",
                        "text": mrkdwn(
                            "Run `task-2-1795991810` ended with `execute_failed` after 2 retries."
                        ),
                    },
                    {"type": "section", "fields": [mrkdwn("*Group*\npayments"), mrkdwn("*Exit code*\n1")]},
                    actions(button("look", "Investigate", style="primary"), button("ack", "Acknowledge")),
                ],
            }
        ],
    },
    "card-pending": {
        "blocks": card(
            "waits for an approver",
            actions(button("yes", "Approve", style="primary"), button("no", "Reject", style="danger")),
        )
    },
    "card-applied": {"blocks": card("✅ approved by Ana, applied 02:31:07")},
    "card-rejected": {"blocks": card("⛔ rejected by Ana: “not tonight”")},
    "card-expired": {"blocks": card("⌛ expired unanswered after 30 minutes")},
    "card-failed": {"blocks": card("❌ approved by Ana, failed: the scheduler answered 409")},
    "card-unknown": {"blocks": card("❓ outcome unknown", actions(button("check", "Check now")))},
    "form": {"blocks": FORM},
}
