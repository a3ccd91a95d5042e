"""The fixed sentences of forms, in both languages."""

from chatops_bot.domain.language import Phrase

HEADINGS = {
    "open": Phrase("{title}：请补充信息", "{title}: please fill in"),
    "submitted": Phrase("{title}：已填写", "{title}: filled in"),
    "cancelled": Phrase("{title}：已取消填写", "{title}: cancelled"),
    "expired": Phrase("{title}：表单已过期", "{title}: form expired"),
    "superseded": Phrase("{title}：已由新的表单代替", "{title}: replaced by a newer form"),
}
STILL_NEEDED = Phrase("还需要：{names}", "Still needed: {names}")
COMMA = Phrase("、", ", ")
FILL_IN = Phrase("填写", "Fill in")
SUBMIT = Phrase("提交", "Submit")
CANCEL = Phrase("取消", "Cancel")
CLOSE = Phrase("关闭", "Close")
CHOOSE = Phrase("请选择", "Choose")
OWN = Phrase("{label}（列表里没有时填写）", "{label}, if not in the list")
OR_BELOW = Phrase("从列表中选择，或在下面填写。", "Choose one here, or write one below.")
ANOTHER = Phrase("其他（在下面填写）", "Another, written below")
PROBLEM_WITH = Phrase("{label}：{problem}", "{label}: {problem}")
ONLY = Phrase(
    "只有 {name} 可以填写，有效期至 {time}。填写后不会立即执行。",
    "Only {name} can fill this in, until {time}. Filling it in runs nothing yet.",
)
ENDINGS = {
    "submitted": Phrase("由 {name} 于 {time} 填写。", "Filled in by {name} at {time}."),
    "cancelled": Phrase(
        "{name} 于 {time} 取消，什么都没有执行。", "{name} cancelled this at {time}; nothing was run."
    ),
    "expired": Phrase(
        "已于 {time} 过期，什么都没有执行；如仍需要，请重新提出。",
        "It expired at {time}; nothing was run. Ask again if it is still needed.",
    ),
    "superseded": Phrase(
        "{name} 在 {time} 重新提出了请求，请填写下面的新表单。",
        "{name} asked again at {time}; fill in the newer form below.",
    ),
}

# What stands in the thread where a filled form could not be worked on
TOO_LATE = Phrase(
    "表单填好后没能及时处理，已过时，什么都没有执行；如仍需要，请重新提出。",
    "The filled form could not be worked on in time, so nothing was run; ask again if it is still needed.",
)

# What somebody is told alone
UNKNOWN = Phrase("找不到这个表单，未执行任何操作。", "There is no such form here; nothing was done.")
CLOSED = {
    "submitted": Phrase(
        "这个表单已经提交过了，答复在下面。", "This form was submitted already; the answer is below."
    ),
    "cancelled": Phrase(
        "这个表单已经取消；如仍需要，请重新提出。",
        "This form was cancelled; ask again if it is still needed.",
    ),
    "expired": Phrase(
        "这个表单已过期，未执行任何操作；请重新提出请求。",
        "This form has expired, so nothing was done; ask for it again.",
    ),
    "superseded": Phrase(
        "这个表单已由新的表单代替，请填写新的。", "A newer form took the place of this one; use that."
    ),
}
SEALED = Phrase("已填写，加密保存，不再显示", "given, sealed, and shown nowhere again")
SEALED_FOR = Phrase(
    "机密：只会交给 {tool}，加密保存，任何消息、记录和模型都看不到；输入时屏幕上可见。",
    "A secret: it goes to {tool} alone, is kept sealed, and stands in no message or record and before no model. It can be read on "
    "your screen while you type.",
)
NOT_OPENED = Phrase(
    "没能打开对话框；请再点一次“填写”。", "The dialog could not be opened; press “Fill in” once more."
)
