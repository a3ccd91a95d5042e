"""What is wrong with one argument, for people: pydantic's reasons in both languages."""

from pydantic_core import ErrorDetails

from chatops_bot.domain.errors import ArgumentWrong
from chatops_bot.domain.language import Phrase

REQUIRED = Phrase("请填写此项。", "Please fill this in.")
_PROBLEMS: dict[str, Phrase] = {
    "missing": REQUIRED,
    "string_too_short": Phrase("至少 {min_length} 个字符。", "At least {min_length} characters."),
    "string_too_long": Phrase("最多 {max_length} 个字符。", "At most {max_length} characters."),
    "too_short": Phrase("至少 {min_length} 项。", "At least {min_length} of them."),
    "too_long": Phrase("最多 {max_length} 项。", "At most {max_length} of them."),
    "greater_than_equal": Phrase("不能小于 {ge}。", "Must be {ge} or more."),
    "greater_than": Phrase("必须大于 {gt}。", "Must be more than {gt}."),
    "less_than_equal": Phrase("不能大于 {le}。", "Must be {le} or less."),
    "less_than": Phrase("必须小于 {lt}。", "Must be less than {lt}."),
    "int_parsing": Phrase("必须是整数。", "Must be a whole number."),
    "int_from_float": Phrase("必须是整数。", "Must be a whole number."),
    "float_parsing": Phrase("必须是数字。", "Must be a number."),
    "literal_error": Phrase("请从列表中选择。", "Choose one of the list."),
    "extra_forbidden": Phrase("没有这个参数。", "There is no such argument."),
    "int_type": Phrase("必须是整数。", "Must be a whole number."),
    "string_type": Phrase("必须是文字。", "Must be text."),
    "int_parsing_size": Phrase("数字过大。", "The number is too large."),
    "float_type": Phrase("必须是数字。", "Must be a number."),
    "bool_type": Phrase("必须是“是”或“否”。", "Must be yes or no."),
    "bool_parsing": Phrase("必须是“是”或“否”。", "Must be yes or no."),
    "list_type": Phrase("必须是列表。", "Must be a list."),
    "dict_type": Phrase("必须是一个对象。", "Must be an object."),
    "string_pattern_mismatch": Phrase("格式不符合要求。", "Is not of the form that is needed."),
    "enum": Phrase("请从列表中选择。", "Choose one of the list."),
}


def problem_of(error: ErrorDetails) -> Phrase:
    """One sentence; a reason that only the tool's own model knows stays in its words."""
    own = error.get("ctx", {}).get("error")
    if isinstance(own, ArgumentWrong):
        return own.phrase
    known = _PROBLEMS.get(error["type"])
    if known is not None:
        return known.filled(**error.get("ctx", {}))
    said = error["msg"].removeprefix("Value error, ")
    said = f"{said[0].upper()}{said[1:]}."
    return Phrase(said, said)
