"""The arguments of the twelve tools: the surface that models are given.

Models send "42" for 42, null or "" for "not given"; both are understood. What would change the meaning is not: 3.7 is no
integer, true is not 1, and an argument that nobody knows is an error instead of a wish silently dropped.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from chatops_bot.domain.form import AskedAs
from chatops_bot.domain.language import Phrase


def _refuse_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be an integer")  # pydantic turns ValueError alone into a field error
    return value


# Comes after the limits of a field, which would otherwise miss the integer that they are about.
NOT_BOOL = BeforeValidator(_refuse_bool)

TaskId = Annotated[
    int,
    Field(ge=1, description="Task id, as query_tasks returns it."),
    NOT_BOOL,
    AskedAs(Phrase("任务", "Task")),
]
RunId = Annotated[
    int,
    Field(ge=1, description="Run (task instance) id, as query_instances returns it."),
    NOT_BOOL,
    AskedAs(Phrase("运行", "Run"), Phrase("运行编号，例如 42。", "Its number, such as 42.")),
]
Limit = Annotated[int, Field(ge=1, le=200, description="Most rows to return."), NOT_BOOL]
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
    name: Annotated[str, Field(description="Part of the task name, any case.")] = ""
    status: Annotated[
        Literal["enabled", "disabled"] | None,
        Field(description="Only tasks in this state; disabled is paused."),
    ] = None
    limit: Limit = 20


class QueryInstancesArguments(Arguments):
    status: Annotated[RunStatus | None, Field(description="Only runs in this state.")] = None
    task_id: Annotated[
        Annotated[int, Field(ge=1), NOT_BOOL] | None, Field(description="Only runs of this task.")
    ] = None
    hours: Annotated[int, Field(ge=1, le=2160, description="How many hours to look back."), NOT_BOOL] = 24
    limit: Limit = 20


class QueryWorkersArguments(Arguments):
    pass


class GetTaskDetailArguments(Arguments):
    task_id: TaskId


class GetSystemHealthArguments(Arguments):
    pass


class GetWorkerLoadHistoryArguments(Arguments):
    worker_id: Annotated[
        str, Field(description="Only this worker, by its id; all workers when left out.")
    ] = ""
    hours: Annotated[int, Field(ge=1, le=168, description="How many hours to look back."), NOT_BOOL] = 24


class AnalyzeFailureArguments(Arguments):
    instance_id: RunId


class CreateTaskArguments(Arguments):
    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=128,
            description="Unique name, kebab-case such as nightly-report.",
        ),
        AskedAs(
            Phrase("名称", "Name"),
            Phrase("不能与已有任务重名。", "No other task may have it."),
            example="nightly-report",
        ),
    ]
    type: Annotated[
        Literal["shell", "http", "container"],
        Field(description="shell runs a script, http requests a URL, container runs an image."),
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
        Field(
            min_length=1,
            max_length=64,
            description="Five numeric cron fields such as 0 2 * * *; no names, no @daily, */15 instead of 0/15.",
        ),
        AskedAs(
            Phrase("调度", "Schedule"),
            Phrase(
                "五段 cron 表达式：分 时 日 月 周。",
                "Five cron fields: minute hour day month weekday.",
            ),
            example="30 2 * * 1-5",
        ),
    ]
    payload: Annotated[
        str,
        Field(
            max_length=65_536,
            description="shell: the script; http: the URL; container: docker run flags, may be empty.",
        ),
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
        Field(max_length=512, description="Container image; needed for type container."),
        AskedAs(
            Phrase("镜像", "Image"),
            Phrase("container 类型必填，其他类型留空。", "Needed for type container, blank for the others."),
        ),
    ] = ""
    timeout_seconds: Annotated[
        int,
        Field(ge=1, le=86_400, description="Longest run time in seconds."),
        NOT_BOOL,
        AskedAs(Phrase("超时（秒）", "Timeout (s)"), Phrase("1 到 86400。", "1 to 86400.")),
    ] = 300
    max_retry: Annotated[
        int,
        Field(ge=0, le=10, description="Retries after a failure."),
        NOT_BOOL,
        AskedAs(Phrase("最多重试", "Retries at most"), Phrase("0 到 10。", "0 to 10.")),
    ] = 3
    retry_policy: Annotated[
        Literal["fixed_interval", "exponential_backoff"],
        Field(description="How retries are spaced."),
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
        Field(description="pause stops the schedule, resume restarts it."),
        AskedAs(
            Phrase("操作", "Action"),
            choices={"pause": Phrase("暂停", "pause"), "resume": Phrase("恢复", "resume")},
        ),
    ]


class RetryFailedInstanceArguments(Arguments):
    instance_id: RunId


class DeleteTaskArguments(Arguments):
    task_id: TaskId
