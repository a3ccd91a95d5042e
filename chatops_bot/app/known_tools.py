"""Every tool that this program has, for whoever needs no back end: texts, budgets and the linter are held against them."""

from chatops_bot.agent.consulting import CONSULT_SPEC
from chatops_bot.ports import ToolSpec
from chatops_bot.tools.find_tools import FindTools
from chatops_bot.tools.load_skill import LoadSkill
from chatops_bot.tools.read_result import ReadResult
from chatops_bot.tools.run_skill_script import RunSkillScript
from chatops_bot.toolsets.scheduler.toolset import SCHEDULER_SPECS

AGENT_SPECS: tuple[ToolSpec, ...] = (
    LoadSkill.spec,
    RunSkillScript.spec,
    FindTools.spec,
    ReadResult.spec,
    CONSULT_SPEC,
)
"""The tools of the agent itself."""
KNOWN_SPECS = (*SCHEDULER_SPECS, *AGENT_SPECS)
