"""The client against a real server on this machine: what goes out, what comes back, and every way to fail."""

import asyncio
import socket
import traceback
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from chatops_bot.domain.errors import (
    ConfigInvalid,
    ModelBlocked,
    ModelBroke,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelTooLong,
    ModelUnavailable,
)
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ModelRequest,
    Reasoning,
    ReasoningDelta,
    SystemMessage,
    TextDelta,
    TextEnded,
    ThoughtEnded,
    ToolDefinition,
    Usage,
    UserMessage,
)
from chatops_bot.llm.openai_client import ModelTimeouts, OpenAIClient, completions_url
from chatops_bot.llm.openai_errors import retry_after_of
from tests.llm.model_server import BEATING, DONE, Answer, ModelServer, chunk, complaint, event, text, usage

KEY = "sk-proj-0123456789abcdefghij"
REQUEST = ModelRequest((UserMessage("what failed?"),), ())
PATIENT = ModelTimeouts(linger=60)
HELLO = Answer([text("Hel"), text("lo"), chunk("stop"), usage(9, 2), DONE])


class Sleeper:
    """Stands for the pause between tries: notes it and returns at once."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waited.append(seconds)


def client(session: aiohttp.ClientSession, server: ModelServer, **options: Any) -> OpenAIClient:
    return OpenAIClient(
        session, **{"base_url": server.base_url, "api_key": KEY, "model": "m", "sleep": Sleeper(), **options}
    )


async def answer_of(model: OpenAIClient, request: ModelRequest = REQUEST) -> list[ModelDelta]:
    """Every delta but `TextEnded`."""
    async with asyncio.timeout(10):
        return [delta async for delta in model.stream(request) if not isinstance(delta, TextEnded)]


def text_of(deltas: list[ModelDelta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def ended(deltas: list[ModelDelta]) -> bool:
    return isinstance(deltas[-1], Finished) and deltas[-1].reason is FinishReason.STOP


async def failure_of(model: OpenAIClient) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await answer_of(model)
    told = f"{caught.value} {caught.value.phrase.zh} {caught.value!r}"
    assert KEY not in told + "".join(traceback.format_exception(caught.value))
    assert "Bearer" not in told
    return caught.value


async def test_streams_text_and_ends_with_usage(session, server):
    server.answers = [HELLO]
    model = client(session, server)
    deltas = await answer_of(model)
    finished = Finished(FinishReason.STOP, Usage(9, 2, 0), model=model.name)
    assert text_of(deltas) == "Hello"
    assert deltas[-1] == finished
    received = server.received[0]
    assert received.path == "/v1/chat/completions"
    assert received.headers["Authorization"] == f"Bearer {KEY}"
    assert received.body["stream_options"] == {"include_usage": True}


async def test_an_empty_key_is_not_sent(session, server):
    server.answers = [HELLO]
    await answer_of(client(session, server, api_key=" \n"))
    assert "Authorization" not in server.received[0].headers


async def test_calls_in_a_row_use_one_connection(session, server):
    server.answers = [HELLO]
    model = client(session, server)
    for _ in range(3):
        await answer_of(model)
    assert len(server.connections) == 1


def test_the_name_says_model_and_host():
    session = object()
    model = OpenAIClient(session, base_url="https://api.example.com/v1", api_key="", model="gpt")  # type: ignore[arg-type]  # never used
    assert model.name == "gpt at api.example.com"


@pytest.mark.case("nightingale-T66")
@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://a.example", "https://a.example/v1/chat/completions"),
        ("https://a.example/", "https://a.example/v1/chat/completions"),
        (" https://a.example/v1 ", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1/", "https://a.example/v1/chat/completions"),
        ("https://a.example/api/paas/v4", "https://a.example/api/paas/v4/chat/completions"),
        ("https://a.example/v1/chat/completions", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1/chat/completions/", "https://a.example/v1/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
        ("https://a.example/d/x?api-version=1", "https://a.example/d/x/chat/completions?api-version=1"),
    ],
)
def test_base_url_forms(base, url):
    assert str(completions_url(base)) == url


@pytest.mark.parametrize(
    "base",
    ["", "api.example.com/v1", "ftp://a.example", "https://", "https://u:hunter22@a.example", "http://a:x"],
)
def test_a_base_url_that_cannot_work_is_said_at_once(base):
    with pytest.raises(ConfigInvalid) as caught:
        completions_url(base)
    assert "hunter22" not in str(caught.value)


def test_a_key_that_cannot_be_a_header_is_said_at_once():
    with pytest.raises(ConfigInvalid) as caught:
        OpenAIClient(object(), base_url="https://a.example", api_key="sk-a\nb", model="m")  # type: ignore[arg-type]  # never used
    assert "sk-a" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"),
    [
        (400, complaint("tools[0] is odd"), ModelRefused, "tools[0] is odd"),
        (400, complaint("x", code="context_length_exceeded"), ModelTooLong, "longer than model m"),
        (400, complaint("x", code="content_filter"), ModelBlocked, "content filter"),
        (400, b"", ModelRefused, "HTTP 400"),
        (400, complaint(f"bad key {KEY} " + "x" * 999), ModelRefused, "[redacted:"),
        (401, complaint(f"Incorrect API key: {KEY}"), ModelRefused, "does not accept the model's API key"),
        (403, b"<html>", ModelRefused, "does not accept the model's API key"),
        (402, complaint("Insufficient Balance"), ModelRefused, "no quota or credit left"),
        (404, complaint("no such model"), ModelRefused, "Check the model name and the base URL"),
        (302, b"", ModelRefused, "redirects"),
        (500, b"oops", ModelUnavailable, "overloaded or down (HTTP 500)"),
        (529, b"", ModelUnavailable, "HTTP 529"),
        (429, complaint("slow down"), ModelUnavailable, "rate limited"),
    ],
)  # fmt: skip
async def test_http_errors_are_told_in_one_sentence(session, server, status, body, kind, says):
    server.answers = [Answer([body], status=status, headers={"Location": "http://127.0.0.1:1/"})]
    failure = await failure_of(client(session, server))
    assert type(failure) is kind
    assert says in str(failure)
    assert len(str(failure)) < 400
    assert failure.phrase.zh
    assert len(server.received) == (3 if kind is ModelUnavailable else 1)


@pytest.mark.case("peer-T23")
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, complaint("x", code="insufficient_quota")),
        (429, complaint("You exceeded your current quota, please check your plan and billing details.")),
        (429, complaint("x", type="exceeded_current_quota_error")),
        (429, complaint("x", code="billing_hard_limit_reached")),
        (429, complaint("账户余额不足", code="1113")),
        (403, complaint("x", code="AccountOverdueError")),
        (400, complaint("Your credit balance is too low to use the API.")),
        (402, b""),
    ],
)
async def test_a_used_up_quota_is_said_plainly_and_not_tried_again(session, server, status, body):
    server.answers = [Answer([body], status, {"Retry-After": "1"})]
    failure = await failure_of(client(session, server))
    assert isinstance(failure, ModelRefused)
    assert "no quota or credit left" in failure.phrase.en
    assert "没有额度或余额" in failure.phrase.zh
    assert len(server.received) == 1


@pytest.mark.case("peer-T23")
@pytest.mark.parametrize(
    "body",
    [
        complaint("Rate limit reached", code="rate_limit_exceeded"),
        complaint("并发过高", code="1302"),
        b"<html>",
        b"",
    ],
)
async def test_a_rate_limit_is_no_used_up_quota(session, server, body):
    server.answers = [Answer([body], 429)]
    failure = await failure_of(client(session, server))
    assert isinstance(failure, ModelUnavailable)
    assert "rate limited" in failure.phrase.en
    assert "限流" in failure.phrase.zh
    assert len(server.received) == 3


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_the_error_page_of_a_proxy_is_not_quoted(session, server, status):
    server.answers = [Answer([b"<html><h1>nginx</h1></html>"], status, {"Content-Type": "text/html"})]
    failure = await failure_of(client(session, server))
    assert isinstance(failure, ModelUnavailable)
    assert failure.phrase.en.endswith(f"(HTTP {status}). Try again in a moment.")


@pytest.mark.case("peer-T23")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After-Ms": "250"}, 0.25),
        ({"Retry-After": "9" * 400}, 86_400.0),
        ({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:00 GMT"}, 0.0),
        ({"Retry-After": "Sun, 06 Nov 2094 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"}, 86_400.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_read_and_bounded(headers, seconds):
    assert retry_after_of(headers) == seconds


@pytest.mark.case("peer-T23")
async def test_retry_after_is_honoured(session, server):
    server.answers = [Answer(status=429, headers={"Retry-After": "7"}), Answer(status=503), HELLO]
    sleeper = Sleeper()
    assert text_of(await answer_of(client(session, server, sleep=sleeper))) == "Hello"
    assert sleeper.waited == [7.0, 1.5]


@pytest.mark.case("peer-T23")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "Sun, 06 Nov 1994 08:51:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"}, 120),
        ({"Retry-After": "11"}, 11),  # well before the first delta would be due
    ],
)
async def test_a_long_retry_after_is_told_instead_of_waited_for(session, server, headers, seconds):
    server.answers = [Answer(status=429, headers=headers)]
    failure = await failure_of(client(session, server))
    assert isinstance(failure, ModelUnavailable)
    assert failure.retry_after == seconds
    assert f"in {seconds} s" in str(failure)
    assert len(server.received) == 1


@pytest.mark.case("peer-T11")
async def test_include_usage_is_dropped_once_and_for_all_when_rejected(session, server):
    refusal = Answer([complaint("Unknown parameter: stream_options")], status=400)
    server.answers = [refusal, HELLO]
    model = client(session, server)
    await answer_of(model)
    await answer_of(model)
    assert ["stream_options" in received.body for received in server.received] == [True, False, False]


@pytest.mark.case("nightingale-T65")
async def test_a_second_rejection_is_not_tried_again(session, server):
    server.answers = [Answer([complaint("Unknown parameter: stream_options")], status=400)]
    assert isinstance(await failure_of(client(session, server)), ModelRefused)
    assert len(server.received) == 2


TOOL = ToolDefinition("look", "Looks.", {"type": "object"})


async def test_a_model_that_may_not_call_is_shown_the_same_tools_and_told_so(session, server):
    server.answers = [HELLO]
    model = client(session, server)
    for may_call in (True, False):
        await answer_of(model, replace(REQUEST, tools=(TOOL,), may_call=may_call))
    free, bound = (received.body for received in server.received)
    assert bound.pop("tool_choice") == "none"
    assert bound == free


async def test_the_choice_of_no_tool_is_left_out_once_and_for_all_when_rejected(session, server):
    refusal = Answer([complaint("Unknown parameter: tool_choice")], status=400)
    server.answers = [refusal, HELLO]
    model = client(session, server)
    for _ in range(2):
        await answer_of(model, replace(REQUEST, tools=(TOOL,), may_call=False))
    assert ["tool_choice" in received.body for received in server.received] == [True, False, False]
    assert all(received.body["tools"] for received in server.received)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "Unexpected role 'user' after role 'tool'"),
        (400, "Expected last role User or Tool (or Assistant with prefix True) for serving but got system"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (422, "messages: system role is not supported"),
        (500, "Value is not callable: raise_exception('System role not supported')"),
    ],
)
async def test_who_refuses_the_order_of_roles_gets_another_one_from_then_on(session, server, status, said):
    server.answers = [Answer([complaint(said)], status=status), HELLO]
    model = client(session, server)
    request = ModelRequest((SystemMessage("rules"), *REQUEST.messages, SystemMessage("sum up")), ())
    for _ in range(2):
        assert text_of(await answer_of(model, request)) == "Hello"
    first, second, third = ([each["role"] for each in got.body["messages"]] for got in server.received)
    assert first.count("system") == 2
    assert second == third
    assert second.count("system") == 1


@pytest.mark.parametrize(
    "said", ["Your role does not allow this model.", "Your role has no permission for this system."]
)
async def test_a_refusal_that_only_speaks_of_roles_changes_nothing(session, server, said):
    refusal = Answer([complaint(said)], status=400)
    server.answers = [refusal, refusal, HELLO] if "system" in said else [refusal, HELLO]
    model, request = (
        client(session, server),
        ModelRequest((SystemMessage("rules"), *REQUEST.messages, SystemMessage("sum up")), ()),
    )
    assert said in str(await failure_of(model))
    assert text_of(await answer_of(model, request)) == "Hello"
    assert [each["role"] for each in server.received[-1].body["messages"]].count("system") == 2


async def test_a_model_that_begins_in_a_thought_without_saying_so_is_held_back_from_then_on(session, server):
    """Qwen's and DeepSeek's templates open the tag themselves (cerebras-cloud-sdk #10, vllm #31045)."""
    thinks = Answer([text("hm, so"), text("\n</think>\n\n"), text("It is 45."), chunk("stop"), DONE])
    plain = Answer([text("It is"), text(" 46."), chunk("stop"), DONE])
    quotes = Answer([text("It says\n</think>\n\n"), text("in the log."), chunk("stop"), DONE])
    server.answers = [thinks, thinks, plain, HELLO, quotes]
    model = client(session, server)
    first, second, third, fourth, fifth = [await answer_of(model) for _ in range(5)]
    assert ThoughtEnded() in first
    assert text_of(first[first.index(ThoughtEnded()) :]) == "It is 45."
    assert text_of(second) == "It is 45."
    kept = [delta.reasoning for delta in (*first, *second) if isinstance(delta, Finished)]
    assert kept == [Reasoning("hm, so\n</think>\n\n", "content")] * 2
    assert text_of(third) == "It is 46."
    assert text_of(fourth) == "Hello"
    assert not any(isinstance(delta, ReasoningDelta) for delta in fourth)
    assert text_of(fifth) == "It says\n</think>\n\nin the log.", (
        "a model that answered without is known by now"
    )


GEMINI = "You exceeded your current quota, please check your plan and billing details. Please retry in 3.2s."


@pytest.mark.parametrize(
    ("period", "kind", "waited"), [("Minute", ModelUnavailable, [3.0, 3.0]), ("Day", ModelRefused, [])]
)
async def test_a_limit_a_minute_that_reads_like_a_quota_is_waited_for(session, server, period, kind, waited):
    """Gemini's (Roo-Code #3883)."""
    details = [
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": f"RequestsPer{period}"}],
        },
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"},
    ]
    refusal = Answer([complaint(GEMINI, code=429, status="RESOURCE_EXHAUSTED", details=details)], status=429)
    server.answers = [refusal] * 3
    sleeper = Sleeper()
    assert isinstance(await failure_of(client(session, server, sleep=sleeper)), kind)
    assert sleeper.waited == waited


