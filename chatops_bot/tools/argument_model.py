"""Which arguments of a tool are secret, by the metadata of its argument model."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from chatops_bot.domain.form import AskedAs
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.secret_argument import SecretArgument, form_of

HIDDEN = "[redacted:secret-argument]"


@cache
def secret_arguments(model: type[BaseModel]) -> Mapping[str, SecretArgument]:
    """The secret arguments of a tool, by name. Looked up once for each model, which is made with its class and stays as it is."""
    return {
        name: each
        for name, info in model.model_fields.items()
        for each in info.metadata
        if isinstance(each, SecretArgument)
    }


def secret_labels(model: type[BaseModel]) -> dict[str, Phrase]:
    """What people call the secret arguments of a tool, by name."""
    labels = {name: Phrase(name, name) for name in secret_arguments(model)}
    for name in labels:
        asked = (each for each in model.model_fields[name].metadata if isinstance(each, AskedAs))
        labels[name] = next((each.label for each in asked), labels[name])
    return labels


def without_literals(arguments: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Arguments as they may be recorded: what stands literally in a secret one is not."""
    names = secret_arguments(model)
    return {
        name: HIDDEN if name in names and value is not None and form_of(value) is None else value
        for name, value in arguments.items()
    }
