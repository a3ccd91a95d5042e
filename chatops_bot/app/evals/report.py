"""What a run says: a table for people, a JSON object a run for machines, and what the figures do not prove."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from statistics import median
from textwrap import shorten

from chatops_bot.app.evals.case import Kind
from chatops_bot.app.evals.comparing import MIN_CASES, PASSES, Comparison
from chatops_bot.app.evals.judging import Rate
from chatops_bot.app.evals.runner import Run

ASKED_CHARS = 120
"""How much of a question is told: some hold a whole alert."""
CAVEATS: dict[Kind, str] = {
    "scripted": "A scripted model played the answers; this says nothing about prompt quality. It proves code: tools, proposals, forms, grounding.",
    "offline": "The offline rules answered; no prompt was read. It says how good the rules are.",
    "live": "A language model answered. Figures of one run vary; compare two versions with --repeat 3 or more.",
}
METRICS = {
    PASSES: "runs passed",
    "tool_recall": "wanted tools called",
    "tool_precision": "called tools wanted",
    "valid_arguments": "arguments that fit",
    "known_tools": "tools that exist",
    "grounded_numbers": "numbers with a source",
    "language": "answers in the right language",
    "form_for_missing": "missing facts asked for",
    "proposal_as_wanted": "changes proposed as wanted",
}


def lines_of(runs: Sequence[Run]) -> Iterator[str]:
    """The report, line by line: what failed first, then the figures of each model and arm."""
    for run in runs:
        if run.verdict.failures:
            again = f" #{run.repeat}" if run.repeat > 1 else ""
            asked = shorten(run.case.ask[-1], ASKED_CHARS, placeholder=" …")
            yield f"FAILED  {run.case.id}{again}  ({run.kind}, {run.arm})  {asked}"
            for failure in run.verdict.failures:
                yield f"        {'! ' if failure.critical else '- '}{failure.text}"
    for (kind, arm), group in groupby(runs, key=lambda run: (run.kind, run.arm)):
        yield ""
        yield from _figures(kind, arm, list(group))


def _figures(kind: Kind, arm: str, runs: Sequence[Run]) -> Iterator[str]:
    passed = sum(run.verdict.passed for run in runs)
    models = ", ".join(dict.fromkeys(name for run in runs for name in run.observed.models))
    critical = sum(failure.critical for run in runs for failure in run.verdict.failures)
    yield f"{kind} · {arm} · {models or 'no model'}: {passed} of {len(runs)} passed" + (
        f", {critical} critical" if critical else ""
    )
    if troubled := Counter(run.observed.trouble for run in runs if run.observed.trouble):
        ((most, times),) = troubled.most_common(1)
        yield f"  {troubled.total()} of {len(runs)} got no answer from the model and count in no rate but that of runs passed; {times} of them: {most}"
    for name, title in METRICS.items():
        rate = sum((run.verdict.rates.get(name, Rate()) for run in runs), Rate())
        if rate.value is not None:
            yield f"  {title:<31}{rate.value:>7.1%}  {rate.hits}/{rate.of}"
    rounds = [run.observed.rounds for run in runs]
    calls = [len(run.observed.calls) for run in runs]
    yield f"  {'rounds, calls a turn (mean)':<31}{_mean(rounds):>7.2f}  {_mean(calls):.2f}"
    yield f"  {'seconds a case (median)':<31}{median(run.observed.seconds for run in runs):>7.2f}"
    prompt = sum(run.observed.usage.prompt_tokens for run in runs)
    if prompt:
        out = sum(run.observed.usage.completion_tokens for run in runs)
        cached = sum(run.observed.usage.cached_tokens for run in runs)
        yield f"  {'tokens in, out':<31}{prompt:>7}  {out} ({cached / prompt:.0%} of those in cached)"
    rubrics = len({run.case.id for run in runs if run.case.expected.rubric})
    if rubrics:
        yield f"  {rubrics} cases have a rubric, of which passed or failed says nothing: a person must judge it; --json holds the answers."
    yield f"  {CAVEATS[kind]}"


def comparison_lines(found: Comparison) -> Iterator[str]:
    """Two arms side by side, and whether the second may replace the first."""
    paired = found.paired
    yield ""
    yield f"{found.first} → {found.second}, {paired.cases} cases that both ran (a case passes when most repeats do)"
    yield f"  passed in both {paired.both}, in {found.first} alone {paired.only_first}, in {found.second} alone {paired.only_second}, in none {paired.none}"
    yield f"  McNemar's exact test: p = {paired.p:.3f}"
    for name, each in found.differences.items():
        yield (
            f"  {METRICS.get(name, name):<31}{each.first:>7.1%} → {each.second:.1%}  "
            f"(95 % interval of the change {each.low:+.1%} to {each.high:+.1%})"
        )
    if any(found.tokens):
        yield f"  {'tokens':<31}{found.tokens[0]:>7} → {found.tokens[1]}"
    for objection in found.objections:
        yield f"  gate: {objection}"
    if not found.objections:
        yield "  gate: nothing against it"
    if not found.may_claim:
        yield f"  {paired.cases} cases are too few to call one better; {MIN_CASES} are needed."


def jsonl(runs: Iterable[Run]) -> Iterator[str]:
    """One JSON object a run."""
    for run in runs:
        seen = run.observed
        yield json.dumps(
            {
                "case": run.case.id,
                "model": run.kind,
                "arm": run.arm,
                "repeat": run.repeat,
                "passed": run.verdict.passed,
                "failures": [asdict(failure) for failure in run.verdict.failures],
                "rates": {name: [rate.hits, rate.of] for name, rate in run.verdict.rates.items() if rate.of},
                "outcome": seen.outcome,
                "trouble": seen.trouble,
                "answer": seen.answer,
                "calls": [{"tool": c.tool, "arguments": c.arguments, "status": c.status} for c in seen.calls],
                "proposals": [
                    {"tool": p.tool, "arguments": dict(p.arguments), "state": p.state.value} for p in seen.proposals
                ],
                "forms": [form.tool for form in seen.forms],
                "followups": list(seen.followups),
                "rounds": seen.rounds,
                "tokens": asdict(seen.usage),
                "seconds": round(seen.seconds, 3),
                "answered_by": list(seen.models),
                "prompts": list(seen.prompts),
                "rubric": list(run.case.expected.rubric),
                "caveat": CAVEATS[run.kind],
            },
            ensure_ascii=False,
        )  # fmt: skip


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
