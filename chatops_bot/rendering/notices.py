"""The fixed sentences of views, in both languages. Placeholders in braces are filled with `Phrase.filled`."""

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.view import Notice, Tone, View


def whisper_view(phrase: Phrase, language: Language | None, tone: Tone = "warning") -> View:
    """One sentence as a message of its own, such as the reason why a click was not taken.

    `language` is None where the reader's is not known: they pressed a button, or wrote no word. It is said in both then.
    """
    texts = (phrase.zh, phrase.en) if language is None else (phrase.said_in(language),)
    return View(tuple(Notice(text, tone) for text in texts), " ".join(texts))


# A turn that runs, and how it ended
WORKING = Phrase("正在处理…", "Working…")
WAITING = Phrase("排队中，前面还有 {ahead} 条", "Waiting – {ahead} before this")
SILENT = Phrase("仍在等待模型，已 {seconds} 秒", "Still waiting for the model, {seconds} s")
HANDED_OVER = Phrase(
    "机器人正在重启，重启后立即处理这条消息。", "The bot restarts; this is worked on right after."
)
STOPPED_BY = Phrase(
    "已由 {name} 停止；上面是停止前得到的内容。",
    "Stopped by {name}; what had been found until then stands above.",
)
STOPPED_EARLY_BY = Phrase("已由 {name} 停止。", "Stopped by {name}.")
WITHDRAWN_BY = Phrase("已由 {name} 在开始处理前撤回。", "Taken back by {name} before it was worked on.")
STOPPED = Phrase(
    "已按要求停止；上面是停止前得到的内容。",
    "Stopped on request; what had been found until then stands above.",
)
INTERRUPTED = Phrase(
    "机器人在处理过程中重启了，本次回答没有完成；已得到的内容保留在上面。回复“继续”可接着做。",
    "The bot restarted while it was working on this, so the answer is incomplete; what had been found stands above. "
    "Reply “continue” to go on.",
)
CAPPED = Phrase(
    "已达到单次回答的步数上限，先到这里；回复“继续”可接着做。",
    "This answer reached the limit of steps for one turn and ends here; reply “continue” to go on.",
)
FAILED = Phrase(
    "本次回答没有成功，请稍后重试。", "This answer could not be completed; please try again shortly."
)
NO_ANSWER = Phrase(
    "模型没有给出任何文字；请换个说法再问一次。", "The model gave no text; please ask again in other words."
)

# The store is away. What was sent to it may have arrived: an answer, or a card, then still comes.
NOT_TAKEN = Phrase(
    "机器人暂时无法访问存储，这条消息没有处理；如果一分钟后仍没有回答，请再问一次。",
    "The bot cannot reach its store at the moment, so this was not taken up; ask again in a minute, unless an answer has come by then.",
)
NOT_DECIDED = Phrase(
    "机器人暂时无法访问存储；除卡片上显示的以外，没有做出任何决定。请一分钟后查看卡片，必要时再操作一次。",
    "The bot cannot reach its store at the moment; nothing was decided that the card does not show. "
    "Look at the card in a minute, and do it again if need be.",
)
NOT_SENT = Phrase(
    "机器人暂时无法访问存储，没有提交；请一分钟后再试一次。",
    "The bot cannot reach its store at the moment, so nothing was sent; please try again in a minute.",
)
NOT_STORED = Phrase(
    "机器人暂时无法访问存储，本次回答没有完成；请一分钟后再问一次。",
    "The bot cannot reach its store at the moment, so this answer is incomplete; ask again in a minute.",
)

# Tool lines
CALL_RUNNING = Phrase("{label}…", "{label}…")
CALL_OK = Phrase("{label} → {summary}，{duration}", "{label} → {summary}, {duration}")
CALL_ERROR = Phrase("✗ {label} → {summary}，{duration}", "✗ {label} → {summary}, {duration}")
CALL_WAITS = Phrase("⏸ {label} → {summary}", "⏸ {label} → {summary}")
CALL_NOT_RUN = Phrase("– {label} → {summary}", "– {label} → {summary}")
CALL_UNFINISHED = Phrase("– {label} → 没有完成", "– {label} → not finished")
MORE_LINES = Phrase("另有 {count} 项", "+{count} more")
MILLISECONDS = Phrase("{value} 毫秒", "{value} ms")
SECONDS = Phrase("{value} 秒", "{value} s")

# Buttons
STOP = Phrase("停止", "Stop")
TAKE_BACK = Phrase("撤回", "Take back")
CANCEL = Phrase("返回", "Go back")
