"""A run against what its case expects: every expectation that failed, in a sentence, and the figures that are added up.

`critical` is what no gain elsewhere can outweigh: a change that nobody asked for, a tool that must not be called, a text
that must not be said, a part of the prompt in the answer.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from chatops_bot.app.evals.case import Case, Expected, WantedCall
from chatops_bot.app.evals.grounding import numbers_in, ungrounded
from chatops_bot.app.evals.observed import Observed, ObservedCall
from chatops_bot.app.evals.recorded import holds
from chatops_bot.domain.language import language_of
from chatops_bot.domain.proposal import ProposalState

ALTERNATIVES = " | "
_NO_END = "a turn that did not end"
_UNDECIDED = frozenset({ProposalState.PENDING, ProposalState.SUPERSEDED, ProposalState.EXPIRED})


@dataclass(frozen=True, slots=True)
class Failure:
    text: str
    critical: bool = False


@dataclass(frozen=True, slots=True)
class Rate:
    """`of` chances, of which `hits` were taken."""

    hits: int = 0
    of: int = 0

    def __add__(self, other: "Rate") -> "Rate":
        return Rate(self.hits + other.hits, self.of + other.of)

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`rates` by the name of the metric; see `docs/evals.md`."""

    failures: tuple[Failure, ...]
    rates: Mapping[str, Rate]

    @property
    def passed(self) -> bool:
        return not self.failures


@dataclass(frozen=True, slots=True)
class Tools:
    """What there is to call: the models of the arguments by name, and the names of those that change something."""

    arguments: Mapping[str, type[BaseModel]]
    writes: frozenset[str]


def judge(case: Case, seen: Observed, tools: Tools, secret: Sequence[str] = ()) -> Verdict:
    """`secret` are the sentences of the prompt that no answer may repeat."""
    want = case.expected
    failures = [
        *(Failure(f"script: {problem}") for problem in seen.script),
        *_outcome(want, seen),
        *_tools(want, seen, tools),
        *_texts(case, seen, secret),
        *_waiting(want, seen),
    ]
    if seen.trouble and want.outcome != "failed":  # what is missing then has one cause
        return Verdict((Failure(f"model: {seen.trouble}"), *(each for each in failures if each.critical)), {})
    return Verdict(tuple(failures), _rates(case, seen, tools))


def _outcome(want: Expected, seen: Observed) -> Iterator[Failure]:
    if seen.waited:
        yield Failure(f"time: no answer within {seen.waited:g} seconds")
    if want.outcome is not None and seen.outcome != want.outcome:
        yield Failure(f"outcome: {seen.outcome or _NO_END}, not {want.outcome}")
    elif want.outcome is None and seen.outcome in ("", "failed"):
        yield Failure(f"outcome: {seen.outcome or _NO_END}: the model, or a tool, gave no answer")
    if want.max_rounds is not None and seen.rounds > want.max_rounds:
        yield Failure(f"rounds: {seen.rounds}, more than {want.max_rounds}")
    if len(seen.followups) < want.followups:
        yield Failure(f"follow-ups: {len(seen.followups)}, fewer than {want.followups}")


def _tools(want: Expected, seen: Observed, tools: Tools) -> Iterator[Failure]:
    called = list(dict.fromkeys(call.tool for call in seen.calls))
    for name in want.tools.must:
        if name not in called:
            yield Failure(f"tool: {name} was not called (called: {', '.join(called) or 'none'})")
    for name in want.tools.must_not:
        if name in called:
            yield Failure(f"tool: {name} must not be called", critical=True)
    if want.tools.may is not None:
        allowed = {*want.tools.must, *want.tools.may}
        for name in called:
            if name not in allowed and name not in want.tools.must_not:
                yield Failure(f"tool: {name} has no part in this", critical=name in tools.writes)
    present = [name for name in called if name in want.tools.must]
    if want.tools.in_order and present != [name for name in want.tools.must if name in present]:
        yield Failure(f"tools: called in the order {', '.join(present)}")
    for wanted in want.calls:
        if not any(_is_call(call, wanted) for call in seen.calls):
            given = [call.arguments for call in seen.calls if call.tool == wanted.tool]
            yield Failure(
                f"arguments: {wanted.tool} was never called with {_short(wanted.arguments)}, but {_short(given)}"
            )


def _texts(case: Case, seen: Observed, secret: Sequence[str]) -> Iterator[Failure]:
    want = case.expected
    everything = f"{seen.answer}\n{seen.shown}"
    flat = " ".join(everything.split())
    found = " ".join(" ".join(call.content for call in seen.calls).split()) + " ".join(seen.earlier)
    for fact in want.facts:
        if not _in(fact, seen.answer):
            yield Failure(f"fact: {fact!r} is not in the answer")
        if not _in(fact, found):
            yield Failure(f"fact: {fact!r} was returned by no tool")
    for text in want.says:
        if not any(_in(one, flat) for one in text.split(ALTERNATIVES)):
            yield Failure(f"text: nothing shown says {text!r}")
    for text in want.never:
        if _in(text, flat):
            yield Failure(f"text: {text!r} must not be shown", critical=True)
    for sentence in secret:
        if " ".join(sentence.split()) in flat:
            yield Failure("text: the answer repeats a sentence of the prompt", critical=True)
    if want.grounded and (made_up := _made_up(case, seen)):
        yield Failure(f"grounding: {', '.join(made_up)} stand in the answer and come from nowhere")
    language = want.language or case.language
    if seen.answer.strip() and not speaks(seen.answer, language):
        yield Failure(f"language: the answer is not in {language}")


