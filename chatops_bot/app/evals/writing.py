"""A case as the YAML file that `load_case` reads: what stands at its default is left out."""

from pathlib import Path
from typing import Any

import yaml

from chatops_bot.app.evals.case import MAX_BYTES, Case, CaseInvalid, load_case
from chatops_bot.domain.errors import ChatopsError

WIDTH = 110


class NotWritten(ChatopsError):
    """A case that no file could be made of; the message names the place."""


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Lists stand under their key, indented."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """Everything is written out: aliases are refused when a case is read."""
        return True


def case_text(case: Case, comment: str = "") -> str:
    value = case.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    value.setdefault("expected", {})
    if len(case.ask) == 1:
        value["ask"] = case.ask[0]
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    body = yaml.dump(
        value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, default_flow_style=None, width=WIDTH
    )
    return head + body


def write_case(path: Path, case: Case, comment: str = "") -> None:
    """Write a case, and read it again: raises CaseInvalid for one that would not come back, NotWritten where no file can be."""
    if (size := len(case.model_dump_json())) > MAX_BYTES:  # writing it as YAML takes minutes
        raise CaseInvalid(f"{path}: {size} bytes are more than the {MAX_BYTES} of a case.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(case_text(case, comment), encoding="utf-8")
    except OSError as error:
        raise NotWritten(
            f"{path} cannot be written ({error.strerror}); name another place with -o."
        ) from error
    load_case(path)
