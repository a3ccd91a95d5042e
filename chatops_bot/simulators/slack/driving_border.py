"""The border of `/sim/*`: a body becomes a checked value, a refusal becomes JSON."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from chatops_bot.simulators.slack.errors import DrivingError
from chatops_bot.simulators.slack.guard import NotJson, parse_json, refuse


class Body(BaseModel):
    """A request body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


B = TypeVar("B", bound=Body)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def read_body(request: web.Request, model: type[B]) -> B:
    """Raises DrivingError invalid_json or invalid_body."""
    try:
        return model.model_validate(parse_json(await request.read()))
    except NotJson as error:
        raise DrivingError("invalid_json", "The body is not JSON.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        raise DrivingError("invalid_body", f"`{where}`: {first['msg']}.") from error


def answering(handler: Handler) -> Handler:
    """A refusal becomes JSON; HTTP 200, since the request itself was understood."""

    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except DrivingError as error:
            return refuse(200, error.code, error.sentence)

    return answer