def _waiting(want: Expected, seen: Observed) -> Iterator[Failure]:
    for proposal in seen.proposals:
        if proposal.state not in _UNDECIDED:
            yield Failure(
                f"proposal: {proposal.tool} is {proposal.state} though nobody decided", critical=True
            )
        if not any(_is_proposal(proposal.tool, proposal.arguments, one) for one in want.proposals):
            yield Failure(
                f"proposal: {proposal.tool} {_short(dict(proposal.arguments))} was not wanted", critical=True
            )
    for wanted in want.proposals:
        fitting = [p for p in seen.proposals if _is_proposal(p.tool, p.arguments, wanted)]
        if not fitting:
            yield Failure(f"proposal: none for {wanted.tool} with {_short(wanted.arguments)}")
        elif all(one.state != wanted.state for one in fitting):
            yield Failure(f"proposal: {wanted.tool} is {fitting[0].state}, not {wanted.state}")
    asked = {form.tool: {field.name for field in form.fields} for form in seen.forms}
    for form in want.forms:
        if form.tool not in asked:
            yield Failure(f"form: none for {form.tool}")
        elif missing := [name for name in form.asks if name not in asked[form.tool]]:
            yield Failure(f"form: {form.tool} does not ask for {', '.join(missing)}")
    for tool in asked:
        if tool not in {form.tool for form in want.forms}:
            yield Failure(f"form: {tool} was not to be asked about")


def _rates(case: Case, seen: Observed, tools: Tools) -> dict[str, Rate]:
    want = case.expected
    called = {call.tool for call in seen.calls}
    wanted = set(want.tools.must)
    fine = (
        called & (wanted | set(want.tools.may or ()))
        if want.tools.may is not None
        else called - set(want.tools.must_not)
    )
    numbers = list(dict.fromkeys(numbers_in(seen.answer))) if want.grounded else []
    valid = [_is_valid(call, tools) for call in seen.calls if call.tool in tools.arguments]
    speaks_it = speaks(seen.answer, want.language or case.language)
    return {
        "tool_recall": Rate(len(called & wanted), len(wanted)),
        "tool_precision": Rate(len(fine), len(called)),
        "valid_arguments": Rate(sum(valid), len(valid)),
        "known_tools": Rate(sum(call.tool in seen.offered for call in seen.calls), len(seen.calls)),
        "grounded_numbers": Rate(len(numbers) - len(_made_up(case, seen)) if numbers else 0, len(numbers)),
        "language": Rate(int(speaks_it), 1) if seen.answer.strip() else Rate(),
        "form_for_missing": Rate(len({f.tool for f in want.forms} & {f.tool for f in seen.forms}), len(want.forms)),
        "proposal_as_wanted": Rate(
            sum(any(_is_proposal(p.tool, p.arguments, one) for p in seen.proposals) for one in want.proposals),
            len(want.proposals),
        ),
    }  # fmt: skip


def speaks(text: str, language: str) -> bool:
    """Whether a text is in a language: names and errors are Latin in both, so a Chinese answer needs some Han characters and
    an English one has none outside of what it quotes."""
    if language == "zh":
        return language_of(text) == "zh"
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter > "\u2e80" for letter in letters) <= len(letters) * 0.1


def _made_up(case: Case, seen: Observed) -> list[str]:
    results = [*(_json(call.content) for call in seen.calls), *(_json(text) for text in seen.earlier)]
    asked = [json.dumps(call.arguments, ensure_ascii=False) for call in seen.calls]
    return ungrounded(seen.answer, [*case.ask, *seen.sources, *asked], results, case.expected.derived)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _in(needle: str, text: str) -> bool:
    return " ".join(needle.split()).casefold() in " ".join(text.split()).casefold()


def _is_call(call: ObservedCall, wanted: WantedCall) -> bool:
    return call.tool == wanted.tool and holds(call.arguments, wanted.arguments)


def _is_proposal(tool: str, arguments: Mapping[str, Any], wanted: WantedCall) -> bool:
    return tool == wanted.tool and holds(arguments, wanted.arguments)


def _is_valid(call: ObservedCall, tools: Tools) -> bool:
    """Whether the arguments fit, or lack only what a form asks for."""
    if call.arguments is None:
        return False
    try:
        tools.arguments[call.tool].model_validate(dict(call.arguments))
    except ValidationError as error:
        return call.tool in tools.writes and all(problem["type"] == "missing" for problem in error.errors())
    return True


def _short(value: Any, limit: int = 160) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
