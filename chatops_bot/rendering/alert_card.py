"""The card of a task that failed for good."""

from collections.abc import Sequence

from chatops_bot.domain.alert import TaskFailed
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.view import Block, Code, Fact, Facts, Heading, Lines, View
from chatops_bot.rendering.escapes import exact, exact_block, inert
from chatops_bot.rendering.followup_buttons import followup_buttons
from chatops_bot.rendering.graphemes import clip
from chatops_bot.rendering.moments import moment_text

HEADING_CHARS = 150
"""Slack's limit for a header. What it clips stands whole in the facts."""

_HEADING = Phrase("任务失败：{task}", "Task failed: {task}")
_FALLBACK = Phrase("任务 {task} 失败：{code}", "Task {task} failed: {code}")
_TASK = Phrase("任务", "Task")
_RUN = Phrase("运行", "Run")
_CODE = Phrase("错误码", "Error code")
_ATTEMPT_OF = Phrase("{run}（第 {attempt} 次尝试，共 {limit} 次）", "{run} (attempt {attempt} of {limit})")
_TIME = Phrase("时间", "Time")


def alert_card(failure: TaskFailed, language: Language, followups: Sequence[tuple[str, str]] = ()) -> View:
    """The card of a run that failed for good. `followups` are (question, opaque value of its button), in order."""
    task = exact(failure.task_name)
    run = _ATTEMPT_OF.filled(
        run=f"#{failure.instance_id}", attempt=failure.retry_count + 1, limit=failure.max_retry + 1
    )
    facts = [
        Fact(_CODE.said_in(language), exact(failure.error_code), is_code=True),
        Fact(_TASK.said_in(language), f"{task} (#{failure.task_id})"),
        Fact(_RUN.said_in(language), run.said_in(language)),
        Fact(_TIME.said_in(language), moment_text(failure.at)),
    ]
    heading = _HEADING.filled(task=task).said_in(language)
    fallback = _FALLBACK.filled(task=task, code=exact(failure.error_code)).said_in(language)
    blocks: list[Block] = [
        Heading(clip(heading, HEADING_CHARS)),
        Facts(tuple(facts)),
        Code(exact_block(failure.error_message)),
        *followup_buttons(followups),
        Lines((exact(failure.schedule_instance_id),)),
    ]
    return View(tuple(blocks), clip(inert(fallback), HEADING_CHARS))
