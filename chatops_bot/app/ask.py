"""`chatops-bot ask`, `approve` and `reject`: the bot from a terminal on its own machine.

A running bot is asked over its local API. Without one, `ask` runs the turn in this process (`ask_here`), around a store
that is gone afterwards.
"""

import asyncio
import io
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol, TextIO

from chatops_bot.app.local_client import reach
from chatops_bot.app.stdout import forget_stdout
from chatops_bot.app.where import Where
from chatops_bot.domain.errors import ConfigInvalid, PlatformUnavailable
from chatops_bot.domain.people import Role
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.platforms.terminal.frames import (
    Ended,
    Frame,
    Opened,
    frame_to_json,
    view_from_json,
)
from chatops_bot.platforms.terminal.letters import Look
from chatops_bot.platforms.terminal.people import LocalRefused
from chatops_bot.platforms.terminal.plain import view_text
from chatops_bot.platforms.terminal.screen import Screen
from chatops_bot.rendering.escapes import shown
from chatops_bot.sessions.commands import Verdict

DONE, NOT_DONE, STOPPED_BY_KEY = 0, 1, 130
MAX_STDIN_CHARS = 200_000
"""Far over what one question may hold, which the bot says itself."""
_FINISHED = frozenset({TurnOutcome.ANSWERED, TurnOutcome.WAITING, TurnOutcome.CAPPED})


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    thread: str | None
    role: Role | None
    as_json: bool


class Asked(Protocol):
    """What answers a question: a running bot, or one in this process."""

    def ask(self, text: str, *, thread: str | None, role: Role | None) -> AsyncGenerator[Frame, None]: ...

    async def stop(self, thread: str) -> None: ...


# -- ask ---------------------------------------------------------------------------------------------------------------


async def ask(question: Question, where: Where) -> int:
    """Ask, print the answer as it comes, and return the exit code. Raises ChatopsError with one sentence."""
    folder, config = where.find()
    if not question.text.strip():
        raise LocalRefused("The question is empty; write it in quotes behind `ask`, or pipe it into `ask -`.")
    try:
        async with reach(folder) as running:
            if running is not None:
                return await _Conversation(running, question, where, is_kept=True).run()
        if config is None:
            raise ConfigInvalid(
                f"No bot runs on {folder}; start it, or name a configuration with --config to ask without one."
            )
        # Imported only where it is needed: a whole bot takes longer to load than most answers take to begin.
        from chatops_bot.app.ask_here import bot_for_one_question

        async with bot_for_one_question(config, thread=question.thread, role=question.role) as here:
            sys.stderr.write(f"No bot runs on {folder}: asking directly, as viewer; nothing is kept.\n")
            return await _Conversation(here, question, where, is_kept=False).run()
    except BrokenPipeError:
        forget_stdout()
        return NOT_DONE


class _Conversation:
    """One question and its answer. Ctrl-C stops the turn, whose end is still shown; a second one does not wait for it."""

    def __init__(self, asked: Asked, question: Question, where: Where, *, is_kept: bool) -> None:
        self._asked = asked
        self._question = question
        self._is_kept = is_kept
        self._printer = _JsonLines(sys.stdout) if question.as_json else _screen(where)
        self._thread = ""
        self._printing: asyncio.Task[TurnOutcome | None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._is_interrupted = False

    async def run(self) -> int:
        loop, lost = asyncio.get_running_loop(), ""
        self._printing = asyncio.create_task(self._print())
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            outcome = await self._printing
        except asyncio.CancelledError:
            if not self._is_interrupted:
                raise
            outcome = None
        except PlatformUnavailable as error:
            if not self._thread:  # it never began
                raise
            outcome, lost = None, str(error)
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            if self._stopping is not None:
                await asyncio.gather(self._stopping, return_exceptions=True)
        self._printer.close()
        if lost:
            sys.stderr.write(shown(f"chatops-bot: {lost}\n"))
        if self._thread and self._is_kept and not self._question.as_json:
            as_whom = "" if self._question.role else "; to ask for changes add --as operator"
            sys.stderr.write(f"thread {self._thread}  (go on with --thread {self._thread}{as_whom})\n")
        if self._is_interrupted:
            return STOPPED_BY_KEY
        return DONE if outcome in _FINISHED else NOT_DONE

    def _interrupt(self) -> None:
        if self._thread and not self._is_interrupted:
            self._stopping = asyncio.create_task(self._asked.stop(self._thread))
        elif self._printing is not None:
            self._printing.cancel()
        self._is_interrupted = True

    async def _print(self) -> TurnOutcome | None:
        question = self._question
        frames = self._asked.ask(question.text, thread=question.thread, role=question.role)
        async with aclosing(frames):
            async for frame in frames:
                if isinstance(frame, Opened):
                    self._thread = frame.thread
                self._printer.show(frame)
                if isinstance(frame, Ended):
                    return frame.outcome
        raise PlatformUnavailable(
            "The bot ended in the middle of the answer; look at its log, then ask again."
        )


class _JsonLines:
    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show(self, frame: Frame) -> None:
        self._out.write(json.dumps(frame_to_json(frame), ensure_ascii=False) + "\n")
        self._out.flush()

    def close(self) -> None:
        pass


# -- approve and reject ------------------------------------------------------------------------------------------------


async def decide(verdict: Verdict, code: str, role: Role | None, where: Where, reason: str = "") -> int:
    """Decide about a proposal of the running bot, print what came of it, and return the exit code."""
    folder, _ = where.find()
    async with reach(folder) as running:
        if running is None:
            raise LocalRefused(
                f"No bot runs on {folder}; a decision is carried out by the running bot: start it."
            )
        answer = await running.decide(verdict, code, role, reason)
    try:
        look = _look(where)
        for view in answer["views"]:
            sys.stdout.write(view_text(view_from_json(view), look) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    return DONE if answer["is_done"] else NOT_DONE


# -- what both need ----------------------------------------------------------------------------------------------------


def question_text(text: str) -> str:
    """The question as it was given, or all of stdin for `-`; bytes that are no text become question marks."""
    if text == "-":
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        text = sys.stdin.read(MAX_STDIN_CHARS)
    return text.encode("utf-8", "replace").decode()


def _screen(where: Where) -> Screen:
    return Screen(sys.stdout, _look(where), is_live=_is_terminal())


def _look(where: Where) -> Look:
    """Colours and wrapping are for terminals; NO_COLOR (no-color.org) with any value takes the colours away."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a letter shows a question mark
    if not _is_terminal():
        return Look(where=where.options)
    has_colour = not os.environ.get("NO_COLOR")
    return Look(shutil.get_terminal_size().columns, has_colour=has_colour, where=where.options)


def _is_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
