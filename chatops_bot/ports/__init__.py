"""What the core needs from the outside, as Protocols. Each contract stands here, not at an implementation.

Twins of a port (two stores, two platforms, three models) pass one suite in `tests/contracts`. A module an idea; everybody
imports from here.
"""

from chatops_bot.ports.model import LLM
from chatops_bot.ports.platform import Directory, Place, Platform, PlatformLimits
from chatops_bot.ports.process import Clock, Ids
from chatops_bot.ports.prompts import Arms, PromptReader, Prompts
from chatops_bot.ports.skills import ScriptRunner, Skills
from chatops_bot.ports.store import (
    Audit,
    AuditReader,
    Controls,
    Forms,
    Inbox,
    KeptAudit,
    Leases,
    Proposals,
    Relay,
    Results,
    SecretValues,
    Store,
    Transcripts,
    Turns,
    process_lease,
)
from chatops_bot.ports.tools import (
    ArgumentCheck,
    CandidateProvider,
    Consultations,
    ObservingTool,
    ReadTool,
    Tool,
    ToolContext,
    ToolSpec,
    WriteTool,
)

__all__ = [
    "LLM",
    "ArgumentCheck",
    "Arms",
    "Audit",
    "AuditReader",
    "CandidateProvider",
    "Clock",
    "Consultations",
    "Controls",
    "Directory",
    "Forms",
    "Ids",
    "Inbox",
    "KeptAudit",
    "Leases",
    "ObservingTool",
    "Place",
    "Platform",
    "PlatformLimits",
    "PromptReader",
    "Prompts",
    "Proposals",
    "ReadTool",
    "Relay",
    "Results",
    "ScriptRunner",
    "SecretValues",
    "Skills",
    "Store",
    "Tool",
    "ToolContext",
    "ToolSpec",
    "Transcripts",
    "Turns",
    "WriteTool",
    "process_lease",
]
