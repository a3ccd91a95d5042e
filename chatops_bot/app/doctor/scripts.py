"""Whether scripts of skills are run on this machine, tried as the bot tries it at its start."""

from collections.abc import Sequence

from chatops_bot.app.config import Config
from chatops_bot.app.doctor.findings import Finding, ok, warning
from chatops_bot.app.skills import THIS_MACHINE
from chatops_bot.ports import ScriptRunner


async def check_scripts(config: Config, runner: ScriptRunner | None = None) -> Sequence[Finding]:
    """`runner` is what would run them, None for what this machine has."""
    if not config.skills.enabled or config.skills.scripts == "off":
        return [ok("scripts", "Scripts of skills are turned off (skills.scripts).")]
    runner = runner or await THIS_MACHINE.runner()
    if (reason := runner.disabled_because) is not None:
        return [
            warning(
                "scripts",
                f"Scripts of skills are not run: {reason.en} To do without them: skills.scripts: off.",
            )
        ]
    return [ok("scripts", "Scripts of skills run in a sandbox; nothing got out of it that was tried.")]
