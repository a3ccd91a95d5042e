"""run_skill_script: a script that a skill ships, run where it can change nothing, so it needs no approval.

What it writes is a result like any other: redacted, capped and fenced as data. A script that fails is one too.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from chatops_bot.domain.errors import Told, ToolFailed
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.skill import RUN_SKILL_SCRIPT, ScriptRun, Skill
from chatops_bot.domain.tool import ToolResult
from chatops_bot.ports import ScriptRunner, Skills, ToolContext, ToolSpec
from chatops_bot.tools.load_skill import found

SECONDS = 90.0
"""A script gets 30 s of its own; the rest is for those that run before it."""

Argument = Annotated[str, StringConstraints(max_length=4096, pattern=r"^[^\x00]*$")]


class RunSkillScriptArguments(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    skill: str = Field(max_length=200)
    script: str = Field(max_length=400)
    arguments: list[Argument] = Field(default_factory=list, max_length=64)
    stdin: str = Field(default="", max_length=64_000)


class RunSkillScript:
    spec = ToolSpec(
        RUN_SKILL_SCRIPT,
        RunSkillScriptArguments,
        Effect.READ,
        Phrase("正在运行技能脚本…", "running a script of a skill…"),
        timeout=SECONDS,
        of_agent=True,
    )

    def __init__(self, skills: Skills, runner: ScriptRunner) -> None:
        self._skills = skills
        self._runner = runner

    async def run(self, arguments: RunSkillScriptArguments, context: ToolContext) -> ToolResult:
        """Raises ToolFailed for a skill that the person may not see as for one that does not exist, and where scripts are off."""
        skill = found(self._skills, arguments.skill, context.person, context.session.channel)
        if arguments.script not in skill.scripts:
            raise _not_declared(skill)
        if (reason := self._runner.disabled_because) is not None:
            raise _off(reason)
        done = await self._runner.run(skill, arguments.script, arguments.arguments, arguments.stdin)
        return ToolResult(
            "ok",
            _content(arguments, done, context.consultations.language),
            _summary(skill, arguments, done),
            skills_read=(skill.name,),
        )


def _content(arguments: RunSkillScriptArguments, done: ScriptRun, language: Language) -> dict[str, object]:
    return {
        "skill": arguments.skill,
        "script": arguments.script,
        "isolation": done.isolation,
        "exit": "killed" if done.exit_code is None else done.exit_code,
        "notes": [note.said_in(language) for note in done.notes],
        "seconds": done.seconds,
        "stderr": done.stderr,
        "stdout": done.stdout,
    }


def _summary(skill: Skill, arguments: RunSkillScriptArguments, done: ScriptRun) -> Phrase:
    """People who may not see the skill read this along, so the script of such a skill has no name."""
    is_personal = skill.audience.is_personal
    script = Phrase("脚本", "the script") if is_personal else Phrase(arguments.script, arguments.script)
    if done.exit_code is None:
        return Phrase(f"{script.zh} 被终止", f"{script.en} was killed")
    return Phrase(f"{script.zh} 退出码 {done.exit_code}", f"{script.en} ended with {done.exit_code}")


def _not_declared(skill: Skill) -> ToolFailed:
    """The names of scripts are for the model alone: everybody in the thread reads the phrase, also who may not see the skill."""
    if not skill.scripts:
        return ToolFailed(Phrase("这个技能没有脚本", "this skill has no scripts"))
    names = ", ".join(skill.scripts)
    return ToolFailed(Phrase("没有这个脚本", "no such script"), told=Told("no_such_script", {"names": names}))


def _off(reason: Phrase) -> ToolFailed:
    return ToolFailed(
        Phrase(f"本机不运行技能脚本：{reason.zh}", f"Scripts of skills are not run here. {reason.en}")
    )
