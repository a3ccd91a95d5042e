"""The arguments of the twelve tools: the surface that models are given.

Models send "42" for 42, null or "" for "not given"; both are understood. What would change the meaning is not: 3.7 is no
integer, true is not 1, and an argument that nobody knows is an error instead of a wish silently dropped.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from chatops_bot.domain.errors import ArgumentWrong
from chatops_bot.domain.form import AskedAs
from chatops_bot.domain.language import Phrase


def _refuse_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ArgumentWrong(Phrase("必须是整数。", "Must be a whole number."))
    return value


# Comes after the limits of a field, which would otherwise miss the integer that they are about.
NOT_BOOL = BeforeValidator(_refuse_bool)

TaskId = Annotated[
    int,
    Field(ge=1),
    NOT_BOOL,
    AskedAs(Phrase("任务", "Task")),
]
RunId = Annotated[
    int,
    Field(ge=1),
    NOT_BOOL,
    AskedAs(Phrase("运行", "Run"), Phrase("运行编号，例如 42。", "Its number, such as 42.")),
]
Limit = Annotated[int, Field(ge=1, le=200), NOT_BOOL]
RunStatus = Literal[
    "pending", "dispatched", "running", "retry_waiting", "success", "failed", "timeout", "cancelled"
]


class Arguments(BaseModel):
    """Arguments with a plain schema: flat properties, no titles, no null branches."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_blanks(cls, data: Any) -> Any:
        """A blank value of an optional argument is an argument not given."""
        if not isinstance(data, Mapping):
            return data
        required = {name for name, field in cls.model_fields.items() if field.is_required()}
        return {
            key: value for key, value in data.items() if key in required or not (value is None or value == "")
        }

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        reference = handler(core_schema)
        schema = handler.resolve_ref_schema(reference)
        schema.pop("title", None)
        schema.pop("description", None)
        schema.setdefault("properties", {})
        for shape in schema["properties"].values():
            shape.pop("title", None)
            for branch in shape.pop("anyOf", ()):
                if branch.get("type") != "null":
                    shape.update(branch)
            if shape.get("default", "") is None:
                del shape["default"]
        return reference


class QueryTasksArguments(Arguments):
    name: str = ""
    status: Literal["enabled", "disabled"] | None = None
    limit: Limit = 20


class QueryInstancesArguments(Arguments):
    status: RunStatus | None = None
    task_id: Annotated[int, Field(ge=1), NOT_BOOL] | None = None
    hours: Annotated[int, Field(ge=1, le=2160), NOT_BOOL] = 24
    limit: Limit = 20


class QueryWorkersArguments(Arguments):
    pass


class GetTaskDetailArguments(Arguments):
    task_id: TaskId


class GetSystemHealthArguments(Arguments):
    pass


class GetWorkerLoadHistoryArguments(Arguments):
    worker_id: str = ""
    hours: Annotated[int, Field(ge=1, le=168), NOT_BOOL] = 24


class AnalyzeFailureArguments(Arguments):
    instance_id: RunId


class CreateTaskArguments(Arguments):
    name: Annotated[
        str,
        Field(min_length=1, max_length=128),
        AskedAs(
            Phrase("名称", "Name"),
            Phrase("不能与已有任务重名。", "No other task may have it."),
            example="rotate-logs",
        ),
    ]
    type: Annotated[
        Literal["shell", "http", "container"],
        AskedAs(
            Phrase("类型", "Type"),
            choices={
                "shell": Phrase("shell：运行脚本", "shell: run a script"),
                "http": Phrase("http：请求一个网址", "http: request a URL"),
                "container": Phrase("container：运行容器镜像", "container: run an image"),
            },
        ),
    ]
    cron_expr: Annotated[
        str,
        Field(min_length=1, max_length=64),
        AskedAs(
            Phrase("调度", "Schedule"),
            Phrase(
                "五段 cron 表达式：分 时 日 月 周，按调度服务的时区。",
                "Five cron fields: minute hour day month weekday, in the scheduler's time zone.",
            ),
            example="30 2 * * 1-5",
        ),
    ]
    payload: Annotated[
        str,
        Field(max_length=65_536),
        AskedAs(
            Phrase("执行内容", "What it runs"),
            Phrase(
                "shell 填脚本，http 填网址，container 填 docker run 的参数。",
                "shell: the script. http: the URL. container: flags of docker run.",
            ),
        ),
    ]
    image: Annotated[
        str,
        Field(max_length=512),
        AskedAs(
            Phrase("镜像", "Image"),
            Phrase("container 类型必填，其他类型留空。", "Needed for type container, blank for the others."),
        ),
    ] = ""
    timeout_seconds: Annotated[
        int,
        Field(ge=1, le=86_400),
        NOT_BOOL,
        AskedAs(Phrase("超时（秒）", "Timeout (s)"), Phrase("1 到 86400。", "1 to 86400.")),
    ] = 300
    max_retry: Annotated[
        int,
        Field(ge=0, le=10),
        NOT_BOOL,
        AskedAs(Phrase("最多重试", "Retries at most"), Phrase("0 到 10。", "0 to 10.")),
    ] = 3
    retry_policy: Annotated[
        Literal["fixed_interval", "exponential_backoff"],
        AskedAs(
            Phrase("重试方式", "Retry policy"),
            choices={
                "fixed_interval": Phrase("固定间隔", "fixed interval"),
                "exponential_backoff": Phrase("间隔逐次加倍", "interval doubles each time"),
            },
        ),
    ] = "fixed_interval"


class TriggerTaskArguments(Arguments):
    task_id: TaskId


class PauseTaskArguments(Arguments):
    task_id: TaskId
    action: Annotated[
        Literal["pause", "resume"],
        AskedAs(
            Phrase("操作", "Action"),
            choices={"pause": Phrase("暂停", "pause"), "resume": Phrase("恢复", "resume")},
        ),
    ]


class RetryFailedInstanceArguments(Arguments):
    instance_id: RunId


class DeleteTaskArguments(Arguments):
    task_id: TaskId