async def test_nobody_listening(session):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        sleeper = Sleeper()
        base = f"http://127.0.0.1:{port}"
        model = OpenAIClient(session, base_url=base, api_key=KEY, model="m", sleep=sleeper)
        failure = await failure_of(model)
    assert isinstance(failure, ModelUnavailable)
    assert f"127.0.0.1:{port} could not be reached" in str(failure)
    assert len(sleeper.waited) == 2


async def test_a_server_that_does_not_speak_http(session):
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 smtp ready\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(babble, "127.0.0.1", 0) as babbler:
        port = babbler.sockets[0].getsockname()[1]
        model = OpenAIClient(session, base_url=f"http://127.0.0.1:{port}", api_key=KEY, model="m")
        failure = await failure_of(model)
    assert isinstance(failure, ModelBroke)
    assert failure.__cause__ is None


async def test_a_server_that_does_not_speak_tls(session, server):
    server.answers = [HELLO]
    base = server.base_url.replace("http://", "https://")
    failure = await failure_of(client(session, server, base_url=base))
    assert isinstance(failure, ModelRefused)
    assert "No trusted TLS connection" in str(failure)


async def test_no_connection_in_time():
    connector = aiohttp.TCPConnector(limit=1)
    timeouts = ModelTimeouts(connect=0.05)
    async with aiohttp.ClientSession(connector=connector) as session, ModelServer() as server:
        server.answers = [Answer([text("a"), asyncio.Event()])]
        async with aclosing(client(session, server).stream(REQUEST)) as holder:
            await anext(holder)
            failure = await failure_of(client(session, server, timeouts=timeouts))
    assert isinstance(failure, ModelUnavailable)
    assert isinstance(failure.__cause__, aiohttp.ConnectionTimeoutError)


