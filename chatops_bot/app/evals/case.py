"""A case: what is asked, of what world, and what must come of it. One YAML file each; `docs/evals.md` explains the keys.

What is expected says nothing of wording: which tools are called, with which arguments, which facts reach the answer, and
that nothing in it was made up. So one expectation holds for a script, for the offline rules and for a language model.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from chatops_bot.app.config_file import problems_of, read_config_file
from chatops_bot.domain.errors import ChatopsError, ConfigInvalid
from chatops_bot.domain.language import Language
from chatops_bot.domain.people import Risk

Kind = Literal["scripted", "offline", "live"]
MAX_BYTES, MAX_DEPTH = 4 * 1024 * 1024, 64
"""A case may hold recorded results: public sets have logs of half a megabyte."""
KINDS: tuple[Kind, ...] = ("scripted", "offline", "live")
RoleWord = Literal["viewer", "operator", "approver", "admin"]
Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{1,79}$")]


class CaseInvalid(ChatopsError):
    """A case file that cannot be used; the message names file and line."""


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""One text, or a list of them."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class ScriptedCall(_Part):
    """`keep` remembers values of the call's result: name to place, such as `run: instances.0.id`. `$run` stands for it later."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with")
    keep: dict[str, str] = Field(default_factory=dict)


class ScriptStep(_Part):
    """What the scripted model does in one call, and what it must have been given: `sees` in the newest message, `offered`
    among its tools. `raw` are arguments as text that goes out as it is, valid or not."""

    sees: Texts = ()
    offered: tuple[str, ...] = ()
    call: tuple[ScriptedCall, ...] = ()
    raw: dict[str, str] = Field(default_factory=dict)
    say: str = ""

    @model_validator(mode="after")
    def _does_something(self) -> "ScriptStep":
        if not (self.call or self.raw or self.say):
            raise ValueError("a step calls tools, says something, or both")
        return self


class RecordedPlan(_Part):
    """What a tool that changes something planned: what the card says."""

    target: str
    summary_zh: str
    summary_en: str
    risk: Risk = Risk.LOW
    changes: tuple[tuple[str, str | None, str | None], ...] = ()


class Recording(_Part):
    """The result of a tool whose arguments hold `match`. An error's content is its message."""

    tool: str
    match: dict[str, Any] = Field(default_factory=dict)
    status: Literal["ok", "error"] = "ok"
    content: dict[str, Any] | str = Field(default_factory=dict)
    plan: RecordedPlan | None = None


class Said(_Part):
    """A message of the thread before the question: by a person, or by the bot with the calls that it made."""

    person: str = ""
    bot: str = ""
    results: tuple[Recording, ...] = ()

    @model_validator(mode="after")
    def _one_of_two(self) -> "Said":
        if bool(self.person) == bool(self.bot or self.results):
            raise ValueError("a message is a person's, or the bot's with its results")
        return self


class WantedTools(_Part):
    """`may` None leaves every other tool that only looks open. `in_order`: those of `must`, first calls in this order."""

    must: tuple[str, ...] = ()
    may: tuple[str, ...] | None = None
    must_not: tuple[str, ...] = ()
    in_order: bool = False


class WantedCall(_Part):
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with")
    state: str = "pending"


class WantedForm(_Part):
    tool: str
    asks: tuple[str, ...] = ()


class Expected(_Part):
    """All of it must hold. Without `proposals` and `forms` none may appear.

    `facts` stand in the answer and in what a tool returned; of `says`, one alternative of each (parted by ` | `) stands in
    anything that was shown, of `never` nothing does. `grounded`: every number of the answer comes from a tool, the thread or
    the question, but for those that are `derived`. `rubric` is for a person to judge; the runner shows it and judges nothing.
    """

    outcome: Literal["answered", "waiting", "capped", "failed"] | None = None
    tools: WantedTools = WantedTools()
    calls: tuple[WantedCall, ...] = ()
    facts: Texts = ()
    says: Texts = ()
    never: Texts = ()
    grounded: bool = True
    derived: Texts = ()
    language: Language | None = None
    proposals: tuple[WantedCall, ...] = ()
    forms: tuple[WantedForm, ...] = ()
    followups: int = 0
    max_rounds: int | None = None
    rubric: Texts = ()


class Case(_Part):
    """`world`: `demo` is the embedded scheduler with its demo data, `down` one that cannot be reached, `recorded` the
    `recordings` alone. `ask` with several texts is a conversation; the expectations are of its last turn."""

    id: Id
    title: str = ""
    language: Language
    agent: str = "incident_responder"
    role: RoleWord = "operator"
    tags: tuple[str, ...] = ()
    source: str = ""
    world: Literal["demo", "down", "recorded"] = "demo"
    recordings: tuple[Recording, ...] = ()
    thread: tuple[Said, ...] = ()
    ask: Texts = Field(min_length=1)
    script: tuple[ScriptStep, ...] = ()
    models: tuple[Kind, ...] = KINDS
    expected: Expected

    @model_validator(mode="after")
    def _fits(self) -> "Case":
        if self.recordings and self.world != "recorded":
            raise ValueError("recordings are for `world: recorded`")
        if any(not text.strip() for text in self.ask):
            raise ValueError("a question is blank")
        return self

    def runs_on(self, kind: Kind) -> bool:
        """A case without a script has nothing to play on the scripted model."""
        return kind in self.models and (kind != "scripted" or bool(self.script))


def load_case(path: Path) -> Case:
    """The case in a file. Raises CaseInvalid with file and line, a line for each problem."""
    try:
        value, lines = read_config_file(
            path, what="case", named_by="of a case", max_bytes=MAX_BYTES, max_depth=MAX_DEPTH
        )
    except ConfigInvalid as error:
        raise CaseInvalid(str(error)) from error
    if not isinstance(value, dict):
        raise CaseInvalid(f"{path}, line 1: a case holds keys, such as `id:` and `ask:`; this holds none.")
    try:
        return Case.model_validate(value)
    except ValidationError as error:
        raise CaseInvalid("\n".join(problems_of(path, error, lines, Case))) from error


def load_cases(paths: Iterable[Path]) -> list[Case]:
    """The cases of files and folders, by id. Raises CaseInvalid for all that is wrong at once."""
    files: list[Path] = []
    problems: list[str] = []
    for path in paths:
        if path.is_dir():
            found = sorted(path.rglob("*.yaml"))
            files += found
            if not found:
                problems.append(f"{path}: holds no case (*.yaml); name another folder.")
        else:
            files.append(path)
    cases: dict[str, tuple[Case, Path]] = {}
    for path in dict.fromkeys(files):
        try:
            case = load_case(path)
        except CaseInvalid as error:
            problems.append(str(error))
            continue
        if case.id in cases:
            problems.append(f"{path}: {cases[case.id][1]} has the id {case.id} too; give one another id.")
        cases[case.id] = case, path
    if problems:
        raise CaseInvalid("\n".join(problems))
    return [cases[name][0] for name in sorted(cases)]
