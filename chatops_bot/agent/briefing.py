"""What the model is given with each step of a turn: who it is, what it may call, and as much of the conversation as fits.

It is put together anew before each step, since a skill that was loaded brings tools, and since results pile up. The
conversation itself is never changed by that.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from chatops_bot.context.fence import Marks
from chatops_bot.context.prompt_phrases import PromptPhrases
from chatops_bot.context.skill_text import loaded_in
from chatops_bot.context.window import Window
from chatops_bot.domain.clocks import ONE_CLOCK, Clocks
from chatops_bot.domain.language import Language
from chatops_bot.domain.model import Message, ModelRequest, SystemMessage, Usage
from chatops_bot.domain.skill import Skill
from chatops_bot.domain.tool import ToolResult
from chatops_bot.tools.definitions import Definitions
from chatops_bot.tools.toolbox import Toolbox


async def keeps_nothing(prefix: str, tools: Sequence[str]) -> None:
    pass


@dataclass(slots=True)
class Briefing:
    """`definitions` has the tools as a model reads them in the language of the conversation; `system` writes the system text for
    the tools on offer and the names of loaded skills, and takes off the offer what it has no room for; `history` is the
    conversation up to and with the newest message and its volatile context; `phrases` has what the loop tells the model itself;
    `marks` are the nonces of the conversation's fences; `window` chooses what is sent of it, None for all. `rounds` is how many
    steps with tools a loaded skill asked for, 0 when none did; `skills` are those that the asker can see, `told` the names of
    those of them that not everybody can see, and `read` those of these whose words are in what the model is given. `agents` can
    be consulted, with `is_shared` others read the answer too, and `clocks` are those of the asker and the scheduler. `keep` is told of each call's system text and tools before it
    is made."""

    toolbox: Toolbox
    definitions: Definitions
    system: Callable[[Toolbox, frozenset[str]], str]
    history: tuple[Message, ...]
    phrases: PromptPhrases
    marks: Marks
    window: Window | None = None
    rounds: int = 0
    skills: tuple[Skill, ...] = ()
    told: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    keep: Callable[[str, Sequence[str]], Awaitable[None]] = keeps_nothing
    agent_id: str = ""
    agents: tuple[str, ...] = ()
    is_shared: bool = True
    clocks: Clocks = ONE_CLOCK

    async def request(
        self, said: Sequence[Message], language: Language, *, may_call: bool = True
    ) -> ModelRequest:
        """The next model call: `said` is what came since in this turn. Raises StoreError when it cannot be kept."""
        whole = (*self.history, *said)
        sent: Sequence[Message] = whole
        loaded = loaded_in(whole)
        system = SystemMessage(self.system(self.toolbox, loaded))
        tools = self.definitions.of(self.toolbox.offered)  # as far as the text had room for them
        if self.window is not None:
            sent = self.window.fit(whole, tools, system.text)
            if loaded_in(sent) != loaded:  # a skill whose text was left out can be loaded again
                system = SystemMessage(self.system(self.toolbox, loaded_in(sent)))
        await self.keep(system.text, [tool.name for tool in tools])
        request = ModelRequest(
            (system, *sent), tools, language, may_call, self.skills, self.agents, self.is_shared, self.clocks
        )
        if self.window is not None:
            self.window.sends(request)
        return request

    def answered(self, model: str, usage: Usage) -> None:
        """`model` answered the newest request, and says what it cost."""
        if self.window is not None:
            self.window.answered(model, usage)

    def shorten(self) -> bool:
        """The newest request was too long for the model. Whether the next one will be shorter."""
        return self.window is not None and self.window.too_long()

    def take(self, result: ToolResult) -> None:
        """Offer what a result brings, from the next step on."""
        self.toolbox.offer(result.offers)
        self.rounds = max(self.rounds, result.rounds)