async def test_silence_before_the_first_delta(session, server):
    never = asyncio.Event()
    server.answers = [Answer([b": ping\n\n", chunk(role="assistant", content=""), never])]
    failure = await failure_of(client(session, server, timeouts=ModelTimeouts(first_delta=0.2)))
    assert isinstance(failure, ModelTimeout)
    assert "did not answer within 0.2 s" in str(failure)
    await asyncio.wait_for(server.hung_up.wait(), 5)


@pytest.mark.parametrize(
    "beat", [b": still here\n\n", chunk(content=""), chunk(), event({"choices": []}), chunk(reasoning="")]
)
async def test_heartbeats_and_empty_deltas_are_no_progress(session, server, beat):
    server.answers = [Answer([text("so"), BEATING], beat=beat)]
    failure = await failure_of(client(session, server, timeouts=ModelTimeouts(between=0.2)))
    assert isinstance(failure, ModelTimeout)
    assert "stopped in the middle" in str(failure)


async def test_a_provider_that_never_sends_headers_uses_up_the_same_time(session):
    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as listener:
        base = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        timeouts = ModelTimeouts(first_delta=0.2)
        model = OpenAIClient(session, base_url=base, api_key=KEY, model="m", timeouts=timeouts)
        assert isinstance(await failure_of(model), ModelTimeout)


