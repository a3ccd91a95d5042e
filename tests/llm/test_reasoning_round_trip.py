"""Reasoning over the whole way: from a provider's stream through loop and transcript into its next request, unchanged."""

import json
from typing import Any

import aiohttp
import pytest

from chatops_bot.app.clock import CountingIds
from chatops_bot.context.fence import fresh_marks
from chatops_bot.context.history import project
from chatops_bot.domain.model import ModelRequest
from chatops_bot.llm.openai_client import OpenAIClient
from chatops_bot.llm.openai_request import encode
from tests.llm.model_server import DONE, Answer, ModelServer, chunk, text
from tests.llm.playground import Playground, session_of
from tests.small_tools import PHRASES

SIGNED = {"google": {"thought_signature": "c2lnbmVk"}}
PIECE = {
    "index": 0,
    "id": "call_a",
    "function": {"name": "look", "arguments": '{ "name":"备份"}'},
    "extra_content": SIGNED,
}
DETAILS = [
    {"type": "reasoning.text", "index": 0, "text": "hm ", "signature": None},
    {"type": "reasoning.text", "index": 0, "text": "so", "signature": "s"},
    {"type": "reasoning.encrypted", "index": 1, "data": "b3BhcXVl"},
]
WAYS: dict[str, tuple[list[bytes], dict[str, Any]]] = {
    "reasoning_content": (
        [chunk(reasoning_content=" hm"), chunk(reasoning_content="\n so")],
        {"reasoning_content": " hm\n so", "content": None},
    ),
    "empty": ([chunk(reasoning_content="")], {"reasoning_content": "", "content": None}),
    "details": (
        [chunk(reasoning="hm so"), *(chunk(reasoning_details=[detail]) for detail in DETAILS)],
        {
            "reasoning": "hm so",
            "reasoning_details": [{**DETAILS[0], "text": "hm so", "signature": "s"}, DETAILS[2]],
            "content": None,
        },
    ),
    "tags": ([text("<think>h"), text("m</think>\n\nI look.")], {"content": "<think>hm</think>\n\nI look."}),
}


@pytest.mark.case("peer-T16")
@pytest.mark.case("peer-T18")
@pytest.mark.parametrize("way", WAYS)
async def test_reasoning_and_signatures_come_back_to_the_model_that_sent_them(
    playground: Playground, session: aiohttp.ClientSession, server: ModelServer, way: str
):
    sent, wanted = WAYS[way]
    server.answers = [
        Answer([*sent, chunk(tool_calls=[PIECE]), chunk("tool_calls"), DONE]),
        Answer([text("One failed."), chunk("stop"), DONE]),
    ]
    model = OpenAIClient(session, base_url=server.base_url, api_key="", model="m")
    played = await playground.play(model)
    assert played.looked_for == ["备份"]
    assert "hm" not in played.text

    in_the_same_turn = server.received[1].body["messages"][2]
    history = tuple(
        project(
            await playground.store.transcripts.load(session_of(0)),
            marks=fresh_marks(CountingIds().nonce),
            words=PHRASES.calls,
        )
    )
    in_a_later_turn = json.loads(encode(ModelRequest(history, ()), "m", speaker=model.name))["messages"][0]
    for message in (in_the_same_turn, in_a_later_turn):
        (call,) = message.pop("tool_calls")
        assert call == {
            "id": "call_a",
            "type": "function",
            "function": {"name": "look", "arguments": '{ "name":"备份"}'},
            "extra_content": SIGNED,
        }
        assert message == {"role": "assistant", **wanted}

    elsewhere = encode(ModelRequest(history, ()), "other", speaker="other at elsewhere").decode()
    assert not any(opaque in elsewhere for opaque in ("reasoning", "think", "c2lnbmVk", "b3BhcXVl"))
