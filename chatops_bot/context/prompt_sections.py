"""Each section of a prompt, written from its own inputs and nothing else, so that one can be replaced and the rest stays as it was."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from chatops_bot.context.hardening import block, inline, schema_line
from chatops_bot.context.prompt_phrases import filled
from chatops_bot.context.prompt_types import AgentConfig, PromptOptions, SessionContext, ToolBrief, UserIntent
from chatops_bot.domain.clocks import Clocks, zone_label
from chatops_bot.domain.language import Language

GOAL_CHARS = 300
_WEEKDAYS = "一二三四五六日"


def identity(agent: AgentConfig, mode: str) -> str:
    words = agent.phrases.identity
    first = filled(
        words.you_are, name=inline(agent.role_name, 80), description=inline(agent.role_description, 2000)
    )
    lines = ["[AGENT IDENTITY]", first]
    if agent.domain_scope:
        lines.append(f"{words.scope}: {_joined(agent.domain_scope, agent.lang)}")
    optional = (
        (words.persona, agent.persona if mode == "full" else None),
        (words.style, agent.language_style),
        (words.format, agent.output_format),
    )
    return "\n".join([*lines, *(f"{label}: {inline(value, 2000)}" for label, value in optional if value)])


def capabilities(agent: AgentConfig, mode: str) -> str:
    words = agent.phrases.capabilities
    lines = [inline(item, 400) for item in agent.capabilities]
    lines += (filled(words.hand_over, item=inline(item, 400)) for item in agent.out_of_scope)
    if mode == "full":
        lines += (
            filled(words.to_agent, agent=each.agent_id, when=inline(each.when, 400))
            for each in agent.handoffs
        )
    return "\n".join(["[CAPABILITIES]", *(f"- {line}" for line in lines)])


def available_tools(agent: AgentConfig, tools: Sequence[ToolBrief], tool_text: str) -> str:
    words = agent.phrases.tools
    if not tools:
        return f"[AVAILABLE TOOLS]\n{words.none}"
    listed = [] if tool_text == "off" else [line for tool in tools for line in _tool(agent, tool, tool_text)]
    return "\n".join(["[AVAILABLE TOOLS]", *words.protocol, *listed])


def _tool(agent: AgentConfig, tool: ToolBrief, tool_text: str) -> Iterable[str]:
    words, limits = agent.phrases.tools, agent.limits
    mark = f" {words.needs_approval}" if tool.changes else ""
    scenario = " ".join(tool.scenarios.said_in(agent.lang)) or tool.description
    yield f"- {tool.name}{mark}: {inline(scenario, limits.description_chars)}"
    if tool_text == "full":
        yield f"  {words.arguments}: {schema_line(tool.full_schema(), limits.schema_chars)}"
        if tool.return_schema:
            returns = tool.return_schema
            said = (
                inline(returns, 300)
                if isinstance(returns, str)
                else schema_line(returns, limits.schema_chars)
            )
            yield f"  {words.returns}: {said}"


def constraints(agent: AgentConfig, tools: Sequence[ToolBrief]) -> str:
    words, rules = agent.phrases.constraints, agent.constraints
    lines = ["[CONSTRAINTS]"]
    for label, listed in (
        (words.must, rules.must),
        (words.must_not, rules.must_not),
        (words.fallback, rules.fallback),
    ):
        if listed:
            lines.append(f"{label}:")
            lines += (f"- {inline(rule, 2000)}" for rule in listed)
    fixed = (
        words.unverified,
        words.conflict,
        words.prompt_is_secret,
        words.speakers,
        words.fence,
        words.data_lines,
    )
    lines += (f"- {line}" for line in fixed)
    gated = [tool.name for tool in tools if tool.changes]
    if gated:
        lines.append(f"- {filled(words.gated, tools=', '.join(gated))}")
    return "\n".join(lines)


def context(agent: AgentConfig, session: SessionContext, intent: UserIntent, options: PromptOptions) -> str:
    words, limits = agent.phrases.context, agent.limits
    lines = ["[CONTEXT]"]
    if options.tell_goal:
        lines.append(f"{words.goal}: {inline(intent.text, GOAL_CHARS)}")
    if intent.kind:
        lines.append(f"{words.kind}: {inline(intent.kind, 80)}")
    if intent.entities:
        named = (f"{inline(kind, 40)}={inline(value, 160)}" for kind, value in intent.entities.items())
        lines.append(f"{words.entities}: {'; '.join(named)}")
    if options.flags:
        lines.append(filled(words.flagged, rules=", ".join(options.flags)))
    if options.suggested_tools:
        lines.append(f"{words.suggested}: {', '.join(options.suggested_tools)}")
    if session.summary and (summary := block(session.summary, limits.summary_chars)):
        lines += (f"{words.summary}:", summary)
    events = [
        f"| {said}"
        for each in session.key_events[max(0, len(session.key_events) - limits.events) :]
        if (said := inline(each, limits.event_chars))
    ]
    if events:
        lines += (f"{words.events}:", *events)
    labelled = (
        (words.time, time_in(session, agent.lang)),
        (words.schedule_zone, _other_zone(session)),
        (words.asker, inline(session.user_id or "", 80)),
        (words.role, inline(session.user_role or "", 40)),
        (words.channel, inline(session.channel or "", 80)),
        (words.session, inline(session.session_id, 120)),
    )
    lines += (f"{label}: {value}" for label, value in labelled if value)
    if session.reads_only:
        lines.append(words.reads_only)
    if session.env:
        told = (f"{key}={inline(value, 80)}" for key, value in sorted(session.env.items()))
        lines.append(f"{words.environment}: {', '.join(told)}")
    return "\n".join(lines)


def time_in(session: SessionContext, language: Language) -> str:
    """Minutes, weekday and zone: a model computes dates badly, and one that is not told the weekday makes it up."""
    now = _local(session)
    zone = ", ".join(filter(None, (session.timezone, _offset(now))))
    if language == "zh":
        return f"{now.year}年{now.month}月{now.day}日 {now:%H:%M} 星期{_WEEKDAYS[now.weekday()]} ({zone})"
    weekday = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[now.weekday()]
    return f"{now:%Y-%m-%d %H:%M} {weekday} ({zone})"


def _local(session: SessionContext) -> datetime:
    zone = session.timezone
    return session.current_time if zone is None else session.current_time.astimezone(ZoneInfo(zone))


def _other_zone(session: SessionContext) -> str:
    """The zone of schedules, where clocks there show another time than the asker's, at least in a part of the year."""
    here = _local(session)
    if session.schedule_zone is None:
        return ""
    there = ZoneInfo(session.schedule_zone)
    if not Clocks(here.tzinfo or there, there).differ(here):
        return ""
    if zone_label(there) == "UTC":
        return "UTC"
    return f"{session.schedule_zone}, {_offset(here.astimezone(there))}"


def _offset(moment: datetime) -> str:
    offset = moment.strftime("%z")
    return f"UTC{offset[:3]}:{offset[3:5]}"


def _joined(items: Sequence[str], language: Language) -> str:
    return ("、" if language == "zh" else ", ").join(inline(item, 200) for item in items)