async def test_tries_share_the_time_for_the_first_delta(session, server):
    server.answers = [Answer(status=503)]
    model = client(session, server, timeouts=ModelTimeouts(first_delta=1.0))
    assert isinstance(await failure_of(model), ModelUnavailable)
    assert len(server.received) == 2  # the pause before a third try would end too late


async def test_an_answer_that_breaks_off_is_not_tried_again(session, server):
    server.answers = [Answer([text("Two ta")], torn=True)]
    deltas = client(session, server).stream(REQUEST)
    assert await anext(deltas) == TextDelta("Two ta")
    with pytest.raises(ModelBroke):
        await anext(deltas)
    assert len(server.received) == 1


async def test_a_connection_cut_after_the_finish_reason_is_a_whole_answer(session, server):
    server.answers = [Answer([text("ok"), chunk("stop")], torn=True)]
    assert ended(await answer_of(client(session, server)))


async def test_an_answer_is_passed_on_before_its_usage_comes(session, server):
    late = asyncio.Event()
    server.answers = [Answer([text("ok"), chunk("stop"), late, usage(9, 2), DONE])]
    async with (
        asyncio.timeout(5),
        aclosing(client(session, server, timeouts=PATIENT).stream(REQUEST)) as deltas,
    ):
        assert [await anext(deltas), await anext(deltas)] == [TextDelta("ok"), TextEnded()]
        late.set()
        finished = await anext(deltas)
        assert isinstance(finished, Finished)
        assert finished.usage == Usage(9, 2)


