"""Looking at what a tool names as its evidence, some time after its action: by reading alone, with a viewer's account.

Nobody approves a look, so it gets the least that can look: the role viewer, whoever approved the action.
"""

from chatops_bot.domain.errors import ToolError
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import Observation
from chatops_bot.ports import ObservingTool, ToolContext
from chatops_bot.tools.apply import called
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.validation import stored_arguments


class Observer:
    def __init__(self, registry: Registry, redactor: Redactor) -> None:
        self._registry = registry
        self._redactor = redactor

    async def look(self, proposal: Proposal) -> Observation | None:
        """What is seen now of an action that was run; None when its tool names no evidence. Raises nothing for a look that fails."""
        try:
            tool = self._registry.find(proposal.tool)
            if not isinstance(tool, ObservingTool) or proposal.finished_at is None:
                return None
            arguments = stored_arguments(proposal.arguments, tool.spec.arguments)
            context = ToolContext(_reader(proposal), proposal.session, proposal.turn_id)
            looking = tool.observe(
                arguments, proposal.plan, proposal.outcome or {}, proposal.finished_at, context
            )
            seen = await called(tool.spec, looking)
        except ToolError as error:
            seen = Observation("unknown", error.phrase)
        return Observation(seen.verdict, self._redactor.phrase(seen.summary))


def _reader(proposal: Proposal) -> Person:
    vote = proposal.votes[-1] if proposal.votes else None
    return Person(vote.person_id, vote.person_name, Role.VIEWER) if vote else Person("", "", Role.VIEWER)
