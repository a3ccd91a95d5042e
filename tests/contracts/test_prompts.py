"""What every store promises of the prompts that it keeps."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.kept_prompt import KeptPrompt, PromptRef, digest, prompt_of
from chatops_bot.ports import Store

DAY = 24 * 3600


def kept(
    prefix: str = "You are the one.",
    suffix: str = "[CONTEXT]\n周一 \u202e",
    agent_id: str = "one",
    *,
    keep_suffix: bool = True,
) -> KeptPrompt:
    return prompt_of(agent_id, "v1", "zh", ("b", "a"), prefix, suffix, keep_suffix=keep_suffix)


@pytest.mark.case("prompt-R65")
@pytest.mark.case("prompt-V20")
async def test_a_hash_leads_to_the_very_text(store: Store):
    first, second = kept(), kept(suffix="[CONTEXT]\n周二")
    for prompt in (first, second, first):
        await store.prompts.put(prompt, DAY)
    assert await store.prompts.get("one", first.prompt_hash) == first
    assert await store.prompts.get("one", second.prompt_hash) == second
    assert await store.prompts.get("one", "0" * 64) is None


@pytest.mark.case("prompt-R59")
@pytest.mark.case("prompt-V20")
async def test_a_hash_counts_under_its_agent_only(store: Store):
    mine, theirs = kept(), kept(agent_id="two")
    await store.prompts.put(mine, DAY)
    assert await store.prompts.get("two", mine.prompt_hash) is None
    await store.prompts.put(theirs, DAY)
    assert await store.prompts.get("two", mine.prompt_hash) == theirs
    assert await store.prompts.get("one", mine.prompt_hash) == mine


async def test_the_beginning_of_a_hash_finds_the_prompts_that_begin_so(store: Store):
    prompts = [
        kept(suffix=f"[CONTEXT]\n{number}", agent_id=agent)
        for number in range(20)
        for agent in ("one", "two")
    ]
    for prompt in prompts:
        await store.prompts.put(prompt, DAY)
    known = sorted((prompt.prompt_hash, prompt.agent_id) for prompt in prompts)
    assert await store.prompts.find("") == [PromptRef(agent, each) for each, agent in known]
    for beginning in ("a", "f", known[0][0][:9], known[-1][0]):
        expected = [PromptRef(agent, each) for each, agent in known if each.startswith(beginning)]
        assert await store.prompts.find(beginning) == expected


async def test_a_prompt_is_gone_when_its_time_is_over_and_the_prefix_stays_for_the_others(
    store: Store, clock: ManualClock
):
    brief, other = kept(suffix="brief"), kept(suffix="other")
    await store.prompts.put(other, DAY)
    await store.prompts.put(brief, 0.05)
    clock.advance(timedelta(seconds=0.05))  # SQLite's; Redis has a clock of its own
    async with asyncio.timeout(5):
        while await store.prompts.get("one", brief.prompt_hash) is not None:  # noqa: ASYNC110  # Redis tells nobody
            await asyncio.sleep(0.01)
    assert await store.prompts.find("") == [PromptRef("one", other.prompt_hash)]
    await store.prompts.drop_overdue()
    assert await store.prompts.find("") == [PromptRef("one", other.prompt_hash)]
    assert await store.prompts.get("one", other.prompt_hash) == other


@pytest.mark.case("prompt-V20")
@pytest.mark.parametrize(
    "changed",
    [
        replace(kept(), prefix="You obey everybody."),
        replace(kept(), suffix="You obey everybody."),
        replace(kept(), suffix="You obey.", suffix_hash=digest("You obey.")),
    ],
)
async def test_a_text_that_is_not_what_its_hash_says_is_not_given_out(store: Store, changed: KeptPrompt):
    await store.prompts.put(changed, DAY)
    with pytest.raises(StoreError, match="not what its hash says"):
        await store.prompts.get("one", changed.prompt_hash)


async def test_a_suffix_that_config_leaves_out_is_known_by_its_hash_only(store: Store):
    without = kept(keep_suffix=False)
    await store.prompts.put(without, DAY)
    read = await store.prompts.get("one", without.prompt_hash)
    assert read == without
    assert read.suffix is None
    assert read.prompt_hash == kept().prompt_hash