async def test_heartbeats_behind_an_answer_do_not_prolong_the_wait_for_its_usage(session, server):
    server.answers = [Answer([text("ok"), chunk("stop"), BEATING])]
    async with asyncio.timeout(10):
        assert ended(await answer_of(client(session, server, timeouts=ModelTimeouts(linger=0.1))))


async def test_a_connection_lost_before_the_first_byte_is_tried_again(session, server):
    server.answers = [Answer(torn=True), HELLO]
    assert ended(await answer_of(client(session, server)))
    assert len(server.received) == 2


async def test_a_provider_that_never_hangs_up_after_its_answer(session, server):
    server.answers = [Answer([text("ok"), chunk("stop"), asyncio.Event()])]
    model = client(session, server, timeouts=ModelTimeouts(linger=0.05))
    assert ended(await answer_of(model))
    server.answers = [Answer([text("ok"), DONE, asyncio.Event()])]
    assert ended(await answer_of(client(session, server)))


async def test_an_error_inside_the_stream(session, server):
    server.answers = [Answer([text("a"), event({"error": {"message": "boom", "code": "server_error"}})])]
    assert isinstance(await failure_of(client(session, server)), ModelUnavailable)
    assert len(server.received) == 1


async def test_a_web_page_instead_of_an_answer(session, server):
    server.answers = [
        Answer([b"<!doctype html><title>Sign in</title>"], headers={"Content-Type": "text/html"})
    ]
    failure = await failure_of(client(session, server))
    assert isinstance(failure, ModelBroke)
    assert "web page" in str(failure)


async def test_closing_early_releases_the_connection(session, server):
    server.answers = [Answer([text("a"), asyncio.Event()])]
    async with aclosing(client(session, server).stream(REQUEST)) as deltas:
        assert await anext(deltas) == TextDelta("a")
    await asyncio.wait_for(server.hung_up.wait(), 5)


@pytest.mark.parametrize("pieces", [[], [text("a")]])
async def test_cancelling_releases_the_connection(session, server, pieces):
    begun = asyncio.Event()
    server.answers = [Answer([*pieces, asyncio.Event()])]

    async def consume() -> None:
        async with aclosing(client(session, server).stream(REQUEST)) as deltas:
            async for _ in deltas:
                begun.set()

    task = asyncio.create_task(consume())
    async with asyncio.timeout(5):
        await (begun if pieces else server.asked).wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.hung_up.wait()
